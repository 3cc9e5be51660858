"""KNNClassifier with KRI, KRR and LIME weights: the classifier around the weights."""

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score

from similitude import KNNClassifier, LocalSVC, PathSearchCV, SimilarityWarning, train_test_split
from similitude.datasets import fetch_protein, load_voting, make_negative_direction
from similitude.similarities import VDM
from tests.neighbors.problems import KINDS, problem
from tests.reference import local_weights as reference
from tests.reference import neighbors

GRID = {"n_neighbors": [1, 5, 16, 40], "reg": [1e-6, 1.0]}


def _data(seed=0, n=60):
    """An indefinite similarity with ties, duplicates and three classes."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n)
    X = np.round(2 * rng.normal(size=(n, 3)) + 2 * np.eye(3)[y])
    X[: n // 4] = X[n // 4 : 2 * (n // 4)]
    D = np.abs(X[:, None] - X[None]).sum(-1)
    return 1 - (D / D.max()) ** 1.3, y


def _by_definition(S, s, nearest, weights, spectrum, consistent):
    """The weights of these neighbours; None where the problem is nearly singular, so that rounding has its say."""
    K, row = reference.modify(S[np.ix_(nearest, nearest)], s[nearest], spectrum, consistent)
    singular = np.abs(np.linalg.eigvalsh(K) + 0.5).min() < 1e-3
    return None if singular else getattr(reference, weights)(K, row, 0.5)


@given(
    st.integers(0, 2**32 - 1),
    st.sampled_from(KINDS[:6]),
    st.sampled_from(["kri", "krr"]),
    st.sampled_from(["clip", "flip", "shift", "none"]),
    st.booleans(),
)
def test_votes_are_those_of_the_definition(seed, kind, weights, spectrum, consistent):
    rng = np.random.default_rng(seed)
    if weights == "kri" and spectrum == "none":
        kind = "psd"  # an indefinite one has more than one optimum
    S, s = problem(rng, 9, kind)
    y = rng.integers(0, 3, 9)
    knn = KNNClassifier(5, weights, 0.5, spectrum, consistent).fit(S, y)
    nearest = neighbors.neighbors(s, 5)
    w = _by_definition(S, s, nearest, weights, spectrum, consistent)
    if w is None:
        return
    indices, ours = knn.neighbor_weights(s[None])
    assert indices[0].tolist() == nearest
    assert np.allclose(ours[0], w, rtol=0, atol=1e-6 * max(1, np.abs(w).max()))
    nearest = neighbors.taken(s, 5)
    if not nearest:
        expected = neighbors.shares(s, y.tolist(), knn.classes_.tolist())
        assert np.allclose(knn.predict_proba(s[None])[0], expected)
        return
    w = _by_definition(S, s, nearest, weights, spectrum, consistent)
    if w is None:
        return
    sums = np.array([w[y[nearest] == c].sum() for c in knn.classes_])
    positive = np.maximum(sums, 0)
    present = np.isin(knn.classes_, y[nearest])
    expected = positive / positive.sum() if positive.sum() > 1e-6 else None
    if expected is not None:
        assert np.allclose(knn.predict_proba(s[None])[0], expected, rtol=0, atol=1e-5 / positive.sum())
    best = np.sort(sums[present])
    if len(best) == 1 or best[-1] - best[-2] > 1e-5:
        assert knn.predict(s[None])[0] == knn.classes_[present][np.argmax(sums[present])]


@pytest.mark.untraced
@pytest.mark.parametrize(
    ("weights", "spectrum", "consistent"),
    [
        ("kri", "clip", False),
        ("kri", "clip", True),
        ("kri", "flip", False),
        ("krr", "pinv", False),
        ("krr", "clip", False),
        ("krr", "shift", False),
        ("lime", "clip", False),
    ],
)
def test_path_equals_plain_fits(weights, spectrum, consistent):
    S, y = _data()
    knn = KNNClassifier(weights=weights, spectrum=spectrum, consistent=consistent)
    grid = GRID if weights != "lime" else {**GRID, "reg": [1e-2, 1e6]}
    options = {"cv": 3, "scoring": ["accuracy", "neg_log_loss"], "refit": "accuracy"}
    path, plain = (search(knn, grid, **options).fit(S, y) for search in (PathSearchCV, GridSearchCV))
    for split in range(3):
        assert np.array_equal(*(s.cv_results_[f"split{split}_test_accuracy"] for s in (path, plain)))
        ours, theirs = (s.cv_results_[f"split{split}_test_neg_log_loss"] for s in (path, plain))
        assert np.allclose(ours, theirs, rtol=0, atol=1e-9)
    assert path.best_params_ == plain.best_params_


@pytest.mark.parametrize("weights", ["kri", "lime"])
@pytest.mark.parametrize("seed", range(2))
def test_path_equals_plain_fits_where_there_are_several_optima(weights, seed):
    rng = np.random.default_rng(seed)
    upper = np.triu(rng.integers(0, 5, (30, 30)))
    S, y = upper + np.triu(upper, 1).T, rng.integers(0, 2, 30)
    knn = KNNClassifier(weights=weights, spectrum="none")
    grid = {"n_neighbors": [3, 5, 9], "reg": [0.1, 1.0]}
    path, plain = (search(knn, grid, cv=3).fit(S, y) for search in (PathSearchCV, GridSearchCV))
    assert np.array_equal(path.cv_results_["mean_test_score"], plain.cv_results_["mean_test_score"])


@pytest.mark.untraced
@pytest.mark.parametrize("scale", [1.0, 1e3])
@pytest.mark.parametrize("seed", range(3))
def test_path_equals_plain_fits_on_duplicates_at_small_reg(seed, scale):
    rng = np.random.default_rng(seed)
    X = np.repeat(rng.normal(size=(10, 2)), 3, axis=0)[rng.permutation(30)]
    S, y = scale * (X @ X.T + (X @ X.T).T) / 2, rng.integers(0, 2, 30)
    grid = {"n_neighbors": [2, 9, 16], "reg": [1e-6, 0.1]}
    path, plain = (
        search(KNNClassifier(weights="kri"), grid, cv=3, scoring="neg_log_loss").fit(S, y)
        for search in (PathSearchCV, GridSearchCV)
    )
    # LAPACK's last digit depends on where in memory a matrix lies; a small reg enlarges it.
    tolerance = [1e-9 + 1e-15 * scale / point["reg"] for point in path.cv_results_["params"]]
    assert np.all(np.abs(path.cv_results_["mean_test_score"] - plain.cv_results_["mean_test_score"]) <= tolerance)


def test_neighbours_that_could_change_places_get_the_same_weight():
    kinds = [0, 0, 1, 2, 0, 2, 3, 2, 2]
    between = np.array([[4, 1, 3, 2], [1, 4, 1, 0], [3, 1, 4, 1], [2, 0, 1, 4]])
    S, y = between[np.ix_(kinds, kinds)], [0, 1, 1, 0, 0, 1, 0, 0, 1]
    for weights in ("kri", "krr", "lime"):
        for reg in (1e-3, 1e-6):
            knn = KNNClassifier(9, weights, reg).fit(S, y)
            w = knn.neighbor_weights([[2.0] * 9])[1][0]
            for kind in range(4):
                assert len(set(w[np.equal(kinds, kind)])) == 1
    # Both classes then have half of every kind that counts, and the nearest neighbour decides.
    assert KNNClassifier(9, "kri", 1e-3).fit(S, y).predict([[2.0] * 9]).tolist() == [0]


def test_weights_sum_to_one_where_the_clipped_matrix_is_nothing():
    tiny = KNNClassifier(1, "kri", reg=1e-6).fit([[-3.0, 0], [0, -3.0]], [0, 1])
    assert tiny.neighbor_weights([[1e4, 2.0]])[1].tolist() == [[1.0]]
    A = np.full((3, 3), -0.2)
    np.fill_diagonal(A, -1.0)
    for reg in (1e-6, 1e-3, 0.1):
        knn = KNNClassifier(3, "kri", reg).fit(A, [0, 1, 2])
        assert set(knn.predict(np.repeat(np.linspace(0.1, 5, 200), 3).reshape(-1, 3))) == {0}


@pytest.mark.parametrize("weights", ["kri", "krr", "lime"])
@pytest.mark.parametrize("scale", [1e-300, 1e300, 5e307])
def test_similarities_at_the_ends_of_the_range_of_floats(weights, scale):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 4))
    S, y = X @ X.T / np.abs(X @ X.T).max(), np.arange(30) % 3
    for reg in (0.1, 1.0):
        usual = KNNClassifier(9, weights, reg).fit(S, y).predict_proba(S)
        extreme = KNNClassifier(9, weights, reg * scale).fit(S * scale, y).predict_proba(S * scale)
        assert np.allclose(usual, extreme, rtol=0, atol=1e-9)


def test_small_integers_of_numpy_count_neighbours():
    S, y = _data(n=300)
    for number in (np.uint8(5), np.int8(5), np.uint64(5)):
        assert np.array_equal(KNNClassifier(number).fit(S, y).predict(S), KNNClassifier(5).fit(S, y).predict(S))
        assert np.array_equal(LocalSVC(number).fit(S, y).predict(S[:9]), LocalSVC(5).fit(S, y).predict(S[:9]))


def test_one_path_over_everything():
    S, y = _data()
    grid = [
        {"weights": ["uniform", "affinity", "distance"], "n_neighbors": [1, 4]},
        {"weights": ["kri"], "n_neighbors": [3, 7], "reg": [0.1, 1.0], "consistent": [False, True]},
        {"weights": ["krr"], "n_neighbors": [3], "reg": [0.1], "spectrum": ["clip", "pinv", "none"]},
    ]
    path, plain = (search(KNNClassifier(), grid, cv=3).fit(S, y) for search in (PathSearchCV, GridSearchCV))
    assert np.array_equal(path.cv_results_["mean_test_score"], plain.cv_results_["mean_test_score"])
    by_name = {str(p): s for p, s in zip(path.cv_results_["params"], path.cv_results_["mean_test_score"])}
    assert len(by_name) == 6 + 8 + 3


def test_krr_decides_by_raw_weights_and_never_for_an_absent_class():
    """Footnote 5's shift would turn w = (1, .6, .6), labels A, B, B from B to A."""
    S, s = np.eye(3), np.array([2.0, 1.2, 1.2])
    knn = KNNClassifier(3, "krr", reg=1.0).fit(S, ["A", "B", "B"])
    assert np.allclose(knn.neighbor_weights(s[None])[1], [[1.0, 0.6, 0.6]])
    assert knn.predict(s[None]).tolist() == ["B"]
    negative = KNNClassifier(2, "krr", reg=1.0).fit(np.eye(3), ["A", "B", "C"])
    assert negative.predict([[-1.0, -2.0, -3.0]]).tolist() == ["A"]
    assert negative.predict_proba([[-1.0, -2.0, -3.0]]).tolist() == [[0.5, 0.5, 0.0]]


