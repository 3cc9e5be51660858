"""Samples without evidence in `similitude fit`, `compare` and `predict`, and queries without a hit."""

import csv
import json
import os
import shlex
import subprocess
import sys

import numpy as np
import pytest

from similitude import KNNClassifier, load_model, save_model
from tests.cli.test_hits import done, hit, refused
from tests.systems import needs_posix

N, CLASSES = 40, 2
FIT = ("fit", "hits.m8", "--labels", "families.tsv", "--method", "k-nn", "-o", "m.model")
NEW = {"n1": "f1", "n0": "f0"}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Hits of proteins of two families and of loners, of which three in four are of family f1, and hits of new ones.

    Of the new ones, only n0 and n1 have a hit to a training sample: the only hit of ``away`` is to an unknown id.
    """
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    with open("hits.m8", "w") as file:
        for i in rng.permutation(N):
            for j in range(N):
                if i % CLASSES == j % CLASSES:
                    file.write(hit(f"p{i}", f"p{j}", 300 if i == j else rng.uniform(80, 200)))
        file.writelines(hit(f"lone{i}", f"lone{i}", 300) for i in range(8))
    with open("families.tsv", "w") as file:
        file.write("id\tfamily\n")
        file.writelines(f"p{i}\tf{i % CLASSES}\n" for i in range(N))
        file.writelines(f"lone{i}\tf{int(i < 6)}\n" for i in range(8))
    with open("new.m8", "w") as file:
        file.write(hit("n1", "p1", 90) + hit("away", "far", 50) + hit("n1", "p3", 80) + hit("n0", "p0", 90))
    (tmp_path / "new.fasta").write_text(">n0 a\nMK-T\n>missing\nMKV\n>away\nMKL\n>n1\nMKA\n")
    return tmp_path


def table(path="out.csv"):
    with open(path, newline="") as file:
        return {row["id"]: row for row in csv.DictReader(file)}


def learned(model):
    """The probabilities of samples without evidence, in the order of the classes."""
    fitted = load_model(model)
    (none,) = fitted.predict_proba(np.zeros((1, fitted.n_features_in_)))
    return dict(zip(fitted.classes_.tolist(), none.tolist()))


@pytest.mark.parametrize("missing", ["zero", "unknown", "-1"])
def test_new_samples_without_an_edge_are_unassigned(folder, missing):
    done(*FIT, "--quiet", "--missing", missing)
    told = done("predict", "m.model", "new.m8", "-o", "out.csv")
    rows = table()
    assert list(rows) == ["n1", "away", "n0"]
    assert {name: row["label"] for name, row in rows.items()} == {**NEW, "away": "unassigned"}
    assert {name: int(row["evidence"]) for name, row in rows.items()} == {"n1": 2, "away": 0, "n0": 1}
    # Of eight left-out loners six are of f1; the pseudo-counts are two.
    for name, count in {"f0": 2 + 2 * 22 / 48, "f1": 6 + 2 * 26 / 48}.items():
        assert float(rows["away"][name]) == pytest.approx(count / 10)
    assert "3 rows: f0 1, f1 1, unassigned 1" in told.stdout
    assert [name for name, row in rows.items() if row["typicality"] == row["familiarity"] == "no evidence"] == ["away"]
    assert "1 of 3 samples give no evidence, because they have no edge to a training sample: 'away'" in told.stderr
    assert "no known similarity" not in told.stderr
    assert "queries without an edge cannot be seen in such a file; --queries FILE" in told.stderr
    told = done("predict", "m.model", "new.m8", "-o", "out.csv", "--assign-all", "--json")
    assert json.loads(told.stdout)["without_evidence"] == 1
    assert json.loads(told.stdout)["labels"] == {"f0": 1, "f1": 2}
    assert table()["away"]["label"] == "f1"


@pytest.mark.parametrize(
    ("name", "text", "columns"),
    [
        ("new.fasta", None, None),
        ("ids.txt", "n0\nmissing\naway\nn1\n", "no header; queries: column 1."),
        (
            "ids.tsv",
            "length\taccession\n5\tn0\n6\tmissing\n\t\n7\taway\n8\tn1\n",
            "the first line is a header; queries: column 2 (accession); not used: column 1 (length).",
        ),
        ("ids.csv", "n0,x\nmissing,n0x\naway,z\nn1,z\n", "no header; queries: column 1; not used: column 2."),
    ],
)
def test_a_row_for_each_query(folder, name, text, columns):
    if text is not None:
        (folder / name).write_text(text)
    done(*FIT, "--quiet")
    told = done("predict", "m.model", "new.m8", "--queries", name, "-o", "out.csv")
    assert "cannot be seen" not in told.stderr
    assert columns is None or f"similitude: {name}: {columns}\n" in told.stderr
    rows = table()
    assert list(rows) == ["n0", "missing", "away", "n1"]
    assert {name: row["label"] for name, row in rows.items()} == {
        **NEW, "away": "unassigned", "missing": "unassigned"
    }  # fmt: skip
    probabilities = learned("m.model")
    for query in ("missing", "away"):
        assert {name: float(rows[query][name]) for name in probabilities} == probabilities
    done("predict", "m.model", "new.m8", "-o", "fewer.csv")
    assert all(rows[query] == row for query, row in table("fewer.csv").items())


@pytest.mark.parametrize("text", ["# 0 hits found\n", ""])
def test_a_search_that_found_nothing(folder, text):
    done(*FIT, "--quiet")
    (folder / "none.m8").write_text(text)
    done("predict", "m.model", "none.m8", "--queries", "new.fasta", "-o", "out.csv")
    assert {row["label"] for row in table().values()} == {"unassigned"}
    assert "the file is empty" in refused("predict", "m.model", "none.m8", "-o", "out.csv")


def test_queries_that_do_not_fit(folder):
    done(*FIT, "--quiet")
    words = ("predict", "m.model", "new.m8", "-o", "out.csv", "--queries")
    (folder / "some.txt").write_text("n0\naway\n")
    assert "1 queries of new.m8 are not in some.txt: 'n1'; it must name all queries" in refused(*words, "some.txt")
    (folder / "twice.txt").write_text("n0\naway\nn1\nn0\n")
    assert "twice.txt" in refused(*words, "twice.txt")
    (folder / "empty.txt").write_text("")
    assert "--queries: empty.txt: the file is empty" in refused(*words, "empty.txt")
    np.save("rows.npy", np.zeros((1, 48)))
    assert "--queries: rows.npy is not a text file" in refused(*words, "rows.npy")
    with open("old.m8", "w") as file:
        file.write(hit("p1", "n0", 50))
    message = refused("predict", "m.model", "old.m8", "-o", "out.csv", "--queries", "new.fasta")
    assert "none of the 4 ids in new.fasta is a query of old.m8" in message
    assert "--queries is for edge lists" in refused(
        "predict", "m.model", "rows.npy", "-o", "o.csv", *words[-1:], "new.fasta"
    )


def test_queries_that_are_training_samples_have_a_row(folder):
    done(*FIT, "--quiet")
    with open("new.m8", "a") as file:
        file.write(hit("p4", "p4", 300) + hit("p4", "p2", 80))
    (folder / "ids.txt").write_text("p4\nn0\naway\nn1\n")
    told = done("predict", "m.model", "new.m8", "--queries", "ids.txt", "-o", "out.csv")
    assert "1 of 4 queries are training samples: 'p4'" in told.stderr
    assert (table()["p4"]["label"], table()["p4"]["evidence"]) == ("f0", "2")


def test_queries_without_a_hit_need_no_self_score(folder):
    done(*FIT, "--quiet", "--normalise", "self")
    assert "2 of 2 have none: 'n0', 'n1'" in refused(
        "predict", "m.model", "new.m8", "--queries", "new.fasta", "-o", "out.csv"
    )
    with open("new.m8", "a") as file:
        file.write(hit("n0", "n0", 300) + hit("n1", "n1", 300))
    done("predict", "m.model", "new.m8", "--queries", "new.fasta", "-o", "out.csv")
    assert {name: table()[name]["label"] for name in NEW} == NEW


def test_several_searches_with_different_queries(folder):
    """A query gives evidence if it has a hit in one of the files, and all queries have a row for each."""
    every = (folder / "hits.m8").read_text().splitlines(keepends=True)
    for name, own in {"even": (0, 1), "odd": (2, 3)}.items():  # each has the hits of half of the samples of a family
        kept = [line for line in every if line.split()[0][0] == "l" or int(line.split()[0][1:]) % 4 in own]
        (folder / f"{name}.m8").write_text("".join(kept))
    done("fit", "even.m8", "odd.m8", *FIT[2:], "--quiet")
    assert {member.similarity for member in load_model("m.model").members_} == {"even", "odd"}
    with open("more-new.m8", "w") as file:
        file.write(hit("away", "p2", 90) + hit("n1", "p1", 90))
    words = ("predict", "m.model", "new.m8", "more-new.m8", "-o", "out.csv")
    assert "must have the same samples in the same order" in refused(*words)
    done(*words, "--queries", "new.fasta")
    assert {name: int(row["evidence"]) for name, row in table().items()} == {"n0": 1, "missing": 0, "away": 1, "n1": 3}
    assert table()["missing"]["label"] == "unassigned"
    assert table()["away"]["label"] == "f0"


def test_fit_and_compare_show_the_errors_by_evidence(folder):
    told = json.loads(done(*FIT, "--quiet", "--json").stdout)
    assert told["without_evidence"] == 8 / 48
    assert (told["error_with_evidence"], told["error_without_evidence"]) == (0, 0.25)
    assert told["error"] == pytest.approx(2 / 48)
    text = done(*FIT).stdout
    assert "evidence    16.67 % of the samples give none: error 0.00 % with evidence, 25.00 % without evidence" in text
    assert "4.17 (2.91)   0.00 % with evidence, 25.00 % without evidence" in text
    words = ("compare", "hits.m8", "--labels", "families.tsv", "--methods", "k-nn,affinity-k-nn", "--folds", "4")
    shown = done(*words, "-o", "table.csv").stdout
    assert "with evidence %" in shown
    assert "16.67% of the samples give no evidence" in " ".join(shown.split())
    with open("table.csv", newline="") as file:
        (first, *_) = csv.DictReader(file)
    assert (float(first["error_with_evidence"]), float(first["error_without_evidence"])) == (0, 0.25)


def test_rows_of_a_matrix(folder):
    """Any model has the column; a class of the name that would be written is an error."""
    S = np.exp(-np.abs(np.subtract.outer(np.arange(12.0), np.arange(12.0))))
    np.save("rows.npy", np.array([S[3], np.full(12, 0.5)]))
    save_model("knn.model", KNNClassifier(3).fit(S, ["a"] * 6 + ["b"] * 6))
    told = done("predict", "knn.model", "rows.npy", "-o", "out.csv")
    with open("out.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [(row["label"], row["evidence"]) for row in rows] == [("a", "yes"), ("unassigned", "no")]
    assert (
        "1 of 2 samples give no evidence, because their values to all training samples are equal: row 2" in told.stderr
    )
    save_model("knn.model", KNNClassifier(3).fit(S, ["a"] * 6 + ["unassigned"] * 6))
    assert "'unassigned', which is a class of the model; add --assign-all" in refused(
        "predict", "knn.model", "rows.npy", "-o", "out.csv"
    )
    done("predict", "knn.model", "rows.npy", "-o", "out.csv", "--assign-all")


def test_raw_objects(folder):
    """Whole rows are computed, except by a finder, which cannot know."""
    words = np.array([["a"], ["b"]] * 8, dtype=object)
    for search in ("matrix", "stream"):
        model = KNNClassifier(3, similarity="counting", search=search).fit(words, np.arange(16) % 2)
        save_model("words.model", model)
        (folder / "rows.csv").write_text("a\nc\n")
        told = done("predict", "words.model", "rows.csv", "-o", "out.csv")
        with open("out.csv", newline="") as file:
            rows = list(csv.DictReader(file))
        if search == "matrix":
            assert [row["evidence"] for row in rows] == ["yes", "no"]
        else:
            assert "no column evidence: search='stream' finds neighbours without computing whole rows" in told.stderr
            assert "evidence" not in rows[0]


@needs_posix
def test_streams_of_predict(folder):
    done(*FIT, "--quiet")
    done("predict", "m.model", "new.m8", "--queries", "new.fasta", "-o", "files.csv")
    predict = f"{shlex.quote(sys.executable)} -c 'from similitude_command import main; main()' predict"
    given = f"{predict} <(cat m.model) <(gzip -c new.m8) --queries <(cat new.fasta) -o out.csv"
    result = subprocess.run(["bash", "-c", given], capture_output=True, encoding="utf-8")
    assert result.returncode == 0, result.stderr
    assert table() == table("files.csv")
    os.mkfifo("fifo")
    (folder / "alias").symlink_to("fifo")
    words = ("predict", "m.model", "fifo", "--queries", "alias", "-o", "out.csv")
    assert "--queries: alias is also ROWS, but a stream can be read only once" in refused(*words)
