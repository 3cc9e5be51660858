"""The scale of the similarities decides nothing in a search: grids are relative to it."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone

from similitude import AutoClassifier, PathSearchCV, Proximities
from similitude.auto import COMPARED_ONLY, methods, nested_errors
from similitude.evaluation.relative import Relative
from similitude.reader import Contract, Samples

METHODS = list(methods())
RELATIVE = [name for name, (_, grid) in methods().items() if any(isinstance(v[0], Relative) for v in grid.values())]
SMALL, LARGE = 2.0**-20, 2.0**20
TOGETHER = ["affinity k-NN", "SVM (clip)", "KRI k-NN", "P-SVM", "DBoost"]

ADDABLE = [
    "k-NN",
    "distance-weighted k-NN",
    "nearest centroid",
    "local nearest centroid",
    "SDA",
    "local SDA",
    "regularized local SDA",
    "DBoost",
    "P-SVM",
    "LP machine",
    *(name for name in METHODS if name.endswith("(features)") and name != "LSVM (features)"),
    "SDA and BDA fused",
]
"""The methods whose predictions do not change if a constant is added to all similarities."""


def problem():
    """Indefinite, asymmetric similarities of 3 classes, in multiples of 2^-20, new rows, and the labels."""
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], 20)[rng.permutation(60)]
    X = rng.normal(size=(60, 2)) + 1.3 * np.array([[0, 0], [1, 1], [0, 2]])[y]
    S = np.exp(-np.sqrt(((X[:, None] - X) ** 2).sum(axis=2))) + 0.05 * rng.normal(size=(60, 60))
    S = np.round(2.0**20 * S) / 2.0**20
    return S[:39, :39], S[39:, :39], y[:39]


S, ROWS, Y = problem()


def answers(model, rows):
    """Return the labels, and the posteriors or, in units of their size, the decision values if there are any."""
    if hasattr(model, "predict_proba") or not hasattr(model, "decision_function"):
        return model.predict(rows), model.predict_proba(rows) if hasattr(model, "predict_proba") else np.empty(0)
    values = model.decision_function(rows)
    values = values - values.mean(axis=1, keepdims=True)
    return model.predict(rows), values / np.abs(values).max()


def searched(name, a=1.0, b=0.0):
    return answers(PathSearchCV(*methods()[name], cv=3).fit(a * S + b, Y), a * ROWS + b)


@pytest.mark.untraced
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", METHODS)
def test_a_factor_does_not_change_a_search(name):
    labels, values = searched(name)
    for factor in (SMALL, LARGE, 1e-3):
        own_labels, own_values = searched(name, factor)
        assert np.array_equal(own_labels, labels), factor
        assert np.allclose(own_values, values, atol=1e-6), factor


@pytest.mark.untraced
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ADDABLE)
def test_a_constant_does_not_change_a_search(name):
    labels, values = searched(name)
    own_labels, own_values = searched(name, b=-2.0)
    assert np.array_equal(own_labels, labels)
    assert np.allclose(own_values, values, atol=1e-6)


def unknown(values):
    """The same with some unknown pairs, which get the smallest known value."""
    values = values.copy()
    values[::7, ::5] = np.nan
    return Proximities(values, fill="farthest")


FORMS = {
    "a matrix": ({}, lambda values: values),
    "float32": ({}, lambda values: values.astype(np.float32)),
    "a sparse matrix": ({}, lambda values: sparse.csr_array(np.where(values > np.median(values), values, 0.0))),
    "unknown pairs": ({}, unknown),
    "dissimilarities": ({"dissimilarity": "max-minus"}, lambda values: 2 * abs(values).max() - values),
    "several": ({}, lambda values: {"one": values, "two": 8 * values**2}),
}


@pytest.mark.untraced
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("form", FORMS)
def test_a_factor_does_not_change_the_automatic_choice(form):
    contract, given = FORMS[form]
    names = [*TOGETHER, "mixture SVM"] if form == "several" else TOGETHER
    names = names[:4] if form in ("unknown pairs", "a sparse matrix") else names

    def chosen(factor):
        model = AutoClassifier(names, cv=3, random_state=0, **contract).fit(given(factor * S), Y)
        assert not model.failures_
        board = [(row.method, row.similarity, row.error) for row in model.leaderboard_]
        return *answers(model, given(factor * ROWS)), board

    labels, values, board = chosen(1.0)
    for factor in (SMALL, LARGE):
        own_labels, own_values, own_board = chosen(factor)
        assert np.array_equal(own_labels, labels)
        assert np.allclose(own_values, values, atol=1e-6)
        assert own_board == board


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", [name for name in RELATIVE if name not in COMPARED_ONLY])
def test_the_chosen_parameters_give_the_same_model_on_the_similarities(name):
    grid = methods()[name][1]
    X, rows = 50.0 * S, 50.0 * ROWS
    auto = AutoClassifier([name], cv=3, n_repeats=1, random_state=0).fit(X, Y)
    search = PathSearchCV(*methods()[name], cv=3).fit(X, Y)
    for model, fitted, parameters in (
        (auto, auto.best_estimator_.members_[0].estimator, auto.best_params_),
        (search, search.best_estimator_, search.best_params_),
    ):
        assert {type(parameters[key]) for key, values in grid.items() if isinstance(values[0], Relative)} == {float}
        by_hand = clone(methods()[name][0]).set_params(**parameters).fit(X, Y)
        for own, other in zip(answers(by_hand, rows), answers(fitted, rows)):
            assert np.array_equal(own, other)
        assert model.best_params_ is parameters
    assert auto.leaderboard_[0].parameters == auto.best_params_
    assert all(isinstance(value, (int, float)) for point in search.cv_results_["params"] for value in point.values())


@pytest.mark.filterwarnings("ignore")
def test_a_comparison_shows_parameters_for_all_samples():
    found = {}
    for factor in (1.0, LARGE):
        samples = Samples(Contract(), factor * S, Y)
        rows = nested_errors(samples, methods(["svm-clip", "k-nn"]), folds=3, seed=0, n_jobs=1, show=False)
        found[factor] = {row.method: (row.error, row.parameters) for row in rows}
    (error, parameters), (same_error, scaled) = (found[factor]["SVM (clip)"] for factor in (1.0, LARGE))
    assert (error, parameters["C"]) == (same_error, LARGE * scaled["C"])
    scale = np.median(S.max(axis=1) - S.mean(axis=1))
    assert min(abs(parameters["C"] * scale / 10.0**j - 1) for j in range(-3, 3)) < 1e-6


def test_own_grids_are_absolute():
    search = PathSearchCV(methods()["SVM (clip)"][0], {"C": [0.5, 2.0]}, cv=3).fit(100.0 * S @ S.T, Y)
    assert [point["C"] for point in search.cv_results_["params"]] == [0.5, 2.0]
    assert search.best_params_["C"] == search.best_estimator_.C
