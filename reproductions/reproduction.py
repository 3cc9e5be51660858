"""Reproduction of a paper's table, and comparison of our figures with the published ones."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from reproductions import cazzanti2007, chen2009, chen2009_kernels, fusion2009, wang2009
from reproductions.folders import DataMissing
from reproductions.partitions import partitions_of
from reproductions.recipe import Figure, PaperTable
from similitude.experiments import Dataset, Entry, Protocol, Results, Store, Table, run, stored

PAPERS: dict[str, PaperTable] = {
    table.name: table
    for paper in (chen2009, chen2009_kernels, cazzanti2007, fusion2009, wang2009)
    for table in paper.TABLES
}
"""The tables that :func:`reproduce` knows, by name."""

LEAST_DEVIATION = 0.1
"""The deviation in percent that is used if a paper prints 0, because papers print tenths of a percent."""

FAR = 2.0
"""The number of standard errors beyond which a figure counts as different from the paper's."""


@dataclass(frozen=True)
class Comparison:
    """One figure of a paper and our figure; errors are in percent."""

    dataset: str
    method: str
    ours: float | None
    our_deviation: float | None
    n_partitions: int
    paper: float
    paper_deviation: float | None
    away: float | None
    """Our error minus the paper's, in the unit."""
    unit: str
    """The standard deviation that is the unit: "paper", "ours", or "binomial" if there is only one partition."""
    standard_errors: float | None = None
    """Our error minus the paper's, in standard errors of the difference of both means."""

    @property
    def verdict(self) -> str:
        """Whether the error is at most two standard errors from the paper's, or lower, or higher, or was not run."""
        if self.standard_errors is None:
            return "not run"
        if abs(self.standard_errors) <= FAR:
            return "agrees"
        return "lower" if self.standard_errors < 0 else "higher"


@dataclass(frozen=True)
class Reproduction:
    """A paper's table and our results.

    Attributes
    ----------
    paper : PaperTable
        The table of the paper.
    results : Results
        Our results.
    missing : dict of str to str
        Data sets of the paper that are not available here, and how to get them.
    """

    paper: PaperTable
    results: Results
    missing: Mapping[str, str]

    @property
    def comparisons(self) -> list[Comparison]:
        """A comparison for every published figure of the data sets and methods that were run."""
        found = []
        for dataset in self.results.datasets:
            errors = 100 * self.results.values(dataset)
            for method, figure in self.paper.figures(dataset).items():
                if method in self.results.methods:
                    own = errors[list(self.results.methods).index(method)]
                    found.append(self._compared(dataset, method, own[np.isfinite(own)], figure))
        return found

    def _compared(self, dataset: str, method: str, errors: np.ndarray, figure: Figure) -> Comparison:
        paper, deviation = figure
        if not len(errors):
            return Comparison(dataset, method, None, None, 0, paper, deviation, None, "")
        ours = float(errors.mean())
        own = float(errors.std(ddof=1)) if len(errors) > 1 else None
        tested = [row.n_test for row in self.results.rows if (row.dataset, row.method) == (dataset, method)]
        binomial = 100 * np.sqrt(paper / 100 * (1 - paper / 100) / tested[0])
        if deviation is not None:
            unit, size = "paper", max(deviation, LEAST_DEVIATION)
        elif own:
            unit, size = "ours", own
        else:
            unit, size = "binomial", binomial
        away = float((ours - paper) / size) if size else None
        error = self._standard_error(own, len(errors), deviation, binomial)
        distance = float((ours - paper) / error) if error else None
        return Comparison(dataset, method, ours, own, len(errors), paper, deviation, away, unit, distance)

    def _standard_error(self, own: float | None, n: int, deviation: float | None, binomial: float) -> float:
        """Return the standard error of the difference of our mean and the paper's, whose partitions are not ours.

        If one of the standard deviations is not known, the other one is used for both; if none is, both errors are
        binomial.
        """
        if own is None and deviation is None:
            return float(np.sqrt(2) * binomial)
        sizes = [max(d, LEAST_DEVIATION) for d in (own, deviation) if d is not None]
        ours, theirs = sizes[0], sizes[-1]
        return float(np.sqrt(ours**2 / n + theirs**2 / self.paper.n_published))

    def table(self) -> Table:
        """Return a table with a row for each figure: our error, the paper's, and the difference.

        The difference is in standard deviations and in standard errors; more than two standard errors are in italics.
        """
        rows = []
        for c in self.comparisons:
            away = "-" if c.away is None else f"{c.away:+.2f}"
            distance = "-" if c.standard_errors is None else f"{c.standard_errors:+.1f}"
            far = c.verdict in ("lower", "higher")
            ours = "-" if c.ours is None else figure_text(c.ours, c.our_deviation)
            paper = figure_text(c.paper, c.paper_deviation)
            rows.append([c.dataset, c.method, ours, paper, away, c.unit, Entry(distance, italic=far)])
        columns = ["data set", "method", "error % (std)", "paper", "difference", "in std of", "in se"]
        return Table(columns, rows, self._caption(), left=2)

    def _caption(self) -> str:
        near = [abs(c.away) <= 1 for c in self.comparisons if c.away is not None]
        agreed = [c.verdict == "agrees" for c in self.comparisons if c.standard_errors is not None]
        text = f"{self.paper.reference}. {self.results.protocol}. {self.paper.note}"
        if not near:
            return text
        return (
            f"{text} Within one standard deviation: {sum(near)} of {len(near)}; within two standard errors: "
            f"{sum(agreed)} of {len(agreed)}."
        )

    def __str__(self) -> str:
        reasons: dict[str, list[str]] = {}
        for name, how in self.missing.items():
            reasons.setdefault(how, []).append(name)
        left_out = [f"Not run: {', '.join(names)}: {how}." for how, names in reasons.items()]
        return "\n".join([str(self.table()), *left_out])


