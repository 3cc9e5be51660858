"""
A map of the samples
====================

Members of the House of Representatives as points: those that voted alike lie close together.
"""

import matplotlib.pyplot as plt

from similitude.datasets import load_voting
from similitude.plotting import SimilarityMapDisplay
from similitude.similarities import pairwise


def votes():
    """Forty members, by the share of issues on which they voted alike."""
    voting = load_voting()
    S = pairwise(voting.data[:40], similarity="overlap")
    return SimilarityMapDisplay.from_matrix(S, voting.target[:40]).figure_


PICTURES = {"similarity-map": votes}

if __name__ == "__main__":
    votes()
    plt.show()
