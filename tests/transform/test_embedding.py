"""The pseudo-Euclidean embedding."""

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.utils import get_tags

from similitude import PseudoEuclideanEmbedding
from tests.proximity.matrices import distances, square
from tests.reference import proximity as reference

pytestmark = pytest.mark.filterwarnings("error", "ignore:.*looks like a dissimilarity")


def indefinite(n=8, seed=0):
    S = np.random.default_rng(seed).normal(size=(n, n))
    return (S + S.T) / 2


@given(square(symmetric=True))
def test_inner_products_give_the_similarities_back(S):
    embedding = PseudoEuclideanEmbedding()
    X, (p, q) = embedding.fit_transform(S), embedding.signature_
    assert X.shape == (len(S), p + q)
    products = np.array([[reference.inner_product(x, z, (p, q)) for z in X] for x in X])
    assert np.allclose(products, S, rtol=0, atol=1e-9 * np.abs(S).max())


@given(square(symmetric=True))
def test_the_signature_counts_the_signs_of_the_spectrum(S):
    size = np.abs(S).max()
    values = np.linalg.eigvalsh(S / (size or 1.0))
    limit = 1e-10 * np.abs(values).max()
    assert PseudoEuclideanEmbedding().fit(S).signature_ == (np.sum(values > limit), np.sum(values < -limit))


@given(square(symmetric=True))
def test_projected_training_rows_are_the_training_vectors(S):
    embedding = PseudoEuclideanEmbedding()
    X = embedding.fit_transform(S)
    assert np.allclose(embedding.transform(S), X, rtol=0, atol=1e-8 * np.sqrt(np.abs(S).max()))


def test_columns_are_positive_directions_then_negative_ones_by_falling_size():
    S = np.diag([1.0, -5.0, 3.0, -2.0, 0.0])
    embedding = PseudoEuclideanEmbedding().fit(S)
    assert embedding.eigenvalues_.tolist() == [3.0, 1.0, -5.0, -2.0]
    assert embedding.signature_ == (2, 2)
    assert np.allclose(embedding.transform(S)[:, 2], [0, np.sqrt(5), 0, 0, 0])


def test_a_new_row_projects_by_the_formula():
    S, s = indefinite(), np.random.default_rng(1).normal(size=(3, 8))
    embedding = PseudoEuclideanEmbedding().fit(S)
    values, vectors = np.linalg.eigh(S)
    expected = s @ vectors * np.sign(values) / np.sqrt(np.abs(values))
    order = [int(np.argmin(np.abs(values - v))) for v in embedding.eigenvalues_]
    got = embedding.transform(s)
    assert np.allclose(np.abs(got), np.abs(expected[:, order]))
    # The sign of an axis is free, but it is the same for all rows.
    training = embedding.transform(S)
    p, q = embedding.signature_
    assert np.allclose((got * ([1] * p + [-1] * q)) @ training.T, s)


@given(distances())
def test_classical_scaling_recovers_euclidean_distances(case):
    D, _ = case
    embedding = PseudoEuclideanEmbedding(dissimilarity="double-centring")
    X = embedding.fit_transform(D)
    assert embedding.signature_[1] == 0
    assert np.allclose(np.sqrt(((X[:, None] - X[None]) ** 2).sum(axis=2)), D, atol=1e-7)


def test_new_points_land_where_they_belong():
    X = np.random.default_rng(2).normal(size=(12, 2))
    D = np.sqrt(((X[:, None] - X[None]) ** 2).sum(axis=2))
    embedding = PseudoEuclideanEmbedding(dissimilarity="double-centring").fit(D[:9, :9])
    old, new = embedding.transform(D[:9, :9]), embedding.transform(D[9:, :9])
    assert np.allclose(np.sqrt(((new[:, None] - old[None]) ** 2).sum(axis=2)), D[9:, :9])


