"""scikit-learn's own checks on one estimator of each class."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from similitude import LearnedKernelSVC, SimilaritySVC
from tests.estimators import CLASSIFIERS, FEATURE_CLASSIFIERS, TRANSFORMERS, expected_failures

pytestmark = pytest.mark.untraced

# The checks do not depend on other parameters than ``probability``, which adds methods. LearnedKernelSVC is
# LearnedSpectrumSVC with another solver, which takes seconds on the data of these checks.
ESTIMATORS = [*CLASSIFIERS, *TRANSFORMERS, *FEATURE_CLASSIFIERS]
ONE_OF_EACH = {type(e): e for e in reversed(ESTIMATORS) if not isinstance(e, LearnedKernelSVC)}.values()


@pytest.mark.filterwarnings("ignore::UserWarning")
@parametrize_with_checks([*ONE_OF_EACH, SimilaritySVC(probability=True)], expected_failed_checks=expected_failures)
def test_sklearn_compatible(estimator, check):
    # Each check asserts by itself.
    check(estimator)
