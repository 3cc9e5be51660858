"""A browser for the tests of the page, and a page for them."""

import os
import shutil
import subprocess

import numpy as np
import pytest

from similitude import KNNClassifier
from similitude.report import find, page
from tests.report.browser import Browser
from tests.report.standin import auto, auto_combined, clusters

_PROGRAMS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
EVIL = "<script>document.title = 'run'</script>"
LONG = "a" * 80


def _program():
    return next((path for path in map(shutil.which, _PROGRAMS) if path), None)


@pytest.fixture(scope="session")
def browser():
    """Headless Chromium, installed where that is possible and it is missing."""
    if _program() is None and shutil.which("apt-get") and hasattr(os, "geteuid") and os.geteuid() == 0:
        command = ["apt-get", "install", "-y", "-q", "-o", "DPkg::Lock::Timeout=300", "chromium"]
        subprocess.run(command, capture_output=True, timeout=600, check=False)
    if _program() is None:
        pytest.skip(f"no browser: install one of {', '.join(_PROGRAMS)} to test the page of a report")
    running = Browser(_program())
    yield running
    running.close()


@pytest.fixture(scope="session")
def findings():
    """Three classes, one with a name that is a script and one with a very long name, some samples misclassified."""
    S, labels = clusters()
    y = np.array([EVIL, "b & c", LONG])[labels]
    ids = [f"<b>{i}</b>" for i in range(len(y))]
    ids[1] = "x\u2028y" + LONG
    noise = np.random.default_rng(0).random(S.shape)
    S = S - S.min() + noise + noise.T
    model = KNNClassifier(n_neighbors=15, weights="affinity")
    return find(S, y, title=f"A {EVIL}", ids=ids, auto=auto(S, y, model))


@pytest.fixture(scope="session")
def combined_address(findings, tmp_path_factory):
    """Where the page of the same samples with a combination lies."""
    S, y = findings.S, np.array(findings.classes)[findings.labels]
    members = [("k-NN", KNNClassifier(15), 0.25), ("affinity k-NN", KNNClassifier(5, weights="affinity"), 0.75)]
    path = tmp_path_factory.mktemp("report") / "combined.html"
    path.write_text(page(find(S, y, ids=findings.ids, auto=auto_combined(S, y, *members))), encoding="utf-8")
    return path.as_uri()


@pytest.fixture(scope="session")
def address(findings, tmp_path_factory):
    """Where the page of the findings lies."""
    path = tmp_path_factory.mktemp("report") / "report.html"
    path.write_text(page(findings), encoding="utf-8")
    return path.as_uri()
