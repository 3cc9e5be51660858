"""Sets of classes: the p-values by their formula, the coverage that is promised, every kind of input, clear errors."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import KFold, ShuffleSplit, StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC

from similitude import (
    AutoClassifier,
    CombinedClassifier,
    FusedClassifier,
    KNNClassifier,
    LearnedSpectrumSVC,
    LocalBDA,
    MixtureSVC,
    PathSearchCV,
    PotentialSVC,
    PredictionSets,
    Proximities,
    SimilarityGroupKFold,
    SimilaritySVC,
    SpectrumModifier,
    load_model,
    save_model,
)
from similitude.sets import Calibration
from tests.reference import conformal


def problem(n, seed=0, *, classes=3, spread=1.2):
    """Points of overlapping classes: negative Manhattan distances, points, labels."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % classes
    X = rng.normal(size=(n, 2)) * spread + 2 * np.stack([np.cos(y), np.sin(2 * y)], axis=1)
    return -np.abs(X[:, None] - X).sum(axis=2), X, np.array(["a", "b", "c", "d"])[y]


S, X, Y = problem(90)
TRAIN, NEW = np.arange(60), np.arange(60, 90)
BLOCK, ROWS = S[np.ix_(TRAIN, TRAIN)], S[np.ix_(NEW, TRAIN)]


@pytest.mark.parametrize("class_conditional", [True, False])
@pytest.mark.parametrize("method", ["lac", "aps"])
def test_p_values_are_those_of_the_formula(method, class_conditional):
    # Of 4 neighbours many posteriors are tied.
    folds = list(StratifiedKFold(5, shuffle=True, random_state=1).split(BLOCK, Y[TRAIN]))
    knn = KNNClassifier(4)
    sets = PredictionSets(knn, 0.8, method, class_conditional, cv=folds).fit(BLOCK, Y[TRAIN])

    class WithoutTies(KNNClassifier):
        """Among equal posteriors that of the predicted class is slightly larger, as in our scores."""

        def predict_proba(self, X):
            found = super().predict_proba(X)
            tied = np.sum(found >= found.max(axis=1, keepdims=True) - 1e-6, axis=1) > 1
            found[np.flatnonzero(tied), np.searchsorted(self.classes_, self.predict(X)[tied])] += 3e-6
            return found / found.sum(axis=1, keepdims=True)

    score = getattr(conformal, method)
    expected = conformal.cross_conformal(WithoutTies(4), BLOCK, Y[TRAIN], ROWS, folds, score, class_conditional)
    assert np.allclose(sets.p_values(ROWS), expected, atol=1e-12)
    assert np.array_equal(sets.predict_set(ROWS), expected > 0.2 + 1e-9)
    assert np.array_equal(sets.predict_set(ROWS, 0.5), expected > 0.5 + 1e-9)


def test_typicality_is_that_of_the_formula():
    rng = np.random.default_rng(0)
    asymmetric = np.round(S + rng.normal(size=S.shape), 1)  # with ties
    block, rows = asymmetric[np.ix_(TRAIN, TRAIN)], asymmetric[np.ix_(NEW, TRAIN)]
    labels = Y[TRAIN].copy()
    labels[0] = "single"
    sets = PredictionSets(KNNClassifier(), class_conditional=False, cv=3).fit(block, labels)
    expected = conformal.typicality(block, labels, rows)
    assert np.allclose(sets.typicality(rows), expected)
    assert np.all(expected[:, 3] == 1)
    flipped = PredictionSets(KNNClassifier(dissimilarity="max-minus"), class_conditional=False, cv=3)
    flipped.fit(-block, labels)
    assert np.allclose(flipped.typicality(-rows), expected)
    # A training sample is compared with the others: as if it were new to them.
    without = np.arange(1, 60)
    alone = conformal.typicality(block[np.ix_(without, without)], labels[without], block[:1, without])
    assert np.allclose(sets._typicality.of_training()[0, :3], alone[0])


