"""The input contract: labels, costs, priors, and the errors of estimators."""

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_predict, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC

from similitude import KNNClassifier, Proximities, SimilarityWarning, SpectrumModifier
from similitude.base import check_labels, costs_matrix, priors_vector

N = 30
FEATURES = np.random.default_rng(0).normal(size=(N, 2))
LABELS = np.where(FEATURES[:, 0] > 0, "right", "left")
S = np.exp(-((FEATURES[:, None] - FEATURES[None]) ** 2).sum(axis=2))
IDS = [f"sample {i}" for i in range(N)]
ESTIMATORS = [KNNClassifier(3), SpectrumModifier("clip")]
both = pytest.mark.parametrize("estimator", ESTIMATORS, ids=["KNNClassifier", "SpectrumModifier"])


def answer(estimator, X):
    return estimator.predict(X) if hasattr(estimator, "predict") else estimator.transform(X)


def everything():
    return Proximities(S, features=FEATURES, self_similarity=np.diagonal(S), ids=IDS)


@both
def test_proximities_stand_in_for_the_matrix(estimator):
    plain = clone(estimator).fit(S[:20, :20], LABELS[:20])
    train, test = everything()[np.ix_(range(20), range(20))], everything()[np.ix_(range(20, 30), range(20))]
    carried = clone(estimator).fit(train, LABELS[:20])
    assert np.array_equal(answer(plain, S[20:, :20]), answer(carried, test))


def test_proximities_under_cross_validation_and_grid_search():
    knn = KNNClassifier(3)
    assert np.array_equal(cross_val_score(knn, everything(), LABELS, cv=5), cross_val_score(knn, S, LABELS, cv=5))
    assert np.array_equal(cross_val_predict(knn, everything(), LABELS), cross_val_predict(knn, S, LABELS))
    pipeline = make_pipeline(SpectrumModifier("clip"), SVC(kernel="precomputed"))
    grid = {"svc__C": [0.1, 10], "spectrummodifier__method": ["clip", "flip"]}
    found = [GridSearchCV(pipeline, grid, cv=3, error_score="raise").fit(X, LABELS) for X in (S, everything())]
    assert np.array_equal(*[f.cv_results_["mean_test_score"] for f in found])
    assert found[1].predict(everything()).tolist() == found[0].predict(S).tolist()


@both
@pytest.mark.parametrize("extra", ["features", "self_similarity", "ids"])
def test_extras_given_in_fit_and_missing_later(estimator, extra):
    value = {"features": FEATURES, "self_similarity": np.ones(N), "ids": IDS}[extra]
    fitted = clone(estimator).fit(Proximities(S, **{extra: value}), LABELS)
    with pytest.raises(ValueError, match=rf"X: .*{extra} was given in fit and is missing"):
        answer(fitted, S)
    with pytest.raises(ValueError, match=extra):
        answer(fitted, Proximities(S[:5]))


@both
def test_extras_only_later_are_no_error(estimator):
    fitted = clone(estimator).fit(S, LABELS)
    assert np.array_equal(answer(fitted, everything()), answer(fitted, S))


@both
@pytest.mark.parametrize("make", [list, np.array, pd.Series, pd.Index, lambda ids: np.array(ids, dtype=object)])
def test_ids_in_another_order(estimator, make):
    fitted = clone(estimator).fit(Proximities(S, ids=make(IDS)), LABELS)
    order = np.arange(N)
    order[[3, 4]] = [4, 3]
    with pytest.raises(ValueError, match=r"X: .*column 3 is 'sample 4', in fit it was 'sample 3'"):
        answer(fitted, Proximities(S[:5, order], column_ids=make([IDS[j] for j in order])))
    assert len(answer(fitted, Proximities(S[:5], column_ids=make(IDS)))) == 5


def test_numbers_as_ids_in_another_order():
    fitted = KNNClassifier(1).fit(Proximities(S, ids=range(N)), LABELS)
    with pytest.raises(ValueError, match="column 0 is 1, in fit it was 0"):
        fitted.predict(Proximities(S, column_ids=np.roll(range(N), -1)))


def test_named_columns_of_a_frame_in_another_order():
    frame = pd.DataFrame(S, index=IDS, columns=IDS)
    fitted = KNNClassifier(1).fit(frame, LABELS)
    assert fitted.predict(frame).tolist() == LABELS.tolist()
    with pytest.raises(ValueError, match=r"[Ff]eature names"):
        fitted.predict(frame[IDS[::-1]])


