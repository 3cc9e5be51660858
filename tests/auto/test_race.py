"""The race: what stops, what goes on, and that nothing else changes."""

import warnings
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from similitude import AutoClassifier, Proximities
from similitude.auto import Leaderboard, race
from similitude.auto.choice import _clearly_better
from similitude.auto.combination import Judgement
from similitude.auto.losses import Loss
from similitude.proximity import SimilarityWarning

NAMES = ["k-NN", "nearest centroid", "SVM (clip)", "SDA", "linear SVM (features)"]


def problem(n=240, noise=1.0, seed=0):
    """Two classes that differ in two of four features; the nearest centroid and SDA know less of them than others."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    X = rng.normal(size=(n, 4))
    X[:, 0] *= 3.0
    X[:, 1] += noise * np.where(y == 1, np.sign(X[:, 0]), -np.sign(X[:, 0]))
    return np.exp(-((X[:, None] - X[None]) ** 2).sum(-1) / 4), y


S, Y = problem()


@pytest.fixture(scope="module", autouse=True)
def short_legs():
    """Methods of little effort are not in one leg, within which none of them would be stopped."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(race, "_SHORTEST_LEG", 0.0)
        yield


@pytest.fixture(scope="module")
def model(short_legs):
    return AutoClassifier(NAMES, n_repeats=1).fit(S, Y)


def test_methods_from_which_the_combination_cannot_gain_are_stopped(model):
    stopped = {row.method: row for row in model.leaderboard_ if row.stopped}
    assert 0 < len(stopped) < len(NAMES)
    assert set(stopped) == set(model.budget_report_.stopped)
    members = {member.name for member in model.best_estimator_.members_}
    assert not members & set(stopped)
    for row in stopped.values():
        assert row.n_folds < 5
        assert row.error > row.error_of_others  # on the same samples
        assert (row.weight, row.chosen) == (0.0, False)
    assert [row.stopped for row in model.leaderboard_] == sorted(row.stopped for row in model.leaderboard_)


def test_the_others_have_answers_for_all_samples(model):
    assert_array_equal(model.out_of_fold_.samples, np.arange(len(Y)))
    assert model.n_folds_ == 5


def test_the_error_is_about_that_without_stopping(model, monkeypatch):
    monkeypatch.setattr(race, "_DEVIATIONS", np.inf)
    everything = AutoClassifier(NAMES, n_repeats=1).fit(S, Y)
    assert not any(row.stopped for row in everything.leaderboard_)
    assert abs(everything.leaderboard_[0].error - model.leaderboard_[0].error) < 0.03


def test_points_are_dropped_after_the_first_folds(monkeypatch):
    seen = []
    plain = race.MethodResults.evaluate

    def recorded(self, numbers, seconds, *rest):
        seen.append((len(numbers), {name: len(self.runs[name].points) for name in seconds}))
        return plain(self, numbers, seconds, *rest)

    monkeypatch.setattr(race.MethodResults, "evaluate", recorded)
    AutoClassifier(["KRR k-NN"], n_repeats=1).fit(S, Y)
    points = [each["KRR k-NN"] for _, each in seen]
    assert points[0] == 95
    assert points == sorted(points, reverse=True)
    assert points[-1] < 40
    assert sum(n for n, _ in seen) == 5


@pytest.mark.parametrize("dissimilarity", [None, "max-minus"])  # with several maps, jobs share the points of a method
def test_the_number_of_jobs_changes_nothing(dissimilarity):
    boards = []
    for n_jobs in (1, 2, 3):
        auto = AutoClassifier(NAMES, dissimilarity=dissimilarity, n_repeats=1, n_jobs=n_jobs)
        auto.fit(S if dissimilarity is None else -np.log(S), Y)
        boards.append([(row.method, row.parameters, row.error, row.weight) for row in auto.leaderboard_])
        assert boards[-1] == boards[0]


def test_the_scale_of_the_similarities_changes_nothing(model):
    other = AutoClassifier(NAMES, n_repeats=1).fit(S * 2.0**20, Y)
    assert [(row.method, row.error) for row in other.leaderboard_] == [
        (row.method, row.error) for row in model.leaderboard_
    ]


