"""``similitude pairwise``: from raw objects in a file to a matrix in a file."""

import csv
import json
import os

import numpy as np
import pytest
from typer.testing import CliRunner

from similitude.cli import app
from similitude.datasets import load_proximity
from similitude.similarities import VDM, pairwise
from similitude.similarities.journal import DiskMatrix

TEXTS = ["cat", "cart", "a, b", "ζέ"]
WORDS = [["red", "round"], ["red", "square"], ["blue", "round"]]
NUMBERS = np.array([[0.0, 1.0], [2.5, -1.0], [1e-3, 4.0]])


def run(*words):
    return CliRunner().invoke(app, ["pairwise", *map(str, words)])


def write(path, rows):
    with open(path, "w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows(rows)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "texts.txt").write_text("\n".join(TEXTS) + "\n", encoding="utf-8")
    write("texts.csv", [[text] for text in TEXTS])
    write("named.csv", [["id", "text"], *([f"t{i}", text] for i, text in enumerate(TEXTS))])
    write("words.csv", WORDS)
    write("numbers.csv", [["id", "x", "y"], *([f"n{i}", *row] for i, row in enumerate(NUMBERS.tolist()))])
    np.save("numbers.npy", NUMBERS)
    np.savez("numbers.npz", a=NUMBERS, b=NUMBERS[:1])
    np.save("images.npy", np.arange(32.0).reshape(2, 4, 4))
    (tmp_path / "sets.txt").write_text("a b c\nb c\nd\n")
    (tmp_path / "y.txt").write_text("warm\nwarm\ncold\n")
    return tmp_path


@pytest.mark.parametrize(
    ("file", "similarity", "objects"),
    [
        ("texts.txt", "compression", TEXTS),
        ("texts.csv", "compression", TEXTS),
        ("named.csv", "compression", TEXTS),
        ("words.csv", "counting", WORDS),
        ("numbers.csv", "euclidean", NUMBERS),
        ("numbers.npy", "rbf", NUMBERS),
        ("numbers.npy", "canberra", NUMBERS),
        ("images.npy", "euclidean-image", np.arange(32.0).reshape(2, 4, 4)),
        ("sets.txt", "jaccard", [{"a", "b", "c"}, {"b", "c"}, {"d"}]),
    ],
)
@pytest.mark.parametrize("out", ["S.csv", "S.npy", "S.npz"])
def test_the_matrix_is_that_of_the_library(file, similarity, objects, out, folder):
    result = run(file, "--similarity", similarity, "-o", out)
    assert result.exit_code == 0, result.output
    found = load_proximity(out)
    expected = pairwise(np.array(objects, dtype=object) if objects is WORDS else objects, similarity=similarity)
    assert np.array_equal(found.S, expected)
    if file == "named.csv":
        assert found.ids.tolist() == ["t0", "t1", "t2", "t3"]


def test_against_others(folder):
    np.save("more.npy", NUMBERS[:1] + 1)
    result = run("more.npy", "--similarity", "euclidean", "--against", "numbers.csv", "-o", "D.csv", "--json")
    found = json.loads(result.stdout)
    assert (found["rows"], found["columns"]) == (1, 3)
    assert (found["values"], found["dissimilarity"]) == ("dissimilarities", "max-minus")
    data = load_proximity("D.csv", square=False)
    assert np.array_equal(data.S, pairwise(NUMBERS[:1] + 1, NUMBERS, similarity="euclidean"))
    assert data.column_ids.tolist() == ["n0", "n1", "n2"]
    assert "--dissimilarity max-minus" in run("numbers.npy", "--similarity", "euclidean", "-o", "D.npy").stdout


def test_learned_from_labels_and_without(folder):
    assert run("words.csv", "--similarity", "vdm", "--labels", "y.txt", "-o", "D.npy").exit_code == 0
    words = np.array(WORDS, dtype=object)
    learned = VDM().fit(words, np.array(["warm", "warm", "cold"]))
    assert np.array_equal(np.load("D.npy"), learned(words, words))
    assert run("words.csv", "--similarity", "goodall", "-o", "G.npy").exit_code == 0
    assert np.load("G.npy").shape == (3, 3)


def test_resume_goes_on_where_it_stopped(folder, monkeypatch):
    rng = np.random.default_rng(0)
    np.save("many.npy", rng.normal(size=(300, 2)))
    words = ("many.npy", "--similarity", "manhattan", "-o", "D.npy", "--resume")
    write_block, written = DiskMatrix.write, []

    def interrupted(self, block, values):
        if len(written) == 2:
            raise KeyboardInterrupt
        written.append(block)
        write_block(self, block, values)

    monkeypatch.setattr(DiskMatrix, "write", interrupted)
    assert run(*words).exit_code == 130
    assert (folder / "D.npy.journal").exists()
    monkeypatch.setattr(DiskMatrix, "write", write_block)
    assert run(*words).exit_code == 0
    assert not (folder / "D.npy.journal").exists()
    assert np.array_equal(np.load("D.npy"), pairwise(np.load("many.npy"), similarity="manhattan"))
    again = run(*words)
    assert (again.exit_code, again.stdout) == (2, "")


def test_quiet(folder):
    assert run("numbers.csv", "--similarity", "rbf", "-o", "S.csv", "--quiet").output == ""
    assert run("numbers.csv", "--similarity", "rbf", "-o", "S.npy", "--quiet", "--resume").output == ""


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("nowhere.csv", "--similarity", "rbf"), "nowhere.csv"),
        ((".", "--similarity", "rbf"), "is not a file"),
        (("words.csv", "--similarity", "contning"), "Did you mean"),
        (("words.csv", "--similarity", "rbf"), "words.csv"),
        (("texts.txt", "--similarity", "rbf"), "lines of text are not feature vectors"),
        (("words.csv", "--similarity", "levenshtein"), "has 2 columns of text, 'red', 'round'"),
        (("ragged.csv", "--similarity", "counting"), "row 2 has 1 cells"),
        (("empty.csv", "--similarity", "counting"), "empty"),
        (("empty.txt", "--similarity", "levenshtein"), "empty"),
        (("empty.npy", "--similarity", "rbf"), "the file is empty"),
        (("flat.npy", "--similarity", "rbf"), "holds no objects: an array of shape (3, 0)"),
        (("twice.csv", "--similarity", "counting"), "appears twice (rows 2 and 3)"),
        (("heading.csv", "--similarity", "counting"), "no objects"),
        (("bad.npy", "--similarity", "rbf"), "bad.npy"),
        (("pickled.npy", "--similarity", "rbf"), "pickled"),
        (("none.npy", "--similarity", "rbf"), "no objects"),
        (("complex.npy", "--similarity", "rbf"), "complex128"),
        (("numbers.npz", "--similarity", "rbf"), "--key"),
        (("numbers.npz", "--similarity", "rbf", "--key", "c"), "no array 'c'"),
        (("numbers.npy", "--similarity", "rbf", "--key", "c"), "--key is for .npz"),
        (("words.xyz", "--similarity", "counting"), ".xyz"),
        (
            ("words.csv", "--similarity", "counting", "--against", "nowhere.csv"),
            "--against: there is no file nowhere.csv",
        ),
        (("words.csv", "--similarity", "vdm"), "--labels"),
        (("words.csv", "--similarity", "vdm", "--labels", "nowhere.txt"), "nowhere.txt"),
        (("words.csv", "--similarity", "vdm", "--labels", "."), "--labels: . is not a file"),
        (("words.csv", "--similarity", "counting", "--labels", "y.txt"), "does not learn"),
        (("words.csv", "--similarity", "counting", "--n-jobs", "0"), "--n-jobs"),
        (("words.csv", "--similarity", "counting", "--resume"), "--resume"),
        (("words.csv", "--similarity", "counting", "-o", "S.mat"), "must end in"),
        (("words.csv", "--similarity", "counting", "-o", "nowhere/S.csv"), "no folder nowhere"),
    ],
)
def test_bad_arguments(words, message, folder):
    write("ragged.csv", [["a", "b"], ["c"]])
    write("twice.csv", [["id", "x"], ["a", "b"], ["a", "c"]])
    write("heading.csv", [["id"], ["a"]])
    for name in ("empty.csv", "empty.txt", "empty.npy"):
        (folder / name).write_text("")
    (folder / "bad.npy").write_bytes(b"nothing")
    (folder / "words.xyz").write_text("a")
    np.save("pickled.npy", np.array([{}], dtype=object), allow_pickle=True)
    np.save("none.npy", np.empty((0, 2)))
    np.save("flat.npy", np.empty((3, 0)))
    np.save("complex.npy", np.eye(2) * 1j)
    before = set(os.listdir(folder))
    result = run(*words, *(() if "-o" in words else ("-o", "S.csv")))
    assert result.exit_code == 2, (result.output, result.exception)
    assert result.stdout == ""
    assert result.stderr.count("\n") == 1, result.stderr
    assert result.stderr.startswith("similitude: ")
    assert message in result.stderr
    assert set(os.listdir(folder)) == before
