"""DBoost, boosting of classifiers that compare the similarities of a sample to two training samples."""

from __future__ import annotations

from collections.abc import Iterator
from numbers import Real
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from similitude._utils.checks import check_choice, check_integer
from similitude._utils.docs import shared_docs
from similitude._utils.ids import labels_in_order
from similitude._utils.types import LabelsLike, ListLike, RandomState, SamplesLike
from similitude.base import SimilarityClassifier
from similitude.boosting._ensemble import NO_PROBABILITIES, DBoostPath, Ensemble, predicted_classes, problem_signs
from similitude.boosting._rounds import Rounds, boosted_rounds, drawn, searched_rounds, split_sides, voted_rounds
from similitude.labels import Labels, check_labels
from similitude.proximity.check import dense
from similitude.proximity.split import cut
from similitude.reader import Training
from similitude.similarities.registry import SimilarityLike

_ALGORITHMS = ("discrete", "real", "vote")
_SCHEMES = ("ovo", "ovr")
_LARGEST = 1e300


@shared_docs
class DBoostClassifier(SimilarityClassifier):
    """Boost classifiers that each compare the similarities to one positive and one negative training sample.

    A base classifier is given by a pair of training samples, x+ of the positive and x- of the negative class, and a
    threshold v::

        h(x) = sgn[psi(x, x+) - psi(x, x-) + v],   sgn(0) = -1

    In each of T rounds M pairs are drawn by the current weights D, x+ among the positive and x- among the negative
    samples. For each pair v is the midpoint between adjacent values of the difference (or infinite, at the two ends)
    with the smallest weighted error. The best pair is used, with ``gamma = sum D y h(x)``, and AdaBoost continues
    with::

        alpha = log((1 + gamma) / (1 - gamma)) / 2,   D <- D exp(-alpha y h(x)) / Z,   f(x) = sum alpha_t h_t(x)

    The share of misclassified training samples is at most the product of ``sqrt(1 - gamma_t^2)``. gamma is capped at
    1 - 1e-10, so that a perfect pair has a finite coefficient and boosting continues. RealBoost (``algorithm="real"``)
    uses the cut with the smallest ``Z = 2 sqrt(W+ W-)``, summed over its two sides, where W+ and W- are the weights of
    the two classes on a side, and adds ``log((W+ + 1/n) / (W- + 1/n)) / 2`` of the side of x to f(x).
    ``algorithm="vote"`` is the plain vote: T pairs are drawn once, with v = 0 and equal coefficients.

    The paper defines the search over all pairs (``n_pairs="all"``), and draws M of them to save time. Its theorems
    are about two independent samples, one that forms pairs and one on which their thresholds and coefficients are
    trained (``pair_share``).

    Differences are rounded to 35 significant bits, and are 0 below 2^-40 of the larger similarity, so that those that
    differ only by rounding are equal, in any units. Only differences within a row matter: the classifier is the same
    for ``a psi(x, x') + b(x)`` with any a > 0 and any function b of the new sample. Therefore
    ``dissimilarity="negate"`` and ``"max-minus"`` give the same classifier, up to rounding. Other increasing maps give
    a different one, because thresholds act on differences. The similarity may be asymmetric: rows psi(x, .) are used as
    they are.

    With two classes, the second is positive, and the first is predicted if the decision value is 0. Except for the
    plain vote, the probability of the second is ``1 / (1 + exp(-2 f(x)))``. With more than two classes there is one
    problem for each pair of classes, and the class that wins most of them is predicted, ties being broken by the larger
    sum of margins; or there is one problem for each class against the rest, and the class with the largest margin is
    predicted. ``PathSearchCV`` evaluates all ``n_rounds`` by one run.

    Parameters
    ----------
    n_rounds : int, default=1000
        The number T of rounds.
    n_pairs : int or "all", default=100
        The number M of pairs that are compared in each round; the plain vote does not compare any. "all" searches every
        pair of a positive and a negative sample in each round; a round then takes time proportional to n+ n- n, but the
        pairs take no memory.
    algorithm : {"discrete", "real", "vote"}, default="discrete"
        AdaBoost, RealBoost or the plain vote.
    multiclass : {"ovo", "ovr"}, default="ovo"
        One problem for each pair of classes, or for each class against the rest.
    random_state : int, RandomState instance or None, default=None
        Seed for the draw of pairs, and of the samples that form them. The same seed gives the same classifier for any
        number of threads.
    pair_share : float, default=None
        None forms pairs of the samples on which boosting trains. A number between 0 and 1 is the two-sample scheme of
        the theorems: this share of either class forms pairs only, and the other samples train only. ``n_pairs`` pairs
        are drawn once, and every round uses the best of them. A class with one sample uses it for both.
    {similarity}

    Attributes
    ----------
    {classes_}
    pairs_ : ndarray of shape (T, 2), or a list of them
        The positions of x+ and x- in the training set. With more than two classes, this and the next two attributes are
        lists with one item for each problem: the pairs (0, 1), (0, 2), ... of classes, of which the later one is
        positive; or the classes, each against the rest.
    thresholds_ : ndarray of shape (T,), or a list of them
        The thresholds v.
    alphas_ : ndarray of shape (T,), or a list of them
        The coefficients. For RealBoost they have the shape (T, 2): the values added to f(x) for h(x) = -1 and
        h(x) = 1.
    n_rounds_ : int
        The number of rounds.
    {support_columns_}
        These are the samples in ``pairs_``.

    See Also
    --------
    goodness : Estimates how well such pairs classify.
    KNNClassifier : Votes with the nearest neighbours.

    References
    ----------
    Wang, Sugiyama, Yang, Hatano & Feng, "Theory and algorithm for learning with dissimilarity functions", Figures 2 and
    3 (whose h has the sign turned), Theorems 2 to 8 and Section 3. Schapire & Singer, "Improved boosting algorithms
    using confidence-rated predictions", Machine Learning 37, 1999, Section 4. Friedman, Hastie & Tibshirani, "Additive
    logistic regression", Annals of Statistics 28, 2000 (the probabilities).

    Examples
    --------
    >>> from similitude import DBoostClassifier
    >>> S = [[3, 2, 0, 1], [2, 3, 1, 0], [0, 1, 3, 2], [1, 0, 2, 3]]
    >>> model = DBoostClassifier(n_rounds=10, n_pairs=5, random_state=0).fit(S, ["a", "a", "b", "b"])
    >>> model.predict([[2, 3, 1, 0], [0, 1, 2, 3]])
    array(['a', 'b'], dtype='<U1')
    >>> model.margins([[2, 3, 1, 0], [0, 1, 2, 3]], ["a", "b"])
    array([1., 1.])
    """

    _path_parameters = ("n_rounds",)
    _least_classes = 2

    def __init__(
        self,
        n_rounds: int = 1000,
        n_pairs: int | Literal["all"] = 100,
        algorithm: Literal["discrete", "real", "vote"] = "discrete",
        multiclass: Literal["ovo", "ovr"] = "ovo",
        random_state: RandomState = None,
        *,
        pair_share: float | None = None,
        similarity: SimilarityLike = "precomputed",
        dissimilarity: str | None = None,
    ):
        self.n_rounds = n_rounds
        self.n_pairs = n_pairs
        self.algorithm = algorithm
        self.multiclass = multiclass
        self.random_state = random_state
        self.pair_share = pair_share
        self.similarity = similarity
        self.dissimilarity = dissimilarity

    @property
    def _responses(self) -> tuple[str, ...]:  # type: ignore[override]
        path = vars(self).get("_path")
        offered = path is not None and path.has_probabilities
        return ("predict", "decision_function", *(("predict_proba",) if offered else ()))

    def _why_not(self, response: str) -> str:
        return NO_PROBABILITIES if response == "predict_proba" else super()._why_not(response)

    def fit(self, X: SamplesLike, y: LabelsLike, sample_weight: ArrayLike | None = None) -> Self:
        """Choose the pairs, thresholds and coefficients.

        Parameters
        ----------
        {X_train}
        {y_train}
        sample_weight : array-like of shape (n,), default=None
            The weights of the first round; None means equal weights.

        Returns
        -------
        self
        """
        return self._fit(X, y, sample_weight)

    def _point(self, parameters: dict[str, Any]) -> int:
        check_integer(parameters["n_rounds"], "n_rounds", 1)
        if not isinstance(self.n_pairs, str) or self.n_pairs != "all":
            check_integer(self.n_pairs, "n_pairs", 1, ", or 'all'")
        for name, known in (("algorithm", _ALGORITHMS), ("multiclass", _SCHEMES)):
            check_choice(getattr(self, name), name, known)
        share = self.pair_share
        if share is not None and (not isinstance(share, Real) or isinstance(share, bool) or not 0 < float(share) < 1):
            raise ValueError(f"pair_share must be None or a number between 0 and 1; got {share!r}.")
        if share is not None and self.algorithm == "vote":
            raise ValueError("pair_share must be None with algorithm='vote', which trains nothing on other samples.")
        return int(parameters["n_rounds"])

    def _fit_path(self, training: Training, labels: Labels, points: list[int]) -> DBoostPath:
        S, n_rounds = training.S, max(points)
        largest = float(max(S.max(), -S.min()))
        if largest > _LARGEST:
            raise ValueError(f"X: the largest similarity is {largest:.0e}; rescale X, or differences overflow.")
        weights = labels.sample_weight
        weights = np.ones(len(labels)) if weights is None else weights / weights.max()
        signs = problem_signs(labels.n_classes, self.multiclass)
        seeds = check_random_state(self.random_state).randint(2**31 - 1, size=len(signs))

        def solve(problem: int) -> Rounds:
            # Samples of weight 0 are left out.
            y = np.where(weights > 0, signs[problem][labels.codes], 0)
            order = np.concatenate([np.flatnonzero(y > 0), np.flatnonzero(y < 0)])
            rounds = self._rounds_of(S, order, int(np.sum(y > 0)), weights[order], n_rounds, int(seeds[problem]))
            return rounds._replace(pairs=order[rounds.pairs])

        return DBoostPath(points, Ensemble.solve(signs, self.algorithm == "vote", solve), self.algorithm)

    def _rounds_of(
        self, S: Any, order: np.ndarray, n_positive: int, weights: np.ndarray, n_rounds: int, seed: int
    ) -> Rounds:
        """Return the rounds of one problem, whose samples are given in order, the positive ones first."""
        if self.algorithm == "vote":
            return voted_rounds(n_positive, weights, n_rounds, seed)
        real, pool = self.algorithm == "real", np.arange(len(order))
        if self.pair_share is None and self.n_pairs != "all":
            columns = _columns(S, order, order)
            return boosted_rounds(columns, n_positive, weights, n_rounds, int(self.n_pairs), seed, real)
        training, stream = pool, np.random.default_rng(seed)
        if self.pair_share is not None:
            pool, training = split_sides(n_positive, len(order), float(self.pair_share), stream)
        n_plus = int(np.sum(pool < n_positive))
        candidates: int | np.ndarray = n_plus
        if self.n_pairs != "all":
            uniforms = stream.random((int(self.n_pairs), 2))
            plus, minus = drawn(weights[pool[:n_plus]], uniforms[:, 0]), drawn(weights[pool[n_plus:]], uniforms[:, 1])
            candidates = np.column_stack([plus, n_plus + minus])
        columns, among = _columns(S, order[training], order[pool]), int(np.sum(training < n_positive))
        rounds = searched_rounds(columns, among, weights[training], n_rounds, candidates, real)
        return rounds._replace(pairs=pool[rounds.pairs])

    def decision_function(self, X: SamplesLike) -> np.ndarray:
        """Return the decision values.

        Parameters
        ----------
        {X_new}

        Returns
        -------
        ndarray of shape (m,) or (m, G)
            For two classes f(x), positive for the second class (for the plain vote the mean vote). For more classes the
            number of pairs that a class wins, plus a number between -1/3 and 1/3 for the sum of its margins;
            one-vs-rest: its margin.
        """
        return super().decision_function(X)

    def staged_decision_function(self, X: SamplesLike) -> Iterator[np.ndarray]:
        """Yield the decision function after 1, 2, ..., ``n_rounds_`` rounds.

        Parameters
        ----------
        {X_new}

        Yields
        ------
        ndarray of shape (m,) or (m, G)
        """
        yield from self._path.ensemble.staged_scores(self._similarities(X))

    def staged_predict(self, X: SamplesLike) -> Iterator[np.ndarray]:
        """Yield the predicted classes after 1, 2, ..., ``n_rounds_`` rounds.

        Parameters
        ----------
        {X_new}

        Yields
        ------
        ndarray of shape (m,)
        """
        for scores in self.staged_decision_function(X):
            yield self.classes_[predicted_classes(scores)]

    def margins(self, X: SamplesLike, y: ListLike) -> np.ndarray:
        """Return the margin of each sample, which is positive if the sample is classified correctly.

        The margin of a two-class problem is ``y f(x) / sum alpha`` (for RealBoost the denominator is the sum of the
        rounds' largest outputs). One-vs-one, it is the smallest margin of the problems that involve y (a class may be
        predicted without winning all of them). One-vs-rest, it is half of the difference between the margin of y and
        the largest of the others.

        Parameters
        ----------
        {X_new}
        y : array-like of shape (m,)
            The classes of the samples.

        Returns
        -------
        ndarray of shape (m,)
            The margins, from -1 to 1. If a margin is above 0, y is predicted.
        """
        rows = self._similarities(X)
        y = check_labels(labels_in_order(y, X), len(rows))
        unknown = np.setdiff1d(y, self.classes_)
        if len(unknown):
            raise ValueError(f"y must hold classes that were in fit; got the class {unknown.tolist()[0]!r}.")
        return self._path.ensemble.margins(rows, np.searchsorted(self.classes_, y))

    def _similarities(self, X: SamplesLike) -> np.ndarray:
        check_is_fitted(self)
        return self._path.similarities(self._rows(X))


def _columns(S: Any, samples: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Return the similarities of samples to others, one row for each of the others."""
    return np.ascontiguousarray(dense(cut(S.T, others, samples)))
