"""The support vector machine on similarities as a kernel, its spectrum modified or not."""

from __future__ import annotations

import copy
import math
import warnings
from itertools import combinations
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.calibration import CalibratedClassifierCV
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import _check_sample_weight, check_is_fitted

from similitude.base import Proximities, SimilarityClassifier, check_labels, check_positive, unchanged_on_failure
from similitude.kernel.calibration import calibrates, calibration_folds
from similitude.numerics.eigen import shared_eigendecompositions
from similitude.numerics.votes import one_vs_one
from similitude.proximity.check import SimilarityWarning, check_similarity, dense
from similitude.proximity.split import cut
from similitude.proximity.symmetry import mean_of_directions, warn_of_asymmetry
from similitude.spectrum.modifier import METHODS, SpectrumModifier

_MIXES_COLUMNS = ("clip", "flip", "square")
_WHAT_WAS_DONE = {
    "clip": "sets them to 0",
    "flip": "makes them positive",
    "shift": "adds {shift:.3g} to every self-similarity",
    "square": "squares all eigenvalues",
    "none": "leaves them: the machine is a stationary point of a problem that is not convex, not its optimum",
}
_TOLERANCE = 1e-3
_BLOCK = 2**22


class SimilaritySVC(SimilarityClassifier):
    """Classify by a support vector machine whose kernel is the similarity, made positive semidefinite or not.

    The similarities S of the training samples are made a kernel K, the similarities s of a new sample x are treated
    alike, and libsvm solves one machine for each pair of classes::

        maximise  sum alpha - alpha^T Q alpha / 2   over   0 <= alpha <= C,  y^T alpha = 0,   Q_ij = y_i y_j K_ij

    ===========  =============================  =============================================
    spectrum     K, with S = V diag(lambda) V'  s becomes
    ===========  =============================  =============================================
    clip         V diag(max(lambda, 0)) V'      P s, P = V diag(lambda > 0) V'
    flip         V diag(abs(lambda)) V'         P s, P = V diag(sgn lambda) V'
    shift        S + abs(min(lambda_min, 0)) I  s
    square       S S'                           S s
    none         S                              s
    ===========  =============================  =============================================

    Flip is the Krein SVM: solve with the flipped kernel, map alpha back by ``V diag(sgn lambda) V'``. With
    ``spectrum="none"`` the problem is not convex where S is indefinite: a point where the first-order conditions hold
    is all that is promised. Where S is indefinite, one warning says so and what was done.

    Since P is linear, the decision value is ``s^T (P beta) + b`` with ``beta_i = y_i alpha_i``, and of the training
    matrix only ``P beta`` is kept. Of a pair of classes the later wins from a decision value of 0 up, and the class
    that wins most pairs is predicted, ties going to the first, as in libsvm. S may be of any size: inside it is divided
    by a power of two, and C multiplied. libsvm solves in single precision to a tolerance of 1e-3, and is stopped, with
    a warning, after ``max(100000, 1000 n)`` steps: ``duality_gap_`` tells how good the answer is.

    S is made symmetric, ``(S + S^T)/2``, with a warning where it was not; square alone takes it as it is. Rows
    psi(x, .) are taken as they are. ``PathSearchCV`` takes a whole grid of C and spectrum at the price of one
    eigendecomposition and one machine for each of its points.

    Parameters
    ----------
    C : float, default=1.0
        Bound of the dual variables: the larger, the less is a sample allowed to lie on the wrong side.
    spectrum : {"clip", "flip", "shift", "square", "none"}, default="clip"
        How S is made positive semidefinite.
    class_weight : dict or "balanced", default=None
        C is multiplied by the weight of a sample's class; "balanced": n / (G times the number of samples in the class).
    probability : bool, default=False
        Whether ``fit`` calibrates probabilities as well: a sigmoid of the decision values, fitted to those of five
        cross-validation folds (fewer where a class has fewer than five samples), which takes five more fits.
        ``predict`` stays the machine's own decision.
    similarity, dissimilarity
        The input contract: see the page on input.

    Attributes
    ----------
    classes_ : ndarray of shape (G,)
    support_columns_ : ndarray
        The training columns that prediction needs, ascending. Shift and none: those of the support vectors, and rows
        with these columns alone are as good as whole ones. Clip, flip and square: all, because P mixes them.
    indefinite_ : bool
        Whether S has a negative eigenvalue (below -1e-10 of the largest).
    eigenvalues_ : ndarray of shape (n,)
        Of S, ascending; those that count as zero are 0. Of an asymmetric S, of its symmetric part.
    negative_eigenfraction_ : float
        ``sum |negative lambda| / sum |lambda|``.
    objective_ : float or ndarray of shape (G (G - 1) / 2,)
        The value of the maximum above: a number for two classes, else one for each pair (0, 1), (0, 2), ...
    duality_gap_ : float or ndarray of shape (G (G - 1) / 2,)
        Primal less dual value, relative to the mean of the two: at least 0, and 0 where the first-order conditions
        hold. Where K is positive semidefinite it bounds what the objective misses (the primal is then taken at the
        multiple of the solution that reaches the margins libsvm left short by its tolerance, if that is better).
    n_iter_ : ndarray of shape (G (G - 1) / 2,)
        Steps of libsvm.
    support_, n_support_, dual_coef_, intercept_ : ndarray
        As in ``sklearn.svm.SVC``, for the kernel K.

    References
    ----------
    Chen, Garcia, Gupta, Rahimi & Cazzanti, JMLR 10, 2009, Section 2. Loosli, Canu & Ong, "Learning SVM in Krein
    spaces", IEEE TPAMI 38, 2016. Lin & Lin, "A study on sigmoid kernels for SVM and the training of non-PSD kernels by
    SMO-type methods", 2003. Chang & Lin, "LIBSVM", ACM TIST 2, 2011.

    Examples
    --------
    >>> from similitude import SimilaritySVC
    >>> S = [[3, 2, 0, 1], [2, 3, 1, 0], [0, 1, 3, 2], [1, 0, 2, 3]]
    >>> model = SimilaritySVC(spectrum="shift").fit(S, ["a", "a", "b", "b"])
    >>> model.predict([[2, 3, 1, 0], [0, 1, 2, 3]])
    array(['a', 'b'], dtype='<U1')
    >>> model.decision_function([[2, 3, 1, 0], [0, 1, 2, 3]]).round(3)
    array([-1. ,  0.5])
    >>> model.indefinite_, model.objective_
    (False, 0.5)
    """

    _path_parameters = ("C", "spectrum")

    def __init__(
        self,
        C=1.0,
        spectrum="clip",
        *,
        class_weight=None,
        probability=False,
        similarity="precomputed",
        dissimilarity=None,
    ):
        self.C = C
        self.spectrum = spectrum
        self.class_weight = class_weight
        self.probability = probability
        self.similarity = similarity
        self.dissimilarity = dissimilarity

    def fit(self, X, y, sample_weight=None):
        """Solve the machines; ``sample_weight`` multiplies C, and a sample of weight 0 is in the spectrum alone."""
        point = check_parameters(self.C, self.spectrum)
        with unchanged_on_failure(self):
            S = self._fit_proximities(X, y).S
            self._set_labels(check_labels(y, S.shape[0]), at_least=2)
            if sample_weight is not None:
                sample_weight = _check_sample_weight(sample_weight, S, dtype=np.float64)
            weights = _weights(self, self._labels, sample_weight)
            if self.spectrum != "square":
                warn_of_asymmetry("SimilaritySVC", S)
            self._has_probability = bool(self.probability)
            machines = []
            if self._has_probability:
                [self._calibrator], machines = self._calibrated(S, self._labels, sample_weight, [point])
            kernel = _Kernel(S, self.spectrum)
            self._machine = _Machine(kernel, self._labels, weights, self.C)
            self._keep_figures(kernel, weights)
            _warn_of_indefiniteness(self, kernel)
            _warn_of_unsolved([self._machine, *machines])
        return self

    def _keep_figures(self, kernel, weights):
        machine = self._machine
        self.support_columns_ = np.arange(len(kernel.K)) if machine.columns is None else machine.columns
        self.eigenvalues_ = np.ldexp(kernel.modifier.eigenvalues_, kernel.exponent)
        self.indefinite_ = kernel.modifier.n_negative_ > 0
        self.negative_eigenfraction_ = kernel.modifier.negative_eigenfraction_
        self.support_, self.n_support_ = machine.support, machine.n_support
        self.dual_coef_, self.intercept_ = machine.dual_coef, machine.public_intercept
        self.n_iter_ = machine.n_iter
        objective, gap = machine.objective_and_gap(kernel, self._labels, weights)
        binary = len(self.classes_) == 2
        self.objective_, self.duality_gap_ = (float(v[0]) if binary else v for v in (objective, gap))

    def predict(self, X):
        """The class that wins most pairs for each row."""
        return self._said(self.decision_function(X))

    def decision_function(self, X):
        """Two classes: the decision value, of shape (m,), positive for the second class; else scores, (m, G).

        A class's score is the number of pairs it wins, and less than a third, up or down, for the sum of its decision
        values; the class that is predicted has the largest.
        """
        rows = self._new_rows(X)
        return self._machine.scores(rows)

    @available_if(calibrates)
    def predict_proba(self, X):
        """Class probabilities, (m, G): a sigmoid of each decision value, normalised over the classes."""
        scores = self.decision_function(X)
        return self._calibrator.predict_proba(_as_columns(scores))

    def _said(self, scores):
        return self.classes_[(scores >= 0).astype(np.intp) if scores.ndim == 1 else np.argmax(scores, axis=1)]

    def _new_rows(self, X):
        """Checked similarities of new samples to all training samples, or to those of ``support_columns_``."""
        check_is_fitted(self)
        if not self._is_precomputed:
            return self._new_proximities(X).S
        S = X.S if isinstance(X, Proximities) else X
        shape = S.shape if hasattr(S, "shape") else np.asarray(S, dtype=object).shape
        n, columns = self.n_features_in_, self.support_columns_
        if len(shape) != 2 or shape[1] == n:
            return self._new_proximities(X).S
        check_similarity(S, name="X", square=False, estimator=self)  # what is no number is said before the width is
        expected = f"X has {shape[1]} features, but SimilaritySVC is expecting {n} features as input"
        if self._machine.columns is None:
            raise ValueError(
                f"{expected}, one for each training sample: spectrum={self._machine.spectrum!r} maps rows by a matrix "
                "that mixes all columns, so that none can be left out."
            )
        if shape[1] != len(columns):
            raise ValueError(f"{expected}, or the {len(columns)} of support_columns_ alone.")
        # To the checks of the input contract this is a model fitted on these columns alone.
        part = copy.copy(self)
        part.n_features_in_ = len(columns)
        if hasattr(self, "feature_names_in_"):
            part.feature_names_in_ = self.feature_names_in_[columns]
        if self._column_ids is not None:
            part._column_ids = self._column_ids[columns]
        return part._new_proximities(X).S

    def _predict_path(self, S_train, y_train, S_test, grid, response="predict"):
        """One prediction (or decision function, or posterior) per grid point, from one decomposition."""
        n = len(y_train)
        if S_test.shape[1] != n:
            raise ValueError(f"S_test must have a column for each of {n} labels; got {S_test.shape[1]}.")
        points = [
            check_parameters(*(parameters.get(name, getattr(self, name)) for name in self._path_parameters))
            for parameters in grid
        ]
        self._set_labels(y_train, at_least=2)
        S, rows = self._path_similarities(S_train, S_test)
        S = S if sparse.issparse(S) else np.asarray(S)
        with shared_eigendecompositions():
            machines = self._machines(S, self._labels, None, points)
            scores = [machine.scores(rows) for machine in machines]
            if response == "predict_proba":
                calibrators, more = self._calibrated(S, self._labels, None, points)
                machines += more
        _warn_of_unsolved(machines)
        if response == "predict":
            return [self._said(score) for score in scores]
        if response == "predict_proba":
            return [c.predict_proba(_as_columns(score)) for c, score in zip(calibrators, scores)]
        return scores

    def _machines(self, S, labels, sample_weight, points):
        """The machines of several ``(C, spectrum)``, one kernel for each spectrum."""
        weights = _weights(self, labels, sample_weight)
        machines: list[Any] = [None] * len(points)
        for spectrum in dict.fromkeys(spectrum for _, spectrum in points):
            kernel = _Kernel(S, spectrum)
            for i, (C, own) in enumerate(points):
                if own == spectrum:
                    machines[i] = _Machine(kernel, labels, weights, C)
        return machines

    def _calibrated(self, S, labels, sample_weight, points):
        """For each point a calibrator of its scores, fitted to scores on left-out folds; and the folds' machines.

        It equals ``PairwiseMeta(CalibratedClassifierCV(self, ensemble=False))``, but takes sample weights, does what
        points share once, and does not fit the last machine again.
        """
        if sample_weight is not None and not np.all(sample_weight > 0):
            kept = np.flatnonzero(sample_weight)
            S, labels, sample_weight = cut(S, kept, kept), labels[kept], sample_weight[kept]
        folds = calibration_folds(self.classes_, labels)
        width = 1 if len(self.classes_) == 2 else len(self.classes_)
        scores, machines = np.empty((len(points), len(labels), width)), []
        with shared_eigendecompositions():
            for train, test in folds.split(labels, labels):
                part = None if sample_weight is None else sample_weight[train]
                for i, machine in enumerate(self._machines(cut(S, train, train), labels[train], part, points)):
                    scores[i, test] = _as_columns(machine.scores(cut(S, test, train)))
                    machines.append(machine)
        calibrators = [CalibratedClassifierCV(_Known(), cv=folds, ensemble=False) for _ in points]
        return [c.fit(v, labels, sample_weight=sample_weight) for c, v in zip(calibrators, scores)], machines


