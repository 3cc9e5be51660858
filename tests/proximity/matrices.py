"""Ugly matrices for property tests: ties, duplicates, zero rows, constant ones, huge and tiny scales, n = 1 and 2."""

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays


@st.composite
def square(draw, symmetric=None, low=-3, smallest=1, largest=6, scales=(1e-200, 1.0, 1e200)):
    """A square float64 matrix with many ties; perhaps with duplicated samples, zero rows, or constant."""
    n = draw(st.integers(smallest, largest))
    kind = draw(st.sampled_from(["ties", "duplicates", "zero rows", "constant"]))
    S = draw(arrays(np.float64, (n, n), elements=st.integers(low, 3).map(lambda v: v / 2)))
    if kind == "constant":
        S[:] = S[0, 0]
    elif kind == "duplicates":
        who = np.array(draw(st.lists(st.integers(0, n - 1), min_size=n, max_size=n)))
        S = S[np.ix_(who, who)]
    elif kind == "zero rows":
        S[0] = 0
    if draw(st.booleans()) if symmetric is None else symmetric:
        S = np.tril(S) + np.tril(S, -1).T
    return S * draw(st.sampled_from(scales))


@st.composite
def distances(draw, largest=6):
    """Euclidean distances of points on a small grid (so with ties and duplicates), and the points."""
    n = draw(st.integers(1, largest))
    X = draw(arrays(np.float64, (n, 2), elements=st.integers(-2, 2).map(float)))
    return np.sqrt(((X[:, None] - X[None]) ** 2).sum(axis=2)), X
