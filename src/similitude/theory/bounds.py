"""Error bounds, and the number of pairs that is sufficient for an error."""

from __future__ import annotations

import math
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from similitude._utils.checks import check_integer, check_interval
from similitude._utils.ids import labels_in_order
from similitude._utils.types import ListLike, SamplesLike
from similitude.base import path_of, read_rows, reader_of
from similitude.kernel.similarity_svc import SimilaritySVC
from similitude.labels import check_labels
from similitude.numerics.eigen import eigh, modified_matrix
from similitude.proximity.check import dense
from similitude.proximity.symmetry import mean_of_directions
from similitude.transform.similarity_features import SimilarityFeatures


class Promise(NamedTuple):
    """The guarantee for a vote of n pairs."""

    error: float
    confidence: float
    margin: float


class GeneralizationBound(NamedTuple):
    """A bound of the error, and its terms.

    Parameters
    ----------
    bound : float
        The sum of the other three. A bound of 1 or more is not informative.
    empirical_risk, capacity, deviation : float
        The terms of the bound.

    See Also
    --------
    generalization_bound
        Return a bound of the error of an SVM on similarities that holds with probability at least 1 - delta.
    """

    bound: float
    empirical_risk: float
    capacity: float
    deviation: float


def pairs_needed(gamma: float, delta: float, *, B: float | None = None, eta: float | None = None) -> int:
    """Return the number of pairs of examples that is sufficient for a (dis)similarity of this goodness.

    With probability at least 1 - delta over the draw of this number of pairs, with one example of each class, a vote of
    the pairs has an error of at most epsilon + delta:

    ====================================  =======================================  ==================================
    goodness                              pairs                                    of the vote
    ====================================  =======================================  ==================================
    strong (epsilon, gamma)               (4 / gamma^2) ln(1/delta)                every pair counts 1 (Theorem 2)
    (epsilon, gamma, B)                   (16 B^2 / gamma^2) ln(1/delta)           some convex combination, at margin
                                                                                   gamma/(2B) (Theorem 4)
    (epsilon, gamma, B, eta)              (16 B^2 / gamma^2) ln(2/delta)           as above (Theorem 8), provided
                                                                                   eta <= gamma^2 delta /
                                                                                   (64 B^2 ln(2/delta))
    ====================================  =======================================  ==================================

    Parameters
    ----------
    gamma : float
        Margin of the goodness, in (0, 1].
    delta : float
        The probability of failure, and the error above epsilon, in (0, 1).
    B : float, default=None
        The square of the largest ratio of reweighted to true density, at least 1. None means strong goodness.
    eta : float, default=None
        The share of examples for which the ratio may be larger.

    Returns
    -------
    int
        The number of pairs.

    See Also
    --------
    error_bound : Return the error that the theorems of ``pairs_needed`` guarantee for a vote of ``n_pairs`` pairs.
    similitude.goodness
        Estimate the goodness of Wang et al. (2009): how often samples are closer to their own class than to
        others.

    References
    ----------
    Wang et al., "Theory and algorithm for learning with dissimilarity functions", 2009, Theorems 2, 4 and 8.

    Examples
    --------
    >>> from similitude.theory import pairs_needed
    >>> pairs_needed(0.5, 0.05), pairs_needed(0.5, 0.05, B=4)
    (48, 3068)
    """
    check_interval(gamma, "gamma", "(0, 1]")
    check_interval(delta, "delta", "(0, 1)")
    _check_weighting(B, eta)
    if eta is not None:
        assert B is not None
        most = (gamma / (8 * B)) ** 2 * delta / math.log(2 / delta)
        if eta > most:
            raise ValueError(
                f"eta must be at most gamma^2 delta / (64 B^2 ln(2/delta)) = {most:.3g} for Theorem 8; got {eta!r}."
            )
    rate = _rate(gamma, B)
    number = math.log((1 if eta is None else 2) / delta) / rate if rate > 0 else math.inf
    if not number < 2**63:
        raise ValueError(f"gamma and B need more pairs than can be counted: gamma = {gamma!r}, B = {B!r}.")
    return math.ceil(number)


