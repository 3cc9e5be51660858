import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

from similitude import KNNClassifier, Proximities
from similitude.generative.local_sda import LocalSDA
from similitude.generative.mixture_sda import MixtureSDA
from similitude.generative.sda import SDA
from similitude.plotting.similarity_model import SimilarityModelDisplay
from tests.generative.problems import ROW_SIX, S_SIX

Y = np.array(["ape", "ape", "ape", "bat", "bat", "bat"])
ROW = ROW_SIX[0]


def _legend(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


@pytest.mark.parametrize("model", [SDA(), LocalSDA(6), LocalSDA(6, 0.3), MixtureSDA(2)], ids=str)
def test_the_curves_are_the_distributions(model):
    model.fit(S_SIX, Y)
    told = model.explain(ROW)
    display = SimilarityModelDisplay.from_estimator(model, ROW)
    assert len(display.ax_) == len(told.centroids)
    assert display.figure_ is display.ax_[0].figure
    mass = told.weights[:, :, None] * np.exp(told.log_pmf(told.omega))
    for j, lines in enumerate(display.lines_):
        assert set(lines) == {"ape", "bat"}
        for g, name in enumerate(("ape", "bat")):
            if np.isfinite(told.lambdas[g, j]):
                assert np.array_equal(lines[name].get_xdata(), np.arange(6.0))
                assert np.allclose(lines[name].get_ydata(), mass[g, j])
                assert lines[name].get_marker() == "o"


def test_the_sample_is_marked():
    model = LocalSDA(6).fit(S_SIX, Y)
    told = model.explain(ROW)
    display = SimilarityModelDisplay.from_estimator(model, ROW)
    for j, ax in enumerate(display.ax_):
        marks = [line for line in ax.lines if len(line.get_xdata()) == 1]
        assert [line.get_xdata()[0] for line in marks] == [told.similarities[j]] * 2
        assert np.allclose([line.get_ydata()[0] for line in marks], np.exp(told.log_likelihoods[:, j]))
        assert any(list(line.get_xdata()) == [told.similarities[j]] * 2 for line in ax.lines)
        assert ax.get_xlabel() == f"similarity to it; the sample's: {told.similarities[j]:g}"
        assert ax.get_ylabel() == "probability"
    assert _legend(display.ax_[0]) == ["ape: −1.37", "bat: −2.74"]
    assert display.figure_._suptitle.get_text() == "LocalSDA predicts ape, with probability 0.785"


def test_point_masses_are_bars_and_fallbacks_are_told():
    model = LocalSDA(4).fit(S_SIX, Y)
    display = SimilarityModelDisplay.from_estimator(model, [3.0, 4.0, 2.0, 3.0, 1.0, 1.0])
    bar = display.lines_[1]["bat"]
    assert bar.get_xdata().tolist() == [5.0, 5.0]
    assert bar.get_ydata().tolist() == [0.0, 1.0]
    assert _legend(display.ax_[1])[1] == "bat: −∞"
    assert display.figure_._suptitle.get_text().endswith("with probability 1, decided by the most similar centroid")


def test_classes_without_a_neighbour_are_left_out():
    display = SimilarityModelDisplay.from_estimator(LocalSDA(2).fit(S_SIX, Y), [3.0, 4.0, 2.0, 2.0, 1.0, 1.0])
    assert isinstance(display.ax_, plt.Axes)
    assert list(display.lines_[0]) == ["ape"]


def test_large_sets_and_intervals_are_curves():
    rng = np.random.default_rng(0)
    A = rng.random((60, 60))
    y = np.arange(60) % 2
    display = SimilarityModelDisplay.from_estimator(SDA().fit(A, y), A[0])
    line = display.lines_[0][0]
    assert len(line.get_xdata()) == 1000
    assert set(line.get_xdata()) <= set(A.ravel())
    assert line.get_marker() == "None"
    display = SimilarityModelDisplay.from_estimator(SDA("continuous").fit(A, y), A[0] + 1)
    line = display.lines_[0][0]
    assert display.ax_[0].get_ylabel() == "density"
    # The curve goes on to the sample, though it is beyond all similarities known.
    assert line.get_xdata()[-1] == display.explanation.similarities[0] > A.max()


def test_mixtures_are_drawn_with_their_weights():
    display = SimilarityModelDisplay.from_estimator(MixtureSDA(2).fit(S_SIX, Y), ROW)
    assert [ax.get_ylabel() for ax in display.ax_] == ["weight × probability"] * 4


def test_names_of_the_centroids():
    names = ["ann", "bob", "cleo", "d$n", "eve", "fay"]
    expected = ["centroid of ape: bob", r"centroid of bat: d\$n"]
    wrapped = LocalSDA(6).fit(Proximities(S_SIX, ids=names), Y)
    frame = LocalSDA(6).fit(pd.DataFrame(S_SIX, index=names, columns=names), Y)
    plain = LocalSDA(6).fit(S_SIX, Y)
    for display in (
        SimilarityModelDisplay.from_estimator(plain, ROW, ids=names),
        SimilarityModelDisplay.from_estimator(wrapped, Proximities(ROW[None], column_ids=names)),
        SimilarityModelDisplay.from_estimator(frame, pd.DataFrame(ROW[None], columns=names)),
        SimilarityModelDisplay.from_estimator(frame, pd.Series(ROW, index=names)),
    ):
        assert [ax.get_title() for ax in display.ax_] == expected
    assert SimilarityModelDisplay.from_estimator(plain, ROW).ax_[0].get_title() == "centroid of ape: 1"
    told = plain.explain(ROW)
    assert SimilarityModelDisplay(explanation=told).plot().ax_[1].get_title() == "centroid of bat: 3"


def test_into_given_axes():
    figure, axes = plt.subplots(2, 2)
    display = SimilarityModelDisplay.from_estimator(LocalSDA(6).fit(S_SIX, Y), ROW, ax=axes[1])
    assert display.figure_ is figure
    assert display.ax_.tolist() == axes[1].tolist()
    assert not axes[0, 0].lines
    assert figure._suptitle is None
    with pytest.raises(ValueError, match="ax must be one Axes for each of the 2 centroids; got 4"):
        display.plot(axes)


def test_more_than_three_centroids_fill_rows():
    rng = np.random.default_rng(0)
    A = rng.random((30, 30))
    display = SimilarityModelDisplay.from_estimator(SDA().fit(A, np.arange(30) % 5), A[0])
    assert len(display.figure_.axes) == 5
    assert len({line.get_color() for line in display.lines_[0].values()}) == 5


def test_raw_objects():
    words = ["tree", "trees", "free", "house", "mouse", "horse"]

    def overlap(a, b):
        return float(len(set(a) & set(b)))

    model = SDA(similarity=overlap).fit(words, Y)
    display = SimilarityModelDisplay.from_estimator(model, ["three"], ids=words)
    assert [ax.get_title().rsplit(" ", 1)[1] for ax in display.ax_] == [words[i] for i in model.centroids_]


def test_bad_input_is_refused():
    model = LocalSDA(6).fit(S_SIX, Y)
    with pytest.raises(ValueError, match="estimator must be SDA, LocalSDA or MixtureSDA; got KNNClassifier"):
        SimilarityModelDisplay.from_estimator(KNNClassifier().fit(S_SIX, Y), ROW)
    with pytest.raises(ValueError, match="X must hold one sample, as predict takes it; got 6"):
        SimilarityModelDisplay.from_estimator(model, S_SIX)
    with pytest.raises(ValueError, match=r"ids must hold one name for each training sample \(6\); got 2"):
        SimilarityModelDisplay.from_estimator(model, ROW, ids=["a", "b"])
    with pytest.raises(ValueError, match=r"ids must hold one name .* got a str"):
        SimilarityModelDisplay.from_estimator(model, ROW, ids="abcdef")
