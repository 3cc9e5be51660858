"""The automatic choice of a method: against searches, loops and rules written out, a false clock, and bad input."""

import pickle
from functools import cache
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from joblib import parallel_config
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse, stats
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import (
    GroupKFold,
    KFold,
    LeaveOneOut,
    ShuffleSplit,
    StratifiedKFold,
    cross_val_predict,
    cross_val_score,
)

from similitude import AutoClassifier, FusedClassifier, NearestCentroid, PathSearchCV, Proximities, diagnose
from similitude.datasets import load_voting
from similitude.numerics import eigen, topk
from similitude.reader import Reader, Samples
from similitude.search import auto, contest, evaluation
from similitude.search.contest import FUSED, Run, at_best, standard_error
from similitude.search.methods import LOCAL, methods, ordered, slug
from similitude.similarities import pairwise

NAMES = ["k-NN", "nearest centroid", "SVM (clip)", "local SDA"]


def problem(n=36, n_classes=3, seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % n_classes
    X = rng.normal(size=(n, 3))
    X[:, 0] += 1.2 * y
    return np.exp(-((X[:, None] - X[None]) ** 2).sum(-1) / 8), y


S, Y = problem()


def folds(n_splits=4, y=Y):
    return StratifiedKFold(n_splits, shuffle=True, random_state=0).split(np.zeros(len(y)), y)


def words(n=30):
    rng = np.random.default_rng(3)
    return ["".join(rng.choice(list("abcc" if i % 2 else "abbc"), size=rng.integers(5, 9))) for i in range(n)]


@cache
def fitted(*names, cv=4, **options):
    """Models that tests only look at are fitted once."""
    return AutoClassifier(list(names), cv=cv, **options).fit(S, Y)


def board(model):
    return [(row.method, row.error, row.parameters, row.chosen) for row in model.leaderboard_]


class TestLeaderboard:
    @pytest.mark.parametrize("names", [NAMES, ["KRI k-NN", "Fisher (embedded)", "P-SVM"]])
    def test_it_is_what_searches_on_the_same_folds_find(self, names):
        model = fitted(*names)
        assert sorted(row.method for row in model.leaderboard_) == sorted(names)
        errors = [row.error for row in model.leaderboard_]
        assert errors == sorted(errors)
        assert (model.n_folds_, model.failures_) == (4, {})
        best = None
        for row in model.leaderboard_:
            estimator, grid = methods()[row.method]
            search = PathSearchCV(estimator, grid, cv=list(folds())).fit(S, Y)
            assert_allclose(row.optimistic_error, 1 - search.best_score_, atol=1e-12)
            at = search.cv_results_["params"].index(row.parameters)
            own = np.array([1 - search.cv_results_[f"split{f}_test_score"][at] for f in range(4)])
            assert_allclose(own.mean(), row.optimistic_error, atol=1e-12)
            assert_allclose(row.standard_error, stats.sem(own), atol=1e-12)
            if best is None:
                best, expected = own, None
            else:
                expected = exact_p_value(own, best)
            assert row.p_value == pytest.approx(expected)
            assert row.seconds > 0

    def test_the_chosen_one_is_fitted_on_everything(self):
        model = fitted("k-NN", "local SDA", "Fisher (embedded)")
        (chosen,) = [row for row in model.leaderboard_ if row.chosen]
        assert (chosen.method, chosen.parameters) == (model.best_method_, model.best_params_)
        same = clone(methods()[model.best_method_][0]).set_params(**model.best_params_).fit(S, Y)
        assert_array_equal(model.predict(S), same.predict(S))
        assert_array_equal(model.predict_proba(S), same.predict_proba(S))
        assert model.n_features_in_ == 36
        assert model.score(S, Y) > 0.6
        assert str(model.diagnosis_) == str(diagnose(S, Y))

    def test_probabilities_where_a_method_can_have_them(self):
        model = fitted("svm-clip", cv=3)
        assert model.best_estimator_.probability
        assert_allclose(model.predict_proba(S).sum(axis=1), 1)
        assert model.decision_function(S).shape == (36, 3)
        centroid = AutoClassifier(["nearest centroid"], cv=3).fit(S, Y)
        assert not hasattr(centroid, "predict_proba")
        assert centroid.out_of_fold_.proba is None

    def test_a_class_too_small_for_probabilities(self):
        y = np.repeat([0, 1, 2], [1, 17, 18])
        model = AutoClassifier(["svm-clip"], cv=3).fit(S, y)
        assert not model.best_estimator_.probability
        assert model.out_of_fold_.proba is None
        assert model.out_of_fold_.labels.shape == (36,)
        # Two samples are enough for everything, but not for the folds.
        model.fit(S, np.repeat([0, 1, 2], [2, 17, 17]))
        assert model.best_estimator_.probability
        assert model.out_of_fold_.proba is None
        assert model.n_folds_ == 2


class TestError:
    """What the choice of a grid point costs is in the error."""

    def test_one_point_costs_nothing(self):
        one = run("k-NN", [0.1, 0.3])
        assert one.error == one.optimistic_error == pytest.approx(0.2)
        assert run("k-NN", [0.1, 0.3], points=7).error == pytest.approx(0.2)

    def test_points_that_know_nothing(self):
        """The best of thirty throws of dice looks good; a throw of dice it is."""
        rng = np.random.default_rng(0)
        found = []
        for _ in range(20):
            answers = [rng.integers(0, 2, (30, 25)) for _ in range(4)]
            found.append(Run("dice", [{"p": i} for i in range(30)], answers, [np.zeros(25, dtype=int)] * 4))
        assert np.mean([dice.optimistic_error for dice in found]) < 0.42
        assert np.mean([dice.error for dice in found]) == pytest.approx(0.5, abs=0.015)

    def test_it_is_its_definition(self):
        rng = np.random.default_rng(1)
        rates = np.linspace(0.2, 0.35, 12)[:, None]
        answers = [(rng.random((12, 30)) < rates).astype(int) for _ in range(3)]
        some = Run("some", [{"p": i} for i in range(12)], answers, [np.zeros(30, dtype=int)] * 3)
        wrong, slow = np.concatenate(answers, axis=1), []
        for _ in range(2000):
            drawn = rng.integers(0, 90, 90)
            left = np.setdiff1d(np.arange(90), drawn)
            slow.append(wrong[np.argmin(wrong[:, drawn].mean(axis=1)), left].mean())
        assert some.optimistic_error == wrong.mean(axis=1).min()
        assert some.error == pytest.approx(np.mean(slow), abs=0.015)
        assert some.error > some.optimistic_error + 0.02


def exact_p_value(a, b):
    """The signed-rank test over all signs of the differences, ties and all."""
    d = np.round(a - b, 12)
    d = d[d != 0]
    if len(d) == 0:
        return 1.0
    ranks = stats.rankdata(np.abs(d))
    signs = np.array(np.meshgrid(*[[0, 1]] * len(d))).reshape(len(d), -1)
    return np.mean(ranks @ signs >= ranks[d > 0].sum() - 1e-9)


def run(name, errors, n=20, points=1):
    """A method that errs on such shares of the n test samples of each fold."""
    truths = [np.zeros(n, dtype=int) for _ in errors]
    answers = [np.array([np.arange(n) < round(e * n)] * points).astype(int) for e in errors]
    return Run(name, [{"point": i} for i in range(points)], answers, truths)


def chosen_of(*runs):
    model = AutoClassifier()
    runs_of = {r.name: r for r in runs}
    model._choose(SimpleNamespace(runs=runs_of, failures={}, left_out=[], n_folds=len(runs[0].answers)))
    return model.best_method_, [row.method for row in model.leaderboard_]


class TestTheRule:
    def test_behind_by_less_than_a_standard_error(self):
        best = run("complicated", [0.1, 0.2, 0.1, 0.4])
        assert best.standard_error == pytest.approx(stats.sem([0.1, 0.2, 0.1, 0.4]))  # 0.07
        assert chosen_of(run("simple", [0.3, 0.3, 0.2, 0.2]), best) == ("simple", ["complicated", "simple"])
        assert chosen_of(run("simple", [0.3, 0.3, 0.3, 0.3]), best) == ("complicated", ["complicated", "simple"])

    def test_the_simplest_of_those_that_are_level(self):
        runs = [run("a", [0.9, 0.9]), run("b", [0.3, 0.1]), run("c", [0.2, 0.2]), run("d", [0.0, 0.2])]
        assert chosen_of(*runs) == ("b", ["d", "b", "c", "a"])
        assert chosen_of(*runs[::-1])[0] == "d"

    def test_ties_and_single_folds(self):
        assert chosen_of(run("a", [0.2, 0.3]), run("b", [0.3, 0.2])) == ("a", ["a", "b"])
        assert chosen_of(run("a", [0.25]), run("b", [0.2])) == ("b", ["b", "a"])
        assert standard_error(np.array([0.3])) == 0

    def test_the_first_of_the_best_points(self):
        tied = run("a", [0.2, 0.1], points=3)
        tied.answers[0][0, :5] = 1  # one error more at the first point
        tied.answers[0][0, 5:] = 0
        assert tied.parameters == {"point": 1}
        assert_allclose(tied.errors, [0.2, 0.1])
        assert [labels.sum() for labels in tied.labels] == [4, 2]


class Clock:
    """Time passes only where a method is evaluated: so many seconds for each."""

    def __init__(self, monkeypatch, seconds):
        self.now, self.seconds, self.calls = 100.0, seconds, []
        for module in (auto, contest):
            monkeypatch.setattr(module, "time", SimpleNamespace(perf_counter=lambda: self.now))
        monkeypatch.setattr(evaluation, "time", SimpleNamespace(perf_counter=lambda: self.now))
        plain = evaluation.fit_grid

        def evaluate(estimator, *rest, **options):
            # The chosen method, at its best parameters, is evaluated once more for its posteriors.
            for name in (n for n, (known, _) in methods().items() if repr(known) == repr(estimator)):
                self.calls.append(name)
                self.now += self.seconds[name]
            return plain(estimator, *rest, **options)

        monkeypatch.setattr(evaluation, "fit_grid", evaluate)


class TestBudget:
    def test_without_one_everything_is_tried(self, monkeypatch):
        clock = Clock(monkeypatch, dict.fromkeys(NAMES, 1e6))
        model = AutoClassifier(NAMES, cv=3).fit(S, Y)
        assert len(clock.calls) == 12
        assert {row.seconds for row in model.leaderboard_} == {3e6}

    def test_what_does_not_fit_is_left_out(self, monkeypatch):
        clock = Clock(monkeypatch, {"k-NN": 1.0, "SVM (clip)": 9.0, "local SDA": 2.0, "nearest centroid": 1.0})
        model = AutoClassifier(NAMES, time_budget=30.0, cv=4).fit(S, Y)
        assert sorted(row.method for row in model.leaderboard_) == ["k-NN", "local SDA", "nearest centroid"]
        assert model.left_out_ == ["SVM (clip)"]
        assert clock.calls.count("SVM (clip)") == 1
        assert clock.calls[0] == "k-NN"
        assert model.n_folds_ == 4
        whole = fitted(*(n for n in NAMES if n != "SVM (clip)"))
        assert board(model) == board(whole)
        assert whole.left_out_ == []

    def test_half_of_it_is_for_the_first_fold(self, monkeypatch):
        clock = Clock(monkeypatch, dict.fromkeys(NAMES, 4.0))
        model = AutoClassifier(NAMES, time_budget=10.0, cv=4).fit(S, Y)
        assert len(set(clock.calls)) == 2
        assert sorted([*model.left_out_, *(row.method for row in model.leaderboard_)]) == sorted(NAMES)

    def test_where_it_runs_out_the_folds_done_decide(self, monkeypatch):
        clock = Clock(monkeypatch, dict.fromkeys(NAMES, 1.0))
        model = AutoClassifier(["k-NN"], time_budget=4.5, cv=4).fit(S, Y)
        assert model.n_folds_ == 4
        clock.seconds = {"k-NN": 2.0}
        model.fit(S, Y)
        assert model.n_folds_ == 3
        # The sample of every fold has an answer all the same.
        expected = cross_val_predict(at_best(*chosen(model)), S, Y, cv=list(folds()))
        assert_array_equal(model.out_of_fold_.labels, expected)
        model.set_params(time_budget=1e-9).fit(S, Y)
        assert model.n_folds_ == 2

    def test_one_that_fails_is_not_the_one_that_is_always_tried(self, monkeypatch):
        Clock(monkeypatch, {"k-NN": 1.0, "SVM (clip)": 9.0, "nearest centroid": 9.0})
        monkeypatch.setattr("similitude.neighbors.knn.KNNClassifier._fit_path", fail)
        model = AutoClassifier(["k-NN", "SVM (clip)"], time_budget=3.0, cv=4).fit(S, Y)
        assert model.best_method_ == "SVM (clip)"
        assert model.failures_ == {"k-NN": "RuntimeError: not today"}
        assert model.left_out_ == []

    def test_several_jobs(self):
        with parallel_config(backend="threading"):
            two = AutoClassifier(NAMES, time_budget=1e6, cv=4, n_jobs=2).fit(S, Y)
        assert board(two) == board(fitted(*NAMES))


def fail(*_, **__):
    raise RuntimeError("not today")


def chosen(model):
    return methods()[model.best_method_][0], model.best_params_


class TestFailures:
    def test_the_others_go_on(self, monkeypatch):
        fit_path, calls = NearestCentroid._fit_path, []

        def sometimes(self, *parts):
            calls.append(parts)
            return fail() if len(calls) == 3 else fit_path(self, *parts)

        monkeypatch.setattr(NearestCentroid, "_fit_path", sometimes)
        model = AutoClassifier(NAMES, cv=4).fit(S, Y)
        assert model.failures_ == {"nearest centroid": "RuntimeError: not today"}
        assert board(model) == board(fitted(*(n for n in NAMES if n != "nearest centroid")))

    def test_where_all_fail_it_says_why(self, monkeypatch):
        monkeypatch.setattr(NearestCentroid, "_fit_path", fail)
        with pytest.raises(ValueError, match=r"methods: none could be used; nearest centroid failed with: .*not today"):
            AutoClassifier(["nearest centroid"], cv=4).fit(S, Y)

    def test_a_failed_fit_leaves_the_model_as_it_was(self, monkeypatch):
        model = AutoClassifier(["nearest centroid"], cv=4).fit(S, Y)
        before = model.predict(S)
        monkeypatch.setattr(NearestCentroid, "_fit_path", fail)
        with pytest.raises(ValueError, match="none could be used"):
            model.fit(S[:20, :20], Y[:20])
        assert_array_equal(model.predict(S), before)


class TestOutOfFold:
    @pytest.mark.parametrize("name", ["k-NN", "SVM (clip)", "Fisher (embedded)", "SDA and BDA fused"])
    def test_it_is_what_cross_validation_predicts(self, name):
        y = np.array(["low", "mid", "high"])[Y]
        model = AutoClassifier([name], cv=4).fit(S, y)
        estimator = at_best(*chosen(model))
        expected = cross_val_predict(clone(methods()[name][0]).set_params(**model.best_params_), S, y, cv=list(folds()))
        assert_array_equal(model.out_of_fold_.labels, expected)
        assert_allclose(np.mean(expected != y), model.leaderboard_[0].optimistic_error)
        expected = cross_val_predict(estimator, S, y, cv=list(folds()), method="predict_proba")
        assert_allclose(model.out_of_fold_.proba, expected, atol=1e-12)

    def test_folds_that_are_no_partition(self):
        assert AutoClassifier(["k-NN"], cv=ShuffleSplit(3, random_state=0)).fit(S, Y).out_of_fold_ is None

    def test_a_class_that_a_training_part_lacks(self):
        y = np.repeat([0, 1, 2], [1, 17, 18])
        model = AutoClassifier(["k-NN"], cv=KFold(2)).fit(S, y)
        assert model.out_of_fold_.proba.shape == (36, 3)
        assert_array_equal(model.out_of_fold_.proba[:18, 0], 0)


class TestNested:
    def test_it_is_a_loop_over_outer_folds(self):
        model = AutoClassifier(NAMES, cv=4, nested_cv=3).fit(S, Y)
        errors = []
        for train, test in folds(3):
            inner = AutoClassifier(NAMES, cv=4).fit(S[np.ix_(train, train)], Y[train])
            errors.append(np.mean(inner.predict(S[np.ix_(test, train)]) != Y[test]))
        assert model.nested_error_ == pytest.approx(np.mean(errors))
        assert model.nested_standard_error_ == pytest.approx(stats.sem(errors))
        assert board(model) == board(fitted(*NAMES))
        assert fitted(*NAMES).nested_error_ is None

    def test_raw_objects(self):
        objects, y = words(), np.arange(30) % 2
        options = {"cv": 2, "nested_cv": 2, "stack": True}
        names = ["k-NN", "SVM (clip)"]
        model = AutoClassifier(names, similarity="levenshtein", **options).fit(objects, y)
        D = pairwise(objects, similarity="levenshtein")
        matrix = AutoClassifier(names, dissimilarity="max-minus", **options).fit(D, y)
        assert model.nested_error_ == matrix.nested_error_
        assert [row[:2] for row in board(model)] == [row[:2] for row in board(matrix)]

    def test_what_learns_learns_from_each_outer_fold(self):
        voting = load_voting()
        X, y = voting.data[:60], voting.target[:60]
        model = AutoClassifier(["k-NN"], cv=3, nested_cv=3, similarity="vdm").fit(X, y)
        inner = AutoClassifier(["k-NN"], cv=3, similarity="vdm")
        expected = [np.mean(inner.fit(X[train], y[train]).predict(X[test]) != y[test]) for train, test in folds(3, y)]
        assert model.nested_error_ == pytest.approx(np.mean(expected))

    def test_too_few_samples_for_it(self):
        with pytest.raises(
            ValueError, match="nested_cv=3 leaves too few samples in an outer fold: y must have a class of"
        ):
            AutoClassifier(["k-NN"], cv=2, nested_cv=3).fit(S[:4, :4], [0, 0, 1, 1])

    def test_no_more_folds_than_the_smallest_class_has_samples(self):
        y = np.repeat([0, 1], [3, 33])
        model = AutoClassifier(["k-NN"], cv=2, nested_cv=10).fit(S, y)
        assert model.nested_error_ == AutoClassifier(["k-NN"], cv=2, nested_cv=3).fit(S, y).nested_error_


class TestInput:
    def test_raw_objects_and_their_matrix_give_the_same(self):
        objects, y = words(), np.array(["odd", "even"])[np.arange(30) % 2]
        raw = AutoClassifier(NAMES, cv=3, similarity="levenshtein").fit(objects[:24], y[:24])
        D = pairwise(objects[:24], similarity="levenshtein")
        matrix = AutoClassifier(NAMES, cv=3, dissimilarity="max-minus").fit(D, y[:24])
        assert board(raw) == board(matrix)
        rows = pairwise(objects[24:], objects[:24], similarity="levenshtein")
        assert_array_equal(raw.predict(objects[24:]), matrix.predict(rows))
        assert not hasattr(raw, "n_features_in_")
        assert_array_equal(raw.out_of_fold_.labels, matrix.out_of_fold_.labels)

    def test_similarities_that_learn(self):
        voting = load_voting()
        X, y = voting.data[:80], voting.target[:80]
        model = AutoClassifier(["k-NN", "SVM (clip)"], cv=3, similarity="vdm").fit(X, y)
        for row in model.leaderboard_:
            estimator, grid = methods(similarity="vdm")[row.method]
            assert row.optimistic_error == pytest.approx(
                1 - PathSearchCV(estimator, grid, cv=list(folds(3, y))).fit(X, y).best_score_
            )

    def test_double_centring(self):
        D = np.sqrt(1 - S)
        model = AutoClassifier(["k-NN", "nearest centroid"], cv=3, dissimilarity="double-centring").fit(D, Y)
        for row in model.leaderboard_:
            estimator, grid = methods(dissimilarity="double-centring")[row.method]
            assert row.optimistic_error == pytest.approx(
                1 - PathSearchCV(estimator, grid, cv=list(folds(3))).fit(D, Y).best_score_
            )

    @pytest.mark.parametrize(
        "kind",
        [np.asarray, np.ndarray.tolist, sparse.csr_array, pd.DataFrame, lambda S: Proximities(S, ids=range(len(S)))],
    )
    def test_any_kind_of_matrix(self, kind):
        names = ["k-NN", "SVM (clip)"]
        model = AutoClassifier(names, cv=2).fit(kind(S), pd.Series(Y, index=range(7, 43)))
        assert board(model) == board(fitted(*names, cv=2))
        assert_array_equal(model.predict(kind(S)), fitted(*names, cv=2).predict(S))

    @pytest.mark.parametrize("labels", [np.array([False, True, True]), np.array(["a", "bb", "c"], dtype=object)])
    def test_labels_of_any_kind(self, labels):
        model = AutoClassifier(["k-NN"], cv=3).fit(S, labels[Y])
        assert set(model.predict(S)) <= set(labels)
        assert_array_equal(model.classes_, np.unique(labels))

    @pytest.mark.parametrize("scale", [1e-150, 1e150])
    def test_any_scale(self, scale):
        names = ["k-NN", "nearest centroid", "local SDA"]
        assert board(AutoClassifier(names, cv=3).fit(scale * S, Y)) == board(fitted(*names, cv=3))

    @pytest.mark.parametrize("cv", [LeaveOneOut(), KFold(3), list(KFold(3).split(S)), None])
    def test_any_folds(self, cv):
        model = AutoClassifier(["k-NN"], cv=cv).fit(S, Y)
        search = PathSearchCV(*methods()["k-NN"], cv=cv).fit(S, Y)
        assert model.leaderboard_[0].optimistic_error == pytest.approx(1 - search.best_score_)

    def test_as_a_part_of_a_fused_classifier(self):
        model = FusedClassifier([("auto", AutoClassifier(["k-NN", "svm-clip"], cv=2))]).fit(S, Y)
        assert_allclose(model.predict_proba(S), model.parts_["auto"].predict_proba(S))

    def test_folds_as_masks(self):
        masks = [(np.arange(36) % 3 != f, np.arange(36) % 3 == f) for f in range(3)]
        model = AutoClassifier(["k-NN"], cv=masks).fit(S, Y[::-1] // 2)
        places = [(np.flatnonzero(train), np.flatnonzero(test)) for train, test in masks]
        same = AutoClassifier(["k-NN"], cv=places).fit(S, Y[::-1] // 2)
        assert board(model) == board(same)
        assert_array_equal(model.out_of_fold_.labels, same.out_of_fold_.labels)

    def test_within_cross_validation(self):
        scores = cross_val_score(AutoClassifier(["k-NN", "svm-clip"], cv=2), S, Y, cv=3, error_score="raise")
        assert scores.shape == (3,)


class TestStack:
    def test_the_best_two_fused_take_part(self):
        model = fitted(*NAMES, stack=True)
        rows = {row.method: row for row in model.leaderboard_}
        assert set(rows) == {*NAMES, FUSED}
        local = min((rows[n] for n in ("k-NN", "local SDA")), key=lambda row: row.optimistic_error)
        parts = [
            (slug(row.method), at_best(methods()[row.method][0], row.parameters)) for row in (local, rows["SVM (clip)"])
        ]
        expected = 1 - cross_val_score(FusedClassifier(parts), S, Y, cv=list(folds())).mean()
        assert rows[FUSED].error == pytest.approx(expected)

    def test_it_can_be_chosen(self, monkeypatch):
        monkeypatch.setattr(Run, "is_level_with", lambda self, best: self.name == FUSED)
        model = AutoClassifier(["k-NN", "SVM (clip)"], cv=3, stack=True, similarity="levenshtein")
        model.fit(words(), np.arange(30) % 2)
        assert model.best_method_ == FUSED
        assert list(model.best_estimator_.parts_) == ["k-nn", "svm-clip"]
        assert model.predict_proba(words()[:3]).shape == (3, 2)
        assert model.out_of_fold_.proba.shape == (30, 2)

    @pytest.mark.parametrize("names", [["k-NN", "local SDA"], ["SVM (clip)", "nearest centroid"]])
    def test_without_both_kinds_there_is_none(self, names):
        model = AutoClassifier(names, cv=3, stack=True).fit(S, Y)
        assert sorted(row.method for row in model.leaderboard_) == sorted(names)


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
        table = methods([*spectral, "k-NN", "affinity k-NN", "local SDA"])
        trial = contest.Contest(Samples(Reader(), S, Y), table, list(folds()))
        trial.run(["k-NN", "affinity k-NN", "local SDA", *spectral], None, None, False)
        assert len(trial.runs) == 7
        assert counts == {"eigh": 4, "top_k": 4}

    def test_jobs_change_nothing(self):
        one = fitted(*NAMES[:3], cv=2, nested_cv=2)
        with parallel_config(backend="threading"):
            two = AutoClassifier(NAMES[:3], cv=2, nested_cv=2, n_jobs=2).fit(S, Y)
        assert board(one) == board(two)
        assert one.nested_error_ == two.nested_error_
        assert_array_equal(one.out_of_fold_.proba, two.out_of_fold_.proba)

    def test_clone_and_pickle(self):
        model = fitted("k-NN", "local SDA", "Fisher (embedded)")
        again = pickle.loads(pickle.dumps(model))
        assert_array_equal(again.predict_proba(S), model.predict_proba(S))
        assert again.leaderboard_ == model.leaderboard_
        assert clone(model).get_params() == model.get_params()
        for method in ("predict", "predict_proba", "decision_function"):
            with pytest.raises(NotFittedError):
                getattr(clone(model), method)(S)


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
        ({"cv": [(np.arange(36), np.arange(0))]}, "cv must give at least one fold, and no empty ones"),
        ({"cv": [([0, 1, 2], [36])]}, "cv=.* does not split these samples: index 36 is out of bounds"),
        ({"cv": "five"}, "cv='five' does not split these samples"),
        ({"cv": GroupKFold(2)}, "cv=GroupKFold.* does not split these samples"),
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
        (np.full((36, 36), np.nan), Y, "X contains NaN"),
        (Proximities({"a": S, "b": S}), Y, "X holds the similarities 'a', 'b', and one is needed here"),
    ],
)
def test_bad_data_is_refused(X, y, message):
    with pytest.raises(ValueError, match=message):
        AutoClassifier(["k-NN"], cv=3).fit(X, y)


def test_the_diagnosis_orders_the_methods():
    rng = np.random.default_rng(0)
    indefinite = rng.normal(size=(36, 36))
    for matrix in (S, indefinite + indefinite.T, np.where(S > 0.8, 1.0, 0.0)):
        order = ordered(list(methods()), diagnose(matrix, Y))
        assert sorted(order) == sorted(methods())
        assert order[0] == "k-NN"
        assert order.index("robust SVM") > order.index("SDA")
    assert ordered(["SDA", "DBoost"], diagnose(S, Y)) == ["SDA", "DBoost"]
    assert ordered(["LP machine", "SDA", "k-NN"], diagnose(S, Y)) == ["k-NN", "SDA", "LP machine"]


def test_the_names():
    table = methods()
    assert set(LOCAL) <= set(table)
    assert len({slug(name) for name in table}) == len(table)
    assert list(methods(["SVM clip", "svm-clip", "K-nn"])) == ["k-NN", "SVM (clip)"]
