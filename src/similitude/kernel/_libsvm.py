"""libsvm on a kernel computed from similarities of any size, and the duality gap of its solution."""

from __future__ import annotations

import math
import warnings
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC

from similitude.labels import Labels
from similitude.numerics.eigen import cut_zeros, eigh, negative_eigenfraction
from similitude.numerics.spectrum import mapped_rows, modified_matrix, row_map_weights
from similitude.one_vs_one import class_pairs
from similitude.proximity.check import dense, is_symmetric
from similitude.proximity.symmetry import mean_of_directions
from similitude.reader import Rows

_TOLERANCE = 1e-3
_BLOCK = 2**22


class SpectrumKernel:
    """The kernel K of training similarities S, both divided by a power of two, because libsvm overflows at 1e38.

    Parameters
    ----------
    S : ndarray or sparse matrix of shape (n, n)
        The similarities. They are symmetrised, except for ``spectrum="square"``.
    spectrum : {"clip", "flip", "shift", "square", "none"}
        How the spectrum is modified.

    Attributes
    ----------
    K : ndarray of shape (n, n)
    values : ndarray of shape (n,)
        The eigenvalues of the divided S, or of its symmetric part, ascending; those that count as zero are 0.
    """

    def __init__(self, S: Any, spectrum: str):
        S = dense(S).astype(np.float64, copy=False)
        self.spectrum = spectrum
        self.exponent = math.frexp(float(max(S.max(), -S.min())))[1]
        S = S * 2.0**-self.exponent if abs(self.exponent) < 1000 else np.ldexp(S, -self.exponent)
        if spectrum == "none" or (spectrum != "square" and not is_symmetric(S)):
            S = mean_of_directions(S)
        self.S = S
        values, self._vectors = eigh(mean_of_directions(S) if spectrum == "square" else S)
        self.values = cut_zeros(values)
        self.K = modified_matrix(S, spectrum, values, self._vectors)

    @property
    def n_negative(self) -> int:
        """The number of negative eigenvalues of S."""
        return int(np.sum(self.values < 0))

    @property
    def is_semidefinite(self) -> bool:
        """Whether K is positive semidefinite."""
        return self.spectrum != "none" or self.n_negative == 0

    @property
    def mixes_columns(self) -> bool:
        """Whether new rows are mapped by a matrix that needs all their columns."""
        return self.spectrum in ("clip", "flip", "square")

    def bound(self, C: float) -> tuple[float, float]:
        """Return C for the divided K, and the factor that turns the dual variables of libsvm into those of K.

        libsvm works in single precision: beyond 1e12 the solution does not change, but kernels of rank 0 or 1 would
        take extremely long.
        """
        exponent = self.exponent * (2 if self.spectrum == "square" else 1)
        with np.errstate(over="ignore"):
            bound = float(np.clip(np.ldexp(float(C), exponent), 1e-290, 1e12))
            return bound, float(min(C / bound, np.ldexp(1.0, -exponent)))

    def row_coefficients(self, beta: np.ndarray) -> np.ndarray:
        """Return ``P beta``: undivided rows s have the decision values ``s^T P beta``, up to the intercept."""
        if self.spectrum == "square":
            beta = self.S.T @ beta
        elif self.mixes_columns:
            beta = mapped_rows(beta.T, self._vectors, row_map_weights(self.values, self.spectrum)).T
        return np.ldexp(beta, -self.exponent)

    def attributes(self) -> dict[str, Any]:
        """Return the attributes of a fitted estimator that describe the spectrum of the undivided S."""
        return {
            "eigenvalues_": np.ldexp(self.values, self.exponent),
            "indefinite_": self.n_negative > 0,
            "negative_eigenfraction_": negative_eigenfraction(self.values),
        }


class LibsvmSolution(NamedTuple):
    """The solved problem of one pair of classes."""

    objective: float
    gap: float
    n_iter: int
    converged: bool


