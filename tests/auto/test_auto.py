"""The automatic choice: against choices and loops written out, a false clock, groups, and bad input."""

import pickle
import time
import warnings
from functools import cache
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import sklearn
from joblib import parallel_config
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse, stats
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.metrics import f1_score, make_scorer
from sklearn.model_selection import (
    GroupKFold,
    KFold,
    LeaveOneGroupOut,
    LeaveOneOut,
    ShuffleSplit,
    cross_val_score,
    cross_validate,
)

from similitude import (
    AutoClassifier,
    CombinedClassifier,
    FusedClassifier,
    KNNClassifier,
    NearestCentroid,
    Proximities,
    SimilaritySVC,
    compare_similarities,
    diagnose,
    load_model,
    save_model,
)
from similitude.auto import choice, combination, evaluated, method_results, race
from similitude.auto.combination import Judgement, combine, judge_method
from similitude.auto.losses import Loss
from similitude.auto.method_results import MethodResults
from similitude.auto.methods import COMPARED_ONLY, PEERS, methods, slug
from similitude.auto.race import Race
from similitude.datasets import load_voting
from similitude.evaluation import engine as evaluation
from similitude.evaluation.folds import repeated_folds, stratified_folds
from similitude.numerics import eigen, topk
from similitude.numerics.temperature import floor_of
from similitude.proximity.check import SimilarityWarning
from similitude.reader import Contract, Samples
from similitude.similarities import pairwise
from tests.reference import temperature as calibration

NAMES = ["k-NN", "nearest centroid", "SVM (clip)", "local SDA"]


def problem(n=36, n_classes=3, seed=1):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % n_classes
    X = rng.normal(size=(n, 3))
    X[:, 0] += 1.2 * y
    return np.exp(-((X[:, None] - X[None]) ** 2).sum(-1) / 8), y


S, Y = problem()


def words(n=30):
    rng = np.random.default_rng(3)
    return ["".join(rng.choice(list("abcc" if i % 2 else "abbc"), size=rng.integers(5, 9))) for i in range(n)]


@cache
def fitted(*names, cv=4, **options):
    """Models that tests only look at are fitted once."""
    return AutoClassifier(list(names), cv=cv, **options).fit(S, Y)


def board(model):
    rows = model.leaderboard_
    return [(row.method, row.error, row.parameters, row.chosen, round(row.weight, 9)) for row in rows]


def named(model):
    return {row.method: row for row in model.leaderboard_}


def results_of(names, cv=4, n_repeats=3, y=Y, loss=None):
    found = MethodResults(
        Samples(Contract(), S, y),
        methods(names),
        repeated_folds(y, cv, n_repeats, None, 0),
        loss or Loss(None, None, None),
    )
    Race(found, 0.0, None, None, False).run()
    return found


def points_of(results, run):
    return [results.parameters(run, i) for i in range(len(run.points))]


class TestLeaderboard:
    def test_it_is_what_the_contest_finds(self):
        model, found = fitted(*NAMES), results_of(NAMES)
        assert model.n_folds_ == found.n_folds == 12  # of three repetitions
        members, together = combine(found, 0)
        weights = {name: sum(m.weight for m in members if m.run.name == name) for name in NAMES}
        expected = {name: judge_method(found, run) for name, run in found.runs.items()}
        rows = named(model)
        assert set(rows) == {*NAMES, "combination"}
        for name, single in [*expected.items(), ("combination", together)]:
            row = rows[name]
            assert row.error == np.mean(single.wrong)
            assert row.standard_error == pytest.approx(stats.sem(single.wrong))
            assert row.loss == pytest.approx(np.mean(single.losses))
            assert row.weight == pytest.approx(weights.get(name, 1.0))
            assert row.seconds > 0
        assert rows["combination"].seconds == pytest.approx(sum(rows[name].seconds for name in NAMES))
        for name, run in found.runs.items():
            at = points_of(found, run).index(rows[name].parameters)
            losses = np.sum((run.posteriors - np.eye(3)[Y]) ** 2, axis=2).mean(axis=1)
            assert losses[at] == losses[run.shortlists[0]].min()
            assert rows[name].optimistic_error == np.mean(run.posteriors[at].argmax(axis=1) != Y)
        assert [(r.error, r.loss) for r in model.leaderboard_] == sorted((r.error, r.loss) for r in model.leaderboard_)
        assert model.failures_ == {}
        assert str(model.diagnosis_) == str(diagnose(S, Y))

    def test_p_values_compare_with_the_first(self):
        model, found = fitted(*NAMES), results_of(NAMES)
        by_part = {
            name: np.array([judge_method(found, run).wrong[found.parts == part].mean() for part in range(4)])
            for name, run in found.runs.items()
        }
        by_part["combination"] = [combine(found, 0)[1].wrong[found.parts == part].mean() for part in range(4)]
        first, *others = model.leaderboard_
        assert first.p_value is None
        for row in others:
            assert row.p_value == pytest.approx(exact_p_value(by_part[row.method], by_part[first.method]))

    def test_members_are_fitted_on_everything(self):
        model = fitted(*NAMES)
        assert model.best_method_ == "combination"
        (chosen,) = [row for row in model.leaderboard_ if row.chosen]
        assert chosen.method == "combination"
        assert isinstance(model.best_estimator_, CombinedClassifier)
        mean = 0
        for member in model.best_estimator_.members_:
            estimator = clone(methods()[member.name][0]).set_params(**model.best_params_[member.name])
            assert_array_equal(member.estimator.predict(S), estimator.fit(S, Y).predict(S))
            assert member.weight == pytest.approx(named(model)[member.name].weight)
            one = CombinedClassifier([(member.name, estimator)]).fit(S, Y)
            one.members_ = [member]
            mean = mean + member.weight * one.member_posteriors(S)[0]
        assert_allclose(model.predict_proba(S), mean)
        assert_array_equal(model.predict(S), mean.argmax(axis=1))
        assert model.n_features_in_ == 36
        assert model.score(S, Y) > 0.6
        assert str(model.explain(S[0])) == str(model.best_estimator_.explain(S[0]))

    def test_the_temperatures_are_those_of_all_repetitions(self):
        model, found = fitted(*NAMES), results_of(NAMES)
        for member in model.best_estimator_.members_:
            run = found.runs[member.name]
            expected = run.temperatures[points_of(found, run).index(model.best_params_[member.name])]
            assert member.temperature.factor == pytest.approx(expected.factor)

    def test_what_is_only_compared_is_not_chosen(self):
        names = ["nearest centroid", "random forest (features)"]
        model = AutoClassifier(names, cv=2, n_repeats=1).fit(S, Y)
        assert model.best_method_ == "nearest centroid"
        assert set(named(model)) == set(names)
        assert set(COMPARED_ONLY) < set(PEERS)
        assert set(COMPARED_ONLY).isdisjoint(methods())
        alone = AutoClassifier(names[1:], cv=2, n_repeats=1).fit(S, Y)
        assert alone.best_method_ == names[1]

    def test_one_method(self):
        model = fitted("k-NN")
        assert model.best_method_ == "k-NN"
        assert [row.method for row in model.leaderboard_] == ["k-NN"]
        assert model.best_params_ == model.leaderboard_[0].parameters
        assert set(model.best_params_) == {"n_neighbors"}

    def test_all_methods_equally_bad(self):
        """A similarity that tells nothing: no method is better than another, and none fails."""
        model = AutoClassifier(["k-NN", "nearest centroid", "SDA"], cv=3).fit(np.ones((36, 36)), Y % 2)
        assert model.failures_ == {}
        assert model.best_estimator_.members_[0].weight > 0
        assert_allclose(model.predict_proba(np.ones((3, 36))), [[2 / 3, 1 / 3]] * 3, atol=0.05)
        assert min(row.error for row in model.leaderboard_) >= 0.3


