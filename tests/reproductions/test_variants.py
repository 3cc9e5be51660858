"""The variants: their mathematics by slow derivations, what a fit says, and their section on the page."""

import numpy as np
import pytest
from reproductions import PAPERS, page, variants
from reproductions.__main__ import main
from reproductions.variant_methods import (
    FusedKNNFirst,
    JointLocalSVC,
    NormalisedKRR,
    UntreatedRobustSVC,
    WholeMatrixRobustSVC,
)
from reproductions.variants import AS_PRINTED, VARIANTS, Variant
from sklearn.svm import SVC

from similitude import FusedKNN, KNNClassifier, Proximities, RobustSVC
from similitude.datasets import make_negative_direction
from similitude.experiments import Dataset, Store

DATA = make_negative_direction(n_samples=60, random_state=3)
S, Y = DATA.S, DATA.y


def indefinite(n_classes, seed=0):
    """Random similarities of 40 samples, no two of them equal, with self-similarities of 1, and random labels."""
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(40, 40)) / 4
    A = (A + A.T) / 2
    A[np.diag_indices(40)] = 1.0
    return A, rng.integers(0, n_classes, 40)


def split(S, y):
    cut = len(y) * 3 // 4
    return S[:cut, :cut], y[:cut], S[cut:, :cut]


class TestMethods:
    def test_normalised_krr_is_the_footnote(self):
        """w - mean(w) + 1/k for each row, and the class of the largest sum."""
        A, y, rows = split(S, Y)
        model = NormalisedKRR(7, reg=0.5).fit(A, y)
        plain = KNNClassifier(7, "krr", 0.5).fit(A, y)
        (indices, weights), (same, raw) = model.neighbor_weights(rows), plain.neighbor_weights(rows)
        np.testing.assert_array_equal(indices, same)
        np.testing.assert_allclose(weights, raw - raw.mean(axis=1, keepdims=True) + 1 / 7)
        np.testing.assert_allclose(weights.sum(axis=1), 1.0)
        sums = np.array([[own[y[near] == g].sum() for g in np.unique(y)] for near, own in zip(indices, weights)])
        absent = np.array([[not (y[near] == g).any() for g in np.unique(y)] for near in indices])
        np.testing.assert_array_equal(model.predict(rows), np.unique(y)[np.where(absent, -np.inf, sums).argmax(axis=1)])

    def test_the_shift_of_the_weights_may_change_the_class(self):
        """The weights of A, B, B are 1, 0.6, 0.6 before, and 0.6, 0.2, 0.2 after it; the footnote says otherwise."""
        given = np.eye(3), ["A", "B", "B"]
        assert KNNClassifier(3, "krr", 1.0).fit(*given).predict([[2.0, 1.2, 1.2]]).tolist() == ["B"]
        assert NormalisedKRR(3, 1.0).fit(*given).predict([[2.0, 1.2, 1.2]]).tolist() == ["A"]

    def test_the_fused_knn_that_predicts_the_first_of_tied_classes(self):
        S, y = [[5, 1, 1, 1], [1, 5, 4, 2], [1, 4, 5, 2], [1, 2, 2, 5]], ["a", "b", "b", "a"]
        given = Proximities(S, [[0.0], [1.0], [1.1], [0.1]]), y
        row = Proximities([[1, 4, 3, 2]], [[0.4]])
        assert FusedKNN(2).fit(*given).predict(row).tolist() == ["b"]
        assert FusedKNNFirst(2).fit(*given).predict(row).tolist() == ["a"]

    @pytest.mark.parametrize("spectrum", ["clip", "flip"])
    def test_svm_knn_on_neighbours_and_sample_together(self, spectrum):
        """By scikit-learn's machine on the block of the modified matrix of k + 1 samples."""
        A, y = indefinite(3)
        k, train, test = 11, np.arange(30), np.arange(30, 40)
        model = JointLocalSVC(k, 2.0, spectrum).fit(A[np.ix_(train, train)], y[train])
        predicted = model.predict(A[np.ix_(test, train)])
        for x, found in zip(test, predicted):
            near = train[np.argsort(-A[x, train])[:k]]
            both = np.append(near, x)
            values, U = np.linalg.eigh(A[np.ix_(both, both)])
            K = (U * (np.abs(values) if spectrum == "flip" else np.maximum(values, 0))) @ U.T
            machine = SVC(C=2.0, kernel="precomputed", tol=1e-8).fit(K[:k, :k], y[near])
            assert machine.predict(K[k:, :k])[0] == found
        assert len(set(predicted)) > 1

    def test_robust_svm_with_untreated_rows(self):
        A, y, rows = split(*indefinite(2))
        treated, model = RobustSVC(10.0, 1e3).fit(A, y), UntreatedRobustSVC(10.0, 1e3).fit(A, y)
        expected = rows @ treated.dual_coef_ + treated.intercept_
        np.testing.assert_allclose(model.decision_function(rows), expected)
        assert not np.allclose(treated.decision_function(rows), expected)

    def test_robust_svm_on_the_whole_matrix(self):
        whole, y = indefinite(2)
        n = len(y) * 3 // 4
        positions = np.arange(len(y), dtype=float)[:, None]
        given = Proximities(whole[:n, :n], positions[:n]), y[:n]
        model = WholeMatrixRobustSVC(whole, 10.0, 0.1).fit(*given)
        v = np.append(model.dual_coef_, np.zeros(len(y) - n))
        values, U = np.linalg.eigh(whole + np.outer(v, v) / 0.4)
        K = (U * np.maximum(values, 0)) @ U.T
        found = model.decision_function(Proximities(whole[n:, :n], positions[n:]))
        np.testing.assert_allclose(found, K[n:, :n] @ model.dual_coef_ + model.intercept_, atol=1e-9)


