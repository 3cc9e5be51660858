"""One or several similarity matrices with the data that belong to their samples, which are sliced together."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
from scipy import sparse

from similitude._utils.forms import foreign_form, from_condensed, is_frame
from similitude._utils.ids import Names, as_ids, check_same_index, column_names_of, labels_in_order, names_of
from similitude._utils.scikit_learn import num_samples, safe_indexing
from similitude.proximity.edges import EdgeMeaning, Edges, edges_of, square_matrix
from similitude.proximity.neighbor_lists import best_lists, listed_pairs, rows_of_lists
from similitude.proximity.ratings import odd_one_out, rated_matrix, ratings_of, triads
from similitude.proximity.split import cut
from similitude.proximity.unknown import Absent, Fill, check_absent, check_fill

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from similitude._utils.types import ListLike, MatrixLike, ProximityLike


class Extras(NamedTuple):
    """Data that may come with samples in addition to their similarities."""

    features: Any = None
    self_similarity: np.ndarray | None = None
    ids: np.ndarray | None = None

    def take(self, rows: np.ndarray) -> Extras:
        """Return the data of some of the samples."""
        return Extras(*(_taken(values, rows) for values in self))


class Proximities:
    """A similarity matrix together with the data that belong to its samples, which are sliced together.

    It takes the place of S in every estimator of the package and in scikit-learn's cross-validation, where keyword
    arguments of ``predict`` would be lost. Several similarities of the same samples are given by name, for
    :class:`~similitude.AutoClassifier`, :class:`~similitude.MixtureSVC`, :class:`~similitude.MixedSimilarity` and
    :class:`~similitude.FusedClassifier`, which also takes several feature sets; :meth:`select` picks one of them for
    the other estimators.

    Parameters
    ----------
    S : array-like or sparse matrix of shape (m, n), or dict of them
        The similarities of m row samples to n column samples.
    features : array-like, DataFrame or sparse matrix of shape (m, d), or dict of them, default=None
        The feature vectors of the row samples. Those with an index are matched by id, as labels are.
    self_similarity : array-like of shape (m,), default=None
        The similarities psi(x, x) of the row samples, matched in the same way; several similarities share them.
    ids : sequence of length m, default=None
        The names of the row samples; the default is the index of a DataFrame, unless pandas numbered its rows.
    column_ids : sequence of length n, default=None
        The names of the column samples; the default is ``ids`` if S is square, else the columns of a DataFrame, unless
        pandas numbered them. ``predict`` matches them to the ids of the training samples.
    absent : {"zero", "farthest", "unknown"}, default="zero"
        The meaning of the entries that a sparse matrix does not store: similarities of 0, pairs that are farther apart
        than all others (for dissimilarities, which become similarities of 0), or unknown pairs. Unknown pairs of a
        dense matrix are NaN.
    fill : {"class-blind mean", "class-blind median", "farthest"} or float, default=None
        The value of unknown pairs for methods that need all pairs, learned on the training part: the mean or the median
        of the known values of different samples, whatever their classes, the least similar known value, or a number.
        Methods that vote among known neighbours use it only for the similarities of neighbours to each other.

    See Also
    --------
    check_similarity
        Check a matrix of similarities and return it as a float array or CSR matrix, without a copy if possible.
    similitude.datasets.load_proximity
        Read similarities or dissimilarities, and the labels and groups of their samples, from files of any
        form.
    train_test_split : Split a square matrix, and arrays that belong to its samples, into a training and a test part.

    Examples
    --------
    >>> import numpy as np
    >>> from similitude import Proximities
    >>> P = Proximities(np.eye(3), ids=["a", "b", "c"])
    >>> part = P[np.ix_([2], [0, 1])]
    >>> part.shape, part.ids.tolist(), part.column_ids.tolist()
    ((1, 2), ['c'], ['a', 'b'])
    >>> both = Proximities({"taste": np.eye(3), "smell": np.ones((3, 3))})
    >>> both
    Proximities(3, 3) of taste, smell
    >>> both.select("smell").S[0]
    array([1., 1., 1.])
    """

    absent: Absent = "zero"
    fill: Fill = None
    adopted = False
    """Whether the ids came with another library's object, such as a DataFrame; new rows need not have them."""

    def __init__(
        self,
        S: ProximityLike,
        features: MatrixLike | Mapping[str, MatrixLike] | None = None,
        self_similarity: ArrayLike | None = None,
        ids: ListLike | None = None,
        column_ids: ListLike | None = None,
        absent: Absent = "zero",
        fill: Fill = None,
    ):
        self.absent, self.fill = check_absent(absent), check_fill(fill)
        form = None if isinstance(S, (Mapping, np.ndarray)) else foreign_form(S)
        if form is not None:
            S, ids = form.matrix, form.ids if ids is None else ids
        self.similarities = {name: _matrix(value, name) for name, value in _by_name(S, "S").items()}
        self.shape = _common_shape(self.similarities)
        _check_same_samples(self.similarities)
        self.ids = None if ids is None else np.asarray(ids)
        names = names_of(self.similarities if ids is None else self)
        if isinstance(features, Mapping):
            given = _by_name(features, "features")
            self.features: Any = {name: _features(value, names, f"features[{name!r}]") for name, value in given.items()}
        else:
            self.features = None if features is None else _features(features, names, "features")
        own = labels_in_order(self_similarity, names, "self_similarity")
        self.self_similarity = None if own is None else np.asarray(own, dtype=float)
        if ids is None:
            self.ids = as_ids(names_of(self.similarities))
            self.adopted = self.ids is not None
        if column_ids is None and self.shape[0] == self.shape[1] and (ids is not None or self._rows_name_columns()):
            column_ids = self.ids
        if column_ids is None:
            column_ids = as_ids(column_names_of(self.similarities))
            self.adopted = self.adopted or column_ids is not None
        self.column_ids = None if column_ids is None else np.asarray(column_ids)
        self._check_lengths()
        if self.self_similarity is not None and not np.isfinite(self.self_similarity).all():
            raise ValueError("self_similarity contains NaN or infinity; every entry must be a finite number.")

    @classmethod
    def from_edges(
        cls,
        queries: ListLike,
        targets: ListLike,
        scores: ArrayLike,
        *,
        missing: Absent | float | None = None,
        duplicates: Literal["max", "min", "mean", "error"] | None = None,
        direction: Literal["keep", "max", "mean", "min"] = "keep",
        normalise: Literal["self"] | None = None,
        orientation: Literal["similarity", "dissimilarity"] = "similarity",
    ) -> Proximities:
        """Return the proximities of an edge list, such as the hits of a search of all samples against all.

        Parameters
        ----------
        queries, targets : sequences of length m
            The ids of both ends of each edge.
        scores : array-like of shape (m,)
            The values of the edges.
        missing : {"zero", "farthest", "unknown"} or float, default=None
            The value of pairs without an edge: 0, the largest dissimilarity (or the smallest similarity) of all edges,
            unknown, or this number. None means "zero" for similarities; for dissimilarities it means that every
            pair must have an edge. A sample has the dissimilarity 0 to itself unless an edge says otherwise.
        duplicates : {"max", "min", "mean", "error"}, default=None
            The value of a pair with several edges. None means "max" for similarities, "min" for dissimilarities.
        direction : {"keep", "max", "mean", "min"}, default="keep"
            The value of a pair with edges in both directions: "keep" keeps both, and S may be asymmetric; otherwise
            both get the larger, the mean or the smaller one. A direction without an edge has the value of ``missing``;
            if that is unknown, the other direction counts alone.
        normalise : {"self"}, default=None
            With "self", scores are divided by the root of the product of both self-scores, ``s_ij / sqrt(s_ii s_jj)``,
            as is usual with alignment scores.
        orientation : {"similarity", "dissimilarity"}, default="similarity"
            The meaning of the scores.

        Returns
        -------
        Proximities
            The matrix with ids, whose samples are in the order of their first appearance. It is sparse if pairs
            without an edge are 0 or unknown.

        See Also
        --------
        similitude.datasets.load_proximity : Reads edge lists from files.

        Examples
        --------
        >>> from similitude import Proximities
        >>> P = Proximities.from_edges(["a", "a", "b"], ["a", "b", "b"], [9, 4, 4], direction="max")
        >>> P.ids.tolist(), P.S.toarray().tolist()
        (['a', 'b'], [[9.0, 4.0], [4.0, 4.0]])
        >>> Proximities.from_edges(["a"], ["b"], [0.3], missing="unknown", orientation="dissimilarity")
        Proximities(2, 2) with ids, absent entries unknown
        """
        meaning = EdgeMeaning(missing, duplicates, direction, normalise, orientation)
        check_same_index(queries=queries, targets=targets, scores=scores)
        edges = edges_of(queries, targets, scores)
        made = square_matrix(edges, meaning)
        return cls(made.S, ids=edges.names, absent=made.absent)

    @classmethod
    def from_ratings(
        cls,
        first: ListLike,
        second: ListLike,
        ratings: ArrayLike,
        *,
        judges: ListLike | None = None,
        combine: Literal["mean", "ranks", "separate"] = "mean",
        direction: Literal["keep", "max", "mean", "min"] | None = None,
        diagonal: float | None = None,
        orientation: Literal["similarity", "dissimilarity"] = "similarity",
    ) -> Proximities:
        """Return the proximities of ratings of pairs by one judge or several; pairs that nobody rated are unknown.

        What a judge said of a pair several times counts as one rating, their mean.

        Parameters
        ----------
        first, second : sequences of length m
            The ids of the two samples of each rating.
        ratings : array-like of shape (m,)
            The ratings; NaN means that none was given.
        judges : sequence of length m, default=None
            Who gave each rating.
        combine : {"mean", "ranks", "separate"}, default="mean"
            What the ratings of several judges become: the mean of those who rated a pair; the mean of ranks, if judges
            use the scale differently: a rating becomes the share of the judge's ratings below it, of which equal ones
            count half; or one similarity for each judge, by name.
        direction : {"keep", "max", "mean", "min"}, default=None
            The value of a pair that one judge rated in both directions: "keep" keeps both; otherwise both directions
            get the larger, the mean or the smaller one, and a rating in one direction counts in both. None means "keep"
            if a judge rated some pair in both directions, otherwise "mean".
        diagonal : float, default=None
            The value of samples that were not rated with themselves; None means 0 for dissimilarities, 1 for ranks, and
            otherwise the largest rating.
        orientation : {"similarity", "dissimilarity"}, default="similarity"
            The meaning of the ratings.

        Returns
        -------
        Proximities
            The dense matrix, or one for each judge, with ids; the samples are in the order of their first appearance.

        See Also
        --------
        similitude.datasets.load_proximity : Reads tables of ratings from files.

        Examples
        --------
        >>> from similitude import Proximities
        >>> first, second = ["cat", "cat", "dog", "cat"], ["dog", "cup", "cup", "dog"]
        >>> P = Proximities.from_ratings(first, second, [6, 1, 2, 7], judges=["ann", "ann", "ann", "bob"])
        >>> P.ids.tolist(), P.S.tolist()
        (['cat', 'dog', 'cup'], [[7.0, 6.5, 1.0], [6.5, 7.0, 2.0], [1.0, 2.0, 7.0]])
        >>> Proximities.from_ratings(first, second, [6, 1, 2, 7], judges=["ann"] * 3 + ["bob"], combine="separate")
        Proximities(3, 3) of ann, bob with ids
        """
        check_same_index(first=first, second=second, ratings=ratings, judges=judges)
        found = ratings_of(first, second, ratings, judges)
        return cls(rated_matrix(found, combine, direction, diagonal, orientation).S, ids=found.names)

    @classmethod
    def from_odd_one_out(
        cls,
        first: ListLike,
        second: ListLike,
        third: ListLike,
        odd: ListLike,
        *,
        judges: ListLike | None = None,
        combine: Literal["mean", "ranks", "separate"] = "mean",
    ) -> Proximities:
        """Return how often two samples were left together when people chose the odd one of three.

        The similarity of two samples is the share of the choices that showed both in which the third one was chosen;
        pairs that were never shown together are unknown.

        Parameters
        ----------
        first, second, third : sequences of length m
            The ids of the three samples of each choice.
        odd : sequence of length m
            The sample that was chosen as the odd one.
        judges : sequence of length m, default=None
            Who made each choice.
        combine : {"mean", "ranks", "separate"}, default="mean"
            What the choices of several judges become, as in :meth:`from_ratings`.

        Returns
        -------
        Proximities
            The symmetric matrix with ids, or one for each judge.

        Examples
        --------
        >>> from similitude import Proximities
        >>> P = Proximities.from_odd_one_out(["cat", "cat"], ["dog", "dog"], ["cup", "pen"], ["cup", "cat"])
        >>> P.ids.tolist(), P.S[0].tolist()
        (['cat', 'dog', 'cup', 'pen'], [1.0, 0.5, 0.0, 0.0])
        """
        check_same_index(first=first, second=second, third=third, odd=odd, judges=judges)
        found = odd_one_out(first, second, third, odd, judges)
        return cls(rated_matrix(found, combine, "mean").S, ids=found.names)

    @classmethod
    def from_triads(
        cls,
        anchor: ListLike,
        chosen: ListLike,
        other: ListLike,
        *,
        judges: ListLike | None = None,
        combine: Literal["mean", "ranks", "separate"] = "mean",
    ) -> Proximities:
        """Return how often one sample was chosen as more like an anchor than another one.

        The similarity of an anchor to a sample is the share of the choices with this anchor that offered the sample in
        which it was chosen. It has a direction: the anchor is the row. Pairs that were never compared are unknown.

        Parameters
        ----------
        anchor, chosen, other : sequences of length m
            For each choice the id of the anchor, of the sample that is more like it, and of the other one.
        judges : sequence of length m, default=None
            Who made each choice.
        combine : {"mean", "ranks", "separate"}, default="mean"
            What the choices of several judges become, as in :meth:`from_ratings`.

        Returns
        -------
        Proximities
            The matrix with ids, or one for each judge.

        Examples
        --------
        >>> from similitude import Proximities
        >>> P = Proximities.from_triads(["cat", "cat", "dog"], ["dog", "cow", "cat"], ["cow", "dog", "cow"])
        >>> P.ids.tolist(), P.S.tolist()
        (['cat', 'dog', 'cow'], [[1.0, 0.5, 0.5], [1.0, 1.0, 0.0], [nan, nan, 1.0]])
        """
        check_same_index(anchor=anchor, chosen=chosen, other=other, judges=judges)
        found = triads(anchor, chosen, other, judges)
        return cls(rated_matrix(found, combine, "keep").S, ids=found.names)

    @classmethod
    def from_condensed(cls, values: ArrayLike, *, diagonal: float = 0.0, **options: Any) -> Proximities:
        """Return the square matrix of a condensed vector, such as that of SciPy's ``pdist``.

        Parameters
        ----------
        values : array-like of shape (n (n - 1)/2,)
            The values above the diagonal, row by row.
        diagonal : float, default=0.0
            The value of a sample with itself: 0 for distances.
        **options
            The other parameters of ``Proximities``, such as ``ids``.

        Returns
        -------
        Proximities
            The matrix.

        Examples
        --------
        >>> from similitude import Proximities
        >>> Proximities.from_condensed([0.5, 0.2, 0.1], diagonal=1.0, ids=["a", "b", "c"]).S
        array([[1. , 0.5, 0.2],
               [0.5, 1. , 0.1],
               [0.2, 0.1, 1. ]])
        """
        values = np.asarray(values, dtype=np.result_type(np.asarray(values), np.float32))
        if values.ndim != 1:
            raise ValueError(f"values must have one dimension; got shape {values.shape}.")
        return cls(from_condensed(values, diagonal), **options)

    @classmethod
    def from_neighbors(
        cls,
        indices: ArrayLike,
        values: ArrayLike,
        *,
        n_columns: int | None = None,
        missing: Absent | float = "unknown",
        direction: Literal["keep", "max", "mean", "min"] = "keep",
        orientation: Literal["similarity", "dissimilarity"] = "similarity",
        **options: Any,
    ) -> Proximities:
        """Return the sparse proximities of lists of neighbours, as a nearest-neighbour library returns them.

        pynndescent, Faiss, hnswlib, usearch, scikit-learn and vector databases return such lists. Most of them return
        distances: estimators then need ``dissimilarity=...``.

        Parameters
        ----------
        indices : array-like of int of shape (m, k)
            The positions of the neighbours of each sample, in any order; -1 where a library found fewer. The sample
            itself may be among them.
        values : array-like of shape (m, k)
            Their similarities or distances.
        n_columns : int, default=None
            The number of training samples, for lists of new samples; None means that the samples are neighbours of each
            other, and the matrix is square.
        missing : {"unknown", "zero", "farthest"} or float, default="unknown"
            The value of pairs that are not listed, as in :meth:`from_edges`. Methods that vote among known neighbours
            need none.
        direction : {"keep", "max", "mean", "min"}, default="keep"
            The value of a pair that is listed in both directions, as in :meth:`from_edges`. With "max" a pair that one
            of the two lists has is known in both directions, which is right for a symmetric measure.
        orientation : {"similarity", "dissimilarity"}, default="similarity"
            The meaning of the values. A sample has the distance 0 to itself unless it is listed.
        **options
            The other parameters of ``Proximities``, such as ``ids``.

        Returns
        -------
        Proximities
            The matrix, sparse if pairs that are not listed are unknown or 0.

        See Also
        --------
        to_neighbors : Returns such lists.
        similitude.similarities.neighbor_values : Computes the values of lists by another similarity.

        Examples
        --------
        >>> from similitude import KNNClassifier, Proximities
        >>> indices, distances = [[1, 2], [0, 2], [3, 1], [2, -1]], [[1, 4], [1, 3], [2, 3], [2, 0]]
        >>> P = Proximities.from_neighbors(indices, distances, direction="max", orientation="dissimilarity")
        >>> knn = KNNClassifier(1, dissimilarity="negate").fit(P, ["a", "a", "b", "b"])
        >>> new = Proximities.from_neighbors([[0, 1], [3, 2]], [[2, 4], [1, 5]], n_columns=4)
        >>> knn.predict(new)
        array(['a', 'b'], dtype='<U1')
        """
        pairs = listed_pairs(indices, values, n_columns)
        if n_columns is not None:
            if missing not in ("unknown", "zero", "farthest"):
                raise ValueError(f"missing must be 'unknown', 'zero' or 'farthest' for new samples; got {missing!r}.")
            shape = (len(np.asarray(indices)), n_columns)
            return cls(rows_of_lists(pairs, shape), absent=missing, **options)
        n = len(np.asarray(indices))
        meaning = EdgeMeaning(missing, None, direction, None, orientation)
        made = square_matrix(Edges(*pairs, [str(i) for i in range(n)]), meaning)
        return cls(made.S, absent=made.absent, **options)

    def to_neighbors(
        self,
        n_neighbors: int = 10,
        *,
        orientation: Literal["similarity", "dissimilarity"] = "similarity",
        include_self: bool = False,
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the best known neighbours of each sample, as nearest-neighbour libraries return and take them.

        Parameters
        ----------
        n_neighbors : int, default=10
            The number of neighbours.
        orientation : {"similarity", "dissimilarity"}, default="similarity"
            Whether the largest or the smallest values are the best.
        include_self : bool, default=False
            Whether the sample itself may be among the neighbours, as UMAP's ``precomputed_knn`` expects; its place
            follows from its value on the diagonal.

        Returns
        -------
        indices : ndarray of int of shape (m, n_neighbors)
            The positions of the neighbours, best first, equally similar ones by position; -1 if fewer are known.
        values : ndarray of shape (m, n_neighbors)
            Their values; NaN if fewer are known.

        Examples
        --------
        >>> from similitude import Proximities
        >>> P = Proximities([[0, 3, 1], [3, 0, 2], [1, 2, 0]])
        >>> indices, distances = P.to_neighbors(2, orientation="dissimilarity")
        >>> indices.tolist(), distances.tolist()
        ([[2, 1], [2, 0], [0, 1]], [[1.0, 3.0], [2.0, 3.0], [1.0, 2.0]])
        """
        S = self.S
        S = S.tocsr() if sparse.issparse(S) else np.asarray(S, dtype=np.result_type(S, np.float32))
        known_only = self.absent == "unknown" if sparse.issparse(S) else bool(np.isnan(S).any())
        return best_lists(S, n_neighbors, orientation, include_self, known_only)

    def _rows_name_columns(self) -> bool:
        """Return whether the columns of every DataFrame have the names of the rows."""
        frames = [S for S in self.similarities.values() if is_frame(S)]
        return self.ids is not None and all(list(S.columns) == self.ids.tolist() for S in frames)

    def _check_lengths(self) -> None:
        rows, columns = self.shape
        given = {"self_similarity": self.self_similarity, "ids": self.ids}
        if isinstance(self.features, dict):
            given |= {f"features[{name!r}]": values for name, values in self.features.items()}
        else:
            given["features"] = self.features
        for name, values in given.items():
            if values is None:
                continue
            if not values.shape:
                raise ValueError(f"{name} must have one entry per row of S ({rows}); got {values.tolist()!r}.")
            if num_samples(values) != rows:
                raise ValueError(f"{name} must have one entry per row of S ({rows}); got {num_samples(values)}.")
        if self.column_ids is not None and len(self.column_ids) != columns:
            raise ValueError(f"column_ids must have one entry per column of S ({columns}); got {len(self.column_ids)}.")

    @property
    def S(self) -> Any:
        """The similarities, if there is only one kind of them."""
        if len(self.similarities) > 1:
            raise ValueError(
                f"X holds the similarities {', '.join(map(repr, self.similarities))}, and one is needed here: "
                "X.select(name) picks one."
            )
        return next(iter(self.similarities.values()))

    def select(self, similarity: str | None = None, features: str | None = None) -> Proximities:
        """Return the same samples with one of several similarities, and one of several feature sets.

        Parameters
        ----------
        similarity : str, default=None
            The name of the similarity; None if there is only one.
        features : str, default=None
            The name of the feature set; None means all features.

        Returns
        -------
        Proximities
            The same samples.
        """
        S = self.S if similarity is None else _named(self.similarities, similarity, "similarity")
        chosen = self.features
        if features is not None:
            chosen = _named(chosen if isinstance(chosen, dict) else {}, features, "feature set")
        return self.replaced(S, chosen)

    @property
    def extras(self) -> Extras:
        """The data that come with the row samples in addition to their similarities."""
        return Extras(self.features, self.self_similarity, self.ids)

    def replaced(self, S: ProximityLike, features: MatrixLike | Mapping[str, MatrixLike] | None = None) -> Proximities:
        """Return the same samples with other similarities and features.

        Parameters
        ----------
        S : array-like or sparse matrix of shape (m, n), or dict of them
            The similarities.
        features : array-like, DataFrame, sparse matrix or dict of them, default=None
            The features.

        Returns
        -------
        Proximities
            The same samples.
        """
        other = Proximities(S, features, self.self_similarity, self.ids, absent=self.absent, fill=self.fill)
        other.ids, other.column_ids, other.adopted = self.ids, self.column_ids, self.adopted
        return other

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, key: Any) -> Proximities:
        """Return a block: ``P[np.ix_(rows, columns)]``, or ``P[rows]`` with all columns."""
        if not isinstance(key, tuple):
            key = (key, slice(None))
        if len(key) != 2:
            raise IndexError(f"Proximities take rows, or rows and columns; got {len(key)} indices.")
        # scikit-learn selects rows as X[rows, ...].
        key = tuple(slice(None) if k is Ellipsis else k for k in key)
        rows, columns = (np.arange(n)[k if isinstance(k, slice) else np.ravel(k)] for k, n in zip(key, self.shape))

        block = Proximities(
            {name: cut(S, rows, columns) for name, S in self.similarities.items()},
            *self.extras.take(rows),
            absent=self.absent,
            fill=self.fill,
        )
        # Even if a block is square, its columns are not the samples of its rows, and the positions of a block of a
        # DataFrame are not ids.
        block.ids, block.column_ids = _taken(self.ids, rows), _taken(self.column_ids, columns)
        block.adopted = self.adopted
        return block

    def __repr__(self) -> str:
        extras = [n for n in ("features", "self_similarity", "ids") if getattr(self, n) is not None]
        names = f" of {', '.join(map(str, self.similarities))}" if len(self.similarities) > 1 else ""
        unknown = "" if self.absent == "zero" else f", absent entries {self.absent}"
        return f"Proximities{self.shape}{names}" + (f" with {', '.join(extras)}" if extras else "") + unknown


def _taken(values: Any, index: np.ndarray) -> Any:
    if isinstance(values, dict):
        return {name: safe_indexing(value, index) for name, value in values.items()}
    return None if values is None else safe_indexing(values, index)


def as_proximities(X: Any, *, distances: bool = False) -> Proximities:
    """Return X if it is ``Proximities``, otherwise X wrapped in it."""
    if isinstance(X, Proximities):
        return X
    form = foreign_form(X, distances=distances)
    if form is None:
        return Proximities(X)
    given = Proximities(form.matrix, ids=form.ids)
    given.adopted = True
    return given


def at_columns(S: Any, columns: np.ndarray) -> Any:
    """Return the chosen columns of S, or S itself if these are all columns in order."""
    return S if np.array_equal(columns, np.arange(S.shape[1])) else cut(S, np.arange(S.shape[0]), columns)


def _by_name(values: Any, name: str) -> Mapping:
    if not isinstance(values, Mapping) or hasattr(values, "shape"):  # one of SciPy's sparse matrices is a dict
        return {"S": values}
    if not values or not all(isinstance(key, str) for key in values):
        raise ValueError(f"{name} by name must be a dict with at least one key, all strings; got {list(values)!r}.")
    return values


def _matrix(S: Any, name: str) -> Any:
    if isinstance(S, Proximities):
        raise ValueError(f"S: {name!r} is Proximities; a dict of several similarities must hold matrices.")
    form = foreign_form(S) if is_frame(S) else None
    S = S if form is None else form.matrix
    S = S if hasattr(S, "shape") else np.asarray(S)
    if len(S.shape) != 2:
        raise ValueError(f"{name} must have two dimensions; got shape {S.shape}.")
    return S


def _features(values: Any, names: Names | None, where: str) -> Any:
    """Return features as CSR, a DataFrame or an array, in the order of the samples with these names."""
    values = labels_in_order(values, names, where)
    if sparse.issparse(values):
        return values.tocsr()
    return values if hasattr(values, "iloc") else np.asarray(values)


def _common_shape(similarities: Mapping) -> tuple[int, int]:
    shapes = {name: S.shape for name, S in similarities.items()}
    if len(set(shapes.values())) > 1:
        raise ValueError(f"S: all similarities must have the same samples and so the same shape; got {shapes}.")
    return next(iter(shapes.values()))


def _check_same_samples(similarities: Mapping) -> None:
    """Raise an error if the names of rows or columns of several DataFrames differ."""
    frames = [(name, S) for name, S in similarities.items() if hasattr(S, "iloc")]
    for name, S in frames[1:]:
        first, known = frames[0]
        for what in ("index", "columns"):
            a, b = np.asarray(getattr(known, what), dtype=object), np.asarray(getattr(S, what), dtype=object)
            different = np.flatnonzero(a != b)
            if different.size:
                i = int(different[0])
                raise ValueError(
                    f"S: {first!r} and {name!r} do not have the same samples in the same order: "
                    f"{'row' if what == 'index' else 'column'} {i} is {a[i]!r} in {first!r} and {b[i]!r} in {name!r}. "
                    f"Reorder one like the other: b.loc[a.index, a.columns]."
                )


def _named(values: Mapping, name: str, what: str) -> Any:
    if name not in values:
        known = ", ".join(repr(key) for key in values) or "none by name"
        raise ValueError(f"X holds no {what} {name!r}; available: {known}.")
    return values[name]
