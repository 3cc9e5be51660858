"""Nearest-centroid classifiers on similarities, with centroids of all training samples or of each neighbourhood."""

from __future__ import annotations

from functools import partial
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from similitude._native import nearest_centroids, nearest_centroids_csr
from similitude._utils.docs import shared_docs
from similitude._utils.threads import over_row_blocks
from similitude._utils.types import ColumnPositions, LabelsLike, SamplesLike
from similitude.base import FittedPath, SimilarityClassifier
from similitude.finders.finder import local_neighbors
from similitude.finders.search import SearchLike
from similitude.labels import Labels
from similitude.neighbors.searching import LocalPath, SearchingClassifier
from similitude.numerics.topk import check_n_neighbors
from similitude.numerics.votes import TIE_TOLERANCE, largest_shares
from similitude.proximity.check import csr_arrays, dense
from similitude.proximity.split import cut
from similitude.reader import Rows, Training
from similitude.similarities.registry import SimilarityLike

_BLOCK = 2**22
_LOCAL_BLOCK = 2**18


def _share(n: int) -> float:
    """Return a power of two below 1/n; scaled by it, n similarities can be added without overflow or loss of digits."""
    return 0.5 ** n.bit_length()


def class_centroid(S: Any, members: np.ndarray, weights: np.ndarray | None = None) -> int:
    """Return the member of a class with the largest total similarity psi(z, mu) to all members z.

    Totals within 1e-12 times the largest total of absolute values are tied. Of tied members the one with the largest
    total similarity to all samples is taken, then the one whose sorted similarities come last, so that the order of the
    samples does not matter. The rows are read block by block. Weights multiply the similarities to their samples.
    """
    members = members if weights is None else members[weights[members] > 0]
    tied = members[_largest_totals(S, members, members, weights)]
    if len(tied) > 1:
        tied = tied[_largest_totals(S, np.arange(S.shape[0]), tied, weights)]
    if 1 < len(tied) <= _BLOCK // S.shape[0]:
        columns = np.sort(dense(cut(S, np.arange(S.shape[0]), tied)), axis=0)
        tied = tied[np.lexsort((-tied, *columns))[-1:]]
    return int(tied[0])


