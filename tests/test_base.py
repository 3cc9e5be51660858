"""The estimator contract: input, labels, costs, priors, weights, frozen parameters, and fits that fail."""

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
from sklearn.utils import get_tags

from similitude import (
    AutoClassifier,
    KNNClassifier,
    PathSearchCV,
    Proximities,
    SimilarityWarning,
    SpectrumModifier,
    similarity_groups,
)
from similitude._utils.checks import check_positive
from similitude.base import FeatureClassifier, FittedPath, GridFit, SimilarityClassifier
from similitude.labels import Labels, check_labels, class_weights, costs_matrix, priors_vector
from similitude.neighbors.weights import SIMILARITY_WEIGHTS
from similitude.proximity.check import dense

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
    expected = answer(fitted, Proximities(S[:5], column_ids=make(IDS)))
    found = answer(fitted, Proximities(S[:5, order], column_ids=make([IDS[j] for j in order])))
    assert np.array_equal(found, expected)


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
    if case == "NaN" and get_tags(estimator).input_tags.allow_nan:
        pytest.skip("it votes among the known neighbours")
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
    with pytest.warns(SimilarityWarning, match="X looks like a dissimilarity.*dissimilarity=") as caught:
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


@given(st.sampled_from([1e-200, 1.0, 1e200]), st.sampled_from(list(SIMILARITY_WEIGHTS)))
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
    with pytest.raises(ValueError, match="y must have one label per sample; got an array of shape"):
        check_labels(np.zeros((3, 2)), 3)
    assert check_labels(["a", "b", "a"], 3).tolist() == ["a", "b", "a"]


@pytest.mark.parametrize(
    "y",
    [
        [0.0, np.nan, 1.0],
        np.array(["a", None, "b"], dtype=object),
        pd.array([0, None, 1], dtype="Int64"),
        pd.Series(["a", None, "b"], dtype="string"),
        pd.Series([0, None, 1], dtype="category"),
        ["a", "", "b"],
        np.array([1, "", 2], dtype=object),
        ["a", np.nan, "b"],
    ],
    ids=["NaN", "None", "Int64", "string", "category", "empty text", "empty text among numbers", "NaN among text"],
)
@pytest.mark.filterwarnings("error::RuntimeWarning")
def test_missing_labels_are_refused(y):
    with pytest.raises(ValueError, match=r"y contains a missing label \(first at position 1\)"):
        KNNClassifier(1).fit(S[:3, :3], y)
    with pytest.raises(ValueError, match=r"y contains a missing label \(first at position 1\)"):
        PathSearchCV(KNNClassifier(), {"n_neighbors": [1]}, cv=2).fit(S[:3, :3], y)
    with pytest.raises(ValueError, match="groups contains a missing value"):
        similarity_groups(S[:3, :3], groups=y)
    with pytest.raises(ValueError, match="groups contains a missing value"):
        AutoClassifier().fit(S[:3, :3], [0, 0, 1], groups=y)


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


# The contract: a classifier that is as simple as can be


class FirstPath(FittedPath):
    """The similarities to the first sample of each class, to a power, decide."""

    def __init__(self, points, labels, fails=False):
        self.points, self.labels, self.fails = points, labels, fails
        self.first = np.array([members[0] for members in labels.members])

    def answers(self, rows, response):
        S = dense(rows.columns(self.columns))[:, np.argsort(np.argsort(self.first))]
        posteriors = [S**power / np.sum(S**power, axis=1, keepdims=True) for power in self.points]
        return posteriors if response == "predict_proba" else [np.argmax(p, axis=1) for p in posteriors]

    def attributes(self):
        return {"first_": self.first, **({"square_": True} if self.points[0] == 2 else {})}

    @property
    def columns(self):
        return np.sort(self.first)

    def complete(self):
        if self.fails:
            raise RuntimeError("complete")


