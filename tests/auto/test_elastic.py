"""``similarity="elastic"``: the standard family of elastic distances, learned from the training series."""

import numpy as np
import pytest
from sklearn.model_selection import cross_val_score

from similitude import (
    AutoClassifier,
    CombinedClassifier,
    KNNClassifier,
    MixtureSVC,
    compare_similarities,
    load_model,
    save_model,
)
from similitude.similarities import Measure, elastic_family, register
from similitude.similarities.series_distance import SeriesDistance

METHODS = ["k-NN", "SVM (equal mixture)"]
RNG = np.random.default_rng(0)
Y = np.arange(24) % 2
X = np.array([np.sin(np.linspace(0, 3 + 3 * label, 20)) + RNG.normal(0, 0.4, 20) for label in Y])
NEW = [np.sin(np.linspace(0, 3 + 3 * label, 17)) for label in (0, 1)]  # of another length


def auto(**parameters):
    return AutoClassifier(METHODS, n_repeats=1, cv=3, diagnose=False, **parameters)


def test_it_is_the_family_with_a_gaussian_map(tmp_path):
    model = auto(similarity="elastic").fit(X, Y)
    explicit = auto(similarity=elastic_family(X), dissimilarity="gauss:0.7").fit(X, Y)
    answers = model.predict_proba(NEW)
    assert np.array_equal(answers, explicit.predict_proba(NEW))
    assert model.predict(NEW).tolist() == [0, 1]
    save_model(tmp_path / "m.model", model)
    loaded = load_model(tmp_path / "m.model")
    assert loaded.similarity == "elastic"
    assert np.array_equal(loaded.predict_proba(NEW), answers)


def test_each_distance_is_computed_once_for_all_folds(monkeypatch):
    calls = []
    own = SeriesDistance.__call__

    def counted(self, A, B):
        calls.append(str(self))
        return own(self, A, B)

    monkeypatch.setattr(SeriesDistance, "__call__", counted)
    auto(similarity="elastic").fit(X, Y)
    assert sorted(calls) == sorted(str(measure) for measure in elastic_family(X).values())


def test_estimators_that_take_several_similarities():
    family = list(elastic_family(X))
    found = compare_similarities(X, Y, methods=["k-NN"], n_repeats=1, cv=3, similarity="elastic")
    assert found.names == family
    assert cross_val_score(MixtureSVC(similarity="elastic"), X, Y, cv=3).mean() > 0.8
    members = [("k-NN", KNNClassifier(3), "d-msm-0.5"), ("mixture", MixtureSVC())]
    combined = CombinedClassifier(members, n_folds=3, similarity="elastic").fit(X, Y)
    assert combined.predict(NEW).tolist() == [0, 1]


def test_maps_may_be_given():
    one = MixtureSVC(similarity="elastic", dissimilarity="exp").fit(X, Y)
    assert np.array_equal(
        one.decision_function(NEW),
        MixtureSVC(similarity=elastic_family(X), dissimilarity="exp").fit(X, Y).decision_function(NEW),
    )
    maps = dict.fromkeys(elastic_family(X), "gauss:0.7") | {"dtw": "exp"}
    some = MixtureSVC(similarity="elastic", dissimilarity={"dtw": "exp"}).fit(X, Y)
    whole = MixtureSVC(similarity=elastic_family(X), dissimilarity=maps).fit(X, Y)
    assert np.array_equal(some.decision_function(NEW), whole.decision_function(NEW))
    with pytest.raises(ValueError, match=r"dissimilarity names 'dwt', which is not one of the similarities"):
        MixtureSVC(similarity="elastic", dissimilarity={"dwt": "exp"}).fit(X, Y)


def test_errors():
    with pytest.raises(ValueError, match=r"'elastic' means a family .* such as 'dtw' or 'msm', or use AutoClassifier"):
        KNNClassifier(similarity="elastic").fit(X, Y)
    with pytest.raises(ValueError, match=r"X\[1\] contains NaN"):
        auto(similarity="elastic").fit([X[0], X[1] * np.nan, *X[2:]], Y)
    with pytest.raises(ValueError, match=r"name must be a string, and none of .*'elastic'"):
        register(Measure(max, name="elastic"))
