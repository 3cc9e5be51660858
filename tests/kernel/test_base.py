import numpy as np
import pytest
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV, StratifiedKFold

from similitude import (
    LearnedKernelSVC,
    LearnedSpectrumSVC,
    PairwiseMeta,
    PathSearchCV,
    Proximities,
    RobustSVC,
    SimilaritySVC,
)


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


@pytest.mark.parametrize(
    ("method", "grid"),
    [
        (RobustSVC(probability=True), {"C": [0.1, 10.0], "rho": [0.1, 10.0]}),
        (LearnedSpectrumSVC(target="flip", probability=True), {"eta": [0.01, 1.0], "gamma": [0.1, 10.0]}),
    ],
    ids=lambda v: type(v).__name__,
)
def test_probabilities_of_a_path_are_those_of_plain_fits(method, grid):
    rng = np.random.default_rng(1)
    y = np.arange(40) % 3
    X = rng.normal(size=(40, 3)) + 2 * np.eye(3)[y]
    S = Proximities(X @ np.diag([1.0, 1.0, -0.3]) @ X.T, self_similarity=np.sum(X**2, axis=1))
    searches = [
        search(method, grid, cv=StratifiedKFold(3), scoring="neg_log_loss").fit(S, y)
        for search in (PathSearchCV, GridSearchCV)
    ]
    path, plain = (search.cv_results_["mean_test_score"] for search in searches)
    assert np.allclose(path, plain, rtol=1e-7)
    assert len(set(np.round(plain, 6))) > 1


def test_probabilities_are_those_of_a_calibrated_classifier():
    rng = np.random.default_rng(2)
    y = np.arange(40) % 2
    X = rng.normal(size=(40, 3)) + 1.5 * np.eye(3)[y]
    S = X @ np.diag([1.0, 1.0, -0.3]) @ X.T
    meta = PairwiseMeta(CalibratedClassifierCV(RobustSVC(), cv=StratifiedKFold(5), ensemble=False)).fit(S, y)
    ours = RobustSVC(probability=True).fit(S, y)
    assert np.allclose(ours.predict_proba(S), meta.predict_proba(S), atol=1e-8)


@pytest.mark.parametrize("method", [SimilaritySVC, RobustSVC, LearnedSpectrumSVC, LearnedKernelSVC])
@pytest.mark.parametrize("weight", [-1.0, 0.0, np.inf, "heavy"])
def test_class_weights_must_be_positive_numbers(method, weight):
    with pytest.raises(ValueError, match="class_weight must hold finite numbers above 0"):
        method(class_weight={0: 1.0, 1: weight}).fit(np.eye(4), [0, 0, 1, 1])


@pytest.mark.parametrize("method", [LearnedKernelSVC(), LearnedSpectrumSVC(target="similarity")], ids=str)
def test_digits_lost_beside_the_penalty_are_told(method):
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
