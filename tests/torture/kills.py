"""A process that fills a matrix, saves models or adds results is killed; what was finished is not lost or doubled."""

import os
import signal
import sqlite3
import time
from dataclasses import replace

import numpy as np

from similitude import KNNClassifier, load_model, save_model
from similitude.experiments import Store, run
from similitude.similarities import Measure, pairwise
from tests.experiments.small import PROTOCOL, data, methods
from tests.torture.attempts import Broken

OBJECTS = np.arange(40.0)
FEW = replace(PROTOCOL, n_partitions=2)


def prepare(folder):
    """Return the folder and the results of an experiment that nobody kills."""
    return folder, run(FEW, data(1), methods()).csv(times=False)


def attempt(prepared, rng):
    """Begin one task in a child, kill it after a moment, and finish the task."""
    folder, expected = prepared
    for path in folder.iterdir():
        path.unlink()
    task = rng.choice(sorted(TASKS))
    moments = [rng.choice([0.0, rng.uniform(0, 0.02), rng.uniform(0, 0.2)]) for _ in range(rng.randint(1, 3))]
    did = f"{task} killed after {', '.join(f'{1000 * moment:.0f}' for moment in moments)} ms"
    for moment in moments:
        _killed(TASKS[task], folder, moment)
    try:
        right = FINISHED[task](folder, expected)
    except Exception as error:
        raise Broken(did, f"{type(error).__name__}: {error}") from error
    if not right:
        raise Broken(did, "the result is not that of a run that nobody kills")
    return did


def _killed(task, folder, moment):
    child = os.fork()
    if child == 0:
        try:
            task(folder)
        finally:
            os._exit(0)
    time.sleep(moment)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)


def _slow_product(A, B):
    time.sleep(0.001)
    return np.multiply.outer(A, B)


def _fill(folder):
    if not (folder / "S.npy").exists():
        measure = Measure(_slow_product, name="product", batch=True, symmetric=True)
        pairwise(OBJECTS, similarity=measure, out=folder / "S.npy", block_size=5)


def _filled(folder, _):
    # A run that was killed between its last two steps is finished by the next one.
    if not (folder / "S.npy").exists() or (folder / "S.npy.journal").exists():
        measure = Measure(_slow_product, name="product", batch=True, symmetric=True)
        pairwise(OBJECTS, similarity=measure, out=folder / "S.npy")
    left = sorted(path.name for path in folder.iterdir())
    return left == ["S.npy"] and np.array_equal(np.load(folder / "S.npy"), np.multiply.outer(OBJECTS, OBJECTS))


def _save(folder):
    model = KNNClassifier(1, weights="kri").fit(np.eye(80) + 0.1, np.arange(80) % 2)
    while True:
        save_model(folder / "a.model", model)


def _saved(folder, _):
    if not (folder / "a.model").exists():  # it was killed before the first one was whole
        return True
    return load_model(folder / "a.model").predict(np.eye(80)[:3]).tolist() == [0, 1, 0]


def _experiment(folder):
    run(FEW, data(1), methods(), folder / "a.db")


def _experimented(folder, expected):
    results = run(FEW, data(1), methods(), folder / "a.db")
    with Store(folder / "a.db") as store:
        rows = store.rows()
    connection = sqlite3.connect(folder / "a.db")
    whole = connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    connection.close()
    return whole and len({row.key for row in rows}) == len(rows) and results.csv(times=False) == expected


TASKS = {"experiment": _experiment, "matrix": _fill, "model": _save}
FINISHED = {"experiment": _experimented, "matrix": _filled, "model": _saved}
