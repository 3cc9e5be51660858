"""Which rows give evidence: against the definition as a loop, for all kinds of matrices."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse

from similitude import KNNClassifier, Proximities
from similitude.proximity import gives_evidence
from similitude.reader import Contract, Samples


def by_definition(rows):
    """Whether the values of each row, in which unknown is None, are not all the same."""
    return np.array([len({None if np.isnan(value) else float(value) for value in row}) > 1 for row in rows])


def matrix(seed=0, unknown=False):
    """Rows of which many are constant, zero, or partly or wholly unknown."""
    rng = np.random.default_rng(seed)
    values = rng.integers(-1, 2, size=(60, 4)).astype(float)
    values[::3] = values[::3, :1]
    values[::5] = 0.0
    if unknown:
        values[rng.random(values.shape) < 0.3] = np.nan
        values[1::6] = np.nan
    return values


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("unknown", [False, True])
def test_dense_rows_are_the_definition(unknown, dtype):
    values = matrix(unknown=unknown).astype(dtype)
    expected = by_definition(values)
    assert 10 < expected.sum() < 50
    assert_array_equal(gives_evidence(values), expected)
    assert_array_equal(gives_evidence(np.asfortranarray(values)), expected)
    assert_array_equal(gives_evidence(2.0**20 * values), expected)


@pytest.mark.parametrize("kind", [sparse.csr_array, sparse.csr_matrix])
def test_sparse_rows_are_the_definition(kind):
    values = matrix()
    expected = by_definition(values)
    S = kind(values)
    assert_array_equal(gives_evidence(S), expected)
    explicit = kind(np.where(values == 0, 7.0, values))
    explicit.data[explicit.data == 7] = 0.0  # zeros that are stored
    assert_array_equal(gives_evidence(explicit), expected)
    rows, columns = values.nonzero()
    halves = np.repeat(values[rows, columns] / 2, 2), (np.repeat(rows, 2), np.repeat(columns, 2))
    twice = kind(sparse.coo_array(halves, shape=values.shape))
    order = np.concatenate([np.arange(a, b)[::-1] for a, b in zip(S.indptr, S.indptr[1:])])
    unsorted = kind((S.data[order], S.indices[order], S.indptr), shape=S.shape)
    spare = kind((np.append(S.data, 9.0), np.append(S.indices, 0), S.indptr), shape=S.shape)  # room for one more
    for other in (twice, unsorted, spare, S.tocoo()):
        assert_array_equal(gives_evidence(other), expected)


def test_absent_entries_that_are_unknown():
    values = matrix(unknown=True)
    known = ~np.isnan(values)
    S = sparse.csr_array((values[known], np.nonzero(known)), shape=values.shape)
    assert_array_equal(gives_evidence(S, absent_is_zero=False), by_definition(values))


def test_the_callers_matrix_is_not_changed():
    S = sparse.csr_array((np.ones(3), np.array([1, 0, 0]), np.array([0, 2, 3])), shape=(2, 2))
    before = S.data.copy(), S.indices.copy(), vars(S).copy()
    gives_evidence(S)
    assert_array_equal(S.data, before[0])
    assert_array_equal(S.indices, before[1])
    assert "_has_canonical_format" not in set(vars(S)) - set(before[2])


def test_rows_of_a_fold_and_of_a_fitted_reader():
    """Native values count, so that a map that makes far ones equal makes no difference; features are evidence."""
    D = np.array([[0.0, 1e3, 2e3, 5.0], [1e3, 0.0, 3e3, 5.0], [2e3, 3e3, 0.0, 5.0], [5.0, 5.0, 5.0, 0.0]])
    train, test = np.array([0, 1]), np.array([2, 3])
    for contract in (Contract("precomputed", "gauss:0.001"), Contract("precomputed", "double-centring")):
        samples = Samples(contract, D, np.arange(4), warns=False)
        assert_array_equal(samples.evidence(train, test), [True, False])
        assert_array_equal(samples.fold(train, test)[1].evidence, [True, False])
        reader = Samples(contract, D[np.ix_(train, train)]).whole().only.reader
        assert_array_equal(reader.rows(D[np.ix_(test, train)]).evidence, [True, False])
    with_features = Proximities(D, features=np.eye(4))
    samples = Samples(Contract("precomputed", "gauss"), with_features, np.arange(4), warns=False)
    assert samples.evidence(train, test).all()
    assert samples.fold(train, test)[1].evidence.all()


@pytest.mark.parametrize("absent", ["zero", "farthest", "unknown"])
def test_what_absent_entries_mean(absent):
    """A stored 0 is the value of absent similarities, unless these are unknown; it is never that of far distances."""
    S = sparse.csr_array((np.array([1.0, 0.0]), (np.array([0, 1]), np.array([0, 0]))), shape=(3, 2))
    square = sparse.csr_array(np.array([[0.0, 0.5], [0.5, 0.0]]))
    for map_name in (None,) if absent == "zero" else (None, "gauss"):
        samples = Samples(Contract("precomputed", map_name), Proximities(square, absent=absent), warns=False)
        reader = samples.whole().only.reader
        stored = absent == "unknown" or (absent == "farthest" and map_name is not None)
        assert_array_equal(reader.rows(Proximities(S, absent=absent)).evidence, [True, stored, False])


def test_several_similarities_and_raw_objects():
    first, second = np.zeros((4, 4)), np.zeros((4, 4))
    first[2, 0] = second[3, 1] = 1.0
    train, test = np.array([0, 1]), np.array([2, 3])
    samples = Samples(Contract(takes_several=True), {"a": first, "b": second}, np.arange(4), warns=False)
    assert_array_equal(samples.evidence(train, test), [True, True])
    assert_array_equal(samples.parts["a"].evidence(train, test), [True, False])
    assert_array_equal(samples.fold(train, test)[1].evidence, [True, True])
    words = np.array([["a"], ["b"], ["c"], ["a"]], dtype=object)
    for similarity in ("counting", "vdm"):  # the latter learns from the training part
        samples = Samples(Contract(similarity), words, np.arange(4) % 2)
        assert_array_equal(samples.evidence(train, test), [False, True])


def test_only_some_columns_cannot_show_that_there_is_no_evidence():
    model = KNNClassifier(1).fit(np.eye(3), [0, 1, 1])
    rows = model._reader.rows(np.ones((1, 2)), support=np.array([0, 1]))
    assert rows.evidence.all()
    assert not model._reader.rows(np.ones((1, 3))).evidence.any()
