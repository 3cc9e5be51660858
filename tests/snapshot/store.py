"""The file of the snapshot, and the machine it was made on."""

from __future__ import annotations

import json
import platform
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple

import numpy as np
from threadpoolctl import threadpool_info

FILE = Path(__file__).with_name("answers.npz")
HOW_TO_MAKE = "python -m tests.snapshot.make"

_FINGERPRINT = "fingerprint"


class Snapshot(NamedTuple):
    """The arrays of every case by its name, and the fingerprint of the machine that computed them."""

    fingerprint: dict[str, str]
    answers: dict[str, dict[str, np.ndarray]]


def fingerprint() -> dict[str, str]:
    """What the last digits of an answer depend on: the processor, the BLAS built for it, and the libraries."""
    blas = {info.get("architecture", "unknown") for info in threadpool_info() if info["user_api"] == "blas"}
    libraries = {name: version(name) for name in ("numpy", "scipy", "scikit-learn")}
    return {"cpu": _cpu_model(), "blas": ", ".join(sorted(blas)), **libraries}


def _cpu_model() -> str:
    information = Path("/proc/cpuinfo")
    if information.is_file():
        for line in information.read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def load() -> Snapshot:
    """The snapshot as it was written."""
    answers: dict[str, dict[str, np.ndarray]] = {}
    with np.load(FILE, allow_pickle=False) as file:
        machine = json.loads(str(file[_FINGERPRINT]))
        for key in file.files:
            if key != _FINGERPRINT:
                name, _, array = key.rpartition("|")
                answers.setdefault(name, {})[array] = file[key]
    return Snapshot(machine, answers)


def save(snapshot: Snapshot) -> None:
    """Write the snapshot, compressed and without pickled objects."""
    arrays = {f"{name}|{key}": array for name, case in snapshot.answers.items() for key, array in case.items()}
    pickled = [key for key, array in arrays.items() if array.dtype.hasobject]
    if pickled:
        raise TypeError(f"answers must be arrays of numbers or text; {pickled[0]} holds objects.")
    np.savez_compressed(FILE, **{_FINGERPRINT: np.array(json.dumps(snapshot.fingerprint))}, **arrays)
