import numpy as np
import pandas as pd
import pytest
import sklearn
from hypothesis import given, settings
from hypothesis import strategies as st
from joblib import parallel_config
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import DataConversionWarning, FitFailedWarning
from sklearn.metrics import f1_score, make_scorer
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    GroupShuffleSplit,
    KFold,
    LeaveOneGroupOut,
    RepeatedStratifiedKFold,
    StratifiedGroupKFold,
    cross_val_score,
    cross_validate,
)
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from similitude import (
    AutoClassifier,
    KNNClassifier,
    PathSearchCV,
    Proximities,
    PseudoEuclideanEmbedding,
    SimilaritySVC,
    SimilarityWarning,
    SpectrumModifier,
)
from similitude.datasets import load_voting
from similitude.labels import check_labels
from similitude.numerics import eigen
from similitude.similarities import RBF, VDM, batch

CLIP_SVC = make_pipeline(SpectrumModifier("clip"), SVC(kernel="precomputed"))


def _problem(n=60, n_classes=3, seed=0, ties=False):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_classes, n)
    y[:n_classes] = np.arange(n_classes)
    X = rng.normal(size=(n, 4)) + 1.2 * y[:, None]
    S = -np.abs(X[:, None] - X[None]).sum(-1)
    return (S.round() if ties else S), y


def _check_equal(ours, theirs, rtol=0.0):
    """The same scores, ranks and choice; times aside."""
    assert set(ours.cv_results_) == set(theirs.cv_results_)
    for key, expected in theirs.cv_results_.items():
        if key.endswith("_time"):
            assert np.isfinite(np.asarray(ours.cv_results_[key])).all()
        elif key == "params" or key.startswith("param_"):
            assert list(ours.cv_results_[key]) == list(expected)
        elif key.startswith("rank_") and rtol:
            continue
        else:
            assert np.allclose(ours.cv_results_[key], expected, rtol=rtol, atol=0, equal_nan=True), key
    for name in ("best_params_", "best_index_", "best_score_", "n_splits_", "multimetric_"):
        assert hasattr(ours, name) == hasattr(theirs, name)
        if name != "best_score_" and hasattr(ours, name):
            assert getattr(ours, name) == getattr(theirs, name)


def _both(estimator, grid, S, y, rtol=0.0, groups=None, **options):
    fits = []
    for search in (PathSearchCV, GridSearchCV):
        # A path that fails must not hide behind the plain fits that would stand in for it.
        fits.append(search(clone(estimator), grid, error_score="raise", **options).fit(S, y, groups=groups))
    _check_equal(*fits, rtol=rtol)
    return fits[0]


@pytest.mark.untraced
@settings(max_examples=15)
@given(
    seed=st.integers(0, 10**6),
    n=st.integers(20, 40),
    n_classes=st.integers(2, 4),
    ties=st.booleans(),
    ks=st.lists(st.integers(1, 60), min_size=1, max_size=3),
    weights=st.sampled_from([["uniform"], ["affinity"], ["distance"], ["uniform", "affinity", "distance"]]),
    scoring=st.sampled_from(["accuracy", "balanced_accuracy", None, "f1_macro"]),
)
def test_knn_path_equals_grid_search(seed, n, n_classes, ties, ks, weights, scoring):
    S, y = _problem(n, n_classes, seed, ties)
    grid = {"n_neighbors": ks, "weights": weights}
    _both(KNNClassifier(), grid, S, y, scoring=scoring, cv=KFold(3), return_train_score=True)


def test_probability_scorers():
    S, y = _problem(60)
    grid = {"n_neighbors": [1, 9, 70], "weights": ["uniform", "affinity", "distance"]}
    scoring = ["neg_log_loss", "roc_auc_ovr", "top_k_accuracy", "roc_auc_ovo_weighted"]
    _both(KNNClassifier(), grid, S, y, rtol=1e-9, scoring=scoring, refit=False, cv=3)
    _both(KNNClassifier(), grid, S, (y > 0).astype(int), rtol=1e-9, scoring="neg_brier_score", cv=3)


@pytest.mark.parametrize("labels", [["a", "b", "c"], [10, -3, 7], [True, False, True], [1.0, 2.0, 3.0]])
def test_labels_of_any_kind(labels):
    S, y = _problem()
    options = {"scoring": ["accuracy", "balanced_accuracy", "neg_log_loss"], "refit": "accuracy", "cv": 3}
    _both(KNNClassifier(), {"n_neighbors": [1, 4]}, S, np.array(labels)[y], rtol=1e-9, **options)


