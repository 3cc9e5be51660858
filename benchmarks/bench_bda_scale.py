"""Local BDA on the data sets of Cazzanti, Gupta & Srivastava (2009), Table 1, with another scale of the features and k.

The table itself is computed by ``python -m reproductions fusion2009-table1``, with the same data. If
features are divided by sqrt(q), q = d + 3, the prior's 0.05 I becomes 0.05 q I, as if q in the paper's 0.95 q diag +
0.05 I multiplied both terms. The paper does not print that; it was tried because our error on Pen Digits differs from
the paper's.
"""

import numpy as np
from reproductions import PAPERS
from reproductions.folders import DataMissing
from reproductions.fusion2009 import FEATURE_NEIGHBORS, grid_of

from similitude import LocalBDA, LocalNearestMeans
from similitude.base import GridFit
from similitude.experiments import pooled_search

TABLE = PAPERS["fusion2009-table1"]
SPLITS = {"Pen Digits": 10, "Opt Digits": 10, "Letter Rec": 3}
"""The number of splits that choose k on large data sets; on the others it is the paper's 100."""


def _row(name, method, estimator, data, divisor=1.0):
    X, y = data.X / divisor, data.y
    ((train, test),) = data.splits
    folds = list(TABLE.protocol.inner_folds(0).split(X[train]))[: SPLITS.get(name)]
    grid = grid_of(method, X[train], y[train], folds)
    k = pooled_search(estimator, grid, X[train], y[train], folds).best_params_["n_neighbors"]
    grid = [{"n_neighbors": value} for value in FEATURE_NEIGHBORS]
    answers = GridFit(estimator, X[train], y[train], grid).answers(X[test], "predict")
    errors = [100 * np.mean(answer != y[test]) for answer in answers]
    least = int(np.argmin(errors))
    return {
        "name": f"{name}, {method}: test error % at k = {k} by the splits | least, at k = {FEATURE_NEIGHBORS[least]}",
        "ours_seconds": f"{errors[FEATURE_NEIGHBORS.index(k)]:.2f}",
        "peer_seconds": f"{errors[least]:.2f}",
    }


def run(names=("Vowel", "Image Seg", "Pen Digits", "Opt Digits", "Letter Rec")):
    rows = []
    for name in names:
        try:
            data = TABLE.datasets[name](None)
        except DataMissing as error:
            rows.append({"name": f"{name}: not run ({error})"})
            continue
        rows.append(_row(name, "local nearest means", LocalNearestMeans(), data))
        rows.append(_row(name, "local BDA", LocalBDA(), data))
        root = np.sqrt(data.X.shape[1] + 3)
        rows.append(_row(name, "local BDA, features over sqrt(d + 3)", LocalBDA(), data, root))
    return rows
