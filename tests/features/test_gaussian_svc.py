"""The path over C and gamma against scikit-learn's own machine, point by point."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from similitude import PathSearchCV
from similitude.features.gaussian_svc import GaussianSVC
from tests.paths import path_answers

GRID = {"C": [0.1, 1.0, 100.0], "gamma": [1e-3, 0.1, 2.0]}


@pytest.mark.untraced
@pytest.mark.parametrize("n_classes", [2, 4])
def test_path_equals_scikit_learn(n_classes):
    X, y = make_classification(150, 12, n_informative=6, n_classes=n_classes, flip_y=0.2, random_state=0)
    ours = PathSearchCV(GaussianSVC(), GRID, cv=4).fit(X, y)
    theirs = GridSearchCV(SVC(kernel="rbf"), GRID, cv=4).fit(X, y)
    assert np.array_equal(ours.cv_results_["mean_test_score"], theirs.cv_results_["mean_test_score"])
    assert len(np.unique(theirs.cv_results_["mean_test_score"])) > 3
    assert ours.best_params_ == theirs.best_params_
    assert np.allclose(ours.decision_function(X), theirs.decision_function(X))


def test_path_of_decision_values_and_within_a_pipeline():
    X, y = make_classification(100, 5, random_state=1)
    points = [{"C": 2.0}, {"gamma": 0.3}, {"C": 2.0, "gamma": 0.3}]
    path = path_answers(GaussianSVC(), X[:70], y[:70], X[70:], points, "decision_function")
    for point, values in zip(points, path):
        machine = SVC(**{"C": 1.0, "gamma": 1.0, **point}).fit(X[:70], y[:70])
        assert np.allclose(values, machine.decision_function(X[70:]))
    pipeline = make_pipeline(StandardScaler(), GaussianSVC())
    grid = {f"gaussiansvc__{name}": values for name, values in GRID.items()}
    ours, plain = (
        kind(clone(pipeline), grid, cv=3, scoring="roc_auc").fit(X, y) for kind in (PathSearchCV, GridSearchCV)
    )
    assert np.allclose(ours.cv_results_["mean_test_score"], plain.cv_results_["mean_test_score"])
