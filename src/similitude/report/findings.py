"""The contents of a report as plain data."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from similitude._utils.checks import check_integer
from similitude._utils.ids import labels_in_order
from similitude._utils.types import ListLike, RandomState, SamplesLike
from similitude.auto import AutoClassifier
from similitude.diagnosis import Diagnosis, diagnose, pictures
from similitude.diagnosis.card import PYTHON
from similitude.diagnosis.figures import Lists
from similitude.labels import check_labels
from similitude.proximity.check import SimilarityWarning, dense
from similitude.proximity.split import cut
from similitude.reader import Samples
from similitude.report.code import Source
from similitude.report.markup import Section
from similitude.report.outcome import Outcome, find_outcome, similarities_of
from similitude.report.similarities import SideBySide, read_samples, side_by_side
from similitude.similarities.registry import resolve
from similitude.theory.goodness import Goodness

MAX_SAMPLES = 2000
"""The largest number of samples for which the pictures show all of them."""

GAMMAS = np.linspace(-1.0, 1.0, 201)
"""The values of gamma at which the page draws the goodness."""


@dataclass(frozen=True)
class Findings:
    """Everything that :func:`~similitude.report.page.page` shows."""

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
    hubness: Lists | None
    goodness: pictures.GoodnessCurve | None
    outcome: Outcome | None
    similarities: SideBySide | None = None
    extra: tuple[Section, ...] = ()
    """Sections about labels that form a tree, or several labels; the other pictures then show one label of each."""
    map: pictures.SampleMap | None = None
    rendering: int = PYTHON
    """How the advice calls things: as in Python, or as on the command line."""


def find(
    X: SamplesLike,
    y: ListLike,
    *,
    contract: dict[str, Any] | None = None,
    title: str = "Similarities",
    ids: Sequence[Any] | None = None,
    auto: AutoClassifier | None = None,
    source: Source | None = None,
    max_samples: int = MAX_SAMPLES,
    random_state: RandomState = 0,
    extra: tuple[Section, ...] = (),
    rendering: int = PYTHON,
) -> Findings:
    """Return the contents of a report about a matrix with labels and the model chosen for it."""
    contract = dict(contract or {})
    check_integer(max_samples, "max_samples", 2)
    y = labels_in_order(y, X)
    with warnings.catch_warnings():
        # The advice contains what the warnings would report.
        warnings.simplefilter("ignore", SimilarityWarning)
        everything: Any = X if isinstance(X, Samples) else read_samples(X, y, contract)
        together = side_by_side(everything, auto, y) if everything.named else None
        samples: Samples = everything if together is None else everything.parts[together.shown]
        S, origin = similarities_of(samples, samples.contract.map_name), _origin(samples)
        n = S.shape[0]
        classes, labels = np.unique(check_labels(y, n), return_inverse=True)
        names = _names(ids, samples.X, n)
        drawn = np.arange(n)
        if n > max_samples:
            drawn = np.sort(check_random_state(random_state).permutation(n)[:max_samples])
        shown = dense(S if len(drawn) == n else cut(S, drawn, drawn))
        if together is not None:
            origin = f"There are {len(together.diagnoses)} similarities; the pictures show {together.shown!r}. {origin}"
        found: Any = getattr(auto, "diagnosis_", None) if together is None else together.diagnoses[together.shown]
        sampling: dict[str, Any] = {"max_samples": max_samples, "random_state": random_state}
        diagnosis = found or diagnose(samples.values, y, dissimilarity=samples.contract.map_name, **sampling)
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
            outcome=None if auto is None else find_outcome(auto, samples, S, classes, labels, source, contract),
            similarities=together,
            extra=extra,
            map=pictures.sample_map(shown),
            rendering=rendering,
        )


def _origin(samples: Samples) -> str:
    """Return a sentence about the origin of the similarities."""
    contract, map_name = samples.contract, samples.contract.map_name
    if contract.is_precomputed:
        origin = "The similarities are those of the given matrix."
        if map_name is not None:
            origin = f"The given matrix holds dissimilarities, which the map {map_name!r} turned into similarities."
    else:
        name = resolve(contract.similarity).name or "a function"
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

    Local methods modify small parts of the matrix, so they do not count.
    """
    for member in () if auto is None else auto.best_estimator_.members_:
        parameters = member.estimator.get_params()
        spectrum = next((parameters[name] for name in parameters if name.split("__")[-1] == "spectrum"), None)
        if spectrum in ("clip", "flip", "shift") and "n_neighbors" not in parameters:
            return spectrum
    return "clip"
