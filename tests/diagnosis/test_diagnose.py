"""The function as a whole: kinds of input, ugly input, sampling, the card, the advice."""

import json
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from similitude import Proximities
from similitude.datasets import load_proximity
from similitude.diagnosis import diagnose


@pytest.fixture(autouse=True)
def _no_warnings():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


def blobs(n=60, seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 3
    X = rng.normal(size=(n, 4)) + 3 * y[:, None]
    return np.exp(-np.abs(X[:, None] - X[None]).sum(axis=2) / 6), y


def without(found, *names):
    return {name: value for name, value in found.to_dict().items() if name not in names}


def advice_on(found):
    return "\n".join(found.advice)


UGLY = {
    "one sample": [[2.0]],
    "one zero sample": [[0.0]],
    "two samples": [[1.0, 0.5], [0.5, 1.0]],
    "two samples, antisymmetric": [[0.0, 1.0], [-1.0, 0.0]],
    "constant": np.full((12, 12), 3.0),
    "zero": np.zeros((12, 12)),
    "identity": np.eye(12),
    "negative definite": -np.eye(12),
    "all duplicates": np.full((5, 5), -1.0),
    "huge": 1e150 * blobs(15)[0],
    "tiny": 1e-150 * blobs(15)[0],
    "near the largest float": 1.7e308 * blobs(15)[0],
    "subnormal": np.full((4, 4), 5e-324) + 5e-324 * np.eye(4),
    "asymmetric": np.arange(36.0).reshape(6, 6),
    "integers": np.arange(36).reshape(6, 6),
    "booleans": np.eye(6, dtype=bool),
    "float32 huge": (1e30 * blobs(15)[0]).astype(np.float32),
    "float16": blobs(15)[0].astype(np.float16),
    "sparse empty": sparse.csr_matrix((6, 6)),
    "sparse": sparse.random(20, 20, density=0.2, random_state=0, format="coo"),
    "negative zero": np.where(np.eye(4) > 0, 0.0, -0.0),
}


@pytest.mark.parametrize("name", UGLY)
@pytest.mark.parametrize("labels", ["none", "one class", "singletons", "strings", "integers"])
def test_ugly_input_gives_a_card_and_plain_values(name, labels):
    S = UGLY[name]
    n = len(S) if isinstance(S, list) else S.shape[0]
    y = {
        "none": None,
        "one class": ["only"] * n,
        "singletons": np.arange(n),
        "strings": np.array(["[red]", "blue\n"])[np.arange(n) % 2],
        "integers": np.arange(n) % 2,
    }[labels]
    found = diagnose(S, y)
    plain = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert plain["n"] == n
    assert plain["advice"]
    assert str(found).count("\n") > 15
    assert 0 <= found.negative_eigenfraction <= 1
    assert 0 <= found.self_similarity_not_maximal <= 1
    assert found.minimum <= found.maximum
    assert (found.classes is None) == (y is None)


def test_one_sample():
    found = diagnose([[2.0]], ["a"])
    assert (found.rank, found.psd, found.smallest_eigenvalue, found.n_neighbors) == (1, True, 2, 0)
    undefined = ("triangle_violations", "intrinsic_dimension", "hubness", "neighbor_ties", "leave_one_out_error")
    assert all(getattr(found, name) is None for name in undefined)
    assert found.classes[0].within is None
    assert found.classes[0].between is None


def test_constant_matrix():
    found = diagnose(np.full((20, 20), 3.0), np.arange(20) % 2)
    assert (found.rank, found.psd, found.duplicates, found.n_distinct) == (1, True, 19, 1)
    assert found.largest_eigenvalue == pytest.approx(60)
    assert found.neighbor_ties == 1
    assert found.intrinsic_dimension is None
    assert found.triangle_violations == 0
    assert (found.without_evidence, found.leave_one_out_error) == (20, None)
    assert "constant" in advice_on(found)
    assert "kernel" not in advice_on(found)


def test_zero_matrix():
    found = diagnose(np.zeros((5, 5)))
    assert (found.rank, found.psd, found.asymmetry, found.sparsity) == (0, True, 0, 1)
    assert (found.negative_eigenfraction, found.negative_eigenratio) == (0, 0)


def test_no_positive_eigenvalue():
    found = diagnose(-np.eye(4))
    assert (found.negative_eigenfraction, found.negative_eigenratio, found.psd) == (1, None, False)
    assert "no positive eigenvalue" in advice_on(found)


@pytest.mark.parametrize("scale", [1e150, 1e-150])
def test_scale(scale):
    S, y = blobs()
    one, other = diagnose(S, y), diagnose(scale * S, y)
    assert other.largest_eigenvalue == pytest.approx(scale * one.largest_eigenvalue)
    assert other.classes[0].within == pytest.approx(scale * one.classes[0].within)
    assert other.intrinsic_dimension == pytest.approx(one.intrinsic_dimension)
    assert other.rank == one.rank


def test_every_kind_of_matrix_gives_the_same(tmp_path):
    S, y = blobs()
    S[S < 0.2] = 0
    expected = without(diagnose(S, y), "sparse", "advice")
    stored = np.memmap(tmp_path / "S", dtype=np.float64, mode="w+", shape=S.shape)
    stored[:] = S
    kinds = [S.tolist(), stored, np.asfortranarray(S), pd.DataFrame(S), Proximities(S, ids=np.arange(len(S)))]
    for kind in kinds:
        assert without(diagnose(kind, y), "sparse", "advice") == expected
    for kind in (sparse.csr_matrix(S), sparse.coo_array(S), Proximities(sparse.csr_matrix(S))):
        found = diagnose(kind, pd.Series(y))
        assert found.sparse
        own = ("sparse", "advice", "classes", "from_stored")
        assert without(found, *own) == {name: expected[name] for name in expected if name not in own}
        for ours, theirs in zip(found.to_dict()["classes"], expected["classes"]):
            assert ours == pytest.approx(theirs)


def test_the_input_is_left_alone():
    S, y = blobs()
    repeated = sparse.csr_matrix((np.ones(4), np.array([1, 1, 0, 0]), np.array([0, 2, 4])), shape=(2, 2))
    before = S.copy()
    S.flags.writeable = False
    diagnose(S, y)
    found = diagnose(repeated)
    assert np.array_equal(S, before)
    assert repeated.nnz == 4
    assert (found.maximum, found.sparsity) == (2, 0.5)


def test_labels_of_several_kinds_mean_the_same():
    S, y = blobs()
    names = np.array(["a", "b", "c"])[y]
    for labels in (names, names.tolist(), names.astype(object), pd.Series(names), pd.Categorical(names)):
        assert diagnose(S, labels) == diagnose(S, names)
    assert [c.label for c in diagnose(S, y).classes] == [0, 1, 2]
    assert [c.label for c in diagnose(S, y == 0).classes] == [False, True]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"S": np.ones((2, 3))}, "S must be square"),
        ({"S": [1.0, 2.0]}, "S must have two dimensions"),
        ({"S": [[1.0, np.inf], [0.0, 1.0]]}, "S contains infinity"),
        ({"S": np.full((2, 2), np.nan)}, "no similarity of the training samples is known"),
        ({"S": np.eye(3) * 1j}, "Complex data"),
        ({"S": np.empty((0, 0))}, "minimum of 1"),
        ({"S": np.eye(3), "y": [0, 1]}, "y must have one label per sample; got 2 labels for 3"),
        ({"S": np.eye(3), "y": [[0, 1]] * 3}, "y must have one label per sample"),
        ({"S": np.eye(2), "y": np.array(["a", 1], dtype=object)}, "y must hold labels of one kind"),
        ({"S": np.eye(3), "y": [0.5, 0.1, 0.2]}, "Unknown label type: continuous"),
        ({"S": np.eye(3), "dissimilarity": "cosine"}, "dissimilarity must be one of"),
        ({"S": np.eye(3), "max_samples": 0}, "max_samples must be an integer"),
        ({"S": np.eye(3), "n_neighbors": 1.5}, "n_neighbors must be an integer"),
        ({"S": np.eye(3), "n_triples": True}, "n_triples must be an integer"),
        ({"S": sparse.eye(3).tocsr(), "dissimilarity": "max-minus"}, "S: a sparse matrix cannot be mapped"),
        ({"S": -np.ones((3, 3)), "dissimilarity": "log"}, "every entry of S must be non-negative"),
        (
            {"S": np.full((3, 3), 1e200), "dissimilarity": "sqrt-max-minus"},
            "S is too large for the map 'sqrt-max-minus'",
        ),
    ],
)
def test_bad_arguments(arguments, words):
    with pytest.raises(ValueError, match=words.replace("(", r"\(")):
        diagnose(**arguments)


