"""The sections about the model that was chosen."""

from __future__ import annotations

import numpy as np

from similitude.diagnosis.card import percent
from similitude.report.findings import Findings, Outcome, Standing
from similitude.report.markup import Section, chip, lead, picture, row, section, table, text

LARGE_CONFUSION = 8
"""Classes up to which the confusion matrix is a table."""

SIGNIFICANT = 0.05
_FEW_CLASSES = 2
_CONFUSIONS_SHOWN = 15


def model_sections(findings: Findings, outcome: Outcome) -> list[Section]:
    """Leaderboard, confusion matrix, misclassified samples and code."""
    found = [_leaderboard(outcome)]
    if outcome.predicted is not None:
        found += [_confusion(findings, outcome), _mistakes(findings, outcome)]
    return [*found, _code(outcome)]


def percents(share: float) -> str:
    """An error as one compares it with others."""
    return f"{100 * share:.2f}%"


def _leaderboard(outcome: Outcome) -> Section:
    """The methods, best first."""
    standings = outcome.leaderboard
    low = min(standing.error - (standing.standard_error or 0) for standing in standings)
    high = max(standing.error + (standing.standard_error or 0) for standing in standings)
    room = 0.04 * (high - low)
    rows = [_standing(standing, low - room, high + room, standings[0].error) for standing in standings]
    optimistic = "What choosing parameters adds is in the errors, what choosing the method adds is not"
    if outcome.nested_error is not None:
        optimistic += f": with all choices made within each training part the error is {percents(outcome.nested_error)}"
    left_out = f"There was no time for {text(', '.join(outcome.left_out))}." if outcome.left_out else ""
    return section(
        "methods",
        "Leaderboard",
        lead(
            "p is of a one-sided Wilcoxon test, fold by fold, that a method errs more than the best.",
            f"Those in colour are not significantly worse (p ≥ {SIGNIFICANT}); with k folds no p is below"
            " 2<sup>−k</sup>.",
            "Chosen is the simplest method that is behind the best by no more than its standard error.",
            f"{optimistic}.",
            left_out,
        ),
        table(
            "Error with standard error; dot and whisker on a common scale, the line at the best. Column heads sort.",
            [("Method", ""), ("Error %", "error"), ("p", "number"), ("Seconds", "number")],
            rows,
            identifier="leaderboard",
            sorted_by="Error %",
        ),
    )


def _standing(standing: Standing, low: float, high: float, best: float) -> str:
    """A row of the leaderboard; the scripts sort by what ``data-value`` holds."""

    def at(value: float) -> str:
        return f"{100 * (value - low) / (high - low) if high > low else 50:.2f}%"

    error, spread, p = standing.error, standing.standard_error or 0.0, standing.p_value
    whisker = (
        f'<svg class="whisker" aria-hidden="true"><line class="best" x1="{at(best)}" x2="{at(best)}" y1="0" y2="14"/>'
        f'<line x1="{at(error - spread)}" x2="{at(error + spread)}" y1="7" y2="7"/>'
        f'<circle cx="{at(error)}" cy="7" r="4"/></svg>'
    )
    kinds = ["close"] * (p is None or p >= SIGNIFICANT) + ["chosen"] * standing.chosen
    badge = '<span class="badge">chosen</span>' if standing.chosen else ""
    said = f"{100 * error:.2f}" + ("" if standing.standard_error is None else f" ± {100 * spread:.2f}")
    said_p = "best" if p is None else "<0.001" if p < 0.001 else f"{p:.3f}"
    seconds = standing.seconds
    return (
        f'<tr class="{" ".join(kinds)}"><th scope="row" data-value="{text(standing.method)}">'
        f'<span class="name">{text(standing.method)}</span>{badge}'
        f'<span class="parameters">{text(standing.parameters)}</span></th>'
        f'<td class="error" data-value="{_sorting(error)}">{said}{whisker}</td>'
        f'<td class="number" data-value="{_sorting(p)}">{text(said_p)}</td>'
        f'<td class="number" data-value="{_sorting(seconds)}">{"" if seconds is None else f"{seconds:.1f}"}</td></tr>'
    )


def _sorting(value: float | None) -> str:
    return "" if value is None else repr(float(value))


