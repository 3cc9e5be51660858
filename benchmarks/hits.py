"""The protein sequences in the folder ``hits`` of ``SIMILITUDE_DATA``, their labels, and searches among them."""

import csv
import gzip
import os
import shutil
import subprocess
from pathlib import Path


def folder():
    """Return the folder, or the row that says that it is not there."""
    path = Path(os.environ.get("SIMILITUDE_DATA", "data")) / "hits"
    if not path.is_dir():
        return None, [{"name": f"hits: there is no folder {path}; SIMILITUDE_DATA names the one that holds it"}]
    return path, []


def has_search():
    return shutil.which("mmseqs") is not None


def labels(path, column):
    """Return the label of each sequence by its id."""
    with path.open(newline="") as file:
        return {row["id"]: row[column] for row in csv.DictReader(file, delimiter="\t")}


def search(source, name, place, limit):
    """Search training and test sequences among the training sequences with MMseqs2: train.m8 and test.m8 in place."""
    for part in ("train", "test"):
        with gzip.open(source / f"{name}_{part}.fasta.gz") as given, (place / f"{part}.fasta").open("wb") as target:
            shutil.copyfileobj(given, target)
    options = ("-e", limit, "--max-seqs", "4000", "-v", "1", "--threads", "1")
    for part in ("train", "test"):
        command = ("mmseqs", "easy-search", f"{part}.fasta", "train.fasta", f"{part}.m8", f"tmp-{part}", *options)
        subprocess.run(command, check=True, cwd=place, stdout=subprocess.DEVNULL)
