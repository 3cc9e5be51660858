"""The store of results: an SQLite file to which rows are only added, and which survives the death of its writers."""

from __future__ import annotations

import hashlib
import json
import os
import re
import sqlite3
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import astuple, dataclass, fields
from pathlib import Path
from typing import Any

from similitude._utils.files import is_special

APPLICATION = 0x53494D45
"""The application_id of a store in SQLite: "SIME"."""
VERSION = 2
TIME_COLUMNS = ("seconds", "finished")
"""The columns that differ between two runs of the same experiment."""


@dataclass(frozen=True)
class Row:
    """One finished cell."""

    key: str
    dataset: str
    partition: int
    method: str
    seed: int
    n_test: int
    n_errors: int
    error: float
    log_loss: float | None
    parameters: str
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


@dataclass(frozen=True)
class Failure:
    """One cell that ended with an exception."""

    key: str
    dataset: str
    partition: int
    method: str
    message: str
    traceback: str
    finished: str


_TABLES: dict[str, Any] = {"results": Row, "failures": Failure}
_NOTHING = "0" * 16
_OF_THE_SYSTEM = (
    sqlite3.SQLITE_BUSY,
    sqlite3.SQLITE_LOCKED,
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_IOERR,
    sqlite3.SQLITE_NOMEM,
    sqlite3.SQLITE_INTERRUPT,
)
"""The errors of SQLite that do not concern the content of the file."""


def _create(table: str, kind: type, constraint: str = "") -> str:
    types = {"int": "INTEGER", "float": "REAL", "float | None": "REAL", "str": "TEXT"}
    columns = [f"{f.name} {types[str(f.type)]}" + ("" if "None" in str(f.type) else " NOT NULL") for f in fields(kind)]
    return f"CREATE TABLE {table} ({', '.join(columns)}, checksum TEXT NOT NULL{constraint})"


def _checksum(values: Iterable[Any]) -> str:
    """Return the checksum of a row, 64 bits as hexadecimal digits."""
    return hashlib.blake2b(json.dumps(list(values)).encode(), digest_size=8).hexdigest()


def _with(total: str, checksum: str) -> str:
    """Return the checksum of a table with one row more; the order of the rows does not matter."""
    return f"{int(total, 16) ^ int(checksum, 16):016x}"


