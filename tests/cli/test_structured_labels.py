"""Labels that form a tree, and several labels, on the command line."""

import csv
import json

import numpy as np
import pytest

from similitude import load_model
from tests.cli.command import done, read_table, refused, write_table
from tests.multilabel.trees import similarity, simulated_tree

N = 150


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """S.csv, new.csv and tables of the labels of its samples, s0 to s149."""
    monkeypatch.chdir(tmp_path)
    X, y = simulated_tree(N, 0, n_leaves=12)
    new, truth = simulated_tree(30, 1, n_leaves=12)
    ids, others = [f"s{i}" for i in range(N)], [f"n{i}" for i in range(30)]
    write_table(tmp_path / "S.csv", ids, ids, similarity(X, X))
    write_table(tmp_path / "new.csv", others, ids, similarity(new, X))
    tops, leaves = zip(*(label.split(".") for label in y))
    _write("y.csv", ["id", "number"], zip(ids, y))
    _write("columns.csv", ["id", "genus", "species", "size"], zip(ids, tops, leaves, range(N)))
    _write("leaf.csv", ["id", "leaf"], zip(ids, [f"leaf {leaf}" for leaf in leaves]))
    pairs = {f"leaf {leaf}": f"top {top}" for top, leaf in zip(tops, leaves)}
    _write("tree.csv", ["child", "parent"], [*pairs.items(), *((top, "") for top in set(pairs.values()))])
    _write("rows.csv", ["id", "label"], [(i, label) for i, *own in zip(ids, tops, leaves) for label in own])
    _write("cells.csv", ["id", "label"], [(i, f"t{top};{leaf}") for i, top, leaf in zip(ids, tops, leaves)])
    return truth


def _write(name, head, rows):
    with open(name, "w", newline="") as file:
        csv.writer(file).writerows([head, *rows])


def _column(path, name):
    head, *rows = read_table(path)
    return [row[head.index(name)] for row in rows]


def test_a_tree_is_fitted_shown_by_rank_and_predicted(folder, tmp_path):
    shown = done("fit", "S.csv", "--labels", "y.csv", "--lineage", ".", "--method", "affinity-k-nn", "-o", "m.model")
    assert "rank  nodes  samples  unseen  error  assigned  precision" in shown.stdout
    done("predict", "m.model", "new.csv", "-o", "out.csv")
    head = read_table(tmp_path / "out.csv")[0]
    assert head == ["id", "label", "confidence", "rank 1", "P(rank 1)", "rank 2", "P(rank 2)", "evidence"]
    leaves, tops = _column(tmp_path / "out.csv", "rank 2"), _column(tmp_path / "out.csv", "rank 1")
    assert np.mean(np.array(leaves) == folder) > 0.7
    assert all(leaf.startswith(f"{top}.") for leaf, top in zip(leaves, tops))
    sure = np.array([_column(tmp_path / "out.csv", f"P(rank {d})") for d in (1, 2)], dtype=float)
    for label, leaf, top, own in zip(_column(tmp_path / "out.csv", "label"), leaves, tops, sure.T):
        assert label == (leaf if own[1] >= 0.9 else top if own[0] >= 0.9 else "unassigned")
    done("predict", "m.model", "new.csv", "-o", "all.csv", "--confidence", "0.01")
    assert _column(tmp_path / "all.csv", "label") == leaves
    notes = load_model("m.model", return_info=True)[1]["notes"]
    assert [row["rank"] for row in notes["ranks"]] == [1, 2]


def test_columns_and_pairs_give_the_same_nodes_under_other_names(folder, tmp_path):
    few = ("--method", "k-nn", "-o")
    done("fit", "S.csv", "--labels", "columns.csv", "--lineage", "genus,species", *few, "a.model")
    done("fit", "S.csv", "--labels", "leaf.csv", "--tree", "tree.csv", *few, "b.model")
    for name in "ab":
        done("predict", f"{name}.model", "new.csv", "-o", f"{name}.csv")
    assert read_table(tmp_path / "a.csv")[0][3:7] == ["genus", "P(genus)", "species", "P(species)"]
    by_columns, by_pairs = _column(tmp_path / "a.csv", "species"), _column(tmp_path / "b.csv", "rank 2")
    assert [own.split(";")[1] for own in by_columns] == [own.removeprefix("leaf ") for own in by_pairs]
    assert np.allclose(
        *(np.array(_column(tmp_path / f, c), float) for f, c in (("a.csv", "P(species)"), ("b.csv", "P(rank 2)")))
    )


