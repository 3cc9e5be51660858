"""``similitude compare``: cross-validate every method on one data set and rank them."""

from __future__ import annotations

import csv
import json
import time
import warnings
from collections import Counter
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

NEIGHBORS = [*range(1, 17), 32, 64, 128]
RIDGES = [10.0**j for j in range(-3, 2)]
COSTS = [10.0**j for j in range(-3, 3)]
PRICES = [0.1, 1.0, 10.0]
SMOOTHNESS = [1e-3, 1e-2]


@dataclass(frozen=True)
class Outcome:
    """The error of one method over the outer folds."""

    method: str
    error: float
    standard_error: float
    parameters: str
    seconds: float


def methods(**contract: Any) -> dict[str, tuple[Any, dict[str, list]]]:
    """The methods by name, each an estimator with the grid its parameters are chosen from."""
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
    from sklearn.neighbors import NearestCentroid as NearestMean
    from sklearn.pipeline import make_pipeline

    from similitude import (
        DBoostClassifier,
        KNNClassifier,
        LearnedSpectrumSVC,
        LocalNearestCentroid,
        LocalSVC,
        LPMachine,
        NearestCentroid,
        PotentialSVC,
        PseudoEuclideanEmbedding,
        RobustSVC,
        SimilaritySVC,
    )
    from similitude.features.recipes import RECIPES, recipe

    shrinkage = LinearDiscriminantAnalysis(solver="lsqr", shrinkage="auto")
    local = {"n_neighbors": NEIGHBORS, "reg": RIDGES}
    table: dict[str, tuple[Any, dict[str, list]]] = {
        "k-NN": (KNNClassifier(**contract), {"n_neighbors": NEIGHBORS}),
        "affinity k-NN": (KNNClassifier(weights="affinity", **contract), {"n_neighbors": NEIGHBORS}),
        "KRI k-NN": (KNNClassifier(weights="kri", **contract), {**local, "consistent": [False, True]}),
        "KRR k-NN": (KNNClassifier(weights="krr", spectrum="pinv", **contract), local),
        "SVM-KNN": (LocalSVC(**contract), {"n_neighbors": NEIGHBORS, "C": COSTS}),
        "nearest centroid": (NearestCentroid(**contract), {}),
        "local nearest centroid": (LocalNearestCentroid(**contract), {"n_neighbors": NEIGHBORS}),
        "nearest mean (embedded)": (make_pipeline(PseudoEuclideanEmbedding(0.95, **contract), NearestMean()), {}),
        "Fisher (embedded)": (make_pipeline(PseudoEuclideanEmbedding(0.95, **contract), shrinkage), {}),
    }
    for spectrum in ("clip", "flip", "shift", "square"):
        table[f"SVM ({spectrum})"] = (SimilaritySVC(spectrum=spectrum, **contract), {"C": COSTS})
    table["robust SVM"] = (RobustSVC(**contract), {"C": PRICES[1:], "rho": PRICES[1:]})
    table["learned-spectrum SVM"] = (LearnedSpectrumSVC(**contract), {"eta": SMOOTHNESS, "gamma": PRICES})
    table["P-SVM"] = (PotentialSVC(**contract), {"epsilon": PRICES})
    table["LP machine"] = (LPMachine(**contract), {"C": [0.1, *PRICES[1:], 100.0]})
    table["DBoost"] = (DBoostClassifier(random_state=0, **contract), {"n_rounds": [30, 100, 300]})
    table |= {f"{name} (features)": recipe(name, **contract) for name in RECIPES}
    return table


def cross_validated(name: str, estimator: Any, grid: dict, X: Any, y: Any, folds: int, seed: int) -> Outcome:
    """Nested cross-validation: parameters are chosen by 5 folds within each outer training part."""
    import numpy as np
    from sklearn.model_selection import StratifiedKFold, cross_validate

    from similitude import PathSearchCV

    start = time.perf_counter()
    outer = StratifiedKFold(folds, shuffle=True, random_state=seed)
    inner = StratifiedKFold(5, shuffle=True, random_state=seed)
    search = PathSearchCV(estimator, grid, cv=inner)
    done = cross_validate(search, X, y, cv=outer, return_estimator=True, error_score="raise")
    errors = 1 - done["test_score"]
    chosen = Counter(_words(fitted.best_params_) for fitted in done["estimator"])
    return Outcome(
        method=name,
        error=float(np.mean(errors)),
        standard_error=float(np.std(errors, ddof=1) / np.sqrt(folds)),
        parameters=chosen.most_common(1)[0][0],
        seconds=time.perf_counter() - start,
    )


def _words(parameters: dict[str, Any]) -> str:
    return ", ".join(
        f"{name.split('__')[-1]}={value if isinstance(value, bool) else format(value, 'g')}"
        for name, value in parameters.items()
    )


