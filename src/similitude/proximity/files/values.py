"""Reading of proximities from files of any form, without labels."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from similitude.proximity.edges import Edges, rows_to, some, square_matrix
from similitude.proximity.files.arrays import (
    read_archive,
    read_hdf5,
    read_mat,
    read_mtx,
    read_npy,
    read_parquet,
    readable,
)
from similitude.proximity.files.columns import Columns
from similitude.proximity.files.edge_files import (
    EdgeList,
    check_scores,
    looks_like_edges,
    read_edge_parquet,
    read_edge_text,
)
from similitude.proximity.files.fasta import is_fasta
from similitude.proximity.files.forms import binary_kind, look, names_known, text_form
from similitude.proximity.files.id_files import ID_NAMES, id_file, read_ids
from similitude.proximity.files.queries import read_queries
from similitude.proximity.files.reading import Reading
from similitude.proximity.files.tables import check_unique, matching_names, read_table
from similitude.proximity.files.text import check_file
from similitude.proximity.files.triangles import (
    from_vector,
    mirror_blank_triangle,
    read_condensed,
    read_phylip,
    read_triangle,
)
from similitude.proximity.split import cut
from similitude.proximity.unknown import Absent


class Loaded(NamedTuple):
    """The proximities in a file."""

    S: Any
    rows: list[str] | None = None
    columns: list[str] | None = None
    absent: Absent = "zero"
    reading: Reading | None = None
    self_scores: np.ndarray | None = None
    counts: np.ndarray | None = None
    notes: tuple[str, ...] = ()
    read: Columns | None = None


def load_values(path: Path, reading: Reading, *, square: bool = True, mmap: bool = False) -> Loaded:
    """Return the proximities in a file, without labels."""
    check_complete(path)
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
    edges = read_edges(path, reading, kind, square)
    if edges is not None:
        return _from_edges(path, edges, reading)
    if reading.names_edges:
        raise ValueError(f"{path}: is not an edge list, so the options of edges, such as score, cannot be used.")
    found, layout = _matrix_file(path, kind, reading, square, mmap)
    S = _as_matrix(path, found.S, square, mmap)
    rows, columns = found.rows, found.columns
    if rows is None and columns is None:
        rows, columns = _ids_beside(path, S.shape)
    if rows is not None:
        check_unique(path, rows, layout.lines if layout else None)
    if columns is not None and columns is not rows:
        check_unique(path, columns, what="column")
    notes: list[str] = []
    if square:
        rows, order = matching_names(path, rows, columns, layout)
        columns = rows
        if order is not None:
            S = cut(S, np.arange(len(order)), order)
            notes.append("the columns are in another order than the rows; they were matched by id.")
    if not mmap:
        S = _with_missing(S, reading, square, notes)
    return Loaded(S, rows, columns, notes=tuple(notes), read=found.read)


def check_complete(path: Path) -> None:
    """Raise a ValueError if a matrix is still being computed by ``pairwise``."""
    journal = path.with_name(path.name + ".journal")
    if path.suffix == ".npy" and journal.exists():
        raise ValueError(
            f"path: {path} is not complete, because there is a file {journal.name} beside it. Call pairwise again "
            "with the same arguments to finish it."
        )


def read_edges(path: Path, reading: Reading, kind: str | None, square: bool) -> EdgeList | None:
    """Return the edges in a file, or None if it is not an edge list; ``kind`` is that of a binary file, or None."""
    columns = reading.query, reading.target, reading.score
    if kind == "parquet":
        if reading.form not in (None, "edges") or not (
            reading.names_edges or readable(path, "a Parquet file", lambda: looks_like_edges(path))
        ):
            return None
        return readable(path, "a Parquet file", lambda: read_edge_parquet(path, *columns))
    if kind is not None:
        return None
    seen = look(path)
    form = reading.form or ("edges" if reading.names_edges else text_form(path, seen, square))
    return read_edge_text(path, seen, *columns, reading.header) if form == "edges" else None


def _from_edges(path: Path, found: EdgeList, reading: Reading) -> Loaded:
    """Return the square matrix of edges, with notes on what they mean."""
    edges, score = found.edges, found.chosen.score_name
    if reading.orientation == "similarity":
        check_scores(path, found)
    try:
        made = square_matrix(edges, reading.meaning)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None
    notes = [
        f"{len(edges.scores):,} edges between {len(edges.names):,} samples" + (f", score {score}" if score else "")
    ]
    if score == "evalue":
        notes[0] += " as -log10"
    value = "unknown" if made.missing == "unknown" else f"{made.missing:g}"
    if reading.orientation == "similarity":
        notes.append(f"the similarity of pairs without an edge is {value} (missing={reading.missing or 'zero'!r}).")
    elif reading.missing is None:
        notes.append("every pair has an edge.")
    else:
        notes.append(f"the distance of pairs without an edge is {value} (missing={reading.missing!r}).")
    if made.merged:
        notes.append(
            f"{made.merged:,} edges repeat a pair; {reading.meaning.repeated} of its scores counts "
            f"(duplicates={reading.meaning.repeated!r})."
        )
    if made.one_sided and reading.direction == "keep" and len(edges.names) > 2:
        notes.append(
            "no pair has edges in both directions, so the matrix is one-sided. If the list holds each pair once, "
            "add --direction max (direction='max')."
        )
    kept = replace(
        reading, form="edges", missing=made.missing, duplicates=reading.meaning.repeated, **found.chosen.remembered
    )
    found_by = found.chosen.columns
    return Loaded(made.S, edges.names, edges.names, made.absent, kept, made.self_scores, None, tuple(notes), found_by)


def load_rows(
    path: Path, reading: Reading, known: list[str] | None, self_scores: Any, queries: Path | None = None
) -> Loaded:
    """Return the rows of new samples to those on which a model was fitted.

    In an edge list, the new samples are the queries that are not known; the columns are the known samples.
    """
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
    found = None if is_table or is_empty else read_edges(path, reading, kind, square=False)
    if found is None and not is_empty:
        if queries is not None:
            raise ValueError(f"--queries is for edge lists, such as hits; {path} has a row for each sample already.")
        form = "table" if is_table else None
        plain = Reading(form=form, key=reading.key, orientation=reading.orientation, header=reading.header)
        return load_values(path, plain, square=False)
    if known is None:
        raise ValueError(
            f"{path}: is an edge list, but the model does not know the ids of its training samples. Fit it on an edge "
            "list, or on a matrix with ids."
        )
    edges, read = (_NO_EDGES, None) if found is None else (found.edges, found.chosen.columns)
    own = None if self_scores is None else np.asarray(self_scores, dtype=float)
    wanted, stated = (None, None) if queries is None else _stated_queries(path, edges, set(known), queries)
    try:
        made, names, counts = rows_to(edges, known, reading.meaning, own, wanted)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None
    if not names:
        raise ValueError(
            f"{path}: every query is a training sample, so there is no new sample to predict; queries must be the "
            "new samples, and targets the training samples."
        )
    notes = [] if stated is None else [f"{queries}: {stated}"]
    if wanted is None:
        if not counts.any():
            raise ValueError(
                f"{path}: none of the {len(names)} new samples has an edge to a training sample; targets must be the "
                f"training samples, whose ids begin with {some(known[:3])}. If they are, name all queries by --queries."
            )
        notes.append(
            f"{path}: queries without an edge cannot be seen in such a file; --queries FILE (FASTA, ids or a table) "
            "writes a row for each query."
        )
    elif again := sorted(set(names) & set(known), key=names.index):
        notes.append(f"{queries}: {len(again)} of {len(names)} queries are training samples: {some(again)}.")
    return Loaded(made.S, names, known, made.absent, reading, counts=counts, notes=tuple(notes), read=read)


_NO_EDGES = Edges(np.empty(0, dtype=np.int32), np.empty(0, dtype=np.int32), np.empty(0), [])


def _stated_queries(path: Path, edges: Edges, known: set[str], queries: Path) -> tuple[list[str], Columns | None]:
    """Return the ids of all queries, among which all queries of the edges must be that are not known samples.

    Also return which column of the file holds them.
    """
    seen = [edges.names[code] for code in np.unique(edges.queries).tolist()]
    wanted, read = read_queries(queries, set(seen))
    stated = set(wanted)
    foreign = [name for name in seen if name not in stated and name not in known]
    if foreign:
        raise ValueError(
            f"--queries: {len(foreign)} queries of {path} are not in {queries}: {some(foreign)}; it must name all "
            f"queries, and its ids begin with {some(wanted[:3])}."
        )
    if seen and stated.isdisjoint(seen):
        raise ValueError(
            f"--queries: none of the {len(wanted)} ids in {queries} is a query of {path}; all are training samples; "
            "queries must be the new samples, and targets the training samples."
        )
    return wanted, read


def _matrix_file(path: Path, kind: str | None, reading: Reading, square: bool, mmap: bool) -> tuple[Loaded, Any]:
    """Return the matrix in a file that is not an edge list, and the layout of a table."""
    given = reading.diagonal, reading.orientation
    if kind is None:
        seen = look(path)
        form = reading.form or text_form(path, seen, square)
        if form == "phylip":
            S, names = read_phylip(path, seen, *given)
            return Loaded(S, names, names), None
        if form == "triangle":
            S, ids, read = read_triangle(path, seen, *given)
            return Loaded(S, ids, ids, read=read), None
        if form == "condensed":
            return Loaded(read_condensed(path, seen, *given)), None
        S, rows, columns, layout = read_table(path, square, reading.header)
        return Loaded(S, rows, columns, read=layout.columns), layout
    if kind == "parquet":
        S, rows, columns, read = read_parquet(path)
        return Loaded(S, rows, columns, read=read), None
    if kind == "npz":
        S, archived = read_archive(path, reading.key)
        S = from_vector(path, S, *given) if square and np.ndim(S) == 1 and S.dtype.kind in "fiu" else S
        return Loaded(S, *_archived_ids(path, archived, S.shape)), None
    if kind == "npy":
        S = read_npy(path, mmap)
        S = from_vector(path, S, *given) if square and S.ndim == 1 and S.dtype.kind in "fiu" and len(S) else S
        return Loaded(S), None
    if kind == "mtx":
        return Loaded(read_mtx(path)), None
    S = (read_hdf5 if kind == "hdf5" else read_mat)(path, reading.key)
    is_vector = square and not sparse.issparse(S) and S.ndim == 2 and 1 in S.shape and S.size > 1
    return Loaded(from_vector(path, S.ravel(), *given) if is_vector else S), None


def _archived_ids(path: Path, found: dict[str, np.ndarray], shape: tuple) -> tuple[Any, Any]:
    """Return the ids of rows and columns in an archive of NumPy."""
    names = []
    for name in ID_NAMES:
        ids = found.get(name)
        if ids is not None and (ids.ndim != 1 or ids.dtype.kind not in "Uiu"):
            raise ValueError(
                f"{path}: the array {name!r} must hold one id per sample, text or whole numbers; got {ids.dtype} of "
                f"shape {ids.shape}."
            )
        names.append(None if ids is None else [text.strip() for text in ids.astype(str).tolist()])
    return _fitting(path, names, shape, [f"its array {name!r}" for name in ID_NAMES])


def _ids_beside(path: Path, shape: tuple[int, int]) -> tuple[Any, Any]:
    """Return the ids of rows and columns in the files beside a matrix."""
    names = [read_ids(path, name) for name in ID_NAMES]
    return _fitting(path, names, shape, [id_file(path, name).name for name in ID_NAMES])


def _fitting(path: Path, names: list, shape: tuple, where: list[str]) -> tuple[Any, Any]:
    rows, columns = names
    if len(shape) != 2:
        return rows, columns
    if columns is None and shape[0] == shape[1]:
        columns = rows
    for ids, count, what, place in zip((rows, columns), shape, ("row", "column"), where):
        if ids is not None and len(ids) != count:
            raise ValueError(
                f"{path}: there are {len(ids)} ids in {place} for {count} {what}s; one id per {what} is needed."
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
    absent = reading.meaning.absent
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
