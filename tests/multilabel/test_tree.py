"""The tree of labels: what it is made of, and what is refused."""

import numpy as np
import pytest

from similitude import LabelTree


def test_the_children_of_a_node_are_beside_one_another_and_below_it():
    tree = LabelTree.from_lineages(["b;y;1", "a;x", "b;x;2", "a;z;9", "b;y;0"], ";")
    assert tree.nodes.tolist() == ["a", "b", "a;x", "a;z", "b;x", "b;y", "a;z;9", "b;x;2", "b;y;0", "b;y;1"]
    assert tree.depth.tolist() == [1, 1, 2, 2, 2, 2, 3, 3, 3, 3]
    assert all(tree.parent[i] < i for i in range(len(tree)))
    assert tree.nodes[tree.is_leaf].tolist() == ["a;x", "a;z;9", "b;x;2", "b;y;0", "b;y;1"]
    assert tree.lines()[8].tolist() == [1, 5, 8]
    assert tree.lines()[2].tolist() == [0, 2, -1]


def test_pairs_lineages_and_columns_give_the_same_tree():
    pairs = LabelTree([("1.1", "1"), ("1.2", "1"), ("2.1", "2"), ("1", ""), ("2", None)])
    lineages = LabelTree.from_lineages(["1.1", "1.2", "2.1", "2.-"], ".")
    columns = LabelTree.from_lineages([("1", "1"), ("1", "2"), ("2", "1"), ("2", np.nan)], ".")
    for other in (lineages, columns):
        assert other.nodes.tolist() == pairs.nodes.tolist()
        assert np.array_equal(other.parent, pairs.parent)


@pytest.mark.parametrize(
    ("parents", "message"),
    [
        ([("a", "b"), ("b", "c"), ("c", "a")], r"cycle: a -> b -> c -> a; a node cannot be its own ancestor"),
        ([("a", "b"), ("a", "c")], r"'a' has two parents, 'b' and 'c'"),
        ([("a", "b"), ("a", None)], r"'a' has two parents, 'b' and 'none'"),
        ([(None, "b")], r"has no child"),
        (["ab"], r"must be pairs \(child, parent\)"),
        ([], r"the tree has no nodes"),
    ],
)
def test_what_is_no_tree_is_refused(parents, message):
    with pytest.raises(ValueError, match=message):
        LabelTree(parents)


def test_labels_and_lineages_that_do_not_fit_are_refused():
    tree = LabelTree([("cat", "animal"), ("dog", "animal")])
    with pytest.raises(ValueError, match=r"the label 'cta' is not in the tree\. Did you mean 'cat'"):
        tree.positions(["dog", "cta"])
    with pytest.raises(ValueError, match=r"has a gap before its last part"):
        LabelTree.from_lineages(["1.-.3"], ".")
    with pytest.raises(ValueError, match=r"separator must be given"):
        LabelTree.from_lineages(["1.2.3"])
