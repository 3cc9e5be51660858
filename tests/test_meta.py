"""PairwiseMeta: scikit-learn's meta-estimators on square similarity matrices."""

import pickle
import tracemalloc
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import AdaBoostClassifier, BaggingClassifier, StackingClassifier, VotingClassifier
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_val_predict, cross_val_score
from sklearn.pipeline import make_pipeline, make_union
from sklearn.svm import SVC
from sklearn.utils import get_tags

from similitude import (
    KNNClassifier,
    LocalNearestCentroid,
    PairwiseMeta,
    PathSearchCV,
    Proximities,
    SimilaritySVC,
    SpectrumModifier,
)

N, TRAIN = 60, 45
X = np.random.default_rng(0).normal(size=(N, 3))
y = np.where(X[:, 0] + 0.5 * np.random.default_rng(1).normal(size=N) > 0, "yes", "no")
LINEAR = X @ X.T
SIMILAR = np.exp(-np.sqrt(((X[:, None] - X[None]) ** 2).sum(axis=2)))
INDEFINITE = np.tanh(LINEAR - 0.5)


def clipped_svm():
    return make_pipeline(SpectrumModifier("clip"), SVC(kernel="precomputed"))


def linear_svm():
    return SVC(kernel="precomputed", C=0.5)


INNER = {"knn": lambda: KNNClassifier(5), "clip": clipped_svm}
inner = pytest.mark.parametrize("make", INNER.values(), ids=INNER)


def fitted(meta, S=SIMILAR):
    return PairwiseMeta(meta).fit(S[:TRAIN, :TRAIN], y[:TRAIN])


def with_position(rows):
    """New rows as the estimators inside get them."""
    return np.hstack([np.full((len(rows), 1), -1.0), rows])


# Equal to the same meta-estimator on features, where the kernel is linear


@pytest.mark.parametrize("method", ["sigmoid", "isotonic"])
@pytest.mark.parametrize("ensemble", [True, False])
def test_calibration_on_a_linear_kernel_is_calibration_on_features(method, ensemble):
    options = {"method": method, "cv": 3, "ensemble": ensemble}
    on_kernel = fitted(CalibratedClassifierCV(linear_svm(), **options), LINEAR)
    on_features = CalibratedClassifierCV(SVC(kernel="linear", C=0.5), **options).fit(X[:TRAIN], y[:TRAIN])
    got = on_kernel.predict_proba(LINEAR[TRAIN:, :TRAIN])
    assert np.allclose(got, on_features.predict_proba(X[TRAIN:]), atol=2e-3)
    assert np.array_equal(on_kernel.predict(LINEAR[TRAIN:, :TRAIN]), on_features.predict(X[TRAIN:]))


def test_calibration_of_the_clipped_svm_on_a_psd_kernel_is_calibration_on_features():
    on_kernel = fitted(CalibratedClassifierCV(clipped_svm(), cv=3), LINEAR)
    on_features = CalibratedClassifierCV(SVC(kernel="linear"), cv=3).fit(X[:TRAIN], y[:TRAIN])
    got = on_kernel.predict_proba(LINEAR[TRAIN:, :TRAIN])
    assert np.allclose(got, on_features.predict_proba(X[TRAIN:]), atol=2e-3)


@pytest.mark.parametrize("options", [{"max_samples": 0.6}, {}, {"bootstrap": False, "max_samples": 20}], ids=str)
def test_bagging_on_a_linear_kernel_is_a_vote_of_linear_machines_on_features(options):
    on_kernel = fitted(BaggingClassifier(linear_svm(), 7, random_state=0, **options), LINEAR)
    votes = [
        SVC(kernel="linear", C=0.5).fit(X[rows], y[rows]).predict(X[TRAIN:]) == "yes"
        for rows in on_kernel.meta_.estimators_samples_
    ]
    got = on_kernel.predict(LINEAR[TRAIN:, :TRAIN])
    assert np.array_equal(got == "yes", np.mean(votes, axis=0) > 0.5)


def test_boosting_on_a_linear_kernel_is_boosting_on_features():
    on_kernel = fitted(AdaBoostClassifier(SVC(kernel="precomputed", C=0.1), n_estimators=5, random_state=0), LINEAR)
    on_features = AdaBoostClassifier(SVC(kernel="linear", C=0.1), n_estimators=5, random_state=0)
    on_features.fit(X[:TRAIN], y[:TRAIN])
    assert len(on_kernel.meta_.estimators_) == len(on_features.estimators_)
    got = on_kernel.decision_function(LINEAR[TRAIN:, :TRAIN])
    assert np.allclose(got, on_features.decision_function(X[TRAIN:]), atol=1e-2)


