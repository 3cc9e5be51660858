"""Voting under the value difference metric, the papers' grids, and the papers' way of choosing from them."""

from reproductions.chen2009 import COSTS, KRI_REGS, KRR_REGS, NEIGHBORS
from reproductions.recipe import voting_similarities as voting
from sklearn.model_selection import KFold

from similitude import train_test_split
from similitude.experiments import selection

__all__ = ["COSTS", "KRI_REGS", "KRR_REGS", "NEIGHBORS", "error_row", "pooled_errors", "search", "voting_partition"]

FOLDS = 10


def voting_partition(seed, weighted=False):
    """Return one random 80/20 partition: ``S_train, S_test, y_train, y_test``."""
    S, y = voting(weighted)
    return train_test_split(S, y, test_size=0.2, random_state=seed)


def search(estimator, grid, seed, S_train, y_train):
    """Return a ``PathSearchCV`` refitted at the grid point with the fewest errors, pooled over ten random folds."""
    return selection.pooled_search(estimator, grid, S_train, y_train, KFold(FOLDS, shuffle=True, random_state=seed))


def pooled_errors(results, n):
    """Return the number of errors over all n samples for each grid point."""
    return selection.pooled_errors(results, [len(test) for _, test in KFold(FOLDS).split(range(n))])


def error_row(name, errors, paper, table, seconds):
    """Return a row for the printed table, with mean error and standard deviation over partitions and the paper's."""
    mean = errors.mean()
    row = {
        "name": f"Voting, {name}: error % (std) | {table} ({seconds:.0f} s)",
        "ours_seconds": f"{mean:.2f} ({errors.std(ddof=1):.2f})",
    }
    if paper is not None:
        row["peer_seconds"] = f"{paper[0]:.2f} ({paper[1]:.2f})"
        row["goal"] = f"within one std of {table}: {(mean - paper[0]) / paper[1]:+.2f} std away"
    return row
