"""Run all benchmarks, or those named (``search``, ``topk``, ...), and print one table.

With ``--store FILE`` each is kept in a file as soon as it has ended, and what the file holds is not run again unless it
is named; with ``--pages FOLDER`` the tables on the pages of a folder are then replaced by those of the file. ``arena``,
``ucr``, ``words``, ``molecules`` and ``size``, with options of their own (``python -m benchmarks arena --help``), take
long and run only if they are named.
"""

import argparse
import importlib
import pkgutil
import sys
from pathlib import Path

import benchmarks
from benchmarks import record

NAMES = sorted(
    m.name.removeprefix("bench_") for m in pkgutil.iter_modules(benchmarks.__path__) if m.name[:6] == "bench_"
)
ALONE = {
    "arena": "benchmarks.arena.command",
    "ucr": "benchmarks.ucr",
    "words": "benchmarks.words",
    "molecules": "benchmarks.molecules",
    "size": "benchmarks.size",
}
"""The modules of the benchmarks with options of their own."""


def main(chosen: list[str]) -> None:
    if chosen[:1] and chosen[0] in ALONE:
        importlib.import_module(ALONE[chosen[0]]).main(chosen[1:])
        return
    parser = argparse.ArgumentParser("python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", help="the benchmarks to run (all, or those that the store lacks)")
    parser.add_argument("--store", type=Path, help="file that keeps the records, a line of JSON for each benchmark")
    parser.add_argument("--pages", type=Path, help="folder whose pages get the tables of the store")
    parsed = parser.parse_args(chosen)
    unknown = [name for name in parsed.names if name not in NAMES]
    if unknown:
        parser.error(
            f"unknown benchmark {unknown[0]!r}; it must be one of {', '.join(NAMES)}, or one that is run alone: "
            f"{', '.join(ALONE)}"
        )
    if parsed.pages is not None and (parsed.store is None or not parsed.pages.is_dir()):
        parser.error("--pages needs a folder that exists, and --store")
    known = {} if parsed.store is None else record.read(parsed.store)
    found = []
    for name in parsed.names or [name for name in NAMES if name not in known]:
        print(f"... {name}", flush=True)
        found.append(record.measured(name))
        if parsed.store is not None:
            record.append(parsed.store, found[-1])
    _show([row for own in found for row in own.rows])
    if parsed.pages is not None:
        without = record.write_tables(parsed.pages, record.read(parsed.store))
        if without:
            sys.exit(f"No page of {parsed.pages} has a place for the tables of {', '.join(without)}.")


def _show(rows: list[dict]) -> None:
    width = max((len(row["name"]) for row in rows), default=0)
    print(f"\n{'':{width}}  {'ours':>10}  {'peer':>10}  {'ratio':>8}  goal")
    for row in rows:
        ours, peer = (_seconds(row.get(key)) for key in ("ours_seconds", "peer_seconds"))
        ratio = "" if row.get("ratio") is None else f"{row['ratio']:.2f}"
        print(f"{row['name']:{width}}  {ours:>10}  {peer:>10}  {ratio:>8}  {row.get('goal', '')}")


def _seconds(value: float | str | None) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else f"{value:.4f} s"


if __name__ == "__main__":
    main(sys.argv[1:])
