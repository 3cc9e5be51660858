"""The standard family of similarities of words and names, as data."""

from __future__ import annotations

from similitude._utils.types import ListLike
from similitude.similarities import documents  # noqa: F401 - registers tfidf-chars
from similitude.similarities.registry import SimilarityLike, resolve
from similitude.similarities.strings import LCS, JaroWinkler, Levenshtein, Metaphone, as_strings


def words_family(X: ListLike | None = None) -> dict[str, SimilarityLike]:
    """Return the standard family of similarities of words and names, a dict of names and measures.

    Pass it to an estimator that takes several similarities, such as :class:`~similitude.AutoClassifier` or
    :class:`~similitude.MixtureSVC`. ``similarity="words"`` in these estimators means the family of the words that
    ``fit`` gets. Its members see different things: which letters, and letters beside each other, two words share and
    how rare these are, how they are spelled, how they begin, and how they sound.

    Parameters
    ----------
    X : sequence of str, default=None
        Training words, in which the n-grams are counted. None gives measures that count them in the training part in
        every fit; then a search computes the similarities of every fold anew.

    Returns
    -------
    dict of str and measures
        The similarities, with values from 0 to 1, and distances, whose map to similarities is "one-minus".

    See Also
    --------
    TfidfCosine : Cosine of documents, represented as vectors of term frequency times inverse document frequency.
    elastic_family : Return the standard family of elastic distances, a dict of names and measures.

    Examples
    --------
    >>> from similitude import AutoClassifier
    >>> from similitude.similarities import words_family
    >>> X = ["Rossi", "Bianchi", "Russo", "Ferrari", "Becker", "Schneider", "Fischer", "Wagner"]
    >>> y = ["Italian"] * 4 + ["German"] * 4
    >>> list(words_family(X))
    ['tfidf-chars', 'levenshtein', 'lcs', 'jaro-winkler', 'metaphone']
    >>> model = AutoClassifier(["k-NN"], cv=2, n_repeats=1, diagnose=False, similarity=words_family(X))
    >>> model.fit(X, y).predict(["Schreiber", "Ferri"])
    array(['German', 'Italian'], dtype='<U7')
    """
    grams = resolve("tfidf-chars")
    return {
        "tfidf-chars": grams if X is None else grams.learned(as_strings(X, "X"), None),
        "levenshtein": Levenshtein(normalized=True),
        "lcs": LCS(normalized=True),
        "jaro-winkler": JaroWinkler(),
        "metaphone": Metaphone(),
    }
