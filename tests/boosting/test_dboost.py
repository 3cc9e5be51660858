"""DBoost against its NumPy reference, its formulas and its theory."""

import pickle
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import expit
from sklearn.base import clone
from sklearn.metrics.pairwise import manhattan_distances
from sklearn.model_selection import GridSearchCV, StratifiedKFold

from similitude import PathSearchCV
from similitude.base import GridFit
from similitude.boosting._rounds import boosted_rounds
from similitude.boosting.dboost import DBoostClassifier
from tests.boosting.problems import KINDS
from tests.boosting.problems import fitted as _fitted
from tests.boosting.problems import matrix as _matrix
from tests.boosting.problems import problem as _problem
from tests.boosting.problems import signs as _signs
from tests.reference import dboost as reference

ALGORITHMS = ["discrete", "real", "vote"]


def _base_classifiers(model, rows):
    """h_t(x) of every round, (m, T)."""
    plus, minus = model.pairs_.T
    return np.where(rows[:, plus] - rows[:, minus] + model.thresholds_ > 0, 1.0, -1.0)


def _same_rounds(S, y, weights, n_rounds, n_pairs, seed, real):
    order = np.argsort(-y, kind="stable")
    columns = np.ascontiguousarray(S[np.ix_(order, order)].T)
    found = boosted_rounds(columns, int(np.sum(y > 0)), weights[order], n_rounds, n_pairs, seed, real)
    uniforms = np.random.default_rng(seed).random((n_rounds, n_pairs, 2))
    pairs, cuts, outputs = reference.boost(S.astype(float), y, weights, uniforms, real)
    assert np.array_equal(order[found.pairs], pairs)
    assert np.array_equal(found.cuts, cuts)
    assert np.allclose(found.outputs, outputs, rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("real", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_rounds_are_those_of_the_reference(kind, real):
    rng = np.random.default_rng(0)
    for n in (2, 3, 7, 40):
        _same_rounds(_matrix(kind, n, rng), _signs(n, rng), np.ones(n), 6, 4, n, real)


@settings(max_examples=30)
@given(st.data())
def test_rounds_of_ugly_problems_are_those_of_the_reference(data):
    rng = np.random.default_rng(data.draw(st.integers(0, 10**6)))
    n, kind = data.draw(st.integers(2, 200)), data.draw(st.sampled_from(KINDS))
    S, y = _matrix(kind, n, rng), _signs(n, rng)
    if data.draw(st.booleans()):
        y[1:] = -1  # one positive sample
    if data.draw(st.booleans()):
        with np.errstate(over="ignore"):
            S = np.clip(S, -1e38, 1e38).astype(np.float32)
    weights = 10.0 ** rng.uniform(-1, 1, n) if data.draw(st.booleans()) else np.ones(n)
    n_rounds, n_pairs = data.draw(st.sampled_from([(1, 1), (3, 30), (110, 3)]))
    _same_rounds(S, y, weights, n_rounds, n_pairs, 5, data.draw(st.booleans()))


@pytest.mark.parametrize("real", [False, True])
def test_reference_finds_the_best_of_all_cuts(real):
    rng = np.random.default_rng(1)
    for kind in KINDS:
        n = 12
        S, y = _matrix(kind, n, rng), _signs(n, rng)
        units = reference.in_units(rng.random(n))
        pairs = np.array([(p, m) for p in np.flatnonzero(y > 0) for m in np.flatnonzero(y < 0)])

        def loss(pair, cut, S=S, y=y, units=units):
            above = S[:, pair[0]] - S[:, pair[1]] > cut
            if not real:
                return units[above != (y > 0)].sum()
            masses = [[units[side & (y == sign)].sum() for sign in (1, -1)] for side in (above, ~above)]
            return sum(2 * np.sqrt(a * b) for a, b in masses)

        m, cut = reference.best_cut(np.ascontiguousarray(S.T), y, units, pairs, real)
        values = [np.unique(S[:, p] - S[:, q]) for p, q in pairs]
        cuts = [[-np.inf, *((v[1:] + v[:-1]) / 2), np.inf] for v in values]
        least = min(loss(pair, c) for pair, own in zip(pairs, cuts) for c in own)
        assert np.isclose(loss(pairs[m], cut), least, rtol=1e-12)


@settings(max_examples=30)
@given(st.integers(0, 10**6), st.sampled_from(KINDS), st.sampled_from(["discrete", "real"]), st.integers(2, 40))
def test_coefficients_and_training_error_follow_from_the_weights(seed, kind, algorithm, n):
    rng = np.random.default_rng(seed)
    S, y = _matrix(kind, n, rng), _signs(n, rng)
    model = _fitted(S, y, algorithm=algorithm, n_rounds=12, random_state=seed)
    H, D = _base_classifiers(model, S), np.full(n, 1 / n)
    bound = 1.0
    for t in range(12):
        if algorithm == "discrete":
            gamma = min(np.sum(D * y * H[:, t]), 1 - 1e-10)
            assert gamma >= -1e-9
            assert np.isclose(np.tanh(model.alphas_[t]), gamma, rtol=0, atol=1e-9)
            f = model.alphas_[t] * H[:, t]
            bound *= np.sqrt(1 - np.tanh(model.alphas_[t]) ** 2)
        else:
            masses = [[D[(H[:, t] == side) & (y == sign)].sum() + 1 / n for sign in (1, -1)] for side in (-1, 1)]
            assert np.allclose(model.alphas_[t], [np.log(a / b) / 2 for a, b in masses], atol=1e-6)
            f = np.where(H[:, t] > 0, model.alphas_[t, 1], model.alphas_[t, 0])
            bound *= np.sum(D * np.exp(-y * f))
        D = D * np.exp(-y * f)
        D /= D.sum()
    assert np.mean(model.predict(S) != y) <= bound + 1e-9


def test_decision_values_are_sums_over_rounds():
    S, y, rows, y_new = _problem()
    signs = np.where(y_new == 1, 1, -1)
    for algorithm in ALGORITHMS:
        model = _fitted(S, y, algorithm=algorithm)
        H, alphas = _base_classifiers(model, rows), model.alphas_
        assert model.pairs_.shape == (30, 2)
        assert np.all(y[model.pairs_] == [1, 0])
        if algorithm == "real":
            f = np.where(H > 0, alphas[:, 1], alphas[:, 0]).sum(axis=1)
            scale = np.abs(alphas).max(axis=1).sum()
        else:
            f, scale = H @ alphas, alphas.sum()
        assert np.allclose(model.decision_function(rows), f, rtol=1e-12)
        assert np.array_equal(model.predict(rows), (model.decision_function(rows) > 0).astype(int))
        margins = model.margins(rows, y_new)
        assert np.allclose(margins, signs * f / scale)
        assert np.all(np.abs(margins) <= 1 + 1e-12)
        assert hasattr(model, "predict_proba") == (algorithm != "vote")
        if algorithm != "vote":
            assert np.allclose(model.predict_proba(rows)[:, 1], expit(2 * f))


def test_a_perfect_pair_has_a_finite_coefficient():
    S = np.where(np.arange(10)[:, None] % 2 == np.arange(10) % 2, 1.0, 0.0)
    model = _fitted(S, np.arange(10) % 2, n_rounds=5)
    assert np.allclose(model.alphas_, np.log((2 - 1e-10) / 1e-10) / 2)
    assert np.array_equal(model.thresholds_, np.zeros(5))
    assert np.array_equal(model.margins(S, np.arange(10) % 2), np.ones(10))


def test_nothing_to_learn_gives_the_larger_class():
    S = np.ones((7, 7))
    for algorithm in ("discrete", "real"):
        model = _fitted(S, [0, 0, 1, 1, 1, 1, 1], algorithm=algorithm)
        assert model.predict(S).tolist() == [1] * 7
        even = _fitted(S[:4, :4], [0, 1, 0, 1], algorithm=algorithm)
        # f(x) = 0 says the first class.
        assert even.predict(S[:4, :4]).tolist() == [0] * 4
        assert not even.alphas_.any()
    assert np.all(_fitted(S, [0, 0, 1, 1, 1, 1, 1], algorithm="vote").decision_function(S) == -1)


@pytest.mark.parametrize("multiclass", ["ovo", "ovr"])
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_more_classes(algorithm, multiclass):
    S, y, rows, y_new = _problem(90, centers=4)
    model = _fitted(S, y, algorithm=algorithm, multiclass=multiclass)
    problems = list(combinations(range(4), 2)) if multiclass == "ovo" else [(None, g) for g in range(4)]
    assert len(model.pairs_) == len(model.thresholds_) == len(model.alphas_) == len(problems)
    margins = []
    for i, (first, second) in enumerate(problems):
        assert np.all(y[model.pairs_[i][:, 0]] == second)
        negative = y[model.pairs_[i][:, 1]]
        assert np.all(negative == first if multiclass == "ovo" else negative != second)
        h = rows[:, model.pairs_[i][:, 0]] - rows[:, model.pairs_[i][:, 1]] + model.thresholds_[i] > 0
        alphas = model.alphas_[i] if algorithm == "real" else model.alphas_[i][:, None] * [-1, 1]
        f = np.where(h, alphas[:, 1], alphas[:, 0]).sum(axis=1)
        margins.append(f / np.abs(alphas).max(axis=1).sum())
    expected, worst = [], []
    for r in range(len(rows)):
        f = [m[r] for m in margins]
        own = y_new[r]
        if multiclass == "ovr":
            expected.append(int(np.argmax(f)))
            worst.append((f[own] - max(f[g] for g in range(4) if g != own)) / 2)
        else:
            won = [sum((b if f[i] > 0 else a) == g for i, (a, b) in enumerate(problems)) for g in range(4)]
            total = [sum((b == g) * f[i] - (a == g) * f[i] for i, (a, b) in enumerate(problems)) for g in range(4)]
            expected.append(max(range(4), key=lambda g: (won[g], total[g])))
            worst.append(min(f[i] if b == own else -f[i] for i, (a, b) in enumerate(problems) if own in (a, b)))
    assert model.predict(rows).tolist() == expected
    assert np.allclose(model.margins(rows, y_new), worst)
    assert model.decision_function(rows).shape == (len(rows), 4)
    assert not hasattr(model, "predict_proba")
    assert model.score(rows, y_new) > 0.5


@pytest.mark.parametrize("centers", [2, 3])
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_stages_are_shorter_fits(algorithm, centers):
    S, y, rows, _ = _problem(centers=centers)
    names = np.array(["a", "b", "c"])[y]
    whole = _fitted(S, names, algorithm=algorithm, n_rounds=130)
    stages = list(zip(whole.staged_decision_function(rows), whole.staged_predict(rows)))
    assert len(stages) == whole.n_rounds_ == 130
    for t in (1, 2, 64, 65, 100, 101, 130):
        part = _fitted(S, names, algorithm=algorithm, n_rounds=t)
        assert np.array_equal(stages[t - 1][0], part.decision_function(rows))
        assert np.array_equal(stages[t - 1][1], part.predict(rows))


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_search_scores_equal_those_of_plain_fits(algorithm):
    S, y, rows, _ = _problem(centers=3)
    grid, folds = {"n_rounds": [20, 1, 5], "n_pairs": [2, 6]}, StratifiedKFold(3)
    model = DBoostClassifier(algorithm=algorithm, random_state=3)
    path, plain = (search(model, grid, cv=folds).fit(S, y) for search in (PathSearchCV, GridSearchCV))
    assert np.array_equal(path.cv_results_["mean_test_score"], plain.cv_results_["mean_test_score"])
    assert np.array_equal(path.predict(rows), plain.predict(rows))
    if algorithm != "vote":
        two = y < 2
        S, y = S[np.ix_(two, two)], y[two]
        path, plain = (
            search(model, grid, cv=folds, scoring="neg_log_loss").fit(S, y) for search in (PathSearchCV, GridSearchCV)
        )
        assert np.allclose(path.cv_results_["mean_test_score"], plain.cv_results_["mean_test_score"], atol=1e-12)


def test_the_number_of_threads_changes_nothing(monkeypatch):
    S, y, rows, _ = _problem(120, centers=5)
    models = []
    for threads in ("1", "2"):
        monkeypatch.setenv("OMP_NUM_THREADS", threads)
        models.append(_fitted(S, y))
    for name in ("pairs_", "thresholds_", "alphas_"):
        assert all(np.array_equal(a, b) for a, b in zip(*(getattr(model, name) for model in models)))
    assert np.array_equal(*(model.decision_function(rows) for model in models))
    assert not np.array_equal(models[0].pairs_[0], _fitted(S, y, random_state=1).pairs_[0])


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_what_is_added_to_rows_or_multiplied_changes_nothing(algorithm):
    rng = np.random.default_rng(4)
    S, y, rows, _ = _problem()
    # In eighths, so that sums are exact.
    S, rows = np.round(8 * S) / 8, np.round(8 * rows) / 8
    model = _fitted(S, y, algorithm=algorithm)
    shifts, new_shifts = rng.integers(-50, 50, (len(S), 1)) / 4, rng.integers(-50, 50, (len(rows), 1)) / 4
    other = _fitted(2 * S + shifts, y, algorithm=algorithm)
    assert np.array_equal(other.pairs_, model.pairs_)
    assert np.array_equal(other.thresholds_, 2 * model.thresholds_)
    assert np.array_equal(other.decision_function(2 * rows + new_shifts), model.decision_function(rows))
    maps = [_fitted(-S, y, algorithm=algorithm, dissimilarity=how) for how in ("negate", "max-minus")]
    for mapped in maps:
        assert np.array_equal(mapped.pairs_, model.pairs_)
        assert np.array_equal(mapped.decision_function(-rows), model.decision_function(rows))
    # An increasing map of all similarities is another classifier, unless all thresholds are 0.
    squashed = _fitted(np.exp(S / 4), y, algorithm=algorithm)
    same = np.array_equal(squashed.decision_function(np.exp(rows / 4)), model.decision_function(rows))
    assert same == (algorithm == "vote")


@pytest.mark.parametrize("centers", [2, 4])
def test_rows_with_the_columns_of_pairs_are_enough(centers):
    S, y, rows, y_new = _problem(centers=centers)
    model = _fitted(S, y, n_rounds=6, n_pairs=3)
    used = np.unique(np.concatenate([np.ravel(pairs) for pairs in np.reshape(model.pairs_, (-1, 2))]))
    assert np.array_equal(model.support_columns_, used)
    assert len(used) < len(S)
    blank = np.zeros_like(rows)
    blank[:, used] = rows[:, used]
    for given_rows in (blank, rows[:, used]):
        assert np.array_equal(model.decision_function(given_rows), model.decision_function(rows))
        assert np.array_equal(model.margins(given_rows, y_new), model.margins(rows, y_new))
    again = pickle.loads(pickle.dumps(model))
    assert np.array_equal(again.decision_function(rows[:, used]), model.decision_function(rows))


@pytest.mark.parametrize("how", ["negate", "double-centring"])
def test_raw_objects(how):
    rng = np.random.default_rng(6)
    X, new = rng.normal(size=(30, 2)), rng.normal(size=(9, 2))
    y = (X[:, 0] > 0).astype(int)
    raw = _fitted(X, y, n_rounds=5, similarity="manhattan", dissimilarity=how)
    model = _fitted(manhattan_distances(X), y, n_rounds=5, dissimilarity=how)
    assert np.array_equal(raw.pairs_, model.pairs_)
    assert np.allclose(raw.decision_function(new), model.decision_function(manhattan_distances(new, X)))
    assert model.score(manhattan_distances(X), y) > 0.8


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_sample_weights(algorithm):
    S, y, rows, _ = _problem()
    weights = np.random.default_rng(5).integers(0, 3, len(y)).astype(float)
    kept = np.flatnonzero(weights)
    model = DBoostClassifier(20, 8, algorithm, random_state=0)
    weighted = model.fit(S, y, sample_weight=weights).decision_function(rows)
    tripled = model.fit(S, y, sample_weight=3 * weights).decision_function(rows)
    assert np.allclose(weighted, tripled)
    without = model.fit(S[np.ix_(kept, kept)], y[kept], sample_weight=weights[kept])
    assert np.array_equal(without.decision_function(rows[:, kept]), weighted)
    if algorithm != "vote":
        # The first round minimises the error that the weights say.
        weights = np.where(np.arange(len(y)) < 40, 1e6, 1.0)
        first = model.set_params(n_rounds=1, n_pairs=400).fit(S, y, sample_weight=weights)
        light = model.__class__(1, 400, algorithm, random_state=0).fit(S, y)
        assert np.sum((first.predict(S) != y)[:40]) <= np.sum((light.predict(S) != y)[:40])


def test_two_samples_and_a_class_each():
    assert _fitted(np.eye(2), ["x", "y"]).predict([[1, 0], [0, 1]]).tolist() == ["x", "y"]
    for multiclass in ("ovo", "ovr"):
        for algorithm in ALGORITHMS:
            model = _fitted(np.eye(6), np.arange(6), multiclass=multiclass, algorithm=algorithm)
            assert model.predict(np.eye(6)).tolist() == list(range(6))


def _figure_one(n, rng):
    """Positive samples uniform on [1/8, 9/8], negative ones on its mirror; d = |x - x'|."""
    x = rng.uniform(1 / 8, 9 / 8, n) * np.where(np.arange(n) % 2, 1, -1)
    return x, (x > 0).astype(int)


def test_vote_on_the_example_of_figure_one():
    """Theorem 2: with (4 / gamma^2) ln(1 / delta) pairs the error is at most epsilon + delta, epsilon(3/4) = 1/8."""
    rng = np.random.default_rng(7)
    x, y = _figure_one(600, rng)
    new, y_new = _figure_one(600, rng)
    S, rows = -np.abs(x[:, None] - x), -np.abs(new[:, None] - x)
    gamma, epsilon, delta = 3 / 4, 1 / 8, 0.05
    n_rounds = int(np.ceil(4 / gamma**2 * np.log(1 / delta)))
    models = [DBoostClassifier(n_rounds, algorithm="vote", random_state=seed).fit(S, y) for seed in range(20)]
    errors = [1 - model.score(rows, y_new) for model in models]
    assert np.mean(np.array(errors) <= epsilon + delta) >= 1 - delta
    # With ever more pairs f(x) becomes 2 g(x) - 1, for the share g of pairs that are right about x.
    f = DBoostClassifier(20_000, algorithm="vote", random_state=0).fit(S, y).decision_function(rows)
    g = 1 - np.maximum(1 - 2 * np.abs(new), 0) ** 2 / 2
    assert np.allclose(np.where(y_new == 1, f, -f), 2 * g - 1, atol=0.08)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_rounds": 0}, "n_rounds must be an integer of at least 1; got 0"),
        ({"n_rounds": 2.0}, "n_rounds must be an integer"),
        ({"n_pairs": True}, "n_pairs must be an integer of at least 1, or 'all'; got True"),
        ({"n_pairs": "every"}, "n_pairs must be an integer of at least 1, or 'all'; got 'every'"),
        ({"pair_share": 1}, "pair_share must be None or a number between 0 and 1; got 1"),
        ({"pair_share": "half"}, "pair_share must be None or a number between 0 and 1; got 'half'"),
        ({"pair_share": 0.5, "algorithm": "vote"}, "pair_share must be None with algorithm='vote'"),
        ({"algorithm": "ada"}, "algorithm must be one of"),
        ({"multiclass": "crammer"}, "multiclass must be one of"),
    ],
)
def test_bad_parameters(parameters, message):
    with pytest.raises(ValueError, match=message):
        DBoostClassifier(**parameters).fit(np.eye(4), [0, 1, 0, 1])
    with pytest.raises(ValueError, match=message):
        GridFit(DBoostClassifier(**parameters), np.eye(4), [0, 1, 0, 1], [{}])


