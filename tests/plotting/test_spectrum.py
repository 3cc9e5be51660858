from types import SimpleNamespace

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.exceptions import NotFittedError

from similitude import KNNClassifier, SimilarityWarning, SpectrumModifier
from similitude.plotting import SpectrumDisplay


def _matrix(n=12, seed=0):
    A = np.random.default_rng(seed).normal(size=(n, n))
    return A + A.T


def _with_eigenvalues(values, seed=0):
    Q = np.linalg.qr(np.random.default_rng(seed).normal(size=(len(values), len(values))))[0]
    S = (Q * values) @ Q.T
    return (S + S.T) / 2


def _learned(values=(-2.0, 0.5, 3.0), weights=(-0.4, 1.1, 0.9), **more):
    return SimpleNamespace(eigenvalues_=np.array(values), spectrum_weights_=np.array(weights), **more)


def _three_classes(**more):
    values = [np.array([-1.0, 2.0]), np.array([1.0, 4.0, -3.0]), np.array([5.0])]
    weights = [np.array([-0.5, 1.0]), np.array([1.0, 0.8, -0.2]), np.array([1.0])]
    return SimpleNamespace(eigenvalues_=values, spectrum_weights_=weights, **more)


def _shown(text):
    return text._preprocess_math(text.get_text())


def _parts(ax):
    return [text.get_text() for text in ax.texts]


# A matrix


def test_lines_are_the_eigenvalues_and_what_becomes_of_them():
    S = _matrix()
    display = SpectrumDisplay.from_matrix(S, methods=("clip", "flip", "shift", "square"))
    values = np.linalg.eigvalsh(S)[::-1]
    expected = {
        "before": values,
        "clip": np.where(values > 0, values, 0),
        "flip": abs(values),
        "shift": values + abs(values[-1]),
        "square": values * values,
    }
    assert list(display.lines_) == list(expected)
    for name, line in display.lines_.items():
        assert line.axes is display.ax_
        assert line.get_xdata().tolist() == list(range(1, 13))
        assert np.allclose(line.get_ydata(), expected[name], atol=1e-9)
        assert line.get_label() == name
    assert display.n_negative_ == np.sum(values < 0)
    fraction = -values[values < 0].sum() / abs(values).sum()
    assert display.negative_eigenfraction_ == pytest.approx(fraction)
    title = f"{display.n_negative_} of 12 eigenvalues negative, negative eigenfraction {fraction:.3g}"
    assert display.ax_.get_title() == title
    assert display.figure_ is display.ax_.figure
    assert display.weight_lines_ is None
    assert any(list(line.get_ydata()) == [0, 0] for line in display.ax_.lines)  # the zero line


@pytest.mark.parametrize("method", ["clip", "flip", "shift", "square"])
def test_modified_eigenvalues_are_those_of_the_modified_kernel(method):
    S = _matrix()
    modified = SpectrumDisplay.from_matrix(S, methods=method).modified[method]
    kernel = SpectrumModifier(method).fit_transform(S)
    assert np.allclose(np.sort(modified), np.linalg.eigvalsh(kernel), atol=1e-8)


@pytest.mark.parametrize("kind", [sparse.csr_matrix, sparse.csr_array, pd.DataFrame, list, np.float32])
def test_other_kinds_of_matrix(kind):
    S = _matrix()
    display = SpectrumDisplay.from_matrix(kind(S), methods=())
    assert list(display.lines_) == ["before"]
    assert np.allclose(display.eigenvalues, np.linalg.eigvalsh(S)[::-1], atol=1e-5)


def test_an_asymmetric_matrix_is_symmetrised_with_a_warning():
    S = np.random.default_rng(0).normal(size=(6, 6))
    with pytest.warns(SimilarityWarning, match="SpectrumDisplay needs a symmetric similarity"):
        display = SpectrumDisplay.from_matrix(S)
    assert np.allclose(display.eigenvalues, np.linalg.eigvalsh((S + S.T) / 2)[::-1])


