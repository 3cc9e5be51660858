"""Reading of edge lists: 10 million edges, and a gigabyte of BLAST hits, with the peak memory of the process."""

import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

SCRIPT = """
import resource, sys, time
from similitude.datasets import load_proximity

start = time.perf_counter()
data = load_proximity(sys.argv[1], direction=sys.argv[2])
seconds = time.perf_counter() - start
print(seconds, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, time.process_time(), data.S.shape[0])
"""

PANDAS = """
import resource, sys, time
import pandas

start = time.perf_counter()
frame = pandas.read_csv(sys.argv[1], sep="\\t", header=None)
for column in (0, 1):
    frame[column] = frame[column].astype("category")
print(time.perf_counter() - start, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, time.process_time())
"""


def write(path: Path, n_edges: int, n_samples: int, blast: bool) -> None:
    """Write edges between random samples, in blocks: three columns, or the twelve of BLAST."""
    rng = np.random.default_rng(0)
    more = "\t91.2\t204\t18\t0\t1\t204\t3\t206\t4.1e-87" if blast else ""
    with path.open("w") as file:
        for start in range(0, n_edges, 100_000):
            size = min(100_000, n_edges - start)
            queries = (np.arange(start, start + size) * n_samples // n_edges).tolist()
            targets = rng.integers(0, n_samples, size).tolist()
            scores = rng.uniform(20, 900, size).round(1).tolist()
            file.writelines(f"prot_{q:07d}\tprot_{t:07d}{more}\t{s}\n" for q, t, s in zip(queries, targets, scores))


def measured(script: str, *arguments: str) -> list[float]:
    done = subprocess.run([sys.executable, "-c", script, *arguments], stdout=subprocess.PIPE, text=True, check=True)
    return [float(text) for text in done.stdout.split()]


def run(n_edges=10_000_000, n_samples=200_000, gigabyte=14_000_000):
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "hits.tsv"
        for count, blast in ((n_edges, False), (gigabyte, True)):
            write(path, count, n_samples, blast)
            size = path.stat().st_size / 1e9
            for direction in ("keep", "max"):
                seconds, memory, own, n = measured(SCRIPT, str(path), direction)
                name = f"{count:,} edges of {n:,.0f} samples, {size:.2f} GB, direction {direction}"
                name += f": {own:.0f} s of one core, peak {memory:.0f} MB"
                row = {"name": name, "ours_seconds": seconds, "goal": "under 60 s and 2000 MB"}
                if direction == "keep":
                    theirs, peak, core = measured(PANDAS, str(path))
                    name += f" (pandas.read_csv alone {core:.0f} s, {peak:.0f} MB)"
                    row |= {"name": name, "peer_seconds": theirs}
                    row["ratio"] = theirs / seconds
                rows.append(row)
    return rows
