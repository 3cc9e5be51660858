"""Probabilities from the answers of any classifier, with a temperature fitted to answers on left-out samples.

With z_g(x) the log-odds of class g (the decision values of the classes, or the logarithms of their posteriors)::

    P(g | x) = exp(a z_g(x) + b_g) / sum over h of exp(a z_h(x) + b_h)

Decision values are first divided by their standard deviation. The factor a >= 0, the inverse of the temperature,
minimises the log loss of the left-out samples plus ``(a - 1)^2 / 2``, which keeps a near 1 where there are few samples.
The offsets b are fitted for two classes only, with the penalty ``|b|^2 / 2``: this is Platt's sigmoid. For more classes
they are 0.

References: Platt, "Probabilistic outputs for support vector machines", 1999; Guo, Pleiss, Sun & Weinberger, "On
calibration of modern neural networks", ICML 2017.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

_STEPS = 30
_LARGEST_STEP = 2.0
_LARGEST_FACTOR = 1e3
_ENOUGH = 1e-6
_BLOCK = 2**16
"""The largest number of values of one block of points, so that they stay in the processor's cache."""


@dataclass(frozen=True)
class Temperature:
    """A fitted calibration of one classifier."""

    response: str
    factor: float
    offsets: np.ndarray
    floor: float

    def posteriors(self, answers: np.ndarray) -> np.ndarray:
        """Return calibrated posteriors."""
        return softmax(self.factor * log_odds(answers, self.response, self.floor) + self.offsets)


def in_columns(answers: np.ndarray, response: str, places: np.ndarray, n_classes: int) -> np.ndarray:
    """Return the answers of a classifier as one column for each class."""
    if response == "predict":
        return (places[answers][:, None] == np.arange(n_classes)).astype(float)
    if answers.ndim == 1:
        answers = np.stack([-answers / 2, answers / 2], axis=1)[:, -len(places) :]
    if len(places) == n_classes:
        return np.array(answers, dtype=float)
    columns = np.full((len(answers), n_classes), -np.inf if response == "decision_function" else 0.0)
    columns[:, places] = answers
    return columns


def log_odds(answers: np.ndarray, response: str, floor: float) -> np.ndarray:
    """Return finite log-odds of the classes."""
    if response != "decision_function":
        return np.log(np.maximum(answers, 0.0) + floor)
    known = np.isfinite(answers)
    n_known = known.sum(axis=-1, keepdims=True)
    lowest = np.where(n_known > 0, np.min(answers, axis=-1, keepdims=True, where=known, initial=np.inf), 0.0)
    highest = np.where(n_known > 0, np.max(answers, axis=-1, keepdims=True, where=known, initial=-np.inf), 0.0)
    return np.where(known, answers, lowest - (highest - lowest) / np.maximum(n_known - 1, 1))


def softmax(z: np.ndarray, counts: np.ndarray | None = None) -> np.ndarray:
    """Return exp(z), normalised over the last axis, where a column may stand for several classes."""
    powers = z - z.max(axis=-1, keepdims=True)
    np.exp(powers, out=powers)
    powers /= powers.sum(axis=-1, keepdims=True) if counts is None else (powers @ counts)[..., None]
    return powers


def scales(z: np.ndarray, response: str, counts: np.ndarray | None = None) -> np.ndarray:
    """Return for each point a typical size of its log-odds: 1 for posteriors, the deviation for decision values."""
    if response != "decision_function":
        return np.ones(len(z))
    counts = np.ones(z.shape[-1]) if counts is None else counts
    centred = z - np.average(z, axis=-1, weights=counts)[..., None]
    largest = np.abs(centred).max(axis=(1, 2), initial=0.0)
    largest[largest == 0] = 1.0
    squares = (centred / largest[:, None, None]) ** 2 @ counts / counts.sum()
    deviations = largest * np.sqrt(np.mean(squares, axis=1))
    return np.where(deviations > 0, deviations, 1.0)


