"""Nearest centroid from similarities, over all training samples or within each neighbourhood."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from similitude._utils.threads import over_row_blocks
from similitude.base import FittedPath, SimilarityClassifier
from similitude.labels import Labels
from similitude.neighbors.searching import SearchingClassifier
from similitude.numerics.topk import check_n_neighbors
from similitude.numerics.votes import TIE_TOLERANCE
from similitude.proximity.check import dense
from similitude.proximity.split import cut

_BLOCK = 2**22
_LOCAL_BLOCK = 2**18


def _share(n: int) -> float:
    """A power of two below 1/n: so scaled, n similarities add up without overflow and without a digit changed."""
    return 0.5 ** n.bit_length()


def class_centroid(S: Any, members: np.ndarray) -> int:
    """Return the member of largest total similarity psi(z, mu) to all of them, z running over rows; ties to the first.

    Totals within 1e-12 times the largest total of absolute values are tied. Rows are read block by block.
    """
    totals, magnitudes = np.zeros((2, len(members)))
    rows = max(1, _BLOCK // len(members))
    for start in range(0, len(members), rows):
        block = cut(S, members[start : start + rows], members).astype(np.float64) * _share(len(members))
        totals += np.ravel(block.sum(axis=0))
        magnitudes += np.ravel(abs(block).sum(axis=0))
    return int(members[np.argmax(totals >= totals.max() - TIE_TOLERANCE * magnitudes.max())])


def class_centroids(S: Any, labels: Labels) -> np.ndarray:
    """Return the position of the centroid of each class."""
    return np.array([class_centroid(S, members) for members in labels.members])


class NearestCentroid(SimilarityClassifier):
    """Classify by the most similar of the classes' centroids.

    The centroid of a class is its training sample of largest total similarity to the class, itself included::

        mu_h = argmax over mu in class h of  sum over z in class h of psi(z, mu)

    and x goes to the class of largest psi(x, mu_h). Totals within 1e-12 times the class's largest total of absolute
    similarities are tied, and the first in the training set is the centroid. Exactly equal similarities to centroids
    go to the first class. The similarity may be asymmetric: ``S[z, mu]`` is psi(z, mu). Of the rows to predict only
    the centroids' columns are used, and raw objects are compared with the centroids alone.

    Parameters
    ----------
    similarity, dissimilarity
        The input contract: see the page on input.

    Attributes
    ----------
    classes_ : ndarray of shape (G,)
    centroids_ : ndarray of shape (G,)
        The positions of the centroids in the training set, in the order of ``classes_``.
    support_columns_ : ndarray of int
        The positions of the training samples that prediction needs: rows of similarities to these are enough.

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

    def __init__(self, *, similarity="precomputed", dissimilarity=None):
        self.similarity = similarity
        self.dissimilarity = dissimilarity

    def _point(self, parameters):
        return ()

    def _fit_path(self, training, labels, points):
        return NearestCentroidPath(points, class_centroids(training.S, labels))


class NearestCentroidPath(FittedPath):
    """The centroids of the classes."""

    def __init__(self, points: list, centroids: np.ndarray):
        self.points, self.centroids = points, centroids

    @property
    def columns(self):
        return self.centroids

    def attributes(self):
        return {"centroids_": self.centroids}

    def answers(self, rows, response):
        similarities = dense(rows.columns(self.centroids))
        if response == "predict":
            answer = np.argmax(similarities, axis=1)
        else:
            answer = similarities[:, 1] - similarities[:, 0] if len(self.centroids) == 2 else similarities
        return [answer] * len(self.points)


