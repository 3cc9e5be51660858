"""All tables in the order in which they are computed, with the time they take and the cells that remain."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from reproductions.chen2009 import HONEST
from reproductions.reproduction import PAPERS, Reproduction, reproduce
from similitude.experiments import Store

STAGES = [
    ("chen2009-table3", False),
    ("chen2009-table4", False),
    ("chen2009kernels-table1", False),
    ("chen2009kernels-section43", False),
    ("chen2009-table3", True),
    ("cazzanti2007-table2", False),
    ("cazzanti2007-table3", False),
    ("fusion2009-table2", False),
    ("cazzanti2007-table1", False),
    ("wang2009-table2", False),
    ("fusion2009-table1", False),
    ("chen2009kernels-table1", True),
    ("fusion2009-table2", True),
    ("cazzanti2007-table3", True),
    ("chen2009-table4", True),
]
"""The tables in the order in which they are computed: True is Voting under the training labels' VDM, False the rest."""
SLOW = {
    ("cazzanti2007-table1", None): ("P-SVM",),
    ("cazzanti2007-table3", None): ("P-SVM",),
    ("chen2009kernels-table1", "Voting"): ("learned spectrum", "robust SVM"),
    ("chen2009kernels-table1", HONEST): ("learned spectrum", "robust SVM"),
    ("fusion2009-table2", None): ("fused local SDA/BDA",),
}
"""Methods that take most of the time of a table, or of one of its data sets; they are computed after all others."""
SPLITS = {"Letter Rec": 10}
"""The number of random splits that choose parameters on data sets of fusion2009-table1 where it is not the paper's."""


class Column(NamedTuple):
    """One data set of one table, and the number of random splits that choose parameters, None for the paper's."""

    table: str
    dataset: str
    splits: int | None = None

    def reproduced(self, store: Store, **options: Any) -> Reproduction:
        """Return the column, computed or, with ``compute=False``, as far as the store holds it."""
        return reproduce(self.table, datasets=[self.dataset], splits=self.splits, store=store, **options)


def columns() -> list[Column]:
    """Return all columns in the order in which they are computed, the large data sets last."""
    usual, large = [], []
    for table, honest in STAGES:
        for dataset in PAPERS[table].datasets:
            if (dataset == HONEST) != honest:
                continue
            if dataset in PAPERS[table].large:
                large.append(Column(table, dataset, SPLITS.get(dataset)))
            else:
                usual.append(Column(table, dataset))
    return [*usual, *sorted(large, key=seconds)]


def quick_methods(column: Column) -> list[str]:
    """Return the methods of a column that are computed before the slow ones of any column."""
    slow = [method for place in (None, column.dataset) for method in SLOW.get((column.table, place), ())]
    return [method for method in PAPERS[column.table].figures(column.dataset) if method not in slow]


SECONDS: dict[tuple[str, str | None], float] = {
    ("chen2009-table3", None): 60,
    ("chen2009-table4", None): 110,
    ("chen2009kernels-table1", None): 50,
    ("chen2009kernels-table1", "Voting"): 280,
    ("chen2009kernels-table1", HONEST): 260,
    ("chen2009kernels-section43", None): 60,
    ("cazzanti2007-table1", None): 120,
    ("cazzanti2007-table2", None): 2,
    ("cazzanti2007-table3", None): 80,
    ("cazzanti2007-table3", "Voting, counting"): 2500,
    ("fusion2009-table1", None): 10,
    ("fusion2009-table1", "Pen Digits"): 1500,
    ("fusion2009-table1", "Opt Digits"): 300,
    ("fusion2009-table1", "Letter Rec"): 330,
    ("fusion2009-table2", None): 110,
    ("fusion2009-table2", HONEST): 700,
    ("wang2009-table2", None): 3,
    ("wang2009-table2", "letter, l1"): 4400,
    ("wang2009-table2", "letter, l-inf"): 4400,
    ("wang2009-table2", "satimage, l1"): 90,
    ("wang2009-table2", "satimage, l-inf"): 90,
}
"""Rough estimates of the seconds of one core for a column, by table and data set, None for its other data sets."""


def seconds(column: Column) -> float:
    """Return about how long a column takes, in seconds of one core."""
    usual = SECONDS[column.table, None]
    return SECONDS.get((column.table, column.dataset), usual)


@dataclass(frozen=True)
class Remaining:
    """The columns that can be computed, with the share of the cells that a store does not hold, and the others."""

    shares: dict[Column, float]
    missing: dict[Column, str]

    def seconds(self, n_jobs: int) -> float:
        """Return the estimated time for what remains."""
        return sum(share * seconds(column) for column, share in self.shares.items()) / n_jobs

    def __str__(self) -> str:
        open_columns = sum(share > 0 for share in self.shares.values())
        return f"{open_columns} of {len(self.shares)} columns are not complete"


def remaining(store: Store, data_home: Any = None) -> Remaining:
    """Return what remains to be computed; no cell is computed for it."""
    shares, missing = {}, {}
    for column in columns():
        found = column.reproduced(store, data_home=data_home, compute=False)
        if found.missing:
            missing[column] = found.missing[column.dataset]
        else:
            cells = len(found.results.rows) + len(_open_cells(found))
            shares[column] = len(_open_cells(found)) / cells
    return Remaining(shares, missing)


def _open_cells(found: Reproduction) -> list:
    """Return the cells without a result of the methods that the paper has on the data set."""
    return [cell for cell in found.results.missing if cell[2] in found.paper.figures(cell[0])]


def compute_all(store: Store, *, data_home: Any = None, n_jobs: int = 1, progress: bool = True) -> Iterator[Column]:
    """Compute all columns that are not complete, and yield each once it is; the expected time is printed first."""
    left = remaining(store, data_home)
    jobs = os.cpu_count() or 1 if n_jobs < 0 else n_jobs
    print(f"{left}; this takes about {_hours(left.seconds(jobs))} with {jobs} at a time.", file=sys.stderr, flush=True)
    todo = [column for column, share in left.shares.items() if share]
    options = {"data_home": data_home, "n_jobs": n_jobs, "progress": progress}
    for column in todo:
        if column.dataset not in PAPERS[column.table].large:
            column.reproduced(store, methods=quick_methods(column), **options)
    for column in todo:
        column.reproduced(store, **options)
        yield column


def _hours(amount: float) -> str:
    minutes = round(amount / 60)
    return f"{minutes} minutes" if minutes < 100 else f"{minutes / 60:.1f} hours"
