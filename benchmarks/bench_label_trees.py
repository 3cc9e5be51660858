"""Labels that form a tree: enzymes by their EC numbers, from hits of a protein search.

The data are read from the folder ``hits`` of ``SIMILITUDE_DATA``. The training enzymes with one EC number are fitted
with ``HierarchicalClassifier``, once with the weights of the methods chosen rank by rank and once on the leaves, and
the test enzymes with one number are predicted, also those without a hit. Best hit gives a query all ranks of its most
similar training enzyme, and the largest class if it has no hit.

The probability of unseen leaves is judged by a third model that lacks it: the nodes of the last rank then share all of
the probability.
"""

import copy
import time
import warnings
from dataclasses import replace

import numpy as np
from scipy import sparse

from benchmarks import hits as hit_files
from similitude import HierarchicalClassifier
from similitude.datasets import load_proximity

CONFIDENCES = (0.5, 0.8, 0.9, 0.95)
SETS = (0.8, 0.9)


def run():
    folder, rows = hit_files.folder()
    if folder is None:
        return rows
    S, y, new, truth = enzymes(folder)
    known, lines = set(y), np.array([lineage(label) for label in truth])
    unseen = np.array([label not in known for label in truth])
    lacking = np.diff(new.indptr) == 0
    print(
        f"{len(y)} training enzymes, {len(known)} EC numbers; {len(truth)} test enzymes, {unseen.sum()} with a number "
        f"that no training enzyme has, {lacking.sum()} without a hit; figures in percent, of the test enzymes"
    )
    models = {}
    for combine in ("leaves", "rank"):
        start = time.process_time()
        models[combine] = HierarchicalClassifier(separator=".", combine=combine).fit(S, y)
        print(f"weights by {combine}: fitted in {time.process_time() - start:.0f} s of processor time")
    print(models["leaves"].methods_)
    models["leaves, without unseen ones"] = _without_unseen(models["leaves"])
    print(f"\n{'':30}{'error at rank':^32}{'squared error at rank':^32}")
    for title, model in models.items():
        P, (nodes, _) = model.predict_proba(new), model.predict_ranks(new)
        names = np.where(nodes >= 0, model.classes_[np.maximum(nodes, 0)], "")
        errors = 100 * np.mean(names != lines, axis=0)
        print(f"{title:30}{_cells(errors, 8)}{_cells(_squares(P, model, lines), 8, 4)}")
        rows += [
            {"name": f"enzymes, weights by {title}: error at rank {d + 1}", "ours_seconds": f"{errors[d]:.1f}%"}
            for d in range(4)
        ]
    best = _best_hit(new, y)
    errors = 100 * np.mean(np.array([lineage(label) for label in best]) != lines, axis=0)
    print(f"{'best hit':30}{_cells(errors, 8)}")
    for title, model in models.items():
        nodes, proba = model.predict_ranks(new)
        names = np.where(nodes >= 0, model.classes_[np.maximum(nodes, 0)], "")
        print(f"\nweights by {title}: samples assigned to a node of the rank or a deeper one, and how many are right")
        print(f"{'confidence':>12}{'unassigned':>12}" + "".join(f"{f'rank {d + 1}':>16}" for d in range(4)))
        for confidence in CONFIDENCES:
            assigned, right = proba >= confidence, names == lines
            cells = [f"{100 * assigned[:, d].mean():.1f} {100 * right[assigned[:, d], d].mean():.1f}" for d in range(4)]
            print(
                f"{confidence:12.2f}{100 * np.mean(~assigned[:, 0]):12.1f}" + "".join(f"{cell:>16}" for cell in cells)
            )
        mean = 100 * np.array([proba[:, 3].mean(), (names[:, 3] == lines[:, 3]).mean()])
        print(f"mean probability of the predicted number {mean[0]:.1f}, right {mean[1]:.1f}")
    model = models["leaves"]
    P = model.predict_proba(new)
    leaves = P[:, model.tree_.is_leaf].sum(axis=1)
    print(
        f"\nprobability of a number that no training enzyme has: {100 * np.mean(1 - leaves):.1f} on average, "
        f"{100 * np.mean(1 - leaves[unseen]):.1f} for those that have one, true share {100 * unseen.mean():.1f}"
    )
    place = {name: i for i, name in enumerate(model.classes_.tolist())}
    outcome = np.array([next((place[node] for node in line[::-1] if node in place), -1) for line in lines.tolist()])
    for confidence in SETS:
        sets = model.predict_set(new, confidence)
        held = np.where(outcome >= 0, sets[np.arange(len(sets)), outcome], False)
        sizes = sets.sum(axis=1)
        print(
            f"sets at {confidence}: {100 * held.mean():.1f} hold the node; {sizes[~lacking].mean():.1f} nodes on "
            f"average with a hit, {sizes[lacking].mean():.1f} without"
        )
        rows.append(
            {"name": f"enzymes: sets at {confidence} hold the node", "ours_seconds": f"{100 * held.mean():.1f}%"}
        )
    return rows


def enzymes(folder, column="ec4", several=False):
    """Return similarities and labels of training enzymes, and rows and labels of all test enzymes.

    Unless ``several``, these are the enzymes with one EC number.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # enzymes without an edge are left out
        data = load_proximity(folder / "ec_train.m8.gz", folder / "ec_train.tsv", label_column=column)
        rows = load_proximity(folder / "ec_test.m8.gz", columns=data)
    labels = hit_files.labels(folder / "ec_test.tsv", column)
    place = {name: i for i, name in enumerate(rows.ids.tolist())}
    stored = sparse.csr_matrix(rows.S)
    empty = sparse.csr_matrix((1, stored.shape[1]))
    new = sparse.vstack([stored[place[name]] if name in place else empty for name in labels]).tocsr()
    y, truth, S = data.y.astype(str), np.array(list(labels.values())), sparse.csr_matrix(data.S)
    if several:
        return S, y, new, truth
    one, single = (np.flatnonzero([";" not in label for label in own]) for own in (y, truth))
    return S[one][:, one], y[one], new[single][:, one], truth[single]


def lineage(label):
    parts = label.split(".")
    return [".".join(parts[: i + 1]) for i in range(len(parts))]


def _best_hit(new, y):
    values, counts = np.unique(y, return_counts=True)
    found = np.full(new.shape[0], values[np.argmax(counts)], dtype=object)
    for i in range(new.shape[0]):
        part = slice(new.indptr[i], new.indptr[i + 1])
        if part.start < part.stop:
            found[i] = y[new.indices[part][np.argmax(new.data[part])]]
    return found


def _without_unseen(model):
    other = copy.copy(model)
    ranks = [replace(rank, novelty=np.append(-50.0, np.zeros(len(rank.novelty) - 1))) for rank in model._model.ranks]
    other._model = replace(model._model, ranks=ranks)
    return other


def _squares(P, model, lines):
    """Return the mean over samples of the sum of squares of what is predicted less what is true, at each rank."""
    place, found = {name: i for i, name in enumerate(model.classes_.tolist())}, []
    for d in range(lines.shape[1]):
        own = P[:, model.tree_.depth == d + 1]
        at = np.array([place.get(name, -1) for name in lines[:, d]])
        true = np.where(at >= 0, P[np.arange(len(P)), at], 0.0)
        found.append(np.mean(np.sum(own**2, axis=1) - 2 * true + 1))
    return found


def _cells(values, width, digits=1):
    return "".join(f"{value:{width}.{digits}f}" for value in values)
