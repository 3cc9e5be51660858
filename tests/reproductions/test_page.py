"""The plan of all tables, the page of results, and the tests of the papers' claims."""

import numpy as np
import pytest
from reproductions import PAPERS, claims, page, plan
from reproductions.__main__ import main
from reproductions.chen2009 import HONEST
from reproductions.plan import Column

from similitude.experiments import Store

SIMULATED = Column("cazzanti2007-table1", "d = 2")


def test_the_plan_has_every_column_once():
    names = [(column.table, column.dataset) for column in plan.columns()]
    known = [(name, dataset) for name, paper in PAPERS.items() for dataset in paper.datasets]
    assert sorted(names) == sorted(known)
    large = [place for place, (table, dataset) in enumerate(names) if dataset in PAPERS[table].large]
    assert large == list(range(len(names) - len(large), len(names)))
    for column in plan.columns():
        assert plan.quick_methods(column)
    for table, dataset in plan.SLOW:
        assert set(plan.SLOW[table, dataset]) < set(
            PAPERS[table].figures(dataset or next(iter(PAPERS[table].datasets)))
        )
    assert {name for name in plan.SECONDS if name[1] is not None} <= set(names)
    assert {table for table, dataset in plan.SECONDS if dataset is None} == set(PAPERS)


@pytest.fixture
def few(monkeypatch):
    """A plan of two columns, of which one has no data, with two of the methods on two partitions."""
    paper = PAPERS[SIMULATED.table]
    two = {name: method for name, method in paper.methods("d = 2").items() if name in ("SDA", "k-NN")}
    small = {**paper.__dict__, "methods": lambda dataset: two}
    monkeypatch.setitem(PAPERS, SIMULATED.table, type(paper)(**{**small, "protocol": _two(paper.protocol)}))
    monkeypatch.setenv("SIMILITUDE_DATA", "nothing")
    columns = [SIMULATED, Column("chen2009-table3", "Patrol")]
    monkeypatch.setattr(plan, "columns", lambda: columns)
    monkeypatch.setattr(page, "columns", lambda: columns)


def _two(protocol):
    return type(protocol).given(2, inner=protocol.inner)


def test_all_tables_are_computed_and_continued(few, tmp_path, capsys):
    words = ["--all", "--store", str(tmp_path / "s.db"), "--quiet"]
    with Store(tmp_path / "s.db") as store:
        assert list(plan.remaining(store).shares.values()) == [1.0]
        SIMULATED.reproduced(store, methods=["SDA"])
        left = plan.remaining(store)
    assert list(left.shares.values()) == [0.5]
    assert left.seconds(2) == plan.seconds(SIMULATED) / 4
    assert [column.dataset for column in left.missing] == ["Patrol"]
    main(words)
    printed = capsys.readouterr()
    assert printed.out == "complete: cazzanti2007-table1, d = 2\n"
    assert "1 of 1 columns are not complete; this takes about" in printed.err
    main(words)
    assert capsys.readouterr().out == ""


def test_the_page_shows_what_the_store_holds(few, tmp_path):
    words = ["--store", str(tmp_path / "s.db"), "--page", str(tmp_path / "p.md")]
    main(words)
    empty = (tmp_path / "p.md").read_text()
    assert "The store is empty." in empty
    assert "| d = 2 | not run / 47.52 | not run / 26.41 |" in empty
    assert "are not here: Protein, k-NN; Protein, fused k-NN;" in empty
    with Store(tmp_path / "s.db") as store:
        found = SIMULATED.reproduced(store, methods=["SDA"])
    main(words)
    text = (tmp_path / "p.md").read_text()
    (comparison,) = found.comparisons
    assert f"| {comparison.ours:.2f} / 47.52 ({comparison.standard_errors:+.1f}) | not run / 26.41 |" in text
    assert "The store holds 2 cells" in text
    row = found.results.rows[0]
    assert row.finished[:10] in text
    assert f"numpy {row.numpy}" in text
    assert "Not run, because their [data](reproductions.md#data) are not here: Patrol." in text
    assert "all numbers of features, 0 of 13 sets: local SDA &lt; k-NN |  |  | 0.0046 | not run |" in text