def _weights(estimator: SimilaritySVC, labels: np.ndarray, sample_weight: np.ndarray | None) -> np.ndarray:
    """What C is multiplied by for each sample."""
    classes = estimator.classes_
    by_class = compute_class_weight(estimator.class_weight, classes=classes, y=classes[labels])
    weights = by_class[labels] * (1.0 if sample_weight is None else sample_weight)
    if not np.all(weights >= 0) or not np.isfinite(weights).all():
        raise ValueError("class_weight and sample_weight must be finite numbers of at least 0.")
    missing = classes[np.bincount(labels[weights > 0], minlength=len(classes)) == 0]
    if len(missing):
        raise ValueError(
            "class_weight and sample_weight must leave every class a sample of positive weight; class "
            f"{missing.tolist()[0]!r} has none."
        )
    return weights


class _Known(ClassifierMixin, BaseEstimator):
    """Scores that are known already, in place of the estimator that gives them."""

    def fit(self, X, y, sample_weight=None):
        self.classes_ = np.unique(y)
        return self

    def decision_function(self, X):
        return X[:, 0] if X.shape[1] == 1 else X

    def predict(self, X):
        """Never asked, but scikit-learn wants classifiers to have it."""
        return self.classes_[(X[:, 0] >= 0).astype(int) if X.shape[1] == 1 else np.argmax(X, axis=1)]