def _largest_totals(S: Any, rows: np.ndarray, columns: np.ndarray, weights: np.ndarray | None) -> np.ndarray:
    """Return the positions of the columns whose totals over the rows are tied for the largest."""
    totals, magnitudes = np.zeros((2, len(columns)))
    step = max(1, _BLOCK // len(columns))
    for start in range(0, len(rows), step):
        block = cut(S, rows[start : start + step], columns).astype(np.float64) * _share(len(rows))
        if weights is None:
            totals += np.ravel(block.sum(axis=0))
            magnitudes += np.ravel(abs(block).sum(axis=0))
        else:
            own = weights[rows[start : start + step]]
            totals += np.ravel(block.T @ own)
            magnitudes += np.ravel(abs(block).T @ own)
    return np.flatnonzero(totals >= totals.max() - TIE_TOLERANCE * magnitudes.max())


def class_centroids(S: Any, labels: Labels) -> np.ndarray:
    """Return the position of the centroid of each class."""
    return np.array([class_centroid(S, members, labels.sample_weight) for members in labels.members])


@shared_docs
class NearestCentroid(SimilarityClassifier):
    """Classify by the most similar of the classes' centroids.

    The centroid of a class is its training sample with the largest total similarity to the class, itself included, and
    the class with the largest psi(x, mu_h) is predicted::

        mu_h = argmax over mu in class h of  sum over z in class h of psi(z, mu)
        y(x) = argmax over h of  psi(x, mu_h)

    Totals within 1e-12 times the class's largest total of absolute similarities are tied. Of tied samples, the one with
    the largest total similarity to all training samples is the centroid, then the one whose sorted similarities come
    last, so that the order of the samples does not matter. If several centroids are equally similar, the first class is
    predicted. The similarity may be asymmetric: ``S[z, mu]`` is psi(z, mu). Only the columns of the centroids are used
    to predict, and raw objects are compared only with the centroids.

    Parameters
    ----------
    {similarity}

    Attributes
    ----------
    {classes_}
    centroids_ : ndarray of shape (G,)
        The positions of the centroids in the training set, in the order of ``classes_``.
    {support_columns_}
        Rows of similarities to these are enough.

    See Also
    --------
    LocalNearestCentroid : The same among the nearest neighbours of each sample.
    SDA : Models the distribution of the similarities to the centroids.

    References
    ----------
    Weinshall, Jacobs & Gdalyahu, "Classification in non-metric spaces", NIPS 1999.
    Cazzanti & Gupta, "Local similarity discriminant analysis", ICML 2007, eq. 1 and 2.

    Examples
    --------
    >>> from similitude import NearestCentroid
    >>> S = [[3, 2, 0, 1], [2, 3, 1, 0], [0, 1, 3, 2], [1, 0, 2, 4]]
    >>> model = NearestCentroid().fit(S, ["a", "a", "b", "b"])
    >>> model.centroids_
    array([0, 3])
    >>> model.predict([[2, 3, 4, 1]])
    array(['a'], dtype='<U1')
    """

    _responses = ("predict", "decision_function")

    def __init__(self, *, similarity: SimilarityLike = "precomputed", dissimilarity: str | None = None):
        self.similarity = similarity
        self.dissimilarity = dissimilarity

    def fit(self, X: SamplesLike, y: LabelsLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the classifier.

        Parameters
        ----------
        {X_train}
        {y_train}
        sample_weight : array-like of shape (n,), default=None
            The weights of the samples in the total similarities. Samples of weight 0 are no centroids.

        Returns
        -------
        self
            The fitted classifier.
        """
        return self._fit(X, y, sample_weight)

    def _point(self, parameters: dict[str, Any]) -> tuple[()]:
        return ()

    def _fit_path(self, training: Training, labels: Labels, points: list[Any]) -> NearestCentroidPath:
        return NearestCentroidPath(points, class_centroids(training.S, labels))


class NearestCentroidPath(FittedPath):
    """The centroids of the classes."""

    def __init__(self, points: list, centroids: ColumnPositions):
        self.points, self.centroids = points, centroids

    @property
    def columns(self) -> np.ndarray:
        return self.centroids

    def attributes(self) -> dict[str, Any]:
        return {"centroids_": self.centroids}

    def answers(self, rows: Rows, response: str) -> list[np.ndarray]:
        similarities = dense(rows.columns(self.centroids))
        if response == "predict":
            answer = np.argmax(similarities, axis=1)
        else:
            answer = similarities[:, 1] - similarities[:, 0] if len(self.centroids) == 2 else similarities
        return [answer] * len(self.points)


def local_nearest_centroids(
    S: Any, neighbors: tuple[np.ndarray, np.ndarray], labels: np.ndarray, sizes: np.ndarray, class_sizes: np.ndarray
) -> np.ndarray:
    """Return the class of the most similar local centroid, for each row and neighbourhood size."""
    similarities = np.ascontiguousarray(neighbors[0], dtype=np.float64)
    indices = np.ascontiguousarray(neighbors[1], dtype=np.intp)
    m, k = indices.shape
    sizes = np.ascontiguousarray(np.broadcast_to(sizes, (m, np.shape(sizes)[-1])), dtype=np.intp)
    classes = labels[indices].astype(np.intp, copy=False)
    winners = np.empty(sizes.shape, dtype=np.intp)
    settings = class_sizes.astype(np.intp), _share(S.shape[0]), TIE_TOLERANCE
    if sparse.issparse(S):
        decide = partial(nearest_centroids_csr, *csr_arrays(S))
    else:
        decide = partial(nearest_centroids, np.asarray(S, dtype=np.float32 if S.dtype == np.float32 else np.float64))

    def work(start: int, stop: int) -> None:
        lists = (a[start:stop] for a in (indices, similarities, classes, sizes))
        decide(*lists, *settings, winners[start:stop])

    # Few rows are not worth a second thread.
    over_row_blocks(work, m, min(max(1, _LOCAL_BLOCK // k**2), max(64, -(-m // 2))))
    return winners


@shared_docs
class LocalNearestCentroid(SearchingClassifier):
    """Classify by the most similar of the centroids that the classes have among the k nearest neighbours.

    With N_h(x) the neighbours of class h among the k most similar training samples of x, and h running over the
    classes that have any::

        mu_h = argmax over mu in N_h(x) of  sum over z in N_h(x) of psi(z, mu)
        y(x) = argmax over h of  psi(x, mu_h)

    All training samples that tie for the last place are taken if there are at most 2k neighbours then, and otherwise
    none of them; if that leaves no neighbour, or all training samples are equally similar, the class with the largest
    share among the most similar samples is predicted. Totals within 1e-12 times the largest total of absolute
    similarities in the class are tied (they may differ only by rounding). Of tied members the one nearest to x is the
    centroid, then the one with the largest total over all neighbours. Of classes with exactly equally similar centroids
    the one with more neighbours wins, then the one with the most similar neighbour, then the one with more training
    samples. The similarity may be asymmetric: neighbours are ranked by the rows psi(x, .), and
    ``S[z, mu]`` is psi(z, mu).

    The training matrix is kept without a copy, and only its entries among neighbours are read. There is no
    ``decision_function``, because a class without a neighbour has no finite score.

    Parameters
    ----------
    {n_neighbors}
    {search}
    {similarity}

    Attributes
    ----------
    {classes_}
    {n_neighbors_}
    {n_evaluations_}

    See Also
    --------
    NearestCentroid : The same with all training samples.
    LocalSDA : Models the distribution of the similarities to the local centroids.
    LocalNearestMeans : The counterpart on feature vectors.

    References
    ----------
    Cazzanti & Gupta, "Local similarity discriminant analysis", ICML 2007, eq. 1 and 2 within the neighbourhood.

    Examples
    --------
    >>> from similitude import LocalNearestCentroid
    >>> S = [[3, 2, 0, 1], [2, 3, 1, 0], [0, 1, 3, 2], [1, 0, 2, 3]]
    >>> model = LocalNearestCentroid(n_neighbors=3).fit(S, ["a", "a", "b", "b"])
    >>> model.predict([[2, 3, 1, 0], [0, 1, 2, 3]])
    array(['a', 'b'], dtype='<U1')
    """

    _path_parameters = ("n_neighbors",)

    def __init__(
        self,
        n_neighbors: int = 5,
        *,
        search: SearchLike = "matrix",
        similarity: SimilarityLike = "precomputed",
        dissimilarity: str | None = None,
    ):
        self.n_neighbors = n_neighbors
        self.search = search
        self.similarity = similarity
        self.dissimilarity = dissimilarity

    def _point(self, parameters: dict[str, Any]) -> int:
        return check_n_neighbors(parameters["n_neighbors"])

    def _fit_path(self, training: Training, labels: Labels, points: list[int]) -> LocalNearestCentroidPath:
        return LocalNearestCentroidPath([min(k, len(labels)) for k in points], labels, training.finder(lookup=True))


class LocalNearestCentroidPath(LocalPath):
    """The labels of the training samples and the finder of neighbours; a point is a number of neighbours."""

    def __init__(self, points: list[int], labels: Labels, finder: Any):
        self.points, self.labels, self.finder = points, labels, finder

    def attributes(self) -> dict[str, Any]:
        return {"n_neighbors_": self.points[0]}

    def answers_among_known(self, rows: Rows, response: str) -> list[np.ndarray]:
        sizes, places = np.unique(self.points, return_inverse=True)
        labels = self.labels
        found = local_neighbors(self.finder, rows, sizes, labels.codes, labels.n_classes)
        parts = []
        for part in self.finder.blocks(*found.indices.shape):
            S = self.finder.among(rows, found.indices[part])
            lists = found.similarities[part], found.indices[part]
            parts.append(local_nearest_centroids(S, lists, labels.codes, found.sizes[part], labels.counts))
        winners = np.where(found.alone, largest_shares(found.shares, labels.counts)[:, None], np.concatenate(parts))
        return [winners[:, place] for place in places]