def test_costs_priors_and_dissimilarity_go_through_the_path():
    S, y = _problem()
    grid = {"n_neighbors": [1, 4, 9], "priors": [None, [0.2, 0.2, 0.6]], "weights": ["uniform", "affinity"]}
    costs = np.array([[0, 1, 5], [1, 0, 1], [2, 2, 0]])
    _both(KNNClassifier(costs=costs), grid, S, y, cv=3)
    grid = {
        "n_neighbors": [2, 7],
        "dissimilarity": ["max-minus", "gauss", "negate"],
        "weights": ["affinity", "distance"],
    }
    _both(KNNClassifier(), grid, -S, y, cv=3)


@pytest.mark.parametrize("scoring", ["accuracy", "roc_auc_ovr", ["accuracy", "balanced_accuracy"]])
def test_spectrum_and_svc_pipeline(scoring):
    S, y = _problem(45)
    pipeline = make_pipeline(SpectrumModifier(), SVC(kernel="precomputed"))
    if scoring == "roc_auc_ovr":
        y = (y > 0).astype(int)
        scoring = "roc_auc"
    grid = {"svc__C": [0.01, 100.0], "spectrummodifier__method": ["clip", "shift"]}
    _both(pipeline, grid, S, y, scoring=scoring, cv=3, refit="accuracy" if isinstance(scoring, list) else True)


def test_multimetric_groups_and_refit_callable():
    S, y = _problem()
    groups = np.arange(60) % 6

    def least_neighbors(results):
        good = results["mean_test_accuracy"] >= results["mean_test_accuracy"].max() - 0.05
        return int(np.flatnonzero(good)[0])

    scoring = {"accuracy": "accuracy", "loss": "neg_log_loss", "f1": make_scorer(f1_score, average="macro")}
    for refit in ("loss", least_neighbors, False):
        ours = _both(
            KNNClassifier(),
            {"n_neighbors": [1, 3, 9, 20]},
            S,
            y,
            rtol=1e-9,
            groups=groups,
            scoring=scoring,
            refit=refit,
            cv=GroupKFold(3),
        )
        assert hasattr(ours, "best_estimator_") == bool(refit)
    _both(
        KNNClassifier(),
        {"n_neighbors": [1, 3]},
        S,
        y,
        cv=RepeatedStratifiedKFold(n_splits=2, n_repeats=2, random_state=0),
    )


@pytest.fixture(params=[False, True], ids=["plain", "routing"])
def routing(request):
    with sklearn.config_context(enable_metadata_routing=request.param):
        yield request.param


GROUP_SPLITTERS = [
    GroupKFold(3),
    StratifiedGroupKFold(3, shuffle=True, random_state=0),
    LeaveOneGroupOut(),
    GroupShuffleSplit(3, test_size=0.3, random_state=1),
]


@pytest.mark.untraced
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("cv", GROUP_SPLITTERS, ids=lambda cv: type(cv).__name__)
def test_groups_are_those_of_grid_search(cv, routing, monkeypatch):
    S, y = _problem()
    some = np.array(list("abcdef"))[np.arange(60) % 6]
    # One class is in one group, so that it is missing from the training part or the test part of every fold.
    groups = np.where(y == 2, "all", some)
    scoring = ["accuracy", "balanced_accuracy", "f1_macro"]
    options = {"scoring": scoring, "refit": "accuracy", "cv": cv, "return_train_score": True}
    for estimator, grid in (
        (KNNClassifier(), {"n_neighbors": [1, 5, 50], "weights": ["uniform", "affinity"]}),
        (SimilaritySVC(spectrum="clip"), {"C": [0.1, 10]}),
        (CLIP_SVC, {"svc__C": [0.1, 10]}),
    ):
        _both(estimator, grid, S, y, rtol=1e-12, groups=groups, **options)
    for parts in (groups, np.where((y == 2) & (some == "a"), "b", some)):  # no fold, or not every fold, has a log loss
        losses = [
            search(KNNClassifier(), {"n_neighbors": [5, 9]}, cv=cv, scoring="neg_log_loss", refit=False)
            for search in (PathSearchCV, GridSearchCV)
        ]
        _check_equal(*(search.fit(S, y, groups=parts) for search in losses), rtol=1e-9)
        found = np.array([losses[0].cv_results_[f"split{i}_test_score"] for i in range(losses[0].n_splits_)])
        assert np.isnan(found).all() if parts is groups else np.isfinite(found).any()
    monkeypatch.setattr(GridSearchCV, "fit", None)  # the groups do not keep the points from sharing a path
    PathSearchCV(KNNClassifier(), {"n_neighbors": [1, 5]}, cv=cv).fit(S, y, groups=groups.tolist())


