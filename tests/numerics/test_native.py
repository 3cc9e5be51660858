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


def _totals(**changes):
    arguments = {"labels": LABELS, "similarities": S, "weights": S, "beyond": np.zeros((3, 2)), "sizes": SIZES}
    _native.class_totals(**arguments | {"totals": np.zeros((3, 2, 2))} | changes)


def _tied(**changes):
    arguments = {"S": S, "values": np.zeros(3), "labels": np.zeros(4, np.intp), "counts": np.zeros((3, 2))}
    _native.tied_classes(**arguments | changes)


def _winners(**changes):
    arguments = {"scores": np.zeros((3, 2, 2)), "labels": LABELS, "similarities": S, "counts": np.ones((3, 2, 2))}
    sizes = {"sizes": np.full((3, 2), 4), "class_sizes": np.ones(2, np.intp)}
    _native.break_ties(**arguments | sizes | {"tolerance": 0.0, "winners": np.zeros((3, 2), np.intp)} | changes)


@pytest.mark.parametrize("function", [_totals, _tied, _winners])
def test_the_arguments_that_are_changed_below_are_right(function):
    function()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: _native.collect_best(S, np.zeros(2), np.empty((3, 2), np.intp)), "number of thresholds must be 3"),
        (lambda: _native.collect_best(S, np.zeros(3), np.empty((3, 5), np.intp)), "at most as many columns as S"),
        (lambda: _totals(labels=LABELS + 2), "labels must be from 0 to 1; got 2"),
        (lambda: _totals(sizes=SIZES + 1), "sizes must be from 1 to 4; got 5"),
        (lambda: _totals(sizes=SIZES[::-1].copy()), "sizes must be ascending"),
        (lambda: _totals(similarities=S[:2]), r"similarities .* shape \(3, 4\)"),
        (lambda: _totals(weights=S[:2]), r"weights .* shape \(3, 4\)"),
        (lambda: _totals(beyond=np.zeros((3, 3))), r"beyond .* shape \(3, 2\)"),
        (lambda: _tied(values=np.zeros(2)), "number of values must be 3"),
        (lambda: _tied(labels=np.full(4, 2)), "labels must be from 0 to 1; got 2"),
        (lambda: _tied(labels=np.zeros(3, np.intp)), "number of labels must be 4"),
        (lambda: _tied(counts=np.zeros((2, 2))), "number of rows of counts must be 3"),
        (lambda: _native.class_sums(LABELS, np.zeros((3, 1, 5)), np.zeros((3, 1, 2))), "as many neighbours as labels"),
        (lambda: _winners(scores=np.zeros((3, 2, 0)), counts=np.zeros((3, 2, 0))), "at least one class"),
        (lambda: _winners(similarities=S[:2]), r"similarities .* shape \(3, 4\)"),
        (lambda: _winners(counts=np.zeros((3, 2, 1))), "third axis of counts must be 2"),
        (lambda: _winners(sizes=np.full((3, 2), 5)), "sizes must be from 0 to 4; got 5"),
        (lambda: _winners(class_sizes=np.ones(3, np.intp)), "number of class_sizes must be 2"),
        (lambda: _native.one_vs_one_rows(S, S > 1, True, np.zeros((3, 3))), "number of pairs must be 3; got 4"),
        (lambda: _native.testing_factor(np.eye(3), 0.0, 0.0, 0.0, 4, np.eye(3), np.ones(3)), "n must be at most"),
        (lambda: _native.testing_backward(np.eye(3), 3, np.ones(2)), "n must be at most"),
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


def test_what_only_tests_call_is_named_so():
    called = set()
    for path in Path(similitude.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.module == "similitude._native":
                called |= {alias.name for alias in node.names}
    bound = {name for name in vars(_native) if not name.startswith("__")}
    assert called == {name for name in bound if not name.startswith("testing_")}
