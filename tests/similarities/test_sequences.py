"""Local and global alignment."""

import pickle
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.model_selection import cross_val_score

from similitude import KNNClassifier
from similitude.similarities import pairwise
from similitude.similarities.registry import resolve
from similitude.similarities.sequences import NeedlemanWunsch, SmithWaterman
from tests.reference import sequences as reference

PROMOTER = "tactagcaatacgcttgcgttcggtggttaag"
DNA = [PROMOTER, PROMOTER.upper(), "acgt", "ttgcgttcggtgg", "gggggggg", "a", ""]
PROTEINS = ["HEAGAWGHEE", "PAWHEAE", "MKVLAAGIVGLLLAQWERTY", "HEAGAWGHE", "W"]
BOTH = [SmithWaterman, NeedlemanWunsch]

LETTERS = "ARNDWYV"

dna = st.lists(st.text(alphabet="acgtACGT", max_size=8), min_size=1, max_size=4)
proteins = st.lists(st.text(alphabet=LETTERS, max_size=7), min_size=1, max_size=3)
# The corner of BLOSUM62 that the tests need, copied from the published table.
BLOSUM62 = [
    [4, -1, -2, -2, -3, -2, 0],
    [-1, 5, 0, -2, -3, -2, -3],
    [-2, 0, 6, 1, -4, -2, -3],
    [-2, -2, 1, 6, -4, -3, -3],
    [-3, -3, -4, -4, 11, 2, -3],
    [-2, -2, -2, -3, 2, 7, -1],
    [0, -3, -3, -3, -3, -1, 4],
]


def blosum62(a, b):
    return BLOSUM62[LETTERS.index(a)][LETTERS.index(b)]


def by_definition(A, B, score, gap_open, gap_extend, local):
    rows = [[reference.align(x, z, score, gap_open, gap_extend, local) for z in B] for x in A]
    return np.array(rows, dtype=float)


@pytest.mark.parametrize("measure", BOTH)
@given(A=dna, B=dna, gaps=st.sampled_from([(5, 2), (0, 1), (3, 0), (1, 4)]), scores=st.sampled_from([(2, -3), (1, 0)]))
def test_match_and_mismatch(measure, A, B, gaps, scores):
    match, mismatch = scores
    expected = by_definition(
        [x.upper() for x in A],
        [z.upper() for z in B],
        lambda a, b: match if a == b else mismatch,
        *gaps,
        local=measure is SmithWaterman,
    )
    aligner = measure(match=match, mismatch=mismatch, gap_open=gaps[0], gap_extend=gaps[1])
    assert np.array_equal(aligner(A, B), expected)


@pytest.mark.untraced
@pytest.mark.parametrize("gaps", [(0, 0), (0, 1), (0, 2), (1, 0), (1, 2), (5, 2)])
@pytest.mark.parametrize("measure", BOTH)
def test_many_pairs_with_cheap_and_dear_gaps(measure, gaps):
    rng = np.random.default_rng(0)
    A, B = (["".join(rng.choice(list("AC"), size=n)) for n in rng.integers(1, 15, 12)] for _ in range(2))
    aligner = measure(match=5, mismatch=-4, gap_open=gaps[0], gap_extend=gaps[1])
    expected = by_definition(A, B, lambda a, b: 5 if a == b else -4, *gaps, local=measure is SmithWaterman)
    assert np.array_equal(aligner(A, B), expected)


@pytest.mark.parametrize("measure", BOTH)
@given(A=proteins, B=proteins)
@settings(max_examples=30)
def test_blosum62(measure, A, B):
    expected = by_definition(A, B, blosum62, 11, 1, local=measure is SmithWaterman)
    assert np.array_equal(measure(matrix="BLOSUM62")(A, B), expected)
    assert np.array_equal(measure(matrix="blosum62")([x.lower() for x in A], B), expected)


@pytest.mark.parametrize("measure", BOTH)
def test_against_the_aligner_of_biopython(measure):
    Align = pytest.importorskip("Bio.Align")
    mode = "local" if measure is SmithWaterman else "global"
    aligner = Align.PairwiseAligner(mode=mode, open_gap_score=-12, extend_gap_score=-1)
    aligner.substitution_matrix = Align.substitution_matrices.load("BLOSUM62")
    rng = np.random.default_rng(0)
    X = ["".join(rng.choice(list("ARNDCQEGHILKMFPSTWYV"), size=n)) for n in rng.integers(20, 150, 12)] + PROTEINS
    expected = np.array([[aligner.score(x, z) for z in X] for x in X])
    assert np.array_equal(measure(matrix="BLOSUM62")(X, X), expected)
    assert np.array_equal(measure(matrix="BLOSUM62")(X[:3], X[5:]), expected[:3, 5:])


