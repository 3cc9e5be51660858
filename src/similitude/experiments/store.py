"""Results on disk: an SQLite file to which rows are only added, and which survives the death of its writers."""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import astuple, dataclass, fields
from pathlib import Path
from typing import Any

from similitude._utils.files import is_special

APPLICATION = 0x53494D45
"""SQLite's application_id of a store: "SIME"."""
VERSION = 1
TIME_COLUMNS = ("seconds", "finished")
"""The columns that differ between two runs of the same experiment."""


@dataclass(frozen=True)
class Row:
    """One finished cell."""

    key: str
    """The digest of everything that the result depends on."""
    dataset: str
    partition: int
    method: str
    seed: int
    n_test: int
    n_errors: int
    error: float
    log_loss: float | None
    """None where the method gives no probabilities."""
    parameters: str
    """What was chosen from the grid, as JSON."""
    protocol: str
    data_digest: str
    method_digest: str
    similitude: str
    numpy: str
    scipy: str
    scikit_learn: str
    python: str
    seconds: float
    finished: str
    """When, in UTC."""


@dataclass(frozen=True)
class Failure:
    """One cell that ended in an exception."""

    key: str
    dataset: str
    partition: int
    method: str
    message: str
    traceback: str
    finished: str


def _create(table: str, kind: type, constraint: str = "") -> str:
    types = {"int": "INTEGER", "float": "REAL", "float | None": "REAL", "str": "TEXT"}
    columns = [f"{f.name} {types[str(f.type)]}" + ("" if "None" in str(f.type) else " NOT NULL") for f in fields(kind)]
    return f"CREATE TABLE {table} ({', '.join(columns)}{constraint})"


class Store:
    """The finished cells of experiments, in a file or in memory.

    The file is an SQLite database in WAL mode. Rows are added, each in a transaction of its own, and never changed: a
    process that is killed leaves all that it had finished. Several processes may use one file; of two that finish the
    same cell the first one's row stays. (They must be on one machine: SQLite's WAL does not work across a network.)

    Parameters
    ----------
    path : path, default=None
        None keeps everything in memory.

    Examples
    --------
    >>> from similitude.experiments.store import Store
    >>> with Store() as store:
    ...     store.rows()
    []
    """

    def __init__(self, path: str | os.PathLike | None = None):
        self.path = None if path is None else Path(path)
        if self.path is not None and not self.path.parent.is_dir():
            raise ValueError(f"store: there is no folder {self.path.parent} to put {self.path.name} into.")
        if self.path is not None and is_special(self.path):
            raise ValueError(f"store: {self.path} is not a regular file, which a store needs.")
        with self._reported():
            where = ":memory:" if self.path is None else str(self.path)
            self._connection = sqlite3.connect(where, timeout=60.0, isolation_level=None)
            try:
                self._open()
            except BaseException:
                self._connection.close()
                raise

    def _open(self) -> None:
        if not self._is_known():
            with self._transaction():
                self._create_tables()
        self._write_ahead()
        self._connection.execute("PRAGMA synchronous = NORMAL")

    def _create_tables(self) -> None:
        """Create the tables, unless another process has done so meanwhile; refuse a database of another kind."""
        if self._is_known():
            return
        if self._number("SELECT count(*) FROM sqlite_master"):
            raise ValueError(
                f"store: {self.path} is an SQLite database, but no store of experiments. Choose another file."
            )
        self._connection.execute(_create("results", Row, ", PRIMARY KEY (key)"))
        self._connection.execute(_create("failures", Failure))
        self._connection.execute(f"PRAGMA application_id = {APPLICATION}")
        self._connection.execute(f"PRAGMA user_version = {VERSION}")

    def _is_known(self) -> bool:
        if self._number("PRAGMA application_id") != APPLICATION:
            return False
        version = self._number("PRAGMA user_version")
        if version != VERSION:
            raise ValueError(
                f"store: {self.path} is of version {version}; this similitude reads and writes version {VERSION}. "
                "Choose another file."
            )
        return True

    def _write_ahead(self) -> None:
        """Change to WAL mode; SQLite's own timeout does not wait for the lock that this needs."""
        for attempt in range(200):
            try:
                self._connection.execute("PRAGMA journal_mode = WAL").fetchone()
                return
            except sqlite3.OperationalError as error:
                if "locked" not in str(error) or attempt == 199:
                    raise
                time.sleep(0.02)

    def _number(self, question: str) -> int:
        return int(self._connection.execute(question).fetchone()[0])

    @contextmanager
    def _reported(self) -> Iterator[None]:
        """Raise SQLite's error about a file that it cannot use as a ValueError, and other errors as an OSError."""
        try:
            yield
        except sqlite3.DatabaseError as error:
            code = getattr(error, "sqlite_errorcode", 0) & 0xFF
            if code in (sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_CANTOPEN):
                raise ValueError(
                    f"store: {self.path} is no store of experiments ({error}). Choose another file."
                ) from error
            raise OSError(f"store: {self.path}: {error}.") from error

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            self._connection.execute("ROLLBACK")
            raise
        self._connection.execute("COMMIT")

    def add(self, record: Row | Failure) -> None:
        """Write one cell; it is on disk when this returns."""
        table = "results" if isinstance(record, Row) else "failures"
        values = astuple(record)
        marks = ", ".join("?" * len(values))
        with self._reported(), self._transaction():
            self._connection.execute(f"INSERT OR IGNORE INTO {table} VALUES ({marks})", values)

    def rows(self, keys: Iterable[str] | None = None) -> list[Row]:
        """Return finished cells, all or those with these keys, by data set, method and partition."""
        return sorted(self._read("results", Row, keys), key=lambda row: (row.dataset, row.method, row.partition))

    def failures(self, keys: Iterable[str] | None = None) -> list[Failure]:
        """Return the failed cells in the order of their failures, without those that were finished later."""
        done = {row.key for row in self.rows(keys)}
        return [failure for failure in self._read("failures", Failure, keys) if failure.key not in done]

    def _read(self, table: str, kind: Any, keys: Iterable[str] | None) -> list:
        wanted = None if keys is None else set(keys)
        with self._reported():
            found = self._connection.execute(f"SELECT * FROM {table} ORDER BY rowid").fetchall()
        return [kind(*values) for values in found if wanted is None or values[0] in wanted]

    def contents(self) -> list[dict[str, Any]]:
        """Return the number of finished cells by data set, method and protocol, and their digests."""
        names = ("dataset", "method", "protocol", "data_digest", "method_digest")
        question = (
            f"SELECT {', '.join(names)}, count(*) FROM results GROUP BY {', '.join(names)} ORDER BY 1, 2, 3, 4, 5"
        )
        with self._reported():
            return [dict(zip((*names, "cells"), row)) for row in self._connection.execute(question)]

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
