"""Names, callables, batch functions and objects that learn."""

import numpy as np
import pytest

from similitude import KNNClassifier
from similitude.similarities import VDM, Levenshtein, Measure, batch, counting, names, register
from similitude.similarities import registry as module
from similitude.similarities.registry import resolve


@pytest.fixture
def fresh_registry(monkeypatch):
    monkeypatch.setattr(module, "_registry", dict(module._registry))


def same_length(a, b):
    return -abs(len(a) - len(b))


def test_names_are_sorted_and_hold_what_the_package_brings():
    assert names() == sorted(names())
    assert {"counting", "vdm"} <= set(names())


def test_a_registered_name_is_accepted_everywhere(fresh_registry):
    measure = Measure(same_length, name="same-length", objects="strings")
    assert register(measure) is measure
    assert "same-length" in names()
    assert resolve("same-length") is measure
    knn = KNNClassifier(1, similarity="same-length").fit(["a", "bbb"], ["short", "long"])
    assert knn.predict(["a", "zzzz", "z"]).tolist() == ["short", "long", "short"]


@pytest.mark.parametrize("name", ["", "precomputed", "columns"])
def test_names_that_cannot_be_taken(fresh_registry, name):
    with pytest.raises(ValueError, match=f"name must be .*got '{name}'"):
        register(Measure(same_length, name=name))


def test_unknown_names_list_what_is_known_and_suggest():
    with pytest.raises(ValueError, match=r"similarity='countin' .*Did you mean 'counting'.*'precomputed'.*'vdm'"):
        resolve("countin")
    with pytest.raises(ValueError, match=r"similarity='' is not known"):
        resolve("")


@pytest.mark.parametrize("bad", [None, 3, [1, 2], {"a": 1}])
def test_what_cannot_be_a_similarity(bad):
    with pytest.raises(ValueError, match=rf"similarity must be .*got {type(bad).__name__}"):
        resolve(bad)


def test_a_measure_checks_what_it_is_told():
    with pytest.raises(ValueError, match=r"orientation must be .*got 'distance'"):
        Measure(same_length, orientation="distance")
    unknown = Measure(same_length, orientation="dissimilarity", to_similarity="minus")
    with pytest.raises(ValueError, match=r"must be one of .*got 'minus'"):
        KNNClassifier(1, similarity=unknown).fit(["a", "bb"], [0, 1])


def test_a_measure_is_its_own_answer():
    measure = Measure(same_length)
    assert resolve(measure) is measure


def test_a_callable_is_an_asymmetric_similarity_unless_it_says_otherwise():
    measure = resolve(same_length)
    assert measure.name == "same_length"
    assert measure.orientation == "similarity"
    assert (measure.symmetric, measure.batch, measure.learns) == (False, False, False)


def test_a_subclass_of_a_measure_takes_batches_and_keeps_its_orientation():
    class Own(Levenshtein):
        pass

    measure = resolve(Own())
    assert (measure.orientation, measure.batch) == ("dissimilarity", True)


def test_a_callable_may_carry_its_orientation():
    def distance(a, b):
        return abs(a - b)

    distance.orientation = "dissimilarity"
    distance.to_similarity = "negate"
    knn = KNNClassifier(1, similarity=distance).fit([0.0, 10.0], ["low", "high"])
    assert knn.predict([1.0, 9.0]).tolist() == ["low", "high"]
    assert knn.kneighbors([1.0])[0].tolist() == [[-1.0]]


def test_batch_functions_get_whole_batches():
    seen = []

    @batch
    def inner(A, B):
        seen.append((len(A), len(B)))
        return np.asarray(A) @ np.asarray(B).T

    assert resolve(inner).batch
    knn = KNNClassifier(1, similarity=inner).fit([[1.0, 0.0], [0.0, 1.0]], ["x", "y"])
    assert knn.predict([[0.9, 0.2], [0.1, 0.3], [0.0, 2.0]]).tolist() == ["x", "y", "y"]
    assert seen[-1] == (3, 2)


def test_a_bound_method_can_be_marked_as_batch_too():
    class Model:
        def similarities(self, A, B):
            return np.outer(A, B)

    knn = KNNClassifier(1, similarity=batch(Model().similarities)).fit([1.0, -1.0], ["plus", "minus"])
    assert knn.predict([-3.0]).tolist() == ["minus"]


class LengthRank:
    """Learns the training lengths; similarity of ranks."""

    def fit(self, X, y=None):
        self.lengths_ = sorted(len(x) for x in X)
        self.y_ = y
        return self

    def __call__(self, A, B):
        rank = [[np.searchsorted(self.lengths_, len(o)) for o in side] for side in (A, B)]
        return -np.abs(np.subtract.outer(*rank)).astype(float)


def test_an_object_that_learns_is_fitted_on_a_copy():
    similarity = LengthRank()
    knn = KNNClassifier(1, similarity=similarity).fit(["a", "bbb", "cccccc"], [0, 1, 2])
    assert not hasattr(similarity, "lengths_")
    assert knn.predict(["zzzzzzzz", ""]).tolist() == [2, 0]


def test_learned_leaves_what_does_not_learn():
    measure = resolve("counting")
    assert measure.learned([("a",)], [0]) is measure
    assert measure.function is counting


def test_learned_fits_a_copy():
    X, y = [("a",), ("b",)], [0, 1]
    for similarity in ("vdm", VDM()):
        learned = resolve(similarity).learned(X, y)
        assert learned.batch
        assert learned.function(X, X).tolist() == [[0.0, 1.0], [1.0, 0.0]]
    assert resolve("vdm").learned(X, y).function is not resolve("vdm").learned(X, y).function
