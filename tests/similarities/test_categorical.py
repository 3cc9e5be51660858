"""Counting and the value difference metric."""

import csv
import pickle
from importlib.resources import files

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import cross_val_score

from similitude import KNNClassifier
from similitude.similarities import VDM, counting, pairwise
from tests.reference import similarities as reference

ROWS = [("a", "x", 1), ("a", "y", 2), ("b", "x", 1), ("c", "y", 3), ("b", "y", 1), ("a", "x", 1)]
LABELS = ["p", "q", "q", "p", "r", "q"]


@pytest.fixture(scope="module")
def voting():
    text = (files("similitude.datasets") / "data" / "voting.csv").read_text()
    rows = list(csv.reader(text.splitlines()))[1:]
    return [tuple(row[1:]) for row in rows], np.array([row[0] for row in rows])


def rank(S):
    values = np.abs(np.linalg.eigvalsh(S))
    return int(np.sum(values > 1e-10 * values.max()))


@st.composite
def tables(draw):
    n, d = draw(st.integers(1, 6)), draw(st.integers(1, 3))
    value = st.sampled_from(["a", "b", "?"])
    rows = draw(st.lists(st.tuples(*[value] * d), min_size=n, max_size=n))
    labels = draw(st.lists(st.sampled_from([0, 1, 2]), min_size=n, max_size=n))
    new = draw(st.lists(st.tuples(*[st.sampled_from(["a", "b", "new", "newer"])] * d), min_size=1, max_size=3))
    return rows, labels, new


@given(tables())
def test_counting_counts(case):
    rows, _, new = case
    assert np.array_equal(counting(rows, new), reference.counting(rows, new))
    assert np.array_equal(pairwise(rows, similarity="counting"), reference.counting(rows, rows))


def test_counting_on_every_kind_of_table():
    expected = reference.counting(ROWS, ROWS).tolist()
    frame = pd.DataFrame(ROWS)
    assert counting(frame, ROWS).tolist() == expected
    assert counting(np.array(ROWS, dtype=object), frame).tolist() == expected
    assert counting(np.array([["1", "2"]]), [("1", "3")]).tolist() == [[1.0]]


@pytest.mark.parametrize("bad", ["abc", ["abc", "abd"], [("a",), ("a", "b")], [[[1]], [[2]]]])
def test_what_is_not_a_table(bad):
    with pytest.raises(ValueError, match="A must be a table of categorical rows"):
        counting(bad, ROWS)
    with pytest.raises(ValueError, match="X must be a table of categorical rows"):
        VDM().fit(bad, [0, 1])


def test_tables_of_different_width():
    with pytest.raises(ValueError, match="same columns; got 1 and 3"):
        counting([("a",)], ROWS)
    with pytest.raises(ValueError, match=r"B has 1 columns.*fitted on 3"):
        VDM().fit(ROWS, LABELS)(ROWS, [("a",)])


@given(tables(), st.booleans())
def test_vdm_follows_its_formula(case, weighted):
    rows, labels, new = case
    vdm = VDM(weighted=weighted).fit(rows, labels)
    assert np.allclose(vdm(rows, rows), reference.vdm(rows, labels, rows, rows, weighted), atol=1e-12)
    assert np.allclose(vdm(new, rows), reference.vdm(rows, labels, new, rows, weighted), atol=1e-12)
    assert np.allclose(vdm(rows, new), vdm(new, rows).T, atol=1e-12)


@given(tables(), st.booleans())
def test_vdm_on_the_training_rows_is_a_scaled_symmetric_distance(case, weighted):
    rows, labels, _ = case
    D = VDM(weighted=weighted).fit(rows, labels)(rows, rows)
    assert np.array_equal(D, D.T)
    assert not np.diagonal(D).any()
    assert D.max() == 1.0 or not D.any()
    for i, x in enumerate(rows):
        for j, z in enumerate(rows):
            assert x != z or np.array_equal(D[i], D[j])


def test_a_value_never_seen_gets_the_overall_shares():
    X, y = [("a",), ("a",), ("b",), ("b",)], [0, 0, 0, 1]
    vdm = VDM().fit(X, y)
    # P(.|a) = (1, 0), P(.|b) = (1/2, 1/2), overall (3/4, 1/4); the largest distance is 1/2.
    assert vdm([("zebra",)], [("a",), ("b",), ("gnu",)]) == pytest.approx(np.array([[0.25, 0.25, 0.0]]))