# The matrix


BAD = {
    "not square": (S[:, :7], r"X must be square.*\(30, 7\).*PairwiseMeta"),
    "NaN": (np.where(np.eye(N) > 0, np.nan, S), "X contains NaN.*row 0, column 0"),
    "infinity": (np.where(np.eye(N) > 0, -np.inf, S), "X contains infinity"),
    "complex": (S * 1j, r"\bX\b(.|\n)*[Cc]omplex|[Cc]omplex(.|\n)*\bX\b"),
    "empty": (np.empty((0, 0)), r"\bX\b.*\(0, 0\)|\(0, 0\).*\bX\b"),
    "one dimension": (S[0], r"\bX\b(.|\n)*1D|1D(.|\n)*\bX\b"),
    "words": ([["a"]], r"\bX\b.*'a'|'a'.*\bX\b"),
}


@both
@pytest.mark.parametrize("case", BAD)
def test_bad_matrices(estimator, case):
    bad, found = BAD[case]
    with pytest.raises(ValueError, match=found):
        clone(estimator).fit(bad, LABELS)
    if case != "not square":
        with pytest.raises(ValueError, match=found):
            answer(clone(estimator).fit(S, LABELS), bad)


@both
def test_rows_to_other_samples_than_those_of_fit(estimator):
    with pytest.raises(ValueError, match=r"X has 29 features.*expecting 30"):
        answer(clone(estimator).fit(S, LABELS), S[:, :29])


@both
def test_not_fitted(estimator):
    with pytest.raises(NotFittedError):
        answer(clone(estimator), S)


@both
@pytest.mark.parametrize(
    ("parameters", "found"),
    [
        ({"similarity": "levenstine"}, "similarity='levenstine' is not known"),
        ({"similarity": None}, "similarity must be"),
        ({"similarity": 7}, "similarity must be .*got int"),
        ({"dissimilarity": "minus"}, r"dissimilarity must be one of .*'max-minus'.*got 'minus'"),
    ],
)
def test_unknown_names(estimator, parameters, found):
    with pytest.raises(ValueError, match=found):
        clone(estimator).set_params(**parameters).fit(S, LABELS)


@both
def test_what_looks_like_a_dissimilarity_gets_one_warning(estimator):
    D = 1 - S
    np.fill_diagonal(D, 0)
    with pytest.warns(SimilarityWarning, match="X has a zero diagonal.*dissimilarity=") as caught:
        clone(estimator).fit(D, LABELS)
    assert len(caught) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        clone(estimator).set_params(dissimilarity="one-minus").fit(D, LABELS)
        clone(estimator).fit(sparse.csr_matrix(D), LABELS)


@both
@pytest.mark.parametrize("how", ["max-minus", "one-minus", "exp", "double-centring"])
def test_dissimilarities_are_mapped_with_constants_of_fit(estimator, how):
    from tests.reference.proximity import to_similarity

    D = np.sqrt(((FEATURES[:, None] - FEATURES[None]) ** 2).sum(axis=2))
    train, test = D[:20, :20], 2 * D[20:, :20]
    mapped = clone(estimator).fit(to_similarity(train, how), LABELS[:20])
    direct = clone(estimator).set_params(dissimilarity=how).fit(train, LABELS[:20])
    expected = answer(mapped, to_similarity(test, how, train))
    got = answer(direct, test)
    assert np.array_equal(got, expected) if got.dtype.kind == "U" else np.allclose(got, expected)


@both
def test_sparse_dissimilarities_cannot_be_mapped(estimator):
    with pytest.raises(ValueError, match="X: a sparse matrix cannot be mapped"):
        clone(estimator).set_params(dissimilarity="max-minus").fit(sparse.csr_matrix(S), LABELS)


@both
@pytest.mark.parametrize("kind", ["read-only", "float32", "csr", "frame", "memmap", "fortran", "list"])
def test_every_kind_of_matrix_gives_the_same_and_is_left_alone(estimator, kind, tmp_path):
    expected = answer(clone(estimator).fit(S, LABELS), S)
    X = S.copy()
    X.flags.writeable = False
    if kind == "memmap":
        np.save(tmp_path / "S.npy", X)
        X = np.load(tmp_path / "S.npy", mmap_mode="r")
    make = {
        "float32": lambda X: X.astype(np.float32),
        "csr": sparse.csr_matrix,
        "frame": pd.DataFrame,
        "fortran": np.asfortranarray,
        "list": np.ndarray.tolist,
    }.get(kind, lambda X: X)
    X = make(X)
    before = pickle.dumps(X) if kind != "memmap" else None
    got = answer(clone(estimator).fit(X, LABELS), X)
    assert np.array_equal(got, expected) if got.dtype.kind == "U" else np.allclose(got, expected, atol=1e-5)
    assert before is None or pickle.dumps(X) == before


