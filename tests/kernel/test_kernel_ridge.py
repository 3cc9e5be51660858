"""KernelRidgeClassifier against the optimality conditions and fits without one sample."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.kernel_ridge import KernelRidge

from similitude import KernelRidgeClassifier, SpectrumModifier


def indefinite(n, seed):
    S = np.random.default_rng(seed).normal(size=(n, n))
    return S + S.T


def solved(K, T, reg):
    """Solve the bordered system for the coefficients and the intercepts."""
    n = len(K)
    system = np.block([[K + reg * np.eye(n), np.ones((n, 1))], [np.ones((1, n)), np.zeros((1, 1))]])
    solution = np.linalg.solve(system, np.vstack([T, np.zeros((1, T.shape[1]))]))
    return solution[:n], solution[n]


@pytest.mark.parametrize("spectrum", ["clip", "flip", "shift"])
@pytest.mark.parametrize("scale", [1e-9, 1.0, 1e9])
def test_it_solves_the_optimality_conditions(spectrum, scale):
    S, rows, y = scale * indefinite(24, 0), scale * np.random.default_rng(1).normal(size=(5, 24)), np.arange(24) % 3
    model = KernelRidgeClassifier(0.3 * scale, spectrum).fit(S, y)
    modifier = SpectrumModifier(spectrum).fit(S)
    K, mapped = modifier.fit_transform(S), modifier.transform(rows)
    A, b = solved(K, np.where(y[:, None] == np.arange(3), 1.0, -1.0), 0.3 * scale)
    assert_allclose(model.decision_function(rows), mapped @ A + b, rtol=1e-6, atol=1e-9)
    assert_allclose(model.intercept_, b, atol=1e-9)
    assert_array_equal(model.predict(rows), np.argmax(mapped @ A + b, axis=1))


def test_the_left_out_error_is_that_of_fits_without_each_sample():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 5))
    S, y = X @ X.T, rng.integers(0, 3, size=30)
    wrong = []
    for i in range(30):
        rest = np.delete(np.arange(30), i)
        A, b = solved(S[np.ix_(rest, rest)], np.where(y[rest, None] == np.arange(3), 1.0, -1.0), 0.5)
        wrong.append(np.argmax(S[i, rest] @ A + b) != y[i])
    assert 0 < np.mean(wrong) < 1
    assert KernelRidgeClassifier(0.5).fit(S, y).loo_error_ == np.mean(wrong)


def test_on_centred_data_it_is_that_of_scikit_learn():
    """The intercept is the mean of the targets if the columns of the kernel add up to 0."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(20, 3))
    X -= X.mean(axis=0)
    y = np.arange(20) % 2
    peer = KernelRidge(alpha=2.0).fit(X, 2.0 * y - 1.0)
    model = KernelRidgeClassifier(2.0, similarity="linear").fit(X, y)
    assert_allclose(model.decision_function(X), 2 * peer.predict(X), atol=1e-10)


@pytest.mark.parametrize(
    ("options", "message"),
    [({"reg": 0.0}, "reg must be"), ({"reg": "1"}, "reg must be"), ({"spectrum": "none"}, "spectrum must be")],
)
def test_bad_parameters(options, message):
    with pytest.raises(ValueError, match=message):
        KernelRidgeClassifier(**options).fit(np.eye(4), [0, 0, 1, 1])
