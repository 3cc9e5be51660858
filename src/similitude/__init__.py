"""Classifiers learned from pairwise similarities."""

_LAZY = {'DBoostClassifier': 'similitude.boosting.dboost', 'diagnose': 'similitude.diagnosis', 'disorder': 'similitude.diagnosis', 'LandmarkClassifier': 'similitude.features.landmark_classifier', 'LPMachine': 'similitude.features.lp_machine', 'PotentialSVC': 'similitude.features.potential_svc', 'SimilarityFeatures': 'similitude.transform.similarity_features', 'FusedClassifier': 'similitude.generative.fused', 'FusedKNN': 'similitude.generative.fused_knn', 'LocalBDA': 'similitude.generative.local_bda', 'LocalSDA': 'similitude.generative.local_sda', 'MixtureSDA': 'similitude.generative.mixture_sda', 'SDA': 'similitude.generative.sda', 'LearnedKernelSVC': 'similitude.kernel.learned_kernel', 'LearnedSpectrumSVC': 'similitude.kernel.learned_spectrum', 'RobustSVC': 'similitude.kernel.robust_svc', 'SimilaritySVC': 'similitude.kernel.similarity_svc', 'PairwiseMeta': 'similitude.meta', 'KNNClassifier': 'similitude.neighbors.knn', 'LocalSVC': 'similitude.neighbors.local_svc', 'LocalNearestCentroid': 'similitude.neighbors.nearest_centroid', 'NearestCentroid': 'similitude.neighbors.nearest_centroid', 'LocalNearestMeans': 'similitude.neighbors.nearest_means', 'load_model': 'similitude.persistence', 'save_model': 'similitude.persistence', 'SimilarityWarning': 'similitude.proximity.check', 'check_similarity': 'similitude.proximity.check', 'PseudoEuclideanEmbedding': 'similitude.transform.embedding', 'pseudo_euclidean_embedding': 'similitude.transform.embedding', 'rescale': 'similitude.proximity.maps', 'to_dissimilarity': 'similitude.proximity.maps', 'to_similarity': 'similitude.proximity.maps', 'Proximities': 'similitude.proximity.proximities', 'train_test_split': 'similitude.proximity.split', 'symmetrize': 'similitude.proximity.symmetry', 'DissimilarityToSimilarity': 'similitude.transform.dissimilarity', 'Rescale': 'similitude.transform.dissimilarity', 'AutoClassifier': 'similitude.search.auto', 'PathSearchCV': 'similitude.search.path_search', 'SpectrumModifier': 'similitude.transform.spectrum', 'IndefiniteNystroem': 'similitude.transform.nystroem', 'error_bound': 'similitude.theory.bounds', 'generalization_bound': 'similitude.theory.bounds', 'generalization_bound_of': 'similitude.theory.bounds', 'pairs_needed': 'similitude.theory.bounds', 'goodness': 'similitude.theory.goodness'}


def __getattr__(name):
    import importlib

    if name in _LAZY:
        return getattr(importlib.import_module(_LAZY[name]), name)
    raise AttributeError(name)


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
