import pickle
import warnings
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV, StratifiedKFold

from similitude import PathSearchCV
from similitude.features import lp_machine
from similitude.features.lp_machine import LPMachine
from tests.features import matrices
from tests.features.matrices import KINDS, labels, matrix
from tests.paths import path_answers
from tests.reference import lp_machine as reference


def _fitted(S, y, C):
    return LPMachine(C=C, similarity="columns").fit(S, y)


@pytest.fixture
def three_classes():
    return matrices.three_classes(30)


@pytest.mark.untraced
@pytest.mark.parametrize("kind", KINDS)
def test_optimum_is_that_of_the_cone_program(kind):
    rng = np.random.default_rng(1)
    for n, p, C in ((15, 15, 1.0), (8, 20, 10.0), (20, 6, 0.1)):
        S, y = matrix(kind, n, p, rng), labels(n, rng)
        # The program has no centring: b makes up for it, and only rounding errors tell.
        value, _, _ = reference.program(S - S.mean(0), y, C)
        model = _fitted(S, y, C)
        assert np.isclose(model.objective_, value, rtol=1e-6, atol=1e-8)
        assert np.isclose(
            model.objective_, reference.objective(S, y, model.coef_[0], model.intercept_[0], C), rtol=1e-7
        )
        assert 0 <= model.duality_gap_ <= lp_machine.TOLERANCE


@settings(max_examples=25)
@given(st.data())
def test_solutions_are_optimal(data):
    rng = np.random.default_rng(data.draw(st.integers(0, 10**6)))
    n, p, kind = data.draw(st.integers(2, 15)), data.draw(st.integers(1, 15)), data.draw(st.sampled_from(KINDS))
    C = 10.0 ** data.draw(st.floats(-4, 6))
    S, y = matrix(kind, n, p, rng), labels(n, rng)
    model = _fitted(S, y, C)
    w, b = model.coef_[0], model.intercept_[0]
    assert model.duality_gap_ <= lp_machine.TOLERANCE
    low, high = reference.best_intercepts((S - S.mean(0)) @ w, y)
    assert np.isclose(b + S.mean(0) @ w, 0.5 * (low + high), rtol=1e-6, atol=1e-6)
    for size in (1e-3, 0.1, 1.0):
        other, shift = w + size * rng.normal(size=len(w)), size * rng.normal()
        assert reference.objective(S, y, other, b + shift, C) >= model.objective_ * (1 - 1e-8)


def test_one_column_by_hand():
    S, y = np.array([[2.0], [1.0], [0.0], [-1.0]]), np.array([1.0, 1.0, -1.0, -1.0])
    # A margin of 1 at 1 and at 0 takes w = 2, b = -1; one violation less of it costs as much as w saves at C = 1.
    model = _fitted(S, y, 10.0)
    assert np.allclose([model.coef_[0, 0], model.intercept_[0], model.objective_], [2.0, -1.0, 2.0], atol=1e-9)
    # No w pays: b is the middle of [-1, 1].
    nothing = _fitted(S, y, 0.1)
    assert nothing.coef_[0, 0] == 0
    assert np.isclose(nothing.objective_, 0.1 * 4)
    assert np.allclose(nothing.decision_function(S), 0, atol=1e-12)
    assert nothing.prototypes_.size == 0
    assert nothing.predict(S).tolist() == [1.0] * 4


def test_larger_class_wins_where_columns_tell_nothing():
    y = np.array([1.0, 1.0, 1.0, -1.0])
    for S in (np.zeros((4, 4)), np.full((4, 4), 0.3)):
        model = LPMachine(C=100.0).fit(S, y)
        assert model.predict(S).tolist() == [1.0] * 4
        assert np.isclose(model.objective_, 200.0)
        assert model.duality_gap_ <= lp_machine.TOLERANCE


def test_equal_columns_are_one():
    rng = np.random.default_rng(2)
    A, y = rng.normal(size=(20, 3)), labels(20, rng)
    single, double = _fitted(A, y, 1.0), _fitted(A[:, [0, 1, 0, 2, 1]], y, 1.0)
    assert np.allclose(double.coef_[0], [*single.coef_[0, :2], 0.0, single.coef_[0, 2], 0.0])


def test_separable_classes_get_their_margin_at_any_price():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(30, 2))
    y = np.sign(X[:, 0])
    X[:, 0] += y
    objectives = []
    for C in (1e3, 1e6, 1e9, 1e15, 1e100):
        model = _fitted(X, y, C)
        assert np.min(y * model.decision_function(X)) >= 1 - 1e-9
        assert model.duality_gap_ <= lp_machine.TOLERANCE
        objectives.append(model.objective_)
    assert np.allclose(objectives, objectives[0], rtol=1e-7)


