"""The combination of methods and its honest error: against greedy selection and calibration written out as loops."""

from types import SimpleNamespace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics import accuracy_score, balanced_accuracy_score, f1_score, make_scorer, roc_auc_score

from similitude.auto import combination
from similitude.auto import method_results as results
from similitude.auto.combination import bagged_weights, best_points, combine, judge_method
from similitude.auto.losses import Loss
from similitude.auto.method_results import MethodResults
from similitude.auto.race import Race
from similitude.evaluation.engine import Evaluated
from similitude.evaluation.folds import repeated_folds
from similitude.numerics.temperature import floor_of
from tests.reference import combination as reference
from tests.reference import temperature as calibration

CLASSES = np.array(["a", "b", "c"])
COSTS = np.array([[0.0, 1.0, 4.0], [1.0, 0.0, 4.0], [1.0, 1.0, 0.0]])


def posteriors(codes, signals, seed=0):
    """Posteriors of several candidates that know the truth more or less."""
    rng = np.random.default_rng(seed)
    n_classes = codes.max() + 1
    z = rng.normal(size=(len(signals), len(codes), n_classes)) + np.multiply.outer(signals, np.eye(n_classes)[codes])
    return np.exp(z) / np.exp(z).sum(axis=-1, keepdims=True)


CODES = np.arange(40) % 3
SIX = posteriors(CODES, [0.5, 1.0, 1.0, 1.5, 1.5, 0.0])
SIX[4] = np.maximum(np.round(SIX[4], 1), 0.1)  # with ties
SIX[4] /= SIX[4].sum(axis=-1, keepdims=True)


def bags(by_class):
    """The rows of each bag; a scorer gets fewer of them, with all classes."""
    rng = np.random.RandomState(7)
    for _ in range(combination.FEW_BAGS if by_class else combination.BAGS):
        rng.permutation(len(SIX))
        if by_class:
            yield np.concatenate([rng.choice(np.flatnonzero(g == CODES), np.sum(g == CODES)) for g in range(3)])
        else:
            yield rng.randint(40, size=40)


def brier(p, y, weights=None):
    weight = 1.0 if weights is None else weights[y]
    return np.mean(np.sum((p - np.eye(p.shape[1])[y]) ** 2, axis=1) * weight)


def f1(p, y):
    return -f1_score(y, p.argmax(axis=1), average="macro")


WEIGHTS = np.array([0.5, 1.0, 2.0])
LOSSES = {
    "brier": (Loss(None, None, None), brier),
    "weighted brier": (Loss(None, None, WEIGHTS), lambda p, y: brier(p, y, WEIGHTS)),
    "log": (Loss("neg_log_loss", None, None), lambda p, y: -np.mean(np.log(p[np.arange(40), y]))),
    "accuracy": (
        Loss("accuracy", None, None),
        lambda p, y: 1 - accuracy_score(y, p.argmax(axis=1)) + 1e-9 * brier(p, y),
    ),
    "balanced accuracy": (
        Loss("balanced_accuracy", None, None),
        lambda p, y: 1 - balanced_accuracy_score(y, p.argmax(axis=1)) + 1e-9 * brier(p, y),
    ),
    "cost": (
        Loss(None, COSTS, None),
        lambda p, y: np.mean(COSTS[np.argmin(p @ COSTS.T, axis=1), y]) + 1e-9 * brier(p, y),
    ),
    "a scorer": (Loss(make_scorer(f1_score, average="macro"), None, None), f1),
    "a scorer of posteriors": (
        Loss("roc_auc_ovr", None, None),
        lambda p, y: -roc_auc_score(y, p, multi_class="ovr"),
    ),
}


class TestGreedySelection:
    @pytest.fixture(autouse=True)
    def _few_rounds(self, monkeypatch):
        for name, number in {"BAGS": 6, "FEW_BAGS": 2, "ROUNDS": 8}.items():
            monkeypatch.setattr(combination, name, number)

    @pytest.mark.parametrize("name", LOSSES)
    def test_it_is_its_definition(self, name):
        loss, known = LOSSES[name]
        found = bagged_weights(SIX, CODES, loss, np.arange(3), 7)
        drawn = list(bags(by_class=not loss.by_sample))
        expected = reference.bagged(SIX, lambda p, rows: known(p, CODES[rows]), drawn, 8)
        assert_allclose(found, expected, atol=1e-12)
        assert np.count_nonzero(found) > 1

    def test_one_that_is_clearly_best_stays_alone(self):
        """The others are noise."""
        some = posteriors(CODES, [0.0, 0.0, 6.0, 0.0])
        assert_array_equal(bagged_weights(some, CODES, Loss(None, None, None), CLASSES, 0), [0, 0, 1, 0])

    def test_those_that_err_on_different_samples_are_combined(self):
        some = np.full((3, 40, 3), 0.05)
        for j in range(3):
            some[j, np.arange(40), CODES] = 0.9
            wrong = np.flatnonzero(np.arange(40) % 3 == j)
            some[j, wrong] = np.roll(some[j, wrong], 1, axis=1)
        weights = bagged_weights(some, CODES, Loss(None, None, None), CLASSES, 0)
        assert np.all(weights > 0.2)
        mean = np.tensordot(weights, some, axes=1)
        assert_array_equal(mean.argmax(axis=1), CODES)  # each of them errs on a third

    @pytest.mark.parametrize("name", ["brier", "log", "accuracy", "a scorer"])
    def test_of_equal_candidates_the_first_is_chosen(self, name):
        same = np.repeat(SIX[3:4], 3, axis=0)
        assert_array_equal(bagged_weights(same, CODES, LOSSES[name][0], np.arange(3), 0), [1, 0, 0])

    def test_all_equally_bad(self):
        """Infinite losses and posteriors that do not differ are no reason to fail."""
        for scorer in (None, lambda estimator, X, y: -np.inf):
            weights = bagged_weights(np.full((3, 40, 3), 1 / 3), CODES, Loss(scorer, None, None), CLASSES, 0)
            assert_array_equal(weights, [1, 0, 0])

    def test_one_candidate(self):
        assert_array_equal(bagged_weights(SIX[:1], CODES, Loss(None, None, None), CLASSES, 0), [1])


