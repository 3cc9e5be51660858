"""Lists of neighbours as matrices and back, compared with scikit-learn's search and with loops."""

import numpy as np
import pytest
from sklearn.neighbors import KNeighborsClassifier, NearestNeighbors

from similitude import KNNClassifier, Proximities
from similitude.similarities import neighbor_values, pairwise


def points(n=60, m=15, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, 3)), rng.normal(size=(m, 3)), np.arange(n) % 3


def test_neighbours_of_a_library_predict_as_the_library_does():
    X, new, y = points()
    search = NearestNeighbors(n_neighbors=7).fit(X)
    distances, indices = search.kneighbors(X)
    P = Proximities.from_neighbors(indices, distances, orientation="dissimilarity")
    model = KNNClassifier(5, dissimilarity="negate").fit(P, y)
    distances, indices = search.kneighbors(new)
    rows = Proximities.from_neighbors(indices, distances, n_columns=len(X))
    peer = KNeighborsClassifier(5).fit(X, y)
    # Of tied classes ours is that of the nearest sample; scikit-learn's is the first.
    clear = np.sort(peer.predict_proba(new))[:, -2:] @ [-1, 1] > 0
    assert clear.sum() > 8
    assert np.array_equal(model.predict(rows)[clear], peer.predict(new)[clear])


@pytest.mark.parametrize("include_self", [False, True])
def test_there_and_back(include_self):
    X, _, _ = points()
    D = pairwise(X, similarity="euclidean")
    expected = np.argsort(D, axis=1, kind="stable")[:, 0 if include_self else 1 :][:, :6]
    indices, values = Proximities(D).to_neighbors(6, orientation="dissimilarity", include_self=include_self)
    assert np.array_equal(indices, expected)
    assert np.array_equal(values, np.take_along_axis(D, expected, axis=1))
    P = Proximities.from_neighbors(indices, values, orientation="dissimilarity")
    again = P.to_neighbors(6, orientation="dissimilarity", include_self=include_self)
    assert np.array_equal(again[0], indices)
    assert np.array_equal(again[1], values)
    similar = Proximities(-D).to_neighbors(6, include_self=include_self)
    assert np.array_equal(similar[0], indices)


def test_places_without_a_neighbour():
    for empty in (
        np.array([[1, -1], [0, 2], [-1, -1]]),
        np.array([[1, 2**64 - 1], [0, 2], [2**64 - 1] * 2], np.uint64),
    ):
        P = Proximities.from_neighbors(empty, [[5.0, np.nan], [4.0, 0.0], [np.inf, np.inf]])
        assert P.absent == "unknown"
        assert P.S.nnz == 3  # the similarity 0 is known
        assert P.to_neighbors(2)[0].tolist() == [[1, -1], [0, 2], [-1, -1]]
        both = Proximities.from_neighbors(empty, [[5.0, 0], [4.0, 0.0], [0, 0]], direction="max")
        assert both.to_neighbors(2)[0].tolist() == [[1, -1], [0, 2], [1, -1]]
        assert both.to_neighbors(1)[1].tolist() == [[5.0], [5.0], [0.0]]


def test_a_shortlist_is_rescored_pair_by_pair():
    words = ["tea", "tee", "tree", "coffee", "toffee"]
    indices = np.array([[1, 2], [0, 2], [1, -1], [4, 0], [3, 0]])
    asked = []

    def shared_letters(a, b):
        asked.append((a, b))
        return len(set(a) & set(b))

    values = neighbor_values(words, indices, shared_letters)
    assert len(asked) == 9
    for i, row in enumerate(indices):
        for j, place in enumerate(row):
            found = values[i, j]
            assert np.isnan(found) if place < 0 else found == len(set(words[i]) & set(words[place]))
    # A symmetric measure is evaluated once for both directions, and new objects have their own lists.
    assert np.array_equal(
        neighbor_values(["te"], [[0, 3]], "levenshtein", words), pairwise(["te"], words, "levenshtein")[:, [0, 3]]
    )


@pytest.mark.parametrize(
    ("lists", "message"),
    [
        (([1, 2], [1.0, 2.0]), r"indices must be an array of integers of shape \(samples, neighbours\)"),
        (([[0.5]], [[1.0]]), "indices must be an array of integers"),
        (([[1], [2]], [[1.0], [1.0]]), "row 1 has the neighbour 2, but there are only 2 samples, from 0 to 1"),
        (([[1], [0]], [[1.0, 2.0], [1.0, 2.0]]), r"values must have the shape of indices, \(2, 1\)"),
        (([[1], [0]], [["x"], ["y"]]), "values must be numbers"),
        (([[1], [0]], [[np.nan], [1.0]]), "got nan for neighbour 1 of row 0"),
    ],
)
def test_what_is_no_list_of_neighbours(lists, message):
    with pytest.raises(ValueError, match=message):
        Proximities.from_neighbors(*lists)
    if "shape of indices" not in message and "values" not in message and "nan" not in message:
        with pytest.raises(ValueError, match="indices must be an array of integers with 2 rows"):
            neighbor_values(["a", "b"], lists[0], "levenshtein")
