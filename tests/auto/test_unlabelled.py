"""Samples without a label in ``AutoClassifier``: who uses them, on which folds, and what is written."""

import numpy as np
import pytest
from scipy import sparse

from similitude import (
    AutoClassifier,
    IndefiniteNystroem,
    LPMachine,
    Proximities,
    PseudoEuclideanEmbedding,
    SimilaritySVC,
    load_model,
    save_model,
)
from similitude.auto.methods import methods
from similitude.auto.reading import read_samples
from similitude.base import uses_unlabelled
from similitude.evaluation.engine import Fold, evaluate_fold, predictions, reading_part

RNG = np.random.default_rng(0)
N = 90
TRUTH = np.arange(N) % 3
POINTS = RNG.normal(size=(N, 3)) + 2 * np.column_stack([TRUTH == 1, TRUTH == 2, TRUTH == 0])
D = np.abs(POINTS[:, None] - POINTS).sum(axis=2)
S = np.exp(-D)
NEW = np.exp(-np.abs((POINTS[:20] + 0.2)[:, None] - POINTS).sum(axis=2))
LABELLED = np.sort(RNG.permutation(N)[:30])
Y = np.full(N, -1)
Y[LABELLED] = TRUTH[LABELLED]
SOME = ["k-NN", "label spreading", "linear SVM (features)", "P-SVM", "Fisher (embedded)", "SVM (flip)"]


def test_methods_that_ignore_them_are_those_of_the_labelled_samples():
    """Alone, a method that does not use them predicts as if they were not there."""
    small = S[np.ix_(LABELLED, LABELLED)]
    for name, (estimator, _) in methods(["k-NN", "local SDA", "kernel ridge (clip)", "DBoost"]).items():
        assert not uses_unlabelled(reading_part(estimator)[0])
        plain = AutoClassifier([name], n_repeats=1, diagnose=False).fit(small, Y[LABELLED])
        found = AutoClassifier([name], n_repeats=1, diagnose=False, unlabelled="use").fit(S, Y)
        assert np.allclose(found.out_of_fold_.proba, plain.out_of_fold_.proba)
        assert np.allclose(found.predict_proba(NEW), plain.predict_proba(NEW[:, LABELLED]))
        assert np.allclose(found.typicality(NEW), plain.typicality(NEW[:, LABELLED]))


@pytest.mark.parametrize("name", SOME[1:])
def test_the_others_use_them_in_each_fold_and_no_test_sample(name):
    """The answers for a fold do not depend on values of its test samples but those to the training samples."""
    samples = read_samples(S, Y, unlabelled="use")
    train, test = np.arange(20), np.arange(20, 30)
    estimator, grid = methods([name])[name]
    assert uses_unlabelled(reading_part(estimator)[0])
    point = [{key: values[0] for key, values in grid.items()}]
    found = evaluate_fold(samples, {name: (estimator, point)}, (train, test), predictions)[name].results[0]
    changed, hidden = S.copy(), np.ix_(LABELLED[test], LABELLED[test])
    changed[hidden] = RNG.random(changed[hidden].shape)
    other = read_samples((changed + changed.T) / 2, Y, unlabelled="use")
    again = evaluate_fold(other, {name: (estimator, point)}, (train, test), predictions)[name].results[0]
    assert np.array_equal(found, again)
    training, (rows,) = Fold(samples, train, test).given_to(estimator)
    assert len(training.everything) == 80  # 20 labelled ones and 60 without a label
    assert rows.everything.parts["S"].S.shape == (10, 80)
    assert np.array_equal(
        training.everything.parts["S"].S[training.labelled][:, training.labelled], training.parts["S"].S
    )


def test_columns_of_samples_without_a_label_are_features():
    """A linear method on all columns is that on the rows of the labelled samples to fixed prototypes."""
    found = AutoClassifier(["LP machine"], n_repeats=1, diagnose=False, unlabelled="use").fit(S, Y)
    own = found.best_estimator_.members_[0].estimator
    fixed = LPMachine(own.C, similarity="columns").fit(S[LABELLED], Y[LABELLED])
    assert np.allclose(own.decision_function(NEW), fixed.decision_function(NEW), atol=1e-7)
    assert own.coef_.shape[1] == N


def test_the_spectrum_is_that_of_all_samples():
    """A machine is that of samples of weight 0, which contribute to the spectrum only."""
    indefinite = 8 - D**1.3
    found = AutoClassifier(["SVM (clip)"], n_repeats=1, diagnose=False, unlabelled="use").fit(indefinite, Y)
    own = found.best_estimator_.members_[0].estimator
    weights = (Y >= 0).astype(float)
    whole = SimilaritySVC(own.C).fit(indefinite, np.where(Y >= 0, Y, 0), sample_weight=weights)
    assert np.allclose(own.decision_function(indefinite[:5]), whole.decision_function(indefinite[:5]), atol=1e-6)


