"""Options that change the samples of a command when they have been read: groups of similar samples, and fills."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from similitude.cli.data import LoadedData
from similitude.cli.options import Notes
from similitude.cli.several import read_matrices
from similitude.cli.source import Source, number_or_text


def read_adjusted(source: Source, *, fill: str | None, no_leak: str | None, note: Notes, seed: int = 0) -> LoadedData:
    """Return the samples of a command with its options ``--fill`` and ``--no-leak``."""
    data = read_matrices(source, note=note, seed=seed)
    return without_leaks(with_fill(data, fill), no_leak, note)


def without_leaks(data: LoadedData, threshold: str | None, note: Notes) -> LoadedData:
    """Return the data with groups of samples that are as similar as the threshold of ``--no-leak``."""
    if threshold is None:
        return data
    import numpy as np

    from similitude import SimilarityGroupKFold

    found = SimilarityGroupKFold(threshold=_number(threshold)).groups_of(data.samples, data.groups)
    sizes = np.bincount(found)
    if sizes.max() == 1:
        note(f"--no-leak {threshold}: no samples are that similar; nothing to group")
    else:
        note(
            f"--no-leak {threshold}: {len(sizes)} groups of similar samples, the largest of {sizes.max()}; no group is "
            "on both sides of a fold"
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
    if data.are_several:
        raise ValueError("--fill is for one FILE; with several files every pair must be known.")
    from similitude import Proximities
    from similitude.proximity.proximities import as_proximities

    if data.contract.get("similarity", "precomputed") != "precomputed":
        raise ValueError(f"--fill {fill} is for a matrix; the similarities of objects are all known.")
    given = as_proximities(data.X)
    value = number_or_text(fill.replace("-blind-", "-blind "))
    S = Proximities(given.S, given.features, given.self_similarity, given.ids, absent=given.absent, fill=value)
    return replace(data, X=S)
