import warnings

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC

from similitude import LocalSVC, PathSearchCV, Proximities, SimilarityWarning, SpectrumModifier, _native
from similitude.neighbors import local_svc
from tests.paths import path_answers
from tests.reference import local_svc as reference
from tests.reference.neighbors import shares, taken
from tests.ugly import ugly_points

SPECTRA = ["clip", "flip", "shift", "none"]
COSTS = 10.0 ** np.arange(-3, 6)


def _labels(n, rng):
    """Both classes present, the positive one first, as libsvm sorts them."""
    y = np.sort(rng.choice([-1.0, 1.0], n))[::-1]
    y[0], y[-1] = 1.0, -1.0
    return y.copy()


def _kernel(kind, n, rng):
    X = ugly_points(kind, n, rng)
    if kind == "uneven":
        X *= 10.0 ** rng.integers(-4, 5, n)[:, None]
    elif kind == "smooth":
        return np.exp(-0.01 * ((X[:, None] - X[None]) ** 2).sum(-1))
    elif kind == "constant":
        return np.full((n, n), 2.5)
    elif kind == "identity":
        return np.eye(n)
    elif kind == "full":
        X = rng.normal(size=(n, n))
    elif kind == "indefinite":
        return X @ X.T - 2 * np.outer(X[:, 0], X[:, 0]) - 0.1 * np.eye(n)
    return X @ X.T


UGLY = ["duplicates", "ties", "zero rows", "uneven", "smooth", "constant", "identity", "full", "zero"]


def _solved(K, y, C):
    """The dual variables times labels, the offset, and ``K beta``."""
    beta, h = np.empty((2, len(y)))
    solved, offset = _native.testing_one_machine(K, y, C, 30_000, beta, h)
    assert solved
    return beta, offset, h


@pytest.mark.parametrize("C", [1e-3, 0.1, 1.0, 30.0])
@pytest.mark.parametrize("kind", ["linear", "full", "smooth", "duplicates", "ties"])
def test_solution_is_that_of_libsvm(kind, C):
    rng = np.random.default_rng(0)
    for n in (2, 3, 7, 12):
        K, y = _kernel(kind, n, rng), _labels(n, rng)
        machine = SVC(C=C, kernel="precomputed", tol=1e-10).fit(K, y)
        beta, offset, h = _solved(K, y, C)
        # libsvm solves with K in single precision, whatever its tolerance.
        terms = 1 + np.max(np.abs(K)) * np.sum(np.abs(beta))
        assert np.allclose(h + offset, machine.decision_function(K), rtol=0, atol=1e-6 * terms)
        if kind == "full":
            theirs = np.zeros(n)
            theirs[machine.support_] = machine.dual_coef_[0]
            assert np.allclose(beta, theirs, rtol=0, atol=1e-6 * terms)


@given(
    seed=st.integers(0, 10**6),
    n=st.integers(2, 14),
    kind=st.sampled_from([*UGLY, "indefinite"]),
    exponent=st.integers(-3, 5),
    scale=st.sampled_from([1.0, 1e8, 1e-8]),
)
def test_solution_satisfies_the_optimality_conditions(seed, n, kind, exponent, scale):
    rng = np.random.default_rng(seed)
    K, y, C = _kernel(kind, n, rng) * scale, _labels(n, rng), 10.0**exponent
    K = 0.0 * K if kind == "zero" else K
    beta, offset, h = _solved(K, y, C)
    alpha, terms = y * beta, 1 + np.max(np.abs(K)) * np.sum(np.abs(beta))
    assert np.all((alpha >= 0) & (alpha <= C))
    assert abs(beta.sum()) <= 1e-13 * np.abs(beta).sum()
    assert np.allclose(h, K @ beta, rtol=0, atol=1e-13 * terms)
    margin = y * (h + offset)
    assert np.all(margin[alpha < C] >= 1 - 1e-10 - 1e-13 * terms)
    assert np.all(margin[alpha > 0] <= 1 + 1e-10 + 1e-13 * terms)
    if kind != "indefinite":
        primal = beta @ h / 2 + C * np.maximum(1 - margin, 0).sum()
        dual = alpha.sum() - beta @ h / 2
        assert abs(primal - dual) <= 1e-10 * (primal + C * n * 1e-3 * terms)


