"""Labels, and the parameters that are given by class: weights, costs, priors."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any

import numpy as np
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d

from similitude._utils.checks import first_missing, is_missing
from similitude._utils.forms import is_frame
from similitude._utils.ids import index_names
from similitude._utils.scikit_learn import checked_sample_weight
from similitude._utils.types import ClassPositions


@dataclass(frozen=True)
class Labels:
    """Checked labels with their weights, costs and priors."""

    classes: np.ndarray
    codes: ClassPositions
    sample_weight: np.ndarray | None = None
    costs: np.ndarray | None = None
    priors: np.ndarray | None = None

    def __len__(self) -> int:
        return len(self.codes)

    @property
    def n_classes(self) -> int:
        """The number of classes."""
        return len(self.classes)

    @property
    def counts(self) -> np.ndarray:
        """The number of samples of each class."""
        return np.bincount(self.codes, minlength=len(self.classes))

    @property
    def weighted_counts(self) -> np.ndarray:
        """The total weight of the samples of each class: their number if they have no weights."""
        return np.bincount(self.codes, self.sample_weight, minlength=len(self.classes))

    @property
    def shares(self) -> np.ndarray:
        """The share of each class in the samples."""
        return self.counts / len(self.codes)

    @property
    def members(self) -> list[np.ndarray]:
        """The positions of the samples of each class."""
        return [np.flatnonzero(self.codes == g) for g in range(len(self.classes))]

    def among(self, present: np.ndarray) -> Labels:
        """Return the labels with only some of the classes, in their order, and a last one for all others."""
        places = np.full(self.n_classes, len(present))
        places[present] = np.arange(len(present))
        return Labels(np.arange(len(present) + 1), places[self.codes], self.sample_weight)

    def take(self, kept: np.ndarray) -> Labels:
        """Return the labels of some of the samples, with the same classes."""
        weight = None if self.sample_weight is None else self.sample_weight[kept]
        return Labels(self.classes, self.codes[kept], weight, self.costs, self.priors)


def check_labels(y: Any, n: int) -> np.ndarray:
    """Return class labels as a one-dimensional array of length n, or raise a ValueError."""
    if y is None:
        raise ValueError("y must be given: this classifier requires y to be passed, but the target y is None.")
    plain = getattr(getattr(y, "dtype", None), "numpy_dtype", None)
    if plain is not None and plain.kind in "biu" and not y.isna().any():
        y = y.to_numpy(plain)  # the nullable integers and booleans of pandas would become float64
    with contextlib.suppress(ValueError):  # lists of unequal lengths are refused below
        y = np.asarray(y) if not hasattr(y, "dtype") else y
    shape: tuple[int, ...] = getattr(y, "shape", ())
    if len(shape) == 2 and shape[1] > 1:
        raise ValueError(
            f"y must have one label per sample; got an array of shape {shape}. Several labels of each sample are "
            "for MultilabelClassifier, and lineages in columns for HierarchicalClassifier."
        )
    y = column_or_1d(y, warn=True)
    check_no_missing(y)
    if y.dtype == object and len({isinstance(label, str) for label in y.tolist()}) > 1:
        kinds = ", ".join(sorted({type(label).__name__ for label in y.tolist()}))
        raise ValueError(f"y must hold labels of one kind, all numbers or all text; got {kinds}.")
    check_classification_targets(y)
    if len(y) != n:
        raise ValueError(f"y must have one label per sample; got {len(y)} labels for {n} samples.")
    return y


def check_no_missing(y: np.ndarray) -> None:
    """Raise a ValueError if a label is missing."""
    missing = first_missing(y)
    if missing is not None:
        raise ValueError(
            f"y contains a missing label (first at position {missing}); every sample needs one. "
            "AutoClassifier(unlabelled='use') takes samples without a label."
        )


def labelled_positions(y: Any, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the positions of the samples that have a label, and their labels.

    A label is missing if it is -1 among numbers, as in scikit-learn, or None, NaN, NA or empty text.
    """
    y = np.asarray(y, dtype=object) if isinstance(y, (list, tuple)) else np.asarray(y)
    if y.ndim != 1 or len(y) != n:
        raise ValueError(f"y must have one label, or a missing one, per sample; got shape {y.shape} for {n} samples.")
    has_label = np.array([not _without_label(label) for label in y.tolist()], dtype=bool)
    if not has_label.any():
        raise ValueError(
            "y: no sample has a label; with unlabelled='use', -1, None and empty text mean that one is missing."
        )
    labels = np.array(y[has_label].tolist())
    return np.flatnonzero(has_label), check_labels(labels, len(labels))


def _without_label(label: Any) -> bool:
    """Return whether a label is missing."""
    if is_missing(label) or (isinstance(label, (str, bytes)) and not label.strip()):
        return True
    return isinstance(label, (int, float)) and not isinstance(label, bool) and label == -1


def check_two_classes(classes: np.ndarray) -> None:
    """Raise a ValueError if there is only one class."""
    if len(classes) < 2:
        raise ValueError(f"y must have at least two classes; got one class, {classes.tolist()[0]!r}.")