def test_rounding_is_no_negative_eigenvalue():
    display = SpectrumDisplay.from_matrix(np.ones((50, 50)))
    assert display.n_negative_ == 0
    assert np.sum(display.eigenvalues != 0) == 1
    assert _parts(display.ax_) == ["1 positive", "49 zero"]


# The axes


def test_a_long_spectrum_is_stretched_by_parts():
    values = np.r_[np.linspace(9, 1, 20), np.zeros(477), [-1, -2, -3]]
    display = SpectrumDisplay.from_matrix(_with_eigenvalues(values))
    ax = display.ax_
    assert _parts(ax) == ["20 positive", "477 zero", "3 negative"]
    assert ax.get_xlim() == (0.5, 500.5)
    at = [ax.transAxes.inverted().transform(ax.transData.transform((x, 0)))[0] for x in (0.5, 20.5, 497.5, 500.5)]
    assert at == sorted(at)
    positive, zero, negative = np.diff(at)
    assert positive > 0.5
    assert zero < 0.2
    assert negative > 0.15
    assert {1, 20, 498, 500} <= set(ax.get_xticks())
    assert set(ax.get_xticks()) <= set(range(1, 501))
    # Eigenvalues of which there are few are marked one by one, zeros are not.
    assert display.lines_["flip"].get_markevery() == [*range(20), 497, 498, 499]
    display.figure_.canvas.draw()


@pytest.mark.parametrize("counts", [(30, 0, 30), (3, 4, 3), (1, 0, 1), (60, 0, 0), (0, 0, 60), (0, 60, 0)])
def test_other_spectra_have_an_even_axis(counts):
    values = np.repeat([2.0, 0.0, -1.0], counts)
    display = SpectrumDisplay(eigenvalues=values, modified={}).plot()
    assert display.ax_.get_xscale() == "linear"
    assert [int(text.split()[0]) for text in _parts(display.ax_)] == [count for count in counts if count]
    display.figure_.canvas.draw()


@pytest.mark.parametrize("counts", [(100, 0, 1), (1, 0, 100), (1, 99, 0), (0, 99, 1), (5, 95, 5), (999, 1, 1000)])
def test_any_stretch_can_be_drawn(counts):
    display = SpectrumDisplay(eigenvalues=np.repeat([2.0, 0.0, -1.0], counts), modified={}).plot()
    display.figure_.canvas.draw()
    n = sum(counts)
    places = display.ax_.transData.transform(np.column_stack([np.arange(1, n + 1), np.zeros(n)]))[:, 0]
    assert np.all(np.diff(places) > 0)
    assert np.allclose(
        display.ax_.transData.inverted().transform(np.column_stack([places, places]))[:, 0], range(1, n + 1)
    )


@pytest.mark.parametrize(
    ("values", "scale"),
    [
        ([5, 4, 3, 2, -1], "linear"),
        ([100, 50, 40, -1], "symlog"),  # else the negative one is not seen
        ([1000, 1, 1, 1, 1], "symlog"),
        ([100, 50, 40, 30], "linear"),
        ([-1, -2, -3], "linear"),
        ([0, 0], "linear"),
        ([1e-100, -1e-100], "linear"),
    ],
)
def test_the_scale_is_logarithmic_only_where_it_helps(values, scale):
    display = SpectrumDisplay(eigenvalues=values, modified={}).plot()
    assert display.ax_.get_yscale() == scale
    display.figure_.canvas.draw()
    for wanted in ("linear", "symlog"):
        display = SpectrumDisplay(eigenvalues=values, modified={}, scale=wanted).plot()
        assert display.ax_.get_yscale() == (wanted if any(values) else "linear")


def test_given_axes_and_once_more():
    figure, axes = plt.subplots(1, 2)
    display = SpectrumDisplay.from_matrix(_matrix(), ax=axes[1])
    assert display.ax_ is axes[1]
    assert display.plot(axes[0]) is display
    assert display.figure_ is figure
    assert plt.get_fignums() == [figure.number]