@pytest.mark.parametrize("kind", ["linear", "duplicates", "constant", "indefinite", "identity"])
def test_one_c_alone_gives_what_it_gives_within_a_range(kind):
    rng = np.random.default_rng(1)
    costs = np.sort(np.append(COSTS, [3.0, 700.0, 1e300]))
    for n in (2, 9):
        K, y, row = _kernel(kind, n, rng), _labels(n, rng), rng.normal(size=n)

        def values(wanted, K=K, y=y, row=row):
            answer = np.zeros(len(costs))
            assert _native.testing_machine_decisions(K, y, row, 1.0, 0, costs, wanted, answer) == 0
            return answer

        together = values(np.ones(len(costs), dtype=bool))
        for i in range(len(costs)):
            assert values(np.arange(len(costs)) == i)[i] == together[i]


def test_huge_and_tiny_similarities_are_as_good_as_others():
    rng = np.random.default_rng(2)
    S, y = _kernel("full", 8, rng), np.arange(8) % 3
    rows = rng.normal(size=(4, 8))
    expected = LocalSVC(6, 2.0).fit(S, y).decision_function(rows)
    for scale in (2.0**500, 2.0**-500):
        scaled = LocalSVC(6, 2.0 / scale).fit(S * scale, y).decision_function(rows * scale)
        assert np.allclose(scaled, expected, rtol=0, atol=1e-12)
    for scale in (1e-300, 1e300):
        assert np.isfinite(LocalSVC(6).fit(S * scale, y).decision_function(rows / scale)).all()


@given(
    seed=st.integers(0, 10**6),
    k=st.integers(1, 13),
    C=st.sampled_from([1e-3, 0.1, 1.0, 50.0]),
    spectrum=st.sampled_from(SPECTRA),
    n_classes=st.integers(1, 4),
    ties=st.booleans(),
)
def test_equals_the_definition(seed, k, C, spectrum, n_classes, ties):
    rng = np.random.default_rng(seed)
    S, rows = rng.normal(size=(11, 11)), rng.normal(size=(2, 11))
    if ties:
        S, rows = np.round(S), np.round(rows)
    S = S @ S.T if spectrum == "none" else S + S.T
    y = rng.integers(0, n_classes, 11)
    model = LocalSVC(k, C, spectrum).fit(S, y)
    assert model.n_neighbors_ == min(k, 11)
    for s, said, decided in zip(rows, model.predict(rows), model.decision_function(rows)):
        if not taken(s, k):
            found = shares(s, y.tolist(), model.classes_.tolist())
            assert found[model.classes_ == said] == found.max()
            continue
        values, present = reference.decisions(S, s, y, k, C, spectrum)
        # libsvm, in single precision, does not reach zero where zero it is.
        assume(all(abs(value) > 1e-4 for value in values.values()))
        assert said == reference.predict(values, present)
        if len(present) == 1:
            assert np.max(decided) == (-1 if list(model.classes_).index(said) == 0 and len(model.classes_) < 3 else 1)
        elif len(model.classes_) == 2:
            assert decided == pytest.approx(values[tuple(model.classes_)], abs=1e-4)
        else:
            assert model.classes_[np.argmax(decided)] == said
            assert np.all(decided[~np.isin(model.classes_, present)] == -1)
            for c in present:
                own = sum(v if b == c else -v for (a, b), v in values.items() if c in (a, b))
                wins = sum((v >= 0) == (b == c) for (a, b), v in values.items() if c in (a, b))
                bounded = wins + own / (3 * (abs(own) + 1))
                score = decided[list(model.classes_).index(c)]
                assert score == pytest.approx(bounded, abs=1e-4) or (c == said and score == decided.max())


