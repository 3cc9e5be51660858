"""Whether a sample belongs to a class at all, by its similarities alone."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from similitude.reader import Rows, Training
from similitude.sets.native_rows import absent_value, native_rows, rows_of, training_evidence


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
    """

    _saved_state = {"nearest": "real[n, G]", "codes": "int[n] 0..G", "evidence": "bool[n]"}

    nearest: np.ndarray
    codes: np.ndarray
    evidence: np.ndarray

    @property
    def counts(self) -> np.ndarray:
        """The number of training samples of each class that give evidence."""
        return np.bincount(self.codes[self.evidence], minlength=self.nearest.shape[1])

    @classmethod
    def learn(cls, training: Training, codes: np.ndarray, n_classes: int) -> Typicality:
        """Return the typicality that is learned from training samples."""
        # Native values are used, since the map to similarities keeps their order, or should not matter.
        return cls(_nearest(training, codes, n_classes, left_out=True), codes, training_evidence(training))

    def of_rows(self, rows: Rows) -> np.ndarray:
        """Return the p-values of new samples."""
        return self._p_values(_nearest(rows, self.codes, self.nearest.shape[1]), rows.evidence)

    def of_training(self) -> np.ndarray:
        """Return the p-values of the training samples, each compared with the others."""
        found = self._p_values(self.nearest, self.evidence)
        own = np.arange(len(self.codes)), self.codes
        # The sample itself is among the n_g samples that were counted.
        n_own = np.maximum(self.counts[self.codes], 1)
        found[own] = (found[own] * (1 + n_own) - 1) / n_own
        return found

    def _p_values(self, nearest: np.ndarray, evidence: np.ndarray) -> np.ndarray:
        found = np.empty(nearest.shape)
        for g in range(nearest.shape[1]):
            members = (self.codes == g) & self.evidence
            # A sample about which nothing is known counts against no other.
            known = np.sort(np.where(np.isnan(own := self.nearest[members, g]), -np.inf, own))
            found[:, g] = (1 + np.searchsorted(known, nearest[:, g], side="right")) / (1 + len(known))
        return np.where(evidence[:, None], np.where(np.isnan(nearest), 1.0, found), np.nan)


def _nearest(samples: Training | Rows, codes: np.ndarray, n_classes: int, *, left_out: bool = False) -> np.ndarray:
    """Return the largest similarity of each row to each class; with ``left_out`` the diagonal is not used."""
    found = np.full((len(samples), n_classes), np.nan)
    sizes = np.bincount(codes, minlength=n_classes)
    for rows, block in native_rows(samples, len(codes)):
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
