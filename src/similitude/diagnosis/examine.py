"""The diagnosis of a similarity matrix before learning from it."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils import check_random_state

from similitude._utils.checks import check_integer
from similitude._utils.ids import check_square_names, labels_in_order
from similitude._utils.types import LabelsLike, ProximityLike, RandomState
from similitude.diagnosis import figures, stored
from similitude.diagnosis.card import advice
from similitude.diagnosis.directions import (
    asymmetric_pairs,
    direction_errors,
    stored_asymmetric_pairs,
    stored_direction_errors,
)
from similitude.diagnosis.disorder import sampled
from similitude.diagnosis.result import ClassFigures, Diagnosis
from similitude.labels import check_labels
from similitude.numerics.eigen import ZERO_TOLERANCE, negative_eigenfraction
from similitude.proximity.check import (
    SYMMETRY_TOLERANCE,
    asymmetry,
    check_similarity,
    dense,
    for_lookup,
    is_symmetric,
    looks_like_dissimilarity,
    read_similarity,
)
from similitude.proximity.groups import similarity_groups
from similitude.proximity.maps import LearnedMap, check_map
from similitude.proximity.proximities import Proximities, as_proximities
from similitude.proximity.split import cut
from similitude.proximity.unknown import LearnedFill, known_counts


def diagnose(
    S: ProximityLike,
    y: LabelsLike | None = None,
    *,
    dissimilarity: str | None = None,
    max_samples: int = 5000,
    n_neighbors: int = 10,
    n_triples: int = 100_000,
    random_state: RandomState = 0,
) -> Diagnosis:
    """Return figures that describe a similarity matrix, and advice that follows from them.

    * The spectrum is that of ``(S + S^T)/2``. Eigenvalues with ``|lambda| <= 1e-10 max|lambda|`` (1e-5 for float32,
      whose entries are less exact) count as zero.
    * The triangle inequality is checked on the dissimilarity if ``dissimilarity`` is given, otherwise on
      ``d = max S - S`` between different samples and 0 from a sample to itself. It is violated by a triple if
      ``d_ij > d_ik + d_kj``, by more than rounding, for some order of its three samples.
    * The intrinsic dimension is ``2 mean(d^2)^2 / var(d^2)`` over all pairs, with the given dissimilarity or
      ``d^2_ij = s_ii + s_jj - 2 s_ij``. For Gaussian samples with equal variances it is the dimension of the space.
    * The disorder is the smallest D with ``rank_x(y) <= D (rank_z(x) + rank_z(y))`` for 95% of the triples: see
      :func:`~similitude.disorder`.
    * The hubness is the skewness of the number of lists of k nearest neighbours in which a sample occurs. Neighbours
      are ranked by rows, without the sample itself; those that are equally similar share the last places of a list.
    * The leave-one-out error is that of the nearest neighbour, of the samples whose row gives evidence: whose
      similarities to the others are not all equal. Several nearest neighbours count with their mean error.
    * What does not need all pairs is computed from all stored entries of a sparse matrix, and so are its extreme
      eigenvalues, by Lanczos' method. The rest of the spectrum, the triangle inequality, the intrinsic dimension and
      the disorder are those of at most ``max_samples`` samples.

    Parameters
    ----------
    S : array-like, memmap, DataFrame, sparse matrix or Proximities of shape (n, n)
        Similarities, or dissimilarities if ``dissimilarity`` is given.
    y : array-like of shape (n,), default=None
        Class labels.
    dissimilarity : str, default=None
        The map that turns S into a similarity: see :mod:`similitude.proximity.maps`.
    max_samples : int, default=5000
        If there are more samples, this many are drawn at random. Of a dense matrix the others are not read, and class
        counts alone are those of all samples; of a sparse matrix only the figures that need all pairs come from these.
    n_neighbors : int, default=10
        The number k of neighbours for the hubness; at most n - 1 are used.
    n_triples : int, default=100000
        The number of triples to draw; if there are no more, all are examined.
    random_state : int, RandomState or None, default=0
        Seed for the random draws.

    Returns
    -------
    Diagnosis
        Its attributes are the figures, ``print`` shows them as a card, ``to_dict`` returns plain values.

    See Also
    --------
    disorder : Estimate the disorder constant of a similarity.
    goodness
        Estimate the goodness of Wang et al. (2009): how often samples are closer to their own class than to
        others.
    similitude.diagnosis.Diagnosis : The result of ``diagnose``; ``str()`` returns it as a card of plain text.

    References
    ----------
    Pekalska & Duin, "The Dissimilarity Representation for Pattern Recognition", 2005 (NEF, NER, intrinsic dimension);
    Radovanovic, Nanopoulos & Ivanovic, "Hubs in space", JMLR 11, 2010; Chen et al., JMLR 10, 2009.

    Examples
    --------
    >>> from similitude.diagnosis import diagnose
    >>> S = [[1.0, 0.9, 0.1], [0.9, 1.0, 0.8], [0.1, 0.8, 1.0]]
    >>> found = diagnose(S, ["a", "a", "b"])
    >>> found
    <Diagnosis of 3 samples: symmetric, indefinite (NEF 0.047); print() shows the card>
    >>> found.rank, round(found.leave_one_out_error, 2)
    (3, 0.33)
    >>> print(found.advice[0])
    the matrix is indefinite (NEF 0.047): modify the spectrum (SpectrumModifier) or use a local method (KNNClassifier).
    """
    for name, count in (("max_samples", max_samples), ("n_neighbors", n_neighbors), ("n_triples", n_triples)):
        check_integer(count, name, 1)
    if dissimilarity is not None:
        check_map(dissimilarity, "dissimilarity")
    rng = check_random_state(random_state)
    check_square_names(S, "S")
    given = as_proximities(S, distances=dissimilarity is not None)
    matrix, y = given.S, labels_in_order(y, S)
    checked, drawn = _checked(matrix, max_samples, rng)
    known = checked
    unknown, checked = _completed(checked, given, dissimilarity)
    n = matrix.shape[0]
    classes, labels = (None, None) if y is None else _encoded(y, n)

    learned = None if dissimilarity is None else LearnedMap.learn(checked, dissimilarity, name="S")
    mapped = None if learned is None else _mapped(checked, learned)
    values = dense(checked)
    A, scale = figures.unit_scale(values if mapped is None else mapped)
    symmetric = is_symmetric(values)
    tolerance = SYMMETRY_TOLERANCE[values.dtype]
    eigenvalues = figures.eigenvalues(A, symmetric, max(ZERO_TOLERANCE, tolerance))
    smallest, largest = float(eigenvalues[0]), float(eigenvalues[-1])
    raw = A if mapped is None else figures.unit_scale(values)[0]
    from_stored = sparse.issparse(matrix) and dissimilarity != "double-centring"
    if from_stored:
        of_values = _of_stored(given, learned, labels, classes, n_neighbors, len(values) < n)
    else:
        drawn_labels = None if labels is None else labels[drawn]
        of_values = _of_all(values, A, scale, dissimilarity, drawn_labels, classes, n_neighbors)
        if not of_values["symmetric"]:
            of_values["asymmetric_pairs"] = asymmetric_pairs(dense(known), drawn)
            of_values["direction_errors"] = None if drawn_labels is None else direction_errors(A, drawn_labels)
    means, units = of_values.pop("means"), of_values.pop("scale")
    extremes = of_values.pop("extremes", None) if len(values) < n else None
    if extremes is not None:
        smallest, largest = (value * (units / scale) for value in extremes)
    found = Diagnosis(
        n=n,
        n_sampled=len(values),
        dtype=str(getattr(matrix, "dtype", values.dtype)),
        sparse=sparse.issparse(matrix),
        dissimilarity=dissimilarity,
        looks_like_dissimilarity=dissimilarity is None and looks_like_dissimilarity(values),
        unknown=float(unknown),
        smallest_eigenvalue=_scaled(smallest, scale),
        largest_eigenvalue=_scaled(largest, scale),
        negative_eigenfraction=negative_eigenfraction(eigenvalues),
        negative_eigenratio=0.0 if smallest >= 0 else -smallest / largest if largest > 0 else None,
        rank=int(np.count_nonzero(eigenvalues)),
        psd=smallest >= 0,
        triangle_violations=figures.triangle_violations(raw, n_triples, rng, tolerance, dissimilarity is None),
        intrinsic_dimension=figures.intrinsic_dimension(raw, tolerance, dissimilarity is None),
        disorder=sampled(A, 20_000, rng).quantile_95 if len(A) > 2 else None,
        eigenvalues=figures.rescaled(eigenvalues, scale),
        from_stored=from_stored,
        extremes_of_all=extremes is not None,
        classes=None if classes is None or labels is None else _class_figures(classes, labels, means, units),
        **of_values,
    )
    return replace(found, advice=advice(found))


def _checked(matrix: Any, max_samples: int, rng: Any) -> tuple[Any, np.ndarray]:
    """Return the matrix to examine and the positions of its samples."""
    n = matrix.shape[0]
    drawn, name = np.arange(n), "S"
    if n == matrix.shape[1] and n > max_samples:
        drawn, name = np.sort(rng.permutation(n)[:max_samples]), f"S (cut to {max_samples} samples drawn at random)"
        matrix = cut(matrix.tocsr() if sparse.issparse(matrix) else matrix, drawn, drawn)
    return read_similarity(matrix, name=name, orientation="any", takes_nan=True)[0], drawn


def _completed(values: Any, given: Any, dissimilarity: str | None) -> tuple[float, Any]:
    """Return the share of unknown values, and the values with unknown ones filled; farthest pairs are also filled."""
    sparse_as = given.absent if sparse.issparse(values) else None
    unknown = 0.0
    if sparse_as == "unknown" or (sparse_as is None and np.isnan(values).any()):
        unknown = 1 - known_counts(values).sum() / max(1, np.prod(values.shape))
    elif sparse_as != "farthest" or dissimilarity is None:
        return unknown, values
    fill = LearnedFill.learn(values, _fill_of(given), dissimilarities=dissimilarity is not None)
    return unknown, fill(values, square=True)


def _fill_of(given: Any) -> Any:
    return "farthest" if sparse.issparse(given.S) and given.absent == "farthest" else given.fill or "class-blind mean"


def _of_all(
    values: np.ndarray,
    A: np.ndarray,
    scale: float,
    dissimilarity: str | None,
    labels: np.ndarray | None,
    classes: np.ndarray | None,
    n_neighbors: int,
) -> dict[str, Any]:
    """Return the figures of values, neighbours and classes, from all entries of a dense matrix."""
    groups = similarity_groups(values, dissimilarity=dissimilarity)
    return {
        "symmetric": is_symmetric(values),
        "asymmetry": asymmetry(values),
        "minimum": float(values.min()),
        "maximum": float(values.max()),
        "sparsity": 1 - np.count_nonzero(values) / values.size,
        "n_distinct": len(np.unique(values)),
        "near_duplicates": len(values) - len(np.unique(groups)),
        "duplicates": figures.duplicate_rows(values),
        "self_similarity_not_maximal": figures.not_maximal(A, SYMMETRY_TOLERANCE[values.dtype]),
        "means": None if labels is None or classes is None else figures.class_means(A, labels, len(classes)),
        "scale": scale,
        **figures.neighbors(A, n_neighbors, labels),
    }


def _of_stored(
    given: Any,
    learned: LearnedMap | None,
    labels: np.ndarray | None,
    classes: np.ndarray | None,
    n_neighbors: int,
    extremes: bool,
) -> dict[str, Any]:
    """Return the same figures from all stored entries of a sparse matrix and, if wanted, its extreme eigenvalues."""
    S = for_lookup(read_similarity(given.S, orientation="any", takes_nan=True)[0])
    fill = None
    if given.absent != "zero":
        fill = LearnedFill.learn(S, _fill_of(given), dissimilarities=learned is not None)
    entries = stored.stored_entries(S) if fill is None else stored.stored_entries(S, fill.value, fill.own)
    similar = entries
    if learned is not None:
        data, absent = (_mapped(part, learned) for part in (entries.S.data[None], np.array([[entries.absent]])))
        similar = stored.Stored(type(S)((data[0], entries.S.indices, entries.S.indptr), shape=S.shape), absent.item())
    A, scale = stored.unit_scale(similar)
    minimum, maximum = stored.value_range(entries)
    kind = None if learned is None else learned.map_name
    groups = similarity_groups(Proximities(S, absent=given.absent), dissimilarity=kind)
    symmetric = stored.is_symmetric(entries)
    more: dict[str, Any] = {"extremes": stored.extreme_eigenvalues(A)} if extremes else {}
    if not symmetric:
        more["asymmetric_pairs"] = stored_asymmetric_pairs(entries, given.absent == "unknown")
        more["direction_errors"] = None if labels is None else stored_direction_errors(A, labels)
    return {
        **more,
        "symmetric": symmetric,
        "asymmetry": stored.asymmetry(entries),
        "minimum": minimum,
        "maximum": maximum,
        "sparsity": stored.zeros(entries),
        "n_distinct": stored.n_distinct(entries),
        "near_duplicates": S.shape[0] - len(np.unique(groups)),
        "duplicates": stored.duplicate_rows(entries),
        "self_similarity_not_maximal": stored.not_maximal(A, SYMMETRY_TOLERANCE[np.dtype(S.dtype)]),
        "means": None if labels is None or classes is None else stored.class_means(A, labels, len(classes)),
        "scale": scale,
        **stored.neighbors(A, n_neighbors, labels),
    }


def _mapped(values: Any, learned: LearnedMap) -> np.ndarray:
    with np.errstate(over="ignore", invalid="ignore"):
        similarities = learned(values, name="S")
    return check_similarity(
        similarities, name=f"S after dissimilarity={learned.map_name!r}", orientation="any", square=False
    )


def _encoded(y: Any, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the classes, and y as positions among them, checked as in every classifier."""
    with warnings.catch_warnings():
        # The card shows which classes are small.
        warnings.filterwarnings("ignore", "The number of unique classes", UserWarning)
        return np.unique(check_labels(y, n), return_inverse=True)


def _class_figures(classes: np.ndarray, labels: np.ndarray, means: list, scale: float) -> tuple[ClassFigures, ...]:
    return tuple(
        ClassFigures(
            label if isinstance(label, str | int | float) else str(label),
            count,
            _scaled(within, scale),
            _scaled(between, scale),
        )
        for label, count, (within, between) in zip(classes.tolist(), np.bincount(labels).tolist(), means)
    )


def _scaled(value: float | None, scale: float) -> float | None:
    """Return the value in the units of S, or None if it overflows."""
    if value is None or not np.isfinite(value * scale):
        return None
    return value * scale
