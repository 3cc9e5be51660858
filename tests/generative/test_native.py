"""The compiled functions refuse arrays that do not fit together, and accept empty ones."""

import numpy as np
import pytest
from scipy import sparse

from similitude import _native

M, N, K, G = 2, 6, 3, 2
NEIGHBORS = np.array([[0, 1, 2], [3, 5, 4]])
LABELS = np.array([[0, 0, 1], [1, 0, 1]])
S = np.arange(36.0).reshape(N, N)
CSR = sparse.csr_array(S)
SIZES = np.array([[1, 3], [1, 2]])


def _table(n=1):
    return np.zeros(n + 1), np.zeros(n), np.ones(n), np.zeros((n, 17))


def _pmfs(n):
    return {"rates": np.ones(n), "log_z": np.ones(n), "from_above": np.zeros(n, dtype=bool)}


def _statistics():
    return {
        "neighbors": NEIGHBORS,
        "similarities": np.array([[3.0, 2.0, 1.0], [9.0, 9.0, 8.0]]),
        "labels": LABELS,
        "sizes": SIZES,
        "class_sizes": np.array([3, 3]),
        "scale": 1.0,
        "tolerance": 1e-12,
        "low": 0.0,
        "high": 35.0,
        "span": 35.0,
        "rounding": 1e-12,
        "centroids": np.empty((M, 2, G), dtype=np.intp),
        "counts": np.empty((M, 2, G), dtype=np.intp),
        "winners": np.empty((M, 2), dtype=np.intp),
        "below": np.empty((M, 2, G, G)),
        "above": np.empty((M, 2, G, G)),
    }


def _ends():
    return {"floor": 1e-18, "atoms": True, "lower": _table(), "upper": _table()}


CALLS = {
    "tabulate_partition": lambda: {
        "distances": np.array([0.0, 0.5, 1.0]),
        "weights": np.ones(3),
        "atoms": True,
        "floor": 1e-18,
        "log_means": np.empty(101),
        "centres": np.empty(100),
        "widths": np.empty(100),
        "coefficients": np.empty((100, 17)),
    },
    "solve_max_entropy": lambda: {"below": np.full(3, 0.2), "above": np.full(3, 0.8), **_ends(), **_pmfs(3)},
    "log_average_products": lambda: {
        "below": np.full((M, G), 0.2),
        "above": np.full((M, G), 0.8),
        "order": np.array([[0, 1], [1, 0]]),
        "present": np.ones((M, G), dtype=bool),
        "starts": np.array([0, 2, 2, 4, 5]),
        **_pmfs(5),
        "empty": -1.0,
        "totals": np.zeros((M, G)),
    },
    "recurrences": lambda: {
        "values": np.arange(7.0),
        "starts": np.array([0, 4, 7]),
        "jacobi": np.zeros((2, 3, 3)),
    },
    "fit_mixture": lambda: {
        "below": np.full((4, 2), 0.2),
        "above": np.full((4, 2), 0.8),
        **_ends(),
        "tol": 1e-8,
        "weights": np.empty(2),
        "means": np.empty((2, 2)),
        **_pmfs(2),
        "history": np.empty(5),
    },
    "local_statistics": lambda: {"S": S, **_statistics()},
    "local_statistics_csr": lambda: {
        "data": CSR.data,
        "indices": CSR.indices,
        "indptr": CSR.indptr,
        **_statistics(),
    },
    "negative_squares": lambda: {"rows": np.ones((M, 5)), "columns": np.ones((5, N)), "out": np.empty((M, N))},
    "log_densities": lambda: {
        "samples": np.arange(12.0).reshape(N, 2),
        "nearest": NEIGHBORS,
        "rows": np.ones((M, 2)),
        "sizes": SIZES,
        "constants": np.zeros((M, 2)),
        "ridge": 0.05,
        "logs": np.empty((M, 2)),
    },
}


