"""The new samples of ``similitude predict``, read from its files ROWS as the model needs them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from similitude.cli.source import number_or_text

_SHOWN = 5


def read_rows(
    model: Path, fitted: Any, info: dict, paths: list[Path], given: dict[str, Any], queries: Path | None, note: Any
) -> tuple[Any, Any, Any]:
    """Return the new samples in the form in which the fitted model reads them, their ids, and their numbers of edges.

    The latter are None if the samples are not edges.
    """
    from similitude.proximity.files import check_file

    if info["input"] == "other" and not _takes_rows(fitted):
        raise ValueError(
            f"{model}: holds a {type(fitted).__name__}, whose input is not only rows of similarities. "
            "Load the model in Python: similitude.load_model(path)."
        )
    several = None if info["input"] == "objects" else info["similarities"]
    _check_number(model, paths, several)
    paths = [check_file(path, "ROWS", may_be_empty=queries is not None) for path in paths]
    if info["input"] == "objects":
        if queries is not None:
            raise ValueError(
                "--queries is for edge lists, such as hits; ROWS holds raw objects, of which each has a row."
            )
        items, ids, read = _objects(fitted, info, paths[0], given)
        if read is not None:
            note(f"{paths[0]}: {read}")
        return items, ids, None
    if several is None:
        return _similarities(fitted, info, paths[0], given, queries, note)
    return _several(fitted, info, paths, given, queries, note)


def _takes_rows(fitted: Any) -> bool:
    """Return whether a fused model was fitted on a matrix alone; all its parts then use the same rows."""
    from similitude import FusedClassifier

    if not isinstance(fitted, FusedClassifier) or not hasattr(fitted, "n_features_in_"):
        return False
    widths = {getattr(part, "n_features_in_", None) for part in fitted.parts_.values()}
    return widths == {fitted.n_features_in_}


def _similarities(
    fitted: Any, info: dict, path: Path, given: dict[str, Any], queries: Path | None, note: Any
) -> tuple[Any, Any, Any]:
    """Return the rows in the order of the training samples, their ids, and their numbers of edges."""
    from similitude import Proximities
    from similitude.base import reader_of
    from similitude.persistence import input_reader
    from similitude.proximity.files import load_rows

    known = info["ids"]
    data = load_rows(path, _reading(info, given), known, _stored(info).get("self_scores"), queries)
    if data.read is not None:
        note(f"{path}: {data.read}")
    for text in data.notes:
        note(text)
    needed, support = info["n_columns"], info["support_columns"]
    support = None if support is None or not 0 < len(support) < needed else support
    S = data.S
    if known is not None and data.columns is not None:
        order = _matched(path, known, data.columns, support, note)
        S = S if data.columns == known else S[:, order]
    elif S.shape[1] != needed and (support is None or S.shape[1] != len(support)):
        few = "" if support is None else f", or the {len(support)} that it needs"
        raise ValueError(
            f"{path}: has {S.shape[1]} columns; the model was fitted on {needed} samples{few}. One column for each is "
            "needed, in their order."
        )
    reader = reader_of(input_reader(fitted))
    if "ids" in getattr(reader, "extras", ()):  # ids were given in fit, and predict needs them too
        names = reader.column_ids if S.shape[1] == needed else reader.column_ids[support]
        S = Proximities(S, column_ids=names, absent=data.absent)
    elif data.absent == "unknown":
        S = Proximities(S, absent="unknown")
    return S, data.rows, data.counts


def _stored(info: dict) -> dict[str, Any]:
    """Return how the training samples were read, if they were edges."""
    found = info["notes"].get("reading")
    return found if isinstance(found, dict) else {}


def _reading(info: dict, given: dict[str, Any]) -> Any:
    """Return how new samples are read: as the training samples were, unless columns are named."""
    from similitude.proximity.files import Reading

    changes = {name: value for name, value in given.items() if value is not None}
    stored = _stored(info)
    if "missing" in changes and stored:
        raise ValueError(
            f"--missing: omit it; pairs without an edge mean what they meant in training, {stored.get('missing')!r}."
        )
    if "missing" in changes:
        changes["missing"] = number_or_text(changes["missing"])
    if not stored:
        changes["orientation"] = "dissimilarity" if info["input"] == "dissimilarities" else "similarity"
    return Reading.restored({**stored, "form": None}, **changes)


def _check_number(model: Path, rows: list[Path], similarities: list[str] | None) -> None:
    needed = similarities or ["one"]
    if len(rows) != len(needed):
        named = "" if similarities is None else f" ({', '.join(similarities)})"
        raise ValueError(f"ROWS: {model} needs {len(needed)} of these files{named}, in this order; got {len(rows)}.")
    given = [path.name.split(".")[0] for path in rows]
    if similarities is not None and given != similarities and sorted(given) == sorted(similarities):
        raise ValueError(
            f"ROWS: the files have the names of the similarities of {model}, but not their order; give them as "
            f"{', '.join(similarities)}."
        )


def _several(
    fitted: Any, info: dict, paths: list[Path], given: dict[str, Any], queries: Path | None, note: Any
) -> tuple[Any, Any, Any]:
    """Return the rows of each of several similarities, and the ids of the new samples, which all files must share.

    The numbers of edges are added.
    """
    from similitude import Proximities
    from similitude.base import reader_of

    parts: dict[str, Any] = {}
    first = edges = None
    for i, (name, path) in enumerate(zip(info["similarities"], paths)):
        X, ids, counts = _similarities(fitted, info, path, given, queries, note)
        S, ids = getattr(X, "S", X), None if ids is None else list(ids)
        if i == 0:
            first = ids
        elif S.shape != next(iter(parts.values())).shape or (ids or first) != (first or ids):
            raise ValueError(f"ROWS: {paths[0]} and {path} must have the same samples in the same order, and do not.")
        parts[name] = S
        edges = counts if edges is None else edges if counts is None else edges + counts
    reader = reader_of(fitted)
    column_ids = reader.column_ids if reader is not None and "ids" in reader.extras else None
    return Proximities(parts, column_ids=column_ids), first, edges


def _matched(path: Path, known: list[str], given: list[str], support: Any, note: Any) -> list[int]:
    """Return the positions of the columns of the training samples, or of those among them that the model needs."""
    position = {name: j for j, name in enumerate(given)}
    wanted = known
    if support is not None and any(name not in position for name in known):
        wanted = [known[j] for j in support]
    missing = [name for name in wanted if name not in position]
    if missing:
        raise ValueError(
            f"{path}: {len(missing)} of the {len(wanted)} training samples that the model needs have no column: "
            f"{_some(missing)}."
        )
    extra = sorted(set(given) - set(known), key=position.__getitem__)
    if extra:
        note(f"{path}: {len(extra)} columns are not training samples and are ignored: {_some(extra)}.")
    return [position[name] for name in wanted]


def _some(names: list[str]) -> str:
    return ", ".join(map(repr, names[:_SHOWN])) + (", ..." if len(names) > _SHOWN else "")


def _objects(fitted: Any, info: dict, path: Path, given: dict[str, Any]) -> Any:
    """Return raw objects from a file, of the kind on which the model was fitted, their ids, and the columns read."""
    import numpy as np

    from similitude.persistence import input_reader
    from similitude.proximity.files import read_objects, suffix

    known = input_reader(fitted).objects_
    is_array = isinstance(known, np.ndarray) and known.ndim == 2
    options = given["key"], given["header"], _remembered(info)
    if is_array and known.dtype.kind in "fiub":
        found = read_objects(path, "numbers", *options)
        _check_width(path, found.items.shape[1], known.shape[1])
        return found
    texts = known.ravel() if is_array else known
    if not (is_array or isinstance(known, list)) or not all(isinstance(cell, str) for cell in texts):
        raise ValueError(
            "MODEL was fitted on objects that ROWS cannot hold; it can hold rows of numbers, rows of words, or "
            "strings. Load the model in Python: similitude.load_model(path).predict(objects)."
        )
    if not is_array:
        return read_objects(path, "strings", *options)
    if suffix(path) not in (".csv", ".tsv", ""):
        raise ValueError(f"{path}: raw objects are read from .csv and .tsv files, and sequences also from FASTA files.")
    found = read_objects(path, "categorical rows", *options) if options[2] else _words(path, known, given["header"])
    _check_width(path, found.items.shape[1], known.shape[1])
    return found


def _remembered(info: dict) -> list[str] | None:
    """Return the names of the columns on which the model was fitted, if it knows them."""
    columns = info["notes"].get("columns")
    names = columns.get("objects") if isinstance(columns, dict) else None
    return names if isinstance(names, list) and names and all(isinstance(name, str) for name in names) else None


def _check_width(path: Path, found: int, needed: int) -> None:
    if found != needed:
        raise ValueError(f"{path}: has {found} columns; the model was fitted on objects with {needed}.")


def _words(path: Path, known: Any, header: bool | None) -> Any:
    """Return rows of words for a model that does not know the names of its columns.

    With several columns, a first row in which no word is known is a header. Below it, a column more is one of ids.
    """
    import numpy as np

    from similitude.proximity.files import Columns, Objects, read_cells, read_objects

    rows, needed = read_cells(path), known.shape[1]
    first = [cell.strip() for cell in rows[0]]
    if header is None and needed > 1 and "id" not in map(str.lower, first):
        header = len(rows) > 1 and not any(cell in set(known[:, j]) for j, cell in enumerate(rows[0][-needed:]))
    if header and len(first) == needed + 1 and "id" not in map(str.lower, first):
        read = Columns(True, first, {"ids": [0], "objects": list(range(1, needed + 1))})
        return Objects(np.array([row[1:] for row in rows[1:]], dtype=object), [row[0] for row in rows[1:]], read)
    return read_objects(path, "categorical rows", None, header)
