"""Filling matrices, alone and inside an estimator."""

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.utils import get_tags

from similitude import AutoClassifier, KNNClassifier, SimilarityWarning
from similitude.similarities import VDM, Measure, batch, pairwise

WORDS = ["ab", "abc", "b", "", "abab", "ccc", "abc", "ba"]
LABELS = np.array([0, 0, 1, 1, 0, 1, 0, 1])


def shared_letters(a, b):
    return float(len(set(a) & set(b)))


def prefix(a, b):
    """Asymmetric: whether a begins with b, by length."""
    return float(len(b)) if a.startswith(b) else -1.0


@batch
def shared_letters_of_batches(A, B):
    return np.array([[len(set(a) & set(b)) for b in B] for a in A])


@given(st.lists(st.text("abc", max_size=3), min_size=1, max_size=5), st.lists(st.text("abc"), min_size=1, max_size=4))
def test_every_entry_is_the_function_of_its_two_objects(A, B):
    assert np.array_equal(pairwise(A, B, prefix), [[prefix(a, b) for b in B] for a in A])
    assert np.array_equal(pairwise(A, similarity=prefix), [[prefix(a, b) for b in A] for a in A])


def test_a_symmetric_function_is_called_on_half_of_the_pairs():
    calls = []

    def f(a, b):
        calls.append((a, b))
        return shared_letters(a, b)

    S = pairwise(WORDS, similarity=Measure(f, symmetric=True))
    assert len(calls) == len(WORDS) * (len(WORDS) + 1) // 2
    assert np.array_equal(S, pairwise(WORDS, similarity=shared_letters))
    calls.clear()
    pairwise(WORDS, WORDS[:2], similarity=Measure(f, symmetric=True))
    assert len(calls) == 2 * len(WORDS)


def test_an_asymmetric_function_stays_asymmetric():
    S = pairwise(["ab", "a"], similarity=prefix)
    assert S.tolist() == [[2.0, 1.0], [-1.0, 1.0]]


def test_dissimilarities_come_in_their_native_values():
    D = pairwise([0.0, 2.0], similarity=Measure(lambda a, b: abs(a - b), orientation="dissimilarity"))
    assert D.tolist() == [[0.0, 2.0], [2.0, 0.0]]


@pytest.mark.parametrize("make", [list, tuple, np.array, pd.Series])
def test_every_kind_of_sequence(make):
    assert np.array_equal(pairwise(make(WORDS), similarity=shared_letters), pairwise(WORDS, similarity=shared_letters))


def test_rows_of_arrays_and_frames_are_objects():
    X = np.arange(6.0).reshape(3, 2)
    expected = X @ X.T
    assert np.array_equal(pairwise(X, similarity=lambda a, b: a @ b), expected)
    assert np.array_equal(pairwise(pd.DataFrame(X), similarity=lambda a, b: a @ b), expected)


def test_batch_function():
    S = pairwise(WORDS, WORDS[:3], shared_letters_of_batches)
    assert S.dtype == np.float64
    assert np.array_equal(S, pairwise(WORDS, WORDS[:3], shared_letters))


def test_float32_from_a_batch_function_stays():
    S = pairwise([1.0, 2.0], similarity=batch(lambda A, B: np.outer(A, B).astype(np.float32)))
    assert S.dtype == np.float32


@pytest.mark.parametrize("answer", [np.ones((1, 1)), np.ones(2), 3.0, np.ones((2, 2, 1))])
def test_a_batch_function_with_a_wrong_shape(answer):
    with pytest.raises(ValueError, match=r"similarity: .* returned shape .* for batches of 2 and 2"):
        pairwise([1, 2], similarity=batch(lambda A, B: answer))


def test_a_batch_function_with_complex_values():
    with pytest.raises(ValueError, match=r"similarity.*complex"):
        pairwise([1, 2], similarity=batch(lambda A, B: np.full((2, 2), 1j)))


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("as_batch", [False, True])
def test_what_is_not_finite_is_named_by_position(value, as_batch):
    def odd(a, b):
        return value if (a, b) == ("abc", "") else 1.0

    def odd_batch(A, B):
        return [[odd(a, b) for b in B] for a in A]

    with pytest.raises(ValueError, match=rf"similarity: odd\w* gave {value} for objects 1 and 3"):
        pairwise(WORDS, similarity=batch(odd_batch) if as_batch else odd)


