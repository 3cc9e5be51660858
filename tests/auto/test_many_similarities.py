"""With many similarities, methods that use all of them are averaged, and those on single ones must be better."""

import numpy as np
import pytest

from similitude import AutoClassifier, MixedSimilarity
from similitude.auto.combination import fewer_errors
from similitude.auto.methods import mixtures
from similitude.similarities import batch

METHODS = ["k-NN", "nearest centroid", "proximity forest", "kernel ridge (equal mixture)"]


def _distances(n, strengths, seed=0):
    """Distances by name, of which some depend on the classes."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    found = {}
    for i, strength in enumerate(strengths):
        X = rng.normal(size=(n, 4)) + strength * y[:, None]
        found[f"d{i}"] = np.linalg.norm(X[:, None] - X, axis=2)
    return found, y


def _members(distances, y, methods=METHODS):
    model = AutoClassifier(methods, dissimilarity="gauss", diagnose=False, n_repeats=1).fit(distances, y)
    return model.best_estimator_.members_


def test_few_samples_are_not_enough_to_choose_a_single_similarity():
    members = _members(*_distances(24, [0.5] * 6))
    assert {member.name for member in members} == set(METHODS[2:])
    # The weights are near equal ones: at least half of 100 / (100 + 24).
    assert min(member.weight for member in members) > 0.4


def test_a_single_similarity_that_is_clearly_better_takes_part():
    distances, y = _distances(120, [0.0] * 12)
    twins = np.arange(120) // 2 % 20 + 20 * y  # 40 groups of three, each of one class
    distances["d0"] = np.where(twins[:, None] == twins, 0.0, distances["d1"] + 3.0)
    members = _members(distances, y, ["k-NN", "kernel ridge (equal mixture)"])
    assert any(member.similarity == "d0" for member in members)


def test_fewer_errors():
    reference = np.arange(40) < 20
    better, worse = np.arange(40) < 2, np.arange(40) < 25
    p = fewer_errors([better, worse, reference], reference)
    assert p[0] == pytest.approx(3 * 2 * 0.5**18)  # 18 of 18, two-sided, by Holm's correction for three
    assert p[1] == p[2] == 1.0


def test_a_map_of_a_mixture_is_that_of_all_its_dissimilarities():
    distances, y = _distances(30, [1.0, 0.3])
    distances["similar"] = -distances["d0"]
    maps = {"d0": "gauss", "d1": "gauss"}
    _, grid = mixtures(dissimilarity=maps)["kernel ridge (equal mixture)"]
    assert grid["mixedsimilarity__dissimilarity"] == [maps, "gauss:0.35", "gauss:1.4"]
    assert "mixedsimilarity__dissimilarity" not in mixtures()["kernel ridge (equal mixture)"][1]
    model = AutoClassifier(["kernel ridge (equal mixture)"], dissimilarity=maps, n_repeats=1).fit(distances, y)
    member = model.best_estimator_.members_[0].estimator
    chosen = member[0].dissimilarity
    whole = maps if isinstance(chosen, dict) else dict.fromkeys(maps, chosen)
    expected = MixedSimilarity(dissimilarity=whole).fit(distances, y)
    assert member[0].spreads_ == pytest.approx(expected.spreads_)


def test_predict_computes_only_the_similarities_of_the_members():
    calls = []

    def measure(scale):
        def compare(A, B):
            calls.append(scale)
            return -scale * np.abs(np.subtract.outer(np.asarray(A, float), np.asarray(B, float)))

        return batch(compare)

    X, y = np.arange(30.0), np.arange(30) // 15
    model = AutoClassifier(["k-NN"], similarity={"one": measure(1.0), "two": measure(2.0)}, n_repeats=1).fit(X, y)
    used = {member.similarity for member in model.best_estimator_.members_}
    calls.clear()
    model.predict([3.0, 28.0])
    assert len(set(calls)) == len(used)
