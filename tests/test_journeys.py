"""The commands on the pages about words and molecules run on the tables beside them."""

import re
import shlex
import shutil
from pathlib import Path

import pytest

from tests.cli.command import done, read_table

DOCS = Path(__file__).parents[1] / "docs"
BUDGET = "1"


def commands(page):
    """Return the commands in the blocks of a page, in their order."""
    blocks = re.findall(r"^```console\n(.*?)^```", (DOCS / page).read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
    lines = [line[2:] for block in blocks for line in block.splitlines() if line.startswith("$ ")]
    return [shlex.split(line)[1:] for line in lines]


@pytest.mark.parametrize(
    ("page", "table", "classes"),
    [
        ("i-have-words.md", "new-surnames.csv", {"Finnish", "French", "German", "Hungarian", "Italian", "Spanish"}),
        ("i-have-molecules.md", "new-molecules.csv", {"no", "yes"}),
    ],
)
def test_the_commands_of_a_page_run(page, table, classes, tmp_path, monkeypatch):
    if "molecules" in page:
        pytest.importorskip("rdkit")
    for path in (DOCS / "data").glob("*.csv"):
        shutil.copy(path, tmp_path)
    monkeypatch.chdir(tmp_path)
    found = commands(page)
    assert {words[0] for words in found} == {"inspect", "fit", "predict", "compare", "report"}
    for words in found:
        if "--time-budget" in words:  # what is tried within the time does not matter here
            words[words.index("--time-budget") + 1] = BUDGET
        done(*words)
    (html,) = (path.read_text(encoding="utf-8") for path in tmp_path.glob("*.html"))
    assert "groups=&#x27;scaffold" not in html  # which is no file that the code on the page could read
    header, *rows = read_table(tmp_path / "predictions.csv")
    assert len(rows) == len(read_table(tmp_path / table)) - 1
    assert {row[header.index("label")] for row in rows} <= classes
