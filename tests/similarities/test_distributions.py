"""Earth mover's distance, pyramid match and Hausdorff distance."""

import pickle
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.spatial.distance import cdist, directed_hausdorff
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from similitude import KNNClassifier
from similitude.similarities import pairwise
from similitude.similarities.distributions import EMD, Hausdorff, PyramidMatch
from similitude.similarities.registry import resolve
from tests.reference import distributions as reference

coordinate = st.floats(-10, 10).map(lambda v: round(v, 2))
point_sets = st.lists(
    st.integers(1, 4).flatmap(lambda n: arrays(float, (n, 2), elements=coordinate)), min_size=1, max_size=3
)


def clouds(n=8, seed=0, shift=0.0):
    generator = np.random.default_rng(seed)
    return [generator.normal(size=(generator.integers(2, 7), 2)) + shift for _ in range(n)]


@given(point_sets, point_sets)
def test_hausdorff_equals_its_definition(A, B):
    expected = np.array([[reference.hausdorff(a, b) for b in B] for a in A])
    assert np.allclose(Hausdorff()(A, B), expected, rtol=1e-12)
    expected = np.array([[reference.directed_hausdorff(a, b) for b in B] for a in A])
    assert np.allclose(Hausdorff(directed=True)(A, B), expected, rtol=1e-12)


def test_hausdorff_equals_scipy():
    A, B = clouds(5), clouds(6, seed=1)
    expected = [[directed_hausdorff(a, b)[0] for b in B] for a in A]
    assert np.allclose(Hausdorff(directed=True)(A, B), expected)
    city = Hausdorff(ground="cityblock")(A, B)
    ground = cdist(A[1], B[2], "cityblock")
    assert city[1, 2] == max(ground.min(axis=1).max(), ground.min(axis=0).max())


@given(point_sets, point_sets, st.integers(1, 5), st.sampled_from([None, 0.3, 1.0]))
def test_pyramid_match_equals_its_definition(A, B, n_levels, finest):
    fitted = PyramidMatch(n_levels, finest).fit(A)
    expected = [[reference.pyramid_match(a, b, fitted.origin_, fitted.finest_, n_levels) for b in B] for a in A]
    assert np.allclose(fitted(A, B), expected, rtol=1e-13)
    assert (fitted(A, A).diagonal() == 1).all()


def test_pyramid_match_grid():
    sets = [[[0.0, 0.0]], [[8.0, 4.0]]]
    fitted = PyramidMatch(n_levels=4).fit(sets)
    assert fitted.origin_.tolist() == [0, 0]
    assert fitted.finest_ == pytest.approx(1)
    assert fitted(sets, sets)[0, 1] == 1 / 8, "the coarsest cell holds everything"
    assert PyramidMatch().fit([[[1.0]], [[1.0]]]).finest_ == 1, "a single place has no extent"
    many = clouds(20)
    eigenvalues = np.linalg.eigvalsh(PyramidMatch().fit(many)(many, many))
    assert eigenvalues.min() > -1e-10, "positive semidefinite"


def test_emd_of_histograms_on_a_line():
    generator = np.random.default_rng(0)
    P, Q = generator.random((3, 5)), generator.random((4, 5))
    line = np.abs(np.subtract.outer(np.arange(5), np.arange(5))).astype(float)
    expected = [[reference.emd(p, q, line) for q in Q] for p in P]
    assert np.allclose(EMD()(P, Q), expected, rtol=1e-8)
    assert np.allclose(EMD(line)(P, Q), expected, rtol=1e-8)
    assert np.allclose(EMD()(3 * P, Q), expected, rtol=1e-8), "mass does not count"


def test_emd_with_a_ground_matrix():
    generator = np.random.default_rng(1)
    P, Q, ground = generator.random((3, 4)), generator.random((2, 4)), generator.random((4, 4))
    expected = [[reference.emd(p, q, ground) for q in Q] for p in P]
    assert np.allclose(EMD(ground)(P, Q), expected, rtol=1e-8)
    assert not EMD(ground).symmetric
    assert EMD(ground + ground.T).symmetric
    D = EMD(ground)(P, P)
    assert not np.allclose(D, D.T), "an asymmetric ground stays asymmetric"
    D = EMD(ground + ground.T)(P, P)
    assert np.array_equal(D, D.T)


def test_emd_of_point_sets():
    A, B = clouds(3), clouds(4, seed=1)
    expected = [[reference.emd(np.ones(len(a)), np.ones(len(b)), reference.distances(a, b)) for b in B] for a in A]
    assert np.allclose(EMD()(A, B), expected, rtol=1e-8)
    weights = [np.arange(1.0, len(a) + 1) for a in A]
    weighted = list(zip(A, weights))
    expected = [[reference.emd(w, np.ones(len(b)), reference.distances(a, b)) for b in B] for a, w in zip(A, weights)]
    assert np.allclose(EMD()(weighted, B), expected, rtol=1e-8)
    stack = np.random.default_rng(0).normal(size=(3, 4, 2))
    assert np.array_equal(EMD()(stack, stack), EMD()(list(stack), list(stack)))
    square = EMD("sqeuclidean")
    assert square([[[0.0]]], [[[3.0]]]).item() == 9
    assert not square.metric


