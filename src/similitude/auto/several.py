"""The question which of several similarities is best."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Literal

from similitude._utils.progress import working
from similitude._utils.warn import warn
from similitude.auto.comparison import SimilarityComparison, compared
from similitude.auto.evaluated import evaluate_methods
from similitude.auto.leaderboard import failure_text
from similitude.proximity.check import SimilarityWarning
from similitude.reader import Samples, are_several

if TYPE_CHECKING:
    from similitude._utils.types import ClassWeight, CostsLike, Folds, LabelsLike, ListLike, SamplesLike
    from similitude.similarities.registry import SimilarityLike


def compare_similarities(
    X: SamplesLike,
    y: LabelsLike,
    *,
    methods: Literal["all"] | Sequence[str] = "all",
    time_budget: float | None = None,
    cv: Folds = 5,
    groups: ListLike | None = None,
    scoring: str | Callable[..., float] | None = None,
    costs: CostsLike = None,
    class_weight: ClassWeight = None,
    n_repeats: int | None = None,
    random_state: int = 0,
    n_jobs: int | None = None,
    verbose: int = 0,
    similarity: Literal["precomputed", "elastic", "words"] | Mapping[str, SimilarityLike] = "precomputed",
    dissimilarity: str | Mapping[str, str] | None = None,
) -> SimilarityComparison:
    """Return which of several similarities is best, what each adds to the others, and how alike they are.

    Each method is evaluated on each similarity, on the same folds, as in :class:`AutoClassifier`.

    Parameters
    ----------
    X : Proximities with several similarities, dict of square matrices, or sequence of raw objects
        The samples.
    y : array-like of shape (n,)
        The labels.
    methods, time_budget, cv
        As in :class:`AutoClassifier`.
    groups : array-like of shape (n,), default=None
        The groups of the samples, which folds must not divide.
    scoring, costs, class_weight, n_repeats, random_state, n_jobs, verbose
        As in :class:`AutoClassifier`.
    similarity : "precomputed", "elastic", "words" or dict, default="precomputed"
        For raw objects, their similarities by name; for time series "elastic" means the family of distances of
        :func:`~similitude.similarities.elastic_family`, and for words "words" that of
        :func:`~similitude.similarities.words_family`, as in :class:`AutoClassifier`.
    dissimilarity : str or dict of str, default=None
        The map of all similarities, or the maps by name.

    Returns
    -------
    SimilarityComparison
        The comparison; ``print`` shows it as tables.

    See Also
    --------
    AutoClassifier : Also fits the best combination of the methods on all similarities.

    Examples
    --------
    >>> from similitude import compare_similarities
    >>> from similitude.datasets import load_voting
    >>> voting = load_voting()
    >>> found = compare_similarities(
    ...     voting.data[:150], voting.target[:150], methods=["k-NN", "nearest centroid"], n_repeats=1,
    ...     similarity={"counting": "counting", "vdm": "vdm"})
    >>> found.best, [(row.similarity, row.method) for row in found.standings]
    ('counting', [('counting', 'k-NN'), ('vdm', 'k-NN')])
    >>> found.correlations.round(1)
    array([[1. , 0.9],
           [0.9, 1. ]])
    """
    named = X.named if isinstance(X, Samples) else are_several(similarity, X, dissimilarity)
    if not named:
        raise ValueError(
            "X must hold several similarities by name: a dict of matrices, or Proximities of them; for raw objects "
            "pass similarity={name: similarity, ...}, or similarity='elastic' for time series and 'words' for words."
        )
    evaluated = evaluate_methods(
        X,
        y,
        groups,
        methods=methods,
        time_budget=time_budget,
        cv=cv,
        scoring=scoring,
        costs=costs,
        class_weight=class_weight,
        n_repeats=n_repeats,
        random_state=random_state,
        n_jobs=n_jobs,
        verbose=verbose,
        similarity=similarity,
        dissimilarity=dissimilarity,
        stops=False,
    )
    with working("comparing the similarities", verbose > 0):
        found = compared(evaluated.results, random_state or 0)
    if found.failures:
        warn(failure_text(found.failures, "failures"), SimilarityWarning)
    return found