def test_sampling_is_said_and_seeded():
    S, y = blobs(200)
    found = diagnose(S, y, max_samples=80)
    assert (found.n, found.n_sampled) == (200, 80)
    assert found.to_dict()["n_sampled"] == 80
    assert "80 samples drawn at random" in str(found)
    assert "80 of 200 samples" in advice_on(found)
    assert sum(c.count for c in found.classes) == 200
    assert found == diagnose(S, y, max_samples=80, random_state=0)
    assert found != diagnose(S, y, max_samples=80, random_state=1)
    assert "drawn" not in str(diagnose(S, y, max_samples=200))


def test_a_sample_is_of_both_rows_and_columns():
    S, y = blobs(100)
    rng = np.random.RandomState(3)
    drawn = np.sort(rng.permutation(100)[:40])
    expected = without(diagnose(S[np.ix_(drawn, drawn)], y[drawn]), "n", "classes", "advice")
    for kind in (S, pd.DataFrame(S)):
        found = diagnose(kind, y, max_samples=40, random_state=3)
        assert without(found, "n", "classes", "advice", "sparse") == {
            k: v for k, v in expected.items() if k != "sparse"
        }


def hits(n=150, seed=0):
    """Mostly zeros: whole numbers within small families, some samples without any, and labels."""
    rng = np.random.default_rng(seed)
    family = np.arange(n) // 5
    S = np.where(family[:, None] == family, rng.integers(1, 4, size=(n, n)), 0.0)
    S[rng.random((n, n)) < 0.003] = 1.0
    alone = rng.permutation(n)[:20]
    S[alone] = S[:, alone] = 0.0
    S[np.arange(n), np.arange(n)] = 9.0
    return S, np.where(rng.random(n) < 0.1, 0, family % 4)


