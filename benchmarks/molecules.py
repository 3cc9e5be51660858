"""Molecules of MoleculeNet, by scaffold: ``fit`` beside a forest and support vector machines on the fingerprints.

``python -m benchmarks molecules FOLDER`` reads the tables ``bace.csv``, ``bbbp.csv`` and ``tox21.csv`` of the folder
``tables`` in FOLDER, leaves out invalid SMILES, and holds out the molecules of 30% of the scaffolds. Fingerprints are
Morgan's of radius 2 with 2,048 bits. For each set it prints the error, the area under the ROC curve (AUC) and the
average precision (AP), and then how well the errors of ``fit`` are found (AUC) by the numbers that are offered for it.
With ``--hits`` the errors are those of enzymes, predicted from hits of a search in the folder ``hits``.
"""

import argparse
import csv
import time
import warnings
from pathlib import Path

import numpy as np
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import average_precision_score, roc_auc_score
from sklearn.model_selection import GroupShuffleSplit
from sklearn.svm import SVC

from similitude import AutoClassifier, LandmarkClassifier, Proximities
from similitude.datasets import load_proximity
from similitude.similarities import Tanimoto, fingerprints, scaffolds
from similitude.similarities.molecules import invalid_smiles

SETS = {
    "bace": ("bace", "active"),
    "bbbp": ("bbbp", "penetrates"),
    "tox21 NR-AhR": ("tox21", "NR-AhR"),
    "tox21 SR-ARE": ("tox21", "SR-ARE"),
    "tox21 SR-MMP": ("tox21", "SR-MMP"),
}


def read(folder, table, column):
    """Return the SMILES that are valid and have a label, and their labels."""
    with (folder / "tables" / f"{table}.csv").open(newline="") as file:
        rows = [(row["smiles"], int(float(row[column]))) for row in csv.DictReader(file) if row[column]]
    invalid = set(invalid_smiles([smiles for smiles, _ in rows]))
    kept = [row for i, row in enumerate(rows) if i not in invalid]
    return [smiles for smiles, _ in kept], np.array([label for _, label in kept]), len(invalid)


def scaffold_split(X, y, seed):
    """Return the molecules for training, those of 30% of the scaffolds, which are held out, and all scaffolds."""
    groups = np.unique(scaffolds(X), return_inverse=True)[1]
    return *next(GroupShuffleSplit(1, test_size=0.3, random_state=seed).split(X, y, groups)), groups


def compared(name, X, y, seed, seconds):
    """Print the table of one set, and return the fitted model, the test molecules and their labels."""
    train, test, groups = scaffold_split(X, y, seed)
    bits = fingerprints(X)
    known, new = [X[i] for i in train], [X[i] for i in test]
    print(f"\n{name}: {len(train)} molecules for training, {len(test)} of other scaffolds, {y.mean():.0%} positive")
    print(f"{'':28}{'error':>8}{'AUC':>8}{'AP':>8}{'processor':>11}{'clock':>8}")

    def row(what, scores):
        began, clock = time.process_time(), time.perf_counter()
        model, found = scores()
        spent = time.process_time() - began, time.perf_counter() - clock
        error = 100 * np.mean((found > 0.5) != y[test])
        ranked = roc_auc_score(y[test], found), average_precision_score(y[test], found)
        print(f"{what:28}{error:8.1f}{ranked[0]:8.3f}{ranked[1]:8.3f}{spent[0]:9.1f} s{spent[1]:6.0f} s", flush=True)
        return model

    def forest():
        model = RandomForestClassifier(300, random_state=0).fit(bits[train], y[train])
        return model, model.predict_proba(bits[test])[:, 1]

    def machine():
        K, rows = Tanimoto()(bits[train], bits[train]), Tanimoto()(bits[test], bits[train])
        model = SVC(kernel="precomputed").fit(K, y[train])
        return model, 0.5 + model.decision_function(rows)

    def gaussian():
        model = SVC().fit(bits[train], y[train])
        return model, 0.5 + model.decision_function(bits[test])

    def landmarks():
        model = LandmarkClassifier(500, similarity="tanimoto", random_state=0).fit(known, y[train])
        return model, 0.5 + model.decision_function(new)

    def ours():
        model = AutoClassifier(similarity="tanimoto", time_budget=seconds, random_state=0)
        model.fit(known, y[train], groups=groups[train])
        return model, model.predict_proba(new)[:, 1]

    row("random forest on bits", forest)
    row("SVC, Gaussian, on bits", gaussian)
    row("SVC, Tanimoto kernel", machine)
    row("LandmarkClassifier(500)", landmarks)
    model = row(f"fit in {seconds:g} s", ours)
    return model, new, y[test]


def found_errors(model, Z, z):
    """Return how well the errors are found (AUC) by each number that is offered for it."""
    fitted = getattr(model, "best_estimator_", model)
    P, T = fitted.predict_proba(Z), fitted.typicality(Z)
    known = ~np.isnan(T).any(axis=1)
    said = P.argmax(axis=1)
    wrong = fitted.classes_[said] != z
    own = T[np.arange(len(said)), said]
    numbers = {
        "largest posterior": P.max(axis=1),
        "typicality of the label": own,
        "largest typicality": T.max(axis=1),
        "familiarity": fitted.familiarity(Z),
        "applicability": fitted.applicability(Z),
    }
    return {name: roc_auc_score(wrong[known], -value[known]) for name, value in numbers.items()}


def on_hits(folder):
    """Return the fitted model, rows of new enzymes and their classes."""
    place = folder / "hits"
    data = load_proximity(place / "ec_train.m8.gz", place / "ec_train.tsv", label_column="ec1")
    model = AutoClassifier(["k-NN", "affinity k-NN", "distance-weighted k-NN"], random_state=0, diagnose=False)
    model.fit(Proximities(data.S, absent=data.absent), data.y)
    with (place / "ec_test.tsv").open(newline="") as file:
        labels = {row["id"]: row["ec1"] for row in csv.DictReader(file, delimiter="\t")}
    from similitude.proximity.files import Reading, load_rows

    rows = load_rows(place / "ec_test.m8.gz", Reading(), list(map(str, data.ids)), None, None)
    kept = [i for i, name in enumerate(rows.ids) if name in labels]
    return model, rows.values[kept], np.array([labels[rows.ids[i]] for i in kept], dtype=data.y.dtype)


def main(arguments):
    """Print the tables."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks molecules", description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seed", type=int, default=0, help="which scaffolds are held out; development: 1000 and above")
    parser.add_argument("--seconds", type=float, default=30, help="time budget of fit")
    parser.add_argument("--only", help="run only the sets that begin with this")
    parser.add_argument("--hits", action="store_true", help="find the errors of enzymes, too")
    options = parser.parse_args(arguments)
    warnings.simplefilter("ignore")
    tables = {}
    for name, (table, column) in SETS.items():
        if options.only is None or name.startswith(options.only):
            X, y, invalid = read(options.folder, table, column)
            tables[f"{name} ({invalid} SMILES invalid)" if invalid else name] = found_errors(
                *compared(name, X, y, options.seed, options.seconds)
            )
    if options.hits:
        tables["enzymes by hits"] = found_errors(*on_hits(options.folder))
    print("\nAUC of finding the errors of fit:")
    for name, table in tables.items():
        print(f"  {name:32}" + ", ".join(f"{what} {value:.3f}" for what, value in table.items()))
