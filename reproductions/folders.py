"""The folders that are searched for data that does not ship with the package."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

DEFAULT = Path(__file__).parents[2] / "shared" / "data"
"""The folder that is searched if the environment variable SIMILITUDE_DATA is not set."""


class DataMissing(Exception):
    """Raised if a data set is not available; the message explains how to get it."""


def data_folders(data_home: Any = None) -> list[Path]:
    """Return the existing folders with data: ``data_home``, and the one given by SIMILITUDE_DATA or the default."""
    given = [data_home, os.environ.get("SIMILITUDE_DATA", DEFAULT)]
    return [folder for folder in (Path(each).expanduser() for each in given if each) if folder.is_dir()]


def first_folder(data_home: Any = None) -> Path | None:
    """Return the first of the folders with data, or None if there is none."""
    return next(iter(data_folders(data_home)), None)


def find_file(name: str, data_home: Any = None) -> Path:
    """Return the path of a file in one of the folders with data, or raise DataMissing."""
    for folder in data_folders(data_home):
        if (folder / name).is_file():
            return folder / name
    raise DataMissing(f"put {name} into the folder given by data_home or the environment variable SIMILITUDE_DATA")


def letters(name: str) -> str:
    """Return the letters and digits of a name in lower case, by which names of data sets and of files are compared."""
    return "".join(sign for sign in name.lower() if sign.isalnum())