@pytest.mark.parametrize("absent", ["zero", "unknown", "farthest"])
def test_all_stored_entries_are_examined(absent):
    S, y = hits()
    order = np.random.default_rng(1).permutation(len(y))
    same = {"zero": ("near_duplicates",), "unknown": (), "farthest": ()}[absent]
    dissimilarity = "max-minus" if absent == "farthest" else None
    values = sparse.csr_matrix(np.where(S, 10 - S, 0.0) if absent == "farthest" else S)
    whole = diagnose(Proximities(values, absent=absent), y, dissimilarity=dissimilarity)
    few = diagnose(Proximities(values, absent=absent), y, dissimilarity=dissimilarity, max_samples=40)
    mixed = diagnose(
        Proximities(values[order][:, order], absent=absent), y[order], dissimilarity=dissimilarity, max_samples=40
    )
    filled = {"zero": 0.0, "unknown": S[(S > 0) & (S < 9)].mean(), "farthest": 9.0}[absent]
    full = np.where(S, 10 - S if absent == "farthest" else S, filled)
    dense = diagnose(full, y, dissimilarity=dissimilarity)
    assert (few.n_sampled, few.n_examined) == (40, 150)
    assert few.extremes_of_all
    assert not whole.extremes_of_all
    for found in (few, mixed):
        ends = found.smallest_eigenvalue, found.largest_eigenvalue, found.negative_eigenratio
        wanted = dense.smallest_eigenvalue, dense.largest_eigenvalue, dense.negative_eigenratio
        assert ends == pytest.approx(wanted, rel=1e-5, abs=1e-5)
        assert found.psd == dense.psd
    of_stored = (
        "symmetric",
        "asymmetry",
        "minimum",
        "maximum",
        "sparsity",
        "n_distinct",
        "duplicates",
        "hubness",
        "neighbor_ties",
        "self_similarity_not_maximal",
        "leave_one_out_error",
        "without_evidence",
        *same,
    )
    for name in of_stored:
        expected = pytest.approx(getattr(dense, name))
        assert all(getattr(found, name) == expected for found in (whole, few, mixed)), name
    assert few.without_evidence >= 15
    for one, other in zip(few.classes, dense.classes):
        assert (one.within, one.between) == pytest.approx((other.within, other.between))
    assert "disorder, which need all pairs, come from 40 of 150 samples" in advice_on(few)
    assert f"of {150 - few.without_evidence} samples with evidence" in str(few)
    assert "40 samples drawn at random" in str(few)


