"""Ratings of pairs by several judges, the odd one of three, and triads."""

import numpy as np
import pytest

from similitude import Proximities
from similitude.datasets import load_proximity
from tests.reference import ratings as reference

IDS = [f"t{i}" for i in range(7)]


def rows(both_orders=False, seed=0):
    """Ratings from 1 to 7 by three judges, some given twice, a third of the pairs by nobody."""
    rng = np.random.default_rng(seed)
    found = []
    for i, a in enumerate(IDS):
        for b in IDS[i + 1 :]:
            if rng.random() < 0.3:
                continue
            for judge in ("ann", "bob", "eve"):
                for _ in range(rng.integers(3)):
                    found.append((a, b, float(rng.integers(1, 8)), judge))
                    if both_orders and rng.random() < 0.5:
                        found.append((b, a, float(rng.integers(1, 8)), judge))
    order = rng.permutation(len(found))
    return [found[i] for i in order]


def ordered(P, S=None):
    """Return the matrix in the order of IDS."""
    place = [P.ids.tolist().index(name) for name in IDS]
    S = P.S if S is None else S
    return S[np.ix_(place, place)]


def same(found, expected):
    np.testing.assert_allclose(found, expected, rtol=1e-13)


@pytest.mark.parametrize("both_orders", [False, True])
def test_mean_and_ranks_of_the_judges(both_orders):
    given = rows(both_orders)
    first, second, ratings, judges = zip(*given)
    expected = reference.mean_matrix(given, IDS, both_ways=not both_orders)
    np.fill_diagonal(expected, max(ratings))
    same(ordered(Proximities.from_ratings(first, second, ratings, judges=judges)), expected)
    ranked = reference.mean_matrix(reference.as_ranks(given), IDS, both_ways=not both_orders)
    np.fill_diagonal(ranked, 1)
    same(ordered(Proximities.from_ratings(first, second, ratings, judges=judges, combine="ranks")), ranked)
    assert np.isnan(expected).any()


def test_judges_become_several_similarities():
    given = rows()
    first, second, ratings, judges = zip(*given)
    P = Proximities.from_ratings(first, second, ratings, judges=judges, combine="separate", diagonal=9.0)
    assert list(P.similarities) == ["ann", "bob", "eve"]
    for name in P.similarities:
        own = reference.mean_matrix([row for row in given if row[-1] == name], IDS, both_ways=True)
        np.fill_diagonal(own, 9)
        same(ordered(P, P.similarities[name]), own)


def test_the_order_of_the_ratings_and_an_increasing_map_of_one_judge_decide_nothing():
    given = rows()
    first, second, ratings, judges = zip(*given)
    once = ordered(Proximities.from_ratings(first, second, ratings, judges=judges, combine="ranks"))
    stretched = [r**3 + 5 if judge == "bob" else r for r, judge in zip(ratings, judges)]
    again = Proximities.from_ratings(first[::-1], second[::-1], stretched[::-1], judges=judges[::-1], combine="ranks")
    assert np.array_equal(once, ordered(again), equal_nan=True)


def test_odd_one_out_and_triads():
    rng = np.random.default_rng(1)
    three = np.array([rng.permutation(6)[:3] for _ in range(25)])
    choices = [(*[IDS[i] for i in own], IDS[rng.choice(own)]) for own in three]
    P = Proximities.from_odd_one_out(*zip(*choices))
    place = [P.ids.tolist().index(name) for name in IDS[:6]]
    same(P.S[np.ix_(place, place)], reference.odd_one_out(choices, IDS[:6]))
    P = Proximities.from_triads(["a", "a", "a"], ["b", "b", "c"], ["c", "c", "b"])
    assert P.S[0].tolist() == [1, pytest.approx(2 / 3), pytest.approx(1 / 3)]
    assert np.isnan(P.S[1, 0])


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((["a"], ["b"], [1.0], None, "ranks"), "needs to know who judged"),
        ((["a", "a"], ["b", "c"], [1.0, 2.0], ["x"], "mean"), "judges must have one entry per rating"),
        ((["a"], ["b"], [1.0], ["x"], "best"), "combine must be"),
        ((["a"], ["b"], [np.nan], ["x"], "mean"), "there is no edge"),
    ],
)
def test_what_is_refused(arguments, said):
    first, second, ratings, judges, combine = arguments
    with pytest.raises(ValueError, match=said):
        Proximities.from_ratings(first, second, ratings, judges=judges, combine=combine)


