"""A matrix on disk that is filled block by block and survives the death of the process that fills it.

Beside ``name.npy`` lies ``name.npy.journal`` while the matrix is not complete: a header that says what is computed,
then one record per finished block. A block's values are on disk before its record is written, so whatever the journal
names can be trusted; a record torn in the middle does not count. The journal is locked while a process fills the
matrix.
"""

from __future__ import annotations

import errno
import os
import struct
import zlib
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from similitude._utils.files import is_special
from similitude.similarities._blocks import Block

try:
    import fcntl
except ImportError:  # pragma: no cover - Windows: two runs at once are not noticed there
    fcntl = None  # type: ignore[assignment]

MAGIC = b"SIMBLK1\n"
HEADER = struct.Struct("<8sQQQ3s?16s16s")
RECORD = struct.Struct("<Q")
CHECKSUM = struct.Struct("<I")
HEADER_SIZE, RECORD_SIZE = HEADER.size + CHECKSUM.size, RECORD.size + CHECKSUM.size


class Header(NamedTuple):
    """What is computed; ``objects`` and ``measure`` are fingerprints."""

    n: int
    m: int
    length: int
    dtype: str
    half: bool
    objects: bytes
    measure: bytes

    def packed(self) -> bytes:
        data = HEADER.pack(MAGIC, *(v.encode() if isinstance(v, str) else v for v in self))
        return data + CHECKSUM.pack(zlib.crc32(data))

    @classmethod
    def unpacked(cls, data: bytes) -> Header | None:
        """None where the checksum does not fit."""
        magic, *values = HEADER.unpack(data[: HEADER.size])
        if magic != MAGIC or CHECKSUM.unpack(data[HEADER.size :])[0] != zlib.crc32(data[: HEADER.size]):
            return None
        values[3] = values[3].decode()
        return cls(*values)


class Journal:
    """The header and the records, in a file that is locked from opening to closing."""

    def __init__(self, path: Path):
        self.path = path
        self._file = self._opened()
        data = self._file.read()
        self.header = Header.unpacked(data[:HEADER_SIZE]) if len(data) >= HEADER_SIZE else None
        if len(data) >= HEADER_SIZE and self.header is None:
            self.close()
            raise ValueError(
                f"out: {path} is damaged or no journal of pairwise; delete it and its matrix to start anew."
            )
        self._seed = zlib.crc32(data[:HEADER_SIZE])
        self.done = self._records(data[HEADER_SIZE:])
        # What follows the last whole record is a torn one: the next goes over it.
        self._file.truncate(self._size)
        self._file.seek(self._size)

    @property
    def _size(self) -> int:
        return HEADER_SIZE + RECORD_SIZE * len(self.done) if self.header else 0

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
                pass  # a file system without locks
            # The run that held the lock may have completed, and removed the file, between the two calls.
            if self.path.exists() and os.path.samestat(os.fstat(file.fileno()), self.path.stat()):
                return file
            file.close()

    def _records(self, data: bytes) -> set[int]:
        done: set[int] = set()
        for start in range(0, len(data) - RECORD_SIZE + 1, RECORD_SIZE):
            record, checksum = data[start : start + RECORD.size], data[start + RECORD.size : start + RECORD_SIZE]
            if CHECKSUM.unpack(checksum)[0] != zlib.crc32(record, self._seed):
                break
            done.add(RECORD.unpack(record)[0])
        return done

    def begin(self, header: Header) -> None:
        """Write the header, for good: the matrix is created after it."""
        data = header.packed()
        self._file.write(data)
        os.fsync(self._file.fileno())
        if hasattr(os, "O_DIRECTORY"):
            folder = os.open(self.path.parent, os.O_DIRECTORY)
            os.fsync(folder)
            os.close(folder)
        self.header, self._seed = header, zlib.crc32(data)

    def append(self, number: int) -> None:
        """Record a finished block."""
        record = RECORD.pack(number)
        self._file.write(record + CHECKSUM.pack(zlib.crc32(record, self._seed)))
        self.done.add(number)

    def reset(self) -> None:
        """Forget everything."""
        self.header, self.done = None, set()
        self._file.truncate(0)
        self._file.seek(0)

    def remove(self) -> None:
        """Delete the file; nobody else can have it locked before it is gone."""
        if fcntl is None:  # pragma: no cover - Windows deletes no open files
            self.close()
        self.path.unlink()
        self.close()

    def close(self) -> None:
        self._file.close()


class DiskMatrix:
    """A ``.npy`` file with its journal, opened anew or where an interrupted run left it."""

    def __init__(self, out: Any, shape: tuple[int, int], half: bool, objects: bytes, measure: bytes):
        self.path = Path(out)
        if self.path.suffix != ".npy":
            raise ValueError(f"out must be an array or the path of a .npy file; got {os.fspath(out)!r}.")
        if is_special(self.path):
            raise ValueError(f"out: {self.path} is not a regular file, which a matrix on disk needs.")
        self._wanted = Header(*shape, 0, "", half, objects, measure)
        self._matrix: Any = None
        # Looked at before there is a journal of this run, and again when it is locked.
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
        """The block length of the run that is resumed."""
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
            raise ValueError(f"out: {self.path} is not the matrix its journal speaks of; delete both to start anew.")
        self._matrix = np.lib.format.open_memmap(self.path, mode="r+")

    def _holds(self, header: Header) -> bool:
        try:
            matrix = np.load(self.path, mmap_mode="r")
        except (OSError, ValueError):  # no such format, or too short
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
                f"out: {self.path} was begun for something else ({found}). Delete it and {self._journal_path.name} to "
                "start anew, or choose another name."
            )

    def _unlink(self) -> None:
        """Delete the matrix; a symbolic link to it stays."""
        Path(os.path.realpath(self.path)).unlink(missing_ok=True)

    def begin(self, length: int) -> None:
        """Fix the block length of this run."""
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
            # A full disk is an error here, and not the end of the process when a page is written.
            size = self.path.stat().st_size
            try:
                with open(self.path, "r+b") as file:
                    os.posix_fallocate(file.fileno(), 0, size)
            except OSError as error:
                if error.errno == errno.ENOSPC:
                    self._unlink()
                    self._journal.reset()
                    raise OSError(error.errno, f"out: no room for the {size} bytes of {self.path}") from error

    def write(self, block: Block, values: np.ndarray) -> None:
        """Store a block, and its mirror image, then its record."""
        if self._matrix is None:
            self._create(values.dtype)
        if self._matrix.dtype != values.dtype == np.float64:
            raise ValueError(
                "similarity: the function gave float32 for the first block and float64 for a later one; it must give "
                "one of them always where out is a path."
            )
        store(self._matrix, block, values, self._wanted.half)
        self._matrix.flush()
        self._journal.append(block.number)

    def finish(self) -> np.memmap:
        """The complete matrix, to be read only."""
        self._matrix = None
        self._journal.remove()
        return np.load(self.path, mmap_mode="r")

    def close(self) -> None:
        """Let go of the files; a journal in which nothing is recorded is removed."""
        self._matrix = None
        if self._journal._file.closed:
            return
        if self._journal.header is None:
            self._journal.remove()
        else:
            self._journal.close()


def store(matrix: np.ndarray, block: Block, values: np.ndarray, half: bool) -> None:
    """Put a block in its place, and with ``half`` its mirror image in the other."""
    matrix[block.rows, block.columns] = values
    if half and block.rows != block.columns:
        matrix[block.columns, block.rows] = values.T
