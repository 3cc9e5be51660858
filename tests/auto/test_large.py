"""What replaces methods on the whole matrix if there are many samples."""

import sys

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from similitude import AutoClassifier, Proximities, SimilaritySVC, load_model, save_model
from similitude.auto import mixtures
from similitude.auto.methods import MIXTURE_RECORDS, MIXTURES, RECORDS, methods, n_landmarks, record_of, too_large
from similitude.kernel import _machines
from similitude.proximity.check import SimilarityWarning
from similitude.report.code import model_lines

APPROXIMATED = [record for record in RECORDS if record.large is not None]
MANY = 10_000


def problem(n=80, seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 3
    X = rng.normal(size=(n, 4)) + 1.5 * np.eye(3, 4)[y]
    return np.abs(X[:, None] - X[None]).sum(-1), y


D, Y = problem()


@pytest.fixture
def few_are_many(monkeypatch):
    monkeypatch.setattr(sys.modules[methods.__module__], "MOST_DECOMPOSED", 50)


def test_above_a_size_the_names_tell_the_number_of_landmarks():
    assert (n_landmarks(4000), n_landmarks(16_000)) == (640, 1270)
    table = methods(n_samples=MANY)
    assert "SVM (clip), 1000 landmarks" in table
    assert "SVM (clip)" in methods(n_samples=1500)
    assert not [name for name in table if name.partition(",")[0] in too_large(MANY)]
    assert set(methods()) == {*(name.partition(",")[0] for name in table), *too_large(MANY)} - {*MIXTURES}
    assert list(methods(["svm-clip"], n_samples=MANY)) == list(methods(["SVM (clip), 7 landmarks"], n_samples=MANY))
    kinds = "kernel ridge (equal", "SVM (equal", "SVM (aligned"
    assert list(mixtures(n_samples=MANY)) == ["proximity forest", *(f"{k} mixture), 1000 landmarks" for k in kinds)]


def test_an_approximation_has_a_cost_of_its_own():
    exact, landmarks = record_of("SVM (clip)"), record_of("SVM (clip), 1000 landmarks")
    assert landmarks.cost.seconds(MANY, 10) < exact.cost.seconds(MANY, 10) / 5
    assert landmarks.merit == exact.merit


@pytest.mark.filterwarnings("ignore:S has")
@pytest.mark.parametrize("record", APPROXIMATED, ids=lambda record: record.slug)
def test_with_all_samples_as_landmarks_it_is_the_method_itself(record):
    """Four are not: two have other prototypes, one drops small eigenvalues, and one has no shift."""
    contract = {"dissimilarity": "gauss"}
    exact, _ = record.make(contract)
    large, _ = record.large.make(contract, len(Y))
    if record.name.startswith("kernel ridge"):
        exact.set_params(reg=0.5), large.set_params(alpha=0.5)
    found = [np.mean(model.fit(D, Y).predict(D) == Y) for model in (exact, large)]
    same = np.mean(exact.predict(D) == large.predict(D))
    others = ("LSVM (features)", "RQD (features)", "Fisher (embedded)", "SVM (shift)")
    assert same >= (0.85 if record.name in others else 1.0), found


@pytest.mark.filterwarnings("ignore:S has")
def test_the_machine_on_landmarks_has_the_values_of_the_machine_on_the_matrix():
    (large, _) = methods(["SVM (flip)"], n_samples=MANY)["SVM (flip), 1000 landmarks"]
    large.set_params(indefinitenystroem__dissimilarity="gauss", linearkernelsvc__C=2.0)
    exact = SimilaritySVC(2.0, "flip", dissimilarity="gauss").fit(D, Y == 0)
    assert_allclose(large.fit(D, Y == 0).decision_function(D), exact.decision_function(D), atol=1e-6)


def test_above_a_size_the_machine_on_the_matrix_as_it_is_needs_no_decomposition(monkeypatch):
    K, name = np.exp(-D), "SVM (shift), no shift"  # a Laplacian kernel is positive semidefinite
    exact = SimilaritySVC(2.0, "shift").fit(K, Y)
    monkeypatch.setattr(_machines, "MOST_DECOMPOSED", 50)
    monkeypatch.setattr(_machines, "eigh", None)
    large = methods(["SVM (shift)"], n_samples=MANY)[name][0].set_params(C=2.0).fit(K, Y)
    assert_allclose(large.decision_function(K), exact.decision_function(K), rtol=1e-9)
    assert (large.indefinite_, large.eigenvalues_) == (False, None)
    with pytest.warns(SimilarityWarning, match="S has negative eigenvalues; spectrum='none' keeps them"):
        assert SimilaritySVC(2.0, "none").fit(K - 0.9 * np.eye(len(K)), Y).indefinite_
    assert {"SVM (shift)", "SVM (clip)", "RBF SVM (features)"} <= set(too_large(MANY + 1))


@pytest.mark.filterwarnings("ignore:S has")
@pytest.mark.parametrize("record", [r for r in MIXTURE_RECORDS if r.large is not None], ids=lambda record: record.slug)
def test_mixtures_with_all_samples_as_landmarks_are_the_methods_themselves(record):
    contract = {"dissimilarity": "gauss"}
    two = {"one": D, "other": problem(seed=1)[0]}
    (exact, _), (large, _) = record.make(contract), record.large.make(contract, len(Y))
    assert_array_equal(large.fit(two, Y).predict(two), exact.fit(two, Y).predict(two))


@pytest.mark.parametrize("n_features", [None, 3])
def test_the_fused_classifier_on_landmarks_uses_features_if_there_are_some(n_features):
    X = np.random.default_rng(2).normal(size=(len(Y), 3)) + 3 * np.eye(3)[Y]
    large, _ = record_of("SDA and BDA fused").large.make({"dissimilarity": "max-minus"}, 20)
    model = large.fit(Proximities(D, None if n_features is None else X), Y)
    assert model.parts_["bda"][0].n_prototypes_ == (n_features or 20)


def test_the_search_uses_them(few_are_many, tmp_path):
    auto = AutoClassifier(n_repeats=1, diagnose=False, dissimilarity="max-minus").fit(D, Y)
    names = {row.method for row in auto.leaderboard_}
    assert {"SVM (clip), 90 landmarks", "k-NN"} <= names
    assert "robust SVM" in auto.budget_report_.too_large
    assert "robust SVM" not in names
    assert "not used for so many samples: nearest mean (embedded), " in repr(auto.budget_report_)
    assert auto.left_out_ == []
    save_model(tmp_path / "model", auto.best_estimator_)
    assert_array_equal(load_model(tmp_path / "model").predict(D), auto.predict(D))
    if len(auto.best_estimator_.members_) > 1:
        assert "n_samples=80" in "\n".join(model_lines(auto.best_estimator_, None, {"dissimilarity": "max-minus"}))


def test_a_method_without_approximation_can_be_named(few_are_many):
    auto = AutoClassifier(["LP machine"], n_repeats=1, diagnose=False, dissimilarity="max-minus").fit(D, Y)
    assert auto.best_method_ == "LP machine"
    assert auto.budget_report_.too_large == ()
