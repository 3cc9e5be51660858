import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from similitude.numerics import distances
from similitude.numerics.distances import squared_distances


def by_differences(X, Z):
    return np.square(X[:, None] - Z[None]).sum(axis=2)


@pytest.mark.parametrize("offset", [0.0, 1e6])
@pytest.mark.parametrize("outlier", [1.0, 1e9])
def test_every_distance_keeps_its_digits(offset, outlier):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 5))
    X[0], X[1], X[2] = outlier, X[3] + 1e-4, X[4]
    X += offset
    for Z in (X, X[:40].copy()):
        found = squared_distances(X, Z)
        assert_allclose(found, by_differences(X, Z), rtol=1e-9)
        assert found[2, 4] == 0


def test_products_are_used(monkeypatch):
    monkeypatch.setattr(distances, "cdist", None)
    X = np.random.default_rng(0).normal(size=(60, 5))
    found = squared_distances(X, X)
    assert_allclose(found, by_differences(X, X), rtol=1e-12)
    assert_array_equal(found, found.T)


@pytest.mark.filterwarnings("ignore:overflow")
def test_features_whose_squares_overflow_are_infinitely_far():
    X = np.array([[1e200, 0.0], [-1e200, 0.0], [0.0, 1.0]])
    assert squared_distances(X, X).tolist() == [[0, np.inf, np.inf], [np.inf, 0, np.inf], [np.inf, np.inf, 0]]
