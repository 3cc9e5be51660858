"""The result of choosing a model, as plain data, with the samples that the model misclassified."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import clone

from similitude.auto.leaderboard import COMBINATION, LeaderboardRow
from similitude.auto.methods import COMPARED_ONLY
from similitude.numerics.class_columns import ClassColumns
from similitude.numerics.topk import top_k
from similitude.proximity.maps import LearnedMap
from similitude.proximity.proximities import as_proximities
from similitude.proximity.unknown import NEEDS_ALL_PAIRS, LearnedFill
from similitude.reader import Contract, Samples
from similitude.report.code import Source, model_lines
from similitude.report.risk import RiskFindings, find_risk
from similitude.report.sets import SetFindings, find_sets, without_self
from similitude.splits.nearness import ErrorBySimilarity, errors_in_bins

MOST_MISTAKES = 1000
MOST_NEIGHBORS = 12
_USUAL_NEIGHBORS = 10


@dataclass(frozen=True)
class Mistake:
    """A misclassified sample."""

    sample: int
    predicted: int
    neighbors: np.ndarray
    similarities: np.ndarray
    weights: np.ndarray | None
    n_voting: int
    votes: np.ndarray


@dataclass(frozen=True)
class Outcome:
    """The result of choosing a model."""

    leaderboard: tuple[LeaderboardRow, ...]
    method: str
    members: tuple[tuple[str, float], ...]
    prefer: str
    score: str
    compared_only: tuple[str, ...]
    not_testable: tuple[str, ...]
    left_out: tuple[str, ...]
    nested_error: float | None
    predicted: np.ndarray | None
    posteriors: Any
    """An array (n, G), or KeptPosteriors."""
    member_posteriors: Any
    mistakes: tuple[Mistake, ...]
    n_mistakes: int
    weights: str | None
    code: tuple[str, ...]
    stopped: tuple[LeaderboardRow, ...] = ()
    budget: str = ""
    sets: SetFindings | None = None
    nearness: ErrorBySimilarity | None = None
    risk: RiskFindings | None = None
    not_applicable: tuple[str, ...] = ()
    """The methods that need all pairs, if some are unknown."""
    unlabelled: str = ""

    def confusion(self, labels: np.ndarray, n_classes: int) -> np.ndarray:
        """Return the numbers of tested samples by true class (row) and predicted class (column)."""
        pairs = (labels * n_classes + self.predicted)[self.tested]
        return np.bincount(pairs, minlength=n_classes**2).reshape(n_classes, n_classes)

    @property
    def tested(self) -> np.ndarray:
        """The positions of the samples that were tested."""
        return np.flatnonzero(() if self.predicted is None else self.predicted >= 0)


@dataclass(frozen=True)
class KeptPosteriors:
    """Posteriors (..., n, G) of which each sample has those of some classes: rows are made of the samples asked for.

    ``place`` is the row of each sample in ``kept``, or -1 if it was not tested.
    """

    columns: ClassColumns
    kept: np.ndarray
    place: np.ndarray

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of all posteriors."""
        return (*self.kept.shape[:-2], len(self.place), self.columns.n_classes)

    def of(self, sample: int) -> np.ndarray:
        """Return the posteriors (..., G) of one sample."""
        row = self.place[[sample]]
        return self.columns.at(row).all(self.kept[..., row, :])[..., 0, :]

    def at(self, samples: np.ndarray, classes: np.ndarray) -> np.ndarray:
        """Return the posterior (...,) of a class of each sample."""
        rows = self.place[samples]
        return self.kept[..., rows, self.columns.at(rows).codes(classes)]


def posteriors_of(found: Any, sample: int) -> np.ndarray:
    """Return the posteriors (..., G) of one sample."""
    return found.of(sample) if isinstance(found, KeptPosteriors) else found[..., sample, :]


