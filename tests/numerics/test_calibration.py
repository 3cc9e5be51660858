import numpy as np
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.model_selection import StratifiedKFold
from sklearn.svm import SVC

from similitude.numerics.calibration import calibrators


def _problem(n_classes):
    rng = np.random.default_rng(n_classes)
    y = np.arange(45) % n_classes
    return rng.normal(size=(45, 3)) + np.eye(3)[y % 3], y


def _scores(X, y, weight=None):
    """Of left-out folds, for two values of C."""

    def scores_of(train, test):
        part = None if weight is None else weight[train]
        return [SVC(C=C).fit(X[train], y[train], sample_weight=part).decision_function(X[test]) for C in (0.1, 1.0)]

    return scores_of


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("weighted", [False, True])
def test_equals_scikit_learns_cross_validation_for_each_point(n_classes, weighted):
    X, y = _problem(n_classes)
    weight = np.linspace(0.5, 2, len(y)) if weighted else None
    ours = calibrators(_scores(X, y, weight), np.unique(y), y, weight)
    for C, calibrator in zip((0.1, 1.0), ours, strict=True):
        known = CalibratedClassifierCV(SVC(C=C), cv=StratifiedKFold(5), ensemble=False).fit(X, y, sample_weight=weight)
        scores = SVC(C=C).fit(X, y, sample_weight=weight).decision_function(X)
        assert np.allclose(calibrator.probabilities(scores), known.predict_proba(X), atol=1e-12)


def test_samples_of_weight_0_are_absent():
    X, y = _problem(3)
    weight = np.where(np.arange(45) < 15, 0.0, np.linspace(1, 2, 45))
    kept = np.flatnonzero(weight)
    seen = []

    def scores_of(train, test):
        seen.extend([*train, *test])
        return _scores(X, y, weight)(train, test)

    whole = calibrators(scores_of, np.unique(y), y, weight)
    part = calibrators(_scores(X[kept], y[kept], weight[kept]), np.unique(y), y[kept], weight[kept])
    scores = SVC().fit(X, y).decision_function(X)
    assert set(seen) == set(kept)
    for one, other in zip(whole, part, strict=True):
        assert np.array_equal(one.probabilities(scores), other.probabilities(scores))


def test_as_many_folds_as_the_smallest_class_has_samples_and_two_at_least():
    X, y = _problem(2)
    few = np.concatenate([np.flatnonzero(y == 0), np.flatnonzero(y == 1)[:3]])
    folds = []

    def scores_of(train, test):
        folds.append(test)
        return _scores(X[few], y[few])(train, test)

    calibrators(scores_of, np.unique(y), y[few])
    assert len(folds) == 3
    with pytest.raises(ValueError, match=r"at least two samples of each class, .*; class 'b' has 1"):
        calibrators(scores_of, np.array(["a", "b"]), np.array([0, 0, 1]))
