"""Every form in which programs write distances: a realistic file, and what is wrong with broken ones."""

import gzip

import numpy as np
import pytest

from similitude.datasets import load_proximity
from tests.proximity.files.writing import refused, write

IDS = ["ecoli", "yeast", "fly", "human"]
D = np.array([[0, 0.31, 0.52, 0.58], [0.31, 0, 0.44, 0.47], [0.52, 0.44, 0, 0.19], [0.58, 0.47, 0.19, 0]])
DISTANCES = {"orientation": "dissimilarity"}

PHYLIP_SQUARE = """    4
ecoli     0.000 0.310 0.520 0.580
yeast     0.310 0.000 0.440 0.470
fly       0.520 0.440 0.000 0.190
human     0.580 0.470 0.190 0.000
"""
PHYLIP_WRAPPED = """4
ecoli     0.000 0.310
  0.520 0.580
yeast     0.310 0.000 0.440
  0.470
fly       0.520 0.440 0.000 0.190
human     0.580 0.470 0.190 0.000
"""
PHYLIP_LOWER = "4\necoli\nyeast 0.31\nfly 0.52 0.44\nhuman 0.58 0.47 0.19\n"
MASH_TRIANGLE = "\t4\necoli\nyeast\t0.31\nfly\t0.52\t0.44\nhuman\t0.58\t0.47\t0.19\n"
PHYLIP_UPPER = "4\necoli 0.31 0.52 0.58\nyeast 0.44 0.47\nfly 0.19\nhuman\n"
PHYLIP_LOWER_DIAGONAL = "4\necoli 0\nyeast 0.31 0\nfly 0.52 0.44 0\nhuman 0.58 0.47 0.19 0\n"
LSMAT = (
    "# written by scikit-bio\n\tecoli\tyeast\tfly\thuman\necoli\t0.0\t0.31\t0.52\t0.58\nyeast\t0.31\t0.0\t0.44\t0.47\n"
    "fly\t0.52\t0.44\t0.0\t0.19\nhuman\t0.58\t0.47\t0.19\t0.0\n"
)
MASH_TABLE = LSMAT.split("\n", 1)[1].replace("\tecoli", "#query\tecoli", 1)
LOWER = "ecoli,0\nyeast,0.31,0\nfly,0.52,0.44,0\nhuman,0.58,0.47,0.19,0\n"
LOWER_HEADER = "id,ecoli,yeast,fly,human\n" + LOWER
LOWER_PADDED = "id,ecoli,yeast,fly,human\necoli,0,,,\nyeast,0.31,0,,\nfly,0.52,0.44,0,\nhuman,0.58,0.47,0.19,0\n"
UPPER_HEADER = "ecoli,yeast,fly,human\n0,0.31,0.52,0.58\n0,0.44,0.47\n0,0.19\n0\n"
BARE_LOWER = "0.31\n0.52 0.44\n0.58 0.47 0.19\n"
BARE_UPPER = "0.31\t0.52\t0.58\n0.44\t0.47\n0.19\n"
CONDENSED = "0.31\n0.52\n0.58\n0.44\n0.47\n0.19\n"


@pytest.mark.parametrize(
    ("name", "text", "ids"),
    [
        ("D.phy", PHYLIP_SQUARE, IDS),
        ("D.dist", PHYLIP_WRAPPED, IDS),
        ("infile", PHYLIP_LOWER, IDS),
        ("mash.triangle", MASH_TRIANGLE, IDS),
        ("D.txt", PHYLIP_UPPER, IDS),
        ("D.phylip.gz", PHYLIP_LOWER_DIAGONAL, IDS),
        ("D.phy", PHYLIP_SQUARE.replace("yeast     ", "S. cerev. "), ["ecoli", "S. cerev.", "fly", "human"]),
        ("D.lsmat", LSMAT, IDS),
        ("mash.tab", MASH_TABLE, IDS),
        ("D.csv", LOWER, IDS),
        ("D.csv.gz", LOWER_HEADER, IDS),
        ("D.csv", LOWER_PADDED, IDS),
        ("D.csv", UPPER_HEADER, IDS),
        ("D.txt", BARE_LOWER, None),
        ("D.tsv", BARE_UPPER, None),
        ("pdist.txt", CONDENSED, None),
        ("pdist.csv", "distance\n" + CONDENSED, None),
        ("pdist.csv", CONDENSED.strip().replace("\n", ","), None),
    ],
)
def test_forms(tmp_path, name, text, ids):
    data = load_proximity(write(tmp_path, name, text), **DISTANCES)
    np.testing.assert_array_equal(data.S, D)
    assert (None if data.ids is None else data.ids.tolist()) == ids


def test_similarities_need_to_know_those_of_samples_with_themselves(tmp_path):
    for name, text in (("S.txt", CONDENSED), ("S.phy", PHYLIP_LOWER)):
        path = write(tmp_path, name, text)
        refused(path, r"holds each pair once, .* --dissimilarity MAP .* --diagonal VALUE")
        np.testing.assert_array_equal(load_proximity(path, diagonal=1).S, D + np.eye(4))
    # A triangle of similarities holds the diagonal, unless it is given.
    path = write(tmp_path, "S.txt", BARE_LOWER)
    np.testing.assert_array_equal(load_proximity(path).S, [[0.31, 0.52, 0.58], [0.52, 0.44, 0.47], [0.58, 0.47, 0.19]])
    np.testing.assert_array_equal(load_proximity(path, diagonal=1).S, D + np.eye(4))


