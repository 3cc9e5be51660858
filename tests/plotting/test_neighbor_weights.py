from itertools import pairwise

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_hex
from scipy import sparse
from sklearn.exceptions import NotFittedError

from similitude import KNNClassifier, NearestCentroid, Proximities, SimilarityWarning
from similitude.neighbors.knn import WEIGHTS
from similitude.plotting import WEIGHT_EXAMPLES, NeighborWeightsDisplay
from similitude.plotting._drawing import COLORS, literal

# Computed once, independently, from equations 12 and 15 of Chen et al. (2009); KRR shifted as their footnote 5 says.
VECTORS = {
    "affinity": {
        0.1: ([0.52941176, 0.33333333, 0.13725490, 0], [0.54411765, 0.34803922, 0.15196078, -0.04411765]),
        1: ([0.5, 0.33333333, 0.16666667, 0], [0.5, 0.33333333, 0.16666667, 0]),
        10: ([0.35, 0.28333333, 0.21666667, 0.15], [0.35, 0.28333333, 0.21666667, 0.15]),
    },
    "diversity": {
        0.1: ([0.36914488, 0.17306645, 0.17306645, 0.28472222], [0.39220628, 0.15817537, 0.15817537, 0.29144297]),
        1: ([0.35185185, 0.18518519, 0.18518519, 0.27777778], [0.36073826, 0.17953020, 0.17953020, 0.28020134]),
        10: ([0.29135802, 0.22469136, 0.22469136, 0.25925926], [0.27442878, 0.23505105, 0.23505105, 0.25546913]),
    },
    "both": {
        0.1: ([0.15789474, 0.58234295, 0, 0.25976231], [0.18683332, 0.71676165, -0.19232926, 0.28873428]),
        1: ([0.18518519, 0.51851852, 0.01851852, 0.27777778], [0.18791946, 0.51677852, 0.01677852, 0.27852349]),
        10: ([0.22469136, 0.30347924, 0.21257015, 0.25925926], [0.20721925, 0.31417112, 0.22326203, 0.25534759]),
    },
}


def _problem(n=30, n_classes=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n + 1, 5))
    S = X @ X.T
    return S[:n, :n], rng.integers(0, n_classes, n), S[n, :n]


def _texts(labels):
    return [label.get_text() for label in labels]


def _legend(ax):
    return _texts(ax.get_legend().get_texts())


def _similarity_column(ax):
    return _texts(ax.child_axes[0].get_yticklabels())


def _shown(text):
    """A Text as it is drawn: its letters, and whether they are taken for mathematics."""
    return text._preprocess_math(text.get_text())


# Curves


@pytest.mark.parametrize("example", VECTORS)
def test_curves_are_the_vectors_of_the_paper_s_examples(example):
    display = NeighborWeightsDisplay.from_matrix(*WEIGHT_EXAMPLES[example])
    for number, kind in enumerate(("kri", "krr")):
        assert display.lines_[kind] == list(display.ax_[number].lines[1:])  # the first is the zero line
        for reg, expected in VECTORS[example].items():
            drawn = []
            for line in display.lines_[kind]:
                regs, weights = line.get_data()
                place = np.argmin(abs(regs - reg))
                assert np.isclose(regs[place], reg, rtol=1e-12)
                drawn.append(weights[place])
            assert np.allclose(drawn, expected[number], rtol=0, atol=1e-8)


def test_curves_are_labelled_in_words():
    display = NeighborWeightsDisplay.from_matrix(*WEIGHT_EXAMPLES["both"], weights=("kri", "krr", "lime"))
    assert [ax.get_title() for ax in display.ax_] == ["KRI weights", "KRR weights, shifted to sum 1", "LIME weights"]
    assert [ax.get_xlabel() for ax in display.ax_] == ["lambda"] * 3
    assert [ax.get_xscale() for ax in display.ax_] == ["log"] * 3
    assert display.ax_[0].get_ylabel() == "weight"
    assert _legend(display.ax_[-1]) == ["$x_{1}$", "$x_{2}$", "$x_{3}$", "$x_{4}$"]
    assert display.bars_ is None
    assert display.figure_ is display.ax_[0].figure


def test_no_two_of_forty_curves_look_alike():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(41, 3))
    K = X @ X.T
    display = NeighborWeightsDisplay.from_matrix(K[:40, :40], K[40, :40], weights="krr", regs=[0.1, 1])
    looks = {(line.get_color(), str(line._unscaled_dash_pattern)) for line in display.lines_["krr"]}
    assert len(looks) == 40


