"""The container: one matrix or several, and what is cut along with them."""

import copy
import pickle
import re

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from similitude import KNNClassifier, Proximities, train_test_split

N = 30
FEATURES = np.random.default_rng(0).normal(size=(N, 2))
S = np.exp(-((FEATURES[:, None] - FEATURES[None]) ** 2).sum(axis=2))
IDS = [f"sample {i}" for i in range(N)]


def everything():
    return Proximities(S, features=FEATURES, self_similarity=np.diagonal(S), ids=IDS)


def test_a_container_knows_its_shape():
    P = Proximities([[1, 2, 3], [4, 5, 6]])
    assert (P.shape, len(P)) == ((2, 3), 2)
    assert P.features is P.self_similarity is P.ids is P.column_ids is None


@given(
    st.lists(st.integers(0, N - 1), min_size=1, max_size=5),
    st.lists(st.integers(0, N - 1), min_size=1, max_size=5),
    st.sampled_from([np.asarray, sparse.csr_matrix, sparse.csr_array, pd.DataFrame]),
)
def test_a_block_takes_everything_along(rows, columns, make):
    P = Proximities(make(S), FEATURES, np.diagonal(S), IDS)[np.ix_(rows, columns)]
    block = P.S.toarray() if sparse.issparse(P.S) else np.asarray(P.S)
    assert np.array_equal(block, S[np.ix_(rows, columns)])
    assert np.array_equal(P.features, FEATURES[rows])
    assert np.array_equal(P.self_similarity, np.diagonal(S)[rows])
    assert P.ids.tolist() == [IDS[i] for i in rows]
    assert P.column_ids.tolist() == [IDS[j] for j in columns]


@pytest.mark.parametrize("key", [[3, 1], np.array([3, 1]), slice(2, 9, 3), np.arange(N) % 7 == 0, 4, -1], ids=repr)
def test_rows_alone(key):
    rows = np.arange(N)[key].ravel() if not isinstance(key, int) else np.array([range(N)[key]])
    P = everything()[key]
    assert np.array_equal(P.S, S[rows])
    assert P.ids.tolist() == [IDS[i] for i in rows]
    assert P.column_ids.tolist() == IDS


def test_masks_in_both_directions():
    mask = np.arange(N) < 4
    P = everything()[np.ix_(mask, ~mask)]
    assert np.array_equal(P.S, S[:4, 4:])
    assert P.column_ids.tolist() == IDS[4:]


def test_coo_can_be_cut():
    P = Proximities(sparse.coo_matrix(S))[np.ix_([0, 2], [1])]
    assert np.array_equal(P.S.toarray(), S[np.ix_([0, 2], [1])])


def test_a_block_of_a_block():
    P = everything()[np.ix_([5, 6, 7], [1, 2])][np.ix_([2], [1])]
    assert P.S.tolist() == [[S[7, 2]]]
    assert (P.ids.tolist(), P.column_ids.tolist()) == ([IDS[7]], [IDS[2]])


def test_too_many_indices():
    with pytest.raises(IndexError, match="got 3"):
        everything()[0, 0, 0]


def test_a_square_block_of_test_rows_does_not_invent_column_names():
    P = Proximities(np.ones((4, 3)), ids=list("abcd"))
    assert P.column_ids is None
    assert P[np.ix_([0, 1, 3], [0, 1, 2])].column_ids is None
    assert P[:3].column_ids is None


@pytest.mark.parametrize(
    ("extra", "found"),
    [
        ({"features": FEATURES[:3]}, r"features must have one entry per row of S \(30\); got 3"),
        ({"self_similarity": [1.0]}, "self_similarity must have one entry per row"),
        ({"ids": IDS[1:]}, r"ids .*\(30\); got 29"),
        ({"column_ids": IDS[1:]}, r"column_ids must have one entry per column of S \(30\); got 29"),
        ({"self_similarity": np.full(N, np.nan)}, "self_similarity contains NaN"),
    ],
)
def test_extras_that_do_not_fit(extra, found):
    with pytest.raises(ValueError, match=found):
        Proximities(S, **extra)


