"""Signals, a lack of memory and a terminal without columns: what the command prints, and its exit code."""

import contextlib
import errno
import os
import signal
import subprocess
import sys
import time
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path

import numpy as np
import pytest
import typer
from typer.testing import CliRunner

from similitude.auto import auto, race
from similitude.cli import app
from similitude.cli.errors import reports_errors
from similitude.persistence import load_model
from tests.systems import needs_linux, needs_posix

COMMAND = "print('up', flush=True)\nfrom similitude_command import main\nmain()"


def started(*words, **options):
    """The command in a child that answers to Ctrl-C, as one that was started in a terminal does."""
    command = [sys.executable, "-c", COMMAND, *map(str, words)]
    reset = lambda: signal.signal(signal.SIGINT, signal.default_int_handler)  # noqa: E731
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return subprocess.Popen(command, text=True, preexec_fn=reset, **pipes, **options)


@needs_posix
@pytest.mark.parametrize("delay", [0.05, 0.4])
def test_ctrl_c_while_the_library_is_imported(delay):
    child = started("datasets")
    assert child.stdout.readline() == "up\n"
    time.sleep(delay)
    child.send_signal(signal.SIGINT)
    _, errors = child.communicate(timeout=60)
    # On a fast machine the command may have ended before.
    assert child.returncode in (0, 130)
    assert errors == ""


def command(error):
    runner = typer.Typer(pretty_exceptions_enable=False)

    def work() -> None:
        try:
            signal.raise_signal(signal.SIGINT)
            time.sleep(5)
        except KeyboardInterrupt:
            if error is None:
                raise
            raise error("raised in the place of KeyboardInterrupt") from None

    runner.command()(reports_errors(work))
    return CliRunner().invoke(runner, [])


