"""Sets of classes, calibrated on the answers for left-out samples (conformal prediction).

A nonconformity score is large if a class does not suit a sample. The p-value of class g for a sample x compares its
score with those of left-out samples, with their true classes::

    p_g(x) = (1 + #{i : a_i >= a_g(x)}) / (1 + n)

where i runs over the n samples of class g, or over all samples. The set of x holds the classes whose p-value exceeds
1 - confidence.

References: Vovk, "Cross-conformal predictors", Annals of Mathematics and Artificial Intelligence 74, 2015; Sadinle, Lei
& Wasserman, "Least ambiguous set-valued classifiers with bounded error levels", JASA 114, 2019 (LAC); Romano, Sesia &
Candès, "Classification with valid and adaptive coverage", NeurIPS 2020 (APS).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np

from similitude._utils.checks import check_bool, check_choice
from similitude._utils.types import ClassPositions
from similitude._utils.warn import warn
from similitude.numerics.class_columns import ClassColumns
from similitude.proximity.check import SimilarityWarning

_SHOWN = 5
_BLOCK = 2**22

SCORES = ("lac", "aps")
"""The names of the nonconformity scores."""

NEARLY = 0.01
"""Scores of different fits that differ by no more than this count as equal: by LAC posteriors that differ by 1%."""

_DIGITS = 10
"""Scores are rounded to this many decimals, so that equal posteriors that were added in another order stay equal."""


def check_confidence(confidence: Any, name: str = "confidence") -> float:
    """Return the confidence, or raise a ValueError if it is not between 0 and 1."""
    if isinstance(confidence, bool) or not isinstance(confidence, Real) or not 0 < float(confidence) < 1:
        raise ValueError(
            f"{name} must be a number above 0 and below 1, such as 0.9 for sets that hold the class of 90% of the "
            f"samples; got {confidence!r}."
        )
    return float(confidence)


def samples_needed(confidence: float) -> int:
    """Return the smallest number of left-out samples with which a class can be excluded from a set."""
    return int(np.ceil(1 / (1 - confidence) - 1 - 1e-9))


def nonconformity(log_posteriors: np.ndarray, method: str, counts: np.ndarray | None = None) -> np.ndarray:
    """Return the nonconformity scores of all classes; ``counts`` are the classes that each column stands for."""
    largest = log_posteriors.max(axis=1, keepdims=True)
    shifted = log_posteriors - np.where(np.isfinite(largest), largest, 0.0)
    posteriors = np.exp(shifted)
    counts = np.ones(posteriors.shape[1]) if counts is None else counts
    total = (posteriors * counts).sum(axis=1, keepdims=True)
    if method == "lac":
        return np.round(np.log(total) - shifted, _DIGITS)
    posteriors = np.round(posteriors / total, _DIGITS)
    scores = np.empty_like(posteriors)
    for g in range(posteriors.shape[1]):
        own = posteriors[:, g : g + 1]
        shares = (posteriors > own) + (posteriors == own) / 2
        scores[:, g] = np.sum(counts * posteriors * shares, axis=1)
    return np.round(scores, _DIGITS)


def counts_of_larger(
    scores: np.ndarray, known: np.ndarray, codes: np.ndarray | None, tolerance: float = 0.0
) -> np.ndarray:
    """Return how many known scores are at least as large as each score."""
    found = np.empty(scores.shape, dtype=np.intp)
    for g in range(scores.shape[1]):
        reference = np.sort(known if codes is None else known[codes == g])
        found[:, g] = len(reference) - np.searchsorted(reference, scores[:, g] - tolerance, side="left")
    return found


@dataclass(frozen=True, repr=False)
class SetCoverage:
    """How often sets of left-out samples hold the true class, and how large they are; ``print`` shows it as a table.

    Each sample has the set that the answers for the other folds give it.

    Parameters
    ----------
    confidence : float
        The share of samples whose set is to hold their class.
    classes : ndarray of shape (G,)
        The labels of the classes.
    counts : ndarray of int of shape (G,)
        The number of left-out samples of each class.
    covered : ndarray of int of shape (G,)
        The number of them whose set holds their class.
    sizes : ndarray of int of shape (G, G + 1)
        ``sizes[g, k]`` is the number of samples of class g whose set has k classes.
    sets : ndarray of bool of shape (t, G)
        The sets of the left-out samples.
    by_evidence : tuple of two floats or None, default=None
        The coverage of the left-out samples whose rows gave evidence, and of the others; None if all gave evidence.

    Attributes
    ----------
    coverage : float
        The share of all left-out samples whose set holds their class.
    by_class : ndarray of shape (G,)
        The same for each class; NaN for a class without left-out samples.
    mean_size : float
        The mean number of classes in a set.

    See Also
    --------
    similitude.PredictionSets
        Predict sets of classes that hold the true class with a stated confidence (cross-conformal prediction).
    """

    confidence: float
    classes: np.ndarray
    counts: np.ndarray
    covered: np.ndarray
    sizes: np.ndarray
    sets: np.ndarray
    by_evidence: tuple[float, float] | None = None

    @property
    def misses(self) -> bool:
        """Whether the coverage is smaller than the confidence by more than three standard errors."""
        return misses(self.confidence, self.coverage, len(self.sets))

    @property
    def coverage(self) -> float:
        return float(self.covered.sum() / self.counts.sum())

    @property
    def by_class(self) -> np.ndarray:
        return np.where(self.counts > 0, self.covered / np.maximum(self.counts, 1), np.nan)

    @property
    def mean_size(self) -> float:
        return float(self.sets.sum() / len(self.sets))

    def summary(self) -> str:
        """Return the coverage and the sizes of all sets in one line.

        Returns
        -------
        str
            The line.
        """
        empty = int(self.sizes[:, 0].sum())
        apart = ""
        if self.by_evidence is not None:
            apart = " ({:.1f}% with evidence, {:.1f}% without)".format(*(100 * share for share in self.by_evidence))
        return (
            f"confidence {self.confidence:g}: measured coverage {100 * self.coverage:.1f}% of {len(self.sets)} "
            f"left-out samples{apart}, {self.mean_size:.2f} classes in a set on average, {empty} empty"
        )

    def __repr__(self) -> str:
        rows = [["class", "samples", "coverage", "mean size", "empty"]]
        for g, label in enumerate(self.classes.tolist()):
            n = int(self.counts[g])
            if n:
                size = self.sizes[g] @ np.arange(self.sizes.shape[1]) / n
                share = f"{100 * self.by_class[g]:.1f}%"
                rows.append([str(label), str(n), share, f"{size:.2f}", str(self.sizes[g, 0])])
        widths = [max(len(row[i]) for row in rows) for i in range(5)]
        lines = [
            "  ".join([row[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:]))])
            for row in rows
        ]
        return "\n".join([self.summary(), *lines])


@dataclass(frozen=True)
class Calibration:
    """The answers of classifiers for samples that they were not trained on, from which sets are calibrated.

    If ``own`` is given, it holds the classes of the columns of each sample, one sample after the other, and the last
    column stands for all other classes (:class:`~similitude.numerics.class_columns.ClassColumns`).
    """

    classes: np.ndarray
    log_posteriors: np.ndarray
    codes: ClassPositions
    parts: np.ndarray
    evidence: np.ndarray | None = None
    own: ClassPositions | None = None

    @property
    def columns(self) -> ClassColumns:
        """The classes of the columns."""
        n, width = self.log_posteriors.shape
        return ClassColumns(len(self.classes), None if self.own is None else self.own.reshape(n, width - 1))

    def posterior_of(self, classes: np.ndarray) -> np.ndarray:
        """Return the posterior of one class of each left-out sample, given by its position."""
        return np.exp(self.log_posteriors[np.arange(len(classes)), self.columns.codes(classes)])

    def p_values(
        self,
        log_posteriors: np.ndarray | Sequence[np.ndarray],
        method: str,
        class_conditional: bool,
        evidence: np.ndarray | None = None,
    ) -> np.ndarray:
        """Return the p-value of each class for new samples.

        Samples without evidence are a category of their own: they are compared with left-out samples without evidence,
        of all classes together, since nothing distinguishes them. All others are compared with those that gave
        evidence. The p-value of a class that was not tested is 1.
        """
        m = len(log_posteriors if isinstance(log_posteriors, np.ndarray) else log_posteriors[0])
        some, known = (
            np.ones(n, dtype=bool) if given is None else given
            for n, given in ((m, evidence), (len(self.codes), self.evidence))
        )
        found = np.empty((m, len(self.classes)))
        for which, among, by_class in ((some, known, class_conditional), (~some, ~known, False)):
            if which.any():
                found[which] = self._within(log_posteriors, which, among, method, by_class)
        found[:, self.counts == 0] = 1.0
        return found

    def _within(
        self, log_posteriors: Any, which: np.ndarray, among: np.ndarray, method: str, class_conditional: bool
    ) -> np.ndarray:
        """Return the p-values of some new samples, compared with some of the left-out samples."""
        own = self._own_scores(method)
        codes = self.codes if class_conditional else None
        single = isinstance(log_posteriors, np.ndarray)
        larger = np.zeros((), dtype=np.intp)
        for part, answers in enumerate([log_posteriors] if single else log_posteriors):
            here = among if single else among & (self.parts == part)
            within = None if codes is None else codes[here]
            # Scores of one fit are equal or not; those of different fits are never exactly equal.
            tolerance = NEARLY if single else 0.0
            larger = larger + counts_of_larger(nonconformity(answers[which], method), own[here], within, tolerance)
        counts = np.bincount(self.codes[among], minlength=len(self.classes)) if class_conditional else among.sum()
        return (1 + larger) / (1 + counts)

    def _part(self, which: np.ndarray) -> Calibration:
        evidence = None if self.evidence is None else self.evidence[which]
        own = None if self.own is None else self.columns.at(which).own
        parts = self.log_posteriors[which], self.codes[which], self.parts[which], evidence
        return Calibration(self.classes, *parts, None if own is None else own.ravel())

    def _own_scores(self, method: str) -> np.ndarray:
        columns = self.columns
        scores = nonconformity(self.log_posteriors, method, columns.counts)
        return scores[np.arange(len(self.codes)), columns.codes(self.codes)]

    @property
    def counts(self) -> np.ndarray:
        """The number of left-out samples of each class."""
        return np.bincount(self.codes, minlength=len(self.classes))

    def held(self, confidence: float, method: str, class_conditional: bool) -> np.ndarray:
        """Return whether the set of each left-out sample holds its class, without the sets themselves."""
        scores = self._own_scores(method)
        known = np.ones(len(scores), dtype=bool) if self.evidence is None else self.evidence
        p_values = np.empty(len(scores))
        for part in np.unique(self.parts):
            here, others = self.parts == part, self.parts != part
            for among, by_class in ((known, class_conditional), (~known, False)):
                codes = self.codes if by_class else np.zeros(len(scores), dtype=np.intp)
                p_values[here & among] = _p_values(scores, codes, here & among, others & among)
            tested = np.bincount(self.codes[others], minlength=len(self.classes)) > 0
            p_values[here & ~tested[self.codes]] = 1.0
        return in_set(p_values, confidence)

    def coverage(self, confidence: float, method: str, class_conditional: bool) -> SetCoverage:
        """Return the coverage and the sizes of the sets of the left-out samples."""
        G = len(self.classes)
        sets = np.empty((len(self.codes), G), dtype=bool)
        for part in np.unique(self.parts):
            here, rest = np.flatnonzero(self.parts == part), self._part(self.parts != part)
            step = max(1, _BLOCK // G)
            for some in (here[i : i + step] for i in range(0, len(here), step)):
                answers = self.columns.at(some).all(self.log_posteriors[some])
                evidence = None if self.evidence is None else self.evidence[some]
                found = rest.p_values(answers, method, class_conditional, evidence)
                sets[some] = in_set(found, confidence)
        held = sets[np.arange(len(sets)), self.codes]
        sizes = np.bincount(self.codes * (G + 1) + sets.sum(axis=1), minlength=G * (G + 1)).reshape(G, G + 1)
        covered = np.bincount(self.codes[held], minlength=G)
        by_evidence = None
        if self.evidence is not None and not self.evidence.all():
            by_evidence = _share(held[self.evidence]), _share(held[~self.evidence])
        return SetCoverage(confidence, self.classes, self.counts, covered, sizes, sets, by_evidence)


def _share(held: np.ndarray) -> float:
    return float(held.mean()) if len(held) else float("nan")


def _p_values(scores: np.ndarray, codes: np.ndarray, which: np.ndarray, among: np.ndarray) -> np.ndarray:
    """Return the p-values of some scores among others of the same code."""
    own, known = scores[which], scores[among]
    known = known[np.lexsort((known, codes[among]))]
    n_codes = int(codes.max(initial=0)) + 1
    ends = np.cumsum(np.bincount(codes[among], minlength=n_codes))
    order = np.argsort(codes[which], kind="stable")
    groups = np.split(order, np.cumsum(np.bincount(codes[which], minlength=n_codes))[:-1])
    found = np.empty(len(own))
    for start, stop, group in zip([0, *ends.tolist()], ends.tolist(), groups):
        larger = stop - start - np.searchsorted(known[start:stop], own[group] - NEARLY, side="left")
        found[group] = (1 + larger) / (1 + stop - start)
    return found


def misses(confidence: float, coverage: float, n: int) -> bool:
    """Return whether the coverage of n samples is smaller than the confidence by more than three standard errors."""
    return coverage < confidence - 3 * (confidence * (1 - confidence) / n) ** 0.5


def warn_of_coverage(confidence: float, coverage: float, n: int) -> None:
    """Warn if sets of left-out samples hold the class less often than the confidence states."""
    if misses(confidence, coverage, n):
        warn(
            f"sets of classes at confidence {confidence:g} hold the class of only "
            f"{100 * coverage:.1f}% of the left-out samples: the fits of the folds differ too much, or too "
            "few folds were tested. Use more samples, more time (time_budget), or PredictionSets.",
            SimilarityWarning,
        )


def in_set(p_values: np.ndarray, confidence: float) -> np.ndarray:
    """Return which classes are in the set: those whose p-value exceeds ``1 - confidence``."""
    return p_values > 1 - confidence + 1e-12


def check_set_parameters(confidence: Any, method: Any, class_conditional: Any) -> float:
    """Return the confidence, or raise a ValueError for a parameter of sets that is not valid."""
    check_choice(method, "method", SCORES)
    check_bool(class_conditional, "class_conditional")
    return check_confidence(confidence)


def check_class_sizes(
    classes: np.ndarray, counts: np.ndarray, confidence: float, class_conditional: bool, tested: str = "samples"
) -> None:
    """Raise a ValueError that names the classes that are too small to be calibrated."""
    needed = samples_needed(confidence)
    if not class_conditional:
        if counts.sum() < needed:
            raise ValueError(
                f"confidence={confidence:g} needs at least {needed} {tested}; got {counts.sum()}. Use a lower "
                "confidence or more samples."
            )
        return
    small = np.flatnonzero(counts < needed)
    if not len(small):
        return
    named = ", ".join(f"{classes.tolist()[g]!r} has {counts[g]}" for g in small[:_SHOWN])
    more = f" and {len(small) - _SHOWN} more are too small" if len(small) > _SHOWN else ""
    smallest = counts[small].min()
    lower = "" if smallest < 1 else f"a confidence of at most {np.floor(1e4 * smallest / (smallest + 1)) / 1e4:g}, "
    raise ValueError(
        f"confidence={confidence:g} with class_conditional=True needs at least {needed} {tested} of each class; class "
        f"{named}{more}. Use class_conditional=False, which calibrates all classes together, {lower}or more "
        "samples."
    )


def calibration_of(model: Any) -> Any:
    """Return the :class:`Calibration` of a fitted classifier; None if it has none."""
    return getattr(model, "_calibration", None)