@both
@pytest.mark.parametrize("n", [1, 2])
def test_one_and_two_samples(estimator, n):
    fitted = clone(estimator).fit(S[:n, :n], LABELS[:n])
    assert len(answer(fitted, S[:3, :n])) == 3


@given(st.sampled_from([1e-200, 1.0, 1e200]), st.sampled_from(["uniform", "affinity"]))
def test_the_scale_of_the_similarities_does_not_matter_to_neighbours(scale, weights):
    knn = KNNClassifier(4, weights)
    expected = knn.fit(S, LABELS).predict_proba(S)
    assert np.allclose(knn.fit(scale * S, LABELS).predict_proba(scale * S), expected, rtol=1e-12)


def test_more_neighbours_than_samples():
    knn = KNNClassifier(1000).fit(S, LABELS)
    assert knn.n_neighbors_ == N
    assert np.allclose(knn.predict_proba(S[:2]), np.mean(LABELS[:, None] == knn.classes_, axis=0))


# Labels


def test_labels_are_checked():
    with pytest.raises(ValueError, match="y must be given"):
        check_labels(None, 3)
    with pytest.raises(ValueError, match="y must have one label per sample; got 2 labels for 3 samples"):
        check_labels([0, 1], 3)
    with pytest.raises(ValueError, match=r"[Uu]nknown label type"):
        check_labels([0.5, 1.2, 3.3], 3)
    with pytest.raises(ValueError, match="y should be a 1d array"):
        check_labels(np.zeros((3, 2)), 3)
    assert check_labels(["a", "b", "a"], 3).tolist() == ["a", "b", "a"]


@pytest.mark.parametrize("y", [[0.0, np.nan, 1.0], np.array(["a", None, "b"], dtype=object)], ids=["NaN", "None"])
def test_missing_labels_are_refused(y):
    with pytest.raises(ValueError, match=r"\by\b|label"):
        KNNClassifier(1).fit(S[:3, :3], y)


@pytest.mark.parametrize(
    "y", [[3, -1, 3], ["b", "a", "b"], [True, False, True], np.array(["b", "a", "b"], dtype=object), [1.0, 0.0, 1.0]]
)
def test_labels_of_every_kind_come_back(y):
    knn = KNNClassifier(1).fit(S[:3, :3], y)
    assert knn.classes_.tolist() == sorted(set(y))
    assert knn.predict(S[:3, :3]).tolist() == list(y)


def test_labels_through_an_estimator():
    with pytest.raises(ValueError, match=r"y.*got 29 labels for 30"):
        KNNClassifier().fit(S, LABELS[1:])
    with pytest.raises((ValueError, TypeError), match="y"):
        KNNClassifier().fit(S, None)
    assert KNNClassifier().fit(S, pd.Series(LABELS)).predict(S[:1]).shape == (1,)


# Costs and priors

COSTS = {"left": {"left": 0.0, "right": 1.0}, "right": {"left": 7.0, "right": 0.5}}
AS_MATRIX = [[0.0, 1.0], [7.0, 0.5]]


def test_costs_as_dicts_and_as_a_matrix_agree():
    classes = np.array(["left", "right"])
    assert costs_matrix(COSTS, classes).tolist() == costs_matrix(AS_MATRIX, classes).tolist() == AS_MATRIX
    assert costs_matrix(None, classes) is None
    answers = [KNNClassifier(7, costs=c).fit(S, LABELS).predict(S).tolist() for c in (COSTS, AS_MATRIX)]
    assert answers[0] == answers[1] != KNNClassifier(7).fit(S, LABELS).predict(S).tolist()


def test_costs_by_numbers_as_labels():
    by_label = {np.int64(4): {4: 0, 9: 2}, 9: {4: 3, 9: 0}}
    assert costs_matrix(by_label, np.array([4, 9])).tolist() == [[0.0, 2.0], [3.0, 0.0]]


