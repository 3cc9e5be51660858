"""
How good a similarity is for a problem
======================================

The share epsilon of samples whose margin is below gamma, with a band that holds the true curve: the example of Wang
et al. (2009) with its true curve, and two similarities of the voting data.
"""

import matplotlib.pyplot as plt
import numpy as np

from similitude.datasets import load_voting
from similitude.plotting import GoodnessDisplay
from similitude.similarities import VDM, pairwise


def two_intervals(n=400, seed=0):
    """Figure 1 of Wang et al.: classes uniform on [1/8, 9/8] and its mirror image, d = |x - x'|."""
    rng = np.random.default_rng(seed)
    x = rng.uniform(1 / 8, 9 / 8, n) * rng.choice([-1, 1], n)
    return np.abs(x[:, None] - x[None, :]), np.sign(x)


def curves():
    """On the left the paper's example with the true curve; on the right two similarities of the voting data."""
    figure, axes = plt.subplots(1, 2, figsize=(11, 4.2), layout="constrained", sharey=True)
    D, y = two_intervals()
    GoodnessDisplay.from_matrix(D, y, dissimilarity="negate", name="400 samples", ax=axes[0])
    gamma = np.linspace(0, 1, 201)
    truth = np.maximum(0, (1 - np.sqrt(1 - gamma)) / 2 - 1 / 8)
    axes[0].plot(gamma, truth, color="black", linewidth=1, label="the distribution itself")
    axes[0].legend(loc="upper left")
    axes[0].set_title("two intervals")
    voting = load_voting()
    by_vdm = VDM().fit(voting.data, voting.target)(voting.data, voting.data)
    GoodnessDisplay.from_matrix(by_vdm, voting.target, dissimilarity="one-minus", name="VDM", ax=axes[1])
    by_count = pairwise(voting.data, similarity="counting")
    GoodnessDisplay.from_matrix(by_count, voting.target, name="counting", ax=axes[1])
    axes[1].set_title("voting")
    axes[1].set_ylabel("")
    return figure


PICTURES = {"goodness": curves}

if __name__ == "__main__":
    curves()
    plt.show()
