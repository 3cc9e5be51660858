"""Treatments of new rows that no classifier has: one that fits figures of the papers, and one that they warn of."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC
from sklearn.utils import get_tags

from similitude import RobustSVC, SimilaritySVC, SpectrumModifier
from similitude.numerics.eigen import RowMap, cut_zeros, eigh
from similitude.numerics.votes import one_vs_one
from similitude.proximity.check import dense


class MappedShift(SpectrumModifier):
    """Shift the spectrum by c, and map new rows s by the matrix that maps S to S + c I.

    With ``S = V diag(lambda) V^T`` new rows become ``V diag(1 + c / lambda) V^T s``, without the directions of zero
    eigenvalues. The map magnifies small eigenvalues, so that it adds noise. Chen et al. 2009 write that their rows are
    unchanged, as those of SpectrumModifier are; the figures for SVMs with shift in both of their papers are near those
    of this map.
    """

    def __init__(self, *, similarity="precomputed", dissimilarity=None):
        super().__init__("shift", similarity=similarity, dissimilarity=dissimilarity)

    def _transform(self, rows: Any) -> np.ndarray:
        values = self.eigenvalues_
        shift = abs(min(values.min(), 0.0))
        weights = np.divide(values + shift, values, out=np.zeros_like(values), where=values != 0)
        return RowMap(self._vectors, weights)(dense(rows.symmetric).astype(np.float64, copy=False))


class Untreated(ClassifierMixin, BaseEstimator):
    """Predict new rows with a fitted machine, but without the treatment that the training rows had.

    Parameters
    ----------
    machine : SimilaritySVC, RobustSVC or LearnedSpectrumSVC
        The machine on a precomputed matrix.
    """

    def __init__(self, machine):
        self.machine = machine

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = get_tags(self.machine).input_tags.pairwise
        return tags

    def fit(self, X, y):
        """Fit the machine."""
        self.machine_ = clone(self.machine).fit(X, y)
        self.classes_ = self.machine_.classes_
        self.X_, self.y_ = np.asarray(X, dtype=float), np.asarray(y)
        return self

    def predict(self, X):
        """Return the classes of rows that are used as they are."""
        return predict_untreated(self.machine_, self.X_, self.y_, np.asarray(X, dtype=float))


def predict_untreated(model, S_train, y_train, S_test):
    """Predict rows with a fitted model without the treatment that the training rows had."""
    if isinstance(model, SimilaritySVC):
        modifier = SpectrumModifier(model.spectrum, test_rows="untreated")
        return make_pipeline(modifier, SVC(C=model.C, kernel="precomputed")).fit(S_train, y_train).predict(S_test)
    pairs = [np.flatnonzero(np.isin(y_train, pair)) for pair in combinations(model.classes_, 2)]
    decide = _robust_decisions if isinstance(model, RobustSVC) else learned_decisions
    decisions = np.column_stack(decide(model, S_train, y_train, S_test, pairs))
    if len(pairs) == 1:
        return model.classes_[(decisions[:, 0] >= 0).astype(int)]
    return model.classes_[np.argmax(one_vs_one(decisions, len(model.classes_)), axis=1)]


def _of_pairs(figures, pairs):
    return figures if len(pairs) > 1 else [figures]


def _robust_decisions(model, S_train, y_train, S_test, pairs):
    """Return ``v^T s + b``, with s instead of the row of eq. 8."""
    machines = zip(pairs, _of_pairs(model.dual_coef_, pairs), _of_pairs(model.intercept_, pairs))
    return [S_test[:, members] @ v + b for members, v, b in machines]


def learned_decisions(model, S_train, y_train, S_test, pairs, treated=False):
    """Return ``c^T s + b``, or ``c^T A s + b`` if ``treated``, with c and b of the SVM on the learned kernel."""
    decisions = []
    for members, a in zip(pairs, _of_pairs(model.spectrum_weights_, pairs)):
        values, U = eigh(S_train[np.ix_(members, members)])
        values = cut_zeros(values)
        values, U = values[values != 0], U[:, values != 0]
        machine = SVC(C=1 / (2 * model.eta * len(members)), kernel="precomputed", tol=1e-6)
        machine.fit((U * (a * values)) @ U.T, y_train[members])
        rows = S_test[:, members]
        decisions.append(machine.decision_function(rows @ (U * a) @ U.T if treated else rows))
    return decisions
