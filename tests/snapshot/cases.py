"""Every case of the snapshot: the answers of an estimator on a problem, by name.

A name is ``estimator/variant/problem``, or ``path/estimator/problem`` for the results of a search.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Iterator
from fnmatch import fnmatchcase
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import BaggingClassifier, StackingClassifier, VotingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC

import similitude
from similitude import (
    SDA,
    AutoClassifier,
    DBoostClassifier,
    DissimilarityToSimilarity,
    FusedClassifier,
    FusedKNN,
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
    MixtureSDA,
    NearestCentroid,
    PairwiseMeta,
    PathSearchCV,
    PotentialSVC,
    ProximityForest,
    PseudoEuclideanEmbedding,
    Rescale,
    RobustSVC,
    SimilarityFeatures,
    SimilaritySVC,
    SpectrumModifier,
)
from similitude.auto.methods import methods
from similitude.base import SimilarityClassifier

# Names that are not at the top level: these lines alone follow a move of their modules.
from similitude.features.recipes import RECIPES, recipe
from similitude.neighbors.weights import SIMILARITY_WEIGHTS
from tests.snapshot.problems import containment, problem

Answers = dict[str, np.ndarray]
Case = tuple[str, Callable[[], Answers]]

DEFAULT_TOLERANCE = 1e-9
"""Relative to the largest number of an array."""

_LIBSVM = "libsvm solves in single precision to 1e-3; here a change of the last bit moves where it stops"
_NOT_CONVEX = "the problem is not convex: a change of the last bit moves the stationary point at which libsvm stops"
_SOLVER = "the solver's tolerance: a change of the last bit of the input moves the answer by about a tenth of this"

TOLERANCES: dict[str, tuple[float, str]] = {
    "SimilaritySVC/none/*": (5e-3, _NOT_CONVEX),
    "Pipeline/svc-none/*": (5e-3, _NOT_CONVEX),
    "SimilaritySVC/default/patrol": (1e-3, _LIBSVM),
    "PairwiseMeta/bagging-svc/*": (1e-4, _LIBSVM),
    "LearnedSpectrumSVC/default/patrol:45": (2e-5, _SOLVER),
    "LearnedSpectrumSVC/*": (1e-6, "the snapshot is of another solver; both stop at a duality gap of 1e-8 or less"),
    "LearnedKernelSVC/*": (1e-6, _SOLVER),
    "LandmarkClassifier/svm/*": (1e-7, _SOLVER),
}
"""By pattern of case names, a tolerance other than the default, and its reason; the first pattern that fits holds.

