"""Which columns are read and as what, whether the first line is a header, and tables that look like edge lists."""

import numpy as np
import pytest

from similitude.datasets import load_objects, load_proximity
from similitude.proximity.files import Reading, load_rows
from tests.proximity.files.writing import ROWS, S, parquet, refused, with_ids, write


def square(ids, corner="id", delimiter=","):
    return f"{corner},{','.join(ids)}\n{with_ids(ROWS, ids)}".replace(",", delimiter)


@pytest.mark.parametrize(
    "ids",
    [
        ["source", "target", "weight"],
        ["query", "target", "score"],
        ["from", "x", "to"],
        ["101", "102", "x103"],
        ["1e10", "1abc", "2"],
        ["1e10", "2e10", "3"],
        ["NA", "1", "2"],
        ["-", "?", "."],
    ],
)
@pytest.mark.parametrize(("name", "delimiter"), [("S.csv", ","), ("S.tsv", "\t"), ("S", ";")])
def test_a_square_table_whose_header_names_its_rows(tmp_path, ids, name, delimiter):
    data = load_proximity(write(tmp_path, name, square(ids, delimiter=delimiter)))
    assert data.ids.tolist() == ids
    np.testing.assert_array_equal(data.S, S)
    # The columns may be in another order.
    other = square(ids, delimiter=delimiter).split("\n")
    reordered = "\n".join(delimiter.join(np.array(line.split(delimiter))[[0, 3, 1, 2]]) for line in other[:-1])
    data = load_proximity(write(tmp_path, name, reordered))
    assert data.ids.tolist() == ids
    np.testing.assert_array_equal(data.S, S)


@pytest.mark.parametrize("corner", ["", "#", "sample"])
def test_ids_that_are_mostly_numbers(tmp_path, corner):
    ids = ["101", "102", "x103"]
    assert load_proximity(write(tmp_path, "S.csv", square(ids, corner))).ids.tolist() == ids
    # R writes no name above the row names; a table may have ids of its rows only, or of its columns only.
    assert load_proximity(write(tmp_path, "S.csv", square(ids)[3:])).ids.tolist() == ids
    assert load_proximity(write(tmp_path, "S.csv", with_ids(ROWS, ids))).ids.tolist() == ids
    assert load_proximity(write(tmp_path, "S.csv", "101,102,x103\n" + ROWS)).ids.tolist() == ids
    ids = ["NA", "1", "2"]
    assert load_proximity(write(tmp_path, "S.csv", square(ids, corner))).ids.tolist() == ids
    assert load_proximity(write(tmp_path, "S.csv", square(ids)[3:])).ids.tolist() == ids


def test_edges_between_ids_that_are_mostly_numbers(tmp_path):
    ids = ["101", "102", "1e10", "1abc"]
    text = "".join(f"{a}\t{b}\t{i + j}\n" for i, a in enumerate(ids) for j, b in enumerate(ids) if i != j)
    data = load_proximity(write(tmp_path, "edges.tsv", text))
    assert sorted(data.ids) == sorted(ids)
    assert data.S.nnz == 12
    refused(write(tmp_path, "S.tsv", "a\t1\t2\nb\to\t1\nc\t3\t1\n"), "row 2, column 2: 'o' is not a number")


def test_many_samples_with_the_names_of_edges(tmp_path):
    ids = ["source", "target", *(f"s{i}" for i in range(400))]
    values = np.random.default_rng(0).integers(0, 9, (402, 402))
    rows = "".join(f"{name},{','.join(map(str, row))}\n" for name, row in zip(ids, values.tolist()))
    data = load_proximity(write(tmp_path, "S.csv", f"id,{','.join(ids)}\n{rows}"))
    assert data.ids.tolist() == ids
    np.testing.assert_array_equal(data.S, values)


@pytest.mark.parametrize("dtype", [float, int])
def test_a_square_parquet_file_with_the_names_of_edges(tmp_path, dtype):
    ids = ["source", "target", "weight"]
    values = np.arange(9).reshape(3, 3).astype(dtype)
    data = load_proximity(parquet(tmp_path, {"id": ids, **dict(zip(ids, values.T))}))
    np.testing.assert_array_equal(data.S, values)
    assert str(data.columns["path"]) == "ids: column 1 (id)."


def test_rows_to_samples_with_the_names_of_edges(tmp_path):
    path = write(tmp_path, "new.csv", "id,source,target,weight\nn1,1,2,3\nn2,4,5,6\n")
    found = load_rows(path, Reading(), ["weight", "source", "target"], None)
    assert (found.ids, found.column_ids) == (["n1", "n2"], ["source", "target", "weight"])
    np.testing.assert_array_equal(found.values, [[1, 2, 3], [4, 5, 6]])
    assert load_rows(path, Reading(), ["2", "5"], None).ids == ["1", "4"]  # edges between numbers


