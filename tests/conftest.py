"""Settings shared by all tests."""

import os
import sys
from pathlib import Path

import pytest
from hypothesis import settings

UNCOMPILED = os.environ.get("NUMBA_DISABLE_JIT") == "1"
# Uncompiled, a few examples reach every line.
settings.register_profile("similitude", deadline=None, derandomize=True, max_examples=10 if UNCOMPILED else 30)
settings.load_profile("similitude")


def pytest_configure(config):
    config.addinivalue_line("markers", "kernel: tests of compiled kernels, run once more uncompiled for coverage")
    config.addinivalue_line("markers", "untraced: not for coverage, which would take 1.7 times as long")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item):
    tracer = sys.gettrace()
    # What runs once more uncompiled is traced then. (pytest-cov's own mark takes 10 ms a test.)
    if item.get_closest_marker("untraced") or (item.get_closest_marker("kernel") and not UNCOMPILED):
        sys.settrace(None)
    try:
        return (yield)
    finally:
        sys.settrace(tracer)


@pytest.fixture(scope="session")
def data_folder():
    """The folder with real data that is not shipped: SIMILITUDE_DATA, by default ``../shared/data``."""
    folder = Path(os.environ.get("SIMILITUDE_DATA", Path(__file__).parents[2] / "shared" / "data"))
    if not folder.is_dir():
        pytest.skip(f"no real data in {folder}: set SIMILITUDE_DATA to the folder that has it")
    return folder
