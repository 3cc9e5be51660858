"""Reading matrices and labels from files: every format, every error, and that nothing in a file is executed."""

import gzip
import os
import pickle
import shutil
import sys
import zipfile

import numpy as np
import pytest
from hypothesis import HealthCheck, given, reject, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from scipy import io as scipy_io
from scipy import sparse

from similitude.datasets import load_proximity
from tests.proximity.files.writing import ROWS, S, parquet, refused, with_ids, write

# Text


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("S.csv", ROWS),
        ("S.CSV", ROWS),
        ("S.csv.gz", ROWS),
        ("S.tsv", ROWS.replace(",", "\t")),
        ("S.tsv.gz", ROWS.replace(",", "\t")),
        ("S.csv", ROWS.replace(",", ";")),
        ("S.csv", ROWS.replace(",", " , ")),
        ("S.csv", ROWS.replace("\n", "\r\n")),
        ("S.csv", "\n" + ROWS.replace("\n", "\n\n")),
        ("S.csv", "\ufeff" + ROWS),
        ("S.csv", ROWS.rstrip("\n")),
        ("S.csv", ROWS.replace("0.5", '"0.5"')),
    ],
)
def test_text_without_names(tmp_path, name, text):
    data = load_proximity(write(tmp_path, name, text))
    np.testing.assert_array_equal(data.S, S)
    assert data.S.dtype == np.float64
    assert data.y is None
    assert data.ids is None
    assert data.column_ids is None


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        ("a,b,c\n" + ROWS, "abc"),
        (with_ids(ROWS, "abc"), "abc"),
        (",a,b,c\n" + with_ids(ROWS, "abc"), "abc"),
        ("id,a,b,c\n" + with_ids(ROWS, "abc"), "abc"),
        ("a,b,c\n" + with_ids(ROWS, "abc"), "abc"),
        ('"","a","b","c"\n' + with_ids(ROWS, ['"a"', '"b"', '"c"']), "abc"),
        ('"a","b","c"\n' + with_ids(ROWS, ['"a"', '"b"', '"c"']), "abc"),
        ('id,"x, y",b,c\n' + with_ids(ROWS, ['"x, y"', "b", "c"]), ["x, y", "b", "c"]),
        (",0,1,2\n" + with_ids(ROWS, "012"), "012"),
        ("id,17,4,9\n" + with_ids(ROWS, ["17", "4", "9"]), ["17", "4", "9"]),
        ("0,1,2\n" + ROWS, "012"),
        ("1,2,3\n" + ROWS, "123"),
        (",0,1,2\n" + with_ids(ROWS, "abc"), "abc"),
        (",a,b,c\n" + with_ids(ROWS, "012"), "abc"),
    ],
)
def test_text_with_names(tmp_path, text, ids):
    data = load_proximity(write(tmp_path, "S.csv", text))
    np.testing.assert_array_equal(data.S, S)
    assert data.ids.tolist() == list(ids)
    assert data.column_ids.tolist() == list(ids)


def test_ids_before_whole_numbers_are_no_header(tmp_path):
    data = load_proximity(write(tmp_path, "S.csv", "a,5,3\nb,3,5\n"))
    np.testing.assert_array_equal(data.S, [[5, 3], [3, 5]])
    assert data.ids.tolist() == ["a", "b"]


@pytest.mark.parametrize("text", ["2.5\n", "a\n2.5\n", "a,2.5\n", "id,a\na,2.5\n"])
def test_one_by_one(tmp_path, text):
    data = load_proximity(write(tmp_path, "S.csv", text))
    assert data.S.tolist() == [[2.5]]
    assert data.ids is None or data.ids.tolist() == ["a"]


def test_rectangular_with_both_names(tmp_path):
    path = write(tmp_path, "S.csv", "id,a,b,c\nx,1,2,3\ny,4,5,6\n")
    data = load_proximity(path, square=False)
    assert data.S.tolist() == [[1, 2, 3], [4, 5, 6]]
    assert data.ids.tolist() == ["x", "y"]
    assert data.column_ids.tolist() == ["a", "b", "c"]
    refused(path, "S.csv: the matrix is not square: 2 rows and 3 columns")


