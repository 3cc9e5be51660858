"""Records of benchmarks: what each printed, with the version and the machine, and how busy the machine was.

The store is a file with a line of JSON for each benchmark. The tables on the pages of the documentation are written
from it: each stands between two comments, which name the benchmark.
"""

from __future__ import annotations

import importlib
import json
import os
import platform
import re
import resource
import subprocess
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from joblib.externals.loky import get_reusable_executor

import similitude
from similitude._utils.files import replacing

_BEGIN, _END = "<!-- benchmark {name} -->", "<!-- end of benchmark -->"
_MARKED = re.compile(r"<!-- benchmark (\w+) -->\n.*?<!-- end of benchmark -->", re.DOTALL)


@dataclass(frozen=True)
class Record:
    """The rows of one benchmark, and what is needed to judge its figures; the share of others is of all cores."""

    name: str
    rows: list[dict[str, Any]]
    version: str
    machine: str
    seconds: float
    cpu_seconds: float
    others: float | None

    def origin(self) -> str:
        """Return a line about the run."""
        text = f"Version {self.version}, {self.machine}; the whole run took {duration(self.seconds)}, with "
        text += f"{self.cpu_seconds / self.seconds:.1f} CPU seconds a second"
        return text + ("." if self.others is None else f"; other work used {self.others:.0%} of the processors.")


def measured(name: str) -> Record:
    """Run a benchmark."""
    module = importlib.import_module(f"benchmarks.bench_{name}")
    start, cpu, busy = time.perf_counter(), _own_cpu(), _busy()
    rows = [{key: _plain(value) for key, value in row.items()} for row in module.run()]
    get_reusable_executor().shutdown(wait=True)  # only children that have ended are counted
    seconds, cpu = time.perf_counter() - start, _own_cpu() - cpu
    after = _busy()
    others = None if after is None or busy is None else max(0.0, after - busy - cpu) / seconds / (os.cpu_count() or 1)
    return Record(name, rows, _version(), _machine(), seconds, cpu, others)


def _plain(value: Any) -> Any:
    return value.item() if hasattr(value, "item") else value


def _own_cpu() -> float:
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(own.ru_utime + own.ru_stime for own in used)


def _busy() -> float | None:
    """Return the seconds that all processors have worked since the start of the machine, if the system tells."""
    try:
        numbers = Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:]
    except OSError:
        return None
    idle = (3, 4)
    return sum(int(n) for i, n in enumerate(numbers[:8]) if i not in idle) / os.sysconf("SC_CLK_TCK")


def _version() -> str:
    """Return the version, with the last commit that changed the code if there is a repository."""
    command = ["git", "log", "-1", "--format=%h", "--", "src", "benchmarks"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=Path(__file__).parent.parent)
    commit = done.stdout.strip() if done.returncode == 0 else ""
    return similitude.__version__ + (f" ({commit})" if commit else "")


def _machine() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        model = next(line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        model = platform.machine()
    return f"{os.cpu_count()} cores of {model}"


def read(store: Path) -> dict[str, Record]:
    """Return the last record of each benchmark."""
    lines = store.read_text(encoding="utf-8").splitlines() if store.exists() else []
    records = [Record(**json.loads(line)) for line in lines if line.endswith("}")]  # others were cut off
    return {record.name: record for record in records}


def append(store: Path, record: Record) -> None:
    """Add a record to the store."""
    cut = store.exists() and not store.read_bytes().endswith(b"\n")
    with store.open("a", encoding="utf-8") as file:
        file.write("\n" * cut + json.dumps(asdict(record)) + "\n")


def write_tables(folder: Path, records: Mapping[str, Record]) -> list[str]:
    """Replace the tables of these records on the pages of a folder; return the benchmarks that no page names."""
    missing = set(records)
    for page in sorted(folder.glob("*.md")):
        text = page.read_text(encoding="utf-8")
        missing -= set(_MARKED.findall(text))
        found = _MARKED.sub(lambda match: table(records[match[1]]) if match[1] in records else match[0], text)
        if found != text:
            with replacing(page) as part:
                part.write_text(found, encoding="utf-8")
    return sorted(missing)


def table(record: Record) -> str:
    """Return the rows as a table in Markdown, between its comments, with a line on their origin."""
    heads = {"name": "what", "ours_seconds": "ours", "peer_seconds": "peer", "ratio": "ratio", "goal": "notes"}
    keys = [key for key in heads if any(row.get(key) not in (None, "") for row in record.rows)]
    lines = ["| " + " | ".join(heads[key] for key in keys) + " |", "|" + " --- |" * len(keys)]
    lines += ["| " + " | ".join(_cell(row, key) for key in keys) + " |" for row in record.rows]
    return "\n".join([_BEGIN.format(name=record.name), *lines, "", record.origin(), _END])


def _cell(row: Mapping[str, Any], key: str) -> str:
    value = row.get(key)
    if value is None:
        return ""
    if isinstance(value, (int, float)):
        return f"{value:.2f}" if key == "ratio" else duration(value)
    text = str(value)
    indented = "... " if key == "name" and text.startswith("  ") else ""
    return indented + text.strip().replace(" | ", "; peer: ").replace("|", r"\|").replace("<", "&lt;")


def duration(seconds: float) -> str:
    """Return seconds with three digits, in a unit that suits them."""
    for unit, factor in (("µs", 1e-6), ("ms", 1e-3)):
        if seconds < 1000 * factor and seconds > 0:
            return f"{seconds / factor:.3g} {unit}"
    return f"{seconds:.3g} s" if seconds < 600 else f"{seconds / 60:.0f} min"
