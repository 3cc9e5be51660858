"""
The alignment of two time series
================================

The steps that dynamic time warping aligns, without a limit and with a penalty for stretching time.
"""

import matplotlib.pyplot as plt
import numpy as np

from similitude.plotting import AlignmentDisplay
from similitude.similarities import ADTW, DTW


def alignments():
    """A bump that comes later in the second series."""
    time = np.linspace(0, 1, 70)
    early, late = (np.exp(-(((time - place) / 0.08) ** 2)) + 0.3 * np.sin(9 * time) for place in (0.35, 0.55))
    figure, axes = plt.subplots(2, 1, figsize=(7.2, 6), layout="constrained")
    for ax, measure in zip(axes, (DTW(), ADTW(warp_penalty=0.02))):
        AlignmentDisplay.from_series(early, late, measure=measure, names=("early", "late"), ax=ax)
        ax.set_title(f"{measure}: {ax.get_title()}")
    return figure


PICTURES = {"alignment": alignments}

if __name__ == "__main__":
    alignments()
    plt.show()
