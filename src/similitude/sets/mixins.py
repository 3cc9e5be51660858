"""The methods of classifiers that recognise novel samples or predict sets of classes without further fits."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from sklearn.utils.validation import check_is_fitted

from similitude._utils.types import SamplesLike
from similitude.base import Predicting
from similitude.numerics.votes import log_of
from similitude.sets.applicability import Applicability
from similitude.sets.calibration import (
    Calibration,
    SetCoverage,
    check_class_sizes,
    check_set_parameters,
    in_set,
    warn_of_coverage,
)
from similitude.sets.familiarity import Familiarity, RelativeFamiliarity
from similitude.sets.operating_points import (
    PRECISIONS,
    UNASSIGNED,
    OperatingPoint,
    OperatingPoints,
    find_operating_point,
    labels_at,
)
from similitude.sets.typicality import Typicality


class Novelty:
    """Methods of a fitted classifier that knows the similarities of its training samples.

    The class that uses them sets ``_typicality`` and ``_familiarity`` (None if its input holds no similarities between
    samples), or returns another fitted classifier that has them as ``_set_model``.
    """

    _typicality: Typicality | None
    _familiarity: Familiarity | RelativeFamiliarity | None
    _reader: Any

    @property
    def _set_model(self) -> Any:
        return self

    def _set_rows(self, X: Any) -> Any:
        """Return the rows that are compared with the training samples."""
        return self._reader.rows(X, estimator=self)

    def typicality(self, X: SamplesLike) -> np.ndarray:
        """Return the p-value of the hypothesis that x belongs to class g, for each class, from similarities alone.

        The largest similarity of x to class g is compared with those of the samples of this class to each other. If it
        is small for every class, the sample is unlike anything known, whatever the classifier predicts.

        Parameters
        ----------
        X : samples
            Rows of similarities to all training samples, or raw objects.

        Returns
        -------
        ndarray of shape (m, G)
            The p-values, in the order of ``classes_``; NaN for a sample whose row gives no evidence.
        """
        return self._compared("_typicality", X)

    def familiarity(self, X: SamplesLike) -> np.ndarray:
        """Return the p-value of the hypothesis that x belongs to one of the known classes, from similarities alone.

        It is usually more powerful than the largest :meth:`typicality`: the similarities to the nearest samples are
        compared with those of these samples to their own classes, and so are the correlations between rows of
        similarities. If more than half of the similarities are 0 and none is negative, such as those of hits, and there
        are more than 256 samples, the similarities to the nearest samples are divided by those of these samples to
        their own classes instead, and rows are not compared.

        Parameters
        ----------
        X : samples
            Rows of similarities to all training samples, or raw objects.

        Returns
        -------
        ndarray of shape (m,)
            The p-values, which are small for novel samples; NaN for a sample whose row gives no evidence.
        """
        return self._compared("_familiarity", X)

    def _compared(self, name: str, X: Any) -> Any:
        check_is_fitted(self)
        model = self._set_model
        known = getattr(model, name)
        if known is None:
            raise ValueError(
                f"{name[1:]} needs one similarity between samples; here {type(model.estimator).__name__} was fitted on "
                "feature vectors, similarities to prototypes, or several similarities. Use a classifier of similitude "
                "with similarity=..., or one on a precomputed matrix."
            )
        return known.of_rows(model._set_rows(X))


def typicality_of(model: Any) -> Any:
    """Return the :class:`Typicality` of a fitted classifier; None if it has none."""
    return getattr(model, "_typicality", None)


class ApproximateSets(Novelty, Predicting):
    """Methods of a classifier that knows the posteriors of left-out samples: sets, their coverage, and typicality.

    The class that uses them also sets ``_calibration``, unless it returns another fitted classifier as ``_set_model``.
    """

    _calibration: Calibration

    def _set_posteriors(self, X: Any) -> tuple[np.ndarray, np.ndarray]:
        """Return the posteriors of new samples, and which of their rows give evidence."""
        raise NotImplementedError

    def _decided(self, posteriors: np.ndarray) -> np.ndarray:
        """Return the labels that are predicted with these posteriors."""
        raise NotImplementedError

    def _warn_of_coverage(self) -> None:
        """Warn if the estimated coverage of sets at the default confidence misses it, if there are enough samples."""
        for class_conditional in (True, False):
            with contextlib.suppress(ValueError):
                confidence = self._check_sets(0.9, "lac", class_conditional)
                held = self._set_model._calibration.held(confidence, "lac", class_conditional)
                warn_of_coverage(confidence, float(held.mean()), len(held))
                return

    def _check_sets(self, confidence: float, method: str, class_conditional: bool) -> float:
        """Return the confidence, or raise a ValueError if there are too few samples for such sets."""
        check_is_fitted(self)
        confidence = check_set_parameters(confidence, method, class_conditional)
        known = self._set_model._calibration
        check_class_sizes(known.classes, known.counts, confidence, class_conditional, "left-out samples")
        return confidence

    def predict_set(
        self,
        X: SamplesLike,
        confidence: float = 0.9,
        *,
        method: Literal["lac", "aps"] = "lac",
        class_conditional: bool = True,
    ) -> np.ndarray:
        """Return the set of classes of each sample, approximately with the given confidence.

        The posteriors of the fitted classifier are compared with those that left-out samples had by cross-validation,
        without any further fit. There is no guarantee, because these posteriors are those of other fits; if ``verbose``
        is above 0, the coverage that was measured on left-out samples is printed (see :meth:`coverage`).
        :class:`~similitude.PredictionSets` has a guarantee.

        Scores of different fits that differ by at most 0.01 count as equal. Samples whose rows give no evidence are
        compared with left-out samples without evidence, of all classes together. A warning says if the measured
        coverage misses the confidence; a class that no fold tested is in every set.

        Parameters
        ----------
        X : samples
            Rows of similarities to the training samples, or raw objects.
        confidence : float, default=0.9
            The share of samples whose set is to hold their class, between 0 and 1.
        method : {"lac", "aps"}, default="lac"
            The nonconformity score, as in :class:`~similitude.PredictionSets`.
        class_conditional : bool, default=True
            Whether each class is calibrated on its own samples.

        Returns
        -------
        ndarray of bool of shape (m, G)
            Which classes are in the set, in the order of ``classes_``. A row without any means "none of these".
        """
        confidence = self._check_sets(confidence, method, class_conditional)
        if getattr(self, "verbose", 0) > 0:
            measured = self.coverage(confidence, method=method, class_conditional=class_conditional)
            print(f"approximate sets; {measured.summary()}", file=sys.stderr)
        model = self._set_model
        held = model._calibration.held(confidence, method, class_conditional)
        warn_of_coverage(confidence, float(held.mean()), len(held))
        posteriors, evidence = model._set_posteriors(X if model is self else self._rows(X))
        found = model._calibration.p_values(log_of(posteriors), method, class_conditional, evidence)
        return in_set(found, confidence)

    def coverage(
        self, confidence: float = 0.9, *, method: Literal["lac", "aps"] = "lac", class_conditional: bool = True
    ) -> SetCoverage:
        """Return how often sets of left-out samples hold the true class, by class, and how large they are.

        The set of each sample is calibrated on the answers for the samples of other folds.

        Parameters
        ----------
        confidence : float, default=0.9
            The confidence of the sets.
        method : {"lac", "aps"}, default="lac"
            The nonconformity score.
        class_conditional : bool, default=True
            Whether each class is calibrated on its own samples.

        Returns
        -------
        SetCoverage
            The coverage; ``print`` shows it as a table.
        """
        confidence = self._check_sets(confidence, method, class_conditional)
        return self._set_model._calibration.coverage(confidence, method, class_conditional)

    def applicability(self, X: SamplesLike) -> np.ndarray:
        """Return the probability that the predicted label is right, by its posterior and its typicality.

        It is learned from the predictions for left-out samples: a logistic regression of whether they were right on
        the log-odds of the posterior and on the :meth:`typicality` for the predicted class. Where the posterior has
        few values, as that of votes of neighbours, typicality tells those predictions apart; where it already says how
        far a sample is from the training samples, the order of the predictions hardly changes.

        Parameters
        ----------
        X : samples
            Rows of similarities to all training samples, or raw objects.

        Returns
        -------
        ndarray of shape (m,)
            The probabilities; for a sample whose row gives no evidence, the posterior of its label.
        """
        check_is_fitted(self)
        model = self._set_model
        known = model._calibration
        posteriors, evidence = model._set_posteriors(X if model is self else self._rows(X))
        codes = np.searchsorted(model.classes_, model._decided(posteriors))
        own = np.arange(len(codes)), codes
        typicality = None if model._typicality is None else self.typicality(X)[own]
        labels = _predicted(model)
        found = Applicability.learn(known, labels, model._typicality)(posteriors[own], typicality)
        known_rows = evidence if typicality is None else evidence & ~np.isnan(typicality)
        return np.where(known_rows, found, posteriors[own])

    def operating_point(
        self, precision: float = 0.95, *, per_class: bool = False, delta: float = 0.05
    ) -> OperatingPoint:
        """Return the confidence from which on predictions have a wanted precision.

        A prediction whose confidence, the probability of the predicted class, is below the cut-off is not assigned. The
        cut-off is the smallest one at which the predictions for left-out samples prove the precision: exact binomial
        tests, which account for the choice of the cut-off, err with a probability of at most ``delta``. This holds for
        predictions like those for the left-out samples. Those of the members fitted on all samples are made by other
        fits, on more samples, so that the promise is approximate for them. Samples without evidence are not assigned.

        Parameters
        ----------
        precision : float, default=0.95
            The wanted share of right predictions among those that are assigned, between 0 and 1.
        per_class : bool, default=False
            Whether each class has a cut-off of its own, so that the precision holds for each of them, and, with a
            probability of at least ``1 - delta``, for all of them at once. Classes that are predicted too rarely share
            one cut-off, and the precision is that of these classes together.
        delta : float, default=0.05
            The largest probability that the precision is missed.

        Returns
        -------
        OperatingPoint
            The cut-offs, and how many left-out samples are assigned; ``print`` shows it as a table.
        """
        check_is_fitted(self)
        model = self._set_model
        known = model._calibration
        codes = _predicted(model)
        confidence = known.posterior_of(codes)
        return find_operating_point(
            known.classes, codes, confidence, known.codes, known.evidence, precision, per_class, delta
        )

    def operating_points(
        self, precisions: Sequence[float] = PRECISIONS, *, per_class: bool = False, delta: float = 0.05
    ) -> OperatingPoints:
        """Return the operating points of several precisions, each as :meth:`operating_point` returns it.

        Parameters
        ----------
        precisions : sequence of float, default=(0.8, 0.9, 0.95, 0.99)
            The wanted precisions.
        per_class : bool, default=False
            Whether each class has a cut-off of its own.
        delta : float, default=0.05
            The largest probability that a precision is missed, for each precision separately.

        Returns
        -------
        OperatingPoints
            The points; ``print`` shows how many left-out samples each assigns.
        """
        return OperatingPoints([self.operating_point(own, per_class=per_class, delta=delta) for own in precisions])

    def predict_at(
        self, X: SamplesLike, point: OperatingPoint | float = 0.95, *, unassigned: Any = UNASSIGNED
    ) -> np.ndarray:
        """Return the labels of the samples that are assigned at an operating point.

        Parameters
        ----------
        X : samples
            Rows of similarities to the training samples, or raw objects.
        point : OperatingPoint or float, default=0.95
            The operating point, or the precision of one for all classes together.
        unassigned : object, default="unassigned"
            The label of samples that are not assigned: their confidence is too low, or their rows give no evidence.

        Returns
        -------
        ndarray of shape (m,)
            The labels; of dtype object if ``unassigned`` is of another type than the classes.
        """
        point = point if isinstance(point, OperatingPoint) else self.operating_point(point)
        model = self._set_model
        posteriors, evidence = model._set_posteriors(X)
        labels = model._decided(posteriors)
        codes = np.searchsorted(model.classes_, labels)
        assigned = point.assigns(labels, posteriors[np.arange(len(codes)), codes]) & evidence
        return labels_at(labels, assigned, model.classes_, unassigned)


def _predicted(model: Any) -> np.ndarray:
    """Return the positions of the classes that are predicted for the left-out samples."""
    known = model._calibration
    if known.own is None:
        return np.searchsorted(known.classes, model._decided(np.exp(known.log_posteriors)))
    # If not all classes have columns, there are no costs.
    return known.columns.classes(np.argmax(known.log_posteriors[:, :-1], axis=1))
