"""
Errors on digits, for three distances, few levels, and noise
============================================================

The errors of DBoost, LSVM and nearest neighbour on the USPS digits, as in Figures 4 to 6 of Wang et al. (2009). The
script uses ``python -m benchmarks usps`` of the repository and takes about three minutes. ``SIMILITUDE_DATA`` must
name the folder with zip.train.RData and zip.test.RData.
"""

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))  # benchmarks are not part of the installed package

from benchmarks.bench_usps import METHODS, N_TRAIN, figure_4, figure_5, figure_6, load_usps, some, table

from similitude.plotting import COLORS

QUICK = "--quick" in sys.argv
MARKERS = ("o", "s", "^")


def bars(ax, found):
    """One group of bars for each distance."""
    names, errors = zip(*found)
    places = np.arange(len(names))
    for i, (method, own) in enumerate(zip(METHODS, np.transpose(errors))):
        drawn = ax.bar(places + 0.27 * (i - 1), own, 0.25, color=COLORS[i], label=method)
        ax.bar_label(drawn, fmt="%.1f", fontsize=8)
    ax.set_xticks(places, names)
    ax.set(title="Figure 4: three distances", xlabel="distance", ylabel="test error, %")


def lines(ax, found, title, xlabel):
    """One line for each method."""
    settings, errors = zip(*found)
    for marker, color, method, own in zip(MARKERS, COLORS, METHODS, np.transpose(errors)):
        ax.plot(settings, own, marker=marker, color=color, label=method)
    ax.set(title=title, xlabel=xlabel, xticks=settings)


def two_digits(digits):
    """Zeros and ones only: one problem of two classes in place of 45."""
    train, test = digits.y < 2, digits.y_test < 2
    return type(digits)(digits.X[train], digits.y[train], digits.X_test[test], digits.y_test[test])


def usps(digits):
    """The three figures beside each other, with one scale."""
    figure, axes = plt.subplots(1, 3, figsize=(13, 4), layout="constrained", sharey=True)
    bars(axes[0], table("Figure 4", figure_4(digits)))
    lines(axes[1], table("Figure 5", figure_5(digits)), "Figure 5: quantised distances", "levels of Euclidean distance")
    lines(axes[2], table("Figure 6", figure_6(digits)), "Figure 6: noisy images", "variance of the noise")
    for ax in axes:
        ax.set_ylim(bottom=0)
        ax.grid(axis="y", alpha=0.3)
    axes[1].legend()
    return figure


def from_files():
    """The three figures, from the files of digits, if they are here."""
    try:
        digits = two_digits(some(load_usps(), 200, 200)) if QUICK else some(load_usps(), N_TRAIN)
    except (OSError, ImportError) as reason:
        sys.exit(f"not drawn: {reason}")
    return usps(digits)


PICTURES = {"usps": from_files}

if __name__ == "__main__":
    from_files()
    plt.show()
