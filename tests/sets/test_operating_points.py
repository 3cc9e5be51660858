"""Operating points: the cut-offs against tests one by one, the promise by simulation, classes, errors, model files."""

import numpy as np
import pytest

from similitude import AutoClassifier, KNNClassifier, PredictionSets, load_model, save_model
from similitude.sets import OperatingPoint
from similitude.sets.operating_points import cutoff, find_operating_point, samples_needed
from tests.reference import operating_points as reference


def drawn(rng, n, kind):
    """Return confidences, and the probability that a prediction of each confidence is right."""
    confidence = rng.beta(4, 1, n)
    if kind == "calibrated":
        return confidence, confidence
    if kind == "overconfident":
        return confidence, 0.62 + 0.36 * confidence
    if kind == "tied":
        confidence = np.round(confidence, 1)
        return confidence, 0.6 + 0.38 * confidence
    return confidence, np.full(n, 0.899)  # below the precision at every cut-off


@pytest.mark.parametrize("kind", ["calibrated", "tied", "hopeless"])
@pytest.mark.parametrize(("n", "precision", "delta"), [(40, 0.8, 0.1), (300, 0.9, 0.05), (700, 0.95, 0.2)])
def test_cutoff_of_tests_one_by_one(kind, n, precision, delta):
    rng = np.random.default_rng(n)
    for _ in range(5):
        confidence, probability = drawn(rng, n, kind)
        right = rng.random(n) < probability
        found = confidence >= cutoff(confidence, right, precision, delta)
        assert np.array_equal(found, reference.assigned(np.round(confidence, 10), right, precision, delta))


@pytest.mark.parametrize("kind", ["calibrated", "overconfident", "tied", "hopeless"])
def test_promise(kind):
    """Over many left-out sets the true precision above the cut-off is missed no more often than delta."""
    rng = np.random.default_rng(1)
    everything, truth = drawn(rng, 200_000, kind)
    order = np.argsort(-everything)
    ranked, above = everything[order], np.cumsum(truth[order]) / np.arange(1, 200_001)
    repetitions, delta, precision = 1500, 0.1, 0.9
    missed = used = 0
    for _ in range(repetitions):
        confidence, probability = drawn(rng, 250, kind)
        where = cutoff(confidence, rng.random(250) < probability, precision, delta)
        n_above = np.searchsorted(-ranked, -where, side="right")
        used += np.isfinite(where)
        missed += np.isfinite(where) and above[n_above - 1] < precision - 1e-3
    assert missed / repetitions <= delta + 3 * (delta * (1 - delta) / repetitions) ** 0.5
    assert used / repetitions > (0.01 if kind == "hopeless" else 0.5)


def test_promise_by_class():
    """All classes at once keep the precision, whose confidences mean different things; a rare one shares a cut-off."""
    rng = np.random.default_rng(2)
    shares, slopes = np.array([0.5, 0.3, 0.17, 0.02, 0.01]), np.array([0.3, 1.0, 0.7, 0.5, 0.9])

    def sample(n):
        codes = rng.choice(5, n, p=shares)
        confidence = rng.beta(4, 1, n)
        return codes, confidence, 1 - slopes[codes] * (1 - confidence)

    codes_all, confidence_all, truth_all = sample(50_000)
    repetitions, delta, precision, missed = 200, 0.1, 0.9, 0
    for _ in range(repetitions):
        codes, confidence, probability = sample(1000)
        truth = np.where(rng.random(1000) < probability, codes, (codes + 1) % 5)
        point = find_operating_point(np.arange(5), codes, confidence, truth, None, precision, True, delta)
        assert point.own.tolist() == [True, True, True, False, False]
        assert point.cutoffs[3] == point.cutoffs[4]
        here = point.assigns(codes_all, confidence_all)
        groups = [np.isin(codes_all, group) & here for group in ([0], [1], [2], [3, 4])]
        missed += any(truth_all[own].mean() < precision - 2e-3 for own in groups if own.any())
    assert missed / repetitions <= delta + 3 * (delta * (1 - delta) / repetitions) ** 0.5