def test_costs_and_priors_apply_to_local_weights():
    S, y = _data()
    knn = KNNClassifier(9, "kri", 0.1).fit(S, y)
    costs = np.array([[0.0, 1, 5], [1, 0, 1], [1, 1, 0]])
    with_costs = clone(knn).set_params(costs=costs).fit(S, y)
    posterior = knn.predict_proba(S)
    assert np.array_equal(with_costs.predict_proba(S), posterior)
    assert np.array_equal(with_costs.predict(S), np.argmin(posterior @ costs.T, axis=1))
    shares = np.bincount(y) / len(y)
    with_priors = clone(knn).set_params(priors=[0.2, 0.3, 0.5]).fit(S, y)
    expected = posterior * np.array([0.2, 0.3, 0.5]) / shares
    assert np.allclose(with_priors.predict_proba(S), expected / expected.sum(1, keepdims=True))


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"reg": 0}, "reg must be a finite number above 0; got 0"),
        ({"reg": np.inf}, "reg must be a finite number above 0"),
        ({"reg": "1"}, "reg must be"),
        ({"reg": True}, "reg must be"),
        ({"spectrum": "square"}, "spectrum must be one of"),
        ({"spectrum": "pinv", "weights": "kri"}, "spectrum='pinv' is only for weights='krr'; weights is 'kri'"),
        ({"spectrum": "pinv", "weights": "lime"}, "spectrum='pinv' is only for weights='krr'"),
        ({"consistent": 1}, "consistent must be True or False"),
        ({"restarts": -1}, "restarts must be an integer of at least 0"),
        ({"restarts": 1.0}, "restarts must be"),
    ],
)
def test_bad_parameters_are_named(parameters, message):
    with pytest.raises(ValueError, match=message):
        KNNClassifier(**parameters).fit(np.eye(4), [0, 0, 1, 1])
    with pytest.raises(ValueError, match=message):
        PathSearchCV(KNNClassifier(), {k: [v] for k, v in parameters.items()}, error_score="raise", cv=2).fit(
            np.eye(4), [0, 0, 1, 1]
        )


