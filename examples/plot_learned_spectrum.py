"""
Weights of eigenvalues, learned
===============================

The weights that ``LearnedSpectrumSVC`` learns for the eigenvalues, beside those of clip and flip, for a similarity
whose negative eigenvalues carry little information and for one whose only negative eigenvalue separates the classes.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import make_blobs
from sklearn.metrics.pairwise import manhattan_distances

from similitude import LearnedSpectrumSVC
from similitude.datasets import make_negative_direction
from similitude.plotting import SpectrumDisplay


def noise():
    """Two clouds that overlap, and a similarity that is not an inner product; its negative eigenvalues say little."""
    X, y = make_blobs(120, centers=2, n_features=5, cluster_std=5.0, random_state=0)
    D = manhattan_distances(X) ** 1.5
    return 1 - D / D.max(), y


def direction():
    """The direction that tells the classes apart has the only negative eigenvalue."""
    data = make_negative_direction(n_samples=100, n_classes=2, separation=3.0, random_state=0)
    return data.S, data.y


def learned_spectra():
    """Both similarities, with clip as the target; one learned weight of the second goes far beyond that of flip."""
    figure, axes = plt.subplots(2, 2, figsize=(11.5, 8), layout="constrained")
    for row, (draw, name) in enumerate(
        ((noise, "many negative eigenvalues that say little"), (direction, "one that tells the classes apart"))
    ):
        model = LearnedSpectrumSVC(eta=0.01, gamma=0.01, target="clip").fit(*draw())
        SpectrumDisplay.from_estimator(model, name=name, ax=axes[row])
    return figure


PICTURES = {"learned-spectrum": learned_spectra}

if __name__ == "__main__":
    learned_spectra()
    plt.show()