def exact_p_value(a, b):
    """The signed-rank test over all signs of the differences, ties and all."""
    d = np.round(np.subtract(a, b), 12)
    d = d[d != 0]
    if len(d) == 0:
        return 1.0
    ranks = stats.rankdata(np.abs(d))
    signs = np.array(np.meshgrid(*[[0, 1]] * len(d))).reshape(len(d), -1)
    return np.mean(ranks @ signs >= ranks[d > 0].sum() - 1e-9)


def wrong(*shares, n=20):
    """What a method answers that errs on such shares of the samples of each part."""
    return Judgement(None, np.zeros(n * len(shares)), np.concatenate([np.arange(n) < round(e * n) for e in shares]))


BY_SAMPLE = SimpleNamespace(loss=Loss(None, None, None))


class TestPreference:
    def test_the_simplest_within_a_standard_error(self):
        best = wrong(0.1, 0.2, 0.1, 0.4)
        assert stats.sem(best.wrong) == pytest.approx(0.045, abs=0.001)
        level, behind = wrong(0.3, 0.3, 0.2, 0.15), wrong(0.3, 0.3, 0.3, 0.3)
        assert choice._simplest({"simple": level, "complicated": best}) == "simple"
        assert choice._simplest({"simple": behind, "complicated": best}) == "complicated"
        assert choice._simplest({"a": behind, "b": level, "c": best}) == "b"
        assert choice._simplest({"a": level, "b": level}) == "a"

    def test_simple_follows_the_rule(self):
        model = fitted(*NAMES, prefer="simple")
        rows = named(model)
        best = min((rows[name] for name in NAMES), key=lambda row: row.error)
        level = [name for name in methods(NAMES) if rows[name].error <= best.error + best.standard_error]
        assert model.best_method_ == level[0]
        assert model.best_params_ == rows[level[0]].parameters
        assert len(model.best_estimator_.members_) == 1
        assert [row.method for row in model.leaderboard_ if row.chosen] == [level[0]]
        # The rest of the leaderboard is the same.
        plain = fitted(*NAMES).leaderboard_
        assert [(row.method, row.error, row.weight) for row in model.leaderboard_] == [
            (row.method, row.error, row.weight) for row in plain
        ]

    def test_a_single_method_that_is_clearly_better(self, monkeypatch):
        monkeypatch.setattr(choice, "_clearly_better", lambda results, single, together: True)
        model = AutoClassifier(NAMES, cv=3, n_repeats=1).fit(S, Y)
        rows = named(model)
        assert model.best_method_ == min(NAMES, key=lambda name: rows[name].loss)
        assert len(model.best_estimator_.members_) == 1
        assert np.mean(model.out_of_fold_.labels != Y) == rows[model.best_method_].error

    def test_clearly_means_by_more_than_a_standard_error(self):
        def judged(*losses):
            return Judgement(None, np.array(losses), None)

        assert choice._clearly_better(BY_SAMPLE, judged(0.1, 0.1, 0.1), judged(0.2, 0.2, 0.3))
        assert not choice._clearly_better(BY_SAMPLE, judged(0.1, 0.1, 0.1), judged(0.1, 0.1, 0.3))
        assert not choice._clearly_better(BY_SAMPLE, judged(0.1, 0.2), judged(0.1, 0.2))
        assert not choice._clearly_better(BY_SAMPLE, judged(0.3, 0.3), judged(0.2, 0.2))


