"""Losses by which the points of a grid are chosen and methods are combined."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.metrics import get_scorer, get_scorer_names

from similitude._utils.warn import silenced
from similitude.numerics.votes import expected_costs

DEFAULT = "neg_brier_score"
_LEAST_PROBABILITY = 1e-15
_TIE = 1e-9
"""The share of the Brier score in losses that count errors, which breaks their many ties."""


class Loss:
    """A loss of posteriors, which is the mean of a loss for each sample, or the negative of a scorer."""

    def __init__(self, scoring: Any, costs: np.ndarray | None, class_weights: np.ndarray | None):
        self.costs, self.class_weights = costs, class_weights
        if scoring is None:
            scoring = DEFAULT if costs is None else "cost"
        elif not callable(scoring) and scoring not in get_scorer_names():
            raise ValueError(
                "scoring must be 'neg_brier_score', 'neg_log_loss', 'accuracy', 'balanced_accuracy', the name of "
                f"another scorer of scikit-learn, or a scorer; got {scoring!r}."
            )
        self.scoring = scoring
        self.counts: np.ndarray | None = None
        """The number of classes that each column of posteriors stands for; None if each stands for one."""
        self._of_sample = _LOSSES.get(scoring) if isinstance(scoring, str) else None

    @property
    def scoring_is_default(self) -> bool:
        """Whether no scoring was asked for; methods are then sorted by their errors."""
        return self.scoring in (DEFAULT, "cost")

    @property
    def by_sample(self) -> bool:
        """Whether each sample has its own loss; a scorer needs several samples."""
        return self._of_sample is not None

    @property
    def is_quadratic(self) -> bool:
        """Whether the loss is the Brier score."""
        return self._of_sample is _brier

    def score(self, mean: float) -> float:
        """Return the score of which this is the mean loss; larger is better."""
        return (1.0 if self._of_sample in (_wrong, _wrong_by_class) else 0.0) - mean

    def decisions(self, posteriors: np.ndarray) -> np.ndarray:
        """Return the position of the class of least expected cost, the first if several are tied."""
        if self.costs is None:
            return np.argmax(posteriors if self.counts is None else posteriors[..., :-1], axis=-1)
        return np.argmin(expected_costs(posteriors, self.costs), axis=-1)

    def losses(self, posteriors: np.ndarray, codes: np.ndarray, weights: np.ndarray | None = None) -> np.ndarray:
        """Return the loss of each sample, or its Brier score if the loss is a scorer, times its weight."""
        if self._of_sample is _wrong_by_class:
            found = _wrong_by_class(self, posteriors, codes, weights)
        else:
            found = (self._of_sample or _brier)(self, posteriors, codes)
        if self._of_sample in (_wrong, _wrong_by_class, _cost):
            found = found + _TIE * _brier(self, posteriors, codes)
        found = found if self.class_weights is None else found * self.class_weights[codes]
        return found if weights is None else found * weights

    def mean(
        self, posteriors: np.ndarray, codes: np.ndarray, classes: np.ndarray, weights: np.ndarray | None = None
    ) -> np.ndarray:
        """Return the mean loss over the samples, whose weights are relative to their mean."""
        if self.by_sample:
            return self.losses(posteriors, codes, weights).mean(axis=-1)
        if len(classes) == 2 and isinstance(self.scoring, str) and self.scoring in _RANKING:
            # Scikit-learn checks its arguments for longer than it takes to compute these, thousands of times.
            score = _RANKING[self.scoring]
            return -np.apply_along_axis(score, -1, posteriors[..., 1], codes == 1, weights)
        scorer = get_scorer(self.scoring) if isinstance(self.scoring, str) else self.scoring
        known = _Known(classes, self)
        truth = classes[codes]
        flat = posteriors.reshape(-1, *posteriors.shape[-2:])
        with silenced():
            found = [-_score(scorer, known, each, truth, weights) for each in flat]
        return np.array(found).reshape(posteriors.shape[:-2])


def _score(scorer: Any, known: Any, posteriors: np.ndarray, truth: np.ndarray, weights: np.ndarray | None) -> float:
    given = {} if weights is None else {"sample_weight": weights}
    try:
        score = float(scorer(known, posteriors, truth, **given))
        if np.isnan(score):
            raise ValueError("the score is not a number")
        return score
    except (TypeError, AttributeError, ValueError) as error:
        raise ValueError(
            "scoring: a scorer must need only the labels and the posteriors of the samples, as those of scikit-learn's "
            f"make_scorer do; it failed with: {error}"
        ) from error


def _ranked(scores: np.ndarray, positive: np.ndarray, weights: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
    """Return the numbers of true and of all positives at each threshold, from the largest score to the smallest."""
    if positive.all() or not positive.any():
        raise ValueError("scoring: the samples that are scored must have both classes.")
    order = np.argsort(-scores, kind="stable")
    last = np.flatnonzero(np.append(np.diff(scores[order]) != 0, True))  # of equal scores
    if weights is None:
        return np.cumsum(positive[order])[last], last + 1.0
    return np.cumsum((positive * weights)[order])[last], np.cumsum(weights[order])[last]


def _area(scores: np.ndarray, positive: np.ndarray, weights: np.ndarray | None = None) -> float:
    """Return the area under the ROC curve."""
    true, all_positive = _ranked(scores, positive, weights)
    rates = [np.concatenate([[0.0], count / count[-1]]) for count in (true, all_positive - true)]
    return float(np.sum(np.diff(rates[1]) * (rates[0][1:] + rates[0][:-1])) / 2)


def _average_precision(scores: np.ndarray, positive: np.ndarray, weights: np.ndarray | None = None) -> float:
    """Return the mean of the precision over the recall."""
    true, all_positive = _ranked(scores, positive, weights)
    precision = np.divide(true, all_positive, out=np.zeros(len(true)), where=all_positive > 0)
    return float(np.sum(np.diff(true, prepend=0.0) * precision) / true[-1])


_RANKING = {"roc_auc": _area, "average_precision": _average_precision}


class _Known(ClassifierMixin, BaseEstimator):
    """A classifier whose posteriors are known already and given as its input."""

    def __init__(self, classes: np.ndarray, loss: Loss):
        self.classes_, self._loss = classes, loss

    def fit(self, X: np.ndarray, y: np.ndarray) -> Self:
        return self

    def predict_proba(self, X: np.ndarray) -> np.ndarray:
        return X

    def predict(self, X: np.ndarray) -> np.ndarray:
        return self.classes_[self._loss.decisions(X)]


def _brier(loss: Loss, posteriors: np.ndarray, codes: np.ndarray) -> np.ndarray:
    own = np.take_along_axis(posteriors, np.broadcast_to(codes[:, None], (*posteriors.shape[:-1], 1)), axis=-1)[..., 0]
    squares = np.sum(posteriors**2, axis=-1) if loss.counts is None else posteriors**2 @ loss.counts
    return squares - 2 * own + 1


def _log(loss: Loss, posteriors: np.ndarray, codes: np.ndarray) -> np.ndarray:
    own = np.take_along_axis(posteriors, np.broadcast_to(codes[:, None], (*posteriors.shape[:-1], 1)), axis=-1)[..., 0]
    return -np.log(np.maximum(own, _LEAST_PROBABILITY))


def _wrong(loss: Loss, posteriors: np.ndarray, codes: np.ndarray) -> np.ndarray:
    return (loss.decisions(posteriors) != codes).astype(float)


def _wrong_by_class(
    loss: Loss, posteriors: np.ndarray, codes: np.ndarray, weights: np.ndarray | None = None
) -> np.ndarray:
    counts = np.bincount(codes, weights, minlength=posteriors.shape[-1])
    total = len(codes) if weights is None else weights.sum()
    shares = total / (np.count_nonzero(counts) * np.where(counts > 0, counts, 1))
    return _wrong(loss, posteriors, codes) * shares[codes]


def _cost(loss: Loss, posteriors: np.ndarray, codes: np.ndarray) -> np.ndarray:
    assert loss.costs is not None
    return loss.costs[loss.decisions(posteriors), codes]


_LOSSES = {
    "neg_brier_score": _brier,
    "neg_log_loss": _log,
    "accuracy": _wrong,
    "balanced_accuracy": _wrong_by_class,
    "cost": _cost,
}
