"""Local similarity discriminant analysis, plain and regularized."""

from __future__ import annotations

import copy
from numbers import Real
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from similitude._utils.checks import check_choice
from similitude._utils.docs import shared_docs
from similitude._utils.types import CostsLike, PriorsLike
from similitude.base import FittedPath
from similitude.finders.finder import LocalNeighbors, MatrixFinder
from similitude.finders.graph import GraphSearch
from similitude.finders.search import SearchLike
from similitude.finders.stream import StreamSearch
from similitude.generative.base import DividedPath, GenerativeClassifier, GenerativePath, answered, log_posterior
from similitude.generative.local_models import AveragePmfs, Neighborhoods, Statistics, grown_sizes
from similitude.generative.max_entropy import family_on, searched_family
from similitude.labels import Labels
from similitude.neighbors.searching import LocalPath, SearchingClassifier
from similitude.numerics.topk import check_n_neighbors
from similitude.numerics.votes import first_of_best, log_of, rescaled_by_priors
from similitude.proximity.unknown import LearnedFill, known_counts, known_values
from similitude.reader import Rows, Training
from similitude.similarities.registry import SimilarityLike

FALLBACKS = ("class", "k", "one", "grow", None)
_MANY_CLASSES = 32
_TOGETHER = 256
"""The number of rows whose neighbours' classes are looked at together, if there are more than so many classes."""