def test_files_of_sourmash(tmp_path):
    # `sourmash compare -o compare.out` writes an array of NumPy without a suffix, and compare.out.labels.txt.
    with (tmp_path / "compare.out").open("wb") as file:
        np.save(file, 1 - D)
    (tmp_path / "compare.out.labels.txt").write_text("".join(f"{name}\n" for name in IDS))
    data = load_proximity(tmp_path / "compare.out", write(tmp_path, "y.csv", "fly,1\nhuman,1\necoli,0\nyeast,0\n"))
    np.testing.assert_array_equal(data.S, 1 - D)
    assert (data.ids.tolist(), data.y.tolist()) == (IDS, [0, 0, 1, 1])
    (tmp_path / "compare.out.labels.txt").write_text("ecoli\nyeast\n")
    refused(tmp_path / "compare.out", "there are 2 ids in .* for 4 rows")


@pytest.mark.parametrize("name", ["pdist.npy", "pdist.npz", "pdist.npy.gz", "pdist.mat"])
def test_condensed_arrays(tmp_path, name):
    from scipy import io as scipy_io

    values = D[np.triu_indices(4, 1)]
    np.save(tmp_path / "pdist.npy", values)
    np.savez(tmp_path / "pdist.npz", values)
    scipy_io.savemat(tmp_path / "pdist.mat", {"D": values})
    (tmp_path / "pdist.npy.gz").write_bytes(gzip.compress((tmp_path / "pdist.npy").read_bytes()))
    (tmp_path / "pdist.ids.txt").write_text("".join(f"{name}\n" for name in IDS))
    data = load_proximity(tmp_path / name, **DISTANCES)
    np.testing.assert_array_equal(data.S, D)
    assert name == "pdist.npz" or data.ids.tolist() == IDS


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("D.phy", PHYLIP_SQUARE.replace("4", "5", 1), "the first row promises 5 samples; there are 4"),
        (
            "D.phy",
            PHYLIP_SQUARE.replace("0.520 0.440 0.000 0.190", "0.520 0.440 0.000"),
            r"row 4 \('fly', sample 3 of 4",
        ),
        ("D.phy", PHYLIP_SQUARE.replace("0.440 0.470", "0.440 x"), "row 3, column 5: 'x' is not a number"),
        ("D.phy", PHYLIP_LOWER.replace("0.52 0.44", "0.52"), r"row 4 .* has 1 numbers; .* a lower triangle 2 or 3"),
        ("D.phy", PHYLIP_LOWER.replace("fly", "yeast"), r"the id 'yeast' appears twice \(rows 2 and 3\)"),
        ("D.lsmat", LSMAT.replace("fly\t0.52", "bee\t0.52"), "row 5 is called 'bee', and no column is"),
        ("D.lsmat", LSMAT.replace("0.44\t0.47", "0.44"), "row 4 has 4 cells, row 3 has 5"),
        ("D.lsmat", LSMAT.replace("0.47\n", "1e999\n"), "row 4, column 5: '1e999' is infinite"),
        ("D.csv", LOWER.replace("0.52,0.44,0", "0.52,x,0"), "row 3, column 3: 'x' is not a number"),
        ("D.csv", LOWER.replace("fly,", "yeast,"), "the id 'yeast' appears twice"),
        (
            "D.csv",
            LOWER + "bee,1,2\n",
            "lower triangle, but row 5 has 2 numbers after 4 in the row before it; 5 are needed",
        ),
        ("D.csv", "0.1,0.2,0.3,0.4\n0.5,0.6,0.7\n0.8,0.9\n", "upper triangle, but its shortest row has 2 numbers"),
        ("D.txt", CONDENSED + "0.5\n", "looks like a condensed vector, but it has 7 entries"),
        ("D.txt", CONDENSED.replace("0.44", "inf"), "row 4, column 1: 'inf' is infinite"),
        ("D.txt", CONDENSED.replace("0.44", "0,44"), "row 4"),
    ],
)
def test_broken_forms(tmp_path, name, text, message):
    assert name in refused(write(tmp_path, name, text), message, **DISTANCES)


def test_a_form_that_is_named(tmp_path):
    path = write(tmp_path, "D.csv", "0.5\n")
    assert load_proximity(path).S.tolist() == [[0.5]]
    assert load_proximity(path, form="condensed", **DISTANCES).S.tolist() == [[0, 0.5], [0.5, 0]]
    refused(path, "form must be None or one of 'table', 'edges'", form="square")


def test_bombs_are_stopped_by_the_stated_limits(tmp_path, monkeypatch):
    from similitude.proximity.files import arrays, text

    monkeypatch.setattr(text, "LARGEST_UNPACKED", 2**18)
    monkeypatch.setattr(arrays, "LARGEST_UNPACKED", 2**18)
    monkeypatch.setattr(text, "LONGEST_LINE", 2**17)
    (tmp_path / "D.csv.gz").write_bytes(gzip.compress(b"0,1\n1,0\n" * 200_000))
    refused(
        tmp_path / "D.csv.gz", r"D.csv.gz: unpacks to more than \d+ MiB, 200 times its own size. Unpack it yourself"
    )
    (tmp_path / "line.csv.gz").write_bytes(gzip.compress(b"1," * 100_000))
    refused(tmp_path / "line.csv.gz", "row 1 has more than 131,072 characters; a line may not be longer")
    np.savez_compressed(tmp_path / "D.npz", S=np.zeros((300, 300)))
    refused(tmp_path / "D.npz", "'S.npy' unpacks to 1 MiB, more than 200 times its packed size")
