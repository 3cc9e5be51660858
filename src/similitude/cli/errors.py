"""How commands end when something is wrong with what the user gave."""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Callable
from typing import Any

import typer

BAD_INPUT = 2
INTERRUPTED = 130
_BROKEN_PIPE = 141


def reports_errors(command: Callable[..., None]) -> Callable[..., None]:
    """Return the command, with bad files and arguments reported in one line on stderr instead of a traceback.

    Those are what the library raises for them: ValueError, OSError, and ImportError for an extra that is not
    installed. Anything else is a bug and shows its traceback.
    """

    @functools.wraps(command)
    def wrapped(*args: Any, **kwargs: Any) -> None:
        try:
            command(*args, **kwargs)
            if sys.stdout is not None:  # closed by whoever started the command
                sys.stdout.flush()
        except BrokenPipeError:
            # Whoever read the output has gone.
            drop_output()
            raise typer.Exit(_BROKEN_PIPE) from None
        except KeyboardInterrupt:
            raise typer.Exit(INTERRUPTED) from None
        except (ValueError, OSError, ImportError) as error:
            # Python names the module that it could not import; the library, the extra to install.
            if getattr(error, "name", None) is not None:
                raise
            typer.echo(f"similitude: {one_line(error)}", err=True)
            raise typer.Exit(BAD_INPUT) from None

    return wrapped


def drop_output() -> None:
    """Let nothing be written at exit, where it would fail again."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)


def one_line(error: Exception) -> str:
    """Return the message of an error, however many lines it has."""
    if isinstance(error, OSError) and error.filename is not None and error.strerror:
        return f"{error.filename}: {error.strerror}"
    return " ".join(str(error).split()) or type(error).__name__
