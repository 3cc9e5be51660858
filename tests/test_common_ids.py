"""Labels, groups and weights follow the ids of the samples, and columns those of the training samples.

Every estimator, and every function that takes labels, groups or weights, keeps the table on the page on input.
"""

import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold, cross_val_score, learning_curve, permutation_test_score
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC

from similitude import (
    AutoClassifier,
    CombinedClassifier,
    DBoostClassifier,
    FusedClassifier,
    KNNClassifier,
    LandmarkClassifier,
    MixedSimilarity,
    MixtureSVC,
    PairwiseMeta,
    PathSearchCV,
    PredictionSets,
    Proximities,
    SimilarityFeatures,
    SimilarityGroupKFold,
    SimilaritySVC,
    compare_similarities,
    error_by_similarity,
    goodness,
    similarity_groups,
    train_test_split,
)
from similitude.datasets import make_negative_direction
from similitude.diagnosis import diagnose
from similitude.experiments import Protocol, pooled_search, run
from similitude.features.landmark_classifier import fit_by_moments
from similitude.persistence import load_model, save_model
from similitude.plotting import RiskCoverageDisplay, SimilarityMatrixDisplay
from similitude.proximity import SimilarityWarning
from similitude.report import find
from similitude.similarities import VDM
from similitude.theory import generalization_bound_of
from tests.estimators import CLASSIFIERS, FAMILIES, FEATURE_CLASSIFIERS, PIPELINES, TRANSFORMERS

