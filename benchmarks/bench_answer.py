"""What AutoClassifier answers within a time budget on samples of several kinds, beside the usual single answers.

Pen Digits (8 points of a pen, dynamic time warping, the archive's test part) has 3,000 and 7,494 training samples, ten
classes and budgets of 90 and 60 s; the peer is k-NN whose k is chosen by cross-validation. The sets of the UCR archive
with at most 30 training series are compared by dynamic time warping as well; the peer is 1-NN. On eight small sets,
eleven elastic distances by name are given at once, as raw series; the peer is one SVM on their equal mixture, beside
1-NN on the single distances. Molecules are compared by Tanimoto's similarity of their fingerprints, and those of other
scaffolds are predicted, as in ``python -m benchmarks molecules``; the peers are a random forest on the fingerprints and
an SVM on the similarity, by the area under the ROC curve. Data are read from the folder that SIMILITUDE_DATA names.
"""

import os
import time
import warnings
from pathlib import Path

import numpy as np
from sklearn.datasets import load_svmlight_file
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import roc_auc_score
from sklearn.svm import SVC

from benchmarks.molecules import read, scaffold_split
from similitude import AutoClassifier, KNNClassifier, PathSearchCV, Proximities
from similitude.auto import mixtures
from similitude.auto.methods import NEIGHBORS
from similitude.similarities import Tanimoto, fingerprints, pairwise

DIGITS = ((3000, 90.0), (7494, 60.0))
FEW, SHORT = 30, 30.0
"""The most training series of a set, and the budget for it."""
MOLECULES, MOLECULE_SECONDS = (("bace", "active"), ("bbbp", "penetrates"), ("tox21", "NR-PPAR-gamma")), 30.0
ELEVEN = ("dtw", "ddtw", "wdtw", "wddtw", "adtw", "erp", "edr", "lcss", "msm", "twe", "shape_dtw")
ELASTIC_SETS = (
    "BME",
    "Chinatown",
    "Coffee",
    "ECG200",
    "FaceFour",
    "GunPoint",
    "ItalyPowerDemand",
    "SonyAIBORobotSurface2",
)
BUDGET = 60.0
"""The seconds for the fit on eleven distances of raw series, computing them included."""


def _folder():
    folder = os.environ.get("SIMILITUDE_DATA")
    return None if folder is None else Path(folder)


def _pen(folder, part):
    X, y = load_svmlight_file(str(folder / f"pendigits.{part}.libsvm"))
    return X.toarray().reshape(-1, 8, 2).transpose(0, 2, 1).copy(), y.astype(int)


def _row(name, auto, D, y, rows, truth, peer):
    start, cpu = time.perf_counter(), time.process_time()
    auto.fit(D, y)
    seconds, cpu = time.perf_counter() - start, time.process_time() - cpu
    start = time.perf_counter()
    peer.fit(D, y)
    peer_seconds = time.perf_counter() - start
    errors = [100 * np.mean(model.predict(rows) != truth) for model in (auto, peer)]
    left = len(auto.left_out_)
    about = f"error {errors[0]:.2f}%, peer {errors[1]:.2f}%; {cpu:.0f} CPU s in this process; {left} methods left out"
    return {"name": name, "ours_seconds": seconds, "peer_seconds": peer_seconds, "goal": about}, errors


def _digits(folder, sizes):
    (X, y), (Z, truth) = (_pen(folder, part) for part in ("train", "test"))
    found = []
    for n, budget in sizes:
        some = np.sort(np.random.RandomState(0).permutation(len(y))[:n])
        D, rows = (pairwise(A, X[some], similarity="dtw").astype(np.float32) for A in (X[some], Z))
        auto = AutoClassifier(time_budget=budget, n_jobs=2, dissimilarity="max-minus")
        peer = PathSearchCV(KNNClassifier(dissimilarity="max-minus"), {"n_neighbors": NEIGHBORS}, cv=5, n_jobs=2)
        name = f"Pen Digits, DTW, n = {n}, {budget:g} s | tuned k-NN"
        found.append(_row(name, auto, D, y[some], rows, truth, peer)[0])
    return found


def _few(folder, names):
    found, accuracies = [], []
    for path in sorted((folder / "ucr").glob("*.npz")):
        with np.load(path, allow_pickle=False) as file:
            data = {key: file[key] for key in ("X_train", "y_train", "X_test", "y_test")}
        if len(data["y_train"]) > FEW or (names is not None and path.stem not in names):
            continue
        D, rows = (pairwise(data[key], data["X_train"], similarity="dtw") for key in ("X_train", "X_test"))
        auto = AutoClassifier(time_budget=SHORT, n_jobs=2, dissimilarity="max-minus")
        peer = KNNClassifier(1, dissimilarity="max-minus")
        name = f"{path.stem}, DTW, n = {len(data['y_train'])}, {SHORT:g} s | 1-NN"
        row, errors = _row(name, auto, D, data["y_train"], rows, data["y_test"], peer)
        found.append(row)
        accuracies.append([100 - error for error in errors])
    if accuracies:
        ours, theirs = np.mean(accuracies, axis=0)
        about = f"mean accuracy {ours:.1f}%, 1-NN {theirs:.1f}%"
        found.append({"name": f"{len(accuracies)} sets with at most {FEW} training series", "goal": about})
    return found


