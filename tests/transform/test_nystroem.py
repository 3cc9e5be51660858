"""The Nystroem approximation of an indefinite similarity, against dense matrices."""

import warnings
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_array_equal
from scipy import sparse
from scipy.spatial.distance import cdist
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_predict
from sklearn.pipeline import make_pipeline

from similitude import (
    IndefiniteNystroem,
    LandmarkClassifier,
    Proximities,
    PseudoEuclideanEmbedding,
    SimilarityWarning,
    SpectrumModifier,
)
from similitude.numerics.medoids import k_medoids
from similitude.numerics.nystroem import decompose, modified_features, triangle
from similitude.reader import Contract, Samples
from similitude.transform import landmarks as landmark_module
from similitude.transform.nystroem import SPECTRA
from tests.reference import nystroem as reference

SELECTIONS = ("random", "stratified", "kmedoids", "leverage")


def _symmetric(n, seed=0, rank=None):
    rng = np.random.default_rng(seed)
    V = rng.normal(size=(n, rank or n))
    S = V @ np.diag(rng.normal(size=rank or n)) @ V.T
    return (S + S.T) / 2


def _kernel(model, F, G=None):
    return (F * model.signs_) @ (F if G is None else G).T


def _close(a, b, tolerance=1e-8, size=None):
    size = np.abs(b).max(initial=np.finfo(float).tiny) if size is None else size
    return a.shape == b.shape and np.abs(a / size - b / size).max(initial=0.0) <= tolerance


# The definition

small = st.integers(2, 7).flatmap(
    lambda n: arrays(float, (n, n), elements=st.integers(-3, 3).map(float) | st.sampled_from([0.5, 0.25, -1.5]))
)


@pytest.mark.parametrize("how", SPECTRA)
@settings(max_examples=25, deadline=None)
@given(A=small, share=st.floats(0.1, 0.99), seed=st.integers(0, 3), exponent=st.sampled_from([0, -60, 45, 400]))
def test_equals_the_definition(how, A, share, seed, exponent):
    S = (A + A.T) / 2
    n = len(S)
    m = max(1, round(share * n))
    model = IndefiniteNystroem(m, how, random_state=seed)
    assume(how != "square" or exponent < 400)
    scale = 2.0**exponent
    F = model.fit_transform(S * scale)
    C = S[:, model.landmarks_]
    W = C[model.landmarks_]
    values = np.abs(np.linalg.eigvalsh(W))
    # Eigenvalues near the tolerance are cut by the one and not by the other.
    assume(not np.any((values > 1e-13 * values.max()) & (values < 1e-7 * values.max())))
    power = scale**2 if how == "square" else scale
    expected = reference.kernel(C, W, how)
    size = max(np.abs(expected).max(), 1e-12)
    assert _close(_kernel(model, F) / power, expected, size=size)
    assert _close(model.transform(S * scale), F, 1e-7)
    new = A[:3, model.landmarks_]
    expected = np.array([reference.row(C, W, c, how) for c in new])
    found = _kernel(model, model.transform(new * scale), F) / power
    assert _close(found, expected, 1e-7, max(size, np.abs(expected).max()))


