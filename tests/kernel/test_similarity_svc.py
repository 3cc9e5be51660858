import pickle
import warnings
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.model_selection import GridSearchCV, KFold, StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC

from similitude import PairwiseMeta, PathSearchCV, Proximities, SimilaritySVC, SimilarityWarning, SpectrumModifier
from tests.paths import path_answers
from tests.reference import kernel_svm as reference
from tests.reference import local_svc
from tests.reference import spectrum as modification
from tests.ugly import ugly_points

SPECTRA = ["clip", "flip", "shift", "square", "none"]
MIXED = ["clip", "flip", "square"]
COSTS = 10.0 ** np.arange(-3, 6)
pytestmark = pytest.mark.filterwarnings("ignore:S has .* negative eigenvalue:similitude.SimilarityWarning")


def _problem(n=60, n_classes=2, seed=0, ties=False):
    """Indefinite similarities of classes that overlap."""
    rng = np.random.default_rng(seed)
    y = np.append(np.arange(n_classes), rng.integers(0, n_classes, n - n_classes))
    X = rng.normal(size=(n, 4)) + 0.9 * y[:, None]
    S = 8 - np.abs(X[:, None] - X[None]).sum(-1) ** 1.3
    return (S.round() if ties else S), y


def _split(n=60, m=15, n_classes=2, **options):
    S, y = _problem(n + m, n_classes, **options)
    return S[:n, :n], S[n:, :n], y[:n]


def _beta(model, n):
    beta = np.zeros(n)
    beta[model.support_] = model.dual_coef_[0]
    return beta


# Against the definition


@pytest.mark.parametrize("C", [0.01, 1.0, 30.0])
@pytest.mark.parametrize("spectrum", SPECTRA)
def test_equals_the_quadratic_program(spectrum, C):
    S, rows, y = _split(30)
    if spectrum == "none":
        S, rows = S @ S.T / 30, rows @ S.T / 30
    if spectrum == "square":
        S, rows = S / 20, rows / 20
    model = SimilaritySVC(C, spectrum).fit(S, y)
    values, optimum = reference.decisions(S, rows, 2.0 * y - 1, C, spectrum)
    differences = model.decision_function(rows) - values
    if np.all(np.abs(model.dual_coef_) == C):  # then there are several offsets
        differences -= differences[0]
    # The quadratic program is solved to 1e-11, and decision values to the square root of that.
    assert np.allclose(differences, 0.0, rtol=0, atol=1e-5 * (1 + np.abs(values).max()))
    assert isinstance(model.objective_, float)
    assert isinstance(model.duality_gap_, float)
    assert 0 <= model.duality_gap_ < 1e-10
    assert model.objective_ == pytest.approx(optimum, rel=1e-8)


@pytest.mark.parametrize("C", [0.1, 5.0])
def test_the_krein_machine_is_flip(C):
    S, rows, y = _split(30)
    expected = reference.krein_decisions(S, rows, 2.0 * y - 1, C)
    flip, _ = reference.decisions(S, rows, 2.0 * y - 1, C, "flip")
    assert np.allclose(flip, expected, rtol=0, atol=1e-8)
    model = SimilaritySVC(C, "flip").fit(S, y)
    assert np.allclose(model.decision_function(rows), expected, rtol=0, atol=1e-6 * (1 + np.abs(expected).max()))


def _ugly(kind, n, rng):
    X = ugly_points(kind, n, rng)
    if kind == "constant":
        return np.full((n, n), 2.5)
    if kind == "zero":
        return np.zeros((n, n))
    if kind == "identity":
        return np.eye(n)
    if kind == "indefinite":
        return X @ X.T - 2 * np.outer(X[:, 0], X[:, 0]) - 0.1 * np.eye(n)
    return X @ X.T


