"""The page of results, written from a store: our figures beside the papers', and what follows from them."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from reproductions.chen2009 import HONEST
from reproductions.claims import CLAIMS, Outcome, errors_of
from reproductions.folders import DataMissing
from reproductions.plan import Column, columns
from reproductions.reproduction import PAPERS, Comparison, Reproduction, figure_text
from reproductions.variants import AS_PRINTED, FIRST, PARTITIONS, UNEXPLAINED, VARIANTS, Variant, tried
from similitude._utils.files import replacing
from similitude.experiments import Results, Row, Store, Table
from similitude.numerics.significance import wilcoxon_greater

WIDE = ("cazzanti2007-table1", "fusion2009-table1", "wang2009-table2")
"""Tables of many data sets, which are shown with a row for each data set."""

HEAD = """# Results of the reproductions

This page is generated from the store of results by `make reproduce`; do not edit it. It shows our errors beside the
published ones for every [table](reproductions.md) that the available data allow.
"""

READING = """## How to read the tables

Errors are test errors in percent, with the standard deviation over partitions in parentheses. The difference between
our mean and the paper's is in standard errors (se): the square root of the sum of the squared standard errors of both
means. If the paper prints no standard deviation, ours is used for both means; if there is only one result, as with
leave-one-out, both errors are taken to be binomial. Our partitions are not the papers', so the two means cannot be
paired. *agrees* means at most two standard errors; about one figure in twenty lies beyond by chance alone. *lower* and
*higher* are our errors compared with the paper's. Claims compare methods with each other on the same partitions, so
they are tested with paired tests.
"""

LAST = FIRST + PARTITIONS - 1
VARIANTS_HEADING = "## Variants that were tried"
TRIED = f"""{VARIANTS_HEADING}

Where a paper leaves a detail open, another reading of it may give its figure. The variants below were found with the
paper's figure in view, on partitions 0 to 19. Each was then fixed, and run on partitions {FIRST} to {LAST}, which
had not been looked at, or on the first of them; where the table has folds, they are drawn with the seeds from {FIRST}
on, and counted. Errors are in percent, with the standard error of the mean in parentheses. *{AS_PRINTED}* is the
table's own method.

