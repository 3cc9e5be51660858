"""Similarities as features: which prototypes, which numbers, and how they go through scikit-learn."""

import pickle
from unittest.mock import patch

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.metrics.pairwise import euclidean_distances
from sklearn.model_selection import GridSearchCV, cross_val_predict, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC

from similitude import KNNClassifier, PathSearchCV, Proximities, SimilarityWarning, to_similarity
from similitude.numerics import medoids
from similitude.numerics.medoids import k_centres, k_medoids
from similitude.transform import similarity_features as choosing
from similitude.transform.similarity_features import SimilarityFeatures
from tests.reference import prototypes as reference

SETTINGS = [
    SimilarityFeatures(),
    SimilarityFeatures(normalize="range"),
    SimilarityFeatures(normalize="exp", scale=2.0),
    SimilarityFeatures(0.4, random_state=0),
    SimilarityFeatures(7, "stratified", random_state=0),
    SimilarityFeatures(0.3, "kmedoids"),
    SimilarityFeatures(6, "kcentres", "range"),
    SimilarityFeatures(5, "forward", "exp"),
    SimilarityFeatures(selection="forward"),
]


def _name(estimator):
    return str(estimator).replace("\n", "").replace(" ", "")


def _points(n=30, m=8, classes=3, seed=0):
    """Distances among n training samples and of m new ones to them, and the classes."""
    rng = np.random.default_rng(seed)
    y = np.arange(n + m) % classes
    X = rng.normal(size=(n + m, 2)) + 3 * np.eye(classes, 2)[y]
    D = euclidean_distances(X)
    return D[:n, :n], D[n:, :n], y[:n]


# Which prototypes


@pytest.mark.parametrize(
    ("n_prototypes", "count"), [(None, 30), (1, 1), (7, 7), (100, 30), (1.0, 30), (0.5, 15), (0.01, 1), (0.29, 9)]
)
def test_counts_and_shares(n_prototypes, count):
    D, rows, y = _points()
    fitted = SimilarityFeatures(n_prototypes, random_state=0).fit(-D, y)
    assert fitted.n_prototypes_ == len(set(fitted.prototypes_)) == count
    np.testing.assert_array_equal(fitted.prototypes_, fitted.support_columns_)
    np.testing.assert_array_equal(fitted.transform(-rows), -rows[:, fitted.prototypes_])


@pytest.mark.parametrize("n_prototypes", [0, -1, 0.0, 1.5, True, "all", np.nan])
def test_bad_counts_are_refused(n_prototypes):
    with pytest.raises(ValueError, match="n_prototypes must be None, a count of at least 1, or a share"):
        SimilarityFeatures(n_prototypes).fit(np.eye(4))


def test_random_sets_are_equally_likely():
    S = np.eye(5)
    draws = [tuple(SimilarityFeatures(2, random_state=seed).fit(S).prototypes_) for seed in range(400)]
    counts = np.array([draws.count(pair) for pair in set(draws)])
    assert len(counts) == 10
    # Ten sets, 400 draws: the 0.999 quantile of chi-squared with 9 degrees of freedom.
    assert np.sum((counts - 40) ** 2 / 40) < 27.9
    assert draws[:5] == [tuple(SimilarityFeatures(2, random_state=seed).fit(S).prototypes_) for seed in range(5)]


@settings(max_examples=40)
@given(st.lists(st.integers(1, 40), min_size=1, max_size=8), st.integers(1, 60))
def test_every_class_gets_its_share(sizes, p):
    sizes = np.array(sizes)
    counts = medoids.per_class(sizes, p)
    expected = min(max(p, len(sizes)), sizes.sum())
    assert counts.sum() == expected
    assert np.all((counts >= 1) & (counts <= sizes))
    exact = expected * sizes / sizes.sum()
    # Only classes that would have none get more than their share, at the cost of the others.
    assert np.all(counts <= np.maximum(1, np.ceil(exact)))
    if np.all(exact >= 1):
        assert np.all(counts >= np.floor(exact))


@pytest.mark.parametrize(
    ("sizes", "p", "counts"),
    [
        ([20, 8, 2], 15, [10, 4, 1]),
        ([5, 5], 3, [2, 1]),
        ([3, 7], 5, [2, 3]),
        ([10, 1, 1], 3, [1, 1, 1]),
        ([40, 1, 1, 1], 5, [2, 1, 1, 1]),
        ([30, 20, 1, 1], 6, [2, 2, 1, 1]),
    ],
)
def test_shares_by_hand(sizes, p, counts):
    assert medoids.per_class(np.array(sizes), p).tolist() == counts


