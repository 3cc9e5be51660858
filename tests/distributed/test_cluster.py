"""On a cluster of two processes: the same answers as on one machine, also where a worker is killed."""

import os
import warnings

import joblib
import numpy as np
import pytest
from sklearn.base import clone

from similitude import AutoClassifier, KNNClassifier, LandmarkClassifier, LocalSDA
from similitude._utils.cluster import for_jobs
from similitude.distributed import ClusterSearch, compute, fit_landmarks, pairwise
from similitude.experiments import Protocol, run
from similitude.proximity.check import SimilarityWarning
from similitude.similarities import pairwise as pairwise_here
from tests.auto.test_comparing import words
from tests.cli.command import done
from tests.distributed.functions import (
    Kills,
    KillsOnce,
    NotesArrival,
    agreement,
    hungry,
    length_of,
    longer,
    strings,
)
from tests.experiments.small import data, methods
from tests.systems import needs_posix

distributed = pytest.importorskip("distributed", reason="the extra dask is not installed: similitude[dask]")

SMALL = ClusterSearch(batch_size=5, block_size=7)


@pytest.fixture(scope="module")
def client():
    settings = {"n_workers": 2, "threads_per_worker": 1, "processes": True, "dashboard_address": None}
    with (
        distributed.LocalCluster(**settings, memory_limit="700MiB", host="127.0.0.1", silence_logs=50) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


@pytest.fixture
def whole(client):
    """Two workers, also after a test that lost one; one that does not come back is replaced."""
    try:
        client.wait_for_workers(2, timeout=20)
    except TimeoutError:
        client.cluster.scale(len(client.cluster.worker_spec) + 1)
        client.wait_for_workers(2, timeout=60)
    return client


@pytest.fixture
def impatient(whole, monkeypatch):
    """The cluster gives a task up with the first worker that it kills."""
    monkeypatch.setattr(whole.cluster.scheduler, "allowed_failures", 0)
    return whole


def pair(model, search=SMALL):
    return clone(model).set_params(search="matrix"), clone(model).set_params(search=search)


def test_neighbours_are_those_of_one_machine_to_the_last_tie(whole):
    X, y, new = strings()
    for similarity in ("levenshtein", agreement):
        here, there = (model.fit(X, y) for model in pair(KNNClassifier(similarity=similarity)))
        for expected, found in zip(here.kneighbors(new, 17), there.kneighbors(new, 17)):
            assert np.array_equal(found, expected)
            assert found.dtype == expected.dtype


@pytest.mark.parametrize("model", [KNNClassifier(6, "kri", reg=0.1), LocalSDA(12)])
def test_local_methods_answer_as_on_one_machine(whole, model):
    X, y, new = strings()
    here, there = (m.set_params(similarity="levenshtein").fit(X, y) for m in pair(model))
    assert np.array_equal(there.predict(new), here.predict(new))


@needs_posix
class TestKilled:
    """A worker gets SIGKILL in the middle of a job."""

    @staticmethod
    def check_killed(folder, pids):
        assert int((folder / "killed").read_text()) in pids.values()

    def test_neighbours(self, whole, tmp_path):
        X, y, new = strings()
        pids = whole.run(os.getpid)
        expected = KNNClassifier(5, similarity=longer).fit(X, y).kneighbors(new)
        search = ClusterSearch(n_shards=6, batch_size=5)
        model = KNNClassifier(5, similarity=Kills(tmp_path, X[45]), search=search).fit(X, y)
        for a, b in zip(model.kneighbors(new), expected):
            assert np.array_equal(a, b)
        self.check_killed(tmp_path, pids)

    def test_landmarks(self, whole, tmp_path):
        X, y, _ = strings()
        pids = whole.run(os.getpid)
        model = LandmarkClassifier(12, "flip", random_state=0, similarity=longer)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SimilarityWarning)
            expected = clone(model).fit(X, y)
            word = next(x for x in reversed(X) if x not in expected.objects_)  # the client looks at landmarks only
            fit_landmarks(model.set_params(similarity=Kills(tmp_path, word)), X, y, block_size=7)
        assert np.allclose(model.coef_, expected.coef_, rtol=0, atol=1e-8)
        self.check_killed(tmp_path, pids)


class TestMemory:
    """The error says which parameter to lower, and lowering it helps."""

    X, y, new = [float(i) for i in range(500)], [0, 1] * 250, [0.5] * 500

    def test_a_killed_worker(self, impatient):
        model = KNNClassifier(1, similarity=hungry(), search=ClusterSearch(n_shards=1, block_size=500))
        with pytest.raises(RuntimeError, match=r"ran out of memory: lower block_size or batch_size of ClusterSearch"):
            model.fit(self.X, self.y).kneighbors(self.new)
        small = model.set_params(search__block_size=50).fit(self.X, self.y)
        impatient.wait_for_workers(2, timeout=60)
        assert small.kneighbors(self.new[:50])[1].tolist() == [[0]] * 50


