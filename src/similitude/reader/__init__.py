"""Reading the input of an estimator: matrices, or raw objects and a similarity, made similarities.

Everything that takes X goes through :class:`Reader`: ``fit`` gives the :class:`Training` samples, ``rows`` new samples
as :class:`Rows`. :class:`Samples` are all samples of a search, from which folds are cut.
"""

from similitude.reader.reader import Reader
from similitude.reader.samples import Samples
from similitude.reader.training import Rows, Training
from similitude.reader.values import ComputedValues, GivenValues, matrix_of

__all__ = ["ComputedValues", "GivenValues", "Reader", "Rows", "Samples", "Training", "matrix_of"]
