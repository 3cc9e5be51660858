"""A linear-time classifier on similarities to landmarks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, Self

import numpy as np

from similitude._utils.checks import check_choice, check_positive
from similitude._utils.docs import shared_docs
from similitude._utils.ids import labels_in_order
from similitude._utils.scikit_learn import available_if, num_samples
from similitude._utils.types import ClassWeight, ListLike, MatrixLike, RandomState, SamplesLike
from similitude.base import SimilarityClassifier, contract_of
from similitude.features.landmark_models import (
    NO_PROBABILITIES,
    LandmarkPath,
    Linear,
    Moments,
    RidgeState,
    add,
    features_in_place,
    linear_models,
    solve,
    summed_moments,
    with_targets,
)
from similitude.labels import Labels, check_labels, class_weights
from similitude.numerics.eigen import ZERO_TOLERANCE
from similitude.numerics.nystroem import NystroemSpectrum, decompose, modified_features
from similitude.reader import Training
from similitude.similarities.registry import SimilarityLike
from similitude.transform.landmarks import LandmarkEstimator, Landmarks, ToLandmarks, row_blocks

SPECTRA = ("clip", "flip", "square")
MODELS = ("ridge", "logistic", "svm")

SumMoments = Callable[[Landmarks, Labels, Any], Moments]
"""Returns the moments of all training samples, from the landmarks, the labels and the weights of the samples."""


def _can_go_on(estimator: LandmarkClassifier) -> bool:
    if contract_of(estimator).is_precomputed or estimator.model != "ridge":
        raise AttributeError(
            "partial_fit needs raw objects or similarity='columns', and model='ridge'; otherwise all similarities so "
            "far would have to be kept."
        )
    return True


def _checked_classes(classes: ListLike) -> np.ndarray:
    classes = np.asarray(classes)
    if classes.ndim != 1 or len(classes) == 0:
        raise ValueError(f"classes must be a list of labels; got {classes.tolist()!r}.")
    return check_labels(classes, len(classes))


def _distinct(parts: list[np.ndarray]) -> np.ndarray:
    """Return the distinct labels of several arrays, which must all be numbers or all be text."""
    try:
        if len({part.dtype.kind in "US" for part in parts if part.dtype.kind != "O"}) > 1:
            raise TypeError
        return np.unique(np.concatenate(parts))
    except TypeError:
        raise ValueError(
            "y: the labels of all calls, and classes, must be of one kind; got numbers and text."
        ) from None


@shared_docs
class LandmarkClassifier(LandmarkEstimator, SimilarityClassifier):
    """Classify by a linear model on the Nystroem features of m landmarks, in time linear in the number of samples.

    The features f_i are those of :class:`~similitude.IndefiniteNystroem`, computed from the similarities to the
    landmarks, with a modified spectrum. The model is one of

    ==========  =================================================================================================
    model       minimise over B, b
    ==========  =================================================================================================
    "ridge"     ``sum_i w_i ||y_i - B^T f_i - b||^2 + alpha ||B||_F^2``, where y_i is one-hot
    "logistic"  ``||B||_F^2 / 2 + C sum_i w_i (-log p(y_i | f_i))``, where p is the softmax of ``B^T f + b``, or for two
                classes its logistic function, and B has one column
    "svm"       ``||B||_F^2 / 2 + C sum_i w_i max(0, 1 - y_i (B^T f_i + b))^2``, one machine for each class against the
                others (``LinearSVC``); b is penalised as the weight of a constant feature as large as the largest one
    ==========  =================================================================================================

    Ridge is solved exactly from moments of the similarities: it needs memory for a block of rows with about 2 million
    similarities and for matrices of size m + G, and takes time O(n m^2). The others hold the n x m features once, in
    double precision. Prediction takes m similarities and G m multiplications for a sample. Of raw objects only the
    landmarks are kept.

    ``PathSearchCV`` evaluates a whole grid of alpha at the cost of one fit, and computes the features once for a whole
    grid of C.

    Parameters
    ----------
    n_landmarks : int, default=500
        The number of landmarks; if it is at least n, all samples are landmarks.
    spectrum : {"clip", "flip", "square"}, default="clip"
        How the spectrum is modified.
    model : {"ridge", "logistic", "svm"}, default="ridge"
        The linear model.
    alpha : float, default=1.0
        Regularisation of "ridge".
    C : float, default=1.0
        Inverse regularisation of "logistic" and "svm". In units of the features' squared size it is limited to the
        range from 1e-10 to 1e10. With ``t S``, ``t alpha`` and ``C / t`` the classifier is the same (that of "svm"
        nearly, as its offset is also regularised), so choose alpha relative to the scale of S, which is
        ``np.median(S.max(axis=1) - S.mean(axis=1))``, and C relative to its inverse.
    selection : {"random", "stratified", "kmedoids", "leverage"}, default="random"
        How landmarks are chosen: see :class:`~similitude.IndefiniteNystroem`.
    {class_weight}
        These are the w_i; the landmarks and the spectrum do not depend on them.
    landmark_similarity : array-like of shape (p, p), default=None
        The similarities among the p objects of X's columns, needed if and only if ``similarity="columns"``.
    tol : float, default=1e-10
        Eigenvalues of at most ``tol`` times the largest count as zero.
    random_state : int, RandomState or None, default=None
        Seed for the choice of landmarks.
    {similarity}
        The constants of the map are learned from the landmarks alone.

    Attributes
    ----------
    {classes_}
    landmarks_, support_columns_, objects_, eigenvalues_
        As in :class:`~similitude.IndefiniteNystroem`.
    coef_ : ndarray of shape (G, m), or (1, m) for two classes
        The coefficients of the similarities c to the landmarks: decision values are ``c coef_^T + intercept_``.
    intercept_ : ndarray of shape (G,), or (1,)
        The intercepts.

    See Also
    --------
    IndefiniteNystroem : Computes the features for any other model.
    SimilaritySVC : Uses the whole matrix.
    similitude.distributed.fit_landmarks : Fits the model on a Dask cluster.

    References
    ----------
    Williams & Seeger, NIPS 2000. Gisbrecht & Schleif, Neurocomputing 167, 2015. Demmel, Grigori, Hoemmen & Langou,
    "Communication-optimal parallel and sequential QR and LU factorizations", SIAM J. Sci. Comput. 34, 2012 (the
    moments as triangles).

    Examples
    --------
    >>> from similitude import LandmarkClassifier
    >>> words, kinds = ["tree", "trees", "free", "house", "mouse", "horse"], [0, 0, 0, 1, 1, 1]
    >>> model = LandmarkClassifier(4, alpha=0.1, random_state=0, similarity="levenshtein").fit(words, kinds)
    >>> model.predict(["three", "hose"])
    array([0, 1])
    >>> model.partial_fit(["hase", "trek"], [1, 0]).predict(["base"])
    array([1])
    """

    _count_name = "n_landmarks"
    _path_parameters = ("alpha", "C")
    _least_classes = 2

    def __init__(
        self,
        n_landmarks: int = 500,
        spectrum: Literal["clip", "flip", "square"] = "clip",
        model: Literal["ridge", "logistic", "svm"] = "ridge",
        alpha: float = 1.0,
        C: float = 1.0,
        *,
        selection: Literal["random", "stratified", "kmedoids", "leverage"] = "random",
        class_weight: ClassWeight = None,
        landmark_similarity: MatrixLike | None = None,
        tol: float = ZERO_TOLERANCE,
        random_state: RandomState = None,
        similarity: SimilarityLike = "precomputed",
        dissimilarity: str | None = None,
    ):
        self.n_landmarks = n_landmarks
        self.spectrum = spectrum
        self.model = model
        self.alpha = alpha
        self.C = C
        self.selection = selection
        self.class_weight = class_weight
        self.landmark_similarity = landmark_similarity
        self.tol = tol
        self.random_state = random_state
        self.similarity = similarity
        self.dissimilarity = dissimilarity

    @property
    def _responses(self) -> tuple[str, ...]:  # type: ignore[override]
        # After fit, the model that was fitted counts, not a parameter that was set later.
        path = vars(self).get("_path")
        model = self.model if path is None else path.model
        return ("predict", "decision_function", *(("predict_proba",) if model == "logistic" else ()))

    def _why_not(self, response: str) -> str:
        return NO_PROBABILITIES if response == "predict_proba" else super()._why_not(response)

    def _point(self, parameters: dict[str, Any]) -> float:
        for name, value in parameters.items():
            check_positive(value, name)
        self._check_landmark_parameters()
        if self.spectrum not in SPECTRA:
            raise ValueError(
                f"spectrum must be one of {SPECTRA}; got {self.spectrum!r}. (The features of 'none' would be the same "
                "vectors as those of 'flip'.)"
            )
        check_choice(self.model, "model", MODELS)
        return float(parameters["alpha" if self.model == "ridge" else "C"])

    def _fit_path(
        self, training: Training, labels: Labels, points: list[float], sum_moments: SumMoments | None = None
    ) -> LandmarkPath:
        landmarks = self._landmarks_of(training, labels.codes)
        weights = self._weights(labels)
        if self.model == "ridge":
            if sum_moments is not None or weights is not None:
                moments = (sum_moments or _summed_here)(landmarks, labels, weights)
            else:
                own = ("moments", labels.n_classes, labels.codes.tobytes())
                moments = landmarks.shared(own, lambda: _summed_here(landmarks, labels, None))
            state = None if training.reader.is_precomputed else RidgeState(moments, landmarks.W)
            found = landmarks.spectrum(self.tol, moments.rows)
            return self._ridge_path(points, landmarks.to, found, moments, state)
        C = np.empty((len(training), len(landmarks.W)))
        for rows, block in landmarks.blocks():
            C[rows] = block
        held = (C[rows] for rows in row_blocks(*C.shape))
        projection, eigenvalues, _ = modified_features(landmarks.spectrum(self.tol, held=held), self.spectrum)
        solved = linear_models(self.model, features_in_place(C, projection), labels.codes, weights, points)
        solutions = [Linear(solution.coef @ projection.T, solution.intercept) for solution in solved]
        return LandmarkPath(points, landmarks.to, solutions, eigenvalues, self.model)

    def _weights(self, labels: Labels) -> np.ndarray | None:
        return None if self.class_weight is None else class_weights(self.class_weight, labels)

    def _ridge_path(
        self, points: list[float], to: ToLandmarks, found: NystroemSpectrum, moments: Moments, state: RidgeState | None
    ) -> LandmarkPath:
        """Return the path from the spectrum of the approximation and the moments of all samples."""
        projection, eigenvalues, _ = modified_features(found, self.spectrum)
        solutions = [_signed(solution) for solution in solve(moments, projection, points)]
        return LandmarkPath(points, to, solutions, eigenvalues, "ridge", state)

    def _adopt(self, training: Training, labels: Labels, path: Any) -> None:
        super()._adopt(training, labels, path)
        self._keep_landmarks(training.reader, path.to)

    @available_if(_can_go_on)
    def partial_fit(self, X: SamplesLike, y: ListLike, classes: ListLike | None = None) -> Self:
        """Continue the fit with more samples.

        The result is the same as that of ``fit`` on all samples so far, with the landmarks of the first call.
        Similarities and maps that learn from data also learn in the first call.

        Parameters
        ----------
        X : raw objects, or rows with ``similarity="columns"``
            The new samples.
        y : array-like of shape (n_new,)
            The labels. New classes may appear, but all labels must be text, or all numbers.
        classes : array-like, default=None
            Classes that are expected in later calls.

        Returns
        -------
        self
        """
        if self.class_weight == "balanced":
            raise ValueError("class_weight='balanced' needs all labels at once; give partial_fit a dict of weights.")
        points = self._points([{}])
        y = check_labels(labels_in_order(y, X), num_samples(X))
        path = vars(self).get("_path")
        if path is None:
            training = self._read(X, y)
            labels = _encoded(y, classes)
            self._adopt(training, labels, self._fit_path(training, labels, points))
            return self
        if path.state is None or self._contract().is_matrix != self._reader.is_matrix:
            raise ValueError(
                "partial_fit cannot continue a fit of another kind of input, or of another model than 'ridge'; "
                "sklearn.base.clone(model) begins anew."
            )
        labels = _encoded(y, classes, self.classes_)
        blocks = (C for _, C in path.to.blocks(self._rows(X)))
        new = summed_moments(blocks, labels.codes, labels.n_classes, self._weights(labels))
        known = path.state.moments
        if labels.n_classes > len(self.classes_):
            known = with_targets(known, np.searchsorted(labels.classes, self.classes_), labels.n_classes)
        state = RidgeState(add(known, new), path.state.W)
        found = decompose(state.moments.rows, state.W, self.tol)
        path = self._ridge_path(points, path.to, found, state.moments, state)
        self.classes_, self._path = labels.classes, path
        self.__dict__.update(path.attributes())
        return self

    def _fit_by_moments(self, X: Any, y: Any, sum_moments: SumMoments) -> Self:
        points = self._points([{}])
        y = labels_in_order(y, X)
        training = self._read(X, y)
        labels = self._labels_of(check_labels(y, len(training)))
        self._adopt(training, labels, self._fit_path(training, labels, points, sum_moments))
        return self

    def _derived(self) -> dict[str, Any]:
        check_choice(self._path.model, "model", MODELS)
        return super()._derived() | {"landmarks_": self._path.to.positions}


def fit_by_moments(
    model: LandmarkClassifier, X: SamplesLike, y: ListLike, sum_moments: SumMoments
) -> LandmarkClassifier:
    """Fit a ridge model in place, with moments that a given function sums up, and return it."""
    return model._fit_by_moments(X, y, sum_moments)


def _summed_here(landmarks: Landmarks, labels: Labels, weights: Any) -> Moments:
    return summed_moments((C for _, C in landmarks.blocks()), labels.codes, labels.n_classes, weights)


def _signed(solution: Linear) -> Linear:
    """Return a regression on labels 0 and 1 as one on labels -1 and 1; for two classes only that of the later one."""
    coef, intercept = solution
    shown = slice(1, 2) if len(intercept) == 2 else slice(None)
    return Linear(2 * coef[shown], 2 * intercept[shown] - 1)


def _encoded(y: np.ndarray, classes: Any, known: np.ndarray | None = None) -> Labels:
    """Return the labels with all classes: those known before, those in ``classes`` and those of the samples."""
    parts = [part for part in (known, y) if part is not None]
    found = _distinct(parts if classes is None else [*parts, _checked_classes(classes)])
    if len(found) < 2:
        raise ValueError("y and classes must hold at least two classes together; got one class.")
    return Labels(found, np.searchsorted(found, y))
