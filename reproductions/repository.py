"""Reader of folders in the layout of the Similarity-based Learning Repository, with two files for each data set."""

from __future__ import annotations

import os
import re
from pathlib import Path

import numpy as np
from sklearn.utils import Bunch

from similitude.datasets import load_proximity

_MATRIX = {"similarity", "similarities", "sim", "s", "matrix", "proximity", "proximities"}
_DISSIMILARITY = {"dissimilarity", "dissimilarities", "distance", "distances", "d"}
_LABELS = {"label", "labels", "class", "classes", "y", "target"}
_SUFFIXES = (".txt", ".csv", ".tsv", ".npy", ".npz", ".mat", ".mtx")


def load_similarity_repository(folder: str | os.PathLike) -> dict[str, Bunch]:
    """Return the data sets of a folder, each a matrix of similarities and a file of labels.

    Two layouts are read: a sub-folder for each set (``Voting/similarity.txt`` and ``Voting/labels.txt``), or pairs of
    files that begin with its name (``voting_similarity.txt`` and ``voting_labels.txt``). The last word of a
    file's name, after ``_``, ``-``, ``.`` or a space, defines its contents: ``similarity``, ``sim``, ``matrix``, ``S``,
    ``proximity``; ``dissimilarity``, ``distance``, ``D``; ``labels``, ``classes``, ``y``, ``target``; plurals and any
    case are accepted. Other files are ignored.

    Parameters
    ----------
    folder : path
        The folder.

    Returns
    -------
    dict
        A Bunch for each name, in alphabetical order:

        S : ndarray or CSR array of shape (n, n)
            The matrix in the file, which may hold dissimilarities.
        y : ndarray of shape (n,)
            The labels, integers if all of them are, otherwise strings.
        dissimilarity : bool
            Whether S holds dissimilarities according to the name of the file.

    Raises
    ------
    FileNotFoundError
        If there is no such folder.
    ValueError
        If the folder holds no data set, a data set lacks one of its two files, or a file cannot be read; the message
        names the file.

    Notes
    -----
    Matrices are ``.txt`` (numbers separated by white space, commas or semicolons) or in a format that
    :func:`similitude.datasets.load_proximity` reads; labels are text, one per line, or ``.npy`` or ``.mat``.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from reproductions.repository import load_similarity_repository
    >>> folder = Path(tempfile.mkdtemp())
    >>> _ = (folder / "toy_similarity.txt").write_text("1 0.2\\n0.2 1\\n")
    >>> _ = (folder / "toy_labels.txt").write_text("yes\\nno\\n")
    >>> sets = load_similarity_repository(folder)
    >>> sets["toy"].S.tolist(), sets["toy"].y.tolist()
    ([[1.0, 0.2], [0.2, 1.0]], ['yes', 'no'])
    """
    folder = Path(folder)
    if not folder.is_dir():
        raise FileNotFoundError(f"folder: there is no folder {folder}.")
    found: dict[str, dict[str, list[Path]]] = {}
    for path in sorted(folder.iterdir()):
        if path.is_dir():
            for file in sorted(path.iterdir()):
                _, role = _role(file)
                _add(found, path.name, role, file)
        else:
            _add(found, *_role(path), path)
    if not found:
        raise ValueError(
            f"{folder}: no data set found; sub-folders with a similarity and a label file, or pairs such as "
            "voting_similarity.txt and voting_labels.txt, are needed."
        )
    return {name: _load(folder, name, found[name]) for name in sorted(found)}


def _role(path: Path) -> tuple[str, str | None]:
    """Return the data set and the role in a file's name: 'matrix', 'dissimilarity' or 'labels', or None."""
    if not path.is_file() or path.suffix.lower() not in _SUFFIXES:
        return path.stem, None
    name, word = re.fullmatch(r"(?s)(?:(.*)[_\-. ])?([^_\-. ]*)", path.stem).groups()  # type: ignore[union-attr]
    roles = {"matrix": _MATRIX, "dissimilarity": _DISSIMILARITY, "labels": _LABELS}
    return name or "", next((role for role, words in roles.items() if word.lower() in words), None)


def _add(found: dict, name: str, role: str | None, path: Path) -> None:
    if role is not None and name:
        found.setdefault(name, {}).setdefault(role, []).append(path)


def _load(folder: Path, name: str, files: dict[str, list[Path]]) -> Bunch:
    matrices = files.get("matrix", []) or files.get("dissimilarity", [])
    labels = files.get("labels", [])
    for what, paths in (("similarity", matrices), ("label", labels)):
        if len(paths) != 1:
            there = ", ".join(path.name for path in [*matrices, *labels])
            raise ValueError(f"{folder}: {name}: one {what} file is needed, {len(paths)} found among: {there}.")
    as_arrays = labels[0].suffix.lower() in (".npy", ".mat")
    if matrices[0].suffix.lower() == ".txt":
        S = _read_matrix(matrices[0])
        y = (_label_array if as_arrays else _label_lines)(labels[0], len(S))
    else:
        data = load_proximity(matrices[0], None if as_arrays else labels[0])
        S, y = data.S, _label_array(labels[0], data.S.shape[0]) if as_arrays else data.y
    return Bunch(S=S, y=y, dissimilarity="matrix" not in files)


def _read_matrix(path: Path) -> np.ndarray:
    """Return a square matrix from numbers separated by white space, commas or semicolons."""
    rows: list[list[float]] = []
    for line, text in enumerate(_lines(path), 1):
        cells = [cell for cell in re.split(r"[\s,;]+", text) if cell]
        if cells:
            rows.append([_number(path, line, column, cell) for column, cell in enumerate(cells, 1)])
            if len(cells) != len(rows[0]):
                raise ValueError(f"{path}: row {line} has {len(cells)} numbers, the first row {len(rows[0])}.")
    if not rows:
        raise ValueError(f"{path}: the file is empty; a matrix is needed.")
    if len(rows) != len(rows[0]):
        raise ValueError(f"{path}: the matrix is not square: {len(rows)} rows and {len(rows[0])} columns.")
    return np.array(rows)


def _number(path: Path, line: int, column: int, cell: str) -> float:
    try:
        number = float(cell)
    except ValueError:
        number = np.nan
    if not np.isfinite(number):
        raise ValueError(f"{path}: row {line}, column {column}: {cell!r} is not a finite number.")
    return number


def _lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8-sig").splitlines()


def _label_lines(path: Path, n: int) -> np.ndarray:
    labels = [line.strip() for line in _lines(path) if line.strip()]
    _check_count(path, len(labels), n)
    whole = all(re.fullmatch("0|-?[1-9][0-9]{0,17}", label) for label in labels)
    return np.array([int(label) for label in labels] if whole else labels)


def _label_array(path: Path, n: int) -> np.ndarray:
    if path.suffix.lower() == ".mat":
        y = load_proximity(path, square=False).S.ravel()
    else:
        try:
            y = np.load(path, allow_pickle=False).ravel()
        except (ValueError, OSError, EOFError) as error:
            raise ValueError(f"{path}: not a NumPy array of labels ({error}).") from error
    _check_count(path, len(y), n)
    return y.astype(int) if y.dtype.kind in "fiub" and (y == y.astype(int)).all() else y


def _check_count(path: Path, found: int, n: int) -> None:
    if found != n:
        raise ValueError(f"{path}: {found} labels for {n} samples; one label per row of the matrix is needed.")