def compare_methods(
    matrix: Annotated[
        Path | None, typer.Argument(metavar="[MATRIX]", help="File with a square matrix.", show_default=False)
    ] = None,
    labels: Annotated[
        Path | None, typer.Option(metavar="FILE", help="File with one class label per sample.", show_default=False)
    ] = None,
    dissimilarity: Annotated[
        str | None,
        typer.Option(metavar="MAP", help="The matrix holds dissimilarities, turned by this map.", show_default=False),
    ] = None,
    key: Annotated[
        str | None, typer.Option(metavar="NAME", help="Which array, of a file with several.", show_default=False)
    ] = None,
    dataset: Annotated[
        str | None, typer.Option(metavar="NAME", help="Data that ships, instead of MATRIX: voting.", show_default=False)
    ] = None,
    folds: Annotated[int, typer.Option(min=2, metavar="N", help="Outer folds.")] = 10,
    seed: Annotated[int, typer.Option(min=0, max=2**32 - 1, metavar="N", help="Seed of the folds.")] = 0,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE.csv", help="Save the table.", show_default=False)
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON list.")] = False,
) -> None:
    """Cross-validate every method and rank them by error."""
    from sklearn.exceptions import ConvergenceWarning

    from similitude import SimilarityWarning
    from similitude.numerics.progress import progress

    X, y, contract, title = _data(matrix, labels, dissimilarity, dataset, key)
    _check_classes(y, folds)
    table = methods(**contract)
    if output is not None:
        output.touch()  # a folder that cannot be written is said before the work, not after
    steps = progress(table.items(), len(table), "methods")
    with warnings.catch_warnings():
        # What there is to say about the matrix has been said once, above.
        warnings.simplefilter("ignore", SimilarityWarning)
        # A machine that was stopped early is judged by its errors like any other.
        warnings.simplefilter("ignore", ConvergenceWarning)
        outcomes = [cross_validated(name, *method, X, y, folds, seed) for name, method in steps]
    outcomes.sort(key=lambda outcome: outcome.error)
    if output is not None:
        _save(outcomes, output)
    if as_json:
        typer.echo(json.dumps([asdict(outcome) for outcome in outcomes], indent=2))
        return
    _show(
        outcomes,
        title,
        f"{folds}-fold cross-validation, parameters chosen within each training part by 5 folds; s.e.: standard error",
    )
    if output is not None:
        typer.echo(f"saved to {output}")


def _data(
    matrix: Path | None, labels: Path | None, dissimilarity: str | None, dataset: str | None, key: str | None
) -> tuple:
    from similitude.datasets import load_proximity, load_voting
    from similitude.proximity.check import looks_like_dissimilarity

    if (matrix is None) == (dataset is None):
        raise ValueError("give either MATRIX with --labels, or --dataset.")
    if matrix is None:
        if dataset != "voting":
            raise ValueError(f"--dataset must be 'voting'; got {dataset!r}.")
        voting = load_voting()
        title = "voting: 435 representatives, 16 votes, value difference metric learned on each training part"
        return voting.data, voting.target, {"similarity": "vdm"}, title
    if labels is None:
        raise ValueError("--labels: comparing classifiers needs a file with one label per sample.")
    data = load_proximity(matrix, labels=labels, key=key)
    if dissimilarity is None and looks_like_dissimilarity(data.S):
        typer.echo(
            f"similitude: warning: {matrix} has a zero diagonal and is positive elsewhere: it looks like a "
            "dissimilarity. If it is one, add --dissimilarity max-minus (or another map).",
            err=True,
        )
    return data.S, data.y, {"dissimilarity": dissimilarity}, str(matrix)


def _check_classes(y: Any, folds: int) -> None:
    counts = Counter(list(y))
    if len(counts) < 2:
        raise ValueError(f"labels: at least two classes are needed; got {len(counts)}.")
    label, least = min(counts.items(), key=lambda item: item[1])
    if least < folds:
        raise ValueError(
            f"labels: class {str(label)!r} has {least} samples, fewer than the {folds} folds; lower --folds or drop it."
        )


def _save(outcomes: list[Outcome], path: Path) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(asdict(outcomes[0])), lineterminator="\n")
        writer.writeheader()
        writer.writerows(asdict(outcome) for outcome in outcomes)


def _show(outcomes: list[Outcome], title: str, caption: str) -> None:
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    table = Table(title=escape(title), caption=caption, title_justify="left", caption_justify="left")
    table.add_column("rank", justify="right")
    table.add_column("method")
    table.add_column("error % (s.e.)", justify="right")
    table.add_column("chosen most often")
    table.add_column("seconds", justify="right")
    for rank, outcome in enumerate(outcomes, 1):
        error = f"{100 * outcome.error:.2f} ({100 * outcome.standard_error:.2f})"
        table.add_row(str(rank), outcome.method, error, outcome.parameters, f"{outcome.seconds:.1f}")
    Console().print(table)
