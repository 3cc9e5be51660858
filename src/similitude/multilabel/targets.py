"""Several labels of each sample as they are given: an indicator matrix, a list of sets, or measured targets."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from similitude._utils.checks import is_missing
from similitude.multilabel.tree import LabelTree


@dataclass(frozen=True)
class Targets:
    """The labels of n samples: ``Y`` (n, L) is 1 where a sample has a label.

    ``measured`` (n, L) is 1 where this is known; None means everywhere.
    """

    Y: sparse.csr_matrix
    classes: np.ndarray
    measured: sparse.csr_matrix | None = None

    def take(self, rows: np.ndarray) -> Targets:
        """Return the labels of some of the samples."""
        return Targets(self.Y[rows], self.classes, None if self.measured is None else self.measured[rows])

    @property
    def counts(self) -> np.ndarray:
        """The number of samples that have each label."""
        return np.asarray(self.Y.sum(axis=0)).ravel()

    @property
    def known(self) -> np.ndarray:
        """The number of samples of which each label is known."""
        if self.measured is None:
            return np.full(self.Y.shape[1], float(self.Y.shape[0]))
        return np.asarray(self.measured.sum(axis=0)).ravel()

    @property
    def shares(self) -> np.ndarray:
        """The share of samples that have each label, among those of which it is known."""
        return self.counts / np.maximum(self.known, 1.0)


def read_targets(y: Any, n: int, tree: LabelTree | None = None) -> Targets:
    """Return the labels of n samples, with all ancestors of each label if there is a tree."""
    if y is None:
        raise ValueError("y must be given: an indicator matrix, or the labels of each sample.")
    if sparse.issparse(y):
        found = _indicator(sparse.csr_matrix(y, dtype=float), np.arange(y.shape[1]))
    elif hasattr(y, "columns") and hasattr(y, "to_numpy"):
        found = _dense(y.to_numpy(), np.asarray(y.columns))
    elif isinstance(y, np.ndarray) and y.ndim == 2:
        found = _dense(y, np.arange(y.shape[1]))
    else:
        found = _listed(y)
    if found.Y.shape[0] != n:
        raise ValueError(f"y must have one row of labels per sample; got {found.Y.shape[0]} for {n} samples.")
    if tree is not None:
        found = _closed(found, tree)
    if not found.Y.nnz:
        raise ValueError("y: no sample has a label.")
    return found


def _indicator(Y: sparse.csr_matrix, classes: np.ndarray) -> Targets:
    Y.eliminate_zeros()
    if not np.all(Y.data == 1):
        wrong = Y.data[Y.data != 1][0]
        raise ValueError(f"y must hold 0 and 1 (and NaN where a label is not known); got {wrong:g}.")
    return Targets(Y, classes)


def _dense(y: np.ndarray, classes: np.ndarray) -> Targets:
    try:
        values = np.asarray(y, dtype=float)
    except (TypeError, ValueError):
        raise ValueError(
            "y has two dimensions and must hold 0, 1 and NaN, one column for each label; lists of labels are a list of "
            "lists, and lineages are for HierarchicalClassifier."
        ) from None
    unknown = np.isnan(values)
    found = _indicator(sparse.csr_matrix(np.where(unknown, 0.0, values)), classes)
    if not unknown.any():
        return found
    nothing = np.flatnonzero(unknown.all(axis=0))
    if len(nothing):
        raise ValueError(f"y: the target {classes.tolist()[nothing[0]]!r} is measured for no sample.")
    return Targets(found.Y, classes, sparse.csr_matrix((~unknown).astype(float)))


def _listed(y: Any) -> Targets:
    """Return the labels of a list with a collection of labels for each sample."""
    rows = list(y)
    plain = next((row for row in rows if isinstance(row, (str, bytes)) or not isinstance(row, Iterable)), None)
    if plain is not None:
        raise ValueError(
            "y must be an indicator matrix, or have a list or set of labels for each sample, such as [{'a', 'b'}, "
            f"{{'a'}}]; got {plain!r} for one of them. For one label per sample use AutoClassifier; text with several "
            "labels is divided by [text.split(';') for text in y]."
        )
    sets = [{label for label in row if not is_missing(label)} for row in rows]
    try:
        names = sorted(set().union(*sets))
    except TypeError:
        raise ValueError("y: the labels must be of one type, text or numbers, so that they can be sorted.") from None
    place = {name: i for i, name in enumerate(names)}
    columns = [sorted(place[name] for name in row) for row in sets]
    starts = np.append(0, np.cumsum([len(row) for row in columns]))
    positions = np.array([j for row in columns for j in row], dtype=np.intp)
    Y = sparse.csr_matrix((np.ones(len(positions)), positions, starts), shape=(len(rows), len(names)))
    return Targets(Y, np.array(names))


def _closed(found: Targets, tree: LabelTree) -> Targets:
    """Return the labels as nodes of a tree, each with all its ancestors."""
    if found.measured is not None:
        raise ValueError("y: with a tree every label must be known; got NaN.")
    places, lines = tree.positions(found.classes.tolist()), tree.lines()
    above = sparse.csr_matrix(
        (np.ones(np.count_nonzero(lines >= 0)), (np.nonzero(lines >= 0)[0], lines[lines >= 0])),
        shape=(len(tree), len(tree)),
    )
    Y = found.Y @ above[places]
    Y.data[:] = 1.0
    return Targets(Y.tocsr(), tree.nodes)
