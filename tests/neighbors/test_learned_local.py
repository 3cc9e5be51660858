"""SVM-KNN with a spectrum that is learned from the neighbours and the new sample."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.model_selection import GridSearchCV, KFold

from similitude import LocalSVC, PathSearchCV, Proximities
from similitude.persistence import load_model, save_model
from tests.paths import path_answers
from tests.reference import local_svc as reference


def _indefinite(n, m, n_classes, seed):
    """Similarities with negative eigenvalues, rows of new samples, and labels."""
    rng = np.random.default_rng(seed)
    y = np.arange(n + m) % n_classes
    X = rng.normal(size=(n + m, 3)) + 0.8 * np.eye(3)[y % 3]
    S = X[:, :2] @ X[:, :2].T - 0.7 * np.outer(X[:, 2], X[:, 2]) + 0.3 * rng.normal(size=(n + m, n + m))
    S = (S + S.T) / 2
    return S[:n, :n], S[n:, :n], y[:n]


@pytest.mark.untraced
@pytest.mark.parametrize(("target", "n_classes"), [("clip", 2), ("flip", 3), ("both", 2), ("similarity", 2)])
def test_a_learned_spectrum_is_that_of_the_program(target, n_classes):
    S, rows, y = _indefinite(30, 3, n_classes, 0)
    own = np.array([1.0, 2.0, 0.5])
    for C, gamma, given_own in ((1.0, 0.01, None), (0.3, 0.1, own)):
        model = LocalSVC(9, C, "learned", gamma=gamma, target=target).fit(S, y)
        X = rows if given_own is None else Proximities(rows, self_similarity=own)
        decisions, said = model.decision_function(X), model.predict(X)
        for i, row in enumerate(rows):
            one = None if given_own is None else own[i]
            values, present = reference.learned_decisions(S, row, y, 9, C, gamma, target, one)
            if n_classes == 2:
                assert np.isclose(decisions[i], values[0, 1], rtol=1e-4, atol=1e-4)
            if min(abs(value) for value in values.values()) > 0.1:  # several offsets may be optimal
                assert said[i] == reference.predict(values, present)


@pytest.mark.parametrize("target", ["clip", "flip"])
def test_a_spectrum_that_may_not_be_learned_is_that_of_the_augmented_matrix(target):
    S, rows, y = _indefinite(40, 12, 2, 1)
    model = LocalSVC(11, 2.0, "learned", gamma=1e4, target=target).fit(S, y)
    expected = [reference.augmented_decisions(S, row, y, 11, 2.0, target)[0][0, 1] for row in rows]
    assert np.allclose(model.decision_function(rows), expected, atol=1e-5)
    # It is not the machine that treats the row by a linear map.
    assert not np.allclose(model.decision_function(rows), LocalSVC(11, 2.0, target).fit(S, y).decision_function(rows))


def test_learned_spectra_in_a_search_in_a_file_and_of_raw_objects(tmp_path):
    S, rows, y = _indefinite(30, 6, 3, 2)
    grid = {"n_neighbors": [1, 5], "spectrum": ["clip", "learned"], "gamma": [0.1, 1.0]}
    path, plain = (search(LocalSVC(), grid, cv=KFold(2)).fit(S, y) for search in (PathSearchCV, GridSearchCV))
    assert np.array_equal(path.cv_results_["mean_test_score"], plain.cv_results_["mean_test_score"])
    points = [
        {"n_neighbors": k, "spectrum": spectrum, "target": "both"} for k in (7, 3) for spectrum in grid["spectrum"]
    ]
    for point, answer in zip(points, path_answers(LocalSVC(), S, y, rows, points, "decision_function"), strict=True):
        assert np.array_equal(answer, LocalSVC(**point).fit(S, y).decision_function(rows))
    model = LocalSVC(7, spectrum="learned", target="flip").fit(S, y)
    save_model(tmp_path / "model", model)
    assert np.array_equal(load_model(tmp_path / "model").decision_function(rows), model.decision_function(rows))
    assert np.array_equal(
        model.fit(sparse.csr_matrix(S), y).predict(rows), load_model(tmp_path / "model").predict(rows)
    )
    X = np.random.default_rng(3).integers(0, 3, (30, 5))
    raw = LocalSVC(5, spectrum="learned", similarity="counting")
    matrix, stream = (
        raw.set_params(search=search).fit(X[:24], np.arange(24) % 3).predict(X[24:]) for search in ("matrix", "stream")
    )
    assert np.array_equal(matrix, stream)
    for name, value in (("gamma", 0), ("target", "auto"), ("target", None)):
        with pytest.raises(ValueError, match=f"{name} must be"):
            LocalSVC(spectrum="learned", **{name: value}).fit(S, y)


@pytest.mark.parametrize("t", [1e-100, 1e-8, 1e8, 1e100])
def test_learned_spectra_do_not_depend_on_the_scale(t):
    S, rows, y = _indefinite(20, 5, 2, 4)
    expected = LocalSVC(8, 1.0, "learned", gamma=0.1).fit(S, y).decision_function(rows)
    assert np.allclose(
        LocalSVC(8, 1.0 / t, "learned", gamma=0.1).fit(S * t, y).decision_function(rows * t), expected, atol=1e-5
    )
    zero = LocalSVC(8, 1.0, "learned").fit(S * 0, y)
    assert np.isfinite(zero.decision_function(rows * 0)).all()
