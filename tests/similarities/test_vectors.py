"""Distances and similarities of feature vectors."""

import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.metrics.pairwise import pairwise_distances, pairwise_kernels

from similitude import KNNClassifier
from similitude.similarities import pairwise
from similitude.similarities.gaussian import RBF, RBFRows
from similitude.similarities.registry import resolve
from similitude.similarities.scikit_learn import ScikitLearnDistance, scikit_learn_measure
from similitude.similarities.vectors import (
    DeltaE94,
    RelativeEntropy,
    chebyshev,
    correlation,
    cosine,
    euclidean,
    manhattan,
)
from tests.reference import vectors as reference

NAMES = ("euclidean", "manhattan", "chebyshev", "cosine", "correlation", "relative-entropy", "rbf", "delta-e94")
FUNCTIONS = (euclidean, manhattan, chebyshev, cosine, correlation)

small = st.floats(-100, 100, allow_nan=False).map(lambda v: round(v, 3))
pairs = st.tuples(arrays(float, (3, 4), elements=small), arrays(float, (2, 4), elements=small))


def rows(n=12, d=3, seed=0):
    return np.random.default_rng(seed).uniform(0.1, 5, size=(n, d))


@given(pairs)
def test_functions_equal_their_formulas(case):
    A, B = case
    for function in FUNCTIONS:
        expected = reference.table(getattr(reference, function.__name__), A.tolist(), B.tolist())
        assert np.allclose(function(A, B), expected, rtol=1e-10, atol=1e-10), function.__name__
    assert np.allclose(RBF(0.01)(A, B), reference.table(lambda x, z: reference.rbf(x, z, 0.01), A, B), rtol=1e-12)
    assert np.array_equal(RBF()(A, B), RBF(0.25)(A, B))


@pytest.mark.parametrize("smoothing", [0.0, 1e-6, 0.3])
def test_relative_entropy_equals_its_formula(smoothing):
    A, B = rows(5, 4), rows(6, 4, seed=1)
    A[0, 2] = 0.0
    expected = reference.table(lambda x, z: reference.relative_entropy(x, z, smoothing), A, B)
    D = RelativeEntropy(smoothing)(A, B)
    assert np.allclose(D, expected, rtol=1e-12, atol=1e-14)
    assert np.array_equal(D, RelativeEntropy(smoothing)(4 * A, B)), "counts and shares are the same distribution"


def test_relative_entropy_of_an_empty_cell():
    A, B = [[1, 1]], [[1, 0]]
    assert RelativeEntropy(0)(B, A) == pytest.approx(np.log(2))
    assert 0 < RelativeEntropy()(A, B)[0, 0] < np.log(2 / 1e-6)
    with pytest.raises(ValueError, match=r"B\[0\] is zero in a column where A\[0\] is not.*smoothing"):
        RelativeEntropy(0)(A, B)
    with pytest.raises(ValueError, match=r"A\[1\] has -1 in column 0"):
        RelativeEntropy()([[1, 1], [-1, 2]], A)
    with pytest.raises(ValueError, match=r"B\[0\] is all zero"):
        RelativeEntropy()(A, [[0, 0]])
    with pytest.raises(ValueError, match="smoothing must be a number in"):
        RelativeEntropy(2)(A, B)


@pytest.mark.parametrize("parameters", [{}, {"kL": 2.0, "k1": 0.048, "k2": 0.014}, {"kH": 0.5, "kC": 3.0}])
def test_delta_e94_equals_scikit_image(parameters):
    color = pytest.importorskip("skimage.color")
    generator = np.random.default_rng(3)
    A = generator.uniform([0, -128, -128], [100, 127, 127], size=(40, 3))
    B = generator.uniform([0, -128, -128], [100, 127, 127], size=(30, 3))
    expected = color.deltaE_ciede94(A[:, None, :], B[None, :, :], **parameters)
    D = DeltaE94(**parameters)(A, B)
    assert np.allclose(D, expected, rtol=1e-10)
    assert not np.allclose(D, DeltaE94(**parameters)(B, A).T), "the first colour is the reference"


def test_delta_e94_of_equal_and_opposite_colours():
    A = rows(50) * 20
    assert (DeltaE94()(A, A).diagonal() == 0).all()
    assert DeltaE94()([[50, 0, 0]], [[50, 0, 0]])[0, 0] == 0
    # Opposite hues of equal chroma C: dH^2 = 4 C^2.
    assert DeltaE94()([[50, 10, 0]], [[50, -10, 0]])[0, 0] == pytest.approx(20 / 1.15)
    with pytest.raises(ValueError, match=r"A\[0\] must be a colour"):
        DeltaE94()([[1, 2]], [[1, 2]])