def local_nearest_centroids(
    S: Any, neighbors: tuple[np.ndarray, np.ndarray], labels: np.ndarray, sizes: np.ndarray
) -> np.ndarray:
    """Return the class of the most similar local centroid, for each row and neighbourhood size: (m, len(sizes)).

    Parameters
    ----------
    S : ndarray or CSR matrix of shape (n, n)
        The training similarities, read in place; a CSR matrix in canonical format.
    neighbors : (similarities, indices), both of shape (m, k)
        As :func:`~similitude.numerics.topk.top_k` gives them.
    labels : ndarray of int of shape (n,)
        The classes 0, ..., G - 1 of the training samples.
    sizes : ndarray of int
        Ascending, each at most k.
    """
    from similitude.neighbors.local_centroids import gather, gather_csr, nearest_centroids

    similarities, indices = neighbors
    m, k = indices.shape
    sizes = np.asarray(sizes, dtype=np.intp)
    classes = labels[indices]
    winners = np.empty((m, len(sizes)), dtype=np.intp)
    n_classes, share = int(labels.max()) + 1, _share(S.shape[0])

    def work(start: int, stop: int) -> None:
        rows = slice(start, stop)
        A = np.empty((stop - start, k, k))
        if sparse.issparse(S):
            gather_csr(S.data, S.indices, S.indptr, indices[rows], classes[rows], n_classes, share, A)
        else:
            gather(S, indices[rows], classes[rows], n_classes, share, A)
        nearest_centroids(A, similarities[rows], classes[rows], sizes, n_classes, TIE_TOLERANCE, winners[rows])

    # Small jobs are not worth a thread.
    over_row_blocks(work, m, min(max(1, _LOCAL_BLOCK // k**2), max(64, -(-m // 2))))
    return winners


class LocalNearestCentroid(SearchingClassifier):
    """Classify by the most similar of the centroids that the classes have among the k nearest neighbours.

    With N_h(x) the neighbours of class h among the k most similar training samples of x, and h running over the
    classes that have any::

        mu_h = argmax over mu in N_h(x) of  sum over z in N_h(x) of psi(z, mu)
        y(x) = argmax over h of  psi(x, mu_h)

    Equally similar training samples are taken in their order in the training set. Totals within 1e-12 times the
    largest total of absolute similarities in the class are tied (they may differ by rounding only), and the nearest to
    x is the centroid. Of classes with exactly equally similar centroids the one with more neighbours wins, then the
    one of the nearest neighbour. The similarity may be asymmetric: rows psi(x, .) are ranked as they are, and
    ``S[z, mu]`` is psi(z, mu).

    The training matrix is kept without a copy, and only its entries among neighbours are read. There is no
    ``decision_function``: a class without a neighbour has no finite score.

    Parameters
    ----------
    n_neighbors : int, default=5
        k; more than there are samples means all of them.
    search : {"matrix", "stream", "graph"}, StreamSearch, GraphSearch or ClusterSearch, default="matrix"
        How neighbours of raw objects are found: from whole rows of similarities, from blocks that are not kept (the
        same answers), or by a neighbour graph (approximate, far fewer similarities). See the page on neighbour search.
    similarity, dissimilarity
        The input contract: see the page on input.

    Attributes
    ----------
    classes_ : ndarray of shape (G,)
    n_neighbors_ : int
        min(n_neighbors, n).
    n_evaluations_, n_evaluations_per_query_ : int, float
        Where ``search`` is not "matrix": similarities computed by ``fit``, and for a sample by the last query.

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

    def __init__(self, n_neighbors=5, *, search="matrix", similarity="precomputed", dissimilarity=None):
        self.n_neighbors = n_neighbors
        self.search = search
        self.similarity = similarity
        self.dissimilarity = dissimilarity

    def _point(self, parameters):
        check_n_neighbors(parameters["n_neighbors"])
        return int(parameters["n_neighbors"])

    def _fit_path(self, training, labels, points):
        return LocalNearestCentroidPath([min(k, len(labels)) for k in points], labels, training.finder(lookup=True))


class LocalNearestCentroidPath(FittedPath):
    """The labels of the training samples, and what finds neighbours among them; a point is a number of neighbours."""

    def __init__(self, points: list[int], labels: Labels, finder: Any):
        self.points, self.labels, self.finder = points, labels, finder

    def attributes(self):
        return {"n_neighbors_": self.points[0]}

    def answers(self, rows, response):
        sizes, places = np.unique(self.points, return_inverse=True)
        similarities, indices = self.finder.nearest(rows, sizes[-1])
        parts = []
        for part in self.finder.blocks(*indices.shape):
            S = self.finder.among(rows, indices[part])
            parts.append(local_nearest_centroids(S, (similarities[part], indices[part]), self.labels.codes, sizes))
        winners = np.concatenate(parts)
        return [winners[:, place] for place in places]