def test_familiarity_is_that_of_the_formula(monkeypatch):
    sets = PredictionSets(KNNClassifier(), cv=3).fit(BLOCK, Y[TRAIN])
    expected = conformal.familiarity(BLOCK, Y[TRAIN], ROWS)
    assert np.allclose(sets.familiarity(ROWS), expected)
    assert len(np.unique(expected)) > 10
    for name in ("familiarity", "typicality"):
        monkeypatch.setattr(f"similitude.sets.{name}.BLOCK", 150)  # two or three rows at a time
    again = PredictionSets(KNNClassifier(dissimilarity="gauss"), cv=3).fit(-BLOCK, Y[TRAIN])
    assert np.allclose(again.familiarity(-ROWS), expected)
    assert np.allclose(again.typicality(-ROWS), sets.typicality(ROWS))


def test_unknown_similarities_are_not_among_the_nearest():
    hidden = np.random.default_rng(0).random(S.shape) < 0.3
    known = np.where((hidden | hidden.T) & ~np.eye(len(S), dtype=bool), np.nan, S)
    block, rows = known[np.ix_(TRAIN, TRAIN)], known[np.ix_(NEW, TRAIN)]
    rows[0] = np.nan
    sets = PredictionSets(KNNClassifier(4)).fit(block, Y[TRAIN])
    own = np.where(np.eye(60), np.nan, block)
    expected = []
    for g in sets.classes_:
        of_class = Y[TRAIN] == g
        nearest, new = np.nanmax(own[np.ix_(of_class, of_class)], axis=1), np.nanmax(rows[1:, of_class], axis=1)
        expected.append((1 + (nearest <= new[:, None]).sum(axis=1)) / (1 + of_class.sum()))
    assert np.allclose(sets.typicality(rows[1:]), np.transpose(expected))

    def stored(values):
        return Proximities(sparse.csr_array(np.nan_to_num(-values)), absent="unknown")

    distances = PredictionSets(KNNClassifier(4, dissimilarity="max-minus")).fit(stored(block), Y[TRAIN])
    assert np.allclose(distances.p_values(stored(rows[1:])), sets.p_values(rows[1:]))
    assert np.isnan(sets.typicality(rows)).any(axis=1).tolist() == [True] + [False] * 29
    assert np.allclose(distances.typicality(stored(rows)), sets.typicality(rows), equal_nan=True)
    assert np.allclose(distances.familiarity(stored(rows)), sets.familiarity(rows), equal_nan=True)


def test_sparse_rows_have_the_typicality_of_dense_ones():
    block, rows = (np.where(values > -2, values + 3, 0.0) for values in (BLOCK, ROWS))
    dense = PredictionSets(KNNClassifier(), cv=3).fit(block, Y[TRAIN])
    held = PredictionSets(KNNClassifier(), cv=3).fit(sparse.csr_array(block), Y[TRAIN])
    assert np.allclose(held.typicality(sparse.csr_array(rows)), dense.typicality(rows), equal_nan=True)
    assert np.allclose(held.familiarity(sparse.csr_array(rows)), dense.familiarity(rows), equal_nan=True)
    assert np.allclose(held.p_values(sparse.csr_array(rows)), dense.p_values(rows))