def test_predict_minimises_the_expected_cost_of_the_posterior():
    rng = np.random.default_rng(2)
    y = rng.integers(0, 3, N)
    costs = rng.uniform(0, 5, (3, 3))
    knn = KNNClassifier(6, costs=costs).fit(S, y)
    posterior = knn.predict_proba(S)
    assert np.allclose(posterior, KNNClassifier(6).fit(S, y).predict_proba(S))
    for row, said in zip(posterior, knn.predict(S)):
        expected = [sum(costs[f, g] * row[g] for g in range(3)) for f in range(3)]
        assert expected[said] == pytest.approx(min(expected), abs=1e-12)


@pytest.mark.parametrize(
    ("costs", "found"),
    [
        ([[0, 1]], r"costs must have shape \(2, 2\).*got \(1, 2\)"),
        (np.zeros((3, 3)), r"costs must have shape \(2, 2\).*got \(3, 3\)"),
        ([[0, np.nan], [1, 0]], "costs contains NaN"),
        ([[0, np.inf], [1, 0]], "costs contains .*infinity"),
        ({"left": COSTS["left"]}, "costs.*'right'"),
        ({**COSTS, "up": COSTS["left"]}, "costs.*up"),
        ({"left": {"left": 0}, "right": COSTS["right"]}, r"costs\['left'\].*missing \['right'\]"),
        ({"left": {**COSTS["left"], "up": 1}, "right": COSTS["right"]}, r"costs\['left'\].*unknown \['up'\]"),
        ({"left": [0, 1], "right": [1, 0]}, "costs"),
        ("cheap", "costs"),
        ([[0, 1], [1]], "costs"),
    ],
    ids=str,
)
def test_bad_costs(costs, found):
    with pytest.raises(ValueError, match=found):
        KNNClassifier(costs=costs).fit(S, LABELS)


@pytest.mark.parametrize("priors", [[0.2, 0.8], {"left": 0.2, "right": 0.8}, np.array([0.2, 0.8], dtype=np.float32)])
def test_priors_rescale_by_prior_over_training_share(priors):
    shares = np.array([np.mean(LABELS == "left"), np.mean(LABELS == "right")])
    plain = KNNClassifier(7).fit(S, LABELS).predict_proba(S)
    expected = plain * np.array([0.2, 0.8]) / shares
    expected /= expected.sum(axis=1, keepdims=True)
    knn = KNNClassifier(7, priors=priors).fit(S, LABELS)
    assert np.allclose(knn.predict_proba(S), expected)
    assert not np.allclose(expected, plain)
    sure = np.abs(expected[:, 0] - 0.5) > 1e-9
    assert np.array_equal(knn.predict(S)[sure], knn.classes_[expected.argmax(axis=1)][sure])


def test_priors_equal_to_the_training_shares_change_nothing():
    shares = [np.mean(LABELS == "left"), np.mean(LABELS == "right")]
    with_priors = KNNClassifier(7, priors=shares).fit(S, LABELS).predict_proba(S)
    assert np.allclose(with_priors, KNNClassifier(7).fit(S, LABELS).predict_proba(S))


def test_priors_and_costs_together():
    knn = KNNClassifier(7, priors=[0.2, 0.8], costs=COSTS).fit(S, LABELS)
    expected = (knn.predict_proba(S) @ np.array(AS_MATRIX).T).argmin(axis=1)
    assert np.array_equal(knn.predict(S), knn.classes_[expected])


@pytest.mark.parametrize(
    ("priors", "found"),
    [
        ([0.5, 0.6], "priors must .*sum to 1; got sum 1.1"),
        ([1.5, -0.5], "priors must be non-negative"),
        ([np.nan, 1.0], "priors must"),
        ([1.0], r"priors must have one entry per class \(2\); got shape \(1,\)"),
        ([[0.5, 0.5]], "priors must have one entry per class"),
        ({"left": 1.0}, r"priors .*missing \['right'\]"),
        ({"left": 0.5, "right": 0.5, "up": 0.0}, r"priors .*unknown \['up'\]"),
        ("equal", "priors"),
    ],
    ids=str,
)
def test_bad_priors(priors, found):
    with pytest.raises(ValueError, match=found):
        KNNClassifier(priors=priors).fit(S, LABELS)


def test_priors_vector():
    assert priors_vector(None, np.array([0, 1])) is None
    assert priors_vector({1: 0.25, 0: 0.75}, np.array([0, 1])).tolist() == [0.75, 0.25]