def test_nested_searches_and_weights_with_groups(routing):
    S, y = _problem()
    S -= S.min()
    groups = np.arange(60) // 10
    svc, weights = SimilaritySVC(spectrum="clip"), np.random.default_rng(0).random(60)
    if routing:
        svc.set_fit_request(sample_weight=True).set_score_request(sample_weight=False)
    scores, weighted, requests = [], [], []
    for kind in (PathSearchCV, GridSearchCV):
        search = kind(KNNClassifier(), {"n_neighbors": [1, 9]}, cv=GroupKFold(2))
        requests.append((str(search.get_metadata_routing()), hasattr(search, "set_fit_request")))
        given = {"params": {"groups": groups}} | ({} if routing else {"groups": groups})
        scores.append(cross_validate(search, S, y, cv=LeaveOneGroupOut(), error_score="raise", **given)["test_score"])
        search = kind(svc, {"C": [0.1, 10]}, cv=GroupKFold(3))
        weighted.append(search.fit(S, y, groups=groups, sample_weight=weights))
    assert requests[0] == requests[1]
    assert np.array_equal(*scores)
    _check_equal(*weighted)


def test_groups_that_do_not_fit(routing):
    S, y = _problem()
    groups = np.arange(60) % 6
    search = PathSearchCV(KNNClassifier(), {"n_neighbors": [1, 5]}, cv=GroupKFold(3))
    with pytest.raises(ValueError, match="'groups' parameter should not be None"):
        search.fit(S, y)
    for wrong in (groups[1:], groups[:, None], "one"):
        with pytest.raises(ValueError, match=r"groups must have one entry per sample \(60\)"):
            search.fit(S, y, groups=wrong)
    ignoring = search.set_params(cv=3)
    if routing:
        with pytest.raises(TypeError, match=r"unexpected argument.*groups"):
            ignoring.fit(S, y, groups=groups)
    else:
        with pytest.warns(UserWarning, match="groups parameter is ignored"):
            ignored = ignoring.fit(S, y, groups=groups).cv_results_["mean_test_score"]
        assert np.array_equal(ignored, ignoring.fit(S, y).cv_results_["mean_test_score"])


def test_scorers_that_look_at_the_estimator():
    S, y = _problem()

    def nearest(estimator, X, y):
        return float(np.mean(estimator.kneighbors(X)[0])) + len(estimator.classes_)

    def two_numbers(estimator, X, y):
        return {"right": np.mean(estimator.predict(X) == y), "k": estimator.n_neighbors_}

    _both(KNNClassifier(), {"n_neighbors": [1, 5]}, S, y, scoring=nearest, cv=3)
    _both(KNNClassifier(), {"n_neighbors": [1, 5]}, S, y, scoring=two_numbers, refit="right", cv=3)


class _Stubborn(ClassifierMixin, BaseEstimator):
    """Fails for some parameters."""

    def __init__(self, bad=False):
        self.bad = bad

    def fit(self, X, y):
        if self.bad:
            raise ValueError("refuses to be fitted")
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return np.full(len(X), self.classes_[0])


def test_failing_fits_become_the_error_score():
    S, y = _problem()
    for estimator, grid in ((_Stubborn(), {"bad": [False, True]}), (KNNClassifier(), {"n_neighbors": [3, 0, 5]})):
        with pytest.warns(FitFailedWarning, match="fits failed"):
            ours = PathSearchCV(estimator, grid, cv=3).fit(S, y)
        with pytest.warns(FitFailedWarning):
            theirs = GridSearchCV(estimator, grid, cv=3).fit(S, y)
        _check_equal(ours, theirs)
        assert np.isnan(ours.cv_results_["mean_test_score"][1])
        with pytest.raises(ValueError, match=r"refuses|n_neighbors"):
            PathSearchCV(estimator, grid, cv=3, error_score="raise").fit(S, y)
    with pytest.raises(ValueError, match="All the 3 fits failed"):
        PathSearchCV(KNNClassifier(), {"n_neighbors": [-1]}, cv=3).fit(S, y)
    with pytest.raises(ValueError, match="empty"):
        PathSearchCV(KNNClassifier(), {"n_neighbors": [1]}, cv=[]).fit(S, y)