def _molecules(folder, sets):
    return [_molecule_row(folder, table, column) for table, column in sets]


def _molecule_row(folder, table, column):
    X, y, _ = read(folder, table, column)
    train, test, groups = scaffold_split(X, y, 0)
    bits = fingerprints(X)
    K, rows = Tanimoto()(bits[train], bits[train]), Tanimoto()(bits[test], bits[train])
    forest = RandomForestClassifier(300, random_state=0).fit(bits[train], y[train])
    machine = SVC(kernel="precomputed").fit(K, y[train])
    peers = forest.predict_proba(bits[test])[:, 1], machine.decision_function(rows)
    areas = [roc_auc_score(y[test], found) for found in peers]
    auto = AutoClassifier(similarity="tanimoto", time_budget=MOLECULE_SECONDS, n_jobs=2)
    start, cpu = time.perf_counter(), time.process_time()
    auto.fit([X[i] for i in train], y[train], groups=groups[train])
    seconds, cpu = time.perf_counter() - start, time.process_time() - cpu
    area = roc_auc_score(y[test], auto.predict_proba([X[i] for i in test])[:, 1])
    name = f"{column} ({len(train)} molecules, {y.mean():.1%} positive), {MOLECULE_SECONDS:g} s"
    about = f"AUC {area:.3f}, random forest {areas[0]:.3f}, SVC {areas[1]:.3f}; {cpu:.0f} CPU s in this process; "
    return {"name": name, "ours_seconds": seconds, "goal": f"{about}{len(auto.left_out_)} methods left out"}


def _elastic(folder, names=ELASTIC_SETS):
    """Return rows of eleven elastic distances at once, with a budget, beside one mixture of them and each alone."""
    found, accuracies = [], []
    for name in names:
        path = folder / "ucr" / f"{name}.npz"
        if not path.exists():
            continue
        with np.load(path, allow_pickle=False) as file:
            X, y, Z, truth = (file[key] for key in ("X_train", "y_train", "X_test", "y_test"))
        auto = AutoClassifier(similarity=dict(zip(ELEVEN, ELEVEN)), time_budget=BUDGET, n_jobs=2)
        start = time.perf_counter()
        auto.fit(X, y)
        seconds = time.perf_counter() - start
        start = time.perf_counter()
        D, rows = ({name: pairwise(A, X, similarity=name) for name in ELEVEN} for A in (X, Z))
        distances = time.perf_counter() - start
        start = time.perf_counter()
        svm, grid = mixtures(dissimilarity="gauss")["SVM (equal mixture)"]
        mixture = PathSearchCV(svm, grid, cv=5, n_jobs=2).fit(Proximities(D), y)
        peer_seconds = time.perf_counter() - start
        errors = {own: np.mean(y[np.argmin(D[own] + np.diag(np.full(len(y), np.inf)), axis=1)] != y) for own in ELEVEN}
        single = {own: np.mean(y[np.argmin(rows[own], axis=1)] == truth) for own in ELEVEN}
        chosen = [single[own] for own in ELEVEN if errors[own] == min(errors.values())]
        of_mixture = np.mean(mixture.predict(Proximities(rows)) == truth)
        own = 100 * np.array([np.mean(auto.predict(Z) == truth), of_mixture, np.mean(chosen), max(single.values())])
        accuracies.append(own)
        about = f"{_accuracies(own)}; distances of the mixture, apart, {distances:.0f} s"
        row = {"name": f"{name}, eleven distances, {BUDGET:g} s | equal mixture, SVM", "ours_seconds": seconds}
        found.append(row | {"peer_seconds": peer_seconds, "goal": about})
        print(f"{row['name']}: {seconds:.0f} s, {peer_seconds:.0f} s; {about}", flush=True)
    if accuracies:
        name, about = f"{len(accuracies)} sets, eleven distances", _accuracies(np.mean(accuracies, axis=0))
        found.append({"name": name, "goal": about})
    return found


def _accuracies(values):
    ours, mixture, chosen, best = values
    text = f"accuracy {ours:.1f}%, mixture {mixture:.1f}%"
    return f"{text}, 1-NN on the distance with the fewest training errors {chosen:.1f}%, on the best one {best:.1f}%"


def run(sizes=DIGITS, names=None, molecules=MOLECULES):
    warnings.simplefilter("ignore")
    folder = _folder()
    if folder is None:
        return [{"name": "answer: skipped, since SIMILITUDE_DATA names no folder"}]
    parts = _digits(folder, sizes), _few(folder, names), _elastic(folder), _molecules(folder, molecules)
    return [row for part in parts for row in part]
