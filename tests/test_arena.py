"""The arena: partitions, cells that are kept, statistics on numbers made by hand, the page."""

import json
import math
import subprocess
import sys
import time

import numpy as np
import psutil
import pytest
from benchmarks import __main__ as benchmarks_main
from benchmarks.arena import command, data
from benchmarks.arena.cells import run_cell
from benchmarks.arena.data import Dataset, partition_of
from benchmarks.arena.page import page, table, write_page
from benchmarks.arena.running import run_cells
from benchmarks.arena.scores import brier_score, calibration_error
from benchmarks.arena.statistics import Standings, corrected_t
from benchmarks.arena.store import KINDS, Cell, Result, Store
from scipy import stats


def tiny(name, seed, kind="similarity", simulated=False):
    """Two classes of 15 points on a line."""
    rng = np.random.default_rng(seed)
    y = np.repeat(["a", "b"], 15)
    x = rng.normal(size=30) + 2 * (y == "b")
    D = np.abs(x[:, None] - x)
    return Dataset(name, D if kind == "dissimilarity" else np.exp(-D), kind, y, simulated)


def guess(dataset, partition):
    """Stand-in entrants; only the error of the second depends on the partition."""
    return [
        Result("AutoClassifier", "auto", 0.1, 0.2, 0.05, 1.0, "k-NN"),
        Result("k-NN", "method", 0.2 + 0.01 * partition, 0.3, 0.1, 0.5),
        Result("centroid", "method", 0.3, seconds=0.25),
    ]


def fail_once(dataset, partition):
    if partition == 1:
        raise ZeroDivisionError("a fault in a cell")
    return guess(dataset, partition)


def cells_of(errors, simulated=(), n_test=20):
    """Cells from errors by data set and entrant, a list over the partitions; k-NN and "method x" are single methods."""
    kinds = {"auto": "auto", "rule": "auto", "forest": "peer"}
    return [
        Cell(
            name,
            p,
            80,
            n_test,
            2,
            "similarity",
            name in simulated,
            tuple(Result(who, kinds.get(who, "method"), values[p], seconds=1.0) for who, values in entrants.items()),
        )
        for name, entrants in errors.items()
        for p in range(len(next(iter(entrants.values()))))
    ]


# Data


def test_partitions_are_stratified_reproducible_and_differ():
    labels = np.repeat([0, 1, 2], [50, 30, 20])
    train, test = partition_of(labels, 3)
    assert sorted([*train, *test]) == list(range(100))
    assert np.bincount(labels[test]).tolist() == [10, 6, 4]
    assert np.array_equal(test, partition_of(labels, 3)[1])
    assert not np.array_equal(np.sort(test), np.sort(partition_of(labels, 4)[1]))


@pytest.mark.parametrize("n_single", [1, 3])
def test_classes_with_one_sample_are_partitioned(n_single):
    labels = np.concatenate([np.repeat([0, 1], 20), 2 + np.arange(n_single)])
    sides = [set(partition_of(labels, p)[1]) & set(range(40, 40 + n_single)) for p in range(20)]
    assert any(sides)
    assert not all(sides) or n_single == 3
    assert all(len(side) <= 1 for side in sides)


def test_test_rows_have_the_training_samples_as_columns():
    M = np.arange(900.0).reshape(30, 30)  # asymmetric
    dataset = Dataset("counted", M, "similarity", np.repeat([0, 1], 15))
    train, test = partition_of(dataset.labels, 0)
    split = dataset.split(0)
    assert split.X_train.shape == (24, 24)
    assert split.X_test[1, 2] == M[test[1], train[2]]
    assert np.array_equal(split.y_test, dataset.labels[test])


def test_absent_data_get_one_message_that_tells_how_to_get_them(tmp_path, monkeypatch):
    monkeypatch.setenv("SIMILITUDE_DATA", str(tmp_path))
    with pytest.raises(SystemExit, match=r"there is no folder .*proximity\. Set SIMILITUDE_DATA") as caught:
        command.main(["--output", str(tmp_path / "out")])
    assert "npz" in caught.value.code
    (tmp_path / "proximity").mkdir()
    np.savez(tmp_path / "proximity" / "voting.npz", S=np.eye(4), y=[0, 0, 1, 1])
    with pytest.raises(data.DataMissing, match=r"lacks protein\.npz\. Set"):
        data.load(["voting", "protein"])
    (voting,) = data.load(["voting"])
    assert (voting.name, voting.kind, voting.simulated) == ("voting", "similarity", False)