class TestScores:
    @pytest.mark.parametrize(
        "scoring",
        ["neg_log_loss", "accuracy", "balanced_accuracy", "roc_auc_ovr", make_scorer(f1_score, average="macro")],
    )
    def test_any_score(self, scoring, monkeypatch):
        monkeypatch.setattr(combination, "ROUNDS", 3)
        names = ["k-NN", "nearest centroid"]
        model = AutoClassifier(names, cv=3, n_repeats=1, scoring=scoring).fit(S, Y)
        found = results_of(names, 3, 1, loss=Loss(scoring, None, None))
        rows = named(model)
        for name in names:
            honest = judge_method(found, found.runs[name])
            expected = found.loss.mean(honest.posteriors, Y, np.arange(3))
            assert rows[name].loss == pytest.approx(expected)
        assert rows["k-NN"].loss != pytest.approx(named(fitted(*names, cv=3, n_repeats=1))["k-NN"].loss)

    def test_points_are_chosen_by_it(self):
        chosen = []
        for scoring in ("neg_log_loss", "accuracy"):
            found = results_of(["k-NN"], loss=Loss(scoring, None, None))
            run = found.runs["k-NN"]
            losses = found.loss.mean(run.posteriors[run.shortlists[0]], Y, np.arange(3))
            chosen.append(run.points[run.shortlists[0][np.argmin(losses)]])
            assert fitted("k-NN", scoring=scoring).best_params_ == chosen[-1]
        assert chosen[0] != chosen[1]

    def test_costs(self):
        costs = np.array([[0.0, 1.0, 20.0], [1.0, 0.0, 20.0], [1.0, 1.0, 0.0]])
        model = AutoClassifier(["k-NN", "SVM (clip)"], cv=3, n_repeats=1, costs=costs).fit(S, Y)
        plain = fitted("k-NN", "SVM (clip)", cv=3, n_repeats=1)
        posteriors = model.predict_proba(S)
        assert_array_equal(model.predict(S), np.argmin(posteriors @ costs.T, axis=1))
        assert np.sum(model.predict(S) == 2) > np.sum(plain.predict(S) == 2)
        # Errors and losses are those of these decisions.
        row = named(model)[model.best_method_]
        decided = np.argmin(model.out_of_fold_.proba @ costs.T, axis=1)
        assert_array_equal(model.out_of_fold_.labels, decided)
        assert row.error == np.mean(decided != Y)
        assert row.loss == pytest.approx(np.mean(costs[decided, Y]), abs=1e-7)

    def test_priors(self):
        names = ["k-NN", "SVM (clip)"]
        model = AutoClassifier(names, cv=3, n_repeats=1, priors=[0.6, 0.3, 0.1]).fit(S, Y)
        expected = fitted(*names, cv=3, n_repeats=1).predict_proba(S) * [0.6, 0.3, 0.1]
        assert_allclose(model.predict_proba(S), expected / expected.sum(axis=1, keepdims=True))

    def test_class_weights(self):
        y = np.repeat([0, 1], [28, 8])
        some = [AutoClassifier(["k-NN", "SDA"], cv=3, n_repeats=1, class_weight=w) for w in (None, "balanced")]
        plain, balanced = (model.fit(S, y) for model in some)
        assert np.sum(balanced.predict(S) == 1) > np.sum(plain.predict(S) == 1)
        weights = np.array([0.5 * 36 / 28, 0.5 * 36 / 8])
        row = named(balanced)[balanced.best_method_]
        brier = np.sum((balanced.out_of_fold_.proba - np.eye(2)[y]) ** 2, axis=1)
        assert row.loss == pytest.approx(np.mean(weights[y] * brier))
        same = AutoClassifier(["k-NN", "SDA"], cv=3, n_repeats=1, class_weight={0: 8, 1: 28}).fit(S, y)
        assert_allclose(same.predict_proba(S), balanced.predict_proba(S))


class Clock:
    """Time passes only where a method is evaluated: so many seconds for each. Each method is a leg of its own."""

    def __init__(self, monkeypatch, seconds):
        monkeypatch.setattr(race, "_SHORTEST_LEG", 0.0)
        self.now, self.seconds, self.calls = 100.0, seconds, []
        for module in (evaluated, race, evaluation):
            monkeypatch.setattr(module, "time", SimpleNamespace(perf_counter=lambda: self.now))
        plain = evaluation.fit_grid

        def evaluate(estimator, *rest, **options):
            for name in (n for n, (known, _) in methods().items() if repr(known) == repr(estimator)):
                self.calls.append(name)
                self.now += self.seconds[name]
            return plain(estimator, *rest, **options)

        monkeypatch.setattr(evaluation, "fit_grid", evaluate)


SECONDS = dict.fromkeys(NAMES, 1.0)
"""The model of costs expects about the same for all of these methods if there are few samples."""


