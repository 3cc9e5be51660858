"""One bit of a file is flipped: of a model, a store of results, a matrix that is being filled, or its journal.

What is read then is what was written, or an error that names the file: a ValueError, or an OSError of the system.
"""

import sqlite3
from contextlib import suppress
from dataclasses import replace

import numpy as np

from similitude import KNNClassifier, load_model, save_model
from similitude.experiments import Store, run
from similitude.similarities import Measure, pairwise
from tests.experiments.small import PROTOCOL, data, methods
from tests.torture.attempts import Broken

OBJECTS = np.arange(12.0)


def product(A, B):
    """The values of a matrix that is complete."""
    return np.multiply.outer(A, B)


def failing(A, B):
    """The same, for a run that ends in its middle."""
    if 7 in A and 7 in B:
        raise ValueError("stopped")
    return product(A, B)


def measure(function):
    return Measure(function, name="product", batch=True, symmetric=True)


def prepare(folder):
    """Return the contents of whole files, by name, with what must be read from them."""
    save_model(folder / "a.model", KNNClassifier(2).fit(np.eye(6) + 0.1, [0, 1, 2] * 2))
    results = run(replace(PROTOCOL, n_partitions=2), data(1), methods()).rows
    with Store(folder / "a.db") as store:
        for row in results:
            store.add(row)
    connection = sqlite3.connect(folder / "a.db")
    connection.execute("PRAGMA journal_mode = DELETE")
    connection.close()
    with suppress(ValueError):
        pairwise(OBJECTS, similarity=measure(failing), out=folder / "a.npy", block_size=2)
    names = ("a.model", "a.db", "a.npy.part", "a.npy.journal")
    return folder, {name: (folder / name).read_bytes() for name in names}, results


def attempt(prepared, rng):
    """Flip one bit of one file, and read it."""
    folder, contents, results = prepared
    for path in folder.iterdir():
        path.unlink()
    for name, content in contents.items():
        (folder / name).write_bytes(content)
    name = rng.choice(sorted(contents))
    place, bit = rng.randrange(len(contents[name])), rng.randrange(8)
    damaged = bytearray(contents[name])
    damaged[place] ^= 1 << bit
    (folder / name).write_bytes(damaged)
    did = f"bit {bit} of byte {place} of {name}"
    reads = {"a.model": _model, "a.db": _store}.get(name, _matrix)
    try:
        same = reads(folder, results)
    except (ValueError, OSError) as error:
        if "a." not in str(error):
            raise Broken(did, f"{type(error).__name__} without the name of the file: {error}") from error
        return did
    except Exception as error:
        raise Broken(did, f"{type(error).__name__}: {error}") from error
    if not same:
        raise Broken(did, "other values were read")
    return did


def _model(folder, _):
    return load_model(folder / "a.model").predict(np.eye(6)).tolist() == [0, 1, 2] * 2


def _store(folder, results):
    with Store(folder / "a.db") as store:
        return sorted(store.rows(), key=str) == sorted(results, key=str) and store.failures() == []


def _matrix(folder, _):
    S = pairwise(OBJECTS, similarity=measure(product), out=folder / "a.npy")
    return np.array_equal(S, product(OBJECTS, OBJECTS))