class LibsvmMachines:
    """The machines of all pairs of classes on one kernel, for one C.

    Parameters
    ----------
    kernel : SpectrumKernel
        The kernel. It is not kept.
    labels : Labels
        The labels of the training samples.
    weights : ndarray of shape (n,)
        The factor of C for each sample.
    C : float
        The bound of the dual variables.
    """

    def __init__(self, kernel: SpectrumKernel, labels: Labels, weights: np.ndarray, C: float):
        # libsvm confuses the columns of a precomputed kernel if a weight is 0.
        kept = np.flatnonzero(weights)
        K = kernel.K if len(kept) == len(labels) else kernel.K[np.ix_(kept, kept)]
        bound, unit = kernel.bound(C)
        self.max_iter = max(100_000, 1000 * len(kept))
        svc = SVC(C=bound, kernel="precomputed", tol=_TOLERANCE, max_iter=self.max_iter)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # found from n_iter_ and reported by the estimator
            svc.fit(K, labels.codes[kept], sample_weight=None if np.all(weights == 1) else weights[kept])
        self.spectrum, self.mixes_columns, support = kernel.spectrum, kernel.mixes_columns, kept[svc.support_]
        beta = _by_pair(svc.dual_coef_, support, svc.n_support_, len(labels))
        self.intercept = svc.intercept_ if labels.n_classes == 2 else -svc.intercept_
        self.columns = np.arange(len(labels)) if kernel.mixes_columns else np.sort(support)
        self.coef = kernel.row_coefficients(beta)[self.columns]
        certified = _objectives_and_gaps(kernel, labels, bound * weights, beta, self.intercept)
        self.solutions = [
            LibsvmSolution(objective * unit, gap, int(steps), bool(steps < self.max_iter))
            for (objective, gap), steps in zip(certified, svc.n_iter_)
        ]
        self._attributes = {
            "support_": support,
            "n_support_": svc.n_support_,
            "dual_coef_": svc.dual_coef_ * unit,
            "intercept_": svc.intercept_,
            "n_iter_": svc.n_iter_,
            **kernel.attributes(),
        }

    def decisions(self, rows: Rows) -> np.ndarray:
        """Return decision values, (m, pairs), positive for the later class."""
        S = rows.columns(self.columns, symmetric=self.spectrum != "square")
        step = max(1, _BLOCK // S.shape[1])
        blocks = (S[i : i + step] for i in range(0, S.shape[0], step))
        return np.concatenate([_double(block) @ self.coef for block in blocks]) + self.intercept

    def attributes(self) -> dict[str, Any]:
        """Return public attributes of the fitted estimator."""
        return self._attributes


def _objectives_and_gaps(kernel, labels, bounds, beta, intercept):
    """Yield for each pair the dual value, and the gap to the primal value relative to the mean of both."""
    products = kernel.K @ beta
    for p, (members, y) in enumerate(class_pairs(labels)):
        own, h = beta[members, p], products[members, p]
        size, margins = float(own @ h), y * (h + intercept[p])
        primal = _primal(size, margins, bounds[members], kernel.is_semidefinite)
        dual = float(y @ own) - size / 2
        yield dual, 2 * max(primal - dual, 0.0) / (primal + dual)


def _primal(size: float, margins: np.ndarray, bounds: np.ndarray, semidefinite: bool) -> float:
    """Return the primal value of the solution, or of the multiple of it that reaches the margins that libsvm missed."""
    short = margins[(margins < 1) & (margins > 1 - 2 * _TOLERANCE)]
    multiples = [1.0, 1 / short.min()] if semidefinite and len(short) else [1.0]
    return min(t**2 * size / 2 + float(bounds @ np.maximum(0.0, 1.0 - t * margins)) for t in multiples)


def _double(rows: Any) -> Any:
    # The memory layout is always the same, so that equal rows give equal digits.
    return rows.astype(np.float64) if sparse.issparse(rows) else np.asarray(rows, dtype=np.float64, order="C")


def _by_pair(dual_coef: np.ndarray, support: np.ndarray, n_support: np.ndarray, n: int) -> np.ndarray:
    """Return libsvm's coefficients with a column for each pair of classes, (n, pairs), positive for the later class."""
    n_classes = len(n_support)
    beta = np.zeros((n, n_classes * (n_classes - 1) // 2))
    if n_classes == 2:
        beta[support, 0] = dual_coef[0]
        return beta
    # Row k of a class's coefficients belongs to the k-th of the other classes.
    own = np.repeat(np.arange(n_classes), n_support)
    for p, (first, second) in enumerate(combinations(range(n_classes), 2)):
        for one, row in ((first, second - 1), (second, first)):
            beta[support[own == one], p] = -dual_coef[row, own == one]
    return beta
