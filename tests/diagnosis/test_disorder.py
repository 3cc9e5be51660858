from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import sparse
from sklearn.metrics.pairwise import euclidean_distances

from similitude import Proximities, diagnose, disorder
from similitude.diagnosis.disorder import verdict


def rank(S, x, y):
    """1 for the most similar to x; tied samples share the mean of their ranks."""
    others = [S[x, j] for j in range(len(S)) if j != x]
    return sum(s > S[x, y] for s in others) + (sum(s == S[x, y] for s in others) + 1) / 2


@settings(max_examples=25)
@given(
    st.integers(3, 7).flatmap(lambda n: arrays(float, (n, n), elements=st.integers(-2, 3).map(float))),
    st.sampled_from([1.0, 1e-150, 1e150]),
)
def test_constant_is_the_definition(S, scale):
    found = disorder(S * scale)
    triples = list(permutations(range(len(S)), 3))
    expected = max(rank(S, x, y) / (rank(S, z, x) + rank(S, z, y)) for z, x, y in triples)
    assert found.constant == pytest.approx(expected, abs=1e-12)
    assert found.exhaustive
    assert found.n_triples == len(triples)
    assert found.quantile_95 <= found.quantile_99 <= found.constant


def test_quantiles_weigh_ranks_by_their_reciprocals():
    rng = np.random.default_rng(0)
    S = rng.random((6, 6))
    ratios, weights = [], []
    for z, x, y in permutations(range(6), 3):
        ratios.append(rank(S, x, y) / (rank(S, z, x) + rank(S, z, y)))
        weights.append(1 / (rank(S, z, x) * rank(S, z, y)))
    ratios, weights = np.array(ratios), np.array(weights) / np.sum(weights)
    found = disorder(S)
    for share, value in ((0.95, found.quantile_95), (0.99, found.quantile_99)):
        assert weights[ratios <= value].sum() >= share - 1e-9
        assert weights[ratios < value].sum() < share


def test_a_sample_of_triples_agrees_with_all():
    S = -euclidean_distances(np.random.default_rng(1).normal(size=(60, 3)))
    all_of_them, some = disorder(S, n_triples=10**6), disorder(S)
    assert all_of_them.exhaustive
    assert not some.exhaustive
    assert some.quantile_95 == pytest.approx(all_of_them.quantile_95, rel=0.05)
    assert some.constant <= all_of_them.constant
    assert disorder(S, random_state=0) == some
    assert disorder(S, random_state=1) != some


def test_few_triples_are_enough_for_an_answer():
    S = np.random.default_rng(0).random((9, 9))
    for n, n_triples, seed in [(3, 1, 2), (3, 5, 2), (4, 1, 1), (9, 2, 0)]:
        found = disorder(S[:n, :n], n_triples=n_triples, random_state=seed)
        assert 1 <= found.n_triples <= n_triples + n
        assert 0 < found.constant <= disorder(S[:n, :n]).constant


def test_order_is_told_from_disorder():
    rng = np.random.default_rng(2)
    found = [disorder(-euclidean_distances(rng.normal(size=(300, d)))).quantile_95 for d in (1, 4, 16, 64)]
    assert found == sorted(found)
    assert found[0] < 2
    assert disorder(rng.random((300, 300))).quantile_95 > found[-1] > 10


def test_dissimilarities_and_other_inputs():
    D = euclidean_distances(np.random.default_rng(3).normal(size=(20, 2)))
    expected = disorder(-D)
    for how in ("negate", "max-minus", "reciprocal"):
        assert disorder(D, dissimilarity=how) == expected
    assert disorder(sparse.csr_matrix(-D)) == disorder(Proximities(-D)) == expected
    assert disorder(np.ones((5, 5))).constant == 0.5


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"S": np.eye(2)}, "three samples"),
        ({"S": np.eye(4), "n_triples": 0}, "n_triples"),
        ({"S": np.eye(4), "n_triples": True}, "n_triples"),
        ({"S": np.eye(4), "dissimilarity": "upside-down"}, "dissimilarity"),
        ({"S": np.ones((3, 4))}, "S"),
    ],
)
def test_refusals(arguments, message):
    with pytest.raises(ValueError, match=message):
        disorder(**arguments)


def test_diagnose_shows_it():
    S = -euclidean_distances(np.random.default_rng(4).normal(size=(40, 2)))
    found = diagnose(S)
    assert found.disorder == pytest.approx(disorder(S).quantile_95, rel=0.1)
    assert f"disorder (95%)            {found.disorder:.4g}, small: a neighbour graph" in str(found)
    assert diagnose(np.eye(2)).disorder is None
    assert "disorder (95%)            not defined" in str(diagnose(np.eye(2)))
    assert disorder(S).verdict == verdict(disorder(S).quantile_95)
    assert "triples" in str(disorder(S))
    assert len({verdict(value) for value in (1.0, 12.0, 100.0)}) == 3
