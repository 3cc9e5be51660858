"""The benchmark on the UCR archive: the forms of the sets, results that are kept, the table."""

import json

import numpy as np
from benchmarks import __main__ as benchmarks_main
from benchmarks import ucr


def write_sets(folder):
    X = np.arange(8.0).reshape(2, 4)
    np.savez(folder / "First.npz", X_train=X, y_train=[0, 1], X_test=X, y_test=[0, 1])
    (folder / "Second").mkdir()
    for part in ("TRAIN", "TEST"):
        (folder / "Second" / f"Second_{part}.tsv").write_text("1\t0.5\t1.5\tNaN\n2\t2.5\t3.5\t4.5\n")
    (folder / "published.csv").write_text("set,A,B\nFirst,0.9,0.5\nSecond,0.7,\n")


def test_sets_are_read_in_both_forms(tmp_path):
    write_sets(tmp_path)
    sets = ucr.find_sets(tmp_path)
    assert list(sets) == ["First", "Second"]
    assert ucr.load(sets["First"])[0].shape == (2, 4)
    X, y, _, _ = ucr.load(sets["Second"])
    assert [x.tolist() for x in X] == [[0.5, 1.5], [2.5, 3.5, 4.5]]
    assert y.tolist() == [1, 2]


def test_finished_sets_are_kept(tmp_path, monkeypatch, capsys):
    write_sets(tmp_path)
    done = []

    def result(name, files, time_budget):
        done.append((name, time_budget))
        times = {"fit_seconds": 1.0, "predict_seconds": 0.5}
        return {"set": name, "n_train": 2, "time_budget": time_budget, "accuracy": 0.8, **times}

    monkeypatch.setattr(ucr, "run", result)
    output = tmp_path / "results.jsonl"
    words = ["ucr", "--data", str(tmp_path), "--output", str(output)]
    benchmarks_main.main([*words, "--sets", "First"])
    with output.open("a") as file:
        file.write('{"set": "Seco')  # interrupted
    benchmarks_main.main(words)
    assert done == [("First", None), ("Second", None)]
    assert [json.loads(line)["set"] for line in output.read_text().splitlines()] == ["First", "Second"]
    benchmarks_main.main([*words, "--sets", "First", "--time-budget", "5"])
    assert done[2:] == [("First", 5.0)]
    assert "Second      2      1.5  80.00  70.00" in capsys.readouterr().out


def test_the_table_has_means_and_tests_over_common_sets():
    results = [
        {"set": str(i), "n_train": 9, "accuracy": 0.8 + 0.01 * i, "fit_seconds": 1, "predict_seconds": 1}
        for i in range(8)
    ]
    others = {str(i): {"A": 0.79, "B": 0.8 + 0.01 * i} for i in range(7)}
    *_, mean, against_a, against_b = ucr.table(results, others).splitlines()
    assert mean.split() == ["mean", "of", "7", "83.00", "79.00", "83.00"]
    assert against_a == "ours against A: better on 7, worse on 0 of 7; Wilcoxon p 0.016"  # 2 / 2^7
    assert against_b == "ours against B: better on 0, worse on 0 of 7; Wilcoxon p 1"