class TestBudget:
    def test_without_one_everything_is_tried(self, monkeypatch):
        clock = Clock(monkeypatch, dict.fromkeys(NAMES, 1e6))
        model = AutoClassifier(NAMES, cv=3).fit(S, Y)
        assert len(clock.calls) == 36
        assert {row.seconds for row in model.leaderboard_} == {9e6, 36e6}
        assert (model.left_out_, model.n_folds_) == ([], 9)
        assert str(model.budget_report_) == "3.6e+07 s: 4 methods evaluated on all folds."

    def test_enough_time(self, monkeypatch):
        Clock(monkeypatch, SECONDS)
        model = AutoClassifier(NAMES, time_budget=1e3, cv=4).fit(S, Y)
        assert model.n_folds_ == 12
        assert board(model) == board(fitted(*NAMES))

    def test_what_a_method_needs_is_learned_from_those_before_it(self, monkeypatch):
        """A fold of each method takes a second: there is no time for all of them on four folds."""
        clock = Clock(monkeypatch, SECONDS)
        with pytest.warns(SimilarityWarning, match=r"evaluated on all folds; not tried \(about .* s more\): "):
            model = AutoClassifier(NAMES, time_budget=18.0, cv=4, n_repeats=1).fit(S, Y)
        assert 0 < len(model.left_out_) < 3
        assert not set(model.left_out_) & set(clock.calls)
        assert clock.now - 100 <= 18.0
        assert model.n_folds_ == 4
        kept = [name for name in NAMES if name not in model.left_out_]
        assert board(model) == board(fitted(*kept, n_repeats=1))
        assert list(model.budget_report_.left_out) == model.left_out_

    def test_repetitions_for_which_there_is_no_time_are_left_out(self, monkeypatch):
        """One repetition takes 8 s; a tenth of the time and that of the last fits, at most 4 s, are reserved."""
        clock = Clock(monkeypatch, SECONDS)
        for budget, n_folds in ((60.0, 6), (36.0, 4)):
            clock.now = 100.0
            model = AutoClassifier(NAMES, time_budget=budget, cv=2).fit(S, Y)
            assert (model.n_folds_, model.left_out_) == (n_folds, [])
            assert clock.now - 100 <= budget
        assert (model.budget_report_.n_repeats, model.budget_report_.n_repeats_asked) == (2, 3)

    def test_at_least_one_method_on_all_folds(self, monkeypatch):
        clock = Clock(monkeypatch, dict.fromkeys(NAMES, 5.0))
        with pytest.warns(SimilarityWarning, match="not tried"):
            model = AutoClassifier(NAMES, time_budget=1e-9, cv=4).fit(S, Y)
        (row,) = model.leaderboard_
        assert sorted([row.method, *model.left_out_]) == sorted(NAMES)
        assert model.n_folds_ == len(clock.calls) == 4
        assert len(model.out_of_fold_.labels) == 36
        assert model.predict(S).shape == (36,)

    def test_one_that_fails_is_not_the_one_that_is_always_tried(self, monkeypatch):
        Clock(monkeypatch, {"k-NN": 9.0, "nearest centroid": 9.0})
        monkeypatch.setattr(KNNClassifier, "_fit_path", fail)
        model = AutoClassifier(["k-NN", "nearest centroid"], time_budget=3.0, cv=4).fit(S, Y)
        assert model.best_method_ == "nearest centroid"
        assert model.failures_ == {"k-NN": "RuntimeError: not today"}
        assert model.left_out_ == []

    def test_a_fit_takes_about_the_time_that_it_is_given(self):
        """The whole fit, also the choice, the last fits and the diagnosis; CPU seconds depend little on other work."""
        S, y = problem(300, 12)
        auto = AutoClassifier(time_budget=1.5, dissimilarity="max-minus")
        start = time.process_time()
        with pytest.warns(SimilarityWarning, match="not tried"):
            auto.fit(-np.log(S), y)
        assert time.process_time() - start < 4.5
        assert auto.n_folds_ >= 5
        assert auto.budget_report_.complete

    def test_several_jobs(self):
        with parallel_config(backend="threading"):
            two = AutoClassifier(NAMES, time_budget=1e6, cv=4, n_jobs=2).fit(S, Y)
        assert board(two) == board(fitted(*NAMES))


def fail(*_, **__):
    raise RuntimeError("not today")


class TestFailures:
    @pytest.mark.parametrize("call", [1, 3, 6])  # in the first fold, another one, or another repetition
    def test_the_others_go_on(self, call, monkeypatch):
        fit_path, calls = NearestCentroid._fit_path, []

        def sometimes(self, *parts):
            calls.append(parts)
            return fail() if len(calls) == call else fit_path(self, *parts)

        monkeypatch.setattr(NearestCentroid, "_fit_path", sometimes)
        with pytest.warns(SimilarityWarning, match=r"these methods failed: nearest centroid\. failures_ holds"):
            model = AutoClassifier(NAMES, cv=4).fit(S, Y)
        assert model.failures_ == {"nearest centroid": "RuntimeError: not today"}
        assert board(model) == board(fitted(*(n for n in NAMES if n != "nearest centroid")))

    def test_a_warning_names_the_methods_that_need_all_pairs(self):
        unknown = np.array(S)
        unknown[0, 3] = np.nan
        names = ["k-NN", "SVM (clip)", "SDA", "SDA and BDA fused"]
        with pytest.warns(SimilarityWarning) as caught:
            AutoClassifier(names, cv=4, n_repeats=1).fit(unknown, Y)
        (message,) = [str(w.message) for w in caught if "failures_" in str(w.message)]
        assert "these methods need all pairs: SVM (clip), SDA, SDA and BDA fused; Proximities(X, fill=" in message

    @pytest.mark.parametrize("options", [{}, {"time_budget": 1e6}])
    def test_where_all_fail_it_says_why(self, options, monkeypatch):
        monkeypatch.setattr(NearestCentroid, "_fit_path", fail)
        with pytest.raises(ValueError, match=r"methods: none could be used; nearest centroid failed with: .*not today"):
            AutoClassifier(["nearest centroid"], cv=4, **options).fit(S, Y)

    def test_a_failed_fit_leaves_the_model_as_it_was(self, monkeypatch):
        model = AutoClassifier(["nearest centroid"], cv=4).fit(S, Y)
        before = model.predict_proba(S)
        monkeypatch.setattr(NearestCentroid, "_fit_path", fail)
        with pytest.raises(ValueError, match="none could be used"):
            model.fit(S[:20, :20], Y[:20])
        assert_array_equal(model.predict_proba(S), before)


class TestOutOfFold:
    def test_it_is_the_row_of_the_choice(self):
        y = np.array(["low", "mid", "high"])[Y]
        for prefer in ("accuracy", "simple"):
            model = AutoClassifier(NAMES, cv=4, prefer=prefer).fit(S, y)
            row = named(model)[model.best_method_]
            found = model.out_of_fold_
            labels, posteriors = found.labels, found.proba
            assert found.nearest.max() <= np.where(np.eye(36), -np.inf, S).max()
            assert found.nearest.shape == (36,)
            assert_array_equal(found.samples, np.arange(36))
            assert found.members.shape == (len(model.best_estimator_.members_), 36, 3)
            assert np.mean(labels != y) == row.error
            assert_array_equal(model.classes_[posteriors.argmax(axis=1)], labels)
            truth = np.searchsorted(model.classes_, y)
            assert row.loss == pytest.approx(np.mean(np.sum((posteriors - np.eye(3)[truth]) ** 2, axis=1)))

    def test_folds_that_do_not_test_every_sample(self):
        model = AutoClassifier(["k-NN", "SDA"], cv=ShuffleSplit(3, test_size=5, random_state=0)).fit(S, Y)
        assert model.n_folds_ == 3
        tested = np.unique(np.concatenate([test for _, test in ShuffleSplit(3, test_size=5, random_state=0).split(S)]))
        assert_array_equal(model.out_of_fold_.samples, tested)
        assert np.mean(model.out_of_fold_.labels != Y[tested]) == named(model)[model.best_method_].error


