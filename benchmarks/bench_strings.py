"""``pairwise`` on strings against rapidfuzz's own ``cdist``, and alignment against Biopython."""

import numpy as np

from benchmarks.timing import side_by_side
from similitude.similarities import pairwise
from similitude.similarities.sequences import SmithWaterman
from similitude.similarities.strings import LCS, Levenshtein

DNA, AMINO_ACIDS = "acgt", "ARNDCQEGHILKMFPSTWYV"


def random_strings(n, shortest, longest, letters, seed=0):
    rng = np.random.default_rng(seed)
    return ["".join(rng.choice(list(letters), size=k)) for k in rng.integers(shortest, longest + 1, n)]


def run():
    from rapidfuzz import distance, process

    X = random_strings(2000, 50, 100, "abcdefghijklmnopqrstuvwxyz")
    Z = random_strings(2000, 50, 100, "abcdefghijklmnopqrstuvwxyz", seed=1)
    rows = []
    for name, measure, scorer, dtype in (
        ("Levenshtein", Levenshtein(), distance.Levenshtein.distance, np.int32),
        ("LCS", LCS(), distance.LCSseq.similarity, np.int32),
    ):
        for kind, B in (("2000 strings with themselves", X), ("2000 by 2000 strings", Z)):
            row = side_by_side(
                f"{name}, {kind}: against rapidfuzz",
                lambda measure=measure, B=B: pairwise(X, None if B is X else B, measure),
                lambda scorer=scorer, dtype=dtype, B=B: process.cdist(X, B, scorer=scorer, dtype=dtype),
            )
            rows.append(row | {"goal": "at least 0.83"})
    rows += _alignment()
    for row in rows:
        print(f"{row['name']}: ours {row['ours_seconds']:.3f} s, peer {row['peer_seconds']:.3f} s")
    return rows


def _alignment():
    try:
        from Bio import Align
    except ImportError:
        print("alignment: no peer, Biopython is not installed")
        return []
    aligner = Align.PairwiseAligner(mode="local", match_score=2, mismatch_score=-3)
    aligner.open_gap_score, aligner.extend_gap_score = -7, -2
    rows = []
    for n, length, letters in ((100, 57, DNA), (40, 300, AMINO_ACIDS)):
        X, Z = (random_strings(n, length, length, letters, seed=seed) for seed in (0, 1))
        rows.append(
            side_by_side(
                f"Smith-Waterman, {n} by {n} sequences of {length}: against Biopython",
                lambda X=X, Z=Z: SmithWaterman()(X, Z),
                lambda X=X, Z=Z: [[aligner.score(x, z) for z in Z] for x in X],
            )
        )
    return rows
