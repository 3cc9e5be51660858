"""Options that change the samples of a command after they have been read: groups of similar samples, and fills."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from similitude.cli.data import LoadedData
from similitude.cli.options import Notes


def without_leaks(data: LoadedData, threshold: str | None, note: Notes) -> LoadedData:
    """Return the data with groups of samples that are as similar as the threshold of ``--no-leak``."""
    if threshold is None:
        return data
    import numpy as np

    from similitude import similarity_groups

    values, map_name = data.matrix()
    found = similarity_groups(values, _number(threshold), groups=data.groups, dissimilarity=map_name)
    sizes = np.bincount(found)
    note(
        f"--no-leak {threshold}: {len(sizes)} groups of similar samples, the largest of {sizes.max()}; no group is on "
        "both sides of a fold"
    )
    return replace(data, groups=found)


def _number(threshold: str) -> Any:
    if threshold == "auto":
        return threshold
    try:
        return float(threshold)
    except ValueError:
        raise ValueError(f"--no-leak must be a number or auto; got {threshold!r}.") from None


def with_fill(data: LoadedData, fill: str | None) -> LoadedData:
    """Return the data with the value of unknown pairs that ``--fill`` names."""
    if fill is None:
        return data
    from similitude import Proximities
    from similitude.proximity.proximities import as_proximities

    if data.contract.get("similarity", "precomputed") != "precomputed":
        raise ValueError(f"--fill {fill} is for a matrix; the similarities of objects are all known.")
    given = as_proximities(data.X)
    try:
        value: Any = float(fill)
    except ValueError:
        value = fill.replace("-blind-", "-blind ")
    S = Proximities(given.S, given.features, given.self_similarity, given.ids, absent=given.absent, fill=value)
    return replace(data, X=S)
