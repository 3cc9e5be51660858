"""The commands print which columns they read, the model remembers them, and streams are read as files are."""

import json
import shlex
import subprocess
import sys

import numpy as np
import pytest

from similitude import load_model
from similitude.datasets import save_proximity
from tests.cli.command import done, read_table, refused, run
from tests.systems import needs_posix

N = 24
RNG = np.random.default_rng(0)
KINDS = ["ab", "xyz"]


def word(kind):
    return "".join(RNG.choice(list(KINDS[kind] * 4 + "q"), 8))


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Words with an id and a kind, and a table of new words and their kinds."""
    monkeypatch.chdir(tmp_path)
    rows = [(f"w{i}", word(i % 2), "vw"[i % 2]) for i in range(N + 6)]
    (tmp_path / "words.csv").write_text("id,word\n" + "".join(f"{name},{text}\n" for name, text, _ in rows[:N]))
    (tmp_path / "kinds.csv").write_text("id,kind\n" + "".join(f"{name},{kind}\n" for name, _, kind in rows[:N]))
    (tmp_path / "new.csv").write_text("word,kind\n" + "".join(f"{text},{kind}\n" for _, text, kind in rows[N:]))
    (tmp_path / "list.csv").write_text("mot\n" + "".join(f"{text}\n" for _, text, _ in rows[:N]))
    (tmp_path / "genre.csv").write_text("genre\n" + "".join(f"{kind}\n" for _, _, kind in rows[:N]))
    return tmp_path


FIT = ("fit", "words.csv", "--labels", "kinds.csv", "--similarity", "levenshtein", "--method", "k-nn", "-o", "m.model")
LISTS = ("fit", "list.csv", "--labels", "genre.csv", *FIT[4:])


def test_the_model_remembers_the_column_of_its_objects(folder):
    told = done(*FIT).stderr.splitlines()
    assert told == [
        "similitude: words.csv: the first line is a header; ids: column 1 (id); objects: column 2 (word).",
        "similitude: kinds.csv: the first line is a header; ids: column 1 (id); labels: column 2 (kind).",
    ]
    assert load_model("m.model", return_info=True)[1]["notes"]["columns"] == {"objects": ["word"]}
    told = done("predict", "m.model", "new.csv", "-o", "out.csv").stderr
    assert "new.csv: the first line is a header; objects: column 1 (word); not used: column 2 (kind)." in told
    kinds = [row[1] for row in read_table(folder / "new.csv")[1:]]
    assert [row[0] for row in read_table(folder / "out.csv")[1:]] == kinds
    text = (folder / "new.csv").read_text()
    (folder / "new.csv").write_text(text.replace("word", "text", 1))
    message = refused("predict", "m.model", "new.csv", "-o", "out.csv")
    assert (
        "new.csv: the first line has no column 'word', on which the model was fitted; it has 'text', 'kind'" in message
    )
    (folder / "one.csv").write_text("".join(f"{line.split(',')[0]}\n" for line in text.splitlines()[1:]))
    assert "has no column 'word'" in refused("predict", "m.model", "one.csv", "-o", "out.csv")
    done("predict", "m.model", "one.csv", "-o", "out.csv", "--header", "no")
    assert [row[0] for row in read_table(folder / "out.csv")[1:]] == kinds
    assert "has 2 columns of text" in refused("predict", "m.model", "new.csv", "-o", "out.csv", "--header", "no")


def test_the_model_remembers_columns_of_numbers_and_words(folder):
    numbers = RNG.normal(size=(N, 2)) + 5 * (np.arange(N) % 2)[:, None]
    with open("x.csv", "w") as file:
        file.write("id,size,age\n" + "".join(f"w{i},{a!r},{b!r}\n" for i, (a, b) in enumerate(numbers.tolist())))
    with open("rows.csv", "w") as file:
        file.write("age,name,size\n" + "".join(f"{b!r},7,{a!r}\n" for a, b in numbers.tolist()))
    done("fit", "x.csv", *FIT[2:4], "--similarity", "euclidean", *FIT[6:])
    expected = read_labels(folder, "x.csv")
    told = done("predict", "m.model", "rows.csv", "-o", "out.csv").stderr
    assert "objects: columns 3 (size), 1 (age); not used: column 2 (name)." in told
    assert [row[0] for row in read_table(folder / "out.csv")[1:]] == expected
    (folder / "rows.csv").write_text("age,length\n1,2\n")
    assert "has no column 'size'" in refused("predict", "m.model", "rows.csv", "-o", "out.csv")
    colours = [("red" if i % 2 else "blue", "round" if i % 3 else "flat") for i in range(N)]
    (folder / "c.csv").write_text("id,colour,shape\n" + "".join(f"w{i},{a},{b}\n" for i, (a, b) in enumerate(colours)))
    (folder / "d.csv").write_text("shape,x,colour\n" + "".join(f"{b},red,{a}\n" for a, b in colours))
    done("fit", "c.csv", *FIT[2:4], "--similarity", "counting", *FIT[6:])
    expected = read_labels(folder, "c.csv")
    done("predict", "m.model", "d.csv", "-o", "out.csv")
    assert [row[0] for row in read_table(folder / "out.csv")[1:]] == expected


def read_labels(folder, rows):
    done("predict", "m.model", rows, "-o", "expected.csv")
    return [row[1] for row in read_table(folder / "expected.csv")[1:]]


def test_the_model_remembers_the_columns_of_edges(folder):
    def edges(name, queries, header):
        with open(name, "w") as file:
            file.write(f"{header}\n" if header else "")
            for i in queries:
                for j in range(N):
                    score = 5.0 * (i % 2 == j % 2) + RNG.random()
                    file.write(f"w{i}\tw{j}\t{9 - score}\t{score}\n")

    edges("edges.tsv", range(N), "one\tother\tdistance\tclose")
    edges("new.tsv", range(N, N + 6), "one\tother\tdistance\tclose")
    edges("renamed.tsv", range(N, N + 6), "one\tother\tdistance\tnear")
    edges("bare.tsv", range(N, N + 6), "")
    told = done("fit", "edges.tsv", *FIT[2:4], *FIT[6:], "--score", "close").stderr
    assert (
        "edges.tsv: the first line is a header; queries: column 1 (one); targets: column 2 (other); scores: column 4 "
        "(close); not used: column 3 (distance)." in told
    )
    told = done("predict", "m.model", "new.tsv", "-o", "out.csv").stderr
    assert "scores: column 4 (close)" in told
    assert [row[1] for row in read_table(folder / "out.csv")[1:]] == ["v", "w"] * 3
    assert "there is no column 'close'; score (--score) must be" in refused(
        "predict", "m.model", "renamed.tsv", "-o", "out.csv"
    )
    assert "there is no column 'one'" in refused("predict", "m.model", "bare.tsv", "-o", "out.csv")
    places = ("--query", "1", "--target", "2", "--score", "4")
    done("predict", "m.model", "bare.tsv", "-o", "out.csv", *places)
    assert [row[1] for row in read_table(folder / "out.csv")[1:]] == ["v", "w"] * 3


def test_headers_do_not_become_data(folder):
    assert "genre.csv: the first label, 'genre', may be a heading, and the first line of list.csv" in refused(*LISTS)
    told = done(*LISTS, "--header", "yes")
    assert "list.csv: the first line is a header; objects: column 1 (mot)." in told.stderr
    assert "genre.csv: the first line is a header; labels: column 1 (genre)." in told.stderr
    assert "not tested" not in told.stdout
    assert load_model("m.model").classes_.tolist() == ["v", "w"]
    assert "not tested  genre" in done(*LISTS, "--header", "no").stdout
    result = done("pairwise", "list.csv", "--similarity", "levenshtein", "-o", "D.npy", "--header", "yes")
    assert f"{N} x {N} dissimilarities" in result.stdout
    assert "list.csv: the first line is a header; objects: column 1 (mot)." in result.stderr
    done("report", *LISTS[1:6], "--methods", "k-nn", "--header", "yes", "-o", "page.html")
    assert "header=True" in (folder / "page.html").read_text(encoding="utf-8")


def test_columns_of_conversions_are_printed(folder):
    (folder / "S.csv").write_text("id,source,target\nsource,1,0.5\ntarget,0.5,1\n")
    told = done("convert", "S.csv", "T.csv")
    assert told.stderr == "similitude: S.csv: the first line is a header; ids: column 1 (id).\n"
    assert read_table(folder / "T.csv") == [
        ["id", "source", "target"],
        ["source", "1.0", "0.5"],
        ["target", "0.5", "1.0"],
    ]


def test_rows_to_samples_that_are_called_like_columns_of_edges(folder):
    names = ["source", "target", "weight", *(f"w{i}" for i in range(3, N))]
    x = np.arange(N) % 2 * 8 + RNG.normal(size=N)
    save_proximity("S.csv", -np.abs(x[:, None] - x), ids=names)
    save_proximity("new.tsv", np.round(-np.abs(np.array([[0], [8]]) - x)), ids=["n1", "n2"], column_ids=names)
    (folder / "y.csv").write_text("".join(f"{name},{'vw'[i % 2]}\n" for i, name in enumerate(names)))
    done("fit", "S.csv", "--labels", "y.csv", "--method", "k-nn", "-o", "m.model")
    done("predict", "m.model", "new.tsv", "-o", "out.csv")
    assert [row[:2] for row in read_table(folder / "out.csv")[1:]] == [["n1", "v"], ["n2", "w"]]


@needs_posix
def test_streams(folder):
    shell = f"{shlex.quote(sys.executable)} -c 'from similitude_command import main; main()'"
    for command in (
        f"{shell} fit <(cat words.csv) --labels <(tail -n +2 kinds.csv) {' '.join(FIT[4:])}",
        f"cat words.csv | {shell} fit - --labels kinds.csv {' '.join(FIT[4:])}",
    ):
        result = subprocess.run(["bash", "-c", command], capture_output=True, encoding="utf-8")
        assert result.returncode == 0, result.stderr
        assert "ids: column 1 (id); objects: column 2 (word)." in result.stderr
    expected = read_labels(folder, "words.csv")
    words = (folder / "words.csv").read_text()
    result = run("predict", "m.model", "-", "-o", "out.csv", "--json", input=words)
    assert json.loads(result.stdout)["rows"] == N
    assert [row[1] for row in read_table(folder / "out.csv")[1:]] == expected
    result = run("pairwise", "-", "--similarity", "levenshtein", "--against", "words.csv", "-o", "D.csv", input=words)
    assert result.exit_code == 0, result.output
    result = run("convert", "-", "E.csv", input=(folder / "D.csv").read_text())
    assert (folder / "E.csv").read_bytes() == (folder / "D.csv").read_bytes()
    assert "--labels: - is also FILE" in refused("inspect", "-", "--labels", "-")
    assert "--against: - is also OBJECTS" in refused(
        "pairwise", "-", "--against", "-", "--similarity", "levenshtein", "-o", "F.csv"
    )
