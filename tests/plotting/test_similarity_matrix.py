import tracemalloc
from itertools import pairwise

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from similitude import Proximities
from similitude.plotting import SimilarityMatrixDisplay, SpectrumDisplay


def _problem(n=30, n_classes=3, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, n)), rng.integers(0, n_classes, n)


def _ordered(S, y):
    """S with its samples ordered by class, slowly."""
    order = [i for label in sorted(set(y.tolist())) for i in range(len(y)) if y[i] == label]
    return np.array([[S[i, j] for j in order] for i in order])


def _slow_means(S, block):
    n = len(S)
    starts = range(0, n, block)
    return np.array([[S[i : i + block, j : j + block].mean() for j in starts] for i in starts])


def _texts(labels):
    return [label.get_text() for label in labels]


def _lines(ax):
    """Where the vertical and the horizontal lines are."""
    across = [line.get_xdata()[0] for line in ax.lines if line.get_xdata()[0] == line.get_xdata()[1]]
    down = [line.get_ydata()[0] for line in ax.lines if line.get_ydata()[0] == line.get_ydata()[1]]
    return across, down


def test_the_image_is_the_matrix_ordered_by_class():
    S, y = _problem()
    display = SimilarityMatrixDisplay.from_matrix(S, np.array(["c", "a", "b"])[y])
    expected = _ordered(S, np.array(["c", "a", "b"])[y])
    (image,) = display.images_
    assert np.array_equal(image.get_array(), expected)
    assert np.array_equal(display.image, expected)
    assert image.origin == "upper"
    assert image.get_extent() == [-0.5, 29.5, 29.5, -0.5]
    assert display.ax_.get_xlim() == (-0.5, 29.5)
    assert display.ax_.get_ylim() == (29.5, -0.5)
    counts = [np.sum(y == 1), np.sum(y == 2), np.sum(y == 0)]
    assert display.class_counts.tolist() == counts
    ends = np.cumsum(counts) - 0.5
    middles = [np.arange(30)[end - count : end].mean() for end, count in zip(np.cumsum(counts), counts)]
    for axis in (display.ax_.xaxis, display.ax_.yaxis):
        assert _texts(axis.get_ticklabels()) == ["a", "b", "c"]
        assert axis.get_ticklocs().tolist() == middles
        assert axis.get_ticklocs(minor=True).tolist() == ends[:-1].tolist()
    assert _lines(display.ax_) == (ends[:-1].tolist(), ends[:-1].tolist())
    assert display.ax_.get_title() == "30 samples, 3 classes"
    assert display.figure_ is display.ax_.figure
    assert display.colorbars_[0].ax.get_ylabel() == "similarity"


def test_without_classes_the_order_is_kept():
    S, _ = _problem()
    display = SimilarityMatrixDisplay.from_matrix(S)
    assert np.array_equal(display.image, S)
    assert display.image is not S
    assert display.ax_.get_xlabel() == display.ax_.get_ylabel() == "sample"
    assert not display.ax_.lines
    assert all(tick == int(tick) for tick in display.ax_.get_xticks())


@pytest.mark.parametrize("kind", [sparse.csr_matrix, sparse.csr_array, pd.DataFrame, list, np.float32])
def test_other_kinds_of_matrix(kind):
    S, y = _problem()
    S[S < 0.3] = 0
    given = kind(S)
    display = SimilarityMatrixDisplay.from_matrix(given, pd.Series(y), asymmetric=True)
    ordered = _ordered(S, y)
    assert np.allclose(display.image, ordered, atol=1e-6)
    assert np.allclose(display.asymmetric_image, (ordered - ordered.T) / 2, atol=1e-6)


