"""The columns of answers for many classes: against loops over rows, and against answers for all classes."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from similitude import AutoClassifier, Proximities
from similitude.numerics import class_columns as module
from similitude.numerics.class_columns import ClassColumns, class_columns
from similitude.numerics.temperature import fit_temperatures, softmax


def hits(n=240, n_classes=40, seed=0):
    """Return hits of samples to samples of their class and of the next one, some without any, and the classes."""
    rng = np.random.default_rng(seed)
    codes = rng.permutation(np.arange(n) % n_classes)
    near = np.abs(codes[:, None] - codes) <= rng.integers(0, 3, (n, n))
    S = np.where(near, rng.uniform(1, 40, (n, n)) - 6.0 * (codes[:, None] != codes), 0.0)
    S = np.maximum(S, S.T)
    alone = rng.permutation(n)[:12]
    S[alone], S[:, alone] = 0.0, 0.0
    return np.maximum(S, 0.0) + np.diag(np.full(n, 60.0)), codes


@pytest.fixture
def few(monkeypatch):
    """Let there be columns for a few classes only, for any number of samples."""
    monkeypatch.setattr(module, "LARGEST", 10)


@pytest.mark.parametrize("smaller", [False, True])
@pytest.mark.parametrize("is_sparse", [False, True])
def test_nearest_classes_come_first_and_then_large_ones(few, monkeypatch, is_sparse, smaller):
    monkeypatch.setattr(module, "_BLOCK", 3000)
    S, codes = hits()
    D = np.where(S > 0, 100 - S, np.nan) if smaller else S
    given = sparse.csr_matrix(np.nan_to_num(D)) if is_sparse else D
    if is_sparse and not smaller:
        given.eliminate_zeros()
    if not is_sparse and not smaller:
        given = np.where(S > 0, S, np.nan)
    found = class_columns(given, codes, 40, smaller=smaller)
    sizes = np.bincount(codes, minlength=40)
    for i, own in enumerate(found.own):
        nearest = {}
        for j in np.flatnonzero(S[i] > 0):
            if j != i:
                nearest[codes[j]] = max(nearest.get(codes[j], 0.0), S[i, j])
        order = sorted(nearest, key=lambda g: (-nearest[g], -sizes[g], g))
        order += sorted(set(range(40)) - set(order), key=lambda g: (-sizes[g], g))
        assert own.tolist() == sorted(order[: module.KEPT], key=lambda g: (-sizes[g], g))


def test_values_of_other_classes_are_their_mean():
    values = np.array([[5.0, 1.0, 2.0, 3.0], [0.5, 0.25, 0.0, -np.inf], [0.0, -np.inf, 1.0, -np.inf]])
    columns = ClassColumns(4, np.array([[0, 2], [1, 0], [2, 0]]))
    taken = columns.taken(values)
    assert_array_equal(taken, [[5.0, 2.0, 2.0], [0.25, 0.5, 0.0], [1.0, 0.0, -np.inf]])
    assert_array_equal(columns.all(taken)[0], [5.0, 2.0, 2.0, 2.0])
    assert_array_equal(columns.codes(np.array([3, 0, 2])), [2, 1, 0])


def test_temperatures_are_those_of_all_classes():
    """A column that stands for several classes of the same value counts as often."""
    rng = np.random.default_rng(0)
    n, n_classes = 60, 9
    own = np.array([rng.permutation(n_classes)[:3] for _ in range(n)])
    columns = ClassColumns(n_classes, own)
    kept = rng.normal(size=(1, n, 4))
    codes = rng.integers(n_classes, size=n)
    a, _ = fit_temperatures(columns.all(kept), codes, np.ones((1, n)))
    b, _ = fit_temperatures(kept, columns.codes(codes), np.ones((1, n)), columns.counts)
    assert_allclose(a, b, rtol=1e-9)
    assert_allclose(columns.all(softmax(kept, columns.counts)), softmax(columns.all(kept)), rtol=1e-12)


METHODS = ["k-NN", "affinity k-NN", "KRR k-NN", "SVM-KNN"]


def test_local_methods_answer_as_with_all_classes(monkeypatch):
    """Classes without a neighbour have the same value, so that nothing is lost by keeping one for all of them."""
    S, codes = hits()
    y = np.array([f"class {g}" for g in range(40)])[codes]
    whole = AutoClassifier(METHODS, n_repeats=1).fit(S, y)
    monkeypatch.setattr(module, "LARGEST", 10)
    found = AutoClassifier(METHODS, n_repeats=1).fit(S, y)
    assert found.out_of_fold_.columns.number == module.KEPT + 1
    assert [row.method for row in found.leaderboard_] == [row.method for row in whole.leaderboard_]
    for own, row in zip(found.leaderboard_, whole.leaderboard_):
        assert own.error == pytest.approx(row.error, abs=1e-9)
        assert own.loss == pytest.approx(row.loss, abs=1e-3)
    alone = np.count_nonzero(S, axis=1) == 1
    assert_array_equal(found.out_of_fold_.labels[~alone], whole.out_of_fold_.labels[~alone])
    assert_allclose(found.out_of_fold_.proba[~alone], whole.out_of_fold_.proba[~alone], atol=1e-5)
    assert_allclose(found.out_of_fold_.proba.sum(axis=1), 1, atol=1e-5)
    assert_allclose(found.predict_proba(S), whole.predict_proba(S), atol=1e-5)
    assert_allclose(found.typicality(S), whole.typicality(S))
    assert found.coverage(0.6).coverage == pytest.approx(whole.coverage(0.6).coverage, abs=0.03)


def test_sparse_and_dense_forms_give_the_same(few):
    S, codes = hits()
    dense = AutoClassifier(METHODS, n_repeats=1).fit(S, codes)
    stored = AutoClassifier(METHODS, n_repeats=1).fit(sparse.csr_matrix(S), codes)
    assert_array_equal(dense.out_of_fold_.columns.own, stored.out_of_fold_.columns.own)
    assert_allclose(dense.out_of_fold_.proba, stored.out_of_fold_.proba, atol=1e-6)
    assert_allclose(dense.predict_proba(S), stored.predict_proba(sparse.csr_matrix(S)), atol=1e-6)


def test_unknown_pairs(few):
    S, codes = hits()
    known = sparse.csr_matrix(S)
    model = AutoClassifier(["k-NN"], n_repeats=1).fit(Proximities(known, absent="unknown"), codes)
    gaps = AutoClassifier(["k-NN"], n_repeats=1).fit(np.where(S > 0, S, np.nan), codes)
    assert_allclose(model.out_of_fold_.proba, gaps.out_of_fold_.proba, atol=1e-6)
