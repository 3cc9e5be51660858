"""The path over C against scikit-learn's own machine."""

import warnings

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV
from sklearn.svm import SVC

from similitude import PathSearchCV
from similitude.features import LinearKernelSVC
from tests.paths import path_answers


@pytest.mark.parametrize("n_classes", [2, 4])
def test_path_and_attributes_are_those_of_scikit_learn(n_classes):
    X, y = make_classification(90, 8, n_informative=6, n_classes=n_classes, flip_y=0.2, random_state=0)
    grid = {"C": [1e-3, 0.1, 10.0]}
    ours = PathSearchCV(LinearKernelSVC(), grid, cv=3).fit(X, y)
    theirs = GridSearchCV(SVC(kernel="linear", tol=1e-9), grid, cv=3).fit(X, y)
    assert np.array_equal(ours.cv_results_["mean_test_score"], theirs.cv_results_["mean_test_score"])
    weights = np.random.default_rng(0).uniform(0.5, 2.0, 90)
    ours, theirs = LinearKernelSVC(0.3).fit(X, y, weights), SVC(C=0.3, kernel="linear", tol=1e-9).fit(X, y, weights)
    for name in ("classes_", "support_", "support_vectors_", "n_support_"):
        assert np.array_equal(getattr(ours, name), getattr(theirs, name))
    for name in ("dual_coef_", "intercept_", "coef_"):
        assert np.allclose(getattr(ours, name), getattr(theirs, name), rtol=0, atol=1e-5)
    assert np.array_equal(ours.predict(X), theirs.predict(X))
    assert np.allclose(ours.decision_function(X), theirs.decision_function(X), rtol=0, atol=1e-5)
    assert np.max(ours.duality_gap_) < 1e-10


def test_path_gives_what_single_fits_give():
    X, y = make_classification(60, 5, random_state=1)
    points = [{"C": 1e-4}, {"C": 2.0}, {"C": 1e3}]
    path = path_answers(LinearKernelSVC(), X[:40], y[:40], X[40:], points, "decision_function")
    for point, values in zip(points, path):
        assert np.array_equal(values, LinearKernelSVC(**point).fit(X[:40], y[:40]).decision_function(X[40:]))


@pytest.mark.parametrize("t", [1e-100, 1e-5, 1e100])
def test_features_of_any_size(t):
    X, y = make_classification(40, 5, n_informative=3, n_classes=3, random_state=2)
    model, scaled = LinearKernelSVC().fit(X, y), LinearKernelSVC(C=t**-2).fit(X * t, y)
    assert np.allclose(scaled.decision_function(X * t), model.decision_function(X), rtol=1e-6, atol=1e-6)
    assert np.allclose(scaled.coef_ * t, model.coef_, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("t", [1e-250, 1e250])
def test_features_of_extreme_size_give_finite_answers(t):
    X, y = make_classification(40, 5, random_state=2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = LinearKernelSVC().fit(X * t, y)
    assert np.isfinite(model.decision_function(X * t)).all()
    assert np.isfinite(model.dual_coef_).all()


def test_zero_features_leave_the_larger_class():
    model = LinearKernelSVC().fit(np.zeros((5, 2)), [0, 1, 1, 1, 0])
    assert model.predict(np.ones((2, 2))).tolist() == [1, 1]
    assert not model.coef_.any()


@pytest.mark.parametrize("value", [0, -1.0, np.nan, "1", None])
def test_bad_parameters(value):
    with pytest.raises(ValueError, match="C must be a finite number above 0"):
        LinearKernelSVC(C=value).fit(np.eye(4), [0, 0, 1, 1])


def test_a_machine_that_could_not_be_solved_is_announced():
    X, y = make_classification(60, 2, n_informative=2, n_redundant=0, flip_y=0.3, random_state=0)
    with pytest.warns(ConvergenceWarning, match=r"LinearKernelSVC: 1 of 1 problems.*smaller C"):
        LinearKernelSVC(1e30).fit(X, y)
