"""``similitude reproduce``: a paper's table from the command line."""

import csv
import json

import pytest
from typer.testing import CliRunner

from similitude.cli import app
from similitude.cli.reproduce import _some
from similitude.experiments import PAPERS, reproduce

TABLE = "cazzanti2007-table1"
SMALL = ("--datasets", "d = 8", "--methods", "sda,k-nn", "--partitions", 2)


def run(*words):
    return CliRunner().invoke(app, ["reproduce", *map(str, words)])


def test_the_names():
    plain = run()
    assert plain.exit_code == 0
    assert all(name in plain.stdout for name in PAPERS)
    assert [row["name"] for row in json.loads(run("--json").stdout)] == list(PAPERS)


@pytest.fixture(scope="module")
def expected():
    return reproduce(TABLE, datasets=["d = 8"], methods=["SDA", "k-NN"], partitions=2, progress=False)


def test_ours_beside_the_papers(expected, tmp_path):
    words = (*SMALL, "--store", tmp_path / "kept.db", "-o", tmp_path / "t.csv")
    result = run(TABLE, *words)
    assert result.exit_code == 0, result.output
    assert str(expected) in result.stdout
    with (tmp_path / "t.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [(row["method"], float(row["ours"])) for row in rows] == [(c.method, c.ours) for c in expected.comparisons]
    assert (tmp_path / "kept.db").exists()
    assert run(TABLE, *words, "--quiet").output == ""
    found = json.loads(run(TABLE, *SMALL, "--json").stdout)
    assert [c["ours"] for c in found["comparisons"]] == [c.ours for c in expected.comparisons]
    assert found["missing"] == {}


def test_names_with_commas():
    known = ["iris, l1", "iris, l-inf", "Voting"]
    assert _some("iris, l-inf,voting,iris,l1", known) == ["iris, l-inf", "Voting", "iris, l1"]
    assert _some("nothing,voting", known) == ["nothing", "Voting"]
    assert _some(None, known) is None


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("nothing",), "NAME must be one of chen2009-table3"),
        ((TABLE, "--datasets", "Voting"), "datasets must be some of"),
        ((TABLE, "--methods", "magic"), "methods must be some of"),
        ((TABLE, "--n-jobs", 0), "--n-jobs"),
        ((TABLE, "-o", "nowhere/t.csv"), "no folder nowhere"),
        ((TABLE, "--store", "."), "."),
    ],
)
def test_bad_arguments(words, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = run(*words)
    assert result.exit_code == 2, (result.output, result.exception)
    assert (result.stdout, result.stderr.count("\n")) == ("", 1)
    assert message in result.stderr
