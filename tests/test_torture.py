"""A slice of ``make torture``: a few attempts of each kind to break the package, none of which may succeed."""

import pytest

from tests.systems import needs_posix
from tests.torture.__main__ import COUNTS
from tests.torture.attempts import run

SLICES = {"forgeries": 40, "flips": 25, "kills": 2, "disk_full": 8, "threads": 3, "readers": 150}


@needs_posix
@pytest.mark.untraced
@pytest.mark.parametrize("kind", COUNTS)
def test_a_slice_is_survived(kind):
    outcome = run(kind, SLICES[kind], seed=1)
    assert outcome.failures == []
    assert outcome.survived == outcome.tried == SLICES[kind]


WEAK = """
import os
from tests.torture.attempts import Broken

def prepare(folder):
    return []

def attempt(made, rng):
    made.append(rng.random())
    if len(made) == 2:
        raise Broken("the second", "is wrong")
    if len(made) == 4:
        os._exit(3)
    return ""
"""


def test_crashes_and_wrong_answers_are_counted_as_failures(tmp_path):
    (tmp_path / "made").mkdir()
    (tmp_path / "made" / "weak.py").write_text(WEAK)
    outcome = run("made.weak", 6, environment={"PYTHONPATH": str(tmp_path)})
    assert (outcome.tried, outcome.survived) == (6, 3)
    assert outcome.failures[0] == "1: the second: is wrong"
    assert outcome.failures[1].startswith("3: the process ended with 3")
    assert outcome.failures[2] == "5: the second: is wrong"
