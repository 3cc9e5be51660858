"""Dynamic time warping against aeon's own pairwise function."""

import warnings

import numpy as np

from benchmarks.timing import side_by_side
from similitude.similarities.timeseries import DTW


def run():
    from aeon.distances import dtw_pairwise_distance

    rng = np.random.default_rng(0)
    equal = list(rng.normal(size=(150, 100)))
    unequal = [rng.normal(size=n) for n in rng.integers(50, 150, 150)]
    channels = list(rng.normal(size=(60, 3, 100)))
    rows = []
    for name, X, window in (
        ("150 series of 100", equal, None),
        ("150 series of 100, window 0.1", equal, 0.1),
        ("150 series of 50 to 150", unequal, None),
        ("60 series of 3 channels", channels, None),
    ):
        measure = DTW(window=window)
        for kind, Z in (("with themselves", None), ("with others", X[::-1])):

            def ours(measure=measure, X=X, Z=Z):
                return measure(X, X if Z is None else Z)

            def peer(window=window, X=X, Z=Z):
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    return dtw_pairwise_distance(X, Z, window=window, n_jobs=1)

            assert np.allclose(ours(), peer())  # compiles both, and they agree
            row = side_by_side(f"DTW, {name}, {kind}: against aeon", ours, peer)
            rows.append(row | {"goal": "at least 1"})
            print(f"{row['name']}: ours {row['ours_seconds']:.3f} s, peer {row['peer_seconds']:.3f} s")
    return rows
