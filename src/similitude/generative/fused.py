"""The product rule, which combines any number of similarities and feature sets in one posterior."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from similitude._utils.docs import shared_docs
from similitude._utils.scikit_learn import BaseComposition
from similitude._utils.types import CostsLike, LabelsLike, PriorsLike, SamplesLike
from similitude.base import FittedPath, GridFit, PathClassifier
from similitude.generative._views import FusedReader
from similitude.generative.base import answered, first_of_tied, normalised
from similitude.generative.local_bda import LocalBDA
from similitude.generative.local_sda import LocalSDA
from similitude.labels import Labels
from similitude.numerics.votes import log_of


@shared_docs
class FusedClassifier(PathClassifier, BaseComposition):
    """Classify by the product of several classifiers' posteriors, as if their inputs were independent.

    With P_t(g | x) the posterior of part t::

        P(g | x) = product over t of P_t(g | x) / sum over h of product over t of P_t(h | x)

    The class of least expected cost is predicted; if several are tied, the first of them. With a local SDA and a local
    BDA it is the fused classifier of the reference, where every part has its prior: the parts' joint probabilities
    P(x, g) instead of posteriors would give the same result. This does not hold where a local SDA without
    regularization (``alpha=0``) falls back to the most similar local centroid: then its posterior is 1 for that class,
    which its joint probabilities do not say. For each sample, parts with posteriors near 0 or 1 outweigh others. If
    every class has the posterior 0 in some part, the first part decides alone.

    The input of each part is chosen by its kind:

    * a part on precomputed similarities gets the similarity of its own name in ``Proximities(S={name: ...})``, or the
      only one;
    * a part on raw objects (``similarity="levenshtein"``) gets X itself;
    * any other part gets the features of its own name, or the only ones. If X has no features, it gets the rows of the
      similarity of its own name, or of the only one.

    ``PathSearchCV`` evaluates a grid over the parameters of several parts (``sda__n_neighbors``, ``bda__n_neighbors``)
    at once: each part is fitted at its own values only, and the products are computed for all combinations. A part may
    be a search itself; then it is tuned on its own.

    Parameters
    ----------
    parts : list of (name, estimator), default=None
        Classifiers with ``predict_log_proba`` or ``predict_proba``. None means
        ``[("sda", LocalSDA(alpha=0.1)), ("bda", LocalBDA())]``.
    {costs}
    {priors}

    Attributes
    ----------
    {classes_}
    parts_ : dict
        The fitted parts by name.

    See Also
    --------
    FusedKNN : Votes with the neighbours by similarity and by features.
    LocalSDA, LocalBDA : The default parts.

    References
    ----------
    Cazzanti, Gupta & Srivastava, "Fusing similarities and Euclidean features with generative classifiers", FUSION 2009,
    eq. 6 and Section 6.2.2.

    Examples
    --------
    >>> import numpy as np
    >>> from similitude import FusedClassifier, Proximities
    >>> S = np.array([[5, 4, 3, 1, 0, 1], [4, 5, 3, 2, 1, 1], [3, 3, 5, 2, 2, 1],
    ...               [1, 2, 2, 5, 3, 4], [0, 1, 2, 3, 5, 2], [1, 1, 1, 4, 2, 5]])
    >>> size = [[1.0], [1.2], [0.8], [3.0], [3.3], [2.9]]
    >>> y = ["a", "a", "a", "b", "b", "b"]
    >>> model = FusedClassifier().set_params(sda__n_neighbors=4, bda__n_neighbors=3).fit(Proximities(S, size), y)
    >>> model.predict_proba(Proximities([[3, 3, 2, 3, 2, 3]], [[1.9]])).round(3)
    array([[0.866, 0.134]])
    >>> model.predict_proba(Proximities([[3, 3, 2, 3, 2, 3]], [[2.3]])).round(3)
    array([[0.009, 0.991]])
    """

    _responses = ("predict", "predict_proba", "predict_log_proba")

    def __init__(
        self,
        parts: Sequence[tuple[str, BaseEstimator]] | None = None,
        *,
        costs: CostsLike = None,
        priors: PriorsLike = None,
    ):
        self.parts = parts
        self.costs = costs
        self.priors = priors

    @property
    def _parts(self) -> Sequence[tuple[str, Any]]:
        return [("sda", LocalSDA(alpha=0.1)), ("bda", LocalBDA())] if self.parts is None else self.parts

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters.

        Parameters
        ----------
        deep : bool, default=True
            Whether to include the parts by name, and their parameters.

        Returns
        -------
        dict
            The parameters by name.
        """
        return self._get_params("_parts", deep=deep)

    def set_params(self, **params: Any) -> Self:
        """Set parameters, parts by name, or parameters of parts: ``sda__n_neighbors=5``.

        Parameters
        ----------
        **params : dict
            The values by name.

        Returns
        -------
        self
        """
        if params.get("parts", self.parts) is None and set(params) - {"parts", "costs", "priors"}:
            self.parts = self._parts
            params.pop("parts", None)
        return self._set_params("parts", **params)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        if not isinstance(self._parts, (list, tuple)):
            raise ValueError(f"parts must be a list of (name, estimator), at least one; got {self.parts!r}.")
        kinds = FusedReader.of(self._parts).kinds
        tags.input_tags.pairwise = "similarities" in kinds
        tags.input_tags.sparse = "similarities" in kinds
        if kinds == {"objects"}:
            tags.no_validation = True
            tags.input_tags.two_d_array = False
        return tags

    def fit(self, X: SamplesLike, y: LabelsLike) -> Self:
        """Fit every part on its own input.

        Parameters
        ----------
        X : square matrix, Proximities (with features, or several similarities or feature sets by name), or raw objects
            The training samples.
        {y_train}

        Returns
        -------
        self
        """
        return self._fit(X, y)

    @property
    def _path_parameters(self) -> tuple[str, ...]:  # type: ignore[override]
        return tuple(
            f"{name}__{parameter}"
            for name, part in self._parts
            if isinstance(part, PathClassifier)
            for parameter in part._path_parameters
        )

    def _points(self, grid: Sequence[Mapping[str, Any]]) -> list[Any]:
        """Return for each point of the grid the parameters of each part, as tuples of names and values."""
        self._check_parts()
        return [tuple(_own_parameters(point, name) for name, _ in self._parts) for point in grid]

    def _check_parts(self) -> None:
        parts = self._parts
        if not isinstance(parts, (list, tuple)) or not parts or not all(_is_named(part) for part in parts):
            raise ValueError(f"parts must be a list of (name, estimator), at least one; got {parts!r}.")
        self._validate_names([name for name, _ in parts])
        for name, part in parts:
            if not hasattr(part, "predict_log_proba") and not hasattr(part, "predict_proba"):
                raise ValueError(
                    f"parts: {name!r} ({type(part).__name__}) gives no probabilities; set probability=True if it has "
                    "this parameter, or wrap it in CalibratedClassifierCV."
                )

    def _read(self, X: Any, y: Any) -> Any:
        return FusedReader.of(self._parts).fit(X, self)

    def _rows(self, X: Any) -> Any:
        check_is_fitted(self)
        return self._reader.rows(X, self)

    def _keep_training(self, training: Any) -> None:
        self._reader = training.reader

    def _fit_path(self, training: Any, labels: Labels, points: list[Any]) -> FusedPath:
        y = labels.classes[labels.codes]
        parts, places = {}, []
        for (name, part), own in zip(self._parts, zip(*points)):
            distinct = list(dict.fromkeys(own))
            parts[name] = _fitted(part, training.views[name], y, [dict(point) for point in distinct])
            places.append([distinct.index(point) for point in own])
        return FusedPath(list(zip(*places)), labels, parts)

    def _derived(self) -> dict[str, Any]:
        derived = super()._derived()
        views = [view.name for view in self._reader.views if view.kind == "similarities"]
        for name in ("n_features_in_", "feature_names_in_"):
            found = [getattr(part, name) for key in views if hasattr(part := derived["parts_"][key], name)]
            if found:
                derived[name] = found[0]
        return derived


