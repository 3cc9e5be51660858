"""The landmark classifier: linear models on Nystroem features, from moments, in blocks, and along paths."""

import pickle
import warnings
from functools import reduce
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import cdist
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.model_selection import GridSearchCV, cross_val_predict, cross_val_score
from sklearn.svm import LinearSVC

from similitude import (
    IndefiniteNystroem,
    LandmarkClassifier,
    PathSearchCV,
    SimilarityWarning,
    SpectrumModifier,
    load_model,
    save_model,
)
from similitude.base import GridFit
from similitude.features import landmark_models as landmark_moments
from similitude.features.landmark_models import add, block_moments, solve, with_targets
from similitude.transform import landmarks as landmark_module

NAMES = np.array(["red", "green", "blue"])


def _problem(n=60, m=15, classes=3, seed=0):
    """Indefinite similarities of n training samples and of m new ones to them, and the classes."""
    rng = np.random.default_rng(seed)
    y = np.arange(n + m) % classes
    X = rng.normal(size=(n + m, 3)) + 2 * np.eye(classes, 3)[y]
    S = 4 - cdist(X, X, "cityblock")
    return S[:n, :n], S[n:, :n], NAMES[y[:n]]


def _columns(classes=3, n=80, p=12):
    rng = np.random.default_rng(1)
    y = np.arange(n) % classes
    X = rng.normal(size=(n, 3)) + 2 * np.eye(classes, 3)[y]
    landmarks = 2 * rng.normal(size=(p, 3))
    similarity = {"similarity": "columns", "landmark_similarity": -cdist(landmarks, landmarks, "cityblock")}
    return -cdist(X, landmarks, "cityblock"), NAMES[y], similarity


# The models


@pytest.mark.untraced
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("spectrum", ["clip", "flip", "square"])
@pytest.mark.parametrize("class_weight", [None, "balanced", {"red": 3.0}])
def test_ridge_is_the_ridge_classifier_on_features(classes, spectrum, class_weight):
    S, rows, y = _problem(classes=classes)
    y[:20] = y[0]
    for m, alpha in ((10, 0.1), (10, 100.0), (100, 1.0)):
        model = LandmarkClassifier(m, spectrum, alpha=alpha, class_weight=class_weight, random_state=0).fit(S, y)
        features = IndefiniteNystroem(m, spectrum, random_state=0)
        F = features.fit_transform(S)
        peer = RidgeClassifier(alpha, class_weight=class_weight, solver="svd").fit(F, y)
        expected = peer.decision_function(features.transform(rows))
        assert np.allclose(model.decision_function(rows), expected, rtol=1e-8, atol=1e-8)
        assert np.array_equal(model.predict(rows), peer.predict(features.transform(rows)))
        assert np.array_equal(model.landmarks_, features.landmarks_)
        by_hand = rows[:, model.landmarks_] @ model.coef_.T + model.intercept_
        assert np.allclose(by_hand, expected.reshape(by_hand.shape), atol=1e-8)
        assert not hasattr(model, "predict_proba")


def test_ridge_on_a_modified_kernel():
    # The dual view: with all landmarks it is kernel ridge on the modified kernel, centred.
    S, rows, y = _problem(classes=2)
    modifier = SpectrumModifier("flip")
    K, new = modifier.fit_transform(S), modifier.transform(rows)
    t = np.where(y == "red", 1.0, -1.0)
    centre = np.eye(60) - 1 / 60
    dual = np.linalg.solve(centre @ K @ centre + 0.5 * np.eye(60), t - t.mean())
    expected = (new - K.mean(axis=0)) @ centre @ dual + t.mean()
    model = LandmarkClassifier(spectrum="flip", alpha=0.5).fit(S, y)
    assert np.allclose(model.decision_function(rows), expected, atol=1e-9)


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize(("name", "peer"), [("logistic", LogisticRegression()), ("svm", LinearSVC(dual=False))])
def test_other_models_are_scikit_learns_on_features(name, peer, classes):
    S, rows, y = _problem(classes=classes)
    features = IndefiniteNystroem(10, "flip", random_state=0)
    F = features.fit_transform(S)
    model = LandmarkClassifier(10, "flip", name, C=0.1, class_weight="balanced", random_state=0).fit(S, y)
    peer = clone(peer).set_params(C=0.1, class_weight="balanced", tol=1e-8, max_iter=10_000)
    if name == "svm":  # the constant feature is of the others' size
        peer.set_params(intercept_scaling=2.0 ** np.frexp(np.abs(F).max())[1])
    peer.fit(F, y)
    new = features.transform(rows)
    assert np.allclose(model.decision_function(rows), peer.decision_function(new), atol=5e-3)
    assert np.mean(model.predict(rows) == peer.predict(new)) == 1
    assert hasattr(model, "predict_proba") == (name == "logistic")
    if name == "logistic":
        assert np.allclose(model.predict_proba(rows), peer.predict_proba(new), atol=5e-3)
        assert np.allclose(model.predict_proba(rows).sum(axis=1), 1)