def test_stratified_takes_each_class_in_proportion():
    y = np.repeat(["a", "b", "c"], [20, 8, 2])
    fitted = SimilarityFeatures(0.5, "stratified", random_state=0).fit(np.eye(30), y)
    assert [np.sum(y[fitted.prototypes_] == c) for c in "abc"] == [10, 4, 1]
    many = SimilarityFeatures(2, "stratified", random_state=0).fit(np.eye(30), np.arange(30) % 10)
    assert many.n_prototypes_ == 10  # one of each class


@pytest.mark.parametrize(("selection", "function"), [("kmedoids", k_medoids), ("kcentres", k_centres)])
def test_medoids_and_centres_within_classes(selection, function):
    D, _, _ = _points()
    y = np.repeat([0, 1, 2], [15, 9, 6])
    fitted = SimilarityFeatures(10, selection).fit(-D, y)
    blocks = [np.flatnonzero(y == g) for g in range(3)]
    expected = [members[function(-D[np.ix_(members, members)], count)[0]] for members, count in zip(blocks, (5, 3, 2))]
    np.testing.assert_array_equal(fitted.prototypes_, np.sort(np.concatenate(expected)))
    without = SimilarityFeatures(10, selection).fit(-D)
    np.testing.assert_array_equal(without.prototypes_, function(-D, 10)[0])