@pytest.mark.parametrize("how", SPECTRA)
@pytest.mark.parametrize("S", [_symmetric(40), _symmetric(40, rank=4), np.zeros((4, 4)), np.ones((5, 5)), np.eye(1)])
def test_with_all_landmarks_it_is_the_spectrum_modifier(how, S):
    rows = np.random.default_rng(1).normal(size=(6, len(S)))
    modifier = SpectrumModifier(how)
    K, new = modifier.fit_transform(S), modifier.transform(rows)
    if how == "none":  # of a row the part outside of the range of S is in no feature
        new = rows @ np.linalg.pinv(S, rcond=1e-10, hermitian=True) @ S
    model = IndefiniteNystroem(1000, how)
    F = model.fit_transform(S)
    assert np.array_equal(model.landmarks_, np.arange(len(S)))
    assert np.abs(_kernel(model, F) - K).max() <= 1e-8 * max(1.0, np.abs(K).max())
    assert np.abs(_kernel(model, model.transform(rows), F) - new).max() <= 1e-8 * max(1.0, np.abs(new).max())
    # The same by the way over W^+, which does not know that the columns are the samples.
    columns = clone(model).set_params(similarity="columns", landmark_similarity=S)
    G = columns.fit_transform(S)
    assert np.abs(_kernel(columns, G) - K).max() <= 1e-8 * max(1.0, np.abs(K).max())
    assert np.abs(_kernel(columns, columns.transform(rows), G) - new).max() <= 1e-8 * max(1.0, np.abs(new).max())
    assert columns.n_negative_ == model.n_negative_ == np.sum(SpectrumModifier().fit(S).eigenvalues_ < 0)


def test_attributes():
    S = _symmetric(30)
    flip = IndefiniteNystroem(12, "flip", random_state=0).fit(S)
    values = np.linalg.eigvalsh(reference.approximation(S[:, flip.landmarks_], S[np.ix_(*[flip.landmarks_] * 2)]))
    values = values[np.argsort(-np.abs(values))][:12]
    assert _close(flip.eigenvalues_, values)
    assert flip.n_negative_ == np.sum(values < 0)
    assert flip.negative_eigenfraction_ == pytest.approx(-values[values < 0].sum() / np.abs(values).sum())
    assert flip.projection_.shape == (12, 12)
    assert np.all(flip.signs_ == 1)
    clip = IndefiniteNystroem(12, random_state=0).fit(S)
    assert _close(clip.eigenvalues_, values[values > 0])
    none = IndefiniteNystroem(12, "none", random_state=0).fit(S)
    assert np.array_equal(none.signs_, np.sign(none.eigenvalues_))
    assert np.array_equal(none.support_columns_, none.landmarks_)
    assert list(none.get_feature_names_out()) == [f"indefinitenystroem{k}" for k in range(12)]


def test_training_features_are_those_of_new_samples():
    S = _symmetric(30)
    for how in SPECTRA:
        model = IndefiniteNystroem(9, how, random_state=0)
        assert _close(model.fit_transform(S), model.transform(S), 1e-12)
        assert _close(model.transform(S[:, model.support_columns_]), model.transform(S), 1e-12)


# Digits


def test_triangles_keep_the_digits_that_moments_lose():
    rng = np.random.default_rng(0)
    Q = np.linalg.qr(rng.normal(size=(60, 60)))[0]
    S = (Q * (np.logspace(0, -9, 60) * rng.choice([-1, 1], 60))) @ Q.T
    S = (S + S.T) / 2
    K = SpectrumModifier("flip").fit_transform(S)

    def error(R):
        P = modified_features(decompose(R, S, 1e-10), "flip").projection
        return np.abs((S @ P) @ (S @ P).T - K).max()

    by_triangle = error(triangle(S))
    values, V = np.linalg.eigh(S.T @ S)
    by_moments = error(np.sqrt(np.maximum(values, 0))[:, None] * V.T)
    assert by_triangle < 1e-10
    assert by_moments > 1e3 * by_triangle


@settings(max_examples=25, deadline=None)
@given(
    A=arrays(float, st.tuples(st.integers(1, 30), st.integers(1, 9)), elements=st.floats(-3, 3, width=16)),
    cut=st.integers(0, 30),
)
def test_triangles_of_blocks_are_joined(A, cut):
    whole, parts = triangle(A), triangle(A[cut:], triangle(A[:cut])) if 0 < cut < len(A) else triangle(A)
    for R in (whole, parts):
        assert np.array_equal(R, np.triu(R))
        assert _close(R.T @ R, A.T @ A, 1e-13, max(1.0, np.abs(A).max() ** 2 * len(A)))


