"""Whether a sample belongs to a class at all, by its similarities alone, which are read block by block."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from similitude._utils.types import ClassPositions
from similitude.numerics.class_columns import too_many
from similitude.proximity.evidence import gives_evidence
from similitude.reader import Rows, Training

BLOCK = 2**22
"""The largest number of values that are looked at together."""
_FEW = 64
"""A usual number of entries in a row of a sparse matrix."""


def sign_of(samples: Training | Rows) -> float:
    """Return 1 if the native values of samples are similarities, -1 if they are dissimilarities."""
    return 1.0 if samples.reader.map_name is None else -1.0


def absent_value(samples: Training | Rows) -> float:
    """Return the value of pairs that are not stored, with the sign: NaN if unknown, -inf if farther than all others."""
    return {"zero": 0.0, "unknown": np.nan, "farthest": 0.0 if sign_of(samples) > 0 else -np.inf}[samples.reader.absent]


def is_sparse(samples: Training | Rows) -> bool:
    """Return whether the native values of samples are stored in a sparse matrix."""
    return sparse.issparse(getattr(samples.native, "values", None))


def native_rows(samples: Training | Rows, n: int, width: int = _FEW) -> Iterator[tuple[slice, Any]]:
    """Yield blocks of whole rows of native values; dissimilarities have a negative sign.

    ``width`` is the number of values for which the caller has room for each row of a sparse block.
    """
    sign, m = sign_of(samples), len(samples)
    columns, step = np.arange(n), max(1, BLOCK // max(width if is_sparse(samples) else n, 1))
    for start in range(0, m, step):
        rows = slice(start, min(start + step, m))
        values = samples.native.block(rows, columns)
        if sparse.issparse(values):
            values = values.tocsr()
            yield rows, sparse.csr_matrix((sign * values.data, values.indices, values.indptr), shape=values.shape)
        else:
            yield rows, sign * np.asarray(values, dtype=float)


def dense_rows(samples: Training | Rows, n: int) -> Iterator[tuple[slice, np.ndarray]]:
    """Yield the blocks of :func:`native_rows` as dense arrays."""
    for rows, values in native_rows(samples, n, n):
        if not sparse.issparse(values):
            yield rows, values
            continue
        block = np.full(values.shape, absent_value(samples))
        block[rows_of(values), values.indices] = values.data
        yield rows, block


def rows_of(S: Any) -> np.ndarray:
    """Return the row of each entry of a CSR matrix."""
    return np.repeat(np.arange(S.shape[0]), np.diff(S.indptr))


def training_evidence(training: Training) -> np.ndarray:
    """Return for each training sample whether its row without itself gives evidence."""
    n = len(training)
    if training.features is not None:
        return np.ones(n, dtype=bool)
    found = np.zeros(n, dtype=bool)
    for rows, block in native_rows(training, n):
        places = np.arange(rows.start, rows.stop)
        if sparse.issparse(block):
            i, j = rows_of(block), block.indices
            others = places[i] != j
            columns = (j - (j > places[i]))[others]
            without = sparse.csr_matrix((block.data[others], (i[others], columns)), shape=(len(places), n - 1))
            found[rows] = gives_evidence(without, absent_is_zero=absent_value(training) == 0)
        else:
            own = np.arange(len(places))
            block[own, places] = block[own, places - 1]  # another value of the row
            found[rows] = gives_evidence(block) if n > 1 else False
    return found


@dataclass(frozen=True)
class Typicality:
    """The nearest similarities of the training samples to each class, with which those of new samples are compared.

    With a_g(x) the largest similarity of x to a sample of class g, and a_g(i) that of a training sample i of class g to
    the others of its class::

        p_g(x) = (1 + #{i in g : a_g(i) <= a_g(x)}) / (1 + n_g)

    If x and the training samples of class g are exchangeable, then ``P(p_g(x) <= e) <= e``, for every similarity.
    Proof: if x is added to the class, a_g(i) becomes the maximum of a_g(i) and the similarity of i to x, so that the
    rank of a_g(x) among these values, which is uniform up to ties, is at most the one that is counted here.

    Samples whose rows give no evidence have no p-value, and new samples are not compared with such training samples.

    ``nearest`` (n, G) are the values a_g(i) for all classes or, if there are many samples and classes, (n,) those for
    the own class of each sample, with which new samples are compared.
    """

    nearest: np.ndarray
    codes: ClassPositions
    evidence: np.ndarray

    @property
    def n_classes(self) -> int:
        """The number of classes."""
        return self.nearest.shape[1] if self.nearest.ndim == 2 else int(self.codes.max()) + 1

    @property
    def counts(self) -> np.ndarray:
        """The number of training samples of each class that give evidence."""
        return np.bincount(self.codes[self.evidence], minlength=self.n_classes)

    @classmethod
    def learn(cls, training: Training, codes: np.ndarray, n_classes: int) -> Typicality:
        """Return the typicality that is learned from training samples."""
        # Native values are used, since the map to similarities keeps their order, or should not matter.
        if too_many(len(codes), n_classes):
            nearest = _nearest_of_own(training, codes)
        else:
            nearest = _nearest(training, codes, n_classes, left_out=True)
        return cls(nearest, codes, training_evidence(training))

    def of_rows(self, rows: Rows) -> np.ndarray:
        """Return the p-values of new samples."""
        return self._p_values(_nearest(rows, self.codes, self.n_classes), rows.evidence)

    def of_training(self) -> np.ndarray | None:
        """Return the p-values of the training samples, each compared with the others; None if they are not known."""
        if self.nearest.ndim == 1:
            return None
        found = self._p_values(self.nearest, self.evidence)
        own = np.arange(len(self.codes)), self.codes
        # The sample itself is among the n_g samples that were counted.
        n_own = np.maximum(self.counts[self.codes], 1)
        found[own] = (found[own] * (1 + n_own) - 1) / n_own
        return found

    def _p_values(self, nearest: np.ndarray, evidence: np.ndarray) -> np.ndarray:
        found = np.empty(nearest.shape)
        members = np.flatnonzero(self.evidence)
        codes = self.codes[members]
        own = self.nearest[members, codes] if self.nearest.ndim == 2 else self.nearest[members]
        # A sample about which nothing is known counts against no other.
        own = np.where(np.isnan(own), -np.inf, own)
        own = own[np.lexsort((own, codes))]
        ends = np.cumsum(np.bincount(codes, minlength=nearest.shape[1])).tolist()
        for g, (start, stop) in enumerate(zip([0, *ends], ends)):
            known = own[start:stop]
            found[:, g] = (1 + np.searchsorted(known, nearest[:, g], side="right")) / (1 + len(known))
        return np.where(evidence[:, None], np.where(np.isnan(nearest), 1.0, found), np.nan)


def _nearest(samples: Training | Rows, codes: np.ndarray, n_classes: int, *, left_out: bool = False) -> np.ndarray:
    """Return the largest similarity of each row to each class; with ``left_out`` the diagonal is not used."""
    found = np.full((len(samples), n_classes), np.nan)
    sizes = np.bincount(codes, minlength=n_classes)
    for rows, block in native_rows(samples, len(codes), n_classes):
        places = np.arange(rows.start, rows.stop)
        if sparse.issparse(block):
            i, j = rows_of(block), block.indices
            used = places[i] != j if left_out else np.ones(len(i), dtype=bool)
            i, g, values = i[used], codes[j[used]], block.data[used]
            part, stored = found[rows], np.zeros((len(places), n_classes), dtype=np.intp)
            np.fmax.at(part, (i, g), values)
            np.add.at(stored, (i, g), 1)
            others = sizes - (codes[places][:, None] == np.arange(n_classes) if left_out else 0)
            part[:] = np.where(stored < others, np.fmax(part, absent_value(samples)), part)
            continue
        if left_out:
            block[np.arange(len(block)), places] = np.nan
        for g in range(n_classes):
            found[rows, g] = np.fmax.reduce(block[:, codes == g], axis=1, initial=np.nan)
    return found


def _nearest_of_own(training: Training, codes: np.ndarray) -> np.ndarray:
    """Return the largest similarity of each training sample to the others of its class, NaN if none is known."""
    n = len(codes)
    found = np.full(n, np.nan)
    others = np.bincount(codes)[codes] - 1
    for rows, block in native_rows(training, n):
        places = np.arange(rows.start, rows.stop)
        if sparse.issparse(block):
            i, j = rows_of(block), block.indices
            used = (places[i] != j) & (codes[places][i] == codes[j])
            part = found[rows]
            np.fmax.at(part, i[used], block.data[used])
            lacking = np.bincount(i[used], minlength=len(places)) < others[rows]
            part[lacking] = np.fmax(part[lacking], absent_value(training))
            continue
        block[codes[places][:, None] != codes] = np.nan
        block[np.arange(len(block)), places] = np.nan
        found[rows] = np.fmax.reduce(block, axis=1, initial=np.nan)
    return found
