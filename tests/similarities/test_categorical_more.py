"""Overlap, Tversky's models and Goodall's similarity of categorical rows."""

import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from similitude import KNNClassifier
from similitude.similarities import jaccard, pairwise
from similitude.similarities.categorical import Goodall, TverskyContrast, TverskyRatio, overlap
from similitude.similarities.registry import resolve
from tests.reference import sets as reference

row = st.tuples(*[st.sampled_from(["a", "b", "c", "?"])] * 3)
tables = st.lists(row, min_size=1, max_size=6)
ROWS = [("a", "x", 1), ("a", "y", 2), ("b", "x", 1), ("c", "y", 3), ("b", "y", 1), ("a", "x", 1)]
LABELS = ["p", "q", "p", "q", "q", "p"]


@given(tables, tables)
def test_similarities_of_rows(A, B):
    sets = [[reference.features(r) for r in X] for X in (A, B)]
    assert np.allclose(overlap(A, B), reference.table(lambda a, b: len(a & b) / 3, *sets), rtol=1e-15)
    expected = reference.table(lambda a, b: reference.contrast(a, b, 2, 0.5, 0.25), *sets)
    assert np.array_equal(TverskyContrast(2, 0.5, 0.25)(A, B), expected)
    expected = reference.table(lambda a, b: reference.ratio(a, b, 0.5, 0.25), *sets)
    assert np.allclose(TverskyRatio(0.5, 0.25)(A, B), expected, rtol=1e-15)
    expected = reference.table(lambda a, b: reference.goodall(A, a, b), A, B)
    assert np.allclose(Goodall().fit(A)(A, B), expected, rtol=1e-14)


@given(tables, tables)
def test_absent_values_and_weights(A, B):
    weights = [0.1, 2.0, 0.7]
    sets = [[reference.features(r, absent="?") for r in X] for X in (A, B)]

    def salience(features):
        return sum(weights[column] for column, _ in features)

    expected = reference.table(lambda a, b: reference.contrast(a, b, 1, 0.9, 0.2, salience), *sets)
    assert np.allclose(TverskyContrast(1, 0.9, 0.2, weights=weights, missing="absent")(A, B), expected, atol=1e-14)
    expected = reference.table(lambda a, b: reference.ratio(a, b, 0.9, 0.2, salience), *sets)
    S = TverskyRatio(0.9, 0.2, weights=weights, missing="absent")(A, B)
    assert np.allclose(S, expected, atol=1e-12)
    same = TverskyRatio(0.9, 0.2, weights=weights, missing="absent")(A, A)
    assert (same.diagonal() == 1).all()


def test_missing_values_of_every_kind_are_absent():
    full, gap = [("a", "b")], [("a", None)]
    for missing in (None, float("nan"), "?"):
        gap = [("a", missing)]
        model = TverskyContrast(1, 1, 0, missing="absent")
        assert (model(full, gap).item(), model(gap, full).item()) == (0, 1)
    assert not model.symmetric
    assert TverskyContrast(1, 1, 0, missing="value").symmetric


BITS = (np.random.default_rng(7).random((12, 40)) < 0.15).astype(int)
BITS[3] = 0
BITS[4, 8:] = 0  # its bytes are all 0 or 1 if packed
BITS[4, :8] = [0] * 7 + [1]
PACKED = np.packbits(BITS, axis=1)
KINDS = {
    "integers": BITS,
    "booleans": BITS.astype(bool),
    "floats": BITS.astype(float),
    "NaN": np.where(BITS == 1, 1.0, np.nan),
    "rows": BITS.tolist(),
    "rows with None": [tuple(1 if bit else None for bit in row) for row in BITS],
    "frame": pd.DataFrame(BITS),
    "nullable frame": pd.DataFrame(BITS).astype("boolean"),
    "CSR": sparse.csr_array(BITS),
    "sets": [set(np.flatnonzero(row).tolist()) for row in BITS],
    "bytes": [row.tobytes() for row in PACKED],
    "packed": PACKED,
}


