"""From objects with ids to a matrix, and from labels in another order to the right samples, in every command."""

import csv
import json

import numpy as np
import pytest

from similitude import load_model
from similitude.datasets import load_proximity
from tests.cli.command import run

N = 40
ORDER = np.random.default_rng(1).permutation(N)
NAMES = [f"s{i}" for i in ORDER]
FAR = 10.0


def write(path, rows):
    with open(path, "w", newline="", encoding="utf-8") as file:
        csv.writer(file, delimiter="\t", lineterminator="\n").writerows(rows)


def points(names, seed):
    """Points on a line, by name: those with even numbers are near 0, the others far from it."""
    x = np.random.default_rng(seed).normal(size=len(names))
    return [["id", "x"], *([name, x[i] + FAR * (int(name[1:]) % 2)] for i, name in enumerate(names))]


def fill(objects, output, *words):
    result = run("pairwise", objects, "--similarity", "euclidean", "-o", output, *words)
    assert result.exit_code == 0, result.output
    return result.stdout


def nearest_neighbour_error(matrix, *words):
    result = run("inspect", matrix, "--labels", "labels.tsv", "--dissimilarity", "max-minus", "--json", *words)
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)["leave_one_out_error"]


def assert_refused(result, *messages):
    assert (result.exit_code, result.stdout) == (2, ""), (result.output, result.exception)
    error = result.stderr.splitlines()[-1]  # below notes on the columns
    for message in messages:
        assert message in error


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write("x.tsv", points(NAMES, 0))
    write("nameless.csv", [row[1:] for row in points(NAMES, 0)[1:]])
    write("labels.tsv", [[f"s{i}", "ab"[i % 2]] for i in range(N)])
    return tmp_path


COMMANDS = {
    "inspect": (),
    "compare": ("--methods", "k-nn", "--folds", 3),
    "report": ("--methods", "k-nn", "--folds", 3, "-o", "out.html"),
    "fit": ("--method", "k-nn", "-o", "out.html"),
}


@pytest.mark.parametrize("resume", [(), ("--resume",)])
def test_ids_are_kept_beside_the_matrix(folder, resume):
    assert "saved to D.npy, ids in D.ids.txt\n" in fill("x.tsv", "D.npy", *resume)
    assert (folder / "D.ids.txt").read_text().splitlines()[1:] == NAMES
    assert nearest_neighbour_error("D.npy") == 0
    data = load_proximity("D.npy", "labels.tsv")
    assert data.ids.tolist() == data.column_ids.tolist() == NAMES
    assert data.y.tolist() == ["ab"[i % 2] for i in ORDER]


@pytest.mark.parametrize("output", ["D.npz", "D.csv"])
def test_ids_are_kept_in_the_file(folder, output):
    assert f"saved to {output}\n" in fill("x.tsv", output)
    assert nearest_neighbour_error(output) == 0
    assert load_proximity(output).ids.tolist() == NAMES


@pytest.mark.parametrize("command", COMMANDS)
def test_labels_with_ids_for_a_matrix_without(command, folder):
    fill("nameless.csv", "D.npy")
    assert not (folder / "D.ids.txt").exists()
    words = (command, "D.npy", "--labels", "labels.tsv", "--dissimilarity", "max-minus", *COMMANDS[command])
    assert_refused(run(*words), "labels.tsv: the labels have ids, but the samples have none", "--labels-in-order")
    assert not (folder / "out.html").exists()
    assert run(*words, "--labels-in-order", "--quiet").exit_code == 0
    if command == "inspect":
        assert nearest_neighbour_error("D.npy", "--labels-in-order") > 0.3
    if command == "report":
        page = (folder / "out.html").read_text(encoding="utf-8")
        assert "labels=&#x27;labels.tsv&#x27;, labels_in_order=True, orientation=" in page
    write("labels.tsv", [["ab"[i % 2]] for i in ORDER])
    assert run(*words).exit_code == 0


def test_labels_in_order_is_for_files(folder):
    assert_refused(run("inspect", "--dataset", "iris", "--labels-in-order"), "--labels-in-order is for FILE")


