"""SVM-KNN: a support vector machine for each test sample, trained on its neighbours."""

from __future__ import annotations

from itertools import combinations
from typing import Any, Literal, NamedTuple

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from similitude._native import local_machines
from similitude._utils.checks import check_choice, check_positive
from similitude._utils.docs import shared_docs
from similitude._utils.threads import over_row_blocks
from similitude._utils.warn import warn
from similitude.finders.finder import LocalNeighbors, local_neighbors
from similitude.finders.search import SearchLike
from similitude.kernel.spectrum_solver import TARGETS as SPECTRUM_TARGETS
from similitude.kernel.spectrum_solver import learned_spectra
from similitude.labels import Labels
from similitude.neighbors.searching import LocalPath, SearchingClassifier
from similitude.neighbors.weights import lookup_arguments
from similitude.numerics.topk import check_n_neighbors
from similitude.numerics.votes import largest_shares, one_vs_one
from similitude.proximity.check import dense
from similitude.proximity.split import cut
from similitude.reader import Rows, Training
from similitude.similarities.registry import SimilarityLike

# Decision values smaller than this, relative to their terms, count as 0.
_TIE = 1e-8


class Neighbourhood(NamedTuple):
    """The similarities among the k nearest neighbours of x, those of x to them, and the neighbours' classes.

    ``own`` is the self-similarity of x; if it is not known (NaN), the mean of the neighbours' is used.
    """

    S: np.ndarray
    s: np.ndarray
    own: float
    classes: np.ndarray

    @classmethod
    def of(cls, S: Any, indices: np.ndarray, similarities: np.ndarray, own: float, codes: np.ndarray) -> Neighbourhood:
        """Return the neighbourhood of one row."""
        among = dense(cut(S, indices, indices)).astype(np.float64)
        return cls(among / 2 + among.T / 2, similarities.astype(np.float64), float(own), codes[indices])

    def augmented(self, k: int) -> np.ndarray:
        """Return the similarities among the k nearest neighbours and x, which comes last."""
        A = np.empty((k + 1, k + 1))
        A[:k, :k], A[k, :k], A[:k, k] = self.S[:k, :k], self.s[:k], self.s[:k]
        A[k, k] = np.mean(np.diagonal(self.S)[:k]) if np.isnan(self.own) else self.own
        return A


def learned_scores(
    nearest: Neighbourhood, points: list[LocalSVCPoint], n_classes: int, scores: np.ndarray
) -> tuple[int, int]:
    """Write the scores of one row, (points, 1 or G); return how many machines there are, and how many are unsolved."""
    n_machines = n_unsolved = 0
    for k in dict.fromkeys(point.n_neighbors for point in points):
        S, classes = nearest.augmented(k), nearest.classes[:k]
        own = [i for i, point in enumerate(points) if point.n_neighbors == k]
        present = np.unique(classes)
        pairs = list(combinations(present, 2))
        values = np.empty((len(own), len(pairs)))
        for p, pair in enumerate(pairs):
            values[:, p], unsolved = _decisions(S, classes, pair, [points[i] for i in own])
            n_machines, n_unsolved = n_machines + len(own), n_unsolved + unsolved
        scores[own] = _scores(values, present, n_classes)
    return n_machines, n_unsolved


def _decisions(S: np.ndarray, classes: np.ndarray, pair: tuple, points: list[LocalSVCPoint]) -> tuple[np.ndarray, int]:
    """Return the decision value of x for each point, positive for the later class, and the number of unsolved ones.

    All neighbours and x have a part in the spectrum, but only those of the pair have a loss.
    """
    counts = np.append((classes == pair[0]) | (classes == pair[1]), False)
    y = np.append(np.where(classes == pair[1], 1.0, -1.0), 1.0)
    n = int(np.sum(counts))
    weight = np.where(counts, len(y) / n, 0.0)  # so that the mean is over the samples of the pair
    values, unsolved = np.empty(len(points)), 0
    for target in dict.fromkeys(point.target for point in points):
        own = [i for i, point in enumerate(points) if point.target == target]
        etas = [(0.5 / (points[i].C * n), points[i].gamma) for i in own]
        for i, found in zip(own, learned_spectra([S], y, weight, etas, target)):
            row = S[-1]
            value, terms = row @ found.coefficients + found.b, np.abs(row) @ np.abs(found.coefficients) + abs(found.b)
            values[i] = value if abs(value) > _TIE * terms else 0.0
            unsolved += not found.converged
    return values, unsolved


