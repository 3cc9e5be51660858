"""What counts as a good decision: the options ``--scoring``, ``--costs``, ``--priors`` and ``--class-weight``."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Annotated, Any

import numpy as np

from similitude._utils.ids import some
from similitude.auto import Decision
from similitude.auto.losses import Loss
from similitude.cli.options import number_or_text, option
from similitude.labels import costs_matrix, priors_vector
from similitude.proximity.files import Reading, check_file, load_values, read_cells

BALANCED = "balanced"


@dataclass(frozen=True)
class DecisionOptions:
    """The options as they were given; the annotations are those of the command line."""

    scoring: Annotated[
        str | None,
        option(
            "Score by which methods are chosen and ranked: balanced_accuracy, roc_auc, neg_log_loss or another scorer "
            "of scikit-learn. Default: the Brier score, or the mean cost with --costs.",
            "NAME",
        ),
    ] = None
    costs: Annotated[
        Path | None,
        option("Table of costs: a row for each predicted class, a column for each true class, both named.", "FILE"),
    ] = None
    priors: Annotated[
        Path | None,
        option("Table class,share: the shares of the classes among the samples to be predicted.", "FILE"),
    ] = None
    class_weight: Annotated[
        str | None,
        option("balanced, so that all classes count the same, or a table class,weight.", "balanced|FILE"),
    ] = None

    def check(self) -> None:
        """Raise a ValueError if the score is unknown or a file is not there, before any work begins."""
        if self.scoring is not None:
            try:
                Loss(self.scoring, None, None)
            except ValueError as error:
                raise ValueError(f"--{error}") from None
        for name, path in self._files().items():
            check_file(path, name)

    def _files(self) -> dict[str, Path]:
        given = {"--costs": self.costs, "--priors": self.priors}
        if self.class_weight not in (None, BALANCED):
            given["--class-weight"] = Path(str(self.class_weight))
        return {name: path for name, path in given.items() if path is not None}

    def read(self, y: Any) -> Decision:
        """Return what the files say of the classes of these labels."""
        classes = np.unique(np.asarray(y))
        files = self._files()
        costs = None if self.costs is None else _costs(self.costs, classes)
        shares = _by_class(files["--priors"], "--priors", classes, every=True) if "--priors" in files else None
        if shares is not None:
            try:
                priors_vector(shares, classes)
            except ValueError as error:
                raise ValueError(f"--priors: {self.priors}: {error}") from None
        weights: Any = self.class_weight
        if "--class-weight" in files:
            weights = _by_class(files["--class-weight"], "--class-weight", classes, every=False)
        return Decision(self.scoring, costs, shares, weights)


def _costs(path: Path, classes: np.ndarray) -> dict[Any, dict[Any, float]]:
    """Return the costs of predicting the first label when the truth is the second."""
    found = load_values(check_file(path, "--costs"), Reading(form="table"))
    if found.ids is None:
        raise ValueError(
            f"--costs: {path}: the classes are not named; write the true classes above the columns and the predicted "
            "ones before the rows."
        )
    label_of = _labels(found.ids, classes, f"--costs: {path}", every=True)
    values = found.values.toarray() if hasattr(found.values, "toarray") else found.values
    costs = {
        label_of[own]: {label_of[other]: float(cost) for other, cost in zip(found.ids, row)}
        for own, row in zip(found.ids, values.tolist())
    }
    try:
        costs_matrix(costs, classes)
    except ValueError as error:
        raise ValueError(f"--costs: {path}: {error}") from None
    return costs


def _by_class(path: Path, name: str, classes: np.ndarray, every: bool) -> dict[Any, float]:
    """Return the numbers of a table with two columns, class and number, by label; there may be a header."""
    rows = [[cell.strip() for cell in cells] for cells in read_cells(check_file(path, name))]
    if len(rows[0]) != 2:
        raise ValueError(f"{name}: {path}: has {len(rows[0])} columns; two are needed, the class and its number.")
    if isinstance(number_or_text(rows[0][1]), str):
        rows = rows[1:]
    for label, text in rows:
        if isinstance(number_or_text(text), str):
            raise ValueError(f"{name}: {path}: {text!r}, of the class {label!r}, is not a number.")
    label_of = _labels([label for label, _ in rows], classes, f"{name}: {path}", every)
    return {label_of[label]: float(text) for label, text in rows}


def _labels(names: list[str], classes: np.ndarray, where: str, every: bool) -> dict[str, Any]:
    """Return the labels that are written in a file, by their text; each must be a class."""
    known = {str(label): label for label in classes.tolist()}
    strange = [name for name in names if name not in known]
    lacking = [name for name in known if name not in names] if every else []
    twice = [name for i, name in enumerate(names) if name in names[:i]]
    for found, what in ((strange, "no class"), (lacking, "missing"), (twice, "named twice")):
        if found:
            raise ValueError(f"{where}: {what}: {some(found)}; the classes are {some(list(known))}.")
    return {name: known[name] for name in names}


def takes_decision(command: Callable[..., None]) -> Callable[..., None]:
    """Return a command whose parameter ``decision`` is replaced by the options of :class:`DecisionOptions`."""
    own = inspect.signature(command, eval_str=True).parameters
    hints = inspect.get_annotations(DecisionOptions, eval_str=True)
    options = [
        inspect.Parameter(each.name, inspect.Parameter.KEYWORD_ONLY, default=each.default, annotation=hints[each.name])
        for each in fields(DecisionOptions)
    ]
    parameters = []
    for each in own.values():
        parameters += options if each.name == "decision" else [each.replace(kind=inspect.Parameter.KEYWORD_ONLY)]

    @functools.wraps(command)
    def wrapped(**values: Any) -> None:
        given = {each.name: values.pop(each.name) for each in options}
        command(decision=DecisionOptions(**given), **values)

    wrapped.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    wrapped.__annotations__ = {each.name: each.annotation for each in parameters}
    return wrapped
