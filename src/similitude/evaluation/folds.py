"""Folds for classes of any size, with groups, and with repetitions."""

from __future__ import annotations

import warnings
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold, check_cv

from similitude._utils.checks import first_missing

Split = tuple[np.ndarray, np.ndarray]
"""The positions of the training samples and of the test samples."""

FEW_SAMPLES = 500
"""With fewer samples than this, folds are repeated."""
REPEATS = 3


def check_groups(groups: Any, n: int) -> np.ndarray | None:
    """Return the groups as an array, or raise a ValueError."""
    if groups is None:
        return None
    groups = groups.to_numpy() if hasattr(groups, "to_numpy") else np.asarray(groups)
    if groups.ndim != 1 or len(groups) != n:
        raise ValueError(f"groups must have one entry per sample ({n}); got an array of shape {groups.shape}.")
    if first_missing(groups) is not None:
        raise ValueError("groups contains a missing value; every sample needs a group.")
    return groups


def repeated_folds(
    y: np.ndarray, cv: Any, n_repeats: int | None, groups: np.ndarray | None, random_state: Any
) -> list[list[Split]]:
    """Return the folds of each repetition."""
    if isinstance(cv, Integral):
        repeats = (REPEATS if len(y) < FEW_SAMPLES else 1) if n_repeats is None else n_repeats
        first = 0 if random_state is None else int(random_state)
        return [stratified_folds(y, int(cv), groups, first + r) for r in range(repeats)]
    try:
        splits = check_cv(cv, y, classifier=True).split(np.zeros(len(y)), y, groups)
        everything = np.arange(len(y))  # masks become positions
        folds = [(everything[np.asarray(train)], everything[np.asarray(test)]) for train, test in splits]
    except (ValueError, IndexError) as error:
        raise ValueError(f"cv={cv!r} does not split these samples: {error}") from error
    if not folds or not all(len(train) and len(test) for train, test in folds):
        raise ValueError(f"cv must give at least one fold, and no empty ones; got {cv!r}.")
    if len(np.unique(np.concatenate([test for _, test in folds]))) < 2:
        raise ValueError(f"cv must test at least two samples; got {cv!r}.")
    return [folds]


def stratified_folds(y: np.ndarray, n_folds: int, groups: np.ndarray | None, seed: int) -> list[Split]:
    """Return stratified folds, for classes of any size.

    A class with fewer samples than there are folds is spread over some of them. A class with a single sample (or, with
    groups, in a single group) cannot be tested: its samples are in every training part, except where others of their
    group are tested. No group is on both sides of a fold.
    """
    tested = np.flatnonzero(np.isin(y, testable_classes(y, groups)))
    if not len(tested):
        what = "a class of at least two samples" if groups is None else "a class with samples in at least two groups"
        raise ValueError(f"y must have {what}; otherwise there can be no folds.")
    most = int(np.unique(y[tested], return_counts=True)[1].max())
    if groups is not None:
        most = min(most, len(np.unique(groups[tested])))
    kind: Any = StratifiedKFold if groups is None else StratifiedGroupKFold
    splitter = kind(min(n_folds, most), shuffle=True, random_state=seed)
    always = np.setdiff1d(np.arange(len(y)), tested)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="The least populated class", category=UserWarning)
        parts = list(splitter.split(np.zeros(len(tested)), y[tested], None if groups is None else groups[tested]))
    folds = []
    for train, test in parts:
        kept = always if groups is None else always[~np.isin(groups[always], groups[tested[test]])]
        folds.append((np.sort(np.concatenate([kept, tested[train]])), tested[test]))
    return [(train, test) for train, test in folds if len(train) and len(test)]


def testable_classes(y: np.ndarray, groups: np.ndarray | None) -> np.ndarray:
    """Return the classes that have samples in at least two groups; without groups each sample is its own group."""
    if groups is None:
        classes, counts = np.unique(y, return_counts=True)
        return classes[counts > 1]
    classes = np.unique(y)
    return classes[[len(np.unique(groups[y == label])) > 1 for label in classes]]
