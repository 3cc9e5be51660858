"""The command ``similitude``.

Modules of commands import nothing heavy at the top: what a command needs is imported when it runs.
"""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from similitude.cli.compare import compare_methods
from similitude.cli.errors import INTERRUPTED, reports_errors
from similitude.cli.inspect import inspect_matrix

app = typer.Typer(
    name="similitude",
    help="Classifiers learned from pairwise similarities.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)
app.command("inspect")(reports_errors(inspect_matrix))
app.command("compare")(reports_errors(compare_methods))


def _show_version(wanted: bool) -> None:
    if wanted:
        from similitude import __version__

        typer.echo(f"similitude {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """Classifiers learned from pairwise similarities."""


def main() -> None:
    """Run the command line; the exit code is 0, 2 for bad input, 130 when interrupted."""
    for stream in (sys.stdout, sys.stderr):
        # A label that the terminal's encoding lacks is shown escaped.
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    try:
        app(prog_name="similitude")
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
