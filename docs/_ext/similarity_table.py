"""The table of similarities, written from the registry whenever the page is read, so that it cannot go stale."""

import re

from similitude.similarities import table

PAGE = "similarities"
_TABLE = re.compile(r"^\| name \| class \|.*?(?=\n\n)", re.DOTALL | re.MULTILINE)
_FLAGS = ("symmetric", "metric", "learns")


def fresh(text: str) -> str:
    """The page with the table of today's registry in place of the one it holds."""
    found = _TABLE.search(text)
    if found is None:
        raise ValueError(f"docs/{PAGE}.md has no table that begins with | name | class |")
    return text[: found.start()] + narrow(table()) + text[found.end() :]


def narrow(wide: str) -> str:
    """The table in six columns, which fit on a page: the class below the name, what is true of it in one cell."""
    heads, _, *rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in wide.splitlines()]
    lines = ["| name | on | what | values | by | reference |", "| --- " * 6 + "|"]
    for row in rows:
        cell = dict(zip(heads, row, strict=True))
        name = " <br> ".join(filter(None, (cell["name"], cell["class"])))
        kind, *how = cell["what"].split(", ", 1)
        what = "; ".join([", ".join([kind, *(flag for flag in _FLAGS if cell[flag])]), *how])
        lines.append(f"| {' | '.join((name, cell['on'], what, cell['values'], cell['by'], cell['reference']))} |")
    return "\n".join(lines)


def _source_read(app, docname, source):
    if docname == PAGE:
        source[0] = fresh(source[0])


def setup(app):
    """Called by Sphinx."""
    app.connect("source-read", _source_read)
    return {"parallel_read_safe": True}
