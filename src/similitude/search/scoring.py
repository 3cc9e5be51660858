"""Scoring a whole path at once."""

from __future__ import annotations

import traceback
import warnings
from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.metrics import check_scoring, get_scorer
from sklearn.pipeline import Pipeline


def named_scorers(scoring: Any) -> dict[str, Any]:
    """Scorers by the names ``cv_results_`` gives them; each a string, a callable, or None (the estimator's own)."""
    if scoring is None or isinstance(scoring, str) or callable(scoring):
        return {"score": scoring}
    if isinstance(scoring, dict):
        return dict(scoring)
    return {name: name for name in scoring}


def score_members(scorers: dict[str, Any], members: list, truth: np.ndarray, error_score: Any) -> list:
    """The scores of each member: a number, or a dict of numbers where there are several scorers."""
    columns = {name: _scores(scorer, members, truth, error_score) for name, scorer in scorers.items()}
    if list(columns) == ["score"]:
        return columns["score"]
    return [{name: column[i] for name, column in columns.items()} for i in range(len(members))]


def _scores(scorer: Any, members: list, truth: np.ndarray, error_score: Any) -> list:
    quick = _QUICK.get(_kind(scorer, members[0][0]))
    if quick is not None:
        scores = quick(members, truth)
        if scores is not None:
            return scores
    return [_one_score(scorer, member, X, truth, error_score) for member, X in members]


def _kind(scorer: Any, member: Any) -> Any:
    """The name of a scorer that can be computed at once; scikit-learn's default is the classifier's accuracy."""
    if scorer is not None:
        return scorer if isinstance(scorer, str) else None
    while isinstance(member, Pipeline):
        member = member.steps[-1][1]
    estimator = getattr(getattr(member, "_path", None), "estimator", member)
    return "accuracy" if getattr(type(estimator), "score", None) is ClassifierMixin.score else None


def _one_score(scorer: Any, member: Any, X: Any, truth: np.ndarray, error_score: Any) -> Any:
    try:
        if isinstance(scorer, str):
            scorer = get_scorer(scorer)
        elif scorer is None:
            scorer = check_scoring(member)
        return scorer(member, X, truth)
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


def _accuracies(members: list, truth: np.ndarray) -> list:
    hits = np.stack([member.predict(X) == truth for member, X in members])
    return (np.count_nonzero(hits, axis=1) / len(truth)).tolist()


def _balanced_accuracies(members: list, truth: np.ndarray) -> list:
    hits = np.stack([member.predict(X) == truth for member, X in members])
    _, encoded = np.unique(truth, return_inverse=True)
    counts = np.bincount(encoded)
    return [float(np.mean(np.bincount(encoded, weights=row) / counts)) for row in hits]


def _negative_log_losses(members: list, truth: np.ndarray) -> list | None:
    classes = members[0][0].classes_
    present, encoded = np.unique(truth, return_inverse=True)
    if not np.array_equal(present, classes):
        return None  # scikit-learn's scorer knows what to say then
    posterior = np.stack([member.predict_proba(X) for member, X in members])
    eps = np.finfo(posterior.dtype).eps
    chosen = np.clip(posterior[:, np.arange(len(truth)), encoded], eps, 1 - eps)
    return np.mean(np.log(chosen), axis=1).tolist()


_QUICK = {
    "accuracy": _accuracies,
    "balanced_accuracy": _balanced_accuracies,
    "neg_log_loss": _negative_log_losses,
}