class TestClasses:
    def test_one_sample(self):
        """It is in every training part, predicted like any other class, and not tested."""
        y = np.array(["a", "b"])[Y % 2].astype(object)
        y[5] = "lonely"
        model = AutoClassifier(NAMES, cv=3).fit(S, y)
        assert_array_equal(model.not_testable_, ["lonely"])
        assert_array_equal(model.classes_, ["a", "b", "lonely"])
        assert_array_equal(model.out_of_fold_.samples, np.delete(np.arange(36), 5))
        assert model.failures_ == {}
        assert_allclose(model.predict_proba(S).sum(axis=1), 1)
        assert all("lonely" in member.estimator.classes_ for member in model.best_estimator_.members_)
        assert fitted(*NAMES).not_testable_.size == 0

    @pytest.mark.filterwarnings("error", "ignore:The number of unique classes")
    def test_many_small_classes(self):
        rng = np.random.default_rng(0)
        y = np.repeat(np.arange(47), rng.integers(2, 5, 47))
        centres = rng.normal(size=(47, 4))
        X = centres[y] + 0.3 * rng.normal(size=(len(y), 4))
        similarities = np.exp(-((X[:, None] - X[None]) ** 2).sum(-1))
        model = AutoClassifier(["k-NN", "nearest centroid"], cv=5, n_repeats=1, nested_cv=2).fit(similarities, y)
        assert (model.n_folds_, model.not_testable_.size, model.failures_) == (4, 0, {})
        assert model.leaderboard_[0].error < 0.5
        assert model.nested_error_ < 0.6

    def test_posteriors_with_zeros(self):
        """A nearest neighbour is certain; where it is wrong the log loss must stay finite."""
        for scoring in (None, "neg_log_loss"):
            model = AutoClassifier(["k-NN", "SDA"], cv=3, n_repeats=1, scoring=scoring).fit(np.eye(36) + 0.1 * S, Y)
            assert all(np.isfinite(row.loss) for row in model.leaderboard_)
            assert np.all(model.predict_proba(S) > 0)

    def test_a_fold_without_a_class(self):
        y = np.repeat([0, 1, 2], [6, 15, 15])
        model = AutoClassifier(NAMES, cv=KFold(6)).fit(S, y)  # the first class is tested by one fold
        assert model.failures_ == {}
        assert model.out_of_fold_.proba.shape == (36, 3)
        assert np.all(model.out_of_fold_.labels[:6] != 0)
        assert model.not_testable_.size == 0
        assert_array_equal(model.classes_, [0, 1, 2])


GROUPS = np.arange(36) // 3
"""Each group has samples of all classes."""


class TestGroups:
    @pytest.mark.parametrize("cv", [4, GroupKFold(4), LeaveOneGroupOut()])
    @pytest.mark.parametrize("routing", [False, True])
    def test_no_fold_divides_them(self, cv, routing, monkeypatch):
        seen = []

        def recorded(samples, table, folds, *rest, **options):
            seen.extend(folds)
            return evaluation.evaluate(samples, table, folds, *rest, **options)

        monkeypatch.setattr(method_results, "evaluate", recorded)
        with sklearn.config_context(enable_metadata_routing=routing):
            model = AutoClassifier(["k-NN", "nearest centroid"], cv=cv).fit(S, Y, groups=GROUPS.astype(str))
        assert len(seen) == model.n_folds_ == (12 if cv == 4 else cv.get_n_splits(S, Y, GROUPS))
        assert all(not set(GROUPS[train]) & set(GROUPS[test]) for train, test in seen)
        assert_array_equal(np.unique(np.concatenate([test for _, test in seen])), np.arange(36))

    def test_a_class_that_a_training_part_lacks(self):
        """All samples of a class are in one group: that fold cannot predict it."""
        y = np.where(GROUPS == 0, 2, Y % 2)
        model = AutoClassifier(NAMES, cv=GroupKFold(4)).fit(S, y, groups=GROUPS)
        assert model.failures_ == {}
        own = y == 2
        assert np.all(model.out_of_fold_.labels[own] != 2)
        assert_allclose(model.out_of_fold_.proba.sum(axis=1), 1)
        assert_array_equal(model.classes_, [0, 1, 2])
        # With folds of its own making it trains on the class and does not test it.
        again = AutoClassifier(NAMES, cv=4).fit(S, y, groups=GROUPS)
        assert_array_equal(again.not_testable_, [2])

    def test_two_classes_of_which_a_training_part_lacks_one(self):
        y = (GROUPS == 0).astype(int)
        with pytest.raises(ValueError, match=r"none could be used; SVM .clip. failed with: ValueError: .*class"):
            AutoClassifier(["SVM (clip)"], cv=GroupKFold(4)).fit(S, y, groups=GROUPS)

    def test_they_reach_the_outer_folds(self):
        names = ["k-NN", "nearest centroid"]
        for cv in (3, GroupKFold(3)):
            model = AutoClassifier(names, cv=cv, n_repeats=1, nested_cv=3).fit(S, Y, groups=GROUPS)
            errors = []
            for train, test in stratified_folds(Y, 3, GROUPS, 0):
                assert not set(GROUPS[train]) & set(GROUPS[test])
                inner = AutoClassifier(names, cv=cv, n_repeats=1)
                inner.fit(S[np.ix_(train, train)], Y[train], groups=GROUPS[train])
                errors.append(np.mean(inner.predict(S[np.ix_(test, train)]) != Y[test]))
            assert model.nested_error_ == pytest.approx(np.mean(errors))

    def test_metadata_routing(self):
        names = ["k-NN", "nearest centroid"]
        expected = []
        for train, test in GroupKFold(3).split(S, Y, GROUPS):
            model = AutoClassifier(names, cv=GroupKFold(4))
            model.fit(S[np.ix_(train, train)], Y[train], groups=GROUPS[train])
            expected.append(model.score(S[np.ix_(test, train)], Y[test]))
        given = {"cv": GroupKFold(3), "params": {"groups": GROUPS}, "error_score": "raise"}
        with sklearn.config_context(enable_metadata_routing=True):
            found = cross_validate(AutoClassifier(names, cv=GroupKFold(4)), S, Y, **given)
            assert_allclose(found["test_score"], expected)
            with pytest.raises(ValueError, match="groups"):  # it is not known whether folds of its own must keep them
                cross_validate(AutoClassifier(names, cv=4), S, Y, **given)
            requested = AutoClassifier(names, cv=4, n_repeats=1).set_fit_request(groups=True)
            found = cross_validate(requested, S, Y, return_estimator=True, return_indices=True, **given)
        train = found["indices"]["train"][0]
        same = AutoClassifier(names, cv=4, n_repeats=1).fit(S[np.ix_(train, train)], Y[train], groups=GROUPS[train])
        assert board(found["estimator"][0]) == board(same)

    def test_groups_that_do_not_fit(self):
        for wrong in (GROUPS[1:], GROUPS[:, None], "one"):
            with pytest.raises(ValueError, match=r"groups must have one entry per sample \(36\)"):
                AutoClassifier(["k-NN"], cv=3).fit(S, Y, groups=wrong)
        with pytest.raises(ValueError, match=r"cv=GroupKFold.* does not split these samples.*groups"):
            AutoClassifier(["k-NN"], cv=GroupKFold(3)).fit(S, Y)
        with pytest.raises(ValueError, match="y must have a class with samples in at least two groups"):
            AutoClassifier(["k-NN"], cv=3).fit(S, Y, groups=Y)


