"""The section of the operating points: its figures against those of the classifier, and the picture."""

import numpy as np
import pytest

from similitude import AutoClassifier
from similitude.report import find, page
from tests.report.conftest import EVIL
from tests.report.standin import clusters


@pytest.fixture(scope="module")
def searched():
    """A search among samples of three classes, one of them rare, and the contents of its page."""
    S, labels = clusters(n=240, spread=2.4)
    rare = np.flatnonzero(labels == 2)[8:]
    kept = np.setdiff1d(np.arange(240), rare)
    S, y = S[np.ix_(kept, kept)] - S.min(), np.array(["a", "b", EVIL])[labels[kept]]
    auto = AutoClassifier(["k-NN", "nearest centroid"], n_repeats=1, diagnose=False).fit(S, y)
    return auto, find(S, y, auto=auto), y


def test_the_curve_and_the_points(searched):
    auto, findings, y = searched
    risk = findings.outcome.risk
    assert risk.shares[-1] == 1
    assert risk.errors[-1] == np.mean(auto.out_of_fold_.labels != y[auto.out_of_fold_.samples])
    for point in risk.points:
        if point.assigned.any():
            i = np.searchsorted(risk.shares, point.coverage - 1e-12)
            assert risk.errors[i] == pytest.approx(1 - point.measured_precision)
    html = page(findings)
    shown = html[html.index('id="operating-points"') :].split("</table>")[0]
    for point in auto.operating_points():
        assert (f'<td class="number">{point.cutoffs.min():.3f}</td>' in shown) == bool(point.assigned.any())
    by_class = html[html.index('id="points-by-class"') :].split("</table>")[0]
    shared = [np.sum(~point.own & (point.predicted > 0)) for point in auto.operating_points(per_class=True)]
    assert by_class.count("%*</td>") == sum(shared)
    assert shared[0] == 1  # the rare class has no cut-off of its own
    assert EVIL not in html


def test_a_search_without_posteriors_has_no_such_section(findings):
    assert findings.outcome.risk is None
    assert 'id="risk"' not in page(findings)


@pytest.mark.parametrize(("width", "dark"), [(320, True), (1200, False)])
def test_the_picture(browser, searched, width, dark, tmp_path):
    path = tmp_path / "risk.html"
    path.write_text(page(searched[1]), encoding="utf-8")
    opened = browser.open(path.as_uri(), width=width, dark=dark)
    try:
        assert opened.complaints() == []
        assert opened.run("document.documentElement.scrollWidth") <= width
        assert opened.run("document.querySelector('#risk-plot .line').getTotalLength()") > 100
        drawn = {(p.coverage, p.measured_precision) for p in searched[0].operating_points() if p.assigned.any()}
        assert opened.run("document.querySelectorAll('#risk-plot circle.mark').length") == len(drawn)
    finally:
        opened.close()
