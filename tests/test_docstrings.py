"""Entries that docstrings share."""

import inspect
import re
import subprocess
import sys
from pathlib import Path

import pytest
from sklearn.base import BaseEstimator, TransformerMixin

import similitude
from similitude._utils.docs import SHARED, shared_docs
from similitude._utils.scikit_learn import available_if
from tests.docstrings import public_objects

NAME = re.compile(r"^ *\{(\w+)\}$", re.MULTILINE)


def test_public_docstrings_have_the_entries_instead_of_their_names():
    for kind in public_objects():
        for part in (kind, *(member for _, member in inspect.getmembers(kind, inspect.isroutine))):
            assert NAME.findall(inspect.getdoc(part) or "") == [], part


def test_the_entries_are_used_more_than_once():
    sources = Path(similitude.__file__).parent.rglob("*.py")
    used = [name for path in sources for name in NAME.findall(path.read_text(encoding="utf-8"))]
    assert {name for name in used if used.count(name) > 1} == set(SHARED)


def test_entries_are_indented_and_may_be_continued_in_all_kinds_of_methods():
    @shared_docs
    class Example(TransformerMixin, BaseEstimator):
        """Do nothing.

        Parameters
        ----------
        {n_neighbors}
            The rest of the entry.
        """

        def transform(self, X):
            """{not a name}

            {X_new}
            """

        @classmethod
        def made(cls):
            """Text.

            {classes_}
            """

        @available_if(lambda estimator: True)
        def predict(self, X):
            """Text.

            {X_new}
            """

    class Inherited(Example):
        """Another one."""

    first, second = SHARED["n_neighbors"].split("\n")
    lines = inspect.getdoc(Example).split("\n")
    assert lines[4:] == [first, second, "    The rest of the entry."]
    for made in (Example, Inherited, Inherited()):
        assert inspect.getdoc(made.transform) == "{not a name}\n\n" + SHARED["X_new"]
        assert inspect.getdoc(made.made) == "Text.\n\n" + SHARED["classes_"]
        assert inspect.getdoc(made.predict) == "Text.\n\n" + SHARED["X_new"]


def test_an_unknown_name_is_an_error():
    def function():
        """Text.

        {unknown}
        """

    with pytest.raises(KeyError, match="unknown"):
        shared_docs(function)


def test_docstrings_may_be_absent():
    code = "import similitude; print(similitude.KNNClassifier.__doc__, similitude.KNNClassifier.fit.__doc__)"
    done = subprocess.run([sys.executable, "-OO", "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "None None\n"
