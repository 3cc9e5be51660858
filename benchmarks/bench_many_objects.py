"""AutoClassifier on many raw objects, of which it never computes the whole matrix: time, memory and error.

Strings of 20 to 60 letters in 50 classes are compared by the Levenshtein distance: each class has ten random words, and
a string is a copy of one of them in which a third to two thirds of the letters were changed, inserted or deleted. The
peer is 5-NN with exact search (``search="stream"``), on the same new strings. Proteins of 300 residues in 20 families,
compared by Smith-Waterman, have at most 1,000 evaluations each. Each case is run in a process of its own.
"""

import resource
import time
import warnings
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import numpy as np
from joblib.externals.loky import get_reusable_executor

from similitude import AutoClassifier, KNNClassifier
from similitude.finders import PairBudget

N_QUERIES, PER_PROTEIN = 500, 1000
LETTERS = np.array(list("abcdefghijklmnopqrstuvwxyz"))
RESIDUES = np.array(list("ACDEFGHIKLMNPQRSTVWY"))


def changed(word, share, letters, rng):
    """Return a copy of a word in which a share of the places was changed, deleted or got a further letter."""
    kinds = rng.choice(4, len(word), p=[1 - share, share / 3, share / 3, share / 3])
    found = []
    for letter, kind in zip(word, kinds):
        if kind != 2:
            found.append(letter if kind in (0, 3) else rng.choice(letters))
        if kind == 3:
            found.append(rng.choice(letters))
    return found


def strings(n, n_classes=50, n_words=10, seed=0):
    """Return n strings of 20 to 60 letters, and their classes."""
    rng = np.random.default_rng(seed)
    words = [[rng.choice(LETTERS, rng.integers(22, 50)) for _ in range(n_words)] for _ in range(n_classes)]
    y = rng.integers(0, n_classes, n)
    found = []
    for label in y.tolist():
        copy = changed(words[label][rng.integers(n_words)], rng.uniform(0.33, 0.67), LETTERS, rng)[:60]
        copy += rng.choice(LETTERS, max(0, 20 - len(copy))).tolist()
        found.append("".join(copy))
    return found, y


def proteins(n, n_families=20, changes=(0.3, 0.6), seed=0):
    """Return n proteins of about 300 residues, of which these shares were changed, and their families."""
    rng = np.random.default_rng(seed)
    parents = [[rng.choice(RESIDUES, 300) for _ in range(5)] for _ in range(n_families)]
    y = rng.integers(0, n_families, n)
    return [
        "".join(changed(parents[label][rng.integers(5)], rng.uniform(*changes), RESIDUES, rng)) for label in y.tolist()
    ], y


def _case(make, n, similarity, budget, n_jobs):
    warnings.simplefilter("ignore")
    X, y = make(n + N_QUERIES)
    train, new = X[:n], X[n:]
    start, cpu = time.perf_counter(), time.process_time()
    auto = AutoClassifier(similarity=similarity, pair_budget=budget, n_jobs=n_jobs, diagnose=False).fit(train, y[:n])
    seconds, cpu = time.perf_counter() - start, time.process_time() - cpu
    start = time.perf_counter()
    error = float(np.mean(auto.predict(new) != y[n:]))
    predicted = time.perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    contract = {"dissimilarity": "negate"} if similarity == "levenshtein" else {}
    start = time.perf_counter()
    peer = KNNClassifier(5, similarity=similarity, search="stream", **contract).fit(train, y[:n])
    peer_error = float(np.mean(peer.predict(new) != y[n:]))
    get_reusable_executor().shutdown(wait=True)  # this process would wait for idle workers
    return {
        "name": f"{similarity}, {n:,} objects | exact search by 5-NN, {N_QUERIES} queries",
        "ours_seconds": seconds,
        "peer_seconds": time.perf_counter() - start,
        "goal": f"error {100 * error:.1f}%, 5-NN {100 * peer_error:.1f}% (at most that); CPU {cpu:.0f} s, "
        f"peak {peak:.1f} GB; {auto.pair_report_.n_pairs / n:.0f} evaluations per object, {N_QUERIES} predictions "
        f"{predicted:.1f} s with {auto.pair_report_.n_per_query:.0f} evaluations each",
    }


def run(n_strings=(12_000, 100_000), n_proteins=(20_000,), n_jobs=2):
    cases = [(strings, n, "levenshtein", PairBudget(), n_jobs) for n in n_strings]
    cases += [(proteins, n, "smith-waterman", PairBudget(PER_PROTEIN * n), n_jobs) for n in n_proteins]
    rows = []
    for case in cases:
        with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as process:
            rows.append(process.submit(_case, *case).result())
    return rows
