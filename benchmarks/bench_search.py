"""PathSearchCV against GridSearchCV on the same folds and grid."""

import numpy as np
from sklearn.datasets import make_blobs
from sklearn.metrics.pairwise import euclidean_distances, manhattan_distances
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC

from benchmarks.timing import side_by_side
from similitude import KNNClassifier, PathSearchCV, SpectrumModifier

FOLDS = StratifiedKFold(10, shuffle=True, random_state=0)
NEIGHBORS = {"n_neighbors": [*range(1, 17), 32, 64, 128]}
COSTS = {"svc__C": [10.0**j for j in range(-3, 6)]}  # Chen et al. 2009, Table 2


def run():
    X, y = make_blobs(1000, centers=5, n_features=10, cluster_std=6, random_state=0)
    D = euclidean_distances(X)
    S = D.max() - D
    PathSearchCV(KNNClassifier(), NEIGHBORS, cv=FOLDS).fit(S, y)  # compiles
    peer = GridSearchCV(KNeighborsClassifier(metric="precomputed"), NEIGHBORS, cv=FOLDS)
    ours = PathSearchCV(KNNClassifier(), NEIGHBORS, cv=FOLDS)
    plain = GridSearchCV(KNNClassifier(), NEIGHBORS, cv=FOLDS)
    rows = [
        side_by_side(
            "k-NN, 19 k, 10 folds, n = 1000: against KNeighborsClassifier",
            lambda: ours.fit(S, y),
            lambda: peer.fit(D, y),
        ),
        side_by_side("  the same against our own plain fits", lambda: ours.fit(S, y), lambda: plain.fit(S, y)),
    ]
    rows[0]["goal"] = "at least 60"
    X, y = make_blobs(1000, centers=2, n_features=10, cluster_std=4, random_state=0)
    D = manhattan_distances(X) ** 1.5
    S = 1 - D / D.max()
    pipeline = make_pipeline(SpectrumModifier("clip"), SVC(kernel="precomputed"))
    path, grid = (search(pipeline, COSTS, cv=FOLDS) for search in (PathSearchCV, GridSearchCV))
    row = side_by_side("clip + SVC, 9 C, 10 folds, n = 1000, 2 classes", lambda: path.fit(S, y), lambda: grid.fit(S, y))
    assert np.array_equal(path.cv_results_["mean_test_score"], grid.cv_results_["mean_test_score"])
    return [*rows, {**row, "goal": "at least 6"}]
