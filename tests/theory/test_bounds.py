import math
import warnings

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier

from similitude import KNNClassifier, SimilaritySVC, SpectrumModifier
from similitude.theory.bounds import error_bound, generalization_bound, generalization_bound_of, pairs_needed
from similitude.theory.goodness import goodness


def _problem(n=60, seed=0, shift=1.5):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    X = rng.normal(size=(n, 3)) + shift * y[:, None]
    return np.exp(-np.abs(X[:, None] - X[None]).sum(-1) / 3) - 0.1, y


class TestPairs:
    def test_theorem_2(self):
        assert pairs_needed(1.0, 0.05) == math.ceil(4 * math.log(20)) == 12
        assert pairs_needed(0.1, 0.01) == math.ceil(400 * math.log(100)) == 1843

    def test_theorem_4(self):
        assert pairs_needed(1.0, 0.05, B=1) == math.ceil(16 * math.log(20)) == 48
        assert pairs_needed(0.5, 0.1, B=16.0) == math.ceil(16 * 256 / 0.25 * math.log(10)) == 37726

    def test_theorem_8_and_its_proviso(self):
        most = 0.5**2 * 0.1 / (64 * 2**2 * math.log(20))
        assert pairs_needed(0.5, 0.1, B=2, eta=most * 0.999) == math.ceil(16 * 4 / 0.25 * math.log(20)) == 767
        assert pairs_needed(0.5, 0.1, B=2, eta=0) == 767
        with pytest.raises(ValueError, match=f"eta must be at most .* = {most:.3g} for Theorem 8"):
            pairs_needed(0.5, 0.1, B=2, eta=most * 1.001)

    @pytest.mark.parametrize("options", [{}, {"B": 3.0}, {"B": 3.0, "eta": 0.0}])
    def test_the_error_of_so_many_pairs_is_the_one_asked_for(self, options):
        for gamma, delta in ((1.0, 0.5), (0.3, 0.05), (0.01, 1e-6)):
            n = pairs_needed(gamma, delta, **options)
            promise = error_bound(0.25, gamma, n, **options)
            assert promise.error == pytest.approx(0.25 + delta, rel=0.3)
            assert promise.error <= 0.25 + delta + 1e-12
            assert promise.confidence >= 1 - delta - 1e-12
            if n > 1:
                assert error_bound(0.25, gamma, n - 1, **options).error > 0.25 + delta - 1e-12
            assert promise.margin == (gamma / 6 if options else 0)

    def test_bad_examples_spoil_the_promise(self):
        clean = error_bound(0.0, 0.5, 5000, B=2, eta=0.0)
        assert error_bound(0.0, 0.5, 5000, B=2, eta=1e-12).error == pytest.approx(max(clean.error, 4 * 5000 * 1e-12))
        assert error_bound(0.0, 0.5, 5000, B=2, eta=1e-6).error == pytest.approx(0.02)
        most = 0.5**2 * 0.1 / (64 * 4 * math.log(20))
        n = 16 * 4 / 0.25 * math.log(20)
        assert 4 * n * most == pytest.approx(0.1)  # the proviso of Theorem 8 is delta >= 4 n eta

    def test_too_few_pairs_promise_nothing(self):
        assert error_bound(0.3, 0.01, 1, B=10, eta=0.1) == (1.0, 0.0, 0.0005)
        assert error_bound(0.9, 0.5, 1).error == 1.0

    def test_the_promise_is_kept_in_a_simulation(self):
        # Two intervals: strongly (0.2, 0.5)-good. The vote of so many random pairs errs on at most epsilon + delta.
        rng = np.random.default_rng(0)
        x = rng.uniform(1 / 8, 9 / 8, 400) * rng.choice([-1, 1], 400)
        y, D = np.sign(x), np.abs(x[:, None] - x)
        epsilon = goodness(D, y, dissimilarity="negate").curve(0.5)
        n = pairs_needed(0.5, 0.1)
        failures = 0
        for _ in range(50):
            positive, negative = (rng.choice(np.flatnonzero(y == sign), n) for sign in (1, -1))
            votes = np.where(D[:, negative] - D[:, positive] > 0, 1, -1).sum(axis=1)
            failures += np.mean(y * votes <= 0) > epsilon + 0.1
        assert failures <= 5

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            ({"gamma": 0}, r"gamma must be a number in \(0, 1\]"),
            ({"gamma": 1.1}, "gamma must be"),
            ({"gamma": "a"}, "gamma must be"),
            ({"gamma": True}, "gamma must be"),
            ({"gamma": np.nan}, "gamma must be"),
            ({"delta": 0}, r"delta must be a number in \(0, 1\)"),
            ({"delta": 1}, "delta must be"),
            ({"B": 0.5}, "B must be at least 1"),
            ({"B": np.inf}, "B must be a number"),
            ({"eta": 0.1}, "eta needs B"),
            ({"B": 2, "eta": -0.1}, r"eta must be a number in \[0, 1\]"),
            ({"gamma": 1e-200}, "more pairs than can be counted"),
            ({"B": 1e300}, "more pairs than can be counted"),
            ({"B": 1e300, "eta": 0.1}, "eta must be at most"),
        ],
    )
    def test_errors_name_the_argument(self, arguments, message):
        with pytest.raises(ValueError, match=message):
            pairs_needed(**{"gamma": 0.5, "delta": 0.1, **arguments})

    def test_errors_of_the_error_bound(self):
        for arguments, message in (
            ((-0.1, 0.5, 3), "epsilon must be"),
            ((0.1, 0, 3), "gamma must be"),
            ((0.1, 0.5, 0), "n_pairs must be an integer of at least 1"),
            ((0.1, 0.5, 2.5), "n_pairs must be"),
        ):
            with pytest.raises(ValueError, match=message):
                error_bound(*arguments)


