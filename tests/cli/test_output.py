"""``-o`` of every command: a FIFO is written into and stays one; a folder or an input is one clear error."""

import io
import os

import numpy as np
import pytest

from similitude import load_model
from tests.cli.command import run

COMMANDS = {
    "predict": ("predict", "m.model", "S.csv"),
    "fit": ("fit", "S.csv", "--labels", "y.txt", "--method", "k-nn"),
    "report": ("report", "S.csv", "--labels", "y.txt", "--methods", "k-nn", "--folds", 3),
    "compare": ("compare", "S.csv", "--labels", "y.txt", "--methods", "k-nn", "--folds", 3),
    "pairwise.csv": ("pairwise", "x.csv", "--similarity", "rbf"),
    "pairwise.npy": ("pairwise", "x.csv", "--similarity", "rbf"),
    "pairwise.npz": ("pairwise", "x.csv", "--similarity", "rbf"),
}


@pytest.fixture(scope="module")
def inputs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("inputs")
    x = np.random.default_rng(0).normal(size=(24, 2)) + 3.0 * (np.arange(24) % 2)[:, None]
    np.savetxt(folder / "x.csv", x, delimiter=",")
    np.savetxt(folder / "S.csv", np.exp(-((x[:, None] - x) ** 2).sum(axis=2)), delimiter=",")
    (folder / "y.txt").write_text("a\nb\n" * 12)
    words = ("fit", folder / "S.csv", "--labels", folder / "y.txt", "--method", "k-nn", "-o", folder / "m.model")
    assert run(*words).exit_code == 0
    return folder


@pytest.mark.parametrize("name", COMMANDS)
def test_a_fifo_is_written_into(name, inputs, fifo, tmp_path, monkeypatch):
    monkeypatch.chdir(inputs)
    path, content = fifo
    suffix = os.path.splitext(name)[1]
    target = path.rename(path.with_suffix(suffix)) if suffix else path
    before = sorted(os.listdir(inputs))
    result = run(*COMMANDS[name], "-o", target)
    assert result.exit_code == 0, result.output
    assert target.is_fifo()
    assert os.listdir(tmp_path) == [target.name]
    assert sorted(os.listdir(inputs)) == before
    written = content()
    if name == "fit":
        (tmp_path / "copy").write_bytes(written)
        assert load_model(tmp_path / "copy").n_features_in_ == 24
    elif name == "pairwise.npy":
        assert np.load(io.BytesIO(written)).shape == (24, 24)
    elif name == "pairwise.npz":
        assert np.load(io.BytesIO(written))["S"].shape == (24, 24)
    else:
        starts = {
            "predict": b"label,confidence,a,b,typicality,familiarity,applicability,evidence\n",
            "report": b"<!doctype html>",
            "compare": b"method,",
        }
        assert written.startswith(starts.get(name, b""))
        assert written.endswith(b"\n")


def test_export_writes_into_a_fifo(fifo, tmp_path):
    path, content = fifo
    path.rename(tmp_path / "labels.csv")
    assert run("datasets", "export", "promoters", "-o", tmp_path).exit_code == 0
    assert (tmp_path / "labels.csv").is_fifo()
    assert content().count(b"\n") == 106


@pytest.mark.parametrize("name", COMMANDS)
def test_a_folder_is_refused_before_the_work(name, inputs, tmp_path, monkeypatch):
    monkeypatch.chdir(inputs)
    result = run(*COMMANDS[name], "-o", tmp_path)
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr == f"similitude: --output: {tmp_path} is a folder; a file is needed.\n"
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((*COMMANDS["predict"], "-o", "m.model"), "--output: m.model is MODEL"),
        ((*COMMANDS["predict"], "-o", "linked.csv"), "--output: linked.csv is ROWS"),
        ((*COMMANDS["fit"], "-o", "S.csv"), "--output: S.csv is FILE"),
        ((*COMMANDS["fit"], "--groups", "x.csv", "-o", "x.csv"), "--output: x.csv is --groups"),
        ((*COMMANDS["report"], "-o", "y.txt"), "--output: y.txt is --labels"),
        ((*COMMANDS["compare"], "-o", "S.csv"), "--output: S.csv is FILE"),
        ((*COMMANDS["pairwise.csv"], "-o", "x.csv"), "--output: x.csv is OBJECTS"),
        (("convert", "S.csv", "S.csv"), "OUT: S.csv is FILE"),
    ],
)
def test_an_input_is_not_overwritten(words, message, inputs, monkeypatch):
    monkeypatch.chdir(inputs)
    if not os.path.lexists("linked.csv"):
        os.symlink("S.csv", "linked.csv")
    before = {name: (inputs / name).read_bytes() for name in os.listdir(inputs)}
    result = run(*words)
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr == f"similitude: {message}, which would be overwritten; name another file.\n"
    assert {name: (inputs / name).read_bytes() for name in os.listdir(inputs)} == before


@pytest.mark.parametrize(
    ("name", "out", "suffixes"),
    [
        ("predict", "u.xlsx", ".csv or .tsv"),
        ("compare", "u.csv.gz", ".csv or .tsv"),
        ("report", "rep", ".html or .htm"),
    ],
)
def test_a_suffix_that_belongs_to_another_format_is_refused(name, out, suffixes, inputs, tmp_path, monkeypatch):
    monkeypatch.chdir(inputs)
    result = run(*COMMANDS[name], "-o", tmp_path / out)
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr == f"similitude: --output: {tmp_path / out} must end in {suffixes}.\n"
    assert os.listdir(tmp_path) == []


PHASES = {
    ("inspect", "S.csv"): ["reading the samples", "diagnosing the similarity"],
    COMMANDS["fit"]: ["reading the samples", "methods", "diagnosing the similarity", "writing the model"],
    COMMANDS["report"]: ["reading the samples", "methods", "diagnosing the similarity", "drawing the page"],
    COMMANDS["compare"]: ["reading the samples", "outer folds"],
    COMMANDS["predict"]: ["reading the model and the rows", "predicting and writing the table"],
}


@pytest.mark.parametrize(("words", "phases"), PHASES.items(), ids=[words[0] for words in PHASES])
def test_every_phase_that_may_take_long_has_lines_on_its_progress(words, phases, inputs, tmp_path, monkeypatch):
    from similitude._utils import progress

    shown, plain = [], progress._Lines

    def lines(totals, done):
        shown.extend(totals)
        return plain(totals, done)

    monkeypatch.setattr(progress, "_Lines", lines)
    monkeypatch.chdir(inputs)
    suffix = {"report": ".html", "predict": ".csv", "compare": ".csv"}.get(words[0], "")
    words = [*words, *(() if words[0] == "inspect" else ("-o", tmp_path / f"out{suffix}"))]
    assert run(*words).exit_code == 0
    assert [name for name in shown if name in phases] == phases
    shown.clear()
    assert run(*words, "--quiet").exit_code == 0
    assert shown == []
