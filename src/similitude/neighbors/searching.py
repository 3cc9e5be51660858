"""The base of the classifiers with the parameter ``search``."""

from __future__ import annotations

from typing import Any

from similitude.base import SimilarityClassifier
from similitude.finders import ObjectFinder


class SearchingClassifier(SimilarityClassifier):
    """Base of the classifiers with the parameter ``search``; their fitted path holds the finder."""

    search: Any

    @property
    def search_(self) -> ObjectFinder:
        """The finder, if ``search`` is not "matrix"."""
        path = vars(self).get("_path")
        if path is None or not isinstance(path.finder, ObjectFinder):
            raise AttributeError(
                "search_ and the numbers of evaluations exist only after fit, if search is not 'matrix'."
            )
        return path.finder

    @property
    def n_evaluations_(self) -> int:
        """The number of similarities computed by ``fit`` and ``partial_fit``, if ``search`` is not "matrix"."""
        return self.search_.n_evaluations_

    @property
    def n_evaluations_per_query_(self) -> float:
        """The mean number of similarities computed per sample in the last search, if ``search`` is not "matrix"."""
        return self.search_.n_evaluations_per_query_
