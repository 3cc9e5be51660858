"""LAPACK's drivers for the symmetric eigendecomposition, of which we use evd."""

import numpy as np
from scipy import linalg

from benchmarks.timing import side_by_side
from similitude.numerics.eigen import eigh


def run():
    rng = np.random.default_rng(0)
    rows = []
    for n in (300, 900):
        A = rng.normal(size=(n, n))
        A = A + A.T
        for driver in ("evr", "ev"):
            peer = lambda A=A, driver=driver: linalg.eigh(A, driver=driver)  # noqa: E731
            rows.append(side_by_side(f"eigendecomposition, n = {n}: against {driver}", lambda A=A: eigh(A), peer))
    return rows
