"""SVM-KNN by its definition: neighbours sorted, their matrix modified, one scikit-learn SVC per pair of classes."""

import numpy as np
from sklearn.svm import SVC

from tests.reference import spectrum as modification
from tests.reference.neighbors import neighbors


def pair_decision(K, row, labels, first, second, C):
    """The decision value of one pair of classes, positive for the second."""
    pair = [i for i, label in enumerate(labels) if label in (first, second)]
    y = np.array([labels[i] == second for i in pair])
    machine = SVC(C=C, kernel="precomputed", tol=1e-10).fit(K[np.ix_(pair, pair)], y)
    return float(machine.decision_function(row[None, pair])[0])


def decisions(S, s, y, k, C, spectrum):
    """The decision value of each pair of classes among the neighbours, as a dict; and the neighbours' classes."""
    nearest = neighbors(s, k)
    labels = [y[i] for i in nearest]
    A = ((S + S.T) / 2)[np.ix_(nearest, nearest)]
    K, row = modification.kernel(A, spectrum), modification.row(A, s[nearest], spectrum)
    present = sorted(set(labels))
    pairs = [(a, b) for a in present for b in present if a < b]
    return {(a, b): pair_decision(K, row, labels, a, b, C) for a, b in pairs}, present


def predict(values, present):
    """The class that wins most pairs, ties to the smallest; a decision value of 0 is for the later of the two."""
    wins = dict.fromkeys(present, 0)
    for (a, b), value in values.items():
        wins[b if value >= 0 else a] += 1
    return max(present, key=lambda c: (wins[c], -present.index(c)))
