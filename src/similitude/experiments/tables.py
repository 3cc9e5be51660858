"""Tables as text, Markdown and LaTeX."""

from __future__ import annotations

import html
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
    """The text of one cell of a table, and its style."""

    text: str
    bold: bool = False
    italic: bool = False


class Table:
    """A table of text, which ``print`` shows as aligned text.

    The first column is aligned on the left, all others on the right.
    """

    def __init__(self, columns: Sequence[str], rows: Sequence[Sequence[Any]], caption: str = "", left: int = 1):
        self.columns = [str(column) for column in columns]
        self.rows = [[cell if isinstance(cell, Entry) else Entry(str(cell)) for cell in row] for row in rows]
        self.caption, self.left = caption, left
        if any(len(row) != len(self.columns) for row in self.rows):
            raise ValueError(f"rows: each row must have {len(self.columns)} entries, one for each column.")

    def __str__(self) -> str:
        """Return aligned text, with bold cells as ``*text*`` and italic ones as ``_text_``."""
        texts = [self.columns, *([_marked(entry, "*", "_") for entry in row] for row in self.rows)]
        widths = [max(len(row[j]) for row in texts) for j in range(len(self.columns))]
        lines = []
        for row in texts:
            cells = [text.ljust(w) if j < self.left else text.rjust(w) for j, (text, w) in enumerate(zip(row, widths))]
            lines.append("  ".join(cells).rstrip())
        return "\n".join([*lines, *([self.caption] if self.caption else [])])

    __repr__ = __str__

    def markdown(self) -> str:
        """Return a pipe table with the caption below it."""
        heads = ["---" if j < self.left else "---:" for j in range(len(self.columns))]
        rows = [
            [_plain_markdown(column) for column in self.columns],
            heads,
            *([_marked(e, "**", "*", _plain_markdown) for e in row] for row in self.rows),
        ]
        lines = [f"| {' | '.join(row)} |" for row in rows]
        return "\n".join([*lines, *(["", _plain_markdown(self.caption)] if self.caption else [])])

    def latex(self) -> str:
        """Return a ``tabular`` with rules of the package booktabs, within a ``table`` if there is a caption."""
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
