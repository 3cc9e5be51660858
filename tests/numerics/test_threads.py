"""Row blocks over threads."""

import os
import threading
from unittest import mock

import pytest
from hypothesis import given
from hypothesis import strategies as st
from joblib import Parallel, delayed
from threadpoolctl import threadpool_info, threadpool_limits

from similitude._utils import threads
from similitude._utils.threads import over_row_blocks, thread_count


@pytest.fixture
def four_cores(monkeypatch):
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1, 2, 3}, raising=False)


def test_as_many_threads_as_cores(four_cores):
    assert thread_count() == 4


def test_the_environment_lowers_it(four_cores, monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "2")
    monkeypatch.setenv("NUMBA_NUM_THREADS", "1")  # which is for numba only
    assert thread_count() == 2


@pytest.mark.parametrize("value", ["64", "", "0", "many", "-1"])
def test_the_environment_never_raises_it_and_nonsense_is_ignored(four_cores, monkeypatch, value):
    monkeypatch.setenv("OMP_NUM_THREADS", value)
    assert thread_count() == 4


def test_systems_without_affinity(four_cores, monkeypatch):
    monkeypatch.delattr(os, "sched_getaffinity", raising=False)
    monkeypatch.setattr(os, "cpu_count", lambda: 3)
    assert thread_count() == 3
    monkeypatch.setattr(os, "cpu_count", lambda: None)
    assert thread_count() == 1


def test_one_inside_a_worker_of_threads(four_cores):
    assert Parallel(2, backend="threading")(delayed(thread_count)() for _ in range(2)) == [1, 1]


def test_one_inside_a_worker_process():
    def count():
        # A worker with four cores and no limits set; all is put back, since workers are used again.
        with (
            mock.patch.dict(os.environ),
            mock.patch.object(os, "sched_getaffinity", create=True, return_value={0, 1, 2, 3}),
        ):
            os.environ.pop("OMP_NUM_THREADS", None)
            return thread_count()

    assert count() == 4
    assert Parallel(2, backend="loky")(delayed(count)() for _ in range(2)) == [1, 1]


def blocks_of(n_rows, block):
    seen, lock = [], threading.Lock()

    def work(start, stop):
        with lock:
            seen.append((start, stop))

    over_row_blocks(work, n_rows, block)
    return sorted(seen)


@given(st.integers(0, 40), st.integers(1, 50), st.integers(1, 4))
def test_every_row_is_done_once_in_blocks_of_at_most_that_size(n_rows, block, cores):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(threads, "thread_count", lambda: cores)
        seen = blocks_of(n_rows, block)
    assert [row for start, stop in seen for row in range(start, stop)] == list(range(n_rows))
    assert all(0 < stop - start <= block for start, stop in seen)


def test_a_block_of_nothing_still_does_every_row():
    seen = blocks_of(3, 0)
    assert [row for start, stop in seen for row in range(start, stop)] == [0, 1, 2]


def test_several_blocks_run_in_several_threads(monkeypatch):
    monkeypatch.setattr(threads, "thread_count", lambda: 2)
    meet = threading.Barrier(2, timeout=10)
    over_row_blocks(lambda start, stop: meet.wait(), 2, 1)


@pytest.mark.parametrize(("cores", "block"), [(4, 100), (1, 1)], ids=["one block", "one core"])
def test_no_thread_is_started_without_need(monkeypatch, cores, block):
    monkeypatch.setattr(threads, "thread_count", lambda: cores)
    where = []
    over_row_blocks(lambda start, stop: where.append(threading.current_thread()), 3, block)
    assert set(where) == {threading.main_thread()}


@pytest.mark.parametrize("cores", [1, 3])
def test_errors_come_through(monkeypatch, cores):
    monkeypatch.setattr(threads, "thread_count", lambda: cores)

    def work(start, stop):
        if start == 2:
            raise ZeroDivisionError("in a block")

    with pytest.raises(ZeroDivisionError, match="in a block"):
        over_row_blocks(work, 4, 1)


def test_blas_has_one_thread_in_each_of_ours(four_cores):
    seen = []
    over_row_blocks(lambda start, stop: seen.extend(lib["num_threads"] for lib in _blas()), 8, 1)
    assert set(seen) == {1}


def test_one_blas_thread_ends_with_its_block():
    before = [lib["num_threads"] for lib in _blas()]
    with threads.one_blas_thread(), threads.one_blas_thread():
        assert {lib["num_threads"] for lib in _blas()} == {1}
    assert [lib["num_threads"] for lib in _blas()] == before


def test_the_last_user_of_one_blas_thread_lifts_it():
    entered, may_leave = threading.Event(), threading.Event()

    def hold():
        with threads.one_blas_thread():
            entered.set()
            may_leave.wait(10)

    with threadpool_limits(2, user_api="blas"):  # whatever the environment says
        before = [lib["num_threads"] for lib in _blas()]
        thread = threading.Thread(target=hold)
        with threads.one_blas_thread():
            thread.start()
            entered.wait(10)
        assert {lib["num_threads"] for lib in _blas()} == {1}
        may_leave.set()
        thread.join()
        assert [lib["num_threads"] for lib in _blas()] == before


def test_other_threads_can_limit_blas_afterwards():
    seen = []

    def limited():
        with threadpool_limits(3, user_api="blas"):
            seen.extend(lib["num_threads"] for lib in _blas())

    with threads.one_blas_thread():
        pass
    thread = threading.Thread(target=limited)
    thread.start()
    thread.join()
    with threadpool_limits(3, user_api="blas"):
        assert seen == [lib["num_threads"] for lib in _blas()]


def test_an_interrupt_that_a_kernel_wrapped_is_an_interrupt():
    def work(start, stop):
        raise SystemError("returned a result with an exception set") from KeyboardInterrupt()

    with pytest.raises(KeyboardInterrupt):
        over_row_blocks(work, 1, 1)


def _blas():
    return [lib for lib in threadpool_info() if lib["user_api"] == "blas"]
