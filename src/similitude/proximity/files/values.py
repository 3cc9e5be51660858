"""Reading of proximities from files of any form, without labels: between samples, or of new samples to known ones."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from itertools import chain, islice
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from similitude._utils.ids import Names, column_order, some
from similitude.proximity.edges import Edges, rows_to, shares_of_rows
from similitude.proximity.files.arrays import read_archive, read_mtx, read_npy, read_parquet
from similitude.proximity.files.contents import Columns, Contents, Reading
from similitude.proximity.files.edge_files import EdgeFile, edge_blocks, edge_matrix, open_edges, read_edges, top_text
from similitude.proximity.files.edge_rows import (
    NO_EDGES,
    EdgeRows,
    check_stated,
    no_edge,
    no_new_sample,
    none_stated,
    row_notes,
)
from similitude.proximity.files.forms import binary_kind, look, names_known, text_form
from similitude.proximity.files.id_files import ID_NAMES, id_file, read_ids
from similitude.proximity.files.labels import read_queries
from similitude.proximity.files.matlab import read_hdf5, read_mat
from similitude.proximity.files.rating_files import rating_contents, rating_rows, read_ratings
from similitude.proximity.files.tables import matching_names, read_table
from similitude.proximity.files.text import check_file, check_unique, is_fasta
from similitude.proximity.files.triangles import (
    from_vector,
    mirror_blank_triangle,
    read_condensed,
    read_phylip,
    read_triangle,
)
from similitude.proximity.split import cut
from similitude.proximity.unknown import Absent

_MEANING = ("missing", "duplicates", "direction", "normalise", "top")
ROWS_BLOCK = 2**20
"""The number of edges of new samples that are read together."""
_TEXT_READERS = {"phylip": read_phylip, "triangle": read_triangle, "condensed": read_condensed}


def load_values(path: Path, reading: Reading, *, square: bool = True, mmap: bool = False) -> Contents:
    """Return the proximities in a file, without labels."""
    journal = path.with_name(path.name + ".journal")
    if path.suffix == ".npy" and journal.exists():
        raise ValueError(
            f"path: {path} is not complete, because there is a file {journal.name} beside it. Call pairwise again "
            "with the same arguments to finish it."
        )
    kind = binary_kind(path)
    if mmap and kind != "npy":
        raise ValueError(f"mmap=True is for .npy files only; {path} is not one. Save the matrix with numpy.save.")
    if reading.key is not None and kind not in ("npz", "mat", "hdf5"):
        raise ValueError(f"key={reading.key!r} is for .npz and .mat files only; {path} is neither.")
    if kind is None and is_fasta(path):
        raise ValueError(
            f"{path}: holds sequences; say how they are compared, such as --similarity smith-waterman (in Python: "
            "load_objects)."
        )
    judged = read_ratings(path, reading, kind, square)
    if judged is not None:
        return rating_contents(path, *judged, reading)
    edges = read_edges(path, reading, kind, square)
    if edges is not None:
        found = edge_matrix(path, *edges, reading)
        return _by_row(path, found, reading, square=True)
    if reading.names_edges:
        raise ValueError(f"{path}: is not an edge list, so the options of edges, such as score, cannot be used.")
    found, lines = _matrix_file(path, kind, reading, square, mmap)
    S = _as_matrix(path, found.values, square, mmap)
    rows, columns = found.ids, found.column_ids
    if rows is None and columns is None:
        rows, columns = _ids(path, S.shape, None)
    if rows is not None:
        check_unique(path, rows, lines)
    if columns is not None and columns is not rows:
        check_unique(path, columns, what="column")
    notes: list[str] = []
    if square:
        rows, order = matching_names(path, rows, columns, lines)
        columns = rows
        if order is not None:
            S = cut(S, np.arange(len(order)), order)
            notes.append("the columns are in another order than the rows; they were matched by id.")
    if not mmap:
        S = _with_missing(S, reading, square, notes)
    contents = Contents(S, rows, columns, square=square, notes=tuple(notes), columns=found.columns)
    return _by_row(path, contents, reading, square)


def _by_row(path: Path, data: Contents, reading: Reading, square: bool) -> Contents:
    """Return counts of answers as shares of each row, if ``normalise`` asks for it."""
    if reading.normalise != "rows":
        return data
    try:
        S = shares_of_rows(data.values)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None
    empty = np.flatnonzero(np.asarray(S.sum(axis=1)).ravel() == 0)
    if len(empty):
        name = f"row {empty[0] + 1}" if data.ids is None else repr(data.ids[empty[0]])
        raise ValueError(f"{path}: normalise='rows' (--normalise rows): the counts of {name} sum to 0.")
    kept = (data.reading or replace(reading, form=None)) if square else data.reading
    return replace(data, values=S, notes=(*data.notes, "each row was divided by its sum."), reading=kept)


def _matrix_file(
    path: Path, kind: str | None, reading: Reading, square: bool, mmap: bool
) -> tuple[Contents, list[int] | None]:
    """Return the matrix in a file that is not an edge list, with its ids, and the lines of the rows of a table."""
    if kind is None:
        seen = look(path)
        form = reading.form or text_form(path, seen, square)
        if form in _TEXT_READERS:
            return _TEXT_READERS[form](path, seen, reading), None
        return read_table(path, square, reading.header)
    if kind == "parquet":
        return read_parquet(path), None
    archived: dict[str, np.ndarray] = {}
    if kind == "npz":
        S, archived = read_archive(path, reading.key)
    elif kind == "npy":
        S = read_npy(path, mmap)
    elif kind == "mtx":
        return Contents(read_mtx(path)), None
    else:
        S = (read_hdf5 if kind == "hdf5" else read_mat)(path, reading.key)
        if not sparse.issparse(S) and S.ndim == 2 and 1 in S.shape and S.size > 1 and square:
            S = S.ravel()  # MATLAB has no arrays of one dimension
    if square and S.ndim == 1 and S.dtype.kind in "fiu" and len(S):
        S = from_vector(path, S, reading)
    return Contents(S, *(_ids(path, S.shape, archived) if S.ndim == 2 else ())), None


def _ids(path: Path, shape: tuple, archived: dict[str, np.ndarray] | None) -> tuple[Any, Any]:
    """Return the ids of rows and columns in an archive of NumPy, or, without one, in the files beside a matrix."""
    names: list[list[str] | None] = []
    for name in ID_NAMES:
        if archived is None:
            names.append(read_ids(path, name))
            continue
        ids = archived.get(name)
        if ids is not None and (ids.ndim != 1 or ids.dtype.kind not in "Uiu"):
            raise ValueError(
                f"{path}: the array {name!r} must hold one id per sample, text or whole numbers; got {ids.dtype} of "
                f"shape {ids.shape}."
            )
        names.append(None if ids is None else [text.strip() for text in ids.astype(str).tolist()])
    rows, columns = names
    if columns is None and shape[0] == shape[1]:
        columns = rows
    for name, own, count, what in zip(ID_NAMES, (rows, columns), shape, ("row", "column")):
        if own is not None and len(own) != count:
            place = id_file(path, name).name if archived is None else f"its array {name!r}"
            raise ValueError(
                f"{path}: there are {len(own)} ids in {place} for {count} {what}s; one id per {what} is needed."
            )
    return rows, columns


def _with_missing(S: Any, reading: Reading, square: bool, notes: list[str]) -> Any:
    """Return the matrix with its unknown entries filled, if the user stated their value."""
    values = S.data if sparse.issparse(S) else S
    unknown = np.isnan(values)
    count = int(unknown.sum())
    if not count:
        return S
    mirrored = mirror_blank_triangle(S) if square and not sparse.issparse(S) else None
    if mirrored is not None:
        notes.append("one triangle is blank; the other one was mirrored.")
        return _with_missing(mirrored, reading, square, notes)
    if reading.missing in (None, "unknown"):
        notes.append(f"{count:,} of {S.shape[0] * S.shape[1]:,} entries are unknown.")
        return S
    absent = reading.absent
    if absent == "farthest":
        absent = np.nanmax(values) if reading.orientation == "dissimilarity" else np.nanmin(values)
    values[unknown] = absent
    notes.append(f"{count:,} unknown entries are {float(absent):g} (missing={reading.missing!r}).")
    return S


def _as_matrix(path: Path, S: Any, square: bool, mmap: bool) -> Any:
    """Return the matrix in floating point, or raise a ValueError that says why it is not a matrix."""
    if not sparse.issparse(S):
        S = S if mmap else np.asarray(S)
    if S.dtype.kind == "c":
        raise ValueError(f"{path}: the numbers are complex; real ones are needed.")
    if S.dtype.kind not in "fiub":
        raise ValueError(f"{path}: the array is of type {S.dtype}; numbers are needed.")
    if S.ndim != 2:
        raise ValueError(f"{path}: the array has {S.ndim} dimension(s), shape {S.shape}; a matrix must have two.")
    if 0 in S.shape:
        raise ValueError(f"{path}: the matrix is empty, shape {S.shape}.")
    if square and S.shape[0] != S.shape[1]:
        hint = "An id column of numbers is recognised only below a header row."
        if S.shape[1] == 3:
            hint = "If these are edges (query, target, score), pass form='edges' (--form edges)."
        raise ValueError(
            f"{path}: the matrix is not square: {S.shape[0]} rows and {S.shape[1]} columns. Rows and columns must be "
            f"the same samples; pass square=False if they are not. {hint}"
        )
    if mmap:
        return S
    dtype = np.float32 if S.dtype == np.float32 else np.float64
    S = sparse.csr_array(S, dtype=dtype) if sparse.issparse(S) else np.ascontiguousarray(S, dtype=dtype)
    _check_not_infinite(path, S)
    return S


def _check_not_infinite(path: Path, S: Any) -> None:
    values = S.data if sparse.issparse(S) else S
    if not np.isinf(values).any():
        return
    if sparse.issparse(S):
        entries = S.tocoo()
        first = int(np.flatnonzero(np.isinf(entries.data))[0])
        row, column, value = entries.row[first], entries.col[first], entries.data[first]
    else:
        row, column = np.argwhere(np.isinf(S))[0]
        value = S[row, column]
    raise ValueError(f"{path}: row {row + 1}, column {column + 1} is {value}; a finite number is needed.")


def load_new_rows(path: Path, reading: Reading, columns: Any) -> Contents:
    """Return rows of new samples whose columns are the given samples in their order: see ``load_proximity``."""
    known, stored = _training(columns)
    edges = _as_in_training(reading, stored) if stored else _without_training(reading)
    found = load_rows(path, edges, known, stored)
    if found.reading is not None:
        return found
    if reading.missing not in (None, "unknown"):
        raise ValueError(f"missing is for edges; {path} holds a matrix. Replace its unknown entries yourself.")
    S, notes = found.values, found.notes
    if found.column_ids is None:
        if S.shape[1] != len(known):
            raise ValueError(
                f"{path}: has {S.shape[1]} columns without ids; one for each of the {len(known)} samples in "
                "columns is needed, in their order."
            )
        return replace(found, column_ids=known)
    order, _, strange = column_order(Names(known, "ids"), Names(found.column_ids, "ids"), where=path)
    if strange:
        notes = (*notes, f"{len(strange)} columns are not in columns and are left out: {some(strange)}.")
    S = S if order is None else cut(S, np.arange(S.shape[0]), np.array(order))
    return replace(found, values=S, column_ids=known, notes=notes)


def _training(columns: Any) -> tuple[list[str], dict[str, Any]]:
    """Return the ids of the training samples, and how their edges were read if that is known."""
    stored = None
    if isinstance(columns, Mapping):
        stored = columns.get("reading") or columns.get("notes", {}).get("reading")
        columns = columns.get("ids")
    if columns is None or isinstance(columns, str):
        raise ValueError("columns must hold the ids of the training samples; there are none.")
    return [str(name) for name in columns], stored if isinstance(stored, dict) else {}


def _as_in_training(reading: Reading, stored: dict[str, Any]) -> Reading:
    """Return how edges are read: as those of the training samples, unless columns are named."""
    default = Reading(orientation=reading.orientation)
    for name in _MEANING:
        if getattr(reading, name) != getattr(default, name):
            raise ValueError(f"{name}: omit it; edges are read as those of the training samples in columns were.")
    given = {name: getattr(reading, name) for name in ("form", "key", "query", "target", "score")}
    changes = {name: value for name, value in given.items() if value is not None}
    return Reading.restored(stored, **changes)


def _without_training(reading: Reading) -> Reading:
    """Return how edges are read if it is not known how those of the training samples were."""
    for name, value in (("missing", "farthest"), ("normalise", "self")):
        if getattr(reading, name) == value:
            raise ValueError(
                f"{name}={value!r} needs values of the training samples: pass what load_proximity returned for them as "
                "columns, not only their ids."
            )
    unknown = reading.orientation == "dissimilarity" and reading.missing is None
    return replace(reading, missing="unknown") if unknown else reading


def load_rows(
    path: Path, reading: Reading, known: list[str] | None, stored: dict[str, Any] | None, queries: Path | None = None
) -> Contents:
    """Return the rows of new samples to those on which a model was fitted.

    In an edge list, the new samples are the queries that are not known; the columns are the known samples.
    ``stored`` is what the model keeps of how its own edges or ratings were read.
    """
    return _rows_or_edges(path, reading, known, stored, queries)[0]()


def load_row_blocks(
    path: Path,
    reading: Reading,
    known: list[str] | None,
    stored: dict[str, Any] | None,
    queries: Path | None,
    most: int,
) -> tuple[Iterator[Contents], list[str] | None]:
    """Return the same rows in blocks, each of the queries of about ``most`` edges, and all queries in their order.

    The queries are None if the rows are in their order already. What is not an edge list is one block; so are edges
    that count in both directions, as those of a new sample may be anywhere in a file.
    """
    whole, file = _rows_or_edges(path, reading, known, stored, queries)
    if file is None or known is None or reading.direction != "keep":
        return iter([whole()]), None
    edges = edge_blocks(file, reading, most)
    opening = list(islice(edges, 2))
    if len(opening) < 2:
        return iter([whole()]), None
    seen = {name for block in opening for name in block.names}
    wanted, stated = (None, None) if queries is None else read_queries(queries, seen)
    blocks = EdgeRows(path, reading, known, _own_scores(stored), queries, wanted)
    blocks.columns, blocks.stated = {"path": file.chosen.columns}, stated
    return blocks.rows(chain(opening, edges), most), wanted


def _rows_or_edges(
    path: Path, reading: Reading, known: list[str] | None, stored: dict[str, Any] | None, queries: Path | None
) -> tuple[Callable[[], Contents], EdgeFile | None]:
    """Return a function that reads all rows, and the edge list if it is one that is not empty."""
    path = check_file(path, "ROWS", may_be_empty=queries is not None)  # a search that found nothing
    kind = binary_kind(path)
    if kind is None and is_fasta(path):
        fitted = "a matrix" if reading.missing is None else "edges, such as hits of a search"
        raise ValueError(
            f"ROWS: {path} holds sequences, but the model was fitted on {fitted}; give those of the new samples to the "
            "training samples."
        )
    is_table = kind is None and known is not None and names_known(look(path), known)
    is_empty = queries is not None and kind is None and not look(path).rows
    judged = None if is_table or is_empty else read_ratings(path, reading, kind, square=False)
    if judged is not None and known is not None:
        found = rating_rows(path, judged[0], judged[1], reading, known, stored)
        return lambda: found, None
    file = None if is_table or is_empty else open_edges(path, reading, kind, square=False)
    if file is None and not is_empty:
        if queries is not None:
            raise ValueError(f"--queries is for edge lists, such as hits; {path} has a row for each sample already.")
        form = "table" if is_table else None
        plain = Reading(form=form, key=reading.key, orientation=reading.orientation, header=reading.header)
        by_row = reading.normalise if reading.normalise == "rows" else None
        return lambda: load_values(path, replace(plain, normalise=by_row), square=False), None
    if known is None:
        raise ValueError(
            f"{path}: is an edge list, but the model does not know the ids of its training samples. Fit it on an edge "
            "list, or on a matrix with ids."
        )
    samples = known
    return lambda: _rows_of_edges(path, reading, kind, samples, _own_scores(stored), queries, is_empty), file


def _own_scores(stored: dict[str, Any] | None) -> np.ndarray | None:
    """Return the self-scores of the training samples that a model keeps."""
    own = None if stored is None else stored.get("self_scores")
    return None if own is None else np.asarray(own, dtype=float)


def _rows_of_edges(
    path: Path,
    reading: Reading,
    kind: str | None,
    known: list[str],
    own: np.ndarray | None,
    queries: Path | None,
    is_empty: bool,
) -> Contents:
    """Return the rows of all new samples of an edge list, which is read as a whole."""
    found = None if is_empty else read_edges(path, reading, kind, square=False)
    edges, columns = (NO_EDGES, {}) if found is None else (found[0], {"path": found[1].columns})
    wanted, stated = (None, None) if queries is None else _stated_queries(path, edges, set(known), queries)
    try:
        S, names, counts = rows_to(edges, known, reading, own, wanted)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None
    if not names:
        raise no_new_sample(path)
    if wanted is None and not counts.any():
        raise no_edge(path, len(names), known)
    notes = row_notes(path, queries, stated, known, names)
    if reading.top is not None and found is not None:
        notes.insert(0, f"{path}: {top_text(edges.count, len(edges.scores), reading.top)}")
    absent: Absent = "unknown" if reading.absent == "unknown" else "zero"
    return Contents(S, names, known, absent=absent, notes=tuple(notes), columns=columns, reading=reading, counts=counts)


def _stated_queries(path: Path, edges: Edges, known: set[str], queries: Path) -> tuple[list[str], Columns | None]:
    """Return the ids of all queries, among which all queries of the edges must be that are not known samples.

    Also return which column of the file holds them.
    """
    seen = [edges.names[code] for code in np.unique(edges.queries).tolist()]
    wanted, read = read_queries(queries, set(seen))
    stated = set(wanted)
    check_stated(path, queries, wanted, [name for name in seen if name not in stated and name not in known])
    if seen and stated.isdisjoint(seen):
        raise none_stated(path, queries, len(wanted))
    return wanted, read
