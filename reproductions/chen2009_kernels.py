"""Chen, Gupta & Recht, "Learning kernels from indefinite similarities", ICML 2009."""

from __future__ import annotations

from reproductions.chen2009 import PROTOCOL
from reproductions.recipe import PaperTable, from_repository, voting
from similitude import KNNClassifier, LearnedSpectrumSVC, RobustSVC, SimilaritySVC
from similitude.experiments import pooled_search

TENS = [10.0**j for j in range(-3, 4)]
ETAS = [10.0**j for j in range(-4, 1)]
NEIGHBORS = [*range(1, 17), 32]

METHODS = ["learned spectrum", "robust SVM", "SVM, clip", "SVM, flip", "SVM, shift", "linear SVM", "k-NN"]

_COLUMNS = {
    "Amazon": (
        (11.32, 7.86),
        (7.63, 6.55),
        (12.37, 7.68),
        (20.79, 10.97),
        (15.53, 13.05),
        (16.05, 11.59),
        (9.47, 6.57),
    ),
    "Aural Sonar": (
        (12.00, 4.85),
        (12.00, 5.79),
        (12.00, 5.34),
        (13.25, 5.07),
        (17.25, 9.93),
        (14.25, 6.94),
        (18.25, 5.97),
    ),
    "Protein": ((2.93, 2.73), (18.28, 5.57), (9.14, 4.26), (4.14, 3.01), (31.55, 17.63), (2.59, 3.06), (43.45, 5.71)),
    "Voting": ((4.72, 1.96), (5.00, 1.79), (5.00, 1.79), (4.83, 2.17), (6.55, 5.34), (5.34, 1.93), (5.46, 1.74)),
    "Yeast-5-7": (
        (25.25, 4.93),
        (26.50, 4.50),
        (28.25, 6.38),
        (35.75, 7.75),
        (46.00, 9.40),
        (26.88, 6.22),
        (30.63, 5.80),
    ),
    "Yeast-5-12": (
        (8.63, 5.09),
        (9.00, 5.39),
        (10.50, 4.72),
        (10.75, 5.13),
        (43.38, 8.41),
        (10.75, 4.82),
        (12.75, 4.39),
    ),
}
PUBLISHED = {name: dict(zip(METHODS, column, strict=True)) for name, column in _COLUMNS.items()}


def regularizer(clip_errors: int, flip_errors: int) -> str:
    """Return the target of the learned spectrum from the errors of clip and flip on the same folds (Section 3.4)."""
    return "clip" if clip_errors < flip_errors else "flip" if flip_errors < clip_errors else "both"


def learned_spectrum_grid(X, y, folds):
    """Return the grid of the learned spectrum, with the target that the SVMs with clip and flip choose."""
    errors = [
        pooled_search(SimilaritySVC(spectrum=spectrum), {"C": TENS}, X, y, folds).fewest_errors_
        for spectrum in ("clip", "flip")
    ]
    return {"target": [regularizer(*errors)], "eta": ETAS, "gamma": TENS}


def methods():
    """Return the methods of Table 1 with the grids of Section 4.2."""
    estimators = [
        (LearnedSpectrumSVC(), learned_spectrum_grid),
        (RobustSVC(), {"C": TENS, "rho": TENS}),
        (SimilaritySVC(spectrum="clip"), {"C": TENS}),
        (SimilaritySVC(spectrum="flip"), {"C": TENS}),
        (SimilaritySVC(spectrum="shift"), {"C": TENS}),
        # The kernel S S' is that of the linear SVM on rows of similarities as features.
        (SimilaritySVC(spectrum="square"), {"C": TENS}),
        (KNNClassifier(), {"n_neighbors": NEIGHBORS}),
    ]
    return dict(zip(METHODS, estimators, strict=True))


TABLES = [
    PaperTable(
        name="chen2009kernels-table1",
        reference="Chen, Gupta & Recht, ICML 2009, Table 1",
        protocol=PROTOCOL,
        datasets={
            "Amazon": from_repository("amazon"),
            "Aural Sonar": from_repository("aural sonar", "sonar"),
            "Protein": from_repository("protein two classes", "protein-2"),
            "Voting": voting,
            "Yeast-5-7": from_repository("yeast-5-7"),
            "Yeast-5-12": from_repository("yeast-5-12"),
        },
        methods=methods,
        published=PUBLISHED,
        note="The partitions are not the paper's.",
    )
]
