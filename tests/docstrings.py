"""Check that the docstrings of public names document their parameters and returns: ``python -m tests.docstrings``."""

import importlib
import inspect
import pkgutil
import sys

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


def public_names():
    """Return the dotted names that users may call: those of the package, of its rooms, and their methods."""
    rooms = [f"similitude.{room.name}" for room in pkgutil.iter_modules(similitude.__path__) if room.ispkg]
    rooms = [room for room in rooms if not room.rpartition(".")[2].startswith("_") and room != "similitude.cli"]
    names = []
    for module in map(importlib.import_module, ["similitude", *rooms]):
        for name in getattr(module, "__all__", ()):
            found = getattr(module, name)
            # A protocol has no constructor of its own, only methods.
            if inspect.isfunction(found) or (inspect.isclass(found) and not getattr(found, "_is_protocol", False)):
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


def faults():
    """Return one line for each fault."""
    lines = []
    for name in public_names():
        found = {code for code, _ in validate(name)["errors"]} & set(CHECKS)
        lines += [f"{name} {CHECKS[code]} ({code})" for code in sorted(found)]
    return lines


if __name__ == "__main__":
    found = faults()
    print("\n".join(found) or f"{len(public_names())} docstrings are complete")
    sys.exit(bool(found))
