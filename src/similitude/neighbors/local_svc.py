"""SVM-KNN: a support vector machine for each test sample, trained on its neighbours."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from similitude._native import local_machines
from similitude._utils.checks import check_choice, check_positive
from similitude._utils.docs import shared_docs
from similitude._utils.threads import over_row_blocks
from similitude._utils.warn import warn
from similitude.finders.finder import LocalNeighbors, is_finder, local_neighbors
from similitude.kernel.spectrum_solver import TARGETS as SPECTRUM_TARGETS
from similitude.labels import Labels
from similitude.neighbors._learned_local import LearnedPoint, Neighbourhood, learned_scores
from similitude.neighbors.searching import LocalPath, SearchingClassifier
from similitude.neighbors.weights import lookup_arguments
from similitude.numerics.topk import check_n_neighbors
from similitude.numerics.votes import largest_shares

if TYPE_CHECKING:
    from similitude.finders.search import SearchLike
    from similitude.reader import Rows, Training
    from similitude.similarities.registry import SimilarityLike

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
        check_n_neighbors(parameters["n_neighbors"])
        check_positive(parameters["C"], "C")
        spectrum = parameters["spectrum"]
        check_choice(spectrum, "spectrum", SPECTRA)
        check_positive(parameters["gamma"], "gamma")
        target = parameters["target"]
        check_choice(target, "target", SPECTRUM_TARGETS)
        numbers = int(parameters["n_neighbors"]), float(parameters["C"])
        return LocalSVCPoint(*numbers, spectrum, float(parameters["gamma"]), target)

    def _fit_path(self, training: Training, labels: Labels, points: list[LocalSVCPoint]) -> LocalSVCPath:
        training.note_asymmetry("LocalSVC")
        points = [point._replace(n_neighbors=min(point.n_neighbors, len(labels))) for point in points]
        return LocalSVCPath(points, labels, training.finder(symmetric=True, lookup=True))


class LocalSVCPoint(NamedTuple):
    """One point of a grid."""

    n_neighbors: int
    C: float
    spectrum: str
    gamma: float
    target: str

    @staticmethod
    def _saved_state() -> dict[str, str]:
        return {
            "n_neighbors": "int 1..N+1",
            "C": "float 0..",
            "spectrum": "text",
            "gamma": "float 0..",
            "target": "text",
        }


class LocalSVCPath(LocalPath):
    """The labels of the training samples, and the finder of neighbours among them.

    The score of a class is the number of pairs that it wins plus a term between -1/3 and 1/3 that grows with the sum of
    its decision values; a class without a neighbour has the score -1. If all neighbours belong to one class, its score
    is 1 (with two classes, the decision value is -1 or 1).
    """

    _saved_state = {"labels": "Labels", "points": "list(1) of LocalSVCPoint", "finder": "object"}

    def __init__(self, points: list[LocalSVCPoint], labels: Labels, finder: Any):
        self.points, self.labels, self.finder = points, labels, finder

    def attributes(self) -> dict[str, Any]:
        return {"n_neighbors_": self.points[0].n_neighbors}

    def local_answers(self, rows: Rows, response: str) -> list[np.ndarray]:
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
        _, Cs, spectra, _, _ = zip(*points)
        wanted, at_size = np.unique(at, return_inverse=True)
        costs, at_cost = np.unique(Cs, return_inverse=True)
        distinct = list(dict.fromkeys(spectra))
        chosen = [distinct.index(spectrum) for spectrum in spectra], at_size, at_cost
        own, parts = neighbors.at(wanted), []
        for part in self.finder.blocks(*own.indices.shape):
            S = self.finder.among(rows, own.indices[part])
            task = _LocalMachines(S, self.labels.codes, self.labels.n_classes, costs, distinct, len(wanted), chosen)
            parts.append(task(own.similarities[part], own.indices[part], own.sizes[part], response))
        return np.concatenate(parts)

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
                wanted = [LearnedPoint(int(k), p.C, p.gamma, p.target) for k, p in zip(sizes[i], points)]
                solved = learned_scores(nearest, wanted, n_classes, scores[i])
                n_machines, n_unsolved = n_machines + solved[0], n_unsolved + solved[1]
        if n_unsolved:
            warn(
                f"LocalSVC: {n_unsolved} of {n_machines} machines with a learned spectrum were not solved to full "
                "accuracy; rescale the similarities, or use a smaller C.",
                ConvergenceWarning,
            )
        return _answered(scores, n_classes, response)

    def _check_saved(self, sizes: Any) -> bool:
        return is_finder(self.finder, lookup=True)


def _answered(scores: np.ndarray, n_classes: int, response: str) -> np.ndarray:
    """Return the positions of the predicted classes, or the decision values, from scores (..., 1 or G)."""
    if response == "decision_function":
        return scores if n_classes > 2 else scores[..., 0]
    return np.argmax(scores, axis=-1) if n_classes > 2 else (scores[..., 0] >= 0).astype(np.intp)


class _LocalMachines:
    """The machines of all test samples, for the chosen ``(spectrum, size, C)``, which are given by their positions."""

    def __init__(
        self,
        S: Any,
        labels: np.ndarray,
        n_classes: int,
        costs: np.ndarray,
        spectra: list[str],
        n_sizes: int,
        chosen: tuple[Any, ...],
    ):
        self.S, self.labels, self.n_classes = lookup_arguments(S), labels, n_classes
        self.chosen = (slice(None), *chosen)
        self.wanted = np.zeros((len(spectra), n_sizes, len(costs)), dtype=bool)
        self.wanted[tuple(chosen)] = True
        self.spectra, self.costs = spectra, costs

    def __call__(self, similarities: np.ndarray, indices: np.ndarray, sizes: np.ndarray, response: str) -> np.ndarray:
        """Return the positions of the predicted classes, or the decision values: (m, points) or (m, points, G)."""
        similarities = np.ascontiguousarray(similarities, dtype=np.float64)
        indices, sizes = (np.ascontiguousarray(array, dtype=np.intp) for array in (indices, sizes))
        classes = self.labels[indices].astype(np.intp, copy=False)
        parts, failures = {}, []

        def work(start: int, stop: int) -> None:
            rows = slice(start, stop)
            scores, failed = self._scores(similarities[rows], indices[rows], classes[rows], sizes[rows])
            parts[start] = _answered(scores[self.chosen], self.n_classes, response)
            failures.append(failed)

        over_row_blocks(work, len(indices), _ROWS)
        if sum(failures):
            warn(
                f"LocalSVC: {sum(failures)} machines were not solved to full accuracy; a smaller C or "
                "spectrum='clip' helps.",
                ConvergenceWarning,
            )
        return np.concatenate([parts[start] for start in sorted(parts)])

    def _scores(
        self, similarities: np.ndarray, indices: np.ndarray, classes: np.ndarray, sizes: np.ndarray
    ) -> tuple[np.ndarray, int]:
        """Return the scores of a few rows, (rows, spectra, sizes, costs, 1 or G), and the number of unsolved fits."""
        n_spectra, n_sizes, n_costs = self.wanted.shape
        width = self.n_classes if self.n_classes > 2 else 1
        scores = np.empty((len(indices), n_spectra * n_sizes, n_costs, width))
        grid = self.spectra, sizes, self.costs, self.wanted
        arguments: Any = *self.S, indices, similarities, classes, self.n_classes, *grid, scores
        failed = local_machines(*arguments)
        return scores.reshape(len(indices), *self.wanted.shape, width), failed
