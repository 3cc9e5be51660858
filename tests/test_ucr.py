"""The benchmark on the UCR archive: the forms of the sets, results that are kept, the table."""

import json

import numpy as np
import pytest
from benchmarks import __main__ as benchmarks_main
from benchmarks import ucr

SECONDS = {"distance_seconds": 1, "fit_seconds": 1, "predict_seconds": 1}


def write_sets(folder):
    X = np.arange(8.0).reshape(2, 4)
    np.savez(folder / "First.npz", X_train=X, y_train=[0, 1], X_test=X, y_test=[0, 1])
    (folder / "Second").mkdir()
    for part in ("TRAIN", "TEST"):
        (folder / "Second" / f"Second_{part}.tsv").write_text("1\t0.5\t1.5\tNaN\n2\t2.5\t3.5\t4.5\n")
    head = "# two channels\n@problemName Third\n@timestamps false\n@univariate false\n@classLabel true a b\n@data\n"
    for part in ("TRAIN", "TEST"):
        (folder / f"Third_{part}.ts").write_text(f"{head}0.5,1.5:2,3:a\n4,5,6:7,8,9:b\n")
    (folder / "published.csv").write_text("set,A,B\nFirst,0.9,0.5\nSecond,0.7,\n")


def test_sets_are_read_in_all_forms(tmp_path):
    write_sets(tmp_path)
    sets = ucr.find_sets(tmp_path)
    assert list(sets) == ["First", "Second", "Third"]
    assert ucr.load(sets["First"])[0].shape == (2, 4)
    X, y, _, _ = ucr.load(sets["Second"])
    assert [x.tolist() for x in X] == [[0.5, 1.5], [2.5, 3.5, 4.5]]
    assert y.tolist() == [1, 2]
    X, y, _, _ = ucr.load(sets["Third"])
    assert [x.tolist() for x in X] == [[[0.5, 1.5], [2, 3]], [[4, 5, 6], [7, 8, 9]]]
    assert y.tolist() == ["a", "b"]
    (tmp_path / "Third_TEST.ts").write_text("@data\n1,2:3:a\n")
    with pytest.raises(SystemExit, match="line 2: channels of equal length"):
        ucr.load(sets["Third"])


def test_kept_distances_give_the_same_result(tmp_path):
    rng = np.random.default_rng(0)
    y = np.arange(36) % 2
    X = np.sin(np.arange(12) * (1 + 0.5 * y[:, None])) + rng.normal(size=(36, 12))
    data = X[:24], y[:24], X[24:], y[24:]
    direct = ucr.run("set", data, None, None)
    kept = [ucr.run("set", data, None, tmp_path) for _ in range(2)]
    for name in ("accuracy", "members", "measures"):
        assert direct[name] == kept[0][name] == kept[1][name]
    assert kept[0]["distance_seconds"] == kept[1]["distance_seconds"] > 0


def test_finished_sets_are_kept(tmp_path, monkeypatch, capsys):
    write_sets(tmp_path)
    done = []

    def result(name, data, time_budget, kept):
        done.append((name, time_budget))
        times = {"distance_seconds": 0.0, "fit_seconds": 1.0, "predict_seconds": 0.5}
        return {"set": name, "n_train": 2, "n_test": 2, "time_budget": time_budget, "accuracy": 0.8, **times}

    monkeypatch.setattr(ucr, "run", result)
    output = tmp_path / "results.jsonl"
    words = ["ucr", "--data", str(tmp_path), "--output", str(output)]
    benchmarks_main.main([*words, "--sets", "First"])
    with output.open("a") as file:
        file.write('{"set": "Seco')  # interrupted
    benchmarks_main.main(words)
    assert done == [("First", None), ("Second", None), ("Third", None)]
    assert [json.loads(line)["set"] for line in output.read_text().splitlines()] == ["First", "Second", "Third"]
    benchmarks_main.main([*words, "--sets", "First", "--time-budget", "5"])
    assert done[3:] == [("First", 5.0)]
    assert "Second      2     2      1.5  80.00  70.00" in capsys.readouterr().out


def test_the_table_has_means_and_tests_over_common_sets():
    results = [{"set": str(i), "n_train": 9, "n_test": 9, "accuracy": 0.8 + 0.01 * i, **SECONDS} for i in range(8)]
    others = {str(i): {"A": 0.79, "B": 0.8 + 0.01 * i} for i in range(7)}
    *_, mean, ranks, against_a, against_b = ucr.table(results, others).splitlines()
    assert mean.split() == ["mean", "of", "7", "83.00", "79.00", "83.00"]
    assert ranks.split() == ["mean", "rank", "1.50", "3.00", "1.50"]
    assert against_a == "ours against A: better on 7, worse on 0 of 7; Wilcoxon p 0.016"  # 2 / 2^7
    assert against_b == "ours against B: better on 0, worse on 0 of 7; Wilcoxon p 1"
