"""The similarity of raw objects that a user names, with its parameters."""

from __future__ import annotations

from typing import Any

from similitude.cli.options import Notes

PROTEIN_SCORES = "BLOSUM62"


def chosen_measure(name: str, params: list[str] | None, items: Any, note: Notes) -> Any:
    """Return the value of ``similarity`` for estimators: the name, or an object with the parameters.

    Alignments of sequences with letters that are not nucleotides use BLOSUM62 unless scores were given, and say so.
    """
    from similitude.similarities import resolve

    function: Any = resolve(name).function
    known = function.get_params(deep=False) if hasattr(function, "get_params") else {}
    given = _parsed(name, params or [], known)
    if {"matrix", "match", "mismatch"} <= set(known) and not {"matrix", "match", "mismatch"} & set(given):
        letters = other_letters(items)
        if letters:
            note(
                f"the letters {', '.join(letters)} are not nucleotides: {name} uses the scores of {PROTEIN_SCORES}. "
                "Name others with --param matrix=NAME."
            )
            given["matrix"] = PROTEIN_SCORES
    return type(function)(**{**known, **given}) if given else name


def other_letters(items: Any) -> list[str]:
    """Return the letters of sequences that are not nucleotides, a few of them."""
    from similitude.proximity.files import NUCLEOTIDES

    found: set[str] = set()
    for item in items:
        found |= set(item.upper()) - NUCLEOTIDES
    return sorted(found)[:5]


def _parsed(name: str, params: list[str], known: dict[str, Any]) -> dict[str, Any]:
    """Return the parameters by name, as numbers, truth values or text."""
    given = {}
    for text in params:
        key, equals, value = text.partition("=")
        key = key.strip()
        if not equals or not key:
            raise ValueError(f"--param must have the form NAME=VALUE; got {text!r}.")
        if key not in known:
            has = f"has the parameters {', '.join(known)}" if known else "has no parameters"
            raise ValueError(f"--param {text}: {name} {has}.")
        given[key] = _value(value.strip())
    return given


def _value(text: str) -> Any:
    plain = {"none": None, "true": True, "false": False}
    if text.lower() in plain:
        return plain[text.lower()]
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text
