"""Neighbour selection against a stable full sort."""

import numpy as np

from benchmarks.timing import side_by_side
from similitude.numerics.topk import top_k


def run():
    rng = np.random.default_rng(0)
    rows = []
    for n, k in ((900, 5), (900, 128), (20_000, 5), (20_000, 128)):
        S = rng.normal(size=(200, n))
        top_k(S, k)
        rows.append(
            side_by_side(
                f"top-{k} of {n}, 200 rows: against a stable sort",
                lambda S=S, k=k: top_k(S, k),
                lambda S=S: np.argsort(-S, axis=1, kind="stable"),
            )
        )
    return rows
