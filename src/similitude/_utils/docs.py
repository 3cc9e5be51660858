"""Entries that the docstrings of several public classes share, each written once."""

from __future__ import annotations

import re
import textwrap
from typing import Any, TypeVar

Documented = TypeVar("Documented")

SHARED = {
    "similarity": """\
similarity : str, callable or Measure, default="precomputed"
    "precomputed" means that X is a matrix. For raw objects it is the function that compares two of them, or its name.
    See the page on input.
dissimilarity : str, default=None
    If the values are dissimilarities, the name of the map that turns them into similarities, such as "max-minus".
    Registered dissimilarities have a default map.""",
    "costs": """\
costs : array of shape (G, G) or dict of dicts, default=None
    ``costs[f, g]`` is the cost of predicting f when the truth is g, in the order of ``classes_`` or by label. The class
    of least expected cost is predicted.""",
    "priors": """\
priors : array of shape (G,) or dict, default=None
    Class probabilities in the application, in the order of ``classes_`` or by label. The posterior is multiplied by
    prior / training share and normalised.""",
    "model_priors": """\
priors : array of shape (G,) or dict, default=None
    P(g), in the order of ``classes_`` or by label, instead of an estimate from the training samples.""",
    "class_weight": """\
class_weight : dict or "balanced", default=None
    Multiplies the loss of the samples of each class. "balanced" means n / (G times the number of samples in the
    class).""",
    "probability": """\
probability : bool, default=False
    Whether to offer ``predict_proba``: a sigmoid of the decision values, fitted to those of five cross-validation
    folds (fewer where a class has fewer than five samples), which takes five more fits. ``predict`` follows the
    decision values; for samples near the boundary its class may not be the one with the largest probability.""",
    "scale_of_C": """\
With ``t S`` and ``C / t`` the classifier is the same, so choose C relative to 1 / scale, where scale is
``np.median(S.max(axis=1) - S.mean(axis=1))``.""",
    "omega": """\
omega : array-like, "continuous" or None, default=None
    The possible similarities. None uses the distinct values of the training matrix (those within 1e-12 of one
    another, relative to the largest, count as one). "continuous" uses the interval that they span, with densities
    instead of probabilities.""",
    "n_neighbors": """\
n_neighbors : int, default=5
    The number of neighbours k; if there are fewer samples, all of them are used.""",
    "search": """\
search : {"matrix", "stream", "graph"}, StreamSearch, GraphSearch or ClusterSearch, default="matrix"
    How the neighbours of raw objects are found: from whole rows of similarities, from blocks that are not kept
    (with the same results), or by a neighbour graph (approximate, with far fewer similarities). See the page on
    neighbour search.""",
    "window": """\
window : float between 0 and 1, default=None
    The width of the Sakoe-Chiba band: how far the path may leave the diagonal, as a share of the shorter series.
    None means that the path is not restricted.""",
    "derivative": """\
derivative : bool, default=False
    Whether the slopes of the series are compared instead of their values. The slope at t is the mean of
    ``x_t - x_{t-1}`` and ``(x_{t+1} - x_{t-1}) / 2``; the first and last step have none.""",
    "relative": """\
relative : bool, default=False
    Whether the series (with ``derivative`` their slopes) are divided by the standard deviation of all values of the
    training series, which ``fit`` learns, so that parameters are in this unit.""",
    "classes_": """\
classes_ : ndarray of shape (G,)
    The classes.""",
    "n_neighbors_": """\
n_neighbors_ : int
    The number of neighbours used, min(n_neighbors, n).""",
    "n_evaluations_": """\
n_evaluations_, n_evaluations_per_query_ : int, float
    If ``search`` is not "matrix", the number of similarities computed by ``fit``, and the mean number per sample in
    the last search.""",
    "support_columns_": """\
support_columns_ : ndarray of int
    The training samples to which the similarities of new samples are needed, ascending.""",
    "X_train": """\
X : training samples
    A matrix or raw objects, as ``similarity`` and ``dissimilarity`` determine (see the page on input); feature
    vectors for a classifier on features.""",
    "y_train": """\
y : array-like of shape (n,)
    The labels. Those in a dict or a Series are matched by the ids of the samples: see the page on input.""",
    "X_new": """\
X : samples
    Rows of similarities to the training samples, or raw objects; feature vectors for a classifier on features.""",
    "vectors": """\
Parameters
----------
A, B : array-like of shape (n, p) and (m, p)
    Feature vectors as rows.

Returns
-------
ndarray of shape (n, m)
    The values of the rows of A with those of B.""",
    "plot": """\
Parameters
----------
ax : Axes, default=None
    None makes a new figure.

Returns
-------
self""",
    "ax": """\
ax : Axes, default=None
    None makes a new figure.""",
    "curve_name": """\
name : str, default=None
    Name of the curve in the legend; shown literally.""",
}

_NAME = re.compile(r"^( *)\{(\w+)\}$", re.MULTILINE)


def shared_docs(documented: Documented) -> Documented:
    """Return a class or function after each line ``{name}`` of its docstring has become the shared entry of that name.

    The same is done to the methods that a class defines. More indented lines below ``{name}`` continue the entry.
    """
    waiting: list[Any] = [documented, *(vars(documented).values() if isinstance(documented, type) else ())]
    for part in waiting:
        if isinstance(part.__doc__, str) and _NAME.search(part.__doc__):
            part.__doc__ = _NAME.sub(_entry, part.__doc__)
            if hasattr(part, "__wrapped__"):  # scikit-learn wraps transform, for instance
                waiting.append(part.__wrapped__)
    return documented


def _entry(found: re.Match[str]) -> str:
    """Return the entry, indented like its name."""
    return textwrap.indent(SHARED[found[2]], found[1])
