"""Operating points: from which confidence on predictions have a wanted precision.

A prediction is assigned if its confidence, the probability of the predicted class, reaches a cut-off. The cut-off is
chosen on the predictions for left-out samples, ordered by their confidence. Of the r most confident ones k are right;
if the precision above the cut-off were below p, a count as large as this would have a probability of at most ::

    P(Bin(r, p) >= k)

The r at which this is at most alpha are accepted one after another, from the most confident predictions to the others,
until the first one fails; since the sequence ends there, all of its tests together err with a probability of at most
alpha (fixed-sequence testing). Very few predictions cannot prove anything, so that the sequence has several beginnings,
each after twice as many predictions as the one before, which share delta. With a cut-off for each class, the classes
share it, too.

References: Angelopoulos, Bates, Candès, Jordan & Lei, "Learn then test: calibrating predictive algorithms to achieve
risk control", Annals of Applied Statistics 19, 2025; Clopper & Pearson, "The use of confidence or fiducial limits
illustrated in the case of the binomial", Biometrika 26, 1934; Geifman & El-Yaniv, "Selective classification for deep
neural networks", NeurIPS 2017.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import bdtrc

from similitude._utils.checks import check_bool, check_interval
from similitude._utils.extras import require

PRECISIONS = (0.8, 0.9, 0.95, 0.99)
"""The precisions of the table of operating points."""

UNASSIGNED = "unassigned"
"""The label of samples that are assigned to no class."""

_DIGITS = 10
"""Confidences are rounded to this many decimals, so that equal ones that were added in another order stay equal."""


@dataclass(frozen=True, repr=False)
class OperatingPoint:
    """The confidence from which on predictions are assigned, so that they have a wanted precision.

    ``print`` shows it as a table.

    Parameters
    ----------
    precision : float
        The wanted share of right predictions among those that are assigned.
    delta : float
        The largest probability that the precision is missed: in all classes together or, if ``per_class``, in any class
        that has a cut-off of its own.
    classes : ndarray of shape (G,)
        The labels of the classes.
    cutoffs : ndarray of shape (G,)
        The smallest confidence with which a sample is assigned to each class; infinite if none is.
    own : ndarray of bool of shape (G,)
        Whether the cut-off is that of the class alone. The others share one, and the precision is that of all
        predictions of these classes together.
    predicted, assigned, right : ndarray of int of shape (G,)
        How many left-out samples with evidence are predicted as each class, how many of these are assigned, and how
        many of the assigned ones belong to the class.
    n_samples : int
        The number of all left-out samples, also of those without evidence, which are never assigned.
    needed : int
        The smallest number of predictions from which a cut-off can follow, if all of them are right.

    Attributes
    ----------
    coverage : float
        The share of all left-out samples that are assigned.
    measured_precision : float
        The share of right predictions among these; NaN if there are none.

    See Also
    --------
    similitude.AutoClassifier
        Evaluate the methods on the same folds, and combine those that work best together.

    Examples
    --------
    >>> from similitude import AutoClassifier
    >>> from similitude.datasets import load_voting
    >>> voting = load_voting()
    >>> auto = AutoClassifier(["k-NN", "SVM (clip)"], n_repeats=1, similarity="vdm").fit(voting.data, voting.target)
    >>> point = auto.operating_point(precision=0.95)
    >>> round(point.coverage, 2), round(point.measured_precision, 2)
    (0.95, 0.97)
    >>> point.assigns(["democrat", "democrat"], [0.99, 0.6])
    array([ True, False])
    """

    precision: float
    delta: float
    classes: np.ndarray
    cutoffs: np.ndarray
    own: np.ndarray
    predicted: np.ndarray
    assigned: np.ndarray
    right: np.ndarray
    n_samples: int
    needed: int

    @property
    def per_class(self) -> bool:
        """Whether a class has a cut-off of its own."""
        return bool(self.own.any())

    @property
    def coverage(self) -> float:
        return float(self.assigned.sum() / self.n_samples)

    @property
    def measured_precision(self) -> float:
        n = self.assigned.sum()
        return float(self.right.sum() / n) if n else float("nan")

    def assigns(self, labels: ArrayLike, confidence: ArrayLike) -> np.ndarray:
        """Return which predictions are assigned.

        Parameters
        ----------
        labels : array-like of shape (m,)
            The predicted labels.
        confidence : array-like of shape (m,)
            The probability of each.

        Returns
        -------
        ndarray of bool of shape (m,)
            Whether the confidence reaches the cut-off of the class.
        """
        labels, confidence = np.asarray(labels), np.asarray(confidence, dtype=float)
        places = np.searchsorted(self.classes, labels)
        known = np.minimum(places, len(self.classes) - 1)
        unknown = labels[self.classes[known] != labels]
        if len(unknown):
            raise ValueError(f"labels must hold classes of the operating point; got {unknown.tolist()[0]!r}.")
        return np.round(confidence, _DIGITS) >= self.cutoffs[known]

    def summary(self) -> str:
        """Return in one line how many left-out samples are assigned, and how many of these are right.

        Returns
        -------
        str
            The line.
        """
        kind = "precision of each class" if self.per_class else "precision"
        promise = f"{kind} {self.precision:g} (missed with a probability of at most {self.delta:g})"
        if not self.assigned.any():
            few = int(self.predicted.sum())
            why = f"{few} predictions, and at least {self.needed} are needed" if few < self.needed else "not reached"
            return f"{promise}: no sample is assigned ({why})"
        return (
            f"{promise}: {100 * self.coverage:.1f}% of {self.n_samples} left-out samples are assigned, of these "
            f"{100 * self.measured_precision:.1f}% are right"
        )

    def __repr__(self) -> str:
        if not self.per_class:
            cutoff = self.cutoffs.min()
            return self.summary() + (f"; cut-off {cutoff:.3f}" if np.isfinite(cutoff) else "")
        rows = [["class", "predicted", "assigned", "right", "cut-off"]]
        rows += [self._row(str(self.classes[g]), np.array([g])) for g in np.flatnonzero(self.own).tolist()]
        others = np.flatnonzero(~self.own)
        if len(others):
            rows.append(self._row(f"{len(others)} other{'s together' if len(others) > 1 else ''}", others))
        return "\n".join([self.summary(), *table_lines(rows)])

    def _row(self, name: str, places: np.ndarray) -> list[str]:
        """Return the cells of a class, or of several that share a cut-off."""
        predicted, n, right = (int(own[places].sum()) for own in (self.predicted, self.assigned, self.right))
        cutoff = self.cutoffs[places[0]]
        why = "too few" if predicted < self.needed else "not reached"
        share = f"{100 * right / n:.1f}%" if n else ""
        return [name, str(predicted), str(n), share, f"{cutoff:.3f}" if np.isfinite(cutoff) else why]


@dataclass(frozen=True, repr=False)
class OperatingPoints(Sequence):
    """The operating points of several precisions; ``print`` shows them as a table.

    Parameters
    ----------
    points : list of OperatingPoint
        The points.
    """

    points: list[OperatingPoint]

    def __len__(self) -> int:
        return len(self.points)

    def __getitem__(self, i: Any) -> Any:
        return self.points[i]

    def rows(self) -> list[dict[str, Any]]:
        """Return the figures of each point.

        Returns
        -------
        list of dict
            Precision, delta, cut-off (None if no sample is assigned, or if each class has its own), coverage, and the
            measured precision (None if no sample is assigned).
        """
        return [
            {
                "precision": point.precision,
                "delta": point.delta,
                "cutoff": None if point.per_class or not point.assigned.any() else float(point.cutoffs.min()),
                "coverage": point.coverage,
                "measured_precision": point.measured_precision if point.assigned.any() else None,
            }
            for point in self.points
        ]

    def to_frame(self) -> Any:
        """Return the figures of each point as a DataFrame.

        Returns
        -------
        pandas.DataFrame
            One row for each point, with the columns of :meth:`rows`.
        """
        return require("pandas", "data").DataFrame(self.rows())

    def __repr__(self) -> str:
        rows = [["precision", "assigned", "right", "cut-off"]]
        for own, point in zip(self.rows(), self.points):
            cutoff = "" if own["cutoff"] is None else f"{own['cutoff']:.3f}"
            if not point.assigned.any():
                cutoff = f"at least {point.needed} needed" if point.predicted.sum() < point.needed else "not reached"
            right = own["measured_precision"]
            share = "" if right is None else f"{100 * right:.1f}%"
            rows.append([f"{point.precision:g}", f"{100 * point.coverage:.1f}%", share, cutoff or "by class"])
        return "\n".join(table_lines(rows))


def table_lines(rows: list[list[str]]) -> list[str]:
    """Return rows of text in columns, the first to the left."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    return [
        "  ".join([row[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:]))])
        for row in rows
    ]


