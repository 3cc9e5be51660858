"""The tables of the arena, its page and its picture."""

from __future__ import annotations

import math
import re
import textwrap
from collections.abc import Sequence
from pathlib import Path

import similitude
from benchmarks.arena.data import FOLDER, SHIPPED, SOURCES
from benchmarks.arena.statistics import BASELINE, LEVEL, LeaderboardRow, Standings
from benchmarks.arena.store import DEVELOPMENT, SINGLE
from similitude._utils.files import replacing

PAGE, PICTURE = "arena.md", "images/arena.png"
METHODS_PAGE = "which-method.md"
_METHODS = re.compile(r"(?<=<!-- arena -->\n).*?(?=<!-- end of arena -->)", re.DOTALL)
SETS_PER_TABLE = 8
DPI = 110
NONE = "–"


def write_page(standings: Standings, folder: Path) -> Path:
    """Write the page and its picture into a folder, and return the path of the page.

    If the folder has the page on the methods, its part on the arena is written, too.
    """
    picture = folder / PICTURE
    picture.parent.mkdir(parents=True, exist_ok=True)
    drawn = draw(standings, picture)
    with replacing(folder / PAGE) as part:
        part.write_text(page(standings, drawn), encoding="utf-8")
    methods = folder / METHODS_PAGE
    if methods.exists():
        text = methods.read_text(encoding="utf-8")
        with replacing(methods) as part:
            part.write_text(_METHODS.sub(lambda _: f"\n{methods_part(standings)}\n\n", text), encoding="utf-8")
    return folder / PAGE


def draw(standings: Standings, path: Path) -> bool:
    """Draw the critical-difference picture, and return whether there is anything to draw."""
    names = standings.leading()
    if len(names) < 2 or len(standings.datasets) < 2:
        path.unlink(missing_ok=True)
        return False
    import matplotlib.pyplot as plt

    from similitude.plotting import CriticalDifferenceDisplay

    display = CriticalDifferenceDisplay.from_errors(standings.mean_errors(names), names, level=LEVEL)
    with replacing(path) as part:
        display.figure_.savefig(part, dpi=DPI, format="png", bbox_inches="tight", pad_inches=0.15)
    plt.close(display.figure_)
    return True


def page(standings: Standings, drawn: bool = True) -> str:
    """Return the page as Markdown."""
    parts = [
        "# The arena",
        _introduction(standings),
        *_over_all(standings),
        *_by_data_set(standings),
        *_wins_and_losses(standings),
        *(_critical_difference() if drawn else []),
        "## Seconds",
        "Seconds of one partition, and the share of each single method and peer in the time of all of them:",
        seconds_table(standings),
        *_data(standings),
        *_command(),
    ]
    return "\n\n".join(parts) + "\n"


def _introduction(standings: Standings) -> str:
    return _prose(
        f"""The arena compares `AutoClassifier` with every single method, each tuned, and with methods of others for the
        rows of a similarity matrix (the peers: those of scikit-learn, and the similarity forest of Sathe & Aggarwal,
        2017). There are {len(standings.datasets)} real data sets and {_partitions(standings)} of each into 80% training
        and 20% test samples, stratified by class. All choices of parameters and methods are made within the training
        part. The number of a partition is its seed; partitions from {DEVELOPMENT} on are for development and are not
        part of this page. The version is {similitude.__version__}."""
    )


def _partitions(standings: Standings) -> str:
    counts = [standings.counts[name] for name in (*standings.datasets, *standings.simulated)]
    many = str(counts[0]) if min(counts) == max(counts) else f"{min(counts)} to {max(counts)}"
    return f"{many} random {'partition' if many == '1' else 'partitions'}"


def _over_all(standings: Standings) -> list[str]:
    return [
        "## Over all data sets",
        _prose(
            """The error is the mean over the data sets of the mean error over the partitions, in percent. The
            difference is the number of percentage points by which it exceeds that of `AutoClassifier`, with its
            standard error: differences are paired on each partition and averaged over the partitions of a data set, and
            their spread over the data sets gives the standard error. p is that of Wilcoxon's signed-rank test over the
            data sets, two-sided, adjusted by Holm for the number of methods and peers."""
        ),
        overall_table(standings),
        _prose(_beyond_chance(standings)),
        _prose(
            """The rank is the mean over the data sets; 1 is the best. The regret is the mean difference from the best
            single method (or peer) of each data set, which is known only in hindsight, in percentage points. The Brier
            score is between 0 and 2; ECE is the calibration error of the largest posterior in 10 bins. With few test
            samples, most of the ECE is due to chance, and it is lower for posteriors that are nearer to 0 and 1, even
            if all are calibrated ([benchmarks](benchmarks.md#the-automatic-choice) has figures). The seconds are those
            of the processor for one partition, on one core: choice of parameters, fit and prediction. Single methods
            and peers are evaluated on all folds; `AutoClassifier` stops methods after some folds if the combination
            would not gain from them."""
        ),
        *_of_ways(standings),
    ]