@settings(max_examples=60)
@given(
    seed=st.integers(0, 10**6),
    n=st.integers(2, 20),
    kind=st.sampled_from(["duplicates", "ties", "zero rows", "constant", "zero", "identity", "indefinite"]),
    spectrum=st.sampled_from(SPECTRA),
    exponent=st.integers(-3, 3),
    scale=st.sampled_from([1.0, 2.0**300, 2.0**-300]),
)
def test_solution_satisfies_the_optimality_conditions(seed, n, kind, spectrum, exponent, scale):
    rng = np.random.default_rng(seed)
    S, y = _ugly(kind, n, rng), rng.integers(0, 2, n)
    y[:2] = 0, 1
    # The machine of S times c is that of S with C times c.
    C, scale = 10.0**exponent, 1.0 if kind == "zero" else scale
    own_C = C / scale ** (2 if spectrum == "square" else 1)
    with warnings.catch_warnings():
        warnings.simplefilter("error", ConvergenceWarning)
        model = SimilaritySVC(own_C, spectrum).fit(S * scale, y)
    sign, K = 2.0 * y - 1, modification.kernel(S, spectrum)
    beta = _beta(model, n) * (C / own_C)
    alpha, terms = sign * beta, np.max(np.abs(K)) * np.sum(np.abs(beta))
    assert np.all((alpha >= 0) & (alpha <= C * (1 + 1e-12)))
    assert abs(beta.sum()) <= 1e-13 * np.abs(beta).sum()
    # The kernel of the reference differs by rounding errors of the eigendecomposition.
    violation = reference.violation(K, beta, model.intercept_[0], sign, np.full(n, C))
    assert violation <= 1e-10 + 1e-12 * terms
    primal = reference.primal(K, beta, model.intercept_[0], sign, np.full(n, C))
    dual = alpha.sum() - beta @ K @ beta / 2
    assert model.objective_ * (C / own_C) == pytest.approx(dual, rel=1e-9, abs=1e-12 * (C + terms))
    assert 0 <= model.duality_gap_ <= 1e-10
    assert primal - dual <= 1e-10 * (primal + dual) + 1e-12 * terms * np.sum(alpha)
    assert np.isfinite(model.decision_function(S * scale)).all()


@pytest.mark.parametrize("spectrum", SPECTRA)
@pytest.mark.parametrize("n_classes", [2, 3, 5])
def test_equals_libsvm_behind_the_modifier(n_classes, spectrum):
    S, rows, y = _split(n_classes=n_classes)
    names = np.array(list("zyxwv"))[y]
    S, rows = S / 8, rows / 8
    peer = make_pipeline(SpectrumModifier(spectrum), SVC(kernel="precomputed", tol=1e-9)).fit(S, names)
    model, svc = SimilaritySVC(1.0, spectrum).fit(S, names), peer[-1]
    assert np.array_equal(model.classes_, svc.classes_)
    assert np.array_equal(model.predict(rows), peer.predict(rows))
    assert model.n_iter_.shape == svc.n_iter_.shape
    values = model.decision_function(rows)
    assert values.shape == ((15,) if n_classes == 2 else (15, n_classes))
    if n_classes == 2:
        assert np.array_equal(model.predict(rows), model.classes_[(values >= 0).astype(int)])
    else:
        assert np.array_equal(model.predict(rows), model.classes_[np.argmax(values, axis=1)])
    if spectrum == "none":
        return  # the two may end at different stationary points
    for name in ("support_", "n_support_"):
        assert np.array_equal(getattr(model, name), getattr(svc, name))
    # libsvm solves with K in single precision.
    for name in ("dual_coef_", "intercept_"):
        assert np.allclose(getattr(model, name), getattr(svc, name), rtol=0, atol=1e-4)
    if n_classes == 2:
        assert np.allclose(values, peer.decision_function(rows), rtol=0, atol=1e-5)