@pytest.mark.parametrize(
    ("entry", "argument", "value", "message"),
    [
        ("tabulate_partition", "distances", np.empty(0), "distances must not be empty"),
        ("tabulate_partition", "distances", np.array([0.0, 0.9, 0.5]), "distances must be ascending, from 0 to 1"),
        ("tabulate_partition", "distances", np.array([0.0, 0.9, np.nan]), "distances must be ascending, from 0 to 1"),
        ("tabulate_partition", "weights", np.ones(2), "the number of weights must be 3; got 2"),
        ("tabulate_partition", "log_means", np.empty(100), "the length of log_means must be 101"),
        ("tabulate_partition", "coefficients", np.empty((100, 16)), r"coefficients must have the shape \(100, 17\)"),
        ("solve_max_entropy", "above", np.ones(2), "the length of above must be 3; got 2"),
        ("solve_max_entropy", "rates", np.ones(4), "the length of rates must be 3"),
        ("solve_max_entropy", "upper", _table(0), "a table must have at least one interval"),
        ("solve_max_entropy", "lower", (np.ones(1), *_table()[1:]), "the number of means of the table lower must be 2"),
        ("solve_max_entropy", "upper", (*_table()[:3], np.ones((1, 9))), "the coefficients of the table upper must"),
        ("log_average_products", "order", np.array([[0, 1], [2, 0]]), "order must be from 0 to 1; got 2"),
        ("log_average_products", "present", np.ones((M, 3), dtype=bool), "present must have the shape"),
        ("log_average_products", "starts", np.array([0, 2, 1, 4, 5]), "starts must be ascending"),
        ("log_average_products", "starts", np.array([0, 2, 2, 4, 6]), "the last entry of starts must be 5; got 6"),
        ("log_average_products", "starts", np.array([0, 5]), "the length of starts must be 5; got 2"),
        ("recurrences", "starts", np.array([0, 7, 7]), "starts must leave no group empty"),
        ("recurrences", "starts", np.array([0, 4, 8]), "the last entry of starts must be 7; got 8"),
        ("recurrences", "jacobi", np.zeros((2, 3, 4)), "the third axis of jacobi must be 3"),
        ("fit_mixture", "above", np.ones((4, 3)), "above must have the shape"),
        ("fit_mixture", "means", np.ones((1, 2)), r"means must have the shape \(2, 2\); got \(1, 2\)"),
        ("fit_mixture", "log_z", np.ones(1), "the length of log_z must be 2"),
        ("local_statistics", "S", np.ones((6, 5)), "the number of columns of S must be 6; got 5"),
        ("local_statistics", "S", np.ones((5, 5), dtype=np.float32), "neighbors must be from 0 to 4; got 5"),
        ("local_statistics", "labels", LABELS - 1, "labels must be from 0 to 1; got -1"),
        ("local_statistics", "sizes", SIZES + [[0, 0], [0, 2]], "sizes must be from 1 to 3; got 4"),
        ("local_statistics", "sizes", SIZES[:, ::-1].copy(), "sizes must be ascending"),
        ("local_statistics", "sizes", SIZES[:1], "the number of rows of sizes must be 2; got 1"),
        ("local_statistics", "class_sizes", np.array([3]), "the number of class_sizes must be 2; got 1"),
        ("local_statistics", "tolerance", -1.0, "tolerance must be at least 0"),
        ("local_statistics", "below", np.empty((M, 2, G, 3)), "the fourth axis of below must be 2; got 3"),
        ("local_statistics_csr", "indptr", CSR.indptr[:5].copy(), "the last entry of indptr must be 35; got 23"),
        ("local_statistics_csr", "indptr", CSR.indptr[::-1].copy(), "indptr must start with 0"),
        ("local_statistics_csr", "indices", CSR.indices[:9].copy(), "the number of indices must be 35; got 9"),
        ("local_statistics_csr", "neighbors", NEIGHBORS + 1, "neighbors must be from 0 to 5; got 6"),
        ("negative_squares", "columns", np.ones((4, N)), "the number of columns of rows must be 4; got 5"),
        ("negative_squares", "out", np.ones((M, N + 1)), "out must have the shape"),
        ("log_densities", "nearest", -NEIGHBORS, "nearest must be from 0 to 5; got -1"),
        ("log_densities", "rows", np.ones((M, 3)), "rows must have the shape"),
        ("log_densities", "sizes", SIZES - [[0, 0], [1, 0]], "sizes must be from 1 to 3; got 0"),
        ("log_densities", "constants", np.zeros((M, 3)), "constants must have the shape"),
    ],
)
def test_wrong_arguments_are_named(entry, argument, value, message):
    function, arguments = getattr(_native, entry), CALLS[entry]()
    function(**arguments)
    with pytest.raises(ValueError, match=message):
        function(**{**arguments, argument: value})


def test_empty_arrays_are_no_error():
    nothing, no_places = np.empty(0), np.empty((0, K), dtype=np.intp)
    _native.solve_max_entropy(nothing, nothing, 1e-18, True, _table(), _table(), *_pmfs(0).values())
    assert _native.keep_distinct(nothing, 1.0) == 0
    _native.recurrences(nothing, np.zeros(1, dtype=np.intp), np.empty((0, 12, 12)))
    _native.negative_squares(np.empty((0, 5)), np.ones((5, N)), np.empty((0, N)))
    _native.log_densities(
        np.ones((N, 2)), no_places, np.empty((0, 2)), SIZES[:0], np.zeros((0, 2)), 0.05, np.empty((0, 2))
    )
    # No sizes.
    none = np.empty((M, 0))
    _native.log_densities(np.ones((N, 2)), NEIGHBORS, np.ones((M, 2)), SIZES[:, :0].copy(), none, 0.05, none.copy())
    _native.local_statistics(
        **{
            **CALLS["local_statistics"](),
            "sizes": SIZES[:, :0].copy(),
            "centroids": np.empty((M, 0, G), dtype=np.intp),
            "counts": np.empty((M, 0, G), dtype=np.intp),
            "winners": np.empty((M, 0), dtype=np.intp),
            "below": np.empty((M, 0, G, G)),
            "above": np.empty((M, 0, G, G)),
        }
    )
    # No features: without differences there is no distance.
    out = np.ones((M, N))
    _native.negative_squares(np.empty((M, 0)), np.empty((0, N)), out)
    assert not out.any()
