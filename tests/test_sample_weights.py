"""Sample weights: whole numbers are repeated samples, and AutoClassifier counts weights in all that it compares."""

import warnings

import numpy as np
import pytest
import sklearn
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.metrics import average_precision_score, balanced_accuracy_score, brier_score_loss, log_loss, roc_auc_score
from sklearn.model_selection import GroupKFold, StratifiedKFold, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.utils.validation import has_fit_parameter

from similitude import (
    SDA,
    AutoClassifier,
    CombinedClassifier,
    KernelRidgeClassifier,
    KNNClassifier,
    LearnedKernelSVC,
    LearnedSpectrumSVC,
    MixtureSVC,
    NearestCentroid,
    PairwiseMeta,
    PathSearchCV,
    RobustSVC,
    SimilarityFeatures,
    SimilaritySVC,
)
from similitude.auto.losses import Loss
from similitude.features import LinearKernelSVC
from similitude.numerics.significance import standard_error, weighted_mean
from similitude.numerics.temperature import fit_temperature
from similitude.proximity import SimilarityWarning
from tests.estimators import CLASSIFIERS, FEATURE_CLASSIFIERS, TRANSFORMERS

rng = np.random.default_rng(0)
N = 48
Y = np.arange(N) % 3
X = rng.normal(size=(N, 3)) + 1.2 * Y[:, None]
S = np.exp(-0.5 * ((X[:, None] - X[None]) ** 2).sum(axis=2))
NEW = np.exp(-0.5 * ((rng.normal(size=(20, 3))[:, None] + 1 - X[None]) ** 2).sum(axis=2))
COUNTS = rng.integers(0, 4, size=N)
COUNTS[:3] = 1
REPEATED = np.repeat(np.arange(N), COUNTS)
WEIGHTS = rng.uniform(0.2, 3.0, size=N)


def scores(model, rows):
    response = next(
        name for name in ("predict_joint_log_proba", "decision_function", "predict") if hasattr(model, name)
    )
    return getattr(model, response)(rows)


EXACT = [
    SimilaritySVC(C=2.0),
    KernelRidgeClassifier(0.3),
    KernelRidgeClassifier(0.3, "shift"),
    NearestCentroid(),
    SDA(),
    SDA(omega="continuous"),
    make_pipeline(SimilarityFeatures(), LinearKernelSVC()),
]


@pytest.mark.parametrize("model", EXACT, ids=str)
def test_whole_numbers_are_repeated_samples(model):
    """Of a similarity that is positive definite; the spectrum of an indefinite one changes if samples are repeated."""
    if hasattr(model, "steps"):  # features are similarities to all samples, also to those of weight 0
        weighted = clone(model).fit(S, Y, linearkernelsvc__sample_weight=COUNTS)
        again = clone(model[-1]).fit(model[0].fit_transform(S)[REPEATED], Y[REPEATED])
        assert_allclose(weighted.decision_function(NEW), again.decision_function(weighted[0].transform(NEW)), atol=1e-3)
        return
    weighted = clone(model).fit(S, Y, sample_weight=COUNTS)
    again = clone(model).fit(S[np.ix_(REPEATED, REPEATED)], Y[REPEATED])
    tolerance = 1e-3 if isinstance(model, SimilaritySVC) else 1e-7
    assert_allclose(scores(weighted, NEW), scores(again, NEW[:, REPEATED]), atol=tolerance, rtol=tolerance)
    assert_array_equal(weighted.predict(NEW), again.predict(NEW[:, REPEATED]))


def test_the_left_out_error_of_kernel_ridge_counts_weights():
    two = np.minimum(Y, 1)
    K = S - 0.3  # with negative eigenvalues
    values, vectors = np.linalg.eigh(K)
    K = (vectors * np.abs(values)) @ vectors.T
    wrong = []
    for i in range(N):
        rest = np.delete(np.arange(N), i)
        n = len(rest)
        border = np.ones((n, 1))
        system = np.block(
            [[K[np.ix_(rest, rest)] + np.diag(0.2 / WEIGHTS[rest]), border], [border.T, np.zeros((1, 1))]]
        )
        solution = np.linalg.solve(system, np.append(2.0 * two[rest] - 1, 0.0))
        wrong.append((K[i, rest] @ solution[:n] + solution[n] > 0) != two[i])
    model = KernelRidgeClassifier(0.2, "flip").fit(S - 0.3, two, sample_weight=WEIGHTS)
    assert 0 < np.mean(wrong) < 0.5
    assert model.loo_error_ == pytest.approx(np.average(wrong, weights=WEIGHTS))


