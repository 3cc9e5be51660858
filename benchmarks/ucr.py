"""``AutoClassifier(similarity="elastic")`` on sets of the UCR archive, beside published accuracies.

A set is a file ``NAME.npz`` with ``X_train``, ``y_train``, ``X_test`` and ``y_test``, or the archive's two files
``NAME_TRAIN.tsv`` and ``NAME_TEST.tsv``, or the same with ``.ts``, in the folder or in a folder of its own. If the
folder has a file ``published.csv``, with a column ``set`` and one column of accuracies for each classifier, these are
printed too. Seconds are those of the processor, for all threads together.
"""

from __future__ import annotations

import argparse
import csv
import json
import sys
import time
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from similitude import AutoClassifier
from similitude._utils.files import replacing
from similitude.experiments import rank_methods
from similitude.numerics.significance import wilcoxon_greater
from similitude.reader import Contract
from similitude.similarities import elastic_family

OURS = "AutoClassifier"
_FORMS = (".tsv", ".ts")
_SHOWN_MEASURES = 5


def main(arguments: Sequence[str]) -> None:
    """Run the sets that are missing in the file of results, the cheapest first, and print the table."""
    parser = argparse.ArgumentParser(
        "python -m benchmarks ucr",
        description='AutoClassifier(similarity="elastic") on sets of the UCR archive. Finished sets are kept, and the '
        "same command continues.",
    )
    parser.add_argument("--data", type=Path, required=True, help="folder of the sets, and of published.csv")
    parser.add_argument("--sets", help="names of sets, comma separated (all)")
    parser.add_argument("--time-budget", type=float, help="seconds for the fit on each set (no limit)")
    parser.add_argument("--output", type=Path, default=Path("ucr.jsonl"), help="file of results (ucr.jsonl)")
    parser.add_argument("--distances", type=Path, help="folder in which the distances are kept for further runs")
    parser.add_argument("--finished", action="store_true", help="print the table of the sets that are finished")
    parser.add_argument("--figure", type=Path, help="file for the picture of mean ranks")
    chosen = parser.parse_args(arguments)
    sets = find_sets(chosen.data)
    names = list(sets) if chosen.sets is None else [name.strip() for name in chosen.sets.split(",")]
    unknown = [name for name in names if name not in sets]
    if unknown or not names:
        sys.exit(f"--data: {chosen.data} has no set {unknown[0] if unknown else 'in a known form'}.")
    done = finished(chosen.output, chosen.time_budget)
    waiting = [] if chosen.finished else [name for name in names if name not in done]
    for name in sorted(waiting, key=lambda name: cost(load(sets[name]))):
        print(f"... {name}", flush=True)
        done[name] = run(name, load(sets[name]), chosen.time_budget, chosen.distances)
        with chosen.output.open("a") as file:
            file.write(json.dumps(done[name]) + "\n")
    results, others = [done[name] for name in names if name in done], published(chosen.data)
    print(f"\n{table(results, others)}\n\n{measures(results)}")
    if chosen.figure is not None:
        draw(results, others, chosen.figure)


def find_sets(folder: Path) -> dict[str, tuple[Path, ...]]:
    """Return the files of each set in a folder, by name."""
    found: dict[str, tuple[Path, ...]] = {path.stem: (path,) for path in folder.glob("*.npz")}
    for form in _FORMS:
        for train in [*folder.glob(f"*_TRAIN{form}"), *folder.glob(f"*/*_TRAIN{form}")]:
            test = train.with_name(train.name.replace("_TRAIN", "_TEST"))
            if test.exists():
                found[train.name.removesuffix(f"_TRAIN{form}")] = (train, test)
    return dict(sorted(found.items()))


Set = tuple[Any, np.ndarray, Any, np.ndarray]
"""The training series, their labels, the test series and theirs."""


def load(files: tuple[Path, ...]) -> Set:
    """Return the series and labels of a set."""
    if len(files) == 1:
        with np.load(files[0]) as arrays:
            return arrays["X_train"], arrays["y_train"], arrays["X_test"], arrays["y_test"]
    (X_train, y_train), (X_test, y_test) = (_READERS[path.suffix](path) for path in files)
    return X_train, y_train, X_test, y_test


