import csv
import json

import numpy as np
import pytest
from typer.testing import CliRunner

from similitude.cli import app
from similitude.cli import compare as compare_module

runner = CliRunner()


@pytest.fixture
def matrix(tmp_path):
    rng = np.random.default_rng(0)
    y = np.arange(30) % 2
    X = rng.normal(size=(30, 2)) + 3 * y[:, None]
    D = np.abs(X[:, None] - X[None]).sum(axis=2)
    np.savetxt(tmp_path / "D.csv", D, delimiter=",")
    (tmp_path / "y.txt").write_text("\n".join("ab"[label] for label in y) + "\n")
    return tmp_path


def _compare(*words):
    return runner.invoke(app, ["compare", *map(str, words)])


def test_ranked_table_and_saved_file(matrix):
    out = matrix / "table.csv"
    result = _compare(
        matrix / "D.csv", "--labels", matrix / "y.txt", "--dissimilarity", "max-minus", "--folds", 3, "-o", out
    )
    assert result.exit_code == 0, result.output
    assert "k-NN" in result.stdout
    with out.open() as file:
        rows = list(csv.DictReader(file))
    assert {row["method"] for row in rows} == set(compare_module.methods())
    errors = [float(row["error"]) for row in rows]
    assert errors == sorted(errors)
    assert errors[0] < 0.1
    assert all(float(row["standard_error"]) >= 0 for row in rows)


def test_json_is_the_same_for_the_same_seed(matrix):
    words = (matrix / "D.csv", "--labels", matrix / "y.txt", "--dissimilarity", "gauss", "--folds", 3, "--json")
    first, second = (json.loads(_compare(*words, "--seed", 5).stdout) for _ in range(2))
    keep = ("method", "error", "standard_error", "parameters")
    assert [[row[k] for k in keep] for row in first] == [[row[k] for k in keep] for row in second]


def test_voting_learns_its_similarity_within_each_fold(monkeypatch):
    table = compare_module.methods(similarity="vdm")
    monkeypatch.setattr(compare_module, "methods", lambda **contract: {"k-NN": table["k-NN"]})
    result = _compare("--dataset", "voting", "--json")
    (row,) = json.loads(result.stdout)
    assert 0.03 < row["error"] < 0.08


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((), "either MATRIX"),
        (("--dataset", "iris"), "--dataset must be"),
        (("nowhere.csv", "--labels", "nowhere.txt"), "nowhere.csv"),
        (("D.csv",), "--labels"),
        (("D.csv", "--labels", "y.txt", "--folds", "20"), "lower --folds"),
        (("D.csv", "--labels", "y.txt", "--dissimilarity", "magic", "--folds", "3"), "dissimilarity must be"),
    ],
)
def test_bad_arguments_end_with_code_2_and_one_message(words, message, matrix, monkeypatch):
    monkeypatch.chdir(matrix)
    result = _compare(*words)
    assert result.exit_code == 2
    assert message in result.stderr
    assert "Traceback" not in result.stderr
    assert result.stdout == ""
