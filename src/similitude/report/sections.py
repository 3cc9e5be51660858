"""The sections about the matrix: text and tables, to which the scripts add the pictures."""

from __future__ import annotations

import re

import numpy as np

from similitude.diagnosis.card import PYTHON, figures, number, percent, plain_words
from similitude.diagnosis.card import advice as advice_of
from similitude.diagnosis.pictures import SampleMap
from similitude.evaluation.parameters import parameters_text
from similitude.numerics.eigen import negative_eigenfraction
from similitude.report.findings import Findings
from similitude.report.markup import (
    Html,
    Section,
    chip,
    figure,
    lead,
    numbers,
    picture,
    rounded,
    row,
    sample,
    section,
    table,
    text,
    with_minus,
)
from similitude.report.matrix import PackedMatrix
from similitude.report.model_sections import members_text, model_sections, percents
from similitude.report.similarities import similarities_section

MOST_CLASSES_APART = 8
"""The largest number of classes whose similarities are drawn; if there are more, these are the largest ones."""

MAP_NEIGHBORS = 5
"""The number of neighbours that the map shows of a sample."""

_CLASSES_SHOWN = 24
_HUBS_SHOWN = 8
_HUB_BARS = 40
_MEMBERS_SHOWN = 3


def sections(findings: Findings, packed: PackedMatrix) -> list[Section]:
    """Return all sections in the order of the page."""
    found = [*findings.extra]
    found += [] if findings.similarities is None else [similarities_section(findings.similarities)]
    found += [_diagnosis(findings), *([] if findings.map is None else [_map(findings, findings.map)])]
    found.append(_matrix(findings, packed))
    if findings.diagnosis.asymmetric_pairs:
        found.append(_asymmetry(findings))
    drawn = (_spectrum(findings), _goodness(findings), _separation(findings), _hubness(findings))
    pictures = [part for part in drawn if part is not None]
    for i in range(0, len(pictures), 2):
        pair = pictures[i : i + 2]
        found.append(pair[0]._replace(html='<div class="pair">' + "\n".join(part.html for part in pair) + "</div>"))
        found += [part._replace(html="") for part in pair[1:]]
    if findings.outcome is not None:
        found += model_sections(findings, findings.outcome)
    return found


def facts(findings: Findings) -> str:
    """Return the tiles at the top of the page, as HTML."""
    d, outcome = findings.diagnosis, findings.outcome
    kind = "positive semidefinite" if d.psd else f"NEF {number(d.negative_eigenfraction)}"
    found = [
        ("Samples", f"{d.n:,}", f"{len(findings.classes)} classes"),
        ("Kind", "kernel" if d.psd else "indefinite", f"{'symmetric' if d.symmetric else 'asymmetric'}, {kind}"),
    ]
    if d.leave_one_out_error is not None:
        found.append(("Nearest neighbour", percent(d.leave_one_out_error), "leave-one-out error"))
    if outcome is not None:
        best = next((row for row in outcome.leaderboard if row.chosen), outcome.leaderboard[0])
        single = len(outcome.members) == 1
        about = parameters_text(best.parameters) if single else members_text(outcome, _MEMBERS_SHOWN)
        found.append(("Chosen method" if single else "Chosen model", outcome.method, about))
        if outcome.nested_error is not None:
            found.append(("Error", percents(outcome.nested_error), "including the choice of the method"))
        else:
            balanced = "" if best.balanced_error is None else f", balanced {percents(best.balanced_error)}"
            found.append(("Error", percents(best.error), f"cross-validated{balanced}"))
    tiles = (
        f"<div><dt>{text(what)}</dt><dd>{text(value)}<small>{text(more)}</small></dd></div>"
        for what, value, more in found
    )
    return "".join(tiles)


def _diagnosis(findings: Findings) -> Section:
    """Return the card of the diagnosis, its advice first."""
    d = findings.diagnosis
    sentences = d.advice if findings.rendering == PYTHON else advice_of(d, findings.rendering)
    advice = "".join(f"<li>{_with_options(sentence)}</li>" for sentence in sentences)
    (kind, values), *others = figures(d, findings.rendering)
    blocks = []
    for head, pairs in (("Values", values), *others):
        rows = "".join(_figure_row(what, value) for what, value in pairs)
        blocks.append(f"<div><h3>{text(head)}</h3><dl>{rows}</dl></div>")
    return section(
        "diagnosis",
        "Diagnosis",
        lead(f"{text(kind)}."),
        f'<h3 class="hidden">Advice</h3><ul class="advice">{advice}</ul>',
        f'<div class="card">{"".join(blocks)}</div>',
    )


