"""Settings shared by all tests."""

import os
import socket
import sys
import threading
from pathlib import Path

import pytest
from hypothesis import settings

CHECKED = "SIMILITUDE_NATIVE" in os.environ
# With the build that checks every index, a few examples reach every line.
settings.register_profile("similitude", deadline=None, derandomize=True, max_examples=10 if CHECKED else 30)
settings.load_profile("similitude")


def pytest_configure(config):
    config.addinivalue_line("markers", "untraced: not for coverage, which would take 1.7 times as long")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item):
    tracer = sys.gettrace()
    # (pytest-cov's own mark takes 10 ms a test.)
    if item.get_closest_marker("untraced"):
        sys.settrace(None)
    try:
        return (yield)
    finally:
        sys.settrace(tracer)


@pytest.fixture(scope="session")
def data_folder():
    """The folder with real data that is not shipped, which the variable SIMILITUDE_DATA names."""
    folder = os.environ.get("SIMILITUDE_DATA")
    if not folder or not Path(folder).is_dir():
        pytest.skip("SIMILITUDE_DATA does not name a folder with real data")
    return Path(folder)


@pytest.fixture
def no_network(monkeypatch):
    """Refuse every connection, and hide the folder with real data."""

    def refuse(*arguments, **options):
        raise AssertionError("a test used the network")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.delenv("SIMILITUDE_DATA", raising=False)


@pytest.fixture
def fifo(tmp_path):
    """A FIFO, and a function that returns the bytes written into it so far.

    A thread reads it from the beginning, so that nothing that is written into it, or opens it, ever has to wait.
    """
    path, received, over = tmp_path / "fifo", bytearray(), threading.Event()
    if not hasattr(os, "mkfifo"):
        pytest.skip("this system has no FIFOs")
    os.mkfifo(path)
    end = os.open(path, os.O_RDONLY | os.O_NONBLOCK)

    def read():
        while True:
            last = over.is_set()
            try:
                piece = os.read(end, 2**16)
            except BlockingIOError:  # opened by a writer that has not written yet
                piece = b""
            received.extend(piece)
            if not piece and last:
                return
            if not piece:
                over.wait(0.01)

    def content():
        over.set()
        reader.join(60)
        assert not reader.is_alive()
        return bytes(received)

    reader = threading.Thread(target=read, daemon=True)
    reader.start()
    yield path, content
    content()
    os.close(end)
