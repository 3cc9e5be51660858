"""SVM-KNN by its definition: neighbours sorted, their matrix modified, one scikit-learn SVC per pair of classes."""

import numpy as np
from sklearn.svm import SVC

from tests.reference import learned_kernel
from tests.reference import spectrum as modification
from tests.reference.neighbors import taken


def pair_decision(K, row, labels, first, second, C):
    """The decision value of one pair of classes, positive for the second."""
    pair = [i for i, label in enumerate(labels) if label in (first, second)]
    y = np.array([labels[i] == second for i in pair])
    machine = SVC(C=C, kernel="precomputed", tol=1e-10).fit(K[np.ix_(pair, pair)], y)
    return float(machine.decision_function(row[None, pair])[0])


def decisions(S, s, y, k, C, spectrum):
    """The decision value of each pair of classes among the neighbours, as a dict; and the neighbours' classes."""
    nearest = taken(s, k)
    labels = [y[i] for i in nearest]
    A = ((S + S.T) / 2)[np.ix_(nearest, nearest)]
    K, row = modification.kernel(A, spectrum), modification.row(A, s[nearest], spectrum)
    present = sorted(set(labels))
    pairs = [(a, b) for a in present for b in present if a < b]
    return {(a, b): pair_decision(K, row, labels, a, b, C) for a, b in pairs}, present


def augmented(S, s, nearest, own):
    """The similarities among the neighbours and the new sample, which comes last."""
    A = ((S + S.T) / 2)[np.ix_(nearest, nearest)]
    own = np.mean(np.diagonal(A)) if own is None else own
    return np.block([[A, s[nearest][:, None]], [s[nearest][None], np.array([[own]])]])


def learned_decisions(S, s, y, k, C, gamma, target, own=None):
    """The decision values with the spectrum learned from the augmented matrix, by a cone program for each pair."""
    nearest = taken(s, k)
    labels = np.array([y[i] for i in nearest])
    A = augmented(S, s, nearest, own)
    values, present = {}, sorted(set(labels.tolist()))
    for a, b in [(a, b) for a in present for b in present if a < b]:
        in_pair = np.append((labels == a) | (labels == b), False)
        signs = np.append(np.where(labels == b, 1.0, -1.0), 1.0)
        n = in_pair.sum()
        weight = np.where(in_pair, len(A) / n, 0.0)
        _, _, w, offset = learned_kernel.solve_spectrum(A, signs, 0.5 / (C * n), gamma, target, weight)
        values[a, b] = float(A[-1] @ w + offset)
    return values, present


def augmented_decisions(S, s, y, k, C, spectrum):
    """The decision values of machines on the clipped or flipped augmented matrix."""
    nearest = taken(s, k)
    labels = [y[i] for i in nearest]
    K = modification.kernel(augmented(S, s, nearest, None), spectrum)
    present = sorted(set(labels))
    pairs = [(a, b) for a in present for b in present if a < b]
    return {(a, b): pair_decision(K[:-1, :-1], K[-1, :-1], labels, a, b, C) for a, b in pairs}, present


def predict(values, present):
    """The class that wins most pairs, ties to the smallest; a decision value of 0 is for the later of the two."""
    wins = dict.fromkeys(present, 0)
    for (a, b), value in values.items():
        wins[b if value >= 0 else a] += 1
    return max(present, key=lambda c: (wins[c], -present.index(c)))
