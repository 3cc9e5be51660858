"""libsvm on a kernel made of similarities, whatever their size, with the gap of what it finds."""

from __future__ import annotations

import math
import warnings
from itertools import combinations
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC

from similitude.proximity.check import SimilarityWarning, dense
from similitude.proximity.symmetry import mean_of_directions
from similitude.transform.spectrum import SpectrumModifier

_MIXES_COLUMNS = ("clip", "flip", "square")
_TOLERANCE = 1e-3
_BLOCK = 2**22


class Kernel:
    """The kernel K of training similarities S, both divided by a power of two: libsvm overflows at 1e38."""

    def __init__(self, S, spectrum):
        S = dense(S).astype(np.float64, copy=False)
        self.exponent = math.frexp(float(max(S.max(), -S.min())))[1]
        self.S = S * 2.0**-self.exponent if abs(self.exponent) < 1000 else np.ldexp(S, -self.exponent)
        if spectrum == "none":
            self.S = mean_of_directions(self.S)
        self.spectrum = spectrum
        self.modifier = SpectrumModifier(spectrum)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SimilarityWarning)  # what there is to say the estimator says
            self.K = self.modifier.fit_transform(self.S)
        self.K_exponent = self.exponent * (2 if spectrum == "square" else 1)

    def bound(self, C):
        """C for the divided K, within what libsvm can compute with, and the factor that makes its dual variables K's.

        It works in single precision: beyond 1e12 nothing changes, but kernels of rank 0 or 1 would take for ever.
        """
        with np.errstate(over="ignore"):
            bound = float(np.clip(np.ldexp(float(C), self.K_exponent), 1e-290, 1e12))
            return bound, float(min(C / bound, np.ldexp(1.0, -self.K_exponent)))

    def mapped(self, beta):
        """``P beta``: rows s of undivided similarities have the decision values ``s^T P beta``, up to the intercept."""
        if self.spectrum == "square":
            beta = self.S.T @ beta
        elif self.spectrum in _MIXES_COLUMNS:
            beta = self.modifier._map_rows(beta.T).T
        return np.ldexp(beta, -self.exponent)


class Machine:
    """The machines of all pairs of classes on one kernel, for one C."""

    def __init__(self, kernel, labels, weights, C):
        # libsvm mixes up the columns of a precomputed kernel where a weight is 0.
        kept = np.flatnonzero(weights)
        K = kernel.K if len(kept) == len(labels) else kernel.K[np.ix_(kept, kept)]
        self.bound, self.unit = kernel.bound(C)
        self.max_iter = max(100_000, 1000 * len(kept))
        svc = SVC(C=self.bound, kernel="precomputed", tol=_TOLERANCE, max_iter=self.max_iter)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # n_iter_ tells
            svc.fit(K, labels[kept], sample_weight=None if np.all(weights == 1) else weights[kept])
        self.spectrum, self.n_classes, self.n_iter = kernel.spectrum, len(svc.classes_), svc.n_iter_
        self.support, self.n_support = kept[svc.support_], svc.n_support_
        self.dual_coef, self.public_intercept = svc.dual_coef_ * self.unit, svc.intercept_
        self.intercept = svc.intercept_ if self.n_classes == 2 else -svc.intercept_
        self.beta = _by_pair(svc.dual_coef_, self.support, self.n_support, len(labels))
        self.columns = None if kernel.spectrum in _MIXES_COLUMNS else np.sort(self.support)
        coef = kernel.mapped(self.beta)
        self.coef = coef if self.columns is None else coef[self.columns]

    def decisions(self, given):
        """Decision values, (m, pairs), of whole rows, or of rows with the needed columns alone."""
        rows = given.S
        if self.columns is not None and rows.shape[1] != len(self.columns):
            rows = _Columns(rows, self.columns)
        step = max(1, _BLOCK // rows.shape[1])
        blocks = (rows[i : i + step] for i in range(0, rows.shape[0], step))
        return np.concatenate([_double(block) @ self.coef for block in blocks]) + self.intercept

    def objective_and_gap(self, kernel, labels, weights):
        """For each pair the dual value, undivided, and the gap to the primal relative to the mean of both."""
        products = kernel.K @ self.beta
        semidefinite = kernel.spectrum != "none" or kernel.modifier.n_negative_ == 0
        objectives, gaps = np.empty((2, len(self.n_iter)))
        for p, (first, second) in enumerate(combinations(range(self.n_classes), 2)):
            pair = (labels == first) | (labels == second)
            y, h, beta = np.where(labels[pair] == second, 1.0, -1.0), products[pair, p], self.beta[pair, p]
            size, margins = float(beta @ h), y * (h + self.intercept[p])
            primal = self._primal(size, margins, weights[pair], semidefinite)
            dual = float(y @ beta) - size / 2
            objectives[p], gaps[p] = dual, 2 * max(primal - dual, 0.0) / (primal + dual)
        return objectives * self.unit, gaps

    def _primal(self, size, margins, weights, semidefinite):
        """The primal value of the solution, or of the multiple that makes up for the margins libsvm left short."""
        short = margins[(margins < 1) & (margins > 1 - 2 * _TOLERANCE)]
        multiples = [1.0, 1 / short.min()] if semidefinite and len(short) else [1.0]
        return min(
            t**2 * size / 2 + self.bound * float(weights @ np.maximum(0.0, 1.0 - t * margins)) for t in multiples
        )


class _Columns:
    """Chosen columns of rows, cut out block by block."""

    def __init__(self, rows, columns):
        self.rows, self.columns, self.shape = rows, columns, (rows.shape[0], len(columns))

    def __getitem__(self, block):
        return self.rows[block][:, self.columns]


def _double(rows: Any) -> Any:
    # One layout, so that equal rows give equal digits.
    return rows.astype(np.float64) if sparse.issparse(rows) else np.asarray(rows, dtype=np.float64, order="C")


def _by_pair(dual_coef: np.ndarray, support: np.ndarray, n_support: np.ndarray, n: int) -> np.ndarray:
    """libsvm's coefficients as a column for each pair of classes, (n, pairs), positive for the later class."""
    n_classes = len(n_support)
    beta = np.zeros((n, n_classes * (n_classes - 1) // 2))
    if n_classes == 2:
        beta[support, 0] = dual_coef[0]
        return beta
    # Row k of a class's coefficients is for its k-th opponent, itself left out.
    own = np.repeat(np.arange(n_classes), n_support)
    for p, (first, second) in enumerate(combinations(range(n_classes), 2)):
        for one, row in ((first, second - 1), (second, first)):
            beta[support[own == one], p] = -dual_coef[row, own == one]
    return beta
