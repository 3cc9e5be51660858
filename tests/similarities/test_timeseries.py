"""Distances of time series."""

import multiprocessing
import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import cross_val_score

from similitude import AutoClassifier, KNNClassifier, MixtureSVC
from similitude.similarities import (
    ADTW,
    DTW,
    EDR,
    ERP,
    LCSS,
    MSM,
    SBD,
    TWE,
    WDTW,
    SeriesEuclidean,
    ShapeDTW,
    as_series,
    elastic_family,
    pairwise,
)
from similitude.similarities.registry import resolve
from tests.reference import timeseries as reference

number = st.integers(-20, 20).map(lambda k: k / 4)

ELASTIC = [
    (DTW(), reference.dtw),
    (WDTW(), reference.wdtw),
    (WDTW(g=0.7), reference.wdtw),
    (ADTW(), reference.adtw),
    (ADTW(warp_penalty=1e6), reference.adtw),
    (ERP(), reference.erp),
    (ERP(g=-3.0), reference.erp),
    (EDR(), reference.edr),
    (EDR(epsilon=0.0), reference.edr),
    (EDR(epsilon=0.6), reference.edr),
    (LCSS(), reference.lcss),
    (LCSS(epsilon=0.0), reference.lcss),
    (MSM(), reference.msm),
    (MSM(c=0.0), reference.msm),
    (MSM(c=1e6), reference.msm),
    (MSM(independent=False), reference.msm),
    (TWE(), reference.twe),
    (TWE(nu=0.0, lmbda=0.0), reference.twe),
    (TWE(nu=10.0, lmbda=0.1), reference.twe),
    (ShapeDTW(reach=2), reference.shape_dtw),
    (ShapeDTW(), reference.shape_dtw),
]
LOCKSTEP = [
    (SeriesEuclidean(), reference.series_euclidean),
    (SBD(), reference.sbd),
    (SBD(standardize=False), reference.sbd),
]
ALL = [measure for measure, _ in ELASTIC + LOCKSTEP]


def described(value):
    return value.__name__ if value.__class__.__name__ == "function" else str(value)


def series_of(lengths, seed=0, channels=None):
    rng = np.random.default_rng(seed)
    return [rng.normal(size=n if channels is None else (channels, n)).cumsum(axis=-1) for n in lengths]


UGLY = [
    np.zeros((1, 4)),
    np.full((1, 7), 2.5),
    np.array([[3.0]]),
    np.array([[-1.0, 5.0]]),
    np.array([[0.0, 0.0, 1.0, 0.0, 0.0]]),
    1e-7 * np.arange(6.0)[None],
    1e6 * np.sin(np.arange(9.0))[None],
    *(x[None] for x in series_of([1, 12, 12, 20, 3])),
]
SEVERAL_CHANNELS = series_of([5, 1, 12, 12, 7, 18, 2, 9, 9, 10], channels=3)


def by_definition(measure, function, A, B):
    parameters = measure.get_params()
    derivative, _ = parameters.pop("derivative"), parameters.pop("relative", False)
    prepared = [[reference.slopes(x) if derivative else x for x in X] for X in (A, B)]
    return np.array([[function(x, z, **parameters) for z in prepared[1]] for x in prepared[0]])


