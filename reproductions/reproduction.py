"""Reproduction of a paper's table, and comparison of our figures with the published ones."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace

import numpy as np

from reproductions import cazzanti2007, chen2009, chen2009_kernels, fusion2009, wang2009
from reproductions.recipe import DataMissing, Figure, PaperTable
from similitude.experiments import Dataset, Entry, Protocol, Results, Store, Table, run

PAPERS: dict[str, PaperTable] = {
    table.name: table
    for paper in (chen2009, chen2009_kernels, cazzanti2007, fusion2009, wang2009)
    for table in paper.TABLES
}
"""The tables that :func:`reproduce` knows, by name."""

LEAST_DEVIATION = 0.1
"""The deviation in percent that is used if a paper prints 0, because papers print tenths of a percent."""


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
            for method, figure in self.paper.published[dataset].items():
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
        if deviation is not None:
            unit, size = "paper", max(deviation, LEAST_DEVIATION)
        elif own:
            unit, size = "ours", own
        else:
            tested = [row.n_test for row in self.results.rows if (row.dataset, row.method) == (dataset, method)]
            unit, size = "binomial", 100 * np.sqrt(paper / 100 * (1 - paper / 100) / tested[0])
        away = float((ours - paper) / size) if size else None
        return Comparison(dataset, method, ours, own, len(errors), paper, deviation, away, unit)

    def our_table(self) -> Table:
        """Return the table of our errors, methods by data sets, marked by the paper's test of significance."""
        return self.results.table(test=self.paper.test, level=self.paper.level)

    def table(self) -> Table:
        """Return a table with a row for each figure: our error, the paper's, and the difference in standard deviations.

        A difference of more than one standard deviation is in italics.
        """
        rows = []
        for c in self.comparisons:
            away = "-" if c.away is None else f"{c.away:+.2f}"
            far = c.away is not None and abs(c.away) > 1
            ours = "-" if c.ours is None else _figure(c.ours, c.our_deviation)
            rows.append(
                [c.dataset, c.method, ours, _figure(c.paper, c.paper_deviation), Entry(away, italic=far), c.unit]
            )
        columns = ["data set", "method", "error % (std)", "paper", "difference", "in std of"]
        return Table(columns, rows, self._caption(), left=2)

    def _caption(self) -> str:
        near = [abs(c.away) <= 1 for c in self.comparisons if c.away is not None]
        text = f"{self.paper.reference}. {self.results.protocol}. {self.paper.note}"
        return f"{text} Within one standard deviation: {sum(near)} of {len(near)}." if near else text

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
    store: str | os.PathLike | Store | None = None,
    data_home: str | os.PathLike | None = None,
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
    store : path or Store, default=None
        The file that keeps the results, so that the same call continues an interrupted one; None keeps them in memory.
    data_home : path, default=None
        The folder with data that is not distributed with similitude. It is searched before the folder given by the
        environment variable SIMILITUDE_DATA.
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
    known = paper.methods()
    chosen = _some(methods, list(known), "methods")
    wanted = _some(datasets, list(paper.datasets), "datasets")
    data: dict[str, Dataset] = {}
    missing: dict[str, str] = {}
    for dataset in wanted:
        if datasets is None and dataset in paper.large:
            missing[dataset] = paper.large[dataset]
            continue
        try:
            data[dataset] = paper.datasets[dataset](data_home)
        except DataMissing as error:
            missing[dataset] = str(error)
    protocol = _with_partitions(paper.protocol, partitions)
    with nullcontext(store) if isinstance(store, Store) else Store(store) as opened:
        parts = [
            run(protocol, group, {m: known[m] for m in names}, opened, n_jobs=n_jobs, progress=progress)
            for names, group in _groups(paper, data, chosen)
        ]
    return Reproduction(paper, _joined(protocol, list(data), chosen, parts), missing)


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


def _groups(
    paper: PaperTable, data: Mapping[str, Dataset], chosen: Sequence[str]
) -> list[tuple[tuple[str, ...], dict[str, Dataset]]]:
    """Return groups of data sets for which the paper has the same methods, each with these methods."""
    groups: dict[tuple[str, ...], dict[str, Dataset]] = {}
    for dataset, given in data.items():
        names = tuple(method for method in chosen if method in paper.published[dataset])
        if names:
            groups.setdefault(names, {})[dataset] = given
    return list(groups.items())


def _joined(protocol: Protocol, datasets: list[str], methods: list[str], parts: Sequence[Results]) -> Results:
    counts = {name: count for part in parts for name, count in part.datasets.items()}
    return Results(
        protocol=protocol,
        datasets={name: counts[name] for name in datasets if name in counts},
        methods=methods,
        rows=[row for part in parts for row in part.rows],
        failures=[failure for part in parts for failure in part.failures],
    )


def _figure(mean: float, deviation: float | None) -> str:
    return f"{mean:.2f}" if deviation is None else f"{mean:.2f} ({deviation:.2f})"