class TestGeneralizationBound:
    def test_theorem_1(self):
        found = generalization_bound("kernel", n=400, beta=2.0, kappa=1.5, empirical_risk=0.1, delta=0.1)
        assert found.capacity == pytest.approx(4 * 2 * 1.5 / 20)
        assert found.deviation == pytest.approx(math.sqrt(math.log(20) / 800))
        assert found.bound == found.empirical_risk + found.capacity + found.deviation

    def test_theorem_2_with_its_slips_mended(self):
        found = generalization_bound("features", n=500, m=100, beta=2.0, kappa=1.5, empirical_risk=0.1, delta=0.1)
        assert found.capacity == pytest.approx(4 * 2 * 1.5**2 * math.sqrt(100 / 400))
        assert found.deviation == pytest.approx(math.sqrt(math.log(20) / 800))
        assert found.bound == pytest.approx(0.1 + found.capacity + found.deviation)

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            ({"kind": "both"}, "kind must be 'kernel' or 'features'"),
            ({"n": 0}, "n must be an integer"),
            ({"n": 2.5}, "n must be an integer"),
            ({"beta": -1}, "beta must be a number in"),
            ({"kappa": np.inf}, "kappa must be"),
            ({"delta": 2}, "delta must be"),
            ({"empirical_risk": 1.5}, r"empirical_risk must be a number in \[0, 1\]"),
            ({"m": 3}, "m must be None for kind='kernel'"),
            ({"kind": "features"}, "m must be an integer"),
            ({"kind": "features", "m": 10}, "m must be smaller than n"),
        ],
    )
    def test_errors_name_the_argument(self, arguments, message):
        with pytest.raises(ValueError, match=message):
            generalization_bound(**{"kind": "kernel", "n": 10, "beta": 1, "kappa": 1, "empirical_risk": 0, **arguments})