@pytest.mark.parametrize("C", [1.0, 1e4])
@pytest.mark.parametrize("classes", [2, 3])
def test_logistic_regression_is_solved(classes, C):
    """The gradient by the coefficients is zero: C times the features times what the posteriors are off by, plus w."""
    S, _, y = _problem(classes=classes)
    F = IndefiniteNystroem(10, "flip", random_state=0).fit_transform(S)
    model = LandmarkClassifier(10, "flip", "logistic", C=C, random_state=0).fit(S, y)
    off = model.predict_proba(S) - (y[:, None] == model.classes_)
    off = off[:, 1:] if classes == 2 else off
    decisions = model.decision_function(S).reshape(off.shape)
    w, *_ = np.linalg.lstsq(np.column_stack([F, np.ones(len(F))]), decisions, rcond=None)
    gradient = C * F.T @ off + w[:-1]
    assert np.abs(gradient).max() < 1e-4 * np.abs(w).max()


def test_scikit_learns_scale_of_C_is_kept():
    S, rows, y = _problem(classes=2)
    for name in ("logistic", "svm"):
        model = LandmarkClassifier(10, "flip", name, random_state=0)
        expected = clone(model).set_params(C=0.5).fit(S, y).decision_function(rows)
        # 4096 times the similarities, a 4096th of C.
        found = clone(model).set_params(C=0.5 / 4096).fit(4096 * S, y).decision_function(4096 * rows)
        assert np.allclose(found, expected, rtol=1e-9, atol=1e-12)


# Moments


@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    cuts=st.sets(st.integers(1, 39), max_size=5),
    weighted=st.booleans(),
    order=st.randoms(use_true_random=False),
)
def test_moments_of_blocks_in_any_order(seed, cuts, weighted, order):
    rng = np.random.default_rng(seed)
    C, Y = rng.normal(size=(40, 6)), np.eye(3)[rng.integers(0, 3, 40)]
    w = rng.uniform(0.5, 2, 40) if weighted else None
    P = rng.normal(size=(6, 4))
    places = np.split(np.arange(40), sorted(cuts))
    order.shuffle(places)
    moments = reduce(add, [block_moments(C[i], Y[i], None if w is None else w[i]) for i in places])
    assert moments.n_targets == 3
    assert np.allclose(moments.rows.T @ moments.rows, C.T @ C)
    weights = np.ones(40) if w is None else w
    for alpha, found in zip([0.1, 10.0], solve(moments, P, [0.1, 10.0])):
        F = C @ P
        means, targets = np.average(F, axis=0, weights=weights), np.average(Y, axis=0, weights=weights)
        A = (F - means).T * weights
        B = np.linalg.solve(A @ (F - means) + alpha * np.eye(4), A @ (Y - targets))
        assert np.allclose(found.coef, (P @ B).T, rtol=1e-8, atol=1e-10)
        assert np.allclose(found.intercept, targets - means @ B, rtol=1e-8, atol=1e-10)


def test_moments_with_and_without_weights_and_with_more_targets():
    rng = np.random.default_rng(0)
    C, Y = rng.normal(size=(30, 4)), np.eye(2)[rng.integers(0, 2, 30)]
    mixed = add(block_moments(C[:10], Y[:10]), block_moments(C[10:], Y[10:], np.ones(20)))
    plain = block_moments(C, Y)
    for found, expected in zip(solve(mixed, np.eye(4), [1.0])[0], solve(plain, np.eye(4), [1.0])[0]):
        assert np.allclose(found, expected, atol=1e-12)
    wider = block_moments(C, np.column_stack([Y[:, 0], np.zeros(30), Y[:, 1]]))
    moved = with_targets(plain, np.array([0, 2]), 3)
    assert np.allclose(moved.weighted.T @ moved.weighted, wider.weighted.T @ wider.weighted, atol=1e-12)


