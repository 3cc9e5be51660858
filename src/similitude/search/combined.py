"""A classifier whose posterior is the weighted mean of the posteriors of several methods."""

from __future__ import annotations

from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin, clone
from sklearn.utils import get_tags
from sklearn.utils.validation import _num_samples, check_is_fitted

from similitude.base import SimilarityEstimator, as_one_row, forget_fit
from similitude.kernel.similarity_svc import SimilaritySVC
from similitude.labels import Labels, check_labels, class_weights, costs_matrix, priors_vector
from similitude.neighbors.knn import KNNClassifier
from similitude.numerics.temperature import Temperature, fit_temperature
from similitude.numerics.votes import expected_costs, rescaled_by_priors
from similitude.proximity.proximities import Proximities
from similitude.reader import GivenValues, Rows, Samples, Training
from similitude.search.answers import answer_columns, answered
from similitude.search.evaluation import evaluate, reading_part, reads_training
from similitude.search.folds import stratified_folds


@dataclass(frozen=True)
class CombinedMember:
    """One fitted member of a combination.

    Parameters
    ----------
    name : str
        The name.
    estimator : estimator
        The fitted estimator.
    weight : float
        The weight; those of all members add up to 1.
    temperature : Temperature
        The calibration that turns its answers into posteriors.
    """

    _saved_state = {"name": "text", "estimator": "object", "weight": "float 0..", "temperature": "Temperature"}

    name: str
    estimator: Any
    weight: float
    temperature: Temperature

    def posteriors(self, rows: Rows, classes: np.ndarray) -> np.ndarray:
        """Return the calibrated posteriors.

        Parameters
        ----------
        rows : Rows
            The new samples.
        classes : ndarray of shape (G,)
            All classes.

        Returns
        -------
        ndarray of shape (m, G)
            The posteriors.
        """
        X = rows if reads_training(self.estimator) else _as_given(rows, self.estimator)

        def ask(response: str) -> np.ndarray:
            return np.asarray(getattr(self.estimator, response)(X))

        response = self.temperature.response
        columns = answer_columns(response, ask(response), lambda: ask("predict"), self.estimator.classes_, classes)
        return self.temperature.posteriors(columns)


def _as_given(rows: Rows, estimator: Any) -> Any:
    """Return the rows as raw objects or a matrix of native values, for an estimator that reads its input itself."""
    if not rows.reader.is_matrix and not get_tags(estimator).input_tags.pairwise:
        return rows.objects
    values = rows.native.block(slice(0, len(rows)), np.arange(rows.reader.n_columns))
    if rows.features is None and rows.self_similarity is None:
        return values
    return Proximities(values, rows.features, self_similarity=rows.self_similarity)


@dataclass(frozen=True, repr=False)
class Votes:
    """What each member of a combination predicts for one sample; ``print`` shows it as a table.

    Parameters
    ----------
    classes : ndarray of shape (G,)
        The labels of the classes.
    members : list of str
        The names of the members.
    weights : ndarray of shape (M,)
        Their weights.
    posteriors : ndarray of shape (M, G)
        Their posteriors.
    posterior : ndarray of shape (G,)
        The posterior of the combination.
    prediction : label
        The predicted class.
    """

    classes: np.ndarray
    members: list[str]
    weights: np.ndarray
    posteriors: np.ndarray
    posterior: np.ndarray
    prediction: Any

    def __repr__(self) -> str:
        names = [str(label) for label in self.classes.tolist()]
        rows = [["member", "weight", "predicts", *(f"P({name})" for name in names)]]
        for member, weight, posterior in zip(self.members, self.weights, self.posteriors):
            own = [f"{value:.3f}" for value in posterior]
            rows.append([member, f"{weight:.2f}", names[int(np.argmax(posterior))], *own])
        rows.append(["combination", "", str(self.prediction), *(f"{value:.3f}" for value in self.posterior)])
        widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
        return "\n".join("  ".join(text.ljust(width) for text, width in zip(row, widths)).rstrip() for row in rows)


