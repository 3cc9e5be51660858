"""Edge lists in files: hits of BLAST, MMseqs2, Foldseek and Mash, tables with names, Parquet."""

import gzip

import numpy as np
import pytest

from similitude._native import EdgeLines
from similitude.datasets import load_proximity
from similitude.proximity.files import edge_files
from tests.proximity.files.writing import refused, write

# Hits as `blastp -outfmt 6` and `mmseqs easy-search` write them; the pair of P2 and P1 has two.
HITS = """sp|P1|A\tsp|P1|A\t100.000\t204\t0\t0\t1\t204\t1\t204\t4.1e-151\t417
sp|P1|A\tsp|P2|B\t61.538\t195\t75\t0\t5\t199\t9\t203\t3.02e-87\t254
sp|P2|B\tsp|P2|B\t100.000\t210\t0\t0\t1\t210\t1\t210\t0.0\t433
sp|P2|B\tsp|P1|A\t61.538\t195\t75\t0\t9\t203\t5\t199\t3.11e-87\t253
sp|P2|B\tsp|P1|A\t31.818\t22\t15\t0\t30\t51\t100\t121\t5.3\t25.8
sp|P3|C\tsp|P3|C\t100.000\t150\t0\t0\t1\t150\t1\t150\t1.2e-110\t311
"""
IDS = ["sp|P1|A", "sp|P2|B", "sp|P3|C"]
BITS = np.array([[417, 254, 0], [253, 433, 0], [0, 0, 311.0]])
TABLE = "query,target,score\na,b,0.5\nb,c,0.25\na,c,2\n"
EDGES = np.array([[0, 0.5, 2], [0, 0, 0.25], [0, 0, 0]])


def loaded(path, **options):
    data = load_proximity(path, **options)
    return data.ids.tolist(), data.S.toarray() if hasattr(data.S, "toarray") else data.S


@pytest.mark.parametrize("name", ["hits.m8", "hits.tsv", "hits", "hits.m8.gz"])
def test_hits(tmp_path, name):
    ids, S = loaded(write(tmp_path, name, HITS))
    assert ids == IDS
    np.testing.assert_array_equal(S, BITS)


def test_scores_of_hits(tmp_path):
    path = write(tmp_path, "hits.m8", HITS)
    np.testing.assert_array_equal(loaded(path, score="pident")[1][0], [100, 61.538, 0])
    evalues = loaded(path, score="evalue")[1]
    np.testing.assert_allclose(evalues[0], -np.log10([4.1e-151, 3.02e-87, 1]), rtol=1e-12)
    assert evalues[1, 1] == 300  # 0 is the smallest number that is told apart
    np.testing.assert_array_equal(loaded(path, score="evalue", duplicates="min")[1][1, 0], 0)  # E-values above 1
    np.testing.assert_array_equal(loaded(path, score=12, duplicates="mean")[1][1, 0], (253 + 25.8) / 2)


def test_notes_say_what_edges_mean(tmp_path):
    notes = load_proximity(write(tmp_path, "hits.m8", HITS), score="evalue").notes
    assert notes == [
        "6 edges between 3 samples, score evalue as -log10",
        "the similarity of pairs without an edge is 0 (missing='zero').",
        "1 edges repeat a pair; max of its scores counts (duplicates='max').",
    ]
    notes = load_proximity(write(tmp_path, "e.csv", TABLE)).notes
    assert "no pair has edges in both directions" in notes[-1]
    assert "--direction max" in notes[-1]


def test_comments_among_hits(tmp_path):
    # `blastp -outfmt 7` writes comments before the hits of each query.
    comment = "# BLASTP 2.15.0+\n# Query: P1\n# Fields: query acc.ver, subject acc.ver, % identity\n# 2 hits found\n"
    lines = HITS.splitlines(keepends=True)
    path = write(tmp_path, "hits.txt", comment + "".join(lines[:2]) + comment + "".join(lines[2:]))
    np.testing.assert_array_equal(loaded(path)[1], BITS)


