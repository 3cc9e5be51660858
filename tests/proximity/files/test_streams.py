"""Streams are read once, wherever a file is."""

import gzip
import io
import os
import sys
import tempfile
import threading
from pathlib import Path

import numpy as np
import pytest

from similitude.datasets import load_objects, load_proximity
from similitude.proximity.files import check_streams
from tests.proximity.files.writing import ROWS, S, with_ids
from tests.systems import needs_posix

TABLE = "id,a,b,c\n" + with_ids(ROWS, "abc")


@pytest.fixture
def temporary(tmp_path, monkeypatch):
    """An empty folder for temporary files."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


@pytest.fixture
def pipe(tmp_path):
    """A function that returns a FIFO, into which a thread writes a content once."""
    threads = []

    def make(content, name="pipe"):
        path = tmp_path / name
        os.mkfifo(path)
        threads.append(threading.Thread(target=path.write_bytes, args=(content,)))
        threads[-1].start()
        return path

    yield make
    for thread in threads:
        thread.join(timeout=10)
        assert not thread.is_alive()


@needs_posix
@pytest.mark.parametrize("packed", [False, True])
def test_a_fifo_is_read_once(pipe, temporary, packed):
    pack = gzip.compress if packed else bytes
    labels = pipe(pack(b"b,blue\nc,red\na,red\n"), "y")
    data = load_proximity(pipe(pack(TABLE.encode())), labels)
    np.testing.assert_array_equal(data.S, S)
    assert data.y.tolist() == ["red", "blue", "red"]
    assert list(temporary.iterdir()) == []


@needs_posix
def test_arrays_and_objects_in_a_fifo(pipe, temporary):
    content = io.BytesIO()
    np.save(content, S)
    np.testing.assert_array_equal(load_proximity(pipe(content.getvalue(), "S.npy")).S, S)
    assert load_objects(pipe(b">a\nMKT\n>b\nMSE\n", "fasta")).ids.tolist() == ["a", "b"]
    assert load_objects(pipe(b"red fox\ncat\n", "lines"), objects="strings").data == ["red fox", "cat"]
    assert load_objects(pipe(b"id,t\nu,cat\nv,dog\n", "csv"), objects="strings").ids.tolist() == ["u", "v"]
    assert load_objects(pipe(b"1 2\n3 4\n5 7\n", "numbers"), objects="numbers").data.tolist() == [
        [1, 2],
        [3, 4],
        [5, 7],
    ]
    assert list(temporary.iterdir()) == []


@needs_posix
def test_errors_name_the_stream(pipe, temporary):
    path = pipe(b"1,2\n3,x\n")
    with pytest.raises(ValueError, match="row 2, column 2: 'x' is not a number") as caught:
        load_proximity(path)
    assert str(caught.value).startswith(f"{path}: ")
    with pytest.raises(ValueError, match=r"path: .*: the file is empty"):
        load_proximity(pipe(b"", "none"))
    del caught
    assert list(temporary.iterdir()) == []


@pytest.mark.parametrize("name", ["-", "/dev/stdin"])
def test_the_standard_input(monkeypatch, temporary, name):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(TABLE.encode())))
    np.testing.assert_array_equal(load_proximity(name).S, S)
    with pytest.raises(ValueError, match=f"path: {name}: the file is empty"):
        load_proximity(name)  # it has been read
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(ValueError, match=f"path: {name} is the standard input, which is closed"):
        load_proximity(name)
    assert list(temporary.iterdir()) == []


@needs_posix
def test_a_stream_that_is_named_twice(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ValueError, match=r"--labels: /dev/stdin is also FILE, but a stream can be read only once"):
        check_streams({"FILE": [Path("-")], "--labels": [Path("/dev/stdin")]})
    with pytest.raises(ValueError, match=r"ROWS: .*pipe is given twice"):
        check_streams({"ROWS": [tmp_path / "pipe", tmp_path / "pipe"]})
    check_streams({"FILE": [tmp_path / "pipe"], "--labels": [Path("-"), None], "--groups": [tmp_path, tmp_path]})


def test_devices_are_not_read():
    if os.path.exists("/dev/zero"):
        with pytest.raises(ValueError, match="path: /dev/zero is not a file"):
            load_proximity("/dev/zero")
