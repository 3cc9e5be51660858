"""The layout of the Similarity-based Learning Repository."""

import numpy as np
import pytest
from reproductions.repository import load_similarity_repository
from scipy import io, sparse

S = np.array([[1.0, 0.5, -0.25], [0.5, 2.0, 1e-3], [-0.25, 1e-3, 3.0]])
ROWS = "1 0.5 -0.25\n0.5 2 0.001\n-0.25 0.001 3\n"
LABELS = "a\nb\na\n"


def fill(folder, **files):
    for name, text in files.items():
        path = folder / name.replace("__", "/").replace("DOT", ".")
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder


@pytest.mark.parametrize(
    ("matrix", "labels"),
    [
        ("Voting__similarityDOTtxt", "Voting__labelsDOTtxt"),
        ("Voting__Voting_SDOTtxt", "Voting__Voting_classesDOTtxt"),
        ("Voting_similarityDOTtxt", "Voting_labelsDOTtxt"),
        ("Voting-matrixDOTtxt", "Voting-yDOTtxt"),
        ("VotingDOTsimDOTtxt", "VotingDOTlabelDOTtxt"),
    ],
)
@pytest.mark.parametrize("separator", [" ", "\t", ",", ", ", ";", "   "])
def test_text_layouts(tmp_path, matrix, labels, separator):
    sets = load_similarity_repository(fill(tmp_path, **{matrix: ROWS.replace(" ", separator), labels: LABELS}))
    assert list(sets) == ["Voting"]
    np.testing.assert_array_equal(sets["Voting"].S, S)
    assert sets["Voting"].y.tolist() == ["a", "b", "a"]
    assert sets["Voting"].dissimilarity is False


def test_both_layouts_and_other_files(tmp_path):
    fill(
        tmp_path,
        **{
            "READMEDOTtxt": "hello",
            "patrol_similarityDOTtxt": ROWS,
            "patrol_labelsDOTtxt": "1\n2\n1\n",
            "Aural__simDOTcsv": "id,x,y,z\nx,1,0.5,-0.25\ny,0.5,2,0.001\nz,-0.25,0.001,3\n",
            "Aural__labelsDOTtxt": LABELS,
            "Aural__notesDOTpdf": "not read",
        },
    )
    sets = load_similarity_repository(tmp_path)
    assert list(sets) == ["Aural", "patrol"]
    np.testing.assert_array_equal(sets["Aural"].S, S)
    assert sets["patrol"].y.dtype.kind == "i"
    assert sets["patrol"].y.tolist() == [1, 2, 1]


def test_labels_with_ids_are_put_into_the_order_of_the_matrix(tmp_path):
    fill(tmp_path, **{"v_simDOTcsv": "id,x,y\nx,1,0.5\ny,0.5,2\n", "v_labelsDOTcsv": "y,b\nx,a\n"})
    assert load_similarity_repository(tmp_path)["v"].y.tolist() == ["a", "b"]


@pytest.mark.parametrize("labels", ["01\n1\n2\n", "1\n2\n1.5\n"])
def test_labels_that_are_no_whole_numbers_stay_text(tmp_path, labels):
    sets = load_similarity_repository(fill(tmp_path, **{"v_simDOTtxt": ROWS, "v_labelsDOTtxt": labels}))
    assert sets["v"].y.tolist() == labels.split()


def test_dissimilarity_is_said(tmp_path):
    sets = load_similarity_repository(fill(tmp_path, **{"p_distanceDOTtxt": ROWS, "p_labelsDOTtxt": LABELS}))
    assert sets["p"].dissimilarity is True