*fits*: our mean is within two standard errors of the paper's. The standard error is that of the difference, and so
includes the paper's own, from its standard deviation over its 20 partitions (5 folds); where it prints none, ours is
used for it. *tried* is the least number of variants that were tried for the row: the more, the more likely it is that
one fits by chance. A variant that fits is one explanation among others; it does not say what the paper did.
"""


def write_page(path: Path, store: Store, *, data_home: Any = None) -> None:
    """Write the page of what the store holds; nothing is computed, and the file is replaced whole."""
    text = page(store, data_home=data_home)
    with replacing(path) as part:
        part.write_text(text, encoding="utf-8")


def page(store: Store, *, data_home: str | os.PathLike | None = None) -> str:
    """Return the page as Markdown."""
    found: dict[Column, Reproduction] = {}
    missing: list[Column] = []
    for column in columns():
        again = column.reproduced(store, data_home=data_home, compute=False)
        if again.missing:
            missing.append(column)
        else:
            found[column] = again
    variants = _of_variants(store, data_home)
    parts = [HEAD, _origin(*_cells(again.results for again in found.values())), READING, _summary(found)]
    parts += [_claims(_outcomes(found, variants)), _differences(found), _variants(variants)]
    for name in PAPERS:
        own = {column.dataset: again for column, again in found.items() if column.table == name}
        absent = [column.dataset for column in missing if column.table == name]
        parts.append(_section(name, own, absent))
    return "\n".join(part.rstrip() + "\n" for part in parts if part)


def write_variants(path: Path, store: Store, *, data_home: Any = None) -> None:
    """Write the section of the variants from a store into the page; its other sections remain as they are."""
    text = path.read_text(encoding="utf-8")
    own = _variants(_of_variants(store, data_home)).rstrip() + "\n\n"
    # The section ends where the next one begins; a page without it gets it before the first table.
    present = rf"{VARIANTS_HEADING}\n.*?(?=^## )" if VARIANTS_HEADING in text else rf"(?=^## {next(iter(PAPERS))}$)"
    text, found = re.subn(present, lambda _: own, text, count=1, flags=re.DOTALL | re.MULTILINE)
    if not found:
        raise ValueError(f"--page: {path} is not a page of results; write it without --variants first.")
    with replacing(path) as part:
        part.write_text(text, encoding="utf-8")


def _of_variants(store: Store, data_home: Any) -> dict[Variant, Results]:
    """Return what the store holds of each variant whose data are here."""
    found = {}
    for variant in VARIANTS:
        try:
            found[variant] = variant.results(store, data_home=data_home, compute=False)
        except DataMissing:
            continue
    return found


def _variants(found: Mapping[Variant, Results]) -> str:
    """Return the section of the variants, with a table for each of the papers' tables."""
    shown = {variant: results for variant, results in found.items() if tried(variant)}
    lines = [TRIED, _origin(*_cells(shown.values()))]
    columns = ["row", "variant", "ours (se)", "partitions", "paper (std)", "difference in se", "tried", "verdict"]
    for name, paper in PAPERS.items():
        rows = [_variant_row(variant, results) for variant, results in shown.items() if variant.table == name]
        if rows:
            lines += [f"[{paper.reference}](#{name}):", "", Table(columns, rows, left=2).markdown(), ""]
    missing = dict.fromkeys(f"{v.dataset}, {v.method}" for v in VARIANTS if tried(v) and v not in found)
    if missing:
        lines += [_absent(missing), ""]
    return "\n".join([*lines, UNEXPLAINED]) + "\n"


def _absent(names: Iterable[str]) -> str:
    return f"Not run, because their [data](reproductions.md#data) are not here: {'; '.join(names)}."


def _variant_row(variant: Variant, results: Results) -> list[str]:
    c = variant.comparison(results)
    first, paper = [f"{variant.dataset}, {variant.method}", variant.change], figure_text(c.paper, c.paper_deviation)
    count = "" if variant.change == AS_PRINTED else f"at least {tried(variant)}"
    if c.ours is None or c.our_deviation is None or c.standard_errors is None:
        return [*first, "", str(c.n_partitions), paper, "", count, "not run"]
    ours = figure_text(c.ours, c.our_deviation / np.sqrt(c.n_partitions))
    verdict = "fits" if c.verdict == "agrees" else "does not fit"
    return [*first, ours, str(c.n_partitions), paper, f"{c.standard_errors:+.1f}", count, verdict]


def _cells(found: Iterable[Results]) -> tuple[list[Row], int]:
    """Return the cells of results, and the number of those that failed; two tables may have the same cell."""
    results = list(found)
    rows = {row.key: row for each in results for row in each.rows}
    return list(rows.values()), sum(len(each.failures) for each in results)


def _origin(rows: list[Row], failures: int) -> str:
    """Return the number of cells, the dates, the versions and the seeds."""
    if not rows:
        return "The store is empty.\n"
    days = sorted(row.finished[:10] for row in rows)
    names = ("similitude", "numpy", "scipy", "scikit_learn", "python")
    versions = ", ".join(f"{name} {' and '.join(sorted({getattr(r, name) for r in rows}))}" for name in names)
    seeds = sorted({row.seed for row in rows})
    hours = sum(row.seconds for row in rows) / 3600
    days_text = days[0] if days[0] == days[-1] else f"{days[0]} to {days[-1]}"
    return (
        f"The store holds {len(rows)} cells (one method on one partition of one data set), computed on {days_text}; "
        f"one after another they took {hours:.1f} hours by the clock; {failures} cells failed. Versions: "
        f"{versions}. The seed of partition i is i ({seeds[0]} to {seeds[-1]}).\n"
    )


