"""Folds that do not divide groups of similar samples."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar, Literal

import numpy as np
from sklearn.model_selection import BaseCrossValidator, StratifiedGroupKFold

from similitude._utils.ids import labels_in_order
from similitude._utils.types import ListLike, RandomState, SamplesLike
from similitude.evaluation.folds import Split, check_groups, repeated_folds
from similitude.proximity.groups import similarity_groups
from similitude.reader import Contract, Samples
from similitude.similarities.registry import SimilarityLike


class SimilarityGroupKFold(BaseCrossValidator):
    """Split samples into stratified folds such that near-copies are never on both sides of a split.

    Copies and near-copies of a training sample among the test samples make every method look better than it is for
    samples that are really new. Samples whose similarity is at least ``threshold`` are linked, and the
    connected components are the groups of scikit-learn's ``StratifiedGroupKFold``: see
    :func:`~similitude.similarity_groups`.

    It is a splitter for scikit-learn's tools, :class:`~similitude.PathSearchCV` and
    :class:`~similitude.AutoClassifier`. X must be what the estimator gets, and ``similarity`` and ``dissimilarity``
    those of the estimator; ``AutoClassifier`` and ``PredictionSets`` use their own.

    Parameters
    ----------
    n_splits : int, default=5
        The number of folds.
    threshold : float or "auto", default="auto"
        Samples are linked if their similarity is at least this, or if their dissimilarity is at most this. "auto"
        links duplicates and near-duplicates, as :func:`~similitude.diagnosis.diagnose` finds them.
    shuffle : bool, default=True
        Whether the samples are shuffled before they are divided into folds.
    random_state : int, RandomState or None, default=0
        The seed of the shuffle.
    similarity, dissimilarity
        The input contract: see the page on input.

    See Also
    --------
    similarity_groups : The groups themselves.
    error_by_similarity : How the error depends on the similarity to the nearest training sample.

    Examples
    --------
    >>> import numpy as np
    >>> from similitude import KNNClassifier, SimilarityGroupKFold
    >>> from sklearn.model_selection import StratifiedKFold, cross_val_score
    >>> rng = np.random.default_rng(0)
    >>> X = np.repeat(rng.normal(size=(100, 2)), 2, axis=0)  # each sample occurs twice,
    >>> y = np.repeat(rng.integers(0, 2, 100), 2)            # and its class has nothing to do with it
    >>> S = -np.abs(X[:, None] - X[None]).sum(axis=2)
    >>> folds = StratifiedKFold(5, shuffle=True, random_state=0)
    >>> float(cross_val_score(KNNClassifier(1), S, y, cv=folds).mean().round(2))
    0.89
    >>> folds = SimilarityGroupKFold(5, threshold="auto")
    >>> float(cross_val_score(KNNClassifier(1), S, y, cv=folds).mean().round(2))
    0.53
    """

    __metadata_request__split: ClassVar = {"groups": True}

    def __init__(
        self,
        n_splits: int = 5,
        *,
        threshold: float | Literal["auto"] = "auto",
        shuffle: bool = True,
        random_state: RandomState = 0,
        similarity: SimilarityLike = "precomputed",
        dissimilarity: str | None = None,
    ):
        self.n_splits = n_splits
        self.threshold = threshold
        self.shuffle = shuffle
        self.random_state = random_state
        self.similarity = similarity
        self.dissimilarity = dissimilarity

    def split(
        self, X: SamplesLike, y: ListLike | None = None, groups: ListLike | None = None
    ) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Return the positions of the training samples and of the test samples of each fold.

        Parameters
        ----------
        X : square matrix, Proximities, or sequence of raw objects
            The samples.
        y : array-like of shape (n,), default=None
            The labels, by which folds are stratified.
        groups : array-like of shape (n,), default=None
            Other groups that must not be divided either.

        Yields
        ------
        train, test : ndarrays of int
            The positions of the samples.
        """
        y, groups = labels_in_order(y, X), labels_in_order(groups, X, "groups")
        samples = Samples(Contract(self.similarity, self.dissimilarity), X, y, warns=False)
        found = self.groups_of(samples, groups)
        labels = np.zeros(samples.n, dtype=int) if y is None else np.asarray(y)
        n_groups = len(np.unique(found))
        if n_groups < self.n_splits:
            raise ValueError(
                f"n_splits={self.n_splits}, but threshold={self.threshold!r} links the {samples.n} samples into "
                f"{n_groups} group{'s' * (n_groups != 1)}; choose fewer folds, or a threshold that links fewer samples."
            )
        folds = StratifiedGroupKFold(
            self.n_splits, shuffle=self.shuffle, random_state=self.random_state if self.shuffle else None
        )
        yield from folds.split(np.zeros(samples.n), labels, found)

    def groups_of(self, samples: Samples, groups: Any = None) -> np.ndarray:
        """Return the groups that folds do not divide.

        Parameters
        ----------
        samples : Samples
            The samples.
        groups : array-like of shape (n,), default=None
            Other groups that must not be divided either.

        Returns
        -------
        ndarray of int of shape (n,)
            The groups.
        """
        groups = check_groups(groups, samples.n)
        # Samples that are linked by one of several similarities are linked.
        for part in samples.parts.values():
            if part.contract.is_columns:
                continue
            options = {"groups": groups, "dissimilarity": part.contract.map_name}
            groups = similarity_groups(part.values, self.threshold, **options)
        return groups

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """Return the number of folds.

        Parameters
        ----------
        X, y, groups
            Ignored; they are there for scikit-learn.

        Returns
        -------
        int
            The number.
        """
        return self.n_splits

    def __repr__(self) -> str:
        return f"SimilarityGroupKFold(n_splits={self.n_splits}, threshold={self.threshold!r})"


def folds_of_samples(
    samples: Samples, cv: Any, n_repeats: int | None, groups: Any, random_state: Any
) -> tuple[list[list[Split]], np.ndarray | None]:
    """Return the folds of each repetition, and the groups that they do not divide."""
    groups = check_groups(groups, samples.n)
    if isinstance(cv, SimilarityGroupKFold):
        if samples.contract is None:
            raise ValueError("cv=SimilarityGroupKFold needs an estimator on similarities; pass groups= to fit instead.")
        groups, cv = cv.groups_of(samples, groups), cv.n_splits
    return repeated_folds(samples.y, cv, n_repeats, groups, random_state), groups