@pytest.mark.parametrize(
    ("text", "place", "problem"),
    [
        (ROWS.replace("2,0.001", "2,abc"), "row 2, column 3", "'abc' is not a number"),
        (ROWS.replace("2,0.001", "2,0_1"), "row 2, column 3", "'0_1' is not a number"),
        (ROWS.replace("2,0.001", "2,-inf"), "row 2, column 3", "'-inf' is infinite"),
        (ROWS.replace("2,0.001", "2,1e999"), "row 2, column 3", "'1e999' is infinite"),
        (ROWS.replace("2,0.001", "2,1+2j"), "row 2, column 3", r"'1\+2j' is a complex number"),
        (ROWS.replace(",", ";").replace("2;0.001", "2;0,001"), "row 2, column 3", "'0,001' is not a .*decimal comma"),
        (ROWS.replace("1,", "o,", 1), "row 1, column 1", "'o' is not a number"),
        (ROWS.replace("1,0.5", "1,0.x5", 1), "row 1, column 2", "'0.x5' is not a number"),
        (ROWS.replace("-0.25,0.001", "x,0.001"), "row 3, column 1", "'x' is not a number"),
        ("a,b,c\n" + ROWS.replace("2,0.001", "NA,x"), "row 3, column 3", "'x' is not a number"),
        ("id,a,b,c\n" + with_ids(ROWS.replace("2,0.001", "2,x"), "abc"), "row 3, column 4", "'x' is not a number"),
        ("\n\n" + ROWS.replace("2,0.001", "2,x"), "row 4, column 3", "'x' is not a number"),
    ],
)
def test_the_culprit_cell_is_named(tmp_path, text, place, problem):
    refused(write(tmp_path, "S.csv", text), f"S.csv: {place}: {problem}")


@pytest.mark.parametrize("cell", ["", "NA", "NaN", "n/a", "?", "-"])
def test_blank_cells_are_unknown_pairs(tmp_path, cell):
    path = write(tmp_path, "S.csv", "a,b,c\n" + ROWS.replace("2,0.001", f"2,{cell}"))
    expected = S.copy()
    expected[1, 2] = np.nan
    data = load_proximity(path)
    np.testing.assert_array_equal(data.S, expected)
    assert data.notes == ["1 of 9 entries are unknown."]
    expected[1, 2] = 7
    np.testing.assert_array_equal(load_proximity(path, missing=7).S, expected)
    expected[1, 2] = 3
    np.testing.assert_array_equal(load_proximity(path, missing="farthest", orientation="dissimilarity").S, expected)


@pytest.mark.parametrize("order", ["acb", "cab"])
def test_columns_in_another_order_are_matched_by_id(tmp_path, order):
    places = ["abc".index(name) for name in order]
    rows = "".join(",".join(map(repr, row)) + "\n" for row in S[places].tolist())
    data = load_proximity(write(tmp_path, "S.csv", "id,a,b,c\n" + with_ids(rows, order)))
    np.testing.assert_array_equal(data.S, S[np.ix_(places, places)])
    assert data.ids.tolist() == data.column_ids.tolist() == list(order)


def test_comments_above_a_table(tmp_path):
    text = "# made by hand\n#query\ta\tb\tc\n" + with_ids(ROWS, "abc").replace(",", "\t")
    data = load_proximity(write(tmp_path, "S.tsv", text))
    np.testing.assert_array_equal(data.S, S)
    assert data.ids.tolist() == ["a", "b", "c"]


def test_an_eval_would_have_been_noticed(tmp_path):
    cell = "__import__('os').mkdir('made')"
    assert "is not a number" in refused(
        write(tmp_path, "S.csv", ROWS.replace("2,0.001", f"2,{cell}")), "row 2, column 3"
    )
    assert not (tmp_path / "made").exists()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (ROWS + "1,2\n", "row 4 has 2 cells, row 2 has 3; all rows must have the same number"),
        ("1,2\n" + ROWS, "row 2 has 3 cells, row 1 has 2"),
        (ROWS.replace("0.001\n", "0.001,7\n", 1), "row 2 has 4 cells, row 1 has 3"),
        ("\n \n", "the file is empty"),
        ("a,b,c\n", "there is a header row only"),
        (",1,2\n", "not square: 1 rows and 3 columns"),
        ("x\n", "row 1, column 1: 'x' is not a number"),
        ("1,2\n3," + "4" * 200_000 + "\n", "row 2 cannot be read: field larger than field limit"),
        ("1,2,3\n4,5,6\n", "not square: 2 rows and 3 columns"),
        ("id,a,b,c\n" + with_ids(ROWS, "axb"), "row 3 is called 'x', and no column is. The columns begin with"),
        ("id,a,b,c\n" + with_ids(ROWS, "aac"), r"the id 'a' appears twice \(rows 2 and 3\)"),
        ("a,a,c\n" + ROWS, "the id 'a' appears twice"),
        ("id,1,2,3\n" + with_ids(ROWS, ["7", "8", "8"]), r"the id '8' appears twice \(rows 3 and 4\)"),
        ("1,2\n3,\x00\n", "S.csv: row"),
    ],
)  # fmt: skip
def test_text_errors(tmp_path, text, message):
    assert "S.csv" in refused(write(tmp_path, "S.csv", text), message)


