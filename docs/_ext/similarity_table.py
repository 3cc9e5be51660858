"""The table of similarities, written from the registry whenever the page is read, so that it cannot go stale."""

import re

from similitude.similarities import table

PAGE = "similarities"
_TABLE = re.compile(r"^\| name \| class \|.*?(?=\n\n)", re.DOTALL | re.MULTILINE)


def fresh(text: str) -> str:
    """The page with the table of today's registry in place of the one it holds."""
    found = _TABLE.search(text)
    if found is None:
        raise ValueError(f"docs/{PAGE}.md has no table that begins with | name | class |")
    return text[: found.start()] + table().rstrip("\n") + text[found.end() :]


def _source_read(app, docname, source):
    if docname == PAGE:
        source[0] = fresh(source[0])


def setup(app):
    """Called by Sphinx."""
    app.connect("source-read", _source_read)
    return {"parallel_read_safe": True}