N = 26
rng = np.random.default_rng(11)
Y = np.repeat(["a", "b"], N // 2)
POINTS = rng.normal(size=(N, 2)) + np.repeat([[0.0], [1.8]], N // 2, axis=0)
S = np.exp(-((POINTS[:, None] - POINTS[None]) ** 2).sum(axis=2))
IDS = np.array([f"s{i}" for i in rng.permutation(N)], dtype=object)
NUMBERS = rng.permutation(N)
SHUFFLED = rng.permutation(N)
WORDS = np.array([f"{label}{i % 4}" for i, label in enumerate(Y)], dtype=object)
GROUPS = np.arange(N) % 7
WEIGHTS = 1.0 + np.arange(N) % 3
KNN = KNNClassifier(3)


def series(values, index=IDS):
    """The values with these names, in another order."""
    return pd.Series(values, index=index).iloc[SHUFFLED]


FRAME = pd.DataFrame(S, index=IDS, columns=IDS)
NUMBERED = pd.DataFrame(S, index=NUMBERS, columns=NUMBERS)
FEATURES = pd.DataFrame(POINTS, index=IDS, columns=["x", "y"])

# The rows of the table on the page on input: X, y, and whether y is used in the order of X.
MATCHED = {
    "frame, Series": (FRAME, series(Y)),
    "frame, dict": (FRAME, dict(series(Y))),
    "frame, table of one column": (FRAME, series(Y).to_frame()),
    "frame whose columns are in another order": (FRAME.iloc[:, SHUFFLED], series(Y)),
    "frame, RangeIndex": (FRAME, pd.Series(Y)),
    "frame, a part of a RangeIndex": (FRAME, pd.Series(Y, index=np.arange(N) ** 2)),
    "frame, list": (FRAME, Y.tolist()),
    "wrapped frame": (Proximities(FRAME), series(Y)),
    "ids": (Proximities(S, ids=IDS), series(Y)),
    "ids that are numbers": (Proximities(S, ids=NUMBERS), series(Y, NUMBERS)),
    "ids that are numbers, RangeIndex": (Proximities(S, ids=NUMBERS), pd.Series(Y)),
    "ids that are text, the same numbers": (Proximities(S, ids=NUMBERS.astype(str)), pd.Series(Y, index=NUMBERS)),
    "integer index, the same": (NUMBERED, pd.Series(Y, index=NUMBERS)),
    "integer index, RangeIndex": (NUMBERED, pd.Series(Y)),
    "integer index, dict": (NUMBERED, dict(series(Y, NUMBERS))),
    "RangeIndex, other numbers": (pd.DataFrame(S), pd.Series(Y, index=NUMBERS + 100)),
    "array, names": (S, pd.Series(Y, index=IDS)),
}
BY_ID = "matched to the samples by their ids, and has"
UNCLEAR = "different whole numbers as index"
REFUSED = {
    "missing": (FRAME, series(Y).iloc[1:], f"{BY_ID} no label for"),
    "unknown": (FRAME, pd.concat([series(Y), pd.Series(["a"], index=["zz"])]), f"{BY_ID} labels for 'zz'"),
    "other names": (FRAME, series(Y).rename(lambda name: name + "x"), rf"{BY_ID} labels for .*y\.to_numpy\(\)"),
    "names twice": (FRAME, pd.concat([series(Y), series(Y)[:1]]), "several labels for"),
    "numbers in another order": (FRAME, pd.Series(Y).iloc[SHUFFLED], BY_ID),
    "other ids that are numbers": (Proximities(S, ids=NUMBERS), pd.Series(Y, index=np.arange(N) + 5).iloc[:], BY_ID),
    "numbers that are ids as text": (
        Proximities(S, ids=NUMBERS.astype(str)),
        pd.Series(Y, index=NUMBERS).sort_index(),
        f"{BY_ID} labels for 0, 1, .*differ only in that they are text or numbers",
    ),
    "dict": (Proximities(S, ids=IDS), dict(series(Y).iloc[2:]), f"{BY_ID} no label for"),
    "dict without ids": (S, dict(series(Y)), "the samples have no ids"),
    "integer index in another order": (NUMBERED, series(Y, NUMBERS), rf"{UNCLEAR}.*y\.loc\[X\.index\].*y\.to_numpy"),
    "wrapped integer index": (Proximities(NUMBERED), series(Y, NUMBERS), UNCLEAR),
    "other integers": (NUMBERED, pd.Series(Y, index=NUMBERS + 5), UNCLEAR),
    "RangeIndex in another order": (pd.DataFrame(S), pd.Series(Y)[::-1], UNCLEAR),
}


def name_of(estimator):
    return str(estimator).replace("\n", "").replace(" ", "")


on_classifiers = pytest.mark.parametrize("classifier", CLASSIFIERS, ids=name_of)
on_transformers = pytest.mark.parametrize("transformer", TRANSFORMERS, ids=name_of)
on_families = pytest.mark.parametrize("estimator", FAMILIES, ids=name_of)


@pytest.fixture(autouse=True)
def _quiet():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SimilarityWarning)
        yield


def values(fitted, X):
    asks = ("transform", "predict_proba", "decision_function", "predict")
    found = getattr(fitted, next(ask for ask in asks if hasattr(fitted, ask)))(X)
    return found.toarray() if sparse.issparse(found) else np.asarray(found)


def check_same(found, expected):
    """Check that answers are equal, up to the order in which a matrix with another layout is summed."""
    if expected.dtype.kind == "f":
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9 * np.abs(expected).max())
    else:
        np.testing.assert_array_equal(found, expected)


# The table


@pytest.mark.parametrize("case", MATCHED)
def test_labels_are_matched_or_taken_in_order(case):
    X, y = MATCHED[case]
    model = KNNClassifier(3).fit(X, y)
    assert model.classes_[model._path.labels.codes].tolist() == Y.tolist()
    rows = X if isinstance(X, Proximities) else S
    assert model.score(X, y) == np.mean(model.predict(rows) == Y)


@pytest.mark.parametrize("case", REFUSED)
def test_labels_that_cannot_be_matched_are_refused(case):
    X, y, found = REFUSED[case]
    with pytest.raises(ValueError, match=found):
        KNNClassifier(3).fit(X, y)
    with pytest.raises(ValueError, match=found):
        KNNClassifier(3).fit(S, Y).score(X, y)


def test_the_index_of_raw_objects_names_them():
    model = KNNClassifier(1, similarity="levenshtein")
    words = pd.Series(WORDS, index=IDS)
    assert model.fit(words, series(Y)).predict(WORDS).tolist() == model.fit(WORDS, Y).predict(WORDS).tolist()
    with pytest.raises(ValueError, match=BY_ID):
        model.fit(words, series(Y).iloc[1:])
    with pytest.raises(ValueError, match=UNCLEAR):
        model.fit(pd.DataFrame({"word": WORDS}, index=NUMBERS), series(Y, NUMBERS))


# Every estimator


