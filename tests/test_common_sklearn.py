"""scikit-learn's own checks on one estimator of each class."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from tests.estimators import CLASSIFIERS, FEATURE_CLASSIFIERS, TRANSFORMERS, expected_failures

pytestmark = pytest.mark.untraced

ESTIMATORS = [*CLASSIFIERS, *TRANSFORMERS, *FEATURE_CLASSIFIERS]
# What scikit-learn checks does not depend on parameters: one of each class.
ONE_OF_EACH = list({type(estimator): estimator for estimator in reversed(ESTIMATORS)}.values())


@pytest.mark.filterwarnings("ignore::UserWarning")
@parametrize_with_checks(ONE_OF_EACH, expected_failed_checks=expected_failures)
def test_sklearn_compatible(estimator, check):
    # Each check asserts by itself.
    check(estimator)
