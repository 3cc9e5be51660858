"""The card, a diagnosis as plain text."""

from __future__ import annotations

from textwrap import fill
from typing import TYPE_CHECKING, Any

from similitude.diagnosis.disorder import verdict

if TYPE_CHECKING:
    from similitude.diagnosis.result import Diagnosis

_CLASSES_SHOWN = 20
_LABEL_WIDTH = 24


def percent(share: float | None) -> str:
    """Return a share as text with two digits; 0% and 100% are exact."""
    if share is None:
        return "not defined"
    if 0 < share < 0.001:
        return "<0.1%"
    if 0.999 < share < 1:
        return ">99.9%"
    return f"{share:.1%}" if 0 < share < 0.1 or 0.99 < share < 1 else f"{share:.0%}"


def number(value: float | None) -> str:
    """Return a figure as text with four digits."""
    return "not defined" if value is None else f"{value:.4g}"


def printable(label: Any, width: int = _LABEL_WIDTH) -> str:
    """Return a label on one line, with control characters escaped, cut to ``width``."""
    text = "".join(c if c.isprintable() else c.encode("unicode_escape", "surrogatepass").decode() for c in str(label))
    return text if len(text) <= width else text[: width - 3] + "..."


def card(d: Diagnosis) -> str:
    """Return the whole card; headings start at the margin, everything else is indented."""
    sections = [[head, *(_line(*row) for row in rows)] for head, rows in figures(d)]
    if d.classes is not None:
        sections.append(_classes(d))
    wrapped = (fill(s, 96, initial_indent="  - ", subsequent_indent="    ") for s in d.advice)
    sections.append(["Advice", *wrapped])
    return "\n\n".join("\n".join(lines) for lines in sections)


def figures(d: Diagnosis) -> list[tuple[str, list[tuple[str, str]]]]:
    """Return the figures as text: of the matrix, the spectrum and the geometry, each with names and values."""
    kind = "Similarities"
    if d.dissimilarity is not None:
        kind = f"Dissimilarities (mapped to similarities by {d.dissimilarity!r})"
    spectrum = "Spectrum" if d.symmetric else "Spectrum of (S + S^T)/2"
    return [
        (f"{kind} of {d.n} samples, {'sparse' if d.sparse else 'dense'}, {d.dtype}", _matrix(d)),
        (spectrum, _spectrum(d)),
        ("Geometry", _geometry(d)),
    ]


def _line(name: str, value: str) -> str:
    return f"  {name:<26}{value}"


def _matrix(d: Diagnosis) -> list[tuple[str, str]]:
    smaller = d.self_similarity_not_maximal
    return [
        *([("examined", _drawn(d))] if d.n_examined < d.n else []),
        ("symmetric", "yes" if d.symmetric else f"no: asymmetry {number(d.asymmetry)}"),
        ("range", f"{number(d.minimum)} to {number(d.maximum)}"),
        *([("unknown", percent(d.unknown))] if d.unknown else []),
        ("zeros", percent(d.sparsity)),
        ("distinct values", str(d.n_distinct)),
        ("duplicates", str(d.duplicates)),
        *([("near-duplicates", str(d.near_duplicates))] if d.near_duplicates > d.duplicates else []),
        ("self-similarity", f"not maximal for {percent(smaller)}" if smaller else "maximal for every sample"),
    ]


def _drawn(d: Diagnosis) -> str:
    return f"{d.n_sampled} samples drawn at random"


def _spectrum(d: Diagnosis) -> list[tuple[str, str]]:
    return [
        *([("computed from", _drawn(d))] if d.n_sampled < d.n_examined else []),
        ("eigenvalues", f"{number(d.smallest_eigenvalue)} to {number(d.largest_eigenvalue)}"),
        ("positive semidefinite", "yes" if d.psd else "no"),
        ("negative fraction (NEF)", number(d.negative_eigenfraction)),
        ("negative ratio (NER)", number(d.negative_eigenratio)),
        ("rank", f"{d.rank} of {d.n_sampled}"),
    ]


def _geometry(d: Diagnosis) -> list[tuple[str, str]]:
    part = f" ({_drawn(d)})" if d.n_sampled < d.n_examined else ""
    return [
        ("triangle violations", percent(d.triangle_violations) + part),
        ("intrinsic dimension", number(d.intrinsic_dimension) + part),
        (f"hubness (k = {d.n_neighbors})", number(d.hubness)),
        (f"ties (k = {d.n_neighbors})", percent(d.neighbor_ties)),
        *([("without evidence", f"{d.without_evidence} samples")] if d.without_evidence else []),
        (
            "disorder (95%)",
            "not defined" if d.disorder is None else f"{number(d.disorder)}{part}, {verdict(d.disorder)}",
        ),
    ]


def _classes(d: Diagnosis) -> list[str]:
    assert d.classes is not None
    shown = sorted(d.classes, key=lambda c: -c.count)[:_CLASSES_SHOWN]
    lines = [
        "Classes",
        f"  {'label':<{_LABEL_WIDTH}}  {'samples':>7}  {'within':>11}  {'between':>11}",
        *(
            f"  {printable(c.label):<{_LABEL_WIDTH}}  {c.count:>7}  {number(c.within):>11}  {number(c.between):>11}"
            for c in shown
        ),
    ]
    if len(d.classes) > len(shown):
        lines.append(f"  and {len(d.classes) - len(shown)} smaller classes")
    of = f" of {d.n_examined - d.without_evidence} samples with evidence" if d.without_evidence else ""
    error = percent(d.leave_one_out_error)
    return [*lines, _line("leave-one-out 1-NN error", error + (of if d.leave_one_out_error is not None else ""))]
