"""The sections about the chosen model."""

from __future__ import annotations

import numpy as np

from similitude.auto.leaderboard import COMBINATION, LeaderboardRow, names_text
from similitude.diagnosis.card import percent
from similitude.evaluation.parameters import parameters_text
from similitude.report.curves import curves_section, find_curves
from similitude.report.findings import Findings
from similitude.report.markup import (
    Section,
    chip,
    figure,
    lead,
    name,
    numbers,
    p_text,
    picture,
    row,
    section,
    table,
    text,
    whisker,
)
from similitude.report.outcome import Outcome
from similitude.report.risk import risk_section
from similitude.report.sets import sets_section
from similitude.splits.nearness import ErrorBySimilarity

LARGE_CONFUSION = 8
"""The most classes for which the confusion matrix is a table."""

SIGNIFICANT = 0.05
_SCORE = "Score"
_FEW_CLASSES = 2
_CONFUSIONS_SHOWN = 15
_MOST_NAMED = 12
"""The largest number of classes that are named in a sentence."""


def model_sections(findings: Findings, outcome: Outcome) -> list[Section]:
    """Return the leaderboard, the confusion matrix, the misclassified samples, the sets of classes and the code."""
    found = [_leaderboard(outcome)]
    if outcome.predicted is not None:
        found.append(_confusion(findings, outcome))
        curves = find_curves(findings.labels, outcome)
        if curves is not None:
            found.append(curves_section(findings, curves))
        if outcome.nearness is not None:
            found.append(_nearness(outcome.nearness))
        found.append(_mistakes(findings, outcome))
    if outcome.risk is not None:
        found.append(risk_section(findings, outcome.risk))
    if outcome.sets is not None:
        found.append(sets_section(findings, outcome.sets))
    return [*found, _code(outcome)]


def percents(share: float) -> str:
    """Return an error in percent, with two decimals."""
    return f"{100 * share:.2f}%"


def members_text(outcome: Outcome, most: int) -> str:
    """Return the members of the combination with their weights, those of the largest weights first."""
    shown = ", ".join(f"{method} {weight:.2f}" for method, weight in outcome.members[:most])
    more = len(outcome.members) - most
    return f"{shown} and {more} more" if more > 0 else shown


def _rule(outcome: Outcome) -> str:
    """Return the sentences that tell why this model was chosen."""
    chosen = f"<strong>{text(outcome.method)}</strong>"
    if outcome.prefer == "simple":
        return (
            f"{chosen} was chosen: it is the simplest method whose error exceeds the smallest by no more than the"
            " standard error of the smallest."
        )
    if outcome.method == COMBINATION:
        return (
            f"The {chosen} was chosen: its posterior is the weighted mean of the calibrated posteriors of"
            f" {len(outcome.members)} methods, whose weights were chosen by the {text(outcome.score)} of their answers"
            " for left-out samples."
        )
    if any(row.method == COMBINATION for row in outcome.leaderboard):
        return (
            f"{chosen} was chosen: its {text(outcome.score)} for left-out samples is better than that of the"
            " combination by more than two standard errors of the difference."
        )
    if len(outcome.leaderboard) - len(outcome.compared_only) == 1:
        return f"{chosen} was chosen: it is the only method that could be chosen."
    return f"{chosen} was chosen: no combination of it with other methods had a better {text(outcome.score)}."


def _score_text(outcome: Outcome) -> str:
    """Return the sentence about the column of the score that was asked for."""
    if outcome.leaderboard[0].score is None:
        return ""
    return f"The methods are sorted by the {text(outcome.score)} that was asked for; larger values are better."


def _what_errors_include(outcome: Outcome) -> str:
    """Return the sentences about the choices that the errors include."""
    together = any(row.method == COMBINATION for row in outcome.leaderboard)
    of_members = ", and for the combination the choice of its members and weights" if together else ""
    other = "between the combination and the single methods" if together else "of the method"
    sentence = (
        f"The errors include the choice of parameters{of_members}: they were counted on samples that were not used for"
        f" these choices. They do not include the choice {other}"
    )
    if outcome.nested_error is not None:
        sentence += f"; with all choices made in each training part, the error is {percents(outcome.nested_error)}"
    return f"{sentence}."


