"""Asymmetric matrices: the pairs that differ most, which direction predicts better, and the names in advice."""

import numpy as np
import pytest
from scipy import sparse

from similitude import Proximities, diagnose
from similitude.diagnosis.card import COMMANDS, PYTHON, advice


def asymmetric(n=24, seed=0):
    """Similarities whose columns have offsets, which spoil the rows and not the columns."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 3
    S = 4.0 * (y[:, None] == y) + rng.normal(0, 0.5, (n, n)) + rng.normal(0, 4, n)
    return S, y


def nearest_error(S, y):
    """The leave-one-out error of the nearest neighbour by rows, sample by sample."""
    wrong = []
    for i in range(len(S)):
        others = [j for j in range(len(S)) if j != i]
        best = max(S[i, j] for j in others)
        wrong.append(np.mean([y[j] != y[i] for j in others if S[i, j] == best]))
    return np.mean(wrong)


def listed_pairs(S, known):
    """The ten pairs with the largest differences, each once with the larger direction first."""
    n = len(S)
    pairs = [(S[i, j] - S[j, i], i, j) for i in range(n) for j in range(n) if known[i, j] and known[j, i]]
    pairs = sorted((p for p in pairs if p[0] > 0), key=lambda p: -p[0])[:10]
    return [(i, j, S[i, j], S[j, i]) for _, i, j in pairs]


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_errors_by_direction_and_the_pairs(kind):
    S, y = asymmetric()
    found = diagnose(kind(S), y)
    errors = found.direction_errors
    expected = [nearest_error(B, y) for B in (S, S.T, (S + S.T) / 2)]
    assert [errors.rows, errors.columns, errors.mean] == pytest.approx(expected)
    assert errors.rows == pytest.approx(found.leave_one_out_error)
    assert errors.best == "columns"
    pairs = [(p.first, p.second, p.forth, p.back) for p in found.asymmetric_pairs]
    np.testing.assert_allclose(pairs, listed_pairs(S, np.ones(S.shape, bool)))
    assert any("the columns predict best" in sentence for sentence in found.advice)


def test_pairs_of_which_a_direction_is_unknown_do_not_count():
    S, y = asymmetric()
    known = np.random.default_rng(1).random(S.shape) < 0.6
    known |= np.eye(len(S), dtype=bool)
    expected = listed_pairs(S, known)
    rows, columns = np.nonzero(known)
    stored = sparse.csr_array((S[known], (rows, columns)), shape=S.shape)
    for given in (np.where(known, S, np.nan), Proximities(stored, absent="unknown")):
        pairs = [(p.first, p.second, p.forth, p.back) for p in diagnose(given, y).asymmetric_pairs]
        np.testing.assert_allclose(pairs, expected)


def test_a_symmetric_matrix_has_neither():
    S, y = asymmetric()
    found = diagnose(S + S.T, y)
    assert (found.asymmetric_pairs, found.direction_errors) == ((), None)


def test_one_finding_has_two_renderings():
    rng = np.random.default_rng(2)
    S, y = asymmetric()
    S = S + 3 * rng.normal(size=S.shape)
    S[3, 5] = np.nan
    found = diagnose(S, y)
    python, commands = advice(found, PYTHON), advice(found, COMMANDS)
    assert python == found.advice
    assert len(python) == len(commands)
    assert "KNNClassifier" in " ".join(python)
    shown = " ".join(commands)
    assert all(name not in shown for name in ("KNNClassifier", "SpectrumModifier", "Proximities", "dissimilarity="))
    assert "--method k-nn" in shown
    assert "--fill class-blind-mean" in shown
