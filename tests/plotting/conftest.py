"""Pictures are drawn without a screen, and closed after each test."""

import sys

import matplotlib
import pytest

matplotlib.use("Agg")


@pytest.fixture(autouse=True)
def closed_figures():
    import matplotlib.pyplot as plt

    plt.close("all")
    yield
    plt.close("all")


@pytest.fixture
def names_the_extra(monkeypatch):
    """A function that checks that each of the given functions names the extra where matplotlib is missing."""

    def check(*draws):
        for module in ("matplotlib", "matplotlib.pyplot"):
            monkeypatch.setitem(sys.modules, module, None)
        for draw in draws:
            with pytest.raises(ImportError, match=r"matplotlib: pip install 'similitude\[plot\]'"):
                draw()

    return check
