"""The page in a browser."""

import json
from itertools import pairwise

import pytest

from tests.report.conftest import EVIL


@pytest.fixture
def opened(browser, address):
    page = browser.open(address)
    yield page
    page.close()


def _names(page):
    return page.run("[...document.querySelectorAll('#leaderboard tbody .name')].map((name) => name.textContent)")


def test_it_loads_without_complaints_or_requests(opened, address):
    opened.run("new Promise((done) => setTimeout(done, 100))")
    assert opened.complaints() == []
    assert opened.requests() == [address]
    drawn = opened.run("[...document.querySelectorAll('.plot')].map((plot) => plot.querySelectorAll('svg > *').length)")
    assert len(drawn) == 5
    assert min(drawn) > 8


def test_a_script_in_a_label_is_text(opened):
    opened.mouse("#mistake-list summary")
    assert opened.run("document.title").startswith(f"A {EVIL}")
    assert opened.run(f"document.querySelector('.classes').textContent.includes({EVIL!r})")
    assert opened.run(f"data.mistakes.length > 0 && data.classes.includes({EVIL!r})")
    assert opened.run("document.querySelectorAll('b').length") == 0
    assert "<b>" in opened.run("document.querySelector('#mistake-list .name').textContent")


def test_a_click_on_a_sample_shows_its_neighbours(opened, findings):
    opened.mouse("#mistake-list summary")
    opened.wait("document.querySelector('#mistake-list details').open && document.querySelector('.detail')")
    mistake = findings.outcome.mistakes[0]
    rows = opened.run(
        "[...document.querySelectorAll('.detail > div:nth-of-type(2) tbody tr')].map((row) => row.innerText)"
    )
    assert len(rows) == len(mistake.neighbors)
    first = rows[0].split("\t")
    assert findings.ids[mistake.neighbors[0]][:20] == first[0][:20]
    assert float(first[2]) == pytest.approx(mistake.similarities[0], rel=1e-3)
    assert float(first[3]) == pytest.approx(mistake.weights[0], abs=1e-3)
    posteriors = opened.run(
        "[...document.querySelectorAll('.detail > div:nth-of-type(1) td.number')].map((p) => parseFloat(p.innerText))"
    )
    assert sum(posteriors) == pytest.approx(100, abs=1)


def test_a_sample_opens_by_keyboard_and_is_found_in_the_matrix(opened, findings):
    opened.run("document.querySelector('#mistake-list summary').focus()")
    opened.press("Enter")
    opened.wait("document.querySelector('.detail button')")
    opened.mouse(".detail button")
    mistake = findings.outcome.mistakes[0]
    opened.wait("document.activeElement.id === 'matrix-canvas'")
    assert findings.ids[mistake.sample][:20] in opened.run("document.getElementById('readout').innerText")
    assert "of 60 samples" in opened.run("document.getElementById('extent').textContent")


def test_mistakes_are_filtered(opened, findings):
    opened.run("document.getElementById('mistakes-filter').focus()")
    opened.call("Input.insertText", text="b & c")
    expected = [
        m
        for m in findings.outcome.mistakes
        if "b & c" in (findings.classes[m.predicted], findings.classes[findings.labels[m.sample]])
    ]
    assert opened.run("document.getElementById('mistakes-count').textContent").endswith(f"of {len(expected)} shown")


def test_long_lists_are_shown_piece_by_piece(opened):
    opened.run("while (data.mistakes.length < 25) data.mistakes.push(data.mistakes[0])")
    opened.run(
        "data.mistakes.length = 25; document.getElementById('mistakes-filter').dispatchEvent(new Event('input'))"
    )
    assert opened.run("document.getElementById('mistakes-count').textContent") == "20 of 25 shown"
    opened.mouse("#mistakes-more")
    assert opened.run("document.querySelectorAll('#mistake-list > li').length") == 25
    assert opened.run("document.activeElement === document.querySelectorAll('#mistake-list summary')[20]")
    assert opened.run("document.getElementById('mistakes-more').hidden")


def test_the_leaderboard_is_sorted_by_click_and_by_keyboard(opened):
    by_error = ["k-NN", "SVM (clip)", "nearest centroid"]
    assert _names(opened) == by_error
    opened.mouse("#leaderboard th:nth-child(5) button")
    assert _names(opened) == ["nearest centroid", "k-NN", "SVM (clip)"]
    opened.mouse("#leaderboard th:nth-child(5) button")
    assert _names(opened) == ["SVM (clip)", "k-NN", "nearest centroid"]
    assert (
        opened.run("document.querySelector('#leaderboard th:nth-child(5)').getAttribute('aria-sort')") == "descending"
    )
    opened.press("Tab")  # out of the table, and back by the keys alone
    opened.run("document.querySelector('#leaderboard th:nth-child(4) button').focus()")
    opened.press("Enter")
    assert _names(opened) == ["nearest centroid", "SVM (clip)", "k-NN"]  # the best has no p and comes last
    opened.run("document.querySelector('#leaderboard th:nth-child(2) button').focus()")
    opened.press(" ")
    assert _names(opened) == by_error


