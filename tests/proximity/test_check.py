"""check_similarity: bad input is refused in words that help, good input passes unchanged and uncopied."""

import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from similitude import SimilarityWarning, check_similarity
from similitude.proximity.check import asymmetry, is_symmetric, looks_like_dissimilarity
from tests.proximity.matrices import square
from tests.reference import proximity as reference

pytestmark = pytest.mark.filterwarnings("error")

BAD = {
    "NaN": ([[1.0, np.nan], [0.0, 1.0]], "NaN.*row 0, column 1"),
    "infinity": ([[1.0, 0.0], [-np.inf, 1.0]], "infinity.*row 1, column 0"),
    "None": ([[1.0, None], [0.0, 1.0]], "NaN.*row 0, column 1"),
    "missing value of pandas": (pd.DataFrame([[1.0, pd.NA], [0.0, 1.0]]), "NaN|NA"),
    "sparse NaN": (sparse.csr_matrix([[1.0, 0.0], [0.0, np.nan]]), "NaN.*row 1, column 1"),
    "both infinities": ([[np.inf, -np.inf], [0.0, 1.0]], "infinity.*row 0, column 0"),
    "not square": (np.ones((2, 3)), r"square.*\(2, 3\)"),
    "sparse not square": (sparse.csr_matrix((3, 2)), r"square.*\(3, 2\)"),
    "complex": (np.eye(2) * 1j, r"is complex. Complex data not supported; pass its real part \([SX].real\)\.$"),
    "sparse complex": (sparse.csr_matrix(np.eye(2) * 1j), r"is complex.*pass its real part"),
    "no samples": (np.empty((0, 0)), r"\(0, 0\)"),
    "no columns": (np.empty((2, 0)), r"\(2, 0\)"),
    "one dimension": ([1.0, 2.0], "1D|one dimension"),
    "three dimensions": (np.ones((2, 2, 2)), "dim"),
    "scalar": (3.0, "scalar|dim"),
    "None alone": (None, "None|scalar|dim"),
    "words": ([["a", "b"], ["c", "d"]], "'a'|str"),
    "ragged": ([[1.0, 2.0], [3.0]], "shape|length|row"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_a_value_error_that_says_what_was_found(case):
    bad, found = BAD[case]
    with pytest.raises((ValueError, TypeError), match=found):
        check_similarity(bad)


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_named(case):
    bad, _ = BAD[case]
    with pytest.raises(Exception, match=r"\bsimilarities_of_pets\b"):
        check_similarity(bad, name="similarities_of_pets")


def test_place_of_a_bad_entry_beyond_the_first_block(monkeypatch):
    monkeypatch.setattr("similitude.proximity.check._BLOCK", 8)
    S = np.ones((7, 7))
    S[5, 2] = np.nan
    with pytest.raises(ValueError, match="row 5, column 2"):
        check_similarity(S)


def test_place_of_a_bad_entry_in_a_sparse_matrix_with_empty_rows():
    S = sparse.csr_matrix(([1.0, np.inf], ([1, 4], [0, 3])), shape=(6, 6))
    with pytest.raises(ValueError, match=r"infinity.*row 4, column 3"):
        check_similarity(S)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_finite_entries_whose_sum_overflows_are_accepted(dtype):
    S = np.full((4, 4), np.finfo(dtype).max)
    assert check_similarity(S) is not None


def test_sparse_where_it_is_not_allowed():
    with pytest.raises((TypeError, ValueError), match=r"\bK\b.*dense"):
        check_similarity(sparse.eye(3, format="csr"), accept_sparse=False, name="K")


def test_rectangular_where_it_is_allowed():
    assert check_similarity(np.ones((2, 3)), square=False).shape == (2, 3)


@pytest.mark.parametrize("dtype", [bool, np.int8, np.int64, np.uint16, np.float16, np.longdouble, object])
def test_everything_but_float32_becomes_float64(dtype):
    checked = check_similarity(np.array([[2, 1], [1, 0]], dtype=dtype))
    assert checked.dtype == np.float64
    assert checked.tolist() == np.array([[2, 1], [1, 0]], dtype=dtype).astype(float).tolist()


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_matrix, pd.DataFrame])
def test_float32_stays_float32(make):
    assert check_similarity(make(np.eye(3, dtype=np.float32))).dtype == np.float32


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("order", ["C", "F"])
def test_no_copy_of_a_float_array(dtype, order):
    S = np.ones((300, 300), dtype=dtype, order=order)
    assert np.shares_memory(check_similarity(S), S)