@pytest.mark.parametrize("measure", BOTH)
def test_scores_that_need_more_than_16_bits(measure):
    x = "acgt" * 5_000
    assert measure(match=2_000)([x], [x]).item() == 40_000_000
    assert measure(match=1)([x], [x]).item() == 20_000
    assert measure()([x[:9_000]], [x[:9_000]]).item() == 18_000


def test_a_global_score_can_be_very_negative():
    assert NeedlemanWunsch()(["a" * 20_000], ["c"]).item() == -3 - 5 - 2 * 19_999
    assert NeedlemanWunsch()(["a" * 20_000], [""]).item() == -5 - 2 * 20_000


@pytest.mark.parametrize("measure", BOTH)
def test_the_default_takes_dna_and_proteins(measure):
    name = {"SmithWaterman": "smith-waterman", "NeedlemanWunsch": "needleman-wunsch"}[measure.__name__]
    S = pairwise(DNA, similarity=name)
    assert S[0, 0] == S[0, 1] == 2 * len(PROMOTER)
    assert np.array_equal(S, S.T)
    own = np.diagonal(pairwise(PROTEINS, similarity=name))
    assert own.tolist() == [2 * len(x) for x in PROTEINS]


def test_what_the_registry_says_is_true():
    for name in ("smith-waterman", "needleman-wunsch"):
        measure = resolve(name)
        S = measure.function(DNA, list(DNA))
        assert measure.symmetric
        assert np.array_equal(S, S.T)
        assert np.array_equal(S, measure.function(DNA, DNA))
        assert np.array_equal(S, S.round())
        assert measure.orientation == "similarity"
        own = np.diagonal(S)
        assert (own[:, None] >= S).all()
    assert resolve("smith-waterman").function(DNA, DNA).min() == 0


@pytest.mark.parametrize("matrix", [None, "BLOSUM62"])
@pytest.mark.parametrize("measure", BOTH)
def test_normalized(measure, matrix):
    S, N = (measure(matrix=matrix, output=output)(PROTEINS, PROTEINS) for output in ("score", "normalized"))
    own = np.sqrt(np.diagonal(S))
    assert np.allclose(N, S / np.outer(own, own))
    assert np.allclose(np.diagonal(N), 1)
    assert N.max() <= 1 + 1e-12
    assert np.allclose(measure(matrix=matrix, output="normalized")(PROTEINS[:2], PROTEINS[2:]), N[:2, 2:])


@pytest.mark.parametrize("measure", BOTH)
def test_normalized_without_a_score_of_its_own_is_zero(measure):
    assert measure(output="normalized")(["", "acgt"], ["", "acgt"]).tolist() == [[0, 0], [0, 1]]


def test_evalues():
    S = SmithWaterman()(DNA[:4], DNA[:6])
    lengths = np.outer([len(x) for x in DNA[:4]], [len(z) for z in DNA[:6]])
    E = SmithWaterman(output="evalue")(DNA[:4], DNA[:6])
    assert np.allclose(E, 0.41 * lengths * np.exp(-0.625 * S), rtol=1e-12)
    protein = SmithWaterman(matrix="BLOSUM62", output="evalue")(PROTEINS[:1], PROTEINS[1:2]).item()
    score = SmithWaterman(matrix="BLOSUM62")(PROTEINS[:1], PROTEINS[1:2]).item()
    assert protein == pytest.approx(0.041 * 10 * 7 * np.exp(-0.267 * score))
    given = SmithWaterman(match=1, mismatch=-1, output="evalue", lambda_=1.0, K=0.5)(["acgt"], ["acgt"]).item()
    assert given == pytest.approx(0.5 * 16 * np.exp(-4))


def test_evalues_need_constants_and_letters():
    with pytest.raises(
        ValueError, match=r"lambda_ and K must be given .*\(1, -1\) and gaps \(5, 2\); got lambda_=None"
    ):
        SmithWaterman(match=1, mismatch=-1, output="evalue")(["a"], ["c"])
    with pytest.raises(ValueError, match=r"lambda_ and K must be given .*BLOSUM62 and gaps \(9, 1\)"):
        SmithWaterman(matrix="BLOSUM62", gap_open=9, output="evalue")(["A"], ["C"])
    with pytest.raises(ValueError, match=r"lambda_ and K must be given as positive"):
        SmithWaterman(output="evalue", K=0.0)(["a"], ["c"])
    with pytest.raises(ValueError, match=r"B\[1\] is empty; an E-value"):
        SmithWaterman(output="evalue")(["a"], ["c", ""])