class First(SimilarityClassifier):
    _path_parameters = ("power",)
    _responses = ("predict", "predict_proba")

    def __init__(self, power=1.0, *, fails=None, costs=None, priors=None, similarity="precomputed", dissimilarity=None):
        self.power = power
        self.fails = fails
        self.costs = costs
        self.priors = priors
        self.similarity = similarity
        self.dissimilarity = dissimilarity

    def fit(self, X, y, sample_weight=None):
        return self._fit(X, y, sample_weight)

    def _point(self, parameters):
        check_positive(parameters["power"], "power")
        return float(parameters["power"])

    def _fit_path(self, training, labels, points):
        assert training.S.shape == (len(labels), len(labels))
        if self.fails == "path":
            raise RuntimeError("path")
        LABELS_AT_FIT.append(labels)
        return FirstPath(points, labels, self.fails == "complete")


LABELS_AT_FIT: list[Labels] = []


class Constant(FeatureClassifier):
    """Predicts the largest class."""

    _least_classes = 2

    def _point(self, parameters):
        return ()

    def _fit_path(self, training, labels, points):
        class Largest(FittedPath):
            def answers(self, rows, response):
                return [np.full(len(rows), int(np.argmax(labels.counts)))]

        return Largest()


def test_parameters_are_frozen_at_fit():
    model = First(2.0).fit(S, LABELS)
    expected = model.predict_proba(S)
    model.set_params(power=7.0, similarity="levenshtein", dissimilarity="max-minus", costs="nonsense")
    assert np.array_equal(model.predict_proba(S), expected)
    model.set_params(similarity="precomputed", dissimilarity=None, costs=None).fit(S, LABELS)
    assert not np.allclose(model.predict_proba(S), expected)


@pytest.mark.parametrize(
    ("parameters", "X", "y", "error"),
    [
        ({"power": -1.0}, S, LABELS, "power must be"),
        ({}, S[:, :7], LABELS, "X must be square"),
        ({}, S[:9, :9], LABELS, "got 30 labels for 9 samples"),
        ({"costs": [[0.0]]}, S, LABELS, "costs must have shape"),
        ({"fails": "path"}, S[:9, :9], LABELS[:9], "^path$"),
        ({"fails": "complete"}, S[:9, :9], LABELS[:9], "^complete$"),
    ],
    ids=["parameter", "matrix", "labels", "costs", "path", "completion"],
)
def test_a_fit_that_fails_changes_nothing(parameters, X, y, error):
    model = First(2.0).fit(pd.DataFrame(S, columns=IDS), LABELS)
    before = dict(vars(model))
    model.set_params(**parameters)
    with pytest.raises((ValueError, RuntimeError), match=error):
        model.fit(X, y)
    assert vars(model.set_params(power=2.0, costs=None, fails=None)) == before


def test_a_new_fit_forgets_the_old_one():
    model = First(2.0).fit(pd.DataFrame(S, columns=IDS), LABELS)
    assert model.square_
    assert model.feature_names_in_.tolist() == IDS
    model.set_params(power=1.0).fit(S[:9, :9], LABELS[:9])
    assert model.n_features_in_ == 9
    assert not hasattr(model, "square_")
    assert not hasattr(model, "feature_names_in_")
    words = clone(model).set_params(similarity=lambda a, b: 1.0 + (a[0] == b[0]))
    words.fit(["a", "ab", "b", "c"], [0, 0, 1, 1])
    assert words.objects_ == ["a", "ab", "b", "c"]
    assert not hasattr(words, "n_features_in_")
    words.set_params(similarity="precomputed").fit(S, LABELS)
    assert words.n_features_in_ == N
    assert not hasattr(words, "objects_")


def test_answers_are_offered_as_the_path_gives_them():
    model = First().fit(S, LABELS)
    assert np.array_equal(model.predict_log_proba(S), np.log(model.predict_proba(S)))
    assert not hasattr(model, "decision_function")
    with pytest.raises(AttributeError, match="decision_function") as caught:
        model.decision_function(S)
    assert str(caught.value.__cause__) == "First has no decision_function."
    assert not hasattr(Constant(), "predict_log_proba")
    with pytest.raises(NotFittedError):
        First().predict(S)