class FusedPath(FittedPath):
    """The parts, each fitted at the points where its own parameters differ."""

    def __init__(self, points: list[tuple[int, ...]], labels: Labels, parts: dict[str, Any]):
        self.points, self.labels, self.parts = points, labels, parts
        shares = labels.shares
        self._log_ratios = None if labels.priors is None else log_of(labels.priors) - np.log(shares)

    def at(self, i: int) -> Self:
        one = copy.copy(self)
        one.points = [(0,) * len(self.parts)]
        one.parts = {name: [_at(part, place)] for (name, part), place in zip(self.parts.items(), self.points[i])}
        return one

    def attributes(self) -> dict[str, Any]:
        return {"parts_": {name: _at(part, 0) for name, part in self.parts.items()}}

    def answers(self, rows: dict[str, Any], response: str) -> list[np.ndarray]:
        logs = [self._log_posteriors(name, part, rows[name]) for name, part in self.parts.items()]
        return [
            answered(
                self._product([of_part[place] for of_part, place in zip(logs, point)]),
                response,
                self.labels.costs,
                first_of_tied,
            )
            for point in self.points
        ]

    def _log_posteriors(self, name: str, part: Any, X: Any) -> list[np.ndarray]:
        """Return the log-posteriors of one part at its own points."""
        if isinstance(part, GridFit):
            return part.answers(X, "predict_log_proba")
        classes = self.labels.classes
        answers = [_log_posterior(fitted, X) for fitted in part]
        for fitted, logs in zip(part, answers):
            same = np.array_equal(getattr(fitted, "classes_", classes), classes)
            if not same or np.shape(logs)[1:] != (len(classes),) or np.isnan(logs).any():
                raise ValueError(f"parts: {name!r} must give each of the {len(classes)} classes a probability.")
        return answers

    def _product(self, logs: list[np.ndarray]) -> np.ndarray:
        """Return the log-posterior that the log-posteriors of the parts, (m, G) each, give together."""
        total = np.sum(logs, axis=0)
        nothing = np.all(total == -np.inf, axis=1, keepdims=True)
        total = np.where(nothing, logs[0], total)
        if self._log_ratios is not None:
            ruled_out = np.all(total + self._log_ratios == -np.inf, axis=1, keepdims=True)
            # Only classes of prior 0 are left, so the posterior is the prior.
            total = np.where(ruled_out, 0.0, total) + self._log_ratios
        return normalised(total)


