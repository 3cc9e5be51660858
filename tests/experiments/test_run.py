"""Running experiments: every cell once, kept, resumed, and never mixed with another."""

import json
import os
import re
import sqlite3
import subprocess
import sys
import warnings
from dataclasses import replace
from importlib import import_module
from itertools import count
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from joblib import parallel_config
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.ensemble import VotingClassifier
from sklearn.metrics import log_loss
from sklearn.model_selection import KFold, train_test_split
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC

from similitude import KNNClassifier, PathSearchCV, Proximities, SpectrumModifier
from similitude.datasets import load_voting
from similitude.experiments import ExperimentWarning, Protocol, Store, run
from similitude.experiments import running as running_module
from tests.experiments.small import PROTOCOL, data, matrix, methods

FEW = replace(PROTOCOL, n_partitions=3)


class Moody(ClassifierMixin, BaseEstimator):
    """Fails where its file exists; says the first class else."""

    def __init__(self, file="", reg=1.0):
        self.file = file
        self.reg = reg

    def fit(self, X, y):
        if Path(self.file).exists():
            raise RuntimeError("not <b>today</b>")
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return np.full(len(X), self.classes_[0])


@pytest.fixture(scope="module")
def killed(tmp_path_factory):
    """The file of a run that was killed again and again, and what the script that killed it prints."""
    if not hasattr(os, "fork"):
        pytest.skip("needs fork")
    path = tmp_path_factory.mktemp("killed") / "store.db"
    command = [sys.executable, "-m", "tests.experiments.killed", str(path), "8"]
    done = subprocess.run(command, cwd=Path(__file__).parents[2], capture_output=True, text=True, timeout=170)
    assert done.returncode == 0, done.stderr
    return path, json.loads(done.stdout)


def test_a_run_killed_again_and_again_ends_with_the_same_table(killed):
    path, said = killed
    assert said["ended"] == [9] * 8
    assert said["held"] == sorted(said["held"])
    assert 6 < said["held"][-1] < 90
    results = run(PROTOCOL, data(), methods(), path)
    assert len(results.rows) == 90
    assert results.missing == []
    assert results.csv(times=False) == run(PROTOCOL, data(), methods()).csv(times=False)
    with sqlite3.connect(path) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
        assert connection.execute("SELECT count(*) FROM results").fetchone() == (90,)


def test_two_processes_share_a_file(killed):
    path, said = killed
    assert said["together"] == [0, 0]
    path = f"{path}.both"
    with Store(path) as store:
        assert len(store.rows()) == 36
    protocol = replace(PROTOCOL, n_partitions=6)
    assert run(protocol, data(), methods(), path).csv(False) == run(protocol, data(), methods()).csv(False)


@pytest.mark.parametrize("backend", ["loky", "threading"])
def test_workers_give_what_one_process_gives(backend, tmp_path):
    with parallel_config(backend, n_jobs=2):
        results = run(FEW, data(), methods(), tmp_path / "store.db")
    assert results.csv(times=False) == run(FEW, data(), methods()).csv(times=False)


def test_a_cell_is_what_one_would_do_by_hand():
    S, y = matrix(0)
    results = run(FEW, {"a": (S, y)}, {"k-NN": (KNNClassifier(), {"n_neighbors": [3, 7]})})
    for row in results.rows:
        train, test = train_test_split(np.arange(len(y)), test_size=0.25, random_state=row.partition)
        folds = KFold(3, shuffle=True, random_state=row.partition)
        knn = PathSearchCV(KNNClassifier(), {"n_neighbors": [3, 7]}, cv=folds).fit(S[np.ix_(train, train)], y[train])
        rows = S[np.ix_(test, train)]
        assert row.seed == row.partition
        assert json.loads(row.parameters) == knn.best_params_
        assert row.n_errors == np.sum(knn.predict(rows) != y[test])
        assert row.error == row.n_errors / row.n_test
        assert row.log_loss == pytest.approx(log_loss(y[test], knn.predict_proba(rows)))
        assert row.numpy == np.__version__
        assert row.seconds > 0