def test_labels_from_which_a_similarity_learns(folder):
    write("words.csv", [[word] for word in ("red", "red", "blue")])
    write("y.tsv", [["u", "warm"], ["v", "warm"], ["w", "cold"]])
    words = ("pairwise", "words.csv", "--similarity", "vdm", "--labels", "y.tsv", "-o", "D.npy")
    assert_refused(run(*words), "the labels have ids")
    assert run(*words, "--labels-in-order").exit_code == 0


def test_predict_matches_columns_by_id(folder):
    fill("x.tsv", "D.npy")
    words = ("--labels", "labels.tsv", "--dissimilarity", "max-minus", "--method", "k-nn", "-o", "m.model")
    assert run("fit", "D.npy", *words).exit_code == 0
    assert load_model("m.model", return_info=True)[1]["ids"] == NAMES
    write("sorted.tsv", points(sorted(NAMES), 0))
    write("new.tsv", points(["n1", "n2", "n3"], 1))
    told = fill("new.tsv", "new.npy", "--against", "sorted.tsv", "--json")
    assert json.loads(told)["id_files"] == ["new.ids.txt", "new.column_ids.txt"]
    fill("new.tsv", "new.npz", "--against", "sorted.tsv")
    fill("sorted.tsv", "square.npy")
    new = ["n1", "n2", "n3"]
    for rows, names in (("new.npy", new), ("new.npz", new), ("square.npy", sorted(NAMES))):
        assert run("predict", "m.model", rows, "-o", "out.csv").exit_code == 0
        with open("out.csv", newline="") as file:
            assert [(row["id"], row["label"]) for row in csv.DictReader(file)] == [
                (name, "ab"[int(name[1:]) % 2]) for name in names
            ]


def test_a_matrix_that_was_overwritten(folder):
    fill("x.tsv", "D.npy")
    np.save("D.npy", np.load("D.npy")[::-1, ::-1])
    words = ("inspect", "D.npy", "--labels", "labels.tsv", "--dissimilarity", "max-minus")
    assert_refused(run(*words), "D.npy was changed after D.ids.txt was written", "delete its first line only")
    lines = (folder / "D.ids.txt").read_text().splitlines()
    (folder / "D.ids.txt").write_text("\n".join(lines[:0:-1]))
    assert nearest_neighbour_error("D.npy") == 0
    fill("x.tsv", "D.npy")
    assert load_proximity("D.npy").ids.tolist() == NAMES


def test_ids_of_another_length(folder):
    fill("x.tsv", "D.npy")
    for lines, count in ((NAMES[1:], N - 1), ([*NAMES, "more"], N + 1), ([], 0)):
        (folder / "D.ids.txt").write_text("\n".join(lines))
        for words in (("inspect", "D.npy"), ("inspect", "D.npy", "--labels", "labels.tsv")):
            assert_refused(run(*words), f"D.npy: there are {count} ids in D.ids.txt for {N} rows")


def test_ids_of_other_objects_are_not_left_beside_a_new_matrix(folder):
    fill("x.tsv", "D.npy")
    before = (folder / "D.npy").read_bytes()
    words = ("--similarity", "euclidean", "-o", "D.npy")
    assert_refused(
        run("pairwise", "nameless.csv", *words), "D.ids.txt exists, but the objects of D.npy have no such ids"
    )
    assert (folder / "D.npy").read_bytes() == before
    (folder / "D.ids.txt").unlink()
    fill("nameless.csv", "D.npy")


def test_ids_that_no_line_holds(folder):
    write("x.tsv", [["id", "text"], ["a\nb", "red"], ["c", "blue"]])
    words = ("pairwise", "x.tsv", "--similarity", "compression", "-o")
    assert_refused(
        run(*words, "D.npy"), r"D.ids.txt: the id 'a\nb' is not one line of text; keep the ids in an .npz file"
    )
    assert not (folder / "D.npy").exists()
    assert run(*words, "D.npz").exit_code == 0
    assert load_proximity("D.npz").ids.tolist() == ["a\nb", "c"]


def test_ids_beside_a_fifo(folder, fifo):
    path, content = fifo
    path.rename(folder / "D.npy")
    fill("x.tsv", "D.npy")
    assert (folder / "D.npy").is_fifo()
    assert (folder / "D.ids.txt").read_text().splitlines() == NAMES  # no checksum: what went through it is gone
    (folder / "D.npy").unlink()
    (folder / "D.npy").write_bytes(content())
    assert nearest_neighbour_error("D.npy") == 0
