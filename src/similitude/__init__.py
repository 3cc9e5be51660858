"""Classifiers learned from pairwise similarities."""

from similitude._utils.versions import __version__ as __version__
from similitude.auto import AutoClassifier, CombinedClassifier, compare_similarities
from similitude.boosting import DBoostClassifier
from similitude.diagnosis import diagnose, disorder
from similitude.evaluation import PathSearchCV
from similitude.features import LandmarkClassifier, LPMachine, PotentialSVC
from similitude.generative import SDA, FusedClassifier, FusedKNN, LocalBDA, LocalSDA, MixtureSDA
from similitude.kernel import LearnedKernelSVC, LearnedSpectrumSVC, MixtureSVC, RobustSVC, SimilaritySVC
from similitude.meta import PairwiseMeta
from similitude.neighbors import KNNClassifier, LocalNearestCentroid, LocalNearestMeans, LocalSVC, NearestCentroid
from similitude.persistence import load_model, save_model
from similitude.proximity import (
    Proximities,
    SimilarityWarning,
    check_similarity,
    rescale,
    similarity_groups,
    symmetrize,
    to_dissimilarity,
    to_similarity,
    train_test_split,
)
from similitude.sets import PredictionSets
from similitude.splits import SimilarityGroupKFold, error_by_similarity
from similitude.theory import goodness
from similitude.transform import (
    DissimilarityToSimilarity,
    IndefiniteNystroem,
    MixedSimilarity,
    PseudoEuclideanEmbedding,
    Rescale,
    SimilarityFeatures,
    SpectrumModifier,
)

__all__ = [
    "SDA",
    "AutoClassifier",
    "CombinedClassifier",
    "DBoostClassifier",
    "DissimilarityToSimilarity",
    "FusedClassifier",
    "FusedKNN",
    "IndefiniteNystroem",
    "KNNClassifier",
    "LPMachine",
    "LandmarkClassifier",
    "LearnedKernelSVC",
    "LearnedSpectrumSVC",
    "LocalBDA",
    "LocalNearestCentroid",
    "LocalNearestMeans",
    "LocalSDA",
    "LocalSVC",
    "MixedSimilarity",
    "MixtureSDA",
    "MixtureSVC",
    "NearestCentroid",
    "PairwiseMeta",
    "PathSearchCV",
    "PotentialSVC",
    "PredictionSets",
    "Proximities",
    "PseudoEuclideanEmbedding",
    "Rescale",
    "RobustSVC",
    "SimilarityFeatures",
    "SimilarityGroupKFold",
    "SimilaritySVC",
    "SimilarityWarning",
    "SpectrumModifier",
    "check_similarity",
    "compare_similarities",
    "diagnose",
    "disorder",
    "error_by_similarity",
    "goodness",
    "load_model",
    "rescale",
    "save_model",
    "similarity_groups",
    "symmetrize",
    "to_dissimilarity",
    "to_similarity",
    "train_test_split",
]
