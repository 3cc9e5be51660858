"""Nonconformity scores and the counts behind p-values, against the formulas sample by sample."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from similitude.sets.calibration import check_confidence, counts_of_larger, nonconformity, samples_needed
from tests.reference import conformal


# Eighths give many ties, and posteriors of 0.
@settings(max_examples=40, deadline=None)
@given(arrays(int, st.tuples(st.integers(1, 6), st.integers(2, 5)), elements=st.integers(0, 4)))
def test_scores_are_those_of_the_formulas(parts):
    parts[:, 0] += parts.sum(axis=1) == 0
    posteriors = parts / parts.sum(axis=1, keepdims=True)
    with np.errstate(divide="ignore"):
        logs = np.log(parts)  # not normalised
    own = nonconformity(logs, "lac")
    expected = np.array([[conformal.lac(row, g) for g in range(len(row))] for row in posteriors])
    assert np.allclose(1 - np.exp(-own), expected)
    found = nonconformity(logs, "aps")
    expected = np.array([[conformal.aps(np.round(row, 10), g) for g in range(len(row))] for row in posteriors])
    assert np.allclose(found, expected)


def test_certain_and_impossible_classes():
    logs = np.array([[0.0, -np.inf], [-1000.0, -2000.0]])
    assert np.array_equal(nonconformity(logs, "lac"), [[0.0, np.inf], [0.0, 1000.0]])
    assert np.array_equal(nonconformity(logs, "aps"), [[0.5, 1.0], [0.5, 1.0]])


def test_counts():
    scores, known, codes = np.array([[0.5, 0.5], [np.inf, -1.0]]), np.array([0.5, 0.7, np.inf, 0.1]), [0, 1, 0, 1]
    assert counts_of_larger(scores, known, np.array(codes)).tolist() == [[2, 1], [1, 2]]
    assert counts_of_larger(scores, known, None).tolist() == [[3, 3], [1, 4]]


def test_samples_needed_is_the_first_number_that_can_exclude_a_class():
    for confidence in (0.1, 0.5, 0.8, 0.9, 0.95, 0.975, 0.99):
        n = samples_needed(confidence)
        assert 1 / (n + 1) <= 1 - confidence + 1e-12
        assert n == 0 or 1 / n > 1 - confidence + 1e-12


@pytest.mark.parametrize("confidence", [0, 1, -0.1, 1.5, float("nan"), "0.9", None, True])
def test_a_confidence_outside_0_and_1(confidence):
    with pytest.raises(ValueError, match="--confidence must be a number above 0 and below 1"):
        check_confidence(confidence, "--confidence")