@shared_docs
class LocalSDA(GenerativeClassifier, SearchingClassifier):
    """Classify each sample by similarity discriminant analysis among its k most similar training samples.

    Let N_g be the n_g neighbours of x of class g, and let g and h run over the classes that have neighbours::

        mu_h = argmax over mu in N_h of  sum over z in N_h of psi(z, mu)
        P_gh(s) = gamma_gh exp(lambda_gh s) on Omega,  with mean  (1/n_g) sum over z in N_g of psi(z, mu_h)
        P(x | g) = product over h of P_gh(psi(x, mu_h)),   P(g) = (n_g + 1) / (k + G)

    The class of least expected cost is predicted, which without ``costs`` is the one of largest P(x | g) P(g).

    In small neighbourhoods many distributions are point masses. Then the class of the most similar local centroid is
    predicted instead, with the posterior 1. ``fallback`` defines when:

    * ``"class"``: if a class among the neighbours has fewer than three of them;
    * ``"k"``: if k is at most 3;
    * ``"one"``: if a class among the neighbours has exactly one of them;
    * ``"grow"``: never; instead, the neighbourhood of x grows beyond k until each class in it has three neighbours, or
      all of its training samples, so that k is larger where a class is scarce;
    * None: never.

    It is always done if P(x | g) P(g) is 0 for every class.

    With ``alpha`` above 0 this is regularized local SDA: instead of a fallback, the product is averaged with a product
    of smooth distributions. P_ave(s | g, h) is the average of the distributions P_gh in the neighbourhoods of the
    training samples z, each without z itself, that have both classes (uniform where none has)::

        P(x, g) = (1 - alpha) P(x | g) P(g) + alpha (product over h of P_ave(psi(x, mu_h) | g, h)) (n_g + 1) / (n + G)

    where g runs over all classes (the first term of an absent one is 0), h over those among the neighbours, and n_g in
    the last factor counts training samples.

    The order of the training samples does not matter. All samples that tie for the last place are neighbours if there
    are at most 2k then, and otherwise none of them; if that leaves no neighbour, or all training samples are equally
    similar, the posterior is the shares of the classes among the most similar samples. Of tied candidates for a
    centroid the one most similar to x is taken, then the one with the largest total over all neighbours; of tied
    classes the one with the most similar neighbour, then the one with more training samples. The similarity may be
    asymmetric: rows psi(x, .) are ranked as they are, and ``S[z, mu]`` is psi(z, mu). The training matrix is kept
    without a copy. ``PathSearchCV`` evaluates a whole grid of ``n_neighbors``, ``alpha`` and ``fallback`` at once: one
    neighbour sort and one pass over the nested neighbourhoods.

    Parameters
    ----------
    n_neighbors : int, default=10
        The number k of neighbours; at most the number of samples is used.
    alpha : float, default=0.0
        The weight of the averages, from 0 to 1.
    fallback : {"class", "k", "one", "grow", None}, default="class"
        When the most similar local centroid decides, or whether neighbourhoods grow; it has no effect if alpha is above
        0.
    {omega}
    {model_priors}
    {costs}
    {search}
        With "stream", ``omega=None`` and "continuous" need a pass over all pairs, and alpha above 0 needs another one;
        with "graph" omega must be an array, alpha 0, and fallback not "grow".
    {similarity}

    Attributes
    ----------
    {classes_}
    {n_neighbors_}
        With ``fallback="grow"`` it is the least number.
    {n_evaluations_}

    See Also
    --------
    SDA : The same with all training samples.
    LocalNearestCentroid : Predicts the class of the most similar local centroid.
    FusedClassifier : Multiplies the posteriors of this and other classifiers.

    References
    ----------
    Cazzanti & Gupta, "Local similarity discriminant analysis", ICML 2007, eq. 4 to 9 (arg max in eq. 9 is arg min).
    Cazzanti, Gupta & Srivastava, "Fusing similarities and Euclidean features with generative classifiers", FUSION 2009,
    Section 3.1 (larger k), eq. 4 and 5. Chen, Garcia, Gupta, Rahimi & Cazzanti, JMLR 10, 2009, Section 6.1.

    Examples
    --------
    >>> from similitude import LocalSDA
    >>> S = [[5, 4, 3, 1, 0, 1], [4, 5, 3, 2, 1, 1], [3, 3, 5, 2, 2, 1],
    ...      [1, 2, 2, 5, 3, 4], [0, 1, 2, 3, 5, 2], [1, 1, 1, 4, 2, 5]]
    >>> y = ["a", "a", "a", "b", "b", "b"]
    >>> model = LocalSDA(n_neighbors=6).fit(S, y)
    >>> model.predict_joint_log_proba([[3, 4, 2, 3, 1, 2]]).round(4)
    array([[-4.132, -5.428]])
    >>> LocalSDA(n_neighbors=4, alpha=0.1).fit(S, y).predict_proba([[3, 4, 2, 3, 1, 2]]).round(3)
    array([[0.869, 0.131]])
    """

    _path_parameters = ("n_neighbors", "alpha", "fallback")

    def __init__(
        self,
        n_neighbors: int = 10,
        alpha: float = 0.0,
        fallback: Literal["class", "k", "one", "grow"] | None = "class",
        omega: ArrayLike | Literal["continuous"] | None = None,
        priors: PriorsLike = None,
        costs: CostsLike = None,
        *,
        search: SearchLike = "matrix",
        similarity: SimilarityLike = "precomputed",
        dissimilarity: str | None = None,
    ):
        self.n_neighbors = n_neighbors
        self.alpha = alpha
        self.fallback = fallback
        self.omega = omega
        self.priors = priors
        self.costs = costs
        self.search = search
        self.similarity = similarity
        self.dissimilarity = dissimilarity

    def _point(self, parameters: dict[str, Any]) -> LocalSDAPoint:
        alpha, fallback = parameters["alpha"], parameters["fallback"]
        k = check_n_neighbors(parameters["n_neighbors"])
        if not isinstance(alpha, Real) or isinstance(alpha, bool) or not 0 <= float(alpha) <= 1:
            raise ValueError(f"alpha must be a number from 0 to 1; got {alpha!r}.")
        check_choice(fallback, "fallback", FALLBACKS)
        return LocalSDAPoint(k, float(alpha), fallback)

    def _fit_path(self, training: Training, labels: Labels, points: list[LocalSDAPoint]) -> LocalSDAPath | DividedPath:
        points = [point._replace(n_neighbors=min(point.n_neighbors, len(labels))) for point in points]
        if training.unknown and len({point.needs_all for point in points}) > 1:
            # The other points vote among known neighbours, as each of them does alone.
            apart = [[i for i, point in enumerate(points) if point.needs_all is needs] for needs in (False, True)]
            paths: list[FittedPath] = [self._fit_path(training, labels, [points[i] for i in own]) for own in apart]
            return DividedPath(points, apart, paths)
        regularized = sorted({point.n_neighbors for point in points if point.alpha > 0})
        if regularized:
            training = training.complete("LocalSDA with alpha above 0")
        elif any(point.grows for point in points):
            training = training.complete('LocalSDA with fallback="grow"')
        finder = training.finder(lookup=True)
        if training.unknown:
            family = family_on(self.omega, _used_values(training.S, finder.fill))
        elif training.has_matrix:
            family = family_on(self.omega, finder.S)
        else:
            if regularized and not isinstance(finder, StreamSearch):
                raise ValueError(
                    f"alpha must be 0 with search={self.search!r}, because the exact neighbourhoods of all training "
                    "samples are needed otherwise; use search='stream'."
                )
            if isinstance(finder, GraphSearch) and any(point.grows for point in points):
                raise ValueError("fallback='grow' needs exact neighbours; use search='matrix' or 'stream'.")
            family = searched_family(self.omega, training.reader, finder)
        neighborhoods = Neighborhoods(finder, labels, family)
        averages = neighborhoods.average_pmfs(training.as_rows(), regularized) if regularized else {}
        return LocalSDAPath(points, neighborhoods, averages)


