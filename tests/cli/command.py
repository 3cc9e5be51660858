"""Running the command in tests, and the tables that it reads and writes."""

import csv

from typer.testing import CliRunner

from similitude.cli import app


def run(*words, **options):
    """Return the result of ``similitude WORDS``."""
    return CliRunner().invoke(app, [*map(str, words)], **options)


def done(*words):
    """Return the result of ``similitude WORDS``, which succeeds."""
    result = run(*words)
    assert result.exit_code == 0, (result.output, result.exception)
    return result


def refused(*words):
    """Return what ``similitude WORDS`` prints on stderr if it refuses its input."""
    result = run(*words)
    assert (result.exit_code, result.stdout) == (2, ""), (result.output, result.exception)
    return result.stderr


def write_table(path, rows, columns, values):
    """Write a matrix with the names of its rows and columns to a .csv file."""
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["id", *columns])
        writer.writerows([name, *map(repr, row.tolist())] for name, row in zip(rows, values))


def read_table(path):
    """Return the rows of a .csv file."""
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.reader(file))
