"""Base of the support vector machines that learn their kernel, one for each pair of classes."""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol, Self

import numpy as np
from numpy.typing import ArrayLike

from similitude._utils.docs import shared_docs
from similitude._utils.types import ColumnPositions, LabelsLike, SamplesLike
from similitude.labels import Labels, loss_weights
from similitude.one_vs_one import OneVsOneClassifier, by_pair, class_pairs
from similitude.proximity.check import dense
from similitude.proximity.symmetry import mean_of_directions
from similitude.reader import Rows, Training

_EPS = float(np.finfo(float).eps)


def nearest_rows(
    eigenvalues: np.ndarray, eigenvectors: np.ndarray, rows: np.ndarray, self_similarity: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return for each row s the k nearest to it that completes the kernel.

    Such k and r are nearest to s and psi(x, x) among those for which ``[K k; k^T r]`` is positive semidefinite. k is
    given by its coefficients in the basis of the eigenvectors of K with positive eigenvalues. With multiplier m these
    are ``2 lambda p / (2 lambda + m)``, where p are those of s, and ``r = psi(x, x) + m / 2``, where m is 0 or such
    that ``k^T K^+ k = r``.
    """
    p = rows @ eigenvectors
    # In units of the largest value, no square overflows.
    largest = max(np.max(part, initial=0.0) for part in (eigenvalues, np.abs(p), np.abs(self_similarity)))
    unit = largest if largest > 0.0 else 1.0
    lam, squares, own = eigenvalues / unit, (p / unit) ** 2, self_similarity / unit
    m = np.zeros(len(rows))
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        outside = ~(np.sum(squares / lam, axis=1) <= own)
    if outside.any():
        m[outside] = unit * _multipliers(lam, squares[outside], own[outside])
    return p * (2.0 * eigenvalues / (2.0 * eigenvalues + m[:, None])), self_similarity + m / 2.0


def _multipliers(eigenvalues: np.ndarray, squares: np.ndarray, own: np.ndarray) -> np.ndarray:
    """Return the m > 0 with ``L(m) = sum 4 lambda p^2 / (2 lambda + m)^2 = own + m / 2 = R(m)``, for all rows at once.

    Newton's method is applied to ``L^(-1/2) - R^(-1/2)``, whose first term is linear except for the spread of the
    eigenvalues. It stays within a bracket: at the lower end R or m is zero, and the upper end follows from the bound
    ``sum p^2 / (2 m)`` of L.
    """
    total = np.sum(squares, axis=1)
    root = np.hypot(own, np.sqrt(total))
    low = np.maximum(0.0, -2.0 * own)
    high = np.where(own > 0.0, total / np.where(own > 0.0, root + own, 1.0), root - own)
    m = high.copy()
    active = np.flatnonzero(high > low)
    for _ in range(200):
        if not active.size:
            break
        at = m[active]
        inverse = 1.0 / (2.0 * eigenvalues + at[:, None])
        terms = 4.0 * eigenvalues * squares[active] * inverse**2
        L, R = np.sum(terms, axis=1), own[active] + at / 2.0
        above = L > R
        low[active] = np.where(above, at, low[active])
        high[active] = np.where(above, high[active], at)
        with np.errstate(all="ignore"):
            slope = L**-1.5 * np.sum(terms * inverse, axis=1) + 0.25 * R**-1.5
            new = at - (L**-0.5 - R**-0.5) / slope
        inside = (new > low[active]) & (new < high[active])
        new = np.where(inside, new, 0.5 * (low[active] + high[active]))
        # A difference within the rounding errors of both sides cannot be reduced further.
        done = np.abs(L - R) <= 4.0 * _EPS * (L + np.abs(own[active]) + at / 2.0)
        m[active] = np.where(done, at, new)
        done |= (np.abs(new - at) <= 2.0 * _EPS * at) | (high[active] - low[active] <= 2.0 * _EPS * high[active])
        active = active[~done]
    return m


class KernelSolution(Protocol):
    """The solved problem of one pair of classes."""

    objective: float
    gap: float
    n_iter: int

    @property
    def converged(self) -> bool:
        """Whether the gap is small enough."""

    def decide(self, rows: np.ndarray, self_similarity: np.ndarray) -> np.ndarray:
        """Return decision values of rows of similarities to the pair's samples."""


class KernelMachines(NamedTuple):
    """The solved problems of all pairs of classes, for one point of a grid."""

    solutions: list[KernelSolution]
    members: list[ColumnPositions]
    """The samples of each pair."""
    mean_self_similarity: float
    """The value used for the self-similarities of new samples if they are not given."""
    figures: tuple[str, ...]
    """The fields of each solution that become attributes of the estimator."""

    @property
    def columns(self) -> np.ndarray:
        """The positions of the training columns that decision values need: all of them."""
        return np.unique(np.concatenate(self.members))

    def decisions(self, rows: Rows) -> np.ndarray:
        """Return decision values, (m, pairs), positive for the later class."""
        S, own = dense(rows.symmetric).astype(np.float64, copy=False), rows.self_similarity
        own = np.full(len(S), self.mean_self_similarity) if own is None else own
        pairs = zip(self.solutions, self.members)
        return np.column_stack([solution.decide(S[:, members], own) for solution, members in pairs])

    def attributes(self) -> dict[str, Any]:
        """Return public attributes of the fitted estimator."""
        return by_pair(self.solutions, list, {f"{name}_": name for name in self.figures})


def check_range(S: np.ndarray, limits: tuple[float, float], **sizes: float) -> None:
    """Raise an error for parameters that are too large or too small in units of the largest similarity."""
    for name, size in sizes.items():
        if not limits[0] <= size <= limits[1]:
            largest = float(np.max(np.abs(S)))
            raise ValueError(
                f"{name} and X: the largest similarity is {largest:.0e}, and relative to it {name} is {size:.0e}; "
                "rescale X to similarities of the order of 1."
            )


@shared_docs
class KernelLearningSVC(OneVsOneClassifier):
    """Base of support vector machines that learn a kernel from symmetric similarities, one for each pair of classes.

    In a subclass, ``_solve(S, y, weight, points)`` returns one :class:`KernelSolution` for each point, for one pair of
    classes: S is symmetric, y is +1 for the later class and -1 for the other, and ``weight`` multiplies the loss of
    each sample. The points share decompositions and warm starts.
    """

    class_weight: Any

    _figures: tuple[str, ...] = ()
    """The fields of the solution of each pair that become attributes of the fitted estimator."""

    def fit(self, X: SamplesLike, y: LabelsLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the classifier.

        Parameters
        ----------
        {X_train}
        {y_train}
        sample_weight : array-like of shape (n,), default=None
            The weights of the samples: factors of their losses. Samples of weight 0 are left out.

        Returns
        -------
        self
            The fitted classifier.
        """
        return self._fit(X, y, sample_weight)

    def _solve(self, S: np.ndarray, y: np.ndarray, weight: np.ndarray, points: list[Any]) -> list[Any]:
        raise NotImplementedError

    def _prepared(self, training: Training, points: list[Any]) -> Training:
        asymmetric = training.asymmetric
        training = super()._prepared(training.in_both_directions(type(self).__name__), points)
        return training.replaced(mean_of_directions(training.S)) if asymmetric else training

    def _solved(self, training: Training, labels: Labels, points: list[Any]) -> list[Any]:
        S, weights = training.S, loss_weights(self.class_weight, labels)
        pairs = [(own[some], y[some]) for own, y in class_pairs(labels) for some in [weights[own] > 0]]
        solved = [self._solve(S[np.ix_(own, own)], y, weights[own], points) for own, y in pairs]
        members = [own for own, _ in pairs]
        mean = float(np.mean(np.diagonal(S) if training.self_similarity is None else training.self_similarity))
        return [KernelMachines(list(found), members, mean, self._figures) for found in zip(*solved)]
