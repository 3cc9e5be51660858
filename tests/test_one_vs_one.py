"""Classifiers with one machine for each pair of classes: probabilities, paths, rows, warnings."""

import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.model_selection import GridSearchCV, StratifiedKFold

from similitude import (
    LearnedKernelSVC,
    LearnedSpectrumSVC,
    LPMachine,
    PairwiseMeta,
    PathSearchCV,
    PotentialSVC,
    Proximities,
    RobustSVC,
    SimilaritySVC,
    SimilarityWarning,
)
from similitude.base import GridFit
from similitude.labels import Labels
from similitude.one_vs_one import class_pairs
from tests.paths import path_answers

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


@pytest.mark.parametrize("method", [RobustSVC(), SimilaritySVC()], ids=lambda m: type(m).__name__)
def test_the_warning_of_asymmetry_names_the_line_of_the_fit(method):
    S = np.eye(6) + np.triu(np.ones((6, 6)))
    with pytest.warns(UserWarning, match="needs a symmetric similarity") as caught:
        clone(method).fit(S, [0, 1] * 3)
    assert caught[0].filename == __file__


def test_pairs_of_classes():
    labels = Labels(np.array(["a", "b", "c"]), np.array([2, 0, 1, 0]))
    pairs = [(members.tolist(), y.tolist()) for members, y in class_pairs(labels)]
    assert pairs == [([1, 2, 3], [-1, 1, -1]), ([0, 1, 3], [1, -1, -1]), ([0, 2], [1, -1])]


# Rows of asymmetric functions, and parameters set after fit

WORDS = ["tree", "trees", "free", "house", "mouse", "horse", "green", "greed", "spouse", "louse"]
NEW = ["three", "hose", "moose", "grease"]
Y = np.array([0, 0, 0, 1, 1, 1, 0, 0, 1, 1])
SYMMETRISING = [
    *(SimilaritySVC(0.5, spectrum, probability=True) for spectrum in ("clip", "flip", "shift", "none")),
    RobustSVC(probability=True),
    LearnedSpectrumSVC(0.1, 0.1, probability=True),
    LearnedKernelSVC(0.1, 0.1, probability=True),
]
AS_GIVEN = [
    SimilaritySVC(0.5, "square", probability=True),
    LPMachine(10.0, probability=True),
    PotentialSVC(1.0, probability=True),
]


def _one_way(a, b):
    """A similarity that is far from symmetric: the share of the letters of a that are in b."""
    return sum(letter in b for letter in a) / len(a) + 0.05 * len(b)


def _both_ways(a, b):
    return (_one_way(a, b) + _one_way(b, a)) / 2


def _matrix(objects, others, function):
    return np.array([[function(a, b) for b in others] for a in objects])


@pytest.mark.parametrize("method", SYMMETRISING, ids=str)
@pytest.mark.filterwarnings("ignore:S has .* negative")
def test_an_asymmetric_function_is_taken_in_both_directions(method):
    with pytest.warns(SimilarityWarning, match="needs a symmetric similarity.*treated in the same way") as caught:
        model = clone(method).set_params(similarity=_one_way).fit(WORDS, Y)
    assert len([w for w in caught if "asymmetric" in str(w.message)]) == 1
    mean = clone(method).set_params(similarity=_both_ways).fit(WORDS, Y)
    for response in ("decision_function", "predict_proba"):
        assert np.allclose(getattr(model, response)(NEW), getattr(mean, response)(NEW), rtol=0, atol=1e-8)
    # Of a matrix one direction is all that is known of new rows.
    with pytest.warns(SimilarityWarning, match="New rows are used unchanged"):
        matrix = clone(method).fit(_matrix(WORDS, WORDS, _one_way), Y)
    rows = _matrix(NEW, WORDS, _one_way)
    assert not np.allclose(matrix.decision_function(rows), mean.decision_function(NEW), atol=1e-3)


@pytest.mark.parametrize("method", AS_GIVEN, ids=str)
def test_methods_that_keep_asymmetry_take_rows_as_they_are(method):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", "S has .* negative")
        model = clone(method).set_params(similarity=_one_way).fit(WORDS, Y)
        matrix = clone(method).fit(_matrix(WORDS, WORDS, _one_way), Y)
    rows = _matrix(NEW, WORDS, _one_way)
    for response in ("decision_function", "predict_proba"):
        assert np.array_equal(getattr(model, response)(NEW), getattr(matrix, response)(rows))


@pytest.mark.filterwarnings("ignore::similitude.SimilarityWarning")
def test_points_of_one_path_treat_an_asymmetric_function_each_in_its_way():
    method = SimilaritySVC(0.5, probability=True, similarity=_one_way)
    grid = [{"spectrum": spectrum} for spectrum in ("clip", "square", "none")]
    for response in ("decision_function", "predict_proba"):
        for parameters, answer in zip(grid, path_answers(method, WORDS, Y, NEW, grid, response)):
            plain = clone(method).set_params(**parameters).fit(WORDS, Y)
            assert np.array_equal(getattr(plain, response)(NEW), answer)


@pytest.mark.parametrize(
    ("method", "changes"),
    [
        (SimilaritySVC(), {"C": 1e-3, "spectrum": "square", "class_weight": "balanced", "probability": True}),
        (RobustSVC(), {"C": 1e-3, "rho": 1e3}),
        (LearnedSpectrumSVC(target="flip"), {"eta": 1.0, "target": "clip"}),
        (LearnedKernelSVC(), {"eta": 1.0, "max_samples": 2}),
        (LPMachine(), {"C": 1e-3}),
        (PotentialSVC(), {"C": 1e-3, "similarity": "columns"}),
    ],
    ids=lambda value: type(value).__name__,
)
@pytest.mark.filterwarnings("ignore:S has .* negative")
def test_parameters_set_after_fit_change_nothing_until_the_next_fit(method, changes):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(24, 3)) + 0.5 * (np.arange(24) % 2)[:, None]
    S, y = X @ np.diag([1.0, 1.0, -0.5]) @ X.T, np.arange(24) % 2
    model = clone(method).fit(S, y)
    expected, columns = model.decision_function(S), model.support_columns_
    model.set_params(**changes)
    assert np.array_equal(model.decision_function(S), expected)
    assert np.array_equal(model.decision_function(S[:, columns]), expected)
    assert not hasattr(model, "predict_proba")
    if "max_samples" not in changes:
        assert not np.allclose(model.fit(S, y).decision_function(S), expected)


def test_similarities_of_raw_objects_are_computed_once_for_all_points():
    calls = []

    def counted(a, b):
        calls.append((a, b))
        return _both_ways(a, b)

    fit = GridFit(PotentialSVC(similarity=counted), WORDS, Y, [{"epsilon": epsilon} for epsilon in (0.1, 0.5, 1.0)])
    assert len(fit.at(0).prototypes_) < len(WORDS)
    calls.clear()
    fit.answers(NEW, "decision_function")
    assert len(calls) == len(set(calls))
