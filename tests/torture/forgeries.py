"""Model files with one array or one value replaced and a checksum that holds: loading or predicting must refuse them.

Only a ValueError may be raised, by ``load_model`` or by the methods of the loaded model.
"""

import copy
import io
import json
import zipfile

import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.discriminant_analysis import QuadraticDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, RobustScaler
from sklearn.svm import SVC, LinearSVC, NuSVC

from similitude import (
    SDA,
    FusedClassifier,
    FusedKNN,
    KNNClassifier,
    LandmarkClassifier,
    LocalSDA,
    LPMachine,
    PairwiseMeta,
    Proximities,
    SimilarityFeatures,
    SimilaritySVC,
    load_model,
    save_model,
)
from similitude.auto.methods import COMPARED_ONLY, methods
from similitude.persistence import model_files
from tests.estimators import FAMILIES, VARIANTS
from tests.torture.attempts import Broken

METHODS = ("predict", "predict_proba", "decision_function", "transform")


def problem():
    """Return a square matrix, its labels, and rows of new samples."""
    rng = np.random.default_rng(0)
    classes = np.arange(24) % 3
    X = rng.normal(size=(24, 3)) + 2.0 * (classes[:, None] == np.arange(3))
    S = np.exp(-np.linalg.norm(X[:, None] - X[None], axis=2))
    return S, np.array(["red", "green", "blue"])[classes], 0.9 * S[:5] + 0.05


def cases():
    """Yield estimators of every class that a model file can hold, with training samples, labels and new samples."""
    S, y, new = problem()
    for estimator in [*FAMILIES, *VARIANTS]:
        yield estimator, S, y, new
    for name, (estimator, *_) in methods().items():
        if name not in COMPARED_ONLY:
            yield estimator, S, y, new
    two = np.flatnonzero(y != "red")
    for estimator in (SimilaritySVC(probability=True), LPMachine(probability=True), LocalSDA(), KNNClassifier()):
        yield estimator, S[np.ix_(two, two)], y[two], new[:, two]
        yield estimator, S, y, new
    for last in (
        SVC(probability=True),
        SVC(kernel="linear"),
        NuSVC(nu=0.2),
        LinearSVC(),
        RidgeClassifier(),
        GaussianNB(),
        LogisticRegression(),
        QuadraticDiscriminantAnalysis(reg_param=0.5),
    ):
        scaler = {SVC: MinMaxScaler, NuSVC: RobustScaler}.get(type(last), MaxAbsScaler)()
        yield make_pipeline(SimilarityFeatures(6, random_state=0), scaler, last), S, y, new
    thin = sparse.csr_array(np.where(S > 0.2, S, 0))
    yield make_pipeline(SimilarityFeatures(), SVC()), thin, y, sparse.csr_array(new)
    yield KNNClassifier(3, weights="kri"), thin, y, sparse.csr_array(new)
    yield PairwiseMeta(CalibratedClassifierCV(SVC(kernel="precomputed"), cv=2)), S, y, new
    for how in ("max-minus", "gauss", "double-centring"):
        yield SDA(dissimilarity=how), 1 - S, y, 1 - new
    yield KNNClassifier(costs=1 - np.eye(3), priors=[0.2, 0.3, 0.5]), S, y, new
    ids = [f"s{i}" for i in range(24)]
    yield FusedKNN(3), Proximities(S, S[:, :2], ids=ids), y, Proximities(new, new[:, :2], column_ids=ids)
    yield FusedClassifier(), Proximities(S, S[:, :2]), y, Proximities(new, new[:, :2])
    yield from cases_on_objects(y)


def cases_on_objects(y):
    """Yield those of raw objects: with similarities that learn, and with the searches."""
    rows = [(a, b) for a in "abcd" for b in "uvwxyz"]
    words = [f"{a} {b}{b} {a}{b}" for a, b in rows]
    points = np.arange(48.0).reshape(24, 2) % 7
    for similarity, objects in (("vdm", rows), ("goodall", rows), ("tfidf-cosine", words), ("rbf-rows", points)):
        yield KNNClassifier(3, similarity=similarity), objects, y, objects[:5]
    for search in ("matrix", "stream", "graph"):
        yield KNNClassifier(3, weights="kri", search=search, similarity="euclidean"), points, y, points[:5]
        omega = np.arange(-40.0, 41.0) if search == "graph" else None
        yield LocalSDA(4, omega=omega, search=search, similarity="cityblock"), points, y, points[:5]
    yield LandmarkClassifier(6, random_state=0, similarity="levenshtein"), words, y, words[:5]
    yield SimilaritySVC(similarity="tfidf-cosine", probability=True), words, y, words[:5]


def prepare(folder):
    """Return the cases, of which each is fitted when it is first chosen, and the folder."""
    return list(cases()), {}, folder


