"""Tables as plain or rich text, Markdown, LaTeX, HTML and CSV."""

from __future__ import annotations

import csv
import html
import io
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

_LATEX = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    **{sign: f"\\{sign}" for sign in "&%$#_{}"},
    "<": r"\textless{}",
    ">": r"\textgreater{}",
}


@dataclass(frozen=True)
class Entry:
    """What stands at one place of a table."""

    text: str
    bold: bool = False
    italic: bool = False


class Table:
    """A table of text: the first column on the left, all others on the right.

    Parameters
    ----------
    columns : sequence of str
        Heads of the columns.
    rows : sequence of sequences of Entry or str
    caption : str, default=""
    left : int, default=1
        So many columns at the beginning are set on the left.

    Examples
    --------
    >>> from similitude.experiments.tables import Entry, Table
    >>> table = Table(["method", "error"], [["k-NN", Entry("5.80", bold=True)], ["SVM & co", "6.10"]])
    >>> print(table.markdown())
    | method | error |
    | --- | ---: |
    | k-NN | **5.80** |
    | SVM & co | 6.10 |
    """

    def __init__(self, columns: Sequence[str], rows: Sequence[Sequence[Any]], caption: str = "", left: int = 1):
        self.columns = [str(column) for column in columns]
        self.rows = [[cell if isinstance(cell, Entry) else Entry(str(cell)) for cell in row] for row in rows]
        self.caption, self.left = caption, left
        if any(len(row) != len(self.columns) for row in self.rows):
            raise ValueError(f"rows: each must have {len(self.columns)} entries, one for each column.")

    def __str__(self) -> str:
        """Aligned text; bold ``*so*`` and italic ``_so_`` where the table has any."""
        texts = [self.columns, *([_marked(entry, "*", "_") for entry in row] for row in self.rows)]
        widths = [max(len(row[j]) for row in texts) for j in range(len(self.columns))]
        lines = []
        for row in texts:
            cells = [text.ljust(w) if j < self.left else text.rjust(w) for j, (text, w) in enumerate(zip(row, widths))]
            lines.append("  ".join(cells).rstrip())
        return "\n".join([*lines, *([self.caption] if self.caption else [])])

    def _repr_html_(self) -> str:
        return self.html()

    def rich(self) -> Any:
        """A ``rich.table.Table``, to be printed on a ``rich.console.Console``."""
        from rich.table import Table as RichTable
        from rich.text import Text

        table = RichTable(caption=Text(self.caption), caption_justify="left")
        for j, column in enumerate(self.columns):
            table.add_column(Text(column), justify="left" if j < self.left else "right")
        for row in self.rows:
            styles = [" ".join(s for s, on in (("bold", e.bold), ("italic", e.italic)) if on) for e in row]
            table.add_row(*(Text(entry.text, style=style) for entry, style in zip(row, styles)))
        return table

    def markdown(self) -> str:
        """A pipe table, the caption below it."""
        heads = ["---" if j < self.left else "---:" for j in range(len(self.columns))]
        rows = [
            [_plain_markdown(column) for column in self.columns],
            heads,
            *([_marked(e, "**", "*", _plain_markdown) for e in row] for row in self.rows),
        ]
        lines = [f"| {' | '.join(row)} |" for row in rows]
        return "\n".join([*lines, *(["", _plain_markdown(self.caption)] if self.caption else [])])

    def latex(self) -> str:
        """A ``tabular`` with lines of the package booktabs, within a ``table`` where there is a caption."""
        layout = "".join("l" if j < self.left else "r" for j in range(len(self.columns)))
        lines = [
            rf"\begin{{tabular}}{{{layout}}}",
            r"\toprule",
            _latex_row(map(_plain_latex, self.columns)),
            r"\midrule",
        ]
        for row in self.rows:
            texts = []
            for entry in row:
                text = _plain_latex(entry.text)
                text = rf"\textit{{{text}}}" if entry.italic else text
                texts.append(rf"\textbf{{{text}}}" if entry.bold else text)
            lines.append(_latex_row(texts))
        lines += [r"\bottomrule", r"\end{tabular}"]
        if self.caption:
            lines = [r"\begin{table}", *lines, rf"\caption{{{_plain_latex(self.caption)}}}", r"\end{table}"]
        return "\n".join(lines)

    def html(self) -> str:
        """A ``table``, all text escaped."""
        lines = ["<table>"]
        if self.caption:
            lines.append(f"<caption>{html.escape(self.caption)}</caption>")
        heads = "".join(f'<th scope="col">{html.escape(column)}</th>' for column in self.columns)
        lines += [f"<thead><tr>{heads}</tr></thead>", "<tbody>"]
        for row in self.rows:
            cells = []
            for j, entry in enumerate(row):
                text = html.escape(entry.text)
                text = f"<em>{text}</em>" if entry.italic else text
                text = f"<strong>{text}</strong>" if entry.bold else text
                cells.append(f"<td>{text}</td>" if j < self.left else f'<td style="text-align: right">{text}</td>')
            lines.append(f"<tr>{''.join(cells)}</tr>")
        return "\n".join([*lines, "</tbody>", "</table>"])

    def csv(self) -> str:
        """Text between commas; what is bold or italic is lost."""
        file = io.StringIO()
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(self.columns)
        writer.writerows([entry.text for entry in row] for row in self.rows)
        return file.getvalue()


def _marked(entry: Entry, bold: str, italic: str, plain: Any = str) -> str:
    text = plain(entry.text)
    if not entry.text:
        return text
    text = f"{italic}{text}{italic}" if entry.italic else text
    return f"{bold}{text}{bold}" if entry.bold else text


def _plain_markdown(text: str) -> str:
    text = html.escape(" ".join(text.split()), quote=False).replace("&amp;", "&")
    for sign in "\\`*_|[]":
        text = text.replace(sign, f"\\{sign}")
    return text


def _plain_latex(text: str) -> str:
    return "".join(_LATEX.get(sign, sign) for sign in text)


def _latex_row(texts: Any) -> str:
    return " & ".join(texts) + r" \\"
