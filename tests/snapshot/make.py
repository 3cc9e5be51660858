"""Make the snapshot: ``python -m tests.snapshot.make``, or renew some cases: ``python -m tests.snapshot.make 'KNN*'``.

Cases that no pattern names keep their stored answers. A stored case that is no longer defined stops the command,
unless ``--drop`` is given.
"""

from __future__ import annotations

import argparse
import sys
from fnmatch import fnmatchcase

import numpy as np

from tests.snapshot import store
from tests.snapshot.cases import Answers, cases


def main(arguments: list[str] | None = None) -> int:
    """Compute the answers of the named cases and write them beside those that are kept."""
    parser = argparse.ArgumentParser(prog=store.HOW_TO_MAKE, description="Make or renew the snapshot of all answers.")
    parser.add_argument("patterns", nargs="*", help="case names to renew, with * and ?; all of them by default")
    parser.add_argument("--drop", action="store_true", help="drop stored cases that are no longer defined")
    options = parser.parse_args(arguments)

    known = dict(cases())
    patterns = options.patterns or ["*"]
    for pattern in patterns:
        if not any(fnmatchcase(name, pattern) for name in known):
            parser.error(f"no case has a name like {pattern!r}.")
    here = store.fingerprint()
    stored = store.load() if store.FILE.exists() else store.Snapshot(here, {})
    gone = [name for name in stored.answers if name not in known]
    if gone and not options.drop:
        parser.error(f"the snapshot holds cases that are not defined: {', '.join(gone)}. Drop them by --drop.")
    renewed = [name for name in known if any(fnmatchcase(name, pattern) for pattern in patterns)]
    if stored.fingerprint != here and len(renewed) < len(known):
        parser.error("the snapshot was made on another machine: make all of it anew, from a commit known to be right.")

    answers = {name: stored.answers[name] for name in known if name in stored.answers}
    changed = list(gone)
    for name in renewed:
        new = known[name]()
        if name not in answers or not _are_equal(answers[name], new):
            changed.append(name)
        answers[name] = new
    if changed or stored.fingerprint != here:
        store.save(store.Snapshot(here, {name: answers[name] for name in known if name in answers}))
    print(*changed, sep="\n")
    size = store.FILE.stat().st_size / 1024
    print(f"{len(answers)} cases, {len(renewed)} computed, {len(changed)} changed; {size:.0f} KB", file=sys.stderr)
    return 0


def _are_equal(old: Answers, new: Answers) -> bool:
    return old.keys() == new.keys() and all(
        np.array_equal(old[key], new[key], equal_nan=new[key].dtype.kind == "f") for key in new
    )


if __name__ == "__main__":
    sys.exit(main())
