"""SVM-KNN: a support vector machine for each test sample, trained on its neighbours."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from similitude.base import SimilarityClassifier, check_labels, check_positive, unchanged_on_failure
from similitude.neighbors._search import NeighborSearch
from similitude.numerics.threads import over_row_blocks
from similitude.numerics.topk import check_n_neighbors, top_k
from similitude.proximity.check import for_lookup
from similitude.proximity.symmetry import warn_of_asymmetry

SPECTRA = ("clip", "flip", "shift", "none")

_ROWS = 16


class LocalSVC(NeighborSearch, SimilarityClassifier):
    """Classify by a support vector machine trained on the k most similar training samples (SVM-KNN).

    For each test sample x the similarities S among its k neighbours are made a kernel K, its own similarities s to
    them are treated alike, and one machine is trained for each pair of classes among the neighbours::

        minimise  alpha^T Q alpha / 2 - sum alpha   over   0 <= alpha <= C,  y^T alpha = 0,   Q_ij = y_i y_j K_ij

    ===========  =============================  =============================================
    spectrum     K, with S = V diag(lambda) V'  s becomes
    ===========  =============================  =============================================
    clip         V diag(max(lambda, 0)) V'      P s, P = V diag(lambda > 0) V'
    flip         V diag(abs(lambda)) V'         P s, P = V diag(sgn lambda) V'
    shift        S + abs(min(lambda_min, 0)) I  s
    none         S                              s
    ===========  =============================  =============================================

    Equally similar training samples are taken in their order in the training set. Of a pair of classes the later wins
    from a decision value of 0 up, and the class that wins most pairs is predicted, ties going to the first, as in
    libsvm; decision values that rounding cannot tell from 0 are 0. Where all neighbours are of one class it is
    predicted at once; a class without a neighbour cannot win. With ``spectrum="none"`` the machines may not be convex:
    a point where the first-order conditions hold is all that is promised.

    S is made symmetric, ``(S + S^T)/2``, with a warning where it was not; rows psi(x, .) are taken as they are. The
    training matrix is kept without a copy, and only its entries among neighbours are read. ``PathSearchCV`` takes a
    whole grid of the three parameters at the price of one neighbour sort, one decomposition for each sample, k and
    spectrum, and one climb through the values of C.

    Parameters
    ----------
    n_neighbors : int, default=5
        k; more than there are samples means all of them.
    C : float, default=1.0
        Bound of the dual variables: the larger, the less is a sample allowed to lie on the wrong side.
    spectrum : {"clip", "flip", "shift", "none"}, default="clip"
        How the similarities among the neighbours are made positive semidefinite.
    search : {"matrix", "stream", "graph"}, StreamSearch, GraphSearch or ClusterSearch, default="matrix"
        How neighbours of raw objects are found: from whole rows of similarities, from blocks that are not kept (the
        same answers), or by a neighbour graph (approximate, far fewer similarities). See the page on neighbour search.
    similarity, dissimilarity
        The input contract: see the page on input.

    Attributes
    ----------
    classes_ : ndarray of shape (G,)
    n_neighbors_ : int
        min(n_neighbors, n).
    n_evaluations_, n_evaluations_per_query_ : int, float
        Where ``search`` is not "matrix": similarities computed by ``fit``, and for a sample by the last query.

    References
    ----------
    Zhang, Berg, Maire & Malik, "SVM-KNN: Discriminative nearest neighbor classification for visual category
    recognition", CVPR 2006. Chen, Garcia, Gupta, Rahimi & Cazzanti, JMLR 10, 2009, Sections 2 and 5.

    Examples
    --------
    >>> from similitude import LocalSVC
    >>> S = [[3, 2, 0, 1], [2, 3, 1, 0], [0, 1, 3, 2], [1, 0, 2, 3]]
    >>> model = LocalSVC(n_neighbors=3).fit(S, ["a", "a", "b", "b"])
    >>> model.predict([[2, 3, 1, 0], [0, 1, 2, 3]])
    array(['a', 'b'], dtype='<U1')
    >>> model.decision_function([[2, 3, 1, 0], [0, 1, 2, 3]]).round(3)
    array([-1. ,  0.5])
    """

    _path_parameters = ("n_neighbors", "C", "spectrum")

    def __init__(
        self,
        n_neighbors=5,
        C=1.0,
        spectrum="clip",
        *,
        search="matrix",
        similarity="precomputed",
        dissimilarity=None,
    ):
        self.n_neighbors = n_neighbors
        self.C = C
        self.spectrum = spectrum
        self.search = search
        self.similarity = similarity
        self.dissimilarity = dissimilarity

    def fit(self, X, y):
        """Keep the training similarities and labels."""
        check_parameters(self.n_neighbors, self.C, self.spectrum)
        searcher = self._searcher()
        with unchanged_on_failure(self):
            if searcher is None:
                S = self._fit_matrix(X, y)
                n = S.shape[0]
                warn_of_asymmetry("LocalSVC", S)
                self._S = for_lookup(S)
            else:
                n, self._S = self._fit_search(searcher, X, y), None
            self._set_labels(check_labels(y, n))
            self.n_neighbors_ = min(int(self.n_neighbors), n)
            # set_params after fit changes what the next fit does, not what this one has done.
            self._point = self.n_neighbors_, self.C, self.spectrum
        return self

    def predict(self, X):
        """The class that wins most pairs for each row."""
        return self._answer(X, "predict")

    def decision_function(self, X):
        """Two classes: the decision value, of shape (m,), positive for the second class; else scores, (m, G).

        A class's score is the number of pairs it wins, and less than a third, up or down, for the sum of its decision
        values; the class that is predicted has the largest. A class without a neighbour has the score -1. Where
        all neighbours are of one class its score is 1 (with two classes: the decision value is -1 or 1).
        """
        return self._answer(X, "decision_function")

    def _answer(self, X, response):
        check_is_fitted(self)
        return self._answers(self._S, self._nearest(X, self._point[0]), [self._point], response)[0]

    def _predict_path(self, S_train, y_train, S_test, grid, response="predict"):
        """One prediction (or decision function) per grid point, sharing all but the machines."""
        n = len(y_train)
        if S_test.shape[1] != n:
            raise ValueError(f"S_test must have a column for each of {n} labels; got {S_test.shape[1]}.")
        points = []
        for parameters in grid:
            k, C, spectrum = (parameters.get(name, getattr(self, name)) for name in self._path_parameters)
            check_parameters(k, C, spectrum)
            points.append((min(int(k), n), C, spectrum))
        self._set_labels(y_train)
        S_train, S_test = self._path_similarities(S_train, S_test)
        neighbors = top_k(S_test, max(k for k, _, _ in points))
        return self._answers(for_lookup(S_train), neighbors, points, response)

    def _answers(self, S, neighbors, points, response):
        """Predictions or decision functions for several ``(k, C, spectrum)`` from one neighbour sort."""
        sizes, at_size = np.unique([k for k, _, _ in points], return_inverse=True)
        costs, at_cost = np.unique([float(C) for _, C, _ in points], return_inverse=True)
        spectra = list(dict.fromkeys(spectrum for _, _, spectrum in points))
        chosen = [spectra.index(spectrum) for _, _, spectrum in points], at_size, at_cost
        parts = []
        for rows in self._lookup_blocks(S, *neighbors[1].shape):
            similarities, indices = (part[rows] for part in neighbors)
            known = self._lookup(S, indices)
            if S is None and not self._measure.symmetric:
                warn_of_asymmetry("LocalSVC", known)
            task = _LocalMachines(known, self._labels, len(self.classes_), sizes, costs, spectra, chosen)
            parts.append(task(similarities, indices, response))
        answers = np.concatenate(parts)
        if response == "predict":
            answers = self.classes_[answers]
        return list(np.moveaxis(answers, 1, 0))


def check_parameters(n_neighbors: Any, C: Any, spectrum: Any) -> None:
    """Refuse values that are no parameters of LocalSVC."""
    check_n_neighbors(n_neighbors)
    check_positive(C, "C")
    if not isinstance(spectrum, str) or spectrum not in SPECTRA:
        raise ValueError(f"spectrum must be one of {SPECTRA}; got {spectrum!r}.")


class _LocalMachines:
    """The machines of all test samples, for the chosen ``(spectrum, size, C)``, given by their positions."""

    def __init__(self, S, labels, n_classes, sizes, costs, spectra, chosen):
        from similitude.neighbors._local_spectrum import SPECTRA as CODES

        self.S, self.labels, self.n_classes = S, labels, n_classes
        self.sizes, self.costs, self.spectra = sizes, costs, [CODES[spectrum] for spectrum in spectra]
        self.chosen = (slice(None), *chosen)
        self.wanted = np.zeros((len(spectra), len(sizes), len(costs)), dtype=bool)
        self.wanted[tuple(chosen)] = True
        # Where all neighbours are of one class; of two classes the sign of one score tells which.
        self.alone = 2.0 * np.eye(n_classes) - 1.0 if n_classes > 2 else np.array([[-1.0], [1.0]])

    def __call__(self, similarities, indices, response):
        """Positions of the predicted classes, or decision functions: (m, points) or (m, points, G)."""
        classes = self.labels[indices]
        parts, failures = {}, []

        def work(start: int, stop: int) -> None:
            rows = slice(start, stop)
            scores, failed = self._scores(similarities[rows], indices[rows], classes[rows])
            parts[start] = self._answer(scores[self.chosen], response)
            failures.append(failed)

        over_row_blocks(work, len(indices), _ROWS)
        if sum(failures):
            warnings.warn(
                f"LocalSVC: {sum(failures)} machines were not solved to full accuracy; a smaller C or "
                "spectrum='clip' helps.",
                ConvergenceWarning,
                stacklevel=4,
            )
        return np.concatenate([parts[start] for start in sorted(parts)])

    def _answer(self, scores, response):
        if response == "decision_function":
            return scores if self.n_classes > 2 else scores[..., 0]
        return np.argmax(scores, axis=-1) if self.n_classes > 2 else (scores[..., 0] >= 0).astype(np.intp)

    def _scores(self, similarities, indices, classes):
        """Scores of a few rows, (rows, spectra, sizes, costs, 1 or G), and how many machines were not solved."""
        scores = np.empty((len(indices), *self.wanted.shape, self.alone.shape[1]))
        scores[:] = self.alone[classes[:, 0], None, None, None]
        changes = classes != classes[:, :1]
        failed = 0
        for i in np.flatnonzero(changes.any(axis=1)):
            mixed = np.flatnonzero(self.sizes > np.argmax(changes[i]))
            failed += self._sample(similarities[i : i + 1], indices[i], classes[i], mixed, scores[i])
        return scores, failed

    def _sample(self, similarities, neighbors, classes, mixed, scores):
        """The scores of one test sample where there is more than one class; how many machines were not solved."""
        from similitude.neighbors._local_smo import normalize, one_vs_one
        from similitude.neighbors._local_spectrum import gather, gather_csr, leading_semidefinite, modify

        A, K = np.empty((2, len(neighbors), len(neighbors)))
        s, row = similarities.astype(np.float64), np.empty(len(neighbors))
        if sparse.issparse(self.S):
            gather_csr(self.S.data, self.S.indices, self.S.indptr, neighbors, A)
        else:
            gather(self.S, neighbors, A)
        exponent, row_exponent = normalize(A), normalize(s)
        unit, ratio = math.ldexp(1.0, exponent), math.ldexp(1.0, min(row_exponent - exponent, 600))
        failed = 0
        for p, spectrum in enumerate(self.spectra):
            semidefinite = leading_semidefinite(A, spectrum, True, K)
            for g in mixed[self.wanted[p, mixed].any(axis=1)]:
                k, wanted = self.sizes[g], self.wanted[p, g]
                modify(A, s[0], k, spectrum, semidefinite, True, K, row)
                failed += one_vs_one(K, row, ratio, unit, classes[:k], self.n_classes, self.costs, wanted, scores[p, g])
        return failed
