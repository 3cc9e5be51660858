"""The command line of the arena."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from benchmarks.arena import data
from benchmarks.arena.cells import run_cell
from benchmarks.arena.page import duel_table, overall_table, summary_table, write_page
from benchmarks.arena.running import run_cells
from benchmarks.arena.statistics import Standings
from benchmarks.arena.store import DEVELOPMENT, Store


def main(arguments: Sequence[str]) -> None:
    """Run the cells that are missing, print the tables, and write the page; exit with a message if this fails."""
    chosen = _parsed(arguments)
    folder, development = Path(chosen.output), chosen.first >= DEVELOPMENT
    store = Store(folder / "cells")
    failures = {}
    if not chosen.report:
        try:
            datasets = data.load(chosen.data)
        except data.DataMissing as error:
            sys.exit(str(error))
        partitions = range(chosen.first, chosen.first + chosen.partitions)
        failures = run_cells(datasets, partitions, store, run_cell, chosen.jobs)
    cells = store.cells(chosen.data, development)
    if cells:
        standings = Standings(cells)
        for table in (overall_table(standings), summary_table(standings), duel_table(standings)):
            print(f"\n{table}")
        if development:
            print(f"\nPartitions from {DEVELOPMENT} on are for development: no page is written.")
        else:
            print(f"\n{write_page(standings, Path(chosen.pages or folder))}")
    elif not failures:
        sys.exit(f"There are no finished cells in {store.folder}.")
    if failures:
        first = next(iter(failures))
        sys.exit(f"\n{failures[first]}\nThis is the first of {len(failures)} cells that failed: {'; '.join(failures)}.")


def _parsed(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        "python -m benchmarks arena",
        description="Compare AutoClassifier, every single method and scikit-learn's classifiers on real proximities. "
        "Finished cells are kept, and the same command continues.",
    )
    parser.add_argument("--partitions", type=int, default=20, help="number of partitions of each data set (20)")
    parser.add_argument(
        "--first",
        type=int,
        default=0,
        help=f"first partition, which is also its seed (0); from {DEVELOPMENT} on for development, without a page",
    )
    parser.add_argument("--data", type=_names, default=list(data.SOURCES), help="names of data sets, comma separated")
    parser.add_argument("--jobs", type=int, default=2, help="number of processes (2)")
    parser.add_argument("--output", default="arena", help="folder of the cells (arena)")
    parser.add_argument("--pages", help="folder that gets the page and its picture (that of --output)")
    parser.add_argument("--report", action="store_true", help="run nothing; only write the page from finished cells")
    chosen = parser.parse_args(arguments)
    if chosen.partitions < 1 or chosen.jobs < 1 or chosen.first < 0:
        parser.error("--partitions and --jobs must be at least 1, --first at least 0")
    if chosen.first < DEVELOPMENT < chosen.first + chosen.partitions:
        parser.error(f"partitions from {DEVELOPMENT} on are not reported: run them apart from those below")
    return chosen


def _names(text: str) -> list[str]:
    names = list(dict.fromkeys(name.strip() for name in text.split(",") if name.strip()))
    unknown = [name for name in names if name not in data.SOURCES]
    if unknown or not names:
        found = repr(unknown[0]) if unknown else "nothing"
        raise argparse.ArgumentTypeError(f"{found} is not one of {', '.join(data.SOURCES)}")
    return names
