"""The command ``similitude inspect``, and how the command line ends."""

import json
import re
import subprocess
import sys
from importlib.metadata import entry_points

import numpy as np
import pytest
from typer.testing import CliRunner

import similitude
from similitude.cli import app
from similitude.diagnosis import diagnose
from similitude.diagnosis.card import COMMANDS, advice, card

COMMAND = [sys.executable, "-c", "from similitude.cli import main; main()"]


def run(*arguments, **options):
    return CliRunner().invoke(app, ["inspect", *map(str, arguments)], **options)


@pytest.fixture
def S():
    X = np.random.default_rng(0).normal(size=(40, 3))
    return np.exp(-np.linalg.norm(X[:, None] - X[None], axis=2))


@pytest.fixture
def matrix(tmp_path, S):
    path = tmp_path / "S.npy"
    np.save(path, S)
    return path


@pytest.fixture
def labels(tmp_path):
    path = tmp_path / "labels.txt"
    path.write_text("\n".join(["[red]", "[bold]b[/bold]"] * 20) + "\n")
    return path


@pytest.mark.parametrize("columns", ["10", "80", "500"])
def test_the_card_is_printed_as_it_is(matrix, S, columns):
    result = run(matrix, env={"COLUMNS": columns})
    assert result.exit_code == 0
    assert result.stdout == card(diagnose(S), COMMANDS) + "\n"
    assert result.stderr == ""


def test_labels_are_text(matrix, labels):
    result = run(matrix, "--labels", labels)
    assert result.exit_code == 0
    assert "  [red] " in result.stdout
    assert "  [bold]b[/bold] " in result.stdout
    assert "leave-one-out 1-NN error" in result.stdout


def test_a_terminal_gets_bold_headings(matrix, S):
    result = run(matrix, env={"FORCE_COLOR": "1", "TERM": "xterm", "COLUMNS": "20"})
    assert "\x1b[1mSpectrum" in result.stdout
    assert re.sub(r"\x1b\[\d*m", "", result.stdout) == card(diagnose(S), COMMANDS) + "\n"


def test_json(matrix, labels, S):
    result = run(matrix, "--labels", labels, "--json")
    assert result.exit_code == 0
    found = diagnose(S, ["[red]", "[bold]b[/bold]"] * 20)
    assert json.loads(result.stdout) == {**found.to_dict(), "advice": list(advice(found, COMMANDS))}


def test_options_reach_the_diagnosis(matrix, S):
    result = run(matrix, "--json", "--dissimilarity", "gauss", "--max-samples", 15, "--seed", 3)
    found = diagnose(S, dissimilarity="gauss", max_samples=15, random_state=3)
    assert json.loads(result.stdout) == {**found.to_dict(), "advice": list(advice(found, COMMANDS))}


def test_key(tmp_path, S):
    path = tmp_path / "several.npz"
    np.savez(path, first=S, second=np.eye(5))
    result = run(path, "--key", "second", "--json")
    assert result.exit_code == 0
    assert json.loads(result.stdout)["n"] == 5


def test_text_file(tmp_path, S):
    path = tmp_path / "S.csv"
    np.savetxt(path, S, delimiter=",")
    assert json.loads(run(path, "--json").stdout)["n"] == 40


def bad_files(folder):
    """Name -> a file that is no square matrix of numbers."""
    files = {
        "text.csv": b"these are,words\nnot,numbers\n",
        "ragged.csv": b"1,2,3\n4,5\n",
        "rectangular.csv": b"1,2,3\n4,5,6\n",
        "inf.csv": b"1,inf\n0,1\n",
        "empty.csv": b"",
        "empty.npy": b"",
        "empty.npz": b"",
        "binary.npy": b"\x00\x01\x02\x03" * 20,
        "truncated.npy": b"\x93NUMPY\x01\x00",
        "binary.npz": b"PK\x03\x04 and no more",
        "binary.csv": bytes(range(256)),
        "market.mtx": b"%%MatrixMarket nonsense\n",
    }
    for name, content in files.items():
        (folder / name).write_bytes(content)
    np.save(folder / "objects.npy", np.array([[1, "a"], [None, 2]], dtype=object), allow_pickle=True)
    np.save(folder / "words.npy", np.array([["a", "b"], ["c", "d"]]))
    np.save(folder / "complex.npy", np.eye(3) * 1j)
    np.save(folder / "cube.npy", np.ones((2, 2, 2)))
    np.save(folder / "nan.npy", np.full((2, 2), np.nan))
    np.savez(folder / "nothing.npz")
    return [
        *files,
        "objects.npy",
        "words.npy",
        "complex.npy",
        "cube.npy",
        "nan.npy",
        "nothing.npz",
        "absent.npy",
        "absent.csv",
        "",
    ]


