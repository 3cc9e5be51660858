"""The path over C and gamma against scikit-learn's own machine, point by point."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from similitude import PathSearchCV
from similitude.features.vector_svc import GaussianSVC
from tests.paths import path_answers

GRID = {"C": [0.1, 1.0, 100.0], "gamma": [0.01, 0.1, 2.0]}


@pytest.mark.untraced
@pytest.mark.parametrize("n_classes", [2, 4])
def test_path_equals_scikit_learn(n_classes):
    X, y = make_classification(150, 12, n_informative=6, n_classes=n_classes, flip_y=0.2, random_state=0)
    ours = PathSearchCV(GaussianSVC(), GRID, cv=4).fit(X, y)
    theirs = GridSearchCV(SVC(kernel="rbf", tol=1e-9), GRID, cv=4).fit(X, y)
    assert np.array_equal(ours.cv_results_["mean_test_score"], theirs.cv_results_["mean_test_score"])
    assert len(np.unique(theirs.cv_results_["mean_test_score"])) > 3
    assert ours.best_params_ == theirs.best_params_
    # libsvm solves in single precision.
    assert np.allclose(ours.decision_function(X), theirs.decision_function(X), rtol=0, atol=1e-5)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_fitted_attributes_are_those_of_scikit_learn(n_classes):
    X, y = make_classification(60, 5, n_informative=4, n_redundant=0, n_classes=n_classes, random_state=2)
    weights = np.random.default_rng(0).uniform(0.5, 2.0, 60)
    ours, theirs = GaussianSVC(2.0, 0.3).fit(X, y, weights), SVC(C=2.0, gamma=0.3, tol=1e-9).fit(X, y, weights)
    for name in ("classes_", "support_", "support_vectors_", "n_support_"):
        assert np.array_equal(getattr(ours, name), getattr(theirs, name))
    for name in ("dual_coef_", "intercept_"):
        assert np.allclose(getattr(ours, name), getattr(theirs, name), rtol=0, atol=1e-5)
    pairs = n_classes * (n_classes - 1) // 2
    assert ours.n_iter_.shape == (pairs,)
    assert np.shape(ours.duality_gap_) == np.shape(ours.objective_) == (() if n_classes == 2 else (pairs,))
    assert np.all(ours.duality_gap_ < 1e-10)


def test_samples_of_weight_zero_are_as_good_as_absent():
    X, y = make_classification(60, 5, random_state=3)
    weights = np.arange(60) % 3
    kept = np.flatnonzero(weights)
    model, without = GaussianSVC().fit(X, y, weights), GaussianSVC().fit(X[kept], y[kept], weights[kept])
    assert np.allclose(model.decision_function(X), without.decision_function(X), rtol=0, atol=1e-13)
    assert np.array_equal(model.support_, kept[without.support_])
    assert np.array_equal(model.support_vectors_, X[model.support_])


def test_parameters_set_after_fit_change_nothing_until_the_next_fit():
    X, y = make_classification(60, 5, random_state=3)
    model = GaussianSVC().fit(X, y)
    expected = model.decision_function(X)
    assert np.array_equal(model.set_params(C=0.01, gamma=9.0).decision_function(X), expected)
    assert not np.allclose(model.fit(X, y).decision_function(X), expected)


@pytest.mark.parametrize("name", ["C", "gamma"])
@pytest.mark.parametrize("value", [0, -1.0, np.nan, "scale", None])
def test_bad_parameters(name, value):
    with pytest.raises(ValueError, match=f"{name} must be a finite number above 0"):
        GaussianSVC(**{name: value}).fit(np.eye(4), [0, 0, 1, 1])


def test_path_of_decision_values_and_within_a_pipeline():
    X, y = make_classification(100, 5, random_state=1)
    points = [{"C": 2.0}, {"gamma": 0.3}, {"C": 2.0, "gamma": 0.3}]
    path = path_answers(GaussianSVC(), X[:70], y[:70], X[70:], points, "decision_function")
    for point, values in zip(points, path):
        machine = SVC(**{"C": 1.0, "gamma": 1.0, **point}, tol=1e-9).fit(X[:70], y[:70])
        assert np.allclose(values, machine.decision_function(X[70:]), rtol=0, atol=1e-5)
        alone = GaussianSVC(**point).fit(X[:70], y[:70])
        assert np.array_equal(values, alone.decision_function(X[70:]))
    pipeline = make_pipeline(StandardScaler(), GaussianSVC())
    grid = {f"gaussiansvc__{name}": values for name, values in GRID.items()}
    ours, plain = (
        kind(clone(pipeline), grid, cv=3, scoring="roc_auc").fit(X, y) for kind in (PathSearchCV, GridSearchCV)
    )
    assert np.allclose(ours.cv_results_["mean_test_score"], plain.cv_results_["mean_test_score"])


def test_a_machine_that_could_not_be_solved_is_announced():
    X, y = make_classification(60, 2, n_informative=2, n_redundant=0, flip_y=0.3, random_state=0)
    with pytest.warns(ConvergenceWarning, match=r"GaussianSVC: 1 of 1 problems.*smaller C"):
        model = GaussianSVC(1e30, 1e-6).fit(X, y)
    assert np.isfinite(model.decision_function(X)).all()
