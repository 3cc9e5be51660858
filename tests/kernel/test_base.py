import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from similitude import LearnedKernelSVC, LearnedSpectrumSVC, RobustSVC, SimilaritySVC


@pytest.mark.parametrize("method", [SimilaritySVC, RobustSVC, LearnedSpectrumSVC, LearnedKernelSVC])
@pytest.mark.parametrize("weight", [-1.0, 0.0, np.inf, "heavy"])
def test_class_weights_must_be_positive_numbers(method, weight):
    with pytest.raises(ValueError, match="class_weight must hold finite numbers above 0"):
        method(class_weight={0: 1.0, 1: weight}).fit(np.eye(4), [0, 0, 1, 1])


@pytest.mark.parametrize("method", [LearnedKernelSVC(), LearnedSpectrumSVC(target="similarity")], ids=str)
def test_digits_lost_beside_the_penalty_are_reported(method):
    A = np.random.default_rng(0).normal(size=(20, 20))
    S, y = 1e12 * (A + A.T), np.arange(20) % 2
    with pytest.warns(ConvergenceWarning, match="not solved to full accuracy"):
        model = clone(method).fit(S, y)
    assert model.duality_gap_ == 1.0


@pytest.mark.parametrize(
    ("method", "scale", "name"),
    [
        (RobustSVC(), 1e-90, "rho"),
        (RobustSVC(C=1e300, rho=1e-300), 1e100, "C"),
        (LearnedSpectrumSVC(), 1e30, "eta"),
        (LearnedSpectrumSVC(gamma=1e30), 1.0, "gamma"),
        (LearnedKernelSVC(eta=1e-320), 1.0, "eta"),
    ],
    ids=str,
)
def test_sizes_that_cannot_be_computed_with_are_refused(method, scale, name):
    with pytest.raises(ValueError, match=rf"^{name} and X: .* rescale X"):
        clone(method).fit(scale * (1 + np.eye(4)), [0, 0, 1, 1])