@pytest.mark.parametrize("t", [1e-150, 1e-100, 1e-10, 1e10, 1e100, 1e150])
def test_size_of_the_similarities_does_not_matter(three_classes, t):
    S, y = three_classes
    model, scaled = LPMachine(C=2.0).fit(S, y), LPMachine(C=2.0 / t).fit(S * t, y)
    assert np.allclose(scaled.decision_function(S * t), model.decision_function(S), rtol=1e-6, atol=1e-6)
    assert np.allclose(scaled.objective_ * t, model.objective_, rtol=1e-7)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        far = LPMachine().fit(S * t, y)
    assert np.isfinite(far.decision_function(S * t)).all()
    if t < 1e-9:
        assert not far.coef_.any()


@pytest.mark.parametrize("similarity", ["precomputed", "columns"])
def test_more_classes_one_against_one(three_classes, similarity):
    S, y = three_classes
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = LPMachine(similarity=similarity).fit(S, y)
    assert model.coef_.shape == (3, 30)
    for p, (first, second) in enumerate(("ab", "ac", "bc")):
        rows = np.flatnonzero((y == first) | (y == second))
        columns = np.arange(30) if similarity == "columns" else rows
        alone = LPMachine(similarity="columns").fit(S[np.ix_(rows, columns)], y[rows])
        assert np.array_equal(model.coef_[p, columns], alone.coef_[0])
        assert not np.delete(model.coef_[p], columns).any()
        assert np.isclose(model.intercept_[p], alone.intercept_[0])
        assert model.objective_[p] == alone.objective_
        assert model.n_iter_[p] == alone.n_iter_
    assert model.score(S, y) > 0.9
    few = S[:, model.prototypes_]
    assert few.shape[1] < 30
    assert np.array_equal(model.decision_function(few), model.decision_function(S))


def test_asymmetric_matrix_is_taken_as_it_is(three_classes):
    S, y = three_classes
    two = np.flatnonzero(y != "c")
    part = S[np.ix_(two, two)]
    square, columns = LPMachine().fit(part, y[two]), LPMachine(similarity="columns").fit(part, y[two])
    assert np.array_equal(square.coef_, columns.coef_)
    assert not np.array_equal(square.coef_, LPMachine().fit(part.T, y[two]).coef_)


@pytest.mark.parametrize("similarity", ["precomputed", "columns"])
def test_search_scores_equal_those_of_plain_fits(three_classes, similarity):
    S, y = three_classes
    grid = {"C": [0.01, 1.0, 100.0]}
    model = LPMachine(similarity=similarity)
    path, plain = (search(model, grid, cv=StratifiedKFold(3)).fit(S, y) for search in (PathSearchCV, GridSearchCV))
    assert np.array_equal(path.cv_results_["mean_test_score"], plain.cv_results_["mean_test_score"])
    assert path.best_params_ == plain.best_params_


def test_path_gives_what_single_fits_give(three_classes):
    S, y = three_classes
    grid = [{"C": 10.0**j} for j in range(-3, 4)]
    path = path_answers(LPMachine(), S[:24, :24], y[:24], S[24:, :24], grid, "decision_function")
    for point, answer in zip(grid, path):
        plain = LPMachine(**point).fit(S[:24, :24], y[:24])
        assert np.allclose(answer, plain.decision_function(S[24:, :24]), rtol=0, atol=1e-7)


def test_probabilities_and_pickle(three_classes):
    S, y = three_classes
    model = LPMachine(probability=True).fit(S, y)
    posterior = model.predict_proba(S)
    assert np.allclose(posterior.sum(axis=1), 1)
    assert np.allclose(posterior, pickle.loads(pickle.dumps(model)).predict_proba(S[:, model.prototypes_]))
    assert str(clone(model)) == str(model)


@pytest.mark.parametrize("value", [0, -1.0, np.inf, np.nan, "1", None, True])
def test_bad_parameters(three_classes, value):
    with pytest.raises(ValueError, match="C must be a finite number above 0"):
        LPMachine(C=value).fit(*three_classes)


def test_where_the_simplex_method_ends_too_early_highs_gives_the_same(three_classes, monkeypatch):
    S, y = three_classes
    own = LPMachine().fit(S, y)
    monkeypatch.setattr(lp_machine, "_STEPS", 0)
    other = LPMachine().fit(S, y)
    assert np.allclose(other.coef_, own.coef_, rtol=1e-8, atol=1e-10)
    assert np.allclose(other.objective_, own.objective_, rtol=1e-8)
    assert np.max(other.duality_gap_) <= lp_machine.TOLERANCE


def test_unsolved_problems_warn(three_classes, monkeypatch):
    S, y = three_classes
    monkeypatch.setattr(lp_machine, "_STEPS", 0)
    monkeypatch.setattr(lp_machine, "linprog", lambda *args, **options: SimpleNamespace(x=None, nit=7))
    with pytest.warns(ConvergenceWarning, match="LPMachine: 3 of 3 problems"):
        model = LPMachine().fit(S, y)
    assert np.min(model.duality_gap_) == 1
    assert np.isfinite(model.decision_function(S)).all()