def reproduce(
    name: str,
    *,
    partitions: int | None = None,
    datasets: Iterable[str] | None = None,
    methods: Iterable[str] | None = None,
    splits: int | None = None,
    partition_file: str | os.PathLike | None = None,
    store: str | os.PathLike | Store | None = None,
    data_home: str | os.PathLike | None = None,
    compute: bool = True,
    n_jobs: int | None = None,
    progress: bool = True,
) -> Reproduction:
    """Reproduce a table of one of the papers with its data, methods, grids and protocol.

    Parameters
    ----------
    name : str
        One of ``PAPERS``, such as "chen2009-table3".
    partitions : int, default=None
        The number of partitions; None means the paper's. Fewer are faster, more give a smaller standard error.
    datasets, methods : iterables of str, default=None
        Some of the table's data sets and methods; None means all that are available, except large data sets.
    splits : int, default=None
        The number of random splits of the training part on which parameters are chosen, if the paper's protocol has
        such splits; None means the paper's 100.
    partition_file : path, default=None
        A file or a folder with published partitions, which are used instead of random ones: see
        :func:`reproductions.partitions.partitions_of`.
    store : path or Store, default=None
        The file that keeps the results, so that the same call continues an interrupted one; None keeps them in memory.
    data_home : path, default=None
        The folder with data that is not distributed with similitude. It is searched before the folder given by the
        environment variable SIMILITUDE_DATA.
    compute : bool, default=True
        Whether cells that the store does not hold are computed; if not, the result is what the store holds.
    n_jobs, progress
        As in :func:`similitude.experiments.run`.

    Returns
    -------
    Reproduction
        ``.table()`` returns our figures next to the paper's; ``.missing`` holds the data sets that could not be run,
        with the reason.

    Examples
    --------
    >>> from reproductions import reproduce
    >>> again = reproduce("cazzanti2007-table1", datasets=["d = 8"], methods=["SDA", "k-NN"], partitions=2)
    >>> [(c.method, c.paper) for c in again.comparisons]
    [('SDA', 29.32), ('k-NN', 9.29)]
    """
    if name not in PAPERS:
        raise ValueError(f"name must be one of {list(PAPERS)}; got {name!r}.")
    paper = PAPERS[name]
    wanted = _some(datasets, list(paper.datasets), "datasets")
    known = list(dict.fromkeys(method for dataset in paper.datasets for method in paper.methods(dataset)))
    chosen = _some(methods, known, "methods")
    protocol = _with_splits(_with_partitions(paper.protocol, partitions), splits)
    if partition_file is not None:
        protocol = _with_given_partitions(protocol, Path(partition_file), wanted, partitions)
    data: dict[str, Dataset] = {}
    missing: dict[str, str] = {}
    for dataset in wanted:
        if datasets is None and dataset in paper.large:
            missing[dataset] = paper.large[dataset]
            continue
        try:
            data[dataset] = _loaded(paper, dataset, data_home, partition_file)
        except DataMissing as error:
            missing[dataset] = str(error)
    with nullcontext(store) if isinstance(store, Store) else Store(store) as opened:
        parts = []
        for dataset, given in data.items():
            own = {m: method for m, method in paper.methods(dataset).items() if m in chosen}
            own = {m: method for m, method in own.items() if m in paper.figures(dataset)}
            if own and compute:
                parts.append(run(protocol, {dataset: given}, own, opened, n_jobs=n_jobs, progress=progress))
            elif own:
                parts.append(stored(protocol, {dataset: given}, own, opened))
    return Reproduction(paper, _joined(protocol, list(data), chosen, parts), missing)


