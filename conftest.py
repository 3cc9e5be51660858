"""Settings shared by tests and by the examples in docstrings and on pages."""

import sys
import threading

import pytest
from numba.core import event

collect_ignore = ["docs/conf.py", "docs/_ext"]


class Untraced(threading.local, event.Listener):
    """Coverage does not follow numba while it compiles, which would take 1.4 times as long."""

    def __init__(self):
        self.tracers = []

    def on_start(self, event):
        self.tracers.append(sys.gettrace())
        sys.settrace(None)

    def on_end(self, event):
        sys.settrace(self.tracers.pop())


def pytest_configure(config):
    event.register("numba:compile", Untraced())


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