def samples_needed(precision: float, delta: float) -> int:
    """Return the smallest number of predictions that prove the precision if all of them are right."""
    return max(1, math.ceil(math.log(delta) / math.log(precision) - 1e-9))


def cutoff(confidence: np.ndarray, right: np.ndarray, precision: float, delta: float) -> float:
    """Return the smallest confidence above which the precision is proven; infinite if there is none.

    It lies halfway between the last prediction that is assigned and the first that is not.
    """
    n, fewest = len(confidence), samples_needed(precision, delta)
    if n < fewest:
        return np.inf
    n_starts = 1 + int(math.log2(n / fewest))
    alpha = delta / n_starts
    confidence = np.round(confidence, _DIGITS)
    order = np.argsort(-confidence, kind="stable")
    ranked = confidence[order]
    ends = np.flatnonzero(np.append(ranked[1:] != ranked[:-1], True))
    counts = ends + 1
    k = np.cumsum(right[order])[ends]
    # P(Bin(r, p) >= k); bdtrc(k - 1, ...) is 1 for k = 0
    fails = np.where(k > 0, bdtrc(np.maximum(k - 1, 0), counts, precision), 1.0) > alpha
    # the first end, from each end on, at which the test fails
    next_failure = np.minimum.accumulate(np.where(fails, np.arange(len(ends)), len(ends))[::-1])[::-1]
    starts = samples_needed(precision, alpha) * 2 ** np.arange(n_starts)
    begin = np.searchsorted(counts, starts[starts <= n])
    last = int(np.max([next_failure[i] - 1 for i in begin if not fails[i]], initial=-1))
    if last < 0:
        return np.inf
    if last == len(ends) - 1:
        return 0.0
    return float((ranked[ends[last]] + ranked[ends[last] + 1]) / 2)