def test_stacking_on_a_linear_kernel_is_stacking_on_features():
    on_kernel = fitted(StackingClassifier([("a", linear_svm()), ("b", SVC(kernel="precomputed", C=10))], cv=3), LINEAR)
    on_features = StackingClassifier([("a", SVC(kernel="linear", C=0.5)), ("b", SVC(kernel="linear", C=10))], cv=3)
    on_features.fit(X[:TRAIN], y[:TRAIN])
    got = on_kernel.predict_proba(LINEAR[TRAIN:, :TRAIN])
    assert np.allclose(got, on_features.predict_proba(X[TRAIN:]), atol=5e-3)


# Equal to cutting rows and columns by hand


@inner
def test_bagging_by_hand(make):
    bagged = fitted(BaggingClassifier(make(), 5, max_samples=0.7, random_state=3), INDEFINITE)
    for rows, model in zip(bagged.meta_.estimators_samples_, bagged.meta_.estimators_):
        by_hand = make().fit(INDEFINITE[np.ix_(rows, rows)], y[rows])
        said = bagged.classes_[model.predict(with_position(INDEFINITE[TRAIN:, :TRAIN]))]
        assert np.array_equal(said, by_hand.predict(INDEFINITE[TRAIN:][:, rows]))


def test_bagged_probabilities_by_hand():
    bagged = fitted(BaggingClassifier(KNNClassifier(5), 5, random_state=3))
    by_hand = np.mean(
        [
            KNNClassifier(5).fit(SIMILAR[np.ix_(r, r)], y[r]).predict_proba(SIMILAR[TRAIN:][:, r])
            for r in bagged.meta_.estimators_samples_
        ],
        axis=0,
    )
    assert np.allclose(bagged.predict_proba(SIMILAR[TRAIN:, :TRAIN]), by_hand)


@inner
def test_calibration_by_hand(make):
    folds = list(StratifiedKFold(3).split(np.zeros(TRAIN), y[:TRAIN]))
    calibrated = fitted(CalibratedClassifierCV(make(), cv=StratifiedKFold(3), ensemble=True), INDEFINITE)
    assert len(calibrated.meta_.calibrated_classifiers_) == 3
    for (rows, _), part in zip(folds, calibrated.meta_.calibrated_classifiers_):
        expected = make().fit(INDEFINITE[np.ix_(rows, rows)], y[rows]).predict(INDEFINITE[TRAIN:][:, rows])
        assert np.array_equal(part.estimator.predict(with_position(INDEFINITE[TRAIN:, :TRAIN])), expected)
    posterior = calibrated.predict_proba(INDEFINITE[TRAIN:, :TRAIN])
    assert np.allclose(posterior.sum(axis=1), 1)


@pytest.mark.parametrize("voting", ["hard", "soft"])
def test_voting_by_hand(voting):
    meta = VotingClassifier([("a", KNNClassifier(3)), ("b", KNNClassifier(9))], voting=voting, weights=[1, 3])
    got = fitted(meta).predict(SIMILAR[TRAIN:, :TRAIN])
    parts = [KNNClassifier(k).fit(SIMILAR[:TRAIN, :TRAIN], y[:TRAIN]) for k in (3, 9)]
    if voting == "soft":
        both = [p.predict_proba(SIMILAR[TRAIN:, :TRAIN]) for p in parts]
        expected = parts[0].classes_[np.average(both, axis=0, weights=[1, 3]).argmax(axis=1)]
    else:
        expected = parts[1].predict(SIMILAR[TRAIN:, :TRAIN])
    assert np.array_equal(got, expected)


def test_stacking_by_hand():
    meta = StackingClassifier([("knn", KNNClassifier(5)), ("clip", clipped_svm())], LogisticRegression(), cv=3)
    S, new = INDEFINITE[:TRAIN, :TRAIN], INDEFINITE[TRAIN:, :TRAIN]
    inside = np.column_stack(
        [
            cross_val_predict(KNNClassifier(5), S, y[:TRAIN], cv=3, method="predict_proba")[:, 1],
            cross_val_predict(clipped_svm(), S, y[:TRAIN], cv=3, method="decision_function"),
        ]
    )
    final = LogisticRegression().fit(inside, y[:TRAIN])
    features = np.column_stack(
        [
            KNNClassifier(5).fit(S, y[:TRAIN]).predict_proba(new)[:, 1],
            clipped_svm().fit(S, y[:TRAIN]).decision_function(new),
        ]
    )
    assert np.allclose(fitted(meta, INDEFINITE).predict_proba(new), final.predict_proba(features))


