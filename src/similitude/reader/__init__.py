"""Reading the input of an estimator: matrices, or raw objects with a similarity, become similarities.

:class:`Samples` read and check X once, as a :class:`Contract` says, in one similarity or in several by name. ``whole``
and ``fold`` take :class:`Training` samples from them, and :class:`Rows`, by name. A :class:`Reader`, which is complete
when it is made, reads new rows.
"""

from similitude.reader.reader import (
    LANDMARKS,
    NEIGHBORS,
    Contract,
    Reader,
    are_several,
    is_dict,
    matrix_of,
    rows_of,
    training_columns,
)
from similitude.reader.samples import Samples
from similitude.reader.training import ByName, Rows, Training, named_errors
from similitude.reader.values import ComputedValues, GivenValues

__all__ = [
    "LANDMARKS",
    "NEIGHBORS",
    "ByName",
    "ComputedValues",
    "Contract",
    "GivenValues",
    "Reader",
    "Rows",
    "Samples",
    "Training",
    "are_several",
    "is_dict",
    "matrix_of",
    "named_errors",
    "rows_of",
    "training_columns",
]
