"""Chen, Gupta & Recht 2009, Section 4.3: new rows must be treated as the training rows were."""

import numpy as np
import pytest
from benchmarks.bench_voting_kernels import UNTREATED, treated_and_untreated
from reproductions.rows import learned_decisions, predict_untreated
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC

from similitude import LearnedSpectrumSVC, RobustSVC, SimilaritySVC, SpectrumModifier, train_test_split
from similitude.datasets import make_negative_direction

pytestmark = pytest.mark.filterwarnings("ignore::similitude.SimilarityWarning")


def _partition(seed, both=False):
    """One partition; with ``both``, of the two classes alone that the negative direction would tell apart."""
    data = make_negative_direction(random_state=seed)
    chosen = np.flatnonzero(np.isin(data.y, data.classes)) if both else np.arange(len(data.y))
    return train_test_split(data.S[np.ix_(chosen, chosen)], data.y[chosen], random_state=seed)


@pytest.mark.parametrize(
    ("name", "treated_at_most"),
    [("learned spectrum", 2), ("SVM, clip", 7), ("SVM, flip", 1), ("robust SVM, rho 1e6", 20)],
)
@pytest.mark.untraced
def test_untreated_rows_lose_tens_of_points(name, treated_at_most):
    model, _ = UNTREATED[name]
    treated, untreated = np.mean([treated_and_untreated(model, seed) for seed in range(3)], axis=0)
    assert treated <= treated_at_most
    assert untreated - treated >= 20


@pytest.mark.parametrize("spectrum", ["clip", "flip"])
def test_the_untreated_machine_is_the_treated_one_but_for_its_rows(spectrum):
    S_train, S_test, y_train, _ = _partition(0)
    model = SimilaritySVC(10.0, spectrum).fit(S_train, y_train)
    machine = make_pipeline(SpectrumModifier(spectrum), SVC(C=10.0, kernel="precomputed")).fit(S_train, y_train)
    np.testing.assert_array_equal(model.predict(S_test), machine.predict(S_test))
    machine[0].set_params(test_rows="untreated")
    np.testing.assert_array_equal(
        predict_untreated(model, S_train, y_train, S_test),
        machine.fit(S_train, y_train).predict(S_test),
    )


@pytest.mark.parametrize("target", ["clip", "flip", "both"])
def test_the_machine_on_the_learned_kernel_decides_treated_rows_like_the_model(target):
    S_train, S_test, y_train, _ = _partition(1, both=True)
    model = LearnedSpectrumSVC(0.001, 0.01, target).fit(S_train, y_train)
    everyone = [np.arange(len(y_train))]
    [treated] = learned_decisions(model, S_train, y_train, S_test, everyone, treated=True)
    np.testing.assert_allclose(model.decision_function(S_test), treated, atol=1e-3)
    [untreated] = learned_decisions(model, S_train, y_train, S_test, everyone)
    assert np.max(np.abs(untreated - treated)) > 0.5
    said = model.classes_[(untreated >= 0).astype(int)]
    np.testing.assert_array_equal(predict_untreated(model, S_train, y_train, S_test), said)


@pytest.mark.parametrize("rho", [1.0, 1e3, 1e6])
def test_the_robust_machine_projects_rows_on_the_range_of_its_kernel(rho):
    """On these data self-similarities do not bind in eq. 8: all it does is to leave out what K does not span."""
    S_train, S_test, y_train, _ = _partition(1, both=True)
    model = RobustSVC(10.0, rho).fit(S_train, y_train)
    v = model.dual_coef_
    values, vectors = np.linalg.eigh(S_train + np.outer(v, v) / (4 * rho))
    span = vectors[:, values > 1e-10 * values[-1]]
    decisions = S_test @ span @ (span.T @ v) + model.intercept_
    said = model.classes_[(decisions >= 0).astype(int)]
    np.testing.assert_array_equal(model.predict(S_test), said)


def test_what_the_robust_machine_leaves_out():
    """With a large rho it is S's negative direction, as clip does; with a small one another, and rows keep theirs."""
    S_train, S_test, y_train, _ = _partition(1, both=True)
    negative = np.linalg.eigh(S_train)[1][:, 0]
    kept = {}
    for rho in (1.0, 1e6):
        v = RobustSVC(10.0, rho).fit(S_train, y_train).dual_coef_
        values, vectors = np.linalg.eigh(S_train + np.outer(v, v) / (4 * rho))
        kept[rho] = np.linalg.norm(vectors[:, values > 1e-10 * values[-1]].T @ negative) ** 2
    assert kept[1.0] > 0.5
    assert kept[1e6] < 0.01
    clip = SimilaritySVC(10.0, "clip").fit(S_train, y_train)
    robust = RobustSVC(10.0, 1e6).fit(S_train, y_train)
    np.testing.assert_array_equal(robust.predict(S_test), clip.predict(S_test))