def _beyond_chance(standings: Standings) -> str:
    """Return sentences on the single methods and peers whose differences from AutoClassifier are beyond chance."""
    tested = [row for row in standings.overall if math.isfinite(row.p_value)]
    if not tested:
        return "Too few results for tests."
    kinds = {"lower": [], "higher": [], "not": []}
    for row in tested:
        side = "not" if row.p_value > LEVEL else "lower" if row.difference < 0 else "higher"
        kinds[side].append(row.entrant)
    words = {
        "higher": "Beyond chance, the error is higher than that of `AutoClassifier` for",
        "lower": "Beyond chance, the error is lower than that of `AutoClassifier` for",
        "not": "The difference is not beyond chance for",
    }
    return " ".join(f"{words[side]} {_listed(names)}." for side, names in kinds.items() if names)


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _by_data_set(standings: Standings) -> list[str]:
    return [
        "## Results by data set",
        _prose(
            """The tables show mean errors in percent, with standard errors over the partitions. The partitions overlap,
            so these standard errors are too small for tests; the tests below take this into account."""
        ),
        summary_table(standings),
        "All entrants, with the lowest mean of each data set in bold:",
        *set_tables(standings),
    ]


def _wins_and_losses(standings: Standings) -> list[str]:
    return [
        "## Wins and losses",
        _prose(
            f"""Each cell shows on how many data sets the error of the automatic choice in the column is significantly
            lower : higher than that of the entrant in the row, and in brackets on how many its mean error is
            lower : higher. The test is
            the paired t-test over the partitions with the correction of the variance for overlapping partitions
            by Nadeau & Bengio (2003), two-sided at {100 * LEVEL:g}%, with Holm's adjustment over the data sets."""
        ),
        duel_table(standings),
        *_losses(standings),
    ]


def _critical_difference() -> list[str]:
    return [
        "## Critical difference",
        f"![mean ranks over the data sets]({PICTURE})",
        _prose(
            f"""The figure shows the mean ranks of `AutoClassifier`, of {BASELINE} and of the entrants with the lowest
            mean errors, ranked among themselves. Bars join those that do not differ significantly by Nemenyi's test."""
        ),
    ]


def _data(standings: Standings) -> list[str]:
    shipped = ", ".join(f"`{name}`" for name in SHIPPED)
    return [
        "## The data",
        _prose(
            f"""Except for {shipped}, the matrices are not part of similitude. Each
            is a file `NAME.npz` in the folder `{FOLDER}` within the folder that the environment variable
            `SIMILITUDE_DATA` names. Such a file contains the matrix, `S` if it has similarities and `D` if it has
            dissimilarities, and the labels `y`, without pickles. The matrices were made from these public
            sources:"""
        ),
        data_table(standings),
        *(["Simulated data sets are not part of the means, ranks and tests."] if standings.simulated else []),
        *_not_run(standings),
    ]


def _command() -> list[str]:
    return [
        "## The command",
        "    python -m benchmarks arena",
        _prose(
            """Each finished cell (one partition of one data set) is kept as a file in the folder `arena`, and the
            same command continues a run that was interrupted. `--partitions` and `--first` choose the partitions,
            `--data` the data sets, `--jobs` the number of processes and `--output` the folder. `--report` only
            writes this page again, and `--pages docs` writes it, and what depends on it, into that folder."""
        ),
    ]


def _not_run(standings: Standings) -> list[str]:
    """Return the sentence on the data sets of which there are no results."""
    missing = [f"`{name}`" for name in SOURCES if name not in standings.cells]
    return [_prose(f"There are no results yet of {', '.join(missing)}.")] if missing else []


def _of_ways(standings: Standings) -> list[str]:
    """Return the section on other ways of combining the methods, if there are results of them."""
    if not standings.of_kind("way"):
        return []
    return [
        "## Ways of combining",
        _prose(
            """The entrants whose names begin with "way" combine the calibrated posteriors of all methods at their best
            points, each evaluated on all folds, so they take longer. Greedy selection with replacement (Caruana et al.,
            2004 and 2006), averaged over bootstrap samples and judged by the Brier score, is what `AutoClassifier` does
            with the methods that it has not stopped. Non-negative least squares is the super learner (van der Laan
            et al., 2007). The lowest error, or Brier score, is what a grid search over all methods would choose."""
        ),
        overall_table(standings, ("auto", "way")),
    ]


