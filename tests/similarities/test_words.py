"""Similarities of words: sound, normalised edits, n-grams, and the family ``similarity="words"``."""

import jellyfish
import numpy as np
import pytest

from similitude import AutoClassifier, MixtureSVC, load_model, save_model
from similitude.similarities import TfidfCosine, names, words_family
from similitude.similarities.registry import resolve
from similitude.similarities.strings import Metaphone
from tests.reference.strings import levenshtein

WORDS = ["Smith", "Smythe", "Schmidt", "", "O'Neil", "van der Berg", "Müller", "李", "王"]
ITALIAN = ["Rossi", "Bianchi", "Russo", "Ferrari", "Esposito", "Romano", "Colombo", "Ricci", "Marino", "Greco"]
GERMAN = ["Becker", "Schneider", "Fischer", "Wagner", "Schulz", "Koch", "Bauer", "Richter", "Klein", "Wolf"]
X, Y = [*ITALIAN, *GERMAN], ["it"] * 10 + ["de"] * 10
NEW = ["Schreiber", "Ferrario", "Bianco", "Baumgartner"]


def test_metaphone_is_the_edit_distance_of_codes():
    codes = [jellyfish.metaphone(word) or word.casefold() for word in WORDS]
    expected = [[levenshtein(a, b) / max(len(a), len(b), 1) for b in codes] for a in codes]
    found = Metaphone()(WORDS, WORDS)
    np.testing.assert_allclose(found, expected)
    assert found[0, 1] == 0  # the same sound
    assert found[-1, -2] == 1  # words that Metaphone has no code for are not all the same


def test_named_measures_have_the_stated_parameters():
    from rapidfuzz.distance import DamerauLevenshtein, Indel, JaroWinkler

    for name, scorer in {"damerau-normalized": DamerauLevenshtein, "indel-normalized": Indel}.items():
        values = resolve(name).function(["Martha"], ["Marhta", "Maria"])
        np.testing.assert_allclose(values, [[scorer.normalized_distance("Martha", b) for b in ("Marhta", "Maria")]])
    assert resolve("jaro-winkler").function(["Martha"], ["Marhta"])[0, 0] == JaroWinkler.similarity("Martha", "Marhta")
    chars = resolve("tfidf-chars").learned(X, None).function
    expected = TfidfCosine("char_wb", (1, 4), sublinear_tf=True).fit(X)
    np.testing.assert_array_equal(chars(NEW, X), expected(NEW, X))
    assert {"tfidf-words", "levenshtein-normalized", "metaphone"} <= {*names()}


def test_words_means_the_family(tmp_path):
    options = {"methods": ["k-NN", "SVM (equal mixture)"], "n_repeats": 1, "cv": 3, "diagnose": False}
    model = AutoClassifier(**options, similarity="words").fit(X, Y)
    explicit = AutoClassifier(**options, similarity=words_family(X)).fit(X, Y)
    answers = model.predict_proba(NEW)
    np.testing.assert_array_equal(answers, explicit.predict_proba(NEW))
    assert model.predict(NEW).tolist() == ["de", "it", "it", "de"]
    save_model(tmp_path / "m.model", model)
    np.testing.assert_array_equal(load_model(tmp_path / "m.model").predict_proba(NEW), answers)
    assert MixtureSVC(similarity="words").fit(X, Y).predict(NEW).tolist() == ["de", "it", "it", "de"]


def test_a_map_is_for_the_distances_of_the_family():
    found = AutoClassifier(["k-NN"], n_repeats=1, cv=3, diagnose=False, similarity="words", dissimilarity="gauss")
    assert found.fit(X, Y).predict(NEW).tolist() == ["de", "it", "it", "de"]


def test_one_similarity_is_not_a_family():
    with pytest.raises(ValueError, match="'words' means a family of similarities of words, and one similarity is need"):
        resolve("words")
