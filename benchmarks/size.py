"""CPU seconds, peak memory and errors of inspect, fit and predict on hits, from 12,500 to 200,000 samples.

Each command runs in a process of its own, in one thread. The hits are made up: there is a class for 200 samples, and a
sample has about 45 hits (:mod:`benchmarks.made_hits`). The peers are best hit and the bit-weighted vote of the five
best hits, on the queries that have hits. The last problem is real: proteins that resist antibiotics, read from the
folder ``hits`` of ``SIMILITUDE_DATA``. With ``--output`` the figures are kept in a file, and what it holds is not run
again; ``--figure`` draws them. With ``--stream 1e8`` a model of the smallest size predicts the queries of one file with
so many hits, and nothing else is run.
"""

import argparse
import csv
import gzip
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks import hits as hit_files
from benchmarks.bench_hits import _best_hits, _peers
from benchmarks.hits import labels
from benchmarks.made_hits import write_problem

SIZES, N_QUERIES = (12_500, 25_000, 50_000, 100_000, 200_000), 20_000
REAL = "arg"
ASKED = {"inspect": 60, "fit": 600, "predict": 60}
"""The seconds that are asked for 200,000 samples, in 6 GB; all may grow by at most 2.3 for twice the samples."""
SCRIPT = """
import resource, sys
from similitude_command import main
try:
    main()
finally:
    used = resource.getrusage(resource.RUSAGE_SELF)
    print("used", used.ru_utime + used.ru_stime, used.ru_maxrss / 1e6, file=sys.stderr)
"""