@on_classifiers
def test_classifiers(classifier):
    expected = values(clone(classifier).fit(S, Y), S)
    fitted = clone(classifier).fit(FRAME, series(Y))
    check_same(values(fitted, FRAME), expected)
    accuracy = np.mean(fitted.predict(FRAME) == Y)
    assert fitted.score(FRAME, series(Y)) == fitted.score(FRAME, dict(series(Y))) == accuracy
    named = clone(classifier).fit(Proximities(S, ids=IDS), dict(series(Y)))
    check_same(values(named, Proximities(S, column_ids=IDS)), expected)
    numbered = clone(classifier).fit(NUMBERED, pd.Series(Y))
    check_same(values(numbered, S), expected)
    with pytest.raises(ValueError, match=BY_ID):
        clone(classifier).fit(FRAME, series(Y).rename(lambda name: name + "x"))
    with pytest.raises(ValueError, match=UNCLEAR):
        clone(classifier).fit(NUMBERED, series(Y, NUMBERS))


@pytest.mark.parametrize("classifier", FEATURE_CLASSIFIERS, ids=name_of)
def test_classifiers_of_features(classifier):
    expected = values(clone(classifier).fit(POINTS, Y), POINTS)
    check_same(values(clone(classifier).fit(FEATURES, series(Y)), FEATURES), expected)
    with pytest.raises(ValueError, match=BY_ID):
        clone(classifier).fit(FEATURES, series(Y).iloc[1:])


@pytest.mark.parametrize("transformer", [*TRANSFORMERS, *PIPELINES], ids=name_of)
@pytest.mark.parametrize("X", [FRAME, Proximities(FRAME), Proximities(S, ids=IDS)], ids=["frame", "wrapped", "ids"])
def test_transformers_refuse_labels_in_another_order(transformer, X):
    last = [] if hasattr(transformer, "predict") else [LogisticRegression()]
    pipeline = make_pipeline(transformer, *last)
    in_order = clone(pipeline).fit(X, pd.Series(Y, index=IDS))
    check_same(values(in_order, X), values(clone(pipeline).fit(S, Y), S))
    for y in (series(Y), dict(series(Y))):
        with pytest.raises(ValueError, match=r"a transformer cannot reorder it for the steps after it\. Pass .*ids"):
            clone(pipeline).fit(X, y)
    with pytest.raises(ValueError, match=BY_ID):
        clone(pipeline).fit(X, series(Y).iloc[1:])


@on_families
def test_columns_are_matched_to_the_training_samples(estimator):
    fitted = clone(estimator).fit(FRAME, pd.Series(Y, index=IDS))
    expected = values(fitted, FRAME)
    check_same(values(fitted, FRAME.iloc[:, SHUFFLED]), expected)
    wrapped = Proximities(S[:, SHUFFLED], column_ids=IDS[SHUFFLED])
    check_same(values(fitted, wrapped), expected)
    with pytest.raises(ValueError, match=r"1 of .* samples that are needed have no column: 's"):
        values(fitted, FRAME.drop(columns=needed(fitted)[0]))
    with pytest.warns(SimilarityWarning, match="1 columns are not training samples and are ignored: 'new'"):
        more = values(fitted, FRAME.iloc[:, SHUFFLED].assign(new=9.0))
    check_same(more, expected)


def needed(fitted):
    """The ids of the columns that a fitted estimator needs."""
    first = fitted[0] if hasattr(fitted, "steps") else getattr(fitted, "best_estimator_", fitted)
    return IDS[getattr(first, "support_columns_", np.arange(N))]


def test_columns_of_several_similarities():
    several = {"a": FRAME, "b": FRAME**2}
    rows = {name: frame.iloc[:, SHUFFLED] for name, frame in several.items()}
    few = {"methods": ["k-NN", "local SDA"], "n_repeats": 1, "cv": 3}
    for model in (AutoClassifier(**few), MixtureSVC(), MixedSimilarity()):
        fitted = clone(model).fit(several, pd.Series(Y, index=IDS))
        expected = values(fitted, {name: frame.iloc[:5] for name, frame in several.items()})
        check_same(values(fitted, {name: frame.iloc[:5] for name, frame in rows.items()}), expected)
        check_same(values(fitted, rows)[:5], expected)
        check_same(values(clone(model).fit(rows, pd.Series(Y, index=IDS)), rows)[:5], expected)
        assert fitted.ids_.tolist() == IDS.tolist()
        with pytest.raises(ValueError, match="1 of 26 samples that are needed have no column"):
            values(fitted, {name: frame.iloc[:, 1:] for name, frame in rows.items()})


