import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV, cross_val_predict
from sklearn.svm import SVC

from similitude import (
    LearnedSpectrumSVC,
    MixtureSVC,
    PathSearchCV,
    Proximities,
    SpectrumModifier,
    load_model,
    save_model,
)
from similitude.kernel import spectrum_solver as solver
from tests.reference.mixture import solve_mixture


def _matrices(n=24, number=3, seed=0, n_classes=2):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % n_classes
    found = {}
    for v in range(number):
        noise = rng.normal(size=(n, n))
        S = 2.0 ** (3 - 4 * v) * ((y[:, None] == y) + (0.6 + 0.5 * v) * (noise + noise.T) / 2)
        found["abc"[v]] = S + 3.0 * v  # of different scales, with different offsets
    return found, y


@pytest.mark.parametrize("target", [*solver.TARGETS, "auto"])
def test_with_one_matrix_it_is_the_learned_spectrum(target):
    (S,), y = _matrices(number=1, n_classes=3)[0].values(), np.arange(24) % 3
    for eta, gamma in ((0.01, 0.1), (0.1, 10.0)):
        ours = MixtureSVC(eta, gamma, target).fit({"a": S}, y)
        other = LearnedSpectrumSVC(eta, gamma, target).fit(S, y)
        np.testing.assert_allclose(ours.decision_function({"a": S}), other.decision_function(S), rtol=1e-9, atol=1e-9)
        assert ours.target_ == other.target_
        for own, theirs in zip(ours.spectrum_weights_, other.spectrum_weights_):
            np.testing.assert_allclose(own["a"], theirs, rtol=1e-9, atol=1e-12)


@pytest.mark.untraced
@pytest.mark.filterwarnings("ignore:Solution may be inaccurate")
@pytest.mark.parametrize(("target", "tied"), [(t, False) for t in solver.TARGETS] + [("clip", True), ("flip", True)])
@pytest.mark.parametrize("gamma", [0.003, 0.02])
def test_several_matrices_solve_the_cone_program(target, tied, gamma):
    similarities, y = _matrices(20, seed=1)
    signs = np.where(y == 1, 1.0, -1.0)
    model = MixtureSVC(0.5, gamma, target, tied=tied).fit(similarities, y)
    assert model.duality_gap_ <= 1e-7
    scaled = [model.factors_[name] * S for name, S in similarities.items()]
    value, weights, decisions = solve_mixture(scaled, signs, 0.5, gamma, target, tied)
    assert abs(model.objective_ - value) <= 1e-5
    np.testing.assert_allclose(model.decision_function(similarities), decisions, atol=5e-3)
    if not tied:
        return
    for own, learned in zip(weights, model.spectrum_weights_.values()):
        np.testing.assert_allclose(learned, own, atol=2e-3)
        assert len(np.unique(np.round(np.abs(learned[learned != 0]), 12))) <= 1


def test_ugly_matrices_are_solved():
    rng = np.random.default_rng(0)
    n = 16
    y = np.arange(n) % 2
    X = rng.normal(size=(n, 2))
    base = X @ X.T
    cases = {"zero": np.zeros((n, n)), "constant": np.full((n, n), 2.0), "negative": -base, "same": base}
    for tied in (False, True):
        for name, S in cases.items():
            model = MixtureSVC(0.1, 0.01, "clip", tied=tied).fit({"base": base, name: S}, y)
            assert model.duality_gap_ <= 1e-6, (name, tied)
            assert np.isfinite(model.decision_function({"base": base, name: S})).all()
    nothing = MixtureSVC(target="clip").fit({"a": np.zeros((n, n)), "b": np.zeros((n, n))}, y)
    assert len(set(nothing.decision_function({"a": np.zeros((3, n)), "b": np.zeros((3, n))}))) == 1


