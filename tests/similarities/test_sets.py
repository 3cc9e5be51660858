"""Similarities of sets and binary vectors."""

import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from similitude import KNNClassifier
from similitude.similarities import pairwise
from similitude.similarities.registry import resolve
from similitude.similarities.sets import TverskyLinear, dice, jaccard
from tests.reference import sets as reference

collections = st.lists(st.sets(st.sampled_from("abcdef")), min_size=1, max_size=5)


@given(collections, collections)
def test_similarities_of_sets(A, B):
    assert np.allclose(jaccard(A, B), reference.table(reference.jaccard, A, B), rtol=1e-15)
    assert np.allclose(dice(A, B), reference.table(reference.dice, A, B), rtol=1e-15)
    expected = reference.table(lambda a, b: reference.contrast(a, b, 2, 0.25, 0.75), A, B)
    assert np.array_equal(TverskyLinear(2, 0.25, 0.75)(A, B), expected)
    assert np.array_equal(
        TverskyLinear()(A, B), reference.table(lambda a, b: reference.contrast(a, b, 1, 0.5, 0.5), A, B)
    )


@pytest.mark.parametrize(
    "as_kind",
    [
        lambda X: X,
        lambda X: X.astype(bool),
        lambda X: X.astype(float),
        pd.DataFrame,
        sparse.csr_matrix,
        sparse.coo_array,
        lambda X: [sparse.csr_matrix(row[None, :]) for row in X],
        lambda X: [row.tobytes() for row in np.packbits(X, axis=1)],
        lambda X: [np.flatnonzero(row).tolist() for row in X],
        lambda X: [tuple(np.flatnonzero(row)) * 2 for row in X],
        lambda X: [set(np.flatnonzero(row)) for row in X],
        lambda X: np.array([frozenset(np.flatnonzero(row)) for row in X] + [None], dtype=object)[:-1],
    ],
)
def test_every_kind_of_set(as_kind):
    X = (np.random.default_rng(0).random((8, 6)) < 0.4).astype(int)
    X[0] = 0
    members = [reference.members(row) for row in X]
    given_sets = as_kind(X)
    assert np.allclose(
        jaccard(given_sets, given_sets), reference.table(reference.jaccard, members, members), rtol=1e-15
    )


def test_sparse_input_is_not_changed():
    X = sparse.csr_matrix((np.array([1.0, 0.0, 1.0]), np.array([0, 1, 2]), np.array([0, 2, 3])), shape=(2, 3))
    assert jaccard(X, X).tolist() == [[1, 0], [0, 1]]
    mixed = pd.DataFrame({"a": [1, 0], "b": [False, True], "c": [0, 0]})
    assert jaccard(mixed, mixed).tolist() == [[1, 0], [0, 1]]
    assert X.nnz == 3


@pytest.mark.parametrize(
    ("A", "message"),
    [
        ([{1}, 3], r"A\[1\] must be a set, list or tuple of hashable elements; got 3"),
        ([{1}, "abc"], r"A\[1\] must be a set.*got 'abc'"),
        ([{1}, [[1], [2]]], r"A\[1\] must have hashable elements"),
        (np.array([[0, 1], [1, 2]]), r"A\[1\] must be a binary vector of 0 and 1; it has 2"),
        (np.array([[0.0, np.nan]]), r"A\[0\] must be a binary vector of 0 and 1; it has nan"),
        (sparse.csr_matrix([[0, 1], [-1, 0]]), r"A\[1\] must be a binary vector of 0 and 1; it has -1"),
        (np.array([[0, 1]]), "same kind of object; got binary vectors and sets"),
        ([b"ab", b"a"], "A must hold packed bits of one length; got 1 to 2 bytes"),
    ],
)
def test_bad_sets_are_named(A, message):
    with pytest.raises(ValueError, match=message):
        jaccard(A, [{1, 2}])


def test_vectors_must_have_one_length():
    with pytest.raises(ValueError, match="one length; got 2 and 3"):
        dice(np.eye(2), np.eye(3))


@pytest.mark.parametrize("name", ["jaccard", "dice", "tversky-linear"])
def test_registered_claims(name):
    X = np.random.default_rng(1).random((20, 30)) < 0.3
    X[5] = X[6]
    measure = resolve(name)
    S = pairwise(X, similarity=name)
    assert measure.symmetric
    assert np.array_equal(S, S.T)
    assert np.array_equal(S[5], S[6])
    sizes = X.sum(axis=1)
    if measure.range == "0 to 1":
        assert (S.diagonal() == 1).all()
        assert ((S >= 0) & (S <= 1)).all()
    else:
        assert np.array_equal(S.diagonal(), sizes)
        assert (-(sizes[:, None] + sizes) / 2 <= S).all()
        assert (sizes[:, None] >= S).all()


@pytest.mark.parametrize("similarity", ["jaccard", "dice", "tversky-linear", TverskyLinear(alpha=0.1)])
def test_through_a_classifier(similarity):
    X = [["sun", "sea"], ["sun", "sand"], ["snow", "ice"], ["snow", "ski", "ice"]]
    model = KNNClassifier(1, similarity=similarity).fit(X, ["beach", "beach", "alps", "alps"])
    assert model.predict([["sea", "sand", "sun"], ["ski"]]).tolist() == ["beach", "alps"]
    assert pickle.loads(pickle.dumps(model)).predict([["ice"]]).tolist() == ["alps"]


def test_contrast_is_asymmetric_where_its_weights_are():
    A, B = [{1, 2, 3}], [{1}]
    model = TverskyLinear(1, 1, 0)
    assert (model(A, B).item(), model(B, A).item()) == (-1, 1)
    assert (model.symmetric, TverskyLinear().symmetric) == (False, True)