def test_bad_similarities_are_dropped_before_expensive_methods_run():
    rng = np.random.default_rng(0)
    bad = {f"noise {i}": (N := rng.random((len(Y), len(Y)))) + N.T for i in range(4)}
    auto = AutoClassifier(["k-NN", "SVM (clip)", "P-SVM"], n_repeats=1).fit(Proximities({"good": S, **bad}), Y)
    complete = set(auto.budget_report_.complete)
    assert "P-SVM on good" in complete or "P-SVM on good" in auto.budget_report_.stopped
    assert sum(name.startswith("P-SVM on noise") for name in complete) <= 1
    assert {row.similarity for row in auto.similarities_.standings} == {"good", *bad}  # all were tried


class TestInterrupt:
    @staticmethod
    def interrupted_after(monkeypatch, n_calls):
        calls, plain = [], race.MethodResults.evaluate

        def evaluate(self, numbers, seconds, *rest):
            calls.append(numbers)
            if len(calls) > n_calls:
                raise KeyboardInterrupt
            return plain(self, numbers, seconds, *rest)

        monkeypatch.setattr(race.MethodResults, "evaluate", evaluate)

    def test_the_choice_is_among_what_was_evaluated(self, monkeypatch):
        self.interrupted_after(monkeypatch, 4)
        with pytest.warns(SimilarityWarning, match=r"interrupted: the choice is among what was evaluated before"):
            model = AutoClassifier(NAMES, n_repeats=1).fit(S, Y)
        assert model.budget_report_.interrupted
        assert model.left_out_
        assert {member.name for member in model.best_estimator_.members_} <= set(model.budget_report_.complete)
        assert len(model.predict(S[:7])) == 7

    def test_before_the_first_answer_it_ends_the_fit(self, monkeypatch):
        self.interrupted_after(monkeypatch, 0)
        with pytest.raises(KeyboardInterrupt):
            AutoClassifier(NAMES, n_repeats=1).fit(S, Y)


class TestScoring:
    def test_the_leaderboard_is_sorted_by_the_score_that_was_asked_for(self):
        model = AutoClassifier(NAMES, n_repeats=1, scoring="roc_auc").fit(S, Y)
        scores = [row.score for row in model.leaderboard_ if not row.stopped]
        assert scores == sorted(scores, reverse=True)
        assert all(0 <= score <= 1 for score in scores)
        assert "score" in str(model.leaderboard_).splitlines()[0]

    def test_a_single_method_is_chosen_by_the_score_alone(self):
        """With a scorer, lower losses of the samples are no reason to prefer a single method."""
        truth, parts = np.arange(40) % 2, np.arange(40) // 10
        ranked = np.linspace(0.4, 0.6, 40)[np.argsort(np.argsort(truth, kind="stable"))]  # ranks perfectly
        sure = np.where(truth == 1, 0.9, 0.1)
        sure[:4] = 1 - sure[:4]  # lower Brier score, but ranks worse
        results = SimpleNamespace(loss=Loss("roc_auc", None, None), truth=truth, parts=parts, classes=np.arange(2))
        results.weights, results.weights_of = None, lambda places: None
        together, single = (
            Judgement(p := np.stack([1 - own, own], axis=1), ((p - np.eye(2)[truth]) ** 2).sum(axis=1), None)
            for own in (ranked, sure)
        )
        assert single.losses.mean() < together.losses.mean()
        assert not _clearly_better(results, single, together)


class TestLeaderboard:
    def test_it_prints_as_a_table(self, model):
        lines = str(model.leaderboard_).splitlines()
        assert lines[0].split()[:3] == ["method", "error", "%"]
        assert len(lines) == len(model.leaderboard_) + 1
        assert any("stopped after" in line for line in lines)

    def test_html_is_escaped(self, model):
        strange = Leaderboard([replace(model.leaderboard_[0], method="<b>&")])
        assert "&lt;b&gt;&amp;" in strange._repr_html_()
        assert "<b>" not in strange._repr_html_()

    def test_to_frame(self, model):
        frame = model.leaderboard_.to_frame()
        assert list(frame["name"]) == [row.name for row in model.leaderboard_]
        assert list(frame["error"]) == [row.error for row in model.leaderboard_]


def test_the_diagnosis_can_be_switched_off():
    with warnings.catch_warnings():
        warnings.simplefilter("error", SimilarityWarning)
        model = AutoClassifier(["k-NN"], n_repeats=1, diagnose=False).fit(S, Y)
    assert model.diagnosis_ is None
