"""Check an installed package: it is imported, every method is fitted, and the command writes predictions.

Used on every wheel in a clean environment: ``python packaging/check_installed.py``, from any folder.
"""

import subprocess
import sys
import sysconfig
import tempfile
import warnings
from pathlib import Path

import numpy as np


def main() -> None:
    import similitude
    from similitude.auto.methods import methods
    from similitude.datasets import load_voting
    from similitude.similarities import pairwise

    installed = Path(similitude.__file__).resolve()
    if Path(sysconfig.get_path("purelib")).resolve() not in installed.parents:
        sys.exit(f"similitude comes from {installed}, not from the installed packages")
    voting = load_voting()
    S, y = pairwise(voting.data[::3], similarity="counting"), voting.target[::3]
    train, test = np.arange(0, len(y), 2), np.arange(1, len(y), 2)
    table = methods("all")
    for name, (estimator, _) in table.items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            estimator.fit(S[np.ix_(train, train)], y[train])
            error = np.mean(estimator.predict(S[np.ix_(test, train)]) != y[test])
        print(f"{name:30} error {error:6.1%}")
        if error > 0.3:
            sys.exit(f"{name} makes {error:.0%} errors on data that every method separates")
    with tempfile.TemporaryDirectory() as folder:
        command = [Path(sysconfig.get_path("scripts")) / "similitude", "fit", "--dataset", "voting", "--method", "k-nn"]
        subprocess.run([*command, "--output", Path(folder) / "model.similitude"], check=True)
    print(
        f"similitude {similitude.__version__} on Python {sys.version.split()[0]}: {len(table)} methods, and the command"
    )


if __name__ == "__main__":
    main()
