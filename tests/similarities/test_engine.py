"""The block engine: halves, threads, processes, files, interruptions."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import textwrap
import threading
import time
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from joblib import Parallel, delayed, parallel_config
from scipy import sparse

from similitude.similarities import VDM, Measure, batch, pairwise
from similitude.similarities import _blocks as blocks
from similitude.similarities import journal as journal_file
from similitude.similarities.fingerprint import fingerprint
from tests.numerics.test_progress import terminal
from tests.systems import needs_posix

rng = np.random.default_rng(5)
N = 23
WORDS = ["".join(rng.choice(list("abcd"), size=rng.integers(0, 6))) for _ in range(N)]
OTHERS = ["".join(rng.choice(list("abcd"), size=rng.integers(0, 6))) for _ in range(9)]


def shared_letters(a, b):
    return float(len(set(a) & set(b)))


def prefix(a, b):
    """Asymmetric."""
    return float(len(b)) if a.startswith(b) else -float(len(a))


def in_batches(function, A, B):
    return np.array([[function(a, b) for b in B] for a in A])


def double_loop(function, A, B):
    values = np.empty((len(A), len(B)))
    for i, a in enumerate(A):
        for j, b in enumerate(B):
            values[i, j] = function(a, b)
    return values


def measure(function, kind, **facts):
    if kind == "batch":
        return Measure(partial(in_batches, function), batch=True, **facts)
    return Measure(function, **facts)


@pytest.mark.parametrize("block_size", [1, 7, N, 100, None])
@pytest.mark.parametrize("kind", ["callable", "batch"])
@pytest.mark.parametrize(("function", "symmetric"), [(shared_letters, True), (shared_letters, False), (prefix, False)])
def test_equals_a_double_loop(function, symmetric, kind, block_size):
    similarity = measure(function, kind, symmetric=symmetric)
    S = pairwise(WORDS, similarity=similarity, block_size=block_size)
    assert np.array_equal(S, double_loop(function, WORDS, WORDS))
    S = pairwise(WORDS, OTHERS, similarity, block_size=block_size)
    assert np.array_equal(S, double_loop(function, WORDS, OTHERS))


@pytest.mark.parametrize("kind", ["callable", "batch"])
@pytest.mark.parametrize("threads", [True, False], ids=["threads", "processes"])
@pytest.mark.parametrize(("function", "symmetric"), [(shared_letters, True), (prefix, False)])
def test_two_workers_give_the_same(function, symmetric, threads, kind, tmp_path):
    similarity = measure(function, kind, symmetric=symmetric, threads=threads)
    expected = double_loop(function, WORDS, WORDS)
    assert np.array_equal(pairwise(WORDS, similarity=similarity, block_size=7, n_jobs=2), expected)
    assert np.array_equal(pairwise(OTHERS, WORDS, similarity, n_jobs=2), double_loop(function, OTHERS, WORDS))
    S = pairwise(WORDS, similarity=similarity, n_jobs=2, block_size=5, out=tmp_path / "S.npy")
    assert np.array_equal(S, expected)


X = rng.integers(0, 3, size=(N, 4)).astype(float)


def as_rows(A):
    return A.toarray() if sparse.issparse(A) else np.asarray(A)


@pytest.mark.parametrize(
    "make",
    [list, tuple, np.array, pd.DataFrame, sparse.csr_matrix, sparse.csr_array, sparse.coo_matrix],
    ids=lambda make: make.__name__,
)
def test_rows_of_every_kind_of_table(make):
    A, B = make(X), make(X[:5])
    inner = Measure(lambda A, B: as_rows(A) @ as_rows(B).T, batch=True, symmetric=True, threads=True)
    one = Measure(lambda a, b: float(np.vdot(as_rows(a), as_rows(b))), symmetric=True, threads=True)
    for similarity in (inner, one):
        for settings in ({}, {"block_size": 1}, {"block_size": 7, "n_jobs": 2}):
            assert np.array_equal(pairwise(A, similarity=similarity, **settings), X @ X.T)
            assert np.array_equal(pairwise(A, B, similarity, **settings), X @ X[:5].T)


def test_a_batch_function_may_answer_with_a_sparse_matrix():
    S = pairwise(sparse.csr_array(X), similarity=batch(lambda A, B: A @ B.T))
    assert isinstance(S, np.ndarray)
    assert np.array_equal(S, X @ X.T)


@pytest.mark.parametrize("block_size", [1, 7, 100, None])
@pytest.mark.parametrize("symmetric", [True, False])
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_every_pair_is_evaluated_once(symmetric, block_size, n_jobs):
    calls = []

    def f(a, b):
        calls.append((a, b))
        return a * b

    pairwise(
        list(range(N)), similarity=Measure(f, symmetric=symmetric, threads=True), block_size=block_size, n_jobs=n_jobs
    )
    wanted = [(a, b) for a in range(N) for b in range(N) if a <= b or not symmetric]
    assert sorted(calls) == wanted
    calls.clear()
    pairwise(list(range(N)), [1, 2], similarity=Measure(f, symmetric=symmetric), block_size=block_size)
    assert sorted(calls) == [(a, b) for a in range(N) for b in (1, 2)]


def recorded(calls, **facts):
    def f(A, B):
        calls.append((len(A), len(B), A is B))
        return np.ones((len(A), len(B)))

    return Measure(f, batch=True, **facts)


@pytest.mark.parametrize(("symmetric", "n"), [(True, 1024), (False, 1500), (False, 4096)])
def test_one_call_where_nothing_asks_for_blocks(symmetric, n):
    calls = []
    pairwise(list(range(n)), similarity=recorded(calls, symmetric=symmetric))
    assert calls == [(n, n, True)]


def test_a_symmetric_batch_function_is_spared_half_of_the_blocks():
    calls = []
    S = pairwise(list(range(2000)), similarity=recorded(calls, symmetric=True))
    assert sum(n * m for n, m, _ in calls) < 0.65 * 2000**2
    assert sum(same for *_, same in calls) == 4
    assert S.all()


@pytest.mark.parametrize("settings", [{"n_jobs": 2}, {"progress": True}, {"out": np.empty((600, 600))}], ids=str)
def test_what_asks_for_blocks(settings):
    calls = []
    pairwise(list(range(600)), similarity=recorded(calls, threads=True), **settings)
    assert set(calls) == {(128, 128, True), (128, 128, False), (128, 88, False), (88, 128, False), (88, 88, True)}


def test_threads_and_processes():
    main = os.getpid()
    expensive = Measure(lambda a, b: time.sleep(0.001) or float(os.getpid()))
    assert main not in pairwise(list(range(6)), similarity=expensive, n_jobs=2, block_size=2)
    in_threads = Measure(lambda a, b: float(os.getpid()), threads=True)
    assert (pairwise(list(range(6)), similarity=in_threads, n_jobs=2, block_size=2) == main).all()
    seen, meeting = set(), threading.Barrier(2, timeout=60)

    def meet(a, b):
        if threading.get_ident() not in seen:
            seen.add(threading.get_ident())
            meeting.wait()
        return 0.0

    in_threads = Measure(meet, threads=True)
    pairwise(list(range(8)), similarity=in_threads, n_jobs=2, block_size=2)
    assert len(seen) == 2
    assert threading.get_ident() not in seen
    seen.clear()
    with parallel_config(n_jobs=2):
        pairwise(list(range(8)), similarity=in_threads, block_size=2)
    assert len(seen) == 2


def test_no_workers_inside_a_worker():
    def inside():
        seen = set()
        f = Measure(lambda a, b: seen.add(threading.get_ident()) or 0.0, threads=True)
        pairwise([1, 2, 3], similarity=f, n_jobs=2, block_size=1)
        return seen == {threading.get_ident()}

    for prefer in ("threads", "processes"):
        assert Parallel(n_jobs=2, prefer=prefer)(delayed(inside)() for _ in range(2)) == [True, True]


def test_a_function_that_cannot_be_sent_works_here_with_a_warning():
    lock = threading.Lock()

    def locked(a, b):
        with lock:
            return float(a * b)

    with pytest.warns(
        UserWarning, match=r"similarity: locked .*cannot be sent to other processes .*n_jobs=2 is ign"
    ) as w:
        S = pairwise([1, 2, 3], similarity=locked, n_jobs=2, block_size=1)
    assert w[0].filename == __file__
    assert np.array_equal(S, np.outer([1, 2, 3], [1, 2, 3]))


def test_results_wait_in_rounds_of_limited_size(monkeypatch):
    """No more blocks are begun than may wait for a slow reader."""
    begun, written = [], []
    task = blocks.Task(Measure(lambda a, b: 1.0, name="one"))
    grid = blocks.Grid(40, 40, 1, False)

    def cut(block):
        begun.append(block.number)
        return [0], [0]

    for block, _ in blocks.evaluated(task, grid, cut, n_jobs=2, threads=True, waiting=20):
        written.append(block.number)
        assert len(begun) - len(written) <= 20
    assert sorted(written) == list(range(1600))


# --- what comes out ---


def of_dtypes(*dtypes):
    """A batch function that answers with these in turn, then with the last."""
    left = list(dtypes)
    return Measure(lambda A, B: np.full((len(A), len(B)), 1 / 3, left.pop(0) if len(left) > 1 else left[0]), batch=True)


def test_float32_stays_only_where_every_block_is():
    A = [1, 2, 3]
    assert pairwise(A, similarity=of_dtypes("f4"), block_size=1).dtype == np.float32
    mixed = pairwise(A, similarity=of_dtypes("f4", "f4", "f8"), block_size=1)
    assert mixed.dtype == np.float64
    assert mixed[2, 2] == 1 / 3
    mixed = pairwise(A, similarity=of_dtypes("f8", "f4"), block_size=1)
    assert mixed.dtype == np.float64
    assert (mixed[0, 0], mixed[2, 2]) == (1 / 3, np.float32(1 / 3))
    assert pairwise(A, similarity=of_dtypes("i8"), block_size=1).dtype == np.float64
    assert pairwise(A, similarity=of_dtypes("f2"), block_size=1).dtype == np.float64


def test_on_disk_the_first_block_decides(tmp_path):
    A, path = [1, 2, 3], tmp_path / "S.npy"
    assert pairwise(A, similarity=of_dtypes("f4"), out=path, block_size=1).dtype == np.float32
    path.unlink()
    assert pairwise(A, similarity=of_dtypes("f8", "f4"), out=path, block_size=1).dtype == np.float64
    path.unlink()
    with pytest.raises(ValueError, match=r"similarity: .*float32 for the first block and float64 for a later one"):
        pairwise(A, similarity=of_dtypes("f4", "f8"), out=path, block_size=1)
    assert pairwise(A, similarity=of_dtypes("f4"), out=path, block_size=1).dtype == np.float32


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_an_array_is_filled_in_place(dtype, order):
    out = np.full((N, N), np.nan, dtype, order=order)
    S = pairwise(WORDS, similarity=measure(shared_letters, "batch", symmetric=True), out=out, block_size=5)
    assert S is out
    assert np.array_equal(out, double_loop(shared_letters, WORDS, WORDS))


def test_an_array_keeps_what_was_computed_before_a_failure():
    out = np.full((3, 3), -1.0)
    with pytest.raises(ValueError, match="objects 1 and 2"):
        pairwise([0, 1, 2], similarity=lambda a, b: np.nan if (a, b) == (1, 2) else 7.0, out=out, block_size=1)
    assert out.tolist() == [[7, 7, 7], [7, 7, -1], [-1, -1, -1]]


def read_only():
    array = np.empty((2, 2))
    array.flags.writeable = False
    return array


@pytest.mark.parametrize(
    ("out", "message"),
    [
        (np.empty((2, 3)), r"out must be a writable .* of shape \(2, 2\); got a float64 array of shape \(2, 3\)"),
        (np.empty((2, 2), int), r"out must be a writable float32 or float64 array.*got a int64"),
        (read_only(), "out must be a writable .*got a read-only float64"),
        ([[0, 0], [0, 0]], r"out must be an array or the path of a \.npy file; got list"),
        ("S.dat", r"out must be an array or the path of a \.npy file; got 'S.dat'"),
    ],
)
def test_an_out_that_cannot_be_filled(out, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ValueError, match=message):
        pairwise([1, 2], similarity=lambda a, b: 1.0, out=out)
    assert not list(tmp_path.iterdir())


def test_a_value_too_large_for_the_array():
    with pytest.raises(ValueError, match=r"out: a value of 1e\+300 does not fit into float32"):
        pairwise([1, 2], similarity=lambda a, b: 1e300, out=np.empty((2, 2), np.float32))


@pytest.mark.parametrize("bad", [0, -1, 2.5, True, "8"])
def test_a_block_size_that_is_none(bad):
    with pytest.raises(ValueError, match=r"block_size must be None or an integer"):
        pairwise([1, 2], similarity=lambda a, b: 1.0, block_size=bad)


@pytest.mark.parametrize("bad", [0, 1.5, "2", True])
def test_a_number_of_workers_that_is_none(bad):
    with pytest.raises(ValueError, match=r"n_jobs must be None or an integer other than 0"):
        pairwise([1, 2], similarity=lambda a, b: 1.0, n_jobs=bad)


@pytest.mark.parametrize(
    "bad", ["abc", b"abc", 3, {1: 2}, {1, 2}, iter([1]), np.array(3)], ids=lambda b: type(b).__name__
)
def test_objects_that_are_no_sequence(bad):
    with pytest.raises(ValueError, match=rf"A must be a sequence of objects; got {type(bad).__name__}"):
        pairwise(bad, similarity=lambda a, b: 1.0)
    with pytest.raises(ValueError, match=rf"B must be a sequence of objects; got {type(bad).__name__}"):
        pairwise([1], bad, similarity=lambda a, b: 1.0)


# --- functions that fail ---


class Picky(Exception):
    def __init__(self, one, two):  # cannot be unpickled
        super().__init__("no")


def failing(how, a, b):
    if (a, b) != (11, 17):
        return 1.0
    if how == "unpicklable":
        raise Picky(a, b)
    if how == "raises":
        raise KeyError("not these")
    return {"nan": np.nan, "inf": -np.inf, "complex": 1j, "numpy complex": np.complex128(1j)}[how]


def failing_batch(how, A, B):
    return np.array([[failing(how, a, b) for b in B] for a in A])


SAID = {
    "nan": "gave nan for objects 11 and 7;",
    "inf": "gave -inf for objects 11 and 7;",
    "complex": "objects 11 and 7.*complex",
    "numpy complex": "objects 11 and 7.*complex",
    "raises": "failed on objects 11 and 7: KeyError: 'not these'",
    "unpicklable": "failed on objects 11 and 7: Picky: no",
}


@pytest.mark.parametrize("kind", ["callable", "batch"])
@pytest.mark.parametrize(
    ("workers", "how"),
    [
        *(("one", how) for how in SAID),
        ("threads", "nan"),
        ("threads", "raises"),
        ("processes", "raises"),
        ("processes", "unpicklable"),
    ],
)
def test_failures_are_named_by_positions_in_the_whole(how, kind, workers):
    function = partial(failing if kind == "callable" else failing_batch, how)
    similarity = Measure(function, name="f", batch=kind == "batch", threads=workers == "threads")
    said = SAID[how]
    if "complex" in how and kind == "batch":
        said = "gave a complex value for objects 11 and 7;"
    for block_size in (None, 5) if workers == "one" else (5,):
        with pytest.raises(ValueError, match=f"similarity: f {said}|similarity: f failed on {said}") as caught:
            pairwise(range(N), range(10, N), similarity, block_size=block_size, n_jobs=1 if workers == "one" else 2)
    if how == "raises":
        assert isinstance(caught.value.__cause__, KeyError)
        if workers == "processes":
            assert "in failing" in caught.value.__cause__.__notes__[0]


def test_a_wrong_shape_is_named_by_ranges():
    def f(A, B):
        return np.ones((len(A), len(B)) if A[0] < 5 else (2, 2))

    with pytest.raises(
        ValueError, match=r"f returned shape \(2, 2\) for batches of 5 and 4 .*objects 5 to 9 and 0 to 3"
    ):
        pairwise(range(10), range(4), batch(f), block_size=5)


def test_a_batch_function_that_fails_once_only():
    calls = []

    def f(A, B):
        calls.append(1)
        if len(calls) == 1:
            raise OSError("a moment please")
        return np.ones((len(A), len(B)))

    with pytest.raises(ValueError, match=r"f failed on objects 0 to 9 and 0 to 3: OSError: a moment please"):
        pairwise(range(10), range(4), batch(f))


@pytest.mark.parametrize("error", [ImportError("install something"), MemoryError("full")])
@pytest.mark.parametrize("as_batch", [True, False])
def test_errors_that_are_not_about_objects_pass(error, as_batch):
    def f(a, b):
        raise error

    with pytest.raises(type(error)) as caught:
        pairwise([1, 2], similarity=batch(f) if as_batch else f)
    assert caught.value is error


# --- on disk ---


class Counted:
    """An asymmetric function that counts its calls; it fails on one pair until it is mended.

    Whoever calls it beside the failing pair waits, so that the failure is seen before much else is evaluated.
    """

    def __init__(self, fails_on=None):
        self.calls, self.fails_on = [], fails_on

    def __call__(self, a, b):
        self.calls.append((a, b))
        if self.fails_on in self.calls[:-1]:
            time.sleep(1)
        return np.nan if (a, b) == self.fails_on else float(10 * a + b)

    def interrupted(self, path, A=range(10), **settings):
        """Fill the file until the pair on which it fails."""
        with pytest.raises(ValueError, match=r"gave nan for objects"):
            pairwise(A, similarity=self.measure, out=path, **settings)
        self.fails_on = None
        done, self.calls = list(self.calls), []
        return done

    @property
    def measure(self):
        return Measure(self, name="counted", threads=True)


def test_a_file_is_filled_and_can_only_be_read(tmp_path):
    path = tmp_path / "S.npy"
    for out in (path, str(tmp_path / "T.npy")):
        S = pairwise(WORDS, similarity=Measure(shared_letters, symmetric=True), out=out, block_size=7)
        assert isinstance(S, np.memmap)
        assert not S.flags.writeable
        assert np.array_equal(S, double_loop(shared_letters, WORDS, WORDS))
    assert np.array_equal(np.load(path), S)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["S.npy", "T.npy"]


def test_a_complete_file_is_left_alone(tmp_path):
    path = tmp_path / "S.npy"
    pairwise([1, 2], similarity=prefix_of_numbers, out=path)
    before = path.read_bytes()
    with pytest.raises(FileExistsError, match=r"out: .*S\.npy exists .*numpy\.load\(out, mmap_mode='r'\), delete it"):
        pairwise([1, 2], similarity=prefix_of_numbers, out=path)
    assert path.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["S.npy"]


def prefix_of_numbers(a, b):
    return float(a - b)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_mended_function_goes_on_where_it_failed(tmp_path, n_jobs):
    f = Counted(fails_on=(5, 5))
    done = f.interrupted(tmp_path / "S.npy", block_size=1, n_jobs=n_jobs)
    assert 55 <= len(done) < 90
    S = pairwise(range(10), similarity=f.measure, out=tmp_path / "S.npy", n_jobs=n_jobs)
    # What was evaluated beside the failing pair was kept, whichever worker had it.
    assert sorted(done + f.calls) == sorted([(a, b) for a in range(10) for b in range(10)] + [(5, 5)])
    assert np.array_equal(S, np.add.outer(10 * np.arange(10), np.arange(10)))


def test_failing_processes_leave_what_is_finished(tmp_path):
    path = tmp_path / "S.npy"
    with pytest.raises(ValueError, match="objects 11 and 17"):
        pairwise(range(N), similarity=Measure(partial(failing, "nan"), name="f"), out=path, n_jobs=2, block_size=5)
    finished = journal_file.Journal(tmp_path / "S.npy.journal")
    finished.close()
    assert len(finished.done) >= 5
    assert 13 not in finished.done
    S = np.load(part(path), mmap_mode="r")
    for block in blocks.Grid(N, N, 5, False):
        assert (S[block.rows, block.columns] == (block.number in finished.done)).all()


def part(path):
    """The file in which a matrix is filled."""
    return path.with_name(path.name + ".part")


def header_size(journal):
    return len(journal.read_bytes().splitlines(keepends=True)[0])


@pytest.mark.parametrize(
    "lost", [1, 2, 9, 10, 11, 15, 17]
)  # the last line is "[54, ...]", a blank, 8 digits and a line end
def test_a_torn_record_does_not_count(tmp_path, lost):
    f, path, journal = Counted(fails_on=(5, 5)), tmp_path / "S.npy", tmp_path / "S.npy.journal"
    f.interrupted(path, block_size=1)
    os.truncate(journal, journal.stat().st_size - lost)
    pairwise(range(10), similarity=f.measure, out=path)
    assert sorted(f.calls) == [(5, 4)] + [(a, b) for a in range(5, 10) for b in range(10) if (a, b) > (5, 4)]


def test_a_record_with_a_wrong_checksum_does_not_count(tmp_path):
    f, path, journal = Counted(fails_on=(5, 5)), tmp_path / "S.npy", tmp_path / "S.npy.journal"
    f.interrupted(path, block_size=1)
    data = bytearray(journal.read_bytes())
    assert data.count(b"[54, ") == 1
    journal.write_bytes(data.replace(b"[54, ", b"[55, "))
    S = pairwise(range(10), similarity=f.measure, out=path)
    assert f.calls[0] == (5, 4)
    assert np.array_equal(S, np.add.outer(10 * np.arange(10), np.arange(10)))


@pytest.mark.parametrize("left", [0.0, 0.01, 0.1, 0.999])
def test_a_torn_header_is_a_new_beginning(tmp_path, left):
    f, path, journal = Counted(fails_on=(5, 5)), tmp_path / "S.npy", tmp_path / "S.npy.journal"
    f.interrupted(path, block_size=1)
    os.truncate(journal, int(left * header_size(journal)))
    part(path).unlink()
    pairwise(range(10), similarity=f.measure, out=path)
    assert len(f.calls) == 100
    assert not journal.exists()


def test_killed_between_the_header_and_the_first_block(tmp_path):
    f, path, journal = Counted(fails_on=(5, 5)), tmp_path / "S.npy", tmp_path / "S.npy.journal"
    f.interrupted(path, block_size=1)
    os.truncate(journal, header_size(journal))
    os.truncate(part(path), 128)
    S = pairwise(range(10), similarity=f.measure, out=path, block_size=3)
    assert len(f.calls) == 100
    assert S[9, 9] == 99


def test_a_matrix_that_was_deleted_is_begun_anew(tmp_path):
    f, path = Counted(fails_on=(5, 5)), tmp_path / "S.npy"
    f.interrupted(path, block_size=1)
    part(path).unlink()
    pairwise(range(10), similarity=f.measure, out=path)
    assert len(f.calls) == 100


@pytest.mark.parametrize("damage", ["shorter", "other shape", "x" * 1000, "notes", "header"])
def test_files_that_do_not_belong_together(tmp_path, damage):
    f, path, journal = Counted(fails_on=(5, 5)), tmp_path / "S.npy", tmp_path / "S.npy.journal"
    f.interrupted(path, block_size=1)
    if damage == "shorter":
        os.truncate(part(path), part(path).stat().st_size - 8)
    elif damage == "other shape":
        with part(path).open("wb") as file:
            np.save(file, np.ones((10, 9)))
    elif damage == "header":
        journal.write_bytes(journal.read_bytes().replace(b"<f8", b"<f4"))
    else:
        journal.write_text(damage)
    before = part(path).read_bytes(), journal.read_bytes()
    with pytest.raises(
        ValueError, match=r"out: .*(not the matrix that its journal describes|not a journal of pairwise).*delete"
    ):
        pairwise(range(10), similarity=f.measure, out=path)
    assert f.calls == []
    assert (part(path).read_bytes(), journal.read_bytes()) == before


@pytest.mark.parametrize("left", [0, 1, 30])
def test_a_short_journal_is_kept_and_refused(tmp_path, left):
    f, path, journal = Counted(fails_on=(5, 5)), tmp_path / "S.npy", tmp_path / "S.npy.journal"
    f.interrupted(path, block_size=1)
    assert not path.exists()
    os.truncate(journal, left)
    kept = part(path).read_bytes(), journal.read_bytes()
    with pytest.raises(ValueError, match=r"out: .*S\.npy\.journal is too short .*delete both"):
        pairwise(range(10), similarity=f.measure, out=path)
    assert (part(path).read_bytes(), journal.read_bytes()) == kept
    journal.unlink()
    with pytest.raises(ValueError, match=r"out: .*S\.npy\.part is left from a run whose journal is missing"):
        pairwise(range(10), similarity=f.measure, out=path)
    assert not journal.exists()


@pytest.mark.parametrize("place", [(0, 3), (3, 0)])
def test_values_that_have_changed_on_disk_are_computed_again(tmp_path, place):
    path, objects = tmp_path / "S.npy", np.arange(1.0, 7.0)
    stops, works = (Measure(f, name="p", batch=True, symmetric=True) for f in (_fails_at_five, np.multiply.outer))
    with pytest.raises(ValueError, match="here"):
        pairwise(objects, similarity=stops, out=path, block_size=2)
    matrix = np.load(part(path), mmap_mode="r+")
    matrix[place] += 1
    matrix.flush()
    with pytest.warns(UserWarning, match=r"1 of \d+ finished blocks have changed"):
        S = pairwise(objects, similarity=works, out=path)
    assert np.array_equal(S, np.multiply.outer(objects, objects))


def _fails_at_five(A, B):
    if 5 in A and 5 in B:
        raise ValueError("here")
    return np.multiply.outer(A, B)


def test_killed_after_the_matrix_got_its_name(tmp_path, monkeypatch):
    path, journal = tmp_path / "S.npy", tmp_path / "S.npy.journal"

    def killed(self):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(journal_file.Journal, "remove", killed)
        with pytest.raises(KeyboardInterrupt):
            pairwise(range(3), similarity=prefix_of_numbers, out=path, block_size=1)
    assert path.exists()
    assert journal.exists()
    S = pairwise(range(3), similarity=prefix_of_numbers, out=path)
    assert S.tolist() == np.subtract.outer(range(3), range(3)).tolist()
    assert [p.name for p in tmp_path.iterdir()] == ["S.npy"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"A": range(11)}, "A and B: 10 and 10 objects there, 11 and 11 here"),
        ({"B": range(9)}, "A and B: 10 and 10 objects there, 10 and 9 here"),
        ({"A": [0, 1, 2, 3, 4, 5, 6, 7, 8, 10]}, "A or B: the objects are not the same"),
        ({"A": [0, 2, 1, 3, 4, 5, 6, 7, 8, 9]}, "A or B: the objects are not the same"),
        ({"B": range(10)}, "A or B: the objects are not the same"),
        ({"name": "other"}, "similarity: its name or its parameters"),
        ({"symmetric": True}, "similarity: its name or its parameters"),
    ],
    ids=str,
)
def test_something_else_is_refused(tmp_path, change, message):
    f, path = Counted(fails_on=(5, 5)), tmp_path / "S.npy"
    f.interrupted(path, block_size=1)
    A, B = change.pop("A", range(10)), change.pop("B", None)
    other = Measure(f, **{"name": "counted", **change})
    with pytest.raises(
        ValueError, match=rf"out: .*S\.npy was begun for another computation \({message}.*Delete S\.npy\.part"
    ):
        pairwise(A, B, other, out=path)
    assert f.calls == []
    pairwise(range(10), similarity=f.measure, out=path)
    assert len(f.calls) == 45


def test_other_parameters_are_refused(tmp_path):
    def scaled(a, b, scale):
        if (a, b) == (2, 2):
            raise KeyError("here")
        return scale * a * b

    rows = [(a,) for a in "aabbc"]
    weighted, plain = VDM(weighted=True).fit(rows, [0, 1, 0, 1, 1]), VDM().fit(rows, [0, 1, 0, 1, 1])
    relearned = VDM().fit(rows, [0, 0, 0, 1, 1])
    stops = [Measure(partial(scaled, scale=2.0)), Measure(partial(scaled, scale=3.0))]
    with pytest.raises(ValueError, match="objects 2 and 2"):
        pairwise(range(3), similarity=stops[0], out=tmp_path / "S.npy", block_size=1)
    with pytest.raises(ValueError, match="similarity: its name or its parameters"):
        pairwise(range(3), similarity=stops[1], out=tmp_path / "S.npy", block_size=1)
    digests = {journal_fingerprint(m) for m in (weighted, plain, relearned, VDM().fit(rows, [0, 1, 0, 1, 1]))}
    assert len(digests) == 3


def journal_fingerprint(function):
    from similitude.similarities.fingerprint import fingerprint_of_measure
    from similitude.similarities.registry import resolve

    return fingerprint_of_measure(resolve(function))


def test_the_block_size_of_a_resumed_run(tmp_path):
    f, path = Counted(fails_on=(5, 5)), tmp_path / "S.npy"
    f.interrupted(path, block_size=3)
    with pytest.raises(ValueError, match=r"block_size=4: the interrupted run of .*S\.npy used 3; pass that, or None"):
        pairwise(range(10), similarity=f.measure, out=path, block_size=4)
    S = pairwise(range(10), similarity=f.measure, out=path, n_jobs=2)
    assert len(f.calls) < 80
    assert np.array_equal(S, np.add.outer(10 * np.arange(10), np.arange(10)))


def test_values_are_on_disk_before_their_record(tmp_path, monkeypatch):
    events = []
    flush, append = np.memmap.flush, journal_file.Journal.append
    monkeypatch.setattr(np.memmap, "flush", lambda self: events.append("flush") or flush(self))
    monkeypatch.setattr(journal_file.Journal, "append", lambda self, n, crc: events.append(n) or append(self, n, crc))
    pairwise(range(3), similarity=prefix_of_numbers, out=tmp_path / "S.npy", block_size=2)
    assert events == ["flush", 0, "flush", 1, "flush", 2, "flush", 3]


def test_two_runs_on_one_file(tmp_path):
    path, said = tmp_path / "S.npy", []

    def f(a, b):
        try:
            pairwise([1, 2], similarity=prefix_of_numbers, out=path)
        except ValueError as error:
            said.append(str(error))
        return 1.0

    S = pairwise([1, 2], similarity=f, out=path, block_size=1)
    assert S.tolist() == [[1, 1], [1, 1]]
    assert said == [f"out: another run is filling {path} at this moment."] * 4


def test_the_lock_of_a_run_that_completes_meanwhile(tmp_path, monkeypatch):
    """The journal is opened, then removed by its owner, then locked: it must not be taken for a new one."""
    path, journal = tmp_path / "S.npy", tmp_path / "S.npy.journal"
    owner = journal_file.Journal(journal)
    flock, completed = journal_file.fcntl.flock, []

    def complete_first(file, how):
        if not completed:
            np.save(path, np.ones((2, 2)))
            completed.append(owner.remove())
        flock(file, how)

    monkeypatch.setattr(journal_file.fcntl, "flock", complete_first)
    with pytest.raises(FileExistsError, match=r"S\.npy exists"):
        pairwise([1, 2], similarity=prefix_of_numbers, out=path)
    assert completed
    assert [p.name for p in tmp_path.iterdir()] == ["S.npy"]


@needs_posix
def test_a_folder_that_cannot_be_written():
    # Not below pytest's own folder, which only its owner may enter: root has to become somebody else here.
    folder = Path(tempfile.mkdtemp())
    was_root = os.geteuid() == 0
    try:
        folder.chmod(0o555)
        if was_root:
            os.seteuid(65534)
        with pytest.raises(PermissionError, match=r"out: cannot write .*S\.npy\.journal: Permission denied"):
            pairwise([1, 2], similarity=prefix_of_numbers, out=folder / "S.npy")
    finally:
        if was_root:
            os.seteuid(0)
        left = list(folder.iterdir())
        folder.chmod(0o755)
        shutil.rmtree(folder)
    assert not left


@needs_posix
def test_a_fifo_is_left_alone(tmp_path):
    f, path, journal = Counted(fails_on=(5, 5)), tmp_path / "S.npy", tmp_path / "S.npy.journal"
    f.interrupted(path, block_size=1)
    journal.write_bytes(journal.read_bytes().splitlines(keepends=True)[0])  # the header alone
    os.mkfifo(path)
    with pytest.raises(ValueError, match=r"out: .*S.npy is not a regular file"):
        pairwise(range(10), similarity=f.measure, out=path)
    assert path.is_fifo()


@needs_posix
def test_a_link_stays(tmp_path):
    f, path, journal = Counted(fails_on=(5, 5)), tmp_path / "S.npy", tmp_path / "S.npy.journal"
    path.symlink_to("elsewhere.npy")
    f.interrupted(path, block_size=1)
    journal.write_bytes(journal.read_bytes().splitlines(keepends=True)[0])  # the header alone
    pairwise(range(10), similarity=f.measure, out=path)
    assert path.is_symlink()
    assert np.load(tmp_path / "elsewhere.npy")[9, 9] == 99


def test_a_folder_that_does_not_exist(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"out: cannot write .*nowhere.*: No such file or directory"):
        pairwise([1, 2], similarity=prefix_of_numbers, out=tmp_path / "nowhere" / "S.npy")


def test_a_full_disk(tmp_path, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "posix_fallocate", full, raising=False)
        with pytest.raises(OSError, match=r"out: no space for the 160 bytes of .*S\.npy"):
            pairwise([1, 2], similarity=prefix_of_numbers, out=tmp_path / "S.npy")
    assert not list(tmp_path.iterdir())


KILLER = textwrap.dedent("""
    import json, os, random, signal, sys, time, traceback
    from similitude.similarities import Measure, pairwise
    from similitude.similarities._blocks import Grid

    folder, n_jobs, chance = sys.argv[1], int(sys.argv[2]), random.Random(int(sys.argv[2]))
    N, LENGTH, KILLS, MORE = 40, 2, 20, 10
    pause, end = 0.002 * n_jobs, float("inf")
    log = os.open(folder + "/evaluations", os.O_CREAT | os.O_WRONLY | os.O_APPEND)
    grid = Grid(N, N, LENGTH, True)
    pairs = {b.number: {(i, j) for i in range(N)[b.rows] for j in range(N)[b.columns]} for b in grid}

    def slow(a, b):
        os.write(log, bytes([a, b]))
        time.sleep(pause if os.fstat(log).st_size < end else 60)  # beyond its end a life waits for the kill
        return 1 / (1 + a * b) + 1 / (3 + a + b)

    def fill(name):
        measure = Measure(slow, symmetric=True, threads=True)
        pairwise(list(range(N)), similarity=measure, out=f"{folder}/{name}.npy", block_size=LENGTH, n_jobs=n_jobs)

    # Fill the matrix in a child, killed at a random moment after so many evaluations, or never.
    def life(length):
        global end
        begun = os.fstat(log).st_size
        end = float("inf") if length is None else begun + 2 * (length + MORE)
        child = os.fork()
        if child == 0:
            try:
                fill("killed")
                os._exit(0)
            except BaseException:
                traceback.print_exc()
                os._exit(1)
        if length is not None:
            deadline = time.monotonic() + 30
            while os.fstat(log).st_size < begun + 2 * length and time.monotonic() < deadline:
                time.sleep(0.001)
            time.sleep(chance.uniform(0, 4 * pause))
            os.kill(child, signal.SIGKILL)
        return os.waitpid(child, 0)[1]

    def evaluations():
        data = open(folder + "/evaluations", "rb").read()
        return list(zip(data[::2], data[1::2]))

    def finished():
        try:
            lines = open(folder + "/killed.npy.journal", "rb").readlines()
        except FileNotFoundError:
            return []
        return [int(line[1 : line.index(b",")]) for line in lines[1:] if line.endswith(b"\\n")]

    # Everything is imported before the first child is born.
    pairwise([1, 2], similarity=Measure(lambda a, b: 1.0, threads=True), n_jobs=n_jobs, block_size=1)
    lives = [chance.randint(0, 30) for _ in range(KILLS)]
    assert sum(lives) + KILLS * (MORE + n_jobs) < N * (N + 1) / 2  # it cannot be finished before the last kill
    statuses, again, counts, seen = [], 0, [], 0
    for length in [*lives, None]:
        done = set().union(*(pairs[b] for b in finished()))
        counts.append(len(done))
        statuses.append(life(length))
        again += sum(pair in done for pair in evaluations()[seen:])
        seen = len(evaluations())
    pause = 0
    fill("straight")
    print(json.dumps({"statuses": statuses, "again": again, "counts": counts, "evaluations": seen}))
