"""Progress on stderr: bars drawn with rich on a terminal, and plain lines elsewhere."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from rich.progress import Task

T = TypeVar("T")

SECONDS_BETWEEN_LINES = 10.0

_clock = time.monotonic


def progress(items: Iterable[T], total: int, description: str, enabled: bool = True) -> Iterator[T]:
    """Yield the items, and show on stderr how many are done and the time left; a bar also has the rate."""
    with ProgressBars({description: total}, enabled=enabled, rate=True) as bars:
        for item in items:
            yield item
            bars.advance(description)


@contextmanager
def working(description: str, enabled: bool = True) -> Iterator[None]:
    """Return a context manager that shows on stderr what is done, and for how long, while no steps can be counted."""
    if not enabled or sys.stderr is None:
        yield
    elif sys.stderr.isatty():
        from rich.console import Console

        with Console(stderr=True).status(description):
            yield
    else:
        lines = _Lines({description: 0}, {})
        try:
            yield
        finally:
            lines.end()


class ProgressBars:
    """Show the number of finished steps, the time left and a note for each of several tasks on stderr.

    On a terminal there is a bar for each task. Elsewhere a line on the task at work is printed about every ten seconds;
    nothing is printed for work that takes less time than that.
    """

    def __init__(
        self, totals: Mapping[str, int], done: Mapping[str, int] | None = None, enabled: bool = True, rate: bool = False
    ):
        self._totals, self._done = dict(totals), dict(done or {})
        self._enabled, self._rate = enabled and sys.stderr is not None, rate
        self._bar: Any = None
        self._tasks: dict[str, Any] = {}
        self._lines: _Lines | None = None

    def __enter__(self) -> ProgressBars:
        if self._enabled and sys.stderr.isatty():
            from rich.markup import escape

            self._bar = _bars(self._rate)
            self._bar.start()
            for name, total in self._totals.items():
                already = self._done.get(name, 0)
                self._tasks[name] = self._bar.add_task(escape(name), total=total, completed=already, note="", left=None)
        elif self._enabled:
            self._lines = _Lines(self._totals, self._done)
        return self

    def __exit__(self, *reason: Any) -> None:
        if self._bar is not None:
            self._bar.stop()
        if self._lines is not None:
            self._lines.end()

    def advance(self, name: str, note: str = "", steps: int = 1) -> None:
        """Count more steps of the task ``name`` as done; a note that is not empty replaces the one before."""
        changes = {"note": note} if note else {}
        self._update(name, advance=steps, **changes)

    def note(self, name: str, text: str) -> None:
        """Replace the note of the task ``name``; no step is counted."""
        self._update(name, note=text)

    def left(self, name: str, seconds: float) -> None:
        """Set the time that the task ``name`` is expected to take from now on, in place of that of its steps."""
        self._update(name, left=seconds)

    def total(self, name: str, n: int) -> None:
        """Change the number of steps of the task ``name``, those that are done included."""
        self._update(name, total=n)

    def _update(self, name: str, **changes: Any) -> None:
        if self._bar is not None:
            left = changes.pop("left", None)
            if left is not None:
                changes["left"] = _clock() + left
            self._bar.update(self._tasks[name], **changes)
        elif self._lines is not None:
            self._lines.update(name, **changes)


@dataclass
class _Task:
    """The state of one task; ``steps`` were counted here and took ``seconds``, others were done before."""

    total: int
    done: int
    note: str = ""
    steps: int = 0
    seconds: float = 0.0
    end: float | None = None


class _Lines:
    """Print lines on the progress of tasks on stderr, for where bars cannot be drawn."""

    def __init__(self, totals: Mapping[str, int], done: Mapping[str, int]):
        self._stream = sys.stderr
        self._tasks = {name: _Task(total, done.get(name, 0)) for name, total in totals.items()}
        self._current = next(iter(self._tasks), "")
        self._start = self._last_line = self._last_step = _clock()
        self._lock, self._ended = threading.Lock(), threading.Event()
        # A step may take long: the thread prints lines in the meantime.
        threading.Thread(target=self._tick, daemon=True).start()

    def _tick(self) -> None:
        while not self._ended.wait(SECONDS_BETWEEN_LINES):
            self._print_if_due()

    def end(self) -> None:
        """Print no further lines."""
        self._ended.set()

    def update(
        self,
        name: str,
        *,
        advance: int = 0,
        note: str | None = None,
        total: int | None = None,
        left: float | None = None,
    ) -> None:
        """Change a task, and print a line if the last one is old enough."""
        with self._lock:
            task, now = self._tasks[name], _clock()
            self._current = name
            if total is not None:
                task.total = total
            if note is not None:
                task.note = note
            if left is not None:
                task.end = now + left
            if advance:
                task.done += advance
                task.steps += advance
                # The time since the last step of any task, so that tasks can be done in turn.
                task.seconds += now - self._last_step
                self._last_step = now
        if advance or note is not None:
            self._print_if_due()

    def _print_if_due(self) -> None:
        with self._lock:
            now = _clock()
            if self._tasks and now - self._last_line >= SECONDS_BETWEEN_LINES:
                self._last_line = now
                print(self._line(self._current, self._tasks[self._current], now), file=self._stream, flush=True)

    def _line(self, name: str, task: _Task, now: float) -> str:
        if not task.total:
            return f"{name}: {_duration(now - self._start)}"
        line = f"{name}: {task.done} of {task.total}"
        left = None
        if task.end is not None:
            left = task.end - now
        elif task.steps and task.done < task.total:
            each = task.seconds / task.steps
            left = each * (task.total - task.done) - min(each, now - self._last_step)
        if left is not None:
            line += f", about {_duration(left)} left"
        elif task.done < task.total:
            line += f" after {_duration(now - self._start)}"
        return f"{line}; {task.note}" if task.note else line


def _duration(seconds: float) -> str:
    if seconds < 90:
        return f"{max(seconds, 1):.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 90 * 60 else f"{seconds / 3600:.1f} h"


def _bars(rate: bool) -> Any:
    """Return a rich progress display, perhaps with the number of steps per second, that disappears at the end."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, ProgressColumn, TextColumn, TimeRemainingColumn
    from rich.text import Text

    class Rate(ProgressColumn):
        def render(self, task: Task) -> Text:
            return Text("" if task.speed is None else f"{task.speed:.3g}/s", style="progress.data.speed")

    class Left(TimeRemainingColumn):
        def render(self, task: Task) -> Text:
            end = task.fields["left"]
            return super().render(task) if end is None else Text(f"about {_duration(end - _clock())} left")

    first = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), *([Rate()] if rate else []))
    last = (Left(), TextColumn("{task.fields[note]}", markup=False))
    return Progress(*first, *last, console=Console(stderr=True), transient=True)
