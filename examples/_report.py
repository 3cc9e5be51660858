"""Save the picture of a report that the home page shows: ``python examples/_report.py``.

The report is about the data and the methods of the example on that page. The picture shows two parts of it, its top and
the map, side by side, as headless Chromium draws them; ``--browser`` is its command.
"""

import argparse
import subprocess
import tempfile
from pathlib import Path

from similitude import AutoClassifier
from similitude.datasets import load_voting
from similitude.report import find, page

PICTURE = Path(__file__).parents[1] / "docs" / "images" / "report.png"
METHODS = ["k-NN", "KRI k-NN", "SVM (clip)", "nearest centroid"]
# A width of 480 pixels here is 600 pixels in the picture.
OPTIONS = (
    "--headless --no-sandbox --disable-gpu --hide-scrollbars --virtual-time-budget=5000 "
    "--window-size=960,600 --force-device-scale-factor=1.25"
)
BESIDE = """<!doctype html>
<style>
  body { margin: 0; display: flex; }
  iframe { box-sizing: border-box; width: 480px; height: 600px; border: 0; }
  iframe + iframe { border-left: 1px solid #ccc; }
</style>
<iframe src="report.html"></iframe><iframe src="report.html#map"></iframe>
"""


def main() -> None:
    """Write the report and its picture."""
    parser = argparse.ArgumentParser(description="Save the picture of a report.")
    parser.add_argument("--browser", default="chromium")
    browser = parser.parse_args().browser
    voting = load_voting()
    auto = AutoClassifier(METHODS, similarity="counting").fit(voting.data, voting.target)
    findings = find(voting.data, voting.target, contract={"similarity": "counting"}, title="Votes", auto=auto)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "report.html").write_text(page(findings), encoding="utf-8")
        (folder / "beside.html").write_text(BESIDE, encoding="utf-8")
        address = (folder / "beside.html").as_uri()
        own = [f"--user-data-dir={folder / 'profile'}", f"--screenshot={PICTURE}"]
        subprocess.run([browser, *OPTIONS.split(), *own, address], check=True, capture_output=True)
    print(PICTURE)


if __name__ == "__main__":
    main()