def test_binary_formats(tmp_path):
    np.save(tmp_path / "a_similarity.npy", S)
    np.save(tmp_path / "a_labels.npy", np.array([0, 1, 0]))
    io.savemat(tmp_path / "b_similarity.mat", {"S": S})
    io.savemat(tmp_path / "b_labels.mat", {"y": np.array([[1.0], [2.0], [2.0]])})
    io.mmwrite(tmp_path / "c_similarity.mtx", sparse.csr_array(S))
    np.save(tmp_path / "c_labels.npy", np.array(["u", "v", "v"]))
    sets = load_similarity_repository(tmp_path)
    for name in "ab":
        np.testing.assert_array_equal(sets[name].S, S)
    np.testing.assert_allclose(sets["c"].S.toarray(), S)
    assert [sets[name].y.tolist() for name in "abc"] == [[0, 1, 0], [1, 2, 2], ["u", "v", "v"]]
    assert sets["b"].y.dtype.kind == "i"


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({"v_similarityDOTtxt": ROWS}, "v: one label file is needed, 0 found"),
        ({"v_labelsDOTtxt": LABELS}, "v: one similarity file is needed, 0 found"),
        (
            {"v_similarityDOTtxt": ROWS, "v_simDOTcsv": ROWS, "v_labelsDOTtxt": LABELS},
            r"v: one similarity file is needed, 2 found among: v_sim.csv, v_similarity.txt",
        ),
        ({"READMEDOTtxt": "hello"}, "no data set found"),
        ({"v_similarityDOTtxt": "1 x\n0 1\n", "v_labelsDOTtxt": "a\nb\n"}, r"v_similarity.txt: row 1, column 2: 'x'"),
        ({"v_similarityDOTtxt": "1 0\n\n0 nan\n", "v_labelsDOTtxt": "a\nb\n"}, "row 3, column 2: 'nan'"),
        ({"v_similarityDOTtxt": "1 0\n0\n", "v_labelsDOTtxt": "a\nb\n"}, r"v_similarity.txt: row 2 has 1 numbers"),
        ({"v_similarityDOTtxt": "1 0 0\n0 1 0\n", "v_labelsDOTtxt": "a\nb\n"}, "not square: 2 rows and 3 columns"),
        ({"v_similarityDOTtxt": "\n", "v_labelsDOTtxt": "a\nb\n"}, r"v_similarity.txt: the file is empty"),
        ({"v_similarityDOTtxt": ROWS, "v_labelsDOTtxt": "a\nb\n"}, r"v_labels.txt: 2 labels for 3 samples"),
    ],
)
def test_errors_name_the_file(tmp_path, files, message):
    with pytest.raises(ValueError, match=message):
        load_similarity_repository(fill(tmp_path, **files))


def test_labels_with_ids(tmp_path):
    named = "a,b\n1,0\n0,2\n"
    fill(tmp_path, **{"v_similarityDOTcsv": named, "v_labelsDOTcsv": "b,yes\na,no\n"})
    assert load_similarity_repository(tmp_path)["v"].y.tolist() == ["no", "yes"]
    (tmp_path / "v_similarity.csv").write_text("1,0\n0,2\n")
    with pytest.raises(ValueError, match=r"v_labels.csv: the labels have ids"):
        load_similarity_repository(tmp_path)


def test_wrong_number_of_binary_labels(tmp_path):
    fill(tmp_path, **{"v_similarityDOTtxt": ROWS})
    np.save(tmp_path / "v_labels.npy", np.zeros(2))
    with pytest.raises(ValueError, match=r"v_labels.npy: 2 labels for 3 samples"):
        load_similarity_repository(tmp_path)


def test_pickled_labels_are_refused(tmp_path):
    fill(tmp_path, **{"v_similarityDOTtxt": ROWS})
    np.save(tmp_path / "v_labels.npy", np.array(["a", 1, None], dtype=object))
    with pytest.raises(ValueError, match=r"v_labels.npy: not a NumPy array of labels"):
        load_similarity_repository(tmp_path)


def test_no_folder(tmp_path):
    with pytest.raises(FileNotFoundError, match="there is no folder"):
        load_similarity_repository(tmp_path / "absent")
