"""The values of pairs that have been evaluated: each pair once, in memory or in a file that a later run continues.

The file begins with a line of text that describes the objects and the measure. Then come records, each with its number
of pairs, a checksum, the pairs and their values. A record that was not written completely is ignored and overwritten.
With several measures, n^2 is added to the numbers of the pairs of the second one, 2 n^2 to those of the third.
"""

from __future__ import annotations

import json
import os
import struct
import time
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from similitude._utils.files import check_writable, is_special, naming
from similitude._utils.progress import progress
from similitude._utils.scikit_learn import num_samples
from similitude.numerics.distinct import distinct
from similitude.similarities._blocks import Block, Grid
from similitude.similarities.fingerprint import fingerprint, fingerprint_of_measure
from similitude.similarities.journal import store
from similitude.similarities.pairwise import Comparison, Target, compared, show_blocks
from similitude.similarities.registry import Measure

try:
    import fcntl
except ImportError:  # pragma: no cover - on Windows two runs at the same time are not noticed
    fcntl = None  # type: ignore[assignment]

KIND = "similitude pairs 1"
_RECORD = struct.Struct("<QI")
_SECONDS = 1.0
"""A file gets a record about so often; what was evaluated since the last one is lost if the run is killed."""
_FIRST, _MOST = 16, 2**18
"""The numbers of pairs that are evaluated at a time: at first, and at most."""


