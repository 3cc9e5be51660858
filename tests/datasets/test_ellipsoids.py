"""Long thin classes: similarities as features fail though the classes separate."""

import warnings

import numpy as np
import pytest
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import euclidean_distances
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC, LinearSVC

from similitude import PseudoEuclideanEmbedding, SimilaritySVC, train_test_split
from similitude.datasets.simulated import make_ellipsoids
from similitude.features.recipes import recipe
from similitude.transform.similarity_features import SimilarityFeatures


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("seed", range(2))
def test_features_fail_though_the_classes_separate(seed):
    data = make_ellipsoids(400, random_state=seed)
    D_train, D_test, y_train, y_test = train_test_split(-data.S, data.y, test_size=0.5, random_state=seed)

    def error(model):
        return 1 - model.fit(D_train, y_train).score(D_test, y_test)

    # At every C of Chen et al. (2009), Table 2: 200 samples of a fair coin are off by 0.15 once in ten thousand times.
    for C in (1e-3, 1.0, 1e3, 1e5):
        features = SimilarityFeatures(normalize="range", dissimilarity="negate")
        assert error(make_pipeline(features, SVC(C=C, kernel="linear", max_iter=100_000))) > 0.35
    assert error(recipe("RFD", dissimilarity="negate")[0]) > 0.35
    embedded = PseudoEuclideanEmbedding(5, dissimilarity="double-centring")
    assert error(make_pipeline(embedded, LinearDiscriminantAnalysis())) == 0
    assert error(SimilaritySVC(0.01, dissimilarity="double-centring")) == 0


def test_without_elongation_features_do():
    data = make_ellipsoids(400, elongation=1.0, random_state=0)
    S_train, S_test, y_train, y_test = train_test_split(data.S, data.y, test_size=0.5, random_state=0)
    assert recipe("RFD")[0].fit(S_train, y_train).score(S_test, y_test) == 1
    assert make_pipeline(SimilarityFeatures(), SVC(kernel="linear")).fit(S_train, y_train).score(S_test, y_test) == 1


def test_what_is_drawn():
    data = make_ellipsoids(2001, 4, elongation=50.0, separation=6.0, random_state=0)
    assert data.X.shape == (2001, 4)
    assert sorted(np.bincount(data.y)) == [1000, 1001]
    np.testing.assert_allclose(data.S[:50, :50], -euclidean_distances(data.X[:50]), rtol=1e-9, atol=1e-6)
    for label in (0, 1):
        rows = data.X[data.y == label]
        np.testing.assert_allclose(rows.std(axis=0), [50, 50, 50, 1], rtol=0.07)
        np.testing.assert_allclose(rows[:, -1].mean(), 6 * (label - 0.5), atol=0.15)
        np.testing.assert_allclose(rows[:, :3].mean(axis=0), 0, atol=6)
    with warnings.catch_warnings():
        warnings.simplefilter("error", ConvergenceWarning)
        assert LinearSVC().fit(data.X / data.X.std(axis=0), data.y).score(data.X / data.X.std(axis=0), data.y) > 0.99


def test_same_seed_same_data():
    first, again, other = (make_ellipsoids(20, random_state=seed) for seed in (3, 3, 4))
    np.testing.assert_array_equal(first.S, again.S)
    np.testing.assert_array_equal(first.y, again.y)
    assert not np.array_equal(first.S, other.S)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"n_samples": 1}, "n_samples must be an integer of at least 2"),
        ({"n_features": 1}, "n_features must be an integer of at least 2"),
        ({"elongation": 0.0}, "elongation must be a finite number above 0"),
        ({"separation": -1}, "separation must be a finite number"),
    ],
)
def test_bad_arguments(arguments, message):
    with pytest.raises(ValueError, match=message):
        make_ellipsoids(**arguments)
