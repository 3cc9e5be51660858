"""``similitude compare``: nested cross-validation of many methods that share the work of a fold."""

import csv
import json

import joblib
import numpy as np
import pytest
from sklearn.model_selection import StratifiedKFold, cross_validate
from typer.testing import CliRunner

from similitude import PathSearchCV
from similitude.cli import app
from similitude.datasets import load_voting
from similitude.reader import Reader, Samples
from similitude.search.methods import SLOW, methods
from similitude.search.nested import nested_errors

QUICK = ["k-NN", "KRR k-NN", "Fisher (embedded)", "SVM (clip)"]
KEPT = ("method", "error", "standard_error", "parameters")


@pytest.fixture
def matrix(tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    y = np.arange(30) % 2
    X = rng.normal(size=(30, 2)) + 3 * y[:, None]
    D = np.abs(X[:, None] - X[None]).sum(axis=2)
    np.savetxt(tmp_path / "D.csv", D, delimiter=",")
    (tmp_path / "y.txt").write_text("\n".join("ab"[label] for label in y) + "\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def compare(*words):
    return CliRunner().invoke(app, ["compare", *map(str, words)])


def on_matrix(*words):
    return compare("D.csv", "--labels", "y.txt", "--folds", 3, *words)


@pytest.mark.filterwarnings("error")  # a user would see them
def test_ranked_table_and_saved_file(matrix):
    quick = [name for name in methods() if name not in SLOW]
    result = on_matrix("--folds", 2, "--dissimilarity", "max-minus", "-o", "table.csv", "--methods", ",".join(quick))
    assert result.exit_code == 0, result.output
    assert "k-NN" in result.stdout
    with open("table.csv") as file:
        rows = list(csv.DictReader(file))
    assert {row["method"] for row in rows} == set(quick)
    errors = [float(row["error"]) for row in rows]
    assert errors == sorted(errors)
    assert errors[0] < 0.1
    assert all(float(row["standard_error"]) >= 0 for row in rows)
    assert not any(row["failure"] for row in rows)


@pytest.mark.untraced
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", ["learned", "dissimilarity", "objects"])
def test_errors_and_parameters_are_those_of_a_nested_search(kind):
    """What methods share changes nothing: each does as in scikit-learn's cross-validation of a search."""
    voting = load_voting()
    X, y, contract = voting.data[:40], voting.target[:40], {"similarity": "vdm"}
    if kind == "objects":
        contract = {"similarity": "counting"}
    if kind == "dissimilarity":
        X, contract = 16.0 - (X[:, None] == X[None]).sum(axis=2), {"dissimilarity": "gauss"}
    samples = Samples(Reader(**contract), X, y)
    outcomes = nested_errors(samples, methods(QUICK, **contract), folds=3, seed=1, n_jobs=1, show=False)
    outer, inner = (StratifiedKFold(k, shuffle=True, random_state=1) for k in (3, 5))
    for outcome in outcomes:
        search = PathSearchCV(*methods(**contract)[outcome.method], cv=inner)
        done = cross_validate(search, X, y, cv=outer, return_estimator=True, error_score="raise")
        errors = 1 - done["test_score"]
        assert outcome.error == pytest.approx(errors.mean(), abs=1e-12)
        assert outcome.standard_error == pytest.approx(errors.std(ddof=1) / np.sqrt(3), abs=1e-12)
        assert outcome.parameters in [fitted.best_params_ for fitted in done["estimator"]]


def test_json_is_the_same_for_the_same_seed_and_any_number_of_jobs(matrix):
    words = ("--dissimilarity", "gauss", "--methods", "k-nn,SVM (flip)", "--json")
    with joblib.parallel_config("threading"):
        first, second, third = (
            json.loads(on_matrix(*words, "--seed", 5, "--n-jobs", jobs).stdout) for jobs in (1, 1, 2)
        )
    tables = [[[row[k] for k in KEPT] for row in rows] for rows in (first, second, third)]
    assert tables[0] == tables[1] == tables[2]
    assert {row["method"] for row in first} == {"k-NN", "SVM (flip)"}


def test_voting_learns_its_similarity_within_each_fold():
    result = compare("--dataset", "voting", "--methods", "k-nn", "--folds", 4, "--json", "--quiet")
    (row,) = json.loads(result.stdout)
    assert 0.03 < row["error"] < 0.08
    assert result.stderr == ""


@pytest.mark.filterwarnings("error")
def test_a_narrow_terminal_cuts_nothing_off(matrix):
    words = ("compare", "D.csv", "--labels", "y.txt", "--folds", "2", "--methods", "k-nn", "--dissimilarity", "gauss")
    result = CliRunner().invoke(app, words, env={"FORCE_COLOR": "1", "TERM": "xterm", "COLUMNS": "40"})
    assert result.exit_code == 0, result.output
    assert "…" not in result.stdout


def test_quiet(matrix):
    assert on_matrix("--methods", "k-nn", "--quiet", "-o", "t.csv").output == ""
    assert (matrix / "t.csv").exists()
    shown = on_matrix("--methods", "k-nn", "--quiet")
    assert (shown.stderr, "k-NN" in shown.stdout) == ("", True)
    assert "looks like a dissimilarity" in on_matrix("--methods", "k-nn").stderr


def test_one_method_that_fails_does_not_keep_the_others_from_it(matrix, monkeypatch):
    from similitude import SimilaritySVC

    def fail(*args, **more):
        raise RuntimeError("out of order")

    monkeypatch.setattr(SimilaritySVC, "_fit_path", fail)
    words = ("--dissimilarity", "max-minus", "--methods")
    result = on_matrix(*words, "k-nn,svm-clip", "--json")
    rows = json.loads(result.stdout)
    assert [row["error"] is None for row in rows] == [False, True]
    assert rows[1]["failure"] == "RuntimeError: out of order"
    assert "SVM (clip) failed: RuntimeError: out of order" in result.stderr
    assert "failed" in on_matrix(*words, "k-nn,svm-clip").stdout
    alone = on_matrix(*words, "svm-clip")
    assert alone.exit_code == 2
    assert "no method could be used" in alone.stderr


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((), "either MATRIX"),
        (("--dataset", "nothing"), "--dataset must be"),
        (("nowhere.csv", "--labels", "nowhere.txt"), "nowhere.csv"),
        (("D.csv",), "--labels"),
        (("D.csv", "--labels", "y.txt", "--folds", "20"), "lower --folds"),
        (("D.csv", "--labels", "y.txt", "--dissimilarity", "magic", "--folds", "3"), "dissimilarity must be"),
        (("D.csv", "--labels", "y.txt", "--methods", "magic"), "got 'magic'"),
        (("D.csv", "--labels", "y.txt", "--methods", ","), "got none"),
        (("D.csv", "--labels", "y.txt", "--n-jobs", "0"), "--n-jobs"),
        (("D.csv", "--labels", "y.txt", "-o", "nowhere/t.csv"), "no folder nowhere"),
        (("D.csv", "--labels", "y.txt", "-o", "."), "is a folder"),
    ],
)
def test_bad_arguments_end_with_code_2_and_one_message(words, message, matrix):
    result = compare("--quiet", *words)
    assert result.exit_code == 2
    assert message in result.stderr
    assert result.stderr.count("\n") == 1
    assert result.stdout == ""


def test_folds_are_cut_once_for_all_methods(matrix, monkeypatch):
    cuts = []
    fold = Samples.fold
    monkeypatch.setattr(Samples, "fold", lambda self, *split: cuts.append(split) or fold(self, *split))
    on_matrix("--methods", "k-nn,nearest centroid,svm-clip", "--quiet")
    assert len(cuts) == 3 * (5 + 1)
