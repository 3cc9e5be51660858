"""The Voting data as it ships."""

import sys

import numpy as np
import pytest

from similitude.datasets import load_voting


def test_counts():
    voting = load_voting()
    assert voting.data.shape == (435, 16)
    assert voting.data.dtype == object
    assert dict(zip(*np.unique(voting.target, return_counts=True))) == {"democrat": 267, "republican": 168}
    values, counts = np.unique(voting.data.astype(str), return_counts=True)
    assert values.tolist() == ["?", "n", "y"]
    assert counts[0] == 392
    assert len(voting.feature_names) == 16
    assert voting.feature_names[3] == "physician-fee-freeze"
    assert voting.target_names == ["democrat", "republican"]


def test_description_says_source_licence_and_counts():
    text = load_voting().DESCR
    for part in ("UCI", "CC BY 4.0", "267", "168", "392"):
        assert part in text


def test_return_X_y():
    X, y = load_voting(return_X_y=True)
    voting = load_voting()
    np.testing.assert_array_equal(X, voting.data)
    np.testing.assert_array_equal(y, voting.target)


def test_as_frame():
    pytest.importorskip("pandas")
    voting = load_voting(as_frame=True)
    assert voting.frame.shape == (435, 17)
    assert voting.data.columns.tolist() == voting.feature_names
    np.testing.assert_array_equal(voting.data.to_numpy(), load_voting().data)
    X, y = load_voting(return_X_y=True, as_frame=True)
    assert X.shape == (435, 16)
    assert y.name == "party"
    assert load_voting().frame is None


def test_as_frame_without_pandas(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match="as_frame=True needs pandas"):
        load_voting(as_frame=True)


def test_each_call_gives_data_of_its_own():
    load_voting().data[0, 0] = "changed"
    assert load_voting().data[0, 0] == "n"
