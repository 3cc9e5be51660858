"""Docstrings as Sphinx wants them: fields of a Bunch as a list, links, and without what scikit-learn documents."""

import re

from docutils import nodes

_PAGE = re.compile(r"\bthe\s+page\s+on\s+(input|neighbour\s+search)\b")
_ENTRY = re.compile(r"([\w, *]+ : )(.+)")
_FIELD = re.compile(r"    (\w[\w, ]*) : (.+)")


def list_fields(app, what, name, obj, options, lines):
    """In a section Returns, write the indented ``field : type`` lines as items of a list."""
    if "Returns" not in lines:
        return
    start = lines.index("Returns") + 2
    end = next((i for i in range(start, len(lines)) if lines[i] and set(lines[i]) == {"-"}), len(lines) + 1) - 1
    if not any(_FIELD.fullmatch(line) for line in lines[start:end]):
        return
    written = []
    for line in lines[start:end]:
        field = _FIELD.fullmatch(line)
        if field:
            written += ["", f"    - **{field[1]}** : {field[2]}"]
        elif line.startswith("        "):
            written += ["", f"      {line.strip()}"] if written[-1].startswith("    - ") else [f"      {line.strip()}"]
        else:
            written.append(line)
    lines[start:end] = written


def escape_types(app, what, name, obj, options, lines):
    """In types such as ``(n_features_in_,)`` the last underscore is no link."""
    for i, line in enumerate(lines):
        entry = _ENTRY.fullmatch(line)
        if entry:
            lines[i] = entry[1] + re.sub(r"(?<=\w)_(?!\w)", r"\_", entry[2])


def link_pages(app, what, name, obj, options, lines):
    """Make a link of ``the page on input``."""
    text = _PAGE.sub(lambda found: f":doc:`{found[0]} </{'-'.join(found[1].split())}>`", "\n".join(lines))
    lines[:] = text.split("\n")


def link_sklearn(app, env, node, contnode):
    """Link names of scikit-learn to its site, without asking the network which names there are."""
    name = node.get("reftarget", "")
    if not name.startswith("sklearn."):
        return None
    page = f"https://scikit-learn.org/stable/modules/generated/{name}.html"
    return nodes.reference("", "", contnode, internal=False, refuri=page)


def skip_member(app, what, name, obj, skip, options):
    """Leave out what scikit-learn gives to every estimator: metadata routing and the like would fill each page."""
    given = getattr(obj, "fget", obj)
    foreign = (getattr(given, "__module__", None) or "").startswith("sklearn.")
    return True if foreign or (name.startswith("set_") and name.endswith("_request")) else None


def setup(app):
    """Called by Sphinx."""
    app.connect("autodoc-process-docstring", list_fields, priority=100)  # before numpydoc
    app.connect("autodoc-process-docstring", escape_types, priority=100)
    app.connect("autodoc-process-docstring", link_pages, priority=100)
    app.connect("missing-reference", link_sklearn)
    app.connect("autodoc-skip-member", skip_member)
    return {"parallel_read_safe": True}