def test_text_of_the_user_is_literal():
    display = SpectrumDisplay(eigenvalues=[1, -1], modified={"_$m$": [1, 0]}, name="$a$ and $b$").plot()
    shown, mathematics = _shown(display.ax_.title)
    assert not mathematics
    assert shown.startswith("$a$ and $b$\n1 of 2")
    shown, mathematics = _shown(display.ax_.get_legend().get_texts()[1])
    assert (shown.strip("\u200b"), mathematics) == ("_$m$", False)


# Estimators


@pytest.mark.parametrize("method", ["clip", "flip", "shift", "square", "none"])
def test_a_fitted_modifier_is_drawn_with_its_method(method):
    S = _matrix()
    modifier = SpectrumModifier(method).fit(S)
    display = SpectrumDisplay.from_estimator(modifier.set_params(method="clip"))  # what it did, not what it will do
    assert list(display.lines_) == ["before"] + [method] * (method != "none")
    assert np.allclose(display.lines_["before"].get_ydata(), np.linalg.eigvalsh(S)[::-1])
    if method != "none":
        kernel = SpectrumModifier(method).fit_transform(S)
        assert np.allclose(np.sort(display.modified[method]), np.linalg.eigvalsh(kernel), atol=1e-8)


def test_the_square_of_an_asymmetric_matrix_has_its_own_eigenvalues():
    S = np.random.default_rng(0).normal(size=(7, 7))
    display = SpectrumDisplay.from_estimator(SpectrumModifier("square").fit(S))
    assert np.allclose(np.sort(display.modified["square"]), np.linalg.eigvalsh(S @ S.T), atol=1e-9)
    largest = np.argmax(np.abs(display.eigenvalues))
    assert display.modified["square"].argmax() == largest


def test_learned_weights():
    display = SpectrumDisplay.from_estimator(_learned())
    left, right = display.ax_
    assert list(display.lines_) == ["before", "clip", "flip", "learned"]
    drawn = {name: line.get_ydata().tolist() for name, line in display.lines_.items()}
    assert drawn["before"] == [3, 0.5, -2]
    assert drawn["clip"] == [3, 0.5, 0]
    assert drawn["flip"] == [3, 0.5, 2]
    assert np.allclose(drawn["learned"], [2.7, 0.55, 0.8])
    assert all(line.axes is left for line in display.lines_.values())
    assert all(line.axes is right for line in display.weight_lines_.values())
    assert display.weight_lines_["learned"].get_xydata().tolist() == [[3, 0.9], [0.5, 1.1], [-2, -0.4]]
    assert display.weight_lines_["clip"].get_xydata().tolist() == [[-2, 0], [0, 0], [0, 1], [3, 1]]
    assert display.weight_lines_["flip"].get_xydata().tolist() == [[-2, -1], [0, -1], [0, 1], [3, 1]]
    assert left.get_title().startswith("1 of 3 nonzero eigenvalues negative")
    assert (right.get_xlabel(), right.get_ylabel()) == ("eigenvalue before", "weight a")


def test_a_name_has_one_look_in_both_axes():
    display = SpectrumDisplay.from_estimator(_learned())
    for name in ("clip", "flip", "learned"):
        assert display.weight_lines_[name].get_color() == display.lines_[name].get_color()
    assert len({line.get_color() for line in display.lines_.values()}) == 4


def test_a_pair_of_classes():
    estimator = _three_classes(classes_=np.array(["a", "$b$", "c"]))
    for pair in (1, np.int64(1), ("a", "c"), ["c", "a"]):
        display = SpectrumDisplay.from_estimator(estimator, pair=pair)
        assert display.eigenvalues.tolist() == [4, 1, -3]
        assert display.weights.tolist() == [0.8, 1, -0.2]
        assert display.name == "a / c"
    assert _shown(SpectrumDisplay.from_estimator(estimator, pair=2).ax_[0].title)[0].startswith("$b$ / c\n")
    assert SpectrumDisplay.from_estimator(estimator, pair=2, name="mine").name == "mine"
    assert SpectrumDisplay.from_estimator(_three_classes(), pair=0).name is None
    one = SimpleNamespace(eigenvalues_=[np.array([1.0, -1])], spectrum_weights_=[np.array([1.0, 0])])
    assert SpectrumDisplay.from_estimator(one).eigenvalues.tolist() == [1, -1]
    assert SpectrumDisplay.from_estimator(_learned(classes_=[0, 1]), pair=(0, 1)).name is None


