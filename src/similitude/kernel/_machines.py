"""Support vector machines on a kernel computed from similarities of any size."""

from __future__ import annotations

import math
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from similitude._utils.types import ColumnPositions
from similitude._utils.warn import warn
from similitude.labels import Labels
from similitude.numerics.eigen import (
    MOST_DECOMPOSED,
    RowMap,
    cut_zeros,
    eigh,
    is_semidefinite,
    modified_matrix,
    negative_eigenfraction,
    row_map_weights,
)
from similitude.numerics.machines import LARGEST_GAP, Machines, solve_machines
from similitude.proximity.check import dense
from similitude.proximity.symmetry import mean_of_directions
from similitude.reader import Rows

_BLOCK = 2**22


class SpectrumKernel:
    """The kernel K of training similarities S, both divided by a power of two, so that no product overflows."""

    def __init__(self, S: Any, spectrum: str):
        S = dense(S).astype(np.float64, copy=False)
        self.spectrum = spectrum
        self.exponent = math.frexp(float(max(S.max(), -S.min())))[1]
        S = S * 2.0**-self.exponent if abs(self.exponent) < 1000 else np.ldexp(S, -self.exponent)
        if spectrum != "square" and not np.array_equal(S, S.T):
            S = mean_of_directions(S)
        self.S = self.K = S
        self.values: np.ndarray | None = None
        """The eigenvalues of S; None if it is used as it is, and too large to be decomposed for a description."""
        if spectrum != "none" or len(S) <= MOST_DECOMPOSED:
            values, self._vectors = eigh(mean_of_directions(S) if spectrum == "square" else S)
            self.values = cut_zeros(values)
            self.K = modified_matrix(S, spectrum, values, self._vectors)
        self._mapped: tuple[np.ndarray, np.ndarray] | None = None

    @cached_property
    def indefinite(self) -> bool:
        """Whether S has a negative eigenvalue."""
        return not is_semidefinite(self.S) if self.values is None else bool(np.any(self.values < 0))

    @property
    def is_semidefinite(self) -> bool:
        """Whether K is positive semidefinite."""
        return self.spectrum != "none" or not self.indefinite

    @property
    def mixes_columns(self) -> bool:
        """Whether new rows are mapped by a matrix that needs all their columns."""
        return self.spectrum in ("clip", "flip", "square")

    def machines(self, labels: Labels, weights: np.ndarray, costs: list[float]) -> list[Machines]:
        """Return the machines of all pairs of classes for each C; ``weights`` holds its factor for each sample.

        If there are fewer labels than samples, the machines are those of the first samples.
        """
        exponent = self.exponent * (2 if self.spectrum == "square" else 1)
        n = len(labels)
        K = self.K if n == len(self.K) else np.ascontiguousarray(self.K[:n, :n])
        return solve_machines(K, labels.codes, labels.n_classes, costs, weights, exponent, self.is_semidefinite)

    @cached_property
    def _row_map(self) -> RowMap:
        assert self.values is not None
        return RowMap(self._vectors, row_map_weights(self.values, self.spectrum))

    def row_coefficients(self, beta: np.ndarray) -> np.ndarray:
        """Return ``P beta``: undivided rows s have the decision values ``s^T P beta``, up to the intercept."""
        # Where no variable is at its bound, a larger C has the same beta.
        if self._mapped is None or not np.array_equal(self._mapped[0], beta):
            mapped = beta
            if self.spectrum == "square":
                mapped = self.S.T @ beta
            elif self.mixes_columns:
                mapped = self._row_map(beta.T).T
            self._mapped = beta, np.ldexp(mapped, -self.exponent)
        return self._mapped[1]

    def attributes(self) -> dict[str, Any]:
        """Return the attributes of a fitted estimator that describe the spectrum of the undivided S."""
        values = self.values
        return {
            "eigenvalues_": None if values is None else np.ldexp(values, self.exponent),
            "indefinite_": self.indefinite,
            "negative_eigenfraction_": None if values is None else negative_eigenfraction(values),
        }


class SpectrumMachines:
    """The machines of all pairs of classes on one kernel, for one C."""

    columns: ColumnPositions

    def __init__(self, kernel: SpectrumKernel, machines: Machines):
        self.spectrum, self.mixes_columns = kernel.spectrum, kernel.mixes_columns
        self.solutions, self.intercept = machines.solutions, machines.intercept
        self._attributes = {**machines.attributes(), **kernel.attributes()}
        n = len(kernel.S)
        self.columns = np.arange(n) if kernel.mixes_columns else np.sort(self._attributes["support_"])
        self.coef = kernel.row_coefficients(machines.beta)[self.columns]

    def decisions(self, rows: Rows) -> np.ndarray:
        """Return decision values, (m, pairs), positive for the later class."""
        S = rows.columns(self.columns, symmetric=self.spectrum != "square")
        step = max(1, _BLOCK // S.shape[1])
        blocks = (S[i : i + step] for i in range(0, S.shape[0], step))
        return np.concatenate([_double(block) @ self.coef for block in blocks]) + self.intercept

    def attributes(self) -> dict[str, Any]:
        """Return public attributes of the fitted estimator."""
        return self._attributes


class TransductiveMachines:
    """The machines of all pairs of classes on the kernel of the training samples and the new ones, for one C.

    They are solved anew for each set of new samples, because these change the spectrum.
    """

    mixes_columns = True

    def __init__(self, S: Any, labels: Labels, weights: np.ndarray, C: float, trained: SpectrumMachines):
        self.S, self.labels, self.weights, self.C, self.trained = S, labels, weights, C, trained
        self.spectrum, self.solutions, self.columns = trained.spectrum, trained.solutions, np.arange(len(labels))

    def decisions(self, rows: Rows) -> np.ndarray:
        """Return decision values, (m, pairs), positive for the later class."""
        if rows.among is None:
            raise ValueError(
                "X must hold the similarities among the new samples, because transductive=True: pass rows with n + m "
                "columns to predict, or use PathSearchCV to search."
            )
        to_training, among = _double(dense(rows.symmetric)), _double(dense(rows.among))
        training = _double(dense(self.S))
        both = np.block([[training, to_training.T], [to_training, among]])
        kernel = SpectrumKernel(mean_of_directions(both), self.spectrum)
        machines = kernel.machines(self.labels, self.weights, [self.C])[0]
        n_unsolved = sum(not solution.converged for solution in machines.solutions)
        if n_unsolved:
            warn(
                f"SimilaritySVC: the duality gap remained above {LARGEST_GAP:g} in {n_unsolved} of "
                f"{len(machines.solutions)} machines on the training and new samples; use a smaller C.",
                ConvergenceWarning,
            )
        n = len(self.labels)
        return kernel.K[n:, :n] @ machines.beta + machines.intercept

    def attributes(self) -> dict[str, Any]:
        """Return public attributes of the fitted estimator."""
        return self.trained.attributes()


def _double(rows: Any) -> Any:
    # The memory layout is always the same, so that equal rows give equal digits.
    return rows.astype(np.float64) if sparse.issparse(rows) else np.asarray(rows, dtype=np.float64, order="C")