def test_the_asymmetric_part_is_beside_it_centred_at_zero():
    S, y = _problem()
    display = SimilarityMatrixDisplay.from_matrix(S, y, asymmetric=True)
    left, right = display.ax_
    ordered = _ordered(S, y)
    assert np.allclose(display.images_[1].get_array(), (ordered - ordered.T) / 2, atol=1e-15)
    low, high = display.images_[1].get_clim()
    assert low == -high
    sizes = np.abs(ordered - ordered.T)[~np.eye(30, dtype=bool)] / 2
    assert np.mean(sizes <= high) >= 0.98
    assert display.images_[1].get_cmap()(0.5)[:3] == pytest.approx((0.97, 0.97, 0.97), abs=0.03)
    share = np.linalg.norm(S - S.T) / 2 / np.linalg.norm(S)
    assert display.asymmetry == pytest.approx(share)
    assert right.get_title() == f"asymmetric part: {100 * share:.2g}% of the norm"
    assert display.images_[0].axes is left
    assert _lines(left) == _lines(right)


def test_a_symmetric_matrix_has_no_asymmetric_part_not_even_rounding():
    S, y = _problem()
    S = S + S.T
    S[0, 1] *= 1 + 1e-14
    display = SimilarityMatrixDisplay.from_matrix(S, y, asymmetric=True)
    assert not display.asymmetric_image.any()
    assert display.ax_[1].get_title() == "asymmetric part: 0% of the norm"


# Large matrices


