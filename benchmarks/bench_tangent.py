"""The compiled tangent distance against a plain NumPy loop over the pairs.

The peer gets the tangent vectors of every image, and solves each pair separately, as the least-squares problem that
defines the distance or by its normal equations.
"""

from __future__ import annotations

import math
import time

import numpy as np
from scipy.ndimage import gaussian_filter

from similitude.similarities.images import TRANSFORMATIONS, Tangent, tangent_vectors


def least_squares(X, Z, T_x, T_z, spring):
    root = math.sqrt(spring)
    nothing = np.zeros_like(T_x[0])
    D = np.empty((len(X), len(Z)))
    for i, x in enumerate(X):
        for j, z in enumerate(Z):
            M = np.block([[T_x[i], -T_z[j]], [root * T_x[i], nothing], [nothing, root * T_z[j]]])
            target = np.concatenate([z - x, np.zeros(2 * len(x))])
            D[i, j] = np.linalg.norm(M @ np.linalg.lstsq(M, target, rcond=None)[0] - target)
    return D


def normal_equations(X, Z, T_x, T_z, spring):
    D = np.empty((len(X), len(Z)))
    for i, x in enumerate(X):
        for j, z in enumerate(Z):
            P, Q, d = T_x[i], T_z[j], x - z
            PP, PQ, QQ = P.T @ P, P.T @ Q, Q.T @ Q
            right = np.concatenate([-(P.T @ d), Q.T @ d])
            solution = np.linalg.solve(np.block([[(1 + spring) * PP, -PQ], [-PQ.T, (1 + spring) * QQ]]), right)
            D[i, j] = math.sqrt(max(d @ d - right @ solution, 0.0))
    return D


def _seconds(function, repeats):
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        result = function()
        times.append(time.perf_counter() - start)
    return min(times), result


def run(n_rows: int = 100, n_columns: int = 200, side: int = 16) -> list[dict]:
    """Print and return one row per peer."""
    generator = np.random.default_rng(0)
    images = gaussian_filter(generator.normal(size=(n_rows + n_columns, side, side)), (0, 1.2, 1.2))
    images /= images.std()
    X, Z = images[:n_rows], images[n_rows:]
    tangent = Tangent()
    ours, D = _seconds(lambda: tangent(X, Z), repeats=5)
    vectors = [tangent_vectors(stack, tangent.sigma, TRANSFORMATIONS).transpose(0, 2, 1) for stack in (X, Z)]
    rows = []
    for peer in (least_squares, normal_equations):
        flat = X.reshape(n_rows, -1), Z.reshape(n_columns, -1)
        seconds, expected = _seconds(lambda peer=peer, flat=flat: peer(*flat, *vectors, tangent.spring), repeats=1)
        rows.append(
            {
                "name": f"tangent distance, {n_rows} x {n_columns} images {side} x {side}, NumPy {peer.__name__}",
                "ours_seconds": ours,
                "peer_seconds": seconds,
                "ratio": seconds / ours,
                "largest_difference": float(np.abs(D - expected).max()),
            }
        )
        print(
            f"{rows[-1]['name']}: ours {ours:.4f} s, peer {seconds:.3f} s, {rows[-1]['ratio']:.0f} times; "
            f"largest difference {rows[-1]['largest_difference']:.1e}"
        )
    return rows


if __name__ == "__main__":
    run()
