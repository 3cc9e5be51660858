"""Similarity functions on raw objects, the registry of their names, and the engine that fills matrices with them."""

from similitude.similarities._blocks import Block
from similitude.similarities.categorical import VDM, Goodall, TverskyContrast, TverskyRatio, counting, overlap
from similitude.similarities.distributions import EMD, Hausdorff, PyramidMatch
from similitude.similarities.documents import TfidfCosine
from similitude.similarities.fingerprint import fingerprint_of_measure
from similitude.similarities.gaussian import RBF, RBFRows
from similitude.similarities.images import EuclideanImage, Tangent
from similitude.similarities.noise import add_noise, quantize
from similitude.similarities.pairwise import (
    Comparison,
    MatrixInMemory,
    Named,
    Target,
    append_objects,
    check_objects,
    check_sequence,
    named_values,
    pairwise,
    show_blocks,
    sliceable,
)
from similitude.similarities.registry import Measure, batch, names, register, resolve, table
from similitude.similarities.sequences import NeedlemanWunsch, SmithWaterman
from similitude.similarities.sets import TverskyLinear, dice, jaccard
from similitude.similarities.strings import LCS, Compression, DamerauLevenshtein, Indel, JaroWinkler, Levenshtein
from similitude.similarities.timeseries import DTW
from similitude.similarities.vectors import (
    DeltaE94,
    RelativeEntropy,
    chebyshev,
    correlation,
    cosine,
    euclidean,
    manhattan,
)

__all__ = [
    "DTW",
    "EMD",
    "LCS",
    "RBF",
    "VDM",
    "Block",
    "Comparison",
    "Compression",
    "DamerauLevenshtein",
    "DeltaE94",
    "EuclideanImage",
    "Goodall",
    "Hausdorff",
    "Indel",
    "JaroWinkler",
    "Levenshtein",
    "MatrixInMemory",
    "Measure",
    "Named",
    "NeedlemanWunsch",
    "PyramidMatch",
    "RBFRows",
    "RelativeEntropy",
    "SmithWaterman",
    "Tangent",
    "Target",
    "TfidfCosine",
    "TverskyContrast",
    "TverskyLinear",
    "TverskyRatio",
    "add_noise",
    "append_objects",
    "batch",
    "chebyshev",
    "check_objects",
    "check_sequence",
    "correlation",
    "cosine",
    "counting",
    "dice",
    "euclidean",
    "fingerprint_of_measure",
    "jaccard",
    "manhattan",
    "named_values",
    "names",
    "overlap",
    "pairwise",
    "quantize",
    "register",
    "resolve",
    "show_blocks",
    "sliceable",
    "table",
]
