"""DBoost over all pairs, and with one sample for pairs and another for training."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, StratifiedKFold

from similitude import PathSearchCV
from similitude.boosting import _rounds
from similitude.boosting._rounds import searched_rounds
from similitude.boosting.dboost import DBoostClassifier
from similitude.persistence import load_model, save_model
from tests.boosting.problems import KINDS, fitted, matrix, problem, signs
from tests.reference import dboost as reference


@settings(max_examples=40)
@given(st.data())
def test_rounds_among_given_pairs_are_those_of_the_reference(data):
    rng = np.random.default_rng(data.draw(st.integers(0, 10**6)))
    n, kind, real = data.draw(st.integers(2, 60)), data.draw(st.sampled_from(KINDS)), data.draw(st.booleans())
    y = np.sort(signs(n, rng))[::-1]
    n_plus = data.draw(st.integers(1, 5))
    # The samples that form pairs are others than those on which boosting trains.
    columns = np.ascontiguousarray(matrix(kind, n + 9, rng)[:n, n : n + n_plus + data.draw(st.integers(1, 4))].T)
    weights = 10.0 ** rng.uniform(-1, 1, n)
    every = np.array([(p, q) for p in range(n_plus) for q in range(n_plus, len(columns))])
    candidates = n_plus
    if data.draw(st.booleans()):
        every = candidates = rng.permutation(every)[: data.draw(st.integers(1, len(every)))]
    found = searched_rounds(columns, int(np.sum(y > 0)), weights, 7, candidates, real)
    pairs, cuts, outputs = reference.boost_among(columns, y, weights, every, 7, real)
    assert np.array_equal(found.pairs, pairs)
    assert np.array_equal(found.cuts, cuts)
    assert np.allclose(found.outputs, outputs, rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("algorithm", ["discrete", "real"])
def test_all_pairs(algorithm, monkeypatch):
    S, y, rows, _ = problem(60)
    model = fitted(S, y, n_pairs="all", n_rounds=12, algorithm=algorithm)
    order = np.concatenate([np.flatnonzero(y == 1), np.flatnonzero(y == 0)])
    n_positive = int(np.sum(y == 1))
    every = np.array([(p, q) for p in range(n_positive) for q in range(n_positive, 60)])
    signs = np.where(y[order] == 1, 1, -1)
    expected = reference.boost_among(S[np.ix_(order, order)].T, signs, np.ones(60), every, 12, algorithm == "real")
    assert np.array_equal(model.pairs_, order[expected[0]])
    assert np.array_equal(model.thresholds_, -expected[1])
    # Nothing is drawn, the interruptions have no effect, and no other choice of pairs has a better first round.
    monkeypatch.setattr(_rounds, "_CHUNK_PAIRS", 1)
    again = fitted(S, y, n_pairs="all", n_rounds=12, algorithm=algorithm, random_state=5)
    assert np.array_equal(again.decision_function(rows), model.decision_function(rows))
    if algorithm == "discrete":
        others = [fitted(S, y, n_pairs=50, n_rounds=1, random_state=seed).alphas_[0] for seed in range(10)]
        assert model.alphas_[0] >= max(others)


@pytest.mark.parametrize("n_pairs", [15, "all"])
@pytest.mark.parametrize("algorithm", ["discrete", "real"])
def test_two_samples_one_for_pairs_and_one_for_boosting(algorithm, n_pairs):
    S, y, rows, y_new = problem(100)
    weights = np.random.default_rng(3).uniform(0.5, 2.0, 100)
    model = DBoostClassifier(25, n_pairs, algorithm, random_state=0, pair_share=0.3).fit(S, y, sample_weight=weights)
    seed = np.random.RandomState(0).randint(2**31 - 1, size=1)[0]
    stream = np.random.default_rng(seed)
    drawn = [stream.permutation(np.flatnonzero(y == g)) for g in (1, 0)]
    sizes = [round(0.3 * len(side)) for side in drawn]
    plus, minus = (np.sort(side[:size]) for side, size in zip(drawn, sizes))
    training = np.concatenate([np.sort(side[size:]) for side, size in zip(drawn, sizes)])
    assert set(model.support_columns_) <= {*plus, *minus}
    pool = np.concatenate([plus, minus])
    if n_pairs == "all":
        candidates = np.array([(p, q) for p in range(len(plus)) for q in range(len(plus), len(pool))])
    else:
        uniforms = stream.random((n_pairs, 2))
        chosen = [reference.drawn(weights[side], uniforms[:, i]) for i, side in enumerate((plus, minus))]
        candidates = np.column_stack([chosen[0], len(plus) + chosen[1]])
        assert len(np.unique(model.pairs_, axis=0)) <= n_pairs
    expected = reference.boost_among(
        S[np.ix_(training, pool)].T,
        np.where(y[training] == 1, 1, -1),
        weights[training],
        candidates,
        25,
        algorithm == "real",
    )
    assert np.array_equal(model.pairs_, pool[expected[0]])
    assert np.array_equal(model.thresholds_, -expected[1])
    assert model.score(rows, y_new) > 0.7
    # Rows of the samples that only train are not needed, but those that form pairs never train.
    changed = S.copy()
    changed[pool] = 0.0
    other = DBoostClassifier(25, n_pairs, algorithm, random_state=0, pair_share=0.3)
    assert np.array_equal(other.fit(changed, y, sample_weight=weights).thresholds_, model.thresholds_)


@pytest.mark.parametrize("parameters", [{"n_pairs": "all"}, {"pair_share": 0.5}, {"pair_share": 0.5, "n_pairs": "all"}])
def test_searched_pairs_in_a_search_and_in_a_file(parameters, tmp_path):
    S, y, rows, _ = problem(60, centers=3)
    model = DBoostClassifier(random_state=3, **parameters)
    grid = {"n_rounds": [10, 1, 4], "algorithm": ["discrete", "real"]}
    path, plain = (search(model, grid, cv=StratifiedKFold(3)).fit(S, y) for search in (PathSearchCV, GridSearchCV))
    assert np.array_equal(path.cv_results_["mean_test_score"], plain.cv_results_["mean_test_score"])
    assert np.array_equal(path.predict(rows), plain.predict(rows))
    save_model(tmp_path / "model", path.best_estimator_)
    loaded = load_model(tmp_path / "model")
    assert loaded.get_params() == path.best_estimator_.get_params()
    assert np.array_equal(loaded.decision_function(rows), path.decision_function(rows))
    # Every class may have one sample.
    one_each = clone(model).set_params(n_rounds=3).fit(np.eye(4), np.arange(4))
    assert one_each.predict(np.eye(4)).tolist() == [0, 1, 2, 3]
