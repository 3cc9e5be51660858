import numpy as np
import pytest
from sklearn.base import clone

from similitude import LearnedSpectrumSVC, RobustSVC


@pytest.mark.parametrize("method", [RobustSVC(), LearnedSpectrumSVC(target="clip")], ids=lambda m: type(m).__name__)
def test_probabilities_belong_to_the_fit_that_made_them(method):
    rng = np.random.default_rng(0)
    y = np.arange(36) % 3
    X = rng.normal(size=(36, 3)) + 3 * np.eye(3)[y]
    S = X @ X.T
    plain = clone(method).fit(S, y)
    assert not hasattr(plain.set_params(probability=True), "predict_proba")
    calibrated = plain.fit(S, y)
    posterior = calibrated.predict_proba(S)
    assert np.allclose(posterior.sum(axis=1), 1)
    assert np.mean(posterior.argmax(axis=1) == y) > 0.8
    with pytest.raises(ValueError, match="probability=True needs at least two samples of each class"):
        calibrated.fit(S[:4, :4], [0, 0, 0, 1])