class TestNested:
    def test_it_is_a_loop_over_outer_folds(self):
        model = AutoClassifier(NAMES, cv=3, n_repeats=1, nested_cv=3).fit(S, Y)
        errors = []
        for train, test in stratified_folds(Y, 3, None, 0):
            inner = AutoClassifier(NAMES, cv=3, n_repeats=1).fit(S[np.ix_(train, train)], Y[train])
            errors.append(np.mean(inner.predict(S[np.ix_(test, train)]) != Y[test]))
        assert model.nested_error_ == pytest.approx(np.mean(errors))
        assert model.nested_standard_error_ == pytest.approx(stats.sem(errors))
        assert board(model) == board(fitted(*NAMES, cv=3, n_repeats=1))
        assert fitted(*NAMES).nested_error_ is None

    def test_raw_objects(self):
        objects, y = words(), np.arange(30) % 2
        options = {"cv": 2, "nested_cv": 2, "n_repeats": 1}
        names = ["k-NN", "SVM (clip)"]
        model = AutoClassifier(names, similarity="levenshtein", **options).fit(objects, y)
        D = pairwise(objects, similarity="levenshtein")
        matrix = AutoClassifier(names, dissimilarity="max-minus", **options).fit(D, y)
        assert model.nested_error_ == matrix.nested_error_
        assert board(model) == board(matrix)
        groups = np.arange(30) // 2
        for each, X in ((model, objects), (matrix, D)):
            each.fit(X, y, groups=groups)
        assert model.nested_error_ == matrix.nested_error_

    def test_what_learns_learns_from_each_outer_fold(self):
        voting = load_voting()
        X, y = voting.data[:60], voting.target[:60]
        model = AutoClassifier(["k-NN"], cv=3, n_repeats=1, nested_cv=3, similarity="vdm").fit(X, y)
        inner = AutoClassifier(["k-NN"], cv=3, n_repeats=1, similarity="vdm")
        parts = stratified_folds(y, 3, None, 0)
        expected = [np.mean(inner.fit(X[train], y[train]).predict(X[test]) != y[test]) for train, test in parts]
        assert model.nested_error_ == pytest.approx(np.mean(expected))

    def test_too_few_samples_for_it(self):
        with pytest.raises(
            ValueError, match="nested_cv=3 leaves too few samples in an outer fold: y must have a class of"
        ):
            AutoClassifier(["k-NN"], cv=2, nested_cv=3).fit(S[:4, :4], [0, 0, 1, 1])


