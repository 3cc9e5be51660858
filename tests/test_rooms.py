"""A leading underscore means "this room only": nothing is imported from another room's private modules or names."""

import ast
from pathlib import Path

import similitude

SOURCE = Path(similitude.__file__).parent
SHARED = ("_native", "_utils")


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
