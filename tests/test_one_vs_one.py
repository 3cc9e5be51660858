import numpy as np
import pytest
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.model_selection import GridSearchCV, StratifiedKFold

from similitude import (
    LearnedSpectrumSVC,
    LPMachine,
    PairwiseMeta,
    PathSearchCV,
    PotentialSVC,
    Proximities,
    RobustSVC,
    SimilaritySVC,
)
from similitude.one_vs_one import class_pairs

METHODS = [RobustSVC(), LearnedSpectrumSVC(target="clip"), LPMachine(), PotentialSVC()]


@pytest.mark.parametrize("method", METHODS, ids=lambda m: type(m).__name__)
def test_probabilities_belong_to_the_fit_that_made_them(method):
    rng = np.random.default_rng(0)
    y = np.arange(36) % 3
    X = rng.normal(size=(36, 3)) + 3 * np.eye(3)[y]
    S = X @ X.T
    plain = clone(method).fit(S, y)
    assert not hasattr(plain.set_params(probability=True), "predict_proba")
    calibrated = plain.fit(S, y)
    posterior = calibrated.predict_proba(S)
    assert np.allclose(posterior.sum(axis=1), 1)
    assert np.mean(posterior.argmax(axis=1) == y) > 0.8
    with pytest.raises(ValueError, match="probability=True needs at least two samples of each class"):
        calibrated.fit(S[:4, :4], [0, 0, 0, 1])


@pytest.mark.untraced
@pytest.mark.parametrize(
    ("method", "grid"),
    [
        (RobustSVC(probability=True), {"C": [0.1, 10.0]}),
        (LearnedSpectrumSVC(target="flip", probability=True), {"eta": [0.01, 1.0]}),
    ],
    ids=lambda v: type(v).__name__,
)
def test_probabilities_of_a_path_are_those_of_plain_fits(method, grid):
    rng = np.random.default_rng(1)
    y = np.arange(30) % 3
    X = rng.normal(size=(30, 3)) + 2 * np.eye(3)[y]
    S = Proximities(X @ np.diag([1.0, 1.0, -0.3]) @ X.T, self_similarity=np.sum(X**2, axis=1))
    searches = [
        search(method, grid, cv=StratifiedKFold(2), scoring="neg_log_loss").fit(S, y)
        for search in (PathSearchCV, GridSearchCV)
    ]
    path, plain = (search.cv_results_["mean_test_score"] for search in searches)
    assert np.allclose(path, plain, rtol=1e-7)
    assert len(set(np.round(plain, 6))) > 1


@pytest.mark.parametrize("method", METHODS, ids=lambda m: type(m).__name__)
def test_probabilities_are_those_of_a_calibrated_classifier(method):
    rng = np.random.default_rng(2)
    y = np.arange(40) % 2
    X = rng.normal(size=(40, 3)) + 1.5 * np.eye(3)[y]
    S = X @ np.diag([1.0, 1.0, -0.3]) @ X.T
    meta = PairwiseMeta(CalibratedClassifierCV(clone(method), cv=StratifiedKFold(5), ensemble=False)).fit(S, y)
    ours = clone(method).set_params(probability=True).fit(S, y)
    assert np.allclose(ours.predict_proba(S), meta.predict_proba(S), atol=1e-8)


@pytest.mark.parametrize("method", METHODS, ids=lambda m: type(m).__name__)
def test_a_path_wants_a_column_for_each_label(method):
    S = np.eye(6) + 1.0
    with pytest.raises(ValueError, match="S_test must have a column for each of 6 labels; got 5"):
        clone(method)._predict_path(S, [0, 1] * 3, S[:, 1:], [{}])


@pytest.mark.parametrize("method", [RobustSVC(), SimilaritySVC()], ids=lambda m: type(m).__name__)
def test_the_warning_of_asymmetry_names_the_line_of_the_fit(method):
    S = np.eye(6) + np.triu(np.ones((6, 6)))
    with pytest.warns(UserWarning, match="needs a symmetric similarity") as caught:
        clone(method).fit(S, [0, 1] * 3)
    assert caught[0].filename == __file__


def test_pairs_of_classes():
    pairs = [(members.tolist(), y.tolist()) for members, y in class_pairs(np.array([2, 0, 1, 0]), 3)]
    assert pairs == [([1, 2, 3], [-1, 1, -1]), ([0, 1, 3], [1, -1, -1]), ([0, 2], [1, -1])]