@pytest.mark.parametrize("how", SPECTRA)
def test_blocks_do_not_matter(how):
    S = _symmetric(50)
    model = IndefiniteNystroem(8, how, random_state=0)
    F = model.fit_transform(S)
    with patch.object(landmark_module, "_ENTRIES", 56):
        again = clone(model)
        G = again.fit_transform(S)
        assert _close(again.transform(S), G, 1e-12)
    assert _close(G, F, 1e-10)


# Ugly input


def _ugly(kind):
    rng = np.random.default_rng(0)
    S = _symmetric(24)
    if kind == "rank deficient":
        S = _symmetric(24, rank=3)
    elif kind == "duplicates":
        half = rng.integers(0, 6, 24)
        S = S[np.ix_(half, half)]
    elif kind == "zero columns":
        S[::2] = S[:, ::2] = 0
    elif kind == "zero":
        S = np.zeros_like(S)
    elif kind == "constant":
        S = np.full_like(S, -2.5)
    elif kind == "zero landmarks":  # W = 0, C is not
        S[:12, :12] = 0
    return S


@pytest.mark.parametrize("how", SPECTRA)
@pytest.mark.parametrize("kind", ["rank deficient", "duplicates", "zero columns", "zero", "constant", "zero landmarks"])
def test_ugly_matrices(kind, how):
    S = _ugly(kind)
    for m, seed in ((1, 0), (8, 0), (12, 1), (24, 0)):
        model = IndefiniteNystroem(m, how, random_state=seed)
        F = model.fit_transform(S)
        C, own = S[:, model.landmarks_], np.ix_(model.landmarks_, model.landmarks_)
        expected = reference.kernel(C, S[own], how)
        assert F.shape[1] >= 1
        assert np.abs(_kernel(model, F) - expected).max() <= 1e-8 * max(1.0, np.abs(expected).max())


def test_landmarks_without_any_similarity_among_them():
    S = _ugly("zero landmarks")
    model = IndefiniteNystroem(similarity="columns", landmark_similarity=np.zeros((12, 12)))
    assert np.array_equal(model.fit_transform(S[:, :12]), np.zeros((24, 1)))
    assert np.array_equal(model.eigenvalues_, [0])


@pytest.mark.parametrize("how", SPECTRA)
@pytest.mark.parametrize("exponent", [-1000, -500, 500, 1000])
def test_any_scale(how, exponent):
    S = _symmetric(20)
    scale = 2.0**exponent
    root = scale if how == "square" else 2.0 ** (exponent / 2)
    for m in (7, 20):
        model = IndefiniteNystroem(m, how, random_state=0)
        F = model.fit_transform(S)
        assert _close(clone(model).fit_transform(S * scale) / root, F, 1e-9)


def test_what_overflows_is_refused():
    W = np.diag([1e-200, 1e-200])
    model = IndefiniteNystroem(similarity="columns", landmark_similarity=W)
    with pytest.raises(ValueError, match="too large compared with those among them"):
        model.fit(np.full((3, 2), 1e200))
    model = IndefiniteNystroem(similarity="columns", landmark_similarity=np.diag([1e200, 1e200]))
    with pytest.raises(ValueError, match="their eigenvalues overflow"):
        model.fit(np.full((3, 2), 1e300))
    with pytest.raises(ValueError, match="too large"):
        IndefiniteNystroem(2, random_state=0).fit(np.full((400, 400), 1.7e308))


# Kinds of input


def test_sparse_single_precision_and_proximities():
    S = np.where(np.abs(_symmetric(30)) > 3, _symmetric(30), 0.0)
    model = IndefiniteNystroem(9, "flip", random_state=0)
    F = model.fit_transform(S)
    assert _close(clone(model).fit_transform(sparse.csr_array(S)), F, 1e-10)
    assert _close(clone(model).fit(sparse.csr_array(S)).transform(sparse.csr_array(S)), F, 1e-10)
    single = clone(model).fit_transform(S.astype(np.float32))
    assert single.dtype == np.float64
    assert _close(single, F, 1e-4)
    named = clone(model).fit(Proximities(S, ids=np.arange(30)))
    assert _close(named.transform(Proximities(S, column_ids=np.arange(30))), F, 1e-10)
    assert _close(named.transform(Proximities(S[:, ::-1], column_ids=np.arange(30)[::-1])), F, 1e-10)


