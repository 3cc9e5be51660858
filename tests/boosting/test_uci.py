"""A slice of the reproduction of Wang et al., Table 2: Monk 1, which is made of a rule, with fewer rounds."""

from benchmarks.bench_uci import errors, uci
from sklearn.metrics import pairwise_distances


def test_monk_1_is_learned_by_dboost_and_not_by_the_nearest_neighbour():
    X, y = uci("monk1")
    D = pairwise_distances(X, metric="manhattan")
    assert errors(D, y, "DBoost", n_rounds=100).mean() < 3
    assert 15 < errors(D, y, "NN").mean() < 26
