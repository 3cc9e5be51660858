"""Recognition of samples of a class that was not there in training, at 5% false alarms.

Each class in turn is left out. The rest is divided into five folds, of which each is tested with the novel samples by a
classifier fitted on the others. The threshold is the one at which 5% of the tested known samples are called novel.
"""

import warnings

import numpy as np
from sklearn.model_selection import StratifiedKFold

from benchmarks.arena.data import DataMissing, load
from similitude import CombinedClassifier
from similitude.proximity.split import cut

FALSE_ALARMS = 0.05
SETS = (
    "protein",
    "catcortex",
    "woodyplants50",
    "gpcr_gonnet",
    "dtw_osuleaf",
    "objects92_judged_1subj",
    "objects92_fmri_1subj",
    "polbooks",
    "worldtrade",
    "usps_directed_hausdorff",
)
ROUTES = ("maximum posterior", "largest typicality", "familiarity")
GOAL = "familiarity at least 5 points better than the maximum posterior on 8 of 10"


def recognised(known, novel):
    """Return the share of novel samples below the threshold, interpolated where scores are tied."""
    values = np.unique(np.concatenate([known, novel]))
    alarms = [0.0, *(np.mean(known <= value) for value in values)]
    found = [0.0, *(np.mean(novel <= value) for value in values)]
    return float(np.interp(FALSE_ALARMS, alarms, found))


def _scores(model, rows):
    return np.stack(
        [model.predict_proba(rows).max(axis=1), model.typicality(rows).max(axis=1), model.familiarity(rows)]
    )


def of_problem(X, y, dissimilarity):
    """Return the share of novel samples that each route recognises, over all classes."""
    classes, codes = np.unique(y, return_inverse=True)
    counts = np.bincount(codes)
    total = np.zeros(len(ROUTES))
    for g in range(len(classes)):
        novel = np.flatnonzero(codes == g)
        known = np.flatnonzero((codes != g) & (counts[codes] > 1))
        old, new = [], []
        for train, test in StratifiedKFold(5, shuffle=True, random_state=0).split(known, codes[known]):
            kept, rows = known[train], np.concatenate([known[test], novel])
            model = CombinedClassifier(dissimilarity=dissimilarity).fit(cut(X, kept, kept), codes[kept])
            scores = _scores(model, cut(X, rows, kept))
            old.append(scores[:, : len(test)])
            new.append(scores[:, len(test) :])
        pairs = zip(np.concatenate(old, axis=1), np.concatenate(new, axis=1))
        total += len(novel) * np.array([recognised(*pair) for pair in pairs])
    return total / len(y)


def run():
    rows, better = [], 0
    try:
        problems = load(SETS)
    except DataMissing as error:
        print(error)
        return rows
    print(f"share of novel samples recognised at {FALSE_ALARMS:.0%} false alarms: {', '.join(ROUTES)}")
    for problem in problems:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            shares = of_problem(problem.matrix, problem.labels, "gauss" if problem.kind == "dissimilarity" else None)
        print(f"  {problem.name:24}", *(f"{100 * share:6.1f}%" for share in shares), flush=True)
        better += bool(shares[2] >= shares[0] + 0.05)
        row = {"name": f"novel samples recognised, {problem.name}: familiarity against posterior"}
        rows.append({**row, "ours_seconds": f"{100 * shares[2]:.1f}%", "peer_seconds": f"{100 * shares[0]:.1f}%"})
    rows.append({"name": "  at least 5 points better", "ours_seconds": f"{better} of {len(rows)}", "goal": GOAL})
    return rows
