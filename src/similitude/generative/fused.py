"""The product rule: similarities and features, any number of either, in one posterior."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin, clone
from sklearn.pipeline import Pipeline
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import _BaseComposition
from sklearn.utils.validation import _num_samples, check_is_fitted

from similitude.base import SimilarityEstimator, check_labels, costs_matrix, priors_vector, unchanged_on_failure
from similitude.generative.base import least_expected_cost, log_of, normalised
from similitude.generative.local_bda import LocalBDA
from similitude.generative.local_sda import LocalSDA
from similitude.proximity.check import check_similarity, dense
from similitude.proximity.proximities import Proximities, as_proximities


class FusedClassifier(ClassifierMixin, _BaseComposition):
    """Probabilistic classifiers of the same samples, multiplied as if what they look at were independent.

    With P_t(g | x) the posterior of part t::

        P(g | x) = product over t of P_t(g | x) / sum over h of product over t of P_t(h | x)

    and x goes to the class of least expected cost. The parts' joint probabilities P(x, g) in place of posteriors would
    say the same: for a local SDA and a local BDA it is the fused classifier of the reference, whose every part counts
    a prior. A part that is sure of itself outweighs one that is not, for each sample anew. Where every class gets a 0
    from some part, the first part decides alone.

    What each part looks at:

    * one on precomputed similarities gets the similarity of its own name in ``Proximities(S={name: ...})``, or the only
      one there is;
    * one on raw objects (``similarity="levenshtein"``) gets X itself;
    * any other gets the features of its own name, or the only ones there are, or, where X has no features, the rows of
      similarities (in place of S, of the similarity of its own name or the only one).

    ``PathSearchCV`` takes a grid over the parameters of several parts (``sda__n_neighbors``, ``bda__n_neighbors``) at
    once: each part answers for its own values, and only the products are made for all of them jointly. A part may be a
    search itself; then it is tuned on its own.

    Parameters
    ----------
    parts : list of (name, estimator), default=None
        Classifiers with ``predict_log_proba`` or ``predict_proba``. None means
        ``[("sda", LocalSDA(alpha=0.1)), ("bda", LocalBDA())]``.
    costs : array of shape (G, G) or dict of dicts, default=None
        ``costs[f, g]`` is the cost of saying f when the truth is g.
    priors : array of shape (G,) or dict, default=None
        The posterior is rescaled by these over the training frequencies.

    Attributes
    ----------
    classes_ : ndarray of shape (G,)
    parts_ : dict
        The fitted parts by name.

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
    array([[0.91, 0.09]])
    >>> model.predict_proba(Proximities([[3, 3, 2, 3, 2, 3]], [[2.3]])).round(3)
    array([[0.014, 0.986]])
    """

    def __init__(self, parts=None, *, costs=None, priors=None):
        self.parts = parts
        self.costs = costs
        self.priors = priors

    @property
    def _parts(self) -> list[tuple[str, Any]]:
        return [("sda", LocalSDA(alpha=0.1)), ("bda", LocalBDA())] if self.parts is None else self.parts

    def get_params(self, deep=True):
        """The parameters; with ``deep`` also the parts by name, and theirs."""
        return self._get_params("_parts", deep=deep)

    def set_params(self, **params):
        """Set parameters, parts by name, or parameters of parts: ``sda__n_neighbors=5``."""
        if params.get("parts", self.parts) is None and set(params) - {"parts", "costs", "priors"}:
            self.parts = self._parts
            params.pop("parts", None)
        return self._set_params("parts", **params)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        kinds = [_looks_at(part) for _, part in self._parts]
        tags.input_tags.pairwise = "similarities" in kinds
        tags.input_tags.sparse = "similarities" in kinds
        if kinds and all(kind == "objects" for kind in kinds):
            tags.no_validation = True
            tags.input_tags.two_d_array = False
        return tags

    def fit(self, X, y):
        """Fit every part on what it looks at.

        Parameters
        ----------
        X : square matrix, Proximities (with features, or several similarities or feature sets by name), or raw objects
        y : array-like of shape (n,)
        """
        self._check_parts()
        with unchanged_on_failure(self):
            X = self._checked(X, square=True)
            self._set_labels(check_labels(y, _num_samples(X)))
            self._held = _held(X)
            self.parts_ = {name: clone(part).fit(_view(name, part, X), y) for name, part in self._parts}
            for name in ("n_features_in_", "feature_names_in_"):
                self.__dict__.pop(name, None)
                found = [getattr(part, name) for part in self.parts_.values() if hasattr(part, name)]
                if found and get_tags(self).input_tags.pairwise:
                    setattr(self, name, found[0])
        return self

    def _checked(self, X, square):
        """Similarities checked; what goes along with them, and all other input, its parts check."""
        if isinstance(X, Proximities) or not get_tags(self).input_tags.pairwise:
            return X
        S = check_similarity(X, name="X", square=square, orientation="dissimilarity", estimator=self)
        return X if hasattr(X, "iloc") else S

    def _check_held(self, X):
        """Refuse what is not what ``fit`` had: a part would silently look at something else."""
        kinds = {_looks_at(part) for part in self.parts_.values()} - {"objects"}
        for what, given in _held(X).items():
            known = self._held[what]
            # Where there is one of it, and one has no name, they are taken to be the same.
            same = set(known) == set(given) or (len(known) == len(given) == 1 and "" in (*known, *given))
            looked_at = what in kinds or (what == "similarities" and kinds and not self._held["features"])
            if looked_at and not same:
                then, now = (", ".join(name or what for name in names) or "none" for names in (known, given))
                raise ValueError(f"X must hold the {what} it held in fit: then {then}, now {now}.")

    def _check_parts(self):
        parts = self._parts
        if not isinstance(parts, (list, tuple)) or not parts or not all(_is_named(part) for part in parts):
            raise ValueError(f"parts must be a list of (name, estimator), at least one; got {parts!r}.")
        self._validate_names([name for name, _ in parts])
        for name, part in parts:
            if not hasattr(part, "predict_log_proba") and not hasattr(part, "predict_proba"):
                raise ValueError(
                    f"parts: {name!r} ({type(part).__name__}) gives no probabilities; set probability=True where there "
                    "is one, or wrap it in CalibratedClassifierCV."
                )

    def _set_labels(self, y):
        self.classes_, labels = np.unique(y, return_inverse=True)
        self._costs = costs_matrix(self.costs, self.classes_)
        priors = priors_vector(self.priors, self.classes_)
        self._log_ratios = None if priors is None else log_of(priors) - np.log(np.bincount(labels) / len(labels))

    def predict_log_proba(self, X):
        """The logarithm of the posterior of each class, in the order of ``classes_``."""
        check_is_fitted(self)
        X = self._checked(X, square=False)
        self._check_held(X)
        logs = {name: _log_posterior(part, _view(name, part, X)) for name, part in self.parts_.items()}
        for name, values in logs.items():
            classes = getattr(self.parts_[name], "classes_", self.classes_)
            same = np.array_equal(classes, self.classes_) and np.shape(values)[1:] == (len(classes),)
            if not same or np.isnan(values).any():
                raise ValueError(f"parts: {name!r} must give each of the {len(self.classes_)} classes a probability.")
        return self._product(list(logs.values()))

    def predict_proba(self, X):
        """The posterior of each class, in the order of ``classes_``."""
        return np.exp(self.predict_log_proba(X))

    def predict(self, X):
        """The class of least expected cost for each row; of tied ones the first."""
        return self._say(self.predict_log_proba(X), "predict")

    def _product(self, logs):
        """The parts' log-posteriors, (m, G) each, made one."""
        total = np.sum(logs, axis=0)
        nothing = np.all(total == -np.inf, axis=1, keepdims=True)
        total = np.where(nothing, logs[0], total)
        if self._log_ratios is not None:
            ruled_out = np.all(total + self._log_ratios == -np.inf, axis=1, keepdims=True)
            # Only classes of prior 0 are left: nothing is known but the priors.
            total = np.where(ruled_out, 0.0, total) + self._log_ratios
        return normalised(total)

    def _say(self, logs, response):
        if response == "predict_log_proba":
            return logs
        return np.exp(logs) if response == "predict_proba" else self.classes_[least_expected_cost(logs, self._costs)]

    @property
    def _path_parameters(self):
        return tuple(
            f"{name}__{parameter}"
            for name, part in self._parts
            if hasattr(part, "_predict_path")
            for parameter in part._path_parameters
        )

    @property
    def _is_matrix(self):
        """Whether there is a path to take: parts on raw objects are fitted plainly."""
        return all(_looks_at(part) != "objects" for _, part in self._parts)

    def _predict_path(self, X_train, y_train, X_test, grid, response="predict"):
        """One answer per grid point: each part answers for its own values, the products are made jointly."""
        self._check_parts()
        self._set_labels(y_train)
        answers = []
        for name, part in self._parts:
            own = [_own_parameters(point, name) for point in grid]
            distinct = list(dict.fromkeys(own))
            views = _view(name, part, X_train), _view(name, part, X_test)
            found = dict(zip(distinct, _part_path(part, views, y_train, [dict(point) for point in distinct])))
            answers.append([found[point] for point in own])
        return [self._say(self._product(list(logs)), response) for logs in zip(*answers)]


