"""Reading the input of an estimator: matrices, or raw objects and a similarity, made similarities.

Everything that takes X goes through :class:`Reader`: ``fit`` gives the :class:`Training` samples, ``rows`` new samples
as :class:`Rows`. :class:`Samples` are all samples of a search, from which folds are cut.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _get_feature_names, _num_samples, validate_data

from similitude.finders import MatrixFinder, check_search
from similitude.proximity.check import check_similarity, is_symmetric
from similitude.proximity.maps import TO_SIMILARITY, LearnedMap, learned_constants_needed
from similitude.proximity.proximities import Extras, Proximities, as_proximities, at_columns
from similitude.proximity.split import cut
from similitude.proximity.symmetry import mean_of_directions, warn_of_asymmetry
from similitude.similarities import Measure, Named, check_objects, named_values, pairwise, resolve

_NONE = Extras()
_TRIED = 16


class Reader:
    """Reads X as the input contract says, and remembers of the training samples what new rows need.

    Parameters
    ----------
    similarity, dissimilarity
        The input contract: see the page on input.
    takes_columns : bool, default=False
        Whether ``similarity="columns"`` is allowed: rows of similarities to fixed prototypes.
    map_argument : str, default="dissimilarity"
        What error messages call the parameter that names the map.
    scale : float, default=None
        The constant of the map; None: learned from the training samples.
    search : {"matrix", "stream", "graph"} or a finder, default="matrix"
        How the neighbours of raw objects are found.
    learns_map : bool, default=True
        Whether the map is learned from all training samples. A method that learns it from a few of them by
        :meth:`learned_map` takes native values.

    Attributes
    ----------
    measure : Measure or None
        The similarity function, after it has learned from the training samples; None where X is a matrix.
    objects : sequence or None
        The training samples, where they are raw objects.
    map : LearnedMap or None
        What turns native values into similarities; None where they are similarities.
    n_columns : int
        The number of columns of a whole row.
    column_names, column_ids : ndarray or None
        The names of the columns of a DataFrame that are strings, and the ids of ``Proximities``.
    asymmetric : bool
        Whether new rows of raw objects are the mean of both directions, where a method needs them symmetric.
    kept : ndarray of int or None
        The positions of the training samples in ``objects``, where these are not all: see :meth:`reduced_to`.
    """

    measure: Measure | None = None
    objects: Any = None
    map: LearnedMap | None = None
    n_columns: int = 0
    column_names: np.ndarray | None = None
    column_ids: np.ndarray | None = None
    asymmetric: bool = False
    kept: np.ndarray | None = None

    def __init__(
        self,
        similarity: Any = "precomputed",
        dissimilarity: str | None = None,
        *,
        takes_columns: bool = False,
        map_argument: str = "dissimilarity",
        scale: float | None = None,
        search: Any = "matrix",
        learns_map: bool = True,
    ):
        self.similarity = similarity
        self.dissimilarity = dissimilarity
        self.takes_columns = takes_columns
        self.map_argument = map_argument
        self.scale = scale
        self.search = search
        self.learns_map = learns_map
        self.extras: tuple[str, ...] = ()

    @property
    def is_precomputed(self) -> bool:
        """Whether X is the square matrix of the training samples."""
        return isinstance(self.similarity, str) and self.similarity == "precomputed"

    @property
    def is_columns(self) -> bool:
        """Whether X holds rows of similarities to fixed prototypes."""
        return self.takes_columns and isinstance(self.similarity, str) and self.similarity == "columns"

    @property
    def is_matrix(self) -> bool:
        """Whether X holds similarities, not raw objects."""
        return self.is_precomputed or self.is_columns

    @property
    def map_name(self) -> str | None:
        """The name of the map that turns native values into similarities; None where they are similarities."""
        chosen = self.dissimilarity
        if not self.is_matrix:
            measure = resolve(self.similarity)
            if measure.known and measure.orientation == "similarity" and chosen is not None:
                raise ValueError(
                    f"dissimilarity={chosen!r}: {measure.name!r} is a similarity; leave dissimilarity=None."
                )
            if chosen is None and measure.orientation == "dissimilarity":
                chosen = measure.to_similarity
        if chosen is not None and chosen not in TO_SIMILARITY:
            raise ValueError(f"{self.map_argument} must be one of {sorted(TO_SIMILARITY)}; got {chosen!r}.")
        return chosen

    def fit(self, X: Any, y: Any = None, *, estimator: Any = None, warns: bool = True) -> Training:
        """Return the training samples, having learned from them what the similarity and the map learn.

        Parameters
        ----------
        X : square matrix, rows to prototypes, Proximities, or sequence of raw objects
        y : array-like of shape (n,), default=None
            The labels, for a similarity that learns from them.
        estimator : estimator, default=None
            Named in errors.
        warns : bool, default=True
            Whether a matrix that looks like dissimilarities is pointed out.
        """
        map_name = self.map_name
        chosen = check_search(self.search)
        if chosen is not None and self.is_precomputed:
            raise ValueError(
                f"search={self.search!r} needs raw objects: X is a precomputed matrix, where every similarity is "
                "known already. Pass similarity=..., or leave search='matrix'."
            )
        if chosen is not None and map_name == "double-centring":
            raise ValueError(
                f"search={self.search!r}: the map 'double-centring' looks at whole rows; use search='matrix' or "
                "another map."
            )
        if not self.is_matrix:
            return self._fit_objects(X, y, map_name, chosen)
        S = check_similarity(
            matrix_of(X),
            name="X",
            square=not self.is_columns,
            orientation="similarity" if map_name is None and warns else "dissimilarity",
            estimator=estimator,
        )
        given = as_proximities(X)
        self.n_columns, self.column_names = S.shape[1], _get_feature_names(matrix_of(X))
        self.column_ids = given.column_ids
        self._note_extras(given.extras)
        native = GivenValues(S, square=self.is_precomputed)
        if self.learns_map and map_name is not None:
            self.map = self.learned_map(S)
            S = self.similarities(S)
        return Training(self, S.shape[0], lambda: S, given.extras, native=native)

    def _note_extras(self, extras: Extras) -> None:
        """Remember what came with the training samples, which new rows must have too."""
        # With fixed prototypes the ids of the rows say nothing about the columns.
        names = [name for name, values in extras._asdict().items() if values is not None]
        self.extras = tuple(name for name in names if name != "ids" or not self.is_columns)

    def _fit_objects(self, X: Any, y: Any, map_name: str | None, search: Any) -> Training:
        self.objects = check_objects(X)
        self.n_columns = _num_samples(self.objects)
        self.measure = measure = resolve(self.similarity).learned(self.objects, y)
        native: Any = ComputedValues(measure, self.objects, self.objects)

        def load() -> Any:
            return self.similarities(pairwise(self.objects, similarity=measure))

        if search is not None or map_name is None or not self.learns_map:
            return Training(self, self.n_columns, load, native=native)
        if not learned_constants_needed(map_name):
            self.map = LearnedMap(map_name, {})
            return Training(self, self.n_columns, load, native=native)
        values = pairwise(self.objects, similarity=measure)
        self.map = self.learned_map(values)
        S = self.similarities(values)
        return Training(self, self.n_columns, lambda: S, native=GivenValues(values, square=True))

    def learned_map(self, native: Any) -> LearnedMap | None:
        """Return the map with constants learned from native values; None where these are similarities."""
        map_name = self.map_name
        return None if map_name is None else LearnedMap.learn(native, map_name, scale=self.scale)

    def rows(self, X: Any, *, support: np.ndarray | None = None, estimator: Any = None) -> Rows:
        """Return the rows of new samples.

        Parameters
        ----------
        X : matrix of shape (m, n), Proximities, or sequence of raw objects
        support : ndarray of int, default=None
            The columns, ascending, that are all that is needed: rows with these columns alone are taken as well.
        estimator : estimator, default=None
            The fitted estimator that asks: its column names are checked, and it is named in errors.
        """
        if not self.is_matrix:
            objects = check_objects(X)
            native = ComputedValues(self.measure, objects, self.objects, self.kept)
            return Rows(self, _num_samples(objects), native, objects=objects)
        S = check_similarity(matrix_of(X), name="X", square=False, estimator=estimator)
        given = as_proximities(X)
        part = support if support is not None and len(support) and S.shape[1] != self.n_columns else None
        if estimator is not None:
            _check_width(matrix_of(X), S.shape[1], part, estimator)
        self._check_same_columns(given, part)
        places = None if part is None else np.searchsorted(part, np.arange(self.n_columns))
        rows = Rows(self, S.shape[0], GivenValues(S, columns=places), given.extras, support=part)
        rows.S = self.similarities(S)
        return rows

    def _check_same_columns(self, given: Proximities, part: np.ndarray | None) -> None:
        names = {name: "column_ids" if name == "ids" else name for name in self.extras}
        missing = sorted(name for name in names if getattr(given, names[name]) is None)
        if missing:
            raise ValueError(
                f"X: {', '.join(missing)} was given in fit and is missing here; pass Proximities(S, "
                f"{', '.join(names[name] + '=...' for name in missing)})."
            )
        if self.column_ids is None or given.column_ids is None:
            return
        known = self.column_ids if part is None else self.column_ids[part]
        different = np.flatnonzero(known != given.column_ids)
        if different.size:
            j = int(different[0])
            raise ValueError(
                f"X: the columns are not the training samples in their order: column {j} is "
                f"{given.column_ids.tolist()[j]!r}, in fit it was {known.tolist()[j]!r}. Reorder them."
            )

    def similarities(self, native: Any, *, transposed: bool = False) -> Any:
        """Return native values of rows as similarities; ``transposed``: values psi(x_j, x) in the other direction."""
        if self.map is None:
            return native
        return (self.map.transposed() if transposed else self.map)(native, name="X")

    def columns_read(self, used: np.ndarray) -> np.ndarray:
        """Return the columns that rows must have where ``used`` are needed: all, where the map looks at whole rows."""
        if self.map is not None and self.map.map_name == "double-centring":
            return np.arange(self.n_columns)
        return np.unique(used) if self.kept is None else np.arange(len(self.kept))

    def reduced_to(self, positions: np.ndarray) -> Reader:
        """Return a reader that gives native values, and of raw objects keeps those at the positions alone."""
        reduced = copy.copy(self)
        reduced.map, reduced.learns_map = None, False
        if self.objects is not None:
            places = positions if self.kept is None else np.searchsorted(self.kept, positions)
            reduced.objects, reduced.kept = _safe_indexing(self.objects, places), positions
            reduced.n_columns = len(positions)
        return reduced


class GivenValues:
    """Native values of row samples to column samples, given as a matrix or a part of one.

    Parameters
    ----------
    values : array, CSR matrix or Proximities
    rows, columns : ndarray of int, default=None
        Where the samples are found among the rows and the columns of the matrix; None: in their order.
    square : bool, default=False
        Whether the matrix has the same samples as rows and as columns, so that the other direction is known.
    """

    def __init__(self, values: Any, rows: Any = None, columns: Any = None, *, square: bool = False):
        self.values, self.rows, self.columns, self.square = values, rows, columns, square

    def block(self, rows: slice, columns: np.ndarray) -> Any:
        """Return the values of consecutive rows to some of the columns."""
        return cut(matrix_of(self.values), self._rows(rows), self._columns(columns))

    def back(self, rows: slice, columns: np.ndarray) -> Any:
        """Return the values in the other direction, of ``columns`` to ``rows``, transposed; None where not known."""
        return cut(matrix_of(self.values), self._columns(columns), self._rows(rows)).T if self.square else None

    def among(self, positions: np.ndarray) -> Any:
        """Return the values among some of the column samples."""
        return cut(matrix_of(self.values), self._columns(positions), self._columns(positions))

    def _rows(self, rows: slice) -> np.ndarray:
        return np.arange(rows.start, rows.stop) if self.rows is None else self.rows[rows]

    def _columns(self, columns: np.ndarray) -> np.ndarray:
        return columns if self.columns is None else self.columns[columns]


class ComputedValues:
    """Native values of raw objects to others, computed when they are asked for.

    Parameters
    ----------
    measure : Measure
    objects, others : sequences
        The samples of the rows, and of the columns.
    kept : ndarray of int, default=None
        The positions of the columns that ``others`` are, where these are not all.
    first : int, default=0
        The position by which errors name the first of ``objects``.
    """

    def __init__(self, measure: Any, objects: Any, others: Any, kept: np.ndarray | None = None, first: int = 0):
        self.measure, self.objects, self.others, self.kept, self.first = measure, objects, others, kept, first

    def block(self, rows: slice, columns: np.ndarray) -> np.ndarray:
        """Return the values of consecutive rows to some of the columns."""
        if not len(columns):
            return np.empty((rows.stop - rows.start, 0))
        return named_values(self._rows(rows), self._columns(columns), self.measure)

    def back(self, rows: slice, columns: np.ndarray) -> np.ndarray:
        """Return the values in the other direction, of ``columns`` to ``rows``, transposed."""
        return named_values(self._columns(columns), self._rows(rows), self.measure).T

    def among(self, positions: np.ndarray) -> np.ndarray:
        """Return the values among some of the column samples."""
        return named_values(self._columns(positions), None, self.measure)

    def _rows(self, rows: slice) -> Named:
        whole = rows == slice(0, _num_samples(self.objects))
        places = self.first + np.arange(rows.start, rows.stop)
        return Named(self.objects if whole else _safe_indexing(self.objects, rows), places)

    def _columns(self, columns: np.ndarray) -> Named:
        places = columns if self.kept is None else np.searchsorted(self.kept, columns)
        whole = np.array_equal(places, np.arange(_num_samples(self.others)))
        return Named(self.others if whole else _safe_indexing(self.others, places), columns)


class Training:
    """The training samples as an estimator reads them.

    Parameters
    ----------
    reader : Reader
        The fitted reader.
    n : int
        How many samples there are.
    load : callable
        Gives the similarities; called when these are first looked at.
    extras : Extras
        What came with the samples: features, self-similarities, ids.
    native : GivenValues or ComputedValues, default=None
        The values before the map, block by block; of raw objects none is computed that is not asked for.
    announced : bool, default=True
        Whether the user is warned of what is noticed in the similarities; a search warns of the whole matrix, not of
        each fold.
    """

    def __init__(
        self,
        reader: Reader,
        n: int,
        load: Callable[[], Any],
        extras: Extras = _NONE,
        *,
        native: Any = None,
        announced: bool = True,
    ):
        self.reader, self._n, self._load, self.native, self.announced = reader, n, load, native, announced
        self.features, self.self_similarity, self.ids = extras

    def __len__(self) -> int:
        return self._n

    @property
    def has_matrix(self) -> bool:
        """Whether the similarities are to be looked at as a whole, which a finder of raw objects avoids."""
        return check_search(self.reader.search) is None

    @cached_property
    def S(self) -> Any:
        """The similarities, (n, n) or, with fixed prototypes, (n, p)."""
        return self._load()

    def columns(self, used: np.ndarray) -> Any:
        """Return the similarities to the samples at the positions ``used``, in that order.

        Of raw objects no others are computed, unless the map looks at whole rows.
        """
        computes = isinstance(self.native, ComputedValues) and "S" not in vars(self)
        if not computes or len(self.reader.columns_read(used)) == self.reader.n_columns:
            return at_columns(self.S, used)
        return self.reader.similarities(self.native.block(slice(0, len(self)), used))

    def note_asymmetry(self, who: str) -> bool:
        """Return whether S is asymmetric; if so, warn that ``who`` takes the mean of both directions instead.

        From then on the rows of new raw objects are the mean of both directions, too, where they are asked for as
        ``symmetric``.
        """
        measure = self.reader.measure
        if measure is not None and measure.symmetric:
            return False
        if self.announced:
            asymmetric = warn_of_asymmetry(who, self.S, both_directions=measure is not None)
        else:
            asymmetric = not is_symmetric(self.S)
        self.reader.asymmetric = asymmetric and measure is not None
        return asymmetric

    def symmetric(self, who: str) -> Any:
        """Return S where it is symmetric, else ``(S + S^T)/2`` with one warning that says who needs it."""
        return mean_of_directions(self.S) if self.note_asymmetry(who) else self.S

    def replaced(self, S: Any) -> Training:
        """Return the same samples with these similarities."""
        return self._with(self.reader, lambda: S)

    def read_by(self, reader: Reader) -> Training:
        """Return the same samples as another reader reads them, whose map is learned from them."""
        for name in ("measure", "objects", "n_columns", "column_names", "column_ids", "extras"):
            setattr(reader, name, getattr(self.reader, name))
        values = self.native.block(slice(0, len(self)), np.arange(reader.n_columns))
        reader.map = reader.learned_map(values)
        return self._with(reader, lambda: reader.similarities(values))

    def _with(self, reader: Reader, load: Callable[[], Any]) -> Training:
        extras = Extras(self.features, self.self_similarity, self.ids)
        return Training(reader, len(self), load, extras, native=self.native, announced=self.announced)

    def finder(self, *, symmetric: bool = False, lookup: bool = False) -> Any:
        """Return what finds the neighbours of new rows among the training samples.

        Parameters
        ----------
        symmetric : bool, default=False
            Whether neighbours are ranked by the mean of both directions, where these differ and are known.
        lookup : bool, default=False
            Whether the similarities among neighbours will be asked for.
        """
        chosen = check_search(self.reader.search)
        if chosen is None:
            return MatrixFinder(self.S if lookup else None, symmetric)
        finder = clone(chosen)
        self.reader.map = finder.index(self.reader, symmetric and not self._seems_symmetric())
        return finder

    def _seems_symmetric(self) -> bool:
        """Return whether a function on raw objects is symmetric as far as a few objects tell."""
        measure, some = self.reader.measure, slice(0, min(_TRIED, len(self)))
        return measure.symmetric or is_symmetric(
            pairwise(_safe_indexing(self.reader.objects, some), similarity=measure)
        )

    def fold(self, kept: np.ndarray, left_out: np.ndarray) -> tuple[Training, Rows]:
        """Return a part of the training samples, and the rows of others to it, all mapped as the whole is."""
        S, columns = self.S, np.arange(self.S.shape[1]) if self.reader.is_columns else kept
        extras = Extras(self_similarity=self.self_similarity)
        part = Training(self.reader, len(kept), lambda: cut(S, kept, columns), extras.take(kept), announced=False)
        rows = Rows(self.reader, len(left_out), None, extras.take(left_out))
        rows.S = cut(S, left_out, columns)
        return part, rows


class Rows:
    """New samples as an estimator reads them: their similarities to the training samples.

    Parameters
    ----------
    reader : Reader
        The fitted reader.
    m : int
        How many samples there are.
    native : GivenValues or ComputedValues
        The values before the map, block by block.
    extras : Extras
        What came with the samples: features, self-similarities, ids.
    objects : sequence, default=None
        The samples, where they are raw objects; of their similarities only those are computed that are looked at.
    support : ndarray of int, default=None
        The positions of the columns where there are not all.
    """

    def __init__(
        self,
        reader: Reader,
        m: int,
        native: Any,
        extras: Extras = _NONE,
        *,
        objects: Any = None,
        support: np.ndarray | None = None,
    ):
        self.reader, self._m, self.native, self.objects, self._support = reader, m, native, objects, support
        self.features, self.self_similarity, _ = extras

    def __len__(self) -> int:
        return self._m

    @cached_property
    def S(self) -> Any:
        """The similarities psi(x, x_j) to the training samples, (m, n)."""
        return self._similarities(np.arange(self.reader.n_columns))

    @cached_property
    def symmetric(self) -> Any:
        """The mean of both directions where these are known to differ, else S."""
        return self._mean(self.S, np.arange(self.reader.n_columns))

    def columns(self, used: np.ndarray, *, symmetric: bool = False) -> Any:
        """Return the similarities to the training samples at the positions ``used``, in that order."""
        computes = isinstance(self.native, ComputedValues) and "S" not in vars(self)
        if not computes or len(self.reader.columns_read(used)) == self.reader.n_columns:
            S = self.symmetric if symmetric else self.S
            return at_columns(S, used if self._support is None else np.searchsorted(self._support, used))
        S = self._similarities(used)
        return self._mean(S, used) if symmetric else S

    def read_by(self, reader: Reader) -> Rows:
        """Return the same samples as another reader, fitted to the same training samples, reads them."""
        extras = Extras(self.features, self.self_similarity)
        return Rows(reader, len(self), self.native, extras, objects=self.objects, support=self._support)

    def _similarities(self, columns: np.ndarray) -> Any:
        return self.reader.similarities(self.native.block(slice(0, len(self)), columns))

    def _mean(self, S: Any, columns: np.ndarray) -> Any:
        """Return the mean of S and of the other direction where the two differ and both are known."""
        if not self.reader.asymmetric or self.native is None:
            return S
        back = self.native.back(slice(0, len(self)), columns)
        if back is None:
            return S
        half = S.dtype.type(0.5)
        return S * half + self.reader.similarities(back, transposed=True) * half


class Samples:
    """All samples of a search, read once; folds are cut from them.

    Parameters
    ----------
    reader : Reader or None
        Not fitted; its map, and a similarity that learns, are learned from the training part of each fold. None: X is
        handed out as it is.
    X, y
        The samples and their labels.
    warns : bool, default=True
        Whether a matrix that looks like dissimilarities is pointed out.
    """

    def __init__(self, reader: Reader | None, X: Any, y: Any, *, warns: bool = True):
        self.reader, self.X, self.y = reader, X, y
        self.n = _num_samples(X)
        if reader is None:
            return
        if reader.is_matrix:
            self.values = self._checked(X, warns)
        else:
            self.X = check_objects(X)

    def _checked(self, X: Any, warns: bool) -> Any:
        """Check the whole matrix, so that its folds need not be checked; a DataFrame becomes an array."""
        orientation = "similarity" if warns and self.reader.map_name is None else "dissimilarity"
        options: dict[str, Any] = {"name": "X", "square": not self.reader.is_columns, "orientation": orientation}
        if isinstance(X, Proximities):
            several = X.similarities.items()
            return X.replaced({name: check_similarity(S, **options) for name, S in several}, X.features)
        S = check_similarity(X, **options)
        return S if sparse.issparse(S) else np.asarray(S)

    @cached_property
    def values(self) -> Any:
        """The native values between all samples, computed once; of a similarity that learns, learned from all."""
        return pairwise(self.X, similarity=resolve(self.reader.similarity).learned(self.X, self.y))

    @property
    def learns(self) -> bool:
        """Whether the similarity learns from data, so that each fold has values of its own."""
        return not self.reader.is_matrix and resolve(self.reader.similarity).learns

    def fold(self, train: np.ndarray, test: np.ndarray) -> tuple[Training, Rows]:
        """Return the training samples of a fold, and the rows of its test samples; cut out when looked at."""
        reader = self._fresh()
        reader.search = "matrix"
        if self.learns:
            training = reader.fit(_safe_indexing(self.X, train), _safe_indexing(self.y, train), warns=False)
            training.announced = False
            return training, reader.rows(_safe_indexing(self.X, test))
        columns = np.arange(self.values.shape[1]) if reader.is_columns else train
        training = self._training(reader, train, columns)
        training.announced = False
        # Of a matrix predict gets the rows alone, so that the other direction must not be looked at.
        native = GivenValues(self.values, test, columns, square=not reader.is_matrix)
        objects = None if reader.is_matrix else _safe_indexing(self.X, test)
        return training, Rows(reader, len(test), native, _extras(self.values, test), objects=objects)

    def whole(self) -> Training:
        """Return all samples as training samples."""
        reader = self._fresh()
        if self.learns or check_search(reader.search) is not None:
            return reader.fit(self.X, self.y)
        everything = np.arange(self.n)
        columns = np.arange(self.values.shape[1]) if reader.is_columns else everything
        training = self._training(reader, everything, columns)
        if reader.is_matrix:
            given = as_proximities(self.X)
            reader.column_names, reader.column_ids = _get_feature_names(matrix_of(self.X)), given.column_ids
            reader._note_extras(given.extras)
        return training

    def _fresh(self) -> Reader:
        return copy.copy(self.reader)

    def _training(self, reader: Reader, rows: np.ndarray, columns: np.ndarray) -> Training:
        """Return some of the samples, without a look at their values unless the map learns from them."""
        reader.n_columns = len(columns)
        if not reader.is_matrix:
            reader.measure, reader.objects = resolve(reader.similarity), _safe_indexing(self.X, rows)
        extras = _extras(self.values, rows)
        native = GivenValues(self.values, rows, columns, square=not reader.is_columns)
        if not reader.learns_map or reader.map_name is None:
            return Training(reader, len(rows), lambda: _similarities(self.values, rows, columns), extras, native=native)
        values = _similarities(self.values, rows, columns)
        reader.map = reader.learned_map(values)
        return Training(reader, len(rows), lambda: reader.similarities(values), extras, native=native)

    def precomputed(self) -> Samples:
        """Return the same samples as a precomputed matrix of native values."""
        if self.reader.is_matrix:
            return self
        part = copy.copy(self)
        part.reader, part.X = Reader("precomputed", self.reader.map_name), self.values
        return part

    def part(self, rows: np.ndarray) -> Samples:
        """Return some of the samples."""
        y = _safe_indexing(self.y, rows)
        if self.reader is None or self.learns:
            return Samples(self.reader, _safe_indexing(self.X, rows), y, warns=False)
        columns = np.arange(self.values.shape[1]) if self.reader.is_columns else rows
        part = copy.copy(self)
        part.y, part.n, part.values = y, len(rows), cut(self.values, rows, columns)
        part.X = part.values if self.reader.is_matrix else _safe_indexing(self.X, rows)
        return part

    def native(self, train: np.ndarray, test: np.ndarray, pairwise: bool) -> tuple[Any, Any]:
        """Return training and test part for an estimator that is not similitude's own, or reads X by itself.

        With ``pairwise`` columns are cut as rows are.
        """
        if not pairwise:
            return _safe_indexing(self.X, train), _safe_indexing(self.X, test)
        return cut(self.values, train, train), cut(self.values, test, train)


def _similarities(values: Any, rows: np.ndarray, columns: np.ndarray) -> Any:
    S = values.S if isinstance(values, Proximities) else values
    whole = len(rows) == S.shape[0] and len(columns) == S.shape[1]
    return S if whole and np.array_equal(rows, np.arange(len(rows))) else cut(S, rows, columns)


def _extras(values: Any, rows: np.ndarray) -> Extras:
    """Return what belongs to these samples beside their similarities."""
    return values.extras.take(rows) if isinstance(values, Proximities) else _NONE


def matrix_of(X: Any) -> Any:
    """The matrix in ``Proximities``, or X itself."""
    return X.S if isinstance(X, Proximities) else X


def _check_width(X: Any, width: int, part: np.ndarray | None, estimator: Any) -> None:
    """Check the number and the names of the columns: all of the training samples', or those in ``part`` alone."""
    if part is None:
        validate_data(estimator, X, reset=False, skip_check_array=True)
        return
    expected = estimator.n_features_in_
    if width != len(part):
        restricted = f", or the {len(part)} of support_columns_ alone" if len(part) < expected else ""
        raise ValueError(
            f"X has {width} features, but {type(estimator).__name__} is expecting {expected} features as "
            f"input{restricted}."
        )
    restricted_to = copy.copy(estimator)
    restricted_to.n_features_in_ = len(part)
    if hasattr(estimator, "feature_names_in_"):
        restricted_to.feature_names_in_ = estimator.feature_names_in_[part]
    validate_data(restricted_to, X, reset=False, skip_check_array=True)
