"""What `similitude predict` adds to labels: evidence, how typical a sample is, and a set of classes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from similitude._utils.ids import some
from similitude.base import read_rows
from similitude.cli.output import Notes
from similitude.finders.search import check_search
from similitude.persistence import input_reader
from similitude.proximity import as_proximities, gives_evidence
from similitude.sets import calibration_of, typicality_of
from similitude.sets.calibration import samples_needed
from similitude.sets.operating_points import UNASSIGNED, OperatingPoint

_NO_EVIDENCE = "no evidence"
_BETWEEN = "|"
_UNUSUAL = 0.05
_ENOUGH = 19  # the p-values of a class with n samples are at least 1 / (n + 1)
_SHOWN = 3


def known_evidence(fitted: Any, info: dict[str, Any], X: Any, note: Notes) -> np.ndarray | None:
    """Return which samples give evidence to the model; None, with a note, if it is not known."""
    if info["input"] == "objects":
        part = input_reader(fitted)
        if check_search(getattr(part, "search", "matrix")) is None:
            return read_rows(part, X).evidence
        note(f"no column evidence: search={part.search!r} finds neighbours without computing whole rows.")
        return None
    if X.shape[1] != info["n_columns"]:
        note("ROWS has only the columns that the model needs; evidence needs all of them and is left out.")
        return None
    given = as_proximities(X)
    read = {member.similarity for member in getattr(fitted, "members_", ())}
    all_read = not read or None in read
    matrices = [S for name, S in given.similarities.items() if all_read or name in read]
    zero = given.absent != "unknown"
    return np.logical_or.reduce([gives_evidence(S, absent_is_zero=zero) for S in matrices])


def note_without_evidence(evidence: np.ndarray, ids: Any, edges: Any, assign_all: bool, note: Notes) -> None:
    """Print how many samples give no evidence, which they are, and what was written for them."""
    lacking = np.flatnonzero(~evidence)
    if not len(lacking):
        return
    few = f"row{'' if len(lacking) == 1 else 's'} " + ", ".join(map(str, (lacking[:5] + 1).tolist()))
    which = (
        few + (", ..." if len(lacking) > 5 else "") if ids is None else some([str(ids[i]) for i in lacking.tolist()])
    )
    why = "their values to all training samples are equal"
    if edges is not None and not np.any(edges[lacking]):
        why = "they have no edge to a training sample"
    written = (
        "their labels are the most probable classes of such samples"
        if assign_all
        else f"their label is {UNASSIGNED!r} (--assign-all writes the most probable class)"
    )
    note(f"{len(lacking)} of {len(evidence)} samples give no evidence, because {why}: {which}; {written}.")


@dataclass
class NoveltyColumns:
    """Further columns of the table, and what is printed about them."""

    columns: dict[str, list] = field(default_factory=dict)
    lines: list[str] = field(default_factory=list)
    facts: dict[str, Any] = field(default_factory=dict)


def novelty_columns(fitted: Any, X: Any, confidence: float | None, note: Notes) -> NoveltyColumns:
    """Return the largest typicality and the familiarity of each sample and, with a confidence, its set of classes."""
    found = NoveltyColumns()
    if hasattr(fitted, "typicality"):
        _add_typicality(found, fitted, X, note)
    if confidence is not None:
        _add_sets(found, fitted, X, confidence, note)
    return found


def _add_typicality(found: NoveltyColumns, fitted: Any, X: Any, note: Notes) -> None:
    needed = getattr(fitted, "n_features_in_", None)  # None for raw objects
    if needed is not None and X.shape[1] != needed:
        note("ROWS has only the columns that the model needs; typicality needs all of them and is left out.")
        return
    try:
        p_values = fitted.typicality(X)
    except ValueError as error:  # a model on feature vectors
        note(f"no typicality: {error}")
        return
    counts = typicality_of(fitted).counts
    enough = counts >= _ENOUGH
    kind = "all classes"
    if not enough.any():
        smallest = counts.min()
        least = 1 if smallest <= 1 else 1 / (smallest + 1)
        note(
            f"no class has {_ENOUGH} samples: typicality is at least 1 / (n + 1) for a class of n samples (1 if n = 1) "
            f"and so at least {least:.2g} here."
        )
    elif not enough.all():
        small = int((~enough).sum())
        classes = f"{small} of {len(counts)} classes {'has' if small == 1 else 'have'}"
        note(
            f"{classes} fewer than {_ENOUGH} samples, too few for a typicality of {_UNUSUAL:g}; the column typicality "
            "is the largest over the other classes."
        )
        p_values, kind = p_values[:, enough], f"all classes of at least {_ENOUGH} samples"
    found.lines.append(
        "typicality, familiarity: how usual a sample would be in the class it suits best, and among all that is known"
    )
    _add_p_values(found, "typicality", p_values.max(axis=1), "unlike_all_classes", kind)
    _add_p_values(found, "familiarity", fitted.familiarity(X), "novel", "all that is known")
    if hasattr(fitted, "applicability"):
        found.columns["applicability"] = fitted.applicability(X).tolist()


def _add_p_values(found: NoveltyColumns, name: str, p_values: np.ndarray, fact: str, unlike: str) -> None:
    """Add a column of p-values, and how many of them are small."""
    found.columns[name] = [_NO_EVIDENCE if np.isnan(value) else value for value in p_values.tolist()]
    found.facts[fact] = small = int((p_values <= _UNUSUAL).sum())
    if small:
        rows = "1 row is" if small == 1 else f"{small} rows are"
        found.lines.append(f"{rows} unlike {unlike} ({name} of at most {_UNUSUAL:g})")


def _add_sets(found: NoveltyColumns, fitted: Any, X: Any, confidence: float, note: Notes) -> None:
    if not hasattr(fitted, "predict_set"):
        raise ValueError(
            f"--confidence needs a model with sets; MODEL holds a {type(fitted).__name__}. Use a model of "
            "`similitude fit`, or save a similitude.PredictionSets."
        )
    options: dict[str, Any] = {}
    try:
        measured = fitted.coverage(confidence)
    except ValueError:
        if not hasattr(fitted, "members_"):  # PredictionSets has its own way of calibration
            raise
        note(_why_together(fitted, confidence))
        options["class_conditional"] = False
        measured = fitted.coverage(confidence, **options)
    sets = fitted.predict_set(X, confidence, **options)
    names = [str(label) for label in fitted.classes_.tolist()]
    found.columns["set"] = [_BETWEEN.join(name for name, held in zip(names, row) if held) for row in sets.tolist()]
    sizes = sets.sum(axis=1)
    empty = int((sizes == 0).sum())
    kind = "sets" if hasattr(fitted, "folds_") else "approximate sets"
    found.facts["sets"] = {
        "confidence": confidence,
        "class_conditional": options.get("class_conditional", True),
        "measured_coverage": measured.coverage,
        "mean_size": float(sizes.mean()),
        "empty": empty,
    }
    found.lines.append(
        f"{kind}: {sizes.mean():.2f} classes on average, {empty} empty; measured coverage of left-out training samples "
        f"{100 * measured.coverage:.1f}% at confidence {confidence:g}"
    )


def _why_together(fitted: Any, confidence: float) -> str:
    """Return the note that classes are too small to be calibrated each on its own."""
    needed = samples_needed(confidence)
    sizes = zip(fitted.classes_.tolist(), calibration_of(fitted).counts.tolist())
    small = [f"class {str(label)!r} has {count}" for label, count in sizes if count < needed]
    more = f" and {len(small) - _SHOWN} more are too small" if len(small) > _SHOWN else ""
    return (
        f"classes are calibrated together, not each on its own: --confidence {confidence:g} needs at least {needed} "
        f"left-out samples of each class; {', '.join(small[:_SHOWN])}{more}."
    )


def point_of(fitted: Any, precision: float, per_class: bool) -> OperatingPoint:
    """Return the operating point of a model, or raise a ValueError if it has none."""
    if not hasattr(fitted, "operating_point"):
        raise ValueError(
            f"--precision needs a model that keeps predictions for left-out samples; MODEL holds a "
            f"{type(fitted).__name__}. Use a model of `similitude fit`."
        )
    if UNASSIGNED in map(str, fitted.classes_.tolist()):
        raise ValueError(f"--precision writes {UNASSIGNED!r} for samples without a class, which is a class of MODEL.")
    return fitted.operating_point(precision, per_class=per_class)


def add_point(found: NoveltyColumns, point: OperatingPoint, assigned: np.ndarray, per_class: bool, note: Notes) -> None:
    """Add what is printed about an operating point, and how many samples are assigned."""
    found.facts["operating_point"] = {
        "precision": point.precision,
        "delta": point.delta,
        "per_class": point.per_class,
        "cutoffs": {
            str(label): cutoff if np.isfinite(cutoff) else None
            for label, cutoff in zip(point.classes.tolist(), point.cutoffs.tolist())
        },
        "own": [str(label) for label in point.classes[point.own].tolist()],
        "assigned": int(assigned.sum()),
        "coverage_of_left_out": point.coverage,
        "precision_of_left_out": point.measured_precision if point.assigned.any() else None,
    }
    found.lines.append(f"{int(assigned.sum())} of {len(assigned)} rows are assigned; {point.summary()}")
    if per_class and not point.per_class:
        note(
            f"no class is predicted often enough for a cut-off of its own, which needs at least {point.needed} "
            "left-out samples; the precision is that of all classes together."
        )
    elif per_class and not point.own.all():
        others = [str(label) for label in point.classes[~point.own].tolist()]
        note(
            f"the precision holds for each class but {some(others)}, of which fewer than {point.needed} left-out "
            "samples are predicted: these share one cut-off, or are not assigned."
        )
