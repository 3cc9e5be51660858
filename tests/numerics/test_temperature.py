"""Calibration by a temperature: against a general optimizer, and on answers of any kind and scale."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import approx_fprime

from similitude.numerics.temperature import (
    Temperature,
    fit_temperature,
    fit_temperatures,
    floor_of,
    in_columns,
    log_odds,
    scales,
)
from tests.reference import temperature as reference

RNG = np.random.default_rng(0)


def problem(n_classes, n=40, signal=1.0, scale=1.0):
    codes = RNG.integers(0, n_classes, n)
    return scale * (RNG.normal(size=(n, n_classes)) + signal * np.eye(n_classes)[codes]), codes


CASES = {
    "two classes": problem(2),
    "four classes": problem(4),
    "separable": problem(2, signal=9.0),
    "much confidence": problem(3, signal=0.5, scale=30.0),
    "wrong and sure of it": problem(2, signal=-2.0, scale=5.0),  # the factor is 0, and the offset is not
    "no information": (np.zeros((40, 2)), (np.arange(40) < 28).astype(int)),
    "little information": problem(3, scale=1e-6),
    "a class without samples": (problem(4)[0], RNG.integers(0, 3, 40)),
    "one class": (problem(2)[0], np.zeros(40, dtype=int)),
    "one sample": problem(2, n=1),
}


@pytest.mark.parametrize("case", CASES)
def test_the_factor_and_the_offset_are_optimal(case):
    z, codes = CASES[case]
    weights = np.stack([np.ones(len(z)), np.arange(len(z)) % 3 > 0, np.zeros(len(z))])
    points = np.stack([z, z[:, ::-1], np.tile(z[:1], (len(z), 1))])
    factors, offsets = fit_temperatures(points, codes, weights)
    two = z.shape[1] == 2
    for p, point in enumerate(points):
        for k, weight in enumerate(weights):
            expected = reference.fit(point, codes, weight)
            assert factors[p, k] == pytest.approx(expected[0], abs=1e-4)
            assert_allclose(offsets[p, k], expected[1], atol=1e-4)
            theta = np.r_[factors[p, k], offsets[p, k, 1:] if two else []]
            slope = approx_fprime(theta, reference.objective, 1e-7, point, codes, weight)
            if theta[0] == 0:
                assert slope[0] > -1e-4
                slope = slope[1:]
            assert_allclose(slope, 0, atol=2e-3)
    assert_array_equal(factors[:, 2], 1)  # without samples the answers stay as they are
    assert_array_equal(offsets[:, 2], 0)


def test_blocks_of_points_change_nothing(monkeypatch):
    z, codes = problem(3)
    points = np.stack([z, 2 * z, -z, z**2, z[::-1]])
    weights = np.ones((2, 40))
    whole = fit_temperatures(points, codes, weights)
    monkeypatch.setattr("similitude.numerics.temperature._BLOCK", 500)
    for a, b in zip(whole, fit_temperatures(points, codes, weights)):
        assert_allclose(a, b, atol=1e-6)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("scale", [1e-200, 1e-9, 1e9, 1e200])
def test_decision_values_of_any_scale_give_the_same_posteriors(n_classes, scale):
    answers, codes = problem(n_classes)
    answers[::7, 0] = -np.inf  # a class that the classifier does not know
    expected = fit_temperature(answers, "decision_function", codes).posteriors(answers)
    found = fit_temperature(scale * answers, "decision_function", codes).posteriors(scale * answers)
    assert_allclose(found, expected, atol=1e-6)
    assert_allclose(found.sum(axis=1), 1)
    size = scales(scale * answers[None, 1:7], "decision_function")
    centred = answers[1:7] - answers[1:7].mean(axis=1, keepdims=True)
    assert_allclose(size, scale * np.sqrt(np.mean(centred**2)))


def test_posteriors_with_zeros():
    sure = np.eye(3)[np.r_[np.arange(30) % 3, 0]]
    codes = np.r_[np.arange(30) % 3, 1]  # one is wrong, although the classifier is sure
    fitted = fit_temperature(sure, "predict_proba", codes)
    posteriors = fitted.posteriors(sure)
    assert np.all(posteriors > 0)
    assert_allclose(posteriors.sum(axis=1), 1)
    assert_array_equal(posteriors.argmax(axis=1), sure.argmax(axis=1))
    assert fitted.floor == floor_of(31) == 1 / 124
    # One of 31 is wrong, and so two classes share about a thirtieth.
    assert posteriors[0, 1] == pytest.approx(1 / 62, rel=0.5)


class TestColumns:
    @pytest.mark.parametrize("m", [1, 2, 3])
    def test_one_decision_value_for_two_classes(self, m):
        values = np.arange(m) - 1.5
        columns = in_columns(values, "decision_function", np.array([0, 1]), 2)
        assert_allclose(columns[:, 1] - columns[:, 0], values)
        of_three = in_columns(values, "decision_function", np.array([0, 2]), 3)
        assert_array_equal(of_three, np.c_[columns[:, 0], np.full(m, -np.inf), columns[:, 1]])

    def test_labels_and_posteriors_of_some_of_the_classes(self):
        assert_array_equal(in_columns(np.array([1, 0]), "predict", np.array([0, 2]), 3), [[0, 0, 1], [1, 0, 0]])
        given = np.array([[0.3, 0.7], [1.0, 0.0]])
        assert_array_equal(in_columns(given, "predict_proba", np.array([1, 2]), 3), [[0, 0.3, 0.7], [0, 1, 0]])

    def test_unknown_classes_are_below_the_others(self):
        answers = np.array([[1.0, -np.inf, 3.0, 5.0], [np.nan, -np.inf, -np.inf, -np.inf], [-np.inf, 4.0, 4.0, 4.0]])
        expected = [[1, -1, 3, 5], [0, 0, 0, 0], [4, 4, 4, 4]]
        assert_array_equal(log_odds(answers, "decision_function", 0.1), expected)

    def test_negative_posteriors_count_as_zero(self):
        assert_allclose(log_odds(np.array([[-0.1, 1.1]]), "predict_proba", 0.5), np.log([[0.5, 1.6]]))


def test_a_fitted_temperature_is_its_formula():
    fitted = Temperature("predict_proba", 2.0, np.array([0.0, 1.0]), 0.1)
    odds = (0.3 / 0.9) ** 2 * np.e  # of the second class
    assert_allclose(fitted.posteriors(np.array([[0.8, 0.2]])), [[1 / (1 + odds), odds / (1 + odds)]])
