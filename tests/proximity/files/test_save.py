"""Written files read back with the same values and ids, in every form."""

import numpy as np
import pytest
from scipy import sparse

from similitude.datasets import load_proximity, save_proximity

IDS = ["a b", "c", 'say "hi"', "e,f"]
PLAIN = ["a", "c", "e", "g"]


def symmetric(seed=0, n=4):
    S = np.random.default_rng(seed).normal(size=(n, n)) * np.logspace(-200, 200, n)
    return S + S.T


@pytest.mark.parametrize(
    ("name", "form"),
    [
        ("S.csv", None),
        ("S.tsv.gz", None),
        ("S.txt", None),
        ("S.lsmat", None),
        ("S.csv", "edges"),
        ("S.tsv", "edges"),
        ("S.edges.gz", None),
        ("S.parquet", None),
        ("S.parquet", "edges"),
        ("S.npy", None),
        ("S.npz", None),
        ("S.mat", None),
        ("S.mtx", None),
        ("S.mtx.gz", None),
        ("S.csv", "lower"),
        ("S.tsv", "upper"),
        ("S.phy", None),
    ],
)
@pytest.mark.parametrize("kind", ["dense", "sparse", "unknown"])
def test_round_trips(tmp_path, name, form, kind):
    if "parquet" in name:
        pytest.importorskip("pyarrow")
    S = symmetric()
    if kind == "unknown":
        S[0, 3] = S[3, 0] = np.nan
    if kind == "sparse":
        S[0, 3] = S[3, 0] = 0
    ids = PLAIN if name == "S.phy" else IDS
    files = save_proximity(tmp_path / name, sparse.csr_array(S) if kind == "sparse" else S, ids=ids, form=form)
    assert all(path.exists() for path in files)
    edges = form == "edges" or ".edges" in name
    data = load_proximity(tmp_path / name, missing="unknown" if edges and kind == "unknown" else None)
    found = data.S
    if sparse.issparse(found):
        entries, found = found.tocoo(), np.full((4, 4), np.nan if data.absent == "unknown" else 0.0)
        found[entries.row, entries.col] = entries.data
    order = [ids.index(name) for name in data.ids.tolist()]
    np.testing.assert_array_equal(found, S[np.ix_(order, order)])
    assert edges or order == [0, 1, 2, 3]


@pytest.mark.parametrize(("name", "form"), [("D.txt", "condensed"), ("D.npy", "condensed"), ("D.phy", "phylip-lower")])
def test_round_trips_without_the_diagonal(tmp_path, name, form):
    D = np.abs(symmetric())
    np.fill_diagonal(D, 0)
    save_proximity(tmp_path / name, D, ids=PLAIN, form=form)
    data = load_proximity(tmp_path / name, orientation="dissimilarity")
    np.testing.assert_array_equal(data.S, D)
    assert data.ids.tolist() == PLAIN


@pytest.mark.parametrize("name", ["S.csv", "S.npy", "S.npz", "S.parquet"])
def test_rectangular_round_trips(tmp_path, name):
    if "parquet" in name:
        pytest.importorskip("pyarrow")
    S = symmetric()[:2]
    save_proximity(tmp_path / name, S, ids=["x", "y"], column_ids=PLAIN)
    data = load_proximity(tmp_path / name, square=False)
    np.testing.assert_array_equal(data.S, S)
    assert (data.ids.tolist(), data.column_ids.tolist()) == (["x", "y"], PLAIN)


@pytest.mark.parametrize(
    ("name", "form", "S", "message"),
    [
        ("S.xlsx", None, np.eye(2), "the suffix .xlsx is not known; it must be one of .csv"),
        ("S.npy", "edges", np.eye(2), "form='edges' is not for .*S.npy; it must be one of condensed, table"),
        (
            "S.csv",
            "lower",
            np.triu(np.ones((2, 2))),
            "the matrix is not symmetric, and the form 'lower' holds each pair",
        ),
        ("S.csv", "condensed", np.diag([1.0, 2]), "does not hold the diagonal, whose values differ"),
        ("S.phy", None, np.ones((2, 3)), r"the form 'phylip' is for square matrices; got shape \(2, 3\)"),
        ("S.npz.gz", None, np.eye(2), ".npz files are written without .gz"),
    ],
)
def test_what_cannot_be_written(tmp_path, name, form, S, message):
    with pytest.raises(ValueError, match=message):
        save_proximity(tmp_path / name, S, form=form)
    assert list(tmp_path.iterdir()) == []


def test_names_that_phylip_cannot_hold(tmp_path):
    with pytest.raises(ValueError, match="the id 'a b' has blanks, commas, quotes or #, which PHYLIP does not allow"):
        save_proximity(tmp_path / "S.phy", np.eye(4), ids=IDS)
    assert list(tmp_path.iterdir()) == []
