"""LearnedSpectrumSVC against cvxpy and Clarabel on the same program, one problem and a whole grid."""

import numpy as np
from tests.reference.learned_kernel import spectrum_program

from benchmarks.timing import side_by_side
from similitude.kernel.learned_spectrum import LearnedSpectrumSVC, SpectrumPoint

GRID = [(10.0**i, 10.0**j) for i in range(-4, 1) for j in range(-3, 4)]  # Chen, Gupta & Recht 2009, Section 4.2


def overlapping(n=200):
    """Two classes that overlap, under an indefinite similarity of full rank."""
    rng = np.random.default_rng(0)
    y = np.where(np.arange(n) < n // 2, 1.0, -1.0)
    X = rng.normal(size=(n, 5))
    X[y > 0, 0] += 1.0
    D = np.abs(X[:, None] - X[None]).sum(-1) ** 1.5
    return 1 - D / D.max(), y


def _peer(S, y, eta, gamma, target):
    problem, at_eta, at_gamma, _ = spectrum_program(S, y, target)
    at_eta.value, at_gamma.value = eta, gamma
    return problem.solve(solver="CLARABEL")


def _peer_grid(S, y, target):
    """The grid through one parametrised problem, compiled once."""
    problem, at_eta, at_gamma, _ = spectrum_program(S, y, target)
    values = []
    for eta, gamma in GRID:
        at_eta.value, at_gamma.value = eta, gamma
        values.append(problem.solve(solver="CLARABEL"))
    return values


def _grid(S, y, target):
    return LearnedSpectrumSVC()._solve(S, y, np.ones(len(y)), [SpectrumPoint(*point, target) for point in GRID])


def run():
    S, y = overlapping()
    rows = []
    for eta, gamma, target in ((1e-2, 1e-1, "clip"), (1e-3, 1e-3, "clip"), (1e-2, 1e-1, "both")):
        model = LearnedSpectrumSVC(eta, gamma, target)
        objective = model.fit(S, y).objective_  # compiles
        assert abs(_peer(S, y, eta, gamma, target) - objective) <= 1e-6 * objective
        steps = f"{model.n_iter_} steps" if model.n_iter_ else "the target is optimal"
        row = side_by_side(
            f"learned spectrum, n = 200, {target}, eta {eta:g}, gamma {gamma:g} ({steps}): against cvxpy + Clarabel",
            lambda model=model: model.fit(S, y),
            lambda point=(eta, gamma, target): _peer(S, y, *point),
        )
        rows.append({**row, "goal": "at least 5"})
    row = side_by_side(
        "  its grid of 35 (eta, gamma): against 35 solves of one parametrised problem",
        lambda: _grid(S, y, "clip"),
        lambda: _peer_grid(S, y, "clip"),
        runs=1,
    )
    rows.append({**row, "goal": "at least 10"})
    row = side_by_side(
        "  the same against our own plain fits",
        lambda: _grid(S, y, "clip"),
        lambda: [LearnedSpectrumSVC(*point, "clip").fit(S, y) for point in GRID],
    )
    rows.append(row)
    return rows