class PairStore:
    """The evaluated pairs of a sequence of objects, from which the values of others are added when they are asked for.

    If the measure is symmetric, (i, j) and (j, i) are the same pair.
    """

    def __init__(self, measure: Measure, objects: Any, path: str | os.PathLike | None = None):
        self.measure, self.objects, self.n = measure, objects, num_samples(objects)
        self.keys, self.values = np.empty(0, dtype=np.int64), np.empty(0)
        self.n_evaluated = 0
        """The number of evaluations in this run, without those that the file already had."""
        self._file = None if path is None else _PairFile(Path(path), _header([measure], objects))
        if self._file is not None:
            self._add(*self._file.records)

    def keys_of(self, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
        """Return the numbers i n + j of pairs, in which i is the smaller position if the measure is symmetric."""
        rows, columns = rows.astype(np.int64), columns.astype(np.int64)
        if self.measure.symmetric:
            rows, columns = np.minimum(rows, columns), np.maximum(rows, columns)
        return rows * self.n + columns

    def missing(self, keys: np.ndarray) -> np.ndarray:
        """Return the different pairs among these that have not been evaluated, ascending."""
        keys = distinct(keys)
        return keys[~self._found(keys)[1]]

    def _found(self, keys: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        if not len(self.keys):
            return np.zeros(len(keys), dtype=np.intp), np.zeros(len(keys), dtype=bool)
        places = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
        return places, self.keys[places] == keys

    def at(self, keys: np.ndarray) -> np.ndarray:
        """Return the values of these pairs; those that are not known are evaluated, each once."""
        new = self.missing(keys)
        if len(new):
            self._evaluate(new)
        return self.values[self._found(keys)[0]]

    def _evaluate(self, keys: np.ndarray) -> None:
        compare = Comparison(self.measure, self.objects)
        left, right = np.divmod(keys, self.n)
        if self.measure.symmetric:
            # A function on batches is called once for each object on the left: that with more pairs comes there.
            often = np.bincount(left, minlength=self.n) + np.bincount(right, minlength=self.n)
            swap = often[right] > often[left]
            left, right = np.where(swap, right, left), np.where(swap, left, right)
            order = np.argsort(left, kind="stable")
            keys, left, right = keys[order], left[order], right[order]
        if self._file is None:
            self._add(keys, compared(compare, self.objects, left, right))
            self.n_evaluated += len(keys)
            return
        start, size, done = 0, _FIRST, []
        try:
            while start < len(keys):
                part = slice(start, start + size)
                begun = time.perf_counter()
                values = compared(compare, self.objects, left[part], right[part])
                self._file.append(keys[part], values)
                done.append((keys[part], values))
                self.n_evaluated += len(values)
                start += size
                if time.perf_counter() - begun < _SECONDS / 2:
                    size = min(2 * size, _MOST)
        finally:
            if done:
                self._add(*(np.concatenate(parts) for parts in zip(*done)))

    def _add(self, keys: np.ndarray, values: np.ndarray) -> None:
        keys, values = np.concatenate([self.keys, keys]), np.concatenate([self.values, values])
        self.keys, first = np.unique(keys, return_index=True)
        self.values = values[first]

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            self._file.close()


def matrices(
    measures: Mapping[str, Measure], objects: Any, path: str | os.PathLike, show: bool = False
) -> dict[str, np.ndarray]:
    """Return the values of all pairs by each measure; the file keeps them, so that an interrupted run continues."""
    file, found = _PairFile(Path(path), _header(list(measures.values()), objects)), {}
    try:
        named = enumerate(measures.items())
        for i, (name, measure) in progress(named, len(measures), "similarities", enabled=show):
            target = _KeptMatrix(file, i, num_samples(objects), bool(measure.symmetric))
            show_blocks(target, objects, objects, measure, half=target.half)
            found[name] = target.matrix
    finally:
        file.close()
    return found


def _header(measures: list[Measure], objects: Any) -> list[Any]:
    """Return what describes a computation in the first line of a file."""
    prints = [fingerprint_of_measure(measure) for measure in measures]
    measure = prints[0] if len(prints) == 1 else fingerprint(prints)
    symmetric = all(bool(measure.symmetric) for measure in measures)
    return [KIND, num_samples(objects), symmetric, fingerprint(objects).hex(), measure.hex()]


class _KeptMatrix(Target):
    """The matrix of one of several measures, filled from a file and, for the other pairs, block by block."""

    def __init__(self, file: _PairFile, number: int, n: int, half: bool):
        self._file, self._offset, self.half = file, number * n**2, half
        keys, values = file.records
        own = (keys >= self._offset) & (keys < self._offset + n**2)
        rows, columns = np.divmod(keys[own] - self._offset, n)
        self.matrix = np.full((n, n), np.nan)
        self.matrix[rows, columns] = values[own]
        if half:
            self.matrix[columns, rows] = values[own]

    def begin(self, length: int) -> None:
        """Find the blocks whose pairs are all known."""
        blocks = Grid(*self.matrix.shape, length, self.half)
        known = (b.number for b in blocks if not np.isnan(self.matrix[b.rows, b.columns]).any())
        self.done = dict.fromkeys(known, 0)

    def write(self, block: Block, values: np.ndarray) -> None:
        """Store a block, and its pairs in the file."""
        store(self.matrix, block, values, self.half)
        rows, columns = np.mgrid[block.rows, block.columns]
        counted = rows <= columns if self.half else np.full(rows.shape, True)
        keys = (rows * len(self.matrix) + columns)[counted]
        self._file.append(keys + self._offset, self.matrix[rows[counted], columns[counted]])


class _PairFile:
    """The file of evaluated pairs, locked from opening to closing."""

    def __init__(self, path: Path, header: list[Any]):
        self.path = check_writable(path, "path")
        if is_special(path):
            raise ValueError(f"path: {path} is not a regular file, which evaluated pairs need.")
        line = json.dumps(header).encode() + b"\n"
        with naming(path):
            self._file = os.fdopen(os.open(path, os.O_RDWR | os.O_CREAT, 0o666), "r+b", buffering=0)
        self._lock()
        try:
            content = self._file.read()
            if not content or (len(content) < len(line) and line.startswith(content)):
                self._file.seek(0)
                self._file.truncate()
                with naming(path):
                    self._file.write(line)
                content = line
            self._check(content.split(b"\n", 1)[0], header)
            self.records, end = _records(content, len(line))
        except ValueError:
            self.close()
            raise
        self._file.truncate(end)
        self._file.seek(end)

    def _lock(self) -> None:
        if fcntl is None:
            return
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self.close()
            raise ValueError(f"path: another run is adding pairs to {self.path} at this moment.") from None
        except OSError:
            pass  # the file system has no locks

    def _check(self, line: bytes, header: list[Any]) -> None:
        try:
            found = json.loads(line)
        except ValueError:
            found = None
        if not isinstance(found, list) or not found or found[0] != KIND:
            raise ValueError(f"path: {self.path} is not a file of evaluated pairs; name another one.")
        if found != header:
            what = "objects" if found[1:4:2] != header[1:4:2] else "similarity: its name or its parameters"
            raise ValueError(
                f"path: {self.path} was begun for another computation ({what} are not the same). Name another file, "
                "or delete it to start again."
            )

    def append(self, keys: np.ndarray, values: np.ndarray) -> None:
        """Write a record."""
        content = keys.astype("<i8").tobytes() + values.astype("<f8").tobytes()
        with naming(self.path):
            self._file.write(_RECORD.pack(len(keys), zlib.crc32(content)) + content)

    def close(self) -> None:
        self._file.close()


def _records(content: bytes, start: int) -> tuple[tuple[np.ndarray, np.ndarray], int]:
    """Return the pairs and values of the complete records, and where the last of them ends."""
    keys, values = [np.empty(0, dtype=np.int64)], [np.empty(0)]
    while start + _RECORD.size <= len(content):
        count, checksum = _RECORD.unpack_from(content, start)
        first = start + _RECORD.size
        end = first + 16 * count
        if end > len(content) or zlib.crc32(content[first:end]) != checksum:
            break
        keys.append(np.frombuffer(content, "<i8", count, first))
        values.append(np.frombuffer(content, "<f8", count, first + 8 * count))
        start = end
    return (np.concatenate(keys), np.concatenate(values)), start