@pytest.mark.parametrize("window", [None, 0, 0.1, 0.25, 0.5, 1])
@pytest.mark.parametrize(("measure", "function"), ELASTIC, ids=described)
def test_the_recursion_on_ugly_series(measure, function, window):
    measure = clone(measure).set_params(window=window)
    for X in (UGLY, SEVERAL_CHANNELS):
        expected = by_definition(measure, function, X, X)
        assert np.allclose(measure(X, X), expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize(("measure", "function"), LOCKSTEP, ids=described)
def test_step_by_step_on_ugly_series(measure, function):
    for X in (UGLY, SEVERAL_CHANNELS):
        assert np.allclose(measure(X, X), by_definition(measure, function, X, X), rtol=1e-9, atol=1e-9)
        assert np.allclose(measure(X, X[::-1]), measure(X, X)[:, ::-1], rtol=0, atol=1e-12)


@pytest.mark.parametrize(("measure", "function"), [*ELASTIC[::3], *LOCKSTEP], ids=described)
def test_derivatives(measure, function):
    measure = clone(measure).set_params(derivative=True)
    X = [x for x in (*SEVERAL_CHANNELS, *series_of([3, 30], channels=3)) if x.shape[1] > 2]
    assert np.allclose(measure(X, X), by_definition(measure, function, X, X), rtol=1e-9, atol=1e-9)
    with pytest.raises(ValueError, match=r"B\[1\] has 2 time step\(s\); derivative needs at least 3"):
        measure(X, [X[0], X[0][:, :2]])


@st.composite
def collections(draw):
    channels = draw(st.integers(1, 2))

    def one():
        size = draw(st.integers(1, 6))
        return np.array([draw(st.lists(number, min_size=size, max_size=size)) for _ in range(channels)])

    return [one() for _ in range(draw(st.integers(1, 3)))], [one() for _ in range(draw(st.integers(1, 3)))]


@settings(max_examples=30)
@given(collections(), st.sampled_from([None, 0.0, 0.2, 0.5]), st.sampled_from(ELASTIC))
def test_the_recursion_on_values_with_many_ties(case, window, measured):
    measure, function = clone(measured[0]).set_params(window=window), measured[1]
    assert np.allclose(measure(*case), by_definition(measure, function, *case), rtol=1e-9, atol=1e-12)


AEON = {
    "dtw": [DTW()],
    "ddtw": [DTW(derivative=True)],
    "wdtw": [WDTW(), WDTW(g=0.3)],
    "wddtw": [WDTW(derivative=True)],
    "adtw": [ADTW(), ADTW(warp_penalty=0.1)],
    "erp": [ERP(), ERP(g=0.5)],
    "edr": [EDR(), EDR(epsilon=0.3)],
    "lcss": [LCSS(), LCSS(epsilon=0.1)],
    "msm": [MSM(), MSM(c=0.1), MSM(independent=False)],
    "twe": [TWE(), TWE(nu=0.1, lmbda=0.2)],
    "euclidean": [SeriesEuclidean()],
    "sbd": [SBD(), SBD(standardize=False)],
}


@pytest.mark.untraced
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", AEON)
def test_the_same_as_aeon(name):
    distances = pytest.importorskip("aeon.distances")
    pytest.importorskip("aeon", minversion="1.6")  # the first with these bands
    function = getattr(distances, f"{name}_distance")
    for measure in AEON[name]:
        parameters = measure.get_params()
        windows = [None, 0.0, 0.1, 1.0] if "window" in parameters else [None]
        for window in windows:
            if "window" in parameters:
                measure = clone(measure).set_params(window=window)
            passed = {k: v for k, v in measure.get_params().items() if k not in ("derivative", "relative")}
            ugly = [x for x in UGLY if np.ptp(x) > 0] if name == "sbd" else UGLY  # NaN for constant series there
            for X in (ugly, SEVERAL_CHANNELS):
                X = [x for x in X if x.shape[1] > 2] if parameters["derivative"] else X
                expected = np.array([[function(x, z, **passed) for z in X] for x in X])
                assert np.allclose(measure(X, X), expected, rtol=1e-9, atol=1e-9)


@pytest.mark.untraced
@pytest.mark.filterwarnings("ignore")
def test_the_paths_of_shape_dtw_are_those_of_aeon():
    # aeon's distance function ends some paths at the border of the table; the path that it returns does not.
    distances = pytest.importorskip("aeon.distances")
    X = [x[None] for x in series_of([20, 25, 30, 12])]
    for x in X:
        for z in X:
            path = distances.shape_dtw_alignment_path(x, z, reach=3)[0]
            expected = sum(reference.squared(x, i, z, j) for i, j in path)
            assert np.isclose(ShapeDTW(reach=3)([x], [z]).item(), expected, rtol=1e-9)


@pytest.mark.parametrize("measure", ALL, ids=described)
def test_symmetry_order_blocks_types_and_threads(measure, monkeypatch):
    for channels in (None, 2):
        X = series_of([12, 30, 5, 12, 12, 7, 18, 9, 30, 30, 12, 4, 25, 26, 27, 28, 29, 3, 12], channels=channels)
        D = measure(X, X)
        exact = not isinstance(measure, SBD)  # a Fourier transform rounds
        equal = np.array_equal if exact else np.allclose
        assert equal(D, D.T)
        assert equal(measure(X, list(X)), D)
        order = np.random.default_rng(1).permutation(len(X))
        shuffled = [X[i] for i in order]
        assert equal(measure(shuffled, shuffled), D[np.ix_(order, order)])
        assert equal(np.vstack([measure([x], X) for x in X]), D)
        assert equal(pairwise(X, similarity=measure, block_size=7, n_jobs=2), D)
        single = [x.astype(np.float32) for x in X]
        assert equal(measure(single, single), measure([x.astype(float) for x in single], single))
        monkeypatch.setenv("OMP_NUM_THREADS", "1")
        assert equal(measure(X, X), D)
        monkeypatch.undo()


@pytest.mark.parametrize("window", [None, 0.2])
@pytest.mark.parametrize("measure", ALL, ids=described)
def test_nearest_neighbours_are_those_of_the_whole_matrix(measure, window):
    if "window" in measure.get_params():
        measure = clone(measure).set_params(window=window)
    for channels in (None, 2):
        A, B = series_of(range(8, 14), 1, channels), series_of([*range(5, 25), 12, 12], 2, channels)
        B += [B[3].copy(), B[4].copy()]
        D = measure(A, B)
        for k in (1, 3, len(B)):
            positions, distances = measure.nearest(A, B, k)
            expected = np.argsort(D, axis=1, kind="stable")[:, :k]
            assert np.array_equal(positions, expected)
            assert np.array_equal(distances, np.take_along_axis(D, expected, axis=1))
    assert measure.nearest([], B)[0].shape == (0, 1)
    with pytest.raises(ValueError, match="k must be at most the number of series in B, which is 24; got 25"):
        measure.nearest(A, B, 25)


NAMES = ["dtw", "ddtw", "wdtw", "wddtw", "adtw", "erp", "edr", "lcss", "msm", "twe", "shape_dtw", "sbd"]
NAMES += ["series_euclidean", "derivative_euclidean"]


@pytest.mark.parametrize("name", NAMES)
def test_what_the_registry_says_is_true(name):
    measure = resolve(name)
    X = series_of([6, 9, 12, 12, 7, 3])
    D = pairwise(X, similarity=name)
    assert np.array_equal(D, measure.function(X, X))
    assert (measure.orientation, measure.symmetric, measure.threads) == ("dissimilarity", True, True)
    assert D.min() >= 0
    assert not measure.range.startswith("0 to") or D.max() <= float(measure.range.split()[-1])
    if measure.metric:
        assert (D[:, :, None] <= D[:, None, :] + D.T[None] + 1e-9).all()


def test_parameters_decide_about_the_axioms_of_a_metric():
    assert resolve("msm").metric
    assert resolve(MSM(c=2.0)).metric
    assert not resolve(MSM(window=0.1)).metric
    assert not resolve(MSM(independent=False)).metric
    D = DTW()([[0.0], [1.0], [2.0]], [[0.0], [1.0], [2.0]])
    assert D[0, 2] > D[0, 1] + D[1, 2]


@pytest.mark.parametrize("measure", [*ALL[: len(ELASTIC) : 2], SeriesEuclidean()], ids=described)
def test_a_relative_measure_learns_the_scale(measure):
    X = series_of([12, 9, 12, 14])
    relative = clone(measure).set_params(relative=True)
    with pytest.raises(NotFittedError):
        relative(X, X)
    assert resolve(relative).learns
    assert not resolve(measure).learns
    scale = np.concatenate(X).std()
    assert relative.fit(X).scale_ == scale
    assert np.allclose(relative(X, X), measure([x / scale for x in X], [x / scale for x in X]), rtol=1e-12)
    larger = [1000 * x for x in X]
    assert np.allclose(clone(relative).fit(larger)(larger, larger), relative(X, X), rtol=1e-9)
    slopes = clone(relative).set_params(derivative=True).fit(X)
    assert np.isclose(slopes.scale_, np.concatenate([reference.slopes(x[None])[0] for x in X]).std())
    assert clone(relative).fit([np.ones(3)]).scale_ == 1.0


def test_the_scale_comes_from_the_training_series_alone():
    X, y = series_of([10] * 12), [0, 1] * 6
    knn = KNNClassifier(1, similarity=LCSS(epsilon=0.3, relative=True)).fit(X, y)
    expected = LCSS(epsilon=0.3, relative=True).fit(X)
    new = [50 * x for x in series_of([10] * 4, seed=3)]
    nearest = expected(new, X).argmin(axis=1)
    assert knn.predict(new[:1]).tolist() == [y[nearest[0]]]


def test_every_kind_of_collection():
    rows = np.arange(12.0).reshape(3, 4) % 5
    expected = DTW()(list(rows), list(rows))
    assert expected.max() > 0
    for kind in (np.asarray, pd.DataFrame, np.ndarray.tolist, np.float32, lambda r: r[:, None, :], list, tuple):
        assert np.array_equal(DTW()(kind(rows), kind(rows)), expected)
    assert np.array_equal(DTW()([pd.Series(r) for r in rows], rows.astype(int)), expected)
    ragged = np.empty(2, dtype=object)
    ragged[:] = [np.array([1, 2]), np.array([1, 2, 2])]
    assert DTW()(ragged, ragged).tolist() == [[0.0, 0.0], [0.0, 0.0]]
    assert DTW()([], rows).shape == (0, 3)


def test_forms_of_series_with_channels():
    cube = np.arange(24.0).reshape(2, 3, 4)
    by_time = pd.DataFrame(
        cube.transpose(0, 2, 1).reshape(8, 3), index=pd.MultiIndex.from_product([["b", "a"], range(4)])
    )
    nested = pd.DataFrame([[pd.Series(channel) for channel in x] for x in cube])
    frames = [pd.DataFrame(x) for x in cube]
    mixed = by_time.iloc[[5, 0, 4, 7, 2, 3, 1, 6]].loc[["b", "a"]]  # not in the order of time
    for form in (cube, list(cube), cube.tolist(), by_time, mixed, nested, frames):
        assert np.array_equal(np.array(as_series(form)), cube)


def test_the_series_are_left_alone():
    X = [x[::2] for x in series_of([10, 8])]
    kept = [x.copy() for x in X]
    for measure in ALL:
        measure(X, X)
    assert all(np.array_equal(x, k) for x, k in zip(X, kept))


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (["ab"], r"A\[0\] must be an array of numbers"),
        ([[1.0], [1.0, {}]], r"A\[1\] must be an array of numbers"),
        ([[1.0], [[1.0, 2.0], [1.0]]], r"A\[1\] must be an array of numbers"),
        ([[1.0], [1.0, None]], r"A\[1\] contains NaN"),
        ([[1.0], [1j]], r"A\[1\] must be an array of numbers"),
        ([[1.0], []], r"A\[1\] must be a series .*not empty; got \(0,\)"),
        (np.ones((2, 0)), r"A\[0\] must be a series .*not empty; got \(0,\)"),
        ([3.0], r"A\[0\] must be a series .*got \(\)"),
        ([[[[1.0]]]], r"A\[0\] must be a series .*got \(1, 1, 1\)"),
        ([[1.0], [np.nan]], r"A\[1\] contains NaN"),
        (np.array([[1.0], [np.nan]]), r"A\[1\] contains NaN"),
        ([[1.0], [np.inf]], r"A\[1\] contains NaN or infinity"),
        ([np.ones((1, 3)), np.ones((2, 3))], r"A\[1\] has 2 channel\(s\), but A\[0\] has 1.* shape \(channels, time\)"),
        ("text", r"A must be a sequence of time series; got str"),
        (5, r"A must be a sequence of time series; got int"),
    ],
)
def test_what_is_not_a_series(bad, message):
    with pytest.raises(ValueError, match=message):
        DTW()(bad, [[1.0]])