def _used_values(S: Any, fill: LearnedFill) -> np.ndarray:
    """Return the known similarities, and those that take the place of unknown ones if they lie outside their range."""
    known = np.ravel(known_values(S))
    filled = np.array([fill.value, fill.own])
    return np.append(known, filled[(filled < known.min()) | (filled > known.max())])[:, None]


class LocalSDAPoint(NamedTuple):
    """One point of a grid."""

    n_neighbors: int
    alpha: float
    fallback: str | None

    @property
    def grows(self) -> bool:
        """Whether neighbourhoods grow until each class in them has enough neighbours."""
        return self.alpha == 0 and self.fallback == "grow"

    @property
    def needs_all(self) -> bool:
        """Whether the similarities of all pairs are needed."""
        return self.alpha > 0 or self.grows

    def falls_back(self, counts: np.ndarray) -> np.ndarray | bool:
        """Return whether the local nearest centroid decides in neighbourhoods with these counts of classes, (m, G)."""
        if self.alpha > 0 or self.fallback in (None, "grow"):
            return False
        if self.fallback == "k":
            return self.n_neighbors <= 3
        fewest = 3 if self.fallback == "class" else 2
        return np.any((counts > 0) & (counts < fewest), axis=1)


class LocalSDAPath(LocalPath, GenerativePath):
    """The neighbourhoods of the training samples, in which models are fitted at prediction."""

    _n_smoothed: int | None = None
    """The number of classes over which local priors are smoothed, if ``labels`` has only some of them."""

    def __init__(self, points: list[LocalSDAPoint], neighborhoods: Neighborhoods, averages: dict[int, AveragePmfs]):
        self.points, self.neighborhoods, self.averages = points, neighborhoods, averages
        self.labels: Labels = neighborhoods.labels
        self.family = neighborhoods.family

    @property
    def finder(self) -> Any:
        """The finder of the neighbours."""
        return self.neighborhoods.finder

    def attributes(self) -> dict[str, Any]:
        return {"n_neighbors_": self.points[0].n_neighbors}

    def answers(self, rows: Rows, response: str) -> list[np.ndarray]:
        return super().answers(self._completed(rows), response)

    def _completed(self, rows: Any) -> Any:
        """Return the rows with every similarity known, if the points need all of them."""
        if any(point.alpha > 0 for point in self.points):
            return rows.complete("LocalSDA with alpha above 0")
        return rows.complete('LocalSDA with fallback="grow"') if any(point.grows for point in self.points) else rows

    def answers_among_known(self, rows: Rows, response: str) -> list[np.ndarray]:
        answers: dict[int, np.ndarray] = {}
        for grows in {point.grows for point in self.points}:
            own = [i for i, point in enumerate(self.points) if point.grows == grows]
            points = [self.points[i] for i in own]
            sizes, at = np.unique([point.n_neighbors for point in points], return_inverse=True)
            neighbors = self._grown(sizes, rows) if grows else self.neighborhoods.nearest(rows, sizes)
            found = self._answers_at(points, sizes, at, rows, neighbors, response)
            answers |= zip(own, np.moveaxis(found, 1, 0))
        return [answers[i] for i in range(len(self.points))]

    def _answers_at(
        self,
        points: list[LocalSDAPoint],
        sizes: np.ndarray,
        at: np.ndarray,
        rows: Any,
        neighbors: LocalNeighbors,
        response: str,
    ) -> np.ndarray:
        """Return the answers, (m, points, ...); the neighbourhoods of point j have the size ``sizes[at[j]]``."""
        if self._looks_at_present_classes:
            return self._answers_among_present(points, sizes, at, rows, neighbors, response)

        def work(S: Any, near: LocalNeighbors) -> np.ndarray:
            found = self.neighborhoods.statistics(S, near)
            joint, fallen, winners = self._joint(points, found, near, sizes, at)
            alone = near.alone[:, at]
            if alone.any():
                joint[alone] = log_of(self._share_posterior(near.shares))[np.nonzero(alone)[0]]
            if response == "predict_joint_log_proba":
                return joint
            logs = log_posterior(joint, fallen & ~alone, winners, self.labels.priors)
            classes, counts = self.labels.codes[near.indices], found.counts[:, at]
            counts = np.where(alone[..., None], near.shares[:, None], counts)
            voters = classes, near.similarities, counts, near.sizes[:, at], self.labels.counts
            return answered(logs, response, self.labels.costs, lambda scores: first_of_best(scores, *voters))

        return np.concatenate(self.neighborhoods.in_blocks(rows, neighbors, work))

    @property
    def _looks_at_present_classes(self) -> bool:
        """Whether there are so many classes that statistics are only of those that have neighbours, if that can be."""
        labels = self.labels
        apart = labels.costs is None and labels.priors is None and not self.averages and self._n_smoothed is None
        return apart and labels.n_classes > _MANY_CLASSES and isinstance(self.finder, MatrixFinder)

    def _answers_among_present(
        self,
        points: list[LocalSDAPoint],
        sizes: np.ndarray,
        at: np.ndarray,
        rows: Any,
        neighbors: LocalNeighbors,
        response: str,
    ) -> np.ndarray:
        """Return the same answers, from rows that have neighbours in a few classes together.

        The statistics of a row take memory and time for the square of the number of classes.
        """
        codes, n_classes, m = self.labels.codes, self.labels.n_classes, len(neighbors.indices)
        absent = 0.0 if response == "predict_proba" else -np.inf
        found = np.full((m, len(points), n_classes), absent)
        if response == "predict":
            found = np.zeros((m, len(points)), dtype=np.intp)
        # Rows that resemble all samples equally would bring all classes with them.
        alone = neighbors.alone.all(axis=1)
        found[alone] = self._answers_of_shares(neighbors.part(alone), at, response)
        order = np.flatnonzero(~alone)
        order = order[np.argsort(codes[neighbors.indices[order, 0]], kind="stable")]
        for start in range(0, len(order), _TOGETHER):
            chosen = order[start : start + _TOGETHER]
            near = neighbors.part(chosen)
            present = np.union1d(codes[near.indices], np.flatnonzero(near.shares.any(axis=0)))
            near = near._replace(shares=np.pad(near.shares[:, present], ((0, 0), (0, 1))))
            own = copy.copy(self)
            own.neighborhoods = self.neighborhoods.among_classes(present)
            own.labels, own._n_smoothed = own.neighborhoods.labels, n_classes
            answers = own._answers_at(points, sizes, at, rows, near, response)
            if response == "predict":
                found[chosen] = present[answers]
            else:
                found[chosen[:, None], :, present] = np.moveaxis(answers[..., :-1], 2, 1)
        return found

    def _answers_of_shares(self, near: LocalNeighbors, at: np.ndarray, response: str) -> np.ndarray:
        """Return the answers for rows without a neighbourhood of any size."""
        if response == "predict_joint_log_proba":
            return np.repeat(log_of(self._share_posterior(near.shares))[:, None], len(at), axis=1)
        counts = np.repeat(near.shares[:, None], len(at), axis=1)
        nowhere = np.zeros(counts.shape[:2], dtype=bool)
        logs = log_posterior(log_of(counts), nowhere, nowhere.astype(np.intp), None)
        classes = self.labels.codes[near.indices]
        voters = classes, near.similarities, counts, near.sizes[:, at], self.labels.counts
        return answered(logs, response, None, lambda scores: first_of_best(scores, *voters))

    def _share_posterior(self, shares: np.ndarray) -> np.ndarray:
        """Return the posterior of samples without a neighbourhood, from the shares among their most similar samples."""
        labels = self.labels
        return shares if labels.priors is None else rescaled_by_priors(shares, labels.priors, labels.shares)

    def _grown(self, sizes: np.ndarray, rows: Any) -> LocalNeighbors:
        """Return the neighbourhoods of the rows that grow from each of the sizes, which ascend."""
        k, n, codes = int(sizes[-1]), len(self.labels), self.labels.codes
        while True:
            similarities, indices = self.finder.nearest(rows, k)
            grown = grown_sizes(codes[indices], similarities, self.labels.counts, sizes)
            if k == n or np.all(grown <= k):
                alone = np.full(grown.shape, (similarities[:, :1] == similarities[:, -1:]) & (k == n))
                shares = np.tile(self.labels.shares, (len(indices), 1))
                return LocalNeighbors(similarities, indices, grown, alone, shares)
            k = min(2 * k, n)

    def _joint(
        self, points: list[LocalSDAPoint], found: Statistics, near: LocalNeighbors, sizes: np.ndarray, at: np.ndarray
    ) -> tuple[np.ndarray, ...]:
        """Return joint log-probabilities (m, points, G), whether the centroid decides instead, and its class."""
        similarities = near.similarities
        local = self.neighborhoods.log_likelihoods(found, similarities)
        local = local + self._local_log_priors(found.counts, near.sizes[..., None])
        alphas = np.array([point.alpha for point in points])
        fallen = np.empty((len(local), len(points)), dtype=bool)
        for j, point in enumerate(points):
            fallen[:, j] = point.falls_back(found.counts[:, at[j]])
        joint = local[:, at]
        if alphas.any():
            averages = self._averaged(found, similarities, sizes)[:, at]
            joint = np.logaddexp(log_of(1 - alphas)[:, None] + joint, log_of(alphas)[:, None] + averages)
        return joint, fallen | np.all(joint == -np.inf, axis=2), found.winners[:, at]

    def _local_log_priors(self, counts: np.ndarray, sizes: Any) -> np.ndarray:
        """Return log P(g) in neighbourhoods of these sizes with these counts of the classes."""
        if self.labels.priors is not None:
            return self.log_priors
        return np.log((counts + 1) / (sizes + (self._n_smoothed or self.labels.n_classes)))

    def _averaged(self, found: Statistics, similarities: np.ndarray, sizes: np.ndarray) -> np.ndarray:
        """Return log of P_ave(x | g) P(g), (m, sizes, G); 0 for sizes without averages."""
        ends = self.family.distances(found.at_centroids(similarities))
        logs = np.zeros(found.counts.shape)
        for i, k in enumerate(sizes.tolist()):
            if k in self.averages:
                below, above = (a[:, i] for a in ends)
                averages = self.neighborhoods.average_log_likelihoods(
                    self.averages[k], below, above, found.counts[:, i] > 0
                )
                logs[:, i] = averages + self.log_priors
        return logs

    def models_of(self, rows: Rows) -> dict[str, Any]:
        rows = self._completed(rows)
        if rows.unknown:
            known = int(known_counts(rows.S)[0])
            if not known:
                raise ValueError("X has no known similarity to a training sample, so there is nothing to explain.")
            if known < self.points[0].n_neighbors:
                return self.limited(known).models_of(rows)
        point = self.points[0]
        k = int(self._grown(np.array([point.n_neighbors]), rows).sizes[0, 0]) if point.grows else point.n_neighbors
        averages = self.averages[k] if point.alpha > 0 else None
        told = self.neighborhoods.models_of(rows, k, averages)
        told["log_priors"] = self._local_log_priors(told["counts"], told["counts"].sum())
        if np.any(point.falls_back(told["counts"][None])):
            told["by_centroid"] = True
        return told
