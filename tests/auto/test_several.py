"""Several similarities of the same samples: AutoClassifier, CombinedClassifier and compare_similarities."""

import numpy as np
import pytest
from scipy import sparse
from scipy.stats import binomtest, spearmanr
from sklearn.base import clone
from sklearn.model_selection import cross_val_score

from similitude import (
    AutoClassifier,
    CombinedClassifier,
    KNNClassifier,
    MixtureSVC,
    Proximities,
    SimilaritySVC,
    SimilarityWarning,
    compare_similarities,
    load_model,
    save_model,
)
from similitude.auto import LeaderboardRow
from similitude.auto.leaderboard import names_text
from similitude.datasets import load_voting
from similitude.numerics.significance import holm, mcnemar

N = 48
METHODS = ["k-NN", "nearest centroid", "SVM (clip)"]


def _matrices(shares=(1.2, 0.8, 0.0), n=N, seed=0):
    rng = np.random.default_rng(seed)
    y = np.array(["a", "b", "c"])[np.arange(n) % 3]
    found = {}
    for i, (name, share) in enumerate(zip(("good", "weak", "none"), shares)):
        noise = rng.normal(size=(n, n))
        found[name] = 10.0**i * (share * (y[:, None] == y) + (noise + noise.T) / 2)
    return found, y


@pytest.fixture(scope="module")
def fitted():
    matrices, y = _matrices()
    return AutoClassifier([*METHODS, "mixture SVM", "SVM (aligned mixture)"], n_repeats=1).fit(matrices, y)


class TestAuto:
    def test_every_method_runs_on_every_similarity(self, fitted):
        found = {(row.method, row.similarity) for row in fitted.leaderboard_}
        assert {(m, s) for m in METHODS for s in ("good", "weak", "none")} <= found
        assert {("mixture SVM", None), ("SVM (aligned mixture)", None)} <= found
        assert [row.error for row in fitted.leaderboard_] == sorted(row.error for row in fitted.leaderboard_)
        assert LeaderboardRow("k-NN", 0.1, 0.0, similarity="good").name == "k-NN on good"
        assert list(fitted.diagnosis_) == ["good", "weak", "none"]

    def test_a_method_on_one_of_them_is_evaluated_as_alone(self, fitted):
        """The folds are the same, and nothing of the other similarities is used."""
        matrices, y = _matrices()
        alone = AutoClassifier(METHODS, n_repeats=1).fit(matrices["weak"], y)
        errors = {row.method: (row.error, row.loss, row.parameters) for row in alone.leaderboard_}
        together = {row.method: row for row in fitted.leaderboard_ if row.similarity == "weak"}
        for method in METHODS:
            row = together[method]
            assert row.error == errors[method][0]
            assert row.loss == pytest.approx(errors[method][1], rel=1e-9)
            assert row.parameters == errors[method][2]

    def test_the_combination_of_members_on_different_similarities(self, tmp_path):
        # Each of two similarities tells one class from the others.
        rng = np.random.default_rng(1)
        y = np.arange(60) % 3
        noise = [(M + M.T) / 2 for M in rng.normal(size=(2, 60, 60))]
        X = {f"tells {g}": 1.5 * ((y == g)[:, None] == (y == g)) + noise[g] for g in range(2)}
        auto = AutoClassifier(["k-NN", "SVM (clip)"], n_repeats=1).fit(X, y)
        members = auto.best_estimator_.members_
        assert {member.similarity for member in members} == {"tells 0", "tells 1"}
        single = min(row.error for row in auto.leaderboard_ if row.method != "combination")
        assert auto.out_of_fold_.proba.shape == (60, 3)
        assert np.mean(auto.out_of_fold_.labels != y) < single - 0.1
        rows = {name: S[:7] for name, S in X.items()}
        expected = sum(
            member.weight
            * member.temperature.posteriors(
                getattr(member.estimator, member.temperature.response)(rows[member.similarity])
            )
            for member in members
        )
        np.testing.assert_allclose(auto.predict_proba(rows), expected, rtol=1e-4)
        np.testing.assert_array_equal(auto.predict_proba(Proximities(rows)), auto.predict_proba(rows))
        assert auto.explain({name: S[:1] for name, S in X.items()}).members == [member.name for member in members]
        save_model(tmp_path / "auto.model", auto)
        loaded, info = load_model(tmp_path / "auto.model", return_info=True)
        assert (info["similarities"], info["n_columns"]) == (["tells 0", "tells 1"], 60)
        np.testing.assert_array_equal(loaded.predict_proba(rows), auto.predict_proba(rows))
        # What it holds can be fitted anew.
        again = clone(auto.best_estimator_).fit(X, y)
        assert [member.similarity for member in again.members_] == [member.similarity for member in members]
        np.testing.assert_array_equal(again.predict(rows), auto.predict(rows))

    def test_raw_objects_and_similarities_that_learn(self, tmp_path):
        voting = load_voting()
        X, y = voting.data[:60], voting.target[:60]
        several = {"counting": "counting", "vdm": "vdm"}
        auto = AutoClassifier(["k-NN"], n_repeats=1, cv=3, similarity=several, nested_cv=2).fit(X, y)
        assert np.mean(auto.predict(voting.data[90:190]) == voting.target[90:190]) > 0.85
        assert 0 <= auto.nested_error_ < 0.3
        alone = AutoClassifier(["k-NN"], n_repeats=1, cv=3, similarity="vdm").fit(X, y)
        (own,) = (row for row in auto.leaderboard_ if row.similarity == "vdm")
        assert own.error == alone.leaderboard_[0].error
        save_model(tmp_path / "auto.model", auto)
        loaded, info = load_model(tmp_path / "auto.model", return_info=True)
        assert (info["input"], info["similarities"], info["n_columns"]) == ("objects", ["counting", "vdm"], 60)
        np.testing.assert_array_equal(loaded.predict(voting.data[60:90]), auto.predict(voting.data[60:90]))

    def test_within_scikit_learn_and_with_maps_by_name(self):
        matrices, y = _matrices()
        D = matrices["weak"].max() - matrices["weak"]
        auto = AutoClassifier(["affinity k-NN"], n_repeats=1, cv=2, dissimilarity={"weak": "max-minus"})
        X = Proximities({"good": matrices["good"], "weak": D})
        assert np.mean(cross_val_score(auto, X, y, cv=2)) > 0.5
        auto.fit(X, y)
        assert {row.similarity: "dissimilarity" in row.parameters for row in auto.leaderboard_ if row.similarity} == {
            "good": False,
            "weak": True,
        }

    def test_groups_are_kept_together(self):
        """Each sample has a copy in its group, so that folds that divide groups would make no errors."""
        matrices, y = _matrices((0.0, 0.0, 0.0), 24)
        twice = np.repeat(np.arange(24), 2)
        X = {name: S[np.ix_(twice, twice)] + 100 * (twice[:, None] == twice) for name, S in matrices.items()}
        auto = AutoClassifier(["k-NN"], n_repeats=1, cv=3, nested_cv=2).fit(X, y[twice], groups=twice)
        assert auto.nested_error_ > 0.3
        assert min(row.error for row in auto.leaderboard_) > 0.3

    def test_time_is_limited(self):
        matrices, y = _matrices()
        auto = AutoClassifier(METHODS, time_budget=1e-3).fit(matrices, y)
        assert auto.left_out_
        assert auto.similarities_.standings
        assert auto.similarities_.left_out == auto.left_out_
        assert str(auto.similarities_).endswith(f"\n\nno time for {names_text(auto.left_out_)}")

    def test_methods_without_time_are_named_once(self):
        assert names_text(["SDA on a", "SDA on b on c", "k-NN on b", "mixture SVM"]) == (
            "SDA on 2 similarities, k-NN on b, mixture SVM"
        )