def saved(prepared, i):
    """Return the tree and the arrays of the model file of a case, its new samples, and the methods that work."""
    models, known, folder = prepared
    if i not in known:
        estimator, X, y, new = models[i]
        model = clone(estimator).fit(X, y)
        save_model(folder / "whole.model", model)
        with zipfile.ZipFile(folder / "whole.model") as archive:
            members = {name: archive.read(name) for name in archive.namelist()}
        tree = json.loads(members.pop("model.json"))
        arrays = [np.load(io.BytesIO(members[f"arrays/{j}.npy"])) for j in range(len(members))]
        known[i] = tree, arrays, new, [method for method in METHODS if works(model, method, new)]
    return known[i]


def works(model, method, X):
    """Return whether a model has a method; some have one that raises an error."""
    try:
        getattr(model, method)(X)
    except (AttributeError, NotImplementedError):
        return False
    return True


def attempt(prepared, rng):
    """Forge one model file, load it, and predict with what was loaded."""
    path = prepared[-1] / "forged.model"
    tree, arrays, X, methods = saved(prepared, rng.randrange(len(prepared[0])))
    name = tree["model"]["object"][0].rpartition(".")[2]
    if arrays and rng.random() < 0.7:
        arrays = list(arrays)
        position = rng.randrange(len(arrays))
        before = arrays[position]
        arrays[position], how = forged_array(before, rng, arrays)
        did = f"{name}: array {position} of shape {before.shape} {how}"
    else:
        tree = copy.deepcopy(tree)
        did = f"{name}: {forged_value(tree['model'], rng)}"
    write(path, tree, arrays)
    used = "load_model"
    try:
        model = load_model(path)
        for used in methods:
            getattr(model, used)(X)
    except ValueError:
        pass
    except Exception as error:
        raise Broken(did, f"{used}: {type(error).__name__}: {str(error)[:200]}") from error
    return did


def write(path, tree, arrays):
    """Write a model file with a checksum that holds; arrays that NumPy would pickle are refused before."""
    model_files._write(path, json.dumps(tree).encode(), arrays)


def forged_array(array, rng, arrays):
    """Return another array, and what was done."""
    kind = rng.choice(["entry", "nan", "shape", "type", "order", "other", "all"])
    flat = array.copy()
    if kind in ("entry", "all", "nan") and array.size and array.dtype.kind in "iuf":
        choices = [-1, -(10**6), 10**6, array.size, len(array.ravel()), 2**31 - 1]
        if array.dtype.kind == "f":
            choices = [np.nan] if kind == "nan" else [np.inf, -np.inf, 1e308, -1e308, -1.0, 0.0, 1e-320]
        value = rng.choice(choices)
        with np.errstate(all="ignore"):
            if kind == "all":
                flat[...] = value
            else:
                flat.flat[rng.randrange(array.size)] = value
        return flat, f"{kind} is {value}"
    if kind == "shape":
        shaped = [array[:0], array[:1], array[:-1], np.repeat(array, 2, axis=0), array.T, array[None], array.ravel()]
        if array.ndim == 0:
            shaped = [array[None]]
        other = rng.choice(shaped)
        return np.array(other), f"has the shape {other.shape}"
    if kind == "type":
        types = ["<i4", "<i8", "<f4", "<f8", ">f8", ">i8", "<U3", "|b1", "<c16", "<u8", "|S2", "<i2"]
        chosen = rng.choice(types)
        with np.errstate(all="ignore"):
            try:
                return array.astype(chosen), f"has the type {chosen}"
            except ValueError:
                return np.zeros(array.shape, chosen), f"is zeros of type {chosen}"
    if kind == "order" and array.ndim == 2:
        return np.asfortranarray(array), "is in the order of columns"
    other = rng.choice(arrays)
    return other.copy(), f"is another array, of shape {other.shape} and type {other.dtype}"


def forged_value(tree, rng):
    """Replace one value of the tree, and return what was done."""
    places = []

    def walk(node):
        for key, child in enumerate(node) if isinstance(node, list) else node.items():
            # What is replaced is a value, not the name of an attribute or of a class.
            named = isinstance(child, str) and isinstance(node, list) and key == 0
            if not named and not (isinstance(node, dict) and isinstance(child, list)):
                places.append((node, key))
            if isinstance(child, (list, dict)):
                walk(child)

    walk(tree)
    node, key = rng.choice(places)
    before = node[key]
    values = [None, -1, 0, 1, 2**40, 1.5, 1e308, True, "x", "precomputed", [], {"tuple": []}, {"float": "nan"}]
    values += [{"array": 0}, {"dict": []}, {"float": "inf"}, 7]
    node[key] = rng.choice(values)
    name = node[0] if isinstance(node, list) and isinstance(node[0], str) else "a value"
    return f"{name}, {str(before)[:60]}, is {node[key]}"
