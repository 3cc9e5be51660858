"""Two classes: the curves. A search with a score, a budget and stopped methods: the leaderboard."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from similitude import KNNClassifier
from similitude.auto import LeaderboardRow
from similitude.auto.race import BudgetReport
from similitude.report import find, page
from similitude.report.curves import find_curves
from tests.report.conftest import EVIL
from tests.report.standin import auto, clusters


def outcome_of(scores, predicted):
    posteriors = np.column_stack([1 - np.asarray(scores), scores])
    predicted = np.asarray(predicted)
    return SimpleNamespace(predicted=predicted, posteriors=posteriors, tested=np.flatnonzero(predicted >= 0))


def test_the_curves_of_a_small_example():
    """Of the 2 x 2 pairs of a sample of each class, three are in order; the last sample was not tested."""
    found = find_curves(np.array([1, 0, 1, 0, 1]), outcome_of([0.9, 0.8, 0.6, 0.1, np.nan], [1, 1, 0, 0, -1]))
    assert found.auc == pytest.approx(3 / 4)
    assert found.average_precision == pytest.approx(1 / 2 * 1 + 1 / 2 * 2 / 3)
    assert found.share == 0.5
    assert found.decided == (0.5, 0.5, 0.5)


def test_curves_have_few_points():
    rng = np.random.default_rng(0)
    labels, scores = rng.integers(2, size=5000), rng.random(5000)
    found = find_curves(labels, outcome_of(scores, (scores > 0.5).astype(int)))
    assert 100 < len(found.recall) == len(found.precision) <= 500
    assert len(found.false_positive) == len(found.true_positive) <= 500
    assert (found.recall[0], found.recall[-1], found.false_positive[-1]) == (1, 0, 1)


@pytest.mark.parametrize(
    ("labels", "predicted"),
    [([1, 1, 0], [1, 0, -1]), ([0, 0, 1], [1, 0, -1])],
)
def test_no_curves_if_one_class_was_not_tested(labels, predicted):
    assert find_curves(np.array(labels), outcome_of([0.9, 0.3, np.nan], predicted)) is None


@pytest.fixture(scope="module")
def two_classes():
    """The contents of a page of two classes, and its search with a score, a budget and a stopped method."""
    S, labels = clusters(n_classes=2, spread=0.7)
    S -= S.min()
    y = np.array(["b & c", EVIL])[labels]
    search = auto(S, y, KNNClassifier(9))
    rows = sorted(search.leaderboard_, key=lambda row: -row.error)  # not the order of the errors
    scored = [replace(row, score=0.9 - 0.1 * i) for i, row in enumerate(rows)]
    stopped = LeaderboardRow("P-SVM <i>", 0.11, 0.02, n_folds=2, error_of_others=0.035)
    search.leaderboard_, search.scoring = [*scored, stopped], "roc_auc"
    search.budget_report_ = BudgetReport(60.0, 12.0, ["k-NN"], ["P-SVM <i>"], {"SDA <i>": 3.0}, 1, 1, False)
    return find(S, y, auto=search), rows


def test_the_leaderboard_has_the_score_the_budget_and_the_stopped_methods(two_classes):
    findings, rows = two_classes
    assert [row.method for row in findings.outcome.leaderboard] == [row.method for row in rows]
    html = page(findings)
    assert 'aria-sort="descending"><button type="button">Score' in html
    assert '<td class="number" data-value="0.9">0.9000</td>' in html
    assert "The search took 12 of 60 s: 1 method evaluated on all folds" in html
    assert "not tried (about 3 s more): SDA &lt;i&gt;." in html
    of_stopped = html[html.index('<table id="stopped">') :].split("</table>")[0]
    assert "P-SVM &lt;i&gt;" in of_stopped
    assert [part.split("<")[0] for part in of_stopped.split('<td class="number">')[1:]] == ["2", "11.0", "3.5"]
    assert EVIL not in html


def test_a_page_without_these_does_not_mention_them(findings):
    html = page(findings)
    assert not [part for part in ('id="stopped"', "The search took", 'id="curves"', ">Score<") if part in html]


@pytest.mark.parametrize(("width", "dark"), [(320, True), (1200, False)])
def test_the_curves_are_drawn(browser, two_classes, width, dark, tmp_path):
    path = tmp_path / "two.html"
    path.write_text(page(two_classes[0]), encoding="utf-8")
    opened = browser.open(path.as_uri(), width=width, dark=dark)
    try:
        assert opened.complaints() == []
        assert opened.run("document.documentElement.scrollWidth") <= width
        for name in ("roc", "precision"):
            assert opened.run(f"document.querySelector('#{name}-plot .line').getTotalLength()") > 200
            assert opened.run(f"document.querySelectorAll('#{name}-plot circle.mark').length") == 1
        assert opened.run("document.querySelectorAll('i').length") == 0
    finally:
        opened.close()
