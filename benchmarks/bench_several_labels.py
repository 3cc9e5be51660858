"""Several labels of each sample: enzymes with all their EC numbers, many labels, and assays of which some are missing.

The data are read from ``SIMILITUDE_DATA``. On the enzymes of the folder ``hits``, at levels 3 and 4 of the EC numbers,
``MultilabelClassifier`` is compared with the labels of the best hit and with the BLAST-kNN score, the share of the bits
of all hits that belong to hits with the label. Fmax is the largest F measure over thresholds, as CAFA computes it;
precisions are those at the threshold of Fmax, over all predictions (micro) and the mean over the predicted labels
(macro). On ``tables/tox21.csv`` (twelve assays of molecules, most of them measured in some), the similarity is the
cosine of TF-IDF weights of the substrings of two to five letters of SMILES.
"""

import csv
import os
import time
from pathlib import Path

import numpy as np
from scipy import sparse

from benchmarks import hits as hit_files
from benchmarks.bench_label_trees import enzymes
from similitude import LabelTree, MultilabelClassifier
from similitude.multilabel.figures import fmax, mean_auc
from similitude.similarities import TfidfCosine

LOCAL = ("k-NN", "affinity k-NN", "KRI k-NN", "KRR k-NN")
N_TRAIN, N_TEST = 3000, 1500


def run():
    rows = []
    folder, missing = hit_files.folder()
    rows += missing
    if folder is not None:
        for level in (3, 4):
            rows += _enzymes(folder, level)
        rows += _with_tree(folder)
    rows += _many_labels()
    table = Path(os.environ.get("SIMILITUDE_DATA", "data")) / "tables" / "tox21.csv"
    rows += _assays(table) if table.is_file() else [{"name": f"assays: there is no file {table}"}]
    return rows


def _enzymes(folder, level):
    S, y, new, truth = enzymes(folder, f"ec{level}", several=True)
    labels = [label.split(";") for label in y]
    names = sorted({name for own in [*labels, *(label.split(";") for label in truth)] for name in own})
    Y, T = (_indicator(own, names) for own in (labels, [label.split(";") for label in truth]))
    known = np.flatnonzero(np.asarray(Y.sum(axis=0)).ravel())
    print(f"\nlevel {level}: {S.shape[0]} training enzymes, {len(known)} labels, {len(truth)} test enzymes")
    found = {}
    for combine in ("overall", "label"):
        start = time.process_time()
        model = MultilabelClassifier(combine=combine).fit(S, Y[:, known])
        P = np.zeros((len(truth), len(names)))
        P[:, known] = model.predict_proba(new)
        found[f"similitude, weights {combine}"] = sparse.csr_matrix(np.where(P >= 0.005, P, 0.0))
        print(f"weights {combine}: {time.process_time() - start:.0f} s of processor time")
    largest = sparse.csr_matrix((new.data, new.indices, new.indptr), shape=new.shape)
    best = sparse.lil_matrix(new.shape)
    for i in range(new.shape[0]):
        part = slice(new.indptr[i], new.indptr[i + 1])
        if part.start < part.stop:
            best[i, new.indices[part][np.argmax(new.data[part])]] = 1.0
    found["best hit"] = (best.tocsr() @ Y).tocsr()
    sums = np.maximum(np.asarray(largest.sum(axis=1)).ravel(), 1e-12)
    found["BLAST-kNN"] = (sparse.diags(1 / sums) @ largest @ Y).tocsr()
    print(f"{'':32}{'Fmax':>8}{'at':>7}{'micro':>8}{'macro':>8}   (precision in percent)")
    rows = []
    for title, P in found.items():
        score, threshold = fmax(P, T)
        micro, macro = _precisions(P, T, threshold)
        print(f"{title:32}{score:8.3f}{threshold:7.2f}{100 * micro:8.1f}{100 * macro:8.1f}")
        rows.append({"name": f"enzymes, level {level}, {title}: Fmax", "ours_seconds": f"{score:.3f}"})
    return rows


def _with_tree(folder):
    """Return how often a parent is less probable than its child, with a tree and without."""
    S, y, new, _ = enzymes(folder, "ec3", several=True)
    labels = [label.split(";") for label in y]
    tree = LabelTree.from_lineages((name for own in labels for name in own), ".")
    model = MultilabelClassifier(tree, methods=["k-NN", "affinity k-NN"]).fit(S, labels)
    P = model.predict_proba(new)
    below = np.flatnonzero(tree.parent >= 0)
    less = int(np.sum(P[:, tree.parent[below]] < P[:, below]))
    print(f"\nwith a tree of {len(tree)} nodes: {less} of {P[:, below].size} parents are less probable than a child")
    return [{"name": "enzymes with a tree: parents less probable than a child", "ours_seconds": str(less)}]