def _words(n=40):
    rng = np.random.default_rng(0)
    return ["".join(rng.choice(list("abc"), rng.integers(2, 7))) for _ in range(n)]


@pytest.mark.parametrize("selection", SELECTIONS)
@pytest.mark.parametrize("symmetric", [True, False])
def test_raw_objects_equal_their_matrix(selection, symmetric):
    words = _words()
    y = np.array([len(word) % 2 for word in words])

    def shared(a, b):
        return len(set(a) & set(b)) - (0 if symmetric else 0.1 * len(set(a) - set(b))) + (a == b)

    S = np.array([[shared(a, b) for b in words] for a in words], dtype=float)
    model = IndefiniteNystroem(6, "flip", selection, random_state=0)
    raw = clone(model).set_params(similarity=shared)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SimilarityWarning)
        F, G = model.fit_transform(S, y), raw.fit_transform(words, y)
    assert np.array_equal(model.landmarks_, raw.landmarks_)
    assert _close(G, F, 1e-9)
    assert _close(raw.transform(words), model.transform((S + S.T) / 2), 1e-9)
    assert raw.objects_ == [words[i] for i in raw.landmarks_]
    assert np.array_equal(raw.support_columns_, np.arange(6))


@pytest.mark.parametrize(("selection", "calls"), [("random", 1), ("stratified", 1), ("leverage", 3)])
def test_only_similarities_to_landmarks_are_computed(selection, calls):
    words, seen = _words(), []

    def same_length(a, b):
        seen.append((a, b))
        return -abs(len(a) - len(b))

    model = IndefiniteNystroem(5, "flip", selection, random_state=0, similarity=same_length)
    model.fit_transform(words, np.arange(40) % 2)
    # Leverage goes over its sketch twice: for the spectrum, then for the scores.
    assert len(seen) <= calls * (40 * 5 + 5 * 5) + 36  # six samples are tried first: is it a distance?
    seen.clear()
    model.transform(words[:3])
    assert len(seen) == 3 * 5


def test_an_error_names_objects_by_their_places_in_the_whole():
    numbers, wrong = list(range(40)), None

    def fails(a, b):
        if wrong in (a, b):
            raise ArithmeticError("this one")
        return float(a % 3 == b % 3)

    model = IndefiniteNystroem(5, random_state=0, similarity=fails).fit(numbers)
    first, last = map(int, model.landmarks_[[0, -1]])
    other = next(i for i in reversed(numbers[:39]) if i not in model.landmarks_)  # the last one is tried in any case
    with patch.object(landmark_module, "_ENTRIES", 10 * 5):  # blocks of 10 rows
        for place in (other, last):  # while rows are computed, and among the landmarks
            wrong = place
            pair = f"{other} and {first}" if place == other else f"{first} and {last}"
            with pytest.raises(ValueError, match=f"fails failed on objects {pair}: ArithmeticError: this one"):
                clone(model).fit(numbers)
        wrong = 99
        with pytest.raises(ValueError, match=f"fails failed on objects 33 and {first}: ArithmeticError: this one"):
            model.transform([*numbers[:33], 99])


@pytest.mark.parametrize("objects", [{"a": 1, "b": 2}, {"a", "b"}])
def test_what_has_no_order_is_refused(objects):
    with pytest.raises(ValueError, match="X must be a sequence of objects; got"):
        IndefiniteNystroem(1, similarity="levenshtein").fit(objects)