def test_promoters_need_no_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("SIMILITUDE_DATA", str(tmp_path))
    (promoters,) = data.load(["promoters"])
    assert (promoters.matrix.shape, promoters.kind) == ((106, 106), "dissimilarity")
    assert promoters.matrix[0, 0] == 0


def test_the_real_sets_are_read(data_folder, monkeypatch):
    monkeypatch.setenv("SIMILITUDE_DATA", str(data_folder))
    datasets = data.load()
    assert len(datasets) == 16
    assert [d.name for d in datasets if d.simulated] == ["balls3d"]
    for dataset in datasets:
        n = len(dataset.labels)
        assert dataset.matrix.shape == (n, n)
        assert np.isfinite(dataset.matrix).all()
        train, test = partition_of(dataset.labels, 0)
        assert set(dataset.labels[test]) <= set(dataset.labels[train])
    similarities = {"polbooks", "protein", "voting", "worldtrade", "yeast_5_12"}
    assert {d.name for d in datasets if d.kind == "similarity"} == similarities


# Scores


def test_brier_score_and_calibration_error_by_hand():
    posteriors = np.array([[0.9, 0.1], [0.6, 0.4], [0.3, 0.7], [0.95, 0.05]])
    classes, labels = np.array(["a", "b"]), np.array(["a", "b", "b", "c"])
    # Of the class c there is no training sample: its posterior is 0.
    expected = (2 * 0.1**2 + 2 * 0.6**2 + 2 * 0.3**2 + 0.95**2 + 0.05**2 + 1) / 4
    assert brier_score(posteriors, classes, labels) == pytest.approx(expected)
    # Bins up to 0.6, 0.7, 0.9 and 1.
    assert calibration_error(posteriors, classes, labels) == pytest.approx((0.6 + 0.3 + 0.1 + 0.95) / 4)
    same_bin = np.array([[0.82, 0.18], [0.88, 0.12]])
    assert calibration_error(same_bin, classes, np.array(["a", "b"])) == pytest.approx(abs(0.85 - 0.5))


def test_certain_and_right_posteriors_have_no_error():
    posteriors, classes = np.eye(3), np.arange(3)
    assert brier_score(posteriors, classes, classes) == calibration_error(posteriors, classes, classes) == 0


# Cells


def test_the_second_run_does_nothing_and_new_partitions_are_added(tmp_path):
    store, ran = Store(tmp_path), []
    datasets = [tiny("one", 0), tiny("two", 1)]

    def counted(dataset, partition):
        ran.append((dataset.name, partition))
        return guess(dataset, partition)

    assert run_cells(datasets, range(2), store, counted) == {}
    assert sorted(ran) == [("one", 0), ("one", 1), ("two", 0), ("two", 1)]
    run_cells(datasets, range(2), store, counted)
    assert len(ran) == 4
    run_cells(datasets, range(3), store, counted)
    assert sorted(ran[4:]) == [("one", 2), ("two", 2)]
    assert len(list(tmp_path.iterdir())) == 6
    cell = store.read("one", 1)
    assert (cell.n_train, cell.n_test, cell.n_classes, cell.kind) == (24, 6, 2, "similarity")
    assert cell.results[1] == guess(None, 1)[1]
    assert math.isnan(cell.results[2].brier)


def test_a_killed_run_leaves_no_process_at_work(tmp_path):
    script = f"""
import os, pathlib, sys, time
from benchmarks.arena.running import run_cells
from benchmarks.arena.store import Store
from tests.test_arena import tiny
def sleep(dataset, partition):
    pathlib.Path({str(tmp_path)!r}, f"{{os.getpid()}}.pid").touch()
    time.sleep(600)
run_cells([tiny("one", 0)], range(2), Store({str(tmp_path / "store")!r}), sleep, jobs=2)
"""
    run = subprocess.Popen([sys.executable, "-c", script])
    try:
        wait_until(lambda: len(list(tmp_path.glob("*.pid"))) == 2)
    finally:
        run.kill()
        run.wait()
    workers = [int(path.stem) for path in tmp_path.glob("*.pid")]
    wait_until(lambda: not any(is_at_work(pid) for pid in workers))


