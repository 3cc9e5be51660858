"""``python -m reproductions``: compute a paper's table again, and print our errors beside the published ones."""

from __future__ import annotations

import argparse
import csv
import json
import os
import sys
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

from reproductions.page import write_page, write_variants
from reproductions.plan import compute_all
from reproductions.recipe import PaperTable
from reproductions.reproduction import PAPERS, Comparison, Reproduction, reproduce
from reproductions.variants import FIRST, VARIANTS, compute_variants, some
from reproductions.variants import PARTITIONS as NEW_PARTITIONS
from similitude._utils.files import check_writable, replacing
from similitude.experiments import Store

BAD_INPUT, INTERRUPTED, BROKEN_PIPE = 2, 130, 141
_SHOWN = 3


def main(words: list[str] | None = None) -> None:
    """Run the command; bad arguments and files end it with exit code 2, an interruption with 130."""
    asked = _parser().parse_args(words)
    try:
        if asked.first is not None and not asked.variants:
            raise ValueError("--first is for --variants; the partitions of a table begin with 0.")
        if asked.all or asked.variants or asked.page is not None:
            _from_store(asked)
        elif asked.name is None:
            _list(asked.json)
        else:
            _run(asked)
        sys.stdout.flush()
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
    except BrokenPipeError:
        # The reader of the output has ended, so that nothing more can be written at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(BROKEN_PIPE)
    except (ValueError, OSError) as error:
        print(f"reproductions: {' '.join(str(error).split())}", file=sys.stderr)
        sys.exit(BAD_INPUT)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m reproductions",
        description="Compute a paper's table again, and print our errors beside the published ones.",
    )
    parser.add_argument("name", metavar="NAME", nargs="?", help="the table; without a name all tables are listed")
    parser.add_argument("--all", action="store_true", help="compute all tables; the time it takes is printed first")
    parser.add_argument("--variants", action="store_true", help="compute the variants that were tried")
    parser.add_argument(
        "--page",
        type=Path,
        metavar="FILE.md",
        help="write the page of results from the store, with --variants only their section; nothing is computed",
    )
    parser.add_argument("--partitions", type=int, metavar="N", help="number of partitions (default: the paper's)")
    parser.add_argument("--first", type=int, metavar="N", help=f"first partition of the variants (default: {FIRST})")
    parser.add_argument("--datasets", metavar="NAMES", help="some of its data sets, separated by commas")
    parser.add_argument("--methods", metavar="NAMES", help="some of its methods, separated by commas")
    parser.add_argument(
        "--splits", type=int, metavar="N", help="number of random splits that choose parameters (default: the paper's)"
    )
    parser.add_argument(
        "--partition-file", type=Path, metavar="PATH", help="a file or folder with published partitions to use"
    )
    parser.add_argument(
        "--store",
        type=Path,
        metavar="FILE",
        help="keep the results; the same command then continues an interrupted one",
    )
    parser.add_argument("--data-home", type=Path, metavar="DIR", help="folder with the data that does not ship")
    parser.add_argument("--n-jobs", type=int, default=1, metavar="N", help="cells at a time; -1 for one per core")
    parser.add_argument("--output", "-o", type=Path, metavar="FILE.csv", help="save the table")
    parser.add_argument("--json", action="store_true", help="print the result as JSON")
    parser.add_argument("--quiet", action="store_true", help="no progress, and no table where a file holds it")
    return parser


def _from_store(asked: argparse.Namespace) -> None:
    """Compute all tables, or the variants, or write the page of what the store holds."""
    if asked.name is not None:
        raise ValueError(f"NAME must be left out with --all, --variants and --page; got {asked.name!r}.")
    if asked.store is None:
        raise ValueError("--store must name the file that keeps the results.")
    if asked.page is not None:
        check_writable(asked.page, "--page")
    options = {"data_home": asked.data_home}
    with Store(asked.store) as store:
        if asked.all:
            for column in compute_all(store, n_jobs=_jobs(asked), progress=not asked.quiet, **options):
                print(f"complete: {column.table}, {column.dataset}", flush=True)
        if asked.page is None and asked.variants:
            _variants(asked, store)
        elif asked.page is not None:
            (write_variants if asked.variants else write_page)(asked.page, store, **options)


