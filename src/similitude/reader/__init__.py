"""Reading the input of an estimator: matrices, or raw objects with a similarity, become similarities.

All input X is read by a :class:`Reader`: ``fit`` returns the :class:`Training` samples, ``rows`` returns new samples
as :class:`Rows`. :class:`Samples` are all samples of a search, which are divided into folds.
"""

from similitude.reader.reader import Reader
from similitude.reader.samples import Samples
from similitude.reader.training import Rows, Training
from similitude.reader.values import ComputedValues, GivenValues, matrix_of

__all__ = ["ComputedValues", "GivenValues", "Reader", "Rows", "Samples", "Training", "matrix_of"]
