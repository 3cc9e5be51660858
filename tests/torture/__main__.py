"""``python -m tests.torture``: try to break the package, and print how often that was tried and what it survived.

The attempts are seeded. ``--share 0.1`` makes a tenth of them, and ``--only flips`` those of one kind.
"""

import argparse
import os
import sys

from tests.torture.attempts import run

COUNTS = {"forgeries": 5000, "flips": 2000, "kills": 150, "disk_full": 300, "threads": 100, "readers": 31_000}
"""The number of attempts of each kind, each of which is a module of this package."""


def main(arguments=None):
    parser = argparse.ArgumentParser(prog="python -m tests.torture", description=__doc__.split("\n")[0])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--share", type=float, default=1.0, help="the share of the attempts that is made")
    parser.add_argument("--only", choices=sorted(COUNTS), action="append")
    options = parser.parse_args(arguments)
    print(f"compiled code: {os.environ.get('SIMILITUDE_NATIVE', 'as installed')}; seed {options.seed}")
    print(f"{'attempts':<12}{'tried':>8}{'survived':>10}{'failed':>8}{'seconds':>9}", flush=True)
    failures = []
    for kind in options.only or COUNTS:
        outcome = run(kind, max(1, round(COUNTS[kind] * options.share)), options.seed)
        failed = len(outcome.failures)
        print(f"{kind:<12}{outcome.tried:>8}{outcome.survived:>10}{failed:>8}{outcome.seconds:>9.0f}", flush=True)
        failures += [f"{kind} {line}" for line in outcome.failures]
    print(*failures, sep="\n")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
