"""Labels and groups: in order or by id, in any column, for all samples or some."""

import numpy as np
import pytest

from similitude.datasets import load_objects, load_proximity
from similitude.proximity import SimilarityWarning
from tests.proximity.files.writing import ROWS, S, refused, write


@pytest.mark.parametrize(
    ("name", "text", "labels"),
    [
        ("y.txt", "red\nblue\nred\n", ["red", "blue", "red"]),
        ("y.txt", "red\nblue, pale\nred\n\n\n", ["red", "blue, pale", "red"]),
        ("y.txt", "1\n2\n1", [1, 2, 1]),
        ("y.txt", "-1\n0\n1", [-1, 0, 1]),
        ("y.txt", "01\n02\n01", ["01", "02", "01"]),
        ("y.txt", "1.5\n2\n2", ["1.5", "2", "2"]),
        ("y.csv", "class\nred\nblue\nred\n", ["red", "blue", "red"]),
        ("y.csv", "class\n1\n2\n1\n", [1, 2, 1]),
        ("y.csv.gz", "red\nblue\nred\n", ["red", "blue", "red"]),
        ("y.csv", '"a, b"\n"c"\n"c"\n', ["a, b", "c", "c"]),
        ("y.csv", "a,red\nb,blue\nc,red\n", ["red", "blue", "red"]),
        ("y.csv", "c;green\nb;blue\na;red\n", ["red", "blue", "green"]),
        ("y.csv", "id,class\nc,green\nb,blue\na,red\n", ["red", "blue", "green"]),
        ("y.tsv", "b\tblue\na\tred\nc\tgreen\n", ["red", "blue", "green"]),
        ("y.txt", "b\tblue\na\tred\nc\tgreen\n", ["red", "blue", "green"]),
    ],
)
def test_labels(tmp_path, name, text, labels):
    path = write(tmp_path, "S.csv", "a,b,c\n" + ROWS)
    data = load_proximity(path, write(tmp_path, name, text))
    assert data.y.tolist() == labels
    assert data.ids.tolist() == ["a", "b", "c"]


@pytest.mark.parametrize("name", ["S.npy", "S.csv"])
def test_labels_with_ids_for_a_matrix_without(tmp_path, name):
    np.save(tmp_path / "S.npy", S)
    write(tmp_path, "S.csv", ROWS)
    labels = write(tmp_path, "y.csv", "b,1\na,2\nc,1\n")
    refused(tmp_path / name, r"y.csv: the labels have ids, but .* none .* labels_in_order=True", labels)
    data = load_proximity(tmp_path / name, labels, labels_in_order=True)
    assert data.ids.tolist() == ["b", "a", "c"]
    assert data.column_ids.tolist() == ["b", "a", "c"]
    assert data.y.tolist() == [1, 2, 1]


def test_ids_decide_also_where_labels_are_said_to_be_in_order(tmp_path):
    path = write(tmp_path, "S.csv", "a,b,c\n" + ROWS)
    data = load_proximity(path, write(tmp_path, "y.csv", "b,1\na,2\nc,1\n"), labels_in_order=True)
    assert data.y.tolist() == [2, 1, 1]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("red\nblue\n", "2 labels for 3 samples; one label per sample is needed"),
        # One label too many is no heading: it is a label like the others.
        ("red\nred\nblue\nred\n", "4 labels for 3 samples"),
        ("0\n1\n2\n1\n", "4 labels for 3 samples"),
        ("red\n\nblue\n", "row 2 has no label"),
        (
            "a,red\nx,blue\ny,red\n",
            r"1 of the 3 ids with a label are samples, and 1 of the 3 samples have a label\. Write the ids in the same "
            r"way \(samples: 'a', 'b', 'c'; others with a label: 'x', 'y'\), or keep only the rows of samples",
        ),
        ("x,red\ny,blue\nz,red\n", "row 1: 'x' is not one of the samples, and no other column holds their ids"),
        ("a,\nb,\nc,\n", "no sample has a label"),
        ("a,red\nb,blue\nb,red\n", r"the id 'b' appears twice \(rows 2 and 3\)"),
        ("id,size,kind\na,1,red\nb,2,red\nc,3,red\n", "has 3 columns, 'id', 'size', 'kind'; choose .*--label-column"),
        ("a,red\nb\nc,red\n", "row 2 has 1 cells, row 1 has 2"),
        ("\n\n", "the label file is empty"),
        ("red\n" + "x" * 200_000 + "\nred\n", "row 2 cannot be read: field larger than field limit"),
    ],
)
def test_label_errors(tmp_path, text, message):
    path = write(tmp_path, "S.csv", "a,b,c\n" + ROWS)
    assert "y.csv" in refused(path, message, write(tmp_path, "y.csv", text))


def test_labels_that_are_not_text(tmp_path):
    np.save(tmp_path / "y.npy", [1, 2, 3])
    refused(write(tmp_path, "S.csv", ROWS), "y.npy: row 1 is not UTF-8 text", tmp_path / "y.npy")


def labelled(tmp_path, text, **options):
    path = write(tmp_path, "S.csv", "a,b,c\n" + ROWS)
    return load_proximity(path, write(tmp_path, "y.tsv", text.replace(",", "\t")), **options)


TABLE = "size,family,name,id\n1,red,x,c\n2,blue,y,a\n3,green,z,b\n"


