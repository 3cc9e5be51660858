"""The support vector machine whose kernel is the similarity, usually with a modified spectrum."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.exceptions import ConvergenceWarning

from similitude._utils.checks import check_bool, check_choice, check_positive
from similitude._utils.docs import shared_docs
from similitude._utils.ids import names_of
from similitude._utils.types import ClassWeight, LabelsLike, SamplesLike
from similitude._utils.warn import warn
from similitude.kernel._machines import SpectrumKernel, SpectrumMachines, TransductiveMachines
from similitude.labels import Labels, loss_weights
from similitude.numerics.eigen import SPECTRA
from similitude.numerics.machines import LARGEST_GAP
from similitude.numerics.shared import shared_work
from similitude.one_vs_one import OneVsOneClassifier
from similitude.proximity.check import SimilarityWarning, check_similarity
from similitude.proximity.proximities import at_columns
from similitude.reader import ByName, Rows, Training, matrix_of, training_columns
from similitude.similarities.registry import SimilarityLike

_TREATMENTS = {
    "clip": "sets them to 0",
    "flip": "makes them positive",
    "shift": "adds {shift:.3g} to every self-similarity",
    "square": "squares all eigenvalues",
    "none": "keeps them, so the problem is not convex and the solution is a stationary point, not an optimum",
}


class SVCPoint(NamedTuple):
    """One point of a grid."""

    C: float
    spectrum: str


@shared_docs
class SimilaritySVC(OneVsOneClassifier):
    """Classify by a support vector machine whose kernel is the similarity with a modified spectrum.

    The similarities S of the training samples become a kernel K, the similarities s of a new sample x are treated in
    the same way, and one problem is solved for each pair of classes::

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

    Flip is the Krein SVM, which solves the problem with the flipped kernel and maps alpha back by
    ``V diag(sgn lambda) V'``. With ``spectrum="none"`` the problem is not convex if S is indefinite, and the solution
    is a point where the first-order conditions hold. If S is indefinite, one warning says so and names the treatment.

    Since P is linear, the decision value is ``s^T (P beta) + b`` with ``beta_i = y_i alpha_i``, so only ``P beta``
    is kept of the training matrix. The later class of a pair wins if the decision value is at least 0, and the class
    that wins most pairs is predicted; if there are several, the first of them, as in libsvm. The similarities may be of
    any size, because they are divided by a power of two and C is multiplied by it.

    The solver takes the SMO steps of libsvm (with its second-order choice of pairs) to find the variables that are at
    a bound, and Newton steps to solve for the others, in double precision. It stops when the optimality conditions hold
    to 1e-11 in units of the decision value, or to the rounding error; libsvm stops at 1e-3. C increases by powers of
    ten from a value at which all variables are at a bound, and each solution is the start of the next. A warning says
    where the duality gap remained above 1e-8, which happens if C is so large that rounding errors hide the labels, and
    ``duality_gap_`` shows it.

    With ``transductive=True`` the spectrum of the training samples and all new samples together is modified, and the
    machines are solved for each call of ``predict``, on the part of the kernel that belongs to the training samples.
    All samples are then treated alike without a rule for s, but the prediction for a sample depends on the others with
    which it is predicted. The similarities among the new samples are needed: rows of a matrix have n + m columns, those
    to the n training samples followed by those among the m rows; raw objects are compared. ``PathSearchCV`` takes them
    from the matrix, but ``GridSearchCV`` cannot. The attributes describe the machines on the training samples alone.

    An asymmetric S is replaced by ``(S + S^T)/2``, with a warning; only "square" uses it as it is. The rows of new raw
    objects are treated in the same way; rows of a matrix are used as they are. ``PathSearchCV`` fits a whole grid of C
    and spectrum with one eigendecomposition for each fold.

    Parameters
    ----------
    C : float, default=1.0
        Bound of the dual variables: the larger it is, the fewer samples lie on the wrong side of the margin.
        {scale_of_C}
        For "square" it is ``C / t^2``.
    spectrum : {"clip", "flip", "shift", "square", "none"}, default="clip"
        How S is made positive semidefinite.
    {class_weight}
    transductive : bool, default=False
        Whether the spectrum of the training samples and the new samples together is modified, as described above.
    {probability}
    {similarity}

    Attributes
    ----------
    {classes_}
    {support_columns_}
        With shift and none they are the support vectors, and rows may consist of these columns only; with clip, flip
        and square all columns are needed, because P mixes them.
    indefinite_ : bool
        Whether S has a negative eigenvalue (below -1e-10 of the largest).
    eigenvalues_ : ndarray of shape (n,) or None
        The eigenvalues of S, or of the symmetric part of an asymmetric S, ascending; those that count as zero are 0.
        None with ``spectrum="none"`` and more than 1,500 samples, whose machines need no eigendecomposition.
    negative_eigenfraction_ : float or None
        ``sum |negative lambda| / sum |lambda|``; None if ``eigenvalues_`` is.
    objective_ : float or ndarray of shape (G (G - 1) / 2,)
        The value of the maximum above; an array with one value for each pair (0, 1), (0, 2), ... of more than two
        classes.
    duality_gap_ : float or ndarray of shape (G (G - 1) / 2,)
        The primal minus the dual value, relative to the mean of the two: at least 0, and 0 if the first-order
        conditions hold. If K is positive semidefinite, it bounds the error of the objective.
    n_iter_ : ndarray of shape (G (G - 1) / 2,)
        The number of SMO and Newton steps, including those for the smaller values of C on the way.
    support_, n_support_, dual_coef_, intercept_ : ndarray
        As in ``sklearn.svm.SVC``, for the kernel K.

    See Also
    --------
    LearnedSpectrumSVC : Learns how to modify the spectrum.
    RobustSVC : Learns a kernel near the similarities.
    LocalSVC : Solves a machine on the neighbours of each new sample.
    SpectrumModifier : Modifies the spectrum for any other classifier in a pipeline.

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
        C: float = 1.0,
        spectrum: Literal["clip", "flip", "shift", "square", "none"] = "clip",
        *,
        class_weight: ClassWeight = None,
        transductive: bool = False,
        probability: bool = False,
        similarity: SimilarityLike = "precomputed",
        dissimilarity: str | None = None,
    ):
        self.C = C
        self.spectrum = spectrum
        self.class_weight = class_weight
        self.transductive = transductive
        self.probability = probability
        self.similarity = similarity
        self.dissimilarity = dissimilarity

    def _point(self, parameters: dict[str, Any]) -> SVCPoint:
        check_positive(parameters["C"], "C")
        check_choice(parameters["spectrum"], "spectrum", SPECTRA)
        check_bool(self.transductive, "transductive")
        return SVCPoint(parameters["C"], parameters["spectrum"])

    def fit(self, X: SamplesLike, y: LabelsLike, sample_weight: ArrayLike | None = None) -> Self:
        """Solve one machine for each pair of classes.

        Parameters
        ----------
        {X_train}
        {y_train}
        sample_weight : array-like of shape (n,), default=None
            The factor of C for each sample; a sample of weight 0 contributes to the spectrum only.

        Returns
        -------
        self
        """
        return self._fit(X, y, sample_weight)

    @property
    def _unlabelled(self) -> str | None:
        # Calibration would need folds of the labelled samples alone, and transductive machines add the new samples.
        return None if self.probability or self.transductive else "spectrum"

    def _prepared(self, training: Training, points: list[SVCPoint]) -> Training:
        if self.transductive and training.reader.map_name == "double-centring":
            raise ValueError(
                "transductive=True: the map 'double-centring' compares samples with training samples only; choose "
                "another map."
            )
        if self.transductive or any(point.spectrum != "square" for point in points):
            training = training.in_both_directions("SimilaritySVC")
        return training  # "square" uses S as it is, the others symmetrise it

    def _solved(self, training: Training, labels: Labels, points: list[SVCPoint]) -> list[Any]:
        weights = loss_weights(self.class_weight, labels)
        if training.labelled is not None:  # the others contribute to the spectrum only
            labels, weights = _over_all(labels, weights, training.labelled, len(training))
        machines: dict[SVCPoint, Any] = {}
        with shared_work():  # one eigendecomposition for all spectra
            for spectrum in dict.fromkeys(point.spectrum for point in points):
                kernel = SpectrumKernel(training.S, spectrum)
                own = [point for point in points if point.spectrum == spectrum]
                solved = kernel.machines(labels, weights, [point.C for point in own])
                machines.update({point: SpectrumMachines(kernel, one) for point, one in zip(own, solved)})
                if self.transductive:
                    both = {point: (training.S, labels, weights, point.C, machines[point]) for point in own}
                    machines.update({point: TransductiveMachines(*values) for point, values in both.items()})
                if training.announced and kernel.indefinite:
                    _warn_of_indefiniteness(kernel)
        return [machines[point] for point in points]

    def _rows(self, X: Any) -> Rows:
        try:
            if self._is_transductive and not isinstance(X, ByName) and self._reader.is_matrix:
                return self._rows_and_among(X)
            return super()._rows(X)
        except ValueError as error:
            if "is expecting" not in str(error) or not self._path.machines[0].mixes_columns:
                raise
            spectrum = self._path.points[0].spectrum
            raise ValueError(
                f"{error} spectrum={spectrum!r} maps rows by a matrix that mixes all columns, so none can be left out."
            ) from None

    @property
    def _is_transductive(self) -> bool:
        path = vars(self).get("_path")
        return path is not None and isinstance(path.machines[0], TransductiveMachines)

    def _rows_and_among(self, X: Any) -> Rows:
        """Return rows from a matrix whose last columns are the similarities among the new samples."""
        X = X if hasattr(X, "shape") else np.asarray(X)
        m, n = X.shape[0] if X.shape else 0, self._reader.n_columns
        if len(X.shape) != 2 or X.shape[1] != n + m:
            raise ValueError(
                f"X must have {n + m} columns, because transductive=True: the similarities to {n} training samples, "
                f"then those among the {m} new samples; its shape is {X.shape}."
            )
        reader = replace(self._reader, extras=())  # a matrix with the columns of new samples need not have ids
        rows = reader.rows(at_columns(X, np.arange(n)), estimator=self)
        # The last columns are the new samples, in the order of the rows.
        among, _ = training_columns(at_columns(X, np.arange(n, n + m)), names_of(X))
        among = check_similarity(matrix_of(among), name="X", square=True, orientation="dissimilarity")
        rows.among = self._reader.similarities(among)
        return rows

    def _warn_of_unsolved(self, machines: list[Any]) -> None:
        unsolved = [machine for machine in machines if not all(solution.converged for solution in machine.solutions)]
        if not unsolved:
            return
        convex = "" if all(m.spectrum != "none" for m in unsolved) else ", or spectrum='clip', which makes it convex"
        warn(
            f"SimilaritySVC: the duality gap remained above {LARGEST_GAP:g} in {len(unsolved)} of {len(machines)} fits "
            f"(see duality_gap_); use a smaller C{convex}.",
            ConvergenceWarning,
        )


def _over_all(labels: Labels, weights: np.ndarray, labelled: np.ndarray, n: int) -> tuple[Labels, np.ndarray]:
    """Return the labels and weights of all samples; those without a label have the weight 0."""
    codes, of_all = np.zeros(n, dtype=np.intp), np.zeros(n)
    codes[labelled], of_all[labelled] = labels.codes, weights
    return replace(labels, codes=codes, sample_weight=None), of_all


def _warn_of_indefiniteness(kernel: SpectrumKernel) -> None:
    treatment, found = _TREATMENTS[kernel.spectrum], "negative eigenvalues"
    if kernel.values is not None:
        attributes, n_negative = kernel.attributes(), int(np.sum(kernel.values < 0))
        treatment = treatment.format(shift=-float(attributes["eigenvalues_"][0]))
        share = _percent(attributes["negative_eigenfraction_"])
        found = f"{n_negative} negative eigenvalue{'s' * (n_negative > 1)} ({share} of the sum of absolute eigenvalues)"
    warn(f"S has {found}; spectrum={kernel.spectrum!r} {treatment}.", SimilarityWarning)


def _percent(fraction: float) -> str:
    return f"{fraction:.0%}" if fraction >= 0.005 else "less than 1%"
