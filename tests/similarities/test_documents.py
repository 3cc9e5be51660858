"""The cosine of tf-idf vectors."""

import math
import pickle
from collections import Counter

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import cross_val_score

from similitude import KNNClassifier
from similitude.similarities import pairwise
from similitude.similarities.documents import TfidfCosine
from similitude.similarities.registry import resolve

TRAIN = ["red apple pie", "green apple", "blue sea and red sky", "the sea the sea", ""]
documents = st.lists(st.lists(st.sampled_from(["red", "sea", "pie", "naïve"]), max_size=5).map(" ".join), min_size=1)


def by_definition(train, A, B):
    """Counts and logarithms, word by word."""
    sets = [set(d.split()) for d in train]
    df = Counter(word for words in sets for word in words)

    def vector(document):
        counts = Counter(document.split())
        return {w: c * (math.log((1 + len(train)) / (1 + df[w])) + 1) for w, c in counts.items() if w in df}

    def cosine(x, z):
        size = math.sqrt(sum(v * v for v in x.values()) * sum(v * v for v in z.values()))
        return sum(v * z.get(w, 0.0) for w, v in x.items()) / size if size else 0.0

    return np.array([[cosine(vector(x), vector(z)) for z in B] for x in A])


@given(documents, documents, documents)
def test_it_follows_its_formula(train, A, B):
    assume(any(train))
    measure = TfidfCosine().fit(train)
    assert np.allclose(measure(A, B), by_definition(train, A, B), atol=1e-12)
    assert np.allclose(pairwise(A, similarity=measure), by_definition(train, A, A), atol=1e-12)


@given(documents)
def test_what_the_registry_says_is_true(X):
    assume(any(X))
    known = resolve("tfidf-cosine")
    assert (known.learns, known.symmetric, known.range, known.orientation) == (True, True, "0 to 1", "similarity")
    S = TfidfCosine().fit(X)(X, list(X))
    assert np.allclose(S, S.T, rtol=1e-12)
    assert S.min() >= 0
    assert S.max() <= 1
    assert np.allclose(np.diagonal(S), [1.0 if x else 0.0 for x in X])


def test_words_not_seen_in_training_count_for_nothing():
    measure = TfidfCosine().fit(TRAIN)
    assert measure(["zebra", ""], TRAIN).tolist() == [[0.0] * 5] * 2
    assert np.array_equal(measure(["apple zebra"], TRAIN), measure(["apple"], TRAIN))


def test_parameters_reach_the_vectorizer():
    assert TfidfCosine(stop_words="english").fit(TRAIN)(["the"], ["the"]).item() == 0
    assert TfidfCosine().fit(TRAIN)(["the"], ["the"]).item() == pytest.approx(1)
    assert TfidfCosine(analyzer="char", ngram_range=(2, 2)).fit(TRAIN)(["sea"], ["seal"]).item() > 0.9
    assert TfidfCosine(lowercase=False).fit(TRAIN)(["SEA"], ["sea"]).item() == 0
    assert TfidfCosine(min_df=2).fit(TRAIN)(["pie"], ["pie"]).item() == 0


def test_every_kind_of_sequence():
    measure = TfidfCosine().fit(pd.Series(TRAIN))
    expected = measure(TRAIN, TRAIN)
    for kind in (tuple, np.array, pd.Series):
        assert np.array_equal(measure(kind(TRAIN), kind(TRAIN)), expected)
    assert measure([], TRAIN).shape == (0, 5)


def test_what_is_not_a_document():
    with pytest.raises(ValueError, match=r"X\[1\] must be a string; got int"):
        TfidfCosine().fit(["a", 1])
    with pytest.raises(ValueError, match=r"X must be a sequence of strings; got str"):
        TfidfCosine().fit("a document")
    with pytest.raises(ValueError, match=r"B\[0\] must be a string; got NoneType"):
        TfidfCosine().fit(TRAIN)(TRAIN, [None])


def test_it_must_have_been_fitted():
    with pytest.raises(NotFittedError):
        TfidfCosine()(TRAIN, TRAIN)
    with pytest.raises(ValueError, match=r"learns from data: pass a fitted object, e.g. TfidfCosine\(\)"):
        pairwise(TRAIN, similarity="tfidf-cosine")


def test_clone_and_pickle():
    measure = TfidfCosine(sublinear_tf=True).fit(TRAIN)
    assert not hasattr(clone(measure), "vectorizer_")
    assert clone(measure).sublinear_tf is True
    assert np.array_equal(pickle.loads(pickle.dumps(measure))(TRAIN, TRAIN), measure(TRAIN, TRAIN))


def test_in_a_classifier_it_sees_the_training_part_only():
    rng = np.random.default_rng(0)
    topics = [["goal", "ball", "team", "match"], ["vote", "law", "party", "state"]]
    y = np.arange(40) % 2
    X = [" ".join(rng.choice(topics[label] + ["the", "day", "and"], size=8)) + f" name{i}" for i, label in enumerate(y)]
    model = KNNClassifier(3, similarity="tfidf-cosine").fit(X[:30], y[:30])
    measure = TfidfCosine().fit(X[:30])
    by_hand = KNNClassifier(3).fit(measure(X[:30], X[:30]), y[:30])
    assert np.array_equal(model.predict(X[30:]), by_hand.predict(measure(X[30:], X[:30])))
    assert "name31" not in model._reader.measure.function.vectorizer_.vocabulary_
    scores = cross_val_score(KNNClassifier(3, similarity=TfidfCosine()), X, y, cv=4, error_score="raise")
    assert scores.min() > 0.8
