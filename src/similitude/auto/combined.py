"""A classifier whose posterior is the weighted mean of the posteriors of several methods."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.base import clone
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from similitude._utils.checks import check_integer
from similitude._utils.docs import shared_docs
from similitude._utils.ids import labels_in_order
from similitude._utils.types import ColumnPositions
from similitude.auto.members import check_members, check_similarities
from similitude.auto.no_evidence import NoEvidence, calibrated_on
from similitude.auto.reading import read_samples, warn_of_unweighted, with_weights
from similitude.auto.votes import Votes
from similitude.base import SimilarityEstimator, as_one_row, forget_fit, readers_of, readers_of_training
from similitude.evaluation.answers import answer_columns, answered
from similitude.evaluation.engine import evaluate, fitted_on, reading_part, reads_training
from similitude.evaluation.folds import Split, stratified_folds
from similitude.labels import Labels, encoded_labels, relative_priors
from similitude.numerics.class_columns import ClassColumns
from similitude.numerics.temperature import Temperature, fit_temperature
from similitude.numerics.votes import expected_costs, rescaled_by_priors
from similitude.proximity.proximities import Proximities
from similitude.reader import ByName, GivenValues, Reader, Rows, Samples, Training, rows_of
from similitude.sets.calibration import Calibration
from similitude.sets.familiarity import learned_familiarity
from similitude.sets.mixins import ApproximateSets
from similitude.sets.typicality import Typicality

if TYPE_CHECKING:
    from numpy.typing import ArrayLike
    from sklearn.base import BaseEstimator

    from similitude._utils.types import ClassWeight, CostsLike, LabelsLike, PriorsLike, SamplesLike
    from similitude.similarities.registry import SimilarityLike


@dataclass(frozen=True)
class CombinedMember:
    """One fitted member of a combination."""

    name: str
    estimator: Any
    weight: float
    temperature: Temperature
    no_evidence: NoEvidence
    similarity: str | None = None
    method: str | None = None

    def posteriors(self, rows: ByName[Rows], classes: np.ndarray) -> np.ndarray:
        """Return the calibrated posteriors."""
        rows = rows.of(self.similarity)
        X = rows if reads_training(self.estimator) else _as_given(rows.only, self.estimator)

        def ask(response: str) -> np.ndarray:
            return np.asarray(getattr(self.estimator, response)(X))

        response = self.temperature.response
        columns = answer_columns(response, ask(response), lambda: ask("predict"), self.estimator.classes_, classes)
        return np.where(rows.evidence[:, None], self.temperature.posteriors(columns), self.no_evidence.posterior)


def _as_given(rows: Rows, estimator: Any) -> Any:
    """Return the rows as raw objects or a matrix of native values, for an estimator that reads its input itself."""
    if not rows.reader.is_matrix and not get_tags(estimator).input_tags.pairwise:
        return rows.objects
    values = rows.native.block(slice(0, len(rows)), np.arange(rows.reader.n_columns))
    absent = rows.reader.absent
    ids = rows.reader.column_ids if "ids" in rows.reader.extras else None
    if rows.features is None and rows.self_similarity is None and ids is None and absent == "zero":
        return values
    return Proximities(values, rows.features, self_similarity=rows.self_similarity, column_ids=ids, absent=absent)


@dataclass(frozen=True)
class OfLabelled:
    """How the rows of new samples to all training samples become those to the labelled ones."""

    readers: dict[str, Reader]
    labelled: ColumnPositions

    def rows(self, everything: ByName[Rows]) -> dict[str, Rows]:
        """Return the rows to the labelled training samples, by the name of the similarity."""
        found = {}
        for (name, reader), rows in zip(self.readers.items(), everything.parts.values()):
            options: dict[str, Any] = {"unknown": rows.unknown, "announced": rows.announced}
            found[name] = Rows(reader, len(rows), rows.native.at_columns(self.labelled), rows.extras, **options)
        return found


@dataclass(frozen=True)
class CombinedState:
    """What a fitted combination consists of."""

    training: ByName[Training]
    labels: Labels
    members: list[CombinedMember]
    no_evidence: NoEvidence
    calibration: Calibration
    typicality: Any
    familiarity: Any
    support_columns: np.ndarray | None


def combined_state(
    whole: ByName[Training],
    labels: Labels,
    members: list[CombinedMember],
    no_evidence: NoEvidence,
    left_out: np.ndarray,
    tested: np.ndarray,
    parts: np.ndarray,
    lacking: np.ndarray,
    columns: ClassColumns,
) -> CombinedState:
    """Return the state of a combination with these fitted members.

    ``left_out`` are the posteriors, before priors, of the samples at the positions ``tested``, by fits without
    them; ``parts`` are the numbers of their folds, ``lacking`` tells which rows gave no evidence, and ``columns`` which
    classes the columns of the posteriors stand for.
    """
    shown = whole.parts[_main_similarity(whole, members)]
    # All rows without evidence have the same posterior, and so have left-out samples without evidence.
    left_out, none = np.array(left_out), _weighted(no_evidence.posterior[None], labels)
    left_out[lacking] = columns.at(lacking).taken(np.broadcast_to(none, (int(lacking.sum()), none.shape[1])))
    if labels.priors is not None and columns.own is not None:
        left_out, columns = columns.all(left_out), ClassColumns(columns.n_classes)
    with np.errstate(divide="ignore"):
        answers = np.log(_with_priors(left_out, labels))
    own = None if columns.own is None else columns.own.astype(np.intp).ravel()
    return CombinedState(
        whole,
        labels,
        members,
        no_evidence,
        Calibration(labels.classes, answers, labels.codes[tested], parts, ~lacking, own),
        Typicality.learn(shown, labels.codes, labels.n_classes),
        learned_familiarity(shown, labels.codes),
        _columns_needed(
            [part.reader for part in whole.parts.values()], members, no_evidence, whole.everything is not None
        ),
    )


def combined_classifier(state: CombinedState, **parameters: Any) -> CombinedClassifier:
    """Return a fitted classifier with this state; the parameters are all but the members and their weights."""
    by_name = any(own.similarity is not None for own in state.members)
    named = [(own.name, clone(own.estimator), *([own.similarity] if by_name else [])) for own in state.members]
    found = CombinedClassifier(named, [member.weight for member in state.members], **parameters)
    found._keep(state)
    return found


@shared_docs
class CombinedClassifier(ApproximateSets, SimilarityEstimator):
    """Classify by the weighted mean of the calibrated posteriors of several classifiers.

    With P_t(g | x) the calibrated posterior of member t::

        P(g | x) = sum over t of w_t P_t(g | x)

    The answers of each member (posteriors, else decision values, else labels) are calibrated by a temperature, and for
    two classes an offset, fitted to its answers on left-out samples (:mod:`similitude.numerics.temperature`). The class
    of least expected cost is predicted. :class:`~similitude.AutoClassifier` returns a fitted classifier of this kind.

    A row whose values to all training samples are equal, such as an empty row of a sparse matrix, gives no evidence
    (:func:`similitude.proximity.gives_evidence`). Its posterior is not that of the members. It is learned from the
    left-out training samples whose rows give none: c_g of class g, c of all G classes. With the share s_g of class g
    among all training samples::

        P(g | no evidence) = (c_g + G s_g) / (c + G)

    Parameters
    ----------
    members : list of (name, estimator) or (name, estimator, similarity)
        Classifiers on the same input. If X holds dissimilarities, each may have its own map. If X holds several
        similarities by name, the third item names the one that the member reads; without it the member reads all.
    weights : sequence of float, default=None
        Their weights; None means equal weights.
    {costs}
    {priors}
    class_weight : dict or "balanced", default=None
        Weights of the classes: the posterior is multiplied by them and normalised, as if the classes had these weights
        in the training set.
    n_folds : int, default=5
        The number of folds on which the members are calibrated.
    random_state : int, default=0
        The random state for the folds.
    {similarity}

    Attributes
    ----------
    {classes_}
    members_ : list of CombinedMember
        The fitted members with their weights, largest weight first if an ``AutoClassifier`` chose them.
    support_columns_ : ndarray of int
        The columns of X that ``predict`` needs, if it does not need all: the union of those of the members.

    See Also
    --------
    AutoClassifier : Chooses the members and their weights.
    FusedClassifier : Multiplies the posteriors of classifiers on different inputs.

    Examples
    --------
    >>> from similitude import CombinedClassifier, KNNClassifier, SimilaritySVC
    >>> from similitude.datasets import load_voting
    >>> voting = load_voting()
    >>> members = [("k-NN", KNNClassifier(5)), ("SVM", SimilaritySVC())]
    >>> model = CombinedClassifier(members, [0.3, 0.7], similarity="counting")
    >>> model = model.fit(voting.data[:200], voting.target[:200])
    >>> float(model.score(voting.data[200:], voting.target[200:])) > 0.9
    True
    >>> print(model.explain(voting.data[200:201]))  # doctest: +ELLIPSIS
    member       weight  predicts  ...
    k-NN         0.30    ...
    SVM          0.70    ...
    combination          ...
    """

    _takes_several = True
    _takes_training = False
    _votes_among_known = True  # each member decides for itself

    def __init__(
        self,
        members: Sequence[tuple[str, BaseEstimator] | tuple[str, BaseEstimator, str]] | None = None,
        weights: Sequence[float] | np.ndarray | None = None,
        *,
        costs: CostsLike = None,
        priors: PriorsLike = None,
        class_weight: ClassWeight = None,
        n_folds: int = 5,
        random_state: int = 0,
        similarity: SimilarityLike | Mapping[str, SimilarityLike] = "precomputed",
        dissimilarity: str | Mapping[str, str] | None = None,
    ):
        self.members = members
        self.weights = weights
        self.costs = costs
        self.priors = priors
        self.class_weight = class_weight
        self.n_folds = n_folds
        self.random_state = random_state
        self.similarity = similarity
        self.dissimilarity = dissimilarity

    def fit(self, X: SamplesLike, y: LabelsLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the members, and calibrate them on folds.

        Parameters
        ----------
        {X_train}
        {y_train}
        sample_weight : array-like of shape (n,), default=None
            The weights of the samples, for the members that can use them and for all calibrations; a warning names the
            members that are fitted without them. Prediction sets and operating points count each sample once.

        Returns
        -------
        self
            The fitted classifier.
        """
        members, weights = check_members(self.members, self.weights)
        check_integer(self.n_folds, "n_folds", 2)
        samples = read_samples(X, y, self.similarity, self.dissimilarity)
        samples = with_weights(samples, labels_in_order(sample_weight, X, "sample_weight"))
        labels = encoded_labels(samples.y, self.costs, self.priors, self.class_weight)
        labels = relative_priors(labels, samples.sample_weight)
        check_similarities(members, samples)
        table: dict[str, Any] = {name: (estimator, [{}], *own) for name, estimator, *own in members}
        folds = stratified_folds(samples.y, int(self.n_folds), None, self.random_state)
        rows = np.concatenate([test for _, test in folds])
        found = list(evaluate(samples, table, folds, answered))
        whole = samples.whole()
        read = {None, *(own[0] for _, _, *own in members if own)}
        without = {similarity: _without_evidence(samples, similarity, folds, labels) for similarity in read}
        lacking, no_evidence = without[None]
        fitted, left_out = [], []
        for (name, estimator, *own), weight in zip(members, weights):
            similarity = own[0] if own else None
            response = found[0][name].results[0][0]
            columns = np.concatenate([fold[name].results[0][1] for fold in found]).astype(float)
            lacking_here, none = without[similarity]
            some = calibrated_on(lacking_here)
            counted = None if samples.sample_weight is None else samples.sample_weight[rows[some]]
            temperature = fit_temperature(columns[some], response, labels.codes[rows[some]], counted)
            posteriors = np.where(lacking_here[:, None], none.posterior, temperature.posteriors(columns))
            left_out.append(np.where(lacking[:, None], no_evidence.posterior, posteriors))
            estimator = fitted_on(whole.of(similarity), samples.of(similarity), estimator)
            fitted.append(CombinedMember(name, estimator, float(weight), temperature, none, similarity))
        parts = np.repeat(np.arange(len(folds)), [len(test) for _, test in folds])
        mean = _weighted(np.tensordot(weights, np.stack(left_out), axes=1), labels)
        columns = ClassColumns(labels.n_classes)
        self._keep(combined_state(whole, labels, fitted, no_evidence, mean, rows, parts, lacking, columns))
        warn_of_unweighted(samples, {name: estimator for name, estimator, *_ in members})
        self._warn_of_coverage()
        return self

    def _keep(self, state: CombinedState) -> None:
        """Keep the state of a fitted combination."""
        forget_fit(self)
        self._of_labelled = None
        if state.training.everything is not None:
            self._of_labelled = OfLabelled(readers_of_training(state.training), state.training.labelled)
        self._keep_training(state.training if self._of_labelled is None else state.training.everything)
        self._typicality, self._familiarity = state.typicality, state.familiarity
        self._no_evidence, self._calibration = state.no_evidence, state.calibration
        self.classes_, self.members_, self._labels = state.labels.classes, state.members, state.labels
        if state.support_columns is not None:
            self.support_columns_ = state.support_columns

    def _compares(self, pairs: Any) -> None:
        """Let new raw objects be compared with some of the training objects, as these were among each other."""
        self._keep_readers({name: replace(reader, pairs=pairs) for name, reader in self._readers.items()})

    def _rows(self, X: Any) -> Any:
        return self._to_labelled(super()._rows(X))

    def _to_labelled(self, rows: ByName[Rows]) -> ByName[Rows]:
        """Return rows to all training samples as rows to the labelled ones."""
        if self._of_labelled is None or rows.everything is not None:
            return rows
        return ByName(self._of_labelled.rows(rows), everything=rows)

    def _set_rows(self, X: Any) -> Rows:
        # All columns are needed here, also those that no member uses.
        rows = X if isinstance(X, ByName) else rows_of(self._readers, X, estimator=self)
        rows = self._to_labelled(rows)
        return rows.parts[_main_similarity(rows, self.members_)]

    def _respond(self, X: Any, response: str) -> np.ndarray:
        posteriors = self._mean(self.member_posteriors(X))
        return posteriors if response == "predict_proba" else self._decided(posteriors)

    def _set_posteriors(self, X: Any) -> tuple[np.ndarray, np.ndarray]:
        posteriors, evidence = self._posteriors(X)
        return self._mean(posteriors), evidence

    def _decided(self, posteriors: np.ndarray) -> np.ndarray:
        costs = self._labels.costs
        scores = posteriors if costs is None else -expected_costs(posteriors, costs)
        return self.classes_[np.argmax(scores, axis=1)]

    def _mean(self, posteriors: np.ndarray) -> np.ndarray:
        mean = np.tensordot([member.weight for member in self.members_], posteriors, axes=1)
        return _with_priors(_weighted(mean, self._labels), self._labels)

    def member_posteriors(self, X: SamplesLike) -> np.ndarray:
        """Return the calibrated posteriors of each member, before class weights and priors.

        Parameters
        ----------
        {X_new}

        Returns
        -------
        ndarray of shape (M, m, G)
            The probabilities, in the order of ``members_`` and ``classes_``.
        """
        return self._posteriors(X)[0]

    def _posteriors(self, X: Any) -> tuple[np.ndarray, np.ndarray]:
        """Return the posteriors of each member, and which rows give evidence to at least one of them."""
        check_is_fitted(self)
        # Members give no warnings of rows without evidence, since their answers for these are not used.
        rows = self._shared(self._rows(X)).each(Rows.silent)
        found = np.stack([member.posteriors(rows, self.classes_) for member in self.members_])
        seen = np.logical_or.reduce([rows.of(member.similarity).evidence for member in self.members_])
        # Similarities that no member uses are looked at only if a row gives no evidence to the members.
        if not seen.all():
            found[:, ~(seen | rows.evidence)] = self._no_evidence.posterior
        return found, seen

    def _shared(self, rows: ByName[Rows]) -> ByName[Rows]:
        """Return the rows with native values that are computed once for all members."""
        parts, support = {}, getattr(self, "support_columns_", None)
        for name, part in rows.parts.items():
            members = [member for member in self.members_ if member.similarity in (None, name)]
            parts[name] = _shared(part, members, support) if members else part
        return replace(rows, parts=parts)

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
        posteriors, evidence = self._posteriors(as_one_row(self, X))
        if posteriors.shape[1] != 1:
            raise ValueError(f"X must hold one sample; got {posteriors.shape[1]}.")
        mean = self._mean(posteriors)
        return Votes(
            self.classes_,
            [member.name for member in self.members_],
            np.array([member.weight for member in self.members_]),
            posteriors[:, 0],
            mean[0],
            self._decided(mean)[0],
            "" if evidence[0] else str(self._no_evidence),
        )


