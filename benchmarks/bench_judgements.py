"""Ratings by several judges: should they be averaged, and which methods suit them?

The data are the judgements of 16 people on the same 92 images (from the folder of ``SIMILITUDE_DATA``), with their six
kinds and with whether they are animate. Errors are means over random partitions (80% for training, seeds 1000, 1001,
...); everything is chosen on the training part. Each way of using the judges has the same methods. The ratings of the
second run are the same without a random quarter of the pairs of each judge, as if nobody had asked for them.
"""

import os
import sys
import warnings
from pathlib import Path

import numpy as np
from sklearn.model_selection import train_test_split

from similitude import AutoClassifier, Proximities

PARTITIONS, FIRST, UNRATED = 10, 1000, 0.25
METHODS = ["k-NN", "affinity k-NN", "nearest centroid", "SVM (clip)"]
SINGLE = [*METHODS, "KRI k-NN", "SVM (flip)", "nearest mean (embedded)", "Fisher (embedded)", "SDA", "local SDA"]
FEW = 4
"""The number of judges of a small panel, drawn anew for each partition."""


def ratings(D_of, known, chosen):
    """Return the ratings of some judges as a long table."""
    rows, columns = np.triu_indices(D_of.shape[1], 1)
    first, second, values, judges = [], [], [], []
    for j in chosen:
        own = known[j][rows, columns]
        first.append(rows[own])
        second.append(columns[own])
        values.append(D_of[j][rows, columns][own])
        judges.append(np.full(own.sum(), f"judge {j + 1}"))
    return [np.concatenate(each) for each in (first, second, values, judges)]


def inputs(D_of, known, chosen):
    """Return the matrices of each way of using the judges, whose samples are in the order of the images."""
    first, second, values, judges = ratings(D_of, known, chosen)
    found = {}
    for way in ("mean", "ranks", "separate"):
        P = Proximities.from_ratings(first, second, values, judges=judges, combine=way, orientation="dissimilarity")
        order = np.argsort([int(name) for name in P.ids])
        found[way] = {name: S[np.ix_(order, order)] for name, S in P.similarities.items()}
    return found


def error(matrices, y, train, test, methods):
    """Return the error of what AutoClassifier chooses on the training part."""
    P = Proximities(matrices, fill="class-blind mean")
    model = AutoClassifier(methods, n_repeats=1, diagnose=False, dissimilarity="max-minus")
    model.fit(P[np.ix_(train, train)], y[train])
    return float(np.mean(model.predict(P[np.ix_(test, train)]) != y[test]))


def average_or_not(D_of, y, unrated, n_judges):
    """Return the errors of each way by partition."""
    found = {"mean": [], "ranks": [], "separate": []}
    for seed in range(FIRST, FIRST + PARTITIONS):
        rng = np.random.default_rng(seed)
        chosen = np.sort(rng.permutation(len(D_of))[:n_judges])
        known = rng.random(D_of.shape) >= unrated
        train, test = train_test_split(np.arange(len(y)), test_size=0.2, stratify=y, random_state=seed)
        for way, matrices in inputs(D_of, known, chosen).items():
            found[way].append(error(matrices, y, train, test, METHODS))
    return {way: np.array(errors) for way, errors in found.items()}


def single_methods(D, y):
    """Return the errors of single methods on a matrix by partition."""
    found = {}
    for method in SINGLE:
        errors = []
        for seed in range(FIRST, FIRST + PARTITIONS):
            train, test = train_test_split(np.arange(len(y)), test_size=0.2, stratify=y, random_state=seed)
            errors.append(error({"S": D}, y, train, test, [method]))
        found[method] = np.array(errors)
    return found


def told(errors):
    """Return the mean error in percent with its standard error over the partitions."""
    return f"{100 * errors.mean():.1f} ± {100 * errors.std(ddof=1) / np.sqrt(len(errors)):.1f}"


def run() -> list[dict]:
    """Print the tables, and return one row for each of them."""
    path = Path(os.environ.get("SIMILITUDE_DATA", "../shared/data")) / "proximity" / "objects92_judged_1subj.npz"
    if not path.exists():
        print(f"judgements: left out, there is no {path}")
        return [{"name": "judgements: left out"}]
    data = np.load(path)
    D_of = data["D_subjects"].astype(float)
    kinds = {"6 kinds": data["y"], "animate or not": data["y_animate"]}
    rows = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        print(f"\n| what is told apart, by whom | {' | '.join(('mean', 'ranks', 'separate'))} |")
        print("| --- | --- | --- | --- |")
        for kind, y in kinds.items():
            for n_judges in (len(D_of), FEW):
                for unrated in (0.0, UNRATED):
                    found = average_or_not(D_of, y, unrated, n_judges)
                    lacking = f", {unrated:.0%} of the pairs unrated" if unrated else ""
                    name = f"{kind}, {n_judges} judges{lacking}"
                    print(f"| {name} | {' | '.join(map(told, found.values()))} |", flush=True)
                    ours, peer = (f"{100 * found[way].mean():.2f} %" for way in ("separate", "mean"))
                    rows.append({"name": f"{name}: separate and mean", "ours_seconds": ours, "peer_seconds": peer})
        matrices = {"mean of 16 judges": D_of.mean(axis=0), "first judge": D_of[0]}
        columns = {f"{kind}, {whose}": (D, y) for kind, y in kinds.items() for whose, D in matrices.items()}
        found = {name: single_methods(*own) for name, own in columns.items()}
        print(f"\n| method | {' | '.join(columns)} |\n| --- |{' --- |' * len(columns)}")
        for method in SINGLE:
            print(f"| {method} | {' | '.join(told(errors[method]) for errors in found.values())} |")
    return rows


if __name__ == "__main__":
    PARTITIONS = int(sys.argv[1]) if len(sys.argv) > 1 else PARTITIONS
    run()