def test_a_failing_score_becomes_the_error_score():
    S, y = _problem()
    y[:] = np.sort(y)
    for search in (PathSearchCV, GridSearchCV):
        # With unshuffled folds of sorted labels a class is missing in each test part: no log loss.
        with pytest.warns(UserWarning, match=r"Scoring failed|non-finite"):
            fitted = search(KNNClassifier(), {"n_neighbors": [1]}, cv=KFold(3), scoring="neg_log_loss").fit(S, y)
        assert np.isnan(fitted.cv_results_["mean_test_score"]).all()


def test_any_other_estimator_and_fit_arguments():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(50, 3)), rng.integers(0, 2, 50)
    _both(RandomForestClassifier(5, random_state=0), {"max_depth": [1, 3]}, X, y, cv=3)
    _both(make_pipeline(StandardScaler(), SVC()), [{"svc__C": [1, 2]}, {"svc__kernel": ["linear"]}], X, y, cv=3)
    weights = rng.random(50)
    ours = PathSearchCV(SVC(), {"C": [0.1, 1]}, cv=3).fit(X, y, sample_weight=weights)
    theirs = GridSearchCV(SVC(), {"C": [0.1, 1]}, cv=3).fit(X, y, sample_weight=weights)
    _check_equal(ours, theirs)


def test_nested_and_used_as_an_estimator():
    S, y = _problem()
    search = PathSearchCV(KNNClassifier(), {"n_neighbors": [1, 5]}, cv=3)
    plain = GridSearchCV(KNNClassifier(), {"n_neighbors": [1, 5]}, cv=3)
    assert np.array_equal(cross_val_score(search, S, y, cv=4), cross_val_score(plain, S, y, cv=4))
    fitted = search.fit(S, y)
    assert fitted.score(S, y) == plain.fit(S, y).score(S, y)
    assert np.array_equal(fitted.predict_proba(S), plain.predict_proba(S))
    assert fitted.n_features_in_ == 60
    assert fitted.classes_.tolist() == [0, 1, 2]


def test_sparse_frames_proximities_and_jobs_change_nothing():
    S, y = _problem(ties=True)
    S = np.where(S > -6, S + 7, 0.0)
    grid = {"n_neighbors": [1, 4], "weights": ["uniform", "affinity"]}
    expected = _both(KNNClassifier(), grid, S, y, cv=3)
    frame = pd.DataFrame(S, columns=[f"s{i}" for i in range(60)])
    for X in (sparse.csr_array(S), frame, Proximities(S, ids=np.arange(60)), S.tolist(), S.astype(np.float32)):
        search = PathSearchCV(KNNClassifier(), grid, cv=3, error_score="raise").fit(X, y)
        assert np.array_equal(search.cv_results_["mean_test_score"], expected.cv_results_["mean_test_score"])
    assert PathSearchCV(KNNClassifier(), grid, cv=3).fit(frame, y).feature_names_in_[0] == "s0"
    alone, shared = (PathSearchCV(CLIP_SVC, {"svc__C": [1, 10]}, cv=3, n_jobs=jobs).fit(S, y) for jobs in (None, 2))
    _check_equal(shared, alone)


def test_parameters_are_checked_as_scikit_learn_does():
    S, y = _problem()
    with pytest.raises(ValueError, match="'error_score' parameter of PathSearchCV"):
        PathSearchCV(KNNClassifier(), {"n_neighbors": [1]}, error_score="ignore").fit(S, y)


def test_input_is_checked_once_and_errors_name_it():
    S, y = _problem()
    search = PathSearchCV(KNNClassifier(), {"n_neighbors": [1, 5]}, cv=3)
    S[3, 4] = np.inf
    with pytest.raises(ValueError, match=r"X contains infinity .first at row 3, column 4"):
        search.fit(S, y)
    with pytest.raises(ValueError, match="X must be square"):
        search.fit(np.ones((60, 3)), y)
    with pytest.warns(SimilarityWarning, match="looks like a dissimilarity") as caught:
        search.fit(1 - np.eye(60), y)
    assert len(caught) <= 2  # once in the search, once in the refit
    with pytest.raises(ValueError, match="Unknown label type"):
        search.fit(np.eye(60), np.linspace(0, 1, 60))
    with pytest.raises(ValueError, match="Invalid parameter"):
        PathSearchCV(KNNClassifier(), {"k": [1]}, cv=3, error_score="raise").fit(np.eye(60), y)


