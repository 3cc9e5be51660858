"""``similitude fit`` and ``similitude predict``: from a matrix in a file to labels in a file."""

import csv
import json
import os

import joblib
import numpy as np
import pytest

from similitude import (
    AutoClassifier,
    CombinedClassifier,
    FusedClassifier,
    KNNClassifier,
    PathSearchCV,
    PotentialSVC,
    PredictionSets,
    Proximities,
    SimilarityFeatures,
    SpectrumModifier,
    load_model,
    save_model,
)
from similitude.auto.methods import COMPARED_ONLY, methods
from similitude.cli.fit import named_method
from similitude.datasets import load_voting
from tests.cli.command import read_table, run, write_table

N = 30
NAMES = [f"s{i}" for i in range(N)]


@pytest.fixture(scope="module")
def problem():
    rng = np.random.default_rng(0)
    y = np.arange(N + 6) % 2
    X = rng.normal(size=(N + 6, 2)) + 2 * y[:, None]
    D = np.abs(X[:, None] - X[None]).sum(axis=2)
    return D[:N, :N], np.array(["b,c", "a"])[y[:N]], D[N:, :N]


@pytest.fixture
def folder(tmp_path, problem, monkeypatch):
    D, y, new = problem
    write_table(tmp_path / "D.csv", NAMES, NAMES, D)
    np.save(tmp_path / "D.npy", D)
    (tmp_path / "y.txt").write_text("\n".join(y) + "\n")
    np.save(tmp_path / "new.npy", new)
    write_table(tmp_path / "new.csv", [f"new {i}" for i in range(6)], NAMES, new)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def fitted(folder):
    words = ("--dissimilarity", "max-minus", "--method", "k-nn", "-o", "m.model", "--quiet")
    result = run("fit", "D.csv", "--labels", "y.txt", *words)
    assert (result.exit_code, result.output) == (0, "")
    return folder


def assert_refused(result, message):
    assert result.exit_code == 2, (result.output, result.exception)
    assert result.stdout == ""
    assert result.stderr.startswith("similitude: ")
    assert message in result.stderr.splitlines()[-1]  # below notes on the columns