def test_columns_in_cross_validation():
    rng = np.random.default_rng(0)
    points = rng.normal(size=(50, 3))
    landmarks = rng.normal(size=(9, 3))
    y = (points[:, 0] > 0).astype(int)
    C, W = -cdist(points, landmarks, "cityblock"), -cdist(landmarks, landmarks, "cityblock")
    model = IndefiniteNystroem(spectrum="flip", similarity="columns", landmark_similarity=W)
    pipeline = make_pipeline(model, LogisticRegression())
    folds = [(np.setdiff1d(np.arange(50), test), test) for test in np.array_split(np.arange(50), 4)]
    found = cross_val_predict(pipeline, C, y, cv=folds, method="decision_function")
    for train, test in folds:
        F = reference.kernel(C[train], W, "flip")
        extended = np.array([reference.row(C[train], W, c, "flip") for c in C[test]])
        # Any vectors with these inner products give the same machine.
        values, V = np.linalg.eigh(F)
        kept = values > 1e-10 * values.max()
        features = V[:, kept] * np.sqrt(values[kept])
        machine = LogisticRegression(tol=1e-8).fit(features, y[train])
        expected = machine.decision_function(extended @ V[:, kept] / np.sqrt(values[kept]))
        assert np.allclose(found[test], expected, atol=1e-2)
    fewer = clone(model).set_params(n_components=4, random_state=0).fit(C)
    own = clone(model).set_params(landmark_similarity=W[np.ix_(fewer.landmarks_, fewer.landmarks_)])
    assert _close(fewer.transform(C), own.fit_transform(C[:, fewer.landmarks_]), 1e-10)


def test_asymmetry_is_announced_once_and_removed():
    rng = np.random.default_rng(0)
    S = rng.normal(size=(20, 20))
    for how in SPECTRA:
        model = IndefiniteNystroem(6, how, random_state=0)
        with pytest.warns(SimilarityWarning, match="IndefiniteNystroem needs a symmetric similarity") as caught:
            model.fit(S)
        assert len(caught) == 1
        assert caught[0].filename == __file__
        with pytest.warns(SimilarityWarning, match="asymmetric"):
            F = model.fit_transform(S)
        assert _close(F, clone(model).fit_transform((S + S.T) / 2), 1e-10)
        new = rng.normal(size=(3, 20))
        assert _close(model.transform(new), clone(model).fit((S + S.T) / 2).transform(new), 1e-10)


@pytest.mark.parametrize("parameters", [{}, {"dissimilarity": "double-centring"}])
def test_rounding_in_single_precision_is_no_asymmetry(parameters):
    rng = np.random.default_rng(0)
    D = cdist(*2 * [rng.normal(size=(30, 3))]) + 1
    single = (D * (1 + 1e-7 * rng.normal(size=D.shape))).astype(np.float32)
    assert not np.array_equal(single, single.T)
    model = IndefiniteNystroem(4, "flip", random_state=0, **parameters)
    with warnings.catch_warnings():
        warnings.filterwarnings("error", ".*asymmetric", SimilarityWarning)
        F = model.fit_transform(single)
    assert _close(_kernel(model, F), _kernel(model, clone(model).fit_transform(D)), 1e-4)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix])
def test_both_directions_in_blocks(form):
    S = np.random.default_rng(0).normal(size=(20, 20))
    expected = IndefiniteNystroem(6, "flip", random_state=0).fit_transform((S + S.T) / 2)
    with patch.object(landmark_module, "_ENTRIES", 7 * 6), pytest.warns(SimilarityWarning, match="asymmetric"):
        assert _close(IndefiniteNystroem(6, "flip", random_state=0).fit_transform(form(S)), expected, 1e-10)


def test_asymmetric_landmarks_of_columns():
    rng = np.random.default_rng(0)
    C, W = rng.normal(size=(20, 5)), rng.normal(size=(5, 5))
    model = IndefiniteNystroem(spectrum="flip", similarity="columns", landmark_similarity=W)
    with pytest.warns(SimilarityWarning, match="asymmetric"):
        F = model.fit_transform(C)
    assert _close(F, clone(model).set_params(landmark_similarity=(W + W.T) / 2).fit_transform(C), 1e-12)


