"""Compiled functions refuse arguments that do not fit together, and take empty arrays."""

from contextlib import suppress

import numpy as np
import pytest
from scipy import sparse

from similitude import _native

S = np.eye(5)
SPARSE = sparse.csr_array(S)


def _ints(*shape, value=0):
    return np.full(shape, value, dtype=np.intp)


def _weights(matrix=(S,), **changes):
    arguments = {
        "neighbors": np.array([[0, 1, 2], [4, 3, 2]]),
        "similarities": np.array([[3.0, 2, 1], [3, 2, 1]]),
        "sizes": np.array([[1, 3], [1, 2]]),
        "regs": np.array([0.1, 1.0]),
        "kind": "kri",
        "spectrum": "clip",
        "consistent": False,
        "restarts": 0,
        "shares": True,
        "weights": np.zeros((2, 2, 2, 3)),
    }
    return _native.neighbor_weights(*matrix, **arguments | changes)


def _machines(matrix=(S,), **changes):
    arguments = {
        "neighbors": np.array([[0, 1, 2], [4, 3, 2]]),
        "similarities": np.array([[3.0, 2, 1], [3, 2, 1]]),
        "labels": np.array([[0, 1, 2], [1, 1, 2]]),
        "n_classes": 3,
        "spectra": ["clip", "none"],
        "sizes": np.array([[1, 3], [1, 2]]),
        "costs": np.array([1.0, 10.0, 100.0]),
        "wanted": np.ones((2, 2, 3), dtype=bool),
        "scores": np.zeros((2, 4, 3, 3)),
    }
    return _native.local_machines(*matrix, **arguments | changes)


def _programs(**changes):
    arguments = {"A": np.tile(np.eye(3), (2, 1, 1)), "s": np.ones((2, 3)), "reg": 1.0, "weights": np.zeros((2, 3))}
    return _native.testing_simplex_programs(**arguments | changes)


def _machine(**changes):
    arguments = {"K": np.eye(2), "y": np.array([1.0, -1.0]), "C": 1.0, "steps": 100}
    return _native.testing_one_machine(**arguments | {"beta": np.zeros(2), "h": np.zeros(2)} | changes)


def _decisions(**changes):
    arguments = {"K": np.eye(2), "y": np.array([1.0, -1.0]), "row": np.ones(2), "ratio": 1.0, "exponent": 0}
    grid = {"costs": np.array([1.0, 2.0]), "wanted": np.array([True, True]), "values": np.zeros(2)}
    return _native.testing_machine_decisions(**arguments | grid | changes)


@pytest.mark.parametrize("function", [_weights, _machines, _programs, _machine, _decisions])
def test_the_arguments_that_are_changed_below_are_right(function):
    function()


@pytest.mark.parametrize(
    ("function", "changes", "message"),
    [
        (_weights, {"matrix": (S[:4],)}, "columns of S must be 4; got 5"),
        (_weights, {"neighbors": _ints(2, 3, value=5)}, "neighbors must be from 0 to 4; got 5"),
        (_weights, {"neighbors": _ints(2, 3, value=-1)}, "neighbors must be from 0 to 4; got -1"),
        (_weights, {"similarities": np.ones((2, 2))}, r"similarities must have the shape \(2, 3\)"),
        (_weights, {"sizes": np.array([[1, 3], [0, 3]])}, "sizes must be from 1 to 3; got 0"),
        (_weights, {"sizes": np.array([[3, 4], [1, 3]])}, "sizes must be from 1 to 3; got 4"),
        (_weights, {"sizes": np.array([[1, 3], [3, 1]])}, "sizes must be ascending"),
        (_weights, {"sizes": np.array([[1, 3]])}, "the number of rows of sizes must be 2; got 1"),
        (_weights, {"regs": np.array([-1.0, 1.0])}, "regs must not be negative"),
        (_weights, {"regs": np.array([0.0, 1.0]), "kind": "lime"}, "must be positive for lime"),
        (_weights, {"kind": "uniform"}, "weights must be kri, krr or lime; got uniform"),
        (_weights, {"spectrum": "pinv"}, "spectrum must be none, clip, flip or shift; got pinv"),
        (_weights, {"weights": np.zeros((2, 2, 2, 2))}, "fourth axis of weights must be 3; got 2"),
        (_weights, {"weights": np.zeros((2, 1, 2, 3))}, "second axis of weights must be 2; got 1"),
        (_machines, {"neighbors": _ints(2, 3, value=5)}, "neighbors must be from 0 to 4; got 5"),
        (_machines, {"similarities": np.ones((1, 3))}, r"similarities must have the shape \(2, 3\)"),
        (_machines, {"labels": _ints(2, 3, value=3)}, "labels must be from 0 to 2; got 3"),
        (_machines, {"labels": _ints(2, 2)}, r"labels must have the shape \(2, 3\)"),
        (_machines, {"n_classes": 0}, "n_classes must be at least 1"),
        (_machines, {"spectra": ["clip", "square"]}, "spectrum must be .*; got square"),
        (_machines, {"sizes": np.array([[1, 3], [1, 9]])}, "sizes must be from 1 to 3; got 9"),
        (_machines, {"sizes": np.array([[1, 3]])}, "the number of rows of sizes must be 2; got 1"),
        (_machines, {"wanted": np.ones((1, 2, 3), dtype=bool)}, "first axis of wanted must be 2; got 1"),
        (_machines, {"scores": np.zeros((2, 4, 3, 1))}, "fourth axis of scores must be 3; got 1"),
        (_machines, {"scores": np.zeros((2, 2, 3, 3))}, "second axis of scores must be 4; got 2"),
        (_programs, {"A": np.zeros((2, 3, 2))}, "third axis of A must be 3; got 2"),
        (_programs, {"weights": np.zeros((1, 3))}, "weights must have the shape"),
        (_programs, {"reg": -1.0}, "reg must not be negative"),
        (_programs, {"A": np.zeros((2, 0, 0)), "s": np.zeros((2, 0)), "weights": np.zeros((2, 0))}, "one column"),
        (_machine, {"K": np.eye(3)}, "K must have the shape"),
        (_machine, {"h": np.zeros(3)}, "length of h must be 2; got 3"),
        (_decisions, {"row": np.ones(3)}, "length of row must be 2; got 3"),
        (_decisions, {"wanted": np.array([True])}, "length of wanted must be 2; got 1"),
        (_decisions, {"values": np.zeros(1)}, "length of values must be 2; got 1"),
    ],
)
def test_wrong_shapes_lengths_and_indices_are_refused(function, changes, message):
    with pytest.raises(ValueError, match=message):
        function(**changes)


