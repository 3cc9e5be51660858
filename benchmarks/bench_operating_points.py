"""Operating points on new sequences: the precision and the coverage of what is assigned, against what is promised.

The data are read from the folder ``hits`` of ``SIMILITUDE_DATA``. ``AutoClassifier`` chooses among the methods of the
benchmark ``hits`` on the training sequences; the cut-offs follow from its predictions for left-out training sequences.
They are applied to the table that ``similitude predict --queries`` writes for all test sequences, also for those
without a hit. The interval of the precision on the test sequences is that of Clopper and Pearson (95%). A precision is
*missed* if the whole interval is below it.
"""

import csv
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

import numpy as np
from scipy.stats import beta

from benchmarks import hits as hit_files
from benchmarks.bench_hits import COMMAND, METHODS
from similitude import AutoClassifier, save_model
from similitude.datasets import load_proximity

PROBLEMS = (("ec", "ec1"), ("ec", "ec2"), ("arg", "drug"))
BY_CLASS = 0.95


def run():
    folder, rows = hit_files.folder()
    if folder is None:
        return rows
    print(f"methods: {', '.join(METHODS)}; all figures in percent")
    return [row for problem in PROBLEMS for row in _problem(folder, *problem)]


def _problem(folder, name, column):
    """Return the rows of one problem, whose tables are printed."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # samples without an edge are left out
        data = load_proximity(folder / f"{name}_train.m8.gz", folder / f"{name}_train.tsv", label_column=column)
        model = AutoClassifier(METHODS, diagnose=False).fit(data.S, data.y).best_estimator_
    truth = hit_files.labels(folder / f"{name}_test.tsv", column)
    labels, confidence, evidence = _predicted(folder, name, data, model, truth)
    right = labels == np.array(list(truth.values()))
    print(
        f"\n{name}, {column}: {len(model.classes_)} classes, {len(right)} test sequences, {_share(right)} right, "
        f"{_share(~evidence)} without evidence"
    )
    print(f"{'precision':>9}{'':12}{'left out: assigned':>19}{'right':>8}{'test: assigned':>16}{'right':>8}   interval")
    rows = []
    for per_class in (False, True):
        for point in model.operating_points(per_class=per_class):
            here = point.assigns(labels, confidence) & evidence
            low, high = _interval(right[here])
            print(
                f"{point.precision:9g}{'  by class' if per_class else '  together':12}{_percent(point.coverage):>19}"
                f"{_percent(point.measured_precision):>8}{_share(here):>16}{_share(right[here]):>8}"
                f"   {_percent(low)} to {_percent(high)}{'  MISSED' if high < point.precision else ''}"
            )
            if not per_class:
                title = f"{name}, {column}: right among the {_share(here)}% assigned at precision {point.precision:g}"
                rows.append({"name": title, "ours_seconds": f"{_share(right[here])}%"})
            if per_class and point.precision == BY_CLASS:
                table = _by_class(point, np.where(evidence, labels, ""), right, here)
    print(*table, sep="\n", flush=True)
    return rows


def _predicted(folder, name, data, model, truth):
    """Return the predicted classes of all test sequences, their confidences, and whether they give evidence."""
    with tempfile.TemporaryDirectory() as place:
        model_file, table = str(Path(place) / "m.model"), Path(place) / "out.csv"
        save_model(model_file, model, ids=data.ids, notes={"reading": data.reading})
        words = ("predict", model_file, str(folder / f"{name}_test.m8.gz"), "-o", str(table), "--assign-all", "--quiet")
        queries = ("--queries", str(folder / f"{name}_test.fasta.gz"))
        subprocess.run([sys.executable, "-c", COMMAND, *words, *queries], check=True)
        with table.open(newline="") as file:
            found = {row["id"]: row for row in csv.DictReader(file)}
    rows = [found[query] for query in truth]
    labels = np.array([row["label"] for row in rows])
    return (
        labels,
        np.array([float(row["confidence"]) for row in rows]),
        np.array([row["evidence"] != "0" for row in rows]),
    )


def _by_class(point, labels, right, here):
    """Return the lines of a table with the test sequences with evidence that are assigned to each class."""
    lines = [f"by class at precision {point.precision:g}:"]
    lines.append(f"{'class':>24}{'predicted':>11}{'assigned':>10}{'right':>8}   interval")
    groups = [(str(point.classes[g]), labels == point.classes[g]) for g in np.flatnonzero(point.own)]
    others = point.classes[~point.own]
    if len(others):
        groups.append((f"{len(others)} others together", np.isin(labels, others)))
    for title, own in groups:
        low, high = _interval(right[own & here])
        missed = "  MISSED" if high < point.precision else ""
        lines.append(
            f"{title[:24]:>24}{own.sum():11}{(own & here).sum():10}{_share(right[own & here]):>8}"
            f"   {_percent(low)} to {_percent(high)}{missed}"
        )
    return lines


def _interval(right):
    """Return the interval of Clopper and Pearson for the share of right predictions."""
    n, k = len(right), int(right.sum())
    if not n:
        return np.nan, np.nan
    low = beta.ppf(0.025, k, n - k + 1) if k else 0.0
    return low, beta.ppf(0.975, k + 1, n - k) if k < n else 1.0


def _percent(share):
    return "-" if np.isnan(share) else f"{100 * share:.1f}"


def _share(flags):
    return _percent(flags.mean() if len(flags) else np.nan)
