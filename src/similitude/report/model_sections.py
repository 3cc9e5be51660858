"""The sections about the chosen model."""

from __future__ import annotations

import numpy as np

from similitude.diagnosis.card import percent
from similitude.report.findings import Findings, Outcome
from similitude.report.markup import Section, chip, lead, picture, row, section, table, text
from similitude.search.auto import Standing
from similitude.search.parameters import parameters_text

LARGE_CONFUSION = 8
"""The most classes for which the confusion matrix is a table."""

SIGNIFICANT = 0.05
_FEW_CLASSES = 2
_CONFUSIONS_SHOWN = 15


def model_sections(findings: Findings, outcome: Outcome) -> list[Section]:
    """Return the leaderboard, the confusion matrix, the misclassified samples and the code."""
    found = [_leaderboard(outcome)]
    if outcome.predicted is not None:
        found += [_confusion(findings, outcome), _mistakes(findings, outcome)]
    return [*found, _code(outcome)]


def percents(share: float) -> str:
    """Return an error in percent, with two decimals."""
    return f"{100 * share:.2f}%"


def _leaderboard(outcome: Outcome) -> Section:
    """Return the table of methods, the one with the smallest error first."""
    standings = outcome.leaderboard
    low = min(standing.error - standing.standard_error for standing in standings)
    high = max(standing.error + standing.standard_error for standing in standings)
    room = 0.04 * (high - low)
    rows = [_standing(standing, low - room, high + room, standings[0].error) for standing in standings]
    optimistic = "The errors include the effect of choosing parameters, but not that of choosing the method"
    if outcome.nested_error is not None:
        optimistic += f"; with both choices made in each training part, the error is {percents(outcome.nested_error)}"
    left_out = f"There was no time for {text(', '.join(outcome.left_out))}." if outcome.left_out else ""
    return section(
        "methods",
        "Leaderboard",
        lead(
            "p is the p-value of a one-sided Wilcoxon test, over the folds, that a method is worse than the best.",
            f"Methods in colour are not significantly worse (p ≥ {SIGNIFICANT}); with k folds, p cannot be below"
            " 2<sup>−k</sup>.",
            "The chosen method is the simplest one whose error exceeds the smallest by at most one standard error.",
            f"{optimistic}.",
            left_out,
        ),
        table(
            "Errors with standard errors, drawn on a common scale with a line at the smallest. The column heads sort.",
            [("Method", ""), ("Error %", "error"), ("p", "number"), ("Seconds", "number")],
            rows,
            identifier="leaderboard",
            sorted_by="Error %",
        ),
    )


def _standing(standing: Standing, low: float, high: float, best: float) -> str:
    """Return a row of the leaderboard; the scripts sort by ``data-value``."""

    def at(value: float) -> str:
        return f"{100 * (value - low) / (high - low) if high > low else 50:.2f}%"

    error, spread, p = standing.error, standing.standard_error, standing.p_value
    whisker = (
        f'<svg class="whisker" aria-hidden="true"><line class="best" x1="{at(best)}" x2="{at(best)}" y1="0" y2="14"/>'
        f'<line x1="{at(error - spread)}" x2="{at(error + spread)}" y1="7" y2="7"/>'
        f'<circle cx="{at(error)}" cy="7" r="4"/></svg>'
    )
    kinds = ["close"] * (p is None or p >= SIGNIFICANT) + ["chosen"] * standing.chosen
    badge = '<span class="badge">chosen</span>' if standing.chosen else ""
    shown_p = "best" if p is None else "<0.001" if p < 0.001 else f"{p:.3f}"
    return (
        f'<tr class="{" ".join(kinds)}"><th scope="row" data-value="{text(standing.method)}">'
        f'<span class="name">{text(standing.method)}</span>{badge}'
        f'<span class="parameters">{text(parameters_text(standing.parameters))}</span></th>'
        f'<td class="error" data-value="{float(error)!r}">{100 * error:.2f} ± {100 * spread:.2f}{whisker}</td>'
        f'<td class="number" data-value="{"" if p is None else repr(float(p))}">{text(shown_p)}</td>'
        f'<td class="number" data-value="{float(standing.seconds)!r}">{standing.seconds:.1f}</td></tr>'
    )


def _confusion(findings: Findings, outcome: Outcome) -> Section:
    """Return the confusion matrix as a table, or for many classes as a picture with the most frequent confusions."""
    G = len(findings.classes)
    counts = outcome.confusion(findings.labels, G)
    about = lead(
        f"The predictions of {text(outcome.method)} are out-of-fold:",
        "each comes from a model that was not trained on the sample.",
    )
    if G <= LARGE_CONFUSION:
        return section("confusion", "Confusion matrix", about, _confusion_table(findings, counts), link="Confusion")
    wrong = counts * (1 - np.eye(G, dtype=int))
    order = np.argsort(-wrong, axis=None, kind="stable")[:_CONFUSIONS_SHOWN]
    pairs = [divmod(int(i), G) for i in order if wrong.flat[i]]
    rows = [
        row(chip(findings, f), chip(findings, g), counts[f, g], percent(counts[f, g] / counts[f].sum()))
        for f, g in pairs
    ]
    heads = [("Class", ""), ("Predicted as", ""), ("Samples", "number"), ("Of the class", "number")]
    drawn = picture(
        "confusion-plot",
        "Confusion matrix; a table of the most frequent confusions follows.",
        "Rows are the true classes, columns the predicted ones in the same order; correct predictions are blue.",
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
    """Return the misclassified samples; the scripts fill the list."""
    n, total, listed = len(findings.labels), outcome.n_mistakes, len(outcome.mistakes)
    title = "Misclassified samples"
    if not total:
        return section("mistakes", title, f"<p>None of the {n:,} samples is misclassified.</p>", link="Mistakes")
    sure = outcome.posteriors is not None
    if listed < total:
        which = f"The list holds the {listed:,} {'most confident mistakes' if sure else 'first ones'}."
    else:
        which = "The most confident mistakes come first." if sure else ""
    if outcome.weights is None:
        weights = "with equal weights, because the model is not a vote of neighbours"
    else:
        weights = f"with the weights of their votes ({outcome.weights})"
    return section(
        "mistakes",
        title,
        lead(
            f"{total:,} of the {n:,} samples are misclassified.",
            which,
            f"Open one to see its {'posteriors and its ' if sure else ''}nearest neighbours, {text(weights)}.",
            "The neighbours are found among all other samples, while the predictions come from the training parts of"
            " the folds, so that the two need not agree.",
        ),
        '<div class="filter"><label for="mistakes-filter">Filter</label>'
        '<input id="mistakes-filter" type="search" placeholder="sample or class">'
        '<span class="note" role="status" id="mistakes-count"></span></div>',
        '<ul class="mistakes" id="mistake-list"></ul>',
        '<button type="button" id="mistakes-more" hidden>Show more</button>',
        link="Mistakes",
    )


def _code(outcome: Outcome) -> Section:
    """Return the lines of Python that build and fit the model again."""
    lines = text("\n".join(outcome.code))
    return section(
        "code",
        "The model in code",
        f'<pre tabindex="0" aria-label="Python code"><code id="code-lines">{lines}</code></pre>',
        '<p class="controls"><button type="button" id="copy">Copy</button></p>',
        link="Code",
    )
