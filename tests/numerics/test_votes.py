import numpy as np
import pytest
from sklearn.utils.multiclass import _ovr_decision_function

from similitude.numerics.votes import (
    expected_costs,
    first_of_best,
    neighbor_votes,
    one_vs_one,
    posterior_from_votes,
    weighting_votes,
)


def test_running_totals_are_those_of_each_size():
    rng = np.random.default_rng(0)
    labels, weights = rng.integers(0, 4, (6, 9)), rng.normal(size=(6, 9))
    sizes = np.array([1, 4, 9])
    totals = neighbor_votes(labels, np.tile(-np.arange(9.0), (6, 1)), weights, np.zeros((6, 4)), sizes)
    for g, k in enumerate(sizes):
        for row in range(6):
            for c in range(4):
                chosen = labels[row, :k] == c
                assert totals[row, g, c] == pytest.approx(weights[row, :k][chosen].sum(), abs=1e-14)


def test_samples_that_tie_for_the_last_places_share_them():
    labels, similarities = np.array([[2, 0, 1, 1]]), np.array([[9.0, 7.0, 7.0, 7.0]])
    beyond = np.array([[3.0, 0.0, 0.0]])  # three more of class 0 have the similarity 7
    totals = neighbor_votes(labels, similarities, np.array([[0.5, 0.25, 0.25, 0.25]]), beyond, [1, 2, 4])
    assert totals[0].tolist() == [[0, 0, 0.5], pytest.approx([1 / 6, 1 / 12, 0.5]), pytest.approx([0.5, 0.25, 0.5])]


def _winner(scores, labels, similarities, size, class_sizes=(1, 1, 1)):
    labels, scores = np.array([labels]), np.array([[scores]])
    counts = np.array([[[labels[0, :size].tolist().count(c) for c in range(scores.shape[2])]]])
    given = np.array([similarities]), counts, [size], np.array(class_sizes[: scores.shape[2]])
    return first_of_best(scores, labels, *given)[0, 0]


def test_tied_classes():
    labels, similarities = [2, 0, 1, 1, 0], [5.0, 4.0, 3.0, 2.0, 1.0]
    assert _winner([2.0, 2.0, 1.0], labels, similarities, 5) == 0
    assert _winner([2.0 - 1e-13, 2.0, 1.0], labels, similarities, 5) == 0
    assert _winner([2.0 - 1e-11, 2.0, 1.0], labels, similarities, 5) == 1
    # The nearest neighbours of both classes are equally similar: the larger class, then the first one.
    assert _winner([2.0, 2.0, 1.0], labels, [5.0, 4.0, 4.0, 2.0, 1.0], 5, (3, 4, 9)) == 1
    assert _winner([2.0, 2.0, 1.0], [2, 1, 0, 0, 1], [5.0, 4.0, 4.0, 2.0, 1.0], 5) == 0


def test_a_class_at_minus_infinity_never_wins_and_negative_scores_can():
    assert _winner([-np.inf, -3.0], [1, 1], [2.0, 1.0], 2) == 1
    # Two tied classes, neither among the neighbours: the lower one.
    assert _winner([0.0, -1.0, 0.0], [1, 1], [2.0, 1.0], 2) == 0


def test_posterior_cuts_negative_sums_and_falls_back_to_the_classes_present():
    totals = np.array([[2.0, -1.0, 2.0], [-1.0, -2.0, 0.0], [0.0, 0.0, 0.0]])
    present = np.array([[1, 1, 1], [1, 1, 0], [0, 0, 1]])
    assert posterior_from_votes(totals, present).tolist() == [[0.5, 0, 0.5], [0.5, 0.5, 0], [0, 0, 1]]


def test_expected_costs():
    costs = np.array([[0.0, 10.0], [1.0, 0.0]])
    assert expected_costs(np.array([0.8, 0.2]), costs).tolist() == pytest.approx([2.0, 0.8])


def test_several_weightings_of_the_first_neighbours():
    labels = np.array([[0, 1, 1, 2], [2, 2, 0, 1]])
    weights = np.array([[[0.5, 0.25, 0.25], [1.0, -1.0, 2.0]], [[1.0, 2.0, 3.0], [0.0, 0.0, 0.0]]])
    expected = [[[0.5, 0.5, 0.0], [1.0, 1.0, 0.0]], [[3.0, 0.0, 3.0], [0.0, 0.0, 0.0]]]
    assert weighting_votes(labels, weights, 3).tolist() == expected


def test_one_vs_one_is_a_majority_with_ties_to_the_first_class():
    # pairs (0, 1), (0, 2), (1, 2); a value of 0 is a vote for the later class
    decisions = np.array([[-1.0, -1.0, 5.0], [0.0, 0.0, -1.0], [1.0, -9.0, 1.0], [-1.0, 2.0, -3.0]])
    scores = one_vs_one(decisions, 3)
    assert np.argmax(scores, axis=1).tolist() == [0, 1, 0, 0]
    votes = np.array([[2, 0, 1], [0, 2, 1], [1, 1, 1], [1, 1, 1]])
    untied = votes.max(axis=1) > 1
    assert np.all(np.abs(scores - votes)[untied] < 1 / 3)
    assert one_vs_one(np.array([[0.5], [-0.5]]), 2).argmax(axis=1).tolist() == [1, 0]


def test_one_vs_one_with_ties_to_the_largest_sum_is_that_of_scikit_learn():
    rng = np.random.default_rng(0)
    differ = 0
    for n_classes in (3, 4, 6):
        pairs = n_classes * (n_classes - 1) // 2
        for decisions in (rng.integers(-2, 3, (40, pairs)) / 2, rng.normal(size=(40, pairs))):
            scores = one_vs_one(decisions, n_classes, later=decisions > 0, ties="sums")
            assert np.array_equal(scores, _ovr_decision_function(decisions > 0, decisions, n_classes))
            differ += np.sum(scores.argmax(axis=1) != one_vs_one(decisions, n_classes).argmax(axis=1))
    assert differ > 10
