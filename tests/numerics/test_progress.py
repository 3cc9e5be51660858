"""Progress: bars on a terminal, a line every ten seconds elsewhere."""

import importlib
import io
import os
import sys
import threading
import time
from contextlib import contextmanager, nullcontext

import numpy as np
import pytest
from sklearn.base import clone

from similitude import AutoClassifier, KNNClassifier, PathSearchCV
from similitude._utils.progress import SECONDS_BETWEEN_LINES, ProgressBars, progress, working

pty = pytest.importorskip("pty")

ERASE_LINE, HIDE_CURSOR, SHOW_CURSOR = "\x1b[2K", "\x1b[?25l", "\x1b[?25h"


@contextmanager
def terminal(drawn):
    """A pseudo-terminal as stderr; what is drawn on it is appended to the list."""
    outside, inside = pty.openpty()

    def listen():
        # Reading fails when the other end is gone.
        try:
            while part := os.read(outside, 4096):
                drawn.append(part.decode(errors="replace"))
        except OSError:
            pass

    listener = threading.Thread(target=listen, daemon=True)
    listener.start()
    with pytest.MonkeyPatch.context() as patch:
        for variable in ("NO_COLOR", "FORCE_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE"):
            patch.delenv(variable, raising=False)
        patch.setenv("TERM", "xterm-256color")
        patch.setenv("COLUMNS", "100")
        with os.fdopen(inside, "w", encoding="utf-8") as stream:
            patch.setattr(sys, "stderr", stream)
            yield
    listener.join(5)
    os.close(outside)


class Clock:
    """A clock that tests put forward; with ``step`` it also goes that much forward whenever it is read."""

    def __init__(self):
        self.now, self.step = 1000.0, 0.0

    def __call__(self):
        self.now += self.step
        return self.now


@pytest.fixture
def clock(monkeypatch):
    clock = Clock()
    # The module by its name: in the room, ``progress`` is the function.
    monkeypatch.setattr(importlib.import_module("similitude._utils.progress"), "_clock", clock)
    return clock


@pytest.fixture
def lines(capsys):
    """A function that returns the lines printed on stderr since the last call; stdout stays empty."""

    def printed():
        captured = capsys.readouterr()
        assert captured.out == ""
        return captured.err.splitlines()

    return printed


def test_a_bar_is_drawn_on_a_terminal(capfd):
    drawn = []
    with terminal(drawn):
        assert list(progress(iter(range(7)), 7, "Filling rows")) == list(range(7))
    drawn = "".join(drawn)
    assert "Filling rows" in drawn
    assert "7/7" in drawn
    assert "━" in drawn
    assert capfd.readouterr().out == ""


def test_the_bar_is_removed_at_the_end():
    drawn = []
    with terminal(drawn):
        list(progress([1, 2], 2, "Working"))
    drawn = "".join(drawn)
    assert drawn.rindex(ERASE_LINE) > drawn.rindex("Working")
    assert drawn.rindex(SHOW_CURSOR) > drawn.rindex(HIDE_CURSOR)


def test_it_can_be_switched_off():
    drawn = []
    with terminal(drawn):
        assert sys.stderr.isatty()
        assert list(progress([1, 2], 2, "Working", enabled=False)) == [1, 2]
    assert drawn == []


def test_the_cursor_comes_back_after_an_error():
    def items():
        yield 1
        raise KeyError("in the middle")

    drawn = []
    with terminal(drawn), pytest.raises(KeyError, match="in the middle"):
        list(progress(items(), 2, "Working"))
    assert SHOW_CURSOR in "".join(drawn)


def test_the_cursor_comes_back_when_nobody_wants_more():
    drawn = []
    with terminal(drawn):
        bar = progress([1, 2, 3], 3, "Working")
        assert next(bar) == 1
        bar.close()
    assert SHOW_CURSOR in "".join(drawn)


@pytest.mark.parametrize("on_terminal", [True, False])
def test_items_are_asked_for_one_by_one(on_terminal):
    asked = []

    def items():
        for i in range(3):
            asked.append(i)
            yield i

    with terminal([]) if on_terminal else nullcontext():
        for i in progress(items(), 3, "Working"):
            assert asked == list(range(i + 1))
    assert asked == [0, 1, 2]


def test_no_items():
    with terminal([]):
        assert list(progress([], 0, "Working")) == []


def test_programs_without_a_stderr(monkeypatch, clock, lines):
    monkeypatch.setattr(sys, "stderr", None)
    clock.step = 20.0
    assert list(progress([1, 2], 2, "Working")) == [1, 2]
    with ProgressBars({"folds": 1}) as bars:
        bars.advance("folds", note="last")
    assert lines() == []


def test_lines_come_every_ten_seconds(clock, lines):
    seen = []
    for i in progress(range(9), 9, "rows"):
        seen.append(lines())
        assert i == len(seen) - 1
        clock.now += 4
    seen.append(lines())
    printed = {i: found for i, found in enumerate(seen) if found}
    assert printed == {
        3: ["rows: 3 of 9, about 24 s left"],
        6: ["rows: 6 of 9, about 12 s left"],
        9: ["rows: 9 of 9"],
    }


def test_work_of_less_than_ten_seconds_prints_nothing(clock, lines):
    assert SECONDS_BETWEEN_LINES == 10
    for _ in progress(range(3), 3, "rows"):
        clock.now += 3.3
    with ProgressBars({"folds": 3}) as bars:
        for _ in range(3):
            clock.now += 3.3
            bars.note("folds", "SVM (clip)")
            bars.advance("folds")
    assert lines() == []