class CombinedClassifier(ClassifierMixin, SimilarityEstimator):
    """Classify by the weighted mean of the calibrated posteriors of several classifiers.

    With P_t(g | x) the calibrated posterior of member t::

        P(g | x) = sum over t of w_t P_t(g | x)

    The answers of each member (posteriors, else decision values, else labels) are calibrated by a temperature, and for
    two classes an offset, fitted to its answers on left-out samples (:mod:`similitude.numerics.temperature`). The class
    of least expected cost is predicted. :class:`~similitude.AutoClassifier` returns a fitted classifier of this kind.

    Parameters
    ----------
    members : list of (name, estimator)
        Classifiers on the same input. If X holds dissimilarities, each may have its own map.
    weights : sequence of float, default=None
        Their weights; None means equal weights.
    costs : array of shape (G, G) or dict of dicts, default=None
        ``costs[f, g]`` is the cost of predicting f when the truth is g.
    priors : array of shape (G,) or dict, default=None
        Class probabilities in the application; the posterior is rescaled by prior / training share.
    class_weight : dict or "balanced", default=None
        Weights of the classes: the posterior is multiplied by them and normalised, as if the classes had these weights
        in the training set.
    n_folds : int, default=5
        The number of folds on which the members are calibrated.
    random_state : int, default=0
        The random state for the folds.
    similarity, dissimilarity
        The input contract: see the page on input.

    Attributes
    ----------
    classes_ : ndarray of shape (G,)
        The classes.
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

    _saved_state = {
        "classes_": "label[G]",
        "members_": "list of CombinedMember",
        "_labels": "Labels",
        "support_columns_?": "int[*] 0..n",
    }

    _takes_training = False

    def __init__(
        self,
        members=None,
        weights=None,
        *,
        costs=None,
        priors=None,
        class_weight=None,
        n_folds=5,
        random_state=0,
        similarity="precomputed",
        dissimilarity=None,
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

    def fit(self, X, y):
        """Fit the members, and calibrate them on folds.

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
        members, weights = self._checked_members()
        samples = Samples(self._new_reader(), X, check_labels(y, _num_samples(X)))
        labels = encoded_labels(samples.y, self.costs, self.priors, self.class_weight)
        table: dict[str, Any] = {name: (estimator, [{}]) for name, estimator in members}
        folds = stratified_folds(samples.y, int(self.n_folds), None, self.random_state)
        rows = np.concatenate([test for _, test in folds])
        found = list(evaluate(samples, table, folds, answered))
        whole = samples.whole()
        fitted = []
        for (name, estimator), weight in zip(members, weights):
            response = found[0][name].results[0][0]
            columns = np.concatenate([fold[name].results[0][1] for fold in found]).astype(float)
            temperature = fit_temperature(columns, response, labels.codes[rows])
            fitted.append(CombinedMember(name, fitted_on(whole, samples, estimator), float(weight), temperature))
        self._become(whole, labels, fitted)
        return self

    def _checked_members(self) -> tuple[list[tuple[str, Any]], np.ndarray]:
        members = self.members
        if members is None:
            members = [("k-NN", KNNClassifier()), ("SVM", SimilaritySVC())]
        named = isinstance(members, (list, tuple)) and all(
            isinstance(part, (list, tuple)) and len(part) == 2 and isinstance(part[0], str) for part in members
        )
        if not named or not members or len({name for name, _ in members}) < len(members):
            raise ValueError(f"members must be a list of (name, estimator) with different names; got {members!r}.")
        for name, estimator in members:
            if not (hasattr(estimator, "fit") and hasattr(estimator, "predict")):
                raise ValueError(f"members must be classifiers; {name!r} is {estimator!r}.")
        try:
            weights = np.ones(len(members)) if self.weights is None else np.asarray(self.weights, dtype=float)
        except (TypeError, ValueError):
            weights = np.empty(0)
        if weights.shape != (len(members),) or not np.all(weights >= 0) or not 0 < weights.sum() < np.inf:
            raise ValueError(
                f"weights must be {len(members)} nonnegative numbers, one for each member, and not all zero; "
                f"got {self.weights!r}."
            )
        if not isinstance(self.n_folds, Integral) or self.n_folds < 2:
            raise ValueError(f"n_folds must be an integer of at least 2; got {self.n_folds!r}.")
        return list(members), weights / weights.sum()

    def _become(self, whole: Training, labels: Labels, members: list[CombinedMember]) -> None:
        """Become the classifier with these fitted members; nothing can fail at this stage."""
        forget_fit(self)
        self._keep_training(whole)
        self.classes_, self.members_, self._labels = labels.classes, members, labels
        supports = [columns for member in members if (columns := _support(member.estimator)) is not None]
        if len(supports) == len(members):
            self.support_columns_ = self._reader.columns_read(np.unique(np.concatenate(supports)))

    def predict(self, X):
        """Predict the class of least expected cost.

        Parameters
        ----------
        X : samples
            Rows of similarities to the training samples, or raw objects.

        Returns
        -------
        ndarray of shape (m,)
            The predicted labels.
        """
        return self._decided(self.predict_proba(X))

    def _decided(self, posteriors: np.ndarray) -> np.ndarray:
        costs = self._labels.costs
        scores = posteriors if costs is None else -expected_costs(posteriors, costs)
        return self.classes_[np.argmax(scores, axis=1)]

    def predict_proba(self, X):
        """Return the posterior probability of each class.

        Parameters
        ----------
        X : samples
            Rows of similarities to the training samples, or raw objects.

        Returns
        -------
        ndarray of shape (m, G)
            The probabilities, in the order of ``classes_``.
        """
        return self._mean(self.member_posteriors(X))

    def _mean(self, posteriors: np.ndarray) -> np.ndarray:
        mean = np.tensordot([member.weight for member in self.members_], posteriors, axes=1)
        labels = self._labels
        if labels.sample_weight is not None:
            mean = mean * np.bincount(labels.codes, labels.sample_weight) / labels.counts
            mean /= mean.sum(axis=1, keepdims=True)
        return mean if labels.priors is None else rescaled_by_priors(mean, labels.priors, labels.counts / len(labels))

    def member_posteriors(self, X):
        """Return the calibrated posteriors of each member, before class weights and priors.

        Parameters
        ----------
        X : samples
            Rows of similarities to the training samples, or raw objects.

        Returns
        -------
        ndarray of shape (M, m, G)
            The probabilities, in the order of ``members_`` and ``classes_``.
        """
        check_is_fitted(self)
        rows = self._shared(self._rows(X))
        return np.stack([member.posteriors(rows, self.classes_) for member in self.members_])

    def _shared(self, rows: Rows) -> Rows:
        """Return the rows with native values that are computed once for all members."""
        reading = [member.estimator for member in self.members_ if reads_training(member.estimator)]
        asymmetric = any(reading_part(estimator)[0]._reader.asymmetric for estimator in reading)
        if self._reader.is_matrix or asymmetric or not reading:
            return rows
        support = getattr(self, "support_columns_", np.arange(self._reader.n_columns))
        places = np.searchsorted(support, np.arange(self._reader.n_columns))
        values = GivenValues(rows.native.block(slice(0, len(rows)), support), columns=places)
        part = None if len(support) == self._reader.n_columns else support
        return Rows(self._reader, len(rows), values, objects=rows.objects, support=part)

    def explain(self, X):
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
        posteriors = self.member_posteriors(as_one_row(self, X))
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
        )

    def _check_saved(self, sizes: Any) -> bool:
        supports: list[Any] = [_support(member.estimator) for member in self.members_]
        known = all(np.isin(getattr(member.estimator, "classes_", ""), self.classes_).all() for member in self.members_)
        if not self.members_ or not known:
            return False
        if any(support is None for support in supports):
            return "support_columns_" not in vars(self)
        columns = self._reader.columns_read(np.unique(np.concatenate(supports)))
        return "support_columns_" in vars(self) and np.array_equal(columns, self.support_columns_)