@pytest.mark.parametrize("name", ["emd", "hausdorff", "pyramid-match"])
def test_registered_claims(name):
    X = clouds(9)
    X[4] = X[7].copy()
    measure = resolve(name).learned(X, None)
    M = pairwise(X, similarity=measure)
    assert measure.symmetric
    assert np.array_equal(M, M.T)
    assert np.allclose(M[4], M[7], atol=1e-12)
    assert (M.diagonal() == (1 if measure.orientation == "similarity" else 0)).all()
    assert (M >= 0).all()
    if measure.metric:
        assert (M[:, None, :] <= M[:, :, None] + M[None, :, :] + 1e-12).all()
    else:
        assert (M <= 1).all()


@pytest.mark.parametrize(
    "similarity", ["emd", "hausdorff", "pyramid-match", Hausdorff(directed=True), EMD("cityblock")]
)
def test_through_a_classifier(similarity):
    X, y = clouds(6) + clouds(6, seed=1, shift=6.0), np.repeat([0, 1], 6)
    model = KNNClassifier(3, similarity=similarity).fit(X, y)
    assert model.predict(clouds(2, seed=2) + clouds(2, seed=3, shift=6.0)).tolist() == [0, 0, 1, 1]
    assert pickle.loads(pickle.dumps(model)).predict(X).tolist() == y.tolist()


def test_instances_know_their_properties():
    assert (Hausdorff().symmetric, Hausdorff().metric) == (True, True)
    directed = resolve(Hausdorff(directed=True))
    assert (directed.symmetric, directed.metric) == (False, False)
    assert EMD().metric
    assert clone(PyramidMatch(n_levels=3)).n_levels == 3


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        ([[[0.0, 1.0]], [0.0, 1.0]], r"A\[1\] must be an array of points .* got shape \(2,\)"),
        ([[["a", "b"]]], r"A\[0\] must be an array of points"),
        ([np.eye(2), np.eye(2) * 1j], r"A\[1\] must be an array of points .*, real numbers; got array"),
        ([[[0.0, np.nan]]], r"A\[0\] has nan at \(0, 1\)"),
        ([[[0.0, 1.0]], [[0.0]]], r"A\[1\] has points of 1 dimensions; the others have 2"),
        ([np.empty((0, 2))], r"A\[0\] must be an array of points .* got shape \(0, 2\)"),
    ],
)
def test_bad_point_sets_are_named(bad, message):
    good = [[[0.0, 1.0]]]
    for measure in (Hausdorff(), EMD(), PyramidMatch().fit(good)):
        with pytest.raises(ValueError, match=message):
            measure(bad, good)


def test_errors():
    with pytest.raises(ValueError, match=r"B\[0\] has points of 1 dimensions"):
        Hausdorff()([[[0.0, 1.0]]], [[[0.0]]])
    with pytest.raises(ValueError, match=r"B\[0\] has points of 1 dimensions"):
        EMD()([[[0.0, 1.0]]], [[[0.0]]])
    with pytest.raises(ValueError, match=r"A\[0\] must have one non-negative weight for each of its 1 points"):
        EMD()([([[0.0]], [-1.0])], [[[0.0]]])
    with pytest.raises(ValueError, match=r"B\[1\] is all zero"):
        EMD()([[1, 2]], [[1, 2], [0, 0]])
    with pytest.raises(ValueError, match=r"A\[0\] must have real numbers as weights"):
        EMD()([(np.eye(2), np.array([1j, 1.0]))], [np.eye(2)])
    with pytest.raises(ValueError, match="ground must be a name, or a matrix of non-negative real numbers"):
        EMD(ground=np.eye(2) * 1j)([[1, 2]], [[1, 2]])
    with pytest.raises(ValueError, match=r"ground must be a matrix .* 2 bins; got shape \(3, 3\)"):
        EMD(np.eye(3))([[1, 2]], [[1, 2]])
    with pytest.raises(ValueError, match="a matrix is for histograms"):
        EMD(np.eye(3))([[[0.0]]], [[[0.0]]])
    with pytest.raises(NotFittedError):
        PyramidMatch()([[[0.0]]], [[[0.0]]])
    with pytest.raises(ValueError, match="n_levels must be an integer of at least 1; got 0"):
        PyramidMatch(0).fit([[[0.0]]])
    with pytest.raises(ValueError, match="finest must be a finite number above 0; got 0"):
        PyramidMatch(finest=0).fit([[[0.0]]])


def test_a_missing_library_names_its_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "ot", None)
    with pytest.raises(ImportError, match=r"similitude\[transport\]"):
        EMD()([[[0.0]]], [[[1.0]]])
    assert EMD()([[1, 0]], [[0, 1]]).item() == 1, "histograms on a line need no solver"