def posteriors_at(found: Any, samples: np.ndarray, classes: np.ndarray) -> np.ndarray:
    """Return the posterior of a class of each sample."""
    return found.at(samples, classes) if isinstance(found, KeptPosteriors) else found[samples, classes]


def find_outcome(
    auto: Any,
    samples: Samples,
    S: Any,
    classes: np.ndarray,
    labels: np.ndarray,
    source: Source | None,
    contract: dict[str, Any],
) -> Outcome:
    """Return the result of choosing a model, from the fitted AutoClassifier."""
    left_out = auto.out_of_fold_
    if samples.everything is not None:  # whose positions are those among all samples
        left_out = replace(left_out, samples=np.searchsorted(samples.labelled, left_out.samples))
    predicted, posteriors, by_member = _out_of_fold(left_out, classes, labels)
    members = auto.best_estimator_.members_
    single = members[0].estimator if len(members) == 1 else None
    voter = single if hasattr(single, "neighbor_weights") else None
    rows = [row for row in auto.leaderboard_ if not row.stopped]
    if rows[0].score is None:
        rows.sort(key=lambda row: (row.error, not row.chosen))
    names = [row.method for row in rows if row.method != COMBINATION]
    return Outcome(
        leaderboard=tuple(rows),
        method=str(auto.best_method_),
        members=tuple((member.name, member.weight) for member in members),
        prefer=auto.prefer,
        score=_score(auto),
        compared_only=() if set(names) <= set(COMPARED_ONLY) else tuple(n for n in names if n in COMPARED_ONLY),
        not_testable=tuple(str(label) for label in auto.not_testable_.tolist()),
        left_out=tuple(auto.left_out_),
        nested_error=auto.nested_error_,
        predicted=predicted,
        posteriors=posteriors,
        member_posteriors=by_member if len(members) > 1 else None,
        mistakes=() if predicted is None else find_mistakes(samples, S, labels, predicted, posteriors, voter),
        n_mistakes=0 if predicted is None else int(np.sum((predicted != labels) & (predicted >= 0))),
        weights=None if voter is None else str(voter.weights),
        code=model_lines(auto.best_estimator_, source, contract),
        stopped=tuple(row for row in auto.leaderboard_ if row.stopped),
        budget=_budget(auto),
        sets=find_sets(auto, S),
        nearness=_nearness(left_out, classes[labels], samples),
        risk=find_risk(auto, left_out, predicted, labels),
        not_applicable=tuple(name for name, why in getattr(auto, "failures_", {}).items() if NEEDS_ALL_PAIRS in why),
        unlabelled="" if getattr(auto, "unlabelled_", None) is None else str(auto.unlabelled_),
    )


def _nearness(found: Any, y: np.ndarray, samples: Samples) -> ErrorBySimilarity | None:
    """Return the errors by the similarity to the nearest training sample, if it is known."""
    if getattr(found, "nearest", None) is None:
        return None
    wrong = found.labels != y[found.samples]
    return errors_in_bins(found.nearest, wrong, dissimilarity=samples.contract.map_name is not None)


def _budget(auto: Any) -> str:
    """Return what the time was spent on, if there was a limit or methods were left out."""
    report = getattr(auto, "budget_report_", None)
    if report is None or not (report.budget is not None or report.left_out or report.too_large or report.interrupted):
        return ""
    return str(report)


def _score(auto: Any) -> str:
    """Return the name of the score by which points were chosen and methods were combined."""
    if auto.scoring is None:
        return "Brier score" if auto.costs is None else "expected cost"
    return f"score {auto.scoring!r}" if isinstance(auto.scoring, str) else "given scorer"


