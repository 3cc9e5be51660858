"""Simulated data for fusion, in which similarities and features each determine one half of the class."""

from __future__ import annotations

import numpy as np
from sklearn.utils import Bunch, check_random_state

from similitude._utils.checks import check_integer
from similitude._utils.types import RandomState
from similitude.datasets._arguments import check_amount


def make_complementary(
    n_samples: int = 200,
    *,
    n_features: int = 2,
    noise: float = 0.2,
    separation: float = 6.0,
    random_state: RandomState = None,
) -> Bunch:
    """Draw four classes, one half of which is determined by the similarity and the other by the features.

    A class consists of two bits, ``y = 2 a + b``. The similarity of two samples is 1 if they share the bit a and 0
    otherwise, plus symmetric Gaussian noise. The features are Gaussian around one of two centres, chosen by the bit b.
    Either alone can be right at most half of the time; together they determine the class.

    Parameters
    ----------
    n_samples : int, default=200
        The number of samples; the sizes of the classes differ by at most one.
    n_features : int, default=2
        The number of features.
    noise : float, default=0.2
        The standard deviation of the noise in S off the diagonal, which makes S indefinite.
    separation : float, default=6.0
        The distance between the two centres; the standard deviation is 1 in every direction.
    random_state : int, RandomState or None, default=None
        The random state.

    Returns
    -------
    Bunch
        S : ndarray of shape (n_samples, n_samples)
            Symmetric, with ones on the diagonal.
        features : ndarray of shape (n_samples, n_features)
            The feature vectors.
        y : ndarray of int, shape (n_samples,)
            The classes 0, 1, 2, 3.
        similarity_bit, feature_bit : ndarrays of int, shape (n_samples,)
            a and b.

    See Also
    --------
    similitude.FusedClassifier
        Classify by the product of several classifiers' posteriors, as if their inputs were independent.
    make_perturbed_centroids : Draw binary rows around random centroids, with one class much noisier than the other.

    References
    ----------
    Cazzanti, Gupta & Srivastava, "Fusing similarities and Euclidean features with generative classifiers", FUSION
    2009: the case for which their Equation (6) is meant, features and similarities independent given the class.

    Examples
    --------
    >>> from similitude.datasets import make_complementary
    >>> data = make_complementary(random_state=0)
    >>> data.S.shape, data.features.shape
    ((200, 200), (200, 2))
    >>> bool((data.y == 2 * data.similarity_bit + data.feature_bit).all())
    True
    """
    check_integer(n_samples, "n_samples", 4, " (1 per class)")
    check_integer(n_features, "n_features", 1)
    for name, value in (("noise", noise), ("separation", separation)):
        check_amount(name, value)
    rng = check_random_state(random_state)
    y = rng.permutation(np.arange(n_samples) % 4)
    a, b = y // 2, y % 2
    upper = np.triu(noise * rng.normal(size=(n_samples, n_samples)), 1)
    S = (a[:, None] == a).astype(float) + upper + upper.T
    centre = separation / np.sqrt(n_features)
    features = (b[:, None] - 0.5) * centre + rng.normal(size=(n_samples, n_features))
    return Bunch(S=S, features=features, y=y, similarity_bit=a, feature_bit=b)
