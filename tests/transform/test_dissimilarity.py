"""The transformers that learn constants on the training part."""

import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.utils import get_tags

from similitude import (
    DissimilarityToSimilarity,
    KNNClassifier,
    Proximities,
    Rescale,
    rescale,
    to_similarity,
    train_test_split,
)
from similitude.proximity.maps import TO_SIMILARITY
from tests.proximity.matrices import distances, square
from tests.reference import proximity as reference

pytestmark = pytest.mark.filterwarnings("error")

MAPS = sorted(TO_SIMILARITY)


def points(n=14, seed=0):
    X = np.random.default_rng(seed).normal(size=(n, 3))
    return X, np.sqrt(((X[:, None] - X[None]) ** 2).sum(axis=2))


@pytest.mark.parametrize("how", MAPS)
def test_new_rows_are_mapped_with_the_training_constants(how):
    _, D = points()
    train, new = D[:9, :9], 3 * D[9:, :9]
    transformer = DissimilarityToSimilarity(how).fit(train)
    assert np.allclose(transformer.transform(new), reference.to_similarity(new, how, train), rtol=1e-12, atol=1e-12)


@given(distances(), st.sampled_from(MAPS))
def test_training_rows_are_mapped_alike_in_fit_and_later(case, how):
    D, _ = case
    transformer = DissimilarityToSimilarity(how)
    S = transformer.fit_transform(D)
    assert np.array_equal(S, to_similarity(D, how))
    assert np.allclose(transformer.transform(D), S, rtol=0, atol=1e-14)
    for i in range(len(D)):
        assert np.allclose(transformer.transform(D[i : i + 1]), S[i : i + 1], rtol=0, atol=1e-13)


def test_double_centring_of_new_rows_gives_inner_products_about_the_training_mean():
    X, D = points()
    transformer = DissimilarityToSimilarity("double-centring").fit(D[:9, :9])
    centred = X - X[:9].mean(axis=0)
    assert np.allclose(transformer.transform(D[:9, :9]), centred[:9] @ centred[:9].T)
    assert np.allclose(transformer.transform(D[9:, :9]), centred[9:] @ centred[:9].T)


def test_a_given_scale_is_used_for_all_rows():
    _, D = points()
    transformer = DissimilarityToSimilarity("exp", scale=2.0).fit(D)
    assert transformer.constants_ == {"scale": 2.0}
    assert np.allclose(transformer.transform(D), np.exp(-D / 2))
    assert np.allclose(DissimilarityToSimilarity("gauss", scale=2.0).fit_transform(D), np.exp(-(D**2) / 8))


@pytest.mark.parametrize("how", [None, "guass", 3])
def test_unknown_map(how):
    with pytest.raises(ValueError, match=r"how must be one of .*'gauss'"):
        DissimilarityToSimilarity(how).fit([[0.0, 1.0], [1.0, 0.0]])


def test_bad_scale():
    with pytest.raises(ValueError, match="scale must be a positive number"):
        DissimilarityToSimilarity(scale=-1.0).fit(points()[1])
    with pytest.raises(ValueError, match="scale has no meaning"):
        DissimilarityToSimilarity("negate", scale=1.0).fit(points()[1])


def test_sparse_dissimilarities_are_refused():
    with pytest.raises(ValueError, match="X: a sparse matrix cannot be mapped"):
        DissimilarityToSimilarity().fit(sparse.csr_matrix(points()[1]))
    transformer = DissimilarityToSimilarity().fit(points()[1])
    with pytest.raises(ValueError, match="X: a sparse matrix cannot be mapped"):
        transformer.transform(sparse.csr_matrix(points()[1]))


@pytest.mark.parametrize("transformer", [DissimilarityToSimilarity(), Rescale()])
def test_shapes_and_order_of_calls(transformer):
    D = 1.0 + points()[1].max() - points()[1]  # it does not look like a dissimilarity, which Rescale would warn of
    with pytest.raises(NotFittedError):
        clone(transformer).transform(D)
    with pytest.raises(ValueError, match=r"X must be square.*\(14, 9\)"):
        clone(transformer).fit(D[:, :9])
    with pytest.raises(ValueError, match=r"13 features.*14"):
        clone(transformer).fit(D).transform(D[:2, :13])
    with pytest.raises(ValueError, match="X contains NaN"):
        clone(transformer).fit(D).transform(np.full((1, 14), np.nan))


