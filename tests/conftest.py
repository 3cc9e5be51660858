"""Settings shared by all tests."""

import os
from pathlib import Path

import pytest
from hypothesis import settings

settings.register_profile("similitude", deadline=None, derandomize=True, max_examples=40)
settings.load_profile("similitude")


def pytest_configure(config):
    config.addinivalue_line("markers", "kernel: tests of compiled kernels, run once more uncompiled for coverage")


@pytest.fixture(scope="session")
def data_folder():
    """The folder with real data that is not shipped: SIMILITUDE_DATA, by default ``../shared/data``."""
    folder = Path(os.environ.get("SIMILITUDE_DATA", Path(__file__).parents[2] / "shared" / "data"))
    if not folder.is_dir():
        pytest.skip(f"no real data in {folder}: set SIMILITUDE_DATA to the folder that has it")
    return folder
