"""The peer that a benchmark compares with MixtureSVC: adaptive subspace kernel fusion."""

import numpy as np
from benchmarks.askf import SubspaceFusion, _nearest
from scipy.optimize import minimize
from sklearn.svm import SVC

from similitude import SpectrumModifier


def test_a_large_penalty_leaves_the_flipped_spectra():
    rng = np.random.default_rng(0)
    y = np.arange(24) % 2
    matrices = {name: (y[:, None] == y) + (M + M.T) / 2 for name, M in zip("ab", rng.normal(size=(2, 24, 24)))}
    model = SubspaceFusion(C=2.0, gamma=1e6).fit(matrices, y)
    K = sum(model.factors_[name] * SpectrumModifier("flip").fit_transform(S) for name, S in matrices.items())
    peer = SVC(C=2.0, kernel="precomputed", tol=1e-6).fit(K, y)
    np.testing.assert_allclose(model.decision_function(matrices), peer.decision_function(K), atol=1e-3)


def test_the_step_in_the_eigenvalues_is_nearly_optimal():
    rng = np.random.default_rng(1)
    U = np.hstack([np.linalg.qr(rng.normal(size=(8, 8)))[0] for _ in range(2)])
    products, old, slope = (U.T @ U) ** 2, rng.random(16) + 0.1, rng.normal(size=16)

    def value(weights, gamma):
        return slope @ weights + gamma * np.sqrt((weights - old) @ products @ (weights - old))

    for gamma in (0.5, 2.0):
        found = _nearest(old, old, products, slope, gamma, old.sum())
        assert np.all(found >= 0)
        assert found.sum() <= old.sum() * (1 + 1e-9)
        best = minimize(
            value,
            old * rng.uniform(0.9, 1.0, 16),
            (gamma,),
            method="SLSQP",
            bounds=[(0, None)] * 16,
            constraints={"type": "ineq", "fun": lambda weights: old.sum() - weights.sum()},
        )
        assert value(found, gamma) <= best.fun + 0.05 * abs(value(old, gamma) - best.fun) + 1e-9
