"""The result of a diagnosis."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from similitude.diagnosis.card import card
from similitude.diagnosis.directions import AsymmetricPair, DirectionErrors


@dataclass(frozen=True)
class ClassFigures:
    """The number of samples of one class, and their mean similarities."""

    label: Any
    count: int
    within: float | None
    between: float | None


@dataclass(frozen=True, repr=False)
class Diagnosis:
    """The result of :func:`~similitude.diagnosis.diagnose`; ``str()`` returns it as a card of plain text.

    A figure that is not defined (such as the variance of one sample) is None.

    Parameters
    ----------
    n : int
        The number of samples.
    n_sampled : int
        The number of samples that the figures of the spectrum, the triangle inequality, the intrinsic dimension and the
        disorder come from (all figures for a dense matrix); fewer than ``n`` if a random subset was drawn.
    dtype : str
        The data type of the given matrix.
    sparse : bool
        Whether the given matrix was sparse.
    dissimilarity : str or None
        The map that turned it into a similarity.
    symmetric : bool
        Whether it equals its transpose up to rounding. This and the next six figures describe the given values.
    asymmetry : float
        ``||S - S^T||_F / (2 ||S||_F)``, from 0 to 1.
    minimum, maximum : float
        The range of the values.
    sparsity : float
        Share of zeros.
    n_distinct : int
        Number of distinct values.
    duplicates : int
        Number of samples whose row equals an earlier row.
    looks_like_dissimilarity : bool
        Whether the values of nearly all samples with themselves are the smallest of their rows, although
        ``dissimilarity`` is None.
    self_similarity_not_maximal : float
        Share of the samples i with ``s_ii < max_j s_ij``, by more than rounding.
    smallest_eigenvalue, largest_eigenvalue : float or None
        Extreme eigenvalues of the symmetrised similarity, where those that count as zero are 0; None if they overflow.
    negative_eigenfraction : float
        NEF: ``sum |negative lambda| / sum |lambda|``.
    negative_eigenratio : float or None
        NER: ``|lambda_min| / lambda_max``, 0 without negative eigenvalues; None if no eigenvalue is positive.
    rank : int
        Number of nonzero eigenvalues.
    psd : bool
        Whether no eigenvalue is negative.
    triangle_violations : float or None
        Share of triples that break the triangle inequality; None for fewer than three samples.
    intrinsic_dimension : float or None
        ``2 mean(d^2)^2 / var(d^2)``; None if all pairs are equally far apart or d^2 is not positive on average.
    n_neighbors : int
        The number k of neighbours for the next two figures.
    hubness : float or None
        Skewness of the number of lists of k nearest neighbours in which a sample occurs.
    neighbor_ties : float or None
        Share of the samples whose k-th and next neighbour are equally similar, so several share the last places.
    disorder : float or None
        The smallest D with ``rank_x(y) <= D (rank_z(x) + rank_z(y))`` for 95% of the triples drawn: see
        :func:`~similitude.disorder`; None for fewer than three samples.
    classes : tuple of ClassFigures, or None
        The classes in sorted order; None without labels.
    leave_one_out_error : float or None
        The leave-one-out error of the nearest neighbour, of the samples whose row gives evidence; several nearest
        neighbours count with their mean error. None without labels, or if no row gives evidence.
    advice : tuple of str
        Sentences that follow from the figures.
    near_duplicates : int
        Number of samples that are linked with earlier ones as duplicates or near-duplicates: see
        :func:`~similitude.similarity_groups`.
    unknown : float
        Share of unknown entries (NaN, or absent from a sparse matrix with ``absent="unknown"``), in whose place the
        other figures use the fill of ``Proximities``, by default the mean of the known values of different samples.
    without_evidence : int
        Number of examined samples whose similarities to all others are equal, so their row gives no evidence.
    from_stored : bool
        Whether all figures that do not need all pairs come from all stored entries of a sparse matrix.
    extremes_of_all : bool
        Whether the extreme eigenvalues, and ``psd`` and NER, which follow from them, are those of all samples of a
        sparse matrix, of which the other figures of the spectrum examine some.
    asymmetric_pairs : tuple of AsymmetricPair
        The pairs whose two directions differ most, at most ten: the positions of both samples, and both values, of
        which the first is the larger. Pairs of which a direction is unknown do not count.
    direction_errors : DirectionErrors or None
        If S is asymmetric, the leave-one-out errors of the nearest neighbour by rows (``leave_one_out_error``), by
        columns, and by the mean of both directions; None if S is symmetric, or without labels.
    eigenvalues : ndarray of shape (n_sampled,) or None
        All eigenvalues in descending order, as :func:`~similitude.diagnosis.pictures.spectra` shows them; None if they
        overflow. ``to_dict`` leaves them out.

    See Also
    --------
    similitude.diagnose : Return figures that describe a similarity matrix, and advice that follows from them.
    Disorder : The result of ``disorder``.
    """

    n: int
    n_sampled: int
    dtype: str
    sparse: bool
    dissimilarity: str | None
    symmetric: bool
    asymmetry: float
    minimum: float
    maximum: float
    sparsity: float
    n_distinct: int
    duplicates: int
    looks_like_dissimilarity: bool
    self_similarity_not_maximal: float
    smallest_eigenvalue: float | None
    largest_eigenvalue: float | None
    negative_eigenfraction: float
    negative_eigenratio: float | None
    rank: int
    psd: bool
    triangle_violations: float | None
    intrinsic_dimension: float | None
    n_neighbors: int
    hubness: float | None
    neighbor_ties: float | None
    disorder: float | None
    classes: tuple[ClassFigures, ...] | None
    leave_one_out_error: float | None
    advice: tuple[str, ...] = ()
    near_duplicates: int = 0
    unknown: float = 0.0
    without_evidence: int = 0
    from_stored: bool = False
    extremes_of_all: bool = False
    asymmetric_pairs: tuple[AsymmetricPair, ...] = ()
    direction_errors: DirectionErrors | None = None
    eigenvalues: np.ndarray | None = field(default=None, compare=False)

    @property
    def n_examined(self) -> int:
        """The number of samples that figures of values, neighbours and classes come from."""
        return self.n if self.from_stored else self.n_sampled

    def __str__(self) -> str:
        return card(self)

    def __repr__(self) -> str:
        shape = "symmetric" if self.symmetric else "asymmetric"
        sign = "PSD" if self.psd else f"indefinite (NEF {self.negative_eigenfraction:.2g})"
        return f"<Diagnosis of {self.n} samples: {shape}, {sign}; print() shows the card>"

    def to_dict(self) -> dict[str, Any]:
        """Return all figures as plain Python values that JSON can hold.

        Returns
        -------
        dict
        """
        figures = asdict(self)
        del figures["eigenvalues"]
        figures["advice"] = list(self.advice)
        figures["asymmetric_pairs"] = list(figures["asymmetric_pairs"])
        figures["classes"] = None if self.classes is None else list(figures["classes"])
        return figures
