"""Save the pictures of the scripts in this folder, for the pages: ``python examples/_draw.py``.

Each script can be run on its own and then shows its figures; its ``PICTURES`` maps the names of the files to the
functions that draw them. ``python examples/_draw.py plot_spectrum plot_goodness`` draws some, ``--folder NAME`` writes
them elsewhere than to docs/images, and with ``--quick`` the slow ones do less.
"""

import argparse
import runpy
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

EXAMPLES = Path(__file__).parent
DPI = 75


def draw(script: Path, folder: Path) -> None:
    """Save the figures of one script."""
    for name, picture in runpy.run_path(str(script))["PICTURES"].items():
        figure = picture()
        path = folder / f"{name}.png"
        figure.savefig(path, dpi=DPI, pil_kwargs={"optimize": True})
        plt.close(figure)
        print(path)


def main() -> None:
    """Draw the pictures that the arguments ask for."""
    parser = argparse.ArgumentParser(description="Save the pictures of the examples.")
    parser.add_argument("names", nargs="*", default=[path.stem for path in sorted(EXAMPLES.glob("plot_*.py"))])
    parser.add_argument("--folder", type=Path, default=EXAMPLES.parent / "docs" / "images")
    parser.add_argument("--quick", action="store_true", help="read by the scripts that take long")
    arguments = parser.parse_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    for name in arguments.names:
        draw(EXAMPLES / f"{name}.py", arguments.folder)


if __name__ == "__main__":
    main()
