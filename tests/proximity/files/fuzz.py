"""Flip bits of files in every format, and read them: each must load, or raise one clear error that names the file.

``python -m tests.proximity.files.fuzz 1000`` tries 1,000 flips of each format and prints a table. A crash of compiled
code ends the program, so that tests run it in a process of its own.
"""

import gzip
import resource
import sys
import tempfile
import time
import warnings
from collections import Counter
from pathlib import Path

import numpy as np
from scipy import io as scipy_io
from scipy import sparse

from similitude.datasets import load_objects, load_proximity, save_proximity

MEMORY = 6 * 2**30
"""The address space that the program may use: a damaged file must not make it ask for more than the machine has."""

SECONDS = 20
"""The time that reading one small file may take."""


def good_files(folder: Path) -> list[Path]:
    """Write a small file in each format."""
    rng = np.random.default_rng(0)
    S = rng.uniform(size=(12, 12)).round(3)
    S += S.T
    S[np.abs(np.subtract.outer(range(12), range(12))) > 5] = 0
    ids = [f"sample_{i}" for i in range(12)]
    for name in ("S.csv", "S.tsv.gz", "S.lsmat", "S.phy", "S.npz", "S.edges", "S.edges.gz"):
        save_proximity(folder / name, S, ids=ids)
    # Ids beside a file have a checksum of it, and would hide what happens without it.
    save_proximity(folder / "S.npy", S)
    save_proximity(folder / "S.mat", S)
    save_proximity(folder / "lower.csv", S, ids=ids, form="lower")
    save_proximity(folder / "condensed.txt", S - np.diag(np.diagonal(S)), form="condensed")
    for kind in ("csr", "csc", "coo", "bsr", "dia"):
        sparse.save_npz(folder / f"{kind}.npz", sparse.coo_array(S).asformat(kind))
        sparse.save_npz(folder / f"{kind}_stored.npz", sparse.coo_array(S).asformat(kind), compressed=False)
    for version in ("4", "5"):
        for compress in (False, True) if version == "5" else (False,):
            name = f"sparse{version}{'z' if compress else ''}.mat"
            scipy_io.savemat(folder / name, {"S": sparse.csc_array(S)}, format=version, do_compression=compress)
    save_proximity(folder / "sparse.mtx", sparse.csr_array(S))
    save_proximity(folder / "dense.mtx.gz", S)
    try:
        save_proximity(folder / "S.parquet", S, ids=ids)
        save_proximity(folder / "edges.parquet", S, ids=ids, form="edges")
    except ImportError:
        pass
    hits = "".join(
        f"{a}\t{b}\t50\t9\t1\t0\t1\t9\t1\t9\t1e-5\t{S[i, j]}\n" for i, a in enumerate(ids) for j, b in enumerate(ids)
    )
    (folder / "hits.m8").write_text(hits)
    (folder / "hits.m8.gz").write_bytes(gzip.compress(hits.encode()))
    (folder / "s.fasta").write_text("".join(f">{name} text\n{'MKTAYIAKQR' * 3}\n" for name in ids))
    return sorted(path for path in folder.iterdir() if not path.name.endswith(".ids.txt"))


def damaged(content: bytes, rng: np.random.Generator) -> bytes:
    """Return the content with one to three bits flipped, in half of the cases near the beginning."""
    flipped = bytearray(content)
    for _ in range(rng.integers(1, 4)):
        end = len(content) if rng.random() < 0.5 else min(len(content), 400)
        flipped[rng.integers(end)] ^= 1 << rng.integers(8)
    return bytes(flipped)


def read(path: Path) -> str:
    """Return whether the file was read, or refused with an error that names it; raise anything else."""
    try:
        if "fasta" in path.name:
            load_objects(path)
        else:
            S = load_proximity(path, orientation="dissimilarity", missing="farthest").S
            # Conversions and products rely on the indices of a sparse matrix.
            sparse.csr_array(S).T.tocsr() @ np.ones(S.shape[0])
        return "read"
    except (ValueError, ImportError) as error:
        if path.name not in str(error) and not isinstance(error, ImportError):
            raise
        return "refused"


def main(count: int, seed: int) -> int:
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    warnings.simplefilter("ignore")
    failures = 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for path in good_files(folder):
            content, rng, found = path.read_bytes(), np.random.default_rng(seed), Counter()
            assert read(path) == "read", path
            for _ in range(count):
                path.write_bytes(damaged(content, rng))
                start = time.perf_counter()
                try:
                    found[read(path)] += 1
                except Exception as error:
                    found["failed"] += 1
                    print(f"{path.name}: {type(error).__name__}: {error}", flush=True)
                if time.perf_counter() - start > SECONDS:
                    found["slow"] += 1
            path.write_bytes(content)
            failures += found["failed"] + found["slow"]
            counts = ", ".join(f"{what} {number}" for what, number in sorted(found.items()))
            print(f"{path.name:<20} tried {count}: {counts}", flush=True)
    return failures


if __name__ == "__main__":
    arguments = [int(text) for text in sys.argv[1:]]
    sys.exit(min(1, main(*(arguments + [100, 0][len(arguments) :]))))
