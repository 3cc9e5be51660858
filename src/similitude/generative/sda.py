"""Similarity discriminant analysis: a distribution of the similarity to each class's centroid, for each class."""

from __future__ import annotations

import numpy as np
from sklearn.utils.validation import check_is_fitted

from similitude.base import check_labels, unchanged_on_failure
from similitude.generative.base import GenerativeClassifier, family_on
from similitude.neighbors.nearest_centroid import class_centroid
from similitude.proximity.check import dense, for_lookup
from similitude.proximity.split import cut


class SDA(GenerativeClassifier):
    """Classify by how the similarities to the classes' centroids are distributed in each class.

    The centroid mu_m of class m is its training sample of largest total similarity to the class. For each class g, the
    similarity to each centroid has the distribution of maximum entropy on Omega whose mean is that over the class::

        P_gm(s) = gamma_gm exp(lambda_gm s),   sum over Omega of s P_gm(s) = mean over z in class g of psi(z, mu_m)

        P(x | g) = product over m of P_gm(psi(x, mu_m)),   P(g) = (n_g + 1) / (n + G)

    and x goes to the class of least expected cost, which without ``costs`` is the one of largest P(x | g) P(g). With
    the mean at an end of Omega the distribution is a point mass there. A similarity that is not in Omega is scored by
    the formula. Where P(x | g) is 0 for every class, the class of the most similar centroid is taken.

    The similarity may be asymmetric: ``S[z, mu]`` is psi(z, mu). Of the rows to predict only the centroids' columns are
    used (``support_columns_``).

    Parameters
    ----------
    omega : array-like, "continuous" or None, default=None
        The possible similarities. None takes the distinct ones of the training matrix (those within 1e-12 of one
        another, relative to the largest, are one); "continuous" the interval they span, with densities in place of
        probabilities.
    priors : array of shape (G,) or dict, default=None
        P(g), in the order of ``classes_`` or by label, in place of the estimate above.
    costs : array of shape (G, G) or dict of dicts, default=None
        ``costs[f, g]`` is the cost of saying f when the truth is g.
    similarity, dissimilarity
        The input contract: see the page on input.

    Attributes
    ----------
    classes_ : ndarray of shape (G,)
    centroids_ : ndarray of shape (G,)
        The positions of the centroids in the training set.
    means_ : ndarray of shape (G, G)
        ``[g, m]``: the mean similarity of class g to the centroid of class m.
    lambdas_ : ndarray of shape (G, G)
        ``[g, m]``: lambda_gm; infinite for a point mass.
    support_columns_ : ndarray of int
        The training columns that prediction needs, ascending.

    References
    ----------
    Cazzanti, Gupta & Koppal, "Generative models for similarity-based classification", Pattern Recognition 41, 2008.
    Chen, Garcia, Gupta, Rahimi & Cazzanti, JMLR 10, 2009, Section 6, eq. 17 to 20.

    Examples
    --------
    >>> from similitude import SDA
    >>> S = [[5, 4, 3, 1, 0, 1], [4, 5, 3, 2, 1, 1], [3, 3, 5, 2, 2, 1],
    ...      [1, 2, 2, 5, 3, 4], [0, 1, 2, 3, 5, 2], [1, 1, 1, 4, 2, 5]]
    >>> model = SDA().fit(S, ["a", "a", "a", "b", "b", "b"])
    >>> model.centroids_, model.means_.round(2).tolist()
    (array([0, 3]), [[4.0, 1.67], [0.67, 4.0]])
    >>> model.predict_proba([[3, 4, 2, 3, 1, 2]]).round(3)
    array([[0.755, 0.245]])
    """

    def __init__(self, omega=None, priors=None, costs=None, *, similarity="precomputed", dissimilarity=None):
        self.omega = omega
        self.priors = priors
        self.costs = costs
        self.similarity = similarity
        self.dissimilarity = dissimilarity

    def fit(self, X, y):
        """Find the centroids and fit the distributions of the similarities to them."""
        with unchanged_on_failure(self):
            S = for_lookup(self._fit_proximities(X, y).S)
            self._set_labels(check_labels(y, S.shape[0]))
            self._set_decision()
            members = [np.flatnonzero(self._labels == g) for g in range(len(self.classes_))]
            self.centroids_ = np.array([class_centroid(S, of_class) for of_class in members])
            self.support_columns_ = self._columns_read(self.centroids_)
            self._family = family_on(self.omega, S)
            to_centroids = dense(cut(S, np.arange(S.shape[0]), self.centroids_))
            ends = self._family.distances(to_centroids)
            below, above = (np.array([a[of_class].mean(axis=0) for of_class in members]) for a in ends)
            self._pmfs = self._family.fit(below, above)
            self.means_ = self._family.similarities(below, above)
            self.lambdas_ = self._family.parameters(self._pmfs)[0]
        return self

    def _statistics(self, X):
        """The similarities of new samples to the centroids, (m, G)."""
        check_is_fitted(self)
        return dense(self._new_columns(X, self.centroids_))

    def _log_likelihoods(self, statistics):
        """log P_gm(psi(x, mu_m)), of shape (m, g, m)."""
        return self._family.log_pmf(self._pmfs, *(a[:, None, :] for a in self._family.distances(statistics)))

    def _joint(self, X):
        statistics = self._statistics(X)
        return self._log_likelihoods(statistics).sum(axis=2) + self._log_priors(), np.argmax(statistics, axis=1)

    def _models_of(self, X):
        statistics, G = self._statistics(X), len(self.classes_)
        return {
            "centroids": self.centroids_,
            "centroid_classes": np.arange(G),
            "similarities": statistics[0],
            "weights": np.ones((G, G)),
            "means": self.means_,
            "log_likelihoods": self._log_likelihoods(statistics)[0],
            "log_priors": self._log_priors(),
            "family": self._family,
            "pmfs": self._pmfs,
        }