def test_text_that_is_not_utf8(tmp_path):
    (tmp_path / "S.csv").write_bytes(b"a,b\n1,2\n\xff,3\n")
    refused(tmp_path / "S.csv", "S.csv: row 3 is not UTF-8 text")


@pytest.mark.parametrize("name", ["S.csv.gz", "S.mtx.gz"])
def test_truncated_gz(tmp_path, name):
    packed = gzip.compress(np.random.RandomState(0).bytes(4000).hex().encode())
    (tmp_path / name).write_bytes(packed[: len(packed) // 2])
    refused(tmp_path / name, "truncated or corrupt")
    (tmp_path / name).write_bytes(b"this is no gzip file")
    refused(tmp_path / name, "truncated or corrupt")


def test_a_large_csv(tmp_path):
    big = np.random.RandomState(0).uniform(size=(500, 500)).round(6)
    names = [f"s{i}" for i in range(500)]
    rows = "".join(",".join(map(str, row)) + "\n" for row in big.tolist())
    path = write(tmp_path, "big.csv", "id," + ",".join(names) + "\n" + with_ids(rows, names))
    np.testing.assert_array_equal(load_proximity(path).S, big)


@given(values=arrays.arrays(np.float64, st.integers(1, 5).map(lambda n: (n, n)), elements=st.floats(-1e300, 1e300)))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_written_numbers_come_back_to_the_last_bit(tmp_path, values):
    names = [f"s{i}" for i in range(len(values))]
    text = "\n".join(",".join(map(repr, row)) for row in values.tolist())
    data = load_proximity(write(tmp_path, "S.csv", "id," + ",".join(names) + "\n" + with_ids(text, names)))
    np.testing.assert_array_equal(data.S, values)
    assert data.ids.tolist() == names


# NumPy


@pytest.mark.parametrize(
    ("dtype", "expected"),
    [("f4", "f4"), ("f8", "f8"), (">f8", "f8"), ("f2", "f8"), ("i4", "f8"), ("u1", "f8"), ("?", "f8")],
)
def test_npy(tmp_path, dtype, expected):
    values = np.eye(3).astype(dtype)
    np.save(tmp_path / "S.npy", values)
    data = load_proximity(tmp_path / "S.npy")
    assert data.S.dtype == np.dtype(expected)
    np.testing.assert_array_equal(data.S, values)


def test_mmap_leaves_the_values_on_disk(tmp_path):
    np.save(tmp_path / "S.npy", S)
    data = load_proximity(tmp_path / "S.npy", mmap=True)
    assert isinstance(data.S, np.memmap)
    np.testing.assert_array_equal(data.S, S)
    with pytest.raises(ValueError, match="read-only"):
        data.S[0, 0] = 7
    np.savez(tmp_path / "S.npz", S)
    refused(tmp_path / "S.npz", "mmap=True is for .npy files only", mmap=True)


def test_npz(tmp_path):
    np.savez_compressed(tmp_path / "one.npz", S=S)
    np.testing.assert_array_equal(load_proximity(tmp_path / "one.npz").S, S)
    np.savez(tmp_path / "two.npz", S=S, D=-S)
    np.testing.assert_array_equal(load_proximity(tmp_path / "two.npz", key="D").S, -S)
    refused(tmp_path / "two.npz", r"two.npz: holds 2 arrays; choose one with key \(--key\), one of \['S', 'D'\]")
    refused(tmp_path / "two.npz", r"there is no array 'K'; key must be one of \['S', 'D'\]", key="K")


def test_sparse_npz(tmp_path):
    sparse.save_npz(tmp_path / "S.npz", sparse.csc_array(np.eye(3, dtype=np.float32)))
    data = load_proximity(tmp_path / "S.npz")
    assert isinstance(data.S, sparse.csr_array)
    assert data.S.dtype == np.float32
    np.testing.assert_array_equal(data.S.toarray(), np.eye(3))


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (np.eye(2) * 1j, "the numbers are complex; real ones are needed"),
        (np.array([["a", "b"], ["c", "d"]]), "the array is of type <U1; numbers are needed"),
        (np.zeros(3), "holds each pair once, .* --diagonal VALUE"),
        (np.zeros(4), r"looks like a condensed vector, but it has 4 entries; .* 3 for n = 3, 6 for n = 4"),
        (np.zeros((2, 2, 2)), r"has 3 dimension\(s\)"),
        (np.zeros((0, 0)), "the matrix is empty"),
        (np.zeros((2, 3)), "not square: 2 rows and 3 columns"),
        (np.array([[1, np.inf], [2, 3]]), "row 1, column 2 is inf"),
    ],
)
def test_arrays_that_are_no_proximities(tmp_path, values, message):
    np.save(tmp_path / "S.npy", values)
    refused(tmp_path / "S.npy", f"S.npy: .*{message}")
    np.savez(tmp_path / "S.npz", S=values)
    refused(tmp_path / "S.npz", f"S.npz: .*{message}")


