"""Similarities and features that tell different halves of the class."""

import numpy as np
import pytest
from sklearn.naive_bayes import GaussianNB

from similitude import KNNClassifier
from similitude.datasets import make_complementary


@pytest.mark.parametrize("seed", range(3))
def test_each_alone_is_half_right_and_both_are_right(seed):
    data = make_complementary(400, random_state=seed)
    train, test = np.arange(200), np.arange(200, 400)
    knn = KNNClassifier(25).fit(data.S[np.ix_(train, train)], data.y[train])
    bayes = GaussianNB().fit(data.features[train], data.y[train])
    by_similarity = knn.predict_proba(data.S[np.ix_(test, train)])
    by_features = bayes.predict_proba(data.features[test])

    def accuracy(posterior):
        return (posterior.argmax(axis=1) == data.y[test]).mean()

    assert 0.4 < accuracy(by_similarity) < 0.6
    assert 0.4 < accuracy(by_features) < 0.6
    assert accuracy(by_similarity * by_features) > 0.97


def test_similarity_knows_only_its_bit():
    data = make_complementary(400, noise=0, random_state=0)
    np.testing.assert_array_equal(data.S, data.similarity_bit[:, None] == data.similarity_bit)
    gap = data.features[data.feature_bit == 1].mean(axis=0) - data.features[data.feature_bit == 0].mean(axis=0)
    np.testing.assert_allclose(np.linalg.norm(gap), 6, atol=0.5)
    gap = data.features[data.similarity_bit == 1].mean(axis=0) - data.features[data.similarity_bit == 0].mean(axis=0)
    assert np.linalg.norm(gap) < 1


def test_shape_and_balance():
    data = make_complementary(41, n_features=5, random_state=0)
    assert data.features.shape == (41, 5)
    np.testing.assert_array_equal(data.S, data.S.T)
    np.testing.assert_array_equal(np.diag(data.S), 1)
    assert np.linalg.eigvalsh(data.S)[0] < 0
    assert sorted(np.bincount(data.y)) == [10, 10, 10, 11]


def test_same_seed_same_data():
    first, again, other = (make_complementary(20, random_state=seed) for seed in (3, 3, 4))
    np.testing.assert_array_equal(first.S, again.S)
    np.testing.assert_array_equal(first.features, again.features)
    assert not np.array_equal(first.S, other.S)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"n_samples": 3}, "n_samples must be an integer of at least 4"),
        ({"n_features": 0}, "n_features must be an integer of at least 1"),
        ({"noise": -1}, "noise must be a finite number"),
        ({"separation": np.inf}, "separation must be a finite number"),
    ],
)
def test_bad_arguments(arguments, message):
    with pytest.raises(ValueError, match=message):
        make_complementary(**arguments)
