"""Simulated data of any size and with known truth, on which the methods differ."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.metrics.pairwise import euclidean_distances, rbf_kernel
from sklearn.utils import Bunch, check_random_state, column_or_1d

from similitude._utils.checks import check_integer, check_positive
from similitude._utils.ids import labels_in_order
from similitude._utils.types import ListLike, MatrixLike, RandomState
from similitude.numerics.eigen import eigh
from similitude.proximity.check import check_similarity, is_symmetric

NEGLIGIBLE = 0.01
"""Eigenvalues below this share of the largest are not candidates for the direction that is made negative."""


def make_perturbed_centroids(
    n_samples: int = 100,
    n_features: int = 25,
    *,
    flip: Sequence[float] = (1 / 3, 1 / 30),
    centroids: ArrayLike | None = None,
    random_state: RandomState = None,
) -> Bunch:
    """Draw binary rows around random centroids, with one class much noisier than the other.

    Each class has two centroids, uniform on {0, 1}^d. A sample belongs to either class with equal probability, starts
    as either of the class's centroids with equal probability, and flips each bit with the probability of the class. The
    rows are meant for the counting similarity.

    Parameters
    ----------
    n_samples : int, default=100
        The number of samples.
    n_features : int, default=25
        The number of bits d; if ``centroids`` are given, they determine it.
    flip : sequence of floats in [0, 1], default=(1/3, 1/30)
        The probability of flipping a bit, one per class.
    centroids : array of 0 and 1 of shape (n_classes, n_centroids, d), default=None
        The centroids of an earlier draw, for more samples from the same distribution; None means that new ones are
        drawn.
    random_state : int, RandomState or None, default=None
        The random state.

    Returns
    -------
    Bunch
        X : ndarray of int8, shape (n_samples, d)
            The rows.
        y : ndarray of int, shape (n_samples,)
            The classes 0, ..., n_classes - 1.
        centroids : ndarray of int8, shape (n_classes, n_centroids, d)
            The centroids.

    See Also
    --------
    similitude.LocalSDA
        Classify each sample by similarity discriminant analysis among its k most similar training samples.
    make_complementary
        Draw four classes, one half of which is determined by the similarity and the other by the features.

    References
    ----------
    Cazzanti & Gupta, "Local similarity discriminant analysis", ICML 2007, Section 4.1.

    Examples
    --------
    >>> from similitude import KNNClassifier
    >>> from similitude.datasets import make_perturbed_centroids
    >>> train = make_perturbed_centroids(100, random_state=0)
    >>> test = make_perturbed_centroids(1000, centroids=train.centroids, random_state=1)
    >>> knn = KNNClassifier(5, similarity="counting").fit(train.X, train.y)
    >>> bool(knn.score(test.X, test.y) > 0.75)
    True
    """
    check_integer(n_samples, "n_samples", 1)
    check_integer(n_features, "n_features", 1)
    chances = np.asarray(flip, dtype=float)
    if chances.ndim != 1 or len(chances) < 2 or not np.all((chances >= 0) & (chances <= 1)):
        raise ValueError(f"flip must be two or more probabilities in [0, 1], one per class; got {flip!r}.")
    rng = check_random_state(random_state)
    if centroids is None:
        centroids = rng.randint(2, size=(len(chances), 2, n_features))
    centroids = np.asarray(centroids)
    if centroids.ndim != 3 or len(centroids) != len(chances) or 0 in centroids.shape:
        raise ValueError(
            f"centroids must have shape (n_classes, n_centroids, n_features), with one class per entry of flip "
            f"({len(chances)}); got shape {centroids.shape}."
        )
    if not np.isin(centroids, (0, 1)).all():
        raise ValueError("centroids must contain only 0 and 1.")
    centroids = centroids.astype(np.int8)
    y = rng.randint(len(chances), size=n_samples)
    start = centroids[y, rng.randint(centroids.shape[1], size=n_samples)]
    flipped = rng.uniform(size=start.shape) < chances[y, None]
    return Bunch(X=start ^ flipped, y=y, centroids=centroids)


def make_negative_direction(
    S: MatrixLike | None = None,
    y: ListLike | None = None,
    c: float = 0.25,
    *,
    classes: Sequence | None = None,
    n_samples: int = 200,
    n_classes: int = 4,
    n_features: int = 20,
    separation: float = 8.0,
    gamma: float = 0.005,
    random_state: RandomState = None,
) -> Bunch:
    """Make the direction that separates two classes negative, in an otherwise well-behaved similarity.

    In ``S = V diag(lambda) V^T`` the eigenvalue of the eigenvector v that best separates two classes is replaced by
    ``-c`` times itself: ``S - (1 + c) lambda v v^T``. Samples of the two classes are then more similar to the other
    class than to their own, so nearest neighbours fail, while an SVM on the clipped or flipped spectrum is as good
    as before, provided that test rows are treated like the training rows.

    v is the eigenvector with the largest Fisher ratio ``(mean_a - mean_b)^2 / (var_a + var_b)`` of its entries in the
    two classes a and b, among those whose eigenvalue is at least 1% of the largest.

    Parameters
    ----------
    S : array-like of shape (n, n), default=None
        A symmetric similarity. None means a positive definite one, ``exp(-gamma ||x - z||^2)`` of Gaussian blobs.
    y : array-like of shape (n,), default=None
        The classes, which must be given if and only if S is given.
    c : float, default=0.25
        The size of the negative eigenvalue as a share of the original one.
    classes : pair of labels, default=None
        The two classes; None means the two largest (the first ones if several are equally large).
    n_samples, n_classes, n_features : int, default=200, 4, 20
        The size of the blobs; the sizes of the classes differ by at most one.
    separation : float, default=8.0
        The distance between any two centres of blobs; the standard deviation is 1 in every direction.
    gamma : float, default=0.005
        The scale of the blobs' similarity.
    random_state : int, RandomState or None, default=None
        The random state for the blobs.

    Returns
    -------
    Bunch
        S : ndarray of shape (n, n)
            The similarity with the negative direction.
        y : ndarray of shape (n,)
            The classes of the samples.
        base : ndarray of shape (n, n)
            The original similarity.
        classes : list
            The two classes.
        component : int
            The position of the eigenvector among the eigenvalues in ascending order.
        eigenvector : ndarray of shape (n,)
            v.
        eigenvalue_before, eigenvalue_after : float
            The eigenvalue before and after the replacement.
        fisher_ratio : float
            The Fisher ratio of v.

    See Also
    --------
    similitude.SpectrumModifier : Make a similarity matrix positive semidefinite, and transform new rows consistently.
    make_perturbed_centroids : Draw binary rows around random centroids, with one class much noisier than the other.

    Examples
    --------
    >>> from similitude import KNNClassifier, train_test_split
    >>> from similitude.datasets import make_negative_direction
    >>> data = make_negative_direction(random_state=0)
    >>> data.eigenvalue_after == -0.25 * data.eigenvalue_before
    True
    >>> def accuracy(S):
    ...     S_train, S_test, y_train, y_test = train_test_split(S, data.y, random_state=0)
    ...     return KNNClassifier(5).fit(S_train, y_train).score(S_test, y_test)
    >>> bool(accuracy(data.base) == 1), bool(accuracy(data.S) < 0.9)
    (True, True)
    """
    check_positive(c, "c", zero=True)
    if (S is None) != (y is None):
        raise ValueError(f"S and y must be given together; {'S' if S is None else 'y'} is missing.")
    if S is None:
        S, y = _blobs(n_samples, n_classes, n_features, separation, gamma, random_state)
    S, y = _check_base(S, labels_in_order(y, S))
    a, b = _two_classes(y, classes)
    values, vectors = eigh(S)
    candidates = np.flatnonzero(values >= NEGLIGIBLE * values[-1])
    ratios = fisher_ratios(vectors[:, candidates], y == a, y == b)
    component = int(candidates[np.argmax(ratios)])
    before, vector = float(values[component]), vectors[:, component]
    return Bunch(
        S=S - (1 + c) * before * np.outer(vector, vector),
        y=y,
        base=S,
        classes=[a, b],
        component=component,
        eigenvector=vector,
        eigenvalue_before=before,
        eigenvalue_after=-c * before,
        fisher_ratio=float(ratios.max()),
    )


def _blobs(n: int, n_classes: int, n_features: int, separation: float, gamma: float, random_state: Any) -> Any:
    """Return a positive definite similarity of Gaussian blobs, each of whose centres lies on its own axis."""
    check_integer(n_classes, "n_classes", 2)
    check_integer(n, "n_samples", 2 * n_classes, f" (2 per class, n_classes={n_classes})")
    check_integer(n_features, "n_features", n_classes, " (n_classes: each centre has its own axis)")
    for name, value in (("separation", separation), ("gamma", gamma)):
        check_positive(value, name)
    rng = check_random_state(random_state)
    y = rng.permutation(np.arange(n) % n_classes)
    centres = separation / np.sqrt(2) * np.eye(n_classes, n_features)
    return rbf_kernel(centres[y] + rng.normal(size=(n, n_features)), gamma=gamma), y


def _check_base(S: Any, y: Any) -> tuple[np.ndarray, np.ndarray]:
    S = check_similarity(S)
    S = np.asarray(S.toarray() if sparse.issparse(S) else S, dtype=np.float64)
    if not is_symmetric(S):
        raise ValueError("S must be symmetric; got an asymmetric matrix. similitude.symmetrize makes it symmetric.")
    y = column_or_1d(y)
    if len(y) != len(S):
        raise ValueError(f"y must have one label per sample; got {len(y)} labels for {len(S)} samples.")
    if np.linalg.norm(S) == 0 or eigh(S)[0][-1] <= 0:
        raise ValueError("S must have a positive eigenvalue; it has none.")
    return (S + S.T) / 2, y


def _two_classes(y: np.ndarray, classes: Sequence | None) -> Any:
    labels, counts = np.unique(y, return_counts=True)
    if classes is None:
        if len(labels) < 2:
            raise ValueError(f"y must have two classes or more; got {labels.tolist()}.")
        return labels[np.sort(np.argsort(-counts, kind="stable")[:2])].tolist()
    chosen = list(classes)
    if len(chosen) != 2 or chosen[0] == chosen[1] or not all(label in labels for label in chosen):
        raise ValueError(f"classes must be two different labels of {labels.tolist()}; got {classes!r}.")
    return chosen


def fisher_ratios(vectors: np.ndarray, in_a: np.ndarray, in_b: np.ndarray) -> np.ndarray:
    """Return the Fisher ratio of two groups on each column: squared difference of means over sum of variances."""
    A, B = vectors[in_a], vectors[in_b]
    # A column that is constant in both groups has no variance; the square of the rounding error replaces it.
    spread = np.maximum(A.var(axis=0) + B.var(axis=0), np.finfo(float).eps ** 2)
    return (A.mean(axis=0) - B.mean(axis=0)) ** 2 / spread


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
        check_positive(value, name, zero=True)
    rng = check_random_state(random_state)
    y = rng.permutation(np.arange(n_samples) % 4)
    a, b = y // 2, y % 2
    upper = np.triu(noise * rng.normal(size=(n_samples, n_samples)), 1)
    S = (a[:, None] == a).astype(float) + upper + upper.T
    centre = separation / np.sqrt(n_features)
    features = (b[:, None] - 0.5) * centre + rng.normal(size=(n_samples, n_features))
    return Bunch(S=S, features=features, y=y, similarity_bit=a, feature_bit=b)


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
    check_positive(elongation, "elongation")
    check_positive(separation, "separation", zero=True)
    rng = check_random_state(random_state)
    y = rng.permutation(np.arange(n_samples) % 2)
    X = rng.normal(size=(n_samples, n_features))
    X[:, :-1] *= elongation
    X[:, -1] += separation * (y - 0.5)
    return Bunch(S=-euclidean_distances(X), X=X, y=y)
