"""Local Bayesian discriminant analysis: Bayesian QDA on the nearest samples of each class."""

from __future__ import annotations

import numpy as np
from scipy.special import gammaln
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from similitude._utils.threads import over_row_blocks
from similitude.base import check_labels, costs_matrix, priors_vector, unchanged_on_failure
from similitude.generative.base import log_of, normalised
from similitude.numerics.near_one import exponent_of, near_one
from similitude.numerics.topk import check_n_neighbors, top_k
from similitude.numerics.votes import expected_costs, first_of_best, neighbor_votes

_BLOCK = 2**18
_LARGEST = 1e140


class LocalBDA(ClassifierMixin, BaseEstimator):
    """Classify feature vectors by Bayesian quadratic discriminant analysis on each class's k nearest samples.

    With N_g(x) the k training samples of class g nearest to x in Euclidean distance, z their mean and S their
    scatter matrix, the Gaussian of the class is integrated out under an inverted Wishart prior with q = d + 3 and
    B = 0.95 q diag(S / k) + 0.05 I; x is then distributed as Student's t::

        p(x | g) = t(x; k + 4 degrees of freedom, location z, scale matrix (k + 1) / (k (k + 4)) (S + B))
        P(g) = (n_g + 1) / (k + G),  n_g of the k nearest training samples of all being of class g

    and x goes to the class of least expected cost, which without ``costs`` is the one of largest p(x | g) P(g).

    X is an ordinary matrix of features, not of similarities (though rows of similarities can serve as features). The
    0.05 in B depends on the features' scale: standardise raw features first. Features larger than 1e140 are refused.

    Equally near training samples are taken in their order in the training set, and tied classes by their nearest
    sample. Where k < d all is computed from k x k matrices. ``PathSearchCV`` takes a whole grid of ``n_neighbors`` at
    once: one neighbour sort per class, and one pass over the nested neighbourhoods.

    Parameters
    ----------
    n_neighbors : int, default=10
        k; a class with fewer samples uses all it has.
    priors : array of shape (G,) or dict, default=None
        P(g), in the order of ``classes_`` or by label, in place of the estimate above.
    costs : array of shape (G, G) or dict of dicts, default=None
        ``costs[f, g]`` is the cost of saying f when the truth is g.

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
    Cazzanti, Gupta & Srivastava, "Fusing similarities and Euclidean features with generative classifiers", FUSION 2009,
    eq. 1 (whose sums run over the k nearest samples, and which lacks the constant (2 pi)^(-d/2)). Srivastava, Gupta &
    Frigyik, "Bayesian quadratic discriminant analysis", JMLR 8, 2007.

    Examples
    --------
    >>> from similitude import LocalBDA
    >>> X = [[0, 0], [1, 0], [0, 2], [4, 4], [5, 4], [4, 6]]
    >>> model = LocalBDA(n_neighbors=3).fit(X, ["a", "a", "a", "b", "b", "b"])
    >>> model.log_likelihoods([[1, 1]]).round(4)
    array([[ -2.3341, -11.0022]])
    >>> model.predict_proba([[1, 1], [2.5, 3]]).round(3)
    array([[1.   , 0.   ],
           [0.149, 0.851]])
    """

    _path_parameters = ("n_neighbors",)

    def __init__(self, n_neighbors=10, priors=None, costs=None):
        self.n_neighbors = n_neighbors
        self.priors = priors
        self.costs = costs

    def fit(self, X, y):
        """Keep the training samples of each class."""
        check_n_neighbors(self.n_neighbors)
        with unchanged_on_failure(self):
            self._keep_samples(X, y)
            # set_params after fit changes what the next fit does, not what this one has done.
            self._sizes = np.array([min(int(self.n_neighbors), len(self._labels))])
            self.n_neighbors_ = self._class_sizes(self._sizes)[:, 0]
        return self

    def _keep_samples(self, X, y):
        X = _checked(validate_data(self, X, dtype=np.float64, order="C"))
        y = check_labels(y, len(X))
        self.classes_, self._labels = np.unique(y, return_inverse=True)
        self._priors = priors_vector(self.priors, self.classes_)
        self._costs = costs_matrix(self.costs, self.classes_)
        self._members = [np.flatnonzero(self._labels == g) for g in range(len(self.classes_))]
        self._samples = [X[members] for members in self._members]
        self._exponent = exponent_of(X)
        self._columns = [np.ascontiguousarray(near_one(samples, self._exponent).T) for samples in self._samples]

    def _class_sizes(self, sizes):
        """How many samples each class has to offer for each k, (G, sizes)."""
        return np.minimum(sizes, np.array([len(members) for members in self._members])[:, None])

    def predict(self, X):
        """The class of least expected cost for each row."""
        return self._answer(X, "predict")

    def predict_proba(self, X):
        """The posterior of each class, in the order of ``classes_``."""
        return self._answer(X, "predict_proba")

    def predict_log_proba(self, X):
        """The logarithm of the posterior of each class, in the order of ``classes_``."""
        return self._answer(X, "predict_log_proba")

    def predict_joint_log_proba(self, X):
        """log of p(x | g) P(g) for each class g, in the order of ``classes_``."""
        return self._answer(X, "predict_joint_log_proba")

    def log_likelihoods(self, X):
        """log p(x | g) for each class g, in the order of ``classes_``."""
        return self._answer(X, "log_likelihoods")

    def _answer(self, X, response):
        check_is_fitted(self)
        return self._answers(X, self._sizes, response)[0]

    def _predict_path(self, X_train, y_train, X_test, grid, response="predict"):
        """One answer per grid point from one neighbour sort per class."""
        points = [parameters.get("n_neighbors", self.n_neighbors) for parameters in grid]
        for k in points:
            check_n_neighbors(k)
        self._keep_samples(X_train, y_train)
        sizes, places = np.unique([min(int(k), len(y_train)) for k in points], return_inverse=True)
        answers = self._answers(X_test, sizes, response)
        return [answers[place] for place in places]

    def _answers(self, X, sizes, response):
        """What is asked for, one array for each of the ascending k."""
        X = _checked(validate_data(self, X, dtype=np.float64, order="C", reset=False))
        scaled = near_one(X, self._exponent)
        parts = {}

        def work(start: int, stop: int) -> None:
            logs, labels = self._models(X[start:stop], scaled[start:stop], sizes)
            parts[start] = self._say(logs, labels, sizes, response)

        # At most 256 rows: the neighbour selection inside starts no threads of its own.
        over_row_blocks(work, len(X), min(256, max(1, _BLOCK // max(map(len, self._members)))))
        answers = np.concatenate([parts[start] for start in sorted(parts)])
        return list(np.moveaxis(answers, 1, 0))

    def _models(self, rows, scaled, sizes):
        """Of a few rows: log p(x | g), (m, sizes, G), and the classes of the nearest samples of all, nearest first."""
        from similitude.generative._local_bda import log_densities, merge, negative_squares

        own_sizes = self._class_sizes(sizes)
        G, most = len(own_sizes), own_sizes[:, -1]
        closeness = np.empty((G, len(rows), most.max()))
        places = np.empty(closeness.shape, dtype=np.intp)
        logs = np.empty((G, len(rows), len(sizes)))
        for g, (samples, columns) in enumerate(zip(self._samples, self._columns)):
            squares = np.empty((len(rows), len(samples)))
            negative_squares(scaled, columns, squares)
            closeness[g, :, : most[g]], nearest = top_k(squares, most[g])
            places[g, :, : most[g]] = self._members[g][nearest]
            log_densities(samples, nearest, rows, own_sizes[g], _constants(own_sizes[g], rows.shape[1]), logs[g])
        labels = np.empty((len(rows), sizes[-1]), dtype=np.intp)
        merge(closeness, places, most, labels)
        return np.moveaxis(logs, 0, 2), labels

    def _say(self, logs, labels, sizes, response):
        if response == "log_likelihoods":
            return logs
        if self._priors is None:
            counts = neighbor_votes(labels, np.ones(labels.shape), sizes, len(self.classes_))
            joint = logs + np.log((counts + 1) / (sizes[:, None] + len(self.classes_)))
        else:
            joint = logs + log_of(self._priors)
        if response == "predict_joint_log_proba":
            return joint
        # Some class has a prior above 0, and every density is above 0: nothing falls back.
        posterior = normalised(joint)
        if response == "predict_log_proba":
            return posterior
        scores = np.exp(posterior)
        if response == "predict_proba":
            return scores
        if self._costs is not None:
            scores = -expected_costs(scores, self._costs)
        return self.classes_[first_of_best(scores, labels, sizes)]


def _constants(k: np.ndarray, d: int) -> np.ndarray:
    """What of the log-density of Student's t depends on k and d alone."""
    return gammaln((k + 4 + d) / 2) - gammaln((k + 4) / 2) - d / 2 * np.log(np.pi * (k + 1) / k)


def _checked(X: np.ndarray) -> np.ndarray:
    largest = np.max(np.abs(X))
    if largest > _LARGEST:
        raise ValueError(
            f"X has features as large as {largest:.3g}; the squares of those above {_LARGEST:g} overflow: rescale."
        )
    # Kernels would be compiled once more for arrays that must not be written to.
    return np.require(X, requirements="W")