def _is_named(part: Any) -> bool:
    return isinstance(part, (list, tuple)) and len(part) == 2 and isinstance(part[0], str) and hasattr(part[1], "fit")


def _own_parameters(point: dict, name: str) -> tuple:
    """What a grid point says of one part."""
    prefix = f"{name}__"
    return tuple((key.removeprefix(prefix), value) for key, value in point.items() if key.startswith(prefix))


def _part_path(part: Any, views: tuple, y_train: Any, points: list[dict]) -> list[np.ndarray]:
    """The log-posteriors of one part at several points."""
    train, test = views
    if hasattr(part, "_predict_path"):
        response = "predict_log_proba" if hasattr(part, "predict_log_proba") else "predict_proba"
        answers = clone(part)._predict_path(train, y_train, test, points, response=response)
        return answers if response == "predict_log_proba" else [log_of(answer) for answer in answers]
    return [_log_posterior(clone(part).fit(train, y_train), test)] * len(points)


def _log_posterior(part: Any, X: Any) -> np.ndarray:
    with np.errstate(divide="ignore"):  # some of scikit-learn's warn of the logarithm of 0
        return part.predict_log_proba(X) if hasattr(part, "predict_log_proba") else log_of(part.predict_proba(X))


def _reader(part: Any) -> Any:
    """The estimator in a part that reads its input: the first step of a pipeline, what a search tunes."""
    while not isinstance(part, SimilarityEstimator) and (isinstance(part, Pipeline) or hasattr(part, "estimator")):
        part = part.steps[0][1] if isinstance(part, Pipeline) else part.estimator
    return part


