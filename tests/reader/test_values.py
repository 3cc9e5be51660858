"""Native values of samples, given as a matrix or computed from raw objects."""

import numpy as np
import pytest
from scipy import sparse

from similitude.reader import ComputedValues, Contract, GivenValues, Samples
from similitude.similarities import Measure

NUMBERS = [0.0, 1.0, 3.0, 6.0, 10.0, 15.0]
OTHERS = [2.0, 7.0]


class Uphill:
    """An asymmetric distance that counts how often it is asked."""

    def __init__(self):
        self.calls = 0

    def __call__(self, a, b):
        self.calls += 1
        if b == 15.0 and a == 7.0:
            raise ArithmeticError("too steep")
        return abs(a - b) + 0.5 * max(a - b, 0)


def _matrix(A, B):
    return np.array([[abs(a - b) + 0.5 * max(a - b, 0) for b in B] for a in A])


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix])
def test_a_part_of_a_matrix(form):
    S, rows, columns = _matrix(NUMBERS, NUMBERS), np.array([5, 1, 0]), np.array([4, 2, 3])
    values = GivenValues(form(S), rows, columns, square=True)
    part = np.array([2, 0])

    def dense(block):
        return block.toarray() if sparse.issparse(block) else block

    assert np.array_equal(dense(values.block(slice(1, 3), part)), S[np.ix_([1, 0], [3, 4])])
    assert np.array_equal(dense(values.back(slice(1, 3), part)), S[np.ix_([3, 4], [1, 0])].T)
    assert np.array_equal(dense(values.among(part)), S[np.ix_([3, 4], [3, 4])])
    assert GivenValues(form(S), rows, columns).back(slice(0, 3), part) is None


def test_raw_objects_are_compared_when_they_are_asked_for():
    function = Uphill()
    values = ComputedValues(Measure(function), OTHERS, NUMBERS)
    part = np.array([3, 0])
    assert function.calls == 0
    assert np.array_equal(values.block(slice(0, 2), part), _matrix(OTHERS, [6.0, 0.0]))
    assert np.array_equal(values.back(slice(1, 2), part), _matrix([6.0, 0.0], [7.0]).T)
    assert np.array_equal(values.among(part), _matrix([6.0, 0.0], [6.0, 0.0]))
    assert values.block(slice(0, 2), part[:0]).shape == (2, 0)
    assert function.calls == 4 + 2 + 4


def test_errors_name_objects_by_their_positions():
    kept = ComputedValues(Measure(Uphill(), name="uphill"), OTHERS, [3.0, 15.0], kept=np.array([2, 5]), first=30)
    assert np.array_equal(kept.block(slice(0, 1), np.array([5, 2])), _matrix([2.0], [15.0, 3.0]))
    with pytest.raises(ValueError, match="uphill failed on objects 31 and 5: ArithmeticError: too steep"):
        kept.block(slice(0, 2), np.array([2, 5]))


@pytest.mark.parametrize("map_name", ["negate", "max-minus", "double-centring"])
def test_columns_of_the_training_samples_and_of_new_ones(map_name):
    function, used = Uphill(), np.array([4, 1])
    training = Samples(Contract(function, map_name), NUMBERS).whole().only
    reader = training.reader
    learning = function.calls
    found = training.columns(used)
    assert function.calls - learning == (12 if map_name == "negate" else 0)
    assert np.allclose(found, reader.map(_matrix(NUMBERS, NUMBERS))[:, used])
    before, rows = function.calls, reader.rows(OTHERS[:1])
    expected = reader.map(_matrix(OTHERS[:1], NUMBERS))[:, used]
    assert np.allclose(rows.columns(used), expected)
    assert function.calls - before == (6 if map_name == "double-centring" else 2)


def test_a_reduced_reader_keeps_a_few_objects():
    reader = Samples(Contract(Uphill(), "max-minus"), NUMBERS).whole().only.reader
    reduced = reader.reduced_to(np.array([1, 4])).reduced_to(np.array([1, 4]))
    assert reduced.objects == [1.0, 10.0]
    assert reduced.map is None
    rows = reduced.rows([2.0])
    assert np.array_equal(rows.native.block(slice(0, 1), np.array([4])), _matrix([2.0], [10.0]))
    assert reader.objects == NUMBERS
