"""LandmarkClassifier fitted by a cluster: moments of blocks of rows, added up in a tree."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import _safe_indexing

from similitude.base import unchanged_on_failure
from similitude.distributed._cluster import current_client, hold, reduce_tree, thread_total, waiting
from similitude.distributed._parts import lengths_of
from similitude.features.landmark_classifier import LandmarkClassifier
from similitude.features.landmark_moments import Moments, add, block_moments
from similitude.labels import class_weights
from similitude.similarities.pairwise import Named, _checked_block_size, named_values
from similitude.transform._landmarks import _ENTRIES, Landmarks, ObjectRows, similarities

_ADVICE = "lower block_size of fit_landmarks or n_landmarks of the model, or give the workers more memory"


def fit_landmarks(
    model: LandmarkClassifier, X: Any, y: Any, *, client: Any = None, block_size: int | None = None
) -> LandmarkClassifier:
    """``model.fit(X, y)`` on a cluster: the same model but for rounding.

    The landmarks are chosen here, with ``selection="random"`` or "stratified" at no cost. The workers compute the
    similarities of blocks of samples to them and make moments of each; these are added up in a tree, and only
    matrices of the size m + G come back.

    Parameters
    ----------
    model : LandmarkClassifier
        With ``model="ridge"``; it is fitted in place.
    X, y
        As ``fit`` takes them.
    client : distributed.Client, default=None
        None: the current one.
    block_size : int, default=None
        Samples in a block; None: so many that a block has at most 2 million similarities, and one-hot labels, and each
        thread of the workers gets one.

    Returns
    -------
    LandmarkClassifier
        The model.

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
            f"model={model.model!r}: only 'ridge' is made of sums over blocks of samples; use model.fit for the others."
        )
    length, client = _checked_block_size(block_size), current_client(client)
    with unchanged_on_failure(model):
        alpha = model._point({})
        model._check_parameters()
        landmarks = model._chosen_landmarks(X, y)
        n = landmarks.source.n
        labels = model._encoded(y, n)
        model._fitted_model, model._moments = model.model, None
        width = max(len(landmarks.W), len(model.classes_) + 1)
        length = length or min(max(1, _ENTRIES // width), -(-n // thread_total(client)))
        with waiting(_ADVICE):
            moments = _summed(client, model, landmarks, labels, lengths_of(n, length))
        [solution] = model._ridge(landmarks, moments, [alpha])
        model.coef_, model.intercept_ = solution
    return model


def _summed(
    client: Any, model: LandmarkClassifier, landmarks: Landmarks, labels: np.ndarray, lengths: list[int]
) -> Moments:
    """The moments of all samples."""
    to = hold(client, _ToLandmarks(landmarks))
    weights = None if model.class_weight is None else class_weights(model, labels)
    n_classes, first, parts = len(model.classes_), 0, []
    for length in lengths:
        rows = slice(first, first + length)
        own = None if weights is None else weights[rows]
        samples = hold(client, _Samples(landmarks, rows))
        parts.append(client.submit(_moments, samples, to, labels[rows], n_classes, own, pure=False))
        first += length
    return reduce_tree(client, _added, parts).result()


class _Samples:
    """A block of samples: objects, or native values to the landmarks where X is a matrix."""

    def __init__(self, landmarks: Landmarks, rows: slice):
        source, positions = landmarks.source, landmarks.positions
        self.objects = self.native = self.back = None
        if isinstance(source, ObjectRows):
            self.objects, self.places = _safe_indexing(source.objects, rows), np.arange(rows.start, rows.stop)
            return
        self.native = source.to(rows, positions)
        self.back = source.back(rows, positions) if landmarks.asymmetric else None


class _ToLandmarks:
    """Similarities to the landmarks."""

    def __init__(self, landmarks: Landmarks):
        source = landmarks.source
        self.map, self.asymmetric, self.measure = landmarks.map, landmarks.asymmetric, None
        if isinstance(source, ObjectRows):
            self.measure, self.places = source.measure, landmarks.positions
            self.objects = _safe_indexing(source.objects, self.places)

    def __call__(self, samples: _Samples) -> np.ndarray:
        native, back = samples.native, samples.back
        if self.measure is not None:
            rows, columns = Named(samples.objects, samples.places), Named(self.objects, self.places)
            native = named_values(rows, columns, self.measure)
            back = named_values(columns, rows, self.measure).T if self.asymmetric else None
        C = similarities(native, self.map)
        return C if back is None else (C + similarities(back, self.map)) / 2


def _moments(
    samples: _Samples, to: _ToLandmarks, labels: np.ndarray, n_classes: int, weights: np.ndarray | None
) -> Moments:
    """On a worker: the moments of a block."""
    return block_moments(to(samples), np.eye(n_classes)[labels], weights)


def _added(*parts: Moments) -> Moments:
    """On a worker: the moments of several blocks together."""
    total = parts[0]
    for part in parts[1:]:
        total = add(total, part)
    return total