@pytest.mark.parametrize("how", MAPS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_input_is_left_alone_and_its_type_kept(how, dtype):
    D = points()[1].astype(dtype)
    kept = D.copy()
    D.flags.writeable = False
    transformer = DissimilarityToSimilarity(how)
    assert transformer.fit_transform(D).dtype == dtype
    assert transformer.transform(D[:2]).dtype == dtype
    assert np.array_equal(D, kept)


@pytest.mark.parametrize("make", [DissimilarityToSimilarity, Rescale])
def test_tag_clone_pickle_and_frames(make):
    S = 1.0 + points()[1].max() - points()[1]
    transformer = make().fit(S)
    assert get_tags(transformer).input_tags.pairwise
    assert np.array_equal(pickle.loads(pickle.dumps(transformer)).transform(S), transformer.transform(S))
    assert clone(transformer).get_params() == transformer.get_params()
    assert np.array_equal(make().fit(pd.DataFrame(S)).transform(pd.DataFrame(S)), transformer.transform(S))


def test_memmap(tmp_path):
    np.save(tmp_path / "D.npy", points()[1])
    D = np.load(tmp_path / "D.npy", mmap_mode="r")
    assert np.array_equal(DissimilarityToSimilarity().fit_transform(D), to_similarity(points()[1]))
    assert np.allclose(Rescale().fit(9 - D).transform(9 - D), rescale(-points()[1]))


@given(square())
def test_rescale_uses_the_training_range(S):
    scale = np.abs(S).max() or 1.0
    transformer = Rescale().fit(np.abs(S) + scale)
    span = np.abs(S).max() - np.abs(S).min()
    new = np.vstack([S[:1], 2 * S[:1]])
    if span == 0:
        assert not transformer.transform(new).any()
    else:
        expected = (new / scale - 1 - np.abs(S).min() / scale) / (span / scale)
        assert np.allclose(transformer.transform(new), expected, atol=1e-12)
    assert (transformer.min_, transformer.max_) == (np.min(np.abs(S) + scale), np.max(np.abs(S) + scale))


def test_rescale_of_new_rows_may_leave_the_unit_interval():
    assert Rescale().fit([[4.0, 2.0], [0.0, 4.0]]).transform([[-2.0, 8.0]]).tolist() == [[-0.5, 2.0]]


def test_rescale_sparse():
    S = sparse.csr_matrix([[4.0, 0.0], [1.0, 4.0]])
    transformer = Rescale().fit(S)
    new = transformer.transform(sparse.csr_matrix([[8.0, 0.0]]))
    assert sparse.issparse(new)
    assert new.toarray().tolist() == [[2.0, 0.0]]
    assert transformer.transform([[8.0, 0.0]]).tolist() == [[2.0, 0.0]]
    with pytest.raises(ValueError, match="smallest entry is 0"):
        Rescale().fit(sparse.csr_matrix([[4.0, -1.0], [1.0, 4.0]])).transform(S)


def test_in_a_pipeline_cross_validation_learns_on_the_training_part():
    X, D = points(40, 1)
    y = (X[:, 0] > 0).astype(int)
    D[0] *= 100
    model = make_pipeline(DissimilarityToSimilarity("exp"), KNNClassifier(3, weights="affinity"))
    direct = KNNClassifier(3, weights="affinity", dissimilarity="exp")
    assert np.array_equal(cross_val_score(model, D, y, cv=4), cross_val_score(direct, D, y, cv=4))
    D_train, D_test, y_train, _ = train_test_split(D, y, random_state=0)
    median = reference.median_of_pairs(D_train)
    by_hand = KNNClassifier(3, weights="affinity").fit(np.exp(-D_train / median), y_train)
    assert np.allclose(
        model.fit(D_train, y_train).predict_proba(D_test), by_hand.predict_proba(np.exp(-D_test / median))
    )


def test_the_map_can_be_searched_for():
    X, D = points(40, 1)
    y = (X[:, 0] > 0).astype(int)
    model = make_pipeline(DissimilarityToSimilarity(), Rescale(), KNNClassifier())
    grid = {"dissimilaritytosimilarity__how": ["max-minus", "exp"], "knnclassifier__n_neighbors": [1, 5]}
    search = GridSearchCV(model, grid, cv=3, error_score="raise").fit(D, y)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    # Both maps are monotone, so the neighbours are the same.
    scores = search.cv_results_["mean_test_score"].reshape(2, 2)
    assert np.array_equal(scores[0], scores[1])


def test_proximities_in_place_of_the_matrix():
    _, D = points()
    given_ = Proximities(D, ids=np.arange(14))
    transformer = DissimilarityToSimilarity().fit(given_[np.ix_(np.arange(9), np.arange(9))])
    new = transformer.transform(given_[np.ix_(np.arange(9, 14), np.arange(9))])
    assert np.allclose(new, D[:9, :9].max() - D[9:, :9])
    assert np.array_equal(transformer.transform(given_[np.ix_(np.arange(9, 14), np.arange(9)[::-1])]), new)