""")


@needs_posix
def test_killed_twenty_times(tmp_path):
    """A child is killed at random moments and begun again; what it recorded is never computed twice."""
    done = subprocess.run(
        [sys.executable, "-c", KILLER, str(tmp_path), "2"], capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["statuses"] == [9] * 20 + [0], done.stderr
    assert told["again"] == 0
    assert sorted(told["counts"]) == told["counts"]
    assert 0 < told["counts"][-1] < 1600
    assert told["evaluations"] >= 820
    assert (tmp_path / "killed.npy").read_bytes() == (tmp_path / "straight.npy").read_bytes()
    assert sorted(p.name for p in tmp_path.iterdir()) == ["evaluations", "killed.npy", "straight.npy"]


# --- what the fingerprint sees ---

SAME = """[
    {"pear", "apple", "fig"}, frozenset({"pear", "apple", "fig"}), {"b": 1, "a": {"x", "y"}}, ("a", 1, 2.5, None, True),
    np.arange(6.0).reshape(2, 3), np.array(["a", "b"]), np.array([("a",), None, 3], dtype=object), b"bytes", 1 + 2j,
    pd.DataFrame({"a": [1, 2], "b": ["x", None]}), pd.Series(["a", "b"]), sparse.csr_array(np.eye(3)), np.float32(0.1),
    pd.Timestamp("2020-01-01"), range(3), "\\ud800",
]"""


def test_equal_objects_have_equal_fingerprints_in_every_process():
    script = f"""
