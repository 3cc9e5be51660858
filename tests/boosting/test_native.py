"""Wrong calls of the compiled functions of boosting are errors, and do not touch other memory."""

import numpy as np
import pytest

from similitude import _native


def _boost(**changed):
    arguments = {
        "columns": np.eye(4),
        "n_positive": 2,
        "uniforms": np.full((3, 2, 2), 0.5),
        "real": False,
        "start": -1.0,
        "slope": 16.0,
        "least": 0,
        "shift": 0,
        "table": np.empty(0, dtype=np.int32),
        "atoms": False,
        "n_buckets": 32,
        "weights": np.full(4, 0.25),
        "pairs": np.empty((3, 2), dtype=np.intp),
        "cuts": np.empty(3),
        "outputs": np.empty((3, 2)),
    }
    arguments.update(changed)
    _native.boost(**arguments)
    return arguments


def _decide(**changed):
    arguments = {
        "rows": np.eye(4),
        "pairs": np.array([[0, 1], [2, 3], [0, 3]]),
        "cuts": np.zeros(3),
        "outputs": np.ones((3, 2)),
        "stages": np.array([1, 3]),
        "totals": np.zeros(4),
        "decisions": np.empty((4, 2)),
    }
    arguments.update(changed)
    _native.decide(**arguments)
    return arguments


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"columns": np.eye(5)}, r"columns must have the shape \(4, 4\)"),
        ({"columns": np.ones((4, 3), dtype=np.float32)}, r"columns must have the shape \(4, 4\)"),
        ({"n_positive": 0}, "n_positive must be from 1"),
        ({"n_positive": 4}, "n_positive must be from 1"),
        ({"uniforms": np.empty((3, 0, 2))}, r"uniforms must have the shape \(rounds, pairs, 2\)"),
        ({"uniforms": np.empty((3, 2, 3))}, r"uniforms must have the shape \(rounds, pairs, 2\)"),
        ({"least": -1}, "least must not be negative"),
        ({"shift": 31}, "shift must be from 0 to 30"),
        ({"table": np.zeros(4, dtype=np.int32)}, "table must be empty or have an odd length"),
        ({"table": np.full(3, 32, dtype=np.int32)}, "table must be from 0 to 31; got 32"),
        ({"n_buckets": 0}, "n_buckets must be positive"),
        ({"pairs": np.empty((2, 2), dtype=np.intp)}, r"pairs must have the shape \(3, 2\)"),
        ({"cuts": np.empty(4)}, "number of cuts must be 3"),
        ({"outputs": np.empty((3, 1))}, r"outputs must have the shape \(3, 2\)"),
    ],
)
def test_wrong_arguments_of_boost_are_refused(changed, message):
    with pytest.raises(ValueError, match=message):
        _boost(**changed)


@pytest.mark.parametrize(
    ("name", "changed", "message"),
    [
        ("boost_all", {"n_plus": 0}, "n_plus must be from 1"),
        ("boost_all", {"n_plus": 5}, "n_plus must be from 1"),
        ("boost_all", {"columns": np.eye(5)}, "number of columns must be 4"),
        ("boost_all", {"outputs": np.empty((3, 1))}, r"outputs must have the shape \(3, 2\)"),
        ("boost_among", {"candidates": np.array([[0, 5]])}, "candidates must be from 0 to 4; got 5"),
        ("boost_among", {"candidates": np.zeros((0, 2), dtype=np.intp)}, r"candidates must have the shape"),
        ("boost_among", {"candidates": np.zeros((2, 3), dtype=np.intp)}, r"candidates must have the shape"),
        ("boost_among", {"pairs": np.empty((2, 2), dtype=np.intp)}, r"pairs must have the shape \(3, 2\)"),
    ],
)
def test_wrong_arguments_of_searches_among_pairs_are_refused(name, changed, message):
    arguments = {**_boost(), "columns": np.eye(5)[:, :4].copy()}
    del arguments["uniforms"]
    arguments.update({"n_plus": 3} if name == "boost_all" else {"candidates": np.array([[0, 4]])})
    getattr(_native, name)(**arguments)
    with pytest.raises(ValueError, match=message):
        getattr(_native, name)(**{**arguments, **changed})


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"pairs": np.array([[0, 1], [2, 4], [0, 3]])}, "pairs must be from 0 to 3; got 4"),
        ({"pairs": np.array([[0, 1], [2, 3]])}, r"pairs must have the shape \(3, 2\)"),
        ({"outputs": np.ones((3, 3))}, r"outputs must have the shape \(3, 2\)"),
        ({"stages": np.array([1, 4])}, "stages must be from 0 to 3; got 4"),
        ({"totals": np.zeros(3)}, "length of totals must be 4"),
        ({"decisions": np.empty((4, 3))}, r"decisions must have the shape \(4, 2\)"),
    ],
)
def test_wrong_arguments_of_decide_are_refused(changed, message):
    with pytest.raises(ValueError, match=message):
        _decide(**changed)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("name", ["columns", "uniforms", "weights", "start", "slope"])
def test_numbers_that_are_not_finite_lead_nowhere(name, value):
    """Their results mean nothing, but positions stay in range."""
    rng = np.random.default_rng(0)
    n = 60
    for real in (False, True):
        for table in (np.empty(0, dtype=np.int32), np.arange(31, dtype=np.int32)):
            arrays = {"columns": rng.normal(size=(n, n)), "uniforms": rng.random((3, 2, 2)), "weights": np.ones(n)}
            if name in arrays:
                arrays[name][rng.random(arrays[name].shape) < 0.3] = value
            else:
                arrays[name] = value
            for atoms in (False, True):
                done = _boost(n_positive=20, real=real, table=table, shift=20, atoms=atoms, **arrays)
                assert np.all((done["pairs"] >= [0, 20]) & (done["pairs"] < [20, n]))


def test_nothing_to_do():
    none = np.empty((0, 2))
    done = _boost(uniforms=np.empty((0, 2, 2)), pairs=none.astype(np.intp), cuts=np.empty(0), outputs=none)
    assert done["weights"].tolist() == [0.25] * 4
    assert _decide(stages=np.array([0, 0]))["decisions"].tolist() == [[0.0, 0.0]] * 4
    _decide(rows=np.empty((0, 4)), totals=np.empty(0), decisions=np.empty((0, 2)))
    _decide(stages=np.empty(0, dtype=np.intp), decisions=np.empty((4, 0)))
