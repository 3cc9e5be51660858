import ast

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC

from similitude import AutoClassifier, CombinedClassifier, KNNClassifier, PseudoEuclideanEmbedding, SpectrumModifier
from similitude.auto.methods import methods
from similitude.datasets import load_voting
from similitude.evaluation import at_point
from similitude.evaluation.relative import Relative
from similitude.report.code import Source, code_lines, model_lines
from tests.report.standin import clusters, combined

VOTING = Source("load_voting", "load_voting()", "data.data", "data.target")


def _run(lines, **names):
    ast.parse("\n".join(lines))
    exec("\n".join(line for line in lines if not line.startswith("X, y = ...")), names)
    return names["model"]


@pytest.mark.parametrize(
    "model",
    [
        KNNClassifier(n_neighbors=np.int64(7), weights="kri", reg=np.float64(0.1)),
        make_pipeline(SpectrumModifier("flip"), SVC(C=3.0, kernel="precomputed")),
        make_pipeline(PseudoEuclideanEmbedding(0.9), LinearDiscriminantAnalysis(solver="lsqr", shrinkage="auto")),
    ],
)
def test_the_code_makes_the_same_model(model):
    S, y = clusters(40)
    again = _run(code_lines(model, None), X=S, y=y)
    np.testing.assert_array_equal(again.predict(S), model.fit(S, y).predict(S))


def _last(grid):
    """The last point of a grid, for similarities of the scale 3."""
    values = {name: values[-1] for name, values in grid.items()}
    return {name: value.at(3.0) if isinstance(value, Relative) else value for name, value in values.items()}


@pytest.mark.filterwarnings("ignore::similitude.SimilarityWarning")
@pytest.mark.parametrize("name", ["k-NN", "SVM (clip)", "Fisher (embedded)", "RBF SVM (features)"])
def test_the_code_gives_the_same_answers_on_real_data(name):
    model, grid = methods(similarity="vdm")[name]
    model.set_params(**_last(grid))
    voting = load_voting()
    again = _run(code_lines(model, VOTING, name, {"similarity": "vdm", "dissimilarity": None}))
    expected = model.fit(voting.data, voting.target).predict(voting.data)
    np.testing.assert_array_equal(again.predict(voting.data), expected)


def test_the_code_loads_data_of_another_package():
    iris = Source("load_iris", "load_iris()", "data.data", "data.target", "sklearn.datasets")
    again = _run(code_lines(KNNClassifier(similarity="euclidean"), iris, "k-NN", {"similarity": "euclidean"}))
    assert again.score(*load_iris(return_X_y=True)) > 0.9


@pytest.mark.parametrize("name", list(methods()))
def test_every_method_takes_five_lines_at_most(name):
    model, grid = methods(dissimilarity="gauss")[name]
    model = at_point(model, _last(grid))
    lines = code_lines(model, None, name, {"dissimilarity": "gauss"})
    assert len(lines) <= 5
    again = _run(lines[:-1])
    assert repr(again.get_params()) == repr(model.get_params())


def test_the_code_of_a_combination_makes_the_same_model():
    names = ("Fisher (embedded)", "k-NN", "RBF SVM (features)", "KRI k-NN", "nearest centroid")
    table = methods(similarity="vdm")
    members = []
    for i, name in enumerate(names):
        estimator, grid = table[name]
        members.append((name, at_point(estimator, _last(grid)), (5 - i) / 15))
    model = combined(*members).set_params(similarity="vdm")
    lines = model_lines(model, VOTING, {"similarity": "vdm", "dissimilarity": None})
    assert len(lines) == 9 + len(names)
    again = _run(lines[:-1])
    assert isinstance(again, CombinedClassifier)
    np.testing.assert_allclose(again.weights, model.weights, atol=1e-4)
    for (name, own), (_, estimator) in zip(again.members, model.members):
        assert repr(own.get_params()) == repr(estimator.get_params()), name


@pytest.mark.filterwarnings("ignore::similitude.SimilarityWarning")
@pytest.mark.parametrize("costs", [None, {"a": {"a": 0, "b": 1}, "b": {"a": 5, "b": 0}}, np.array([[0, 1], [5, 0]])])
def test_the_code_of_what_a_search_chose_gives_its_answers(costs):
    S, labels = clusters(40, n_classes=2)
    y = np.array(["a", "b"])[labels]
    names = ["k-NN", "SVM (clip)", "nearest centroid"]
    auto = AutoClassifier(names, cv=3, n_repeats=1, costs=costs, dissimilarity="max-minus").fit(-S, y)
    lines = model_lines(auto.best_estimator_, None, {"dissimilarity": "max-minus"})
    again = _run(lines, X=-S, y=y)
    assert np.mean(again.predict(-S) == auto.predict(-S)) > 0.9
    assert ("costs=" in "\n".join(lines)) == (costs is not None)


@pytest.mark.parametrize("methods", [["k-NN", "Fisher (embedded)"], ["SVM (equal mixture)"]])
def test_the_code_on_a_family_of_distances_gives_the_same_answers(methods):
    rng = np.random.default_rng(0)
    y = np.arange(40) % 2
    X = np.sin(np.linspace(0, 3 + 2 * y, 12, axis=1)) + rng.normal(0, 0.8, (40, 12))
    auto = AutoClassifier(methods, cv=3, n_repeats=1, diagnose=False, similarity="elastic").fit(X, y)
    lines = model_lines(auto.best_estimator_, None, {"similarity": "elastic"})
    again = _run(lines, X=X, y=y)
    new = X + rng.normal(0, 0.5, X.shape)
    np.testing.assert_array_equal(again.predict(new), auto.predict(new))
    assert ("family = elastic_family(X)" in lines) == (methods[0] == "k-NN")


def test_a_single_method_with_costs_is_a_combination_of_one():
    model = combined(("k-NN", KNNClassifier(7), 1.0)).set_params(priors={np.str_("a"): np.float64(0.25), "b": 0.75})
    lines = model_lines(model, None, {})
    assert "model = CombinedClassifier(members, weights=[1.0], priors={'a': 0.25, 'b': 0.75})" in lines
    assert model_lines(model.set_params(priors=None), None, {})[-2] == "model = KNNClassifier(n_neighbors=7)"
