"""The classifier that spreads labels on the graph of neighbours, also over samples that have none."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Self

import numpy as np

from similitude._utils.checks import check_choice, check_interval
from similitude._utils.docs import shared_docs
from similitude._utils.ids import labels_in_order
from similitude.base import FittedPath, SimilarityClassifier, partly_labelled
from similitude.labels import Labels
from similitude.neighbors._spreading import lowest, neighbor_weights, scaled_graph, spread
from similitude.numerics.topk import check_n_neighbors
from similitude.reader import ByName, Rows, Training

if TYPE_CHECKING:
    from similitude._utils.types import LabelsLike, SamplesLike
    from similitude.similarities.registry import SimilarityLike

WEIGHTS = ("uniform", "affinity")


class GraphPoint(NamedTuple):
    """One point of a grid."""

    n_neighbors: int
    alpha: float
    weights: str


class GraphPath(FittedPath):
    """What has spread to each training sample at each point."""

    _by_point = ("masses",)

    def __init__(self, points: list[GraphPoint], masses: list[np.ndarray], low: float, shares: np.ndarray):
        self.points, self.masses, self.low, self.shares = points, masses, low, shares

    def answers(self, rows: Rows, response: str) -> list[np.ndarray]:
        kinds = list(dict.fromkeys((point.n_neighbors, point.weights) for point in self.points))
        weights = dict(zip(kinds, neighbor_weights(rows.S, *_columns(kinds), self.low, square=False)))
        return [
            self._answer(weights[point.n_neighbors, point.weights] @ mass, response)
            for point, mass in zip(self.points, self.masses)
        ]

    def _answer(self, votes: np.ndarray, response: str) -> np.ndarray:
        total = votes.sum(axis=1, keepdims=True)
        found = np.where(total > 0, votes / np.where(total > 0, total, 1.0), self.shares)
        return found if response == "predict_proba" else np.argmax(found, axis=1)


def _columns(kinds: list[tuple[int, str]]) -> tuple[list[int], list[str]]:
    return [size for size, _ in kinds], [kind for _, kind in kinds]


@shared_docs
class GraphClassifier(SimilarityClassifier):
    """Classify by labels that spread on the graph of neighbours, also over samples without a label.

    With W the weights of the graph, in which two samples are joined if one is among the k nearest of the other, D the
    diagonal matrix of its row sums, and Y the indicators of the classes of the labelled samples, F is the minimum of
    [1]_ ::

        sum over i, j of W_ij |F_i / sqrt(D_i) - F_j / sqrt(D_j)|^2 / 2 + (1 / alpha - 1) sum over i of |F_i - Y_i|^2

    up to a factor: ``(I - alpha D^(-1/2) W D^(-1/2)) F = Y``. A new sample x has the posterior of class g ::

        P(g | x) ~ sum over the k nearest samples j of w(x, j) F_jg / sqrt(D_j)

    which is what would spread to it if it were part of the graph. All values of ``alpha`` are solved by one run of
    conjugate gradients, and all numbers of neighbours share one search.

    Parameters
    ----------
    n_neighbors : int, default=10
        The number of neighbours k. No tie is split: if samples tie for the last place, all of them are neighbours if
        there are at most 2 k then, otherwise none of them.
    alpha : float, default=0.9
        How far labels spread, above 0 and below 1.
    weights : {{"affinity", "uniform"}}, default="affinity"
        The weights of the graph: the similarity less the smallest one, which joins no samples (0 if S is sparse), or 1.
    unlabelled : {{"use"}}, default=None
        None means that all samples have a label. With "use", y may hold missing ones: -1 among numbers, as in
        scikit-learn, None, NaN or empty text.
    {similarity}

    Attributes
    ----------
    {classes_}

    See Also
    --------
    KNNClassifier : Votes of the labelled neighbours alone.
    AutoClassifier : Evaluate the methods on the same folds, and combine those that work best together.

    References
    ----------
    .. [1] Zhou, Bousquet, Lal, Weston & Schölkopf, "Learning with local and global consistency", NIPS 2003.

    Examples
    --------
    >>> import numpy as np
    >>> from similitude import GraphClassifier
    >>> x = np.array([0.0, 1.0, 2.0, 3.0, 10.0, 11.0, 12.0, 13.0])
    >>> S = -np.abs(x[:, None] - x)
    >>> y = ["a", "", "", "", "", "", "", "b"]
    >>> model = GraphClassifier(n_neighbors=2, unlabelled="use").fit(S, y)
    >>> model.predict([-np.abs(3.5 - x), -np.abs(9.5 - x)])
    array(['a', 'b'], dtype='<U1')
    """

    _path_parameters = ("n_neighbors", "alpha", "weights")
    _responses = ("predict", "predict_proba")

    def __init__(
        self,
        n_neighbors: int = 10,
        alpha: float = 0.9,
        weights: Literal["affinity", "uniform"] = "affinity",
        *,
        unlabelled: Literal["use"] | None = None,
        similarity: SimilarityLike = "precomputed",
        dissimilarity: str | None = None,
    ):
        self.n_neighbors = n_neighbors
        self.alpha = alpha
        self.weights = weights
        self.unlabelled = unlabelled
        self.similarity = similarity
        self.dissimilarity = dissimilarity

    @property
    def _unlabelled(self) -> str | None:
        return "all"

    def _point(self, parameters: dict[str, Any]) -> GraphPoint:
        check_interval(parameters["alpha"], "alpha", "(0, 1)")
        check_choice(parameters["weights"], "weights", WEIGHTS)
        n_neighbors = check_n_neighbors(parameters["n_neighbors"])
        return GraphPoint(n_neighbors, float(parameters["alpha"]), parameters["weights"])

    def fit(self, X: SamplesLike, y: LabelsLike) -> Self:
        """Spread the labels.

        Parameters
        ----------
        {X_train}
        {y_train}
            With ``unlabelled="use"`` some may be missing.

        Returns
        -------
        self
            The fitted classifier.
        """
        check_choice(self.unlabelled, "unlabelled", (None, "use"))
        if self.unlabelled is None or isinstance(X, ByName):
            return self._fit(X, y)
        samples = partly_labelled(self._contract(), X, labels_in_order(y, X), estimator=self)
        return self._fit(samples.whole(), samples.y)

    def _fit_path(self, training: Training, labels: Labels, points: list[GraphPoint]) -> GraphPath:
        S = training.S
        Y = np.zeros((S.shape[0], labels.n_classes))
        Y[np.arange(len(Y)) if training.labelled is None else training.labelled, labels.codes] = 1.0
        low = lowest(S)
        kinds = list(dict.fromkeys((point.n_neighbors, point.weights) for point in points))
        masses: dict[GraphPoint, np.ndarray] = {}
        for kind, weights in zip(kinds, neighbor_weights(S, *_columns(kinds), low, square=True)):
            alphas = list(dict.fromkeys(p.alpha for p in points if (p.n_neighbors, p.weights) == kind))
            P, factors = scaled_graph(weights)
            # A sample without a neighbour keeps its own label.
            factors = np.where(factors > 0, factors, 1.0)[:, None]
            for alpha, F in zip(alphas, spread(P, Y, alphas)):
                masses[GraphPoint(kind[0], alpha, kind[1])] = F * factors
        return GraphPath(points, [masses[point] for point in points], low, labels.shares)
