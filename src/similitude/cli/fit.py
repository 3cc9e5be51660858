"""``similitude fit``: choose method and parameters by cross-validation, fit on all samples, and save the model."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from similitude.cli.options import (
    AsJson,
    DatasetName,
    Dissimilarity,
    Jobs,
    Key,
    Labels,
    LabelsInOrder,
    Matrix,
    Quiet,
    Seed,
    TimeBudget,
    check_budget,
    check_jobs,
    notes,
)

if TYPE_CHECKING:
    from similitude.cli.data import LoadedData

AUTO = "auto"
FOLDS = 10
_SHOWN = 5


def fit_model(
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="MODEL", help="Where to save the model.", show_default=False)
    ],
    matrix: Matrix = None,
    labels: Labels = None,
    labels_in_order: LabelsInOrder = False,
    method: Annotated[
        str, typer.Option(metavar="NAME", help="A method of `similitude compare` (svm-clip, ...), or auto: the best.")
    ] = AUTO,
    time_budget: TimeBudget = None,
    dissimilarity: Dissimilarity = None,
    key: Key = None,
    dataset: DatasetName = None,
    seed: Seed = 0,
    n_jobs: Jobs = 1,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Choose method and parameters by cross-validation, fit on all samples, and save the model."""
    from similitude import save_model
    from similitude._utils.files import check_writable
    from similitude.cli.data import fold_count, read_samples

    name = named_method(method)
    check_jobs(n_jobs)
    check_budget(time_budget)
    if time_budget is not None and name != AUTO:
        raise ValueError(f"--time-budget is for --method auto; got {method!r}.")
    check_writable(output, "--output")
    say = notes(quiet)
    data = read_samples(matrix, labels, dissimilarity, dataset, key, say=say, seed=seed, in_order=labels_in_order)
    folds = fold_count(data.y, FOLDS, say)
    if name == AUTO:
        model, found = _chosen(data, folds, seed, time_budget, n_jobs, not quiet)
    else:
        model, found = _tuned(name, data, folds, seed, n_jobs, not quiet)
    outcome = {"asked": name, **found, "seed": seed, "samples": len(data.y)}
    save_model(output, model, ids=data.ids, notes=outcome)
    for failed, why in outcome.get("failures", {}).items():
        say(f"{failed} could not be used: {' '.join(why.split())}")
    if as_json:
        typer.echo(json.dumps({**outcome, "model": str(output)}, indent=2))
    elif not quiet:
        _show(outcome, output)


def named_method(name: str) -> str:
    """Return the method that is meant, whatever its case, spaces and brackets."""
    from similitude.search.methods import methods, slug

    known = {AUTO: AUTO, **{slug(known): known for known in methods()}}
    if slug(name) not in known:
        raise ValueError(f"--method must be one of {', '.join(known)}; got {name!r}.")
    return known[slug(name)]


def _tuned(name: str, data: LoadedData, folds: int, seed: int, n_jobs: int, show: bool) -> tuple[Any, dict[str, Any]]:
    """Return one method at the best point of its grid."""
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.model_selection import StratifiedKFold

    from similitude import PathSearchCV, SimilarityWarning
    from similitude.search.contest import at_best
    from similitude.search.methods import methods
    from similitude.search.parameters import plain_parameters

    (estimator, grid), *_ = methods([name], **data.contract).values()
    search = PathSearchCV(
        estimator,
        grid,
        cv=StratifiedKFold(folds, shuffle=True, random_state=seed),
        n_jobs=n_jobs,
        error_score="raise",
        refit=False,
        verbose=show,
    )
    with warnings.catch_warnings():
        # What there is to say about the matrix has been said; a machine that was stopped early is judged by its errors.
        warnings.simplefilter("ignore", SimilarityWarning)
        warnings.simplefilter("ignore", ConvergenceWarning)
        search.fit(data.X, data.y)
        model = at_best(estimator, search.best_params_).fit(data.X, data.y)
    error = float(1 - search.best_score_)
    return model, {"method": name, "parameters": plain_parameters(search.best_params_), "error": error, "folds": folds}


def _chosen(
    data: LoadedData, folds: int, seed: int, time_budget: float | None, n_jobs: int, show: bool
) -> tuple[Any, dict[str, Any]]:
    """The method that suits the data, and how all of them did; no times, so that the same model is the same file."""
    from similitude import AutoClassifier
    from similitude.search.parameters import plain_parameters

    auto = AutoClassifier(
        time_budget=time_budget, cv=folds, random_state=seed, n_jobs=n_jobs, verbose=int(show), **data.contract
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        auto.fit(data.X, data.y)
    rows = [
        {
            "method": row.method,
            "error": row.error,
            "standard_error": row.standard_error,
            "p_value": row.p_value,
            "parameters": plain_parameters(row.parameters),
        }
        for row in auto.leaderboard_
    ]
    (own,) = (row for row in rows if row["method"] == auto.best_method_)
    found = {name: own[name] for name in ("method", "parameters", "error")}
    return auto.best_estimator_, {
        **found,
        "folds": auto.n_folds_,
        "folds_wanted": folds,
        "leaderboard": rows,
        "failures": dict(auto.failures_),
        "left_out": list(auto.left_out_),
    }


def _show(outcome: dict[str, Any], output: Path) -> None:
    from similitude.search.parameters import parameters_text

    typer.echo(f"method      {outcome['method']}")
    typer.echo(f"parameters  {parameters_text(outcome['parameters']) or 'none to choose'}")
    done, wanted = outcome["folds"], outcome.get("folds_wanted", outcome["folds"])
    few = f", of which there was time for {done} folds" if done < wanted else ""
    typer.echo(f"error       {100 * outcome['error']:.2f} % ({wanted}-fold cross-validation that chose them{few})")
    rows = outcome.get("leaderboard", [])
    for i, row in enumerate(rows[:_SHOWN]):
        error = f"{100 * row['error']:.2f} ({100 * row['standard_error']:.2f})"
        typer.echo(f"{'best ones' if i == 0 else '':<12}{error:<14}{row['method']}")
    if len(rows) > _SHOWN:
        typer.echo(f"{'':<12}and {len(rows) - _SHOWN} more; the simplest within a standard error of the first is taken")
    if outcome.get("left_out"):
        typer.echo(f"no time for {', '.join(outcome['left_out'])}")
    typer.echo(f"model       {output}")
