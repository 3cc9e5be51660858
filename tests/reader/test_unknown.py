"""Unknown similarities: votes among known neighbours, fills learned on the training part, and what is reported."""

import pickle
import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score

from similitude import (
    SDA,
    AutoClassifier,
    KNNClassifier,
    LocalNearestCentroid,
    LocalSDA,
    LocalSVC,
    NearestCentroid,
    PathSearchCV,
    Proximities,
    SimilarityFeatures,
    SimilaritySVC,
    SimilarityWarning,
)
from similitude.diagnosis import diagnose
from similitude.persistence import load_model, save_model
from similitude.proximity.maps import LearnedMap

N, K = 40, 6
rng = np.random.default_rng(3)
POINTS = rng.normal(size=(N + 12, 3))
POINTS[: N // 3] += 1.0
D = np.sqrt(((POINTS[:, None] - POINTS[None]) ** 2).sum(axis=2))
ALL = np.exp(-D)
S, NEW = ALL[:N, :N], ALL[N:, :N]
LABELS = np.array(["b", "a", "c"])[np.r_[np.zeros(N // 3, int), rng.integers(0, 3, N - N // 3)]]
HIDDEN = rng.random((N, N)) < 0.4
HIDDEN = (HIDDEN | HIDDEN.T) & ~np.eye(N, dtype=bool)
UNKNOWN = np.where(HIDDEN, np.nan, S)
ROWS = np.where(rng.random(NEW.shape) < 0.5, np.nan, NEW)
ROWS[2, 3:], ROWS[2, :3] = np.nan, NEW[2, :3]  # three known
ROWS[5] = np.nan
OMEGA = np.linspace(0, 1, 41)
LOCAL = [
    KNNClassifier(K),
    KNNClassifier(K, "affinity"),
    KNNClassifier(K, "distance"),
    KNNClassifier(K, "kri"),
    KNNClassifier(K, "krr", spectrum="none"),
    LocalSVC(K),
    LocalNearestCentroid(K),
    LocalSDA(K, fallback="one", omega=OMEGA),
]


def as_sparse(values):
    rows, columns = np.nonzero(~np.isnan(values))
    return sparse.csr_matrix((values[rows, columns], (rows, columns)), shape=values.shape)


def quietly(call, *arguments):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SimilarityWarning)
        return call(*arguments)


def name_of(estimator):
    return f"{type(estimator).__name__}-{getattr(estimator, 'weights', '')}"


@pytest.mark.parametrize("estimator", LOCAL, ids=name_of)
def test_votes_are_those_of_a_fit_to_the_known_neighbours(estimator):
    fitted = clone(estimator).fit(S, LABELS)
    responses = [r for r in ("predict", "predict_proba", "decision_function") if hasattr(fitted, r)]
    found = {response: quietly(getattr(fitted, response), ROWS) for response in responses}
    for i, row in enumerate(ROWS):
        known = np.flatnonzero(~np.isnan(row))
        if len(known) and len(np.unique(LABELS[known])) == 3:
            part = clone(estimator).fit(S[np.ix_(known, known)], LABELS[known])
            for response in responses:
                expected = getattr(part, response)(row[known][None])[0]
                if response == "predict":
                    assert found[response][i] == expected
                else:
                    assert found[response][i] == pytest.approx(expected, abs=1e-9)
    largest = max(np.unique(LABELS), key=lambda label: np.sum(label == LABELS))
    assert found["predict"][5] == largest


@pytest.mark.parametrize("estimator", LOCAL, ids=name_of)
def test_nan_and_absent_entries_are_the_same(estimator):
    dense = clone(estimator).fit(UNKNOWN, LABELS)
    thin = clone(estimator).fit(Proximities(as_sparse(UNKNOWN), absent="unknown"), LABELS)
    assert quietly(dense.predict, ROWS).tolist() == quietly(thin.predict, as_sparse(ROWS)).tolist()
    assert dense.known_neighbors(ROWS).tolist() == thin.known_neighbors(as_sparse(ROWS)).tolist()
    response = "predict_proba" if hasattr(dense, "predict_proba") else "decision_function"
    if hasattr(dense, response):
        one, other = (quietly(getattr(m, response), x) for m, x in ((dense, ROWS), (thin, as_sparse(ROWS))))
        assert one == pytest.approx(other, abs=1e-9)


@pytest.mark.parametrize("estimator", LOCAL, ids=name_of)
@pytest.mark.parametrize("fill", [0.2, "farthest", "class-blind mean"])
def test_unknown_pairs_of_neighbours_have_the_value_of_the_fill(estimator, fill):
    pairs = UNKNOWN[~np.eye(N, dtype=bool)]
    value = {"farthest": np.nanmin(pairs), "class-blind mean": np.nanmean(pairs)}.get(fill, fill)
    filled = np.where(HIDDEN, value, S)
    found = clone(estimator).fit(Proximities(UNKNOWN, fill=fill), LABELS).predict(NEW)
    assert found.tolist() == clone(estimator).fit(filled, LABELS).predict(NEW).tolist()


@pytest.mark.parametrize("make", [np.asarray, as_sparse], ids=["dense", "sparse"])
@pytest.mark.parametrize("dissimilarity", [None, "gauss", "double-centring"])
def test_the_fill_of_a_method_that_needs_all_pairs_is_learned_on_the_training_part(make, dissimilarity):
    values = UNKNOWN if dissimilarity is None else np.where(HIDDEN, np.nan, D[:N, :N])
    if dissimilarity == "double-centring" and make is as_sparse:
        make = np.asarray
    P = Proximities(make(values), absent="unknown", fill="class-blind median")
    estimator = SimilaritySVC(dissimilarity=dissimilarity, spectrum="clip")
    train, test = np.arange(0, N, 2), np.arange(1, N, 2)
    median = np.nanmedian(values[np.ix_(train, train)][~np.eye(len(train), dtype=bool)])
    known = values[np.ix_(train, train)]
    if dissimilarity == "gauss":  # the width of the map is that of the known pairs
        known = np.exp(-((np.where(np.isnan(known), median, known) / median) ** 2) / 2)
        rows = np.exp(-((np.where(np.isnan(values), median, values) / median) ** 2) / 2)[np.ix_(test, train)]
        expected = SimilaritySVC(spectrum="clip")
    else:
        known, rows = np.where(np.isnan(known), median, known), np.where(np.isnan(values), median, values)
        rows, expected = rows[np.ix_(test, train)], clone(estimator)
    expected = quietly(expected.fit, known, LABELS[train]).decision_function(rows)
    fitted = quietly(clone(estimator).fit, P[np.ix_(train, train)], LABELS[train])
    assert fitted.decision_function(P[np.ix_(test, train)]) == pytest.approx(expected, abs=1e-8)
    folds = [(train, test)]
    search = quietly(PathSearchCV(estimator, {"C": [1.0]}, cv=folds).fit, P, LABELS)
    assert search.cv_results_["mean_test_score"][0] == fitted.score(P[np.ix_(test, train)], LABELS[test])


@pytest.mark.parametrize(
    "estimator", [SimilaritySVC(), NearestCentroid(), SDA(), LocalSDA(alpha=0.5), SimilarityFeatures()]
)
def test_methods_that_need_all_pairs_say_so(estimator):
    for X in (UNKNOWN, Proximities(as_sparse(UNKNOWN), absent="unknown")):
        with pytest.raises(
            ValueError, match=rf"{type(estimator).__name__}.* needs the similarities of all pairs.*fill="
        ):
            clone(estimator).fit(X, LABELS)
    answer = "transform" if hasattr(estimator, "transform") else "predict"
    fitted = quietly(clone(estimator).fit, S, LABELS)
    with pytest.raises(ValueError, match=r"NaN \(first at row 0, column .* needs the similarities of all pairs"):
        getattr(fitted, answer)(ROWS)
    fitted = quietly(clone(estimator).fit, Proximities(S, fill=0.0), LABELS)
    filled = getattr(fitted, answer)(np.where(np.isnan(ROWS), 0.0, ROWS))
    assert np.array_equal(getattr(fitted, answer)(ROWS), filled)


def test_samples_without_a_known_neighbour_are_reported():
    model = KNNClassifier(priors={"a": 0.5, "b": 0.2, "c": 0.3}).fit(S, LABELS)
    with pytest.warns(SimilarityWarning, match=r"1 of 12 samples have no known similarity.*get the prior: rows 5\."):
        posterior = model.predict_proba(ROWS)
    assert posterior[5].tolist() == [0.5, 0.2, 0.3]
    names = [f"x{i}" for i in range(12)]
    with pytest.warns(SimilarityWarning, match=r"ids 'x5'\."):
        assert KNNClassifier().fit(S, LABELS).predict(Proximities(ROWS, ids=names))[5] == "b"
    similarities, indices = model.kneighbors(ROWS, 5)
    assert indices[2].tolist()[3:] == [-1, -1]
    assert np.isnan(similarities[2, 3:]).all()
    indices, weights = model.neighbor_weights(ROWS)
    assert weights[2] == pytest.approx([1 / 3, 1 / 3, 1 / 3, 0, 0])
    assert not weights[5].any()


def test_cross_validation_and_searches_keep_the_meaning_of_absent_entries():
    P = Proximities(as_sparse(UNKNOWN), absent="unknown")
    scores = [cross_val_score(KNNClassifier(3, "affinity"), X, LABELS, cv=4) for X in (P, UNKNOWN)]
    assert scores[0].tolist() == scores[1].tolist()
    search = PathSearchCV(KNNClassifier(weights="affinity"), {"n_neighbors": [3]}, cv=4).fit(P, LABELS)
    assert search.best_score_ == pytest.approx(scores[0].mean())
    auto = AutoClassifier(["k-NN", "SVM (clip)"], n_repeats=1, cv=3).fit(P, LABELS)
    assert [row.method for row in auto.leaderboard_] == ["k-NN"]
    assert "needs the similarities of all pairs" in auto.failures_["SVM (clip)"]
    assert auto.diagnosis_.unknown == pytest.approx(HIDDEN.mean())
    assert quietly(auto.predict, as_sparse(ROWS)).tolist() == quietly(auto.predict, ROWS).tolist()


@pytest.mark.parametrize("estimator", [KNNClassifier(4, "kri"), SimilaritySVC(), LocalSDA(5)], ids=name_of)
def test_a_model_file_keeps_the_meaning_of_absent_entries(estimator, tmp_path):
    P = Proximities(as_sparse(UNKNOWN), absent="unknown", fill="farthest")
    fitted = quietly(clone(estimator).fit, P, LABELS)
    save_model(tmp_path / "model.similitude", fitted)
    expected = quietly(fitted.predict, as_sparse(ROWS)).tolist()
    for again in (load_model(tmp_path / "model.similitude"), pickle.loads(pickle.dumps(fitted))):
        assert quietly(again.predict, as_sparse(ROWS)).tolist() == expected


def test_sparse_dissimilarities_are_mapped_where_they_are_stored():
    kept = D[:N, :N] <= np.median(D)
    thin = sparse.csr_matrix((D[:N, :N][kept], np.nonzero(kept)), shape=(N, N))
    dense = np.where(kept, D[:N, :N], D[:N, :N][kept].max())
    P = Proximities(thin, absent="farthest")
    for estimator in (KNNClassifier(4, "kri"), LocalSVC(5), SimilaritySVC(), SDA(omega="continuous")):
        fits = [quietly(clone(estimator).set_params(dissimilarity="max-minus").fit, X, LABELS) for X in (P, dense)]
        assert fits[0].predict(thin).tolist() == fits[1].predict(dense).tolist()
    without_diagonal = thin.copy()
    without_diagonal.setdiag(0)
    without_diagonal.eliminate_zeros()
    again = KNNClassifier(4, "kri", dissimilarity="max-minus").fit(
        Proximities(without_diagonal, absent="farthest"), LABELS
    )
    assert (
        again.predict(thin[::-1]).tolist()
        == KNNClassifier(4, "kri", dissimilarity="max-minus").fit(P, LABELS).predict(thin[::-1]).tolist()
    )
    with pytest.raises(ValueError, match=r"sparse matrix cannot be mapped.*absent='farthest'"):
        KNNClassifier(dissimilarity="gauss").fit(thin, LABELS)
    with pytest.raises(ValueError, match=r"absent='farthest' needs a map that gives the similarity 0.*'negate'"):
        KNNClassifier(dissimilarity="negate").fit(P, LABELS)
    with pytest.raises(ValueError, match="'double-centring' needs the similarities of all pairs"):
        KNNClassifier(dissimilarity="double-centring").fit(Proximities(thin, absent="unknown"), LABELS)
    with pytest.raises(ValueError, match=r"absent='farthest' means similarities of 0.*negative"):
        KNNClassifier().fit(Proximities(-thin, absent="farthest"), LABELS)


def test_nan_in_a_sparse_matrix():
    thin = sparse.csr_matrix(UNKNOWN)
    with pytest.raises(ValueError, match=r"sparse matrix that contains NaN.*absent='unknown'"):
        KNNClassifier().fit(thin, LABELS)
    found = KNNClassifier(3).fit(Proximities(thin, absent="unknown"), LABELS)
    assert found.predict(NEW).tolist() == KNNClassifier(3).fit(UNKNOWN, LABELS).predict(NEW).tolist()


def test_asymmetry_is_that_of_pairs_known_in_both_directions():
    half = np.where(np.tri(N, k=-1, dtype=bool), np.nan, S)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = [KNNClassifier(4, "krr").fit(X, LABELS).predict(NEW) for X in (half, S)]
        again = KNNClassifier(4, "krr").fit(Proximities(as_sparse(half), absent="unknown"), LABELS).predict(NEW)
    assert found[0].tolist() == found[1].tolist() == again.tolist()
    with pytest.warns(SimilarityWarning, match="needs a symmetric similarity"):
        KNNClassifier(4, "krr").fit(UNKNOWN * np.linspace(1, 2, N), LABELS)


@pytest.mark.parametrize("bad", ["mean", "nearest", np.nan, np.inf, True, [1.0]], ids=repr)
def test_bad_fills(bad):
    with pytest.raises(ValueError, match=r"fill must be one of .*class-blind mean.*; got"):
        Proximities(S, fill=bad)


@pytest.mark.parametrize(
    "X",
    [
        np.full((6, 6), np.nan),
        Proximities(np.full((6, 6), np.nan), fill=1.0),
        np.where(np.eye(6) == 1, 1.0, np.nan),
        Proximities(sparse.csr_array((6, 6)), absent="unknown"),
        Proximities(sparse.csr_array(np.eye(6)), absent="unknown"),
    ],
    ids=["NaN", "fill", "NaN between different samples", "nothing stored", "no pair stored"],
)
def test_nothing_is_known(X):
    search = PathSearchCV(KNNClassifier(), {"n_neighbors": [1]}, cv=2)
    for model in (KNNClassifier(1), SimilaritySVC(), search, AutoClassifier(["k-NN"], cv=2)):
        with pytest.raises(ValueError, match="no similarity of the training samples is known"):
            model.fit(X, [0, 0, 0, 1, 1, 1])


def test_a_diagnosis_of_unknown_similarities():
    found = diagnose(Proximities(UNKNOWN, fill=0.5), LABELS)
    assert found.unknown == pytest.approx(HIDDEN.mean())
    assert found.rank == diagnose(np.where(HIDDEN, 0.5, S), LABELS).rank
    assert any("of the entries are unknown" in line for line in found.advice)
    assert "unknown" in str(found)
    assert "unknown" not in str(diagnose(S, LABELS))


@pytest.mark.parametrize("grid", [{"alpha": [0.0, 0.5]}, {"fallback": ["class", "grow"]}], ids=["alpha", "fallback"])
def test_a_grid_of_local_models_has_the_answers_of_each_point(grid):
    P = Proximities(as_sparse(UNKNOWN), absent="unknown", fill="class-blind mean")
    found = [
        quietly(search(LocalSDA(), {"n_neighbors": [2, 5], **grid}, cv=3, scoring="neg_log_loss").fit, P, LABELS)
        for search in (PathSearchCV, GridSearchCV)
    ]
    assert np.allclose(*(search.cv_results_["mean_test_score"] for search in found))
    again = quietly(clone(found[0].best_estimator_).fit, P, LABELS)
    assert np.allclose(*(quietly(each.predict_proba, as_sparse(ROWS)) for each in (found[0], again)))


def test_absent_pairs_are_never_nearer_than_stored_ones():
    far = sparse.csr_matrix(np.array([[0.0, 0.5, 3.0], [0.5, 0.0, 0.0], [3.0, 0.0, 0.0]]))
    for name in ("one-minus", "sqrt-one-minus"):
        with pytest.raises(ValueError, match=r"absent='farthest' gives absent pairs the similarity 0, but .* up to 3"):
            KNNClassifier(1, dissimilarity=name).fit(Proximities(far, absent="farthest"), ["a", "a", "b"])
    own = sparse.csr_matrix((np.zeros(3), (range(3), range(3))))  # as in a fold without a known pair
    with pytest.raises(ValueError, match="no value between different samples is known, as 'gauss' needs"):
        LearnedMap.learn(own, "gauss", absent="unknown")(own, absent="unknown")


def test_the_mean_of_huge_similarities_does_not_overflow():
    S = np.full((4, 4), 1e308)
    S[0, 1] = S[1, 0] = np.nan
    P = Proximities(S, fill="class-blind mean")
    assert KNNClassifier(1, "kri").fit(P, [0, 0, 1, 1])._reader.fill.value == pytest.approx(1e308)
