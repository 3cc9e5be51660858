"""
Average ranks of methods, with the critical difference
======================================================

Average ranks over ten simulated data sets of the methods below, each tuned within the training part of five folds.
Bars join methods that do not differ significantly by Nemenyi's test.
"""

import sys

import matplotlib.pyplot as plt

from similitude import KNNClassifier, LocalNearestCentroid, NearestCentroid, SimilaritySVC
from similitude.datasets import make_perturbed_centroids
from similitude.experiments import Protocol, run
from similitude.plotting import CriticalDifferenceDisplay
from similitude.similarities import pairwise

QUICK = "--quick" in sys.argv
FEATURES = (6, 12) if QUICK else (6, 8, 10, 12, 14, 16, 20, 25, 30, 40)
"""Each number of binary features is a data set of its own."""


def data_sets():
    """The simulation of Cazzanti & Gupta (2007), 120 samples each."""
    found = {}
    for n_features in FEATURES:
        data = make_perturbed_centroids(120, n_features, random_state=n_features)
        found[f"{n_features} features"] = (pairwise(data.X, similarity="counting"), data.y)
    return found


def ranks():
    """Errors of five folds, parameters chosen within the training parts."""
    k = {"n_neighbors": [1, 3, 5, 9, 17]}
    methods = {
        "k-NN": (KNNClassifier(), k),
        "affinity k-NN": (KNNClassifier(weights="affinity"), k),
        "KRR k-NN": (KNNClassifier(weights="krr", spectrum="pinv"), {**k, "reg": [0.1, 10.0]}),
        "nearest centroid": (NearestCentroid(), {}),
        "local nearest centroid": (LocalNearestCentroid(), k),
        "SVM (clip)": (SimilaritySVC(), {"C": [0.01, 0.1, 1.0]}),
    }
    results = run(Protocol.folds(2 if QUICK else 5), data_sets(), methods, progress=False)
    return CriticalDifferenceDisplay.from_results(results).figure_


PICTURES = {"critical-difference": ranks}

if __name__ == "__main__":
    ranks()
    plt.show()
