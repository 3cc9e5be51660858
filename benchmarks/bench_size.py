"""CPU seconds and peak memory of inspect, fit and predict on made-up hits, from 12,500 to 100,000 samples.

Each command runs in a process of its own. There is a class for 200 samples, and a sample has about 45 hits. The peers
are best hit and the bit-weighted vote of the five best hits, on the queries that have hits.
"""

import csv
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.bench_hits import _best_hits, _peers
from benchmarks.hits import labels
from benchmarks.made_hits import write_problem

SIZES, N_QUERIES = (12_500, 25_000, 50_000, 100_000), 2_000
SCRIPT = """
import resource, sys
from similitude_command import main
try:
    main()
finally:
    used = resource.getrusage(resource.RUSAGE_SELF)
    print("used", used.ru_utime + used.ru_stime, used.ru_maxrss / 1e6, file=sys.stderr)
"""


def used(*words):
    """Return the CPU seconds and the peak of the resident memory in GB of a command."""
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    command = [sys.executable, "-c", SCRIPT, *map(str, words)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    return tuple(map(float, done.stderr.split("used ")[-1].split()))


def run(sizes=SIZES):
    """Return a row for each command and size, and one for the errors."""
    rows = []
    for n in sizes:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            n_hits, _ = write_problem(folder, n, N_QUERIES)
            source = folder / "train.m8", "--labels", folder / "train.tsv"
            model, out = folder / "m.model", folder / "out.csv"
            commands = {
                "inspect": ("inspect", *source),
                "fit": ("fit", *source, "-o", model, "--quiet"),
                f"predict {N_QUERIES:,}": ("predict", model, folder / "test.m8", "-o", out, "--quiet"),
            }
            for kind, words in commands.items():
                seconds, peak = used(*words)
                about = f"{kind}, {n:,} samples, {n_hits:,} hits: peak {peak:.2f} GB"
                rows.append({"name": about, "ours_seconds": f"{seconds:.1f} s"})
                print("   ", rows[-1], flush=True)
            rows += _errors(folder, out, n)
            print("   ", rows[-1], flush=True)
    return rows


def _errors(folder, out, n):
    known, truth = (labels(folder / f"{part}.tsv", "class") for part in ("train", "test"))
    with out.open(newline="") as file:
        ours = {row["id"]: row["label"] for row in csv.DictReader(file)}
    hits = _best_hits(folder / "test.m8", known)
    queries = [query for query in ours if query in hits]
    wrong = sum(ours[query] != truth[query] for query in queries) / len(queries)
    peers = {
        title: sum(found != [truth[q] for q in queries]) / len(queries)
        for title, found in _peers(hits, known, queries).items()
    }
    best = min(peers[title] for title in ("best hit", "bit-weighted vote of 5"))
    name = f"error with hits, {n:,} samples, against the better of best hit and bit-weighted vote"
    return [{"name": name, "ours_seconds": f"{100 * wrong:.2f}%", "peer_seconds": f"{100 * best:.2f}%"}]
