"""Edit distances, common subsequences, Jaro-Winkler, compression."""

import itertools
import pickle
import sys

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.model_selection import cross_val_score

from similitude import KNNClassifier
from similitude._utils.extras import require
from similitude.similarities import pairwise
from similitude.similarities.registry import resolve
from similitude.similarities.strings import LCS, Compression, DamerauLevenshtein, Indel, JaroWinkler, Levenshtein
from tests.reference import strings as reference

WORDS = ["", "a", "aa", "ab", "ba", "kitten", "sitting", "naïve", "日本語", "日本", "🙂🙃", "kitten"]
CLASSES = {
    "levenshtein": (Levenshtein, reference.levenshtein),
    "damerau": (DamerauLevenshtein, reference.damerau),
    "indel": (Indel, reference.indel),
    "lcs": (LCS, reference.lcs),
    "jaro-winkler": (JaroWinkler, reference.jaro_winkler),
    "compression": (Compression, reference.compression),
}
METRICS = ["levenshtein", "damerau", "indel"]
NAMES = list(CLASSES)

words = st.lists(st.text(alphabet="abcé🙂", max_size=8), min_size=1, max_size=6)
short = st.lists(st.text(alphabet="abc", max_size=4), min_size=1, max_size=3)


def table(function, A, B):
    return np.array([[function(x, z) for z in B] for x in A], dtype=float)


@pytest.mark.parametrize("name", ["levenshtein", "indel", "lcs", "compression"])
@given(A=words, B=words)
def test_each_follows_its_definition(name, A, B):
    measure, definition = CLASSES[name]
    assert np.array_equal(measure()(A, B), table(definition, A, B))
    assert np.array_equal(pairwise(A, similarity=name), table(definition, A, A))


@given(short, short)
@settings(max_examples=25)
def test_damerau_is_the_shortest_way(A, B):
    assert np.array_equal(DamerauLevenshtein()(A, B), table(reference.damerau, A, B))


@given(words, words, st.sampled_from([0.0, 0.1, 0.25]))
def test_jaro_winkler_follows_its_definition(A, B, weight):
    expected = table(lambda x, z: reference.jaro_winkler(x, z, weight), A, B)
    assert np.allclose(JaroWinkler(prefix_weight=weight)(A, B), expected, atol=1e-12)


@given(words, words)
def test_normalized_by_the_longest_possible(A, B):
    longest = table(lambda x, z: max(len(x), len(z)) or 1, A, B)
    both = table(lambda x, z: len(x) + len(z) or 1, A, B)
    assert np.allclose(Levenshtein(normalized=True)(A, B), Levenshtein()(A, B) / longest)
    assert np.allclose(DamerauLevenshtein(normalized=True)(A, B), DamerauLevenshtein()(A, B) / longest)
    assert np.allclose(Indel(normalized=True)(A, B), Indel()(A, B) / both)
    empty = table(lambda x, z: x == z == "", A, B)
    assert np.allclose(LCS(normalized=True)(A, B), LCS()(A, B) / longest + empty)


def test_known_values():
    assert Levenshtein()(["kitten"], ["sitting"]).item() == 3
    assert DamerauLevenshtein()(["ca"], ["abc"]).item() == 2
    assert JaroWinkler()(["dixon"], ["dicksonx"]).item() == pytest.approx(0.8133333)
    assert Levenshtein()([""], ["", "abc"]).tolist() == [[0.0, 3.0]]


def test_nothing_saturates():
    long = "ab" * 40_000
    assert Levenshtein()(["x"], [long]).item() == 80_000
    assert LCS()([long], [long]).item() == 80_000


@pytest.mark.parametrize("name", NAMES)
def test_what_the_registry_says_is_true(name):
    measure = resolve(name)
    values = measure.function(WORDS, list(WORDS))
    assert values.dtype == np.float64
    assert values.shape == (12, 12)
    assert np.array_equal(values, measure.function(WORDS, WORDS))
    assert np.array_equal(values[2:5, 1:3], measure.function(WORDS[2:5], WORDS[1:3]))
    assert measure.objects == "strings"
    assert measure.batch
    if measure.symmetric:
        assert np.array_equal(values, values.T)
    if measure.range == "0 to 1":
        assert values.min() >= 0
        assert values.max() == 1
    elif measure.range == "integers from 0":
        assert values.min() == 0
        assert np.array_equal(values, values.round())
    own = np.diagonal(values)
    if measure.orientation == "similarity":
        assert (own[:, None] >= values).all()
    elif name != "compression":
        assert not own.any()


@pytest.mark.parametrize("name", METRICS)
@given(triple=st.tuples(*[st.text(alphabet="abé", max_size=6)] * 3))
def test_metrics_keep_the_triangle_inequality(name, triple):
    assert resolve(name).metric
    D = CLASSES[name][0]()(triple, triple)
    for i, j, k in itertools.permutations(range(3)):
        assert D[i, k] <= D[i, j] + D[j, k]
    for i, j in itertools.combinations(range(3), 2):
        assert (D[i, j] == 0) == (triple[i] == triple[j])


@pytest.mark.parametrize("name", METRICS)
def test_normalized_ones_break_the_triangle_inequality(name):
    measure = CLASSES[name][0](normalized=True)
    assert not measure.metric
    assert measure.to_similarity == "one-minus"
    assert measure.range == "0 to 1"
    some = ["".join(w) for k in range(1, 5) for w in itertools.product("abc", repeat=k)]
    D = measure(some, some)
    shortest = (D[:, :, None] + D[None, :, :]).min(axis=1)
    assert (shortest + 1e-9 < D).any()


