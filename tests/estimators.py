"""The estimators that the common tests run on, and the checks expected to fail, each with its reason."""

import sklearn
from sklearn.ensemble import BaggingClassifier
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC
from sklearn.utils.fixes import parse_version

import similitude
from similitude import (
    SDA,
    AutoClassifier,
    CombinedClassifier,
    DBoostClassifier,
    DissimilarityToSimilarity,
    FusedClassifier,
    FusedKNN,
    GraphClassifier,
    HierarchicalClassifier,
    IndefiniteNystroem,
    KernelRidgeClassifier,
    KNNClassifier,
    LandmarkClassifier,
    LearnedKernelSVC,
    LearnedSpectrumSVC,
    LocalBDA,
    LocalNearestCentroid,
    LocalNearestMeans,
    LocalSDA,
    LocalSVC,
    LPMachine,
    MixedSimilarity,
    MixtureSDA,
    MixtureSVC,
    MultilabelClassifier,
    NearestCentroid,
    PairwiseMeta,
    PathSearchCV,
    PotentialSVC,
    PredictionSets,
    ProximityForest,
    PseudoEuclideanEmbedding,
    Rescale,
    RobustSVC,
    SimilarityFeatures,
    SimilaritySVC,
    SpectrumModifier,
)
from similitude.base import SimilarityClassifier
from similitude.features.recipes import RECIPES, RegularizedQuadratic, recipe
from similitude.features.vector_svc import GaussianSVC, LinearKernelSVC
from similitude.neighbors.weights import SIMILARITY_WEIGHTS

# One of each family: what reads its input, fits and predicts in code of its own. The contract is checked on these.
CLASSIFIERS = [
    GraphClassifier(n_neighbors=3),
    KNNClassifier(n_neighbors=3),
    KNNClassifier(n_neighbors=5, weights="kri"),
    NearestCentroid(),
    LocalNearestCentroid(n_neighbors=5),
    LocalSVC(n_neighbors=5),
    SimilaritySVC(),
    KernelRidgeClassifier(),
    RobustSVC(),
    LearnedSpectrumSVC(target="clip"),
    LearnedKernelSVC(),
    MixtureSVC(target="clip"),
    PotentialSVC(),
    LPMachine(),
    LandmarkClassifier(random_state=0),
    DBoostClassifier(n_rounds=20, n_pairs=10, random_state=0),
    ProximityForest(20, 3, random_state=0),
    SDA(),
    LocalSDA(n_neighbors=5),
    MixtureSDA(n_components=2),
    FusedClassifier(),
    FusedKNN(n_neighbors=3),
    PathSearchCV(KNNClassifier(), {"n_neighbors": [1, 3]}, cv=2),
    AutoClassifier(["k-NN", "local SDA"], cv=2),
    CombinedClassifier(n_folds=2),
    PredictionSets(KNNClassifier(3), confidence=0.5, class_conditional=False, cv=2),
    PairwiseMeta(BaggingClassifier(KNNClassifier(), n_estimators=3, random_state=0)),
]
TRANSFORMERS = [
    SpectrumModifier(),
    PseudoEuclideanEmbedding(),
    DissimilarityToSimilarity(),
    Rescale(),
    SimilarityFeatures(),
    MixedSimilarity(),
    IndefiniteNystroem(random_state=0),
]
# On an indefinite or badly scaled kernel libsvm may never stop: max_iter ends it.
PIPELINES = [make_pipeline(SpectrumModifier(), SVC(kernel="precomputed", max_iter=10_000))]
# Other public classifiers on similarities are checked with their default parameters.
_LISTED = {type(estimator) for estimator in CLASSIFIERS}
_PUBLIC = [value for value in vars(similitude).values() if isinstance(value, type)]
CLASSIFIERS += [kind() for kind in _PUBLIC if issubclass(kind, SimilarityClassifier) and kind not in _LISTED]
FAMILIES = [*CLASSIFIERS, *TRANSFORMERS, *PIPELINES]

