"""Settings shared by tests and by the examples in docstrings and on pages."""

import importlib
import importlib.util
import sys

import pytest
from tests.builds import use_named_build

collect_ignore = ["docs/conf.py", "docs/_ext", "docs/_build", "docs/generated"]


# Tests of compiled code run with another build of the module, one that checks every index, if one is named.
use_named_build()


def pytest_report_header():
    """Say which similitude is tested: the source of this folder, or an installed package."""
    spec = importlib.util.find_spec("similitude")
    return f"similitude: {spec.origin if spec else 'not installed'}"


def pytest_sessionfinish():
    """The counts of the compiled lines are written before a worker ends: one that ends slowly is killed."""
    native = sys.modules.get("similitude._native")
    if hasattr(native, "__dump_coverage__"):
        native.__dump_coverage__()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item):
    """Examples are not traced for coverage: they show what tests check."""
    tracer = sys.gettrace()
    if isinstance(item, pytest.DoctestItem):
        sys.settrace(None)
    try:
        return (yield)
    finally:
        sys.settrace(tracer)


@pytest.fixture(autouse=True)
def _registry_as_it_was():
    """Similarities that a page or a test registers are unknown to the next."""
    from similitude.similarities.registry import _registry  # not earlier: coverage begins after this file is read

    before = dict(_registry)
    yield
    if _registry != before:
        _registry.clear()
        _registry.update(before)


@pytest.fixture(autouse=True, scope="session")
def _no_progress_lines():
    """The clock of progress stands still, so that what is printed on stderr does not depend on the machine's speed."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(importlib.import_module("similitude._utils.progress"), "_clock", lambda: 0.0)
        yield