@pytest.mark.filterwarnings("ignore:an array of uint8 with values above 1")
@pytest.mark.parametrize("kind", KINDS)
def test_binary_rows_are_sets_of_present_features(kind):
    X, members = KINDS[kind], [reference.members(row) for row in BITS]
    ratio, contrast = TverskyRatio(0.9, 0.1), TverskyContrast(1, 0.9, 0.1)
    expected = reference.table(lambda a, b: reference.ratio(a, b, 0.9, 0.1), members, members)
    assert not np.allclose(expected, expected.T)
    np.testing.assert_allclose(pairwise(X, similarity=ratio), expected, rtol=1e-15)
    np.testing.assert_allclose(
        contrast(X, X),
        reference.table(lambda a, b: reference.contrast(a, b, 1, 0.9, 0.1), members, members),
        atol=1e-12,
    )
    # The values do not depend on the rows that are compared together.
    parts = [X.iloc[i : i + 1] if hasattr(X, "iloc") else X[i : i + 1] for i in range(len(BITS))]
    one_by_one = [[ratio(a, b).item() for b in parts] for a in parts]
    np.testing.assert_allclose(one_by_one, expected, rtol=1e-15)
    model = KNNClassifier(1, similarity=ratio).fit(X, np.arange(12) % 2)
    assert (
        model.predict(X).tolist()
        == KNNClassifier(1, similarity=ratio).fit(BITS, np.arange(12) % 2).predict(BITS).tolist()
    )


@pytest.mark.filterwarnings("ignore:an array of uint8 with values above 1")
def test_weights_of_binary_rows():
    weights = np.linspace(0, 2, 40)
    members = [reference.members(row) for row in BITS]

    def salience(features):
        return sum(weights[column] for column in features)

    expected = reference.table(lambda a, b: reference.ratio(a, b, 0.9, 0.1, salience), members, members)
    model = TverskyRatio(0.9, 0.1, weights=weights)
    for kind in ("integers", "CSR", "bytes", "packed"):
        np.testing.assert_allclose(model(KINDS[kind], KINDS[kind]), expected, rtol=1e-12)
    assert model(PACKED[4:5], PACKED[4:5]).item() == 1
    with pytest.raises(ValueError, match="weights are those of columns, which sets do not have"):
        model(KINDS["sets"], KINDS["sets"])


def test_binary_rows_as_categories():
    columns = [[(f"{f}{value}") for f, value in enumerate(row)] for row in BITS]
    found = TverskyRatio(0.9, 0.1, missing="value")(BITS, BITS)
    np.testing.assert_array_equal(found, TverskyRatio(0.9, 0.1)(columns, columns))
    np.testing.assert_array_equal(found, found.T)
    assert (
        resolve("tversky-ratio").function(BITS, BITS).tolist() == TverskyRatio()(KINDS["sets"], KINDS["sets"]).tolist()
    )


def test_numbers_that_name_categories():
    codes = np.array([[0, 1, 2], [2, 1, 0]])
    with pytest.raises(ValueError, match=r"A\[0\] must be a binary vector of 0 and 1; it has 2\. .*missing='value'"):
        TverskyRatio()(codes, codes)
    assert (
        TverskyRatio(missing="value")(codes, codes)[0, 1] == TverskyRatio()(codes.astype(str), codes.astype(str))[0, 1]
    )
    with pytest.warns(UserWarning, match="values above 1 is read as packed bits; pass np.unpackbits"):
        TverskyRatio()(codes.astype(np.uint8), codes.astype(np.uint8))


def test_ratio_where_it_is_not_defined():
    bits = np.array([[1, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 0]])
    assert TverskyRatio(0, 1)(bits, bits).tolist() == [[1, 0, 0], [0, 1, 0], [0, 0, 1]]
    assert TverskyRatio(0, 0)(bits, bits).tolist() == [[1, 1, 0], [1, 1, 0], [0, 0, 1]]


