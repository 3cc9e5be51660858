"""The column on Voting of Table 1 in Chen, Gupta & Recht 2009, and the effect of untreated test rows (Section 4).

For Voting there are twenty random 80/20 partitions (seeds 0 to 19). Parameters are chosen from the paper's grids by
10-fold cross-validation on the training part, with errors pooled over folds; among ties the first is chosen. The
partitions are not the paper's.

Section 4.3 reports the effect of untreated rows on the paper's Protein data, which
`python -m reproductions chen2009kernels-section43` computes again. Here the similarity is that of
`make_negative_direction`, in which an informative direction has a negative eigenvalue, as some of Protein's.
"""

import time
import warnings
from functools import cache

import numpy as np
from reproductions.chen2009_kernels import ETAS, PUBLISHED, TENS, methods
from reproductions.chen2009_kernels import regularizer as nearer
from reproductions.rows import predict_untreated
from sklearn.exceptions import ConvergenceWarning

from benchmarks.voting_data import error_row, pooled_errors, search, voting_partition
from similitude import (
    LearnedSpectrumSVC,
    RobustSVC,
    SimilaritySVC,
    SimilarityWarning,
    train_test_split,
)
from similitude.datasets import make_negative_direction

N_PARTITIONS, MORE_PARTITIONS = 20, 100
LEARNED = "learned spectrum"
# name: estimator, grid, error and standard deviation in Table 1
METHODS = {name: (*methods()[name], figure) for name, figure in PUBLISHED["Voting"].items()}
METHODS[LEARNED] = (METHODS[LEARNED][0], {"eta": ETAS, "gamma": TENS}, METHODS[LEARNED][2])
CHEAP = [name for name in METHODS if name not in (LEARNED, "robust SVM")]


@cache
def fewest_errors(name, seed, weighted=False):
    """Return the errors in cross-validation, on the training part of a partition, at the best point of the grid."""
    S_train, _, y_train, _ = voting_partition(seed, weighted)
    estimator, grid, _ = METHODS[name]
    return int(pooled_errors(search(estimator, grid, seed, S_train, y_train).cv_results_, len(y_train)).min())


def regularizer(seed, weighted=False):
    """Return the target of Section 3.4, chosen by errors of clip and flip in the folds that choose eta and gamma."""
    return nearer(*(fewest_errors(f"SVM, {spectrum}", seed, weighted) for spectrum in ("clip", "flip")))


def error_of(name, seed, weighted=False, grid=None):
    """Return the test error of one method on one partition, in percent."""
    estimator, whole, _ = METHODS[name]
    S_train, S_test, y_train, y_test = voting_partition(seed, weighted)
    if name == LEARNED:
        estimator = LearnedSpectrumSVC(target=regularizer(seed, weighted))
    chosen = search(estimator, grid or whole, seed, S_train, y_train)
    return 100 * (1 - chosen.score(S_test, y_test))


def errors_of(name, n_partitions=N_PARTITIONS, weighted=False):
    """Return the test error of one method on each partition, in percent."""
    with warnings.catch_warnings():
        # S is known to be indefinite, and cross-validation rejects a C so large that libsvm stops early.
        warnings.simplefilter("ignore", SimilarityWarning)
        warnings.simplefilter("ignore", ConvergenceWarning)
        return np.array([error_of(name, seed, weighted) for seed in range(n_partitions)])


# name: estimator, errors in Section 4.3 with rows treated and untreated. The parameters are set, not searched; the
# paper's grid of rho ends at 1e3.
UNTREATED = {
    "learned spectrum": (LearnedSpectrumSVC(eta=0.001, gamma=0.1), (2.93, 48.10)),
    "SVM, clip": (SimilaritySVC(C=10.0, spectrum="clip"), None),
    "SVM, flip": (SimilaritySVC(C=10.0, spectrum="flip"), (4.14, 41.38)),
    "robust SVM, rho 1": (RobustSVC(C=10.0, rho=1.0), None),
    "robust SVM, rho 1e3": (RobustSVC(C=10.0, rho=1e3), (18.28, 38.62)),
    "robust SVM, rho 1e6": (RobustSVC(C=10.0, rho=1e6), None),
}
N_DATASETS = 10


def treated_and_untreated(model, seed):
    """Return test errors in percent on one data set with a negative direction, with rows treated and untreated."""
    data = make_negative_direction(random_state=seed)
    S_train, S_test, y_train, y_test = train_test_split(data.S, data.y, random_state=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SimilarityWarning)
        model.fit(S_train, y_train)
        said = model.predict(S_test), predict_untreated(model, S_train, y_train, S_test)
    return tuple(100 * float(np.mean(answer != y_test)) for answer in said)


def _untreated_rows():
    for name, (model, paper) in UNTREATED.items():
        treated, untreated = np.mean([treated_and_untreated(model, seed) for seed in range(N_DATASETS)], axis=0)
        there = "" if paper is None else f"; the paper's, on Protein: {paper[0]:.2f} | {paper[1]:.2f}"
        yield {
            "name": f"negative direction, {name}: error %, rows treated | untreated",
            "ours_seconds": f"{treated:.1f}",
            "peer_seconds": f"{untreated:.1f}",
            "goal": f"{untreated - treated:.1f} points lost{there}",
        }


def _luck_row(n_sets=30):
    """Return a row that shows how much the mean over twenty partitions depends on their choice."""
    means = errors_of("k-NN", n_sets * N_PARTITIONS).reshape(n_sets, N_PARTITIONS).mean(axis=1)
    return {
        "name": f"Voting, VDM, k-NN, mean error % of {n_sets} sets of {N_PARTITIONS} partitions: lowest | highest",
        "ours_seconds": f"{means.min():.2f}",
        "peer_seconds": f"{means.max():.2f}",
    }


def run():
    rows = list(_untreated_rows())
    settings = [(name, N_PARTITIONS, weighted) for weighted in (False, True) for name in METHODS]
    settings += [(name, MORE_PARTITIONS, False) for name in CHEAP]
    for name, n_partitions, weighted in settings:
        start = time.perf_counter()
        errors = errors_of(name, n_partitions, weighted)
        seconds = time.perf_counter() - start
        title = f"{'weighted VDM' if weighted else 'VDM'}, {name}, {n_partitions} partitions"
        rows.append(error_row(title, errors, METHODS[name][2], "Table 1", seconds))
    rows.append(_luck_row())
    return rows