def test_a_combination_shows_weights_and_what_each_member_predicted(browser, combined_address):
    page = browser.open(combined_address)
    page.mouse("#leaderboard th:nth-child(3) button")
    page.mouse("#leaderboard th:nth-child(3) button")
    assert _names(page)[:3] == ["combination", "affinity k-NN", "k-NN"]  # those without a weight come last
    page.mouse("#mistake-list summary")
    page.wait("document.querySelector('.detail')")
    rows = page.run("[...document.querySelectorAll('.detail > div:nth-of-type(2) tbody tr')].map((r) => r.innerText)")
    cells = [row.split("\t") for row in rows]
    assert [(row[0], row[-1]) for row in cells] == [("k-NN", "0.25"), ("affinity k-NN", "0.75")]
    first = page.run("data.mistakes[0].members.map(([label]) => data.classes[label])")
    assert [row[1].strip()[:20] for row in cells] == [label[:20] for label in first]
    heads = page.run(
        "[...document.querySelectorAll('.detail > div:nth-of-type(3) th[scope=col]')].map((h) => h.innerText)"
    )
    assert heads == ["Sample", "Class", "Similarity"]
    assert page.complaints() == []
    page.close()


@pytest.mark.parametrize(("width", "dark"), [(320, False), (400, True), (1200, False)])
@pytest.mark.parametrize("which", ["address", "combined_address"])
def test_no_horizontal_scroll(browser, which, width, dark, tmp_path, request):
    page = browser.open(request.getfixturevalue(which), width=width, dark=dark)
    page.mouse("#mistake-list summary")
    page.wait("document.querySelector('.detail')")
    beyond = (
        "[...document.querySelectorAll('body *')].filter((e) => "
        "e.getBoundingClientRect().right > innerWidth + 1 && !e.closest('.hidden, .skip'))"
    )
    assert page.run(f"{beyond}.map((e) => e.tagName + ' ' + e.className)") == []
    assert page.run("document.documentElement.scrollWidth") <= width
    paper = page.run("getComputedStyle(document.body).backgroundColor")
    assert (int(paper[4:].split(",")[0]) < 100) == dark
    page.screenshot(tmp_path / "page.png")
    assert (tmp_path / "page.png").stat().st_size > 10_000
    page.close()


def test_hover_tells_pair_and_value(opened, findings):
    opened.mouse("#matrix-canvas", kinds=("mouseMoved",), at=(0.8, 0.3))
    edge = opened.run("EDGE / document.getElementById('matrix-canvas').clientWidth")
    column, row = (int((share - edge) / (1 - edge) * 60) for share in (0.8, 0.3))
    i, j = findings.order[row], findings.order[column]
    told = opened.run("document.getElementById('readout').innerText")
    assert findings.ids[i][:20] in told
    assert findings.ids[j][:20] in told
    value = float(opened.run("document.querySelector('#readout .value').innerText"))
    assert value == pytest.approx(findings.S[i, j], abs=1e-3)


def test_the_map_shows_a_sample_and_its_neighbours(opened, findings):
    opened.wait("document.querySelector('#map-plot .spot')")
    opened.run("document.getElementById('map-plot').focus()")
    opened.press("ArrowRight")  # the first key shows the first sample
    told = opened.run("document.getElementById('map-readout').innerText")
    assert all(findings.ids[i][:20] in told for i in (0, *findings.map.neighbors[0, :5]))
    assert opened.run("document.querySelectorAll('#map-plot .ties line').length") == 5
    opened.mouse("#map-plot .spot", kinds=("mouseMoved",))
    assert opened.run("document.querySelectorAll('#map-plot .spot.here').length") == 1


def test_arrow_keys_move_the_cell_and_zoom(opened, findings):
    opened.run("document.getElementById('matrix-canvas').focus()")
    for key in ("ArrowDown", "ArrowDown", "ArrowRight"):  # the first shows where the cell is
        opened.press(key)
    i, j = findings.order[1], findings.order[1]
    said = opened.run("document.getElementById('spoken').textContent")
    assert findings.ids[i][:20] in said
    assert float(said.split(": ")[-1]) == pytest.approx(findings.S[i, j], abs=1e-3)
    opened.press("+")
    assert opened.run("document.getElementById('extent').textContent") == "30 × 30 of 60 samples"
    opened.press("0")
    assert opened.run("document.getElementById('extent').textContent") == "all 60 samples"
    opened.mouse("#zoom-in")
    assert opened.run("document.getElementById('extent').textContent") == "30 × 30 of 60 samples"


def test_the_spectrum_after_another_modification(opened):
    before = opened.run("document.querySelector('#spectrum-plot .line').getAttribute('d')")
    opened.mouse("input[value=shift]")
    # The line may be drawn a moment after the choice; if it is not, the wait fails.
    opened.wait(f"document.querySelector('#spectrum-plot .line').getAttribute('d') !== {json.dumps(before)}")
    assert opened.run("document.querySelector('input[value=shift]').checked")


def test_controls_have_names(opened):
    unnamed = opened.run(
        "[...document.querySelectorAll('button, input, canvas, a')].filter((e) => "
        "!(e.textContent.trim() || e.getAttribute('aria-label') || (e.labels && e.labels.length))).length"
    )
    assert unnamed == 0
    levels = opened.run("[...document.querySelectorAll('h1, h2, h3')].map((h) => Number(h.tagName[1]))")
    assert levels[0] == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))


def test_a_browser_that_cannot_unpack_says_so(browser, address):
    page = browser.open(address, ready=False)
    page.call("Page.addScriptToEvaluateOnNewDocument", source="delete window.DecompressionStream")
    page.go(address)
    assert "cannot unpack" in page.run("document.querySelector('.matrix .notice').innerText")
    assert page.run("document.querySelectorAll('#mistake-list li').length") > 0
    page.close()
