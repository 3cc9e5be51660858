"""The store of the benchmarks, and the tables that are written from it."""

import re
from pathlib import Path

import pytest

pytest.importorskip("benchmarks", reason="the benchmarks are in the repository only")

from benchmarks import __main__ as command
from benchmarks import record

PAGE = Path(__file__).parent.parent / "docs" / "benchmarks.md"


def of(name, rows):
    return record.Record(name, rows, "1.0", "one core", 10.0, 5.0, 0.25)


def test_every_benchmark_has_one_place_on_the_page():
    names = re.findall(r"^<!-- benchmark (\w+) -->$", PAGE.read_text(), re.MULTILINE)
    assert sorted(names) == command.NAMES


def test_tables_are_replaced_and_nothing_else(tmp_path):
    page = tmp_path / "page.md"
    old = record.table(of("topk", [{"name": "old", "ours_seconds": 1.0}]))
    page.write_text(f"before\n\n{old}\n\nbetween\n\n{record.table(of('eigen', []))}\nafter\n")
    kept = page.read_text().partition("between")[2]
    rows = [
        {"name": "a | b <c>", "ours_seconds": 0.002, "peer_seconds": 0.5, "ratio": 250.0},
        {"name": "  c", "goal": "d"},
    ]
    assert record.write_tables(tmp_path, {"topk": of("topk", rows), "sda": of("sda", [])}) == ["sda"]
    text = page.read_text()
    assert text.startswith("before\n")
    assert text.endswith(kept)
    lines = [line for line in text.partition("between")[0].splitlines() if line.startswith("|")]
    assert lines[0] == "| what | ours | peer | ratio | notes |"
    assert lines[2:] == ["| a; peer: b &lt;c> | 2 ms | 500 ms | 250.00 |  |", "| ... c |  |  |  | d |"]
    assert "Version 1.0, one core; the whole run took 10 s, with 0.5 CPU seconds a second; other work used 25%" in text


def test_the_store_keeps_what_has_ended(tmp_path, monkeypatch, capsys):
    store, ran = tmp_path / "store", []
    monkeypatch.setattr(command, "NAMES", ["eigen", "topk"])
    monkeypatch.setattr(record, "measured", lambda name: ran.append(name) or of(name, [{"name": name}]))
    record.append(store, of("eigen", [{"name": "first"}]))
    with store.open("a") as file:
        file.write('{"name": "topk", "rows": [{')  # the machine was switched off
    command.main(["--store", str(store)])
    assert ran == ["topk"]
    command.main(["--store", str(store)])
    assert ran == ["topk"]
    command.main(["eigen", "--store", str(store)])
    assert ran == ["topk", "eigen"]
    assert {name: own.rows for name, own in record.read(store).items()} == {
        "eigen": [{"name": "eigen"}],
        "topk": [{"name": "topk"}],
    }


def test_a_record_says_how_busy_the_machine_was():
    found = record.measured("topk")
    assert found.rows[0]["ratio"] > 0
    assert 0 < found.cpu_seconds < 100 * found.seconds
    assert found.others is None or 0 <= found.others <= 1