They were measured by changing the last bits of the input. Where such a change decides a tie (DBoost's cuts and the
medoids on Voting, neighbours on promoters) no tolerance helps: these cases hold as long as the same matrix reaches the
method bit by bit, which a rebuild should keep.
"""

RESPONSES = ("predict", "predict_proba", "predict_log_proba", "decision_function")


def tolerance(name: str) -> float:
    """How much the numbers of a case may differ, relative to the largest of their array."""
    return next((value for pattern, (value, _) in TOLERANCES.items() if fnmatchcase(name, pattern)), DEFAULT_TOLERANCE)


# What an estimator is asked


def _responses(model: Any, X: Any) -> Answers:
    return {name: np.asarray(getattr(model, name)(X)) for name in RESPONSES if hasattr(model, name)}


def _classify(estimator: Any, of: str, **fit_params: Any) -> Answers:
    data = problem(of)
    if "sample_weight" in fit_params:
        fit_params["sample_weight"] = 1.0 + np.arange(len(data.y)) % 3
    return _responses(clone(estimator).fit(data.X, data.y, **fit_params), data.X_test)


def _classify_in_parts(estimator: Any, of: str) -> Answers:
    """The answers after ``fit`` on the first half and ``partial_fit`` on the second."""
    data = problem(of)
    half = len(data.y) // 2
    model = clone(estimator).fit(data.X[:half], data.y[:half]).partial_fit(data.X[half:], data.y[half:])
    return _responses(model, data.X_test)


def _classify_columns(estimator: Any, of: str, n_columns: int) -> Answers:
    """The answers where the input holds similarities to the first so many samples only."""
    data = problem(of)
    model = clone(estimator)
    if "landmark_similarity" in model.get_params():
        model.set_params(landmark_similarity=data.X[:n_columns, :n_columns])
    return _responses(model.fit(data.X[:, :n_columns], data.y), data.X_test[:, :n_columns])


def _transform(transformer: Any, of: str) -> Answers:
    data = problem(of)
    train = clone(transformer).fit_transform(data.X, data.y)
    return {"fit_transform": train, "transform": clone(transformer).fit(data.X, data.y).transform(data.X_test)}


def _texts(items: Any) -> np.ndarray:
    """Parameters, as one JSON text each."""
    return np.array([json.dumps(item, sort_keys=True, default=str) for item in items])


def _search(estimator: Any, grid: Any, of: str, *, losses: bool, **options: Any) -> Answers:
    """The grid, each score (its mean, then the folds) of every point, and the answers of the point chosen."""
    data = problem(of)
    scoring = {"accuracy": "accuracy", **({"neg_log_loss": "neg_log_loss"} if losses else {})}
    search = PathSearchCV(clone(estimator), grid, scoring=scoring, refit="accuracy", cv=3, **options)
    search.fit(data.X, data.y)
    results = search.cv_results_
    scores = {
        key.removeprefix("mean_"): np.column_stack(
            [results[key], *(results[key.replace("mean", f"split{fold}")] for fold in range(search.n_splits_))]
        )
        for key in results
        if key.startswith(("mean_test_", "mean_train_"))
    }
    chosen = {"params": _texts(results["params"]), "best_params": _texts([search.best_params_])}
    return {**chosen, **scores, "predict": search.predict(data.X_test)}


def _compete(estimator: Any, of: str) -> Answers:
    data = problem(of)
    model = clone(estimator).fit(data.X, data.y)
    board = model.leaderboard_
    answers = {
        "method": np.array([standing.method for standing in board]),
        "error": np.array([standing.error for standing in board]),
        "parameters": _texts(standing.parameters for standing in board),
        "best_method": np.array(model.best_method_),
        "best_params": _texts([model.best_params_]),
        **_responses(model, data.X_test),
    }
    if model.nested_error_ is not None:
        answers["nested_error"] = np.array([model.nested_error_, model.nested_standard_error_])
    return answers


def _table_of_methods(**contract: Any) -> Answers:
    table = methods(**contract)
    return {"names": np.array(list(table)), "grids": _texts(grid for _, grid in table.values())}


# The classifiers

DEFAULTS_ON = ("voting", "negative", "ellipsoids", "copurchase", "patrol", "complementary")
VARIANTS_ON = ("voting", "negative")
SMALL = ("voting:45", "negative:60", "skewed:60")

COSTS, PRIORS = [[0.0, 4.0], [1.0, 0.0]], [0.2, 0.8]
COSTS_OF_4 = [[0, 1, 2, 3], [1, 0, 1, 1], [4, 1, 0, 1], [1, 2, 1, 0]]
BY_LABEL = {"democrat": 0.3, "republican": 0.7}
GAUSS = {"dissimilarity": "gauss"}
VDM = {"similarity": "vdm"}
LEVENSHTEIN = {"similarity": "levenshtein"}
ASYMMETRIC = {"similarity": containment}
BALANCED = {"class_weight": "balanced"}
COSTLY = {"costs": COSTS, "priors": PRIORS}
COSTLY_OF_4 = {"costs": COSTS_OF_4, "priors": [0.1, 0.2, 0.3, 0.4]}
POSSIBLE = [float(value) for value in range(-60, 61)]
"""The values of the similarity "max-minus" of edit distances of promoters, and more."""

Variants = dict[str, tuple[dict[str, Any], tuple[str, ...]]]


def _searches(**parameters: Any) -> Variants:
    """The ways of finding neighbours of raw objects."""
    return {
        "stream": ({"search": "stream", **LEVENSHTEIN, **parameters}, ("sequences",)),
        "stream-vdm": ({"search": "stream", **VDM, **parameters}, ("votes",)),
        "graph": ({"search": "graph", **LEVENSHTEIN, **parameters}, ("sequences",)),
    }


def _local(weights: str, **parameters: Any) -> Variants:
    """The variants of k-NN with weights that solve a local problem."""
    base = {"n_neighbors": 7, "weights": weights, **parameters}
    return {
        weights: (base, DEFAULTS_ON),
        f"{weights}-off": ({**base, "n_neighbors": 4, "reg": 0.1}, VARIANTS_ON),
        f"{weights}-flip": ({**base, "spectrum": "flip", "consistent": True}, ("negative",)),
        f"{weights}-shift": ({**base, "spectrum": "shift"}, ("negative",)),
        f"{weights}-none": ({**base, "spectrum": "none"}, ("negative",)),
        f"{weights}-gauss": ({**base, **GAUSS}, ("promoters",)),
        f"{weights}-vdm": ({**base, **VDM}, ("votes",)),
        f"{weights}-stream": ({**base, **LEVENSHTEIN, "search": "stream"}, ("sequences",)),
        f"{weights}-graph": ({**base, **LEVENSHTEIN, "search": "graph"}, ("sequences",)),
    }


def _generative(costly_on: str = "voting") -> Variants:
    return {
        "continuous": ({"omega": "continuous"}, VARIANTS_ON),
        "costly": (COSTLY, (costly_on,)),
        "costly-multiclass": (COSTLY_OF_4, ("negative",)),
        "priors": ({"priors": BY_LABEL}, (costly_on,)),
        "asymmetric": (ASYMMETRIC, ("bits",)),
        "sparse": ({}, ("sparse",)),
    }


def _machine(off: dict[str, Any], **problems: Any) -> Variants:
    """The variants of a machine that is slow: all on small problems."""
    weighted = {"weighted": (BALANCED, ("voting:45",))} if problems.get("weighted", True) else {}
    return {
        "default": ({}, (*SMALL, "ellipsoids:45", "patrol:45", "copurchase:45", "complementary:60")),
        "off": (off, SMALL[:2]),
        "gauss": (GAUSS, ("promoters:45",)),
        "vdm": (VDM, ("votes:45",)),
        "levenshtein": (LEVENSHTEIN, ("sequences:45",)),
        "probability": ({"probability": True}, SMALL[:2]),
        **weighted,
    }


def _common(off: dict[str, Any], *, base: dict[str, Any] | None = None) -> Variants:
    base = base or {}
    return {
        "default": (base, DEFAULTS_ON),
        "off": ({**base, **off}, VARIANTS_ON),
        "gauss": ({**base, **GAUSS}, ("promoters",)),
        "vdm": ({**base, **VDM}, ("votes",)),
        "levenshtein": ({**base, **LEVENSHTEIN}, ("sequences",)),
    }


CLASSIFIERS: dict[type, Variants] = {
    KNNClassifier: {
        **_common({"n_neighbors": 2, "weights": "affinity"}),
        **_searches(),
        **{weights: ({"n_neighbors": 6, "weights": weights}, VARIANTS_ON) for weights in SIMILARITY_WEIGHTS},
        **_local("kri"),
        **_local("krr"),
        **_local("lime"),
        "kri-restarts": (
            {"n_neighbors": 6, "weights": "kri", "reg": 0.01, "spectrum": "none", "restarts": 3},
            ("negative",),
        ),
        "krr-pinv": ({"n_neighbors": 8, "weights": "krr", "spectrum": "pinv"}, VARIANTS_ON),
        "costly": ({**COSTLY, "n_neighbors": 6}, ("voting",)),
        "costly-multiclass": ({**COSTLY_OF_4, "weights": "affinity"}, ("negative",)),
        "costly-stream": ({**COSTLY, **VDM, "search": "stream"}, ("votes",)),
        "costly-kri": ({**COSTLY, "weights": "kri"}, ("voting",)),
        "centred": ({"dissimilarity": "double-centring", "weights": "affinity"}, ("promoters",)),
        "asymmetric": (ASYMMETRIC, ("bits",)),
        "asymmetric-stream": ({**ASYMMETRIC, "search": "stream", "weights": "affinity"}, ("bits",)),
        "sparse": ({}, ("sparse",)),
        "sparse-kri": ({"weights": "kri"}, ("sparse",)),
    },
    NearestCentroid: {**_common({}), "asymmetric": (ASYMMETRIC, ("bits",)), "sparse": ({}, ("sparse",))},
    LocalNearestCentroid: {
        **_common({"n_neighbors": 12}),
        **_searches(),
        "asymmetric": (ASYMMETRIC, ("bits",)),
        "sparse": ({}, ("sparse",)),
    },
    LocalSVC: {
        **_common({"n_neighbors": 9, "C": 10.0, "spectrum": "flip"}),
        **_searches(),
        "shift": ({"n_neighbors": 7, "spectrum": "shift"}, ("negative",)),
        "none": ({"n_neighbors": 7, "spectrum": "none"}, ("negative",)),
    },
    SDA: {**_common({"omega": np.linspace(-1.0, 20.0, 50)}), **_generative()},
    LocalSDA: {
        **_common({"n_neighbors": 14, "alpha": 0.1}),
        **_generative(),
        **{f"fallback-{name}": ({"n_neighbors": 5, "fallback": name}, VARIANTS_ON) for name in ("k", "one", None)},
        "costly-regularized": ({**COSTLY, "alpha": 0.3}, ("voting",)),
        "stream": ({"search": "stream", **VDM}, ("votes",)),
        "stream-regularized": ({"search": "stream", "alpha": 0.1, **LEVENSHTEIN}, ("sequences",)),
        "graph": ({"search": "graph", "omega": POSSIBLE, **LEVENSHTEIN}, ("sequences",)),
    },
    MixtureSDA: {**_common({"n_components": 3, "n_init": 2, "random_state": 0}), **_generative()},
    FusedKNN: {
        **_common({"n_neighbors": 8}),
        "default+features": ({}, ("complementary+features",)),
        "costly": (COSTLY, ("voting",)),
        "costly+features": (COSTLY_OF_4, ("complementary+features",)),
    },
    SimilaritySVC: {
        **_common({"C": 10.0, "spectrum": "flip"}),
        **{name: ({"spectrum": name}, (*VARIANTS_ON, "skewed")) for name in ("shift", "square", "none")},
        "weighted": ({**BALANCED, "C": 0.1}, VARIANTS_ON),
        "class-weight": ({"class_weight": {"democrat": 3.0}}, ("voting",)),
        "probability": ({"probability": True}, VARIANTS_ON),
        "probability-vdm": ({"probability": True, **VDM}, ("votes",)),
        "sparse": ({}, ("sparse",)),
    },
    KernelRidgeClassifier: {**_common({"reg": 0.1, "spectrum": "flip"}), "shift": ({"spectrum": "shift"}, VARIANTS_ON)},
    RobustSVC: {**_machine({"C": 10.0, "rho": 0.1}), "self-similarity": ({}, ("self-similarity",))},
    LearnedSpectrumSVC: {
        **_machine({"eta": 0.1, "gamma": 0.1, "target": "clip"}),
        **{
            f"target-{name}": ({"target": name, "gamma": 0.1}, ("voting:45",))
            for name in ("flip", "both", "similarity")
        },
    },
    LearnedKernelSVC: {
        "default": ({}, ("voting:30", "negative:36", "patrol:30")),
        "off": ({"eta": 0.1, "gamma": 0.1}, ("voting:30",)),
        "gauss": (GAUSS, ("promoters:30",)),
        "vdm": (VDM, ("votes:30",)),
        "levenshtein": (LEVENSHTEIN, ("sequences:30",)),
        "probability": ({"probability": True, **BALANCED}, ("voting:30",)),
    },
    PotentialSVC: {
        **_machine({"C": 0.1, "epsilon": 10.0}, weighted=False),
        "asymmetric": (ASYMMETRIC, ("bits:45",)),
    },
    LPMachine: {**_machine({"C": 10.0}, weighted=False), "asymmetric": (ASYMMETRIC, ("bits:45",))},
    DBoostClassifier: {
        **_common({"n_rounds": 40, "n_pairs": 10}, base={"n_rounds": 100, "random_state": 0}),
        "all-defaults": ({"random_state": 0}, ("voting:60",)),
        "real": ({"n_rounds": 30, "n_pairs": 10, "algorithm": "real", "random_state": 0}, VARIANTS_ON),
        "vote": ({"n_rounds": 50, "algorithm": "vote", "random_state": 0}, VARIANTS_ON),
        "ovr": ({"n_rounds": 30, "n_pairs": 10, "multiclass": "ovr", "random_state": 0}, ("negative", "patrol")),
        "asymmetric": ({"n_rounds": 30, "random_state": 0, **ASYMMETRIC}, ("bits",)),
    },
    ProximityForest: _common({"n_candidates": 3}, base={"n_trees": 50, "random_state": 0}),
    LandmarkClassifier: {
        **_common({"n_landmarks": 15, "spectrum": "flip", "alpha": 0.1}, base={"random_state": 0}),
        "logistic": ({"n_landmarks": 20, "model": "logistic", "C": 0.1, "random_state": 0}, VARIANTS_ON),
        "svm": ({"n_landmarks": 20, "model": "svm", "selection": "stratified", "random_state": 0}, VARIANTS_ON),
        "leverage": ({"n_landmarks": 12, "selection": "leverage", "random_state": 0, **BALANCED}, VARIANTS_ON),
        "kmedoids": (
            {"n_landmarks": 12, "spectrum": "square", "selection": "kmedoids", "random_state": 0},
            VARIANTS_ON,
        ),
        "few-vdm": ({"n_landmarks": 12, "random_state": 0, **VDM}, ("votes",)),
        "few-gauss": ({"n_landmarks": 12, "random_state": 0, **GAUSS}, ("promoters",)),
        "sparse": ({"n_landmarks": 20, "random_state": 0}, ("sparse",)),
    },
    LocalBDA: {
        "default": ({}, ("features", *DEFAULTS_ON)),
        "off": ({"n_neighbors": 4}, ("features", "negative")),
        "costly": (COSTLY, ("features",)),
        "priors": ({"priors": BY_LABEL}, ("voting",)),
    },
    LocalNearestMeans: {
        "default": ({}, ("features", *DEFAULTS_ON)),
        "off": ({"n_neighbors": 2}, ("features", "negative")),
    },
    FusedClassifier: {
        "default": ({}, ("complementary+features", *DEFAULTS_ON)),
        "off": ({"sda__n_neighbors": 6, "sda__alpha": 0.5, "bda__n_neighbors": 4}, ("complementary+features",)),
        "costly": (COSTLY, ("voting",)),
        "costly+features": (COSTLY_OF_4, ("complementary+features",)),
        "priors": ({"priors": BY_LABEL}, ("voting",)),
        "knn-and-sda": ({"parts": [("knn", KNNClassifier(3)), ("sda", SDA())]}, VARIANTS_ON),
        "objects": (
            {"parts": [("knn", KNNClassifier(similarity="vdm")), ("sda", SDA(similarity="counting"))]},
            ("votes",),
        ),
        "distances": ({"parts": [("sda", LocalSDA(alpha=0.1, **GAUSS)), ("bda", LocalBDA(5))]}, ("promoters",)),
    },
}

# Classifiers on similarities that have no variants of their own.
CLASSIFIERS |= {
    kind: _common({})
    for kind in vars(similitude).values()
    if isinstance(kind, type) and issubclass(kind, SimilarityClassifier) and kind not in CLASSIFIERS
}

METAS = {
    "bagging": BaggingClassifier(KNNClassifier(), n_estimators=5, random_state=0),
    "bagging-svc": BaggingClassifier(SimilaritySVC(), n_estimators=3, random_state=0),
    "voting": VotingClassifier([("knn", KNNClassifier()), ("sda", LocalSDA(alpha=0.1))], voting="soft"),
    "stacking": StackingClassifier(
        [("knn", KNNClassifier()), ("svc", SimilaritySVC())], final_estimator=LogisticRegression(), cv=3
    ),
    "calibrated": CalibratedClassifierCV(SimilaritySVC(), cv=3),
}

PIPELINES = {
    **{
        f"svc-{name}": make_pipeline(SpectrumModifier(name), SVC(kernel="precomputed", max_iter=10_000))
        for name in ("clip", "flip", "shift", "square", "none")
    },
    **{name.replace(" ", "-"): recipe(name)[0] for name in RECIPES},
    "fisher": make_pipeline(
        PseudoEuclideanEmbedding(0.95), LinearDiscriminantAnalysis(solver="lsqr", shrinkage="auto")
    ),
    "landmarks": make_pipeline(IndefiniteNystroem(20, random_state=0), LogisticRegression()),
    "rescaled": make_pipeline(Rescale(), KNNClassifier(weights="affinity")),
}

TRANSFORMERS = {
    **{f"SpectrumModifier/{name}": SpectrumModifier(name) for name in ("clip", "flip", "shift", "square", "none")},
    "SpectrumModifier/clip-untreated": SpectrumModifier("clip", test_rows="untreated"),
    "SpectrumModifier/flip-augmented": SpectrumModifier("flip", test_rows="augmented"),
    "SpectrumModifier/clip-augmented": SpectrumModifier("clip", test_rows="augmented"),
    "PseudoEuclideanEmbedding/default": PseudoEuclideanEmbedding(),
    "PseudoEuclideanEmbedding/share": PseudoEuclideanEmbedding(0.9),
    "PseudoEuclideanEmbedding/count": PseudoEuclideanEmbedding(5),
    "Rescale/default": Rescale(),
    "SimilarityFeatures/default": SimilarityFeatures(),
    "SimilarityFeatures/exp": SimilarityFeatures(normalize="exp"),
    "SimilarityFeatures/range": SimilarityFeatures(normalize="range"),
    "SimilarityFeatures/random": SimilarityFeatures(0.4, random_state=0),
    "SimilarityFeatures/stratified": SimilarityFeatures(7, "stratified", random_state=0),
    "SimilarityFeatures/kmedoids": SimilarityFeatures(0.3, "kmedoids", "range"),
    "SimilarityFeatures/kcentres": SimilarityFeatures(6, "kcentres"),
    "SimilarityFeatures/forward": SimilarityFeatures(5, "forward", "exp", scale=0.5),
    "IndefiniteNystroem/default": IndefiniteNystroem(random_state=0),
    "IndefiniteNystroem/stratified": IndefiniteNystroem(7, "flip", "stratified", random_state=0),
    "IndefiniteNystroem/kmedoids": IndefiniteNystroem(8, "square", "kmedoids", random_state=0),
    "IndefiniteNystroem/leverage": IndefiniteNystroem(9, "none", "leverage", random_state=0),
}

TRANSFORMERS_OF_DISTANCES = {
    **{
        f"DissimilarityToSimilarity/{name}": DissimilarityToSimilarity(name)
        for name in ("max-minus", "exp", "gauss", "double-centring", "reciprocal")
    },
    "SpectrumModifier/gauss": SpectrumModifier(**GAUSS),
    "PseudoEuclideanEmbedding/centred": PseudoEuclideanEmbedding(6, dissimilarity="double-centring"),
    "SimilarityFeatures/exp-of-distances": SimilarityFeatures(normalize="exp", **GAUSS),
    "IndefiniteNystroem/centred": IndefiniteNystroem(9, dissimilarity="double-centring", random_state=0),
}

TRANSFORMERS_OF_SEQUENCES = {
    "SpectrumModifier/levenshtein": SpectrumModifier(**LEVENSHTEIN),
    "PseudoEuclideanEmbedding/levenshtein": PseudoEuclideanEmbedding(4, **LEVENSHTEIN),
    "SimilarityFeatures/levenshtein": SimilarityFeatures(5, "kmedoids", "exp", **LEVENSHTEIN),
    "IndefiniteNystroem/levenshtein": IndefiniteNystroem(9, random_state=0, **LEVENSHTEIN),
}

# Searches: a name, the estimator, its grid, the problems, and whether it has posteriors to score.
LOCAL_GRID = {"n_neighbors": [2, 5, 9], "reg": [0.1, 1.0], "spectrum": ["clip", "flip"], "consistent": [False, True]}
FUSED_GRID = {"sda__n_neighbors": [4, 9], "sda__alpha": [0.1, 0.5], "bda__n_neighbors": [3, 8]}

SEARCHES: list[tuple[str, Any, Any, tuple[str, ...], bool]] = [
    (
        "KNNClassifier",
        KNNClassifier(),
        {"n_neighbors": [1, 2, 3, 5, 9, 200], "weights": ["uniform", "affinity"]},
        ("voting", "negative", "patrol", "sparse"),
        True,
    ),
    ("KNNClassifier-kri", KNNClassifier(weights="kri"), LOCAL_GRID, ("voting:90", "negative", "patrol"), True),
    ("KNNClassifier-krr", KNNClassifier(weights="krr"), LOCAL_GRID, ("voting:90", "negative"), True),
    ("KNNClassifier-lime", KNNClassifier(weights="lime"), LOCAL_GRID, ("voting:90",), True),
    (
        "KNNClassifier-weights",
        KNNClassifier(),
        [{"n_neighbors": [3, 6]}, {"n_neighbors": [5], "weights": ["kri", "krr", "lime"], "reg": [0.1, 10.0]}],
        ("negative",),
        True,
    ),
    ("KNNClassifier-costly", KNNClassifier(**COSTLY), {"n_neighbors": [1, 4, 9]}, ("voting",), True),
    ("KNNClassifier-vdm", KNNClassifier(**VDM), {"n_neighbors": [1, 4, 9]}, ("votes",), True),
    ("KNNClassifier-levenshtein", KNNClassifier(**LEVENSHTEIN), {"n_neighbors": [1, 4, 9]}, ("sequences",), True),
    (
        "KNNClassifier-stream",
        KNNClassifier(search="stream", **LEVENSHTEIN),
        {"n_neighbors": [1, 4, 9]},
        ("sequences",),
        True,
    ),
    (
        "KNNClassifier-maps",
        KNNClassifier(weights="affinity"),
        {"n_neighbors": [1, 4, 9], "dissimilarity": ["gauss", "max-minus"]},
        ("promoters",),
        True,
    ),
    (
        "LocalNearestCentroid",
        LocalNearestCentroid(),
        {"n_neighbors": [2, 5, 12]},
        ("voting", "negative", "patrol"),
        False,
    ),
    ("LocalNearestCentroid-vdm", LocalNearestCentroid(**VDM), {"n_neighbors": [2, 5, 12]}, ("votes",), False),
    (
        "LocalSVC",
        LocalSVC(),
        {"n_neighbors": [3, 7], "C": [0.1, 10.0], "spectrum": ["clip", "flip", "shift"]},
        ("voting:90", "negative", "patrol"),
        False,
    ),
    ("LocalSVC-levenshtein", LocalSVC(**LEVENSHTEIN), {"n_neighbors": [3, 7], "C": [0.1, 10.0]}, ("sequences",), False),
    (
        "LocalNearestMeans",
        LocalNearestMeans(),
        {"n_neighbors": [1, 3, 7]},
        ("features", "negative"),
        False,
    ),
    (
        "LocalSDA",
        LocalSDA(),
        {"n_neighbors": [3, 8, 15], "alpha": [0.0, 0.1, 0.5], "fallback": ["class", "k", None]},
        ("voting:90", "negative", "patrol"),
        True,
    ),
    ("LocalSDA-costly", LocalSDA(**COSTLY), {"n_neighbors": [3, 8], "alpha": [0.0, 0.5]}, ("voting:90",), True),
    ("LocalSDA-vdm", LocalSDA(**VDM), {"n_neighbors": [3, 8], "alpha": [0.0, 0.5]}, ("votes",), True),
    ("LocalBDA", LocalBDA(), {"n_neighbors": [2, 5, 12]}, ("features", "negative"), True),
    ("FusedKNN", FusedKNN(), {"n_neighbors": [1, 4, 9]}, ("complementary+features", "voting"), True),
    ("FusedClassifier", FusedClassifier(), FUSED_GRID, ("complementary+features", "voting:90"), True),
    (
        "FusedClassifier-vdm",
        FusedClassifier([("knn", KNNClassifier(**VDM)), ("sda", LocalSDA(alpha=0.1, **VDM))]),
        {"knn__n_neighbors": [2, 7], "sda__n_neighbors": [5, 9]},
        ("votes:60",),
        True,
    ),
    (
        "SimilaritySVC",
        SimilaritySVC(),
        {"C": [0.1, 10.0], "spectrum": ["clip", "flip", "shift", "square"]},
        ("voting:90", "negative", "skewed"),
        False,
    ),
    ("SimilaritySVC-probability", SimilaritySVC(probability=True), {"C": [0.1, 10.0]}, ("negative",), True),
    ("SimilaritySVC-vdm", SimilaritySVC(class_weight="balanced", **VDM), {"C": [0.1, 10.0]}, ("votes",), False),
    ("RobustSVC", RobustSVC(), {"C": [1.0, 10.0], "rho": [0.1, 1.0]}, ("voting:45", "negative:60"), False),
    ("RobustSVC-probability", RobustSVC(probability=True), {"C": [1.0, 10.0]}, ("voting:45",), True),
    (
        "LearnedSpectrumSVC",
        LearnedSpectrumSVC(),
        {"eta": [1e-3, 1e-2], "gamma": [0.1, 1.0], "target": ["auto", "clip"]},
        ("voting:45", "negative:60"),
        False,
    ),
    ("LearnedKernelSVC", LearnedKernelSVC(), {"eta": [1e-2, 0.1], "gamma": [1.0, 10.0]}, ("voting:30",), False),
    (
        "PotentialSVC",
        PotentialSVC(),
        {"C": [1.0, 100.0], "epsilon": [0.1, 10.0]},
        ("voting:90", "negative:60", "patrol:45"),
        False,
    ),
    ("PotentialSVC-probability", PotentialSVC(probability=True), {"epsilon": [0.1, 10.0]}, ("voting:45",), True),
    ("LPMachine", LPMachine(), {"C": [0.1, 10.0]}, ("voting:45", "negative:60"), False),
    (
        "DBoostClassifier",
        DBoostClassifier(n_pairs=10, random_state=0),
        {"n_rounds": [5, 20, 50]},
        ("voting:90", "negative", "patrol"),
        True,
    ),
    (
        "DBoostClassifier-real",
        DBoostClassifier(n_pairs=10, algorithm="real", multiclass="ovr", random_state=0),
        {"n_rounds": [5, 20]},
        ("negative",),
        True,
    ),
    ("LandmarkClassifier", LandmarkClassifier(15, random_state=0), {"alpha": [0.1, 10.0]}, VARIANTS_ON, False),
    (
        "LandmarkClassifier-logistic",
        LandmarkClassifier(15, model="logistic", random_state=0),
        {"C": [0.1, 10.0]},
        VARIANTS_ON,
        True,
    ),
    (
        "LandmarkClassifier-vdm",
        LandmarkClassifier(15, random_state=0, **VDM),
        {"alpha": [0.1, 10.0]},
        ("votes",),
        False,
    ),
    (
        "pipeline-svc",
        make_pipeline(SpectrumModifier(), SVC(kernel="precomputed")),
        {"spectrummodifier__method": ["clip", "flip"], "svc__C": [0.1, 1.0]},
        ("voting:90", "negative"),
        False,
    ),
    (
        "pipeline-knn",
        make_pipeline(DissimilarityToSimilarity("gauss"), KNNClassifier()),
        {"knnclassifier__n_neighbors": [1, 4, 9]},
        ("promoters",),
        True,
    ),
    (
        "recipe-linear-SVM",
        recipe("linear SVM")[0],
        {"linearkernelsvc__C": [0.01, 1.0]},
        ("voting:90", "negative"),
        False,
    ),
    (
        "recipe-RBF-SVM",
        recipe("RBF SVM")[0],
        {"gaussiansvc__C": [0.1, 10.0], "gaussiansvc__gamma": [1e-3, 0.1]},
        ("voting:90", "negative"),
        False,
    ),
    (
        "recipe-RBF-SVM-vdm",
        recipe("RBF SVM", **VDM)[0],
        {"gaussiansvc__C": [0.1, 10.0], "gaussiansvc__gamma": [1e-3, 0.1]},
        ("votes:90",),
        False,
    ),
    ("recipe-LSVM", recipe("LSVM")[0], {"similarityfeatures__scale": [0.25, 4.0]}, ("voting:90", "negative"), False),
    ("recipe-RFD", recipe("RFD")[0], {}, ("voting:90", "negative"), True),
    (
        "recipe-RQD",
        recipe("RQD")[0],
        {"similarityfeatures__n_prototypes": [0.05, 0.1], "regularizedquadratic__reg_param": [0.01, 0.3]},
        ("voting:90", "negative"),
        False,
    ),
]

CONTESTS = {
    "few": (
        AutoClassifier(["k-NN", "affinity k-NN", "nearest centroid", "SVM (clip)", "SDA"], cv=3),
        ("voting:75", "negative"),
    ),
    "features": (AutoClassifier(["k-NN", "LSVM (features)", "RFD (features)"], cv=3), ("patrol",)),
    "vdm": (AutoClassifier(["k-NN", "SVM (clip)"], cv=3, **VDM), ("votes:60",)),
    "gauss": (AutoClassifier(["k-NN", "SDA"], cv=3, **GAUSS), ("promoters",)),
    "simple-nested": (
        AutoClassifier(["k-NN", "nearest centroid", "SDA"], cv=2, prefer="simple", nested_cv=2),
        ("voting:60",),
    ),
}


def _all_cases() -> Iterator[Case]:
    for kind, variants in CLASSIFIERS.items():
        for variant, (parameters, on) in variants.items():
            estimator = kind().set_params(**parameters)
            for of in on:
                yield f"{kind.__name__}/{variant}/{of}", partial(_classify, estimator, of)
    for kind in (SimilaritySVC, DBoostClassifier):
        estimator = kind() if kind is SimilaritySVC else kind(30, random_state=0)
        for of in VARIANTS_ON:
            yield f"{kind.__name__}/sample-weight/{of}", partial(_classify, estimator, of, sample_weight=True)
    for name, meta in METAS.items():
        for of in VARIANTS_ON:
            yield f"PairwiseMeta/{name}/{of}", partial(_classify, PairwiseMeta(meta), of)
    for name, pipeline in PIPELINES.items():
        for of in VARIANTS_ON:
            yield f"Pipeline/{name}/{of}", partial(_classify, pipeline, of)
    for estimator in (KNNClassifier(), LandmarkClassifier(10, random_state=0)):
        in_parts = clone(estimator).set_params(similarity="levenshtein")
        yield f"{type(estimator).__name__}/partial-fit/sequences", partial(_classify_in_parts, in_parts, "sequences")
    columns = LandmarkClassifier(12, random_state=0, similarity="columns")
    yield "LandmarkClassifier/columns/voting", partial(_classify_columns, columns, "voting", 20)
    features = make_pipeline(SimilarityFeatures(normalize="range", similarity="columns"), LogisticRegression())
    yield "Pipeline/columns/voting", partial(_classify_columns, features, "voting", 20)
    for table, on in (
        (TRANSFORMERS, ("voting:30", "negative:30")),
        (TRANSFORMERS_OF_DISTANCES, ("promoters:30",)),
        (TRANSFORMERS_OF_SEQUENCES, ("sequences:30",)),
    ):
        for name, transformer in table.items():
            for of in on:
                yield f"{name}/{of}", partial(_transform, transformer, of)
    for name in ("SpectrumModifier/clip", "PseudoEuclideanEmbedding/count", "SimilarityFeatures/exp"):
        yield f"{name}/skewed:30", partial(_transform, TRANSFORMERS[name], "skewed:30")
    yield (
        "SpectrumModifier/augmented/self-similarity",
        partial(_transform, SpectrumModifier("clip", test_rows="augmented"), "self-similarity"),
    )
    for name, estimator, grid, on, losses in SEARCHES:
        for of in on:
            yield f"path/{name}/{of}", partial(_search, estimator, grid, of, losses=losses)
    training = partial(_search, KNNClassifier(), {"n_neighbors": [1, 4]}, losses=True, return_train_score=True)
    yield "path/KNNClassifier-training/voting:60", partial(training, of="voting:60")
    for name, (estimator, on) in CONTESTS.items():
        for of in on:
            yield f"AutoClassifier/{name}/{of}", partial(_compete, estimator, of)
    yield "methods/precomputed", _table_of_methods
    yield "methods/vdm", partial(_table_of_methods, similarity="vdm")


def _silenced(answers: Callable[[], Answers]) -> Answers:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return answers()


def cases() -> Iterator[Case]:
    """The name of every case, and a function that returns its answers as arrays by name."""
    for name, answers in _all_cases():
        yield name, partial(_silenced, answers)
