"""Compiled functions of the machines on features refuse arrays that do not fit together."""

import numpy as np
import pytest

from similitude._native import lasso_active_set, lasso_sweep, margin_program
from similitude._native import testing_factor_columns as factor_columns


def problem(**changes):
    """Return the arrays of a problem with three columns of length four, some of them replaced."""
    rows = np.random.default_rng(0).normal(size=(3, 4))
    arrays = {
        "rows": rows,
        "G": rows @ rows.T,
        "squares": np.ones(3),
        "y": np.ones(4),
        "r": np.ones(4),
        "bounds": np.ones(3),
        "free": np.ones(3, bool),
        "a": np.zeros(3),
        "columns": np.arange(3),
        "U": np.empty((3, 3)),
        "x": np.empty(3),
        "states": np.zeros(8, np.intp),
    }
    return arrays | changes


def sweep(p):
    return lasso_sweep(p["rows"], p["squares"], 0.1, p["bounds"], 5, p["a"], p["r"])


def active_set(p):
    return lasso_active_set(p["rows"], p["G"], p["y"], 0.1, p["bounds"], 9, 9, p["free"], p["a"])


def factor(p):
    return factor_columns(p["rows"], p["G"], p["columns"], p["U"], p["x"])


def margins(p):
    return margin_program(p["rows"], p["y"], 1.0, 99, p["states"])


@pytest.mark.parametrize(
    ("function", "changes", "message"),
    [
        (sweep, {"squares": np.ones(2)}, "the number of squares must be 3; got 2"),
        (sweep, {"bounds": np.ones(4)}, "the number of bounds must be 3; got 4"),
        (sweep, {"a": np.zeros(2)}, "the length of a must be 3; got 2"),
        (sweep, {"r": np.ones(5)}, "the length of r must be 4; got 5"),
        (active_set, {"G": np.eye(4)}, r"G must have the shape \(3, 3\); got \(4, 4\)"),
        (active_set, {"y": np.ones(3)}, "the length of y must be 4; got 3"),
        (active_set, {"bounds": np.ones(2)}, "the number of bounds must be 3; got 2"),
        (active_set, {"free": np.ones(2, bool)}, "the length of free must be 3; got 2"),
        (active_set, {"a": np.zeros(0)}, "the length of a must be 3; got 0"),
        (factor, {"G": np.eye(2)}, r"G must have the shape \(3, 3\)"),
        (factor, {"columns": np.array([0, 1, 3])}, "columns must be from 0 to 2; got 3"),
        (factor, {"columns": np.array([0, -1])}, "columns must be from 0 to 2; got -1"),
        (factor, {"columns": np.zeros(4, np.intp)}, "columns must be at most as many"),
        (factor, {"U": np.empty((3, 2))}, r"U must have the shape \(3, 3\); got \(3, 2\)"),
        (factor, {"x": np.empty(2)}, "the length of x must be 3; got 2"),
        (margins, {"y": np.ones(3)}, "the length of y must be 4; got 3"),
        (margins, {"states": np.zeros(7, np.intp)}, "the length of states must be 8; got 7"),
    ],
)
def test_arrays_that_do_not_fit_are_refused(function, changes, message):
    function(problem())
    with pytest.raises(ValueError, match=message):
        function(problem(**changes))


def test_empty_problems_have_their_optimum():
    for shape in ((0, 4), (0, 0)):
        rows, nothing = np.empty(shape), np.empty(0)
        y = np.ones(shape[1])
        assert lasso_sweep(rows, nothing, 0.1, nothing, 5, nothing.copy(), y.copy()) == 0.0
        found = lasso_active_set(rows, np.empty((0, 0)), y, 0.1, nothing, 5, 5, np.empty(0, bool), nothing.copy())
        assert found == (1, 1.0)
    a = np.zeros(2)
    assert lasso_active_set(np.empty((2, 0)), np.eye(2), np.empty(0), 0.1, np.ones(2), 5, 5, a == 1, a) == (1, 1.0)
    assert not a.any()
