"""Several labels of each sample: probabilities, trees, targets that were not measured, and figures."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.metrics import roc_auc_score

from similitude import LabelTree, MultilabelClassifier, load_model, save_model
from similitude.multilabel.figures import fmax, mean_auc
from tests.multilabel.trees import similarity

FEW = ["k-NN", "affinity k-NN", "kernel ridge (clip)"]


def _samples(n, seed):
    """Return similarities, and three labels that overlap, the second below the first."""
    rng = np.random.RandomState(seed)
    X = rng.randn(n, 2)
    noise = rng.randn(n, 3) * 0.3
    first, third = X[:, 0] + noise[:, 0] > 0, X[:, 1] + noise[:, 1] > 0.7
    return X, np.stack([first, first & (X[:, 1] + noise[:, 2] > 0), third], axis=1).astype(int)


@pytest.fixture(scope="module")
def fitted():
    X, Y = _samples(600, 0)
    return MultilabelClassifier(methods=FEW).fit(similarity(X, X), Y), X, Y


def test_probabilities_are_as_often_right_as_they_say(fitted):
    model, X, _ = fitted
    new, truth = _samples(1500, 1)
    P = model.predict_proba(similarity(new, X))
    assert P.shape == truth.shape
    for low, high in ((0.0, 0.2), (0.2, 0.5), (0.5, 0.8), (0.8, 1.0)):
        own = (low <= P) & (high > P)
        assert abs(truth[own].mean() - P[own].mean()) < 0.06
    for label in range(3):
        assert roc_auc_score(truth[:, label], P[:, label]) > 0.9
    assert np.array_equal(model.predict(similarity(new, X)), (P >= 0.5).astype(int))
    assert abs(model.figures_.mean_auc - np.mean([roc_auc_score(truth[:, j], P[:, j]) for j in range(3)])) < 0.03


def test_sets_sparse_and_dense_labels_are_the_same(fitted):
    model, X, Y = fitted
    S, expected = similarity(X, X), model.out_of_fold_.toarray()
    for y in (sparse.csr_array(Y), [set(np.flatnonzero(row).tolist()) for row in Y], Y.astype(bool)):
        other = MultilabelClassifier(methods=FEW).fit(S, y)
        assert np.allclose(other.out_of_fold_.toarray(), expected, atol=1e-6)
        assert other.classes_.tolist() == [0, 1, 2]
    scaled = MultilabelClassifier(methods=FEW).fit(1000 * S, Y)
    assert np.allclose(scaled.out_of_fold_.toarray(), expected, atol=1e-4)


def test_with_a_tree_a_parent_is_at_least_as_probable_as_its_child():
    X, Y = _samples(200, 2)
    names = np.array(["a", "a.b", "c.d"])
    y = [names[row > 0].tolist() for row in Y]
    y = [[label for label in row if label != "a" or "a.b" not in row] for row in y]  # ancestors are implied
    tree = LabelTree.from_lineages(names, ".")
    model = MultilabelClassifier(tree, methods=FEW).fit(similarity(X, X), y)
    assert model.classes_.tolist() == ["a", "c", "a.b", "c.d"]
    new, _ = _samples(200, 3)
    P = model.predict_proba(similarity(new, X))
    assert np.all(P[:, 0] >= P[:, 2])
    assert np.all(P[:, 1] >= P[:, 3])


def test_targets_are_trained_and_judged_on_what_was_measured():
    X, Y = _samples(300, 4)
    rng = np.random.RandomState(0)
    measured = rng.rand(*Y.shape) < 0.6
    y = np.where(measured, Y, np.nan)
    # What is not measured must not matter: here it would be wrong.
    model = MultilabelClassifier(methods=FEW).fit(similarity(X, X), y)
    new, truth = _samples(1000, 5)
    P = model.predict_proba(similarity(new, X))
    assert np.allclose(P.mean(axis=0), truth.mean(axis=0), atol=0.05)
    assert min(roc_auc_score(truth[:, label], P[:, label]) for label in range(3)) > 0.9
    assert np.all(measured[model.out_of_fold_.nonzero()])


def test_rows_without_evidence_have_the_shares_of_such_samples(fitted):
    _, X, Y = fitted
    S = similarity(X, X)
    S[:60], S[:, :60] = 0.0, 0.0
    S[np.arange(60), np.arange(60)] = 1.0
    Y = Y.copy()
    Y[:60] = [[0, 0, 1]]
    model = MultilabelClassifier(methods=FEW).fit(S, Y)
    assert np.allclose(model.predict_proba(np.zeros((1, 600)))[0], [0, 0, 1], atol=0.05)


@pytest.mark.parametrize("combine", ["overall", "label"])
def test_a_model_file_holds_all_of_it(combine, tmp_path, fitted):
    _, X, Y = fitted
    model = MultilabelClassifier(methods=FEW, combine=combine).fit(similarity(X, X), Y)
    new, _ = _samples(20, 6)
    save_model(tmp_path / "labels.model", model)
    loaded = load_model(tmp_path / "labels.model")
    assert np.array_equal(loaded.predict_proba(similarity(new, X)), model.predict_proba(similarity(new, X)))
    assert repr(loaded.figures_) == repr(model.figures_)


def test_fmax_and_area_are_those_of_their_definitions():
    rng = np.random.RandomState(0)
    Y = (rng.rand(50, 6) < 0.3).astype(float)
    P = np.round(np.clip(0.5 * Y + 0.5 * rng.rand(50, 6), 0, 1), 2)
    best = 0.0
    for threshold in np.arange(1, 101) / 100:
        predicted = threshold - 1e-9 <= P
        some, labelled = predicted.any(axis=1), Y.any(axis=1)
        if some.any():
            precision = np.mean([Y[i, predicted[i]].mean() for i in np.flatnonzero(some)])
            recall = np.mean([predicted[i, Y[i] > 0].mean() for i in np.flatnonzero(labelled)])
            best = max(best, 2 * precision * recall / max(precision + recall, 1e-12))
    assert np.isclose(fmax(sparse.csr_matrix(P), sparse.csr_matrix(Y))[0], best)
    area = np.mean([roc_auc_score(Y[:, j], P[:, j]) for j in range(6)])
    assert np.isclose(mean_auc(sparse.csr_matrix(P), sparse.csr_matrix(Y), None), area)
