"""The answers of fitted methods for the test samples of a fold, in one form for all methods."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from similitude.evaluation.engine import Fold
from similitude.numerics.class_columns import ClassColumns
from similitude.numerics.temperature import in_columns, log_odds

_RESPONSES = ("predict_proba", "decision_function", "predict")
_TIE_BREAK = 1e-6
_BLOCK = 2**25
"""The largest number of answers, of all points for all classes, that are there at the same time."""


def answered(batch: Any, fold: Fold) -> list[tuple[str, np.ndarray]]:
    """Judge a batch by its answers for the test samples: posteriors, else decision values, else labels."""
    classes = np.unique(fold.samples.y)
    response = next(name for name in _RESPONSES if name == "predict" or hasattr(batch.fitted(0), name))

    def columns(j: int, answer: np.ndarray) -> np.ndarray:
        return answer_columns(response, answer, lambda: batch.answers(0, "predict")[j], batch.classes, classes)

    answers = [np.asarray(answer) for answer in batch.answers(0, response)]
    return [(response, _short(columns(j, answer))) for j, answer in enumerate(answers)]


@dataclass(frozen=True)
class AnsweredInColumns:
    """Judges a batch as :func:`answered` does, but keeps only the columns of each sample.

    The answers for all classes are there for a block of rows at a time.
    """

    columns: ClassColumns

    def __call__(self, batch: Any, fold: Fold) -> list[tuple[str, np.ndarray]]:
        if self.columns.own is None:
            return answered(batch, fold)
        test, parts, step = fold.test, [], max(1, _BLOCK // (4 * self.columns.n_classes))
        for start in range(0, len(test), step):
            rows = np.arange(start, min(start + step, len(test)))
            parts.append(self._told_apart(batch.of_rows(rows), fold, rows) or self._taken(batch, fold, rows))
        return [(own[0][0], np.concatenate([found for _, found in own])) for own in zip(*parts)]

    def _taken(self, batch: Any, fold: Fold, rows: np.ndarray) -> list[tuple[str, np.ndarray]]:
        """Return the answers of a method for all classes, of which the columns of each row are taken."""
        parts, step = [], max(1, _BLOCK // (self.columns.n_classes * max(1, len(batch.indices))))
        for some in (rows[start : start + step] for start in range(0, len(rows), step)):
            own = self.columns.at(fold.test[some])
            parts.append([(name, own.taken(found)) for name, found in answered(batch.of_rows(some), fold)])
        return [(own[0][0], np.concatenate([found for _, found in own])) for own in zip(*parts)]

    def _told_apart(self, batch: Any, fold: Fold, rows: np.ndarray) -> list[tuple[str, np.ndarray]] | None:
        """Return the posteriors of a method that has columns for some classes of each row, or None."""
        if not hasattr(batch.fitted(0), "predict_proba"):
            return None
        places = np.full(self.columns.n_classes, -1)
        places[np.searchsorted(np.unique(fold.samples.y), batch.classes)] = np.arange(len(batch.classes))
        own = places[np.asarray(self.columns.own)[fold.test[rows]]]
        answers = batch.told_apart("predict_proba", own)
        if answers is None:
            return None
        found, labels = [], None
        for j, answer in enumerate(answers):
            answer = np.array(answer)
            answer[:, -1] /= self.columns.n_classes - own.shape[1]
            tied = _tied(answer[:, :-1])
            if len(tied):
                labels = batch.told_apart("predict", own) if labels is None else labels
                answer[tied, labels[j][tied]] += 3 * _TIE_BREAK
            found.append(("predict_proba", _short(answer)))
        return found


def _short(columns: np.ndarray) -> np.ndarray:
    """Return the answers in single precision, unless they are too large or too small for it."""
    largest = np.max(np.abs(columns), where=np.isfinite(columns), initial=0.0)
    return columns.astype(np.float32) if largest == 0 or 1e-20 < largest < 1e30 else columns


def _tied(columns: np.ndarray) -> np.ndarray:
    """Return the rows in which several classes have the largest posterior."""
    largest = columns.max(axis=1, keepdims=True)
    return np.flatnonzero(np.sum(columns >= largest - _TIE_BREAK, axis=1) > 1)


def answer_columns(
    response: str, answer: np.ndarray, predicted: Callable[[], np.ndarray], known: np.ndarray, classes: np.ndarray
) -> np.ndarray:
    """Return the answers of one classifier with a column for each class."""
    if response == "predict":
        answer = np.searchsorted(known, answer)
    columns = in_columns(answer, response, np.searchsorted(classes, known), len(classes))
    if response != "predict_proba":
        return columns
    tied = _tied(columns)
    if len(tied):
        columns[tied, np.searchsorted(classes, predicted()[tied])] += 3 * _TIE_BREAK
    return columns


def log_posteriors(estimator: Any, X: Any, classes: np.ndarray) -> np.ndarray:
    """Return the logarithms of the posteriors of a fitted classifier, with a column for each class."""
    response = next(name for name in _RESPONSES if name == "predict" or hasattr(estimator, name))

    def ask(name: str) -> np.ndarray:
        return np.asarray(getattr(estimator, name)(X))

    columns = answer_columns(response, ask(response), lambda: ask("predict"), estimator.classes_, classes)
    if response == "decision_function":
        return log_odds(columns, response, 0.0)
    with np.errstate(divide="ignore"):
        return np.log(np.maximum(columns, 0.0))
