"""The regularised quadratic discriminant against scikit-learn's and against Gaussian densities."""

import numpy as np
import pytest
from scipy.stats import multivariate_normal
from sklearn.datasets import make_blobs
from sklearn.discriminant_analysis import QuadraticDiscriminantAnalysis

from similitude.features.recipes import RegularizedQuadratic
from tests.paths import path_answers


@pytest.mark.skipif(
    "solver" not in QuadraticDiscriminantAnalysis().get_params(), reason="an old scikit-learn divides by n_g - 1"
)
@pytest.mark.parametrize("reg_param", [0.001, 0.1, 0.7, 1.0])
@pytest.mark.parametrize("classes", [2, 4])
def test_equals_scikit_learn_where_that_is_defined(reg_param, classes):
    X, y = make_blobs(150, centers=classes, n_features=3, cluster_std=4.0, random_state=0)
    ours = RegularizedQuadratic(reg_param).fit(X[:100], y[:100])
    theirs = QuadraticDiscriminantAnalysis(reg_param=reg_param).fit(X[:100], y[:100])
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-12)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))


@pytest.mark.parametrize("sizes", [(5, 3, 2), (1, 6, 1), (2, 2, 2)])
def test_fewer_samples_than_features(sizes):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(sum(sizes), 7)), np.repeat(["a", "b", "c"], sizes)
    new, reg = rng.normal(size=(5, 7)), 0.2
    joint = np.empty((5, 3))
    for g, label in enumerate("abc"):
        rows = X[y == label]
        covariance = (1 - reg) * np.cov(rows.T, bias=True) + reg * np.eye(7) if len(rows) > 1 else reg * np.eye(7)
        joint[:, g] = np.log(np.mean(y == label)) + multivariate_normal(rows.mean(0), covariance).logpdf(new)
    model = RegularizedQuadratic(reg).fit(X, y)
    constant = 3.5 * np.log(2 * np.pi)
    np.testing.assert_allclose(model.decision_function(new), joint + constant, rtol=1e-9, atol=1e-9)
    posterior = np.exp(joint - joint.max(axis=1, keepdims=True))
    np.testing.assert_allclose(model.predict_proba(new), posterior / posterior.sum(axis=1, keepdims=True), atol=1e-12)
    np.testing.assert_array_equal(model.predict(new), np.array(["a", "b", "c"])[joint.argmax(axis=1)])


@pytest.mark.parametrize("classes", [2, 3])
def test_path_equals_plain_fits(classes):
    X, y = make_blobs(60, centers=classes, n_features=4, cluster_std=5.0, random_state=1)
    grid = [{"reg_param": reg} for reg in (0.01, 0.3, 1.0)]
    for response in ("predict", "predict_proba", "decision_function"):
        for point, answer in zip(grid, path_answers(RegularizedQuadratic(), X[:40], y[:40], X[40:], grid, response)):
            plain = RegularizedQuadratic(**point).fit(X[:40], y[:40])
            assert np.array_equal(getattr(plain, response)(X[40:]), answer)


def test_the_parameter_set_after_fit_changes_nothing_until_the_next_fit():
    X, y = make_blobs(60, centers=2, cluster_std=5.0, random_state=1)
    model = RegularizedQuadratic().fit(X, y)
    expected = model.decision_function(X)
    assert np.array_equal(model.set_params(reg_param=1.0).decision_function(X), expected)
    assert not np.allclose(model.fit(X, y).decision_function(X), expected)


def test_of_two_equal_classes_the_second_is_predicted():
    X = np.array([[0.0], [2.0], [0.0], [2.0]])
    assert RegularizedQuadratic().fit(X, ["a", "a", "b", "b"]).predict(X).tolist() == ["b"] * 4
    assert RegularizedQuadratic().fit(X[:3], ["a", "b", "c"]).predict([[0.0]]).tolist() == ["a"]


@pytest.mark.parametrize("reg_param", [0.0, -0.1, 1.1, None, True, np.nan])
def test_bad_regularisation_is_refused(reg_param):
    with pytest.raises(ValueError, match="reg_param must be a number in"):
        RegularizedQuadratic(reg_param).fit(np.eye(4), [0, 0, 1, 1])
