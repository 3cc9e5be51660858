"""Writing a file completely or not at all."""

from __future__ import annotations

import errno
import os
import secrets
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path


def check_writable(
    path: str | os.PathLike,
    name: str = "path",
    inputs: Mapping[str, Sequence[Path | None]] | None = None,
    suffixes: Sequence[str] = (),
) -> Path:
    """Return the path if a file can be written there, or raise a ValueError that names the argument.

    Call it before the computation whose result is to be written. A regular file must not be one of the ``inputs``,
    which are given by the names of their arguments, and must have one of the ``suffixes`` if there are any.
    """
    path = Path(path)
    if path.is_dir():
        raise ValueError(f"{name}: {path} is a folder; a file is needed.")
    if is_special(path):
        if not os.access(path, os.W_OK):
            raise ValueError(f"{name}: cannot write into {path}: permission denied.")
        return path
    for argument, files in (inputs or {}).items():
        for file in files:
            if file is not None and path.exists() and file.exists() and os.path.samefile(path, file):
                raise ValueError(f"{name}: {path} is {argument}, which would be overwritten; name another file.")
    if suffixes and path.suffix.lower() not in suffixes:
        raise ValueError(f"{name}: {path} must end in {' or '.join(suffixes)}.")
    folder = Path(os.path.realpath(path)).parent if path.is_symlink() else path.parent
    if not folder.is_dir():
        raise ValueError(f"{name}: there is no folder {folder}.")
    try:
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise ValueError(f"{name}: cannot write in the folder {folder}: {error.strerror}.") from None
    return path


def is_special(path: Path) -> bool:
    """Return whether the path leads to something that is neither a regular file nor a folder: a FIFO or a device."""
    return path.exists() and not path.is_file() and not path.is_dir()


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yield a temporary path, whose content becomes that of ``path`` unless an error is raised.

    A regular file is replaced in one step. A symbolic link is kept, and the file that it points to is replaced. A FIFO
    or a device is also kept, and the content is written into it.
    """
    if path.is_dir():
        raise ValueError(f"{path} is a folder; a file is needed.")
    if is_special(path):
        with tempfile.TemporaryDirectory() as folder:
            part = Path(folder, path.name)
            yield part
            # O_CREAT is left out: if the FIFO has been removed meanwhile, that is an error, and no file is created.
            with part.open("rb") as source, os.fdopen(os.open(path, os.O_WRONLY), "wb") as target:
                shutil.copyfileobj(source, target)
        return
    path = Path(os.path.realpath(path))
    part = path.with_name(f".{path.name}.{secrets.token_hex(8)}.tmp")
    try:
        with naming(path):
            yield part
            os.replace(part, path)
    finally:
        part.unlink(missing_ok=True)


@contextmanager
def naming(path: str | os.PathLike) -> Iterator[None]:
    """Add the name of the file to an error of the system that has none, such as that of a full disk.

    NumPy's error of an incomplete write has no number, either: then the disk is full, or the file too large for it.
    """
    try:
        yield
    except OSError as error:
        if error.errno is None and "requested and" in str(error):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), os.fspath(path)) from error
        if error.errno is not None and error.filename is None:
            error.filename = os.fspath(path)
        raise
