"""The few lines of Python that build and fit the chosen model again."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from sklearn.base import BaseEstimator, clone

from similitude.search.methods import methods
from similitude.search.parameters import parameters_code, python_value

MOST_LINES = 5


@dataclass(frozen=True)
class Source:
    """The code that reads the data: a function of a module and how it is called.

    Examples
    --------
    >>> from similitude.report.code import Source
    >>> Source("load_voting", "load_voting()", "data.data", "data.target").lines
    ['from similitude.datasets import load_voting', 'data = load_voting()']
    """

    loader: str
    call: str
    X: str
    y: str
    module: str = "similitude.datasets"

    @property
    def lines(self) -> list[str]:
        """The import and the call."""
        return [f"from {self.module} import {self.loader}", f"data = {self.call}"]


def code_lines(
    estimator: BaseEstimator, source: Source | None, method: str | None = None, contract: dict[str, Any] | None = None
) -> tuple[str, ...]:
    """Return Python code that builds the same estimator and fits it.

    A pipeline that needs many imports is taken by its name from :func:`similitude.search.methods.methods`, with the
    chosen parameters set, if it is one of these methods.
    """
    X, y = ("X", "y") if source is None else (source.X, source.y)
    load = ["X, y = ...  # the matrix (or the objects) and the labels"] if source is None else source.lines
    text = _expression(estimator)
    lines = [*_imports(estimator, text), *load, f"model = {text}", f"model.fit({X}, {y})"]
    if len(lines) > MOST_LINES:
        by_name = _from_methods(estimator, method, contract or {})
        lines = lines if by_name is None else [by_name[0], *load, by_name[1], f"model.fit({X}, {y})"]
    return tuple(lines)


def _expression(estimator: BaseEstimator) -> str:
    """Return the estimator as an expression on one line."""
    plain = clone(estimator)
    parameters = plain.get_params()
    plain.set_params(**{name: python_value(v) for name, v in parameters.items() if python_value(v) is not v})
    return re.sub(r"\s*\n\s*", " ", plain.__repr__(N_CHAR_MAX=10**6))


def _imports(estimator: BaseEstimator, text: str) -> list[str]:
    """Return one line for each module that the expression takes names from."""
    import similitude

    parts = [estimator, *estimator.get_params().values()]
    names: dict[str, set[str]] = {}
    for part in parts:
        kind = type(part)
        if isinstance(part, BaseEstimator) and re.search(rf"\b{kind.__name__}\(", text):
            public = (
                "similitude" if getattr(similitude, kind.__name__, None) is kind else kind.__module__.split("._")[0]
            )
            names.setdefault(public, set()).add(kind.__name__)
    return [f"from {module} import {', '.join(sorted(names[module]))}" for module in sorted(names)]


def _from_methods(estimator: BaseEstimator, method: str | None, contract: dict[str, Any]) -> tuple[str, str] | None:
    contract = {name: value for name, value in contract.items() if value is not None}
    table = methods(**contract)
    if method not in table:
        return None
    usual = table[method][0].get_params()
    values = {name: python_value(value) for name, value in estimator.get_params().items()}
    chosen = {
        name: value
        for name, value in values.items()
        if isinstance(value, (int, float, str, type(None))) and repr(value) != repr(usual.get(name))
    }
    model = f"methods({parameters_code(contract)})[{method!r}][0]"
    if chosen:
        model += f".set_params({parameters_code(chosen)})"
    return "from similitude.search.methods import methods", f"model = {model}"
