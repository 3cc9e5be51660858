"""All methods by name, with the grids of their parameters, and the order in which a diagnosis suggests them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.neighbors import NearestCentroid as NearestMean
from sklearn.pipeline import make_pipeline

from similitude.boosting.dboost import DBoostClassifier
from similitude.diagnosis.advice import HIGH_HUBNESS, MANY_TIES, MANY_ZEROS, NEARLY_PSD, STRONGLY_INDEFINITE
from similitude.diagnosis.result import Diagnosis
from similitude.features.lp_machine import LPMachine
from similitude.features.potential_svc import PotentialSVC
from similitude.features.recipes import RECIPES, recipe
from similitude.generative.fused import FusedClassifier
from similitude.generative.local_bda import LocalBDA
from similitude.generative.local_sda import LocalSDA
from similitude.generative.sda import SDA
from similitude.kernel.learned_spectrum import LearnedSpectrumSVC
from similitude.kernel.robust_svc import RobustSVC
from similitude.kernel.similarity_svc import SimilaritySVC
from similitude.neighbors.knn import KNNClassifier
from similitude.neighbors.local_svc import LocalSVC
from similitude.neighbors.nearest_centroid import LocalNearestCentroid, NearestCentroid
from similitude.reader import Reader
from similitude.search.evaluation import Method
from similitude.transform.embedding import PseudoEuclideanEmbedding

NEIGHBORS = [*range(1, 17), 32, 64, 128]
RIDGES = [10.0**j for j in range(-3, 2)]
COSTS = [10.0**j for j in range(-3, 3)]
PRICES = [0.1, 1.0, 10.0]
SMOOTHNESS = [1e-3, 1e-2]
SHARES = [1e-3, 0.1, 0.5]

LOCAL = (
    "k-NN",
    "affinity k-NN",
    "KRI k-NN",
    "KRR k-NN",
    "SVM-KNN",
    "local nearest centroid",
    "local SDA",
    "regularized local SDA",
    "SDA and BDA fused",
)
"""The methods that use each sample's neighbourhood; all others use the whole matrix."""

SLOW = ("robust SVM", "learned-spectrum SVM", "LP machine", "RBF SVM (features)", "RQD (features)")
"""The methods that take most of the time, which are tried last."""
_SPECTRA = {"clip": "SVM (clip)", "flip": "SVM (flip)", "shift": "SVM (shift)", "square": "SVM (square)"}