def test_with_all_neighbours_it_is_the_global_machine():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(40, 3))
    D = np.abs(X[:, None] - X[None]).sum(-1)
    S, y = D.max() - D**1.5, (X[:, 0] > 0).astype(int)
    for spectrum in SPECTRA[:3]:
        peer = make_pipeline(SpectrumModifier(spectrum), SVC(C=0.5, kernel="precomputed", tol=1e-10))
        expected = peer.fit(S[:30, :30], y[:30]).decision_function(S[30:, :30])
        ours = LocalSVC(30, 0.5, spectrum).fit(S[:30, :30], y[:30]).decision_function(S[30:, :30])
        assert np.allclose(ours, expected, rtol=0, atol=1e-5)


def test_a_decision_of_zero_is_for_the_later_class_and_equal_votes_for_the_first():
    model = LocalSVC(2).fit(np.eye(3) + 0.1, ["a", "b", "b"])
    assert model.decision_function([[0.3, 0.3, 0.0], [0.4, 0.3, 0.0]]).tolist() == [0.0, pytest.approx(-0.1)]
    assert model.predict([[0.3, 0.3, 0.0]]).tolist() == ["b"]
    # Equally similar to all samples: the class with the larger share.
    assert model.predict([[0.3, 0.3, 0.3]]).tolist() == ["b"]
    assert model.decision_function([[0.3, 0.3, 0.3]]) == pytest.approx(1 / 3)
    # Rock, paper, scissors: each class wins one pair, and the second by the largest margin.
    scores = np.empty((1, 3))
    _native.one_vs_one_rows(np.array([[1.0, -0.5, 0.25]]), np.array([[True, False, True]]), True, scores)
    scores = scores[0]
    assert np.argmax(scores) == 0
    assert scores[0] == scores[1] > scores[2]


def test_a_class_alone_and_a_class_without_neighbours():
    S = np.eye(5)
    two = LocalSVC(2).fit(S, [0, 0, 1, 1, 1])
    rows = [[3.0, 2, 1, 1, 1], [0, 0, 1, 2, 3]]
    assert two.decision_function(rows).tolist() == [-1, 1]
    assert two.predict(rows).tolist() == [0, 1]
    many = LocalSVC(2).fit(S, [0, 1, 1, 2, 3])
    rows = [[0, 3.0, 2, 1, 1], [0, 0, 0, 1, 2.0]]
    alone, pair = many.decision_function(rows)
    assert alone.tolist() == [-1, 1, -1, -1]
    assert pair.tolist() == [-1, -1, pytest.approx(-1 / 6), pytest.approx(7 / 6)]
    assert many.predict(rows).tolist() == [1, 3]
    one = LocalSVC(3).fit(S, ["only"] * 5)
    rows = [*S, [1.0] * 5]  # the last one is equally similar to all
    assert one.predict(rows).tolist() == ["only"] * 6
    assert np.all(one.decision_function(rows) < 0)


def _problem(n=60, n_classes=3, seed=0, ties=False):
    rng = np.random.default_rng(seed)
    y = np.append(np.arange(n_classes), rng.integers(0, n_classes, n - n_classes))
    X = rng.normal(size=(n, 4)) + 0.7 * y[:, None]
    S = -(np.abs(X[:, None] - X[None]).sum(-1) ** 1.3)
    return (S.round() if ties else S), y


