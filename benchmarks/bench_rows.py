"""AutoClassifier without a budget from 1,000 to 7,291 samples of Pen Digits, beside the usual single answers.

Pen Digits (8 points of a pen, dynamic time warping) has ten classes, and errors are those on the 3,498 digits of the
archive's test part. All have two workers, and each runs in a process of its own; memory is the largest sum of the
proportional set sizes of that process and its workers, which count shared pages once. The peers are k-NN and KRI, each
with its grid searched by cross-validation, and an RBF SVM on the 16 coordinates, which needs features. One row shows
where the time of one exact SimilaritySVC goes. Data are read from the folder that SIMILITUDE_DATA names. The last rows
are from a memmap of 20,000 rows in float32: clusters of unequal shapes, compared by a distance that is not metric.
"""

import json
import os
import resource
import subprocess
import sys
import tempfile
import threading
import time
import warnings
from pathlib import Path

import numpy as np
from joblib.externals.loky import get_reusable_executor
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from benchmarks.bench_answer import _folder, _pen
from similitude import AutoClassifier, PathSearchCV, SimilaritySVC
from similitude.auto import methods
from similitude.kernel import _machines
from similitude.similarities import pairwise

MINUTES = {1000: 0.5, 2000: 1.0, 4000: 2.5, 7291: 6.0}
"""The number of samples, and the minutes within which all methods are to be evaluated on two quiet cores."""
N_EXACT = 4000
N_MAPPED, MAPPED_MINUTES, N_NEW = 20_000, 20.0, 2_000
C_AND_GAMMA = {"svc__C": [1, 10, 100, 1000], "svc__gamma": [0.01, 0.03, 0.1, 0.3, 1]}
CONTRACT = {"dissimilarity": "max-minus"}


def _searched(name):
    estimator, grid = methods([name], **CONTRACT)[name]
    return PathSearchCV(estimator, grid, cv=5, n_jobs=2)


MODELS = {
    "all methods": lambda: AutoClassifier(n_jobs=2, **CONTRACT),
    "tuned k-NN": lambda: _searched("k-NN"),
    "KRI": lambda: _searched("KRI k-NN"),
    "RBF SVM on features": lambda: GridSearchCV(make_pipeline(StandardScaler(), SVC()), C_AND_GAMMA, cv=5, n_jobs=2),
}


class Memory(threading.Thread):
    """Watches the memory of this process and its children, in MB."""

    def __init__(self):
        super().__init__(daemon=True)
        self.peak, self._done = 0.0, threading.Event()

    def run(self):
        while not self._done.wait(1.0):
            self.peak = max(self.peak, self.now())

    def now(self):
        """Return the sum of the proportional set sizes."""
        own = str(os.getpid())
        children = Path(f"/proc/{own}/task/{own}/children").read_text().split()
        return sum(self._size(number) for number in [own, *children])

    def _size(self, number):
        try:
            lines = Path(f"/proc/{number}/smaps_rollup").read_text().splitlines()
        except OSError:  # it has ended
            return 0.0
        return next((int(line.split()[1]) / 1024 for line in lines if line.startswith("Pss:")), 0.0)

    def stop(self):
        """Return the peak."""
        self._done.set()
        self.join()
        return self.peak


def _cpu_seconds():
    get_reusable_executor().shutdown(wait=True)  # only children that have ended are counted
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(own.ru_utime + own.ru_stime for own in used)


def _fitted(what, data):
    on_features = "features" in what
    X, rows = (data[name] for name in (("X", "Z") if on_features else ("D", "R")))
    model, memory, before = MODELS[what](), Memory(), _cpu_seconds()
    memory.start()
    start = time.perf_counter()
    model.fit(X, data["y"])
    wall = time.perf_counter() - start
    peak = memory.stop()
    return {"wall": wall, "cpu": _cpu_seconds() - before, "peak": peak, "error": _error(model, rows, data["truth"])}


def _error(model, rows, truth):
    return 100 * float(np.mean(model.predict(rows) != truth))


def _shares(data):
    """Return the CPU seconds of the parts of one exact fit."""
    seconds = {}

    def timed(name):
        work = getattr(_machines, name)

        def wrapped(*arguments):
            start = time.process_time()
            found = work(*arguments)
            seconds[name] = time.process_time() - start
            return found

        setattr(_machines, name, wrapped)

    for name in ("eigh", "solve_machines"):
        timed(name)
    model = SimilaritySVC(10 / float(np.median(data["D"])), **CONTRACT)
    start = time.process_time()
    model.fit(data["D"], data["y"])
    seconds["fit"] = time.process_time() - start
    model.predict(data["R"][:1000])
    seconds["predict"] = time.process_time() - start - seconds["fit"]
    return seconds