class TestReadOffModels:
    @pytest.mark.parametrize("spectrum", ["clip", "flip", "shift", "square"])
    @pytest.mark.parametrize("scale", [1.0, 1e-30, 1e30])
    def test_a_kernel_machine(self, spectrum, scale):
        S, y = _problem()
        S = S - 0.4 * np.eye(60)
        unit = scale**2 if spectrum == "square" else scale
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = SimilaritySVC(C=2.0 / unit, spectrum=spectrum).fit(S * scale, y)
            K = SpectrumModifier(spectrum).fit_transform(S)
            found = generalization_bound_of(model, S * scale, y, delta=0.1)
        peer = SVC(C=2.0, kernel="precomputed", tol=1e-5).fit(K, y)
        w = np.zeros(60)
        w[peer.support_] = peer.dual_coef_[0]
        f = K @ w + peer.intercept_[0]
        risk = np.mean(np.minimum(np.maximum(0, 1 - np.where(y == 1, 1, -1) * f), 1))
        assert found.empirical_risk == pytest.approx(risk, abs=2e-3)
        assert found.capacity == pytest.approx(4 * math.sqrt(w @ K @ w * np.diag(K).max() / 60), rel=5e-3)
        assert found.deviation == pytest.approx(math.sqrt(math.log(20) / 120))
        # beta^2 is also twice what the sum of alpha exceeds the dual value by.
        beta_squared = 2 * (np.abs(model.dual_coef_).sum() - model.objective_)
        kappa_squared = np.diag(K).max() * unit
        assert found.capacity == pytest.approx(4 * math.sqrt(beta_squared * kappa_squared / 60), rel=1e-6)

    def test_asymmetric_dissimilar_and_raw_input(self):
        rng = np.random.default_rng(1)
        D = rng.uniform(size=(40, 40)) + np.where(np.arange(40)[:, None] % 2 == np.arange(40) % 2, 0, 0.5)
        y = np.arange(40) % 2
        words = ["".join(rng.choice(list("ab" if k else "bc"), 5)) for k in y]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            by_map = SimilaritySVC(dissimilarity="max-minus").fit(D, y)
            plain = SimilaritySVC().fit((D.max() - D + (D.max() - D).T) / 2, y)
            raw = SimilaritySVC(similarity="levenshtein").fit(words, y)
        assert generalization_bound_of(by_map, D, y) == pytest.approx(
            generalization_bound_of(plain, (D.max() - D + (D.max() - D).T) / 2, y), rel=1e-9
        )
        assert generalization_bound_of(raw, words, y).empirical_risk < 0.6

    def test_labels_of_any_kind(self):
        S, y = _problem()
        names = np.array(["b", "a"])[y]
        expected = generalization_bound_of(SimilaritySVC().fit(S, 1 - y), S, 1 - y)
        assert generalization_bound_of(SimilaritySVC().fit(S, names), S, names) == pytest.approx(expected)

    def test_a_linear_model_on_similarities(self):
        S, y = _problem()
        prototypes = np.array([3, 10, 20, 41])
        features = S[:, prototypes]
        model = LinearSVC(random_state=0).fit(features, y)
        found = generalization_bound_of(model, features, y, prototypes=prototypes)
        others = np.setdiff1d(np.arange(60), prototypes)
        f = features @ model.coef_[0] + model.intercept_[0]
        risk = np.mean(np.clip(1 - np.where(y == 1, 1, -1) * f, 0, 1)[others])
        assert found == pytest.approx(
            generalization_bound(
                "features",
                n=60,
                m=4,
                beta=float(np.linalg.norm(model.coef_)),
                kappa=math.sqrt(np.abs(features).max()),
                empirical_risk=risk,
            )
        )
        # Prototypes from elsewhere: all 60 rows count.
        assert generalization_bound_of(model, features, y).deviation == pytest.approx(
            math.sqrt(math.log(40) / (2 * 60))
        )

    def test_a_pipeline(self):
        module = pytest.importorskip("similitude.transform.similarity_features")
        S, y = _problem()
        features = module.SimilarityFeatures(6, random_state=0)
        model = make_pipeline(features, LogisticRegression()).fit(S, y)
        chosen = model[0].prototypes_
        alone = LogisticRegression().fit(S[:, chosen], y)
        expected = generalization_bound_of(alone, S[:, chosen], y, prototypes=chosen)
        assert generalization_bound_of(model, S, y) == pytest.approx(expected)
        whole = make_pipeline(module.SimilarityFeatures(), LogisticRegression()).fit(S, y)
        with pytest.raises(ValueError, match="m must be smaller than n"):
            generalization_bound_of(whole, S, y)

    def test_a_pipeline_without_prototypes(self):
        S, y = _problem()
        model = make_pipeline(StandardScaler(), LogisticRegression()).fit(S[:, :5], y)
        scaled = model[0].transform(S[:, :5])
        assert generalization_bound_of(model, S[:, :5], y) == pytest.approx(
            generalization_bound_of(model[1], scaled, y)
        )
        only = make_pipeline(LogisticRegression()).fit(S[:, :5], y)
        assert generalization_bound_of(only, S[:, :5], y) == generalization_bound_of(only[0], S[:, :5], y)

    def test_errors(self):
        S, y = _problem()
        model = SimilaritySVC().fit(S, y)
        with pytest.raises(ValueError, match="prototypes must be None for SimilaritySVC"):
            generalization_bound_of(model, S, y, prototypes=[1])
        with pytest.raises(ValueError, match="X must be the square matrix"):
            generalization_bound_of(model, S[:5], y[:5])
        with pytest.raises(ValueError, match="X must be the data that the model was fitted on"):
            generalization_bound_of(model, S + 3 * np.eye(60), y)
        with pytest.raises(ValueError, match="y must have one label per sample"):
            generalization_bound_of(model, S, y[:5])
        with pytest.raises(ValueError, match="y must have the model's classes"):
            generalization_bound_of(model, S, y + 1)
        with pytest.raises(ValueError, match="must be a SimilaritySVC or linear"):
            generalization_bound_of(DecisionTreeClassifier().fit(S, y), S, y)
        with pytest.raises(ValueError, match="must be a SimilaritySVC or linear"):
            generalization_bound_of(KNNClassifier().fit(S, y), S, y)
        with pytest.raises(ValueError, match="model must be of two classes; it was fitted to 3"):
            generalization_bound_of(SimilaritySVC().fit(S, np.arange(60) % 3), S, np.arange(60) % 3)
        with pytest.raises(ValueError, match="prototypes must be a row of X for each of the 60 features"):
            generalization_bound_of(LogisticRegression().fit(S, y), S, y, prototypes=[1, 2])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            indefinite = SimilaritySVC(spectrum="none").fit(S - np.eye(60), y)
        with pytest.raises(ValueError, match="with spectrum='none' the kernel is indefinite"):
            generalization_bound_of(indefinite, S - np.eye(60), y)
