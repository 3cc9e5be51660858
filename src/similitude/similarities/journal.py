"""A matrix on disk that is filled block by block, in a run that can be resumed after the process has died.

While the matrix ``name.npy`` is not complete, the file ``name.npy.journal`` lies beside it. It consists of lines of
text: the first describes the computation, and each of the others is the number of a finished block. A line ends with
its checksum, and an incomplete line does not count. The values of a block are on disk before its line is written, so a
block in the journal can be trusted. The journal is locked while a process fills the matrix.

``experiments.Store`` keeps results with SQLite because many processes add to one file for months and query parts of
it. A matrix has one writer, which may hold the lock for hours on any file system, and its journal is deleted when the
matrix is complete.
"""

from __future__ import annotations

import errno
import json
import os
import zlib
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from similitude._utils.files import is_special
from similitude.similarities._blocks import Block

try:
    import fcntl
except ImportError:  # pragma: no cover - on Windows two runs at the same time are not noticed
    fcntl = None  # type: ignore[assignment]

KIND = "similitude pairwise 1"
START = json.dumps([KIND, 0])[:-2].encode()
"""The first bytes of every journal."""


class Header(NamedTuple):
    """The description of a computation; ``objects`` and ``measure`` are fingerprints."""

    n: int
    m: int
    length: int
    dtype: str
    half: bool
    objects: str
    measure: str


def _line(content: Any, seed: int = 0) -> bytes:
    text = json.dumps(content).encode()
    return b"%s %08x\n" % (text, zlib.crc32(text, seed))


def _content(line: bytes, seed: int = 0) -> Any:
    """Return the content of a line, or None if its checksum is wrong or missing."""
    text, _, checksum = line.rpartition(b" ")
    return json.loads(text) if checksum == b"%08x\n" % zlib.crc32(text, seed) else None


class Journal:
    """The header and the numbers of the finished blocks, in a file that is locked from opening to closing."""

    def __init__(self, path: Path):
        self.path = path
        self._file = self._opened()
        first, *others = self._file.read().splitlines(keepends=True) or [b""]
        values = _content(first)
        if first[: len(START)] != START[: len(first)] or (values is None and first.endswith(b"\n")):
            self.close()
            raise ValueError(
                f"out: {path} is damaged or not a journal of pairwise; delete it and its matrix to start again."
            )
        self.header = Header(*values[1:]) if values else None
        self.done: set[int] = set()
        # The checksum of the header is the seed of all other checksums.
        self._seed, size = zlib.crc32(first), len(first) if values else 0
        for line in others:
            number = _content(line, self._seed)
            if number is None:
                break
            self.done.add(number)
            size += len(line)
        self._cut(size)

    def _opened(self) -> Any:
        while True:
            try:
                file = os.fdopen(os.open(self.path, os.O_RDWR | os.O_CREAT, 0o666), "r+b", buffering=0)
            except OSError as error:
                raise type(error)(error.errno, f"out: cannot write {self.path}: {error.strerror}") from error
            try:
                if fcntl:
                    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                file.close()
                raise ValueError(f"out: another run is filling {self.path.with_suffix('')} at this moment.") from None
            except OSError:
                pass  # the file system has no locks
            # The run that held the lock may have completed, and removed the file, between the two calls.
            if self.path.exists() and os.path.samestat(os.fstat(file.fileno()), self.path.stat()):
                return file
            file.close()

    def _cut(self, size: int) -> None:
        """Truncate the file after its last complete line, where the next one is to be written."""
        self._file.truncate(size)
        self._file.seek(size)

    def begin(self, header: Header) -> None:
        """Write the header to the disk before the matrix is created."""
        line = _line([KIND, *header])
        self._file.write(line)
        os.fsync(self._file.fileno())
        if hasattr(os, "O_DIRECTORY"):
            folder = os.open(self.path.parent, os.O_DIRECTORY)
            os.fsync(folder)
            os.close(folder)
        self.header, self._seed = header, zlib.crc32(line)

    def append(self, number: int) -> None:
        """Record a finished block."""
        self._file.write(_line(number, self._seed))
        self.done.add(number)

    def reset(self) -> None:
        """Remove the header and all blocks from the journal."""
        self.header, self.done = None, set()
        self._cut(0)

    def remove(self) -> None:
        """Delete the file; no other process can lock it before it is deleted."""
        if fcntl is None:  # pragma: no cover - Windows cannot delete open files
            self.close()
        self.path.unlink()
        self.close()

    def close(self) -> None:
        self._file.close()


