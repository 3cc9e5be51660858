"""Several threads use one fitted model, or fit models at the same time; the answers are those of one thread."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
from sklearn.base import clone

from tests.estimators import FAMILIES
from tests.torture.attempts import Broken
from tests.torture.forgeries import problem


def prepare(folder):
    """Return the samples of a problem."""
    return problem()


def _answer(model, X):
    return model.predict(X) if hasattr(model, "predict") else model.transform(X)


def attempt(prepared, rng):
    """Ask one model in four threads, two of which fit a copy of it first."""
    S, y, new = prepared
    model = clone(rng.choice(FAMILIES)).fit(S, y)
    expected = _answer(model, new)

    def work(fits):
        return _answer(clone(model).fit(S, y) if fits else model, new)

    did = f"{type(model).__name__} in four threads"
    try:
        with ThreadPoolExecutor(4) as pool:
            answers = list(pool.map(work, [True, False, True, False]))
    except Exception as error:
        raise Broken(did, f"{type(error).__name__}: {error}") from error
    if not all(np.array_equal(answer, expected) for answer in answers):
        raise Broken(did, "the answers differ")
    return did
