"""Tables of raw objects are read by the names of their columns, in every command, and parameters by their types."""

import csv
import json
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_iris

from similitude import load_model
from similitude.datasets import load_objects
from similitude.similarities.documents import TfidfCosine
from similitude.similarities.registry import names, resolve
from tests.cli.command import done, read_table, refused

N = 30
RNG = np.random.default_rng(0)
LETTERS = {"north": "brkn", "south": "aeiou"}
BY_NAME = ("--object", "surname", "--label", "region")


def surname(region):
    return "".join(RNG.choice(list(LETTERS[region] * 4 + "t"), 7))


@pytest.fixture(scope="module")
def rows():
    """Surnames with a key, a place that is not used, and their region, which two of them lack."""
    regions = [*(list(LETTERS) * (N // 2)), "", ""]
    return [[f"k{i}", surname(region or "north"), "a, b; c", region] for i, region in enumerate(regions)]


HEAD = ["person_id", "surname", "place", "region"]


@pytest.fixture(params=["csv", "tsv", "semicolons", "parquet"])
def table(request, rows, tmp_path, monkeypatch):
    """The name of the file with the same table in one of the forms."""
    monkeypatch.chdir(tmp_path)
    if request.param == "parquet":
        pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
        columns = [[cell or None for cell in column] for column in zip(*rows)]
        pq.write_table(pa.table(dict(zip(HEAD, columns))), "t.parquet")
        return "t.parquet"
    name = {"csv": "t.csv", "tsv": "t.tsv", "semicolons": "t.csv"}[request.param]
    with open(name, "w", newline="") as file:
        delimiter = {"csv": ",", "tsv": "\t", "semicolons": ";"}[request.param]
        csv.writer(file, delimiter=delimiter).writerows([HEAD, *rows])
    return name


def test_every_form_of_a_table_gives_the_same_samples(table, rows):
    with pytest.warns(UserWarning, match="2 samples have no label and are left out: 'k30', 'k31'"):
        found = load_objects(table, objects="strings", object_column="surname", label_column="region")
    assert found.data == [row[1] for row in rows[:N]]
    assert found.y.tolist() == [row[3] for row in rows[:N]]
    assert found.ids.tolist() == [row[0] for row in rows[:N]]
    assert found.left_out == ["k30", "k31"]
    assert found.columns["path"].roles == {"ids": [0], "objects": [1], "labels": [3], "groups": [], "not used": [2]}


def test_every_command_reads_a_table_by_its_names(table, rows):
    options = (table, *BY_NAME, "--similarity", "levenshtein")
    said = done("fit", *options, "--method", "k-nn", "-o", "m.model").stderr
    assert "ids: column 1 (person_id); objects: column 2 (surname); labels: column 4 (region)" in said
    assert "2 samples have no label and are left out" in said
    done("predict", "m.model", table, "-o", "out.csv")  # the model remembers the name of the objects
    out = read_table(Path("out.csv"))
    assert [row[0] for row in out[1:]] == [row[0] for row in rows]
    assert [row[1] for row in out[1 : N + 1]] == [row[3] for row in rows[:N]]
    done("predict", "m.model", table, "--object", "2", "--header", "yes", "-o", "again.csv")
    assert read_table(Path("again.csv")) == out
    assert f"of {N} samples" in done("inspect", *options).stdout
    assert json.loads(done("compare", *options, "--methods", "k-nn", "--folds", "3", "--json").stdout)
    done("pairwise", table, "--object", "surname", "--similarity", "levenshtein", "-o", "D.csv")
    assert len(read_table(Path("D.csv"))) == len(rows) + 1
    done("report", *options, "--methods", "k-nn", "-o", "page.html")
    code = Path("page.html").read_text(encoding="utf-8")
    assert "object_column=" in code
    assert "label_column=" in code


def test_a_table_of_numbers_has_its_labels_in_a_column(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    X, y = load_iris(return_X_y=True)
    with open("iris.csv", "w", newline="") as file:
        csv.writer(file).writerows([["a", "b", "c", "d", "kind"], *([*x, f"kind {k}"] for x, k in zip(X.tolist(), y))])
    found = load_objects("iris.csv", objects="numbers", label_column="kind")
    np.testing.assert_array_equal(found.data, X)
    done("fit", "iris.csv", "--label", "kind", "--similarity", "rbf", "--method", "k-nn", "-o", "m.model")
    done("predict", "m.model", "iris.csv", "-o", "out.csv")
    assert np.mean([row[0] == f"kind {k}" for row, k in zip(read_table(Path("out.csv"))[1:], y)]) > 0.9
    two = load_objects("iris.csv", objects="numbers", object_column=["d", "a"], label_column="kind")
    np.testing.assert_array_equal(two.data, X[:, [3, 0]])


def test_messages_name_the_columns(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "names.csv").write_text("id,name,language\n1,Rossi,Italian\n2,Bianchi,Italian\n3,Dubois,French\n")
    fit = ("fit", "names.csv", "--similarity", "levenshtein", "-o", "m.model")
    assert "--object name --label language." in refused(*fit)
    assert "--object name --label language (" in refused(*fit, "--labels", "names.csv")
    assert "has 2 columns of text, 'name', 'language'; one is needed" in refused(*fit, "--labels", "names.csv")
    assert "there is no column 'tongue'; --label (label_column) must be one of 'id', 'name', 'language'" in refused(
        *fit, "--object", "name", "--label", "tongue"
    )
    assert "say whether the first line is a header" in refused(*fit, "--object", "2", "--label", "3")
    assert "--object names a column of raw objects, whose similarity must also be given" in refused(
        "fit", "names.csv", "--object", "name", "--labels", "names.csv", "-o", "m.model"
    )


def test_parameters_have_the_types_of_the_registry(tmp_path, monkeypatch):
    from similitude.cli.parameters import read_parameters

    for name in names():
        function = resolve(name).function
        known = function.get_params(deep=False) if hasattr(function, "get_params") else {}
        # The default of each parameter, as text, is read as the same value.
        texts = {key: ",".join(map(str, own)) if isinstance(own, tuple) else str(own) for key, own in known.items()}
        found = read_parameters(name, function, [f"{key}={text}" for key, text in texts.items()])
        assert {key: (type(own), own) for key, own in found.items()} == {k: (type(v), v) for k, v in known.items()}
    found = read_parameters("tfidf-cosine", TfidfCosine(), ["ngram_range=(1, 3)", "stop_words=the,a", "min_df=2"])
    assert found == {"ngram_range": (1, 3), "stop_words": ["the", "a"], "min_df": 2}
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.csv").write_text("name,kind\n" + "".join(f"{surname(k)},{k}\n" for k in list(LETTERS) * 8))
    fit = ("fit", "t.csv", "--object", "name", "--label", "kind", "--similarity", "tfidf-cosine", "-o", "m.model")
    done(*fit, "--param", "analyzer=char", "--param", "ngram_range=1,3", "--method", "k-nn")
    assert load_model("m.model").members_
    assert "must be 2 whole numbers with commas between them, as in --param ngram_range=1,3" in refused(
        *fit, "--param", "ngram_range=3"
    )
    assert "Did you mean 'ngram_range'?" in refused(*fit, "--param", "ngramrange=1,3")