def test_fingerprints_as_in_rdkit():
    DataStructs = pytest.importorskip("rdkit.DataStructs")
    bits = BITS[:, :32]
    vectors = [DataStructs.CreateFromBitString("".join(map(str, row))) for row in bits]
    for alpha, beta in ((0.9, 0.1), (0.5, 0.5), (1.0, 1.0), (0.0, 1.0), (0.0, 0.0)):
        expected = np.array([[DataStructs.TverskySimilarity(a, b, alpha, beta) for b in vectors] for a in vectors])
        expected[3, 3] = 1  # of two empty ones the index is 0 there
        np.testing.assert_allclose(TverskyRatio(alpha, beta)(bits, bits), expected, rtol=1e-14)
    packed = [DataStructs.BitVectToBinaryText(vector) for vector in vectors]
    tanimoto = np.array([DataStructs.BulkTanimotoSimilarity(vector, vectors) for vector in vectors])
    tanimoto[3, 3] = 1
    np.testing.assert_allclose(jaccard(packed, packed), tanimoto, rtol=1e-14)


@pytest.mark.parametrize("name", ["overlap", "tversky-contrast", "tversky-ratio", "goodall"])
def test_registered_claims(name):
    generator = np.random.default_rng(0)
    X = generator.choice(list("abcd"), size=(15, 4), p=[0.6, 0.2, 0.15, 0.05]).tolist()
    X[3] = X[8]
    measure = resolve(name).learned(X, None)
    S = pairwise(X, similarity=measure)
    assert measure.symmetric
    assert np.array_equal(S, S.T)
    assert np.array_equal(S[3], S[8])
    low, high = {"0 to 1": (0, 1)}.get(measure.range, (-4, 4))
    assert ((low <= S) & (high >= S)).all()
    if name != "goodall":
        assert (S.diagonal() == high).all()


def test_goodall_counts_rare_values_for_more():
    X = [("a",)] * 8 + [("b",)] * 2
    S = Goodall().fit(X)([("a",), ("b",), ("new",)], [("a",), ("b",), ("new",), ("newer",)])
    assert S.diagonal().tolist() == pytest.approx([1 - 56 / 90, 1 - 2 / 90, 1])
    assert S[2, 3] == 0
    assert Goodall().fit([("a",)])([("a",)], [("a",)]).tolist() == [[1]]


def test_goodall_learns_from_the_training_part_only():
    model = KNNClassifier(1, similarity="goodall").fit(ROWS, LABELS)
    assert np.array_equal(model._reader.measure.function(ROWS, ROWS), Goodall().fit(ROWS)(ROWS, ROWS))
    assert resolve("goodall").learns
    with pytest.raises(ValueError, match="learns from data"):
        pairwise(ROWS, similarity="goodall")


@pytest.mark.parametrize("similarity", ["overlap", "tversky-contrast", "tversky-ratio", "goodall", TverskyContrast(2)])
def test_through_a_classifier(similarity):
    model = KNNClassifier(1, similarity=similarity).fit(ROWS, LABELS)
    assert model.predict(ROWS).tolist() == LABELS
    assert pickle.loads(pickle.dumps(model)).predict(ROWS[:3]).tolist() == LABELS[:3]


def test_errors():
    with pytest.raises(ValueError, match="same columns; got 3 and 1"):
        overlap(ROWS, [("a",)])
    with pytest.raises(ValueError, match="missing must be"):
        TverskyRatio(missing="?")(ROWS, ROWS)
    with pytest.raises(ValueError, match="alpha and beta must not be negative; got -1"):
        TverskyRatio(alpha=-1)(ROWS, ROWS)
    with pytest.raises(ValueError, match="weights must be non-negative numbers, one for each of the 3 columns"):
        TverskyContrast(weights=[1, 2])(ROWS, ROWS)
    with pytest.raises(NotFittedError):
        Goodall()(ROWS, ROWS)
    with pytest.raises(ValueError, match="B has 1 columns, but Goodall was fitted on 3"):
        Goodall().fit(ROWS)(ROWS, [("a",)])
    with pytest.raises(ValueError, match="A must be a table of categorical rows"):
        overlap(["a", "b"], ROWS)
    assert clone(TverskyRatio(alpha=0.3)).alpha == 0.3