class TestFit:
    def test_the_model_is_that_of_the_search(self, folder, problem):
        D, y, new = problem
        result = run(
            "fit", "D.csv", "--labels", "y.txt", "--dissimilarity", "gauss", "-o", "m.model", "--method", "svm-flip"
        )
        assert result.exit_code == 0, result.output
        assert result.stderr.splitlines() == [
            "similitude: D.csv: the first line is a header; ids: column 1 (id).",
            "similitude: y.txt: no header; labels: column 1.",
        ]
        assert "SVM (flip)" in result.stdout
        assert "m.model" in result.stdout
        model, info = load_model("m.model", return_info=True)
        notes = info["notes"]
        assert info["ids"] == NAMES
        assert (notes["method"], notes["folds"], notes["seed"]) == ("SVM (flip)", 15, 0)
        (member,) = notes["members"]
        assert f"C={member['parameters']['C']:g}" in result.stdout
        assert f"{100 * notes['error']:.2f} %" in result.stdout
        estimator, _ = methods(dissimilarity="gauss")["SVM (flip)"]
        estimator.set_params(**member["parameters"]).fit(D, y)
        assert np.array_equal(model.members_[0].estimator.decision_function(new), estimator.decision_function(new))

    def test_json_and_seed(self, folder):
        words = ("fit", "D.csv", "--labels", "y.txt", "--dissimilarity", "max-minus", "-o", "m.model", "--json")
        words = (*words, "--method", "k-nn")
        with joblib.parallel_config("threading"):
            first, again, other = (run(*words, "--seed", a, "--n-jobs", b) for a, b in ((5, 1), (5, 2), (6, 1)))
        found = json.loads(first.stdout)
        assert (found["asked"], found["method"]) == ("k-NN", "k-NN")
        assert found["model"] == "m.model"
        assert 0 <= found["error"] < 0.4
        assert first.stdout == again.stdout
        assert json.loads(other.stdout)["seed"] == 6

    @pytest.mark.parametrize(
        ("words", "name"),
        [
            ("svm-clip", "SVM (clip)"),
            ("k-nn", "k-NN"),
            ("KRI k-nn", "KRI k-NN"),
            ("kri-k-nn", "KRI k-NN"),
            ("SVM (CLIP)", "SVM (clip)"),
            ("rbf svm (features)", "RBF SVM (features)"),
        ],
    )
    def test_names_of_methods(self, words, name):
        assert named_method(words) == name

    def test_every_method_has_a_name_of_its_own(self):
        names = [name for name in methods() if name not in COMPARED_ONLY]
        assert [named_method(name) for name in names] == names

    def test_auto_is_the_classifier_of_that_name(self, folder, problem, monkeypatch):
        from similitude.auto import evaluated

        D, y, new = problem
        few = ["k-NN", "nearest centroid", "SVM (clip)"]
        monkeypatch.setattr(evaluated, "methods_named", lambda names, **contract: methods(few, **contract))
        words = ("fit", "D.csv", "--labels", "y.txt", "--dissimilarity", "max-minus")
        result = run(*words, "-o", "m.model", "--json")
        assert result.exit_code == 0, result.output
        found = json.loads(result.stdout)
        expected = AutoClassifier(dissimilarity="max-minus").fit(D, y)
        assert (found["asked"], found["method"], found["failures"]) == ("auto", expected.best_method_, {})
        assert [row["method"] for row in found["leaderboard"]] == [row.method for row in expected.leaderboard_]
        assert found["error"] == {row.method: row.error for row in expected.leaderboard_}[expected.best_method_]
        model, info = load_model("m.model", return_info=True)
        assert info["notes"]["leaderboard"] == found["leaderboard"]
        assert np.array_equal(model.predict(new), expected.predict(new))
        first = (folder / "m.model").read_bytes()
        shown = run(*words, "-o", "m.model", "--time-budget", "1000")
        assert (folder / "m.model").read_bytes() == first
        assert f"method      {expected.best_method_}" in shown.stdout
        assert "best ones" in shown.stdout
        assert "no time" not in shown.stdout
        hurried = run(*words, "-o", "m.model", "--time-budget", "1e-9").stdout
        assert "by cross-validation on 5 folds" in hurried
        left_out = load_model("m.model", return_info=True)[1]["notes"]["left_out"]
        assert sorted(left_out) == sorted(set(few) - {"k-NN"})
        assert f"no time for {', '.join(left_out)}\n" in hurried

    def test_small_classes(self, folder):
        (folder / "y.txt").write_text("\n".join(["w"] + ["x"] * 2 + ["z"] * (N - 3)) + "\n")
        words = ("--dissimilarity", "max-minus", "--method", "k-nn", "-o", "m.model")
        result = run("fit", "D.csv", "--labels", "y.txt", *words)
        assert result.exit_code == 0, result.output
        assert "not tested  w (too few samples to test)" in result.stdout
        assert load_model("m.model").classes_.tolist() == ["w", "x", "z"]

    def test_what_looks_like_a_dissimilarity_is_said(self, folder):
        result = run("fit", "D.csv", "--labels", "y.txt", "-o", "m.model", "--method", "k-nn")
        assert result.exit_code == 0
        assert "looks like a dissimilarity" in result.stderr

    @pytest.mark.parametrize(
        ("words", "message"),
        [
            ((), "either FILE"),
            (("D.csv",), "--labels"),
            (("--dataset", "nothing"), "--dataset must be"),
            (("D.csv", "--dataset", "voting"), "either FILE"),
            (("--dataset", "voting", "--dissimilarity", "gauss"), "--dissimilarity is for FILE"),
            (("nowhere.csv", "--labels", "y.txt"), "nowhere.csv"),
            (("D.csv", "--labels", "nowhere.txt"), "nowhere.txt"),
            (("D.csv", "--labels", "y.txt", "--method", "magic"), "svm-clip"),
            (("D.csv", "--labels", "y.txt", "--method", "svm-cilp"), "Did you mean 'svm-clip'?"),
            (("D.csv", "--labels", "y.txt", "--dissimilarity", "magic"), "dissimilarity must be"),
            (("D.csv", "--labels", "y.txt", "--n-jobs", "0"), "--n-jobs"),
            (("D.csv", "--labels", "y.txt", "--method", "random forest (features)"), "--method must be one of"),
            (("D.csv", "--labels", "y.txt", "--time-budget", "0"), "--time-budget"),
            (("D.csv", "--labels", "y.txt", "--time-budget", "inf"), "--time-budget"),
            (("D.csv", "--labels", "one.txt"), "at least two classes"),
            (("D.csv", "--labels", "single.txt"), "a class of at least two samples"),
            (("D.csv", "--labels", "y.txt", "-o", "nowhere/m.model"), "no folder nowhere"),
            (("D.csv", "--labels", "y.txt", "-o", "."), "is a folder"),
        ],
    )
    def test_bad_arguments(self, words, message, folder):
        (folder / "one.txt").write_text("a\n" * N)
        (folder / "single.txt").write_text("".join(f"{i}\n" for i in range(N)))
        before = set(os.listdir(folder))
        words = words if "-o" in words else (*words, "-o", "m.model")
        assert_refused(run("fit", "--quiet", *words), message)
        assert set(os.listdir(folder)) == before

    def test_the_output_is_needed(self, folder):
        result = run("fit", "D.csv", "--labels", "y.txt")
        assert result.exit_code == 2
        assert "--output" in result.stderr


