import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_val_score

from similitude import PathSearchCV, Proximities
from similitude.features import _potential_solver as solver
from similitude.features.potential_svc import PotentialSVC
from tests.features import matrices
from tests.features.matrices import labels
from tests.paths import path_answers
from tests.reference import potential_svc as reference


def _solved(S, y, C, epsilon):
    return solver.solve_path(S, y, [(C, epsilon)])[0]


@pytest.fixture
def three_classes():
    return matrices.three_classes(45)


@pytest.mark.parametrize("t", [1e-150, 1e-100, 1e-10, 1e10, 1e100, 1e150])
def test_size_of_the_similarities_does_not_matter(three_classes, t):
    S, y = three_classes
    model = PotentialSVC(C=5.0, epsilon=0.2).fit(S, y)
    scaled = PotentialSVC(C=5.0 / t, epsilon=0.2 * t).fit(S * t, y)
    assert np.allclose(scaled.decision_function(S * t), model.decision_function(S), rtol=1e-9, atol=1e-9)
    assert np.allclose(scaled.objective_, model.objective_, rtol=1e-9)
    assert np.array_equal(scaled.prototypes_, model.prototypes_)


@pytest.mark.parametrize("t", [1e-150, 1e-100, 1e100, 1e150])
def test_parameters_far_from_the_similarities(three_classes, t):
    S, y = three_classes
    model = PotentialSVC()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(S * t, y)
    assert np.isfinite(model.decision_function(S * t)).all()
    assert np.isfinite(model.objective_).all()
    if t < 1:
        assert not model.coef_.any()
        assert not caught
    else:
        # No column is too dear, but so small a price is beyond double precision, which the gap tells.
        assert model.score(S * t, y) == 1
        assert np.max(model.duality_gap_) > solver.TOLERANCE
        assert caught[0].category is ConvergenceWarning


def test_large_means_do_not_cost_digits():
    rng = np.random.default_rng(11)
    S, y = rng.normal(size=(30, 30)), labels(30, rng)
    plain, shifted = (PotentialSVC(C=1.0, epsilon=0.5).fit(M, y).decision_function(M) for M in (S, S + 1e6))
    assert np.allclose(plain, shifted, rtol=0, atol=1e-8)


def test_rows_and_columns_need_not_be_the_same():
    rng = np.random.default_rng(13)
    for n, p in ((30, 7), (12, 40)):
        S, y = rng.normal(size=(n, p)), labels(n, rng)
        model = PotentialSVC(C=2.0, epsilon=0.5, similarity="columns").fit(S, y)
        solution = _solved(S, y, 2.0, 0.5)
        assert np.array_equal(model.coef_, solution.coef[None])
        assert np.allclose(model.decision_function(S), (S - S.mean(0)) @ solution.coef + y.mean())
        folds = [(np.arange(n) % 3 != i, np.arange(n) % 3 == i) for i in range(3)]
        expected = [clone(model).fit(S[train], y[train]).score(S[test], y[test]) for train, test in folds]
        assert np.allclose(
            cross_val_score(model, S, y, cv=[tuple(map(np.flatnonzero, fold)) for fold in folds]), expected
        )


def test_asymmetric_matrix_is_taken_as_it_is(three_classes):
    S, y = three_classes
    assert not np.allclose(S, S.T)
    two = np.flatnonzero(y != "c")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        square = PotentialSVC(C=1.0, epsilon=0.5).fit(S[np.ix_(two, two)], y[two])
    columns = clone(square).set_params(similarity="columns").fit(S[np.ix_(two, two)], y[two])
    assert np.array_equal(square.coef_, columns.coef_)
    turned = clone(square).fit(S[np.ix_(two, two)].T, y[two])
    assert not np.allclose(square.coef_, turned.coef_)