@pytest.mark.parametrize(
    "model", [RobustSVC(C=2.0), LearnedSpectrumSVC(0.1), LearnedKernelSVC(), MixtureSVC(0.1)], ids=str
)
def test_learned_kernels_weigh_losses_as_class_weights_do(model):
    """Equal weights within classes are class weights; samples of weight 0 are absent."""
    own = np.flatnonzero(Y < 2)[:20]

    def given(matrix, rows, columns):
        part = matrix[np.ix_(rows, columns)]
        return {"S": part} if isinstance(model, MixtureSVC) else part

    new = np.arange(len(NEW))
    training, rows, y = given(S, own, own), given(NEW, new, own), Y[own]
    by_class = clone(model).set_params(class_weight={0: 2.0, 1: 0.5}).fit(training, y)
    weighted = clone(model).fit(training, y, sample_weight=np.array([2.0, 0.5])[y])
    assert_allclose(weighted.decision_function(rows), by_class.decision_function(rows), atol=1e-9)
    if isinstance(model, RobustSVC):  # the scale of the others is that of all samples
        weighted = clone(model).fit(training, y, sample_weight=(np.arange(20) >= 6).astype(float))
        alone = clone(model).fit(given(S, own[6:], own[6:]), y[6:])
        assert_allclose(weighted.decision_function(rows), alone.decision_function(given(NEW, new, own[6:])), atol=1e-6)


# Messages


@pytest.mark.parametrize("model", [*CLASSIFIERS, *FEATURE_CLASSIFIERS, *TRANSFORMERS], ids=lambda m: type(m).__name__)
def test_methods_without_weights_say_so_under_their_own_name(model):
    if not has_fit_parameter(model, "sample_weight") and not isinstance(model, (PathSearchCV, PairwiseMeta)):
        with pytest.raises(TypeError, match=rf"^{type(model).__name__}\.fit\(\) got an unexpected keyword argument"):
            model.fit(S, Y, sample_weight=WEIGHTS)


# What AutoClassifier computes


@pytest.mark.parametrize(
    "scoring", [None, "neg_log_loss", "accuracy", "balanced_accuracy", "roc_auc", "average_precision"]
)
def test_losses_are_those_of_scikit_learn_with_weights(scoring):
    two = np.minimum(Y, 1)
    P = rng.dirichlet([1, 1], size=N)
    peers = {
        None: 2 * brier_score_loss(two, P[:, 1], sample_weight=WEIGHTS),
        "neg_log_loss": log_loss(two, P, sample_weight=WEIGHTS),
        "accuracy": np.average(np.argmax(P, axis=1) != two, weights=WEIGHTS),
        "balanced_accuracy": 1 - balanced_accuracy_score(two, np.argmax(P, axis=1), sample_weight=WEIGHTS),
        "roc_auc": -roc_auc_score(two, P[:, 1], sample_weight=WEIGHTS),
        "average_precision": -average_precision_score(two, P[:, 1], sample_weight=WEIGHTS),
    }
    loss = Loss(scoring, None, None)
    relative = WEIGHTS / WEIGHTS.mean()
    assert float(loss.mean(P, two, np.array([0, 1]), relative)) == pytest.approx(peers[scoring], abs=1e-8)
    other = Loss("f1", None, None).mean(P, two, np.array([0, 1]), relative)
    expected = sklearn.metrics.f1_score(two, np.argmax(P, axis=1), sample_weight=WEIGHTS)
    assert float(other) == pytest.approx(-expected)


def test_temperatures_of_weights_are_those_of_repeated_samples():
    values = rng.normal(size=(N, 3)) + 2 * np.eye(3)[Y]
    posteriors = np.exp(values) / np.exp(values).sum(axis=1, keepdims=True)
    weighted = fit_temperature(posteriors, "predict_proba", Y, COUNTS.astype(float))
    again = fit_temperature(posteriors[REPEATED], "predict_proba", Y[REPEATED])
    assert weighted.factor == pytest.approx(again.factor, rel=1e-2)  # the floors depend on the number of samples