def test_stacking_that_passes_the_rows_through_does_not_pass_positions():
    meta = StackingClassifier([("knn", KNNClassifier(5))], LogisticRegression(), cv=3, passthrough=True)
    S, new = SIMILAR[:TRAIN, :TRAIN], SIMILAR[TRAIN:, :TRAIN]
    inside = cross_val_predict(KNNClassifier(5), S, y[:TRAIN], cv=3, method="predict_proba")[:, 1:]
    final = LogisticRegression().fit(np.hstack([inside, S]), y[:TRAIN])
    outside = KNNClassifier(5).fit(S, y[:TRAIN]).predict_proba(new)[:, 1:]
    got, refusal = None, ""
    try:
        got = fitted(meta).predict_proba(new)
    except ValueError as error:
        refusal = str(error)
    if got is None:
        assert "passthrough" in refusal
    else:
        assert np.allclose(got, final.predict_proba(np.hstack([outside, new])), atol=1e-6)


def test_an_estimator_on_rows_as_features_does_not_see_positions():
    meta = VotingClassifier([("knn", KNNClassifier(5)), ("rows", LogisticRegression())], voting="soft")
    S, new = SIMILAR[:TRAIN, :TRAIN], SIMILAR[TRAIN:, :TRAIN]
    parts = [m.fit(S, y[:TRAIN]).predict_proba(new) for m in (KNNClassifier(5), LogisticRegression())]
    assert np.allclose(fitted(meta).predict_proba(new), np.mean(parts, axis=0), atol=1e-6)


# Under scikit-learn's searches

METAS = {
    "bagging": lambda e: BaggingClassifier(e, 3, random_state=0),
    "voting": lambda e: VotingClassifier([("a", e), ("b", e)]),
    "stacking": lambda e: StackingClassifier([("a", e)], cv=2),
    "calibration": lambda e: CalibratedClassifierCV(e, cv=2),
}
metas = pytest.mark.parametrize("meta", METAS.values(), ids=METAS)


@metas
@inner
def test_cross_validation_by_hand(meta, make):
    model = PairwiseMeta(meta(make()))
    assert get_tags(model).input_tags.pairwise
    folds = list(StratifiedKFold(3).split(np.zeros(N), y))
    scores = cross_val_score(model, INDEFINITE, y, cv=folds, error_score="raise")
    for score, (train, test) in zip(scores, folds):
        by_hand = clone(model).fit(INDEFINITE[np.ix_(train, train)], y[train])
        assert score == np.mean(by_hand.predict(INDEFINITE[np.ix_(test, train)]) == y[test])


def test_grid_search_reaches_the_estimator_inside():
    model = PairwiseMeta(CalibratedClassifierCV(KNNClassifier(), cv=3))
    search = GridSearchCV(model, {"meta__estimator__n_neighbors": [1, 5, 9]}, cv=3, error_score="raise")
    search.fit(SIMILAR, y)
    assert search.best_score_ > 0.6
    by_hand = [
        cross_val_score(PairwiseMeta(CalibratedClassifierCV(KNNClassifier(k), cv=3)), SIMILAR, y, cv=3).mean()
        for k in (1, 5, 9)
    ]
    assert np.allclose(search.cv_results_["mean_test_score"], by_hand)


def test_grid_search_reaches_into_a_pipeline_inside():
    model = PairwiseMeta(BaggingClassifier(clipped_svm(), 3, random_state=0))
    grid = {"meta__estimator__spectrummodifier__method": ["clip", "flip"], "meta__estimator__svc__C": [0.1, 1]}
    search = GridSearchCV(model, grid, cv=2, error_score="raise").fit(INDEFINITE, y)
    assert search.predict(INDEFINITE).shape == (N,)


# Without the wrapper


@pytest.mark.parametrize(
    "meta",
    [lambda e: BaggingClassifier(e, 3, max_samples=0.7), lambda e: CalibratedClassifierCV(e, cv=3)],
    ids=["bagging of parts", "calibration"],
)
@inner
def test_without_the_wrapper_the_error_names_it(meta, make):
    with pytest.raises(ValueError, match=r"square.*PairwiseMeta"):
        meta(make()).fit(SIMILAR, y)