@pytest.mark.parametrize("model", ["ridge", "logistic", "svm"])
def test_blocks_do_not_matter(model):
    S, rows, y = _problem()
    classifier = LandmarkClassifier(8, "flip", model, class_weight={"red": 2.0}, random_state=0)
    expected = clone(classifier).fit(S, y).decision_function(rows)
    with patch.object(landmark_module, "_ENTRIES", 40):
        found = classifier.fit(S, y).decision_function(rows)
    assert np.allclose(found, expected, atol=1e-9 if model == "ridge" else 1e-4)


# More samples later


@pytest.mark.parametrize("class_weight", [None, {"red": 2.0, "blue": 0.5}])
def test_partial_fit_of_columns_is_fit(class_weight):
    C, y, similarity = _columns()
    model = LandmarkClassifier(8, "flip", class_weight=class_weight, random_state=0, **similarity)
    whole = clone(model).fit(C, y)
    parts = clone(model)
    for places in np.array_split(np.arange(80), 5):
        parts.partial_fit(C[places], y[places])
    assert np.array_equal(parts.landmarks_, whole.landmarks_)
    assert np.allclose(parts.coef_, whole.coef_, rtol=1e-8, atol=1e-9)
    assert np.allclose(parts.intercept_, whole.intercept_, rtol=1e-8, atol=1e-9)
    after_fit = clone(model).fit(C[:50], y[:50]).partial_fit(C[50:], y[50:])
    assert np.allclose(after_fit.coef_, whole.coef_, rtol=1e-8, atol=1e-9)


def test_partial_fit_of_raw_objects():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    y = (X[:, 0] > 0).astype(int)
    model = LandmarkClassifier(100, "clip", similarity="cityblock")
    model.partial_fit(X[:20], y[:20]).partial_fit(X[20:45], y[20:45]).partial_fit(X[45:], y[45:])
    D = cdist(X, X[:20], "cityblock")
    peer = LandmarkClassifier(similarity="columns", landmark_similarity=D[:20], dissimilarity="max-minus").fit(D, y)
    assert np.array_equal(model.landmarks_, np.arange(20))
    assert np.array_equal(model.objects_, X[:20])
    assert np.allclose(model.decision_function(X), peer.decision_function(D), atol=1e-8)


def test_partial_fit_of_an_asymmetric_similarity():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=60).tolist(), np.arange(60) % 2

    def lean(a, b):
        return float(np.exp(-abs(a - b)) + 0.2 * max(a - b, 0))

    model = LandmarkClassifier(8, "flip", random_state=0, similarity=lean)
    with pytest.warns(SimilarityWarning, match="asymmetric"):
        model.partial_fit(X[:30], y[:30])
    model.partial_fit(X[30:], y[30:])
    S = np.array([[(lean(a, b) + lean(b, a)) / 2 for b in model.objects_] for a in X])
    peer = LandmarkClassifier(8, "flip", similarity="columns", landmark_similarity=S[model.landmarks_]).fit(S, y)
    assert np.allclose(model.coef_, peer.coef_, rtol=0, atol=1e-8)


def test_classes_may_come_late():
    C, y, similarity = _columns()
    order = np.argsort(y == "green", kind="stable")  # green comes last, in the middle of the sorted classes
    C, y = C[order], y[order]
    whole = LandmarkClassifier(**similarity).fit(C, y)
    late = LandmarkClassifier(**similarity).partial_fit(C[:40], y[:40])
    assert late.classes_.tolist() == ["blue", "red"]
    late.partial_fit(C[40:], y[40:])
    named = LandmarkClassifier(**similarity).partial_fit(C[:1], y[:1], classes=NAMES).partial_fit(C[1:], y[1:])
    for model in (late, named):
        assert model.classes_.tolist() == ["blue", "green", "red"]
        assert np.allclose(model.decision_function(C), whole.decision_function(C), atol=1e-8)


def test_partial_fit_where_it_is_not():
    C, y, similarity = _columns()
    assert not hasattr(LandmarkClassifier(), "partial_fit")
    assert not hasattr(LandmarkClassifier(model="svm", **similarity), "partial_fit")
    with pytest.raises(ValueError, match="class_weight='balanced' needs all labels at once"):
        LandmarkClassifier(class_weight="balanced", **similarity).partial_fit(C, y)
    with pytest.raises(ValueError, match="y and classes must hold at least two classes"):
        LandmarkClassifier(**similarity).partial_fit(C[:1], y[:1])
    words = LandmarkClassifier(similarity="levenshtein").fit(["tree", "free", "house"], [0, 0, 1])
    logistic = LandmarkClassifier(model="logistic", **similarity).fit(C, y)
    for model in (words.set_params(**similarity), logistic.set_params(model="ridge")):
        with pytest.raises(ValueError, match="partial_fit cannot continue"):
            model.partial_fit(C, y)
        assert clone(model).partial_fit(C, y).coef_.shape == (3, 12)


