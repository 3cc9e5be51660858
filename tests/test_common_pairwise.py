"""Our own checks on every estimator: the similarities that scikit-learn's checks never feed."""

import pickle
import warnings
from functools import cache

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from scipy.spatial.distance import cdist
from sklearn.base import clone
from sklearn.model_selection import cross_val_predict, cross_val_score
from sklearn.utils import get_tags

from similitude import (
    SDA,
    AutoClassifier,
    CombinedClassifier,
    DBoostClassifier,
    DissimilarityToSimilarity,
    KNNClassifier,
    LearnedKernelSVC,
    LearnedSpectrumSVC,
    LocalNearestCentroid,
    LocalSDA,
    LocalSVC,
    LPMachine,
    MixtureSDA,
    MixtureSVC,
    NearestCentroid,
    PairwiseMeta,
    PathSearchCV,
    PotentialSVC,
    Proximities,
    PseudoEuclideanEmbedding,
    RobustSVC,
    SimilarityFeatures,
    SimilaritySVC,
    SimilarityWarning,
    SpectrumModifier,
    to_similarity,
)
from tests.estimators import CLASSIFIERS, FAMILIES, PIPELINES, VARIANTS

pytestmark = [pytest.mark.untraced, pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")]

N, M = 24, 7

# They refuse similarities of size 1e150 or 1e-150.
REFUSE_EXTREMES = (RobustSVC, LearnedSpectrumSVC, LearnedKernelSVC, MixtureSVC)


def _problem(kind):
    """Similarities of N training samples, rows of M new ones, labels; the classes are told apart by the blocks."""
    rng = np.random.default_rng(0)
    y = np.arange(N + M) % 3
    S = (y[:, None] == y[None, :]) + 0.3 * rng.normal(size=(N + M, N + M))
    if kind == "indefinite":
        S = (S + S.T) / 2
    elif kind == "negative":
        S = (S + S.T) / 2 - 10
    elif kind == "constant":
        S = np.full_like(S, 2.5)
    elif kind == "zero":
        S = np.zeros_like(S)
    elif kind == "duplicated":
        half = np.arange(N + M) // 6 * 6 + y
        S = ((S + S.T) / 2)[np.ix_(half, half)]
    elif kind == "zero rows":
        S = (S + S.T) / 2
        S[::5] = S[:, ::5] = 0
    elif kind in ("huge", "tiny"):
        S = (S + S.T) / 2 * (1e150 if kind == "huge" else 1e-150)
    elif kind == "sparse values":
        S = np.where(rng.random(S.shape) < 0.8, 0.0, np.abs(S))
        S = (S + S.T) / 2
    elif kind == "sparse and asymmetric":
        S = np.where(S > 0.9, S, 0.0)
    return S[:N, :N], S[N:, :N], y[:N]


KINDS = [
    "asymmetric",
    "indefinite",
    "negative",
    "constant",
    "zero",
    "duplicated",
    "zero rows",
    "huge",
    "tiny",
    "sparse values",
]


def _name(estimator):
    return str(estimator).replace("\n", "").replace(" ", "")


def on(*estimators):
    return pytest.mark.parametrize("estimator", estimators, ids=_name)


def _predicted(fitted, rows):
    """The labels, or the features, of new rows."""
    return fitted.predict(rows) if hasattr(fitted, "predict") else fitted.transform(rows)


def _values(fitted, rows):
    """The features, decision values or posteriors of new rows: what tells more than labels, if there is any."""
    return fitted.transform(rows) if hasattr(fitted, "transform") else _answers(fitted, rows)


def _answers(fitted, rows):
    """The decision values or posteriors of new rows, or else the labels."""
    asks = ("decision_function", "predict_proba", "predict")
    return getattr(fitted, next(ask for ask in asks if hasattr(fitted, ask)))(rows)


def _fit_predict(estimator, S, y, rows):
    """What is predicted about new rows, without warnings about asymmetry and dissimilarity."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SimilarityWarning)
        return _predicted(clone(estimator).fit(S, y), rows)


@cache
def _fitted(position):
    """The family at this position, fitted on the indefinite problem: tests that only ask it questions share it."""
    S, _, y = _problem("indefinite")
    return clone(FAMILIES[position]).fit(S, y)


every_fitted = pytest.mark.parametrize("position", range(len(FAMILIES)), ids=lambda i: _name(FAMILIES[i]))


def _same(a, b, rtol=1e-9):
    a, b = (x.toarray() if sparse.issparse(x) else np.asarray(x) for x in (a, b))
    if a.dtype.kind in "iUO":
        return np.array_equal(a, b)
    scale = np.max(np.abs(a), initial=np.finfo(float).tiny)
    return a.shape == b.shape and bool(np.all(np.abs(a / scale - b / scale) <= rtol))


@pytest.mark.parametrize("kind", KINDS)
@on(*FAMILIES, *VARIANTS)
def test_any_similarity_gives_a_finite_answer(estimator, kind):
    if kind == "huge" and hasattr(estimator, "steps"):
        pytest.skip("libsvm overflows on kernels of size 1e150")
    S, rows, y = _problem(kind)
    before = S.copy(), rows.copy()
    if kind == "huge" and any("bda__" in name for name in estimator.get_params()):
        with pytest.raises(ValueError, match=r"X has features as large as .* rescale"):
            clone(estimator).fit(S, y)
        return
    if kind in ("huge", "tiny") and isinstance(estimator, REFUSE_EXTREMES):
        with pytest.raises(ValueError, match="rescale X to similarities of the order of 1"):
            clone(estimator).fit(S, y)
        return
    predicted = _fit_predict(estimator, S, y, rows)
    assert len(predicted) == M
    if predicted.dtype.kind == "f" and not (kind == "huge" and getattr(estimator, "method", None) == "square"):
        assert np.isfinite(predicted).all()
    assert np.array_equal(S, before[0])
    assert np.array_equal(rows, before[1])


def _read_only(a):
    a = a.copy()
    a.flags.writeable = False
    return a


NAMES = [f"sample {i}" for i in range(N)]
CONTAINERS = {
    "read-only": _read_only,
    "Fortran order": np.asfortranarray,
    "float32": lambda a: a.astype(np.float32),
    "list": np.ndarray.tolist,
    "frame": lambda a: pd.DataFrame(a, columns=NAMES),
    "csr_array": sparse.csr_array,
    "csr_matrix": sparse.csr_matrix,
    "coo_array": sparse.coo_array,
}


@pytest.mark.parametrize("kind", ["sparse values", "sparse and asymmetric"])
@on(*FAMILIES, *(e for e in VARIANTS if hasattr(e, "transform")))
def test_every_container_gives_the_same_answer(estimator, kind, tmp_path):
    S, rows, y = _problem(kind)
    S, rows = (a.astype(np.float32).astype(np.float64) for a in (S, rows))
    expected = _fit_predict(estimator, S, y, rows)
    np.save(tmp_path / "S.npy", S)
    assert _same(expected, _fit_predict(estimator, np.load(tmp_path / "S.npy", mmap_mode="r"), y, rows))
    for name, contained in CONTAINERS.items():
        if isinstance(estimator, DissimilarityToSimilarity) and name.startswith(("csr", "coo")):
            with pytest.raises(ValueError, match="sparse"):
                clone(estimator).fit(contained(S))
            continue
        predicted = _fit_predict(estimator, contained(S), y.tolist(), contained(rows))
        assert _same(expected, predicted, rtol=1e-3 if name == "float32" else 1e-9), name


@on(*FAMILIES, *VARIANTS)
def test_order_of_training_samples_does_not_matter(estimator):
    if any(name.endswith("random_state") and value is not None for name, value in estimator.get_params().items()):
        pytest.skip("draws samples by position")
    S, rows, y = _problem("indefinite")
    order = np.random.default_rng(1).permutation(N)
    expected = _fit_predict(estimator, S, y, rows)
    permuted = _fit_predict(estimator, S[np.ix_(order, order)], y[order], rows[:, order])
    if not hasattr(estimator, "predict") and expected.shape[1] == N and "Embedding" not in _name(estimator):
        permuted = permuted[:, np.argsort(order)]
    elif isinstance(estimator, SimilarityFeatures):  # its features are in the order of the prototypes' positions
        expected, permuted = np.sort(expected, axis=1), np.sort(permuted, axis=1)
    assert _same(expected, permuted, rtol=1e-7)


def _tied_problem(kind):
    """Similarities with many ties; of a sparse matrix some rows are empty. The classes differ in size."""
    rng = np.random.default_rng(3)
    y = np.concatenate([np.repeat([0, 1, 2], [11, 8, 5]), rng.integers(0, 3, M)])
    S = (y[:, None] == y[None, :]) + rng.normal(size=(N + M, N + M))
    S = (S + S.T) / 2
    if kind == "tied":
        S = (S > 0.6) * 1.0
    elif kind == "integer":
        S = np.round(2 * S) + 3
    else:
        S = np.where(S > 1.0, np.round(S, 1), 0.0)
        S[N : N + 2] = 0.0
    np.fill_diagonal(S, S.max() + 1)
    return S[:N, :N], S[N:, :N], y[:N]


def _draws_by_position(estimator):
    """Whether folds, pairs or landmarks are drawn by position, or an optimum that need not be unique is found."""
    parameters = estimator.get_params()
    drawn = any(name.endswith("random_state") and value is not None for name, value in parameters.items())
    folds = isinstance(estimator, (PathSearchCV, AutoClassifier, CombinedClassifier))
    not_convex = parameters.get("spectrum") == "none" and parameters.get("weights") != "krr"
    return drawn or folds or not_convex or isinstance(estimator, DBoostClassifier) or parameters.get("target") == "auto"


@pytest.mark.parametrize("kind", ["tied", "integer", "sparse"])
@on(*(e for e in [*CLASSIFIERS, *VARIANTS] if hasattr(e, "predict") and not _draws_by_position(e)))
def test_ties_are_not_decided_by_the_order_of_the_samples(estimator, kind):
    if kind == "tied" and isinstance(estimator, (PotentialSVC, LPMachine, MixtureSDA)):
        pytest.skip("the optimum is not unique, or candidates cannot be told apart")
    S, rows, y = _tied_problem(kind)
    given = sparse.csr_array if kind == "sparse" else np.asarray
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SimilarityWarning)
        expected = _answers(clone(estimator).fit(given(S), y), given(rows))
        for seed in range(3):
            order = np.random.default_rng(seed).permutation(N)
            permuted = clone(estimator).fit(given(S[np.ix_(order, order)]), y[order])
            assert _same(expected, _answers(permuted, given(rows[:, order])), rtol=1e-5), seed


@every_fitted
def test_pickle_and_clone(position):
    _, rows, _ = _problem("indefinite")
    fitted = _fitted(position)
    assert _same(_predicted(fitted, rows), _predicted(pickle.loads(pickle.dumps(fitted)), rows))
    assert str(clone(fitted)) == str(FAMILIES[position])


@every_fitted
def test_rows_of_another_length_are_refused(position):
    _, rows, _ = _problem("indefinite")
    # One column fewer could be all those that are needed.
    with pytest.raises(ValueError, match=rf"X has {N + 1} features, but .* is expecting {N}"):
        _predicted(_fitted(position), np.hstack([rows, rows[:, :1]]))


@on(*CLASSIFIERS, *PIPELINES)
def test_cross_validation_cuts_both_axes(estimator):
    S, _, y = _problem("indefinite")
    assert get_tags(estimator).input_tags.pairwise
    halves = np.arange(N) < 10, np.arange(N) >= 10
    folds = [(np.flatnonzero(~half), np.flatnonzero(half)) for half in halves]
    by_hand = np.concatenate([_fit_predict(estimator, S[np.ix_(a, a)], y[a], S[np.ix_(b, a)]) for a, b in folds])
    assert np.array_equal(by_hand, cross_val_predict(estimator, S, y, cv=folds))
    carried = Proximities(S, ids=np.arange(N), self_similarity=np.diagonal(S))
    scores = [np.mean(by_hand[test] == y[test]) for _, test in folds]
    assert np.allclose(scores, cross_val_score(estimator, carried, y, cv=folds))


BAD = [
    (np.ones((4, 3)), "X must be square"),
    (np.where(np.eye(24), np.nan, 1), "X contains NaN .first at row 0, column 0"),
    (np.where(np.eye(24), np.inf, 1), "X contains infinity"),
    (np.eye(24) * 1j, "Complex"),
    (np.empty((0, 0)), "0 sample"),
    (np.ones(24), "1D array"),
    (np.full((24, 24), "a"), "convert|numeric|dtype"),
]


@on(*FAMILIES)
def test_bad_matrices_are_refused(estimator):
    parts = [estimator, getattr(estimator, "estimator", None), getattr(estimator, "meta", None)]
    takes_nan = any(part is not None and get_tags(part).input_tags.allow_nan for part in parts)
    takes_nan |= isinstance(estimator, AutoClassifier)  # k-NN is among its methods
    for S, message in BAD:
        if takes_nan and "NaN" in message:
            continue  # it votes among the known neighbours
        with pytest.raises(ValueError, match=message):
            clone(estimator).fit(S, np.arange(24)[: len(S)] % 2)


# One of each way of reading raw objects and dissimilarities.
READERS = [
    KNNClassifier(3),
    KNNClassifier(3, "kri"),
    NearestCentroid(),
    LocalNearestCentroid(3),
    LocalSVC(5),
    SimilaritySVC(),
    PotentialSVC(C=1.0, epsilon=1.0),
    LPMachine(),
    DBoostClassifier(20, 10, random_state=0),
    SDA(),
    LocalSDA(5),
    MixtureSDA(),
    SpectrumModifier(),
]


@on(*READERS, SimilarityFeatures())
def test_raw_objects_equal_their_matrix(estimator):
    words = ["tree", "trees", "free", "house", "mouse", "horse", "green", "greed"]
    new = ["three", "hose"]
    y = np.array([0, 0, 0, 1, 1, 1, 0, 0])

    def overlap(a, b):
        return len(set(a) & set(b)) - 0.1 * len(set(a) - set(b))

    S = np.array([[overlap(a, b) for b in words] for a in words])
    rows, back = (np.array([[f(a, b) for b in words] for a in new]) for f in (overlap, lambda a, b: overlap(b, a)))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        clone(estimator).fit(S, y)
    if any("needs a symmetric similarity" in str(warning.message) for warning in caught):
        rows = (rows + back) / 2  # of raw objects both directions are computed
    raw = clone(estimator).set_params(similarity=overlap)
    assert not get_tags(raw).input_tags.pairwise
    assert _same(_fit_predict(estimator, S, y, rows), _fit_predict(raw, words, y, new))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SimilarityWarning)
        assert not hasattr(raw.fit(words, y), "n_features_in_")


@on(*READERS, SimilaritySVC(spectrum="shift"))
def test_dissimilarity_is_mapped_with_training_constants(estimator):
    S, rows, y = _problem("indefinite")
    D, D_rows = S.max() - S, S.max() + 1 - rows
    mapped = clone(estimator).set_params(dissimilarity="max-minus")
    assert _same(_fit_predict(estimator, D.max() - D, y, D.max() - D_rows), _fit_predict(mapped, D, y, D_rows))
    with pytest.raises(ValueError, match=r"dissimilarity must be one of .* got 'nonsense'"):
        clone(estimator).set_params(dissimilarity="nonsense").fit(S, y)


@on(*READERS[:-1], SimilaritySVC(spectrum="shift"), SimilarityFeatures(5, random_state=0))
def test_a_map_that_looks_at_whole_rows_gets_them(estimator):
    rng = np.random.default_rng(0)
    y = np.arange(30) % 2
    points = rng.normal(size=(30, 3)) + 2 * y[:, None]
    new = points[:5] + 0.1
    D, D_new = cdist(points, points), cdist(new, points)
    by_matrix = clone(estimator).set_params(dissimilarity="double-centring").fit(D, y)
    by_objects = clone(by_matrix).set_params(similarity="euclidean").fit(points, y)
    S = to_similarity(D, "double-centring")
    mapped = clone(estimator).fit(S, y)
    assert np.allclose(_values(by_matrix, D_new), _values(by_objects, new), rtol=1e-9, atol=1e-9)
    assert np.allclose(_values(mapped, S[:5]), _values(by_matrix, D[:5]), rtol=1e-9, atol=1e-9)
    assert len(getattr(by_matrix, "support_columns_", y)) == 30


@on(*FAMILIES)
def test_what_looks_like_a_dissimilarity_is_pointed_out(estimator):
    if isinstance(estimator, (DissimilarityToSimilarity, PairwiseMeta)):
        pytest.skip("takes dissimilarities, or has estimators inside that may")
    with pytest.warns(SimilarityWarning, match="dissimilarity="):
        clone(estimator).fit(1.0 - np.eye(12), np.arange(12) % 2)


@on(
    *(SpectrumModifier(m) for m in ("clip", "flip", "shift")),
    PseudoEuclideanEmbedding(),
    *(KNNClassifier(3, weights) for weights in ("kri", "krr", "lime")),
    LocalSVC(5),
)
def test_asymmetry_is_announced_where_it_is_removed(estimator):
    S, rows, y = _problem("asymmetric")
    with pytest.warns(SimilarityWarning, match="asymmetric") as caught:
        fitted = clone(estimator).fit(S, y)
    assert len(caught) == 1
    symmetric = clone(estimator).fit((S + S.T) / 2, y)
    assert _same(_values(fitted, rows), _values(symmetric, rows))


@on(
    NearestCentroid(),
    LocalNearestCentroid(3),
    PotentialSVC(C=1.0, epsilon=1.0),
    LPMachine(),
    DBoostClassifier(20, 10, random_state=0),
    SDA(),
    LocalSDA(5),
    MixtureSDA(),
    SpectrumModifier("square"),
    SpectrumModifier("none"),
    SimilarityFeatures(),
)
def test_asymmetry_is_kept_where_the_method_allows_it(estimator):
    # Without classes in the matrix, so that other centroids, prototypes or cuts are best for S + S.T than for S.
    S, y = np.random.default_rng(0).random((60, N)), np.arange(N) % 3
    S, rows = S[:N], S[N:]

    def values(S):
        if hasattr(estimator, "transform"):
            return clone(estimator).fit_transform(S, y)
        return _values(clone(estimator).fit(S, y), rows)

    with warnings.catch_warnings():
        warnings.simplefilter("error", SimilarityWarning)
        kept = values(S)
    assert not _same(kept, values((S + S.T) / 2))