@metas
def test_without_the_wrapper_cross_validation_fails_with_an_error_that_names_it(meta):
    with pytest.raises(ValueError, match=r"square.*PairwiseMeta"):
        cross_val_score(meta(KNNClassifier()), SIMILAR, y, error_score="raise")


def test_without_the_wrapper_a_bootstrap_of_full_size_is_announced_where_symmetry_is_needed():
    # The rows drawn are as many as there are columns, so the matrix is square; its rows and columns do not match.
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises((ValueError, UserWarning), match="PairwiseMeta"):
            BaggingClassifier(clipped_svm(), 3, random_state=0).fit(SIMILAR, y)


# The rest of the contract


@pytest.mark.parametrize("options", [{"max_features": 0.5}, {"bootstrap_features": True}], ids=str)
@pytest.mark.parametrize("S", [SIMILAR, 100 * LINEAR], ids=["in [0, 1]", "of any size"])
def test_columns_must_not_be_drawn(options, S):
    for seed in range(5):
        with pytest.raises(ValueError, match="columns"):
            fitted(BaggingClassifier(KNNClassifier(3), 4, random_state=seed, **options), S)


@pytest.mark.parametrize("kind", ["float32", "csr", "frame", "proximities", "read-only", "memmap"])
def test_every_kind_of_matrix(kind, tmp_path):
    expected = fitted(BaggingClassifier(KNNClassifier(3), 4, random_state=0)).predict(SIMILAR[TRAIN:, :TRAIN])
    np.save(tmp_path / "S.npy", SIMILAR)
    frozen = SIMILAR.copy()
    frozen.flags.writeable = False
    make = {
        "float32": lambda A: A.astype(np.float32),
        "csr": sparse.csr_matrix,
        "frame": pd.DataFrame,
        "proximities": Proximities,
    }.get(kind, lambda A: A)
    S = np.load(tmp_path / "S.npy", mmap_mode="r") if kind == "memmap" else frozen
    model = PairwiseMeta(BaggingClassifier(KNNClassifier(3), 4, random_state=0))
    model.fit(make(S[:TRAIN, :TRAIN]), y[:TRAIN])
    assert np.array_equal(model.predict(make(S[TRAIN:, :TRAIN])), expected)


def test_columns_are_matched_by_id_here_too():
    P = Proximities(SIMILAR, ids=np.arange(N))
    model = PairwiseMeta(BaggingClassifier(KNNClassifier(3), 2, random_state=0)).fit(P, y)
    assert model.predict(P[np.ix_(range(5), range(N)[::-1])]).tolist() == model.predict(P[:5]).tolist()
    with pytest.raises(ValueError, match="ids"):
        model.predict(SIMILAR)


def test_distances_are_not_questioned_where_the_estimator_inside_expects_them():
    D = -np.log(SIMILAR)
    np.fill_diagonal(D, 0)
    model = PairwiseMeta(BaggingClassifier(KNNClassifier(3, dissimilarity="negate"), 2, random_state=0))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.fit(D, y)
    similar = PairwiseMeta(BaggingClassifier(KNNClassifier(3), 2, random_state=0)).fit(SIMILAR, y)
    assert np.array_equal(model.predict(D), similar.predict(SIMILAR))


def test_bad_matrices():
    model = PairwiseMeta(BaggingClassifier(KNNClassifier(3), 2))
    with pytest.raises(ValueError, match=r"X must be square.*\(60, 5\)"):
        model.fit(SIMILAR[:, :5], y)
    with pytest.raises(ValueError, match=r"X contains NaN .* and SimilaritySVC needs"):
        PairwiseMeta(VotingClassifier([("knn", KNNClassifier(3)), ("svm", SimilaritySVC())])).fit(UNKNOWN, y)
    with pytest.raises(NotFittedError):
        model.predict(SIMILAR)
    with pytest.raises(ValueError, match=r"59 features.*60"):
        model.fit(SIMILAR, y).predict(SIMILAR[:, :59])


UNKNOWN = np.where(np.random.default_rng(2).random((N, N)) < 0.05, np.nan, SIMILAR)