def error_bound(
    epsilon: float, gamma: float, n_pairs: int, *, B: float | None = None, eta: float | None = None
) -> Promise:
    """Return the error that the theorems of :func:`pairs_needed` guarantee for a vote of ``n_pairs`` pairs.

    The theorems are solved for delta: ``exp(-n gamma^2 / 4)``, ``exp(-n gamma^2 / (16 B^2))``, or with eta the larger
    of ``2 exp(-n gamma^2 / (16 B^2))`` and ``4 n eta``, because in the proof of Theorem 8 n pairs hold a bad example
    with probability 2 n eta, which may be delta/2.

    Parameters
    ----------
    epsilon : float
        The share of samples that the goodness leaves out, in [0, 1].
    gamma : float
        Margin of the goodness, in (0, 1].
    n_pairs : int
        The number of pairs.
    B, eta : float, default=None
        As in :func:`pairs_needed`.

    Returns
    -------
    Promise
        ``error`` is epsilon + delta, at most 1; ``confidence`` is 1 - delta; ``margin``, at which the error is counted,
        is 0 for the plain vote and gamma/(2B) for the combination.

    See Also
    --------
    pairs_needed : Return the number of pairs of examples that is sufficient for a (dis)similarity of this goodness.
    similitude.goodness
        Estimate the goodness of Wang et al. (2009): how often samples are closer to their own class than to
        others.

    Examples
    --------
    >>> from similitude.theory import error_bound
    >>> promise = error_bound(epsilon=0.1, gamma=0.5, n_pairs=48)
    >>> round(promise.error, 4), round(promise.confidence, 4), promise.margin
    (0.1498, 0.9502, 0.0)
    """
    check_interval(epsilon, "epsilon", "[0, 1]")
    check_interval(gamma, "gamma", "(0, 1]")
    check_integer(n_pairs, "n_pairs", 1)
    _check_weighting(B, eta)
    delta = math.exp(-n_pairs * _rate(gamma, B))
    if eta is not None:
        delta = max(2 * delta, 4 * n_pairs * eta)
    delta = min(delta, 1.0)
    return Promise(min(epsilon + delta, 1.0), 1 - delta, 0.0 if B is None else gamma / (2 * B))


def generalization_bound(
    kind: Literal["kernel", "features"],
    *,
    n: int,
    beta: float,
    kappa: float,
    empirical_risk: float,
    delta: float = 0.05,
    m: int | None = None,
) -> GeneralizationBound:
    """Return a bound of the error of an SVM on similarities that holds with probability at least 1 - delta.

    ::

        kernel     P(y f(x) <= 0)  <=  risk + 4 beta kappa sqrt(1/n)            + sqrt(ln(2/delta) / (2 n))
        features   P(y f(x) <= 0)  <=  risk + 4 beta kappa^2 sqrt(m / (n - m))  + sqrt(ln(2/delta) / (2 (n - m)))

    The risk is the mean of the hinge loss cut at 1, ``min(max(0, 1 - y f(x)), 1)``. Both bounds hold for f without
    intercept and a beta fixed beforehand.

    Parameters
    ----------
    kind : {"kernel", "features"}
        The similarity as a positive semidefinite kernel, ``f(s) = w^T s`` with ``w^T S w <= beta^2``; or the
        similarities to m prototypes, drawn from the n samples, as features, ``||w|| <= beta``.
    n : int
        The number of samples, including the prototypes.
    beta : float
        Bound of the norm.
    kappa : float
        Kernel: ``psi(x, x) <= kappa^2``. Features: ``|psi(x, x')| <= kappa^2``.
    empirical_risk : float
        The risk on the n samples, or for "features" on the n - m samples that are no prototypes.
    delta : float, default=0.05
        The probability that the bound does not hold.
    m : int, default=None
        The number of prototypes, fewer than n.

    Returns
    -------
    GeneralizationBound
        The bound and its three terms.

    See Also
    --------
    generalization_bound_of
        Return the ``generalization_bound`` with beta, kappa and the risk of a fitted model of two classes.
    GeneralizationBound : A bound of the error, and its terms.

    References
    ----------
    Chen, Garcia, Gupta, Rahimi & Cazzanti, JMLR 10, 2009, Theorems 1 and 2. Two errors in Theorem 2 are corrected: the
    absolute value of the similarity must be bounded, and the sums are over n - m samples.

    Examples
    --------
    >>> from similitude.theory import generalization_bound
    >>> found = generalization_bound("kernel", n=10000, beta=2.0, kappa=1.0, empirical_risk=0.1)
    >>> [round(term, 4) for term in found]
    [0.1936, 0.1, 0.08, 0.0136]
    """
    check_integer(n, "n", 1)
    check_interval(delta, "delta", "(0, 1)")
    check_interval(empirical_risk, "empirical_risk", "[0, 1]")
    check_interval(beta, "beta", "[0, inf)")
    check_interval(kappa, "kappa", "[0, inf)")
    if kind == "kernel":
        if m is not None:
            raise ValueError(f"m must be None for kind='kernel', which has no prototypes; got {m!r}.")
        counted, capacity = n, 4 * beta * kappa * math.sqrt(1 / n)
    elif kind == "features":
        check_integer(m, "m", 1)
        assert m is not None
        if m >= n:
            raise ValueError(f"m must be smaller than n, so that samples are left to count errors; got {m} of {n}.")
        counted, capacity = n - m, 4 * beta * kappa * kappa * math.sqrt(m / (n - m))
    else:
        raise ValueError(f"kind must be 'kernel' or 'features'; got {kind!r}.")
    deviation = math.sqrt(math.log(2 / delta) / (2 * counted))
    return GeneralizationBound(empirical_risk + capacity + deviation, float(empirical_risk), capacity, deviation)


