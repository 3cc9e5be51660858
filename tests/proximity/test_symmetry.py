"""Symmetrising."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from similitude import PseudoEuclideanEmbedding, SimilarityWarning, SpectrumModifier, symmetrize
from tests.proximity.matrices import square
from tests.reference import proximity as reference

pytestmark = pytest.mark.filterwarnings("error")

WAYS = ["mean", "min", "max", "lower", "upper"]


@given(square(), st.sampled_from(WAYS))
def test_every_way_follows_its_formula(S, how):
    before = S.copy()
    S.flags.writeable = False
    result, asymmetry = symmetrize(S, how)
    assert np.array_equal(result, reference.symmetrize(S, how))
    assert np.array_equal(result, result.T)
    assert asymmetry == pytest.approx(reference.asymmetry(S), rel=1e-12, abs=1e-15)
    assert np.array_equal(S, before)


@given(square(), st.sampled_from(WAYS))
def test_sparse_gives_the_same(S, how):
    given_ = sparse.csr_matrix(S)
    result = symmetrize(given_, how).S
    assert result.format == "csr"
    assert np.array_equal(result.toarray(), symmetrize(S, how).S)
    assert np.array_equal(given_.toarray(), S)


@given(square(symmetric=True), st.sampled_from(WAYS))
def test_a_symmetric_matrix_comes_back(S, how):
    result, asymmetry = symmetrize(S, how)
    assert np.array_equal(result, S)
    assert asymmetry == 0.0


@pytest.mark.parametrize("how", WAYS)
def test_the_result_is_not_the_callers_array(how):
    S = np.eye(3)
    symmetrize(S, how).S[:] = 7
    assert np.array_equal(S, np.eye(3))


@pytest.mark.parametrize("how", WAYS)
@pytest.mark.parametrize("make", [np.asarray, sparse.csr_matrix, sparse.csr_array])
def test_float32_stays(how, make):
    S = make(np.array([[1, 2], [3, 4]], dtype=np.float32))
    assert symmetrize(S, how).S.dtype == np.float32


def test_data_frame():
    assert symmetrize(pd.DataFrame([[1, 2], [4, 3]])).S.tolist() == [[1.0, 3.0], [3.0, 3.0]]


def test_no_overflow_near_the_largest_float():
    S = np.full((2, 2), 1.7e308)
    assert np.array_equal(symmetrize(S).S, S)


def test_distances_are_symmetrised_without_a_remark():
    assert symmetrize([[0.0, 1.0], [3.0, 0.0]], "max").S.tolist() == [[0.0, 3.0], [3.0, 0.0]]


def test_unknown_way():
    with pytest.raises(ValueError, match=r"how must be one of .*'mean'.*got 'median'"):
        symmetrize(np.eye(2), "median")


def test_not_square():
    with pytest.raises(ValueError, match=r"S must be square.*\(2, 3\)"):
        symmetrize(np.ones((2, 3)))


@pytest.mark.parametrize(
    "estimator",
    [SpectrumModifier("clip"), SpectrumModifier("flip"), SpectrumModifier("shift"), PseudoEuclideanEmbedding()],
    ids=["clip", "flip", "shift", "embedding"],
)
@pytest.mark.parametrize("step", ["fit", "fit_transform"])
def test_estimators_that_need_symmetry_warn_once_by_name_and_use_the_mean(estimator, step):
    S = np.array([[3.0, 1.0, 0.5], [0.2, 2.0, 1.0], [0.1, 0.3, 1.0]])
    with pytest.warns(SimilarityWarning, match=rf"{type(estimator).__name__} .*\(S \+ S\^T\)/2") as caught:
        getattr(estimator, step)(S)
    assert len(caught) == 1
    expected = np.linalg.eigvalsh((S + S.T) / 2)
    assert np.allclose(np.sort(estimator.eigenvalues_), expected)


@pytest.mark.parametrize("method", ["square", "none"])
def test_methods_that_do_not_need_symmetry_keep_quiet(method):
    S = np.array([[3.0, 1.0], [0.2, 2.0]])
    kernel = SpectrumModifier(method).fit_transform(S)
    assert np.allclose(kernel, S @ S.T if method == "square" else S)