class TestFiles:
    def write(self, folder, text, name="r.csv"):
        (folder / name).write_text(text)
        return folder / name

    def test_a_long_table_is_recognised(self, tmp_path):
        given = rows()
        text = "trial,first,second,rating,judge\n" + "".join(
            f"{i},{a},{b},{r:g},{j}\n" for i, (a, b, r, j) in enumerate(given)
        )
        data = load_proximity(self.write(tmp_path, text + "99,t0,t6,NA,ann\n"))
        expected = Proximities.from_ratings(*list(zip(*given))[:3], judges=[row[-1] for row in given])
        assert np.array_equal(data.S, expected.S, equal_nan=True)
        assert data.ids.tolist() == expected.ids.tolist()
        assert "judge: column 5 (judge); not used: column 1 (trial)" in str(data.columns["path"])
        assert any("were not rated: unknown" in note for note in data.notes)
        apart = load_proximity(tmp_path / "r.csv", combine="separate")
        assert sorted(apart.S) == ["ann", "bob", "eve"]

    def test_new_samples_are_read_as_the_others_were(self, tmp_path):
        given = rows()
        head = "left;right;likeness;who\n"
        old = [row for row in given if "t6" not in row[:2]]
        new = [row for row in given if "t6" in row[:2]]
        options = {"query": "left", "target": "right", "score": "likeness", "judge": "who", "combine": "ranks"}
        write = lambda own, name: self.write(  # noqa: E731
            tmp_path, head + "".join(f"{a};{b};{r:g};{j}\n" for a, b, r, j in own), name
        )
        data = load_proximity(write(old, "old.csv"), **options)
        found = load_proximity(write(new, "new.csv"), columns=data)
        assert found.ids.tolist() == ["t6"]
        scale = {judge: [r for *_, r, who in old if who == judge] for judge in ("ann", "bob", "eve")}
        for name, value in zip(data.ids.tolist(), found.S[0].tolist()):
            own = {}
            for a, b, r, judge in new:
                if name in (a, b) and r in scale[judge]:
                    shares = [(x < r) + (x == r) / 2 for x in scale[judge]]
                    own.setdefault(judge, []).append(np.mean(shares))
            if own and all(r in scale[j] for a, b, r, j in new if name in (a, b)):
                assert value == pytest.approx(np.mean([np.mean(each) for each in own.values()]))

    def test_choices_among_three(self, tmp_path):
        path = self.write(tmp_path, "first,second,third,odd\na,b,c,c\na,b,d,a\n")
        data = load_proximity(path)
        assert data.S[:2, :2].tolist() == [[1, 0.5], [0.5, 1]]
        path = self.write(tmp_path, "anchor,chosen,other\na,b,c\nb,a,c\n")
        assert load_proximity(path).S[0].tolist() == [1, 1, 0]

    def test_confusions_are_normalised_by_row(self, tmp_path):
        path = self.write(tmp_path, "id,a,b\na,8,2\nb,5,15\n")
        assert load_proximity(path, normalise="rows").S.tolist() == [[0.8, 0.2], [0.25, 0.75]]
        edges = self.write(tmp_path, "a\ta\t8\na\tb\t2\nb\tb\t15\nb\ta\t5\n", "e.edges")
        assert load_proximity(edges, normalise="rows").S.toarray().tolist() == [[0.8, 0.2], [0.25, 0.75]]
        new = self.write(tmp_path, "id,a,b\nc,1,3\n", "new.csv")
        data = load_proximity(path, normalise="rows")
        assert load_proximity(new, columns=data).S.tolist() == [[0.25, 0.75]]
        new_edges = self.write(tmp_path, "c\ta\t1\nc\tb\t3\nd\tb\t2\n", "new.edges")
        data = load_proximity(edges, normalise="rows")
        assert load_proximity(new_edges, columns=data).S.toarray().tolist() == [[0.25, 0.75], [0, 1]]
        with pytest.raises(ValueError, match="counts of 'b' sum to 0"):
            load_proximity(self.write(tmp_path, "id,a,b\na,8,2\nb,0,0\n"), normalise="rows")

    @pytest.mark.parametrize(
        ("text", "options", "said"),
        [
            ("first,second,rating\na,b,much\n", {}, "row 2: the rating 'much' is not a number"),
            ("first,second,rating\na,b,\n", {}, "no pair was rated"),
            ("first,second,rating\na,,3\n", {}, "row 2 has an empty cell in the column 'second'"),
            ("one,two,three\na,b,3\n", {"form": "ratings"}, "no column is called 'first' or 'second' or 'rating'"),
            ("first,second,rating\na,b,3\n", {"combine": "separate"}, "name a column of judges"),
            ("first,second,third,odd\na,b,c,x\n", {}, "odd must be one of three"),
            ("first,second,rating\na,b,3\n", {"judge": "who"}, "there is no column 'who'"),
            ("first,second,rating\na,b,3\n", {"form": "edges", "judge": "who"}, "are for ratings"),
        ],
    )
    def test_what_is_refused(self, tmp_path, text, options, said):
        with pytest.raises(ValueError, match=said):
            load_proximity(self.write(tmp_path, text), **options)
