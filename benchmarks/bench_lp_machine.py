"""The linear program of the LP machine by our simplex method, against HiGHS, on two groups of digit images."""

import numpy as np

from benchmarks.timing import side_by_side
from similitude.datasets import load_digit_images
from similitude.features.lp_machine import TOLERANCE, _LinearProgram
from similitude.similarities import pairwise

SIZES = (32, 200, 500)
COSTS = (0.1, 1.0, 10.0, 100.0)


def _problem(n):
    data = load_digit_images()
    some = np.random.RandomState(0).permutation(len(data.target))[:n]
    D = np.asarray(pairwise(np.asarray(data.data)[some], similarity="euclidean-image"), dtype=float)
    return D.max() - D, np.where(np.asarray(data.target)[some].astype(int) < 5, 1.0, -1.0)


def _row(n):
    program = _LinearProgram(*_problem(n))
    prices = [float(np.ldexp(C, program.columns.exponent)) for C in COSTS]

    def solved(optimum):
        return [program._completed(price, *optimum(price)) for price in prices]

    assert max(solution.gap for solution in solved(program._by_simplex)) <= TOLERANCE
    return side_by_side(
        f"LP machine, n = {n}, {len(COSTS)} C, against HiGHS",
        lambda: solved(program._by_simplex),
        lambda: solved(program._by_highs),
    )


def run(sizes=SIZES):
    return [_row(n) for n in sizes]