def test_an_evalue_is_a_dissimilarity():
    assert SmithWaterman().orientation == "similarity"
    evalue = SmithWaterman(output="evalue")
    assert (evalue.orientation, evalue.to_similarity) == ("dissimilarity", "log")
    X, y = ["acgtacgtacgt", "ttttttttgggg"], ["p", "q"]
    knn = KNNClassifier(1, similarity=evalue).fit(X, y)
    assert knn.predict(["acgtacgt", "ttttgggg"]).tolist() == ["p", "q"]
    assert knn.kneighbors(X[:1])[0][0, 0] == pytest.approx(-np.log1p(evalue(X[:1], X)[0, 0]))


def test_an_instance_says_what_its_values_are():
    measure = resolve(SmithWaterman(output="evalue"))
    assert (measure.orientation, measure.to_similarity, measure.range) == ("dissimilarity", "log", "positive numbers")
    assert measure.symmetric
    assert resolve(SmithWaterman(output="normalized")).orientation == "similarity"


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"matrix": "BLOSUM63"}, r"matrix must be None or one of \['BLOSUM100'.*got 'BLOSUM63'"),
        ({"matrix": [1]}, r"matrix must be None or a name; got list"),
        ({"output": "bits"}, r"output must be one of .*got 'bits'"),
        ({"gap_open": -1}, r"gap_open must be .*got -1"),
        ({"gap_extend": 0.5}, r"gap_extend must be .*got 0.5"),
        ({"match": 1.5}, r"match must be an integer; got 1.5"),
        ({"match": 0}, r"match must be positive"),
        ({"mismatch": 3}, r"match must be positive and above mismatch; got 2 and 3"),
    ],
)
@pytest.mark.parametrize("measure", BOTH)
def test_parameters_are_checked(measure, parameters, message):
    with pytest.raises(ValueError, match=message):
        measure(**parameters)(["A"], ["C"])


def test_global_alignment_has_no_evalue():
    with pytest.raises(ValueError, match=r"output must be one of \['score', 'normalized'\]; got 'evalue'"):
        NeedlemanWunsch(output="evalue")(["a"], ["c"])


@pytest.mark.parametrize("measure", BOTH)
def test_what_is_not_a_sequence(measure):
    with pytest.raises(ValueError, match=r"A\[1\] must consist of the letters A to Z; got '-'"):
        measure()(["ac", "a-c"], ["a"])
    with pytest.raises(ValueError, match=r"B\[0\] must consist of the letters A to Z; got 'ß'"):
        measure()(["ac"], ["ß"])
    with pytest.raises(ValueError, match=r"A\[0\] must consist of the letters of BLOSUM62, ABC.*; got 'J'"):
        measure(matrix="BLOSUM62")(["AJ"], ["A"])
    with pytest.raises(ValueError, match=r"A\[1\] must be a string; got int"):
        measure()(["ac", 5], ["a"])


@pytest.mark.parametrize("measure", BOTH)
def test_clone_and_pickle(measure):
    changed = measure(matrix="PAM250", gap_open=9, output="normalized")
    for copy in (clone(changed), pickle.loads(pickle.dumps(changed))):
        assert copy.get_params() == changed.get_params()
        assert np.array_equal(copy(PROTEINS, PROTEINS), changed(PROTEINS, PROTEINS))


@pytest.mark.parametrize("name", ["smith-waterman", "needleman-wunsch"])
def test_in_a_classifier(name):
    rng = np.random.default_rng(0)
    stems = ["acgtacgtggcc", "ttgacaattaat"]
    X = [stems[i % 2] + "".join(rng.choice(list("acgt"), size=3)) for i in range(18)]
    y = np.arange(18) % 2
    assert KNNClassifier(3, similarity=name).fit(X, y).predict(stems).tolist() == [0, 1]
    model = KNNClassifier(1, similarity=type(resolve(name).function)(output="normalized"))
    assert cross_val_score(model, X, y, cv=3, error_score="raise").tolist() == [1.0, 1.0, 1.0]


def test_a_missing_library_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "parasail", None)
    with pytest.raises(ImportError, match=r"needs parasail: pip install 'similitude\[bio\]'"):
        SmithWaterman(match=77)(["a"], ["c"])