class Store:
    """The finished cells of experiments, in a file or in memory.

    The file is an SQLite database in WAL mode. Rows are added, each in its own transaction, and never changed: if a
    process is killed, all cells that it had finished are kept. Several processes may use one file; if two of them
    finish the same cell, the first row is kept. (They must be on one machine, because SQLite's WAL does not work across
    a network.) Each row has a checksum, and so has each table, so that damage is noticed: a damaged file raises a
    ValueError. A store of version 1, which had no checksums, gets them when it is opened.

    Parameters
    ----------
    path : path, default=None
        The file; None means that everything is kept in memory.

    See Also
    --------
    run : Compute every cell (data set, partition, method) of an experiment that the store does not hold yet.
    stored : Return the cells of an experiment that a store holds, without computing any.

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
            raise ValueError(f"store: there is no folder {self.path.parent} for {self.path.name}.")
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
        found = [row[0] for row in self._connection.execute("PRAGMA integrity_check(1)")]
        if found != ["ok"]:
            raise self._damaged(found[0])
        self._write_ahead()
        self._connection.execute("PRAGMA synchronous = NORMAL")

    def _create_tables(self) -> None:
        """Create the tables, unless another process has created them meanwhile; refuse a database of another kind."""
        if self._is_known():
            return
        if self._number("SELECT count(*) FROM sqlite_master"):
            raise ValueError(
                f"store: {self.path} is an SQLite database, but not a store of experiments. Choose another file."
            )
        self._connection.execute(_create("results", Row, ", PRIMARY KEY (key)"))
        self._connection.execute(_create("failures", Failure))
        self._connection.execute("CREATE TABLE totals (name TEXT PRIMARY KEY, count INTEGER, checksum TEXT)")
        self._connection.executemany("INSERT INTO totals VALUES (?, 0, ?)", [(name, _NOTHING) for name in _TABLES])
        self._connection.execute(f"PRAGMA application_id = {APPLICATION}")
        self._connection.execute(f"PRAGMA user_version = {VERSION}")

    def _is_known(self) -> bool:
        if self._number("PRAGMA application_id") != APPLICATION:
            return False
        version = self._number("PRAGMA user_version")
        if version == 1:
            with self._transaction():
                self._add_checksums()
            return True
        if version != VERSION:
            raise ValueError(
                f"store: {self.path} is of version {version}; this similitude reads and writes version {VERSION}. "
                "Choose another file."
            )
        return True

    def _add_checksums(self) -> None:
        """Turn a store of version 1 into one with checksums, unless another process has done so meanwhile."""
        if self._number("PRAGMA user_version") != 1:
            return
        kept = {name: self._connection.execute(f"SELECT * FROM {name} ORDER BY rowid").fetchall() for name in _TABLES}
        for name in _TABLES:
            self._connection.execute(f"DROP TABLE {name}")
        self._connection.execute("PRAGMA application_id = 0")
        self._create_tables()
        for name, rows in kept.items():
            for values in rows:
                self._insert(name, values)

    def _write_ahead(self) -> None:
        """Change to WAL mode; the timeout of SQLite does not apply to the lock that this needs."""
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
        """Raise errors of SQLite about an unusable file as ValueError, and others as OSError."""
        try:
            yield
        except sqlite3.DatabaseError as error:
            code = getattr(error, "sqlite_errorcode", 0) & 0xFF
            no_access = code in (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM)
            if code == sqlite3.SQLITE_NOTADB or (no_access and Path(str(self.path)).is_dir()):
                raise ValueError(
                    f"store: {self.path} is not a store of experiments ({error}). Choose another file."
                ) from error
            if no_access:  # SQLite also writes files beside it
                raise PermissionError(
                    f"store: {self.path} cannot be opened, because the file or the folder {Path(str(self.path)).parent}"
                    " cannot be written; a store needs both, even to be read."
                ) from error
            if code in _OF_THE_SYSTEM:
                raise OSError(f"store: {self.path}: {error}.") from error
            raise self._damaged(str(error)) from error
        except UnicodeDecodeError as error:  # in the message of SQLite about a damaged file
            raise self._damaged(str(error)) from error

    def _damaged(self, reason: str) -> ValueError:
        return ValueError(
            f"store: {self.path} is damaged ({reason}). Restore it from a copy, or choose another file to begin anew."
        )

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
        """Write one cell, which is on disk when this returns.

        Parameters
        ----------
        record : Row or Failure
            The cell.
        """
        table = "results" if isinstance(record, Row) else "failures"
        with self._reported(), self._transaction():
            self._insert(table, astuple(record))

    def _insert(self, table: str, values: tuple) -> None:
        """Write a row, and count it, unless there is one with its key already."""
        checksum = _checksum(values)
        marks = ", ".join("?" * (len(values) + 1))
        done = self._connection.execute(f"INSERT OR IGNORE INTO {table} VALUES ({marks})", (*values, checksum))
        if done.rowcount:
            count, total = self._total(table)
            self._connection.execute(
                "UPDATE totals SET count = ?, checksum = ? WHERE name = ?", (count + 1, _with(total, checksum), table)
            )

    def _total(self, table: str) -> tuple[int, str]:
        """Return the number of rows of a table and their checksum."""
        found = self._connection.execute("SELECT count, checksum FROM totals WHERE name = ?", (table,)).fetchone()
        if found is None or type(found[0]) is not int or not re.fullmatch(r"[0-9a-f]{16}", str(found[1])):
            raise self._damaged(f"the number of {table} is missing")
        return found

    def rows(self, keys: Iterable[str] | None = None) -> list[Row]:
        """Return the finished cells, sorted by data set, method and partition.

        Parameters
        ----------
        keys : iterable of str, default=None
            The keys of the cells; None means all.

        Returns
        -------
        list of Row
            The cells.
        """
        return sorted(self._read("results", keys), key=lambda row: (row.dataset, row.method, row.partition))

    def failures(self, keys: Iterable[str] | None = None) -> list[Failure]:
        """Return the failed cells that were not finished later, in the order of their failures.

        Parameters
        ----------
        keys : iterable of str, default=None
            The keys of the cells; None means all.

        Returns
        -------
        list of Failure
            The cells.
        """
        done = {row.key for row in self.rows(keys)}
        return [failure for failure in self._read("failures", keys) if failure.key not in done]

    def _read(self, table: str, keys: Iterable[str] | None) -> list[Any]:
        """Return records of a table, after comparing each row and all together with their checksums."""
        with self._reported():
            self._connection.execute("BEGIN")  # another process may add a row between the two questions
            try:
                rows = self._connection.execute(f"SELECT * FROM {table} ORDER BY rowid").fetchall()
                count, total = self._total(table)
            finally:
                self._connection.execute("ROLLBACK")
        kind, found = _TABLES[table], _NOTHING
        for i, row in enumerate(rows):
            if len(row) != len(fields(kind)) + 1 or _checksum_or_none(row[:-1]) != row[-1]:
                raise self._damaged(f"the checksum of row {i} of the {table} does not match")
            found = _with(found, row[-1])
        if (len(rows), found) != (count, total):
            raise self._damaged(f"{len(rows)} of {count} {table} are there")
        wanted = None if keys is None else set(keys)
        return [kind(*row[:-1]) for row in rows if wanted is None or row[0] in wanted]

    def contents(self) -> list[dict[str, Any]]:
        """Return the number of finished cells by data set, method and protocol, with their digests.

        Returns
        -------
        list of dict
            One dict for each combination.
        """
        names = ("dataset", "method", "protocol", "data_digest", "method_digest")
        cells = Counter(tuple(getattr(row, name) for name in names) for row in self.rows())
        return [{**dict(zip(names, values)), "cells": cells[values]} for values in sorted(cells)]

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _checksum_or_none(values: Iterable[Any]) -> str | None:
    """Return the checksum of a row from a file; None if it has values that a row cannot have, such as bytes."""
    try:
        return _checksum(values)
    except (TypeError, ValueError):
        return None
