"""Seeded attempts of one kind, made in child processes, so that a crash counts as one failure and ends nothing else.

A kind of attempt is a module with two functions: ``prepare(folder)`` returns what all attempts use, and
``attempt(prepared, rng)`` makes one, returns what it did, and raises :class:`Broken` if the package did not withstand.
"""

import importlib
import json
import os
import random
import subprocess
import sys
import tempfile
import time
import warnings
from dataclasses import dataclass, field
from pathlib import Path

from tests.builds import use_named_build

ROOT = Path(__file__).parents[2]


class Broken(Exception):
    """The package did not withstand an attempt."""


@dataclass
class Outcome:
    """The numbers of attempts of one kind, and a line for each that failed."""

    kind: str
    tried: int = 0
    survived: int = 0
    failures: list[str] = field(default_factory=list)
    seconds: float = 0.0


def run(kind, count, seed=0, environment=None):
    """Return the outcome of the attempts 0 to count - 1 of one kind."""
    outcome, began = Outcome(kind), time.monotonic()
    while outcome.tried < count:
        first = outcome.tried
        _read_child(outcome, [kind, str(seed), str(first), str(count)], environment)
        if outcome.tried == first:
            break  # the child failed before its first attempt, and would fail again
    outcome.seconds = time.monotonic() - began
    return outcome


def _read_child(outcome, arguments, environment):
    """Count the attempts of one child; if it dies, the attempt that it had announced has failed."""
    command = [sys.executable, "-m", "tests.torture.attempts", *arguments]
    with tempfile.TemporaryFile("w+") as errors:
        child = subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
            cwd=ROOT,
            env={**os.environ, **(environment or {})},
        )
        announced = None
        for line in child.stdout:
            message = json.loads(line)
            if "begins" in message:
                announced = message["begins"]
                outcome.tried += 1
                continue
            if message["broken"] is None:
                outcome.survived += 1
            else:
                outcome.failures.append(f"{announced}: {message['did']}: {message['broken']}")
            announced = None
        code = child.wait()
        errors.seek(0)
        last = errors.read().strip().splitlines()[-1:] or [""]
    if code != 0:
        outcome.failures.append(f"{announced}: the process ended with {code} ({last[0][:300]})")


def main(kind, seed, first, count):
    """Make the attempts first to count - 1 and print what came of them; run in a child."""
    warnings.simplefilter("ignore")
    use_named_build()
    module = importlib.import_module(kind if "." in kind else f"tests.torture.{kind}")
    from tests.torture.attempts import Broken  # this module is named __main__ here

    with tempfile.TemporaryDirectory(prefix="torture-") as folder:
        prepared = module.prepare(Path(folder))
        for i in range(first, count):
            print(json.dumps({"begins": i}), flush=True)
            did, broken = "", None
            try:
                did = module.attempt(prepared, random.Random(f"{seed}/{kind}/{i}"))
            except Broken as reason:
                did, broken = reason.args
            print(json.dumps({"did": did, "broken": broken}), flush=True)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