def test_curves_that_coincide_are_both_seen():
    display = NeighborWeightsDisplay.from_matrix(*WEIGHT_EXAMPLES["diversity"])
    _, second, third, _ = display.lines_["kri"]
    assert np.allclose(second.get_ydata(), third.get_ydata(), rtol=0, atol=1e-12)
    (_, dashes), (_, dots) = second._unscaled_dash_pattern, third._unscaled_dash_pattern
    assert dots[0] < dots[1] < dashes[0]  # what is drawn on top leaves more open than it covers


def test_one_kind_and_regs_in_any_order():
    S, s = WEIGHT_EXAMPLES["both"]
    display = NeighborWeightsDisplay.from_matrix(S, s, weights="krr", regs=[10, 0.1, 1])
    assert isinstance(display.ax_, plt.Axes)
    assert display.regs.tolist() == [0.1, 1, 10]
    assert np.allclose(display.weights["krr"], [VECTORS["both"][reg][1] for reg in (0.1, 1, 10)], atol=1e-8, rtol=0)
    assert list(NeighborWeightsDisplay.from_matrix(S, s, weights=["kri"]).weights) == ["kri"]


def test_curves_into_given_axes():
    figure, axes = plt.subplots(2, 2)
    display = NeighborWeightsDisplay.from_matrix(*WEIGHT_EXAMPLES["both"], ax=axes[1])
    assert display.ax_.tolist() == axes[1].tolist()
    assert display.figure_ is figure
    assert not axes[0, 0].lines
    assert plt.get_fignums() == [figure.number]
    assert display.plot(axes[0]) is display
    assert display.ax_.tolist() == axes[0].tolist()


def test_an_indefinite_neighbourhood_is_clipped_and_an_asymmetric_one_averaged():
    S, s = np.array([[1.0, 2.0], [2.0, 1.0]]), [1.0, 0.5]
    display = NeighborWeightsDisplay.from_matrix(S, s, regs=[0.5], weights="krr")
    clipped = np.full((2, 2), 1.5)  # the eigenvalues are 3 and -1
    expected = np.linalg.solve(clipped + 0.5 * np.eye(2), s)
    assert np.allclose(display.weights["krr"], expected - expected.mean() + 0.5)
    with pytest.warns(SimilarityWarning, match="NeighborWeightsDisplay needs a symmetric"):
        other = NeighborWeightsDisplay.from_matrix([[1, 3], [1, 1]], s, regs=[0.5], weights="krr")
    assert np.allclose(other.weights["krr"], display.weights["krr"])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"S": [[1, 2, 3]]}, "S must be square"),
        ({"S": [[1, np.nan], [0, 1]]}, "S contains NaN"),
        ({"s": [1, 2, 3]}, "s must hold one similarity for each of the 2 rows of S; got 3"),
        ({"s": [1, np.inf]}, "s contains infinity"),
        ({"s": ["a", "b"]}, "s is not a matrix of numbers"),
        ({"regs": []}, "regs must be one or more finite numbers above 0"),
        ({"regs": [0, 1]}, "regs must be"),
        ({"regs": 1.0}, "regs must be"),
        ({"regs": ["a"]}, "regs must be"),
        ({"weights": "uniform"}, "weights must be some of"),
        ({"weights": ()}, "weights must be some of"),
        ({"names": ["a"]}, r"names must hold one name for each row of S \(2\); got 1"),
        ({"names": "ab"}, "names must hold one name .* got a str"),
    ],
)
def test_errors_of_from_matrix_name_the_argument_and_leave_no_figure(change, message):
    arguments = {"S": [[2, 1], [1, 2]], "s": [1, 2], **change}
    with pytest.raises(ValueError, match=message):
        NeighborWeightsDisplay.from_matrix(arguments.pop("S"), arguments.pop("s"), **arguments)
    assert plt.get_fignums() == []


def test_too_few_axes():
    _, ax = plt.subplots()
    with pytest.raises(ValueError, match=r"ax must be one Axes for each of the weights \['kri', 'krr'\]; got 1"):
        NeighborWeightsDisplay.from_matrix(*WEIGHT_EXAMPLES["both"], ax=ax)


# Bars


