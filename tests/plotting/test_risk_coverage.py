"""The risk-coverage curve: its values by hand, ties, and errors."""

import numpy as np
import pytest
from sklearn.svm import LinearSVC

from similitude import AutoClassifier, KNNClassifier
from similitude.plotting import RiskCoverageDisplay

RNG = np.random.default_rng(0)
Y = np.arange(60) % 2
POINTS = RNG.normal(size=60) + 1.5 * Y
S = -np.abs(POINTS[:, None] - POINTS)


def test_each_threshold_counts_all_samples_at_or_above_it():
    confidence = np.round(RNG.random(50), 1)
    correct = RNG.random(50) < confidence
    display = RiskCoverageDisplay.from_predictions(correct, confidence)
    for share, error, threshold in zip(display.shares, display.errors, display.thresholds):
        chosen = confidence >= threshold
        assert np.isclose(share, chosen.mean())
        assert np.isclose(error, np.mean(~correct[chosen]))
    assert len(display.shares) == len(np.unique(confidence))
    # The area is the mean of the error over equally many steps, of which ties share one value.
    fine = [np.mean(~correct[confidence >= value]) for value in np.sort(confidence)]
    assert np.isclose(display.area_, np.mean(fine))
    assert np.array_equal(display.line_.get_ydata(), display.errors)


def test_of_a_fitted_classifier_and_of_left_out_samples():
    knn = KNNClassifier(7).fit(S[:40, :40], Y[:40])
    rows, truth = S[40:, :40], Y[40:]
    display = RiskCoverageDisplay.from_estimator(knn, rows, truth)
    assert np.isclose(display.errors[-1], 1 - knn.score(rows, truth))
    assert display.line_.get_label().startswith("KNNClassifier: error")
    auto = AutoClassifier(["k-NN", "nearest centroid"], n_repeats=1, cv=3).fit(S, Y)
    both = RiskCoverageDisplay.from_auto(auto, Y, name="two", ax=display.ax_)
    assert both.ax_ is display.ax_
    assert np.isclose(both.errors[-1], np.mean(auto.out_of_fold_.labels != Y))
    assert both.thresholds[0] == auto.out_of_fold_.proba.max()


def test_operating_points_lie_on_the_curve():
    auto = AutoClassifier(["k-NN", "nearest centroid"], n_repeats=1, cv=3).fit(S, Y)
    points = auto.operating_points([0.6, 0.7, 0.999])
    display = RiskCoverageDisplay.from_auto(auto, Y, points=points)
    marks = display.points_.get_offsets()
    assert len(marks) == 2  # the last assigns nothing
    for (share, error), point in zip(marks, points):
        i = np.flatnonzero(np.isclose(display.shares, share))
        assert np.isclose(display.errors[i], error)
        assert share == point.coverage
    assert RiskCoverageDisplay.from_auto(auto, Y).points_ is None


def test_errors():
    with pytest.raises(ValueError, match=r"correct and confidence must have one value for each sample; got shapes"):
        RiskCoverageDisplay.from_predictions([True, False], [0.5])
    with pytest.raises(ValueError, match="correct must hold True and False"):
        RiskCoverageDisplay.from_predictions([2, 0], [0.5, 0.1])
    with pytest.raises(ValueError, match="confidence contains NaN"):
        RiskCoverageDisplay.from_predictions([True, False], [0.5, np.nan])
    with pytest.raises(ValueError, match="LinearSVC has none"):
        RiskCoverageDisplay.from_estimator(LinearSVC().fit(POINTS[:, None], Y), POINTS[:, None], Y)