def _not_tested(outcome: Outcome) -> str:
    """Return the sentence about classes that the errors do not cover."""
    names = outcome.not_testable
    if not names:
        return ""
    shown = ", ".join(name(label) for label in names[:_MOST_NAMED])
    more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
    return (
        "The errors do not cover classes that have too few samples to be tested, although the model can predict them:"
        f" {shown}{more}."
    )


def _leaderboard(outcome: Outcome) -> Section:
    """Return the table of methods, the best one first, and that of the methods that were stopped."""
    standings = outcome.leaderboard
    low = min(standing.error - standing.standard_error for standing in standings)
    high = max(standing.error + standing.standard_error for standing in standings)
    room = 0.04 * (high - low)
    rows = [_standing(outcome, standing, (low - room, high + room)) for standing in standings]
    budget = f"The search took {text(outcome.budget)}" if outcome.budget else ""
    scored = standings[0].score is not None
    compared = ""
    if outcome.compared_only:
        names = text(" and ".join(outcome.compared_only))
        compared = f"For comparison, the table also lists {names}, which cannot be chosen."
    standings_table = table(
        "Errors with standard errors, drawn on a common scale with a line at the smallest, and the weights of the"
        " methods in the combination. Click a column heading to sort the table.",
        [
            ("Method", ""),
            ("Error %", "error"),
            *([("Balanced %", "number balanced")] if _is_unequal(outcome) else ()),
            *([(_SCORE, "number score")] if scored else ()),
            *(numbers("With evidence %", "Without %") if _lacking(outcome) else ()),
            *numbers("Weight", "p", "Seconds"),
        ],
        rows,
        identifier="leaderboard",
        sorted_by=_SCORE if scored else "Error %",
        order="descending" if scored else "ascending",
    )
    return section(
        "methods",
        "Leaderboard",
        lead(_rule(outcome), _score_text(outcome), compared, budget, text(outcome.unlabelled)),
        lead(
            _what_errors_include(outcome),
            _balanced_text(outcome),
            _not_tested(outcome),
            _without_evidence(outcome),
            _not_applicable(outcome),
        ),
        lead(
            "p is the p-value of a one-sided Wilcoxon test, over the folds of the first repetition, that a method is"
            " worse than the first.",
            f"Methods in colour are not significantly worse (p ≥ {SIGNIFICANT}); with k such folds, p cannot be below"
            " 2<sup>−k</sup>.",
        ),
        f'<div class="scrolls" tabindex="0">{standings_table}</div>',
        _stopped(outcome),
    )


def _stopped(outcome: Outcome) -> str:
    """Return the table of the methods that were stopped after some folds."""
    if not outcome.stopped:
        return ""
    rows = [
        row(
            f'<span class="name">{text(standing.name)}</span>',
            standing.n_folds,
            f"{100 * standing.error:.1f}",
            f"{100 * (standing.error_of_others or 0):.1f}",
        )
        for standing in outcome.stopped
    ]
    caption = (
        "Methods that were stopped after some folds, because the combination would not gain from them: their errors on"
        " these folds, and those of the other methods, combined, on the same folds."
    )
    heads = [("Stopped", ""), *numbers("After folds", "Error %", "Others there %")]
    return f'<div class="small">{table(caption, heads, rows, identifier="stopped")}</div>'


def _is_unequal(outcome: Outcome) -> bool:
    """Return whether the classes are of so different sizes that the balanced error is shown."""
    return outcome.leaderboard[0].balanced_error is not None


def _balanced_text(outcome: Outcome) -> str:
    """Return what the balanced error is, if it is shown."""
    if not _is_unequal(outcome):
        return ""
    return (
        "The balanced error is the mean of the errors of the classes: where one class is much larger than another, a"
        " small error can hide that the small class is hardly ever recognised."
    )


def _lacking(outcome: Outcome) -> float:
    """Return the share of the tested samples that give no evidence."""
    return max(row.without_evidence for row in outcome.leaderboard)