def _loaded(paper: PaperTable, dataset: str, data_home: Any, partition_file: Any) -> Dataset:
    given = paper.datasets[dataset](data_home)
    if partition_file is None:
        return given
    return given._replace(splits=partitions_of(Path(partition_file), dataset, len(given.y)))


def _some(asked: Iterable[str] | None, known: Sequence[str], argument: str) -> list[str]:
    chosen = list(known) if asked is None else [asked] if isinstance(asked, str) else list(asked)
    unknown = [name for name in chosen if name not in known]
    if unknown or not chosen:
        raise ValueError(f"{argument} must be some of {list(known)}; got {unknown or chosen}.")
    return chosen


def _with_partitions(protocol: Protocol, partitions: int | None) -> Protocol:
    if partitions is None:
        return protocol
    if protocol.kind not in ("partitions", "given"):
        raise ValueError(f"partitions must be None: the paper's protocol ({protocol}) has no number of partitions.")
    return replace(protocol, n_partitions=partitions)


def _with_splits(protocol: Protocol, splits: int | None) -> Protocol:
    if splits is None:
        return protocol
    if protocol.inner_test_size is None:
        raise ValueError(f"splits must be None: the paper's protocol ({protocol}) has no random splits.")
    return replace(protocol, inner=splits)


def _with_given_partitions(protocol: Protocol, path: Path, datasets: list[str], partitions: int | None) -> Protocol:
    if protocol.kind != "partitions":
        raise ValueError(f"partition_file must be None: the paper's protocol ({protocol}) has no random partitions.")
    if not path.is_dir() and len(datasets) != 1:
        raise ValueError(f"partition_file: {path} holds the partitions of one data set; name it in datasets.")
    return replace(protocol, kind="given", n_partitions=10**9 if partitions is None else partitions)


def _joined(protocol: Protocol, datasets: list[str], methods: list[str], parts: Sequence[Results]) -> Results:
    counts = {name: count for part in parts for name, count in part.datasets.items()}
    return Results(
        protocol=protocol,
        datasets={name: counts[name] for name in datasets if name in counts},
        methods=methods,
        rows=[row for part in parts for row in part.rows],
        failures=[failure for part in parts for failure in part.failures],
    )


def figure_text(mean: float, deviation: float | None) -> str:
    """Return an error in percent, with its standard deviation in parentheses if it has one."""
    return f"{mean:.2f}" if deviation is None else f"{mean:.2f} ({deviation:.2f})"