def _scores(values: np.ndarray, present: np.ndarray, n_classes: int) -> np.ndarray:
    if n_classes == 2:
        return values if values.shape[1] else np.full((len(values), 1), 2.0 * present[0] - 1.0)
    scores = np.full((len(values), n_classes), -1.0)
    scores[:, present] = one_vs_one(values, len(present)) if values.shape[1] else 1.0
    return scores


SPECTRA = ("clip", "flip", "shift", "none", "learned")

_ROWS = 16


@shared_docs
class LocalSVC(SearchingClassifier):
    """Classify by a support vector machine trained on the k most similar training samples (SVM-KNN).

    For each test sample x, the similarities S among its k neighbours are converted to a kernel K, its own similarities
    s to them are treated in the same way, and one machine is trained for each pair of classes among the neighbours::

        minimise  alpha^T Q alpha / 2 - sum alpha   over   0 <= alpha <= C,  y^T alpha = 0,   Q_ij = y_i y_j K_ij

    ===========  =============================  =============================================
    spectrum     K, with S = V diag(lambda) V'  s becomes
    ===========  =============================  =============================================
    clip         V diag(max(lambda, 0)) V'      P s, P = V diag(lambda > 0) V'
    flip         V diag(abs(lambda)) V'         P s, P = V diag(sgn lambda) V'
    shift        S + abs(min(lambda_min, 0)) I  s
    none         S                              s
    ===========  =============================  =============================================

    With ``spectrum="learned"`` the modification is learned for each x, from the matrix S' of the k neighbours and x
    itself (whose self-similarity comes from :class:`~similitude.Proximities`, or is the mean of the neighbours'), so
    that no rule for s is needed. With ``S' = U diag(lambda) U^T`` and ``K_a = U diag(a lambda) U^T``, for each pair of
    classes with n neighbours::

        minimise  1/n sum_i xi_i + eta c^T K_a c + gamma h(a),   eta = 1 / (2 C n)
        over      c, b, xi >= 0, a     subject to  y_i ((K_a c)_i + b) >= 1 - xi_i for the neighbours of the pair

    as in :class:`LearnedSpectrumSVC`, where h is defined. For a large gamma the kernel is the clipped or flipped S'.
    This takes far longer than a fixed modification.

    The order of the training samples does not matter: all samples that tie for the last place are taken if there are at
    most 2k neighbours then, and otherwise none of them; if that leaves no neighbour, or all training samples are
    equally similar, the class with the largest share among the most similar samples is predicted (with two classes, the
    decision value is the difference of the shares). Of a pair of classes the later one wins if the decision value is 0
    or more, and the class that wins most pairs is predicted, the first one if several are tied, as in libsvm. Decision
    values that are 0 up to rounding count as 0. If all neighbours belong to one class, it is predicted without
    training; a class without a neighbour cannot win. With ``spectrum="none"`` the problems may not be convex; the
    solution is then a point where the first-order conditions hold.

    An asymmetric S is replaced by ``(S + S^T)/2``, with a warning. The rows of new raw objects are also averaged over
    both directions, while rows of a matrix are used unchanged. The training matrix is kept without a copy, and only its
    entries among neighbours are read. ``PathSearchCV`` evaluates a whole grid of the three parameters with one
    neighbour sort, one decomposition for each sample, k and spectrum, and one pass through the ascending values of C.

    Parameters
    ----------
    {n_neighbors}
    C : float, default=1.0
        The bound of the dual variables; the larger it is, the more a sample on the wrong side is penalised.
        {scale_of_C}
    spectrum : {"clip", "flip", "shift", "none", "learned"}, default="clip"
        How the similarities among the neighbours are made positive semidefinite.
    gamma : float, default=1.0
        If the spectrum is learned, the weight of its distance from the target.
    target : {"clip", "flip", "both", "similarity"}, default="clip"
        If the spectrum is learned, the spectrum from which the distance is measured.
    {search}
    {similarity}

    Attributes
    ----------
    {classes_}
    {n_neighbors_}
    {n_evaluations_}

    See Also
    --------
    SimilaritySVC : A support vector machine on all training samples.
    LearnedSpectrumSVC : One whose spectrum is learned.
    KNNClassifier : A vote of the neighbours.

    References
    ----------
    Zhang, Berg, Maire & Malik, "SVM-KNN: Discriminative nearest neighbor classification for visual category
    recognition", CVPR 2006. Chen, Garcia, Gupta, Rahimi & Cazzanti, JMLR 10, 2009, Sections 2 and 5. Chen, Gupta &
    Recht, "Learning kernels from indefinite similarities", ICML 2009, eq. 12 and Section 5 (the learned spectrum).

    Examples
    --------
    >>> from similitude import LocalSVC
    >>> S = [[3, 2, 0, 1], [2, 3, 1, 0], [0, 1, 3, 2], [1, 0, 2, 3]]
    >>> model = LocalSVC(n_neighbors=3).fit(S, ["a", "a", "b", "b"])
    >>> model.predict([[2, 3, 1, 0], [0, 1, 2, 3]])
    array(['a', 'b'], dtype='<U1')
    >>> model.decision_function([[2, 3, 1, 0], [0, 1, 2, 3]]).round(3)
    array([-1. ,  0.5])
    """

    _path_parameters = ("n_neighbors", "C", "spectrum", "gamma", "target")
    _responses = ("predict", "decision_function")

    def __init__(
        self,
        n_neighbors: int = 5,
        C: float = 1.0,
        spectrum: Literal["clip", "flip", "shift", "none", "learned"] = "clip",
        *,
        gamma: float = 1.0,
        target: Literal["clip", "flip", "both", "similarity"] = "clip",
        search: SearchLike = "matrix",
        similarity: SimilarityLike = "precomputed",
        dissimilarity: str | None = None,
    ):
        self.n_neighbors = n_neighbors
        self.C = C
        self.spectrum = spectrum
        self.gamma = gamma
        self.target = target
        self.search = search
        self.similarity = similarity
        self.dissimilarity = dissimilarity

    def _point(self, parameters: dict[str, Any]) -> LocalSVCPoint:
        k, C = check_n_neighbors(parameters["n_neighbors"]), check_positive(parameters["C"], "C")
        spectrum, target = parameters["spectrum"], parameters["target"]
        check_choice(spectrum, "spectrum", SPECTRA)
        gamma = check_positive(parameters["gamma"], "gamma")
        check_choice(target, "target", SPECTRUM_TARGETS)
        return LocalSVCPoint(k, C, spectrum, gamma, target)

    def _prepared(self, training: Training, points: list[LocalSVCPoint]) -> Training:
        return training.in_both_directions("LocalSVC").indexed(True)

    def _fit_path(self, training: Training, labels: Labels, points: list[LocalSVCPoint]) -> LocalSVCPath:
        points = [point._replace(n_neighbors=min(point.n_neighbors, len(labels))) for point in points]
        return LocalSVCPath(points, labels, training.finder(symmetric=True, lookup=True))