@pytest.mark.parametrize("weights", WEIGHTS)
def test_bars_are_the_weights_nearest_at_the_top(weights):
    S, y, row = _problem()
    knn = KNNClassifier(7, weights=weights, reg=0.3).fit(S, y)
    display = NeighborWeightsDisplay.from_estimator(knn, row)
    indices, expected = knn.neighbor_weights(row[None])
    bars = display.bars_[weights]
    assert [bar.get_width() for bar in bars] == expected[0].tolist()
    low, high = display.ax_.get_ylim()
    assert low > high  # the axis points down
    assert [round(bar.get_y() + bar.get_height() / 2) for bar in bars] == list(range(7))
    assert _texts(display.ax_.get_yticklabels()) == [str(i) for i in indices[0]]
    assert [float(text.replace("−", "-")) for text in _similarity_column(display.ax_)] == [
        float(f"{value:.3g}") for value in knn.kneighbors(row[None])[0][0]
    ]
    assert [to_hex(bar.get_facecolor()) for bar in bars] == [COLORS[c] for c in y[indices[0]]]
    name = weights.upper() if weights in ("kri", "krr", "lime") else weights
    assert display.ax_.get_xlabel() == f"{name} weight" + (", lambda = 0.3" if name.isupper() else "")
    assert display.lines_ is None


def test_the_legend_adds_up_the_votes():
    S, y, row = _problem()
    names = np.array(["zebra", "ape", "cat"])
    knn = KNNClassifier(9, weights="krr", reg=0.1).fit(S, names[y])
    display = NeighborWeightsDisplay.from_estimator(knn, row)
    indices, weights = knn.neighbor_weights(row[None])
    labels = names[y][indices[0]]
    totals = {name: weights[0][labels == name].sum() for name in sorted(set(labels))}
    assert _legend(display.ax_) == [f"{name}: {total:.3g}".replace("-", "−") for name, total in totals.items()]
    assert (weights < 0).any()
    assert display.ax_.get_xlim()[0] < weights.min()
    assert display.ax_.get_legend().get_title().get_text() == "class: total weight"


def test_a_class_has_its_colour_whoever_is_present():
    S, y, row = _problem()
    knn = KNNClassifier(1).fit(S, y)
    display = NeighborWeightsDisplay.from_estimator(knn, row)
    (bar,) = display.bars_["uniform"]
    assert to_hex(bar.get_facecolor()) == COLORS[knn.predict(row[None])[0]]


def test_a_weight_of_zero_shows_its_class_within_the_frame():
    knn = KNNClassifier(3, weights="kri", reg=1e-3).fit(np.eye(3), ["a", "b", "a"])
    display = NeighborWeightsDisplay.from_estimator(knn, [5.0, 1.0, 0.0])
    widths = [bar.get_width() for bar in display.bars_["kri"]]
    assert widths == pytest.approx([1, 0, 0])
    assert to_hex(display.bars_["kri"][1].get_edgecolor()) == COLORS[1]
    left, right = display.ax_.get_xlim()
    assert left < 0 < 1 < right


def test_more_classes_than_colours_are_hatched():
    S, _, row = _problem(78)
    knn = KNNClassifier(78).fit(S, [f"{i % 26:02d}" for i in range(78)])
    bars = NeighborWeightsDisplay.from_estimator(knn, row).bars_["uniform"]
    looks = {(bar.get_edgecolor(), bar.get_hatch()) for bar in bars}
    assert len(looks) == 26


def test_names_come_from_ids_or_from_what_fit_got():
    S, y, row = _problem()
    names = [f"sample {i}" for i in range(len(S))]
    expected = [names[i] for i in np.argsort(-row, kind="stable")[:4]]
    knn = KNNClassifier(4)
    assert NeighborWeightsDisplay.from_estimator(knn.fit(S, y), row, ids=np.array(names)).names == expected
    frame = pd.DataFrame(S, index=names, columns=names)
    assert NeighborWeightsDisplay.from_estimator(knn.fit(frame, y), pd.Series(row, names)).names == expected
    knn.fit(Proximities(S, ids=names), y)
    one = Proximities(row[None], column_ids=names)
    assert NeighborWeightsDisplay.from_estimator(knn, one).names == expected
    assert NeighborWeightsDisplay.from_estimator(knn, one, ids=range(len(S))).names != expected


def test_raw_objects_and_sparse_rows():
    words, y = ["cat", "cart", "dog", "dogs"], ["c", "c", "d", "d"]
    knn = KNNClassifier(2, similarity=lambda a, b: float(len(set(a) & set(b)))).fit(words, y)
    display = NeighborWeightsDisplay.from_estimator(knn, ["dot"], ids=words)
    assert display.names == ["dog", "dogs"]
    assert display.labels.tolist() == ["d", "d"]
    knn = KNNClassifier(2, weights="affinity").fit(sparse.csr_matrix(np.eye(4)), y)
    display = NeighborWeightsDisplay.from_estimator(knn, sparse.csr_matrix([[0, 0, 3.0, 1.0]]))
    assert display.weights["affinity"].tolist() == [0.75, 0.25]


