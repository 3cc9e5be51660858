"""Scoring of all points of a batch at once."""

from __future__ import annotations

import traceback
import warnings
from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.metrics import check_scoring, get_scorer
from sklearn.pipeline import Pipeline

from similitude.base import Predicting
from similitude.evaluation.batches import Batch


def is_single(scoring: Any) -> bool:
    """Return whether ``scoring`` is one scorer, whose name in ``cv_results_`` is "score"."""
    return scoring is None or isinstance(scoring, str) or callable(scoring)


def named_scorers(scoring: Any) -> dict[str, Any]:
    """Return the scorers by their names in ``cv_results_``: strings, callables, or None for that of the estimator."""
    if is_single(scoring):
        return {"score": scoring}
    if isinstance(scoring, dict):
        return dict(scoring)
    return {name: name for name in scoring}


def score_batch(scoring: Any, batch: Batch, target: int, truth: np.ndarray, as_given: Any, error_score: Any) -> list:
    """Return the scores of each point on a target: a number, or a dict of numbers if there are several scorers.

    ``as_given()`` returns the target as the user gave it, for scorers that are the user's own functions.
    """
    if batch.error is not None:
        failed = error_score if is_single(scoring) else dict.fromkeys(named_scorers(scoring), error_score)
        return [failed] * len(batch.indices)
    scorers = named_scorers(scoring).items()
    columns = {name: _scores(scorer, batch, target, truth, as_given, error_score) for name, scorer in scorers}
    if is_single(scoring):
        return columns["score"]
    return [{name: column[j] for name, column in columns.items()} for j in range(len(batch.indices))]


def _scores(scorer: Any, batch: Any, target: int, truth: np.ndarray, as_given: Any, error_score: Any) -> list:
    quick = _QUICK.get(_kind(scorer, batch.estimator))
    if quick is not None:
        try:
            scores = quick(batch, target, truth)
        except Exception:
            # The points are then scored one by one, and the scorer raises the error of the point that fails.
            scores = None
        if scores is not None:
            return scores
    return [_one_score(scorer, batch, j, target, truth, as_given, error_score) for j in range(len(batch.indices))]


def _kind(scorer: Any, estimator: Any) -> Any:
    """Return the name of a scorer that can be computed for all points at once, or None.

    The default scorer of a classifier is its accuracy.
    """
    if scorer is not None:
        return scorer if isinstance(scorer, str) else None
    while isinstance(estimator, Pipeline):
        estimator = estimator.steps[-1][1]
    return "accuracy" if getattr(type(estimator), "score", None) in (ClassifierMixin.score, Predicting.score) else None


def _one_score(
    scorer: Any, batch: Batch, j: int, target: int, truth: np.ndarray, as_given: Any, error_score: Any
) -> Any:
    try:
        if isinstance(scorer, str):
            scorer = get_scorer(scorer)
        elif scorer is None:
            scorer = check_scoring(batch.fitted(j))
        elif not hasattr(scorer, "_score_func"):
            # A user's own function may use anything; scikit-learn's scorers use only the predictions.
            return scorer(batch.whole(j), as_given(), truth)
        return scorer(batch.fitted(j), batch.targets[target], truth)
    except Exception:
        if error_score == "raise":
            raise
        warnings.warn(
            f"Scoring failed. The score on this train-test partition will be set to {error_score}. Details: \n"
            f"{traceback.format_exc()}",
            UserWarning,
            stacklevel=2,
        )
        return error_score


def _hits(batch: Batch, target: int, truth: np.ndarray) -> np.ndarray:
    return np.stack([predicted == truth for predicted in batch.answers(target, "predict")])


def _accuracies(batch: Batch, target: int, truth: np.ndarray) -> list:
    return (np.count_nonzero(_hits(batch, target, truth), axis=1) / len(truth)).tolist()


def _balanced_accuracies(batch: Batch, target: int, truth: np.ndarray) -> list:
    hits = _hits(batch, target, truth)
    _, encoded = np.unique(truth, return_inverse=True)
    counts = np.bincount(encoded)
    return [float(np.mean(np.bincount(encoded, weights=row) / counts)) for row in hits]


def _negative_log_losses(batch: Any, target: int, truth: np.ndarray) -> list | None:
    present, encoded = np.unique(truth, return_inverse=True)
    if not np.array_equal(present, batch.classes):
        return None  # scikit-learn's scorer handles this case
    posterior = np.stack(batch.answers(target, "predict_proba"))
    eps = np.finfo(posterior.dtype).eps
    chosen = np.clip(posterior[:, np.arange(len(truth)), encoded], eps, 1 - eps)
    return np.mean(np.log(chosen), axis=1).tolist()


_QUICK = {
    "accuracy": _accuracies,
    "balanced_accuracy": _balanced_accuracies,
    "neg_log_loss": _negative_log_losses,
}
