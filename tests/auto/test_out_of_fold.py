"""The predictions for left-out samples that ``AutoClassifier`` keeps."""

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.model_selection import StratifiedKFold

from similitude import AutoClassifier

NAMES = ["k-NN", "nearest centroid", "SVM (clip)"]


def problem(n=90):
    rng = np.random.default_rng(0)
    y = np.arange(n) % 3
    X = rng.normal(size=(n, 3)) + 2.0 * np.eye(3)[y]
    return np.exp(-((X[:, None] - X[None]) ** 2).sum(-1) / 8), y


def test_members_are_judged_by_fits_without_the_sample():
    S, y = problem()
    auto = AutoClassifier(NAMES, cv=3, n_repeats=1).fit(S, y)
    found, members = auto.out_of_fold_, auto.best_estimator_.members_
    assert_array_equal(found.samples, np.arange(len(y)))
    assert found.members.shape == (len(members), len(y), 3)
    assert_allclose(found.members.sum(axis=2), 1)
    # The answers of members on their own training samples would be right more often.
    folds = StratifiedKFold(3, shuffle=True, random_state=0).split(S, y)
    expected = np.empty(len(y), dtype=int)
    nearest = [member.name for member in members].index("nearest centroid")
    for train, test in folds:
        model = members[nearest].estimator.__class__().fit(S[np.ix_(train, train)], y[train])
        expected[test] = model.predict(S[np.ix_(test, train)])
    assert np.mean(np.argmax(found.members[nearest], axis=1) == expected) > 0.95


def test_samples_that_no_fold_tests_have_no_predictions():
    S, y = problem()
    y = y.copy()
    y[5] = 7
    auto = AutoClassifier(NAMES, cv=3, n_repeats=1).fit(S, y)
    assert_array_equal(auto.not_testable_, [7])
    found = auto.out_of_fold_
    assert_array_equal(found.samples, np.delete(np.arange(len(y)), 5))
    assert found.labels.shape == found.samples.shape
    assert found.proba.shape == found.members.shape[1:] == (len(y) - 1, 4)