def test_channels_must_agree():
    with pytest.raises(ValueError, match="same channels; got 1 and 2"):
        DTW()([[1.0, 2.0]], [np.ones((2, 2))])
    with pytest.raises(ValueError, match=r"B\[1\] contains NaN"):
        DTW()([[1.0]], [[1.0], [np.nan]])


@pytest.mark.parametrize(
    ("measure", "message"),
    [
        (DTW(window=-0.1), r"window must .*got -0.1"),
        (MSM(window=1.5), r"window must .*got 1.5"),
        (DTW(derivative=1), r"derivative must be True or False; got 1"),
        (DTW(relative="yes"), r"relative must be True or False; got 'yes'"),
        (WDTW(g=-1), r"g must be at least 0; got -1"),
        (ADTW(warp_penalty=np.nan), r"warp_penalty must be a finite number; got nan"),
        (ERP(g=np.inf), r"g must be a finite number; got inf"),
        (EDR(epsilon=-1.0), r"epsilon must be at least 0; got -1.0"),
        (LCSS(epsilon=None), r"epsilon must be a finite number; got None"),
        (MSM(c="1"), r"c must be a finite number; got '1'"),
        (MSM(independent=None), r"independent must be True or False; got None"),
        (TWE(nu=-1), r"nu must be at least 0; got -1"),
        (TWE(lmbda=-1), r"lmbda must be at least 0; got -1"),
        (ShapeDTW(reach=1.5), r"reach must be an integer of at least 0; got 1.5"),
        (SBD(standardize=3), r"standardize must be True or False; got 3"),
    ],
)
def test_parameters_are_checked(measure, message):
    with pytest.raises(ValueError, match=message):
        measure([[1.0]], [[1.0]])


