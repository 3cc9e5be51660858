"""AutoClassifier on 10% of all pairs, and on the full matrix, on the sets of the arena with more than 400 samples.

Each set is divided as in the arena (80% for training). The function that is evaluated reads the matrix and counts its
calls: 10% of the pairs of the training samples in ``fit``, and about 10% of the training samples for a new one. Both
sides have all default methods, evaluated once on five folds. Partitions 0 and above are those of the page of the arena;
the default here is 1000 and 1001, which are for development.
"""

import time
import warnings

import numpy as np

from benchmarks.arena.cells import MAP
from benchmarks.arena.data import load
from similitude import AutoClassifier
from similitude.similarities import Measure

LEAST = 400
SHARE = 0.1
NAMES = ("dtw_osuleaf", "usps_directed_hausdorff", "voting", "woodyplants50")


class Counted:
    """The entries of a matrix as a function on positions, which counts its evaluations."""

    def __init__(self, matrix):
        self.matrix, self.count = matrix, 0

    def __call__(self, A, B):
        self.count += len(A) * len(B)
        return self.matrix[np.ix_(A, B)]


def compared(dataset, partition, share=SHARE, full=True, **options):
    """Return the errors on the test part with some pairs and with all, the evaluations and the fitted classifier."""
    from benchmarks.arena.data import partition_of

    train, test = partition_of(dataset.labels, partition)
    y, n = dataset.labels, len(train)
    symmetric = bool(np.allclose(dataset.matrix, dataset.matrix.T))
    function, contract = Counted(dataset.matrix), {"dissimilarity": MAP} if dataset.kind == "dissimilarity" else {}
    orientation = dataset.kind
    measure = Measure(function, "entries", batch=True, symmetric=symmetric, orientation=orientation)
    possible = n * (n - 1) // (2 if symmetric else 1)
    options = {"random_state": partition, "diagnose": False, **options}
    auto = AutoClassifier(pair_budget=share * possible, similarity=measure, **contract, **options)
    start = time.perf_counter()
    auto.fit(train.tolist(), y[train])
    seconds, in_fit = time.perf_counter() - start, function.count
    some = float(np.mean(auto.predict(test.tolist()) != y[test]))
    each = (function.count - in_fit) / len(test)
    everything = np.nan
    full_seconds = np.nan
    if full:
        start = time.perf_counter()
        S = dataset.matrix
        whole = AutoClassifier(**contract, **options).fit(S[np.ix_(train, train)], y[train])
        full_seconds = time.perf_counter() - start
        everything = float(np.mean(whole.predict(S[np.ix_(test, train)]) != y[test]))
    return {
        "some": some,
        "all": everything,
        "seconds": seconds,
        "full_seconds": full_seconds,
        "in_fit": in_fit,
        "possible": possible,
        "each": each,
        "auto": auto,
    }


def run(partitions=(1000, 1001), names=NAMES, n_repeats=1, **options):
    warnings.simplefilter("ignore")
    rows = []
    for dataset in load(names):
        if len(dataset.labels) <= LEAST:
            continue
        found = [compared(dataset, partition, n_repeats=n_repeats, **options) for partition in partitions]
        some, everything = (100 * np.mean([each[key] for each in found]) for key in ("some", "all"))
        last = found[-1]
        spent = ", ".join(f"{what} {count:,}" for what, count in last["auto"].pair_report_.spent.items() if count)
        rows.append(
            {
                "name": f"{dataset.name}, {last['in_fit']:,} of {last['possible']:,} pairs | full matrix",
                "ours_seconds": float(np.mean([each["seconds"] for each in found])),
                "peer_seconds": float(np.mean([each["full_seconds"] for each in found])),
                "goal": f"error {some:.1f}%, full {everything:.1f}%: {some - everything:+.1f} points (at most 1.5); "
                f"{last['each']:.0f} evaluations for a new sample; {spent}",
            }
        )
    return rows