@pytest.mark.parametrize(
    ("n", "kind"), [(1000, np.asarray), (1001, np.asarray), (2001, np.asarray), (1001, sparse.csr_array)]
)
def test_large_matrices_are_averaged_down(n, kind):
    rng = np.random.default_rng(n)
    S = (rng.random((n, n), dtype=np.float32) - 0.2).clip(0)
    y = rng.integers(0, 4, n)
    display = SimilarityMatrixDisplay.from_matrix(kind(S), y, asymmetric=True)
    order = np.argsort(y, kind="stable")
    block = -(-n // 1000)
    assert display.block == block
    assert len(display.image) <= 1000
    expected = S[np.ix_(order, order)].astype(float)
    rows = np.add.reduceat(expected, np.arange(0, n, block), axis=0)
    sums = np.add.reduceat(rows, np.arange(0, n, block), axis=1)
    sizes = np.diff(np.append(np.arange(0, n, block), n))
    means = sums / np.outer(sizes, sizes)
    assert np.allclose(display.image, means, rtol=0, atol=1e-12)
    assert np.allclose(display.asymmetric_image, (means - means.T) / 2, rtol=0, atol=1e-12)
    assert display.ax_[0].get_xlim() == (-0.5, n - 0.5)
    assert (f"a pixel is the mean of {block} × {block}" in display.ax_[0].get_title()) == (block > 1)


def test_block_means_with_a_short_last_block(monkeypatch):
    monkeypatch.setattr("similitude.plotting.similarity_matrix.MOST_PIXELS", 4)
    monkeypatch.setattr("similitude.plotting.similarity_matrix._ENTRIES_AT_ONCE", 30)
    S, y = _problem(10)
    for given in (S, sparse.csr_array(S)):
        display = SimilarityMatrixDisplay.from_matrix(given, y)
        assert np.allclose(display.image, _slow_means(_ordered(S, y), 3))
    huge = np.full((10, 10), 3e307)
    assert np.allclose(SimilarityMatrixDisplay.from_matrix(huge).image / 3e307, 1)


def test_a_memmap_is_not_copied_whole(tmp_path):
    n = 3000
    S = np.memmap(tmp_path / "S.dat", dtype=np.float32, mode="w+", shape=(n, n))
    S[:] = np.linspace(0, 1, n, dtype=np.float32)
    S.flush()
    before = S[::500].copy()
    y = np.arange(n) % 5
    SimilarityMatrixDisplay.from_matrix(np.eye(3), [0, 1, 1])  # what matplotlib imports is not counted
    tracemalloc.start()
    try:
        display = SimilarityMatrixDisplay.from_matrix(S, y)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert display.image.shape == (1000, 1000)
    assert peak < S.nbytes  # an image of 8 MB, some copies of it, and a few rows
    assert np.array_equal(S[::500], before)


# Colours


def test_a_large_diagonal_does_not_take_the_colours():
    S = np.random.default_rng(0).uniform(1, 2, size=(20, 20))
    S[np.diag_indices(20)] = 100
    display = SimilarityMatrixDisplay.from_matrix(S)
    low, high = display.images_[0].get_clim()
    assert 1 <= low < high <= 2
    assert display.colorbars_[0].extend in ("max", "both")


def test_zeros_of_a_sparse_matrix_are_white_whatever_their_number():
    S = np.zeros((100, 100))
    S[3, 4], S[7, 8] = 1, 2
    display = SimilarityMatrixDisplay.from_matrix(sparse.csr_matrix(S))
    assert display.images_[0].get_clim() == (0, 2)
    assert display.colorbars_[0].extend == "neither"
    assert display.images_[0].get_cmap()(0.0)[:3] == (1, 1, 1)
    assert display.images_[0].get_cmap()(1.0)[:3] == (0, 0, 0)


@pytest.mark.parametrize(
    ("S", "limits"),
    [
        (np.ones((3, 3)), (0, 1)),
        (np.zeros((3, 3)), (0, 1)),
        (-np.ones((3, 3)), (-1, 0)),
        (5 * np.eye(3), (0, 5)),
        ([[4.0]], (0, 4)),
        ([[1, 0.2], [0.2, 1]], (0, 1)),
    ],
)
def test_constant_matrices_have_colours(S, limits):
    display = SimilarityMatrixDisplay.from_matrix(S, asymmetric=True)
    assert display.images_[0].get_clim() == limits
    assert display.images_[1].get_clim() == (-1, 1)


def test_colours_of_the_user():
    S, y = _problem()
    display = SimilarityMatrixDisplay.from_matrix(S, y, vmin=-0.5, vmax=0.5, cmap="viridis")
    assert display.images_[0].get_clim() == (-0.5, 0.5)
    assert display.images_[0].get_cmap().name == "viridis"
    assert display.colorbars_[0].extend == "both"
    assert display.plot(vmax=9).images_[0].get_clim()[1] == 9


# Names of classes


def test_many_classes_are_thinned_and_names_do_not_overlap():
    n = 400
    S = np.random.default_rng(0).normal(size=(n, n))
    display = SimilarityMatrixDisplay.from_matrix(S, [f"class number {i % 80:02d}" for i in range(n)])
    display.figure_.canvas.draw()
    labels = display.ax_.get_yticklabels()
    assert 15 < len(labels) < 80
    boxes = [label.get_window_extent() for label in labels]
    assert all(below.y1 <= above.y0 for above, below in pairwise(boxes))
    boxes = [label.get_window_extent() for label in display.ax_.get_xticklabels()]
    assert all(left.x1 <= right.x0 for left, right in pairwise(boxes))
    for label, place in zip(labels, display.ax_.get_yticks()):
        number = int(label.get_text().split()[-1])
        assert place == 5 * number + 2


def test_the_largest_classes_keep_their_names():
    counts = [1] * 60 + [300] + [1] * 60
    y = np.repeat(np.arange(121), counts)
    display = SimilarityMatrixDisplay.from_matrix(np.ones((len(y), len(y))), y)
    assert "60" in _texts(display.ax_.get_yticklabels())


@pytest.mark.parametrize(("names", "rotation"), [("abc", 0), (["Escherichia coli", "yeast", "man"], 90)])
def test_long_names_are_turned(names, rotation):
    S, y = _problem()
    display = SimilarityMatrixDisplay.from_matrix(S, np.array(list(names))[y])
    assert {label.get_rotation() for label in display.ax_.get_xticklabels()} == {rotation}
    assert {label.get_rotation() for label in display.ax_.get_yticklabels()} == {0}
    display.figure_.canvas.draw()
    for label in (*display.ax_.get_xticklabels(), *display.ax_.get_yticklabels()):
        box = label.get_window_extent()
        assert box.x0 >= 0
        assert box.y0 >= 0


def test_text_of_the_user_is_shown_literally_and_short():
    S, y = _problem(n_classes=2)
    names = np.array(["$a$ costs $b$", "_" + "long " * 20])
    display = SimilarityMatrixDisplay.from_matrix(S, names[y], asymmetric=True)
    display.figure_.canvas.draw()
    shown = [label._preprocess_math(label.get_text()) for label in display.ax_[0].get_yticklabels()]
    assert shown[0] == ("$a$ costs $b$", False)
    assert len(shown[1][0].strip("\u200b")) == 28
    for text in (display.ax_[1].title, display.colorbars_[1].ax.yaxis.label):
        assert not text._preprocess_math(text.get_text())[1]


def test_few_samples_and_one_class():
    for S, y in (([[1.0]], ["a"]), ([[1, 0.5], [0.5, 1]], ["a", "b"]), (np.eye(4), [0] * 4)):
        display = SimilarityMatrixDisplay.from_matrix(S, y, asymmetric=True)
        assert len(display.ax_[0].get_yticklabels()) == len(set(y))
    assert display.ax_[0].get_title() == "4 samples"
    assert _lines(display.ax_[0]) == ([], [])


def test_each_sample_a_class():
    display = SimilarityMatrixDisplay.from_matrix(np.eye(500), np.arange(500))
    assert not display.ax_.lines
    assert len(display.ax_.get_yticks(minor=True)) == 0
    assert 10 < len(display.ax_.get_yticks()) < 60


# Axes and errors


def test_given_axes_and_once_more():
    S, y = _problem()
    figure, axes = plt.subplots(2, 2)
    display = SimilarityMatrixDisplay.from_matrix(S, y, asymmetric=True, ax=axes[0])
    assert list(display.ax_) == list(axes[0])
    assert display.plot(axes[1]) is display
    assert list(display.ax_) == list(axes[1])
    assert display.figure_ is figure
    assert len(display.images_) == len(display.colorbars_) == 2
    assert plt.get_fignums() == [figure.number]


@pytest.mark.parametrize(
    ("S", "y", "options", "message"),
    [
        (np.ones((2, 3)), None, {}, "S must be square"),
        ([[1, np.inf], [0, 1]], None, {}, "S contains infinity"),
        (np.eye(3), [0, 1], {}, r"y must hold one class for each of the 3 samples; got shape \(2,\)"),
        (np.eye(3), "abc", {}, "y must hold one class for each"),
        (np.eye(3), np.zeros((3, 1)), {}, "y must hold one class for each"),
        (np.eye(2), np.array([1, "a"], dtype=object), {}, "y must hold classes that can be sorted"),
        (np.eye(2), None, {"vmin": 2, "vmax": 1}, "vmin must be below vmax; got 2 and 1"),
        (np.eye(2), None, {"cmap": "nope"}, "nope"),
    ],
)
def test_errors_name_the_argument_and_leave_no_figure(S, y, options, message):
    with pytest.raises(ValueError, match=message):
        SimilarityMatrixDisplay.from_matrix(S, y, **options)
    assert plt.get_fignums() == []


def test_the_wrong_number_of_axes():
    _, axes = plt.subplots(1, 2)
    with pytest.raises(ValueError, match="ax must be one Axes for the matrix; got 2"):
        SimilarityMatrixDisplay.from_matrix(np.eye(2), ax=axes)
    with pytest.raises(ValueError, match="ax must be one Axes for the matrix, and one for its asymmetric part; got 1"):
        SimilarityMatrixDisplay.from_matrix(np.eye(2), asymmetric=True, ax=axes[0])


def test_the_extra_is_named_where_matplotlib_is_missing(names_the_extra):
    names_the_extra(
        lambda: SimilarityMatrixDisplay.from_matrix(np.eye(2)),
        lambda: SimilarityMatrixDisplay(image=np.eye(2)).plot(),
    )


@pytest.mark.parametrize("display", [SimilarityMatrixDisplay, SpectrumDisplay])
def test_proximities_are_drawn_as_their_matrix(display):
    S = 1 + np.eye(4)
    y = [[0, 0, 1, 1]] if display is SimilarityMatrixDisplay else []
    with_ids = display.from_matrix(Proximities(S, ids=list("abcd")), *y)
    assert type(with_ids) is display
    assert len(with_ids.ax_.get_images() + with_ids.ax_.collections + with_ids.ax_.lines) > 0