class TestPredict:
    def test_probabilities_by_class(self, fitted, problem):
        result = run("predict", "m.model", "new.csv", "-o", "out.csv")
        assert result.exit_code == 0, result.output
        assert result.stderr.count("\n") == 2
        assert result.stderr.startswith("similitude: new.csv: the first line is a header; ids: column 1 (id).\n")
        assert "no class has 19 samples: typicality is at least" in result.stderr
        assert "at least 0.062 here" in result.stderr  # 1 / 16
        header, *rows = read_table(fitted / "out.csv")
        assert header == [
            "id",
            "label",
            "confidence",
            "a",
            "b,c",
            "typicality",
            "familiarity",
            "applicability",
            "evidence",
        ]
        model = load_model("m.model")
        assert [row[0] for row in rows] == [f"new {i}" for i in range(6)]
        assert [row[1] for row in rows] == model.predict(problem[2]).tolist()
        assert np.array_equal([list(map(float, row[3:5])) for row in rows], model.predict_proba(problem[2]))
        assert np.array_equal([float(row[2]) for row in rows], model.predict_proba(problem[2]).max(axis=1))
        assert np.array_equal([float(row[5]) for row in rows], model.typicality(problem[2]).max(axis=1))
        assert "probabilities" in result.stdout
        assert "saved to out.csv" in result.stdout

    def test_sets_of_classes(self, fitted, problem):
        rows = problem[2].copy()
        rows[0] += 1e3  # far from everything
        np.save(fitted / "far.npy", rows)
        result = run("predict", "m.model", "far.npy", "-o", "out.csv", "--confidence", "0.8")
        assert result.exit_code == 0, result.output
        header, *table = read_table(fitted / "out.csv")
        assert header == [
            "label",
            "confidence",
            "a",
            "b,c",
            "typicality",
            "familiarity",
            "applicability",
            "set",
            "evidence",
        ]
        model = load_model("m.model")
        sets = model.predict_set(rows, 0.8)
        names = ["a", "b,c"]
        assert [row[7] for row in table] == ["|".join(n for n, held in zip(names, row) if held) for row in sets]
        assert float(table[0][4]) == 1 / 16
        measured = f"{100 * model.coverage(0.8).coverage:.1f}% at confidence 0.8"
        assert "approximate sets" in result.stdout
        assert measured in result.stdout
        told = json.loads(run("predict", "m.model", "far.npy", "-o", "out.csv", "--confidence", "0.8", "--json").stdout)
        assert told["sets"]["measured_coverage"] == model.coverage(0.8).coverage
        assert told["unlike_all_classes"] == 0  # classes of 15 samples cannot give a typicality of 0.05

    def test_typicality_without_small_classes(self, folder):
        """One class of a single sample does not make every row typical."""
        x = np.append(np.random.default_rng(0).normal(size=40) + 8 * (np.arange(40) % 2), 4.0)
        np.save("S.npy", -np.abs(x[:, None] - x))
        np.save("new.npy", -np.abs(np.array([[0.0], [8.0], [50.0]]) - x))
        (folder / "y.txt").write_text("a\nb\n" * 20 + "alone\n")
        assert run("fit", "S.npy", "--labels", "y.txt", "--method", "k-nn", "-o", "m.model").exit_code == 0
        result = run("predict", "m.model", "new.npy", "-o", "out.csv")
        assert "1 of 3 classes has fewer than 19 samples" in result.stderr
        assert "1 row is unlike all classes of at least 19 samples (typicality of at most 0.05)" in result.stdout
        found = [float(row[-4]) for row in read_table(folder / "out.csv")[1:]]
        p_values = load_model("m.model").typicality(np.load("new.npy"))
        assert np.all(p_values[:, 1] == 1)
        assert found == p_values[:, [0, 2]].max(axis=1).tolist()
        assert found[2] == 1 / 21

    def test_sets_of_small_classes_and_of_other_models(self, fitted):
        result = run("predict", "m.model", "new.csv", "-o", "out.csv", "--confidence", "0.95")
        assert result.exit_code == 0, result.output
        assert "calibrated together" in result.stderr
        assert "class 'a' has 15" in result.stderr
        assert "class_conditional" not in result.stderr
        result = run("predict", "m.model", "new.csv", "-o", "out.csv", "--confidence", "1.5")
        assert (result.exit_code, result.stderr.count("\n")) == (2, 1)
        assert "--confidence must be a number above 0 and below 1" in result.stderr
        D, labels = np.load("D.npy"), np.arange(N) % 2
        save_model("knn.model", KNNClassifier(3, dissimilarity="max-minus").fit(D, labels))
        result = run("predict", "knn.model", "new.npy", "-o", "out.csv", "--confidence", "0.8")
        assert result.exit_code == 2
        assert "MODEL holds a KNNClassifier" in result.stderr
        sets = PredictionSets(KNNClassifier(3, dissimilarity="max-minus"), 0.8, cv=3).fit(D, labels)
        save_model("sets.model", sets)
        result = run("predict", "sets.model", "new.npy", "-o", "out.csv", "--confidence", "0.8")
        assert result.exit_code == 0, result.output
        shown = [row[-2] for row in read_table(fitted / "out.csv")[1:]]
        found = sets.predict_set(np.load("new.npy"))
        assert shown == ["|".join(str(g) for g in range(2) if row[g]) for row in found]

    def test_columns_are_matched_by_id(self, fitted, problem):
        run("predict", "m.model", "new.csv", "-o", "expected.csv")
        order = np.random.default_rng(1).permutation(N)
        more = np.hstack([problem[2][:, order], np.full((6, 1), 99.0)])
        write_table(fitted / "mixed.csv", [f"new {i}" for i in range(6)], [*np.array(NAMES)[order], "else"], more)
        result = run("predict", "m.model", "mixed.csv", "-o", "out.csv")
        assert result.exit_code == 0, result.output
        assert "1 columns are not training samples and are ignored: 'else'" in result.stderr
        assert (fitted / "out.csv").read_bytes() == (fitted / "expected.csv").read_bytes()

    def test_missing_columns_are_named(self, fitted, problem):
        write_table(fitted / "few.csv", [f"new {i}" for i in range(6)], NAMES[2:], problem[2][:, 2:])
        assert_refused(run("predict", "m.model", "few.csv", "-o", "out.csv"), "have no column: 's0', 's1'")
        assert not (fitted / "out.csv").exists()

    def test_without_ids_the_order_is_trusted(self, fitted):
        run("predict", "m.model", "new.csv", "-o", "named.csv")
        result = run("predict", "m.model", "new.npy", "-o", "out.csv", "--json")
        found = json.loads(result.stdout)
        assert (found["rows"], found["columns"], sum(found["labels"].values())) == (6, "probabilities", 6)
        assert [row[1:] for row in read_table(fitted / "named.csv")] == read_table(fitted / "out.csv")
        np.save("narrow.npy", np.ones((2, 7)))
        assert_refused(
            run("predict", "m.model", "narrow.npy", "-o", "x.csv"), "has 7 columns; the model was fitted on 30"
        )

    @pytest.mark.parametrize("named", [False, True])
    @pytest.mark.parametrize("kind", ["machine", "pipeline"])
    def test_rows_of_the_columns_that_are_needed(self, kind, named, folder, problem):
        from sklearn.linear_model import LogisticRegression
        from sklearn.pipeline import make_pipeline

        D, y, new = problem
        features = SimilarityFeatures(4, random_state=0, dissimilarity="max-minus")
        model = (
            PotentialSVC(epsilon=3.0, dissimilarity="max-minus")
            if kind == "machine"
            else make_pipeline(features, LogisticRegression())
        )
        model.fit(Proximities(D, ids=NAMES) if named else D, y)
        save_model("m.model", model, ids=NAMES)
        support = load_model("m.model", return_info=True)[1]["support_columns"]
        assert 0 < len(support) < N
        write_table(folder / "part.csv", list("uvwxyz"), np.array(NAMES)[support][::-1], new[:, support][:, ::-1])
        np.save("part.npy", new[:, support])
        expected = model.predict(Proximities(new, column_ids=NAMES) if named else new).tolist()
        for rows in ("part.csv", "part.npy", "new.csv", "new.npy"):
            result = run("predict", "m.model", rows, "-o", "out.csv")
            assert result.exit_code == 0, (rows, result.output)
            table = read_table(folder / "out.csv")
            assert [row[table[0].index("label")] for row in table[1:]] == expected
        write_table(folder / "less.csv", list("uvwxyz"), np.array(NAMES)[support[1:]], new[:, support[1:]])
        assert_refused(run("predict", "m.model", "less.csv", "-o", "out.csv"), repr(NAMES[support[0]]))

    def test_typicality_is_left_out_without_all_columns(self, folder, problem):
        D, y, new = problem
        member = ("P-SVM", PotentialSVC(epsilon=3.0, dissimilarity="max-minus"))
        model = CombinedClassifier([member], n_folds=3, dissimilarity="max-minus").fit(D, y)
        save_model("m.model", model)
        np.save("part.npy", new[:, model.support_columns_])
        result = run("predict", "m.model", "part.npy", "-o", "out.csv")
        assert result.exit_code == 0, result.output
        assert "typicality needs all of them and is left out" in result.stderr
        assert read_table(folder / "out.csv")[0] == ["label", "confidence", "a", "b,c"]

    def test_decision_values_where_there_are_no_probabilities(self, folder, problem):
        D, y, new = problem
        model = PotentialSVC(dissimilarity="max-minus").fit(D, y)
        save_model("m.model", model)
        result = run("predict", "m.model", "new.npy", "-o", "out.csv")
        assert "has no probabilities" in result.stdout
        header, *rows = read_table(folder / "out.csv")
        assert header == ["label", "decision b,c", "evidence"]
        assert [float(row[1]) for row in rows] == model.decision_function(new).tolist()

    def test_votes(self, folder):
        result = run("fit", "--dataset", "voting", "-o", "v.model", "--json", "--method", "k-nn")
        assert 0.03 < json.loads(result.stdout)["error"] < 0.08
        voting = load_voting()
        expected = load_model("v.model").predict(voting.data[:20]).tolist()
        with open("votes.csv", "w", newline="") as file:
            csv.writer(file).writerows(voting.data[:20].tolist())
        with open("named.csv", "w", newline="") as file:
            csv.writer(file).writerow(["who", *voting.feature_names])
            csv.writer(file).writerows([f"m{i}", *row] for i, row in enumerate(voting.data[:20].tolist()))
        for rows, first in (("votes.csv", "label"), ("named.csv", "id")):
            result = run("predict", "v.model", rows, "-o", "out.csv")
            assert result.exit_code == 0, result.output
            header, *table = read_table(folder / "out.csv")
            assert header[0] == first
            assert [row[header.index("label")] for row in table] == expected
        (folder / "wide.csv").write_text("y,n\n")
        (folder / "ragged.csv").write_text("y,n\ny\n")
        (folder / "empty.csv").write_text("")
        for rows, message in (
            ("wide.csv", "has 2 columns; the model was fitted on objects with 16"),
            ("ragged.csv", "row 2 has 1 cells"),
            ("empty.csv", "empty"),
            ("new.npy", ".csv, .tsv and .parquet"),
            ("nowhere.csv", "nowhere.csv"),
        ):
            assert_refused(run("predict", "v.model", rows, "-o", "out.csv"), message)

    @pytest.mark.parametrize(
        ("similarity", "objects", "text"),
        [
            ("euclidean", np.arange(12.0).reshape(6, 2), "0,1\n10,11\n"),
            ("jaro-winkler", ["abba", "abbb", "abab", "xyxx", "xyyy", "xxyy"], "abba\nxyxx\n"),
        ],
    )
    def test_other_objects(self, similarity, objects, text, folder):
        if similarity == "jaro-winkler":
            pytest.importorskip("rapidfuzz")
        save_model("m.model", KNNClassifier(1, similarity=similarity).fit(objects, list("aaabbb")))
        (folder / "rows.csv").write_text(text)
        result = run("predict", "m.model", "rows.csv", "-o", "out.csv")
        assert result.exit_code == 0, result.output
        assert [row[0] for row in read_table(folder / "out.csv")] == ["label", "a", "b"]

    def test_a_family_of_distances_of_series(self, folder):
        rng = np.random.default_rng(0)
        y = np.arange(24) % 2
        X = np.sin(np.linspace(0, 3 + 3 * y, 20, axis=1)) + rng.normal(0, 0.1, (24, 20))
        np.savetxt("series.csv", X, delimiter=",")
        (folder / "classes.txt").write_text("".join(f"c{label}\n" for label in y))
        words = ("series.csv", "--labels", "classes.txt", "--similarity", "elastic")
        result = run("fit", *words, "--method", "svm-equal-mixture", "-o", "m.model", "--quiet")
        assert (result.exit_code, result.output) == (0, "")
        assert run("predict", "m.model", "series.csv", "-o", "p.csv", "--quiet").exit_code == 0
        assert [row["label"] for row in csv.DictReader((folder / "p.csv").open())] == [f"c{label}" for label in y]
        result = run("compare", *words, "--methods", "k-nn", "--folds", "3", "--json", "--quiet")
        assert len(json.loads(result.stdout)["names"]) == 38
        result = run("report", *words, "--methods", "k-nn,svm-equal-mixture", "--folds", "3", "-o", "page.html")
        assert result.exit_code == 0, result.output
        page = (folder / "page.html").read_text()
        for text in ("There are 38 similarities", "Similarities side by side", "d-twe-stiff", "k-NN on", "map"):
            assert text in page
        assert "load_objects(&#x27;series.csv&#x27;, objects=&#x27;time series&#x27;, labels=" in page
        assert "elastic means a family" in run("fit", *words, "--param", "window=1", "-o", "m.model").output
        assert "one similarity is needed here" in run("inspect", "series.csv", "--similarity", "elastic").output

    def test_of_new_texts_none_is_taken_for_a_heading(self, folder):
        model = KNNClassifier(1, similarity="compression").fit(["a" * 20, "xyz" * 7], ["a", "b"])
        one, two = "a" * 30, "xyz" * 10
        assert model.predict([one, two]).tolist() == ["a", "b"]
        save_model("m.model", model)
        for text, ids in (
            (f"{one}\n{two}\n", None),
            (f"ID,text\none,{one}\ntwo,{two}\n", ["one", "two"]),
        ):
            (folder / "rows.csv").write_text(text)
            assert run("predict", "m.model", "rows.csv", "-o", "out.csv").exit_code == 0
            header, *rows = read_table(folder / "out.csv")
            assert [row[header.index("label")] for row in rows] == ["a", "b"]
            assert ([row[0] for row in rows] == ids) == (ids is not None)
        (folder / "rows.csv").write_text(f"one,{one}\ntwo,{two}\n")
        assert_refused(
            run("predict", "m.model", "rows.csv", "-o", "out.csv"),
            f"has 2 columns of text, 'one', {one!r}; one is needed, and one of ids below a heading id",
        )
        (folder / "rows.csv").write_text("id,text\n")
        assert_refused(run("predict", "m.model", "rows.csv", "-o", "out.csv"), "has a header, but no rows")
        assert_refused(run("predict", "m.model", ".", "-o", "out.csv"), ": . is not a file")

    def test_objects_that_no_file_holds(self, folder):
        save_model("m.model", KNNClassifier(1, similarity="jaccard").fit([{1}, {2}], ["a", "b"]))
        assert_refused(run("predict", "m.model", "new.csv", "-o", "out.csv"), "load_model(path).predict(objects)")

    def test_a_transformer_predicts_nothing(self, folder, problem):
        save_model("m.model", SpectrumModifier("clip", dissimilarity="max-minus").fit(problem[0]))
        assert_refused(run("predict", "m.model", "new.csv", "-o", "out.csv"), "is not a classifier")

    def test_a_model_of_features_and_similarities(self, folder, problem):
        D, y, _ = problem
        model = FusedClassifier().set_params(sda__n_neighbors=5, bda__n_neighbors=5)
        save_model("m.model", model.fit(Proximities(D.max() - D, D[:, :2]), y))
        assert_refused(run("predict", "m.model", "new.csv", "-o", "out.csv"), "Load the model in Python")

    def test_a_fused_model_of_a_matrix(self, folder, problem):
        words = ("--dissimilarity", "max-minus", "--method", "sda-and-bda-fused", "-o", "m.model", "--quiet")
        run("fit", "D.csv", "--labels", "y.txt", *words)
        expected = load_model("m.model").predict(problem[2]).tolist()
        for rows in ("new.csv", "new.npy"):
            result = run("predict", "m.model", rows, "-o", "out.csv")
            assert result.exit_code == 0, result.output
            table = read_table(folder / "out.csv")
            assert [row[table[0].index("label")] for row in table[1:]] == expected

    def test_labels_are_text(self, folder):
        """Not markup, not formulas, not only ASCII."""
        names = ["<script>alert(1)</script>", "=1+1"]
        (folder / "y.txt").write_text("\n".join(names[i % 2] for i in range(N)) + "\n", encoding="utf-8")
        (folder / "z.txt").write_text("\n".join(["ζ,é", "[red]"][i % 2] for i in range(N)) + "\n", encoding="utf-8")
        for labels, known in (("y.txt", names), ("z.txt", ["ζ,é", "[red]"])):
            words = ("--dissimilarity", "max-minus", "--method", "k-nn", "-o", "m.model", "--quiet")
            assert run("fit", "D.csv", "--labels", labels, *words).exit_code == 0
            result = run("predict", "m.model", "new.csv", "-o", "out.csv")
            header, *rows = read_table(folder / "out.csv")
            assert header == [
                "id",
                "label",
                "confidence",
                *sorted(known),
                "typicality",
                "familiarity",
                "applicability",
                "evidence",
            ]
            assert {row[1] for row in rows} <= set(known)
            assert any(name in result.stdout for name in known)

    def test_a_whole_search(self, folder, problem):
        D, y, _ = problem
        save_model("m.model", PathSearchCV(KNNClassifier(), {"n_neighbors": [1, 3]}, cv=3).fit(-D, y))
        assert run("predict", "m.model", "new.npy", "-o", "out.csv").exit_code == 0

    def test_a_data_frame(self, folder, problem):
        pandas = pytest.importorskip("pandas")
        D, y, _ = problem
        save_model("m.model", KNNClassifier().fit(pandas.DataFrame(-D, columns=NAMES), y))
        result = run("predict", "m.model", "new.csv", "-o", "out.csv")
        columns = "similitude: new.csv: the first line is a header; ids: column 1 (id).\n"
        assert (result.exit_code, result.stderr) == (0, columns)

    def test_another_scikit_learn_is_said(self, fitted, monkeypatch):
        monkeypatch.setattr("sklearn.__version__", "0.1")
        result = run("predict", "m.model", "new.csv", "-o", "out.csv")
        assert result.exit_code == 0
        assert "similitude: warning: m.model was saved with scikit-learn" in result.stderr

    @pytest.mark.parametrize(
        ("words", "message"),
        [
            (("nowhere.model", "new.csv", "-o", "out.csv"), "MODEL: there is no file nowhere.model"),
            (("new.npy", "new.csv", "-o", "out.csv"), "is not a model file"),
            (("damaged.model", "new.csv", "-o", "out.csv"), "is damaged"),
            (("m.model", "nowhere.csv", "-o", "out.csv"), "nowhere.csv"),
            (("m.model", "y.txt", "-o", "out.csv"), "y.txt"),
            (("m.model", "new.csv", "-o", "nowhere/out.csv"), "no folder nowhere"),
            (("m.model", "new.csv", "-o", "."), "is a folder"),
            (("m.model", "new.csv", "-o", "out.csv", "--key", "x"), "key"),
        ],
    )
    def test_bad_arguments(self, words, message, fitted):
        whole = (fitted / "m.model").read_bytes()
        (fitted / "damaged.model").write_bytes(whole[:50] + b"?" + whole[51:])
        before = set(os.listdir(fitted))
        assert_refused(run("predict", *words), message)
        assert set(os.listdir(fitted)) == before