def test_matched_columns_cause_no_warning():
    fitted, rows = clone(KNN).fit(FRAME, Y), Proximities(S[:, SHUFFLED], column_ids=IDS[SHUFFLED])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert fitted.predict(rows).tolist() == fitted.predict(FRAME).tolist()
        assert fitted.predict(FRAME.iloc[:, SHUFFLED]).tolist() == fitted.predict(FRAME).tolist()


def test_names_of_columns_reach_no_estimator_inside():
    """Members that read their input themselves get matched columns, in the form in which they were fitted."""
    members = [("fused", FusedClassifier()), ("svm", SVC(kernel="precomputed")), ("rows", LogisticRegression())]
    for X, used in ((FRAME, members), (Proximities(FRAME), members[:1]), (Proximities(S, ids=IDS), members[:1])):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            fitted = CombinedClassifier(used).fit(X, Y)
            expected = fitted.predict_proba(X)
        check_same(fitted.predict_proba(Proximities(S[:, SHUFFLED], column_ids=IDS[SHUFFLED])), expected)
    auto = AutoClassifier(["k-NN", "SDA and BDA fused"], n_repeats=1, cv=3, diagnose=False).fit(FRAME, Y)
    with pytest.warns(UserWarning, match="valid feature names, but AutoClassifier was fitted with") as found:
        auto.predict(S)
    assert len(found) == 1
    with pytest.raises(ValueError, match="X has 25 features, but AutoClassifier is expecting 26"):
        auto.predict_proba(S[:, 1:])


def test_columns_that_are_numbers():
    model = KNNClassifier(1).fit(NUMBERED, Y)
    expected = model.predict(S).tolist()
    assert model.predict(NUMBERED).tolist() == model.predict(NUMBERED.iloc[:, SHUFFLED]).tolist() == expected
    with pytest.raises(ValueError, match=r"1 of 26 samples that are needed have no column: 7\. .*pass X\.to_numpy"):
        model.predict(NUMBERED.drop(columns=7))
    with pytest.raises(ValueError, match=r"numbered in another way than in fit .*X\.to_numpy"):
        model.predict(pd.DataFrame(S))  # whose columns are either samples 0, 1, 2, ... or the training samples in order
    given = Proximities(S[:, SHUFFLED], column_ids=NUMBERS[SHUFFLED])
    assert model.predict(given).tolist() == KNNClassifier(1).fit(Proximities(S, ids=NUMBERS), Y).predict(given).tolist()
    assert model.predict(given).tolist() == expected

    text = KNNClassifier(1).fit(Proximities(S, ids=NUMBERS.astype(str)), Y)
    assert text.predict(NUMBERED).tolist() == expected
    with pytest.raises(ValueError, match=r"no column: '15', .*differ only in that they are text or numbers"):
        text.predict(NUMBERED.sort_index(axis=1))


@pytest.mark.parametrize("model", [KNN, FusedClassifier(), PredictionSets(KNN)], ids=str)
def test_columns_that_pandas_numbered(model):
    frame = pd.DataFrame(S)
    model = clone(model).fit(frame, Y)
    expected = model.predict(S).tolist()
    assert model.predict(frame).tolist() == model.predict(frame.iloc[:, SHUFFLED]).tolist() == expected
    part = clone(model).fit(frame.iloc[2:, 2:], Y[2:])
    expected = part.predict(S[:, 2:]).tolist()
    with pytest.warns(SimilarityWarning, match="2 columns are not training samples and are ignored: 0, 1"):
        assert part.predict(frame).tolist() == expected
    assert part.predict(frame.iloc[:, :1:-1]).tolist() == expected
    with pytest.raises(ValueError, match="2 of 24 samples that are needed have no column: 24, 25"):
        part.predict(frame.iloc[:, :-2].iloc[:, ::-1])
    with pytest.raises(ValueError, match="numbered in another way than in fit"):
        part.predict(frame.iloc[:, :-2])  # which are the numbers of a new DataFrame, too


