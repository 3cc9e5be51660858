"""The base of the classifiers that decide among the neighbours of a sample, and of their paths."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from similitude._utils.types import SamplesLike
from similitude._utils.warn import warn
from similitude.base import FittedPath, SimilarityClassifier
from similitude.finders.finder import ObjectFinder
from similitude.labels import Labels
from similitude.numerics.votes import expected_costs, log_of
from similitude.proximity.check import SimilarityWarning
from similitude.proximity.unknown import known_counts
from similitude.reader import Rows, Training

_SHOWN = 10


class LocalPath(FittedPath):
    """Base of the paths that decide among the neighbours of each sample, and only among those that are known.

    A subclass supplies ``answers_among_known``, which is called with rows that have at least ``n_neighbors`` known
    similarities at every point; for rows with fewer, the points have as many neighbours as are known.
    """

    labels: Labels

    def answers_among_known(self, rows: Any, response: str) -> list[np.ndarray]:
        """Return one array for each point."""
        raise NotImplementedError

    def answers(self, rows: Rows, response: str) -> list[np.ndarray]:
        """Return one array for each point; samples without a known neighbour get the prior."""
        if not rows.unknown:
            return self.answers_among_known(rows, response)
        known = np.minimum(known_counts(rows.S), max(map(_size, self.points)))
        found: list[Any] = [None] * len(self.points)
        for count in np.unique(known).tolist():
            chosen = np.flatnonzero(known == count)
            own = self.at_rows(chosen)
            if count:
                answers = own.limited(count).answers_among_known(rows.take(chosen), response)
            else:
                answers = [own._prior_answers(len(chosen), response)] * len(self.points)
            for j, answer in enumerate(answers):
                if found[j] is None:
                    found[j] = np.empty((len(rows), *answer.shape[1:]), dtype=answer.dtype)
                found[j][chosen] = answer
        _report(rows, np.flatnonzero(known == 0))
        return found

    def at_rows(self, chosen: np.ndarray) -> Any:
        """Return the path that answers for some of the rows."""
        return self

    def limited(self, count: int) -> Any:
        """Return the path with at most ``count`` neighbours at each point."""
        limited = copy.copy(self)
        limited.points = [
            point._replace(n_neighbors=min(point.n_neighbors, count))
            if hasattr(point, "n_neighbors")
            else min(point, count)
            for point in self.points
        ]
        return limited

    def _prior_answers(self, m: int, response: str) -> np.ndarray:
        """Return the answers for samples of which nothing is known."""
        labels = self.labels
        priors = labels.shares if labels.priors is None else labels.priors
        if response == "predict":
            scores = priors if labels.costs is None else -expected_costs(priors, labels.costs)
            return np.full(m, int(np.argmax(scores)), dtype=np.intp)
        if response == "decision_function" and labels.n_classes == 2:
            # The sign must agree with ``predict``, which prefers the first of two classes of the same prior.
            return np.full(m, priors[1] - priors[0] if priors[1] != priors[0] else -np.finfo(float).tiny)
        return np.tile(log_of(priors) if "log" in response else priors, (m, 1)).astype(np.float64)


def _size(point: Any) -> int:
    return getattr(point, "n_neighbors", point)


def _report(rows: Any, alone: np.ndarray) -> None:
    """Warn about the samples that have no known similarity to a training sample."""
    if not len(alone) or not rows.announced:
        return
    names = alone.tolist() if rows.ids is None else [repr(name) for name in np.asarray(rows.ids)[alone].tolist()]
    shown = ", ".join(map(str, names[:_SHOWN])) + (", ..." if len(names) > _SHOWN else "")
    warn(
        f"{len(alone)} of {len(rows)} samples have no known similarity to a training sample and get the prior: "
        f"{'rows' if rows.ids is None else 'ids'} {shown}. known_neighbors(X) counts the known similarities.",
        SimilarityWarning,
    )


class SearchingClassifier(SimilarityClassifier):
    """Base of the classifiers with the parameter ``search``; their fitted path holds the finder."""

    search: Any

    _votes_among_known = True

    def _prepared(self, training: Training, points: list[Any]) -> Training:
        return training.indexed(False)

    def known_neighbors(self, X: SamplesLike) -> np.ndarray:
        """Return how many similarities to training samples are known.

        Parameters
        ----------
        X : samples
            Rows of similarities to the training samples, or raw objects.

        Returns
        -------
        ndarray of int of shape (m,)
            The numbers; samples with 0 get the prior.
        """
        check_is_fitted(self)
        rows = self._rows(X)
        return known_counts(rows.S) if rows.unknown else np.full(len(rows), self._reader.n_columns)

    @property
    def search_(self) -> ObjectFinder:
        """The finder, if ``search`` is not "matrix"."""
        path = vars(self).get("_path")
        if path is None or not isinstance(path.finder, ObjectFinder):
            raise AttributeError(
                "search_ and the numbers of evaluations exist only after fit, if search is not 'matrix'."
            )
        return path.finder

    @property
    def n_evaluations_(self) -> int:
        """The number of similarities computed by ``fit`` and ``partial_fit``, if ``search`` is not "matrix"."""
        return self.search_.n_evaluations_

    @property
    def n_evaluations_per_query_(self) -> float:
        """The mean number of similarities computed per sample in the last search, if ``search`` is not "matrix"."""
        return self.search_.n_evaluations_per_query_
