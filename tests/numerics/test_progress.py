"""The progress bar: on a terminal only."""

import os
import sys
import threading
from contextlib import contextmanager, nullcontext

import pytest

from similitude._utils.progress import progress

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


def test_nothing_is_printed_where_there_is_no_terminal(capfd):
    assert list(progress(iter("abc"), 3, "Working")) == ["a", "b", "c"]
    captured = capfd.readouterr()
    assert captured.out == captured.err == ""


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


def test_programs_without_a_stderr(monkeypatch):
    monkeypatch.setattr(sys, "stderr", None)
    assert list(progress([1, 2], 2, "Working")) == [1, 2]
