"""Scoring a whole path at once."""

from __future__ import annotations

import traceback
import warnings
from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.metrics import check_scoring, get_scorer
from sklearn.pipeline import Pipeline

from similitude.search.grid import Member


def is_single(scoring: Any) -> bool:
    """Whether ``scoring`` stands for one scorer, whose name in ``cv_results_`` is "score"."""
    return scoring is None or isinstance(scoring, str) or callable(scoring)


def named_scorers(scoring: Any) -> dict[str, Any]:
    """Scorers by the names ``cv_results_`` gives them; each a string, a callable, or None (the estimator's own)."""
    if is_single(scoring):
        return {"score": scoring}
    if isinstance(scoring, dict):
        return dict(scoring)
    return {name: name for name in scoring}


def score_members(scoring: Any, members: list[Member], truth: np.ndarray, error_score: Any) -> list:
    """The scores of each member: a number, or a dict of numbers where there are several scorers."""
    columns = {name: _scores(s, members, truth, error_score) for name, s in named_scorers(scoring).items()}
    if is_single(scoring):
        return columns["score"]
    return [{name: column[i] for name, column in columns.items()} for i in range(len(members))]


def _scores(scorer: Any, members: list, truth: np.ndarray, error_score: Any) -> list:
    quick = _QUICK.get(_kind(scorer, members[0].estimator))
    if quick is not None:
        try:
            scores = quick(members, truth)
        except Exception:
            # Which of the members fails, and what to make of it, is for the scorer to say.
            scores = None
        if scores is not None:
            return scores
    return [_one_score(scorer, member, truth, error_score) for member in members]


def _kind(scorer: Any, member: Any) -> Any:
    """The name of a scorer that can be computed at once; scikit-learn's default is the classifier's accuracy."""
    if scorer is not None:
        return scorer if isinstance(scorer, str) else None
    while isinstance(member, Pipeline):
        member = member.steps[-1][1]
    estimator = getattr(getattr(member, "_path", None), "estimator", member)
    return "accuracy" if getattr(type(estimator), "score", None) is ClassifierMixin.score else None


def _one_score(scorer: Any, member: Member, truth: np.ndarray, error_score: Any) -> Any:
    try:
        if isinstance(scorer, str):
            scorer = get_scorer(scorer)
        elif scorer is None:
            scorer = check_scoring(member.estimator)
        elif not hasattr(scorer, "_score_func"):
            # Somebody's own function may look at anything; scikit-learn's scorers look at predictions only.
            return scorer(member.whole, member.original, truth)
        return scorer(member.estimator, member.X, truth)
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


def _hits(members: list[Member], truth: np.ndarray) -> np.ndarray:
    return np.stack([member.estimator.predict(member.X) == truth for member in members])


def _accuracies(members: list, truth: np.ndarray) -> list:
    hits = _hits(members, truth)
    return (np.count_nonzero(hits, axis=1) / len(truth)).tolist()


def _balanced_accuracies(members: list, truth: np.ndarray) -> list:
    hits = _hits(members, truth)
    _, encoded = np.unique(truth, return_inverse=True)
    counts = np.bincount(encoded)
    return [float(np.mean(np.bincount(encoded, weights=row) / counts)) for row in hits]


def _negative_log_losses(members: list, truth: np.ndarray) -> list | None:
    classes = members[0].estimator.classes_
    present, encoded = np.unique(truth, return_inverse=True)
    if not np.array_equal(present, classes):
        return None  # scikit-learn's scorer knows what to say then
    posterior = np.stack([member.estimator.predict_proba(member.X) for member in members])
    eps = np.finfo(posterior.dtype).eps
    chosen = np.clip(posterior[:, np.arange(len(truth)), encoded], eps, 1 - eps)
    return np.mean(np.log(chosen), axis=1).tolist()


_QUICK = {
    "accuracy": _accuracies,
    "balanced_accuracy": _balanced_accuracies,
    "neg_log_loss": _negative_log_losses,
}