def test_samples_needed():
    assert samples_needed(0.95, 0.05) == 59
    assert 0.95**59 <= 0.05 < 0.95**58
    assert samples_needed(0.5, 0.25) == 2


@pytest.fixture(scope="module")
def fitted():
    rng = np.random.default_rng(0)
    y = np.repeat(["a", "b", "c"], [120, 100, 6])
    points = rng.normal(size=(226, 2)) + 2.2 * np.column_stack([y == "b", y == "c"])
    S = np.exp(-((points[:, None] - points) ** 2).sum(axis=2))
    S[::25] = S[:, ::25] = 0.0  # samples without evidence
    return AutoClassifier(["k-NN", "nearest centroid"], n_repeats=1).fit(S, y), S, y


def test_left_out_samples_of_a_classifier(fitted):
    auto, S, y = fitted
    point = auto.operating_point(0.9)
    found = auto.out_of_fold_
    evidence = S.any(axis=1)
    confidence = found.proba.max(axis=1)
    here = (confidence >= point.cutoffs[0]) & evidence
    assert 0 < point.coverage == here.mean() < evidence.mean()
    assert point.measured_precision == np.mean((found.labels == y)[here]) >= 0.9
    assert point.n_samples == 226 > point.predicted.sum()
    assert not point.per_class
    assert [own.precision for own in auto.operating_points()] == [0.8, 0.9, 0.95, 0.99]
    by_class = auto.operating_point(0.8, per_class=True)
    assert by_class.own.tolist() == [True, True, False]
    assert "1 other" in str(by_class)
    assert "too few" in str(by_class)
    coverages = auto.operating_points().to_frame()["coverage"].tolist()
    assert coverages == sorted(coverages, reverse=True)


def test_predictions_at_a_point(fitted, tmp_path):
    auto, S, _ = fitted
    point = auto.operating_point(0.9)
    labels, confidence = auto.predict(S), auto.predict_proba(S).max(axis=1)
    expected = np.where((confidence >= point.cutoffs[0]) & S.any(axis=1), labels, "unassigned")
    assert np.array_equal(auto.predict_at(S, point), expected)
    assert np.array_equal(auto.predict_at(S, 0.9), expected)
    assert auto.predict_at(S, point, unassigned=None)[0] is None
    save_model(tmp_path / "m.model", auto.best_estimator_)
    loaded = load_model(tmp_path / "m.model")
    assert np.array_equal(loaded.predict_at(S, 0.9), expected)
    assert str(loaded.operating_points()) == str(auto.operating_points())


def test_labels_keep_their_type():
    S = np.kron(np.eye(2), np.ones((40, 40))) + 0.01
    y = np.repeat([1, 2], 40)
    auto = AutoClassifier(["k-NN"], n_repeats=1).fit(S, y)
    rows = np.vstack([S[0], np.ones(80)])
    assert auto.predict_at(rows, 0.9, unassigned=-1).tolist() == [1, -1]
    assert auto.predict_at(rows, 0.9, unassigned=-1).dtype == y.dtype
    assert auto.predict_at(rows, 0.9).tolist() == [1, "unassigned"]
    with pytest.raises(ValueError, match="unassigned=2 is a class"):
        auto.predict_at(rows, 0.9, unassigned=2)


def test_errors(fitted):
    auto = fitted[0]
    with pytest.raises(ValueError, match=r"precision must be a number in \(0, 1\); got 1"):
        auto.operating_point(1)
    with pytest.raises(ValueError, match=r"delta must be a number in \(0, 1\); got 0"):
        auto.operating_point(delta=0)
    with pytest.raises(ValueError, match="per_class must be True or False; got 'yes'"):
        auto.operating_point(per_class="yes")
    point = auto.operating_point(0.9)
    with pytest.raises(ValueError, match="labels must hold classes of the operating point; got 'd'"):
        point.assigns(["a", "d"], [0.9, 0.9])
    assert "at least 2995 are needed" in str(auto.operating_point(0.999))
    assert isinstance(point, OperatingPoint)
    assert not hasattr(PredictionSets(KNNClassifier()), "operating_point")
