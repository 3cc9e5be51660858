"""Machines on similarities as features, on Voting by the protocol of Chen et al. 2009, Section 7.2, next to Table 3.

There are twenty random 80/20 partitions (seeds 0 to 19). Parameters are chosen from the grids of Table 2 by 10-fold
cross-validation on the training part, with errors pooled over folds; among ties the first is chosen, with C ascending,
then the other parameter. The partitions are not the paper's, which has no LP machine in its tables.
"""

import time
import warnings

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from benchmarks.voting_data import COSTS, error_row, search, voting_partition
from similitude import SimilaritySVC, SimilarityWarning
from similitude.features.lp_machine import LPMachine
from similitude.features.potential_svc import PotentialSVC
from similitude.features.recipes import recipe

N_PARTITIONS = 20
POTENTIAL_GRID = {"C": [10.0**j for j in range(5)], "epsilon": [10.0**j for j in range(-4, 2)]}
# name: estimator, grid, error and standard deviation in Table 3
METHODS = {
    "P-SVM": (PotentialSVC(), POTENTIAL_GRID, (5.34, 1.72)),
    # The kernel S S' is that of the linear machine on rows of similarities as features.
    "SVM, features (linear)": (SimilaritySVC(spectrum="square"), {"C": COSTS}, (5.40, 2.03)),
    "SVM, features (RBF)": (*recipe("RBF SVM"), (5.52, 1.77)),
    "LP machine": (LPMachine(), {"C": [10.0**j for j in range(-3, 4)]}, None),
}


def errors_of(name):
    """Return the test error of one method on each partition, in percent, and the share of training samples it needs."""
    estimator, grid, _ = METHODS[name]
    errors, needed = [], []
    for seed in range(N_PARTITIONS):
        S_train, S_test, y_train, y_test = voting_partition(seed)
        with warnings.catch_warnings():
            # S is known to be indefinite, and cross-validation rejects a C so large that libsvm stops early.
            warnings.simplefilter("ignore", SimilarityWarning)
            warnings.simplefilter("ignore", ConvergenceWarning)
            chosen = search(estimator, grid, seed, S_train, y_train)
        errors.append(100 * (1 - chosen.score(S_test, y_test)))
        columns = getattr(chosen.best_estimator_, "support_columns_", np.arange(len(y_train)))
        needed.append(100 * len(columns) / len(y_train))
    return np.array(errors), np.array(needed)


def run():
    rows = []
    for name, (_, _, paper) in METHODS.items():
        start = time.perf_counter()
        errors, needed = errors_of(name)
        title = f"{name}, needs {needed.mean():.0f}% of the columns"
        rows.append(error_row(title, errors, paper, "Table 3", time.perf_counter() - start))
    return rows
