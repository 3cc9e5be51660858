"""Run all benchmarks, or those named (``search``, ``topk``, ...), and print one table.

``arena``, ``ucr``, ``words``, ``molecules`` and ``size``, with options of their own (``python -m benchmarks arena
--help``), take long and run only if they are named.
"""

import importlib
import pkgutil
import sys

import benchmarks

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
    unknown = [name for name in chosen if name not in NAMES]
    if unknown:
        sys.exit(
            f"unknown benchmark {unknown[0]!r}; it must be one of {', '.join(NAMES)}, or one that is run alone: "
            f"{', '.join(ALONE)}"
        )
    rows = []
    for name in chosen or NAMES:
        print(f"... {name}", flush=True)
        rows += importlib.import_module(f"benchmarks.bench_{name}").run()
    width = max(len(row["name"]) for row in rows)
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
