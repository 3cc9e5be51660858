import ast

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC

from similitude import KNNClassifier, PseudoEuclideanEmbedding, SpectrumModifier
from similitude.datasets import load_voting
from similitude.report.code import Source, code_lines
from similitude.search.contest import at_best
from similitude.search.methods import methods
from tests.report.standin import clusters

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


@pytest.mark.filterwarnings("ignore::similitude.SimilarityWarning")
@pytest.mark.parametrize("name", ["k-NN", "SVM (clip)", "Fisher (embedded)", "RBF SVM (features)"])
def test_the_code_gives_the_same_answers_on_real_data(name):
    model, grid = methods(similarity="vdm")[name]
    model.set_params(**{parameter: values[-1] for parameter, values in grid.items()})
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
    model = at_best(model, {parameter: values[-1] for parameter, values in grid.items()})
    lines = code_lines(model, None, name, {"dissimilarity": "gauss"})
    assert len(lines) <= 5
    again = _run(lines[:-1])
    assert repr(again.get_params()) == repr(model.get_params())