@pytest.mark.parametrize(
    ("first", "later", "classes", "message"),
    [
        ([0, 1], ["0", "1"], None, "labels of all calls, and classes, must be of one kind"),
        ([0, 1], np.array(["a", "b"], dtype=object), None, "must be of one kind"),
        (["a", "b"], ["a", "b"], [1, 2], "must be of one kind"),
        (["a", "b"], ["a", "b"], "ab", "classes must be a list of labels; got 'ab'"),
        (["a", "b"], ["a", "b"], [["a", "b"]], "classes must be a list of labels"),
        (["a", "b"], ["a", "b"], ["a", None], "missing label"),
    ],
)
def test_labels_of_another_kind_are_refused(first, later, classes, message):
    C, _, similarity = _columns()
    model = LandmarkClassifier(**similarity).partial_fit(C[:2], first)
    with pytest.raises(ValueError, match=message):
        model.partial_fit(C[2:4], later, classes=classes)
    assert model.classes_.tolist() == first


def test_a_failed_partial_fit_changes_nothing():
    C, y, similarity = _columns()
    model = LandmarkClassifier(**similarity).fit(C[:40], y[:40])
    before = model.decision_function(C)
    with pytest.raises(ValueError, match="NaN"):
        model.partial_fit(np.full((2, 12), np.nan), ["yellow", "red"])
    assert np.array_equal(model.decision_function(C), before)
    assert model.partial_fit(C[40:], y[40:]).classes_.tolist() == ["blue", "green", "red"]


@pytest.mark.parametrize("model", ["ridge", "svm"])
def test_a_model_does_not_grow_with_the_samples(model):
    C, y, similarity = _columns()
    sizes = []
    for times in (1, 50):
        fitted = LandmarkClassifier(model=model, **similarity).fit(np.tile(C, (times, 1)), np.tile(y, times))
        sizes.append(len(pickle.dumps(fitted)))
    assert sizes[0] == sizes[1]


def test_many_classes_take_no_large_blocks():
    C, _, similarity = _columns()
    y = np.arange(80) % 20
    lengths = []

    def noted(rows, targets, weights=None):
        lengths.append(len(rows))
        return block_moments(rows, targets, weights)

    expected = LandmarkClassifier(**similarity).fit(C, y)
    with patch.object(landmark_module, "_ENTRIES", 21 * 12), patch.object(landmark_moments, "block_moments", noted):
        found = LandmarkClassifier(**similarity).fit(C, y)
    assert max(lengths) == 12  # by the 20 classes and the constant, not by the 12 landmarks
    assert sum(lengths) == 80
    assert np.allclose(found.coef_, expected.coef_, rtol=0, atol=1e-8)


# Paths


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize(
    ("estimator", "name"),
    [
        (LandmarkClassifier(9, "flip", random_state=0), "alpha"),
        (LandmarkClassifier(9, "flip", class_weight="balanced", selection="stratified", random_state=0), "alpha"),
        (LandmarkClassifier(9, "clip", "logistic", random_state=0), "C"),
        (LandmarkClassifier(9, "square", "svm", random_state=0), "C"),
    ],
    ids=["ridge", "balanced", "logistic", "svm"],
)
def test_a_path_equals_plain_fits(estimator, name, classes):
    S, rows, y = _problem(classes=classes)
    grid = [{name: value} for value in (1e-3, 0.1, 1.0, 30.0)]
    fits = [clone(estimator).set_params(**point).fit(S, y) for point in grid]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        path = GridFit(clone(estimator), S, y, grid)
        for fit, found in zip(fits, path.answers(rows, "decision_function")):
            assert np.allclose(found, fit.decision_function(rows), rtol=1e-9, atol=1e-9)
        labels = path.answers(rows, "predict")
        assert all(np.array_equal(fit.predict(rows), found) for fit, found in zip(fits, labels))
        assert all(np.array_equal(fit.coef_, path.at(i).coef_) for i, fit in enumerate(fits))
        if estimator.model == "logistic":
            found = path.answers(rows, "predict_proba")
            assert np.allclose(found, [fit.predict_proba(rows) for fit in fits])


