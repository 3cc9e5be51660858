"""Folds without near-duplicates on both sides, and the error by the similarity to the nearest training sample."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold, cross_val_predict, cross_val_score
from sklearn.svm import SVC

from similitude import (
    AutoClassifier,
    KNNClassifier,
    PathSearchCV,
    Proximities,
    SimilarityGroupKFold,
    error_by_similarity,
    similarity_groups,
)
from similitude.splits import errors_in_bins

rng = np.random.default_rng(0)
FAMILY = rng.permutation(np.repeat(np.arange(40), 3))
CENTRES = rng.normal(size=(40, 2))
X = CENTRES[FAMILY] + 0.003 * rng.normal(size=(120, 2))
LABELS = rng.integers(0, 2, 40)[FAMILY]  # the class of a family has nothing to do with its place
D = np.sqrt(((X[:, None] - X[None]) ** 2).sum(axis=2))
S = np.exp(-D)
THRESHOLD = 0.97


def sides(folds, groups):
    return [set(groups[train]) & set(groups[test]) for train, test in folds]


@pytest.mark.parametrize("y", [LABELS, None], ids=["labels", "no labels"])
def test_no_group_is_on_both_sides(y):
    groups = similarity_groups(S, THRESHOLD)
    folds = list(SimilarityGroupKFold(4, threshold=THRESHOLD).split(S, y))
    assert sides(folds, groups) == [set()] * 4
    assert np.sort(np.concatenate([test for _, test in folds])).tolist() == list(range(120))
    for train, test in folds:
        assert S[np.ix_(test, train)].max() < THRESHOLD
    own = np.arange(120) % 7
    both = list(SimilarityGroupKFold(2, threshold=0.999).split(S, LABELS, own))
    assert sides(both, own) == [set()] * 2


def test_folds_are_those_of_scikit_learn_with_the_groups():
    folds = SimilarityGroupKFold(4, threshold=THRESHOLD, random_state=3)
    expected = StratifiedGroupKFold(4, shuffle=True, random_state=3).split(S, LABELS, similarity_groups(S, THRESHOLD))
    for found, wanted in zip(folds.split(S, LABELS), expected, strict=True):
        assert all(np.array_equal(a, b) for a, b in zip(found, wanted))
    assert folds.get_n_splits() == 4
    again = list(clone(folds, safe=False).split(S, LABELS))
    assert np.array_equal(again[0][0], next(folds.split(S, LABELS))[0])


def test_all_forms_of_the_samples_give_the_same_folds():
    expected = [test.tolist() for _, test in SimilarityGroupKFold(threshold=0.03, dissimilarity="exp").split(D, LABELS)]
    inputs = {
        "euclidean": (X, SimilarityGroupKFold(threshold=0.03, similarity="euclidean")),
        "frame": (pd.DataFrame(D), SimilarityGroupKFold(threshold=0.03, dissimilarity="exp")),
        "sparse": (
            Proximities(sparse.csr_matrix(np.where(D < 1, D, 0)), absent="unknown"),
            SimilarityGroupKFold(threshold=0.03, dissimilarity="exp"),
        ),
    }
    for given, folds in inputs.values():
        assert [test.tolist() for _, test in folds.split(given, LABELS)] == expected


def test_scikit_learn_searches_and_auto_use_them():
    folds = SimilarityGroupKFold(4, threshold=THRESHOLD)
    leaky = StratifiedKFold(4, shuffle=True, random_state=0)
    model = KNNClassifier(1)
    assert cross_val_score(model, S, LABELS, cv=leaky).mean() > 0.85
    honest = cross_val_score(model, S, LABELS, cv=folds).mean()
    assert honest < 0.7
    assert cross_val_score(SVC(kernel="precomputed"), S, LABELS, cv=folds).mean() < 0.7
    search = PathSearchCV(KNNClassifier(), {"n_neighbors": [1]}, cv=folds).fit(S, LABELS)
    assert search.best_score_ == pytest.approx(honest)
    auto = AutoClassifier(["k-NN"], cv=folds, n_repeats=1, nested_cv=2).fit(S, LABELS)
    assert auto.out_of_fold_.nearest.max() < THRESHOLD
    assert auto.leaderboard_[0].error > 0.3
    assert auto.nested_error_ > 0.3
    assert AutoClassifier(["k-NN"], cv=4, n_repeats=1).fit(S, LABELS).out_of_fold_.nearest.mean() > THRESHOLD


def test_too_few_groups():
    with pytest.raises(ValueError, match=r"n_splits=5, but threshold=-1 links the 120 samples into 1 group;"):
        list(SimilarityGroupKFold(threshold=-1).split(S, LABELS))


def test_error_by_similarity_is_that_of_the_predictions():
    folds = list(StratifiedKFold(5, shuffle=True, random_state=0).split(S, LABELS))
    found = error_by_similarity(KNNClassifier(3), S, LABELS, cv=folds, n_bins=4)
    wrong = cross_val_predict(KNNClassifier(3), S, LABELS, cv=folds) != LABELS
    nearest = np.empty(120)
    for train, test in folds:
        nearest[test] = S[np.ix_(test, train)].max(axis=1)
    assert found.error == wrong.mean()
    assert [part.count for part in found.bins] == [30] * 4
    for part in found.bins:
        inside = (nearest <= part.nearest) & (nearest >= part.farthest)
        assert part.count == inside.sum()
        assert part.error == pytest.approx(wrong[inside].mean())
        assert part.middle == pytest.approx(np.median(nearest[inside]))
    first = found.bins[0]
    k, n, z = first.error * first.count, first.count, 1.959963984540054
    middle, half = (k + z * z / 2) / (n + z * z), z * np.sqrt(k * (n - k) / n + z * z / 4) / (n + z * z)
    assert [first.low, first.high] == pytest.approx([max(0, middle - half), middle + half])
    mapped = error_by_similarity(KNNClassifier(3, dissimilarity="exp"), D, LABELS, cv=folds, n_bins=4)
    assert [part.error for part in mapped.bins] == [part.error for part in found.bins]
    assert [part.nearest for part in mapped.bins] == pytest.approx([-np.log(part.nearest) for part in found.bins])
    assert mapped.summary().startswith("closer than 0.0")
    assert "beyond" in mapped.summary()
    raw = error_by_similarity(
        KNNClassifier(3, similarity="euclidean", dissimilarity="exp"), X, LABELS, cv=folds, n_bins=4
    )
    assert raw.summary() == mapped.summary()


def test_bins_with_ties_few_samples_and_unknown_ones():
    tied = errors_in_bins(np.repeat([0.9, 0.5, 0.1], [50, 30, 5]), np.arange(85) < 20, dissimilarity=False, n_bins=4)
    assert [(part.nearest, part.farthest, part.count) for part in tied.bins] == [(0.9, 0.9, 50), (0.5, 0.1, 35)]
    assert tied.summary() == "closer than 0.7: 40% wrong; below 0.7: 0%"
    few = errors_in_bins(np.array([0.9, np.nan, 0.5]), np.array([True, True, False]), dissimilarity=False)
    assert few.summary() == "all samples: 67% wrong"
    assert (few.unknown.count, few.unknown.error) == (1, 1.0)
    assert "unknown" in str(few)
    assert few.to_dict()["bins"][0]["count"] == 2
    thin = Proximities(sparse.csr_matrix(np.where(S > THRESHOLD, S, 0)), absent="unknown")
    alone = error_by_similarity(KNNClassifier(3), thin, LABELS, cv=SimilarityGroupKFold(threshold=THRESHOLD))
    assert alone.bins == ()
    assert alone.unknown.count == 120
    zero = error_by_similarity(KNNClassifier(3), thin.S, LABELS, cv=SimilarityGroupKFold(threshold=THRESHOLD))
    assert [part.nearest for part in zero.bins] == [0.0]


@pytest.mark.parametrize(
    ("options", "found"),
    [
        ({"n_bins": 0}, "n_bins must be an integer"),
        ({"confidence": 1.0}, "confidence must be a number in"),
    ],
)
def test_bad_options_of_bins(options, found):
    with pytest.raises(ValueError, match=found):
        errors_in_bins(np.ones(3), np.ones(3, dtype=bool), dissimilarity=False, **options)