def test_parameters_set_after_fit_change_nothing_until_the_next():
    S, y = _data()
    knn = KNNClassifier(2).fit(S, y)
    before = knn.predict_proba(S), knn.kneighbors(S)[1]
    knn.set_params(n_neighbors=5, weights="kri", reg=3.0)
    assert np.array_equal(knn.predict_proba(S), before[0])
    assert np.array_equal(knn.kneighbors(S)[1], before[1])
    assert np.array_equal(knn.fit(S, y).predict_proba(S), KNNClassifier(5, "kri", 3.0).fit(S, y).predict_proba(S))


def test_the_callers_matrix_is_kept_without_a_copy():
    S, y = _data()
    assert KNNClassifier(3, "kri").fit(S, y)._path.finder.S is S
    assert KNNClassifier(3).fit(S, y)._path.finder.S is None


def test_an_asymmetric_function_gets_both_directions_at_predict():
    words = ["tea", "tee", "coffee", "toffee", "latte", "water", "teas", "coffees"]
    y = [0, 0, 1, 1, 1, 0, 0, 1]

    def one_way(a, b):
        return len(set(a) & set(b)) / len(a)

    def both_ways(a, b):
        return (one_way(a, b) + one_way(b, a)) / 2

    new = ["treat", "café latte", "feet"]
    for search in ("matrix", "stream", "graph"):
        expected = KNNClassifier(4, "krr", 0.1, similarity=both_ways).fit(words, y).predict_proba(new)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SimilarityWarning)
            model = KNNClassifier(4, "krr", 0.1, similarity=one_way, search=search).fit(words, y)
        assert np.allclose(model.predict_proba(new), expected)