def _confusion(findings: Findings, outcome: Outcome) -> Section:
    """What was taken for what."""
    G = len(findings.classes)
    counts = outcome.confusion(findings.labels, G)
    about = lead(f"Out-of-fold predictions of {text(outcome.method)}: each by a model that did not see the sample.")
    if G <= LARGE_CONFUSION:
        return section("confusion", "Confusion matrix", about, _confusion_table(findings, counts), link="Confusion")
    wrong = counts * (1 - np.eye(G, dtype=int))
    order = np.argsort(-wrong, axis=None, kind="stable")[:_CONFUSIONS_SHOWN]
    pairs = [divmod(int(i), G) for i in order if wrong.flat[i]]
    rows = [
        row(chip(findings, f), chip(findings, g), counts[f, g], percent(counts[f, g] / counts[f].sum()))
        for f, g in pairs
    ]
    heads = [("Class", ""), ("Taken for", ""), ("Samples", "number"), ("Of the class", "number")]
    drawn = picture(
        "confusion-plot",
        "Confusion matrix; a table of the most frequent confusions follows.",
        "Rows are the true classes, columns the predicted ones in the same order; what is right is blue.",
    )
    most = table("The most frequent confusions", heads, rows)
    both = f'<div class="confused">{drawn}<div class="small">{most}</div></div>'
    return section("confusion", "Confusion matrix", about, both, link="Confusion")


def _confusion_table(findings: Findings, counts: np.ndarray) -> str:
    G = len(counts)
    heads = "".join(f'<th scope="col">{chip(findings, g)}</th>' for g in range(G))
    rows = []
    for f in range(G):
        cells = []
        for g in range(G):
            share = counts[f, g] / max(counts[f].sum(), 1)
            level = 0 if counts[f, g] == 0 else 1 if share < 0.1 else 2 if share < 0.4 else 3
            kind = f' class="{"good" if f == g else "heat"}{level}"' if level else ""
            cells.append(f'<td{kind}>{counts[f, g]}<span class="share">{percent(share)}</span></td>')
        rows.append(f'<tr><th scope="row">{chip(findings, f)}</th>{"".join(cells)}</tr>')
    return (
        f'<table class="confusion{" few" if G <= _FEW_CLASSES else ""}">'
        '<caption class="hidden">True classes (rows) by predicted classes (columns)</caption>'
        f'<thead><tr><td class="corner"></td><th colspan="{G}">predicted</th></tr>'
        f'<tr><th class="corner">true</th>{heads}</tr></thead><tbody>{"".join(rows)}</tbody></table>'
    )


def _mistakes(findings: Findings, outcome: Outcome) -> Section:
    """The misclassified samples; the scripts fill the list."""
    n, total, listed = len(findings.labels), outcome.n_mistakes, len(outcome.mistakes)
    title = "Misclassified samples"
    if not total:
        return section("mistakes", title, f"<p>None of the {n:,} samples.</p>", link="Mistakes")
    sure = outcome.posteriors is not None
    if listed < total:
        which = f"The {listed:,} {'most confident mistakes' if sure else 'first'} are listed."
    else:
        which = "The most confident mistakes come first." if sure else ""
    if outcome.weights is None:
        weights = "with equal weights, as the model is no vote of neighbours"
    else:
        weights = f"with the weights of their votes ({outcome.weights})"
    return section(
        "mistakes",
        title,
        lead(
            f"{total:,} of {n:,} samples.",
            which,
            f"Each opens to its {'posteriors and its ' if sure else ''}nearest others, {text(weights)}.",
            "Neighbours are found among all other samples, predictions came from the training parts of the folds: the"
            " two need not agree.",
        ),
        '<div class="filter"><label for="mistakes-filter">Filter</label>'
        '<input id="mistakes-filter" type="search" placeholder="sample or class">'
        '<span class="note" role="status" id="mistakes-count"></span></div>',
        '<ul class="mistakes" id="mistake-list"></ul>',
        '<button type="button" id="mistakes-more" hidden>Show more</button>',
        link="Mistakes",
    )


def _code(outcome: Outcome) -> Section:
    """The lines that make the model again."""
    lines = text("\n".join(outcome.code))
    return section(
        "code",
        "The model in code",
        f'<pre tabindex="0" aria-label="Python code"><code id="code-lines">{lines}</code></pre>',
        '<p class="controls"><button type="button" id="copy">Copy</button></p>',
        link="Code",
    )
