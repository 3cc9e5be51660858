"""Hits of a protein search: our predictions against best hit and votes of five, with and without evidence.

The data are read from the folder ``hits`` of ``SIMILITUDE_DATA``: hits of DIAMOND among training sequences, and of test
sequences to these, with the classes of all. The enzymes are searched once more with MMseqs2. ``AutoClassifier`` chooses
among three methods, with its defaults, and ``similitude predict --queries`` predicts all test sequences, also those
without a hit. The peers assign these to the largest class. Everything is done in the order of the files and with all
lines of the hits shuffled.

Precision at 80% coverage is the share of correct predictions among the 80% of the queries that are ranked highest: ours
by the largest posterior, those of best hit by its bit score, its identity, and the share of the five best hits that
agree with it. Queries without a hit are ranked last by these. Where the boundary falls among tied queries, these count
with their mean.
"""

import csv
import gzip
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

import numpy as np

from benchmarks import hits as hit_files
from similitude import AutoClassifier, save_model
from similitude.datasets import load_proximity

METHODS = ("k-NN", "affinity k-NN", "distance-weighted k-NN")
PROBLEMS = (("arg", "drug", "DIAMOND"), ("ec", "ec1", "DIAMOND"), ("ec", "ec1", "MMseqs2"))
NEIGHBORS, COVERAGE = 5, 0.8
COMMAND = "from similitude_command import main; main()"


def run():
    folder, rows = hit_files.folder()
    if folder is None:
        return rows
    print(f"methods: {', '.join(METHODS)}; errors and precision in percent")
    for name, column, tool in PROBLEMS:
        if tool == "MMseqs2" and not hit_files.has_search():
            rows.append({"name": f"{name}, {tool}: there is no command mmseqs (Debian's package mmseqs2)"})
            continue
        with tempfile.TemporaryDirectory() as source:
            if tool == "MMseqs2":
                hit_files.search(folder, name, Path(source), "1e-3")
            for order in ("file order", "shuffled"):
                with tempfile.TemporaryDirectory() as place:
                    for part in ("train", "test"):
                        given = folder / f"{name}_{part}.m8.gz" if tool == "DIAMOND" else Path(source) / f"{part}.m8"
                        _copy(given, Path(place) / f"{part}.m8", order == "shuffled")
                    rows += _problem(folder, name, column, f"{tool}, {order}", Path(place))
    return rows


def _problem(folder, name, column, order, place):
    """Return the rows of one problem, whose table is printed."""
    known, truth = (hit_files.labels(folder / f"{name}_{part}.tsv", column) for part in ("train", "test"))
    ours, posteriors, evidence = _ours(folder, name, column, place)
    hits = _best_hits(place / "test.m8", known)
    peers = _peers(hits, known, list(truth))
    y = np.array(list(truth.values()))
    lacking = ~evidence
    print(f"\n{name}, {column}, {order}: {len(y)} queries, {100 * lacking.mean():.1f} % without evidence")
    print(f"{'':24}{'error':>8}{'with evidence':>16}{'without':>10}")
    rows = []
    for title, predicted in {"similitude": ours, **peers}.items():
        wrong = predicted != y
        figures = [100 * wrong.mean(), 100 * wrong[evidence].mean(), 100 * wrong[lacking].mean()]
        print(f"{title:24}{figures[0]:8.2f}{figures[1]:16.2f}{figures[2]:10.2f}")
        if title == "similitude":
            own = figures
        elif title == "best hit":
            rows += [
                {"name": f"{name}, {order}: {kind}", "ours_seconds": f"{a:.2f}%", "peer_seconds": f"{b:.2f}%"}
                for kind, a, b in zip(("error", "error with evidence", "error without"), own, figures)
            ]
    ranked = {"similitude, by posterior": _precision(posteriors, ours == y)}
    for title, scores in _rankings(hits, known, list(truth)).items():
        ranked[f"best hit, by {title}"] = _precision(scores, peers["best hit"] == y)
    print(
        f"precision at {COVERAGE:.0%} coverage:", ", ".join(f"{k} {100 * v:.2f}" for k, v in ranked.items()), flush=True
    )
    first, *others = ranked.values()
    rows.append(
        {
            "name": f"{name}, {order}: precision at {COVERAGE:.0%} coverage, against the best of three rankings",
            "ours_seconds": f"{100 * first:.2f}%",
            "peer_seconds": f"{100 * max(others):.2f}%",
        }
    )
    return rows


