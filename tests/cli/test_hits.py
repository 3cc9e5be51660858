"""From hits and sequences to predictions on the command line, and conversions between forms."""

import csv
import gzip
import json

import numpy as np
import pytest

from similitude import Proximities, load_model
from similitude.cli import answers, rows
from similitude.datasets import load_proximity
from similitude.proximity.files import edge_files
from tests.cli.command import done, refused

N, NEW, CLASSES = 36, 6, 3


def hit(query, target, score):
    return f"{query}\t{target}\t50.0\t100\t50\t0\t1\t100\t1\t100\t{10 ** (-score / 10):.2e}\t{score:.1f}\n"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Hits of proteins of three families, in which most pairs of a family have one, and families.tsv."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)

    def write(name, queries, own):
        with open(name, "w") as file:
            for i in queries:
                file.write(hit(f"p{i}", f"p{i}", 300) if own else "")
                near = [j for j in range(N) if j != i and (i % CLASSES == j % CLASSES or rng.random() < 0.1)]
                for j in rng.permutation(near):
                    file.write(hit(f"p{i}", f"p{j}", rng.uniform(80, 200) if i % CLASSES == j % CLASSES else 30))

    write("hits.m8", rng.permutation(N), own=True)
    write("new.m8", range(N, N + NEW), own=False)
    with open("families.tsv", "w") as file:
        file.write("length\tfamily\taccession\n")
        file.writelines(f"{100 + i}\tf{i % CLASSES}\tp{i}\n" for i in range(N - 1))
    return tmp_path


def labels(path, delimiter="\t"):
    with open(path, newline="") as file:
        return {row["id"]: row["label"] for row in csv.DictReader(file, delimiter=delimiter)}


EXPECTED = {f"p{i}": f"f{i % CLASSES}" for i in range(N, N + NEW)}
FIT = ("fit", "hits.m8", "--labels", "families.tsv", "--label-column", "family", "--method", "k-nn", "-o", "m.model")


def test_a_fitted_model_is_used_in_python_on_files(folder):
    done(*FIT)
    model = load_model("m.model")
    rows = load_proximity("new.m8", columns=model.ids_)
    assert dict(zip(rows.ids, model.predict(rows.S))) == EXPECTED
    backward = Proximities(rows.S[:, ::-1], column_ids=rows.column_ids[::-1])
    assert model.predict(backward).tolist() == model.predict(rows.S).tolist()


@pytest.mark.parametrize(
    "options",
    [
        (),
        ("--score", "evalue", "--direction", "max"),
        ("--missing", "unknown"),
        ("--missing", "-1", "--duplicates", "mean"),
    ],
)
def test_from_hits_to_predictions(folder, options):
    fitted = done(*FIT, *options)
    assert "families.tsv: 1 samples have no label and are left out: 'p35'" in fitted.stderr
    assert "pairs without an edge is" in fitted.stderr
    told = done("predict", "m.model", "new.m8", "-o", "predictions.tsv")
    assert f"{NEW} rows: f0 2, f1 2, f2 2" in told.stdout
    assert labels("predictions.tsv") == EXPECTED
    assert "'p35'" not in told.stderr  # it is a target that is not a training sample


def test_absent_pairs_mean_what_they_meant_in_training(folder):
    done(*FIT, "--missing", "farthest")
    _, info = load_model("m.model", return_info=True)
    assert info["notes"]["reading"]["missing"] == 30
    assert "mean what they meant in training, 30" in refused(
        "predict", "m.model", "new.m8", "-o", "out.csv", "--missing", "0"
    )
    done("predict", "m.model", "new.m8", "-o", "edges.csv")
    rows = np.full((NEW, N - 1), 30.0)
    ids = info["ids"]
    for line in (folder / "new.m8").read_text().splitlines():
        query, target, *_, score = line.split()
        if target in ids:
            rows[int(query[1:]) - N, ids.index(target)] = float(score)
    np.save("rows.npy", rows)
    done("predict", "m.model", "rows.npy", "-o", "rows.csv")
    with open("edges.csv", newline="") as edges, open("rows.csv", newline="") as matrix:
        assert [row[1:-1] for row in csv.reader(edges)] == [row[:-1] for row in csv.reader(matrix)]


