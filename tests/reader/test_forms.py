"""Matrices of other libraries, and labels that are matched by the names of samples."""

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from scipy.spatial.distance import pdist, squareform
from sklearn.model_selection import cross_val_score

from similitude import AutoClassifier, KNNClassifier, PathSearchCV, Proximities, check_similarity, train_test_split
from similitude.diagnosis import diagnose
from similitude.similarities import pairwise

N = 24
rng = np.random.default_rng(5)
POINTS = rng.normal(size=(N, 2)) + np.repeat([[0.0], [1.5]], N // 2, axis=0)
CONDENSED = pdist(POINTS)
D = squareform(CONDENSED)
IDS = [f"s{i:02d}" for i in range(N)]
LABELS = np.repeat(["a", "b"], N // 2)
SERIES = pd.Series(LABELS, index=IDS).sample(frac=1, random_state=0)
FRAME = pd.DataFrame(D, index=IDS, columns=IDS)
MODEL = KNNClassifier(3, dissimilarity="max-minus")


class DistanceMatrix:
    """What scikit-bio's class of this name offers: ``data``, ``ids``, ``shape``, ``filter``, ``condensed_form``."""

    shape, ids, data = D.shape, tuple(IDS), D

    def __len__(self):
        return N

    def filter(self, ids):
        raise NotImplementedError

    def condensed_form(self):
        return CONDENSED


def graph(kind=nx.Graph, weights=D):
    made = kind()
    made.add_nodes_from(IDS)
    made.add_weighted_edges_from((a, b, weights[i, j]) for i, a in enumerate(IDS) for j, b in enumerate(IDS) if i != j)
    return made


FORMS = {
    "condensed": (CONDENSED, LABELS),
    "condensed, float32": (CONDENSED.astype(np.float32), LABELS),
    "DistanceMatrix": (DistanceMatrix(), SERIES),
    "frame": (FRAME, dict(SERIES)),
    "frame, columns in another order": (FRAME[IDS[::-1]], SERIES),
    "graph": (Proximities(graph(), absent="unknown"), SERIES),
    "directed graph": (Proximities(graph(nx.DiGraph), absent="farthest"), dict(SERIES)),
    "COO": (Proximities(sparse.coo_matrix(D), absent="unknown"), LABELS),
    "DIA": (Proximities(sparse.dia_matrix(D), absent="unknown"), LABELS),
}


@pytest.mark.parametrize("name", FORMS)
def test_estimators_searches_and_diagnosis_take_the_forms_of_other_libraries(name):
    X, y = FORMS[name]
    expected = MODEL.fit(D, LABELS).predict(D).tolist()
    rows = Proximities(D, column_ids=IDS) if isinstance(X, Proximities) else D
    rows = FRAME if name.startswith("frame") else rows
    assert KNNClassifier(3, dissimilarity="max-minus").fit(X, y).predict(rows).tolist() == expected
    search = PathSearchCV(KNNClassifier(dissimilarity="max-minus"), {"n_neighbors": [3]}, cv=3).fit(X, y)
    assert search.predict(rows).tolist() == expected
    assert search.best_score_ == PathSearchCV(MODEL, {"n_neighbors": [3]}, cv=3).fit(D, LABELS).best_score_
    error = diagnose(D, LABELS, dissimilarity="max-minus").leave_one_out_error
    assert diagnose(X, y, dissimilarity="max-minus").leave_one_out_error == error
    if not isinstance(X, Proximities):
        assert pairwise(X, similarity="precomputed") == pytest.approx(D)


def test_auto_takes_them_too():
    auto = AutoClassifier(["k-NN"], n_repeats=1, cv=3, dissimilarity="max-minus")
    expected = auto.fit(D, LABELS).out_of_fold_.labels.tolist()
    assert auto.fit(DistanceMatrix(), SERIES).out_of_fold_.labels.tolist() == expected
    assert len(auto.predict(D[:3])) == 3


def test_a_graph_of_similarities():
    S = np.exp(-D) * (D < 1)
    np.fill_diagonal(S, 0)
    kept = nx.Graph()
    kept.add_nodes_from(IDS)
    kept.add_weighted_edges_from((IDS[i], IDS[j], S[i, j]) for i, j in zip(*np.nonzero(S)))
    kept.add_edge(IDS[3], IDS[3])  # a loop without a weight has the weight 1
    S[3, 3] = 1
    assert pairwise(kept, similarity="precomputed").toarray() == pytest.approx(S)
    assert KNNClassifier(3).fit(kept, SERIES).predict(S).tolist() == KNNClassifier(3).fit(S, LABELS).predict(S).tolist()


def test_from_condensed():
    P = Proximities.from_condensed(CONDENSED, ids=IDS)
    assert np.array_equal(P.S, D)
    assert P.ids.tolist() == IDS
    assert Proximities.from_condensed([3, 1, 2], diagonal=9).S.tolist() == [[9, 3, 1], [3, 9, 2], [1, 2, 9]]
    with pytest.raises(ValueError, match=r"values must have one dimension; got shape \(24, 24\)"):
        Proximities.from_condensed(D)


def test_a_frame_whose_rows_are_in_another_order_than_its_columns():
    assert np.array_equal(check_similarity(FRAME[IDS[::-1]], orientation="any"), D)
    twice = pd.DataFrame(np.eye(3), index=["a", "a", "b"], columns=["a", "b", "a"])
    with pytest.raises(ValueError, match="'a' names several rows"):
        check_similarity(twice)


@pytest.mark.parametrize(
    ("call", "found"),
    [
        (
            lambda: KNNClassifier().fit(CONDENSED, LABELS),
            r"condensed vector of 24 samples.*dissimilarity=.*from_condensed",
        ),
        (lambda: MODEL.fit(CONDENSED[1:], LABELS), r"1D array of 275 numbers.*n \(n - 1\)/2"),
        (lambda: MODEL.fit(D, LABELS).predict(D[0]), r"1D array of 24 numbers.*reshape\(1, -1\)"),
        (lambda: MODEL.fit(graph(), SERIES), "sparse matrix cannot be mapped.*absent='farthest'"),
        (lambda: MODEL.fit(graph(nx.MultiGraph), SERIES), "multigraph"),
        (lambda: pairwise(D, D, similarity="precomputed"), "B must be None"),
    ],
)
def test_what_cannot_be_meant(call, found):
    with pytest.raises(ValueError, match=found):
        call()


def test_proximities_of_a_frame_keep_its_ids():
    wrapped = Proximities(FRAME)
    assert wrapped.ids.tolist() == wrapped.column_ids.tolist() == IDS
    expected = MODEL.fit(D, LABELS).predict(D).tolist()
    accuracy = MODEL.score(D, LABELS)
    assert MODEL.fit(wrapped, SERIES).predict(FRAME).tolist() == expected
    assert MODEL.score(FRAME, SERIES) == MODEL.score(wrapped, dict(SERIES)) == accuracy < 1
    in_order = SERIES[IDS]
    assert cross_val_score(MODEL, wrapped, in_order, cv=3).tolist() == cross_val_score(MODEL, D, LABELS, cv=3).tolist()
    with pytest.raises(ValueError, match="y is matched to the samples by their ids"):
        cross_val_score(MODEL, wrapped, SERIES, cv=3)  # scikit-learn has taken the labels by their places
    train, test, y_train, y_test = train_test_split(FRAME, SERIES, stratify=SERIES, random_state=0)
    assert y_train.tolist() == in_order[train.index].tolist()
    assert y_test.tolist() == in_order[test.index].tolist()
    auto = AutoClassifier(["k-NN"], n_repeats=1, cv=3).fit({"D": -FRAME, "E": -FRAME}, SERIES)
    assert auto.leaderboard_[0].error < 0.3
    assert Proximities(FRAME, ids=IDS[::-1]).ids.tolist() == IDS[::-1]
    numbered = Proximities(pd.DataFrame(D))
    assert numbered.ids is None
    assert numbered[[5, 3]].ids is None  # the index of a block is no longer one that pandas numbered


@pytest.mark.parametrize(
    ("X", "y", "found"),
    [
        (FRAME, SERIES.drop("s03"), "no label for 's03'"),
        (FRAME, {**SERIES, "zz": "a"}, "labels for 'zz', which X does not hold"),
        (FRAME, pd.concat([SERIES, SERIES[:1]]), f"several labels for '{SERIES.index[0]}'"),
        (D, dict(SERIES), "y is a dict, but the samples have no ids"),
    ],
)
def test_labels_that_do_not_belong_to_the_samples(X, y, found):
    with pytest.raises(ValueError, match=found):
        MODEL.fit(X, y)