@pytest.mark.parametrize("spectrum", SPECTRA[:4])
def test_pairs_of_classes_are_machines_of_their_own(spectrum):
    S, rows, y = _split(40, n_classes=4)
    S, rows = S / 10, rows / 10
    model = SimilaritySVC(2.0, spectrum).fit(S, y)
    K = modification.kernel(S, spectrum)
    treated = np.array([modification.row(S, s, spectrum) for s in rows])
    values, pairs = {}, list(combinations(range(4), 2))
    assert model.objective_.shape == model.duality_gap_.shape == model.n_iter_.shape == (6,)
    for p, (a, b) in enumerate(pairs):
        pair = np.flatnonzero((y == a) | (y == b))
        sign = np.where(y[pair] == b, 1.0, -1.0)
        alpha, intercept, optimum = reference.solve(K[np.ix_(pair, pair)], sign, np.full(len(pair), 2.0))
        assert model.objective_[p] == pytest.approx(optimum, rel=1e-8)
        assert 0 <= model.duality_gap_[p] < 1e-10
        values[a, b] = treated[:, pair] @ (alpha * sign) + intercept
    for i, said in enumerate(model.predict(rows)):
        own = {pair: value[i] for pair, value in values.items()}
        if min(map(abs, own.values())) > 1e-5:
            assert said == local_svc.predict(own, [0, 1, 2, 3])


# The path


@pytest.mark.untraced
@pytest.mark.parametrize("kind", ["indefinite", "ties", "semidefinite", "asymmetric", "sparse"])
@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_path_equals_plain_fits_to_the_last_digit(n_classes, kind):
    S, rows, y = _split(45, n_classes=n_classes, ties=kind == "ties")
    if kind == "semidefinite":
        S, rows = S @ S.T, rows @ S.T
    elif kind == "asymmetric":
        S = S + np.triu(np.abs(S), 1)
    elif kind == "sparse":
        S, rows = (sparse.csr_array(np.where(A > 2, A, 0.0)) for A in (S, rows))
    grid = [{"C": C, "spectrum": spectrum} for C in (1e-3, 3.7) for spectrum in SPECTRA]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SimilarityWarning)
        plain = [SimilaritySVC(**parameters).fit(S, y) for parameters in grid]
    for response in ("predict", "decision_function"):
        path = path_answers(SimilaritySVC(), S, y, rows, grid, response)
        for fitted, answer in zip(plain, path, strict=True):
            assert np.array_equal(getattr(fitted, response)(rows), answer)


def test_path_of_probabilities_equals_plain_fits():
    S, rows, y = _split(n_classes=3)
    grid = [{"C": C, "spectrum": spectrum} for C in (0.1, 10.0) for spectrum in ("clip", "shift")]
    model = SimilaritySVC(probability=True, class_weight="balanced")
    path = path_answers(model, S, y, rows, grid, "predict_proba")
    for parameters, answer in zip(grid, path):
        assert np.array_equal(clone(model).set_params(**parameters).fit(S, y).predict_proba(rows), answer)


@pytest.mark.parametrize("scoring", ["accuracy", "roc_auc", "neg_log_loss"])
def test_search_equals_grid_search(scoring):
    S, y = _problem(50)
    model = SimilaritySVC(probability=True) if scoring == "neg_log_loss" else SimilaritySVC()
    grids = [{"C": [0.1, 10.0]}, {"spectrum": ["flip", "none"], "C": [1.0]}]
    options = {"scoring": scoring, "cv": StratifiedKFold(3), "refit": False, "error_score": "raise"}
    ours, theirs = (search(model, grids, **options).fit(S, y) for search in (PathSearchCV, GridSearchCV))
    for key in [key for key in theirs.cv_results_ if "test_" in key]:
        assert np.allclose(ours.cv_results_[key], theirs.cv_results_[key], rtol=0, atol=1e-12)


def test_search_on_dissimilarities_and_frames():
    S, y = _problem(40)
    D = S.max() - S
    np.fill_diagonal(D, 0.0)
    mapped = PathSearchCV(SimilaritySVC(dissimilarity="max-minus"), {"C": COSTS}, cv=KFold(3)).fit(D, y)
    framed = PathSearchCV(SimilaritySVC(), {"C": COSTS}, cv=KFold(3)).fit(pd.DataFrame(D.max() - D), y)
    assert mapped.best_params_ == framed.best_params_
    assert np.array_equal(mapped.predict(D), framed.predict(pd.DataFrame(D.max() - D)))


