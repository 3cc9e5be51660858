"""The command ``similitude``."""

from __future__ import annotations

import os
import sys
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from similitude._utils.versions import __version__
from similitude.cli.compare import compare_methods
from similitude.cli.convert import convert_file
from similitude.cli.datasets import export_dataset, list_datasets
from similitude.cli.decision import takes_decision
from similitude.cli.errors import BAD_INPUT, INTERRUPTED, drop_output, end_when_terminated, one_line, reports_errors
from similitude.cli.fit import fit_model
from similitude.cli.inspect import inspect_matrix
from similitude.cli.options import NOT_PROXIMITIES, STRUCTURE, takes_source
from similitude.cli.pairwise import fill_matrix
from similitude.cli.predict import predict_rows
from similitude.cli.report import report_matrix

_GROUPS = {
    "Examine": {
        "inspect": "Describe the similarity in a matrix, and give advice.",
        "compare": "Compare the errors of methods by nested cross-validation.",
        "report": "Write one HTML page: diagnosis, figures, methods, errors.",
    },
    "Model": {
        "fit": "Choose a method, fit it, and save the model.",
        "predict": "Predict the labels of new rows with a saved model.",
    },
    "Data": {
        "pairwise": "Compute a matrix from raw objects.",
        "convert": "Write similarities in another form.",
        "datasets": "List the named data sets; `export` writes one to files.",
    },
}

_SESSION = """\
An example session:

  similitude datasets export voting -o voting
  similitude inspect voting/matrix.csv --labels voting/labels.csv --dissimilarity one-minus
  similitude compare --dataset voting --methods k-nn,svm-clip,svm-flip
  similitude fit --dataset voting -o party.model --time-budget 60
  similitude predict party.model voting/objects.csv -o predictions.csv

From hits of BLAST, MMseqs2 or Foldseek to predictions:

  similitude fit hits.m8 --labels families.tsv -o families.model
  similitude predict families.model new-hits.m8 -o predictions.tsv

Files of any common form are read: tables, triangles, condensed vectors, PHYLIP, edge lists, .npy, .npz, .mat, .mtx and
.parquet, each also with .gz; labels from text files, in order or with ids; sequences from FASTA; - is stdin.
Invalid input ends with exit code 2 and one message. `similitude COMMAND --help` lists the options of a command.
"""


class _Grouped(TyperGroup):
    """The help of the command: the commands in groups with one line for each, and an example session at the end."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        for heading, commands in _GROUPS.items():
            with formatter.section(heading):
                formatter.write_dl([(f"{name:<10}", words) for name, words in commands.items()])

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        formatter.write("\n" + _SESSION)


app = typer.Typer(
    name="similitude",
    cls=_Grouped,
    help="Classifiers learned from pairwise similarities.",
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)
app.command("inspect")(reports_errors(takes_source(inspect_matrix, without=("groups", "group_column", *STRUCTURE))))
app.command("compare")(reports_errors(takes_source(takes_decision(compare_methods), without=STRUCTURE, several=True)))
app.command("report")(reports_errors(takes_source(takes_decision(report_matrix), several=True)))
app.command("fit")(reports_errors(takes_source(takes_decision(fit_model), several=True)))
app.command("predict")(reports_errors(predict_rows))
app.command("pairwise")(reports_errors(fill_matrix))
app.command("convert")(reports_errors(takes_source(convert_file, without=NOT_PROXIMITIES)))

_datasets = typer.Typer(rich_markup_mode=None, pretty_exceptions_enable=False)
_datasets.command("export")(reports_errors(export_dataset))
app.add_typer(_datasets, name="datasets")


@_datasets.callback(invoke_without_command=True)
@reports_errors
def _list_datasets(
    context: typer.Context,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """List the data sets that --dataset accepts."""
    if context.invoked_subcommand is None:
        list_datasets(as_json)


def _show_version(wanted: bool) -> None:
    if wanted:
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
    """Run the command line; the exit code is 0, 2 for invalid input, or 130 if it was interrupted."""
    columns = os.environ.get("COLUMNS", "1")
    if not columns.isdecimal() or int(columns) == 0:
        del os.environ["COLUMNS"]  # rich would print nothing on a terminal without columns
    for stream in (sys.stdout, sys.stderr):
        # Characters that the encoding of the terminal lacks are escaped.
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    end_when_terminated()
    try:
        app(prog_name="similitude")
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
    except OSError as error:  # the help could not be written
        drop_output()
        typer.echo(f"similitude: {one_line(error)}", err=True)
        sys.exit(BAD_INPUT)
