import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from scipy.optimize import minimize
from sklearn.model_selection import cross_val_predict
from sklearn.pipeline import make_pipeline

from similitude import KNNClassifier, MixedSimilarity, Proximities, load_model, save_model
from similitude.numerics.alignment import aligned_weights, centred, spread
from tests.reference.mixture import alignment


def _matrices(n=30, seed=0, n_classes=3):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % n_classes
    noise = [rng.normal(size=(n, n)) for _ in range(3)]
    same = (y[:, None] == y).astype(float)
    good, weak, none = (share * same + (N + N.T) / 2 for share, N in zip((2.0, 0.7, 0.0), noise))
    return {"good": 1e3 * good + 7, "weak": weak, "none": 1e-3 * none}, y


def test_the_scales_are_those_of_the_centred_training_matrices():
    matrices, y = _matrices()
    mixed = MixedSimilarity().fit(matrices)
    n = len(y)
    H = np.eye(n) - 1 / n
    for name, S in matrices.items():
        assert mixed.spreads_[name] == pytest.approx(np.linalg.norm(H @ S @ H) / n)
    expected = sum(S / mixed.spreads_[name] / 3 for name, S in matrices.items())
    np.testing.assert_allclose(mixed.fit_transform(matrices), expected)
    rows = {name: S[:4] for name, S in matrices.items()}
    np.testing.assert_allclose(mixed.transform(rows), expected[:4])
    assert spread(np.zeros((3, 3))) == 1.0
    assert spread(np.full((3, 3), -4.0)) == 4.0
    assert spread(1e200 * matrices["weak"]) == pytest.approx(1e200 * spread(matrices["weak"]))


def test_aligned_weights_maximise_the_alignment():
    matrices, y = _matrices()
    scaled = [S / spread(S) for S in matrices.values()]
    weights = aligned_weights(scaled, y)
    best = alignment(weights, scaled, y)
    for start in np.eye(3) + 0.1:
        found = minimize(lambda w: -alignment(w, scaled, y), start, bounds=[(0, None)] * 3, tol=1e-10)
        assert -found.fun <= best + 1e-8
    assert weights[0] > weights[1] > weights[2]
    # Two copies share their weight or one of them has it; a constant matrix and one that is opposed get none.
    twice = aligned_weights([scaled[0], scaled[0], np.ones_like(scaled[0]), -scaled[0]], y)
    np.testing.assert_allclose([twice[0] + twice[1], twice[2], twice[3]], [1, 0, 0], atol=1e-9)
    np.testing.assert_array_equal(aligned_weights([-centred(scaled[0])] * 2, y), [0.5, 0.5])


def test_given_weights():
    matrices = _matrices()[0]
    by_name = MixedSimilarity({"none": 0, "good": 3, "weak": 1}).fit(matrices)
    assert by_name.weights_ == {"good": 0.75, "weak": 0.25, "none": 0.0}
    in_order = MixedSimilarity([3, 1, 0]).fit(matrices)
    np.testing.assert_array_equal(in_order.transform(matrices), by_name.transform(matrices))
    for weights, message in (
        ("best", "weights must be one of"),
        ([1, 2], "weights must be 3 nonnegative numbers"),
        ([1, -1, 1], "weights must be 3 nonnegative numbers"),
        ({"good": 1}, "weights must name the similarities"),
    ):
        with pytest.raises(ValueError, match=message):
            MixedSimilarity(weights).fit(matrices)
    with pytest.raises(ValueError, match="weights='aligned' needs y"):
        MixedSimilarity("aligned").fit(matrices)


def test_everything_is_learned_from_the_training_part(tmp_path):
    """The out-of-fold predictions are those of fits on each training part by hand."""
    matrices, y = _matrices(45, n_classes=2)
    model = make_pipeline(MixedSimilarity("aligned"), KNNClassifier(3))
    folds = [(np.flatnonzero(np.arange(45) % 3 != f), np.flatnonzero(np.arange(45) % 3 == f)) for f in range(3)]
    found = cross_val_predict(model, Proximities(matrices), y, cv=folds)
    for train, test in folds:
        parts = {name: S[np.ix_(train, train)] for name, S in matrices.items()}
        scales = {name: spread(S) for name, S in parts.items()}
        weights = aligned_weights([S / scales[name] for name, S in parts.items()], y[train])
        sums = [
            sum(w / scales[name] * S[np.ix_(rows, train)] for w, (name, S) in zip(weights, matrices.items()))
            for rows in (train, test)
        ]
        np.testing.assert_array_equal(KNNClassifier(3).fit(sums[0], y[train]).predict(sums[1]), found[test])
    fitted = model.fit(Proximities(matrices), y)
    save_model(tmp_path / "mixed.model", fitted)
    np.testing.assert_array_equal(load_model(tmp_path / "mixed.model").predict(matrices), fitted.predict(matrices))


def test_maps_sparse_matrices_and_objects():
    S = np.abs(_matrices()[0]["weak"])
    S[0, 1] = S[1, 0] = 0.0
    D = S.max() - S
    one = MixedSimilarity(dissimilarity={"d": "max-minus"}).fit({"s": sparse.csr_array(S), "d": D})
    np.testing.assert_allclose(one.transform({"s": S[:3], "d": D[:3]}), S[:3] / spread(S), rtol=1e-9, atol=1e-12)
    words = ["abba", "abab", "xyzz"]
    own = MixedSimilarity(similarity={"edit": "levenshtein", "lcs": "lcs"}).fit(words)
    assert own.transform(["abba", "zz"]).shape == (2, 3)


def test_matrices_that_do_not_agree():
    names = list("abc")
    frame = pd.DataFrame(np.eye(3), index=names, columns=names)
    other = frame.loc[["a", "c", "b"], ["a", "c", "b"]]
    with pytest.raises(ValueError, match=r"row 1 is 'b' in 'first' and 'c' in 'second'. Reorder one like the other"):
        MixedSimilarity().fit({"first": frame, "second": other})
    with pytest.raises(ValueError, match=r"the same samples and so the same shape; got .*'second': \(2, 2\)"):
        MixedSimilarity().fit({"first": np.eye(3), "second": np.eye(2)})
    assert MixedSimilarity().fit({"first": frame, "second": other.loc[names, names]}).n_features_in_ == 3
    with pytest.raises(ValueError, match=r"similarity\['a'\] is 'precomputed'; a dict of similarities is for raw"):
        MixedSimilarity(similarity={"a": "precomputed"}).fit(np.eye(3))
    with pytest.raises(ValueError, match="similarity by name must be a dict with at least one key"):
        MixedSimilarity(similarity={}).fit(["a"])


def test_unknown_similarities_are_filled_or_named():
    matrices, _ = _matrices()
    matrices["weak"][2, 3] = matrices["weak"][3, 2] = np.nan
    with pytest.raises(ValueError, match=r"similarity 'weak': X contains NaN .first at row 2, column 3"):
        MixedSimilarity().fit(matrices)
    given = Proximities(matrices, fill=0.25)
    filled = {**matrices, "weak": np.nan_to_num(matrices["weak"], nan=0.25)}
    mixed, expected = MixedSimilarity().fit(given), MixedSimilarity().fit(filled)
    np.testing.assert_allclose(mixed.transform(given), expected.transform(filled))
