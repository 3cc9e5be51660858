"""The whole grid of C of SimilaritySVC against the same work by libsvm, with and without the eigendecompositions."""

import time
import warnings

import numpy as np
from scipy import linalg
from sklearn.datasets import make_blobs
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import manhattan_distances
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.svm import SVC

from benchmarks.timing import side_by_side
from similitude import PathSearchCV, SimilaritySVC, SimilarityWarning
from similitude._utils.threads import one_blas_thread
from similitude.numerics.machines import solve_machines

COSTS = [10.0**j for j in range(-3, 6)]  # Chen et al. 2009, Table 2
FOLDS = StratifiedKFold(10, shuffle=True, random_state=0)


def _problem(n, std=4.0, n_classes=2):
    """Return classes that touch but do not overlap, if there are two and std is 4; then libsvm solves every C."""
    X, y = make_blobs(n, centers=n_classes, n_features=10, cluster_std=std, random_state=0)
    D = manhattan_distances(X) ** 1.5
    return 1 - D / D.max(), y


def kernels(S, y):
    """Return for each fold the clipped kernel, its labels, the treated rows of the left-out samples, and theirs."""
    folds = []
    for train, test in FOLDS.split(S, y):
        with one_blas_thread():
            values, V = linalg.eigh(S[np.ix_(train, train)], driver="evd", check_finite=False)
            kept = V[:, values > 1e-10 * np.abs(values).max()]
            K = (kept * values[-kept.shape[1] :]) @ kept.T
            rows = (S[np.ix_(test, train)] @ kept) @ kept.T
        folds.append((0.5 * (K + K.T), y[train], rows, y[test]))
    return folds


def by_libsvm(folds, max_iter=-1):
    """Return accuracies, (C, folds), of one SVC for each C and fold."""
    scores = np.empty((len(COSTS), len(folds)))
    for fold, (K, y, rows, truth) in enumerate(folds):
        for c, C in enumerate(COSTS):
            machine = SVC(C=C, kernel="precomputed", max_iter=max_iter).fit(K, y)
            scores[c, fold] = np.mean(machine.predict(rows) == truth)
    return scores


def ours(folds):
    """Return the same accuracies by our solver, for two classes, and the largest duality gap."""
    scores, gap = np.empty((len(COSTS), len(folds))), 0.0
    for fold, (K, y, rows, truth) in enumerate(folds):
        for c, machines in enumerate(solve_machines(K, y, 2, COSTS)):
            values = (rows @ machines.beta + machines.intercept)[:, 0]
            scores[c, fold] = np.mean((values >= 0) == truth)
            gap = max(gap, machines.solutions[0].gap)
    return scores, gap


def _cpu_seconds(work):
    start = time.process_time()
    work()
    return time.process_time() - start


def run():
    for category in (SimilarityWarning, ConvergenceWarning):
        warnings.simplefilter("ignore", category)
    rows = []
    for n in (500, 1000):
        S, y = _problem(n)
        folds = kernels(S, y)
        (scores, gap), theirs = ours(folds), by_libsvm(folds)
        # libsvm may misclassify another sample or two, because it stops at 1e-3.
        assert np.max(np.abs(scores - theirs)) < 3 / (n / 10)
        name = f"SVM (clip), 9 C, 10 folds, n = {n}, 2 classes"
        row = side_by_side(
            f"{name}: the machines on given kernels, to a duality gap of {gap:.0e}, against libsvm",
            lambda folds=folds: ours(folds),
            lambda folds=folds: by_libsvm(folds),
        )
        rows.append({**row, "goal": "at least 4"})
        path = PathSearchCV(SimilaritySVC(), {"C": COSTS}, cv=FOLDS, refit=False)
        row = side_by_side(
            "  the whole search against eigh and SVC by hand, eigendecompositions included",
            lambda path=path, S=S, y=y: path.fit(S, y),
            lambda S=S, y=y: by_libsvm(kernels(S, y)),
        )
        assert np.allclose(path.cv_results_["mean_test_score"], scores.mean(axis=1), rtol=0, atol=1e-12)
        rows.append({**row, "goal": "at least 1"})
    S, y = _problem(500)
    plain = GridSearchCV(SimilaritySVC(), {"C": COSTS}, cv=FOLDS, refit=False)
    own = side_by_side(
        "  the same at n = 500 against our own plain fits", lambda: path.fit(S, y), lambda: plain.fit(S, y), runs=1
    )
    assert np.array_equal(path.cv_results_["mean_test_score"], plain.cv_results_["mean_test_score"])
    return [*rows, own, _overlapping()]


def _overlapping():
    """Classes that overlap, one fold; libsvm is stopped after a million steps."""
    folds = kernels(*_problem(1000, 9.0))[:1]
    ours(folds)
    row = {"ours_seconds": min(_cpu_seconds(lambda: ours(folds)) for _ in range(3))}
    row["peer_seconds"] = _cpu_seconds(lambda: by_libsvm(folds, 1_000_000))
    name = "SVM (clip), 9 C, one fold, n = 1000, classes that overlap: the machines; libsvm stopped after 1e6 steps"
    return {"name": name, **row, "ratio": row["peer_seconds"] / row["ours_seconds"]}
