"""AutoClassifier on raw objects of which only some pairs are compared."""

import numpy as np
import pytest
from sklearn.base import clone

from similitude import AutoClassifier, load_model, save_model
from similitude.auto import comparing
from similitude.finders import PairBudget
from similitude.similarities import VDM

METHODS = ["k-NN", "KRI k-NN", "SVM (clip)", "RFD (features)", "RQD (features)"]


def words(n, seed=0):
    """Noisy copies of six words, and the number of the word."""
    rng = np.random.default_rng(seed)
    letters = np.random.default_rng(1).integers(0, 4, (6, 14))
    y = np.arange(n) % 6
    copies = np.where(rng.random((n, 14)) < 0.45, rng.integers(0, 4, (n, 14)), letters[y])
    return ["".join("abcd"[c] for c in row) for row in copies], y


@pytest.fixture(scope="module")
def fitted():
    X, y = words(300)
    auto = AutoClassifier(METHODS, n_repeats=1, pair_budget=6000, similarity="levenshtein")
    return auto.fit(X, y)


def test_a_seventh_of_the_pairs_is_enough_here(fitted):
    X, y = words(300)
    new, truth = words(150, seed=2)
    full = AutoClassifier(METHODS, n_repeats=1, similarity="levenshtein").fit(X, y)
    assert fitted.score(new, truth) > full.score(new, truth) - 0.07
    assert fitted.score(new, truth) > 0.8
    report = fitted.pair_report_
    assert report.n_pairs <= 6000 < report.possible == 300 * 299 // 2
    assert "6,000 of 6,000 pairs evaluated, 13.4% of all" in str(report)
    names = {row.method for row in fitted.leaderboard_}
    assert {"k-NN", "KRI k-NN", "RFD (features)"} <= names
    # Methods that need the whole matrix, or choose prototypes in it, are left out.
    assert not names & {"SVM (clip)", "RQD (features)"}
    assert not fitted.failures_


def test_a_model_file_compares_new_objects_in_the_same_way(fitted, tmp_path):
    new, _ = words(20, seed=3)
    save_model(tmp_path / "m.model", fitted)
    loaded = load_model(tmp_path / "m.model")
    assert np.array_equal(loaded.predict_proba(new), fitted.predict_proba(new))
    assert loaded.predict_set(new).shape == (20, 6)
    assert np.isfinite(loaded.familiarity(new)).all()
    assert fitted.explain(new[:1]).prediction == fitted.predict(new[:1])[0]
    assert fitted.best_estimator_.objects_ == words(300)[0]


def test_folds_in_processes_and_an_outer_loop_change_no_answer(fitted):
    X, y = words(300)
    new, _ = words(20, seed=3)
    other = clone(fitted).set_params(n_jobs=2, nested_cv=2, methods=["k-NN", "RFD (features)"]).fit(X, y)
    here = clone(fitted).set_params(methods=["k-NN", "RFD (features)"]).fit(X, y)
    assert np.array_equal(other.predict_proba(new), here.predict_proba(new))
    assert 0 < other.nested_error_ < 0.4


def test_many_objects_are_never_compared_all(monkeypatch):
    X, y = words(240)
    monkeypatch.setattr(comparing, "LARGEST_MATRIX", 200)
    monkeypatch.setattr(comparing, "MANY", 200)
    auto = AutoClassifier("all", n_repeats=1, similarity="levenshtein", diagnose=False).fit(X, y)
    assert auto.pair_report_.n_landmarks < 100
    assert {row.method for row in auto.leaderboard_} - {"combination"} <= set(comparing.FOR_MANY)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"similarity": "precomputed"}, "but X holds similarities that are known already"),
        ({"similarity": {"a": "levenshtein", "b": "lcs"}}, "but there are several similarities"),
        ({"similarity": VDM()}, "but the similarity learns from the training part of each fold"),
        ({"pair_budget": 10}, "pair_budget=10: at least 4 evaluations for each of the 60 objects are needed, 240"),
        ({"pair_budget": -5}, "pair_budget must be a number of pairs"),
        ({"methods": ["SVM (clip)"]}, "methods that vote among neighbours or use columns are needed"),
        ({"pair_budget": PairBudget(500, shortlist=VDM())}, "shortlist must be a similarity that does not learn"),
    ],
)
def test_what_cannot_be_compared(options, message):
    X, y = words(60)
    if options.get("similarity") == "precomputed":
        X = np.eye(60)
    with pytest.raises(ValueError, match=message):
        AutoClassifier(**{"similarity": "levenshtein", "pair_budget": 1000, **options}).fit(X, y)
