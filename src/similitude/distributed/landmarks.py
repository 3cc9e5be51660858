"""LandmarkClassifier fitted by a cluster, from moments of blocks of rows that are added up in a tree."""

from __future__ import annotations

from functools import reduce
from typing import Any

import numpy as np

from similitude._utils.checks import check_integer
from similitude._utils.cluster import hold
from similitude._utils.types import ListLike, SamplesLike
from similitude.distributed._cluster import current_client, reduce_tree, thread_total, waiting
from similitude.distributed._parts import Part, cut, lengths_of
from similitude.features.landmark_classifier import LandmarkClassifier, fit_by_moments
from similitude.features.landmark_models import Moments, add, block_moments
from similitude.labels import Labels
from similitude.reader import ComputedValues
from similitude.transform.landmarks import Landmarks, row_blocks

_ADVICE = "lower block_size of fit_landmarks or n_landmarks of the model, or give the workers more memory"


def fit_landmarks(
    model: LandmarkClassifier, X: SamplesLike, y: ListLike, *, client: Any = None, block_size: int | None = None
) -> LandmarkClassifier:
    """Fit a model on a cluster, with the same result as ``model.fit(X, y)`` up to rounding.

    The landmarks are chosen by the client; ``selection="random"`` and "stratified" need no similarities for this. The
    workers compute the similarities of blocks of samples to the landmarks, and the moments of each block. These are
    added up in a tree, and only matrices of size m + G are sent back.

    Parameters
    ----------
    model : LandmarkClassifier
        A classifier with ``model="ridge"``, which is fitted in place.
    X, y
        Samples and labels as in ``fit``.
    client : distributed.Client, default=None
        The client of the cluster. None means the current one.
    block_size : int, default=None
        The number of samples in a block. By default a block has at most 2 million similarities and one-hot labels, and
        there is at least one for each thread of the workers.

    Returns
    -------
    LandmarkClassifier
        The model.

    See Also
    --------
    similitude.LandmarkClassifier
        Classify by a linear model on the Nystroem features of m landmarks, in time linear in the number of
        samples.
    pairwise : Return the matrix of ``pairwise`` as a Dask array, computed block by block.

    Examples
    --------
    >>> from distributed import Client
    >>> from similitude import LandmarkClassifier
    >>> from similitude.distributed import fit_landmarks
    >>> words, kinds = ["tree", "trees", "free", "house", "mouse", "horse"], [0, 0, 0, 1, 1, 1]
    >>> model = LandmarkClassifier(4, alpha=0.1, random_state=0, similarity="levenshtein")
    >>> with Client(n_workers=2, threads_per_worker=1, processes=False, dashboard_address=None):
    ...     fit_landmarks(model, words, kinds).predict(["three", "hose"])
    array([0, 1])
    """
    if not isinstance(model, LandmarkClassifier):
        raise ValueError(f"model must be a LandmarkClassifier; got {type(model).__name__}.")
    if model.model != "ridge":
        raise ValueError(
            f"model must be 'ridge', which needs only sums over blocks; got {model.model!r}: use its own fit."
        )
    check_integer(block_size, "block_size", 1, none=True)
    client = current_client(client)

    def sum_moments(landmarks: Landmarks, labels: Labels, weights: np.ndarray | None) -> Moments:
        n, width = len(landmarks.training), max(len(landmarks.W), labels.n_classes + 1)
        lengths = lengths_of(n, block_size or min(row_blocks(n, width)[0].stop, -(-n // thread_total(client))))
        objects = landmarks.training.reader.objects
        with waiting(_ADVICE):
            comparison = hold(client, _Comparison(landmarks))
            parts = []
            for part in _matrix_parts(landmarks, lengths) if objects is None else cut(objects, lengths):
                rows = slice(part.first, part.first + len(part))
                codes, own = labels.codes[rows], None if weights is None else weights[rows]
                held = hold(client, part)
                parts.append(client.submit(_moments, held, comparison, codes, labels.n_classes, own, pure=False))
            return reduce_tree(client, _added, parts).result()

    return fit_by_moments(model, X, y, sum_moments)


class _MatrixPart:
    """Consecutive samples of a matrix: their native values to the landmarks, and those in the other direction."""

    def __init__(self, landmarks: Landmarks, rows: slice):
        to, native = landmarks.to, landmarks.training.native
        self.first, self._length = rows.start, rows.stop - rows.start
        self._block = native.block(rows, to.positions)
        self._back = native.back(rows, to.positions) if to.asymmetric else None

    def __len__(self) -> int:
        return self._length

    def block(self, rows: slice, columns: np.ndarray) -> Any:
        """Return the values of all rows to all landmarks."""
        return self._block

    def back(self, rows: slice, columns: np.ndarray) -> Any:
        """Return the transposed values of all landmarks to all rows, or None if they are not known."""
        return self._back


def _matrix_parts(landmarks: Landmarks, lengths: list[int]) -> list[_MatrixPart]:
    ends = np.cumsum(lengths).tolist()
    return [_MatrixPart(landmarks, slice(end - length, end)) for end, length in zip(ends, lengths)]


class _Comparison:
    """The comparison of samples with the landmarks."""

    def __init__(self, landmarks: Landmarks):
        self.to = landmarks.to
        kept = landmarks.training.reader.reduced_to(landmarks.positions)
        self.measure, self.objects = kept.measure, kept.objects

    def __call__(self, part: Part | _MatrixPart) -> np.ndarray:
        native: Any = part
        if isinstance(part, Part):
            native = ComputedValues(self.measure, part.objects, self.objects, self.to.positions, part.first)
        return self.to.block(native, slice(0, len(part)))


def _moments(part: Any, comparison: _Comparison, codes: np.ndarray, n_classes: int, weights: Any) -> Moments:
    """Return, on a worker, the moments of a block of samples."""
    return block_moments(comparison(part), np.eye(n_classes)[codes], weights)


def _added(*parts: Moments) -> Moments:
    """Return, on a worker, the moments of several blocks together."""
    return reduce(add, parts)
