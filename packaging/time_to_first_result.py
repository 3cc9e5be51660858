"""Measure the way from nothing to a first result: ``python packaging/time_to_first_result.py WHEEL``.

The wheel is installed with its dependencies in an empty virtual environment, once with an empty cache of pip (cold) and
once with what that left in it (warm), and a classifier is fitted and judged in a new process. For each step the seconds
by the clock and those of the processor are printed; on a busy machine the former are longer. The steps that count are
those after the environment has been made.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
import venv
from pathlib import Path

FIRST = """
from similitude import AutoClassifier
from similitude.datasets import load_voting
from similitude.similarities import pairwise
voting = load_voting()
S, y = pairwise(voting.data, similarity="counting"), voting.target
auto = AutoClassifier({arguments}).fit(S, y)
print(f"    {{auto.best_method_}}: error {{auto.leaderboard_[0].error:.1%}}, {{len(auto.leaderboard_) - 1}} methods")
"""
RESULTS = {
    'AutoClassifier(["k-NN", "KRI k-NN", "SVM (clip)", "nearest centroid"])': "four methods, as in the README",
    "AutoClassifier()": "all methods",
}


def timed(what: str, command: list, environment: dict | None = None) -> float:
    """Run a command, print what it took, and return the seconds by the clock."""
    before, start = os.times(), time.perf_counter()
    subprocess.run(command, check=True, env={**os.environ, **(environment or {})})
    seconds, after = time.perf_counter() - start, os.times()
    used = sum(after[2:4]) - sum(before[2:4])  # of children, which Windows does not tell
    print(f"{what:50} {seconds:6.1f} s by the clock, {used:5.1f} s of the processor", flush=True)
    return seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("wheel", type=Path)
    wheel = parser.parse_args().wheel.resolve()
    print(f"Python {sys.version.split()[0]}, {os.cpu_count()} cores")
    with tempfile.TemporaryDirectory() as folder:
        for cache in ("cold", "warm"):
            place = Path(folder, cache)
            venv.create(place, with_pip=True)
            python = place / ("Scripts" if os.name == "nt" else "bin") / "python"
            pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", wheel]
            installed = timed(f"pip install, {cache}", pip, {"PIP_CACHE_DIR": str(Path(folder, "cache"))})
        timed("import similitude", [python, "-c", "import similitude"])
        for call, name in RESULTS.items():
            script = FIRST.format(arguments=call.removeprefix("AutoClassifier(").removesuffix(")"))
            result = timed(f"first result, {name}", [python, "-c", script])
            print(f"{'':4}with the warm installation {installed + result:.1f} s by the clock")


if __name__ == "__main__":
    main()