def test_a_function_that_raises_is_named_by_position():
    def picky(a, b):
        if b == "b":
            raise KeyError("no b please")
        return 1.0

    with pytest.raises(ValueError, match=r"picky failed on objects 0 and 2: KeyError: .*no b please") as caught:
        pairwise(WORDS, similarity=picky)
    assert isinstance(caught.value.__cause__, KeyError)
    with pytest.raises(ValueError, match="picky failed on objects 0 and 2"):
        KNNClassifier(1, similarity=picky).fit(["a", "c", "b"], [0, 1, 1])


@pytest.mark.parametrize("estimator", [KNNClassifier(1), AutoClassifier(["k-NN"])], ids=["one", "auto"])
def test_a_function_that_looks_like_a_distance_is_pointed_out(estimator):
    def apart(a, b):
        return abs(a - b)

    numbers, y = np.array([1.0, 1.5, 2.0, 7.0, 7.5, 9.0, 9.5, 10.5]), [0, 0, 0, 0, 1, 1, 1, 1]
    with pytest.warns(SimilarityWarning, match="similarity=apart looks like a dissimilarity.*'max-minus'"):
        clone(estimator).set_params(similarity=apart).fit(numbers, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error", SimilarityWarning)
        clone(estimator).set_params(similarity=apart, dissimilarity="max-minus").fit(numbers, y)


@pytest.mark.parametrize("answer", [None, "many", [1, 2], 1j])
def test_a_function_that_returns_no_number(answer):
    with pytest.raises(ValueError, match=r"similarity: .*objects 0 and 0"):
        pairwise(WORDS, similarity=lambda a, b: answer)


def test_nothing_to_compare():
    with pytest.raises(ValueError, match=r"A .*empty.*0"):
        pairwise([], similarity=shared_letters)
    with pytest.raises(ValueError, match=r"B .*empty.*got 1 and 0"):
        pairwise(["a"], [], similarity=shared_letters)


def test_what_learns_must_have_been_fitted():
    with pytest.raises(ValueError, match=r"similarity='vdm' learns from data.*VDM\(\)\.fit"):
        pairwise([("a",)], similarity="vdm")
    X, y = [("a",), ("b",)], [0, 1]
    assert pairwise(X, similarity=VDM().fit(X, y)).tolist() == [[0.0, 1.0], [1.0, 0.0]]


def test_unknown_name():
    with pytest.raises(ValueError, match=r"similarity='cuonting' is not known.*Did you mean 'counting'"):
        pairwise([("a",)], similarity="cuonting")


ROWS = [tuple(word.ljust(4, "-")) for word in WORDS]
KINDS = {
    "name": ("counting", ROWS),
    "learned name": ("vdm", ROWS),
    "callable": (shared_letters, WORDS),
    "asymmetric callable": (prefix, WORDS),
    "batch": (shared_letters_of_batches, WORDS),
    "object that learns": (VDM(weighted=True), ROWS),
    "measure": (Measure(shared_letters, symmetric=True), WORDS),
}


def matrices(similarity, train, new, y):
    """Training and test similarities, computed outside the estimator."""
    if similarity == "vdm" or isinstance(similarity, VDM):
        vdm = (VDM() if similarity == "vdm" else clone(similarity)).fit(train, y)
        return 1 - vdm(train, train), 1 - vdm(new, train)
    return pairwise(train, similarity=similarity), pairwise(new, train, similarity)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("weights", ["uniform", "affinity"])
def test_raw_objects_give_what_their_matrix_gives(kind, weights):
    similarity, objects = KINDS[kind]
    S, S_new = matrices(similarity, objects[:5], objects[5:], LABELS[:5])
    raw = KNNClassifier(3, weights, similarity=similarity).fit(objects[:5], LABELS[:5])
    by_matrix = KNNClassifier(3, weights).fit(S, LABELS[:5])
    assert np.allclose(raw.predict_proba(objects[5:]), by_matrix.predict_proba(S_new))
    assert np.array_equal(raw.predict(objects[5:]), by_matrix.predict(S_new))


@pytest.mark.parametrize("kind", KINDS)
def test_clone_pickle_and_cross_validation_on_lists(kind):
    similarity, objects = KINDS[kind]
    model = KNNClassifier(2, similarity=similarity)
    folds = [(np.arange(2, 8), np.arange(2)), (np.arange(6), np.arange(6, 8))]
    scores = cross_val_score(clone(model), objects, LABELS, cv=folds, error_score="raise")
    for score, (train, test) in zip(scores, folds):
        parts = [[objects[i] for i in part] for part in (train, test)]
        S, S_new = matrices(similarity, *parts, LABELS[train])
        assert score == np.mean(KNNClassifier(2).fit(S, LABELS[train]).predict(S_new) == LABELS[test])
    fitted = clone(model).fit(objects, LABELS)
    again = pickle.loads(pickle.dumps(fitted))
    assert np.array_equal(again.predict_proba(objects), fitted.predict_proba(objects))
    assert np.array_equal(clone(fitted).fit(objects, LABELS).predict(objects), fitted.predict(objects))


def test_grid_search_on_lists():
    search = GridSearchCV(KNNClassifier(), {"n_neighbors": [1, 3], "similarity": [shared_letters, prefix]}, cv=2)
    search.fit(WORDS, LABELS)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    assert search.predict(["ab"]).shape == (1,)


def test_parameters_of_the_similarity_can_be_searched():
    search = GridSearchCV(KNNClassifier(1, similarity=VDM()), {"similarity__weighted": [False, True]}, cv=2)
    assert np.isfinite(search.fit(ROWS, LABELS).cv_results_["mean_test_score"]).all()


def test_raw_objects_switch_off_the_pairwise_tag():
    model = KNNClassifier(similarity=shared_letters)
    assert not get_tags(model).input_tags.pairwise
    assert not hasattr(model.fit(WORDS, LABELS), "n_features_in_")
    assert get_tags(KNNClassifier()).input_tags.pairwise


def test_the_training_objects_are_kept():
    assert list(KNNClassifier(similarity=shared_letters).fit(WORDS, LABELS).objects_) == WORDS


@pytest.mark.parametrize("bad", ["abc", b"abc", 3, None, (w for w in WORDS)], ids=lambda b: type(b).__name__)
def test_raw_input_that_is_no_sequence(bad):
    with pytest.raises(ValueError, match=rf"X must be a sequence of objects; got {type(bad).__name__}"):
        KNNClassifier(similarity=shared_letters).fit(bad, LABELS)
    with pytest.raises(ValueError, match=rf"X must be a sequence of objects; got {type(bad).__name__}"):
        KNNClassifier(similarity=shared_letters).fit(WORDS, LABELS).predict(bad)


def test_no_raw_objects():
    with pytest.raises(ValueError, match=r"\bX\b.*0"):
        KNNClassifier(similarity=shared_letters).fit([], [])
    with pytest.raises(ValueError, match=r"\bX\b.*0"):
        KNNClassifier(similarity=shared_letters).fit(WORDS, LABELS).predict([])


@pytest.mark.parametrize("how", ["max-minus", "gauss", "exp", "negate", "double-centring"])
def test_a_computed_dissimilarity_is_turned_with_training_constants(how):
    numbers = [0.0, 1.0, 3.0, 7.0]
    y = [0, 0, 1, 1]

    def distance(a, b):
        return abs(a - b)

    raw = KNNClassifier(2, "affinity", similarity=distance, dissimilarity=how).fit(numbers, y)
    D = pairwise(numbers, similarity=distance)
    matrix = KNNClassifier(2, "affinity", dissimilarity=how).fit(D, y)
    new = [0.5, 100.0]
    assert np.allclose(raw.predict_proba(new), matrix.predict_proba(pairwise(new, numbers, distance)))


def test_a_registered_dissimilarity_takes_another_map():
    X, y = ROWS, LABELS
    negated = KNNClassifier(8, similarity="vdm", dissimilarity="negate").fit(X, y)
    default = KNNClassifier(8, similarity="vdm").fit(X, y)
    assert np.allclose(negated.kneighbors(X)[0], default.kneighbors(X)[0] - 1)


def test_a_registered_similarity_is_no_dissimilarity():
    with pytest.raises(ValueError, match=r"dissimilarity='gauss'.*'counting' is a similarity"):
        KNNClassifier(similarity="counting", dissimilarity="gauss").fit(ROWS, LABELS)
