"""The cosine of tf-idf vectors, a similarity of documents."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Literal, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from similitude._utils.types import ListLike
from similitude.similarities.registry import BatchSimilarity, Measure, register
from similitude.similarities.strings import as_strings, string_pair


class TfidfCosine(BatchSimilarity):
    """Cosine of documents, represented as vectors of term frequency times inverse document frequency.

    ``s(x, z) = v(x) . v(z) / (|v(x)| |v(z)|)`` with ``v_t(x) = tf(t, x) (log((1 + n) / (1 + df(t))) + 1)``, where n and
    df are counted on the training documents only. A document without any known term has the similarity 0 to all others.

    Parameters
    ----------
    analyzer : {"word", "char", "char_wb"} or callable, default="word"
        The kind of terms, as in scikit-learn's ``TfidfVectorizer``.
    ngram_range : tuple of two int, default=(1, 1)
        The smallest and the largest length of the n-grams.
    lowercase : bool, default=True
        Whether documents are converted to lower case.
    stop_words : {"english"} or list, default=None
        Words that are left out.
    min_df, max_df : int or float, default=1, 1.0
        Terms in fewer, or more, training documents are left out.
    sublinear_tf : bool, default=False
        Whether ``1 + log(tf)`` replaces tf.

    Attributes
    ----------
    vectorizer_ : sklearn.feature_extraction.text.TfidfVectorizer
        The fitted vectorizer.

    See Also
    --------
    cosine : Return the cosines of the angles between vectors, ``x'z / (|x| |z|)``, a similarity.
    Compression : Normalised compression distance: how much of one string a compressor can predict from the other.

    References
    ----------
    G. Salton and C. Buckley (1988), "Term-weighting approaches in automatic text retrieval".

    Examples
    --------
    >>> from similitude.similarities.documents import TfidfCosine
    >>> train = ["a red apple", "a green apple", "the blue sea"]
    >>> TfidfCosine().fit(train)(["red red apple", "unheard of"], train).round(2)
    array([[0.96, 0.22, 0.  ],
           [0.  , 0.  , 0.  ]])
    """

    def __init__(
        self,
        analyzer: Literal["word", "char", "char_wb"] | Callable[[str], Iterable[str]] = "word",
        ngram_range: tuple[int, int] = (1, 1),
        lowercase: bool = True,
        stop_words: Literal["english"] | list[str] | None = None,
        min_df: float = 1,
        max_df: float = 1.0,
        sublinear_tf: bool = False,
    ):
        self.analyzer = analyzer
        self.ngram_range = ngram_range
        self.lowercase = lowercase
        self.stop_words = stop_words
        self.min_df = min_df
        self.max_df = max_df
        self.sublinear_tf = sublinear_tf

    def fit(self, X: ListLike, y: ListLike | None = None) -> Self:
        """Count the training documents in which each term occurs.

        Parameters
        ----------
        X : sequence of str
            The training documents.
        y : ignored
            For compatibility with scikit-learn.

        Returns
        -------
        TfidfCosine
            The fitted object.
        """
        from sklearn.feature_extraction.text import TfidfVectorizer

        self.vectorizer_ = TfidfVectorizer(**self.get_params(deep=False)).fit(as_strings(X, "X"))
        return self

    def __call__(self, A: ListLike, B: ListLike) -> np.ndarray:
        """Return the matrix of cosines between two collections of documents."""
        check_is_fitted(self, "vectorizer_")
        left, right = string_pair(A, B)
        if not left or not right:
            return np.zeros((len(left), len(right)))
        vectors = self.vectorizer_.transform(left)
        others = vectors if right is left else self.vectorizer_.transform(right)
        # The vectors have length 1 up to rounding, which could raise a cosine above 1.
        return np.minimum((vectors @ others.T).toarray(), 1.0)


_tfidf = partial(
    Measure,
    symmetric=True,
    learns=True,
    batch=True,
    range="0 to 1",
    library="scikit-learn",
    reference="Salton & Buckley 1988",
)

register(_tfidf(TfidfCosine(), name="tfidf-cosine", objects="documents"))
register(_tfidf(TfidfCosine(sublinear_tf=True), name="tfidf-words", objects="documents"))
# Letters at the ends of words tell more than those within, so blanks count.
register(_tfidf(TfidfCosine("char_wb", (1, 4), sublinear_tf=True), name="tfidf-chars", objects="strings"))