def test_no_copy_of_a_view_with_strides():
    S = np.ones((40, 40))[::2, ::2]
    assert np.shares_memory(check_similarity(S), S)


def test_no_copy_of_a_csr_matrix():
    S = sparse.random(30, 30, density=0.2, format="csr", random_state=0)
    assert np.shares_memory(check_similarity(S).data, S.data)


def test_memmap_stays_on_disk(tmp_path):
    np.save(tmp_path / "S.npy", np.ones((50, 50)))
    S = np.load(tmp_path / "S.npy", mmap_mode="r")
    checked = check_similarity(S)
    assert np.shares_memory(checked, S)
    assert not checked.flags.writeable


@pytest.mark.parametrize("kind", ["csc", "coo", "lil", "dok", "bsr", "dia"])
def test_other_sparse_formats_become_csr(kind):
    S = sparse.random(6, 6, density=0.4, random_state=1)
    checked = check_similarity(S.asformat(kind))
    assert checked.format == "csr"
    assert np.array_equal(checked.toarray(), S.toarray())


def test_sparse_array_is_accepted():
    assert check_similarity(sparse.csr_array(np.eye(3))).format == "csr"


def test_data_frame_with_names():
    S = pd.DataFrame([[1, 0], [0, 1]], index=list("ab"), columns=list("ab"))
    assert check_similarity(S).tolist() == [[1.0, 0.0], [0.0, 1.0]]


@given(square())
def test_values_pass_unchanged_and_the_input_is_left_alone(S):
    before = S.copy()
    S.flags.writeable = False
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SimilarityWarning)
        assert np.array_equal(check_similarity(S), before)
    assert np.array_equal(S, before)


def test_a_dissimilarity_is_recognised_and_the_way_out_named():
    D = np.array([[0.0, 1.0, 2.0], [1.0, 0.0, 1e-300], [2.0, 3.0, 0.0]])
    with pytest.warns(SimilarityWarning, match="dissimilarity=") as caught:
        check_similarity(D, name="X")
    assert len(caught) == 1
    assert str(caught[0].message).startswith("X ")


@pytest.mark.parametrize("orientation", ["dissimilarity", "any"])
def test_no_such_warning_where_a_dissimilarity_is_meant(orientation):
    assert check_similarity([[0.0, 1.0], [1.0, 0.0]], orientation=orientation) is not None


@pytest.mark.parametrize(
    "S",
    [
        np.zeros((1, 1)),
        np.zeros((3, 3)),
        np.eye(3),
        np.array([[0.0, 1.0], [0.0, 0.0]]),
        np.array([[0.0, 1.0], [-1.0, 0.0]]),
        np.array([[1e-300, 1.0], [1.0, 0.0]]),
        sparse.csr_matrix([[0.0, 1.0], [1.0, 0.0]]),
    ],
)
def test_what_does_not_look_like_a_dissimilarity(S):
    assert not looks_like_dissimilarity(S)
    check_similarity(S)


@pytest.mark.parametrize("block", [1, 7, 1000])
def test_the_look_does_not_depend_on_the_blocks(monkeypatch, block):
    monkeypatch.setattr("similitude.proximity.check._BLOCK", block)
    D = 1.0 - np.eye(6)
    assert looks_like_dissimilarity(D)
    D[5, 4] = 0
    assert not looks_like_dissimilarity(D)


