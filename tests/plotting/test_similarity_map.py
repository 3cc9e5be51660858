"""The map of the samples: classical scaling, names, and what the pointer shows."""

import matplotlib as mpl
import numpy as np
import pytest

mpl.use("Agg")

from similitude import Proximities
from similitude.diagnosis.pictures import sample_map
from similitude.plotting import SimilarityMapDisplay


def points(n=30, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, 2)) * [3.0, 1.0], np.arange(n) % 2


def test_points_in_the_plane_are_found_again():
    X, y = points()
    D = np.sqrt(((X[:, None] - X) ** 2).sum(axis=2))
    display = SimilarityMapDisplay.from_matrix(D, y, dissimilarity="double-centring")
    places = display.places
    np.testing.assert_allclose(np.sqrt(((places[:, None] - places) ** 2).sum(axis=2)) / D.max(), D / D.max(), atol=1e-6)
    found = sample_map(-D)
    assert found.neighbors[0].tolist() == np.argsort(D[0])[1:11].tolist()
    assert 0.8 < found.kept <= 1


def test_order_and_unit_decide_nothing():
    X, _ = points()
    S = X @ X.T + np.random.default_rng(1).normal(0, 0.3, (30, 30))
    order = np.random.default_rng(2).permutation(30)
    once, again = sample_map(S), sample_map(1024 * S[np.ix_(order, order)])
    np.testing.assert_allclose(np.abs(again.places) / 32, np.abs(once.places[order]), atol=1e-9)
    assert again.kept == pytest.approx(once.kept)
    assert np.array_equal(order[again.neighbors], once.neighbors[order])


def test_names_and_what_the_pointer_shows():
    X, y = points(5)
    S = -((X[:, None] - X) ** 2).sum(axis=2)
    S[0, 1] = np.nan
    display = SimilarityMapDisplay.from_matrix(Proximities(S, ids=list("abcde")), y)
    assert [note.get_text() for note in display.names_] == list("abcde")
    assert display.about(2).startswith("c (0)\nnearest: ")
    display.figure_.canvas.draw()
    event = type("Event", (), {"inaxes": display.ax_})()
    event.x, event.y = display.ax_.transData.transform(np.asarray(display.places)[2])
    display._hover(event)
    assert display._note.get_visible()
    assert display._note.get_text() == display.about(2)
    many = SimilarityMapDisplay.from_matrix(np.eye(70), np.arange(70) % 3)
    assert (many.names_, len(many.points_)) == ([], 3)
    with pytest.raises(ValueError, match="at least three samples"):
        SimilarityMapDisplay.from_matrix(np.eye(2), [0, 1])
