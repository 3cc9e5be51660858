"""The section on sets and novelty: its figures are those of the classifier."""

import re

import numpy as np
import pytest

from similitude import AutoClassifier
from similitude.report import find, page

RNG = np.random.default_rng(0)
LABELS = np.repeat(["a", "b"], 30)
POINTS = RNG.normal(size=(60, 2)) + 3 * (LABELS == "b")[:, None]
POINTS[7] = 40.0
D = np.abs(POINTS[:, None] - POINTS).sum(axis=2)
NAMES = [f"s{i}" for i in range(60)]


def section(labels=LABELS, D=D):
    auto = AutoClassifier(["k-NN", "nearest centroid"], n_repeats=1, cv=3, dissimilarity="max-minus").fit(D, labels)
    found = find(D, labels, contract={"dissimilarity": "max-minus"}, auto=auto, ids=NAMES[: len(D)])
    shown = re.search(r'<section id="sets".*?</section>', page(found), re.DOTALL)
    return auto, found.outcome.sets, None if shown is None else shown[0]


def test_coverage_sizes_and_unusual_samples():
    auto, found, html = section()
    measured = auto.coverage(0.9)
    assert found.class_conditional
    assert np.array_equal(found.coverage.sets, measured.sets)
    assert f"{measured.mean_size:.2f} classes on average" in html
    rows = re.findall(r"<tr><th scope=\"row\">.*?</tr>", html)
    numbers = [[int(n) for n in re.findall(r'"number">(\d+)</td>', row)] for row in rows[:2]]
    assert numbers == [[30, *measured.sizes[g].tolist()] for g in (0, 1)]
    # The sample that lies far away is listed first, with its nearest neighbours.
    assert found.unusual[0].sample == 7
    assert found.unusual[0].typicality == pytest.approx(1 / 30, abs=0.002)
    nearest = np.argsort(D[7], kind="stable")[1:4]
    assert found.unusual[0].neighbors.tolist() == nearest.tolist()
    assert all(f"s{j} " in rows[2] for j in nearest)
    assert found.n_unusual == np.sum(auto.best_estimator_._typicality.of_training().max(axis=1) <= 0.05)


def test_small_classes_are_calibrated_together():
    few = np.r_[0:30, 30:36]
    _, found, html = section(LABELS[few], D[np.ix_(few, few)])
    assert not found.class_conditional
    assert "all classes are calibrated together, because some are too small" in html
    assert "Some classes are so small" in html
    tiny = np.r_[0:4, 30:33]
    _, found, html = section(LABELS[tiny], D[np.ix_(tiny, tiny)])
    assert found is None
    assert html is None
