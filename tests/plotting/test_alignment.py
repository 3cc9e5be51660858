"""AlignmentDisplay: the path has the cost that the compiled distance returns."""

import numpy as np
import pytest

from similitude.plotting import AlignmentDisplay
from similitude.similarities import ADTW, DTW, MSM, WDTW

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")

MEASURES = [DTW(), DTW(0.2), DTW(derivative=True), WDTW(g=0.3), ADTW(0.5, 0.7), DTW(0.0)]


@pytest.mark.parametrize("lengths", [(20, 20), (23, 14), (11, 30)])
@pytest.mark.parametrize("measure", MEASURES, ids=str)
def test_the_costs_along_the_path_add_up_to_the_distance(measure, lengths):
    rng = np.random.default_rng(0)
    x, z = (rng.normal(size=(2, n)).cumsum(axis=1) for n in lengths)
    display = AlignmentDisplay.from_series(x, z, measure=measure, channel=1)
    path = display.path - int(measure.derivative)  # slopes begin at the second step
    assert path[0].tolist() == [0, 0]
    steps = np.diff(path, axis=0)
    assert set(map(tuple, steps.tolist())) <= {(0, 1), (1, 0), (1, 1)}
    if measure.derivative:  # slopes are shorter than the series, whose ends have none
        x, z = ((s[:, 1:-1] - s[:, :-2] + (s[:, 2:] - s[:, :-2]) / 2) / 2 for s in (x, z))
        assert path[-1].tolist() == [x.shape[1] - 1, z.shape[1] - 1]
    else:
        assert path[-1].tolist() == [lengths[0] - 1, lengths[1] - 1]
    costs = ((x[:, path[:, 0]] - z[:, path[:, 1]]) ** 2).sum(axis=0)
    if isinstance(measure, WDTW):
        costs = costs / (1 + np.exp(-measure.g * (np.abs(path[:, 0] - path[:, 1]) - max(lengths) / 2)))
    penalty = measure.warp_penalty if isinstance(measure, ADTW) else 0.0
    assert costs.sum() + penalty * np.sum(steps.sum(axis=1) == 1) == pytest.approx(display.distance)


def test_what_is_drawn():
    display = AlignmentDisplay.from_series([0.0, 1, 2], [0.0, 2, 2, 1], names=("$a$", "_b"))
    above, below = (line.get_ydata() for line in display.lines_)
    assert above.min() > below.max()
    assert len(display.pairs_.get_segments()) == len(display.path)
    assert display.ax_.get_title() == f"distance {display.distance:.3g}"
    assert [text.get_text() for text in display.ax_.get_legend().get_texts()] == [r"\$a\$", "\u200b_b"]
    long = AlignmentDisplay.from_series(np.arange(200.0), np.arange(200.0))
    assert len(long.pairs_.get_segments()) == 60


def test_arguments_are_checked():
    with pytest.raises(ValueError, match="measure must be one of the distances DTW, WDTW, ADTW"):
        AlignmentDisplay.from_series([0.0, 1], [0.0, 1], measure=MSM())
    with pytest.raises(ValueError, match="channel must be below 1"):
        AlignmentDisplay.from_series([0.0, 1], [0.0, 1], channel=1)
    with pytest.raises(ValueError, match="NaN"):
        AlignmentDisplay.from_series([0.0, np.nan], [0.0, 1])
