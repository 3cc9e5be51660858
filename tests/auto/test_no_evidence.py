"""Rows without evidence: the posterior that is learned for them, in the results and in the fitted classifier."""

import pickle
import warnings
from fractions import Fraction

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.model_selection import StratifiedKFold

from similitude import AutoClassifier, CombinedClassifier, KNNClassifier, Proximities, SimilaritySVC, load_model
from similitude import save_model as save
from similitude.auto import methods, nested_errors
from similitude.auto.reading import read_samples
from similitude.evaluation.folds import repeated_folds
from tests.auto.test_combination import Scripted, calibration, floor_of, posteriors

METHODS = ["k-NN", "nearest centroid"]


def hits(n=60, lonely=15, seed=0):
    """Sparse similarities: samples of the same class have hits, those of ``lonely`` samples at the end have none.

    The classes are equally frequent among the others; most of the lonely ones are of class 2.
    """
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 3
    S = rng.uniform(0.2, 1.0, (n, n)) * ((y[:, None] == y) | (rng.random((n, n)) < 0.05))
    alone = np.arange(n) >= n - lonely
    S[alone] = S[:, alone] = 0.0
    np.fill_diagonal(S, 1.0)
    y[alone] = np.where(np.arange(lonely) % 5 == 0, 0, 2)
    return sparse.csr_array(S), y, alone


S, Y, ALONE = hits()
NONE = sparse.csr_array((2, len(Y)))


