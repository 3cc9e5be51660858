"""``--groups``: the samples of a group are never on both sides of a fold."""

import json

import numpy as np
import pytest

import similitude.auto
from similitude import AutoClassifier, Proximities, load_model
from similitude.datasets import load_proximity
from tests.cli.command import run

N = 40
NAMES = [f"s{i}" for i in np.random.default_rng(1).permutation(N)]
LABELS = np.random.default_rng(2).permutation(np.arange(N // 2) % 2)
COMMANDS = {
    "compare": ("--methods", "k-nn", "--folds", 3),
    "report": ("--methods", "k-nn", "--folds", 3, "-o", "out.html"),
    "fit": ("--method", "k-nn", "-o", "out.html"),
}


def group_of(name):
    return int(name[1:]) // 2


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Pairs of samples that are nearly the same; a pair is a group, and its label does not depend on where it is."""
    monkeypatch.chdir(tmp_path)
    where = np.random.default_rng(3).normal(size=(N // 2, 2))
    X = np.array([where[group_of(name)] for name in NAMES]) + 1e-3 * np.random.default_rng(4).normal(size=(N, 2))
    D = np.abs(X[:, None] - X[None]).sum(axis=2)
    np.savez(tmp_path / "D.npz", D=D, ids=NAMES)
    np.save(tmp_path / "nameless.npy", D)
    (tmp_path / "y.txt").write_text("".join(f"{'ab'[LABELS[group_of(name)]]}\n" for name in NAMES))
    (tmp_path / "g.tsv").write_text("id\tgroup\n" + "".join(f"s{i}\tpair {i // 2}\n" for i in range(N)))
    return tmp_path


def on_files(command, *words, matrix="D.npz", groups="g.tsv", more=None):
    more = COMMANDS[command] if more is None else more
    return run(command, matrix, "--labels", "y.txt", "--groups", groups, "--dissimilarity", "max-minus", *more, *words)


def test_fit_keeps_groups_together(folder):
    result = on_files("fit", "--seed", 7)
    assert result.exit_code == 0, result.output
    data = load_proximity("D.npz", "y.txt", groups="g.tsv")
    assert data.groups.tolist() == [f"pair {group_of(name)}" for name in NAMES]
    auto = AutoClassifier(["k-NN"], random_state=7, dissimilarity="max-minus")
    auto.fit(data.S, data.y, groups=data.groups)
    notes = load_model("out.html", return_info=True)[1]["notes"]
    assert notes["error"] == auto.leaderboard_[0].error
    assert (notes["groups"], notes["folds"]) == (N // 2, 15)
    assert "by cross-validation by groups on 15 folds" in result.stdout
    apart = run("fit", "D.npz", "--labels", "y.txt", "--dissimilarity", "max-minus", *COMMANDS["fit"], "--json")
    found = json.loads(apart.stdout)
    assert "groups" not in found
    assert found["error"] < 0.1 < 0.25 < notes["error"]  # without groups the other half of a pair is trained on


@pytest.mark.parametrize("command", ["fit", "report", "compare"])
def test_groups_reach_the_folds_of_every_command(command, folder, monkeypatch):
    given = []
    fit, errors = AutoClassifier.fit, similitude.auto.nested_errors

    def recording_fit(self, X, y, **arguments):
        given.append(arguments)
        return fit(self.set_params(methods=["k-NN"]), X, y)

    def recording_errors(samples, table, *, groups=None, **arguments):
        given.append({} if groups is None else {"groups": groups})
        return errors(samples, table, **arguments)

    monkeypatch.setattr(AutoClassifier, "fit", recording_fit)
    monkeypatch.setattr("similitude.cli.compare.nested_errors", recording_errors)
    more = ("-o", "out.html") if command == "fit" else COMMANDS[command]
    result = on_files(command, more=more)
    assert result.exit_code == 0, (result.output, result.exception)
    if command == "compare":
        assert "3-fold cross-validation by groups" in result.stdout
    assert run(command, "D.npz", "--labels", "y.txt", "--dissimilarity", "max-minus", *more).exit_code == 0
    assert [list(arguments) for arguments in given] == [["groups"], []]
    assert given[0]["groups"].tolist() == [f"pair {group_of(name)}" for name in NAMES]


def test_groups_with_ids_for_a_matrix_without(folder):
    result = on_files("fit", matrix="nameless.npy")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "g.tsv: the groups have ids, but the samples have none to match them to" in result.stderr
    assert on_files("fit", "--labels-in-order", matrix="nameless.npy").exit_code == 0
    in_order = load_proximity("nameless.npy", "y.txt", groups="g.tsv", labels_in_order=True)
    assert in_order.groups.tolist() == [f"pair {i // 2}" for i in range(N)]
    # Labels with ids name the samples, and groups are matched to these names.
    labels = (folder / "y.txt").read_text().split()
    (folder / "y.txt").write_text("".join(f"{name}\t{label}\n" for name, label in zip(NAMES, labels)))
    named = load_proximity("nameless.npy", "y.txt", groups="g.tsv", labels_in_order=True)
    assert named.groups.tolist() == [f"pair {group_of(name)}" for name in NAMES]


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "--groups: there is no file other.txt"),
        ("g\n" * (N - 1), f"other.txt: {N - 1} groups for {N} samples; one group per sample is needed"),
        ("g\n" * 3 + "\n" + "g\n" * (N - 4), "other.txt: row 4 has no group"),
        ("".join(f"t{i}\tg\n" for i in range(N)), "other.txt: row 1: 't0' is not one of the samples"),
        ("a\tb\tc\n" * N, "other.txt: row 1: 'a' is not one of the samples"),
        ("g\n" * N, "a class with samples in at least"),
    ],
)
def test_bad_groups(command, content, message, folder):
    if content is not None:
        (folder / "other.txt").write_text(content)
    (folder / "y.txt").write_text("a\nb\n" * (N // 2))  # of classes of the same size the first one is named
    result = on_files(command, "--quiet", groups="other.txt")
    assert (result.exit_code, result.stdout) == (2, ""), (result.output, result.exception)
    assert message in result.stderr
    assert result.stderr.count("\n") == 1
    assert not (folder / "out.html").exists()


def test_fewer_groups_than_folds(folder):
    (folder / "few.txt").write_text("".join(f"{i % 4}\n" for i in range(N)))
    (folder / "y.txt").write_text("".join(f"{'ab'[i // 4 % 2]}\n" for i in range(N)))
    fitted = on_files("fit", groups="few.txt")
    assert fitted.exit_code == 0, fitted.output
    assert "by cross-validation by groups on 12 folds" in fitted.stdout
    assert "4-fold cross-validation by groups" in on_files("compare", "--folds", 5, groups="few.txt").stdout
    named = run("fit", "--dataset", "voting", "--groups", "few.txt", "-o", "out.html")
    assert "--groups is for FILE; it cannot be used with --dataset voting" in named.stderr


def test_no_leak_makes_the_groups_from_the_matrix(folder):
    options = ("--labels", "y.txt", "--dissimilarity", "max-minus", *COMMANDS["fit"], "--json")
    for threshold in ("auto", "0.01"):
        result = run("fit", "D.npz", *options, "--no-leak", threshold)
        assert result.exit_code == 0, result.output
        assert f"--no-leak {threshold}: {N // 2} groups of similar samples, the largest of 2" in result.stderr
        found = json.loads(result.stdout)
        assert found["groups"] == N // 2
        assert found["error"] > 0.25
    (folder / "halves.txt").write_text("".join(f"{i % 2}\n" for i in range(N)))
    both = run("fit", "D.npz", *options, "--no-leak", "0.01", "--groups", "halves.txt")
    assert "--no-leak 0.01: 1 groups" in both.stderr
    assert "at least two groups" in both.stderr
    bad = run("fit", "D.npz", *options, "--no-leak", "near")
    assert bad.exit_code == 2
    assert bad.stderr.splitlines()[-1] == "similitude: --no-leak must be a number or auto; got 'near'."


@pytest.mark.parametrize("command", ["report", "compare"])
def test_no_leak_reaches_the_folds(command, folder):
    more = COMMANDS[command]
    result = run(command, "D.npz", "--labels", "y.txt", "--dissimilarity", "max-minus", *more, "--no-leak", "auto")
    assert result.exit_code == 0, result.output
    assert f"{N // 2} groups of similar samples" in result.stderr
    if command == "compare":
        assert "cross-validation by groups" in " ".join(result.stdout.split())
    else:
        assert 'id="nearness"' in (folder / "out.html").read_text(encoding="utf-8")


def test_a_fill_is_checked_and_stored_in_the_model(folder):
    options = ("--labels", "y.txt", "--dissimilarity", "max-minus", "--method", "svm-clip", "-o", "out.html")
    assert run("fit", "D.npz", *options, "--fill", "class-blind-mean").exit_code == 0
    D = np.load("nameless.npy")
    rows = Proximities(np.where(np.arange(N) < 5, np.nan, D[:3]), column_ids=NAMES)
    filled = Proximities(np.where(np.arange(N) < 5, D[~np.eye(N, dtype=bool)].mean(), D[:3]), column_ids=NAMES)
    model = load_model("out.html")
    assert model.predict_proba(rows) == pytest.approx(model.predict_proba(filled))
    bad = run("fit", "D.npz", *options, "--fill", "zero")
    assert bad.exit_code == 2
    assert "fill must be one of" in bad.stderr
