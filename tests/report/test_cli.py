import re

import numpy as np
import pytest
from typer.testing import CliRunner

from similitude.cli import app
from tests.report.standin import clusters

runner = CliRunner()


@pytest.fixture
def folder(tmp_path):
    S, labels = clusters(30, n_classes=2)
    np.savetxt(tmp_path / "D.csv", -S, delimiter=",")
    (tmp_path / "y.txt").write_text("\n".join("ab"[label] for label in labels) + "\n")
    return tmp_path


def _report(*words):
    return runner.invoke(app, ["report", *map(str, words)])


def test_a_page_with_the_chosen_model(folder, monkeypatch):
    monkeypatch.chdir(folder)
    words = ("D.csv", "--labels", "y.txt", "--dissimilarity", "max-minus", "--folds", 3)
    result = _report(*words, "--methods", "k-nn, Nearest Centroid", "-o", "report.html")
    assert result.exit_code == 0, result.output
    html = (folder / "report.html").read_text(encoding="utf-8")
    assert html.startswith("<!doctype html>")
    assert "load_proximity(&#x27;D.csv&#x27;, labels=&#x27;y.txt&#x27;, orientation=" in html
    assert "max-minus" in html
    assert "report.html" in result.stdout
    assert _report(*words, "--methods", "k-nn", "-o", "again.html", "--quiet").output == ""


def test_the_same_seed_gives_the_same_page_but_for_times(folder, monkeypatch):
    monkeypatch.chdir(folder)
    pages = []
    for name in ("one.html", "two.html"):
        _report("D.csv", "--labels", "y.txt", "--dissimilarity", "gauss", "--folds", 3, "--methods", "k-nn", "-o", name)
        html = (folder / name).read_text(encoding="utf-8")
        pages.append(re.sub(r'<td class="number" data-value="[\d.]+">[\d.]+</td></tr>', "", html))
    assert pages[0] == pages[1]


def test_voting(tmp_path):
    result = _report("--dataset", "voting", "--methods", "k-nn", "--folds", 3, "-o", tmp_path / "r.html")
    assert result.exit_code == 0, result.output
    html = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert "load_voting()" in html
    assert "learned from all samples" in html


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("-o", "r.html"), "either FILE"),
        (("nowhere.csv", "--labels", "y.txt", "-o", "r.html"), "nowhere.csv"),
        (("D.csv", "-o", "r.html"), "--labels"),
        (("D.csv", "--labels", "y.txt", "--methods", "magic", "-o", "r.html"), "methods must be among"),
        (("D.csv", "--labels", "y.txt", "--methods", ",", "-o", "r.html"), "methods must be among"),
        (("D.csv", "--labels", "y.txt", "-o", "no/such/r.html"), "--output"),
        (("D.csv", "--labels", "y.txt", "--time-budget", "0", "-o", "r.html"), "--time-budget"),
        (("--dataset", "iris?", "-o", "r.html"), "--dataset must be"),
    ],
)
def test_bad_arguments_end_with_code_2_and_one_message(words, message, folder, monkeypatch):
    monkeypatch.chdir(folder)
    result = _report(*words)
    assert result.exit_code == 2
    assert message in result.stderr
    assert "Traceback" not in result.stderr
    assert result.stdout == ""
    assert not (folder / "r.html").exists()


def test_what_there_was_no_time_for_is_said(folder, monkeypatch):
    monkeypatch.chdir(folder)
    words = ("D.csv", "--labels", "y.txt", "--dissimilarity", "max-minus", "--folds", 3, "--time-budget", 1e-9)
    result = _report(*words, "--methods", "k-nn,nearest-centroid,svm-clip", "-o", "r.html")
    assert result.exit_code == 0, result.output
    assert "no time for SVM (clip), nearest centroid\n" in result.stdout
    assert ": SVM (clip), nearest centroid." in (folder / "r.html").read_text(encoding="utf-8")


def test_the_members_of_a_combination_and_classes_that_cannot_be_tested_are_named(folder, monkeypatch):
    monkeypatch.chdir(folder)
    lines = (folder / "y.txt").read_text().splitlines()
    (folder / "y.txt").write_text("\n".join(["lonely", *lines[1:]]) + "\n")
    words = ("D.csv", "--labels", "y.txt", "--dissimilarity", "max-minus", "--folds", 20)
    result = _report(*words, "--methods", "k-nn,nearest-centroid,sda", "-o", "r.html")
    assert result.exit_code == 0, result.output
    assert "not tested  lonely (too few samples to test)\n" in result.stdout
    html = (folder / "r.html").read_text(encoding="utf-8")
    assert "although the model can predict them: lonely." in html
    assert re.match(r"method  combination\nmembers 0\.\d\d  k-NN\n        0\.\d\d  SDA\n", result.stdout)


def test_the_error_of_choosing(folder, monkeypatch):
    monkeypatch.chdir(folder)
    words = ("D.csv", "--labels", "y.txt", "--dissimilarity", "max-minus", "--folds", 3, "--nested", 3)
    result = _report(*words, "--methods", "k-nn,nearest-centroid", "-o", "r.html", "--quiet")
    assert result.exit_code == 0, result.output
    assert "including the choice of the method" in (folder / "r.html").read_text(encoding="utf-8")
