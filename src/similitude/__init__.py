"""Classifiers learned from pairwise similarities."""

from similitude.boosting.dboost import DBoostClassifier
from similitude.diagnosis import diagnose, disorder
from similitude.features.landmark_classifier import LandmarkClassifier
from similitude.features.lp_machine import LPMachine
from similitude.features.potential_svc import PotentialSVC
from similitude.transform.similarity_features import SimilarityFeatures
from similitude.generative.fused import FusedClassifier
from similitude.generative.fused_knn import FusedKNN
from similitude.generative.local_bda import LocalBDA
from similitude.generative.local_sda import LocalSDA
from similitude.generative.mixture_sda import MixtureSDA
from similitude.generative.sda import SDA
from similitude.kernel.learned_kernel import LearnedKernelSVC
from similitude.kernel.learned_spectrum import LearnedSpectrumSVC
from similitude.kernel.robust_svc import RobustSVC
from similitude.kernel.similarity_svc import SimilaritySVC
from similitude.meta import PairwiseMeta
from similitude.neighbors.knn import KNNClassifier
from similitude.neighbors.local_svc import LocalSVC
from similitude.neighbors.nearest_centroid import LocalNearestCentroid, NearestCentroid
from similitude.neighbors.nearest_means import LocalNearestMeans
from similitude.persistence import load_model, save_model
from similitude.proximity.check import SimilarityWarning, check_similarity
from similitude.transform.embedding import PseudoEuclideanEmbedding, pseudo_euclidean_embedding
from similitude.proximity.maps import rescale, to_dissimilarity, to_similarity
from similitude.proximity.proximities import Proximities
from similitude.proximity.split import train_test_split
from similitude.proximity.symmetry import symmetrize
from similitude.transform.dissimilarity import DissimilarityToSimilarity, Rescale
from similitude.search.auto import AutoClassifier
from similitude.search.path_search import PathSearchCV
from similitude.transform.spectrum import SpectrumModifier
from similitude.transform.nystroem import IndefiniteNystroem
from similitude.theory.bounds import error_bound, generalization_bound, generalization_bound_of, pairs_needed
from similitude.theory.goodness import goodness

__version__ = "0.1.0"

__all__ = [
    "SDA",
    "AutoClassifier",
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
    "MixtureSDA",
    "NearestCentroid",
    "PairwiseMeta",
    "PathSearchCV",
    "PotentialSVC",
    "Proximities",
    "PseudoEuclideanEmbedding",
    "Rescale",
    "RobustSVC",
    "SimilarityFeatures",
    "SimilaritySVC",
    "SimilarityWarning",
    "SpectrumModifier",
    "check_similarity",
    "diagnose",
    "disorder",
    "error_bound",
    "generalization_bound",
    "generalization_bound_of",
    "goodness",
    "load_model",
    "pairs_needed",
    "pseudo_euclidean_embedding",
    "rescale",
    "save_model",
    "symmetrize",
    "to_dissimilarity",
    "to_similarity",
    "train_test_split",
]
