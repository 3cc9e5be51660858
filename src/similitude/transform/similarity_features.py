"""Similarities to prototypes as features, for any scikit-learn model, and the choice of prototypes."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from numbers import Integral, Real
from typing import Any, Literal

import numpy as np
from sklearn.base import OneToOneFeatureMixin
from sklearn.utils import Tags, check_random_state
from sklearn.utils.validation import check_is_fitted

from similitude._native import take_prototype, weigh_candidates
from similitude._utils.checks import check_choice, check_positive
from similitude._utils.docs import shared_docs
from similitude._utils.threads import over_row_blocks, thread_count
from similitude._utils.types import ColumnPositions, Matrix, RandomState
from similitude.base import SimilarityTransformer
from similitude.labels import check_labels
from similitude.numerics.medoids import choose_by_class
from similitude.numerics.votes import TIE_TOLERANCE
from similitude.proximity.check import dense
from similitude.proximity.maps import LearnedMap, apply_range, value_range
from similitude.reader import Contract, Reader, Rows, Training
from similitude.similarities.registry import SimilarityLike

SELECTIONS = ("random", "stratified", "kmedoids", "kcentres", "forward")
NEEDS_ALL_PAIRS = ("kmedoids", "kcentres", "forward")
"""The selections that need the whole training matrix."""

_COLUMNS_A_THREAD = 512
"""The smallest number of columns for which starting a thread is worthwhile."""


def how_many(n_prototypes: Any, n: int) -> int:
    """Return the number of prototypes among n samples, from a count, a share of n, or None for all of them."""
    if n_prototypes is None:
        return n
    if isinstance(n_prototypes, Integral) and not isinstance(n_prototypes, bool) and int(n_prototypes) >= 1:
        return min(int(n_prototypes), n)
    if isinstance(n_prototypes, Real) and not isinstance(n_prototypes, Integral) and 0 < float(n_prototypes) <= 1:
        return max(1, round(float(n_prototypes) * n))
    raise ValueError(
        f"n_prototypes must be None, a count of at least 1, or a share in (0, 1] (1.0, not 1, for all samples); "
        f"got {n_prototypes!r}."
    )


def forward_selection(S: np.ndarray, labels: np.ndarray, p: int) -> tuple[np.ndarray, np.ndarray]:
    """Choose prototypes one by one, each with the smallest leave-one-out error of the nearest-prototype rule.

    With prototypes M, sample i is given the class of its nearest prototype other than itself, the one with the largest
    ``S[i, m]`` for m in M without i, or the first of several such; a sample without any is an error. Each step adds
    the sample that leads to the fewest errors. Ties are broken by the largest total similarity of all samples to their
    nearest prototypes (totals within 1e-12 times the largest total of absolute similarities to one sample are equal),
    then by position. A step costs O(n^2).
    """
    n = len(S)
    S = np.ascontiguousarray(S, dtype=np.float32 if S.dtype == np.float32 else np.float64)
    labels = labels.astype(np.int64)
    best, at = np.full(n, -np.inf), np.full(n, -1, dtype=np.intp)
    unit = 0.5 ** n.bit_length()
    tolerance = TIE_TOLERANCE * max(float((np.abs(S[:, j]) * unit).sum(dtype=np.float64)) for j in range(n))
    columns = max(_COLUMNS_A_THREAD, -(-n // thread_count()))
    left = np.ones(n, dtype=bool)
    positions, errors = np.empty(p, dtype=np.intp), np.empty(p)
    for step in range(p):
        wrong, totals = np.zeros(n, dtype=np.int64), np.zeros(n)

        def work(start: int, stop: int, sums: tuple = (wrong, totals)) -> None:
            weigh_candidates(S, labels, best, at, unit, start, stop, *sums)

        over_row_blocks(work, n, columns)
        fewest = left & (wrong == wrong[left].min())
        positions[step] = j = int(np.argmax(fewest & (totals >= totals[fewest].max() - tolerance)))
        errors[step] = wrong[j] / n
        left[j] = False
        take_prototype(S, j, best, at)
    return positions, errors


NORMALIZATIONS = (None, "range", "exp")


@shared_docs
class SimilarityFeatures(SimilarityTransformer):
    """Represent a sample by its similarities to prototypes chosen among the training samples.

    The sample x becomes the vector

        (f(psi(x, x_m)), m in M),    M a set of training samples, all of them by default

    which any scikit-learn model can use. The function f is chosen by ``normalize``:

    ===========  =============================================================================================
    normalize    f(s)
    ===========  =============================================================================================
    None         s
    "range"      (s - a) / (b - a), [a, b] the range over training samples and prototypes
    "exp"        exp(-d^2 / sigma), sigma = scale times the squared median of d over training samples and
                 prototypes other than themselves: the map "gauss" of :mod:`similitude.proximity.maps`. If the input
                 is a dissimilarity (``dissimilarity`` is set, or the named measure is one), d is that dissimilarity,
                 whatever the map, and prototypes are chosen by -d; for a similarity, d is ``max(b - s, 0)``
    ===========  =============================================================================================

    Prototypes are chosen by

    ============  ============================================================================================
    selection
    ============  ============================================================================================
    "random"      all sets are equally likely; y is not used
    "stratified"  at random within each class, in proportion to the classes' sizes
    "kmedoids"    ``maximise sum_i max_{m in M} S[i, m]`` (:func:`similitude.numerics.medoids.k_medoids`)
    "kcentres"    ``maximise min_i max_{m in M} S[i, m]`` (:func:`similitude.numerics.medoids.k_centres`)
    "forward"     greedily: each step adds the sample that leads to the fewest leave-one-out errors of the 1-NN
                  rule on the prototypes. Ties are broken by the largest total similarity of all samples to
                  their nearest prototypes, then by position. The first prototype thus comes from the largest
                  class (details: :func:`similitude.transform.similarity_features.forward_selection`)
    ============  ============================================================================================

    If y is given, k-medoids and k-centres work within each class, in proportion to the classes' sizes; otherwise on all
    samples. A selection that works within classes chooses at least one prototype of each class, so that there are never
    fewer prototypes than classes. S may be asymmetric: ``S[i, m]``, the similarity of i to the prototype m, is used as
    it is.

    Parameters
    ----------
    n_prototypes : int, float or None, default=None
        The number of prototypes, or a share in (0, 1] of the training samples, rounded. None uses all samples in their
        order (with "forward": in the order of selection).
    selection : {"random", "stratified", "kmedoids", "kcentres", "forward"}, default="random"
        How prototypes are chosen.
    normalize : {None, "range", "exp"}, default=None
        The function f.
    scale : float, default=1.0
        The factor of sigma, used only if ``normalize="exp"``. Its best value is usually found by a search.
    random_state : int, RandomState or None, default=None
        Seed for "random" and "stratified".
    {similarity}
        With ``similarity="columns"`` X holds similarities to fixed prototypes, among which "random" may choose.

    Attributes
    ----------
    prototypes_ : ndarray of int
        The positions of the prototypes among the training columns, in the order of the features: the order of selection
        for "forward", otherwise ascending.
    n_prototypes_ : int
        The number of prototypes.
    support_columns_ : ndarray of int
        The training columns that ``transform`` needs, ascending: those of the prototypes (all columns with the map
        "double-centring"). Rows may consist of these columns only, and for raw objects no others are computed.
    loo_errors_ : ndarray of shape (n_prototypes_,)
        The share of leave-one-out 1-NN errors after each prototype. Only available if ``selection="forward"``.
    sigma_ : float
        The constant sigma. Only available if ``normalize="exp"``.

    See Also
    --------
    IndefiniteNystroem : Computes features whose inner products are a kernel.
    LPMachine : Classifies by a sparse linear function of the similarities.
    similitude.features.recipe : Returns pipelines on these features that are known from the literature.

    References
    ----------
    Graepel, Herbrich, Bollmann-Sdorra & Obermayer, NIPS 1998. Pekalska & Duin, "Dissimilarity representations allow
    for building good classifiers", Pattern Recognition Letters 23, 2002. Pekalska, Duin & Paclik, "Prototype selection
    for dissimilarity-based classifiers", Pattern Recognition 39, 2006. Chen, Garcia, Gupta, Rahimi & Cazzanti, JMLR 10,
    2009, Section 3. Wang, Sugiyama, Yang, Hatano & Feng, "Theory and algorithm for learning with dissimilarity
    functions", Neural Computation 21, 2009 (``normalize="exp"``).

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.pipeline import make_pipeline
    >>> from similitude.transform.similarity_features import SimilarityFeatures
    >>> S = [[3, 2, 0, 1], [2, 3, 1, 0], [0, 1, 3, 2], [1, 0, 2, 4]]
    >>> features = SimilarityFeatures(2, "kmedoids").fit(S, ["a", "a", "b", "b"])
    >>> features.prototypes_
    array([0, 3])
    >>> features.transform([[2, 3, 1, 0]])
    array([[2., 0.]])
    >>> model = make_pipeline(SimilarityFeatures(), LogisticRegression()).fit(S, ["a", "a", "b", "b"])
    >>> model.predict([[2, 3, 1, 0]])
    array(['a'], dtype='<U1')
    """

    _takes_columns = True

    prototypes_: ColumnPositions

    def __init__(
        self,
        n_prototypes: int | float | None = None,
        selection: Literal["random", "stratified", "kmedoids", "kcentres", "forward"] = "random",
        normalize: Literal["range", "exp"] | None = None,
        *,
        scale: float = 1.0,
        random_state: RandomState = None,
        similarity: SimilarityLike = "precomputed",
        dissimilarity: str | None = None,
    ):
        self.n_prototypes = n_prototypes
        self.selection = selection
        self.normalize = normalize
        self.scale = scale
        self.random_state = random_state
        self.similarity = similarity
        self.dissimilarity = dissimilarity

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = self.selection == "forward" or (
            self.selection == "stratified" and self.n_prototypes is not None
        )
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    def _contract(self) -> Contract:
        contract = super()._contract()
        # exp(-d^2 / sigma) needs the dissimilarity itself, which is recovered from -d by a change of sign.
        negates = self.normalize == "exp" and contract.map_name is not None
        return replace(contract, dissimilarity="negate") if negates else contract

    @property
    def _unlabelled(self) -> str | None:
        return "columns" if self.selection == "random" else None

    def _prepared(self, training: Training) -> Training:
        # Samples that were read with another map get their own.
        map_name = self._contract().map_name
        return training if map_name in (None, training.reader.map_name) else training.mapped(map_name)

    def _check_parameters(self) -> None:
        check_choice(self.selection, "selection", SELECTIONS)
        check_choice(self.normalize, "normalize", NORMALIZATIONS)
        check_positive(self.scale, "scale")
        if self._contract().is_columns and self.selection != "random":
            raise ValueError(
                f"selection={self.selection!r} needs the training samples as columns; with similarity='columns' "
                "use selection='random'."
            )

    def _learn(self, training: Training, y: Any, transforms: bool) -> Callable[[], Any]:
        self.prototypes_ = self._chosen(training, y)
        self.n_prototypes_ = len(self.prototypes_)
        self.support_columns_ = training.reader.columns_read(self.prototypes_)
        self._n_columns = training.reader.n_columns
        self._normalizer = None
        if self.normalize is not None:
            columns = dense(training.columns(self.prototypes_))
            learned = self._learned_normalizer(columns, training.reader)
            self._normalizer = learned
            return lambda: learned(columns)
        return lambda: self._features(training.columns(self.prototypes_))

    def _transform(self, rows: Rows) -> Matrix:
        return self._features(rows.columns(self.prototypes_))

    def _features(self, columns: Matrix) -> Matrix:
        if self._normalizer is not None:
            return self._normalizer(dense(columns))
        return columns if self.n_prototypes_ == self._n_columns else dense(columns)

    def _chosen(self, training: Training, y: Any) -> np.ndarray:
        """Return the positions of the prototypes."""
        n = training.reader.n_columns
        p = how_many(self.n_prototypes, n)
        if self.selection == "random":
            rng = check_random_state(self.random_state)
            return np.arange(n) if p == n else np.sort(rng.choice(n, p, replace=False))
        if p == n and self.selection != "forward":
            return np.arange(n)
        S: Any = dense(training.S) if self.selection in NEEDS_ALL_PAIRS else None
        if y is None and self.selection in ("kmedoids", "kcentres"):
            labels = np.zeros(n, dtype=np.intp)
        else:
            labels = np.unique(check_labels(y, n), return_inverse=True)[1]
        if self.selection == "forward":
            positions, self.loo_errors_ = forward_selection(S, labels, p)
            return positions
        return choose_by_class(self.selection, S, labels, p, self.random_state)

    def _learned_normalizer(self, columns: np.ndarray, reader: Reader) -> RangeNormalizer | ExponentialNormalizer:
        if self.normalize == "range":
            return RangeNormalizer(columns)
        # With fixed columns it is not known which of them are training samples.
        own = np.arange(0) if reader.is_columns else self.prototypes_
        learned = ExponentialNormalizer(columns, own, reader.map_name, float(self.scale))
        self.sigma_ = learned.sigma
        return learned

    def get_feature_names_out(self, input_features: Sequence[str] | np.ndarray | None = None) -> np.ndarray:
        """Return the names of the prototypes' columns.

        Parameters
        ----------
        input_features : sequence of str, default=None
            The names of all training columns, if X had no column names in ``fit``.

        Returns
        -------
        ndarray of str objects
            The names of the columns of X in ``fit``, or x0, x1, ... if there were none.
        """
        check_is_fitted(self)
        if not self._reader.is_matrix:
            return np.array([f"x{j}" for j in self.prototypes_], dtype=object)
        return OneToOneFeatureMixin.get_feature_names_out(self, input_features)[self.prototypes_]


class RangeNormalizer:
    """Function that maps the range of the training features onto [0, 1]."""

    def __init__(self, columns: np.ndarray):
        self.range = value_range(columns)

    def __call__(self, columns: np.ndarray) -> np.ndarray:
        return apply_range(columns, *self.range)


class ExponentialNormalizer:
    """Function ``exp(-d^2 / sigma)``, where sigma is relative to the median of d over pairs of different samples."""

    def __init__(self, columns: np.ndarray, own: np.ndarray, map_name: str | None, scale: float):
        if map_name is None:
            self.to_dissimilarity = LearnedMap.learn(columns, "max-minus", to="dissimilarity")
        else:
            self.to_dissimilarity = LearnedMap(map_name, {}, to="dissimilarity")
        D = self._dissimilarities(columns)
        others = np.ones(D.shape, dtype=bool)
        others[own, np.arange(len(own))] = False
        pairs = D[others] if others.any() else D
        median = LearnedMap.learn(pairs.reshape(-1, 1), "gauss").constants["scale"]
        # The map is exp(-d^2 / (2 c^2)).
        self.gauss = LearnedMap("gauss", {"scale": median * math.sqrt(scale / 2)})
        with np.errstate(over="ignore"):
            self.sigma = float(scale * np.square(median))

    def __call__(self, columns: np.ndarray) -> np.ndarray:
        return self.gauss(self._dissimilarities(columns), name="X")

    def _dissimilarities(self, columns: np.ndarray) -> np.ndarray:
        D = self.to_dissimilarity(columns, name="X")
        if self.to_dissimilarity.map_name == "max-minus":
            return np.maximum(D, 0)  # a new similarity may be larger than any in training
        if D.min() < 0:
            raise ValueError(f"X: normalize='exp' needs dissimilarities of at least 0; the smallest is {D.min():.6g}.")
        return D