def test_compression_depends_on_the_order_and_says_so():
    assert not resolve("compression").symmetric
    rng = np.random.default_rng(0)
    X = ["".join(rng.choice(list("abcdefgh"), size=n)) for n in rng.integers(5, 60, 12)]
    D = pairwise(X, similarity="compression")
    assert not np.array_equal(D, D.T)
    assert np.abs(D - D.T).max() < 0.2
    assert np.diagonal(D).max() < D[~np.eye(12, dtype=bool)].min()


@pytest.mark.parametrize("compressor", ["zlib", "bz2", "lzma"])
def test_every_compressor_finds_what_repeats(compressor):
    rng = np.random.default_rng(1)
    x, z = ("".join(rng.choice(list("abcdefgh"), size=600)) for _ in range(2))
    D = Compression(compressor=compressor, level=9)([x, ""], [x, z])
    assert D[0, 0] < 0.6 < D[0, 1]
    assert np.isfinite(D).all()


@pytest.mark.parametrize(
    ("measure", "message"),
    [
        (Compression(compressor="zip"), r"compressor must be one of .*got 'zip'"),
        (Compression(level=10), r"level must be .*got 10"),
        (Compression(level=2.5), r"level must be .*got 2.5"),
        (JaroWinkler(prefix_weight=0.5), r"prefix_weight must .*got 0.5"),
    ],
)
def test_parameters_are_checked(measure, message):
    with pytest.raises(ValueError, match=message):
        measure(["a"], ["b"])


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("bad", [None, 3, b"bytes", float("nan"), ["a"]])
def test_what_is_not_a_string_is_named(name, bad):
    measure = CLASSES[name][0]()
    with pytest.raises(ValueError, match=rf"A\[1\] must be a string; got {type(bad).__name__}"):
        measure(["a", bad], ["b"])
    with pytest.raises(ValueError, match=rf"B\[2\] must be a string; got {type(bad).__name__}"):
        measure(["a"], ["b", "c", bad])


@pytest.mark.parametrize("bad", ["abc", b"abc", 7, None])
def test_one_string_is_not_a_sequence_of_them(bad):
    with pytest.raises(ValueError, match=rf"A must be a sequence of strings; got {type(bad).__name__}"):
        Levenshtein()(bad, ["a"])


@pytest.mark.parametrize("name", NAMES)
def test_every_kind_of_sequence(name):
    measure = CLASSES[name][0]()
    expected = measure(WORDS, WORDS)
    for kind in (tuple, np.array, pd.Series, lambda w: np.array(w, dtype=object)):
        assert np.array_equal(measure(kind(WORDS), kind(WORDS)), expected)
    assert measure([], WORDS).shape == (0, 12)


@pytest.mark.parametrize("name", NAMES)
def test_clone_and_pickle(name):
    measure = CLASSES[name][0]()
    parameter = {"jaro-winkler": {"prefix_weight": 0.2}, "compression": {"level": 9}}.get(name, {"normalized": True})
    changed = measure.set_params(**parameter)
    for copy in (clone(changed), pickle.loads(pickle.dumps(changed))):
        assert copy.get_params() == changed.get_params()
        assert np.array_equal(copy(WORDS, WORDS), changed(WORDS, WORDS))


@pytest.mark.parametrize("name", NAMES)
def test_in_a_classifier(name):
    X = ["apple pie", "apple tart", "apples", "zinc ore", "zinc oxide", "zincs"] * 3
    y = ["food", "food", "food", "metal", "metal", "metal"] * 3
    by_name = KNNClassifier(3, similarity=name).fit(X, y)
    assert by_name.predict(["apple pies", "zinc ores"]).tolist() == ["food", "metal"]
    scores = cross_val_score(KNNClassifier(1, similarity=CLASSES[name][0]()), X, y, cv=3, error_score="raise")
    assert scores.tolist() == [1.0, 1.0, 1.0]


def test_an_instance_brings_its_parameters():
    X, y = ["aaaa", "b"], ["long", "short"]
    # 3 edits to "aaaa" and 1 to "b"; relative to the length 3/4 and 1.
    assert KNNClassifier(1, similarity=Levenshtein()).fit(X, y).predict(["a"]).tolist() == ["short"]
    assert KNNClassifier(1, similarity=Levenshtein(normalized=True)).fit(X, y).predict(["a"]).tolist() == ["long"]


def test_an_instance_says_what_its_values_are():
    measure = resolve(Levenshtein(normalized=True))
    assert (measure.to_similarity, measure.metric, measure.range) == ("one-minus", False, "0 to 1")
    assert measure.orientation == "dissimilarity"


def test_threads_of_the_library_change_nothing():
    assert np.array_equal(Levenshtein(workers=2)(WORDS, WORDS), Levenshtein()(WORDS, WORDS))


def test_a_missing_library_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "rapidfuzz", None)
    monkeypatch.setitem(sys.modules, "rapidfuzz.distance", None)
    with pytest.raises(ImportError, match=r"needs rapidfuzz: pip install 'similitude\[strings\]'"):
        Levenshtein()(["a"], ["b"])


def test_a_library_that_is_broken_is_not_called_missing(tmp_path, monkeypatch):
    (tmp_path / "halfway.py").write_text("import what_it_needs_itself\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ModuleNotFoundError, match="what_it_needs_itself"):
        require("halfway", "strings")