# What is said of indefinite similarities


@pytest.mark.parametrize(
    ("spectrum", "done"),
    [
        ("clip", "sets them to 0"),
        ("flip", "makes them positive"),
        ("shift", "adds 0.141 to every self-similarity"),
        ("square", "squares all eigenvalues"),
        ("none", "a stationary point"),
    ],
)
@pytest.mark.filterwarnings("default::similitude.SimilarityWarning")
def test_indefiniteness_is_announced_once(spectrum, done):
    S = np.array(  # the vector of the methods' page
        [[1, 0.8, 0.3, 0.1, 0.2], [0.8, 1, 0.4, 0.2, 0.9], [0.3, 0.4, 1, 0.7, 0.6], [0.1, 0.2, 0.7, 1, 0.5]]
        + [[0.2, 0.9, 0.6, 0.5, 1]]
    )
    y = [1, 1, 0, 0, 0]
    expected = rf"S has 1 negative eigenvalue \(3% of the sum of absolute eigenvalues\); spectrum='{spectrum}' .*{done}"
    with pytest.warns(SimilarityWarning, match=expected) as caught:
        model = SimilaritySVC(spectrum=spectrum).fit(S, y)
    assert [warning.filename for warning in caught] == [__file__]
    assert model.indefinite_ is True
    assert np.allclose(model.eigenvalues_, [-0.14108264, 0.27056491, 0.65612325, 1.27779016, 2.93660432], atol=1e-8)
    assert model.negative_eigenfraction_ == pytest.approx(0.14108264 / 5.28216528)
    assert np.allclose(SimilaritySVC().fit(2.0**700 * S, y).eigenvalues_ / 2.0**700, model.eigenvalues_)


@pytest.mark.filterwarnings("error")
def test_what_is_semidefinite_up_to_rounding_is_not_indefinite():
    X = np.random.default_rng(0).normal(size=(40, 3))
    for S in (X @ X.T, X @ X.T - 1e-12 * np.eye(40), np.zeros((40, 40))):
        for spectrum in SPECTRA:
            model = SimilaritySVC(spectrum=spectrum).fit(S, X[:, 0] > 0)
            assert model.indefinite_ is False
            assert model.negative_eigenfraction_ == 0.0


@pytest.mark.filterwarnings("error")
def test_folds_of_a_search_do_not_warn():
    S, y = _problem()
    PathSearchCV(SimilaritySVC(probability=True), {"C": [0.1, 1.0], "spectrum": SPECTRA}, cv=3, refit=False).fit(S, y)


@pytest.mark.filterwarnings("default::similitude.SimilarityWarning")
def test_calibration_does_not_repeat_the_warning():
    S, y = _problem()
    with pytest.warns(SimilarityWarning) as caught:
        SimilaritySVC(probability=True).fit(S, y)
    assert len(caught) == 1


def test_asymmetry_is_announced_once_and_kept_by_square():
    S, rows, y = _split()
    skew = S + np.triu(np.abs(S), 1)
    for spectrum in ("clip", "flip", "shift", "none"):
        for matrix in (skew, sparse.csr_array(skew)):
            with pytest.warns(SimilarityWarning, match="SimilaritySVC needs a symmetric similarity") as caught:
                model = SimilaritySVC(spectrum=spectrum).fit(matrix, y)
            assert [w.filename for w in caught if "asymmetric" in str(w.message)] == [__file__]
            mean = SimilaritySVC(spectrum=spectrum).fit((skew + skew.T) / 2, y)
            assert np.allclose(model.decision_function(rows), mean.decision_function(rows), rtol=0, atol=1e-9)
    skew /= 20
    with warnings.catch_warnings():
        warnings.simplefilter("error", SimilarityWarning)
        warnings.filterwarnings("ignore", "S has .* negative")
        model = SimilaritySVC(spectrum="square").fit(skew, y)
    values, _ = reference.decisions(skew, rows, 2.0 * y - 1, 1.0, "square")
    assert np.allclose(model.decision_function(rows), values, rtol=0, atol=1e-5 * (1 + np.abs(values).max()))


