import runpy
from pathlib import Path

from similitude.similarities import names, table

DOCS = Path(__file__).parents[2] / "docs"


def test_the_page_shows_the_registry_as_it_is():
    page = (DOCS / "similarities.md").read_text()
    # Examples may have registered more by now; whatever ships must be there, row by row.
    shipped = [row for row in table().splitlines() if "| `same-length`" not in row and "| `shared-letters`" not in row]
    assert len(shipped) > 30
    missing = [row for row in shipped if row not in page]
    assert not missing, "print(similitude.similarities.table()) and paste it into docs/similarities.md"


def test_the_site_shows_it_in_fewer_columns():
    narrow = runpy.run_path(str(DOCS / "_ext" / "similarity_table.py"))["narrow"]
    heading, _, *rows = narrow(table()).splitlines()
    assert {row.count("|") for row in (heading, *rows)} == {7}
    assert [row.split("`")[1] for row in rows] == names()
    (edit,) = (row for row in rows if "`damerau`" in row)
    assert "`DamerauLevenshtein(normalized, workers)`" in edit
    assert "distance, symmetric, metric; made similar by max-minus" in edit