@pytest.fixture
def answering():
    """This process answers to Ctrl-C, also if it was started in the background."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("answering")
@pytest.mark.parametrize("error", [None, SystemError, ValueError, RuntimeError], ids=str)
def test_ctrl_c_is_quiet_whichever_exception_it_becomes(error):
    result = command(error)
    assert (result.exit_code, result.output) == (130, "")
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


class TestInterruptOfTheRace:
    """A first interrupt stops the evaluation of methods, a second one the command."""

    @pytest.fixture(autouse=True)
    def samples(self, tmp_path, monkeypatch, answering):
        monkeypatch.chdir(tmp_path)
        X = np.random.default_rng(0).normal(size=(60, 3)) + np.repeat([[0.0], [2.0]], 30, axis=0)
        np.save("S.npy", X @ X.T)
        (tmp_path / "y.txt").write_text("a\n" * 30 + "b\n" * 30)
        monkeypatch.setattr(race, "_SHORTEST_LEG", 0.0)  # a leg for each method

    @staticmethod
    def interrupted_at(monkeypatch, *calls):
        """Interrupt these calls of the function that evaluates methods."""
        count, plain = [], race.MethodResults.evaluate

        def evaluate(self, *rest):
            count.append(None)
            if len(count) in calls:
                signal.raise_signal(signal.SIGINT)
            return plain(self, *rest)

        monkeypatch.setattr(race.MethodResults, "evaluate", evaluate)

    def run(self, command, *words):
        return CliRunner().invoke(app, [command, "S.npy", "--labels", "y.txt", *words])

    @pytest.mark.parametrize("quiet", [(), ("--quiet",)])
    def test_fit_saves_a_model_of_what_was_evaluated(self, quiet, monkeypatch):
        self.interrupted_at(monkeypatch, 2)
        result = self.run("fit", "-o", "m.model", *quiet)
        assert result.exit_code == 0
        lines = [line for line in result.stderr.splitlines() if "header" not in line]
        assert len(lines) == 1
        assert lines[0].startswith("similitude: interrupted: the choice is among the ")
        assert ("not tried   " in result.stdout) == (not quiet)
        notes = load_model("m.model", return_info=True)[1]["notes"]
        assert notes["interrupted"]
        assert notes["left_out"]

    def test_report_writes_a_page_of_what_was_evaluated(self, monkeypatch):
        self.interrupted_at(monkeypatch, 2)
        result = self.run("report", "-o", "page.html", "--methods", "k-nn,nearest-centroid,svm-clip,p-svm")
        assert result.exit_code == 0
        assert "similitude: interrupted: the choice is among" in result.stderr
        assert Path("page.html").stat().st_size > 0

    def test_an_error_that_comes_later_is_reported(self, monkeypatch):
        self.interrupted_at(monkeypatch, 2)

        def full(*_, **__):
            raise OSError(errno.ENOSPC, "No space left on device")

        monkeypatch.setattr("similitude.cli.fit.save_model", full)
        result = self.run("fit", "-o", "m.model", "--quiet")
        assert result.exit_code == 2
        assert result.stderr.endswith("similitude: No space left on device\n")

    def test_a_second_one_ends_the_command(self, monkeypatch):
        self.interrupted_at(monkeypatch, 2)
        monkeypatch.setattr("similitude.auto.auto.fitted_choice", lambda *_, **__: signal.raise_signal(signal.SIGINT))
        result = self.run("fit", "-o", "m.model", "--quiet")
        assert (result.exit_code, result.output) == (130, "")
        assert not Path("m.model").exists()

    @pytest.mark.parametrize("n_interrupts", [1, 2])
    def test_the_last_fits_go_on_after_the_first_one(self, n_interrupts, monkeypatch):
        plain = auto.fitted_choice

        def interrupted(*rest, **options):
            for _ in range(n_interrupts):
                signal.raise_signal(signal.SIGINT)
            return plain(*rest, **options)

        monkeypatch.setattr(auto, "fitted_choice", interrupted)
        result = self.run("fit", "-o", "m.model", "--quiet", "--method", "k-nn")
        assert "similitude: fitting the chosen methods; a second interrupt ends the command." in result.stderr
        assert result.exit_code == (0 if n_interrupts == 1 else 130)
        assert Path("m.model").exists() == (n_interrupts == 1)

    @pytest.mark.parametrize("words", [("compare", "--methods", "k-nn,svm-clip"), ("fit", "-o", "m.model")])
    def test_without_a_choice_the_first_one_ends_the_command(self, words, monkeypatch):
        """Within nested cross-validation, or before the first method is complete."""
        self.interrupted_at(monkeypatch, 4 if words[0] == "compare" else 1)
        result = self.run(*words, "--quiet")
        assert (result.exit_code, result.output) == (130, "")

    def test_an_interrupt_of_nested_folds_ends_the_fit(self, monkeypatch):
        self.interrupted_at(monkeypatch, 6)  # two methods, and two repetitions, come before
        result = self.run("report", "-o", "page.html", "--methods", "k-nn,svm-clip", "--nested", "3")
        assert result.exit_code == 130
        assert not Path("page.html").exists()


def _exhausted() -> None:
    raise MemoryError


def _too_large() -> None:
    np.empty((2**30, 2**25))


@pytest.mark.parametrize("work", [_exhausted, _too_large])
def test_a_lack_of_memory_is_one_line(work):

    runner = typer.Typer()
    runner.command()(reports_errors(work))
    result = CliRunner().invoke(runner, [])
    assert result.exit_code == 2
    assert result.stderr.count("\n") == 1
    assert result.stderr.startswith("similitude: there is not enough memory: ")
    assert "Use fewer samples" in result.stderr


@pytest.mark.untraced
@needs_posix
@pytest.mark.parametrize("columns", ["0", ""])
def test_a_terminal_without_columns(columns, tmp_path):
    np.savetxt(tmp_path / "m.csv", np.eye(5) + 0.1, delimiter=",")
    child = started("inspect", tmp_path / "m.csv", env={**os.environ, "COLUMNS": columns})
    output, _ = child.communicate(timeout=60)
    assert child.returncode == 0
    assert "Similarities of 5 samples" in output


def test_labels_that_are_formulas(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    np.savetxt("S.csv", np.eye(4) + 0.1, delimiter=",")
    (tmp_path / "y.txt").write_text("=cmd|'/c x'!A1\n-1 point\n" * 2)
    run = CliRunner().invoke
    assert run(app, ["fit", "S.csv", "--labels", "y.txt", "--method", "k-nn", "-o", "m.model"]).exit_code == 0
    for option, first in ((), "=cmd"), (("--for-spreadsheets",), "'=cmd"):
        assert run(app, ["predict", "m.model", "S.csv", "-o", "out.csv", *option]).exit_code == 0
        lines = (tmp_path / "out.csv").read_text().splitlines()
        assert lines[1].strip('"').startswith(first)
        classes = "'-1 point,'=cmd|'/c x'!A1" if option else "-1 point,=cmd|'/c x'!A1"
        assert lines[0] == f"label,confidence,{classes},typicality,familiarity,applicability,evidence"


def matrix_and_labels(folder, n):
    """A matrix of n samples with noise as labels, so that a support vector machine takes its time."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 4))
    np.save(folder / "S.npy", X @ X.T)
    (folder / "y.txt").write_text("\n".join(rng.choice(["a", "b"], n)) + "\n")
    return folder / "S.npy", "--labels", folder / "y.txt"


