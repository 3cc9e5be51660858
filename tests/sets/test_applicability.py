"""``applicability``: the probability that a label is right, by posterior and typicality."""

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.metrics import roc_auc_score

from similitude import AutoClassifier, load_model, save_model
from similitude.sets import calibration_of, typicality_of
from similitude.sets.applicability import Applicability
from similitude.sets.calibration import Calibration

RNG = np.random.default_rng(0)
Y = np.arange(240) % 3
POINTS = RNG.normal(size=(240, 2)) + 2.5 * np.column_stack([np.cos(2 * Y), np.sin(2 * Y)])
FAR = np.arange(240) % 4 == 0  # these are far from all others, and have any label
POINTS[FAR], Y[FAR] = 12 * RNG.normal(size=(60, 2)), RNG.integers(3, size=60)
S = -np.linalg.norm(POINTS[:, None] - POINTS[None], axis=2)
KNOWN, NEW = np.arange(160), np.arange(160, 240)


@pytest.fixture(scope="module")
def model():
    return AutoClassifier(["k-NN"], n_repeats=1, diagnose=False, random_state=0).fit(S[np.ix_(KNOWN, KNOWN)], Y[KNOWN])


def test_it_is_the_logistic_regression_on_left_out_samples(model, tmp_path):
    fitted = model.best_estimator_
    known = calibration_of(fitted)
    P = np.exp(known.log_posteriors)
    said = P.argmax(axis=1)
    own = np.arange(len(said)), said

    def features(p, t):
        p = np.clip(p, 1e-6, 1 - 1e-6)
        return np.column_stack([np.ones(len(p)), np.log(p / (1 - p)), t])

    F = features(P[own], typicality_of(fitted).of_training()[own])
    signs = np.where(said == known.codes, 1, -1)
    # The penalty is that of scikit-learn, so weak that it only keeps the weights finite.
    loss = lambda w: np.sum(np.log1p(np.exp(-signs * (F @ w)))) + (w[1:] @ w[1:]) / 2e4  # noqa: E731
    weights = minimize(loss, np.zeros(3), tol=1e-12).x
    assert weights[2] > 0  # typical samples are more often right
    rows = S[np.ix_(NEW, KNOWN)]
    Q = model.predict_proba(rows)
    best = np.arange(len(NEW)), Q.argmax(axis=1)
    expected = 1 / (1 + np.exp(-features(Q[best], model.typicality(rows)[best]) @ weights))
    found = model.applicability(rows)
    np.testing.assert_allclose(found, expected, rtol=1e-3)
    save_model(tmp_path / "m.model", model)
    np.testing.assert_array_equal(load_model(tmp_path / "m.model").applicability(rows), found)
    wrong = model.predict(rows) != Y[NEW]
    assert roc_auc_score(wrong, -found) > roc_auc_score(wrong, -Q.max(axis=1))


def test_a_row_without_evidence_has_the_posterior_of_its_label(model):
    rows = np.full((1, len(KNOWN)), -3.0)
    assert model.applicability(rows)[0] == pytest.approx(model.predict_proba(rows).max())


def test_without_errors_it_is_the_posterior():
    codes = np.arange(40) % 2
    posteriors = np.where(codes[:, None] == np.arange(2), 0.9, 0.1)
    known = Calibration(np.array([0, 1]), np.log(posteriors), codes, np.zeros(40, dtype=int), np.ones(40, dtype=bool))
    learned = Applicability.learn(known, codes, None)
    np.testing.assert_allclose(learned(np.array([0.5, 0.8]), None), [0.5, 0.8])