def test_landmarks_are_chosen_among_all_samples():
    """The features of the labelled samples are their rows in those of all samples."""
    samples = read_samples(S, Y, unlabelled="use")
    for make in (lambda: IndefiniteNystroem(20, random_state=0), lambda: PseudoEuclideanEmbedding(5)):
        features = make().fit_transform(samples.whole(), samples.y)
        whole = make().fit(S)
        assert np.allclose(features, whole.transform(S)[LABELLED])
    assert np.any(~np.isin(IndefiniteNystroem(20, random_state=0).fit(samples.whole()).landmarks_, LABELLED))


@pytest.mark.parametrize("form", ["dense", "sparse", "dissimilarity", "ids", "several"])
def test_search_model_file_and_prediction(form, tmp_path):
    contract, X, rows, y = {}, S, NEW, Y
    if form == "sparse":
        X, rows = (sparse.csr_matrix(np.where(each > 0.05, each, 0.0)) for each in (S, NEW))
    elif form == "dissimilarity":
        contract, X, rows = {"dissimilarity": "gauss"}, D, -np.log(NEW)
    elif form == "ids":
        names = np.array([f"s{i}" for i in range(N)])
        order = RNG.permutation(N)
        X, rows = Proximities(S, ids=names), Proximities(NEW[:, order], column_ids=names[order])
        y = {f"s{i}": int(Y[i]) for i in reversed(range(N))}
    elif form == "several":
        X, rows = {"a": S, "b": S**2}, {"a": NEW, "b": NEW**2}
    auto = AutoClassifier(SOME, n_repeats=1, diagnose=False, unlabelled="use", **contract).fit(X, y)
    assert auto.failures_ == {}
    left_out = auto.out_of_fold_
    assert np.array_equal(left_out.samples, LABELLED)
    assert np.mean(left_out.labels == Y[left_out.samples]) > 0.6
    assert auto.best_estimator_.n_features_in_ == N
    assert np.mean(auto.predict(rows) == TRUTH[:20]) > 0.6
    report = auto.unlabelled_
    assert (report.n_labelled, report.n_unlabelled) == (30, 60)
    assert str(report).startswith("60 samples without a label are used beside 30 with one: ")
    save_model(tmp_path / "m.model", auto.best_estimator_)
    loaded = load_model(tmp_path / "m.model")
    assert np.array_equal(loaded.predict_proba(rows), auto.predict_proba(rows))
    with pytest.raises(ValueError, match="X has 30 features, but"):
        auto.predict({"a": NEW[:, :30], "b": NEW[:, :30]} if form == "several" else NEW[:, :30])


def test_a_row_that_is_similar_to_samples_without_a_label_alone_gives_evidence():
    hits = sparse.csr_matrix(np.where(S > 0.08, S, 0.0))
    auto = AutoClassifier(["k-NN", "label spreading"], n_repeats=1, diagnose=False, unlabelled="use").fit(hits, Y)
    row = np.zeros((2, N))
    other = np.setdiff1d(np.arange(N), LABELLED)
    row[0, other[:3]] = 0.5
    found = auto.best_estimator_._set_posteriors(sparse.csr_matrix(row))[1]
    assert found.tolist() == [True, False]


def test_nothing_changes_by_default():
    signs = np.where(TRUTH == 0, -1, 1)
    auto = AutoClassifier(["k-NN"], n_repeats=1, diagnose=False).fit(S, signs)
    assert auto.classes_.tolist() == [-1, 1]
    assert auto.unlabelled_ is None
    assert "label spreading" not in methods()
    assert "label spreading" in methods(unlabelled=True)
    complete = AutoClassifier(["k-NN"], n_repeats=1, diagnose=False, unlabelled="use").fit(S, TRUTH)
    assert complete.unlabelled_.n_unlabelled == 0


def test_groups_nested_folds_and_errors():
    groups = np.arange(N) // 2
    auto = AutoClassifier(["k-NN", "label spreading"], n_repeats=1, diagnose=False, nested_cv=2, unlabelled="use")
    assert 0 <= auto.fit(S, Y, groups=groups).nested_error_ < 0.5
    with pytest.raises(ValueError, match=r"unlabelled must be one of \(None, 'use'\); got 'ignore'"):
        AutoClassifier(unlabelled="ignore").fit(S, Y)
    with pytest.raises(ValueError, match="needs similarities as a matrix"):
        AutoClassifier(unlabelled="use", similarity="levenshtein").fit(["a", "b", "c"], ["x", "", "y"])
    with pytest.raises(ValueError, match="y contains a missing label"):
        AutoClassifier().fit(S, [None, "a", "b"] * 30)
