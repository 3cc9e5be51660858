"""The one symmetric eigendecomposition."""

import threading

import numpy as np
import pytest
from hypothesis import given

from similitude import PseudoEuclideanEmbedding, SpectrumModifier
from similitude.numerics import eigen, shared
from similitude.numerics.eigen import cut_zeros, eigh, is_semidefinite, negative_eigenfraction
from similitude.numerics.shared import forget_lasting, shared_work
from tests.proximity.matrices import square


def symmetric(n=20, seed=0):
    S = np.random.default_rng(seed).normal(size=(n, n))
    return (S + S.T) / 2


@pytest.fixture
def decompositions(monkeypatch):
    """How often a matrix is really decomposed."""
    calls = []
    plain = eigen._decompose

    def counted(S):
        calls.append(S.shape)
        return plain(S)

    monkeypatch.setattr(eigen, "_decompose", counted)
    return calls


def check(S):
    """Ascending eigenvalues, orthonormal vectors, S = V diag(values) V^T, all relative to the size of S."""
    values, vectors = eigh(S)
    size = np.abs(S).max() or 1.0
    assert np.all(np.diff(values) >= 0)
    assert np.allclose(vectors.T @ vectors, np.eye(len(S)), atol=1e-12)
    assert np.allclose((vectors * (values / size)) @ vectors.T, S / size, atol=1e-12 * len(S))
    assert np.allclose(values / size, np.linalg.eigvalsh(S / size), atol=1e-12 * len(S))


@given(square(symmetric=True))
def test_against_numpy_on_ugly_matrices(S):
    check(S)


@pytest.mark.parametrize("scale", [1e-300, 1e-200, 1.0, 1e200, 1e300])
def test_against_numpy_at_every_scale(scale):
    check(scale * symmetric())


@pytest.mark.parametrize("n", [1, 2, 30])
def test_zero_and_constant(n):
    values, vectors = eigh(np.zeros((n, n)))
    assert not values.any()
    assert np.allclose(vectors.T @ vectors, np.eye(n))
    values, _ = eigh(np.full((n, n), 3.0))
    assert values[-1] == pytest.approx(3 * n)
    assert np.allclose(values[:-1], 0, atol=1e-12)


def test_subnormal_entries():
    values, _ = eigh(np.diag([5e-324, 1e-320]))
    assert np.all(values > 0)


def test_low_rank():
    B = np.random.default_rng(1).normal(size=(40, 3))
    values = cut_zeros(eigh(B @ B.T)[0])
    assert np.count_nonzero(values) == 3
    assert np.allclose(values[-3:], np.linalg.svd(B, compute_uv=False)[::-1] ** 2)


def test_a_power_of_two_changes_no_digit():
    values, vectors = eigh(symmetric())
    more, same = eigh(2.0**300 * symmetric())
    assert np.array_equal(more, 2.0**300 * values)
    assert np.array_equal(same, vectors)


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_input_is_left_alone_and_the_answer_is_float64(order, dtype):
    S = np.array(symmetric(), dtype=dtype, order=order)
    kept = S.copy()
    S.flags.writeable = False
    with shared_work():
        values, vectors = eigh(S)
    assert values.dtype == vectors.dtype == np.float64
    assert np.array_equal(S, kept)
    assert np.allclose((vectors * values) @ vectors.T, S, atol=1e-5)


def test_only_the_lower_triangle_is_read():
    S = symmetric()
    spoiled = np.tril(S) + np.triu(np.full(S.shape, 99.0), 1)
    assert np.allclose(eigh(spoiled)[0], eigh(S)[0])


def test_equal_matrices_are_decomposed_once_within_the_block(decompositions):
    S = symmetric()
    expected = np.linalg.eigvalsh(S)
    with shared_work():
        first = eigh(S)
        for same in (S, S.copy(), np.asfortranarray(S)):
            again = eigh(same)
            assert np.array_equal(again[0], first[0])
            assert np.array_equal(again[1], first[1])
        assert len(decompositions) == 1
        assert np.allclose(eigh(3 * S)[0], 3 * expected)
        assert len(decompositions) == 2
    eigh(S)
    assert len(decompositions) == 3


def test_a_matrix_in_units_of_a_power_of_two_is_not_decomposed_again(decompositions):
    S = symmetric()
    with shared_work():
        values, vectors = eigh(S)
        larger, same = eigh(2.0**70 * S)
    assert len(decompositions) == 1
    assert np.array_equal(larger, 2.0**70 * values)
    assert np.array_equal(same, vectors)


@pytest.mark.parametrize(("lasting", "expected"), [(True, 1), (False, 2)])
def test_a_lasting_block_leaves_its_results_to_later_ones(decompositions, lasting, expected):
    for _ in range(2):
        with shared_work(lasting=lasting):
            eigh(symmetric())
    assert len(decompositions) == expected
    forget_lasting()
    with shared_work(lasting=lasting):
        eigh(symmetric())
    assert len(decompositions) == expected + 1
    forget_lasting()


