"""Losses of posteriors: against scikit-learn's metrics."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics import (
    accuracy_score,
    average_precision_score,
    balanced_accuracy_score,
    brier_score_loss,
    f1_score,
    log_loss,
    make_scorer,
    roc_auc_score,
)

from similitude.auto.losses import Loss

RNG = np.random.default_rng(0)
CLASSES = np.array(["a", "b", "c"])
CODES = np.r_[np.zeros(20, dtype=int), np.ones(9, dtype=int), np.full(3, 2)]
POSTERIORS = RNG.dirichlet(np.ones(3), size=(2, 5, 32))
COSTS = np.array([[0.0, 1.0, 5.0], [2.0, 0.0, 1.0], [1.0, 1.0, 0.0]])
WEIGHTS = np.array([0.5, 1.0, 4.0])


def each(function):
    """What a function of posteriors returns for every one of them."""
    return np.array([[function(posteriors) for posteriors in row] for row in POSTERIORS])


def labels(posteriors):
    return CLASSES[posteriors.argmax(axis=1)]


TRUTH = CLASSES[CODES]
KNOWN = {
    "neg_brier_score": lambda p: np.mean(np.sum((p - np.eye(3)[CODES]) ** 2, axis=1)),
    "neg_log_loss": lambda p: log_loss(TRUTH, p, labels=CLASSES),
    "accuracy": lambda p: 1 - accuracy_score(TRUTH, labels(p)),
    "balanced_accuracy": lambda p: 1 - balanced_accuracy_score(TRUTH, labels(p)),
    "roc_auc_ovr": lambda p: -roc_auc_score(TRUTH, p, multi_class="ovr", labels=CLASSES),
    "f1_macro": lambda p: -f1_score(TRUTH, labels(p), average="macro"),
}


@pytest.mark.parametrize("scoring", KNOWN)
def test_they_are_those_of_scikit_learn(scoring):
    loss = Loss(scoring, None, None)
    found = loss.mean(POSTERIORS, CODES, CLASSES)
    assert found.shape == (2, 5)
    assert_allclose(found, each(KNOWN[scoring]), atol=1e-8)
    assert loss.by_sample == (scoring not in ("roc_auc_ovr", "f1_macro"))
    assert loss.is_quadratic == (scoring == "neg_brier_score")
    if loss.by_sample:
        assert_allclose(loss.losses(POSTERIORS, CODES).mean(axis=-1), found)


def test_for_two_classes_the_brier_score_is_twice_that_of_scikit_learn():
    p = RNG.random(20)
    codes = np.arange(20) % 2
    found = Loss(None, None, None).mean(np.stack([1 - p, p], axis=1), codes, CLASSES[:2])
    assert found == pytest.approx(2 * brier_score_loss(codes, p))


def test_a_scorer_gets_labels_and_posteriors():
    scorer = make_scorer(f1_score, average="macro", pos_label=None)
    assert_allclose(Loss(scorer, None, None).mean(POSTERIORS, CODES, CLASSES), each(KNOWN["f1_macro"]))
    own = Loss(lambda estimator, X, y: estimator.predict_proba(X)[0, 0] + (y[0] == "a"), None, None)
    assert_allclose(own.mean(POSTERIORS, CODES, CLASSES), -POSTERIORS[:, :, 0, 0] - 1)


def test_costs():
    loss = Loss(None, COSTS, None)
    decided = np.argmin(POSTERIORS @ COSTS.T, axis=-1)
    assert_array_equal(loss.decisions(POSTERIORS), decided)
    assert np.any(decided != POSTERIORS.argmax(axis=-1))
    assert_allclose(loss.mean(POSTERIORS, CODES, CLASSES), COSTS[decided, CODES].mean(axis=-1), atol=1e-8)
    # With another score the costs still decide which class is predicted.
    accuracy = Loss("accuracy", COSTS, None).mean(POSTERIORS, CODES, CLASSES)
    assert_allclose(accuracy, np.mean(decided != CODES, axis=-1), atol=1e-8)
    by_scorer = Loss(make_scorer(accuracy_score), COSTS, None).mean(POSTERIORS, CODES, CLASSES)
    assert_allclose(by_scorer, accuracy - 1, atol=1e-8)


@pytest.mark.parametrize("scoring", ["neg_brier_score", "neg_log_loss", "accuracy"])
def test_class_weights_weight_the_samples(scoring):
    plain, weighted = (Loss(scoring, None, weights).losses(POSTERIORS, CODES) for weights in (None, WEIGHTS))
    assert_allclose(weighted, plain * WEIGHTS[CODES])


def test_posteriors_of_zero_have_a_finite_log_loss():
    assert np.isfinite(Loss("neg_log_loss", None, None).mean(np.array([[0.0, 1.0]]), np.array([0]), CLASSES[:2]))


@pytest.mark.parametrize("scoring", ["accuracy", "balanced_accuracy"])
def test_of_equally_many_errors_the_better_posteriors_win(scoring):
    good, bad = np.array([[0.9, 0.1], [0.2, 0.8]]), np.array([[0.6, 0.4], [0.4, 0.6]])
    better, worse = Loss(scoring, None, None).mean(np.stack([good, bad]), np.array([0, 1]), CLASSES[:2])
    assert better < worse < 1e-8


@pytest.mark.parametrize("scoring", ["brier", "log_loss", 3, ["accuracy"]])
def test_unknown_scores_are_refused(scoring):
    with pytest.raises(ValueError, match="scoring must be 'neg_brier_score', 'neg_log_loss', 'accuracy'"):
        Loss(scoring, None, None)


@pytest.mark.parametrize(
    ("scorer", "why"),
    [
        (lambda estimator, X, y: estimator.decision_function(X)[0, 0], "decision_function"),
        (lambda estimator, X, y: np.nan, "the score is not a number"),
        (accuracy_score, "failed with"),
    ],
)
def test_scorers_that_need_more_are_refused(scorer, why):
    with pytest.raises(ValueError, match=f"scoring: a scorer must need only the labels and the posteriors.*{why}"):
        Loss(scorer, None, None).mean(POSTERIORS, CODES, CLASSES)


@pytest.mark.parametrize("name", ["roc_auc", "average_precision"])
def test_scores_of_rankings_are_those_of_scikit_learn(name):
    rng = np.random.default_rng(0)
    codes = np.arange(60) % 3 // 2
    second = np.round(rng.random((4, 60)), 1)  # with many ties
    found = Loss(name, None, None).mean(np.stack([1 - second, second], axis=-1), codes, np.array(["no", "yes"]))
    metric = roc_auc_score if name == "roc_auc" else average_precision_score
    np.testing.assert_allclose(found, [-metric(codes, own) for own in second], rtol=1e-12)
    with pytest.raises(ValueError, match="both classes"):
        Loss(name, None, None).mean(np.stack([1 - second, second], axis=-1), np.zeros(60, int), np.arange(2))