@pytest.mark.parametrize(
    ("name", "text", "options"),
    [
        ("e.csv", TABLE, {}),
        ("e.txt", TABLE.replace(",", "\t"), {}),
        ("e.tsv", TABLE.replace(",", " "), {}),
        ("e.csv", TABLE.replace(",", ";").upper().replace("A", "a").replace("B", "b").replace("C;", "c;"), {}),
        ("e.csv", TABLE.split("\n", 1)[1], {}),
        ("e.edges", TABLE.split("\n", 1)[1].replace(",", " "), {}),
        ("e.csv", "\ufeff" + TABLE.replace("\n", "\r\n\r\n"), {}),
        ("e.csv", '"query","target","score"\n"a","b",0.5\n"b" ,"c",".25"\n"a", "c",+2e0\n', {}),
        ("e.csv", "weight,source,target\n0.5,a,b\n0.25,b,c\n2,a,c\n", {}),
        ("e.csv", "x,p,q,v,w\n1,a,b,9,0.5\n2,b,c,9,0.25\n3,a,c,9,2\n", {"query": "p", "target": "q", "score": "w"}),
        # `mash dist` writes reference, query, distance, p-value and shared hashes.
        ("mash.tab", "a\tb\t0.5\t0\t9/10\nb\tc\t0.25\t0\t9/10\na\tc\t2\t0\t1/10\n", {"score": 3}),
        ("#.tsv", "#query\ttarget\tscore\na\tb\t.5\nb\tc\t.25\na\tc\t2", {}),
    ],
)
def test_tables_of_edges(tmp_path, name, text, options):
    ids, S = loaded(write(tmp_path, name, text), **options)
    assert [name.lower() for name in ids] == ["a", "b", "c"]
    np.testing.assert_array_equal(S, EDGES)


def test_edges_between_numbers(tmp_path):
    path = write(tmp_path, "e.txt", "0 1 0.5\n1 2 0.25\n0 2 2\n3 3 1\n")
    refused(path, r"not square: 4 rows and 3 columns.* pass form='edges' \(--form edges\)")
    ids, S = loaded(path, form="edges")
    assert ids == ["0", "1", "2", "3"]
    np.testing.assert_array_equal(S[:3, :3], EDGES)


def test_quoted_names(tmp_path):
    text = 'query,target,score\n"a, ""the first""",b,1\nb,"a, ""the first""",2\n'
    assert loaded(write(tmp_path, "e.csv", text))[0] == ['a, "the first"', "b"]


@pytest.mark.parametrize("kind", ["string", "large_string", "dictionary", "int64"])
def test_parquet(tmp_path, kind):
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet as pq

    names = ["a", "b", "c"] if kind != "int64" else [7, 8, 9]
    ends = [pa.array([names[i] for i in places]) for places in ([0, 1, 0], [1, 2, 2])]
    if kind == "dictionary":
        ends = [end.dictionary_encode() for end in ends]
    elif kind == "large_string":
        ends = [end.cast(pa.large_string()) for end in ends]
    pq.write_table(pa.table({"source": ends[0], "target": ends[1], "weight": [0.5, 0.25, 2]}), tmp_path / "e.parquet")
    ids, S = loaded(tmp_path / "e.parquet")
    assert ids == list(map(str, names))
    np.testing.assert_array_equal(S, EDGES)


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"q": ["a", None], "t": ["b", "c"], "s": [1.0, 2]}, "row 2, column 'q' is a missing value"),
        ({"q": ["a", "b"], "t": ["b", "c"], "s": [1.0, float("nan")]}, "row 2, column 's': nan is not a finite number"),
        ({"q": ["a"], "t": ["b"], "s": [1.0], "u": [2.0]}, "several columns of numbers, 's', 'u'; choose .*--score"),
    ],
)
def test_broken_parquet(tmp_path, columns, message):
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet as pq

    pq.write_table(pa.table(columns), tmp_path / "e.parquet")
    refused(tmp_path / "e.parquet", f"e.parquet: .*{message}")


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        (HITS + "sp|P1|A\tsp|P3|C\t50\n", {}, "row 7 has 3 cells; the first row has 12"),
        (HITS.replace("\t433", "\tn/a"), {}, "row 3, column 12: 'n/a' is not a number"),
        (HITS.replace("\t433", "\t1e999"), {}, "row 3, column 12: '1e999' is not a finite number"),
        (HITS.replace("sp|P3|C\tsp|P3|C", "\tsp|P3|C"), {}, "row 6, column 1 is empty; an id is needed"),
        (HITS, {"score": "tmscore"}, r"no column 'tmscore'; score \(--score\) must be the name of one of \['query'"),
        (HITS, {"score": 13}, "no column 13"),
        (HITS.replace("5.3", "-5.3"), {"score": "evalue"}, "an E-value is -5.3; E-values are not negative"),
        (HITS, {"normalise": "self", "score": "mismatch"}, "3 of 3 have none: 'sp|P1|A'"),
        (HITS, {"orientation": "dissimilarity"}, r"distances? .*|missing: pairs without an edge .* --missing farthest"),
        ("a\tb\t1\n" * 3 + '"a\tc\t1\n', {}, "row 4: a quote is not closed"),
        ("query\ttarget\tscore\n", {}, "there is a header row only"),
        ("a\tb\na\tc\n", {}, "has 2 columns; an edge list has a column of queries"),
        ("a\tb\t1\t2\na\tc\t1\t2\n", {}, r"has 4 columns without names.* score=3 \(--score 3\)"),
        ("query\ttarget\tx\ty\na\tb\t1\t2\n", {}, "several columns of numbers, 'x', 'y'; choose"),
        ("query\ttarget\tx\na\tb\tc\n", {}, "there is no column of numbers"),
    ],
)
def test_broken_edge_lists(tmp_path, text, options, message):
    assert "hits.m8" in refused(write(tmp_path, "hits.m8", text), message, **options)


