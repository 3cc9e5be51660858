"""The ids of a matrix whose file cannot hold them, in text files beside it: ``D.ids.txt`` for ``D.npy``.

Such a file has one id per line, below a comment with a checksum of the matrix. If the matrix was overwritten later, the
checksum differs, and the ids are refused. Files without the comment are also read.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Mapping
from pathlib import Path

from similitude._utils.files import check_writable, replacing
from similitude.proximity.files.text import lines as text_lines

ID_NAMES = ("ids", "column_ids")
"""The names of the ids of the rows (and of the columns, if these are the same samples), and of other columns."""

_COMMENT = "# checksum of the matrix: "
_PIECES, _PIECE = 64, 4096
_LONGEST = 100_000


def id_file(matrix: Path, name: str) -> Path:
    """Return the path of the ids with this name: ``D.ids.txt`` for ``D.npy``, and ``D.mtx.ids.txt`` for ``D.mtx``."""
    return _short(matrix, name) if matrix.suffix.lower() == ".npy" else matrix.with_name(f"{matrix.name}.{name}.txt")


def _short(matrix: Path, name: str) -> Path:
    plain = matrix.name[: -len(".gz")] if matrix.name.lower().endswith(".gz") else matrix.name
    return matrix.with_name(plain).with_suffix(f".{name}.txt")


def labels_file(matrix: Path) -> Path:
    """Return the path of the ids that sourmash writes beside a matrix."""
    return matrix.with_name(matrix.name + ".labels.txt")


def check_ids(path: Path, ids: list[str], one_line: bool = True) -> None:
    """Raise a ValueError if an id cannot be written such that the same id is read again."""
    for text in ids:
        if not text or text != text.strip():
            problem = "is empty" if not text else "begins or ends with a blank"
            raise ValueError(f"{path}: the id {text!r} {problem}, which would not be read as it is; rename the sample.")
        if one_line and text.splitlines() != [text]:
            raise ValueError(f"{path}: the id {text!r} is not one line of text; keep the ids in an .npz file.")
        if "\0" in text or len(text) > _LONGEST or any("\ud800" <= letter <= "\udfff" for letter in text):
            raise ValueError(
                f"{path}: the id {text[:40]!r} cannot be written: it is too long, or has a character that is not text."
            )


def id_files(matrix: Path, names: Mapping[str, list[str] | None]) -> dict[Path, list[str]]:
    """Return the files of ids to be written beside a matrix; call it before the matrix is computed."""
    files = {}
    for name, ids in names.items():
        path = id_file(matrix, name)
        if ids is not None:
            check_ids(path, ids)
            files[check_writable(path, str(matrix))] = ids
        elif path.exists():
            raise ValueError(
                f"{path} exists, but the objects of {matrix} have no such ids. Delete it, or choose another name for "
                "the matrix."
            )
    return files


def write_ids(matrix: Path, files: Mapping[Path, list[str]]) -> None:
    """Write the files that :func:`id_files` returned, after the matrix has been written."""
    for path, ids in files.items():
        with replacing(path) as part:
            comment = [_COMMENT + _checksum(matrix)] if matrix.is_file() else []  # a FIFO cannot be read again
            part.write_text("".join(f"{line}\n" for line in (*comment, *ids)), encoding="utf-8", newline="\n")


def read_ids(matrix: Path, name: str) -> list[str] | None:
    """Return the ids in the file beside a matrix, or None if there is no such file."""
    path = id_file(matrix, name)
    others = [_short(matrix, name), *([labels_file(matrix)] if name == "ids" else [])]
    if not path.is_file():
        path = next((other for other in others if other.is_file()), path)
    if not path.is_file():
        return None
    lines = "".join(text_lines(path)).rstrip().splitlines()
    found = re.fullmatch(re.escape(_COMMENT) + "([0-9a-f]{8})", lines[0].strip()) if lines else None
    if found and path != id_file(matrix, name):
        return None  # these are the ids of another file
    if found and found[1] != _checksum(matrix):
        raise ValueError(
            f"{matrix} was changed after {path.name} was written, so the ids may be those of other samples. Write "
            f"both again, or delete {path.name}; if the ids are right, delete its first line only."
        )
    return [line.strip() for line in lines[1 if found else 0 :]]


def _checksum(path: Path) -> str:
    """Return a checksum of the size of a file and of pieces spread over it, so that large files are read in part."""
    size = path.stat().st_size
    found = zlib.crc32(str(size).encode())
    with path.open("rb") as file:
        for i in range(_PIECES):
            file.seek(i * max(0, size - _PIECE) // (_PIECES - 1))
            found = zlib.crc32(file.read(_PIECE), found)
    return f"{found:08x}"
