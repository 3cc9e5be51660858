"""The scales of several similarities, and weights by their alignment with the classes."""

from __future__ import annotations

import numpy as np
from scipy.optimize import nnls

_CONSTANT = 1e-12
"""A matrix whose centred entries are below this share of its largest entry counts as constant."""


def centred(S: np.ndarray) -> np.ndarray:
    """Return the matrix with the means of its rows and columns subtracted: ``H S H`` with ``H = I - 1 1^T / n``."""
    rows, columns = S.mean(axis=1, keepdims=True), S.mean(axis=0, keepdims=True)
    return S - rows - columns + S.mean()


def spread(S: np.ndarray) -> float:
    """Return the root mean square of the entries of the centred matrix, in which similarities of any kind are equal.

    It does not depend on a constant that is added to all similarities.
    """
    largest = float(np.max(np.abs(S)))
    if largest == 0.0:
        return 1.0
    found = float(np.sqrt(np.mean(centred(S / largest) ** 2)))
    return largest * found if found > _CONSTANT else largest


def aligned_weights(matrices: list[np.ndarray], codes: np.ndarray) -> np.ndarray:
    """Return the weights of the sum that is best aligned with the classes.

    With ``K_u`` the centred matrices and ``T`` the centred matrix that is 1 for samples of the same class and 0
    otherwise, they maximise the cosine between ``sum_u w_u K_u`` and ``T`` over ``w >= 0``, which is a problem of
    nonnegative least squares [1]_.

    References
    ----------
    .. [1] Cortes, Mohri & Rostamizadeh, "Algorithms for learning kernels based on centered alignment", JMLR 13, 2012,
       Proposition 9.
    """
    flat = np.column_stack([centred(S).ravel() for S in matrices])
    target = centred((codes[:, None] == codes).astype(float)).ravel()
    sizes = np.linalg.norm(flat, axis=0)
    flat = flat / np.where(sizes > 0.0, sizes, 1.0)
    # The normal equations have as many unknowns as there are matrices.
    values, vectors = np.linalg.eigh(flat.T @ flat)
    kept = values > 1e-12 * max(float(values[-1]), 1e-300)
    root = np.sqrt(values[kept])[:, None] * vectors[:, kept].T
    right = (vectors[:, kept].T @ (flat.T @ target)) / np.sqrt(values[kept])
    weights = nnls(root, right)[0] / np.where(sizes > 0.0, sizes, np.inf)
    total = weights.sum()
    return weights / total if total > 0.0 else np.full(len(matrices), 1.0 / len(matrices))