def overall_table(standings: Standings, kinds: Sequence[str] = ()) -> str:
    """Return the table over all real data sets, of the entrants of some kinds (none: all but other ways)."""
    shown = [row for row in standings.overall if (row.kind in kinds if kinds else row.kind != "way")]
    missing = any(row.missing for row in shown)
    header = ["entrant", "kind", "error %", "difference", "p", "rank", "regret", "Brier", "ECE", "seconds"]
    header += ["missing cells"] * missing
    rows = []
    for row in shown:
        cells = [row.entrant, row.kind, _number(100 * row.error, 2), _difference(row), _p_value(row.p_value)]
        cells += [_number(row.rank, 1), _number(100 * row.regret, 2), _number(row.brier, 3), _number(row.ece, 3)]
        rows.append([*cells, _seconds(row.seconds), *[str(row.missing)] * missing])
    return table(header, rows, left=2)


def _difference(row: LeaderboardRow) -> str:
    if math.isnan(row.difference) or row.difference == row.spread == 0:
        return NONE
    return f"{100 * row.difference:+.2f} ± {100 * row.spread:.2f}"


def _p_value(value: float) -> str:
    return NONE if math.isnan(value) else "< .001" if value < 0.001 else f"{value:.3f}"[1:] if value < 1 else "1"


def methods_part(standings: Standings) -> str:
    """Return what the page on the methods says of the single methods and peers."""
    rows = [row for row in standings.overall if row.kind in SINGLE and math.isfinite(row.error)]
    automatic = [row for row in standings.overall if row.kind == "auto"]
    means = ", and ".join(
        f"{100 * row.error:.1f}% for {row.entrant}, with a Brier score of {row.brier:.3f}" for row in automatic
    )
    best = {
        row.entrant: [d for d in standings.datasets if standings.mean(row.entrant, d) <= _lowest(standings, d) + 1e-12]
        for row in rows
    }
    cells = [
        [row.entrant, _number(100 * row.error, 1), _difference(row), _p_value(row.p_value), _number(row.rank, 0)]
        + [_number(row.brier, 3), ", ".join(best[row.entrant]) or NONE]
        for row in rows
    ]
    text = _prose(
        f"""The mean errors on {len(standings.datasets)} real data sets, over {_partitions(standings)} of each, are
        {means}. The table shows the single methods and the peers (methods of others, such as those of scikit-learn),
        their difference from `AutoClassifier` in percentage points with its standard error over the data sets, p
        (Wilcoxon, adjusted by Holm), and the data sets on which each has the lowest error of all of them (some share
        it):"""
    )
    header = ["method", "error %", "difference", "p", "rank", "Brier", "lowest error on"]
    return f"{text}\n\n{table(header, cells)}"


def _lowest(standings: Standings, dataset: str) -> float:
    best = standings.best_single(dataset)
    return math.nan if best is None else standings.mean(best, dataset)


def summary_table(standings: Standings) -> str:
    """Return the table of the automatic choices, k-NN and the best single method on each data set."""
    names = [*standings.of_kind("auto"), *(name for name in (BASELINE,) if name in standings.kinds)]
    rows = []
    for dataset in (*standings.datasets, *standings.simulated):
        best = standings.best_single(dataset)
        shown = NONE if best is None else f"{_with_error(standings, best, dataset)}, {best}"
        title = f"{dataset} (simulated)" if dataset in standings.simulated else dataset
        rows.append([title, *(_with_error(standings, name, dataset) for name in names), shown])
    return table(["data", *names, "best single method in hindsight"], rows)


def set_tables(standings: Standings) -> list[str]:
    """Return the tables of all entrants, with a column for each data set."""
    datasets = [*standings.datasets, *standings.simulated]
    ordered = [row.entrant for row in standings.overall]
    lowest = {}
    for dataset in datasets:
        means = [standings.mean(name, dataset) for name in ordered]
        lowest[dataset] = min((mean for mean in means if math.isfinite(mean)), default=math.nan)
    tables = []
    for start in range(0, len(datasets), SETS_PER_TABLE):
        chosen = datasets[start : start + SETS_PER_TABLE]
        rows = []
        for name in ordered:
            cells = [name]
            for dataset in chosen:
                shown = _with_error(standings, name, dataset)
                cells.append(_bold(shown) if standings.mean(name, dataset) <= lowest[dataset] + 1e-12 else shown)
            rows.append(cells)
        tables.append(table(["entrant", *chosen], rows))
    return tables