def _without_evidence(outcome: Outcome) -> str:
    """Return how many samples give no evidence, and what the methods predict for them."""
    if not _lacking(outcome):
        return ""
    return (
        f"{100 * _lacking(outcome):.1f}% of the samples give no evidence, because their values to all training samples"
        " are equal. For these all methods have the same posterior, which was learned from other such samples."
    )


def _not_applicable(outcome: Outcome) -> str:
    """Return which methods could not be applied because pairs are unknown."""
    if not outcome.not_applicable:
        return ""
    names = text(names_text(outcome.not_applicable))
    return f"Some pairs are unknown; with a value for these (--fill) the following methods could be applied: {names}."


def _standing(outcome: Outcome, standing: LeaderboardRow, ends: tuple[float, float]) -> str:
    """Return a row of the leaderboard; the scripts sort by ``data-value``."""
    error, spread, p = standing.error, standing.standard_error, standing.p_value
    together = standing.method == COMBINATION
    kinds = ["close"] * (p is None or p >= SIGNIFICANT) + ["chosen"] * standing.chosen + ["combination"] * together
    badge = '<span class="badge">chosen</span>' if standing.chosen else ""
    if standing.method in outcome.compared_only:
        badge = '<span class="badge plain">compared only</span>'
    about = parameters_text(standing.parameters)
    if together:
        about = f"weighted mean of {sum(row.weight > 0 for row in outcome.leaderboard) - 1} methods"
    drawn = whisker(error, error - spread, error + spread, min(row.error for row in outcome.leaderboard), ends)
    errors = (standing.error_with_evidence, standing.error_without_evidence) if _lacking(outcome) else ()
    scored = (
        () if standing.score is None else ((standing.score, f"{standing.score:.4f}".replace("-", "\N{MINUS SIGN}")),)
    )
    balanced = standing.balanced_error
    cells = [
        *([(balanced, "" if balanced is None else f"{100 * balanced:.2f}")] if _is_unequal(outcome) else ()),
        *scored,
        *((own, "" if own is None else f"{100 * own:.2f}") for own in errors),
        (standing.weight or None, f"{standing.weight:.2f}" if standing.weight else ""),
        (p, text(p_text(p) or "best")),
        (standing.seconds, f"{standing.seconds:.1f}"),
    ]
    return (
        f'<tr class="{" ".join(kinds)}"><th scope="row" data-value="{text(standing.name)}">'
        f'<span class="name">{text(standing.name)}</span>{badge}'
        f'<span class="parameters">{text(about)}</span></th>'
        f'<td class="error" data-value="{float(error)!r}">{100 * error:.2f} ± {100 * spread:.2f}{drawn}</td>'
        + "".join(
            f'<td class="number" data-value="{"" if value is None else repr(float(value))}">{shown}</td>'
            for value, shown in cells
        )
        + "</tr>"
    )


