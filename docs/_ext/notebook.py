"""The five-minute start as a notebook, made from the page whenever the site is built, with a link on the page."""

import json
import re
from pathlib import Path

PAGE = "start"
_CODE = re.compile(r"^```python\n(.*?)^```\n", re.DOTALL | re.MULTILINE)
_LINK = re.compile(r"(?<!!)\[([^\]]+)\]\((?!\w+:)[^)]+\)")


def cells(text: str) -> list[dict]:
    """The cells of the notebook: text between the examples, and the code of the examples without what they print."""
    parts = _CODE.split(text)
    found = []
    for i, part in enumerate(parts):
        source = _code(part) if i % 2 else _LINK.sub(r"\1", part).strip()
        if source:
            found.append(_cell("code" if i % 2 else "markdown", source, len(found)))
    return found


def _code(example: str) -> str:
    return "\n".join(line[4:] for line in example.split("\n") if line.startswith((">>> ", "... ")))


def _cell(kind: str, source: str, number: int) -> dict:
    cell = {"cell_type": kind, "id": f"cell-{number}", "metadata": {}, "source": source.splitlines(keepends=True)}
    return {**cell, "execution_count": None, "outputs": []} if kind == "code" else cell


def notebook(text: str) -> str:
    """The page as the text of an .ipynb file."""
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    made = {"cells": cells(text), "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(made, indent=1, ensure_ascii=False)


def _source_read(app, docname, source):
    if docname == PAGE:
        folder = Path(app.srcdir) / "generated"
        folder.mkdir(exist_ok=True)
        (folder / f"{PAGE}.ipynb").write_text(notebook(source[0]), encoding="utf-8")
        source[0] += f"\n\nThis page is also {{download}}`a notebook <generated/{PAGE}.ipynb>`.\n"


def setup(app):
    """Called by Sphinx."""
    app.connect("source-read", _source_read)
    return {"parallel_read_safe": True}
