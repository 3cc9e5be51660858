"""Wrong calls of the compiled functions of the transformers are errors."""

import numpy as np
import pytest

from similitude import _native


def _weigh(dtype=np.float64, **changed):
    arguments = {
        "S": np.eye(3, dtype=dtype),
        "labels": np.zeros(3, dtype=np.int64),
        "best": np.full(3, -np.inf),
        "at": np.full(3, -1),
        "unit": 0.25,
        "start": 0,
        "stop": 3,
        "errors": np.zeros(3, dtype=np.int64),
        "totals": np.zeros(3),
    }
    arguments.update(changed)
    _native.weigh_candidates(**arguments)
    return arguments["errors"].tolist()


def _take(j=0, columns=3, best=3, at=3):
    _native.take_prototype(np.ones((3, columns)), j, np.zeros(best), np.zeros(at, dtype=np.intp))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"labels": np.zeros(2, dtype=np.int64)}, "length of labels must be 3; got 2"),
        ({"best": np.zeros(4)}, "length of best must be 3; got 4"),
        ({"at": np.full(2, -1)}, "length of at must be 3; got 2"),
        ({"at": np.full(3, 3)}, "at must be from -1 to 2; got 3"),
        ({"errors": np.zeros(2, dtype=np.int64)}, "length of errors must be 3; got 2"),
        ({"totals": np.zeros(2)}, "length of totals must be 3; got 2"),
        ({"start": -1}, "start and stop must be ascending"),
        ({"start": 2, "stop": 1}, "start and stop must be ascending"),
        ({"stop": 4}, "start and stop must be ascending"),
    ],
)
def test_wrong_arguments_of_weigh_candidates_are_refused(dtype, changed, message):
    assert _weigh(dtype) == [1, 1, 1]
    with pytest.raises(ValueError, match=message):
        _weigh(dtype, **changed)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"j": 3}, "j must be from 0 to 2; got 3"),
        ({"j": -1}, "j must be from 0 to 2; got -1"),
        ({"columns": 2}, r"S must have the shape \(3, 3\)"),
        ({"best": 2}, "length of best must be 3; got 2"),
        ({"at": 4}, "length of at must be 3; got 4"),
    ],
)
def test_wrong_arguments_of_take_prototype_are_refused(changed, message):
    _take()
    with pytest.raises(ValueError, match=message):
        _take(**changed)
