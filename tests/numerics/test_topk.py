import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import sparse

from similitude.numerics import topk
from similitude.numerics.shared import shared_work
from similitude.numerics.topk import top_k
from tests.reference.neighbors import neighbors

tied_values = st.sampled_from([-np.inf, -1e300, -2.0, -0.0, 0.0, 5e-324, 1.0, 1.0 + 2**-52, 1e300])


@given(
    arrays(float, st.tuples(st.integers(1, 4), st.integers(1, 30)), elements=st.floats(-3, 3) | tied_values),
    st.integers(1, 40),
)
def test_equals_the_definition(S, k):
    values, indices = top_k(S, k)
    expected = [neighbors(row, k) for row in S]
    assert indices.tolist() == expected
    assert np.array_equal(values, np.take_along_axis(S, indices, axis=1))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("k", [1, 3, 50, 200])
def test_nested_and_stable_on_many_ties(k, dtype):
    S = np.random.default_rng(0).integers(0, 4, (60, 200)).astype(dtype)
    values, indices = top_k(S, k)
    assert values.dtype == dtype
    assert np.array_equal(indices, np.argsort(-S, axis=1, kind="stable")[:, :k])
    assert np.array_equal(top_k(S, 200)[1][:, :k], indices)


def test_blocks_threads_and_sparse_rows_change_nothing(monkeypatch):
    S = np.random.default_rng(0).integers(0, 9, (700, 40)).astype(float)
    S[S < 6] = 0
    expected = np.argsort(-S, axis=1, kind="stable")[:, :7]
    assert np.array_equal(top_k(S, 7)[1], expected)
    assert np.array_equal(top_k(sparse.csr_array(S), 7)[1], expected)
    monkeypatch.setattr(topk, "_BLOCK_BYTES", 8 * 40 * 13)
    for threads in ("1", "2", "5"):
        monkeypatch.setenv("OMP_NUM_THREADS", threads)
        assert np.array_equal(top_k(sparse.csr_matrix(S), 7)[1], expected)


def test_equal_rows_are_sorted_once_within_the_block(monkeypatch):
    S = np.random.default_rng(0).normal(size=(9, 30))
    alone = {k: top_k(S, k) for k in (1, 5, 12, 40)}
    sorted_, select = [], topk._selected
    monkeypatch.setattr(topk, "_selected", lambda S, k: sorted_.append(k) or select(S, k))
    with shared_work():
        for k in (5, 12, 1, 12, 5):
            for found, expected in zip(top_k(S.copy(), k), alone[k]):
                assert np.array_equal(found, expected)
                assert found.flags.c_contiguous
                assert found.flags.writeable
        assert sorted_ == [5, 12]
        assert np.array_equal(top_k(S + 1, 3)[1], alone[5][1][:, :3])
        assert sorted_ == [5, 12, 3]
        assert np.array_equal(top_k(S, 40)[1], alone[40][1])
    top_k(S, 5)
    assert sorted_ == [5, 12, 3, 30, 5]


@given(
    arrays(
        float, st.tuples(st.integers(1, 5), st.integers(1, 20)), elements=st.sampled_from([-2.0, -1.0, 0.0, 1.0, 2.0])
    ),
    st.integers(1, 25),
    st.booleans(),
    st.sampled_from([np.float32, np.float64]),
)
def test_sparse_rows_are_selected_without_being_made_dense(S, k, stores_zeros, dtype):
    hidden = S == -2.0
    stored = ~hidden if stores_zeros else ~hidden & (S != 0)
    thin = sparse.csr_matrix((S[stored].astype(dtype), np.nonzero(stored)), shape=S.shape)
    zeros = np.where(hidden, 0.0, S)
    values, indices = top_k(thin, k)
    assert values.dtype == dtype
    assert indices.tolist() == [neighbors(row, k) for row in zeros]
    assert np.array_equal(values, np.take_along_axis(zeros, indices, axis=1))
    values, indices = top_k(thin, k, known_only=True)
    for row, mask, found, similarities in zip(S, stored, indices, values):
        known = np.flatnonzero(mask)
        expected = known[neighbors(row[known], k)] if len(known) else known
        assert found[: len(expected)].tolist() == expected.tolist()
        assert np.array_equal(similarities[: len(expected)], row[expected])
        assert (found[len(expected) :] == -1).all()
        assert np.isnan(similarities[len(expected) :]).all()
    unknown = np.where(stored, S, np.nan)
    for one, other in zip(top_k(unknown, k, known_only=True), (values, indices)):
        assert np.array_equal(one, other, equal_nan=True)


def test_entries_that_are_stored_twice_are_added_and_the_matrix_is_left_alone():
    thin = sparse.csr_matrix((np.array([1.0, 1.0, 1.5]), np.array([2, 2, 0]), np.array([0, 3])), shape=(1, 4))
    assert top_k(thin, 2)[1].tolist() == [[2, 0]]
    assert thin.nnz == 3


@pytest.mark.parametrize("k", [1, 4, 29, 30])
def test_rows_with_few_positive_entries_get_the_first_zeros(monkeypatch, k):
    S = np.random.default_rng(0).integers(0, 9, (50, 30)).astype(float)
    S[S < 7] = 0
    monkeypatch.setattr(topk, "_SPARSE_BLOCK", 90)
    for found, expected in zip(top_k(sparse.csr_array(S), k), top_k(S, k)):
        assert np.array_equal(found, expected)


@pytest.mark.parametrize("known_only", [False, True])
def test_tied_samples_are_counted_in_columns_as_among_all_classes(known_only):
    rng = np.random.default_rng(0)
    S = sparse.random(40, 60, density=0.2, format="csr", random_state=0)
    S.data = rng.integers(0, 3, len(S.data)).astype(float)
    codes, values = rng.integers(0, 12, 60), rng.integers(0, 3, 40).astype(float)
    own = np.argsort(rng.random((40, 12)), axis=1)[:, :5]
    own[rng.random((40, 5)) < 0.2] = -1
    found = topk.tied_counts_in(S, values, codes, own, known_only=known_only)
    for classes, counts, row in zip(own, topk.tied_counts(S, values, codes, 12, known_only=known_only), found):
        shown = [counts[g] if g >= 0 else 0 for g in classes]
        assert row.tolist() == [*shown, counts.sum() - sum(shown)]
