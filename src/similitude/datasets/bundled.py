"""The categorical data that are included in the package."""

from __future__ import annotations

import csv
from importlib import resources
from typing import Any, Literal, overload

import numpy as np
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
