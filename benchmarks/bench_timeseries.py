"""Distances of time series against aeon's own pairwise functions, with as many threads, after and with compiling."""

import os
import subprocess
import sys
import tempfile
import warnings

import numpy as np

from benchmarks.timing import best_of, side_by_side
from similitude._utils.threads import thread_count
from similitude.similarities import (
    ADTW,
    DTW,
    EDR,
    ERP,
    LCSS,
    MSM,
    SBD,
    TWE,
    WDTW,
    SeriesEuclidean,
    ShapeDTW,
    elastic_family,
)

MEASURES = {
    "dtw": DTW(),
    "ddtw": DTW(derivative=True),
    "wdtw": WDTW(),
    "wddtw": WDTW(derivative=True),
    "adtw": ADTW(),
    "erp": ERP(),
    "edr": EDR(),
    "lcss": LCSS(),
    "msm": MSM(),
    "twe": TWE(),
    "shape_dtw": ShapeDTW(),
    "euclidean": SeriesEuclidean(),
    "sbd": SBD(),
}
THREADS = max(2, thread_count())


def collections():
    rng = np.random.default_rng(0)
    return {
        "100 series of 150": rng.normal(size=(100, 150)).cumsum(axis=1),
        "60 series of 100 to 200": [rng.normal(size=n).cumsum() for n in rng.integers(100, 200, 60)],
        "40 series of 3 channels": rng.normal(size=(40, 3, 150)).cumsum(axis=2),
    }


def seconds_cold(name):
    """Return the seconds of aeon's function on three series in a new process that finds no compiled code."""
    code = (
        "import time, numpy as np, aeon.distances as d\n"
        "X = np.random.default_rng(0).normal(size=(3, 150))\n"
        f"start = time.perf_counter(); d.{name}_pairwise_distance(X, n_jobs={THREADS})\n"
        "print(time.perf_counter() - start)"
    )
    with tempfile.TemporaryDirectory() as cache:
        environment = os.environ | {"NUMBA_CACHE_DIR": cache, "PYTHONWARNINGS": "ignore"}
        done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    return float(done.stdout)


def run():
    import aeon.distances

    rows = []
    for name, plain in MEASURES.items():
        peer_function = getattr(aeon.distances, f"{name}_pairwise_distance")
        print(f"{name}: aeon's first call, with compiling: {seconds_cold(name):.1f} s")
        windows = [None, 0.1] if "window" in plain.get_params() else [None]
        for kind, X in collections().items():
            for window in windows:
                limit = {} if window is None else {"window": window}
                measure = type(plain)(**(plain.get_params() | limit))

                def ours(measure=measure, X=X):
                    return measure(X, X)

                def peer(function=peer_function, X=X, limit=limit):
                    with warnings.catch_warnings():
                        warnings.simplefilter("ignore")
                        return function(X, n_jobs=THREADS, **limit)

                peer()  # compiles
                what = f"{name}, {kind}" + (f", window {window}" if window else "")
                row = side_by_side(f"{what}: against aeon with {THREADS} threads", ours, peer)
                rows.append(row | {"goal": "at least 3"})
                print(f"{what}: ours {row['ours_seconds']:.4f} s, aeon {row['peer_seconds']:.3f} s, {row['ratio']:.1f}")
    X = np.random.default_rng(0).normal(size=(300, 150)).cumsum(axis=1)
    family = elastic_family(X)
    seconds = best_of(lambda: [measure(X, X) for measure in family.values()], 1)
    print(f"the {len(family)} distances of the elastic family of 300 series of 150: {seconds:.1f} s")
    return rows
