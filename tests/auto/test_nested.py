"""Nested cross-validation of methods and of their combination: against loops, with groups and a budget."""

from types import SimpleNamespace

import numpy as np
import pytest
from joblib import parallel_config
from numpy.testing import assert_array_equal
from scipy import stats

from similitude import AutoClassifier, CombinedClassifier, NearestCentroid
from similitude.auto import COMBINATION, INNER_FOLDS, NO_TIME, nested, nested_errors
from similitude.auto.combination import combine
from similitude.auto.losses import Loss
from similitude.auto.method_results import MethodResults
from similitude.auto.methods import methods
from similitude.auto.race import Race
from similitude.evaluation.folds import stratified_folds
from similitude.reader import Contract, Samples
from tests.auto.test_auto import NAMES, Clock, S, Y, fail


def standings(names=NAMES, X=S, y=Y, folds=3, **options):
    return nested_errors(
        Samples(Contract(), X, y), methods(names), folds=folds, seed=0, show=False, **{"n_jobs": 1, **options}
    )


def by_name(found):
    return {row.method: row for row in found}


class TestErrors:
    def test_they_are_those_of_a_loop_over_outer_folds(self):
        rows = by_name(standings())
        assert set(rows) == {*NAMES, COMBINATION}
        errors = {name: [] for name in rows}
        for train, test in stratified_folds(Y, 3, None, 0):
            square, between = S[np.ix_(train, train)], S[np.ix_(test, train)]
            samples = Samples(Contract(), square, Y[train])
            folds = stratified_folds(Y[train], INNER_FOLDS, None, 0)
            inner = MethodResults(samples, methods(NAMES), [folds], Loss(None, None, None))
            Race(inner, 0.0, None, None, False, stops=False).run()
            parts = [(m.run.name, m.run, m.point, m.weight) for m in combine(inner, 0)[0]]
            for name in rows:
                if name == COMBINATION:
                    chosen = parts
                else:
                    alone = AutoClassifier([name], cv=INNER_FOLDS, n_repeats=1).fit(square, Y[train])
                    run = inner.runs[name]
                    points = [inner.parameters(run, i) for i in range(len(run.points))]
                    point = points.index(alone.best_params_)
                    chosen = [(name, inner.runs[name], point, 1.0)]
                posterior = 0
                for label, run, point, weight in chosen:
                    estimator = methods()[label][0].set_params(**inner.parameters(run, point))
                    model = CombinedClassifier([(label, estimator)]).fit(square, Y[train])
                    object.__setattr__(model.members_[0], "temperature", run.temperatures[point])
                    posterior = posterior + weight * model.predict_proba(between)
                errors[name].append(np.mean(posterior.argmax(axis=1) != Y[test]))
        for name, row in rows.items():
            assert row.error == pytest.approx(np.mean(errors[name])), name
            assert row.standard_error == pytest.approx(stats.sem(errors[name]))
        assert rows[COMBINATION].seconds == pytest.approx(sum(rows[name].seconds for name in NAMES))

    def test_jobs_change_nothing(self):
        with parallel_config(backend="threading"):
            two = standings(n_jobs=2)
        assert [row.error for row in two] == sorted(row.error for row in two)
        assert [(r.method, r.error, r.parameters) for r in two] == [
            (r.method, r.error, r.parameters) for r in standings()
        ]

    @pytest.mark.parametrize("names", [["k-NN"], ["k-NN", "random forest (features)"]])
    def test_nothing_to_combine(self, names):
        assert {row.method for row in standings(names, folds=2)} == set(names)

    def test_a_combination_of_one_member_in_some_fold(self, monkeypatch):
        plain, calls = combine, []

        def alone_at_first(results, seed):
            calls.append(seed)
            members, honest = plain(results, seed)
            return (members[:1] if len(calls) == 1 else members), honest

        monkeypatch.setattr(nested, "combine", alone_at_first)
        row = by_name(standings())[COMBINATION]
        assert row.failure is None
        assert 0 < row.error < 1


