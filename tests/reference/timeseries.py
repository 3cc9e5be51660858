"""Distances of time series by their recursions, cell by cell in whole tables."""

import math

import numpy as np


def band(n, m, window):
    """Return which cells of the table a path may use."""
    if window is None or window == 1:
        return np.ones((n, m), dtype=bool)
    if n > m:
        return band(m, n, window).T
    allowed = np.zeros((n, m), dtype=bool)
    reach = int(window * n)
    for step in range(m + 1):
        i, j = math.floor(step / (m + 1) * n), math.floor(step / (m + 1) * m)
        allowed[max(0, i - reach) : i + reach + 1, j] = True
    return allowed


def table(n, m, window, step, border=math.inf, outside=math.inf):
    """Return the last cell of the table whose cell (i, j) is step(i, j, diagonal, up, left), counted from 0."""
    allowed = band(n, m, window)
    across, down = border if isinstance(border, tuple) else (border, border)
    D = np.full((n + 1, m + 1), outside, dtype=float)
    D[0, 1:], D[1:, 0], D[0, 0] = across, down, 0.0
    for i in range(n):
        for j in range(m):
            if allowed[i, j]:
                D[i + 1, j + 1] = step(i, j, D[i, j], D[i, j + 1], D[i + 1, j])
    return D[n, m]


def slopes(x):
    return np.array([[((c[t] - c[t - 1]) + (c[t + 1] - c[t - 1]) / 2) / 2 for t in range(1, len(c) - 1)] for c in x])


def squared(x, i, z, j):
    return float(np.sum((x[:, i] - z[:, j]) ** 2))


def apart(x, i, z, j):
    return math.sqrt(squared(x, i, z, j))


def dtw(x, z, window=None):
    return table(x.shape[1], z.shape[1], window, lambda i, j, diag, up, left: squared(x, i, z, j) + min(diag, up, left))


def wdtw(x, z, window=None, g=0.05):
    longest = max(x.shape[1], z.shape[1])

    def step(i, j, diag, up, left):
        weight = 1 / (1 + math.exp(-g * (abs(i - j) - longest / 2)))
        return weight * squared(x, i, z, j) + min(diag, up, left)

    return table(x.shape[1], z.shape[1], window, step)


def adtw(x, z, window=None, warp_penalty=1.0):
    def step(i, j, diag, up, left):
        return squared(x, i, z, j) + min(diag, up + warp_penalty, left + warp_penalty)

    return table(x.shape[1], z.shape[1], window, step)


def erp(x, z, window=None, g=0.0):
    x_gaps, z_gaps = (np.sqrt(((series - g) ** 2).sum(axis=0)) for series in (x, z))

    def step(i, j, diag, up, left):
        return min(diag + apart(x, i, z, j), up + x_gaps[i], left + z_gaps[j])

    return table(x.shape[1], z.shape[1], window, step, border=(z_gaps.sum(), x_gaps.sum()))


def edr(x, z, window=None, epsilon=None):
    if epsilon is None:
        epsilon = max(x.std(), z.std()) / 4

    def step(i, j, diag, up, left):
        return min(diag + (apart(x, i, z, j) >= epsilon), up + 1, left + 1)

    return table(x.shape[1], z.shape[1], window, step, border=0) / max(x.shape[1], z.shape[1])


def lcss(x, z, window=None, epsilon=1.0):
    def step(i, j, diag, up, left):
        return diag + 1 if apart(x, i, z, j) <= epsilon else max(up, left)

    return 1 - table(x.shape[1], z.shape[1], window, step, border=0, outside=0) / min(x.shape[1], z.shape[1])


def msm(x, z, window=None, c=1.0, independent=True):
    if independent:
        return sum(_msm_of_channel(a, b, window, c) for a, b in zip(x, z))

    def cost(value, a, b):
        middle, radius = (a + b) / 2, np.sum((a - b) ** 2) / 4
        if np.sum((middle - value) ** 2) <= radius:
            return c
        return c + min(np.sum((a - value) ** 2), np.sum((b - value) ** 2))

    def step(i, j, diag, up, left):
        choices = [diag + squared(x, i, z, j)]
        choices += [up + cost(x[:, i], x[:, i - 1], z[:, j])] if i > 0 else []
        choices += [left + cost(z[:, j], x[:, i], z[:, j - 1])] if j > 0 else []
        return min(choices)

    return table(x.shape[1], z.shape[1], window, step)


def _msm_of_channel(x, z, window, c):
    def cost(value, a, b):
        return c if a <= value <= b or b <= value <= a else c + min(abs(value - a), abs(value - b))

    def step(i, j, diag, up, left):
        choices = [diag + abs(x[i] - z[j])]
        choices += [up + cost(x[i], x[i - 1], z[j])] if i > 0 else []
        choices += [left + cost(z[j], x[i], z[j - 1])] if j > 0 else []
        return min(choices)

    return table(len(x), len(z), window, step)


def twe(x, z, window=None, nu=0.001, lmbda=1.0):
    x, z = (np.concatenate([np.zeros((len(series), 1)), series], axis=1) for series in (x, z))

    def step(i, j, diag, up, left):
        match = apart(x, i + 1, z, j + 1) + apart(x, i, z, j) + 2 * nu * abs(i - j)
        return min(diag + match, up + apart(x, i + 1, x, i) + nu + lmbda, left + apart(z, j + 1, z, j) + nu + lmbda)

    return table(x.shape[1] - 1, z.shape[1] - 1, window, step)


def shape_dtw(x, z, window=None, reach=15):
    """Follow the best path back through the table of descriptors; of equal cells the one with the least sum so far."""
    n, m = x.shape[1], z.shape[1]
    wide_x, wide_z = (np.pad(series, ((0, 0), (reach, reach)), mode="edge") for series in (x, z))
    allowed = band(n, m, window)
    best = {(-1, -1): (0.0, 0.0)}
    for i in range(n):
        for j in range(m):
            if allowed[i, j]:
                around = np.sum((wide_x[:, i : i + 2 * reach + 1] - wide_z[:, j : j + 2 * reach + 1]) ** 2)
                before = [best[cell] for cell in ((i - 1, j - 1), (i - 1, j), (i, j - 1)) if cell in best]
                shape, steps = min(before)
                best[i, j] = shape + around, steps + squared(x, i, z, j)
    return best[n - 1, m - 1][1]


def series_euclidean(x, z):
    shared = min(x.shape[1], z.shape[1])
    return float(np.linalg.norm(x[:, :shared] - z[:, :shared]))


def sbd(x, z, standardize=True):
    return float(np.mean([_sbd_of_channel(a, b, standardize) for a, b in zip(x, z)]))


def _sbd_of_channel(x, z, standardize):
    if standardize:
        if len(x) == 1 or len(z) == 1:
            return 0.0
        x, z = x - x.mean(), z - z.mean()
    varies = [np.abs(series).max() > 1e-12 for series in (x, z)]
    if not all(varies):
        return float(any(varies))
    return abs(1 - np.correlate(x, z, "full").max() / (np.linalg.norm(x) * np.linalg.norm(z)))
