"""The classifier that chooses a method by evaluating all of them on the same folds."""

from __future__ import annotations

import copy
import time
import warnings
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin, clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import StratifiedKFold, check_cv
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import _num_samples, check_is_fitted

from similitude._utils.checks import check_positive
from similitude.base import SimilarityEstimator
from similitude.diagnosis import diagnose
from similitude.labels import check_labels
from similitude.numerics.significance import standard_error, wilcoxon_greater
from similitude.proximity.check import SimilarityWarning
from similitude.reader import Samples
from similitude.search.contest import FUSED, Contest, at_best
from similitude.search.evaluation import Method, evaluate, predictions, reads_training
from similitude.search.methods import methods, ordered
from similitude.search.standing import Standing


def _best_has(method: str):
    # Before the fit it is not known which method will be chosen.
    return lambda self: not hasattr(self, "best_estimator_") or hasattr(self.best_estimator_, method)


class AutoClassifier(ClassifierMixin, SimilarityEstimator):
    """Evaluate the methods on the same folds and choose the simplest one that is as good as the best.

    1. The similarity is diagnosed; the diagnosis determines the order in which methods are tried.
    2. The whole grid of each method is evaluated on every fold, as by ``PathSearchCV``; the methods share the work that
       they have in common, such as the eigendecomposition and the neighbour sort of a fold.
    3. The error at the best point of a grid is too small, the more so the larger the grid is. It is replaced by the
       expected error of a chosen point: points are chosen on bootstrap samples of the predictions on the folds, and
       evaluated on the samples that were not drawn [1]_.
    4. One-standard-error rule: of the methods whose error exceeds the smallest by no more than its standard error,
       the simplest is chosen, in the order of :func:`similitude.search.methods.methods`.
    5. It is fitted on all samples.

    The method itself is chosen by these errors, so that the error of the chosen one is still slightly too small.
    ``nested_cv`` repeats the whole procedure within outer folds, which gives an error without this bias.

    Parameters
    ----------
    methods : "all" or list of str, default="all"
        Names from :func:`similitude.search.methods.methods`.
    time_budget : float, default=None
        The time in seconds. On the first fold methods are tried, in the order of the diagnosis, as long as all folds of
        those so far are expected to fit into it (the first one is always tried). If time runs out later, the choice is
        made from the folds done so far (at least two). The result then depends on the machine.
    cv : int, splitter or iterable, default=10
        The folds. An int means stratified and shuffled folds, at most as many as the smallest class has samples.
    stack : bool, default=False
        Whether the best local and the best global method, fused by the product of their posteriors, also take part
        in the selection.
    nested_cv : int, default=None
        The number of outer folds for ``nested_error_``, at most as many as the smallest class has samples. Each takes
        as long as the rest of ``fit``, including a ``time_budget``.
    random_state : int, default=0
        The random state for the folds.
    n_jobs : int, default=None
        The number of folds at the same time, as in joblib. With a time budget the first fold is done alone.
    verbose : int, default=0
        If it is above 0, a progress bar is shown on a terminal.
    similarity, dissimilarity
        The input contract: see the page on input.

    Attributes
    ----------
    classes_ : ndarray of shape (G,)
        The classes.
    leaderboard_ : list of Standing
        The methods, from the smallest error to the largest.
    best_method_ : str
        The name of the chosen method.
    best_estimator_ : estimator
        The chosen method fitted on all samples, with ``probability=True`` if it has that parameter and each class has
        two samples.
    best_params_ : dict
        The parameters of the chosen method.
    diagnosis_ : Diagnosis
        The diagnosis of the similarity.
    failures_ : dict
        The error messages of the methods that failed, by name.
    left_out_ : list of str
        The methods that did not fit into ``time_budget``, in the order in which they would have been tried.
    n_folds_ : int
        The number of folds on which the choice was made.
    nested_error_, nested_standard_error_ : float or None
        The error and its standard error by nested cross-validation, if ``nested_cv`` is given.
    out_of_fold_ : OutOfFold or None
        ``labels`` (n,) and ``proba`` ((n, G), or None) that the chosen method, at its parameters, predicts for each
        sample by a fit without that sample; None if the folds do not test each sample once. Folds that a time budget
        left out are evaluated for this purpose.

    See Also
    --------
    PathSearchCV : Chooses the parameters of one method.
    diagnose : Describes a similarity.

    References
    ----------
    .. [1] Tsamardinos, Greasidou & Borboudakis, "Bootstrapping the out-of-sample predictions for efficient and accurate
       cross-validation", Machine Learning 107, 2018.

    Examples
    --------
    >>> from similitude import AutoClassifier
    >>> from similitude.datasets import load_voting
    >>> voting = load_voting()
    >>> auto = AutoClassifier(["k-NN", "SVM (clip)", "nearest centroid"], cv=5, similarity="vdm")
    >>> auto.fit(voting.data, voting.target).best_method_
    'k-NN'
    >>> [(row.method, round(100 * row.error, 1)) for row in auto.leaderboard_]
    [('k-NN', 4.0), ('SVM (clip)', 4.4), ('nearest centroid', 10.1)]
    """

    _takes_training = False

    def __init__(
        self,
        methods="all",
        time_budget=None,
        cv=10,
        *,
        stack=False,
        nested_cv=None,
        random_state=0,
        n_jobs=None,
        verbose=0,
        similarity="precomputed",
        dissimilarity=None,
    ):
        self.methods = methods
        self.time_budget = time_budget
        self.cv = cv
        self.stack = stack
        self.nested_cv = nested_cv
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.similarity = similarity
        self.dissimilarity = dissimilarity

    def fit(self, X, y):
        """Diagnose the similarity, evaluate the methods, choose one, and fit it on all samples.

        Parameters
        ----------
        X : square matrix, Proximities, or sequence of raw objects
            The training samples.
        y : array-like of shape (n,)
            The labels.

        Returns
        -------
        self
            The fitted classifier.
        """
        fitted = copy.copy(self)  # if the fit fails, the estimator is unchanged
        fitted._fit(X, y)
        self.__dict__.update(vars(fitted))
        return self

    def _fit(self, X: Any, y: Any) -> None:
        start = time.perf_counter()
        self._check_parameters()
        table = methods(self.methods, similarity=self.similarity, dissimilarity=self.dissimilarity)
        with warnings.catch_warnings():
            samples = self._read_samples(X, y)
            # The user has been warned about the matrix, and a fit that did not converge is judged by its errors.
            warnings.simplefilter("ignore", SimilarityWarning)
            warnings.simplefilter("ignore", ConvergenceWarning)
            contest = Contest(samples, table, self._folds(samples.y))
            deadline = None if self.time_budget is None else start + float(self.time_budget)
            contest.run(ordered(list(table), self.diagnosis_), deadline, self.n_jobs, self.verbose > 0)
            if self.stack:
                table |= contest.add_fused()
            self._choose(contest)
            self._fit_chosen(samples, table[self.best_method_][0])
            self.out_of_fold_ = contest.out_of_fold(self.best_method_)
            self.nested_error_: float | None = None
            self.nested_standard_error_: float | None = None
            if self.nested_cv is not None:
                self._nest(samples, table)

    def _fit_chosen(self, samples: Samples, estimator: Any) -> None:
        chosen = at_best(estimator, self.best_params_, samples.y)
        self.best_estimator_ = chosen.fit(samples.whole() if reads_training(chosen) else samples.X, samples.y)
        for name in ("n_features_in_", "feature_names_in_"):
            self.__dict__.pop(name, None)
            if self._new_reader().is_precomputed and hasattr(self.best_estimator_, name):
                setattr(self, name, getattr(self.best_estimator_, name))

    def _check_parameters(self):
        if self.time_budget is not None:
            check_positive(self.time_budget, "time_budget")
        if isinstance(self.cv, Integral) and self.cv < 2:
            raise ValueError(f"cv must be at least 2; got {self.cv!r}.")
        if self.nested_cv is None:
            return
        if not isinstance(self.nested_cv, Integral) or self.nested_cv < 2:
            raise ValueError(f"nested_cv must be None or an integer of at least 2; got {self.nested_cv!r}.")
        if self.cv is not None and not isinstance(self.cv, Integral) and not hasattr(self.cv, "split"):
            raise ValueError("nested_cv needs a cv that splits any number of samples: an integer or a splitter.")

    def _read_samples(self, X: Any, y: Any) -> Samples:
        """Diagnose the samples, and return them for division into folds."""
        samples = X if isinstance(X, Samples) else Samples(self._new_reader(), X, check_labels(y, _num_samples(X)))
        self.classes_ = np.unique(samples.y)
        if len(self.classes_) < 2:
            raise ValueError(f"y must have at least two classes; got one class, {self.classes_.tolist()[0]!r}.")
        self.diagnosis_ = diagnose(samples.values, samples.y, dissimilarity=samples.reader.map_name)
        return samples

    def _folds(self, y: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
        if isinstance(self.cv, Integral):
            return self._stratified(int(self.cv), y)
        try:
            splits = check_cv(self.cv, y, classifier=True).split(np.zeros(len(y)), y)
            everything = np.arange(len(y))  # masks become positions
            folds = [(everything[np.asarray(train)], everything[np.asarray(test)]) for train, test in splits]
        except (ValueError, IndexError) as error:
            raise ValueError(f"cv={self.cv!r} does not split these samples: {error}") from error
        if not folds or not all(len(train) and len(test) for train, test in folds):
            raise ValueError(f"cv must give at least one fold, and no empty ones; got {self.cv!r}.")
        return folds

    def _stratified(self, n_folds: int, y: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
        """Return ``n_folds`` folds, or as many as the smallest class has samples, but at least two."""
        counts = np.unique(y, return_counts=True)[1]
        if counts.max() < 2:
            raise ValueError("y must have a class of at least two samples; with one of each there can be no folds.")
        n_folds = max(2, min(int(n_folds), int(counts.min())))
        splitter = StratifiedKFold(n_folds, shuffle=True, random_state=self.random_state)
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="The least populated class", category=UserWarning)
            return list(splitter.split(np.zeros(len(y)), y))

    def _choose(self, contest: Contest) -> None:
        """Set the leaderboard, and choose the simplest method that is at most a standard error behind the best."""
        runs = sorted(contest.runs.values(), key=lambda run: run.error)
        if not runs:
            first = next(iter(contest.failures.items()))
            raise ValueError(f"methods: none could be used; {first[0]} failed with: {first[1]}")
        best, simplest_first = runs[0], list(contest.runs)
        level = [run for run in runs if run.is_level_with(best)]
        self.best_method_ = min(level, key=lambda run: simplest_first.index(run.name)).name
        self.leaderboard_ = [
            Standing(
                method=run.name,
                error=run.error,
                optimistic_error=run.optimistic_error,
                standard_error=run.standard_error,
                p_value=None if run is best else wilcoxon_greater(run.errors, best.errors),
                parameters=run.parameters,
                seconds=run.seconds,
                chosen=run.name == self.best_method_,
            )
            for run in runs
        ]
        self.best_params_ = contest.runs[self.best_method_].parameters
        self.failures_, self.left_out_, self.n_folds_ = contest.failures, contest.left_out, contest.n_folds

    def _nest(self, samples: Samples, table: dict[str, Method]) -> None:
        """Set the error of the whole procedure, including the choice, on folds that were not used for the choice."""
        names = [name for name in table if name != FUSED]
        inner = clone(self).set_params(methods=names, nested_cv=None, n_jobs=None, verbose=0)
        # The values of raw objects are not computed again, unless the similarity learns from each fold.
        outer = samples if samples.learns else samples.precomputed()
        inner.set_params(similarity=outer.reader.similarity, dissimilarity=outer.reader.dissimilarity)
        folds = self._stratified(self.nested_cv, samples.y)
        try:
            found = [fold["auto"].results[0] for fold in self._nested(outer, inner, folds)]
        except ValueError as error:
            raise ValueError(
                f"nested_cv={self.nested_cv!r} leaves too few samples in an outer fold: {error}"
            ) from error
        scores = np.array([np.mean(labels == samples.y[test]) for labels, (_, test) in zip(found, folds)])
        self.nested_error_ = float(1 - np.mean(scores))
        self.nested_standard_error_ = standard_error(scores)

    def _nested(self, samples: Samples, inner: Any, folds: list) -> Any:
        return evaluate(samples, {"auto": (inner, [{}])}, folds, predictions, n_jobs=self.n_jobs)

    def predict(self, X):
        """Predict the class of each sample with the chosen method.

        Parameters
        ----------
        X : samples
            Rows of similarities to the training samples, or raw objects.

        Returns
        -------
        ndarray of shape (m,)
            The predicted labels.
        """
        check_is_fitted(self)
        return self.best_estimator_.predict(X)

    @available_if(_best_has("predict_proba"))
    def predict_proba(self, X):
        """Return the posterior probability of each class by the chosen method.

        Parameters
        ----------
        X : samples
            Rows of similarities to the training samples, or raw objects.

        Returns
        -------
        ndarray of shape (m, G)
            The probabilities, in the order of ``classes_``.
        """
        check_is_fitted(self)
        return self.best_estimator_.predict_proba(X)

    @available_if(_best_has("decision_function"))
    def decision_function(self, X):
        """Return the decision values of the chosen method.

        Parameters
        ----------
        X : samples
            Rows of similarities to the training samples, or raw objects.

        Returns
        -------
        ndarray of shape (m,) or (m, G)
            The decision values.
        """
        check_is_fitted(self)
        return self.best_estimator_.decision_function(X)