class TestCombined:
    def test_members_name_their_similarity(self):
        matrices, y = _matrices()
        members = [("near", KNNClassifier(5), "good"), ("all", MixtureSVC(target="clip"))]
        model = CombinedClassifier(members, [1, 3]).fit(matrices, y)
        both = model.member_posteriors({name: S[:5] for name, S in matrices.items()})
        alone = CombinedClassifier([("near", KNNClassifier(5))]).fit(matrices["good"], y)
        np.testing.assert_allclose(both[0], alone.predict_proba(matrices["good"][:5]))
        mean = model.predict_proba({name: S[:5] for name, S in matrices.items()})
        np.testing.assert_allclose(mean, 0.25 * both[0] + 0.75 * both[1])

    def test_errors(self):
        matrices, y = _matrices()
        with pytest.raises(ValueError, match="'near' reads the similarity 'other'; X holds 'good', 'weak', 'none'"):
            CombinedClassifier([("near", KNNClassifier(), "other")]).fit(matrices, y)
        with pytest.raises(ValueError, match=r"'SVM' reads one similarity, and X holds several: give \(name, est"):
            CombinedClassifier([("near", KNNClassifier(), "good"), ("SVM", SimilaritySVC())]).fit(matrices, y)
        with pytest.raises(ValueError, match="'near' reads the similarity 'good'; X holds one without a name"):
            CombinedClassifier([("near", KNNClassifier(), "good")]).fit(matrices["good"], y)


