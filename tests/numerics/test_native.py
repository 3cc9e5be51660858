"""Wrong calls of the compiled functions of numerics are errors, and the stub names every function."""

import ast
from pathlib import Path

import numpy as np
import pytest

import similitude
from similitude import _native

S = np.arange(12.0).reshape(3, 4)
LABELS = np.zeros((3, 4), dtype=np.intp)
SIZES = np.array([1, 4])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: _native.collect_best(S, np.zeros(2), np.empty((3, 2), np.intp)), "number of thresholds must be 3"),
        (lambda: _native.collect_best(S, np.zeros(3), np.empty((3, 5), np.intp)), "at most as many columns as S"),
        (lambda: _native.class_totals(LABELS + 2, S, SIZES, np.zeros((3, 2, 2))), "labels must be from 0 to 1; got 2"),
        (lambda: _native.class_totals(LABELS, S, SIZES + 1, np.zeros((3, 2, 2))), "sizes must be from 1 to 4; got 5"),
        (lambda: _native.class_totals(LABELS, S, SIZES[::-1].copy(), np.zeros((3, 2, 2))), "sizes must be ascending"),
        (lambda: _native.class_totals(LABELS, S[:2], SIZES, np.zeros((3, 2, 2))), r"weights .* shape \(3, 4\)"),
        (lambda: _native.class_sums(LABELS, np.zeros((3, 1, 5)), np.zeros((3, 1, 2))), "as many neighbours as labels"),
        (
            lambda: _native.break_ties(np.zeros((3, 2, 0)), LABELS, SIZES, 0.0, np.zeros((3, 2), np.intp)),
            "at least one class",
        ),
        (lambda: _native.one_vs_one_rows(S, S > 1, True, np.zeros((3, 3))), "number of pairs must be 3; got 4"),
        (lambda: _native.factor(np.eye(3), 0.0, 0.0, 0.0, 4, np.eye(3), np.ones(3)), "n must be at most"),
        (lambda: _native.backward(np.eye(3), 3, np.ones(2)), "n must be at most"),
    ],
)
def test_wrong_lengths_and_indices_are_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_other_types_and_layouts_are_refused_and_read_only_input_is_taken():
    columns = np.empty((3, 2), np.intp)
    for values, out in ((S.T.copy().T, columns), (S.astype(int), columns), (S, columns[:, ::-1]), (S, columns * 1.0)):
        with pytest.raises(TypeError, match=r"supported"):
            _native.collect_best(values, np.zeros(3), out)
    constant = S.copy()
    constant.flags.writeable = columns.flags.writeable = False
    with pytest.raises(TypeError, match=r"supported"):
        _native.collect_best(constant, np.zeros(3), columns)
    _native.collect_best(constant, constant[:, 2].copy(), found := np.empty((3, 2), np.intp))
    assert found.tolist() == [[2, 3]] * 3


def test_the_stub_names_everything():
    stub = Path(similitude.__file__).with_name("_native.pyi").read_text(encoding="utf-8")
    named = {node.name for node in ast.parse(stub).body if isinstance(node, (ast.FunctionDef, ast.ClassDef))}
    assert named == {name for name in vars(_native) if not name.startswith("__")}