def test_points_of_a_grid_are_fitted_at_once_and_equal_plain_fits():
    grid = [{"power": 1.0}, {}, {"power": 3.0}]
    estimator = First(2.0)
    before = len(LABELS_AT_FIT)
    fit = GridFit(estimator, S, LABELS, grid)
    assert len(LABELS_AT_FIT) == before + 1
    for i, point in enumerate(grid):
        plain = clone(estimator).set_params(**point).fit(S, LABELS)
        for response in ("predict", "predict_proba"):
            assert np.array_equal(fit.answers(S, response)[i], getattr(plain, response)(S))
        alone = fit.at(i)
        assert alone.get_params() == plain.get_params()
        assert np.array_equal(alone.predict_proba(S), plain.predict_proba(S))
        assert hasattr(alone, "square_") == (i == 1)
    assert estimator.get_params()["power"] == 2.0
    assert not hasattr(estimator, "classes_")
    with pytest.raises(ValueError, match="power must be"):
        GridFit(estimator, S, LABELS, [*grid, {"power": 0}])


def test_points_of_a_grid_on_raw_objects():
    def alike(a, b):
        return 1.0 + (a[0] == b[0])

    words, y = ["a", "ab", "b", "c"], [0, 0, 1, 1]
    [answer] = GridFit(First(similarity=alike), words, y, [{"power": 2.0}]).answers(["ax", "bx"], "predict_proba")
    assert np.array_equal(answer, First(2.0, similarity=alike).fit(words, y).predict_proba(["ax", "bx"]))
    assert answer.argmax(axis=1).tolist() == [0, 1]


def test_one_class_is_refused_where_two_are_needed():
    assert First().fit(S, ["one"] * N).predict(S[:2]).tolist() == ["one", "one"]
    with pytest.raises(ValueError, match="y must have at least two classes; got one class, 'one'"):
        Constant().fit(FEATURES, ["one"] * N)


def test_a_classifier_on_features_knows_its_columns():
    model = Constant().fit(pd.DataFrame(FEATURES, columns=["a", "b"]), LABELS)
    assert model.n_features_in_ == 2
    assert model.feature_names_in_.tolist() == ["a", "b"]
    assert set(model.predict(pd.DataFrame(FEATURES, columns=["a", "b"]))) < set(LABELS)
    with pytest.raises(ValueError, match=r"[Ff]eature names"):
        model.predict(pd.DataFrame(FEATURES, columns=["b", "a"]))
    with pytest.raises(ValueError, match="X has 1 features, but Constant is expecting 2"):
        model.predict(FEATURES[:, :1])
    before = dict(vars(model))
    with pytest.raises(ValueError, match="got 29 labels for 30"):
        model.fit(FEATURES, LABELS[1:])
    assert vars(model) == before
    assert not hasattr(model.fit(FEATURES, LABELS), "feature_names_in_")


# Columns that are needed


def test_rows_of_the_needed_columns_are_enough():
    model = First().fit(S, LABELS)
    columns = model.support_columns_
    assert columns.tolist() == sorted(model.first_)
    assert len(columns) == 2
    expected = model.predict_proba(S)
    assert np.array_equal(model.predict_proba(S[:, columns]), expected)
    assert np.array_equal(model.predict_proba(sparse.csr_array(S[:, columns])), expected)
    with pytest.raises(
        ValueError, match=r"X has 5 features, but First is expecting 30 .*, or the 2 of support_columns_"
    ):
        model.predict(S[:, :5])


def test_names_and_ids_of_the_needed_columns():
    names = np.array(IDS)
    framed = First().fit(pd.DataFrame(S, index=IDS, columns=IDS), LABELS)
    columns, expected = framed.support_columns_, framed.predict(pd.DataFrame(S, columns=IDS))
    assert np.array_equal(framed.predict(pd.DataFrame(S[:, columns], columns=names[columns])), expected)
    backward = columns[::-1]
    assert np.array_equal(framed.predict(pd.DataFrame(S[:, backward], columns=names[backward])), expected)
    named = First().fit(Proximities(S, ids=IDS), LABELS)
    assert np.array_equal(named.predict(Proximities(S[:, columns], column_ids=names[columns])), expected)
    assert np.array_equal(named.predict(Proximities(S[:, backward], column_ids=names[backward])), expected)
    with pytest.raises(ValueError, match="1 of 2 samples that are needed have no column"):
        named.predict(Proximities(S[:, columns[1:]], column_ids=names[columns[1:]]))