def _variants(asked: argparse.Namespace, store: Store) -> None:
    """Compute the variants of the rows that are asked for."""
    known = [list(dict.fromkeys(getattr(v, name) for v in VARIANTS)) for name in ("dataset", "method")]
    chosen = some(*(_names(text, names) for text, names in zip((asked.datasets, asked.methods), known)))
    options = {
        "first": FIRST if asked.first is None else asked.first,
        "partitions": NEW_PARTITIONS if asked.partitions is None else asked.partitions,
        "data_home": asked.data_home,
        "n_jobs": _jobs(asked),
        "progress": not asked.quiet,
    }
    for variant, text in compute_variants(store, chosen, **options):
        print(f"{variant.dataset}, {variant.name}: {text}", flush=True)


def _jobs(asked: argparse.Namespace) -> int:
    if asked.n_jobs == 0:
        raise ValueError("--n-jobs must not be 0; -1 runs one job per core.")
    return asked.n_jobs


def _run(asked: argparse.Namespace) -> None:
    if asked.name not in PAPERS:
        raise ValueError(f"NAME must be one of {', '.join(PAPERS)}; got {asked.name!r}.")
    if asked.output is not None:
        check_writable(asked.output, "--output")
    paper = PAPERS[asked.name]
    found = reproduce(
        asked.name,
        partitions=asked.partitions,
        datasets=_names(asked.datasets, list(paper.datasets)),
        methods=_names(asked.methods, _methods(paper)),
        splits=asked.splits,
        partition_file=asked.partition_file,
        store=asked.store,
        data_home=asked.data_home,
        n_jobs=_jobs(asked),
        progress=not asked.quiet,
    )
    if asked.output is not None:
        _save(found.comparisons, asked.output)
    if asked.json:
        print(json.dumps(_content(asked.name, found), indent=2))
    elif not (asked.quiet and asked.output is not None):
        print(found)
        if asked.output is not None:
            print(f"saved to {asked.output}")


def _content(name: str, found: Reproduction) -> dict[str, Any]:
    """Return the reproduction as values that JSON can hold."""
    return {
        "name": name,
        "reference": found.paper.reference,
        "comparisons": [asdict(row) for row in found.comparisons],
        "missing": dict(found.missing),
    }


def _names(text: str | None, known: list[str]) -> list[str] | None:
    """Return the names of a list separated by commas; a known name may contain commas, and case is ignored."""
    if text is None:
        return None
    words = [word.strip() for word in text.split(",")]
    lower = {name.lower(): name for name in known}
    found = []
    while words:
        ends = [k for k in range(len(words), 0, -1) if ", ".join(words[:k]).lower() in lower]
        taken = ends[0] if ends else 1
        found.append(lower.get(", ".join(words[:taken]).lower(), words[0]))
        words = words[taken:]
    return found


def _methods(paper: PaperTable) -> list[str]:
    """Return the methods of a table on any of its data sets."""
    return list(dict.fromkeys(method for dataset in paper.datasets for method in paper.methods(dataset)))


def _list(as_json: bool) -> None:
    if as_json:
        rows = [
            {
                "name": name,
                "reference": paper.reference,
                "datasets": list(paper.datasets),
                "methods": _methods(paper),
            }
            for name, paper in PAPERS.items()
        ]
        print(json.dumps(rows, indent=2))
        return
    for name, paper in PAPERS.items():
        print(f"{name:<28}{paper.reference}")
        print(f"{'':<28}{paper.protocol}")
        print(f"{'':<28}{len(paper.datasets)} data sets, such as {'; '.join(list(paper.datasets)[:_SHOWN])}")


def _save(comparisons: list[Comparison], path: Path) -> None:
    names = [field.name for field in fields(Comparison)]
    with replacing(path) as part, part.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, names, lineterminator="\n")
        writer.writeheader()
        writer.writerows(asdict(row) for row in comparisons)


if __name__ == "__main__":
    main()
