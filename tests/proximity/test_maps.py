"""Dissimilarity to similarity and back."""

import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from scipy import sparse

from similitude import SimilarityWarning, rescale, to_dissimilarity, to_similarity
from similitude.proximity import maps
from similitude.proximity.maps import TO_DISSIMILARITY, TO_SIMILARITY
from tests.proximity.matrices import distances, square
from tests.reference import proximity as reference

pytestmark = pytest.mark.filterwarnings("error")

MAPS = [
    "max-minus",
    "one-minus",
    "negate",
    "reciprocal",
    "exp",
    "gauss",
    "log",
    "sqrt-one-minus",
    "sqrt-max-minus",
    "double-centring",
]
WITH_SCALE = ["max-minus", "exp", "gauss", "sqrt-max-minus"]
D4 = np.array([[0.0, 1.0, 2.0, 0.5], [1.0, 0.0, 1.5, 0.7], [2.0, 1.5, 0.0, 2.5], [0.5, 0.7, 2.5, 0.0]])
ASYMMETRIC = D4 + np.triu(np.full((4, 4), 0.3), 1)


def test_these_are_all_the_maps():
    assert set(TO_SIMILARITY) == set(TO_DISSIMILARITY) == set(MAPS)


@pytest.mark.parametrize("how", MAPS)
@pytest.mark.parametrize("D", [D4, D4.astype(np.float32), ASYMMETRIC], ids=["float64", "float32", "asymmetric"])
@pytest.mark.filterwarnings("ignore:.*squared distances")
def test_large_matrices_are_mapped_in_blocks(how, D, monkeypatch):
    S = to_similarity(D, how)
    back = to_dissimilarity(S, how)
    monkeypatch.setattr(maps, "_BLOCK", 8)
    assert_array_equal(to_similarity(D, how), S)
    assert_array_equal(to_dissimilarity(S, how), back)


@pytest.mark.parametrize("how", MAPS)
@pytest.mark.parametrize("D", [D4, ASYMMETRIC], ids=["symmetric", "asymmetric"])
def test_every_map_follows_its_formula(how, D):
    assert np.allclose(to_similarity(D, how), reference.to_similarity(D, how), rtol=1e-13, atol=1e-13)


@given(distances(), st.sampled_from(MAPS))
def test_every_map_follows_its_formula_whatever_the_ties(case, how):
    D, _ = case
    assume(how not in ("exp", "gauss") or (len(D) > 1 and reference.median_of_pairs(D) > 0))
    assert np.allclose(to_similarity(D, how), reference.to_similarity(D, how), rtol=1e-12, atol=1e-12)


@given(distances(), st.sampled_from(MAPS), st.sampled_from([None, 0.5, 3.0]))
def test_there_and_back(case, how, scale):
    D, _ = case
    scale = scale if how in WITH_SCALE else None
    S = to_similarity(D, how, scale=scale)
    assume(how not in ("exp", "gauss") or S.min() > 1e-12)
    back = to_dissimilarity(S, how, scale=scale if how in WITH_SCALE else None)
    if scale is None and how in ("exp", "gauss"):
        # Going back takes c = 1 where none is given.
        median = reference.median_of_pairs(D) if len(D) > 1 else 0.0
        back = back * (median or 1.0)
    assert np.allclose(back, D, rtol=1e-7, atol=1e-6)


@pytest.mark.parametrize("how", WITH_SCALE)
@pytest.mark.parametrize("scale", [0.5, 7.0, 40.0])
def test_back_and_there_with_a_given_scale(how, scale):
    S = np.array([[0.4, 0.1], [0.2, 0.3]])
    assert np.allclose(to_similarity(to_dissimilarity(S, how, scale=scale), how, scale=scale), S, rtol=1e-12)


@pytest.mark.parametrize("how", MAPS)
def test_to_dissimilarity_follows_its_formula(how):
    S = to_similarity(D4, how)
    largest = {"max-minus": S.max(), "sqrt-max-minus": S.max()}
    expected = reference.to_dissimilarity(S, how, largest.get(how, 1.0))
    assert np.allclose(to_dissimilarity(S, how), expected, rtol=1e-12, atol=1e-7)


