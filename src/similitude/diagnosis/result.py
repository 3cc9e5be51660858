"""The result of a diagnosis."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from similitude.diagnosis.card import card


@dataclass(frozen=True)
class ClassFigures:
    """One class: how many samples it has, and how alike they are.

    Parameters
    ----------
    label : str, int, float or bool
    count : int
        Among all samples.
    within : float or None
        Mean similarity of two different samples of the class; None where fewer than two were examined.
    between : float or None
        Mean similarity of its samples to those of other classes, both directions; None where there are none.
    """

    label: Any
    count: int
    within: float | None
    between: float | None


@dataclass(frozen=True, repr=False)
class Diagnosis:
    """The result of :func:`~similitude.diagnosis.diagnose`; ``str()`` of it is a card to read.

    A figure that is not defined (a spread of one sample, say) is None.

    Parameters
    ----------
    n : int
        Samples.
    n_sampled : int
        Samples that the figures come from; fewer than ``n`` where a random subset was drawn.
    dtype : str
        As given.
    sparse : bool
        Whether the matrix came as a sparse one.
    dissimilarity : str or None
        The map that made it a similarity.
    symmetric : bool
        Whether it equals its transpose up to rounding. This and the next six are about the values as given.
    asymmetry : float
        ``||S - S^T||_F / (2 ||S||_F)``, from 0 to 1.
    minimum, maximum : float
        Its range.
    sparsity : float
        Share of zeros.
    n_distinct : int
        Number of distinct values.
    duplicates : int
        Samples whose row equals an earlier row.
    looks_like_dissimilarity : bool
        Zero diagonal, positive elsewhere, and not said to be a dissimilarity.
    self_similarity_not_maximal : float
        Share of the samples i with ``s_ii < max_j s_ij``, by more than rounding.
    smallest_eigenvalue, largest_eigenvalue : float or None
        Of the symmetrised similarity, those that count as zero set to zero; None where too large for a float.
    negative_eigenfraction : float
        NEF: ``sum |negative lambda| / sum |lambda|``.
    negative_eigenratio : float or None
        NER: ``|lambda_min| / lambda_max``, 0 without negative ones; None where none is positive.
    rank : int
        Eigenvalues that are not zero.
    psd : bool
        Whether no eigenvalue is negative.
    triangle_violations : float or None
        Share of triples that break the triangle inequality; None below three samples.
    intrinsic_dimension : float or None
        ``2 mean(d^2)^2 / var(d^2)``; None where all pairs are equally far apart or d^2 is not positive on average.
    n_neighbors : int
        k of the next two.
    hubness : float or None
        Skewness of the number of lists of k nearest neighbours in which a sample occurs.
    neighbor_ties : float or None
        Share of the samples whose k-th and next neighbour are equally similar, so that the order decides.
    disorder : float or None
        The smallest D with ``rank_x(y) <= D (rank_z(x) + rank_z(y))`` for 95% of the triples drawn: see
        :func:`~similitude.disorder`; None below three samples.
    classes : tuple of ClassFigures, or None
        In sorted order; None without labels.
    leave_one_out_error : float or None
        Of the nearest neighbour.
    advice : tuple of str
        What follows, in sentences.
    eigenvalues : ndarray of shape (n_sampled,) or None
        All of them in descending order, as :func:`~similitude.diagnosis.pictures.spectra` shows them; None where they
        are too large for a float. ``to_dict`` leaves them out.
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
    eigenvalues: np.ndarray | None = field(default=None, compare=False)

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
        figures["classes"] = None if self.classes is None else list(figures["classes"])
        return figures