def test_clone_and_pickle():
    X = series_of([6, 9, 7])
    changed = DTW(window=0.3, relative=True).fit(X)
    assert clone(changed).get_params() == {"window": 0.3, "derivative": False, "relative": True}
    assert np.array_equal(pickle.loads(pickle.dumps(changed))(X, X), changed(X, X))


@pytest.mark.parametrize("similarity", ["dtw", DTW(window=0.5), "msm", TWE(relative=True), "sbd"])
def test_in_a_classifier(similarity):
    rng = np.random.default_rng(0)
    y = np.arange(18) % 2
    X = [np.sin(np.linspace(0, 3 + 6 * label, rng.integers(20, 30))) + rng.normal(0, 0.1) for label in y]
    knn = KNNClassifier(3, similarity=similarity).fit(X, y)
    assert knn.predict([np.sin(np.linspace(0, 3, 25)), np.sin(np.linspace(0, 9, 25))]).tolist() == [0, 1]
    scores = cross_val_score(KNNClassifier(1, similarity=similarity), X, y, cv=3, error_score="raise")
    assert scores.tolist() == [1.0, 1.0, 1.0]


def test_threads_may_share_the_work():
    X = series_of(np.arange(10, 30))
    expected = DTW()(X, X)
    with ThreadPoolExecutor(4) as pool:
        blocks = list(pool.map(lambda i: DTW()(X[i : i + 5], X), range(0, 20, 5)))
    assert np.array_equal(np.vstack(blocks), expected)


@pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="this system cannot fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_process_that_used_it_may_still_fork():
    X = series_of([10, 12])
    here = DTW()(X, X)
    with multiprocessing.get_context("fork").Pool(1) as pool:
        there = pool.apply_async(DTW(), (X, X)).get(timeout=60)
    assert np.array_equal(here, there)


@settings(max_examples=10)
@given(st.lists(number, min_size=1, max_size=5), st.integers(1, 4))
def test_repeating_values_costs_nothing(x, times):
    assert DTW()([x], [np.repeat(x, times)]).item() == 0


@settings(max_examples=10)
@given(st.lists(number, min_size=2, max_size=6), st.lists(number, min_size=2, max_size=6))
def test_limits_in_which_measures_are_equal(x, z):
    def of(measure):
        return measure([x], [z]).item()

    assert np.isclose(of(ADTW(warp_penalty=0.0)), of(DTW()))
    assert np.isclose(of(WDTW(g=0.0)), of(DTW()) / 2)
    assert np.isclose(of(ShapeDTW(reach=0)), of(DTW()))
    if len(x) == len(z):
        assert np.isclose(of(DTW(window=0.0)), of(SeriesEuclidean()) ** 2)
        assert np.isclose(of(ADTW(warp_penalty=1e6)), of(SeriesEuclidean()) ** 2)


