"""Pairs are evaluated once, in memory and in a file that a later run continues."""

import numpy as np
import pytest

from similitude.similarities import Measure
from similitude.similarities.pair_store import PairStore, matrices

OBJECTS = [1.0, 4.0, 9.0, 16.0, 25.0, 36.0]


class Counted:
    """A difference that counts its evaluations, and fails after some of them."""

    def __init__(self, most=10**9):
        self.calls, self.most = [], most

    def __call__(self, a, b):
        if len(self.calls) == self.most:
            raise KeyboardInterrupt
        self.calls.append((a, b))
        return a - 2 * b


def store(function, path=None, symmetric=False, objects=OBJECTS):
    return PairStore(Measure(function, "counted", symmetric=symmetric), objects, path)


def keys(pairs):
    return np.array([i * len(OBJECTS) + j for i, j in pairs])


def test_each_pair_is_evaluated_once_whatever_the_order():
    function = Counted()
    pairs = store(function)
    assert pairs.at(keys([(2, 1), (0, 3), (2, 1)])).tolist() == [9 - 8, 1 - 32, 9 - 8]
    assert pairs.at(keys([(0, 3), (1, 2), (0, 0)])).tolist() == [1 - 32, 4 - 18, 1 - 2]
    assert sorted(function.calls) == [(1, 1), (1, 16), (4, 9), (9, 4)]
    assert pairs.n_evaluated == 4
    assert pairs.missing(keys([(5, 5), (0, 3), (5, 5)])).tolist() == keys([(5, 5)]).tolist()


def test_directions_of_a_symmetric_measure_are_one_pair():
    calls = []

    def distance(a, b):
        calls.append({a, b})
        return abs(a - b)

    pairs = store(distance, symmetric=True)
    rows, columns = np.array([0, 1, 2, 3]), np.array([1, 0, 5, 1])
    assert pairs.at(pairs.keys_of(rows, columns)).tolist() == [3, 3, 27, 12]
    assert len(calls) == 3


def test_an_interrupted_run_continues(tmp_path):
    path = tmp_path / "pairs"
    asked = keys([(i, j) for i in range(6) for j in range(6)])
    first = store(Counted(20), path)
    with pytest.raises(KeyboardInterrupt):
        first.at(asked)
    first.close()
    function = Counted()
    second = store(function, path)
    known = len(second.keys)
    assert 0 < known <= 20
    values = second.at(asked)
    second.close()
    assert len(function.calls) == second.n_evaluated == 36 - known
    assert values.tolist() == [a - 2 * b for a in OBJECTS for b in OBJECTS]
    # The end of the file was not written completely.
    with open(path, "r+b") as file:
        file.truncate(path.stat().st_size - 5)
    function = Counted()
    third = store(function, path)
    assert third.at(asked).tolist() == values.tolist()
    third.close()
    assert 0 < len(function.calls) < 36 - known + 1
    function = Counted()
    fourth = store(function, path)
    assert fourth.at(asked).tolist() == values.tolist()
    assert not function.calls
    fourth.close()


def test_a_file_of_something_else_is_refused_and_kept(tmp_path):
    path = tmp_path / "pairs"
    begun = store(Counted(), path)
    begun.at(keys([(0, 1)]))
    with pytest.raises(ValueError, match="path: another run is adding pairs"):
        store(Counted(), path)
    begun.close()
    content = path.read_bytes()
    with pytest.raises(ValueError, match=r"begun for another computation \(objects are not the same\)"):
        store(Counted(), path, objects=[*OBJECTS[:-1], 7.0])
    with pytest.raises(ValueError, match=r"another computation \(similarity: its name or its parameters"):
        PairStore(Measure(Counted(), "other"), OBJECTS, path)
    assert path.read_bytes() == content
    other = tmp_path / "notes"
    other.write_text("to do\n")
    with pytest.raises(ValueError, match="is not a file of evaluated pairs"):
        store(Counted(), other)
    assert other.read_text() == "to do\n"


def test_all_pairs_of_several_measures_are_in_one_file(tmp_path):
    path, objects = tmp_path / "pairs", np.sqrt(np.arange(1.0, 41)).tolist()

    def measures(*functions):
        both = zip(functions, ("one", "other"), (False, True))
        return {name: Measure(function, name, symmetric=symmetric) for function, name, symmetric in both}

    with pytest.raises(KeyboardInterrupt):
        matrices(measures(Counted(1000), abs), objects, path)
    own, distance = Counted(), Counted()
    found = matrices(measures(own, lambda a, b: abs(distance(a, b) + b)), objects, path)
    assert 600 <= len(own.calls) < 1000
    assert len(distance.calls) < 1300
    assert found["one"].tolist() == [[a - 2 * b for b in objects] for a in objects]
    np.testing.assert_allclose(found["other"], np.abs(np.subtract.outer(objects, objects)), atol=1e-14)
    again = matrices(measures(Counted(0), Counted(0)), objects, path)
    assert all(np.array_equal(again[name], found[name]) for name in found)
    with pytest.raises(ValueError, match="similarity: its name or its parameters"):
        matrices(measures(Counted(0)), objects, path)
