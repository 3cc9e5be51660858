"""The types that users' type checkers see. mypy checks this file with the package (see ``files`` in pyproject.toml)."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, assert_type

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.model_selection import StratifiedKFold

from similitude import (
    SDA,
    AutoClassifier,
    DBoostClassifier,
    FusedClassifier,
    KNNClassifier,
    LocalBDA,
    PathSearchCV,
    PredictionSets,
    Proximities,
    SimilarityGroupKFold,
    SimilaritySVC,
    SpectrumModifier,
    check_similarity,
    diagnose,
    load_model,
    save_model,
    to_similarity,
    train_test_split,
)
from similitude.auto import Leaderboard, Votes
from similitude.datasets import load_promoters
from similitude.diagnosis import Diagnosis
from similitude.finders.stream import StreamSearch
from similitude.similarities import Levenshtein, batch, cosine, pairwise

S = np.kron(np.eye(2), np.ones((6, 6))) + np.eye(12)
y = ["a"] * 6 + ["b"] * 6


def test_all_kinds_of_matrices_and_labels_are_accepted() -> None:
    names = list("abcdefghijkl")
    knn = KNNClassifier(1, costs={"a": {"a": 0, "b": 1}, "b": {"a": 2, "b": 0}}, priors=[0.5, 0.5])
    knn.fit(S, y).fit(S.astype(np.float32), np.array(y)).fit(S.tolist(), tuple(y)).fit(S.astype(int).tolist(), y)
    knn.fit(pd.DataFrame(S, names, names), dict(zip(names, y))).fit(pd.DataFrame(S), pd.Series(y))
    knn.fit(sparse.csr_matrix(S), y).fit(sparse.coo_array(S), y).fit(nx.Graph(nx.from_numpy_array(S)), y)
    knn.fit(Proximities(S, ids=names, absent="unknown", fill="farthest"), y)
    FusedClassifier([("sda", SDA()), ("bda", LocalBDA())]).fit(Proximities(S, features=S), y)


def test_all_kinds_of_similarities_are_accepted() -> None:
    def shared_letters(a: str, b: str) -> int:
        return len(set(a) & set(b))

    words, labels = ["tree", "house"], [0, 1]
    inner = batch(lambda A, B: np.asarray(A) @ np.asarray(B).T)
    KNNClassifier(1, similarity="counting").fit(np.array([["x", "y"], ["x", "z"]]), labels)
    KNNClassifier(1, similarity=shared_letters, search="stream").fit(words, labels).partial_fit(["mouse"], [1])
    KNNClassifier(1, similarity=Levenshtein(), dissimilarity="reciprocal", search=StreamSearch()).fit(words, labels)
    SimilaritySVC(similarity=inner).fit([[1.0, 0.0], [0.0, 1.0]], labels)
    AutoClassifier(["k-NN"], cv=SimilarityGroupKFold(2), similarity={"edit": "levenshtein", "own": shared_letters})


def test_the_results_of_estimators() -> None:
    knn = assert_type(KNNClassifier(3).fit(S, y), KNNClassifier)
    assert_type(knn.predict(S), np.ndarray)
    assert_type(knn.predict_proba(S), np.ndarray)
    assert_type(knn.kneighbors(S), tuple[np.ndarray, np.ndarray])
    svc = assert_type(SimilaritySVC(C=10, spectrum="flip").fit(S, y, sample_weight=np.ones(12)), SimilaritySVC)
    assert_type(svc.decision_function(S), np.ndarray)
    boosted = assert_type(DBoostClassifier(10, n_pairs="all").fit(S, y), DBoostClassifier)
    assert_type(boosted.staged_predict(S), Iterator[np.ndarray])
    assert_type(SpectrumModifier("clip").fit(S), SpectrumModifier)
    assert_type(PathSearchCV(KNNClassifier(), {"n_neighbors": [1, 3]}, cv=3).fit(S, y), PathSearchCV)
    assert_type(PredictionSets(KNNClassifier(), 0.7, cv=3).fit(S, y).predict_set(S), np.ndarray)
    auto = AutoClassifier(["k-NN", "nearest centroid"], cv=StratifiedKFold(3), n_repeats=1).fit(S, y)
    assert_type(assert_type(auto, AutoClassifier).predict(S), np.ndarray)
    assert_type(auto.explain(S[:1]), Votes)
    assert_type(auto.leaderboard_, Leaderboard)


def test_the_results_of_functions(tmp_path: Path) -> None:
    assert_type(Proximities(S)[:2], Proximities)
    assert_type(diagnose(S, y), Diagnosis)
    assert_type(to_similarity([[0, 1], [1, 0]], "gauss", scale=2), np.ndarray)
    assert_type(pairwise(["tree", "house"], similarity="levenshtein"), np.ndarray)
    assert_type(cosine([[1.0, 2.0]], S[:, :2]), np.ndarray)
    assert_type(load_promoters(return_X_y=True), tuple[list[str], np.ndarray])
    assert check_similarity(S).shape == (12, 12)
    assert len(train_test_split(S, y, stratify=y, random_state=0)) == 4
    save_model(tmp_path / "model.sim", KNNClassifier(1).fit(S, y))
    assert_type(load_model(tmp_path / "model.sim", return_info=True), tuple[Any, dict[str, Any]])


def test_mistakes_are_found() -> None:
    with pytest.raises(ValueError, match="weights must be"):
        KNNClassifier(weights="unifrom").fit(S, y)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="n_neighbours"):
        KNNClassifier(n_neighbours=3)  # type: ignore[call-arg]
    with pytest.raises(ValueError, match="absent must be"):
        Proximities(S, absent="unknwon")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="not a matrix of numbers"):
        check_similarity("matrix.csv")  # type: ignore[arg-type]