def _out_of_fold(found: Any, classes: np.ndarray, labels: np.ndarray) -> tuple[np.ndarray | None, Any, Any]:
    """Return the predictions, as positions among the classes, the posteriors, and those of the members."""
    if found is None:
        return None, None, None
    n, tested = len(labels), found.samples
    if len(tested) != len(found.labels) or np.max(tested) >= n or not np.isin(found.labels, classes).all():
        raise ValueError("auto: out_of_fold_ must hold labels of y for the samples; was it fitted on the same data?")
    predicted = np.full(n, -1)
    predicted[tested] = np.searchsorted(classes, found.labels)

    columns = getattr(found, "columns", None)
    if columns is not None and columns.own is not None:
        place = np.full(n, -1)
        place[tested] = np.arange(len(tested))
        proba, members = (KeptPosteriors(columns, kept, place) for kept in (found.kept_proba, found.kept_members))
        return predicted, proba, members

    def of_all(values: Any) -> np.ndarray | None:
        if values is None:
            return None
        whole = np.full((*values.shape[:-2], n, len(classes)), np.nan)
        whole[..., tested, :] = values
        return whole

    return predicted, of_all(found.proba), of_all(found.members)


def similarities_of(samples: Samples, map_name: str | None) -> Any:
    """Return the similarities of all samples, under a map if they are dissimilarities."""
    given = as_proximities(samples.values)
    native, fill = given.S, None
    if samples.unknown:
        fill = given.fill or "class-blind mean"
    elif sparse.issparse(native) and given.absent == "farthest" and map_name is not None:
        fill = "farthest"
    if fill is not None:
        learned = LearnedFill.learn(native, fill, dissimilarities=map_name is not None)
        native = learned(native, square=samples.contract.is_precomputed)
    return native if map_name is None else LearnedMap.learn(native, map_name, name="X")(native, name="X")


def find_mistakes(
    samples: Samples, S: Any, labels: np.ndarray, predicted: np.ndarray, posteriors: Any, voter: Any
) -> tuple[Mistake, ...]:
    """Return the mistakes, the most confident first; ``voter`` is the k-NN classifier that made them, or None."""
    wrong = np.flatnonzero((predicted != labels) & (predicted >= 0))
    if posteriors is not None and len(wrong):
        surplus = posteriors_at(posteriors, wrong, predicted[wrong]) - posteriors_at(posteriors, wrong, labels[wrong])
        wrong = wrong[np.argsort(-surplus, kind="stable")]
    wrong = wrong[:MOST_MISTAKES]
    if not len(wrong) or len(labels) < 2:
        return ()
    rows = without_self(S, wrong)
    weights = None
    if voter is None:
        neighbors = top_k(rows, min(_USUAL_NEIGHBORS, len(labels) - 1))[1]
    else:
        neighbors, weights = _votes(voter, samples, S, wrong, labels)
    similarities = np.take_along_axis(rows, neighbors, axis=1)
    k = neighbors.shape[1]
    votes = np.zeros((len(wrong), int(labels.max()) + 1))
    np.add.at(votes, (np.arange(len(wrong))[:, None], labels[neighbors]), 1.0 if weights is None else weights)
    return tuple(
        Mistake(
            int(sample),
            int(predicted[sample]),
            neighbors[i, :MOST_NEIGHBORS],
            similarities[i, :MOST_NEIGHBORS],
            None if weights is None else weights[i, :MOST_NEIGHBORS],
            k,
            votes[i],
        )
        for i, sample in enumerate(wrong)
    )


def _votes(
    estimator: Any, samples: Samples, S: Any, wrong: np.ndarray, labels: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the neighbours of some samples among all others, by the classifier's own map, and their weights."""
    own = Contract(estimator.similarity, estimator.dissimilarity).map_name
    if own != samples.contract.map_name:
        S = similarities_of(samples, own)
    # Costs and priors, which may be given by label, change the prediction but not the votes.
    voter = clone(estimator).set_params(similarity="precomputed", dissimilarity=None, costs=None, priors=None)
    voter.set_params(n_neighbors=min(voter.n_neighbors, len(labels) - 1))
    return voter.fit(S, labels).neighbor_weights(without_self(S, wrong))