def _summary(found: Mapping[Column, Reproduction]) -> str:
    rows = []
    for name, paper in PAPERS.items():
        own = [(c, again) for column, again in found.items() if column.table == name for c in again.comparisons]
        done = [c for c, again in own if _is_complete(c, again) and not _is_extra(name, c)]
        within = sum(abs(c.away) <= 1 for c in done if c.away is not None)
        agreed = sum(c.verdict == "agrees" for c in done)
        published = sum(len(figures) for figures in paper.published.values())
        link = f"[{paper.reference}](#{name})"
        rows.append(f"| {link} | {published} | {len(done)} | {within} | {agreed} |")
    head = "| table | published figures | run | within one std | within two se |\n| --- | ---: | ---: | ---: | ---: |"
    return f"## Summary\n\n{head}\n" + "\n".join(rows) + "\n"


def _differences(found: Mapping[Column, Reproduction]) -> str:
    """Return a list of the figures that differ by more than two standard errors, the largest difference first."""
    far = [
        (abs(c.standard_errors), column.table, c)
        for column, again in found.items()
        for c in again.comparisons
        if c.standard_errors is not None and _is_complete(c, again) and c.verdict != "agrees"
    ]
    if not far:
        return ""
    lines = [
        f"- {c.dataset}, {c.method} ([{table}](#{table})): {c.ours:.2f}, paper {c.paper:g}, {c.standard_errors:+.1f} se"
        for _, table, c in sorted(far, key=lambda each: -each[0])
    ]
    return "\n".join(["## Figures that differ", "", *lines]) + "\n"


def _is_complete(c: Comparison, again: Reproduction) -> bool:
    return c.n_partitions == again.results.datasets[c.dataset]


def _is_extra(name: str, c: Comparison) -> bool:
    """Return whether a figure has no counterpart of its own in the paper."""
    return c.dataset in PAPERS[name].like or c.method in PAPERS[name].variants


def _outcomes(found: Mapping[Column, Reproduction], variants: Mapping[Variant, Results]) -> list[list[Outcome]]:
    """Return the outcomes of the tests of each claim."""
    errors = errors_of({(column.table, column.dataset): again for column, again in found.items()})
    for variant, results in variants.items():
        own = 100 * results.values(variant.dataset)[0]
        if np.isfinite(own).all():
            errors[variant.table, variant.dataset, variant.name] = own
    return [claim.outcomes(errors) for claim in CLAIMS]


def _claims(outcomes_of_claims: list[list[Outcome]]) -> str:
    lines = [
        "## The papers' claims",
        "",
        "One-sided Wilcoxon signed-rank tests at 5%, paired over partitions. The difference is that of the mean "
        "errors, in percentage points. *seen*: significant (for being among the best: not significantly worse "
        "than the best); *reversed*: significant in the other direction; *no effect*: over many partitions the "
        "difference is within two standard errors of 0, and the paper's difference is not within two of ours. *p of "
        "the paper* is the p-value of the paper's own figures by the same test, which can be had where a pair is one "
        "of means that it prints, over all of its pairs, also those that are not run here; above 5%, its own table "
        "does not show the claim either.",
    ]
    unseen = []
    for claim, outcomes in zip(CLAIMS, outcomes_of_claims, strict=True):
        table = Table(
            ["comparison", "difference", "p", "p of the paper", "verdict"],
            [
                [
                    o.where,
                    "" if o.difference is None else f"{o.difference:+.2f}",
                    _p(o.p_value),
                    _p(o.published),
                    o.verdict,
                ]
                for o in outcomes
            ],
        )
        lines += ["", f"{claim.paper}: {claim.text} The paper {claim.strength}.", "", table.markdown()]
        failed = [outcome for outcome in outcomes if outcome.verdict in ("not seen", "no effect", "reversed")]
        unseen += [f"- {outcome.where} ({claim.paper}): {outcome.verdict}" for outcome in failed]
    if unseen:
        lines += ["", "What does not come out:", "", *unseen]
    return "\n".join(lines) + "\n"