def test_no_probabilities_no_log_loss():
    results = run(FEW, data(1), {"SVM": methods()["SVM"]})
    assert [row.log_loss for row in results.rows] == [None] * 3
    assert np.isnan(results.values("set 0", "log_loss")).all()


def test_a_class_that_was_not_trained_has_no_probability():
    S, y = matrix(0, 12)
    y = np.r_[y[:-1], 9]
    results = run(Protocol.given(), {"a": (S, y, {}, [(range(8), [9, 11])])}, {"1-NN": (KNNClassifier(1), {})})
    (row,) = results.rows
    assert row.n_errors >= 1
    assert row.log_loss >= -np.log(np.finfo(float).eps) / 2 * 0.99


def _count_fits(monkeypatch):
    done = []
    do = running_module._do
    monkeypatch.setattr(running_module, "_do", lambda cell: (done.append(cell.key), do(cell))[1])
    return done


class TestResuming:
    def test_nothing_is_done_twice(self, tmp_path, monkeypatch):
        done = _count_fits(monkeypatch)
        first = run(FEW, data(), methods(), tmp_path / "s.db")
        assert len(done) == len(set(done)) == 18
        again = run(FEW, data(), methods(), tmp_path / "s.db")
        assert len(done) == 18
        assert again.rows == first.rows

    def test_more_partitions_data_or_methods_add_to_what_is_there(self, tmp_path, monkeypatch):
        done = _count_fits(monkeypatch)
        run(FEW, data(1), methods(), tmp_path / "s.db")
        more = replace(FEW, n_partitions=5)
        results = run(more, data(2), methods(), tmp_path / "s.db")
        assert len(done) == len(set(done)) == 30
        assert results.csv(times=False) == run(more, data(2), methods()).csv(times=False)

    @pytest.mark.parametrize(
        "change",
        ["data", "labels", "seed", "test_size", "inner", "selection", "parameter", "grid", "name", "contract"],
    )
    def test_what_is_different_is_not_mixed(self, change, tmp_path):
        S, y = matrix(0)
        protocol, given, method, name = FEW, (S, y), (KNNClassifier(), {"n_neighbors": [1, 3]}), "k-NN"
        run(protocol, {"a": given}, {name: method}, tmp_path / "s.db")
        if change == "data":
            given = (np.where(np.arange(40) == 7, S + 1e-9, S), y)
        elif change == "labels":
            given = (S, np.r_[y[:-1], 0])
        elif change == "parameter":
            method = (KNNClassifier(weights="affinity"), method[1])
        elif change == "grid":
            method = (method[0], {"n_neighbors": [1, 5]})
        elif change == "contract":
            given = (S, y, {"dissimilarity": "negate"})
        elif change == "name":
            name = "other"
        else:
            value = {"seed": 7, "test_size": 0.5, "inner": 4, "selection": "mean"}[change]
            protocol = replace(FEW, **{change: value})
        fresh = run(protocol, {"a": given}, {name: method})
        results = run(protocol, {"a": given}, {name: method}, tmp_path / "s.db")
        assert len(results.rows) == 3
        assert results.csv(times=False) == fresh.csv(times=False)
        with Store(tmp_path / "s.db") as store:
            assert len(store.rows()) == 6
            assert sum(part["cells"] for part in store.contents()) == 6

    def test_the_same_content_in_other_clothes_is_the_same(self, tmp_path):
        S, y = matrix(0)
        method = {"k-NN": (KNNClassifier(), {"n_neighbors": [1, 2, 3]})}
        run(FEW, {"a": (S, y)}, method, tmp_path / "s.db")
        again = {"k-NN": (KNNClassifier(), {"n_neighbors": range(1, 4)})}
        run(FEW, {"a": (S.copy(order="F"), pd.Series(y))}, again, tmp_path / "s.db")
        with Store(tmp_path / "s.db") as store:
            assert len(store.rows()) == 3


