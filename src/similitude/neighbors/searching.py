"""What the classifiers with ``search=`` share."""

from __future__ import annotations

from typing import Any

from similitude.base import SimilarityClassifier
from similitude.finders import ObjectFinder


class SearchingClassifier(SimilarityClassifier):
    """Base of the classifiers that find neighbours by ``search=``; their path holds the finder."""

    search: Any

    @property
    def search_(self) -> ObjectFinder:
        """The finder, where ``search`` is not "matrix"."""
        path = vars(self).get("_path")
        if path is None or not isinstance(path.finder, ObjectFinder):
            raise AttributeError("evaluations are counted where search is 'stream' or 'graph', once it is fitted.")
        return path.finder

    @property
    def n_evaluations_(self) -> int:
        """Similarities computed by ``fit`` and ``partial_fit``, where ``search`` is not "matrix"."""
        return self.search_.n_evaluations_

    @property
    def n_evaluations_per_query_(self) -> float:
        """Similarities computed for a sample, on average, by the last call that took samples."""
        return self.search_.n_evaluations_per_query_
