"""The end of a command if there is an error in the user's input."""

from __future__ import annotations

import functools
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import typer

BAD_INPUT = 2
INTERRUPTED = 130
_BROKEN_PIPE = 141


def reports_errors(command: Callable[..., None]) -> Callable[..., None]:
    """Return the command with invalid files and arguments reported in one line on stderr instead of a traceback.

    For these the library raises ValueError, OSError, and ImportError for an extra that is not installed. If there is
    not enough memory, the line says for what. Any other error is a bug and shows its traceback.
    """

    @functools.wraps(command)
    def wrapped(*args: Any, **kwargs: Any) -> None:
        try:
            with _quiet_interrupt():
                command(*args, **kwargs)
                if sys.stdout is not None:  # it is None if the calling program closed it
                    sys.stdout.flush()
        except BrokenPipeError:
            # The program that read the output has ended.
            drop_output()
            raise typer.Exit(_BROKEN_PIPE) from None
        except (ValueError, OSError, ImportError) as error:
            # An ImportError of Python has the name of a module; one of the library names the extra to install.
            if getattr(error, "name", None) is not None:
                raise
            typer.echo(f"similitude: {one_line(error)}", err=True)
            raise typer.Exit(BAD_INPUT) from None
        except MemoryError as error:
            typer.echo(f"similitude: {_too_large(error)}", err=True)
            raise typer.Exit(BAD_INPUT) from None

    return wrapped


@contextmanager
def _quiet_interrupt() -> Iterator[None]:
    """Turn Ctrl-C within the block into the exit code 130, whichever exception it surfaces as.

    KeyboardInterrupt may be raised in a callback of compiled code, and then becomes a SystemError or another exception.
    """
    came = []

    def interrupt(*_: Any) -> None:
        came.append(True)
        raise KeyboardInterrupt

    # Signals belong to the main thread, and one that is ignored (nohup) stays ignored.
    handles = threading.current_thread() is threading.main_thread() and signal.getsignal(signal.SIGINT) not in (
        signal.SIG_IGN,
        None,
    )
    before: Any = signal.signal(signal.SIGINT, interrupt) if handles else None
    try:
        yield
    except KeyboardInterrupt:
        raise typer.Exit(INTERRUPTED) from None
    except BaseException:
        if came:
            raise typer.Exit(INTERRUPTED) from None
        raise
    finally:
        if handles:
            signal.signal(signal.SIGINT, before)


def _too_large(error: MemoryError) -> str:
    """Return the message for a lack of memory: NumPy's error names the size of the array that was too large."""
    reason = " ".join(str(error).split()).rstrip(".") or "the matrices of these samples are too large"
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
    return " ".join(str(error).split()) or type(error).__name__
