"""Raw objects of which only some pairs are compared: how they are read, and the methods that can use them."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone

from similitude._utils.ids import labels_in_order
from similitude._utils.progress import working
from similitude._utils.scikit_learn import num_samples
from similitude.auto.leaderboard import name_on
from similitude.auto.methods import FEW_WIDTHS, MethodRecord, methods, record_of
from similitude.auto.reading import read_samples
from similitude.evaluation.engine import Entry, reading_part
from similitude.finders.pair_budget import as_pair_budget, compare_objects
from similitude.labels import check_labels
from similitude.reader import LANDMARKS, NEIGHBORS, Contract, Samples, are_several
from similitude.similarities.pairwise import sliceable
from similitude.similarities.registry import resolve

LARGEST_MATRIX = 10_000
"""The largest number of raw objects all of whose pairs are kept as a matrix if no budget of pairs is given."""
MANY = 5_000
"""With more samples only the methods ``FOR_MANY`` are used, if some pairs are compared."""
FOR_MANY = ("k-NN", "affinity k-NN", "KRI k-NN", "KRR k-NN", "RFD (features)", "logistic regression (features)")
"""The methods whose time grows little faster than the number of samples."""
VERY_MANY, LOCAL_PROBLEMS = 20_000, ("KRI k-NN", "KRR k-NN")
"""With more samples the methods that solve a problem for each of them are left out, too."""
_FEWER: dict[str, list[Any]] = {"n_neighbors": [1, 3, 5, 8, 16, 32], "consistent": [False]}
"""The values of grids for many samples; of all others every other one is left out."""


def read_compared(
    X: Any,
    y: Any,
    similarity: Any,
    dissimilarity: Any,
    pair_budget: Any = None,
    n_jobs: int | None = None,
    show: bool = False,
    unlabelled: str | None = None,
) -> Samples:
    """Return all samples as read; raw objects are compared within the budget, or if they are very many."""
    if isinstance(X, Samples):
        return X
    contract = Contract(similarity, dissimilarity, takes_several=True)
    several = are_several(similarity, X, dissimilarity)
    reason = None
    if contract.is_precomputed:
        reason = "X holds similarities that are known already"
    elif several:
        reason = "there are several similarities"
    elif unlabelled is not None:
        reason = "samples without a label are used"
    elif resolve(similarity).learns:
        reason = "the similarity learns from the training part of each fold"
    if pair_budget is not None and reason is not None:
        raise ValueError(f"pair_budget={pair_budget!r} needs raw objects and one similarity of them, but {reason}.")
    if reason is not None or (pair_budget is None and num_samples(X) <= LARGEST_MATRIX):
        return read_samples(X, y, similarity, dissimilarity, unlabelled)
    budget, objects = clone(as_pair_budget(pair_budget)), sliceable(X)
    if budget.n_jobs is None:
        budget.set_params(n_jobs=n_jobs)
    labels = check_labels(labels_in_order(y, X), num_samples(objects))
    codes = np.unique(labels, return_inverse=True)[1]
    map_name = contract.map_name
    with working("comparing pairs of objects", show):
        found = compare_objects(budget, resolve(similarity), map_name, objects, codes)
    return Samples.compared(map_name, *found, labels)


def compared_entries(names: Any, samples: Samples) -> dict[str, Entry]:
    """Return the methods that vote among known neighbours, and those on the columns of landmarks."""
    map_name = samples.contract.map_name
    contract = {"similarity": "precomputed", "dissimilarity": map_name}
    found: dict[str, Entry] = {}
    for name, (estimator, grid) in methods(names, **contract).items():
        record = record_of(name)
        if samples.n > MANY and (name not in FOR_MANY or (samples.n > VERY_MANY and name in LOCAL_PROBLEMS)):
            continue
        if record.needs == "neighbors":
            grid = _thinned(grid) if samples.n > MANY else grid
            found[name_on(name, NEIGHBORS)] = Entry(estimator, grid, NEIGHBORS, name)
        elif record.needs == "columns" and _takes_columns(record):
            entry = Entry(*_on_columns(record, map_name), LANDMARKS, name)
            found[name_on(name, LANDMARKS)] = entry
    if not found:
        raise ValueError(
            f"methods={names!r}: if only some pairs are compared, methods that vote among neighbours or use columns "
            "are needed, such as 'k-NN' or 'RFD (features)'."
        )
    return found


def _thinned(grid: dict[str, Any]) -> dict[str, Any]:
    """Return a grid with fewer points, for many samples."""
    return {name: _FEWER.get(name, values[:2] if "dissim" in name else values[::2]) for name, values in grid.items()}


def _takes_columns(record: MethodRecord) -> bool:
    """Return whether a method takes any columns, and does not choose prototypes among the training samples."""
    part, _ = reading_part(record.make({})[0])
    return getattr(part, "selection", "random") == "random"


def _on_columns(record: MethodRecord, map_name: str | None) -> tuple[Any, dict[str, Any]]:
    estimator, grid = record.make({"similarity": "columns", "dissimilarity": map_name})
    if map_name is None or record.maps in ("given", "none"):
        return estimator, grid
    maps = dict.fromkeys([map_name, *FEW_WIDTHS])
    return estimator, {f"{reading_part(estimator)[1]}dissimilarity": list(maps), **grid}
