"""Samples: X is read once, the whole and folds are taken in the same way, and readers are never changed."""

from dataclasses import FrozenInstanceError

import numpy as np
import pytest

from similitude import KNNClassifier, LocalSVC, Proximities, SpectrumModifier
from similitude.reader import Contract, Samples

NUMBERS = np.random.default_rng(3).normal(size=24).round(2).tolist()
Y = np.arange(24) % 2
TRAIN, TEST = np.arange(0, 24, 2), np.arange(1, 24, 2)


def uphill(a, b):
    return -abs(a - b) - 0.5 * max(a - b, 0)


S = np.array([[uphill(a, b) for b in NUMBERS] for a in NUMBERS])


@pytest.mark.parametrize("map_name", [None, "max-minus", "double-centring"])
@pytest.mark.parametrize("kind", ["matrix", "objects"])
def test_a_fold_is_what_its_samples_are_alone(kind, map_name):
    sign = 1 if map_name is None else -1

    def far(a, b):
        return sign * uphill(a, b)

    contract = Contract(far if kind == "objects" else "precomputed", map_name)
    samples = Samples(contract, NUMBERS if kind == "objects" else sign * S, Y, warns=False)
    training, rows = (found.only for found in samples.fold(TRAIN, TEST))
    part = [NUMBERS[i] for i in TRAIN] if kind == "objects" else sign * S[np.ix_(TRAIN, TRAIN)]
    new = [NUMBERS[i] for i in TEST] if kind == "objects" else sign * S[np.ix_(TEST, TRAIN)]
    alone = Samples(contract, part, Y[TRAIN], warns=False).whole().only
    assert np.allclose(training.S, alone.S)
    assert np.allclose(rows.S, alone.reader.rows(new).S)
    assert np.allclose(samples.part(TRAIN).whole().only.S, alone.S)


def test_methods_do_not_change_the_reader_that_they_share():
    training, rows = Samples(Contract(uphill), NUMBERS, Y).fold(TRAIN, TEST)
    reader = training.only.reader
    before = dict(vars(reader))
    models = [KNNClassifier(3, "kri"), LocalSVC(4), KNNClassifier(3)]
    fitted = [model.fit(training, Y[TRAIN]) for model in models]
    modifier = SpectrumModifier("clip").fit(training)
    assert vars(reader) == before
    assert [model._reader.both_directions for model in (*fitted, modifier)] == [True, True, False, True]
    # Each method treats the shared rows as if it had read them itself.
    new = [NUMBERS[i] for i in TEST]
    for model in fitted:
        assert np.array_equal(model.predict(rows), model.predict(new))
    assert np.allclose(modifier.transform(rows), modifier.transform(new))
    with pytest.raises(FrozenInstanceError):
        reader.map = None


def test_the_map_of_a_finder_belongs_to_the_reader_that_is_kept():
    samples = Samples(Contract("euclidean", search="stream", dissimilarity="max-minus"), np.array(NUMBERS)[:, None])
    training = samples.whole().only
    indexed = training.indexed(False)
    assert training.reader.map is None
    assert indexed.reader.map.constants["scale"] == pytest.approx(np.ptp(NUMBERS))
    assert indexed.finder() is indexed.finder()


def test_one_similarity_is_one_of_several_by_name():
    for X in (S, {"up": S}, Proximities(S)):
        samples = Samples(Contract(takes_several=True), X, Y, warns=False)
        assert list(samples.parts) == (["up"] if isinstance(X, dict) else ["S"])
        assert samples.named is isinstance(X, dict)
        assert np.array_equal(samples.whole().only.S, S)
    several = Samples(Contract(takes_several=True), {"up": S, "down": S.T}, Y, warns=False)
    assert np.array_equal(several.of("down").whole().only.S, S.T)
    with pytest.raises(ValueError, match="X holds the similarities 'up', 'down', and one is needed here"):
        _ = several.whole().only
