"""Lines of Python that build and fit the chosen model again."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from sklearn.base import BaseEstimator, clone

from similitude.auto.combined import CombinedClassifier
from similitude.auto.methods import methods, mixtures
from similitude.base import reader_of, readers_of
from similitude.evaluation.parameters import parameters_code, python_value
from similitude.similarities.registry import is_family

MOST_LINES = 5
"""The most lines of code for a single method."""

_DIGITS = 4
_DECISIONS = ("costs", "priors", "class_weight")


@dataclass(frozen=True)
class Source:
    """The code that reads the data: a function of a module and how it is called."""

    loader: str
    call: str
    X: str
    y: str
    module: str = "similitude.datasets"
    imports: tuple[str, ...] = ()
    """The lines that import what else X, or the similarity, needs."""

    @property
    def lines(self) -> list[str]:
        """The imports and the call."""
        return [*self.imports, f"from {self.module} import {self.loader}", f"data = {self.call}"]


def model_lines(model: CombinedClassifier, source: Source | None, contract: dict[str, Any]) -> tuple[str, ...]:
    """Return Python code that builds the chosen model and fits it."""
    first = model.members_[0]
    family = is_family(contract.get("similarity"))
    several = family or any(len(member) > 2 for member in model.members or ())
    settings = {name: _plain(value) for name in _DECISIONS if (value := getattr(model, name)) is not None}
    if len(model.members_) == 1 and not several and not settings:
        return code_lines(first.estimator, source, first.name, contract)
    approximated = any("," in str(member.method or member.name) for member in model.members_)
    size = {"n_samples": reader_of(model).n_columns} if approximated else {}
    members = []
    for member in model.members_:
        # With several similarities a member has one of them and its contract, or reads all of them, as mixtures do.
        own, real = _contract_of(member.similarity, model, contract)
        alone = not several or member.similarity is not None
        own, real = own | size, real | size
        kind, table = ("methods", methods(**real)) if alone else ("mixtures", mixtures(**real))
        method = str(member.method) if several else member.name
        usual = f"{kind}({parameters_code(own)})" if several else "table"
        similarity = f", {member.similarity!r}" if several else ""
        changes = _changes(member.estimator, table[method][0])
        members.append(f"    ({member.name!r}, {usual}[{method!r}][0]{changes}{similarity}),")
    load, fit = _data(source)
    contract = _given(contract)
    word = contract.get("similarity")
    if family and any(member.similarity is not None for member in model.members_):
        load = [f"from similitude.similarities import {word}_family", *load, f"family = {word}_family({_X(source)})"]
    settings = {"weights": [round(member.weight, _DIGITS) for member in model.members_], **settings, **contract}
    return (
        "from similitude import CombinedClassifier",
        f"from similitude.auto import methods{', mixtures' if several else ''}",
        *load,
        *([] if several else [f"table = methods({parameters_code(contract | size)})"]),
        "members = [",
        *members,
        "]",
        f"model = CombinedClassifier(members, {parameters_code(settings)})",
        fit,
    )


class _Expression(str):
    """Code for a value, which stands for itself among parameters."""

    __repr__ = str.__str__


def _contract_of(
    similarity: str | None, model: CombinedClassifier, contract: dict[str, Any]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the contract of a member on one similarity, or on all, as code shows it and with its real values."""
    own = _given({name: _of(value, similarity) for name, value in contract.items()})
    if similarity is None or not is_family(contract.get("similarity")):
        return own, own
    reader = readers_of(model)[similarity]
    real = _given({"similarity": reader.similarity, "dissimilarity": reader.dissimilarity})
    return real | {"similarity": _Expression(f"family[{similarity!r}]")}, real


def _of(value: Any, similarity: str | None) -> Any:
    """Return the value for one similarity, if values are given by name."""
    return value.get(similarity) if isinstance(value, dict) and similarity is not None else value


def code_lines(
    estimator: BaseEstimator, source: Source | None, method: str | None = None, contract: dict[str, Any] | None = None
) -> tuple[str, ...]:
    """Return Python code that builds the same estimator and fits it.

    A pipeline that needs many imports is taken by its name from :func:`similitude.auto.methods.methods`.
    """
    load, fit = _data(source)
    text = _expression(estimator)
    lines = list(dict.fromkeys([*_imports(estimator, text), *load, f"model = {text}", fit]))
    contract = _given(contract or {})
    table = methods(**contract) if len(lines) > MOST_LINES else {}
    if method in table:
        model = f"methods({parameters_code(contract)})[{method!r}][0]{_changes(estimator, table[method][0])}"
        lines = ["from similitude.auto import methods", *load, f"model = {model}", fit]
    return tuple(lines)


def _data(source: Source | None) -> tuple[list[str], str]:
    """Return the lines that read the data, and the line that fits the model on it."""
    if source is None:
        return ["X, y = ...  # the matrix (or the objects) and the labels"], "model.fit(X, y)"
    return source.lines, f"model.fit({source.X}, {source.y})"


def _X(source: Source | None) -> str:
    return "X" if source is None else source.X


def _given(contract: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in contract.items() if value is not None}


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


def _changes(estimator: BaseEstimator, usual: BaseEstimator) -> str:
    """Return the code that gives the usual estimator of a method the parameters of this one."""
    before = usual.get_params()
    values = {name: python_value(value) for name, value in estimator.get_params().items()}
    chosen = {
        name: value
        for name, value in values.items()
        if isinstance(value, (int, float, str, type(None))) and repr(value) != repr(before.get(name))
    }
    return f".set_params({parameters_code(chosen)})" if chosen else ""


def _plain(value: Any) -> Any:
    """Return costs, priors or class weights as a value whose ``repr`` is Python code."""
    if isinstance(value, dict):
        return {python_value(label): _plain(own) for label, own in value.items()}
    return value.tolist() if hasattr(value, "tolist") else value
