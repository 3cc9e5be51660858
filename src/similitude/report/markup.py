"""The pieces that the sections of the page consist of. All data passes through :func:`text`."""

from __future__ import annotations

import re
from html import escape
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from similitude.diagnosis.card import number, printable

if TYPE_CHECKING:
    from similitude.report.findings import Findings

WIDTH = 60
"""The longest name that is shown in full."""

WHOLE = 14
"""The longest word of a name that is not broken, except on the narrowest screens."""


class Section(NamedTuple):
    """A part of the page, the text of the link to it, and the data that its script draws, as JSON can hold it."""

    anchor: str
    link: str
    html: str
    data: Any = None


def text(value: Any) -> str:
    """Return the value as HTML that shows its text literally."""
    return escape(str(value), quote=True)


def name(value: Any, width: int = WIDTH) -> str:
    """Return a label or the name of a sample on one line, shortened and escaped."""
    return text(printable(value, width))


def sample(value: Any) -> str:
    """Return the name of a sample, whose short words are not broken; long ones are, so that the page is not widened."""
    longest = max(map(len, printable(value, WIDTH).split()), default=0)
    return f'<span class="whole">{name(value)}</span>' if longest <= WHOLE else name(value)


def figure(value: float | None) -> str:
    """Return a number as text, with a minus sign instead of a hyphen."""
    return with_minus(number(value))


def rounded(values: Any, digits: int = 5) -> list[float]:
    """Return numbers with few digits, for the scripts."""
    return [float(f"{value:.{digits}g}") for value in np.asarray(values, dtype=float).tolist()]


def with_minus(words: str) -> str:
    """Return the text with minus signs instead of hyphens before numbers."""
    return re.sub(r"(?<!\w)-(?=\d)", "\N{MINUS SIGN}", words)


def p_text(value: float | None) -> str:
    """Return a p-value as text; None as an empty one."""
    return "" if value is None else "<0.001" if value < 0.001 else f"{value:.3f}"


def section(anchor: str, title: str, *content: str, link: str | None = None, data: Any = None) -> Section:
    """Return a section with a heading."""
    inner = "\n".join(part for part in content if part)
    heading = f'<h2 id="{anchor}-title">{text(title)}</h2>'
    html = f'<section id="{anchor}" aria-labelledby="{anchor}-title">\n{heading}\n{inner}\n</section>'
    return Section(anchor, link or title, html, data)


def lead(*sentences: str) -> str:
    """Return the paragraph below a heading; the sentences are HTML."""
    return f'<p class="lead">{" ".join(sentence for sentence in sentences if sentence)}</p>'


def picture(identifier: str, label: str, *caption: str) -> str:
    """Return the place of a picture that the scripts draw, with its label and a caption of several sentences."""
    plot = f'<div class="plot" id="{identifier}" data-label="{text(label)}"></div>'
    words = text(" ".join(sentence for sentence in caption if sentence))
    return f"<figure>{plot}<figcaption>{words}</figcaption></figure>"


def table(
    caption: str,
    heads: list[tuple[str, str]],
    rows: list[str],
    identifier: str = "",
    sorted_by: str = "",
    order: str = "ascending",
) -> str:
    """Return a table with column heads (text, class); with ``sorted_by`` they are buttons that sort it."""
    cells = []
    for head, kind in heads:
        inner = f'<button type="button">{text(head)}</button>' if sorted_by else text(head)
        now = f' aria-sort="{order}"' if sorted_by and head == sorted_by else ""
        cells.append(f'<th scope="col" class="{kind}"{now}>{inner}</th>')
    own = f' id="{identifier}"' if identifier else ""
    named = f"<caption>{text(caption)}</caption>" if caption else ""
    head = f"<thead><tr>{''.join(cells)}</tr></thead>"
    return f"<table{own}>{named}{head}<tbody>{''.join(rows)}</tbody></table>"


def numbers(*heads: str) -> list[tuple[str, str]]:
    """Return the heads of columns of numbers."""
    return [(head, "number") for head in heads]


def row(head: str, *cells: Any) -> str:
    """Return a row of a table: its heading, as HTML, and its cells, which are numbers or :class:`Html`."""
    made = [f'<th scope="row">{head}</th>']
    for cell in cells:
        kind = "" if isinstance(cell, Html) else ' class="number"'
        made.append(f"<td{kind}>{cell if isinstance(cell, Html) else text(cell)}</td>")
    return f"<tr>{''.join(made)}</tr>"


class Html(str):
    """Text that is already HTML."""


def whisker(value: float, low: float, high: float, line: float, ends: tuple[float, float]) -> Html:
    """Return a picture of a value with its interval on a scale between two ends, with a line across."""

    def at(place: float) -> str:
        return f"{100 * (place - ends[0]) / (ends[1] - ends[0]) if ends[1] > ends[0] else 50:.2f}%"

    return Html(
        f'<svg class="whisker" aria-hidden="true"><line class="best" x1="{at(line)}" x2="{at(line)}" y1="0" y2="14"/>'
        f'<line x1="{at(low)}" x2="{at(high)}" y1="7" y2="7"/><circle cx="{at(value)}" cy="7" r="4"/></svg>'
    )


def chip(findings: Findings, label: int) -> Html:
    """Return a class with its colour."""
    look = f"c{label % 10} s{label // 10 % 5}"  # five shapes of ten colours
    return Html(f'<span class="chip {look}"><span class="dot"></span>{sample(findings.classes[label])}</span>')