def encoded_labels(y: np.ndarray, costs: Any, priors: Any, class_weight: Any) -> Labels:
    """Return checked labels in encoded form, with the costs, priors and class weights.

    Parameters
    ----------
    y : ndarray of shape (n,)
        The labels.
    costs, priors, class_weight
        The parameters of the classifier.

    Returns
    -------
    Labels
        The labels.
    """
    classes, codes = np.unique(y, return_inverse=True)
    if len(classes) < 2:
        raise ValueError(f"y must have at least two classes; got one class, {classes.tolist()[0]!r}.")
    labels = Labels(classes, codes, None, costs_matrix(costs, classes), priors_vector(priors, classes))
    return labels if class_weight is None else replace(labels, sample_weight=class_weights(class_weight, labels))


def fitted_on(whole: Training, samples: Samples, estimator: Any) -> Any:
    """Return a copy of the estimator fitted on all samples.

    Parameters
    ----------
    whole : Training
        All samples as training samples, which several estimators share.
    samples : Samples
        The same samples, for an estimator that reads its input itself.
    estimator : estimator
        The estimator.

    Returns
    -------
    estimator
        The fitted copy.
    """
    if reads_training(estimator):
        return clone(estimator).fit(whole, samples.y)
    computed = not samples.reader.is_matrix and get_tags(estimator).input_tags.pairwise
    return clone(estimator).fit(samples.values if computed else samples.X, samples.y)


def _support(estimator: Any) -> np.ndarray | None:
    """Return the columns that an estimator needs, or None if it needs all."""
    if not reads_training(estimator):
        return None
    return getattr(reading_part(estimator)[0], "support_columns_", None)
