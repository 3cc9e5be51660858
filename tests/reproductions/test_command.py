"""``python -m reproductions``: a paper's table from the command line."""

import csv
import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from reproductions import PAPERS, reproduce
from reproductions.__main__ import _names, main

from similitude.experiments import Store
from tests.cli.test_page import shown, told

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "reproductions.md"
TABLE = "cazzanti2007-table1"
SMALL = ("--datasets", "d = 8", "--methods", "sda,k-nn", "--partitions", 2)


@pytest.fixture
def run(capsys):
    """A function that runs the command, and returns what it prints."""

    def printed(*words):
        main([*map(str, words)])
        return capsys.readouterr().out

    return printed


def test_the_list_of_tables(run):
    assert re.findall(r"^(\S+)  ", run(), re.MULTILINE) == list(PAPERS)
    assert [row["name"] for row in json.loads(run("--json"))] == list(PAPERS)


@pytest.fixture(scope="module")
def expected():
    return reproduce(TABLE, datasets=["d = 8"], methods=["SDA", "k-NN"], partitions=2, progress=False)


def test_our_figures_beside_the_papers(run, expected, tmp_path):
    words = (*SMALL, "--store", tmp_path / "kept.db", "-o", tmp_path / "t.csv")
    assert run(TABLE, *words) == f"{expected}\nsaved to {tmp_path / 't.csv'}\n"
    with (tmp_path / "t.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [(row["method"], float(row["ours"])) for row in rows] == [(c.method, c.ours) for c in expected.comparisons]
    assert run(TABLE, *words, "--quiet") == ""
    found = json.loads(run(TABLE, *SMALL, "--json"))
    assert [c["ours"] for c in found["comparisons"]] == [c.ours for c in expected.comparisons]
    assert found["missing"] == {}


def test_an_interrupted_run_is_continued(run, tmp_path):
    """What the store holds is not computed again, whatever is asked for besides."""
    path = tmp_path / "kept.db"
    run(TABLE, "--datasets", "d = 8", "--methods", "sda", "--partitions", 1, "--store", path)
    with Store(path) as store:
        (first,) = store.rows()
    run(TABLE, *SMALL, "--store", path)
    with Store(path) as store:
        rows = store.rows()
    assert sorted((row.method, row.partition) for row in rows) == [("SDA", 0), ("SDA", 1), ("k-NN", 0), ("k-NN", 1)]
    assert first in rows


def test_names_with_commas():
    known = ["iris, l1", "iris, l-inf", "Voting"]
    assert _names("iris, l-inf,voting,iris,l1", known) == ["iris, l-inf", "Voting", "iris, l1"]
    assert _names("nothing,voting", known) == ["nothing", "Voting"]
    assert _names(None, known) is None


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("nothing",), "NAME must be one of chen2009-table3"),
        ((TABLE, "--datasets", "Voting"), "datasets must be some of"),
        ((TABLE, "--methods", "magic"), "methods must be some of"),
        ((TABLE, "--partitions", 0), "n_partitions must be an integer of at least 1"),
        ((TABLE, "--n-jobs", 0), "--n-jobs"),
        ((TABLE, "-o", "nowhere/t.csv"), "no folder nowhere"),
        ((TABLE, "--store", "."), "."),
        ((TABLE, "--all", "--store", "s.db"), "NAME must be left out"),
        (("--all",), "--store must name the file"),
        (("--page", "nowhere/p.md", "--store", "s.db"), "no folder nowhere"),
        ((TABLE, "--splits", 3), "splits must be None"),
        ((TABLE, "--partition-file", "p.txt"), "partition_file must be None"),
    ],
)
def test_bad_arguments(words, message, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as ended:
        main([*map(str, words)])
    printed = capsys.readouterr()
    assert (ended.value.code, printed.out, printed.err.count("\n")) == (2, "", 1)
    assert message in printed.err


def test_an_interruption_has_its_own_exit_code(monkeypatch):
    def interrupt(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("reproductions.__main__.reproduce", interrupt)
    with pytest.raises(SystemExit) as ended:
        main([TABLE])
    assert ended.value.code == 130


def test_the_page_shows_what_is_printed(run):
    commands = list(shown(PAGE))
    assert len(commands) == 2
    for command, lines in commands:
        command, _, head = command.partition(" | head -")
        assert command.startswith("python -m reproductions")
        printed = run(*shlex.split(command)[3:]).splitlines()
        assert told(printed[: int(head)] if head else printed) == told(lines), command


def test_two_workers_in_a_process_of_its_own(tmp_path):
    """Workers import the recipes by their names."""
    words = (TABLE, "--datasets", "d = 2", "--methods", "SDA,k-NN", "--partitions", "1", "--n-jobs", "2", "--json")
    done = subprocess.run([sys.executable, "-m", "reproductions", *words], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert [c["n_partitions"] for c in json.loads(done.stdout)["comparisons"]] == [1, 1]