@pytest.mark.parametrize("name", NAMES)
def test_registered_claims(name):
    measure = resolve(name)
    X = np.vstack([rows(14), rows(14)[:3]])
    M = pairwise(X, similarity=name)
    assert M.shape == (17, 17)
    assert measure.symmetric == bool(np.array_equal(M, M.T))
    self_value = {"dissimilarity": 0.0, "similarity": 1.0}[measure.orientation]
    assert (M.diagonal() == self_value).all()
    assert (M[range(3), range(14, 17)] == self_value).all(), "equal rows, wherever they stand"
    assert np.array_equal(M[:3], M[14:])
    assert np.array_equal(pairwise(X[2:5], X[1:], similarity=name), M[2:5, 1:]), "a value does not depend on the batch"
    if measure.metric:
        # d(i, k) <= d(i, j) + d(j, k) for all triples
        assert (M[:, None, :] <= M[:, :, None] + M[None, :, :] + 1e-12).all()
    low, high = {"-1 to 1": (-1, 1), "0 to 1": (0, 1)}.get(measure.range, (0, np.inf))
    assert (low <= M).all()
    assert (high >= M).all()


@pytest.mark.parametrize("name", NAMES)
def test_through_a_classifier(name):
    X = np.vstack([rows(10), rows(10, seed=1) * [1, 8, 1]])
    y = np.repeat(["a", "b"], 10)
    model = KNNClassifier(1, similarity=name).fit(X, y)
    assert (model.predict(X) == y).all()
    assert (pickle.loads(pickle.dumps(model)).predict(X[:4]) == y[:4]).all()
    native = pairwise(X, similarity=name)
    best = native.argmin(axis=1) if resolve(name).orientation == "dissimilarity" else native.argmax(axis=1)
    assert (model.predict(X) == y[best]).all()


def test_cosine_and_correlation_at_the_edges():
    assert cosine([[0, 0]], [[0, 0], [1, 0]]).tolist() == [[0, 0]]
    assert cosine([[1e200, 1e200]], [[1e-200, 1e-200]])[0, 0] == pytest.approx(1)
    assert correlation([[0.1, 0.1, 0.1]], [[0.1, 0.1, 0.1], [1, 2, 3]]).tolist() == [[0, 0]]
    assert correlation([[5.0]], [[7.0]]).tolist() == [[0]]
    X = rows(30, 5) - 2
    assert np.allclose(cosine(X, X), pairwise_kernels(X, metric="cosine"), atol=1e-14)
    assert np.allclose(correlation(X, X), np.corrcoef(X), atol=1e-14)


def test_rbf_rows_is_the_gaussian_of_rows():
    S = rows(9, 9)
    expected = reference.table(lambda x, z: reference.rbf(x, z, 0.1), S, S)
    assert np.allclose(RBFRows(gamma=0.1).fit(S)(S, S), expected, rtol=1e-12)
    X = [("a", "x"), ("a", "y"), ("b", "y"), ("b", "z")]
    counts = pairwise(X, similarity="counting")
    fitted = RBFRows("counting", gamma=0.5).fit(X)
    assert np.allclose(fitted(X, X), np.exp(-0.5 * pairwise_distances(counts) ** 2))
    new = [("b", "x")]
    row = pairwise(new, X, similarity="counting")
    assert np.allclose(fitted(new, X), np.exp(-0.5 * pairwise_distances(row, counts) ** 2))
    again = pickle.loads(pickle.dumps(fitted))
    assert np.array_equal(again(new, X), fitted(new, X))


def test_rbf_rows_learns_what_its_similarity_learns():
    X, y = [("a", "x"), ("a", "y"), ("b", "x"), ("b", "y")], [0, 0, 1, 1]
    fitted = RBFRows("vdm").fit(X, y)
    assert fitted(X, X)[0].tolist() == pytest.approx([1, 1, np.exp(-4), np.exp(-4)])
    model = KNNClassifier(1, similarity=RBFRows("vdm")).fit(X, y)
    assert model.predict([("b", "z")]).tolist() == [1]
    assert KNNClassifier(1, similarity="rbf-rows").fit(np.eye(4), y).predict(np.eye(4)).tolist() == y