def _p(value: float | None) -> str:
    return "" if value is None else "<0.0001" if value < 1e-4 else f"{value:.4f}"


def _section(name: str, found: Mapping[str, Reproduction], missing: list[str]) -> str:
    paper = PAPERS[name]
    lines = [f"## {name}", "", f"{paper.reference}, by `python -m reproductions {name}`. {paper.note}"]
    protocols = sorted({str(again.results.protocol) for again in found.values()})
    for protocol in protocols:
        own = [dataset for dataset, again in found.items() if str(again.results.protocol) == protocol]
        lines.append(f"\nProtocol{'' if len(protocols) == 1 else ' of ' + ', '.join(own)}: {protocol}.")
    if name in WIDE:
        lines += ["", _wide(found)] if found else []
    else:
        for dataset, again in found.items():
            if dataset != HONEST:
                honest = found.get(HONEST) if paper.like.get(HONEST) == dataset else None
                lines += ["", f"### {dataset}", "", _narrow(again, honest)]
    if missing:
        lines += ["", _absent(missing)]
    return "\n".join(lines) + "\n"


def _ours(c: Comparison, count: int) -> str:
    if c.ours is None:
        return "not run"
    text = figure_text(c.ours, c.our_deviation)
    return text if c.n_partitions == count else f"{text}, {c.n_partitions} of {count}"


def _narrow(again: Reproduction, honest: Reproduction | None) -> str:
    """Return a table with a row for each method; Voting has a second column without the test labels."""
    (dataset,) = again.results.datasets
    count = again.results.datasets[dataset]
    second = {} if honest is None else {c.method: c for c in honest.comparisons}
    columns = ["method", "ours", "paper", "difference in se", "verdict"]
    if honest is not None:
        columns += ["VDM of the training part", "p of a difference"]
    rows = []
    for c in again.comparisons:
        distance = "" if c.standard_errors is None else f"{c.standard_errors:+.1f}"
        verdict = c.verdict if c.n_partitions in (0, count) else "not complete"
        row = [c.method, _ours(c, count), figure_text(c.paper, c.paper_deviation), distance, verdict]
        if honest is not None:
            other = second.get(c.method)
            row.append("" if other is None else _ours(other, honest.results.datasets[HONEST]))
            row.append(_p(_two_sided(again, honest, c.method)))
        rows.append(row)
    return Table(columns, rows).markdown()


def _two_sided(again: Reproduction, honest: Reproduction, method: str) -> float | None:
    """Return the p-value of a difference between the two columns, or None if it cannot be tested."""
    pairs = [
        part.results.values(dataset)[list(part.results.methods).index(method)]
        for part in (again, honest)
        for dataset in part.results.datasets
    ]
    if len(pairs) != 2 or np.isfinite(pairs[0] - pairs[1]).sum() < 5:
        return None
    return min(1.0, 2 * min(wilcoxon_greater(*pairs), wilcoxon_greater(*pairs[::-1])))


def _wide(found: Mapping[str, Reproduction]) -> str:
    """Return a table with a row for each data set, in whose cells are our error, the paper's, and the difference."""
    methods = list(dict.fromkeys(c.method for again in found.values() for c in again.comparisons))
    rows = []
    for dataset, again in found.items():
        own = {c.method: c for c in again.comparisons}
        rows.append([dataset, *(_cell(own[m], again.results.datasets[dataset]) if m in own else "" for m in methods)])
    return f"Our error / the paper's (difference in se).\n\n{Table(['data set', *methods], rows).markdown()}"


def _cell(c: Comparison, count: int) -> str:
    if c.standard_errors is None:
        return f"not run / {c.paper:g}"
    short = "" if c.n_partitions == count else f", {c.n_partitions} of {count}"
    return f"{c.ours:.2f} / {c.paper:g} ({c.standard_errors:+.1f}){short}"
