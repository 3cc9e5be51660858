"""The classifier that evaluates all methods on the same folds and combines them."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
from sklearn.base import clone
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping
from sklearn.utils.validation import check_is_fitted

from similitude._utils.checks import check_choice, check_integer
from similitude._utils.docs import shared_docs
from similitude._utils.progress import working
from similitude._utils.threads import one_openmp_thread, suitable_blas_threads
from similitude._utils.warn import silenced, warn
from similitude.auto.choice import Choice, choose
from similitude.auto.combined import CombinedClassifier, CombinedMember, combined_classifier, combined_state
from similitude.auto.comparison import compared
from similitude.auto.evaluated import EvaluatedMethods, evaluate_methods
from similitude.auto.leaderboard import failure_text
from similitude.auto.method_results import MethodResults
from similitude.auto.race import finishing, interrupts_raise
from similitude.auto.reading import warn_of_unweighted
from similitude.auto.unlabelled import what_unlabelled_brought
from similitude.auto.votes import Votes
from similitude.base import SimilarityEstimator, as_one_row, forget_fit, readers_of
from similitude.diagnosis import Diagnosis, diagnose
from similitude.evaluation.engine import Entry, Evaluated, at_point, evaluate, fitted_on, predictions
from similitude.evaluation.folds import stratified_folds
from similitude.numerics.class_columns import ClassColumns
from similitude.numerics.significance import standard_error
from similitude.proximity.check import SimilarityWarning
from similitude.reader import ByName, Samples, named_errors, rows_of
from similitude.sets.mixins import ApproximateSets
from similitude.splits.nearness import nearest_training

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from similitude._utils.types import ClassWeight, CostsLike, Folds, LabelsLike, ListLike, PriorsLike, SamplesLike
    from similitude.finders.pair_budget import PairBudget
    from similitude.similarities.registry import SimilarityLike

PREFERENCES = ("accuracy", "simple")
_MOST_DIAGNOSED, _FEWEST_DIAGNOSED = 1000, 200

_COMBINATION = ("costs", "priors", "class_weight", "similarity", "dissimilarity")
"""The parameters that the combination has, too."""
_EVALUATION = (
    *("methods", "time_budget", "pair_budget", "cv", "scoring", "n_repeats", "random_state", "n_jobs", "verbose"),
    *("pairs_file", "unlabelled"),
    *_COMBINATION,
)


@dataclass(frozen=True)
class OutOfFold:
    """The predictions for the tested samples, each by fits without that sample and by choices made without it.

    Posteriors are kept in ``columns``, of which there is one for each class unless samples and classes are many.
    """

    labels: np.ndarray
    samples: np.ndarray
    columns: ClassColumns
    kept_proba: np.ndarray
    kept_members: np.ndarray
    nearest: np.ndarray | None = None

    @property
    def proba(self) -> np.ndarray:
        """The posteriors of all classes, (t, G)."""
        return self.columns.all(self.kept_proba)

    @property
    def members(self) -> np.ndarray:
        """The posteriors of all classes by each member, (M, t, G)."""
        return self.columns.all(self.kept_members)


@shared_docs
class AutoClassifier(ApproximateSets, SimilarityEstimator):
    """Evaluate the methods on the same folds, and combine those that work best together.

    1. The methods race (:mod:`similitude.auto.race`): cheap ones come first, and after the first folds the points and
       methods that are clearly worse stop. On each fold the methods share the work that they have in common, such as
       the eigendecomposition and the neighbour sort. If X holds dissimilarities, the map is a parameter of most grids.
       With few samples the folds are repeated, and the answers for each sample are averaged. With more than 1,500
       samples, methods on the whole matrix are replaced by approximations with landmarks.
    2. The answers of each method are calibrated on its own answers for other folds
       (:mod:`similitude.numerics.temperature`). Rows that give no evidence have a posterior of their own, which is the
       same for all methods (see :class:`CombinedClassifier`).
    3. The methods, each at its best point, are combined by bagged greedy selection
       (:mod:`similitude.auto.combination`). A single method is chosen if it is clearly better than the combination.
    4. The members are fitted on all samples. ``best_estimator_`` predicts with the weighted mean of their posteriors.

    Every error on the leaderboard was counted on samples that were not used for the choice of the point, the members or
    the weights: the samples are divided into parts, and the choice for each part is made on the others [1]_.
    ``nested_cv`` repeats the whole procedure within outer folds instead.

    If X holds several similarities of the same samples, each method is evaluated on each of them, on the same folds,
    and the combination chooses among all of these and the methods that use several similarities at once
    (:class:`ProximityForest`, :class:`MixtureSVC`, and kernel ridge and SVMs on :class:`MixedSimilarity`). With more
    than four similarities, the combination consists of the latter, and a method on one similarity takes part only if it
    makes significantly fewer errors than these.

    Parameters
    ----------
    methods : "all" or list of str, default="all"
        Names from :func:`similitude.auto.methods.methods`, and, with several similarities, from
        :func:`similitude.auto.methods.mixtures`.
    time_budget : float, default=None
        The time limit in seconds for the whole fit. Methods that need little time are tried first; methods that would
        take too long are left out, with a warning, and so are repetitions for which there is no time. The folds are the
        same as without a limit. The result depends on the machine; with the methods that were tried as ``methods`` it
        can be reproduced.
    cv : int, splitter or iterable, default=5
        The folds. An int means stratified and shuffled folds, which keep groups together. A class with a single sample
        is in every training part and is not tested.
    pair_budget : int, float or PairBudget, default=None
        The largest number of evaluations of the similarity of raw objects in ``fit``, such as ``2e7``. Only neighbours,
        and the similarities of all samples to some landmarks, are then computed, each pair once, and shared by all
        methods and folds: methods on neighbours and methods on columns take part, the others are left out.
        ``pair_report_`` says what the evaluations were spent on. A :class:`~similitude.finders.PairBudget` has further
        options, such as a file that keeps the pairs. None means no limit; with more than 10,000 raw objects it means
        ``PairBudget()``, which never computes a whole matrix.
    pairs_file : str, default=None
        A file that keeps the values of all pairs of raw objects in all similarities, so that an interrupted ``fit``
        continues, and another with the same objects and similarities finds them computed; each pair takes 16
        bytes for each similarity. None keeps them in memory.
    prefer : {"accuracy", "simple"}, default="accuracy"
        "accuracy" chooses the combination. "simple" chooses the simplest method whose error exceeds the smallest by no
        more than the standard error of the smallest, in the order of :func:`similitude.auto.methods.methods`.
    scoring : str or callable, default=None
        The score by which points are chosen and methods are combined: "neg_brier_score", "neg_log_loss", "accuracy",
        "balanced_accuracy", the name of another scorer of scikit-learn, or a scorer that needs only labels and
        posteriors. None means the mean cost if ``costs`` are given, otherwise the Brier score.
    {costs}
    {priors}
        The leaderboard is that of the training shares.
    class_weight : dict or "balanced", default=None
        Weights of the classes, in the score and in the posteriors.
    n_repeats : int, default=None
        How many times cross-validation is repeated with different folds, if ``cv`` is an int; None means three times
        with fewer than 500 samples, otherwise once.
    nested_cv : int, default=None
        The number of outer folds for ``nested_error_``. Each takes about as long as the rest of ``fit``;
        ``time_budget`` applies to each of them separately.
    diagnose : bool, default=True
        Whether ``diagnosis_`` is computed, after the choice, from at most 1,000 samples, fewer if there are several
        similarities.
    random_state : int or None, default=0
        The random state for the folds and the bootstrap samples.
    n_jobs : int, default=None
        The number of folds that are evaluated in parallel, as in joblib. With a time budget the first fold is done
        alone.
    verbose : int, default=0
        If it is above 0, progress is shown.
    unlabelled : {{"use"}}, default=None
        None means that all samples have a label. With "use", y may hold missing ones: -1 among numbers, as in
        scikit-learn, None, NaN or empty text. The methods are judged on the labelled samples; those that can use the
        others do so in every fold: :class:`GraphClassifier` ("label spreading"), methods on rows of similarities as
        features, embeddings and SVMs. X must be a matrix; new rows have a column for each sample, labelled or not.
    {similarity}
        A map given here is tried together with others. Several similarities of raw objects are a dict, such as
        ``{"edit": "levenshtein", "lcs": "lcs"}``, and so are their maps if they differ; several matrices are passed to
        ``fit`` by name. For time series "elastic" means the family of distances of
        :func:`~similitude.similarities.elastic_family`, by default with the map "gauss:0.7". Its costs are in standard
        deviations of all training series, also of those that a fold leaves out, so that each distance is computed
        once for all folds; like the mean of a feature, this says nothing of the labels. For words "words" means the
        family of :func:`~similitude.similarities.words_family`, with n-grams counted in the same way.

    Attributes
    ----------
    {classes_}
    leaderboard_ : Leaderboard
        The methods and the combination, from the smallest error (with ``scoring``, the best score) to the largest, with
        the weights in the combination, and then the methods that were stopped after some folds; ``print`` shows a
        table, ``to_frame()`` returns a DataFrame.
    best_method_ : str
        The name of the chosen method, or "combination".
    best_estimator_ : CombinedClassifier
        The chosen members fitted on all samples.
    best_params_ : dict
        The parameters of the chosen method; for a combination the parameters of each member by name.
    budget_report_ : BudgetReport
        What the time was spent on, and which methods were stopped or left out; ``print`` shows it as a sentence.
    pair_report_ : PairReport
        What the evaluations of the similarity were spent on, with a learning curve by pairs, if only some pairs of raw
        objects were compared; ``print`` shows it as text.
    diagnosis_ : Diagnosis, dict of Diagnosis, or None
        The diagnosis of the similarity; of each by name if there are several.
    similarities_ : SimilarityComparison
        The comparison of the similarities, if there are several, and methods on single ones: see
        :func:`compare_similarities`.
    failures_ : dict
        The error messages of the methods that failed, by name; a warning also names these methods.
    left_out_ : list of str
        The methods that did not fit into ``time_budget``, in the order in which they would have been tried. Those that
        are not used for so many samples are in ``budget_report_.too_large``: of a sparse matrix of more than 1,500
        samples all that look at more than neighbours. Methods that are named in ``methods`` are tried in any case.
    not_testable_ : ndarray
        The classes that no fold tests, such as those with one sample.
    n_folds_ : int
        The number of folds on which the choice was made, over all repetitions.
    nested_error_, nested_standard_error_ : float or None
        The error and its standard error by nested cross-validation, if ``nested_cv`` is given.
    out_of_fold_ : OutOfFold
        ``labels`` (t,) and ``proba`` (t, G) that are predicted for the tested ``samples`` (t,), each by fits and
        choices without that sample, and the probabilities of each of the ``members`` (M, t, G).
    unlabelled_ : UnlabelledReport or None
        How many samples have no label, and what the methods that use them brought, if ``unlabelled="use"``; ``print``
        shows it as a sentence.

    See Also
    --------
    CombinedClassifier : The classifier in ``best_estimator_``.
    PathSearchCV : Chooses the parameters of one method.
    PredictionSets : Predicts sets of classes with a guarantee, where ``predict_set`` is approximate.
    diagnose : Describes a similarity.

    References
    ----------
    .. [1] Tsamardinos, Greasidou & Borboudakis, "Bootstrapping the out-of-sample predictions for efficient and accurate
       cross-validation", Machine Learning 107, 2018, uses bootstrap samples for the same purpose.

    Examples
    --------
    >>> from similitude import AutoClassifier
    >>> from similitude.datasets import load_voting
    >>> voting = load_voting()
    >>> auto = AutoClassifier(["k-NN", "SVM (clip)", "nearest centroid"], n_repeats=1, similarity="vdm")
    >>> auto.fit(voting.data, voting.target).best_method_
    'combination'
    >>> [(row.method, round(100 * row.error, 1), round(row.weight, 1)) for row in auto.leaderboard_]
    [('k-NN', 4.6, 0.3), ('combination', 5.1, 1.0), ('SVM (clip)', 5.7, 0.7), ('nearest centroid', 13.2, 0.0)]
    """

    _takes_training = False
    _votes_among_known = True  # each method decides for itself; those that need all pairs are left out without a fill

    def __init__(
        self,
        methods: Literal["all"] | Sequence[str] = "all",
        time_budget: float | None = None,
        cv: Folds = 5,
        *,
        pair_budget: float | PairBudget | None = None,
        pairs_file: str | None = None,
        prefer: Literal["accuracy", "simple"] = "accuracy",
        scoring: str | Callable[..., float] | None = None,
        costs: CostsLike = None,
        priors: PriorsLike = None,
        class_weight: ClassWeight = None,
        n_repeats: int | None = None,
        nested_cv: int | None = None,
        diagnose: bool = True,
        random_state: int | None = 0,
        n_jobs: int | None = None,
        verbose: int = 0,
        unlabelled: Literal["use"] | None = None,
        similarity: SimilarityLike | Mapping[str, SimilarityLike] = "precomputed",
        dissimilarity: str | Mapping[str, str] | None = None,
    ):
        self.methods = methods
        self.time_budget = time_budget
        self.pair_budget = pair_budget
        self.pairs_file = pairs_file
        self.cv = cv
        self.prefer = prefer
        self.scoring = scoring
        self.costs = costs
        self.priors = priors
        self.class_weight = class_weight
        self.n_repeats = n_repeats
        self.nested_cv = nested_cv
        self.diagnose = diagnose
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.unlabelled = unlabelled
        self.similarity = similarity
        self.dissimilarity = dissimilarity

    def get_metadata_routing(self) -> MetadataRouter:
        """Return how scikit-learn passes metadata on: ``groups`` go to the splitter in ``cv``.

        If ``cv`` is an int, ``set_fit_request(groups=True)`` requests them. ``set_fit_request(sample_weight=True)``
        requests weights.

        Returns
        -------
        MetadataRouter
            The routing.
        """
        router = MetadataRouter(owner=type(self).__name__)
        if not hasattr(self.cv, "split"):
            return router.add_self_request(self)
        # The groups in the signature of ``fit`` are then for the splitter.
        router.add_self_request(copy.copy(self).set_fit_request(groups=False))
        return router.add(splitter=self.cv, method_mapping=MethodMapping().add(caller="fit", callee="split"))

    def fit(
        self,
        X: SamplesLike,
        y: LabelsLike,
        sample_weight: ArrayLike | None = None,
        *,
        groups: ListLike | None = None,
    ) -> Self:
        """Evaluate the methods, combine them, and fit the members on all samples.

        Parameters
        ----------
        X : square matrix, Proximities, dict of square matrices, or sequence of raw objects
            The training samples.
        {y_train}
        sample_weight : array-like of shape (n,), default=None
            The weights of the samples. Methods that can use them do, and a warning names those that are fitted without
            them. Losses, errors and scores, calibrations and the weights of the combination count each sample with its
            weight; prediction sets and operating points count each sample once.
        groups : array-like of shape (n,), default=None
            The groups of the samples, which folds must not divide; they are passed to the splitter in ``cv``.

        Returns
        -------
        self
            The fitted classifier.
        """
        self._check_parameters()
        evaluated = evaluate_methods(X, y, groups, sample_weight, **{name: getattr(self, name) for name in _EVALUATION})
        results = evaluated.results
        interrupted = "interrupted: " if evaluated.budget.interrupted else ""
        with finishing():
            with working(f"{interrupted}choosing among the methods that were evaluated", self.verbose > 0):
                choice = choose(results, self.prefer, self.random_state or 0)
            with working(f"{interrupted}fitting the chosen methods on all samples", self.verbose > 0):
                best = fitted_choice(evaluated, choice, **{name: getattr(self, name) for name in _COMBINATION})
            found: dict[str, Any] = {"out_of_fold_": _out_of_fold(results, choice)}
            found["unlabelled_"] = (
                None if self.unlabelled is None else what_unlabelled_brought(results, choice, self.random_state or 0)
            )
            if results.samples.pairs is not None:
                found["pair_report_"] = results.samples.pair_report
            elif any(run.similarity is not None for run in results.runs.values()):
                with working("comparing the similarities", self.verbose > 0):
                    found["similarities_"] = compared(results, self.random_state or 0)
            with working("diagnosing the similarity", self.verbose > 0):
                diagnosis = _diagnosed(results.samples) if self.diagnose else None
        with working("nested cross-validation", self.verbose > 0 and self.nested_cv is not None):
            error, deviation = (None, None) if self.nested_cv is None else self._nested_error(evaluated)
        # Nothing is set before all of it is known: a fit that fails leaves the estimator as it was.
        forget_fit(self)
        self.__dict__.update(found)
        self.classes_, self.diagnosis_, self.budget_report_ = results.classes, diagnosis, evaluated.budget
        self.best_method_, self.best_params_, self.best_estimator_ = choice.method, choice.parameters, best
        self.leaderboard_ = choice.leaderboard
        self.failures_, self.left_out_, self.n_folds_ = results.failures, results.left_out, results.n_folds
        self.not_testable_ = np.setdiff1d(self.classes_, self.classes_[np.unique(results.codes[results.tested])])
        self.nested_error_: float | None = error
        self.nested_standard_error_: float | None = deviation
        for name in ("n_features_in_", "feature_names_in_", "support_columns_"):
            if hasattr(best, name):
                setattr(self, name, getattr(best, name))
        warn_of_unweighted(results.samples, {name: own[0] for name, own in evaluated.methods.items()})
        if self.failures_:
            warn(failure_text(self.failures_, "failures_"), SimilarityWarning)
        if evaluated.budget.left_out or evaluated.budget.interrupted:
            warn(str(evaluated.budget), SimilarityWarning)
        self._warn_of_coverage()
        return self

    @property
    def ids_(self) -> np.ndarray:
        check_is_fitted(self)
        return self.best_estimator_.ids_

    @property
    def _set_model(self) -> CombinedClassifier:
        return self.best_estimator_

    def _check_parameters(self) -> None:
        check_choice(self.prefer, "prefer", PREFERENCES)
        check_integer(self.nested_cv, "nested_cv", 2, none=True)
        if self.nested_cv is None or self.cv is None:
            return
        if not isinstance(self.cv, Integral) and not hasattr(self.cv, "split"):
            raise ValueError("nested_cv needs a cv that splits any number of samples: an integer or a splitter.")

    def _nested_error(self, evaluated: EvaluatedMethods) -> tuple[float, float]:
        """Return the error of the whole procedure, and its standard error, on folds not used for the choice."""
        samples, groups = evaluated.results.samples, evaluated.groups
        table = evaluated.methods.items()
        names = list(dict.fromkeys(own.method if isinstance(own, Entry) else name for name, own in table))
        inner = clone(self).set_params(methods=names, nested_cv=None, n_jobs=None, verbose=0)
        inner.set_params(pair_budget=None, pairs_file=None)
        # The values of raw objects are not computed again, unless the similarity learns from each fold.
        outer = samples if samples.learns else samples.precomputed()
        inner.set_params(similarity=outer.contract.similarity, dissimilarity=outer.contract.dissimilarity)
        folds = stratified_folds(samples.y, int(self.nested_cv or 0), groups, self.random_state or 0)
        try:
            with silenced(), interrupts_raise():
                found = [fold["auto"].results[0] for fold in self._nested(outer, inner, folds, groups)]
        except ValueError as error:
            raise ValueError(
                f"nested_cv={self.nested_cv!r} leaves too few samples in an outer fold: {error}"
            ) from error
        weights = samples.sample_weight
        weights = np.ones(samples.n) if weights is None else weights
        scores = np.array(
            [np.average(labels == samples.y[test], weights=weights[test]) for labels, (_, test) in zip(found, folds)]
        )
        return float(1 - np.mean(scores)), standard_error(scores)

    def _nested(self, samples: Any, inner: Any, folds: list, groups: np.ndarray | None) -> Any:
        if groups is None and samples.everything is None and samples.pairs is None:
            return evaluate(samples, {"auto": (inner, [{}])}, folds, predictions, n_jobs=self.n_jobs)
        return (
            {
                "auto": Evaluated(
                    [clone(inner).fit(part, part.y, part.sample_weight, groups=_taken(groups, train)).predict(rows)],
                    0.0,
                )
            }
            for train, part, rows in (
                (train, samples.part(train), samples.fold(train, test)[1]) for train, test in folds
            )
        )

    def _respond(self, X: Any, response: str) -> np.ndarray:
        check_is_fitted(self)
        return getattr(self.best_estimator_, response)(self._rows(X))

    def _rows(self, X: Any) -> Any:
        # Read here, and not by best_estimator_, so that messages name this class.
        support = getattr(self, "support_columns_", None)
        readers = readers_of(self.best_estimator_)
        return X if isinstance(X, ByName) else rows_of(readers, X, support=support, estimator=self)

    def explain(self, X: SamplesLike) -> Votes:
        """Return what each member predicts for one sample.

        Parameters
        ----------
        X : one sample
            A row of similarities to the training samples, or a sequence of one raw object.

        Returns
        -------
        Votes
            The posteriors of the members; ``print`` shows them as a table.
        """
        check_is_fitted(self)
        return self.best_estimator_.explain(self._rows(as_one_row(self.best_estimator_, X)))


def _taken(groups: np.ndarray | None, train: np.ndarray) -> np.ndarray | None:
    return None if groups is None else groups[train]


def _diagnosed(samples: Samples) -> Diagnosis | dict[str, Diagnosis]:
    """Return the diagnosis of the similarity, or of each by name if there are several."""
    found = {}
    parts = {name: part for name, part in samples.parts.items() if not part.contract.is_columns}
    most = max(_FEWEST_DIAGNOSED, _MOST_DIAGNOSED // len(parts))
    for name, part in parts.items():
        with named_errors(name, len(samples.parts)):
            map_name = part.contract.map_name
            found[name] = diagnose(part.values, part.y, dissimilarity=map_name, max_samples=most)
    return found if samples.named and samples.pairs is None else next(iter(found.values()))


def fitted_choice(evaluated: EvaluatedMethods, choice: Choice, **parameters: Any) -> CombinedClassifier:
    """Return the chosen members fitted on all samples, with these parameters of the combination."""
    results, members = evaluated.results, []
    with silenced(), one_openmp_thread(), suitable_blas_threads(len(results.codes)):
        for member in choice.members:
            run, whole = member.run, results.whole.of(member.run.similarity)
            estimator = at_point(run.estimator, results.parameters(run, member.point))
            estimator = fitted_on(whole, results.samples.of(run.similarity), estimator)
            temperature, none = run.temperatures[member.point], results.no_evidence[run.similarity]
            own = CombinedMember(run.name, estimator, member.weight, temperature, none, run.similarity, run.method)
            members.append(own)
    state = combined_state(
        results.whole,
        evaluated.labels,
        members,
        results.no_evidence[None],
        choice.judgement.posteriors,  # under the class weights already
        results.tested,
        results.parts,
        results.lacking > 0.5,
        results.columns.at(results.tested),
    )
    best = combined_classifier(state, **parameters)
    if results.samples.pairs is not None:
        best._compares(results.samples.pairs)
    return best


def _out_of_fold(results: MethodResults, choice: Choice) -> OutOfFold:
    posteriors = choice.judgement.posteriors
    columns = results.columns.at(results.tested)
    labels = results.classes[columns.classes(results.loss.decisions(posteriors))]
    members = np.stack([member.posteriors for member in choice.members])
    nearest = None
    if len(results.samples.parts) == 1:
        nearest = nearest_training(results.samples, results.repeats)[results.tested]
    samples = results.samples
    tested = results.tested if samples.everything is None else samples.labelled[results.tested]
    return OutOfFold(labels, tested, columns, posteriors, members, nearest)