@pytest.mark.parametrize("k", [1, 3, 8, 100])
def test_n_components_as_a_count_takes_the_largest_in_size(k):
    S = indefinite()
    sizes = np.sort(np.abs(np.linalg.eigvalsh(S)))[::-1]
    embedding = PseudoEuclideanEmbedding(k).fit(S)
    assert np.allclose(np.sort(np.abs(embedding.eigenvalues_))[::-1], sizes[: min(k, 8)])
    assert embedding.transform(S).shape == (8, min(k, 8))
    assert sum(embedding.signature_) == min(k, 8)


@given(st.floats(0.01, 1.0))
def test_n_components_as_a_share_takes_as_few_as_will_do(share):
    S = np.diag([4.0, -3.0, 2.0, -1.0])
    kept = np.abs(PseudoEuclideanEmbedding(share).fit(S).eigenvalues_)
    assert kept.sum() >= share * 10 - 1e-9
    assert kept.sum() - kept.min() < share * 10 - 1e-9 or len(kept) == 1


def test_a_share_met_exactly_takes_no_more():
    assert PseudoEuclideanEmbedding(0.7).fit(np.diag([4.0, -3.0, 2.0, -1.0])).signature_ == (1, 1)
    assert PseudoEuclideanEmbedding(1.0).fit(np.diag([4.0, -3.0, 2.0, -1.0])).signature_ == (2, 2)


@pytest.mark.parametrize("bad", [0, -1, 0.0, 1.5, -0.2, True, "all", np.nan])
def test_bad_n_components(bad):
    with pytest.raises(ValueError, match=r"n_components must be .*; got"):
        PseudoEuclideanEmbedding(bad).fit(np.eye(3))


@pytest.mark.parametrize("n", [1, 2, 5])
def test_the_zero_matrix_has_no_directions(n):
    embedding = PseudoEuclideanEmbedding(0.5).fit(np.zeros((n, n)))
    assert embedding.signature_ == (0, 0)
    assert embedding.transform(np.zeros((3, n))).shape == (3, 0)


def test_sparse_float32_and_read_only_input():
    S = indefinite()
    expected = PseudoEuclideanEmbedding().fit_transform(S)
    S.flags.writeable = False
    for given_ in (S, sparse.csr_matrix(S), S.astype(np.float32)):
        embedding = PseudoEuclideanEmbedding().fit(given_)
        assert np.allclose(embedding.transform(given_), expected, atol=1e-5)
    assert np.array_equal(S, indefinite())


def test_names_of_the_columns_tag_clone_and_pickle():
    embedding = PseudoEuclideanEmbedding(2).fit(indefinite())
    assert embedding.get_feature_names_out().tolist() == ["pseudoeuclideanembedding0", "pseudoeuclideanembedding1"]
    assert get_tags(embedding).input_tags.pairwise
    assert clone(embedding).n_components == 2
    again = pickle.loads(pickle.dumps(embedding))
    assert np.array_equal(again.transform(indefinite()), embedding.transform(indefinite()))


def test_first_in_a_pipeline_under_cross_validation():
    rng = np.random.default_rng(5)
    y = np.repeat([0, 1], 20)
    X = rng.normal(size=(40, 2)) + 4 * y[:, None]
    D = np.sqrt(((X[:, None] - X[None]) ** 2).sum(axis=2))
    model = make_pipeline(PseudoEuclideanEmbedding(dissimilarity="double-centring"), LogisticRegression())
    assert cross_val_score(model, D, y, cv=4).mean() > 0.95


def test_raw_objects():
    words = ["aa", "ab", "b", "bbb"]
    embedding = PseudoEuclideanEmbedding(similarity=lambda a, b: float(a.count("a") * b.count("a") + 1)).fit(words)
    assert not get_tags(embedding).input_tags.pairwise
    X = embedding.transform(words)
    S = [[a.count("a") * b.count("a") + 1 for b in words] for a in words]
    assert np.allclose(X @ X.T, S)
