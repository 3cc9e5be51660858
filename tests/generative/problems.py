"""Similarities for the tests of the generative and of the nearest-centroid classifiers."""

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

N = 9
# For what takes long: half of the examples of other tests.
fewer = settings(max_examples=settings.default.max_examples // 2)
# Integers tie exactly, tenths only up to rounding, and the rest hardly ever.
values = st.integers(-2, 3).map(float) | st.sampled_from([0.1, 0.2, 0.3, 0.4, 0.7]) | st.floats(-2, 3, width=32)
scales = st.sampled_from([1.0, 2.0**-500, 2.0**500, 2.0**1021])
labels = arrays(int, N, elements=st.integers(0, 3)) | st.permutations(range(N)).map(np.array)


@st.composite
def similarities(draw):
    """A training matrix with some rows that are duplicates or zero, or a constant one, and rows to predict."""
    if draw(st.booleans()):
        S = draw(arrays(float, (N + 2, N), elements=values))
    else:
        S = draw(arrays(float, (N + 2, N), elements=st.sampled_from([0.1, 0.2, 0.3])))
    kind = draw(st.sampled_from(["asymmetric", "symmetric", "duplicated", "zero rows", "constant"]))
    if kind == "symmetric":
        S[:N] = np.triu(S[:N]) + np.triu(S[:N], 1).T
    elif kind == "duplicated":
        S = S[:, np.arange(N) // 2]
        S[:N] = S[np.arange(N) // 2]
    elif kind == "zero rows":
        S[::2] = 0.0
        S[:, ::3] = 0.0
    elif kind == "constant":
        S[:N] = 0.1
    return S[:N], S[N:]


# Six samples, of which the joint log-probabilities of local SDA are known to ten digits.
S_SIX = np.array(
    [
        [5, 4, 3, 1, 0, 1],
        [4, 5, 3, 2, 1, 1],
        [3, 3, 5, 2, 2, 1],
        [1, 2, 2, 5, 3, 4],
        [0, 1, 2, 3, 5, 2],
        [1, 1, 1, 4, 2, 5],
    ],
    dtype=float,
)
Y_SIX = np.array([0, 0, 0, 1, 1, 1])
ROW_SIX = np.array([[3.0, 4.0, 2.0, 3.0, 1.0, 2.0]])


def problem(n=40, m=15, n_classes=3, seed=0, integers=True):
    """Asymmetric and indefinite, mostly zeros; integer tenths tie, others do not."""
    rng = np.random.default_rng(seed)
    y = np.arange(n + m) % n_classes
    S = rng.integers(0, 5, (n + m, n + m)) / 10 if integers else 0.5 * rng.random((n + m, n + m))
    S = S + (y[:, None] == y[None, :]) * rng.integers(0, 2, (n + m, n + m))
    S[S < 0.25] = 0.0
    return S[:n, :n], S[n:, :n], y[:n]


def close(a, b, rtol=1e-9):
    """Equal log-probabilities, infinite ones included."""
    a, b = np.asarray(a), np.asarray(b)
    finite = np.isfinite(b)
    return np.array_equal(a[~finite], b[~finite]) and np.allclose(a[finite], b[finite], rtol=rtol, atol=rtol)
