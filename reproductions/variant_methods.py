"""The mathematics of the variants: methods in which a detail that a paper leaves open is read in another way."""

from __future__ import annotations

from typing import Any

import numpy as np

from similitude import FusedKNN, KNNClassifier, LocalSVC, RobustSVC
from similitude._native import local_machines
from similitude.finders.finder import local_neighbors
from similitude.generative.fused_knn import FusedKNNPath
from similitude.kernel._robust_solver import RobustSolution
from similitude.kernel.base import KernelMachines
from similitude.neighbors._knn_path import KNNPath
from similitude.neighbors.local_svc import LocalSVCPath, Neighbourhood
from similitude.numerics.eigen import eigh
from similitude.numerics.votes import TIE_TOLERANCE, largest_shares
from similitude.proximity.check import dense


class NormalisedKRR(KNNClassifier):
    """KRR whose weights are shifted such that they sum to 1: w - mean(w) + 1/k (Chen et al. 2009, footnote 5)."""

    def __init__(self, n_neighbors=5, reg=1.0, spectrum="clip", *, class_ties="nearest"):
        super().__init__(n_neighbors, "krr", reg, spectrum, class_ties=class_ties)

    def _fit_path(self, training, labels, points):
        path = super()._fit_path(training, labels, points)
        return _NormalisedPath(path.points, path.labels, path.finders, path.largest, path.class_ties)


class _NormalisedPath(KNNPath):
    def _weights(self, rows, similarities, indices, sizes, regs, weighting):
        weights = super()._weights(rows, similarities, indices, sizes, regs, weighting)
        return normalised_weights(weights, sizes)


