"""Quantised and noisy matrices."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from similitude.similarities.noise import add_noise, quantize

matrices = arrays(float, (4, 4), elements=st.floats(-1e3, 1e3).map(lambda v: round(v, 3)))


@given(matrices, st.integers(2, 15))
def test_quantize_to_equally_spaced_levels(S, levels):
    Q = quantize(S, levels)
    low, high = S.min(), S.max()
    if low == high:
        assert np.array_equal(Q, S)
        return
    for s, q in zip(S.ravel(), Q.ravel()):
        cell = min(int((s - low) / (high - low) * levels), levels - 1)
        assert q == pytest.approx(low + cell * (high - low) / (levels - 1), rel=1e-12, abs=1e-9)
    assert (Q.min(), Q.max()) == (low, high)
    assert len(np.unique(Q)) <= levels
    order = np.argsort(S, axis=None)
    assert (np.diff(Q.ravel()[order]) >= 0).all(), "order is kept"
    assert np.array_equal(quantize(Q, levels), Q)


def test_quantize_with_the_range_of_the_training_part():
    Q = quantize([[-1.0, 0.4, 0.6, 7.0]], 2, value_range=(0, 1))
    assert Q.tolist() == [[0, 0, 1, 1]]
    assert quantize(np.float32([[0, 1]]), 3).dtype == np.float32
    assert quantize([[0, 10]], 3).dtype == np.float64


@pytest.mark.parametrize("levels", [1, 2.5, True, "3"])
def test_levels_must_be_an_integer(levels):
    with pytest.raises(ValueError, match="levels must be an integer of at least 2"):
        quantize(np.eye(2), levels)


def test_quantize_errors():
    with pytest.raises(ValueError, match=r"S contains nan at \(0, 1\)"):
        quantize([[0, np.nan]], 3)
    with pytest.raises(ValueError, match="value_range must be"):
        quantize(np.eye(2), 3, value_range=(1, 0))
    with pytest.raises(ValueError, match="S must not be empty"):
        quantize(np.empty((0, 3)), 3)


def test_noise_is_white_and_of_the_variance_asked():
    X = np.zeros((50, 16, 16))
    noise = add_noise(X, 0.25, random_state=0)
    assert noise.shape == X.shape
    assert noise.mean() == pytest.approx(0, abs=0.02)
    assert noise.var() == pytest.approx(0.25, rel=0.05)
    assert np.corrcoef(noise[:, :, :-1].ravel(), noise[:, :, 1:].ravel())[0, 1] == pytest.approx(0, abs=0.03)
    assert np.array_equal(noise, add_noise(X, 0.25, random_state=0))
    assert not np.array_equal(noise, add_noise(X, 0.25, random_state=1))
    assert (X == 0).all(), "the caller's array is left alone"


def test_noise_on_matrices():
    S = np.add.outer(np.arange(5.0), np.arange(5.0))
    noisy = add_noise(S, 1.0, symmetric=True, diagonal=False, random_state=0)
    assert np.array_equal(noisy, noisy.T)
    assert np.array_equal(noisy.diagonal(), S.diagonal())
    assert (noisy != S).sum() == 20
    free = add_noise(S, 1.0, random_state=0)
    assert not np.array_equal(free, free.T)
    assert (free.diagonal() != S.diagonal()).all()
    assert add_noise(S, 100.0, clip=(0, np.inf), random_state=0).min() == 0
    assert np.array_equal(add_noise(S, 0), S)
    assert add_noise(S.astype(np.float32), 1.0).dtype == np.float32


def test_noise_errors():
    with pytest.raises(ValueError, match="variance must be a finite number of at least 0; got -1"):
        add_noise(np.eye(2), -1)
    with pytest.raises(ValueError, match=r"X must be square.*got shape \(2, 3\)"):
        add_noise(np.zeros((2, 3)), symmetric=True)
    with pytest.raises(ValueError, match="X contains inf"):
        add_noise([[np.inf]])