def test_a_matrix_is_that_of_one_machine(whole):
    X, _, new = strings()
    assert np.array_equal(compute(pairwise(X, new, longer, chunks=(10, 5))), pairwise_here(X, new, longer))


def test_landmarks_are_those_of_one_machine(whole):
    X, y, new = strings()
    model = LandmarkClassifier(20, random_state=1, similarity="levenshtein")
    here, there = clone(model).fit(X, y), fit_landmarks(clone(model), X, y, block_size=7)
    assert np.allclose(there.coef_, here.coef_, rtol=0, atol=1e-8)
    assert np.allclose(there.decision_function(new), here.decision_function(new), rtol=0, atol=1e-8)


def test_an_experiment_gives_the_same_table(whole):
    given = Protocol.partitions(3, test_size=0.25, inner=3), data(1), methods()
    expected = run(*given, progress=False)
    with joblib.parallel_config("dask"):
        found = run(*given, progress=False)
    assert not found.failures
    assert str(found.table(test=None)) == str(expected.table(test=None))


METHODS = ["k-NN", "KRI k-NN", "SVM (clip)", "RFD (features)"]


class TestAuto:
    """The folds and methods of AutoClassifier run on the workers."""

    def test_answers_are_those_of_one_machine(self, whole):
        X, y, new = strings(120)
        auto = AutoClassifier(METHODS, n_repeats=2, similarity="levenshtein")
        expected = clone(auto).fit(X, y)
        before = whole.run(lambda dask_worker: dask_worker.state.executed_count)
        with joblib.parallel_config("dask"):
            found = auto.fit(X, y)
        after = whole.run(lambda dask_worker: dask_worker.state.executed_count)
        assert sum(after.values()) > sum(before.values()) + 5
        assert not found.failures_
        assert [row.error for row in found.leaderboard_] == [row.error for row in expected.leaderboard_]
        assert np.array_equal(found.predict_proba(new), expected.predict_proba(new))

    def test_samples_travel_once_to_each_worker(self, whole, tmp_path):
        value = NotesArrival(tmp_path)
        with joblib.parallel_config("dask"):
            for _ in range(2):
                held = for_jobs(value)
                found = joblib.Parallel(batch_size=1)(joblib.delayed(length_of)(held) for _ in range(8))
                assert found == [10_000] * 8
        arrivals = (tmp_path / "arrivals").read_text().split()
        workers = [pid for pid in arrivals if int(pid) != os.getpid()]  # the scheduler of this cluster is here
        assert len(workers) == len(set(workers)) <= 2

    @needs_posix
    def test_a_worker_that_is_killed_changes_nothing(self, whole, tmp_path):
        X, y, new = strings(80)
        pids = whole.run(os.getpid)
        auto = AutoClassifier(["k-NN", "KRI k-NN"], n_repeats=1, diagnose=False)
        here = tmp_path / "here"
        here.mkdir()
        expected = clone(auto).set_params(similarity=KillsOnce(here, os.getpid())).fit(X, y).predict_proba(new)
        with joblib.parallel_config("dask"):
            found = auto.set_params(similarity=KillsOnce(tmp_path, os.getpid())).fit(X, y)
        assert not found.failures_
        assert np.array_equal(found.predict_proba(new), expected)
        TestKilled.check_killed(tmp_path, pids)


class TestCommand:
    """``similitude fit --scheduler ADDRESS``."""

    @pytest.mark.parametrize("pairs", [(), ("--pairs", 300)], ids=["all pairs", "some pairs"])
    def test_model_is_that_of_one_machine(self, whole, tmp_path, monkeypatch, pairs):
        monkeypatch.chdir(tmp_path)
        X, y = words(32)
        (tmp_path / "words.txt").write_text("\n".join(X) + "\n")
        (tmp_path / "y.txt").write_text("\n".join(f"c{label}" for label in y) + "\n")
        (tmp_path / "new.txt").write_text("\n".join(words(20, seed=2)[0]) + "\n")
        fit = ("fit", "words.txt", "--labels", "y.txt", "--similarity", "levenshtein", *pairs)
        done(*fit, "-o", "here.model")
        before = whole.run(lambda dask_worker: dask_worker.state.executed_count)
        done(*fit, "--scheduler", whole.cluster.scheduler_address, "-o", "there.model")
        after = whole.run(lambda dask_worker: dask_worker.state.executed_count)
        assert any(after[worker] > before[worker] for worker in before)
        for name in ("here", "there"):
            done("predict", f"{name}.model", "new.txt", "-o", f"{name}.csv")
        assert (tmp_path / "there.csv").read_text() == (tmp_path / "here.csv").read_text()
        assert (tmp_path / "there.model").read_bytes() == (tmp_path / "here.model").read_bytes()
