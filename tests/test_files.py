"""Files are replaced whole or not at all; links, FIFOs and devices stay what they are."""

import os
import stat
from pathlib import Path

import pytest

from similitude._utils.files import check_writable, replacing
from tests.systems import needs_posix


def write(path, text="new"):
    with replacing(check_writable(path)) as part:
        part.write_text(text)


def fail(path):
    with replacing(path) as part:
        part.write_text("new")
        raise RuntimeError


def test_a_file_is_replaced_and_nothing_else_is_left(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("old")
    with replacing(path) as part:
        part.write_text("new")
        assert path.read_text() == "old"
    assert path.read_text() == "new"
    assert os.listdir(tmp_path) == ["a.txt"]


def test_an_error_leaves_the_file_as_it_was(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("old")
    with pytest.raises(RuntimeError):
        fail(path)
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["a.txt"]


def test_a_fifo_is_written_into(fifo):
    path, content = fifo
    write(path, "new" * 100_000)  # more than a pipe holds
    assert stat.S_ISFIFO(path.stat().st_mode)
    assert content() == b"new" * 100_000
    assert os.listdir(path.parent) == ["fifo"]


def test_a_link_to_a_fifo(fifo):
    path, content = fifo
    link = path.with_name("link")
    link.symlink_to("fifo")
    write(link)
    assert link.is_symlink()
    assert stat.S_ISFIFO(path.stat().st_mode)
    assert content() == b"new"


def test_after_an_error_nothing_is_written_into_a_fifo(fifo):
    path, content = fifo
    with pytest.raises(RuntimeError):
        fail(path)
    assert stat.S_ISFIFO(path.stat().st_mode)
    assert content() == b""


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="no /proc")
def test_an_open_pipe(tmp_path):
    # A shell's >(command) and /dev/stdout are such paths; their real path names nothing that exists.
    reads, writes = os.pipe()
    write(Path(f"/proc/self/fd/{writes}"))
    os.close(writes)
    with os.fdopen(reads) as file:
        assert file.read() == "new"


def test_a_fifo_that_cannot_be_written_into(fifo, monkeypatch):
    path, _ = fifo
    monkeypatch.setattr(os, "access", lambda *_: False)  # what permissions do not do to root
    with pytest.raises(ValueError, match=r"path: cannot write into .*fifo: permission denied"):
        check_writable(path)


@needs_posix
@pytest.mark.parametrize("target", ["old", None])
def test_a_link_stays_and_its_target_is_replaced(tmp_path, target):
    (tmp_path / "folder").mkdir()
    link, path = tmp_path / "link", tmp_path / "folder" / "a.txt"
    link.symlink_to(path)
    if target:
        path.write_text(target)
    write(link)
    assert link.is_symlink()
    assert path.read_text() == "new"
    assert os.listdir(tmp_path / "folder") == ["a.txt"]


@needs_posix
def test_a_link_into_a_folder_that_does_not_exist(tmp_path):
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "nowhere" / "a.txt")
    with pytest.raises(ValueError, match=r"there is no folder .*nowhere"):
        check_writable(link)


@needs_posix
def test_a_folder_is_refused(tmp_path):
    (tmp_path / "link").symlink_to(tmp_path)
    for path in (tmp_path, tmp_path / "link"):
        with pytest.raises(ValueError, match=r"path: .* is a folder; a file is needed"):
            check_writable(path)
        with pytest.raises(ValueError, match="is a folder; a file is needed"), replacing(path):
            pass
    assert os.listdir(tmp_path) == ["link"]