def normalised_weights(weights: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """Return w - mean(w) + 1/k of weights (m, sizes, regs, width), of which the first ``sizes`` are of neighbours."""
    sizes = np.broadcast_to(sizes, weights.shape[:2])[:, :, None, None]
    shifted = weights + (1.0 - weights.sum(axis=-1, keepdims=True)) / sizes
    return np.where(np.arange(weights.shape[-1]) < sizes, shifted, 0.0)


class FusedKNNFirst(FusedKNN):
    """The fused k-NN that predicts the first of tied classes."""

    def _fit_path(self, training, labels, points):
        path = super()._fit_path(training, labels, points)
        path.__class__ = _FusedFirstPath
        return path


class _FusedFirstPath(FusedKNNPath):
    def answers(self, rows, response):
        votes = super().answers(rows, "predict_proba")
        return [_first_of_tied(each) for each in votes] if response == "predict" else votes


def _first_of_tied(scores: np.ndarray) -> np.ndarray:
    best = scores.max(axis=-1, keepdims=True)
    return np.argmax(scores >= best - TIE_TOLERANCE * np.abs(best), axis=-1)


class JointLocalSVC(LocalSVC):
    """SVM-KNN that modifies the similarities of the k neighbours and of the test sample together.

    The spectrum of the matrix of k + 1 samples is clipped or flipped; the machine is trained on its block of the
    neighbours, and the test sample has the row of that matrix.
    """

    def __init__(self, n_neighbors=5, C=1.0, spectrum="clip"):
        super().__init__(n_neighbors, C, spectrum)

    def _fit_path(self, training, labels, points):
        path = super()._fit_path(training, labels, points)
        return _JointPath(path.points, path.labels, path.finder)


class _JointPath(LocalSVCPath):
    def answers_among_known(self, rows, response):
        sizes, at_size = np.unique([point.n_neighbors for point in self.points], return_inverse=True)
        costs, at_cost = np.unique([point.C for point in self.points], return_inverse=True)
        near = local_neighbors(self.finder, rows, sizes, self.labels.codes, self.labels.n_classes)
        own = np.full(len(rows), np.nan) if rows.self_similarity is None else rows.self_similarity
        predicted = np.empty((len(rows), len(sizes), len(costs)), dtype=np.intp)
        for part in self.finder.blocks(*near.indices.shape):
            S = self.finder.among(rows, near.indices[part])
            for i in range(*part.indices(len(rows))):
                width = int(near.sizes[i].max())
                lists = near.indices[i, :width], near.similarities[i, :width]
                nearest = Neighbourhood.of(S, *lists, own[i], self.labels.codes)
                for j, size in enumerate(near.sizes[i]):
                    predicted[i, j] = self._decided(nearest, int(size), costs)
        alone = np.nonzero(near.alone)
        predicted[alone] = largest_shares(near.shares, self.labels.counts)[alone[0], None]
        return [predicted[:, j, c] for j, c in zip(at_size, at_cost)]

    def _decided(self, nearest: Neighbourhood, k: int, costs: np.ndarray) -> np.ndarray:
        """Return the classes that the machines on the k nearest neighbours predict, one for each cost."""
        classes, n_classes = np.ascontiguousarray(nearest.classes[None, :k], dtype=np.intp), self.labels.n_classes
        if np.all(classes == classes[0, 0]):
            return np.full(len(costs), classes[0, 0])
        K = modified(nearest.augmented(k), self.points[0].spectrum)
        scores = np.empty((1, 1, len(costs), n_classes if n_classes > 2 else 1))
        lists: Any = np.arange(k)[None], np.ascontiguousarray(K[k:, :k]), classes
        wanted = np.ones((1, 1, len(costs)), dtype=bool)
        local_machines(
            np.ascontiguousarray(K[:k, :k]), *lists, n_classes, ["none"], np.array([[k]]), costs, wanted, scores
        )
        return np.argmax(scores[0, 0], axis=-1) if n_classes > 2 else (scores[0, 0, :, 0] >= 0).astype(np.intp)


def modified(S: np.ndarray, spectrum: str) -> np.ndarray:
    """Return S with its negative eigenvalues set to 0 ("clip"), or with the other sign ("flip")."""
    values, U = eigh(S)
    values = np.abs(values) if spectrum == "flip" else np.maximum(values, 0.0)
    return (U * values) @ U.T


class UntreatedRobustSVC(RobustSVC):
    """The robust SVM with the decision value ``v^T s + b`` of the row as it is, also where C and rho are chosen."""

    def __init__(self, C=1.0, rho=1.0):
        super().__init__(C, rho)

    def _solved(self, training, labels, points):
        return [_UntreatedMachines(machines) for machines in super()._solved(training, labels, points)]


class _UntreatedMachines:
    """Solved problems whose decision values are those of untreated rows."""

    def __init__(self, machines: KernelMachines):
        self.machines = machines
        self.columns, self.solutions = machines.columns, machines.solutions

    def attributes(self) -> dict[str, Any]:
        """Return public attributes of the fitted estimator."""
        return self.machines.attributes()

    def decisions(self, rows: Any) -> np.ndarray:
        """Return decision values, (m, pairs), positive for the later class."""
        pairs = zip(self.machines.solutions, self.machines.members)
        return np.column_stack([self._values(rows, solution, members) for solution, members in pairs])

    def _values(self, rows: Any, solution: RobustSolution, members: np.ndarray) -> np.ndarray:
        return dense(rows.symmetric)[:, members] @ solution.v + solution.intercept


class WholeMatrixRobustSVC(RobustSVC):
    """The robust SVM with the kernel ``(S + v v^T / (4 rho))_+`` of all samples, training and new, v padded with zeros.

    ``whole`` holds the similarities of all samples of the data set, and the one feature of a sample is its position.
    """

    def __init__(self, whole=None, C=1.0, rho=1.0):
        super().__init__(C, rho)
        self.whole = whole

    def _solved(self, training, labels, points):
        positions = training.features[:, 0].astype(int)
        solved = zip(super()._solved(training, labels, points), points)
        return [_WholeMachines(machines, self.whole, positions, rho) for machines, (_, rho) in solved]


class _WholeMachines(_UntreatedMachines):
    """Solved problems whose decision values are those of the kernel of all samples."""

    def __init__(self, machines: KernelMachines, whole: np.ndarray, positions: np.ndarray, rho: float):
        super().__init__(machines)
        self.whole, self.positions, self.rho = whole, positions, rho

    def _values(self, rows: Any, solution: RobustSolution, members: np.ndarray) -> np.ndarray:
        samples = np.concatenate([self.positions[members], rows.features[:, 0].astype(int)])
        kernel = whole_kernel(self.whole[np.ix_(samples, samples)], solution.v, self.rho)
        return kernel[len(members) :, : len(members)] @ solution.v + solution.intercept


def whole_kernel(S: np.ndarray, v: np.ndarray, rho: float) -> np.ndarray:
    """Return the positive part of ``S + v v^T / (4 rho)``, where v is 0 for the samples that come last."""
    v = np.concatenate([v, np.zeros(len(S) - len(v))])
    return modified(S + np.outer(v, v) / (4.0 * rho), "clip")