@pytest.mark.untraced
@needs_linux
@pytest.mark.parametrize("limit", [100_000, 560_000, 620_000])
def test_a_limit_of_memory_is_one_line(limit, tmp_path):
    """Just enough to start is not enough to fit; with less, the library cannot be imported."""
    import resource

    source = matrix_and_labels(tmp_path, 1500)
    limited = lambda: resource.setrlimit(resource.RLIMIT_AS, (limit * 1024,) * 2)  # noqa: E731
    words = ["fit", *source, "--method", "svm-clip", "-o", tmp_path / "model", "--quiet"]
    command = [sys.executable, "-c", "from similitude_command import main\nmain()", *map(str, words)]
    done = subprocess.run(command, preexec_fn=limited, capture_output=True, text=True, timeout=120)
    if limit > 614_400 and done.returncode == 0:
        return  # other versions of the libraries need less
    assert done.returncode == 2, done.stderr
    assert done.stderr.count("\n") == 1
    assert done.stderr.startswith("similitude: there is not enough memory: ")
    assert f"limited to {limit} kB (ulimit -v)" in done.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["S.npy", "y.txt"]


@pytest.mark.parametrize(
    ("error", "part"),
    [
        (BrokenProcessPool("a worker died"), "Use --n-jobs 1"),
        (OSError(errno.ENOMEM, "Cannot allocate memory"), "not enough memory"),
        (ImportError("libx.so: failed to map segment from shared object", name="x"), "not enough memory"),
        (RuntimeError("can't start new thread"), "not enough memory"),
    ],
)
def test_other_forms_of_a_lack_of_memory(error, part):
    def work() -> None:
        raise error

    runner = typer.Typer()
    runner.command()(reports_errors(work))
    result = CliRunner().invoke(runner, [])
    assert result.exit_code == 2
    assert part in result.stderr
    assert result.stderr.count("\n") == 1


def computing_workers(pid):
    """The worker processes of joblib whose parent this is, once they have loaded the library."""
    found = []
    for path in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            parent = int((path / "stat").read_text().rpartition(")")[2].split()[1])
            if parent == pid and b"LokyProcess" in (path / "cmdline").read_bytes():
                found += [path] if "similitude/_native" in (path / "maps").read_text() else []
    return found


def waited(condition, seconds=60):
    """Whether the condition became true in this time."""
    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end:
        time.sleep(0.1)
    return condition()


@pytest.mark.untraced
@needs_linux
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_a_signal_leaves_no_worker_behind(number, tmp_path):
    """The whole matrix would take minutes."""
    rng = np.random.default_rng(0)
    (tmp_path / "words.txt").write_text("\n".join("".join(rng.choice(list("acgt"), 400)) for _ in range(1500)) + "\n")
    words = ["pairwise", tmp_path / "words.txt", "--similarity", "smith-waterman", "--n-jobs", "2", "--quiet"]
    child = started(*words, "--output", tmp_path / "S.npy")
    assert waited(lambda: len(computing_workers(child.pid)) == 2)
    workers = computing_workers(child.pid)
    child.send_signal(number)
    _, errors = child.communicate(timeout=60)
    assert waited(lambda: not any(path.exists() for path in workers), 20)
    assert [path.name for path in tmp_path.iterdir()] == ["words.txt"]
    if number == signal.SIGTERM:
        assert child.returncode == 143
        assert errors == "similitude: terminated by the signal SIGTERM before the end; no result was written.\n"
