"""What the support vector machines on feature vectors have in common."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from similitude._utils.warn import warn
from similitude.base import FeatureClassifier
from similitude.numerics.machines import Machines
from similitude.numerics.votes import one_vs_one
from similitude.one_vs_one import by_pair, predicted

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from similitude._utils.types import LabelsLike, SamplesLike


class FeatureSVC(FeatureClassifier):
    """Base of the support vector machines on feature vectors."""

    _responses = ("predict", "decision_function")
    _least_classes = 2

    def fit(self, X: SamplesLike, y: LabelsLike, sample_weight: ArrayLike | None = None) -> Self:
        """Solve the machines of all pairs of classes.

        Parameters
        ----------
        X : array-like of shape (n, d)
            The feature vectors.
        y : array-like of shape (n,)
            The labels.
        sample_weight : array-like of shape (n,), default=None
            The factor of C for each sample.

        Returns
        -------
        self
        """
        return self._fit(X, y, sample_weight)


def warn_of_unsolved(name: str, machines: list[Machines]) -> None:
    """Warn if some of the machines of a classifier were not solved to full accuracy."""
    solutions = [solution for each in machines for solution in each.solutions]
    unsolved = sum(not solution.converged for solution in solutions)
    if unsolved:
        warn(
            f"{name}: {unsolved} of {len(solutions)} problems were not solved to full accuracy (see duality_gap_); use "
            "a smaller C.",
            ConvergenceWarning,
        )


def answers_of(values: np.ndarray, n_classes: int, response: str, ties: str = "first") -> np.ndarray:
    """Return predictions or scores from the decision values of all pairs of classes, (m, pairs).

    Of the classes with the most votes the first is predicted; ``ties`` tells which has the largest score.
    """
    ties = "first" if response == "predict" else ties
    scores = values[:, 0] if n_classes == 2 else one_vs_one(values, n_classes, ties=ties)
    return predicted(scores) if response == "predict" else scores


def attributes_of(machines: Machines, X: np.ndarray) -> dict[str, Any]:
    """Return the attributes of a fitted classifier; X are the training samples."""
    attributes = machines.attributes()
    names = {"objective_": "objective", "duality_gap_": "gap"}
    support = {"support_vectors_": X[attributes["support_"]]}
    return {**by_pair(machines.solutions, np.array, names), **attributes, **support}
