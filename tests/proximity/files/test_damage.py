"""Damaged files end in one clear error, and never in a crash."""

import numpy as np
import pytest
from scipy import io as scipy_io
from scipy import sparse

from similitude.datasets import load_proximity
from tests.proximity.files.writing import refused

GOOD = {"indices": np.array([0, 1, 2]), "indptr": np.array([0, 1, 2, 3]), "data": np.ones(3), "shape": np.array([3, 3])}


@pytest.mark.parametrize("kind", ["csr", "csc"])
@pytest.mark.parametrize(
    ("name", "values", "message"),
    [
        ("indices", [0, 10**8, 2], "its index number 1 is 100000000; it must be from 0 to 2"),
        ("indices", [0, -1, 2], "its index number 1 is -1"),
        ("indices", [0.0, 1.0, 2.0], "'indices' of the sparse matrix must hold whole numbers; got float64"),
        ("indices", [0, 1], "'indptr' ends with 3, and there are 2 indices and 3 values"),
        ("indptr", [0, 10**9, 2, 3], "'indptr' of the sparse matrix is damaged: it must ascend from 0"),
        ("indptr", [0, 1, 2, 10**9], "'indptr' ends with 1000000000"),
        ("indptr", [0, 1, 3], "it must ascend from 0"),
        ("shape", [3], r"has the shape \(3,\); two lengths are needed"),
        ("shape", [3, -3], "two lengths are needed"),
    ],
)
def test_damaged_sparse_archives(tmp_path, kind, name, values, message):
    np.savez(tmp_path / "bad.npz", format=np.array(kind.encode()), **{**GOOD, name: np.array(values)})
    refused(tmp_path / "bad.npz", f"bad.npz: .*{message}")


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"format": "coo", "row": [0, 9], "col": [0, 1], "data": [1.0, 1.0]}, "its index number 1 is 9"),
        ({"format": "coo", "row": [0], "col": [0, 1], "data": [1.0, 1.0]}, "2 values, but 1 entries of 'row'"),
        ({"format": "dia", "offsets": [10**6], "data": [[1.0, 1.0, 1.0]]}, "an offset of the sparse matrix is out"),
        ({"format": "xyz", "data": [1.0]}, "of the format 'xyz'; csr, csc, coo, bsr or dia is needed"),
    ],
)
def test_other_damaged_sparse_archives(tmp_path, arrays, message):
    np.savez(tmp_path / "bad.npz", shape=np.array([3, 3]), **{name: np.array(value) for name, value in arrays.items()})
    refused(tmp_path / "bad.npz", message)


def test_damaged_sparse_matlab_file(tmp_path):
    S = sparse.csc_array(np.eye(3))
    S.indices[1] = 10**8
    scipy_io.savemat(tmp_path / "bad.mat", {"S": S})
    refused(tmp_path / "bad.mat", "bad.mat: .*its index number 1 is 100000000")


def test_arrays_that_promise_more_than_there_is(tmp_path):
    with (tmp_path / "S.npy").open("wb") as file:
        header = {"descr": "<f8", "fortran_order": False, "shape": (10**7, 10**7)}
        np.lib.format.write_array_header_1_0(file, header)
        file.write(b"\0" * 800)
    refused(tmp_path / "S.npy", "truncated or corrupt .*needs 800000000000000 bytes, more than there are")


@pytest.mark.parametrize("kind", ["csr", "csc", "coo", "bsr", "dia"])
def test_sound_sparse_archives(tmp_path, kind):
    S = np.diag([1.0, 2, 3, 4]) + np.diag([5.0, 0, 6], 1)
    sparse.save_npz(tmp_path / "S.npz", sparse.coo_array(S).asformat(kind))
    np.testing.assert_array_equal(load_proximity(tmp_path / "S.npz").S.toarray(), S)
