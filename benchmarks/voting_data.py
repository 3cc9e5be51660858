"""Voting under the value difference metric, the papers' grids, and the papers' way of choosing from them."""

from functools import cache

import numpy as np
from sklearn.model_selection import KFold

from similitude import PathSearchCV, train_test_split
from similitude.datasets import load_voting
from similitude.similarities import VDM

# Chen et al. 2009, Table 2.
NEIGHBORS = [*range(1, 17), 32, 64, 128]
KRI_REGS = [*(10.0**j for j in range(-6, 2)), 1e6]
KRR_REGS = [10.0**j for j in range(-3, 2)]
COSTS = [10.0**j for j in range(-3, 6)]

FOLDS = 10
# Ties go to the smaller value of the first of these, then of the next.
_ORDER = ("n_neighbors", "reg", "eta", "C", "gamma", "rho")


@cache
def voting(weighted=False):
    """The similarities of all samples, the metric learned from all labels, and the labels."""
    data = load_voting()
    S = 1 - VDM(weighted=weighted).fit(data.data, data.target)(data.data, data.data)
    return S, data.target


def voting_partition(seed, weighted=False):
    """One random 80/20 partition: ``S_train, S_test, y_train, y_test``."""
    S, y = voting(weighted)
    return train_test_split(S, y, test_size=0.2, random_state=seed)


def search(estimator, grid, seed, S_train, y_train):
    """The grid point with the fewest errors, pooled over ten random folds, refitted: a fitted ``PathSearchCV``."""
    folds = KFold(FOLDS, shuffle=True, random_state=seed)
    return PathSearchCV(estimator, grid, cv=folds, refit=_fewest_errors(len(y_train))).fit(S_train, y_train)


def pooled_errors(results, n):
    """Errors over all n samples, one count for each grid point."""
    sizes = np.array([len(test) for _, test in KFold(FOLDS).split(np.zeros(n))])
    scores = np.array([results[f"split{i}_test_score"] for i in range(FOLDS)])
    return np.round(n - sizes @ scores).astype(int)


def _fewest_errors(n):
    def choose(results):
        errors = pooled_errors(results, n)
        points = [tuple(point.get(name, 0.0) for name in _ORDER) for point in results["params"]]
        return min(range(len(points)), key=lambda i: (errors[i], points[i]))

    return choose


def error_row(name, errors, paper, table, seconds):
    """A row for the printed table: mean error and standard deviation over partitions beside the paper's."""
    mean = errors.mean()
    row = {
        "name": f"Voting, {name}: error % (std) | {table} ({seconds:.0f} s)",
        "ours_seconds": f"{mean:.2f} ({errors.std(ddof=1):.2f})",
    }
    if paper is not None:
        row["peer_seconds"] = f"{paper[0]:.2f} ({paper[1]:.2f})"
        row["goal"] = f"within one std of {table}: {(mean - paper[0]) / paper[1]:+.2f} std away"
    return row