def test_normalised_hits_need_self_scores(folder):
    done(*FIT, "--normalise", "self", "--quiet")
    assert "6 of 6 have none: 'p36'" in refused("predict", "m.model", "new.m8", "-o", "out.csv")
    with open("new.m8", "a") as file:
        file.writelines(hit(f"p{i}", f"p{i}", 300) for i in range(N, N + NEW))
    done("predict", "m.model", "new.m8", "-o", "out.csv")
    assert labels("out.csv", ",") == EXPECTED


def test_new_hits_without_new_samples(folder):
    done(*FIT, "--quiet")
    assert "every query is a training sample" not in refused("predict", "m.model", "families.tsv", "-o", "out.csv")
    with open("old.m8", "w") as file:
        file.write(hit("p1", "p2", 50))
    assert "every query is a training sample" in refused("predict", "m.model", "old.m8", "-o", "out.csv")
    with open("far.m8", "w") as file:
        file.write(hit("x1", "x2", 50))
    assert "none of the 1 new samples has an edge" in refused("predict", "m.model", "far.m8", "-o", "out.csv")


def test_sequences_for_a_model_of_hits(folder):
    done(*FIT, "--quiet")
    fasta("new.fasta", 3, 1)
    message = refused("predict", "m.model", "new.fasta", "-o", "out.csv")
    assert "ROWS: new.fasta holds sequences, but the model was fitted on edges, such as hits of a search" in message


def test_edges_for_a_model_of_a_matrix(folder):
    done("convert", "hits.m8", "S.csv", "--quiet")
    done("fit", "S.csv", *FIT[2:], "--quiet")
    done("predict", "m.model", "new.m8", "-o", "out.csv", "--missing", "zero")
    assert labels("out.csv", ",") == EXPECTED
    done("convert", "hits.m8", "S.npy", "--quiet")
    (folder / "S.ids.txt").unlink()
    (folder / "y.txt").write_text("".join(f"f{i % 3}\n" for i in range(N)))
    done("fit", "S.npy", "--labels", "y.txt", "--method", "k-nn", "-o", "m.model", "--quiet")
    assert "does not know the ids of its training samples" in refused("predict", "m.model", "new.m8", "-o", "out.csv")