def _shared(rows: Rows, members: list[CombinedMember], support: np.ndarray | None) -> Rows:
    """Return rows with native values that are computed once for all members, at the columns that these need."""
    reader = rows.reader
    reading = [member.estimator for member in members if reads_training(member.estimator)]
    readers = [own for estimator in reading for own in readers_of(reading_part(estimator)[0]).values()]
    if reader.is_matrix or not reading or any(own.both_directions for own in readers):
        return rows
    if support is None:
        support = np.arange(reader.n_columns)
    places = np.searchsorted(support, np.arange(reader.n_columns))
    values = GivenValues(rows.native.block(slice(0, len(rows)), support), columns=places)
    part = None if len(support) == reader.n_columns else support
    return Rows(reader, len(rows), values, objects=rows.objects, support=part)


def _without_evidence(
    samples: Samples, similarity: str | None, folds: list[Split], labels: Labels
) -> tuple[np.ndarray, NoEvidence]:
    """Return which test samples of the folds have no evidence, in one of several similarities or in any, and their
    posterior."""
    lacking = ~np.concatenate([samples.of(similarity).evidence(*fold) for fold in folds])
    tested = np.concatenate([test for _, test in folds])
    if samples.sample_weight is None:
        return lacking, NoEvidence.learn(labels.codes[tested], lacking.astype(float), labels.counts)
    weighted, counts = lacking * samples.sample_weight[tested], np.bincount(labels.codes, samples.sample_weight)
    return lacking, NoEvidence.learn(labels.codes[tested], weighted, counts)


