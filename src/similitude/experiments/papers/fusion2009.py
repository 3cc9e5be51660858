"""Cazzanti, Gupta & Srivastava, "Fusing similarities and Euclidean features with generative classifiers", 2009."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np

from similitude.experiments.papers.chen2009 import PROTOCOL
from similitude.experiments.papers.recipe import DataMissing, PaperTable, by_row, from_repository, voting
from similitude.experiments.protocol import Protocol
from similitude.experiments.running import Dataset
from similitude.numerics.extras import require

NEIGHBORS = [*range(1, 17), 32, 64, 128]
"""Table 2; more than there are samples means all of them, the paper's min(n, 128)."""
FEATURE_NEIGHBORS = [*range(1, 21), *range(30, 101, 10)]
ALPHAS = [1e-6, 1e-3, 0.01, 0.1, 0.5, 0.9]

TABLE_1 = ["k-NN", "local nearest means", "local BDA", "SVM-KNN", "GMM"]
PUBLISHED_1 = by_row(
    TABLE_1,
    Letter_Rec=(5.20, 4.43, 3.23, 3.93, 12.20),
    Opt_Digits=(3.23, 2.73, 2.78, 2.67, 9.29),
    Pen_Digits=(2.77, 2.29, 1.89, 2.14, 13.95),
    Image_Seg=(12.76, 13.67, 10.95, 11.52, 16.86),
    Vowel=(49.78, 43.72, 44.59, 49.78, 62.34),
)

TABLE_2 = [
    "local SDA",
    "regularized local SDA",
    "local BDA",
    "fused local SDA/BDA",
    "k-NN, similarities",
    "k-NN, features",
    "fused k-NN",
]
PUBLISHED_2 = by_row(
    TABLE_2,
    Amazon=(12.11, 8.95, 15.79, 8.95, 12.63, 36.58, 25.79),
    Aural_Sonar=(17.75, 16.25, 12.25, 12.75, 15.50, 13.25, 15.00),
    Patrol=(11.77, 11.35, 42.92, 18.85, 11.87, 43.13, 25.94),
    Protein=(17.44, 16.40, 0.7, 0.7, 30.35, 0.7, 28.14),
    Voting=(6.38, 5.40, 5.92, 5.11, 5.86, 6.72, 6.15),
    Internet_Ads=(4.92, 4.53, 5.28, 3.31, 11.06, 8.20, 9.48),
)


def vowel(data_home: Any = None) -> Dataset:
    """Vowel with its split by speakers, 528 and 462."""
    train, test = (_rdata(f"vowel.{part}", data_home) for part in ("train", "test"))
    parts = [np.asarray(part, dtype=float) for part in (train, test)]
    X, y = np.concatenate([part[:, 1:] for part in parts]), np.concatenate([part[:, 0] for part in parts])
    return Dataset(X, y.astype(int), {}, [_one_after_the_other(*map(len, parts))])


def pen_digits(data_home: Any = None) -> Dataset:
    """Pen Digits with its split by writers, 7494 and 3498."""
    from sklearn.datasets import load_svmlight_files

    paths = [str(_file(f"pendigits.{part}.libsvm", data_home)) for part in ("train", "test")]
    X_train, y_train, X_test, y_test = load_svmlight_files(paths)
    X = np.concatenate([X_train.toarray(), X_test.toarray()])
    split = _one_after_the_other(len(y_train), len(y_test))
    return Dataset(X, np.concatenate([y_train, y_test]).astype(int), {}, [split])


def _file(name: str, data_home: Any) -> Path:
    folders = [Path(folder) for folder in (data_home, os.environ.get("SIMILITUDE_DATA")) if folder is not None]
    for folder in folders:
        if (folder / name).is_file():
            return folder / name
    raise DataMissing(f"put {name} into the folder that data_home or the environment variable SIMILITUDE_DATA names")