def _confusion(findings: Findings, outcome: Outcome) -> Section:
    """Return the confusion matrix as a table, or for many classes as a picture with the most frequent confusions."""
    G = len(findings.classes)
    counts = outcome.confusion(findings.labels, G)
    about = lead(
        f"The predictions of {'the ' if outcome.method == COMBINATION else ''}{text(outcome.method)} are out-of-fold:",
        "each comes from a model that was neither trained nor chosen on the sample.",
        _untested(findings, outcome),
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
    heads = [("Class", ""), ("Predicted as", ""), *numbers("Samples", "Of the class")]
    drawn = picture(
        "confusion-plot",
        "Confusion matrix; a table of the most frequent confusions follows.",
        "Rows are the true classes, columns the predicted ones in the same order; correct predictions are blue.",
    )
    most = table("The most frequent confusions", heads, rows)
    both = f'<div class="confused">{drawn}<div class="small">{most}</div></div>'
    shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    cells = [[int(f), int(g), int(counts[f, g]), round(float(shares[f, g]), 4)] for f, g in np.argwhere(counts)]
    return section("confusion", "Confusion matrix", about, both, link="Confusion", data=cells)


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


def _nearness(found: ErrorBySimilarity) -> Section:
    """Return the errors in bins of the similarity to the nearest training sample, the most similar bin first."""
    kind = "dissimilarity" if found.dissimilarity else "similarity"
    every = [*found.bins, *([found.unknown] if found.unknown is not None else [])]
    high = max(part.high for part in every)
    rows = []
    for part in every:
        known = part.nearest == part.nearest
        span = f"{figure(part.nearest)} to {figure(part.farthest)}" if known else "none is known"
        error = f"{100 * part.error:.1f} ({100 * part.low:.1f} to {100 * part.high:.1f})"
        rows.append(row(span, part.count, error, whisker(part.error, part.low, part.high, found.error, (0, high))))
    return section(
        "nearness",
        "Error by nearest training sample",
        lead(f"{text(found.summary().capitalize())}."),
        lead(
            "Samples that are much more similar to a training sample than new ones will be make the error look too"
            " small.",
            "Folds of <code>SimilarityGroupKFold</code> keep such samples on one side.",
        ),
        table(
            f"Errors with {found.confidence:.0%} intervals, drawn on a common scale with a line at the error of all "
            "samples.",
            [(f"Nearest {kind}", ""), *numbers("Samples", "Error %"), ("", "error")],
            rows,
            identifier="nearness-table",
        ),
        link="Nearness",
    )


def _mistakes(findings: Findings, outcome: Outcome) -> Section:
    """Return the misclassified samples; the scripts fill the list."""
    n, total, listed = len(outcome.tested), outcome.n_mistakes, len(outcome.mistakes)
    title = "Misclassified samples"
    of_all = f"the {n:,} {'samples' if n == len(findings.labels) else 'tested samples'}"
    if not total:
        return section("mistakes", title, f"<p>None of {of_all} is misclassified.</p>", link="Mistakes")
    sure = outcome.posteriors is not None
    if listed < total:
        which = f"The list holds the {listed:,} {'most confident mistakes' if sure else 'first ones'}."
    else:
        which = "The most confident mistakes come first." if sure else ""
    parts = ["its posteriors"] * sure
    if outcome.member_posteriors is not None:
        parts.append("what each member of the combination predicted")
    parts.append("its nearest neighbours")
    weights = "" if outcome.weights is None else f", with the weights of their votes ({outcome.weights})"
    return section(
        "mistakes",
        title,
        lead(
            f"{total:,} of {of_all} are misclassified.",
            which,
            f"Open one to see {text(_listed(parts))}{text(weights)}.",
            "The neighbours are found among all other samples, while the predictions come from the training parts of"
            " the folds, so the two need not agree."
            if outcome.weights is not None
            else "",
            "The predictions of the members are made by fits without the sample. The weights are those of the final"
            " model, whereas the combined prediction used weights that were chosen without the sample, so the two can"
            " differ."
            if outcome.member_posteriors is not None
            else "",
        ),
        '<div class="filter"><label for="mistakes-filter">Filter</label>'
        '<input id="mistakes-filter" type="search" placeholder="sample or class">'
        '<span class="note" role="status" id="mistakes-count"></span></div>',
        '<ul class="mistakes" id="mistake-list"></ul>',
        '<button type="button" id="mistakes-more" hidden>Show more</button>',
        link="Mistakes",
    )


def _untested(findings: Findings, outcome: Outcome) -> str:
    """Return the sentence about samples that were not tested."""
    n = len(findings.labels) - len(outcome.tested)
    return f"{n:,} of the {len(findings.labels):,} samples were not tested and are left out." if n else ""


def _listed(parts: list[str]) -> str:
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"


def _code(outcome: Outcome) -> Section:
    """Return the lines of Python that build and fit the model again."""
    lines = text("\n".join(outcome.code))
    if len(outcome.members) > 1:
        about = (
            "The members are fitted on all samples and calibrated on new folds, so the posteriors differ slightly from"
            " those on this page."
        )
    else:
        about = "This code fits the chosen method without the calibration of the posteriors on this page."
    return section(
        "code",
        "The model in code",
        lead(about),
        f'<pre tabindex="0" aria-label="Python code"><code id="code-lines">{lines}</code></pre>',
        '<p class="controls"><button type="button" id="copy">Copy</button></p>',
        link="Code",
    )
