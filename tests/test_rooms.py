"""A leading underscore means "this room only": no other room imports such a name, or uses such an attribute."""

import ast
from collections import defaultdict
from pathlib import Path

import similitude

SOURCE = Path(similitude.__file__).parent
SHARED = ("_native", "_utils")

FOREIGN = {
    ("persistence", "_derived"): "every classifier computes here the attributes that a model file does not hold",
}
"""The attributes of other rooms that a room uses all the same, with the reason."""


def _imports(path):
    """Yield each absolute import within the package as the list of its dotted parts."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.level == 0 and (node.module or "").split(".")[0] == "similitude":
            for name in node.names:
                yield [*node.module.split(".")[1:], name.name]
        elif isinstance(node, ast.Import):
            for name in node.names:
                if name.name.split(".")[0] == "similitude":
                    yield name.name.split(".")[1:]


def _is_private(part):
    return part.startswith("_") and not part.startswith("__")


def _room(path):
    return path.relative_to(SOURCE).parts[0].removesuffix(".py")


def test_private_names_stay_in_their_room():
    foreign = [
        f"{path.relative_to(SOURCE)}: {'.'.join(parts)}"
        for path in sorted(SOURCE.rglob("*.py"))
        for parts in _imports(path)
        if parts and parts[0] not in (_room(path), *SHARED) and any(_is_private(part) for part in parts)
    ]
    assert foreign == []


def _own(node):
    """Return whether an expression is the object of a method, or its class."""
    if isinstance(node, ast.Call):
        return isinstance(node.func, ast.Name) and node.func.id == "super"
    return isinstance(node, ast.Name) and node.id in ("self", "cls")


def _defined_attributes(tree):
    """Yield the private attributes that classes define, and the private methods."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef):
            for part in node.body:
                targets = part.targets if isinstance(part, ast.Assign) else [getattr(part, "target", part)]
                yield from (getattr(target, "id", getattr(target, "name", "")) for target in targets)
        elif isinstance(node, ast.Attribute) and _own(node.value) and isinstance(node.ctx, ast.Store):
            yield node.attr


def _used_attributes(tree):
    """Yield the attributes of other objects, also those that getattr and its kind name, with their lines."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and not _own(node.value):
            yield node.attr, node.lineno
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") in ("getattr", "hasattr", "setattr"):
            owner, name = node.args[:2]
            if isinstance(name, ast.Constant) and not _own(owner):
                yield name.value, node.lineno


def test_private_attributes_stay_in_their_room():
    # Attributes that no room defines are those of other libraries.
    trees = {path: ast.parse(path.read_text(encoding="utf-8")) for path in sorted(SOURCE.rglob("*.py"))}
    rooms = defaultdict(set)
    for path, tree in trees.items():
        for name in _defined_attributes(tree):
            rooms[name].add(_room(path))
    foreign = {
        (_room(path), name): f"{path.relative_to(SOURCE)}:{line}: {name}"
        for path, tree in trees.items()
        for name, line in _used_attributes(tree)
        if _is_private(name) and rooms[name] and _room(path) not in rooms[name]
    }
    assert [place for key, place in foreign.items() if key not in FOREIGN] == []
    assert set(FOREIGN) <= set(foreign)
