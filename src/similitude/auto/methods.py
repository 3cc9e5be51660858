"""All methods: one record of each says all that is known of it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any, Literal

from sklearn.base import clone
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import NearestCentroid as NearestMean
from sklearn.pipeline import make_pipeline

from similitude._utils.checks import did_you_mean
from similitude.boosting.dboost import DBoostClassifier
from similitude.boosting.proximity_forest import ProximityForest
from similitude.evaluation.engine import Method, reading_part
from similitude.evaluation.relative import relative
from similitude.features.landmark_classifier import LandmarkClassifier
from similitude.features.lp_machine import LPMachine
from similitude.features.potential_svc import PotentialSVC
from similitude.features.recipes import recipe
from similitude.features.vector_svc import LinearKernelSVC
from similitude.generative.fused import FusedClassifier
from similitude.generative.local_bda import LocalBDA
from similitude.generative.local_sda import LocalSDA
from similitude.generative.sda import SDA
from similitude.kernel.kernel_ridge import KernelRidgeClassifier
from similitude.kernel.learned_spectrum import LearnedSpectrumSVC
from similitude.kernel.mixture_svc import MixtureSVC
from similitude.kernel.robust_svc import RobustSVC
from similitude.kernel.similarity_svc import SimilaritySVC
from similitude.neighbors.graph_classifier import GraphClassifier
from similitude.neighbors.knn import KNNClassifier
from similitude.neighbors.local_svc import LocalSVC
from similitude.neighbors.nearest_centroid import LocalNearestCentroid, NearestCentroid
from similitude.numerics.eigen import MOST_DECOMPOSED
from similitude.reader import Contract
from similitude.transform.embedding import PseudoEuclideanEmbedding
from similitude.transform.mixed import MixedSimilarity
from similitude.transform.nystroem import IndefiniteNystroem
from similitude.transform.similarity_features import SimilarityFeatures

NEIGHBORS = [*range(1, 17), 32, 64, 128]
RIDGES = [10.0**j for j in range(-3, 2)]
COSTS = [10.0**j for j in range(-3, 3)]
PRICES = [0.1, 1.0, 10.0]
PENALTIES = [0.01, *PRICES, 100.0]
SMOOTHNESS = [1e-3, 1e-2]
SHARES = [1e-3, 0.1, 0.5]

_OVERHEAD = 3.0
"""The milliseconds that any method takes on a fold."""

_MOST_PRODUCTS = 10_000
"""The largest number of samples for which an SVM has a kernel matrix of all of them."""

WIDTHS = ["max-minus", "gauss:0.5", "gauss", "gauss:2", "exp:0.5", "exp"]
"""The maps that are tried for dissimilarities, in addition to the one that is given."""
FEW_WIDTHS = ["max-minus", "gauss"]
"""The maps that are tried with the methods that take more time."""
FEW_SIMILARITIES = 4
"""With more similarities, some methods on a single one are good by chance."""
MIXED_WIDTHS = ["gauss:0.35", "gauss:1.4"]
"""The maps of all of several dissimilarities that are tried in addition to those that are given."""


@dataclass(frozen=True)
class Cost:
    """The time of a method on one fold, on one core; it grows by powers of the numbers of samples and classes.

    The milliseconds are those of 200 training samples in four classes, on the machine where they were measured.
    """

    milliseconds: float
    in_samples: float
    in_classes: float

    def seconds(self, n: float, n_classes: int) -> float:
        """Return the time for n training samples."""
        return 1e-3 * (
            _OVERHEAD + self.milliseconds * (n / 200) ** self.in_samples * (n_classes / 4) ** self.in_classes
        )


@dataclass(frozen=True)
class Approximation:
    """What replaces a method above a number of samples: ``make(contract, m)`` uses the columns of m landmarks.

    ``name`` says of what kind it is, and ``merit``, if it is not 0, what it is worth; it is not used for more than
    ``most`` samples.
    """

    make: Callable[[dict[str, Any], int], Method]
    cost: Cost
    name: str = "{} landmarks"
    merit: float = 0.0
    most: float = math.inf


@dataclass(frozen=True)
class MethodRecord:
    """All that is known of a method: every list of methods, and every name of one elsewhere, follows from these.

    ``make(contract)`` returns the estimator and its grid; ``cost`` is the time that the grid takes on one fold, and
    ``merit`` what the method is worth: of two of the same cost, that of the larger merit is tried first. ``needs`` is
    what it looks at: the whole "matrix", "neighbors" or "columns". ``maps`` are the maps of dissimilarities that are
    tried: "all", "few", the "given" one, or "none" if the result does not depend on the map. A peer is what a
    practitioner would try who does not know similitude; ``by_name`` methods are evaluated only if they are named, and
    never chosen if there are others, because a model file cannot hold them. A method that works on the ``whole`` matrix
    is replaced by its approximation ``large`` if there are more than ``MOST_DECOMPOSED`` samples, or left out if it has
    none. ``several`` methods use several similarities at once; of these, ``few`` are evaluated only if there are few
    similarities, or if they are named.
    """

    name: str
    make: Callable[[dict[str, Any]], Method]
    cost: Cost
    needs: Literal["matrix", "neighbors", "columns"]
    maps: Literal["all", "few", "given", "none"]
    source: str
    page: str
    peer: bool = False
    by_name: bool = False
    several: bool = False
    few: bool = False
    merit: float = 1.0
    whole: bool = False
    large: Approximation | None = None
    graph: bool = False
    """Whether the method is one for samples without a label, and is evaluated by default only if there are some."""

    @property
    def slug(self) -> str:
        """The name on the command line."""
        return slug(self.name)

    def name_for(self, n_samples: int) -> str:
        """Return the name, which tells the number of landmarks of an approximation."""
        if self.large is None or n_samples <= MOST_DECOMPOSED:
            return self.name
        return f"{self.name}, {self.large.name.format(n_landmarks(n_samples))}"

    def method(self, contract: dict[str, Any], n_samples: int = 0) -> Method:
        """Return the estimator and its grid, in which maps of dissimilarities are tried if some are given."""
        are_many = n_samples > MOST_DECOMPOSED
        if self.large is not None and are_many:
            estimator, grid = self.large.make(contract, n_landmarks(n_samples))
        else:
            estimator, grid = self.make(contract)
        given = Contract(**contract, takes_several=self.several).map_name
        if given is None or self.maps in ("given", "none"):
            return estimator, grid
        if self.several:
            return estimator, {
                f"{reading_part(estimator)[1]}dissimilarity": [contract.get("dissimilarity"), *MIXED_WIDTHS],
                **grid,
            }
        maps = dict.fromkeys([given, *(FEW_WIDTHS if self.maps == "few" or are_many else WIDTHS)])
        return estimator, {f"{reading_part(estimator)[1]}dissimilarity": list(maps), **grid}


def n_landmarks(n_samples: int) -> int:
    """Return the number of landmarks of approximations, which grows as the square root of the number of samples."""
    return 10 * math.ceil(math.sqrt(n_samples))


def slug(name: str) -> str:
    """Return a name in lower case with its words joined by hyphens."""
    return "-".join("".join(c if c.isalnum() else " " for c in name.lower()).split())


_K = {"n_neighbors": NEIGHBORS}
_LOCAL = {**_K, "reg": relative(RIDGES)}
_KRI = {**_LOCAL, "consistent": [False, True]}
_LOCAL_SVM = {**_K, "C": relative(COSTS, -1)}
_SMOOTHED = {**_K, "alpha": SHARES}
_ROUNDS = {"n_rounds": [30, 100, 300]}
_POTENTIAL = {"C": relative([100.0], -1), "epsilon": relative([0.01, *PRICES])}
_PROGRAM = {"C": relative([*PRICES, 100.0], -1)}
_ROBUST = {"C": relative(PRICES[1:], -1), "rho": relative(PRICES[1:], -3)}
_SPECTRUM = {"eta": relative(SMOOTHNESS), "gamma": PRICES}
_LOGISTIC = {"logisticregression__C": [*PRICES, 100.0]}
_LINEAR_COSTS = {"linearkernelsvc__C": relative(COSTS, -1)}
_ALPHAS = {"alpha": relative(PENALTIES)}
_FEW_LOGISTIC = {"logisticregression__C": [1.0, 10.0]}
_FEW_RBF = {"gaussiansvc__C": [0.1, 1.0, 10.0], "gaussiansvc__gamma": [1e-3, 1e-2, 0.1]}
_GRAPH = {"n_neighbors": [5, 10, 20], "alpha": [0.5, 0.9, 0.99], "weights": ["affinity", "uniform"]}
_MIXED = {"similaritysvc__C": COSTS}
_MIXED_RIDGE = {"kernelridgeclassifier__reg": PENALTIES}
_MIXTURE = {"eta": relative(SMOOTHNESS), "gamma": [0.001, 0.1]}


def _of(estimator: Any, grid: dict[str, Any], **parameters: Any) -> Callable[[dict[str, Any]], Method]:
    return lambda contract: (estimator(**parameters, **contract), grid)


def _knn(weights: str, grid: dict[str, Any], **parameters: Any) -> Callable[[dict[str, Any]], Method]:
    return _of(KNNClassifier, grid, weights=weights, **parameters)


def _svm(spectrum: str, power: int = -1) -> Callable[[dict[str, Any]], Method]:
    return _of(SimilaritySVC, {"C": relative(COSTS, power)}, spectrum=spectrum)


def _ridge(spectrum: str) -> Callable[[dict[str, Any]], Method]:
    return _of(KernelRidgeClassifier, {"reg": relative(PENALTIES)}, spectrum=spectrum)


def _embedded(classifier: Any) -> Callable[[dict[str, Any]], Method]:
    return lambda contract: (make_pipeline(PseudoEuclideanEmbedding(0.95, **contract), clone(classifier)), {})


def _on_rows(classifier: Any, grid: dict[str, list]) -> Callable[[dict[str, Any]], Method]:
    def make(contract: dict[str, Any]) -> Method:
        return make_pipeline(SimilarityFeatures(normalize="range", **contract), clone(classifier)), grid

    return make


def _recipe(name: str) -> Callable[[dict[str, Any]], Method]:
    return lambda contract: recipe(name, **contract)


def _fused(contract: dict[str, Any]) -> Method:
    fused = FusedClassifier([("sda", LocalSDA(alpha=0.1, **contract)), ("bda", LocalBDA())])
    jointly = {"sda__n_neighbors": NEIGHBORS[::3], "sda__alpha": SHARES, "bda__n_neighbors": [2, 4, 8, 16, 32]}
    return fused, {**jointly, "bda__reg": relative([0.05], 2)}


def _large_fused(contract: dict[str, Any], m: int) -> Method:
    # Samples that have features keep these, or m of them.
    columns = SimilarityFeatures(m, random_state=0, similarity="columns")
    parts = [("sda", LocalSDA(alpha=0.1, **contract)), ("bda", make_pipeline(columns, LocalBDA()))]
    jointly = {"sda__n_neighbors": NEIGHBORS[::3], "sda__alpha": SHARES, "bda__localbda__n_neighbors": [8, 32]}
    return FusedClassifier(parts), {**jointly, "bda__localbda__reg": relative([0.05], 2)}


def _mixture(weights: Any, classifier: Any, grid: dict[str, list]) -> Callable[[dict[str, Any]], Method]:
    # The sum of rescaled similarities always has the same scale.
    return lambda contract: (make_pipeline(MixedSimilarity(weights, **contract), clone(classifier)), grid)


def _large(
    estimator: Callable[[dict[str, Any], int], Any], grid: dict[str, Any], *cost: float, most: float = math.inf
) -> Approximation:
    return Approximation(lambda contract, m: (estimator(contract, m), grid), Cost(*cost), most=most)


def _landmark_ridge(spectrum: Any) -> Callable[[dict[str, Any], int], Any]:
    return lambda contract, m: LandmarkClassifier(m, spectrum, random_state=0, **contract)


def _nystroem(spectrum: Any, classifier: Any) -> Callable[[dict[str, Any], int], Any]:
    def make(contract: dict[str, Any], m: int) -> Any:
        return make_pipeline(IndefiniteNystroem(m, spectrum, random_state=0, **contract), clone(classifier))

    return make


def _landmark_rows(classifier: Any) -> Callable[[dict[str, Any], int], Any]:
    def make(contract: dict[str, Any], m: int) -> Any:
        return make_pipeline(SimilarityFeatures(m, normalize="range", random_state=0, **contract), clone(classifier))

    return make


def _large_recipe(name: str, grid: dict[str, Any], *cost: float, most: float = math.inf) -> Approximation:
    def make(contract: dict[str, Any], m: int) -> Method:
        pipeline, whole = recipe(name, **contract)
        chosen = {"n_prototypes": m, "selection": "random", "random_state": 0}
        pipeline.set_params(**{f"similarityfeatures__{key}": value for key, value in chosen.items()})
        return pipeline, {key: values for key, values in (whole | grid).items() if key.partition("__")[2] not in chosen}

    return Approximation(make, Cost(*cost), most=most)


def _large_mixture(weights: Any) -> Approximation:
    def make(contract: dict[str, Any], m: int) -> Method:
        mixed, features = MixedSimilarity(weights, **contract), IndefiniteNystroem(m, random_state=0)
        return make_pipeline(mixed, features, LinearKernelSVC()), {"linearkernelsvc__C": COSTS}

    return Approximation(make, Cost(40, 1.8, 0.8))


# A shift needs an eigenvalue; it is 0 if S is positive semidefinite, as kernels of molecules and texts often are.
_UNTREATED = Approximation(
    lambda contract, m: (SimilaritySVC(spectrum="none", **contract), {"C": relative(PRICES, -1)}),
    Cost(1.8, 2.3, -0.8),
    "no shift",
    merit=2,
    most=_MOST_PRODUCTS,
)


def _large_mixture_ridge(contract: dict[str, Any], m: int) -> Method:
    pipeline = make_pipeline(MixedSimilarity("equal", **contract), LandmarkClassifier(m, random_state=0))
    return pipeline, {"landmarkclassifier__alpha": PENALTIES}


_FISHER = LinearDiscriminantAnalysis(solver="lsqr", shrinkage="auto")
_FOREST = RandomForestClassifier(random_state=0)
_BOOSTED = HistGradientBoostingClassifier(max_iter=60, max_features=0.1, random_state=0)

# Simplest first. In _svm the squared kernel is in units of the square of the similarities.
RECORDS = (
    MethodRecord(
        "k-NN", _knn("uniform", _K), Cost(2, 1.5, 0), "neighbors", "none", "JMLR 2009, Section 5", "neighbors", merit=3
    ),
    MethodRecord(
        "affinity k-NN",
        _knn("affinity", _K),
        Cost(2, 1.5, 0),
        "neighbors",
        "all",
        "JMLR 2009, Section 7",
        "neighbors",
    ),
    MethodRecord(
        "distance-weighted k-NN", _knn("distance", _K), Cost(2, 1.5, 0), "neighbors", "all", "", "neighbors", peer=True
    ),
    MethodRecord(
        "label spreading",
        _of(GraphClassifier, _GRAPH),
        Cost(30, 1.5, 0.5),
        "neighbors",
        "few",
        "Zhou et al. 2003",
        "few-labels",
        merit=3,
        graph=True,
    ),
    MethodRecord(
        "nearest centroid",
        _of(NearestCentroid, {}),
        Cost(1, 2, 0),
        "matrix",
        "all",
        "ICML 2007, eq. 1",
        "neighbors",
    ),
    MethodRecord(
        "local nearest centroid",
        _of(LocalNearestCentroid, _K),
        Cost(2, 2, 0),
        "neighbors",
        "all",
        "ICML 2007, Section 3",
        "neighbors",
    ),
    MethodRecord(
        "nearest mean (embedded)",
        _embedded(NearestMean()),
        Cost(5, 2.5, 0),
        "matrix",
        "all",
        "JMLR 2009, Section 2.1.3",
        "spectrum",
        merit=0.5,
        whole=True,
    ),
    MethodRecord(
        "Fisher (embedded)",
        _embedded(_FISHER),
        Cost(7, 2.5, 0.1),
        "matrix",
        "all",
        "JMLR 2009, Section 2.1.3",
        "spectrum",
        merit=2,
        whole=True,
        large=_large(_nystroem("none", _FISHER), {}, 7, 2, 0.1),
    ),
    MethodRecord(
        "SVM (clip)",
        _svm("clip"),
        Cost(5, 2.5, 0.2),
        "matrix",
        "all",
        "JMLR 2009, Section 2.1.2",
        "kernel",
        merit=2,
        whole=True,
        large=_large(_nystroem("clip", LinearKernelSVC()), _LINEAR_COSTS, 3, 2, 0.3, most=_MOST_PRODUCTS),
    ),
    MethodRecord(
        "SVM (flip)",
        _svm("flip"),
        Cost(5, 2.5, 0.2),
        "matrix",
        "all",
        "JMLR 2009, Section 2.1.3",
        "kernel",
        merit=2,
        whole=True,
        large=_large(_nystroem("flip", LinearKernelSVC()), _LINEAR_COSTS, 3, 2, 0.3, most=_MOST_PRODUCTS),
    ),
    MethodRecord(
        "SVM (shift)",
        _svm("shift"),
        Cost(5, 2.5, 0.2),
        "matrix",
        "all",
        "JMLR 2009, Section 2.1.4",
        "kernel",
        merit=0.5,
        whole=True,
        large=_UNTREATED,
    ),
    MethodRecord(
        "SVM (square)",
        _svm("square", -2),
        Cost(5, 2.5, 0.2),
        "matrix",
        "all",
        "JMLR 2009, Section 2.1.5",
        "kernel",
        whole=True,
    ),
    MethodRecord(
        "kernel ridge (clip)",
        _ridge("clip"),
        Cost(5, 2.5, 0.2),
        "matrix",
        "all",
        "Suykens 1999",
        "kernel",
        merit=3,
        whole=True,
        large=_large(_landmark_ridge("clip"), _ALPHAS, 5, 2, 0),
    ),
    MethodRecord(
        "kernel ridge (flip)",
        _ridge("flip"),
        Cost(5, 2.5, 0.2),
        "matrix",
        "all",
        "Suykens 1999",
        "kernel",
        merit=3,
        whole=True,
        large=_large(_landmark_ridge("flip"), _ALPHAS, 5, 2, 0),
    ),
    MethodRecord(
        "KRI k-NN", _knn("kri", _KRI), Cost(160, 1, 0.4), "neighbors", "few", "JMLR 2009, eq. 12", "neighbors", merit=3
    ),
    MethodRecord(
        "KRR k-NN",
        _knn("krr", _LOCAL, spectrum="pinv"),
        Cost(140, 1, 0),
        "neighbors",
        "all",
        "JMLR 2009, eq. 15",
        "neighbors",
        merit=2,
    ),
    MethodRecord(
        "SVM-KNN",
        _of(LocalSVC, _LOCAL_SVM),
        Cost(90, 1, 0.8),
        "neighbors",
        "few",
        "JMLR 2009, Section 2.1.4",
        "neighbors",
        merit=2,
    ),
    MethodRecord("SDA", _of(SDA, {}), Cost(3, 2, 0), "matrix", "all", "JMLR 2009, Section 6", "generative", merit=0.5),
    MethodRecord(
        "local SDA",
        _of(LocalSDA, _K, fallback="k"),
        Cost(4, 1.7, 0.2),
        "neighbors",
        "all",
        "ICML 2007, eq. 5 to 9",
        "generative",
    ),
    MethodRecord(
        "regularized local SDA",
        _of(LocalSDA, _SMOOTHED, alpha=0.1),
        Cost(15, 1.6, 0.6),
        "matrix",
        "all",
        "FUSION 2009, eq. 4 and 5",
        "generative",
    ),
    MethodRecord(
        "DBoost",
        _of(DBoostClassifier, _ROUNDS, random_state=0),
        Cost(28, 1, 1.3),
        "matrix",
        "none",
        "NC 2009, Section 3",
        "boosting",
    ),
    MethodRecord(
        "P-SVM",
        _of(PotentialSVC, _POTENTIAL),
        Cost(27, 1.7, 0.8),
        "columns",
        "all",
        "JMLR 2009, eq. 6",
        "features",
        merit=2,
        whole=True,
    ),
    MethodRecord(
        "LP machine",
        _of(LPMachine, _PROGRAM),
        Cost(10, 2, 0.4),
        "columns",
        "given",
        "JMLR 2009, eq. 5",
        "features",
        whole=True,
    ),
    MethodRecord(
        "robust SVM",
        _of(RobustSVC, _ROBUST),
        Cost(46, 2.3, 0.5),
        "matrix",
        "given",
        "ICML 2009, eq. 2 and 8",
        "kernel",
        merit=0.3,
        whole=True,
    ),
    MethodRecord(
        "learned-spectrum SVM",
        _of(LearnedSpectrumSVC, _SPECTRUM),
        Cost(200, 1.9, 0.7),
        "matrix",
        "given",
        "ICML 2009, eq. 10 to 12",
        "kernel",
        merit=0.3,
        whole=True,
    ),
    MethodRecord(
        "linear SVM (features)",
        _recipe("linear SVM"),
        Cost(3, 2, 0.3),
        "columns",
        "all",
        "JMLR 2009, eq. 4",
        "features",
        merit=2,
        whole=True,
        large=_large_recipe("linear SVM", {}, 3, 2, 0.3, most=_MOST_PRODUCTS),
    ),
    MethodRecord(
        "RBF SVM (features)",
        _recipe("RBF SVM"),
        Cost(8, 2.4, 0.3),
        "columns",
        "few",
        "JMLR 2009, Section 3",
        "features",
        merit=3,
        whole=True,
        large=_large_recipe("RBF SVM", _FEW_RBF, 4, 2.2, 0.3, most=_MOST_PRODUCTS),
    ),
    MethodRecord(
        "LSVM (features)",
        _recipe("LSVM"),
        Cost(13, 1.8, 0.2),
        "columns",
        "none",
        "NC 2009, Section 4",
        "features",
        whole=True,
        large=_large_recipe("LSVM", {}, 8, 1.8, 0.2),
    ),
    MethodRecord(
        "RFD (features)",
        _recipe("RFD"),
        Cost(8, 2.4, 0.2),
        "columns",
        "all",
        "Pekalska et al. 2001",
        "features",
        merit=3,
        whole=True,
        large=_large_recipe("RFD", {}, 6, 2, 0.2),
    ),
    MethodRecord(
        "RQD (features)",
        _recipe("RQD"),
        Cost(13, 1.4, 0),
        "columns",
        "all",
        "Pekalska & Duin 2002",
        "features",
        merit=2,
        whole=True,
        large=_large_recipe("RQD", {}, 8, 1.8, 0),
    ),
    MethodRecord(
        "logistic regression (features)",
        _on_rows(LogisticRegression(), _LOGISTIC),
        Cost(28, 1.5, 1),
        "columns",
        "few",
        "",
        "features",
        peer=True,
        merit=2,
        whole=True,
        large=_large(_landmark_rows(LogisticRegression()), _FEW_LOGISTIC, 40, 1.6, 1),
    ),
    MethodRecord(
        "random forest (features)",
        _on_rows(_FOREST, {}),
        Cost(150, 1, 0.3),
        "columns",
        "none",
        "",
        "features",
        peer=True,
        by_name=True,
    ),
    MethodRecord(
        "gradient boosting (features)",
        _on_rows(_BOOSTED, {}),
        Cost(300, 1.5, 1.5),
        "columns",
        "none",
        "",
        "features",
        peer=True,
        by_name=True,
    ),
    MethodRecord(
        "SDA and BDA fused",
        _fused,
        Cost(20, 1.7, 0.5),
        "matrix",
        "given",
        "FUSION 2009, eq. 6",
        "fusion",
        merit=2,
        large=Approximation(_large_fused, Cost(20, 1.7, 0.5)),
    ),
)
MIXTURE_RECORDS = (
    MethodRecord(
        "proximity forest",
        _of(ProximityForest, {}, random_state=0),
        Cost(100, 1.2, 0.5),
        "matrix",
        "none",
        "Lucas et al. 2019",
        "boosting",
        several=True,
        merit=9,
    ),
    MethodRecord(
        "kernel ridge (equal mixture)",
        _mixture("equal", KernelRidgeClassifier(), _MIXED_RIDGE),
        Cost(40, 2.5, 0.2),
        "matrix",
        "few",
        "",
        "several",
        several=True,
        merit=9,
        whole=True,
        large=Approximation(_large_mixture_ridge, Cost(40, 1.8, 0.2)),
    ),
    MethodRecord(
        "SVM (equal mixture)",
        _mixture("equal", SimilaritySVC(), _MIXED),
        Cost(40, 2.5, 0.2),
        "matrix",
        "given",
        "",
        "several",
        several=True,
        merit=9,
        whole=True,
        large=_large_mixture("equal"),
    ),
    MethodRecord(
        "SVM (aligned mixture)",
        _mixture("aligned", SimilaritySVC(), _MIXED),
        Cost(41, 2.5, 0.2),
        "matrix",
        "given",
        "",
        "several",
        several=True,
        merit=9,
        whole=True,
        large=_large_mixture("aligned"),
    ),
    # With a large gamma it is the SVM on the sum of the clipped or flipped similarities.
    MethodRecord(
        "mixture SVM",
        _of(MixtureSVC, _MIXTURE),
        Cost(1000, 2.3, 0.7),
        "matrix",
        "given",
        "",
        "several",
        several=True,
        whole=True,
        few=True,
    ),
)
_RECORD_OF = {record.name: record for record in (*RECORDS, *MIXTURE_RECORDS)}
SLOW = tuple(record.name for record in RECORDS if record.maps == "given" and record.make is not _fused)
"""The methods that solve a large program for each pair of classes."""
PEERS = tuple(record.name for record in RECORDS if record.peer)
COMPARED_ONLY = tuple(record.name for record in RECORDS if record.by_name)
MIXTURES = tuple(record.name for record in MIXTURE_RECORDS)


def methods(
    names: str | Iterable[str] = "all", *, n_samples: int = 0, unlabelled: bool = False, **contract: Any
) -> dict[str, Method]:
    """Return the methods by name, simplest first, each as an estimator with the grid of its parameters.

    Values such as ``0.1 / scale`` are relative to the scale of the training similarities, which is
    ``np.median(S.max(axis=1) - S.mean(axis=1))`` without rows of equal values; for dissimilarities, S is what the map
    returns. ``AutoClassifier`` and ``PathSearchCV`` compute the absolute values for the training part of each fold and,
    for the last fit and ``best_params_``, for all samples. Therefore S and ``1000 * S`` give the same predictions.

    ===========  ===========================================================================================
    relative to  parameters
    ===========  ===========================================================================================
    scale        reg of KRI, KRR and kernel ridge, epsilon of the P-SVM, eta of the learned spectrum
    1 / scale    C of the SVMs, of SVM-KNN, of the LP machine and of the P-SVM
    1 / scale^2  C of the SVM on the squared spectrum
    1 / scale^3  rho of the robust SVM
    scale^2      reg of the local BDA; if the samples have features, it is relative to the mean of their variances
    ===========  ===========================================================================================

    All other parameters do not depend on the scale; rows that serve as features are mapped onto [0, 1] first.

    Parameters
    ----------
    names : "all" or sequence of str, default="all"
        The names of the methods; "all" are those that ``AutoClassifier`` evaluates by default, without random forests
        and gradient boosting, which are evaluated for comparison if they are named. The words of a name may be joined
        by hyphens and written in lower case: ``"svm-clip"``.
    n_samples : int, default=0
        The number of training samples, if it is known. With more than 1,500, methods that work on the whole matrix are
        replaced by approximations that use the columns of landmarks, about ten times the square root of ``n_samples``,
        and their names tell how many: "SVM (clip), 640 landmarks". The SVM (shift) is replaced by one on the matrix as
        it is, "SVM (shift), no shift", up to 10,000 samples. Those that have no approximation are left out of "all".
    unlabelled : bool, default=False
        Whether "all" includes the methods for samples without a label, such as "label spreading".
    **contract
        ``similarity`` and ``dissimilarity``, as in all estimators.

    Returns
    -------
    dict of str to tuple (estimator, grid)
        The methods.

    See Also
    --------
    mixtures : Return the methods that use several similarities at once, simplest first.
    similitude.AutoClassifier : Evaluate the methods on the same folds, and combine those that work best together.

    Examples
    --------
    >>> from similitude.auto import methods
    >>> list(methods())[:2]
    ['k-NN', 'affinity k-NN']
    >>> methods(["svm-clip"])  # doctest: +ELLIPSIS
    {'SVM (clip)': (SimilaritySVC(), {'C': [0.001 / scale, 0.01 / scale, ..., 100.0 / scale]})}
    """
    precomputed = Contract(**contract).is_precomputed
    # Raw objects have no features.
    known = {record.slug: record for record in RECORDS if precomputed or record.make is not _fused}
    if isinstance(names, str) and names == "all":
        left_out = too_large(n_samples)
        usual = [record for record in known.values() if not record.by_name and (unlabelled or not record.graph)]
        chosen = [record for record in usual if record.name not in left_out]
        return {record.name_for(n_samples): record.method(contract, n_samples) for record in chosen}
    if isinstance(names, str) or not isinstance(names, Iterable):
        raise ValueError(f"methods must be 'all' or a list of names; got {names!r}.")
    names = [name.partition(",")[0] if isinstance(name, str) else name for name in names]
    unknown = [name for name in names if not isinstance(name, str) or slug(name) not in known]
    if unknown or not names:
        found = f"got {unknown[0]!r}" if unknown else "got none"
        hint = did_you_mean(slug(unknown[0]), known) if unknown and isinstance(unknown[0], str) else ""
        raise ValueError(f"methods must be among {', '.join(r.name for r in known.values())}; {found}.{hint}")
    wanted = {slug(name) for name in names}
    chosen = [record for record in known.values() if record.slug in wanted]
    return {record.name_for(n_samples): record.method(contract, n_samples) for record in chosen}


def too_large(n_samples: int) -> list[str]:
    """Return the methods that are left out of all methods, because they would decompose too large a matrix."""
    if n_samples <= MOST_DECOMPOSED:
        return []
    return [r.name for r in _RECORD_OF.values() if r.whole and (r.large is None or n_samples > r.large.most)]


def expanding(names: Iterable[str], n_samples: int) -> list[str]:
    """Return the methods that would expand a sparse matrix of so many samples: all but those that look at neighbours.

    Approximations do not help: the columns of landmarks hold few of the entries that are stored.
    """
    return [name for name in names if n_samples > MOST_DECOMPOSED and record_of(name).needs != "neighbors"]


def mixtures(*, n_samples: int = 0, **contract: Any) -> dict[str, Method]:
    """Return the methods that use several similarities at once, simplest first.

    ``scale`` in a grid is the geometric mean of the scales of the similarities, as in :func:`methods`.

    Parameters
    ----------
    n_samples : int, default=0
        The number of training samples, as in :func:`methods`.
    **contract
        ``similarity`` and ``dissimilarity``, as in :class:`~similitude.MixedSimilarity`.

    Returns
    -------
    dict of str to tuple (estimator, grid)
        The methods.

    See Also
    --------
    methods : Return the methods by name, simplest first, each as an estimator with the grid of its parameters.
    similitude.MixtureSVC
        Classify by a support vector machine that learns a mixture of the spectra of several similarities.

    Examples
    --------
    >>> from similitude.auto import mixtures
    >>> mixtures()["mixture SVM"]
    (MixtureSVC(), {'eta': [0.001 * scale, 0.01 * scale], 'gamma': [0.001, 0.1]})
    """
    left_out = too_large(n_samples)
    chosen = [record for record in MIXTURE_RECORDS if record.name not in left_out]
    return {record.name_for(n_samples): record.method(contract, n_samples) for record in chosen}


def record_of(name: str) -> MethodRecord:
    """Return the record of a method or of its approximation; one that is not in the list is of average cost."""
    plain, _, approximated = name.partition(",")
    record = _RECORD_OF.get(plain)
    if record is None:
        return MethodRecord(name, _fused, Cost(50, 2, 0.5), "matrix", "given", "", "")
    if not approximated or record.large is None:
        return record
    return replace(record, cost=record.large.cost, merit=record.large.merit or record.merit)