@pytest.mark.parametrize("model", ["ridge", "svm"])
def test_a_path_without_probabilities_gives_none(model):
    S, rows, y = _problem()
    path = GridFit(LandmarkClassifier(9, model=model, random_state=0), S, y, [{}])
    with pytest.raises(AttributeError, match="predict_proba needs model='logistic'"):
        path.answers(rows, "predict_proba")
    assert not hasattr(path.at(0), "predict_proba")


def test_the_search_is_the_grid_search():
    grid = {"alpha": [1e-3, 1.0, 1e3], "n_landmarks": [4, 12], "spectrum": ["clip", "square"]}
    S, _, y_square = _problem()
    C, y_columns, similarity = _columns()
    for estimator, X, y in (
        (LandmarkClassifier(random_state=0), S, y_square),
        (LandmarkClassifier(random_state=0, **similarity), C, y_columns),
    ):
        ours = PathSearchCV(estimator, grid, cv=3).fit(X, y)
        theirs = GridSearchCV(estimator, grid, cv=3).fit(X, y)
        assert np.array_equal(ours.cv_results_["mean_test_score"], theirs.cv_results_["mean_test_score"])
        assert ours.best_params_ == theirs.best_params_


def test_a_search_on_raw_objects():
    X = np.random.default_rng(0).normal(size=(60, 3))
    y = (X[:, 0] > 0).astype(int)
    estimator = LandmarkClassifier(9, random_state=0, similarity="cityblock")
    grid = {"alpha": [1e-3, 1.0, 1e3]}
    ours, theirs = (search(estimator, grid, cv=3).fit(X, y) for search in (PathSearchCV, GridSearchCV))
    assert np.array_equal(ours.cv_results_["mean_test_score"], theirs.cv_results_["mean_test_score"])


# Kinds of input


def test_columns_in_cross_validation():
    C, y, similarity = _columns()
    folds = [(np.setdiff1d(np.arange(80), test), test) for test in np.array_split(np.arange(80), 4)]
    model = LandmarkClassifier(random_state=0, **similarity)
    scores = cross_val_score(model, C, y, cv=folds)
    by_hand = [np.mean(clone(model).fit(C[a], y[a]).predict(C[b]) == y[b]) for a, b in folds]
    assert np.array_equal(scores, by_hand)
    assert np.mean(scores) > 0.6
    decisions = cross_val_predict(model, C, y, cv=folds, method="decision_function")
    for a, b in folds:
        features = IndefiniteNystroem(500, **similarity)
        peer = RidgeClassifier(solver="svd").fit(features.fit_transform(C[a]), y[a])
        assert np.allclose(decisions[b], peer.decision_function(features.transform(C[b])), atol=1e-8)


@pytest.mark.parametrize("selection", ["random", "stratified", "kmedoids", "leverage"])
@pytest.mark.parametrize("model", ["ridge", "logistic"])
def test_raw_objects_equal_their_matrix(selection, model):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (50, 12))
    y = (X[:, :4].sum(axis=1) > 2).astype(int)
    S = (X[:, None] == X).sum(axis=2).astype(float)
    by_matrix = LandmarkClassifier(9, "flip", model, selection=selection, random_state=0).fit(S, y)
    by_objects = clone(by_matrix).set_params(similarity="counting").fit(X, y)
    assert np.array_equal(by_matrix.landmarks_, by_objects.landmarks_)
    assert np.allclose(by_matrix.decision_function(S), by_objects.decision_function(X), atol=1e-9)
    assert len(by_objects.objects_) == 9
    assert np.allclose(by_matrix.decision_function(S[:, by_matrix.support_columns_]), by_matrix.decision_function(S))


def test_only_similarities_to_landmarks_are_computed():
    seen = []

    def product(a, b):
        seen.append(1)
        return float(a @ b)

    X = np.random.default_rng(0).normal(size=(70, 3))
    model = LandmarkClassifier(5, random_state=0, similarity=product).fit(X, X[:, 0] > 0)
    assert len(seen) == 70 * 5 + 5 * 5 + 36  # six samples are tried first: is it a distance?
    assert np.mean(model.predict(X) == (X[:, 0] > 0)) > 0.9