class TestFailures:
    @pytest.mark.parametrize("call", [1, 7, 12])  # the sixth fit is that on the whole outer training part
    def test_they_come_last_and_the_others_go_on(self, call, monkeypatch):
        fit_path, calls = NearestCentroid._fit_path, []

        def sometimes(self, *parts):
            calls.append(parts)
            return fail() if len(calls) == call else fit_path(self, *parts)

        monkeypatch.setattr(NearestCentroid, "_fit_path", sometimes)
        found = standings()
        assert (found[-1].method, found[-1].error, found[-1].failure) == (
            "nearest centroid",
            None,
            "RuntimeError: not today",
        )
        assert {row.method for row in found[:-1]} == {"k-NN", "SVM (clip)", "local SDA", COMBINATION}
        assert all(row.failure is None for row in found[:-1])

    def test_where_all_fail_it_says_why(self, monkeypatch):
        monkeypatch.setattr(NearestCentroid, "_fit_path", fail)
        with pytest.raises(ValueError, match="no method could be used; nearest centroid failed with RuntimeError: not"):
            standings(["nearest centroid"])


class TestClassesAndGroups:
    @pytest.mark.filterwarnings("ignore:The number of unique classes")
    def test_small_classes(self):
        rng = np.random.default_rng(0)
        y = np.r_[np.repeat(np.arange(30), rng.integers(2, 5, 30)), 99]  # the last class has one sample
        centres = rng.normal(size=(100, 4))
        X = centres[y] + 0.2 * rng.normal(size=(len(y), 4))
        similarities = np.exp(-((X[:, None] - X[None]) ** 2).sum(-1))
        for folds in (2, 10):
            rows = standings(["k-NN", "nearest centroid"], similarities, y, folds)
            assert all(row.failure is None for row in rows)
            assert rows[0].error < 0.5

    def test_groups_are_not_divided(self, monkeypatch):
        """Copies of a sample are in its group: a nearest neighbour in another fold would know its label."""
        rng = np.random.default_rng(0)
        X = np.repeat(rng.normal(size=(12, 2)), 4, axis=0)
        y, groups = np.repeat(np.arange(12) % 2, 4), np.arange(48) // 4
        similarities = np.exp(-((X[:, None] - X[None]) ** 2).sum(-1))
        seen = []
        plain = nested.stratified_folds

        def recorded(y, n_folds, groups, seed):
            seen.append((n_folds, groups))
            return plain(y, n_folds, groups, seed)

        monkeypatch.setattr(nested, "stratified_folds", recorded)
        (whole,) = standings(["k-NN"], similarities, y)
        (honest,) = standings(["k-NN"], similarities, y, groups=groups)
        assert whole.error < 0.1 < 0.3 < honest.error
        outer, *inner = seen[4:]
        assert_array_equal(outer[1], groups)
        for (train, _), (n_folds, part) in zip(plain(y, 3, groups, 0), inner, strict=True):
            assert n_folds == INNER_FOLDS
            assert_array_equal(part, groups[train])


class TestBudget:
    @pytest.fixture
    def clock(self, monkeypatch):
        monkeypatch.setattr(nested, "time", SimpleNamespace(perf_counter=lambda: clock.now))
        clock = Clock(monkeypatch, dict.fromkeys(NAMES, 1.0))
        return clock

    def test_enough_time(self, clock):
        found = standings(NAMES[:2], folds=2, time_budget=1e4)
        expected = standings(NAMES[:2], folds=2)
        assert [(row.method, row.error) for row in found] == [(row.method, row.error) for row in expected]

    def test_methods_that_are_too_slow(self, clock):
        found = standings(time_budget=60.0)
        left_out = [row.method for row in found if row.failure == NO_TIME]
        assert 0 < len(left_out) < 4
        assert not set(left_out) & set(clock.calls)
        assert all(row.failure in (None, NO_TIME) for row in found)

    def test_at_least_one_method_and_two_outer_folds(self, clock):
        found = standings(time_budget=1e-6)
        assert [row.failure for row in found] == [None, NO_TIME, NO_TIME, NO_TIME]
        # five inner folds and the test in each of two outer folds
        assert clock.calls == [found[0].method] * 12