def test_of_raw_objects_only_the_needed_similarities_are_computed():
    asked = []

    def alike(a, b):
        asked.append((a, b))
        return 1.0 + (a[0] == b[0])

    model = First(similarity=alike).fit(["a", "ab", "b", "c"], [0, 0, 1, 1])
    asked.clear()
    assert model.predict(["bx"]).tolist() == [1]
    assert sorted(asked) == [("bx", "a"), ("bx", "b")]


def test_a_map_that_looks_at_whole_rows_needs_all_columns():
    D = np.sqrt(((FEATURES[:, None] - FEATURES[None]) ** 2).sum(axis=2))
    assert len(First(dissimilarity="max-minus").fit(D, LABELS).support_columns_) == 2
    assert len(First(dissimilarity="double-centring").fit(D, LABELS).support_columns_) == N


# Weights of samples and classes


@pytest.mark.parametrize(
    ("weights", "found"),
    [
        (np.ones(29), "sample_weight"),
        (-np.ones(N), "sample_weight must hold finite numbers of at least 0"),
        (np.full(N, np.nan), "sample_weight|NaN"),
        (np.where(LABELS == "left", 0.0, 1.0), "class 'left' has none"),
    ],
    ids=["too few", "negative", "NaN", "a class without weight"],
)
def test_bad_sample_weights(weights, found):
    with pytest.raises(ValueError, match=found):
        First().fit(S, LABELS, weights)


def test_what_comes_with_the_labels():
    y, weights = np.array(["b", "a", "c", "a"]), [0.0, 1, 2, 3]
    costs, priors = {f: {g: float(f != g) for g in "abc"} for f in "abc"}, {"c": 0.5, "a": 0.25, "b": 0.25}
    with pytest.raises(ValueError, match="class 'b' has none"):
        First(costs=costs, priors=priors).fit(S[:4, :4], y, weights)
    First(costs=costs, priors=priors).fit(S[:4, :4], y, [4.0, 1, 2, 3])
    labels = LABELS_AT_FIT[-1]
    assert labels.classes.tolist() == ["a", "b", "c"]
    assert labels.codes.tolist() == [1, 0, 2, 0]
    assert labels.counts.tolist() == [2, 1, 1]
    assert [members.tolist() for members in labels.members] == [[1, 3], [0], [2]]
    assert labels.sample_weight.tolist() == [4, 1, 2, 3]
    assert labels.costs.tolist() == (1 - np.eye(3)).tolist()
    assert labels.priors.tolist() == [0.25, 0.25, 0.5]
    part = labels.take(np.array([3, 0]))
    assert (part.codes.tolist(), part.sample_weight.tolist(), part.n_classes) == ([0, 1], [3, 4], 3)
    assert class_weights("balanced", labels).tolist() == pytest.approx([4 / 3, 2 / 3, 4 / 3, 2 / 3])
    assert class_weights({"a": 3.0}, labels).tolist() == [1, 3, 1, 3]
    assert class_weights(None, labels).tolist() == [1, 1, 1, 1]


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
    for row, predicted in zip(posterior, knn.predict(S)):
        expected = [sum(costs[f, g] * row[g] for g in range(3)) for f in range(3)]
        assert expected[predicted] == pytest.approx(min(expected), abs=1e-12)


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


def test_labels_of_several_types_and_columns_of_text_are_refused_with_a_remedy():
    S = np.eye(4)
    with pytest.raises(ValueError, match="y must hold labels of one kind, all numbers or all text; got int, str"):
        KNNClassifier(1).fit(S, np.array(["a", 1, "a", 1], dtype=object))
    mixed = np.array(["a", np.str_("b"), "a", np.str_("b")], dtype=object)  # all of them text
    assert KNNClassifier(1).fit(S, mixed).predict(S).tolist() == ["a", "b", "a", "b"]
    table = pd.DataFrame(S).assign(name=list("abcd"))
    with pytest.raises(ValueError, match=r"float: 'a'\. The columns 'name' hold no numbers; if they are ids"):
        KNNClassifier(1).fit(table, [0, 1, 0, 1])
