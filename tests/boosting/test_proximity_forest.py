"""ProximityForest against a tree that is grown and asked in the obvious way."""

import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV

from similitude import KNNClassifier, PathSearchCV, Proximities, ProximityForest, load_model, save_model
from similitude._native import vote_trees
from tests.reference.proximity_forest import grow, vote

N, M = 40, 15


def _problem(values, seed=0, n_classes=3):
    """Two similarities of N samples and M rows: continuous, or with so few values that most comparisons are tied."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_classes, N + M)
    y[:n_classes] = np.arange(n_classes)
    found = {}
    for name, strength in (("good", 1.0), ("bad", 0.2)):
        S = strength * (y[:, None] == y) + rng.normal(size=(N + M, N + M))
        found[name] = np.round(S) if values == "tied" else np.zeros_like(S) if values == "constant" else S
    train = {name: S[:N, :N] for name, S in found.items()}
    return train, {name: S[N:, :N] for name, S in found.items()}, y[:N], y[N:]


@pytest.mark.parametrize("values", ["continuous", "tied", "constant"])
def test_trees_equal_obvious_ones(values):
    train, rows, y, _ = _problem(values)
    forest = ProximityForest(7, 4, random_state=3).fit(train, y)
    seeds = np.random.RandomState(3).randint(2**63 - 1, size=7, dtype=np.int64)
    trees = [grow(list(train.values()), y, 4, seed) for seed in seeds]
    expected = [np.mean([vote(t, [S[i] for S in rows.values()], 3) for t in trees], axis=0) for i in range(M)]
    np.testing.assert_allclose(forest.predict_proba(rows), expected, atol=1e-12)
    if values == "constant":  # nothing is known but the shares of the classes
        np.testing.assert_allclose(expected, np.tile(np.bincount(y) / N, (M, 1)))


def test_increasing_functions_and_classes_in_another_order_change_nothing():
    train, rows, y, _ = _problem("tied")
    forest = ProximityForest(30, random_state=0).fit(train, y)
    other = {"good": lambda S: np.exp(S / 9), "bad": lambda S: 7 * S - 3}
    again = ProximityForest(30, random_state=0).fit({name: f(train[name]) for name, f in other.items()}, y)
    posteriors = again.predict_proba({name: f(rows[name]) for name, f in other.items()})
    np.testing.assert_array_equal(posteriors, forest.predict_proba(rows))
    assert forest.shares_ == again.shares_
    # Without a draw of samples the order of the classes has no effect either: a tied row counts for both.
    for labels in ([0, 1], [1, 0]):
        tie = ProximityForest(5, random_state=0).fit([[2.0, 0.0], [0.0, 2.0]], labels)
        np.testing.assert_array_equal(tie.predict_proba([[1.0, 1.0]]), [[0.5, 0.5]])


def test_it_finds_the_better_similarity_and_beats_the_nearest_neighbour():
    rng = np.random.default_rng(1)
    y = np.repeat([0, 1], 60)
    X = rng.normal(size=(120, 8)) + 1.2 * y[:, None]
    S = {"all": -np.linalg.norm(X[:, None] - X, axis=2), "noise": rng.normal(size=(120, 120))}
    train, test = np.arange(0, 120, 2), np.arange(1, 120, 2)
    cut = {name: values[np.ix_(train, train)] for name, values in S.items()}
    rows = {name: values[np.ix_(test, train)] for name, values in S.items()}
    forest = ProximityForest(200, random_state=0).fit(cut, y[train])
    assert forest.shares_["all"] > 0.7
    assert sum(forest.shares_.values()) == pytest.approx(1.0)
    nearest = KNNClassifier(1).fit(cut["all"], y[train])
    assert forest.score(rows, y[test]) > nearest.score(rows["all"], y[test])


def test_a_search_equals_separate_fits(tmp_path):
    train, rows, y, _ = _problem("continuous")
    X, grid = Proximities(train), {"n_trees": [1, 20, 5]}
    ours = PathSearchCV(ProximityForest(random_state=0), grid, cv=3, scoring="neg_log_loss").fit(X, y)
    peer = GridSearchCV(ProximityForest(random_state=0), grid, cv=3, scoring="neg_log_loss").fit(X, y)
    np.testing.assert_allclose(ours.cv_results_["mean_test_score"], peer.cv_results_["mean_test_score"])
    model = ours.best_estimator_
    single = ProximityForest(random_state=0, **ours.best_params_).fit(train, y)
    np.testing.assert_array_equal(model.predict_proba(rows), single.predict_proba(rows))
    save_model(tmp_path / "forest.model", single)
    np.testing.assert_array_equal(load_model(tmp_path / "forest.model").predict_proba(rows), model.predict_proba(rows))
    few = ProximityForest(2, 1, random_state=0).fit(train["good"], y)
    columns = few.support_columns_
    assert len(columns) < N
    np.testing.assert_array_equal(few.predict(rows["good"][:, columns]), few.predict(rows["good"]))


@pytest.mark.parametrize("options", [{"n_trees": 0}, {"n_candidates": 1.5}])
def test_parameters_are_checked(options):
    with pytest.raises(ValueError, match=next(iter(options))):
        ProximityForest(**options).fit(np.eye(4), [0, 0, 1, 1])


def test_compiled_votes_refuse_nodes_that_do_not_fit_together():
    nodes = {"kinds": [0, -1, -1], "first": [1, 0, 1], "counts": [2, 0, 0], "exemplars": [-1, 0, 1]}
    rows, starts = np.ones((1, 1, 2)), np.array([0, 3])

    def votes(**changes):
        found = np.zeros((1, 2))
        arrays = [np.array(values, dtype=np.int32) for values in (nodes | changes).values()]
        vote_trees(rows, *arrays, starts, found)
        return found.tolist()

    assert votes() == [[0.5, 0.5]]
    wrong = [{"kinds": [1, -1, -1]}, {"first": [0, 0, 1]}, {"first": [1, 0, 2]}, {"counts": [3, 0, 0]}]
    for changes in [*wrong, {"exemplars": [-1, 0, 2]}, {"counts": [0, 0, 0]}, {"kinds": [0, -1]}]:
        with pytest.raises(ValueError, match="must"):
            votes(**changes)