def is_at_work(pid):
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def wait_until(condition):
    """Wait, for a minute at most, until a condition is true."""
    for _ in range(600):
        if condition():
            return
        time.sleep(0.1)
    raise AssertionError("it did not become true within a minute")


def test_processes_give_the_same_cells(tmp_path):
    datasets = [tiny("one", 0), tiny("two", 1, "dissimilarity")]
    for jobs in (1, 2):
        assert run_cells(datasets, range(2), Store(tmp_path / str(jobs)), guess, jobs) == {}
    alone, together = ({p.name: p.read_text() for p in (tmp_path / str(jobs)).iterdir()} for jobs in (1, 2))
    assert alone == together
    assert len(alone) == 4


@pytest.mark.parametrize("content", ["", "{", '{"data": "one", "partition": 0}', "[]", None])
def test_a_half_written_file_is_not_taken_for_a_cell(tmp_path, content):
    store = Store(tmp_path)
    run_cells([tiny("one", 0)], range(1), store, guess)
    path = store.path("one", 0)
    whole = path.read_text()
    path.write_text(whole[: len(whole) // 2] if content is None else content)
    assert store.read("one", 0) is None
    assert store.cells() == []
    run_cells([tiny("one", 0)], range(1), store, guess)
    assert path.read_text() == whole


def test_a_cell_that_is_interrupted_while_it_is_written_leaves_nothing(tmp_path, monkeypatch):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("os.replace", interrupted)
    with pytest.raises(KeyboardInterrupt):
        Store(tmp_path).write(cells_of({"one": {"k-NN": [0.1]}})[0])
    assert list(tmp_path.iterdir()) == []


def test_a_file_under_the_name_of_another_cell_is_not_taken_for_it(tmp_path):
    store = Store(tmp_path)
    run_cells([tiny("one", 0)], range(1), store, guess)
    store.path("one", 0).rename(store.path("one", 7))
    assert store.read("one", 7) is None


def test_a_cell_that_fails_is_told_and_run_again(tmp_path):
    store, datasets = Store(tmp_path), [tiny("one", 0)]
    failures = run_cells(datasets, range(3), store, fail_once)
    assert list(failures) == ["one, partition 1"]
    assert "a fault in a cell" in failures["one, partition 1"]
    assert [cell.partition for cell in store.cells()] == [0, 2]
    assert run_cells(datasets, range(3), store, guess) == {}
    assert [cell.partition for cell in store.cells()] == [0, 1, 2]


def test_results_are_checked():
    with pytest.raises(ValueError, match="kind must be one of"):
        Result("k-NN", "methods", 0.1)
    twice = (Result("k-NN", "method", 0.1), Result("k-NN", "method", 0.2))
    with pytest.raises(ValueError, match="one result per entrant"):
        Cell("one", 0, 80, 20, 2, "similarity", False, twice)


@pytest.mark.parametrize("kind", ["similarity", "dissimilarity"])
def test_the_entrants_run(kind):
    results = run_cell(tiny("one", 0, kind), 0, ["k-NN", "distance-weighted k-NN", "nearest centroid", "SVM (clip)"])
    assert {result.kind for result in results} == set(KINDS)
    assert "k-NN" in [result.entrant for result in results]
    for result in results:
        assert 0 <= result.error <= 0.5, result
        assert result.seconds > 0
        assert math.isnan(result.brier) == math.isnan(result.ece)


# Statistics


def test_the_corrected_t_test():
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, 20)) + [[0.5], [0.0]]
    assert corrected_t(a, b, 0.0) == pytest.approx(stats.ttest_rel(a, b).pvalue)
    d = a - b
    t = d.mean() / np.sqrt((1 / 20 + 0.25) * d.var(ddof=1))
    assert corrected_t(a, b, 0.25) == pytest.approx(2 * stats.t.sf(abs(t), 19))
    assert corrected_t(b, a, 0.25) == corrected_t(a, b, 0.25) > corrected_t(a, b, 0.0)
    # Differences 1, 2, 3: mean 2, variance 1, t = 2 / sqrt(1/3 + 1/4) with two degrees of freedom.
    t = 2 / math.sqrt(7 / 12)
    assert corrected_t([2, 4, 6], [1, 2, 3], 0.25) == pytest.approx(1 - t / math.sqrt(2 + t**2))
    assert corrected_t([2, 4, 6, np.nan], [1, 2, 3, 4], 0.25) == corrected_t([2, 4, 6], [1, 2, 3], 0.25)


