"""``similitude datasets``, and ``--dataset`` of the other commands."""

import csv
import json
import os
from importlib import import_module

import numpy as np
import pytest
from typer.testing import CliRunner

from similitude import datasets as library
from similitude.cli import app
from similitude.cli.data import named_samples
from similitude.cli.datasets import FETCHED, catalogue
from similitude.datasets import load_promoters, load_proximity, load_voting
from similitude.similarities.registry import resolve

HERE = [name for name, entry in catalogue().items() if entry.kind != FETCHED]


def run(*words):
    return CliRunner().invoke(app, ["datasets", *map(str, words)])


@pytest.mark.parametrize("name", HERE)
def test_what_the_catalogue_says_is_so(name):
    entry = catalogue()[name]
    samples = named_samples(name)
    assert len(samples.y) == entry.samples
    assert len(np.unique(samples.y)) == entry.classes
    loaded = eval(entry.call(3), vars(import_module(entry.module)))
    assert loaded[entry.y].tolist() == named_samples(name, seed=3).y.tolist()
    assert (entry.objects == "matrix") == (np.shape(samples.X) == (entry.samples, entry.samples))


def test_every_entry_can_be_asked_for():
    for entry in catalogue().values():
        assert callable(getattr(import_module(entry.module), entry.loader))
        assert entry.similarity == "given" or resolve(entry.similarity).name == entry.similarity
        assert bool(entry.needs) == (entry.kind == FETCHED)


def test_every_shipped_loader_is_in_the_catalogue():
    used = {entry.loader for entry in catalogue().values() if entry.module == "similitude.datasets"}
    loaders = {name for name in library.__all__ if name.startswith(("load_", "make_", "fetch_"))}
    assert used == loaders - {"load_objects", "load_proximity"}


def test_the_list():
    plain = run()
    assert plain.exit_code == 0
    assert "iris                   150 samples   3 classes  numbers, euclidean" in plain.stdout
    assert all(name in plain.stdout for name in catalogue())
    found = {row["name"]: row for row in json.loads(run("--json").stdout)}
    assert list(found) == list(catalogue())
    assert (found["iris"]["module"], found["iris"]["loader"]) == ("sklearn.datasets", "load_iris()")
    assert found["patrol"]["loader"] == "make_patrol(random_state=0)"


def test_export_of_text(tmp_path):
    out = tmp_path / "new" / "promoters"
    result = run("export", "promoters", "-o", out)
    assert result.exit_code == 0, result.output
    assert "--dissimilarity max-minus" in result.stdout
    data = load_proximity(out / "matrix.csv", out / "labels.csv")
    promoters = load_promoters()
    assert data.y.tolist() == promoters.target.tolist()
    samples = named_samples("promoters")
    assert np.array_equal(data.S, samples.matrix()[0])
    with (out / "objects.csv").open() as file:
        assert [row[0] for row in csv.reader(file)] == promoters.data


def test_export_of_votes_and_of_a_sparse_matrix(tmp_path):
    said = run("export", "voting", "-o", tmp_path / "v", "--json")
    found = json.loads(said.stdout)
    assert (found["samples"], found["dissimilarity"]) == (435, "one-minus")
    assert "learned from all labels" in said.stderr
    with open(found["objects"]) as file:
        assert list(csv.reader(file)) == load_voting().data.tolist()
    assert run("export", "patrol", "-o", tmp_path / "p", "--seed", 4, "--quiet").output == ""
    expected = library.make_patrol(random_state=4)
    data = load_proximity(tmp_path / "p" / "matrix.csv", tmp_path / "p" / "labels.csv")
    assert np.array_equal(data.S, expected.S.toarray())
    assert data.y.tolist() == expected.y.tolist()
    assert not (tmp_path / "p" / "objects.csv").exists()


def test_bad_arguments(tmp_path):
    (tmp_path / "file").write_text("")
    for words, message in (
        (("export", "nothing", "-o", tmp_path / "x"), "must be one of voting"),
        (("export", "iris", "-o", tmp_path / "file"), "is a file"),
    ):
        result = run(*words)
        assert result.exit_code == 2, result.output
        assert (result.stdout, result.stderr.count("\n")) == ("", 1)
        assert message in result.stderr
    assert os.listdir(tmp_path) == ["file"]
    assert run("imports").exit_code == 2


@pytest.mark.parametrize("name", ["negative-direction", "iris"])
def test_other_commands_take_them(name):
    result = CliRunner().invoke(app, ["inspect", "--dataset", name, "--json"])
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["n"] == catalogue()[name].samples
    both = CliRunner().invoke(app, ["inspect", "S.csv", "--dataset", name])
    assert (both.exit_code, both.stderr.count("\n")) == (2, 1)
    key = CliRunner().invoke(app, ["inspect", "--dataset", name, "--key", "a"])
    assert (key.exit_code, "--key is for FILE" in key.stderr) == (2, True)