def test_rbf_rows_errors():
    with pytest.raises(NotFittedError):
        RBFRows()([[1.0]], [[1.0]])
    with pytest.raises(ValueError, match="fitted on 2"):
        RBFRows().fit(np.eye(2))(np.eye(3), np.eye(3))
    with pytest.raises(ValueError, match="gamma must be a finite number above 0; got -1"):
        RBFRows(gamma=-1).fit(np.eye(2))(np.eye(2), np.eye(2))
    with pytest.raises(ValueError, match="gamma must be a finite number above 0; got 0"):
        RBF(gamma=0)(np.eye(2), np.eye(2))


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        ([[1.0, 2.0], [3.0]], r"A\[1\] must be a row of numbers as long as A\[0\]; got shape \(1,\)"),
        ([[1.0, 2.0], ["a", "b"]], r"A\[1\] must be a row of real numbers; got \['a', 'b'\]"),
        (np.array([[1.0, 2.0j]]), r"A\[0\] must be a row of real numbers; got array\(\[1"),
        ([[1.0, 2.0], np.array([0j, 1.0])], r"A\[1\] must be a row of real numbers"),
        ([[1.0, 2.0], [3.0, np.nan]], r"A\[1\] has nan in column 1"),
        ([[1.0, np.inf]], r"A\[0\] has inf in column 1"),
        ([1.0, 2.0], r"A must be rows of numbers, all of one length; A\[0\] is 1.0"),
        (np.zeros((2, 2, 2)), "got 3 dimension"),
        (sparse.eye(2).tocsr(), r"A is a sparse matrix.*A.toarray\(\)"),
        ([[1.0, 2.0, 3.0]], r"rows of one length; A\[0\] has 3, B\[0\] 2"),
    ],
)
def test_bad_rows_are_named(bad, message):
    with pytest.raises(ValueError, match=message):
        euclidean(bad, [[1.0, 2.0]])


def test_frames_lists_and_integers_are_rows_too():
    X = [[1, 2], [3, 4]]
    expected = euclidean(np.array(X, dtype=float), X).tolist()
    assert euclidean(pd.DataFrame(X), X).tolist() == expected
    assert euclidean(np.array(X, dtype=np.float32), X).tolist() == expected
    with pytest.raises(ValueError, match=r"B\[1\] has nan"):
        euclidean(X, [[1, 2], [3, float("nan")]])


DISTANCES = ("l1", "l2", "cityblock", "canberra", "braycurtis", "sqeuclidean", "minkowski", "hamming", "nan_euclidean")
BOOLEAN = ("dice", "jaccard", "rogerstanimoto", "russellrao", "sokalsneath", "yule")
KERNELS = ("linear", "polynomial", "poly", "laplacian", "sigmoid", "chi2", "additive_chi2")


@pytest.mark.parametrize("name", DISTANCES + BOOLEAN + KERNELS)
def test_names_of_scikit_learn(name):
    A, B = rows(6, 4), rows(5, 4, seed=1)
    measure = scikit_learn_measure(name)
    if name in BOOLEAN:
        A, B = A > 2.5, B > 2.5
    if name in KERNELS:
        assert measure.orientation == "similarity"
        expected = pairwise_kernels(A, B, metric=name)
    else:
        assert measure.orientation == "dissimilarity"
        expected = pairwise_distances(A, B, metric=name)
    assert np.allclose(measure.function(A, B), expected, rtol=1e-9, atol=1e-12)
    assert np.array_equal(pairwise(A, B, similarity=measure), measure.function(A, B))
    assert measure.symmetric
    assert np.allclose(measure.function(A, B), measure.function(B, A).T)
    again = pickle.loads(pickle.dumps(measure))
    assert np.array_equal(again.function(A, B), measure.function(A, B))


def test_other_names_of_scikit_learn():
    places = np.radians([[52.5, 13.4], [48.9, 2.4], [40.7, -74.0]])
    D = scikit_learn_measure("haversine").function(places, places)
    assert D[0, 1] * 6371 == pytest.approx(878, abs=10)
    with_gap = [[1.0, np.nan], [2.0, 3.0]]
    assert scikit_learn_measure("nan_euclidean").function(with_gap, with_gap)[0, 1] == pytest.approx(np.sqrt(2))
    assert scikit_learn_measure("l2").function([[1e8, 1.0]], [[1e8, 1.0]])[0, 0] == 0
    for name in ("mahalanobis", "seuclidean", "precomputed", "levenshtein"):
        assert scikit_learn_measure(name) is None


def test_instances_resolve_to_their_entry():
    measure = resolve(RelativeEntropy(0.1))
    assert (measure.name, measure.symmetric, measure.function.smoothing) == ("relative-entropy", False, 0.1)
    assert clone(DeltaE94(kL=2)).kL == 2
    assert clone(ScikitLearnDistance("canberra")).metric == "canberra"
