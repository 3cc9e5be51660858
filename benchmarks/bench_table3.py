"""The whole protocol of Table 3 of Chen et al. (2009) on Voting, against the same work with other libraries.

The peers are scikit-learn's estimators under ``GridSearchCV`` on a precomputed matrix, one Clarabel program for each
KRI weight vector, one linear system for each KRR weight vector, one root search for each parameter of local SDA, one
libsvm fit for each neighbourhood and C, and one quadratic program in cvxpy for each P-SVM. Both are timed on the first
of 20 partitions; the peers of the local methods and of the P-SVM are timed on some of its samples or programs and
scaled up. ``python -m reproductions chen2009-table3 --datasets Voting`` runs all of it and prints the errors beside the
paper's.
"""

import time
import warnings

import numpy as np
from reproductions.chen2009 import POTENTIAL_GRID, table_3_methods
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler
from sklearn.svm import SVC

from benchmarks.bench_local_svc import one_machine_each
from benchmarks.bench_neighbors import one_program_each
from benchmarks.bench_potential_svc import program_of
from benchmarks.bench_sda import plain_joint
from benchmarks.voting_data import COSTS, FOLDS, KRR_REGS, NEIGHBORS, search, voting_partition
from similitude import SimilarityWarning
from similitude.features.recipes import recipe

N_PARTITIONS = 20
# The number of samples of a partition on which the peers of the local methods are timed.
SAMPLES = {"KRI": 8, "KRR": 20, "SDA": 3, "SVM-KNN": 40}
# If classes overlap, libsvm takes extremely long at C = 1e5, so that it is stopped after this number of steps.
MAX_ITER = 350_000


class Clip(TransformerMixin, BaseEstimator):
    """Set the negative eigenvalues to zero, as a plain transformer for a pipeline."""

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = True
        return tags

    def fit(self, S, y=None):
        self.values_, self.vectors_ = np.linalg.eigh(S)
        return self

    def fit_transform(self, S, y=None):
        self.fit(S)
        return (self.vectors_ * np.maximum(self.values_, 0)) @ self.vectors_.T

    def transform(self, rows):
        kept = self.vectors_[:, self.values_ > 0]
        return (rows @ kept) @ kept.T


def _grid_search(estimator, grid):
    return lambda X, y: GridSearchCV(estimator, grid, cv=KFold(FOLDS, shuffle=True, random_state=0)).fit(X, y)


def _on_distances(**options):
    knn = KNeighborsClassifier(metric="precomputed", **options)
    return lambda S, y: _grid_search(knn, {"n_neighbors": NEIGHBORS})(1 - S, y)


def _krr(S, y):
    for i in range(SAMPLES["KRR"]):
        order = np.argsort(-S[i], kind="stable")[1:]
        for near in (order[:k] for k in NEIGHBORS):
            for reg in KRR_REGS:
                np.linalg.solve(S[np.ix_(near, near)] + reg * np.eye(len(near)), S[i, near])


def _local_sda(S, y):
    omega = np.unique(S)
    for s in S[: SAMPLES["SDA"]]:
        for k in NEIGHBORS:
            plain_joint(S, y, s, k, omega)


def _svm_knn(S, y):
    n = SAMPLES["SVM-KNN"]
    one_machine_each(S, y, np.arange(n, len(y)), np.arange(n))


def _p_svm(S, y):
    train, _ = next(KFold(FOLDS).split(S))
    signs = np.where(y[train] == y[0], 1.0, -1.0)
    program_of(S[np.ix_(train, train)], signs, 1.0, 1.0, False)[0].solve(solver="CLARABEL")


def peers(n):
    """Return for each method of the table the work, and the factor that scales its seconds to one partition."""
    rbf = {f"svc__{name.split('__')[1]}": values for name, values in recipe("RBF SVM")[1].items()}
    programs = FOLDS * len(POTENTIAL_GRID["C"]) * len(POTENTIAL_GRID["epsilon"])
    return {
        "k-NN": (_on_distances(), 1),
        "affinity k-NN": (_on_distances(weights=lambda D: 1 - D), 1),
        "KRI k-NN (clip)": (lambda S, y: one_program_each(S, y, SAMPLES["KRI"]), n / SAMPLES["KRI"]),
        "KRR k-NN (pinv)": (_krr, n / SAMPLES["KRR"]),
        "Local SDA": (_local_sda, n / SAMPLES["SDA"]),
        "SVM-KNN (clip)": (_svm_knn, n / SAMPLES["SVM-KNN"]),
        "SVM, kernel (clip)": (
            _grid_search(make_pipeline(Clip(), SVC(kernel="precomputed", max_iter=MAX_ITER)), {"svc__C": COSTS}),
            1,
        ),
        "SVM, features (linear)": (_grid_search(SVC(kernel="linear", max_iter=MAX_ITER), {"C": COSTS}), 1),
        "SVM, features (RBF)": (_grid_search(make_pipeline(MinMaxScaler(), SVC(max_iter=MAX_ITER)), rbf), 1),
        "P-SVM": (_p_svm, programs),
    }


def run(names=None):
    for kind in (ConvergenceWarning, SimilarityWarning):
        warnings.simplefilter("ignore", kind)
    S, rows, y, _ = voting_partition(0)
    methods, found = table_3_methods(), []
    for name, (peer, times) in peers(len(y)).items():
        if names is not None and name not in names:
            continue
        estimator, grid = methods[name]
        search(estimator, grid, 0, S[:100, :100], y[:100])  # compiles
        start = time.perf_counter()
        search(estimator, grid, 0, S, y).predict(rows)
        middle = time.perf_counter()
        peer(S, y)
        ours, theirs = middle - start, (time.perf_counter() - middle) * times
        scaled = "" if times == 1 else f" (a slice, times {times:.0f})"
        found.append(
            {
                "name": f"Table 3, one partition of Voting, {name}{scaled}",
                "ours_seconds": ours,
                "peer_seconds": theirs,
                "ratio": theirs / ours,
            }
        )
        print("   ", found[-1], flush=True)
    ours, theirs = (N_PARTITIONS * sum(row[key] for row in found) for key in ("ours_seconds", "peer_seconds"))
    total = f"Table 3, {len(found)} methods, {N_PARTITIONS} partitions of Voting (the first, scaled)"
    goal = "at least 50"
    return [
        *found,
        {"name": total, "ours_seconds": ours, "peer_seconds": theirs, "ratio": theirs / ours, "goal": goal},
    ]
