"""Transformers that modify spectra, embed samples, compute features, or turn dissimilarities into similarities."""

from similitude.transform.dissimilarity import DissimilarityToSimilarity, Rescale
from similitude.transform.embedding import Embedding, PseudoEuclideanEmbedding, pseudo_euclidean_embedding
from similitude.transform.landmarks import LandmarkEstimator, Landmarks, ToLandmarks, row_blocks
from similitude.transform.mixed import MixedSimilarity
from similitude.transform.nystroem import IndefiniteNystroem
from similitude.transform.prototypes import forward_selection
from similitude.transform.similarity_features import SimilarityFeatures
from similitude.transform.spectrum import SpectrumModifier

__all__ = [
    "DissimilarityToSimilarity",
    "Embedding",
    "IndefiniteNystroem",
    "LandmarkEstimator",
    "Landmarks",
    "MixedSimilarity",
    "PseudoEuclideanEmbedding",
    "Rescale",
    "SimilarityFeatures",
    "SpectrumModifier",
    "ToLandmarks",
    "forward_selection",
    "pseudo_euclidean_embedding",
    "row_blocks",
]
