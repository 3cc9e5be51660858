"""How the error depends on the similarity to the nearest training sample."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from scipy import sparse
from scipy.stats import binomtest
from sklearn.base import BaseEstimator
from sklearn.model_selection import check_cv

from similitude._utils.checks import check_integer, check_interval
from similitude._utils.ids import labels_in_order
from similitude._utils.types import Folds, LabelsLike, ListLike, SamplesLike
from similitude.evaluation.engine import evaluate, predictions, samples_for
from similitude.evaluation.folds import Split
from similitude.labels import check_labels
from similitude.proximity.proximities import as_proximities
from similitude.proximity.split import cut
from similitude.reader import Samples

LEAST = 20
"""The smallest number of samples in a bin."""


@dataclass(frozen=True)
class ErrorBin:
    """The error of the test samples whose nearest training sample is within a range."""

    nearest: float
    farthest: float
    middle: float
    count: int
    error: float
    low: float
    high: float


@dataclass(frozen=True, repr=False)
class ErrorBySimilarity:
    """The result of :func:`error_by_similarity`; ``str()`` returns it as a table of plain text.

    Parameters
    ----------
    bins : tuple of ErrorBin
        The bins, the one with the most similar training samples first; each has about the same number of test samples.
    error : float
        The error of all test samples.
    dissimilarity : bool
        Whether the values are dissimilarities, so that smaller means more alike.
    confidence : float
        The confidence of the intervals.
    unknown : ErrorBin or None, default=None
        The test samples without a known similarity to a training sample.

    See Also
    --------
    similitude.error_by_similarity
        Return the cross-validated error as a function of the similarity to the nearest training sample.
    similitude.plotting.ErrorBySimilarityDisplay
        The cross-validated error against the similarity to the nearest training sample, with a band.
    """

    bins: tuple[ErrorBin, ...]
    error: float
    dissimilarity: bool
    confidence: float
    unknown: ErrorBin | None = None

    def summary(self) -> str:
        """Return one sentence with the errors of the nearest and of the farthest samples.

        Returns
        -------
        str
            Such as "closer than 0.9: 1% wrong; below 0.5: 24%".
        """
        if len(self.bins) < 2:
            return f"all samples: {self.error:.0%} wrong"
        first, last = self.bins[0], self.bins[-1]
        beyond = "beyond" if self.dissimilarity else "below"
        near, far = _edge(first, self.bins[1]), _edge(self.bins[-2], last)
        return f"closer than {near:.3g}: {first.error:.0%} wrong; {beyond} {far:.3g}: {last.error:.0%}"

    def to_dict(self) -> dict[str, Any]:
        """Return the result as plain values.

        Returns
        -------
        dict
            The values by name.
        """
        return asdict(self)

    def __str__(self) -> str:
        kind = "dissimilarity" if self.dissimilarity else "similarity"
        lines = [f"Error by the {kind} to the nearest training sample: {self.summary()}", ""]
        lines.append(f"  {'from':>10}  {'to':>10}  {'samples':>8}  {'error':>7}  {self.confidence:.0%} interval")
        for found in self.bins:
            lines.append(f"  {found.nearest:>10.4g}  {found.farthest:>10.4g}  {_figures(found)}")
        if self.unknown is not None:
            lines.append(f"  {'unknown':>10}  {'':>10}  {_figures(self.unknown)}")
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"<ErrorBySimilarity: {self.summary()}; print() shows the table>"


def _figures(found: ErrorBin) -> str:
    return f"{found.count:>8}  {found.error:>7.1%}  {found.low:.1%} to {found.high:.1%}"


def _edge(near: ErrorBin, far: ErrorBin) -> float:
    return (near.farthest + far.nearest) / 2


def error_by_similarity(
    estimator: BaseEstimator,
    X: SamplesLike,
    y: LabelsLike,
    *,
    cv: Folds = 5,
    groups: ListLike | None = None,
    n_bins: int = 10,
    confidence: float = 0.95,
    n_jobs: int | None = None,
) -> ErrorBySimilarity:
    """Return the cross-validated error as a function of the similarity to the nearest training sample.

    If the error is small only for samples with a near twin among the training samples, a cross-validated error says
    little about samples that are really new: :class:`~similitude.SimilarityGroupKFold` makes folds without such twins.

    Parameters
    ----------
    estimator : classifier
        The classifier, which is cloned and fitted on each training part.
    X, y
        The samples and their labels.
    cv : int, splitter or iterable, default=5
        The folds, as in scikit-learn.
    groups : array-like of shape (n,), default=None
        The groups, for the splitter.
    n_bins : int, default=10
        The largest number of bins; each has at least 20 test samples.
    confidence : float, default=0.95
        The confidence of the intervals.
    n_jobs : int, default=None
        The number of folds that are evaluated at the same time.

    Returns
    -------
    ErrorBySimilarity
        Its attribute ``bins`` holds the curve; ``print`` shows it as a table.

    See Also
    --------
    similitude.plotting.ErrorBySimilarityDisplay : The curve as a picture.
    SimilarityGroupKFold : Folds without near-duplicates on both sides.

    Examples
    --------
    >>> from similitude import KNNClassifier, error_by_similarity
    >>> from similitude.datasets import load_voting
    >>> voting = load_voting()
    >>> found = error_by_similarity(KNNClassifier(5, similarity="counting"), voting.data, voting.target, n_bins=3)
    >>> found
    <ErrorBySimilarity: closer than 14.5: 2% wrong; below 14.5: 13%; print() shows the table>
    """
    y, groups = labels_in_order(y, X), labels_in_order(groups, X, "groups")
    samples = samples_for(estimator, X, np.asarray(y))
    if samples.contract is None:
        raise ValueError(f"estimator must be a classifier on similarities; got {type(estimator).__name__}.")
    labels = check_labels(y, samples.n)
    splits = check_cv(cv, labels, classifier=True).split(samples.X, labels, groups)
    everything = np.arange(samples.n)
    folds = [(everything[train], everything[test]) for train, test in splits]
    method: dict[str, tuple[Any, list[dict]]] = {"estimator": (estimator, [{}])}
    found = [fold["estimator"].results[0] for fold in evaluate(samples, method, folds, predictions, n_jobs=n_jobs)]
    wrong = np.concatenate([predicted != labels[test] for predicted, (_, test) in zip(found, folds)])
    nearest = np.concatenate([_nearest(samples, fold) for fold in folds])
    smaller = samples.contract.map_name is not None
    return errors_in_bins(nearest, wrong, dissimilarity=smaller, n_bins=n_bins, confidence=confidence)


def errors_in_bins(
    nearest: np.ndarray, wrong: np.ndarray, *, dissimilarity: bool, n_bins: int = 10, confidence: float = 0.95
) -> ErrorBySimilarity:
    """Return the error of test samples in bins of their similarity to the nearest training sample."""
    check_integer(n_bins, "n_bins", 1)
    check_interval(confidence, "confidence", "(0, 1)")
    known = ~np.isnan(nearest)
    order = np.argsort(nearest[known] if dissimilarity else -nearest[known], kind="stable")
    values, failed = nearest[known][order], np.asarray(wrong)[known][order]
    least = max(LEAST, -(-len(values) // n_bins))
    starts = [0]
    for i in np.flatnonzero(values[1:] != values[:-1]) + 1:
        if i - starts[-1] >= least:
            starts.append(int(i))
    if len(starts) > 1 and len(values) - starts[-1] < max(LEAST, least / 2):
        starts.pop()
    bins = tuple(
        _bin(values[a:b], failed[a:b], confidence) for a, b in zip(starts, [*starts[1:], len(values)]) if b > a
    )
    alone = None if known.all() else _bin(nearest[~known], np.asarray(wrong)[~known], confidence)
    return ErrorBySimilarity(bins, float(np.mean(wrong)), dissimilarity, confidence, alone)


def _bin(values: np.ndarray, wrong: np.ndarray, confidence: float) -> ErrorBin:
    test = binomtest(int(wrong.sum()), len(wrong))
    interval = test.proportion_ci(confidence, method="wilson")
    where = (float(values[0]), float(values[-1]), float(np.median(values)))
    return ErrorBin(*where, len(wrong), float(wrong.mean()), float(interval.low), float(interval.high))


def nearest_training(samples: Samples, repeats: Sequence[Sequence[Split]]) -> np.ndarray:
    """Return the native value of each sample to the nearest training sample, averaged over repetitions."""
    total, count = np.zeros(samples.n), np.zeros(samples.n)
    for folds in repeats:
        for fold in folds:
            found = _nearest(samples, fold)
            known = ~np.isnan(found)
            total[fold[1][known]] += found[known]
            count[fold[1][known]] += 1
    with np.errstate(invalid="ignore"):
        return np.where(count > 0, total / count, np.nan)


def _nearest(samples: Samples, fold: Split) -> np.ndarray:
    """Return the native values of the test samples of a fold to the nearest training samples, NaN if none is known."""
    train, test = fold
    given = as_proximities(samples.values)
    columns = np.arange(given.shape[1]) if samples.contract.is_columns else train
    values = cut(given.S, test, columns)
    smaller = samples.contract.map_name is not None
    if not sparse.issparse(values):
        far = np.inf if smaller else -np.inf
        best = np.where(np.isnan(values), far, values)
        best = best.min(axis=1) if smaller else best.max(axis=1)
        return np.where(best == far, np.nan, best)
    values.sort_indices()
    stored = np.diff(values.indptr) > 0
    best = np.full(len(test), np.nan)
    reduce = np.minimum if smaller else np.maximum
    if stored.any():
        best[stored] = reduce.reduceat(values.data, values.indptr[:-1][stored])
    if given.absent == "zero" or (given.absent == "farthest" and not smaller):
        absent = np.diff(values.indptr) < values.shape[1]
        best = np.where(absent, np.fmax(best, 0.0), best)
    return best