def test_edges_that_are_not_text(tmp_path):
    (tmp_path / "e.tsv").write_bytes(b"a\tb\t1\n" * 300 + b"a\t\xff\xfe\t1\n")
    refused(tmp_path / "e.tsv", r"e.tsv: (the id .* is|row 301 is) not UTF-8 text")
    packed = gzip.compress(HITS.encode() * 100)
    (tmp_path / "hits.m8.gz").write_bytes(packed[: len(packed) // 2])
    refused(tmp_path / "hits.m8.gz", "truncated or corrupt")


def test_blocks_end_anywhere(tmp_path, monkeypatch):
    from similitude.proximity.files import edge_files

    path = write(tmp_path, "hits.m8", HITS.rstrip("\n"))
    for size in (1, 7, 64, 500):
        monkeypatch.setattr(edge_files, "_BLOCK", size)
        np.testing.assert_array_equal(loaded(path)[1], BITS)


def test_compiled_reader_checks_its_arguments():
    room = np.empty(2, np.int32), np.empty(2, np.int32), np.empty(2)
    for arguments in ((b",,", 0, 1, 2, 3, 0), (b",", 0, 1, 3, 3, 0), (b",", -1, 1, 2, 3, 0), (b",", 0, 1, 2, 0, 0)):
        with pytest.raises(ValueError, match=r"must be"):
            EdgeLines(*arguments)
    reader = EdgeLines(b",", 0, 1, 2, 3, 0)
    with pytest.raises(ValueError, match="the number of scores must be 2; got 1"):
        reader.read(b"a,b,1\n", room[0], room[1], np.empty(1))
    with pytest.raises(ValueError, match="more lines than places"):
        reader.read(b"a,b,1\n" * 3, *room)
    assert EdgeLines(b",", 0, 1, 2, 3, 0).read(b"", *room) == 0


@pytest.mark.parametrize("kind", ["text", "parquet"])
def test_the_best_hits_do_not_depend_on_the_order_of_lines(tmp_path, monkeypatch, kind):
    rng = np.random.default_rng(0)
    edges = [(f"q{i}", f"q{j}", int(s)) for i, j, s in zip(*rng.integers(0, 15, (2, 300)), rng.integers(1, 40, 300))]
    monkeypatch.setattr(edge_files, "_BLOCK", 200)
    monkeypatch.setattr(edge_files, "_BATCH", 30)
    monkeypatch.setattr(edge_files, "TOP_BLOCK", 50)
    found = []
    for turn in range(2):
        edges = [edges[i] for i in rng.permutation(300)] if turn else sorted(edges)
        if kind == "text":
            path = write(tmp_path, "e.tsv", "".join(f"{a}\t{b}\t{s}\n" for a, b, s in edges))
        else:
            pa, path = pytest.importorskip("pyarrow"), tmp_path / "e.parquet"
            table = pa.table(dict(zip(("query", "target", "score"), zip(*edges))))
            pytest.importorskip("pyarrow.parquet").write_table(table, path, row_group_size=40)
        data = load_proximity(path, top=3)
        assert data.notes[0].startswith("300 hits were read and ")
        order = np.argsort(data.ids)
        found.append(data.S.toarray()[np.ix_(order, order)])
    np.testing.assert_array_equal(*found)
    whole = load_proximity(path).S.toarray()
    kept = found[1] > 0
    order = np.argsort(load_proximity(path).ids)
    whole = whole[np.ix_(order, order)]
    np.testing.assert_array_equal(found[1][kept], whole[kept])
    for i, row in enumerate(whole):
        others = np.delete(row, i)
        assert np.array_equal(np.delete(kept[i], i), (others > 0) & (others >= np.sort(others)[-3]))
    refused(path, r"top \(--top\) keeps the best hit", top=3, duplicates="min")