def test_unknown_similarities_reach_the_estimators_that_take_them():
    members = [("a", KNNClassifier(3)), ("b", KNNClassifier(9))]
    model = PairwiseMeta(VotingClassifier(members, voting="soft")).fit(UNKNOWN[:TRAIN, :TRAIN], y[:TRAIN])
    each = [knn.fit(UNKNOWN[:TRAIN, :TRAIN], y[:TRAIN]).predict_proba(UNKNOWN[TRAIN:, :TRAIN]) for _, knn in members]
    assert np.allclose(model.predict_proba(UNKNOWN[TRAIN:, :TRAIN]), np.mean(each, axis=0))
    assert get_tags(model).input_tags.allow_nan
    assert not np.isnan(cross_val_score(model, UNKNOWN, y, cv=3)).any()
    stored = Proximities(sparse.csr_array(np.nan_to_num(UNKNOWN)), absent="unknown")
    with pytest.raises(ValueError, match="absent entries are unknown, and PairwiseMeta"):
        model.fit(stored, y)


def test_a_pipeline_whose_first_step_cuts_rows_only():
    pipeline = make_pipeline(SimpleImputer(), KNNClassifier(5))
    with pytest.raises(
        ValueError, match=r"must be square.* pipeline cut the rows only, wrap it in similitude\.PairwiseMeta"
    ):
        cross_val_score(pipeline, UNKNOWN, y, cv=3, error_score="raise")
    folds = StratifiedKFold(3).split(UNKNOWN, y)
    scores = []
    for train, test in folds:
        means = np.nanmean(UNKNOWN[np.ix_(train, train)], axis=0)
        filled = [
            np.where(np.isnan(block), means, block) for block in (UNKNOWN[:, train][train], UNKNOWN[:, train][test])
        ]
        scores.append(KNNClassifier(5).fit(filled[0], y[train]).score(filled[1], y[test]))
    assert np.allclose(cross_val_score(PairwiseMeta(pipeline), UNKNOWN, y, cv=3), scores)
    assert PathSearchCV(PairwiseMeta(pipeline), {}, cv=3).fit(UNKNOWN, y).best_score_ == pytest.approx(np.mean(scores))
    union = make_pipeline(make_union(SpectrumModifier("clip"), SpectrumModifier("flip")), LogisticRegression())
    assert cross_val_score(PairwiseMeta(union), INDEFINITE, y, cv=3).mean() > 0.6


def test_frozen_estimators_are_calibrated_on_rows():
    frame = pd.DataFrame(SIMILAR, index=[f"s{i}" for i in range(N)], columns=[f"s{i}" for i in range(N)])
    train, held = frame.iloc[:30, :30], frame.iloc[30:, :30]
    shuffled = held.iloc[:, np.random.default_rng(3).permutation(30)]
    on_objects = KNNClassifier(5, similarity=lambda a, b: np.exp(-np.linalg.norm(a - b))).fit(X[:30], y[:30])
    expected = CalibratedClassifierCV(FrozenEstimator(on_objects)).fit(X[30:], y[30:]).predict_proba(X[30:])
    cases = [(train.to_numpy(), held.to_numpy()), (train, held), (train, shuffled), (train, Proximities(shuffled))]
    for S, rows in cases:
        frozen = FrozenEstimator(KNNClassifier(5).fit(S, y[:30]))
        model = PairwiseMeta(CalibratedClassifierCV(frozen))
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert np.allclose(model.fit(rows, y[30:]).predict_proba(rows), expected)
        assert not get_tags(model).input_tags.pairwise
    assert cross_val_score(model, held, y[30:], cv=2).mean() > 0.5
    with pytest.raises(ValueError, match="frozen estimators only, or none"):
        PairwiseMeta(VotingClassifier([("a", frozen), ("b", KNNClassifier())])).fit(SIMILAR, y)


def test_sample_weights_of_a_meta_estimator():
    weights = np.random.default_rng(4).uniform(size=N)
    alone = SimilaritySVC().fit(SIMILAR, y, sample_weight=weights)
    members = [("a", SimilaritySVC()), ("b", SimilaritySVC())]
    for meta in (VotingClassifier(members), make_pipeline(SimpleImputer(), SimilaritySVC())):
        model = PairwiseMeta(meta).fit(SIMILAR, y, sample_weight=weights)
        assert np.array_equal(model.predict(SIMILAR), alone.predict(SIMILAR))
    with pytest.raises(ValueError, match="sample_weight: LocalNearestCentroid takes no weights"):
        PairwiseMeta(VotingClassifier([("a", LocalNearestCentroid())])).fit(SIMILAR, y, sample_weight=weights)


def test_a_meta_estimator_with_nothing_inside():
    with pytest.raises(ValueError, match=r"meta must hold .*'estimator' or 'estimators'.*BaggingClassifier"):
        PairwiseMeta(BaggingClassifier()).fit(SIMILAR, y)


