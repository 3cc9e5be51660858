"""A matrix on disk that is filled block by block, in a run that can be resumed after the process has died.

The matrix ``name.npy`` is filled under the name ``name.npy.part`` and renamed when it is complete, so that nobody can
read it before. Until then the file ``name.npy.journal`` lies beside it. It consists of lines of text: the first
describes the computation, and each of the others is the number of a finished block with the checksum of its values. A
line ends with its own checksum, and an incomplete line does not count. The values of a block are on disk before its
line is written. A run that is resumed compares the values with the checksums, and computes blocks again that do not
agree. The journal is locked while a process fills the matrix.

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

from similitude._utils.files import is_special, naming
from similitude._utils.warn import warn
from similitude.similarities._blocks import Block, Grid

try:
    import fcntl
except ImportError:  # pragma: no cover - on Windows two runs at the same time are not noticed
    fcntl = None  # type: ignore[assignment]

KIND = "similitude pairwise 2"
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
        self.path, self.is_new = path, False
        self._file = self._opened()
        first, *others = self._file.read().splitlines(keepends=True) or [b""]
        values = _content(first)
        if first[: len(START)] != START[: len(first)] or (values is None and first.endswith(b"\n")):
            self.close()
            raise ValueError(
                f"out: {path} is damaged or not a journal of pairwise; delete it and its matrix to start again."
            )
        self.header = Header(*values[1:]) if values else None
        self.done: dict[int, int] = {}
        """The checksum of each finished block."""
        # The checksum of the header is the seed of all other checksums.
        self._seed, size = zlib.crc32(first), len(first)
        for line in others:
            record = _content(line, self._seed)
            if record is None:
                break
            self.done[record[0]] = record[1]
            size += len(line)
        if self.header is not None:
            self._cut(size)

    def _opened(self) -> Any:
        while True:
            try:
                file = os.fdopen(self._descriptor(), "r+b", buffering=0)
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

    def _descriptor(self) -> int:
        """Open the file, or create it, and note which."""
        while True:
            try:
                self.is_new = False
                return os.open(self.path, os.O_RDWR)
            except FileNotFoundError:
                try:
                    self.is_new = True
                    return os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o666)
                except FileExistsError:
                    continue  # another run has created it meanwhile

    def _cut(self, size: int) -> None:
        """Truncate the file after its last complete line, where the next one is to be written."""
        self._file.truncate(size)
        self._file.seek(size)

    def begin(self, header: Header) -> None:
        """Write the header to the disk before the matrix is created."""
        line = _line([KIND, *header])
        self._cut(0)
        with naming(self.path):
            self._file.write(line)
            os.fsync(self._file.fileno())
        if hasattr(os, "O_DIRECTORY"):
            folder = os.open(self.path.parent, os.O_DIRECTORY)
            os.fsync(folder)
            os.close(folder)
        self.header, self._seed = header, zlib.crc32(line)

    def append(self, number: int, checksum: int) -> None:
        """Record a finished block with the checksum of its values."""
        with naming(self.path):
            self._file.write(_line([number, checksum], self._seed))
        self.done[number] = checksum

    def reset(self) -> None:
        """Remove the header and all blocks from the journal, which can then be removed."""
        self.header, self.done, self.is_new = None, {}, True
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
        if not self._journal_path.exists():
            self._check_free()
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
    def _part(self) -> Path:
        """The file that is filled; if the path is a symbolic link, it lies beside the target of the link."""
        target = Path(os.path.realpath(self.path))
        return target.with_name(target.name + ".part")

    @property
    def length(self) -> int | None:
        """The block length of the run that is resumed; None for a new one."""
        return self._journal.header.length if self._journal.header else None

    @property
    def done(self) -> dict[int, int]:
        return self._journal.done

    def _check_free(self) -> None:
        """Raise an error if there is a matrix, complete or not, without a journal."""
        if self.path.exists():
            raise FileExistsError(
                errno.EEXIST,
                f"out: {self.path} exists and no interrupted run is recorded beside it. Read it with "
                "numpy.load(out, mmap_mode='r'), delete it, or choose another name",
            )
        if self._part.exists():
            raise ValueError(
                f"out: {self._part} is left from a run whose journal is missing; delete it to start again."
            )

    def _resume(self) -> None:
        header = self._journal.header
        if header is None:
            if self._journal.is_new:
                self._check_free()
            elif self.path.exists() or self._part.exists():
                raise ValueError(
                    f"out: {self._journal_path} is too short to tell which blocks of the matrix beside it are "
                    "finished; delete both to start again."
                )
            self._journal.reset()
            return
        found = self._part if self._part.exists() else self.path
        if not found.exists() or (found == self._part and not self._journal.done):
            self._part.unlink(missing_ok=True)
            self._journal.reset()
            return
        self._check(header)
        if not self._holds(found, header):
            raise ValueError(f"out: {found} is not the matrix that its journal describes; delete both to restart.")
        self._matrix = np.lib.format.open_memmap(found, mode="r+")
        self._verify(header, complete=found == self.path)

    def _verify(self, header: Header, complete: bool) -> None:
        """Forget the blocks whose values are not those that were recorded; they are computed again."""
        grid = Grid(header.n, header.m, header.length, header.half)
        recorded = [block for block in grid if block.number in self.done]
        damaged = [
            block for block in recorded if _checksum(self._matrix, block, header.half) != self.done[block.number]
        ]
        # A run that was killed between its last two steps has renamed the matrix and not yet removed the journal.
        if complete and (damaged or len(recorded) < len(grid)):
            raise ValueError(f"out: {self.path} is not the matrix that its journal describes; delete both to restart.")
        for block in damaged:
            del self.done[block.number]
        if damaged:
            warn(
                f"{self._part}: the values of {len(damaged)} of {len(recorded)} finished blocks have changed since "
                "they were written; they are computed again. Check the disk.",
                UserWarning,
            )

    def _holds(self, found: Path, header: Header) -> bool:
        try:
            matrix = np.load(found, mmap_mode="r")
        except Exception:  # the file has another format, is too short, or its header is not Python
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
                f"out: {self.path} was begun for another computation ({found}). Delete {self._part.name} and "
                f"{self._journal_path.name} to start again, or choose another name."
            )

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
        try:
            with naming(self._part):
                self._matrix = np.lib.format.open_memmap(self._part, mode="w+", dtype=dtype, shape=(header.n, header.m))
            self._allocate(self._part.stat().st_size)
        except OSError:
            self._matrix = None
            self._part.unlink(missing_ok=True)
            self._journal.reset()
            raise

    def _allocate(self, size: int) -> None:
        """Reserve the space: a full disk raises an error here; later it would kill the process that writes a page."""
        if not hasattr(os, "posix_fallocate"):
            return
        try:
            with open(self._part, "r+b") as file:
                os.posix_fallocate(file.fileno(), 0, size)
        except OSError as error:
            if error.errno == errno.ENOSPC:
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
        self._journal.append(block.number, _checksum(self._matrix, block, self._wanted.half))

    def finish(self) -> np.memmap:
        """Give the complete matrix its name, and return it as a read-only memory map."""
        self._matrix = None
        if self._part.exists():
            os.replace(self._part, os.path.realpath(self.path))
        self._journal.remove()
        return np.load(self.path, mmap_mode="r")

    def close(self) -> None:
        """Close the files; a journal that this run has created and that has no header is removed."""
        self._matrix = None
        if self._journal._file.closed:
            return
        if self._journal.header is None and self._journal.is_new:
            self._journal.remove()
        else:
            self._journal.close()


def store(matrix: np.ndarray, block: Block, values: np.ndarray, half: bool) -> None:
    """Write a block to its place in the matrix, and with ``half`` also its mirror image."""
    matrix[block.rows, block.columns] = values
    if half and block.rows != block.columns:
        matrix[block.columns, block.rows] = values.T


def _checksum(matrix: np.ndarray, block: Block, half: bool) -> int:
    """Return the checksum of the values of a block, and with ``half`` also of its mirror image."""
    values = zlib.crc32(matrix[block.rows, block.columns].tobytes())
    if half and block.rows != block.columns:
        values = zlib.crc32(matrix[block.columns, block.rows].tobytes(), values)
    return values
