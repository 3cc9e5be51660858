"""Progress on stderr: bars drawn with rich on a terminal, and plain lines elsewhere."""

from __future__ import annotations

import sys
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
    """Yield the items, and show on stderr how many are done and the time left.

    On a terminal this is a bar, which also has the rate; elsewhere it is a line about every ten seconds.
    """
    if not enabled or sys.stderr is None:
        yield from items
        return
    if not sys.stderr.isatty():
        lines = _Lines({description: total}, {})
        for item in items:
            yield item
            lines.update(description, advance=1)
        return
    from rich.progress import ProgressColumn, TimeRemainingColumn
    from rich.text import Text

    class Rate(ProgressColumn):
        def render(self, task: Task) -> Text:
            return Text("" if task.speed is None else f"{task.speed:.3g}/s", style="progress.data.speed")

    with _drawn(Rate(), TimeRemainingColumn()) as bar:
        yield from bar.track(items, total=total, description=description)


class ProgressBars:
    """Show the number of finished steps, the time left and a note for each of several tasks on stderr.

    On a terminal there is a bar for each task. Elsewhere a line on the task at work is printed about every ten seconds,
    when a step is finished or a note changes; nothing is printed for work that takes less time than that.
    """

    def __init__(self, totals: Mapping[str, int], done: Mapping[str, int] | None = None, enabled: bool = True):
        self._totals, self._done = dict(totals), dict(done or {})
        self._enabled = enabled
        self._drawing: Any = None
        self._tasks: dict[str, Any] = {}
        self._lines: _Lines | None = None

    def __enter__(self) -> ProgressBars:
        if not self._enabled or sys.stderr is None:
            return self
        if not sys.stderr.isatty():
            self._lines = _Lines(self._totals, self._done)
            return self
        from rich.markup import escape
        from rich.progress import TextColumn, TimeRemainingColumn

        self._drawing = _drawn(TimeRemainingColumn(), TextColumn("{task.fields[note]}", markup=False))
        self._bar = self._drawing.__enter__()
        for name, total in self._totals.items():
            already = self._done.get(name, 0)
            self._tasks[name] = self._bar.add_task(escape(name), total=total, completed=already, note="")
        return self

    def __exit__(self, *reason: Any) -> None:
        if self._drawing is not None:
            self._drawing.__exit__(*reason)

    def advance(self, name: str, note: str = "", steps: int = 1) -> None:
        """Count more steps of the task ``name`` as done; a note that is not empty replaces the one before."""
        changes = {"note": note} if note else {}
        self._update(name, advance=steps, **changes)

    def note(self, name: str, text: str) -> None:
        """Replace the note of the task ``name``; no step is counted."""
        self._update(name, note=text)

    def total(self, name: str, n: int) -> None:
        """Change the number of steps of the task ``name``, those that are done included."""
        self._update(name, total=n)

    def _update(self, name: str, **changes: Any) -> None:
        if self._drawing is not None:
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


class _Lines:
    """Print lines on the progress of tasks on stderr, for where bars cannot be drawn."""

    def __init__(self, totals: Mapping[str, int], done: Mapping[str, int]):
        self._stream = sys.stderr
        self._tasks = {name: _Task(total, done.get(name, 0)) for name, total in totals.items()}
        self._last_line = self._last_step = _clock()

    def update(self, name: str, *, advance: int = 0, note: str | None = None, total: int | None = None) -> None:
        """Change a task, and print a line if a step or a note arrives and the last line is old enough."""
        task, now = self._tasks[name], _clock()
        if total is not None:
            task.total = total
        if note is not None:
            task.note = note
        if advance:
            task.done += advance
            task.steps += advance
            # The time since the last step of any task, so that tasks can be done in turn.
            task.seconds += now - self._last_step
            self._last_step = now
        if (advance or note is not None) and now - self._last_line >= SECONDS_BETWEEN_LINES:
            self._last_line = now
            print(self._line(name, task, now), file=self._stream, flush=True)

    def _line(self, name: str, task: _Task, now: float) -> str:
        line = f"{name}: {task.done} of {task.total}"
        if task.steps and task.done < task.total:
            each = task.seconds / task.steps
            left = each * (task.total - task.done) - min(each, now - self._last_step)
            line += f", about {_duration(left)} left"
        return f"{line}; {task.note}" if task.note else line


def _duration(seconds: float) -> str:
    if seconds < 90:
        return f"{max(seconds, 1):.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 90 * 60 else f"{seconds / 3600:.1f} h"


@contextmanager
def _drawn(*columns: Any) -> Iterator[Any]:
    """Yield a rich progress display that ends with these columns and disappears when the block is left."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    first = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Progress(*first, *columns, console=Console(stderr=True), transient=True) as bar:
        yield bar
