"""
Error against the number of neighbours
======================================

The leave-one-out error against the size of the neighbourhood, as in Figure 1 of Cazzanti & Gupta (2007), and an error
curve with a band of one standard error over ten folds.
"""

import matplotlib.pyplot as plt
from sklearn.model_selection import LeaveOneOut

from similitude import KNNClassifier, LocalNearestCentroid, LocalSDA
from similitude.datasets import load_voting, make_perturbed_centroids
from similitude.plotting import ErrorCurveDisplay
from similitude.similarities import pairwise


def leave_one_out():
    """Local SDA and the local nearest centroid on perturbed centroids with 12 features, 100 samples."""
    data = make_perturbed_centroids(100, 12, random_state=0)
    S = pairwise(data.X, similarity="counting")
    figure, ax = plt.subplots(figsize=(6.4, 4), layout="constrained")
    models = {"local SDA": LocalSDA(fallback="k"), "local nearest centroid": LocalNearestCentroid()}
    for name, model in models.items():
        ErrorCurveDisplay.from_estimator(
            model, S, data.y, param_range=range(1, 100), cv=LeaveOneOut(), name=name, ax=ax
        )
    return figure


def ten_folds():
    """k-NN on the voting data: the band is one standard error over the ten folds."""
    voting = load_voting()
    knn = KNNClassifier(similarity="vdm")
    display = ErrorCurveDisplay.from_estimator(
        knn, voting.data, voting.target, param_range=range(1, 17), cv=10, name="k-NN, voting"
    )
    return display.figure_


PICTURES = {"error-curve": leave_one_out, "error-band": ten_folds}

if __name__ == "__main__":
    leave_one_out()
    ten_folds()
    plt.show()
