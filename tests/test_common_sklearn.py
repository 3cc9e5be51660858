"""scikit-learn's own checks on every estimator."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from tests.estimators import CLASSIFIERS, FEATURE_CLASSIFIERS, TRANSFORMERS, expected_failures


@pytest.mark.filterwarnings("ignore::UserWarning")
@parametrize_with_checks(CLASSIFIERS + TRANSFORMERS + FEATURE_CLASSIFIERS, expected_failed_checks=expected_failures)
def test_sklearn_compatible(estimator, check):
    # Each check asserts by itself.
    check(estimator)
