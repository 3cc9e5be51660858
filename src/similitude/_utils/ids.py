"""Matching by the ids of samples: labels, groups and weights to rows, new columns to training samples.

The table of rules is on the page on input. Every function that takes labels, groups or weights calls
:func:`labels_in_order`.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, Literal, NamedTuple

import numpy as np

from similitude._utils.forms import is_frame, is_graph

_PERMUTED = " or was permuted (permutation_test_score)"
_SHOWN = 5


class Names(NamedTuple):
    """The names of samples, and whether they are ids.

    ``kind`` is "ids", "index" for the whole numbers of a pandas index, which may be ids or former positions, or
    "numbered" for rows that pandas numbered itself.
    """

    values: list[Any]
    kind: Literal["ids", "index", "numbered"]


def check_square_names(X: Any, name: str = "X") -> None:
    """Raise a ValueError if the rows and columns of a square DataFrame have names of which only some are the same."""
    if not is_frame(X) or X.shape[0] != X.shape[1]:
        return
    rows, columns = index_names(X.index), index_names(X.columns)
    if "numbered" in (rows.kind, columns.kind):
        return
    known, alike = {*rows.values, *map(str, rows.values)}, {_plain(name) for name in rows.values}
    strange = [name for name in columns.values if name not in known]
    if strange and any(_plain(name) in alike for name in columns.values):
        raise ValueError(
            f"{name}: rows and columns of a square DataFrame are matched by their names, and {some(strange)} "
            f"{'is a column' if len(strange) == 1 else 'are columns'}, but no row. If the columns are in the order of "
            "the rows, pass its to_numpy()."
        )


def _plain(name: Any) -> str:
    return str(name).strip().casefold()


def check_same_index(**given: Any) -> None:
    """Raise a ValueError if some of these arguments, which belong together entry by entry, have different indexes."""
    indexed = {name: list(values.index) for name, values in given.items() if hasattr(values, "iloc")}
    first = next(iter(indexed), "")
    for name, index in indexed.items():
        if index != indexed[first]:
            raise ValueError(
                f"{first} and {name} have different indexes, but their entries belong together in order. Pass columns "
                "of one DataFrame, or to_numpy() of each."
            )


def names_of(X: Any) -> Names | None:
    """Return the names of the samples of X (matrices, ``Proximities``, graphs, raw objects), or None without any."""
    if isinstance(X, Names):
        return X
    X = _first_frame(X)
    if is_graph(X):
        return Names(list(X.nodes), "ids")
    if hasattr(X, "iloc"):
        return index_names(X.index)
    if getattr(X, "ids", None) is None or not hasattr(X, "shape"):
        return None
    return given_names(X.ids, adopted=_is_adopted(X))


def column_names_of(X: Any) -> Names | None:
    """Return the names of the columns of a DataFrame or ``Proximities``, or None without any."""
    X = _first_frame(X)
    if is_frame(X):
        return index_names(X.columns)
    ids = getattr(X, "column_ids", None)
    return None if ids is None else given_names(ids, adopted=_is_adopted(X))


def _first_frame(X: Any) -> Any:
    """Return the first DataFrame in a dict of several similarities, or X itself."""
    if isinstance(X, dict) and not hasattr(X, "shape"):  # one of SciPy's sparse matrices is a dict
        return next((value for value in X.values() if is_frame(value)), None)
    return X


def _is_adopted(X: Any) -> bool:
    """Return whether ``Proximities`` have the names of a DataFrame."""
    return getattr(X, "adopted", False) and any(map(is_frame, X.similarities.values()))


def given_names(ids: Any, *, adopted: bool = False) -> Names:
    """Return the names in a sequence; if they were ``adopted`` from a DataFrame, whole numbers may be positions."""
    values = ids.tolist() if hasattr(ids, "tolist") else list(ids)
    return Names(values, "index" if adopted and all(map(_is_integer, values)) else "ids")


def first_number(X: Any) -> int | None:
    """Return the number of the first column of a DataFrame whose columns pandas numbered, or None."""
    names = column_names_of(X)
    if names is None or names.kind != "numbered" or names.values != numbered_names(names.values[0], X.shape[1]).values:
        return None
    return int(names.values[0])


def numbered_names(first: int, n: int) -> Names:
    """Return the names of columns that pandas numbered."""
    return Names(list(range(first, first + n)), "numbered")


def index_names(index: Any) -> Names:
    """Return the names in an index of pandas."""
    values = index.tolist()
    if type(index).__name__ == "RangeIndex":
        return Names(values, "numbered" if index.step > 0 else "index")
    return Names(values, "index" if all(map(_is_integer, values)) else "ids")


def _is_integer(name: Any) -> bool:
    return isinstance(name, (int, np.integer)) and not isinstance(name, bool)


def as_ids(names: Names | None) -> np.ndarray | None:
    """Return names as an array of objects, or None if the samples have none of their own."""
    if names is None or names.kind == "numbered":
        return None
    found = np.empty(len(names.values), dtype=object)
    found[:] = names.values
    return found


def go_by_id(own: Names | None, given: Names | None) -> bool | None:
    """Return whether entries with the names ``given`` belong to samples by name (True) or by position (False).

    None means that it cannot be told: whole numbers in another order, or other ones.
    """
    if own is None or given is None or given.kind == "numbered" or own.values == given.values:
        return False
    if own.kind == "ids":
        # Ascending whole numbers are rows that a fold of scikit-learn left, unless some are ids, as numbers or text.
        known = set(own.values)
        are_ids = given.kind == "ids" or any(map(_is_integer, own.values)) or any(str(i) in known for i in given.values)
        return (are_ids or not _is_ascending(given.values)) and own.values != list(map(str, given.values))
    if given.kind == "index":
        return None if own.kind == "index" or set(own.values) == set(given.values) else False
    return own.kind == "index"


def _is_ascending(values: list[int]) -> bool:
    return all(a < b for a, b in pairwise(values))


def labels_in_order(y: Any, X: Any, name: str = "y", *, reorders: bool = True) -> Any:
    """Return labels, groups or weights in the order of the samples of X, by the rules on the page on input.

    X may also be the names of the samples, as :func:`names_of` returns them. With ``reorders=False`` those in another
    order, and dicts, are refused: a transformer cannot reorder them for the steps after it.
    """
    is_dict = isinstance(y, dict)
    if isinstance(y, (list, tuple)):
        return _with_missing(y)
    if not is_dict and not hasattr(y, "iloc"):
        return y
    own = names_of(X)
    if own is not None and own.kind == "numbered" and not is_dict:
        own = _named_by_columns(X, own, index_names(y.index))
    if is_dict and (own is None or own.kind == "numbered"):
        raise ValueError(f"{name} is a dict, but the samples have no ids; pass Proximities(X, ids=...) or a DataFrame.")
    given = Names(list(y), "ids") if is_dict else index_names(y.index)
    by_id = is_dict or go_by_id(own, given)
    if own is None or by_id is False:
        return y
    if by_id is None:
        raise ValueError(
            f"{name} and X have different whole numbers as index ({name}: {some(given.values)}; X: "
            f"{some(own.values)}). Pass {name}.loc[X.index] if its entries belong to the index, or {name}.to_numpy() "
            f"if they are in the order of the rows{_PERMUTED if name == 'y' else ''}."
        )
    order = _positions(own.values, given.values, name, is_dict)
    if not reorders:
        remedy = f"[{name}[id] for id in ids]" if is_dict else f"{name}.loc[ids]"
        raise ValueError(
            f"{name} is {'a dict' if is_dict else 'in another order than X'}, and a transformer cannot reorder it for "
            f"the steps after it. Pass {remedy} with the ids of X (X.index of a DataFrame, X.ids of Proximities)."
        )
    return np.array(_with_missing([y[own_id] for own_id in own.values])) if is_dict else y.iloc[order]


def _named_by_columns(X: Any, own: Names, given: Names) -> Names:
    """Return the names of the columns of a square DataFrame with numbered rows if these are the names of the labels."""
    names = column_names_of(X)
    if names is None or names.kind != "ids" or len(names.values) != len(own.values):
        return own
    return names if set(names.values) == set(given.values) else own


def _with_missing(values: Sequence[Any]) -> Any:
    """Return values as they are, or as objects if NaN is beside text: NumPy would make it the text 'nan'."""
    if any(isinstance(value, str) for value in values) and any(isinstance(v, float) and v != v for v in values):
        return np.array(values, dtype=object)
    return values


def _positions(ids: list[Any], names: list[Any], name: str, is_dict: bool) -> list[int]:
    """Return the position of each id among names that must be the same, or raise a ValueError."""
    place = {own: i for i, own in enumerate(names)}
    entry, entries = ("label", "labels") if name == "y" else ("entry", "entries")
    if len(place) < len(names):
        twice = next(own for i, own in enumerate(names) if place[own] != i)
        raise ValueError(f"{name} has several {entries} for {twice!r}.")
    known = set(ids)
    strange, missing = [own for own in names if own not in known], [own for own in ids if own not in place]
    if strange or missing:
        what = f"{entries} for {some(strange)}, which X does not hold" if strange else f"no {entry} for {some(missing)}"
        permuted = _PERMUTED if name == "y" else ""
        remedy = "" if is_dict else f" If it is in the order of the samples{permuted}, pass {name}.to_numpy()."
        remedy = _text_and_numbers(ids, strange) + remedy
        raise ValueError(f"{name} is matched to the samples by their ids, and has {what}.{remedy}")
    return [place[own] for own in ids]


def _text_and_numbers(own: list[Any], strange: list[Any]) -> str:
    """Return a sentence if strange names are equal to ids as text only, else empty text."""
    alike = not set(map(str, own)).isdisjoint(map(str, strange))
    return " Some of them differ only in that they are text or numbers." if alike else ""


def _columns_go_by_id(own: Names, given: Names, support: np.ndarray | None, where: object) -> bool:
    """Return whether the columns ``given`` of new rows belong to training samples by name, not by position.

    Pandas keeps the numbers of columns wherever some are taken, so that they are names, too, unless they are new.
    """
    if own.values == given.values:
        return False
    if own.kind == "ids" or given.kind == "ids":
        return bool(go_by_id(own, given))
    n = len(given.values)
    is_new = given.kind == "numbered" and given.values == list(range(n))
    if not is_new or n not in (len(own.values), -1 if support is None else len(support)):
        return True
    if n == len(own.values) and (own.kind == "numbered" or set(own.values) == set(given.values)):
        raise ValueError(
            f"{where}: the columns are numbered in another way than in fit (here: {some(given.values)}; in fit: "
            f"{some(own.values)}). Pass the columns of the training samples by the numbers that they had in fit, or "
            "X.to_numpy() if the columns are in their order."
        )
    return False


def column_order(
    own: Names, given: Names, support: np.ndarray | None = None, where: object = "X"
) -> tuple[list[int] | None, bool, list[Any]]:
    """Return the positions of the training samples ``own`` among the columns ``given`` of new rows, None if in order.

    Also return whether these are only the samples at the positions ``support``, which suffice, and the names of
    columns that are no training samples. Error messages begin with ``where``.
    """
    if not _columns_go_by_id(own, given, support, where):
        return None, False, []
    place = {name: j for j, name in enumerate(given.values)}
    if len(place) < len(given.values):
        twice = next(name for j, name in enumerate(given.values) if place[name] != j)
        raise ValueError(f"{where}: {twice!r} names several columns.")
    wanted = own.values
    lacking = [name for name in wanted if name not in place]
    if lacking and support is not None:
        wanted = [own.values[j] for j in support]
        lacking = [name for name in wanted if name not in place]
    if lacking:
        raise ValueError(
            f"{where}: columns are matched to the training samples by their ids, and {len(lacking)} of {len(wanted)} "
            f"samples that are needed have no column: {some(lacking)}.{_text_and_numbers(lacking, given.values)}"
            + (
                ""
                if own.kind == "ids"
                else " If the columns are in the order of the training samples, pass X.to_numpy()."
            )
        )
    known = set(own.values)
    strange = [name for name in given.values if name not in known]
    return [place[name] for name in wanted], len(wanted) < len(own.values), strange


def columns_in_order(X: Any, names: list[Any] | None) -> Any:
    """Return raw objects with the columns of the training objects in their order, or raise a ValueError.

    Both must be DataFrames, whose columns have names.
    """
    if names is None or not is_frame(X) or index_names(X.columns).kind != "ids" or list(X.columns) == names:
        return X
    given = list(X.columns)
    lacking, strange = [own for own in names if own not in given], [own for own in given if own not in names]
    if lacking or strange or len(given) > len(names):
        what = f"lacks the columns {some(lacking)}" if lacking else f"has other columns: {some(strange)}"
        raise ValueError(f"X {what}. The model was fitted on objects with the columns {some(names)}, in any order.")
    return X[names]


def object_columns(X: Any) -> list[Any] | None:
    """Return the names of the columns of a DataFrame of raw objects, or None without any."""
    names = index_names(X.columns) if is_frame(X) else None
    return names.values if names is not None and names.kind == "ids" else None


def some(names: list[Any]) -> str:
    """Return the first few names as text, and how many more there are."""
    more = len(names) - _SHOWN
    return ", ".join(map(repr, names[:_SHOWN])) + (f" and {more} more" if more > 0 else "")
