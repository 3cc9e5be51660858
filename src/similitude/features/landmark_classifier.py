"""A linear-time classifier on similarities to landmarks."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import _num_samples, check_is_fitted

from similitude.base import SimilarityClassifier, check_labels, check_positive, class_weights, unchanged_on_failure
from similitude.features._landmark_models import features_in_place, linear_models, probabilities
from similitude.features.landmark_moments import Linear, add, block_moments, solve, with_targets
from similitude.numerics.eigen import ZERO_TOLERANCE
from similitude.proximity.proximities import Proximities
from similitude.transform._landmarks import LandmarkEstimator, row_blocks
from similitude.transform._nystroem import decompose, modified

SPECTRA = ("clip", "flip", "square")
MODELS = ("ridge", "logistic", "svm")


def _has_probabilities(estimator):
    if getattr(estimator, "_fitted_model", estimator.model) != "logistic":
        raise AttributeError("predict_proba needs model='logistic'.")
    return True


def _can_go_on(estimator):
    if estimator._is_precomputed or estimator.model != "ridge":
        raise AttributeError(
            "partial_fit needs raw objects or similarity='columns', and model='ridge': of the others, all "
            "similarities so far would have to be kept."
        )
    return True


def _checked_classes(classes):
    classes = np.asarray(classes)
    if classes.ndim != 1 or len(classes) == 0:
        raise ValueError(f"classes must be a list of labels; got {classes.tolist()!r}.")
    return check_labels(classes, len(classes))


def _distinct(parts):
    """The different labels of several arrays, which must not be numbers here and text there."""
    try:
        if len({part.dtype.kind in "US" for part in parts if part.dtype.kind != "O"}) > 1:
            raise TypeError
        return np.unique(np.concatenate(parts))
    except TypeError:
        raise ValueError(
            "y: the labels of all calls, and classes, must be of one kind; got numbers and text."
        ) from None


class LandmarkClassifier(SimilarityClassifier, LandmarkEstimator):
    """Classify by a linear model on the Nystroem features of m landmarks: linear in the number of samples.

    The features f_i of :class:`~similitude.IndefiniteNystroem`, from the similarities to the landmarks and with the
    spectrum modified, go into

    ==========  =================================================================================================
    model       minimise over B, b
    ==========  =================================================================================================
    "ridge"     ``sum_i w_i ||y_i - B^T f_i - b||^2 + alpha ||B||_F^2``, y_i one-hot
    "logistic"  ``||B||_F^2 / 2 + C sum_i w_i (-log p(y_i | f_i))``, p the softmax of ``B^T f + b``, or for two classes
                the logistic function of it, B having one column
    "svm"       ``||B||_F^2 / 2 + C sum_i w_i max(0, 1 - y_i (B^T f_i + b))^2``, one machine for each class against the
                others (``LinearSVC``); b is penalised as the weight of a constant feature as large as the largest
    ==========  =================================================================================================

    Ridge is exact, from moments of the similarities: memory holds a block of rows of about 2 million similarities and
    matrices of the size m + G, and the time is O(n m^2). The others hold the n x m features once, in double precision.
    Prediction takes m similarities and G m multiplications for a sample. Of raw objects the landmarks alone are kept.

    ``PathSearchCV`` takes a whole grid of alpha at the price of one fit, and one of C with the features computed once.

    Parameters
    ----------
    n_landmarks : int, default=500
        At least n means all.
    spectrum : {"clip", "flip", "square"}, default="clip"
    model : {"ridge", "logistic", "svm"}, default="ridge"
    alpha : float, default=1.0
        For "ridge".
    C : float, default=1.0
        For "logistic" and "svm". In units of the features' squared size it is kept within 1e-10 and 1e10.
    selection : {"random", "stratified", "kmedoids", "leverage"}, default="random"
        How landmarks are chosen: see :class:`~similitude.IndefiniteNystroem`.
    class_weight : dict or "balanced", default=None
        The w_i of each class; "balanced": n / (G times the number of samples in the class). The landmarks and the
        spectrum do not change by it.
    landmark_similarity : array-like of shape (p, p), default=None
        With ``similarity="columns"``, and only there: the similarities among the p objects of X's columns.
    tol : float, default=1e-10
        Eigenvalues of at most ``tol`` times the largest count as zero.
    random_state : int, RandomState or None, default=None
    similarity, dissimilarity
        The input contract; the map's constants are learned from the landmarks alone.

    Attributes
    ----------
    classes_ : ndarray of shape (G,)
    landmarks_, support_columns_, objects_, eigenvalues_
        As in :class:`~similitude.IndefiniteNystroem`.
    coef_ : ndarray of shape (G, m), or (1, m) for two classes
        Of the similarities to the landmarks: decision values are ``c coef_^T + intercept_``.
    intercept_ : ndarray of shape (G,), or (1,)

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
    _moments: Any
    _path_parameters = ("alpha", "C")

    def __init__(
        self,
        n_landmarks=500,
        spectrum="clip",
        model="ridge",
        alpha=1.0,
        C=1.0,
        *,
        selection="random",
        class_weight=None,
        landmark_similarity=None,
        tol=ZERO_TOLERANCE,
        random_state=None,
        similarity="precomputed",
        dissimilarity=None,
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

    def _point(self, parameters):
        point = {name: parameters.get(name, getattr(self, name)) for name in self._path_parameters}
        for name, value in point.items():
            check_positive(value, name)
        return float(point["alpha" if self.model == "ridge" else "C"])

    def _check_parameters(self):
        self._check_landmark_parameters()
        if self.spectrum not in SPECTRA:
            raise ValueError(
                f"spectrum must be one of {SPECTRA}; got {self.spectrum!r}. (As ordinary vectors, the features of "
                "'none' are those of 'flip'.)"
            )
        if self.model not in MODELS:
            raise ValueError(f"model must be one of {MODELS}; got {self.model!r}.")

    def fit(self, X, y):
        """Choose the landmarks and solve."""
        with unchanged_on_failure(self):
            [solution] = self._fitted(X, y, [self._point({})])
            self.coef_, self.intercept_ = solution
        return self

    def _fitted(self, X, y, points):
        """The solutions for several alphas or values of C."""
        self._check_parameters()
        landmarks = self._chosen_landmarks(X, y)
        labels = self._encoded(y, landmarks.source.n)
        self._fitted_model, self._moments = self.model, None
        weights = None if self.class_weight is None else class_weights(self, labels)
        if self.model == "ridge":
            moments = self._moments_of((C for _, C in landmarks.blocks()), labels, weights)
            return self._ridge(landmarks, moments, points)
        C = np.empty((landmarks.source.n, len(landmarks.W)))
        for rows, block in landmarks.blocks():
            C[rows] = block
        held = (C[rows] for rows in row_blocks(*C.shape))
        projection = self._projection(landmarks.spectrum(self.tol, held=held))
        solved = linear_models(self.model, features_in_place(C, projection), labels, weights, points)
        return [Linear(solution.coef @ projection.T, solution.intercept) for solution in solved]

    def _encoded(self, y, n):
        """Set ``classes_``; the positions of the labels there are not kept: a model must not grow with n."""
        self._set_labels(check_labels(y, n), at_least=2)
        return self.__dict__.pop("_labels")

    def _ridge(self, landmarks, moments, points):
        """The solutions for several alphas from the moments of all samples, which ``partial_fit`` may go on from."""
        projection = self._projection(landmarks.spectrum(self.tol, moments.rows))
        if not self._is_precomputed:
            self._moments, self._landmark_matrix = moments, landmarks.W
        return self._signed(solve(moments, projection, points))

    def _projection(self, spectrum):
        projection, self.eigenvalues_, _ = modified(spectrum, self.spectrum)
        return projection

    def _moments_of(self, blocks, labels, weights):
        """The moments of rows of similarities, and of the one-hot labels."""
        moments, done, G = None, 0, len(self.classes_)
        for block in blocks:
            for rows in row_blocks(len(block), max(block.shape[1], G + 1)):  # few landmarks may meet many classes
                C = block[rows]
                own = slice(done, done + len(C))
                part = block_moments(C, np.eye(G)[labels[own]], None if weights is None else weights[own])
                moments, done = part if moments is None else add(moments, part), own.stop
        return moments

    def _signed(self, solutions):
        """Regression on labels 0 and 1 as decision values: on labels -1 and 1, for two classes that of the later."""
        shown = slice(1, 2) if len(self.classes_) == 2 else slice(None)
        return [Linear(2 * coef[shown], 2 * intercept[shown] - 1) for coef, intercept in solutions]

    @available_if(_can_go_on)
    def partial_fit(self, X, y, classes=None):
        """Go on with more samples: as ``fit`` on all so far, with the landmarks of the first call.

        What the similarity and its map learn they learn in the first call, too.

        Parameters
        ----------
        X : raw objects, or rows with ``similarity="columns"``
        y : array-like
            New classes may appear, of the same kind: text, or numbers.
        classes : array-like, default=None
            Classes that are known to come.

        Returns
        -------
        self
        """
        if self.class_weight == "balanced":
            raise ValueError("class_weight='balanced' needs all labels at once; give partial_fit a dict of weights.")
        self._check_parameters()
        with unchanged_on_failure(self):
            n = _num_samples(X)
            labels = check_labels(y, n)
            goes_on = getattr(self, "_moments", None) is not None and self._is_matrix != hasattr(self, "objects_")
            if not goes_on and hasattr(self, "coef_"):
                raise ValueError(
                    "partial_fit cannot go on from a fit of another kind of input, or with another model than 'ridge'; "
                    "sklearn.base.clone(model) begins anew."
                )
            if goes_on:
                blocks = self._new_blocks(X, both=True)
            else:
                landmarks = self._chosen_landmarks(X, labels)
                self._landmark_matrix, self._fitted_model = landmarks.W, self.model
                blocks = (C for _, C in landmarks.blocks())
            self._widen(labels, classes, goes_on)
            encoded = np.searchsorted(self.classes_, labels)
            weights = None if self.class_weight is None else class_weights(self, encoded)
            moments = self._moments_of(blocks, encoded, weights)
            self._moments = add(self._moments, moments) if goes_on else moments
            spectrum = decompose(self._moments.rows, self._landmark_matrix, self.tol)
            [solution] = self._signed(solve(self._moments, self._projection(spectrum), [self._point({})]))
            self.coef_, self.intercept_ = solution
        return self

    def _widen(self, labels, classes, goes_on):
        """Take in classes that were not there yet."""
        given = [labels] if classes is None else [labels, _checked_classes(classes)]
        known = _distinct([self.classes_, *given] if goes_on else given)
        if len(known) < 2:
            raise ValueError("y must have at least two classes, or classes name them; got one class.")
        if goes_on and len(known) > len(self.classes_):
            self._moments = with_targets(self._moments, np.searchsorted(known, self.classes_), len(known))
        self.classes_ = known

    def decision_function(self, X):
        """Decision values, (n,) for two classes, positive for ``classes_[1]``, else (n, G)."""
        check_is_fitted(self)
        return self._decisions(X, [Linear(self.coef_, self.intercept_)])[0]

    def _decisions(self, X, solutions):
        """For each solution its decision values, from one pass over the rows."""
        coef = np.concatenate([solution.coef for solution in solutions]).T
        values = np.concatenate([C @ coef for C in self._new_blocks(X)])
        parts = np.split(values, len(solutions), axis=1)
        decisions = [part + solution.intercept for part, solution in zip(parts, solutions)]
        return [d[:, 0] if d.shape[1] == 1 else d for d in decisions]

    def predict(self, X):
        """The class with the largest decision value."""
        return self._said(self.decision_function(X))

    @available_if(_has_probabilities)
    def predict_proba(self, X):
        """The probability of each class, with ``model="logistic"``."""
        return probabilities(self.decision_function(X))

    def _predict_path(self, S_train, y_train, S_test, grid, response="predict"):
        """One answer per grid point, from one decomposition (ridge) or the features computed once."""
        points = [self._point(parameters) for parameters in grid]
        lazy = not isinstance(S_train, Proximities) and not hasattr(S_train, "tocsr")
        X: Any = np.asarray(S_train) if lazy else S_train
        decisions = self._decisions(S_test, self._fitted(X, y_train, points))
        answers = {"predict": self._said, "decision_function": lambda d: d, "predict_proba": probabilities}
        return [answers[response](values) for values in decisions]