def test_the_corrected_t_test_without_a_test():
    assert corrected_t([1, 2], [1, 2], 0.25) == corrected_t([1], [5], 0.25) == corrected_t([], [], 0.25) == 1
    assert corrected_t([0.3, 0.4], [0.1, 0.2], 0.25) == 0


ERRORS = {
    "one": {"auto": [0.10, 0.12], "rule": [0.14, 0.14], "k-NN": [0.20, 0.22], "forest": [0.12, 0.12]},
    "two": {"auto": [0.30, 0.30], "rule": [0.20, 0.22], "k-NN": [0.25, 0.25], "forest": [0.40, 0.42]},
    "apart": {"auto": [0.50, 0.50], "rule": [0.90, 0.90], "k-NN": [0.01, 0.01], "forest": [0.50, 0.50]},
}


def test_means_ranks_and_regret_by_hand():
    standings = Standings(cells_of(ERRORS, simulated=["apart"]))
    assert standings.datasets == ("one", "two")
    assert standings.simulated == ("apart",)
    rows = {row.entrant: row for row in standings.overall}
    assert [row.entrant for row in standings.overall] == ["rule", "auto", "k-NN", "forest"]
    assert [row.error for row in standings.overall] == pytest.approx([0.175, 0.205, 0.23, 0.265])
    assert [row.rank for row in standings.overall] == pytest.approx(
        [(3 + 1) / 2, (1 + 3) / 2, (4 + 2) / 2, (2 + 4) / 2]
    )
    # The best single methods in hindsight are the forest with 0.12 and k-NN with 0.25; "auto" and "rule" do not count.
    assert [standings.best_single(name) for name in ("one", "two", "apart")] == ["forest", "k-NN", "k-NN"]
    assert rows["auto"].regret == pytest.approx((0.11 - 0.12 + 0.30 - 0.25) / 2)
    assert rows["k-NN"].regret == pytest.approx((0.21 - 0.12) / 2)
    assert standings.standard_error("auto", "one") == pytest.approx(0.01)
    assert math.isnan(rows["auto"].brier)
    assert rows["auto"].seconds == 1
    # The differences of k-NN from "auto" are 0.10 and -0.05.
    assert (rows["k-NN"].difference, rows["k-NN"].spread) == pytest.approx((0.025, 0.075))
    assert (rows["auto"].difference, rows["auto"].spread) == (0, 0)


def test_differences_from_the_automatic_choice_are_tested_over_the_sets():
    # A method that is worse on each of eight sets, and one that is worse on four.
    errors = {
        str(i): {
            "auto": [0.2, 0.2],
            "worse": [0.2 + 0.01 * (i + 1)] * 2,
            "other": [0.2 + 0.01 * (-1) ** i * (i + 1), np.nan],
        }
        for i in range(8)
    }
    rows = {row.entrant: row for row in Standings(cells_of(errors)).overall}
    assert rows["worse"].p_value == pytest.approx(2 * 2 / 2**8)  # two sides, two tests
    assert rows["other"].p_value > 0.5
    assert rows["other"].missing == 8
    assert math.isnan(rows["auto"].p_value)
    text = " ".join(page(Standings(cells_of(errors)), drawn=False).split())
    assert "Beyond chance, the error is higher than that of `AutoClassifier` for worse." in text
    assert "The difference is not beyond chance for other." in text


def test_wins_and_losses_with_holm_over_the_sets():
    rng = np.random.default_rng(0)
    noise = 0.01 * rng.normal(size=10)
    errors = {
        "much lower": {"auto": 0.1 + noise, "k-NN": 0.2 + 0.01 * rng.normal(size=10)},
        "much higher": {"auto": 0.3 + noise, "k-NN": 0.2 + 0.01 * rng.normal(size=10)},
        "equal": {"auto": 0.2 + noise, "k-NN": 0.2 + noise},
    }
    # One set on which the test alone is significant, but not after the adjustment over four sets.
    d = stats.zscore(rng.normal(size=10), ddof=1)
    errors["a bit lower"] = {"auto": np.full(10, 0.5), "k-NN": 0.5 + 0.01 * (d + 1.5)}
    p = corrected_t(errors["a bit lower"]["auto"], errors["a bit lower"]["k-NN"], 0.25)
    assert 0.05 / 2 < p < 0.05
    standings = Standings(cells_of(errors))
    duel = standings.duel("auto", "k-NN")
    assert (duel.wins, duel.losses) == (("much lower",), ("much higher",))
    assert (duel.lower, duel.higher) == (2, 1)
    back = standings.duel("k-NN", "auto")
    assert (back.wins, back.losses, back.lower, back.higher) == (duel.losses, duel.wins, 1, 2)
    alone = Standings(cells_of({"a bit lower": errors["a bit lower"]}))
    assert alone.duel("auto", "k-NN").wins == ("a bit lower",)