def generalization_bound_of(
    model: BaseEstimator, X: SamplesLike, y: ListLike, *, prototypes: ArrayLike | None = None, delta: float = 0.05
) -> GeneralizationBound:
    """Return the :func:`generalization_bound` with beta, kappa and the risk of a fitted model of two classes.

    ==================================  ===============================================================================
    SimilaritySVC                       K its kernel, the similarity after the change of spectrum, and f(x_i) = (K w)_i
                                        + b with w_i = y_i alpha_i: beta^2 = w^T K w, kappa^2 = max K_ii
    linear model on similarities, or    beta = ||coef_||, kappa^2 = the largest size of a feature, the risk on the
    a pipeline that ends in one         samples that are no prototypes
    ==================================  ===============================================================================

    The result is indicative and not a guarantee. The theorems need a norm bound that is fixed beforehand and f without
    intercept, but beta was found by training; kappa should hold for all possible samples, but is that of these; and the
    intercept is part of the risk, which makes it smaller.

    Parameters
    ----------
    model : fitted SimilaritySVC, linear classifier with ``coef_``, or Pipeline that ends in one
        The model.
    X : as in the model's ``fit``
        The training samples: for SimilaritySVC the square training matrix (or the raw objects), for a linear model the
        similarities of the samples to the prototypes.
    y : array-like of shape (n,)
        The labels.
    prototypes : array-like of int, default=None
        Rows of X that are prototypes. By default these are the ``prototypes_`` of the pipeline's first step, if it has
        any.
    delta : float, default=0.05
        The probability that the bound does not hold.

    Returns
    -------
    GeneralizationBound
        The bound and its three terms.

    See Also
    --------
    generalization_bound
        Return a bound of the error of an SVM on similarities that holds with probability at least 1 - delta.
    similitude.PotentialSVC
        Classify by the potential support vector machine, a sparse linear function of the similarities.

    Examples
    --------
    >>> from similitude import SimilaritySVC
    >>> from similitude.theory import generalization_bound_of
    >>> S = [[3, 2, 0, 1], [2, 3, 1, 0], [0, 1, 3, 2], [1, 0, 2, 3]]
    >>> model = SimilaritySVC().fit(S, [0, 0, 1, 1])
    >>> found = generalization_bound_of(model, S, [0, 0, 1, 1])
    >>> round(found.empirical_risk, 3), round(found.capacity, 2)  # four samples are too few for a useful bound
    (0.0, 3.46)
    """
    check_is_fitted(model)
    if len(model.classes_) != 2:
        raise ValueError(f"model must be of two classes; it was fitted to {len(model.classes_)}.")
    y = labels_in_order(y, X)
    if isinstance(model, SimilaritySVC):
        if prototypes is not None:
            raise ValueError("prototypes must be None for SimilaritySVC, which has no prototypes.")
        values, beta, kappa = _read_kernel(model, X)
        risk = _truncated_hinge(values, y, model.classes_)
        return generalization_bound(
            "kernel", n=len(values), beta=beta, kappa=kappa, empirical_risk=float(risk.mean()), delta=delta
        )
    features, linear, others = _read_features(model, X, prototypes)
    risk = _truncated_hinge(linear.decision_function(features), y, model.classes_)[others]
    return generalization_bound(
        "features",
        n=len(others) + features.shape[1],
        m=features.shape[1],
        beta=float(np.linalg.norm(linear.coef_)),
        kappa=math.sqrt(float(np.max(np.abs(features)))),
        empirical_risk=float(risk.mean()) if len(risk) else 0.0,
        delta=delta,
    )