def encoded_labels(y: np.ndarray, costs: Any, priors: Any, class_weight: Any) -> Labels:
    """Return checked labels in encoded form, with the costs, priors and class weights."""
    classes, codes = np.unique(y, return_inverse=True)
    check_two_classes(classes)
    labels = Labels(classes, codes, None, costs_matrix(costs, classes), priors_vector(priors, classes))
    return labels if class_weight is None else replace(labels, sample_weight=class_weights(class_weight, labels))


def relative_priors(labels: Labels, sample_weight: np.ndarray | None) -> Labels:
    """Return labels whose priors replace the shares of the classes in the weighted samples, not in the samples."""
    if labels.priors is None or sample_weight is None:
        return labels
    priors = labels.priors * labels.shares / np.bincount(labels.codes, sample_weight)
    return replace(labels, priors=priors / priors.sum())


def class_weights(given: Any, labels: Labels) -> np.ndarray:
    """Return the weight that the parameter ``class_weight`` gives to each sample."""
    numbers = given.values() if isinstance(given, Mapping) else ()
    if not all(isinstance(number, Real) and 0 < float(number) < np.inf for number in numbers):
        raise ValueError(f"class_weight must hold finite numbers above 0; got {given!r}.")
    classes = labels.classes
    return compute_class_weight(given, classes=classes, y=classes[labels.codes])[labels.codes]


def loss_weights(class_weight: Any, labels: Labels) -> np.ndarray:
    """Return the factor of the loss of each sample, which ``class_weight`` and its own weight give."""
    weights = class_weights(class_weight, labels)
    return weights if labels.sample_weight is None else weights * labels.sample_weight


def check_sample_weight(sample_weight: Any, labels: np.ndarray, classes: np.ndarray) -> np.ndarray | None:
    """Return the weights of the samples as an array, or raise a ValueError."""
    if sample_weight is None:
        return None
    weights = checked_sample_weight(sample_weight, labels, dtype=np.float64)
    if not np.all(weights >= 0) or not np.isfinite(weights).all():
        raise ValueError("sample_weight must hold finite numbers of at least 0.")
    missing = classes[np.bincount(labels[weights > 0], minlength=len(classes)) == 0]
    if len(missing):
        raise ValueError(
            f"sample_weight must leave every class a sample of positive weight; class {missing.tolist()[0]!r} has none."
        )
    return weights


def costs_matrix(costs: Any, classes: np.ndarray) -> np.ndarray | None:
    """Return ``costs`` as an array, whose entry ``[f, g]`` is the cost of predicting f when the truth is g."""
    if costs is None:
        return None
    n_classes = len(classes)
    if is_frame(costs) and index_names(costs.index).kind != "numbered":
        costs = {f: dict(row.items()) for f, row in costs.iterrows()}
    if isinstance(costs, Mapping):
        rows = _by_label(costs, classes, "costs")
        if not all(isinstance(row, Mapping) for row in rows):
            raise ValueError("costs by label must be a dict of dicts: costs[predicted][truth].")
        matrix = np.array([numbers_by_class(row, classes, f"costs[{f!r}]") for f, row in zip(classes.tolist(), rows)])
    else:
        matrix = numbers_by_class(costs, classes, "costs")
    if matrix.shape != (n_classes, n_classes):
        raise ValueError(
            f"costs must have shape ({n_classes}, {n_classes}), one row and column per class; got {matrix.shape}."
        )
    if not np.isfinite(matrix).all():
        raise ValueError("costs contains NaN or infinity; every cost must be a finite number.")
    return matrix


def numbers_by_class(values: Any, classes: np.ndarray, name: str) -> np.ndarray:
    """Return numbers that are given as an array or by label, as in a dict or a Series with the labels as index."""
    if hasattr(values, "iloc") and not is_frame(values) and index_names(values.index).kind != "numbered":
        values = dict(values.items())
    try:
        return np.asarray(_by_label(values, classes, name) if isinstance(values, Mapping) else values, dtype=float)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} must be numbers, one for each class in order or by label: {error}") from error


def _by_label(values: Mapping, classes: np.ndarray, name: str) -> list:
    unknown = set(values) - set(classes.tolist())
    missing = [c for c in classes.tolist() if c not in values]
    if unknown or missing:
        raise ValueError(f"{name} must name every class once; missing {missing}, unknown {sorted(map(str, unknown))}.")
    return [values[c] for c in classes.tolist()]


def priors_vector(priors: Any, classes: np.ndarray) -> np.ndarray | None:
    """Return ``priors`` as probabilities in the order of ``classes``."""
    if priors is None:
        return None
    vector = numbers_by_class(priors, classes, "priors")
    if vector.shape != (len(classes),):
        raise ValueError(f"priors must have one entry per class ({len(classes)}); got shape {vector.shape}.")
    if not np.all(vector >= 0) or not np.isclose(vector.sum(), 1.0):
        raise ValueError(f"priors must be non-negative and sum to 1; got sum {vector.sum():.6g}.")
    return vector
