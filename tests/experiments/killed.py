"""Run as a script: an experiment is begun in a child process and killed, again and again; then two run at once.

Prints a JSON object: how many results the store had after each kill, and how each child ended. Children are forks of a
process that has imported everything already, so that many take seconds.
"""

import json
import os
import random
import signal
import sqlite3
import sys
import time
from dataclasses import replace

from joblib import parallel_config

from similitude.experiments import run
from tests.experiments.small import PROTOCOL, data, methods


def count(path):
    """Finished cells in the file, as another process sees them; 0 where there is no table yet."""
    try:
        connection = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    except sqlite3.OperationalError:
        return 0
    try:
        return connection.execute("SELECT count(*) FROM results").fetchone()[0]
    except sqlite3.OperationalError:
        return 0
    finally:
        connection.close()


def begin_and_kill(path, more, delay, threads):
    """Start the experiment, wait until it has so many more results and a moment longer, and kill it."""
    had = count(path)
    child = os.fork()
    if child == 0:
        try:
            with parallel_config("threading", n_jobs=threads):
                run(PROTOCOL, data(), methods(), path)
        finally:
            os._exit(0)
    end = time.monotonic() + 20
    while more and count(path) < had + more and time.monotonic() < end:
        time.sleep(0.001)
    time.sleep(delay)
    os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    return os.WTERMSIG(status) if os.WIFSIGNALED(status) else None


def together(path):
    """Two processes do the same experiment on one file at the same time."""
    children = []
    for _ in range(2):
        children.append(os.fork())
        if children[-1] == 0:
            code = 1
            try:
                run(replace(PROTOCOL, n_partitions=6), data(), methods(), path)
                code = 0
            finally:
                os._exit(code)
    return [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]


def main(path, kills):
    rng = random.Random(0)
    # Whatever is compiled or started at first use is, before anything is timed.
    run(PROTOCOL, data(1), methods(), path + ".warm")
    ended, held = [], []
    for i in range(kills):
        # Some die before they have done anything: while the file is made, or opened.
        more = 0 if i % 5 == 0 else rng.randint(1, 4)
        ended.append(begin_and_kill(path, more, rng.uniform(0, 0.03), 1 + i % 2))
        held.append(count(path))
    print(json.dumps({"ended": ended, "held": held, "together": together(path + ".both")}))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