def _as_columns(scores: np.ndarray) -> np.ndarray:
    return scores.reshape(len(scores), -1)


def check_parameters(C: Any, spectrum: Any) -> tuple[Any, Any]:
    """C and spectrum, where they are parameters of SimilaritySVC."""
    check_positive(C, "C")
    if spectrum not in METHODS:
        raise ValueError(f"spectrum must be one of {METHODS}; got {spectrum!r}.")
    return C, spectrum


class _Kernel:
    """The kernel K of training similarities S, both divided by a power of two: libsvm overflows at 1e38."""

    def __init__(self, S, spectrum):
        S = dense(S).astype(np.float64, copy=False)
        self.exponent = math.frexp(float(max(S.max(), -S.min())))[1]
        self.S = S * 2.0**-self.exponent if abs(self.exponent) < 1000 else np.ldexp(S, -self.exponent)
        if spectrum == "none":
            self.S = mean_of_directions(self.S)
        self.spectrum = spectrum
        self.modifier = SpectrumModifier(spectrum)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SimilarityWarning)  # what there is to say the estimator says
            self.K = self.modifier.fit_transform(self.S)
        self.K_exponent = self.exponent * (2 if spectrum == "square" else 1)

    def bound(self, C):
        """C for the divided K, within what libsvm can compute with, and the factor that makes its dual variables K's.

        It works in single precision: beyond 1e12 nothing changes, but kernels of rank 0 or 1 would take for ever.
        """
        with np.errstate(over="ignore"):
            bound = float(np.clip(np.ldexp(float(C), self.K_exponent), 1e-290, 1e12))
            return bound, float(min(C / bound, np.ldexp(1.0, -self.K_exponent)))

    def mapped(self, beta):
        """``P beta``: rows s of undivided similarities have the decision values ``s^T P beta``, up to the intercept."""
        if self.spectrum == "square":
            beta = self.S.T @ beta
        elif self.spectrum in _MIXES_COLUMNS:
            beta = self.modifier._map_rows(beta.T).T
        return np.ldexp(beta, -self.exponent)


