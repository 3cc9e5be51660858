"""Data that are downloaded once and kept; their hash is checked whenever they are read."""

from __future__ import annotations

import hashlib
import io
import os
import tarfile
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.utils import Bunch

from similitude._utils.extras import require
from similitude._utils.files import replacing

PROTEIN_FILE = "protein.RData"
PROTEIN_SHA256 = "009f95edcba72e67f3db269dac30e84c62b88f5e152b7bdce1064680bf77f16c"
PROTEIN_MEMBER = "evclust/data/protein.RData"
PROTEIN_URL = "https://cran.r-project.org/src/contrib/Archive/evclust/evclust_2.0.0.tar.gz"
PROTEIN_COUNTS = {"G": 30, "HA": 72, "HB": 72, "M": 39}

_PROTEIN_DESCR = """Protein: dissimilarities of 213 globins, from the alignment of their sequences.

Classes: hemoglobin alpha (HA, 72), hemoglobin beta (HB, 72), myoglobin (M, 39), others (G, 30). D is symmetric with a
zero diagonal.

Source: the data set `protein` of the CRAN package evclust (version 2.0.0), after Hofmann & Buhmann, "Pairwise data
clustering by deterministic annealing", IEEE PAMI 19, 1997; Graepel, Herbrich, Bollmann-Sdorra & Obermayer, NIPS 1999.
The tables of Chen et al. (JMLR 10, 2009) use another similarity of the same proteins.
"""


def fetch_protein(data_home: str | os.PathLike | None = None, download_if_missing: bool = True) -> Bunch:
    """Return the dissimilarities of 213 globins of four classes.

    The file ``protein.RData`` is searched for in ``data_home``, in the folder named by the environment variable
    SIMILITUDE_DATA, and in the user's cache, in this order. It is downloaded only if none of them has it. Its SHA-256
    is checked every time. This function needs ``similitude[data]``.

    Parameters
    ----------
    data_home : path, default=None
        The folder to search and to download to; None means the user's cache.
    download_if_missing : bool, default=True
        Whether a missing file is downloaded; otherwise an OSError names the folder to put it into.

    Returns
    -------
    Bunch
        D : ndarray of float, shape (213, 213)
            Dissimilarities: pass ``dissimilarity=`` to classifiers.
        y : ndarray of str, shape (213,)
            'HA' (72), 'HB' (72), 'M' (39), 'G' (30).
        DESCR : str
            The description and the source.

    Raises
    ------
    ImportError
        If ``similitude[data]`` is not installed.
    OSError
        If the file is absent and cannot, or must not, be downloaded.
    ValueError
        If the hash of a file is not the known one.

    See Also
    --------
    load_promoters : Load 106 DNA sequences of E. coli, 57 letters each: 53 promoters and 53 others.
    load_proximity
        Read similarities or dissimilarities, and the labels and groups of their samples, from files of any
        form.

    References
    ----------
    Hofmann & Buhmann, "Pairwise data clustering by deterministic annealing", IEEE PAMI 19, 1997.
    """
    rdata = require("rdata", "data")
    path = _find_protein(data_home) or _download_protein(data_home, download_if_missing)
    content = rdata.read_rda(path)["protein"]
    D, y = np.asarray(content["D"], dtype=float), np.asarray(content["class"]).astype(str)
    counts = dict(zip(*(part.tolist() for part in np.unique(y, return_counts=True))))
    if D.shape != (213, 213) or counts != PROTEIN_COUNTS:
        raise ValueError(
            f"{path}: holds {D.shape} dissimilarities of classes {counts}; 213 x 213 of {PROTEIN_COUNTS} are needed."
        )
    return Bunch(D=D, y=y, DESCR=_PROTEIN_DESCR)


def _cache(data_home: Any) -> Path:
    """Return the folder to download to."""
    if data_home is not None:
        return Path(data_home).expanduser()
    return Path(require("pooch", "data").os_cache("similitude"))


def _find_protein(data_home: Any) -> Path | None:
    shared = os.environ.get("SIMILITUDE_DATA")
    folders = [Path(folder).expanduser() for folder in (data_home, shared) if folder]
    for folder in [*folders, *([] if data_home is not None else [_cache(None)])]:
        path = folder / PROTEIN_FILE
        if path.is_file():
            _check_hash(path.read_bytes(), str(path))
            return path
    return None


def _check_hash(content: bytes, where: str) -> None:
    found = hashlib.sha256(content).hexdigest()
    if found != PROTEIN_SHA256:
        raise ValueError(
            f"{where}: the SHA-256 is {found}, not the known {PROTEIN_SHA256}; the file is not used. Remove it, or put "
            "the right one there."
        )


def _download_protein(data_home: Any, allowed: bool) -> Path:
    """Download the archive, keep one file of it if its hash is right, and return its path."""
    folder = _cache(data_home)
    remedy = f"Put {PROTEIN_FILE} (in {PROTEIN_URL} it is {PROTEIN_MEMBER}) into {folder}, or set SIMILITUDE_DATA."
    if not allowed:
        raise OSError(f"{PROTEIN_FILE} is not in {folder}, and download_if_missing=False. {remedy}")
    pooch = require("pooch", "data")
    with tempfile.TemporaryDirectory() as temporary:
        try:
            archive = pooch.retrieve(PROTEIN_URL, known_hash=None, path=temporary, progressbar=False)
            content = _member(Path(archive).read_bytes())
        except (OSError, tarfile.TarError, KeyError, EOFError) as error:
            raise OSError(
                f"{PROTEIN_FILE} could not be downloaded ({type(error).__name__}: {error}). {remedy}"
            ) from error
    _check_hash(content, f"{PROTEIN_MEMBER} in {PROTEIN_URL}")
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / PROTEIN_FILE
    with replacing(path) as part:  # another process may be reading the file
        part.write_bytes(content)
    return path


def _member(archive: bytes) -> bytes:
    """Return the content of the one file in the archive that is needed; nothing else is written to the disk."""
    with tarfile.open(fileobj=io.BytesIO(archive), mode="r:gz") as tar:
        file = tar.extractfile(PROTEIN_MEMBER)
        if file is None:
            raise KeyError(f"{PROTEIN_MEMBER} is not a file")
        return file.read()
