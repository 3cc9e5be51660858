"""Similarities that are mostly 0: typicality and familiarity, and samples without evidence."""

import numpy as np
import pytest
from scipy import sparse

from similitude import CombinedClassifier, KNNClassifier, PredictionSets, Proximities
from tests.reference import conformal


def hits(n=150, seed=0, *, stored_self=True):
    """Small families of two classes whose members hit each other by whole numbers; some samples have no hit."""
    rng = np.random.default_rng(seed)
    family = rng.permutation(n) // 4
    length = rng.integers(5, 50, n)
    S = np.where(
        family[:, None] == family, np.round(rng.uniform(0.4, 1, (n, n)) * np.minimum(length[:, None], length)), 0
    )
    S = np.minimum(S, S.T)
    S[rng.random((n, n)) < 0.005] = 2.0
    S = np.maximum(S, S.T)
    alone = rng.permutation(n)[: n // 6]
    S[alone] = S[:, alone] = 0.0
    S[np.arange(n), np.arange(n)] = length if stored_self else 0.0
    return S, np.where(rng.random(n) < 0.1, 0, family % 2)


def fitted(S, y):
    return CombinedClassifier([("1-NN", KNNClassifier(1))], n_folds=3).fit(S, y)


@pytest.mark.filterwarnings("ignore::similitude.SimilarityWarning")
@pytest.mark.parametrize("stored_self", [True, False])
def test_familiarity_of_hits_is_that_of_the_formula(stored_self, monkeypatch):
    monkeypatch.setattr("similitude.sets.familiarity.COLUMNS", 100)  # more samples than that
    S, y = hits(stored_self=stored_self)
    train, new = np.arange(120), np.arange(120, 150)
    block, rows = S[np.ix_(train, train)], S[np.ix_(new, train)]
    model = fitted(sparse.csr_matrix(block), y[train])
    found = model.familiarity(sparse.csr_matrix(rows))
    assert np.allclose(found, conformal.relative_familiarity(block, y[train], rows), equal_nan=True)
    assert len(np.unique(found[~np.isnan(found)])) > 10
    # Neither the scale, nor the order, nor the kind of the matrix matters.
    order = np.random.default_rng(1).permutation(120)
    for factor, kind in ((2.0**-20, np.asarray), (1.0, sparse.csc_matrix)):
        other = fitted(kind(factor * block[np.ix_(order, order)]), y[order])
        assert np.allclose(other.familiarity(kind(factor * rows[:, order])), found, equal_nan=True)
        assert np.allclose(
            other.typicality(kind(factor * rows[:, order])), model.typicality(sparse.csr_matrix(rows)), equal_nan=True
        )


@pytest.mark.filterwarnings("ignore::similitude.SimilarityWarning")
def test_familiarity_of_many_samples_compares_known_pairs(monkeypatch):
    monkeypatch.setattr("similitude.sets.familiarity.MOST_DENSE", 100)  # more samples than that
    rng = np.random.default_rng(3)
    points, y = rng.normal(size=(150, 2)), np.arange(150) % 2
    S = 2 - np.linalg.norm(points[:, None] - points[None], axis=2)  # of either sign
    known = np.triu(rng.random(S.shape) < 0.2, 1)
    known |= known.T
    train, new = np.arange(120), np.arange(120, 150)
    stored = sparse.csr_matrix(np.where(known, S, 0.0))
    block, rows = (Proximities(stored[part][:, train], absent="unknown") for part in (train, new))
    model = fitted(block, y[train])
    found = model.familiarity(rows)
    width = np.abs(S[np.ix_(train, train)][known[np.ix_(train, train)]]).max()
    powers = np.where(known, np.exp(S / width), 0.0)
    expected = conformal.relative_familiarity(powers[np.ix_(train, train)], y[train], powers[np.ix_(new, train)])
    assert np.allclose(found, expected)
    assert len(np.unique(found)) > 10


@pytest.mark.filterwarnings("ignore::similitude.SimilarityWarning")
def test_p_values_compare_samples_with_evidence():
    """Samples without evidence have none, and do not make others typical."""
    S, y = hits(seed=2)
    train, new = np.arange(120), np.arange(120, 150)
    block, rows = S[np.ix_(train, train)], S[np.ix_(new, train)]
    some = (block - np.diag(np.diagonal(block)) > 0).any(axis=1)
    rows[:, ~some] = 0.0
    model = fitted(sparse.csr_matrix(block), y[train])
    lacking = ~(rows > 0).any(axis=1)
    assert lacking.any()
    assert np.array_equal(np.isnan(model.typicality(rows)).all(axis=1), lacking)
    assert np.array_equal(np.isnan(model.familiarity(rows)), lacking)
    seen = np.flatnonzero(some)
    expected = conformal.typicality(block[np.ix_(seen, seen)], y[seen], rows[~lacking][:, seen])
    assert np.allclose(model.typicality(rows)[~lacking], expected)
    assert np.array_equal(np.isnan(model._typicality.of_training()).all(axis=1), ~some)


def test_a_family_that_was_left_out_is_novel():
    """Weak hits to samples that have strong ones within their class; the bits alone are those of short samples."""
    rng = np.random.default_rng(0)
    n, families = 400, 80
    family, length = np.arange(n) % families, np.repeat(rng.integers(40, 400, families)[None], 5, 0).ravel()
    S = np.where(family[:, None] == family, rng.uniform(0.7, 1, (n, n)) * np.minimum(length[:, None], length), 0.0)
    S[np.arange(n), np.arange(n)] = length
    train, test = np.arange(320), np.arange(320, n)
    model = fitted(sparse.csr_matrix(S[np.ix_(train, train)]), family[train] % 2)
    known = model.familiarity(sparse.csr_matrix(S[np.ix_(test, train)]))
    rows = np.where(rng.random((50, 320)) < 0.02, 0.2 * length[train] * rng.uniform(0.9, 1.1, (50, 320)), 0.0)
    novel = model.familiarity(sparse.csr_matrix(rows[rows.any(axis=1)]))
    assert np.mean(known <= 0.05) <= 0.1
    assert np.mean(novel <= 0.05) == 1


@pytest.mark.filterwarnings("ignore::similitude.SimilarityWarning")
@pytest.mark.parametrize("kind", ["approximate", "cross-conformal"])
def test_coverage_holds_with_and_without_evidence(kind):
    """Of samples without evidence most belong to one class; the others are easy."""
    covered, sizes = np.zeros((2, 2)), []
    for seed in range(25):
        rng = np.random.default_rng(seed)
        alone = rng.random(260) < 0.3
        y = np.where(alone, rng.random(260) < 0.25, rng.random(260) < 0.5).astype(int)
        X = rng.normal(size=260) + 2.5 * y
        S = np.exp(-np.abs(X[:, None] - X))
        S[alone] = S[:, alone] = 0.0
        train, test = np.arange(160), np.arange(160, 260)
        knn = KNNClassifier(7, "affinity")
        if kind == "approximate":
            model = CombinedClassifier([("k-NN", knn)], random_state=seed).fit(S[np.ix_(train, train)], y[train])
            found = model.predict_set(S[np.ix_(test, train)], 0.8)
            shares = model.coverage(0.8).by_evidence
            assert min(shares) > 0.6
        else:
            model = PredictionSets(knn, 0.8, cv=5, random_state=seed).fit(S[np.ix_(train, train)], y[train])
            found = model.predict_set(S[np.ix_(test, train)])
        held = found[np.arange(100), y[test]]
        covered += [[held[alone[test] == lacking].sum(), (alone[test] == lacking).sum()] for lacking in (False, True)]
        sizes.append(found[alone[test]].sum(axis=1).mean())
    shares = covered[:, 0] / covered[:, 1]
    assert shares[0] >= 0.8 - 3 * np.sqrt(0.16 / covered[0, 1])
    assert shares[1] >= 0.8 - 3 * np.sqrt(0.16 / covered[1, 1])
    assert shares[0] <= 0.9
    assert 1 < np.mean(sizes) <= 2


def test_many_samples_with_unknown_pairs_are_compared_by_known_ones(monkeypatch):
    """Their familiarity is that of the same hits with zeros: only known pairs are looked at."""
    monkeypatch.setattr("similitude.sets.familiarity.COLUMNS", 100)
    S, y = hits(seed=3)
    train, new = np.arange(120), np.arange(120, 150)
    block, rows = (sparse.csr_matrix(S[np.ix_(part, train)]) for part in (train, new))
    zeros = fitted(block, y[train]).familiarity(rows)

    def unknown():
        model = fitted(Proximities(block, absent="unknown"), y[train])
        return model.familiarity(Proximities(rows, absent="unknown"))

    assert not np.allclose(unknown(), zeros, equal_nan=True)
    monkeypatch.setattr("similitude.sets.familiarity.MOST_DENSE", 110)
    some = rows.getnnz(axis=1) > 0
    np.testing.assert_allclose(unknown()[some], zeros[some])
