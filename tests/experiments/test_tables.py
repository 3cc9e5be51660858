"""Tables in every form, with names that mean something there."""

import csv
import io
from dataclasses import replace

import numpy as np
import pytest

from similitude.experiments import Results
from similitude.experiments.store import Row
from similitude.experiments.tables import Entry, Table
from tests.experiments.small import PROTOCOL

UGLY = "a|b & <c>_*$%#~^{\\}"
TABLE = Table(["method", UGLY], [[UGLY, Entry("1.00", bold=True, italic=True)], ["plain, old", ""]], "5% & more")


def _results(errors, methods=("a", "b"), dataset="data"):
    """Results of made-up cells, NaN for those that are missing."""
    errors = np.asarray(errors, dtype=float)
    row = Row("", dataset, 0, "", 0, 100, 0, 0.0, None, "{}", "", "", "", "1", "1", "1", "1", "3", 0.1, "")
    rows = [
        replace(row, key=f"{i} {j}", partition=j, method=methods[i], error=errors[i, j])
        for i in range(len(errors))
        for j in range(errors.shape[1])
        if np.isfinite(errors[i, j])
    ]
    return Results(PROTOCOL, {dataset: errors.shape[1]}, list(methods), rows)


def test_markdown_keeps_its_columns():
    lines = TABLE.markdown().splitlines()
    assert lines[1] == "| --- | ---: |"
    for line in lines[:4]:
        assert line.replace("\\|", "").count("|") == 3
    assert "***1.00***" in lines[2]
    assert r"\_\*" in lines[0]
    assert "<c>" not in lines[0]
    assert lines[-1] == "5% & more"


def test_latex_is_escaped():
    text = TABLE.latex()
    assert r"a|b \& \textless{}c\textgreater{}\_*\$\%\#\textasciitilde{}\textasciicircum{}\{\textbackslash{}\}" in text
    assert r"\textbf{\textit{1.00}} \\" in text
    assert r"\caption{5\% \& more}" in text
    assert text.count(r"\begin") == text.count(r"\end") == 2
    assert r"\begin{table}" not in Table(["a"], [["b"]]).latex()


def test_text_is_aligned():
    table = Table(
        ["method", "error"], [["k-NN", Entry("5.80", bold=True)], ["linear SVM", Entry("16.10", italic=True)]]
    )
    assert str(table) == repr(table) == "method        error\nk-NN         *5.80*\nlinear SVM  _16.10_"


def test_rows_of_another_length():
    with pytest.raises(ValueError, match="rows: each must have 2 entries"):
        Table(["a", "b"], [["c"]])


class TestResults:
    def test_mean_and_standard_deviation_in_percent(self):
        errors = np.array([[0.1, 0.2, 0.3, 0.2, 0.1, 0.2], [0.5, 0.5, 0.6, 0.5, 0.6, 0.5]])
        table = _results(errors).table()
        assert table.rows[0][1] == Entry(f"{100 * errors[0].mean():.2f} ({100 * errors[0].std(ddof=1):.2f})", bold=True)
        assert table.rows[1][1].italic
        assert "Wilcoxon" in table.caption

    def test_missing_cells_are_told(self):
        errors = np.array([[0.1] * 6, [0.2] * 6, [np.nan] * 6])
        errors[1, 2] = np.nan
        results = _results(errors, ("a", "b", "c"))
        table = results.table()
        assert [row[1].text for row in table.rows] == ["10.00 (0.00)", "20.00 (0.00), 5 of 6", "-"]
        assert set(results.missing) == {("data", 2, "b"), *(("data", i, "c") for i in range(6))}
        assert np.isnan(results.mean_errors()).tolist() == [[False], [False], [True]]

    def test_one_partition(self):
        table = _results([[0.1], [0.2]]).table()
        assert [row[1] for row in table.rows] == [Entry("10.00", bold=True), Entry("20.00")]
        assert "too few partitions" in table.caption

    def test_one_method(self):
        table = _results([[0.1] * 6], ("a",)).table()
        assert table.rows[0][1] == Entry("10.00 (0.00)")
        assert table.caption == ""

    def test_bad_arguments(self):
        results = _results([[0.1] * 6], ("a",))
        with pytest.raises(ValueError, match="test must be one of"):
            results.table(test="luck")
        with pytest.raises(ValueError, match="value must be"):
            results.table("speed")
        with pytest.raises(ValueError, match="dataset must be one of"):
            results.values("other")

    def test_versions(self):
        results = _results([[0.1, 0.2]], ("a",))
        mixed = Results(PROTOCOL, results.datasets, ["a"], [results.rows[0], replace(results.rows[1], numpy="2")])
        assert mixed.versions["numpy"] == ["1", "2"]
        assert mixed.versions["python"] == ["3"]

    def test_cells_as_csv(self):
        results = _results([[0.1, 0.25]], ("a",))
        with_times, without = (list(csv.DictReader(io.StringIO(results.csv(times)))) for times in (True, False))
        assert [row["error"] for row in with_times] == ["0.1", "0.25"]
        assert set(with_times[0]) - set(without[0]) == {"seconds", "finished"}