# Large values of C


def test_an_indefinite_machine_ends_however_large_c_is():
    for seed in range(3):
        S, y = _problem(80, seed=seed)
        for C in (1e5, 1e30):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)
                model = SimilaritySVC(C, "none").fit(S - 5, y)
            assert np.isfinite(model.decision_function(S)).all()
            assert np.all(model.n_iter_ <= 100_000)


def test_a_machine_that_could_not_be_solved_is_announced_once():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(50, 2)), rng.integers(0, 2, 50)
    S = X @ X.T
    # The classes overlap, and K beta consists of terms so large that their rounding errors hide the labels.
    with pytest.warns(ConvergenceWarning, match=r"gap remained above 1e-08 in 1 of 1 fits.*smaller C\.$") as caught:
        model = SimilaritySVC(1e30).fit(S, y)
    assert [warning.filename for warning in caught] == [__file__]
    assert model.duality_gap_ > 1e-8
    assert np.isfinite(model.decision_function(S)).all()
    with pytest.warns(ConvergenceWarning, match="in 2 of 3 fits.*spectrum='clip'") as caught:
        path_answers(SimilaritySVC(spectrum="none"), S, y, S, [{"C": C} for C in (1.0, 1e30, 2e30)])
    assert len(caught) == 1


@pytest.mark.filterwarnings("error")
def test_classes_that_overlap_are_solved_up_to_a_large_c():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(50, 2)), rng.integers(0, 2, 50)
    for C in (1.0, 1e5, 1e7):
        assert SimilaritySVC(C).fit(X @ X.T, y).duality_gap_ <= 1e-8


# Rows with the columns that are needed