def test_self_values_that_are_small_but_not_zero():
    rng = np.random.default_rng(0)
    confusions = rng.uniform(0.5, 1, (40, 40))
    np.fill_diagonal(confusions, rng.uniform(0.03, 0.16, 40))
    for D in (confusions, confusions - 5, confusions * 2.0**-40, confusions.astype(np.float32)):
        assert looks_like_dissimilarity(D)
        assert not looks_like_dissimilarity(-D)
    confusions[:2] = confusions[:2].max() - confusions[:2]  # two of forty samples are exceptions
    assert looks_like_dissimilarity(confusions)
    confusions[5:8, 10] = 0  # few values are smaller than those of samples with themselves, or as small
    confusions[9, 3] = np.nan
    assert looks_like_dissimilarity(confusions)
    confusions[2] = confusions[2].max() - confusions[2]
    assert not looks_like_dissimilarity(confusions)


@given(st.integers(5, 12), st.integers(0, 2**31))
def test_the_order_of_samples_does_not_change_the_look(n, seed):
    rng = np.random.default_rng(seed)
    D = rng.integers(1, 9, (n, n)) - rng.integers(0, 9) * np.eye(n)
    order = rng.permutation(n)
    smallest = np.mean([all(D[i, j] > D[i, i] for j in range(n) if j != i) for i in range(n)])
    assert looks_like_dissimilarity(D) == (smallest == 1)
    assert looks_like_dissimilarity(D[np.ix_(order, order)]) == looks_like_dissimilarity(D)


@given(square())
def test_asymmetry_is_that_of_the_formula(S):
    assert asymmetry(S) == pytest.approx(reference.asymmetry(S), rel=1e-12, abs=1e-15)
    assert asymmetry(sparse.csr_matrix(S)) == pytest.approx(reference.asymmetry(S), rel=1e-12, abs=1e-15)


@given(square(symmetric=True, scales=(1e-20, 1.0, 1e20)))
def test_a_symmetric_float32_matrix_has_no_asymmetry(S):
    S = (S / 3).astype(np.float32)
    assert asymmetry(S) == 0.0
    assert asymmetry(sparse.csr_matrix(S)) == 0.0
    assert is_symmetric(S)


def test_asymmetry_beyond_the_first_block(monkeypatch):
    S = np.random.default_rng(0).normal(size=(9, 9))
    expected = reference.asymmetry(S)
    monkeypatch.setattr("similitude.proximity.check._BLOCK", 20)
    assert asymmetry(S) == pytest.approx(expected, rel=1e-12)


def test_an_antisymmetric_matrix_is_all_asymmetry():
    assert asymmetry(np.array([[0.0, 1.0], [-1.0, 0.0]])) == 1.0


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_matrix])
def test_asymmetry_near_the_largest_float(make):
    S = np.array([[0.0, 1.7e308], [-1.7e308, 0.0]])
    assert asymmetry(make(S)) == pytest.approx(1.0)


def test_asymmetry_of_a_csr_matrix_with_an_entry_stored_in_two_parts():
    S = sparse.csr_matrix((np.array([1.0, 2.0, 3.0]), np.array([1, 0, 0]), np.array([0, 3, 3])), shape=(2, 2))
    assert asymmetry(S) == pytest.approx(reference.asymmetry([[5.0, 1.0], [0.0, 0.0]]))


@given(square())
def test_symmetric_means_equal_to_the_transpose(S):
    assert is_symmetric(S) == np.array_equal(S, S.T)
    assert is_symmetric(sparse.csr_matrix(S)) == np.array_equal(S, S.T)


def test_rounding_is_no_asymmetry():
    rng = np.random.default_rng(3)
    S = rng.normal(size=(30, 30))
    S = S + S.T
    noise = rng.uniform(-1, 1, S.shape)
    assert is_symmetric(S + 1e-12 * noise)
    assert not is_symmetric(S + 1e-6 * noise)
    assert is_symmetric((S + 1e-7 * noise).astype(np.float32))


def test_asymmetry_in_the_last_tile_is_seen():
    S = np.ones((1030, 1030))
    assert is_symmetric(S)
    S[1029, 2] = 2
    assert not is_symmetric(S)
