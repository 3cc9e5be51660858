"""Sequences in FASTA files."""

from __future__ import annotations

from pathlib import Path

from similitude.proximity.files.tables import check_unique
from similitude.proximity.files.text import lines

NUCLEOTIDES = frozenset("ACGTUNRYSWKMBDHV")
"""The letters of nucleotides, with those that stand for several of them."""


def is_fasta(path: Path) -> bool:
    """Return whether the first line of a text file that is not blank is a heading of FASTA."""
    return next((line for line in lines(path) if line.strip()), "").startswith(">")


def read_fasta(path: Path) -> tuple[list[str], list[str]]:
    """Return the sequences of a FASTA file in capital letters, and their ids, the first words of the headings."""
    ids: list[str] = []
    places: list[int] = []
    parts: list[list[str]] = []
    for number, line in enumerate(lines(path), 1):
        text = line.strip()
        if text.startswith(">"):
            words = text[1:].split()
            if not words:
                raise _without_id(path, number)
            ids.append(words[0])
            places.append(number)
            parts.append([])
        elif text:
            if not parts:
                raise ValueError(f"{path}: row {number} is before the first heading; FASTA begins with '>'.")
            _check_letters(path, number, text)
            parts[-1].append(text.upper())
    check_unique(path, ids, places)
    sequences = ["".join(part).removesuffix("*") for part in parts]
    for sequence, name, place in zip(sequences, ids, places):
        if not sequence:
            raise ValueError(f"{path}: row {place}: the sequence {name!r} is empty.")
    return sequences, ids


def fasta_ids(path: Path) -> list[str]:
    """Return the ids of the sequences in a FASTA file, which are not looked at."""
    stripped = ((number, line.strip()) for number, line in enumerate(lines(path), 1))
    found = [(number, text[1:].split()) for number, text in stripped if text.startswith(">")]
    for number, words in found:
        if not words:
            raise _without_id(path, number)
    ids = [words[0] for _, words in found]
    check_unique(path, ids, [number for number, _ in found])
    return ids


def _without_id(path: Path, number: int) -> ValueError:
    return ValueError(f"{path}: row {number}: a heading without an id; a word is needed after '>'.")


def _check_letters(path: Path, number: int, text: str) -> None:
    letters = text.rstrip("*")
    if (letters.isascii() and letters.isalpha()) or not letters:
        return
    bad = next(c for c in letters if not (c.isascii() and c.isalpha()))
    gaps = " Gaps of an alignment must be removed." if bad in "-." else ""
    raise ValueError(f"{path}: row {number}: {bad!r} is not a letter of a sequence.{gaps}")
