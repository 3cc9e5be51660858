"""A meta-estimator that predicts sets of classes with a stated confidence."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from numbers import Integral
from typing import Any, Literal, Self

import numpy as np
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone
from sklearn.utils import Tags, get_tags
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import check_is_fitted

from similitude._utils.docs import shared_docs
from similitude._utils.forms import is_frame
from similitude._utils.ids import Names, labels_in_order
from similitude._utils.scikit_learn import BaseSearchCV, num_samples
from similitude._utils.threads import one_openmp_thread
from similitude._utils.types import ColumnPositions, Folds, ListLike, RandomState, SamplesLike
from similitude.base import Deciding, SimilarityEstimator, contract_of, forget_fit, reader_of, warns_of_dissimilarity
from similitude.evaluation.answers import log_posteriors
from similitude.evaluation.engine import Fold, fitted_on, reading_part, reads_training
from similitude.evaluation.folds import Split, testable_classes
from similitude.labels import check_labels, check_two_classes
from similitude.proximity.proximities import Extras, Proximities, as_proximities
from similitude.proximity.split import cut
from similitude.reader import ByName, Contract, GivenValues, Rows, Samples, is_dict, training_columns
from similitude.sets.calibration import (
    Calibration,
    SetCoverage,
    check_class_sizes,
    check_set_parameters,
    in_set,
    warn_of_coverage,
)
from similitude.sets.familiarity import learned_familiarity
from similitude.sets.mixins import Novelty
from similitude.sets.typicality import Typicality
from similitude.splits.leaks import folds_of_samples


@dataclass(frozen=True)
class FoldModel:
    """A classifier that was fitted on the training part of one fold."""

    estimator: Any
    train: ColumnPositions
    test: ColumnPositions


@shared_docs
class PredictionSets(Novelty, MetaEstimatorMixin, Deciding, SimilarityEstimator):
    """Predict sets of classes that hold the true class with a stated confidence (cross-conformal prediction).

    A classifier is fitted on the training part of each fold and predicts the samples that are left out. With a_i
    the nonconformity score of a left-out sample i with its true class, and a_g^k(x) that of a new sample x with class g
    by the classifier of fold k, the p-value of class g is [1]_::

        p_g(x) = (1 + sum over k of #{i in fold k, y_i = g : a_i >= a_g^k(x)}) / (1 + n_g)

    and the set of x holds the classes whose p-value exceeds e = 1 - confidence. All samples serve for training and for
    calibration. An empty set means "none of these". If the samples of a class and a new sample of this class are
    exchangeable, its set holds the class with a probability of at least ``1 - 2 e - 2 (1 - e) (K - 1) / (n_g + K)`` for
    K folds of equal size; in practice it is about ``1 - e``. The guide shows measured values.

    Samples whose rows give no evidence (:func:`similitude.proximity.gives_evidence`) are a category of their own: they
    are compared with left-out samples without evidence, of all classes together, and all others with those with
    evidence, so that the confidence holds for both.

    Parameters
    ----------
    estimator : classifier
        A classifier of similitude or scikit-learn, a pipeline or a search, on precomputed matrices, raw objects or
        feature vectors. Its posteriors are used, otherwise its decision values (as logarithms of posteriors), otherwise
        its labels.
    confidence : float, default=0.9
        The share of samples whose set is to hold their class, between 0 and 1.
    method : {"lac", "aps"}, default="lac"
        The nonconformity score. "lac" is one minus the posterior of the class [2]_, which gives the smallest sets.
        "aps" is the sum of the posteriors above that of the class plus half of its own [3]_, which gives larger sets
        for difficult samples and smaller ones for easy samples.
    class_conditional : bool, default=True
        Whether each class is calibrated on its own samples, so that the confidence holds for each class; each class
        then needs at least 1 / (1 - confidence) - 1 samples. Otherwise it holds on average over all samples.
    cv : int, splitter or iterable, default=10
        The folds. An int means stratified and shuffled folds, which keep groups together. Each sample must be left out
        once, except those of a class with a single sample or, with groups, a single group.
    random_state : int, default=0
        The random state for the folds, if ``cv`` is an int.
    n_jobs : int, default=None
        The number of folds that are fitted in parallel, as in joblib.

    Attributes
    ----------
    {classes_}
    estimator_ : classifier
        The classifier fitted on all samples, which ``predict`` uses.
    folds_ : list of FoldModel
        The classifiers of the folds.

    See Also
    --------
    AutoClassifier.predict_set : Approximate sets without further fits.
    CombinedClassifier : Posteriors that are calibrated, but without sets.

    References
    ----------
    .. [1] Vovk, "Cross-conformal predictors", Annals of Mathematics and Artificial Intelligence 74, 2015; the
       bound follows from Vovk & Wang, "Combining p-values via averaging", Biometrika 107, 2020.
    .. [2] Sadinle, Lei & Wasserman, "Least ambiguous set-valued classifiers with bounded error levels", JASA 114, 2019.
    .. [3] Romano, Sesia & Candès, "Classification with valid and adaptive coverage", NeurIPS 2020.

    Examples
    --------
    >>> from similitude import KNNClassifier, PredictionSets
    >>> from similitude.datasets import load_voting
    >>> voting = load_voting()
    >>> sets = PredictionSets(KNNClassifier(5, similarity="counting"), confidence=0.95)
    >>> sets = sets.fit(voting.data[:300], voting.target[:300])
    >>> found = sets.predict_set(voting.data[300:])
    >>> found.shape, sorted(set(found.sum(axis=1).tolist()))
    ((135, 2), [1, 2])
    """

    similarity = "precomputed"
    dissimilarity = None
    _takes_training = False

    def __init__(
        self,
        estimator: BaseEstimator,
        confidence: float = 0.9,
        method: Literal["lac", "aps"] = "lac",
        class_conditional: bool = True,
        cv: Folds = 10,
        *,
        random_state: RandomState = 0,
        n_jobs: int | None = None,
    ):
        self.estimator = estimator
        self.confidence = confidence
        self.method = method
        self.class_conditional = class_conditional
        self.cv = cv
        self.random_state = random_state
        self.n_jobs = n_jobs

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        inner = get_tags(self.estimator)
        tags.input_tags, tags.no_validation = copy.deepcopy(inner.input_tags), inner.no_validation
        return tags

    def _contract(self) -> Contract:
        found = _contract(self.estimator)
        return Contract("columns", takes_columns=True) if found is None else found

    def fit(self, X: SamplesLike, y: ListLike, *, groups: ListLike | None = None) -> Self:
        """Fit the classifier on each fold and on all samples.

        Parameters
        ----------
        X : training samples
            A square matrix, Proximities, raw objects or feature vectors, as the classifier requires.
        {y_train}
        groups : array-like of shape (n,), default=None
            The groups of the samples, which folds must not divide. The sets are then those for samples of new groups.

        Returns
        -------
        self
            The fitted meta-estimator.
        """
        confidence = check_set_parameters(self.confidence, self.method, self.class_conditional)
        if isinstance(self.cv, Integral) and self.cv < 2:
            raise ValueError(f"cv must be at least 2; got {self.cv!r}.")
        contract = _contract(self.estimator)
        y, groups = labels_in_order(y, X), labels_in_order(groups, X, "groups")
        X = as_proximities(X) if is_dict(X) else X
        samples = Samples(contract, X, check_labels(y, num_samples(X)), warns=_warns(self.estimator))
        classes, codes = np.unique(samples.y, return_inverse=True)
        check_two_classes(classes)
        check_class_sizes(classes, np.bincount(codes), confidence, self.class_conditional)
        repeats, groups = folds_of_samples(samples, self.cv, 1, groups, self.random_state)
        splits = _checked_folds(repeats[0], samples.y, groups)
        parallel = Parallel(n_jobs=self.n_jobs)
        found = parallel(delayed(_fit_fold)(self.estimator, samples, split, classes) for split in splits)
        tests = [model.test for model, _ in found]
        known = len(samples.parts) == 1
        calibration = Calibration(
            classes,
            np.concatenate([answers for _, answers in found]),
            codes[np.concatenate(tests)],
            np.repeat(np.arange(len(tests)), [len(test) for test in tests]),
            np.concatenate([samples.evidence(*split) for split in splits]) if known else None,
        )
        check_class_sizes(classes, calibration.counts, confidence, self.class_conditional, "left-out samples")
        self._keep(samples, [model for model, _ in found], calibration, codes)
        measured = self.coverage()
        warn_of_coverage(measured.confidence, measured.coverage, len(measured.sets))
        return self

    def _keep(self, samples: Samples, folds: list[FoldModel], calibration: Calibration, codes: np.ndarray) -> None:
        """Fit the classifier on all samples, and become the fitted estimator."""
        whole = samples.whole() if len(samples.parts) == 1 else None
        estimator = (
            clone(self.estimator).fit(samples.X, samples.y)
            if whole is None
            else fitted_on(whole, samples, self.estimator)
        )
        typicality = familiarity = None
        if whole is not None and not whole.only.reader.is_columns:
            typicality = Typicality.learn(whole.only, codes, len(calibration.classes))
            familiarity = learned_familiarity(whole.only, codes)
        forget_fit(self)
        self.__dict__.pop("_readers", None)
        if whole is not None:
            self._keep_training(whole)
        else:
            for name in ("n_features_in_", "feature_names_in_"):
                if hasattr(estimator, name):
                    setattr(self, name, getattr(estimator, name))
        self.classes_, self.estimator_, self.folds_ = calibration.classes, estimator, folds
        self._calibration, self._typicality, self._familiarity = calibration, typicality, familiarity
        self._computes = whole is not None and samples.learns
        self._frozen = self.confidence, self.method, bool(self.class_conditional)

    def p_values(self, X: SamplesLike) -> np.ndarray:
        """Return the p-value of each class: how well the class suits the sample, compared with left-out samples.

        Parameters
        ----------
        {X_new}

        Returns
        -------
        ndarray of shape (m, G)
            The p-values, in the order of ``classes_``.
        """
        check_is_fitted(self)
        _, method, class_conditional = self._frozen
        answers, evidence = self._answers(X)
        return self._calibration.p_values(answers, method, class_conditional, evidence)

    def predict_set(self, X: SamplesLike, confidence: float | None = None) -> np.ndarray:
        """Return the set of classes of each sample.

        Parameters
        ----------
        {X_new}
        confidence : float, default=None
            Another confidence than that of the estimator.

        Returns
        -------
        ndarray of bool of shape (m, G)
            Which classes are in the set, in the order of ``classes_``. A row without any means "none of these".
        """
        check_is_fitted(self)
        confidence = self._checked_confidence(confidence)
        return in_set(self.p_values(X), confidence)

    def _checked_confidence(self, confidence: Any) -> float:
        own, method, class_conditional = self._frozen
        confidence = check_set_parameters(own if confidence is None else confidence, method, class_conditional)
        check_class_sizes(self.classes_, self._calibration.counts, confidence, class_conditional, "left-out samples")
        return confidence

    def coverage(self, confidence: float | None = None) -> SetCoverage:
        """Return how often sets of left-out samples hold the true class, by class, and how large they are.

        Parameters
        ----------
        confidence : float, default=None
            Another confidence than that of the estimator.

        Returns
        -------
        SetCoverage
            The coverage; ``print`` shows it as a table.
        """
        check_is_fitted(self)
        confidence = self._checked_confidence(confidence)
        return self._calibration.coverage(confidence, *self._frozen[1:])

    def _answers(self, X: Any) -> tuple[list[np.ndarray], np.ndarray | None]:
        """Return the logarithms of the posteriors of new samples by each fold, and which give evidence, if known."""
        reader = reader_of(self)
        pairwise = get_tags(self.estimator_).input_tags.pairwise
        if reader is None:
            X, _ = training_columns(as_proximities(X) if is_dict(X) else X, self._training_names)
            given = [cut(X, np.arange(num_samples(X)), fold.train) if pairwise else X for fold in self.folds_]
            return [log_posteriors(fold.estimator, own, self.classes_) for fold, own in zip(self.folds_, given)], None
        X, _ = training_columns(X, reader.ids)
        rows = reader.rows(X, estimator=self)
        if not reader.is_matrix and not pairwise and not self._shares_values():
            return [log_posteriors(fold.estimator, X, self.classes_) for fold in self.folds_], rows.evidence
        everything = np.arange(reader.n_columns)
        values = rows.native.block(slice(0, len(rows)), everything)
        answers = []
        for fold in self.folds_:
            columns = everything if reader.is_columns else fold.train
            if reads_training(fold.estimator):
                own = reader_of(reading_part(fold.estimator)[0])
                extras = Extras(rows.features, rows.self_similarity)
                native = GivenValues(values, columns=columns)
                part: Any = ByName(
                    {"S": Rows(own, len(rows), native, extras, objects=rows.objects, unknown=rows.unknown)}
                )
            else:
                part = cut(X if isinstance(X, Proximities) else values, np.arange(len(rows)), columns)
            answers.append(log_posteriors(fold.estimator, part, self.classes_))
        return answers, rows.evidence

    @property
    def _training_names(self) -> Names | None:
        """The names of the training samples that the fitted classifier knows."""
        own = reader_of(reading_part(self.estimator_)[0])
        return None if own is None or not get_tags(self.estimator_).input_tags.pairwise else own.ids

    def _shares_values(self) -> bool:
        """Return whether the similarities of raw objects can be computed once for the classifiers of all folds."""
        if self._computes or not reads_training(self.estimator_):
            return False
        return not any(reader_of(reading_part(fold.estimator)[0]).both_directions for fold in self.folds_)

    def _offers(self, response: str) -> bool:
        return hasattr(getattr(self, "estimator_", self.estimator), response)

    def _respond(self, X: Any, response: str) -> np.ndarray:
        check_is_fitted(self)
        reader = reader_of(self)
        names = self._training_names if reader is None else reader.ids if reader.is_matrix else None
        if names is not None:
            X, _ = training_columns(as_proximities(X) if is_dict(X) else X, names)
            if is_frame(X) and not hasattr(self.estimator_, "feature_names_in_"):
                X = X.to_numpy()  # the columns are in order
        return getattr(self.estimator_, response)(X)


def _contract(estimator: Any) -> Contract | None:
    """Return how an estimator reads X, or None if its input are feature vectors."""
    part, _ = reading_part(estimator)
    if isinstance(part, SimilarityEstimator):
        return contract_of(part)
    if isinstance(part, BaseSearchCV):
        return _contract(part.estimator)
    if not get_tags(part).input_tags.pairwise:
        return None
    # In scikit-learn a precomputed "metric" is a distance, a precomputed "kernel" or "affinity" a similarity.
    distances = getattr(part, "metric", None) == "precomputed"
    return Contract("precomputed", "max-minus" if distances else None, takes_several=True)


def _warns(estimator: Any) -> bool:
    part, _ = reading_part(estimator)
    return isinstance(part, BaseSearchCV) or warns_of_dissimilarity(part)


def _checked_folds(folds: list[Split], y: np.ndarray, groups: np.ndarray | None) -> list[Split]:
    """Return the folds, after checking that each sample of a class that can be tested is left out once."""
    times = np.bincount(np.concatenate([test for _, test in folds]), minlength=len(y))
    wrong = np.flatnonzero((times > 1) | ((times == 0) & np.isin(y, testable_classes(y, groups))))
    if len(wrong):
        raise ValueError(
            f"cv must leave out each sample once, as KFold does; sample {wrong[0]} is left out {times[wrong[0]]} times."
        )
    return folds


def _fit_fold(estimator: Any, samples: Samples, split: Split, classes: np.ndarray) -> tuple[FoldModel, np.ndarray]:
    """Return the classifier fitted on the training part, and its answers for the samples that were left out."""
    train, test = split
    fold = Fold(samples, train, test)
    with one_openmp_thread():
        X, (rows,) = fold.given_to(estimator)
        fitted = clone(estimator).fit(X, fold.y)
        return FoldModel(fitted, train, test), log_posteriors(fitted, rows, classes)
