"""Recall of the neighbour graph against the number of similarities, on 20,000 strings and on long vectors."""

import time

import numpy as np
from sklearn.metrics.pairwise import euclidean_distances

from benchmarks.timing import best_of
from similitude import KNNClassifier, disorder
from similitude.finders.graph import GraphSearch

WIDTHS = (1, 16, 32, 64, 128, 256)
K = 10


def copies(rng, parents, of):
    """Return copies of random strings of length 60 over four letters, with six random substitutions each."""
    letters = parents[of]
    for row in letters:
        row[rng.choice(60, 6, replace=False)] = rng.integers(0, 4, 6)
    return ["".join("ACGT"[c] for c in row) for row in letters]


def data(n=20_000, m=500, sizes="equal"):
    """Return strings to search in, and query strings; the parents have ten copies each, or ten on average."""
    rng = np.random.default_rng(0)
    parents = rng.integers(0, 4, (n // 10, 60))
    of = np.repeat(np.arange(n // 10), 10) if sizes == "equal" else rng.integers(0, n // 10, n)
    return copies(rng, parents, of), copies(rng, parents, rng.integers(0, n // 10, m))


def curve(X, new, similarity, widths):
    """Return the cost of the graph, and ``(width, recall, recall with ties, evaluations, seconds)`` for each width."""
    y = np.zeros(len(X))
    exact = KNNClassifier(K, similarity=similarity, dissimilarity="negate", search="stream").fit(X, y)
    all_seconds = best_of(lambda: exact.kneighbors(new), 1)
    similarities, truth = exact.kneighbors(new)
    start = time.perf_counter()
    graph = exact.set_params(search=GraphSearch(builder="own")).fit(X, y)
    build = graph.n_evaluations_ / len(X), time.perf_counter() - start
    points = []
    for width in widths:
        graph.search_.search_width = width
        seconds = best_of(lambda: graph.kneighbors(new), 2)
        found, indices = graph.kneighbors(new)
        same = np.mean([len(set(a) & set(b)) / K for a, b in zip(indices.tolist(), truth.tolist())])
        as_near = np.mean(found >= similarities[:, -1:])
        points.append((width, same, as_near, graph.n_evaluations_per_query_, seconds))
    return build, all_seconds, points


def _rows(what, X, new, similarity, widths, goals):
    (per_sample, seconds), all_seconds, points = curve(X, new, similarity, widths)
    rows = [{"name": f"graph of {what}: {per_sample:.0f} per sample", "ours_seconds": seconds, "goal": goals[0]}]
    for width, same, as_near, evaluations, seconds in points:
        share = f"{evaluations:.0f} evaluations ({evaluations / len(X):.2%})"
        rows.append(
            {
                "name": f"  width {width:>3}: recall@{K} {same:.3f} (ties {as_near:.3f}), {share}; against all",
                "ours_seconds": seconds,
                "peer_seconds": all_seconds,
                "ratio": all_seconds / seconds,
                "goal": goals[1] if width == GraphSearch().search_width else "",
            }
        )
    return rows


def run(n=20_000, m=500):
    rows = []
    goals = "at most 800 evaluations per sample", "0.95 with at most 5%"
    for sizes in ("equal", "random"):
        what = f"{n} strings, {sizes} numbers of copies"
        rows += _rows(what, *data(n, m, sizes), "levenshtein", WIDTHS, goals)
    rng = np.random.default_rng(0)
    for d in (2, 8, 16, 32, 64):
        X, new = rng.normal(size=(5000, d)), rng.normal(size=(m, d))
        found = disorder(euclidean_distances(X[:2000]), dissimilarity="negate")
        what = f"5000 vectors, d = {d}, D (95%) {found.quantile_95:.1f}"
        rows += _rows(what, X, new, "euclidean", (32, 128), ("", ""))
    return rows
