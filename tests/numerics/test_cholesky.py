import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from similitude._native import testing_backward as backward
from similitude._native import testing_factor as factor
from similitude._native import testing_forward as forward


def _matrix(seed, n):
    X = np.random.default_rng(seed).normal(size=(n, n))
    return X @ X.T + 0.1 * np.eye(n)


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 8, 11, 17])
def test_factor_is_that_of_lapack(n):
    A, U, signs = _matrix(n, n), np.zeros((n, n)), np.empty(n)
    assert factor(A, 0.0, 0.5, 0.0, n, U, signs) == n
    assert np.allclose(np.triu(U), np.linalg.cholesky(A + 0.5 * np.eye(n)).T)
    assert signs.tolist() == [1.0] * n
    assert np.allclose(factor(A, 0.5, 0.0, 0.0, n, U, signs), n)
    assert np.allclose(np.triu(U).T @ np.triu(U), A + 0.5 * np.diag(np.diagonal(A)))


def test_the_factor_of_a_leading_block_is_the_leading_block_to_the_last_digit():
    A = _matrix(0, 13)
    whole, part, signs = np.zeros((13, 13)), np.zeros((13, 13)), np.empty(13)
    factor(A, 0.0, 0.1, 0.0, 13, whole, signs)
    for k in range(1, 13):
        factor(A, 0.0, 0.1, 0.0, k, part, signs)
        assert np.array_equal(np.triu(part)[:k, :k], np.triu(whole)[:k, :k])


def test_it_may_overwrite_its_input():
    A, U, signs = _matrix(1, 9), np.zeros((9, 9)), np.empty(9)
    factor(A, 0.0, 0.0, 0.0, 9, U, signs)
    factor(A, 0.0, 0.0, 0.0, 9, A, signs)
    assert np.array_equal(np.triu(A), np.triu(U))


def test_it_ends_at_the_first_pivot_that_will_not_do():
    A, U, signs = np.diag([1.0, 2.0, -1.0, 3.0]), np.zeros((4, 4)), np.empty(4)
    assert factor(A, 0.0, 0.0, 0.0, 4, U, signs) == 2
    assert factor(A, 0.0, 0.0, 1e-6, 4, U, signs) == 4
    assert signs.tolist() == [1.0, 1.0, -1.0, 1.0]
    assert factor(A, 0.0, 1.0, 1e-6, 4, U, signs) == 2  # the third is 0


@given(st.integers(0, 2**32 - 1), st.integers(1, 12))
def test_signed_factors_solve_indefinite_systems(seed, n):
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(n, n))
    A = A + A.T + np.diag(rng.choice([-3.0, 3.0], n) * n)  # dominated by its diagonal: stable without pivoting
    U, signs, b = np.zeros((n, n)), np.empty(n), rng.normal(size=n)
    assert factor(A, 0.0, 0.0, 1e-6, n, U, signs) == n
    y = b.copy()
    forward(U, n, y)
    y *= signs
    backward(U, n, y)
    assert np.allclose(A @ y, b)
