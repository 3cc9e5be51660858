"""The support vector machine on similarities as a kernel, its spectrum modified or not."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from similitude.base import check_labels, check_positive, check_sample_weight, class_weights, unchanged_on_failure
from similitude.kernel._libsvm import Kernel, Machine
from similitude.numerics.shared import shared_work
from similitude.one_vs_one import OneVsOneClassifier
from similitude.proximity.check import SimilarityWarning
from similitude.proximity.symmetry import warn_of_asymmetry
from similitude.transform.spectrum import METHODS

_WHAT_WAS_DONE = {
    "clip": "sets them to 0",
    "flip": "makes them positive",
    "shift": "adds {shift:.3g} to every self-similarity",
    "square": "squares all eigenvalues",
    "none": "leaves them: the machine is a stationary point of a problem that is not convex, not its optimum",
}


class SimilaritySVC(OneVsOneClassifier):
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

    def _point(self, parameters):
        C, spectrum = (parameters.get(name, getattr(self, name)) for name in self._path_parameters)
        check_positive(C, "C")
        if spectrum not in METHODS:
            raise ValueError(f"spectrum must be one of {METHODS}; got {spectrum!r}.")
        return C, spectrum

    def _for_training(self, S, *, announced):
        if announced and self.spectrum != "square":
            warn_of_asymmetry("SimilaritySVC", S, stacklevel=4)
        return S if sparse.issparse(S) else np.asarray(S)

    def fit(self, X, y, sample_weight=None):
        """Solve the machines; ``sample_weight`` multiplies C, and a sample of weight 0 is in the spectrum alone."""
        point = self._point({})
        with unchanged_on_failure(self):
            given = self._fit_proximities(X, y)
            self._set_labels(check_labels(y, len(given)), at_least=2)
            sample_weight = check_sample_weight(sample_weight, self._labels, self.classes_)
            weights = self._weights(self._labels, sample_weight)
            train = given._with(self._for_training(given.S, announced=True), None)
            self._has_probability = bool(self.probability)
            machines: list[Machine] = []
            if self._has_probability:
                [self._calibrator] = self._calibrators(train, [point], machines, sample_weight)
            kernel = Kernel(train.S, self.spectrum)
            self._machine = Machine(kernel, self._labels, weights, self.C)
            self._keep_solution(kernel, weights)
            _warn_of_indefiniteness(self, kernel)
            self._warn_of_unsolved([self._machine, *machines])
        return self

    def _keep_solution(self, kernel, weights):
        machine = self._machine
        self.support_columns_ = self._columns_read(
            np.arange(len(kernel.K)) if machine.columns is None else machine.columns
        )
        self.eigenvalues_ = np.ldexp(kernel.modifier.eigenvalues_, kernel.exponent)
        self.indefinite_ = kernel.modifier.n_negative_ > 0
        self.negative_eigenfraction_ = kernel.modifier.negative_eigenfraction_
        self.support_, self.n_support_ = machine.support, machine.n_support
        self.dual_coef_, self.intercept_ = machine.dual_coef, machine.public_intercept
        self.n_iter_ = machine.n_iter
        objective, gap = machine.objective_and_gap(kernel, self._labels, weights)
        binary = len(self.classes_) == 2
        self.objective_, self.duality_gap_ = (float(v[0]) if binary else v for v in (objective, gap))

    def _new_rows(self, X):
        """Checked similarities of new samples to all training samples, or to those of ``support_columns_``."""
        try:
            return self._new_proximities(X, columns=self.support_columns_)
        except ValueError as error:
            if self._machine.columns is not None or "is expecting" not in str(error):
                raise
            raise ValueError(
                f"{error} spectrum={self._machine.spectrum!r} maps rows by a matrix that mixes all columns, so that "
                "none can be left out."
            ) from None

    def _weights(self, labels, sample_weight):
        """What C is multiplied by for each sample."""
        weights = class_weights(self, labels)
        return weights if sample_weight is None else weights * sample_weight

    def _solved(self, train, labels, points, sample_weight=None):
        """The machines of several ``(C, spectrum)``, one kernel for each spectrum, all from one decomposition."""
        weights = self._weights(labels, sample_weight)
        machines: list[Any] = [None] * len(points)
        with shared_work():
            for spectrum in dict.fromkeys(spectrum for _, spectrum in points):
                kernel = Kernel(train.S, spectrum)
                for i, (C, own) in enumerate(points):
                    if own == spectrum:
                        machines[i] = Machine(kernel, labels, weights, C)
        return machines

    def _warn_of_unsolved(self, machines):
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


def _warn_of_indefiniteness(estimator: SimilaritySVC, kernel: Kernel) -> None:
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