def test_the_correction_uses_the_sizes_of_the_parts():
    d = stats.zscore(np.arange(10.0), ddof=1)
    errors = {"one": {"auto": np.full(10, 0.5), "k-NN": 0.5 + 0.01 * (d + 1.0)}}
    assert Standings(cells_of(errors, n_test=1)).duel("auto", "k-NN").wins == ("one",)
    assert Standings(cells_of(errors, n_test=20)).duel("auto", "k-NN").wins == ()


def test_entrants_without_all_results_are_last_and_have_no_means():
    errors = {name: dict(entrants) for name, entrants in ERRORS.items()}
    errors["one"]["k-NN"] = [0.20, np.nan]
    del errors["two"]["forest"]
    standings = Standings(cells_of(errors))
    assert standings.complete == ("auto", "rule", "k-NN")
    last = standings.overall[-1]
    assert (last.entrant, last.missing) == ("forest", 2)
    assert math.isnan(last.error)
    assert math.isnan(last.rank)
    rows = {row.entrant: row for row in standings.overall}
    assert rows["k-NN"].missing == 1
    assert standings.mean("k-NN", "one") == 0.20
    assert "missing cells" in page(standings)


def test_a_simulated_set_alone_and_no_cells():
    standings = Standings(cells_of({"apart": ERRORS["apart"]}, simulated=["apart"]))
    assert standings.complete == ()
    assert "apart (simulated)" in page(standings, drawn=False)
    with pytest.raises(ValueError, match="no finished cells"):
        Standings([])


def test_cells_of_different_versions_are_not_mixed():
    one, two = (
        Cell("one", p, 80, 20, 2, "similarity", False, (r,))
        for p, r in enumerate([Result("k-NN", "method", 0.1), Result("k-NN", "peer", 0.1)])
    )
    with pytest.raises(ValueError, match="different versions"):
        Standings([one, two])


def test_the_picture_has_the_best_and_always_knn_and_the_automatic_choice():
    errors = {
        name: {**{f"method {i}": [0.01 * i] for i in range(20)}, "k-NN": [0.8], "auto": [0.9], "rule": [0.7]}
        for name in ("one", "two")
    }
    names = Standings(cells_of(errors)).leading()
    assert names == (*(f"method {i}" for i in range(12)), "rule", "k-NN", "auto")


# Page and command


def test_the_page_contains_what_it_must(tmp_path):
    path = write_page(Standings(cells_of(ERRORS, simulated=["apart"])), tmp_path)
    text = path.read_text(encoding="utf-8")
    assert (tmp_path / "images" / "arena.png").read_bytes()[:4] == b"\x89PNG"
    assert "![mean ranks over the data sets](images/arena.png)" in text
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in text.split("\n") if line[:1] == "|"]
    assert ["auto", "auto", "20.50", "–", "–", "2.0", "2.00", "–", "–", "1.00"] in rows
    assert ["k-NN", "method", "23.00", "+2.50 ± 7.50", "1", "3.0", "4.50", "–", "–", "1.00"] in rows
    assert ["one", "11.0 ± 1.0", "14.0 ± 0.0", "21.0 ± 1.0", "12.0 ± 0.0, forest"] in rows
    assert ["apart (simulated)", "50.0 ± 0.0", "90.0 ± 0.0", "1.0 ± 0.0", "1.0 ± 0.0, k-NN"] in rows
    assert ["auto", "**11.0 ± 1.0**", "30.0 ± 0.0", "50.0 ± 0.0"] in rows
    assert any(row[:1] == ["k-NN"] and row[1].endswith("(1 : 1)") for row in rows)
    for words in ("python -m benchmarks arena", "SIMILITUDE_DATA", "Nadeau & Bengio", "Holm", "2 real data sets",
                  "2 random partitions", "significantly worse than k-NN"):  # fmt: skip
        assert words in " ".join(text.split())
    assert all(len(line) <= 120 for line in text.split("\n") if line[:1] != "|")


