"""Some pairs of objects: no more than the budget allows, each once, with the values of the function."""

import numpy as np
import pytest

from similitude.finders.pair_budget import PairBudget, all_pairs_are_worth_it, as_pair_budget, compare_objects
from similitude.similarities import Measure, pairwise
from similitude.similarities.registry import resolve


def points(n=160, m=12, seed=0):
    """Points of two noisy classes in the plane, as tuples, with the classes of the first n."""
    rng = np.random.default_rng(seed)
    y = np.arange(n + m) % 2
    X = rng.normal(size=(n + m, 2)) + 2.5 * y[:, None]
    return list(map(tuple, X[:n].tolist())), list(map(tuple, X[n:].tolist())), y[:n]


class Counted:
    """A distance of points, stretched by the second one if it is asymmetric, which notes its evaluations."""

    def __init__(self, symmetric):
        self.symmetric, self.asked = symmetric, []

    def __call__(self, a, b):
        self.asked.append(frozenset([a, b]) if self.symmetric else (a, b))
        return float(np.hypot(a[0] - b[0], a[1] - b[1])) * (1.0 if self.symmetric else 1 + 0.1 * abs(b[0]))

    def measure(self):
        return Measure(self, "counted", symmetric=self.symmetric, orientation="dissimilarity")


def in_order(known):
    return np.repeat(np.arange(known.shape[0]), np.diff(known.indptr)), known.indices, known.data


@pytest.mark.parametrize("symmetric", [True, False])
@pytest.mark.parametrize("n_pairs", [700, 2500])
def test_no_more_evaluations_than_the_budget_and_each_pair_once(symmetric, n_pairs):
    X, new, y = points()
    function = Counted(symmetric)
    compared, fitted, report = compare_objects(PairBudget(n_pairs), function.measure(), "negate", X, y)
    assert len(function.asked) == len(set(function.asked)) == report.n_pairs == report.n_evaluated
    assert 0.9 * n_pairs <= report.n_pairs <= n_pairs
    assert sum(report.spent.values()) == report.n_pairs
    assert report.curve[-1].n_pairs == report.n_pairs
    D = np.array([[Counted(symmetric)(a, b) for b in X] for a in X])
    rows, columns, values = in_order(compared.neighbors)
    assert np.array_equal(values, D[rows, columns])
    assert np.array_equal(compared.landmarks, D[:, fitted.landmarks])
    function.asked.clear()
    rows_of_new = fitted.rows(new)
    assert len(function.asked) <= report.n_per_query * len(new)
    E = np.array([[Counted(symmetric)(a, b) for b in X] for a in new])
    rows, columns, values = in_order(rows_of_new.neighbors)
    assert np.array_equal(values, E[rows, columns])
    assert np.array_equal(rows_of_new.landmarks, E[:, fitted.landmarks])
    function.asked.clear()
    assert fitted.rows(list(new)) is rows_of_new  # a second question about them costs nothing
    assert not function.asked
    assert len(np.intersect1d(np.argsort(E[0])[:5], columns[rows == 0])) >= 3


def test_all_pairs_give_the_exact_neighbours():
    words = ["".join(w) for w in np.random.default_rng(0).choice(list("abc"), (300, 9))]
    D = pairwise(words, similarity="levenshtein")
    y = np.arange(300) % 3
    budget = PairBudget(search="all")
    compared, fitted, _ = compare_objects(budget, resolve("levenshtein"), "max-minus", words, y)
    known = compared.neighbors.toarray()
    stored = np.zeros(D.shape, dtype=bool)
    rows, columns, _ = in_order(compared.neighbors)
    stored[rows, columns] = True
    np.fill_diagonal(D, np.inf)
    for i in range(300):
        best = np.argsort(D[i], kind="stable")[:128]
        assert stored[i, best].all()
        assert np.array_equal(known[i, best], D[i, best])
    found = fitted.rows(words[:4]).neighbors
    assert all(found[i, i] == 0 and len(found[[i]].indices) == 128 for i in range(4))


def test_a_larger_budget_begins_with_the_same_landmarks_and_uses_the_file(tmp_path):
    X, _, y = points()
    path = tmp_path / "pairs"
    small, large = Counted(True), Counted(True)
    _, first, _ = compare_objects(PairBudget(700, path=path), small.measure(), "negate", X, y)
    _, second, report = compare_objects(PairBudget(2500, path=path), large.measure(), "negate", X, y)
    shorter = min(len(first.landmarks), len(second.landmarks))
    assert np.array_equal(first.landmarks[:shorter], second.landmarks[:shorter])
    assert not set(small.asked) & set(large.asked)
    assert report.n_pairs > report.n_evaluated == len(large.asked)
    again = Counted(True)
    _, _, third = compare_objects(PairBudget(2500, path=path), again.measure(), "negate", X, y)
    assert not again.asked
    assert third.as_dict() == report.as_dict()
    for evaluated in (True, False):  # a budget for all pairs keeps them, too
        rest = Counted(True)
        compare_objects(PairBudget(1e6, path=path), rest.measure(), "negate", X, y)
        assert bool(rest.asked) == evaluated
        assert not set(rest.asked) & set(large.asked)
    with pytest.raises(ValueError, match="search='all'"):
        as_pair_budget(PairBudget(search="all", path=path))


def test_candidates_of_a_shortlist_are_those_of_the_cheap_similarity():
    X, _, y = points()
    cheap = Measure(lambda a, b: -abs(a[0] - b[0]), "first coordinate")
    function = Counted(False)
    _, fitted, _ = compare_objects(PairBudget(2000, shortlist=cheap), function.measure(), "negate", X, y)
    marks = {X[i] for i in fitted.landmarks}
    place = {x: i for i, x in enumerate(X)}
    first = np.array(X)[:, 0]
    rank = np.argsort(np.argsort(np.abs(first[:, None] - first[None]), axis=1, kind="stable"), axis=1)
    asked = [(place[a], place[b]) for a, b in function.asked if b not in marks]
    assert len(asked) > 300
    assert np.median([rank[i, j] for i, j in asked]) < 20


def test_brute_force_is_chosen_where_it_is_cheap():
    rng = np.random.default_rng(0)
    vectors = rng.normal(size=(3000, 4))
    assert all_pairs_are_worth_it(resolve("euclidean"), vectors)
    words = ["".join(rng.choice(list("abcdef"), 40)) for _ in range(200)] * 150
    assert all_pairs_are_worth_it(resolve("levenshtein"), words)

    def slow(a, b):
        return sum(abs(np.sin(a - b)).sum() for _ in range(50))

    assert not all_pairs_are_worth_it(Measure(slow, "slow", symmetric=True), list(vectors))


@pytest.mark.parametrize(
    ("budget", "message"),
    [
        ("many", "pair_budget must be a number of pairs, such as 2e7"),
        (0.5, "pair_budget must be a number of pairs"),
        (True, "pair_budget must be a number of pairs"),
        (PairBudget(search="graph"), "search must be one of"),
        (PairBudget(random_state=None), "random_state"),
    ],
)
def test_what_is_no_budget(budget, message):
    with pytest.raises(ValueError, match=message):
        as_pair_budget(budget)
