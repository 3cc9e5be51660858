"""The results of an experiment, and the tables made of them."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Literal

import numpy as np

from similitude._utils.checks import check_choice
from similitude.experiments.protocol import Protocol
from similitude.experiments.statistics import TESTS, Ranking, best_and_worst, fewest_pairs, rank_methods
from similitude.experiments.store import TIME_COLUMNS, Failure, Row
from similitude.experiments.tables import Entry, Table


@dataclass(frozen=True)
class Results:
    """The results of a run.

    Parameters
    ----------
    protocol : Protocol
        The protocol.
    datasets : dict of str to int
        The names of the data sets, and the number of partitions of each.
    methods : list of str
        The names of the methods.
    rows : list of Row
        The finished cells: error, log_loss, chosen parameters, seconds, versions, seed.
    failures : list of Failure, default=()
        The cells that ended with an exception.

    See Also
    --------
    run : Compute every cell (data set, partition, method) of an experiment that the store does not hold yet.
    Ranking : The average ranks of methods over data sets, and the difference from which on they differ significantly.
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
        """The data set, partition and method of the cells without a result."""
        known = {(row.dataset, row.partition, row.method) for row in self.rows}
        places = [(d, i, m) for d, count in self.datasets.items() for i in range(count) for m in self.methods]
        return [place for place in places if place not in known]

    @property
    def versions(self) -> dict[str, list[str]]:
        """The versions with which the cells were computed; several per library if a store was filled over time."""
        names = ("similitude", "numpy", "scipy", "scikit_learn", "python")
        return {name: sorted({getattr(row, name) for row in self.rows}) for name in names}

    def values(self, dataset: str, value: Literal["error", "log_loss", "seconds"] = "error") -> np.ndarray:
        """Return one value of the cells, such as ``error``, as an array.

        Parameters
        ----------
        dataset : str
            The name of the data set.
        value : {"error", "log_loss", "seconds"}, default="error"
            The value.

        Returns
        -------
        ndarray of shape (methods, partitions)
            The values; NaN if a cell is missing.
        """
        check_choice(dataset, "dataset", list(self.datasets))
        check_choice(value, "value", ["error", "log_loss", "seconds"])
        found = np.full((len(self.methods), self.datasets[dataset]), np.nan)
        for row in self.rows:
            if row.dataset == dataset and getattr(row, value) is not None:
                found[self.methods.index(row.method), row.partition] = getattr(row, value)
        return found

    def mean_errors(self) -> np.ndarray:
        """Return the mean errors of the methods on the data sets.

        Returns
        -------
        ndarray of shape (methods, datasets)
            The mean errors; NaN if a method has no result at all.
        """
        means = np.full((len(self.methods), len(self.datasets)), np.nan)
        for j, dataset in enumerate(self.datasets):
            errors = self.values(dataset)
            for i in np.flatnonzero(np.isfinite(errors).any(axis=1)):
                means[i, j] = np.nanmean(errors[i])
        return means

    def ranking(self, level: float = 0.05) -> Ranking:
        """Return the average ranks over the data sets, with Friedman's test and Nemenyi's critical difference.

        Parameters
        ----------
        level : float, default=0.05
            The significance level.

        Returns
        -------
        Ranking
            The ranking.
        """
        return rank_methods(self.mean_errors(), self.methods, level)

    def table(
        self,
        value: Literal["error", "log_loss", "seconds"] = "error",
        *,
        test: Literal["wilcoxon", "t"] | None = "wilcoxon",
        level: float = 0.05,
    ) -> Table:
        """Return the mean (standard deviation) over partitions: a row for each method, a column for each data set.

        Errors are in percent. The lowest mean, and those not significantly above it, are bold; the highest mean, and
        those not significantly below it, are italic if the two differ significantly. If some cells of a method are
        missing, the number of its cells is shown, and methods are compared on the partitions that both have.

        Parameters
        ----------
        value : {"error", "log_loss", "seconds"}, default="error"
            The value.
        test : {"wilcoxon", "t"} or None, default="wilcoxon"
            The paired one-sided test; None means that nothing is marked.
        level : float, default=0.05
            The significance level.

        Returns
        -------
        Table
            The table.
        """
        check_choice(test, "test", [*TESTS, None])
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
        """Return the cells as CSV, one per line.

        Parameters
        ----------
        times : bool, default=True
            Whether the columns of times are included; without them the text is the same for every run of the
            experiment.

        Returns
        -------
        str
            The text.
        """
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