def _rdata(name: str, data_home: Any) -> Any:
    path = _file(f"{name}.RData", data_home)
    try:
        return require("rdata", "data").read_rda(path)[name]
    except ImportError as error:
        raise DataMissing(str(error)) from error


def _one_after_the_other(n_train: int, n_test: int) -> tuple[np.ndarray, np.ndarray]:
    return np.arange(n_train), np.arange(n_train, n_train + n_test)


def _no_split(_: Any = None) -> Dataset:
    raise DataMissing("the source of fetch_uci does not have the paper's split into training and test part")


def _internet_ads(_: Any = None) -> Dataset:
    raise DataMissing(
        "its similarity, Tversky's on 1556 binary features, and its three features need a page of their own"
    )


def table_1_methods() -> dict[str, tuple]:
    """Those methods of Table 1 that work on features here: standardised on the training part."""
    from sklearn.neighbors import KNeighborsClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    from similitude import LocalBDA, LocalNearestMeans

    parts = {"k-NN": KNeighborsClassifier(), "local nearest means": LocalNearestMeans(), "local BDA": LocalBDA()}
    return {
        name: (
            make_pipeline(StandardScaler(), part),
            {f"{type(part).__name__.lower()}__n_neighbors": FEATURE_NEIGHBORS},
        )
        for name, part in parts.items()
    }


def table_2_methods() -> dict[str, tuple]:
    """The methods of Table 2 on data that has similarities alone: the features are rows of them."""
    from sklearn.neighbors import KNeighborsClassifier
    from sklearn.pipeline import make_pipeline

    from similitude import FusedClassifier, KNNClassifier, LocalBDA, LocalSDA, SimilarityFeatures
    from similitude.generative.fused_knn import FusedKNN

    k = {"n_neighbors": NEIGHBORS}
    fused = FusedClassifier([("sda", LocalSDA()), ("bda", LocalBDA())])
    jointly = {"sda__n_neighbors": NEIGHBORS, "sda__alpha": ALPHAS, "bda__n_neighbors": NEIGHBORS}
    estimators = [
        (LocalSDA(), k),
        (LocalSDA(), {**k, "alpha": ALPHAS}),
        (make_pipeline(SimilarityFeatures(), LocalBDA()), {"localbda__n_neighbors": NEIGHBORS}),
        (fused, jointly),
        (KNNClassifier(), k),
        (make_pipeline(SimilarityFeatures(), KNeighborsClassifier()), {"kneighborsclassifier__n_neighbors": NEIGHBORS}),
        (FusedKNN(), k),
    ]
    return dict(zip(TABLE_2, estimators, strict=True))


_REFERENCE = "Cazzanti, Gupta & Srivastava, FUSION 2009"

TABLES = [
    PaperTable(
        name="fusion2009-table1",
        reference=f"{_REFERENCE}, Table 1",
        protocol=Protocol.given(),
        datasets={
            "Letter Rec": _no_split,
            "Opt Digits": _no_split,
            "Pen Digits": pen_digits,
            "Image Seg": _no_split,
            "Vowel": vowel,
        },
        methods=table_1_methods,
        published=PUBLISHED_1,
        test=None,
        note="k by 10 folds, in the paper by 100 random splits 9:1. SVM-KNN and the GMM are not run.",
        large={"Pen Digits": "it has 10992 samples: name it in datasets to run it all the same"},
    ),
    PaperTable(
        name="fusion2009-table2",
        reference=f"{_REFERENCE}, Table 2",
        protocol=PROTOCOL,
        datasets={
            "Amazon": from_repository("amazon"),
            "Aural Sonar": from_repository("aural sonar", "sonar"),
            "Patrol": from_repository("patrol"),
            "Protein": from_repository("protein"),
            "Voting": voting,
            "Internet Ads": _internet_ads,
        },
        methods=table_2_methods,
        published=PUBLISHED_2,
        note="The partitions are not the paper's. It has no standard deviations: differences are in ours.",
    ),
]
