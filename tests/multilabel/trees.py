"""Simulated samples whose labels form a tree with many rare leaves."""

import numpy as np


def simulated_tree(n, seed, n_top=3, n_leaves=150, noise=0.35):
    """Return similarities of n samples, and their lineages; leaves have shares like 1 / rank, so many have one sample.

    The leaves are the same for every seed, so that samples of two seeds are those of one population.
    """
    fixed, rng = np.random.RandomState(0), np.random.RandomState(seed)
    tops = fixed.randn(n_top, 3) * 4
    top_of = fixed.randint(n_top, size=n_leaves)
    centres = tops[top_of] + fixed.randn(n_leaves, 3) * 1.2
    shares = 1.0 / np.arange(1, n_leaves + 1)
    leaf = rng.choice(n_leaves, n, p=shares / shares.sum())
    points = centres[leaf] + rng.randn(n, 3) * noise
    return points, np.array([f"{top_of[one]}.{one}" for one in leaf])


def similarity(A, B):
    return np.exp(-((A[:, None] - B[None]) ** 2).sum(axis=-1) / 4)
