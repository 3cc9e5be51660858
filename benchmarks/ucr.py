"""``AutoClassifier(similarity="elastic")`` on sets of the UCR archive, beside published accuracies.

A set is a file ``NAME.npz`` with ``X_train``, ``y_train``, ``X_test`` and ``y_test``, or the archive's two files
``NAME_TRAIN.tsv`` and ``NAME_TEST.tsv``, in the folder or in a folder of its own. If the folder has a file
``published.csv``, with a column ``set`` and one column of accuracies for each classifier, these are printed too.
"""

from __future__ import annotations

import argparse
import csv
import json
import sys
import time
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from similitude import AutoClassifier
from similitude.numerics.significance import wilcoxon_greater


def main(arguments: Sequence[str]) -> None:
    """Run the sets that are missing in the file of results, and print the table."""
    parser = argparse.ArgumentParser(
        "python -m benchmarks ucr",
        description='AutoClassifier(similarity="elastic") on sets of the UCR archive. Finished sets are kept, and the '
        "same command continues.",
    )
    parser.add_argument("--data", type=Path, required=True, help="folder of the sets, and of published.csv")
    parser.add_argument("--sets", help="names of sets, comma separated (all)")
    parser.add_argument("--time-budget", type=float, help="seconds for the fit on each set (no limit)")
    parser.add_argument("--output", type=Path, default=Path("ucr.jsonl"), help="file of results (ucr.jsonl)")
    chosen = parser.parse_args(arguments)
    sets = find_sets(chosen.data)
    names = list(sets) if chosen.sets is None else [name.strip() for name in chosen.sets.split(",")]
    unknown = [name for name in names if name not in sets]
    if unknown or not names:
        sys.exit(f"--data: {chosen.data} has no set {unknown[0] if unknown else 'in a known form'}.")
    done = finished(chosen.output, chosen.time_budget)
    for name in names:
        if name not in done:
            print(f"... {name}", flush=True)
            done[name] = run(name, sets[name], chosen.time_budget)
            with chosen.output.open("a") as file:
                file.write(json.dumps(done[name]) + "\n")
    print(f"\n{table([done[name] for name in names], published(chosen.data))}")


def find_sets(folder: Path) -> dict[str, tuple[Path, ...]]:
    """Return the files of each set in a folder, by name."""
    found: dict[str, tuple[Path, ...]] = {path.stem: (path,) for path in folder.glob("*.npz")}
    for train in [*folder.glob("*_TRAIN.tsv"), *folder.glob("*/*_TRAIN.tsv")]:
        test = train.with_name(train.name.replace("_TRAIN.tsv", "_TEST.tsv"))
        if test.exists():
            found[train.name.removesuffix("_TRAIN.tsv")] = (train, test)
    return dict(sorted(found.items()))


def load(files: tuple[Path, ...]) -> tuple[Any, np.ndarray, Any, np.ndarray]:
    """Return the training series, their labels, the test series and theirs."""
    if len(files) == 1:
        with np.load(files[0]) as arrays:
            return arrays["X_train"], arrays["y_train"], arrays["X_test"], arrays["y_test"]
    (X_train, y_train), (X_test, y_test) = (_read_tsv(path) for path in files)
    return X_train, y_train, X_test, y_test


def _read_tsv(path: Path) -> tuple[list[np.ndarray], np.ndarray]:
    """Return the series and labels of a file of the archive, which fills shorter series up with NaN at their ends."""
    values = np.loadtxt(path, delimiter="\t", ndmin=2)
    lengths = [len(row) - np.argmin(np.isnan(row[::-1])) for row in values]
    return [row[1:length] for row, length in zip(values, lengths)], values[:, 0]


def run(name: str, files: tuple[Path, ...], time_budget: float | None) -> dict[str, Any]:
    """Return the accuracy on the test series, and the seconds of the fit and of the prediction."""
    X_train, y_train, X_test, y_test = load(files)
    model = AutoClassifier(similarity="elastic", time_budget=time_budget, diagnose=False)
    start = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X_train, y_train)
    fitted = time.perf_counter()
    accuracy = float(np.mean(model.predict(X_test) == y_test))
    return {
        "set": name,
        "n_train": len(X_train),
        "n_test": len(X_test),
        "time_budget": time_budget,
        "accuracy": accuracy,
        "fit_seconds": round(fitted - start, 2),
        "predict_seconds": round(time.perf_counter() - fitted, 2),
        "members": {member.name: round(member.weight, 3) for member in model.best_estimator_.members_},
    }


def finished(path: Path, time_budget: float | None) -> dict[str, dict[str, Any]]:
    """Return the results in a file with this budget, by set; a last line that was not written whole is removed."""
    if not path.exists():
        return {}
    text = path.read_text()
    whole = text[: text.rfind("\n") + 1]
    if whole != text:
        path.write_text(whole)
    results = [json.loads(line) for line in whole.splitlines()]
    return {result["set"]: result for result in results if result["time_budget"] == time_budget}


def published(folder: Path) -> dict[str, dict[str, float]]:
    """Return the published accuracies of each set by the names of the classifiers."""
    path = folder / "published.csv"
    if not path.exists():
        return {}
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    return {row.pop("set"): {name: float(value) for name, value in row.items() if value} for row in rows}


def table(results: list[dict[str, Any]], others: dict[str, dict[str, float]]) -> str:
    """Return accuracies in percent and seconds as text, with means and a paired test against each classifier.

    Means and tests are over the sets that all classifiers have.
    """
    columns = list(dict.fromkeys(name for row in others.values() for name in row))
    rows = [["set", "train", "seconds", "ours", *columns]]
    for own in results:
        known = others.get(own["set"], {})
        seconds = own["fit_seconds"] + own["predict_seconds"]
        accuracies = [own["accuracy"], *(known.get(name) for name in columns)]
        rows.append([own["set"], str(own["n_train"]), f"{seconds:.1f}", *map(_percent, accuracies)])
    common = [own for own in results if all(name in others.get(own["set"], {}) for name in columns)]
    ours = np.array([own["accuracy"] for own in common])
    theirs = {name: np.array([others[own["set"]][name] for own in common]) for name in columns}
    if common:
        means = [_percent(float(np.mean(values))) for values in (ours, *theirs.values())]
        rows.append([f"mean of {len(common)}", "", "", *means])
    lines = _aligned(rows)
    for name, values in theirs.items() if common else ():
        # Published accuracies are rounded to four digits.
        differences = np.where(np.abs(ours - values) < 1e-4, 0.0, ours - values)
        p = min(1.0, 2 * min(wilcoxon_greater(differences, 0 * ours), wilcoxon_greater(-differences, 0 * ours)))
        better, worse = int((differences > 0).sum()), int((differences < 0).sum())
        lines.append(f"ours against {name}: better on {better}, worse on {worse} of {len(common)}; Wilcoxon p {p:.2g}")
    return "\n".join(lines)


def _percent(accuracy: float | None) -> str:
    return "" if accuracy is None else f"{100 * accuracy:.2f}"


def _aligned(rows: list[list[str]]) -> list[str]:
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    return ["  ".join(cell.rjust(width) for cell, width in zip(row, widths)) for row in rows]
