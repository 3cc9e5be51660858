"""Data that are included in the package or in scikit-learn: votes, DNA sequences and images."""

from __future__ import annotations

import csv
from importlib import resources
from typing import Any, Literal, overload

import numpy as np
from sklearn.datasets import load_digits
from sklearn.utils import Bunch


@overload
def load_voting(*, return_X_y: Literal[False] = False, as_frame: bool = False) -> Bunch: ...
@overload
def load_voting(*, return_X_y: Literal[True], as_frame: bool = False) -> tuple[Any, Any]: ...
def load_voting(*, return_X_y: bool = False, as_frame: bool = False) -> Bunch | tuple[Any, Any]:
    """Load the Congressional Voting Records of 1984: 435 members of the U.S. House, 16 votes, two parties.

    Each vote is 'y', 'n', or '?' if the position is not known; '?' counts as a value, not as a missing one. The rows
    are categorical: use them with ``similarity="vdm"`` or ``"counting"``.

    Parameters
    ----------
    return_X_y : bool, default=False
        Whether ``(data, target)`` is returned instead of a Bunch.
    as_frame : bool, default=False
        Whether ``data`` and ``target`` are a pandas DataFrame and Series, and the whole table is returned as ``frame``.

    Returns
    -------
    Bunch or (data, target)
        data : ndarray of objects, shape (435, 16)
            One row of votes per member.
        target : ndarray of str, shape (435,)
            'democrat' (267) or 'republican' (168).
        feature_names, target_names : lists of str
            The names of the votes and of the parties.
        frame : DataFrame of shape (435, 17), or None without ``as_frame``
            The whole table.
        DESCR : str
            The source, the licence and the counts.

    See Also
    --------
    load_promoters : Load 106 DNA sequences of E. coli, 57 letters each: 53 promoters and 53 others.
    similitude.similarities.VDM
        Value difference metric (Stanfill & Waltz 1986), learned from labelled categorical rows.

    References
    ----------
    Chen, Garcia, Gupta, Rahimi & Cazzanti, JMLR 10, 2009, Section 7.1. UCI Machine Learning Repository, "Congressional
    Voting Records", doi:10.24432/C5C01P.

    Examples
    --------
    >>> from similitude.datasets import load_voting
    >>> voting = load_voting()
    >>> voting.data.shape, voting.target_names
    ((435, 16), ['democrat', 'republican'])
    >>> voting.data[0, :4].tolist(), voting.target[0].item()
    (['n', 'y', 'n', 'y'], 'republican')
    """
    folder = resources.files("similitude.datasets") / "data"
    header, *rows = csv.reader((folder / "voting.csv").read_text(encoding="utf-8").splitlines())
    data: Any = np.array([row[1:] for row in rows], dtype=object)
    target: Any = np.array([row[0] for row in rows])
    names = header[1:]
    frame = None
    if as_frame:
        pandas = _pandas()
        data = pandas.DataFrame(data, columns=names)
        target = pandas.Series(target, name=header[0], dtype=object)
        frame = pandas.concat([data, target], axis=1)
    if return_X_y:
        return data, target
    return Bunch(
        data=data,
        target=target,
        frame=frame,
        feature_names=names,
        target_names=["democrat", "republican"],
        DESCR=(folder / "voting.LICENSE.md").read_text(encoding="utf-8"),
    )


def _pandas() -> Any:
    try:
        import pandas
    except ImportError as error:
        raise ImportError("as_frame=True needs pandas: pip install pandas") from error
    return pandas


@overload
def load_promoters(*, return_X_y: Literal[False] = False) -> Bunch: ...
@overload
def load_promoters(*, return_X_y: Literal[True]) -> tuple[list[str], np.ndarray]: ...
def load_promoters(*, return_X_y: bool = False) -> Bunch | tuple[list[str], np.ndarray]:
    """Load 106 DNA sequences of E. coli, 57 letters each: 53 promoters and 53 others.

    The sequences are strings, for similarities of strings such as ``"levenshtein"``.

    Parameters
    ----------
    return_X_y : bool, default=False
        Whether ``(data, target)`` is returned instead of a Bunch.

    Returns
    -------
    Bunch or (data, target)
        data : list of 106 str
            Sequences of the letters a, c, g, t.
        target : ndarray of str, shape (106,)
            '+' (promoter) or '-'.
        target_names : list of str
            The two labels.
        DESCR : str
            The source, the licence and the counts.

    See Also
    --------
    load_voting : Load the Congressional Voting Records of 1984: 435 members of the U.S. House, 16 votes, two parties.
    similitude.similarities.NeedlemanWunsch
        Global alignment: the best score of the two sequences from end to end (affine gaps).

    References
    ----------
    UCI Machine Learning Repository, "Molecular Biology (Promoter Gene Sequences)".

    Examples
    --------
    >>> from similitude.datasets import load_promoters
    >>> promoters = load_promoters()
    >>> len(promoters.data), promoters.data[0][:10], promoters.target[0].item()
    (106, 'gccttctcca', '+')
    """
    folder = resources.files("similitude.datasets") / "data"
    _, *rows = csv.reader((folder / "promoters.csv").read_text(encoding="utf-8").splitlines())
    data = [sequence for _, sequence in rows]
    target = np.array([label for label, _ in rows])
    counts = [int((target == label).sum()) for label in "+-"]
    if counts != [53, 53] or {len(sequence) for sequence in data} != {57} or set("".join(data)) != set("acgt"):
        raise ValueError(
            f"promoters.csv is damaged: {counts} sequences of + and -; 53 each, of 57 letters, are needed."
        )
    if return_X_y:
        return data, target
    description = (folder / "promoters.LICENSE.md").read_text(encoding="utf-8")
    return Bunch(data=data, target=target, target_names=["+", "-"], DESCR=description)


@overload
def load_digit_images(*, return_X_y: Literal[False] = False) -> Bunch: ...
@overload
def load_digit_images(*, return_X_y: Literal[True]) -> tuple[np.ndarray, np.ndarray]: ...
def load_digit_images(*, return_X_y: bool = False) -> Bunch | tuple[np.ndarray, np.ndarray]:
    """Load 1797 handwritten digits as images of 8 x 8 pixels, which are included in scikit-learn.

    Parameters
    ----------
    return_X_y : bool, default=False
        Whether ``(data, target)`` is returned instead of a Bunch.

    Returns
    -------
    Bunch or (data, target)
        data : ndarray of float, shape (1797, 8, 8)
            Grey levels from 0 to 16.
        target : ndarray of int, shape (1797,)
            The digit.
        target_names : list of int
            The ten digits.
        DESCR : str
            The description by scikit-learn.

    See Also
    --------
    similitude.similarities.Tangent
        Tangent distance of images: Euclidean distance up to small translations, scalings, rotations, ... of
        either.
    similitude.similarities.EuclideanImage
        Image Euclidean distance (IMED): a Euclidean distance that takes the distances of pixels into account.
    load_voting : Load the Congressional Voting Records of 1984: 435 members of the U.S. House, 16 votes, two parties.

    Examples
    --------
    >>> from similitude.datasets import load_digit_images
    >>> digits = load_digit_images()
    >>> digits.data.shape, digits.target[:3].tolist()
    ((1797, 8, 8), [0, 1, 2])
    """
    digits = load_digits()
    if return_X_y:
        return digits.images, digits.target
    names = digits.target_names.tolist()
    return Bunch(data=digits.images, target=digits.target, target_names=names, DESCR=digits.DESCR)
