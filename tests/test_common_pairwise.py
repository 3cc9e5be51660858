"""Our own checks on every estimator: the similarities that scikit-learn's checks never feed."""

import pickle
import warnings

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
    NearestCentroid,
    PotentialSVC,
    Proximities,
    RobustSVC,
    SimilarityFeatures,
    SimilaritySVC,
    SimilarityWarning,
    SpectrumModifier,
    to_similarity,
)
from tests.estimators import CLASSIFIERS, PIPELINES, TRANSFORMERS

pytestmark = [pytest.mark.untraced, pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")]

N, M = 24, 7


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
EVERY = CLASSIFIERS + PIPELINES + TRANSFORMERS


def _name(estimator):
    return str(estimator).replace("\n", "").replace(" ", "")


def _answer(estimator, S, y, rows):
    """What a fitted estimator says about new rows, warnings about asymmetry and dissimilarity aside."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SimilarityWarning)
        estimator = clone(estimator).fit(S, y)
        return estimator.predict(rows) if hasattr(estimator, "predict") else estimator.transform(rows)


def _same(a, b, rtol=1e-9):
    a, b = (x.toarray() if sparse.issparse(x) else np.asarray(x) for x in (a, b))
    if a.dtype.kind in "iUO":
        return np.array_equal(a, b)
    scale = np.max(np.abs(a), initial=np.finfo(float).tiny)
    return a.shape == b.shape and bool(np.all(np.abs(a / scale - b / scale) <= rtol))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("estimator", EVERY, ids=_name)
def test_any_similarity_gives_a_finite_answer(estimator, kind):
    if kind == "huge" and estimator in PIPELINES:
        pytest.skip("libsvm overflows on kernels of size 1e150")
    S, rows, y = _problem(kind)
    before = S.copy(), rows.copy()
    if kind == "huge" and any("bda__" in name for name in estimator.get_params()):
        with pytest.raises(ValueError, match=r"X has features as large as .*: rescale"):
            clone(estimator).fit(S, y)
        return
    if kind in ("huge", "tiny") and isinstance(estimator, (RobustSVC, LearnedSpectrumSVC, LearnedKernelSVC)):
        with pytest.raises(ValueError, match="rescale X to similarities of the order of 1"):
            clone(estimator).fit(S, y)
        return
    answer = _answer(estimator, S, y, rows)
    assert len(answer) == M
    if answer.dtype.kind == "f" and not (kind == "huge" and getattr(estimator, "method", None) == "square"):
        assert np.isfinite(answer).all()
    assert np.array_equal(S, before[0])
    assert np.array_equal(rows, before[1])


@pytest.mark.parametrize("kind", ["asymmetric", "indefinite", "negative", "duplicated", "sparse values"])
@pytest.mark.parametrize("estimator", EVERY, ids=_name)
def test_read_only_fortran_and_list_input(estimator, kind):
    S, rows, y = _problem(kind)
    expected = _answer(estimator, S, y, rows)
    frozen = S.copy(), rows.copy()
    for array in frozen:
        array.flags.writeable = False
    assert _same(expected, _answer(estimator, frozen[0], y, frozen[1]))
    assert _same(expected, _answer(estimator, np.asfortranarray(S), y, np.asfortranarray(rows)))
    assert _same(expected, _answer(estimator, S.tolist(), y.tolist(), rows.tolist()))


@pytest.mark.parametrize("estimator", EVERY, ids=_name)
def test_data_frames(estimator):
    S, rows, y = _problem("indefinite")
    names = [f"sample {i}" for i in range(N)]
    frame = pd.DataFrame(S, index=names, columns=names)
    answer = _answer(estimator, frame, pd.Series(y, index=names), pd.DataFrame(rows, columns=names))
    assert _same(_answer(estimator, S, y, rows), answer)
    fitted = clone(estimator).fit(frame, y)
    with pytest.raises(ValueError, match="feature names"):
        (fitted.predict if hasattr(fitted, "predict") else fitted.transform)(pd.DataFrame(rows, columns=names[::-1]))


@pytest.mark.parametrize("estimator", EVERY, ids=_name)
@pytest.mark.parametrize("kind", ["sparse values", "asymmetric"])
def test_sparse_is_dense_with_zeros(estimator, kind):
    if isinstance(estimator, DissimilarityToSimilarity):
        with pytest.raises(ValueError, match="sparse"):
            clone(estimator).fit(sparse.csr_array(np.eye(3)))
        return
    S, rows, y = _problem(kind)
    if kind == "asymmetric":
        S, rows = (np.where(a > 0.9, a, 0.0) for a in (S, rows))
    dense = _answer(estimator, S, y, rows)
    for wrap in (sparse.csr_array, sparse.csr_matrix, sparse.coo_array):
        assert _same(dense, _answer(estimator, wrap(S), y, wrap(rows)))


@pytest.mark.parametrize("estimator", EVERY, ids=_name)
def test_float32_and_memmap(estimator, tmp_path):
    S, rows, y = (a.astype(np.float32) if a.dtype == float else a for a in _problem("indefinite"))
    expected = _answer(estimator, S.astype(float), y, rows.astype(float))
    assert _same(expected, _answer(estimator, S, y, rows), rtol=1e-3)
    np.save(tmp_path / "S.npy", S)
    mapped = np.load(tmp_path / "S.npy", mmap_mode="r")
    assert _same(_answer(estimator, S, y, rows), _answer(estimator, mapped, y, rows))


@pytest.mark.parametrize("estimator", EVERY, ids=_name)
def test_order_of_training_samples_does_not_matter(estimator):
    if any(name.endswith("random_state") and value is not None for name, value in estimator.get_params().items()):
        pytest.skip("draws samples by position")
    S, rows, y = _problem("indefinite")
    order = np.random.default_rng(1).permutation(N)
    answer = _answer(estimator, S, y, rows)
    permuted = _answer(estimator, S[np.ix_(order, order)], y[order], rows[:, order])
    if not hasattr(estimator, "predict") and answer.shape[1] == N and "Embedding" not in _name(estimator):
        permuted = permuted[:, np.argsort(order)]
    elif isinstance(estimator, SimilarityFeatures):  # its features are in the order of the prototypes' positions
        answer, permuted = np.sort(answer, axis=1), np.sort(permuted, axis=1)
    assert _same(answer, permuted, rtol=1e-7)


@pytest.mark.parametrize("estimator", EVERY, ids=_name)
def test_pickle_and_clone(estimator):
    S, rows, y = _problem("indefinite")
    fitted = clone(estimator).fit(S, y)
    again = pickle.loads(pickle.dumps(fitted))
    ask = "predict" if hasattr(fitted, "predict") else "transform"
    assert _same(getattr(fitted, ask)(rows), getattr(again, ask)(rows))
    assert str(clone(fitted)) == str(estimator)


@pytest.mark.parametrize("estimator", CLASSIFIERS + PIPELINES, ids=_name)
def test_cross_validation_cuts_both_axes(estimator):
    S, _, y = _problem("indefinite")
    assert get_tags(estimator).input_tags.pairwise
    folds = [(np.setdiff1d(np.arange(N), test), test) for test in np.array_split(np.arange(N), 4)]
    by_hand = np.concatenate([_answer(estimator, S[np.ix_(a, a)], y[a], S[np.ix_(b, a)]) for a, b in folds])
    assert np.array_equal(by_hand, cross_val_predict(estimator, S, y, cv=folds))
    wrapped = Proximities(S, ids=np.arange(N), self_similarity=np.diagonal(S))
    assert np.array_equal(cross_val_score(estimator, wrapped, y, cv=folds), cross_val_score(estimator, S, y, cv=folds))


@pytest.mark.parametrize("estimator", EVERY, ids=_name)
@pytest.mark.parametrize(
    ("S", "message"),
    [
        (np.ones((4, 3)), "X must be square"),
        (np.where(np.eye(24), np.nan, 1), "X contains NaN .first at row 0, column 0"),
        (np.where(np.eye(24), np.inf, 1), "X contains infinity"),
        (np.eye(24) * 1j, "Complex"),
        (np.empty((0, 0)), "0 sample"),
        (np.ones(24), "Reshape your data"),
        (np.full((24, 24), "a"), "convert|numeric|dtype"),
    ],
    ids=["rectangular", "nan", "inf", "complex", "empty", "flat", "text"],
)
def test_bad_matrices_are_refused(estimator, S, message):
    with pytest.raises(ValueError, match=message):
        clone(estimator).fit(S, np.arange(24)[: len(S)] % 2)


@pytest.mark.parametrize("estimator", EVERY, ids=_name)
def test_rows_of_another_length_are_refused(estimator):
    S, rows, y = _problem("indefinite")
    fitted = clone(estimator).fit(S, y)
    ask = fitted.predict if hasattr(fitted, "predict") else fitted.transform
    # One column fewer could be all those that are needed.
    with pytest.raises(ValueError, match=rf"X has {N + 1} features, but .* is expecting {N}"):
        ask(np.hstack([rows, rows[:, :1]]))


@pytest.mark.parametrize(
    "estimator",
    [
        *(KNNClassifier(3, weights) for weights in ("uniform", "affinity", "kri", "krr", "lime")),
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
        SimilarityFeatures(),
        *(SpectrumModifier(m) for m in ("clip", "flip", "square")),
    ],
    ids=_name,
)
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
    assert _same(_answer(estimator, S, y, rows), _answer(raw, words, y, new))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SimilarityWarning)
        assert not hasattr(raw.fit(words, y), "n_features_in_")


@pytest.mark.parametrize(
    "estimator",
    [
        KNNClassifier(3),
        KNNClassifier(3, "kri"),
        NearestCentroid(),
        LocalNearestCentroid(3),
        LocalSVC(5),
        SimilaritySVC(),
        SimilaritySVC(spectrum="shift"),
        PotentialSVC(C=1.0, epsilon=1.0),
        LPMachine(),
        DBoostClassifier(20, 10, random_state=0),
        SDA(),
        LocalSDA(5),
        MixtureSDA(),
        *(SpectrumModifier(m) for m in ("clip", "shift")),
    ],
    ids=_name,
)
def test_dissimilarity_is_mapped_with_training_constants(estimator):
    S, rows, y = _problem("indefinite")
    D, D_rows = S.max() - S, S.max() + 1 - rows
    mapped = clone(estimator).set_params(dissimilarity="max-minus")
    assert _same(_answer(estimator, D.max() - D, y, D.max() - D_rows), _answer(mapped, D, y, D_rows))
    with pytest.raises(ValueError, match=r"dissimilarity must be one of .* got 'nonsense'"):
        clone(estimator).set_params(dissimilarity="nonsense").fit(S, y)


@pytest.mark.parametrize(
    "estimator",
    [
        KNNClassifier(3),
        NearestCentroid(),
        LocalSVC(5),
        SimilaritySVC(),
        SimilaritySVC(spectrum="shift"),
        PotentialSVC(C=1.0, epsilon=1.0),
        LPMachine(),
        DBoostClassifier(20, 10, random_state=0),
        SDA(),
        LocalSDA(5),
        MixtureSDA(),
        SimilarityFeatures(5, random_state=0),
    ],
    ids=_name,
)
def test_a_map_that_looks_at_whole_rows_gets_them(estimator):
    rng = np.random.default_rng(0)
    y = np.arange(30) % 2
    points = rng.normal(size=(30, 3)) + 2 * y[:, None]
    new = points[:5] + 0.1
    D, D_new = cdist(points, points), cdist(new, points)
    asks = ("transform", "decision_function", "predict_proba", "predict")
    ask = next(name for name in asks if hasattr(estimator, name))
    by_matrix = clone(estimator).set_params(dissimilarity="double-centring").fit(D, y)
    by_objects = clone(by_matrix).set_params(similarity="euclidean").fit(points, y)
    S = to_similarity(D, "double-centring")
    mapped = clone(estimator).fit(S, y)
    assert np.allclose(getattr(by_matrix, ask)(D_new), getattr(by_objects, ask)(new), rtol=1e-9, atol=1e-9)
    assert np.allclose(getattr(mapped, ask)(S[:5]), getattr(by_matrix, ask)(D[:5]), rtol=1e-9, atol=1e-9)
    assert len(getattr(by_matrix, "support_columns_", y)) == 30


@pytest.mark.parametrize("estimator", CLASSIFIERS[:3] + PIPELINES + TRANSFORMERS[:5], ids=_name)
def test_what_looks_like_a_dissimilarity_is_pointed_out(estimator):
    D = 1.0 - np.eye(12)
    with pytest.warns(SimilarityWarning, match="dissimilarity="):
        clone(estimator).fit(D, np.arange(12) % 2)


@pytest.mark.parametrize(
    "estimator",
    [
        *(SpectrumModifier(m) for m in ("clip", "flip", "shift")),
        *TRANSFORMERS[7:8],
        *(KNNClassifier(3, weights) for weights in ("kri", "krr", "lime")),
        LocalSVC(5),
    ],
    ids=_name,
)
def test_asymmetry_is_announced_where_it_is_removed(estimator):
    S, rows, y = _problem("asymmetric")
    with pytest.warns(SimilarityWarning, match="asymmetric") as caught:
        fitted = clone(estimator).fit(S, y)
    assert len(caught) == 1
    ask = next(a for a in ("transform", "predict_proba", "decision_function") if hasattr(estimator, a))
    symmetric = clone(estimator).fit((S + S.T) / 2, y)
    assert _same(getattr(fitted, ask)(rows), getattr(symmetric, ask)(rows))


@pytest.mark.parametrize(
    "estimator",
    CLASSIFIERS[:2]
    + [NearestCentroid(), LocalNearestCentroid(3), SpectrumModifier("square"), SpectrumModifier("none")]
    + [PotentialSVC(C=1.0, epsilon=1.0), LPMachine(), DBoostClassifier(20, 10, random_state=0)]
    + [SDA(), LocalSDA(5), MixtureSDA(), SimilarityFeatures()],
    ids=_name,
)
def test_asymmetry_is_kept_where_the_method_allows_it(estimator):
    S, rows, y = _problem("asymmetric")
    with warnings.catch_warnings():
        warnings.simplefilter("error", SimilarityWarning)
        clone(estimator).fit(S, y)
    assert not _same(
        clone(estimator).fit_transform(S) if hasattr(estimator, "transform") else rows,
        clone(estimator).fit_transform((S + S.T) / 2) if hasattr(estimator, "transform") else rows + 1,
    )
