"""``similitude fit --pairs``: at most so many evaluations of a similarity."""

import json

import pytest

from tests.auto.test_comparing import words
from tests.cli.command import done, read_table, refused


@pytest.fixture
def folder(tmp_path, monkeypatch):
    X, y = words(90)
    (tmp_path / "words.txt").write_text("\n".join(X) + "\n")
    (tmp_path / "y.txt").write_text("\n".join(f"c{label}" for label in y) + "\n")
    (tmp_path / "new.txt").write_text("\n".join(words(8, seed=2)[0]) + "\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


FIT = ("fit", "words.txt", "--labels", "y.txt", "--similarity", "levenshtein", "--method", "k-nn")


def test_pairs_are_kept_and_the_model_predicts(folder):
    shown = done(*FIT, "--pairs", "1.5e3", "--pairs-file", "kept.pairs", "-o", "m.model").stdout
    assert "pairs       1,500 of 1,500 pairs evaluated, 37.5% of all" in shown
    size = (folder / "kept.pairs").stat().st_size
    assert size > 16 * 1500
    found = json.loads(done(*FIT, "--pairs", 1500, "--pairs-file", "kept.pairs", "-o", "n.model", "--json").stdout)
    assert found["pairs"]["n_pairs"] == 1500
    assert (folder / "kept.pairs").stat().st_size == size
    assert (folder / "m.model").read_bytes() == (folder / "n.model").read_bytes()
    done("predict", "m.model", "new.txt", "-o", "labels.csv")
    table = read_table(folder / "labels.csv")
    assert len(table) == 9
    assert {row[table[0].index("label")] for row in table[1:]} <= {f"c{i}" for i in range(6)}


def test_all_pairs_are_kept_without_a_limit(folder):
    kept = ("--pairs-file", "kept.pairs", "--quiet")
    done(*FIT, *kept, "-o", "m.model")
    size = (folder / "kept.pairs").stat().st_size
    assert size > 16 * 90 * 91 / 2
    done(*FIT, *kept, "-o", "n.model")
    done(*FIT, "-o", "plain.model", "--quiet")
    assert (folder / "kept.pairs").stat().st_size == size
    for name in ("n.model", "plain.model"):
        assert (folder / name).read_bytes() == (folder / "m.model").read_bytes()


def test_what_is_refused(folder):
    (folder / "S.csv").write_text("1,0\n0,1\n")
    matrix = ("fit", "S.csv", "--labels", "y.txt", "--pairs-file", "kept.pairs", "-o", "m.model")
    assert "--pairs-file keeps the pairs that --similarity evaluates" in refused(*matrix)
    assert "at least 4 evaluations for each of the 90 objects" in refused(*FIT, "--pairs", 20, "-o", "m.model")
    assert "no Dask scheduler answers at tcp://127.0.0.1:9" in refused(
        *FIT, "--scheduler", "tcp://127.0.0.1:9", "-o", "m.model"
    )
    assert not list(folder.glob("m.model"))
