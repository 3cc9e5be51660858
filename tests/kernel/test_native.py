"""Wrong calls of the compiled functions of the kernel methods are errors."""

import numpy as np
import pytest

from similitude import _native

V3, V4 = np.zeros(3), np.zeros(4)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: _native.rank_one(V3, V4, V3.copy(), np.eye(3)), "length of z must be 3; got 4"),
        (lambda: _native.rank_one(V3, V3, V4.copy(), np.eye(3)), "length of shifts must be 3; got 4"),
        (lambda: _native.rank_one(V3, V3, V3.copy(), np.ones((3, 4))), r"vectors must have the shape \(3, 3\)"),
        (lambda: _dual(K=np.ones((3, 4))), r"K must have the shape \(3, 3\)"),
        (lambda: _dual(K=np.eye(4)), r"K must have the shape \(3, 3\)"),
        (lambda: _dual(low=V4), "length of low must be 3; got 4"),
        (lambda: _dual(high=V4), "length of high must be 3; got 4"),
        (lambda: _dual(beta=V4.copy()), "length of beta must be 3; got 4"),
        (lambda: _dual(h=V4.copy()), "length of h must be 3; got 4"),
    ],
)
def test_wrong_lengths_are_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def _dual(**changed):
    arguments = {"K": np.eye(3), "y": np.array([1.0, -1.0, 1.0]), "size": 1.0, "low": np.array([0.0, -5.0, 0.0])}
    arguments.update({"high": np.array([5.0, 0.0, 5.0]), "steps": 100, "beta": V3.copy(), "h": V3.copy(), **changed})
    return _native.solve_dual(**arguments), arguments["beta"], arguments["h"]


def test_dual_of_a_small_problem():
    # beta = (t, -2 t, t) by symmetry: 3 t^2 - 4 t is least at t = 2/3.
    solved, beta, h = _dual()
    assert solved
    assert np.allclose(beta, [2 / 3, -4 / 3, 2 / 3], rtol=1e-14)
    assert np.allclose(h, beta, rtol=1e-14)
    assert not _dual(steps=0)[0]


def test_nothing_to_do():
    empty = np.empty(0)
    _native.rank_one(empty, empty, empty.copy(), np.empty((0, 0)))
    assert _native.solve_dual(np.empty((0, 0)), empty, 1.0, empty, empty, 10, empty.copy(), empty.copy())