import numpy as np, pandas as pd
from scipy import sparse
from similitude.similarities.fingerprint import fingerprint
print([fingerprint(x).hex() for x in {SAME}])
"""
    environment = {**os.environ, "PYTHONHASHSEED": "1"}
    other = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True)
    assert other.stdout.strip() == str([fingerprint(x).hex() for x in eval(SAME)]), other.stderr


def test_other_objects_have_other_fingerprints():
    values = [*eval(SAME), "a", ["a"], [["a"]], ["a", ""], ["", "a"], "1", 1, 1.0, [1, 2], [12], {1, 2}, {1: 2}]
    values += [np.arange(6.0).reshape(3, 2), np.arange(6), sparse.csr_array(2 * np.eye(3)), {"pear", "apple"}, [], ()]
    digests = [fingerprint(value) for value in values]
    # A list and a tuple of the same are the same objects, and so are a set and a frozenset.
    assert len(set(digests)) == len(values) - 2
    assert fingerprint([["a"], ["b"]]) == fingerprint(np.array([["a"], ["b"]], dtype=object))


def test_objects_that_cannot_be_pickled_are_known_by_their_kind():
    assert fingerprint([threading.Lock()]) == fingerprint([threading.Lock()])
    assert fingerprint([threading.Lock()]) != fingerprint([threading.RLock()])


def test_the_bar_counts_blocks_with_rate_and_time_left(tmp_path):
    slow = Measure(lambda a, b: time.sleep(0.01) or 1.0, symmetric=True, threads=True)
    for settings in ({}, {"n_jobs": 2}, {"out": tmp_path / "S.npy"}):
        drawn = []
        with terminal(drawn):
            pairwise(range(8), similarity=slow, block_size=2, progress=True, **settings)
        text = "".join(drawn)
        assert "Filling blocks" in text
        assert "10/10" in text
        assert "/s" in text.replace("10/10", "")
        assert "0:00:0" in text
    drawn = []
    with terminal(drawn):
        pairwise(range(8), similarity=slow, block_size=2)
    assert drawn == []
