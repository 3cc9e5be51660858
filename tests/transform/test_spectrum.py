import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.calibration import CalibratedClassifierCV
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC

from similitude import PairwiseMeta, Proximities, SpectrumModifier
from similitude.transform.spectrum import METHODS
from tests.reference import spectrum as reference

VECTOR = np.array(
    [
        [1, 0.8, 0.3, 0.1, 0.2],
        [0.8, 1, 0.4, 0.2, 0.9],
        [0.3, 0.4, 1, 0.7, 0.6],
        [0.1, 0.2, 0.7, 1, 0.5],
        [0.2, 0.9, 0.6, 0.5, 1],
    ]
)


def _symmetric(n, seed=0, rank=None):
    rng = np.random.default_rng(seed)
    V = rng.normal(size=(n, rank or n))
    S = V @ np.diag(rng.normal(size=rank or n)) @ V.T
    return (S + S.T) / 2


square_matrices = st.integers(1, 7).flatmap(
    lambda n: arrays(float, (n, n), elements=st.integers(-3, 3).map(float) | st.floats(-3, 3, width=32))
)


@pytest.mark.parametrize("method", METHODS)
@given(A=square_matrices, scale=st.sampled_from([1.0, 1e-8, 1e8]))
def test_equals_the_definition(method, A, scale):
    S = (A + A.T) / 2 * scale
    rows = A[:2] * scale
    modifier = SpectrumModifier(method)
    K = modifier.fit_transform(S)
    size = np.abs(S).max() ** (2 if method == "square" else 1) + np.finfo(float).tiny
    assert np.allclose(K / size, reference.kernel(S, method) / size, rtol=0, atol=1e-12)
    expected = [reference.row(S, s, method) for s in rows]
    assert np.allclose(modifier.transform(rows) / size, np.array(expected) / size, rtol=0, atol=1e-9)
    assert np.allclose(rows @ modifier.transform_matrix_ / size, np.array(expected) / size, rtol=0, atol=1e-9)


@pytest.mark.parametrize("method", ["clip", "flip", "square", "none"])
@pytest.mark.parametrize("S", [VECTOR, _symmetric(30), _symmetric(30, rank=4), np.zeros((4, 4)), np.ones((5, 5))])
def test_training_rows_are_treated_like_new_ones(method, S):
    modifier = SpectrumModifier(method)
    K = modifier.fit_transform(S)
    assert np.allclose(modifier.transform(S), K, rtol=0, atol=1e-9 * max(1.0, np.abs(K).max()))


def test_shift_cannot_be_consistent_on_its_diagonal():
    modifier = SpectrumModifier("shift")
    difference = modifier.fit_transform(VECTOR) - modifier.transform(VECTOR)
    assert np.allclose(difference, 0.14108264 * np.eye(5), atol=1e-8)


def test_fitted_attributes():
    modifier = SpectrumModifier().fit(VECTOR)
    published = [-0.14108264, 0.27056491, 0.65612325, 1.27779016, 2.93660432]
    assert np.allclose(modifier.eigenvalues_, published, atol=1e-8)
    assert modifier.n_negative_ == 1
    assert modifier.negative_eigenfraction_ == pytest.approx(0.14108264 / np.sum(np.abs(published)), abs=1e-8)
    low_rank = SpectrumModifier().fit(_symmetric(30, rank=4))
    assert np.sum(low_rank.eigenvalues_ != 0) == 4
    loose = SpectrumModifier(tol=0.1).fit(VECTOR)
    assert loose.n_negative_ == 0


@pytest.mark.parametrize("method", ["clip", "flip", "shift", "square"])
def test_the_kernel_is_positive_semidefinite_and_symmetric(method):
    K = SpectrumModifier(method).fit_transform(_symmetric(40))
    values = np.linalg.eigvalsh(K)
    assert values.min() >= -1e-12 * values.max()
    assert np.array_equal(K, K.T)


def test_transform_matrix_is_forgotten_on_refit():
    modifier = SpectrumModifier().fit(VECTOR)
    first = modifier.transform_matrix_
    assert modifier.transform_matrix_ is first
    assert modifier.fit(np.eye(3)).transform_matrix_.shape == (3, 3)


