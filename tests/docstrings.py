"""Check that the docstrings of public names are complete, and what they refer to: ``python -m tests.docstrings``."""

import importlib
import inspect
import pkgutil
import pydoc
import sys

from numpydoc.docscrape import NumpyDocString
from numpydoc.validate import validate

import similitude

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


def rooms():
    """Return the modules whose names are public: the package and its rooms."""
    found = [room.name for room in pkgutil.walk_packages(similitude.__path__, "similitude.") if room.ispkg]
    public = [room for room in found if "._" not in room and not room.startswith("similitude.cli")]
    return [importlib.import_module(room) for room in ["similitude", *public]]


def public_objects():
    """Return the public classes and functions, each with the module in which the reference lists it."""
    found = {}
    for module in rooms():
        for name in getattr(module, "__all__", ()):
            value = getattr(module, name)
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
            methods = inspect.getmembers(found, inspect.isfunction)
            names += [
                f"{method.__module__}.{method.__qualname__}"
                for label, method in methods
                if not label.startswith("_")
                and method.__module__.startswith("similitude.")
                and not _inherits_docstring(method)
            ]
    return sorted(set(names))


def references():
    """Return one line for each class or function that refers to no other one, or to one without a page."""
    pages = {f"{module.__name__}.{name}" for module in rooms() for name in getattr(module, "__all__", ())}
    pages -= {f"{module.__name__}.{name}" for module in rooms()[1:] for name in similitude.__all__}
    lines = []
    for found, module in public_objects().items():
        own = f"{module.__name__}.{found.__name__}"
        entries = NumpyDocString(inspect.getdoc(found))["See Also"]
        targets = [target for names, _ in entries for target, _ in names]
        lines += [f"{own} has no See Also"] if not targets else []
        for target in targets:
            full = target if target.startswith(("similitude.", "sklearn.")) else f"{module.__name__}.{target}"
            parts = {full, full.rpartition(".")[0]}  # itself, or the class of the method
            if not pydoc.locate(full) or not (parts & pages or full.startswith("sklearn.")):
                lines.append(f"{own} refers to {target}, which the reference does not have in this place")
    return lines


def faults():
    """Return one line for each fault."""
    lines = []
    for name in public_names():
        found = {code for code, _ in validate(name)["errors"]} & set(CHECKS)
        lines += [f"{name} {CHECKS[code]} ({code})" for code in sorted(found)]
    return lines + references()


if __name__ == "__main__":
    found = faults()
    print("\n".join(found) or f"{len(public_names())} docstrings are complete")
    sys.exit(bool(found))
