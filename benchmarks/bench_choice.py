"""The automatic choice beside single methods, with all training samples and with few, by a paired test over data sets.

The data are those of the arena, on partitions that its page does not use. Beside ``AutoClassifier`` stand 1-NN and
single methods, each tuned on the same folds. With few training samples, these are drawn from the training part, at
least two of each class. The error of a data set is the mean over its partitions; the p-value is that of the Wilcoxon
signed-rank test over data sets that ``AutoClassifier`` has lower errors.
"""

import time
import warnings

import numpy as np

from benchmarks.arena.cells import MAP
from benchmarks.arena.data import SOURCES, DataMissing, Split, load
from benchmarks.arena.scores import brier_score
from similitude import AutoClassifier, KNNClassifier
from similitude.numerics.significance import standard_error, wilcoxon_greater

PARTITIONS = (1000, 1001)
SIZES = (20, 40, 80, None)
"""The numbers of training samples; None means all."""
SINGLE = ("k-NN", "KRI k-NN", "SVM (clip)")


def _drawn(split, n, seed):
    """Return a split with n training samples at most, at least two of each class."""
    if n is None or n >= len(split.y_train):
        return split
    order = np.random.RandomState(seed).permutation(len(split.y_train))
    first = [i for g in np.unique(split.y_train) for i in order[split.y_train[order] == g][:2]]
    some = np.sort(np.r_[first, [i for i in order if i not in first][: max(0, n - len(first))]].astype(int))
    return Split(split.X_train[np.ix_(some, some)], split.X_test[:, some], split.y_train[some], split.y_test)


def _scores(dataset, split, seed):
    """Return the error of each entrant in points, the Brier score of the choice, and its CPU seconds."""
    contract = {"dissimilarity": MAP} if dataset.kind == "dissimilarity" else {}
    options = {"random_state": seed, "diagnose": False, **contract}
    start = time.process_time()
    auto = AutoClassifier(**options).fit(split.X_train, split.y_train)
    seconds = time.process_time() - start
    fitted = [auto, KNNClassifier(1, **contract).fit(split.X_train, split.y_train)]
    fitted += [AutoClassifier([name], **options).fit(split.X_train, split.y_train) for name in SINGLE]
    errors = [100 * np.mean(model.predict(split.X_test) != split.y_test) for model in fitted]
    return errors, brier_score(auto.predict_proba(split.X_test), auto.classes_, split.y_test), seconds


def run(partitions=PARTITIONS, sizes=SIZES, names=None):
    warnings.simplefilter("ignore")
    try:
        chosen = [dataset for dataset in load(names or SOURCES) if not dataset.simulated]
    except DataMissing as missing:
        return [{"name": f"skipped: {missing}"}]
    rows = []
    for n in sizes:
        found = [[_scores(data, _drawn(data.split(p), n, p), p) for p in partitions] for data in chosen]
        errors = np.array([np.mean([own[0] for own in each], axis=0) for each in found])
        brier, seconds = (np.mean([[own[i] for own in each] for each in found], axis=1) for i in (1, 2))
        about = f"{'all' if n is None else n} training samples, {len(chosen)} sets, {len(partitions)} partitions"
        rows.append(
            {
                "name": f"AutoClassifier: {about}",
                "ours_seconds": f"{errors[:, 0].mean():.2f}%",
                "goal": f"Brier score {brier.mean():.4f}; {seconds.sum() * len(partitions):.0f} CPU seconds",
            }
        )
        for j, name in enumerate(["1-NN", *SINGLE], 1):
            gain = errors[:, j] - errors[:, 0]
            p = wilcoxon_greater(errors[:, j], errors[:, 0])
            rows.append(
                {
                    "name": f"  {name}",
                    "peer_seconds": f"{errors[:, j].mean():.2f}%",
                    "goal": f"{gain.mean():+.2f} points (s.e. {standard_error(gain):.2f}), p = {p:.3f}",
                }
            )
    return rows