def _groups(predicted: np.ndarray, precision: float, delta: float) -> list[np.ndarray]:
    """Return the classes that have a cut-off of their own, and the others together, if there are others.

    A class has one if it is predicted so often that its share of delta suffices.
    """
    order = np.argsort(-predicted, kind="stable")
    seen = int((predicted > 0).sum())
    for n_own in range(seen, 0, -1):
        n_groups = n_own + (n_own < seen)
        if predicted[order[n_own - 1]] >= samples_needed(precision, delta / n_groups):
            others = np.sort(order[n_own:])
            return [np.array([g]) for g in np.sort(order[:n_own])] + ([others] if len(others) else [])
    return [np.arange(len(predicted))]


def find_operating_point(
    classes: np.ndarray,
    codes: np.ndarray,
    confidence: np.ndarray,
    truth: np.ndarray,
    evidence: np.ndarray | None,
    precision: float,
    per_class: bool,
    delta: float,
) -> OperatingPoint:
    """Return the operating point of predictions for left-out samples.

    ``codes`` and ``truth`` are positions of the predicted and of the true classes.
    """
    check_interval(precision, "precision", "(0, 1)")
    check_interval(delta, "delta", "(0, 1)")
    check_bool(per_class, "per_class")
    precision, delta, G, n = float(precision), float(delta), len(classes), len(codes)
    if evidence is not None:
        codes, confidence, truth = codes[evidence], confidence[evidence], truth[evidence]
    right = codes == truth
    predicted = np.bincount(codes, minlength=G)
    groups = _groups(predicted, precision, delta) if per_class else [np.arange(G)]
    n_used = sum(predicted[group].any() for group in groups) or 1
    cutoffs, own = np.full(G, np.inf), np.zeros(G, dtype=bool)
    for group in groups:
        here = np.isin(codes, group)
        cutoffs[group] = cutoff(confidence[here], right[here], precision, delta / n_used)
        own[group] = per_class and len(group) == 1 and predicted[group[0]] >= samples_needed(precision, delta / n_used)
    assigned = np.round(confidence, _DIGITS) >= cutoffs[codes]
    return OperatingPoint(
        precision,
        delta,
        classes,
        cutoffs,
        own,
        predicted,
        np.bincount(codes[assigned], minlength=G),
        np.bincount(codes[assigned & right], minlength=G),
        n,
        samples_needed(precision, delta / n_used),
    )


def labels_at(labels: np.ndarray, assigned: np.ndarray, classes: np.ndarray, unassigned: Any) -> np.ndarray:
    """Return the labels, with ``unassigned`` in the place of those that are not assigned."""
    known = classes.tolist()
    if unassigned in known:
        raise ValueError(f"unassigned={unassigned!r} is a class; give another value for samples without one.")
    if {type(label) for label in known} == {type(unassigned)}:
        return np.where(assigned, labels, unassigned)
    found = labels.astype(object)
    found[~assigned] = unassigned
    return found
