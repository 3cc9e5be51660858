"""Names in the pages are links: ``KNNClassifier`` and ``diagnose(S)`` to the reference, examples to the gallery."""

import importlib
import pkgutil
import re

from docutils import nodes
from sphinx import addnodes

import similitude

# A name, with or without arguments.
_NAME = re.compile(r"([A-Za-z_][\w.]*)(\(.*\))?", re.DOTALL)
# What stands before a name of scikit-learn's that the package has, too.
_FOREIGN = re.compile(r"scikit-learn's(\s+own)?\s+$")
_EXAMPLE = re.compile(r"(?:python )?examples/(plot_\w+)\.py")


def public_names() -> dict[str, str]:
    """Where each name leads: those of the package, classes of its rooms by their name, and all names in full."""
    rooms = [room.name for room in pkgutil.iter_modules(similitude.__path__) if room.ispkg and room.name[0] != "_"]
    found = {}
    for room in (importlib.import_module(f"similitude.{name}") for name in rooms):
        for name in getattr(room, "__all__", ()):
            full = f"similitude.{name}" if name in similitude.__all__ else f"{room.__name__}.{name}"
            found[f"{room.__name__}.{name}"] = full
            if name[0].isupper() and not name.isupper():
                found[name] = full
    return found | {name: f"similitude.{name}" for name in similitude.__all__}


def link_names(app, doctree):
    """Make a reference of each name in the text of a page; headings and what is a link already stay as they are."""
    if app.env.docname.startswith("generated/"):
        return
    for literal in list(doctree.findall(nodes.literal)):
        target = _target(literal)
        if target and not _is_linked(literal):
            link = addnodes.pending_xref("", refexplicit=True, refdoc=app.env.docname, **target)
            literal.replace_self(link)
            link += literal


def _target(literal):
    """Return the target of a name or of an example, or None."""
    text = literal.astext()
    if example := _EXAMPLE.fullmatch(text):
        return {"refdomain": "std", "reftype": "doc", "reftarget": f"/generated/gallery/{example[1]}"}
    name = _NAME.fullmatch(text)
    if name and name[1] in NAMES and not _FOREIGN.search(_text_before(literal)):
        return {"refdomain": "py", "reftype": "obj", "reftarget": NAMES[name[1]]}
    return None


def _is_linked(node):
    while node is not None and not isinstance(node, nodes.reference | nodes.title | addnodes.pending_xref):
        node = node.parent
    return node is not None


def _text_before(node):
    return "".join(sibling.astext() for sibling in node.parent[: node.parent.index(node)])


NAMES = public_names()


def setup(app):
    """Called by Sphinx."""
    app.connect("doctree-read", link_names)
    return {"parallel_read_safe": True}
