"""Neighbourhoods of local SDA among raw objects, without the matrix of their similarities."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import _safe_indexing

from similitude.finders.stream import Ends, StreamSearch, Target
from similitude.generative.local_models import Neighborhoods
from similitude.generative.max_entropy import MaximumEntropy, check_omega, distinct
from similitude.neighbors._search import Training
from similitude.similarities import pairwise

_MOST_VALUES = 2**20


def searched_family(estimator: Any, averaged: bool) -> MaximumEntropy:
    """The maximum-entropy distributions on the Omega that a LocalSDA fitted on raw objects names."""
    omega, training, search = estimator.omega, estimator._training, estimator.search_
    exact = isinstance(search, StreamSearch)
    if averaged and not exact:
        raise ValueError(
            f"alpha must be 0 with search={estimator.search!r}: above 0 the neighbourhoods of all training samples are "
            "modelled, exactly; use search='stream'."
        )
    if omega is not None and not isinstance(omega, str):
        return MaximumEntropy(check_omega(omega))
    if not exact:
        raise ValueError(
            f"omega must be given as an array with search={estimator.search!r}: None and 'continuous' take it from "
            "all training similarities, which are not computed."
        )
    if omega is None:
        found = _Distinct(training)
        search.over_pairs(training.objects, training.measure, found)
        return MaximumEntropy(found.values)
    if omega != "continuous":
        raise ValueError(f"omega must be None, 'continuous' or an array of similarities; got {omega!r}.")
    ends = Ends()
    search.over_pairs(training.objects, training.measure, ends)
    interval = np.sort(training.mapped(np.array([[ends.low, ends.high]]))[0])
    return MaximumEntropy(interval, continuous=True)


class _Distinct(Target):
    """The distinct similarities in the blocks so far."""

    def __init__(self, training: Training):
        self.training, self.values = training, np.empty(0)

    def write(self, block: Any, values: np.ndarray) -> None:
        self.values = distinct(np.append(self.values, distinct(self.training.mapped(values))))
        if len(self.values) > _MOST_VALUES:
            raise ValueError(
                f"omega=None takes the distinct training similarities, and there are more than {_MOST_VALUES}; give "
                "omega, or use search='matrix'."
            )


class _Rows:
    """The training similarities as :func:`~similitude.numerics.topk.top_k` reads them: a few rows at a time."""

    dtype = np.dtype(np.float64)

    def __init__(self, training: Training, search: Any):
        self.training, self.search = training, search
        self.shape = len(training), len(training)

    def __getitem__(self, rows: slice) -> np.ndarray:
        some = _safe_indexing(self.training.objects, rows)
        block = pairwise(some, self.training.objects, similarity=self.training.measure)
        return self.training.mapped(block)


class SearchedNeighborhoods(Neighborhoods):
    """Neighbourhoods that compute the similarities they look at."""

    def __init__(self, training: Training, search: Any, known: Neighborhoods):
        super().__init__(_Rows(training, search), known.labels, known.n_classes, known.family)
        self.training, self.search = training, search

    def average_pmfs(self, sizes: np.ndarray) -> list:
        """As in the base class, from rows that are computed and forgotten; they count as evaluations of fit."""
        before = list(self.search._local)
        averages = super().average_pmfs(sizes)
        n = len(self.labels)
        self.search.n_evaluations_ += (n * n if n > 1 else 0) + sum(self.search._local) - sum(before)
        self.search._local = before
        return averages

    def _among(self, indices: np.ndarray) -> np.ndarray:
        matrix, count = self.training.among(indices)
        self.search.add_local(count)
        below, above = self.family.distances([matrix.data.min(), matrix.data.max()])
        if min(below[0], above[1]) < -self.family.tolerance:
            raise ValueError(
                f"omega must reach over the training similarities; some run from {matrix.data.min():g} to "
                f"{matrix.data.max():g}, and omega from {self.family.omega.min():g} to {self.family.omega.max():g}."
            )
        return Neighborhoods(matrix, self.labels, self.n_classes, self.family)._among(indices)