def test_features_and_self_similarities_follow_ids():
    own = {"features": FEATURES, "self_similarity": pd.Series(np.arange(N, dtype=float), index=IDS)}
    for X, ids in ((FRAME, None), (S, IDS)):
        held = Proximities(X, **{name: data.iloc[SHUFFLED] for name, data in own.items()}, ids=ids)
        assert held.features.equals(FEATURES)
        assert held.self_similarity.tolist() == list(range(N))
    several = Proximities(FRAME, features={"a": FEATURES.iloc[SHUFFLED]}, self_similarity=dict(own["self_similarity"]))
    assert several.features["a"].equals(FEATURES)
    for name, data in own.items():
        with pytest.raises(ValueError, match=f"{name} is {BY_ID} no entry for"):
            Proximities(FRAME, **{name: data.iloc[1:]})
        with pytest.raises(ValueError, match=f"{name} and X have {UNCLEAR}"):
            Proximities(NUMBERED, **{name: data.set_axis(NUMBERS).iloc[SHUFFLED]})


# scikit-learn


def test_a_search_over_a_pipeline_matches_labels():
    pipeline = make_pipeline(SimilarityFeatures(), LogisticRegression())
    expected = PathSearchCV(pipeline, {"logisticregression__C": [0.1, 10.0]}, cv=3).fit(S, Y)
    search = clone(expected)
    for y in (series(Y), dict(series(Y))):
        assert search.fit(FRAME, y).best_score_ == expected.best_score_
        assert search.score(FRAME, y) == search.score(FRAME.iloc[:, SHUFFLED], y) == expected.score(S, Y) > 0.5
    weighted = PathSearchCV(SimilaritySVC(), {"C": [1.0, 10.0]}, cv=3)
    scores = weighted.fit(FRAME, series(Y), sample_weight=series(WEIGHTS)).cv_results_["mean_test_score"]
    assert scores.tolist() == weighted.fit(S, Y, sample_weight=WEIGHTS).cv_results_["mean_test_score"].tolist()


def test_functions_that_divide_labels_by_position():
    X, plain = Proximities(FRAME), cross_val_score(KNN, S, Y, cv=3)
    for y in (Y, pd.Series(Y), pd.Series(Y, index=IDS)):  # a fold of a plain Series has ascending numbers
        np.testing.assert_array_equal(cross_val_score(KNN, X, y, cv=3), plain)
    with pytest.raises(ValueError, match=BY_ID):
        cross_val_score(KNN, X, series(Y), cv=3)
    with pytest.raises(ValueError, match=BY_ID):
        learning_curve(KNN, X, series(Y), cv=3, train_sizes=[0.5])
    with pytest.raises(ValueError, match=rf"{BY_ID} .*pass y\.to_numpy\(\)"):  # it permutes the ids with the labels
        permutation_test_score(KNN, X, pd.Series(Y, index=IDS), cv=3, n_permutations=2)
    assert permutation_test_score(KNN, X, Y, cv=3, n_permutations=2)[0] == plain.mean()


# Every other function


def folds(found):
    return [test.tolist() for _, test in found]


def leaderboard(found):
    return [(row.method, row.error) for row in found.leaderboard_]


def grown(estimator, X, y):
    """The labels that the estimator predicts for the words after it got them in two parts."""
    model = estimator.fit(WORDS[:10], Y[:10]) if isinstance(estimator, KNNClassifier) else estimator
    return model.partial_fit(X, y).predict(WORDS)


def letters(words):
    """The first and the last letter of each word, as a table with the index of the words."""
    return pd.Series(words).map(lambda word: [word[0], word[-1]]).apply(pd.Series)