@pytest.mark.parametrize("pair", [None, 3, -1, True, "ab", ("a", "z"), ("a", "a"), 1.0])
def test_a_wrong_pair(pair):
    estimator = _three_classes(classes_=np.array(["a", "b", "c"]))
    with pytest.raises(ValueError, match=r"pair must be a position from 0 to 2, or two labels: one of \[\('a', 'b'\)"):
        SpectrumDisplay.from_estimator(estimator, pair=pair)
    with pytest.raises(ValueError, match="pair must be a position from 0 to 2; got"):
        SpectrumDisplay.from_estimator(_three_classes(), pair=pair)
    with pytest.raises(ValueError, match="pair must be"):
        SpectrumDisplay.from_estimator(SpectrumModifier().fit(_matrix()), pair=0)
    assert plt.get_fignums() == []


# Errors


@pytest.mark.parametrize(
    ("S", "options", "message"),
    [
        (np.ones((2, 3)), {}, "S must be square"),
        ([[1, np.nan], [0, 1]], {}, "S contains NaN"),
        (np.eye(2), {"methods": ("clip", "fold")}, "methods must be some of"),
        (np.eye(2), {"methods": "none"}, "methods must be some of"),
        (np.eye(2) * 1e200, {"methods": "square"}, "spectrum='square' overflows"),
        (np.eye(2), {"scale": "log"}, "scale must be one of"),
    ],
)
def test_errors_of_from_matrix_name_the_argument_and_leave_no_figure(S, options, message):
    with pytest.raises(ValueError, match=message):
        SpectrumDisplay.from_matrix(S, **options)
    assert plt.get_fignums() == []


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"eigenvalues": [], "modified": {}}, r"eigenvalues must be one or more numbers; got shape \(0,\)"),
        ({"eigenvalues": [1, 2], "modified": {"clip": [1]}}, r"modified\['clip'\] must hold one number per eigenvalue"),
        ({"eigenvalues": [1, 2], "modified": {}, "weights": [1]}, r"weights must hold one .* \(2\); got shape \(1,\)"),
    ],
)
def test_errors_of_plot(options, message):
    with pytest.raises(ValueError, match=message):
        SpectrumDisplay(**options).plot()
    assert plt.get_fignums() == []


def test_other_estimators_and_unfitted_ones():
    S = _matrix()
    for unfitted in (SpectrumModifier(), KNNClassifier()):
        with pytest.raises(NotFittedError):
            SpectrumDisplay.from_estimator(unfitted)
    for other in (KNNClassifier(3).fit(S, np.arange(12) % 2), object()):
        with pytest.raises(ValueError, match="estimator must be a fitted SpectrumModifier, or have eigenvalues_ and"):
            SpectrumDisplay.from_estimator(other)
    with pytest.raises(ValueError, match="spectrum_weights_ of estimator must hold one number per eigenvalue"):
        SpectrumDisplay.from_estimator(_learned(weights=(1.0, 2.0)))
    assert plt.get_fignums() == []


def test_the_wrong_number_of_axes():
    _, axes = plt.subplots(1, 2)
    with pytest.raises(ValueError, match="ax must be one Axes for the eigenvalues; got 2"):
        SpectrumDisplay.from_matrix(_matrix(), ax=axes)
    with pytest.raises(ValueError, match="ax must be one Axes for the eigenvalues, and one for the weights; got 1"):
        SpectrumDisplay.from_estimator(_learned(), ax=axes[0])


def test_the_extra_is_named_where_matplotlib_is_missing(names_the_extra):
    S = _matrix()
    modifier = SpectrumModifier().fit(S)
    names_the_extra(
        lambda: SpectrumDisplay.from_matrix(S),
        lambda: SpectrumDisplay.from_estimator(modifier),
        lambda: SpectrumDisplay(eigenvalues=[1], modified={}).plot(),
    )
