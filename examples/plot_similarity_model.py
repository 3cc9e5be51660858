"""
What local SDA sees in one sample
=================================

The distributions of the similarities to the local centroids for one member of the House who votes with both parties.
"""

import matplotlib.pyplot as plt
import numpy as np

from similitude.datasets import load_voting
from similitude.generative.local_sda import LocalSDA
from similitude.plotting.similarity_model import SimilarityModelDisplay

N_NEIGHBORS = 40


def most_doubtful(model, X):
    """The sample whose posterior is nearest to one half."""
    return int(np.argmin(np.abs(model.predict_proba(X)[:, 0] - 0.5)))


def draw():
    """On how many of 16 votes members agree: the most doubtful of the last 135 members."""
    voting = load_voting()
    known, new = slice(0, 300), slice(300, None)
    model = LocalSDA(N_NEIGHBORS, similarity="counting").fit(voting.data[known], np.array(voting.target)[known])
    row = most_doubtful(model, voting.data[new])
    display = SimilarityModelDisplay.from_estimator(model, voting.data[new][row : row + 1])
    print(display.explanation)
    return display.figure_


PICTURES = {"similarity-model": draw}

if __name__ == "__main__":
    draw()
    plt.show()