class Scripted(MethodResults):
    """Results of methods whose posteriors of left-out samples are given.

    For each method they are an array (points, n, G), or (repetitions, points, n, G). ``lacking[f]`` are the samples
    that give no evidence in fold f.
    """

    def __init__(self, answers, codes, repeats, lacking=()):
        methods = {name: (None, {"p": list(range(found.shape[-3]))}) for name, found in answers.items()}
        tests = [test for folds in repeats for _, test in folds]

        def evidence(train, test):
            fold = next(i for i, own in enumerate(tests) if own is test)
            return ~np.isin(test, lacking[fold]) if len(lacking) else np.ones(len(test), dtype=bool)

        samples = SimpleNamespace(y=codes, sample_weight=None, evidence=evidence, of=lambda name: samples)
        samples.parts = {"S": samples}
        super().__init__(samples, methods, repeats, Loss(None, None, None))
        shape = (len(repeats),)
        self.script = {name: np.broadcast_to(found, shape + found.shape[-3:]) for name, found in answers.items()}
        Race(self, 0.0, None, None, False).run()

    def evaluate(self, numbers, seconds, n_jobs=None, note=None):
        for number in numbers:
            test, r = self.folds[number][1], number // len(self.repeats[0])
            for name in seconds:
                points = [point["p"] for point in self.runs[name].points]
                found = [("predict_proba", self.script[name][r, p][test]) for p in points]
                self.runs[name].take(number, list(range(len(points))), Evaluated(found, 1.0))


def noise(seed, n=60, n_methods=5, n_points=20):
    """Methods that know nothing about the labels."""
    rng = np.random.default_rng(seed)
    codes = rng.permutation(np.arange(n) % 2)
    return {f"m{i}": rng.dirichlet([1, 1], size=(n_points, n)) for i in range(n_methods)}, codes


class TestContest:
    def test_posteriors_are_calibrated_on_the_other_parts_and_averaged(self):
        codes = np.arange(36) % 3
        known = posteriors(codes, [1.0, 2.0, 0.5, 1.5]).reshape(2, 2, 36, 3)
        repeats = repeated_folds(codes, 4, 2, None, 0)
        found = Scripted({"m": known}, codes, repeats)
        (run,) = found.runs.values()
        assert run.points == [{"p": 0}, {"p": 1}]
        for number, (_, test) in enumerate(repeats[0]):
            assert_array_equal(np.flatnonzero(found.parts == number), test)
        for p in range(2):
            slow = [calibration.cross_fitted(known[r, p], codes, found.parts, floor_of(36)) for r in range(2)]
            assert_allclose(run.posteriors[p], np.mean(slow, axis=0), atol=1e-5)
            factors = [calibration.fit(np.log(known[r, p] + floor_of(36)), codes, np.ones(36))[0] for r in range(2)]
            assert run.temperatures[p].factor == pytest.approx(np.mean(factors), abs=1e-4)

    def test_each_method_keeps_its_best_points(self):
        codes = np.arange(40) % 2
        signals = np.r_[np.zeros(10), [3.0, 4.0], np.zeros(10)]
        found = Scripted({"m": posteriors(codes, signals)}, codes, repeated_folds(codes, 4, 1, None, 0))
        (run,) = found.runs.values()
        assert len(run.points) < 22
        assert [run.points[i] for i in best_points(found, run, None)][:2] == [{"p": 11}, {"p": 10}]
        for part in range(4):
            positions = best_points(found, run, part)
            assert len(positions) == results.SHORTLIST
            others = found.posteriors(run, positions, part)[:, found.parts != part]
            losses = [brier(p, found.truth[found.parts != part]) for p in others]
            assert losses == sorted(losses)

    @pytest.mark.parametrize(
        "tests",
        [
            [[0, 1, 2, 3, 4, 5]],  # one fold
            [[0, 1, 2, 3], [0, 1, 2, 3]],  # the same twice
            [[0, 1, 2, 3], [1, 2], [4, 5, 6, 7]],  # a fold without samples of its own
            [[0, 0, 1, 2], [3, 4, 4, 5]],  # samples drawn twice
        ],
    )
    def test_any_test_samples(self, tests):
        codes = np.arange(10) % 2
        folds = [(np.setdiff1d(np.arange(10), test), np.array(test)) for test in tests]
        found = Scripted({"a": posteriors(codes, np.ones(9)), "b": posteriors(codes, [2.0])}, codes, [folds])
        assert_array_equal(found.tested, np.unique(np.concatenate(tests)))
        assert_array_equal(np.unique(found.parts), np.arange(max(2, found.parts.max() + 1)))
        members, honest = combine(found, 0)
        assert_allclose(honest.posteriors.sum(axis=1), 1)
        assert sum(member.weight for member in members) == pytest.approx(1)
        assert np.isfinite(judge_method(found, found.runs["a"]).losses).all()


