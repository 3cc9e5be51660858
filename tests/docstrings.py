"""Check the docstrings: ``python -m tests.docstrings``.

Public is what ``docs/api.md`` lists. Those docstrings are complete and refer to public names; all others are short.
"""

import ast
import importlib
import inspect
import pydoc
import re
import sys
from pathlib import Path

import similitude

REFERENCE = Path(__file__).parents[1] / "docs" / "api.md"
SECTIONS = r"^(Parameters|Returns|See Also)\n-+$"

CHECKS = {
    "GL08": "has no docstring",
    "SS03": "its summary does not end with a period",
    "PR01": "leaves parameters undocumented",
    "PR02": "documents unknown parameters",
    "PR03": "documents parameters in another order",
    "RT01": "does not say what it returns",
}


def _inherits_docstring(method):
    """Return whether a method overrides one that is documented, and does what is said there."""
    return method.__doc__ is None and inspect.getdoc(method) is not None


def documented():
    """Return the names that the reference lists, each with its module: those below each ``currentmodule``."""
    module, found = "similitude", set()
    for line in REFERENCE.read_text(encoding="utf-8").split("\n"):
        if line.startswith(".. currentmodule:: "):
            module = line.split()[-1]
        elif re.fullmatch(r" {3}\w+", line):
            found.add((module, line.strip()))
    return found


def public_objects():
    """Return the public classes and functions, each with the module in which the reference lists it."""
    found = {}
    for module, name in sorted(documented()):
        value = getattr(importlib.import_module(module), name)
        if inspect.isfunction(value) or inspect.isclass(value):
            found.setdefault(value, module)
    return found


def public_names():
    """Return the dotted names that users may call: those of the package, of its rooms, and their methods."""
    names = []
    for found in public_objects():
        # A protocol has no constructor of its own, only methods.
        if not getattr(found, "_is_protocol", False):
            names.append(f"{found.__module__}.{found.__qualname__}")
        if inspect.isclass(found):
            methods = inspect.getmembers(found, lambda value: inspect.isfunction(value) or inspect.ismethod(value))
            names += [
                f"{method.__module__}.{method.__qualname__}"
                for label, given in methods
                for method in [inspect.unwrap(given) if label == "fit" else given]  # classes have a copy of their own
                if not label.startswith("_")
                and method.__module__.startswith("similitude.")
                and not _inherits_docstring(method)
            ]
    return sorted(set(names))


def references():
    """Return one line for each reference of a public class or function to one without a page."""
    from numpydoc.docscrape import NumpyDocString  # which is installed for lint only

    pages = {f"{module}.{name}" for module, name in documented()}
    lines = []
    for found, module in public_objects().items():
        entries = NumpyDocString(inspect.getdoc(found))["See Also"]
        for target in (target for names, _ in entries for target, _ in names):
            full = target if target.startswith(("similitude.", "sklearn.")) else f"{module}.{target}"
            parts = {full, full.rpartition(".")[0]}  # itself, or the class of the method
            if not pydoc.locate(full) or not (parts & pages or full.startswith("sklearn.")):
                lines.append(f"{module}.{found.__name__} refers to {target}, which the reference does not have there")
    return lines


def inner_sections():
    """Return one line for each class, function or method that is not public and has sections in its docstring."""
    public, lines = set(public_names()), []
    for path in sorted(Path(similitude.__file__).parent.rglob("*.py")):
        place = path.relative_to(Path(similitude.__file__).parents[1]).with_suffix("").parts
        module = ".".join(place[:-1] if place[-1] == "__init__" else place)
        for name, node in _definitions(ast.parse(path.read_text(encoding="utf-8"))):
            text = ast.get_docstring(node) or ""
            if f"{module}.{name}" not in public and re.search(SECTIONS, text, re.MULTILINE):
                lines.append(f"{module}.{name} is not public; its docstring needs no sections")
    return lines


def _definitions(node, prefix=""):
    """Yield the name and the node of each class and function."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, (ast.FunctionDef, ast.ClassDef)):
            name = f"{prefix}{child.name}"
            yield name, child
            yield from _definitions(child, f"{name}." if isinstance(child, ast.ClassDef) else f"{name}.<locals>.")


def faults():
    """Return one line for each fault."""
    from numpydoc.validate import validate

    lines = []
    for name in public_names():
        found = {code for code, _ in validate(name)["errors"]} & set(CHECKS)
        lines += [f"{name} {CHECKS[code]} ({code})" for code in sorted(found)]
    return lines + references() + inner_sections()


if __name__ == "__main__":
    found = faults()
    print("\n".join(found) or f"{len(public_names())} docstrings are complete")
    sys.exit(bool(found))
