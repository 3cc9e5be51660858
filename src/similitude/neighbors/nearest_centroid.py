"""Nearest centroid from similarities, over all training samples or within each neighbourhood."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from similitude._utils.threads import over_row_blocks
from similitude.base import SimilarityClassifier, check_labels, unchanged_on_failure
from similitude.neighbors._search import NeighborSearch
from similitude.numerics.topk import check_n_neighbors, top_k
from similitude.numerics.votes import TIE_TOLERANCE
from similitude.proximity.check import dense, for_lookup
from similitude.proximity.split import cut

_BLOCK = 2**22
_LOCAL_BLOCK = 2**18


def _share(n: int) -> float:
    """A power of two below 1/n: so scaled, n similarities add up without overflow and without a digit changed."""
    return 0.5 ** n.bit_length()


def class_centroid(S: Any, members: np.ndarray) -> int:
    """The member of largest total similarity psi(z, mu) to all of them, z running over rows; ties to the first.

    Totals within 1e-12 times the largest total of absolute values are tied. Rows are read block by block.
    """
    totals, magnitudes = np.zeros((2, len(members)))
    rows = max(1, _BLOCK // len(members))
    for start in range(0, len(members), rows):
        block = cut(S, members[start : start + rows], members).astype(np.float64) * _share(len(members))
        totals += np.ravel(block.sum(axis=0))
        magnitudes += np.ravel(abs(block).sum(axis=0))
    return int(members[np.argmax(totals >= totals.max() - TIE_TOLERANCE * magnitudes.max())])


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

    def __init__(self, *, similarity="precomputed", dissimilarity=None):
        self.similarity = similarity
        self.dissimilarity = dissimilarity

    def fit(self, X, y):
        """Find the centroid of each class."""
        with unchanged_on_failure(self):
            S = self._fit_proximities(X, y).S
            self._set_labels(check_labels(y, S.shape[0]))
            members = [np.flatnonzero(self._labels == h) for h in range(len(self.classes_))]
            self.centroids_ = np.array([class_centroid(S, of_class) for of_class in members])
            self.support_columns_ = self._columns_read(self.centroids_)
        return self

    def predict(self, X):
        """The class of the most similar centroid for each row."""
        nearest = np.argmax(self._to_centroids(X), axis=1)
        return self.classes_[nearest]

    def decision_function(self, X):
        """The similarities to the centroids, of shape (m, G), in the order of ``classes_``.

        For two classes, as everywhere in scikit-learn, an array of shape (m,): the similarity to the second class's
        centroid less that to the first's.
        """
        similarities = self._to_centroids(X)
        return similarities[:, 1] - similarities[:, 0] if len(self.classes_) == 2 else similarities

    def _to_centroids(self, X):
        check_is_fitted(self)
        return dense(self._new_columns(X, self.centroids_))


def local_nearest_centroids(
    S: Any, neighbors: tuple[np.ndarray, np.ndarray], labels: np.ndarray, sizes: np.ndarray
) -> np.ndarray:
    """The class of the most similar local centroid, for each row and neighbourhood size: (m, len(sizes)).

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
    from similitude.neighbors._centroid_kernel import gather, gather_csr, nearest_centroids

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


class LocalNearestCentroid(NeighborSearch, SimilarityClassifier):
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

    def fit(self, X, y):
        """Keep the training similarities and labels."""
        check_n_neighbors(self.n_neighbors)
        searcher = self._searcher()
        with unchanged_on_failure(self):
            if searcher is None:
                self._S = for_lookup(self._fit_matrix(X, y))
                n = self._S.shape[0]
            else:
                n, self._S = self._fit_search(searcher, X, y), None
            self._set_labels(check_labels(y, n))
            self.n_neighbors_ = min(int(self.n_neighbors), n)
        return self

    def predict(self, X):
        """The class of the most similar local centroid for each row."""
        check_is_fitted(self)
        return self._answers(self._S, self._nearest(X, self.n_neighbors_), [self.n_neighbors_])[0]

    def _answers(self, S, neighbors, grid):
        """Predictions for several k from one neighbour sort."""
        sizes, places = np.unique(grid, return_inverse=True)
        parts = []
        for rows in self._lookup_blocks(S, *neighbors[1].shape):
            found = neighbors[0][rows], neighbors[1][rows]
            parts.append(local_nearest_centroids(self._lookup(S, found[1]), found, self._labels, sizes))
        winners = np.concatenate(parts)
        return [self.classes_[winners[:, place]] for place in places]

    def _predict_path(self, S_train, y_train, S_test, grid, response="predict"):
        """One prediction per grid point from one neighbour sort."""
        n = len(y_train)
        if S_test.shape[1] != n:
            raise ValueError(f"S_test must have a column for each of {n} labels; got {S_test.shape[1]}.")
        points = [parameters.get("n_neighbors", self.n_neighbors) for parameters in grid]
        for k in points:
            check_n_neighbors(k)
        self._set_labels(y_train)
        S_train, S_test = self._path_similarities(S_train, S_test)
        sizes = [min(int(k), n) for k in points]
        return self._answers(for_lookup(S_train), top_k(S_test, max(sizes)), sizes)