FEW = {"methods": ["k-NN"], "n_repeats": 1, "cv": 3}
FITTED = SimilaritySVC().fit(S, Y)
BOOSTED = DBoostClassifier(5, 5, random_state=0).fit(S, Y)
LANDMARKS = LandmarkClassifier(6, random_state=0)
SETS = PredictionSets(KNN, confidence=0.5, class_conditional=False, cv=3)
LINKED = SimilarityGroupKFold(3, threshold=2.0)
LABELS = {
    "goodness": lambda X, y: goodness(X, y).per_sample,
    "diagnose": lambda X, y: diagnose(X, y).leave_one_out_error,
    "find": lambda X, y: find(X, y).labels,
    "train_test_split": lambda X, y: [list(part) for part in train_test_split(X, y, stratify=y, random_state=0)[2:]],
    "error_by_similarity": lambda X, y: error_by_similarity(KNN, X, y, cv=3).error,
    "similarity group folds": lambda X, y: folds(LINKED.split(X, y)),
    "margins": lambda X, y: BOOSTED.margins(X, y),
    "bound": lambda X, y: generalization_bound_of(FITTED, X, y),
    "pooled search": lambda X, y: pooled_search(KNNClassifier(), {"n_neighbors": [1, 5]}, X, y, 3).fewest_errors_,
    "experiment": lambda X, y: (
        run(Protocol.folds(3), {"own": (X, y)}, {"knn": (KNN, {"n_neighbors": [1, 3]})}, progress=False).rows[0].error
    ),
    "moments": lambda X, y: fit_by_moments(LANDMARKS, X, y, None).predict(S),
    "negative direction": lambda X, y: make_negative_direction(X, y).S,
    "matrix display": lambda X, y: SimilarityMatrixDisplay.from_matrix(X, y).image,
    "risk display": lambda X, y: RiskCoverageDisplay.from_estimator(KNNClassifier(3).fit(S, Y), X, y).errors,
    "auto": lambda X, y: leaderboard(AutoClassifier(**FEW).fit(X, y)),
    "compare similarities": lambda X, y: compare_similarities({"a": X, "b": X}, y, **FEW).standings[0].error,
}
OTHERS = {
    "train_test_split": lambda X, g: [
        list(part) for part in train_test_split(X, Y, stratify=Y, groups=g, random_state=0)[2:]
    ],
    "similarity_groups": lambda X, g: similarity_groups(X, 2.0, groups=g),
    "similarity group folds": lambda X, g: folds(LINKED.split(X, Y, g)),
    "error_by_similarity": lambda X, g: error_by_similarity(KNN, X, Y, cv=GroupKFold(3), groups=g).error,
    "search": lambda X, g: PathSearchCV(KNN, {"n_neighbors": [3]}, cv=GroupKFold(3)).fit(X, Y, groups=g).best_score_,
    "auto": lambda X, g: leaderboard(AutoClassifier(**FEW).fit(X, Y, groups=g)),
    "compare similarities": lambda X, g: compare_similarities({"a": X, "b": X}, Y, groups=g, **FEW).standings[0].error,
    "prediction sets": lambda X, g: clone(SETS).fit(X, Y, groups=g).coverage().mean_size,
    "fit": lambda X, w: SimilaritySVC().fit(X, Y, sample_weight=w).dual_coef_,
    "score": lambda X, w: KNNClassifier(3).fit(S, Y).score(X, Y, sample_weight=w),
    "reweighted": lambda X, w: goodness(X, Y).reweighted(w).per_sample,
    "Balcan and Blum": lambda X, w: goodness(X, Y).balcan_blum(np.minimum(w, 1)).margins,
    "reasonable": lambda X, w: goodness(X, Y).reasonable(np.minimum(w, 1)).margins,
}


def check_function(function, own, X, numbered, plain):
    expected = function(plain, own)
    np.testing.assert_equal(function(X, series(own)), expected)
    np.testing.assert_equal(function(X, pd.Series(own, index=IDS)), expected)
    with pytest.raises(ValueError, match=BY_ID):
        function(X, series(own).rename(lambda name: name + "x"))
    with pytest.raises(ValueError, match=UNCLEAR):
        function(numbered, series(own, NUMBERS))


@pytest.mark.parametrize("name", LABELS)
def test_functions_that_take_labels(name):
    check_function(LABELS[name], Y, FRAME, NUMBERED, S)


@pytest.mark.parametrize("name", OTHERS)
def test_functions_that_take_groups_or_weights(name):
    own = GROUPS if "g" in OTHERS[name].__code__.co_varnames else WEIGHTS / WEIGHTS.max()
    check_function(OTHERS[name], own, FRAME, NUMBERED, S)


