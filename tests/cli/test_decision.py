"""``--scoring``, ``--costs``, ``--priors`` and ``--class-weight``, and the balanced error beside the error."""

import json

import numpy as np
import pytest
from sklearn.metrics import balanced_accuracy_score

from similitude.auto.leaderboard import balanced_error
from tests.cli.command import done, read_table, refused

N_A, N_B = 24, 8


@pytest.fixture
def files(tmp_path, monkeypatch):
    """Overlapping classes of 24 and 8 samples, and files with costs, shares and weights."""
    rng = np.random.default_rng(0)
    x = np.concatenate([rng.normal(0, 1, N_A), rng.normal(1.5, 1, N_B)])
    np.savetxt(tmp_path / "S.csv", -np.abs(x[:, None] - x), delimiter=",")
    (tmp_path / "y.txt").write_text("a\n" * N_A + "b\n" * N_B)
    # Predicting b costs nothing, whatever the truth; the columns are in another order than the rows.
    (tmp_path / "costs.csv").write_text("predicted,b,a\na,1,0\nb,0,0\n")
    (tmp_path / "priors.csv").write_text("class,share\nb,0\na,1\n")
    (tmp_path / "weights.csv").write_text("b,1000000\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def compared(*words):
    found = json.loads(
        done("compare", "S.csv", "--labels", "y.txt", "--methods", "k-nn", "--folds", 4, "--json", *words).stdout
    )
    (row,) = found
    return row


def test_balanced_error_is_that_of_scikit_learn():
    rng = np.random.default_rng(1)
    truth, predicted = rng.choice(3, 90, p=[0.7, 0.2, 0.1]), rng.integers(3, size=90)
    expected = 1 - balanced_accuracy_score(truth, predicted)
    assert balanced_error((truth != predicted).astype(float), truth) == pytest.approx(expected)
    assert balanced_error(np.ones(8), np.arange(8) % 2) is None  # the classes are of the same size


def test_costs_are_by_predicted_class_first(files):
    row = compared("--costs", "costs.csv")
    assert (row["error"], row["balanced_error"]) == (N_A / (N_A + N_B), 0.5)
    done("fit", "S.csv", "--labels", "y.txt", "--method", "k-nn", "--costs", "costs.csv", "-o", "m")
    done("predict", "m", "S.csv", "-o", "p.csv")
    head, *rows = read_table(files / "p.csv")
    assert {cells[head.index("label")] for cells in rows} == {"b"}


def test_priors_weights_and_scores(files):
    assert compared("--priors", "priors.csv")["error"] == 0  # among samples of a alone, a is always right
    weighted = compared("--class-weight", "weights.csv")
    assert weighted["error"] > 0.5 > weighted["balanced_error"] - 0.1
    balanced = compared("--scoring", "balanced_accuracy")
    assert balanced["score"] == pytest.approx(1 - balanced["balanced_error"])
    shown = done("fit", "S.csv", "--labels", "y.txt", "--method", "k-nn", "-o", "m", "--scoring", "balanced_accuracy")
    assert "balanced " in shown.stdout
    (line,) = [line for line in shown.stdout.splitlines() if line.startswith("score ")]
    assert 0.5 < float(line.split()[1]) < 1


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--scoring", "nonsense"), "--scoring must be"),
        (("--costs", "absent.csv"), "absent.csv"),
        (("--priors", "weights.csv"), "--priors: weights.csv: missing: 'a'"),
        (("--class-weight", "strange.csv"), "no class: 'c'; the classes are 'a', 'b'"),
        (("--costs", "unnamed.csv"), "the classes are not named"),
    ],
)
def test_what_is_refused(files, words, said):
    (files / "strange.csv").write_text("class,weight\na,1\nc,2\n")
    (files / "unnamed.csv").write_text("0,1\n1,0\n")
    assert said in refused("compare", "S.csv", "--labels", "y.txt", "--methods", "k-nn", *words)
