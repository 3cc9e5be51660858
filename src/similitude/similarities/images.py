"""Distances of grey-level images of the same size.

Images are given as an array (n, height, width), as a list of 2-d arrays, or as flat rows, read line by line. Flat rows
are square unless the parameter ``shape`` is given.
"""

from __future__ import annotations

from functools import partial
from typing import Any, Literal

import numpy as np
from scipy.linalg import eigh
from scipy.spatial.distance import cdist

from similitude._native import one_sided_tangent, orthonormalize, two_sided_tangent
from similitude._utils.checks import check_choice, check_positive
from similitude._utils.threads import over_row_blocks, thread_count
from similitude._utils.types import ListLike
from similitude.similarities.registry import BatchDistance, Measure, register
from similitude.similarities.vectors import as_vectors

TRANSFORMATIONS = ("x", "y", "scale", "rotation", "axis", "diagonal", "thickness")


def as_images(X: Any, name: str, shape: tuple[int, int] | None = None) -> np.ndarray:
    """Return images as an array (n, height, width) of floats."""
    if not hasattr(X, "iloc") and len(X) and np.ndim(X[0]) == 2:
        sizes = [np.shape(image) for image in X]
        wrong = next((i for i, size in enumerate(sizes) if size != sizes[0]), None)
        if wrong is not None:
            raise ValueError(
                f"{name}[{wrong}] has shape {sizes[wrong]}, {name}[0] {sizes[0]}: images must have one size."
            )
        shape, X = sizes[0], np.reshape(np.asarray(X), (len(X), -1))
    rows = as_vectors(X, name)
    side = round(rows.shape[1] ** 0.5)
    height, width = (side, side) if shape is None else shape
    if height * width != rows.shape[1] or rows.shape[1] == 0:
        found = "is not square: pass shape=(height, width)" if shape is None else f"does not fill shape={shape}"
        raise ValueError(f"{name}[0] has {rows.shape[1]} pixels, which {found}.")
    return rows.reshape(len(rows), height, width)


def _two_stacks(A: Any, B: Any, shape: tuple[int, int] | None) -> tuple[np.ndarray, np.ndarray]:
    left = as_images(A, "A", shape)
    right = left if B is A else as_images(B, "B", shape)
    if left.shape[1:] != right.shape[1:]:
        raise ValueError(f"A and B must have images of one size; got {left.shape[1:]} and {right.shape[1:]}.")
    return left, right


def tangent_vectors(images: np.ndarray, sigma: float, transformations: tuple[str, ...]) -> np.ndarray:
    """Return the derivatives of each image by each transformation, of shape (n, n_transformations, n_pixels)."""
    from scipy.ndimage import gaussian_filter  # imported here because it takes 60 ms

    n, height, width = images.shape
    # Beyond its border an image continues with the values of the border, whatever the grey level of the background.
    fx = gaussian_filter(images, (0, sigma, sigma), order=(0, 0, 1), mode="nearest")
    fy = gaussian_filter(images, (0, sigma, sigma), order=(0, 1, 0), mode="nearest")
    x = np.arange(width) - (width - 1) / 2
    y = (np.arange(height) - (height - 1) / 2)[:, None]
    vectors = {
        "x": lambda: fx,
        "y": lambda: fy,
        "scale": lambda: x * fx + y * fy,
        "rotation": lambda: y * fx - x * fy,
        "axis": lambda: x * fx - y * fy,
        "diagonal": lambda: y * fx + x * fy,
        "thickness": lambda: fx**2 + fy**2,
    }
    return np.stack([vectors[t]().reshape(n, -1) for t in transformations], axis=1)