@pytest.mark.untraced
@pytest.mark.parametrize("kind", ["indefinite", "ties", "semidefinite"])
@pytest.mark.parametrize("n_classes", [2, 4])
def test_path_equals_plain_fits_to_the_last_digit(n_classes, kind):
    S, y = _problem(n_classes=n_classes, ties=kind == "ties")
    S = S @ S.T if kind == "semidefinite" else S
    train, test = np.arange(45), np.arange(45, 60)
    S_train, rows = S[np.ix_(train, train)], S[np.ix_(test, train)]
    grid = [
        {"n_neighbors": k, "C": C, "spectrum": spectrum}
        for k in (1, 6, 90)
        for C in (1e-3, 3.7, 1e5)
        for spectrum in SPECTRA
    ]
    plain = [LocalSVC(**parameters).fit(S_train, y[train]) for parameters in grid]
    for response in ("predict", "decision_function"):
        path = path_answers(LocalSVC(), S_train, y[train], rows, grid, response)
        for fitted, answer in zip(plain, path, strict=True):
            assert np.array_equal(getattr(fitted, response)(rows), answer)


@pytest.mark.parametrize("scoring", ["accuracy", "roc_auc", ["balanced_accuracy", "average_precision"]])
def test_search_equals_grid_search(scoring):
    S, y = _problem(40, 2)
    grids = [{"n_neighbors": [2, 9], "C": [0.1, 10.0]}, {"spectrum": ["flip", "shift"], "n_neighbors": [50]}]
    options = {"scoring": scoring, "cv": KFold(3), "refit": False, "error_score": "raise"}
    ours, theirs = (search(LocalSVC(), grids, **options).fit(S, y) for search in (PathSearchCV, GridSearchCV))
    for key in [key for key in theirs.cv_results_ if "test_" in key]:
        assert np.array_equal(ours.cv_results_[key], theirs.cv_results_[key])
    D = S.max() - S
    mapped = PathSearchCV(LocalSVC(dissimilarity="max-minus"), {"C": [0.1, 10.0]}, cv=KFold(3)).fit(D, y)
    assert mapped.predict(D).shape == (40,)


@pytest.mark.parametrize("spectrum", SPECTRA)
def test_sparse_float32_and_memmap(spectrum, tmp_path):
    S, y = _problem()
    S = np.where(S > -6, S + 6, 0.0)  # symmetric, and most of it zero
    model = LocalSVC(7, 10.0, spectrum)
    expected = model.fit(S, y).decision_function(S[:20])
    for wrap in (sparse.csr_array, sparse.csr_matrix):
        assert np.array_equal(model.fit(wrap(S), y).decision_function(wrap(S[:20])), expected)
    single = S.astype(np.float32)
    expected = model.fit(single.astype(float), y).decision_function(single[:20].astype(float))
    assert np.array_equal(model.fit(single, y).decision_function(single[:20]), expected)
    np.save(tmp_path / "S.npy", single)
    mapped = np.load(tmp_path / "S.npy", mmap_mode="r")
    assert np.array_equal(model.fit(mapped, y).decision_function(mapped[:20]), expected)
    assert np.shares_memory(model._path.finder.S, mapped)


def test_entries_of_a_sparse_matrix_may_come_in_any_order_and_twice():
    S = sparse.csr_array((np.array([2.0, 2, 1, 1, 2]), np.array([1, 0, 1, 1, 0]), np.array([0, 2, 5])), shape=(2, 2))
    before = S.data.copy(), S.indices.copy()
    model = LocalSVC(2).fit(S, [0, 1])
    rows = np.array([[3.0, 1.0], [0.0, 1.0]])
    assert np.array_equal(model.decision_function(rows), LocalSVC(2).fit(S.toarray(), [0, 1]).decision_function(rows))
    assert np.array_equal(S.data, before[0])
    assert np.array_equal(S.indices, before[1])


