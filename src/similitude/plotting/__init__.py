"""Display classes in the manner of scikit-learn, drawn with matplotlib."""

from similitude.plotting._drawing import COLORS, DASHES
from similitude.plotting.alignment import AlignmentDisplay
from similitude.plotting.critical_difference import CriticalDifferenceDisplay
from similitude.plotting.error_by_similarity import ErrorBySimilarityDisplay
from similitude.plotting.error_curve import ErrorCurveDisplay
from similitude.plotting.goodness import GoodnessDisplay
from similitude.plotting.neighbor_weights import WEIGHT_EXAMPLES, NeighborWeightsDisplay
from similitude.plotting.risk_coverage import RiskCoverageDisplay
from similitude.plotting.similarity_map import SimilarityMapDisplay
from similitude.plotting.similarity_matrix import SimilarityMatrixDisplay
from similitude.plotting.similarity_model import SimilarityModelDisplay
from similitude.plotting.spectrum import SpectrumDisplay

__all__ = [
    "COLORS",
    "DASHES",
    "WEIGHT_EXAMPLES",
    "AlignmentDisplay",
    "CriticalDifferenceDisplay",
    "ErrorBySimilarityDisplay",
    "ErrorCurveDisplay",
    "GoodnessDisplay",
    "NeighborWeightsDisplay",
    "RiskCoverageDisplay",
    "SimilarityMapDisplay",
    "SimilarityMatrixDisplay",
    "SimilarityModelDisplay",
    "SpectrumDisplay",
]