class Tangent(BatchDistance):
    """Tangent distance of images: Euclidean distance up to small translations, scalings, rotations, ... of either.

    ``d(x, z)^2 = min_{a, b} |x + T_x a - z - T_z b|^2 + spring (|T_x a|^2 + |T_z b|^2)``, where the columns of T_x are
    the derivatives of the image by seven transformations. The last term is the regularisation of Simard et al. by
    springs. It keeps the small linear system of a pair regular where the two tangent planes share a direction, and
    leads from the tangent distance (spring -> 0) to the Euclidean one (spring -> infinity). d is at most the Euclidean
    distance. It is not a metric: d may be 0 for different images, and the triangle inequality can fail.

    An orthonormal basis of each tangent plane is computed once per image. A pair then needs the inner products of two
    bases and a system of at most seven equations, which are computed by compiled code in threads.

    Parameters
    ----------
    sides : {"two", "one"}, default="two"
        Whether the transformations of both images count, or only those of the images in B (asymmetric).
    transformations : tuple of str, default=("x", "y", "scale", "rotation", "axis", "diagonal", "thickness")
        The transformations.
    sigma : float, default=0.9
        The width in pixels of the Gaussian with which images are smoothed before they are differentiated. The images
        that are compared are not smoothed.
    spring : float, default=1e-2
        The regularisation, positive.
    shape : (int, int), default=None
        The height and width of images given as flat rows; None means square.

    See Also
    --------
    EuclideanImage
        Image Euclidean distance (IMED): a Euclidean distance that takes the distances of pixels into account.
    euclidean : Return the Euclidean distances ``sqrt(sum_f (x_f - z_f)^2)``.

    References
    ----------
    Simard, Le Cun & Denker 1993, "Efficient pattern recognition using a new transformation distance", NIPS 5.
    Simard, Le Cun, Denker & Victorri 1998, "Transformation invariance in pattern recognition: tangent distance and
    tangent propagation", Neural Networks: Tricks of the Trade, Section 2.

    Examples
    --------
    >>> import numpy as np
    >>> from similitude.similarities.images import Tangent
    >>> from similitude.similarities.vectors import euclidean
    >>> y, x = np.mgrid[:12, :12]
    >>> blobs = [np.exp(-((x - c) ** 2 + (y - 5) ** 2) / 8).ravel() for c in (5, 6)]
    >>> euclidean(blobs, blobs)[0].round(2), Tangent()(blobs, blobs)[0].round(2)
    (array([0.  , 1.23]), array([0.  , 0.11]))
    """

    def __init__(
        self,
        sides: Literal["two", "one"] = "two",
        transformations: tuple[str, ...] = TRANSFORMATIONS,
        sigma: float = 0.9,
        spring: float = 1e-2,
        shape: tuple[int, int] | None = None,
    ):
        self.sides = sides
        self.transformations = transformations
        self.sigma = sigma
        self.spring = spring
        self.shape = shape

    @property
    def symmetric(self) -> bool:
        """Whether both images may be transformed."""
        return self.sides == "two"

    def __call__(self, A: ListLike, B: ListLike) -> np.ndarray:
        """Return the distances of the images in A to those in B."""
        self._check_parameters()
        left, right = _two_stacks(A, B, self.shape)
        same = left is right
        X, Z = (np.ascontiguousarray(stack.reshape(len(stack), -1)) for stack in (left, right))
        squares = np.zeros((len(X), len(Z)))
        bases_z = self._bases(right)
        block = max(1, len(X) // (8 * thread_count()))
        if self.sides == "one":
            over_row_blocks(
                lambda start, stop: one_sided_tangent(X, Z, bases_z, self.spring, start, stop, squares), len(X), block
            )
            return np.sqrt(squares)
        bases_x = bases_z if same else self._bases(left)
        over_row_blocks(
            lambda start, stop: two_sided_tangent(X, bases_x, Z, bases_z, self.spring, same, start, stop, squares),
            len(X),
            block,
        )
        return np.sqrt(squares + squares.T if same else squares)

    def _bases(self, images: np.ndarray) -> np.ndarray:
        """Return orthonormal bases of the tangent planes as rows, with rows of zeros where there are fewer."""
        tangents = tangent_vectors(images, self.sigma, tuple(self.transformations))
        bases = np.empty_like(tangents)
        over_row_blocks(
            lambda start, stop: orthonormalize(tangents[start:stop], bases[start:stop]),
            len(images),
            max(1, len(images) // (2 * thread_count())),
        )
        return bases

    def _check_parameters(self) -> None:
        check_choice(self.sides, "sides", ("one", "two"))
        unknown = [t for t in self.transformations if t not in TRANSFORMATIONS]
        if unknown or not self.transformations or len(set(self.transformations)) < len(self.transformations):
            raise ValueError(
                f"transformations must be some of {TRANSFORMATIONS}, each once; got {self.transformations!r}."
            )
        check_positive(self.sigma, "sigma")
        check_positive(self.spring, "spring")


class EuclideanImage(BatchDistance):
    """Image Euclidean distance (IMED): a Euclidean distance that takes the distances of pixels into account.

    ``d(x, z)^2 = sum_ij g_ij (x_i - z_i)(x_j - z_j)`` with ``g_ij = exp(-|P_i - P_j|^2 / (2 sigma^2)) / (2 pi
    sigma^2)``, where P_i is the place of pixel i. It is computed as the Euclidean distance of images transformed by
    ``G^(1/2)``, which is the product of one such matrix for the lines and one for the columns.

    Parameters
    ----------
    sigma : float, default=1.0
        The width of the Gaussian, in pixels.
    shape : (int, int), default=None
        The height and width of images given as flat rows; None means square.

    See Also
    --------
    Tangent
        Tangent distance of images: Euclidean distance up to small translations, scalings, rotations, ... of
        either.
    euclidean : Return the Euclidean distances ``sqrt(sum_f (x_f - z_f)^2)``.

    References
    ----------
    Wang, Zhang & Feng 2005, "On the Euclidean distance of images", IEEE PAMI 27.

    Examples
    --------
    >>> import numpy as np
    >>> from similitude.similarities.images import EuclideanImage
    >>> dots = np.eye(25)[[0, 1, 24]]
    >>> EuclideanImage()(dots, dots)[0].round(4)
    array([0.    , 0.3539, 0.5642])
    """

    def __init__(self, sigma: float = 1.0, shape: tuple[int, int] | None = None):
        self.sigma = sigma
        self.shape = shape

    def __call__(self, A: ListLike, B: ListLike) -> np.ndarray:
        """Return the distances of the images in A to those in B."""
        check_positive(self.sigma, "sigma")
        left, right = _two_stacks(A, B, self.shape)
        lines, columns = (self._root(size) for size in left.shape[1:])
        return cdist(*((lines @ stack @ columns).reshape(len(stack), -1) for stack in (left, right)), "euclidean")

    def _root(self, size: int) -> np.ndarray:
        """Return the square root of the matrix of Gaussian weights between the positions on a line."""
        gaps = np.subtract.outer(np.arange(size), np.arange(size))
        weights = np.exp(-(gaps**2) / (2 * self.sigma**2)) / (np.sqrt(2 * np.pi) * self.sigma)
        values, vectors = eigh(weights)
        return (vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T


_images = partial(Measure, objects="images", orientation="dissimilarity", batch=True, symmetric=True)

# Tangent uses threads itself, and computes the tangent planes once per call, so it is best called on large batches.
register(_images(Tangent(), name="tangent", range="0 to the Euclidean distance", reference="Simard et al. 1993"))
register(
    _images(
        EuclideanImage(),
        name="euclidean-image",
        metric=True,
        threads=True,
        range="0 or more",
        library="scipy",
        reference="Wang, Zhang & Feng 2005",
    )
)