def test_mmap_of_what_is_no_proximity(tmp_path):
    np.save(tmp_path / "S.npy", np.zeros((2, 3)))
    refused(tmp_path / "S.npy", "not square", mmap=True)


class Malicious:
    """Makes a folder when unpickled."""

    def __init__(self, folder):
        self.folder = folder

    def __reduce__(self):
        return os.mkdir, (str(self.folder),)


def test_pickles_are_not_executed(tmp_path):
    trap = tmp_path / "executed"
    array = np.array([[Malicious(trap)]], dtype=object)
    np.save(tmp_path / "S.npy", array, allow_pickle=True)
    np.savez(tmp_path / "S.npz", S=array)
    (tmp_path / "raw.npy").write_bytes(pickle.dumps(Malicious(trap)))
    (tmp_path / "raw.npz").write_bytes(pickle.dumps(Malicious(trap)))
    for name in ("S.npy", "S.npz", "raw.npy", "raw.npz"):
        refused(tmp_path / name, f"{name}: holds pickled Python objects, which are not loaded")
    refused(tmp_path / "S.npy", "holds pickled|truncated or corrupt", mmap=True)
    assert not trap.exists()
    # The trap is one: loading with pickles allowed springs it.
    np.load(tmp_path / "S.npy", allow_pickle=True)
    assert trap.exists()


def test_the_content_decides_before_the_suffix(tmp_path):
    np.save(tmp_path / "S.npy", S)
    np.savez(tmp_path / "T.npz", S)
    shutil.copy(tmp_path / "S.npy", tmp_path / "S.npz")
    shutil.copy(tmp_path / "T.npz", tmp_path / "T.npy")
    shutil.copy(tmp_path / "S.npy", tmp_path / "similarities")
    for name in ("S.npz", "T.npy", "similarities"):
        np.testing.assert_array_equal(load_proximity(tmp_path / name).S, S)
    for name, what in (("text.npy", "an array"), ("text.npz", "an archive"), ("text.parquet", "a Parquet file")):
        refused(write(tmp_path, name, ROWS), f"{name}: is named as {what}.*, but it looks like text; name it .csv")


# MATLAB


def test_mat(tmp_path):
    scipy_io.savemat(tmp_path / "S.mat", {"S": S, "note": "text", "cells": np.array([S, "x"], dtype=object)})
    np.testing.assert_array_equal(load_proximity(tmp_path / "S.mat").S, S)
    refused(tmp_path / "S.mat", r"'note' is of class char; a numeric matrix is needed, one of \['S'\]", key="note")
    refused(tmp_path / "S.mat", "'cells' is of class cell", key="cells")
    refused(tmp_path / "S.mat", r"there is no array 'K'; key must be one of \['S'\]", key="K")


