"""The package as a whole: what importing it brings, and what it promises."""

import importlib
import inspect
import pkgutil
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

import similitude
from tests.docstrings import documented
from tests.estimators import CLASSIFIERS, FEATURE_CLASSIFIERS, LABEL_CLASSIFIERS, TRANSFORMERS

ROOMS = [
    "similitude",
    *(
        f"similitude.{room.name}"
        for room in pkgutil.iter_modules(similitude.__path__)
        if room.ispkg and room.name != "_utils"
    ),
]
DOCUMENTED = documented()
MOST = 185


@pytest.mark.parametrize("room", ROOMS)
def test_rooms_offer_what_they_say(room):
    module = importlib.import_module(room)
    if not hasattr(module, "__all__"):  # it offers nothing
        return
    there = {name for name, value in vars(module).items() if name[0] != "_" and not inspect.ismodule(value)}
    assert there == set(module.__all__)
    assert all(inspect.getdoc(getattr(module, name)) for name in there if callable(getattr(module, name)))
    if room == "similitude":
        assert {name for module, name in DOCUMENTED if module == room} == there - {"__version__"}


def test_the_common_checks_run_on_every_public_estimator():
    checked = {type(e) for e in [*CLASSIFIERS, *TRANSFORMERS, *FEATURE_CLASSIFIERS, *LABEL_CLASSIFIERS]}
    public = {value for value in vars(similitude).values() if isinstance(value, type) and hasattr(value, "fit")}
    assert public <= checked


@pytest.mark.parametrize("estimator", [*CLASSIFIERS, *TRANSFORMERS, *FEATURE_CLASSIFIERS, *LABEL_CLASSIFIERS], ids=repr)
def test_the_html_representation_links_to_the_page_of_the_estimator(estimator):
    site, page = estimator._get_doc_link().split("/generated/")
    module, name = page.removesuffix(".html").removesuffix("-class").rsplit(".", 1)
    assert site.startswith("https://")
    assert name == type(estimator).__name__
    assert (module, name) in DOCUMENTED


@pytest.mark.parametrize("transformer", TRANSFORMERS, ids=repr)
def test_transformers_return_data_frames(transformer):
    names = list("abcdef")
    S = pd.DataFrame(np.eye(6) + 1, index=names, columns=names)
    found = clone(transformer).set_output(transform="pandas").fit(S, [0, 0, 0, 1, 1, 1]).transform(S[:2])
    assert list(found.index) == names[:2]
    assert list(found.columns) == list(transformer.fit(S, [0, 0, 0, 1, 1, 1]).get_feature_names_out())


def test_the_version_is_one():
    root = Path(__file__).parents[1]
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    citation = re.search(r"^version: (.+)$", (root / "CITATION.cff").read_text(encoding="utf-8"), re.MULTILINE)
    newest = re.search(r"^## (\S+)", (root / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    recipe = re.search(r'version: "(.+)"', (root / "packaging/conda-forge/recipe.yaml").read_text(encoding="utf-8"))
    assert {citation[1], newest[1], recipe[1], project["version"]} == {similitude.__version__}


def test_the_recipe_needs_what_the_package_needs():
    root = Path(__file__).parents[1]
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    recipe = (root / "packaging/conda-forge/recipe.yaml").read_text(encoding="utf-8")
    needed = re.findall(r"^    - (\S+ >=\S+)$", recipe.split("  run:")[1], re.MULTILINE)
    assert [line.replace(" ", "") for line in needed] == project["dependencies"]


def test_the_reference_names_what_exists():
    assert 100 < len(DOCUMENTED) <= MOST
    for module, name in DOCUMENTED:
        value = importlib.import_module(module)
        assert name in getattr(value, "__all__", vars(value)), f"{module}.{name}"


def test_importing_brings_no_heavy_library():
    script = """
import sys, sklearn.svm, sklearn.neighbors, sklearn.model_selection
before = set(sys.modules)
import similitude
print([m for m in ("numba", "pandas", "matplotlib", "typer", "rich", "clarabel") if m in set(sys.modules) - before])
import similitude.plotting
from similitude.similarities import documents, sequences, strings, timeseries
print([m for m in ("matplotlib", "rapidfuzz", "parasail", "Bio", "aeon") if m in sys.modules])
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.split("\n") == ["[]", "[]", ""]


def test_a_read_only_cache_folder_is_no_obstacle(tmp_path):
    script = """
import numpy as np
from similitude import KNNClassifier
print(KNNClassifier(1).fit(np.eye(2), [0, 1]).predict(np.eye(2)))
"""
    nowhere = tmp_path / "file"
    nowhere.write_text("")
    done = subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        text=True,
        check=True,
        env={"PATH": "", "HOME": str(nowhere)},
    )
    assert done.stdout.strip() == "[0 1]"