def test_a_column_of_voting_without_the_test_labels():
    """The figures of both columns, and the p-value of their difference over the same partitions."""
    store = Store()
    columns = [
        Column("chen2009-table3", dataset).reproduced(store, methods=["k-NN"], partitions=5, progress=False)
        for dataset in ("Voting", HONEST)
    ]
    table = page._narrow(*columns)
    ours = [f"{part.comparisons[0].ours:.2f}" for part in columns]
    line = next(line for line in table.splitlines() if line.startswith("| k-NN |"))
    assert [cell.split()[0] for cell in line.strip("| ").split(" | ")][1::4] == ours


class TestClaims:
    def errors(self, **methods):
        return {("t", "data", name): np.array(values, dtype=float) for name, values in methods.items()}

    def test_better(self):
        errors = self.errors(a=[1, 2, 3, 4, 5, 6], b=[2, 4, 6, 8, 10, 12], c=[1, 3, 2, 5, 4, 6])
        (seen,) = claims.Better("t", ("data",), "a", "b").outcomes(errors)
        (reversed_,) = claims.Better("t", ("data",), "b", "a").outcomes(errors)
        (unseen,) = claims.Better("t", ("data",), "a", "c").outcomes(errors)
        (absent,) = claims.Better("t", ("data", "other"), "a", "d").outcomes(errors)[1:]
        assert (seen.verdict, seen.p_value, seen.difference) == ("seen", 2.0**-6, -3.5)
        assert [o.verdict for o in (reversed_, unseen, absent)] == ["reversed", "not seen", "not run"]

    def test_among_the_best(self):
        errors = self.errors(own=[2, 3, 4, 5, 6, 7], best=[1, 2, 3, 4, 5, 6], near=[2, 4, 3, 6, 5, 8])
        test = claims.AmongTheBest("t", ("data",), "own", ("near",))
        assert test.outcomes(errors)[0].verdict == "seen"
        (worse,) = test._replace(others=("near", "best")).outcomes(errors)
        assert (worse.verdict, worse.p_value) == ("not seen", 2.0**-6)
        assert "against best" in worse.where

    def test_pooled(self):
        datasets, table = tuple(f"d = {d}" for d in (2, 4, 8, 12, 25, 40)), SIMULATED.table
        errors = {
            (table, dataset, name): np.array([value, value + 1.0])
            for i, dataset in enumerate(datasets[:5])
            for name, value in (("local SDA", i), ("SDA", i + 2))
        }
        (runs,) = claims.Pooled(table, datasets, "local SDA", "SDA", "all").outcomes(errors)
        (means,) = claims.Pooled(table, datasets, "local SDA", "SDA", "all", mean=True).outcomes(errors)
        assert (runs.p_value, means.p_value) == (2.0**-10, 2.0**-5)
        assert (runs.published, means.published) == (2.0**-6, 2.0**-6)

    def test_the_papers_own_figures(self):
        """DBoost below LSVM on the 22 sets of the paper, a pair of means for each."""
        outcomes = next(claim for claim in claims.CLAIMS if "DBoost" in claim.text).outcomes({})
        found = {o.where.partition(", ")[0]: o.published for o in outcomes if "LSVM" in o.where}
        assert found == pytest.approx({"l1": 0.0976, "l-inf": 0.0588}, abs=1e-4)

    def test_no_effect(self):
        """Small differences around 0, which exclude the paper's 5.52 - 5.80 = -0.28."""
        names = [f"{name}: as in the table" for name in ("KRR k-NN (pinv)", "k-NN")]
        test = claims.Better("chen2009-table3", ("Voting",), "KRR k-NN (pinv)", "k-NN", more=True)
        base = np.linspace(3, 6, 40)
        for spread, verdict in ((0.2, "no effect"), (5.0, "not seen")):
            pair = base + np.tile([spread, -spread], 20), base
            errors = {("chen2009-table3", "Voting", name): own for name, own in zip(names, pair)}
            (outcome,) = test.outcomes(errors)
            assert (outcome.verdict, outcome.where[-13:]) == (verdict, "40 partitions")
        assert test.outcomes({})[0].verdict == "not run"

    def test_every_claim_names_figures_of_the_papers(self):
        for claim in claims.CLAIMS:
            for test in claim.tests:
                methods = (test.method, *test.others) if hasattr(test, "others") else (test.better, test.worse)
                for dataset in test.datasets:
                    assert set(methods) <= set(PAPERS[test.table].figures(dataset)), claim.text