def _main_similarity(samples: ByName, members: list[CombinedMember]) -> str:
    """Return the similarity that has the largest weight in the combination."""
    weights = {name: 0.0 for name, part in samples.parts.items() if not part.reader.is_columns}
    for member in members:
        if member.similarity in weights:
            weights[member.similarity] += member.weight
    return max(weights, key=lambda name: weights[name])


def _weighted(posteriors: np.ndarray, labels: Labels) -> np.ndarray:
    """Return the posteriors under the class weights."""
    if labels.sample_weight is None:
        return posteriors
    weighted = posteriors * np.bincount(labels.codes, labels.sample_weight) / labels.counts
    return weighted / weighted.sum(axis=1, keepdims=True)


def _with_priors(posteriors: np.ndarray, labels: Labels) -> np.ndarray:
    """Return the posteriors under the given priors."""
    if labels.priors is None:
        return posteriors
    return rescaled_by_priors(posteriors, labels.priors, labels.shares)


def _columns_needed(
    readers: list[Reader], members: list[CombinedMember], no_evidence: NoEvidence, partly: bool
) -> np.ndarray | None:
    """Return the columns that ``predict`` needs; None means all, from which it is seen if a row gives evidence."""
    supports: list[Any] = [_support(member.estimator) for member in members]
    if len(readers) > 1 or partly or no_evidence.count or any(support is None for support in supports):
        return None
    return readers[0].columns_read(np.unique(np.concatenate(supports)))


def _support(estimator: Any) -> np.ndarray | None:
    """Return the columns that an estimator needs, or None if it needs all."""
    if not reads_training(estimator):
        return None
    return getattr(reading_part(estimator)[0], "support_columns_", None)
