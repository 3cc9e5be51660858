"""The scripts in examples/ run and write the pictures that the pages show."""

import re
import runpy
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SCRIPTS = sorted((ROOT / "examples").glob("plot_*.py"))

matplotlib = pytest.importorskip("matplotlib")


@pytest.mark.untraced
@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_examples_draw_what_they_say(script, tmp_path, monkeypatch):
    matplotlib.use("Agg")
    monkeypatch.syspath_prepend(str(script.parent))
    monkeypatch.setattr(sys, "argv", [str(script), str(tmp_path), "--quick"])
    try:
        runpy.run_path(str(script), run_name="__main__")
    except SystemExit as stopped:  # data that does not ship
        pytest.skip(str(stopped))
    except ImportError as missing:
        pytest.skip(f"needs {missing.name}")
    drawn = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    promised = re.findall(r"docs/images/([\w-]+\.png)", script.read_text(encoding="utf-8"))
    assert sorted(drawn) == sorted(promised)
    assert all(picture.startswith(b"\x89PNG") and len(picture) > 5000 for picture in drawn.values())