def _with_options(sentence: str) -> str:
    """Return a sentence as HTML in which options of the command line are not broken."""
    return re.sub(
        r"--[a-z]+(?:-[a-z]+)*(?: [a-z]+(?:-[a-z]+)+| k-nn)?", r'<span class="whole">\g<0></span>', text(sentence)
    )


def _figure_row(what: str, value: str) -> str:
    """Return a figure of the card and, if its name is technical, a sentence that says what it is."""
    words = plain_words(what)
    more = f'<p class="plain">{text(words[0].upper() + words[1:])}.</p>' if words else ""
    return f"<div><dt>{text(what)}</dt><dd>{text(with_minus(value))}</dd>{more}</div>"


def _map(findings: Findings, found: SampleMap) -> Section:
    """Return the samples as points in the plane."""
    m, n = len(findings.drawn), findings.diagnosis.n
    readout = (
        '<dl class="readout" id="map-readout"><div><dt>Sample</dt>'
        "<dd>Point at the map, or move from sample to sample with the arrow keys.</dd></div></dl>"
    )
    plot = (
        '<div class="plot" id="map-plot" tabindex="0" role="application" aria-roledescription="map" '
        f'data-label="Map of {m} samples, coloured by class"></div>'
    )
    caption = text(
        f"Samples that are alike lie close together, as far as a plane can show it: of the {found.neighbors.shape[1]}"
        f" nearest neighbours of a sample {percent(found.kept)} are also among its nearest points on the map, on"
        " average. Lines lead to the five nearest neighbours by similarity. The plane is that of classical scaling."
    )
    values = [rounded(own) for own in found.similarities[:, :MAP_NEIGHBORS]]
    return section(
        "map",
        "Map of the samples",
        lead(f"The map shows {m:,} of {n:,} samples, drawn at random.") if m < n else "",
        f'<div class="map"><figure>{plot}<figcaption>{caption}</figcaption></figure>',
        f"<div>{readout}{_legend(findings)}</div></div>",
        link="Map",
        data={
            "x": rounded(found.places[:, 0]),
            "y": rounded(found.places[:, 1]),
            "neighbors": found.neighbors[:, :MAP_NEIGHBORS].tolist(),
            "values": values,
        },
    )


def _asymmetry(findings: Findings) -> Section:
    """Return the pairs whose directions differ most, and which direction predicts better."""
    d = findings.diagnosis
    rows = [
        row(
            sample(findings.ids[pair.first]),
            Html(sample(findings.ids[pair.second])),
            figure(pair.forth),
            figure(pair.back),
        )
        for pair in d.asymmetric_pairs
    ]
    heads = [("First", ""), ("Second", ""), *numbers("First to second", "Second to first")]
    errors = d.direction_errors
    best = ""
    if errors is not None:
        names = {"rows": "the rows", "columns": "the columns", "mean": "the mean of both directions"}
        predicts = "predicts" if errors.best == "mean" else "predict"
        best = (
            f"The error of the nearest neighbour is {percent(errors.rows)} by rows, the similarity of a sample to the"
            f" others, {percent(errors.columns)} by columns, that of the others to it, and {percent(errors.mean)} by"
            f" the mean: <strong>{names[errors.best]}</strong> {predicts} best."
        )
    return section(
        "asymmetry",
        "Asymmetric pairs",
        lead("The value of a pair depends on which sample comes first.", best),
        f'<div class="small">{table("The pairs whose two directions differ most", heads, rows)}</div>',
        link="Asymmetry",
    )


