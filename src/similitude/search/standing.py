"""The result of one method in a comparison."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from similitude.proximity.unknown import NEEDS_ALL_PAIRS

COMBINATION = "combination"
"""The name of the combination of methods on a leaderboard."""

BY_EVIDENCE = ("error_with_evidence", "error_without_evidence", "without_evidence")
"""The fields of a standing that :func:`by_evidence` returns."""

_ON = " on "


@dataclass(frozen=True)
class Standing:
    """The result of one method, or of the combination, on a leaderboard.

    Parameters
    ----------
    method : str
        The name of the method.
    error : float or None
        The expected error of the method, including the choice of its parameters; None if it failed. All choices were
        made on other samples than those on which the error was counted.
    standard_error : float or None
        The standard error of the error.
    parameters : dict
        The best point.
    seconds : float, default=0.0
        The time it took, on one core.
    loss : float or None, default=None
        The mean loss, by which methods are compared: the Brier score, unless another score was asked for.
    optimistic_error : float or None, default=None
        The error at the best point, on the samples on which it was chosen.
    weight : float, default=0.0
        The weight of the method in the combination.
    p_value : float or None, default=None
        The p-value of the one-sided signed-rank test over the folds (of the first repetition) that the method is worse
        than the first; None for the first.
    chosen : bool, default=False
        Whether the method was chosen.
    failure : str or None, default=None
        The error message, if the method failed.
    similarity : str or None, default=None
        The name of the similarity on which the method was evaluated, if there are several; None for the combination and
        for methods that use all of them.
    error_with_evidence, error_without_evidence : float or None, default=None
        The errors of the samples whose rows give evidence and of those whose rows give none, because their values to
        all training samples are equal; None if there are no such samples.
    without_evidence : float, default=0.0
        The share of the latter.

    See Also
    --------
    similitude.AutoClassifier : Evaluate the methods on the same folds, and combine those that work best together.
    SimilarityStanding : The result of one of several similarities.
    """

    method: str
    error: Any
    standard_error: Any
    parameters: dict[str, Any] = field(default_factory=dict)
    seconds: float = 0.0
    loss: float | None = None
    optimistic_error: float | None = None
    weight: float = 0.0
    p_value: float | None = None
    chosen: bool = False
    failure: str | None = None
    similarity: str | None = None
    error_with_evidence: float | None = None
    error_without_evidence: float | None = None
    without_evidence: float = 0.0

    @property
    def name(self) -> str:
        """The method, and the similarity if there are several."""
        return name_on(self.method, self.similarity)


def by_evidence(wrong: np.ndarray, lacking: np.ndarray) -> dict[str, Any]:
    """Return the errors with and without evidence and the share without, by the names of the fields of a standing.

    Parameters
    ----------
    wrong : ndarray of bool of shape (n,)
        Whether each sample was misclassified.
    lacking : ndarray of shape (n,)
        For each sample the share of its tests in which its row gave no evidence.

    Returns
    -------
    dict
        The fields.
    """
    errors = [float(np.average(wrong, weights=own)) if own.any() else None for own in (1.0 - lacking, lacking)]
    return dict(zip(BY_EVIDENCE, [*errors, float(np.mean(lacking))]))


def name_on(method: str, similarity: str | None) -> str:
    """Return the name of a method on one of several similarities.

    Parameters
    ----------
    method : str
        The name of the method.
    similarity : str or None
        The name of the similarity, if the method uses one of several.

    Returns
    -------
    str
        The name, such as "k-NN on edit".
    """
    return method if similarity is None else f"{method}{_ON}{similarity}"


def failure_text(failures: Mapping[str, str], where: str) -> str:
    """Return a warning that names the methods that failed; those that need all pairs share one phrase.

    Parameters
    ----------
    failures : dict of str
        The error messages by the names of the methods.
    where : str
        The attribute in which users find them.

    Returns
    -------
    str
        The warning.
    """
    need_all = [name for name, why in failures.items() if NEEDS_ALL_PAIRS in why]
    others = [name for name in failures if name not in need_all]
    parts = []
    if need_all:
        parts.append(
            f"some pairs are unknown, and these methods need all pairs: {names_text(need_all)}; "
            "Proximities(X, fill='class-blind mean') gives unknown pairs a value"
        )
    if others:
        parts.append(f"these methods failed: {names_text(others)}")
    return f"some methods are left out: {'; '.join(parts)}. {where} holds the error message of each."


def names_text(names: Sequence[str]) -> str:
    """Return the names of methods as one text, in which a method on several similarities appears once.

    Parameters
    ----------
    names : sequence of str
        The names, as :func:`name_on` returns them.

    Returns
    -------
    str
        The text, such as "k-NN on edit, SDA on 3 similarities, mixture SVM".
    """
    found: dict[str, list[str]] = {}
    for name in names:
        found.setdefault(name.partition(_ON)[0], []).append(name)
    return ", ".join(
        own[0] if len(own) == 1 else f"{method}{_ON}{len(own)} similarities" for method, own in found.items()
    )