def test_the_nearest_hit_is_that_of_all_samples(data_folder):
    folder = data_folder / "hits"
    if not folder.is_dir():
        pytest.skip(f"no hits in {data_folder}")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # labels of samples without an edge are left out
        data = load_proximity(folder / "ec_train.m8.gz", folder / "ec_train.tsv", label_column="ec1")
    found = diagnose(data.S, data.y, max_samples=50)
    S = sparse.csr_matrix(data.S.S if hasattr(data.S, "S") else data.S)
    S.setdiag(0)
    some = np.diff((S > 0).tocsr().indptr) > 0
    best = np.asarray(S.argmax(axis=1)).ravel()
    error = np.mean(data.y[best][some] != data.y[some])
    assert found.without_evidence == (~some).sum()
    assert found.leave_one_out_error == pytest.approx(error, abs=0.01)  # here several best hits count with their mean


def test_a_class_that_was_not_drawn():
    S, _ = blobs(50)
    found = diagnose(S, ["rare"] + ["often"] * 49, max_samples=5, random_state=0)
    assert [(c.label, c.count) for c in found.classes] == [("often", 49), ("rare", 1)]
    assert found.classes[1].within is None
    assert found.classes[1].between is None


def test_nothing_outside_the_sample_is_read():
    S, _ = blobs(50)
    left_out = np.setdiff1d(np.arange(50), np.random.RandomState(0).permutation(50)[:10])
    S[left_out] = np.nan
    assert diagnose(S, max_samples=10).n_sampled == 10
    with pytest.raises(ValueError, match="cut to 10 samples drawn at random"):
        diagnose(np.full((50, 50), np.inf), max_samples=10)


def test_triples_are_drawn_by_seed():
    S = np.random.default_rng(0).uniform(size=(120, 120))
    shares = [diagnose(S, n_triples=1000, random_state=seed).triangle_violations for seed in (0, 0, 1)]
    assert shares[0] == shares[1] != shares[2]


def test_repr_is_one_line():
    assert repr(diagnose(np.eye(3))) == "<Diagnosis of 3 samples: symmetric, PSD; print() shows the card>"
    asymmetric = repr(diagnose([[1.0, 2.0], [0.0, 1.0]]))
    assert asymmetric.startswith("<Diagnosis of 2 samples: asymmetric, PSD")


def test_the_card_shows_labels_as_text_on_one_line():
    y = np.array(["[red]x[/red]", "two\nlines\x1b[31m", "w" * 60])[np.arange(30) % 3]
    card = str(diagnose(blobs(30)[0], y))
    assert "  [red]x[/red]  " in card
    assert "two\\nlines\\x1b[31m" in card
    assert "w" * 21 + "..." in card
    assert "w" * 22 not in card


def test_the_card_of_very_many_classes_stays_short():
    card = str(diagnose(np.eye(100), np.arange(100)))
    assert "and 80 smaller classes" in card
    assert len(card.splitlines()) < 65


def test_the_figures_cannot_be_changed():
    found = diagnose(np.eye(3))
    with pytest.raises(AttributeError):
        found.n = 5
    assert hash(found) == hash(diagnose(np.eye(3)))


def kernel_with_spectrum(values, seed=0):
    V = np.linalg.qr(np.random.default_rng(seed).normal(size=(len(values), len(values))))[0]
    return (V * values) @ V.T


@pytest.mark.parametrize(
    ("values", "words"),
    [
        (np.linspace(1, 2, 40), "the matrix is positive semidefinite: it is a kernel"),
        (np.r_[-0.1, np.linspace(1, 2, 39)], "nearly positive semidefinite (NEF 0.0017): "),
        (np.r_[-np.ones(4), np.ones(36)], "indefinite (NEF 0.1): modify the spectrum (SpectrumModifier) or use"),
        (np.r_[-np.ones(12), np.ones(28)], "indefinite (NEF 0.3): modify"),
        (np.r_[-np.ones(12), np.ones(28)], "try 'flip' and 'square'"),
        (np.r_[np.ones(3), np.zeros(37)], "40 samples has rank 3: PseudoEuclideanEmbedding gives vectors of 3"),
    ],
)
def test_advice_on_the_spectrum(values, words):
    assert words in advice_on(diagnose(kernel_with_spectrum(values)))


