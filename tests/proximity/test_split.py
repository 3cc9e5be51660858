"""Splitting both axes."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.model_selection import train_test_split as split_rows

from similitude import Proximities, train_test_split

N = 24
S = np.arange(float(N * N)).reshape(N, N)
ROW = np.arange(N)
LABELS = np.repeat([0, 1, 2], N // 3)
GROUPS = np.repeat(np.arange(N // 2), 2)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"test_size": 5},
        {"test_size": 0.3},
        {"train_size": 10},
        {"test_size": 6, "stratify": LABELS},
        {"groups": GROUPS, "test_size": 0.25},
        {"groups": GROUPS, "stratify": LABELS},
        {"shuffle": False},
    ],
    ids=" ".join,
)
def test_both_axes_are_cut_by_the_same_samples(options):
    S_train, S_test, train, test = train_test_split(
        S, ROW, random_state=0 if "shuffle" not in options else None, **options
    )
    assert sorted([*train, *test]) == list(range(N))
    assert np.array_equal(S_train, S[np.ix_(train, train)])
    assert np.array_equal(S_test, S[np.ix_(test, train)])


@pytest.mark.parametrize(
    "options",
    [
        {"random_state": 3},
        {"test_size": 5, "random_state": 1},
        {"train_size": 0.5, "random_state": 2},
        {"stratify": LABELS, "random_state": 0},
        {"shuffle": False, "test_size": 0.2},
    ],
    ids=" ".join,
)
def test_the_samples_are_those_scikit_learn_draws(options):
    _, _, train, test = train_test_split(S, ROW, **options)
    train_too, test_too = split_rows(ROW, **options)
    assert np.array_equal(train, train_too)
    assert np.array_equal(test, test_too)


def test_stratified():
    *_, y_train, y_test = train_test_split(S, LABELS, test_size=6, stratify=LABELS, random_state=0)
    assert np.bincount(y_train).tolist() == [6, 6, 6]
    assert np.bincount(y_test).tolist() == [2, 2, 2]


@pytest.mark.parametrize("stratify", [None, LABELS], ids=["groups", "groups and stratify"])
@pytest.mark.parametrize("seed", range(4))
def test_groups_stay_together(stratify, seed):
    *_, train, test = train_test_split(S, GROUPS, test_size=0.25, groups=GROUPS, stratify=stratify, random_state=seed)
    assert not set(train) & set(test)
    assert len(test) == 6


def test_groups_and_stratify_together_are_stratified():
    *_, y_test = train_test_split(S, LABELS, test_size=0.25, groups=GROUPS, stratify=LABELS, random_state=0)
    assert np.bincount(y_test).tolist() == [2, 2, 2]


def test_groups_and_stratify_depend_on_the_seed_alone():
    def draw(seed):
        return train_test_split(S, ROW, groups=GROUPS, stratify=LABELS, random_state=seed)[3].tolist()

    assert draw(0) == draw(0)
    assert len({tuple(draw(seed)) for seed in range(6)}) > 1


@pytest.mark.parametrize(
    ("sizes", "k"),
    [
        ({}, 4),
        ({"test_size": 0.5}, 2),
        ({"test_size": 1 / 3}, 3),
        ({"test_size": 8}, 3),
        ({"test_size": 0.4}, 3),
        ({"train_size": 0.5}, 2),
        ({"train_size": 20}, 6),
    ],
    ids=str,
)
def test_with_groups_and_stratify_the_share_is_the_nearest_1_over_k(sizes, k):
    y, groups = np.tile([0, 1], 60), np.repeat(np.arange(60), 2)
    sizes = {name: size * 5 if isinstance(size, int) else size for name, size in sizes.items()}
    *_, test = train_test_split(np.eye(120), np.arange(120), groups=groups, stratify=y, random_state=0, **sizes)
    assert len(test) == 120 // k


@pytest.mark.parametrize("stratify", [None, LABELS], ids=["plain", "stratify"])
@pytest.mark.parametrize("groups", [None, GROUPS], ids=["plain", "groups"])
@pytest.mark.parametrize("test_size", [0, 0.0, -1, 1.5, 500])
def test_bad_sizes(stratify, groups, test_size):
    with pytest.raises(ValueError, match=r"test_size|n_splits"):
        train_test_split(S, test_size=test_size, stratify=stratify, groups=groups)


def test_no_shuffling_with_groups_and_stratify_takes_a_seed_as_scikit_learn_does():
    *_, test = train_test_split(S, ROW, groups=GROUPS, stratify=LABELS, shuffle=False, random_state=0)
    assert len(test) == 6


def test_no_shuffling_with_groups_keeps_the_order_or_is_refused():
    train, test, refusal = ROW, [], ""
    try:
        *_, train, test = train_test_split(S, ROW, groups=GROUPS, shuffle=False, test_size=0.25)
    except ValueError as error:
        refusal = str(error)
    assert np.array_equal([*train, *test], ROW)
    assert len(test) == 6 or "shuffle" in refusal


def test_data_frame_keeps_its_names():
    names = [f"s{i}" for i in range(N)]
    frame = pd.DataFrame(S, index=names, columns=names)
    S_train, S_test, train, test = train_test_split(frame, names, random_state=0)
    assert list(S_train.index) == list(S_train.columns) == list(S_test.columns) == train
    assert list(S_test.index) == test
    assert S_test.loc[test[0], train[1]] == frame.loc[test[0], train[1]]


@pytest.mark.parametrize("make", [sparse.csr_matrix, sparse.csr_array, sparse.csc_matrix, sparse.coo_matrix])
def test_sparse(make):
    S_train, S_test, train, test = train_test_split(make(S), ROW, random_state=0)
    assert sparse.issparse(S_train)
    assert np.array_equal(S_train.toarray(), S[np.ix_(train, train)])
    assert np.array_equal(S_test.toarray(), S[np.ix_(test, train)])


def test_proximities_are_cut_with_all_they_carry():
    given = Proximities(S, features=ROW[:, None], self_similarity=np.diagonal(S), ids=ROW)
    P_train, P_test, train, test = train_test_split(given, ROW, random_state=0)
    assert np.array_equal(P_train.S, S[np.ix_(train, train)])
    assert np.array_equal(P_test.S, S[np.ix_(test, train)])
    for part, rows in ((P_train, train), (P_test, test)):
        assert np.array_equal(part.ids, rows)
        assert np.array_equal(part.column_ids, train)
        assert np.array_equal(part.features.ravel(), rows)
        assert np.array_equal(part.self_similarity, S[rows, rows])


def test_memmap_is_read_not_changed(tmp_path):
    np.save(tmp_path / "S.npy", S)
    mapped = np.load(tmp_path / "S.npy", mmap_mode="r")
    S_train, _, train, _ = train_test_split(mapped, ROW, random_state=0)
    assert np.array_equal(S_train, S[np.ix_(train, train)])
    assert S_train.flags.writeable


def test_float32_stays_and_the_parts_are_copies():
    whole = S.astype(np.float32)
    S_train, S_test = train_test_split(whole, random_state=0)
    assert S_train.dtype == S_test.dtype == np.float32
    S_train[:] = -1
    assert whole.min() == 0


def test_arrays_of_every_kind_go_with_the_samples():
    frame, words = pd.DataFrame({"a": ROW}), [str(i) for i in ROW]
    _, _, f_train, f_test, w_train, w_test = train_test_split(S, frame, words, random_state=0)
    assert f_train["a"].astype(str).tolist() == w_train
    assert f_test["a"].astype(str).tolist() == w_test


def test_list_of_lists():
    S_train, S_test = train_test_split([[1, 2], [3, 4]], test_size=1, random_state=0)
    assert (S_train.shape, S_test.shape) == ((1, 1), (1, 1))


@pytest.mark.parametrize("bad", [np.ones((3, 4)), np.ones(3), np.ones((2, 2, 2)), [1, 2]])
def test_not_square(bad):
    with pytest.raises(ValueError, match=r"S must be square.*got shape"):
        train_test_split(bad)


def test_lengths_that_differ():
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        train_test_split(S, [0, 1])
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        train_test_split(S, groups=[0, 1])
