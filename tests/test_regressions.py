"""Mistakes that were made once, each in a few lines."""

import numpy as np
import pandas as pd
import pytest

from similitude import KNNClassifier, SpectrumModifier
from similitude.datasets import load_proximity
from similitude.similarities import RBF, VDM, Levenshtein, pairwise

S = np.array([[3.0, 2.0, 0.0, 1.0], [2.0, 3.0, 1.0, 0.0], [0.0, 1.0, 3.0, 2.0], [1.0, 0.0, 2.0, 3.0]])
Y = [0, 0, 1, 1]


def test_a_fit_that_fails_leaves_the_model_as_it_was():
    knn = KNNClassifier(1).fit(S, Y)
    with pytest.raises(ValueError, match="one label per sample"):
        knn.fit(S[:2, :2], Y)
    assert knn.n_features_in_ == 4
    assert knn.predict(S).tolist() == Y
    words = KNNClassifier(1, similarity="levenshtein").fit(["a", "bb"], [0, 1])
    with pytest.raises(ValueError, match="one label per sample"):
        words.partial_fit(["ccc"], [1, 1])
    assert words.objects_ == ["a", "bb"]
    clip = SpectrumModifier().fit(S)
    with pytest.raises(ValueError, match="NaN"):
        clip.fit(np.full((3, 3), np.nan))
    assert clip.transform(S).shape == (4, 4)


def test_nothing_of_an_earlier_fit_stays():
    knn = KNNClassifier(1).fit(S, Y).set_params(similarity="levenshtein").fit(["a", "bb"], [0, 1])
    assert not hasattr(knn, "n_features_in_")
    knn.set_params(similarity="precomputed").fit(S, Y)
    assert not hasattr(knn, "objects_")


def test_set_params_after_fit_does_not_change_what_was_fitted():
    clip = SpectrumModifier("clip").fit(S - 2.5 * np.eye(4))
    before = clip.transform(S)
    clip.set_params(method="flip", test_rows="augmented")
    assert np.array_equal(clip.transform(S), before)
    assert np.allclose(S @ clip.transform_matrix_, before)


def test_square_keeps_its_own_copy():
    A = S.copy()
    square = SpectrumModifier("square").fit(A)
    A[:] = 0
    assert np.allclose(square.transform(S), S @ S.T)


@pytest.mark.parametrize(("method", "size"), [("clip", 1e308), ("square", 1e160)])
def test_what_overflows_is_an_error(method, size):
    with pytest.raises(ValueError, match=r"too large.*[Rr]escale"):
        SpectrumModifier(method).fit_transform(np.full((10, 10), size))


def test_a_matrix_is_not_written_over_its_own_objects():
    X = np.random.default_rng(0).normal(size=(4, 4))
    with pytest.raises(ValueError, match="out must not share its memory with A or B"):
        pairwise(X, similarity="euclidean", out=X)


@pytest.mark.parametrize("wrong", [Levenshtein, VDM, RBF])
def test_a_class_is_no_similarity(wrong):
    with pytest.raises(ValueError, match=rf"pass {wrong.__name__}\(\)"):
        KNNClassifier(similarity=wrong).fit(["a", "b"], [0, 1])


def test_rows_and_columns_of_a_frame_must_come_in_one_order():
    frame = pd.DataFrame(S, index=list("abcd"), columns=list("dcba"))
    with pytest.raises(ValueError, match="X has the same names on its rows and its columns, but in another order"):
        KNNClassifier().fit(frame, Y)


def test_an_unfinished_matrix_is_not_read(tmp_path):
    np.save(tmp_path / "S.npy", S)
    (tmp_path / "S.npy.journal").write_bytes(b"")
    with pytest.raises(ValueError, match=r"S\.npy is not complete, because there is a file S\.npy\.journal beside it"):
        load_proximity(tmp_path / "S.npy")


def test_indices_outside_of_a_sparse_matrix_are_refused(tmp_path):
    for name, indices, indptr in (("a", [0, 1, 2], [0, 50, 2, 3]), ("b", [0, 10**6, 2], [0, 1, 2, 3])):
        path = tmp_path / f"{name}.npz"
        np.savez(path, format=np.array(b"csr"), shape=[3, 3], data=np.ones(3), indices=indices, indptr=indptr)
        with pytest.raises(ValueError, match=path.name):
            load_proximity(path)


def test_numbered_columns_that_contradict_the_rows_are_refused(tmp_path):
    path = tmp_path / "S.csv"
    path.write_text(",1,2,3\n3,9,8,7\n2,6,5,4\n1,3,2,1\n")
    with pytest.raises(ValueError, match="same order"):
        load_proximity(path)
