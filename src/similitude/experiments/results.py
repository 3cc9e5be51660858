"""What an experiment gave: the cells, and the tables made of them."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields

import numpy as np

from similitude.experiments.protocol import Protocol
from similitude.experiments.statistics import TESTS, Ranking, best_and_worst, fewest_pairs, rank_methods
from similitude.experiments.store import TIME_COLUMNS, Failure, Row
from similitude.experiments.tables import Entry, Table


@dataclass(frozen=True)
class Results:
    """The results of a run.

    Attributes
    ----------
    protocol : Protocol
    datasets : dict of str to int
        Names of the data sets, and how many partitions each has.
    methods : list of str
    rows : list of Row
        The finished cells: error, log_loss, parameters chosen, seconds, versions, seed.
    failures : list of Failure
        The cells that ended in an exception.
    """

    protocol: Protocol
    datasets: Mapping[str, int]
    methods: Sequence[str]
    rows: Sequence[Row]
    failures: Sequence[Failure] = ()

    def __repr__(self) -> str:
        cells = sum(self.datasets.values()) * len(self.methods)
        failed = f", {len(self.failures)} failed" if self.failures else ""
        return f"Results({len(self.rows)} of {cells} cells{failed}; {self.protocol})"

    @property
    def missing(self) -> list[tuple[str, int, str]]:
        """Data set, partition and method of the cells without a result."""
        known = {(row.dataset, row.partition, row.method) for row in self.rows}
        places = [(d, i, m) for d, count in self.datasets.items() for i in range(count) for m in self.methods]
        return [place for place in places if place not in known]

    @property
    def versions(self) -> dict[str, list[str]]:
        """Versions with which the cells were done: more than one of a library where a store was filled over time."""
        names = ("similitude", "numpy", "scipy", "scikit_learn", "python")
        return {name: sorted({getattr(row, name) for row in self.rows}) for name in names}

    def values(self, dataset: str, value: str = "error") -> np.ndarray:
        """A column of the cells, such as ``error``, as an array of shape (methods, partitions); NaN where missing."""
        if dataset not in self.datasets:
            raise ValueError(f"dataset must be one of {list(self.datasets)}; got {dataset!r}.")
        if value not in ("error", "log_loss", "seconds"):
            raise ValueError(f"value must be 'error', 'log_loss' or 'seconds'; got {value!r}.")
        found = np.full((len(self.methods), self.datasets[dataset]), np.nan)
        for row in self.rows:
            if row.dataset == dataset and getattr(row, value) is not None:
                found[self.methods.index(row.method), row.partition] = getattr(row, value)
        return found

    def mean_errors(self) -> np.ndarray:
        """Return mean errors, of shape (methods, data sets); NaN where a method has no result at all."""
        means = np.full((len(self.methods), len(self.datasets)), np.nan)
        for j, dataset in enumerate(self.datasets):
            errors = self.values(dataset)
            for i in np.flatnonzero(np.isfinite(errors).any(axis=1)):
                means[i, j] = np.nanmean(errors[i])
        return means

    def ranking(self, level: float = 0.05) -> Ranking:
        """Average ranks over the data sets, with Friedman's test and Nemenyi's critical difference."""
        return rank_methods(self.mean_errors(), self.methods, level)

    def table(self, value: str = "error", *, test: str | None = "wilcoxon", level: float = 0.05) -> Table:
        """Return mean (standard deviation) over partitions: a row for each method, a column for each data set.

        Errors are in percent. Bold is the lowest mean and what is not significantly above it, italic the highest and
        what is not significantly below it, if the two differ significantly. Where some of a method's cells are missing,
        their number is told, and pairs of cells are compared as far as there are any.

        Parameters
        ----------
        value : {"error", "log_loss", "seconds"}, default="error"
        test : {"wilcoxon", "t"} or None, default="wilcoxon"
            Paired and one-sided; None marks nothing.
        level : float, default=0.05

        Returns
        -------
        Table
        """
        if test is not None and test not in TESTS:
            raise ValueError(f"test must be one of {list(TESTS)} or None; got {test!r}.")
        columns = []
        for dataset, count in self.datasets.items():
            found = self.values(dataset, value) * (100 if value == "error" else 1)
            none = np.zeros(len(self.methods), dtype=bool)
            best, worst = (none, none) if test is None else best_and_worst(found, test, level)
            columns.append([_entry(row, count, b, w) for row, b, w in zip(found, best, worst)])
        rows = [[method, *(column[i] for column in columns)] for i, method in enumerate(self.methods)]
        return Table(["method", *self.datasets], rows, self._caption(test, level))

    def _caption(self, test: str | None, level: float) -> str:
        if test is None or len(self.methods) < 2:
            return ""
        if any(count < fewest_pairs(test, level) for count in self.datasets.values()):
            return "Bold: the lowest mean. There are too few partitions to test differences."
        name = {"wilcoxon": "Wilcoxon signed-rank", "t": "paired t"}[test]
        return (
            f"Bold: not significantly worse than the best (one-sided {name} test, {100 * level:g}%). Italic: not "
            "significantly better than the worst."
        )

    def csv(self, times: bool = True) -> str:
        """Return the cells as text, a line each; without ``times`` the same for every run of the same experiment."""
        names = [f.name for f in fields(Row) if times or f.name not in TIME_COLUMNS]
        file = io.StringIO()
        writer = csv.DictWriter(file, names, extrasaction="ignore", lineterminator="\n")
        writer.writeheader()
        writer.writerows(asdict(row) for row in self.rows)
        return file.getvalue()


def _entry(values: np.ndarray, count: int, bold: bool, italic: bool) -> Entry:
    values = values[np.isfinite(values)]
    if not len(values):
        return Entry("-")
    spread = f" ({values.std(ddof=1):.2f})" if len(values) > 1 else ""
    short = f", {len(values)} of {count}" if len(values) < count else ""
    return Entry(f"{values.mean():.2f}{spread}{short}", bool(bold), bool(italic))
