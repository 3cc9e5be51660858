"""The methods of a classifier that recognises novel samples."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from similitude._utils.types import SamplesLike
from similitude.sets.familiarity import Familiarity
from similitude.sets.relative_familiarity import RelativeFamiliarity
from similitude.sets.typicality import Typicality


class Novelty:
    """Methods of a fitted classifier that knows the similarities of its training samples.

    The class that uses them sets ``_typicality`` and ``_familiarity`` (None if its input holds no similarities between
    samples), or returns another fitted classifier that has them as ``_set_model``.
    """

    _typicality: Typicality | None
    _familiarity: Familiarity | RelativeFamiliarity | None
    _reader: Any

    @property
    def _set_model(self) -> Any:
        return self

    def _set_rows(self, X: Any) -> Any:
        """Return the rows that are compared with the training samples."""
        return self._reader.rows(X, estimator=self)

    def typicality(self, X: SamplesLike) -> np.ndarray:
        """Return the p-value of the hypothesis that x belongs to class g, for each class, from similarities alone.

        The largest similarity of x to class g is compared with those of the samples of this class to each other. If it
        is small for every class, the sample is unlike anything known, whatever the classifier predicts.

        Parameters
        ----------
        X : samples
            Rows of similarities to all training samples, or raw objects.

        Returns
        -------
        ndarray of shape (m, G)
            The p-values, in the order of ``classes_``; NaN for a sample whose row gives no evidence.
        """
        return self._compared("_typicality", X)

    def familiarity(self, X: SamplesLike) -> np.ndarray:
        """Return the p-value of the hypothesis that x belongs to one of the known classes, from similarities alone.

        It is usually more powerful than the largest :meth:`typicality`: the similarities to the nearest samples are
        compared with those of these samples to their own classes, and so are the correlations between rows of
        similarities. If more than half of the similarities are 0 and none is negative, such as those of hits, and there
        are more than 256 samples, the similarities to the nearest samples are divided by those of these samples to
        their own classes instead, and rows are not compared.

        Parameters
        ----------
        X : samples
            Rows of similarities to all training samples, or raw objects.

        Returns
        -------
        ndarray of shape (m,)
            The p-values, which are small for novel samples; NaN for a sample whose row gives no evidence.
        """
        return self._compared("_familiarity", X)

    def _compared(self, name: str, X: Any) -> Any:
        check_is_fitted(self)
        model = self._set_model
        known = getattr(model, name)
        if known is None:
            raise ValueError(
                f"{name[1:]} needs one similarity between samples; here {type(model.estimator).__name__} was fitted on "
                "feature vectors, similarities to prototypes, or several similarities. Use a classifier of similitude "
                "with similarity=..., or one on a precomputed matrix."
            )
        return known.of_rows(model._set_rows(X))


def typicality_of(model: Any) -> Any:
    """Return the :class:`Typicality` of a fitted classifier; None if it has none."""
    return getattr(model, "_typicality", None)
