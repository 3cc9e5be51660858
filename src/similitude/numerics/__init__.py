"""Numerical functions that several rooms share: spectra, neighbour selection, votes, medoids, calibration."""

from similitude.numerics.alignment import aligned_weights, centred, spread
from similitude.numerics.calibration import Calibrator, calibrators
from similitude.numerics.eigen import ZERO_TOLERANCE, cut_zeros, eigh, negative_eigenfraction
from similitude.numerics.machines import LARGEST_GAP, Machines, MachineSolution, solve_machines
from similitude.numerics.medoids import choose_by_class, k_centres, k_medoids, per_class
from similitude.numerics.near_one import exponent_of, near_one
from similitude.numerics.nystroem import (
    NystroemFeatures,
    NystroemSpectrum,
    decompose,
    decompose_whole,
    modified_features,
    triangle,
)
from similitude.numerics.shared import once, shared_work
from similitude.numerics.significance import holm, mcnemar, paired_differences, standard_error, wilcoxon_greater
from similitude.numerics.spectrum import (
    SPECTRA,
    RowMap,
    mapped_rows,
    modified_eigenvalues,
    modified_matrix,
    row_map_weights,
    spectrum_shift,
)
from similitude.numerics.topk import check_n_neighbors, top_k
from similitude.numerics.votes import (
    TIE_TOLERANCE,
    expected_costs,
    first_of_best,
    log_of,
    neighbor_votes,
    one_vs_one,
    posterior_from_votes,
    rescaled_by_priors,
    weighting_votes,
)

__all__ = [
    "LARGEST_GAP",
    "SPECTRA",
    "TIE_TOLERANCE",
    "ZERO_TOLERANCE",
    "Calibrator",
    "MachineSolution",
    "Machines",
    "NystroemFeatures",
    "NystroemSpectrum",
    "RowMap",
    "aligned_weights",
    "calibrators",
    "centred",
    "check_n_neighbors",
    "choose_by_class",
    "cut_zeros",
    "decompose",
    "decompose_whole",
    "eigh",
    "expected_costs",
    "exponent_of",
    "first_of_best",
    "holm",
    "k_centres",
    "k_medoids",
    "log_of",
    "mapped_rows",
    "mcnemar",
    "modified_eigenvalues",
    "modified_features",
    "modified_matrix",
    "near_one",
    "negative_eigenfraction",
    "neighbor_votes",
    "once",
    "one_vs_one",
    "paired_differences",
    "per_class",
    "posterior_from_votes",
    "rescaled_by_priors",
    "row_map_weights",
    "shared_work",
    "solve_machines",
    "spectrum_shift",
    "spread",
    "standard_error",
    "top_k",
    "triangle",
    "weighting_votes",
    "wilcoxon_greater",
]
