"""Fusion: the product rule against its definition, the input of each part, paths, and the baseline."""

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_predict, cross_val_score
from sklearn.naive_bayes import GaussianNB, MultinomialNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import get_tags

from similitude import (
    SDA,
    FusedClassifier,
    FusedKNN,
    KNNClassifier,
    LocalBDA,
    LocalSDA,
    NearestCentroid,
    PathSearchCV,
    Proximities,
    SimilaritySVC,
    train_test_split,
)
from similitude.base import GridFit
from similitude.persistence import load_model, save_model
from similitude.similarities import pairwise
from tests.reference.fused import combined_vote, product_of_joints

CENTRE = np.array([0.0, 1.5, 3.0])


def problem(n=60, n_classes=3, seed=0):
    """Similarities that see one coordinate of the samples, features that see the other, and labels."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % n_classes
    seen, hidden = CENTRE[y] + rng.normal(size=n), CENTRE[::-1][y] + rng.normal(size=n)
    S = np.round(10 * np.exp(-np.abs(seen[:, None] - seen[None])))
    return S, hidden[:, None] + [[0.0, 1.0]] * rng.normal(size=(n, 1)), np.array(["x", "y", "z"])[y]


S, F, Y = problem()
TRAIN, TEST = np.arange(45), np.arange(45, 60)
BOTH = Proximities(S, F)
CUT = BOTH[np.ix_(TRAIN, TRAIN)], BOTH[np.ix_(TEST, TRAIN)]


def default():
    return FusedClassifier([("sda", LocalSDA(8, alpha=0.1)), ("bda", LocalBDA(6))])


class TestProductRule:
    def test_it_is_the_product_of_the_joint_probabilities(self):
        train, test = CUT
        fused = default().fit(train, Y[TRAIN])
        sda = LocalSDA(8, alpha=0.1).fit(train.S, Y[TRAIN]).predict_joint_log_proba(test.S)
        bda = LocalBDA(6).fit(F[TRAIN], Y[TRAIN]).predict_joint_log_proba(F[TEST])
        expected = [product_of_joints(joints) for joints in zip(sda.tolist(), bda.tolist())]
        assert_allclose(fused.predict_proba(test), expected, rtol=1e-10, atol=1e-14)
        assert_array_equal(fused.predict(test), fused.classes_[np.argmax(expected, axis=1)])

    def test_the_default_parts(self):
        train, test = CUT
        plain = FusedClassifier().fit(train, Y[TRAIN])
        named = FusedClassifier([("sda", LocalSDA(alpha=0.1)), ("bda", LocalBDA())]).fit(train, Y[TRAIN])
        assert list(plain.parts_) == ["sda", "bda"]
        assert_array_equal(plain.predict_proba(test), named.predict_proba(test))

    def test_both_kinds_of_information_are_used(self):
        scores = {
            "fused": cross_val_score(default(), BOTH, Y, cv=5).mean(),
            "similarities": cross_val_score(LocalSDA(8, alpha=0.1), S, Y, cv=5).mean(),
            "features": cross_val_score(LocalBDA(6), F, Y, cv=5).mean(),
        }
        assert scores["fused"] > max(scores["similarities"], scores["features"])

    def test_one_part_is_that_part(self):
        fused = FusedClassifier([("knn", KNNClassifier(5))]).fit(CUT[0], Y[TRAIN])
        alone = KNNClassifier(5).fit(CUT[0].S, Y[TRAIN])
        assert_allclose(fused.predict_proba(CUT[1]), alone.predict_proba(CUT[1].S), atol=1e-15)

    def test_where_the_parts_leave_nothing_the_first_decides(self):
        near = np.array([[5.0, 0.0], [0.0, 5.0]])
        parts = [("first", KNNClassifier(1)), ("second", KNNClassifier(1))]
        fused = FusedClassifier(parts).fit(Proximities({"first": near, "second": near}), ["a", "b"])
        rows = Proximities({"first": [[1.0, 2.0]], "second": [[2.0, 1.0]]})
        assert_array_equal(fused.predict_proba(rows), [[0.0, 1.0]])

    def test_costs_and_priors(self):
        train, test = CUT
        plain = default().fit(train, Y[TRAIN])
        posterior = plain.predict_proba(test)
        costs = np.array([[0.0, 1, 1], [20, 0, 1], [30, 1, 0]])
        model = default().set_params(costs=costs).fit(train, Y[TRAIN])
        assert_array_equal(model.predict(test), plain.classes_[np.argmin(posterior @ costs.T, axis=1)])
        assert_array_equal(model.predict_proba(test), posterior)
        assert np.any(model.predict(test) != plain.predict(test))
        priors = np.array([0.7, 0.2, 0.1])
        rescaled = posterior * priors * 3
        model = default().set_params(priors=dict(zip("xyz", priors))).fit(train, Y[TRAIN])
        assert_allclose(model.predict_proba(test), rescaled / rescaled.sum(axis=1, keepdims=True), rtol=1e-10)

    def test_classes_of_prior_0_get_nothing(self):
        near = np.array([[5.0, 0.0], [0.0, 5.0]])
        model = FusedClassifier([("knn", KNNClassifier(1))], priors=[1.0, 0.0]).fit(near, [0, 1])
        assert_array_equal(model.predict_proba([[1.0, 2.0], [2.0, 1.0]]), [[1.0, 0.0], [1.0, 0.0]])

    def test_no_underflow_with_many_classes(self):
        rng = np.random.default_rng(0)
        y = np.repeat(np.arange(100), 3)
        X = rng.normal(size=(300, 40)) + 30 * rng.normal(size=(100, 40))[y]
        parts = [(name, LocalBDA(3)) for name in "abc"]
        model = FusedClassifier(parts).fit(Proximities(X @ X.T, X), y)
        logs = model.predict_log_proba(Proximities(X @ X.T, X))
        assert np.isfinite(logs).all()
        assert_allclose(np.exp(logs).sum(axis=1), 1.0)
        assert np.mean(model.predict(Proximities(X @ X.T, X)) == y) > 0.99

    @settings(max_examples=20)
    @given(st.integers(0, 10**6), st.integers(1, 12), st.integers(1, 12), st.sampled_from([1e-100, 1.0, 1e100]))
    def test_random_problems(self, seed, k, k_features, scale):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(2, 16))
        A, y = scale * rng.integers(0, 4, (n, n)), rng.integers(0, 4, n)
        X = rng.integers(0, 3, (n, 2)).astype(float)
        fused = FusedClassifier([("sda", LocalSDA(k, alpha=0.2)), ("bda", LocalBDA(k_features))]).fit(
            Proximities(A, X), y
        )
        sda = LocalSDA(k, alpha=0.2).fit(A, y).predict_joint_log_proba(A)
        bda = LocalBDA(k_features).fit(X, y).predict_joint_log_proba(X)
        expected = [product_of_joints(joints) for joints in zip(sda.tolist(), bda.tolist())]
        assert_allclose(fused.predict_proba(Proximities(A, X)), expected, rtol=1e-8, atol=1e-12)


class TestInputOfParts:
    def test_plain_similarities_are_features_too(self):
        model = default().fit(S[:45, :45], Y[TRAIN])
        bda = LocalBDA(6).fit(S[:45, :45], Y[TRAIN])
        assert_array_equal(model.parts_["bda"].predict_proba(S[45:, :45]), bda.predict_proba(S[45:, :45]))
        given = default().fit(Proximities(S[:45, :45], S[:45, :45]), Y[TRAIN])
        rows = S[45:, :45]
        assert_array_equal(model.predict_proba(rows), given.predict_proba(Proximities(rows, rows)))

    def test_several_by_name(self):
        parts = [("near", SDA()), ("far", LocalSDA(9)), ("one", GaussianNB()), ("two", LocalBDA(5))]
        data = Proximities({"far": S, "near": S**2}, {"two": F, "one": F[:, :1]})
        train, test = data[np.ix_(TRAIN, TRAIN)], data[np.ix_(TEST, TRAIN)]
        fused = FusedClassifier(parts).fit(train, Y[TRAIN])
        alone = [
            SDA().fit(S[:45, :45] ** 2, Y[TRAIN]).predict_log_proba(S[45:, :45] ** 2),
            LocalSDA(9).fit(S[:45, :45], Y[TRAIN]).predict_log_proba(S[45:, :45]),
            GaussianNB().fit(F[:45, :1], Y[TRAIN]).predict_log_proba(F[45:, :1]),
            LocalBDA(5).fit(F[:45], Y[TRAIN]).predict_log_proba(F[45:]),
        ]
        logs = np.sum(alone, axis=0)
        expected = np.exp(logs - logs.max(axis=1, keepdims=True))
        assert_allclose(fused.predict_proba(test), expected / expected.sum(axis=1, keepdims=True), rtol=1e-10)
        with pytest.raises(ValueError, match=r"X: the part 'other' needs similarities of its name; X holds several"):
            FusedClassifier([("other", SDA())]).fit(train, Y[TRAIN])
        with pytest.raises(ValueError, match=r"X: the part 'three' needs feature sets of its name; X holds several"):
            FusedClassifier([("near", SDA()), ("three", LocalBDA())]).fit(train, Y[TRAIN])

    def test_raw_objects(self):
        words = ["tree", "trees", "free", "house", "mouse", "horse", "green", "greed"]
        y = [0, 0, 0, 1, 1, 1, 0, 0]
        parts = [
            ("edit", KNNClassifier(5, similarity="levenshtein")),
            ("jaro", KNNClassifier(3, similarity="jaro-winkler")),
        ]
        fused = FusedClassifier(parts).fit(words, y)
        assert not get_tags(fused).input_tags.pairwise
        assert not hasattr(fused, "n_features_in_")
        by_hand = np.prod([part.fit(words, y).predict_proba(["trees", "mouses"]) for _, part in parts], axis=0)
        expected = by_hand / by_hand.sum(axis=1, keepdims=True)
        assert_allclose(fused.predict_proba(["trees", "mouses"]), expected, atol=1e-12)
        search = PathSearchCV(fused, {"edit__n_neighbors": [1, 3]}, cv=2).fit(words, y)
        plain = GridSearchCV(fused, {"edit__n_neighbors": [1, 3]}, cv=2).fit(words, y)
        assert_array_equal(search.cv_results_["mean_test_score"], plain.cv_results_["mean_test_score"])

    def test_pipelines_searches_and_other_libraries(self):
        parts = [
            ("regression", make_pipeline(StandardScaler(), LogisticRegression())),
            ("neighbors", KNeighborsClassifier(15, metric="precomputed")),
            ("tuned", PathSearchCV(LocalSDA(), {"n_neighbors": [4, 9]}, cv=3)),
            ("lda", LinearDiscriminantAnalysis()),
            ("own", SimilaritySVC(probability=True)),
        ]
        data = Proximities({"neighbors": 10 - S, "tuned": S, "own": S}, F, ids=[f"sample {i}" for i in range(60)])
        predicted = cross_val_predict(FusedClassifier(parts), data, Y, cv=3, method="predict_proba")
        assert predicted.shape == (60, 3)
        assert np.mean(np.array(["x", "y", "z"])[predicted.argmax(axis=1)] == Y) > 0.6

    def test_columns_are_matched_by_id(self):
        ids = [f"sample {i}" for i in range(60)]
        parts = [("ours", LocalSDA()), ("other", GaussianNB())]
        model = FusedClassifier(parts).fit(Proximities(S, ids=ids)[np.ix_(TRAIN, TRAIN)], Y[TRAIN])
        expected = model.predict_proba(Proximities(S[45:, :45], column_ids=ids[:45]))
        backward = Proximities(S[45:, :45][:, ::-1], column_ids=ids[:45][::-1])
        assert np.array_equal(model.predict_proba(backward), expected)
        with pytest.raises(ValueError, match="1 of 45 samples that are needed have no column: 'sample 0'"):
            model.predict(Proximities(S[45:, 1:45], column_ids=ids[1:45]))

    def test_features_that_are_missing_in_predict(self):
        model = default().fit(*[CUT[0], Y[TRAIN]])
        with pytest.raises(ValueError, match=r"X must hold the same features as in fit .features.; got none"):
            model.predict(S[45:, :45])
        # Even where their number would not tell.
        square = default().fit(Proximities(S, S), Y)
        with pytest.raises(ValueError, match=r"in fit .features.; got none"):
            square.predict(S)
        with pytest.raises(ValueError, match=r"in fit .none.; got features"):
            default().fit(S, Y).predict(Proximities(S, S))

    def test_names_that_are_missing_in_predict(self):
        parts = [("one", LocalSDA(5)), ("two", LocalSDA(5)), ("size", LocalBDA(5))]
        model = FusedClassifier(parts).fit(Proximities({"one": S, "two": S**2}, {"size": F}), Y)
        with pytest.raises(ValueError, match=r"the same similarities as in fit .one, two.; got two"):
            model.predict(Proximities({"two": S}, {"size": F}))
        with pytest.raises(ValueError, match=r"the same features as in fit .size.; got sizes"):
            model.predict(Proximities({"one": S, "two": S**2}, {"sizes": F}))
        # What no part needs may be missing, and the only one needs no name.
        alone = FusedClassifier(parts[:1]).fit(Proximities({"one": S}, F), Y)
        assert_array_equal(alone.predict(S), alone.predict(Proximities(S, F)))

    def test_features_as_data_frames_and_sparse_matrices(self):
        frame = pd.DataFrame(F, columns=["width", "height"])
        by_name = ColumnTransformer([("height", StandardScaler(), ["height"])])
        parts = [("sda", LocalSDA(5)), ("height", make_pipeline(by_name, GaussianNB()))]
        found = cross_val_predict(FusedClassifier(parts), Proximities(S, frame), Y, cv=3, method="predict_proba")
        parts = [("sda", LocalSDA(5)), ("height", make_pipeline(StandardScaler(), GaussianNB()))]
        alone = Proximities(S, F[:, 1:])
        assert_allclose(found, cross_val_predict(FusedClassifier(parts), alone, Y, cv=3, method="predict_proba"))
        with pytest.raises(ValueError, match=r"features must have one entry per row of S \(60\); got 5"):
            Proximities(S, 5)
        counts = sparse.coo_array(np.round(np.abs(F)))
        parts = [("sda", LocalSDA(5)), ("counts", MultinomialNB())]
        found = cross_val_predict(FusedClassifier(parts), Proximities(S, counts), Y, cv=3)
        assert_array_equal(found, cross_val_predict(FusedClassifier(parts), Proximities(S, counts.toarray()), Y, cv=3))

    def test_parts_that_are_sure_do_not_warn(self):
        parts = [("sda", LocalSDA(5)), ("forest", RandomForestClassifier(5, random_state=0))]
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            model = FusedClassifier(parts).fit(Proximities(S, F), Y)
            assert np.isfinite(model.predict_proba(Proximities(S, F))).all()

    @pytest.mark.parametrize("bad", [np.full((60, 2), 0.5), np.full((60, 3), np.nan), np.full(60, 0.5)])
    def test_parts_that_do_not_answer_for_each_class(self, bad, monkeypatch):
        model = FusedClassifier([("sda", LocalSDA(5)), ("nb", GaussianNB())]).fit(BOTH, Y)
        monkeypatch.setattr(GaussianNB, "predict_log_proba", lambda self, X: bad)
        with pytest.raises(ValueError, match="parts: 'nb' must give each of the 3 classes a probability"):
            model.predict(BOTH)

    def test_parts_with_other_classes(self):
        model = FusedClassifier([("sda", LocalSDA(5)), ("nb", GaussianNB())]).fit(BOTH, Y)
        model.parts_["nb"].classes_ = model.classes_[::-1]
        with pytest.raises(ValueError, match="parts: 'nb' must give each of the 3 classes a probability"):
            model.predict(BOTH)

    def test_raw_objects_are_no_features(self):
        parts = [("words", LocalSDA(similarity="levenshtein")), ("bda", LocalBDA())]
        for words in (["ab", "abc", "xy"], np.array(["ab", "abc", "xy"])):
            with pytest.raises(ValueError, match="the part 'bda' needs features, but X seems to hold raw objects"):
                FusedClassifier(parts).fit(words, [0, 0, 1])

    def test_sparse_similarities(self):
        model, dense = default().fit(sparse.csr_array(S), Y), default().fit(S, Y)
        assert_array_equal(model.predict_proba(sparse.csr_array(S[:5])), dense.predict_proba(S[:5]))


class TestErrorsAndParameters:
    @pytest.mark.parametrize("parts", [[], "sda", [SDA()], [("a", SDA(), 1)], [(1, SDA())], [("a", "b")]])
    def test_parts_must_be_named_estimators(self, parts):
        with pytest.raises(ValueError, match=r"parts must be a list of \(name, estimator\), at least one"):
            FusedClassifier(parts).fit(S, Y)

    def test_names_are_checked(self):
        with pytest.raises(ValueError, match="not unique"):
            FusedClassifier([("a", SDA()), ("a", LocalSDA())]).fit(S, Y)
        with pytest.raises(ValueError, match="gives no probabilities"):
            FusedClassifier([("a", NearestCentroid())]).fit(S, Y)
        with pytest.raises(ValueError, match=r"'svm' .SimilaritySVC. gives no probabilities; set probability=True"):
            FusedClassifier([("svm", SimilaritySVC())]).fit(S, Y)

    def test_other_errors(self):
        with pytest.raises(NotFittedError):
            default().predict(S)
        with pytest.raises(ValueError, match="one label per sample"):
            default().fit(S, Y[:7])
        with pytest.raises(ValueError, match="costs must have shape"):
            FusedClassifier(costs=np.ones((2, 2))).fit(S, Y)
        fitted = default().fit(S, Y)
        with pytest.raises(ValueError, match="NaN"):
            fitted.fit(np.full((60, 60), np.nan), Y)
        assert_array_equal(fitted.predict(S), default().fit(S, Y).predict(S))

    def test_parameters_set_after_fit_change_nothing_until_the_next(self):
        model = default().fit(*(CUT[0], Y[TRAIN]))
        before = model.predict_log_proba(CUT[1]), model.predict(CUT[1])
        model.set_params(sda__n_neighbors=2, costs=1 - np.eye(3), priors=[1.0, 0.0, 0.0])
        assert_array_equal(model.predict_log_proba(CUT[1]), before[0])
        model.set_params(parts=[("words", KNNClassifier(similarity="levenshtein"))])
        assert_array_equal(model.predict_log_proba(CUT[1]), before[0])
        assert_array_equal(model.predict(CUT[1]), before[1])

    def test_the_number_of_columns_is_that_of_the_similarities(self):
        for parts in (default().parts, default().parts[::-1]):
            assert FusedClassifier(parts).fit(BOTH, Y).n_features_in_ == 60
        assert not hasattr(FusedClassifier([("nb", GaussianNB())]).fit(F, Y), "n_features_in_")

    def test_parameters_of_the_default_parts_can_be_set(self):
        model = FusedClassifier()
        assert model.get_params()["sda__alpha"] == 0.1
        assert model.parts is None
        changed = clone(model).set_params(sda__alpha=0.5, bda__n_neighbors=3)
        assert dict(changed.parts)["sda"].alpha == 0.5
        assert dict(changed.parts)["bda"].n_neighbors == 3
        assert changed.set_params(parts=None).parts is None
        assert clone(model).set_params(bda=LocalBDA(4)).parts[1][1].n_neighbors == 4
        assert clone(changed).get_params()["costs"] is None

    def test_pickle(self):
        model = pickle.loads(pickle.dumps(default().fit(S, Y)))
        assert_array_equal(model.predict_proba(S), default().fit(S, Y).predict_proba(S))


GRID = {"sda__n_neighbors": [3, 8], "sda__alpha": [0.01, 0.5], "bda__n_neighbors": [1, 6, 40]}


class TestPaths:
    @pytest.mark.untraced
    @pytest.mark.parametrize("data", [BOTH, S], ids=["features", "similarity rows"])
    def test_joint_tuning_equals_plain_fits(self, data):
        options = {"cv": 3, "scoring": ["accuracy", "neg_log_loss"], "refit": "accuracy"}
        path, plain = (search(default(), GRID, **options).fit(data, Y) for search in (PathSearchCV, GridSearchCV))
        for score in ("mean_test_accuracy", "mean_test_neg_log_loss"):
            assert_allclose(path.cv_results_[score], plain.cv_results_[score], rtol=1e-9)
        assert len(np.unique(plain.cv_results_["mean_test_neg_log_loss"])) > 3
        assert path.best_params_ == plain.best_params_

    def test_each_part_is_asked_once_for_its_own_values(self, monkeypatch):
        asked = []
        for kind in (LocalSDA, LocalBDA):
            whole = kind._fit_path

            def counted(self, training, labels, points, whole=whole):
                asked.append((type(self).__name__, len(points)))
                return whole(self, training, labels, points)

            monkeypatch.setattr(kind, "_fit_path", counted)
        PathSearchCV(default(), GRID, cv=2, refit=False).fit(BOTH, Y)
        assert sorted(asked) == [("LocalBDA", 3), ("LocalBDA", 3), ("LocalSDA", 4), ("LocalSDA", 4)]

    def test_parts_without_a_path_and_exchanged_parts(self):
        parts = [("lda", LinearDiscriminantAnalysis()), ("knn", KNNClassifier())]
        grid = {"knn__n_neighbors": [2, 6], "lda__solver": ["svd", "eigen"], "lda__shrinkage": [None]}
        path = PathSearchCV(FusedClassifier(parts), grid, cv=3).fit(BOTH, Y)
        plain = GridSearchCV(FusedClassifier(parts), grid, cv=3).fit(BOTH, Y)
        assert_allclose(path.cv_results_["mean_test_score"], plain.cv_results_["mean_test_score"], rtol=1e-12)
        exchanged = {"knn": [KNNClassifier(3), SDA()]}
        path = PathSearchCV(FusedClassifier(parts), exchanged, cv=3).fit(BOTH, Y)
        plain = GridSearchCV(FusedClassifier(parts), exchanged, cv=3).fit(BOTH, Y)
        assert_allclose(path.cv_results_["mean_test_score"], plain.cv_results_["mean_test_score"], rtol=1e-12)

    def test_the_points_of_a_path_are_fitted_estimators(self):
        grid = [
            {"sda__n_neighbors": 3, "bda__n_neighbors": 6},
            {"sda__n_neighbors": 8, "bda__n_neighbors": 6, "sda__alpha": 0.5},
        ]
        fits = GridFit(default(), CUT[0], Y[TRAIN], grid)
        for i, (point, answer) in enumerate(zip(grid, fits.answers(CUT[1], "predict_log_proba"))):
            found, plain = fits.at(i), default().set_params(**point).fit(CUT[0], Y[TRAIN])
            assert_allclose(answer, plain.predict_log_proba(CUT[1]), rtol=1e-12)
            assert_array_equal(found.predict_log_proba(CUT[1]), answer)
            assert found.parts_["sda"].n_neighbors_ == plain.parts_["sda"].n_neighbors_
            assert found.n_features_in_ == 45

    def test_parts_on_raw_objects(self):
        words = ["tree", "trees", "free", "house", "mouse", "horse", "green", "greed"]
        parts = [(name, KNNClassifier(3, similarity=name)) for name in ("levenshtein", "jaro-winkler")]
        grid = [{"levenshtein__n_neighbors": k, "jaro-winkler__weights": w} for k in (1, 4) for w in ("uniform", "kri")]
        y = [0, 0, 0, 1, 1, 1, 0, 0]
        answers = GridFit(FusedClassifier(parts), words, y, grid).answers(["trees", "mouses"], "predict_proba")
        for point, answer in zip(grid, answers, strict=True):
            plain = FusedClassifier(parts).set_params(**point).fit(words, y)
            assert_allclose(answer, plain.predict_proba(["trees", "mouses"]), rtol=1e-12)

    def test_each_on_its_own(self):
        inner = {"n_neighbors": [2, 5, 9]}
        sda, bda = (PathSearchCV(part, inner, cv=3) for part in (LocalSDA(alpha=0.1), LocalBDA()))
        train, test, y_train, _ = train_test_split(BOTH, Y, test_size=15, random_state=0, stratify=Y)
        fused = FusedClassifier([("sda", sda), ("bda", bda)]).fit(train, y_train)
        alone = PathSearchCV(LocalBDA(), inner, cv=3).fit(train.features, y_train)
        assert fused.parts_["bda"].best_params_ == alone.best_params_
        assert fused.predict(test).shape == (15,)


class TestFusedKNN:
    @settings(max_examples=40)
    @given(st.integers(0, 10**6), st.integers(1, 20), st.integers(1, 20), st.sampled_from([1e-150, 1.0, 1e150]))
    def test_the_vote_counted_by_hand(self, seed, k, m, scale):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(1, 12))
        A, y = rng.integers(0, 4, (n, n)).astype(float), rng.integers(0, 3, n)
        X, new = rng.integers(0, 3, (n, 2)).astype(float), rng.integers(0, 3, (4, 2)).astype(float)
        rows = rng.integers(0, 4, (4, n)).astype(float)
        model = FusedKNN((k, m) if k != m else k).fit(Proximities(scale * A, scale * X), y)
        given = Proximities(scale * rows, scale * new)
        predicted, posterior = model.predict(given), model.predict_proba(given)
        for i in range(4):
            shares, winner = combined_vote(rows[i], new[i], X, y.tolist(), min(k, n), min(m, n))
            assert predicted[i] == winner
            assert_allclose(posterior[i], [shares.get(c, 0.0) for c in model.classes_.tolist()], atol=1e-15)

    def test_similarity_rows_are_the_features_where_there_are_none(self):
        plain = FusedKNN(4).fit(S[:45, :45], Y[TRAIN])
        given = FusedKNN(4).fit(Proximities(S[:45, :45], S[:45, :45]), Y[TRAIN])
        rows = S[45:, :45]
        assert_array_equal(plain.predict_proba(rows), given.predict_proba(Proximities(rows, rows)))

    @pytest.mark.parametrize("scoring", ["accuracy", "neg_log_loss"])
    @pytest.mark.parametrize("data", [BOTH, S], ids=["features", "similarity rows"])
    def test_path_equals_plain_fits(self, data, scoring):
        grid = {"n_neighbors": [1, 4, (4, 4), (1, 9), (200, 3), 200]}
        path = PathSearchCV(FusedKNN(), grid, cv=4, scoring=scoring).fit(data, Y)
        plain = GridSearchCV(FusedKNN(), grid, cv=4, scoring=scoring).fit(data, Y)
        assert_allclose(path.cv_results_["mean_test_score"], plain.cv_results_["mean_test_score"], rtol=1e-9)

    def test_parameters_set_after_fit_change_nothing_until_the_next(self):
        model = FusedKNN(5).fit(BOTH, Y)
        before = model.predict_proba(BOTH), model.predict(BOTH)
        model.set_params(n_neighbors=1, costs=1 - np.eye(3), priors=[1.0, 0.0, 0.0])
        assert_array_equal(model.predict_proba(BOTH), before[0])
        assert_array_equal(model.predict(BOTH), before[1])

    def test_costs_and_priors(self):
        plain = FusedKNN(5).fit(BOTH, Y).predict_proba(BOTH)
        costs = np.array([[0.0, 1, 1], [9, 0, 1], [9, 1, 0]])
        model = FusedKNN(5, costs=costs, priors=[0.2, 0.2, 0.6]).fit(BOTH, Y)
        rescaled = plain * [0.2, 0.2, 0.6]
        rescaled /= rescaled.sum(axis=1, keepdims=True)
        assert_allclose(model.predict_proba(BOTH), rescaled)
        expected = rescaled @ costs.T
        assert_allclose(
            expected[np.arange(60), np.searchsorted(model.classes_, model.predict(BOTH))], expected.min(axis=1)
        )

    def test_raw_objects_and_dissimilarities(self):
        words = ["tree", "trees", "free", "house", "mouse", "horse", "green", "greed"]
        y = [0, 0, 0, 1, 1, 1, 0, 0]
        D = pairwise(words, similarity="levenshtein")
        raw = FusedKNN(3, similarity="levenshtein").fit(words, y)
        mapped = FusedKNN(3, dissimilarity="max-minus").fit(D, y)
        assert_array_equal(raw.predict_proba(words[:4]), mapped.predict_proba(D[:4]))

    def test_errors(self):
        with pytest.raises(ValueError, match=r"X holds several feature sets, but one is needed"):
            FusedKNN().fit(Proximities(S, {"a": F, "b": F}), Y)
        with pytest.raises(ValueError, match="n_neighbors must be"):
            FusedKNN(0).fit(S, Y)
        with pytest.raises(ValueError, match="n_neighbors must be an integer or a pair of integers"):
            FusedKNN((1, 2, 3)).fit(S, Y)
        model = FusedKNN().fit(BOTH, Y)
        with pytest.raises(ValueError, match="features was given in fit and is missing here"):
            model.predict(S)
        with pytest.raises(ValueError, match=r"X.features must have 2 columns, as in fit; got 1"):
            model.predict(Proximities(S, F[:, :1]))
        with pytest.raises(ValueError, match="NaN"):
            FusedKNN().fit(Proximities(S, np.full((60, 2), np.nan)), Y)


@pytest.mark.parametrize("absent", ["zero", "unknown"])
def test_unknown_similarities_are_filled_for_a_part_on_rows_as_features(absent, tmp_path):
    S = np.exp(-np.abs(np.subtract.outer(np.arange(12.0), np.arange(12.0))))
    S[0, 3] = np.nan
    stored = ~np.isnan(S)
    given = S if absent == "zero" else sparse.csr_matrix((S[stored], np.nonzero(stored)), shape=S.shape)
    y = np.arange(12) // 6
    with pytest.raises(ValueError, match="the part 'bda' needs the similarities of all pairs"):
        FusedClassifier([("bda", LocalBDA()), ("knn", KNNClassifier())]).fit(Proximities(given, absent=absent), y)
    complete = S.copy()
    complete[0, 3] = np.nanmin(S)
    expected = FusedClassifier().fit(complete, y)
    model = FusedClassifier().fit(Proximities(given, absent=absent, fill="farthest"), y)
    assert model.predict_proba(complete).tolist() == expected.predict_proba(complete).tolist()
    save_model(tmp_path / "model", model)
    rows = Proximities(given, absent=absent)
    assert load_model(tmp_path / "model").predict_proba(rows) == pytest.approx(expected.predict_proba(complete))
    features = np.arange(12.0)[:, None]
    FusedClassifier().fit(Proximities(given, features, absent=absent, fill="farthest"), y)
