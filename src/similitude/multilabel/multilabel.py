"""The classifier for several labels of each sample."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
from scipy import sparse
from sklearn.base import ClassifierMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from similitude._utils.checks import check_choice, check_integer, check_interval
from similitude._utils.docs import shared_docs
from similitude._utils.ids import labels_in_order
from similitude._utils.progress import working
from similitude._utils.threads import one_openmp_thread, suitable_blas_threads
from similitude._utils.types import Finite
from similitude._utils.warn import silenced
from similitude.base import SimilarityEstimator, forget_fit
from similitude.multilabel.figures import LabelFigures, method_table
from similitude.multilabel.label_model import LabelModel, fit_label_model
from similitude.multilabel.left_out import (
    LeftOut,
    evaluate_points,
    first_of,
    fit_all,
    folds_of,
    nearness_to,
    scores_of,
)
from similitude.multilabel.scores import nearest_lists, points_of
from similitude.multilabel.targets import Targets, read_targets
from similitude.multilabel.tree import LabelTree
from similitude.reader import Rows, Samples

if TYPE_CHECKING:
    from similitude._utils.types import Folds, LabelsLike, ListLike, SamplesLike
    from similitude.similarities.registry import SimilarityLike

COMBINE = ("overall", "label")


@shared_docs
class MultilabelClassifier(ClassifierMixin, SimilarityEstimator):
    """Predict several labels of each sample, with one neighbour search and one decomposition for all labels.

    1. Methods whose scores are linear in the labels (votes of neighbours, and ridge regression) are evaluated on the
       same folds. All that depends on the similarities alone is computed once (:mod:`similitude.multilabel.scores`).
    2. They are combined with weights for which the scores have least squares on left-out samples, over all labels or
       for each.
    3. The combined scores become probabilities, by what left-out samples had
       (:mod:`similitude.multilabel.label_model`).

    Parameters
    ----------
    tree : LabelTree, default=None
        A tree of which the labels are nodes. Every sample then also has the labels above its own, ``classes_`` are all
        nodes, and a parent is at least as probable as each of its children.
    methods : "all" or list of str, default="all"
        Of "k-NN", "affinity k-NN", "KRI k-NN", "KRR k-NN", "kernel ridge (clip)" (for at most 2,500 samples) and "ridge
        (features)" (on at most 1,000 columns).
    combine : {"overall", "label"}, default="overall"
        Whether the weights of the methods are the same for all labels, or those of each label with at least ten
        samples.
    threshold : float in (0, 1), default=0.5
        The probability from which on ``predict`` predicts a label.
    cv : int or splitter, default=5
        The folds. An int means shuffled folds, which keep groups together.
    random_state : int, default=0
        The random state for the folds, and for the columns of "ridge (features)".
    verbose : int, default=0
        If it is above 0, progress is shown.
    {similarity}

    Attributes
    ----------
    classes_ : ndarray of shape (L,)
        The labels; the columns of an indicator matrix are numbered, those of a DataFrame have their names.
    methods_ : MethodTable
        The methods with their mean squared error and their weights; ``print`` shows a table.
    figures_ : LabelFigures
        How good the probabilities of left-out samples are: Fmax, precision and recall at the threshold, and the area
        under the ROC curve; ``print`` shows a table.
    left_out_ : list of str
        The methods that cannot be used for so many samples.
    out_of_fold_ : CSR matrix of shape (n, L)
        The probabilities that were predicted for left-out samples, each by fits without that sample, of labels that
        have votes.

    See Also
    --------
    HierarchicalClassifier : Predicts one node of a tree.
    AutoClassifier : Combines all methods for one label per sample.
    sklearn.multiclass.OneVsRestClassifier : Fits one classifier for each label.

    Examples
    --------
    >>> import numpy as np
    >>> from similitude import MultilabelClassifier
    >>> rng = np.random.RandomState(0)
    >>> X = rng.randn(200, 2)
    >>> y = [{name for name, has in zip(["right", "upper"], row > 0) if has} for row in X]
    >>> model = MultilabelClassifier(similarity="euclidean").fit(X, y)
    >>> model.classes_
    array(['right', 'upper'], dtype='<U5')
    >>> model.predict([[1.0, 1.0], [-1.0, 1.0], [-1.0, -1.0]])
    array([[1, 1],
           [0, 1],
           [0, 0]])
    """

    _takes_several = True
    _takes_training = False
    _votes_among_known = True

    own_similarity_: Finite

    def __init__(
        self,
        tree: LabelTree | None = None,
        *,
        methods: Literal["all"] | Sequence[str] = "all",
        combine: Literal["overall", "label"] = "overall",
        threshold: float = 0.5,
        cv: Folds = 5,
        random_state: int = 0,
        verbose: int = 0,
        similarity: SimilarityLike | Mapping[str, SimilarityLike] = "precomputed",
        dissimilarity: str | Mapping[str, str] | None = None,
    ):
        self.tree = tree
        self.methods = methods
        self.combine = combine
        self.threshold = threshold
        self.cv = cv
        self.random_state = random_state
        self.verbose = verbose
        self.similarity = similarity
        self.dissimilarity = dissimilarity

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        tags.classifier_tags.multi_label = True
        tags.classifier_tags.multi_class = False
        return tags

    def fit(self, X: SamplesLike, y: LabelsLike, *, groups: ListLike | None = None) -> Self:
        """Evaluate the methods on left-out samples, combine them, and fit them on all samples.

        Parameters
        ----------
        {X_train}
        y : array-like or CSR matrix of shape (n, L), or sequence of sets
            An indicator matrix, in which NaN means "not measured"; or the labels of each sample. A dict, a Series or a
            DataFrame is matched by the ids of the samples.
        groups : array-like of shape (n,), default=None
            The groups of the samples, which folds must not divide.

        Returns
        -------
        self
            The fitted classifier.
        """
        check_interval(self.threshold, "threshold", "(0, 1)")
        check_choice(self.combine, "combine", COMBINE)
        check_integer(self.random_state, "random_state", 0)
        if self.tree is not None and not isinstance(self.tree, LabelTree):
            raise ValueError(f"tree must be a LabelTree; got {type(self.tree).__name__}. Use LabelTree(pairs).")
        samples = Samples(self._contract(), X, None, estimator=self)
        groups = labels_in_order(groups, X, "groups")
        targets = read_targets(labels_in_order(y, X), samples.n, self.tree)
        points, left_out_methods = points_of(self.methods, samples.n, list(samples.parts), samples.unknown)
        folds = folds_of(samples.n, self.cv, groups, self.random_state)
        found = evaluate_points(samples, targets, points, folds, self.random_state, self.verbose > 0)
        with working("learning the probabilities of the labels", self.verbose > 0):
            model = fit_label_model(found, targets, self.combine, None)
            posteriors = _out_of_fold(found, targets, self.combine)
            figures = LabelFigures.of(posteriors, targets, found.tested, float(self.threshold))
        weights = np.atleast_2d(model.weights).mean(axis=0)
        table = method_table(found, weights, np.ones(targets.Y.shape[1], dtype=bool))
        used = np.flatnonzero(weights > 0)
        with working("fitting the chosen methods on all samples", self.verbose > 0), silenced(), one_openmp_thread():
            training, chosen = samples.whole(), [points[t] for t in used]
            with suitable_blas_threads(samples.n):
                fitted = fit_all(training, targets, chosen, self.random_state)
            main = first_of(training)
            own = main.S.diagonal() if main.self_similarity is None else main.self_similarity
        # Nothing is set before all of it is known: a fit that fails leaves the estimator as it was.
        forget_fit(self)
        self._keep_training(training)
        self.classes_, self.methods_, self.figures_ = targets.classes, table, figures
        self.left_out_, self.out_of_fold_ = left_out_methods, posteriors
        self._points, self._fitted, self._model, self._tree = chosen, fitted, model.take(used), self.tree
        self._least, self.own_similarity_ = float(self.threshold), np.asarray(own, dtype=np.float64)
        return self

    def predict_proba(self, X: SamplesLike) -> np.ndarray:
        """Return the probability of each label.

        Parameters
        ----------
        {X_new}

        Returns
        -------
        ndarray of shape (m, L)
            The probabilities, in the order of ``classes_``; they do not add up to 1.
        """
        check_is_fitted(self)
        rows = self._rows(X).each(Rows.silent)
        scores = scores_of(self._fitted, self._points, rows)
        near = nearness_to(self.own_similarity_, nearest_lists(first_of(rows), 1))
        return self._model.posteriors(scores, near, rows.evidence, self._tree)

    def predict(self, X: SamplesLike) -> np.ndarray:
        """Return which labels are predicted: those whose probability reaches the threshold.

        Parameters
        ----------
        {X_new}

        Returns
        -------
        ndarray of int of shape (m, L)
            An indicator matrix, in the order of ``classes_``.
        """
        return (self.predict_proba(X) >= self._least).astype(int)

    def score(self, X: SamplesLike, y: Any, sample_weight: Any = None) -> float:
        """Return the share of samples of which all labels are predicted correctly.

        Parameters
        ----------
        {X_new}
        y : array-like or CSR matrix of shape (m, L)
            An indicator matrix.
        sample_weight : array-like of shape (m,), default=None
            The weights of the samples.

        Returns
        -------
        float
            The share.
        """
        return super().score(X, y.toarray() if sparse.issparse(y) else y, sample_weight)


def _out_of_fold(found: LeftOut, targets: Targets, combine: str) -> sparse.csr_matrix:
    """Return the probabilities of left-out samples where there are votes, learned without their fold."""
    probabilities = np.zeros(len(found.rows))
    for fold in range(len(found.folds)):
        entries = np.flatnonzero(found.parts[found.rows] == fold)
        model: LabelModel = fit_label_model(found, targets, combine, fold if len(found.folds) > 1 else None)
        rows, columns = found.rows[entries], found.columns[entries]
        by_entry = model.weights if model.weights.ndim == 1 else model.weights[columns]
        votes = np.sum(found.values[entries] * by_entry, axis=1)
        own = model.at_entries(votes, columns, model.scale.features(found.near)[rows])
        own = np.where(votes > 0, own, model.absent[columns])
        probabilities[entries] = np.where(found.evidence[rows], own, model.none[columns])
    made = sparse.csr_matrix((probabilities.astype(np.float32), (found.rows, found.columns)), shape=targets.Y.shape)
    made.sort_indices()
    return made