@pytest.mark.parametrize(
    ("name", "text", "options", "sentence"),
    [
        ("S.csv", square("abc"), {}, "the first line is a header; ids: column 1 (id)."),
        ("S.csv", ROWS, {}, "no header."),
        ("S.csv", with_ids(ROWS, "abc"), {}, "no header; ids: column 1."),
        ("D.csv", "id,a,b,c\na,0\nb,1,0\nc,2,3,0\n", {}, "the first line is a header; ids: column 1 (id)."),
        (
            "e.tsv",
            "date\tquery\ttarget\tscore\tnote\n7\ta\tb\t2\tx\n8\tb\ta\t1\ty\n",
            {},
            "the first line is a header; queries: column 2 (query); targets: column 3 (target); scores: column 4 "
            "(score); not used: columns 1 (date), 5 (note).",
        ),
        (
            "h.m8",
            "a\tb\t50\t9\t1\t0\t1\t9\t1\t9\t1e-5\t30\n",
            {},
            "no header; queries: column 1 (query); targets: column 2 (target); scores: column 12 (bits); not used: "
            "columns 3 to 11.",
        ),
        (
            "e.csv",
            "query,target,2020\na,b,5\n",
            {},
            "the first line is a header; queries: column 1 (query); targets: column 2 (target); scores: column 3 "
            "(2020).",
        ),
        (
            "e.csv",
            "a,b,3\nb,a,4\n",
            {"header": True},
            "the first line is a header; queries: column 1 (a); targets: column 2 (b); scores: column 3 (3).",
        ),
    ],
)
def test_columns_of_proximities(tmp_path, name, text, options, sentence):
    assert str(load_proximity(write(tmp_path, name, text), **options).columns["path"]) == sentence


def test_columns_of_labels(tmp_path):
    path = write(tmp_path, "S.csv", square("abc"))
    for name, text, column, sentence in (
        ("y.txt", "u\nv\nu\n", None, "no header; labels: column 1."),
        ("y.txt", "class\nu\nv\nu\n", None, "the first line is a header; labels: column 1 (class)."),
        ("y.csv", "u,a\nv,b\nu,c\n", None, "no header; ids: column 2; labels: column 1."),
        (
            "y.csv",
            "size,kind,id\n1,u,a\n2,v,b\n1,u,c\n",
            "kind",
            "the first line is a header; ids: column 3 (id); labels: column 2 (kind); not used: column 1 (size).",
        ),
    ):
        data = load_proximity(path, write(tmp_path, name, text), label_column=column)
        assert str(data.columns["labels"]) == sentence


def test_a_header_that_is_stated(tmp_path):
    numbers = "2,7,9\n" + with_ids("1,0.5\n0.5,1\n", ["7", "9"])
    path = write(tmp_path, "S.csv", numbers)
    assert load_proximity(path).ids is None
    data = load_proximity(path, header=True)
    assert (data.ids.tolist(), data.S.tolist()) == (["7", "9"], [[1, 0.5], [0.5, 1]])
    path = write(tmp_path, "S.csv", "id,1,2\n1,5,6\n2,7,8\n")
    refused(path, "row 1, column 1: 'id' is not a number", header=False)
    with pytest.raises(
        ValueError, match=r"header \(--header\) is for tables, edge lists and ratings; form is 'phylip'"
    ):
        load_proximity(path, header=True, form="phylip")


def test_ends_of_edges_that_are_not_known(tmp_path):
    path = write(tmp_path, "r.csv", "place,one,two,strength\nj1,a,b,7\nj2,b,a,3\nj1,a,c,1\n")
    refused(path, "has 3 columns of names, 'place', 'one', 'two'; choose .*--query, --target")
    data = load_proximity(path, query="one", target="two")
    assert data.ids.tolist() == ["a", "b", "c"]
    assert str(data.columns["path"]).endswith("not used: column 1 (place).")
    path = write(tmp_path, "r.csv", "place,one,two,strength\n1,a,b,7\n2,b,a,3\n1,a,c,1\n")
    refused(path, "has several columns of numbers, 'place', 'strength'; choose that of the scores")
    assert str(load_proximity(path, score="strength").columns["path"]) == (
        "the first line is a header; queries: column 2 (one); targets: column 3 (two); scores: column 4 (strength); "
        "not used: column 1 (place)."
    )


def test_scores_that_say_nothing(tmp_path):
    path = write(tmp_path, "e.csv", "query,target,score,x\na,b,0,1\nb,c,0.0,2\n")
    refused(path, r"every score is 0 in column 3 \(score\), so no pair has a similarity; choose another column")
    assert load_proximity(path, score="x").S.nnz == 2
    path = write(tmp_path, "e.csv", "query,target,evalue\na,b,10\nb,c,1\n")
    refused(path, "every E-value is 1 or more in column 3")
    # Distances may all be 0: the pairs in the list are equal.
    path = write(tmp_path, "d.csv", "query,target,d\na,b,0\nb,a,0\nc,c,0\n")
    assert load_proximity(path, orientation="dissimilarity", missing=1.0).S.tolist() == [
        [0, 0, 1],
        [0, 0, 1],
        [1, 1, 0],
    ]


