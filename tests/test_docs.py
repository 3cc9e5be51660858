"""The pages: each in a list of pages, linked to what exists, complete. ``make docs`` builds them, these only read."""

import ast
import importlib
import json
import re
from pathlib import Path

import pytest

import similitude
from similitude.auto.methods import methods, slug
from similitude.neighbors import local_svc, weights
from similitude.numerics import eigen
from similitude.similarities import registry
from similitude.transform import spectrum

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = sorted(DOCS.glob("*.md"))
TEXTS = {page.stem: page.read_text(encoding="utf-8") for page in PAGES}

_FENCE = re.compile(r"^( *)(`{3,}).*?^\1\2 *$", re.DOTALL | re.MULTILINE)
_LINK = re.compile(r"!?\[(?:[^\[\]]|\[[^\]]*\])*\]\(([^()\s]+)\)")


def prose(text):
    """The text without blocks of code and code within lines."""
    return re.sub(r"(`+)[^`].*?\1", "`code`", _FENCE.sub("", text))


def links(text):
    return [target for target in _LINK.findall(prose(text)) if "://" not in target]


def anchors(text):
    """What headings are called in links: small letters, hyphens for spaces, no punctuation."""
    headings = re.findall(r"^#+ (.+)$", _FENCE.sub("", text), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in headings}


def toctrees(text):
    """The pages that the lists of a page name."""
    blocks = re.findall(r"^```\{toctree\}\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    named = [line for block in blocks for line in block.split("\n") if line and not line.startswith(":")]
    return [page for page in named if not page.startswith("generated/")]


def test_every_page_is_in_one_list():
    named = [page for text in TEXTS.values() for page in toctrees(text)]
    assert sorted([*named, "index"]) == sorted(TEXTS)


def test_no_page_has_a_name_that_sphinx_uses():
    assert not {"search", "genindex", "modindex"} & set(TEXTS)


@pytest.mark.parametrize("page", [*PAGES, ROOT / "README.md"], ids=lambda page: page.stem)
def test_links_lead_somewhere(page):
    text = page.read_text(encoding="utf-8")
    for link in links(text):
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), f"{page.name}: {link}"
        if anchor:
            assert anchor in anchors(target.read_text(encoding="utf-8")), f"{page.name}: {link}"


def test_links_are_found_where_there_are_any():
    text = (
        "see [`a`](x.md#b), [b [c]](y.md)\n```\n[no](z.md)\n```\n`[no](w.md)` ![p](images/p.png) [web](https://w.org)"
    )
    assert links(text) == ["x.md#b", "y.md", "images/p.png"]
    assert anchors("# Few, and many `x` samples\n") == {"few-and-many-x-samples"}
    assert len(links(TEXTS["index"])) > 5


def test_the_page_on_similarities_has_the_table_of_the_registry():
    own = [name for name in registry.names() if is_own(registry.resolve(name).function)]
    rows = [row for row in registry.table().split("\n") if row.startswith(tuple(f"| `{name}` |" for name in own))]
    assert len(rows) == len(own) > 30
    page = TEXTS["similarities"].split("\n")
    assert [row for row in page if re.match(r"\| `[^`]+` \|.*\|.*\|.*\|", row)] == rows


def is_own(function):
    """Whether it comes with the package: tests and examples register measures of theirs."""
    return function.__module__.startswith("similitude.")


def test_every_display_and_every_picture_is_in_the_gallery():
    plotting = importlib.import_module("similitude.plotting")
    displays = {name for name in plotting.__all__ if name.endswith("Display")}
    assert displays <= set(re.findall(r"^## (\w+)$", TEXTS["gallery"], re.MULTILINE))
    on_other_pages = {"arena.png", "report.png", "size.png", "ucr.png"}
    pictures = {path.name for path in (DOCS / "images").glob("*.png")} - on_other_pages
    assert pictures == {Path(link).name for link in links(TEXTS["gallery"]) if link.endswith(".png")}


def test_every_example_is_named_in_the_gallery():
    scripts = {path.name for path in (ROOT / "examples").glob("plot_*.py")}
    assert scripts == set(re.findall(r"examples/(plot_\w+\.py)", TEXTS["gallery"]))


def test_the_page_on_the_papers_gets_a_row_for_every_method(monkeypatch):
    pytest.importorskip("sphinx")
    monkeypatch.syspath_prepend(str(DOCS / "_ext"))
    extension = importlib.import_module("method_names")
    before, after = (set(text.splitlines()) for text in (TEXTS["papers"], extension.fresh(TEXTS["papers"])))
    rows = [re.match(r"\| (.+) \| `(.+)` \| .* \| \[(.+)\]\(\3\.md\) \|", row).groups() for row in after - before]
    assert {(name, plain) for name, plain, _ in rows} >= {(name, slug(name)) for name in methods()}
    assert {page for *_, page in rows} <= set(TEXTS)


def test_the_table_of_the_papers_names_what_exists():
    public = {**vars(importlib.import_module("similitude")), **vars(importlib.import_module("similitude.features"))}
    rows = re.findall(r"^\|(.+)\|$", TEXTS["papers"].partition("## All names")[0], re.MULTILINE)[2:]
    known = {slug(name): name for name in methods()}
    named = set()
    for paper, _where, classes, _grid, names in (row.split("|") for row in rows):
        calls = [call for call in re.findall(r"`([^`]+)`", classes) if call.partition("(")[0] in public]
        assert calls, paper
        for call in calls:  # of an example with "..." only the name
            eval(call.partition("(")[0] if "..." in call else call, public)
        for plain in re.findall(r"`([^`]+)`", names):
            assert f"{known[plain]} <br> `{plain}`" in names
            named.add(known[plain])
    assert {"RQD (features)", "SDA and BDA fused"} <= named


def test_the_table_of_the_papers_names_all_that_there_is():
    page, reference = TEXTS["papers"], TEXTS["api"]
    families = ("Neighbours", "Kernels", "Features", "Boosting", "Generative")
    blocks = [reference.partition(f"### {family}\n")[2].partition("```\n")[0] for family in families]
    classes = {name for block in blocks for name in re.findall(r"^   (\w+)$", block, re.MULTILINE)}
    used = {
        type(estimator).__name__ for estimator, _ in methods().values() if hasattr(similitude, type(estimator).__name__)
    }
    assert len(used) > 10
    assert len(classes) > 20
    assert [name for name in sorted(classes | used) if not re.search(rf"`{name}\b", page)] == []
    spectra = {*eigen.SPECTRA, *weights.SPECTRA, *local_svc.SPECTRA}
    for parameter, values in (("weights", weights.WEIGHTS), ("spectrum", spectra), ("test_rows", spectrum.TEST_ROWS)):
        assert [value for value in values if f'{parameter}="{value}"' not in page] == []


def test_the_start_page_as_a_notebook(monkeypatch):
    monkeypatch.syspath_prepend(str(DOCS / "_ext"))
    made = json.loads(importlib.import_module("notebook").notebook(TEXTS["start"]))
    code = ["".join(cell["source"]) for cell in made["cells"] if cell["cell_type"] == "code"]
    assert len(code) > 3
    for cell in code:
        ast.parse(cell)
    text = "".join("".join(cell["source"]) for cell in made["cells"] if cell["cell_type"] == "markdown")
    assert ">>>" not in text
    assert ".md" not in text
