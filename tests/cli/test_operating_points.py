"""``similitude fit`` prints operating points, and ``similitude predict --precision`` applies one."""

import json

import numpy as np
import pytest

from similitude import KNNClassifier, load_model, save_model
from tests.cli.command import read_table, run

N = 240


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """Return a folder with a model, the outcome of ``fit`` in its JSON form, and rows, the last without evidence."""
    folder = tmp_path_factory.mktemp("points")
    rng = np.random.default_rng(0)
    y = np.array(["a", "b", "c"])[np.r_[np.arange(N - 5) % 2, np.full(5, 2)]]
    points = rng.normal(size=(N, 2)) + 2.5 * np.column_stack([y == "b", y == "c"])
    S = np.exp(-((points[:, None] - points) ** 2).sum(axis=2))
    new = rng.normal(size=(40, 2)) + [1.25, 0]
    rows = np.exp(-((new[:, None] - points) ** 2).sum(axis=2))
    rows[-1] = 0
    np.save(folder / "S.npy", S)
    np.save(folder / "rows.npy", rows)
    (folder / "y.txt").write_text("\n".join(y) + "\n")
    words = ("--method", "k-nn", "-o", folder / "m.model", "--json", "--quiet")
    result = run("fit", folder / "S.npy", "--labels", folder / "y.txt", *words)
    assert result.exit_code == 0, result.output
    return folder, json.loads(result.stdout), rows


def predict(folder, *words):
    result = run("predict", folder / "m.model", folder / "rows.npy", "-o", folder / "out.csv", *words)
    assert result.exit_code == 0, result.output
    header, *table = read_table(folder / "out.csv")
    return result, [dict(zip(header, row)) for row in table]


def test_fit_prints_the_coverage_at_each_precision(place, monkeypatch):
    folder, outcome, _ = place
    points = load_model(folder / "m.model").operating_points()
    assert outcome["operating_points"] == points.rows()
    assert [own["precision"] for own in outcome["operating_points"]] == [0.8, 0.9, 0.95, 0.99]
    words = ("--labels", folder / "y.txt", "--method", "k-nn", "-o", folder / "again.model")
    lines = run("fit", folder / "S.npy", *words).stdout.splitlines()
    first = next(i for i, line in enumerate(lines) if line.startswith("precision"))
    own = points[0]
    assert lines[first].split()[1:3] == ["0.8", f"{100 * own.coverage:.2f}"]
    assert lines[first + 3].split(maxsplit=1)[1] == "no sample is assigned"


@pytest.mark.parametrize("per_class", [False, True])
def test_labels_below_the_cutoff_are_unassigned(place, per_class):
    folder, _, rows = place
    model = load_model(folder / "m.model")
    point = model.operating_point(0.9, per_class=per_class)
    words = ("--precision", "0.9", *["--per-class"] * per_class)
    result, table = predict(folder, *words)
    expected = model.predict_at(rows, point)
    assert [row["label"] for row in table] == expected.tolist()
    assert 0 < np.sum(expected == "unassigned") < len(rows)
    assert table[-1]["label"] == "unassigned"
    assert np.array_equal([float(row["confidence"]) for row in table], model.predict_proba(rows).max(axis=1))
    assert f"{np.sum(expected != 'unassigned')} of 40 rows are assigned; {point.summary()}" in result.stdout
    if per_class:
        assert "for each class but 'c', of which fewer than" in result.stderr
    facts = json.loads(predict(folder, *words, "--json")[0].stdout)["operating_point"]
    assert facts["assigned"] == np.sum(expected != "unassigned")
    assert facts["own"] == (["a", "b"] if per_class else [])
    assert facts["cutoffs"] == {c: cut if np.isfinite(cut) else None for c, cut in zip("abc", point.cutoffs.tolist())}


def test_no_class_is_predicted_often_enough_for_a_cutoff_of_its_own(place):
    result, table = predict(place[0], "--precision", "0.999", "--per-class")
    assert {row["label"] for row in table} == {"unassigned"}
    assert "no class is predicted often enough for a cut-off of its own" in result.stderr


def test_errors(place):
    folder = place[0]
    start = ("predict", folder / "m.model", folder / "rows.npy", "-o", folder / "out.csv")
    save_model(folder / "knn.model", KNNClassifier(3).fit(np.eye(6), list("aabbab")))
    for words, message in (
        (("--precision", "95"), r"--precision must be a number in (0, 1); got 95.0."),
        (("--per-class",), "--per-class says how --precision is meant; give --precision, too."),
        (("--precision", "0.9", "--assign-all"), "--precision leaves samples unassigned, and --assign-all assigns all"),
    ):
        result = run(*start, *words)
        assert result.exit_code == 2
        assert message in result.stderr
    np.save(folder / "six.npy", np.eye(6)[:2])
    result = run("predict", folder / "knn.model", folder / "six.npy", "-o", folder / "out.csv", "--precision", "0.9")
    assert result.exit_code == 2
    assert "MODEL holds a KNNClassifier. Use a model of `similitude fit`." in result.stderr
