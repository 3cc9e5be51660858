"""Sequences in FASTA files, and raw objects with labels."""

import gzip

import pytest

from similitude.datasets import load_objects
from similitude.proximity import SimilarityWarning
from similitude.proximity.files.text import read_fasta
from similitude.similarities.registry import resolve
from tests.proximity.files.writing import write

FASTA = """>sp|P69905|HBA_HUMAN Hemoglobin subunit alpha
MVLSPADKTNVKAAWGKVGAHAGEYGAEALERMFLSFPTTKTYFPHFDLSHGSAQVKGHG
KKVADALTNAVAHVDDMPNALSALSDLHAHKLRVDPVNFKLLSHCLLVTLAAHLPAEFTP

>sp|P68871|HBB_HUMAN Hemoglobin subunit beta
MVHLTPEEKSAVTALWGKVNVDEVGGEALGRLLVVYPWTQRFFESFGDLSTPDAVMGNPK*
>short
mkt
"""
IDS = ["sp|P69905|HBA_HUMAN", "sp|P68871|HBB_HUMAN", "short"]


@pytest.mark.parametrize("name", ["s.fasta", "s.fa.gz", "s.txt", "s"])
@pytest.mark.parametrize("change", [lambda text: text, lambda text: "\n" + text.replace("\n", "\r\n")])
def test_fasta(tmp_path, name, change):
    sequences, ids = read_fasta(write(tmp_path, name, change(FASTA)))
    assert ids == IDS
    assert [len(sequence) for sequence in sequences] == [120, 60, 3]
    assert sequences[2] == "MKT"
    assert load_objects(tmp_path / name).data == sequences


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            FASTA.replace("short", "sp|P68871|HBB_HUMAN"),
            r"the id 'sp\|P68871\|HBB_HUMAN' appears twice \(rows 5 and 7\)",
        ),
        (FASTA.replace("mkt", ""), "row 7: the sequence 'short' is empty"),
        (
            FASTA.replace("mkt", "MK-T"),
            "row 8: '-' is not a letter of a sequence. Gaps of an alignment must be removed",
        ),
        (FASTA.replace("mkt", "MK7"), "row 8: '7' is not a letter of a sequence"),
        (FASTA.replace(">short", ">  "), "row 7: a heading without an id"),
    ],
)
def test_broken_fasta(tmp_path, text, message):
    with pytest.raises(ValueError, match=message):
        load_objects(write(tmp_path, "s.fasta", text))


def test_truncated_fasta(tmp_path):
    (tmp_path / "s.fasta.gz").write_bytes(gzip.compress(FASTA.encode())[:-20])
    with pytest.raises(ValueError, match=r"s.fasta.gz: the .gz file is truncated"):
        load_objects(tmp_path / "s.fasta.gz")


def test_labels_and_groups_of_objects(tmp_path):
    path = write(tmp_path, "s.fasta", FASTA)
    labels = write(tmp_path, "y.tsv", f"{IDS[2]}\tother\n{IDS[0]}\tglobin\n")
    groups = write(tmp_path, "g.tsv", f"{IDS[0]}\t5\n{IDS[2]}\t7\n{IDS[1]}\t6\n")
    with pytest.warns(SimilarityWarning, match=r"1 samples have no label and are left out: 'sp\|P68871"):
        data = load_objects(path, labels, groups=groups)
    assert (data.y.tolist(), data.groups.tolist()) == (["globin", "other"], [5, 7])
    assert data.ids.tolist() == [IDS[0], IDS[2]]
    assert [len(item) for item in data.data] == [120, 3]
    with pytest.raises(ValueError, match="is a FASTA file, whose sequences are not numbers"):
        load_objects(path, objects="numbers")


def test_rows_of_bits_and_of_words(tmp_path):
    kind = resolve("tversky-ratio").objects
    bits = load_objects(write(tmp_path, "bits.csv", "id,a,b,c\nx,0,1,1\ny,1,0,0\n"), objects=kind)
    assert bits.data.dtype.kind == "i"
    assert (bits.data.tolist(), bits.ids.tolist()) == ([[0, 1, 1], [1, 0, 0]], ["x", "y"])
    words = load_objects(write(tmp_path, "words.csv", "id,a,b\nx,0,red\ny,1,blue\n"), objects=kind)
    assert words.data.tolist() == [["0", "red"], ["1", "blue"]]
    sets = load_objects(write(tmp_path, "sets.txt", "sun sea\nsnow\n"), objects=kind)
    assert sets.data == [{"sun", "sea"}, {"snow"}]