def test_bars_into_given_axes_and_once_more():
    S, y, row = _problem()
    figure, axes = plt.subplots(1, 2)
    display = NeighborWeightsDisplay.from_estimator(KNNClassifier(4).fit(S, y), row, ax=axes[1])
    assert display.ax_ is axes[1]
    assert display.figure_ is figure
    assert display.plot(axes[0]).ax_ is axes[0]
    assert plt.get_fignums() == [figure.number]


def test_names_do_not_overlap_in_a_crowded_picture():
    S, y, row = _problem(60)
    figure, ax = plt.subplots(figsize=(5, 4))
    NeighborWeightsDisplay.from_estimator(KNNClassifier(40).fit(S, y), row, ax=ax)
    figure.canvas.draw()
    boxes = [label.get_window_extent() for label in ax.get_yticklabels()]
    assert all(below.y1 <= above.y0 for above, below in pairwise(boxes))


def test_text_of_the_user_is_shown_literally_and_short():
    S, y, row = _problem(20, 2)
    ids = [f"$x_{i}$ {'long ' * 20}{i}" for i in range(20)]
    knn = KNNClassifier(3).fit(S, np.array(["_$a$", "b$ and $c"])[y])
    display = NeighborWeightsDisplay.from_estimator(knn, row, ids=ids)
    display.figure_.canvas.draw()
    for label, name in zip(display.ax_.get_yticklabels(), display.names):
        shown, mathematics = _shown(label)
        assert not mathematics
        assert len(shown) == 28
        assert shown.startswith(name.split()[0])
        assert shown.endswith(name.split()[-1])
    for text in display.ax_.get_legend().get_texts():
        shown, mathematics = _shown(text)
        assert not mathematics
        assert shown.strip("\u200b").startswith(("_$a$: ", "b$ and $c: "))


def test_names_of_curves_are_literal_too():
    names = ["_hidden", "$a_1$", "b\\$", "two\nlines"]
    display = NeighborWeightsDisplay.from_matrix(*WEIGHT_EXAMPLES["both"], names=names)
    display.figure_.canvas.draw()
    texts = display.ax_[-1].get_legend().get_texts()
    assert [_shown(text) for text in texts] == [
        ("\u200b_hidden", False),
        ("$a_1$", False),
        ("b\\$", False),
        ("two lines", False),
    ]


@pytest.mark.parametrize("text", ["", "short", "exactly sixteen.", "seventeen letters", "a much longer name than that"])
def test_shortening_keeps_both_ends(text):
    shown = literal(text, 16)
    assert len(shown) == min(len(text), 16)
    assert shown == text or (text.startswith(shown.split("…")[0]) and text.endswith(shown.split("…")[1]))


@pytest.mark.parametrize(
    ("row", "options", "message"),
    [
        (np.zeros((2, 30)), {}, "X_row must hold one sample, as predict takes it; got 2"),
        (np.zeros(30), {"ids": ["a"]}, r"ids must hold one name for each training sample \(30\); got 1"),
        (np.zeros(29), {}, "30 features"),
    ],
)
def test_errors_of_from_estimator_name_the_argument_and_leave_no_figure(row, options, message):
    S, y, _ = _problem()
    with pytest.raises(ValueError, match=message):
        NeighborWeightsDisplay.from_estimator(KNNClassifier(3).fit(S, y), row, **options)
    assert plt.get_fignums() == []


def test_other_estimators_and_unfitted_ones():
    S, y, row = _problem()
    with pytest.raises(ValueError, match="estimator must be a fitted KNNClassifier; got NearestCentroid"):
        NeighborWeightsDisplay.from_estimator(NearestCentroid().fit(S, y), row)
    with pytest.raises(NotFittedError):
        NeighborWeightsDisplay.from_estimator(KNNClassifier(), row)


# Without matplotlib


def test_the_extra_is_named_where_matplotlib_is_missing(names_the_extra):
    S, y, row = _problem()
    knn = KNNClassifier(3).fit(S, y)
    names_the_extra(
        lambda: NeighborWeightsDisplay.from_matrix(*WEIGHT_EXAMPLES["both"]),
        lambda: NeighborWeightsDisplay.from_estimator(knn, row),
    )
