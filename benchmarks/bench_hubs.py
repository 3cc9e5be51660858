"""Whether rescaled neighbourhoods, which have fewer hubs, lower the errors of tuned k-NN and of kernel ridge.

The rescalings use the training samples only: local scaling divides the distance of two samples by the geometric mean of
their distances to their tenth neighbours (Schnitzer et al. 2012), mutual proximity is the share of training samples
that are farther from both (the same), and shared neighbours counts how many of their 50 nearest are the same. The data
are those of the arena, on partitions that its page does not use.
"""

import warnings
from collections.abc import Callable

import numpy as np

from benchmarks.arena.data import SOURCES, DataMissing, load
from similitude import KernelRidgeClassifier, KNNClassifier, PathSearchCV, diagnose
from similitude.auto.methods import NEIGHBORS, PENALTIES
from similitude.evaluation.relative import relative
from similitude.numerics.significance import standard_error

PARTITIONS = (1000, 1001, 1002)
NEIGHBOR = 10
SHARED = 50


def _local_scale(D: np.ndarray) -> np.ndarray:
    return np.maximum(np.partition(D, min(NEIGHBOR, D.shape[1] - 1), axis=1)[:, min(NEIGHBOR, D.shape[1] - 1)], 1e-12)


def local_scaling(train: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Return the scaled similarities of rows to the training samples."""
    return np.exp(-(rows**2) / np.outer(_local_scale(rows), _local_scale(train)))


def mutual_proximity(train: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Return the product of the shares of training samples that are farther from the one and from the other sample."""
    farther = 1 - np.argsort(np.argsort(rows, axis=1), axis=1) / rows.shape[1]
    ordered = np.sort(train, axis=1)
    back = np.stack([np.searchsorted(own, column) for own, column in zip(ordered, rows.T)], axis=1)
    return farther * (1 - back / train.shape[1])


def shared_neighbors(train: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Return the shares of the nearest training samples that two samples have in common."""
    k = min(SHARED, max(1, len(train) // 4))

    def lists(D: np.ndarray) -> np.ndarray:
        found = np.zeros(D.shape)
        np.put_along_axis(found, np.argpartition(D, k - 1, axis=1)[:, :k], 1.0, axis=1)
        return found

    return lists(rows) @ lists(train).T / k


RESCALED: dict[str, Callable[[np.ndarray, np.ndarray], np.ndarray]] = {
    "local scaling": local_scaling,
    "mutual proximity": mutual_proximity,
    "shared neighbours": shared_neighbors,
}


def _errors(train: np.ndarray, rows: np.ndarray, y: np.ndarray, truth: np.ndarray) -> list[float]:
    found = []
    for estimator, grid in (
        (KNNClassifier(), {"n_neighbors": [k for k in NEIGHBORS if k < len(y)]}),
        (KernelRidgeClassifier(), {"reg": relative(PENALTIES)}),
    ):
        search = PathSearchCV(estimator, grid, cv=5).fit((train + train.T) / 2, y)
        found.append(float(np.mean(search.predict(rows) != truth)))
    return found


def run(partitions=PARTITIONS, names=None):
    warnings.simplefilter("ignore")
    try:
        chosen = [dataset for dataset in load(names or SOURCES) if not dataset.simulated]
    except DataMissing as missing:
        return [{"name": f"skipped: {missing}", "ours_seconds": None}]
    errors, hubness = [], []
    for dataset in chosen:
        for partition in partitions:
            split = dataset.split(partition)
            train, rows = (np.asarray(X, dtype=float) for X in (split.X_train, split.X_test))
            if dataset.kind == "similarity":
                highest = train.max()
                train, rows = highest - train, highest - rows
            both = (train + train.T) / 2
            hubness.append(diagnose(-both, split.y_train).hubness or 0.0)
            maps = [lambda _, D: -D, *RESCALED.values()]
            errors.append([_errors(own(both, both), own(both, rows), split.y_train, split.y_test) for own in maps])
    found, hubs = 100 * np.array(errors), np.array(hubness) > 1.4
    rows = []
    for j, method in enumerate(("k-NN", "kernel ridge (clip)")):
        for i, name in enumerate(RESCALED, 1):
            parts = []
            for label, some in (("all", np.ones(len(hubs), bool)), ("with hubs", hubs)):
                if some.any():
                    gain = found[some, i, j] - found[some, 0, j]
                    parts.append(f"{label} ({some.sum()}): {gain.mean():+.2f} (s.e. {standard_error(gain):.2f})")
            rows.append({"name": f"{method} on {name}, error less that without, points", "goal": "; ".join(parts)})
    return rows