def _copy(source, target, shuffled):
    with gzip.open(source, "rt") if source.suffix == ".gz" else source.open() as file:
        lines = file.readlines()
    if shuffled:
        lines = [lines[i] for i in np.random.default_rng(0).permutation(len(lines))]
    target.write_text("".join(lines))


def _ours(folder, name, column, place):
    """Return the predicted classes of all queries, their largest posteriors, and whether they give evidence."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # samples without an edge are left out
        data = load_proximity(place / "train.m8", folder / f"{name}_train.tsv", label_column=column)
        model = AutoClassifier(METHODS).fit(data.S, data.y).best_estimator_
    save_model(place / "m.model", model, ids=data.ids, notes={"reading": data.reading})
    queries = ("--queries", str(folder / f"{name}_test.fasta.gz"), "--assign-all", "--quiet")
    words = ("predict", str(place / "m.model"), str(place / "test.m8"), "-o", str(place / "out.csv"), *queries)
    subprocess.run([sys.executable, "-c", COMMAND, *words], check=True)
    found = {}
    with (place / "out.csv").open(newline="") as file:
        for row in csv.DictReader(file):
            largest = max(float(row[str(label)]) for label in model.classes_)
            found[row["id"]] = row["label"], largest, int(row["evidence"]) > 0
    return (
        np.array(column)
        for column in zip(*(found[query] for query in hit_files.labels(folder / f"{name}_test.tsv", column)))
    )


def _best_hits(path, known):
    """Return for each query its five best hits to known samples: the targets, their bit scores and identities."""
    found = {}
    for line in path.read_text().splitlines():
        query, target, identity, *_, bits = line.split("\t")
        if target in known:
            best = found.setdefault(query, {})
            if float(bits) > best.get(target, (0.0, 0.0))[0]:
                best[target] = float(bits), float(identity)
    ordered = {query: sorted(best.items(), key=lambda item: -item[1][0])[:NEIGHBORS] for query, best in found.items()}
    return {query: [(target, *scores) for target, scores in best] for query, best in ordered.items()}


def _peers(hits, known, queries):
    """Return the predictions of the peers; of tied classes the one of the better hit is predicted."""
    labels, counts = np.unique(list(known.values()), return_counts=True)
    largest = labels[np.argmax(counts)]

    def vote(query, weight, k):
        totals = {}
        for target, bits, _ in hits.get(query, [])[:k]:
            totals[known[target]] = totals.get(known[target], 0.0) + (bits if weight else 1.0)
        return max(totals, key=totals.get) if totals else largest

    kinds = {"best hit": (False, 1), "vote of 5": (False, NEIGHBORS), "bit-weighted vote of 5": (True, NEIGHBORS)}
    return {title: np.array([vote(query, *kind) for query in queries]) for title, kind in kinds.items()}


def _rankings(hits, known, queries):
    """Return the scores by which the predictions of best hit are ranked."""

    def agreeing(best):
        return np.mean([known[target] == known[best[0][0]] for target, *_ in best])

    kinds = {"bits": lambda best: best[0][1], "identity": lambda best: best[0][2], "vote share": agreeing}
    return {
        title: np.array([score(hits[query]) if query in hits else -1.0 for query in queries])
        for title, score in kinds.items()
    }


def _precision(scores, right):
    """Return the share of correct ones among those of the highest scores, with the mean of those tied at the end."""
    wanted = round(COVERAGE * len(scores))
    boundary = np.sort(scores)[::-1][wanted - 1]
    above, tied = scores > boundary, scores == boundary
    return (right[above].sum() + (wanted - above.sum()) * right[tied].mean()) / wanted
