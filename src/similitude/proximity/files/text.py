"""Text files and compressed files, opened with limits on what they may unpack to; their rows, and FASTA."""

from __future__ import annotations

import csv
import gzip
import io
import os
import re
import shutil
import stat
import sys
import tempfile
import weakref
import zlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

LONGEST_LINE = 2**26
"""The largest number of characters in a line of a text file."""

LARGEST_UNPACKED, LARGEST_RATIO = 2**28, 200
"""A compressed file may unpack to this number of bytes, or to this multiple of its size if that is more."""

BLANKS = " "
"""The delimiter of cells that are separated by any number of blanks."""

STANDARD_INPUT = ("-", "/dev/stdin")
NUCLEOTIDES = frozenset("ACGTUNRYSWKMBDHV")
"""The letters of nucleotides, with those that stand for several of them."""

Rows = list[tuple[int, list[str]]]
"""The cells of rows, each with the line of the file on which it ends."""

_QUOTED = re.compile(r'"(?:[^"]|"")*"')


class StreamCopy(type(Path())):  # type: ignore[misc]
    """The path of a temporary file with the content of a stream; messages show the name of the stream.

    A stream can be read only once, and the form of a file is found by reading its beginning first.
    """

    shown: str | None = None

    def __str__(self) -> str:
        return super().__str__() if self.shown is None else self.shown

    def __fspath__(self) -> str:
        return super().__str__()


def suffix(path: Path) -> str:
    """Return the suffix of a file in lower case and without .gz."""
    name = path.name.lower()
    return Path(name[: -len(".gz")] if name.endswith(".gz") else name).suffix


def check_file(path: str | os.PathLike, name: str, may_be_empty: bool = False) -> Path:
    """Return the path, or raise an error that names the argument if there is no file to read.

    A stream (a FIFO, or ``-`` for the standard input) is read to its end, and the path of a copy is returned.
    """
    path = path if isinstance(path, Path) else Path(path)
    if is_stream(path):
        path = _copied(path, name)
    if not path.exists():
        raise FileNotFoundError(f"{name}: there is no file {path}.")
    if not path.is_file():
        raise ValueError(f"{name}: {path} is not a file.")
    if path.stat().st_size == 0 and not may_be_empty:
        raise ValueError(f"{name}: {path}: the file is empty.")
    return path


def is_stream(path: Path) -> bool:
    """Return whether a path is the standard input, a FIFO or a socket, whose content can be read only once."""
    if str(path) in STANDARD_INPUT and not isinstance(path, StreamCopy):
        return True
    return path.exists() and (stat.S_ISFIFO(path.stat().st_mode) or stat.S_ISSOCK(path.stat().st_mode))


def check_streams(inputs: Mapping[str, Iterable[Path | None]]) -> None:
    """Raise a ValueError if two arguments are the same stream."""
    seen: dict[Any, str] = {}
    for name, paths in inputs.items():
        for path in paths:
            if path is None or not is_stream(path):
                continue
            key = _identity(path)
            if key in seen:
                other = "given twice" if seen[key] == name else f"also {seen[key]}"
                raise ValueError(f"{name}: {path} is {other}, but a stream can be read only once; use a file.")
            seen[key] = name


def _identity(path: Path) -> Any:
    """Return what is the same for all names of a stream, such as -, /dev/stdin and /dev/fd/0."""
    try:
        found = os.fstat(0) if str(path) in STANDARD_INPUT else path.stat()
    except OSError:  # the standard input is closed
        return STANDARD_INPUT[0]
    return found.st_dev, found.st_ino


def _copied(path: Path, name: str) -> StreamCopy:
    """Return the path of a temporary file with the content of a stream, which is deleted with the path."""
    folder = tempfile.mkdtemp()
    copy = StreamCopy(folder, "stdin" if str(path) in STANDARD_INPUT else path.name)
    weakref.finalize(copy, shutil.rmtree, folder, ignore_errors=True)
    with copy.open("wb") as target:
        if str(path) in STANDARD_INPUT:
            if sys.stdin is None:
                raise ValueError(f"{name}: {path} is the standard input, which is closed.")
            shutil.copyfileobj(sys.stdin.buffer, target)
        else:
            with path.open("rb") as source:
                shutil.copyfileobj(source, target)
    copy.shown = str(path)
    return copy


def is_gzip(path: Path) -> bool:
    """Return whether a file begins as those of gzip do."""
    with path.open("rb") as file:
        return file.read(2) == b"\x1f\x8b"


class _Unpacked(io.RawIOBase):
    """The content of a gzip file, up to the limit on its size."""

    def __init__(self, path: Path):
        self._path = path
        self._packed = gzip.open(path, "rb")  # noqa: SIM115 - it is closed by close
        self._most = max(LARGEST_UNPACKED, LARGEST_RATIO * path.stat().st_size)
        self._read = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        count = self._packed.readinto(buffer)
        self._read += count
        if self._read > self._most:
            raise ValueError(
                f"{self._path}: unpacks to more than {self._most / 2**20:,.0f} MiB, {LARGEST_RATIO} times its own "
                "size. Unpack it yourself if you trust it."
            )
        return count

    def close(self) -> None:
        self._packed.close()
        super().close()


