"""The contents of a report as plain data."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils import check_random_state

from similitude.diagnosis import Diagnosis, diagnose, pictures
from similitude.labels import check_labels
from similitude.proximity.check import SimilarityWarning, dense
from similitude.proximity.maps import LearnedMap
from similitude.proximity.proximities import as_proximities
from similitude.proximity.split import cut
from similitude.proximity.unknown import LearnedFill
from similitude.reader import Reader, Samples, SearchSamples, SeveralSamples
from similitude.report.code import Source, model_lines
from similitude.report.mistakes import Mistake, Voting, find_mistakes
from similitude.report.novelty import SetFindings, find_sets
from similitude.report.side_by_side import SideBySide, read_samples, side_by_side
from similitude.search.methods import COMPARED_ONLY
from similitude.search.nearness import ErrorBySimilarity, errors_in_bins
from similitude.search.standing import COMBINATION, Standing
from similitude.similarities import resolve
from similitude.theory.goodness import Goodness

MAX_SAMPLES = 2000
"""The largest number of samples for which the pictures show all of them."""

GAMMAS = np.linspace(-1.0, 1.0, 201)
"""The values of gamma at which the page draws the goodness."""


@dataclass(frozen=True)
class Outcome:
    """The result of choosing a model.

    Attributes
    ----------
    leaderboard : tuple of Standing
        The evaluated methods and their combination, the one with the smallest error first.
    method : str
        The chosen method, or "combination".
    members : tuple of tuple (str, float)
        The names and weights of the members of the chosen model, the largest weight first.
    prefer : str
        The rule of the choice: "accuracy" or "simple", as in ``AutoClassifier``.
    score : str
        The name of the score by which points were chosen and methods were combined.
    compared_only : tuple of str
        The methods on the leaderboard that could not be chosen.
    not_testable : tuple of str
        The classes that no fold tests.
    left_out : tuple of str
        The methods for which there was no time.
    nested_error : float or None
        The error of the whole procedure, including the choice of the method.
    predicted : ndarray of shape (n,) or None
        Out-of-fold predictions, as positions among the classes; -1 for samples that were not tested. None if there are
        none.
    posteriors : ndarray of shape (n, G) or None
        Out-of-fold posteriors, NaN for samples that were not tested; None if there are none.
    member_posteriors : ndarray of shape (M, n, G) or None
        Out-of-fold posteriors of each member of a combination; None if a single method was chosen or there are none.
    mistakes : tuple of Mistake
        At most :data:`~similitude.report.mistakes.MOST_MISTAKES` misclassified samples, the most confident first.
    n_mistakes : int
        The number of all mistakes.
    weights : str or None
        The kind of weights of the neighbours; None if the model is not a vote of neighbours.
    code : tuple of str
        Lines of Python that build and fit the model again.
    sets : SetFindings or None
        The sets of classes of left-out samples, and the samples that fit no class; None if there are too few samples.
    nearness : ErrorBySimilarity or None, default=None
        The errors by the similarity to the nearest training sample; None if there are none.
    """

    leaderboard: tuple[Standing, ...]
    method: str
    members: tuple[tuple[str, float], ...]
    prefer: str
    score: str
    compared_only: tuple[str, ...]
    not_testable: tuple[str, ...]
    left_out: tuple[str, ...]
    nested_error: float | None
    predicted: np.ndarray | None
    posteriors: np.ndarray | None
    member_posteriors: np.ndarray | None
    mistakes: tuple[Mistake, ...]
    n_mistakes: int
    weights: str | None
    code: tuple[str, ...]
    sets: SetFindings | None = None
    nearness: ErrorBySimilarity | None = None

    def confusion(self, labels: np.ndarray, n_classes: int) -> np.ndarray:
        """Return the numbers of tested samples by true class (row) and predicted class (column)."""
        pairs = (labels * n_classes + self.predicted)[self.tested]
        return np.bincount(pairs, minlength=n_classes**2).reshape(n_classes, n_classes)

    @property
    def tested(self) -> np.ndarray:
        """The positions of the samples that were tested."""
        return np.flatnonzero(() if self.predicted is None else self.predicted >= 0)


@dataclass(frozen=True)
class Findings:
    """Everything that :func:`~similitude.report.page.page` shows.

    Parameters
    ----------
    title : str
        The title of the page.
    origin : str
        A sentence about the origin of the similarities.
    ids : tuple of str
        Names of the samples.
    classes : tuple of str
        The labels of the classes.
    labels : ndarray of shape (n,)
        The classes of the samples, as positions.
    drawn : ndarray of shape (m,)
        The samples that the pictures show: all of them, or a random choice.
    S : ndarray of shape (m, m)
        Their similarities; larger means more alike.
    order : ndarray of shape (m,)
        The order in which the matrix shows them, by class.
    diagnosis : Diagnosis
        The figures of the matrix, and the advice.
    spectra : Spectra
        The eigenvalues before and after modifications.
    modification : str
        The modification of the spectrum that the page shows first: the chosen model's, or "clip".
    separation : Separation
        Histograms of the similarities within and between classes.
    hubness : Hubness or None
        The numbers of lists of neighbours in which samples occur.
    goodness : GoodnessCurve or None
        The goodness of the similarity.
    outcome : Outcome or None, default=None
        The result of choosing a model; None if no model was chosen.
    similarities : SideBySide or None, default=None
        The comparison of several similarities; the pictures show one of them. None if there is only one.
    """

    title: str
    origin: str
    ids: tuple[str, ...]
    classes: tuple[str, ...]
    labels: np.ndarray
    drawn: np.ndarray
    S: np.ndarray
    order: np.ndarray
    diagnosis: Diagnosis
    spectra: pictures.Spectra
    modification: str
    separation: pictures.Separation
    hubness: pictures.Hubness | None
    goodness: pictures.GoodnessCurve | None
    outcome: Outcome | None
    similarities: SideBySide | None = None


def find(
    X: Any,
    y: Any,
    *,
    contract: dict[str, Any] | None = None,
    title: str = "Similarities",
    ids: Sequence[Any] | None = None,
    auto: Any = None,
    source: Source | None = None,
    max_samples: int = MAX_SAMPLES,
    random_state: Any = 0,
) -> Findings:
    """Return the contents of a report about a matrix with labels and the model chosen for it.

    Parameters
    ----------
    X : square matrix, Proximities, dict of square matrices, or sequence of raw objects
        The samples. With several similarities the pictures show one of them: that of the chosen model if it uses only
        one, else the one with the smallest error.
    y : array-like of shape (n,)
        The labels.
    contract : dict, default=None
        ``similarity`` and ``dissimilarity`` as in the estimators. None means a matrix of similarities.
    title : str
        The title of the page.
    ids : sequence of length n, default=None
        Names of the samples. By default these are the ids of Proximities, or the positions.
    auto : AutoClassifier, default=None
        A classifier fitted on the same data. If None, the report is about the matrix only.
    source : Source, default=None
        How the data was read, for the code on the page.
    max_samples : int, default=2000
        If there are more samples, the pictures and figures of the matrix are of this many, drawn at random.
    random_state : int, RandomState or None, default=0
        Seed for the random draws.

    Returns
    -------
    Findings
        The contents of the report, which :func:`~similitude.report.page.page` turns into HTML.

    Examples
    --------
    >>> from similitude.report import find, page
    >>> S = [[1.0, 0.9, 0.1], [0.9, 1.0, 0.8], [0.1, 0.8, 1.0]]
    >>> findings = find(S, ["a", "a", "b"], title="Three samples")
    >>> findings.classes, findings.order.tolist()
    (('a', 'b'), [0, 1, 2])
    >>> page(findings).splitlines()[0]
    '<!doctype html>'
    """
    contract = dict(contract or {})
    if isinstance(max_samples, bool) or not isinstance(max_samples, int) or max_samples < 2:
        raise ValueError(f"max_samples must be an integer of at least 2; got {max_samples!r}.")
    with warnings.catch_warnings():
        # The advice contains what the warnings would report.
        warnings.simplefilter("ignore", SimilarityWarning)
        everything: Any = X if isinstance(X, SearchSamples) else read_samples(X, y, contract)
        together = side_by_side(everything, auto, y) if isinstance(everything, SeveralSamples) else None
        samples: Samples = everything if together is None else everything.parts[together.shown]
        S, origin = _similarities(samples, samples.reader.map_name), _origin(samples)
        n = S.shape[0]
        classes, labels = np.unique(check_labels(y, n), return_inverse=True)
        names = _names(ids, samples.X, n)
        drawn = _draw(n, max_samples, random_state)
        shown = dense(S if len(drawn) == n else cut(S, drawn, drawn))
        if together is not None:
            origin = f"There are {len(together.diagnoses)} similarities; the pictures show {together.shown!r}. {origin}"
        draws = {"max_samples": max_samples, "random_state": random_state}
        diagnosis = _known_diagnosis(together, auto) or diagnose(
            samples.values, y, dissimilarity=samples.reader.map_name, **draws
        )
        of_all = len(drawn) == n == diagnosis.n_sampled
        spectra = pictures.spectra(shown, eigenvalues=diagnosis.eigenvalues if of_all else None)
        drawn_labels = labels[drawn]
        return Findings(
            title=str(title),
            origin=origin,
            ids=names,
            classes=tuple(str(label) for label in classes.tolist()),
            labels=labels,
            drawn=drawn,
            S=shown,
            order=pictures.ordered_by_class(shown, drawn_labels),
            diagnosis=diagnosis,
            spectra=spectra,
            modification=_modification(auto),
            separation=pictures.separation(shown, drawn_labels, len(classes)),
            hubness=pictures.hubness(shown, drawn_labels, max(diagnosis.n_neighbors, 1)),
            goodness=_goodness(shown, drawn_labels),
            outcome=None if auto is None else _outcome(auto, samples, S, classes, labels, source, contract),
            similarities=together,
        )


def _known_diagnosis(together: SideBySide | None, auto: Any) -> Diagnosis | None:
    """Return the diagnosis of the similarity that is shown, if there is one already."""
    return getattr(auto, "diagnosis_", None) if together is None else together.diagnoses[together.shown]


def _similarities(samples: Samples, map_name: str | None) -> Any:
    """Return the similarities of all samples, under a map if they are dissimilarities."""
    given = as_proximities(samples.values)
    native, fill = given.S, None
    if samples.unknown:
        fill = given.fill or "class-blind mean"
    elif sparse.issparse(native) and given.absent == "farthest" and map_name is not None:
        fill = "farthest"
    if fill is not None:
        learned = LearnedFill.learn(native, fill, dissimilarities=map_name is not None)
        native = learned(native, square=samples.reader.is_precomputed)
    return native if map_name is None else LearnedMap.learn(native, map_name, name="X")(native, name="X")


def _origin(samples: Samples) -> str:
    """Return a sentence about the origin of the similarities."""
    reader, map_name = samples.reader, samples.reader.map_name
    if reader.is_precomputed:
        origin = "The similarities are those of the given matrix."
        if map_name is not None:
            origin = f"The given matrix holds dissimilarities, which the map {map_name!r} turned into similarities."
    else:
        name = resolve(reader.similarity).name or "a function"
        learned = ", learned from all samples and their labels" if samples.learns else ""
        origin = f"The similarities were computed from the objects by {name!r}{learned}"
        origin += "." if map_name is None else f", and turned into similarities by the map {map_name!r}."
        if samples.learns:
            origin += " For the errors below, the similarities were learned from each training part only."
    return origin


def _names(ids: Sequence[Any] | None, X: Any, n: int) -> tuple[str, ...]:
    if ids is None:
        ids = getattr(X, "ids", None)
    if ids is None:
        return tuple(f"#{i}" for i in range(n))
    if isinstance(ids, str) or len(ids) != n:
        raise ValueError(f"ids must hold one name for each of {n} samples; got {len(ids)}.")
    return tuple(str(name) for name in ids)


def _draw(n: int, size: int, random_state: Any) -> np.ndarray:
    if n <= size:
        return np.arange(n)
    return np.sort(check_random_state(random_state).permutation(n)[:size])


def _goodness(S: np.ndarray, labels: np.ndarray) -> pictures.GoodnessCurve | None:
    """Return the goodness of the similarity, or None if it is not defined."""
    classes, codes, counts = np.unique(labels, return_inverse=True, return_counts=True)
    if len(counts) < 2 or counts.max() < 2:
        return None
    # goodness() is not used, because it treats a matrix that looks like a dissimilarity as one, unlike other pictures.
    found = Goodness(S, S, codes, classes, smaller_is_closer=False)
    return pictures.goodness_curve(found, gammas=GAMMAS)


def _modification(auto: Any) -> str:
    """Return how the model modifies the whole spectrum: as its first member that does so, or "clip".

    Local methods modify small parts of the matrix, so that they do not count.
    """
    for member in () if auto is None else auto.best_estimator_.members_:
        parameters = member.estimator.get_params()
        spectrum = next((parameters[name] for name in parameters if name.split("__")[-1] == "spectrum"), None)
        if spectrum in ("clip", "flip", "shift") and "n_neighbors" not in parameters:
            return spectrum
    return "clip"


def _outcome(
    auto: Any,
    samples: Samples,
    S: Any,
    classes: np.ndarray,
    labels: np.ndarray,
    source: Source | None,
    contract: dict[str, Any],
) -> Outcome:
    predicted, posteriors, by_member = _out_of_fold(auto.out_of_fold_, classes, labels)
    members = auto.best_estimator_.members_
    voting = _voting(members, samples, S)
    rows = sorted(auto.leaderboard_, key=lambda row: (row.error, not row.chosen))
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
        mistakes=() if predicted is None else find_mistakes(S, labels, predicted, posteriors, voting),
        n_mistakes=0 if predicted is None else int(np.sum((predicted != labels) & (predicted >= 0))),
        weights=None if voting is None else voting.kind,
        code=model_lines(auto.best_estimator_, source, contract),
        sets=find_sets(auto, S),
        nearness=_nearness(auto.out_of_fold_, classes[labels], samples),
    )


def _nearness(found: Any, y: np.ndarray, samples: Samples) -> ErrorBySimilarity | None:
    """Return the errors by the similarity to the nearest training sample, if it is known."""
    if getattr(found, "nearest", None) is None:
        return None
    wrong = found.labels != y[found.samples]
    return errors_in_bins(found.nearest, wrong, dissimilarity=samples.reader.map_name is not None)


def _voting(members: Sequence[Any], samples: Samples, S: Any) -> Voting | None:
    """Return the classifier with its similarities, if the model is a single vote of neighbours."""
    estimator = members[0].estimator
    if len(members) > 1 or not hasattr(estimator, "neighbor_weights"):
        return None
    own = Reader(estimator.similarity, estimator.dissimilarity).map_name
    return Voting(estimator, S if own == samples.reader.map_name else _similarities(samples, own))


def _score(auto: Any) -> str:
    """Return the name of the score by which points were chosen and methods were combined."""
    if auto.scoring is None:
        return "Brier score" if auto.costs is None else "expected cost"
    return f"score {auto.scoring!r}" if isinstance(auto.scoring, str) else "given scorer"


def _out_of_fold(
    found: Any, classes: np.ndarray, labels: np.ndarray
) -> tuple[np.ndarray | None, np.ndarray | None, np.ndarray | None]:
    """Return the predictions, as positions among the classes, the posteriors, and those of the members."""
    if found is None:
        return None, None, None
    n, tested = len(labels), found.samples
    if len(tested) != len(found.labels) or np.max(tested) >= n or not np.isin(found.labels, classes).all():
        raise ValueError("auto: out_of_fold_ must hold labels of y for the samples; was it fitted on the same data?")
    predicted = np.full(n, -1)
    predicted[tested] = np.searchsorted(classes, found.labels)

    def of_all(values: Any) -> np.ndarray | None:
        if values is None:
            return None
        whole = np.full((*values.shape[:-2], n, len(classes)), np.nan)
        whole[..., tested, :] = values
        return whole

    return predicted, of_all(found.proba), of_all(found.members)