def test_one_eigendecomposition_per_fold(monkeypatch):
    S, y = _problem()
    calls = []
    decompose = eigen._decompose
    monkeypatch.setattr(eigen, "_decompose", lambda A: calls.append(A.shape) or decompose(A))
    grid = {"svc__C": [0.1, 1, 10], "spectrummodifier__method": ["clip", "flip", "shift"]}
    PathSearchCV(CLIP_SVC, grid, cv=4, refit=False).fit(S, y)
    assert len(calls) == 4


def test_the_accuracies_of_a_path_are_computed_at_once(monkeypatch):
    calls = []
    monkeypatch.setattr("similitude.evaluation.scoring._one_score", lambda *arguments: calls.append(arguments) or 0.0)
    for estimator in (KNNClassifier(), AutoClassifier(["k-NN"])):
        grid = {"n_neighbors": [1, 5]} if isinstance(estimator, KNNClassifier) else {"cv": [2]}
        PathSearchCV(estimator, grid, cv=3, refit=False).fit(*_problem(30))
    assert not calls


def test_labels_are_checked_once_for_all_folds(monkeypatch):
    S, y = _problem()
    calls = []
    monkeypatch.setattr("similitude.base.path.check_labels", lambda y, n: calls.append(n) or check_labels(y, n))
    search = PathSearchCV(KNNClassifier(), {"n_neighbors": [1, 3]}, cv=4)
    search.fit(S, y)
    assert calls == [len(y)]  # the refit; the search itself has checked them before
    with pytest.raises(ValueError, match="missing label"):
        search.fit(S, np.array([None, *y[1:]], dtype=object))


def test_raw_objects_are_compared_once_per_search(monkeypatch):
    words = ["tree", "trees", "free", "three", "house", "mouse", "horse", "houses", "green", "greed", "queen", "geese"]
    y = np.arange(12) // 4
    calls = []

    @batch
    def shared_letters(A, B):
        calls.append((len(A), len(B)))
        return np.array([[len(set(a) & set(b)) for b in B] for a in A])

    raw = KNNClassifier(similarity=shared_letters)
    grid = {"n_neighbors": [1, 2, 3], "weights": ["uniform", "affinity"]}
    ours = PathSearchCV(raw, grid, cv=3).fit(words, y)
    assert calls == [(6, 6), (12, 12)]  # first whether it looks like a distance
    theirs = GridSearchCV(raw, grid, cv=3).fit(words, y)
    _check_equal(ours, theirs)
    assert ours.predict(["trees", "house"]).tolist() == theirs.predict(["trees", "house"]).tolist()
    # A model that keeps the matrix gets the one the search has computed.
    calls.clear()
    pipeline = make_pipeline(SpectrumModifier(similarity=shared_letters), SVC(kernel="precomputed"))
    search = PathSearchCV(pipeline, {"svc__C": [0.1, 1.0]}, cv=3).fit(words, y)
    assert calls == [(6, 6), (12, 12)]  # first whether it looks like a distance
    assert np.array_equal(search.predict(words), clone(search.best_estimator_).fit(words, y).predict(words))


def test_similarities_that_learn_are_fitted_on_the_training_part(monkeypatch):
    voting = load_voting()
    X, y = voting.data[:120], voting.target[:120]
    calls = []
    learned = VDM.fit
    monkeypatch.setattr(VDM, "fit", lambda self, X, y: calls.append(len(X)) or learned(self, X, y))
    estimator = KNNClassifier(similarity="vdm")
    ours = PathSearchCV(estimator, {"n_neighbors": [1, 3, 9]}, cv=4).fit(X, y)
    assert calls == [90] * 4 + [120]
    _check_equal(ours, GridSearchCV(estimator, {"n_neighbors": [1, 3, 9]}, cv=4).fit(X, y))
    pipeline = make_pipeline(SpectrumModifier(similarity="vdm"), SVC(kernel="precomputed"))
    _both(pipeline, {"svc__C": [0.1, 10.0]}, X, y, cv=4)


def test_a_grid_over_similarities():
    voting = load_voting()
    X, y = voting.data[:100], voting.target[:100]
    grid = {"similarity": ["vdm", "counting"], "n_neighbors": [1, 5]}
    _both(KNNClassifier(), grid, X, y, cv=3)


def _vectors():
    rng = np.random.default_rng(0)
    V = rng.normal(size=(60, 4))
    return V, (V[:, 0] + 0.3 * rng.normal(size=60) > 0).astype(int)