def test_advice_on_the_input():
    S, y = blobs()
    plain = advice_on(diagnose(S, y))
    words = ("dissimilarity", "asymmetric", "self-similarity", "hubs", "repeat", "zero", "class only", "fewer than")
    assert not any(word in plain for word in words)

    D = 1 - S
    assert "looks like a dissimilarity" in advice_on(diagnose(D))
    assert "dissimilarity" not in advice_on(diagnose(D, dissimilarity="max-minus")).replace("the dissimilarity", "")
    assert "check that the matrix is a dissimilarity" in advice_on(diagnose(S, dissimilarity="max-minus"))

    noisy = S + np.random.default_rng(0).normal(size=S.shape) * 0.1
    assert "asymmetric (" in advice_on(diagnose(noisy))
    assert "(SpectrumModifier, SimilaritySVC) use (S + S^T)/2" in advice_on(diagnose(noisy))
    assert "the symmetric part (S + S^T)/2 is" in advice_on(diagnose(noisy))
    skew = S + np.triu(np.ones(S.shape), 1) - np.tril(np.ones(S.shape), -1)
    assert "the symmetric part (S + S^T)/2 is positive semidefinite" in advice_on(diagnose(skew))

    assert "C and epsilon" not in plain
    assert "absolute similarity is 0.001: the values of C and epsilon" in advice_on(diagnose(S / 1000))
    assert "divide all similarities by 1e+06" in advice_on(diagnose(-S * 1e6))

    ratings = np.random.default_rng(0).integers(1, 8, S.shape)
    np.fill_diagonal(ratings, 7)
    assert diagnose(ratings).near_duplicates == 0  # many pairs have the rating of a sample with itself
    assert "nearly the same" not in advice_on(diagnose(ratings))
    few = np.repeat(np.arange(8), 8)
    noise = 1e-6 * np.random.default_rng(0).normal(size=(64, 64))
    assert "only 8 different ones are left, too few for folds" in advice_on(diagnose(S[np.ix_(few, few)] + noise))

    low = S.copy()
    low[np.arange(15), np.arange(15)] = 0.01
    assert "self-similarity is not maximal for 25% of the samples" in advice_on(diagnose(low))

    copies = np.r_[np.arange(60), 0, 0]
    assert "2 samples repeat the row of an earlier one" in advice_on(diagnose(S[np.ix_(copies, copies)]))
    assert "1 sample repeats" in advice_on(diagnose(S[np.ix_(copies[:-1], copies[:-1])]))

    S[S < 0.4] = 0
    assert "a SciPy CSR matrix takes less memory" in advice_on(diagnose(S))
    assert "absent entries count as the similarity 0" in advice_on(diagnose(sparse.csr_matrix(S)))


def test_advice_on_neighbours():
    X = np.random.default_rng(0).normal(size=(150, 100))
    hubs = diagnose(-np.linalg.norm(X[:, None] - X[None], axis=2) + 100)
    assert hubs.hubness > 1.4
    assert "there are hubs, samples among the 10 nearest neighbours" in advice_on(hubs)
    tied = diagnose(np.eye(30))
    assert tied.neighbor_ties == 1
    assert "are equally similar, and share the last places" in advice_on(tied)
    assert "hubs" not in advice_on(tied)
    random = np.random.default_rng(0).uniform(size=(40, 40))
    assert "max S - S is not a metric" in advice_on(diagnose(random))
    assert "the dissimilarity is not a metric" in advice_on(diagnose(random, dissimilarity="exp"))


def test_advice_on_labels():
    S, y = blobs()
    words = "the error of the nearest neighbour is 1.7%, and that of always predicting the largest class is 67%"
    assert words in advice_on(diagnose(S, y))
    assert "one class only" in advice_on(diagnose(S, np.zeros(60)))
    few = advice_on(diagnose(S, ["a"] * 3 + ["b"] * 57))
    assert "fewer than 5 samples in class a: some folds of a cross-validation will have none of it" in few
    many = advice_on(diagnose(S, np.arange(60)))
    assert "fewer than 5 samples in 60 classes (0, 1, 2, ...)" in many
    assert "the nearest neighbour alone is not informative about the classes" in many
    halves = np.where(np.arange(60) < 30, "left", "right")
    loose = advice_on(diagnose(np.where(halves[:, None] == halves[None], 0.1, 0.9) + np.eye(60), halves))
    assert "2 classes (left, right) are on average no more similar to their own class than to others" in loose