@pytest.mark.parametrize("tied", [False, True])
def test_a_large_gamma_gives_the_machine_on_the_sum(tied):
    similarities, y = _matrices(30, seed=2)
    model = MixtureSVC(0.01, 1e4, "clip", tied=tied).fit(similarities, y)
    K = sum(model.factors_[name] * SpectrumModifier("clip").fit_transform(S) for name, S in similarities.items())
    peer = SVC(C=1 / (2 * 0.01 * 30), kernel="precomputed", tol=1e-10).fit(K, y)
    np.testing.assert_allclose(model.decision_function(similarities), peer.decision_function(K), atol=1e-5)
    assert max(np.abs(np.abs(a[a != 0]) - 1).max() for a in model.spectrum_weights_.values()) < 1e-9


def test_scales_do_not_matter():
    similarities, y = _matrices(seed=3)
    model = MixtureSVC(0.05, 0.02, "flip").fit(similarities, y)
    assert max(model.factors_.values()) > 50 * min(model.factors_.values())
    other = {"a": similarities["a"] * 1e6, "b": similarities["b"], "c": similarities["c"] * 1e-6 + 3}
    again = MixtureSVC(0.05, 0.02, "flip").fit({**other, "c": other["c"] - 3}, y)
    rows = {**other, "c": other["c"] - 3}
    np.testing.assert_allclose(again.decision_function(rows), model.decision_function(similarities), rtol=1e-6)


@pytest.mark.untraced
def test_a_grid_is_searched_as_by_scikit_learn(tmp_path):
    similarities, y = _matrices(36, 2, seed=4, n_classes=3)
    X = Proximities(similarities)
    grid = {"eta": [0.01, 1.0], "gamma": [0.01, 1.0], "target": ["clip", "flip"]}
    ours = PathSearchCV(MixtureSVC(probability=True), grid, cv=3).fit(X, y)
    peer = GridSearchCV(MixtureSVC(probability=True), grid, cv=3).fit(X, y)
    assert ours.best_params_ == peer.best_params_
    np.testing.assert_allclose(ours.cv_results_["mean_test_score"], peer.cv_results_["mean_test_score"])
    assert np.mean(cross_val_predict(ours.best_estimator_, X, y, cv=3) == y) > 0.5
    save_model(tmp_path / "mixture.model", ours.best_estimator_)
    loaded = load_model(tmp_path / "mixture.model")
    np.testing.assert_array_equal(loaded.predict_proba(X), ours.best_estimator_.predict_proba(X))


def test_raw_objects_and_errors():
    words = ["abba", "abab", "baab", "xyzz", "zyxx", "zzxy"]
    y = ["a", "a", "a", "x", "x", "x"]
    model = MixtureSVC(0.1, similarity={"edit": "levenshtein", "lcs": "lcs"}).fit(words, y)
    assert model.predict(["bbaa", "xxyz"]).tolist() == ["a", "x"]
    assert list(model.shares_) == ["edit", "lcs"]
    similarities, y = _matrices()
    with pytest.raises(ValueError, match=r"'clip', 'flip'\] with tied=True; got 'both'"):
        MixtureSVC(target="both", tied=True).fit(similarities, y)
    fitted = MixtureSVC().fit(similarities, y)
    with pytest.raises(ValueError, match=r"same similarities as in fit \('a', 'b', 'c'\); got 'a', 'b'"):
        fitted.predict({name: similarities[name] for name in "ab"})
    with pytest.raises(ValueError, match="X must hold the similarities 'a', 'b', 'c' by name"):
        fitted.predict(similarities["a"])
    with pytest.raises(ValueError, match=r"similarity 'a': .*square"):
        MixtureSVC().fit({"a": np.eye(3)[:, :2], "b": np.eye(3)[:, :2]}, [0, 1, 0])
    with pytest.raises(ValueError, match="dissimilarity names 'd', which is not one of the similarities 'a', 'b', 'c'"):
        MixtureSVC(dissimilarity={"d": "gauss"}).fit(similarities, y)