class TestInput:
    def test_raw_objects_and_their_matrix_give_the_same(self):
        objects, y = words(), np.array(["odd", "even"])[np.arange(30) % 2]
        raw = AutoClassifier(NAMES, cv=3, n_repeats=1, similarity="levenshtein").fit(objects[:24], y[:24])
        D = pairwise(objects[:24], similarity="levenshtein")
        matrix = AutoClassifier(NAMES, cv=3, n_repeats=1, dissimilarity="max-minus").fit(D, y[:24])
        assert board(raw) == board(matrix)
        rows = pairwise(objects[24:], objects[:24], similarity="levenshtein")
        assert_allclose(raw.predict_proba(objects[24:]), matrix.predict_proba(rows))
        assert not hasattr(raw, "n_features_in_")
        assert_array_equal(raw.out_of_fold_.labels, matrix.out_of_fold_.labels)

    def test_similarities_that_learn(self):
        """Each fold learns from its training part."""
        voting = load_voting()
        X, y = voting.data[:80], voting.target[:80]
        model = AutoClassifier(["k-NN"], cv=3, n_repeats=1, similarity="vdm", prefer="simple").fit(X, y)
        folds = stratified_folds(y, 3, None, 0)
        found = MethodResults(
            Samples(Contract("vdm"), X, y), methods(["k-NN"], similarity="vdm"), [folds], Loss(None, None, None)
        )
        Race(found, 0.0, None, None, False).run()
        estimator = clone(methods(similarity="vdm")["k-NN"][0]).set_params(**model.best_params_)
        answers = np.empty((80, 2))
        for train, test in folds:
            answers[test] = clone(estimator).fit(X[train], y[train]).predict_proba(X[test])
        posteriors = found.runs["k-NN"].posteriors[found.runs["k-NN"].points.index(model.best_params_)]
        expected = calibration.cross_fitted(answers, found.codes, found.parts, floor_of(80))
        assert_allclose(posteriors, expected, atol=1e-4)
        assert model.leaderboard_[0].optimistic_error == np.mean(posteriors.argmax(axis=1) != found.codes)

    def test_the_map_of_dissimilarities_is_a_part_of_the_grid(self):
        table = methods(dissimilarity="exp:3")
        maps = {name: grid for name, (_, grid) in table.items() if any("dissimilarity" in p for p in grid)}
        assert maps["SDA"]["dissimilarity"] == ["exp:3", "max-minus", "gauss:0.5", "gauss", "gauss:2", "exp:0.5", "exp"]
        assert maps["KRI k-NN"]["dissimilarity"] == ["exp:3", "max-minus", "gauss"]
        assert "pseudoeuclideanembedding__dissimilarity" in maps["Fisher (embedded)"]
        assert "k-NN" not in maps  # it uses the order only
        assert not any("dissimilarity" in p for _, grid in methods().values() for p in grid)
        D = -8 * np.log(S)
        names = ["nearest centroid", "SVM (clip)"]
        model = AutoClassifier(names, cv=3, n_repeats=1, dissimilarity="max-minus").fit(D, Y)
        rows = named(model)
        assert all(rows[name].parameters["dissimilarity"] in table["SDA"][1]["dissimilarity"] for name in names)
        for member in model.best_estimator_.members_:
            same = clone(member.estimator).fit(D, Y)
            assert_array_equal(same.predict(D), member.estimator.predict(D))

    @pytest.mark.parametrize(
        "kind",
        [np.asarray, np.ndarray.tolist, sparse.csr_array, pd.DataFrame, lambda S: Proximities(S, ids=range(len(S)))],
    )
    def test_any_kind_of_matrix(self, kind):
        names = ["k-NN", "SVM (clip)"]
        model = AutoClassifier(names, cv=2, n_repeats=1).fit(kind(S), pd.Series(Y, index=range(7, 43)))
        same = fitted(*names, cv=2, n_repeats=1)
        assert board(model) == board(same)
        assert_allclose(model.predict_proba(kind(S)), same.predict_proba(S))

    def test_features_and_similarities(self):
        features = np.random.default_rng(0).normal(size=(36, 2)) + Y[:, None]
        X = Proximities(S, features)
        model = AutoClassifier(["SDA and BDA fused", "k-NN"], cv=2, n_repeats=1).fit(X, Y)
        assert model.failures_ == {}
        assert model.predict_proba(X).shape == (36, 3)

    @pytest.mark.parametrize("labels", [np.array([False, True, True]), np.array(["a", "bb", "c"], dtype=object)])
    def test_labels_of_any_kind(self, labels):
        model = AutoClassifier(["k-NN"], cv=3, n_repeats=1).fit(S, labels[Y])
        assert set(model.predict(S)) <= set(labels)
        assert_array_equal(model.classes_, np.unique(labels))

    @pytest.mark.parametrize("scale", [1e-150, 1e150])
    def test_any_scale(self, scale):
        names = ["k-NN", "nearest centroid", "local SDA"]
        model, plain = AutoClassifier(names, cv=3).fit(scale * S, Y), fitted(*names, cv=3)
        assert [row[:4] for row in board(model)] == [row[:4] for row in board(plain)]
        assert_allclose(model.predict_proba(scale * S), plain.predict_proba(S), atol=1e-4)

    @pytest.mark.parametrize("cv", [LeaveOneOut(), KFold(3), list(KFold(3).split(S)), ShuffleSplit(1, random_state=0)])
    def test_any_folds(self, cv):
        model = AutoClassifier(["k-NN", "nearest centroid"], cv=cv).fit(S, Y)
        assert model.n_folds_ == (cv.get_n_splits(S) if hasattr(cv, "split") else 3)
        assert model.failures_ == {}
        tested = 4 if isinstance(cv, ShuffleSplit) else 36
        assert (model.leaderboard_[0].error * tested) % 1 == pytest.approx(0)

    def test_as_a_part_of_a_fused_classifier(self):
        model = FusedClassifier([("auto", AutoClassifier(["k-NN", "svm-clip"], cv=2, n_repeats=1))]).fit(S, Y)
        assert_allclose(model.predict_proba(S), model.parts_["auto"].predict_proba(S))

    def test_within_cross_validation(self):
        scores = cross_val_score(AutoClassifier(["k-NN", "svm-clip"], cv=2), S, Y, cv=3, error_score="raise")
        assert scores.shape == (3,)