def test_dropped_estimators_stay_dropped():
    meta = VotingClassifier([("a", KNNClassifier(3)), ("b", "drop")])
    expected = KNNClassifier(3).fit(SIMILAR[:TRAIN, :TRAIN], y[:TRAIN]).predict(SIMILAR[TRAIN:, :TRAIN])
    assert np.array_equal(fitted(meta).predict(SIMILAR[TRAIN:, :TRAIN]), expected)


def test_the_given_meta_estimator_is_left_unfitted():
    meta = BaggingClassifier(KNNClassifier(3), 2)
    model = PairwiseMeta(meta).fit(SIMILAR, y)
    assert not hasattr(meta, "estimators_")
    assert isinstance(meta.estimator, KNNClassifier)
    assert model.classes_.tolist() == ["no", "yes"]


def test_only_the_methods_of_the_meta_estimator_are_offered():
    voting = [("a", KNNClassifier(3)), ("b", KNNClassifier(5))]
    hard = PairwiseMeta(VotingClassifier(voting))
    assert not hasattr(hard, "predict_proba")
    assert not hasattr(hard, "decision_function")
    assert hasattr(PairwiseMeta(VotingClassifier(voting, voting="soft")), "predict_proba")
    assert hasattr(fitted(AdaBoostClassifier(linear_svm(), n_estimators=2)), "decision_function")


def test_clone_and_pickle():
    model = fitted(CalibratedClassifierCV(KNNClassifier(3), cv=2))
    again = pickle.loads(pickle.dumps(model))
    new = SIMILAR[TRAIN:, :TRAIN]
    assert np.array_equal(again.predict_proba(new), model.predict_proba(new))
    assert not hasattr(clone(model), "meta_")


@pytest.mark.parametrize("kind", ["dense", "float32", "sparse", "dissimilarities", "searched"])
def test_rows_that_were_drawn_without_their_columns_are_noticed(kind):
    S, inner = SIMILAR + 2.0 * np.eye(len(SIMILAR)), KNNClassifier(3)
    if kind == "dissimilarities":
        S, inner = S.max() - S, KNNClassifier(3, dissimilarity="max-minus")
    elif kind == "searched":
        inner = PathSearchCV(inner, {"n_neighbors": [1, 3]}, cv=2)
    else:
        S = {"dense": S, "float32": S.astype(np.float32), "sparse": sparse.csr_array(S)}[kind]
    with pytest.raises(ValueError, match=r"X must have a row and a column for each sample.*PairwiseMeta"):
        BaggingClassifier(inner, 3, random_state=0).fit(S, y)
    assert PairwiseMeta(BaggingClassifier(inner, 3, random_state=0)).fit(S, y).score(S, y) > 0.5


@pytest.mark.parametrize("seed", range(3))
def test_matrices_that_only_look_like_drawn_rows_are_accepted(seed):
    rng = np.random.default_rng(seed)
    n, labels = 30, np.arange(30) % 2
    parent = rng.integers(0, n, n)
    tree = np.zeros((n, n))
    tree[np.arange(n), parent] = 1.0  # each sample is similar to one other: the drawn columns would be symmetric
    duplicates = np.repeat(rng.random((15, 15)), 2, axis=0).repeat(2, axis=1)
    ties = np.full((n, n), 0.2)  # the largest entry of a row occurs more than once
    ties[np.arange(n), parent] = 0.1
    ties[::2] = 0.0
    for S in (tree, np.roll(np.eye(n), 1, axis=1), rng.random((n, n)), duplicates, ties, np.ones((n, n))):
        assert KNNClassifier(3).fit(S, labels).n_features_in_ == n


def test_stacking_cuts_rows_and_columns_by_itself():
    stacked = StackingClassifier([("a", KNNClassifier(3)), ("b", SimilaritySVC())], cv=3)
    wrapped = PairwiseMeta(clone(stacked)).fit(SIMILAR, y)
    assert np.array_equal(stacked.fit(SIMILAR, y).predict_proba(SIMILAR), wrapped.predict_proba(SIMILAR))


def test_an_asymmetric_memmap_is_not_copied_to_see_whether_its_rows_were_drawn(tmp_path):
    n = 2500
    S = np.memmap(tmp_path / "S.dat", dtype=np.float32, mode="w+", shape=(n, n))
    S[:] = np.random.default_rng(0).random((n, n), dtype=np.float32)
    S.flags.writeable = False  # NumPy copies some arrays that it may not write
    tracemalloc.start()
    try:
        KNNClassifier(3).fit(S, np.arange(n) % 5)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < S.nbytes / 2
