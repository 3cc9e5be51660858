"""The whole grid of k and C of LocalSVC against one scikit-learn SVC for each test sample and grid point."""

import numpy as np
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.svm import SVC

from benchmarks.timing import side_by_side
from similitude import LocalSVC, PathSearchCV, train_test_split
from similitude.datasets import load_voting
from similitude.similarities import VDM

GRID = {"n_neighbors": [*range(1, 17), 32, 64, 128], "C": [10.0**j for j in range(-3, 6)]}  # Chen et al. 2009, Table 2
FOLDS = StratifiedKFold(10, shuffle=True, random_state=0)


def _voting():
    """Return the training part of one 80/20 partition."""
    voting = load_voting()
    X, y = voting.data, voting.target
    S = 1 - VDM().fit(X, y)(X, X)
    S_train, _, y_train, _ = train_test_split(S, y, test_size=0.2, stratify=y, random_state=0)
    return S_train, y_train


def one_machine_each(S, y, train, test):
    """Return predictions, (samples, k, C), by one decomposition per sample and k; pure neighbourhoods are skipped."""
    answers = np.empty((len(test), len(GRID["n_neighbors"]), len(GRID["C"])), dtype=y.dtype)
    for i, x in enumerate(test):
        order = train[np.argsort(-S[x, train], kind="stable")]
        for j, k in enumerate(GRID["n_neighbors"]):
            near = order[:k]
            answers[i, j] = y[near[0]]
            if np.all(y[near] == y[near[0]]):
                continue
            values, V = np.linalg.eigh(S[np.ix_(near, near)])
            kept = values > 1e-10 * np.abs(values).max()
            K = (V * np.where(kept, values, 0.0)) @ V.T
            row = V @ (kept * (V.T @ S[x, near]))
            for c, C in enumerate(GRID["C"]):
                answers[i, j, c] = SVC(C=C, kernel="precomputed").fit(K, y[near]).predict(row[None])[0]
    return answers


def run():
    S, y = _voting()
    train, test = next(FOLDS.split(S, y))
    path = PathSearchCV(LocalSVC(), GRID, cv=FOLDS, refit=False)
    plain = GridSearchCV(LocalSVC(), GRID, cv=FOLDS, refit=False)
    share = len(y) / len(test)
    row = side_by_side(
        f"SVM-KNN, 19 k, 9 C, 10 folds, Voting: against one SVC each (timed on one fold, times {share:.2f})",
        lambda: path.fit(S, y),
        lambda: one_machine_each(S, y, train, test),
        runs=2,
    )
    row["peer_seconds"] *= share
    row["ratio"] *= share
    own = side_by_side("  the same against our own plain fits", lambda: path.fit(S, y), lambda: plain.fit(S, y), runs=1)
    assert np.array_equal(path.cv_results_["mean_test_score"], plain.cv_results_["mean_test_score"])
    return [{**row, "goal": "at least 10"}, own]