def test_the_family_in_the_unit_of_the_series():
    X = series_of([20] * 5 + [16] * 3)
    fixed, learning = elastic_family(X), elastic_family()
    assert list(fixed) == list(learning)
    plain = list(elastic_family(derivatives=False))
    assert list(fixed) == plain + [f"d-{name}" for name in plain]
    assert len({str(measure) for measure in fixed.values()}) == len(fixed)
    for name, measure in fixed.items():
        assert not resolve(measure).learns
        assert measure.derivative == name.startswith("d-")
        own, learned = measure(X, X), learning[name].fit(X)(X, X)
        same_scale = own.max() / learned.max() if learned.max() > 0 else 1.0
        assert np.allclose(own, same_scale * learned, rtol=0.02, atol=0.05 * own.max())
    larger = [1e4 * x for x in X]
    for name, measure in elastic_family(larger).items():
        D, own = measure(larger, larger), fixed[name](X, X)
        assert np.allclose(D / D.max(), own / own.max(), rtol=0.02, atol=0.05)


def test_the_family_in_an_estimator_for_several_similarities():
    rng = np.random.default_rng(0)
    y = np.arange(20) % 2
    X = np.array([np.sin(np.linspace(0, 3 + 6 * label, 30)) + rng.normal(0, 0.2, 30) for label in y])
    family = elastic_family(X)
    mixture = MixtureSVC(similarity=family, dissimilarity="gauss").fit(X[:14], y[:14])
    assert mixture.score(X[14:], y[14:]) == 1.0
    few = {name: family[name] for name in ("dtw-0.1", "d-msm-0.5")}
    auto = AutoClassifier(["k-NN"], n_repeats=1, similarity=few).fit(X[:14], y[:14])
    assert auto.score(X[14:], y[14:]) == 1.0


@pytest.mark.parametrize("estimator", [KNNClassifier(1, similarity="dtw"), MixtureSVC(similarity="elastic")])
def test_messages_of_estimators_name_the_series(estimator):
    X, y = np.random.default_rng(0).normal(size=(8, 2, 6)), [0, 1] * 4
    damaged = X.copy()
    damaged[5, 1, 3] = np.nan
    with pytest.raises(ValueError, match=r"X\[5\] contains NaN"):
        clone(estimator).fit(damaged, y)
    estimator.fit(X, y)
    with pytest.raises(ValueError, match=r"X\[5\] contains NaN"):
        estimator.predict(damaged)
    with pytest.raises(ValueError, match=r"X has series of 1 channel\(s\), but those of fit have 2"):
        estimator.predict(X[:, :1])
    with pytest.raises(ValueError, match=r"One series is a collection of one: \[x\]"):
        estimator.predict(X[0, 0])