@pytest.mark.parametrize("similarity", ["precomputed", "columns"])
def test_more_classes_one_against_one(three_classes, similarity):
    S, y = three_classes
    model = PotentialSVC(C=1.0, epsilon=0.2, similarity=similarity).fit(S, y)
    assert model.coef_.shape == (3, 45)
    assert model.objective_.shape == model.duality_gap_.shape == model.n_iter_.shape == model.intercept_.shape == (3,)
    assert np.max(model.duality_gap_) <= solver.TOLERANCE
    votes = np.zeros((45, 3), dtype=int)
    for p, (first, second) in enumerate(((0, 1), (0, 2), (1, 2))):
        rows = np.flatnonzero((y == "abc"[first]) | (y == "abc"[second]))
        columns = np.arange(45) if similarity == "columns" else rows
        solution = _solved(S[np.ix_(rows, columns)], np.where(y[rows] == "abc"[second], 1.0, -1.0), 1.0, 0.2)
        assert np.array_equal(model.coef_[p, columns], solution.coef)
        assert not np.delete(model.coef_[p], columns).any()
        decisions = (S[:, columns] - solution.means) @ solution.coef + solution.offset
        assert np.allclose(S @ model.coef_[p] + model.intercept_[p], decisions)
        votes[np.arange(45), np.where(decisions >= 0, second, first)] += 1
    assert np.array_equal(model.predict(S), model.classes_[votes.argmax(axis=1)])
    assert np.array_equal(model.predict(S), model.classes_[model.decision_function(S).argmax(axis=1)])
    assert model.score(S, y) > 0.9


@pytest.mark.parametrize("similarity", ["precomputed", "columns"])
def test_columns_of_the_prototypes_are_enough(three_classes, similarity):
    S, y = three_classes
    model = PotentialSVC(C=1.0, epsilon=1.0, similarity=similarity).fit(S, y)
    assert 0 < len(model.prototypes_) < 40
    assert np.array_equal(model.prototypes_, model.support_columns_)
    assert np.array_equal(model.prototypes_, np.flatnonzero(np.any(model.coef_ != 0, axis=0)))
    whole = model.decision_function(S)
    few = S[:, model.prototypes_]
    for rows in (few, sparse.csr_array(few), Proximities(few), few.tolist()):
        assert np.array_equal(model.decision_function(rows), whole)
    with pytest.raises(ValueError, match=f"or the {len(model.prototypes_)} of support_columns_ alone"):
        model.predict(S[:, :41])
    names = [f"sample {i}" for i in range(45)]
    named = clone(model).fit(pd.DataFrame(S, index=names, columns=names), y)
    assert np.array_equal(
        named.predict(pd.DataFrame(few, columns=np.array(names)[model.prototypes_])), model.predict(S)
    )


def test_raw_objects_equal_theirmatrix():
    words = ["tree", "trees", "free", "house", "mouse", "horse", "green", "greed"]
    new, y = ["three", "hose", ""], np.array([0, 0, 0, 1, 1, 1, 0, 0])

    def overlap(a, b):
        return len(set(a) & set(b)) - 0.1 * len(set(a) - set(b))

    S, rows = (np.array([[overlap(a, b) for b in words] for a in these]) for these in (words, new))
    for epsilon in (0.1, 1e3):
        matrix = PotentialSVC(epsilon=epsilon).fit(S, y)
        raw = PotentialSVC(epsilon=epsilon, similarity=overlap).fit(words, y)
        assert np.array_equal(raw.decision_function(new), matrix.decision_function(rows))
        assert np.array_equal(raw.prototypes_, matrix.prototypes_)


def test_dissimilarities(three_classes):
    S, y = three_classes
    D = S.max() - S
    plain, mapped = PotentialSVC().fit(D.max() - D, y), PotentialSVC(dissimilarity="max-minus").fit(D, y)
    assert np.allclose(plain.decision_function(D.max() - D), mapped.decision_function(D))


@pytest.mark.parametrize("kind", matrices.KINDS)
def test_without_centring_it_is_equation_6(kind):
    rng = np.random.default_rng(17)
    S, y = matrices.matrix(kind, 24, 24, rng), labels(24, rng)
    for C, epsilon in ((0.05, 0.3), (10.0, 1.0)):
        model = PotentialSVC(C, epsilon, center=False, similarity="columns").fit(S, y)
        a = model.coef_[0]
        assert np.max(np.abs(a), initial=0.0) <= C * (1 + 1e-12)
        value, _ = reference.program(S, y, C, epsilon, centring=False)
        assert np.isclose(model.objective_, reference.objective(S, y, a, epsilon, centring=False), rtol=1e-9)
        assert np.isclose(model.objective_, value, rtol=1e-6)
        size = np.abs(S).max(initial=1.0)
        assert np.max(reference.violations(S, y, C, epsilon, a, centring=False)) <= 1e-9 * 24 * size**2
        assert np.isclose(model.intercept_[0], 0.0, atol=1e-12 * (1 + size * np.abs(a).sum()))
        assert np.allclose(model.decision_function(S), S @ a, atol=1e-9 * (1 + size * np.abs(a).sum()))


