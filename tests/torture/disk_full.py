"""A file cannot grow beyond a limit, as on a full disk: the error names it, and nothing half-written is left.

The limit on the size of files stands in for a disk, because a small file system cannot be mounted without privileges.
"""

import resource
import signal

import numpy as np

from similitude import KNNClassifier, load_model, save_model
from similitude.experiments import Store
from similitude.similarities import pairwise
from tests.torture.attempts import Broken


def prepare(folder):
    """Return the folder and a model; the signal of the limit becomes an error of the system."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    return folder, KNNClassifier(1, weights="kri").fit(np.eye(60) + 0.1, np.arange(60) % 2)


def attempt(prepared, rng):
    """Write a file under a limit between nothing and more than it needs."""
    folder, model = prepared
    for path in folder.iterdir():
        path.unlink()
    save_model(folder / "old.model", model)
    task = rng.choice(sorted(TASKS))
    limit = rng.choice([0, 1, 100, rng.randrange(60_000), 200_000])
    did = f"{task} with room for {limit} bytes"
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, before[1]))
    try:
        TASKS[task](folder, model)
        failed = None
    except (OSError, ValueError) as error:
        failed = error
    except Exception as error:
        raise Broken(did, f"{type(error).__name__}: {error}") from error
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    if failed is not None and "new." not in str(failed) and "old.model" not in str(failed):
        raise Broken(did, f"{type(failed).__name__} without the name of the file: {failed}")
    left = sorted(path.name for path in folder.iterdir() if path.suffix in (".tmp", ".part"))
    if left and task != "pairwise":
        raise Broken(did, f"{left} are left")
    if load_model(folder / "old.model").predict(np.eye(60)[:2]).tolist() != [0, 1]:
        raise Broken(did, "the old model is not what it was")
    if failed is not None and task == "pairwise":
        S = pairwise(np.eye(60), similarity="rbf", out=folder / "new.npy")
        if not np.array_equal(S, pairwise(np.eye(60), similarity="rbf")):
            raise Broken(did, "the matrix is not right after the limit is gone")
    return did


def _replace(folder, model):
    save_model(folder / "old.model", model)


def _save(folder, model):
    save_model(folder / "new.model", model)


def _pairwise(folder, _):
    pairwise(np.eye(60), similarity="rbf", out=folder / "new.npy", block_size=10)


def _store(folder, _):
    with Store(folder / "new.db") as store:
        store.rows()


TASKS = {"replace": _replace, "save": _save, "pairwise": _pairwise, "store": _store}
