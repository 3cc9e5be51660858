"""``--show``: samples are shown by what people know, in the report and by ``inspect``."""

import numpy as np
import pytest

from tests.cli.command import done, refused, write_table

TITLES = [f"picture <{i}>" for i in range(20)]


@pytest.fixture
def files(tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    y = np.arange(20) % 2
    S = 2.0 * (y[:, None] == y) + rng.normal(0, 1, (20, 20))
    names = [f"s{i}" for i in range(20)]
    write_table(tmp_path / "S.csv", names, names, S)
    rows = [f"{name},{'ab'[own]},{title}\n" for name, own, title in zip(names, y, TITLES)]
    (tmp_path / "y.csv").write_text("id,kind,title\n" + "".join(rows[::-1]))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_titles_stand_beside_the_ids(files):
    words = ("S.csv", "--labels", "y.csv", "--label-column", "kind", "--show", "title")
    shown = done("inspect", *words).stdout
    assert "Most asymmetric pairs" in shown
    assert "picture <" in shown.partition("Most asymmetric pairs")[2]
    done("report", *words, "--methods", "k-nn", "-o", "r.html", "--quiet")
    page = (files / "r.html").read_text()
    assert "picture &lt;3&gt; (s3)" in page or "picture \\u003c3\\u003e (s3)" in page
    assert "picture <" not in page
    assert all(f'id="{part}"' in page for part in ("map", "asymmetry", "map-readout"))
    assert "--method k-nn" in page
    assert "KNNClassifier" not in page.partition('id="map"')[0]


def test_texts_are_shown_themselves(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    words = ["anna", "anne", "hanna", "otto", "ottilie", "lotto", "annika", "otmar"]
    (tmp_path / "w.txt").write_text("\n".join(words) + "\n")
    (tmp_path / "y.txt").write_text("\n".join("abab"[w.startswith("o")] for w in words) + "\n")
    rows = ("report", "w.txt", "--labels", "y.txt", "--similarity", "levenshtein", "--dissimilarity", "max-minus")
    done(*rows, "--methods", "k-nn", "-o", "r.html", "--quiet")
    page = (tmp_path / "r.html").read_text()
    assert '"names":["anna","anne"' in page


def test_what_is_refused(files):
    words = ("inspect", "S.csv", "--labels", "y.csv", "--label-column", "kind")
    assert "has no column 'name'; its columns are 'id', 'kind', 'title'" in refused(*words, "--show", "name")
    (files / "few.csv").write_text("id,kind,title\ns0,a,x\ns1,b,y\n")
    assert "--show names a column of a file" in refused("inspect", "--dataset", "patrol", "--show", "title")
