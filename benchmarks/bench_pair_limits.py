"""What some columns, or the exact neighbours, of a matrix can give: where 10% of the pairs are not enough, and why.

10% of the pairs of n symmetric values are 0.05 n columns of all training samples, or 0.1 n values in the row of each.
For the sets of the arena that ``bench_pairs.py`` misses most, the errors of an RBF SVM on the columns of m samples
chosen at random are shown, and that of 1-NN with all values. C and gamma of the SVM are chosen by five folds. The
partitions are for development.
"""

import warnings

import numpy as np
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from benchmarks.arena.data import load, partition_of

NAMES, COLUMNS, PARTITIONS = ("dtw_osuleaf", "woodyplants50"), (8, 17, 35, 70, None), (1000, 1001, 1002, 1003)
GRID = {"svc__C": [1, 10, 100]}
WIDTHS = np.array([0.1, 0.3, 1, 3])


def error_on_columns(dataset, partition, m):
    """Return the test error of an RBF SVM on the columns of m training samples."""
    train, test = partition_of(dataset.labels, partition)
    columns = train[np.random.RandomState(partition).permutation(len(train))[:m]]
    rows, new, y = dataset.matrix[np.ix_(train, columns)], dataset.matrix[np.ix_(test, columns)], dataset.labels
    grid = {**GRID, "svc__gamma": WIDTHS / rows.shape[1]}
    search = GridSearchCV(make_pipeline(StandardScaler(), SVC()), grid, cv=5).fit(rows, y[train])
    return float(np.mean(search.predict(new) != y[test]))


def error_of_nearest(dataset, partition):
    """Return the test error of 1-NN with all values."""
    train, test = partition_of(dataset.labels, partition)
    values = dataset.matrix[np.ix_(test, train)] * (1 if dataset.kind == "dissimilarity" else -1)
    return float(np.mean(dataset.labels[train][values.argmin(axis=1)] != dataset.labels[test]))


def run(names=NAMES, columns=COLUMNS, partitions=PARTITIONS):
    warnings.simplefilter("ignore")
    rows = []
    for dataset in load(names):
        n = len(partition_of(dataset.labels, partitions[0])[0])
        for m in columns:
            error = np.mean([error_on_columns(dataset, partition, m) for partition in partitions])
            name = f"{dataset.name}, {n} training samples, RBF SVM on {m or 'all'} columns"
            rows.append({"name": name, "ours_seconds": f"{100 * error:.1f}%"})
            print("   ", rows[-1], flush=True)
        error = np.mean([error_of_nearest(dataset, partition) for partition in partitions])
        rows.append({"name": f"{dataset.name}, 1-NN with all values", "ours_seconds": f"{100 * error:.1f}%"})
        print("   ", rows[-1], flush=True)
    return rows
