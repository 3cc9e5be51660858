"""Tangent distance and image Euclidean distance."""

import pickle

import numpy as np
import pytest
from scipy.ndimage import gaussian_filter, rotate, shift
from sklearn.base import clone

from similitude import KNNClassifier
from similitude.similarities import pairwise
from similitude.similarities.images import TRANSFORMATIONS, EuclideanImage, Tangent, tangent_vectors
from similitude.similarities.registry import resolve
from similitude.similarities.vectors import euclidean
from tests.reference import images as reference


def pictures(n, height=7, width=6, seed=0):
    images = np.random.default_rng(seed).normal(size=(n, height, width))
    return 3 * gaussian_filter(images, (0, 0.8, 0.8))


def test_tangent_vectors_are_the_derivatives():
    image = pictures(1)[0]
    T = tangent_vectors(image[None], 0.9, TRANSFORMATIONS)[0].T
    assert np.allclose(T, reference.tangents(image, 0.9), atol=1e-12)
    part = tangent_vectors(image[None], 0.9, ("rotation", "x"))[0].T
    assert np.array_equal(part, T[:, [3, 0]])


def test_tangents_point_where_transformed_images_are():
    y, x = np.mgrid[:24, :24] - 11.5
    image = np.exp(-((x - 2) ** 2) / 20 - (y + 1) ** 2 / 8)
    T = tangent_vectors(image[None], 0.9, TRANSFORMATIONS)[0]
    moved = {0: shift(image, (0, -0.5)), 1: shift(image, (-0.5, 0)), 3: rotate(image, 4, reshape=False)}
    for t, new in moved.items():
        direction, change = T[t], (new - image).ravel()
        cosine = direction @ change / np.linalg.norm(direction) / np.linalg.norm(change)
        assert abs(cosine) > 0.97, TRANSFORMATIONS[t]


@pytest.mark.parametrize("sides", ["two", "one"])
@pytest.mark.parametrize(("spring", "sigma"), [(1e-2, 0.9), (1e-4, 0.6), (5.0, 1.3)])
def test_tangent_equals_least_squares(sides, spring, sigma):
    A, B = pictures(4), pictures(3, seed=1)
    D = Tangent(sides, spring=spring, sigma=sigma)(A, B)
    assert np.allclose(D, reference.tangent(A, B, spring, sigma, sides), rtol=0, atol=1e-9)


@pytest.mark.parametrize("transformations", [("x",), ("x", "y"), ("rotation", "thickness", "axis")])
def test_fewer_transformations(transformations):
    A, B = pictures(3), pictures(3, seed=1)
    D = Tangent(transformations=transformations)(A, B)
    chosen = [TRANSFORMATIONS.index(t) for t in transformations]
    for i, x in enumerate(A):
        for j, z in enumerate(B):
            T_x, T_z = (reference.tangents(image, 0.9)[:, chosen] for image in (x, z))
            assert D[i, j] == pytest.approx(reference.two_sided(x.ravel(), z.ravel(), T_x, T_z, 1e-2), abs=1e-10)
    assert (Tangent()(A, B) - 1e-12 <= D).all(), "more transformations, less distance"


def test_tangent_lies_between_nothing_and_euclid():
    A, B = pictures(5), pictures(6, seed=1)
    flat = euclidean(A.reshape(5, -1), B.reshape(6, -1))
    two, one = Tangent()(A, B), Tangent("one")(A, B)
    assert ((two >= 0) & (two <= one) & (one <= flat)).all()
    assert np.allclose(Tangent(spring=1e12)(A, B), flat)
    tighter = Tangent(spring=1e-3)(A, B)
    assert (tighter <= two).all()


def test_images_without_tangents_are_at_their_euclidean_distance():
    A = np.stack([np.zeros((5, 5)), np.ones((5, 5)), np.full((5, 5), 3.0)])
    expected = 5 * np.array([[0.0, 1, 3], [1, 0, 2], [3, 2, 0]])
    assert np.allclose(Tangent()(A, A), expected)
    assert np.allclose(Tangent("one")(A, A), expected)


def test_a_shifted_blob_is_near():
    y, x = np.mgrid[:16, :16]
    blobs = np.array([np.exp(-((x - c) ** 2 + (y - 7) ** 2) / 10) for c in (7, 7.5, 8)])
    far = euclidean(blobs.reshape(3, -1), blobs.reshape(3, -1))
    near = Tangent()(blobs, blobs)
    assert near[0, 1] < 0.15 * far[0, 1]
    assert near[0, 2] < 0.2 * far[0, 2]


@pytest.mark.parametrize("measure", [Tangent(), Tangent("one"), EuclideanImage()])
def test_equal_pairs_have_equal_distances(measure):
    A = pictures(9)
    A[6], A[8] = A[1], A[1]
    D = measure(A, A)
    assert (D[[1, 1, 6], [6, 8, 8]] < 1e-12).all()
    assert (D.diagonal() < 1e-12).all()
    new = pictures(4, seed=2)
    new[3] = new[0]
    D = measure(new, A)
    assert np.array_equal(D[0], D[3])
    assert np.array_equal(D[:, 1], D[:, 6])
    assert np.array_equal(D[:, 1], D[:, 8])


