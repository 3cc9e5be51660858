"""Samples that tie for the last place: every exact finder counts them, and no tie is split."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import sparse

from similitude import KNNClassifier, Proximities
from similitude.finders.finder import local_neighbors
from similitude.finders.stream import StreamSearch, best_of
from similitude.similarities import batch
from tests.reference.neighbors import shares, taken

N, M = 9, 4
LABELS = np.array([0, 1, 2, 0, 1, 0, 2, 1, 0])


def _beyond(s, k):
    """The classes of the samples that are not listed although they are as similar as the last one."""
    listed = sorted(range(len(s)), key=lambda i: (-s[i], i))[:k]
    return [sum(LABELS[i] == c and s[i] == s[listed[-1]] and i not in listed for i in range(len(s))) for c in range(3)]


def _path(form, S, rows):
    """A fitted path, and the rows, in one of several forms."""
    if form == "stream":
        look = batch(lambda A, B: np.array([[S_all[int(a), int(b)] for b in B[:, 0]] for a in A[:, 0]]))
        S_all = np.vstack([S, rows]) if len(rows) else S
        knn = KNNClassifier(1, similarity=look, search=StreamSearch(block_size=2)).fit(np.arange(N)[:, None], LABELS)
        return knn._path, knn._rows(np.arange(N, N + M)[:, None])
    wrap = {"dense": np.asarray, "float32": lambda a: a.astype(np.float32), "csr": sparse.csr_array}.get(form)
    if form == "known":
        knn = KNNClassifier(1).fit(Proximities(sparse.csr_array(S), absent="unknown"), LABELS)
        return knn._path, knn._rows(Proximities(sparse.csr_array(rows), absent="unknown"))
    knn = KNNClassifier(1).fit(wrap(S), LABELS)
    return knn._path, knn._rows(wrap(rows))


@pytest.mark.parametrize("form", ["dense", "float32", "csr", "known", "stream"])
@given(rows=arrays(float, (M, N), elements=st.integers(-1, 2).map(float)), k=st.integers(1, N))
def test_ties_are_counted_and_not_split(form, rows, k):
    if form == "known":
        rows = np.abs(rows) + 1.0  # all pairs are known; none is 0
    path, read = _path(form, np.eye(N) + 1.0, rows)
    found = path.finder.with_ties(read, k, LABELS, 3)
    assert found.beyond(slice(None)).tolist() == [_beyond(s, k) for s in rows]
    assert found.beyond(np.array([2, 0])).tolist() == [_beyond(rows[2], k), _beyond(rows[0], k)]
    local = local_neighbors(path.finder, read, [k], LABELS, 3)
    for i, s in enumerate(rows):
        expected = taken(s, k)
        assert bool(local.alone[i, 0]) == (not expected)
        if expected:
            assert local.indices[i, : local.sizes[i, 0]].tolist() == expected
        else:
            assert local.shares[i].tolist() == pytest.approx(shares(s, LABELS.tolist(), range(3)).tolist())


def test_absent_entries_that_are_unknown_do_not_tie():
    rows = sparse.csr_array(np.array([[2.0, 1.0, 0, 1.0, 1.0, 0, 0, 0, 0]]))
    knn = KNNClassifier(2).fit(Proximities(sparse.csr_array(np.eye(N) + 1.0), absent="unknown"), LABELS)
    read = knn._rows(Proximities(rows, absent="unknown"))
    assert knn._path.finder.with_ties(read, 2, LABELS, 3).beyond(slice(None)).tolist() == [[1, 1, 0]]


@given(arrays(float, (M, N), elements=st.integers(0, 2).map(float)), st.integers(1, N), st.integers(1, N - 1))
def test_lists_of_parts_are_joined(rows, k, cut):
    def part(columns):
        order = sorted(columns, key=lambda j: j)
        lists = [sorted(order, key=lambda j, s=s: (-s[j], j))[:k] for s in rows]
        beyond = [
            [sum(s[j] == s[own[-1]] and LABELS[j] == c and j not in own for j in order) for c in range(3)]
            for s, own in zip(rows, lists)
        ]
        places = np.array(lists)
        return np.take_along_axis(rows, places, axis=1), places, LABELS[places], np.array(beyond, dtype=float)

    values, places, classes, beyond = best_of(k, part(range(cut)), part(range(cut, N)))
    for i, s in enumerate(rows):
        assert places[i].tolist() == sorted(range(N), key=lambda j, s=s: (-s[j], j))[:k]
        assert classes[i].tolist() == LABELS[places[i]].tolist()
        assert values[i].tolist() == s[places[i]].tolist()
        assert beyond[i].tolist() == _beyond(s, k)
