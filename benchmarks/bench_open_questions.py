"""What the papers leave open: the treatment of new rows, what the diagnosis foretells, and kernels beside features.

The data are the real matrices of the arena, on partitions that its page does not use.
"""

import warnings
from typing import Any, NamedTuple

import numpy as np
from scipy import stats

from benchmarks.arena.data import SIMULATED, SOURCES, DataMissing, Dataset, load, partition_of
from similitude import IndefiniteNystroem, PathSearchCV, SimilarityFeatures, SimilaritySVC, SpectrumModifier, diagnose
from similitude.auto import methods
from similitude.numerics.significance import standard_error, wilcoxon_greater
from similitude.proximity import LearnedMap

PARTITIONS = range(200, 210)
FEW_PARTITIONS = range(200, 203)
"""Of data sets with more than MOST samples, on which the augmented treatment is not tried either."""
MOST = 500
COSTS = np.logspace(-3, 3, 7)
TREATMENTS = ("P s", "augmented", "together", "whole matrix", "untreated")
PROTOTYPES = (5, 10, 20, 40, 80, 160)


class Cell(NamedTuple):
    """The symmetric similarities of a partition, whose first samples are those of the training part."""

    S: np.ndarray
    y: np.ndarray
    n: int

    @property
    def train(self) -> tuple[np.ndarray, np.ndarray]:
        """The similarities among the training samples, and their labels."""
        return self.S[: self.n, : self.n], self.y[: self.n]

    def error(self, fitted: Any, rows: np.ndarray) -> float:
        """Return the error in percent on the test part."""
        return 100 * float(np.mean(fitted.predict(rows) != self.y[self.n :]))


def cell_of(dataset: Dataset, partition: int) -> Cell:
    """Return a partition of a data set; distances are mapped by max-minus, learned from the training part."""
    train, test = partition_of(dataset.labels, partition)
    order = np.concatenate([train, test])
    S = (dataset.matrix + dataset.matrix.T)[np.ix_(order, order)] / 2
    if dataset.kind == "dissimilarity":
        S = LearnedMap.learn(S[: len(train), : len(train)], "max-minus")(S)
    return Cell(S / np.abs(S).max(), dataset.labels[order], len(train))


def tuned(X: np.ndarray, y: np.ndarray, spectrum: str = "none") -> Any:
    """Return an SVM whose C was chosen by cross-validation."""
    if spectrum == "none":  # a kernel
        machine, grid = SimilaritySVC(spectrum="none"), {"C": COSTS / max(float(np.mean(np.diagonal(X))), 1e-300)}
    else:
        machine, grid = methods([f"svm-{spectrum}"])[f"SVM ({spectrum})"]
    return PathSearchCV(machine, grid, cv=5).fit(X, y)


def treatments(cell: Cell, method: str) -> dict[str, float]:
    """Return the errors of an SVM by the treatment of the new rows."""
    S, n = cell.S, cell.n
    X, y = cell.train
    plain = tuned(X, y, method)
    C = plain.best_params_["C"]
    rows = S[n:, :n]
    found = {"P s": cell.error(plain, rows)}
    modifier = SpectrumModifier(method).fit(X)
    machine = SimilaritySVC(C=C, spectrum="none").fit(modifier.transform(X), y)
    found["untreated"] = cell.error(machine, rows)
    if len(S) <= MOST:
        found["augmented"] = cell.error(machine, SpectrumModifier(method, test_rows="augmented").fit(X).transform(rows))
    found["together"] = cell.error(SimilaritySVC(C=C, spectrum=method, transductive=True).fit(X, y), S[n:])
    whole = SpectrumModifier(method).fit_transform(S)
    found["whole matrix"] = cell.error(tuned(whole[:n, :n], y), whole[n:, :n])
    return found


def by_prototypes(cell: Cell, partition: int) -> dict[tuple[str, int], float]:
    """Return the errors of linear machines on Nystroem kernels and on similarities, with the same prototypes."""
    X, y = cell.train
    rows = cell.S[cell.n :, : cell.n]
    found = {}
    for m in PROTOTYPES:
        if m > cell.n:
            continue
        makers = {
            "kernel (clip)": IndefiniteNystroem(m, "clip", random_state=partition),
            "kernel (flip)": IndefiniteNystroem(m, "flip", random_state=partition),
            "features": SimilarityFeatures(m, random_state=partition),
        }
        for name, maker in makers.items():
            F = maker.fit_transform(X)
            found[name, m] = cell.error(tuned(F @ F.T, y), maker.transform(rows) @ F.T)
    return found