def test_partial_fit_appends_to_what_the_weights_look_at():
    voting = load_voting()
    X, y = voting.data[:120], voting.target[:120]
    whole = KNNClassifier(9, "kri", similarity="vdm").fit(X[:100], y[:100])
    pieces = KNNClassifier(9, "kri", similarity="vdm").partial_fit(X[:60], y[:60]).partial_fit(X[60:100], y[60:100])
    assert np.array_equal(whole.predict_proba(X[100:]), pieces.predict_proba(X[100:]))


def _errors(S, y):
    """Test errors of several weights, k and reg chosen by cross-validation."""
    errors = {}
    for name, knn in {
        "k-NN": KNNClassifier(),
        "KRI": KNNClassifier(weights="kri"),
        "KRI, P s": KNNClassifier(weights="kri", consistent=True),
        "KRR": KNNClassifier(weights="krr"),
        "KRR pinv": KNNClassifier(weights="krr", spectrum="pinv"),
        "KRR flip, P s": KNNClassifier(weights="krr", spectrum="flip", consistent=True),
    }.items():
        grid = {"n_neighbors": [1, 16, 128], "reg": [1e-4, 0.01, 1.0]}
        S_train, S_test, y_train, y_test = train_test_split(S, y, random_state=0)
        errors[name] = 1 - PathSearchCV(knn, grid, cv=3).fit(S_train, y_train).score(S_test, y_test)
    return errors


def test_a_negative_direction_that_tells_the_classes_apart():
    """Clip loses it; KRI finds it again with P s, KRR keeps it by the pseudo-inverse or by flip with P s."""
    data = make_negative_direction(n_samples=300, random_state=0)
    errors = _errors(data.S, data.y)
    assert min(errors["k-NN"], errors["KRI"], errors["KRR"]) > 0.25
    assert max(errors["KRI, P s"], errors["KRR pinv"], errors["KRR flip, P s"]) < 0.05


def test_the_same_on_proteins(data_folder):
    """The synthetic case on real similarities: there P s brings KRI from a third of errors to nearly none."""
    protein = fetch_protein(data_folder, download_if_missing=False)
    squares = np.round(protein.D**2)
    data = make_negative_direction(1 - squares / squares.max(), protein.y)
    errors = _errors(data.S, data.y)
    assert min(errors["k-NN"], errors["KRI"], errors["KRR"]) > 0.25
    assert max(errors["KRI, P s"], errors["KRR pinv"], errors["KRR flip, P s"]) < 0.03


def test_voting_is_told_apart():
    """A slice of Chen et al. 2009, Table 3: the whole protocol is `python -m benchmarks voting`."""
    voting = load_voting()
    S = 1 - VDM().fit(voting.data, voting.target)(voting.data, voting.data)
    for knn in (KNNClassifier(32, "kri"), KNNClassifier(32, "krr", spectrum="pinv")):
        assert 0.03 < 1 - cross_val_score(knn, S, voting.target, cv=5).mean() < 0.09