class TestFailures:
    def test_others_go_on_and_the_failed_are_retried(self, tmp_path):
        broken = tmp_path / "broken"
        broken.touch()
        both = {"moody": (Moody(str(broken)), {}), **methods()}
        with pytest.warns(ExperimentWarning, match=r"3 of 12 cells failed.*moody on set 0, partition 0: RuntimeError"):
            results = run(FEW, data(1), both, tmp_path / "s.db")
        assert len(results.rows) == 9
        assert [failure.message for failure in results.failures] == ["RuntimeError: not <b>today</b>"] * 3
        assert "in fit" in results.failures[0].traceback
        assert results.missing == [("set 0", i, "moody") for i in range(3)]
        assert "3 failed" in repr(results)
        broken.unlink()
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            results = run(FEW, data(1), both, tmp_path / "s.db")
        assert len(results.rows) == 12
        assert results.failures == []

    def test_a_failure_within_the_search_is_a_failure(self):
        bad = {"KRI": (KNNClassifier(weights="kri"), {"spectrum": ["clip", "pinv"]})}
        with pytest.warns(ExperimentWarning, match="pinv"):
            results = run(FEW, data(1), bad)
        assert results.rows == []

    def test_data_that_cannot_be_compared_fails_alone(self):
        y = np.arange(20) % 2
        bad, good = (["x"] * 20, y, {"similarity": "no such"}), (np.zeros((20, 2)), y, {"similarity": "rbf"})
        both = {"bad": bad, "good": good}
        with pytest.warns(ExperimentWarning, match="no such"):
            results = run(FEW, both, {"1-NN": (KNNClassifier(1), {})})
        assert [row.dataset for row in results.rows] == ["good"] * 3

    def test_settings_of_warnings_stay(self):
        before = list(warnings.filters)
        with parallel_config("threading", n_jobs=2):
            run(FEW, data(1), methods())
        assert warnings.filters == before