def assert_refused(result, case):
    assert result.exit_code == 2, (case, result.stdout, result.stderr, result.exception)
    assert result.stdout == "", case
    assert result.stderr.startswith("similitude: "), case
    assert result.stderr.count("\n") == 1, (case, result.stderr)
    assert len(result.stderr) > 30, case
    assert "Traceback" not in result.stderr, case


def test_bad_files_end_with_one_message(tmp_path):
    for name in bad_files(tmp_path):
        result = run(tmp_path / name)
        assert_refused(result, name)
        assert name in result.stderr
        assert_refused(run(tmp_path / name, "--json"), name)


def test_bad_labels_end_with_one_message(tmp_path, matrix):
    (tmp_path / "short.txt").write_text("a\nb\n")
    (tmp_path / "empty.txt").write_text("")
    for name in ("short.txt", "empty.txt", "absent.txt", ""):
        assert_refused(run(matrix, "--labels", tmp_path / name), name)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--dissimilarity", "cosine"), "dissimilarity must be one of"),
        (("--key", "other"), "key"),
    ],
)
def test_bad_values_end_with_one_message(matrix, arguments, words):
    result = run(matrix, *arguments)
    assert_refused(result, arguments)
    assert words in result.stderr


@pytest.mark.parametrize(
    "arguments", [("--max-samples", "0"), ("--max-samples", "many"), ("--seed", "-1"), ("--colour",), ("more",)]
)
def test_usage_errors(matrix, arguments):
    result = run(matrix, *arguments)
    assert result.exit_code == 2
    assert result.stdout == ""
    assert arguments[0] in result.stderr
    assert "Traceback" not in result.stderr


def test_no_matrix_is_a_usage_error():
    result = run()
    assert result.exit_code == 2
    assert "FILE" in result.stderr


@pytest.fixture
def reader_raises(monkeypatch):
    def arrange(error):
        def read(*args, **kwargs):
            raise error

        monkeypatch.setattr("similitude.cli.data.read_proximity", read)

    return arrange


def test_interrupt_is_silent(matrix, reader_raises):
    reader_raises(KeyboardInterrupt())
    result = run(matrix)
    assert (result.exit_code, result.output) == (130, "")


def test_a_missing_extra_is_said(matrix, reader_raises):
    reader_raises(ImportError("reading this file needs pyarrow: install similitude[data]"))
    result = run(matrix)
    assert_refused(result, "extra")
    assert "install similitude[data]" in result.stderr


@pytest.mark.parametrize(
    "bug", [RuntimeError("a bug"), KeyError("a bug"), ImportError("a bug", name="similitude.gone")]
)
def test_a_bug_is_not_hidden(matrix, reader_raises, bug):
    reader_raises(bug)
    result = run(matrix)
    assert result.exception is bug
    assert result.exit_code == 1


def test_version_and_help():
    version = CliRunner().invoke(app, ["--version"])
    assert (version.exit_code, version.stdout) == (0, f"similitude {similitude.__version__}\n")
    overview = CliRunner().invoke(app, ["--help"])
    assert overview.exit_code == 0
    assert "inspect" in overview.stdout
    assert "--dissimilarity" in run("--help").stdout


def test_the_console_script_is_main():
    (script,) = entry_points(group="console_scripts", name="similitude")
    assert script.value == "similitude_command:main"
    assert callable(script.load())


@pytest.mark.untraced
def test_a_real_process(tmp_path):
    bad = subprocess.run([*COMMAND, "inspect", tmp_path / "absent.npy"], capture_output=True, text=True)
    assert (bad.returncode, bad.stdout, bad.stderr.count("\n")) == (2, "", 1)
    assert "absent.npy" in bad.stderr


@pytest.mark.untraced
def test_a_reader_that_leaves_is_no_error(matrix):
    process = subprocess.Popen(
        [*COMMAND, "inspect", matrix, "--json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    process.stdout.close()
    assert process.stderr.read() == ""
    assert process.wait() != 0
    process.stderr.close()
