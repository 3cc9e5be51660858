"""The results of the arena: each finished cell is one JSON file, so that a run can be continued."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from similitude._utils.files import replacing

KINDS = ("auto", "method", "peer", "way")
SINGLE = ("method", "peer")
"""The kinds of entrants among which the best in hindsight is sought."""
DEVELOPMENT = 1000
"""Partitions from this number on are for development; they are never on the page."""


@dataclass(frozen=True)
class Result:
    """What one entrant achieved on one partition of one data set.

    Parameters
    ----------
    entrant : str
        The name of the entrant.
    kind : {"auto", "method", "peer", "way"}
        The automatic choice, a single method of ours, a method of others, or another way of combining the methods.
    error : float
        The share of wrong labels, from 0 to 1; NaN if the entrant failed.
    brier, ece : float, default=NaN
        The Brier score and the expected calibration error; NaN if the entrant has no posteriors.
    seconds : float, default=NaN
        The time for the choice of parameters, the fit and the prediction.
    note : str, default=""
        What was chosen: a method, parameters or weights.
    """

    entrant: str
    kind: str
    error: float
    brier: float = math.nan
    ece: float = math.nan
    seconds: float = math.nan
    note: str = ""

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise ValueError(f"kind must be one of {', '.join(KINDS)}; got {self.kind!r}.")


@dataclass(frozen=True)
class Cell:
    """The results of all entrants on one partition of one data set, with what is needed to compare them."""

    data: str
    partition: int
    n_train: int
    n_test: int
    n_classes: int
    kind: str
    simulated: bool
    results: tuple[Result, ...]

    def __post_init__(self) -> None:
        names = [result.entrant for result in self.results]
        if not names or len(set(names)) < len(names):
            raise ValueError(f"{self.data}, partition {self.partition}: one result per entrant is needed; got {names}.")


class Store:
    """The finished cells in a folder.

    Parameters
    ----------
    folder : Path
        The folder, which is created when the first cell is written.
    """

    def __init__(self, folder: Path):
        self.folder = Path(folder)

    def path(self, data: str, partition: int) -> Path:
        """Return the path of the file of a cell."""
        return self.folder / f"{data}-{partition:04d}.json"

    def read(self, data: str, partition: int) -> Cell | None:
        """Return a cell, or None if it is not there or its file is incomplete."""
        cell = _read(self.path(data, partition))
        return cell if cell is not None and (cell.data, cell.partition) == (data, partition) else None

    def write(self, cell: Cell) -> None:
        """Write a cell completely or not at all."""
        self.folder.mkdir(parents=True, exist_ok=True)
        content = asdict(cell)
        content["results"] = [{key: _written(value) for key, value in row.items()} for row in content["results"]]
        with replacing(self.path(cell.data, cell.partition)) as part:
            part.write_text(json.dumps(content, indent=1, allow_nan=False), encoding="utf-8")

    def cells(self, names: Iterable[str] | None = None, development: bool = False) -> list[Cell]:
        """Return the cells of these data sets (None: all), either those that are reported or those for development."""
        names = None if names is None else set(names)
        found = (_read(path) for path in sorted(self.folder.glob("*.json")))
        return [
            cell
            for cell in found
            if cell is not None
            and (names is None or cell.data in names)
            and (cell.partition >= DEVELOPMENT) == development
        ]


def _written(value: Any) -> Any:
    """Return a value as JSON has it: no NaN, and no NumPy number."""
    if isinstance(value, str):
        return value
    return float(value) if math.isfinite(value) else None


def _read(path: Path) -> Cell | None:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        content["results"] = tuple(_result(row) for row in content["results"])
        return Cell(**content)
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None


def _result(row: dict[str, Any]) -> Result:
    fields: dict[str, Any] = {key: math.nan if value is None else value for key, value in row.items()}
    return Result(**fields)
