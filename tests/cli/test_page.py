"""The page on the command line shows what the commands print."""

import re
import shlex
import subprocess
from pathlib import Path

import pytest
import sklearn
from sklearn.utils.fixes import parse_version
from typer.testing import CliRunner

from similitude.cli import app
from tests.systems import needs_posix

PAGE = Path(__file__).parents[2] / "docs" / "command-line.md"
LONG = ("similitude report", "similitude fit --dataset negative-direction")  # what these write is tested elsewhere

OTHER_FOLDS = parse_version(sklearn.__version__) < parse_version("1.8")  # by groups they were drawn in another way


def shown(page=PAGE):
    """Each command of the page, and the lines below it."""
    for block in re.findall(r"```console\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, *lines = part.splitlines()
            yield command, lines


def printed(command):
    """What the command prints now; the shell does what is not similitude's."""
    if not command.startswith("similitude "):
        return in_shell(command)
    command, _, rest = command.partition(" | ")
    result = CliRunner().invoke(app, shlex.split(command)[1:])
    assert result.exit_code in (0, 2), result.output
    shown = in_shell(rest, result.stdout) if rest else result.stdout.splitlines()
    return [*result.stderr.splitlines(), *shown]  # as on a terminal, where notes come before the result


def in_shell(command, given=""):
    done = subprocess.run(command, shell=True, input=given, stdout=subprocess.PIPE, encoding="utf-8", check=True)
    return done.stdout.splitlines()


def told(lines):
    """Without the seconds of a run, and with as many digits as are the same everywhere."""
    without = (re.sub(r"│ +[\d.]+ │$", "│", line.rstrip()) for line in lines)
    return [re.sub(r"\d+\.\d+", lambda number: f"{float(number[0]):.3g}", line) for line in without]


@needs_posix
@pytest.mark.untraced
@pytest.mark.skipif(not PAGE.exists(), reason="the pages are not part of an installed package")
def test_the_page_shows_what_is_printed(tmp_path, monkeypatch):
    pytest.importorskip("rapidfuzz")
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("SIMILITUDE_DATA", raising=False)
    commands = list(shown())
    assert {shlex.split(command)[1] for command, _ in commands if command.startswith("similitude")} == {
        command.name for command in app.registered_commands
    } | {"datasets"}
    for command, lines in commands:
        if not command.startswith(LONG) and not (OTHER_FOLDS and "--groups" in command):
            assert told(printed(command)) == told(lines), command