@pytest.mark.parametrize(
    "function",
    [
        lambda X, y: grown(KNNClassifier(1, similarity="levenshtein"), X, y),
        lambda X, y: grown(LandmarkClassifier(6, random_state=0, similarity="levenshtein"), X, y),
        lambda X, y: VDM().fit(letters(X), y)(letters(X), letters(X)),
    ],
    ids=["k-NN", "landmarks", "VDM"],
)
def test_functions_that_take_labels_of_raw_objects(function):
    check_function(function, Y, pd.Series(WORDS, index=IDS), pd.Series(WORDS, index=NUMBERS), WORDS)


def test_the_predictions_of_auto_are_compared_with_labels_by_id():
    auto = AutoClassifier(**FEW).fit(FRAME, Y)
    expected = RiskCoverageDisplay.from_auto(auto, Y).errors
    np.testing.assert_array_equal(RiskCoverageDisplay.from_auto(auto, series(Y)).errors, expected)
    with pytest.raises(ValueError, match=BY_ID):
        RiskCoverageDisplay.from_auto(auto, series(Y).iloc[1:])


# DataFrames as people have them


def frame_of(ids=IDS, columns=None):
    return pd.DataFrame(S, index=ids, columns=ids if columns is None else columns)


def split_of(frame):
    return train_test_split(frame, pd.Series(Y, index=frame.index), test_size=8, random_state=0)


def test_a_split_puts_the_columns_in_the_order_of_the_rows():
    train, test, y, truth = split_of(frame_of())
    expected = KNNClassifier(3).fit(train, y).predict_proba(test)
    train, test, y, _ = split_of(frame_of().iloc[:, SHUFFLED])
    assert np.array_equal(KNNClassifier(3).fit(train, y).predict_proba(test), expected)
    assert list(test.columns) == list(train.index)
    assert len(truth) == 8


def test_numbers_that_pandas_reads_as_text_in_the_header_are_the_same_ids(tmp_path):
    numbered = frame_of(1001 + NUMBERS)
    numbered.iloc[:, SHUFFLED].to_csv(tmp_path / "s.csv")
    read = pd.read_csv(tmp_path / "s.csv", index_col=0)
    fitted = KNNClassifier(3).fit(read, Y)
    assert np.array_equal(fitted.predict_proba(read.iloc[:5, ::-1]), KNNClassifier(3).fit(S, Y).predict_proba(S[:5]))


@pytest.mark.parametrize("rename", [lambda name: name.replace("s3", "s 3"), str.upper, lambda name: name + " "])
@pytest.mark.parametrize("read", [KNNClassifier(3).fit, lambda frame, y: train_test_split(frame, y), diagnose])
def test_columns_that_are_almost_the_rows_are_refused(rename, read):
    with pytest.raises(ValueError, match=r"matched by their names, and .* but no row\. If the columns are"):
        read(frame_of().rename(columns=rename).iloc[:, SHUFFLED], Y)


def test_rows_have_ids_if_pandas_numbered_the_columns():
    fitted = KNNClassifier(3).fit(frame_of(columns=range(N)), Y)
    assert fitted.ids_.tolist() == IDS.tolist()
    expected = fitted.predict_proba(S[:5])
    for rows in (frame_of().iloc[:5, SHUFFLED], frame_of(columns=range(N)).iloc[:5]):
        assert np.array_equal(fitted.predict_proba(rows), expected)


def test_labels_follow_the_columns_if_pandas_numbered_the_rows():
    frame = frame_of().reset_index(drop=True)
    labels = pd.Series(Y, index=IDS).iloc[SHUFFLED]
    expected = KNNClassifier(3).fit(S, Y).predict_proba(S)
    assert np.array_equal(KNNClassifier(3).fit(frame, labels).predict_proba(S), expected)
    assert np.array_equal(KNNClassifier(3).fit(frame, pd.Series(Y)).predict_proba(S), expected)


