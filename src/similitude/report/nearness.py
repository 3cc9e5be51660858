"""The section about the error as a function of the similarity to the nearest training sample."""

from __future__ import annotations

from similitude.report.markup import Html, Section, figure, lead, row, section, table, text
from similitude.splits.nearness import ErrorBin, ErrorBySimilarity


def nearness_section(found: ErrorBySimilarity) -> Section:
    """Return the errors in bins of the similarity to the nearest training sample, the most similar bin first."""
    kind = "dissimilarity" if found.dissimilarity else "similarity"
    every = [*found.bins, *([found.unknown] if found.unknown is not None else [])]
    high = max(part.high for part in every)
    rows = [row(_range(part), part.count, _error(part), _whisker(part, found.error, high)) for part in every]
    what = (
        "Samples that are much more similar to a training sample than new ones will be make the error look too small."
    )
    return section(
        "nearness",
        "Error by nearest training sample",
        lead(f"{text(found.summary().capitalize())}."),
        lead(text(what), "Folds of <code>SimilarityGroupKFold</code> keep such samples on one side."),
        table(
            f"Errors with {found.confidence:.0%} intervals, drawn on a common scale with a line at the error of all "
            "samples.",
            [(f"Nearest {kind}", ""), ("Samples", "number"), ("Error %", "number"), ("", "error")],
            rows,
            identifier="nearness-table",
        ),
        link="Nearness",
    )


def _range(part: ErrorBin) -> str:
    if part.nearest != part.nearest:
        return "none is known"
    return f"{figure(part.nearest)} to {figure(part.farthest)}"


def _error(part: ErrorBin) -> str:
    return f"{100 * part.error:.1f} ({100 * part.low:.1f} to {100 * part.high:.1f})"


def _whisker(part: ErrorBin, error: float, high: float) -> Html:
    def at(value: float) -> str:
        return f"{100 * value / high if high else 0:.2f}%"

    return Html(
        f'<svg class="whisker" aria-hidden="true"><line class="best" x1="{at(error)}" x2="{at(error)}" y1="0" y2="14"/>'
        f'<line x1="{at(part.low)}" x2="{at(part.high)}" y1="7" y2="7"/>'
        f'<circle cx="{at(part.error)}" cy="7" r="4"/></svg>'
    )