class TestComparison:
    def test_it_is_that_of_the_classifier(self, fitted):
        matrices, y = _matrices()
        found = compare_similarities(
            Proximities(matrices), y, methods=[*METHODS, "mixture SVM", "SVM (aligned mixture)"], n_repeats=1
        )
        assert repr(found) == repr(fitted.similarities_)
        assert found.best == "good"
        assert [row.similarity for row in found.standings] == ["good", "weak", "none"]
        assert [row.name for row in found.together] == [
            "best similarity",
            "combination of all",
            "SVM (aligned mixture)",
            "mixture SVM",
        ]
        assert found.standings[0].p_value is None
        assert found.standings[2].p_value < 1e-3
        assert found.p_values[0, 2] == found.standings[2].p_value
        for text in ("without it %", "rank correlations", "combination of all"):
            assert text in repr(found)

    def test_the_error_of_a_single_method_on_a_similarity(self):
        """With one method there is nothing to choose, and the error is that on the leaderboard."""
        matrices, y = _matrices()
        auto = AutoClassifier(["k-NN"], n_repeats=1).fit(matrices, y)
        errors = {row.similarity: row.error for row in auto.leaderboard_}
        assert {row.similarity: row.error for row in auto.similarities_.standings} == {
            name: errors[name] for name in matrices
        }

    def test_without_a_similarity(self):
        """The error without a similarity is that of the combination on the others."""
        matrices, y = _matrices()
        found = compare_similarities(matrices, y, methods=METHODS, n_repeats=1)
        (row,) = (row for row in found.standings if row.similarity == "good")
        others = {name: matrices[name] for name in ("weak", "none")}
        rest = compare_similarities(others, y, methods=METHODS, n_repeats=1)
        (combined,) = (row for row in rest.together if row.name == "combination of all")
        assert row.error_without == combined.error

    def test_correlations(self):
        matrices, y = _matrices()
        X = {**matrices, "opposite": matrices["good"].max() - matrices["good"], "constant": np.ones((N, N))}
        found = compare_similarities(X, y, methods=["k-NN"], n_repeats=1, dissimilarity={"opposite": "max-minus"})
        off = ~np.eye(N, dtype=bool)
        expected = spearmanr(matrices["good"][off], matrices["weak"][off]).statistic
        assert found.correlations[0, 1] == pytest.approx(expected)
        assert found.correlations[0, 3] == pytest.approx(1.0)
        assert np.isnan(found.correlations[0, 4])
        # Unknown pairs do not count, whether they are NaN or not stored.
        some = np.where(np.random.default_rng(0).random((N, N)) < 0.7, matrices["weak"], np.nan)
        stored = ~np.isnan(some)
        expected = spearmanr(matrices["good"][off & stored], some[off & stored]).statistic
        as_sparse = sparse.csr_matrix((some[stored], np.nonzero(stored)), shape=(N, N))
        for given in ({"good": matrices["good"], "some": some}, {"good": matrices["good"], "some": as_sparse}):
            X = Proximities(given, absent="unknown")
            found = compare_similarities(X, y, methods=["k-NN"], n_repeats=1)
            assert found.correlations[0, 1] == pytest.approx(expected)
        with pytest.warns(SimilarityWarning, match=r"need all pairs: nearest centroid on some; .* failures holds"):
            compare_similarities(X, y, methods=["k-NN", "nearest centroid"], n_repeats=1)

    def test_errors(self):
        matrices, y = _matrices()
        with pytest.raises(ValueError, match="X must hold several similarities by name"):
            compare_similarities(matrices["good"], y)
        with pytest.raises(ValueError, match=r"array of shape \(\d+, \d+, \d+\). Pass several similarities by name"):
            AutoClassifier(["k-NN"]).fit(np.stack(list(matrices.values())), y)
        with pytest.raises(ValueError, match="at least one must be a method on a single similarity"):
            compare_similarities(matrices, y, methods=["mixture SVM"], n_repeats=1)
        with pytest.raises(ValueError, match=r"methods must be among .*; got 'mixture'"):
            compare_similarities(matrices, y, methods=["mixture"])
        with pytest.raises(ValueError, match="same shape"):
            compare_similarities({"a": np.eye(6), "b": np.eye(5)}, np.arange(6) % 2)
        with pytest.raises(ValueError, match="similarity 'b': X: no similarity of the training samples is known"):
            compare_similarities({"a": np.eye(6), "b": np.full((6, 6), np.nan)}, np.arange(6) % 2)


def test_paired_tests():
    rng = np.random.default_rng(0)
    a, b = rng.random((2, 50)) < [[0.5], [0.2]]
    only_a, only_b = np.sum(a & ~b), np.sum(b & ~a)
    assert mcnemar(a, b) == mcnemar(b, a) == pytest.approx(binomtest(only_a, only_a + only_b).pvalue)
    assert mcnemar(a, a) == 1.0
    # Holm's procedure step by step: the smallest is compared with level / k, the next with level / (k - 1), ...
    p = rng.random(7) ** 3
    corrected = holm(p)
    for level in (0.01, 0.05, 0.3):
        rejected, order = set(), np.argsort(p)
        for step, i in enumerate(order):
            if p[i] > level / (7 - step):
                break
            rejected.add(int(i))
        assert set(np.flatnonzero(corrected <= level).tolist()) == rejected
    assert holm([]).size == 0