def fit_temperature(
    answers: np.ndarray, response: str, codes: np.ndarray, weights: np.ndarray | None = None
) -> Temperature:
    """Return the calibration of one classifier, from samples whose weights are relative to their mean."""
    floor = floor_of(len(codes))
    z = log_odds(answers[None], response, floor)
    size = scales(z, response)
    factors, offsets = fit_temperatures(
        z / size[:, None, None], codes, np.ones((1, len(codes))) if weights is None else weights[None]
    )
    return Temperature(response, float(factors[0, 0] / size[0]), offsets[0, 0], floor)


def floor_of(n: int) -> float:
    """Return the probability that is added to each posterior, if n samples are left out."""
    return 1.0 / (4 * max(1, n))


def fit_temperatures(
    z: np.ndarray, codes: np.ndarray, weights: np.ndarray, counts: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Return the factors and offsets of P points, each fitted with K weightings of the samples, by Newton's method.

    ``counts`` are the numbers of classes that the columns stand for.
    """
    n_points, n, n_classes = z.shape
    size = max(1, _BLOCK // max(1, n * n_classes * len(weights)))
    parts = [_fit(z[i : i + size], codes, weights, counts) for i in range(0, n_points, size)]
    return np.concatenate([factors for factors, _ in parts]), np.concatenate([offsets for _, offsets in parts])


def _fit(
    z: np.ndarray, codes: np.ndarray, weights: np.ndarray, counts: np.ndarray | None
) -> tuple[np.ndarray, np.ndarray]:
    n_classes = z.shape[2]
    # With two classes the log-odds are a (z_1 - z_0) + b, where b is the difference of the offsets.
    two = n_classes == 2
    theta = np.zeros((len(z), len(weights), 1 + two))
    theta[..., 0] = 1.0
    left = np.arange(len(z))  # the points that are not solved yet
    for _ in range(_STEPS):
        step = _newton_step(z[left], codes, weights, theta[left], counts)
        theta[left] -= step
        theta[left, :, 0] = np.clip(theta[left, :, 0], 0.0, _LARGEST_FACTOR)
        left = left[np.abs(step).max(axis=(1, 2), initial=0.0) >= _ENOUGH]
        if not len(left):
            break
    return theta[..., 0], _offsets(theta, n_classes)


def _newton_step(
    z: np.ndarray, codes: np.ndarray, weights: np.ndarray, theta: np.ndarray, counts: np.ndarray | None
) -> np.ndarray:
    n_classes, two = z.shape[2], theta.shape[-1] == 2
    p = softmax(theta[..., 0, None, None] * z[:, None] + _offsets(theta, n_classes)[..., None, :], counts)
    if counts is not None:
        p *= counts
    mean = np.einsum("pkng,png->pkn", p, z)
    variance = np.einsum("pkng,png->pkn", p, z**2) - mean**2
    slope, curve = np.empty_like(theta), np.zeros((*theta.shape, 1 + two))
    own = z[:, None, np.arange(len(codes)), codes]
    slope[..., 0] = np.einsum("kn,pkn->pk", weights, mean - own)
    curve[..., 0, 0] = np.einsum("kn,pkn->pk", weights, variance)
    if two:
        of_second = p[..., 1]
        slope[..., 1] = np.einsum("kn,pkn->pk", weights, of_second - (codes == 1))
        cross = of_second * (z[:, None, :, 1] - mean)
        curve[..., 0, 1] = curve[..., 1, 0] = np.einsum("kn,pkn->pk", weights, cross)
        curve[..., 1, 1] = np.einsum("kn,pkn->pk", weights, of_second * (1 - of_second))
    slope += theta
    slope[..., 0] -= 1.0  # the penalty is smallest at a = 1, b = 0
    curve += np.eye(1 + two)
    at_bound = (theta[..., 0] <= 0) & (slope[..., 0] > 0)  # the factor stays 0, and only the offset moves
    slope[at_bound, 0] = 0.0
    if two:
        curve[at_bound, 0, 1] = curve[at_bound, 1, 0] = 0.0
    step = np.linalg.solve(curve, slope[..., None])[..., 0]
    return step / np.maximum(np.abs(step).max(axis=-1, keepdims=True) / _LARGEST_STEP, 1.0)


def _offsets(theta: np.ndarray, n_classes: int) -> np.ndarray:
    offsets = np.zeros((*theta.shape[:-1], n_classes))
    if theta.shape[-1] == 2:
        offsets[..., 1] = theta[..., 1]
    return offsets