def test_a_last_step_on_raw_objects_is_fitted_plainly():
    V, y = _vectors()
    pipeline = make_pipeline(StandardScaler(), KNNClassifier(similarity="rbf"))
    _both(pipeline, {"knnclassifier__n_neighbors": [1, 3, 9]}, V, y, cv=3)
    _both(pipeline, {"knnclassifier__similarity": ["rbf", "euclidean"]}, V, y, cv=3)
    embedded = make_pipeline(PseudoEuclideanEmbedding(similarity="rbf"), KNNClassifier(similarity="euclidean"))
    _both(embedded, {"knnclassifier__n_neighbors": [1, 5]}, V, y, cv=3)


def test_a_grid_that_replaces_the_first_step_or_reaches_into_its_similarity():
    V, y = _vectors()
    pipeline = Pipeline([("sim", SpectrumModifier(similarity="rbf")), ("svc", SVC(kernel="precomputed"))])
    steps = [SpectrumModifier("clip", similarity="rbf"), SpectrumModifier("clip", similarity="cosine")]
    _both(pipeline, {"sim": steps, "svc__C": [0.1, 10]}, V, y, cv=3)
    nothing = Pipeline([("sim", "passthrough"), ("svc", SVC(kernel="precomputed"))])
    _both(nothing, {"sim": steps}, V, y, cv=3)
    inside = Pipeline(
        [("a", Pipeline([("sim", SpectrumModifier(similarity=RBF()))])), ("svc", SVC(kernel="precomputed"))]
    )
    _both(inside, {"a__sim__similarity__gamma": [0.1, 1.0], "svc__C": [1, 10]}, V, y, cv=3)
    _both(KNNClassifier(similarity=RBF()), {"similarity__gamma": [0.1, 1.0], "n_neighbors": [1, 5]}, V, y, cv=3)


def test_scorers_that_ask_about_other_rows_or_the_whole_pipeline():
    S, y = _problem()
    for scoring in (
        lambda e, X, y: np.mean(e.predict(-X) == y),
        lambda e, X, y: np.mean(e.predict(X[:7]) == y[:7]),
        lambda e, X, y: e.score(X, y),
    ):
        _both(KNNClassifier(), {"n_neighbors": [1, 5]}, S, y, scoring=scoring, cv=3)
        _both(KNNClassifier(), {"n_neighbors": [1, 5]}, sparse.csr_array(S + 30), y, scoring=scoring, cv=3)
    for scoring in (lambda e, X, y: X.shape[1], lambda e, X, y: e.named_steps["svc"].n_support_.sum()):
        _both(CLIP_SVC, {"svc__C": [0.1, 10]}, S, y, scoring=scoring, cv=3)


def test_quick_scorers_honour_the_error_score():
    V, y = _vectors()
    for search in (PathSearchCV, GridSearchCV):
        with pytest.warns(UserWarning, match=r"Scoring failed|non-finite"):
            fitted = search(make_pipeline(StandardScaler(), SVC()), {"svc__C": [1]}, scoring="neg_log_loss", cv=3).fit(
                V, y
            )
        assert np.isnan(fitted.cv_results_["mean_test_score"]).all()
        with pytest.warns(FitFailedWarning):
            several = search(
                KNNClassifier(similarity="rbf"),
                {"n_neighbors": [0, 3]},
                scoring=lambda e, X, y: {"a": e.score(X, y)},
                refit="a",
                cv=3,
            ).fit(V, y)
        assert np.isnan(several.cv_results_["mean_test_a"]).tolist() == [True, False]


def test_labels_in_a_column_and_a_single_named_scorer():
    V, y = _vectors()
    with pytest.warns(DataConversionWarning):
        _both(SVC(), {"C": [1, 10]}, V, pd.DataFrame({"y": y}), cv=3)
    S, y = _problem()
    ours = _both(KNNClassifier(), {"n_neighbors": [1]}, S, y, scoring={"score": "accuracy"}, refit="score", cv=3)
    assert ours.multimetric_
    with pytest.raises(ValueError, match="Invalid parameter 'k'"):
        PathSearchCV(KNNClassifier(), {"k": [1]}, cv=3).fit(S, y)


def test_backends_of_joblib_without_generators():
    S, y = np.eye(12) + 0.1, np.arange(12) % 2
    search = PathSearchCV(KNNClassifier(), {"n_neighbors": [1, 2]}, cv=3, n_jobs=2)
    with parallel_config("multiprocessing", n_jobs=2):
        assert search.fit(S, y).best_params_ == {"n_neighbors": 1}
