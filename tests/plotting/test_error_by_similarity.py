import numpy as np
import pytest

from similitude import KNNClassifier, error_by_similarity
from similitude.plotting import ErrorBySimilarityDisplay


def _problem(n=120):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 2))
    return np.sqrt(((X[:, None] - X[None]) ** 2).sum(axis=2)), (X[:, 0] + rng.normal(size=n) > 0).astype(int)


@pytest.mark.parametrize("distances", [True, False])
def test_the_line_and_the_band_are_the_bins(distances):
    D, y = _problem()
    S, model = (D, KNNClassifier(3, dissimilarity="exp")) if distances else (-D, KNNClassifier(3))
    found = error_by_similarity(model, S, y, n_bins=5)
    display = ErrorBySimilarityDisplay.from_estimator(model, S, y, n_bins=5)
    x, heights = display.line_.get_data()
    assert x.tolist() == [part.middle for part in found.bins]
    assert heights == pytest.approx([100 * part.error for part in found.bins])
    drawn = {tuple(point) for point in display.band_.get_paths()[0].vertices.round(9).tolist()}
    for part in found.bins:
        assert {(round(part.middle, 9), round(100 * end, 9)) for end in (part.low, part.high)} <= drawn
    assert display.ax_.xaxis_inverted() is not distances
    assert ("dissimilarity" in display.ax_.get_xlabel()) is distances
    assert display.ax_.get_legend() is None


def test_a_second_curve_is_not_cut_off():
    D, y = _problem()
    first = ErrorBySimilarityDisplay.from_estimator(KNNClassifier(3), -D, y, name="$first$")
    worse = ErrorBySimilarityDisplay.from_estimator(KNNClassifier(3), -D, 1 - (D[0] > 1), name="second", ax=first.ax_)
    assert worse.ax_ is first.ax_
    bottom, top = first.ax_.get_ylim()
    ends = [end for shown in (first, worse) for part in shown.found.bins for end in (100 * part.low, 100 * part.high)]
    assert bottom == 0
    assert top >= max(ends)
    assert first.ax_.xaxis_inverted()
    assert [text.get_text() for text in first.ax_.get_legend().get_texts()] == [r"\$first\$", "second"]
    assert first.line_.get_color() != worse.line_.get_color()