def test_inspect_counts_pairs(folder):
    with open("hits.m8", "a") as file:
        file.write(hit("alone", "alone", 300))
    pairs = json.loads(done("inspect", "hits.m8", "--json", "--quiet").stdout)["pairs"]
    S = load_proximity("hits.m8").S.toarray()
    np.fill_diagonal(S, 0)
    assert pairs["known"] == np.triu(S + S.T, 1).astype(bool).sum()
    assert (pairs["possible"], pairs["components"], pairs["lonely"]) == ((N + 1) * N // 2, 2, 1)
    assert "without a neighbour       1 samples" in done("inspect", "hits.m8", "--quiet").stdout


def test_distances_need_to_know_what_is_missing(folder):
    message = refused("inspect", "hits.m8", "--dissimilarity", "max-minus")
    assert "pairs have no edge, and so no distance" in message
    assert "--missing farthest" in message
    done("inspect", "hits.m8", "--dissimilarity", "max-minus", "--missing", "farthest", "--quiet")


@pytest.mark.parametrize("out", ["S.tsv.gz", "S.mtx", "S.npz", "S.edges"])
def test_convert(folder, out):
    result = done("convert", "hits.m8", out, "--direction", "max", "--json", "--quiet")
    assert json.loads(result.stdout)["rows"] == N
    done("convert", out, "back.csv", "--quiet")
    one, other = load_proximity("hits.m8", direction="max"), load_proximity("back.csv")
    order = [one.ids.tolist().index(name) for name in other.ids]
    np.testing.assert_array_equal(other.S, one.S.toarray()[np.ix_(order, order)])


def test_convert_refuses(folder):
    assert "give FILE, the file to read, and OUT" in refused("convert", "hits.m8")
    assert "the suffix .doc is not known" in refused("convert", "hits.m8", "S.doc", "--quiet")
    assert "is not symmetric" in refused("convert", "hits.m8", "S.csv", "--to", "lower", "--quiet")


PROTEINS = {"a": "MKTAYIAKQRQISFVKSHFSRQ", "b": "GSHMLEDPVWWNNCCYYHEELL", "c": "PPGFSPFRPLLIIVVAAWWKKD"}


def fasta(path, n, seed):
    rng = np.random.default_rng(seed)
    names = []
    with open(path, "w") as file:
        for i in range(n):
            kind = "abc"[i % 3]
            letters = list(PROTEINS[kind])
            for place in rng.integers(0, len(letters), 4):
                letters[place] = "ACDEFGHIKLMNPQRSTVWY"[rng.integers(20)]
            names.append(f"{kind}{seed}_{i}")
            file.write(f">{names[-1]} a protein\n{''.join(letters)}\n")
    return names


def test_from_sequences_to_predictions(folder):
    pytest.importorskip("parasail")
    names = fasta("seqs.fasta", 24, 0)
    new = fasta("new.fasta", 6, 1)
    (folder / "meta.tsv").write_text("id\tfamily\n" + "".join(f"{name}\t{name[0]}\n" for name in reversed(names)))
    assert "holds sequences; say how they are compared, such as --similarity smith-waterman" in refused(
        "fit", "seqs.fasta", "--labels", "meta.tsv", "-o", "m.model"
    )
    words = ("fit", "seqs.fasta", "--labels", "meta.tsv", "--similarity", "smith-waterman", "--method", "k-nn")
    fitted = done(*words, "-o", "m.model")
    assert "are not nucleotides: smith-waterman uses the scores of BLOSUM62" in fitted.stderr
    assert load_model("m.model").get_params()["similarity"].matrix == "BLOSUM62"
    done("predict", "m.model", "new.fasta", "-o", "out.tsv")
    assert labels("out.tsv") == {name: name[0] for name in new}
    done(*words, "--param", "matrix=PAM250", "--param", "gap_open=9", "--quiet", "-o", "m.model")
    similarity = load_model("m.model").get_params()["similarity"]
    assert (similarity.matrix, similarity.gap_open) == ("PAM250", 9)
    assert "smith-waterman has the parameters K, gap_extend" in refused(*words, "--param", "x=1", "-o", "m.model")
    assert "must have the form NAME=VALUE" in refused(*words, "--param", "matrix", "-o", "m.model")
    assert "--param sets parameters of --similarity" in refused("inspect", "hits.m8", "--param", "a=1", "--quiet")
    done("pairwise", "seqs.fasta", "--similarity", "smith-waterman", "-o", "S.npz", "--quiet")
    assert load_proximity("S.npz").ids.tolist() == names


def test_nucleotides_are_scored_as_such(folder):
    pytest.importorskip("parasail")
    (folder / "dna.fa").write_text(">a\nACGTNNACGT\n>b\nACGTRYACGT\n>c\nttttgggg\n")
    result = done("pairwise", "dna.fa", "--similarity", "smith-waterman", "-o", "S.csv")
    assert "nucleotides" not in result.stderr
    assert load_proximity("S.csv").S[2, 2] == 16


def in_parts(path, folder, kind):
    """Return the name of a copy of a list of hits in another form."""
    if kind == "gzip":
        (folder / "packed.m8.gz").write_bytes(gzip.compress((folder / path).read_bytes()))
        return "packed.m8.gz"
    if kind == "parquet":
        cells = [line.split("\t") for line in (folder / path).read_text().splitlines()]
        pa = pytest.importorskip("pyarrow")
        columns = {"query": [row[0] for row in cells], "target": [row[1] for row in cells]}
        table = pa.table({**columns, "bits": [float(row[11]) for row in cells]})
        pytest.importorskip("pyarrow.parquet").write_table(table, "packed.parquet", row_group_size=9)
        return "packed.parquet"
    return path


@pytest.mark.parametrize("kind", ["text", "gzip", "parquet"])
@pytest.mark.parametrize(
    ("options", "all_queries"), [((), False), (("--missing", "unknown"), True), (("--normalise", "self"), False)]
)
def test_queries_are_read_in_blocks(folder, monkeypatch, kind, options, all_queries):
    """Blocks of a few hits, and a few rows at a time, give the same table and summary as the whole file."""
    rng = np.random.default_rng(1)
    with open("new.m8", "w") as file:  # queries may be targets, too
        for i in rng.permutation(np.arange(N, N + 9)):
            file.write(hit(f"p{i}", f"p{i}", 300))
            for j in rng.permutation(N + 9)[:12]:
                file.write(hit(f"p{i}", f"p{j}", rng.uniform(80, 200) if i % CLASSES == j % CLASSES else 30))
    done(*FIT, *options, "--quiet")
    path = in_parts("new.m8", folder, kind)
    words = ["predict", "m.model", path, "-o", "whole.csv", "--confidence", "0.5", "--json"]
    words += ["--queries", "all.txt"] if all_queries else []
    if all_queries:
        order = [N + 3, 900, *(i for i in range(N + 8, N - 1, -1) if i != N + 3), 901]
        (folder / "all.txt").write_text("".join(f"p{i}\n" for i in order))
    whole = done(*words)
    for module, name, value in ((rows, "ROWS_BLOCK", 20), (answers, "_LARGEST", 6), (edge_files, "_BLOCK", 300)):
        monkeypatch.setattr(module, name, value)
    monkeypatch.setattr(edge_files, "_BATCH", 7)
    words[4] = "parts.csv"
    parts = done(*words)
    assert (folder / "parts.csv").read_text() == (folder / "whole.csv").read_text()
    assert parts.stdout == whole.stdout.replace("whole", "parts")
    assert sorted(parts.stderr.splitlines()) == sorted(whole.stderr.splitlines())


def test_a_query_in_several_places_of_a_large_file(folder, monkeypatch):
    done(*FIT, "--quiet")
    lines = (folder / "new.m8").read_text().splitlines(keepends=True)
    (folder / "new.m8").write_text("".join([*lines, lines[0]]))
    done("predict", "m.model", "new.m8", "-o", "out.csv")
    monkeypatch.setattr(rows, "ROWS_BLOCK", 20)
    monkeypatch.setattr(edge_files, "_BLOCK", 300)
    before = (folder / "out.csv").read_bytes()
    said = refused("predict", "m.model", "new.m8", "-o", "out.csv")
    assert f"the edges of 'p{N}' are in several places" in said
    assert "sort -s -k1,1" in said
    assert (folder / "out.csv").read_bytes() == before


def test_the_best_hits_of_each_query(folder, monkeypatch):
    fitted = done(*FIT, "--top", "5", "--missing", "unknown")
    assert "hits were read and" in fitted.stderr
    assert "the best 5 of each query" in fitted.stderr
    first = load_model("m.model", return_info=True)[1]["notes"]["reading"]
    assert first["top"] == 5
    told = done("predict", "m.model", "new.m8", "-o", "out.csv")
    assert "the best 5 of each query" in told.stderr
    assert labels("out.csv", ",") == EXPECTED
    np.save("S.npy", np.eye(4))
    assert "is not an edge list" in refused("inspect", "S.npy", "--top", "3")
    assert "duplicates must be 'max'" in refused(*FIT, "--top", "5", "--duplicates", "mean")
