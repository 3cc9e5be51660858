"""``AutoClassifier(similarity="elastic")`` beside aeon's ElasticEnsemble, from raw series to the test accuracy.

The sets are those of the UCR archive in the folder that SIMILITUDE_DATA names, from the fewest cells in the tables of
one distance. The ensemble has its default parameters and one job, and runs in a process of its own, which is ended
after five minutes of processor time. Its functions are first compiled, on a few of the series, and these seconds are
given apart. Seconds are those of the processor for fit and prediction; both classifiers find their distances in them.
"""

import multiprocessing
import os
import resource
import time
import warnings
from pathlib import Path

import numpy as np

from benchmarks.ucr import cost, find_sets, load
from benchmarks.ucr import run as ours_on

SETS = 8
LIMIT = 300
"""The processor seconds after which the process of the ensemble is ended, without those of compiling."""
_FEW = 3
"""The series of each class on which the functions are compiled."""


def _ensemble(data, connection):
    """Send the seconds of compiling, then those of fit and prediction with the accuracy."""
    warnings.simplefilter("ignore")
    from aeon.classification.distance_based import ElasticEnsemble

    X_train, y_train, X_test, y_test = data
    X_train, X_test = (np.asarray(X, dtype=float)[:, None, :] for X in (X_train, X_test))
    few = np.concatenate([np.flatnonzero(y_train == label)[:_FEW] for label in np.unique(y_train)])
    start = time.process_time()
    ElasticEnsemble(proportion_of_param_options=0.05).fit(X_train[few], y_train[few]).predict(X_test[:2])
    compiled = time.process_time()
    connection.send(compiled - start)
    most = resource.getrlimit(resource.RLIMIT_CPU)[1]
    resource.setrlimit(resource.RLIMIT_CPU, (int(compiled) + LIMIT, most))  # the process is ended after so many seconds
    predicted = ElasticEnsemble().fit(X_train, y_train).predict(X_test)
    connection.send((time.process_time() - compiled, float(np.mean(predicted == y_test))))


def ensemble(data):
    """Return the processor seconds of compiling, those of fit and prediction, and the accuracy, or None."""
    context = multiprocessing.get_context("spawn")
    mine, theirs = context.Pipe(duplex=False)
    process = context.Process(target=_ensemble, args=(data, theirs))
    process.start()
    theirs.close()
    try:
        return mine.recv(), *mine.recv()
    except EOFError:  # the limit has ended the process
        return None
    finally:
        process.join()


def run(names=None):
    folder = os.environ.get("SIMILITUDE_DATA")
    if folder is None:
        return [{"name": "elastic_ensemble: skipped, since SIMILITUDE_DATA names no folder"}]
    sets = find_sets(Path(folder) / "ucr")
    smallest = sorted(sets, key=lambda name: cost(load(sets[name])))[:SETS] if names is None else names
    rows, accuracies = [], []
    for name in smallest:
        data = load(sets[name])
        own = ours_on(name, data, None, None)
        seconds = own["fit_seconds"] + own["predict_seconds"]
        row = {"name": f"{name}, {len(data[1])} and {len(data[3])} series", "ours_seconds": seconds}
        found = ensemble(data)
        about = f"ours {100 * own['accuracy']:.2f}%, "
        if found is None:
            about += f"the ensemble did not end in {LIMIT} s"
        else:
            compiling, row["peer_seconds"], accuracy = found
            row["ratio"] = row["peer_seconds"] / seconds
            accuracies.append((own["accuracy"], accuracy))
            about += f"ElasticEnsemble {100 * accuracy:.2f}%; compiling, apart, {compiling:.0f} s"
        took = row.get("peer_seconds", np.nan)
        print(f"{row['name']}: ours {seconds:.1f} s, the ensemble {took:.1f} s; {about}", flush=True)
        rows.append(row | {"goal": about})
    if accuracies:
        means = 100 * np.mean(accuracies, axis=0)
        about = f"mean accuracy {means[0]:.2f}%, ElasticEnsemble {means[1]:.2f}%"
        rows.append({"name": f"{len(accuracies)} sets on which the ensemble ended", "goal": about})
    return rows