@pytest.mark.parametrize("bad", [[1.0, 2.0], np.ones((2, 2, 2)), 3.0])
def test_a_container_needs_a_matrix(bad):
    with pytest.raises(ValueError, match="S must have two dimensions; got shape"):
        Proximities(bad)


def test_the_matrix_is_not_copied():
    assert Proximities(S).S is S


def test_repr_and_pickle():
    P = everything()
    assert repr(P) == "Proximities(30, 30) with features, self_similarity, ids"
    again = pickle.loads(pickle.dumps(P))
    assert np.array_equal(again.S, S)
    assert again.ids.tolist() == IDS


def test_what_absent_means_survives_cutting_splitting_and_pickling():
    P = Proximities(sparse.csr_matrix(np.where(S > 0.5, S, 0.0)), ids=IDS, absent="unknown")
    train, test = train_test_split(P, random_state=0)
    kinds = [P[[1, 2]], train, test, P.select(), P.replaced(S), pickle.loads(pickle.dumps(P)), copy.copy(P)]
    assert {part.absent for part in kinds} == {"unknown"}
    assert Proximities(S).absent == "zero"
    assert repr(train) == "Proximities(22, 22) with ids, absent entries unknown"


@pytest.mark.parametrize("bad", ["none", None, 0])
def test_absent_must_be_one_of_its_meanings(bad):
    with pytest.raises(ValueError, match=re.escape(f"absent must be 'zero', 'farthest' or 'unknown'; got {bad!r}.")):
        Proximities(S, absent=bad)


# Several by name

SEVERAL = Proximities({"plain": S, "square": S**2}, {"all": FEATURES, "first": FEATURES[:, :1]}, ids=IDS)


def test_several_are_cut_together():
    block = SEVERAL[np.ix_([4, 2], [7])]
    assert block.shape == (2, 1)
    assert np.array_equal(block.select("square").S, S[np.ix_([4, 2], [7])] ** 2)
    assert np.array_equal(block.select("plain", "first").features, FEATURES[[4, 2], :1])
    assert np.array_equal(block.features["all"], FEATURES[[4, 2]])
    assert block.select("plain").column_ids.tolist() == [IDS[7]]


def test_a_square_block_of_several_does_not_invent_column_names():
    P = Proximities({"a": np.ones((4, 3)), "b": np.ones((4, 3))}, ids=list("abcd"))[:3]
    assert P.select("a").column_ids is None


def test_one_of_several_must_be_named():
    with pytest.raises(ValueError, match=r"X holds the similarities 'plain', 'square', and one is needed"):
        _ = SEVERAL.S
    with pytest.raises(ValueError, match=r"'plain', 'square', and one is needed here: X.select\(name\)"):
        KNNClassifier().fit(SEVERAL, np.arange(N) % 2)
    with pytest.raises(ValueError, match="X holds no similarity 'cube'; available: 'plain', 'square'"):
        SEVERAL.select("cube")
    with pytest.raises(ValueError, match="X holds no feature set 'last'; available: 'all', 'first'"):
        SEVERAL.select("plain", "last")
    with pytest.raises(ValueError, match="X holds no feature set 'last'; available: none by name"):
        everything().select(features="last")


@pytest.mark.parametrize(
    ("given", "found"),
    [
        (({"a": S, "b": S[:5]},), r"S: all similarities must have the same samples and so the same shape"),
        (({"a": S[0]},), "a must have two dimensions"),
        (({},), r"S by name must be a dict with at least one key, all strings"),
        (({1: S},), r"S by name must be a dict with at least one key, all strings"),
        ((S, {"f": FEATURES[:4]}), r"features\['f'\] must have one entry per row of S \(30\); got 4"),
        ((S, {}), r"features by name must be a dict"),
    ],
)
def test_names_that_do_not_fit(given, found):
    with pytest.raises(ValueError, match=found):
        Proximities(*given)


def test_one_by_name_is_one():
    assert Proximities({"only": S}).S is S