def run() -> list[dict]:
    """Return rows with the mean errors, the differences with their standard errors over the data sets, and p."""
    try:
        datasets = load([name for name in SOURCES if name not in SIMULATED])
    except DataMissing as error:
        return [{"name": "open questions", "goal": str(error)}]
    errors: dict[tuple[str, str], dict[str, float]] = {}
    curves: dict[tuple[str, int], dict[str, float]] = {}
    facts: dict[str, dict[str, float]] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for dataset in datasets:
            seen: dict[Any, list[float]] = {}
            for partition in PARTITIONS if len(dataset.labels) <= MOST else FEW_PARTITIONS:
                cell = cell_of(dataset, partition)
                for method in ("clip", "flip"):
                    for name, value in treatments(cell, method).items():
                        seen.setdefault((method, name), []).append(value)
                rows = cell.S[cell.n :, : cell.n]
                seen.setdefault(("features", "P s"), []).append(cell.error(tuned(*cell.train, "square"), rows))
                for key, value in by_prototypes(cell, partition).items():
                    seen.setdefault(key, []).append(value)
            for key, values in seen.items():
                place = curves if isinstance(key[1], int) else errors
                place.setdefault(key, {})[dataset.name] = float(np.mean(values))
            facts[dataset.name] = _facts(dataset)
    return [*_of_treatments(errors), *_of_diagnosis(errors, facts), *_of_prototypes(curves)]


def _facts(dataset: Dataset) -> dict[str, float]:
    contract = {"dissimilarity": "max-minus"} if dataset.kind == "dissimilarity" else {}
    found = diagnose(dataset.matrix, dataset.labels, **contract)
    return {
        "negative eigenfraction": found.negative_eigenfraction,
        "asymmetry": found.asymmetry,
        "hubness": found.hubness,
    }


def _compared(first: dict[str, float], second: dict[str, float]) -> str:
    """Return the mean difference of two errors over the data sets that both have, with its standard error and p."""
    names = [name for name in first if name in second]
    a, b = (np.array([own[name] for name in names]) for own in (first, second))
    p = min(1.0, 2 * min(wilcoxon_greater(a, b), wilcoxon_greater(b, a)))
    return f"{np.mean(a - b):+.2f} (standard error {standard_error(a - b):.2f}, p {p:.3f}, {len(names)} sets)"


def _of_treatments(errors: dict[tuple[str, str], dict[str, float]]) -> list[dict]:
    found = []
    for method in ("clip", "flip"):
        plain = errors[method, "P s"]
        for name in TREATMENTS:
            own = errors[method, name]
            text = f"error {np.mean(list(own.values())):.2f}%"
            if name != "P s":
                text += f"; against P s {_compared(own, plain)}"
            found.append({"name": f"new rows, {method}: {name}", "goal": text})
    return found


def _of_diagnosis(errors: dict[tuple[str, str], dict[str, float]], facts: dict[str, dict[str, float]]) -> list[dict]:
    found = []
    for other in ("flip", "features"):
        gains = {name: errors["clip", "P s"][name] - value for name, value in errors[other, "P s"].items()}
        values = np.array(list(gains.values()))
        for fact in next(iter(facts.values())):
            known = np.array([facts[name][fact] for name in gains])
            text = f"mean gain {values.mean():+.2f} points, from {values.min():+.1f} to {values.max():+.1f}; "
            kept = np.isfinite(known)
            rank, p = stats.spearmanr(known[kept], values[kept])
            text += f"rank correlation {rank:+.2f} (p {p:.3f}, {kept.sum()} sets)"
            found.append({"name": f"gain of {other} over clip, by {fact}", "goal": text})
    return found


def _of_prototypes(curves: dict[tuple[str, int], dict[str, float]]) -> list[dict]:
    found = []
    for m in PROTOTYPES:
        features = curves["features", m]
        text = f"features {np.mean(list(features.values())):.2f}%"
        for name in ("kernel (clip)", "kernel (flip)"):
            own = curves[name, m]
            text += f"; {name} {np.mean(list(own.values())):.2f}%, against features {_compared(own, features)}"
        found.append({"name": f"{m} prototypes", "goal": text})
    return found