@st.composite
def labelled(draw):
    n = draw(st.integers(1, 11))
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    y = rng.integers(0, draw(st.integers(1, 4)), n)
    kind = draw(
        st.sampled_from(["distances", "duplicates", "ties", "asymmetric", "constant", "huge", "tiny", "float32"])
    )
    X = rng.normal(size=(n, 2))
    if kind == "duplicates":
        X = X[rng.integers(0, max(1, n // 2), n)]
    if kind in ("distances", "duplicates"):
        S = 1 - euclidean_distances(X)
    elif kind == "ties":
        S = rng.integers(-1, 2, (n, n)).astype(float)
    elif kind == "constant":
        S = np.full((n, n), 0.1)
    else:
        S = rng.normal(size=(n, n)) * {"huge": 1e307, "tiny": 1e-300}.get(kind, 1.0)
    return S.astype(np.float32) if kind == "float32" else S, y, draw(st.integers(1, n))


@given(labelled())
def test_forward_is_the_slow_greedy_search(problem):
    S, y, p = problem
    positions, errors = choosing.forward_selection(S, y, p)
    expected, expected_errors = reference.forward(S, y, p)
    assert positions.tolist() == expected
    np.testing.assert_allclose(errors, expected_errors, rtol=1e-15)


def test_forward_does_not_see_rounding():
    # The totals 0.3 + 0.2 + 0.1 and 0.1 + 0.2 + 0.3 differ in their last digit.
    S = np.array([[9, 0.1, 0, 0], [0.3, 9, 0, 0], [0.2, 0.2, 9, 0], [0.1, 0.3, 0, 9]])
    assert S[[1, 2, 3], 0].cumsum()[-1] < S[[0, 2, 3], 1].cumsum()[-1]
    assert choosing.forward_selection(S, np.zeros(4, dtype=int), 1)[0].tolist() == [0]
    assert reference.forward(S, [0] * 4, 1)[0] == [0]


def test_forward_does_not_depend_on_threads():
    D, _, y = _points(n=40)
    expected = choosing.forward_selection(-D, y, 12)
    with patch.object(choosing, "_COLUMNS_A_THREAD", 7), patch.object(choosing, "thread_count", lambda: 6):
        again = choosing.forward_selection(-D, y, 12)
    np.testing.assert_array_equal(expected[0], again[0])
    np.testing.assert_array_equal(expected[1], again[1])


def test_forward_errors_are_those_of_the_nearest_neighbour_rule():
    D, _, y = _points(n=30, classes=2)
    fitted = SimilarityFeatures(6, "forward").fit(-D, y)
    for count, error in enumerate(fitted.loo_errors_, 1):
        wrong = 0
        for i in range(len(y)):
            known = np.sort([m for m in fitted.prototypes_[:count] if m != i])
            # The prototypes' own matrix is never looked at by the 1-NN rule.
            wrong += (
                not len(known) or KNNClassifier(1).fit(np.eye(len(known)), y[known]).predict(-D[[i]][:, known]) != y[i]
            )
        assert error == wrong / len(y)
    nested = SimilarityFeatures(3, "forward").fit(-D, y)
    np.testing.assert_array_equal(nested.prototypes_, fitted.prototypes_[:3])
    assert fitted.loo_errors_[-1] < fitted.loo_errors_[0]


def test_forward_keeps_the_order_of_selection():
    D, rows, y = _points()
    fitted = SimilarityFeatures(8, "forward").fit(-D, y)
    assert np.any(np.diff(fitted.prototypes_) < 0)
    np.testing.assert_array_equal(fitted.support_columns_, np.sort(fitted.prototypes_))
    np.testing.assert_array_equal(fitted.transform(-rows), -rows[:, fitted.prototypes_])
    ranked = SimilarityFeatures(selection="forward").fit(-D, y)
    np.testing.assert_array_equal(np.sort(ranked.prototypes_), np.arange(30))
    np.testing.assert_array_equal(ranked.prototypes_[:8], fitted.prototypes_)
    assert not hasattr(ranked.set_params(selection="random").fit(-D, y), "loo_errors_")


# Which numbers


@pytest.mark.parametrize("how", ["negate", "max-minus", "gauss", "double-centring"])
@pytest.mark.parametrize("n_prototypes", [None, 6])
def test_exponential_of_dissimilarities(how, n_prototypes):
    D, rows, y = _points()
    features = SimilarityFeatures(n_prototypes, normalize="exp", scale=0.25, random_state=0, dissimilarity=how)
    trained = features.fit_transform(D, y)
    expected, sigma = reference.exponential(D, features.prototypes_, np.vstack([D, rows]), 0.25)
    np.testing.assert_allclose(np.vstack([trained, features.transform(rows)]), expected, rtol=1e-12)
    assert features.sigma_ == pytest.approx(sigma, rel=1e-12)


def test_exponential_is_the_map_gauss():
    D, _, y = _points()
    features = SimilarityFeatures(normalize="exp", scale=2.0, dissimilarity="negate").fit_transform(D, y)
    np.testing.assert_allclose(features, to_similarity(D, "gauss"), rtol=1e-14)


def test_exponential_of_similarities():
    D, rows, y = _points()
    S, new = 5 - D, 6 - rows
    features = SimilarityFeatures(8, "kmedoids", "exp").fit(S, y)
    d = np.maximum(5 - new, 0)
    assert d.min() == 0  # a new similarity above all of training counts as the largest
    expected, _ = reference.exponential(D, features.prototypes_, d, 1.0)
    np.testing.assert_allclose(features.transform(new), expected, rtol=1e-12)


def test_exponential_of_named_dissimilarities():
    X = np.random.default_rng(0).normal(size=(25, 3))
    features = SimilarityFeatures(5, normalize="exp", random_state=0, similarity="euclidean").fit(X[:20])
    D = euclidean_distances(X)
    expected, sigma = reference.exponential(D[:20, :20], features.prototypes_, D[20:, :20], 1.0)
    np.testing.assert_allclose(features.transform(X[20:]), expected, rtol=1e-9)
    assert features.sigma_ == pytest.approx(sigma)


@pytest.mark.parametrize("size", [1e-200, 1e-150, 1.0, 1e150, 1e200])
def test_normalized_features_do_not_depend_on_size(size):
    D, rows, y = _points()
    for normalize in ("range", "exp"):
        features = SimilarityFeatures(6, "kmedoids", normalize)
        expected = clone(features).fit(5 - D, y).transform(5 - rows)
        answer = clone(features).fit((5 - D) * size, y).transform((5 - rows) * size)
        np.testing.assert_allclose(answer, expected, rtol=1e-9, atol=1e-12)


def test_range_is_that_of_training():
    S = np.array([[4.0, 2.0, 9.0], [0.0, 4.0, 9.0], [1.0, 1.0, 9.0]])
    features = SimilarityFeatures(2, normalize="range", random_state=1).fit(S)
    while features.prototypes_.tolist() != [0, 1]:
        features.set_params(random_state=features.random_state + 1).fit(S)
    np.testing.assert_allclose(features.transform([[1.0, 5.0, 0.0]]), [[0.25, 1.25]])
    constant = SimilarityFeatures(normalize="range").fit(np.full((3, 3), 7.0))
    np.testing.assert_array_equal(constant.transform(np.full((1, 3), 7.0)), [[0.0, 0.0, 0.0]])


@pytest.mark.parametrize("normalize", [None, "range", "exp"])
@pytest.mark.parametrize("S", [np.zeros((6, 6)), np.full((6, 6), 2.5), np.eye(6), np.ones((1, 1))])
def test_degenerate_matrices_give_finite_features(normalize, S):
    y = np.arange(len(S)) % 2
    for selection in ("random", "stratified", "kmedoids", "kcentres", "forward"):
        features = SimilarityFeatures(0.5, selection, normalize, random_state=0)
        assert np.isfinite(features.fit_transform(S, y)).all()


@pytest.mark.parametrize("features", SETTINGS, ids=_name)
def test_fit_transform_is_fit_and_transform(features):
    D, _, y = _points()
    S = 5 - D
    together = clone(features).fit_transform(S, y)
    np.testing.assert_array_equal(together, clone(features).fit(S, y).transform(S))
    again = pickle.loads(pickle.dumps(clone(features).fit(S, y)))
    np.testing.assert_array_equal(together, again.transform(S))


# What comes in


@pytest.mark.parametrize("features", SETTINGS, ids=_name)
def test_rows_with_the_needed_columns_are_enough(features):
    D, rows, y = _points()
    fitted = clone(features).fit(5 - D, y)
    np.testing.assert_array_equal(fitted.transform(5 - rows), fitted.transform((5 - rows)[:, fitted.support_columns_]))
    if fitted.n_prototypes_ < 29:
        with pytest.raises(ValueError, match=r"X has 29 features, .* is expecting 30 .* of support_columns_ alone"):
            fitted.transform((5 - rows)[:, 1:])


def test_double_centring_needs_every_column():
    D, rows, y = _points()
    features = SimilarityFeatures(4, "kmedoids", dissimilarity="double-centring").fit(D, y)
    whole = SimilarityFeatures(dissimilarity="double-centring").fit(D, y)
    np.testing.assert_array_equal(features.support_columns_, np.arange(30))
    np.testing.assert_array_equal(features.transform(rows), whole.transform(rows)[:, features.prototypes_])
    words = np.random.default_rng(0).normal(size=(12, 2))
    raw = SimilarityFeatures(3, similarity="euclidean", dissimilarity="double-centring", random_state=0).fit(words)
    same = SimilarityFeatures(3, dissimilarity="double-centring", random_state=0).fit(euclidean_distances(words))
    np.testing.assert_allclose(raw.transform(words), same.transform(euclidean_distances(words)), atol=1e-7)


class _Overlap:
    """A similarity of words that counts how often it is asked."""

    def __init__(self):
        self.calls = 0

    def __call__(self, a, b):
        self.calls += 1
        return len(set(a) & set(b)) - 0.1 * len(set(a) - set(b))


WORDS = ["tree", "trees", "free", "house", "mouse", "horse", "green", "greed", "hoarse", "spouse"]
LANGUAGE = np.array([0, 0, 0, 1, 1, 1, 0, 0, 1, 1])


@pytest.mark.parametrize("features", SETTINGS, ids=_name)
def test_raw_objects_equal_their_matrix(features):
    overlap = _Overlap()
    S = np.array([[overlap(a, b) for b in WORDS] for a in WORDS])
    rows = np.array([[overlap(a, b) for b in WORDS] for a in ("three", "hose")])
    raw = clone(features).set_params(similarity=overlap)
    matrix = clone(features).fit(S, LANGUAGE)
    np.testing.assert_allclose(raw.fit_transform(WORDS, LANGUAGE), matrix.transform(S))
    np.testing.assert_allclose(raw.transform(["three", "hose"]), matrix.transform(rows))
    np.testing.assert_array_equal(raw.fit(WORDS, LANGUAGE).prototypes_, matrix.prototypes_)
    assert not hasattr(raw, "n_features_in_")


def test_only_what_is_needed_is_computed_of_raw_objects():
    overlap = _Overlap()
    features = SimilarityFeatures(3, random_state=0, similarity=overlap)
    features.fit(WORDS, LANGUAGE)
    tried = 36  # among six samples: is it a distance?
    assert overlap.calls == tried
    features.fit_transform(WORDS, LANGUAGE)
    assert overlap.calls == 30 + 2 * tried
    features.set_params(normalize="exp").fit_transform(WORDS, LANGUAGE)
    assert overlap.calls == 60 + 3 * tried
    features.transform(["three", "hose"])
    assert overlap.calls == 66 + 3 * tried


@pytest.mark.parametrize("normalize", [None, "range", "exp"])
def test_columns(normalize):
    D, rows, y = _points()
    landmarks = D[:, 3:11]
    every = SimilarityFeatures(normalize=normalize, similarity="columns", dissimilarity="negate").fit(landmarks, y)
    assert every.prototypes_.tolist() == list(range(8))
    some = SimilarityFeatures(0.5, normalize=normalize, random_state=0, similarity="columns", dissimilarity="negate")
    trained = some.fit_transform(landmarks, y)
    assert trained.shape == (30, 4)
    np.testing.assert_array_equal(trained, some.transform(landmarks))
    needed = some.support_columns_
    np.testing.assert_array_equal(some.transform(rows[:, 3:11]), some.transform(rows[:, 3:11][:, needed]))
    if normalize is None:
        np.testing.assert_array_equal(trained, -landmarks[:, needed])
    if normalize == "exp":
        sigma = np.median(landmarks[:, needed]) ** 2
        np.testing.assert_allclose(trained, np.exp(-(landmarks[:, needed] ** 2) / sigma))


@pytest.mark.parametrize("selection", ["stratified", "kmedoids", "kcentres", "forward"])
def test_columns_can_be_chosen_at_random_only(selection):
    with pytest.raises(ValueError, match=f"selection='{selection}' needs the training samples as columns"):
        SimilarityFeatures(2, selection, similarity="columns").fit(np.ones((4, 3)), [0, 1, 0, 1])


def test_asymmetric_similarities_are_taken_as_they_are():
    S = np.random.default_rng(0).normal(size=(12, 12))
    y = np.arange(12) % 2
    np.testing.assert_array_equal(SimilarityFeatures().fit_transform(S, y), S)
    for selection in ("kmedoids", "kcentres", "forward"):
        one, other = (SimilarityFeatures(4, selection).fit(A, y).prototypes_ for A in (S, S.T))
        assert one.tolist() != other.tolist()


@pytest.mark.parametrize("features", SETTINGS, ids=_name)
def test_sparse_is_dense_with_zeros(features):
    rng = np.random.default_rng(0)
    S = np.where(rng.random((20, 20)) < 0.7, 0.0, rng.random((20, 20)))
    y = np.arange(20) % 2
    fitted = clone(features).fit(sparse.csr_array(S), y)
    answer = fitted.transform(sparse.csr_array(S[:3]))
    stays = features.normalize is None and features.n_prototypes is None
    assert sparse.issparse(answer) == stays
    np.testing.assert_array_equal(answer.toarray() if stays else answer, clone(features).fit(S, y).transform(S[:3]))


@pytest.mark.parametrize("features", SETTINGS, ids=_name)
def test_single_precision_stays(features):
    D, rows, y = _points()
    S, new = (5 - D).astype(np.float32), (5 - rows).astype(np.float32)
    fitted = clone(features)
    assert fitted.fit_transform(S, y).dtype == fitted.transform(new).dtype == np.float32
    expected = clone(features).fit(S.astype(float), y).transform(new.astype(float))
    np.testing.assert_allclose(fitted.transform(new), expected, rtol=1e-4)


def test_names_of_features():
    D, rows, y = _points()
    names = [f"sample {i}" for i in range(30)]
    frame = pd.DataFrame(-D, index=names, columns=names)
    features = SimilarityFeatures(4, "forward").set_output(transform="pandas").fit(frame, y)
    table = features.transform(pd.DataFrame(-rows, columns=names))
    assert table.columns.tolist() == [names[m] for m in features.prototypes_]
    np.testing.assert_array_equal(table, -rows[:, features.prototypes_])
    restricted = pd.DataFrame(-rows, columns=names).iloc[:, features.support_columns_]
    assert features.transform(restricted).equals(table)
    assert features.transform(restricted.iloc[:, ::-1]).equals(table)
    unnamed = SimilarityFeatures(4, "forward").fit(-D, y)
    assert unnamed.get_feature_names_out().tolist() == [f"x{m}" for m in unnamed.prototypes_]
    assert unnamed.get_feature_names_out(names).tolist() == table.columns.tolist()
    raw = SimilarityFeatures(3, similarity=_Overlap(), random_state=0).fit(WORDS)
    assert raw.get_feature_names_out().tolist() == [f"x{m}" for m in raw.prototypes_]


def test_proximities_travel():
    D, rows, y = _points()
    features = SimilarityFeatures(5, "kmedoids").fit(Proximities(-D, ids=np.arange(30)), y)
    new = Proximities(-rows, column_ids=np.arange(30))
    np.testing.assert_array_equal(features.transform(new), -rows[:, features.prototypes_])
    np.testing.assert_array_equal(features.transform(new[:, features.support_columns_]), features.transform(new))
    backward = Proximities(-rows[:, ::-1], column_ids=np.arange(30)[::-1])
    np.testing.assert_array_equal(features.transform(backward), features.transform(new))


# How it goes through scikit-learn


@pytest.mark.untraced
@pytest.mark.parametrize("features", SETTINGS, ids=_name)
def test_pipeline_in_cross_validation(features):
    D, _, y = _points()
    S = 5 - D
    model = make_pipeline(clone(features), LogisticRegression(max_iter=1000))
    folds = [(np.setdiff1d(np.arange(30), test), test) for test in np.array_split(np.arange(30), 3)]
    by_hand = []
    for train, test in folds:
        step = clone(features)
        last = LogisticRegression(max_iter=1000).fit(step.fit_transform(S[np.ix_(train, train)], y[train]), y[train])
        by_hand.append(last.predict(step.transform(S[np.ix_(test, train)])))
    np.testing.assert_array_equal(cross_val_predict(model, S, y, cv=folds), np.concatenate(by_hand))
    rows = make_pipeline(clone(features).set_params(similarity="columns"), LogisticRegression(max_iter=1000))
    if features.selection == "random":
        assert np.isfinite(cross_val_score(rows, S, y, cv=folds)).all()


@pytest.mark.untraced
@pytest.mark.parametrize("kind", ["precomputed", "columns", "raw"])
def test_searches_agree(kind):
    D, _, y = _points()
    X = {"precomputed": D, "columns": D[:, :10], "raw": np.random.default_rng(0).normal(size=(30, 2)) + y[:, None]}[
        kind
    ]
    contract = {"dissimilarity": "negate"} if kind != "raw" else {}
    similarity = kind if kind != "raw" else "euclidean"
    features = SimilarityFeatures(normalize="exp", random_state=0, similarity=similarity, **contract)
    selections = ["random"] if kind == "columns" else ["random", "kmedoids", "forward"]
    grid = {
        "similarityfeatures__scale": [0.25],
        "similarityfeatures__n_prototypes": [3, 0.5],
        "similarityfeatures__selection": selections,
        "svc__C": [0.1, 10.0],
    }
    model = make_pipeline(features, SVC(kernel="linear"))
    ours, theirs = (search(model, grid, cv=2).fit(X, y) for search in (PathSearchCV, GridSearchCV))
    np.testing.assert_array_equal(ours.cv_results_["mean_test_score"], theirs.cv_results_["mean_test_score"])
    assert ours.best_params_ == theirs.best_params_
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))


# What is refused


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"selection": "best"}, "selection must be one of"),
        ({"normalize": "exponential"}, "normalize must be one of"),
        ({"scale": 0.0}, "scale must be a finite number above 0"),
        ({"scale": "auto"}, "scale must be a finite number above 0"),
        ({"dissimilarity": "nonsense"}, "dissimilarity must be one of"),
    ],
)
def test_bad_parameters_are_refused(parameters, message):
    features = SimilarityFeatures(2, random_state=0).fit(np.eye(4))
    with pytest.raises(ValueError, match=message):
        features.set_params(**parameters).fit(np.eye(5))
    assert features.n_features_in_ == 4  # as the last fit left it


@pytest.mark.parametrize("selection", ["stratified", "forward"])
def test_labels_are_needed_where_they_are_used(selection):
    features = SimilarityFeatures(2, selection)
    with pytest.raises(ValueError, match="y must be given"):
        features.fit(np.eye(4))
    with pytest.raises(ValueError, match="y must have one label per sample"):
        features.fit(np.eye(4), [0, 1])


def test_negative_dissimilarities_have_no_exponential():
    features = SimilarityFeatures(normalize="exp", dissimilarity="negate")
    with pytest.raises(ValueError, match="normalize='exp' needs dissimilarities of at least 0; the smallest is -1"):
        features.fit([[0.0, -1.0], [1.0, 0.0]])


def test_what_looks_like_a_dissimilarity_is_pointed_out():
    with pytest.warns(SimilarityWarning, match="dissimilarity="):
        SimilarityFeatures().fit(1 - np.eye(4))
