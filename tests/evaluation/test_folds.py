"""Folds for classes of any size, with groups and repetitions."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from sklearn.model_selection import GroupKFold, KFold, LeaveOneOut, ShuffleSplit, StratifiedKFold

from similitude.evaluation import folds as module
from similitude.evaluation.folds import check_groups, repeated_folds, stratified_folds

RNG = np.random.default_rng(0)
SMALL = RNG.permutation(np.repeat(np.arange(47), RNG.integers(2, 11, 47)))
"""47 classes of 2 to 10 samples."""


def check_partition(folds, n, tested):
    """Every sample of ``tested`` is tested once, and the training part is everything else."""
    assert_array_equal(np.sort(np.concatenate([test for _, test in folds])), tested)
    for train, test in folds:
        assert_array_equal(np.sort(np.concatenate([train, test])), np.arange(n))


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("n_folds", [2, 5, 10])
def test_many_small_classes(n_folds):
    folds = stratified_folds(SMALL, n_folds, None, 0)
    assert len(folds) == n_folds
    check_partition(folds, len(SMALL), np.arange(len(SMALL)))
    for train, test in folds:
        assert_array_equal(np.unique(SMALL[train]), np.arange(47))  # no class is unknown where it is tested
        most = np.ceil(np.bincount(SMALL) / n_folds)
        assert np.all(np.bincount(SMALL[test], minlength=47) <= most)


def test_classes_of_one_sample_are_trained_on_and_not_tested():
    y = np.array(["a", "b", "b", "c", "a", "a", "d", "b", "a", "b"])
    folds = stratified_folds(y, 3, None, 0)
    assert len(folds) == 3
    check_partition(folds, 10, np.flatnonzero(np.isin(y, ["a", "b"])))
    assert all({3, 6} <= set(train) for train, _ in folds)


def test_no_more_folds_than_the_largest_class_has_samples():
    assert len(stratified_folds(np.array([0, 0, 1, 1, 2]), 5, None, 0)) == 2
    assert len(stratified_folds(np.array([0, 0, 0, 1, 1, 2]), 5, None, 0)) == 3


def test_enough_samples_give_the_folds_of_scikit_learn():
    y = np.arange(30) % 3
    expected = StratifiedKFold(4, shuffle=True, random_state=7).split(y, y)
    for found, known in zip(stratified_folds(y, 4, None, 7), expected, strict=True):
        for a, b in zip(found, known, strict=True):
            assert_array_equal(a, b)


class TestGroups:
    @pytest.mark.parametrize("seed", range(5))
    def test_no_group_is_divided(self, seed):
        rng = np.random.default_rng(seed)
        y, groups = rng.integers(0, 4, 60), rng.integers(0, 12, 60)
        folds = stratified_folds(y, 5, groups, seed)
        check_partition(folds, 60, np.arange(60))
        assert all(not set(groups[train]) & set(groups[test]) for train, test in folds)

    def test_a_class_in_one_group_is_in_training_unless_its_group_is_tested(self):
        y = np.array([0, 1] * 6 + [2, 2, 3])
        groups = np.array(["a", "a", "b", "b", "c", "c", "d", "d", "e", "e", "f", "f", "a", "a", "z"])
        folds = stratified_folds(y, 3, groups, 0)
        assert_array_equal(np.sort(np.concatenate([test for _, test in folds])), np.arange(12))
        for train, test in folds:
            assert 14 in train
            assert not set(groups[train]) & set(groups[test])
            assert ({12, 13} <= set(train)) == ("a" not in groups[test])

    @pytest.mark.filterwarnings("error")
    def test_small_classes(self):
        assert len(stratified_folds(np.repeat([0, 1, 2], 2), 5, np.arange(6), 0)) == 2
        groups = np.arange(len(SMALL)) // 3
        several = [g for g in range(47) if len(set(groups[g == SMALL])) > 1]
        folds = stratified_folds(SMALL, 5, groups, 0)
        assert_array_equal(
            np.sort(np.concatenate([test for _, test in folds])), np.flatnonzero(np.isin(SMALL, several))
        )
        assert all(not set(groups[train]) & set(groups[test]) for train, test in folds)

    def test_a_splitter_of_groups_may_leave_a_class_out(self):
        y = np.repeat([0, 1, 2], 4)
        groups = np.array([0, 1, 2, 3, 0, 1, 2, 3, 0, 0, 0, 0])
        (folds,) = repeated_folds(y, GroupKFold(4), None, groups, 0)
        assert any(2 not in y[train] for train, _ in folds)
        check_partition(folds, 12, np.arange(12))

    def test_they_need_one_entry_for_each_sample(self):
        assert check_groups(None, 3) is None
        assert_array_equal(check_groups(pd.Series(["a", "b", "a"], index=[5, 6, 7]), 3), ["a", "b", "a"])
        for wrong in (["a", "b"], [["a"], ["b"], ["c"]], "abc"):
            with pytest.raises(ValueError, match=r"groups must have one entry per sample \(3\); got an array of shape"):
                check_groups(wrong, 3)
        for missing in ([1.0, np.nan, 2.0], ["a", None, "b"], pd.Series(["a", np.nan, "b"])):
            with pytest.raises(ValueError, match="groups contains a missing value"):
                check_groups(missing, 3)


class TestRepetitions:
    def test_few_samples_are_divided_three_times(self, monkeypatch):
        y = np.arange(40) % 2
        repeats = repeated_folds(y, 4, None, None, 3)
        assert [len(folds) for folds in repeats] == [4, 4, 4]
        for r, folds in enumerate(repeats):
            check_partition(folds, 40, np.arange(40))
            for found, known in zip(folds, stratified_folds(y, 4, None, 3 + r), strict=True):
                assert_array_equal(found[1], known[1])
        assert not np.array_equal(repeats[0][0][1], repeats[1][0][1])
        assert len(repeated_folds(y, 4, 2, None, None)) == 2
        assert module.FEW_SAMPLES == 500
        monkeypatch.setattr(module, "FEW_SAMPLES", 40)
        assert len(repeated_folds(y, 4, None, None, 0)) == 1
        assert len(repeated_folds(np.arange(39) % 2, 4, None, None, 0)) == 3

    @pytest.mark.parametrize("cv", [KFold(3), ShuffleSplit(3, random_state=0), LeaveOneOut(), None])
    def test_other_folds_are_made_once(self, cv):
        y = np.arange(20) % 2
        (folds,) = repeated_folds(y, cv, 3, None, 0)
        expected = list((StratifiedKFold(5) if cv is None else cv).split(y, y))
        for found, known in zip(folds, expected, strict=True):
            assert_array_equal(np.concatenate(found), np.concatenate(known))

    def test_masks_become_positions(self):
        masks = [(np.arange(9) % 3 != f, np.arange(9) % 3 == f) for f in range(3)]
        (folds,) = repeated_folds(np.arange(9) % 2, masks, None, None, 0)
        assert_array_equal(folds[1][1], [1, 4, 7])
        assert_array_equal(folds[1][0], [0, 2, 3, 5, 6, 8])


@pytest.mark.parametrize(
    ("cv", "message"),
    [
        ([], "cv must give at least one fold"),
        ([(np.arange(9), np.arange(0))], "cv must give at least one fold, and no empty ones"),
        ([(np.arange(9), [9])], "cv must test at least two samples"),
        ([([0, 1, 2], [3, 10])], "cv=.* does not split these samples: index 10 is out of bounds"),
        ("five", "cv='five' does not split these samples"),
        (2.5, "cv=2.5 does not split these samples"),
        (GroupKFold(2), "cv=GroupKFold.* does not split these samples.*groups"),
        (KFold(11), "cv=KFold.* does not split these samples"),
    ],
)
def test_bad_splitters_are_refused(cv, message):
    with pytest.raises(ValueError, match=message):
        repeated_folds(np.arange(10) % 2, cv, None, None, 0)


def test_folds_need_a_class_that_can_be_tested():
    with pytest.raises(ValueError, match="y must have a class of at least two samples"):
        stratified_folds(np.arange(5), 2, None, 0)
    with pytest.raises(ValueError, match="y must have a class with samples in at least two groups"):
        stratified_folds(np.array([0, 0, 1, 1]), 2, np.array([0, 0, 1, 1]), 0)
