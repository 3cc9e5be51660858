"""Rows of new samples to the training samples, from blocks of the edges in a file that is too large to be held."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np

from similitude._utils.ids import some
from similitude.proximity.edges import Edges, rows_to
from similitude.proximity.files.contents import Columns, Contents, Reading
from similitude.proximity.files.edge_files import top_text
from similitude.proximity.unknown import Absent

NO_EDGES = Edges(np.empty(0, dtype=np.int32), np.empty(0, dtype=np.int32), np.empty(0), [])


def no_new_sample(path: Path) -> ValueError:
    """Return the error that all queries are training samples."""
    return ValueError(
        f"{path}: every query is a training sample, so there is no new sample to predict; queries must be the "
        "new samples, and targets the training samples."
    )


def no_edge(path: Path, n: int, known: list[str]) -> ValueError:
    """Return the error that no new sample has an edge to a training sample."""
    return ValueError(
        f"{path}: none of the {n} new samples has an edge to a training sample; targets must be the "
        f"training samples, whose ids begin with {some(known[:3])}. If they are, name all queries by --queries."
    )


def row_notes(
    path: Path, queries: Path | None, stated: Columns | None, known: list[str], names: list[str]
) -> list[str]:
    """Return the notes on which samples have a row."""
    notes = [] if stated is None else [f"{queries}: {stated}"]
    if queries is None:
        notes.append(
            f"{path}: queries without an edge cannot be seen in such a file; --queries FILE (FASTA, ids or a table) "
            "writes a row for each query."
        )
    elif again := sorted(set(names) & set(known), key=names.index):
        notes.append(f"{queries}: {len(again)} of {len(names)} queries are training samples: {some(again)}.")
    return notes


def check_stated(path: Path, queries: Path, wanted: list[str], foreign: list[str]) -> None:
    """Raise a ValueError if queries of edges, which are no training samples, are not among those that are stated."""
    if foreign:
        raise ValueError(
            f"--queries: {len(foreign)} queries of {path} are not in {queries}: {some(foreign)}; it must name all "
            f"queries, and its ids begin with {some(wanted[:3])}."
        )


def none_stated(path: Path, queries: Path, n: int) -> ValueError:
    """Return the error that no stated query is one of the edges."""
    return ValueError(
        f"--queries: none of the {n} ids in {queries} is a query of {path}; all are training samples; "
        "queries must be the new samples, and targets the training samples."
    )


class EdgeRows:
    """The rows of new samples, whose edges follow one another in a file, block by block.

    ``wanted`` are the names in ``queries``, of which each gets a row, those without an edge last.
    """

    def __init__(
        self,
        path: Path,
        reading: Reading,
        known: list[str],
        own: np.ndarray | None,
        queries: Path | None,
        wanted: list[str] | None,
    ):
        self.path, self.reading, self.known, self.own = path, reading, known, own
        self.queries, self.wanted = queries, wanted
        self.columns: dict[str, Columns] = {}
        self.stated: Columns | None = None

    def rows(self, blocks: Iterable[Edges], most: int) -> Iterator[Contents]:
        """Yield the rows of each block; notes on all of them come with the last."""
        self._known, self._stated = set(self.known), set(self.wanted or ())
        done: set[str] = set()
        read = kept = n_edges = 0
        for edges in blocks:
            read, kept = read + edges.count, kept + len(edges.scores)
            names = self._new(edges)
            if not done.isdisjoint(names):
                raise ValueError(
                    f"{self.path}: the edges of {some([name for name in names if name in done])} are in several places "
                    f"of the file, which is read in blocks of about {most:,} edges; those of each query must follow "
                    "one another. Sort the file by the column of the queries, such as by `sort -s -k1,1`."
                )
            done.update(names)
            if names:
                found = self._contents(edges, names)
                n_edges += 0 if found.counts is None else int(found.counts.sum())
                yield found
        if self.queries is None:
            if not done:
                raise no_new_sample(self.path)
            if not n_edges:
                raise no_edge(self.path, len(done), self.known)
        elif done.isdisjoint(self._stated):
            raise none_stated(self.path, self.queries, len(self._stated))
        lacking = [name for name in self.wanted or () if name not in done]
        notes = row_notes(self.path, self.queries, self.stated, self.known, self.wanted or [])
        if self.reading.top is not None:
            notes.insert(0, f"{self.path}: {top_text(read, kept, self.reading.top)}")
        yield self._contents(NO_EDGES, lacking, tuple(notes))

    def _new(self, edges: Edges) -> list[str]:
        """Return the queries that have a row, in the order of their first edges."""
        codes, first = np.unique(edges.queries, return_index=True)
        names = [edges.names[code] for code in codes[np.argsort(first)].tolist()]
        if self.queries is None or self.wanted is None:
            return [name for name in names if name not in self._known]
        foreign = [name for name in names if name not in self._stated and name not in self._known]
        check_stated(self.path, self.queries, self.wanted, foreign)
        return [name for name in names if name in self._stated]

    def _contents(self, edges: Edges, names: list[str], notes: tuple[str, ...] = ()) -> Contents:
        try:
            S, names, counts = rows_to(edges, self.known, self.reading, self.own, names)
        except ValueError as error:
            raise ValueError(f"{self.path}: {error}") from None
        absent: Absent = "unknown" if self.reading.absent == "unknown" else "zero"
        return Contents(
            S,
            names,
            self.known,
            absent=absent,
            notes=notes,
            columns=self.columns,
            reading=self.reading,
            counts=counts,
        )
