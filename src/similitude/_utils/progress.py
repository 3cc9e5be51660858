"""Progress bars, drawn with rich and shown only on a terminal."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, TypeVar

T = TypeVar("T")


def progress(items: Iterable[T], total: int, description: str, enabled: bool = True) -> Iterator[T]:
    """Yield the items, and show a progress bar with the rate and the time left if stderr is a terminal."""
    if not enabled or not _on_terminal():
        yield from items
        return
    from rich.progress import ProgressColumn, TimeRemainingColumn
    from rich.text import Text

    class Rate(ProgressColumn):
        def render(self, task):
            return Text("" if task.speed is None else f"{task.speed:.3g}/s", style="progress.data.speed")

    with _drawn(Rate(), TimeRemainingColumn()) as bar:
        yield from bar.track(items, total=total, description=description)


class ProgressBars:
    """Show a progress bar with the time left and a note for each of several tasks, if stderr is a terminal.

    Parameters
    ----------
    totals : mapping of str to int
        The number of steps of each task.
    done : mapping of str to int, default=None
        The number of steps of each task that were done before.
    enabled : bool, default=True
        Whether the bars are shown.

    Examples
    --------
    >>> from similitude._utils.progress import ProgressBars
    >>> with ProgressBars({"letters": 2}) as bars:
    ...     for letter in "ab":
    ...         bars.advance("letters", note=f"last: {letter}")
    """

    def __init__(self, totals: Mapping[str, int], done: Mapping[str, int] | None = None, enabled: bool = True):
        self._totals, self._done = dict(totals), dict(done or {})
        self._enabled = enabled
        self._drawing: Any = None
        self._tasks: dict[str, Any] = {}

    def __enter__(self) -> ProgressBars:
        if self._enabled and _on_terminal():
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

    def advance(self, name: str, note: str = "") -> None:
        """Count one more step of the task ``name`` as done, and show the note beside its bar."""
        if self._drawing is not None:
            self._bar.update(self._tasks[name], advance=1, note=note)


def _on_terminal() -> bool:
    return sys.stderr is not None and sys.stderr.isatty()


@contextmanager
def _drawn(*columns: Any) -> Iterator[Any]:
    """Yield a rich progress display that ends with these columns and disappears when the block is left."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    first = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Progress(*first, *columns, console=Console(stderr=True), transient=True) as bar:
        yield bar