@pytest.mark.parametrize("function", [_weights, _machines])
@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ((SPARSE.data[:4], SPARSE.indices, SPARSE.indptr), "number of indices must be 4; got 5"),
        ((SPARSE.data, SPARSE.indices, SPARSE.indptr[:0]), "indptr must have at least one entry"),
        ((SPARSE.data, SPARSE.indices, SPARSE.indptr[:4]), "neighbors must be from 0 to 2; got 4"),
        ((SPARSE.data, SPARSE.indices, 2 * SPARSE.indptr), "indptr must be ascending"),
        ((SPARSE.data, SPARSE.indices, SPARSE.indptr - 1), "indptr must be ascending"),
    ],
)
def test_wrong_sparse_matrices_are_refused(function, arrays, message):
    function(matrix=(SPARSE.data, SPARSE.indices, SPARSE.indptr))
    with pytest.raises(ValueError, match=message):
        function(matrix=arrays)


@pytest.mark.parametrize("kind", ["kri", "krr", "lime"])
def test_no_rows_no_sizes_and_no_ridges(kind):
    nobody = {"neighbors": _ints(0, 3), "similarities": np.zeros((0, 3)), "sizes": _ints(0, 2)}
    assert _weights(kind=kind, **nobody, weights=np.zeros((0, 2, 2, 3))) == 0
    assert _weights(kind=kind, sizes=_ints(2, 0), weights=np.zeros((2, 0, 2, 3))) == 0
    assert _weights(kind=kind, regs=np.zeros(0), weights=np.zeros((2, 2, 0, 3))) == 0


def test_no_machines_and_no_programs():
    nobody = {"neighbors": _ints(0, 3), "similarities": np.zeros((0, 3)), "labels": _ints(0, 3)}
    assert _machines(**nobody, sizes=_ints(0, 2), scores=np.zeros((0, 4, 3, 3))) == 0
    assert _machines(costs=np.zeros(0), wanted=np.zeros((2, 2, 0), dtype=bool), scores=np.zeros((2, 4, 0, 3))) == 0
    assert _machines(spectra=[], wanted=np.zeros((0, 2, 3), dtype=bool), scores=np.zeros((2, 0, 3, 3))) == 0
    assert _programs(A=np.zeros((0, 3, 3)), s=np.zeros((0, 3)), weights=np.zeros((0, 3))) == 0
    assert _machine(K=np.zeros((0, 0)), y=np.zeros(0), beta=np.zeros(0), h=np.zeros(0)) == (True, 0.0)


@pytest.mark.parametrize("value", [np.nan, np.inf])
@pytest.mark.parametrize("spectrum", ["none", "clip", "shift"])
def test_numbers_that_are_not_finite_do_no_harm(value, spectrum):
    """The estimators refuse them; here it matters only that the functions end and stay within their arrays."""
    for position in ((0, 1), (2, 2)):
        bad = np.eye(5) + 0.5
        bad[position] = value
        for kind in ("kri", "krr", "lime"):
            with suppress(RuntimeError):  # LAPACK did not converge
                assert _weights((bad,), kind=kind, spectrum=spectrum) >= 0
        with suppress(RuntimeError):
            assert _machines((bad,), spectra=[spectrum, "none"]) >= 0
        assert _programs(A=np.tile(bad[:3, :3], (2, 1, 1))) >= 0
