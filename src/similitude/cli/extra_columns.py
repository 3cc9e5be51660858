"""What `similitude predict` adds to labels: evidence, how typical a sample is, and a set of classes."""

from __future__ import annotations

from functools import cached_property
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


class Novelty:
    """The largest typicality and the familiarity of samples and, with a confidence, their sets of classes.

    Samples come in blocks; what is printed about all of them is known after the last.
    """

    def __init__(self, fitted: Any, confidence: float | None, note: Notes):
        self._fitted, self._confidence, self._note = fitted, confidence, note
        self._p_values: dict[str, list[np.ndarray]] = {"typicality": [], "familiarity": []}
        self._kinds = {"typicality": "all classes", "familiarity": "all that is known"}
        self._sizes: list[np.ndarray] = []

    def columns(self, X: Any) -> dict[str, list]:
        """Return the columns of a block of samples."""
        found: dict[str, list] = {}
        if hasattr(self._fitted, "typicality"):
            found |= self._typicality(X)
        if self._confidence is not None:
            found["set"] = self._sets(X)
        return found

    def summary(self) -> tuple[list[str], dict[str, Any]]:
        """Return the lines and the facts about all samples."""
        lines: list[str] = []
        facts: dict[str, Any] = {}
        if self._p_values["typicality"]:
            lines.append(
                "typicality, familiarity: how usual a sample would be in the class it suits best, and among all that "
                "is known"
            )
            for name, fact in (("typicality", "unlike_all_classes"), ("familiarity", "novel")):
                facts[fact] = small = sum(int((part <= _UNUSUAL).sum()) for part in self._p_values[name])
                if small:
                    rows = "1 row is" if small == 1 else f"{small} rows are"
                    lines.append(f"{rows} unlike {self._kinds[name]} ({name} of at most {_UNUSUAL:g})")
        if self._sizes:
            sizes = np.concatenate(self._sizes)
            (measured, options), confidence, empty = self._measured, self._confidence, int((sizes == 0).sum())
            untested = int((measured.counts == 0).sum())
            facts["sets"] = {
                "confidence": confidence,
                "class_conditional": options.get("class_conditional", True),
                "measured_coverage": measured.coverage,
                "mean_size": float(sizes.mean()),
                "empty": empty,
                "untested": untested,
            }
            kind = "sets" if hasattr(self._fitted, "folds_") else "approximate sets"
            lines.append(
                f"{kind}: {sizes.mean():.2f} classes on average, {empty} empty; measured coverage of left-out training "
                f"samples {100 * measured.coverage:.1f}% at confidence {confidence:g}"
            )
            if untested:
                have, are = ("1 class has", "is") if untested == 1 else (f"{untested} classes have", "are")
                lines.append(f"{have} too few samples to be tested, and {are} in every set")
        return lines, facts

    def _typicality(self, X: Any) -> dict[str, list]:
        fitted, note = self._fitted, self._note
        needed = getattr(fitted, "n_features_in_", None)  # None for raw objects
        if needed is not None and X.shape[1] != needed:
            note("ROWS has only the columns that the model needs; typicality needs all of them and is left out.")
            return {}
        try:
            p_values = fitted.typicality(X)
        except ValueError as error:  # a model on feature vectors
            note(f"no typicality: {error}")
            return {}
        p_values = p_values[:, self._large_enough]
        found = {
            "typicality": self._kept("typicality", p_values.max(axis=1)),
            "familiarity": self._kept("familiarity", fitted.familiarity(X)),
        }
        if hasattr(fitted, "applicability"):
            found["applicability"] = fitted.applicability(X).tolist()
        return found

    @cached_property
    def _large_enough(self) -> np.ndarray:
        """The positions of the classes whose typicality is shown: of those that are large enough, if there are any."""
        counts = typicality_of(self._fitted).counts
        enough = counts >= _ENOUGH
        if not enough.any():
            smallest = counts.min()
            least = 1 if smallest <= 1 else 1 / (smallest + 1)
            self._note(
                f"no class has {_ENOUGH} samples: typicality is at least 1 / (n + 1) for a class of n samples (1 if "
                f"n = 1) and so at least {least:.2g} here."
            )
            return np.arange(len(counts))
        if not enough.all():
            small = int((~enough).sum())
            classes = f"{small} of {len(counts)} classes {'has' if small == 1 else 'have'}"
            self._note(
                f"{classes} fewer than {_ENOUGH} samples, too few for a typicality of {_UNUSUAL:g}; the column "
                "typicality is the largest over the other classes."
            )
            self._kinds["typicality"] = f"all classes of at least {_ENOUGH} samples"
        return np.flatnonzero(enough)

    def _kept(self, name: str, p_values: np.ndarray) -> list:
        """Return a column of p-values, which are kept for the summary."""
        self._p_values[name].append(p_values)
        return [_NO_EVIDENCE if np.isnan(value) else value for value in p_values.tolist()]

    def _sets(self, X: Any) -> list[str]:
        options = self._measured[1]
        sets = self._fitted.predict_set(X, self._confidence, **options)
        self._sizes.append(sets.sum(axis=1))
        names = [str(label) for label in self._fitted.classes_.tolist()]
        return [_BETWEEN.join(name for name, held in zip(names, row) if held) for row in sets.tolist()]

    @cached_property
    def _measured(self) -> tuple[Any, dict[str, Any]]:
        """The coverage that was measured on left-out samples, and the options of sets."""
        fitted, confidence = self._fitted, self._confidence
        if not hasattr(fitted, "predict_set"):
            raise ValueError(
                f"--confidence needs a model with sets; MODEL holds a {type(fitted).__name__}. Use a model of "
                "`similitude fit`, or save a similitude.PredictionSets."
            )
        try:
            return fitted.coverage(confidence), {}
        except ValueError:
            if confidence is None or not hasattr(fitted, "members_"):  # PredictionSets has its own calibration
                raise
        self._note(_why_together(fitted, confidence))
        together = {"class_conditional": False}
        return fitted.coverage(confidence, **together), together


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


def point_summary(
    point: OperatingPoint, assigned: np.ndarray, per_class: bool, note: Notes
) -> tuple[str, dict[str, Any]]:
    """Return what is printed about an operating point, and the facts, with how many samples are assigned."""
    facts = {
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
    return f"{int(assigned.sum())} of {len(assigned)} rows are assigned; {point.summary()}", facts
