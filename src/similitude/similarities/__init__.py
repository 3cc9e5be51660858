"""Similarity functions on raw objects, the registry of their names, and the engine that fills matrices with them."""

from similitude.similarities._blocks import Block
from similitude.similarities.categorical import VDM, Goodall, TverskyContrast, TverskyRatio, counting, overlap
from similitude.similarities.distributions import EMD, Hausdorff, PyramidMatch
from similitude.similarities.documents import TfidfCosine
from similitude.similarities.elastic import elastic_family
from similitude.similarities.gaussian import RBF, RBFRows
from similitude.similarities.images import EuclideanImage, Tangent
from similitude.similarities.molecules import Tanimoto, Tversky, fingerprints, scaffolds
from similitude.similarities.noise import add_noise, quantize
from similitude.similarities.pairwise import neighbor_values, pairwise
from similitude.similarities.registry import Measure, batch, names, register, table
from similitude.similarities.sequences import NeedlemanWunsch, SmithWaterman
from similitude.similarities.series import as_series
from similitude.similarities.series_edits import EDR, ERP, LCSS, MSM, TWE
from similitude.similarities.series_lockstep import SBD, SeriesEuclidean
from similitude.similarities.sets import TverskyLinear, dice, jaccard
from similitude.similarities.strings import (
    LCS,
    Compression,
    DamerauLevenshtein,
    Indel,
    JaroWinkler,
    Levenshtein,
    Metaphone,
)
from similitude.similarities.timeseries import ADTW, DTW, WDTW, ShapeDTW
from similitude.similarities.vectors import (
    DeltaE94,
    RelativeEntropy,
    chebyshev,
    correlation,
    cosine,
    euclidean,
    manhattan,
)
from similitude.similarities.words import words_family

__all__ = [
    "ADTW",
    "DTW",
    "EDR",
    "EMD",
    "ERP",
    "LCS",
    "LCSS",
    "MSM",
    "RBF",
    "SBD",
    "TWE",
    "VDM",
    "WDTW",
    "Block",
    "Compression",
    "DamerauLevenshtein",
    "DeltaE94",
    "EuclideanImage",
    "Goodall",
    "Hausdorff",
    "Indel",
    "JaroWinkler",
    "Levenshtein",
    "Measure",
    "Metaphone",
    "NeedlemanWunsch",
    "PyramidMatch",
    "RBFRows",
    "RelativeEntropy",
    "SeriesEuclidean",
    "ShapeDTW",
    "SmithWaterman",
    "Tangent",
    "Tanimoto",
    "TfidfCosine",
    "Tversky",
    "TverskyContrast",
    "TverskyLinear",
    "TverskyRatio",
    "add_noise",
    "as_series",
    "batch",
    "chebyshev",
    "correlation",
    "cosine",
    "counting",
    "dice",
    "elastic_family",
    "euclidean",
    "fingerprints",
    "jaccard",
    "manhattan",
    "names",
    "neighbor_values",
    "overlap",
    "pairwise",
    "quantize",
    "register",
    "scaffolds",
    "table",
    "words_family",
]