def _read_features(model: Any, X: Any, prototypes: Any) -> tuple[np.ndarray, Any, np.ndarray]:
    """Return the features of the linear model, that model, and the rows that are no prototypes."""
    features, linear = X, model
    if isinstance(model, Pipeline):
        features, linear = (model[:-1].transform(X) if len(model) > 1 else X), model[-1]
        if prototypes is None and not (isinstance(model[0], SimilarityFeatures) and reader_of(model[0]).is_columns):
            prototypes = getattr(model[0], "prototypes_", None)
    if not hasattr(linear, "coef_"):
        raise ValueError(f"model must be a SimilaritySVC or linear, with coef_; got {type(linear).__name__}.")
    features = dense(features)
    n, m = features.shape
    others = np.delete(np.arange(n), [] if prototypes is None else np.unique(prototypes))
    if prototypes is not None and n - len(others) != m:
        raise ValueError(f"prototypes must be a row of X for each of the {m} features; got {n - len(others)}.")
    return features, linear, others


def _read_kernel(model: SimilaritySVC, X: Any) -> tuple[np.ndarray, float, float]:
    """Return the decision values of the training samples, beta and kappa."""
    spectrum = path_of(model).points[0].spectrum
    if spectrum == "none" and model.indefinite_:
        raise ValueError(
            "model: with spectrum='none' the kernel is indefinite and has no norm; choose another spectrum."
        )
    S = dense(read_rows(model, X).S).astype(np.float64)
    if S.shape[0] != S.shape[1]:
        raise ValueError(f"X must be the square matrix that the model was fitted on; got shape {S.shape}.")
    symmetric = mean_of_directions(S)
    K = modified_matrix(S if spectrum == "square" else symmetric, spectrum, *eigh(symmetric))
    w = np.zeros(len(K))
    w[model.support_] = model.dual_coef_[0]
    values = K @ w
    size, total = float(w @ values), float(np.abs(w).sum())
    if abs(total - size / 2 - model.objective_) > 1e-4 * total:
        raise ValueError("X must be the data that the model was fitted on; the objective has another value on this X.")
    return values + model.intercept_[0], math.sqrt(max(size, 0.0)), math.sqrt(max(float(np.diagonal(K).max()), 0.0))


def _truncated_hinge(values: np.ndarray, y: Any, classes: np.ndarray) -> np.ndarray:
    y = check_labels(y, len(values))
    if not np.isin(y, classes).all():
        raise ValueError(f"y must have the model's classes, {classes.tolist()}.")
    signs = np.where(y == classes[1], 1.0, -1.0)
    return np.clip(1 - signs * values, 0.0, 1.0)


def _rate(gamma: float, B: float | None) -> float:
    """Return the amount by which one pair lowers the logarithm of delta."""
    return (gamma / 2) ** 2 if B is None else (gamma / (4 * B)) ** 2


def _check_weighting(B: Any, eta: Any) -> None:
    if B is not None:
        check_interval(B, "B", "(0, inf)")
        if B < 1:
            raise ValueError(f"B must be at least 1, because the largest ratio of two densities is; got {B!r}.")
    if eta is not None:
        if B is None:
            raise ValueError("eta needs B; pass both.")
        check_interval(eta, "eta", "[0, 1]")
