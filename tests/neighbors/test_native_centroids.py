"""The compiled functions of local centroids and means refuse arrays that do not fit together."""

import numpy as np
import pytest
from scipy import sparse

from similitude import _native

NEIGHBORS = np.array([[0, 1, 2], [3, 5, 4]])
CSR = sparse.csr_array(np.arange(36.0).reshape(6, 6))


def _lists():
    return {
        "neighbors": NEIGHBORS,
        "similarities": np.array([[3.0, 2.0, 1.0], [9.0, 9.0, 8.0]]),
        "labels": np.array([[0, 0, 1], [1, 0, 1]]),
        "sizes": np.array([[1, 3], [2, 3]]),
        "class_sizes": np.array([3, 3]),
        "share": 0.125,
        "tolerance": 1e-12,
        "winners": np.empty((2, 2), dtype=np.intp),
    }


CALLS = {
    "nearest_centroids": lambda: {"S": CSR.toarray(), **_lists()},
    "nearest_centroids_csr": lambda: {"data": CSR.data, "indices": CSR.indices, "indptr": CSR.indptr, **_lists()},
    "mean_distances": lambda: {
        "samples": np.arange(12.0).reshape(6, 2),
        "neighbors": NEIGHBORS,
        "rows": np.ones((2, 2)),
        "sizes": np.array([[1, 3], [1, 2]]),
        "distances": np.empty((2, 2)),
    },
}


@pytest.mark.parametrize(
    ("entry", "argument", "value", "message"),
    [
        ("nearest_centroids", "S", np.ones((6, 5)), "the number of columns of S must be 6; got 5"),
        ("nearest_centroids", "S", np.ones((4, 4), dtype=np.float32), "neighbors must be from 0 to 3; got 5"),
        ("nearest_centroids", "neighbors", -NEIGHBORS, "neighbors must be from 0 to 5; got -1"),
        ("nearest_centroids", "similarities", np.ones((2, 4)), r"similarities must have the shape \(2, 3\)"),
        ("nearest_centroids", "labels", np.full((2, 3), 2), "labels must be from 0 to 1; got 2"),
        ("nearest_centroids", "sizes", np.array([[1, 3], [1, 4]]), "sizes must be from 1 to 3; got 4"),
        ("nearest_centroids", "sizes", np.array([[1, 3], [3, 1]]), "sizes must be ascending"),
        ("nearest_centroids", "sizes", np.array([[1, 3]]), "the number of rows of sizes must be 2; got 1"),
        ("nearest_centroids", "class_sizes", np.array([6]), "labels must be from 0 to 0; got 1"),
        ("nearest_centroids", "tolerance", np.nan, "tolerance must be at least 0"),
        ("nearest_centroids", "winners", np.empty((2, 3), dtype=np.intp), "winners must have the shape"),
        ("nearest_centroids_csr", "indptr", CSR.indptr[:4].copy(), "the last entry of indptr must be 35; got 17"),
        ("nearest_centroids_csr", "indptr", CSR.indptr[::-1].copy(), "indptr must start with 0"),
        ("nearest_centroids_csr", "indices", CSR.indices[1:].copy(), "the number of indices must be 35; got 34"),
        ("nearest_centroids_csr", "neighbors", NEIGHBORS + 1, "neighbors must be from 0 to 5; got 6"),
        ("mean_distances", "neighbors", NEIGHBORS + 1, "neighbors must be from 0 to 5; got 6"),
        ("mean_distances", "rows", np.ones((2, 3)), "rows must have the shape"),
        ("mean_distances", "sizes", np.array([[1, 3], [0, 3]]), "sizes must be from 1 to 3; got 0"),
        ("mean_distances", "distances", np.ones((2, 1)), "distances must have the shape"),
    ],
)
def test_wrong_arguments_are_named(entry, argument, value, message):
    function, arguments = getattr(_native, entry), CALLS[entry]()
    function(**arguments)
    with pytest.raises(ValueError, match=message):
        function(**{**arguments, argument: value})


def test_empty_arrays_are_no_error():
    places, winners = np.empty((0, 3), dtype=np.intp), np.empty((0, 2), dtype=np.intp)
    sizes, counts = np.empty((0, 2), dtype=np.intp), np.empty(0, dtype=np.intp)
    _native.nearest_centroids(np.eye(6), places, np.empty((0, 3)), places, sizes, counts, 0.125, 1e-12, winners)
    _native.mean_distances(np.ones((6, 2)), places, np.empty((0, 2)), sizes, np.empty((0, 2)))
    # No neighbours, and no sizes.
    none = np.empty((2, 0), dtype=np.intp)
    _native.nearest_centroids(
        np.eye(6), none, np.empty((2, 0)), none, none, np.ones(2, np.intp), 0.125, 1e-12, none.copy()
    )
    distances = np.ones((2, 2))
    _native.mean_distances(np.empty((6, 0)), NEIGHBORS, np.empty((2, 0)), np.array([[1, 3], [1, 3]]), distances)
    assert not distances.any()
