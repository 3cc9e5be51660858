"""Growth of LandmarkClassifier's time and memory with the number of samples, and comparison with the SVM.

Objects are binary vectors around prototypes, and their similarity is the number of equal coordinates. Ratios are those
of CPU seconds, which other programs disturb less than elapsed seconds; the columns show elapsed seconds.
"""

import subprocess
import sys
import time
import warnings

import numpy as np

from similitude import LandmarkClassifier, SimilaritySVC
from similitude.similarities import batch

N_LANDMARKS, ALPHA = 500, 1000.0
SIZES = (10_000, 20_000, 40_000, 80_000, 160_000)

SCRIPT = """
import sys
from benchmarks.bench_landmarks import data, fit

def peak():  # getrusage would start with the peak of the parent
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) / 1024 for line in status if line.startswith("VmHWM"))

X, y = data(int(sys.argv[1]))
before = peak()
fit(X, y)
print(before, peak())
"""


@batch
def equal_bits(A, B):
    """Return the number of equal coordinates of binary vectors, as a product of vectors of -1 and 1."""
    signs = [2 * np.asarray(X, dtype=np.float32) - 1 for X in (A, B)]
    return (signs[0] @ signs[1].T + A.shape[1]) / 2


def data(n, seed=0, n_bits=100, flipped=0.35):
    """Return n vectors of two classes, each around 8 prototypes, with a share of the bits flipped."""
    rng = np.random.default_rng(seed)
    prototypes = np.random.default_rng(12).integers(0, 2, (16, n_bits), dtype=np.uint8)
    which = rng.integers(0, 16, n)
    X = prototypes[which]
    for start in range(0, n, 10_000):
        part = X[start : start + 10_000]
        part ^= rng.random(part.shape, dtype=np.float32) < flipped
    return X, which % 2


def fit(X, y):
    return LandmarkClassifier(N_LANDMARKS, alpha=ALPHA, random_state=0, similarity=equal_bits).fit(X, y)


def _seconds(work, runs):
    """Return elapsed and CPU seconds, each of the best run."""
    walls, cpus = [], []
    for _ in range(runs):
        wall, cpu = time.perf_counter(), time.process_time()
        work()
        walls.append(time.perf_counter() - wall)
        cpus.append(time.process_time() - cpu)
    return min(walls), min(cpus)


def _growth():
    """Return a row for each size, with the time and its ratio to that of half the size."""
    rows, last = [], None
    X, y = data(SIZES[-1])
    fit(X[:2000], y[:2000])
    for n in SIZES:
        wall, cpu = _seconds(lambda n=n: fit(X[:n], y[:n]), 2)
        name = f"LandmarkClassifier, {N_LANDMARKS} landmarks, n = {n}: {cpu:.2f} s of the processor"
        rows.append({"name": name, "ours_seconds": wall})
        if last is not None:
            rows[-1]["name"] += ", for twice the samples times"
            rows[-1] |= {"ratio": cpu / last, "goal": "at most 2.30"}
        last = cpu
    return rows


def _memory(n):
    out = subprocess.run([sys.executable, "-c", SCRIPT, str(n)], stdout=subprocess.PIPE, text=True, check=True).stdout
    before, peak = map(float, out.split())
    name = f"  n = {n}: peak memory {peak:.0f} MB ({before:.0f} MB with the data before fit)"
    return [{"name": name, "goal": "under 1000 MB"}]


def _against_the_svm(n_bits, flipped, n=3000):
    X, y = data(n + 3000, 1, n_bits, flipped)
    train, labels, new, truth = X[:n], y[:n], X[n:], y[n:]
    svm = SimilaritySVC(C=0.001, similarity=equal_bits)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        peer = _seconds(lambda: svm.fit(train, labels), 1)
    ours = _seconds(lambda: fit(train, labels), 5)
    right = [100 * np.mean(model.predict(new) == truth) for model in (fit(train, labels), svm)]
    name = (
        f"  n = {n}, {n_bits} bits, {right[0]:.1f} % right, against SimilaritySVC, {right[1]:.1f} %: "
        f"{ours[1]:.2f} s of the processor against {peer[1]:.2f} s"
    )
    times = {"ours_seconds": ours[0], "peer_seconds": peer[0], "ratio": peer[1] / ours[1]}
    return [{"name": name, **times, "goal": "at least 30, within 1 point"}]


def run():
    return _growth() + _memory(SIZES[-1]) + _against_the_svm(100, 0.35) + _against_the_svm(300, 0.4)