def test_bad_input():
    S, y = np.eye(4), np.array([0, 0, 1, 1])
    model = DBoostClassifier(3)
    with pytest.raises(ValueError, match="at least two classes"):
        model.fit(S, [1, 1, 1, 1])
    with pytest.raises(ValueError, match="largest similarity is 1e\\+301"):
        model.fit(1e301 * S, y)
    with pytest.raises(ValueError, match="sample_weight must hold finite numbers"):
        model.fit(S, y, sample_weight=[1, 1, 1, -1])
    with pytest.raises(ValueError, match="class 1 has none"):
        model.fit(S, y, sample_weight=[1, 1, 0, 0])
    with pytest.raises(ValueError, match="class 7"):
        model.fit(S, y).margins(S, [0, 0, 1, 7])


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("centers", [2, 3])
def test_a_point_of_a_path_is_the_plain_fit(algorithm, centers):
    S, y, rows, truth = _problem(centers=centers)
    model = DBoostClassifier(n_pairs=8, algorithm=algorithm, random_state=0)
    grid = [{"n_rounds": n} for n in (12, 3, 12, 40)]
    path = GridFit(model, S, y, grid)
    for i, point in enumerate(grid):
        plain, found = clone(model).set_params(**point).fit(S, y), path.at(i)
        for response in ("predict", "decision_function"):
            assert np.array_equal(path.answers(rows, response)[i], getattr(plain, response)(rows))
            assert np.array_equal(getattr(found, response)(rows), getattr(plain, response)(rows))
        assert found.n_rounds_ == point["n_rounds"]
        assert all(np.array_equal(a, b) for a, b in zip(found.pairs_, plain.pairs_, strict=True))
        assert np.array_equal(found.support_columns_, plain.support_columns_)
        assert np.array_equal(found.margins(rows, truth), plain.margins(rows, truth))
        assert np.array_equal(list(found.staged_predict(rows)), list(plain.staged_predict(rows)))