def test_mat_with_several_matrices(tmp_path):
    scipy_io.savemat(tmp_path / "S.mat", {"S": S, "D": -S, "K": sparse.csc_array(S).astype(float)})
    np.testing.assert_array_equal(load_proximity(tmp_path / "S.mat", key="D").S, -S)
    K = load_proximity(tmp_path / "S.mat", key="K").S
    assert isinstance(K, sparse.csr_array)
    np.testing.assert_array_equal(K.toarray(), S)
    assert "['S', 'D', 'K']" in refused(tmp_path / "S.mat", "holds 3 arrays; choose one with key")


def test_mat_errors(tmp_path):
    scipy_io.savemat(tmp_path / "complex.mat", {"S": S * 1j})
    refused(tmp_path / "complex.mat", "complex.mat: the numbers are complex")
    scipy_io.savemat(tmp_path / "text.mat", {"note": "text"})
    refused(tmp_path / "text.mat", "text.mat: holds no numeric array")


def test_mat_of_version_7_3(tmp_path, monkeypatch):
    (tmp_path / "new.mat").write_bytes(b"MATLAB 7.3 MAT-file, Platform: GLNXA64".ljust(512) + b"\x89HDF\r\n\x1a\n")
    monkeypatch.setitem(sys.modules, "h5py", None)
    with pytest.raises(ImportError, match=r"this needs h5py: pip install 'similitude\[data\]'"):
        load_proximity(tmp_path / "new.mat")
    monkeypatch.undo()
    h5py = pytest.importorskip("h5py")
    refused(tmp_path / "new.mat", "not a MATLAB 7.3 file, or truncated")
    K = sparse.csc_array(np.triu(S))
    with h5py.File(tmp_path / "S.mat", "w") as file:
        file.create_dataset("S", data=np.triu(S).T).attrs["MATLAB_class"] = np.bytes_("double")
        group = file.create_group("K")
        group.attrs["MATLAB_class"], group.attrs["MATLAB_sparse"] = np.bytes_("double"), 3
        for name, values in (("data", K.data), ("ir", K.indices), ("jc", K.indptr)):
            group.create_dataset(name, data=values)
    np.testing.assert_array_equal(load_proximity(tmp_path / "S.mat", key="S").S, np.triu(S))
    np.testing.assert_array_equal(load_proximity(tmp_path / "S.mat", key="K").S.toarray(), np.triu(S))
    refused(tmp_path / "S.mat", "holds 2 arrays; choose one with key")
    with h5py.File(tmp_path / "S.mat", "a") as file:
        file["K"]["ir"][1] = 10**8
    refused(tmp_path / "S.mat", "its index number 1 is 100000000", key="K")


# Matrix Market


@pytest.mark.parametrize("name", ["S.mtx", "S.mtx.gz"])
def test_mtx(tmp_path, name):
    text = "%%MatrixMarket matrix coordinate real symmetric\n3 3 4\n1 1 1.5\n2 1 0.5\n2 2 2\n3 3 3\n"
    data = load_proximity(write(tmp_path, name, text))
    assert isinstance(data.S, sparse.csr_array)
    np.testing.assert_array_equal(data.S.toarray(), [[1.5, 0.5, 0], [0.5, 2, 0], [0, 0, 3]])


def test_dense_mtx(tmp_path):
    scipy_io.mmwrite(str(tmp_path / "S.mtx"), S)
    np.testing.assert_array_equal(load_proximity(tmp_path / "S.mtx").S, S)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("real general\n2 2 1\n1 2 inf\n", "row 1, column 2 is inf; a finite number is needed"),
        ("real general\n9999999 9999999 99999999999\n1 2 1\n", "promises 99,999,999,999 entries"),
        ("complex general\n2 2 1\n1 2 1 1\n", "the numbers are complex"),
        ("real general\n2 3 1\n1 2 1\n", "not square: 2 rows and 3 columns"),
        ("real general\n2 2 2\n1 2 1\n", "truncated or corrupt"),
        ("real general\n2 2 1\n1 2 abc\n", "truncated or corrupt"),
        ("real general\n2 2 1\n1 7 1\n", "truncated or corrupt"),
    ],
)
def test_mtx_errors(tmp_path, text, message):
    refused(write(tmp_path, "S.mtx", "%%MatrixMarket matrix coordinate " + text), f"S.mtx: .*{message}")


# Parquet


