"""Hours and memory of AutoClassifier, on one core and on a cluster: two sizes are measured, larger ones extrapolated.

Made-up hits (``made_hits.py``) and strings compared by the Levenshtein distance (``bench_many_objects.py``) of two
sizes are fitted, each in a process of its own on one core. The CPU time within folds is counted apart: on a cluster the
workers share it, while the client does the rest (comparing objects, choosing and calibrating, the last fits). The model
is a straight line through both sizes, in the number of hits or of strings; the time for comparing all pairs grows as
their number. Nothing above the measured sizes is run, and nothing is extrapolated if the time without that for pairs
grows by more than 2.3 for twice the size, for then no straight line describes it. The columns are the hours of one core
and, as "peer", those with ``WORKERS`` workers.
"""

import json
import math
import os
import subprocess
import sys

HITS, STRINGS = (25_000, 50_000), (3_000, 6_000)
LARGER = {"hits": (100_000, 1_000_000, 10_000_000), "strings": (25_000, 100_000)}
HITS_EACH = (10, 45)
"""The numbers of hits of a sample for which the model is shown; the measured ones have about 45."""
WORKERS = 20
MOST_GROWTH = 2.3
SCRIPT = """
import json, resource, sys, time, warnings
import numpy as np
from scipy import sparse
from benchmarks.bench_many_objects import strings
from benchmarks.made_hits import PER_CLASS, Families
from similitude import AutoClassifier
from similitude.auto import comparing
from similitude.evaluation import engine
from similitude.finders import PairBudget

warnings.simplefilter("ignore")
kind, n = sys.argv[1], int(sys.argv[2])
jobs, compared = [], [0.0]


def timed(function, times):
    def wrapped(*values, **named):
        start = time.process_time()
        try:
            return function(*values, **named)
        finally:
            times.append(time.process_time() - start)

    return wrapped


engine.evaluate_fold = timed(engine.evaluate_fold, jobs)
comparing.compare_objects = timed(comparing.compare_objects, compared)
auto = AutoClassifier(diagnose=False)
if kind == "hits":
    families = Families(n, max(20, n // PER_CLASS))
    rows, columns, bits = families.among()
    X, y, size = sparse.csr_matrix((bits, (rows, columns)), shape=(n, n)), families.label, len(bits)
else:
    X, y = strings(n)
    auto.set_params(similarity="levenshtein", pair_budget=PairBudget(search="all"))
    comparing.MANY, size = 0, n  # the methods that are used with many objects
start = time.process_time()
auto.fit(X, y)
seconds = time.process_time() - start
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
print(json.dumps([size, seconds, sum(jobs), max(jobs), sum(compared), peak]))
"""


def measured(kind, n):
    """Return the size, the CPU seconds (all, in folds, in the longest job, for pairs) and the peak memory in bytes."""
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    command = [sys.executable, "-c", SCRIPT, kind, str(n)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, env=environment)
    return json.loads(done.stdout.splitlines()[-1])


def line(small, large, values, at):
    """Return the value at a size on the line through two; one through the origin if the line falls or is steeper."""
    slope = (values[1] - values[0]) / (large - small)
    if slope <= 0 or values[1] - slope * large < 0:
        return values[1] * at / large
    return values[1] + slope * (at - large)


def growth_of(found):
    """Return the factor by which the seconds without those for pairs grow if the size is doubled."""
    (small, *low), (large, *high) = found
    return ((high[0] - high[3]) / (low[0] - low[3])) ** (math.log(2) / math.log(large / small))


def model(found, at, pairs):
    """Return the hours of one core, those on the cluster, and the memory of a worker in GB."""
    (small, *low), (large, *high) = found
    folds, longest, memory = (line(small, large, (low[i], high[i]), at) for i in (1, 2, 4))
    rest = line(small, large, [each[0] - each[1] - each[3] for each in (low, high)], at)
    comparing = high[3] * pairs
    alone = rest + comparing + folds
    shared = rest + comparing + max(folds / WORKERS, longest)
    return alone / 3600, shared / 3600, memory / 1e9


def run(hits=HITS, strings=STRINGS, larger=None):
    rows = []
    for kind, sizes in (("hits", hits), ("strings", strings)):
        found = []
        for n in sizes:
            size, seconds, folds, longest, pairs, peak = measured(kind, n)
            found.append((size, seconds, folds, longest, pairs, peak))
            name = f"{kind}, n = {n:,}, measured" + (f", {size:,} hits" if kind == "hits" else "")
            about = f"folds {folds:.0f} s, longest job {longest:.1f} s, pairs {pairs:.1f} s, peak {peak / 1e9:.2f} GB"
            rows.append({"name": name, "ours_seconds": f"{seconds:.0f} s", "goal": about})
            print("   ", rows[-1], flush=True)
        growth = growth_of(found)
        name = f"{kind}: growth for twice the size, without pairs"
        rows.append({"name": name, "ours_seconds": f"{growth:.2f}", "goal": f"at most {MOST_GROWTH}"})
        print("   ", rows[-1], flush=True)
        for n in (larger or LARGER)[kind] if growth <= MOST_GROWTH else ():
            for each in HITS_EACH if kind == "hits" else (1,):
                squared = (n / sizes[1]) ** 2 if kind == "strings" else 0.0
                alone, shared, memory = model(found, n * each, squared)
                name = f"{kind}, n = {n:,}, extrapolated" + (f", {n * each:,} hits" if kind == "hits" else "")
                about = f"{WORKERS} workers; {memory:.1f} GB"
                rows.append(
                    {"name": name, "ours_seconds": f"{alone:.2f} h", "peer_seconds": f"{shared:.2f} h", "goal": about}
                )
    return rows
