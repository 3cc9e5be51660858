"""How well the posteriors of AutoClassifier's combination are calibrated, and whether a temperature of its own helps.

The data are the smaller sets of the arena, on partitions that are not part of its page. The calibration error (ECE) of
few test samples is large even for perfect posteriors. It is therefore printed beside the ECE that the same posteriors
have for labels that are drawn from them. The temperature is fitted to the posteriors of the combination for left-out
samples, each by choices without that sample.
"""

import warnings

import numpy as np

from benchmarks.arena.data import DataMissing, load
from benchmarks.arena.scores import brier_score, calibration_error
from similitude import AutoClassifier
from similitude.auto import COMPARED_ONLY, methods
from similitude.numerics.temperature import fit_temperature

SETS = (
    "catcortex",
    "polbooks",
    "worldtrade",
    "objects92_fmri_1subj",
    "objects92_judged_1subj",
    "promoters",
    "yeast_5_12",
    "protein",
    "mutag_ged",
)
PARTITIONS = (1000, 1001)
DRAWS = 200


def _posteriors(dataset, partition):
    """Return the test posteriors of the combination with and without a temperature, the classes and the test labels."""
    split = dataset.split(partition)
    names = [name for name in methods() if name not in COMPARED_ONLY]
    contract = {"dissimilarity": "max-minus"} if dataset.kind == "dissimilarity" else {}
    auto = AutoClassifier(names, random_state=partition, **contract).fit(split.X_train, split.y_train)
    left_out = auto.out_of_fold_
    codes = np.searchsorted(auto.classes_, split.y_train[left_out.samples])
    temperature = fit_temperature(left_out.proba, "predict_proba", codes)
    plain = auto.predict_proba(split.X_test)
    return {"combination": plain, "with a temperature": temperature.posteriors(plain)}, auto.classes_, split.y_test


def _figures(posteriors, classes, labels, rng):
    """Return the Brier score, the ECE, that of drawn labels, and the mean confidence minus the accuracy."""
    drawn = [classes[_drawn(posteriors, rng)] for _ in range(DRAWS)]
    right = classes[np.argmax(posteriors, axis=1)] == labels
    return (
        brier_score(posteriors, classes, labels),
        calibration_error(posteriors, classes, labels),
        np.mean([calibration_error(posteriors, classes, each) for each in drawn]),
        np.mean(np.max(posteriors, axis=1) - right),
    )


def _drawn(posteriors, rng):
    return np.argmax(np.cumsum(posteriors, axis=1) > rng.random((len(posteriors), 1)), axis=1)


def run(sets=SETS, partitions=PARTITIONS):
    warnings.simplefilter("ignore")
    try:
        datasets = load(sets)
    except DataMissing as error:
        return [{"name": "calibration of the combination", "goal": str(error)}]
    rng = np.random.default_rng(0)
    found = {}
    for dataset in datasets:
        for partition in partitions:
            posteriors, classes, labels = _posteriors(dataset, partition)
            for way, each in posteriors.items():
                found.setdefault(way, []).append(_figures(each, classes, labels, rng))
    rows = []
    plain = np.array(found["combination"])
    for way, figures in found.items():
        brier, ece, calibrated, surplus = np.mean(figures, axis=0)
        told = f"Brier {brier:.4f}, ECE {ece:.4f} (calibrated {calibrated:.4f}), confidence - accuracy {surplus:+.4f}"
        if way != "combination":
            change = np.array(figures)[:, :2] - plain[:, :2]
            errors = change.std(axis=0, ddof=1) / np.sqrt(len(change))
            changes = (f"{m:+.4f} ± {s:.4f}" for m, s in zip(change.mean(axis=0), errors))
            told += "; change of Brier {}, of ECE {}".format(*changes)
        rows.append({"name": way, "goal": told})
    return rows
