"""Mistakes that were made once, each in a few lines."""

import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

from similitude import KNNClassifier, NearestCentroid, PathSearchCV, RobustSVC, SimilaritySVC, SpectrumModifier
from similitude.datasets import load_proximity
from similitude.features.recipes import RECIPES, recipe
from similitude.similarities import RBF, VDM, Levenshtein, pairwise
from tests.systems import needs_posix

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


def test_numbered_columns_are_not_taken_by_their_places_if_the_rows_have_the_same_numbers(tmp_path):
    path = tmp_path / "S.csv"
    path.write_text(",1,2,3\n3,9,8,7\n2,6,5,4\n1,3,2,1\n")
    found = load_proximity(path)
    assert found.ids.tolist() == ["3", "2", "1"]
    assert found.S.tolist() == [[7, 8, 9], [4, 5, 6], [1, 2, 3]]


@pytest.mark.parametrize(
    ("estimator", "size"), [(NearestCentroid(), 1.7e308), (RobustSVC(), 1.7e308), (SpectrumModifier("square"), 1e160)]
)
def test_similarities_near_the_largest_number_are_an_error_that_says_to_rescale(estimator, size):
    huge = size * ((S - 1.5) / 1.5)

    def used():
        fitted = estimator.fit(huge, Y)
        return fitted.decision_function(huge) if hasattr(fitted, "predict") else fitted.transform(huge)

    with pytest.raises(ValueError, match="rescale"):
        used()


@pytest.mark.parametrize("name", RECIPES)
def test_one_class_is_an_error_of_every_recipe(name):
    with pytest.raises(
        ValueError, match=r"two classes; got one class, 'a'|number of classes has to be greater than one"
    ):
        recipe(name)[0].fit(np.eye(6) + 0.1, ["a"] * 6)


@pytest.mark.parametrize(("labels", "dtype"), [([5, 7, 5, 7], "Int64"), ([True, False, True, False], "boolean")])
def test_nullable_labels_of_pandas_keep_their_type(labels, dtype):
    given = pd.Series(labels, dtype=dtype)
    for estimator in (KNNClassifier(1), PathSearchCV(KNNClassifier(), {"n_neighbors": [1]}, cv=2), SimilaritySVC()):
        predicted = estimator.fit(S, given).predict(S)
        assert predicted.dtype == np.array(labels).dtype
        assert estimator.classes_.tolist() == sorted(set(labels))
    with pytest.raises(ValueError, match=r"NaN|missing"):
        KNNClassifier(1).fit(S, pd.Series([*labels[:3], None], dtype=dtype))


@needs_posix
def test_a_full_disk_names_the_file(tmp_path):
    """A limit on the size of files stands in for the disk; it counts for the child alone."""
    script = """
import resource, signal, sys
import numpy as np
from similitude import KNNClassifier, save_model
from similitude.datasets import save_proximity
from similitude.similarities import pairwise
model = KNNClassifier(1, weights="kri").fit(np.eye(200), np.arange(200) % 2)
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))
tasks = {
    "a.model": lambda path: save_model(path, model),
    "a.npy": lambda path: pairwise(np.eye(200), similarity="rbf", out=path),
    "b.npy": lambda path: save_proximity(path, np.eye(200)),
}
for path, task in tasks.items():
    try:
        task(sys.argv[1] + "/" + path)
    except OSError as error:
        print(path in str(error), type(error).__name__)
"""
    done = subprocess.run([sys.executable, "-c", script, tmp_path], capture_output=True, text=True)
    assert done.stdout == "True OSError\n" * 3, done.stderr
    assert list(tmp_path.iterdir()) == []
