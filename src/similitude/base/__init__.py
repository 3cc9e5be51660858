"""The estimator contract: what every estimator does with its input, its labels and its parameters.

A fitted classifier is a path with one point. A subclass of :class:`PathClassifier` supplies two methods:

* ``_point(parameters)`` returns one checked point of a grid;
* ``_fit_path(training, labels, points)`` returns a :class:`FittedPath` and contains all the mathematics of fitting.

``fit`` computes the path of the one point of the estimator's own parameters and keeps it, and ``predict`` gets the
answers of this path for rows. A search computes the path of many points and gets all answers for the same rows
(:class:`GridFit`).
"""

from similitude.base.path import (
    Deciding,
    FeatureClassifier,
    FeatureVectors,
    FittedPath,
    GridFit,
    PathClassifier,
    Predicting,
    forget_fit,
    path_parameters,
    readers_of_training,
)
from similitude.base.similarity import (
    SimilarityClassifier,
    SimilarityEstimator,
    SimilarityTransformer,
    as_one_row,
    contract_of,
    partly_labelled,
    path_of,
    read_rows,
    reader_of,
    readers_of,
    takes_several,
    takes_training,
    uses_unlabelled,
    warns_of_dissimilarity,
)

__all__ = [
    "Deciding",
    "FeatureClassifier",
    "FeatureVectors",
    "FittedPath",
    "GridFit",
    "PathClassifier",
    "Predicting",
    "SimilarityClassifier",
    "SimilarityEstimator",
    "SimilarityTransformer",
    "as_one_row",
    "contract_of",
    "forget_fit",
    "partly_labelled",
    "path_of",
    "path_parameters",
    "read_rows",
    "reader_of",
    "readers_of",
    "readers_of_training",
    "takes_several",
    "takes_training",
    "uses_unlabelled",
    "warns_of_dissimilarity",
]
