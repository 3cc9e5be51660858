"""scikit-learn's private names are used in one module only, and exist in the installed version."""

import ast
import importlib
from pathlib import Path

import pandas as pd
from sklearn.model_selection import GridSearchCV

import similitude
from similitude._utils.scikit_learn import feature_names

SOURCE = Path(similitude.__file__).parent
GATHERED = SOURCE / "_utils" / "scikit_learn.py"


def _private_imports(path):
    """Return each private name that a module imports from scikit-learn, with the module that has it."""
    return [
        (node.module, name.name)
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "sklearn"
        for name in node.names
        if any(part.startswith("_") for part in [*node.module.split("."), name.name])
    ]


def test_private_names_are_imported_in_one_module():
    others = [path for path in sorted(SOURCE.rglob("*.py")) if path != GATHERED]
    assert [(path.name, found) for path in others if (found := _private_imports(path))] == []


def test_private_names_exist():
    imported = _private_imports(GATHERED)
    assert imported
    assert [f"{module}.{name}" for module, name in imported if not hasattr(importlib.import_module(module), name)] == []


def test_private_methods_exist():
    """Each ``search._method`` in the module is a method of ``GridSearchCV``."""
    called = {
        node.attr
        for node in ast.walk(ast.parse(GATHERED.read_text(encoding="utf-8")))
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "search"
    }
    private = {name for name in called if name.startswith("_")}
    assert len(private) == 6
    assert [name for name in sorted(private) if not hasattr(GridSearchCV, name)] == []


def test_feature_names_are_those_of_scikit_learn():
    assert feature_names(pd.DataFrame([[1.0, 2.0]], columns=["a", "b"])).tolist() == ["a", "b"]
    assert feature_names(pd.DataFrame([[1.0, 2.0]])) is None