def test_coverage_over_random_partitions():
    """Marginal and by class, within three binomial standard errors; and typicality rejects no more than it promises."""
    n_train, partitions = 48, 200
    S, _, y = problem(120, seed=3, classes=2, spread=1.5)
    codes = (y == "b").astype(int)
    covered, sizes, rejected = np.zeros((2, 2)), [], np.zeros(2)
    for seed in range(partitions):
        order = np.random.default_rng(seed).permutation(len(y))
        train = np.concatenate([order[codes[order] == g][: n_train // 2] for g in (0, 1)])
        test = np.concatenate([order[codes[order] == g][n_train // 2 :][:10] for g in (0, 1)])
        sets = PredictionSets(KNNClassifier(9, "distance", dissimilarity="max-minus"), 0.8, cv=3).fit(
            -S[np.ix_(train, train)], y[train]
        )
        rows = -S[np.ix_(test, train)]
        found = sets.predict_set(rows)
        own = found[np.arange(20), codes[test]]
        covered += [[own[codes[test] == g].sum(), 10] for g in (0, 1)]
        sizes.append(found.sum(axis=1).mean())
        typical = sets.typicality(rows)[np.arange(20), codes[test]]
        rejected += [np.sum(typical <= 0.1), 20]
    by_class, total = covered[:, 0] / covered[:, 1], covered[:, 1].sum()
    error = np.sqrt(0.8 * 0.2 / total)
    assert 0.8 - 3 * error <= covered[:, 0].sum() / total <= 0.85
    assert np.all(by_class >= 0.8 - 3 * np.sqrt(2) * error)
    assert np.all(by_class <= 0.87)
    assert np.mean(sizes) < 1.4
    assert 0.05 < rejected[0] / rejected[1] <= 0.1 + 3 * np.sqrt(0.1 * 0.9 / rejected[1])


def overlap(a, b):
    """An asymmetric similarity of two points, given as raw objects."""
    return -abs(a[0] - b[0]) - abs(a[1] - b[1]) - 0.1 * max(a[0] - b[0], 0)


def manhattan(a, b):
    return -abs(a[0] - b[0]) - abs(a[1] - b[1])


POINTS = [tuple(point) for point in X.tolist()]
LEARNED = PathSearchCV(KNNClassifier(), {"n_neighbors": [3, 5]}, cv=3)


@pytest.mark.parametrize(
    ("on_matrix", "on_objects"),
    [
        (KNNClassifier(5), KNNClassifier(5, similarity=manhattan)),
        (SimilaritySVC(), SimilaritySVC(similarity=manhattan)),
        (
            make_pipeline(SpectrumModifier(), SVC(kernel="precomputed")),
            make_pipeline(SpectrumModifier(similarity=manhattan), SVC(kernel="precomputed")),
        ),
        (LEARNED, PathSearchCV(KNNClassifier(similarity=manhattan), {"n_neighbors": [3, 5]}, cv=3)),
        (CombinedClassifier(n_folds=3), CombinedClassifier(n_folds=3, similarity=manhattan)),
    ],
    ids=lambda estimator: type(estimator).__name__,
)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_raw_objects_equal_their_matrix(on_matrix, on_objects):
    by_matrix = PredictionSets(on_matrix, cv=3).fit(BLOCK, Y[TRAIN])
    by_objects = PredictionSets(on_objects, cv=3).fit([POINTS[i] for i in TRAIN], Y[TRAIN])
    new = [POINTS[i] for i in NEW]
    assert np.allclose(by_matrix.p_values(ROWS), by_objects.p_values(new))
    assert np.array_equal(by_matrix.predict(ROWS), by_objects.predict(new))
    assert np.allclose(by_matrix.typicality(ROWS), by_objects.typicality(new))
    assert np.allclose(by_matrix.familiarity(ROWS), by_objects.familiarity(new))
    assert np.array_equal(by_matrix.estimator_.predict(ROWS), by_matrix.predict(ROWS))


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_folds_that_need_both_directions_get_the_objects():
    sets = PredictionSets(SimilaritySVC(similarity=overlap), cv=3).fit([POINTS[i] for i in TRAIN], Y[TRAIN])
    new = [POINTS[i] for i in NEW]
    from similitude.evaluation.answers import log_posteriors

    each = [log_posteriors(fold.estimator, new, sets.classes_) for fold in sets.folds_]
    assert np.allclose(sets.p_values(new), sets._calibration.p_values(each, "lac", True))


def test_distances_of_scikit_learn_and_feature_vectors():
    distances = PredictionSets(KNeighborsClassifier(metric="precomputed"), cv=3).fit(-BLOCK, Y[TRAIN])
    assert np.allclose(distances.typicality(-ROWS), conformal.typicality(BLOCK, Y[TRAIN], ROWS))
    for estimator in (RandomForestClassifier(5, random_state=0), LocalBDA()):
        sets = PredictionSets(estimator, cv=3).fit(X[TRAIN], Y[TRAIN])
        assert sets.predict_set(X[NEW]).shape == (30, 3)
        assert sets.n_features_in_ == 2
        with pytest.raises(ValueError, match="typicality needs one similarity between samples; here"):
            sets.typicality(X[NEW])


def test_proximities_with_ids_and_self_similarities():
    names = np.array([f"s{i}" for i in range(90)])
    given = Proximities(S, ids=names, self_similarity=np.diagonal(S))
    sets = PredictionSets(KNNClassifier(5), cv=3).fit(given[np.ix_(TRAIN, TRAIN)], Y[TRAIN])
    plain = PredictionSets(KNNClassifier(5), cv=3).fit(BLOCK, Y[TRAIN])
    assert np.array_equal(sets.p_values(given[np.ix_(NEW, TRAIN)]), plain.p_values(ROWS))
    assert np.array_equal(sets.p_values(given[np.ix_(NEW, TRAIN[::-1])]), plain.p_values(ROWS))
    frame = pd.DataFrame(np.exp(-S), index=names, columns=names)  # distances, for another library's classifier
    other = PredictionSets(KNeighborsClassifier(5, metric="precomputed"), cv=3)
    other.fit(frame.iloc[TRAIN, TRAIN], Y[TRAIN])
    assert np.array_equal(other.p_values(frame.iloc[NEW, TRAIN[::-1]]), other.p_values(frame.iloc[NEW, TRAIN]))


def test_several_similarities_are_cut_together():
    both = Proximities({"one": S, "two": np.exp(S)})
    parts = [("one", KNNClassifier(5)), ("two", KNNClassifier(5))]
    sets = PredictionSets(FusedClassifier(parts), cv=3).fit(both[np.ix_(TRAIN, TRAIN)], Y[TRAIN])
    plain = PredictionSets(FusedClassifier(parts), cv=3).fit(BLOCK, Y[TRAIN])  # the same neighbours by one similarity
    assert np.allclose(sets.p_values(both[np.ix_(NEW, TRAIN)]), plain.p_values(ROWS))
    named = Proximities(both.similarities, ids=[f"s{i}" for i in range(90)])
    sets = PredictionSets(FusedClassifier(parts), cv=3).fit(named[np.ix_(TRAIN, TRAIN)], Y[TRAIN])
    assert np.allclose(sets.p_values(named[np.ix_(NEW, TRAIN[::-1])]), plain.p_values(ROWS))
    with pytest.raises(ValueError, match="familiarity needs one similarity between samples"):
        sets.familiarity(both[np.ix_(NEW, TRAIN)])


@pytest.mark.filterwarnings("ignore::similitude.SimilarityWarning")
def test_a_model_file_keeps_the_sets(tmp_path):
    sets = PredictionSets(SimilaritySVC(), 0.8, cv=3).fit(BLOCK, Y[TRAIN])
    save_model(tmp_path / "sets.model", sets)
    loaded = load_model(tmp_path / "sets.model")
    assert np.array_equal(loaded.p_values(ROWS), sets.p_values(ROWS))
    assert np.array_equal(loaded.typicality(ROWS), sets.typicality(ROWS))
    assert np.array_equal(loaded.familiarity(ROWS), sets.familiarity(ROWS))


def test_folds_keep_groups_together():
    groups = np.arange(60) // 6
    sets = PredictionSets(KNNClassifier(5), 0.5, cv=5).fit(BLOCK, Y[TRAIN], groups=groups)
    assert all(not np.isin(groups[fold.test], groups[fold.train]).any() for fold in sets.folds_)
    twice = np.repeat(TRAIN, 2)  # copies of samples: the similarities themselves form the groups
    copies = BLOCK[np.ix_(twice, twice)]
    sets = PredictionSets(KNNClassifier(5), 0.5, cv=SimilarityGroupKFold(5)).fit(copies, Y[twice])
    assert all(not np.isin(twice[fold.test], twice[fold.train]).any() for fold in sets.folds_)
    with pytest.raises(ValueError, match="needs an estimator on similarities"):
        PredictionSets(LocalBDA(), cv=SimilarityGroupKFold(5)).fit(X, Y)


def test_a_class_in_a_single_group_is_named():
    groups = np.where(Y[TRAIN] == "a", "first", np.arange(60).astype(str))
    with pytest.raises(ValueError, match="class 'a' has 0"):
        PredictionSets(KNNClassifier(5), 0.5, cv=5).fit(BLOCK, Y[TRAIN], groups=groups)


def test_a_sample_that_is_unlike_all_others_fits_nowhere():
    far = BLOCK[:1] - 20
    sets = PredictionSets(KNNClassifier(5), cv=5).fit(BLOCK, Y[TRAIN])
    assert np.allclose(sets.typicality(far), 1 / 21)
    assert sets.familiarity(far)[0] <= 2 / 61
    assert sets.familiarity(BLOCK[:10]).min() > 2 / 61


def test_coverage_of_left_out_samples():
    sets = PredictionSets(KNNClassifier(5), 0.75, cv=4).fit(BLOCK, Y[TRAIN])
    found = sets.coverage()
    known: Calibration = sets._calibration
    # By hand for the first fold: its samples, compared with those of the others.
    here = known.parts == 0
    rest = Calibration(known.classes, *(part[~here] for part in (known.log_posteriors, known.codes, known.parts)))
    own = rest.p_values(known.log_posteriors[here], "lac", True) > 0.25 + 1e-9
    assert np.array_equal(found.sets[here], own)
    assert found.counts.tolist() == [20, 20, 20]
    assert found.coverage == np.mean(found.sets[np.arange(60), known.codes])
    assert np.isclose(found.mean_size, found.sizes.sum(axis=0) @ np.arange(4) / 60)
    assert str(found).split("\n")[1].split() == ["class", "samples", "coverage", "mean", "size", "empty"]


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"confidence": 1.0}, r"confidence must be a number above 0 and below 1, .* got 1.0"),
        ({"confidence": 0}, "confidence must be a number above 0 and below 1"),
        ({"confidence": "high"}, "confidence must be a number above 0 and below 1"),
        ({"method": "raps"}, r"method must be one of \('lac', 'aps'\); got 'raps'"),
        ({"class_conditional": "yes"}, "class_conditional must be True or False; got 'yes'"),
        ({"cv": 1}, "cv must be at least 2; got 1"),
        (
            {"confidence": 0.97},
            r"confidence=0.97 with class_conditional=True needs at least 33 samples of each class; class 'a' has 20, "
            r"'b' has 20, 'c' has 20. Use class_conditional=False, .* a confidence of at most 0.9523, or more samples",
        ),
        ({"confidence": 0.99, "class_conditional": False}, "confidence=0.99 needs at least 99 samples; got 60"),
        ({"cv": ShuffleSplit(3, random_state=0)}, "cv must leave out each sample once, as KFold does"),
    ],
)
def test_errors_name_the_argument_and_the_remedy(parameters, message):
    sets = PredictionSets(KNNClassifier(3), **parameters)
    with pytest.raises(ValueError, match=message):
        sets.fit(BLOCK, Y[TRAIN])
    assert not hasattr(sets, "classes_")


def test_a_small_class_is_named():
    labels = np.where(np.arange(60) < 4, "rare", Y[TRAIN])
    with pytest.raises(ValueError, match=r"at least 9 samples of each class; class 'rare' has 4\. .* at most 0\.8,"):
        PredictionSets(KNNClassifier(3)).fit(BLOCK, labels)
    sets = PredictionSets(KNNClassifier(3), cv=KFold(5)).fit(BLOCK, Y[TRAIN])
    with pytest.raises(ValueError, match="needs at least 99 left-out samples of each class"):
        sets.predict_set(ROWS, 0.99)


@pytest.mark.filterwarnings("ignore::similitude.SimilarityWarning")
class TestApproximateSets:
    """AutoClassifier and CombinedClassifier: from the answers that they have."""

    def test_auto_compares_with_its_out_of_fold_answers(self, capsys):
        auto = AutoClassifier(["k-NN", "nearest centroid"], n_repeats=1, cv=4).fit(BLOCK, Y[TRAIN])
        found, codes = auto.out_of_fold_, np.unique(Y[TRAIN], return_inverse=True)[1]
        new = auto.predict_proba(ROWS)
        expected = np.empty(new.shape)
        for g in range(3):
            own = found.proba[codes[found.samples] == g, g]
            expected[:, g] = (1 + np.sum(own[:, None] <= new[:, g] + 1e-9, axis=0)) / (1 + len(own))
        assert np.array_equal(auto.predict_set(ROWS, 0.8), expected > 0.2 + 1e-9)
        assert capsys.readouterr() == ("", "")
        auto.set_params(verbose=1).predict_set(ROWS, 0.8)
        shown = capsys.readouterr().err
        assert shown.startswith("approximate sets; confidence 0.8: measured coverage ")
        assert f"{100 * auto.coverage(0.8).coverage:.1f}%" in shown
        assert np.allclose(auto.typicality(ROWS), conformal.typicality(BLOCK, Y[TRAIN], ROWS))

    def test_priors_and_class_weights_apply_to_both_sides(self):
        options = {"n_folds": 3, "random_state": 1}
        plain = CombinedClassifier(**options).fit(BLOCK, Y[TRAIN])
        weighted = CombinedClassifier(class_weight={"a": 5, "b": 1, "c": 1}, **options).fit(BLOCK, Y[TRAIN])
        prior = CombinedClassifier(priors=[5 / 7, 1 / 7, 1 / 7], **options).fit(BLOCK, Y[TRAIN])
        assert np.allclose(weighted._calibration.log_posteriors, prior._calibration.log_posteriors)
        assert not np.allclose(plain._calibration.log_posteriors, prior._calibration.log_posteriors)
        for model in (plain, weighted, prior):
            assert model.coverage(0.8).by_class.min() >= 0.7

    def test_rows_with_only_the_needed_columns_have_no_typicality(self):
        labels, rows = np.where(Y[TRAIN] == "a", "a", "b"), np.exp(ROWS)
        model = CombinedClassifier([("P-SVM", PotentialSVC(C=1.0))], n_folds=2).fit(np.exp(BLOCK), labels)
        support = model.support_columns_
        assert len(support) < 60
        assert np.array_equal(model.predict_set(rows[:, support]), model.predict_set(rows))
        with pytest.raises(ValueError, match=r"X has \d+ features, but CombinedClassifier is expecting 60"):
            model.typicality(rows[:, support])

    def test_errors(self):
        model = CombinedClassifier(n_folds=3).fit(BLOCK, Y[TRAIN])
        with pytest.raises(ValueError, match="confidence must be a number above 0 and below 1"):
            model.predict_set(ROWS, 1.5)
        with pytest.raises(ValueError, match="needs at least 99 left-out samples of each class; class 'a' has 20"):
            model.coverage(0.99)


def test_unknown_pairs_are_unknown_to_sets_and_novelty():
    S, y = _known_in_part()
    stored = ~np.isnan(S)
    as_sparse = sparse.csr_matrix((S[stored], np.nonzero(stored)), shape=S.shape)
    dense = PredictionSets(KNNClassifier(3), confidence=0.8, cv=3).fit(S, y)
    known = PredictionSets(KNNClassifier(3), confidence=0.8, cv=3).fit(Proximities(as_sparse, absent="unknown"), y)
    for name in ("typicality", "familiarity", "p_values"):
        found = getattr(dense, name)(S)
        assert np.isfinite(found).all()
        assert np.allclose(found, getattr(known, name)(Proximities(as_sparse, absent="unknown")))
    nothing = np.full((1, len(S)), np.nan)
    assert np.isnan(dense.typicality(nothing)).all()
    assert np.isnan(dense.familiarity(nothing)).all()
    # Only the known pairs of a class count for its typicality.
    row = np.where(y == 0, S[0], np.nan)[None]
    assert dense.typicality(row)[0, 1] == 1
    assert dense.typicality(row)[0, 0] == dense.typicality(S[:1])[0, 0]


def _known_in_part():
    rng = np.random.default_rng(3)
    y = np.arange(30) % 2
    points = rng.normal(size=(30, 2)) + 2 * y[:, None]
    S = np.exp(-np.linalg.norm(points[:, None] - points, axis=2))
    S[rng.random(S.shape) < 0.1] = np.nan
    np.fill_diagonal(S, 1.0)
    return S, y


def test_absent_dissimilarities_are_far_for_typicality():
    D = np.array([[0.0, 1, 9, 9], [1, 0, 9, 9], [9, 9, 0, 2], [9, 9, 2, 0]]).repeat(2, 0).repeat(2, 1)
    D[D == 9] = 0
    far = Proximities(sparse.csr_matrix(D), absent="farthest")
    sets = PredictionSets(
        KNNClassifier(1, dissimilarity="max-minus"), confidence=0.5, cv=2, class_conditional=False
    ).fit(far, np.arange(8) // 4)
    rows = sparse.csr_matrix(([3.0], ([0], [0])), shape=(2, 8))  # the second has no stored value
    found = sets.typicality(Proximities(rows, absent="farthest"))
    assert found[0].max() <= 0.2
    assert np.isnan(found[1]).all()


def test_sets_of_a_classifier_on_several_similarities(tmp_path):
    S, y = _known_in_part()
    S = np.where(np.isnan(S), 0.0, S)
    S = (S + S.T) / 2
    one = PredictionSets(MixtureSVC(target="clip"), confidence=0.8, cv=3).fit({"only": S}, y)
    same = PredictionSets(LearnedSpectrumSVC(target="clip"), confidence=0.8, cv=3).fit(S, y)
    assert np.allclose(one.p_values({"only": S}), same.p_values(S))
    both = {"first": S, "second": S**2}
    sets = PredictionSets(MixtureSVC(target="clip"), confidence=0.8, cv=3).fit(both, y)
    expected = sets.p_values(Proximities(both))
    assert np.array_equal(sets.p_values({"second": S**2, "first": S}), expected)
    save_model(tmp_path / "sets.model", sets)
    assert np.array_equal(load_model(tmp_path / "sets.model").p_values(both), expected)


def test_a_dict_of_matrices_for_one_similarity_is_refused_by_name():
    S, y = _known_in_part()
    for model in (KNNClassifier(), PredictionSets(KNNClassifier(), cv=2, confidence=0.5)):
        with pytest.raises(ValueError, match="X holds the similarities 'a', 'b', and one is needed"):
            model.fit({"a": S, "b": S}, y)


class TestDifferentFits:
    """Scores of different fits, folds that were not tested, and classes that were not."""

    @staticmethod
    def known(levels, n=40):
        """Left-out samples of two classes, whose posteriors have one level in each fold."""
        codes = np.arange(n) % 2
        parts = np.arange(n) // 2 % len(levels)
        own = np.array(levels)[parts]
        posteriors = np.where(np.eye(2, dtype=bool)[codes], own[:, None], 1 - own[:, None])
        return Calibration(np.array(["a", "b"]), np.log(posteriors), codes, parts)

    def test_nearly_equal_posteriors_of_folds_are_ties(self):
        near, apart = self.known([0.9992, 0.9994]), self.known([0.8, 0.99])
        new = np.log([[0.9990, 0.0010]])
        for class_conditional in (True, False):
            measured = near.coverage(0.9, "lac", class_conditional)
            assert measured.coverage == 1
            assert not measured.misses
            assert near.p_values(new, "lac", class_conditional)[0, 0] == 1
            assert near.p_values(new, "lac", class_conditional)[0, 1] < 0.1
            assert apart.coverage(0.9, "lac", class_conditional).misses

    def test_a_class_that_was_not_tested_is_in_every_set(self):
        known = self.known([0.9])
        two = Calibration(
            np.array(["a", "b", "c"]),
            np.log(np.c_[np.exp(known.log_posteriors), np.full(40, 1e-9)]),
            known.codes,
            known.parts,
        )
        new = np.log([[0.9, 0.1 - 1e-9, 1e-9]])
        assert two.p_values(new, "lac", False)[0].tolist()[2] == 1

    def test_fit_warns_if_its_own_estimate_misses_the_confidence(self):
        """Two of five folds were tested, and the similarity says nothing: posteriors differ by the fold."""
        rng = np.random.default_rng(36)
        codes, X = (rng.random(200) < 0.1).astype(int), rng.normal(size=(200, 6))
        S = np.exp(-np.linalg.norm(X[:, None] - X, axis=2) / 3)
        folds = list(StratifiedKFold(5, shuffle=True, random_state=0).split(X, codes))[:2]
        with pytest.warns(UserWarning, match=r"sets of classes at confidence 0\.9 hold the class of only"):
            auto = AutoClassifier(["k-NN"], n_repeats=1, cv=folds).fit(S, codes)
        assert auto.coverage(class_conditional=False).misses
        with pytest.warns(UserWarning, match="Use more samples, more time"):
            auto.predict_set(S, 0.9, class_conditional=False)

    def test_few_samples_of_five_classes(self):
        """Approximate sets at 20 samples: the coverage agrees with the confidence within three standard errors."""
        held = []
        for seed in range(20):
            rng = np.random.default_rng(seed)
            y = np.arange(120) % 5
            angle = 2 * np.pi * y / 5
            X = rng.normal(size=(120, 4)) + 2 * np.stack([np.cos(angle), np.sin(angle), 0 * y, 0 * y], axis=1)
            S = np.exp(-np.linalg.norm(X[:, None] - X, axis=2))
            auto = AutoClassifier(["k-NN", "nearest centroid"], n_repeats=1, random_state=seed).fit(S[:20, :20], y[:20])
            found = auto.predict_set(S[20:, :20], 0.8)
            held.append(np.mean(found[np.arange(100), y[20:]]))
        assert np.mean(held) >= 0.8 - 3 * np.std(held) / np.sqrt(len(held))