def test_centring_in_a_search_and_of_shifted_similarities(three_classes):
    S, y = three_classes
    grid = {"C": [1.0, 100.0], "epsilon": [0.1, 1.0], "center": [True, False]}
    path, plain = (search(PotentialSVC(), grid, cv=3).fit(S, y) for search in (PathSearchCV, GridSearchCV))
    assert np.array_equal(path.cv_results_["mean_test_score"], plain.cv_results_["mean_test_score"])
    for center in (True, False):
        model = PotentialSVC(1.0, 0.5, center=center)
        original, shifted = (model.fit(M, y).decision_function(M) for M in (S, S + 3.0))
        assert np.allclose(shifted, original) == center
    with pytest.raises(ValueError, match="center must be True or False; got 'mean'"):
        PotentialSVC(center="mean").fit(S, y)


@pytest.mark.untraced
@pytest.mark.parametrize("similarity", ["precomputed", "columns"])
@pytest.mark.parametrize("scoring", ["accuracy", "neg_log_loss"])
def test_search_scores_equal_those_of_plain_fits(three_classes, similarity, scoring):
    S, y = three_classes
    grid = {"C": [0.1, 100.0], "epsilon": [1e-3, 1.0]}
    if scoring == "neg_log_loss":
        grid = {"C": [1.0], "epsilon": [0.1, 1.0]}
    model = PotentialSVC(similarity=similarity, probability=scoring == "neg_log_loss")
    path, plain = (
        search(model, grid, cv=StratifiedKFold(3), scoring=scoring).fit(S, y) for search in (PathSearchCV, GridSearchCV)
    )
    scores = path.cv_results_["mean_test_score"], plain.cv_results_["mean_test_score"]
    assert np.array_equal(*scores) if scoring == "accuracy" else np.allclose(*scores, rtol=1e-6)
    assert path.best_params_ == plain.best_params_


@pytest.mark.parametrize("similarity", ["precomputed", "columns"])
def test_probabilities(three_classes, similarity):
    S, y = three_classes
    model = PotentialSVC(C=1.0, epsilon=0.5, probability=True, similarity=similarity).fit(S, y)
    posterior = model.predict_proba(S)
    assert np.allclose(posterior.sum(axis=1), 1)
    assert np.mean(model.classes_[posterior.argmax(axis=1)] == y) > 0.8
    assert np.allclose(model.predict_proba(S[:, model.prototypes_]), posterior)
    assert not hasattr(PotentialSVC().fit(S, y), "predict_proba")


def test_one_sample_of_a_class():
    S = np.array([[2.0, 1.0, 0.0], [1.0, 2.0, 0.5], [0.0, 0.5, 2.0]])
    model = PotentialSVC(C=1.0, epsilon=0.1).fit(S, ["a", "b", "a"])
    assert model.predict(S).tolist() == ["a", "b", "a"]
    pair = PotentialSVC(C=1.0, epsilon=0.1).fit(S[:2, :2], ["a", "b"])
    assert pair.predict(S[:2, :2]).tolist() == ["a", "b"]


@pytest.mark.parametrize("name", ["C", "epsilon"])
@pytest.mark.parametrize("value", [0, -1.0, np.inf, np.nan, "1", None, True])
def test_bad_parameters(three_classes, name, value):
    with pytest.raises(ValueError, match=f"{name} must be a finite number above 0"):
        PotentialSVC(**{name: value}).fit(*three_classes)


def test_unsolved_problems_warn(three_classes, monkeypatch):
    S, y = three_classes
    monkeypatch.setattr(solver, "_ROUNDS", 0)
    with pytest.warns(ConvergenceWarning, match="PotentialSVC: 3 of 3 problems"):
        model = PotentialSVC().fit(S, y)
    assert np.min(model.duality_gap_) > solver.TOLERANCE
    with pytest.warns(ConvergenceWarning, match="PotentialSVC: 6 of 6 problems"):
        path_answers(PotentialSVC(), S, y, S, [{"C": 1.0}, {"C": 2.0}])


def test_pickled_model_answers_alike(three_classes):
    S, y = three_classes
    model = PotentialSVC().fit(S, y)
    assert np.array_equal(pickle.loads(pickle.dumps(model)).decision_function(S), model.decision_function(S))
