"""DBoost: boosting of classifiers that compare the similarities of a sample to two training samples."""

from __future__ import annotations

from collections.abc import Iterator
from numbers import Integral

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from similitude.base import SimilarityClassifier
from similitude.boosting._dboost_path import NO_PROBABILITIES, DBoostPath, predicted_classes
from similitude.boosting._ensemble import Ensemble, problem_signs
from similitude.boosting._rounds import Rounds, boosted_rounds, voted_rounds
from similitude.labels import check_labels
from similitude.proximity.check import dense
from similitude.proximity.split import cut

_ALGORITHMS = ("discrete", "real", "vote")
_SCHEMES = ("ovo", "ovr")
_LARGEST = 1e300


class DBoostClassifier(SimilarityClassifier):
    """Vote with classifiers that each compare the similarities to one positive and one negative training sample.

    A base classifier is given by a pair of training samples, x+ of the positive and x- of the negative class, and a
    threshold v::

        h(x) = sgn[psi(x, x+) - psi(x, x-) + v],   sgn(0) = -1

    In each of T rounds M pairs are drawn, x+ among the positive samples by their current weights D and x- among the
    negative ones. For each pair v is the middle between neighbouring values of the difference (or infinite, at the two
    ends) with the least weighted error; the best pair is taken, with ``gamma = sum D y h(x)``, and AdaBoost goes on::

        alpha = log((1 + gamma) / (1 - gamma)) / 2,   D <- D exp(-alpha y h(x)) / Z,   f(x) = sum alpha_t h_t(x)

    The share of misclassified training samples is at most the product of ``sqrt(1 - gamma_t^2)``. gamma is capped at
    1 - 1e-10, so that a perfect pair has a finite coefficient and boosting goes on. RealBoost (``algorithm="real"``)
    takes the cut with the least ``Z = 2 sqrt(W+ W-)``, summed over its two sides with W+ and W- the weights of both
    classes there, and adds ``log((W+ + 1/n) / (W- + 1/n)) / 2`` of the side of x to f(x). ``algorithm="vote"`` is the
    plain vote: T pairs drawn once, v = 0, all alike.

    Only differences within a row matter: the classifier is the same for ``a psi(x, x') + b(x)``, any a > 0 and any
    function b of the new sample. So ``dissimilarity="negate"`` and ``"max-minus"`` give the same classifier, up to
    rounding; but other increasing maps give another, for thresholds act on differences. The similarity may be
    asymmetric: rows psi(x, .) are taken as they are.

    Two classes: the second is positive; decision values of 0 go to the first; except for the plain vote, the
    probability of the second is ``1 / (1 + exp(-2 f(x)))``. More than two: one problem for each pair of classes, and
    the class is predicted that wins most of them, ties going to the larger sum of margins; or one for each class
    against the rest, and the class with the largest margin is predicted. ``PathSearchCV`` serves all ``n_rounds`` by
    one run.

    Parameters
    ----------
    n_rounds : int, default=1000
        T.
    n_pairs : int, default=100
        M, the pairs that are tried in each round; the plain vote does not try any.
    algorithm : {"discrete", "real", "vote"}, default="discrete"
        AdaBoost, RealBoost or the plain vote.
    multiclass : {"ovo", "ovr"}, default="ovo"
        One problem for each pair of classes, or for each class against the rest.
    random_state : int, RandomState instance or None, default=None
        What pairs are drawn. The same seed gives the same classifier, however many threads there are.
    similarity, dissimilarity
        The input contract: see the page on input.

    Attributes
    ----------
    classes_ : ndarray of shape (G,)
    pairs_ : ndarray of shape (T, 2), or a list of them
        The positions of x+ and x- in the training set. With more than two classes here and below one for each problem:
        the pairs (0, 1), (0, 2), ... of classes, the later one positive; or the classes, each against the rest.
    thresholds_ : ndarray of shape (T,), or a list of them
        v.
    alphas_ : ndarray of shape (T,), or a list of them
        The coefficients; of RealBoost, (T, 2): what is added to f(x) for h(x) = -1 and for h(x) = 1.
    n_rounds_ : int
    support_columns_ : ndarray
        The training samples to which new samples' similarities are needed, ascending: those in ``pairs_``.

    References
    ----------
    Wang, Sugiyama, Yang, Hatano & Feng, "Theory and algorithm for learning with dissimilarity functions", Figures 2 and
    3 (whose h has the sign turned) and Theorem 2. Schapire & Singer, "Improved boosting algorithms using
    confidence-rated predictions", Machine Learning 37, 1999, Section 4. Friedman, Hastie & Tibshirani, "Additive
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
        n_rounds=1000,
        n_pairs=100,
        algorithm="discrete",
        multiclass="ovo",
        random_state=None,
        *,
        similarity="precomputed",
        dissimilarity=None,
    ):
        self.n_rounds = n_rounds
        self.n_pairs = n_pairs
        self.algorithm = algorithm
        self.multiclass = multiclass
        self.random_state = random_state
        self.similarity = similarity
        self.dissimilarity = dissimilarity

    @property
    def _responses(self) -> tuple[str, ...]:  # type: ignore[override]
        path = vars(self).get("_path")
        offered = path is not None and path.has_probabilities
        return ("predict", "decision_function", *(("predict_proba",) if offered else ()))

    def _why_not(self, response):
        return NO_PROBABILITIES if response == "predict_proba" else super()._why_not(response)

    def fit(self, X, y, sample_weight=None):
        """Choose the pairs, thresholds and coefficients.

        Parameters
        ----------
        X : training samples
            As ``similarity`` and ``dissimilarity`` say: see the page on input.
        y : array-like of shape (n,)
            The labels.
        sample_weight : array-like of shape (n,), default=None
            The weights of the first round; None: all alike.

        Returns
        -------
        self
        """
        return self._fit(X, y, sample_weight)

    def _point(self, parameters):
        for name, value in (("n_rounds", parameters["n_rounds"]), ("n_pairs", self.n_pairs)):
            if not isinstance(value, Integral) or isinstance(value, bool) or value < 1:
                raise ValueError(f"{name} must be a whole number of at least 1; got {value!r}.")
        for name, known in (("algorithm", _ALGORITHMS), ("multiclass", _SCHEMES)):
            if getattr(self, name) not in known:
                raise ValueError(f"{name} must be one of {known}; got {getattr(self, name)!r}.")
        return int(parameters["n_rounds"])

    def _fit_path(self, training, labels, points):
        S, n_rounds = training.S, max(points)
        largest = float(max(S.max(), -S.min()))
        if largest > _LARGEST:
            raise ValueError(f"X: the largest similarity is {largest:.0e}; rescale X, or differences overflow.")
        weights = labels.sample_weight
        weights = np.ones(len(labels)) if weights is None else weights / weights.max()
        signs = problem_signs(labels.n_classes, self.multiclass)
        seeds = check_random_state(self.random_state).randint(2**31 - 1, size=len(signs))

        def solve(problem: int) -> Rounds:
            # A sample of weight 0 is as good as absent.
            y = np.where(weights > 0, signs[problem][labels.codes], 0)
            order = np.concatenate([np.flatnonzero(y > 0), np.flatnonzero(y < 0)])
            n_positive, own, seed = int(np.sum(y > 0)), weights[order], seeds[problem]
            if self.algorithm == "vote":
                rounds = voted_rounds(n_positive, own, n_rounds, seed)
            else:
                columns, real = np.ascontiguousarray(dense(cut(S.T, order, order))), self.algorithm == "real"
                rounds = boosted_rounds(columns, n_positive, own, n_rounds, int(self.n_pairs), seed, real)
            return rounds._replace(pairs=order[rounds.pairs])

        return DBoostPath(points, Ensemble.solve(signs, self.algorithm == "vote", solve), self.algorithm)

    def decision_function(self, X):
        """Return the decision values.

        Parameters
        ----------
        X : samples
            Rows of similarities to the training samples, or raw objects.

        Returns
        -------
        ndarray of shape (m,) or (m, G)
            Two classes: f(x), positive for the second class (the plain vote: the mean vote). More: the number of pairs
            that a class wins, and less than a third, up or down, for the sum of its margins; one-vs-rest: its margin.
        """
        return super().decision_function(X)

    def staged_decision_function(self, X) -> Iterator[np.ndarray]:
        """Yield the decision function after 1, 2, ..., ``n_rounds_`` rounds.

        Parameters
        ----------
        X : samples
            Rows of similarities to the training samples, or raw objects.

        Yields
        ------
        ndarray of shape (m,) or (m, G)
        """
        yield from self._path.ensemble.staged_scores(self._similarities(X))

    def staged_predict(self, X) -> Iterator[np.ndarray]:
        """Yield the predicted classes after 1, 2, ..., ``n_rounds_`` rounds.

        Parameters
        ----------
        X : samples
            Rows of similarities to the training samples, or raw objects.

        Yields
        ------
        ndarray of shape (m,)
        """
        for scores in self.staged_decision_function(X):
            yield self.classes_[predicted_classes(scores)]

    def margins(self, X, y):
        """Return how clearly each sample is put into its class.

        The margin of a two-class problem is ``y f(x) / sum alpha`` (RealBoost: the sum of its rounds' largest outputs).
        One-vs-one: the least of the problems that y takes part in (a class may win without winning all of them).
        One-vs-rest: half of the difference between that of y and the largest of the others.

        Parameters
        ----------
        X : samples
            Rows of similarities to the training samples, or raw objects.
        y : array-like of shape (m,)
            The classes of the samples.

        Returns
        -------
        ndarray of shape (m,)
            From -1 to 1; where it is above 0, y is predicted.
        """
        rows = self._similarities(X)
        y = check_labels(y, len(rows))
        unknown = np.setdiff1d(y, self.classes_)
        if len(unknown):
            raise ValueError(f"y has the class {unknown.tolist()[0]!r}, which was not in fit.")
        return self._path.ensemble.margins(rows, np.searchsorted(self.classes_, y))

    def _similarities(self, X):
        check_is_fitted(self)
        return self._path.similarities(self._rows(X))
