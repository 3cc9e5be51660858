"""The types of arguments and attributes that many classes share, for annotations only."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, Protocol, TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse


class Shaped(Protocol):
    """An array, a memmap, a DataFrame, a Series, a sparse matrix, ``Proximities``, or a ``DistanceMatrix``."""

    @property
    def shape(self) -> tuple[int, ...]: ...


class Graph(Protocol):
    """A graph of networkx."""

    def is_directed(self) -> bool: ...

    def is_multigraph(self) -> bool: ...


class Splitter(Protocol):
    """A cross-validation splitter, as those of scikit-learn."""

    def split(self, X: Any, y: Any, groups: Any) -> Iterable[tuple[Any, Any]]: ...


Matrix: TypeAlias = np.ndarray | sparse.csr_matrix | sparse.csr_array
"""A matrix that was checked: dense, or sparse in the format CSR."""

ListLike: TypeAlias = Shaped | Sequence[object]
"""One entry for each sample: groups, ids, objects."""

MatrixLike: TypeAlias = Shaped | Sequence[Sequence[float | np.number] | Shaped]
"""A dense or sparse matrix of numbers, or its rows."""

ProximityLike: TypeAlias = MatrixLike | Mapping[str, MatrixLike] | Graph
"""A matrix of any kind, ``Proximities``, or several matrices by name."""

SamplesLike: TypeAlias = ListLike | Mapping[str, Any] | Graph
"""The X of an estimator: what ``ProximityLike`` is, or raw objects."""

LabelsLike: TypeAlias = ListLike | Mapping[Any, object]
"""The y of an estimator: labels in the order of the samples, or by id."""

RandomState: TypeAlias = int | np.random.RandomState | None
"""The parameter ``random_state``."""

CostsLike: TypeAlias = ArrayLike | Mapping[Any, Mapping[Any, float]] | None
"""The parameter ``costs``: in the order of the classes, or by label."""

PriorsLike: TypeAlias = ArrayLike | Mapping[Any, float] | None
"""The parameter ``priors``: in the order of the classes, or by label."""

ClassWeight: TypeAlias = Mapping[Any, float] | Literal["balanced"] | None
"""The parameter ``class_weight``."""

Folds: TypeAlias = int | Splitter | Iterable[tuple[Any, Any]] | None
"""The parameter ``cv``."""

# Attributes with these annotations are checked in a loaded model file.
ClassPositions: TypeAlias = np.ndarray
"""Positions in the classes of the estimator."""

ColumnPositions: TypeAlias = np.ndarray
"""Positions in the training samples, or prototypes, of the estimator: the columns of X."""

Finite: TypeAlias = Any
"""A dense or sparse matrix of finite numbers."""
