"""The answers of every public estimator are those of the snapshot: see ``tests/snapshot``."""

from fnmatch import fnmatchcase

import numpy as np
import pytest

from similitude import KNNClassifier
from tests.snapshot import make, store
from tests.snapshot.cases import TOLERANCES, cases, tolerance

pytestmark = pytest.mark.untraced

CASES = dict(cases())


@pytest.fixture(scope="module")
def snapshot():
    return store.load()


def compare(name, answers, expected):
    """Compare text and counts exactly, numbers up to the tolerance of the case; further answers may have been added."""
    assert answers.keys() >= expected.keys()
    for key, array in expected.items():
        if array.dtype.kind != "f":
            np.testing.assert_array_equal(answers[key], array, err_msg=f"{name}: {key}")
            continue
        size = np.max(np.abs(array), where=np.isfinite(array), initial=0.0)
        np.testing.assert_allclose(
            answers[key], array, rtol=tolerance(name), atol=tolerance(name) * size, err_msg=f"{name}: {key}"
        )


def skip_elsewhere(snapshot):
    here = store.fingerprint()
    there = snapshot.fingerprint
    differences = [f"{key} {there.get(key)}, here {here[key]}" for key in here if there.get(key) != here[key]]
    if differences:
        pytest.skip(
            f"the snapshot was made on another machine ({'; '.join(differences)}). To compare here, make it anew from "
            f"a commit known to be right: {store.HOW_TO_MAKE}"
        )


@pytest.mark.parametrize("name", CASES)
def test_answers_are_those_of_the_snapshot(name, snapshot):
    skip_elsewhere(snapshot)
    compare(name, CASES[name](), snapshot.answers[name])


def test_snapshot_has_every_case_and_no_other(snapshot):
    assert snapshot.answers.keys() == CASES.keys()


def test_every_tolerance_is_of_some_case():
    for pattern in TOLERANCES:
        assert any(fnmatchcase(name, pattern) for name in CASES), pattern


def test_changed_estimator_is_noticed(snapshot, monkeypatch):
    skip_elsewhere(snapshot)
    name, fit = "KNNClassifier/kri/negative", KNNClassifier.fit
    monkeypatch.setattr(KNNClassifier, "fit", lambda self, X, y: fit(self.set_params(reg=1.000001), X, y))
    with pytest.raises(AssertionError, match=name):
        compare(name, CASES[name](), snapshot.answers[name])


@pytest.fixture
def two_cases(tmp_path, monkeypatch):
    """A snapshot of two invented cases, in a file of its own; the dict of them may be changed."""
    invented = {"a/1": lambda: {"predict": np.array([1.0])}, "b/1": lambda: {"predict": np.array(["x"])}}
    monkeypatch.setattr(store, "FILE", tmp_path / "answers.npz")
    monkeypatch.setattr(make, "cases", invented.items)
    assert make.main([]) == 0
    return invented


def test_only_cases_that_are_named_are_renewed(two_cases):
    two_cases.update({"a/1": lambda: {"predict": np.array([2.0])}, "b/1": lambda: {"predict": np.array(["y"])}})
    make.main(["a*"])
    answers = store.load().answers
    assert answers["a/1"]["predict"] == 2.0
    assert answers["b/1"]["predict"] == "x"


def test_undefined_cases_are_dropped_on_demand_only(two_cases, capsys):
    del two_cases["b/1"]
    with pytest.raises(SystemExit):
        make.main(["a*"])
    assert "b/1" in capsys.readouterr().err
    assert list(store.load().answers) == ["a/1", "b/1"]
    make.main(["a*", "--drop"])
    assert list(store.load().answers) == ["a/1"]


@pytest.mark.parametrize("pattern", ["c*", "A*"])
def test_patterns_of_no_case_are_refused(two_cases, pattern):
    with pytest.raises(SystemExit):
        make.main([pattern])


def test_answers_of_two_machines_are_not_mixed(two_cases, monkeypatch):
    monkeypatch.setattr(store, "fingerprint", lambda: {"cpu": "another"})
    with pytest.raises(SystemExit):
        make.main(["a*"])
    make.main([])
    assert store.load().fingerprint == {"cpu": "another"}


def test_comparison_is_exact_for_labels_and_has_a_tolerance_for_numbers():
    expected = {"predict": np.array(["x", "y"]), "proba": np.array([1.0, -np.inf])}
    compare("a/1", {**expected, "proba": np.array([1.0 + 1e-10, -np.inf])}, expected)
    for wrong in ({"predict": np.array(["x", "x"])}, {"proba": np.array([1.0 + 1e-8, -np.inf])}):
        with pytest.raises(AssertionError):
            compare("a/1", {**expected, **wrong}, expected)


def test_another_machine_skips_and_says_how_to_make_it_anew():
    with pytest.raises(pytest.skip.Exception, match=r"tests\.snapshot\.make"):
        skip_elsewhere(store.Snapshot({**store.fingerprint(), "cpu": "another"}, {}))