class TestHonestError:
    def test_methods_that_know_nothing(self):
        """The best of a hundred throws of dice looks good; the error is that of dice all the same."""
        optimistic, honest, single = [], [], []
        for seed in range(12):
            answers, codes = noise(seed)
            found = Scripted(answers, codes, repeated_folds(codes, 5, 1, None, seed))
            members, together = combine(found, 0)
            mean = sum(member.weight * member.posteriors for member in members)
            optimistic.append(np.mean(mean.argmax(axis=1) != found.truth))
            honest.append(np.mean(together.wrong))
            single.append([np.mean(judge_method(found, run).wrong) for run in found.runs.values()])
        assert np.mean(optimistic) < 0.4
        assert np.mean(honest) == pytest.approx(0.5, abs=0.04)
        assert np.mean(single) == pytest.approx(0.5, abs=0.02)

    def test_choices_for_a_part_do_not_see_it(self):
        """Other labels in a part change the choices for other parts, but not its own posteriors."""
        answers, codes = noise(0, n_points=3)
        repeats = repeated_folds(codes, 5, 2, None, 0)
        own = np.isin(np.arange(len(codes)), repeats[0][2][1])
        found, other = (Scripted(answers, labels, repeats) for labels in (codes, np.where(own, 1 - codes, codes)))
        for judge in (
            lambda results: combine(results, 0)[1],
            lambda results: judge_method(results, results.runs["m1"]),
        ):
            before, after = judge(found).posteriors, judge(other).posteriors
            assert_allclose(before[own], after[own], atol=1e-9)
            assert np.mean(np.abs(before[~own] - after[~own])) > 1e-3

    @pytest.mark.parametrize("part", [None, 1])
    def test_it_is_its_definition(self, part):
        codes = np.arange(48) % 2
        known = {f"m{i}": posteriors(codes, [1.0, 1.3, 0.5], seed=i) for i in range(4)}
        found = Scripted(known, codes, repeated_folds(codes, 4, 1, None, 0))
        others = np.ones(48, dtype=bool) if part is None else found.parts != part
        stacked, best = [], []
        for name, run in found.runs.items():
            if part is None:
                candidates = run.posteriors
            else:
                fits = [calibration.fit(z[others], codes[others], np.ones(36)) for z in np.log(known[name] + 1 / 192)]
                exponents = [a * z + b for (a, b), z in zip(fits, np.log(known[name] + 1 / 192))]
                candidates = np.exp(exponents) / np.sum(np.exp(exponents), axis=-1, keepdims=True)
            best.append(int(np.argmin([brier(p[others], codes[others]) for p in candidates])))
            stacked.append(candidates[best[-1]])
        weights = bagged_weights(np.stack(stacked)[:, others], codes[others], found.loss, found.classes, 0)
        weights[weights < 0.02] = 0
        weights /= weights.sum()
        members, honest = combine(found, 0)
        if part is None:
            expected = {(name, p): w for name, p, w in zip(known, best, weights) if w > 0}
            assert {(m.run.name, m.point): m.weight for m in members} == pytest.approx(expected)
            assert [m.weight for m in members] == sorted((m.weight for m in members), reverse=True)
        else:
            expected = np.tensordot(weights, stacked, axes=1)
            assert_allclose(honest.posteriors[~others], expected[~others], atol=1e-5)
            assert_array_equal(honest.wrong[~others], expected[~others].argmax(axis=1) != codes[~others])

    def test_methods_that_are_only_compared_have_no_weight(self):
        codes = np.arange(40) % 2
        answers = {"random forest (features)": posteriors(codes, [9.0]), "k-NN": posteriors(codes, [0.5])}
        repeats = repeated_folds(codes, 4, 1, None, 0)
        assert [m.run.name for m in combine(Scripted(answers, codes, repeats), 0)[0]] == ["k-NN"]
        del answers["k-NN"]
        assert [m.weight for m in combine(Scripted(answers, codes, repeats), 0)[0]] == [1.0]