def _read_tsv(path: Path) -> tuple[list[np.ndarray], np.ndarray]:
    """Return the series and labels of a file of the archive, which fills shorter series up with NaN at their ends."""
    values = np.loadtxt(path, delimiter="\t", ndmin=2)
    lengths = [len(row) - np.argmin(np.isnan(row[::-1])) for row in values]
    return [row[1:length] for row, length in zip(values, lengths)], values[:, 0]


def _read_ts(path: Path) -> tuple[list[np.ndarray], np.ndarray]:
    """Return the series, of shape (channels, time), and labels of a ``.ts`` file; "?" is a missing value."""
    series, labels, in_data = [], [], False
    for number, line in enumerate(path.read_text().splitlines(), start=1):
        words = line.strip()
        if not words or words.startswith("#"):
            continue
        if not in_data:
            name, _, value = words.partition(" ")
            if name.lower() == "@timestamps" and value.strip().lower() == "true":
                sys.exit(f"{path}: series with time stamps are not read.")
            in_data = name.lower() == "@data"
            continue
        *channels, label = words.split(":")
        try:
            values = [[float(word.replace("?", "nan")) for word in channel.split(",")] for channel in channels]
            series.append(np.array(values, dtype=float).reshape(len(channels), -1))
        except ValueError:
            sys.exit(f"{path}, line {number}: channels of equal length, and a label, separated by colons, are needed.")
        labels.append(label)
    if not series:
        sys.exit(f"{path} has no series after @data.")
    return series, np.array(labels)


_READERS: dict[str, Callable[[Path], tuple[list[np.ndarray], np.ndarray]]] = {".tsv": _read_tsv, ".ts": _read_ts}


def cost(data: Set) -> float:
    """Return the number of cells in the tables of one distance, by which the sets are ordered."""
    X_train, _, X_test, _ = data
    length = np.mean([np.shape(x)[-1] for x in X_train])
    return float(len(X_train) * (len(X_train) + len(X_test)) * length**2)


def run(name: str, data: Set, time_budget: float | None, kept: Path | None) -> dict[str, Any]:
    """Return the accuracy on the test series, the seconds, and what the model consists of."""
    X_train, y_train, X_test, y_test = data
    contract: dict[str, Any] = {"similarity": "elastic"}
    distance_seconds = 0.0
    if kept is not None:
        X_train, X_test, distance_seconds = kept_distances(kept / f"{name}.npz", X_train, X_test)
        contract = {"dissimilarity": Contract("elastic", takes_several=True).map_name}
    model = AutoClassifier(**contract, time_budget=time_budget, diagnose=False)
    start = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X_train, y_train)
    fitted = time.process_time()
    accuracy = float(np.mean(model.predict(X_test) == y_test))
    members = model.best_estimator_.members_
    shares = next((vars(own.estimator)["shares_"] for own in members if hasattr(own.estimator, "shares_")), {})
    largest = sorted(shares, key=lambda measure: -shares[measure])[:_SHOWN_MEASURES]
    return {
        "set": name,
        "n_train": len(y_train),
        "n_test": len(y_test),
        "time_budget": time_budget,
        "accuracy": accuracy,
        "distance_seconds": round(distance_seconds, 2),
        "fit_seconds": round(fitted - start, 2),
        "predict_seconds": round(time.process_time() - fitted, 2),
        "members": {member.name: round(member.weight, 3) for member in members},
        "measures": {measure: round(shares[measure], 3) for measure in largest},
    }