def test_asymmetry_is_announced_once():
    S, y = _problem()
    rows = S[:10]
    skew = S + np.triu(np.abs(S), 1)
    for matrix in (skew, sparse.csr_array(skew)):
        with pytest.warns(SimilarityWarning, match="LocalSVC needs a symmetric similarity") as caught:
            model = LocalSVC().fit(matrix, y)
        assert [warning.filename for warning in caught] == [__file__]
        mean = LocalSVC().fit((skew + skew.T) / 2, y)
        assert np.array_equal(model.decision_function(rows), mean.decision_function(rows))


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_neighbors": 0}, "n_neighbors must be an integer of at least 1; got 0"),
        ({"n_neighbors": 2.0}, "n_neighbors must be"),
        ({"C": 0}, "C must be a finite number above 0; got 0"),
        ({"C": np.inf}, "C must be"),
        ({"C": np.nan}, "C must be"),
        ({"C": "1"}, "C must be"),
        ({"C": True}, "C must be"),
        ({"spectrum": "square"}, "spectrum must be one of .*; got 'square'"),
        ({"dissimilarity": "nonsense"}, "dissimilarity must be one of"),
    ],
)
def test_bad_parameters_are_named(parameters, message):
    S, y = _problem(12)
    with pytest.raises(ValueError, match=message):
        LocalSVC(**parameters).fit(S, y)
    if "dissimilarity" not in parameters:
        with pytest.raises(ValueError, match=message):
            path_answers(LocalSVC(), S, y, S, [{}, parameters])


def test_a_fitted_model_does_not_change():
    S, y = _problem()
    model = LocalSVC(7, 3.0).fit(S, y)
    expected, before = model.decision_function(S), dict(vars(model))
    model.predict(S)
    assert vars(model) == before
    assert model._path.finder.S is S
    with pytest.raises(ValueError, match="one label per sample"):
        model.fit(S[:5, :5], y)
    model.set_params(n_neighbors=1, C=1e-3, spectrum="none")
    assert np.array_equal(model.decision_function(S), expected)


def test_raw_objects_and_what_travels_with_them():
    words = ["tree", "trees", "free", "house", "mouse", "horse", "green", "greed"]
    y = np.array([0, 0, 0, 1, 1, 1, 0, 2])

    def overlap(a, b):
        return len(set(a) & set(b)) / len(set(a) | set(b))

    S = np.array([[overlap(a, b) for b in words] for a in words])
    raw = LocalSVC(4, similarity=overlap).fit(words, y)
    assert np.array_equal(raw.decision_function(words), LocalSVC(4).fit(S, y).decision_function(S))
    assert not hasattr(raw, "n_features_in_")
    named = LocalSVC(4).fit(Proximities(S, ids=words), y)
    backward = Proximities(S[:, ::-1], column_ids=words[::-1])
    assert np.array_equal(named.decision_function(backward), raw.decision_function(words))


def test_machines_that_are_not_solved_are_announced_once(monkeypatch):
    S, y = _problem()
    model = LocalSVC(20).fit(S, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        expected = model.predict(S)
    solved = local_svc.local_machines
    # The second argument holds the neighbours: one machine of each row counts as not solved.
    monkeypatch.setattr(local_svc, "local_machines", lambda *arguments: solved(*arguments) + len(arguments[1]))
    with pytest.warns(ConvergenceWarning, match="60 machines were not solved") as caught:
        assert np.array_equal(model.predict(S), expected)
    assert len(caught) == 1


def test_an_indefinite_kernel_ends_at_a_stationary_point_however_large_c_is():
    rng = np.random.default_rng(4)
    for n in (4, 12):
        K, y = _kernel("indefinite", n, rng), _labels(n, rng)
        K[0, 0] = 0.0
        for C in (1e5, 1e100):
            assert all(np.isfinite(found).all() for found in _solved(K, y, C))


def test_a_solution_not_reached_is_told():
    rng = np.random.default_rng(5)
    K, y = _kernel("full", 12, rng), _labels(12, rng)
    beta, h = np.empty((2, 12))
    assert not _native.testing_one_machine(K, y, 1e3, 1, beta, h)[0]
    assert _native.testing_one_machine(K, y, 1e3, 1000, beta, h)[0]
