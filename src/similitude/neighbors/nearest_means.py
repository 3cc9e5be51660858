"""Local nearest means, a neighbourhood classifier on feature vectors."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.spatial.distance import cdist

from similitude._native import mean_distances
from similitude._utils.threads import over_row_blocks
from similitude.base import FeatureClassifier, FeatureVectors, FittedPath
from similitude.labels import Labels
from similitude.numerics.near_one import exponent_of, near_one
from similitude.numerics.topk import check_n_neighbors, nearest_of_class
from similitude.numerics.votes import TIE_TOLERANCE

_BLOCK = 2**22


class LocalNearestMeans(FeatureClassifier):
    """Classify feature vectors by the nearest of the means of each class's k nearest samples.

    With N_h(x) the k training samples of class h nearest to x in Euclidean distance::

        y(x) = argmin over h of  || x - (1/k) sum over z in N_h(x) of z ||

    The neighbours are taken from each class, so that every class has a mean; :class:`LocalNearestCentroid`, its
    counterpart for similarities, takes the k nearest of all classes together. X is an ordinary matrix of features,
    not of similarities; features on different scales should be standardised first.

    All samples of a class that tie for its last place are averaged if there are at most 2k then, and otherwise none of
    them; if that leaves none, all that tie for the first place are averaged. Distances to means that differ by less
    than 1e-12 times the distance of the farthest averaged sample are tied, because they may differ only by rounding;
    the first of the tied classes is predicted.

    Parameters
    ----------
    n_neighbors : int, default=5
        The number of neighbours k; a class with fewer samples uses all of them.

    Attributes
    ----------
    classes_ : ndarray of shape (G,)
        The classes.
    n_neighbors_ : ndarray of shape (G,)
        min(n_neighbors, samples of the class), in the order of ``classes_``.
    n_features_in_ : int
        The number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        The names of the features, if X has names that are strings.

    See Also
    --------
    LocalNearestCentroid : The counterpart on similarities.
    LocalBDA : Fits a Gaussian model to the neighbours.

    References
    ----------
    Mitani & Hamamoto, "A local mean-based nonparametric classifier", Pattern Recognition Letters 27, 2006.

    Examples
    --------
    >>> from similitude import LocalNearestMeans
    >>> X = [[0.0, 0.0], [0.0, 2.0], [3.0, 0.0], [3.0, 9.0]]
    >>> model = LocalNearestMeans(n_neighbors=2).fit(X, ["a", "a", "b", "b"])
    >>> model.predict([[1.6, 1.0], [1.6, 4.0]])
    array(['a', 'b'], dtype='<U1')
    """

    _path_parameters = ("n_neighbors",)
    _dtypes = (np.float64, np.float32)

    def __init__(self, n_neighbors: int = 5):
        self.n_neighbors = n_neighbors

    def _point(self, parameters: dict[str, Any]) -> int:
        return check_n_neighbors(parameters["n_neighbors"])

    def _fit_path(self, training: FeatureVectors, labels: Labels, points: list[int]) -> LocalMeansPath:
        return LocalMeansPath([min(k, len(labels)) for k in points], labels, training.X)


class LocalMeansPath(FittedPath):
    """The training samples of each class; a point is a number of neighbours."""

    def __init__(self, points: list[int], labels: Labels, X: np.ndarray):
        self.points, self.exponent = points, exponent_of(X)
        samples = near_one(X, self.exponent).astype(X.dtype, copy=False)
        self.samples = [samples[members] for members in labels.members]

    def attributes(self) -> dict[str, Any]:
        return {"n_neighbors_": self._class_sizes(self.points)[:, 0]}

    def _class_sizes(self, ks: Any) -> np.ndarray:
        """Return how many samples of each class are averaged for each k, of shape (G, len(ks))."""
        return np.array([[min(k, len(samples)) for k in ks] for samples in self.samples])

    def answers(self, X: np.ndarray, response: str) -> list[np.ndarray]:
        ks, places = np.unique(self.points, return_inverse=True)
        sizes = self._class_sizes(ks)
        rows = near_one(X, self.exponent)
        winners = np.empty((len(rows), len(ks)), dtype=np.intp)

        def work(start: int, stop: int) -> None:
            distances, radii = self._local_means(rows[start:stop], sizes)
            error = TIE_TOLERANCE * radii
            tied = distances - error <= np.min(distances + error, axis=0)
            winners[start:stop] = np.argmax(tied, axis=0)

        # With at most 256 rows the neighbour selection starts no threads of its own.
        over_row_blocks(work, len(rows), min(256, max(1, _BLOCK // max(map(len, self.samples)))))
        return [winners[:, place] for place in places]

    def _local_means(self, rows: np.ndarray, sizes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the distances to the local means, and to the farthest averaged sample, both of shape (G, m, ks)."""
        distances, radii = np.empty((2, len(sizes), len(rows), sizes.shape[1]))
        for h, samples in enumerate(self.samples):
            negative_squares, nearest, taken = nearest_of_class(-cdist(rows, samples, "sqeuclidean"), sizes[h])
            mean_distances(samples, nearest, rows, taken, distances[h])
            radii[h] = np.sqrt(-np.take_along_axis(negative_squares, taken - 1, axis=1))
        return distances, radii
