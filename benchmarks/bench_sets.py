"""Coverage and size of sets of classes: cross-conformal, split conformal, approximate, and MAPIE.

Shares are means over random partitions into a training part (80%) and a test part. On feature vectors the peer is MAPIE
(the extra ``bench``), with the same classifier and folds, and split conformal prediction; on similarities it is split
conformal prediction, which trains on one half of the training part and calibrates on the other.
"""

import warnings

import numpy as np
from sklearn.base import clone
from sklearn.datasets import load_digits, load_wine, make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from benchmarks.arena.data import DataMissing, load, partition_of
from similitude import AutoClassifier, PredictionSets, SimilaritySVC
from similitude.evaluation.answers import log_posteriors
from similitude.proximity.split import cut
from similitude.sets.calibration import Calibration, in_set

CONFIDENCE = 0.9
PARTITIONS = 20
SETS = ("voting", "yeast_5_12", "protein", "dtw_gunpoint", "dtw_osuleaf", "mutag_ged", "promoters")


def _measured(sets, codes):
    """Return how many sets hold the class, and the mean size."""
    return np.array([np.mean(sets[np.arange(len(codes)), codes]), np.mean(sets.sum(axis=1))])


def _row(name, ours, peer, peer_name):
    texts = [f"{100 * coverage:.1f}%, {size:.2f}" for coverage, size in (ours, peer)]
    return {"name": f"{name}; peer: {peer_name}", "ours_seconds": texts[0], "peer_seconds": texts[1]}


def split_conformal(estimator, S, codes, rows, *, class_conditional, seed, method="lac"):
    """Return the sets of a classifier trained on one half and calibrated on the other."""
    train, held = train_test_split(np.arange(len(codes)), test_size=0.5, stratify=codes, random_state=seed)
    classes = np.unique(codes)
    pairwise = S.shape[0] == S.shape[1]
    columns = train if pairwise else np.arange(S.shape[1])
    fitted = clone(estimator).fit(cut(S, train, columns), codes[train])
    known = log_posteriors(fitted, cut(S, held, columns), classes)
    calibration = Calibration(classes, known, codes[held], np.zeros(len(held), dtype=int))
    answers = log_posteriors(fitted, cut(rows, np.arange(len(rows)), columns), classes)
    return in_set(calibration.p_values(answers, method, class_conditional), CONFIDENCE)


def on_similarities(data):
    """Return coverage and size of cross-conformal, split conformal and approximate sets."""
    found = []
    codes = np.unique(data.labels, return_inverse=True)[1]
    contract = {} if data.kind == "similarity" else {"dissimilarity": "gauss"}
    for partition in range(PARTITIONS):
        train, test = partition_of(data.labels, partition)
        S, rows = cut(data.matrix, train, train), cut(data.matrix, test, train)
        svc = SimilaritySVC(**contract)
        sets = PredictionSets(svc, CONFIDENCE).fit(S, codes[train]).predict_set(rows)
        halves = split_conformal(svc, S, codes[train], rows, class_conditional=True, seed=partition)
        auto = AutoClassifier(["k-NN", "SVM (clip)"], n_repeats=1, **contract).fit(S, codes[train])
        approximate = auto.predict_set(rows, CONFIDENCE)
        found.append([_measured(each, codes[test]) for each in (sets, halves, approximate)])
    return np.mean(found, axis=0)


def feature_problems():
    """Yield data sets of feature vectors with their names."""
    yield "wine", *load_wine(return_X_y=True)
    X, y = load_digits(return_X_y=True)
    yield "digits (500 of them)", X[:500], y[:500]
    yield (
        "simulated, overlapping",
        *make_classification(600, 10, n_informative=5, n_classes=4, class_sep=0.7, random_state=0),
    )


def _mapie_sets(model, method, X, y, rows, folds):
    from mapie.classification import CrossConformalClassifier

    peer = CrossConformalClassifier(model, CONFIDENCE, method, cv=folds, random_state=0)
    # Without random numbers its APS sets, compared fold by fold, hold the class of 11 to 84% of the samples only.
    options = {"conformity_score_params": {"include_last_label": "randomized"}} if method == "aps" else {}
    return peer.fit_conformalize(X, y).predict_set(rows, agg_scores="crossval", **options)[1][:, :, 0]


def on_features(X, y, method):
    """Return coverage and size of our sets, of MAPIE's, and of split conformal ones."""
    found = []
    model = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))
    for partition in range(PARTITIONS):
        train, test = partition_of(y, partition)
        folds = StratifiedKFold(5, shuffle=True, random_state=partition)
        ours = PredictionSets(model, CONFIDENCE, method, class_conditional=False, cv=folds).fit(X[train], y[train])
        peer = _mapie_sets(model, method, X[train], y[train], X[test], folds)
        halves = split_conformal(
            model, X[train], y[train], X[test], method=method, class_conditional=False, seed=partition
        )
        found.append([_measured(sets, y[test]) for sets in (ours.predict_set(X[test]), peer, halves)])
    return np.mean(found, axis=0)


def run():
    rows = []
    warnings.simplefilter("ignore")
    try:
        from mapie import __version__ as version
    except ImportError:
        print("MAPIE is not installed (pip install --group bench); it is left out.")
    else:
        for name, X, y in feature_problems():
            for method in ("lac", "aps"):
                ours, peer, halves = on_features(X, y, method)
                rows.append(_row(f"sets at 90%, {name}, {method}", ours, peer, f"MAPIE {version}"))
                rows.append(_row(f"sets at 90%, {name}, {method}", ours, halves, "split conformal"))
    try:
        problems = load(SETS)
    except DataMissing as error:
        print(error)
        problems = load(["promoters"])
    for data in problems:
        ours, halves, approximate = on_similarities(data)
        rows.append(_row(f"sets at 90% of each class, {data.name}", ours, halves, "split conformal"))
        rows.append(_row("  approximate sets of AutoClassifier", approximate, ours, "PredictionSets"))
    return rows
