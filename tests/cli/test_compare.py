"""``similitude compare``: nested cross-validation of many methods that share the work of a fold."""

import csv
import json

import joblib
import numpy as np
import pytest
from typer.testing import CliRunner

from similitude.auto.methods import SLOW, methods
from similitude.cli import app
from similitude.reader import Samples

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


@pytest.mark.untraced
@pytest.mark.filterwarnings("error")  # a user would see them
def test_ranked_table_and_saved_file(matrix):
    quick = [name for name in methods() if name not in SLOW]
    result = on_matrix("--folds", 2, "--dissimilarity", "max-minus", "-o", "table.csv", "--methods", ",".join(quick))
    assert result.exit_code == 0, result.output
    assert "k-NN" in result.stdout
    with open("table.csv") as file:
        rows = list(csv.DictReader(file))
    assert {row["method"] for row in rows} == {*quick, "combination"}
    errors = [float(row["error"]) for row in rows]
    assert errors == sorted(errors)
    assert errors[0] < 0.1
    assert all(float(row["standard_error"]) >= 0 for row in rows)
    assert not any(row["failure"] for row in rows)


def test_json_is_the_same_for_the_same_seed_and_any_number_of_jobs(matrix):
    words = ("--dissimilarity", "gauss", "--methods", "k-nn,SVM (flip)", "--json")
    with joblib.parallel_config("threading"):
        first, second, third = (
            json.loads(on_matrix(*words, "--seed", 5, "--n-jobs", jobs).stdout) for jobs in (1, 1, 2)
        )
    tables = [[[row[k] for k in KEPT] for row in rows] for rows in (first, second, third)]
    assert tables[0] == tables[1] == tables[2]
    assert {row["method"] for row in first} == {"k-NN", "SVM (flip)", "combination"}


def test_small_classes(matrix):
    """The folds adapt to the classes, and a class that cannot be tested is trained on and named."""
    (matrix / "y.txt").write_text("a\n" * 20 + "b\n" * 7 + "c\n" * 2 + "d\n")
    result = compare("D.csv", "--labels", "y.txt", "--dissimilarity", "max-minus", "--methods", "k-nn", "--folds", 50)
    assert result.exit_code == 0, result.output
    assert "classes not tested: d (too few samples to test)" in result.stderr
    assert "20-fold cross-validation" in result.stdout


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


def test_methods_without_time_are_listed_once(matrix):
    result = on_matrix("--dissimilarity", "gauss", "--methods", "k-nn,svm-clip", "--time-budget", "1e-9")
    assert result.exit_code == 0, result.output
    assert result.output.count("SVM (clip)") == 1
    assert "\nno time for SVM (clip)\n" in result.stdout


def test_methods_that_need_all_pairs_share_one_note(matrix):
    D = np.loadtxt("D.csv", delimiter=",")
    D[0, 1] = D[1, 0] = np.nan
    np.savetxt("D.csv", D, delimiter=",")
    result = on_matrix("--dissimilarity", "gauss", "--methods", "k-nn,svm-clip,svm-flip")
    assert result.exit_code == 0, result.output
    assert "not applicable: 0.2% of the pairs are unknown; --fill would allow them: SVM (clip), SVM" in result.stdout
    assert ("failed" in result.output, "NaN" in result.output) == (False, False)


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
        ((), "either FILE"),
        (("--dataset", "nothing"), "--dataset must be"),
        (("nowhere.csv", "--labels", "nowhere.txt"), "nowhere.csv"),
        (("D.csv",), "--labels"),
        (("D.csv", "--labels", "single.txt"), "a class of at least 3 samples"),
        (("D.csv", "--labels", "pairs.txt"), "a class of at least 3 samples is needed, because parameters are chosen"),
        (("D.csv", "--labels", "three.txt", "--folds", "2"), "a class of at least 4 samples"),
        (("D.csv", "--labels", "y.txt", "--dissimilarity", "magic", "--folds", "3"), "dissimilarity must be"),
        (("D.csv", "--labels", "y.txt", "--methods", "magic"), "got 'magic'"),
        (("D.csv", "--labels", "y.txt", "--methods", "svm-clp"), "got 'svm-clp'. Did you mean 'svm-clip'?"),
        (("D.csv", "--labels", "y.txt", "--methods", ","), "got none"),
        (("D.csv", "--labels", "y.txt", "--n-jobs", "0"), "--n-jobs"),
        (("D.csv", "--labels", "y.txt", "-o", "nowhere/t.csv"), "no folder nowhere"),
        (("D.csv", "--labels", "y.txt", "-o", "."), "is a folder"),
    ],
)
def test_bad_arguments_end_with_code_2_and_one_message(words, message, matrix):
    (matrix / "single.txt").write_text("".join(f"{i}\n" for i in range(30)))
    (matrix / "pairs.txt").write_text("".join(f"{i // 2}\n" for i in range(30)))
    (matrix / "three.txt").write_text("".join(f"{max(i, 2)}\n" for i in range(30)))
    result = compare("--quiet", *words)
    assert result.exit_code == 2
    assert message in result.stderr
    assert result.stderr.count("\n") == 1
    assert result.stdout == ""


def test_inner_folds_are_cut_once_for_all_methods(matrix, monkeypatch):
    cuts = []
    fold = Samples.fold
    monkeypatch.setattr(Samples, "fold", lambda self, *split: cuts.append(split) or fold(self, *split))
    on_matrix("--methods", "k-nn,nearest centroid,svm-clip", "--quiet")
    # Five inner folds for all methods, and the outer one for each method at its best points.
    assert len(cuts) == 3 * (5 + 3)
