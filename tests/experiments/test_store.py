"""The file of results: what it refuses, and several processes at once."""

import os
import shutil
import sqlite3
import tempfile
import threading
from dataclasses import astuple, replace
from pathlib import Path

import pytest

from similitude.experiments import Store, run
from similitude.experiments import store as store_module
from similitude.experiments.store import Failure
from tests.experiments.small import PROTOCOL, data, methods
from tests.systems import needs_posix


@pytest.fixture(scope="module")
def rows():
    return run(replace(PROTOCOL, n_partitions=2), data(1), methods()).rows


def test_rows_come_back_as_they_were(rows, tmp_path):
    with Store(tmp_path / "s.db") as store:
        for row in reversed(rows):
            store.add(row)
        assert store.rows() == sorted(rows, key=lambda row: (row.dataset, row.method, row.partition))
        assert store.rows([rows[0].key]) == [rows[0]]
    with Store(tmp_path / "s.db") as store:
        assert len(store.rows()) == len(rows)


def test_the_first_of_equal_cells_stays(rows):
    with Store() as store:
        store.add(rows[0])
        store.add(replace(rows[0], seconds=1e9))
        assert store.rows() == [rows[0]]


def test_failures_of_cells_that_were_done_later_are_gone(rows):
    row = rows[0]
    failure = Failure(row.key, row.dataset, row.partition, row.method, "ValueError: no", "", "2026-01-01")
    with Store() as store:
        store.add(failure)
        assert store.failures() == [failure]
        store.add(row)
        assert store.failures() == []


def test_what_is_no_sqlite_file_is_refused_and_left_alone(tmp_path):
    path = tmp_path / "notes.txt"
    path.write_text("not a data base, but somebody's notes\n" * 50)
    with pytest.raises(ValueError, match=r"store: .*notes.txt is not a store of experiments"):
        Store(path)
    assert path.read_text().startswith("not a data base")
    assert [p.name for p in tmp_path.iterdir()] == ["notes.txt"]


def test_another_sqlite_file_is_refused_and_left_alone(tmp_path):
    path = tmp_path / "other.db"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE results (key TEXT)")
    before = path.read_bytes()
    with pytest.raises(ValueError, match="an SQLite database, but not a store of experiments"):
        Store(path)
    assert path.read_bytes() == before


def test_another_version_is_refused(tmp_path, monkeypatch):
    Store(tmp_path / "s.db").close()
    monkeypatch.setattr(store_module, "VERSION", 3)
    with pytest.raises(ValueError, match="is of version 2; this similitude reads and writes version 3"):
        Store(tmp_path / "s.db")


def test_a_damaged_file_is_refused(rows, tmp_path):
    path = tmp_path / "s.db"
    with Store(path) as store:
        for row in rows:
            store.add(row)
    content = bytearray(path.read_bytes())
    content[4096:] = b"\xff" * (len(content) - 4096)
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r"s\.db is damaged"), Store(path) as store:
        store.rows()


def test_changed_and_missing_rows_are_noticed(rows, tmp_path):
    path = tmp_path / "s.db"
    for change in ("UPDATE results SET n_errors = n_errors + 1", "DELETE FROM results", "UPDATE totals SET count = 9"):
        path.unlink(missing_ok=True)
        with Store(path) as store:
            for row in rows:
                store.add(row)
        with sqlite3.connect(path) as connection:
            connection.execute(change + " WHERE rowid = 1")
        connection.close()
        with Store(path) as store, pytest.raises(ValueError, match=r"store: .*s\.db is damaged"):
            store.rows()


def test_a_store_without_checksums_gets_them(rows, tmp_path):
    path = tmp_path / "s.db"
    with sqlite3.connect(path) as connection:
        for name, kind in (("results", store_module.Row), ("failures", Failure)):
            connection.execute(store_module._create(name, kind).replace(", checksum TEXT NOT NULL", ""))
        marks = ", ".join("?" * len(astuple(rows[0])))
        connection.executemany(f"INSERT INTO results VALUES ({marks})", [astuple(row) for row in rows])
        connection.execute(f"PRAGMA application_id = {store_module.APPLICATION}")
        connection.execute("PRAGMA user_version = 1")
    connection.close()
    for _ in range(2):
        with Store(path) as store:
            assert store.rows() == sorted(rows, key=lambda row: (row.dataset, row.method, row.partition))


@needs_posix
def test_a_folder_that_cannot_be_written_is_said_to_be_so(rows):
    folder = Path(tempfile.mkdtemp())  # not below pytest's own folder, which only its owner may enter
    Store(folder / "s.db").close()
    was_root = os.geteuid() == 0
    try:
        folder.chmod(0o555)
        (folder / "s.db").chmod(0o444)
        if was_root:
            os.seteuid(65534)
        for name in ("s.db", "new.db"):
            with pytest.raises(
                PermissionError, match=rf"store: .*{name} cannot be opened, because .*cannot be written"
            ):
                Store(folder / name)
    finally:
        if was_root:
            os.seteuid(0)
        folder.chmod(0o755)
        shutil.rmtree(folder)


def test_a_fifo_is_refused_and_left_alone(fifo):
    path, content = fifo
    with pytest.raises(ValueError, match=r"store: .*fifo is not a regular file"):
        Store(path)
    assert content() == b""
    assert os.listdir(path.parent) == ["fifo"]


def test_no_folder_no_file(tmp_path):
    with pytest.raises(ValueError, match="there is no folder"):
        Store(tmp_path / "nowhere" / "s.db")
    with pytest.raises(ValueError, match="is not a store of experiments"):
        Store(tmp_path)


def test_an_empty_file_becomes_a_store(tmp_path):
    (tmp_path / "s.db").touch()
    with Store(tmp_path / "s.db") as store:
        assert store.rows() == []


def test_many_threads_write_at_once(rows, tmp_path):
    def write(i):
        with Store(tmp_path / "s.db") as store:
            for j, row in enumerate(rows):
                store.add(replace(row, key=f"{i} {j}"))

    threads = [threading.Thread(target=write, args=(i,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with Store(tmp_path / "s.db") as store:
        assert len(store.rows()) == 8 * len(rows)