def auto(X=S, y=Y, names=METHODS, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return AutoClassifier(names, **{"n_repeats": 1, **options}).fit(X, y)


def exact(counts, totals):
    """The posterior by exact arithmetic."""
    G, c, n = len(totals), sum(counts), sum(totals)
    return np.array(
        [float((Fraction(own) + Fraction(G * int(all_), int(n))) / (c + G)) for own, all_ in zip(counts, totals)]
    )


LEARNED = exact([3, 0, 12], np.bincount(Y).tolist())


class TestContest:
    """Methods whose answers of left-out samples are given."""

    codes = np.arange(36) % 3
    repeats = repeated_folds(codes, 4, 2, None, 0)
    known = posteriors(codes, [1.0, 2.0, 0.5, 1.5]).reshape(2, 2, 36, 3)
    lacking = [test[: 3 if i < 4 else 1] for i, test in enumerate(test for folds in repeats for _, test in folds)]

    def test_it_is_its_definition(self):
        """Without evidence: the counts of the other parts; with it: temperatures that are fitted to such rows."""
        found = Scripted({"m": self.known}, self.codes, self.repeats, self.lacking)
        none = [
            np.isin(np.arange(36), np.concatenate(self.lacking[:4])),
            np.isin(np.arange(36), np.concatenate(self.lacking[4:])),
        ]
        assert 0 < np.sum(none[0] & none[1]) < np.sum(none[0])
        shares = np.mean(none, axis=0)
        assert_array_equal(found.lacking, shares)
        expected = np.zeros((2, 2, 36, 3))
        for part in range(4):
            own = found.parts == part
            counts = np.bincount(self.codes[~own], shares[~own], 3)
            learned = exact([Fraction(count) for count in counts], np.bincount(self.codes[~own]).tolist())
            for r, p in np.ndindex(2, 2):
                z = np.log(self.known[r, p] + floor_of(36))
                used = ~own & ~none[r]
                factor, offsets = calibration.fit(z[used], self.codes[used], np.ones(used.sum()))
                powers = np.exp(factor * z + offsets)
                answers = np.where(none[r][:, None], learned, powers / powers.sum(axis=1, keepdims=True))
                expected[r, p, own] = answers[own]
        (run,) = found.runs.values()
        assert_allclose(run.posteriors, expected.mean(axis=0), atol=1e-5)
        counts = [Fraction(count) for count in np.bincount(self.codes, shares)]
        assert_allclose(found.no_evidence[None].posterior, exact(counts, np.bincount(self.codes).tolist()))
        assert found.no_evidence[None].count == shares.sum()

    def test_answers_without_evidence_decide_nothing(self):
        """Neither for the points of a grid, nor for the calibration, nor for the choice among methods."""
        other = self.known.copy()
        for fold, rows in enumerate(self.lacking):
            other[fold // 4][:, rows] = np.random.default_rng(fold).dirichlet(np.ones(3), size=(2, len(rows)))
        one, two = (Scripted({"m": found}, self.codes, self.repeats, self.lacking) for found in (self.known, other))
        assert not np.array_equal(self.known, other)
        assert_array_equal(one.runs["m"].posteriors, two.runs["m"].posteriors)
        assert one.runs["m"].temperatures[0].factor == two.runs["m"].temperatures[0].factor
        assert_array_equal(one.runs["m"].shortlists, two.runs["m"].shortlists)

    def test_a_part_is_judged_without_its_labels(self):
        own = np.isin(np.arange(36), self.repeats[0][1][1])
        changed = np.where(own, (self.codes + 1) % 3, self.codes)
        one, two = (Scripted({"m": self.known}, labels, self.repeats, self.lacking) for labels in (self.codes, changed))
        assert_allclose(one.runs["m"].posteriors[:, own], two.runs["m"].posteriors[:, own], atol=1e-12)
        assert np.any(one.runs["m"].posteriors[:, ~own] != two.runs["m"].posteriors[:, ~own])

    def test_no_row_gives_evidence(self):
        tests = [test for folds in self.repeats for _, test in folds]
        found = Scripted({"m": self.known}, self.codes, self.repeats, tests)
        assert_allclose(found.runs["m"].posteriors, 1 / 3, atol=0.1)
        assert_allclose(found.no_evidence[None].posterior, 1 / 3)


class TestAutoClassifier:
    def test_the_posterior_is_learned(self):
        model = auto()
        assert_allclose(model.predict_proba(NONE), [LEARNED, LEARNED])
        assert_array_equal(model.predict(NONE), [2, 2])
        assert_allclose(
            model.best_estimator_.member_posteriors(NONE)[:, 0], [LEARNED] * len(model.best_estimator_.members_)
        )
        left_out = model.out_of_fold_.proba[ALONE]
        assert np.all(np.abs(left_out - LEARNED).max(axis=1) < 0.1)  # each without its own part

    def test_the_leaderboard_has_the_errors_of_both_kinds(self):
        for row in auto().leaderboard_:
            assert row.without_evidence == 0.25
            assert row.error_without_evidence == 0.2  # class 0 among the lonely ones
            mean = 0.75 * row.error_with_evidence + 0.25 * row.error_without_evidence
            assert row.error == pytest.approx(mean)
        whole, y, _ = hits(lonely=0)
        for row in auto(whole, y).leaderboard_:
            assert (row.error_without_evidence, row.without_evidence) == (None, 0)
            assert row.error_with_evidence == row.error

    @pytest.mark.parametrize("form", ["dense", "float32", "unknown", "nan", "constant", "distances"])
    def test_the_form_of_the_matrix_does_not_matter(self, form):
        dense = S.toarray()
        options = {}
        X, rows = {
            "dense": (dense, NONE.toarray()),
            "float32": (S.astype(np.float32), NONE.astype(np.float32)),
            "unknown": (Proximities(S, absent="unknown"), Proximities(NONE, absent="unknown")),
            "nan": (np.where(dense == 0, np.nan, dense), np.full(NONE.shape, np.nan)),
            "constant": (dense - 3, np.full(NONE.shape, -3.0)),
            "distances": (1 - dense, np.full(NONE.shape, 1.0)),
        }[form]
        if form == "distances":
            options = {"dissimilarity": "max-minus"}
        model = auto(X, names=["k-NN"], **options)
        assert_allclose(model.predict_proba(rows), [LEARNED, LEARNED])
        assert model.leaderboard_[0].without_evidence == 0.25

    def test_the_order_and_the_unit_do_not_matter(self):
        order = np.random.default_rng(1).permutation(len(Y))
        folds = repeated_folds(Y, 4, 1, None, 0)[0]
        place = np.argsort(order)
        permuted = [(np.sort(place[train]), np.sort(place[test])) for train, test in folds]
        rows = sparse.vstack([S[:5], NONE]).tocsr()
        names = ["nearest centroid"]  # bootstrap samples of a combination are drawn by position
        expected = auto(cv=folds, names=names).predict_proba(rows)
        found = auto(1024 * S[order][:, order], Y[order], names, cv=permuted).predict_proba(1024 * rows[:, order])
        assert_allclose(found, expected, atol=1e-9)

    def test_costs_priors_and_class_weights(self):
        priors = np.array([0.8, 0.1, 0.1])
        rescaled = LEARNED * priors / (np.bincount(Y) / len(Y))
        assert_allclose(auto(priors=priors).predict_proba(NONE)[0], rescaled / rescaled.sum())
        weighted = LEARNED / np.bincount(Y)
        assert_allclose(auto(class_weight="balanced").predict_proba(NONE)[0], weighted / weighted.sum())
        costs = np.array([[0, 1, 1], [1, 0, 1], [20, 1, 0]])  # it is expensive to miss class 0
        assert_array_equal(auto(costs=costs).predict(NONE), [0, 0])

    def test_models_without_such_samples_give_the_class_shares(self):
        whole, y, _ = hits(lonely=0)
        model = auto(whole, y)
        assert_allclose(model.predict_proba(NONE)[0], np.bincount(y) / len(y))
        text = str(model.explain(NONE[:1]))
        assert "no evidence: the values to all training samples are equal; the posterior is that of the class" in text

    def test_explain_says_so(self):
        model = auto()
        assert "no evidence" not in str(model.explain(S[:1]))
        shown = str(model.explain(NONE[:1])).splitlines()
        assert shown[-1].endswith("the posterior was learned from 15 left-out training samples without evidence")
        assert all(f"{LEARNED[2]:.3f}" in line for line in shown[1:-1])

    def test_it_is_saved(self, tmp_path):
        model = auto()
        save(tmp_path / "m.model", model)
        rows = sparse.vstack([S[:5], NONE]).tocsr()
        for other in (load_model(tmp_path / "m.model"), pickle.loads(pickle.dumps(model))):
            assert_array_equal(other.predict_proba(rows), model.predict_proba(rows))
            assert str(other.explain(NONE[:1])) == str(model.explain(NONE[:1]))

    def test_compare(self):
        samples = read_samples(S, Y)
        found = nested_errors(samples, methods(METHODS), folds=4, seed=0, n_jobs=1, show=False)
        assert [row.method for row in found][-1] == "nearest centroid"
        for row in found:
            assert (row.without_evidence, row.error_without_evidence) == (0.25, 0.2)
            assert row.error == pytest.approx(0.75 * row.error_with_evidence + 0.25 * 0.2)


class TestCombinedClassifier:
    def test_it_is_its_definition(self):
        """The posterior of such rows is learned, and they have no part in the calibration."""
        members = [("k-NN", KNNClassifier(3)), ("other", KNNClassifier(5))]
        model = CombinedClassifier(members).fit(S, Y)
        assert_allclose(model.predict_proba(NONE), [LEARNED, LEARNED])
        left_out = np.empty((len(Y), 3))
        for train, test in StratifiedKFold(5, shuffle=True, random_state=0).split(Y, Y):
            fitted = KNNClassifier(3).fit(S[train][:, train], Y[train])
            left_out[test] = fitted.predict_proba(S[test][:, train])
        z = np.log(left_out[~ALONE] + floor_of(np.sum(~ALONE)))
        factor, _ = calibration.fit(z, Y[~ALONE], np.ones(len(z)))
        assert model.members_[0].temperature.factor == pytest.approx(factor, abs=1e-4)

    def test_all_columns_are_needed_to_see_that_a_row_gives_no_evidence(self):
        whole, y, _ = hits(lonely=0)
        members = [("SVM", SimilaritySVC(C=0.01))]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            plain, other = (CombinedClassifier(members).fit(*data) for data in ((whole, y), (S, Y)))
        assert len(plain.support_columns_) <= len(y)
        assert not hasattr(other, "support_columns_")

    def test_several_similarities(self):
        """A member that has no evidence is no vote, and a row gives none if no similarity does."""
        half = np.arange(len(Y)) < 30
        first, second = (sparse.csr_array(S.toarray() * own[:, None] * own + np.eye(len(Y))) for own in (half, ~half))
        members = [("a", KNNClassifier(3), "first"), ("b", KNNClassifier(3), "second")]
        model = CombinedClassifier(members).fit({"first": first, "second": second}, Y)
        none = {"first": NONE, "second": NONE}
        assert_allclose(model.predict_proba(none), [LEARNED, LEARNED])
        rows = {"first": first[:3], "second": NONE[[0, 0, 0]]}
        found = model.member_posteriors(rows)
        n_half = np.bincount(Y[half]) + np.array(
            [3, 0, 12]
        )  # those that only the first similarity connects, and the rest
        assert_allclose(found[1], [exact(n_half.tolist(), np.bincount(Y).tolist())] * 3)
        assert_array_equal(model.predict(rows), Y[:3])
        assert "no evidence" not in str(model.explain({name: S[:1] for name, S in rows.items()}))
        assert "no evidence" in str(model.explain({name: S[:1] for name, S in none.items()}))

    def test_raw_objects(self):
        """Words of unknown letters are equally far from all others."""
        rng = np.random.default_rng(0)
        words = np.array([[letter] for letter in rng.choice(list("aabbxyzuvw"), 60)], dtype=object)
        y = np.where(words[:, 0] == "a", 0, np.where(words[:, 0] == "b", 1, 2))
        words[y == 2] = np.array([[f"#{i}"] for i in range(np.sum(y == 2))], dtype=object)
        model = CombinedClassifier([("k-NN", KNNClassifier(3))], similarity="counting").fit(words, y)
        new = np.array([["a"], ["?"]], dtype=object)
        n = int(np.sum(y == 2))
        assert_allclose(model.predict_proba(new)[1], exact([0, 0, n], np.bincount(y).tolist()))
        assert model.predict(new)[0] == 0