def methods(names: str | Iterable[str] = "all", **contract: Any) -> dict[str, Method]:
    """Return the methods by name, simplest first, each as an estimator with the grid of its parameters.

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

    Examples
    --------
    >>> from similitude.search.methods import methods
    >>> list(methods())[:4]
    ['k-NN', 'affinity k-NN', 'nearest centroid', 'local nearest centroid']
    >>> methods(["svm-clip"])
    {'SVM (clip)': (SimilaritySVC(), {'C': [0.001, 0.01, 0.1, 1.0, 10.0, 100.0]})}
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
        raise ValueError(f"methods must be among {', '.join(table)}; {found}.")
    wanted = {known[slug(name)] for name in names}
    return {name: method for name, method in table.items() if name in wanted}


def slug(name: str) -> str:
    """Return a name in lower case with its words joined by hyphens.

    Parameters
    ----------
    name : str
        The name of a method.

    Returns
    -------
    str
        The name, such as "svm-clip" for "SVM (clip)".
    """
    return "-".join("".join(c if c.isalnum() else " " for c in name.lower()).split())


def _table(contract: dict[str, Any]) -> dict[str, Method]:
    shrinkage = LinearDiscriminantAnalysis(solver="lsqr", shrinkage="auto")
    k = {"n_neighbors": NEIGHBORS}
    local = {**k, "reg": RIDGES}
    table: dict[str, Method] = {
        "k-NN": (KNNClassifier(**contract), k),
        "affinity k-NN": (KNNClassifier(weights="affinity", **contract), k),
        "nearest centroid": (NearestCentroid(**contract), {}),
        "local nearest centroid": (LocalNearestCentroid(**contract), k),
        "nearest mean (embedded)": (make_pipeline(PseudoEuclideanEmbedding(0.95, **contract), NearestMean()), {}),
        "Fisher (embedded)": (make_pipeline(PseudoEuclideanEmbedding(0.95, **contract), shrinkage), {}),
        **{name: (SimilaritySVC(spectrum=spectrum, **contract), {"C": COSTS}) for spectrum, name in _SPECTRA.items()},
        "KRI k-NN": (KNNClassifier(weights="kri", **contract), {**local, "consistent": [False, True]}),
        "KRR k-NN": (KNNClassifier(weights="krr", spectrum="pinv", **contract), local),
        "SVM-KNN": (LocalSVC(**contract), {**k, "C": COSTS}),
        "SDA": (SDA(**contract), {}),
        "local SDA": (LocalSDA(fallback="k", **contract), k),
        "regularized local SDA": (LocalSDA(alpha=0.1, **contract), {**k, "alpha": SHARES}),
        "DBoost": (DBoostClassifier(random_state=0, **contract), {"n_rounds": [30, 100, 300]}),
        "P-SVM": (PotentialSVC(**contract), {"epsilon": PRICES}),
        "LP machine": (LPMachine(**contract), {"C": [0.1, *PRICES[1:], 100.0]}),
        "robust SVM": (RobustSVC(**contract), {"C": PRICES[1:], "rho": PRICES[1:]}),
        "learned-spectrum SVM": (LearnedSpectrumSVC(**contract), {"eta": SMOOTHNESS, "gamma": PRICES}),
        **{f"{name} (features)": recipe(name, **contract) for name in RECIPES},
    }
    if Reader(**contract).is_precomputed:  # raw objects have no features
        fused = FusedClassifier([("sda", LocalSDA(alpha=0.1, **contract)), ("bda", LocalBDA())])
        jointly = {"sda__n_neighbors": NEIGHBORS[::3], "sda__alpha": SHARES, "bda__n_neighbors": [2, 4, 8, 16, 32]}
        table["SDA and BDA fused"] = (fused, jointly)
    return table


def ordered(names: Sequence[str], diagnosis: Diagnosis) -> list[str]:
    """Return the names in the order in which the diagnosis suggests trying them: k-NN first, slow methods last.

    * If the similarity is positive semidefinite or nearly so, kernel methods precede those for indefinite similarities.
    * If it is strongly indefinite, similarities as features, and spectra that keep the negative part, come first.
    * In between, local methods come first, because their small matrices are less often indefinite.
    * If there are many ties or zeros, methods that weight neighbours, or use whole rows, precede plain votes.
    * If there are hubs, methods that use the whole matrix come first.

    Parameters
    ----------
    names : sequence of str
        The names of the methods.
    diagnosis : Diagnosis
        The result of :func:`~similitude.diagnose`.

    Returns
    -------
    list of str
        The names.
    """
    d = diagnosis
    features = ["linear SVM (features)", "P-SVM", "LSVM (features)", "RFD (features)", "DBoost"]
    weighted = ["affinity k-NN", "KRI k-NN", "KRR k-NN", "SVM-KNN"]
    first = ["k-NN"]
    if (d.neighbor_ties or 0) > MANY_TIES or d.sparsity > MANY_ZEROS:
        first += ["affinity k-NN", *features]
    if (d.hubness or 0) > HIGH_HUBNESS:
        first += [name for name in names if name not in LOCAL]
    if d.negative_eigenfraction < NEARLY_PSD:
        first += ["SVM (clip)", "Fisher (embedded)", "linear SVM (features)", *weighted]
    elif d.negative_eigenfraction > STRONGLY_INDEFINITE:
        first += [*features, "SVM (flip)", "SVM (square)", "SVM (shift)", *weighted]
    else:
        first += [*weighted, "SVM (clip)", "SVM (flip)", *features]
    quick = [name for name in dict.fromkeys([*first, *names]) if name in names and name not in SLOW]
    return [*quick, *(name for name in names if name in SLOW)]
