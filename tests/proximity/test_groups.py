"""Groups of similar samples, against a search through the graph written out."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from similitude import Proximities, similarity_groups
from similitude.diagnosis import diagnose


def walked(linked):
    """Return the components of a graph, numbered in the order of their first nodes, by a walk from each node."""
    n = len(linked)
    found = np.full(n, -1)
    for start in range(n):
        if found[start] < 0:
            number, waiting = found.max() + 1, [start]
            while waiting:
                i = waiting.pop()
                if found[i] < 0:
                    found[i] = number
                    waiting += [j for j in range(n) if linked[i, j] or linked[j, i]]
    return found.tolist()


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 12), st.integers(0, 2**31), st.sampled_from([0.0, 0.3, 0.7, 0.95]), st.booleans())
def test_groups_are_the_connected_components(n, seed, threshold, grouped):
    rng = np.random.default_rng(seed)
    S = rng.integers(-2, 8, (n, n)) / 7
    S[rng.random((n, n)) < 0.2] = np.nan
    groups = rng.integers(0, 2 * n, n) if grouped else None
    with np.errstate(invalid="ignore"):
        near, close = threshold <= S, threshold >= S
    same = np.zeros((n, n), dtype=bool) if groups is None else groups[:, None] == groups
    assert similarity_groups(S, threshold, groups=groups).tolist() == walked(near | same)
    assert similarity_groups(S, threshold, groups=groups, dissimilarity="gauss").tolist() == walked(close | same)
    places = np.nonzero(~np.isnan(S))
    thin = Proximities(sparse.csr_matrix((S[places], places), shape=S.shape), absent="unknown")
    assert similarity_groups(thin, threshold, groups=groups).tolist() == walked(near | same)


def twins(n, seed=0, noise=1e-3, scale=1.0):
    rng = np.random.default_rng(seed)
    X = np.repeat(rng.normal(size=(n, 8)), 2, axis=0)
    return scale * (X + noise * rng.normal(size=X.shape))


@pytest.mark.parametrize("noise", [0.0, 1e-3])
@pytest.mark.parametrize("scale", [1e-8, 1.0, 1e8])
def test_near_duplicates_are_found_at_any_scale_in_all_forms(noise, scale):
    X = twins(25, noise=noise, scale=scale)
    D = np.sqrt(((X[:, None] - X[None]) ** 2).sum(axis=2))
    expected = np.repeat(np.arange(25), 2).tolist()
    unequal = np.repeat(np.arange(1.0, 26), 2)  # the similarities of samples to themselves differ
    cosine = X @ X.T / np.outer(*[np.linalg.norm(X, axis=1)] * 2)
    for S in (-D, 5 - D / scale, cosine, cosine * np.sqrt(np.outer(unequal, unequal)) if noise == 0 else cosine):
        assert similarity_groups(S).tolist() == expected
    assert similarity_groups(D, dissimilarity="max-minus").tolist() == expected
    assert similarity_groups(sparse.csr_matrix(np.where(cosine > 0.5, cosine, 0))).tolist() == expected
    assert diagnose(D, dissimilarity="max-minus").near_duplicates == 25


def test_samples_on_a_line_are_not_linked_into_one_group():
    x = np.random.default_rng(0).normal(size=300)
    x[:60] = x[60:120]
    groups = similarity_groups(np.abs(x[:, None] - x), dissimilarity="gauss")
    assert np.bincount(groups).max() <= 30
    assert groups[:60].tolist() == groups[60:120].tolist()
    constant = similarity_groups(np.ones((30, 30)))
    assert constant.tolist() == [0] * 30


def near_groups(S, distances):
    """Return the groups of near-duplicates of a dense matrix, by the rule written out pair by pair."""
    n = len(S)
    own = np.diagonal(S)
    d = S if distances else (own[:, None] + own) / 2 - S
    median = max(0.0, np.median(d[np.triu_indices(n, 1)]))
    at_random = np.mean([np.mean((S[i] - S[j]) ** 2) for i in range(n) for j in range(n)])
    at_random *= min(1, len(np.unique(S)) / 25)
    for share in [*(0.05 / 2**i for i in range(8)), 0.0]:
        linked = np.zeros((n, n), dtype=bool)
        for i in range(n):
            for j in range(n):
                others = [k for k in range(n) if k not in (i, j)]
                unlike = np.mean((S[i, others] - S[j, others]) ** 2) if others else 0
                near = max(0, d[i, j]) <= share * median + 1e-12
                linked[i, j] = near and unlike <= max(max(0, d[i, j]) ** 2, share * at_random) + 1e-14
        found = walked(linked)
        if max(map(found.count, found)) <= max(10, n / 10):
            break
    return found


@settings(max_examples=30, deadline=None)
@given(st.integers(2, 24), st.integers(0, 2**31), st.sampled_from([2, 4, 7, 30, 1000]), st.booleans())
def test_near_duplicates_are_those_of_the_rule(n, seed, steps, distances):
    rng = np.random.default_rng(seed)
    X = np.repeat(rng.normal(size=(n, 3)), 2, axis=0)[:n] + 0.03 * rng.normal(size=(n, 3))
    D = np.sqrt(((X[:, None] - X[None]) ** 2).sum(axis=2))
    D = np.round(D / D.max() * steps) + (rng.random((n, n)) < 0.02)
    np.fill_diagonal(D, 0)
    S = D if distances else steps - D
    expected = near_groups(S, distances)
    options = {"dissimilarity": "gauss" if distances else None}
    order = rng.permutation(n)
    assert similarity_groups(S, **options).tolist() == expected
    moved = similarity_groups(S[np.ix_(order, order)], **options)
    assert walked(moved[:, None] == moved) == walked(
        np.equal.outer(np.array(expected)[order], np.array(expected)[order])
    )
    for other in (S * 2.0**-20, S * 2.0**500, S.astype(np.float32)):
        assert similarity_groups(other, **options).tolist() == expected


def test_equal_values_on_a_coarse_scale_are_not_copies():
    rng = np.random.default_rng(0)
    kind = np.repeat(np.arange(4), 23)
    ratings = np.clip(np.round(2 + 4 * (kind[:, None] == kind) + rng.normal(0, 1, (92, 92))), 1, 7)
    np.fill_diagonal(ratings, 7)
    assert (ratings == 7).sum() > 500  # as similar as a sample to itself
    assert similarity_groups(ratings).tolist() == list(range(92))
    pairs = np.repeat(np.arange(46), 2)  # each thing occurs twice, and some ratings differ by one
    twice = ratings[np.ix_(pairs, pairs)]
    places = rng.integers(0, 92, (2, 40))
    twice[tuple(places)] -= pairs[places[0]] != pairs[places[1]]
    assert similarity_groups(twice).tolist() == pairs.tolist()


def test_near_duplicates_in_sparse_matrices(tmp_path):
    X = twins(20)
    S = np.maximum(X @ X.T, 0)
    S[S < 2] = 0
    expected = near_groups(S, False)
    assert similarity_groups(sparse.csr_array(S)).tolist() == similarity_groups(S).tolist() == expected
    places = np.nonzero(S)
    with_nan = np.where(S > 0, S, np.nan)
    thin = Proximities(sparse.csr_array((S[places], places), shape=S.shape), absent="unknown")
    assert similarity_groups(thin).tolist() == similarity_groups(with_nan).tolist() == np.repeat(range(20), 2).tolist()


def test_advice_about_near_duplicates():
    X = twins(25)
    found = diagnose(X @ X.T)
    assert found.duplicates == 0
    assert "25 of 50 samples are nearly the same as others" in " ".join(found.advice)
    assert "near-duplicates" in str(found)
    assert diagnose(np.eye(4) + 0.1).near_duplicates == 0


@pytest.mark.parametrize("bad", ["0.9", None, True, np.nan, [0.9]], ids=repr)
def test_bad_thresholds(bad):
    with pytest.raises(ValueError, match="threshold must be a number or 'auto'; got"):
        similarity_groups(np.eye(3), bad)


def test_bad_groups():
    with pytest.raises(ValueError, match=r"groups must have one entry per sample \(3\); got an array of shape \(2,\)"):
        similarity_groups(np.eye(3), 0.5, groups=[1, 2])
    with pytest.raises(ValueError, match="groups must all be of one type that can be sorted"):
        similarity_groups(np.eye(3), 0.9, groups=np.array([1, 2, "a"], dtype=object))