def _in_a_process(what, file):
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    command = [sys.executable, "-m", "benchmarks.bench_rows", what, str(file)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, env=environment)
    return json.loads(done.stdout.splitlines()[-1])


def _row(what, n, file):
    found = _in_a_process(what, file)
    goal = f"at most {60 * MINUTES[n]:g} s on two quiet cores" if what == "all methods" and n in MINUTES else ""
    about = f"{found['cpu']:.1f} CPU s, peak {found['peak']:.0f} MB, error {found['error']:.2f}%"
    return {"name": f"n = {n:,}, {what}: {about}", "ours_seconds": f"{found['wall']:.1f} s", "goal": goal}


def _exact(n, file):
    found = _in_a_process("shares", file)
    rest = found["fit"] - found["eigh"] - found["solve_machines"]
    parts = f"eigendecomposition {found['eigh']:.1f}, machines {found['solve_machines']:.1f}, the rest {rest:.1f}"
    name = f"n = {n:,}, CPU seconds of SimilaritySVC: fit ({parts}) | 1,000 predictions"
    return {"name": name, "ours_seconds": found["fit"], "peer_seconds": found["predict"]}


def _mapped(n):
    """Return the rows of all methods and of tuned k-NN on a memmap of n rows."""
    with tempfile.TemporaryDirectory() as to:
        file = Path(to) / "D.npy"
        rng = np.random.default_rng(0)
        labels = np.arange(n + N_NEW) % 10
        centres, shapes = rng.normal(size=(10, 8)), rng.normal(size=(10, 8, 8)) / 4
        X = 1.6 * centres[labels] + np.einsum("nij,nj->ni", shapes[labels], rng.normal(size=(n + N_NEW, 8)))
        X = X.astype(np.float32)
        D = np.lib.format.open_memmap(file, "w+", np.float32, (n + N_NEW, n))
        for start in range(0, len(D), 500):
            D[start : start + 500] = np.sqrt(np.abs(X[start : start + 500, None] - X[None, :n])).sum(-1)
        D.flush()
        np.save(Path(to) / "y.npy", labels)
        found = []
        for what in ("all methods", "tuned k-NN"):
            one = _in_a_process(what, file)
            goal = f"at most {60 * MAPPED_MINUTES:g} s on two quiet cores" if what == "all methods" else ""
            about = f"{one['cpu']:.1f} CPU s, peak {one['peak']:.0f} MB, error {one['error']:.2f}%"
            name = f"memmap of n = {n:,}, {what}: {about}"
            found.append({"name": name, "ours_seconds": f"{one['wall']:.1f} s", "goal": goal})
            print("   ", found[-1], flush=True)
    return found


def _read(path):
    """Return the arrays of a file, or the two parts of a memmap."""
    if path.suffix == ".npz":
        with np.load(path) as file:
            return dict(file)
    D, y = np.load(path, mmap_mode="r"), np.load(path.with_name("y.npy"))
    n = D.shape[1]
    return {"D": D[:n], "R": D[n:], "y": y[:n], "truth": y[n:]}


def _write(X, y, Z, truth, n, to):
    some = np.sort(np.random.RandomState(0).permutation(len(y))[:n])
    D, rows = (pairwise(A, X[some], similarity="dtw").astype(np.float32) for A in (X[some], Z))
    file = Path(to) / f"{n}.npz"
    features = {"X": X[some].reshape(n, -1), "Z": Z.reshape(len(Z), -1)}
    np.savez(file, D=D, R=rows, y=y[some], truth=truth, **features)
    return file


def run(sizes=tuple(MINUTES), exact=N_EXACT, mapped=N_MAPPED):
    """Return a row for each model and size, one with the shares of an exact fit, and those of the memmap."""
    folder = _folder()
    if folder is None:
        return [{"name": "rows: skipped, since SIMILITUDE_DATA names no folder"}]
    (X, y), (Z, truth) = (_pen(folder, part) for part in ("train", "test"))
    found = []
    with tempfile.TemporaryDirectory() as to:
        for n in sizes:
            file = _write(X, y, Z, truth, n, to)
            for what in MODELS:
                found.append(_row(what, n, file))
                print("   ", found[-1], flush=True)
            if n == exact:
                found.append(_exact(n, file))
                print("   ", found[-1], flush=True)
    return found + (_mapped(mapped) if mapped else [])


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    arrays = _read(Path(sys.argv[2]))
    print(json.dumps(_shares(arrays) if sys.argv[1] == "shares" else _fitted(sys.argv[1], arrays)))
