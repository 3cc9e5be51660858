"""Published partitions into training and test parts, from a file or a folder of files."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from reproductions.folders import DataMissing, letters
from similitude.datasets import load_proximity

_SUFFIXES = (".txt", ".csv", ".npy", ".mat")


def partitions_of(path: Path, dataset: str, n: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return the partitions of a data set of n samples as pairs of positions, training and test.

    ``path`` is a file, or a folder with a file for each data set, named after it, such as ``Voting.txt`` or ``Voting
    partitions.mat``. Two layouts are read: an indicator matrix with a row for each sample and a column for each
    partition, in which 1 is test and 0 is training, or a row for each partition with the numbers of its test samples.
    Samples are counted from 0 if the number 0 occurs, and from 1, as in MATLAB, if the number n does.

    Raises
    ------
    DataMissing
        If a folder has no file for the data set.
    ValueError
        If a file does not hold partitions of n samples; the message names the file.
    """
    file = _file(path, dataset) if path.is_dir() else path
    rows = _rows(file)
    indicator = len(rows) == n and all(set(row) <= {0, 1} for row in rows)
    if indicator:
        if len({len(row) for row in rows}) != 1:
            raise ValueError(f"{file}: the rows of the indicator matrix must be equally long.")
        tests = [np.flatnonzero(column) for column in np.array(rows).T]
    else:
        tests = _positions(file, rows, n)
    for number, test in enumerate(tests, 1):
        if not 0 < len(test) < n:
            raise ValueError(f"{file}: partition {number} must have both training and test samples.")
    return [(np.setdiff1d(np.arange(n), test), test) for test in tests]


def _file(folder: Path, dataset: str) -> Path:
    wanted = letters(dataset)
    found = [file for file in sorted(folder.iterdir()) if file.suffix.lower() in _SUFFIXES]
    own = [file for file in found if letters(file.stem) == wanted] or [
        file for file in found if letters(file.stem) == f"{wanted}partitions"
    ]
    if not own:
        raise DataMissing(f"{folder} has no file of partitions that is named after it")
    return own[0]


def _rows(file: Path) -> list[list[int]]:
    """Return the whole numbers of a file, row by row; rows of text files may have different lengths."""
    if not file.is_file():
        raise ValueError(f"--partition-file: there is no file or folder {file}.")
    if file.suffix.lower() in (".npy", ".mat"):
        if file.suffix.lower() == ".npy":
            values = np.atleast_2d(np.load(file, allow_pickle=False))
        else:
            values = load_proximity(file, square=False).S
        rows = [[float(cell) for cell in row] for row in np.asarray(values)]
    else:
        lines = file.read_text(encoding="utf-8-sig").replace(",", " ").replace(";", " ").splitlines()
        try:
            rows = [[float(cell) for cell in line.split()] for line in lines if line.strip()]
        except ValueError as error:
            raise ValueError(f"{file}: partitions are whole numbers ({error}).") from error
    if not rows or any(not cell.is_integer() for row in rows for cell in row):
        raise ValueError(f"{file}: partitions are rows of whole numbers; other values, or none, were found.")
    return [[int(cell) for cell in row] for row in rows]


def _positions(file: Path, rows: list[list[int]], n: int) -> list[np.ndarray]:
    numbers = [number for row in rows for number in row]
    low, high = min(numbers), max(numbers)
    first = 0 if low == 0 else 1
    if low < 0 or high > n - 1 + first or (low > 0 and high < n):
        raise ValueError(
            f"{file}: the numbers of test samples go from {low} to {high}; for {n} samples they must begin at 0, or "
            f"reach {n} if they are counted from 1."
        )
    if any(len(set(row)) != len(row) for row in rows):
        raise ValueError(f"{file}: a sample is named twice in one partition.")
    return [np.sort(np.array(row)) - first for row in rows]
