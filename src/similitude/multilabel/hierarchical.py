"""The classifier for labels that form a tree."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from similitude._utils.checks import check_choice, check_integer, check_interval
from similitude._utils.docs import shared_docs
from similitude._utils.ids import labels_in_order
from similitude._utils.progress import working
from similitude._utils.threads import one_openmp_thread, suitable_blas_threads
from similitude._utils.types import Finite
from similitude._utils.warn import silenced
from similitude.base import SimilarityEstimator, forget_fit
from similitude.multilabel.figures import RankFigures, method_table
from similitude.multilabel.left_out import (
    LeftOut,
    evaluate_points,
    first_of,
    fit_all,
    folds_of,
    nearness_to,
    scores_of,
)
from similitude.multilabel.node_model import Levels, fit_node_model, scores_without_evidence
from similitude.multilabel.scores import nearest_lists, points_of
from similitude.multilabel.targets import Targets
from similitude.multilabel.tree import LabelTree, nodes_of_lineage
from similitude.reader import ByName, Rows, Samples
from similitude.sets.calibration import check_confidence
from similitude.sets.operating_points import UNASSIGNED

if TYPE_CHECKING:
    from similitude._utils.types import Folds, LabelsLike, ListLike, SamplesLike
    from similitude.similarities.registry import SimilarityLike

COMBINE = ("rank", "leaves")
_BLOCK = 2**21
"""The number of posteriors that are computed at once."""


@dataclass(frozen=True)
class NodesOutOfFold:
    """What was predicted for the tested ``samples``, each by fits and parameters without that sample.

    ``nodes`` (t, ranks) is the most probable node of each rank below the one before, as a position in ``classes_``, and
    ``proba`` (t, ranks) its probability; ``truth`` (t, ranks) is the true node, -1 below the label of the sample and
    -2 for a node that no training sample of the fold had. ``scores`` (t,) is the probability of what is true: of the
    leaf or, if no training sample had it, of an unseen leaf below the last known node.
    """

    samples: np.ndarray
    nodes: np.ndarray
    proba: np.ndarray
    truth: np.ndarray
    scores: np.ndarray
    evidence: np.ndarray


@shared_docs
class HierarchicalClassifier(SimilarityEstimator):
    """Predict the node of a tree of labels, as deep as it is known with a confidence.

    1. Methods whose scores are linear in the labels (votes of neighbours, and ridge regression) are evaluated on the
       same folds. One neighbour search and one decomposition serve all nodes (:mod:`similitude.multilabel.scores`).
    2. They are combined with weights for which the scores have least squares on left-out samples.
    3. The scores become a posterior over the leaves, from the top of the tree down. A part of it is the probability
       that a sample belongs to a leaf that no training sample has; it is learned from left-out samples, among which are
       those whose leaf has no other sample (:mod:`similitude.multilabel.node_model`).

    The probability of a node is the sum of those of its leaves, the unseen one included. ``predict`` returns the
    deepest node whose probability reaches the confidence, or "unassigned".

    Parameters
    ----------
    confidence : float in [0, 1), default=0.9
        The probability that the predicted node must have; 0 means that a node of the last rank is always predicted.
    tree : LabelTree, default=None
        The tree, if the labels are names of its nodes. By default it is made of the lineages in y.
    separator : str, default=None
        What stands between the parts of lineages that are text: ``"."`` for "1.2.3.4".
    methods : "all" or list of str, default="all"
        Of "k-NN", "affinity k-NN", "KRI k-NN", "KRR k-NN", "kernel ridge (clip)" (for at most 2,500 samples) and "ridge
        (features)" (on at most 1,000 columns).
    combine : {"rank", "leaves"}, default="leaves"
        Whether the weights of the methods are chosen for each rank, or on the leaves for all.
    cv : int or splitter, default=5
        The folds. An int means shuffled folds that keep groups together and that are drawn without regard to the
        labels, so that labels with a single sample are left out, too.
    random_state : int, default=0
        The random state for the folds, and for the columns of "ridge (features)".
    verbose : int, default=0
        If it is above 0, progress is shown.
    {similarity}

    Attributes
    ----------
    tree_ : LabelTree
        The tree.
    classes_ : ndarray of str of shape (N,)
        Its nodes: the columns of ``predict_proba``.
    methods_ : MethodTable
        The methods with their mean squared error on the leaves and their weights; ``print`` shows a table.
    left_out_ : list of str
        The methods that cannot be used for so many samples.
    out_of_fold_ : NodesOutOfFold
        What was predicted for left-out samples.

    See Also
    --------
    MultilabelClassifier : Predicts several labels of each sample.
    AutoClassifier : Combines all methods for labels that form no tree.

    Examples
    --------
    >>> import numpy as np
    >>> from similitude import HierarchicalClassifier
    >>> rng = np.random.RandomState(0)
    >>> X = rng.randn(120, 2) * 0.3 + np.repeat([[0, 0], [1, 0], [8, 0], [8, 3]], 30, axis=0)
    >>> y = np.repeat(["cat;lion", "cat;lynx", "dog;wolf", "dog;fox"], 30)
    >>> model = HierarchicalClassifier(separator=";", similarity="euclidean").fit(X, y)
    >>> model.predict([[0.1, 0.1], [0.5, 0.0], [8.0, 2.9]]).tolist()
    ['cat;lion', 'cat', 'dog;fox']
    >>> model.classes_.tolist()
    ['cat', 'dog', 'cat;lion', 'cat;lynx', 'dog;fox', 'dog;wolf']
    """

    _takes_several = True
    _takes_training = False
    _votes_among_known = True

    own_similarity_: Finite

    def __init__(
        self,
        confidence: float = 0.9,
        tree: LabelTree | None = None,
        separator: str | None = None,
        *,
        methods: Literal["all"] | Sequence[str] = "all",
        combine: Literal["rank", "leaves"] = "leaves",
        cv: Folds = 5,
        random_state: int = 0,
        verbose: int = 0,
        similarity: SimilarityLike | Mapping[str, SimilarityLike] = "precomputed",
        dissimilarity: str | Mapping[str, str] | None = None,
    ):
        self.confidence = confidence
        self.tree = tree
        self.separator = separator
        self.methods = methods
        self.combine = combine
        self.cv = cv
        self.random_state = random_state
        self.verbose = verbose
        self.similarity = similarity
        self.dissimilarity = dissimilarity

    def fit(self, X: SamplesLike, y: LabelsLike, *, groups: ListLike | None = None) -> Self:
        """Evaluate the methods on left-out samples, combine them, and fit them on all samples.

        Parameters
        ----------
        {X_train}
        y : array-like of shape (n,) or (n, ranks)
            The labels: lineages as text with a ``separator``, lineages in columns from coarse to fine, or names of
            nodes of ``tree``. A lineage may end early ("1.2.-.-", or empty cells): the sample is then labelled to an
            inner node only. Those in a dict, a Series or a DataFrame are matched by the ids of the samples.
        groups : array-like of shape (n,), default=None
            The groups of the samples, which folds must not divide.

        Returns
        -------
        self
            The fitted classifier.
        """
        check_interval(self.confidence, "confidence", "[0, 1)")
        check_choice(self.combine, "combine", COMBINE)
        check_integer(self.random_state, "random_state", 0)
        samples = Samples(self._contract(), X, None, estimator=self)
        groups = labels_in_order(groups, X, "groups")
        tree, truth = read_nodes(labels_in_order(y, X), samples.n, self.tree, self.separator)
        targets = Targets(_indicator(tree, truth), tree.nodes)
        points, left_out_methods = points_of(self.methods, samples.n, list(samples.parts), samples.unknown)
        folds = folds_of(samples.n, self.cv, groups, self.random_state)
        found = evaluate_points(samples, targets, points, folds, self.random_state, self.verbose > 0)
        with working("learning the posterior of the nodes", self.verbose > 0):
            counts = np.array([targets.Y[train].sum(axis=0) for train, _ in folds], dtype=float).reshape(-1, len(tree))
            arguments = found, tree, truth, counts, self.combine
            model = fit_node_model(*arguments, None)
            out_of_fold = _out_of_fold(*arguments)
        table = method_table(found, np.mean([rank.weights for rank in model.ranks], axis=0), tree.is_leaf)
        used = np.flatnonzero(np.sum([rank.weights for rank in model.ranks], axis=0) > 0)
        with working("fitting the chosen methods on all samples", self.verbose > 0), silenced(), one_openmp_thread():
            training, chosen = samples.whole(), [points[t] for t in used]
            with suitable_blas_threads(samples.n):
                fitted = fit_all(training, targets, chosen, self.random_state)
            main = first_of(training)
            own = main.S.diagonal() if main.self_similarity is None else main.self_similarity
        # Nothing is set before all of it is known: a fit that fails leaves the estimator as it was.
        forget_fit(self)
        self._keep_training(training)
        self.tree_, self.classes_ = tree, tree.nodes
        self.methods_, self.left_out_, self.out_of_fold_ = table, left_out_methods, out_of_fold
        self._points, self._fitted = chosen, fitted
        self._model = replace(model, ranks=[replace(rank, weights=rank.weights[used]) for rank in model.ranks])
        self._counts, self.own_similarity_ = targets.counts, np.asarray(own, dtype=np.float64)
        return self

    def predict_proba(self, X: SamplesLike) -> np.ndarray:
        """Return the probability of each node.

        Parameters
        ----------
        {X_new}

        Returns
        -------
        ndarray of shape (m, N)
            The probabilities, in the order of ``classes_``. Those of the children of a node add up to less than its
            own; the rest is the probability of an unseen leaf below it.
        """
        rows = self._read_rows(X)
        return np.concatenate([block for _, block in self._blocks(rows)] or [np.empty((0, len(self.classes_)))])

    def predict(self, X: SamplesLike, confidence: float | None = None) -> np.ndarray:
        """Return the deepest node of each sample whose probability reaches the confidence.

        Parameters
        ----------
        {X_new}
        confidence : float in [0, 1), default=None
            The probability that the node must have; None means the parameter of the classifier.

        Returns
        -------
        ndarray of str of shape (m,)
            The nodes; "unassigned" if none reaches the confidence.
        """
        nodes, proba = self.predict_ranks(X)
        return assigned(self.classes_, nodes, proba, self.confidence if confidence is None else confidence)

    def predict_ranks(self, X: SamplesLike) -> tuple[np.ndarray, np.ndarray]:
        """Return the most probable node of each rank, below that of the rank before, and its probability.

        Parameters
        ----------
        {X_new}

        Returns
        -------
        nodes : ndarray of int of shape (m, ranks)
            Positions in ``classes_``; -1 if the node of the rank before has no children.
        proba : ndarray of shape (m, ranks)
            Their probabilities, which do not increase from rank to rank.
        """
        rows, levels = self._read_rows(X), Levels.of(self.tree_)
        found = [best_line(block, levels) for _, block in self._blocks(rows)]
        if not found:
            return np.empty((0, levels.n_ranks), dtype=np.intp), np.empty((0, levels.n_ranks))
        return np.concatenate([nodes for nodes, _ in found]), np.concatenate([proba for _, proba in found])

    def predict_set(self, X: SamplesLike, confidence: float = 0.9) -> np.ndarray:
        """Return a set of nodes for each sample that holds the true one with the given confidence.

        An inner node in a set means a leaf below it that no training sample has. The sets are conformal: the
        probability of what is true is compared with those that left-out samples had by cross-validation, all classes
        together; samples whose rows give no evidence are compared with such samples.

        Parameters
        ----------
        {X_new}
        confidence : float, default=0.9
            The share of samples whose set is to hold their node, between 0 and 1.

        Returns
        -------
        ndarray of bool of shape (m, N)
            Which nodes are in the set, in the order of ``classes_``.
        """
        least = self._least_scores(check_confidence(confidence))
        rows, levels = self._read_rows(X), Levels.of(self.tree_)
        needed = np.where(rows.evidence, least[0], least[1])[:, None]
        found = [outcomes(block, levels) >= needed[part] for part, block in self._blocks(rows)]
        return np.concatenate(found or [np.empty((0, len(self.classes_)), dtype=bool)])

    def by_rank(self, confidence: float | None = None) -> RankFigures:
        """Return how good the predictions for left-out samples are at each rank.

        Parameters
        ----------
        confidence : float in [0, 1), default=None
            The probability that an assigned node must have; None means the parameter of the classifier.

        Returns
        -------
        RankFigures
            The error of the most probable node, and how many samples are assigned to a node of the rank, with what
            precision; ``print`` shows a table.
        """
        check_is_fitted(self)
        confidence = self.confidence if confidence is None else confidence
        check_interval(confidence, "confidence", "[0, 1)")
        return RankFigures.of(self.out_of_fold_, self.tree_, float(confidence))

    def _least_scores(self, confidence: float) -> list[float]:
        """Return the probability that a node in a set must have, with evidence and without: quantiles of left-out
        samples, of which those without evidence are a category of their own."""
        check_is_fitted(self)
        found = []
        for own in (self.out_of_fold_.evidence, ~self.out_of_fold_.evidence):
            scores = np.sort(self.out_of_fold_.scores[own])
            n_below = int(np.floor((1 - confidence) * (len(scores) + 1) + 1e-9))
            found.append(float(scores[n_below - 1]) if n_below >= 1 else 0.0)
        return found

    def _read_rows(self, X: Any) -> ByName[Rows]:
        check_is_fitted(self)
        return self._rows(X).each(Rows.silent)

    def _blocks(self, rows: ByName[Rows]) -> Any:
        """Yield the posteriors of all nodes for blocks of rows."""
        scores, levels = scores_of(self._fitted, self._points, rows), Levels.of(self.tree_)
        near, evidence = nearness_to(self.own_similarity_, nearest_lists(first_of(rows), 1)), rows.evidence
        step = max(1, _BLOCK // len(self.classes_))
        for start in range(0, len(rows), step):
            part = slice(start, min(start + step, len(rows)))
            own = [score[part] for score in scores]
            yield part, self._model.posteriors(own, near[part], evidence[part], self._counts, levels)


def read_nodes(y: Any, n: int, tree: LabelTree | None, separator: str | None) -> tuple[LabelTree, np.ndarray]:
    """Return the tree, and the position in it of the label of each of n samples."""
    if y is None:
        raise ValueError("y must be given: lineages, or nodes of a tree.")
    if tree is not None and not isinstance(tree, LabelTree):
        raise ValueError(f"tree must be a LabelTree; got {type(tree).__name__}. Use LabelTree(pairs).")
    labels = list(y.to_numpy()) if hasattr(y, "to_numpy") else list(y)
    if len(labels) != n:
        raise ValueError(f"y must have one label per sample; got {len(labels)} labels for {n} samples.")
    in_columns = bool(labels) and not isinstance(labels[0], (str, bytes)) and np.ndim(labels[0]) == 1
    if tree is not None and separator is None and not in_columns:
        return tree, tree.positions(labels)
    if separator is None and not in_columns:
        raise ValueError(
            f"separator must be given if y holds lineages as text, such as {str(labels[0])!r}; or give lineages in "
            "columns from coarse to fine, or a tree."
        )
    lines = [nodes_of_lineage(label, separator) for label in labels]
    empty = next((i for i, line in enumerate(lines) if not line), None)
    if empty is not None:
        raise ValueError(f"y contains a missing label (first at position {empty}); every sample needs one.")
    if tree is None:
        parents = {node: above for line in lines for above, node in zip([None, *line], line)}
        tree = LabelTree(parents)
    if len(tree) < 2:
        raise ValueError(f"y must have at least two nodes; got one, {tree.nodes.tolist()[0]!r}.")
    return tree, tree.positions([line[-1] for line in lines])


def _indicator(tree: LabelTree, truth: np.ndarray) -> sparse.csr_matrix:
    """Return which nodes each sample has: its label and all above it."""
    lines = tree.lines()[truth]
    rows, _ = np.nonzero(lines >= 0)
    found = sparse.csr_matrix((np.ones(len(rows)), (rows, lines[lines >= 0])), shape=(len(truth), len(tree)))
    found.sort_indices()
    return found


def best_line(posteriors: np.ndarray, levels: Levels) -> tuple[np.ndarray, np.ndarray]:
    """Return the most probable node of each rank below that of the rank before, and its probability."""
    m = len(posteriors)
    nodes, proba = np.full((m, levels.n_ranks), -1, dtype=np.intp), np.zeros((m, levels.n_ranks))
    above = np.full(m, -1, dtype=np.intp)
    for d in range(levels.n_ranks):
        part = levels.part(d)
        own = np.where(levels.parent[part] == above[:, None], posteriors[:, part], -1.0)
        best = np.argmax(own, axis=1)
        value = own[np.arange(m), best]
        found = (value > 0) & ((above >= 0) | (d == 0))
        nodes[:, d] = np.where(found, best + part.start, -1)
        proba[:, d] = np.where(found, value, 0.0)
        above = np.where(found, nodes[:, d], -2)
    return nodes, proba


def assigned(classes: np.ndarray, nodes: np.ndarray, proba: np.ndarray, confidence: Any) -> np.ndarray:
    """Return the deepest node of each line that reaches the confidence, or "unassigned"."""
    check_interval(confidence, "confidence", "[0, 1)")
    reached = (nodes >= 0) & (proba >= float(confidence))
    depth = reached.sum(axis=1)
    last = nodes[np.arange(len(nodes)), np.maximum(depth - 1, 0)]
    return np.where(depth > 0, classes[np.maximum(last, 0)], UNASSIGNED)


def outcomes(posteriors: np.ndarray, levels: Levels) -> np.ndarray:
    """Return the probability of each leaf, and of an unseen leaf below each inner node."""
    return np.maximum(posteriors - levels.sums_of_children(posteriors), 0.0)


def _out_of_fold(
    found: LeftOut, tree: LabelTree, truth: np.ndarray, counts: np.ndarray, combine: str
) -> NodesOutOfFold:
    """Return what is predicted for left-out samples, with parameters that are learned without their fold."""
    levels, lines, n = Levels.of(tree), tree.lines()[truth], len(truth)
    nodes, proba = np.full((n, levels.n_ranks), -1, dtype=np.intp), np.zeros((n, levels.n_ranks))
    true, scores = lines.copy(), np.zeros(n)
    for fold in range(len(found.folds)):
        own = np.flatnonzero(found.parts == fold)
        model = fit_node_model(found, tree, truth, counts, combine, fold if len(found.folds) > 1 else None)
        true[own] = np.where((lines[own] >= 0) & (counts[fold][np.maximum(lines[own], 0)] == 0), -2, lines[own])
        step = max(1, _BLOCK // len(tree))
        for start in range(0, len(own), step):
            some = own[start : start + step]
            posteriors = model.posteriors(
                _scores_at(found, some, len(tree)), found.near[some], found.evidence[some], counts[fold], levels
            )
            nodes[some], proba[some] = best_line(posteriors, levels)
            scores[some] = _true_scores(outcomes(posteriors, levels), true[some], levels, tree)
    lacking = (found.parts >= 0) & ~found.evidence
    if lacking.any():
        # All samples without evidence have one posterior, in which a sample must not find itself.
        totals = np.bincount(lines[lines >= 0], minlength=len(tree)).astype(float)
        scores[lacking] = scores_without_evidence(tree, lines[lacking], totals)
    tested = found.tested
    return NodesOutOfFold(tested, nodes[tested], proba[tested], true[tested], scores[tested], found.evidence[tested])


def _scores_at(found: LeftOut, samples: np.ndarray, n_nodes: int) -> list[sparse.csr_matrix]:
    """Return the scores of some left-out samples at each point; the entries are in the order of the samples."""
    entries = np.flatnonzero(np.isin(found.rows, samples))
    starts = np.append(np.searchsorted(found.rows[entries], samples), len(entries))
    shape = len(samples), n_nodes
    return [
        sparse.csr_matrix((found.values[entries, t], found.columns[entries], starts), shape=shape)
        for t in range(len(found.points))
    ]


def _true_scores(probabilities: np.ndarray, true: np.ndarray, levels: Levels, tree: LabelTree) -> np.ndarray:
    """Return the probability of what is true; for a label at an inner node, of the most probable leaf below it."""
    known = (true >= 0).sum(axis=1)
    last = true[np.arange(len(true)), np.maximum(known - 1, 0)]
    found = np.where(known > 0, probabilities[np.arange(len(true)), np.maximum(last, 0)], 0.0)
    unseen = (true == -2).any(axis=1)
    inner = np.flatnonzero((known > 0) & ~unseen & ~tree.is_leaf[np.maximum(last, 0)])
    if len(inner):
        lines = tree.lines()
        for node in np.unique(last[inner]):
            which = inner[last[inner] == node]
            below = np.flatnonzero(lines[:, tree.depth[node] - 1] == node)
            found[which] = probabilities[np.ix_(which, below)].max(axis=1)
    return found