class DiskMatrix:
    """A ``.npy`` file with its journal, either new or from an interrupted run."""

    def __init__(self, out: Any, shape: tuple[int, int], half: bool, objects: bytes, measure: bytes):
        self.path = Path(out)
        if self.path.suffix != ".npy":
            raise ValueError(f"out must be an array or the path of a .npy file; got {os.fspath(out)!r}.")
        if is_special(self.path):
            raise ValueError(f"out: {self.path} is not a regular file, which a matrix on disk needs.")
        self._wanted = Header(*shape, 0, "", half, objects.hex(), measure.hex())
        self._matrix: Any = None
        # This is checked before the journal of this run is created, and again when it is locked.
        if self.path.exists() and not self._journal_path.exists():
            raise self._exists()
        self._journal = Journal(self._journal_path)
        try:
            self._resume()
        except BaseException:
            self.close()
            raise

    @property
    def _journal_path(self) -> Path:
        return self.path.with_name(self.path.name + ".journal")

    @property
    def length(self) -> int | None:
        """The block length of the run that is resumed; None for a new one."""
        return self._journal.header.length if self._journal.header else None

    @property
    def done(self) -> set[int]:
        return self._journal.done

    def _exists(self) -> FileExistsError:
        return FileExistsError(
            errno.EEXIST,
            f"out: {self.path} exists and no interrupted run is recorded beside it. Read it with "
            "numpy.load(out, mmap_mode='r'), delete it, or choose another name",
        )

    def _resume(self) -> None:
        header = self._journal.header
        if header is None:
            if self.path.exists():
                self._journal.remove()
                raise self._exists()
            return
        if not self._journal.done or not self.path.exists():
            self._unlink()
            self._journal.reset()
            return
        self._check(header)
        if not self._holds(header):
            raise ValueError(f"out: {self.path} is not the matrix that its journal describes; delete both to restart.")
        self._matrix = np.lib.format.open_memmap(self.path, mode="r+")

    def _holds(self, header: Header) -> bool:
        try:
            matrix = np.load(self.path, mmap_mode="r")
        except (OSError, ValueError):  # the file has another format, or is too short
            return False
        return (matrix.shape, matrix.dtype.str) == ((header.n, header.m), header.dtype)

    def _check(self, header: Header) -> None:
        wanted = self._wanted
        found = None
        if (header.n, header.m) != (wanted.n, wanted.m):
            found = f"A and B: {header.n} and {header.m} objects there, {wanted.n} and {wanted.m} here"
        elif header.objects != wanted.objects:
            found = "A or B: the objects are not the same"
        elif (header.measure, header.half) != (wanted.measure, wanted.half):
            found = "similarity: its name or its parameters are not the same"
        if found:
            raise ValueError(
                f"out: {self.path} was begun for another computation ({found}). Delete it and "
                f"{self._journal_path.name} to start again, or choose another name."
            )

    def _unlink(self) -> None:
        """Delete the matrix; if it is a symbolic link, its target is deleted and the link is kept."""
        Path(os.path.realpath(self.path)).unlink(missing_ok=True)

    def begin(self, length: int) -> None:
        """Set the block length of this run."""
        if self.length not in (None, length):
            raise ValueError(
                f"block_size={length}: the interrupted run of {self.path} used {self.length}; pass that, or None."
            )
        self._wanted = self._wanted._replace(length=length)

    def _create(self, dtype: np.dtype) -> None:
        header = self._wanted._replace(dtype=dtype.str)
        self._journal.begin(header)
        self._matrix = np.lib.format.open_memmap(self.path, mode="w+", dtype=dtype, shape=(header.n, header.m))
        if hasattr(os, "posix_fallocate"):
            # A full disk raises an error here; later it would kill the process when a page is written.
            size = self.path.stat().st_size
            try:
                with open(self.path, "r+b") as file:
                    os.posix_fallocate(file.fileno(), 0, size)
            except OSError as error:
                if error.errno == errno.ENOSPC:
                    self._unlink()
                    self._journal.reset()
                    raise OSError(error.errno, f"out: no space for the {size} bytes of {self.path}") from error

    def write(self, block: Block, values: np.ndarray) -> None:
        """Store a block and its mirror image, then record it."""
        if self._matrix is None:
            self._create(values.dtype)
        if self._matrix.dtype != values.dtype == np.float64:
            raise ValueError(
                "similarity: the function returned float32 for the first block and float64 for a later one; it must "
                "always return the same type if out is a path."
            )
        store(self._matrix, block, values, self._wanted.half)
        self._matrix.flush()
        self._journal.append(block.number)

    def finish(self) -> np.memmap:
        """Return the complete matrix as a read-only memory map."""
        self._matrix = None
        self._journal.remove()
        return np.load(self.path, mmap_mode="r")

    def close(self) -> None:
        """Close the files; a journal without a header is removed."""
        self._matrix = None
        if self._journal._file.closed:
            return
        if self._journal.header is None:
            self._journal.remove()
        else:
            self._journal.close()


def store(matrix: np.ndarray, block: Block, values: np.ndarray, half: bool) -> None:
    """Write a block to its place in the matrix, and with ``half`` also its mirror image."""
    matrix[block.rows, block.columns] = values
    if half and block.rows != block.columns:
        matrix[block.columns, block.rows] = values.T
