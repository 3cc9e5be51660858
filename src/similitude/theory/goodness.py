"""Measures of how well a similarity or dissimilarity separates classes, before any classifier is trained."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from similitude._utils.checks import check_interval
from similitude._utils.ids import Names, labels_in_order, names_of
from similitude._utils.types import ListLike, ProximityLike
from similitude._utils.warn import warn
from similitude.labels import check_labels, check_two_classes, numbers_by_class
from similitude.proximity.check import SimilarityWarning, check_similarity, looks_like_dissimilarity
from similitude.proximity.maps import LearnedMap, check_map
from similitude.proximity.proximities import as_proximities
from similitude.theory._pairs import (
    best_threshold,
    class_sums,
    column_gaps,
    count_wins,
    largest_size,
    needed_thresholds,
    weighted_wins,
)
from similitude.theory.curves import (
    ROUNDING,
    MarginCurve,
    ReweightedGoodness,
    SimilarityGoodness,
    numbers,
    share_limits,
)


def goodness(S: ProximityLike, y: ListLike, *, dissimilarity: str | None = None) -> Goodness:
    """Estimate the goodness of Wang et al. (2009): how often samples are closer to their own class than to others.

    For a sample z = (x, y)::

        g(z) = P( s(x, x') > s(x, x'')  |  y' = y, y'' != y )

    is estimated over all pairs of an x' != x of its class and an x'' of another; a tie counts as a failure. S is
    strongly (epsilon, gamma)-good if ``g(z) >= 1/2 + gamma/2`` for a share 1 - epsilon of the samples. Then a vote of
    ``(4/gamma^2) ln(1/delta)`` random pairs, each for the class of the closer example, has an error of at most epsilon
    + delta (:func:`~similitude.theory.bounds.pairs_needed`).

    The definition is for two classes. With more, x'' is drawn from all other classes together, one against the rest.
    Only the order within each row matters, and S need not be symmetric: row i holds psi(x_i, .). A sample that is alone
    in its class has no x'; it is left out, with a warning. Each row is sorted, which takes O(n^2 log n) in total.

    Parameters
    ----------
    S : array-like, memmap, DataFrame, sparse matrix or Proximities of shape (n, n)
        Similarities, or dissimilarities if ``dissimilarity`` is given. A matrix that can only be a dissimilarity (zero
        diagonal, positive elsewhere) is always treated as one, with a warning.
    y : array-like of shape (n,)
        Class labels, of two or more classes.
    dissimilarity : str, default=None
        The map that turns S into a similarity: see :mod:`similitude.proximity.maps`. Samples are ordered by the
        dissimilarities themselves, except for double-centring, which changes their order; the values of the map are
        only used by :meth:`~Goodness.balcan_blum` and :meth:`~Goodness.reasonable`.

    Returns
    -------
    Goodness
        The g(z) of all samples, and the curve of their margins.

    See Also
    --------
    similitude.theory.pairs_needed : Returns the number of pairs sufficient for a vote.
    DBoostClassifier : Boosts such pairs.

    References
    ----------
    Wang, Sugiyama, Yang, Hatano & Feng, "Theory and algorithm for learning with dissimilarity functions", Neural
    Computation 21, 2009, Definitions 1, 3, 5, 7 and 11. Balcan & Blum, "On a theory of learning with similarity
    functions", ICML 2006. Balcan, Blum & Srebro, "Improved guarantees for learning via similarity functions", COLT
    2008.

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
    if dissimilarity is not None:
        check_map(dissimilarity, "dissimilarity")
    y = labels_in_order(y, S)
    given = similarities = check_similarity(as_proximities(S).S, orientation="dissimilarity")
    # It could be nothing else: a similarity may have small values on its diagonal, but not only zeros.
    if dissimilarity is None and looks_like_dissimilarity(given) and not np.diagonal(given).any() and given.min() == 0:
        dissimilarity = "negate"
        warn(
            "S has a zero diagonal and is positive elsewhere, so it is treated as a dissimilarity. Pass "
            "dissimilarity='negate' to avoid this warning.",
            SimilarityWarning,
        )
    if dissimilarity is not None:
        similarities = LearnedMap.learn(given, dissimilarity, name="S")(given, name="S")
    classes, labels = np.unique(check_labels(y, given.shape[0]), return_inverse=True)
    check_two_classes(classes)
    if dissimilarity == "double-centring":
        given, dissimilarity = similarities, None
    found = Goodness(given, similarities, labels, classes, smaller_is_closer=dissimilarity is not None)
    found._names = names_of(S)
    return found


class Goodness(MarginCurve):
    """The result of :func:`goodness`.

    Parameters
    ----------
    order : array or CSR matrix of shape (n, n)
        The values by whose rows samples are ordered.
    similarities : array or CSR matrix of shape (n, n)
        The similarities.
    labels : ndarray of shape (n,)
        The classes of the samples, as positions.
    classes : ndarray of shape (G,)
        The labels of the classes.
    smaller_is_closer : bool
        Whether ``order`` holds dissimilarities.

    Attributes
    ----------
    per_sample : ndarray of shape (n,)
        g(z) of each sample; NaN if its class has no other sample.
    margins : ndarray of shape (n,)
        2 g(z) - 1, with which gamma is compared.
    pseudo_gamma : float
        2 mean(g) - 1 (Definition 11). It guarantees nothing: the vote of pairs may misclassify more than half of the
        samples although it is near 1/2 (Proposition 13). ``curve(0)`` is the error of a vote of infinitely many pairs.

    See Also
    --------
    similitude.goodness
        Estimate the goodness of Wang et al. (2009): how often samples are closer to their own class than to
        others.
    similitude.plotting.GoodnessDisplay : The goodness curve, the share epsilon of samples whose margin is below gamma.
    """

    _names: Names | None = None
    """The names of the samples, to which weights are matched."""

    def __init__(self, order: Any, similarities: Any, labels: np.ndarray, classes: np.ndarray, smaller_is_closer: bool):
        self._order, self._similarities, self._labels, self._classes = order, similarities, labels, classes
        self._smaller_is_closer = smaller_is_closer
        counts = np.bincount(labels)
        self._n_own, self._n_other = counts[labels] - 1, len(labels) - counts[labels]
        alone = int(np.sum(self._n_own == 0))
        if alone == len(labels):
            raise ValueError("y must have a class of at least two samples; each of its classes has one.")
        if alone:
            warn(f"{alone} of {len(labels)} samples are alone in their class and are left out.", SimilarityWarning)
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

    def band(self, gamma: ArrayLike, confidence: float = 0.95) -> tuple[Any, Any]:
        """Return bounds of epsilon(gamma) for the distribution that the samples come from, for all gamma at once.

        If the samples were drawn independently, the whole curve ``P(g(z) < 1/2 + gamma/2)`` lies between the two bounds
        with the given probability, whatever the distribution. There are two sources of uncertainty, and each gets half
        of 1 - confidence, called a. The first is the draw of the samples: by the inequality of Dvoretzky, Kiefer,
        Wolfowitz and Massart, the curve is moved up and down by ``sqrt(ln(2/a) / (2n))``. The second is g of each
        sample, which is estimated from the other samples. Given x it is a mean over pairs from two independent groups,
        of which the smaller has k members, so Chernoff's inequality holds as for k independent pairs (Hoeffding
        1963), for all n samples at once at the level a/n; the curve is moved left and right by the possible error of g.
        A band for the first source alone would be too narrow: if all g(z) are equal, the true curve is a step, but the
        estimated curve is a slope.

        Parameters
        ----------
        gamma : float or array-like
            The margin, or several margins.
        confidence : float, default=0.95
            The probability that the band contains the curve.

        Returns
        -------
        low, high : float or ndarray
            The bounds for each gamma.
        """
        check_interval(confidence, "confidence", "(0, 1)")
        there = ~np.isnan(self.per_sample)
        n, doubt = int(there.sum()), (1 - confidence) / 2
        smaller_group = np.minimum(self._n_own, self._n_other)[there]
        limits = share_limits(self.per_sample[there], smaller_group, doubt / n)
        width = float(np.sqrt(np.log(2 / doubt) / (2 * n)))
        most, least = (np.sort(2 * limit - 1) for limit in limits)
        at = numbers(gamma)
        low = np.maximum(np.searchsorted(least, at - ROUNDING, side="left") / n - width, 0.0)
        high = np.minimum(np.searchsorted(most, at + ROUNDING, side="left") / n + width, 1.0)
        return (float(low), float(high)) if np.ndim(gamma) == 0 else (low, high)

    def reweighted(
        self,
        weights: ArrayLike | BaseEstimator | None = None,
        *,
        thresholds: ArrayLike | Mapping[Any, float] | None = None,
    ) -> ReweightedGoodness:
        """Return the (epsilon, gamma, B)-goodness, for which x' and x'' are drawn by weight (Definition 3).

        Good weights show the quality of a vote that chooses its pairs. With thresholds it is the generalized goodness
        (Definition 5), where g(z) is the probability of ``s(x, x') - s(x, x'') + v(x', x'') > 0``. As the paper prints
        it, an infinite v would make any similarity good; the theorem uses ``v(x'', x') = -v(x', x'')``, so a pair
        has one threshold for samples of either class. Here it depends on the classes only: ``v(x', x'') = b(y') -
        b(y'')``. :meth:`~ReweightedGoodness.B_at` returns the B of the (epsilon, gamma, B, eta)-goodness (Definition
        7).

        The theorems need weights and thresholds that do not depend on these labels; with those of a classifier trained
        on them, the curve is optimistic.

        Parameters
        ----------
        weights : array-like of shape (n,), or fitted DBoostClassifier, default=None
            Weights of at least 0, not all 0 in any class; within each class they are scaled to mean 1. For a boosted
            classifier of two classes that was trained on these samples, the weight of a sample is the sum of the
            coefficients of its pairs, as in the proof of Theorem 4. None means equal weights.
        thresholds : array-like of shape (G,) or dict, default=None
            The b of each class, in the order of the sorted labels or by label, in the units of S: a number that is
            added to the similarities to its samples (subtracted from the dissimilarities). None means 0.

        Returns
        -------
        ReweightedGoodness
            The g(z) with weights and thresholds, and the curve of their margins.
        """
        if hasattr(weights, "fit"):
            weights = _vote_weights(weights, len(self._labels))
        weights = self._checked_weights(weights, "weights")
        counts = np.bincount(self._labels)
        largest = np.zeros(len(counts))
        np.maximum.at(largest, self._labels, weights)
        if not np.all(largest > 0):
            raise ValueError("weights must leave every class a sample of positive weight.")
        weights = weights / largest[self._labels]  # sums of huge or tiny ones would over- or underflow
        ratios = weights * (counts / np.bincount(self._labels, weights))[self._labels]
        n_classes = len(self._classes)
        b = np.zeros(n_classes) if thresholds is None else numbers_by_class(thresholds, self._classes, "thresholds")
        if b.shape != (n_classes,) or not np.isfinite(b).all():
            raise ValueError(
                f"thresholds must hold a finite number for each of {n_classes} classes; got {thresholds!r}."
            )
        shares = weighted_wins(self._order, self._labels, ratios, b, self._smaller_is_closer)
        return ReweightedGoodness(shares, ratios, b)

    def best_thresholds(self, gamma: float = 0.0) -> np.ndarray:
        """Return the thresholds of two classes with which the fewest samples have a margin below gamma.

        A sample of the second class reaches the margin if ``v = b(second) - b(first)`` exceeds a quantile of the
        differences ``s(x, x'') - s(x, x')``, and one of the first class if -v does, so the best v is found exactly
        by sorting these numbers. If several are best, the one nearest to 0 is returned. Each sample takes time
        proportional to the number of pairs of the two classes. Because the thresholds are chosen by these labels, a
        curve with them is optimistic.

        Parameters
        ----------
        gamma : float, default=0.0
            The margin, above -1 and at most 1.

        Returns
        -------
        ndarray of shape (2,)
            0 for the first class and v for the second, for ``reweighted(thresholds=...)``.
        """
        if len(self._classes) != 2:
            raise ValueError(f"best_thresholds needs two classes; y has {len(self._classes)}.")
        check_interval(gamma, "gamma", "(-1, 1]")
        needed = needed_thresholds(self._order, self._labels, (1 + float(gamma)) / 2, self._smaller_is_closer)
        return np.array([0.0, best_threshold(needed, self._labels)])

    def balcan_blum(self, weights: ArrayLike | None = None) -> SimilarityGoodness:
        """Return Balcan & Blum's (epsilon, gamma)-goodness, which compares mean similarities to the classes.

        The margin of a sample is::

            E[ w(x') K(x, x') | y' = y ] - E[ w(x') K(x, x') | y' != y ]

        with K = S / max ``|S_ij|`` over different samples, because the theory needs ``|K| <= 1``. Unlike g it depends
        on the values of the similarities, not only on their order.

        Parameters
        ----------
        weights : array-like of shape (n,), default=None
            The weights w, from 0 to 1. None means 1 (their "strong" goodness).

        Returns
        -------
        SimilarityGoodness
            The margins and their curve.
        """
        weights = self._checked_weights(weights, "weights", largest=1.0)
        scale = largest_size(self._similarities)
        own, other = class_sums(self._similarities, self._labels, weights, scale)
        with np.errstate(invalid="ignore"):
            margins = np.where(self._n_own > 0, own / self._n_own, np.nan) - other / self._n_other
        return SimilarityGoodness(margins, scale)

    def reasonable(self, R: ArrayLike | None = None, *, tau: float | None = None) -> SimilarityGoodness:
        """Return Balcan, Blum & Srebro's (epsilon, gamma, tau)-goodness, from similarities to reasonable points only.

        The margin of a sample is ``E[ y y' K(x, x') | R(x') ]``, where y y' is 1 within a class and -1 across (with
        more than two classes as well), and tau = P(R). K is as in :meth:`balcan_blum`.

        Parameters
        ----------
        R : array-like of shape (n,), default=None
            Which samples are reasonable: booleans, or probabilities from 0 to 1. By default all samples are, or a share
            ``tau`` of them.
        tau : float, default=None
            The share of the samples to choose if R is not given, the best of each class in turn. The best are the x'
            for which the mean of K(x, x') over the other x of their class most exceeds that over the rest. Because they
            are chosen by these labels, the result is optimistic.

        Returns
        -------
        SimilarityGoodness
            The margins and their curve, with ``R`` and ``tau``.
        """
        scale = largest_size(self._similarities)
        if R is not None:
            if tau is not None:
                raise ValueError("tau must be None if R is given, because it is the share of R.")
            R = self._checked_weights(R, "R", largest=1.0)
        else:
            R = self._best_points(1.0 if tau is None else tau, scale)
        if not R.any():
            raise ValueError("R must hold at least one reasonable point; it is 0 for all samples.")
        own, other = class_sums(self._similarities, self._labels, R, scale)
        rest = R.sum() - R
        # If x is the only reasonable point, there is no other to compare it with.
        rest[rest <= 1e-12 * R.sum()] = np.nan
        return SimilarityGoodness((own - other) / rest, scale, R)

    def _checked_weights(self, given: Any, name: str, largest: float = np.inf) -> np.ndarray:
        """Return one weight for each sample, in the order of the samples; None means 1."""
        n = len(self._labels)
        given = np.ones(n) if given is None else labels_in_order(given, self._names, name)
        try:
            weights = np.asarray(given, dtype=float)
        except (TypeError, ValueError) as error:
            raise ValueError(f"{name} must be numbers, one for each sample: {error}") from error
        if weights.shape != (n,):
            raise ValueError(f"{name} must have one entry per sample ({n}); got shape {weights.shape}.")
        if not np.all(weights >= 0) or not np.isfinite(weights).all() or weights.max() > largest:
            span = "finite numbers of at least 0" if largest == np.inf else f"numbers from 0 to {largest:g}"
            raise ValueError(f"{name} must be {span}.")
        return weights

    def _best_points(self, tau: float, scale: float) -> np.ndarray:
        n = len(self._labels)
        check_interval(tau, "tau", "(0, 1]")
        gaps = column_gaps(self._similarities, self._labels, scale)
        rank = np.empty(n, dtype=np.intp)
        for label in range(self._labels.max() + 1):
            members = np.flatnonzero(self._labels == label)
            rank[members[np.argsort(-gaps[members], kind="stable")]] = np.arange(len(members))
        chosen = np.zeros(n)
        chosen[np.lexsort((-gaps, rank))[: max(1, int(np.ceil(tau * n - 1e-9)))]] = 1.0
        return chosen


def _vote_weights(model: Any, n: int) -> np.ndarray:
    """Return for each training sample the sum of the coefficients of the pairs it is in."""
    check_is_fitted(model, ["pairs_", "alphas_"])
    pairs, alphas = np.asarray(model.pairs_), np.asarray(model.alphas_, dtype=float)
    if len(model.classes_) != 2:
        raise ValueError(f"weights: a boosted classifier must have two classes; got one with {len(model.classes_)}.")
    if pairs.max() >= n:
        raise ValueError(f"weights: the classifier must be trained on these {n} samples; it has a pair beyond them.")
    return np.bincount(pairs.ravel(), np.repeat(alphas, 2), minlength=n)