def test_lines_can_be_switched_off(clock, lines):
    for _ in progress(range(3), 3, "rows", enabled=False):
        clock.now += 30
    with ProgressBars({"folds": 3}, enabled=False) as bars:
        clock.now += 30
        bars.note("folds", "SVM (clip)")
        bars.advance("folds")
        bars.total("folds", 2)
    assert lines() == []


def test_a_line_has_the_note_and_a_note_is_no_step(clock, lines):
    with ProgressBars({"folds": 30}) as bars:
        clock.now += 10
        bars.note("folds", "SVM (clip)")
        assert lines() == ["folds: 0 of 30 after 10 s; SVM (clip)"]
        clock.now += 10
        bars.advance("folds", note="SVM (clip); best so far KRI k-NN 4.2%", steps=10)
        assert lines() == ["folds: 10 of 30, about 40 s left; SVM (clip); best so far KRI k-NN 4.2%"]
        clock.now += 10
        bars.advance("folds", steps=2)
        assert lines() == ["folds: 12 of 30, about 45 s left; SVM (clip); best so far KRI k-NN 4.2%"]
        clock.now += 10
        bars.note("folds", "")
        assert [line.partition(",")[0] for line in lines()] == ["folds: 12 of 30"]


def test_the_time_of_an_unfinished_step_is_not_counted_twice(clock, lines):
    with ProgressBars({"folds": 3}) as bars:
        clock.now += 20
        bars.advance("folds")
        assert lines() == ["folds: 1 of 3, about 40 s left"]
        for passed, left in ((15, 25), (30, 20)):  # of the second step, which takes longer than the first
            clock.now += 15
            bars.note("folds", f"{passed} s")
            assert lines() == [f"folds: 1 of 3, about {left} s left; {passed} s"]


def test_a_total_may_change(clock, lines):
    with ProgressBars({"folds": 30}) as bars:
        clock.now += 10
        bars.total("folds", 12)
        assert lines() == []
        bars.advance("folds", steps=10)
        assert lines() == ["folds: 10 of 12, about 2 s left"]
        bars.total("folds", 10)
        clock.now += 10
        bars.note("folds", "refit")
        assert lines() == ["folds: 10 of 10; refit"]


def test_each_task_has_its_own_count_and_time(clock, lines):
    with ProgressBars({"small": 2, "large": 8}, done={"large": 4}) as bars:
        for _ in range(2):
            clock.now += 1
            bars.advance("small", note="done")
        clock.now += 15
        bars.advance("large")
        assert lines() == ["large: 5 of 8, about 45 s left"]


@pytest.mark.parametrize(
    ("seconds", "text"), [(0.01, "1 s"), (89, "89 s"), (90, "2 min"), (5000, "83 min"), (5400, "1.5 h")]
)
def test_durations(seconds, text, clock, lines):
    with ProgressBars({"folds": 10001}) as bars:
        clock.now += seconds * 10000
        bars.advance("folds", steps=10000)
    assert lines() == [f"folds: 10000 of 10001, about {text} left"]


def test_bars_on_a_terminal_show_notes_and_totals(clock):
    drawn = []
    with terminal(drawn), ProgressBars({"folds": 5, "[sets]": 2}) as bars:
        clock.now += 100
        bars.note("folds", "at work: [SVM]")
        bars.total("folds", 3)
        bars.advance("folds", steps=2)
        bars.advance("folds")
        bars.advance("[sets]", note="best so far")
    drawn = "".join(drawn)
    for text in ("at work: [SVM]", "3/3", "[sets]", "1/2", "best so far"):
        assert text in drawn
    assert "of 3" not in drawn
    assert drawn.rindex(ERASE_LINE) > drawn.rindex("folds")


SEARCHES = {
    "folds: 3 of 3": PathSearchCV(KNNClassifier(), {"n_neighbors": [1, 3]}, cv=3),
    "methods: 1 of 1": AutoClassifier(["k-NN"], cv=3, n_repeats=1),
}


@pytest.mark.parametrize("verbose", [0, 1])
@pytest.mark.parametrize("last", SEARCHES)
def test_searches_print_lines_only_if_they_are_asked_to(last, verbose, clock, lines):
    clock.step = 20.0
    X = np.random.default_rng(0).normal(size=(30, 2))
    clone(SEARCHES[last]).set_params(verbose=verbose).fit(X @ X.T, np.arange(30) % 2)
    assert any(line.startswith(last) for line in lines()) == bool(verbose)


@pytest.mark.parametrize("counted", [True, False])
def test_lines_are_printed_while_a_step_takes_long(counted, monkeypatch):
    module = importlib.import_module("similitude._utils.progress")
    monkeypatch.setattr(module, "SECONDS_BETWEEN_LINES", 0.01)
    monkeypatch.setattr(module, "_clock", time.monotonic)
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    with ProgressBars({"folds": 2}) if counted else working("reading"):
        for _ in range(500):
            if "\n" in sys.stderr.getvalue():
                break
            time.sleep(0.01)
    assert sys.stderr.getvalue().startswith("folds: 0 of 2 after 1 s\n" if counted else "reading: 1 s\n")


def test_a_stated_time_replaces_that_of_the_steps(clock, lines):
    with ProgressBars({"methods": 4}) as bars:
        clock.now += 30.0
        bars.advance("methods")
        bars.left("methods", 20.0)
        clock.now += 12.0
        bars.note("methods", "k-NN")
    assert lines() == ["methods: 1 of 4, about 2 min left", "methods: 1 of 4, about 8 s left; k-NN"]