@pytest.mark.parametrize(
    "inner",
    [
        PathSearchCV(KNNClassifier(), {"n_neighbors": [1, 3]}, cv=3),
        AutoClassifier(["k-NN"], n_repeats=1),
        PairwiseMeta(CalibratedClassifierCV(SVC(kernel="precomputed"), cv=3)),
    ],
)
def test_labels_and_sets_of_one_object_agree_on_columns_in_another_order(inner):
    train, test, y, _ = split_of(frame_of())
    sets = PredictionSets(inner, confidence=0.6).fit(train, y)
    for rows in (test.iloc[:, ::-1], frame_of().loc[test.index]):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SimilarityWarning)  # columns that are no training samples
            assert np.array_equal(sets.predict(rows), sets.predict(test))
            assert np.array_equal(sets.predict_proba(rows), sets.predict_proba(test))
            assert np.array_equal(sets.predict_set(rows), sets.predict_set(test))
    with pytest.raises(ValueError, match="have no column"):
        sets.predict(frame_of().loc[test.index].iloc[:, : len(train)])


def test_columns_of_raw_objects_are_matched_by_name(tmp_path):
    table = pd.DataFrame(np.c_[POINTS * [1.0, 10.0], rng.normal(size=N)], columns=["x", "y", "z"])
    plain = KNNClassifier(3, similarity="euclidean")
    for estimator in (plain, AutoClassifier(["k-NN"], n_repeats=1, similarity="euclidean"), PredictionSets(plain)):
        fitted = clone(estimator).fit(table, Y)
        save_model(tmp_path / "model", fitted)
        for known in (fitted, load_model(tmp_path / "model")):
            assert np.array_equal(known.predict_proba(table[["z", "x", "y"]]), fitted.predict_proba(table))
            assert np.array_equal(known.predict_proba(table.to_numpy()), fitted.predict_proba(table))
            with pytest.raises(ValueError, match="X lacks the columns 'z'"):
                known.predict(table[["x", "y"]])
            with pytest.raises(ValueError, match="X has other columns: 'w'"):
                known.predict(table.assign(w=1.0))


def test_objects_of_pandas_are_saved(tmp_path):
    words = pd.Series([[f"{label}{i % 3}"] for i, label in enumerate(Y)])
    cells = {"first": [pd.Series(row) for row in S], "second": [pd.Series(row**2) for row in S]}
    for objects, similarity in ((words, "jaccard"), (pd.DataFrame(cells), "dtw"), ([*map(pd.Series, S)], "dtw")):
        fitted = KNNClassifier(3, similarity=similarity).fit(objects, Y)
        save_model(tmp_path / "model", fitted)
        assert np.array_equal(load_model(tmp_path / "model").predict_proba(objects), fitted.predict_proba(objects))


def test_priors_and_costs_follow_the_labels_of_their_index():
    plain = KNNClassifier(7, priors={"a": 0.1, "b": 0.9}, costs={"a": {"a": 0, "b": 1}, "b": {"a": 5, "b": 0}})
    costs = pd.DataFrame([[0, 5], [1, 0]], index=["b", "a"], columns=["b", "a"])
    named = KNNClassifier(7, priors=pd.Series({"b": 0.9, "a": 0.1}), costs=costs)
    expected = plain.fit(S, Y)
    assert np.array_equal(named.fit(S, Y).predict_proba(S), expected.predict_proba(S))
    assert np.array_equal(named.predict(S), expected.predict(S))
    with pytest.raises(ValueError, match="priors must name every class once"):
        KNNClassifier(priors=pd.Series({"b": 0.9, "c": 0.1})).fit(S, Y)


def test_a_model_keeps_its_own_ids(tmp_path):
    fitted = KNNClassifier(3).fit(frame_of(), Y)
    with pytest.raises(ValueError, match="fitted with other ids"):
        save_model(tmp_path / "model", fitted, ids=IDS[::-1].tolist())


def test_series_that_belong_together_have_one_index():
    table = pd.DataFrame(
        {"first": ["a", "a", "b"], "second": ["b", "c", "c"], "third": ["c", "b", "a"], "value": [1, 2, 3]}
    )
    table.index = [3, 5, 4]
    first, moved = table["first"], table["second"].sort_index()
    for make in (Proximities.from_edges, Proximities.from_ratings):
        assert make(first, table["second"], table["value"]).shape == (3, 3)
        with pytest.raises(ValueError, match="have different indexes"):
            make(first, moved, table["value"])
    for make, last in ((Proximities.from_odd_one_out, [first]), (Proximities.from_triads, [])):
        with pytest.raises(ValueError, match="have different indexes"):
            make(first, moved, table["third"], *last)