def duel_table(standings: Standings) -> str:
    """Return the wins and losses of the automatic choices against every other entrant."""
    names = standings.of_kind("auto")
    rows = []
    for row in standings.overall:
        if row.entrant in names and len(names) == 1:
            continue
        cells = [row.entrant]
        for name in names:
            duel = standings.duel(name, row.entrant)
            shown = f"{len(duel.wins)} : {len(duel.losses)} ({duel.lower} : {duel.higher})"
            cells.append(NONE if name == row.entrant else shown)
        rows.append(cells)
    return table(["against", *(f"{name}, wins : losses" for name in names)], rows)


def seconds_table(standings: Standings) -> str:
    """Return the seconds of every entrant, over all real data sets and on the one that takes longest."""
    rows = []
    for row in sorted(standings.overall, key=lambda row: math.inf if math.isnan(row.seconds) else row.seconds):
        times = {name: standings.mean(row.entrant, name, "seconds") for name in standings.datasets}
        longest = max((name for name in times if math.isfinite(times[name])), key=times.__getitem__, default=None)
        slowest = NONE if longest is None else f"{_seconds(times[longest])}, {longest}"
        share = 100 * standings.share_of_seconds(row.entrant) if row.kind in SINGLE else math.nan
        rows.append([row.entrant, _seconds(row.seconds), slowest, _number(share, 1)])
    return table(["entrant", "mean", "longest", "share %"], rows)


def data_table(standings: Standings) -> str:
    """Return the table of the data sets with their sizes and sources."""
    rows = []
    for name in (*standings.datasets, *standings.simulated):
        cell, source = standings.cells[name], SOURCES.get(name)
        sizes = (cell.n_train + cell.n_test, cell.n_classes, standings.counts[name])
        rows.append([f"`{name}`", cell.kind, *map(str, sizes), *(source or (NONE, NONE))])
    return table(["data", "kind", "samples", "classes", "partitions", "what", "from"], rows)


def table(header: Sequence[str], rows: Sequence[Sequence[str]], left: int = 1) -> str:
    """Return a Markdown table with aligned columns, so that it can be read as plain text, too.

    The first ``left`` columns and all that have words in them are aligned to the left, the others to the right.
    """
    cells = [[cell.replace("|", "\\|") for cell in row] for row in (header, *rows)]
    widths = [max(3, *(len(row[j]) for row in cells)) for j in range(len(header))]
    numbers = [j >= left and all(not any(c.isalpha() for c in row[j]) for row in cells[1:]) for j in range(len(header))]
    rule = ["-" * (width - 1) + ":" if number else "-" * width for width, number in zip(widths, numbers)]
    lines = []
    for row in (cells[0], rule, *cells[1:]):
        aligned = (c.rjust(w) if number else c.ljust(w) for c, w, number in zip(row, widths, numbers))
        lines.append(f"| {' | '.join(aligned)} |")
    return "\n".join(lines)


def _losses(standings: Standings) -> list[str]:
    """Return sentences on the data sets on which an automatic choice is significantly worse than k-NN."""
    if BASELINE not in standings.kinds:
        return []
    sentences = []
    for name in standings.of_kind("auto"):
        losses = standings.duel(name, BASELINE).losses
        where = f"on {', '.join(losses)}" if losses else "on no data set"
        sentences.append(f"{name} is significantly worse than {BASELINE} {where}.")
    return [_prose(" ".join(sentences))] if sentences else []


def _with_error(standings: Standings, entrant: str, dataset: str) -> str:
    mean, error = standings.mean(entrant, dataset), standings.standard_error(entrant, dataset)
    if math.isnan(mean):
        return NONE
    return f"{100 * mean:.1f}" if math.isnan(error) else f"{100 * mean:.1f} ± {100 * error:.1f}"


def _prose(text: str) -> str:
    """Return a paragraph in lines of at most 120 characters."""
    return textwrap.fill(" ".join(text.split()), 120, break_long_words=False, break_on_hyphens=False)


def _number(value: float, digits: int) -> str:
    return NONE if math.isnan(value) else f"{value:.{digits}f}"


def _seconds(value: float) -> str:
    return _number(value, 1 if value >= 10 else 2)


def _bold(text: str) -> str:
    return f"**{text}**"
