"""Settings shared by all tests."""

import os
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import settings

settings.register_profile("similitude", deadline=None, derandomize=True, max_examples=30)
settings.load_profile("similitude")

TRACED = 3


def pytest_configure(config):
    config.addinivalue_line("markers", "kernel: tests of compiled kernels, run once more uncompiled for coverage")
    config.addinivalue_line("markers", "no_cover: not traced for coverage")


def pytest_collection_modifyitems(items):
    """Traced for coverage a test takes 1.7 times as long: of the many cases of one test only the first few are."""
    seen = Counter()
    for item in items:
        test = item.nodeid.partition("[")[0]
        seen[test] += 1
        if seen[test] > TRACED and item.get_closest_marker("kernel") is None:
            item.add_marker("no_cover")


@pytest.fixture(scope="session")
def data_folder():
    """The folder with real data that is not shipped: SIMILITUDE_DATA, by default ``../shared/data``."""
    folder = Path(os.environ.get("SIMILITUDE_DATA", Path(__file__).parents[2] / "shared" / "data"))
    if not folder.is_dir():
        pytest.skip(f"no real data in {folder}: set SIMILITUDE_DATA to the folder that has it")
    return folder