@pytest.mark.parametrize("spectrum", ["shift", "none"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_rows_of_the_support_columns_are_enough(n_classes, spectrum):
    S, rows, y = (np.exp(A / 8) if A.ndim == 2 else A for A in _split(n_classes=n_classes))
    model = SimilaritySVC(10.0, spectrum, probability=True).fit(S, y)
    columns = model.support_columns_
    assert 2 <= len(columns) < len(S)
    assert np.array_equal(columns, np.sort(model.support_))
    for wrap in (np.asarray, np.asfortranarray, sparse.csr_array, np.ndarray.tolist):
        part = wrap(np.ascontiguousarray(rows[:, columns]))
        for ask in ("predict", "decision_function", "predict_proba"):
            whole = getattr(model, ask)(rows)
            assert np.allclose(getattr(model, ask)(part), whole, rtol=0, atol=1e-12 if ask != "predict" else 0)
    with pytest.raises(ValueError, match=rf"X has 5 features, .* expecting 60 .* or the {len(columns)} of support_col"):
        model.predict(rows[:, :5])
    with pytest.raises(ValueError, match="X contains NaN"):
        model.predict(np.where(rows[:, columns] > 6, np.nan, np.nan))


@pytest.mark.parametrize("spectrum", MIXED)
def test_where_columns_are_mixed_all_are_needed(spectrum):
    S, rows, y = _split()
    model = SimilaritySVC(1.0, spectrum).fit(S, y)
    assert np.array_equal(model.support_columns_, np.arange(60))
    with pytest.raises(ValueError, match=rf"X has {len(model.support_)} features.*'{spectrum}'.*mixes all columns"):
        model.predict(rows[:, model.support_])


def test_names_and_ids_of_restricted_rows():
    S, rows, y = (np.exp(A / 8) if A.ndim == 2 else A for A in _split())
    names = np.array([f"sample {i}" for i in range(60)])
    model = SimilaritySVC(spectrum="shift").fit(pd.DataFrame(S, index=names, columns=names), y)
    columns = model.support_columns_
    frame = pd.DataFrame(rows, columns=names)
    expected = model.decision_function(frame)
    assert np.array_equal(model.decision_function(frame.iloc[:, columns]), expected)
    assert np.array_equal(model.decision_function(frame.iloc[:, columns[::-1]]), expected)
    named = SimilaritySVC(spectrum="shift").fit(Proximities(S, ids=names), y)
    part = rows[:, columns]
    assert np.array_equal(named.decision_function(Proximities(part, column_ids=names[columns])), expected)
    backward = Proximities(part[:, ::-1], column_ids=names[columns[::-1]])
    assert np.array_equal(named.decision_function(backward), expected)
    with pytest.raises(ValueError, match="ids was given in fit and is missing"):
        named.predict(part)
    assert model.n_features_in_ == 60
    mapped = SimilaritySVC(spectrum="shift", dissimilarity="max-minus").fit(S.max() - S, y)
    D = S.max() - rows
    whole = mapped.decision_function(D)
    assert np.array_equal(mapped.decision_function(D[:, mapped.support_columns_]), whole)


# Weights


@pytest.mark.parametrize("class_weight", ["balanced", {0: 3.0}, {0: 0.5, 1: 2.0, 2: 1.0}])
def test_weights_are_those_of_libsvm(class_weight):
    S, rows, y = _split(n_classes=3)
    weight = np.random.default_rng(0).integers(1, 4, 60).astype(float)
    S, rows = S / 8, rows / 8
    peer = make_pipeline(SpectrumModifier("clip"), SVC(kernel="precomputed", class_weight=class_weight, tol=1e-9))
    model = SimilaritySVC(class_weight=class_weight)
    for sample_weight in (None, weight):
        peer.fit(S, y, svc__sample_weight=sample_weight)
        model.fit(S, y, sample_weight)
        assert np.allclose(model.dual_coef_, peer[-1].dual_coef_, rtol=0, atol=1e-4)
        assert np.array_equal(model.predict(rows), peer.predict(rows))
        assert np.all(model.duality_gap_ < 1e-10)


def test_where_all_variables_are_at_a_bound_the_offset_is_in_the_middle():
    # With these weights rounding leaves a variable slightly inside its bound, and the offset must not be its own.
    S, y = _problem(40)
    weight = np.where(y == 0, 1 / np.sum(y == 0), 1 / np.sum(y == 1)) * 0.3
    model = SimilaritySVC(1e-4, "shift").fit(S, y, weight)
    assert len(model.support_) == 40
    ascent = 2.0 * y - 1 - modification.kernel(S, "shift") @ _beta(model, 40)
    assert model.intercept_[0] == pytest.approx((ascent[y == 0].max() + ascent[y == 1].min()) / 2, abs=1e-12)


def test_weight_zero_leaves_a_sample_out_and_two_counts_it_twice():
    X = np.random.default_rng(0).normal(size=(40, 3))
    S, y = X @ X.T, (X[:, 0] + 0.5 * X[:, 1] ** 2 > 0.3).astype(int)
    weight = np.arange(40) % 3
    model = SimilaritySVC().fit(S, y, weight)
    again = np.repeat(np.arange(40), weight)
    repeated = SimilaritySVC().fit(S[np.ix_(again, again)], y[again])
    assert np.allclose(model.decision_function(S), repeated.decision_function(S[:, again]), rtol=0, atol=1e-8)
    assert np.all(weight[model.support_] > 0)
    assert model.objective_ == pytest.approx(repeated.objective_, rel=1e-9)
    kept = np.flatnonzero(weight)
    calibrated = SimilaritySVC(probability=True).fit(S, y, weight)
    dropped = SimilaritySVC(probability=True).fit(S[np.ix_(kept, kept)], y[kept], weight[kept])
    assert np.allclose(calibrated.predict_proba(S), dropped.predict_proba(S[:, kept]), atol=1e-6)


# Probabilities


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("class_weight", [None, "balanced"])
def test_probabilities_are_those_of_a_calibrated_classifier(n_classes, class_weight):
    S, rows, y = _split(n_classes=n_classes)
    names = np.array(["b", "a", "c"])[y]
    model = SimilaritySVC(2.0, class_weight=class_weight, probability=True).fit(S, names)
    plain = SimilaritySVC(2.0, class_weight=class_weight)
    peer = PairwiseMeta(CalibratedClassifierCV(plain, cv=5, ensemble=False)).fit(S, names)
    posterior = model.predict_proba(rows)
    assert np.allclose(posterior, peer.predict_proba(rows), rtol=0, atol=1e-9)
    assert posterior.shape == (15, n_classes)
    assert np.allclose(posterior.sum(axis=1), 1)
    assert np.array_equal(posterior, clone(model).fit(S, names).predict_proba(rows))
    assert np.array_equal(model.decision_function(rows), plain.fit(S, names).decision_function(rows))


def test_probabilities_of_small_classes():
    S, y = _problem(30)
    few = np.zeros(30, dtype=int)
    few[[3, 17, 22]] = 1
    model = SimilaritySVC(probability=True).fit(S, few)
    peer = PairwiseMeta(CalibratedClassifierCV(SimilaritySVC(), cv=3, ensemble=False)).fit(S, few)
    assert np.allclose(model.predict_proba(S), peer.predict_proba(S), rtol=0, atol=1e-9)
    with pytest.raises(ValueError, match=r"probability=True needs .* samples of each class.*class 7 has 1"):
        model.fit(S, np.where(np.arange(30) == 4, 7, y))
    assert np.array_equal(model.classes_, [0, 1])


def test_probabilities_are_there_only_where_asked_for():
    S, y = _problem(30)
    model = SimilaritySVC()
    assert not hasattr(model, "predict_proba")
    with pytest.raises(AttributeError, match="predict_proba"):
        model.fit(S, y).predict_proba(S)
    model.set_params(probability=True)
    assert not hasattr(model, "predict_proba")
    assert hasattr(model.fit(S, y).set_params(probability=False), "predict_proba")
    assert cross_val_score(SimilaritySVC(probability=True), S, y, scoring="neg_log_loss", cv=3).shape == (3,)


# The input contract


@pytest.mark.parametrize("spectrum", SPECTRA)
def test_sparse_float32_memmap_and_pickle(spectrum, tmp_path):
    S, y = _problem(n_classes=3)
    S = np.where(S > 3, S - 3, 0.0)
    model = SimilaritySVC(0.3, spectrum)
    expected = model.fit(S, y).decision_function(S[:20])
    assert np.array_equal(pickle.loads(pickle.dumps(model)).decision_function(S[:20]), expected)
    for wrap in (sparse.csr_array, sparse.csr_matrix, sparse.coo_array):
        answer = model.fit(wrap(S), y).decision_function(wrap(S[:20]))
        assert np.allclose(answer, expected, rtol=0, atol=1e-9)
    single = S.astype(np.float32)
    expected = model.fit(single.astype(float), y).decision_function(single[:20].astype(float))
    assert np.array_equal(model.fit(single, y).decision_function(single[:20]), expected)
    np.save(tmp_path / "S.npy", single)
    mapped = np.load(tmp_path / "S.npy", mmap_mode="r")
    assert np.array_equal(model.fit(mapped, y).decision_function(mapped[:20]), expected)


@pytest.mark.filterwarnings("error:.*asymmetric")
def test_rounding_of_single_precision_is_no_asymmetry():
    S, y = _problem()
    S = S.astype(np.float32)
    S[np.triu_indices(60, 1)] *= np.float32(1 + 1e-6)
    for spectrum in SPECTRA:
        SimilaritySVC(0.1, spectrum).fit(S, y)


@pytest.mark.parametrize("spectrum", SPECTRA)
def test_raw_objects(spectrum):
    words = ["tree", "trees", "free", "house", "mouse", "horse", "green", "greed"]
    y = np.array([0, 0, 0, 1, 1, 1, 0, 0])

    def overlap(a, b):
        return len(set(a) & set(b)) / len(set(a) | set(b))

    S = np.array([[overlap(a, b) for b in words] for a in words])
    raw = SimilaritySVC(spectrum=spectrum, similarity=overlap, probability=True).fit(words, y)
    matrix = SimilaritySVC(spectrum=spectrum, probability=True).fit(S, y)
    assert np.array_equal(raw.decision_function(words), matrix.decision_function(S))
    assert np.array_equal(raw.predict_proba(words), matrix.predict_proba(S))
    assert not hasattr(raw, "n_features_in_")
    edits = SimilaritySVC(spectrum=spectrum, similarity="levenshtein").fit(words, y)
    assert edits.predict(["trees", "mouses"]).tolist() == [0, 1]


@pytest.mark.parametrize("spectrum", SPECTRA)
@pytest.mark.parametrize("scale", [1e-320, 1e-300, 1e20, 1e300])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_similarities_of_any_size_give_a_finite_answer(spectrum, scale):
    S, rows, y = _split(n_classes=3)
    model = SimilaritySVC(1e5, spectrum, probability=True).fit(S * scale, y)
    assert np.isfinite(model.decision_function(rows * scale)).all()
    assert np.isfinite(model.predict_proba(rows * scale)).all()
    assert np.isfinite(model.duality_gap_).all()


def test_every_sample_a_class_of_its_own():
    S, _ = _problem(6, 6)
    for spectrum in SPECTRA:
        model = SimilaritySVC(10.0, spectrum).fit(S @ S.T + np.eye(6), np.arange(6))
        assert model.objective_.shape == (15,)
        assert np.array_equal(model.predict(S @ S.T + np.eye(6)), np.arange(6))


def test_a_fitted_model_does_not_change():
    S, y = _problem()
    model = SimilaritySVC(3.0, "shift").fit(S, y)
    before, expected = dict(vars(model)), model.decision_function(S)
    model.predict(S)
    model.predict(S[:, model.support_columns_])
    assert vars(model) == before
    with pytest.raises(ValueError, match="one label per sample"):
        model.fit(S[:5, :5], y)
    model.set_params(C=1e-3, spectrum="clip")
    assert np.array_equal(model.decision_function(S), expected)
    assert np.array_equal(model.decision_function(S[:, model.support_columns_]), expected)
    assert not any(isinstance(value, np.ndarray) and value.size >= S.size for value in vars(model).values())


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"C": 0}, "C must be a finite number above 0; got 0"),
        ({"C": np.inf}, "C must be"),
        ({"C": "1"}, "C must be"),
        ({"spectrum": "pinv"}, "spectrum must be one of .*; got 'pinv'"),
        ({"class_weight": "heavy"}, "class_weight"),
        ({"class_weight": {0: -1.0}}, "class_weight must hold finite numbers above 0"),
        ({"class_weight": {0: "a"}}, "class_weight must hold finite numbers above 0"),
        ({"dissimilarity": "nonsense"}, "dissimilarity must be one of"),
    ],
)
def test_bad_parameters_are_named(parameters, message):
    S, y = _problem(12)
    with pytest.raises(ValueError, match=message):
        SimilaritySVC(**parameters).fit(S, y)
    if set(parameters) <= {"C", "spectrum"}:
        with pytest.raises(ValueError, match=message):
            path_answers(SimilaritySVC(), S, y, S, [{}, parameters])


def test_bad_data_are_named():
    S, y = _problem(12)
    with pytest.raises(ValueError, match="y must have at least two classes; got one class, 'a'"):
        SimilaritySVC().fit(S, ["a"] * 12)
    with pytest.raises(ValueError, match="sample_weight"):
        SimilaritySVC().fit(S, y, np.ones(11))
    with pytest.raises(ValueError, match="sample_weight must hold finite numbers of at least 0"):
        SimilaritySVC().fit(S, y, -np.ones(12))
    with pytest.raises(ValueError, match="class 1 has none"):
        SimilaritySVC().fit(S, y, 1.0 - y)
    with pytest.raises(NotFittedError):
        SimilaritySVC().predict(S)
    with pytest.raises(ValueError, match="X is not a matrix of numbers"):
        SimilaritySVC(spectrum="shift").fit(S, y).predict([[1.0, 2.0], [1.0]])