def test_the_part_on_the_arena_is_written_on_the_page_of_the_methods(tmp_path):
    methods = tmp_path / "which-method.md"
    methods.write_text("before\n\n<!-- arena -->\nold\n<!-- end of arena -->\n\nafter\n")
    write_page(Standings(cells_of(ERRORS, simulated=["apart"])), tmp_path)
    text = methods.read_text()
    assert "old" not in text
    assert text.startswith("before\n\n<!-- arena -->\n")
    assert text.endswith("<!-- end of arena -->\n\nafter\n")
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in text.split("\n") if line[:1] == "|"]
    assert rows[2:] == [
        ["k-NN", "23.0", "+2.50 ± 7.50", "1", "3", "–", "two"],
        ["forest", "26.5", "+6.00 ± 5.00", "1", "3", "–", "one"],
    ]


def test_tables_are_aligned_and_escape_bars():
    lines = table(["name", "number", "words"], [["a|b", "1.5", "3, x"], ["c", "–", "14, y"]]).split("\n")
    assert lines == [
        "| name | number | words |",
        "| ---- | -----: | ----- |",
        "| a\\|b |    1.5 | 3, x  |",
        "| c    |      – | 14, y |",
    ]


@pytest.fixture
def small_arena(tmp_path, monkeypatch):
    """The command with two tiny data sets; it is called with its options, and returns its folder."""
    monkeypatch.setattr(data, "load", lambda names: [tiny(name, 0) for name in names])
    monkeypatch.setattr(command, "run_cell", guess)

    def call(*options):
        benchmarks_main.main(["arena", "--jobs", "1", "--output", str(tmp_path), "--data", "voting,protein", *options])
        return tmp_path

    return call


def test_the_command_runs_reports_and_continues(small_arena, capsys):
    folder = small_arena("--partitions", "2")
    assert sorted(path.name for path in (folder / "cells").iterdir()) == [
        f"{name}-000{p}.json" for name in ("protein", "voting") for p in (0, 1)
    ]
    assert "AutoClassifier" in capsys.readouterr().out
    before = (folder / "arena.md").read_text()
    (folder / "arena.md").unlink()
    small_arena("--report")
    assert (folder / "arena.md").read_text() == before
    assert capsys.readouterr().err == ""
    small_arena("--partitions", "1", "--first", "2")
    assert "3 random partitions" in (folder / "arena.md").read_text()


def test_partitions_for_development_are_printed_but_not_on_the_page(small_arena, capsys):
    folder = small_arena("--partitions", "1")
    before = (folder / "arena.md").read_text()
    small_arena("--partitions", "2", "--first", "1000")
    assert "for development: no page is written" in capsys.readouterr().out
    small_arena("--report")
    assert (folder / "arena.md").read_text() == before
    with pytest.raises(SystemExit):
        small_arena("--partitions", "2", "--first", "999")
    assert "not reported" in capsys.readouterr().err


def test_failures_end_the_command_with_a_traceback(small_arena, monkeypatch):
    monkeypatch.setattr(command, "run_cell", fail_once)
    with pytest.raises(SystemExit, match="a fault in a cell") as caught:
        small_arena("--partitions", "2")
    assert "2 cells that failed" in caught.value.code


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--data", "vote"], "'vote' is not one of"),
        (["--data", ","], "nothing is not one of"),
        (["--partitions", "0"], "at least 1"),
        (["--first", "-1"], "at least 0"),
    ],
)
def test_wrong_options_get_a_clear_error(small_arena, capsys, options, message):
    with pytest.raises(SystemExit):
        small_arena(*options)
    assert message in capsys.readouterr().err


def test_nothing_to_report(small_arena):
    with pytest.raises(SystemExit, match="There are no finished cells"):
        small_arena("--report")


def test_cells_are_plain_json(tmp_path):
    numbers = Result("k-NN", "method", np.float64(0.25), np.float32(0.5), math.nan, 1)
    Store(tmp_path).write(Cell("one", 0, 80, 20, 2, "similarity", False, (numbers,)))
    (content,) = json.loads((tmp_path / "one-0000.json").read_text())["results"]
    assert (content["error"], content["brier"], content["ece"], content["seconds"]) == (0.25, 0.5, None, 1.0)