def test_several_labels_are_fitted_from_rows_and_from_cells(folder, tmp_path):
    found = {}
    for name, options in {"rows": ["--several-labels"], "cells": ["--label-separator", ";"]}.items():
        words = (
            "fit",
            "S.csv",
            "--labels",
            f"{name}.csv",
            *options,
            "--method",
            "k-nn",
            "-o",
            f"{name}.model",
            "--json",
        )
        found[name] = json.loads(done(*words).stdout)
        done("predict", f"{name}.model", "new.csv", "-o", f"out-{name}.csv")
    assert found["cells"]["figures"]["fmax"] > 0.8
    labels = [set(own.split(";")) for own in _column(tmp_path / "out-cells.csv", "label")]
    truth = [{f"t{label.split('.')[0]}", label.split(".")[1]} for label in folder]
    assert np.mean([own == true for own, true in zip(labels, truth)]) > 0.6
    assert "P(t0)" in read_table(tmp_path / "out-cells.csv")[0]


def test_labels_that_look_like_several_are_noted_and_conflicts_are_refused(folder):
    _write("joined.csv", ["id", "label"], [(f"s{i}", ["2", "3", "2;3"][i % 3]) for i in range(N)])
    shown = done("fit", "S.csv", "--labels", "joined.csv", "--method", "k-nn", "-o", "m.model")
    assert "1 classes look like several labels in one cell, such as '2;3'; with --label-separator ';'" in shown.stderr
    message = refused("fit", "S.csv", "--labels", "rows.csv", "-o", "m.model")
    assert "the id 's0' appears twice" in message
    assert "--several-labels" in message


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--labels", "leaf.csv", "--tree", "cycle.csv"], "the tree has a cycle: a -> b -> a"),
        (["--labels", "leaf.csv", "--tree", "twice.csv"], "'a' has two parents, 'b' and 'c'"),
        (["--labels", "y.csv", "--tree", "tree.csv"], "is not in the tree"),
        (["--labels", "y.csv", "--lineage", "."], "--time-budget is for one label"),
        (["--labels", "columns.csv", "--lineage", "genus,kind"], "there is no column 'kind'"),
        (["--labels", "columns.csv", "--lineage", "genus,species", "--tree", "tree.csv"], "cannot be combined with"),
    ],
)
def test_bad_trees_and_options_are_refused(folder, options, message):
    _write("cycle.csv", ["child", "parent"], [("a", "b"), ("b", "a")])
    _write("twice.csv", ["child", "parent"], [("a", "b"), ("a", "c")])
    budget = ["--time-budget", "9"] if "budget" in message else []
    assert message in " ".join(refused("fit", "S.csv", *options, *budget, "-o", "m.model").split())


def test_the_report_shows_ranks_and_labels_with_names_escaped(folder, tmp_path):
    text = (tmp_path / "columns.csv").read_text().replace("genus", "<b>genus")
    (tmp_path / "columns.csv").write_text(text)
    words = ("--methods", "k-nn", "-o", "page.html")
    shown = done("report", "S.csv", "--labels", "columns.csv", "--lineage", "<b>genus,species", *words)
    page = (tmp_path / "page.html").read_text()
    assert "Depth against precision" in page
    assert "&lt;b&gt;genus" in page
    assert "<b>genus" not in page
    assert "unassigned" in shown.stdout
    done("report", "S.csv", "--labels", "cells.csv", "--label-separator", ";", "--methods", "k-nn", "-o", "two.html")
    assert "Fmax is" in (tmp_path / "two.html").read_text()
