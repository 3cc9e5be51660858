"""Samples without a label: the errors with them and without them, method by method and for the automatic choice.

On the sets of the :mod:`~benchmarks.arena`, the training part of a partition that is not on its page keeps 5, 10
and 20% of its labels, drawn from each class, at least two of a class that has two. On the enzymes in the folder
``hits`` of ``SIMILITUDE_DATA`` 10% of the labels are kept. Each way is fitted twice: on the labelled samples alone,
and with ``unlabelled="use"`` on all training samples. Errors are those on the test part, whose labels nobody sees.
"""

import time
import warnings

import numpy as np

from benchmarks import hits as hit_files
from benchmarks.arena.data import SOURCES, DataMissing, load
from similitude import AutoClassifier
from similitude.datasets import load_proximity

SHARES = (0.05, 0.1, 0.2)
PARTITIONS = (1000,)
METHODS = (
    *("label spreading", "linear SVM (features)", "RBF SVM (features)", "logistic regression (features)"),
    *("P-SVM", "LP machine", "Fisher (embedded)", "nearest mean (embedded)", "SVM (clip)", "SVM (flip)", "k-NN"),
)
AUTOMATIC = "automatic choice"
HIT_METHODS = ("k-NN", "affinity k-NN", "distance-weighted k-NN", "label spreading")


def run():
    try:
        sets = sorted((data for data in load(SOURCES) if not data.simulated), key=lambda data: len(data.labels))
    except DataMissing as error:
        return [{"name": f"few labels: {error}"}]
    errors = {}
    for data in sets:
        for share in SHARES:
            for partition in PARTITIONS:
                for way, pair in _cell(data, share, partition).items():
                    errors[way, share, data.name, partition] = pair
        _print_set(data.name, errors)
    rows = _print_means(errors, [data.name for data in sets])
    return rows + _enzymes()


def kept_labels(y, share, seed):
    """Return which samples keep their labels: a share of each class, at least two of a class that has two."""
    rng = np.random.default_rng(seed)
    kept = np.zeros(len(y), dtype=bool)
    for label in np.unique(y):
        own = rng.permutation(np.flatnonzero(y == label))
        kept[own[: max(2, round(share * len(own)))]] = True
    return kept


def _cell(data, share, partition):
    """Return the errors of each way, without and with the samples without a label."""
    split = data.split(partition)
    kept = kept_labels(split.y_train, share, partition)
    contract = {} if data.kind == "similarity" else {"dissimilarity": "gauss"}
    found = {}
    for way in (*METHODS, AUTOMATIC):
        parameters = {"methods": "all"} if way == AUTOMATIC else {"methods": [way], "n_repeats": 1}
        auto = AutoClassifier(**parameters, diagnose=False, **contract)
        try:
            found[way] = _errors(auto, split, kept)
        except ValueError:  # a method that cannot be fitted to so few labels
            found[way] = (np.nan, np.nan)
    return found


def _errors(auto, split, kept):
    codes = np.unique(np.concatenate([split.y_train, split.y_test]), return_inverse=True)[1]
    y, truth = codes[: len(kept)], codes[len(kept) :]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        alone = auto.fit(split.X_train[np.ix_(kept, kept)], y[kept]).predict(split.X_test[:, kept])
        auto.set_params(unlabelled="use")
        together = auto.fit(split.X_train, np.where(kept, y, -1)).predict(split.X_test)
    return float(np.mean(alone != truth)), float(np.mean(together != truth))


def _print_set(name, errors):
    for share in SHARES:
        mean = 100 * np.mean([errors[AUTOMATIC, share, name, p] for p in PARTITIONS], axis=0)
        print(f"{name:24}{share:6.0%}  {AUTOMATIC}: {mean[0]:.1f} without, {mean[1]:.1f} with", flush=True)


def _print_means(errors, names):
    """Print the mean errors over the sets, and return them as rows."""
    rows = []
    print(f"\nmean error in percent over {len(names)} sets, without and with, and the gain with its standard error")
    print(f"{'':32}" + "".join(f"{share:>28.0%}" for share in SHARES))
    for way in (*METHODS, AUTOMATIC):
        cells = []
        for share in SHARES:
            each = np.array([np.mean([errors[way, share, n, p] for p in PARTITIONS], axis=0) for n in names])
            each = each[~np.isnan(each).any(axis=1)]
            gains = 100 * (each[:, 0] - each[:, 1])
            mean, deviation = 100 * each.mean(axis=0), gains.std(ddof=1) / len(gains) ** 0.5
            cells.append(f"{mean[0]:6.1f} {mean[1]:6.1f} ({gains.mean():+.1f} +- {deviation:.1f})")
            title = f"few labels, {way}, {share:.0%} kept: error with, without"
            row = {"name": title, "ours_seconds": f"{mean[1]:.2f}%", "peer_seconds": f"{mean[0]:.2f}%"}
            rows += [row] if way == AUTOMATIC else []
        print(f"{way:32}" + "".join(f"{cell:>28}" for cell in cells), flush=True)
    return rows


def _enzymes():
    """Return the rows of the enzymes with 10% of their labels."""
    folder, missing = hit_files.folder()
    if folder is None:
        return missing
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        data = load_proximity(folder / "ec_train.m8.gz", folder / "ec_train.tsv", label_column="ec1")
    y = np.unique(np.asarray(data.y), return_inverse=True)[1]
    rng = np.random.default_rng(0)
    test = np.sort(rng.permutation(len(y))[: len(y) // 5])
    train = np.setdiff1d(np.arange(len(y)), test)
    kept = kept_labels(y[train], 0.1, 0)
    S = data.S.tocsr()
    rows, columns = S[test][:, train], S[train][:, train]
    print(f"\nenzymes, first level: {kept.sum()} labels of {len(train)} samples, {len(test)} test samples")
    found = []
    for way in (*([name] for name in HIT_METHODS), HIT_METHODS):
        start = time.process_time()
        auto = AutoClassifier(list(way), diagnose=False)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            alone = auto.fit(columns[kept][:, kept], y[train][kept]).predict(rows[:, kept])
            auto.set_params(unlabelled="use")
            together = auto.fit(columns, np.where(kept, y[train], -1)).predict(rows)
        title = way[0] if len(way) == 1 else "automatic choice among these"
        errors = [100 * np.mean(own != y[test]) for own in (alone, together)]
        seconds = time.process_time() - start
        print(f"{title:32}{errors[0]:6.2f} without, {errors[1]:6.2f} with ({seconds:.0f} s)", flush=True)
        row = {"name": f"enzymes, 10% of the labels, {title}: error with, without"}
        found.append({**row, "ours_seconds": f"{errors[1]:.2f}%", "peer_seconds": f"{errors[0]:.2f}%"})
    print(auto.unlabelled_)
    return found
