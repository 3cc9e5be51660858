"""Local SDA with neighbourhoods that grow until each class in them has enough neighbours."""

import numpy as np
import pytest

from similitude.generative.local_sda import LocalSDA
from tests.generative.problems import close


def test_neighbourhoods_grow_until_each_class_has_enough():
    # Nearest first: at k = 1 to 3 class 0 suffices; then class 1 comes, and between its samples one of class 2.
    y = np.array([0, 0, 0, 1, 2, 1, 1, 0, 3, 2, 3])
    row = np.linspace(1.0, 0.0, 11)
    S = np.random.default_rng(0).random((11, 11))
    S = S + S.T
    sizes = {1: 3, 3: 3, 4: 11, 7: 11, 11: 11}
    for k, size in sizes.items():
        told = LocalSDA(k, fallback="grow").fit(S, y).explain(row)
        assert len(told.neighbors) == told.counts.sum() == size
    # Without class 3, class 2 is complete with its second sample, though this is not its third.
    kept = y != 3
    told = LocalSDA(4, fallback="grow").fit(S[np.ix_(kept, kept)], y[kept]).explain(row[kept])
    assert told.counts.tolist() == [4, 3, 2]
    larger = LocalSDA(9, fallback=None).fit(S[np.ix_(kept, kept)], y[kept])
    assert np.array_equal(told.log_joint, larger.explain(row[kept]).log_joint)


def test_growing_neighbourhoods_of_raw_objects():
    rng = np.random.default_rng(1)
    X, y = rng.integers(0, 3, (60, 6)), np.repeat([0, 1, 2, 3], [40, 10, 8, 2])
    new = rng.integers(0, 3, (25, 6))
    parameters = {"n_neighbors": 2, "fallback": "grow", "similarity": "counting"}
    matrix, stream = (LocalSDA(**parameters, search=search).fit(X, y) for search in ("matrix", "stream"))
    assert close(stream.predict_joint_log_proba(new), matrix.predict_joint_log_proba(new), 1e-12)
    assert np.array_equal(stream.predict(new), matrix.predict(new))
    assert len({len(matrix.explain(new[i : i + 1]).neighbors) for i in range(25)}) > 3
    assert str(stream.explain(new[:1])) == str(matrix.explain(new[:1]))
    with pytest.raises(ValueError, match="fallback='grow' needs exact neighbours"):
        LocalSDA(**parameters, search="graph", omega=np.arange(7.0)).fit(X, y)


def test_growing_neighbourhoods_need_all_pairs_already_in_fit():
    S = np.exp(-np.abs(np.subtract.outer(np.arange(8.0), np.arange(8.0))))
    S[0, 3] = np.nan
    with pytest.raises(ValueError, match='LocalSDA with fallback="grow" needs the similarities of all pairs'):
        LocalSDA(3, fallback="grow").fit(S, np.arange(8) // 4)
