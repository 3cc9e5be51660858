"""Test errors on Voting by the protocol of Chen et al. 2009, Section 7.2, beside those of their Table 3.

Twenty random 80/20 partitions (seeds 0 to 19), parameters from the grids of Table 2 by 10-fold cross-validation on the
training part: errors pooled over folds, ties to the first, k ascending, then the other parameter. The partitions are
not the paper's.
"""

import time

import numpy as np

from benchmarks.voting_data import COSTS, KRI_REGS, KRR_REGS, NEIGHBORS, error_row, search, voting_partition
from similitude import KNNClassifier, LocalSVC

N_PARTITIONS = 20
# name: estimator, the parameter beside k and its grid, error and standard deviation in Table 3
METHODS = {
    "k-NN": (KNNClassifier(), {}, (5.80, 1.83)),
    "affinity k-NN": (KNNClassifier(weights="affinity"), {}, (5.86, 1.78)),
    "KRI (clip)": (KNNClassifier(weights="kri"), {"reg": KRI_REGS}, (5.29, 1.80)),
    "KRI (clip), P s": (KNNClassifier(weights="kri", consistent=True), {"reg": KRI_REGS}, None),
    "KRR (pinv)": (KNNClassifier(weights="krr", spectrum="pinv"), {"reg": KRR_REGS}, (5.52, 1.69)),
    "SVM-KNN (clip)": (LocalSVC(), {"C": COSTS}, (5.23, 2.25)),
}


def errors_of(name):
    """The test error of one method on each partition, in percent."""
    estimator, grid, _ = METHODS[name]
    errors = []
    for seed in range(N_PARTITIONS):
        S_train, S_test, y_train, y_test = voting_partition(seed)
        chosen = search(estimator, {"n_neighbors": NEIGHBORS, **grid}, seed, S_train, y_train)
        errors.append(100 * (1 - chosen.score(S_test, y_test)))
    return np.array(errors)


def run():
    rows = []
    for name, (_, _, paper) in METHODS.items():
        start = time.perf_counter()
        errors = errors_of(name)
        rows.append(error_row(name, errors, paper, "Table 3", time.perf_counter() - start))
    return rows
