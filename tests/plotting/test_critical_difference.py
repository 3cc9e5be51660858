import matplotlib.pyplot as plt
import numpy as np
import pytest

from similitude.experiments import run
from similitude.experiments.statistics import rank_methods
from similitude.plotting.critical_difference import CriticalDifferenceDisplay
from tests.experiments.small import PROTOCOL, data, methods

ERRORS = np.random.default_rng(0).normal(size=(6, 14)) + 0.5 * np.arange(6)[:, None]
NAMES = ["one", "two", "three", "four", "five", "six"]


def test_what_is_drawn_is_what_is_computed():
    ranking = rank_methods(ERRORS, NAMES)
    display = CriticalDifferenceDisplay.from_errors(ERRORS, NAMES)
    assert len(display.bars_) == len(ranking.groups) > 1
    for bar, group in zip(display.bars_, ranking.groups):
        ranks = [ranking.ranks[NAMES.index(name)] for name in group]
        assert bar.get_xdata() == pytest.approx([min(ranks) - 0.02, max(ranks) + 0.02])
    assert np.ptp(display.scale_.get_xdata()) == pytest.approx(ranking.critical_difference)
    words = [label.get_text().split("  ") for label in display.labels_]
    assert [next(word for word in pair if word in NAMES) for pair in words] == [
        NAMES[i] for i in np.argsort(ranking.ranks)
    ]
    assert "14 data sets" in display.ax_.get_title()
    assert display.figure_ is display.ax_.figure


def test_nothing_is_drawn_over_anything_else():
    display = CriticalDifferenceDisplay.from_errors(ERRORS, NAMES)
    display.figure_.canvas.draw()
    texts = [t for t in (*display.labels_, *display.ax_.texts, display.ax_.title) if t.get_text()]
    boxes = [t.get_window_extent() for t in dict.fromkeys(texts)]
    assert not any(a.overlaps(b) for i, a in enumerate(boxes) for b in boxes[:i])
    assert all(display.figure_.bbox.contains(*corner) for box in boxes for corner in (box.min, box.max))


def test_of_results():
    results = run(PROTOCOL, data(2), methods())
    display = CriticalDifferenceDisplay.from_results(results, level=0.1)
    assert sorted(display.methods) == sorted(methods())
    assert display.ranks == pytest.approx(results.ranking(0.1).ranks)
    assert "10%" in display.ax_.get_title()


def test_all_alike():
    display = CriticalDifferenceDisplay.from_errors(np.ones((3, 4)), "abc")
    assert len(display.bars_) == 1
    assert "Friedman p = 1" in display.ax_.get_title()


def test_all_different():
    errors = np.tile([[0.0], [1.0]], (1, 30))
    assert CriticalDifferenceDisplay.from_errors(errors, "ab").bars_ == []


def test_names_are_literal():
    display = CriticalDifferenceDisplay(methods=["$a$", "b" * 60], ranks=[1.2, 1.8], critical_difference=0.3).plot()
    text, mathematics = display.labels_[0]._preprocess_math(display.labels_[0].get_text())
    assert text == "$a$  1.2"
    assert not mathematics
    assert len(display.labels_[1].get_text()) < 40


def test_into_axes_of_the_user():
    figure, ax = plt.subplots()
    assert CriticalDifferenceDisplay.from_errors(ERRORS, NAMES, ax=ax).ax_ is ax
    assert plt.get_fignums() == [figure.number]


@pytest.mark.parametrize("ranks", [[1.0], [1.0, np.nan], [1.0, 2.0, 3.0]])
def test_bad_ranks(ranks):
    with pytest.raises(ValueError, match="ranks must be one finite number"):
        CriticalDifferenceDisplay(methods=["a", "b"], ranks=ranks, critical_difference=1.0).plot()
    assert plt.get_fignums() == []


def test_the_extra_is_named_where_matplotlib_is_missing(names_the_extra):
    names_the_extra(lambda: CriticalDifferenceDisplay.from_errors(ERRORS, NAMES))
