"""Whether a sample belongs to any of the known classes, by its similarities alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from similitude.numerics.topk import top_k
from similitude.reader import Rows, Training
from similitude.sets.native_rows import BLOCK, dense_rows, training_evidence
from similitude.sets.relative_familiarity import COLUMNS, NEIGHBOURS, RelativeFamiliarity, are_hits


@dataclass(frozen=True)
class LocalDensity:
    """How near the nearest samples are, compared with how near these are to their own class.

    With j = 1, ..., k the nearest training samples of x, of any class, and a_j the largest similarity of j to the
    others of its class, the score of x is the mean of ``s(x, j) - a_j``.
    """

    _saved_state = {"nearest": "real[n]", "known": "real[n]"}

    nearest: np.ndarray
    known: np.ndarray

    @classmethod
    def learn(cls, blocks: Callable[[], Iterator[tuple[slice, np.ndarray]]], codes: np.ndarray) -> LocalDensity:
        """Return the scores of the training samples."""
        n = len(codes)
        first, second, neighbour = np.full(n, -np.inf), np.full(n, -np.inf), np.zeros(n, dtype=np.intp)
        for rows, block in blocks():
            places = np.arange(rows.start, rows.stop)
            block[codes[places][:, None] != codes] = -np.inf
            block[np.arange(len(places)), places] = -np.inf
            neighbour[rows] = np.argmax(block, axis=1)
            first[rows] = block[np.arange(len(places)), neighbour[rows]]
            block[np.arange(len(places)), neighbour[rows]] = -np.inf
            second[rows] = block.max(axis=1)
        # A sample without others of its class is treated like the one that is farthest from its own class.
        lowest = np.min(first, where=np.isfinite(first), initial=np.inf)
        first = np.where(np.isfinite(first), first, lowest if np.isfinite(lowest) else 0.0)
        second = np.where(np.isfinite(second), second, first.min())
        known = np.empty(n)
        for rows, block in blocks():
            places = np.arange(rows.start, rows.stop)
            block[np.arange(len(places)), places] = -np.inf
            values, near = top_k(block, min(NEIGHBOURS, n - 1))
            # If the left-out sample was a neighbour's nearest, its second nearest is used.
            own = np.where(neighbour[near] == places[:, None], second[near], first[near])
            known[rows] = np.mean(values - own, axis=1)
        return cls(first, known)

    def scores(self, block: np.ndarray) -> np.ndarray:
        """Return the standardised scores of new samples."""
        values, near = top_k(block, min(NEIGHBOURS, block.shape[1] - 1))
        return self.standardised(np.mean(values - self.nearest[near], axis=1))

    def standardised(self, scores: np.ndarray) -> np.ndarray:
        """Return scores minus their median, divided by their mean deviation from it, over the training samples."""
        middle = np.median(self.known)
        deviation = np.mean(np.abs(self.known - middle))
        return (scores - middle) / (deviation if deviation > 0 else 1.0)


@dataclass(frozen=True)
class Familiarity:
    """The p-value of the hypothesis that x belongs to one of the classes.

    Two scores of :class:`LocalDensity` are used: that of the similarities, and that of the correlation between rows of
    similarities, which is large for samples that resemble the same samples. Each is standardised, and their sum is
    compared with those of the training samples. Unknown pairs count as far apart.
    """

    _saved_state = {
        "farthest": "float",
        "columns": "int[.c] 0..n",
        "profiles": "double[n, .c]",
        "direct": "LocalDensity",
        "by_rows": "LocalDensity",
        "known": "real[.t]",
    }

    farthest: float
    columns: np.ndarray
    profiles: np.ndarray
    direct: LocalDensity
    by_rows: LocalDensity
    known: np.ndarray

    @classmethod
    def learn(cls, training: Training, codes: np.ndarray) -> Familiarity:
        """Return the familiarity that is learned from training samples."""
        n = len(training)
        farthest = _farthest(training) if training.unknown or training.reader.absent == "farthest" else np.inf
        columns = np.unique(np.linspace(0, n - 1, min(n, COLUMNS)).astype(np.intp))
        profiles = np.empty((n, len(columns)))

        def given() -> Iterator[tuple[slice, np.ndarray]]:
            return ((rows, _known_or(farthest, block)) for rows, block in dense_rows(training, n))

        for rows, block in given():
            places, farthest = np.arange(rows.start, rows.stop), min(farthest, float(block.min()))
            # A new sample has no similarity to itself in its row, so that of the nearest takes its place.
            block[np.arange(len(places)), places] = -np.inf
            block[np.arange(len(places)), places] = block.max(axis=1)
            profiles[rows] = _standardised(block[:, columns])

        def of_rows() -> Iterator[tuple[slice, np.ndarray]]:
            step = max(1, BLOCK // n)
            for start in range(0, n, step):
                rows = slice(start, min(start + step, n))
                yield rows, profiles[rows] @ profiles.T

        direct, by_rows = LocalDensity.learn(given, codes), LocalDensity.learn(of_rows, codes)
        both = direct.standardised(direct.known) + by_rows.standardised(by_rows.known)
        return cls(farthest, columns, profiles, direct, by_rows, np.sort(both[training_evidence(training)]))

    def of_rows(self, rows: Rows) -> np.ndarray:
        """Return the p-values of new samples."""
        found = np.empty(len(rows))
        for part, block in dense_rows(rows, len(self.profiles)):
            block = _known_or(self.farthest, block)
            second = _standardised(block[:, self.columns]) @ self.profiles.T
            both = self.direct.scores(block) + self.by_rows.scores(second)
            found[part] = (1 + np.searchsorted(self.known, both, side="right")) / (1 + len(self.known))
        found[~rows.evidence] = np.nan
        return found


def learned_familiarity(training: Training, codes: np.ndarray) -> Familiarity | RelativeFamiliarity:
    """Return the familiarity that suits the similarities: relative to those within the classes if most are 0."""
    return (RelativeFamiliarity if are_hits(training) else Familiarity).learn(training, codes)


def _farthest(training: Training) -> float:
    """Return the smallest known value, 0 if none is known."""
    blocks = (block for _, block in dense_rows(training, len(training)))
    lowest = min(float(block.min(where=np.isfinite(block), initial=np.inf)) for block in blocks)
    return lowest if np.isfinite(lowest) else 0.0


def _known_or(value: float, block: np.ndarray) -> np.ndarray:
    return np.where(np.isfinite(block), block, value)


def _standardised(rows: np.ndarray) -> np.ndarray:
    """Return rows with mean 0 and length 1; constant rows become 0."""
    largest = np.max(np.abs(rows), axis=1, keepdims=True, initial=0.0)
    rows = rows / np.where(largest > 0, largest, 1.0)
    rows = rows - rows.mean(axis=1, keepdims=True)
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return rows / np.where(lengths > 1e-12, lengths, 1.0)
