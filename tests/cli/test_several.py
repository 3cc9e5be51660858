"""Several matrices on the command line: ``compare``, ``fit``, ``predict`` and ``report``."""

import csv
import json

import numpy as np
import pytest

from similitude import load_model
from tests.cli.command import run, write_table

N = 30
NAMES = [f"s{i}" for i in range(N)]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Similarities a and b without ids, c and d with ids (d in another order), rows of new samples."""
    rng = np.random.default_rng(0)
    y = np.arange(N + 5) % 2
    for i, name in enumerate("abc"):
        X = rng.normal(size=(N + 5, 2)) + (2 - i) * y[:, None]
        S = -np.abs(X[:, None] - X[None]).sum(axis=2)
        if name == "c":
            write_table(tmp_path / "c.csv", NAMES, NAMES, S[:N, :N])
            order = rng.permutation(N)
            shuffled = [NAMES[j] for j in order]
            write_table(tmp_path / "d.csv", shuffled, shuffled, S[np.ix_(order, order)])
            write_table(tmp_path / "e.csv", [*NAMES[:-1], "x"], [*NAMES[:-1], "x"], S[:N, :N])
        else:
            np.savetxt(tmp_path / f"{name}.csv", S[:N, :N], delimiter=",")
        np.savetxt(tmp_path / f"new {name}.csv", S[N:, :N], delimiter=",")
        np.savetxt(tmp_path / "small.csv", S[:9, :9], delimiter=",")
    (tmp_path / "y.txt").write_text("\n".join(np.array(["no", "yes"])[y[:N]]) + "\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def assert_refused(result, message):
    assert result.exit_code == 2, (result.output, result.exception)
    assert message in " ".join(result.stderr.split())


def test_compare_ranks_the_similarities(folder):
    words = ("compare", "a.csv", "b.csv", "--labels", "y.txt", "--methods", "k-nn,svm-equal-mixture", "--folds", 3)
    result = run(*words, "--json", "--quiet", "-o", "out.csv")
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    assert [row["similarity"] for row in found["similarities"]] == ["a", "b"]
    assert [row["name"] for row in found["together"]][2:] == ["SVM (equal mixture)"]
    assert found["correlations"][0][1] == found["correlations"][1][0] < 1
    with open("out.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [(row["similarity"], float(row["error"])) for row in rows] == [
        (row["similarity"], row["error"]) for row in found["similarities"]
    ]
    shown = run(*words, "--quiet")
    assert "a, b: 30 samples; 3-fold cross-validation" in shown.stdout
    assert "rank correlations" in shown.stdout


def test_fit_and_predict(folder):
    result = run("fit", "a.csv", "b.csv", "--labels", "y.txt", "--method", "mixture-svm", "-o", "m.model", "--quiet")
    assert (result.exit_code, result.output) == (0, "")
    model, info = load_model("m.model", return_info=True)
    assert (info["similarities"], info["n_columns"], info["input"]) == (["a", "b"], N, "similarities")
    result = run("predict", "m.model", "new a.csv", "new b.csv", "-o", "out.csv", "--quiet")
    assert result.exit_code == 0, result.output
    with open("out.csv", newline="") as file:
        labels = [row["label"] for row in csv.DictReader(file)]
    rows = {name: np.loadtxt(f"new {name}.csv", delimiter=",") for name in "ab"}
    assert labels == model.predict(rows).tolist()
    assert_refused(run("predict", "m.model", "new a.csv", "-o", "out.csv"), "needs 2 of these files (a, b)")
    assert_refused(run("predict", "m.model", "b.csv", "a.csv", "-o", "out.csv"), "not their order; give them as a, b.")
    assert_refused(
        run("predict", "m.model", "new a.csv", "a.csv", "-o", "out.csv"),
        "new a.csv and a.csv must have the same samples in the same order, and do not",
    )


def test_ids_are_matched(folder):
    words = ("--labels", "y.txt", "--methods", "k-nn", "--folds", 3, "--json")
    result = run("compare", "c.csv", "d.csv", *words)
    assert result.exit_code == 0, result.output
    assert "d.csv: the samples are reordered by their ids, like those of c.csv" in " ".join(result.stderr.split())
    assert json.loads(result.stdout)["correlations"][0][1] == pytest.approx(1.0)
    assert_refused(run("compare", "c.csv", "e.csv", *words), "1 of the 30 samples of c.csv are not in e.csv: 's29'")
    assert_refused(run("compare", "a.csv", "small.csv", *words), "a.csv has 30 samples and small.csv has 9")
    assert_refused(run("compare", "a.csv", "a.csv", *words), "a.csv is given twice")
    assert_refused(run("compare", "a.csv", "b.csv", "--dissimilarity", "z=exp", *words), "a name among a, b")


def test_maps_by_name(folder):
    np.savetxt("far.csv", -np.loadtxt("b.csv", delimiter=","), delimiter=",")
    words = ("compare", "a.csv", "far.csv", "--labels", "y.txt", "--methods", "k-nn", "--folds", 3, "--json", "--quiet")
    found = json.loads(run(*words, "--dissimilarity", "far=max-minus").stdout)
    same = json.loads(run("compare", "a.csv", "b.csv", *words[3:]).stdout)
    assert found["correlations"][0][1] == pytest.approx(same["correlations"][0][1])
    assert [row["error"] for row in found["similarities"]] == [row["error"] for row in same["similarities"]]


def test_the_page_shows_them_side_by_side(folder):
    methods = "k-nn,svm-clip,svm-equal-mixture"
    result = run("report", "a.csv", "b.csv", "--labels", "y.txt", "--methods", methods, "--folds", 3, "-o", "p.html")
    assert result.exit_code == 0, result.output
    page = (folder / "p.html").read_text()
    for text in ("Similarities side by side", "Rank correlations", "k-NN on a", "SVM (equal mixture)"):
        assert text in page
    assert "There are 2 similarities; the pictures show" in page
