import matplotlib.pyplot as plt
import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.metrics import f1_score, make_scorer
from sklearn.model_selection import GridSearchCV, LeaveOneOut, ShuffleSplit, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC

import similitude.plotting.error_curve as error_curve
from similitude import KNNClassifier, LocalNearestCentroid, PathSearchCV, SpectrumModifier
from similitude.plotting import ErrorCurveDisplay


def _problem(n=40, n_classes=2, seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % n_classes
    X = rng.normal(size=(n, 3)) + 0.9 * y[:, None]
    return -np.abs(X[:, None] - X[None]).sum(-1), y


def _legend(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


@pytest.mark.parametrize("cv", [4, LeaveOneOut(), ShuffleSplit(1, random_state=0)])
@pytest.mark.parametrize("estimator", [KNNClassifier(), LocalNearestCentroid()])
def test_the_curve_is_one_minus_cross_val_score(estimator, cv):
    S, y = _problem()
    display = ErrorCurveDisplay.from_estimator(estimator, S, y, param_range=[9, 1, 3, 5], cv=cv)
    ks, errors = display.line_.get_data()
    assert list(ks) == [1, 3, 5, 9]
    folds = np.array([1 - cross_val_score(estimator.set_params(n_neighbors=int(k)), S, y, cv=cv) for k in ks])
    assert np.allclose(errors, folds.mean(axis=1), rtol=0, atol=1e-15)
    best = int(np.argmin(folds.mean(axis=1)))
    assert display.minimum_.get_xydata().tolist() == [[ks[best], errors[best]]]
    name = type(estimator).__name__
    assert _legend(display.ax_) == [f"{name}: least {errors[best]:.3g} at k = {ks[best]:g}"]
    if isinstance(cv, (LeaveOneOut, ShuffleSplit)):
        assert display.band_ is None
        assert display.standard_errors is None
        return
    spread = folds.std(axis=1, ddof=1) / np.sqrt(folds.shape[1])
    vertices = display.band_.get_paths()[0].vertices
    for k, error, one in zip(ks, errors, spread):
        heights = vertices[vertices[:, 0] == k, 1]
        assert np.allclose([heights.min(), heights.max()], [error - one, error + one])


def test_axes_are_named_in_words():
    S, y = _problem()
    display = ErrorCurveDisplay.from_estimator(KNNClassifier(), S, y, param_range=[1, 3], cv=LeaveOneOut())
    assert (display.ax_.get_xlabel(), display.ax_.get_ylabel()) == ("neighbourhood size k", "leave-one-out error")
    assert display.figure_ is display.ax_.figure
    display = ErrorCurveDisplay.from_estimator(
        KNNClassifier(weights="krr"), S, y, param_name="reg", param_range=[0.1, 1], cv=3
    )
    assert (display.ax_.get_xlabel(), display.ax_.get_ylabel()) == ("reg", "cross-validated error")
    assert " at reg = " in _legend(display.ax_)[0]


@pytest.mark.parametrize(
    ("values", "scale"),
    [([1, 2, 31], "linear"), ([1, 2, 32], "log"), ([0, 1, 100], "linear"), ([-1, 5], "linear"), ([5], "linear")],
)
def test_the_axis_is_logarithmic_from_one_and_a_half_decades_on(values, scale):
    display = ErrorCurveDisplay(
        param_name="n_neighbors", param_values=values, errors=np.linspace(0.2, 0.1, len(values))
    )
    assert display.plot() is display
    assert display.ax_.get_xscale() == scale
    display.figure_.canvas.draw()
    low, high = display.ax_.get_xlim()
    ticks = display.ax_.xaxis.get_majorticklabels()
    shown = [tick.get_text() for tick in ticks if low <= tick.get_position()[0] <= high]
    assert shown
    assert not any("." in text or "{" in text for text in shown)


def test_a_wide_range_has_powers_of_ten():
    display = ErrorCurveDisplay(param_name="reg", param_values=[1e-6, 1, 1e6], errors=[0.3, 0.1, 0.2]).plot()
    display.figure_.canvas.draw()
    assert any("10^{" in label.get_text() for label in display.ax_.get_xticklabels())


def test_several_curves_on_one_axes_differ():
    S, y = _problem()
    figure, ax = plt.subplots()
    for name in ("one", "two", "three"):
        display = ErrorCurveDisplay.from_estimator(KNNClassifier(), S, y, param_range=[1, 5, 9], name=name, ax=ax)
        assert display.ax_ is ax
    assert plt.get_fignums() == [figure.number]
    assert [label.split(":")[0] for label in _legend(ax)] == ["one", "two", "three"]
    curves, marks = ax.lines[::2], ax.lines[1::2]
    assert len({line.get_color() for line in curves}) == 3
    assert len({str(line._unscaled_dash_pattern) for line in curves}) == 3
    assert [mark.get_color() for mark in marks] == [line.get_color() for line in curves]
    assert len({mark.get_marker() for mark in marks}) == 3


@pytest.mark.parametrize("layout", [None, "constrained"])
def test_the_legend_of_many_curves_does_not_cover_them_where_there_is_room(layout):
    figure, ax = plt.subplots(layout=layout)
    for i in range(6):
        ErrorCurveDisplay(param_name="n_neighbors", param_values=[1, 2], errors=[0.1 * i, 0.5], name=str(i)).plot(ax)
    figure.canvas.draw()
    bottom, top = ax.get_legend().get_window_extent().y0, ax.get_window_extent().y1
    assert (bottom >= top) == (layout == "constrained")
    assert ax.get_legend().get_window_extent().y1 <= figure.bbox.y1


def test_one_search_does_the_whole_range(monkeypatch):
    calls = []

    class Counted(PathSearchCV):
        def fit(self, *arguments, **options):
            calls.append(self.param_grid)
            return super().fit(*arguments, **options)

    monkeypatch.setattr(error_curve, "PathSearchCV", Counted)
    S, y = _problem()
    ErrorCurveDisplay.from_estimator(KNNClassifier(), S, y, param_range=range(1, 20))
    assert calls == [{"n_neighbors": list(range(1, 20))}]


@pytest.mark.parametrize("kind", [PathSearchCV, GridSearchCV])
def test_a_search_over_more_gives_the_best_over_the_rest(kind):
    S, y = _problem()
    grid = {"weights": ["uniform", "affinity"], "n_neighbors": [9, 2, 4]}
    search = kind(KNNClassifier(), grid, cv=4).fit(np.exp(S), y)
    display = ErrorCurveDisplay.from_search(search)
    results = search.cv_results_
    for k, error, params in zip((2, 4, 9), display.errors, display.params):
        rows = [i for i, candidate in enumerate(results["params"]) if candidate["n_neighbors"] == k]
        best = min(rows, key=lambda i: -results["mean_test_score"][i])
        assert error == pytest.approx(1 - results["mean_test_score"][best], abs=1e-15)
        assert params == results["params"][best]
    assert display.minimum_.get_ydata()[0] == pytest.approx(1 - search.best_score_)


def test_candidates_without_the_parameter_are_left_out():
    S, y = _problem()
    grid = [{"n_neighbors": [1, 3]}, {"weights": ["affinity"]}]
    display = ErrorCurveDisplay.from_search(PathSearchCV(KNNClassifier(), grid, cv=3).fit(np.exp(S), y))
    assert display.param_values.tolist() == [1, 3]


def test_a_parameter_within_a_pipeline():
    S, y = _problem()
    svm = make_pipeline(SpectrumModifier("clip"), SVC(kernel="precomputed"))
    search = PathSearchCV(svm, {"svc__C": [0.01, 1, 100]}, cv=3).fit(S, y)
    display = ErrorCurveDisplay.from_search(search, "svc__C", name="SVM")
    assert display.ax_.get_xlabel() == "svc__C"
    assert display.ax_.get_xscale() == "log"
    assert _legend(display.ax_)[0].startswith("SVM: least ")
    assert " at C = " in _legend(display.ax_)[0]


def _f1(estimator, X, y):
    return f1_score(y, estimator.predict(X))


@pytest.mark.parametrize(
    ("scoring", "refit", "key", "sign", "name"),
    [
        ("accuracy", True, "score", 1, "cross-validated error"),
        ("balanced_accuracy", True, "score", 1, "cross-validated 1 - balanced accuracy"),
        ("neg_log_loss", True, "score", 0, "cross-validated log loss"),
        (make_scorer(f1_score), True, "score", 1, "cross-validated 1 - score"),
        (["f1", "accuracy"], "accuracy", "accuracy", 1, "cross-validated error"),
        ({"mine": _f1, "right": "accuracy"}, "mine", "mine", 1, "cross-validated 1 - mine"),
        ({"mine": "neg_log_loss"}, "mine", "mine", 0, "cross-validated log loss"),
    ],
)
def test_other_scores(scoring, refit, key, sign, name):
    S, y = _problem()
    search = PathSearchCV(KNNClassifier(), {"n_neighbors": [5, 9]}, cv=3, scoring=scoring, refit=refit).fit(S, y)
    display = ErrorCurveDisplay.from_search(search)
    assert np.allclose(display.errors, sign - search.cv_results_[f"mean_test_{key}"])
    assert display.ax_.get_ylabel() == name


def test_failed_fits_leave_a_gap():
    display = ErrorCurveDisplay(param_name="n_neighbors", param_values=[1, 2, 3], errors=[np.nan, 0.3, 0.2]).plot()
    assert display.minimum_.get_xdata()[0] == 3
    display.errors = [np.nan] * 3
    plt.close("all")
    with pytest.raises(ValueError, match="errors must hold a number"):
        display.plot()
    assert plt.get_fignums() == []


def test_a_failed_candidate_gives_way_to_one_that_did_not():
    S, y = _problem()
    grid = {"spectrum": ["pinv", "clip"], "n_neighbors": [3]}
    with pytest.warns(Warning, match="fits failed"):
        search = GridSearchCV(KNNClassifier(weights="kri"), grid, cv=3).fit(S, y)
    assert ErrorCurveDisplay.from_search(search).params == [{"n_neighbors": 3, "spectrum": "clip"}]


def test_names_are_literal():
    display = ErrorCurveDisplay(
        param_name="n_neighbors", param_values=[1, 2], errors=[0.25, 0.5], name="_$a$ and $b$"
    ).plot()
    (text,) = display.ax_.get_legend().get_texts()
    shown, mathematics = text._preprocess_math(text.get_text())
    assert shown.strip("\u200b") == "_$a$ and $b$: least 0.25 at k = 1"
    assert not mathematics


def test_a_display_without_a_name():
    display = ErrorCurveDisplay(param_name="n_neighbors", param_values=[1, 2], errors=[0.5, 0.5]).plot()
    assert _legend(display.ax_) == ["least 0.5 at k = 1"]
    assert display.ax_.get_ylabel() == "error"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"param_range": []}, "param_range must be one or more finite numbers"),
        ({"param_range": ["a"], "param_name": "weights"}, "param_range must be one or more finite numbers"),
        ({"param_range": [True]}, "param_range must be"),
        ({"param_range": [np.inf]}, "param_range must be"),
        ({"param_range": [0, 1]}, "n_neighbors must be"),
        ({"param_range": [1], "param_name": "nope"}, "nope"),
    ],
)
def test_errors_of_from_estimator_name_the_argument_and_leave_no_figure(options, message):
    S, y = _problem()
    with pytest.raises(ValueError, match=message):
        ErrorCurveDisplay.from_estimator(KNNClassifier(), S, y, **options)
    assert plt.get_fignums() == []


