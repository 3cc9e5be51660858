"""What all commands have in common: the help, the options, and how they end."""

import errno
import importlib
import itertools
import json
import re
import sys

import numpy as np
import pytest
import typer

from similitude import cli
from similitude.cli import app
from similitude.cli.errors import reports_errors
from tests.cli.command import run

COMMANDS = ["inspect", "compare", "report", "fit", "predict", "pairwise", "convert", "datasets"]
READS_A_MATRIX = ["inspect", "compare", "report", "fit"]


def options(*command):
    return set(re.findall(r"--[a-z-]+", run(*command, "--help").stdout))


def test_the_help_lists_every_command_once_and_ends_with_a_session():
    shown = run("--help").stdout
    assert re.findall(r"^  ([a-z]+)  ", shown, re.MULTILINE)[-len(COMMANDS) :] == COMMANDS
    assert {"inspect", *(command.name for command in app.registered_commands)} <= set(COMMANDS)
    session = re.findall(r"^  similitude ([a-z]+)", shown, re.MULTILINE)
    assert session == ["datasets", "inspect", "compare", "fit", "predict", "fit", "predict"]
    assert run().stderr + run().stdout == shown


def test_options_are_the_same_everywhere():
    for command in READS_A_MATRIX:
        assert {"--labels", "--dissimilarity", "--key", "--dataset", "--seed", "--quiet"} <= options(command), command
    for command in set(COMMANDS) - {"report"}:
        assert "--json" in options(command), command
    for command in ("compare", "report", "fit", "pairwise"):
        assert {"--n-jobs", "--quiet", "--output"} <= options(command), command
    assert {"--seed", "--json", "--quiet", "--output"} <= options("datasets", "export")


@pytest.mark.parametrize("command", READS_A_MATRIX)
@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("nowhere.csv", "--labels", "y.txt"), "FILE: there is no file nowhere.csv"),
        (("words.csv", "--labels", "y.txt"), "words.csv"),
        (("S.npy", "--labels", "nowhere.txt"), "--labels: there is no file nowhere.txt"),
        (("S.npy", "--labels", "short.txt"), "short.txt"),
        (("S.npy", "--labels", "y.txt", "--key", "a"), "key"),
        (("S.npy", "--labels", "y.txt", "--dataset", "iris"), "either FILE"),
        (("--dataset", "nothing"), "--dataset must be one of voting"),
        (("--dataset", "iris", "--labels", "y.txt"), "--labels is for FILE"),
        ((), "either FILE"),
    ],
)
def test_bad_data_ends_with_code_2_and_one_message(command, words, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    np.save("S.npy", np.eye(4) + 1)
    (tmp_path / "y.txt").write_text("a\nb\na\nb\n")
    (tmp_path / "short.txt").write_text("a\n")
    (tmp_path / "words.csv").write_text("these are,words\nnot,numbers\n")
    result = run(command, *words, *(("-o", "out.html") if command in ("report", "fit") else ()))
    assert result.exit_code == 2, (result.output, result.exception)
    assert (result.stdout, result.stderr.count("\n")) == ("", 1)
    assert result.stderr.startswith("similitude: ")
    assert message in result.stderr
    assert not (tmp_path / "out.html").exists()


@pytest.mark.parametrize("command", COMMANDS)
def test_unknown_options_are_usage_errors(command):
    result = run(command, "--colour")
    assert result.exit_code == 2
    assert "--colour" in result.stderr
    assert "Traceback" not in result.output


def test_usage_shows_what_may_be_left_out():
    assert "[OPTIONS] [FILE]" in run("fit", "--help").stdout
    for words in (("fit",), ("datasets", "export"), ()):
        assert run(*words, "-h").stdout == run(*words, "--help").stdout != ""


def test_a_closed_output_is_no_error(monkeypatch):
    monkeypatch.setattr(sys, "stdout", None)
    assert reports_errors(lambda: None)() is None


def test_help_that_cannot_be_written(monkeypatch, capsys):
    def full(**_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(cli, "app", full)
    monkeypatch.setattr(cli, "drop_output", lambda: None)
    with pytest.raises(SystemExit) as ended:
        cli.main()
    assert ended.value.code == 2
    assert capsys.readouterr().err == "similitude: No space left on device\n"


def test_messages_are_one_line(capsys):
    def fail():
        raise ValueError("several\n  lines")

    with pytest.raises(typer.Exit) as ended:
        reports_errors(fail)()
    assert ended.value.exit_code == 2
    assert capsys.readouterr().err == "similitude: several lines\n"


@pytest.mark.parametrize(
    ("words", "task"),
    [
        (("compare", "--folds", "3", "--methods", "k-nn"), "outer folds"),
        (("fit", "--method", "k-nn", "-o", "out.html"), "methods"),
        (("fit", "--time-budget", "0.001", "-o", "out.html"), "methods"),
        (("report", "--methods", "k-nn", "-o", "out.html"), "methods"),
        (("pairwise", "--similarity", "euclidean", "-o", "out.npy"), "Filling blocks"),
    ],
    ids=lambda words: " ".join(words[:3]) if isinstance(words, tuple) else "",
)
def test_progress_goes_to_stderr_unless_quiet(words, task, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    X = np.random.default_rng(0).normal(size=(30, 2))
    np.save("X.npy", X)
    np.save("S.npy", X @ X.T)
    (tmp_path / "y.txt").write_text("a\nb\n" * 15)
    # Between any two looks at this clock there are 20 seconds.
    monkeypatch.setattr(
        importlib.import_module("similitude._utils.progress"), "_clock", itertools.count(0.0, 20.0).__next__
    )
    command, *options = words
    given = ["X.npy"] if command == "pairwise" else ["S.npy", "--labels", "y.txt"]
    as_json = [] if command == "report" else ["--json"]
    shown, quiet = (run(command, *given, *options, *as_json, *more) for more in ((), ("--quiet",)))
    assert (shown.exit_code, quiet.exit_code) == (0, 0), shown.output + quiet.output
    assert re.search(rf"^{task}: \d+ of \d+", shown.stderr, re.MULTILINE), shown.stderr
    assert quiet.stderr == ""
    for result in (shown, quiet):
        assert f"{task}: " not in result.stdout
        if as_json:
            json.loads(result.stdout)