def test_weights_by_hand():
    X, y = [("a",), ("b",), ("b",)], [0, 0, 1]
    vdm = VDM(weighted=True).fit(X, y)
    assert vdm.largest_ == pytest.approx(0.5 * (1 + np.sqrt(0.5)) / 2)
    assert vdm(X[:1], X).tolist() == [[0.0, 1.0, 1.0]]


def test_one_class_and_one_row():
    assert VDM().fit(ROWS, [0] * 6)(ROWS, ROWS).max() == 0.0
    assert VDM().fit(ROWS[:1], [0])(ROWS[:1], ROWS).shape == (1, 6)


@pytest.mark.parametrize("kind", ["floats", "objects", "tuples"])
def test_a_missing_value_is_a_value_of_its_own(kind):
    nan = float("nan")
    rows = [(1.0, 2.0), (nan, 2.0), (float("nan"), 2.0), (1.0, 3.0)]
    X = pd.DataFrame(rows) if kind != "tuples" else rows
    X = X.astype(object) if kind == "objects" else X
    spelled = [tuple("?" if v != v else v for v in row) for row in rows]
    y = [0, 1, 1, 0]
    assert np.array_equal(counting(X, X), reference.counting(spelled, spelled))
    assert np.allclose(VDM().fit(X, y)(X, X), reference.vdm(spelled, y, spelled, spelled))


def test_labels_are_needed_and_must_fit():
    with pytest.raises(ValueError, match=r"y.*labels"):
        VDM().fit(ROWS, None)
    with pytest.raises(ValueError, match="y must have one label per row of X; got 2 for 6"):
        VDM().fit(ROWS, [0, 1])
    with pytest.raises(NotFittedError):
        VDM()(ROWS, ROWS)
    with pytest.raises(ValueError, match="y"):
        KNNClassifier(similarity="vdm").fit(ROWS, None)


@pytest.mark.filterwarnings("ignore:A column-vector y was passed")
def test_labels_as_a_column():
    y = np.array([0, 1, 1, 0, 1, 0])
    expected = KNNClassifier(1, similarity="vdm").fit(ROWS, y).predict(ROWS)
    assert np.array_equal(KNNClassifier(1, similarity="vdm").fit(ROWS, y[:, None]).predict(ROWS), expected)


def test_clone_and_pickle():
    vdm = VDM(weighted=True).fit(ROWS, LABELS)
    assert not hasattr(clone(vdm), "largest_")
    assert clone(vdm).weighted is True
    assert np.array_equal(pickle.loads(pickle.dumps(vdm))(ROWS, ROWS), vdm(ROWS, ROWS))


def test_fitting_leaves_the_table_alone():
    frame = pd.DataFrame(ROWS)
    kept = frame.copy()
    VDM().fit(frame, LABELS)(frame, frame)
    pd.testing.assert_frame_equal(frame, kept)


@pytest.mark.parametrize(("weighted", "expected"), [(False, 18), (True, 33)])
def test_rank_on_voting(voting, weighted, expected):
    X, y = voting
    S = 1 - VDM(weighted=weighted).fit(X, y)(X, X)
    assert S.shape == (435, 435)
    assert rank(S) == expected


def test_similarity_is_one_minus_the_distance():
    vdm = VDM().fit(ROWS, LABELS)
    knn = KNNClassifier(6, similarity="vdm").fit(ROWS, LABELS)
    similarities, indices = knn.kneighbors(ROWS[:1])
    assert np.allclose(similarities[0], 1 - vdm(ROWS[:1], ROWS)[0, indices[0]])


def test_under_cross_validation_vdm_sees_the_training_part_only(voting):
    X, y = voting
    X, y = X[:80], y[:80]
    model = KNNClassifier(3, similarity="vdm")
    vdm = VDM().fit(X[:60], y[:60])
    by_hand = KNNClassifier(3).fit(1 - vdm(X[:60], X[:60]), y[:60])
    got = model.fit(X[:60], y[:60])
    assert np.array_equal(got.predict(X[60:]), by_hand.predict(1 - vdm(X[60:], X[:60])))
    scores = cross_val_score(model, X, y, cv=[(np.arange(60), np.arange(60, 80))], error_score="raise")
    assert scores[0] == np.mean(got.predict(X[60:]) == y[60:])
