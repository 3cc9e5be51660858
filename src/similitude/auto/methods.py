"""All methods by name, with the grids of their parameters, and how much time each takes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal

from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import NearestCentroid as NearestMean
from sklearn.pipeline import make_pipeline

from similitude._utils.checks import did_you_mean
from similitude.boosting.dboost import DBoostClassifier
from similitude.evaluation.engine import Method, reading_part
from similitude.evaluation.relative import relative
from similitude.features.lp_machine import LPMachine
from similitude.features.potential_svc import PotentialSVC
from similitude.features.recipes import RECIPES, recipe
from similitude.generative.fused import FusedClassifier
from similitude.generative.local_bda import LocalBDA
from similitude.generative.local_sda import LocalSDA
from similitude.generative.sda import SDA
from similitude.kernel.learned_spectrum import LearnedSpectrumSVC
from similitude.kernel.mixture_svc import MixtureSVC
from similitude.kernel.robust_svc import RobustSVC
from similitude.kernel.similarity_svc import SimilaritySVC
from similitude.neighbors.knn import KNNClassifier
from similitude.neighbors.local_svc import LocalSVC
from similitude.neighbors.nearest_centroid import LocalNearestCentroid, NearestCentroid
from similitude.reader import Reader
from similitude.transform.embedding import PseudoEuclideanEmbedding
from similitude.transform.mixed import MixedSimilarity
from similitude.transform.similarity_features import SimilarityFeatures

NEIGHBORS = [*range(1, 17), 32, 64, 128]
RIDGES = [10.0**j for j in range(-3, 2)]
COSTS = [10.0**j for j in range(-3, 3)]
PRICES = [0.1, 1.0, 10.0]
SMOOTHNESS = [1e-3, 1e-2]
SHARES = [1e-3, 0.1, 0.5]

WIDTHS = ["max-minus", "gauss:0.5", "gauss", "gauss:2", "exp:0.5", "exp"]
"""The maps that are tried for dissimilarities, in addition to the one that is given."""
FEW_WIDTHS = ["max-minus", "gauss"]
"""The maps that are tried with the methods that take more time."""
MUCH_EFFORT = 90

_EFFORT = {
    "nearest centroid": 1,
    "k-NN": 2,
    "affinity k-NN": 2,
    "distance-weighted k-NN": 2,
    "local nearest centroid": 4,
    "SDA": 4,
    "local SDA": 7,
    "nearest mean (embedded)": 12,
    "Fisher (embedded)": 19,
    "RFD (features)": 21,
    "SVM (square)": 25,
    "SVM (flip)": 27,
    "linear SVM (features)": 30,
    "SVM (clip)": 33,
    "SVM (shift)": 33,
    "KRR k-NN": 34,
    "regularized local SDA": 34,
    "RQD (features)": 40,
    "LP machine": 40,
    "LSVM (features)": 50,
    "SDA and BDA fused": 54,
    "P-SVM": 58,
    "SVM-KNN": 96,
    "logistic regression (features)": 96,
    "gradient boosting (features)": 100,
    "RBF SVM (features)": 104,
    "KRI k-NN": 111,
    "DBoost": 111,
    "random forest (features)": 150,
    "robust SVM": 193,
    "learned-spectrum SVM": 300,
    "SVM (equal mixture)": 40,
    "SVM (aligned mixture)": 41,
    "mixture SVM": 1000,
}
SLOW = ("robust SVM", "LP machine", "learned-spectrum SVM")
"""The methods that solve a large program for each pair of classes. With dissimilarities they are tried with the given
map only."""
PEERS = (
    "distance-weighted k-NN",
    "logistic regression (features)",
    "random forest (features)",
    "gradient boosting (features)",
)
"""The methods that a practitioner would try who does not know similitude."""
COMPARED_ONLY = ("random forest (features)", "gradient boosting (features)")
"""The methods that are on the leaderboard for comparison, but are not chosen, because a model file cannot hold their
trees."""
_BY_ORDER = ("k-NN", "LSVM (features)", "random forest (features)", "gradient boosting (features)", "DBoost")
"""The methods whose result does not depend on the map of dissimilarities: they use only the order of the values, or
(LSVM) have a map of their own."""
MIXTURES = ("SVM (equal mixture)", "SVM (aligned mixture)", "mixture SVM")
"""The methods that use several similarities at once, simplest first."""
_SPECTRA: dict[Literal["clip", "flip", "shift", "square"], str] = {
    "clip": "SVM (clip)",
    "flip": "SVM (flip)",
    "shift": "SVM (shift)",
    "square": "SVM (square)",
}


def methods(names: str | Iterable[str] = "all", **contract: Any) -> dict[str, Method]:
    """Return the methods by name, simplest first, each as an estimator with the grid of its parameters.

    Values such as ``0.1 / scale`` are relative to the scale of the training similarities, which is
    ``np.median(S.max(axis=1) - S.mean(axis=1))`` without rows of equal values; for dissimilarities, S is what the map
    returns. ``AutoClassifier`` and ``PathSearchCV`` compute the absolute values for the training part of each fold and,
    for the last fit and ``best_params_``, for all samples. Therefore S and ``1000 * S`` give the same predictions.

    ===========  ===========================================================================================
    relative to  parameters
    ===========  ===========================================================================================
    scale        reg of KRI and KRR, epsilon of the P-SVM, eta of the learned spectrum
    1 / scale    C of the SVMs, of SVM-KNN, of the LP machine and of the P-SVM
    1 / scale^2  C of the SVM on the squared spectrum
    1 / scale^3  rho of the robust SVM
    scale^2      reg of the local BDA; if the samples have features, it is relative to the mean of their variances
    ===========  ===========================================================================================

    All other parameters do not depend on the scale; rows that serve as features are mapped onto [0, 1] first.

    Parameters
    ----------
    names : "all" or sequence of str, default="all"
        The names of the methods; the words of a name may be joined by hyphens and written in lower case:
        ``"svm-clip"``.
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
    >>> from similitude.auto.methods import methods
    >>> list(methods())[:4]
    ['k-NN', 'affinity k-NN', 'distance-weighted k-NN', 'nearest centroid']
    >>> methods(["svm-clip"])  # doctest: +ELLIPSIS
    {'SVM (clip)': (SimilaritySVC(), {'C': [0.001 / scale, 0.01 / scale, ..., 100.0 / scale]})}
    """
    table = _table(contract)
    if isinstance(names, str) and names == "all":
        return table
    if isinstance(names, str) or not isinstance(names, Iterable):
        raise ValueError(f"methods must be 'all' or a list of names; got {names!r}.")
    known = {slug(name): name for name in table}
    names = list(names)
    unknown = [name for name in names if not isinstance(name, str) or slug(name) not in known]
    if unknown or not names:
        found = f"got {unknown[0]!r}" if unknown else "got none"
        hint = did_you_mean(slug(unknown[0]), known) if unknown and isinstance(unknown[0], str) else ""
        raise ValueError(f"methods must be among {', '.join(table)}; {found}.{hint}")
    wanted = {known[slug(name)] for name in names}
    return {name: method for name, method in table.items() if name in wanted}


def mixtures(**contract: Any) -> dict[str, Method]:
    """Return the methods that use several similarities at once, simplest first.

    ``scale`` in a grid is the geometric mean of the scales of the similarities, as in :func:`methods`.

    Parameters
    ----------
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
    >>> from similitude.auto.methods import mixtures
    >>> mixtures()["mixture SVM"]
    (MixtureSVC(), {'eta': [0.001 * scale, 0.01 * scale], 'gamma': [0.001, 0.1]})
    """
    found: dict[str, Method] = {
        f"SVM ({weights} mixture)": (
            make_pipeline(MixedSimilarity(weights, **contract), SimilaritySVC()),
            {"similaritysvc__C": COSTS},
        )
        for weights in ("equal", "aligned")
    }
    # The sums above always have the same scale. With a large gamma, the next method is the SVM on the sum of the
    # clipped or flipped similarities.
    found["mixture SVM"] = (MixtureSVC(**contract), {"eta": relative(SMOOTHNESS), "gamma": [0.001, 0.1]})
    return found


def slug(name: str) -> str:
    """Return a name in lower case with its words joined by hyphens."""
    return "-".join("".join(c if c.isalnum() else " " for c in name.lower()).split())


def effort(name: str) -> float:
    """Return how long a method takes, in hundredths of a second for ten folds of 200 samples in four classes."""
    return float(_EFFORT.get(name, 100))


def _table(contract: dict[str, Any]) -> dict[str, Method]:
    shrinkage = LinearDiscriminantAnalysis(solver="lsqr", shrinkage="auto")
    k = {"n_neighbors": NEIGHBORS}
    local = {**k, "reg": relative(RIDGES)}
    table: dict[str, Method] = {
        "k-NN": (KNNClassifier(**contract), k),
        "affinity k-NN": (KNNClassifier(weights="affinity", **contract), k),
        "distance-weighted k-NN": (KNNClassifier(weights="distance", **contract), k),
        "nearest centroid": (NearestCentroid(**contract), {}),
        "local nearest centroid": (LocalNearestCentroid(**contract), k),
        "nearest mean (embedded)": (make_pipeline(PseudoEuclideanEmbedding(0.95, **contract), NearestMean()), {}),
        "Fisher (embedded)": (make_pipeline(PseudoEuclideanEmbedding(0.95, **contract), shrinkage), {}),
        **{
            # The squared kernel is in units of the square of the similarities.
            name: (SimilaritySVC(spectrum=spectrum, **contract), {"C": relative(COSTS, -2 if "square" in name else -1)})
            for spectrum, name in _SPECTRA.items()
        },
        "KRI k-NN": (KNNClassifier(weights="kri", **contract), {**local, "consistent": [False, True]}),
        "KRR k-NN": (KNNClassifier(weights="krr", spectrum="pinv", **contract), local),
        "SVM-KNN": (LocalSVC(**contract), {**k, "C": relative(COSTS, -1)}),
        "SDA": (SDA(**contract), {}),
        "local SDA": (LocalSDA(fallback="k", **contract), k),
        "regularized local SDA": (LocalSDA(alpha=0.1, **contract), {**k, "alpha": SHARES}),
        "DBoost": (DBoostClassifier(random_state=0, **contract), {"n_rounds": [30, 100, 300]}),
        "P-SVM": (PotentialSVC(**contract), {"C": relative([100.0], -1), "epsilon": relative([0.01, *PRICES])}),
        "LP machine": (LPMachine(**contract), {"C": relative([*PRICES, 100.0], -1)}),
        "robust SVM": (RobustSVC(**contract), {"C": relative(PRICES[1:], -1), "rho": relative(PRICES[1:], -3)}),
        "learned-spectrum SVM": (LearnedSpectrumSVC(**contract), {"eta": relative(SMOOTHNESS), "gamma": PRICES}),
        **{f"{name} (features)": recipe(name, **contract) for name in RECIPES},
        **_peers(contract),
    }
    if Reader(**contract).is_precomputed:  # raw objects have no features
        fused = FusedClassifier([("sda", LocalSDA(alpha=0.1, **contract)), ("bda", LocalBDA())])
        jointly = {"sda__n_neighbors": NEIGHBORS[::3], "sda__alpha": SHARES, "bda__n_neighbors": [2, 4, 8, 16, 32]}
        table["SDA and BDA fused"] = (fused, {**jointly, "bda__reg": relative([0.05], 2)})
    given = Reader(**contract).map_name
    return table if given is None else {name: _with_maps(name, *method, given) for name, method in table.items()}


def _peers(contract: dict[str, Any]) -> dict[str, Method]:
    """Return the methods of scikit-learn on rows of similarities."""

    def on_rows(estimator: Any) -> Any:
        return make_pipeline(SimilarityFeatures(normalize="range", **contract), estimator)

    forest = RandomForestClassifier(random_state=0)
    boosted = HistGradientBoostingClassifier(max_iter=60, max_features=0.1, random_state=0)
    return {
        "logistic regression (features)": (
            on_rows(LogisticRegression()),
            {"logisticregression__C": [*PRICES, 100.0]},
        ),
        "random forest (features)": (on_rows(forest), {}),
        "gradient boosting (features)": (on_rows(boosted), {}),
    }


def _with_maps(name: str, estimator: Any, grid: dict[str, list], given: str) -> Method:
    """Return a method on dissimilarities, whose map is a part of the grid."""
    if name in _BY_ORDER or isinstance(estimator, FusedClassifier):
        return estimator, grid
    if name in SLOW:
        return estimator, grid
    maps = dict.fromkeys([given, *(FEW_WIDTHS if effort(name) > MUCH_EFFORT else WIDTHS)])
    return estimator, {f"{reading_part(estimator)[1]}dissimilarity": list(maps), **grid}
