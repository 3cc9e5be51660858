"""``similitude fit --unlabelled use``: labels are missing in a table or a list, and all columns are needed later."""

import json

import numpy as np
import pytest

from similitude import load_model
from tests.cli.command import read_table, run

N = 60
NAMES = [f"s{i}" for i in range(N)]


@pytest.fixture
def place(tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    y = np.arange(N) % 2
    points = rng.normal(size=(N, 2)) + 3 * y[:, None]
    S = np.exp(-((points[:, None] - points) ** 2).sum(axis=2))
    kept = np.sort(rng.permutation(N)[:20])
    monkeypatch.chdir(tmp_path)
    lines = [f"{NAMES[i]}\t{NAMES[j]}\t{float(S[i, j])!r}" for i in range(N) for j in range(N) if S[i, j] > 0.01]
    (tmp_path / "edges.tsv").write_text("\n".join(lines) + "\n")
    (tmp_path / "y.tsv").write_text("id\tlabel\n" + "".join(f"{NAMES[i]}\t{'ab'[y[i]]}\n" for i in kept))
    np.save(tmp_path / "S.npy", S)
    (tmp_path / "list.txt").write_text("".join(f"{'ab'[y[i]] if i in kept else ''}\n" for i in range(N)))
    new = [f"n{i}\t{NAMES[j]}\t{float(S[i, j])!r}" for i in range(5) for j in range(N) if S[i, j] > 0.01]
    (tmp_path / "new.tsv").write_text("\n".join(new) + "\n")
    return S, y


FIT = ("--method", "label-spreading", "-o", "m.model")


def test_a_table_of_some_labels(place, tmp_path):
    result = run("fit", "edges.tsv", "--labels", "y.tsv", *FIT, "--unlabelled", "use")
    assert result.exit_code == 0, result.output
    assert "unlabelled  40 samples without a label are used beside 20 with one: methods" in result.stdout
    assert "have no label and are left out" not in result.stderr
    model = load_model("m.model")
    assert model.n_features_in_ == N
    result = run("predict", "m.model", "new.tsv", "-o", "out.csv", "--quiet")
    assert result.exit_code == 0, result.output
    header, *rows = read_table(tmp_path / "out.csv")
    assert [row[header.index("label")] for row in rows] == ["ab"[g] for g in place[1][:5]]


def test_they_are_left_out_by_default(place):
    result = run("fit", "edges.tsv", "--labels", "y.tsv", *FIT)
    assert result.exit_code == 0, result.output
    assert "40 samples have no label and are left out" in result.stderr
    assert load_model("m.model").n_features_in_ == 20
    assert "unlabelled" not in result.stdout


def test_a_list_with_empty_lines(place):
    result = run("fit", "S.npy", "--labels", "list.txt", *FIT, "--unlabelled", "use", "--json", "--quiet")
    assert result.exit_code == 0, result.output
    outcome = json.loads(result.stdout)
    assert outcome["samples"] == 20
    assert outcome["unlabelled"]["n_unlabelled"] == 40
    assert outcome["unlabelled"]["weight"] == 1.0
    result = run("fit", "S.npy", "--labels", "list.txt", *FIT)
    assert result.exit_code == 2
    assert "has no label" in result.stderr


def test_report(place, tmp_path):
    words = ("--methods", "k-nn,label-spreading", "-o", "page.html", "--unlabelled", "use", "--quiet")
    result = run("report", "edges.tsv", "--labels", "y.tsv", *words)
    assert result.exit_code == 0, result.output
    html = (tmp_path / "page.html").read_text()
    assert "40 samples without a label are used beside 20 with one" in html
    assert "label spreading" in html


def test_errors_and_notes(place, tmp_path):
    (tmp_path / "words.txt").write_text("one\ntwo\nthree\n")
    words = ("--similarity", "levenshtein", "--unlabelled", "use")
    result = run("fit", "words.txt", "--labels", "list.txt", *words, *FIT)
    assert result.exit_code == 2
    assert "--unlabelled use is for one FILE of similarities" in result.stderr
    result = run("fit", "edges.tsv", "--labels", "y.tsv", "--no-leak", "0.9", "--unlabelled", "use", *FIT)
    assert result.exit_code == 2
    assert "--no-leak compares samples with labels" in result.stderr
    (tmp_path / "all.txt").write_text("a\nb\n" * (N // 2))
    result = run("fit", "S.npy", "--labels", "all.txt", *FIT, "--unlabelled", "use")
    assert result.exit_code == 0, result.output
    assert "every sample of S.npy has a label" in result.stderr
    assert "unlabelled" not in result.stdout