class LocalSVCPoint(NamedTuple):
    """One point of a grid."""

    n_neighbors: int
    C: float
    spectrum: str
    gamma: float
    target: str


class LocalSVCPath(LocalPath):
    """The labels of the training samples, and the finder of neighbours among them.

    The score of a class is the number of pairs that it wins plus a term between -1/3 and 1/3 that grows with the sum of
    its decision values; a class without a neighbour has the score -1. If all neighbours belong to one class, its score
    is 1 (with two classes, the decision value is -1 or 1).
    """

    def __init__(self, points: list[LocalSVCPoint], labels: Labels, finder: Any):
        self.points, self.labels, self.finder = points, labels, finder

    def attributes(self) -> dict[str, Any]:
        return {"n_neighbors_": self.points[0].n_neighbors}

    def answers_among_known(self, rows: Rows, response: str) -> list[np.ndarray]:
        sizes, at_size = np.unique([point.n_neighbors for point in self.points], return_inverse=True)
        neighbors = local_neighbors(self.finder, rows, sizes, self.labels.codes, self.labels.n_classes)
        kinds = [self._fixed_answers, self._learned_answers]
        learned = np.array([point.spectrum == "learned" for point in self.points])
        answers: list[Any] = [None] * len(self.points)
        for kind, places in zip(kinds, (np.flatnonzero(~learned), np.flatnonzero(learned))):
            if len(places):
                own, at = [self.points[i] for i in places], at_size[places]
                found = kind(own, at, rows, neighbors, response)
                alone = neighbors.alone[:, at]
                if alone.any():
                    found[alone] = self._share_answers(neighbors.shares, response)[np.nonzero(alone)[0]]
                for i, answer in zip(places, np.moveaxis(found, 1, 0)):
                    answers[i] = answer
        return answers

    def _share_answers(self, shares: np.ndarray, response: str) -> np.ndarray:
        """Return the answers of samples without a neighbourhood, from the shares of the classes."""
        predicted = largest_shares(shares, self.labels.counts)
        if response != "decision_function":
            return predicted
        # The decision values agree with the prediction also where shares are tied.
        scores = shares.copy()
        scores[np.arange(len(scores)), predicted] = np.nextafter(shares.max(axis=1), 2.0)
        if self.labels.n_classes > 2:
            return scores
        return scores[:, 1:].sum(axis=1) - scores[:, 0]  # there may be one class only

    def _fixed_answers(
        self, points: list[LocalSVCPoint], at: np.ndarray, rows: Rows, neighbors: LocalNeighbors, response: str
    ) -> np.ndarray:
        """Return the answers, (m, points) or (m, points, G), of points with a fixed modification of the spectrum."""
        _, Cs, names, _, _ = zip(*points)
        wanted_sizes, at_size = np.unique(at, return_inverse=True)
        costs, at_cost = np.unique(Cs, return_inverse=True)
        spectra = list(dict.fromkeys(names))
        chosen = [spectra.index(name) for name in names], at_size, at_cost
        wanted = np.zeros((len(spectra), len(wanted_sizes), len(costs)), dtype=bool)
        wanted[chosen] = True
        near, n_classes = neighbors.at(wanted_sizes), self.labels.n_classes
        width = n_classes if n_classes > 2 else 1
        similarities = np.ascontiguousarray(near.similarities, dtype=np.float64)
        indices, sizes = (np.ascontiguousarray(array, dtype=np.intp) for array in (near.indices, near.sizes))
        classes = self.labels.codes[indices].astype(np.intp, copy=False)
        parts, failures = {}, []
        for block in self.finder.blocks(*indices.shape):
            S = lookup_arguments(self.finder.among(rows, indices[block]))
            lists = [array[block] for array in (indices, similarities, classes, sizes)]

            def work(start: int, stop: int, S: Any = S, lists: list = lists, offset: int = block.start) -> None:
                places, values, own, taken = (array[start:stop] for array in lists)
                scores = np.empty((len(places), len(spectra) * len(wanted_sizes), len(costs), width))
                arguments: Any = *S, places, values, own, n_classes, spectra, taken, costs, wanted, scores
                failures.append(local_machines(*arguments))
                scores = scores.reshape(len(places), *wanted.shape, width)[:, *chosen]
                parts[offset + start] = _answered(scores, n_classes, response)

            over_row_blocks(work, len(lists[0]), _ROWS)
        if sum(failures):
            warn(
                f"LocalSVC: {sum(failures)} machines were not solved to full accuracy; a smaller C or "
                "spectrum='clip' helps.",
                ConvergenceWarning,
            )
        return np.concatenate([parts[start] for start in sorted(parts)])

    def _learned_answers(
        self, points: list[LocalSVCPoint], at: np.ndarray, rows: Rows, neighbors: LocalNeighbors, response: str
    ) -> np.ndarray:
        """Return the answers of points whose spectrum is learned."""
        similarities, indices, sizes, _, _ = neighbors.at(at)
        own = np.full(len(indices), np.nan) if rows.self_similarity is None else rows.self_similarity
        n_classes, codes = self.labels.n_classes, self.labels.codes
        scores = np.empty((len(indices), len(points), n_classes if n_classes > 2 else 1))
        n_unsolved = n_machines = 0
        for part in self.finder.blocks(*indices.shape):
            S = self.finder.among(rows, indices[part])
            for i in range(*part.indices(len(indices))):
                k = int(sizes[i].max())
                nearest = Neighbourhood.of(S, indices[i, :k], similarities[i, :k], own[i], codes)
                wanted = [point._replace(n_neighbors=int(size)) for size, point in zip(sizes[i], points)]
                solved = learned_scores(nearest, wanted, n_classes, scores[i])
                n_machines, n_unsolved = n_machines + solved[0], n_unsolved + solved[1]
        if n_unsolved:
            warn(
                f"LocalSVC: {n_unsolved} of {n_machines} machines with a learned spectrum were not solved to full "
                "accuracy; rescale the similarities, or use a smaller C.",
                ConvergenceWarning,
            )
        return _answered(scores, n_classes, response)


def _answered(scores: np.ndarray, n_classes: int, response: str) -> np.ndarray:
    """Return the positions of the predicted classes, or the decision values, from scores (..., 1 or G)."""
    if response == "decision_function":
        return scores if n_classes > 2 else scores[..., 0]
    return np.argmax(scores, axis=-1) if n_classes > 2 else (scores[..., 0] >= 0).astype(np.intp)
