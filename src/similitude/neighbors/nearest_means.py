"""Local nearest means: the one neighbourhood classifier here that takes feature vectors."""

from __future__ import annotations

import numpy as np
from scipy.spatial.distance import cdist
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from similitude._utils.threads import over_row_blocks
from similitude.base import check_labels, unchanged_on_failure
from similitude.numerics.near_one import exponent_of, near_one
from similitude.numerics.topk import check_n_neighbors, top_k
from similitude.numerics.votes import TIE_TOLERANCE

_BLOCK = 2**22


class LocalNearestMeans(ClassifierMixin, BaseEstimator):
    """Classify feature vectors by the nearest of the means of each class's k nearest samples.

    With N_h(x) the k training samples of class h nearest to x in Euclidean distance::

        y(x) = argmin over h of  || x - (1/k) sum over z in N_h(x) of z ||

    The neighbours are taken from each class, so that every class has a mean; :class:`LocalNearestCentroid`, its
    counterpart for similarities, takes the k nearest of all classes together. X is an ordinary matrix of features,
    not of similarities; features on different scales want standardising first.

    Equally near samples of a class are taken in their order in the training set. Distances to means are compared up to
    1e-12 times the distance of the farthest sample averaged (they may differ by rounding only), and the first of the
    tied classes wins.

    Parameters
    ----------
    n_neighbors : int, default=5
        k; a class with fewer samples uses all it has.

    Attributes
    ----------
    classes_ : ndarray of shape (G,)
    n_neighbors_ : ndarray of shape (G,)
        min(n_neighbors, samples of the class), in the order of ``classes_``.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Where X has names that are strings.

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

    def __init__(self, n_neighbors=5):
        self.n_neighbors = n_neighbors

    def fit(self, X, y):
        """Keep the training samples of each class."""
        check_n_neighbors(self.n_neighbors)
        with unchanged_on_failure(self):
            self._keep_samples(X, y)
            self.n_neighbors_ = self._class_sizes(self.n_neighbors)
        return self

    def _keep_samples(self, X, y):
        X = validate_data(self, X, dtype=[np.float64, np.float32])
        y = check_labels(y, len(X))
        self.classes_, labels = np.unique(y, return_inverse=True)
        self._exponent = exponent_of(X)
        samples = near_one(X, self._exponent).astype(X.dtype, copy=False)
        self._samples = [samples[labels == h] for h in range(len(self.classes_))]

    def _class_sizes(self, k):
        return np.array([min(int(k), len(samples)) for samples in self._samples])

    def predict(self, X):
        """The class of the nearest local mean for each row."""
        check_is_fitted(self)
        return self._answers(X, self.n_neighbors_[:, None])[:, 0]

    def _answers(self, X, sizes):
        """Predictions for several neighbourhoods, (m, g), from one neighbour sort per class; ``sizes`` is (G, g)."""
        X = validate_data(self, X, dtype=[np.float64, np.float32], reset=False)
        rows = near_one(X, self._exponent)
        winners = np.empty((len(rows), sizes.shape[1]), dtype=np.intp)

        def work(start: int, stop: int) -> None:
            distances, radii = self._local_means(rows[start:stop], sizes)
            error = TIE_TOLERANCE * radii
            tied = distances - error <= np.min(distances + error, axis=0)
            winners[start:stop] = np.argmax(tied, axis=0)

        # At most 256 rows: the neighbour selection inside starts no threads of its own.
        over_row_blocks(work, len(rows), min(256, max(1, _BLOCK // max(map(len, self._samples)))))
        return self.classes_[winners]

    def _local_means(self, rows, sizes):
        """Distances to the local means, and to the farthest sample averaged, both of shape (G, m, g)."""
        from similitude.neighbors._centroid_kernel import mean_distances

        distances, radii = np.empty((2, len(sizes), len(rows), sizes.shape[1]))
        for h, samples in enumerate(self._samples):
            negative_squares, nearest = top_k(-cdist(rows, samples, "sqeuclidean"), sizes[h, -1])
            mean_distances(samples, nearest, rows, sizes[h], distances[h])
            radii[h] = np.sqrt(-negative_squares[:, sizes[h] - 1])
        return distances, radii

    def _predict_path(self, X_train, y_train, X_test, grid, response="predict"):
        """One prediction per grid point from one neighbour sort per class."""
        points = [parameters.get("n_neighbors", self.n_neighbors) for parameters in grid]
        for k in points:
            check_n_neighbors(k)
        self._keep_samples(X_train, y_train)
        ks, places = np.unique([min(k, len(y_train)) for k in points], return_inverse=True)
        answers = self._answers(X_test, np.array([self._class_sizes(k) for k in ks]).T)
        return [answers[:, place] for place in places]
