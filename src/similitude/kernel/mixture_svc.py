"""A support vector machine that learns a mixture of the spectra of several similarities."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np

from similitude._utils.docs import shared_docs
from similitude._utils.types import ClassWeight, ColumnPositions
from similitude.kernel.base import KernelLearningSVC
from similitude.kernel.learned_spectrum import TARGETS, SpectrumPoint, solve_grid
from similitude.labels import Labels, loss_weights
from similitude.numerics.alignment import spread
from similitude.one_vs_one import by_pair, class_pairs
from similitude.proximity.check import dense
from similitude.reader import ByName, Training
from similitude.similarities.registry import SimilarityLike

TIED_TARGETS = ("auto", "clip", "flip")


@dataclass(frozen=True)
class _Scaled(ByName[Training]):
    """Training samples in several similarities with the factors that match their scales."""

    factors: dict[str, float]


def matching_factors(matrices: dict[str, np.ndarray]) -> dict[str, float]:
    """Return factors with which all matrices have the same spread: the geometric mean of theirs over their number."""
    spreads = {name: spread(S) for name, S in matrices.items()}
    if len(spreads) == 1:
        return dict.fromkeys(spreads, 1.0)
    common = float(np.exp(np.mean(np.log(list(spreads.values())))))
    return {name: common / own / len(spreads) for name, own in spreads.items()}


class MixtureMachines(NamedTuple):
    """The solved problems of all pairs of classes, for one point of a grid."""

    solutions: list[Any]
    members: list[ColumnPositions]
    """The samples of each pair."""
    factors: dict[str, float]
    """The factor of each similarity."""
    columns: np.ndarray | None = None
    """All columns are needed."""

    def decisions(self, rows: Any) -> np.ndarray:
        """Return decision values, (m, pairs), positive for the later class."""
        similarities = [
            dense(rows.parts[name].symmetric).astype(np.float64, copy=False) * factor
            for name, factor in self.factors.items()
        ]
        return np.column_stack(
            [
                solution.decide(np.hstack([S[:, members] for S in similarities]), None)
                for solution, members in zip(self.solutions, self.members)
            ]
        )

    def attributes(self) -> dict[str, Any]:
        """Return public attributes of the fitted estimator."""
        pairs = [_Figures.of(solution, list(self.factors)) for solution in self.solutions]
        names = {f"{name}_": name for name in _Figures._fields}
        return {"factors_": dict(self.factors), **by_pair(pairs, list, names)}


class _Figures(NamedTuple):
    """The learned spectra of one pair of classes, by the name of the similarity."""

    target: str
    eigenvalues: dict[str, np.ndarray]
    spectrum_weights: dict[str, np.ndarray]
    shares: dict[str, float]

    @classmethod
    def of(cls, solution: Any, names: list[str]) -> _Figures:
        """Return the figures of a solution."""
        ends = np.cumsum(solution.sizes)[:-1]
        values, weights = (np.split(part, ends) for part in (solution.eigenvalues, solution.spectrum_weights))
        traces = np.array([own @ a for own, a in zip(values, weights)])
        total = float(traces.sum()) or 1.0
        return cls(
            solution.target,
            dict(zip(names, values)),
            dict(zip(names, weights)),
            dict(zip(names, (traces / total).tolist())),
        )


@shared_docs
class MixtureSVC(KernelLearningSVC):
    """Classify by a support vector machine that learns a mixture of the spectra of several similarities.

    With ``S_v = U_v diag(lambda_v) U_v^T`` the similarities, on a common scale and with zero eigenvalues left out, the
    kernel is ``K_a = sum over v and i of a_vi lambda_vi u_vi u_vi^T``. For each pair of classes with n samples it
    solves the problem of :class:`LearnedSpectrumSVC` with all these directions at once::

        minimise  1/n sum_i xi_i + eta c^T K_a c + gamma h(a)
        over      c, b, xi >= 0, a     subject to  y_i ((K_a c)_i + b) >= 1 - xi_i,   lambda_vi a_vi >= 0

    h is the distance of a, over all similarities, from the target: ``||a - a_clip||``, ``||a - a_flip||``, and so on.
    With one similarity this is :class:`LearnedSpectrumSVC`. If gamma is large enough, a equals the target, and the
    classifier is the SVM on the sum of the clipped or flipped similarities. With ``tied=True`` all directions of a
    similarity have the same weight, ``a_vi = d_v`` (clip: 0 for the negative ones; flip: with the sign of lambda_vi):
    then it learns nonnegative weights d_v of the modified kernels, which is multiple-kernel learning.

    In the decision a cancels: ``f(x) = sum_v w_v^T s_v + b`` with s_v the row of x in the v-th similarity, so new
    rows are treated like the training rows.

    The scales are matched in ``fit``: each similarity is multiplied by the factor with which the entries of all
    centred matrices have the same root mean square, which is the geometric mean of theirs divided by their number. An
    asymmetric similarity is replaced by the mean of both directions, with a warning.

    Parameters
    ----------
    eta : float, default=0.01
        Weight of the norm of the decision function: the larger it is, the smoother the function. Choose it relative to
        the geometric mean of the scales ``np.median(S.max(axis=1) - S.mean(axis=1))`` of the similarities.
    gamma : float, default=1.0
        Weight of the distance from the target: the larger it is, the closer the learned spectra are to the target.
    target : {"auto", "clip", "flip", "both", "similarity"}, default="auto"
        The spectrum from which the distance is measured, as in :class:`LearnedSpectrumSVC`; "auto" compares the SVMs on
        the sums of the clipped and of the flipped similarities. With ``tied`` only "auto", "clip" and "flip".
    tied : bool, default=False
        Whether all directions of a similarity have the same weight.
    {class_weight}
    {probability}
    similarity : "precomputed", "elastic", "words", a similarity on raw objects, or dict of these, default="precomputed"
        With "precomputed", X is ``Proximities`` with several similarities, or a dict of matrices. For raw objects a
        dict has their similarities by name; for time series "elastic" means the family of
        :func:`~similitude.similarities.elastic_family`, by default with the map "gauss:0.7", and for words "words"
        that of :func:`~similitude.similarities.words_family`.
    dissimilarity : str or dict of str, default=None
        The map of all similarities, or the maps by name.

    Attributes
    ----------
    {classes_}
    factors_ : dict of float
        The factor of each similarity that matches the scales.
    shares_ : dict of float
        The share of each similarity in the trace of the learned kernel. With more than two classes, this and the next
        three attributes are lists with one item for each pair of classes.
    target_ : str
        The target used.
    eigenvalues_ : dict of ndarray
        The nonzero eigenvalues of each similarity times its factor, ascending.
    spectrum_weights_ : dict of ndarray
        The learned a_v of each similarity.
    objective_, duality_gap_, n_iter_
        As in :class:`LearnedSpectrumSVC`.

    See Also
    --------
    LearnedSpectrumSVC : The same with one similarity.
    MixedSimilarity : Adds similarities with fixed weights, for any method.

    References
    ----------
    Chen, Gupta & Recht, "Learning kernels from indefinite similarities", ICML 2009, eqs. (10) to (12). Muench, Schleif
    and others learn the spectra of several matrices with another objective ("adaptive subspace kernel fusion").

    Examples
    --------
    >>> from similitude import MixtureSVC
    >>> taste = [[4, 3, 1, 0], [3, 4, 0, 1], [1, 0, 4, 3], [0, 1, 3, 4]]
    >>> smell = [[4, 0, 3, 1], [0, 4, 1, 3], [3, 1, 4, 0], [1, 3, 0, 4]]
    >>> model = MixtureSVC(eta=0.1, gamma=0.03).fit({"taste": taste, "smell": smell}, ["a", "a", "b", "b"])
    >>> model.predict({"taste": [[3, 2, 1, 0]], "smell": [[1, 2, 2, 2]]})
    array(['a'], dtype='<U1')
    >>> {name: round(share, 2) for name, share in model.shares_.items()}
    {'taste': 0.54, 'smell': 0.46}
    """

    _path_parameters = ("eta", "gamma", "target")
    _takes_several = True

    def __init__(
        self,
        eta: float = 0.01,
        gamma: float = 1.0,
        target: Literal["auto", "clip", "flip", "both", "similarity"] = "auto",
        *,
        tied: bool = False,
        class_weight: ClassWeight = None,
        probability: bool = False,
        similarity: SimilarityLike | Mapping[str, SimilarityLike] = "precomputed",
        dissimilarity: str | Mapping[str, str] | None = None,
    ):
        self.eta = eta
        self.gamma = gamma
        self.target = target
        self.tied = tied
        self.class_weight = class_weight
        self.probability = probability
        self.similarity = similarity
        self.dissimilarity = dissimilarity

    def _point(self, parameters: dict[str, Any]) -> SpectrumPoint:
        if self.tied:
            return SpectrumPoint.checked(parameters, TIED_TARGETS, " with tied=True")
        return SpectrumPoint.checked(parameters, TARGETS)

    def _prepared(self, training: Any, points: list[Any]) -> Any:
        def symmetric(part: Training) -> Training:
            part = part.in_both_directions(type(self).__name__)
            return part.replaced(dense(part.symmetric).astype(np.float64, copy=False))

        parts = training.each(symmetric).parts
        return _Scaled(parts, matching_factors({name: part.S for name, part in parts.items()}))

    def _solve(self, S: Any, y: np.ndarray, weight: np.ndarray, points: list[SpectrumPoint]) -> list[Any]:
        return solve_grid(S, y, weight, points, bool(self.tied))

    def _solved(self, training: Any, labels: Labels, points: list[Any]) -> list[Any]:
        matrices = [part.S * training.factors[name] for name, part in training.parts.items()]
        weights = loss_weights(self.class_weight, labels)
        pairs = [(own[some], y[some]) for own, y in class_pairs(labels) for some in [weights[own] > 0]]
        solved = [self._solve([S[np.ix_(own, own)] for S in matrices], y, weights[own], points) for own, y in pairs]
        members = [own for own, _ in pairs]
        return [MixtureMachines(list(found), members, training.factors) for found in zip(*solved)]