# Parameters with which a family takes other code once the input is read: for checks of the computations.
VARIANTS = [
    *(KNNClassifier(n_neighbors=3, weights=weights) for weights in SIMILARITY_WEIGHTS if weights != "uniform"),
    KNNClassifier(n_neighbors=5, weights="kri", reg=0.1, spectrum="none"),
    KNNClassifier(n_neighbors=5, weights="krr", spectrum="pinv"),
    KNNClassifier(n_neighbors=5, weights="krr", spectrum="flip", consistent=True),
    KNNClassifier(n_neighbors=5, weights="lime", spectrum="shift"),
    LocalSVC(n_neighbors=7, C=100.0, spectrum="flip"),
    LocalSVC(n_neighbors=6, spectrum="shift"),
    LocalSVC(n_neighbors=6, spectrum="none"),
    LocalSVC(n_neighbors=4, spectrum="learned", gamma=0.1),
    SimilaritySVC(spectrum="flip"),
    SimilaritySVC(spectrum="shift"),
    SimilaritySVC(spectrum="square"),
    SimilaritySVC(10.0, "none", class_weight="balanced"),
    LearnedSpectrumSVC(eta=0.1, gamma=0.1, target="auto"),
    MixtureSVC(eta=0.1, gamma=0.1, target="flip", tied=True),
    LandmarkClassifier(8, "flip", selection="leverage", class_weight="balanced", random_state=0),
    LandmarkClassifier(6, "flip", "logistic", C=0.1, random_state=0),
    LandmarkClassifier(12, model="svm", selection="stratified", random_state=0),
    DBoostClassifier(n_rounds=20, n_pairs=10, algorithm="real", multiclass="ovr", random_state=0),
    DBoostClassifier(n_rounds=50, algorithm="vote", random_state=0),
    DBoostClassifier(n_rounds=8, n_pairs="all"),
    DBoostClassifier(n_rounds=20, n_pairs=10, random_state=0, pair_share=0.5),
    PotentialSVC(center=False),
    LocalSDA(n_neighbors=7, omega="continuous"),
    LocalSDA(n_neighbors=3, fallback="grow"),
    PathSearchCV(KNNClassifier(weights="kri"), {"n_neighbors": [2, 5], "reg": [0.1, 10.0]}, cv=2),
    PathSearchCV(SimilaritySVC(), {"C": [0.1, 10.0]}, cv=2),
    PathSearchCV(LandmarkClassifier(10, random_state=0), {"alpha": [0.1, 10.0]}, cv=2),
    PathSearchCV(DBoostClassifier(n_pairs=10, random_state=0), {"n_rounds": [5, 20]}, cv=2),
    PathSearchCV(LocalSDA(), {"n_neighbors": [3, 8], "alpha": [0.0, 0.5]}, cv=2),
    PathSearchCV(FusedClassifier(), {"sda__n_neighbors": [3, 8], "bda__n_neighbors": [2, 5]}, cv=2),
    *(recipe(name)[0] for name in RECIPES),
    SpectrumModifier("flip"),
    SpectrumModifier("shift"),
    SpectrumModifier("square"),
    SpectrumModifier("none"),
    SpectrumModifier("clip", test_rows="untreated"),
    SpectrumModifier("flip", test_rows="augmented"),
    SimilarityFeatures(normalize="exp"),
    SimilarityFeatures(normalize="range"),
    SimilarityFeatures(0.4, random_state=0),
    SimilarityFeatures(7, "stratified", random_state=0),
    SimilarityFeatures(0.3, "kmedoids", "range"),
    SimilarityFeatures(6, "kcentres"),
    SimilarityFeatures(5, "forward", "exp"),
    IndefiniteNystroem(7, "flip", "stratified", random_state=0),
    IndefiniteNystroem(8, "square", "kmedoids", random_state=0),
    IndefiniteNystroem(9, "none", "leverage", random_state=0),
]
# These take feature vectors, not similarities.
FEATURE_CLASSIFIERS = [
    LocalBDA(n_neighbors=3),
    LocalNearestMeans(n_neighbors=3),
    GaussianSVC(),
    LinearKernelSVC(),
    RegularizedQuadratic(),
]
# The labels of these are lineages or sets, which scikit-learn's checks do not give: tests/multilabel checks them.
LABEL_CLASSIFIERS = [HierarchicalClassifier(), MultilabelClassifier()]

TIED = "of an even number of votes many are tied, and the nearest neighbour decides, not the first class"
SINGLETONS = "feeds a class with a single sample, from which no probabilities can be calibrated"
NOT_SQUARE = "feeds rows of features, whatever the pairwise tag says"


def expected_failures(estimator):
    """Checks of scikit-learn that an estimator fails, and why.

    ``fit_transform(S)`` and ``fit(S).transform(S)`` cannot agree for shift where S is indefinite (it changes the
    diagonal only); scikit-learn feeds a positive semidefinite matrix, so that this shows in our own tests alone.
    """
    if isinstance(estimator, SimilaritySVC) and estimator.probability:
        names = ("dict_unchanged", "dont_overwrite_parameters", "f_contiguous_array_estimator", "fit2d_1feature")
        names += ("fit2d_predict1d", "methods_sample_order_invariance", "methods_subset_invariance")
        names += ("dtype_object",) * (parse_version(sklearn.__version__) < parse_version("1.7"))
        return {
            **{f"check_{name}": SINGLETONS for name in names},
            "check_decision_proba_consistency": NOT_SQUARE,
        }
    if isinstance(estimator, FusedKNN):
        return {"check_classifiers_train": TIED}
    return {}