class TestInput:
    def test_proximities_frames_and_raw_objects(self):
        S, y = matrix(0)
        knn = {"k-NN": (KNNClassifier(), {"n_neighbors": [1, 3]})}
        plain = run(FEW, {"a": (S, y)}, knn).values("a")
        assert np.array_equal(run(FEW, {"a": (Proximities(S, ids=range(40)), y)}, knn).values("a"), plain)
        assert np.array_equal(run(FEW, {"a": (pd.DataFrame(S), y)}, knn).values("a"), plain)

    def test_raw_objects_are_compared_once(self, monkeypatch):
        calls = []
        pairwise = running_module.pairwise
        monkeypatch.setattr(running_module, "pairwise", lambda *a, **k: (calls.append(1), pairwise(*a, **k))[1])
        voting = load_voting()
        X, y = voting.data[:60], voting.target[:60]
        both = {"k-NN": (KNNClassifier(), {"n_neighbors": [1, 3]}), "1-NN": (KNNClassifier(1), {})}
        results = run(FEW, {"votes": (X, y, {"similarity": "counting"})}, both)
        assert calls == [1]
        monkeypatch.setattr(running_module, "LARGEST", 0)
        assert run(FEW, {"votes": (X, y, {"similarity": "counting"})}, both).csv(False) == results.csv(False)
        assert calls == [1]

    def test_a_similarity_that_learns_does_so_on_the_training_part(self):
        voting = load_voting()
        X, y = voting.data[:80], voting.target[:80]
        results = run(FEW, {"votes": (X, y, {"similarity": "vdm"})}, {"3-NN": (KNNClassifier(3), {})})
        for row in results.rows:
            train, test = train_test_split(np.arange(80), test_size=0.25, random_state=row.partition)
            model = KNNClassifier(3, similarity="vdm").fit(X[train], y[train])
            assert row.n_errors == np.sum(model.predict(X[test]) != y[test])

    def test_pipelines_and_classifiers_without_similarities(self):
        rng = np.random.default_rng(0)
        X = rng.normal(size=(40, 3))
        y = (X[:, 0] > 0).astype(int)
        svm = make_pipeline(SpectrumModifier("clip"), SVC(kernel="precomputed"))
        table = {"SVM": (svm, {"svc__C": [0.1, 1.0]}), "Bayes": (GaussianNB(), {})}
        results = run(FEW, {"a": (X, y, {"similarity": "rbf"})}, table)
        assert results.missing == []
        assert results.mean_errors().max() < 0.5

    @pytest.mark.parametrize(
        ("given", "message"),
        [
            ([1], r"data\['a'\] must be a tuple"),
            ((np.eye(3), [0, 1]), r"data\['a'\]: y must be one label per sample \(3\)"),
            ((np.eye(4), [0, 1, 0, 1], "vdm"), r"data\['a'\]: the contract must be a dict"),
            ((np.eye(4), [0, 1, 0, 1], {"nonsense": 1}), r"data\['a'\]: Invalid parameter 'nonsense'"),
        ],
    )
    def test_bad_data_is_named(self, given, message):
        with pytest.raises(ValueError, match=message):
            run(FEW, {"a": given}, methods())

    def test_the_contract_goes_to_whatever_reads_similarities(self):
        def similarity(estimator):
            prepared = running_module._with_contract(estimator, {"similarity": "vdm"})
            return {name: value for name, value in prepared.get_params().items() if name.endswith("similarity")}

        assert similarity(GaussianNB()) == {}
        svm = make_pipeline(SpectrumModifier(), KNNClassifier())
        assert similarity(svm)["spectrummodifier__similarity"] == "vdm"
        assert similarity(svm)["knnclassifier__similarity"] == "precomputed"
        votes = VotingClassifier([("a", KNNClassifier()), ("b", make_pipeline(SpectrumModifier(), SVC()))])
        assert similarity(votes)["a__similarity"] == similarity(votes)["b__spectrummodifier__similarity"] == "vdm"

    def test_bad_methods_are_named(self):
        with pytest.raises(ValueError, match="data must name at least one"):
            run(FEW, {}, methods())
        with pytest.raises(ValueError, match="methods must name at least one"):
            run(FEW, data(1), {})
        with pytest.raises(ValueError, match=r"methods\['k'\] must be a tuple"):
            run(FEW, data(1), {"k": KNNClassifier()})

    def test_a_grid_may_depend_on_the_training_part(self):
        def grid(X, y, folds):
            assert len(X) == len(y) == 30
            return {"n_neighbors": [folds.get_n_splits(), len(y)]}

        results = run(FEW, data(1), {"k-NN": (KNNClassifier(), grid)})
        assert {json.loads(row.parameters)["n_neighbors"] for row in results.rows} <= {3, 30}


def test_progress_is_shown_for_each_data_set():
    from tests.numerics.test_progress import terminal

    drawn = []
    with terminal(drawn):
        run(FEW, data(2), methods())
    drawn = "".join(drawn)
    assert "set 0" in drawn
    assert "9/9" in drawn
    assert "best so far: " in drawn


@pytest.mark.parametrize("progress", [True, False])
def test_lines_are_printed_without_a_terminal(progress, capfd, monkeypatch):
    # Between any two looks at this clock there are 20 seconds.
    monkeypatch.setattr(import_module("similitude._utils.progress"), "_clock", count(0.0, 20.0).__next__)
    run(FEW, data(1), methods(), progress=progress)
    captured = capfd.readouterr()
    lines = captured.err.splitlines()
    assert captured.out == ""
    assert [re.split("[,;]", line)[0] for line in lines] == [f"set 0: {i} of 9" for i in range(1, 10) if progress]
    assert all("; best so far: " in line for line in lines)