def kept_distances(path: Path, X_train: Any, X_test: Any) -> tuple[dict[str, Any], dict[str, Any], float]:
    """Return the distances of the family by name, and the seconds that they took; those in the file if there is one."""
    if not path.exists():
        start, found = time.process_time(), {}
        for measure, distance in elastic_family(X_train).items():
            found[f"train/{measure}"] = distance(X_train, X_train)
            found[f"test/{measure}"] = distance(X_test, X_train)
        path.parent.mkdir(parents=True, exist_ok=True)
        with replacing(path) as part, part.open("wb") as file:
            np.savez(file, seconds=time.process_time() - start, **found)
    with np.load(path) as arrays:
        parts = [
            {key.removeprefix(part): arrays[key] for key in arrays.files if key.startswith(part)}
            for part in ("train/", "test/")
        ]
        return parts[0], parts[1], float(arrays["seconds"])


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
    """Return accuracies in percent and seconds as text, with means, mean ranks and a paired test for each classifier.

    Means, ranks and tests are over the sets that all classifiers have.
    """
    columns = list(dict.fromkeys(name for row in others.values() for name in row))
    rows = [["set", "train", "test", "seconds", "ours", *columns]]
    for own in results:
        known = others.get(own["set"], {})
        seconds = sum(own[name] for name in ("distance_seconds", "fit_seconds", "predict_seconds"))
        accuracies = [own["accuracy"], *(known.get(name) for name in columns)]
        sizes = [str(own["n_train"]), str(own["n_test"])]
        rows.append([own["set"], *sizes, f"{seconds:.1f}", *map(_percent, accuracies)])
    ours, theirs = common_accuracies(results, others)
    if len(ours):
        means = [_percent(float(np.mean(values))) for values in (ours, *theirs.values())]
        rows.append([f"mean of {len(ours)}", "", "", "", *means])
        if theirs:
            ranks = _ranking(ours, theirs).ranks
            rows.append(["mean rank", "", "", "", *(f"{rank:.2f}" for rank in ranks)])
    lines = _aligned(rows)
    for name, values in theirs.items() if len(ours) else ():
        differences = ours - values
        p = min(1.0, 2 * min(wilcoxon_greater(differences, 0 * ours), wilcoxon_greater(-differences, 0 * ours)))
        better, worse = int((differences > 0).sum()), int((differences < 0).sum())
        lines.append(f"ours against {name}: better on {better}, worse on {worse} of {len(ours)}; Wilcoxon p {p:.2g}")
    return "\n".join(lines)


def common_accuracies(
    results: list[dict[str, Any]], others: dict[str, dict[str, float]]
) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """Return our accuracies and the published ones by name, on the sets that all have, as they were published.

    Published accuracies are rounded to four digits, some down; ours are equal if they differ by less than a unit.
    """
    columns = list(dict.fromkeys(name for row in others.values() for name in row))
    common = [own for own in results if all(name in others.get(own["set"], {}) for name in columns)]
    ours = np.array([own["accuracy"] for own in common])
    theirs = {}
    for name in columns:
        values = np.array([others[own["set"]][name] for own in common])
        theirs[name] = np.where(np.abs(ours - values) < 1e-4, ours, values)
    return ours, theirs


def measures(results: list[dict[str, Any]]) -> str:
    """Return the members of each combination and the measures with the largest shares in its forest, as text."""
    lines = []
    for own in results:
        members = ", ".join(f"{name} {weight:.2f}" for name, weight in own.get("members", {}).items())
        shares = ", ".join(f"{name} {100 * share:.0f}%" for name, share in own.get("measures", {}).items())
        lines.append(f"{own['set']}: {members}; forest: {shares}")
    return "\n".join(lines)


def draw(results: list[dict[str, Any]], others: dict[str, dict[str, float]], path: Path) -> None:
    """Write the picture of mean ranks to a file."""
    import matplotlib

    matplotlib.use("Agg")
    from similitude.plotting import CriticalDifferenceDisplay

    ours, theirs = common_accuracies(results, others)
    errors = [1 - ours, *(1 - values for values in theirs.values())]
    display = CriticalDifferenceDisplay.from_errors(errors, [OURS, *theirs])
    display.figure_.savefig(path, dpi=150, bbox_inches="tight")


def _ranking(ours: np.ndarray, theirs: dict[str, np.ndarray]) -> Any:
    return rank_methods([1 - ours, *(1 - values for values in theirs.values())], [OURS, *theirs])


def _percent(accuracy: float | None) -> str:
    return "" if accuracy is None else f"{100 * accuracy:.2f}"


def _aligned(rows: list[list[str]]) -> list[str]:
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    return ["  ".join(cell.rjust(width) for cell, width in zip(row, widths)) for row in rows]