class TestWork:
    def test_it_is_shared_among_methods(self, monkeypatch):
        counts = {"eigh": 0, "top_k": 0}
        decompose, select = eigen._decompose, topk._selected

        def decomposed(S):
            counts["eigh"] += 1
            return decompose(S)

        def selected(S, k):
            counts["top_k"] += 1
            return select(S, k)

        monkeypatch.setattr(eigen, "_decompose", decomposed)
        monkeypatch.setattr(topk, "_selected", selected)
        spectral = ["SVM (clip)", "SVM (flip)", "SVM (shift)", "SVM (square)"]
        found = results_of([*spectral, "k-NN", "affinity k-NN", "local SDA"], 4, 1)
        assert len(found.runs) == 7
        assert counts == {"eigh": 4, "top_k": 4}

    def test_jobs_change_nothing(self):
        one = AutoClassifier(NAMES[:3], cv=2, nested_cv=2, n_repeats=2).fit(S, Y)
        with parallel_config(backend="threading"):
            two = AutoClassifier(NAMES[:3], cv=2, nested_cv=2, n_repeats=2, n_jobs=2).fit(S, Y)
        assert board(one) == board(two)
        assert one.nested_error_ == two.nested_error_
        assert_array_equal(one.out_of_fold_.proba, two.out_of_fold_.proba)

    def test_the_random_state(self):
        one, other = fitted(*NAMES, random_state=0), fitted(*NAMES, random_state=5)
        assert board(one) == board(fitted(*NAMES))
        assert board(one) != board(other)

    def test_clone_pickle_and_file(self, tmp_path):
        model = fitted(*NAMES, "Fisher (embedded)", n_repeats=1)
        again = pickle.loads(pickle.dumps(model))
        assert_array_equal(again.predict_proba(S), model.predict_proba(S))
        assert again.leaderboard_ == model.leaderboard_
        assert clone(model).get_params() == model.get_params()
        save_model(tmp_path / "model", model)
        loaded = load_model(tmp_path / "model")
        assert_array_equal(loaded.predict_proba(S), model.predict_proba(S))
        assert str(loaded.explain(S[:1])) == str(model.explain(S[:1]))
        for method in ("predict", "predict_proba", "explain"):
            with pytest.raises(NotFittedError):
                getattr(clone(model), method)(S[:1])

    def test_it_predicts_from_the_columns_that_the_members_need(self):
        model = AutoClassifier(["P-SVM", "SVM (shift)"], cv=2, n_repeats=1).fit(S, Y > 0)
        assert 0 < len(model.support_columns_) < 36
        own = [member.estimator.support_columns_ for member in model.best_estimator_.members_]
        assert_array_equal(model.support_columns_, np.unique(np.concatenate(own)))
        assert_allclose(model.predict_proba(S[:, model.support_columns_]), model.predict_proba(S))


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"methods": "k-NN"}, "methods must be 'all' or a list of names; got 'k-NN'"),
        ({"methods": None}, "methods must be 'all' or a list of names; got None"),
        ({"methods": []}, "methods must be among .*; got none"),
        ({"methods": ["k-NN", "kNN"]}, "methods must be among .*; got 'kNN'"),
        ({"methods": [3]}, "methods must be among .*; got 3"),
        ({"time_budget": 0}, "time_budget must be a finite number above 0"),
        ({"time_budget": "1"}, "time_budget must be a finite number above 0"),
        ({"cv": 1}, "cv must be at least 2; got 1"),
        ({"cv": True}, "cv must be at least 2; got True"),
        ({"cv": []}, "cv must give at least one fold"),
        ({"cv": [([0, 1, 2], [36])]}, "cv=.* does not split these samples: index 36 is out of bounds"),
        ({"cv": "five"}, "cv='five' does not split these samples"),
        ({"prefer": "fast"}, r"prefer must be one of \('accuracy', 'simple'\); got 'fast'"),
        ({"scoring": "brier"}, "scoring must be 'neg_brier_score'.*; got 'brier'"),
        ({"scoring": lambda *_: "good"}, "scoring: a scorer must need only the labels and the posteriors"),
        ({"costs": np.eye(2)}, r"costs must have shape \(3, 3\)"),
        ({"priors": [0.5, 0.5]}, "priors must have one entry per class"),
        ({"class_weight": {0: 0, 1: 1, 2: 1}}, "class_weight must hold finite numbers above 0"),
        ({"n_repeats": 0}, "n_repeats must be None or an integer of at least 1; got 0"),
        ({"n_repeats": 1.5}, "n_repeats must be None or an integer of at least 1"),
        ({"random_state": -1}, "random_state must be None or an integer of at least 0; got -1"),
        ({"random_state": np.random.RandomState(0)}, "random_state must be None or an integer"),
        ({"nested_cv": 1}, "nested_cv must be None or an integer of at least 2; got 1"),
        ({"nested_cv": 2.0}, "nested_cv must be None or an integer of at least 2"),
        ({"nested_cv": 2, "cv": list(KFold(3).split(S))}, "nested_cv needs a cv that splits any number of samples"),
        ({"dissimilarity": "upside-down"}, "dissimilarity must be one of"),
        ({"similarity": "levenstein"}, "levenshtein"),
    ],
)
def test_bad_parameters_are_refused(parameters, message):
    with pytest.raises(ValueError, match=message):
        AutoClassifier(**{"methods": ["k-NN"], "cv": 3, **parameters}).fit(S, Y)


@pytest.mark.parametrize(
    ("X", "y", "message"),
    [
        (S, Y[:5], "y must have one label per sample"),
        (S, np.zeros(36), "y must have at least two classes"),
        (S[:3, :3], Y[:3], "y must have a class of at least two samples"),
        (S[:5], Y[:5], "X must be square"),
        (np.full((36, 36), np.inf), Y, "X contains infinity"),
        ({"a": S, "b": S[:5, :5]}, Y, "S: all similarities must have the same samples and so the same shape"),
    ],
)
def test_bad_data_is_refused(X, y, message):
    with pytest.raises(ValueError, match=message):
        AutoClassifier(["k-NN"], cv=3).fit(X, y)


@pytest.mark.filterwarnings("error")
def test_only_what_is_read_causes_warnings():
    """Members are fitted to a matrix with negative eigenvalues, and a scorer misses predictions of a class."""
    noise = np.random.default_rng(0).normal(scale=0.1, size=S.shape)
    indefinite = S + noise + noise.T + np.eye(36)
    y = np.where(np.arange(36) < 3, 2, Y % 2)
    options = {"cv": 2, "n_repeats": 1, "scoring": "precision_macro"}
    with pytest.warns(SimilarityWarning, match="negative eigenvalue"):
        SimilaritySVC(spectrum="clip").fit(indefinite, y)
    AutoClassifier(["SVM (clip)"], nested_cv=2, **options).fit(indefinite, y)
    compare_similarities({"a": indefinite, "b": S}, y, methods=["SVM (clip)"], **options)
    with pytest.raises(UserWarning, match="of the caller"):
        warnings.warn("of the caller", stacklevel=1)


def test_the_names():
    table = methods()
    assert len({slug(name) for name in table}) == len(table)
    assert list(methods(["SVM clip", "svm-clip", "K-nn"])) == ["k-NN", "SVM (clip)"]
