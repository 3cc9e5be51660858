"""Ids that look like anything else are written such that they are read again, or refused."""

import random

import numpy as np
import pytest
from scipy import sparse

from similitude.datasets import load_proximity, save_proximity

WORDS = [
    "id", "ID", "ids", "#id", "na", "NA", "nan", "None", "-", "--", "?", ".", "inf", "-inf", "True", "source", "target",
    "weight", "query", "score", "from", "to", "__index_level_0__", "column_ids", "1e10", "1abc", "2e5", "0x10", "1_000",
    "+5", "007", "0", "1", "2", "3", "1.5", "1,5", "²", "½", "#x", "# x", "#", "%%MatrixMarket", ">x",
    "PAR1", "\ufeffa",
    '"', '""', 'a"b', '"a"', "'a'", "a,b", ";", "a;b;c;d", "a\tb", "a\t\tb\tc", "a b", "a  b", "=1+1", "@x", "(a:b)",
    "é", "e\u0301", "\u200b", "\U0001f600", "\x7f", "\x01", "\\", "\\n",
]  # fmt: skip
REFUSED = ["", " ", " a", "a ", "\xa0a", "a\t", "\n", "a\n", "a\x00", "\ud800", "x" * 200_000]
SEVERAL_LINES = ["a\nb", "a\rb", "a\r\nb", "a\x0bb", "a\x1cb", "a\x85b", "a\u2028b", '"\n"']
LETTERS = "aAb01239.,;:|_-+eE#\"'%>?=()[]{}\\/ \t\r\n\x85\xa0é\u0130\u200b\ufeff\U0001f600"

FORMS = [
    ("S.csv", None),
    ("S.tsv", None),
    ("S.txt", None),
    ("S.lsmat", None),
    ("S.csv", "edges"),
    ("S.tsv", "edges"),
    ("S.edges", None),
    ("S.csv", "lower"),
    ("S.tsv", "upper"),
    ("S.txt", "condensed"),
    ("S.phy", None),
    ("S.phy", "phylip-lower"),
    ("S.txt", "phylip"),
    ("S.csv", "phylip-lower"),
    ("S.parquet", None),
    ("S.parquet", "edges"),
    ("S.npz", None),
    ("S.npy", None),
    ("S.npy", "condensed"),
    ("S.mat", None),
    ("S.mtx", None),
]


def hostile_ids(n, seed):
    """Return ids that look like numbers, headings, comments and damage, several times each."""
    rng = random.Random(seed)
    kinds = (
        lambda: rng.choice(WORDS),
        lambda: rng.choice(SEVERAL_LINES + REFUSED[:-1]),
        lambda: "".join(rng.choices(LETTERS, k=rng.randint(1, 6))),
        lambda: str(rng.randint(0, 300)),
        lambda: f"{rng.randint(1, 9)}{rng.choice('eEabx')}{rng.randint(0, 99)}",
        lambda: repr(rng.uniform(-2, 2))[: rng.randint(1, 6)],
    )
    return [rng.choice(kinds)() for _ in range(n)]


def can_be_held(name, path, form):
    if not name or name != name.strip() or "\x00" in name or any("\ud800" <= c <= "\udfff" for c in name):
        return False
    if path not in ("S.npz", "S.parquet") and len(name.splitlines()) != 1:
        return False
    return not ("phy" in path or "phylip" in str(form)) or (
        len(name.split()) == 1 and not set(name) & set('",;') and name[0] != "#"
    )


def batches(ids, rng):
    """Yield the ids in pieces of 2 to 60, each without those that occur twice."""
    while ids:
        size = rng.choice((2, 30, 60))
        yield list(dict.fromkeys(ids[:size]))
        ids = ids[size:]


@pytest.mark.untraced
@pytest.mark.parametrize(("name", "form"), FORMS)
def test_ten_thousand_hostile_ids(tmp_path, name, form):
    if "parquet" in name:
        pytest.importorskip("pyarrow")
    path, rng = tmp_path / name, random.Random(1)
    ids = hostile_ids(10_000, 0)
    read = 0
    for batch in batches(ids, rng):
        good = [text for text in batch if can_be_held(text, name, form)]
        bad = [text for text in batch if text not in good]
        if bad:
            with pytest.raises(
                ValueError, match=r"the id .* (is empty|begins or ends|is not one|cannot be|has blanks)"
            ):
                save_proximity(path, np.eye(len(batch)), ids=batch, form=form)
        if len(good) < 2:
            continue
        D = np.random.default_rng(len(good)).uniform(0.1, 1, (len(good), len(good)))
        D = D + D.T - np.diag(2 * np.diagonal(D))
        save_proximity(path, D, ids=good, form=form)
        named = form if form == "condensed" else None  # one number is a table of one sample, too
        data = load_proximity(path, orientation="dissimilarity", form=named)
        order = [data.ids.tolist().index(text) for text in good]
        assert sorted(order) == list(range(len(good)))
        assert form == "edges" or name == "S.edges" or data.ids.tolist() == good
        S = data.S.toarray() if sparse.issparse(data.S) else data.S
        np.testing.assert_array_equal(S[np.ix_(order, order)], D)
        read += len(good)
    assert read > 4_000


@pytest.mark.parametrize("name", ["S.csv", "S.lsmat", "S.npz", "S.parquet"])
def test_hostile_ids_of_new_samples(tmp_path, name):
    """Rows and columns are other samples."""
    if "parquet" in name:
        pytest.importorskip("pyarrow")
    rng = random.Random(2)
    for batch in batches(hostile_ids(2_000, 3), rng):
        good = [text for text in batch if can_be_held(text, name, None)]
        rows, columns = good[: len(good) // 3], good[len(good) // 3 :]
        if not rows:
            continue
        S = np.random.default_rng(0).normal(size=(len(rows), len(columns)))
        save_proximity(tmp_path / name, S, ids=rows, column_ids=columns)
        data = load_proximity(tmp_path / name, square=False)
        assert (data.ids.tolist(), data.column_ids.tolist()) == (rows, columns)
        np.testing.assert_array_equal(data.S, S)


@pytest.mark.parametrize("text", REFUSED)
def test_ids_that_no_file_holds(tmp_path, text):
    for name, form in FORMS:
        with pytest.raises(ValueError, match=r"S\..*: the id"):
            save_proximity(tmp_path / name, np.eye(2), ids=["b", text], form=form)
    assert list(tmp_path.iterdir()) == []


def test_ids_that_do_not_name_the_samples(tmp_path):
    with pytest.raises(ValueError, match=r"S.edges: the id 'a' appears twice \(rows 1 and 3\)"):
        save_proximity(tmp_path / "S.edges", np.eye(3), ids=["a", "b", "a"])
    with pytest.raises(ValueError, match=r"ids: there are 2 for a matrix of shape \(3, 3\); 3 are needed"):
        save_proximity(tmp_path / "S.csv", np.eye(3), ids=["a", "b"])
    for name, columns in (("S.csv", ["1", "2", "x"]), ("S.csv", ["#a", "b", "c"])):
        with pytest.raises(ValueError, match="recognised only beside ids of the rows; also pass ids"):
            save_proximity(tmp_path / name, np.ones((2, 3)), column_ids=columns)
    assert list(tmp_path.iterdir()) == []
    save_proximity(tmp_path / "S.csv", np.eye(3), column_ids=["101", "102", "x103"])
    assert load_proximity(tmp_path / "S.csv").ids.tolist() == ["101", "102", "x103"]
