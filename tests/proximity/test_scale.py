"""The scale of a similarity, to which the grids of methods are relative."""

import numpy as np
import pytest
from scipy import sparse

from similitude.proximity.scale import similarity_scale

S = np.random.default_rng(0).normal(size=(7, 9)) ** 3
SPARSE = np.where(S > 0.2, S, 0.0)
UNKNOWN = np.where(np.abs(S) > 0.1, S, np.nan)


def by_definition(rows):
    """The median of the largest less the mean value, from lists of known values."""
    return np.median([max(row) - sum(row) / len(row) for row in rows if len(set(row)) > 1])


def test_definition():
    assert np.isclose(similarity_scale(S), by_definition(S.tolist()))
    assert np.isclose(similarity_scale(UNKNOWN), by_definition([row[~np.isnan(row)].tolist() for row in UNKNOWN]))


@pytest.mark.parametrize("absent_is_zero", [True, False])
def test_sparse(absent_is_zero):
    same = SPARSE if absent_is_zero else np.where(SPARSE == 0, np.nan, SPARSE)
    found = similarity_scale(sparse.csr_array(SPARSE), absent_is_zero=absent_is_zero)
    assert np.isclose(found, similarity_scale(same))


@pytest.mark.parametrize("exponent", [-300, -20, 20, 300])
def test_powers_of_two_are_exact(exponent):
    factor = 2.0**exponent
    for values in (S, UNKNOWN, sparse.csr_array(SPARSE)):
        assert similarity_scale(factor * values) == factor * similarity_scale(values)


def test_a_constant_does_not_matter():
    assert np.isclose(similarity_scale(S + 5), similarity_scale(S))


def test_the_order_of_sums_does_not_matter():
    many = np.random.default_rng(1).normal(size=(50, 999))
    for same in (np.asfortranarray(many), many[:, ::-1], sparse.csr_array(many)):
        assert similarity_scale(same) == similarity_scale(many)


def test_rows_of_equal_values_are_left_out():
    rows = np.vstack([S[:2], np.full((5, 9), 0.1), np.full((1, 9), np.nan)])
    assert similarity_scale(rows) == similarity_scale(S[:2])
    empty = sparse.csr_array((3, 3))
    for values in (rows[2:7], np.zeros((3, 3)), np.full((2, 2), np.nan), np.empty((2, 0)), empty):
        assert similarity_scale(values) == 1.0