@pytest.mark.parametrize("map_name", ["max-minus", "double-centring"])
def test_both_directions_of_a_landmark_are_its_row_among_the_landmarks(map_name):
    def uphill(a, b):
        return abs(a - b) + 0.5 * max(a - b, 0)

    numbers, own = np.random.default_rng(0).normal(size=20).tolist(), np.array([1, 4, 5, 11])
    training = Samples(Contract(uphill, map_name, learns_map=False), numbers).whole().only
    landmarks = landmark_module.Landmarks(training, own)
    C = np.concatenate([block for _, block in landmarks.blocks()])
    assert landmarks.to.asymmetric
    assert np.allclose(C[own], landmarks.W, atol=1e-12)


@pytest.mark.parametrize("how", ["max-minus", "gauss", "double-centring", "negate"])
def test_maps_learn_from_the_landmarks(how):
    rng = np.random.default_rng(0)
    points = rng.normal(size=(40, 3))
    D = cdist(points, points)
    model = IndefiniteNystroem(9, "flip", random_state=0, dissimilarity=how).fit(D)
    raw = clone(model).set_params(similarity="euclidean").fit(points)
    own = model.landmarks_
    alone = clone(model).set_params(similarity="columns", landmark_similarity=D[np.ix_(own, own)]).fit(D[:, own])
    assert _close(raw.transform(points), model.transform(D), 1e-9)
    assert _close(alone.transform(D[:, own]), model.transform(D), 1e-9)
    if how == "double-centring":  # landmark MDS: three dimensions are enough, and distances come out
        F = model.transform(D)
        assert F.shape == (40, 3)
        assert np.allclose(cdist(F, F), D, atol=1e-9)
        embedding = PseudoEuclideanEmbedding(dissimilarity=how).fit(D[np.ix_(own, own)])
        assert np.allclose(cdist(embedding.transform(D[:, own]), embedding.transform(D[:, own])), D, atol=1e-9)


def test_sparse_dissimilarities_are_refused():
    with pytest.raises(ValueError, match="sparse matrix cannot be mapped"):
        IndefiniteNystroem(2, random_state=0, dissimilarity="negate").fit(sparse.csr_array(np.eye(5)))


# Which landmarks


def test_stratified_and_medoids():
    y = np.repeat(["a", "b", "c"], [20, 8, 2])
    S = _symmetric(30)
    chosen = IndefiniteNystroem(15, selection="stratified", random_state=0).fit(S, y).landmarks_
    assert [np.sum(y[chosen] == c) for c in "abc"] == [10, 4, 1]
    assert np.array_equal(IndefiniteNystroem(5, selection="kmedoids").fit(S).landmarks_, k_medoids(S, 5)[0])
    D = cdist(S, S)
    model = IndefiniteNystroem(5, selection="kmedoids", dissimilarity="gauss").fit(D)
    assert np.array_equal(model.landmarks_, k_medoids(-D, 5)[0])


def test_leverage_scores():
    S = _symmetric(30)
    landmarks = landmark_module.Landmarks(Samples(Contract(), S).whole().only, np.arange(0, 30, 4))
    C, W = S[:, ::4], S[::4, ::4]
    assert np.allclose(landmarks.leverage(1e-10), reference.leverage(C, W), atol=1e-9)
    # Of 100 samples 90 share one direction, and 10 have two: these have two thirds of the leverage.
    X = np.zeros((100, 3))
    X[:90, 0], X[90:, 1:] = 1.0, np.random.default_rng(0).normal(size=(10, 2))
    S = X @ X.T
    draws = [IndefiniteNystroem(20, selection="leverage", random_state=s).fit(S).landmarks_ for s in range(30)]
    blind = [IndefiniteNystroem(20, random_state=s).fit(S).landmarks_ for s in range(30)]
    assert np.mean([np.sum(d >= 90) for d in draws]) > 1.5 * np.mean([np.sum(d >= 90) for d in blind])
    assert all(len(set(d)) == 20 for d in draws)


