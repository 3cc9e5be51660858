"""The diagnosis of a similarity matrix before learning from it."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse
from sklearn.utils import check_random_state

from similitude._utils.checks import check_integer
from similitude._utils.ids import labels_in_order
from similitude.diagnosis import figures
from similitude.diagnosis.advice import advice
from similitude.diagnosis.disorder import figure as disorder_figure
from similitude.diagnosis.result import ClassFigures, Diagnosis
from similitude.labels import check_labels
from similitude.numerics.eigen import ZERO_TOLERANCE
from similitude.proximity.check import (
    SYMMETRY_TOLERANCE,
    asymmetry,
    check_similarity,
    dense,
    is_symmetric,
    looks_like_dissimilarity,
    read_similarity,
)
from similitude.proximity.groups import similarity_groups
from similitude.proximity.maps import LearnedMap, check_map
from similitude.proximity.proximities import as_proximities
from similitude.proximity.split import cut
from similitude.proximity.unknown import LearnedFill, known_counts

if TYPE_CHECKING:
    from similitude._utils.types import LabelsLike, ProximityLike, RandomState


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
      For the leave-one-out error, ties are ranked by position.

    Parameters
    ----------
    S : array-like, memmap, DataFrame, sparse matrix or Proximities of shape (n, n)
        Similarities, or dissimilarities if ``dissimilarity`` is given.
    y : array-like of shape (n,), default=None
        Class labels.
    dissimilarity : str, default=None
        The map that turns S into a similarity: see :mod:`similitude.proximity.maps`.
    max_samples : int, default=5000
        If there are more samples, this many are drawn at random and the others are not read; class counts are those of
        all samples.
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
    given = as_proximities(S, distances=dissimilarity is not None)
    matrix, y = given.S, labels_in_order(y, S)
    checked, drawn = _checked(matrix, max_samples, rng)
    unknown, checked = _completed(checked, given, dissimilarity)
    n = matrix.shape[0]
    classes, labels = (None, None) if y is None else _encoded(y, n)

    mapped = None if dissimilarity is None else _mapped(checked, dissimilarity)
    values = dense(checked)
    A, scale = figures.unit_scale(values if mapped is None else mapped)
    symmetric = is_symmetric(values)
    tolerance = SYMMETRY_TOLERANCE[values.dtype]
    eigenvalues = figures.eigenvalues(A, symmetric, max(ZERO_TOLERANCE, tolerance))
    spectrum = figures.spectrum(eigenvalues)
    raw = A if mapped is None else figures.unit_scale(values)[0]
    near = figures.neighbors(A, n_neighbors)
    by_class = None if classes is None or labels is None else _class_figures(A, scale, classes, labels, drawn)
    found = Diagnosis(
        n=n,
        n_sampled=len(values),
        dtype=str(getattr(matrix, "dtype", values.dtype)),
        sparse=sparse.issparse(matrix),
        dissimilarity=dissimilarity,
        symmetric=symmetric,
        asymmetry=asymmetry(values),
        minimum=float(values.min()),
        maximum=float(values.max()),
        sparsity=1 - np.count_nonzero(values) / values.size,
        n_distinct=len(np.unique(values)),
        near_duplicates=len(values) - len(np.unique(similarity_groups(values, dissimilarity=dissimilarity))),
        unknown=float(unknown),
        duplicates=figures.duplicate_rows(values),
        looks_like_dissimilarity=dissimilarity is None and looks_like_dissimilarity(values),
        self_similarity_not_maximal=figures.not_maximal(A, tolerance),
        smallest_eigenvalue=_scaled(spectrum.smallest, scale),
        largest_eigenvalue=_scaled(spectrum.largest, scale),
        negative_eigenfraction=spectrum.negative_eigenfraction,
        negative_eigenratio=spectrum.negative_eigenratio,
        rank=spectrum.rank,
        psd=spectrum.smallest >= 0,
        triangle_violations=figures.triangle_violations(raw, n_triples, rng, tolerance, dissimilarity is None),
        intrinsic_dimension=figures.intrinsic_dimension(raw, tolerance, dissimilarity is None),
        n_neighbors=near.n_neighbors,
        hubness=near.hubness,
        neighbor_ties=near.ties,
        disorder=disorder_figure(A, rng),
        classes=by_class,
        leave_one_out_error=None if labels is None else _error(labels[drawn], near.nearest),
        eigenvalues=figures.rescaled(eigenvalues, scale),
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
    """Return the share of unknown values, and the values with unknown ones filled; farthest pairs are filled, too."""
    sparse_as = given.absent if sparse.issparse(values) else None
    unknown = 0.0
    if sparse_as == "unknown" or (sparse_as is None and np.isnan(values).any()):
        unknown = 1 - known_counts(values).sum() / max(1, np.prod(values.shape))
    elif sparse_as != "farthest" or dissimilarity is None:
        return unknown, values
    fill = "farthest" if sparse_as == "farthest" else given.fill or "class-blind mean"
    return unknown, LearnedFill.learn(values, fill, dissimilarities=dissimilarity is not None)(values, square=True)


def _mapped(values: Any, map_name: str) -> np.ndarray:
    with np.errstate(over="ignore", invalid="ignore"):
        similarities = LearnedMap.learn(values, map_name, name="S")(values, name="S")
    return check_similarity(similarities, name=f"S after dissimilarity={map_name!r}", orientation="any")


def _encoded(y: Any, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the classes, and y as positions among them, checked as in every classifier."""
    with warnings.catch_warnings():
        # The card shows which classes are small.
        warnings.filterwarnings("ignore", "The number of unique classes", UserWarning)
        try:
            return np.unique(check_labels(y, n), return_inverse=True)
        except TypeError as error:
            raise ValueError(
                f"y must hold labels of one kind, all numbers or all strings; got a mix ({error})."
            ) from None


def _class_figures(
    A: np.ndarray, scale: float, classes: np.ndarray, labels: np.ndarray, drawn: np.ndarray
) -> tuple[ClassFigures, ...]:
    counts = np.bincount(labels, minlength=len(classes)).tolist()
    means = figures.class_means(A, labels[drawn], len(classes))
    return tuple(
        ClassFigures(_plain(label), count, _scaled(within, scale), _scaled(between, scale))
        for label, count, (within, between) in zip(classes.tolist(), counts, means)
    )


def _plain(label: Any) -> Any:
    return label if isinstance(label, str | int | float) else str(label)


def _scaled(value: float | None, scale: float) -> float | None:
    """Return the value in the units of S, or None if it overflows."""
    if value is None or not np.isfinite(value * scale):
        return None
    return value * scale


def _error(labels: np.ndarray, nearest: np.ndarray | None) -> float | None:
    return None if nearest is None else float(np.mean(labels[nearest] != labels))
