"""Splitting of a proximity matrix along both axes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse
from sklearn.model_selection import GroupShuffleSplit, StratifiedGroupKFold
from sklearn.model_selection import train_test_split as split_rows
from sklearn.utils import check_consistent_length

from similitude._utils.forms import foreign_form, is_frame
from similitude._utils.ids import check_square_names, labels_in_order
from similitude._utils.scikit_learn import safe_indexing

if TYPE_CHECKING:
    from similitude._utils.types import ListLike, MatrixLike, RandomState


def train_test_split(
    S: MatrixLike,
    *arrays: ListLike,
    test_size: float | int | None = None,
    train_size: float | int | None = None,
    random_state: RandomState = None,
    shuffle: bool = True,
    stratify: ListLike | None = None,
    groups: ListLike | None = None,
) -> list[Any]:
    """Split a square matrix, and arrays that belong to its samples, into a training and a test part.

    ``S_train`` has the training rows and columns; ``S_test`` has the test rows and the *training* columns, as
    ``predict`` requires them. scikit-learn's function of the same name splits the rows only.

    Parameters
    ----------
    S : array, sparse matrix, DataFrame or Proximities of shape (n, n)
        The matrix. Columns of a DataFrame in another order than its rows are put in that order.
    *arrays : sequences of length n
        Labels and other arrays with one entry per sample. A dict, or a Series whose index contains the ids of the
        samples, is matched by id; so are ``stratify`` and ``groups``.
    test_size, train_size, random_state, shuffle, stratify
        As in scikit-learn's ``train_test_split``.
    groups : array-like of shape (n,), default=None
        The group of each sample; samples of the same group stay on the same side. Together with ``stratify`` the test
        share is the nearest 1/k.

    Returns
    -------
    list
        ``S_train, S_test``, then the training part and the test part of each array.

    See Also
    --------
    SimilarityGroupKFold : Split samples into stratified folds such that near-copies are never on both sides of a split.
    similarity_groups
        Return a group for each sample, such that samples whose similarity reaches a threshold are in the same
        group.
    Proximities : A similarity matrix together with the data that belong to its samples, which are sliced together.

    Examples
    --------
    >>> import numpy as np
    >>> from similitude import train_test_split
    >>> S_train, S_test, y_train, y_test = train_test_split(
    ...     np.eye(8), [0, 1] * 4, test_size=2, stratify=[0, 1] * 4, random_state=0)
    >>> S_train.shape, S_test.shape, sorted(y_test)
    ((6, 6), (2, 6), [0, 1])
    """
    form = None
    if is_frame(S):
        check_square_names(S, "S")
        form = foreign_form(S)
    S = S if form is None else form.matrix
    if not hasattr(S, "shape"):
        try:
            S = np.asarray(S)
        except ValueError:  # such as time series of unequal length
            S = np.empty(len(S))
    if len(S.shape) != 2 or S.shape[0] != S.shape[1]:
        raise ValueError(
            f"S must be square, one row and one column per sample; got shape {S.shape}. Raw objects are split by "
            "scikit-learn's train_test_split."
        )
    n = S.shape[0]
    arrays = tuple(labels_in_order(array, S, f"arrays[{i}]") for i, array in enumerate(arrays))
    stratify, groups = labels_in_order(stratify, S, "stratify"), labels_in_order(groups, S, "groups")
    check_consistent_length(S, *arrays, stratify, groups)
    if groups is None:
        train, test = split_rows(
            np.arange(n),
            test_size=test_size,
            train_size=train_size,
            random_state=random_state,
            shuffle=shuffle,
            stratify=stratify,
        )
    elif stratify is None:
        if not shuffle:
            raise ValueError("shuffle=False cannot be combined with groups; leave it True.")
        splitter = GroupShuffleSplit(1, test_size=test_size, train_size=train_size, random_state=random_state)
        train, test = next(splitter.split(np.arange(n), groups=groups))
    else:
        share = _test_share(n, test_size, train_size)
        k = min(range(2, n + 1), key=lambda k: abs(1 / k - share))
        folds = StratifiedGroupKFold(k, shuffle=shuffle, random_state=random_state if shuffle else None)
        train, test = next(folds.split(np.arange(n), stratify, groups))
    parts = [cut(S, train, train), cut(S, test, train)]
    for array in arrays:
        parts += [safe_indexing(array, train), safe_indexing(array, test)]
    return parts


def _test_share(n: int, test_size: float | int | None, train_size: float | int | None) -> float:
    size, name = (test_size, "test_size") if test_size is not None else (train_size, "train_size")
    if size is None:
        return 0.25
    share = size if isinstance(size, float) else size / n
    if not 0 < share < 1:
        raise ValueError(f"{name} must be a share between 0 and 1 or a count below {n}; got {size!r}.")
    return share if name == "test_size" else 1 - share


def cut(S: Any, rows: np.ndarray, columns: np.ndarray) -> Any:
    """Return the block of S with these rows and columns, for any kind of matrix."""
    if hasattr(S, "iloc"):
        return S.iloc[rows, columns]
    if sparse.issparse(S):
        S = S.tocsr()
    return S[np.ix_(rows, columns)]
