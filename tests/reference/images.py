"""Distances of images by their definitions, one pair and one pixel at a time."""

import math

import numpy as np


def gaussian_weights(sigma):
    """The sampled Gaussian, cut off at four sigma, and its derivative, on -r..r."""
    radius = int(4 * sigma + 0.5)
    t = np.arange(-radius, radius + 1)
    g = np.exp(-(t**2) / (2 * sigma**2))
    g /= g.sum()
    return t, g, -t / sigma**2 * g


def derivative(image, sigma, axis):
    """Gaussian derivative along one axis by the sum that convolution is; the border goes on outside."""
    height, width = image.shape
    t, smooth, slope = gaussian_weights(sigma)
    rows, columns = (slope, smooth) if axis == 0 else (smooth, slope)
    result = np.zeros_like(image)
    for y in range(height):
        for x in range(width):
            for s, w in zip(t, rows):
                for r, v in zip(t, columns):
                    pixel = image[min(max(y - s, 0), height - 1), min(max(x - r, 0), width - 1)]
                    result[y, x] += w * v * pixel
    return result


def tangents(image, sigma):
    """The seven tangent vectors as columns, in the order x, y, scale, rotation, axis, diagonal, thickness."""
    height, width = image.shape
    fx, fy = derivative(image, sigma, 1), derivative(image, sigma, 0)
    vectors = np.zeros((height * width, 7))
    for row in range(height):
        for column in range(width):
            x, y = column - (width - 1) / 2, row - (height - 1) / 2
            a, b = fx[row, column], fy[row, column]
            vectors[row * width + column] = [
                a, b, x * a + y * b, y * a - x * b, x * a - y * b, y * a + x * b, a * a + b * b,
            ]  # fmt: skip
    return vectors


def two_sided(x, z, T_x, T_z, spring):
    """min |x + T_x a - z - T_z b|^2 + spring (|T_x a|^2 + |T_z b|^2), as one least-squares problem in (a, b)."""
    nothing, root = np.zeros_like(T_x), math.sqrt(spring)
    M = np.block([[T_x, -T_z], [root * T_x, nothing], [nothing, root * T_z]])
    target = np.concatenate([z - x, np.zeros(2 * len(x))])
    solution = np.linalg.lstsq(M, target, rcond=1e-10)[0]
    return float(np.linalg.norm(M @ solution - target))


def one_sided(x, z, T_z, spring):
    """min |x - z - T_z b|^2 + spring |T_z b|^2."""
    M = np.vstack([T_z, math.sqrt(spring) * T_z])
    target = np.concatenate([x - z, np.zeros(len(x))])
    solution = np.linalg.lstsq(M, target, rcond=1e-10)[0]
    return float(np.linalg.norm(M @ solution - target))


def tangent(A, B, spring, sigma, sides="two"):
    """The matrix of tangent distances between two stacks of images (n, height, width)."""
    T_a, T_b = [tangents(x, sigma) for x in A], [tangents(z, sigma) for z in B]
    D = np.empty((len(A), len(B)))
    for i, x in enumerate(A):
        for j, z in enumerate(B):
            if sides == "two":
                D[i, j] = two_sided(x.ravel(), z.ravel(), T_a[i], T_b[j], spring)
            else:
                D[i, j] = one_sided(x.ravel(), z.ravel(), T_b[j], spring)
    return D


def imed(x, z, sigma):
    """The double sum over pixels."""
    height, width = x.shape
    places = [(r, c) for r in range(height) for c in range(width)]
    total = 0.0
    for p in places:
        for q in places:
            weight = math.exp(-((p[0] - q[0]) ** 2 + (p[1] - q[1]) ** 2) / (2 * sigma**2)) / (2 * math.pi * sigma**2)
            total += weight * (x[p] - z[p]) * (x[q] - z[q])
    return math.sqrt(max(total, 0.0))