def test_weighted_means():
    values = rng.integers(0, 2, size=30).astype(float)
    assert weighted_mean(values, np.full(30, 2.5)) == pytest.approx((values.mean(), standard_error(values)))
    assert weighted_mean(values, COUNTS[:30])[0] == pytest.approx(np.repeat(values, COUNTS[:30]).mean())


AUTO = AutoClassifier(["k-NN", "SVM (clip)", "kernel ridge (clip)"], cv=3, n_repeats=1, diagnose=False)


def test_the_leaderboard_counts_weights_and_a_warning_names_methods_without_them():
    with pytest.warns(SimilarityWarning, match=r"cannot use weights, and are fitted without them: k-NN\. ") as found:
        auto = clone(AUTO).fit(S, Y, sample_weight=WEIGHTS)
    assert len(found) == 1
    out = auto.out_of_fold_
    row = next(row for row in auto.leaderboard_ if row.chosen)
    assert row.error == pytest.approx(np.average(out.labels != Y[out.samples], weights=WEIGHTS[out.samples]))
    svm = next(own.estimator for own in auto.best_estimator_.members_ if own.name != "k-NN")
    again = clone(svm).fit(S, Y, sample_weight=WEIGHTS / WEIGHTS.mean())
    assert_allclose(svm.decision_function(NEW), again.decision_function(NEW))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        scaled = clone(AUTO).fit(S, Y, sample_weight=10 * WEIGHTS)
    assert_allclose(scaled.predict_proba(NEW), auto.predict_proba(NEW), atol=1e-6)
    with pytest.raises(ValueError, match="expected"):
        clone(AUTO).fit(S, Y, sample_weight=WEIGHTS[:5])


def test_weights_change_the_choice():
    """A class whose samples weigh nearly nothing is hardly ever predicted."""
    rare = np.where(Y == 2, 1e-3, 1.0)
    model = AutoClassifier(["SVM (clip)", "kernel ridge (clip)"], cv=3, n_repeats=1, diagnose=False)
    with warnings.catch_warnings():
        warnings.simplefilter("error", SimilarityWarning)
        weighted, plain = clone(model).fit(S, Y, sample_weight=rare), clone(model).fit(S, Y)
    assert weighted.predict_proba(NEW)[:, 2].max() < 0.05 < plain.predict_proba(NEW)[:, 2].mean()


def test_a_combination_uses_weights():
    members = [("svm", SimilaritySVC()), ("ridge", KernelRidgeClassifier())]
    model = CombinedClassifier(members).fit(S, Y, sample_weight=WEIGHTS)
    svm = SimilaritySVC().fit(S, Y, sample_weight=WEIGHTS / WEIGHTS.mean())
    assert_allclose(model.members_[0].estimator.decision_function(NEW), svm.decision_function(NEW))
    equal, plain = CombinedClassifier(members).fit(S, Y, np.full(N, 7.0)), CombinedClassifier(members).fit(S, Y)
    assert_allclose(equal.predict_proba(NEW), plain.predict_proba(NEW), atol=1e-6)
    with pytest.warns(SimilarityWarning, match=r"without them: knn\. "):
        CombinedClassifier([("knn", KNNClassifier()), *members]).fit(S, Y, sample_weight=WEIGHTS)


def test_metadata_routing():
    model = AutoClassifier(["SVM (clip)", "DBoost"], cv=2, n_repeats=1, diagnose=False)
    groups = np.arange(N) // 3
    with sklearn.config_context(enable_metadata_routing=True):
        requested = clone(model).set_fit_request(sample_weight=True).set_score_request(sample_weight=True)
        folds = StratifiedKFold(2)
        found = cross_validate(requested, S, Y, params={"sample_weight": WEIGHTS}, cv=folds, return_estimator=True)
        split = clone(requested).set_params(cv=GroupKFold(2))
        params = {"sample_weight": WEIGHTS, "groups": groups}
        assert (cross_validate(split, S, Y, params=params, cv=GroupKFold(2))["test_score"] > 0.3).all()
    for (train, test), fitted, score in zip(folds.split(S, Y), found["estimator"], found["test_score"]):
        alone = clone(model).fit(S[np.ix_(train, train)], Y[train], sample_weight=WEIGHTS[train])
        assert_allclose(fitted.predict_proba(S[np.ix_(test, train)]), alone.predict_proba(S[np.ix_(test, train)]))
        assert score == alone.score(S[np.ix_(test, train)], Y[test], WEIGHTS[test])
