"""Draw the leave-one-out error against the neighbourhood size, as Cazzanti & Gupta (2007) do in their Figure 1.

Writes docs/images/error-curve.png and docs/images/error-band.png.
"""

import matplotlib.pyplot as plt
from _pictures import save
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


if __name__ == "__main__":
    save({"error-curve": leave_one_out, "error-band": ten_folds})