def test_identical_images_are_at_zero():
    A = pictures(6)
    for measure in (Tangent(), Tangent("one"), EuclideanImage()):
        assert (measure(A, A).diagonal() == 0).all()
        assert (measure(A, A.copy()).diagonal() == 0).all()


def test_values_do_not_depend_on_batch_or_threads(monkeypatch):
    A, B = pictures(8), pictures(5, seed=1)
    D = Tangent()(A, B)
    assert np.array_equal(np.vstack([Tangent()(A[i : i + 1], B) for i in range(8)]), D)
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    monkeypatch.setattr("os.sched_getaffinity", lambda pid: {0, 1, 2}, raising=False)
    assert np.array_equal(Tangent()(A, B), D)
    assert np.allclose(Tangent()(A, A.copy()), Tangent()(A, A), atol=1e-7)


@pytest.mark.parametrize("sigma", [1.0, 0.5, 2.0])
def test_image_euclidean_equals_the_double_sum(sigma):
    A, B = pictures(3, 4, 5), pictures(2, 4, 5, seed=1)
    expected = [[reference.imed(x, z, sigma) for z in B] for x in A]
    assert np.allclose(EuclideanImage(sigma)(A, B), expected, rtol=1e-8)


@pytest.mark.parametrize("name", ["tangent", "euclidean-image"])
def test_registered_claims(name):
    X = pictures(10, 6, 6)
    measure = resolve(name)
    D = pairwise(X, similarity=name)
    assert measure.symmetric
    assert measure.orientation == "dissimilarity"
    assert np.array_equal(D, D.T)
    assert (D.diagonal() == 0).all()
    assert (D >= 0).all()
    if measure.metric:
        assert (D[:, None, :] <= D[:, :, None] + D[None, :, :] + 1e-12).all()
    else:
        assert (euclidean(X.reshape(10, -1), X.reshape(10, -1)) >= D).all()


@pytest.mark.parametrize("measure", [Tangent(), EuclideanImage()])
def test_every_kind_of_image(measure):
    A = pictures(4, 5, 5)
    expected = measure(A, A.copy())
    flat = A.reshape(4, -1)
    assert np.array_equal(measure(flat, flat.copy()), expected)
    assert np.array_equal(measure(flat.tolist(), list(A)), expected)
    wide = pictures(4, 3, 8)
    with_shape = clone(measure).set_params(shape=(3, 8))
    assert np.array_equal(with_shape(wide.reshape(4, -1), wide), measure(wide, wide.copy()))


@pytest.mark.parametrize("similarity", ["tangent", "euclidean-image", Tangent("one", shape=(8, 8))])
def test_through_a_classifier(similarity):
    y, x = np.mgrid[:8, :8]
    generator = np.random.default_rng(0)
    bars = [np.exp(-((x - c) ** 2) / 3) for c in generator.uniform(2, 5, 6)]
    lines = [np.exp(-((y - c) ** 2) / 3) for c in generator.uniform(2, 5, 6)]
    X, labels = np.array(bars + lines).reshape(12, -1), np.repeat(["bar", "line"], 6)
    train, test = (np.ascontiguousarray(X[i::2]) for i in (0, 1))
    model = KNNClassifier(1, similarity=similarity).fit(train, labels[::2])
    assert (model.predict(test) == labels[1::2]).all()
    assert (pickle.loads(pickle.dumps(model)).predict(test) == labels[1::2]).all()


@pytest.mark.parametrize(
    ("A", "message"),
    [
        (np.zeros((2, 7)), r"A\[0\] has 7 pixels, which is not square: pass shape="),
        ([np.zeros((3, 3)), np.zeros((3, 2))], r"A\[1\] has shape \(3, 2\), A\[0\] \(3, 3\)"),
        (np.full((1, 3, 3), np.nan), r"A\[0\] has nan in column 0"),
        ([["a", "b"]], r"A\[0\] must be a row of real numbers"),
        (np.zeros((1, 5, 5)), r"images of one size; got \(5, 5\) and \(3, 3\)"),
    ],
)
def test_bad_images_are_named(A, message):
    for measure in (Tangent(), EuclideanImage()):
        with pytest.raises(ValueError, match=message):
            measure(A, np.zeros((1, 3, 3)))


@pytest.mark.parametrize(
    ("measure", "message"),
    [
        (Tangent("three"), "sides must be one of .*; got 'three'"),
        (Tangent(transformations=("x", "shear")), "transformations must be some of"),
        (Tangent(transformations=("x", "x")), "each once"),
        (Tangent(transformations=()), "transformations must be some of"),
        (Tangent(sigma=0), "sigma must be a finite number above 0; got 0"),
        (Tangent(spring=0), "spring must be a finite number above 0; got 0"),
        (EuclideanImage(sigma=-1), "sigma must be a finite number above 0; got -1"),
        (Tangent(shape=(2, 2)), r"A\[0\] has 9 pixels, which does not fill shape=\(2, 2\)"),
    ],
)
def test_bad_parameters(measure, message):
    with pytest.raises(ValueError, match=message):
        measure(np.zeros((1, 9)), np.zeros((1, 9)))


def test_instances_know_whether_they_are_symmetric():
    assert (resolve(Tangent()).symmetric, resolve(Tangent("one")).symmetric) == (True, False)
    A = pictures(5)
    D = Tangent("one")(A, A)
    assert not np.allclose(D, D.T)
