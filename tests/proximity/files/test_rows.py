"""Rows of new samples, whose columns are the training samples in their order."""

import numpy as np
import pytest

from similitude import KNNClassifier, Proximities, load_model, save_model
from similitude.datasets import load_proximity
from tests.proximity.files.writing import write

TRAINING = "a\ta\t8\na\tb\t4\nb\tb\t2\nc\tc\t2\nb\tc\t1\n"
NEW = "x\tx\t8\nx\tc\t4\ny\ty\t2\ny\ta\t3\ny\tz\t9\na\tb\t4\n"
IDS = ["c", "a", "b"]


def test_edges_and_matrices_of_new_samples(tmp_path):
    edges = write(tmp_path, "new.tsv", NEW)
    found = load_proximity(edges, columns=IDS)
    assert found.S.toarray().tolist() == [[4, 0, 0], [0, 3, 0]]
    assert (found.ids.tolist(), found.column_ids.tolist(), found.reading) == (["x", "y"], IDS, None)
    table = write(tmp_path, "new.csv", "id,b,z,c,a\nx,0,7,4,0\ny,0,9,0,3\n")
    same = load_proximity(table, write(tmp_path, "y.csv", "y,no\nx,yes\n"), columns=np.array(IDS, dtype=object))
    assert same.S.tolist() == found.S.toarray().tolist()
    assert (same.y.tolist(), same.column_ids.tolist()) == (["yes", "no"], IDS)
    assert same.notes == ["1 columns are not in columns and are left out: 'z'."]
    plain = load_proximity(write(tmp_path, "plain.csv", "4,0,0\n0,3,0\n"), columns=IDS)
    assert plain.S.tolist() == same.S.tolist()


def test_edges_are_read_as_those_of_the_training_samples(tmp_path):
    options = {"normalise": "self", "direction": "max", "missing": "farthest"}
    data = load_proximity(write(tmp_path, "hits.tsv", TRAINING), **options)
    rows = load_proximity(write(tmp_path, "new.tsv", NEW), columns=data)
    assert pytest.approx(np.array([[0.5, 0.5, 1.0], [0.75, 0.5, 0.5]])) == rows.S
    model = KNNClassifier(1).fit(Proximities(data.S, ids=data.ids), ["one", "two", "three"])
    save_model(tmp_path / "model", model, notes={"reading": data.reading})
    loaded, info = load_model(tmp_path / "model", return_info=True)
    again = load_proximity(tmp_path / "new.tsv", columns=info)
    assert np.array_equal(again.S, rows.S)
    assert loaded.predict(Proximities(again.S, column_ids=again.column_ids)).tolist() == ["three", "one"]
    far = load_proximity(tmp_path / "new.tsv", columns=IDS, orientation="dissimilarity")
    assert far.absent == "unknown"
    assert far.S.nnz == 2


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        ("id,b,c\nx,0,7\n", {}, r"new: columns are matched .* 1 of 3 samples that are needed have no column: 'a'"),
        ("1,2\n3,4\n", {}, "new: has 2 columns without ids; one for each of the 3 samples"),
        ("x\ta\t2\n", {"normalise": "self"}, "normalise='self' needs values of the training samples: pass what load"),
        ("x\ta\t2\n", {"missing": "farthest"}, "missing='farthest' needs values of the training samples"),
        ("id,a,b,c\nx,0,7,\n", {"missing": "zero"}, "missing is for edges; .*new holds a matrix"),
        ("x\ta\t2\n", {"mmap": True}, "mmap=True cannot be combined with columns"),
        ("x\ta\t2\n", {"columns": {"ids": None}}, "columns must hold the ids of the training samples"),
        (
            "x\ta\t2\n",
            {"columns": {"ids": IDS, "reading": {"missing": 0.0}}, "direction": "max"},
            "direction: omit it; edges are read as those of the training samples",
        ),
    ],
)
def test_rows_that_cannot_be_read(tmp_path, text, options, message):
    with pytest.raises(ValueError, match=message):
        load_proximity(write(tmp_path, "new", text), **{"columns": IDS, **options})