def _looks_at(part: Any) -> str:
    """``"similarities"``, raw ``"objects"`` or ``"features"``."""
    if get_tags(part).input_tags.pairwise:
        return "similarities"
    reader = _reader(part)
    return "objects" if isinstance(reader, SimilarityEstimator) and not reader._is_matrix else "features"


def _view(name: str, part: Any, X: Any) -> Any:
    """What a part looks at."""
    kind = _looks_at(part)
    if kind == "objects":
        return X
    try:
        given = as_proximities(X)
    except ValueError as error:
        raise ValueError(f"X: the part {name!r} looks at {kind}, and X seems to hold raw objects: {error}") from error
    if kind == "features" and given.features is not None:
        several = isinstance(given.features, dict)
        return _of_name(given.features, name, "feature sets") if several else given.features
    S = _of_name(given.similarities, name, "similarities")
    if kind == "features":
        return S if hasattr(S, "iloc") else dense(S)
    return given._with(S, None) if isinstance(X, Proximities) and isinstance(_reader(part), SimilarityEstimator) else S


def _held(X: Any) -> dict[str, list[str]]:
    """The names of the similarities and of the feature sets in X; an empty one where there is one without."""
    if not isinstance(X, Proximities):
        return {"similarities": [""], "features": []}
    features = X.features if isinstance(X.features, dict) else [] if X.features is None else [""]
    return {"similarities": ["" if name == "S" else name for name in X.similarities], "features": list(features)}


def _of_name(values: dict, name: str, what: str) -> Any:
    if len(values) > 1 and name not in values:
        raise ValueError(
            f"X: parts has {name!r}, and X holds several {what}, none of that name: {', '.join(map(repr, values))}."
        )
    return values[name] if name in values else next(iter(values.values()))