@pytest.mark.parametrize("model", ["ridge", "logistic", "svm"])
@pytest.mark.parametrize("scale", [1e-300, 1e-150, 1e150, 1e300])
@pytest.mark.parametrize("spectrum", ["flip", "square"])
def test_any_scale(model, scale, spectrum):
    S, rows, y = _problem()
    classifier = LandmarkClassifier(8, spectrum, model, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        classifier.fit(S * scale, y)
    decisions = classifier.decision_function(rows * scale)
    assert np.isfinite(decisions).all()
    if scale > 1:  # no penalty left, that is
        assert np.mean(classifier.predict(S * scale) == y) > 0.7


@pytest.mark.parametrize("S", [np.zeros((9, 9)), np.ones((9, 9)), -np.eye(9)], ids=["zero", "constant", "negative"])
@pytest.mark.parametrize("model", ["ridge", "logistic", "svm"])
def test_where_no_feature_tells_anything(S, model):
    y = ["a"] * 6 + ["b"] * 3
    for m in (3, 9):
        fitted = LandmarkClassifier(m, model=model, random_state=0).fit(S, y)
        assert fitted.predict(S).tolist() == ["a"] * 9


def test_model_files(tmp_path):
    X = np.random.default_rng(0).normal(size=(60, 3))
    y = np.where(X[:, 0] > 0, "yes", "no")
    model = LandmarkClassifier(9, random_state=0, similarity="cityblock").fit(X, y)
    save_model(tmp_path / "a.model", model)
    other, info = load_model(tmp_path / "a.model", return_info=True)
    assert np.array_equal(other.decision_function(X), model.decision_function(X))
    assert info["n_columns"] == 9
    more = [m.partial_fit(X[:5], y[:5]).coef_ for m in (other, model)]
    assert np.array_equal(*more)


def test_an_asymmetric_function_is_taken_in_both_directions_at_predict_too():
    X, y = np.random.default_rng(0).normal(size=70).tolist(), np.arange(60) % 2

    def lean(a, b):
        return float(np.exp(-abs(a - b)) + 0.2 * max(a - b, 0))

    model = LandmarkClassifier(8, "flip", random_state=0, similarity=lean)
    with pytest.warns(SimilarityWarning, match="The rows of new samples are treated in the same way"):
        model.fit(X[:60], y)
    peer = clone(model).set_params(similarity=lambda a, b: (lean(a, b) + lean(b, a)) / 2).fit(X[:60], y)
    assert np.allclose(model.decision_function(X[60:]), peer.decision_function(X[60:]), rtol=0, atol=1e-9)


@pytest.mark.parametrize("model", ["ridge", "logistic"])
def test_parameters_set_after_fit_wait_for_the_next_fit(model):
    C, y, similarity = _columns()
    fitted = LandmarkClassifier(8, "flip", model, random_state=0, **similarity).fit(C, y)
    expected = fitted.decision_function(C)
    changed = {"n_landmarks": 3, "spectrum": "clip", "alpha": 50.0, "C": 1e-4, "dissimilarity": "negate"}
    fitted.set_params(model="svm", landmark_similarity=None, **changed)
    assert np.array_equal(fitted.decision_function(C), expected)
    assert hasattr(fitted, "predict_proba") == (model == "logistic")


def test_asymmetry_is_announced_once():
    S = np.random.default_rng(0).normal(size=(20, 20))
    with pytest.warns(SimilarityWarning, match="LandmarkClassifier needs a symmetric similarity") as caught:
        LandmarkClassifier(6, random_state=0).fit(S, np.arange(20) % 2)
    assert len(caught) == 1
    assert caught[0].filename == __file__


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_landmarks": 0}, "n_landmarks must be an integer of at least 1; got 0"),
        ({"spectrum": "none"}, "spectrum must be one of .* those of 'flip'"),
        ({"model": "tree"}, "model must be one of"),
        ({"alpha": 0.0}, "alpha must be a finite number above 0"),
        ({"C": np.inf, "model": "svm"}, "C must be a finite number above 0"),
        ({"class_weight": {0: -1.0}}, "class_weight must hold finite numbers above 0"),
        ({"selection": "best"}, "selection must be one of"),
        ({"similarity": "columns"}, "landmark_similarity must be"),
    ],
)
def test_errors(parameters, message):
    with pytest.raises(ValueError, match=message):
        LandmarkClassifier(**parameters).fit(np.eye(4), [0, 1, 0, 1])


def test_one_class_is_refused():
    with pytest.raises(ValueError, match="y must have at least two classes"):
        LandmarkClassifier().fit(np.eye(3), [1, 1, 1])
