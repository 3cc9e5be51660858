"""Partitions, and the papers' way of choosing parameters."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.model_selection import KFold, LeaveOneOut, ParameterGrid, cross_val_predict

from similitude import KNNClassifier, SimilaritySVC
from similitude.experiments import Protocol, run
from similitude.experiments.selection import fewest_errors, pooled_errors, pooled_search, written_order
from tests.experiments.small import matrix

pytestmark = pytest.mark.filterwarnings("ignore::similitude.SimilarityWarning")

Y = np.array([0] * 12 + [1] * 8)


class TestCuts:
    @pytest.mark.parametrize("stratified", [False, True])
    def test_random_partitions(self, stratified):
        cuts = Protocol.partitions(6, test_size=0.25, stratified=stratified, seed=3).cuts(Y)
        assert [cut.number for cut in cuts] == list(range(6))
        assert [cut.seed for cut in cuts] == list(range(3, 9))
        for cut in cuts:
            assert sorted([*cut.train, *cut.test]) == list(range(20))
            assert len(cut.test) == 5
            if stratified:
                assert Y[cut.test].sum() == 2
        assert len({tuple(cut.test) for cut in cuts}) == 6

    def test_more_partitions_begin_with_the_same(self):
        few, many = (Protocol.partitions(n).cuts(Y) for n in (2, 5))
        assert all(np.array_equal(a.test, b.test) for a, b in zip(few, many))

    def test_repeated_folds(self):
        cuts = Protocol.folds(4, repeats=3).cuts(Y)
        assert len(cuts) == 12
        for repeat in range(3):
            own = cuts[4 * repeat : 4 * repeat + 4]
            assert sorted(np.concatenate([cut.test for cut in own])) == list(range(20))
            assert {cut.seed for cut in own} == {repeat}
            assert all(Y[cut.test].sum() == 2 for cut in own)
        assert not np.array_equal(cuts[0].test, cuts[4].test)

    def test_leave_one_out(self):
        cuts = Protocol.leave_one_out().cuts(Y)
        assert [cut.test.tolist() for cut in cuts] == [[i] for i in range(20)]

    def test_given_splits(self):
        splits = [([0, 1, 2], [3]), ([5, 6], [0, 7])]
        cuts = Protocol.given().cuts(Y, splits)
        assert [(cut.train.tolist(), cut.test.tolist()) for cut in cuts] == splits
        assert len(Protocol.given(1).cuts(Y, splits)) == 1

    @pytest.mark.parametrize("stratified", [False, True])
    def test_random_splits_within_a_training_part(self, stratified):
        protocol = Protocol.given(inner=30, inner_test_size=0.25, inner_stratified=stratified)
        held_out = [Y[test].sum() for _, test in protocol.inner_folds(0).split(Y, Y)]
        assert len(held_out) == 30
        assert (set(held_out) == {2}) == stratified
        assert "parameters by 30 random splits, 0.25 held out, within" in str(protocol)
        assert protocol.within != Protocol.given(inner=30, inner_stratified=stratified).within

    @pytest.mark.parametrize("splits", [None, [([0], [0])], [([0], [20])], [([0], [])], [([0.5], [1])]])
    def test_bad_splits(self, splits):
        with pytest.raises(ValueError, match="splits"):
            Protocol.given().cuts(Y, splits)

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"kind": "bootstrap"}, "kind must be one of"),
            ({"n_partitions": 0}, "n_partitions must be an integer of at least 1"),
            ({"n_partitions": True}, "n_partitions must be"),
            ({"test_size": 1.5}, "test_size must be a share"),
            ({"test_size": 0}, "test_size must be a share"),
            ({"n_folds": 1}, "n_folds must be"),
            ({"inner": 1}, "inner must be an integer of at least 2 or 'leave-one-out'"),
            ({"selection": "luck"}, "selection must be one of"),
            ({"ties": "middle"}, "ties must be one of"),
            ({"seed": -1}, "seed must be"),
            ({"inner_test_size": 0.0}, "inner_test_size must be a share"),
            ({"inner_test_size": 0.1, "inner": "leave-one-out"}, "inner_test_size is for random splits"),
        ],
    )
    def test_bad_arguments(self, options, message):
        with pytest.raises(ValueError, match=message):
            Protocol(**options)


class TestSelection:
    @given(st.data())
    @settings(max_examples=30)
    def test_the_order_is_that_of_nested_loops_as_written(self, draw):
        names = draw.draw(st.lists(st.sampled_from("abcdef"), max_size=4, unique=True))
        grid = {name: list(range(draw.draw(st.integers(1, 3)))) for name in names}
        keys = written_order(grid)
        points = list(ParameterGrid(grid))
        assert len(keys) == len(points)
        ordered = [points[i] for i in sorted(range(len(points)), key=keys.__getitem__)]
        assert ordered == sorted(points, key=lambda point: [point[name] for name in names])

    def test_a_list_of_grids(self):
        keys = written_order([{"b": [1, 2], "a": [1]}, {"c": [0]}])
        assert keys == [(0, 0, 0), (0, 1, 0), (1, 0)]

    @pytest.mark.parametrize(("ties", "chosen"), [("first", {"b": 0, "a": 1}), ("last", {"b": 1, "a": 1})])
    def test_ties(self, ties, chosen):
        grid = {"b": [0, 1], "a": [0, 1]}
        points = list(ParameterGrid(grid))
        errors = {(0, 0): 3, (0, 1): 2, (1, 0): 2, (1, 1): 2}  # b, a
        hits = np.array([5 - errors[point["b"], point["a"]] for point in points])
        results = {"split0_test_score": np.minimum(hits, 2) / 2, "split1_test_score": (hits - np.minimum(hits, 2)) / 3}
        assert pooled_errors(results, [2, 3]).tolist() == [errors[p["b"], p["a"]] for p in points]
        assert points[fewest_errors(grid, [2, 3], ties)(results)] == chosen

    def test_errors_are_pooled(self):
        S, y = matrix(1, 43)
        folds = KFold(10, shuffle=True, random_state=0)
        costs = [0.01, 1.0, 10.0]
        search = pooled_search(SimilaritySVC(), {"C": costs}, S, y, folds)
        errors = [np.sum(cross_val_predict(SimilaritySVC(C), S, y, cv=folds) != y) for C in costs]
        assert search.fewest_errors_ == min(errors)
        assert search.best_params_ == {"C": costs[int(np.argmin(errors))]}
        assert search.best_params_["C"] == search.best_estimator_.C

    def test_folds_of_unequal_size_count_by_their_size(self):
        """Mean accuracy and pooled errors choose differently: one error in a fold of one is one error in five."""
        results = {"split0_test_score": np.array([0.0, 1.0]), "split1_test_score": np.array([1.0, 0.5])}
        assert fewest_errors({"a": [0, 1]}, [1, 4])(results) == 0
        assert np.mean(list(results.values()), axis=0).argmax() == 1


def test_the_least_leave_one_out_error():
    S, y = matrix(2)
    ks = [1, 3, 5, 9]
    results = run(Protocol.leave_one_out(nested=False), {"a": (S, y)}, {"k": (KNNClassifier(), {"n_neighbors": ks})})
    (row,) = results.rows
    errors = [np.sum(cross_val_predict(KNNClassifier(k), S, y, cv=LeaveOneOut()) != y) for k in ks]
    assert row.n_errors == min(errors)
    assert row.n_test == 40
    assert row.parameters == f'{{"n_neighbors": {ks[int(np.argmin(errors))]}}}'


def test_nested_leave_one_out():
    S, y = matrix(2, 12)
    results = run(Protocol.leave_one_out(inner=3), {"a": (S, y)}, {"1-NN": (KNNClassifier(1), {})})
    assert len(results.rows) == 12
    direct = cross_val_predict(KNNClassifier(1), S, y, cv=LeaveOneOut()) != y
    assert [row.n_errors for row in results.rows] == direct.astype(int).tolist()
