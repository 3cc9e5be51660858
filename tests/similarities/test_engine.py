"""The block engine: halves, threads, processes, files, interruptions."""

import json
import os
import pickle
import subprocess
import sys
import textwrap
import threading
import time
from functools import partial

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
    for block_size in (7, None):
        assert np.array_equal(pairwise(WORDS, similarity=similarity, block_size=block_size, n_jobs=2), expected)
    assert np.array_equal(pairwise(OTHERS, WORDS, similarity, n_jobs=2), double_loop(function, OTHERS, WORDS))
    S = pairwise(WORDS, similarity=similarity, n_jobs=2, block_size=5, out=tmp_path / "S.npy")
    assert np.array_equal(S, expected)


X = rng.integers(0, 3, size=(N, 4)).astype(float)


def as_rows(A):
    return A.toarray() if sparse.issparse(A) else np.asarray(A)


@pytest.mark.parametrize("block_size", [1, 7, None])
@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize(
    "make",
    [list, tuple, np.array, pd.DataFrame, sparse.csr_matrix, sparse.csr_array, sparse.coo_matrix],
    ids=lambda make: make.__name__,
)
def test_rows_of_every_kind_of_table(make, n_jobs, block_size):
    A, B = make(X), make(X[:5])
    settings = {"block_size": block_size, "n_jobs": n_jobs}
    inner = Measure(lambda A, B: as_rows(A) @ as_rows(B).T, batch=True, symmetric=True, threads=True)
    assert np.array_equal(pairwise(A, similarity=inner, **settings), X @ X.T)
    assert np.array_equal(pairwise(A, B, inner, **settings), X @ X[:5].T)
    one = Measure(lambda a, b: float(np.vdot(as_rows(a), as_rows(b))), symmetric=True, threads=True)
    assert np.array_equal(pairwise(A, similarity=one, **settings), X @ X.T)
    assert np.array_equal(pairwise(A, B, one, **settings), X @ X[:5].T)


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

    pairwise(list(range(N)), similarity=Measure(f, symmetric=symmetric, threads=True), block_size=block_size, n_jobs=n_jobs)
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
    seen = set()
    in_threads = Measure(lambda a, b: time.sleep(0.001) or seen.add(threading.get_ident()) or 0.0, threads=True)
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

    with pytest.warns(UserWarning, match=r"similarity: locked .*cannot be sent to other processes .*n_jobs=2 is ign") as w:
        S = pairwise([1, 2, 3], similarity=locked, n_jobs=2, block_size=1)
    assert w[0].filename == __file__
    assert np.array_equal(S, np.outer([1, 2, 3], [1, 2, 3]))


def test_results_wait_in_rounds_of_limited_size(monkeypatch):
    """No more blocks are begun than may wait for a slow reader."""
    begun, written = [], []
    task = blocks.Task(lambda a, b: 1.0, "one", False, False)
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
    with pytest.raises(ValueError, match=r"block_size must be None or a whole number"):
        pairwise([1, 2], similarity=lambda a, b: 1.0, block_size=bad)


@pytest.mark.parametrize("bad", [0, 1.5, "2", True])
def test_a_number_of_workers_that_is_none(bad):
    with pytest.raises(ValueError, match=r"n_jobs must be None or a whole number other than 0"):
        pairwise([1, 2], similarity=lambda a, b: 1.0, n_jobs=bad)


@pytest.mark.parametrize("bad", ["abc", b"abc", 3, {1: 2}, {1, 2}, iter([1]), np.array(3)], ids=lambda b: type(b).__name__)
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


@pytest.mark.parametrize("how", SAID)
@pytest.mark.parametrize("kind", ["callable", "batch"])
@pytest.mark.parametrize("workers", ["one", "threads", "processes"])
def test_failures_are_named_by_positions_in_the_whole(how, kind, workers):
    function = partial(failing if kind == "callable" else failing_batch, how)
    similarity = Measure(function, name="f", batch=kind == "batch", threads=workers == "threads")
    said = SAID[how]
    if "complex" in how and kind == "batch":
        said = "gave a complex value for objects 11 and 7;"
    for block_size in (5, None):
        with pytest.raises(ValueError, match=f"similarity: f {said}|similarity: f failed on {said}") as caught:
            pairwise(range(N), range(10, N), similarity, block_size=block_size, n_jobs=1 if workers == "one" else 2)
    if how == "raises":
        assert isinstance(caught.value.__cause__, KeyError)
        if workers == "processes":
            assert "in failing" in caught.value.__cause__.__notes__[0]


def test_a_wrong_shape_is_named_by_ranges():
    def f(A, B):
        return np.ones((len(A), len(B)) if A[0] < 5 else (2, 2))

    with pytest.raises(ValueError, match=r"f returned shape \(2, 2\) for batches of 5 and 4 .*objects 5 to 9 and 0 to 3"):
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


def test_what_was_under_way_is_kept_when_another_block_fails(tmp_path):
    calls = []

    def f(a, b):
        calls.append((a, b))
        time.sleep(0.002)
        return np.nan if (a, b) == (3, 3) else float(a * b)

    settings = {"out": tmp_path / "S.npy", "block_size": 1, "n_jobs": 2}
    with pytest.raises(ValueError, match="objects 3 and 3"):
        pairwise(range(10), similarity=Measure(f, threads=True), **settings)
    before = len(calls)
    assert before < 70
    S = pairwise(range(10), similarity=Measure(lambda a, b: calls.append((a, b)) or float(a * b), threads=True, name=""), **{
        **settings, "n_jobs": 1
    }) if False else None
    del S
    mended = Measure(f.__class__(f.__code__.replace(co_consts=f.__code__.co_consts), f.__globals__, "f", None, f.__closure__))
    assert mended.function.__name__ == "f"
