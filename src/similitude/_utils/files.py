"""Writing files whole or not at all."""

from __future__ import annotations

import os
import secrets
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


def check_writable(path: str | os.PathLike, name: str = "path") -> Path:
    """Refuse a path at which no file can be written, before the work that is to be written there."""
    path = Path(path)
    if path.is_dir():
        raise ValueError(f"{name}: {path} is a folder; a file is needed.")
    folder = path.parent
    if not folder.is_dir():
        raise ValueError(f"{name}: there is no folder {folder}.")
    try:
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise ValueError(f"{name}: cannot write in the folder {folder}: {error.strerror}.") from None
    return path


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A path beside ``path`` to write to; it takes the place of ``path`` once all is written, and goes otherwise."""
    path = Path(os.path.realpath(path))  # a link stays one
    part = path.with_name(f".{path.name}.{secrets.token_hex(8)}.tmp")
    try:
        yield part
        os.replace(part, path)
    finally:
        part.unlink(missing_ok=True)
