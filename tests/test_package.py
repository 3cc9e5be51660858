"""The package as a whole: what importing it brings, and what it promises."""

import subprocess
import sys

import pytest

import similitude
import similitude.datasets

NAMES = [
    "DissimilarityToSimilarity",
    "KNNClassifier",
    "PathSearchCV",
    "Proximities",
    "PseudoEuclideanEmbedding",
    "SpectrumModifier",
    "check_similarity",
    "diagnose",
    "rescale",
    "symmetrize",
    "to_dissimilarity",
    "to_similarity",
    "train_test_split",
]


@pytest.mark.parametrize("name", NAMES)
def test_public_names(name):
    assert name in similitude.__all__
    assert getattr(similitude, name).__doc__


def test_data_set_names():
    promised = {"load_voting", "make_perturbed_centroids", "make_negative_direction", "make_patrol", "make_copurchase"}
    assert promised | {"load_proximity"} <= set(similitude.datasets.__all__)


def test_importing_brings_no_heavy_library():
    script = """
import sys, sklearn.svm, sklearn.neighbors, sklearn.model_selection
before = set(sys.modules)
import similitude
print([m for m in ("numba", "pandas", "matplotlib", "typer", "rich", "clarabel") if m in set(sys.modules) - before])
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


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
        env={"NUMBA_CACHE_DIR": str(nowhere / "below"), "PATH": "", "HOME": str(nowhere)},
    )
    assert done.stdout.strip() == "[0 1]"
