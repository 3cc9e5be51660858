"""Test errors on Voting by the protocol of Chen et al. 2009, Section 7.2, next to those of their Table 3.

There are twenty random 80/20 partitions (seeds 0 to 19). Parameters are chosen from the grids of Table 2 by 10-fold
cross-validation on the training part, with errors pooled over folds; among ties the first is chosen, with k ascending,
then the other parameter. The partitions are not the paper's.
"""

import time

import numpy as np
from reproductions.chen2009 import PUBLISHED_3, table_3_methods

from benchmarks.voting_data import error_row, search, voting_partition
from similitude import KNNClassifier

N_PARTITIONS = 20
_RECIPES = table_3_methods()
# name: estimator, grid, error and standard deviation in Table 3
METHODS = {
    name.replace(" k-NN (", " ("): (*_RECIPES[name], PUBLISHED_3["Voting"][name])
    for name in ("k-NN", "affinity k-NN", "KRI k-NN (clip)", "KRR k-NN (pinv)", "SVM-KNN (clip)")
}
METHODS["KRI (clip), P s"] = (KNNClassifier(weights="kri", consistent=True), _RECIPES["KRI k-NN (clip)"][1], None)


def errors_of(name):
    """Return the test error of one method on each partition, in percent."""
    estimator, grid, _ = METHODS[name]
    errors = []
    for seed in range(N_PARTITIONS):
        S_train, S_test, y_train, y_test = voting_partition(seed)
        chosen = search(estimator, grid, seed, S_train, y_train)
        errors.append(100 * (1 - chosen.score(S_test, y_test)))
    return np.array(errors)


def run():
    rows = []
    for name, (_, _, paper) in METHODS.items():
        start = time.perf_counter()
        errors = errors_of(name)
        rows.append(error_row(name, errors, paper, "Table 3", time.perf_counter() - start))
    return rows
