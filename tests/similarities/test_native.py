"""Compiled functions of the similarities refuse arrays that do not fit together."""

import numpy as np
import pytest

from similitude._native import elastic_distances, one_sided_tangent, orthonormalize, two_sided_tangent


def arrays(**changes):
    """Return the arrays of two and three images of six pixels, with bases of two rows, some of them replaced."""
    defaults = {
        "X": np.ones((2, 6)),
        "bases_x": np.zeros((2, 2, 6)),
        "Z": np.zeros((3, 6)),
        "bases_z": np.zeros((3, 2, 6)),
        "start": 0,
        "stop": 2,
        "squares": np.empty((2, 3)),
    }
    return defaults | changes


def two(p):
    two_sided_tangent(p["X"], p["bases_x"], p["Z"], p["bases_z"], 0.1, False, p["start"], p["stop"], p["squares"])


def one(p):
    one_sided_tangent(p["X"], p["Z"], p["bases_z"], 0.1, p["start"], p["stop"], p["squares"])


@pytest.mark.parametrize("function", [one, two])
@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"Z": np.zeros((3, 5))}, "the number of columns of Z must be 6; got 5"),
        ({"bases_z": np.zeros((2, 2, 6))}, "the first axis of bases_z must be 3; got 2"),
        ({"bases_z": np.zeros((3, 2, 5))}, "the third axis of bases_z must be 6; got 5"),
        ({"start": -1}, "start and stop must be rows of X"),
        ({"stop": 3}, "start and stop must be rows of X"),
        ({"start": 2, "stop": 1}, "start and stop must be rows of X"),
        ({"squares": np.empty((3, 3))}, r"squares must have the shape \(2, 3\); got \(3, 3\)"),
    ],
)
def test_arrays_that_do_not_fit_are_refused(function, changes, message):
    function(arrays())
    with pytest.raises(ValueError, match=message):
        function(arrays(**changes))


def test_bases_that_do_not_fit_are_refused():
    with pytest.raises(ValueError, match="the first axis of bases_x must be 2; got 3"):
        two(arrays(bases_x=np.zeros((3, 2, 6))))
    with pytest.raises(ValueError, match="the second axis of bases_x must be 2; got 4"):
        two(arrays(bases_x=np.zeros((2, 4, 6))))
    with pytest.raises(ValueError, match="the second axis of bases must be 4; got 3"):
        orthonormalize(np.ones((2, 4, 6)), np.empty((2, 3, 6)))


def test_images_without_pixels_or_tangents():
    for n_tangents, n_pixels in ((0, 6), (2, 0), (0, 0)):
        squares = np.full((2, 3), -1.0)
        changes = {"X": np.ones((2, n_pixels)), "Z": np.zeros((3, n_pixels)), "squares": squares}
        bases = {name: np.zeros((n, n_tangents, n_pixels)) for name, n in (("bases_x", 2), ("bases_z", 3))}
        for function in (one, two):
            function(arrays(**changes, **bases))
            assert np.all(squares == n_pixels)
    orthonormalize(np.empty((0, 4, 6)), np.empty((0, 4, 6)))


@pytest.mark.parametrize("n_pixels", [1, 3, 4, 25, 64])
def test_bases_are_orthonormal_and_span_the_tangents(n_pixels):
    tangents = np.random.default_rng(0).normal(size=(3, 5, n_pixels))
    tangents[1, 2] = 2 * tangents[1, 0]
    tangents[2, 1] = 0
    bases = np.empty_like(tangents)
    orthonormalize(tangents, bases)
    for T, B in zip(tangents, bases):
        rank = np.linalg.matrix_rank(T)
        assert np.allclose(B @ B.T, np.diag(np.arange(5) < rank), atol=1e-13)
        assert np.allclose(T @ B.T @ B, T, atol=1e-12)


@pytest.mark.parametrize("spring", [1e-17, 0.0])
def test_planes_that_share_a_direction_without_a_spring(spring):
    rng = np.random.default_rng(0)
    X, tangents = rng.normal(size=(1, 9)), rng.normal(size=(1, 3, 9))
    bases, squares = np.empty_like(tangents), np.empty((1, 1))
    orthonormalize(tangents, bases)
    Z = X + rng.normal(size=(1, 3)) @ tangents[0]
    two_sided_tangent(X, bases, Z, bases, spring, False, 0, 1, squares)
    assert 0 <= squares[0, 0] < 1e-20


def series(**changes):
    """Return the arguments for two and three series of one channel, some of them replaced."""
    return {
        "measure": "dtw",
        "parameters": np.zeros(0),
        "window": -1.0,
        "channels": 1,
        "x": np.arange(5.0),
        "x_starts": np.array([0, 2, 5]),
        "z": np.arange(6.0),
        "z_starts": np.array([0, 2, 3, 6]),
        "half": False,
        "keep": 0,
        "start": 0,
        "stop": 2,
        "out": np.empty((2, 3)),
    } | changes


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"measure": "none"}, 'measure must be the name of an elastic distance; got "none"'),
        ({"parameters": np.ones(1)}, "the number of parameters must be 0; got 1"),
        ({"measure": "adtw"}, "the number of parameters must be 1; got 0"),
        ({"measure": "adtw", "parameters": np.array([np.nan])}, "parameters must be finite"),
        ({"measure": "shape_dtw", "parameters": np.array([-1.0])}, "the reach must be from 0 to 1e6"),
        ({"measure": "shape_dtw", "parameters": np.array([1.0])}, "a series has no time step"),
        ({"measure": "msm", "parameters": np.ones(1), "channels": 5}, "msm takes one channel at a time"),
        ({"window": np.nan}, "window must be at most 1"),
        ({"channels": 2}, "channels must divide the number of values"),
        ({"channels": 0}, "channels must divide the number of values"),
        ({"x_starts": np.array([0, 2, 4])}, "the last entry of the starts of x must be 5; got 4"),
        ({"z_starts": np.array([0, 3, 2, 6])}, "the starts of z must be ascending"),
        ({"z_starts": np.array([0, 2, 2, 6])}, "a series has no time step"),
        ({"x_starts": np.array([0, 0, 5])}, "a series has no time step"),
        ({"half": True}, "half needs z to be x"),
        ({"keep": -1}, "keep must not be negative"),
        ({"start": -1}, "start and stop must be rows of x"),
        ({"stop": 3}, "start and stop must be rows of x"),
        ({"out": np.empty((3, 3))}, r"out must have the shape \(2, 3\); got \(3, 3\)"),
    ],
)
def test_series_that_do_not_fit_are_refused(changes, message):
    elastic_distances(**series())
    with pytest.raises(ValueError, match=message):
        elastic_distances(**series(**changes))
