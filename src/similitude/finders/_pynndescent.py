"""The lists of neighbours of a graph as pynndescent finds them, for vectors and the metrics that it knows."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

import numpy as np

from similitude._utils.extras import require
from similitude._utils.scikit_learn import num_samples
from similitude.similarities import Measure

METRICS = {
    "euclidean": "euclidean",
    "l2": "euclidean",
    "sqeuclidean": "euclidean",
    "manhattan": "manhattan",
    "l1": "manhattan",
    "cityblock": "manhattan",
    "chebyshev": "chebyshev",
    "cosine": "cosine",
    "correlation": "correlation",
    "canberra": "canberra",
    "braycurtis": "braycurtis",
    "hamming": "hamming",
}
"""The names that pynndescent uses for the measures it supports."""

_WORTH_COMPILING = 20_000


def uses_pynndescent(builder: str, objects: Any, measure: Measure, n_neighbors: int) -> bool:
    """Return whether pynndescent is to find the neighbours; raise a ValueError if it must and cannot."""
    numeric = isinstance(objects, np.ndarray) and objects.ndim == 2 and objects.dtype.kind in "biuf"
    known = measure.known and measure.name in METRICS and numeric and _fits_single_precision(objects)
    if builder == "pynndescent" and not known:
        raise ValueError(
            "builder='pynndescent' needs an array of numbers, the largest within 1e-12 and 1e12, and one of the "
            f"metrics {sorted(METRICS)}; got {type(objects).__name__} and {measure.name!r}."
        )
    n = num_samples(objects)
    if builder == "auto":
        known = known and n >= _WORTH_COMPILING and find_spec("pynndescent") is not None
    return known and builder != "own" and n > n_neighbors + 1


def neighbors_by_pynndescent(objects: np.ndarray, measure: Measure, n_neighbors: int, seed: int) -> np.ndarray:
    """Return the positions of the neighbours of each object, of shape (n, n_neighbors + 1)."""
    index = require("pynndescent", "graph").NNDescent(
        np.asarray(objects, dtype=np.float32),
        metric=METRICS[measure.name],
        n_neighbors=n_neighbors + 1,
        random_state=seed,
    )
    indices = np.asarray(index.neighbor_graph[0])
    own = np.arange(len(indices))[:, None]
    # Places that it could not fill are -1; the pair of an object with itself is ignored later.
    return np.where(indices < 0, own, indices)


def _fits_single_precision(X: np.ndarray) -> bool:
    """Return whether pynndescent, which computes in single precision, can distinguish the rows without overflow."""
    largest = float(np.max(np.abs(X), initial=0.0))
    return 1e-12 < largest < 1e12