class _Machine:
    """The machines of all pairs of classes on one kernel, for one C."""

    def __init__(self, kernel, labels, weights, C):
        # libsvm mixes up the columns of a precomputed kernel where a weight is 0.
        kept = np.flatnonzero(weights)
        K = kernel.K if len(kept) == len(labels) else kernel.K[np.ix_(kept, kept)]
        self.bound, self.unit = kernel.bound(C)
        self.max_iter = max(100_000, 1000 * len(kept))
        svc = SVC(C=self.bound, kernel="precomputed", tol=_TOLERANCE, max_iter=self.max_iter)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # n_iter_ tells
            svc.fit(K, labels[kept], sample_weight=None if np.all(weights == 1) else weights[kept])
        self.spectrum, self.n_classes, self.n_iter = kernel.spectrum, len(svc.classes_), svc.n_iter_
        self.support, self.n_support = kept[svc.support_], svc.n_support_
        self.dual_coef, self.public_intercept = svc.dual_coef_ * self.unit, svc.intercept_
        self.intercept = svc.intercept_ if self.n_classes == 2 else -svc.intercept_
        self.beta = _by_pair(svc.dual_coef_, self.support, self.n_support, len(labels))
        self.columns = None if kernel.spectrum in _MIXES_COLUMNS else np.sort(self.support)
        coef = kernel.mapped(self.beta)
        self.coef = coef if self.columns is None else coef[self.columns]

    def scores(self, rows):
        """Decision values (two classes) or scores (more) of whole rows, or of rows with the needed columns alone."""
        if self.columns is not None and rows.shape[1] != len(self.columns):
            rows = _Columns(rows, self.columns)
        step = max(1, _BLOCK // rows.shape[1])
        blocks = (rows[i : i + step] for i in range(0, rows.shape[0], step))
        values = np.concatenate([_double(block) @ self.coef for block in blocks]) + self.intercept
        return values[:, 0] if self.n_classes == 2 else one_vs_one(values, self.n_classes)

    def objective_and_gap(self, kernel, labels, weights):
        """For each pair the dual value, undivided, and the gap to the primal relative to the mean of both."""
        products = kernel.K @ self.beta
        semidefinite = kernel.spectrum != "none" or kernel.modifier.n_negative_ == 0
        objectives, gaps = np.empty((2, len(self.n_iter)))
        for p, (first, second) in enumerate(combinations(range(self.n_classes), 2)):
            pair = (labels == first) | (labels == second)
            y, h, beta = np.where(labels[pair] == second, 1.0, -1.0), products[pair, p], self.beta[pair, p]
            size, margins = float(beta @ h), y * (h + self.intercept[p])
            primal = self._primal(size, margins, weights[pair], semidefinite)
            dual = float(y @ beta) - size / 2
            objectives[p], gaps[p] = dual, 2 * max(primal - dual, 0.0) / (primal + dual)
        return objectives * self.unit, gaps

    def _primal(self, size, margins, weights, semidefinite):
        """The primal value of the solution, or of the multiple that makes up for the margins libsvm left short."""
        short = margins[(margins < 1) & (margins > 1 - 2 * _TOLERANCE)]
        multiples = [1.0, 1 / short.min()] if semidefinite and len(short) else [1.0]
        return min(
            t**2 * size / 2 + self.bound * float(weights @ np.maximum(0.0, 1.0 - t * margins)) for t in multiples
        )


class _Columns:
    """Chosen columns of rows, cut out block by block."""

    def __init__(self, rows, columns):
        self.rows, self.columns, self.shape = rows, columns, (rows.shape[0], len(columns))

    def __getitem__(self, block):
        return self.rows[block][:, self.columns]


def _double(rows: Any) -> Any:
    # One layout, so that equal rows give equal digits.
    return rows.astype(np.float64) if sparse.issparse(rows) else np.asarray(rows, dtype=np.float64, order="C")


def _by_pair(dual_coef: np.ndarray, support: np.ndarray, n_support: np.ndarray, n: int) -> np.ndarray:
    """libsvm's coefficients as a column for each pair of classes, (n, pairs), positive for the later class."""
    n_classes = len(n_support)
    beta = np.zeros((n, n_classes * (n_classes - 1) // 2))
    if n_classes == 2:
        beta[support, 0] = dual_coef[0]
        return beta
    # Row k of a class's coefficients is for its k-th opponent, itself left out.
    own = np.repeat(np.arange(n_classes), n_support)
    for p, (first, second) in enumerate(combinations(range(n_classes), 2)):
        for one, row in ((first, second - 1), (second, first)):
            beta[support[own == one], p] = -dual_coef[row, own == one]
    return beta


def _warn_of_indefiniteness(estimator: SimilaritySVC, kernel: _Kernel) -> None:
    if not estimator.indefinite_:
        return
    done = _WHAT_WAS_DONE[kernel.spectrum].format(shift=-float(estimator.eigenvalues_[0]))
    count = kernel.modifier.n_negative_
    warnings.warn(
        f"S has {count} negative eigenvalue{'s' * (count > 1)} ({_percent(estimator.negative_eigenfraction_)} of the "
        f"spectrum's size); spectrum={kernel.spectrum!r} {done}.",
        SimilarityWarning,
        stacklevel=3,
    )


def _percent(fraction: float) -> str:
    return f"{fraction:.0%}" if fraction >= 0.005 else "less than 1%"


def _warn_of_unsolved(machines: list[_Machine]) -> None:
    unsolved = [machine for machine in machines if np.any(machine.n_iter >= machine.max_iter)]
    if not unsolved:
        return
    convex = "" if all(m.spectrum != "none" for m in unsolved) else ", or spectrum='clip', which makes it convex"
    warnings.warn(
        f"SimilaritySVC: libsvm was stopped after {unsolved[0].max_iter} steps, short of its tolerance, in "
        f"{len(unsolved)} of {len(machines)} fits (duality_gap_ tells how far); take a smaller C{convex}.",
        ConvergenceWarning,
        stacklevel=3,
    )
