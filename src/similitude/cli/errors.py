"""The end of a command if there is an error in the user's input."""

from __future__ import annotations

import errno
import functools
import os
import signal
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import typer

from similitude.auto.race import is_finishing
from similitude_command import limit_text, memory_limits

BAD_INPUT = 2
INTERRUPTED = 130
_BROKEN_PIPE = 141
_TERMINATED = 143
_GRACE = 3
"""The seconds in which a command that gets SIGTERM can remove what it has not finished."""
_NEAR = 2**26
"""The bytes below a limit of memory at which errors are ascribed to it: a buffer of OpenBLAS has half as many."""


@dataclass
class _Signals:
    """The signals that the command got, and how many of them it went on after."""

    came: list[int] = field(default_factory=list)
    handled: int = 0


_signals = _Signals()


def reports_errors(command: Callable[..., None]) -> Callable[..., None]:
    """Return the command with invalid files and arguments reported in one line on stderr instead of a traceback.

    For these the library raises ValueError, OSError, and ImportError for an extra that is not installed. If there is
    not enough memory, the line says for what. Any other error is a bug and shows its traceback.
    """

    @functools.wraps(command)
    def wrapped(*args: Any, **kwargs: Any) -> None:
        try:
            with _quiet_signals():
                command(*args, **kwargs)
                if sys.stdout is not None:  # it is None if the calling program closed it
                    sys.stdout.flush()
        except BrokenPipeError:
            # The program that read the output has ended.
            drop_output()
            raise typer.Exit(_BROKEN_PIPE) from None
        except Exception as error:
            message = _message(error)
            if message is None:
                raise
            typer.echo(f"similitude: {message}", err=True)
            raise typer.Exit(BAD_INPUT) from None

    return wrapped


def _message(error: Exception) -> str | None:
    """Return the line for an error that the user can do something about, or None for a bug."""
    if isinstance(error, BrokenProcessPool):
        return (
            "a worker process ended before its work was done; the usual reason is a lack of memory, of which each "
            "worker needs its own. Use --n-jobs 1, or more memory."
            + (f" Note that {limit_text()}." if limit_text() else "")
        )
    if _lacks_memory(error):
        return _too_large(error)
    # An ImportError of Python has the name of a module; one of the library names the extra to install.
    if isinstance(error, (ValueError, OSError, ImportError)) and getattr(error, "name", None) is None:
        return one_line(error)
    return None


def _lacks_memory(error: Exception) -> bool:
    """Return whether an error is due to a lack of memory, which libraries report in many ways."""
    text = str(error)
    return (
        isinstance(error, MemoryError)
        or (isinstance(error, OSError) and error.errno == errno.ENOMEM)
        or (isinstance(error, ImportError) and "failed to map segment" in text)
        or (isinstance(error, RuntimeError) and "can't start new thread" in text)
        or (not isinstance(error, ValueError) and _at_the_limit())
    )


def _at_the_limit() -> bool:
    """Return whether this process has come near a limit of its memory."""
    limit = memory_limits().get("ulimit -v")
    status = Path("/proc/self/status")
    if limit is None or not status.exists():
        return False
    peak = next(line for line in status.read_text().splitlines() if line.startswith("VmPeak:"))
    return int(peak.split()[1]) * 1024 > limit - _NEAR


@contextmanager
def _quiet_signals() -> Iterator[None]:
    """Turn Ctrl-C and SIGTERM within the block into exit codes, whichever exception they surface as.

    KeyboardInterrupt may be raised in a callback of compiled code, and then becomes a SystemError or another exception.
    """
    _signals.came, _signals.handled = [], 0

    def interrupt(number: int, _: Any) -> None:
        _signals.came.append(number)
        if _signals.came == [signal.SIGINT] and is_finishing():
            _signals.handled = 1
            typer.echo("similitude: fitting the chosen methods; a second interrupt ends the command.", err=True)
            return
        # A first interrupt can be caught, to go on with what there is.
        raise KeyboardInterrupt if _signals.came == [signal.SIGINT] else SystemExit(INTERRUPTED)

    # Signals belong to the main thread, and one that is ignored (nohup) stays ignored.
    handled = [signal.SIGINT, signal.SIGTERM] if threading.current_thread() is threading.main_thread() else []
    handled = [number for number in handled if signal.getsignal(number) not in (signal.SIG_IGN, None)]
    before: dict[int, Any] = {number: signal.signal(number, interrupt) for number in handled}
    try:
        yield
    except BaseException as error:
        if signal.SIGTERM in _signals.came:
            typer.echo(_TERMINATED_TEXT, err=True)
            raise typer.Exit(_TERMINATED) from None
        if len(_signals.came) > _signals.handled or isinstance(error, KeyboardInterrupt):
            raise typer.Exit(INTERRUPTED) from None
        raise
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def fit_until_interrupted(auto: Any, X: Any, y: Any, **arguments: Any) -> None:
    """Fit an AutoClassifier without its warnings; a first interrupt stops the choice, and a line says so.

    The line is printed even with ``--quiet``, because the command does not end as one that was interrupted does.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        auto.fit(X, y, **arguments)
    found = auto.budget_report_
    if not found.interrupted:
        return
    _signals.handled = len(_signals.came)  # errors that come later are not ascribed to the interrupt
    n_methods = "1 method that was" if len(found.complete) == 1 else f"{len(found.complete)} methods that were"
    typer.echo(f"similitude: interrupted: the choice is among the {n_methods} evaluated before.", err=True)


_TERMINATED_TEXT = "similitude: terminated by the signal SIGTERM before the end; no result was written."


def end_when_terminated() -> None:
    """Let SIGTERM end this process a few seconds later, if compiled code does not return before.

    Python calls the handler of a signal when compiled code returns, but writes the number of the signal at once.
    """
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    signal.set_wakeup_fd(writing, warn_on_full_buffer=False)

    def watch() -> None:
        while os.read(reading, 1) != bytes([signal.SIGTERM]):
            pass
        time.sleep(_GRACE)
        print(_TERMINATED_TEXT, file=sys.stderr, flush=True)
        os._exit(_TERMINATED)

    threading.Thread(target=watch, daemon=True).start()


def _too_large(error: Exception) -> str:
    """Return the message for a lack of memory: NumPy's error names the size of the array that was too large."""
    reason = " ".join(str(error).split()).rstrip(".") or "the matrices of these samples are too large"
    reason = "; ".join(part for part in (reason, limit_text()) if part)
    return (
        f"there is not enough memory: {reason}. Use fewer samples, a .npy file of float32 values, which stays on disk "
        "where possible, a sparse matrix, or, on raw objects, a method that does not need the whole matrix "
        "(LandmarkClassifier, search='stream' in Python)."
    )


def drop_output() -> None:
    """Discard the output that is still buffered, because writing it at exit would fail again."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)


def one_line(error: Exception) -> str:
    """Return the message of an error as one line."""
    if isinstance(error, OSError) and error.filename is not None and error.strerror:
        return f"{error.filename}: {error.strerror}"
    if isinstance(error, OSError) and error.strerror:
        return error.strerror  # without the number of the error
    return " ".join(str(error).split()) or type(error).__name__
