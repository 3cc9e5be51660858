import base64
import hashlib
import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from similitude import KNNClassifier
from similitude.diagnosis.pictures import Spectra
from similitude.report import find, page
from similitude.report.markup import chip, sample
from similitude.report.outcome import Mistake
from similitude.report.page import embedded
from tests.report.conftest import EVIL
from tests.report.standin import auto, auto_combined, clusters

VOID = {"meta", "link", "input", "br"}


class _Reader(HTMLParser):
    """Collects elements, and fails on tags that do not match."""

    def __init__(self, html):
        super().__init__(convert_charrefs=True)
        self.open, self.found, self.texts = [], [], []
        self.feed(html)
        assert not self.open

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append((self.open[-1] if self.open else "", data))


def _data(html):
    return json.loads(re.search(r'id="data">(.*?)</script>', html, re.DOTALL)[1])


def test_names_and_labels_are_text(findings):
    html = page(findings)
    read = _Reader(html)
    assert [attrs.get("id") for tag, attrs in read.found if tag == "script"] == ["data", "levels", None]
    assert not [tag for tag, _ in read.found if tag == "b"]
    assert EVIL not in html
    assert any(EVIL in text for tag, text in read.texts if tag == "h1")
    assert EVIL in _data(html)["classes"]
    assert "x\\\\u2028y" in html
    assert "\u2028" not in html


def test_nothing_is_fetched_and_no_script_runs_but_the_page_s(findings):
    html = page(findings)
    for tag, attributes in _Reader(html).found:
        assert not {"src", "srcset", "style", "onclick", "onload"} & set(attributes)
        if "href" in attributes:
            assert attributes["href"].startswith(("#", "data:")), (tag, attributes)
    assert "http" not in html.replace("http-equiv", "").replace("http://www.w3.org/2000/svg", "")
    script = re.search(r"<script>(.*?)</script>", html, re.DOTALL)[1]
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}'" in html
    assert "default-src 'none'" in html


def test_links_lead_to_sections_and_labels_to_elements(findings):
    read = _Reader(page(findings))
    ids = [attributes["id"] for _, attributes in read.found if "id" in attributes]
    assert len(ids) == len(set(ids))
    for _, attributes in read.found:
        for name in ("aria-labelledby", "aria-describedby", "for"):
            assert attributes.get(name, ids[0]) in ids
        if attributes.get("href", "").startswith("#"):
            assert attributes["href"][1:] in ids


@given(st.text(st.characters(), max_size=12))
@settings(max_examples=40)
def test_embedded_json_cannot_end_its_element(label):
    for value in (label, f"</script>{label}", f"<!--{label}", "\u2028&"):
        text = embedded([value])
        assert json.loads(text) == [value]
        assert not set("<>&\u2028\u2029") & set(text)


def test_a_report_of_the_matrix_alone_and_one_with_many_classes():
    S, _ = clusters(60)
    y = np.arange(60) % 15
    alone = page(find(S, y))
    assert 'id="leaderboard"' not in alone
    assert "confusion" not in _data(alone)
    _Reader(alone)
    html = page(find(S, y, auto=auto(S, y, KNNClassifier(), predicted=(y + 1) % 15)))
    assert len(_data(html)["confusion"]) == 15
    assert "The 8 largest" not in html
    assert "8 largest of 15 classes" in html
    _Reader(html)


def _cells(html):
    rows = re.findall(r"<tr class=.*?</tr>", re.search(r'id="leaderboard".*?</table>', html, re.DOTALL)[0])
    return {
        re.search(r'class="name">(.*?)<', row)[1]: (
            row,
            re.findall(r'<td class="number" data-value="(.*?)">(.*?)<', row),
        )
        for row in rows
    }


def test_the_leaderboard_of_a_combination():
    S, y = clusters(60)
    S = S - S.min()
    members = [("k-NN", KNNClassifier(9), 0.75), ("affinity k-NN", KNNClassifier(5, weights="affinity"), 0.25)]
    search = auto_combined(S, y, *members)
    html = page(find(S, y, auto=search))
    _Reader(html)
    cells = _cells(html)
    weights = {name: numbers[0] for name, (_, numbers) in cells.items()}
    assert weights["k-NN"] == ("0.75", "0.75")
    assert weights["nearest centroid"] == weights["random forest (features)"] == ("", "")
    assert "weighted mean of 2 methods" in cells["combination"][0]
    assert 'class="close chosen combination"' in cells["combination"][0]
    assert "compared only" in cells["random forest (features)"][0]
    assert "compared only" not in cells["nearest centroid"][0]
    assert "The <strong>combination</strong> was chosen" in html
    assert "of 2 methods, whose weights were chosen by the Brier score" in html
    assert "k-NN 0.75, affinity k-NN 0.25" in html
    assert "the choice of its members and weights" in html
    data = _data(html)
    assert data["members"] == [["k-NN", 0.75], ["affinity k-NN", 0.25]]
    own = search.out_of_fold_.members
    for mistake in data["mistakes"]:
        labels = np.argmax(own[:, mistake["sample"]], axis=1)
        assert [label for label, _ in mistake["members"]] == labels.tolist()
        expected = [own[i, mistake["sample"], label] for i, label in enumerate(labels)]
        np.testing.assert_allclose([p for _, p in mistake["members"]], expected, rtol=1e-3)
        assert all(len(neighbor) == 2 for neighbor in mistake["neighbors"])