def _matrix(findings: Findings, packed: PackedMatrix) -> Section:
    """Return the matrix ordered by class, with its controls."""
    d, m = findings.diagnosis, len(findings.drawn)
    low, high = map(figure, packed.colors)
    canvas = (
        '<canvas id="matrix-canvas" tabindex="0" role="application" aria-roledescription="matrix"'
        f' aria-label="Similarity matrix of {m} samples, ordered by class" aria-describedby="matrix-help">'
        f"Most similarities of the {m} samples lie between {low} and {high}.</canvas>"
    )
    buttons = "".join(
        f'<button type="button" id="zoom-{what}">{words}</button>'
        for what, words in (("in", "Zoom in"), ("out", "Zoom out"), ("all", "Whole matrix"))
    )
    controls = f'<div class="controls">{buttons}<span class="note" id="extent">all {m} samples</span></div>'
    readout = (
        '<dl class="readout" id="readout"><div><dt>Pair</dt>'
        "<dd>Point at the matrix, or move over it with the arrow keys.</dd></div></dl>"
        '<p class="hidden" role="status" id="spoken"></p>'
    )
    scale = (
        '<div class="scale" aria-hidden="true"></div>'
        f'<div class="ends"><span>{low} or less</span><span>{high} or more</span></div>'
    )
    help_ = (
        '<p class="note" id="matrix-help">The arrow keys move the cell (with Shift in larger steps), + and − zoom,'
        " 0 shows the whole matrix. Drag to move the view; use Ctrl and the wheel, or a double click, to zoom."
        f" Values are rounded to {2**packed.bits:,} levels: the error is at most {number(packed.rounding)}.</p>"
    )
    return section(
        "matrix",
        "Matrix",
        lead(
            "The samples are ordered by class, and within each class those most similar to their class come first.",
            f"The picture shows {m:,} of {d.n:,} samples, drawn at random." if m < d.n else "",
        ),
        f'<div class="matrix"><div>{canvas}{controls}</div>',
        f"<div>{readout}{scale}{_legend(findings)}{help_}</div></div>",
    )


def _legend(findings: Findings) -> str:
    counts = np.bincount(findings.labels, minlength=len(findings.classes))
    shown = _largest_classes(findings, _CLASSES_SHOWN)
    items = [f'<li>{chip(findings, i)} <span class="count">{counts[i]:,}</span></li>' for i in shown]
    if len(counts) > len(shown):
        items.append(f"<li>and {len(counts) - len(shown)} smaller classes</li>")
    return f'<ul class="classes" aria-label="Classes">{"".join(items)}</ul>'


def _largest_classes(findings: Findings, most: int) -> np.ndarray:
    """Return the largest classes in their order."""
    counts = np.bincount(findings.labels, minlength=len(findings.classes))
    return np.sort(np.argsort(-counts, kind="stable")[:most])


def _drawn_text(findings: Findings) -> str:
    """Return the sentence that a picture shows some of the samples, if it does."""
    m, n = len(findings.drawn), findings.diagnosis.n
    return f"It is computed from {m:,} of {n:,} samples, drawn at random." if m < n else ""


def _spectrum(findings: Findings) -> Section:
    """Return the eigenvalues before and after a modification."""
    d, values = findings.diagnosis, findings.spectra.before
    negative, zeros = int(np.sum(values < 0)), int(np.sum(values == 0))
    whole = len(findings.drawn) == d.n == d.n_sampled
    share = d.negative_eigenfraction if whole else negative_eigenfraction(values)
    choices = []
    for method in findings.spectra.after:
        checked = " checked" if method == findings.modification else ""
        choices.append(f'<label><input type="radio" name="modification" value="{method}"{checked}> {method}</label>')
    summary = (
        f"The {len(values):,} eigenvalues{'' if d.symmetric else ' of the symmetric part'} lie between"
        f" {figure(values[-1])} and {figure(values[0])} (negative: {negative:,}; zero: {zeros:,})."
    )
    # Zeros are not drawn: a matrix of low rank has so many that they would hide the others.
    kept = values != 0 if values.any() else values == 0
    after = {method: rounded(modified[kept]) for method, modified in findings.spectra.after.items()}
    return section(
        "spectrum",
        "Spectrum before and after",
        f"<fieldset><legend>After</legend>{''.join(choices)}</fieldset>",
        picture(
            "spectrum-plot",
            f"Eigenvalues by rank, before and after modification. {summary}",
            summary,
            _drawn_text(findings),
            f"The negative ones (orange) make up {percent(share)} of the sum of absolute values." if negative else "",
            "The line shows the spectrum after the modification: clip sets negative eigenvalues to zero, flip takes"
            " their absolute values, and shift adds the absolute value of the most negative one to all.",
        ),
        link="Spectrum",
        data={"before": rounded(values[kept]), "after": after, "zeros": int(np.sum(~kept))},
    )


