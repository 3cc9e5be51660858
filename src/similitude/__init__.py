"""Classifiers learned from pairwise similarities."""

from similitude._utils.versions import __version__ as __version__
from similitude.auto import AutoClassifier, CombinedClassifier, compare_similarities
from similitude.boosting.dboost import DBoostClassifier
from similitude.boosting.proximity_forest import ProximityForest
from similitude.diagnosis import diagnose, disorder
from similitude.evaluation import PathSearchCV
from similitude.features.landmark_classifier import LandmarkClassifier
from similitude.features.lp_machine import LPMachine
from similitude.features.potential_svc import PotentialSVC
from similitude.generative.fused import FusedClassifier
from similitude.generative.fused_knn import FusedKNN
from similitude.generative.local_bda import LocalBDA
from similitude.generative.local_sda import LocalSDA
from similitude.generative.mixture_sda import MixtureSDA
from similitude.generative.sda import SDA
from similitude.kernel.kernel_ridge import KernelRidgeClassifier
from similitude.kernel.learned_kernel import LearnedKernelSVC
from similitude.kernel.learned_spectrum import LearnedSpectrumSVC
from similitude.kernel.mixture_svc import MixtureSVC
from similitude.kernel.robust_svc import RobustSVC
from similitude.kernel.similarity_svc import SimilaritySVC
from similitude.meta import PairwiseMeta
from similitude.multilabel import HierarchicalClassifier, LabelTree, MultilabelClassifier
from similitude.neighbors.graph_classifier import GraphClassifier
from similitude.neighbors.knn import KNNClassifier
from similitude.neighbors.local_svc import LocalSVC
from similitude.neighbors.nearest_centroid import LocalNearestCentroid, NearestCentroid
from similitude.neighbors.nearest_means import LocalNearestMeans
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
from similitude.transform.dissimilarity import DissimilarityToSimilarity, Rescale
from similitude.transform.embedding import PseudoEuclideanEmbedding
from similitude.transform.mixed import MixedSimilarity
from similitude.transform.nystroem import IndefiniteNystroem
from similitude.transform.similarity_features import SimilarityFeatures
from similitude.transform.spectrum import SpectrumModifier

__all__ = [
    "SDA",
    "AutoClassifier",
    "CombinedClassifier",
    "DBoostClassifier",
    "DissimilarityToSimilarity",
    "FusedClassifier",
    "FusedKNN",
    "GraphClassifier",
    "HierarchicalClassifier",
    "IndefiniteNystroem",
    "KNNClassifier",
    "KernelRidgeClassifier",
    "LPMachine",
    "LabelTree",
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
    "MultilabelClassifier",
    "NearestCentroid",
    "PairwiseMeta",
    "PathSearchCV",
    "PotentialSVC",
    "PredictionSets",
    "Proximities",
    "ProximityForest",
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