def test_proposition_1_least_squares_in_the_clipped_embedding():
    """X^T z = s solved by least squares in the embedding of S_clip gives X^T x = P_clip s."""
    S, s = _symmetric(12), np.random.default_rng(1).normal(size=12)
    modifier = SpectrumModifier("clip").fit(S)
    values, V = np.linalg.eigh(S)
    X = (V * np.sqrt(np.maximum(values, 0))).T
    z = np.linalg.lstsq(X.T, s, rcond=1e-9)[0]
    assert np.allclose(X.T @ z, modifier.transform(s[None])[0], atol=1e-9)


def test_clustering_cost_does_not_change_under_shift():
    """Chen et al. 2009, eq. 3: sum over clusters of the mean over pairs; shift adds the same to every partition."""

    def cost(S, clusters):
        # The k-means cost of samples with Gram matrix S.
        return sum(
            np.trace(S[np.ix_(c, c)]) - S[np.ix_(c, c)].sum() / len(c)
            for c in (np.flatnonzero(clusters == k) for k in np.unique(clusters))
        )

    S = _symmetric(12)
    K = SpectrumModifier("shift").fit_transform(S)
    rng = np.random.default_rng(0)
    partitions = [rng.permutation(np.arange(12) % 3) for _ in range(20)]
    changes = [cost(K, p) - cost(S, p) for p in partitions]
    assert np.allclose(changes, changes[0])
    assert np.argmin([cost(K, p) for p in partitions]) == np.argmin([cost(S, p) for p in partitions])


def test_svm_on_square_is_the_linear_svm_on_similarity_rows():
    rng = np.random.default_rng(0)
    S, y = rng.normal(size=(30, 30)), rng.integers(0, 3, 30)
    rows = rng.normal(size=(9, 30))
    square = make_pipeline(SpectrumModifier("square"), SVC(kernel="precomputed")).fit(S, y)
    linear = SVC(kernel="linear").fit(S, y)
    assert np.allclose(square.decision_function(rows), linear.decision_function(rows), atol=1e-6)


@pytest.mark.parametrize("method", ["clip", "flip"])
def test_augmented_rows(method):
    S, rng = _symmetric(10), np.random.default_rng(1)
    rows, own = rng.normal(size=(4, 10)), rng.normal(size=4)
    modifier = SpectrumModifier(method, test_rows="augmented").fit(S)
    mean = np.diagonal(S).mean()
    expected = [reference.augmented_row(S, s, mean, method) for s in rows]
    assert np.allclose(modifier.transform(rows), expected, atol=1e-9)
    expected = [reference.augmented_row(S, s, c, method) for s, c in zip(rows, own)]
    given_own = modifier.transform(Proximities(rows, self_similarity=own))
    assert np.allclose(given_own, expected, atol=1e-9)


def test_untreated_rows_are_left_alone():
    rows = np.random.default_rng(0).normal(size=(3, 5))
    result = SpectrumModifier(test_rows="untreated").fit(VECTOR).transform(rows)
    assert np.array_equal(result, rows)
    assert not np.shares_memory(result, rows)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"method": "clop"}, "method must be one of"),
        ({"test_rows": "maybe"}, "test_rows must be one of"),
        ({"method": "shift", "test_rows": "augmented"}, r"augmented.* clip and flip only"),
        ({"tol": -1}, r"tol must lie in \[0, 1\)"),
    ],
)
def test_bad_parameters_are_named(parameters, message):
    with pytest.raises(ValueError, match=message):
        SpectrumModifier(**parameters).fit(VECTOR)


def test_drop_in_use_under_meta_estimators():
    rng = np.random.default_rng(0)
    y = np.arange(60) % 2
    X = rng.normal(size=(60, 3)) + 2 * y[:, None]
    S = -np.abs(X[:, None] - X[None]).sum(-1)
    pipeline = make_pipeline(SpectrumModifier("clip"), SVC(kernel="precomputed"))
    assert cross_val_score(pipeline, S, y, cv=4).mean() > 0.85
    search = GridSearchCV(pipeline, {"svc__C": [0.1, 1], "spectrummodifier__method": ["clip", "flip"]}, cv=3)
    assert cross_val_score(search, S, y, cv=4).mean() > 0.85
    calibrated = PairwiseMeta(CalibratedClassifierCV(pipeline, cv=3))
    assert cross_val_score(calibrated, S, y, cv=4, scoring="neg_log_loss").mean() > -0.5
    with pytest.raises(ValueError, match=r"similitude\.PairwiseMeta"):
        CalibratedClassifierCV(pipeline, cv=3).fit(S, y)
