"""How good a similarity or dissimilarity is for telling classes apart, before any classifier is trained."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from similitude._utils.warn import warn
from similitude.labels import check_labels
from similitude.proximity.check import SimilarityWarning, check_similarity, looks_like_dissimilarity
from similitude.proximity.maps import TO_SIMILARITY, LearnedMap
from similitude.proximity.proximities import as_proximities
from similitude.theory._limits import dkw_width, share_limits
from similitude.theory._pairs import class_sums, column_gaps, count_wins, largest_size, weighted_wins

_ROUNDING = 1e-12
"""A margin that misses gamma by less counts as reaching it."""


def goodness(S: Any, y: Any, *, dissimilarity: str | None = None) -> Goodness:
    """Return how often samples are closer to their own class than to others: the goodness of Wang et al. (2009).

    For a sample z = (x, y)::

        g(z) = P( s(x, x') > s(x, x'')  |  y' = y, y'' != y )

    estimated over all pairs of an x' != x of its class and an x'' of another; a tie counts as a failure. S is strongly
    (epsilon, gamma)-good if ``g(z) >= 1/2 + gamma/2`` for a share 1 - epsilon of the samples. Then
    ``(4/gamma^2) ln(1/delta)`` random pairs, each voting for the closer one, err on no more than epsilon + delta
    (:func:`~similitude.theory.bounds.pairs_needed`).

    The definition is for two classes. With more, x'' is drawn from all other classes together, one against the rest.
    Only the order within each row matters, S need not be symmetric: row i holds psi(x_i, .). A sample that is alone in
    its class has no x'; it is left out, with a warning. Each row is sorted, O(n^2 log n) in all.

    Parameters
    ----------
    S : array-like, memmap, DataFrame, sparse matrix or Proximities of shape (n, n)
        Similarities, or dissimilarities if ``dissimilarity`` is given. A matrix that can only be a dissimilarity (zero
        diagonal, positive elsewhere) is taken as one in any case, with a warning.
    y : array-like of shape (n,)
        Class labels, of two or more classes.
    dissimilarity : str, default=None
        The map that makes S a similarity: see :mod:`similitude.proximity.maps`. Order is that of the dissimilarities
        themselves, but for double-centring, which changes it; the map's values count for
        :meth:`~Goodness.balcan_blum` and :meth:`~Goodness.reasonable` alone.

    Returns
    -------
    Goodness

    References
    ----------
    Wang, Sugiyama, Yang, Hatano & Feng, "Theory and algorithm for learning with dissimilarity functions", Neural
    Computation 21, 2009, Definitions 1, 3 and 11. Balcan & Blum, "On a theory of learning with similarity functions",
    ICML 2006. Balcan, Blum & Srebro, "Improved guarantees for learning via similarity functions", COLT 2008.

    Examples
    --------
    >>> from similitude import goodness
    >>> S = [[5, 4, 3, 1, 0], [4, 5, 1, 3, 0], [3, 1, 5, 2, 1], [1, 3, 2, 5, 4], [0, 0, 1, 4, 5]]
    >>> found = goodness(S, ["a", "a", "a", "b", "b"])
    >>> found
    <Goodness of 5 samples: pseudo gamma 0.7, epsilon(0) = 0>
    >>> found.per_sample
    array([1.  , 0.75, 0.5 , 1.  , 1.  ])
    >>> found.curve(0.5), found.curve(0.6), found.gamma_at(0.2)
    (0.2, 0.4, 0.5)
    """
    if dissimilarity is not None and dissimilarity not in TO_SIMILARITY:
        raise ValueError(f"dissimilarity must be None or one of {sorted(TO_SIMILARITY)}; got {dissimilarity!r}.")
    given = similarities = check_similarity(as_proximities(S).S, orientation="dissimilarity")
    if dissimilarity is None and looks_like_dissimilarity(given):
        dissimilarity = "negate"
        warn(
            "S has a zero diagonal and is positive elsewhere: it is taken as a dissimilarity. Pass "
            "dissimilarity='negate' to say so.",
            SimilarityWarning,
        )
    if dissimilarity is not None:
        similarities = LearnedMap.learn(given, dissimilarity, name="S")(given, name="S")
    classes, labels = np.unique(check_labels(y, given.shape[0]), return_inverse=True)
    if len(classes) < 2:
        raise ValueError(f"y must have at least two classes; got one class, {classes.tolist()[0]!r}.")
    if dissimilarity == "double-centring":
        given, dissimilarity = similarities, None
    return Goodness(given, similarities, labels, smaller_is_closer=dissimilarity is not None)


class MarginCurve:
    """A margin for each sample, and the share of the samples whose margin falls short of gamma.

    Parameters
    ----------
    margins : ndarray of shape (n,)
        NaN for a sample that is left out.
    """

    def __init__(self, margins: np.ndarray):
        self.margins = margins
        self._sorted = np.sort(margins[~np.isnan(margins)])

    def curve(self, gamma: Any) -> Any:
        """Return epsilon(gamma), the share of samples with a margin below gamma.

        Parameters
        ----------
        gamma : float or array-like

        Returns
        -------
        float or ndarray
        """
        short = np.searchsorted(self._sorted, _numbers(gamma) - _ROUNDING, side="left") / len(self._sorted)
        return float(short) if np.ndim(gamma) == 0 else short

    def gamma_at(self, epsilon: float) -> float:
        """Return the largest gamma that all but a share epsilon of the samples reach.

        Parameters
        ----------
        epsilon : float
            In [0, 1).

        Returns
        -------
        float
        """
        if not isinstance(epsilon, Real) or not 0 <= epsilon < 1:
            raise ValueError(f"epsilon must lie in [0, 1); got {epsilon!r}.")
        n = len(self._sorted)
        return float(self._sorted[min(int(epsilon * n + 1e-9), n - 1)])


class Goodness(MarginCurve):
    """The result of :func:`goodness`.

    Parameters
    ----------
    order : array or CSR matrix of shape (n, n)
        By whose rows samples are ordered.
    similarities : array or CSR matrix of shape (n, n)
    labels : ndarray of shape (n,)
        Positions of the classes.
    smaller_is_closer : bool
        Whether ``order`` holds dissimilarities.

    Attributes
    ----------
    per_sample : ndarray of shape (n,)
        g(z) of each sample; NaN where its class has no other.
    margins : ndarray of shape (n,)
        2 g(z) - 1, what gamma is compared with.
    pseudo_gamma : float
        2 mean(g) - 1 (Definition 11). It promises nothing: the vote of pairs may err on more than half of the samples
        though it is near 1/2 (Proposition 13). ``curve(0)`` is the share on which that vote, of infinitely many pairs,
        errs.
    """

    def __init__(self, order: Any, similarities: Any, labels: np.ndarray, smaller_is_closer: bool):
        self._order, self._similarities, self._labels = order, similarities, labels
        self._smaller_is_closer = smaller_is_closer
        counts = np.bincount(labels)
        self._n_own, self._n_other = counts[labels] - 1, len(labels) - counts[labels]
        alone = int(np.sum(self._n_own == 0))
        if alone == len(labels):
            raise ValueError("y must have a class of at least two samples; each of its classes has one.")
        if alone:
            warn(
                f"{alone} of {len(labels)} samples are alone in their class and are left out.",
                SimilarityWarning,
            )
        pairs = np.where(self._n_own > 0, self._n_own * self._n_other, np.nan)
        wins = count_wins(order, labels, smaller_is_closer)
        self.per_sample = wins / pairs
        super().__init__((2 * wins - pairs) / pairs)
        self.pseudo_gamma = float(np.mean(self._sorted))

    def __repr__(self) -> str:
        return (
            f"<Goodness of {len(self.margins)} samples: pseudo gamma {self.pseudo_gamma:.3g}, "
            f"epsilon(0) = {self.curve(0):.3g}>"
        )

    def band(self, gamma: Any, confidence: float = 0.95) -> tuple[Any, Any]:
        """Return bounds of epsilon(gamma) for the distribution that the samples come from, for all gamma at once.

        With the given probability the whole curve ``P(g(z) < 1/2 + gamma/2)`` lies between the two, whatever the
        distribution, if the samples were drawn independently. Two things are uncertain, and each gets half of
        1 - confidence, called a. Which samples were drawn: the inequality of Dvoretzky, Kiefer, Wolfowitz and Massart,
        ``sqrt(ln(2/a) / (2n))`` up and down. And g of each sample, estimated from the other samples: given x it is a
        mean over pairs from two independent groups, of which the smaller has k, and Chernoff's inequality holds as for
        k independent pairs (Hoeffding 1963), for all n samples at once at the level a/n; the curve moves left and right
        by as much as g may be wrong. A narrower band around the shares alone would take the estimates for the truth:
        where all g(z) are equal, the truth is a step and the estimated curve a slope.

        Parameters
        ----------
        gamma : float or array-like
        confidence : float, default=0.95

        Returns
        -------
        low, high : float or ndarray
        """
        if not isinstance(confidence, Real) or not 0 < confidence < 1:
            raise ValueError(f"confidence must lie between 0 and 1; got {confidence!r}.")
        there = ~np.isnan(self.per_sample)
        n, doubt = int(there.sum()), (1 - confidence) / 2
        smaller_group = np.minimum(self._n_own, self._n_other)[there]
        limits = share_limits(self.per_sample[there], smaller_group, doubt / n)
        width = dkw_width(n, doubt)
        most, least = (np.sort(2 * limit - 1) for limit in limits)
        at = _numbers(gamma)
        low = np.maximum(np.searchsorted(least, at - _ROUNDING, side="left") / n - width, 0.0)
        high = np.minimum(np.searchsorted(most, at + _ROUNDING, side="left") / n + width, 1.0)
        return (float(low), float(high)) if np.ndim(gamma) == 0 else (low, high)

    def reweighted(self, weights: Any) -> ReweightedGoodness:
        """Return the (epsilon, gamma, B)-goodness (Definition 3): x' and x'' are drawn by weight.

        Good weights show what a vote that chooses its pairs can do. The theorem asks for weights that were not chosen
        by looking at these labels; read off a classifier trained on them, the curve is optimistic.

        Parameters
        ----------
        weights : array-like of shape (n,), or fitted DBoostClassifier
            At least 0, not all 0 in any class; within each class they are scaled to mean 1. Of a boosted classifier
            of two classes trained on these samples, a sample's weight is the sum of the coefficients of the pairs it
            is in, as in the proof of Theorem 4.

        Returns
        -------
        ReweightedGoodness
        """
        if hasattr(weights, "fit"):
            weights = _vote_weights(weights, len(self._labels))
        weights = _checked_weights(weights, len(self._labels), "weights")
        counts = np.bincount(self._labels)
        largest = np.zeros(len(counts))
        np.maximum.at(largest, self._labels, weights)
        if not np.all(largest > 0):
            raise ValueError("weights must leave every class a sample of positive weight.")
        weights = weights / largest[self._labels]  # sums of huge or tiny ones would over- or underflow
        ratios = weights * (counts / np.bincount(self._labels, weights))[self._labels]
        shares = weighted_wins(self._order, self._labels, ratios, self._smaller_is_closer)
        return ReweightedGoodness(shares, ratios)

    def balcan_blum(self, weights: Any = None) -> SimilarityGoodness:
        """Return Balcan & Blum's (epsilon, gamma)-goodness: by how much the own class is more similar on average.

        The margin of a sample is::

            E[ w(x') K(x, x') | y' = y ] - E[ w(x') K(x, x') | y' != y ]

        with K = S / max |S_ij| over different samples, since the theory asks for ``|K| <= 1``. Unlike g it depends on
        the scale: how much more similar, not how often.

        Parameters
        ----------
        weights : array-like of shape (n,), default=None
            w, from 0 to 1; None: 1 (their "strong" goodness).

        Returns
        -------
        SimilarityGoodness
        """
        n = len(self._labels)
        weights = np.ones(n) if weights is None else _checked_weights(weights, n, "weights", largest=1.0)
        scale = largest_size(self._similarities)
        own, other = class_sums(self._similarities, self._labels, weights, scale)
        with np.errstate(invalid="ignore"):
            margins = np.where(self._n_own > 0, own / self._n_own, np.nan) - other / self._n_other
        return SimilarityGoodness(margins, scale)

    def reasonable(self, R: Any = None, *, tau: float | None = None) -> SimilarityGoodness:
        """Return Balcan, Blum & Srebro's (epsilon, gamma, tau)-goodness, from similarities to reasonable points alone.

        The margin of a sample is ``E[ y y' K(x, x') | R(x') ]``, where y y' is 1 within a class and -1 across (with
        more than two classes as well), and tau = P(R). K is as in :meth:`balcan_blum`.

        Parameters
        ----------
        R : array-like of shape (n,), default=None
            Which samples are reasonable: booleans, or probabilities from 0 to 1. None: all, or as many as ``tau`` says.
        tau : float, default=None
            Where R is not given: the share of the samples to take, the best of each class in turn. Best are the x'
            whose mean of K(x, x') over the other x of their class exceeds that over the rest most. Chosen on these
            labels, they look better than they are.

        Returns
        -------
        SimilarityGoodness
            With ``R`` and ``tau``.
        """
        n = len(self._labels)
        scale = largest_size(self._similarities)
        if R is not None:
            if tau is not None:
                raise ValueError("tau must be None where R is given: it is the share of R.")
            R = _checked_weights(R, n, "R", largest=1.0)
        else:
            R = self._most_telling(1.0 if tau is None else tau, scale)
        if not R.any():
            raise ValueError("R must hold a reasonable point; it is 0 for all samples.")
        own, other = class_sums(self._similarities, self._labels, R, scale)
        rest = R.sum() - R
        # Where x is the only reasonable point, none is left to compare it with.
        rest[rest <= 1e-12 * R.sum()] = np.nan
        return SimilarityGoodness((own - other) / rest, scale, R)

    def _most_telling(self, tau: float, scale: float) -> np.ndarray:
        n = len(self._labels)
        if not isinstance(tau, Real) or not 0 < tau <= 1:
            raise ValueError(f"tau must lie in (0, 1]; got {tau!r}.")
        gaps = column_gaps(self._similarities, self._labels, scale)
        rank = np.empty(n, dtype=np.intp)
        for label in range(self._labels.max() + 1):
            members = np.flatnonzero(self._labels == label)
            rank[members[np.argsort(-gaps[members], kind="stable")]] = np.arange(len(members))
        chosen = np.zeros(n)
        chosen[np.lexsort((-gaps, rank))[: max(1, int(np.ceil(tau * n - 1e-9)))]] = 1.0
        return chosen


class ReweightedGoodness(MarginCurve):
    """The (epsilon, gamma, B)-goodness of :meth:`Goodness.reweighted`.

    Parameters
    ----------
    shares : ndarray of shape (n,)
        g(z) with x' and x'' drawn by weight; NaN where no other sample of the class has weight.
    ratios : ndarray of shape (n,)
        The weights, scaled to mean 1 within each class: how many times more often a sample is drawn.

    Attributes
    ----------
    per_sample : ndarray of shape (n,)
        The shares.
    margins : ndarray of shape (n,)
        2 g(z) - 1.
    B : float
        The square of the largest ratio: the price in pairs, ``(16 B^2/gamma^2) ln(1/delta)`` of them (Theorem 4).
    pseudo_gamma : float
        2 mean(g) - 1.
    """

    def __init__(self, shares: np.ndarray, ratios: np.ndarray):
        super().__init__(2 * shares - 1)
        self.per_sample, self.ratios = shares, ratios
        self.B = float(ratios.max()) ** 2
        self.pseudo_gamma = float(np.mean(self._sorted))

    def __repr__(self) -> str:
        return (
            f"<ReweightedGoodness of {len(self.margins)} samples: pseudo gamma {self.pseudo_gamma:.3g}, "
            f"epsilon(0) = {self.curve(0):.3g}, B = {self.B:.3g}>"
        )


class SimilarityGoodness(MarginCurve):
    """The goodness by mean similarities of :meth:`Goodness.balcan_blum` and :meth:`Goodness.reasonable`.

    Parameters
    ----------
    margins : ndarray of shape (n,)
        In units of ``scale``.
    scale : float
        What S was divided by.
    R : ndarray of shape (n,), default=None
        The reasonable points, 0 to 1.

    Attributes
    ----------
    tau : float or None
        The share of the reasonable points.
    """

    def __init__(self, margins: np.ndarray, scale: float, R: np.ndarray | None = None):
        super().__init__(margins)
        self.scale, self.R = scale, R
        self.tau = None if R is None else float(R.mean())

    def __repr__(self) -> str:
        tau = "" if self.tau is None else f", tau = {self.tau:.3g}"
        return f"<SimilarityGoodness of {len(self.margins)} samples: epsilon(0) = {self.curve(0):.3g}{tau}>"


def _numbers(gamma: Any) -> np.ndarray:
    try:
        values = np.asarray(gamma, dtype=float)
    except (TypeError, ValueError):
        values = np.array(np.nan)
    if np.isnan(values).any():
        raise ValueError(f"gamma must be a number or an array of numbers; got {gamma!r}.")
    return values


def _checked_weights(weights: Any, n: int, name: str, largest: float = np.inf) -> np.ndarray:
    try:
        weights = np.asarray(weights, dtype=float)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} must be numbers, one for each sample: {error}") from error
    if weights.shape != (n,):
        raise ValueError(f"{name} must have one entry per sample ({n}); got shape {weights.shape}.")
    if not np.all(weights >= 0) or not np.isfinite(weights).all() or weights.max() > largest:
        span = "finite numbers of at least 0" if largest == np.inf else f"numbers from 0 to {largest:g}"
        raise ValueError(f"{name} must be {span}.")
    return weights


def _vote_weights(model: Any, n: int) -> np.ndarray:
    """Return for each training sample the sum of the coefficients of the pairs it is in."""
    check_is_fitted(model, ["pairs_", "alphas_"])
    pairs, alphas = np.asarray(model.pairs_), np.asarray(model.alphas_, dtype=float)
    if len(model.classes_) != 2:
        raise ValueError(f"weights: a boosted classifier must be of two classes; got one of {len(model.classes_)}.")
    if pairs.max() >= n:
        raise ValueError(f"weights: the classifier was trained on other samples: it has a pair beyond the {n} here.")
    return np.bincount(pairs.ravel(), np.repeat(alphas, 2), minlength=n)
