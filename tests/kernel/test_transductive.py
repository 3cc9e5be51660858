"""Machines on the kernel of the training samples and the new ones together."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.model_selection import StratifiedKFold

from similitude import PathSearchCV, Proximities, SimilaritySVC, SimilarityWarning, SpectrumModifier
from similitude.persistence import load_model, save_model
from similitude.reader import ByName
from tests.reference import kernel_svm as reference

SPECTRA = ["clip", "flip", "shift", "square", "none"]
pytestmark = pytest.mark.filterwarnings("ignore:S has .* negative eigenvalue:similitude.SimilarityWarning")


def _problem(n, n_classes=2, seed=0):
    """Indefinite similarities of classes that overlap."""
    rng = np.random.default_rng(seed)
    y = np.append(np.arange(n_classes), rng.integers(0, n_classes, n - n_classes))
    X = rng.normal(size=(n, 4)) + 0.9 * y[:, None]
    return 8 - np.abs(X[:, None] - X[None]).sum(-1) ** 1.3, y


def _together(S, train, test):
    """The rows of the test samples, followed by the similarities among them."""
    return np.hstack([S[np.ix_(test, train)], S[np.ix_(test, test)]])


@pytest.mark.parametrize("spectrum", SPECTRA)
def test_transductive_machines_are_those_of_the_whole_matrix(spectrum):
    S, y = _problem(45, seed=1)
    if spectrum == "none":
        S = S @ S.T / 45
    train, test = np.arange(30), np.arange(30, 45)
    signs = np.where(y == 1, 1.0, -1.0)
    for C in (0.01, 1.0):
        model = SimilaritySVC(C, spectrum, transductive=True).fit(S[:30, :30], y[:30])
        expected = reference.transductive_decisions(S, train, test, signs[:30], C, spectrum)
        found = model.decision_function(_together(S, train, test))
        assert np.allclose(found, expected, atol=1e-6)
        # Samples of weight 0 have a part in the spectrum only, so that a fit to all samples is the same.
        weighted = SimilaritySVC(C, spectrum).fit(S, y, sample_weight=np.arange(45) < 30)
        if spectrum != "shift":  # whose rows of samples in the fit lack the shifted diagonal
            assert np.allclose(found, weighted.decision_function(S[30:]), atol=1e-9)
        plain = SimilaritySVC(C, spectrum).fit(S[:30, :30], y[:30])
        assert np.array_equal(model.eigenvalues_, plain.eigenvalues_)
        if C == 1.0:
            same = np.allclose(found, plain.decision_function(S[30:, :30]), atol=1e-6)
            assert same == (spectrum == "none")


@pytest.mark.parametrize("n_classes", [2, 3])
def test_transductive_search_file_and_probabilities(n_classes, tmp_path):
    S, y = _problem(60, n_classes, seed=2)
    grid = {"C": [0.1, 10.0], "spectrum": ["clip", "flip"]}
    folds = list(StratifiedKFold(3).split(S, y))
    search = PathSearchCV(SimilaritySVC(transductive=True), grid, cv=folds).fit(S, y)
    for i, point in enumerate(search.cv_results_["params"]):
        for f, (train, test) in enumerate(folds):
            model = SimilaritySVC(**point, transductive=True).fit(S[np.ix_(train, train)], y[train])
            expected = model.score(_together(S, train, test), y[test])
            assert search.cv_results_[f"split{f}_test_score"][i] == expected
    train, test = folds[0]
    model = SimilaritySVC(transductive=True, probability=True).fit(S[np.ix_(train, train)], y[train])
    rows = _together(S, train, test)
    posterior = model.predict_proba(rows)
    assert np.allclose(posterior.sum(axis=1), 1)
    save_model(tmp_path / "model", model)
    loaded = load_model(tmp_path / "model")
    assert loaded.transductive
    assert np.array_equal(loaded.decision_function(rows), model.decision_function(rows))
    assert np.array_equal(loaded.predict_proba(rows), posterior)


def test_transductive_input_of_all_kinds():
    S, y = _problem(40, seed=3)
    train, test = np.arange(30), np.arange(30, 40)
    model = SimilaritySVC(transductive=True)
    rows = _together(S, train, test)
    expected = model.fit(S[:30, :30], y[:30]).decision_function(rows)
    assert np.allclose(model.decision_function(rows.tolist()), expected)
    assert np.allclose(model.decision_function(sparse.csr_matrix(rows)), expected)
    assert np.allclose(model.decision_function(Proximities(rows)), expected)
    # The prediction for a sample depends on the others.
    alone = [model.decision_function(_together(S, train, test[i : i + 1]))[0] for i in range(10)]
    assert not np.allclose(alone, expected)
    names = [f"s{i}" for i in range(30)]
    frame = pd.DataFrame(rows, columns=[*names, *(f"new{i}" for i in range(10))])
    named = SimilaritySVC(transductive=True).fit(pd.DataFrame(S[:30, :30], columns=names), y[:30])
    assert np.allclose(named.decision_function(frame), expected)
    frame.index = frame.columns[30:]
    order = np.r_[np.arange(30)[::-1], np.arange(30, 40)[::-1]]
    assert np.allclose(named.decision_function(frame.iloc[:, order]), expected)
    assert np.allclose(named.decision_function(Proximities(frame.iloc[:, order])), expected)
    with pytest.raises(ValueError, match="1 of 30 samples that are needed have no column: 's29'"):
        named.decision_function(frame.iloc[:, np.r_[np.arange(29), 30, 29, np.arange(31, 40)]])
    for bad in (rows[:, :30], rows[:, :35], rows[0]):
        with pytest.raises(ValueError, match="columns, because transductive=True"):
            model.decision_function(bad)
    with pytest.raises(ValueError, match="X must hold the similarities among the new samples"):
        model.decision_function(ByName({"S": SpectrumModifier("none").fit(S[:30, :30])._rows(rows[:, :30])}))
    for parameters in ({"transductive": "yes"}, {"transductive": True, "dissimilarity": "double-centring"}):
        with pytest.raises(ValueError, match="transductive"):
            SimilaritySVC(**parameters).fit(S[:30, :30].max() - S[:30, :30], y[:30])


@pytest.mark.parametrize("t", [1e-150, 1e-8, 1e8, 1e150])
def test_transductive_similarities_of_any_size(t):
    S, y = _problem(30, 3, seed=6)
    S[10:12] = S[10]  # duplicates, of which one is new
    S[:, 10:12] = S[:, [10]]
    S[3], S[:, 3] = 0.0, 0.0
    order = np.r_[np.arange(11), np.arange(12, 30), 11]
    S, y = S[np.ix_(order, order)], y[order]
    train, test = np.arange(22), np.arange(22, 30)
    for spectrum in ("clip", "flip"):
        expected = SimilaritySVC(1.0, spectrum, transductive=True).fit(S[:22, :22], y[:22])
        scaled = SimilaritySVC(1.0 / t, spectrum, transductive=True).fit(t * S[:22, :22], y[:22])
        rows = _together(S, train, test)
        assert np.allclose(scaled.decision_function(t * rows), expected.decision_function(rows), atol=1e-8)
    nothing = SimilaritySVC(transductive=True).fit(np.zeros((22, 22)), y[:22])
    assert np.isfinite(nothing.decision_function(0 * rows)).all()


def test_transductive_raw_objects_and_dissimilarities():
    rng = np.random.default_rng(4)
    X, new = rng.normal(size=(30, 2)), rng.normal(size=(9, 2))
    y = (X[:, 0] > 0).astype(int)
    both = np.vstack([X, new])
    D = np.abs(both[:, None] - both[None]).sum(-1)
    for how in ("negate", "gauss"):
        raw = SimilaritySVC(transductive=True, similarity="manhattan", dissimilarity=how).fit(X, y)
        matrix = SimilaritySVC(transductive=True, dissimilarity=how).fit(D[:30, :30], y)
        found = matrix.decision_function(_together(D, np.arange(30), np.arange(30, 39)))
        assert np.allclose(raw.decision_function(new), found, atol=1e-9)


def test_transductive_asymmetric_similarities():
    S, y = _problem(40, seed=5)
    S = S + np.random.default_rng(5).normal(size=S.shape)
    train, test = np.arange(30), np.arange(30, 40)
    mean = (S + S.T) / 2
    with pytest.warns(SimilarityWarning, match="asymmetric"):
        model = SimilaritySVC(transductive=True, spectrum="flip").fit(S[:30, :30], y[:30])
    rows = np.hstack([mean[30:, :30], S[30:, 30:]])
    expected = reference.transductive_decisions(mean, train, test, np.where(y[:30] == 1, 1.0, -1.0), 1.0, "flip")
    assert np.allclose(model.decision_function(rows), expected, atol=1e-6)