def test_parquet(tmp_path):
    data = load_proximity(parquet(tmp_path, {name: S[:, j] for j, name in enumerate("abc")}))
    np.testing.assert_array_equal(data.S, S)
    assert data.ids.tolist() == ["a", "b", "c"]


def test_missing_values_of_parquet_are_unknown(tmp_path):
    data = load_proximity(parquet(tmp_path, {"a": [1, None], "b": [3, 4]}))
    np.testing.assert_array_equal(data.S, [[1, 3], [np.nan, 4]])


def test_parquet_types(tmp_path):
    single = load_proximity(parquet(tmp_path, {"a": np.float32([1, 2]), "b": np.float32([3, 4])}))
    assert single.S.dtype == np.float32
    mixed = load_proximity(parquet(tmp_path, {"a": np.float32([1, 2]), "b": [True, False]}))
    assert mixed.S.dtype == np.float64
    np.testing.assert_array_equal(mixed.S, [[1, 1], [2, 0]])


@pytest.mark.parametrize("index", [["a", "b", "c"], [5, 7, 9]])
def test_parquet_of_pandas(tmp_path, index):
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    pandas.DataFrame(S, index=index, columns=list(map(str, index))).to_parquet(tmp_path / "S.parquet")
    data = load_proximity(tmp_path / "S.parquet")
    np.testing.assert_array_equal(data.S, S)
    assert data.ids.tolist() == list(map(str, index))


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"id": ["b", "x"], "a": [1, 2], "b": [3, 4]}, "row 2 is called 'x', and no column is"),
        ({"id": ["a", "a"], "a": [1, 2], "b": [3, 4]}, "the id 'a' appears twice"),
        ({"id": ["a", None], "a": [1, 2], "b": [3, 4]}, "row 2, column 'id' is a missing value"),
        ({"a": [1, 2], "b": [float("inf"), 4]}, "row 1, column 2 is inf"),
        ({"a": [1, 2], "b": [3, 4], "c": [5, 6]}, "not square: 2 rows and 3 columns"),
        ({"a": [1, 2], "b": [[3], [4]]}, "column 'b' is of type list"),
        ({"a": ["x", "y"], "b": ["x", "y"]}, "column 'b' is of type string; numbers, and one column of ids"),
        ({"a": ["x", "y"]}, "holds no column of numbers"),
    ],
)
def test_parquet_errors(tmp_path, columns, message):
    refused(parquet(tmp_path, columns), f"S.parquet: .*{message}")


def test_parquet_without_pyarrow(tmp_path, monkeypatch):
    write(tmp_path, "S.parquet", "PAR1")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ImportError, match=r"pip install 'similitude\[data\]'"):
        load_proximity(tmp_path / "S.parquet")


# Damaged files


def good_files(folder):
    np.save(folder / "S.npy", S)
    np.savez(folder / "S.npz", S=S)
    scipy_io.savemat(folder / "S.mat", {"S": S})
    parquet(folder, {name: S[:, j] for j, name in enumerate("abc")})
    write(folder, "S.csv.gz", ROWS)


@pytest.mark.parametrize("name", ["S.npy", "S.npz", "S.mat", "S.parquet", "S.csv.gz"])
@pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
def test_truncated_files(tmp_path, name, share):
    good_files(tmp_path)
    content = (tmp_path / name).read_bytes()
    (tmp_path / name).write_bytes(content[: int(share * len(content))])
    refused(tmp_path / name, f"{name}: .*truncated")


@pytest.mark.parametrize("name", ["S.npy", "S.npz", "S.mat", "S.mtx", "S.parquet", "S.csv"])
@given(content=st.binary(min_size=1, max_size=200))
@settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_bytes_load_or_give_a_value_error(tmp_path, name, content):
    if name == "S.parquet":
        pytest.importorskip("pyarrow")
    (tmp_path / name).write_bytes(content)
    message = None
    try:
        data = load_proximity(tmp_path / name)
    except ValueError as error:
        message = str(error)
    except ImportError:  # the signature of MATLAB 7.3 without h5py
        reject()
    assert name in message if message else data.S.shape[0] == data.S.shape[1]


def test_damaged_zip_member(tmp_path):
    with zipfile.ZipFile(tmp_path / "S.npz", "w") as archive:
        archive.writestr("S.npy", b"no array at all")
    refused(tmp_path / "S.npz", "S.npz: .*")


# Paths


