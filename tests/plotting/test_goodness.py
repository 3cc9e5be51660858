import warnings

import matplotlib.pyplot as plt
import numpy as np
import pytest

from similitude.plotting import GoodnessDisplay
from similitude.theory.goodness import goodness


def _problem(n=30, seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    X = rng.normal(size=(n, 2)) + 0.8 * y[:, None]
    return -np.abs(X[:, None] - X[None]).sum(-1), y


def _step(line, gamma):
    """The height at which a line drawn in steps crosses gamma, at a jump the upper end of the part before it."""
    x, heights = line.get_data()
    return heights[np.searchsorted(x, gamma, side="left")]


def test_the_line_is_the_curve():
    S, y = _problem()
    found = goodness(S, y)
    display = GoodnessDisplay.from_matrix(S, y)
    assert display.line_.get_drawstyle() == "steps-pre"
    rng = np.random.default_rng(1)
    for gamma in np.r_[found.margins, 0.0, 1.0, rng.uniform(found.margins.min(), 1, 50)]:
        assert _step(display.line_, gamma) == found.curve(gamma)


def test_the_band_is_drawn_at_its_confidence():
    S, y = _problem()
    found = goodness(S, y)
    for confidence in (0.95, 0.5):
        display = GoodnessDisplay.from_matrix(S, y, confidence=confidence)
        low, high = found.band(display.gammas, confidence)
        assert np.array_equal(display.low, low)
        assert np.array_equal(display.high, high)
        assert display.confidence == confidence
        heights = display.band_.get_paths()[0].vertices[:, 1]
        assert (heights.min(), heights.max()) == (low.min(), high.max())
    assert GoodnessDisplay.from_matrix(S, y, confidence=None).band_ is None


def test_the_mark_is_at_the_pseudo_gamma_on_the_curve():
    S, y = _problem()
    found = goodness(S, y)
    display = GoodnessDisplay.from_goodness(found)
    x, height = display.mark_.get_xydata()[0]
    assert x == found.pseudo_gamma
    assert height == pytest.approx(found.curve(found.pseudo_gamma))
    assert display.line_.get_label() == f"pseudo gamma {found.pseudo_gamma:.3g}"


def test_dissimilarities_are_drawn_as_similarities():
    S, y = _problem()
    display = GoodnessDisplay.from_matrix(-S, y, dissimilarity="max-minus")
    assert np.array_equal(display.epsilons, GoodnessDisplay.from_matrix(S, y).epsilons)


def test_several_curves_on_the_same_axes_differ():
    S, y = _problem()
    found = goodness(S, y)
    _, ax = plt.subplots()
    first = GoodnessDisplay.from_goodness(found, name="all pairs", ax=ax)
    second = GoodnessDisplay.from_goodness(found.reweighted(np.arange(30) + 1.0), name="reweighted", ax=ax)
    third = GoodnessDisplay.from_goodness(found.balcan_blum(), name="means", ax=ax)
    assert len({display.line_.get_color() for display in (first, second, third)}) == 3
    assert [text.get_text().split(":")[0] for text in ax.get_legend().get_texts()] == [
        "all pairs",
        "reweighted",
        "means",
    ]
    assert (second.band_, third.band_, third.mark_) == (None, None, None)
    assert second.mark_.get_xdata()[0] == found.reweighted(np.arange(30) + 1.0).pseudo_gamma
    assert first.ax_ is ax
    assert len([line for line in ax.lines if line.get_linestyle() == ":"]) == 1


def test_names_are_literal():
    S, y = _problem()
    display = GoodnessDisplay.from_matrix(S, y, name="_$a$ and $b$")
    (text,) = display.ax_.get_legend().get_texts()
    shown, mathematics = text._preprocess_math(text.get_text())
    assert shown.strip("\u200b").startswith("_$a$ and $b$: pseudo gamma")
    assert not mathematics


def test_a_negative_pseudo_gamma_and_samples_left_out():
    S, _ = _problem(8)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        display = GoodnessDisplay.from_matrix(-S - 20 * np.eye(8), [0, 0, 0, 1, 1, 1, 1, 2])
    assert np.isfinite(display.epsilons).all()
    assert display.epsilons[-1] <= 1
    shown = GoodnessDisplay(gammas=[-1, 1], epsilons=[0, 1], pseudo_gamma=-0.5).plot()
    assert shown.line_.get_label() == "pseudo gamma \N{MINUS SIGN}0.5"
    assert GoodnessDisplay(gammas=[-1, 1], epsilons=[0, 1]).plot().line_.get_label() == "epsilon(gamma)"


def test_errors_leave_no_figure():
    S, y = _problem()
    for options, message in (
        ({"confidence": 2}, "confidence must be a number in"),
        ({"dissimilarity": "nope"}, "dissimilarity must be"),
    ):
        with pytest.raises(ValueError, match=message):
            GoodnessDisplay.from_matrix(S, y, **options)
    with pytest.raises(ValueError, match="y must have one label per sample"):
        GoodnessDisplay.from_matrix(S, y[:3])
    assert plt.get_fignums() == []


def test_several_axes_for_one_curve_are_refused():
    _, axes = plt.subplots(1, 2)
    with pytest.raises(ValueError, match="ax must be one Axes for the curve; got 2"):
        GoodnessDisplay(gammas=[0, 1], epsilons=[0, 1]).plot(axes)


def test_the_extra_is_named_where_matplotlib_is_missing(names_the_extra):
    S, y = _problem()
    found = goodness(S, y)
    names_the_extra(lambda: GoodnessDisplay.from_matrix(S, y), lambda: GoodnessDisplay.from_goodness(found))
