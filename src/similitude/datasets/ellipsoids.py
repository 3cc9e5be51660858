"""Simulated long thin classes side by side, which similarities used as features do not separate."""

from __future__ import annotations

import numpy as np
from sklearn.metrics.pairwise import euclidean_distances
from sklearn.utils import Bunch, check_random_state

from similitude._utils.checks import check_integer
from similitude._utils.types import RandomState
from similitude.datasets._arguments import check_amount


def make_ellipsoids(
    n_samples: int = 200,
    n_features: int = 5,
    *,
    elongation: float = 300.0,
    separation: float = 8.0,
    random_state: RandomState = None,
) -> Bunch:
    """Draw two highly ellipsoidal Gaussian classes side by side, with the negative distance as similarity.

    Both classes have standard deviation 1 along the last axis, where their means are ``separation`` apart, and
    ``elongation`` along every other axis, where their means agree. A hyperplane between them makes nearly no error. But
    the distance of two samples, ``sqrt(l^2 + t^2)`` with l along the long axes and t along the thin one, is about ``l +
    t^2 / (2 l)``, so the class affects only a share of ``t^2 / (2 l^2)`` of it. The variance within a class exceeds the
    difference between the classes, and a linear classifier on similarities to samples fails, although these determine
    all positions: the pseudo-Euclidean embedding reconstructs them, and a linear classifier on it separates the
    classes.

    Parameters
    ----------
    n_samples : int, default=200
        The number of samples; the sizes of the classes differ by at most one.
    n_features : int, default=5
        The number of axes, of which all but one are long.
    elongation : float, default=300.0
        The standard deviation along the long axes.
    separation : float, default=8.0
        The distance between the classes' means.
    random_state : int, RandomState or None, default=None
        The random state.

    Returns
    -------
    Bunch
        S : ndarray of shape (n_samples, n_samples)
            The negative Euclidean distances of the samples.
        X : ndarray of shape (n_samples, n_features)
            The samples.
        y : ndarray of int, shape (n_samples,)
            The classes 0 and 1.

    See Also
    --------
    similitude.SimilarityFeatures
        Represent a sample by its similarities to prototypes chosen among the training samples.
    similitude.PseudoEuclideanEmbedding : Embed samples in a pseudo-Euclidean space, and new samples by projection.

    References
    ----------
    Chen, Garcia, Gupta, Rahimi & Cazzanti, JMLR 10, 2009, end of Section 3.

    Examples
    --------
    >>> from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
    >>> from sklearn.pipeline import make_pipeline
    >>> from similitude import PseudoEuclideanEmbedding, SimilarityFeatures, train_test_split
    >>> from similitude.datasets import make_ellipsoids
    >>> data = make_ellipsoids(random_state=0)
    >>> D_train, D_test, y_train, y_test = train_test_split(-data.S, data.y, random_state=0)
    >>> fisher = LinearDiscriminantAnalysis(solver="lsqr", shrinkage="auto")
    >>> features = make_pipeline(SimilarityFeatures(dissimilarity="negate"), fisher)
    >>> embedded = make_pipeline(PseudoEuclideanEmbedding(5, dissimilarity="double-centring"), fisher)
    >>> bool(features.fit(D_train, y_train).score(D_test, y_test) < 0.7)
    True
    >>> embedded.fit(D_train, y_train).score(D_test, y_test)
    1.0
    """
    check_integer(n_samples, "n_samples", 2, " (1 per class)")
    check_integer(n_features, "n_features", 2, " (a thin axis and a long one)")
    check_amount("elongation", elongation, zero=False)
    check_amount("separation", separation)
    rng = check_random_state(random_state)
    y = rng.permutation(np.arange(n_samples) % 2)
    X = rng.normal(size=(n_samples, n_features))
    X[:, :-1] *= elongation
    X[:, -1] += separation * (y - 0.5)
    return Bunch(S=-euclidean_distances(X), X=X, y=y)
