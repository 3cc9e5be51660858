"""The maximum-entropy solver of SDA against root searches, and whole grids of local SDA against the plain definition.

The plain definition is that of ``tests/reference/sda.py``, with NumPy's sums for the centroids: for each sample and
each k, the centroids and means are computed anew, with one ``scipy.optimize.brentq`` for each parameter. It is timed on
a few samples and scaled. Protein is read from the folder SIMILITUDE_DATA, from the user's cache, or downloaded once.
"""

import time

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import KFold
from tests.reference import sda as reference

from benchmarks.timing import best_of
from benchmarks.voting_data import NEIGHBORS, voting
from similitude import PathSearchCV
from similitude.base import GridFit
from similitude.datasets import fetch_protein
from similitude.generative.local_sda import LocalSDA
from similitude.generative.max_entropy import MaximumEntropy

ALPHAS = [1e-6, 1e-3, 0.01, 0.1, 0.5, 0.9]  # Cazzanti, Gupta & Srivastava 2009
FOLDS = KFold(10, shuffle=True, random_state=0)
N_PLAIN = 2


def _solver(size, n_problems=100_000, n_root_searches=10):
    """Return the time per distribution, with and without the table of Omega."""
    rng = np.random.default_rng(size)
    omega = rng.random(size)
    below = rng.random(n_problems)
    family = MaximumEntropy(omega)
    table = best_of(lambda: MaximumEntropy(omega))
    ours = best_of(lambda: family.fit(below, 1 - below)) / n_problems
    means = family.similarities(below, 1 - below)[:n_root_searches]
    peer = best_of(lambda: [reference.max_entropy(omega, mean) for mean in means], 1) / n_root_searches
    lambdas = family.parameters(family.fit(below, 1 - below))[0]
    assert np.allclose(lambdas[:n_root_searches], [reference.max_entropy(omega, mean) for mean in means], rtol=1e-8)
    return {
        "name": f"one distribution on {size} values (its table: {1e3 * table:.1f} ms): against brentq",
        "ours_seconds": f"{1e6 * ours:.2f} us",
        "peer_seconds": f"{1e6 * peer:.0f} us",
        "ratio": peer / ours,
    }


def _search(S, y, grid):
    return PathSearchCV(LocalSDA(), grid, cv=FOLDS, refit=False, error_score="raise").fit(S, y)


def plain_joint(S, y, s, k, omega):
    """Return the joint log-probabilities of one sample by the definition, without the fallback."""
    nearest = np.argsort(-s, kind="stable")[:k]
    members = {g: nearest[y[nearest] == g] for g in np.unique(y[nearest])}
    centroids = {h: i[np.argmax(S[np.ix_(i, i)].sum(axis=0))] for h, i in members.items()}
    return {
        g: np.log((len(i) + 1) / (k + len(set(y))))
        + sum(reference.log_pmf(omega, reference.fitted(omega, S[i, mu]), s[mu]) for mu in centroids.values())
        for g, i in members.items()
    }


def _voting():
    S, y = voting()
    grid = {"n_neighbors": NEIGHBORS}
    _search(S, y, grid)
    ours = best_of(lambda: _search(S, y, grid))
    train, test = next(iter(FOLDS.split(S)))
    block, rows = S[np.ix_(train, train)], S[np.ix_(test, train)]
    start = time.perf_counter()
    omega = np.unique(block)
    once = time.perf_counter() - start
    start = time.perf_counter()
    for s in rows[:N_PLAIN]:
        for k in NEIGHBORS:
            plain_joint(block, y[train], s, k, omega)
    peer = (time.perf_counter() - start) * len(y) / N_PLAIN + once * FOLDS.get_n_splits()

    def plain_fits():
        for k in NEIGHBORS:
            clone(LocalSDA(k)).fit(block, y[train]).predict(rows)

    own = best_of(plain_fits, 1)
    points = [{"n_neighbors": k} for k in NEIGHBORS]
    path = best_of(lambda: GridFit(LocalSDA(), block, y[train], points).answers(rows, "predict"))
    return [
        {
            "name": f"local SDA, 19 k, 10 folds, Voting (|Omega| = {len(omega)}): against the plain definition "
            f"({N_PLAIN} of {len(y)} samples, scaled)",
            "ours_seconds": ours,
            "peer_seconds": peer,
            "ratio": peer / ours,
            "goal": "at least 100",
        },
        {
            "name": "  one of the folds: against our own plain fits",
            "ours_seconds": path,
            "peer_seconds": own,
            "ratio": own / path,
        },
    ]


def _training_pass(S, y):
    """Fit regularized local SDA for every k in each fold: the models of the training samples' neighbourhoods."""
    for train, _ in FOLDS.split(S):
        GridFit(LocalSDA(alpha=0.1), S[np.ix_(train, train)], y[train], [{"n_neighbors": k} for k in NEIGHBORS])


def _protein():
    try:
        protein = fetch_protein()
    except OSError as error:
        return [{"name": f"Protein: not run ({str(error)[:60]}...)"}]
    S, y = protein.D.max() - protein.D, protein.y
    plain, whole = {"n_neighbors": NEIGHBORS}, {"n_neighbors": NEIGHBORS, "alpha": ALPHAS}
    _search(S, y, whole)
    local, training, regularized = [], [], []
    for _ in range(5):
        local.append(best_of(lambda: _search(S, y, plain), 1))
        training.append(best_of(lambda: _training_pass(S, y), 1))
        regularized.append(best_of(lambda: _search(S, y, whole), 1))
    local, training, regularized = min(local), min(training), min(regularized)
    return [
        {"name": "local SDA, 19 k, 10 folds, Protein", "ours_seconds": local},
        {"name": "  one pass over the training samples' neighbourhoods per k and fold", "ours_seconds": training},
        {
            "name": "  regularized, 19 k x 6 alpha: against these two together",
            "ours_seconds": regularized,
            "peer_seconds": local + training,
            "ratio": (local + training) / regularized,
            "goal": f"under twice local + pass: {regularized / (2 * local + training):.2f} of it",
        },
    ]


def run():
    return [*(_solver(size) for size in (17, 10_000, 100_000)), *_voting(), *_protein()]
