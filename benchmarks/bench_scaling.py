"""Growth of time and memory with the number of samples, for methods with and without an n x n matrix.

Each measurement runs in its own process, which has its own peak of memory. Objects are binary vectors of 128 bits, and
the counting similarity is one matrix product; the graph works on vectors of 8 numbers and counts evaluations. The
coefficients in docs/scaling.md come from here.
"""

import json
import os
import subprocess
import sys

SCRIPT = """
import json, resource, sys, time
import numpy as np
from similitude import KNNClassifier, LandmarkClassifier, SimilaritySVC
from similitude.similarities import batch

what, n = sys.argv[1], int(sys.argv[2])
rng = np.random.default_rng(0)

@batch
def counting(A, B):
    return A @ B.T

@batch
def near(A, B):
    return -((A[:, None] - B[None]) ** 2).sum(axis=2)

def bits(m):
    centres = np.where(np.random.default_rng(1).random((10, 128)) < 0.5, -1, 1).astype(np.float32)
    y, X = rng.integers(10, size=m), np.empty((m, 128), dtype=np.float32)
    for start in range(0, m, 10_000):  # so that the peak of memory is not that of making the data
        rows = slice(start, start + 10_000)
        X[rows] = np.where(rng.random(X[rows].shape, dtype=np.float32) < 0.3, -centres[y[rows]], centres[y[rows]])
    return X, y

X, y = bits(n) if what != "graph" else (rng.normal(size=(n, 8)), rng.integers(10, size=n))
new = bits(1000)[0] if what != "graph" else rng.normal(size=(200, 8))
model = {
    "matrix": lambda: KNNClassifier(10, similarity=counting),
    "stream": lambda: KNNClassifier(10, similarity=counting, search="stream"),
    "graph": lambda: KNNClassifier(10, similarity=near, search="graph"),
    "landmarks": lambda: LandmarkClassifier(500, similarity=counting),
    "svm": lambda: SimilaritySVC(similarity=counting),
}[what]()
type(model)(**model.get_params()).fit(X[:1000], y[:1000]).predict(new[:50])  # compiles
start = time.process_time()
model.fit(X, y)
fitted = time.process_time()
model.predict(new)
done = time.process_time()
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
evaluations = [getattr(model, name, None) for name in ("n_evaluations_", "n_evaluations_per_query_")]
print(json.dumps([fitted - start, done - fitted, peak, *evaluations]))
"""
SIZES = {
    "matrix": [1000, 10_000, 100_000],
    "stream": [1000, 10_000, 100_000, 1_000_000],
    "landmarks": [1000, 10_000, 100_000, 1_000_000],
    "svm": [1000, 2000, 4000],
    "graph": [1000, 10_000, 100_000],
}


def measured(what, n):
    """Return CPU seconds for fit and for predicting 1,000 samples (200 with the graph), MB, and evaluations."""
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    command = [sys.executable, "-c", SCRIPT, what, str(n)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, env=environment)
    return json.loads(done.stdout.splitlines()[-1])


def run(sizes=None):
    rows = []
    for what, numbers in (sizes or SIZES).items():
        for n in numbers:
            fit, predict, peak, built, asked = measured(what, n)
            counts = "" if built is None else f", evaluations: {built / n:.0f} a sample, {np_mean(asked):.0f} a query"
            name = f"{what}, n = {n}: fit | predict, peak {peak:.0f} MB{counts}"
            rows.append({"name": name, "ours_seconds": f"{fit:.2f} s", "peer_seconds": f"{predict:.2f} s"})
            print("   ", rows[-1], flush=True)
    return rows


def np_mean(value):
    """Return the mean of one number or of several."""
    values = value if isinstance(value, list) else [value]
    return sum(values) / len(values)
