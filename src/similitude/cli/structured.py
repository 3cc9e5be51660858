"""Labels that form a tree, and several labels, on the command line: fitting, predicting, and what is printed of it."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import typer

from similitude._utils.checks import did_you_mean
from similitude._utils.warn import silenced
from similitude.auto.methods import slug
from similitude.cli.data import Input
from similitude.cli.options import Source, Unlabelled
from similitude.cli.output import Notes
from similitude.evaluation import parameters_text
from similitude.multilabel import HierarchicalClassifier, LabelTree, MultilabelClassifier
from similitude.multilabel.hierarchical import assigned, read_nodes
from similitude.multilabel.scores import METHODS
from similitude.multilabel.tree import nodes_of_lineage
from similitude.proximity.files import read_cells
from similitude.sets.operating_points import UNASSIGNED

_MOST_COLUMNS = 100
"""The largest number of labels of which ``predict`` writes a column of probabilities for each."""
_SEPARATOR = ";"


def fit_structured(source: Source, data: Input, method: str, seed: int, show: bool) -> tuple[Any, dict[str, Any]]:
    """Return the fitted classifier of trees or of several labels, and its outcome for the notes of the model."""
    options: dict[str, Any] = {"methods": _named(method), "random_state": seed, "verbose": int(show), **data.contract}
    separator, tree = source.lineage_separator, None if source.tree is None else read_tree(source.tree)
    if source.has_several_labels:
        labels = several_labels(data.y, source.label_separator)
        if separator is not None:
            labels = [["".join(nodes_of_lineage(label, separator)[-1:]) for label in own] for own in labels]
            labels = [[label for label in own if label] for own in labels]
            tree = tree or LabelTree.from_lineages((label for own in labels for label in own), separator)
        model: Any = MultilabelClassifier(tree, **options)
        y: Any = labels
    else:
        model, y = HierarchicalClassifier(tree=tree, separator=separator, **options), lineages(data.y)
    with silenced():
        model.fit(data.X, y, **data.fold_arguments)
    outcome: dict[str, Any] = {
        "asked": method,
        "method": "several labels" if source.has_several_labels else "tree",
        "members": [
            {"method": row.method, "loss": row.loss, "weight": row.weight, "parameters": row.parameters}
            for row in model.methods_.rows
        ],
        "left_out": model.left_out_,
        "folds": int(min(5, len(y))),
        "labels": len(model.classes_),
    }
    if source.has_several_labels:
        outcome["figures"] = {name: _plain(value) for name, value in vars(model.figures_).items()}
        outcome["separator"] = source.label_separator or _SEPARATOR
    else:
        outcome["ranks"] = [{name: _plain(value) for name, value in vars(row).items()} for row in model.by_rank().rows]
        outcome["unassigned"], outcome["confidence"] = model.by_rank().unassigned, model.confidence
        outcome["rank_names"] = rank_names(source, model.tree_)
    return model, outcome


def _plain(value: Any) -> Any:
    return None if isinstance(value, float) and np.isnan(value) else value


def _named(method: str) -> Any:
    """Return the parameter ``methods`` for a name on the command line."""
    known = {slug(name): name for name in METHODS}
    if slug(method) == "auto":
        return "all"
    if slug(method) not in known:
        raise ValueError(
            f"--method must be auto or one of {', '.join(known)} for trees and several labels; got {method!r}."
            f"{did_you_mean(slug(method), known)}"
        )
    return [known[slug(method)]]


def lineages(y: Any) -> Any:
    """Return the labels of a file as text; those in several columns stay in columns."""
    values = np.asarray(y)
    return values if values.ndim == 2 else [str(label) for label in values.tolist()]


def several_labels(y: Any, separator: str | None) -> list[list[str]]:
    """Return the labels of each sample: those of its rows, each divided by the separator."""
    found = []
    for own in y.tolist() if isinstance(y, np.ndarray) else list(y):
        cells = own if isinstance(own, (tuple, list)) else [own]
        parts = [part.strip() for cell in cells for part in (str(cell).split(separator) if separator else [str(cell)])]
        found.append([part for part in parts if part])
    return found


def shown_labels(model: Any, data: Input, labels: list[list[str]] | None) -> np.ndarray:
    """Return one label of each sample, for pictures by class: its top node, or its most frequent label."""
    if labels is None:
        tree = model.tree_
        _, truth = read_nodes(lineages(data.y), len(data.y), tree, model.separator)
        return tree.nodes[tree.lines()[truth, 0]]
    counts = Counter(label for own in labels for label in own)
    return np.array([max(own, key=lambda label: (counts[label], label), default="no label") for own in labels])


def read_tree(path: Path) -> LabelTree:
    """Return the tree in a file with a child and its parent in each row."""
    pairs = []
    for i, cells in enumerate(read_cells(path)):
        cells = [cell.strip() for cell in cells]
        if len(cells) not in (1, 2):
            raise ValueError(f"--tree: {path}: row {i + 1} has {len(cells)} cells; a child and its parent are needed.")
        if i == 0 and [cell.lower() for cell in cells] in (["child", "parent"], ["node", "parent"], ["id", "parent"]):
            continue
        pairs.append((cells[0], cells[1] if len(cells) == 2 else ""))
    try:
        return LabelTree(pairs)
    except ValueError as error:
        raise ValueError(f"--tree: {path}: {error}") from None


def rank_names(source: Source, tree: LabelTree) -> list[str]:
    """Return the headings of the ranks: the names of columns, or numbers."""
    columns = source.lineage_columns
    return list(columns) if columns else [f"rank {d + 1}" for d in range(tree.n_ranks)]


def show_structured(model: Any, outcome: dict[str, Any], output: Path) -> None:
    """Print the outcome of ``fit``."""
    used = [row for row in outcome["members"] if row["weight"] > 0]
    for i, row in enumerate(sorted(used, key=lambda own: -own["weight"])):
        settings = f" ({parameters_text(row['parameters'])})" if row["parameters"] else ""
        typer.echo(f"{'' if i else 'members':<12}{row['weight']:.2f}  {row['method']}{settings}")
    figures = model.figures_ if isinstance(model, MultilabelClassifier) else model.by_rank()
    for i, line in enumerate(repr(figures).splitlines()):
        typer.echo(f"{'' if i else 'left out':<12}{line}")
    if outcome["left_out"]:
        typer.echo(f"not used    {', '.join(outcome['left_out'])} (too many samples)")
    typer.echo(f"model       {output}")


def is_structured(fitted: Any) -> bool:
    """Return whether a model predicts nodes of a tree or several labels."""
    return isinstance(fitted, (HierarchicalClassifier, MultilabelClassifier))


def structured_columns(
    fitted: Any, notes: dict[str, Any], X: Any, confidence: float | None
) -> tuple[list[str], dict[str, list]]:
    """Return the labels that ``predict`` writes, and the columns that it adds to them."""
    if isinstance(fitted, MultilabelClassifier):
        return _label_columns(fitted, notes, X, confidence)
    nodes, proba = fitted.predict_ranks(X)
    wanted = fitted.confidence if confidence is None else confidence
    labels = assigned(fitted.classes_, nodes, proba, wanted)
    depth = ((nodes >= 0) & (proba >= wanted)).sum(axis=1)
    sure = np.where(depth > 0, proba[np.arange(len(proba)), np.maximum(depth - 1, 0)], proba[:, 0])
    columns: dict[str, list] = {"confidence": sure.tolist()}
    names = notes.get("rank_names")
    if not isinstance(names, list) or len(names) != nodes.shape[1]:
        names = [f"rank {d + 1}" for d in range(nodes.shape[1])]
    for d, name in enumerate(map(str, names)):
        columns[name] = np.where(nodes[:, d] >= 0, fitted.classes_[np.maximum(nodes[:, d], 0)], "").tolist()
        columns[f"P({name})"] = proba[:, d].tolist()
    return labels.tolist(), columns


def _label_columns(
    fitted: MultilabelClassifier, notes: dict[str, Any], X: Any, confidence: float | None
) -> tuple[list[str], dict[str, list]]:
    P = fitted.predict_proba(X)
    least = fitted.threshold if confidence is None else confidence
    between = str(notes.get("separator", _SEPARATOR))
    names = [str(label) for label in fitted.classes_.tolist()]
    labels, sure = [], []
    for row in P:
        own = [j for j in np.argsort(-row, kind="stable") if row[j] >= least]
        labels.append(between.join(names[j] for j in own) or UNASSIGNED)
        sure.append(between.join(f"{row[j]:.4f}" for j in own) or f"{row.max():.4f}")
    columns: dict[str, list] = {"confidence": sure}
    if len(names) <= _MOST_COLUMNS:
        columns |= {f"P({name})": P[:, j].tolist() for j, name in enumerate(names)}
    return labels, columns


def check_options(
    prefer: str, time_budget: float | None, decision: Any, unlabelled: Unlabelled, n_jobs: int, note: Notes
) -> None:
    """Raise a ValueError for options of ``fit`` that trees and several labels do not have."""
    if time_budget is not None:
        raise ValueError("--time-budget is for one label per sample; with a tree or several labels use --method.")
    if unlabelled is Unlabelled.use:
        raise ValueError("--unlabelled use is for one label per sample, not for a tree or several labels.")
    given = [name for name, value in vars(decision).items() if value is not None]
    if given:
        option = given[0].replace("_", "-")
        raise ValueError(f"--{option} is for one label per sample; it cannot be used with a tree or several labels.")
    if prefer != "accuracy":
        raise ValueError(f"--prefer {prefer} is for one label per sample; with a tree or several labels use --method.")
    if n_jobs != 1:
        note("--n-jobs: folds of trees and of several labels are done one after the other, with threads in each.")
