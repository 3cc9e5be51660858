"""Label spreading: against dense matrices and scikit-learn, its path, sparse input, and missing labels."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.semi_supervised import LabelSpreading

from similitude import GraphClassifier, PathSearchCV, Proximities, load_model, save_model
from similitude.neighbors._spreading import spread
from tests.reference import spreading as reference

RNG = np.random.default_rng(0)
N, CLASSES = 60, 3
TRUTH = np.arange(N) % CLASSES
POINTS = RNG.normal(size=(N, 2)) + 2.5 * np.column_stack([TRUTH == 1, TRUTH == 2])
S = np.exp(-np.round(((POINTS[:, None] - POINTS) ** 2).sum(axis=2), 1))
ROWS = np.exp(-np.round((((POINTS[:9] + 0.3)[:, None] - POINTS) ** 2).sum(axis=2), 1))
LABELLED = np.sort(RNG.permutation(N)[:12])
Y = np.full(N, -1)
Y[LABELLED] = TRUTH[LABELLED]


@pytest.mark.parametrize("weights", ["uniform", "affinity"])
@pytest.mark.parametrize("k", [2, 7])
def test_dense_matrices_and_loops(k, weights):
    for alpha in (0.3, 0.99):
        model = GraphClassifier(k, alpha, weights, unlabelled="use").fit(S, Y)
        expected = reference.posteriors(S, LABELLED, TRUTH[LABELLED], ROWS, k, alpha, weights, CLASSES)
        assert np.allclose(model.predict_proba(ROWS), expected, atol=1e-8)
        assert np.array_equal(model.predict(ROWS), np.argmax(model.predict_proba(ROWS), axis=1))


def test_scikit_learn():
    """The labels that spread to the samples of a graph are those of scikit-learn's class on the same graph."""
    W = reference.graph(S, 5, "affinity")
    theirs = LabelSpreading(kernel=lambda a, b: W, alpha=0.8, max_iter=3000, tol=1e-12).fit(POINTS, Y)
    root = np.sqrt(W.sum(axis=1))
    Y1 = (Y[:, None] == np.arange(CLASSES)).astype(float)
    (F,) = spread(sparse.csr_matrix(W / root[:, None] / root), Y1, [0.8])
    assert np.allclose(F / F.sum(axis=1, keepdims=True), theirs.label_distributions_, atol=1e-6)


def test_all_alphas_are_solved_at_once():
    W = reference.graph(S, 4, "uniform")
    root = np.sqrt(W.sum(axis=1))
    P, right = W / root[:, None] / root, RNG.random((N, 5))
    right[:, 2] = 0
    alphas = [0.1, 0.999, 0.6, 0.9]
    for alpha, F in zip(alphas, spread(sparse.csr_matrix(P), right, alphas)):
        assert np.allclose(F, np.linalg.solve(np.eye(N) - alpha * P, right), rtol=1e-7)


def test_a_path_is_its_points():
    grid = {"n_neighbors": [3, 100], "alpha": [0.5, 0.95], "weights": ["uniform", "affinity"]}
    folds = [(np.arange(0, N, 2), np.arange(1, N, 2))]
    search = PathSearchCV(GraphClassifier(), grid, cv=folds, refit=False).fit(S, TRUTH)
    for point, score in zip(search.cv_results_["params"], search.cv_results_["mean_test_score"]):
        (train, test), *_ = folds
        alone = GraphClassifier(**point).fit(S[np.ix_(train, train)], TRUTH[train])
        assert score == alone.score(S[np.ix_(test, train)], TRUTH[test])


def test_neither_order_nor_form_nor_unit_changes_an_answer():
    hits = np.where(S > 0.05, S, 0.0)
    rows = np.where(ROWS > 0.05, ROWS, 0.0)
    rows[0] = 0  # nothing is known of this sample
    expected = GraphClassifier(6, unlabelled="use").fit(hits, Y).predict_proba(rows)
    assert np.allclose(expected[0], np.bincount(TRUTH[LABELLED]) / 12)
    order = RNG.permutation(N)
    for matrix, y, new in (
        (sparse.csr_matrix(hits), Y, sparse.csr_matrix(rows)),
        (hits[np.ix_(order, order)], Y[order], rows[:, order]),
        (1000 * hits, Y, 1000 * rows),
    ):
        found = GraphClassifier(6, unlabelled="use").fit(matrix, y).predict_proba(new)
        assert np.allclose(found, expected, atol=1e-8)


def test_missing_labels_and_files(tmp_path):
    words = np.array(["zero", "one", "two"])
    text = [words[g] if g >= 0 else missing for g, missing in zip(Y, ["", None] * N)]
    model = GraphClassifier(unlabelled="use").fit(S, text)
    assert model.classes_.tolist() == ["one", "two", "zero"]
    numbers = GraphClassifier(unlabelled="use").fit(S, Y)
    assert np.array_equal(model.predict(ROWS), words[numbers.predict(ROWS)])
    named = Proximities(S, ids=[f"s{i}" for i in range(N)])
    by_id = {f"s{i}": int(Y[i]) for i in reversed(range(N))}
    assert np.array_equal(GraphClassifier(unlabelled="use").fit(named, by_id)._path.masses[0], numbers._path.masses[0])
    save_model(tmp_path / "m.model", model)
    assert np.array_equal(load_model(tmp_path / "m.model").predict_proba(ROWS), model.predict_proba(ROWS))


def test_without_unlabelled_minus_one_is_a_class():
    signs = np.where(TRUTH == 0, -1, 1)
    assert GraphClassifier().fit(S, signs).classes_.tolist() == [-1, 1]
    with pytest.raises(ValueError, match="y contains a missing label"):
        GraphClassifier().fit(S, ["a", None] * (N // 2))


def test_errors():
    with pytest.raises(ValueError, match=r"unlabelled must be one of \(None, 'use'\); got 'ignore'"):
        GraphClassifier(unlabelled="ignore").fit(S, Y)
    with pytest.raises(ValueError, match="y: no sample has a label"):
        GraphClassifier(unlabelled="use").fit(S, np.full(N, -1))
    with pytest.raises(ValueError, match=r"one label, or a missing one, per sample; got shape \(59,\) for 60 samples"):
        GraphClassifier(unlabelled="use").fit(S, Y[1:])
    with pytest.raises(ValueError, match=r"alpha must be a number in \(0, 1\); got 1"):
        GraphClassifier(alpha=1).fit(S, TRUTH)
    with pytest.raises(ValueError, match="needs similarities as a matrix"):
        GraphClassifier(unlabelled="use", similarity="levenshtein").fit(["a", "b"], ["x", ""])