@pytest.mark.parametrize("how", MAPS)
def test_nearer_means_more_similar(how):
    off = ~np.eye(4, dtype=bool)
    if how == "double-centring":
        assert (np.diagonal(to_similarity(D4, how))[:, None] >= to_similarity(D4, how) - 1e-12).sum() > 8
        return
    S = to_similarity(D4, how)
    assert np.array_equal(np.argsort(S[off], kind="stable"), np.argsort(-D4[off], kind="stable"))


@pytest.mark.parametrize("how", ["exp", "gauss", "sqrt-one-minus", "sqrt-max-minus", "double-centring"])
def test_negative_dissimilarities_are_refused_or_keep_their_order(how):
    D = np.array([[-4.0, -3.0, -1.0], [-3.0, -4.0, -2.0], [-1.0, -2.0, -4.0]])
    S, refusal = None, ""
    try:
        S = to_similarity(D, how)
    except ValueError as error:
        refusal = str(error)
    if S is None:
        assert "of D must" in refusal
        assert "-4" in refusal
    else:
        assert S[0, 0] > S[0, 1] > S[0, 2]


@pytest.mark.parametrize("how", MAPS)
def test_the_input_is_left_alone(how):
    D = D4.copy()
    D.flags.writeable = False
    S = to_similarity(D, how)
    assert np.array_equal(D, D4)
    assert not np.shares_memory(S, D)
    S.flags.writeable = False
    kept = S.copy()
    to_dissimilarity(S, how)
    assert np.array_equal(S, kept)


@pytest.mark.parametrize("how", MAPS)
def test_float32_stays_float32(how):
    S = to_similarity(D4.astype(np.float32), how)
    assert S.dtype == np.float32
    assert np.allclose(S, to_similarity(D4, how), rtol=1e-5, atol=1e-6)
    assert to_dissimilarity(S, how).dtype == np.float32


def test_float32_rounding_is_not_called_indefinite():
    X = np.repeat(np.random.default_rng(0).normal(size=(20, 3)), 2, axis=0)
    X[::2] += 1e-4
    D = np.sqrt(((X[:, None] - X[None]) ** 2).sum(axis=2)).astype(np.float32)
    back = to_dissimilarity(to_similarity(D, "double-centring"), "double-centring")
    assert np.allclose(back, D, atol=5e-3)


def test_data_frame_and_list():
    assert to_similarity(pd.DataFrame(D4)).tolist() == to_similarity(D4.tolist()).tolist() == (2.5 - D4).tolist()


@pytest.mark.parametrize("how", MAPS)
@pytest.mark.parametrize("n", [1, 2, 3])
def test_all_zero_distances(how, n):
    S = to_similarity(np.zeros((n, n)), how)
    assert np.isfinite(S).all()
    assert np.ptp(S) == 0
    assert np.array_equal(to_dissimilarity(S, how), np.zeros((n, n)))


@pytest.mark.parametrize("how", MAPS)
@pytest.mark.parametrize("scale", [1e-150, 1e150])
def test_large_and_small_distances_stay_finite(how, scale):
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        S = to_similarity(scale * D4, how)
    assert np.isfinite(S).all()