def test_the_rule_that_chose_a_single_method():
    S, y = clusters(30)
    search = auto(S, y, KNNClassifier(), predicted=y)
    assert "no combination of it with other methods had a better Brier score" in page(find(S, y, auto=search))
    search.prefer = "simple"
    assert "it is the simplest method whose error exceeds the smallest" in page(find(S, y, auto=search))
    search.prefer, search.scoring = "accuracy", "neg_log_loss"
    search.leaderboard_.append(replace(search.leaderboard_[0], method="combination", weight=1.0))
    html = page(find(S, y, auto=search))
    assert "score &#x27;neg_log_loss&#x27; for left-out samples is better than that of the combination" in html
    search.leaderboard_ = [replace(search.leaderboard_[1], method="k-NN")]
    assert "it is the only method that could be" in page(find(S, y, auto=search))


@pytest.mark.parametrize(
    "S",
    [
        np.ones((4, 4)),
        np.zeros((4, 4)),
        np.diag([1e-300, 2e-300, 0.0, 1e-301]),
        np.full((4, 4), 1e150) * [[1], [-1], [1], [0.5]],
        np.eye(4, dtype=np.float32),
    ],
)
def test_ugly_matrices(S):
    html = page(find(S, ["a", "a", "b", "b"]))
    _Reader(html)
    assert len(_data(html)["order"]) == 4


def test_nothing_was_misclassified():
    S, y = clusters(12)
    html = page(find(S, y, auto=auto(S, y, KNNClassifier(), predicted=y)))
    assert "None of the 12 samples" in html
    assert _data(html)["mistakes"] == []


@pytest.mark.parametrize("symmetric", [True, False])
def test_two_thousand_samples_stay_below_six_megabytes(findings, symmetric):
    n, rng = 2000, np.random.default_rng(0)
    S = rng.random((n, n), dtype=np.float32)
    values = np.sort(rng.normal(size=n))[::-1]
    mistakes = [
        Mistake(i, 0, rng.permutation(n)[:12], rng.random(12), rng.random(12), 30, rng.random(3)) for i in range(1000)
    ]
    large = replace(
        findings,
        ids=tuple(f"sample number {i}" for i in range(n)),
        labels=np.arange(n) % 3,
        drawn=np.arange(n),
        S=S + S.T if symmetric else S,
        order=np.argsort(np.arange(n) % 3, kind="stable"),
        spectra=Spectra(values, dict.fromkeys(("clip", "flip", "shift"), values)),
        outcome=replace(
            findings.outcome,
            predicted=rng.integers(3, size=n),
            posteriors=rng.random((n, 3)),
            mistakes=tuple(mistakes),
            n_mistakes=1333,
        ),
    )
    html = page(large)
    assert len(_data(html)["mistakes"]) == 1000
    assert len(html.encode()) < (3.6e6 if symmetric else 6.2e6)
    assert len(html.encode()) / 2**20 < 6


def test_the_error_by_the_nearest_training_sample():
    X, y = clusters()
    n = len(y)
    found = auto(X, y, KNNClassifier(3), predicted=np.where(np.arange(n) < n // 4, y[::-1], y))
    assert 'id="nearness"' not in page(find(X, y, auto=found))
    found.out_of_fold_.nearest = np.where(np.arange(n) < 3, np.nan, np.linspace(1, 0, n))
    findings = find(X, y, auto=found)
    html = page(findings)
    _Reader(html)
    nearness = findings.outcome.nearness
    assert f"{nearness.summary().capitalize()}." in html
    part = html[html.index('id="nearness-table"') : html.index("</table>", html.index('id="nearness-table"'))]
    counts = [int(count) for count in re.findall(r'<td class="number">(\d+)</td>', part)]
    assert counts == [found.count for found in (*nearness.bins, nearness.unknown)]
    assert "none is known" in part


def test_many_classes_have_different_chips_and_short_words_are_whole():
    """Ten colours in five shapes; an id such as "Adenovirus" is not broken in its middle."""
    findings = SimpleNamespace(classes=[f"class {i}" for i in range(47)])
    looks = {re.search(r'class="chip ([^"]*)"', chip(findings, i))[1] for i in range(47)}
    assert len(looks) == 47
    assert sample("Adenovirus 12") == '<span class="whole">Adenovirus 12</span>'
    assert sample("x" * 15) == "x" * 15


def test_errors_with_and_without_evidence():
    """They are in the leaderboard if some samples give none."""
    S, y = clusters()
    found = auto(S, y, KNNClassifier(5))
    assert "evidence" not in page(find(S, y, auto=found))
    rows = [
        replace(
            row, error_with_evidence=row.error / 2, error_without_evidence=None if i else 0.7, without_evidence=0.125
        )
        for i, row in enumerate(found.leaderboard_)
    ]
    found.leaderboard_ = rows
    html = page(find(S, y, auto=found))
    assert "12.5% of the samples give no evidence" in html
    headings = re.findall(r"<button[^>]*>([^<]*)</button>|<th[^>]*>([^<]*)</th>", html)
    assert {"With evidence %", "Without %"} <= {text for both in headings for text in both}
    assert '<td class="number" data-value="0.7">70.00</td>' in html
    assert (
        f'data-value="{rows[1].error / 2!r}">{50 * rows[1].error:.2f}</td><td class="number" data-value=""></td>'
        in html
    )