@pytest.mark.parametrize(
    ("text", "column", "labels"),
    [
        ("red,c\nblue,a\ngreen,b\n", None, ["blue", "green", "red"]),
        ("class,id\nred,c\nblue,a\ngreen,b\n", None, ["blue", "green", "red"]),
        (TABLE, "family", ["blue", "green", "red"]),
        (TABLE, 2, ["blue", "green", "red"]),
        (TABLE, "2", ["blue", "green", "red"]),
        (TABLE, "size", [2, 3, 1]),
        (TABLE.replace("family", "class"), None, ["blue", "green", "red"]),
        (TABLE.replace("size,family", "#size,class"), None, ["blue", "green", "red"]),
    ],
)
def test_ids_and_labels_in_any_column(tmp_path, text, column, labels):
    assert labelled(tmp_path, text, label_column=column).y.tolist() == labels


def test_a_column_that_is_not_there(tmp_path):
    with pytest.raises(ValueError, match=r"no column 'kind'; label_column \(--label-column\) must be the name .* 'id'"):
        labelled(tmp_path, TABLE, label_column="kind")
    with pytest.raises(ValueError, match="no column 5"):
        labelled(tmp_path, TABLE, label_column=5)


@pytest.mark.parametrize("text", ["c,red\na,blue\n", "id,class\nc,red\nb,\na,blue\n"])
def test_samples_without_a_label_are_left_out_and_named(tmp_path, text):
    with pytest.warns(SimilarityWarning, match="y.tsv: 1 samples have no label and are left out: 'b'"):
        data = labelled(tmp_path, text, groups=write(tmp_path, "g.tsv", "b\t1\na\t2\nc\t3\n"))
    np.testing.assert_array_equal(data.S, S[np.ix_([0, 2], [0, 2])])
    assert (data.y.tolist(), data.ids.tolist(), data.groups.tolist()) == (["blue", "red"], ["a", "c"], [2, 3])
    assert data.left_out == ["b"]


def test_a_sample_without_a_group(tmp_path):
    with pytest.raises(ValueError, match=r"g.tsv: 1 samples have no group: 'c'"):
        labelled(tmp_path, "a,1\nb,2\nc,1\n", groups=write(tmp_path, "g.tsv", "b\t1\na\t2\n"))


def test_a_header_is_not_counted_as_a_label(tmp_path):
    np.save(tmp_path / "S.npy", np.eye(5))
    labels = write(tmp_path, "y.txt", "class\nred\nblue\nred\n")
    refused(tmp_path / "S.npy", "3 labels below the header 'class' for 5 samples", labels)


def test_labels_of_ids_that_have_no_edge(tmp_path):
    edges = write(tmp_path, "e.tsv", "a\tb\t1\nb\tc\t2\nc\ta\t3\n")
    labels = write(tmp_path, "y.csv", "id,class\nx,red\na,red\ny,blue\nb,blue\nz,\nc,red\n")
    with pytest.warns(SimilarityWarning, match=r"y.csv: 2 ids with a label have no edge and are left out: 'x', 'y'\.$"):
        data = load_proximity(edges, labels)
    assert (data.ids.tolist(), data.y.tolist()) == (["a", "b", "c"], ["red", "blue", "red"])
    few = write(tmp_path, "few.csv", "x,red\na,red\ny,blue\n")
    refused(edges, "1 of the 3 ids with a label are samples", few)


def test_a_larger_table_of_labels_serves_every_form(tmp_path):
    larger = "".join(f"x{i},green\n" for i in range(9)) + "b,blue\na,red\nc,red\n"
    labels = write(tmp_path, "y.csv", larger)
    warned = r"y.csv: 9 ids with a label are not among the samples and are left out: 'x0', 'x1'"
    for path in (
        write(tmp_path, "S.csv", "a,b,c\n" + ROWS),
        write(tmp_path, "s.fasta", ">a\nMK\n>b\nMT\n>c\nMR\n"),
        write(tmp_path, "words.csv", "id,word\na,one\nb,two\nc,three\n"),
    ):
        load = load_proximity if path.name == "S.csv" else load_objects
        options = {} if path.name != "words.csv" else {"objects": "strings"}
        with pytest.warns(SimilarityWarning, match=warned):
            assert load(path, labels, **options).y.tolist() == ["red", "blue", "red"]
    with pytest.warns(SimilarityWarning, match="9 ids with a label have no edge and are left out"):
        assert load_proximity(write(tmp_path, "e.tsv", "a\tb\t1\nb\tc\t2\n"), labels).y.tolist() == [
            "red",
            "blue",
            "red",
        ]
    with pytest.warns(SimilarityWarning, match="9 ids with a group are not among the samples"):
        found = load_proximity(tmp_path / "S.csv", groups=labels).groups
    assert found.tolist() == ["red", "blue", "red"]


def test_a_class_that_is_called_na(tmp_path):
    path = write(tmp_path, "S.csv", "a,b,c\n" + ROWS)
    with pytest.warns(SimilarityWarning, match=r"'NA' is taken as a class \(2 samples\); .* leave the cell empty"):
        data = load_proximity(path, write(tmp_path, "y.csv", "a,NA\nb,blue\nc,NA\n"))
    assert data.y.tolist() == ["NA", "blue", "NA"]