def test_all_spectrum_is_cut_by_tol():
    S = np.diag([1.0, 0.5, 1e-3, 1e-4])
    assert IndefiniteNystroem(tol=1e-2).fit(S).projection_.shape == (4, 2)
    assert IndefiniteNystroem().fit(S).projection_.shape == (4, 4)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_components": 0}, "n_components must be an integer of at least 1; got 0"),
        ({"n_components": True}, "n_components must be an integer"),
        ({"n_components": 0.5}, "n_components must be an integer"),
        ({"spectrum": "shift"}, "spectrum must be one of"),
        ({"selection": "best"}, "selection must be one of"),
        ({"tol": 1.0}, r"tol must lie in \[0, 1\)"),
        ({"tol": None}, r"tol must lie in \[0, 1\)"),
        ({"landmark_similarity": np.eye(4)}, "landmark_similarity must be .* got a matrix with similarity='precomp"),
        ({"similarity": "columns"}, "landmark_similarity must be .* got None with similarity='columns'"),
        ({"similarity": "columns", "landmark_similarity": np.eye(3)}, r"for each of X's 4 columns; got shape \(3, 3\)"),
        ({"similarity": "columns", "landmark_similarity": np.ones((4, 2))}, "landmark_similarity must be square"),
        ({"n_components": 2, "selection": "stratified"}, "y must be given"),
        ({"dissimilarity": "nonsense"}, "dissimilarity must be one of"),
    ],
)
def test_errors(parameters, message):
    with pytest.raises(ValueError, match=message):
        IndefiniteNystroem(**{"random_state": 0, **parameters}).fit(np.eye(4))


def test_columns_are_chosen_at_random_only():
    model = IndefiniteNystroem(2, selection="leverage", similarity="columns", landmark_similarity=np.eye(4))
    with pytest.raises(ValueError, match="with similarity='columns' use selection='random'"):
        model.fit(np.eye(4))


def test_a_failed_fit_changes_nothing():
    S = _symmetric(10)
    model = IndefiniteNystroem(4, random_state=0).fit(S)
    before = model.transform(S)
    with pytest.raises(ValueError, match="NaN"):
        model.fit(np.where(np.eye(6), np.nan, 1.0))
    assert np.array_equal(model.transform(S), before)


@pytest.mark.filterwarnings("ignore:S has")
def test_methods_on_one_fold_share_spectra_and_moments(monkeypatch):
    rng = np.random.default_rng(0)
    D = np.abs(rng.normal(size=(60, 1)) - rng.normal(size=60))
    D, y = (D + D.T) * (1 - np.eye(60)), np.arange(60) % 3
    calls = []

    def counted(*arguments):
        calls.append(arguments)
        return decompose(*arguments)

    monkeypatch.setattr(landmark_module, "decompose", counted)
    estimators = [
        *(IndefiniteNystroem(10, spectrum, random_state=0, dissimilarity="gauss") for spectrum in ("none", "flip")),
        *(LandmarkClassifier(10, spectrum, random_state=0, dissimilarity="gauss") for spectrum in ("clip", "flip")),
    ]
    shared = Samples(Contract(dissimilarity="gauss"), D, y).whole()
    models = [estimator.fit(shared, y) for estimator in estimators]
    assert len(calls) == 2  # one for the transformers, one for the classifiers, which also sum up moments
    alone = [clone(estimator).fit(D, y) for estimator in estimators]
    for model, own, name in zip(models, alone, ("projection_", "projection_", "coef_", "coef_")):
        assert_array_equal(getattr(model, name), getattr(own, name))
    IndefiniteNystroem(10, random_state=1, dissimilarity="gauss").fit(shared, y)
    IndefiniteNystroem(10, random_state=0, dissimilarity="exp").fit(shared, y)
    assert len(calls) == 2 + 4 + 2
