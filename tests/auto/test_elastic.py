"""``similarity="elastic"``: the standard family of elastic distances, learned from the training series."""

import signal
import subprocess
import sys

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


def test_prediction_computes_the_distances_that_members_use(monkeypatch):
    members = [("k-NN", KNNClassifier(3), "d-msm-0.5"), ("another", KNNClassifier(1), "dtw")]
    model = CombinedClassifier(members, n_folds=3, similarity="elastic").fit(X, Y)
    calls, own = [], SeriesDistance.__call__

    def counted(self, A, B):
        calls.append((str(self), len(A), len(B)))
        return own(self, A, B)

    monkeypatch.setattr(SeriesDistance, "__call__", counted)
    assert model.predict(NEW).tolist() == [0, 1]
    family = elastic_family(X)
    assert sorted(calls) == sorted((str(family[name]), 2, 24) for _, _, name in members)


KILLED = """
import os, signal, sys
import numpy as np
from similitude import AutoClassifier
from similitude.similarities.series_distance import SeriesDistance
own, calls = SeriesDistance.__call__, []
def killed(self, A, B):
    calls.append(self)
    if len(calls) > 10:
        os.kill(os.getpid(), signal.SIGKILL)
    return own(self, A, B)
SeriesDistance.__call__ = killed
data = np.load(sys.argv[1])
AutoClassifier(["k-NN"], similarity="elastic", pairs_file=sys.argv[2]).fit(list(data["X"]), data["y"])
"""


def test_a_killed_fit_continues_from_its_file(tmp_path, monkeypatch):
    path, series = tmp_path / "kept.pairs", tmp_path / "X.npz"
    rng = np.random.default_rng(0)
    same = rng.normal(size=(10, 6)) + 2 * (np.arange(10) % 2)[:, None]
    y = np.arange(10) % 2
    np.savez(series, X=same, y=y)
    done = subprocess.run([sys.executable, "-c", KILLED, str(series), str(path)], check=False)
    assert done.returncode == -signal.SIGKILL
    calls, own = [], SeriesDistance.__call__

    def counted(self, A, B):
        calls.append(self)
        return own(self, A, B)

    monkeypatch.setattr(SeriesDistance, "__call__", counted)
    kept = auto(similarity="elastic", pairs_file=str(path)).fit(list(same), y)
    new = list(rng.normal(size=(6, 6)))
    assert len(calls) == 38 - 10
    calls.clear()
    again = auto(similarity="elastic", pairs_file=str(path)).fit(list(same), y)
    assert not calls
    plain = auto(similarity="elastic").fit(list(same), y)
    for model in (kept, again):
        np.testing.assert_allclose(model.predict_proba(new), plain.predict_proba(new), atol=1e-9)
    with pytest.raises(ValueError, match=r"another computation \(objects are not the same"):
        auto(similarity="elastic", pairs_file=str(path)).fit([*same[:-1], new[0]], y)
    with pytest.raises(ValueError, match="all pairs of raw objects, but X holds similarities"):
        AutoClassifier(["k-NN"], pairs_file=str(path)).fit(np.eye(10), y)


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
