"""The values of ``--param``, read as the types that the parameters of a similarity have."""

from __future__ import annotations

import re
import types
import typing
from typing import Any, Literal

from similitude._utils.checks import did_you_mean

_BRACKETS = re.compile(r"^\s*[\[(](.*)[\])]\s*$", re.DOTALL)
_TRUTHS = {"true": True, "yes": True, "on": True, "false": False, "no": False, "off": False}


def read_parameters(name: str, function: Any, texts: list[str] | None) -> dict[str, Any]:
    """Return the parameters of a similarity that are given as NAME=VALUE, with values of their types."""
    known = function.get_params(deep=False) if hasattr(function, "get_params") else {}
    found = {}
    for text in texts or []:
        key, equals, value = (word.strip() for word in text.partition("="))
        if not equals or not key:
            raise ValueError(f"--param must have the form NAME=VALUE; got {text!r}.")
        if key not in known:
            has = f"has the parameters {', '.join(known)}" if known else "has no parameters"
            raise ValueError(f"--param {text}: {name} {has}.{did_you_mean(key, known)}")
        found[key] = _value(key, value, typing.get_type_hints(type(function).__init__).get(key, Any))
    return found


def _value(key: str, text: str, hint: Any) -> Any:
    """Return the value of a parameter, or raise a ValueError that shows how it is written."""
    kinds = typing.get_args(hint) if _is_union(hint) else (hint,)
    # Text fits anything, so it is tried last.
    for kind in sorted(kinds, key=_order):
        try:
            return _as_kind(text, kind)
        except ValueError:
            continue
    forms = [form for form in (_form(kind) for kind in sorted(kinds, key=_order, reverse=True)) if form]
    needed, example = " or ".join(form for form, _ in forms), forms[0][1]
    raise ValueError(f"--param {key}={text}: the value must be {needed}, as in --param {key}={example}.")


def _is_union(hint: Any) -> bool:
    return typing.get_origin(hint) in (typing.Union, types.UnionType)


def _order(kind: Any) -> int:
    """Return the place of a type among those that are tried: the narrower ones come first."""
    order = [type(None), bool, int, float, Literal, tuple, list, complex, str]
    own = typing.get_origin(kind) or kind
    return order.index(own) if own in order else len(order)


def _as_kind(text: str, kind: Any) -> Any:
    """Return a text as a value of one type, or raise a ValueError."""
    origin, parts = typing.get_origin(kind), typing.get_args(kind)
    if kind is type(None):
        return _chosen(text.lower(), {"none": None})
    if kind is bool:
        return _chosen(text.lower(), _TRUTHS)
    if kind is int:
        return int(text)
    if kind is float:  # a whole number stays one, because it may mean a count where another number is a share
        return int(text) if re.fullmatch("[+-]?[0-9]+", text) else float(text)
    if origin is Literal:
        return _chosen(text, {str(part): part for part in parts})
    if origin in (tuple, list):
        return _several(text, origin, parts)
    if kind is complex:  # one of the types of array-likes
        numbers = [float(cell) for cell in _BRACKETS.sub(r"\1", text).split(",")]
        return numbers if len(numbers) > 1 else numbers[0]
    if kind in (str, Any):
        return text
    raise ValueError(text)


def _chosen(text: str, values: dict[str, Any]) -> Any:
    if text not in values:
        raise ValueError(text)
    return values[text]


def _several(text: str, origin: Any, parts: tuple) -> Any:
    """Return the values of a tuple or list, which are between commas, and may be in brackets."""
    cells = [cell.strip().strip("'\"") for cell in _BRACKETS.sub(r"\1", text).rstrip(", ").split(",")]
    alike = origin is list or (len(parts) == 2 and parts[1] is Ellipsis)
    kinds = [parts[0]] * len(cells) if alike else list(parts)
    if len(kinds) != len(cells) or "" in cells:
        raise ValueError(text)
    return origin(_as_kind(cell, kind) for cell, kind in zip(cells, kinds))


def _form(kind: Any) -> tuple[str, str] | None:
    """Return what a value of a type is in words, and an example of it; None for a type that has neither."""
    origin, parts = typing.get_origin(kind), typing.get_args(kind)
    plain = {type(None): ("none", "none"), bool: ("true or false", "true"), int: ("a whole number", "2")}
    if kind in plain:
        return plain[kind]
    if kind in (float, complex):
        return ("a number", "0.5") if kind is float else ("numbers with commas between them", "0.5,1,2")
    if origin is Literal:
        return " or ".join(map(str, parts)), str(parts[0])
    if origin in (tuple, list):
        inner = {int: ("whole numbers", "1,3,5"), float: ("numbers", "0.5,1,2")}.get(parts[0], ("words", "a,b,c"))
        alike = origin is list or parts[-1] is Ellipsis
        shown = inner[1].split(",")[: None if alike else len(parts)]
        return f"{'' if alike else f'{len(parts)} '}{inner[0]} with commas between them", ",".join(shown)
    return None