def test_lasting_results_take_limited_memory(decompositions, monkeypatch):
    monkeypatch.setattr(shared, "_LASTING_BYTES", 2 * 8 * (20 * 20 + 20))  # those of two matrices
    for seed in (0, 1, 0, 2, 0, 1):
        with shared_work(lasting=True):
            eigh(symmetric(seed=seed))
    assert len(decompositions) == 4  # of the three, the one used least recently is dropped
    forget_lasting()


def test_without_the_block_nothing_is_kept(decompositions):
    eigh(symmetric())
    eigh(symmetric())
    assert len(decompositions) == 2


def test_a_matrix_changed_in_place_is_decomposed_anew(decompositions):
    S = symmetric()
    with shared_work():
        eigh(S)
        S[0, 0] += 5
        assert np.allclose(eigh(S)[0], np.linalg.eigvalsh(S))
    assert len(decompositions) == 2


def test_shared_results_cannot_be_spoiled():
    S = symmetric()
    with shared_work():
        for array in eigh(S):
            with pytest.raises(ValueError, match="read-only"):
                array[0] = 0
    assert eigh(S)[0].flags.writeable


def test_blocks_nest_and_end_with_the_outer_one(decompositions):
    S = symmetric()
    with shared_work():
        with shared_work():
            eigh(S)
        eigh(S)
        assert len(decompositions) == 1
    eigh(S)
    assert len(decompositions) == 2


def test_an_error_inside_ends_the_block(decompositions):
    def work():
        with shared_work():
            eigh(symmetric())
            raise RuntimeError("oh")

    with pytest.raises(RuntimeError, match="oh"):
        work()
    eigh(symmetric())
    assert len(decompositions) == 2


def test_only_the_last_few_are_kept(decompositions):
    many = [symmetric(seed=seed) for seed in range(20)]
    with shared_work():
        for S in many:
            eigh(S)
        eigh(many[-1])
        assert len(decompositions) == 20
        assert len(shared._memo.stores["eigh"]) <= shared._KEPT
        eigh(many[0])
    assert len(decompositions) == 21


def test_the_most_recently_used_are_kept(decompositions):
    often, *others = [symmetric(seed=seed) for seed in range(10)]
    with shared_work():
        for S in others:
            eigh(often)
            eigh(S)
    assert len(decompositions) == 10


def test_another_thread_does_not_share(decompositions):
    S = symmetric()
    with shared_work():
        eigh(S)
        other = threading.Thread(target=eigh, args=(S,))
        other.start()
        other.join()
    assert len(decompositions) == 2


def test_estimators_share_one_decomposition(decompositions):
    S = symmetric()
    with shared_work():
        flip = SpectrumModifier("flip").fit_transform(S)
        SpectrumModifier("clip").fit_transform(S)
        PseudoEuclideanEmbedding().fit(S)
    assert len(decompositions) == 1
    assert np.array_equal(flip, SpectrumModifier("flip").fit_transform(S))


def test_cut_zeros():
    values = np.array([-2.0, -1e-10, -1e-12, 0.0, 2e-10, 3e-10, 2.0])
    # The limit is 1e-10 times the largest in size, and belongs to the zeros.
    assert cut_zeros(values).tolist() == [-2.0, 0.0, 0.0, 0.0, 0.0, 3e-10, 2.0]
    assert cut_zeros(values, tol=0.0).tolist() == values.tolist()
    assert cut_zeros(np.array([])).tolist() == []
    assert cut_zeros(np.zeros(3)).tolist() == [0.0, 0.0, 0.0]
    assert cut_zeros(1e-200 * values).tolist() == (1e-200 * cut_zeros(values)).tolist()


@pytest.mark.parametrize("scale", [1e-200, 1.0, 1e200])
@pytest.mark.parametrize("lowest", [-1e-3, 0.0, 1e-3])
def test_whether_a_matrix_is_semidefinite(lowest, scale):
    rng = np.random.default_rng(0)
    V = np.linalg.qr(rng.normal(size=(30, 30)))[0]
    values = np.r_[lowest, np.zeros(9), rng.uniform(0.1, 1, 20)]  # of rank 20 or 21
    S = (V * values) @ V.T
    assert is_semidefinite(scale * (S + S.T) / 2) == (lowest >= 0)


def test_constant_matrices_are_semidefinite_unless_they_are_negative():
    assert [is_semidefinite(np.full((5, 5), value)) for value in (0.0, 2.0, -1.0)] == [True, True, False]


def test_negative_eigenfraction():
    assert negative_eigenfraction(np.array([-1.0, 0.0, 3.0])) == 0.25
    assert negative_eigenfraction(np.array([1.0, 2.0])) == 0.0
    assert negative_eigenfraction(np.array([-1.0, -2.0])) == 1.0
    assert negative_eigenfraction(np.zeros(4)) == 0.0


def test_negative_eigenfraction_near_the_largest_float():
    assert negative_eigenfraction(np.array([-1e308, 1e308, 1e308])) == pytest.approx(1 / 3)
