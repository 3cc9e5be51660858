"""Reading the input of an estimator: matrices, or raw objects with a similarity, become similarities.

All input X is read by a :class:`Reader`: ``fit`` returns the :class:`Training` samples, ``rows`` returns new samples
as :class:`Rows`. :class:`Samples` are all samples of a search, which are divided into folds. :class:`SeveralReader` and
its kind do the same for several similarities of the same samples; ``base.py`` has what both kinds share.
"""

from similitude.reader._columns import training_columns
from similitude.reader.base import SearchSamples
from similitude.reader.reader import Reader
from similitude.reader.rows import Rows
from similitude.reader.samples import Samples
from similitude.reader.several import SeveralReader, SeveralRows, SeveralTraining
from similitude.reader.several_samples import SeveralSamples, are_several, samples_of
from similitude.reader.training import Training
from similitude.reader.values import ComputedValues, GivenValues, is_dict, matrix_of

__all__ = [
    "ComputedValues",
    "GivenValues",
    "Reader",
    "Rows",
    "Samples",
    "SearchSamples",
    "SeveralReader",
    "SeveralRows",
    "SeveralSamples",
    "SeveralTraining",
    "Training",
    "are_several",
    "is_dict",
    "matrix_of",
    "samples_of",
    "training_columns",
]