def test_parameters_set_after_fit_wait_for_the_next_fit():
    S, y, rows, truth = _problem()
    model = _fitted(S, y)
    expected, margins = model.decision_function(rows), model.margins(rows, truth)
    model.set_params(n_rounds=2, algorithm="vote", multiclass="ovr", dissimilarity="negate")
    assert np.array_equal(model.decision_function(rows), expected)
    assert np.array_equal(model.margins(rows, truth), margins)
    assert hasattr(model, "predict_proba")
    assert not hasattr(model.fit(S, y), "predict_proba")


@pytest.mark.parametrize(("centers", "algorithm"), [(2, "vote"), (3, "discrete")])
def test_a_path_without_probabilities_gives_none(centers, algorithm):
    S, y, rows, _ = _problem(centers=centers)
    path = GridFit(DBoostClassifier(5, 4, algorithm, random_state=0), S, y, [{}])
    with pytest.raises(AttributeError, match="predict_proba needs a fit to two classes"):
        path.answers(rows, "predict_proba")
    assert not hasattr(path.at(0), "predict_proba")


@pytest.mark.parametrize("algorithm", ["discrete", "real"])
def test_units_in_which_equal_differences_are_rounded_differently_change_nothing(algorithm):
    rng = np.random.default_rng(0)
    S, rows, y = rng.integers(0, 12, (40, 40)), rng.integers(0, 12, (300, 40)), np.repeat([0, 1, 2], 14)[:40]
    expected = _fitted(S, y, algorithm=algorithm).decision_function(rows)
    for factor in (2.0**-20, 1e-6, 1e-3, 0.1, 1e3):
        assert np.array_equal(_fitted(factor * S, y, algorithm=algorithm).decision_function(factor * rows), expected)