def main(arguments):
    parser = argparse.ArgumentParser(prog="python -m benchmarks size", description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", default=",".join(map(str, SIZES)), help="numbers of samples, separated by commas")
    parser.add_argument("--queries", type=int, default=N_QUERIES, help="number of queries")
    parser.add_argument("--no-real", action="store_true", help="leave out the real hits")
    parser.add_argument("--stream", type=float, help="number of hits in one file of queries")
    parser.add_argument("--output", type=Path, help="file that keeps the figures, a line of JSON for each problem")
    parser.add_argument("--figure", type=Path, help="file for the picture of the growth")
    chosen = parser.parse_args(arguments)
    sizes = [int(size) for size in chosen.sizes.split(",") if size]
    if chosen.stream is not None:
        print(streamed(min(sizes), chosen.queries, int(chosen.stream)))
        return
    done = [] if chosen.output is None or not chosen.output.exists() else _lines(chosen.output)
    wanted = [*map(str, sizes), *([] if chosen.no_real else [REAL])]
    if hit_files.folder()[0] is None:
        wanted = [name for name in wanted if name != REAL]
    for name in wanted:
        if any(own["problem"] == name for own in done):
            continue
        print(f"... {name}", flush=True)
        done.append(run(name, chosen.queries))
        print(done[-1], flush=True)
        if chosen.output is not None:
            with chosen.output.open("a") as file:
                file.write(json.dumps(done[-1]) + "\n")
    print(table([own for own in done if own["problem"] in wanted]))
    if chosen.figure is not None:
        draw([own for own in done if own["problem"] in wanted and own["problem"] != REAL], chosen.figure)


def _lines(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def used(*words):
    """Return the CPU seconds and the peak of the resident memory in GB of a command."""
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    command = [sys.executable, "-c", SCRIPT, *map(str, words)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    return tuple(map(float, done.stderr.split("used ")[-1].split()))


def run(problem, n_queries):
    """Return the figures of one problem: a number of made-up samples, or the real hits."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if problem == REAL:
            source, column = hit_files.folder()[0], "drug"
            for part in ("train", "test"):
                shutil.copy(source / f"{REAL}_{part}.tsv", folder / f"{part}.tsv")
                with gzip.open(source / f"{REAL}_{part}.m8.gz") as packed, (folder / f"{part}.m8").open("wb") as file:
                    shutil.copyfileobj(packed, file)
        else:
            column = "class"
            write_problem(folder, int(problem), n_queries)
        with (folder / "train.m8").open() as file:
            n_hits = sum(1 for _ in file)
        training = folder / "train.m8", "--labels", folder / "train.tsv", "--label", column
        model, out = folder / "m.model", folder / "out.csv"
        commands = {
            "inspect": ("inspect", *training),
            "fit": ("fit", *training, "-o", model, "--quiet"),
            "predict": ("predict", model, folder / "test.m8", "-o", out, "--quiet"),
        }
        found = {"problem": problem, "hits": n_hits, "model MB": 0.0}
        for kind, words in commands.items():
            found[kind] = used(*words)
        return {**found, "model MB": model.stat().st_size / 1e6, **_errors(folder, out, column)}


def streamed(n, n_queries, n_hits):
    """Return a sentence on the prediction of queries with so many hits together: the same queries by other names."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        _, once = write_problem(folder, n, n_queries)
        model, out, many = (folder / own for own in ("m.model", "out.csv", "many.m8"))
        labelled = folder / "train.m8", "--labels", folder / "train.tsv", "--label", "class"
        used("fit", *labelled, "-o", model, "--quiet")
        text = (folder / "test.m8").read_text()
        copies = -(-n_hits // once)
        with many.open("w") as file:
            for copy in range(copies):
                file.write(text.replace("q", f"q{copy}_"))
        seconds, peak = used("predict", model, many, "-o", out, "--quiet")
        with out.open() as file:
            rows = sum(1 for _ in file) - 1
        size = many.stat().st_size / 1e9
    return f"{copies * once:,} hits ({size:.1f} GB), {rows:,} queries: {seconds:.0f} CPU s, peak {peak:.2f} GB"


def _errors(folder, out, column):
    """Return the number of queries with hits, and the errors on these."""
    known, truth = (labels(folder / f"{part}.tsv", column) for part in ("train", "test"))
    with out.open(newline="") as file:
        ours = {row["id"]: row["label"] for row in csv.DictReader(file)}
    found = _best_hits(folder / "test.m8", known)
    queries = [query for query in ours if query in found]
    errors = {"similitude": sum(ours[query] != truth[query] for query in queries) / len(queries)}
    for title, predicted in _peers(found, known, queries).items():
        if title in ("best hit", "bit-weighted vote of 5"):
            errors[title] = sum(predicted != [truth[query] for query in queries]) / len(queries)
    return {"queries": len(queries), "errors": errors}


def table(found):
    """Return the figures as a Markdown table; in brackets the growth from half as many samples."""
    kinds = ("inspect", "fit", "predict")
    heads = ["samples", "hits", *(f"{kind}, CPU s" for kind in kinds), "peak, GB", "model, MB", "queries with hits"]
    heads += ["error", "best hit", "bit-weighted vote"]
    lines = ["| " + " | ".join(heads) + " |", "| " + " | ".join("---" for _ in heads) + " |"]
    by_problem = {own["problem"]: own for own in found}
    for own in found:
        half = by_problem.get(str(int(own["problem"]) // 2)) if own["problem"] != REAL else None
        cells = [own["problem"] if own["problem"] == REAL else f"{int(own['problem']):,}", f"{own['hits']:,}"]
        cells += [_grown(own[kind][0], half and half[kind][0], ".0f") for kind in kinds]
        peak = max(own[kind][1] for kind in kinds)
        cells.append(_grown(peak, half and max(half[kind][1] for kind in kinds), ".2f"))
        cells += [f"{own['model MB']:.0f}", f"{own['queries']:,}"]
        cells += [f"{100 * error:.2f}%" for error in own["errors"].values()]
        lines.append("| " + " | ".join(cells) + " |")
    asked = ", ".join(f"{kind} {seconds} s" for kind, seconds in ASKED.items())
    return "\n".join([*lines, "", f"Asked for 200,000 samples: {asked}, 6 GB; growth at most 2.3."])


def _grown(value, half, form):
    return f"{value:{form}}" + ("" if half is None else f" ({value / half:.1f})")


def draw(found, path):
    """Draw the CPU seconds and the peak memory against the number of samples."""
    import matplotlib

    matplotlib.use("agg")
    from matplotlib import pyplot as plt

    from similitude.plotting._drawing import line_style

    sizes = [int(own["problem"]) for own in found]
    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
    for i, kind in enumerate(ASKED):
        for ax, j in ((left, 0), (right, 1)):
            ax.plot(sizes, [own[kind][j] for own in found], marker="o", label=kind, **line_style(i))
    for ax, title, j in ((left, "CPU seconds", 0), (right, "peak memory, GB", 1)):
        first = max(own[kind][j] for own in found[:1] for kind in ASKED)
        ax.plot(sizes, [first * size / sizes[0] for size in sizes], color="0.7", linewidth=1, label="linear growth")
        ax.set(xscale="log", yscale="log", xlabel="samples", title=title, xticks=sizes)
        ax.set_xticks(sizes, [f"{size:,}" for size in sizes])
        ax.minorticks_off()
        ax.grid(color="0.9")
    left.legend(frameon=False)
    figure.savefig(path, dpi=150)