@pytest.mark.parametrize("how", ["sqrt-one-minus", "sqrt-max-minus", "double-centring"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_squares_that_overflow_are_an_error_not_infinity(how, dtype):
    D = (D4 * (1e30 if dtype == np.float32 else 1e200)).astype(dtype)
    with np.errstate(all="ignore"), pytest.raises(ValueError, match=r"\bD\b"):
        to_similarity(D, how)


@given(distances())
def test_double_centring_of_euclidean_distances_is_the_gram_matrix(case):
    D, X = case
    centred = X - X.mean(axis=0)
    assert np.allclose(to_similarity(D, "double-centring"), centred @ centred.T, atol=1e-12)


def test_distances_induced_by_an_indefinite_similarity_are_cut_with_a_warning():
    with pytest.warns(SimilarityWarning, match="50.0%.*negative") as caught:
        D = to_dissimilarity([[1.0, 2.0], [2.0, 1.0]], "double-centring")
    assert D.tolist() == [[0.0, 0.0], [0.0, 0.0]]
    assert len(caught) == 1


@pytest.mark.parametrize("how", ["reciprocal", "log"])
def test_negative_dissimilarities_are_refused(how):
    with pytest.raises(ValueError, match=r"entry of D must be non-negative.*from -1 to 2"):
        to_similarity([[0.0, -1.0], [2.0, 0.0]], how)


@pytest.mark.parametrize(
    ("how", "S"),
    [
        ("reciprocal", [[1.0, 0.0], [0.5, 1.0]]),
        ("exp", [[1.0, -0.5], [0.5, 1.0]]),
        ("gauss", [[1.0, 0.0], [0.5, 1.0]]),
        ("gauss", [[1.5, 0.5], [0.5, 1.0]]),
        ("log", [[0.0, 1.0], [-1.0, 0.0]]),
        ("sqrt-one-minus", [[1.0, 0.5], [2.0, 1.0]]),
    ],
)
def test_similarities_a_map_cannot_invert_are_refused(how, S):
    with pytest.raises(ValueError, match=rf"entry of S must .* map '{how}'.*range from"):
        to_dissimilarity(S, how)


def test_similarities_above_the_given_scale_are_refused():
    with pytest.raises(ValueError, match="at most `scale`"):
        to_dissimilarity([[2.0, 1.0], [1.0, 2.0]], "sqrt-max-minus", scale=1.5)


@pytest.mark.parametrize("turn", [to_similarity, to_dissimilarity])
def test_unknown_map(turn):
    with pytest.raises(ValueError, match=r"how must be one of .*'gauss'.*got 'guass'"):
        turn(np.eye(2), "guass")


@pytest.mark.parametrize("turn", [to_similarity, to_dissimilarity])
@pytest.mark.parametrize("scale", [0, -1.0, np.nan, np.inf])
def test_bad_scale(turn, scale):
    with pytest.raises(ValueError, match="scale must be"):
        turn(np.ones((2, 2)), "exp", scale=scale)


@pytest.mark.parametrize("how", sorted(set(MAPS) - set(WITH_SCALE)))
def test_scale_without_a_meaning(how):
    with pytest.raises(ValueError, match=f"scale has no meaning for the map '{how}'"):
        to_similarity(D4, how, scale=2.0)


@pytest.mark.parametrize("how", MAPS)
def test_sparse_cannot_be_mapped(how):
    with pytest.raises(ValueError, match=r"D: a sparse matrix cannot be mapped.*dense"):
        to_similarity(sparse.csr_matrix(D4), how)
    with pytest.raises(ValueError, match=r"S: a sparse matrix cannot be mapped.*dense"):
        to_dissimilarity(sparse.csr_matrix(D4), how)


@given(square())
def test_rescale_maps_the_range_onto_0_1(S):
    before = S.copy()
    S.flags.writeable = False
    R = rescale(S)
    if np.ptp(S) == 0:
        assert not R.any()
    else:
        assert R.min() == 0.0
        assert R.max() == 1.0
        unit = S / np.abs(S).max()
        assert np.allclose(R, (unit - unit.min()) / (unit.max() - unit.min()), atol=1e-14)
    assert np.array_equal(S, before)


@given(square(low=0))
def test_rescale_of_a_sparse_matrix_is_that_of_the_dense_one(S):
    S[0, 0] = 0
    R = rescale(sparse.csr_matrix(S))
    assert sparse.issparse(R)
    assert np.allclose(R.toarray(), rescale(S), atol=1e-15)


def test_rescale_from_the_lowest_to_the_largest_float():
    S = np.array([[-1.7e308, 1.7e308], [0.0, 1.7e308]])
    assert rescale(S).tolist() == [[0.0, 1.0], [0.5, 1.0]]


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_matrix])
def test_rescale_keeps_float32(make):
    R = rescale(make(np.array([[0, 1], [2, 4]], dtype=np.float32)))
    assert R.dtype == np.float32
    assert R.max() == 1.0


@pytest.mark.parametrize("S", [[[-1.0, 2.0], [0.0, 1.0]], [[1.0, 2.0], [2.0, 1.0]]], ids=["negative", "nothing absent"])
def test_rescale_of_a_sparse_matrix_whose_zero_would_move(S):
    with pytest.raises(ValueError, match="sparse matrix can only be rescaled if its smallest entry is 0"):
        rescale(sparse.csr_matrix(S))


def test_rescale_of_a_read_only_csr_matrix_with_an_entry_stored_in_two_parts():
    S = sparse.csr_matrix((np.array([1.0, 2.0, 2.0]), np.array([1, 0, 0]), np.array([0, 3, 3])), shape=(2, 2))
    for part in (S.data, S.indices, S.indptr):
        part.flags.writeable = False
    assert rescale(S).toarray().tolist() == [[1.0, 0.25], [0.0, 0.0]]
    assert S.nnz == 3
