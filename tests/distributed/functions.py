"""Similarities that workers of a cluster compute: they import this file."""

import os
import signal
import time

import numpy as np

from similitude.similarities import Measure, batch


def strings(n=60, m=13, seed=0):
    """Copies of a few words with letters changed, and the word each is a copy of."""
    rng = np.random.default_rng(seed)
    words, y = rng.integers(0, 3, (4, 8)), rng.integers(0, 4, n + m)
    copies = np.where(rng.random((n + m, 8)) < 0.3, rng.integers(0, 3, (n + m, 8)), words[y])
    texts = ["".join("abc"[c] for c in row) for row in copies]
    return texts[:n], y[:n], texts[n:]


def longer(a, b):
    """Asymmetric, with many ties."""
    return float(sum(x == z for x, z in zip(a, b))) + 0.25 * (a > b)


@batch
def agreement(A, B):
    """Single precision."""
    A, B = (np.array([list(map(ord, text)) for text in X]) for X in (A, B))
    return (A[:, None] == B[None]).sum(axis=2).astype(np.float32) / np.float32(3)


def fails(a, b):
    """On two words that are far from the first ones of their sequences."""
    if (a, b) == ("odd", "strange"):
        raise ArithmeticError("these two")
    return 1.0


class Kills:
    """Like ``longer``, but the first worker that meets the word, with some work done, is killed."""

    def __init__(self, folder, word):
        self.file, self.word = str(folder / "killed"), word

    def __call__(self, a, b):
        if self.word in (a, b):
            try:
                with open(self.file, "x") as file:
                    file.write(str(os.getpid()))
            except FileExistsError:
                pass
            else:
                os.kill(os.getpid(), signal.SIGKILL)
        return longer(a, b)


class Hungry:
    """Takes 3000 bytes for each pair in a block, and raises where that is asked for instead of room."""

    similitude_batch = True

    def __init__(self, raises=False):
        self.raises = raises

    def __call__(self, A, B):
        pairs = len(A) * len(B)
        if self.raises and pairs > 100:
            raise MemoryError("no room")
        room = np.ones((pairs, 375))
        if room.nbytes > 2**29:
            time.sleep(5)  # long enough for whoever watches the memory
        return room[:, 0].reshape(len(A), len(B)) * np.subtract.outer(np.array(A), np.array(B))


def hungry(raises=False):
    return Measure(Hungry(raises), name="hungry", batch=True)


class KillsOnce:
    """Learns nothing and counts equal letters, but the first process other than ``home`` that uses it is killed."""

    def __init__(self, folder, home):
        self.file, self.home = str(folder / "killed"), home

    def fit(self, X, y=None):
        """Learn nothing; an object with this method is evaluated by the folds."""
        return self

    def __call__(self, A, B):
        if os.getpid() != self.home:
            try:
                with open(self.file, "x") as file:
                    file.write(str(os.getpid()))
            except FileExistsError:
                pass
            else:
                os.kill(os.getpid(), signal.SIGKILL)
        return np.array([[float(sum(x == z for x, z in zip(a, b))) for b in B] for a in A])


class NotesArrival:
    """Values that note each process in which they arrive."""

    def __init__(self, folder):
        self.folder, self.values = folder, np.zeros(10_000)

    def __setstate__(self, state):
        self.__dict__.update(state)
        with open(self.folder / "arrivals", "a") as file:
            file.write(f"{os.getpid()}\n")


def length_of(value):
    """Return the number of values, a little later, so that other workers get work, too."""
    time.sleep(0.05)
    return len(value.values)