class TestList:
    def test_every_variant_is_of_a_row_with_a_figure(self):
        assert len({(*v.row, v.change) for v in VARIANTS}) == len(VARIANTS)
        for variant in VARIANTS:
            assert variant.method in PAPERS[variant.table].figures(variant.dataset)
            assert variant.make is not None or variant.change == AS_PRINTED

    def test_methods_and_grids_fit(self):
        given = Dataset(S, Y)
        for variant in VARIANTS:
            if variant.make is not None:
                estimator, grid = variant.make(given)
                grid = grid(S[:20, :20], Y[:20], 2) if callable(grid) else grid
                assert set(grid) <= set(estimator.get_params())

    def test_how_many_were_tried(self):
        fused = [v for v in VARIANTS if v.method == "fused k-NN"]
        assert {variants.tried(v) for v in fused} == {3}
        assert {variants.tried(v) for v in VARIANTS if v.dataset == "Voting"} == {0}
        assert {variants.tried(v) for v in VARIANTS if v.method == "DBoost"} == {2}


@pytest.fixture
def few(monkeypatch):
    """Two variants of a row of Protein, on simulated data, of which one fits."""
    paper = PAPERS["chen2009-table3"]
    figures = {**paper.published, "Protein": {"k-NN": (100 * 10 / 12, 2.0)}}
    changed = {"datasets": {"Protein": lambda _: Dataset(S, Y)}, "published": figures, "like": {}}
    monkeypatch.setitem(PAPERS, "chen2009-table3", type(paper)(**{**paper.__dict__, **changed}))
    one, bad = KNNClassifier(1), KNNClassifier(3, class_ties="first")
    row = ("chen2009-table3", "Protein", "k-NN")
    chosen = [Variant(*row, "one", lambda _: (one, {})), Variant(*row, "three", lambda _: (bad, {}))]
    monkeypatch.setattr(variants, "VARIANTS", chosen)
    monkeypatch.setattr(page, "VARIANTS", chosen)
    monkeypatch.setattr("reproductions.__main__.VARIANTS", chosen)
    return chosen


def test_they_run_on_new_partitions_and_continue(few, tmp_path, capsys):
    path = tmp_path / "s.db"
    words = ["--variants", "--store", str(path), "--quiet", "--partitions", "6", "--methods", "k-NN"]
    main(words)
    assert [line.rpartition(": ")[0] for line in capsys.readouterr().out.splitlines()] == [
        "Protein, k-NN: one",
        "Protein, k-NN: three",
    ]
    with Store(path) as store:
        found = few[0].results(store, compute=False)
        assert [row.seed for row in found.rows] == [20, 21, 22, 23, 24, 25]
        assert len(few[0].results(store, first=0, compute=False).rows) == 5 + 1
    main([*words, "--first", "19"])
    with Store(path) as store:
        assert len(few[0].results(store, first=19, compute=False).rows) == 7


def test_only_the_section_of_the_page_changes(few, tmp_path):
    store_path, path = tmp_path / "s.db", tmp_path / "p.md"
    path.write_text("# Page\n\n## Summary\n\nolder\n\n## chen2009-table3\n\nfigures\n")
    words = ["--variants", "--page", str(path), "--store", str(store_path)]
    main(words)
    assert path.read_text().count("| not run |") == 2
    (tmp_path / "other.md").write_text("# Another page\n")
    for wrong in ([*words[:2], str(tmp_path / "other.md"), *words[3:]], ["--first", "3"]):
        with pytest.raises(SystemExit, match="2"):
            main(wrong)
    assert (tmp_path / "other.md").read_text() == "# Another page\n"
    main(["--variants", "--store", str(store_path), "--quiet", "--partitions", "6"])
    main(words)
    text = path.read_text()
    assert text.startswith("# Page\n\n## Summary\n\nolder\n\n## Variants that were tried\n")
    assert text.endswith("\n\n## chen2009-table3\n\nfigures\n")
    assert text.count(page.VARIANTS_HEADING) == 1
    with Store(store_path) as store:
        comparisons = [v.comparison(v.results(store, compute=False)) for v in few]
    for variant, c in zip(few, comparisons):
        error = c.our_deviation / np.sqrt(6)
        both = np.hypot(error, 2.0 / np.sqrt(20))
        verdict = "fits" if abs(c.ours - c.paper) <= 2 * both else "does not fit"
        assert f"| {variant.change} | {c.ours:.2f} ({error:.2f}) | 6 | {c.paper:.2f} (2.00) |" in text
        assert f"| {(c.ours - c.paper) / both:+.1f} | at least 2 | {verdict} |" in text
    assert "does not fit" in text
