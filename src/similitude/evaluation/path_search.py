"""A replacement for ``GridSearchCV`` that fits the whole path of an estimator at once."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.exceptions import FitFailedWarning
from sklearn.model_selection import GridSearchCV, ParameterGrid, check_cv
from sklearn.utils import get_tags, indexable
from sklearn.utils.metadata_routing import UNUSED

from similitude._utils import scikit_learn
from similitude._utils.docs import shared_docs
from similitude._utils.forms import is_frame
from similitude._utils.ids import labels_in_order
from similitude._utils.scikit_learn import LinkedEstimator
from similitude.base import PathClassifier, contract_of
from similitude.evaluation.batches import Batch, grouped
from similitude.evaluation.engine import Fold, absolute, evaluate, given_to, reading_part, reads_training, samples_for
from similitude.evaluation.relative import are_relative
from similitude.evaluation.scoring import score_batch
from similitude.finders.search import check_search
from similitude.labels import check_labels, check_no_missing
from similitude.proximity.proximities import as_proximities
from similitude.reader import Samples, is_dict

if TYPE_CHECKING:
    from similitude._utils.types import LabelsLike, ListLike, SamplesLike


@shared_docs
class PathSearchCV(LinkedEstimator, GridSearchCV):
    """Cross-validated search over a grid in which the work that grid points share is done once.

    It has the parameters of scikit-learn's ``GridSearchCV`` and gives the same ``cv_results_`` and ``best_params_``. On
    each fold it does one neighbour sort for all k, one eigendecomposition and one transformation for all parameters of
    the last step of a pipeline, and one scoring pass for the whole path (accuracy, balanced accuracy, log loss; any
    other scorer is called for each grid point). Estimators without a path are fitted one by one. A DataFrame is split
    on both axes. The matrix of raw objects is computed once (or once per fold, on its training part, if the similarity
    learns from data).

    ``fit`` passes ``groups`` to the splitter, so that ``cv`` may be ``GroupKFold``, ``StratifiedGroupKFold``,
    ``LeaveOneGroupOut`` or ``GroupShuffleSplit``. Metadata routing of scikit-learn works as in ``GridSearchCV``.

    The times in ``cv_results_`` are those of the path, shared evenly among its grid points. Further ``fit`` arguments
    (such as ``sample_weight``) are passed to ``GridSearchCV``, which fits each point.

    Parameters
    ----------
    estimator, param_grid, scoring, n_jobs, refit, cv
        As in ``GridSearchCV``; ``n_jobs`` is the number of folds at the same time.
    verbose : int, default=0
        If it is above 0, progress over the folds is shown on stderr: a bar on a terminal, a line every ten seconds
        elsewhere.
    pre_dispatch, error_score, return_train_score
        As in ``GridSearchCV``.

    Attributes
    ----------
    cv_results_, best_estimator_, best_score_, best_params_, best_index_, scorer_, n_splits_, refit_time_, multimetric_
        As in ``GridSearchCV``.

    See Also
    --------
    AutoClassifier : Also chooses the method.
    sklearn.model_selection.GridSearchCV : The search that fits each grid point on its own.

    Examples
    --------
    >>> from similitude import KNNClassifier, PathSearchCV
    >>> from similitude.datasets import load_voting
    >>> voting = load_voting()
    >>> search = PathSearchCV(KNNClassifier(similarity="vdm"), {"n_neighbors": [1, 3, 5, 9]}, cv=5)
    >>> search.fit(voting.data, voting.target).best_params_
    {'n_neighbors': 3}
    """

    # The groups in the signature of ``fit`` are for the splitter; the search itself requests no metadata.
    __metadata_request__fit: ClassVar = {"groups": UNUSED}

    def fit(
        self, X: SamplesLike, y: LabelsLike | None = None, *, groups: ListLike | None = None, **params: Any
    ) -> Self:
        """Search for the best point of the grid, and refit the estimator at it on all samples.

        Parameters
        ----------
        X : square matrix, Proximities, or sequence of raw objects
            The samples.
        {y_train}
        groups : array-like of shape (n,), default=None
            The group of each sample, for a splitter that keeps groups together. Other splitters warn that they ignore
            it; with metadata routing it is then an error.
        **params
            Arguments of ``GridSearchCV.fit``; with them each grid point is fitted on its own.

        Returns
        -------
        self
            The fitted search.
        """
        groups, params = labels_in_order(groups, X, "groups"), _weights_in_order(params, X)
        X, y = self._adopted(X, y)
        if groups is not None and (shape := np.asarray(groups).shape) != (n := scikit_learn.num_samples(X),):
            raise ValueError(f"groups must have one entry per sample ({n}); got an array of shape {shape}.")
        given = {} if groups is None else {"groups": groups}
        if params or y is None:
            return super().fit(self._divisible(X), y, **given, **params)
        scorers, refit_metric = scikit_learn.scorers_of(self)
        routed = scikit_learn.routed_arguments(self, given)
        if routed.estimator.fit or routed.scorer.score:  # the estimator or a scorer requests the groups, too
            return super().fit(self._divisible(X), y, **given)
        X, y = indexable(X, y)
        splitter = check_cv(self.cv, y, classifier=is_classifier(self.estimator))
        splits = list(splitter.split(X, y, **routed.splitter.split))
        candidates = list(ParameterGrid(self.param_grid))
        for names in {tuple(candidate): candidate for candidate in candidates}.values():
            clone(self.estimator).set_params(**clone(names, safe=False))  # an unknown name raises an error early
        if not splits or not candidates:
            raise ValueError("No fits were performed: param_grid or cv is empty.")
        self.n_splits_ = len(splits)

        rows, samples = self._evaluate(X, y, splits, candidates)
        tried = _absolute(self.estimator, candidates, samples)
        results = scikit_learn.format_results(self, tried, len(splits), rows)
        first = rows[0]["test_scores"]
        self.multimetric_ = isinstance(first, dict)  # for a callable this is known only from its results
        if self.multimetric_:
            scikit_learn.check_refit(self, first)
            refit_metric = self.refit
        if self.refit or not self.multimetric_:
            self.best_index_ = scikit_learn.best_index(self, refit_metric, results)
            if not callable(self.refit):
                self.best_score_ = results[f"mean_test_{refit_metric}"][self.best_index_]
            self.best_params_ = results["params"][self.best_index_]
        self.cv_results_ = results
        self.scorer_ = scikit_learn.single_scorers(scorers)
        if self.refit:
            self._refit(X, y, samples[self.best_index_])
        return self

    def score(self, X: SamplesLike, y: LabelsLike | None = None, **params: Any) -> float:
        """Return the score of the best estimator on the given samples, by ``scoring``.

        Parameters
        ----------
        {X_new}
        y : array-like of shape (m,)
            The labels; a dict, or a Series, is matched by the ids of the samples: see the page on input.
        **params
            As in ``GridSearchCV``.

        Returns
        -------
        float
            The score.
        """
        return super().score(X, labels_in_order(y, X), **_weights_in_order(params, X))

    def _adopted(self, X: Any, y: Any) -> tuple[Any, Any]:
        """Return samples of other libraries as matrices, and labels in the order of the samples."""
        part, _ = reading_part(self.estimator)
        adopted = as_proximities(X) if is_dict(X) else X
        adopted = contract_of(part).adopted(adopted) if reads_training(self.estimator) else adopted
        y = labels_in_order(y, X)
        if y is not None and is_classifier(self.estimator):
            check_no_missing(np.asarray(y))
        return adopted, y

    def _divisible(self, X: Any) -> Any:
        """Return X in a form whose rows and columns ``GridSearchCV`` can divide, which it cannot of a DataFrame."""
        return as_proximities(X) if is_frame(X) and get_tags(self.estimator).input_tags.pairwise else X

    def _refit(self, X: Any, y: Any, samples: Samples) -> None:
        start = time.time()
        best = clone(self.estimator).set_params(**clone(self.best_params_, safe=False))
        part, _ = reading_part(best)
        # The matrix of raw objects is known already, unless neighbours are to be found without one.
        has_matrix = reads_training(best) and check_search(getattr(part, "search", "matrix")) is None
        self.best_estimator_ = best.fit(samples.whole() if has_matrix else X, y)
        self.refit_time_ = time.time() - start
        if hasattr(self.best_estimator_, "feature_names_in_"):
            self.feature_names_in_ = self.best_estimator_.feature_names_in_

    def _evaluate(
        self, X: Any, y: Any, splits: list[tuple[np.ndarray, np.ndarray]], candidates: list[dict[str, Any]]
    ) -> tuple[list[dict[str, Any]], dict[int, Any]]:
        """Return one row of scores and times per candidate and split, in the order of ``GridSearchCV``.

        Also return the samples on which each candidate was evaluated.
        """
        samples: dict[int, Samples] = {}
        table: dict[tuple[int, int], dict[str, Any]] = {}
        reads_input = input_parameters(self.estimator)
        for fixed, indices in grouped(candidates, reads_input):
            estimator = clone(self.estimator).set_params(**clone(fixed, safe=False))
            grid = [{k: v for k, v in candidates[i].items() if not reads_input(k)} for i in indices]
            group = samples_for(estimator, X, _labels(estimator, y))
            samples.update(dict.fromkeys(indices, group))
            options = {"n_jobs": self.n_jobs, "pre_dispatch": self.pre_dispatch, "show": self.verbose > 0}
            folds = evaluate(
                group,
                {"": (estimator, grid)},
                splits,
                _Scores(estimator, self.scoring, self.error_score, self.return_train_score),
                on_error="raise" if self.error_score == "raise" else "point",
                train_too=self.return_train_score,
                **options,
            )
            for split, found in enumerate(folds):
                for i, row in zip(indices, found[""].results):
                    table[i, split] = row
        ordered = [table[i, split] for i in range(len(candidates)) for split in range(len(splits))]
        _report_failures(ordered)
        _complete_failed_scores(ordered, self.error_score)
        return ordered, samples


def _absolute(estimator: Any, candidates: list[dict[str, Any]], samples: dict[int, Any]) -> list[dict[str, Any]]:
    """Return the candidates with parameters for a fit on all samples, in place of those relative to their scale."""
    if not are_relative(candidates):
        return candidates
    wholes = {id(each): each.whole() for each in samples.values()}
    return [
        absolute(estimator, given_to(wholes[id(samples[i])], samples[i], estimator), [candidate])[0]
        for i, candidate in enumerate(candidates)
    ]


def _weights_in_order(params: dict[str, Any], X: Any) -> dict[str, Any]:
    """Return arguments of ``fit`` or ``score`` with the sample weights in the order of the samples."""
    weights = params.get("sample_weight")
    return params if weights is None else {**params, "sample_weight": labels_in_order(weights, X, "sample_weight")}


def _labels(estimator: Any, y: Any) -> np.ndarray:
    y = y.to_numpy() if hasattr(y, "iloc") else np.asarray(y)
    if y.ndim == 2 and y.shape[1] == 1:
        y = y.ravel()
    return check_labels(y, len(y)) if isinstance(estimator, PathClassifier) else y


def input_parameters(estimator: Any) -> Callable[[str], bool]:
    """Return a function of a parameter's name that returns whether the parameter changes how the input is read.

    These parameters are the first step of a pipeline, its similarity and dissimilarity, and their own parameters.
    """
    prefix = reading_part(estimator)[1]
    steps = prefix.split("__")[:-1]
    replaced = {"__".join(steps[: i + 1]) for i in range(len(steps))}

    def reads_input(name: str) -> bool:
        own = name.removeprefix(prefix) if name.startswith(prefix) else ""
        return name in replaced or own.split("__")[0] in ("similarity", "dissimilarity")

    return reads_input


class _Scores:
    """Judges a batch by the scores and times of its points."""

    def __init__(self, estimator: Any, scoring: Any, error_score: Any, train_too: bool):
        self.pairwise = bool(get_tags(estimator).input_tags.pairwise)
        self.scoring, self.error_score = scoring, error_score
        self.names = ("test_scores", "train_scores") if train_too else ("test_scores",)

    def __call__(self, batch: Batch, fold: Fold) -> list[dict[str, Any]]:
        start, count = time.perf_counter(), len(batch.indices)
        rows: list[dict[str, Any]] = [{} for _ in range(count)]
        for t, name in enumerate(self.names):
            scores = score_batch(
                self.scoring, batch, t, fold.truths[t], lambda t=t: self._as_given(fold, t), self.error_score
            )
            for row, score in zip(rows, scores):
                row[name] = score
        elapsed = time.perf_counter() - start
        for row in rows:
            row |= {"fit_time": batch.seconds / count, "score_time": elapsed / count, "fit_error": batch.error}
        return rows

    def _as_given(self, fold: Fold, t: int) -> Any:
        return fold.as_given(self.pairwise)[1][t]


def _complete_failed_scores(rows: list[dict[str, Any]], error_score: Any) -> None:
    """Give failed fits the error score under each name, if a callable returned several scores by name."""
    for kind in ("test_scores", "train_scores"):
        names = next((row[kind] for row in rows if isinstance(row.get(kind), dict)), None)
        for row in rows:
            if names is not None and not isinstance(row[kind], dict):
                row[kind] = dict.fromkeys(names, error_score)


def _report_failures(rows: list[dict[str, Any]]) -> None:
    """Warn once about failed fits, or raise a ValueError if all failed."""
    errors = [row["fit_error"] for row in rows if row["fit_error"] is not None]
    if not errors:
        return
    message = f"{len(errors)} fits failed out of a total of {len(rows)}. The first one failed with:\n{errors[0]}"
    if len(errors) == len(rows):
        raise ValueError(f"All the {len(rows)} fits failed. The first one failed with:\n{errors[0]}")
    warnings.warn(message, FitFailedWarning, stacklevel=4)