WORDS = "cat\ndog\nbird\nfish\ncow\nhorse\n"
KINDS = "pet\npet\nwild\nwild\nfarm\nfarm\n"


@pytest.mark.parametrize("name", ["w.txt", "w.csv", "w"])
def test_headings_of_objects_and_labels(tmp_path, name):
    def load(objects, kinds, **options):
        labels = write(tmp_path, "y.csv", kinds)
        return load_objects(write(tmp_path, name, objects), labels, objects="strings", **options)

    plain = load(WORDS, KINDS)
    assert str(plain.columns["path"]) == "no header; objects: column 1."
    for heading, kind in (("word", "animal"), ("animal", "kind"), ("animal", "use")):
        with pytest.raises(ValueError, match=r"--header yes .*--header no"):
            load(f"{heading}\n{WORDS}", f"{kind}\n{KINDS}")
        data = load(f"{heading}\n{WORDS}", f"{kind}\n{KINDS}", header=True)
        assert (data.data, data.y.tolist()) == (plain.data, plain.y.tolist())
        assert str(data.columns["path"]) == f"the first line is a header; objects: column 1 ({heading})."
        assert str(data.columns["labels"]) == f"the first line is a header; labels: column 1 ({kind})."
        assert load(f"{heading}\n{WORDS}", KINDS, header=True).y.tolist() == plain.y.tolist()
        data = load(f"{heading}\n{WORDS}", f"{kind}\n{KINDS}", header=False)
        assert (data.data[0], data.y[0], len(data.y)) == (heading, kind, 7)
    with pytest.raises(ValueError, match=r"6 labels for 7 samples; .*If the first line .*--header yes"):
        load(f"animal\n{WORDS}", KINDS)
    with pytest.raises(ValueError, match="6 labels below the header 'number' for 7 samples"):
        load(f"animal\n{WORDS}", "number\n1\n2\n3\n4\n5\n6\n")
    # A class of one is not a heading if there are others, or if the samples have a header or ids.
    assert load(f"ant\n{WORDS}", f"insect\n{KINDS}bug\n".replace("farm\n", "", 1)).y[0] == "insect"


def test_a_heading_among_the_labels_of_a_matrix(tmp_path):
    path = write(tmp_path, "S.csv", ROWS)
    labels = write(tmp_path, "y.txt", "class\nu\nu\n")
    message = "2 labels below the header 'class' for 3 samples; .* If 'class' is a label, write a heading above it"
    refused(path, message, labels)
    assert load_proximity(path, write(tmp_path, "z.txt", "kind\nclass\nu\nu\n")).y.tolist() == ["class", "u", "u"]
    assert load_proximity(path, labels, header=False).y.tolist() == ["class", "u", "u"]
    assert load_proximity(path, write(tmp_path, "y.txt", "alone\nu\nu\n")).y.tolist() == ["alone", "u", "u"]
    refused(path, "2 labels below the header 'digit' for 3 samples", write(tmp_path, "y.txt", "digit\n7\n9\n"))


def test_a_first_row_of_words_that_may_be_a_header(tmp_path):
    rows = "red,round\nblue,flat\nred,flat\nblue,round\n"
    options = {"objects": "categorical rows"}
    assert len(load_objects(write(tmp_path, "w.csv", rows), **options).data) == 4
    path = write(tmp_path, "w.csv", "colour,shape\n" + rows)
    with pytest.raises(ValueError, match="the first row, 'colour', 'shape', may be a header; say whether"):
        load_objects(path, **options)
    data = load_objects(path, header=True, **options)
    assert (data.data.shape, data.columns["path"].named("objects")) == ((4, 2), ["colour", "shape"])


def test_names_of_columns_are_printed_as_one_line(tmp_path):
    path = write(tmp_path, "e.csv", f'query,target,"a\x1b[31m\nb","{"c" * 50}"\nu,v,1,2\n')
    data = load_proximity(path, score=3)
    assert str(data.columns["path"]).endswith(
        rf"scores: column 3 ('a\x1b[31m\nb'); not used: column 4 ({'c' * 40}...)."
    )


def test_ids_may_be_in_any_column(tmp_path):
    path = write(tmp_path, "w.tsv", "word\tID\ncat\tu\ndog\tv\n")
    data = load_objects(path, objects="strings")
    assert (data.data, data.ids.tolist()) == (["cat", "dog"], ["u", "v"])
    assert str(data.columns["path"]) == "the first line is a header; ids: column 2 (ID); objects: column 1 (word)."
    with pytest.raises(ValueError, match=r"w.tsv: row 2 has no id; every sample needs one"):
        load_objects(write(tmp_path, "w.tsv", "id\tword\n\tcat\nv\tdog\n"), objects="strings")