def _fitted(part: Any, X: Any, y: np.ndarray, points: list[dict]) -> Any:
    """Return a part fitted at its own points, all at once if there are several and it has a path, or one by one."""
    if len(points) > 1 and isinstance(part, PathClassifier):
        return GridFit(part, X, y, points)
    return [clone(part).set_params(**point).fit(X, y) for point in points]


def _at(part: Any, i: int) -> Any:
    """Return a part as the estimator fitted at the i-th of its own points."""
    return part.at(i) if isinstance(part, GridFit) else part[i]


def _log_posterior(fitted: Any, X: Any) -> np.ndarray:
    with np.errstate(divide="ignore"):  # some estimators of scikit-learn warn of the logarithm of 0
        return fitted.predict_log_proba(X) if hasattr(fitted, "predict_log_proba") else log_of(fitted.predict_proba(X))


def _is_named(part: Any) -> bool:
    return isinstance(part, (list, tuple)) and len(part) == 2 and isinstance(part[0], str) and hasattr(part[1], "fit")


def _own_parameters(point: Mapping[str, Any], name: str) -> tuple:
    """Return the names and values of the parameters of one part that a grid point sets."""
    prefix = f"{name}__"
    return tuple((key.removeprefix(prefix), value) for key, value in point.items() if key.startswith(prefix))