def test_errors_of_from_search():
    S, y = _problem()
    search = PathSearchCV(KNNClassifier(), {"weights": ["uniform", "affinity"]}, cv=3)
    with pytest.raises(NotFittedError):
        ErrorCurveDisplay.from_search(search)
    search.fit(np.exp(S), y)
    with pytest.raises(ValueError, match=r"param_name must be a parameter of the search, one of \['weights'\]"):
        ErrorCurveDisplay.from_search(search, "n_neighbors")
    with pytest.raises(ValueError, match="values of 'weights' must be one or more finite numbers"):
        ErrorCurveDisplay.from_search(search, "weights")
    several = PathSearchCV(KNNClassifier(), {"n_neighbors": [1]}, scoring=["f1", "accuracy"], refit=False).fit(S, y)
    with pytest.raises(ValueError, match="search has several metrics: its refit must name one"):
        ErrorCurveDisplay.from_search(several)
    assert plt.get_fignums() == []


def test_several_axes_for_one_curve_are_refused():
    _, axes = plt.subplots(1, 2)
    with pytest.raises(ValueError, match="ax must be one Axes for the curve; got 2"):
        ErrorCurveDisplay(param_name="k", param_values=[1, 2], errors=[0.1, 0.2]).plot(axes)


def test_the_extra_is_named_where_matplotlib_is_missing(names_the_extra):
    S, y = _problem()
    search = PathSearchCV(KNNClassifier(), {"n_neighbors": [1, 3]}, cv=3).fit(S, y)
    names_the_extra(
        lambda: ErrorCurveDisplay.from_search(search),
        lambda: ErrorCurveDisplay.from_estimator(KNNClassifier(), S, y, param_range=[1]),
    )


def test_of_errors_equal_but_for_rounding_the_smallest_parameter_is_marked():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(60, 2))
    y = (X[:, 0] > 0).astype(int) ^ (rng.random(60) < 0.15)
    display = ErrorCurveDisplay.from_estimator(KNNClassifier(), X @ X.T, y, param_range=range(1, 20), cv=5)
    assert display.errors[0] == pytest.approx(display.errors.min(), abs=1e-12)
    assert display.line_.get_label() == "KNNClassifier: least 0.133 at k = 1"
