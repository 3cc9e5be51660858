"""The answers of classifiers with a column for each class."""

import numpy as np
from numpy.testing import assert_allclose

from similitude import CombinedClassifier, SimilaritySVC
from similitude.evaluation.answers import answer_columns


def test_decision_values_of_as_many_samples_as_classes():
    """Two decision values of two samples are not the decision values of two classes of one sample."""
    classes = np.array([0, 1])
    columns = answer_columns("decision_function", np.array([2.0, -4.0]), lambda: None, classes, classes)
    assert_allclose(columns, [[-1, 1], [2, -2]])


def test_a_combination_predicts_two_samples_as_it_predicts_many():
    rng = np.random.default_rng(0)
    y = np.arange(24) % 2
    X = rng.normal(size=(24, 2)) + y[:, None]
    S = np.exp(-((X[:, None] - X[None]) ** 2).sum(-1))
    model = CombinedClassifier([("SVM", SimilaritySVC())]).fit(S, y)
    assert_allclose(model.predict_proba(S[:2]), model.predict_proba(S)[:2])