def test_missing_and_empty_files(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"path: there is no file .*none\.csv"):
        load_proximity(tmp_path / "none.csv")
    path = write(tmp_path, "S.csv", ROWS)
    with pytest.raises(FileNotFoundError, match=r"labels: there is no file .*none\.txt"):
        load_proximity(path, tmp_path / "none.txt")
    for name in ("empty.csv", "empty.npy", "empty.mat", "empty.mtx", "empty.parquet"):
        refused(write(tmp_path, name, ""), f"{name}: the file is empty")
    refused(tmp_path, "is not a file")


@pytest.mark.parametrize("name", ["S.dat", "S", "S.txt", "S.gz"])
def test_text_of_any_name(tmp_path, name):
    path = write(tmp_path, name, ROWS.replace(",", "  "))
    np.testing.assert_array_equal(load_proximity(path).S, S)


def test_key_where_there_is_none(tmp_path):
    refused(write(tmp_path, "S.csv", ROWS), "key='S' is for .npz and .mat files only", key="S")


# Ids of binary files


@pytest.mark.parametrize("text", ["c\na\nb\n", "\ufeffc\r\na\r\nb", " c \na\nb\n\n"])
@pytest.mark.parametrize("mmap", [False, True])
def test_ids_beside_npy(tmp_path, text, mmap):
    np.save(tmp_path / "S.npy", S)
    (tmp_path / "S.ids.txt").write_text(text, encoding="utf-8", newline="")
    data = load_proximity(tmp_path / "S.npy", write(tmp_path, "y.csv", "a,1\nb,2\nc,3\n"), mmap=mmap)
    assert data.ids.tolist() == data.column_ids.tolist() == ["c", "a", "b"]
    assert data.y.tolist() == [3, 1, 2]


@pytest.mark.parametrize("kind", ["npy", "npz"])
def test_ids_of_rows_and_columns(tmp_path, kind):
    def load(values, ids, column_ids, **how):
        folder = tmp_path / str(len(os.listdir(tmp_path)))
        folder.mkdir()
        names = {name: value for name, value in (("ids", ids), ("column_ids", column_ids)) if value is not None}
        if kind == "npz":
            np.savez(folder / "S.npz", S=values, **names)
        else:
            np.save(folder / "S.npy", values)
            for name, value in names.items():
                (folder / f"S.{name}.txt").write_text("".join(f"{text}\n" for text in value))
        data = load_proximity(folder / f"S.{kind}", **how)
        return [None if found is None else "".join(found) for found in (data.ids, data.column_ids)]

    assert load(S, ["a", "b", "c"], None) == ["abc", "abc"]
    assert load(S, ["a", "b", "c"], None, square=False) == ["abc", "abc"]
    assert load(S, [7, 8, 9], ["7", "8", "9"]) == ["789", "789"]
    assert load(S, ["a", "b", "c"], ["x", "y", "z"], square=False) == ["abc", "xyz"]
    assert load(S[:2], ["a", "b"], None, square=False) == ["ab", None]
    assert load(S[:2], None, ["x", "y", "z"], square=False) == [None, "xyz"]
    for values, ids, column_ids, message in (
        (S, ["a", "b"], None, "2 ids in .*ids.* for 3 rows"),
        (S, None, ["a", "b"], "2 ids in .*column_ids.* for 3 columns"),
        (S, ["a", "a", "b"], None, r"the id 'a' appears twice \(rows 1 and 2\)"),
        (S, ["a", "b", "c"], ["a", "c", "x"], "row 2 is called 'b', and no column is"),
    ):
        with pytest.raises(ValueError, match=message):
            load(values, ids, column_ids)


def test_arrays_that_are_no_ids(tmp_path):
    for ids in (np.eye(3), np.array([1.0, 2.0, 3.0])):
        np.savez(tmp_path / "S.npz", S=S, ids=ids)
        refused(tmp_path / "S.npz", "the array 'ids' must hold one id per sample, text or whole numbers; got float64")
    np.savez(tmp_path / "S.npz", S=S, ids=np.array(["a", "b", "c"], dtype=object))
    refused(tmp_path / "S.npz", "holds pickled Python objects")
    np.savez(tmp_path / "S.npz", S=-S, ids=S)
    np.testing.assert_array_equal(load_proximity(tmp_path / "S.npz", key="ids").S, S)
