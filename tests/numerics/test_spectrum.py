import numpy as np
import pytest

from similitude.numerics.eigen import (
    SPECTRA,
    RowMap,
    eigh,
    modified_eigenvalues,
    modified_matrix,
    row_map_weights,
    spectrum_shift,
)
from tests.reference import spectrum as reference

VALUES = np.array([-2.0, -0.5, 0.0, 1.0, 3.0])


@pytest.mark.parametrize(
    ("spectrum", "modified", "weights"),
    [
        ("clip", [0, 0, 0, 1, 3], [0, 0, 0, 1, 1]),
        ("flip", [2, 0.5, 0, 1, 3], [-1, -1, 0, 1, 1]),
        ("shift", [0, 1.5, 2, 3, 5], [1, 1, 1, 1, 1]),
        ("square", [4, 0.25, 0, 1, 9], VALUES),
        ("none", VALUES, [1, 1, 1, 1, 1]),
    ],
)
def test_eigenvalues_after_each_change(spectrum, modified, weights):
    assert modified_eigenvalues(VALUES, spectrum).tolist() == list(modified)
    assert modified_eigenvalues(np.empty(0), spectrum).shape == (0,)
    assert row_map_weights(VALUES, spectrum).tolist() == list(weights)
    if spectrum != "shift":
        assert np.array_equal(VALUES * row_map_weights(VALUES, spectrum), modified_eigenvalues(VALUES, spectrum))


def test_a_semidefinite_matrix_is_not_shifted():
    assert spectrum_shift(np.array([0.5, 1.0])) == spectrum_shift(np.array([0.0])) == 0.0
    assert spectrum_shift(VALUES) == 2.0


def test_changes_that_overflow_or_do_not_exist_are_refused():
    with pytest.raises(ValueError, match="'square' overflows"):
        modified_eigenvalues(np.array([1e200]), "square")
    with pytest.raises(ValueError, match="spectrum must be clip, flip, shift, square or none; got 'fold'"):
        modified_eigenvalues(np.array([1.0]), "fold")


@pytest.mark.parametrize("shift", [-4.0, 0.0, 4.0], ids=["mostly negative", "half", "mostly positive"])
@pytest.mark.parametrize("spectrum", SPECTRA)
def test_matrices_and_rows_are_those_of_the_definition(spectrum, shift):
    rng = np.random.default_rng(0)
    A = rng.normal(size=(12, 12))
    S, rows = A + A.T + shift * np.eye(12), rng.normal(size=(3, 12))
    values, vectors = eigh(S)
    before = S.copy()
    K = modified_matrix(S, spectrum, values, vectors)
    assert np.array_equal(S, before)
    assert np.array_equal(K, K.T)
    assert np.allclose(K, reference.kernel(S, spectrum), rtol=0, atol=1e-12 * np.abs(K).max())
    mapped = RowMap(vectors, row_map_weights(values, spectrum))(rows)
    assert np.allclose(mapped, [reference.row(S, s, spectrum) for s in rows], rtol=0, atol=1e-11)


def test_eigenvalues_within_the_tolerance_count_as_zero():
    Q = np.linalg.qr(np.random.default_rng(2).normal(size=(3, 3)))[0]
    S = (Q * [-0.5, 1.0, 100.0]) @ Q.T
    values, vectors = eigh(S)
    K = modified_matrix(S, "flip", values, vectors, tol=0.02)
    assert np.allclose(np.linalg.eigvalsh(K), [0.0, 0.0, 100.0])
    assert np.array_equal(modified_matrix(S, "shift", values, vectors, tol=0.02), S)


def test_what_does_not_change_keeps_its_digits():
    A = np.random.default_rng(1).normal(size=(6, 6))
    S = A @ A.T
    values, vectors = eigh(S)
    assert np.array_equal(modified_matrix(S, "clip", values, vectors), S)
    assert np.array_equal(RowMap(vectors, row_map_weights(values, "clip"))(A), A)
