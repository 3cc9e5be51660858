"""What the registry claims of each measure, checked on objects of its kind."""

import itertools
import pickle

import numpy as np
import pytest

from similitude import KNNClassifier, PathSearchCV
from similitude.datasets import load_promoters
from similitude.similarities import names, pairwise
from similitude.similarities.registry import resolve

RNG = np.random.default_rng(0)
WORDS = ["tree", "trees", "free", "three", "house", "mouse", "horse", "houses", "abab", "baba", "a", "tre"]
OBJECTS = {
    "categorical rows": [tuple(RNG.choice(list("abc"), 5)) for _ in range(12)],
    "sets or binary vectors": [set(RNG.choice(9, 4).tolist()) for _ in range(12)],
    "categorical rows, sets or binary vectors": RNG.random((12, 9)) < 0.4,
    "strings": WORDS,
    "biological sequences": ["".join(RNG.choice(list("acgt"), 20)) for _ in range(12)],
    "feature vectors": RNG.normal(size=(12, 3)),
    "distributions (rows of non-negative numbers)": RNG.dirichlet(np.ones(4), 12),
    "colours (L, a, b)": RNG.uniform([0, -60, -60], [100, 60, 60], (12, 3)),
    "rows of similarities, or any that another similarity takes": RNG.normal(size=(12, 3)),
    "images": RNG.random((12, 6, 6)),
    "histograms or (weighted) point sets": RNG.dirichlet(np.ones(4), 12),
    "point sets": [RNG.random((k, 2)) for k in (3, 4, 5, 3, 4, 5, 3, 4, 5, 3, 4, 5)],
    "time series": [RNG.normal(size=k) for k in (8, 9, 10, 8, 9, 10, 8, 9, 10, 8, 9, 10)],
    "molecules or fingerprints": RNG.random((12, 30)) < 0.4,
    "documents": [" ".join(RNG.choice(WORDS, 6)) for _ in range(12)],
}
Y = np.arange(12) % 2
SHIPPED = [name for name in names() if resolve(name).objects in OBJECTS and resolve(name).library]


def _values(name):
    measure = resolve(name)
    objects = OBJECTS[measure.objects]
    return measure, objects, pairwise(objects, objects, measure.learned(objects, Y))


def test_every_measure_is_checked_here():
    # Examples in docstrings may have registered "same-length" and the like, on strings too: that is no harm.
    assert len(SHIPPED) >= 33
    assert {resolve(name).objects for name in SHIPPED} == set(OBJECTS)


@pytest.mark.parametrize("name", SHIPPED)
def test_symmetry_is_as_claimed(name):
    measure, _, values = _values(name)
    symmetric = np.allclose(values, values.T, rtol=1e-10, atol=1e-12)
    # The compression distance depends on the order of its two strings only now and then.
    assert symmetric == measure.symmetric or (name == "compression" and not measure.symmetric)


@pytest.mark.parametrize("name", [name for name in SHIPPED if resolve(name).metric])
def test_metrics_obey_the_triangle_inequality(name):
    _, _, d = _values(name)
    assert np.allclose(np.diagonal(d), 0, atol=1e-12)
    assert all(d[i, k] <= d[i, j] + d[j, k] + 1e-9 for i, j, k in itertools.product(range(12), repeat=3))


@pytest.mark.parametrize("name", SHIPPED)
def test_ranges_are_kept(name):
    measure, _, values = _values(name)
    low, high = {
        "0 to 1": (0, 1),
        "0 or more": (0, np.inf),
        "from 0": (0, np.inf),
        "-1 to 1": (-1, 1),
        "integers from 0": (0, np.inf),
    }.get(measure.range, (-np.inf, np.inf))
    assert values.min() >= low - 1e-12
    assert values.max() <= high + 1e-12
    if "integers" in measure.range:
        assert np.array_equal(values, np.round(values))


@pytest.mark.parametrize("name", SHIPPED)
def test_an_estimator_takes_the_name_and_an_instance(name):
    measure, objects, _ = _values(name)
    by_name = KNNClassifier(3, similarity=name).fit(objects, Y)
    by_function = KNNClassifier(3, similarity=measure.function).fit(objects, Y)
    expected = by_name.predict_proba(objects)
    assert np.array_equal(expected, by_function.predict_proba(objects))
    assert np.array_equal(expected, pickle.loads(pickle.dumps(by_name)).predict_proba(objects))


def test_promoters_by_alignment():
    promoters = load_promoters()
    search = PathSearchCV(KNNClassifier(similarity="smith-waterman"), {"n_neighbors": [1, 3, 5, 9]}, cv=5)
    search.fit(promoters.data, promoters.target)
    assert search.best_score_ > 0.75
    new = KNNClassifier(similarity="smith-waterman", n_neighbors=3).fit(promoters.data[::2], promoters.target[::2])
    assert new.score(promoters.data[1::2], promoters.target[1::2]) > 0.6
