"""The description of a similarity function, and the registry of those that have a name."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal, TypeAlias, TypeVar

from sklearn.base import BaseEstimator

from similitude._utils.checks import did_you_mean
from similitude._utils.types import ListLike


@dataclass(frozen=True)
class Measure:
    """A similarity or dissimilarity function on raw objects, with its known properties.

    Parameters
    ----------
    function : callable
        A function on two objects, or with ``batch=True`` a function on two batches of objects that returns the matrix.
        A function with parameters is an instance of a small class (a scikit-learn ``BaseEstimator``) with ``__call__(A,
        B)``; if ``learns`` is true, it also has ``fit(X, y)``.
    name : str
        The name that ``similarity="..."`` accepts.
    objects : str
        The kind of object: "categorical rows", "strings", ...
    orientation : {"similarity", "dissimilarity"}
        Whether larger values mean that two objects are more alike or less alike.
    to_similarity : str
        For a dissimilarity, the map that is used if the user names none.
    batch : bool
        Whether the function takes two batches of objects.
    symmetric : bool
        Whether the value does not depend on the order of the two objects.
    metric : bool
        Whether the values satisfy the axioms of a metric.
    learns : bool
        Whether the function has to be fitted to training objects.
    threads : bool
        Whether a batch call releases the GIL for most of its time, so that threads can share the work.
    range : str
        A description of the values it can take.
    library : str
        The library that computes it.
    reference : str
        The publication that describes it.

    See Also
    --------
    register : Register a measure under its name, so that ``similarity="..."`` accepts it everywhere.
    batch : Mark a function that takes two whole batches of objects and returns the matrix of their similarities.
    pairwise : Return the matrix of the similarities or dissimilarities between two sequences of objects.
    """

    function: Callable[..., Any]
    name: str = ""
    objects: str = "any"
    orientation: Literal["similarity", "dissimilarity"] = "similarity"
    to_similarity: str = "max-minus"
    batch: bool = False
    symmetric: bool = False
    metric: bool = False
    learns: bool = False
    threads: bool = False
    range: str = ""
    library: str = "similitude"
    reference: str = ""

    def __post_init__(self) -> None:
        if self.orientation not in ("similarity", "dissimilarity"):
            raise ValueError(f"orientation must be 'similarity' or 'dissimilarity'; got {self.orientation!r}.")

    @property
    def known(self) -> bool:
        """Whether the orientation is known, which is not the case for a function that a user passes."""
        return isinstance(self.function, BaseEstimator) or any(self is measure for measure in _registry.values())

    def learned(self, X: ListLike, y: ListLike | None) -> Measure:
        """Return this measure after learning from the training objects, or itself if it does not learn.

        Parameters
        ----------
        X : sequence of objects
            The training objects.
        y : array-like
            Their labels.

        Returns
        -------
        Measure
            The fitted measure, on batches.
        """
        if not self.learns:
            return self
        fresh: Any = deepcopy(self.function)
        fresh.fit(X, y)
        return replace(self, function=fresh, learns=False, batch=True)


class BatchSimilarity(BaseEstimator):
    """Base of the similarities that are objects with parameters and take two batches."""

    orientation = "similarity"
    similitude_batch = True


class BatchDistance(BatchSimilarity):
    """Base of the dissimilarities that are objects with parameters and take two batches."""

    orientation = "dissimilarity"


Function = TypeVar("Function", bound=Callable[..., Any])

SimilarityLike: TypeAlias = str | Callable[[Any, Any], Any] | Measure
"""The parameter ``similarity``."""

_registry: dict[str, Measure] = {}
FAMILIES = {
    "elastic": ("time series", "distances of time series", "'dtw' or 'msm'"),
    "words": ("strings", "similarities of words", "'tfidf-chars' or 'levenshtein-normalized'"),
}
"""The words for families of measures, where several similarities are taken: objects, meaning, and some members."""
_DECLARED = ("orientation", "to_similarity", "symmetric", "metric", "learns", "range")


def register(measure: Measure) -> Measure:
    """Register a measure under its name, so that ``similarity="..."`` accepts it everywhere.

    A measure that already has this name is replaced.

    Parameters
    ----------
    measure : Measure
        The measure.

    Returns
    -------
    Measure
        The same measure.

    See Also
    --------
    Measure : A similarity or dissimilarity function on raw objects, with its known properties.
    names : Return the registered names in alphabetical order.

    Examples
    --------
    >>> from similitude.similarities import Measure, register
    >>> measure = register(Measure(lambda a, b: -abs(len(a) - len(b)), name="same-length", objects="strings"))
    """
    reserved = ("", "precomputed", "columns", *FAMILIES)
    if not isinstance(measure.name, str) or measure.name in reserved:
        raise ValueError(f"name must be a string, and none of {reserved}; got {measure.name!r}.")
    _registry[measure.name] = measure
    return measure


SYNONYMS = {
    "alignment": "smith-waterman",
    "cityblock": "manhattan",
    "cosine-tfidf": "tfidf-cosine",
    "count-jaccard": "minmax-tanimoto",
    "damerau-levenshtein": "damerau",
    "dynamic-time-warping": "dtw",
    "ecfp": "tanimoto",
    "ecfp4": "tanimoto",
    "edit": "levenshtein",
    "edit-distance": "levenshtein",
    "fingerprint": "tanimoto",
    "gaussian": "rbf",
    "jaro": "jaro-winkler",
    "kl-divergence": "relative-entropy",
    "levenstein": "levenshtein",
    "min-max": "minmax-tanimoto",
    "morgan": "tanimoto",
    "n-grams": "tfidf-chars",
    "ncd": "compression",
    "ngrams": "tfidf-chars",
    "normalized-damerau": "damerau-normalized",
    "normalized-levenshtein": "levenshtein-normalized",
    "phonetic": "metaphone",
    "ruzicka": "minmax-tanimoto",
    "sorensen": "dice",
    "soundex": "metaphone",
    "tfidf": "tfidf-words",
    "wasserstein": "emd",
}
"""Other names that people use, with the registered one that a message offers."""

_EXTRAS = {
    "rapidfuzz": "`[strings]`",
    "jellyfish": "`[strings]`",
    "parasail": "`[bio]`",
    "POT": "`[transport]`",
    "RDKit": "`[mol]`",
}


def _signature(function: Any) -> str:
    """Return the class and its parameters as code, or "" for a plain function."""
    if not isinstance(function, BaseEstimator):
        return ""
    return f"`{type(function).__name__}({', '.join(function.get_params(deep=False))})`"


def table() -> str:
    """Return the registered measures as a Markdown table.

    Returns
    -------
    str
        The table.

    See Also
    --------
    names : Return the registered names in alphabetical order.
    register : Register a measure under its name, so that ``similarity="..."`` accepts it everywhere.
    """
    rows = ["| name | class | on | what | symmetric | metric | learns | values | by | reference |", "| --- " * 10 + "|"]
    for name in names():
        measure = _registry[name]
        what = (
            "similarity"
            if measure.orientation == "similarity"
            else f"distance, made similar by {measure.to_similarity}"
        )
        yes = ["yes" if flag else "" for flag in (measure.symmetric, measure.metric, measure.learns)]
        library = f"{measure.library} {_EXTRAS.get(measure.library, '')}".strip()
        own = _signature(measure.function)
        cells = [f"`{name}`", own, measure.objects, what, *yes, measure.range, library, measure.reference]
        rows.append("| " + " | ".join(cells) + " |")
    return "\n".join(rows) + "\n"


def names() -> list[str]:
    """Return the registered names in alphabetical order.

    Returns
    -------
    list of str
        The names.

    See Also
    --------
    table : Return the registered measures as a Markdown table.
    """
    return sorted(_registry)


def batch(function: Function) -> Function:
    """Mark a function that takes two whole batches of objects and returns the matrix of their similarities.

    Parameters
    ----------
    function : callable
        ``function(A, B)`` returns an array of shape (len(A), len(B)).

    Returns
    -------
    callable
        The marked function.

    See Also
    --------
    Measure : A similarity or dissimilarity function on raw objects, with its known properties.
    register : Register a measure under its name, so that ``similarity="..."`` accepts it everywhere.

    Examples
    --------
    >>> import numpy as np
    >>> from similitude import KNNClassifier
    >>> from similitude.similarities import batch
    >>> inner = batch(lambda A, B: np.asarray(A) @ np.asarray(B).T)
    >>> X = [[1.0, 0.0], [0.9, 0.1], [0.0, 1.0]]
    >>> KNNClassifier(1, similarity=inner).fit(X, ["a", "a", "b"]).predict([[0.1, 0.8]])
    array(['b'], dtype='<U1')
    """
    try:
        function.similitude_batch = True  # type: ignore[attr-defined]
    except AttributeError:  # bound methods and builtins take no attributes
        function = partial(function)  # type: ignore[assignment]
        function.similitude_batch = True  # type: ignore[attr-defined]
    return function


def is_family(similarity: Any) -> bool:
    """Return whether a similarity is the word for a family of measures."""
    return isinstance(similarity, str) and similarity in FAMILIES


def objects_of(similarity: SimilarityLike) -> str:
    """Return which objects a measure, or those of a family, compare."""
    return FAMILIES[str(similarity)][0] if is_family(similarity) else resolve(similarity).objects


def resolve(similarity: SimilarityLike) -> Measure:
    """Return the measure of a registered name, a callable, or an object with ``fit(X, y)`` and ``__call__(A, B)``."""
    if isinstance(similarity, Measure):
        return similarity
    if isinstance(similarity, str):
        from similitude.similarities.scikit_learn import scikit_learn_measure  # that module imports this one

        if similarity in FAMILIES:
            _, meaning, some = FAMILIES[similarity]
            raise ValueError(
                f"similarity={similarity!r} means a family of {meaning}, and one similarity is needed here: name one "
                f"of them, such as {some}, or use AutoClassifier or MixtureSVC, which take the family."
            )
        found = _registry.get(similarity) or scikit_learn_measure(similarity)
        if found is None:
            plain = similarity.lower().replace("_", "-").replace(" ", "-")
            meant = SYNONYMS.get(plain, plain if plain in _registry else None)
            hint = did_you_mean(similarity, _registry) if meant is None else f" Did you mean {meant!r}?"
            raise ValueError(
                f"similarity={similarity!r} is not known.{hint} It can be 'precomputed', one of {names()}, a callable "
                "on two objects, a metric or kernel name of scikit-learn, or an object with fit and __call__."
            )
        return found
    if isinstance(similarity, type):
        raise ValueError(f"similarity must be an instance, not a class: pass {similarity.__name__}().")
    if callable(similarity):
        for known in _registry.values():
            if similarity is known.function:
                return known
            if isinstance(similarity, BaseEstimator) and type(similarity) is type(known.function):
                # Parameters may change the properties: a normalised distance is not a metric, an E-value is not a
                # similarity.
                declared = {name: getattr(similarity, name) for name in _DECLARED if hasattr(similarity, name)}
                return replace(known, function=similarity, **declared)
        return Measure(
            similarity,
            name=getattr(similarity, "__name__", type(similarity).__name__),
            orientation=getattr(similarity, "orientation", "similarity"),
            to_similarity=getattr(similarity, "to_similarity", "max-minus"),
            batch=getattr(similarity, "similitude_batch", False),
            learns=hasattr(similarity, "fit"),
        )
    raise ValueError(
        f"similarity must be 'precomputed', a registered name or a callable; got {type(similarity).__name__}."
    )
