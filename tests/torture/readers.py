"""Bits of a file of proximities or sequences are flipped, in every format: it is read, or an error names the file."""

import gzip
import os
import resource
import sys
import time
from pathlib import Path

import numpy as np
from scipy import io as scipy_io
from scipy import sparse

from similitude.datasets import load_objects, load_proximity, save_proximity
from tests.torture.attempts import Broken

MEMORY = 6 * 2**30
"""The address space that a child may use: a damaged file must not make it ask for more than the machine has."""

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


def prepare(folder):
    """Return the contents of small files in every format, by name."""
    # The sanitizer reserves more, and macOS does not take the limit.
    if sys.platform == "linux" and "asan" not in os.environ.get("LD_PRELOAD", ""):
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    paths = good_files(folder)
    assert all(read(path) for path in paths)
    return folder, {path.name: path.read_bytes() for path in paths}


def attempt(prepared, rng):
    """Flip one to three bits of one file, in half of the cases near its beginning, and read it."""
    folder, contents = prepared
    name = rng.choice(sorted(contents))
    content = bytearray(contents[name])
    for _ in range(rng.randint(1, 3)):
        end = len(content) if rng.random() < 0.5 else min(len(content), 400)
        content[rng.randrange(end)] ^= 1 << rng.randrange(8)
    path = folder / name
    path.write_bytes(content)
    start = time.perf_counter()
    try:
        read(path)
    except Exception as error:
        raise Broken(name, f"{type(error).__name__}: {error}") from error
    if time.perf_counter() - start > SECONDS:
        raise Broken(name, f"more than {SECONDS} s")
    path.write_bytes(contents[name])
    return name


def read(path: Path) -> bool:
    """Return whether the file was read, or False if an error names it; raise anything else."""
    try:
        if "fasta" in path.name:
            load_objects(path)
        else:
            S = load_proximity(path, orientation="dissimilarity", missing="farthest").S
            # Conversions and products rely on the indices of a sparse matrix.
            sparse.csr_array(S).T.tocsr() @ np.ones(S.shape[0])
        return True
    except (ValueError, ImportError) as error:
        if path.name not in str(error) and not isinstance(error, ImportError):
            raise
        return False