def _goodness(findings: Findings) -> Section | None:
    """Return the goodness of the similarity."""
    found = findings.goodness
    if found is None:
        return None
    return section(
        "goodness",
        "Goodness",
        picture(
            "goodness-plot",
            "Share of samples whose margin is below gamma, against gamma.",
            _drawn_text(findings),
            "Goodness tells how well the similarity itself, without any method, tells the classes apart.",
            "The margin measures how often a sample is more similar to a random sample of its class than to one of"
            " another class: it is 1 if this is always so, and 0 if it is so half of the time. The lower the curve, the"
            " better the similarity.",
            f"A vote of many random pairs misclassifies {percent(found.vote_error)} of the samples (at γ = 0); the ring"
            f" marks the mean margin, {figure(found.pseudo_gamma)}.",
            f"With {found.confidence:.0%} confidence the band contains the curve of the distribution that the samples"
            " come from.",
        ),
        data={
            **{name: rounded(getattr(found, name)) for name in ("gammas", "epsilons", "low", "high")},
            "pseudo_gamma": found.pseudo_gamma,
        },
    )


def _separation(findings: Findings) -> Section:
    """Return the similarities within and between classes."""
    G, found = len(findings.classes), findings.separation
    means = findings.diagnosis.classes or ()
    rows = [row(chip(findings, i), f"{c.count:,}", figure(c.within), figure(c.between)) for i, c in enumerate(means)]
    drawn = [
        {
            "label": int(label),
            "within": found.within[label].tolist(),
            "between": found.between[label].tolist(),
            "means": [means[label].within, means[label].between],
        }
        for label in _largest_classes(findings, MOST_CLASSES_APART)
    ]
    heads = [("Class", ""), *numbers("Samples", "Within", "To others")]
    return section(
        "separation",
        "Class separation",
        picture(
            "separation-plot",
            "Histograms of the similarities within each class and to other classes; a table of the means follows.",
            _drawn_text(findings),
            "The further the filled part lies to the right of the outline, the easier it is to recognise the class by"
            " similarity alone. Values beyond the ends are counted in the last bars.",
            f"Only the {MOST_CLASSES_APART} largest of {G} classes are shown." if G > MOST_CLASSES_APART else "",
        ),
        f'<details class="small"><summary>Mean similarities as a table</summary>{table("", heads, rows)}</details>',
        link="Separation",
        data={"low": float(found.edges[0]), "high": float(found.edges[-1]), "rows": drawn},
    )


def _lists(count: float) -> str:
    """Return a number of lists, with a digit after the point if places are shared."""
    return f"{count:,.0f}" if count == round(count) else f"{count:,.1f}"


def _hubness(findings: Findings) -> Section | None:
    """Return how often samples are among the nearest neighbours of others."""
    found = findings.hubness
    if found is None:
        return None
    labels = findings.labels[findings.drawn]
    rows = [
        row(
            sample(findings.ids[findings.drawn[i]]),
            chip(findings, int(labels[i])),
            _lists(found.occurrences[i]),
            _lists(found.misleading[i]),
        )
        for i in np.argsort(-found.occurrences, kind="stable")[:_HUBS_SHOWN]
    ]
    heads = [("Sample", ""), ("Class", ""), *numbers("Lists", "Of other classes")]
    never = int(np.sum(found.occurrences == 0))
    misled = found.misleading.sum() / max(found.occurrences.sum(), 1)
    width = -(-(int(found.occurrences.max()) + 1) // _HUB_BARS)
    bars = np.bincount((found.occurrences // width).astype(np.intp)).tolist()
    return section(
        "hubness",
        "Hubness",
        picture(
            "hubness-plot",
            f"Histogram of how many lists of {found.n_neighbors} nearest neighbours a sample is in.",
            _drawn_text(findings),
            f"On average a sample is in {found.n_neighbors} lists; {never:,} of {len(labels):,} samples are in none."
            f" The skewness is {figure(findings.diagnosis.hubness)}.",
            f"{percent(misled)} of the neighbours belong to another class than the sample in whose list they are.",
            "Samples that are equally similar share the last places of a list."
            if (found.occurrences % 1).any()
            else "",
        ),
        f'<div class="small">{table("The most frequent neighbours", heads, rows)}</div>',
        data={"n_neighbors": found.n_neighbors, "width": width, "counts": bars},
    )
