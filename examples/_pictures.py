"""What the scripts here share: where pictures go, and how they are saved.

Each script draws some pictures. ``python examples/plot_spectrum.py`` writes them to docs/images, ``python
examples/plot_spectrum.py folder`` to a folder of yours; with ``--quick`` the slow ones do less.
"""

import sys
from pathlib import Path

import matplotlib.pyplot as plt

ROOT = Path(__file__).parents[1]
DPI = 75


def quick() -> bool:
    """Whether a rough picture will do."""
    return "--quick" in sys.argv[1:]


def save(pictures) -> None:
    """Draw and save: functions that return figures, by the names of the files."""
    given = [argument for argument in sys.argv[1:] if not argument.startswith("-")]
    folder = Path(given[0]) if given else ROOT / "docs" / "images"
    folder.mkdir(parents=True, exist_ok=True)
    for name, draw in pictures.items():
        figure = draw()
        path = folder / f"{name}.png"
        figure.savefig(path, dpi=DPI, pil_kwargs={"optimize": True})
        plt.close(figure)
        print(path)
