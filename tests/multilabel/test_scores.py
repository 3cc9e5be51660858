"""The methods whose scores are linear in the labels."""

import numpy as np
import pytest
from scipy import sparse

from similitude.kernel.kernel_ridge import RidgePoint, RidgeProblem
from similitude.multilabel.left_out import fit_all, greedy_weights
from similitude.multilabel.scores import METHODS, points_of
from similitude.multilabel.targets import Targets, read_targets
from similitude.reader import Contract, Samples
from tests.reference.votes_for_labels import label_votes


def _problem(seed=0, n=40, m=15, L=4):
    rng = np.random.RandomState(seed)
    X = np.round(rng.randn(n + m, 2), 1)  # with ties
    S = np.round(np.exp(-((X[:, None] - X[None]) ** 2).sum(-1)), 2)
    Y = (rng.rand(n + m, L) < 0.3).astype(float)
    return S, Y, np.arange(n), np.arange(n, n + m)


def _scores(S, targets, train, test, points):
    training, rows = Samples(Contract(takes_several=True), S, None, warns=False).fold(train, test)
    fitted = fit_all(training, targets.take(train), points, 0)
    return dict(zip(points, (own.toarray() for own in fitted["S"].scores(rows.parts["S"]))))


def test_votes_are_those_of_the_slow_derivation_whatever_the_form():
    S, Y, train, test = _problem()
    S[S < 0.05] = 0
    points, _ = points_of(["k-NN", "affinity k-NN"], len(train), ["S"])
    dense = _scores(S, read_targets(Y, len(Y)), train, test, points)
    stored = _scores(sparse.csr_matrix(S), read_targets(sparse.csr_matrix(Y), len(Y)), train, test, points)
    block = S[np.ix_(test, train)]
    for point in points:
        expected = label_votes(block, Y[train], point.k, point.method == "affinity k-NN")
        assert np.allclose(dense[point], expected, atol=1e-6)
        enough = (block > 0).sum(axis=1) >= point.k  # of a sparse matrix, only samples with an entry vote
        assert np.allclose(stored[point][enough], expected[enough], atol=1e-6)


def test_the_order_of_training_samples_and_the_unit_change_no_score():
    S, Y, train, test = _problem(1)
    points, left_out = points_of("all", len(train), ["S"])
    assert {point.method for point in points} == set(METHODS)
    assert not left_out
    targets = read_targets(Y, len(Y))
    first = _scores(S, targets, train, test, points)
    order = np.random.RandomState(2).permutation(len(train))
    second = _scores(1000 * S, targets, train[order], test, points)
    for point in points:
        assert np.allclose(first[point], second[point], atol=2e-5), point


def test_the_ridge_is_fitted_to_the_labels_that_are_known():
    S, Y, train, test = _problem(3, n=60)
    rng = np.random.RandomState(0)
    known = rng.rand(*Y.shape) < 0.7
    targets = Targets(sparse.csr_matrix(Y * known), np.arange(4), sparse.csr_matrix(known.astype(float)))
    (point,) = [p for p in points_of(["kernel ridge (clip)"], 60, ["S"])[0] if p.reg == 1.0]
    found = _scores(S, targets, train, test, [point])[point]
    training, _ = Samples(Contract(takes_several=True), S, None, warns=False).fold(train, test)
    for label in range(4):
        own = train[known[train, label]]
        fit = RidgeProblem(S[np.ix_(own, own)]).solve(
            Y[own, label][:, None], RidgePoint(training.parts["S"].scale * point.reg, "clip")
        )
        expected = np.clip(S[np.ix_(test, own)] @ fit.coef[:, 0] + fit.intercept[0], 0, 1)
        zeros = RidgeProblem(S[np.ix_(train, train)]).solve(
            (Y * known)[train, label][:, None], RidgePoint(training.parts["S"].scale * point.reg, "clip")
        )
        naive = np.clip(S[np.ix_(test, train)] @ zeros.coef[:, 0] + zeros.intercept[0], 0, 1)
        assert np.abs(found[:, label] - expected).max() < 0.02 < np.abs(naive - expected).max()


def test_weights_have_least_squares():
    rng = np.random.RandomState(0)
    truth = (rng.rand(500) < 0.3).astype(float)
    V = np.stack([truth + rng.randn(500) * s for s in (0.3, 0.3, 2.0)], axis=1)
    weights = greedy_weights(V.T @ V, truth @ V)
    assert np.allclose(weights, [0.5, 0.5, 0.0], atol=0.1)


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([["a"], "b"], r"got 'b' for one of them"),
        (np.array([[0, 2], [1, 0]]), r"must hold 0 and 1 .* got 2"),
        (np.array([[np.nan, 1], [np.nan, 0]]), r"target 0 is measured for no sample"),
        ([set(), set()], r"no sample has a label"),
        ([{"a"}], r"got 1 for 2 samples"),
        ([{"a"}, {1}], r"of one type"),
        (np.array([["a", "b"], ["c", "d"]]), r"must hold 0, 1 and NaN"),
    ],
)
def test_labels_that_cannot_be_read_are_refused(y, message):
    with pytest.raises(ValueError, match=message):
        read_targets(y, 2)
