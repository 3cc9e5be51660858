"""Compiled functions of the finders refuse arrays that do not fit together."""

import numpy as np
import pytest

from similitude._native import (
    both_directions,
    insert_neighbors,
    offer,
    offer_counting,
    propose_neighbors,
    walk_graph,
)


def arrays(**changes):
    """Return the arrays of five samples with two neighbours each, some of them replaced."""
    defaults = {
        "block": np.ones((5, 7)),
        "values": np.full((5, 2), -np.inf),
        "places": np.full((5, 2), 7),
        "labels": np.array([0, 1, 0, 1, 0, 1, 0]),
        "beyond": np.zeros((5, 2)),
        "rows": np.array([0, 1, 4]),
        "columns": np.array([1, 2, 3]),
        "alike": np.ones(3),
        "nearest": np.array([[1, 2], [0, -1], [0, 1], [4, 2], [3, 0]], dtype=np.int32),
        "closeness": np.zeros((5, 2)),
        "fresh": np.ones((5, 2), bool),
        "links": np.full((5, 3), -1, dtype=np.int32),
        "new": np.zeros((5, 3), bool),
        "codes": np.ones((5, 6), dtype=np.float32),
        "first": 2,
        "proposed": np.empty((3, 4), dtype=np.int32),
        "pool": np.array([[0, 3], [4, -1]], dtype=np.int32),
        "waiting": np.ones((2, 2), bool),
        "edges": np.array([[1, 2], [0, -1], [0, 1], [4, 2], [3, 0]], dtype=np.int32),
        "visited": np.zeros((2, 5), bool),
        "found": np.empty((2, 4), dtype=np.int32),
    }
    return defaults | changes


def offered(p):
    offer(p["block"], 0, p["values"], p["places"])


def counted(p):
    offer_counting(p["block"], 0, p["values"], p["places"], p["labels"], p["beyond"])


def insert(p):
    insert_neighbors(p["rows"], p["columns"], p["alike"], p["nearest"], p["closeness"], p["fresh"])


def link(p):
    both_directions(p["nearest"], p["fresh"], p["links"], p["new"])


def propose(p):
    propose_neighbors(p["links"], p["new"], p["nearest"], p["codes"], p["first"], p["proposed"])


def walk(p):
    walk_graph(p["pool"], p["waiting"], p["edges"], 2, p["visited"], p["found"])


def positions(*shape, value=0):
    return np.full(shape, value, dtype=np.int32)


@pytest.mark.parametrize(
    ("function", "changes", "message"),
    [
        (offered, {"values": np.full((4, 2), -np.inf)}, "the number of rows of values must be 5; got 4"),
        (offered, {"places": np.full((5, 3), 7)}, r"places must have the shape \(5, 2\); got \(5, 3\)"),
        (counted, {"values": np.full((4, 2), -np.inf)}, "the number of rows of values must be 5; got 4"),
        (counted, {"values": np.empty((5, 0)), "places": np.empty((5, 0), np.intp)}, "at least one column"),
        (counted, {"places": np.full((5, 2), 8)}, "places must be from 0 to 7; got 8"),
        (counted, {"labels": np.zeros(6, np.intp)}, "labels must have an entry for each column|places must be from 0"),
        (counted, {"labels": np.full(7, 2)}, "labels must be from 0 to 1; got 2"),
        (counted, {"beyond": np.zeros((4, 2))}, "the number of rows of beyond must be 5; got 4"),
        (insert, {"columns": np.array([1, 2])}, "the number of columns must be 3; got 2"),
        (insert, {"alike": np.ones(4)}, "the number of values must be 3; got 4"),
        (insert, {"rows": np.array([0, 1, 5])}, "rows must be from 0 to 4; got 5"),
        (insert, {"rows": np.array([0, 1, -1])}, "rows must be from 0 to 4; got -1"),
        (insert, {"columns": np.array([1, 2, 2**31])}, "columns must be from 0 to 2147483647"),
        (insert, {"closeness": np.zeros((5, 3))}, r"closeness must have the shape \(5, 2\)"),
        (insert, {"fresh": np.ones((4, 2), bool)}, r"fresh must have the shape \(5, 2\)"),
        (link, {"nearest": positions(5, 2, value=5)}, "nearest must be from -1 to 4; got 5"),
        (link, {"fresh": np.ones((5, 3), bool)}, r"fresh must have the shape \(5, 2\)"),
        (link, {"links": positions(5, 1), "new": np.ones((5, 1), bool)}, "links must have at least as many columns"),
        (link, {"links": positions(4, 3)}, r"links must have the shape \(5, 3\); got \(4, 3\)"),
        (link, {"new": np.zeros((5, 4), bool)}, r"new must have the shape \(5, 3\)"),
        (propose, {"links": positions(5, 3, value=5)}, "links must be from -1 to 4; got 5"),
        (propose, {"links": positions(4, 3)}, "the number of rows of links must be 5; got 4"),
        (propose, {"nearest": positions(5, 2, value=-2)}, "nearest must be from -1 to 4; got -2"),
        (propose, {"new": np.zeros((5, 2), bool)}, r"new must have the shape \(5, 3\)"),
        (propose, {"codes": np.ones((4, 6), dtype=np.float32)}, "the number of rows of codes must be 5; got 4"),
        (propose, {"first": 3}, "first and proposed must be rows of nearest"),
        (propose, {"first": -1}, "first and proposed must be rows of nearest"),
        (walk, {"pool": positions(2, 2, value=5)}, "pool must be from -1 to 4; got 5"),
        (walk, {"waiting": np.ones((2, 3), bool)}, r"waiting must have the shape \(2, 2\)"),
        (walk, {"visited": np.zeros((2, 4), bool)}, r"visited must have the shape \(2, 5\)"),
        (walk, {"found": positions(3, 4)}, "the number of rows of found must be 2; got 3"),
        (walk, {"found": positions(2, 3)}, "found must have a column for each edge"),
        (walk, {"edges": positions(5, 2, value=5)}, "edges must lead to samples of the graph"),
    ],
)
def test_arrays_that_do_not_fit_are_refused(function, changes, message):
    function(arrays())
    with pytest.raises(ValueError, match=message):
        function(arrays(**changes))


def test_nothing_to_do():
    for dtype in (np.float32, np.float64):
        for m, n, k in ((0, 7, 2), (5, 0, 2), (5, 7, 0)):
            values, places = np.full((m, k), -np.inf, dtype), np.full((m, k), n)
            offer(np.ones((m, n), dtype), 0, values, places)
            assert np.all(values == (-np.inf if n == 0 else 1))
    empty = np.empty(0, np.intp)
    assert insert_neighbors(empty, empty, np.empty(0), positions(0, 2), np.empty((0, 2)), np.empty((0, 2), bool)) == 0
    one = np.zeros(1, np.intp)
    assert insert_neighbors(one, one, np.ones(1), positions(1, 0), np.empty((1, 0)), np.empty((1, 0), bool)) == 0
    both_directions(positions(0, 2), np.empty((0, 2), bool), positions(0, 4), np.empty((0, 4), bool))
    codes, flags = np.empty((2, 0), np.float32), np.ones((2, 1), bool)
    propose_neighbors(positions(2, 1), flags, positions(2, 1, value=-1), codes, 2, positions(0, 3))
    propose_neighbors(positions(2, 1), flags, positions(2, 1, value=-1), codes, 0, positions(2, 0))
    flags, visited = np.empty((1, 0), bool), np.zeros((1, 2), bool)
    assert walk_graph(positions(1, 0), flags, positions(2, 2), 3, visited, positions(1, 0)) == 0