@contextmanager
def open_bytes(path: Path) -> Iterator[IO[bytes]]:
    """Yield the content of a file, unpacked if it is a gzip file; raise a ValueError if that is not possible."""
    if not is_gzip(path):
        if path.name.lower().endswith(".gz"):
            raise ValueError(f"{path}: is not a .gz file, or it is truncated or corrupt.")
        with path.open("rb") as file:
            yield file
        return
    try:
        with io.BufferedReader(_Unpacked(path), 2**20) as file:
            yield file
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise ValueError(f"{path}: the .gz file is truncated or corrupt: {error}.") from None


@contextmanager
def open_text(path: Path) -> Iterator[IO[str]]:
    """Yield the file as UTF-8 text, unpacked if it is a gzip file; raise a ValueError if it cannot be read."""
    try:
        with open_bytes(path) as packed, io.TextIOWrapper(packed, encoding="utf-8-sig", newline="") as file:
            yield file
    except UnicodeDecodeError:
        raise ValueError(
            f"{path}: row {_undecodable(path)} is not UTF-8 text; save the file as text in UTF-8."
        ) from None


def _undecodable(path: Path) -> int:
    with open_bytes(path) as file:
        number = 0
        while line := file.readline(LONGEST_LINE):
            number += 1
            try:
                line.decode("utf-8-sig")
            except UnicodeDecodeError:
                return number
    return 1


def lines(path: Path) -> Iterator[str]:
    """Yield the lines of a text file with their ends; raise a ValueError for one that is too long."""
    with open_text(path) as file:
        number = 0
        while line := file.readline(LONGEST_LINE + 1):
            number += 1
            if len(line) > LONGEST_LINE:
                raise ValueError(
                    f"{path}: row {number} has more than {LONGEST_LINE:,} characters; a line may not be longer."
                )
            yield line


def rows(path: Path, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the cells of each row, also of blank ones, with the line of the file on which it ends."""
    if delimiter == BLANKS:
        yield from ((number, line.split()) for number, line in enumerate(lines(path), 1))
        return
    reader = csv.reader(lines(path), delimiter=delimiter)
    try:
        for cells in reader:
            yield reader.line_num, cells
    except csv.Error as error:
        raise ValueError(f"{path}: row {reader.line_num} cannot be read: {error}.") from None


def delimiter_of(line: str) -> str:
    """Return the delimiter of a line: the most frequent of tab, comma and semicolon outside of quotes, or blanks."""
    line = _QUOTED.sub("", line)
    best = max("\t,;", key=line.count)
    if best in line:
        return best
    return BLANKS if len(line.split()) > 1 else ","


def ragged(path: Path, line: int, found: int, other: int, needed: int) -> ValueError:
    """Return the error about rows of different lengths."""
    return ValueError(
        f"{path}: row {line} has {found} cells, row {other} has {needed}; all rows must have the same number."
    )


def check_widths(path: Path, found: Rows) -> None:
    """Raise a ValueError unless all rows have the same number of cells."""
    first, width = found[0][0], len(found[0][1])
    for line, cells in found:
        if len(cells) != width:
            raise ragged(path, line, len(cells), first, width)


def check_unique(path: Path, names: list[str], lines: list[int] | None = None, what: str = "row") -> None:
    """Raise a ValueError if two samples have the same name, or if one has none."""
    seen: dict[str, int] = {}
    for i, name in enumerate(names):
        place = i + 1 if lines is None else lines[i]
        if not name:
            raise ValueError(f"{path}: {what} {place} has no id; every sample needs one.")
        if name in seen:
            raise ValueError(
                f"{path}: the id {name!r} appears twice ({what}s {seen[name]} and {place}); ids must differ."
            )
        seen[name] = place


def is_fasta(path: Path) -> bool:
    """Return whether the first line of a text file that is not blank is a heading of FASTA."""
    return next((line for line in lines(path) if line.strip()), "").startswith(">")


def fasta_ids(path: Path) -> list[str]:
    """Return the ids of the sequences in a FASTA file, the first words of the headings; the rest is not looked at."""
    ids: list[str] = []
    places: list[int] = []
    for number, line in enumerate(lines(path), 1):
        text = line.strip()
        if text.startswith(">"):
            words = text[1:].split()
            if not words:
                raise ValueError(f"{path}: row {number}: a heading without an id; a word is needed after '>'.")
            ids.append(words[0])
            places.append(number)
    check_unique(path, ids, places)
    return ids


def read_fasta(path: Path) -> tuple[list[str], list[str]]:
    """Return the sequences of a FASTA file in capital letters, and their ids."""
    ids = fasta_ids(path)
    places: list[int] = []
    parts: list[list[str]] = []
    for number, line in enumerate(lines(path), 1):
        text = line.strip()
        if text.startswith(">"):
            places.append(number)
            parts.append([])
        elif text:
            if not parts:
                raise ValueError(f"{path}: row {number} is before the first heading; FASTA begins with '>'.")
            letters = text.rstrip("*")
            if letters and not (letters.isascii() and letters.isalpha()):
                bad = next(letter for letter in letters if not (letter.isascii() and letter.isalpha()))
                gaps = " Gaps of an alignment must be removed." if bad in "-." else ""
                raise ValueError(f"{path}: row {number}: {bad!r} is not a letter of a sequence.{gaps}")
            parts[-1].append(text.upper())
    sequences = ["".join(part).removesuffix("*") for part in parts]
    for sequence, name, place in zip(sequences, ids, places):
        if not sequence:
            raise ValueError(f"{path}: row {place}: the sequence {name!r} is empty.")
    return sequences, ids
