"""The scripts in examples/ run and write the pictures that the pages show."""

import runpy
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SCRIPTS = sorted((ROOT / "examples").glob("plot_*.py"))

matplotlib = pytest.importorskip("matplotlib")


@pytest.mark.untraced
@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_examples_draw_the_pictures_of_the_pages(script, tmp_path, monkeypatch):
    matplotlib.use("Agg")
    monkeypatch.setattr(sys, "argv", [str(script), "--quick"])
    try:
        runpy.run_path(str(ROOT / "examples" / "_draw.py"))["draw"](script, tmp_path)
    except SystemExit as stopped:  # data that does not ship
        pytest.skip(str(stopped))
    except ImportError as missing:
        pytest.skip(f"needs {missing.name}")
    drawn = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert drawn
    assert all((ROOT / "docs" / "images" / name).exists() for name in drawn)
    assert all(picture.startswith(b"\x89PNG") and len(picture) > 5000 for picture in drawn.values())
