"""What all transformers have in common: frozen parameters, failed fits, asymmetric functions, shared reading."""

import warnings

import numpy as np
import pytest
from sklearn.base import clone

from similitude import (
    DissimilarityToSimilarity,
    IndefiniteNystroem,
    PseudoEuclideanEmbedding,
    Rescale,
    SimilarityFeatures,
    SimilarityWarning,
    SpectrumModifier,
)
from similitude.reader import Contract, Samples

WORDS = ["tree", "trees", "free", "house", "mouse", "horse", "green", "greed", "hoarse", "spouse"]
NEW = ["three", "hose", "grease"]


def leaning(a, b):
    return len(set(a) & set(b)) - 0.3 * len(set(a) - set(b)) + (a == b)


def both_ways(a, b):
    return (leaning(a, b) + leaning(b, a)) / 2


def _matrix(n=12, seed=0):
    rng = np.random.default_rng(seed)
    S = rng.exponential(size=(n, n))
    return (S + S.T) / 2, rng.exponential(size=(4, n))


CHANGES = [
    (SpectrumModifier(), {"method": "square", "test_rows": "untreated", "tol": 0.5}),
    (SpectrumModifier("flip", test_rows="augmented"), {"method": "clip", "test_rows": "consistent", "tol": 0.5}),
    (PseudoEuclideanEmbedding(3), {"n_components": 5}),
    (IndefiniteNystroem(4, random_state=0), {"n_components": 2, "spectrum": "flip", "dissimilarity": "negate"}),
    (SimilarityFeatures(4, random_state=0), {"normalize": "exp", "n_prototypes": 2, "dissimilarity": "negate"}),
    (SimilarityFeatures(normalize="exp"), {"normalize": None, "scale": 7.0, "similarity": "columns"}),
    (DissimilarityToSimilarity("negate"), {"how": "max-minus", "scale": 3.0}),
]


@pytest.mark.parametrize(("transformer", "changed"), CHANGES, ids=lambda value: type(value).__name__)
def test_parameters_set_after_fit_wait_for_the_next_fit(transformer, changed):
    S, rows = _matrix()
    fitted = clone(transformer).fit(S)
    expected = fitted.transform(rows)
    assert np.array_equal(fitted.set_params(**changed).transform(rows), expected)
    again = clone(transformer).set_params(**changed).fit(S)
    assert not np.array_equal(again.transform(rows), expected)


@pytest.mark.parametrize("transformer", [case[0] for case in CHANGES] + [Rescale()], ids=lambda t: type(t).__name__)
@pytest.mark.parametrize("method", ["fit", "fit_transform"])
def test_a_fit_that_fails_changes_nothing(transformer, method):
    S, rows = _matrix()
    fitted = clone(transformer).fit(S)
    before, expected = dict(vars(fitted)), fitted.transform(rows)
    with pytest.raises(ValueError, match="NaN"):
        getattr(fitted, method)(np.where(np.eye(5), np.nan, 1.0))
    assert vars(fitted).keys() == before.keys()
    assert np.array_equal(fitted.transform(rows), expected)


def test_a_transform_of_the_training_samples_that_fails_changes_nothing():
    S, rows = _matrix()
    fitted = SpectrumModifier("square").fit(S)
    expected = fitted.transform(rows)
    with pytest.raises(ValueError, match="overflows"):
        fitted.fit_transform(np.full((3, 3), 1e200))
    assert np.array_equal(fitted.transform(rows), expected)


@pytest.mark.parametrize(
    "transformer",
    [
        SpectrumModifier("clip"),
        SpectrumModifier("flip"),
        SpectrumModifier("shift"),
        SpectrumModifier("clip", test_rows="augmented"),
        PseudoEuclideanEmbedding(),
        IndefiniteNystroem(4, "flip", random_state=0),
    ],
    ids=str,
)
def test_an_asymmetric_function_is_taken_in_both_directions(transformer):
    asymmetric, symmetric = (clone(transformer).set_params(similarity=f) for f in (leaning, both_ways))
    with pytest.warns(SimilarityWarning, match="The rows of new samples are treated in the same way") as caught:
        trained = asymmetric.fit_transform(WORDS)
    assert len(caught) == 1
    assert caught[0].filename == __file__
    assert np.allclose(trained, symmetric.fit_transform(WORDS), atol=1e-9)
    assert np.allclose(asymmetric.transform(NEW), symmetric.transform(NEW), atol=1e-9)


@pytest.mark.parametrize("transformer", [SpectrumModifier("square"), SimilarityFeatures()], ids=str)
def test_an_asymmetric_function_is_taken_as_it_is_where_nothing_need_be_symmetric(transformer):
    with warnings.catch_warnings():
        warnings.simplefilter("error", SimilarityWarning)
        raw = clone(transformer).set_params(similarity=leaning).fit(WORDS)
    S, rows = (np.array([[leaning(a, b) for b in WORDS] for a in words]) for words in (WORDS, NEW))
    assert np.allclose(raw.transform(NEW), clone(transformer).fit(S).transform(rows))


@pytest.mark.parametrize("kind", ["matrix", "objects"])
@pytest.mark.parametrize(
    "transformer",
    [
        SimilarityFeatures(4, "kmedoids", "exp"),
        SimilarityFeatures(4, random_state=0),
        IndefiniteNystroem(4, "flip", random_state=0),
        IndefiniteNystroem(4, "flip", "leverage", random_state=0),
        SpectrumModifier("flip"),
    ],
    ids=str,
)
@pytest.mark.parametrize("map_name", ["max-minus", "double-centring"])
def test_samples_that_were_read_for_several_methods(transformer, kind, map_name):
    """A fold is read once, with the map of all methods; each method takes from it what it would read itself."""
    X = np.random.default_rng(0).normal(size=(20, 2))
    D = np.sqrt(((X[:, None] - X) ** 2).sum(axis=2))
    train, test, y = np.arange(0, 20, 2), np.arange(1, 20, 2), np.arange(20) % 2
    contract = {"dissimilarity": map_name, "similarity": "euclidean" if kind == "objects" else "precomputed"}
    samples = Samples(Contract(**contract), X if kind == "objects" else D, y)
    training, rows = samples.fold(train, test)
    shared, alone = (clone(transformer).set_params(**contract) for _ in range(2))
    parts = (X[train], X[test]) if kind == "objects" else (D[np.ix_(train, train)], D[np.ix_(test, train)])
    assert np.allclose(shared.fit_transform(training, y[train]), alone.fit_transform(parts[0], y[train]), atol=1e-9)
    assert np.allclose(shared.transform(rows), alone.transform(parts[1]), atol=1e-9)
    assert np.allclose(shared.transform(parts[1]), alone.transform(parts[1]), atol=1e-9)