def _many_labels():
    """Return the processor time of the local methods for 1,000 labels over that of one.

    The labels of a sample are its five nearest centres, or drawn at random, so that neighbours share none.
    """
    rng = np.random.RandomState(0)
    n, n_labels = 8000, 1000
    points, centres = rng.randn(n, 5).astype(np.float32), rng.randn(n_labels, 5).astype(np.float32)
    S = _gauss(points)
    squares = (points**2).sum(axis=1)[:, None] - 2 * points @ centres.T + (centres**2).sum(axis=1)
    nearest = np.argpartition(squares, 5, axis=1)[:, :5].ravel()
    by_place = sparse.csr_matrix((np.ones(5 * n), (np.repeat(np.arange(n), 5), nearest)), shape=(n, n_labels))
    at_random = sparse.csr_matrix((rng.rand(n, n_labels) < 0.005).astype(float))
    rows = []
    for kind, Y in {"by place": by_place, "at random": at_random}.items():
        most, seconds = int(np.argmax(Y.sum(axis=0))), {}
        for width, y in ((1, Y[:, [most]]), (n_labels, Y)):
            start = time.process_time()
            MultilabelClassifier(methods=list(LOCAL)).fit(S, y)
            seconds[width] = time.process_time() - start
        print(
            f"\n{n} samples, labels {kind}, local methods: {seconds[1]:.1f} s for 1 label, {seconds[n_labels]:.1f} s "
            f"for {n_labels}"
        )
        ratio = f"{seconds[n_labels] / seconds[1]:.2f}"
        rows.append({"name": f"{n_labels} labels {kind} over one, time", "ours_seconds": ratio, "goal": "at most 2"})
    return rows


def _gauss(points):
    squares = (points**2).sum(axis=1)
    S = points @ points.T
    S *= 2
    S -= squares[:, None]
    S -= squares[None]
    S /= 4
    np.exp(S, out=S)
    return (S + S.T) / 2


def _assays(path):
    with path.open(newline="") as file:
        table = list(csv.reader(file))
    heads, cells = table[0][1:], table[1:]
    order = np.random.RandomState(0).permutation(len(cells))[: N_TRAIN + N_TEST]
    smiles = [cells[i][0] for i in order]
    Y = np.array([[float(cell) if cell else np.nan for cell in cells[i][1:]] for i in order])
    measure = TfidfCosine("char", (2, 5), lowercase=False).fit(smiles[:N_TRAIN])
    S = measure(smiles, smiles[:N_TRAIN])
    train, test = S[:N_TRAIN], S[N_TRAIN:]
    known = ~np.isnan(Y[N_TRAIN:])
    T, measured = sparse.csr_matrix(np.nan_to_num(Y[N_TRAIN:])), sparse.csr_matrix(known.astype(float))
    print(f"\nassays: {N_TRAIN} training molecules, {N_TEST} test molecules, {100 * known.mean():.0f}% measured")
    rows = []
    for combine in ("overall", "label"):
        model = MultilabelClassifier(combine=combine).fit((train + train.T) / 2, Y[:N_TRAIN])
        P = model.predict_proba(test)
        area = mean_auc(sparse.csr_matrix(P), T, measured)
        print(f"weights {combine}: mean area under the ROC curve of {len(heads)} assays {area:.3f}")
        rows.append({"name": f"assays, weights {combine}: mean AUC", "ours_seconds": f"{area:.3f}"})
    nearest = np.argmax(test, axis=1)
    peer = np.where(np.isnan(Y[:N_TRAIN][nearest]), 0.0, Y[:N_TRAIN][nearest]) * test.max(axis=1)[:, None]
    area = mean_auc(sparse.csr_matrix(peer), T, measured)
    print(f"nearest neighbour, by its similarity: {area:.3f}")
    print(model.methods_)
    return [*rows, {"name": "assays, nearest neighbour: mean AUC", "peer_seconds": f"{area:.3f}"}]


def _indicator(labels, names):
    place = {name: i for i, name in enumerate(names)}
    rows = np.repeat(np.arange(len(labels)), [len(set(own)) for own in labels])
    columns = [place[name] for own in labels for name in sorted(set(own))]
    return sparse.csr_matrix((np.ones(len(rows)), (rows, columns)), shape=(len(labels), len(names)))


def _precisions(P, T, threshold):
    predicted = P.copy()
    predicted.data = (predicted.data >= threshold - 1e-9).astype(float)
    right, counts = (np.asarray(own.sum(axis=0)).ravel() for own in (predicted.multiply(T), predicted))
    return right.sum() / max(counts.sum(), 1), np.mean(right[counts > 0] / counts[counts > 0])
