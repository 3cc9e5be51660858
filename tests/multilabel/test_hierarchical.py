"""Labels that form a tree: posteriors that add up, unseen leaves, confidence, and sets."""

import numpy as np
import pytest

from similitude import HierarchicalClassifier, LabelTree, Proximities, load_model, save_model
from similitude.multilabel.node_model import scores_without_evidence, without_evidence
from tests.multilabel.trees import similarity, simulated_tree

FEW = ["k-NN", "affinity k-NN"]


@pytest.fixture(scope="module")
def fitted():
    X, y = simulated_tree(500, 1)
    return HierarchicalClassifier(separator=".", methods=FEW).fit(similarity(X, X), y), X, y


def test_probabilities_of_children_add_up_to_less_than_that_of_their_parent(fitted):
    model, X, _ = fitted
    new, _ = simulated_tree(200, 2)
    P = model.predict_proba(similarity(new, X))
    tree = model.tree_
    tops = P[:, tree.depth == 1]
    assert np.all(tops.sum(axis=1) <= 1 + 1e-9)
    assert np.all(P >= 0)
    for node in np.flatnonzero(~tree.is_leaf):
        rest = P[:, node] - P[:, tree.parent == node].sum(axis=1)
        assert np.all(rest >= -1e-9)
        assert np.any(rest > 1e-3)


def test_predicted_nodes_are_as_often_right_as_they_are_probable(fitted):
    model, X, _ = fitted
    new, truth = simulated_tree(1500, 3)
    S = similarity(new, X)
    nodes, proba = model.predict_ranks(S)
    names = model.classes_[nodes[:, 1]]
    known = np.isin(truth, model.classes_)
    assert 0.01 < np.mean(~known) < 0.2
    for low, high in ((0.3, 0.6), (0.6, 0.8), (0.8, 1.0)):
        own = (proba[:, 1] >= low) & (proba[:, 1] < high)
        right = (names == truth)[own]
        assert abs(right.mean() - proba[own, 1].mean()) < 0.05 + 2 * (0.25 / own.sum()) ** 0.5
    # The probability of an unseen leaf is that of their share, and larger for those that have one.
    P = model.predict_proba(S)
    unseen = 1 - P[:, model.tree_.is_leaf].sum(axis=1)
    assert abs(unseen.mean() - np.mean(~known)) < 0.03
    assert unseen[~known].mean() > 1.5 * unseen[known].mean()
    figures = model.by_rank(0.8)
    assert figures.rows[1].precision > 0.8
    assert figures.rows[0].error < figures.rows[1].error


def test_the_assigned_node_is_the_deepest_that_reaches_the_confidence(fitted):
    model, X, _ = fitted
    new, _ = simulated_tree(100, 4)
    S = similarity(new, X)
    P, names = model.predict_proba(S), model.classes_.tolist()
    found = {confidence: model.predict(S, confidence) for confidence in (0.0, 0.6, 0.9, 0.99999)}
    for confidence, nodes in found.items():
        for i, node in enumerate(nodes):
            if node == "unassigned":
                assert P[i].max() < confidence
                continue
            at = names.index(node)
            assert P[i, at] >= confidence
            assert confidence < 0.5 or not np.any(P[i, model.tree_.parent == at] >= confidence)
    depths = [np.mean([0 if node == "unassigned" else node.count(".") + 1 for node in own]) for own in found.values()]
    assert depths == sorted(depths, reverse=True)
    assert depths[0] == 2
    assert model.predict(S).tolist() == found[0.9].tolist()


def test_sets_hold_the_true_node_as_often_as_they_say():
    covered = {0.8: [], 0.9: []}
    sizes = {0.8: [], 0.9: []}
    for seed in range(6):
        X, y = simulated_tree(150, 10 + seed)
        new, truth = simulated_tree(400, 50 + seed)
        model = HierarchicalClassifier(separator=".", methods=["affinity k-NN"]).fit(similarity(X, X), y)
        place = {name: i for i, name in enumerate(model.classes_.tolist())}
        outcome = np.array([place.get(label, place.get(label.split(".")[0], -1)) for label in truth])
        for confidence, own in covered.items():
            sets = model.predict_set(similarity(new, X), confidence)
            own += np.where(outcome >= 0, sets[np.arange(400), outcome], False).tolist()
            sizes[confidence].append(sets.sum(axis=1).mean())
    for confidence, own in covered.items():
        # As for PredictionSets, the guarantee is of the mean over training sets, of which there are six.
        assert confidence - 0.03 < np.mean(own) < confidence + 0.06
    assert np.mean(sizes[0.8]) < np.mean(sizes[0.9]) < 30


def test_labels_at_inner_nodes_leaves_of_one_sample_and_rows_without_evidence_take_part():
    X, y = simulated_tree(200, 5)
    y = y.copy()
    y[::7] = [label.split(".")[0] + ".-" for label in y[::7]]
    S = similarity(X, X)
    S[S < 1e-3] = 0.0
    model = HierarchicalClassifier(separator=".", methods=FEW, cv=4).fit(S, y)
    alone = np.flatnonzero([np.sum(y == label) == 1 for label in y])
    assert len(alone) > 3
    assert set(y[alone]) <= set(model.classes_.tolist())
    P = model.predict_proba(np.vstack([S[:2], np.zeros((1, 200))]))
    nothing = P[2]
    shares = [np.mean([label.split(".")[0] == top for label in y]) for top in model.classes_[:3]]
    assert np.allclose(nothing[:3], shares, atol=0.05)
    assert model.predict(np.zeros((1, 200)))[0] == "unassigned"


def test_columns_pairs_and_ids_are_other_ways_to_give_the_same_labels(fitted):
    model, X, y = fitted
    S, expected = similarity(X, X), model.out_of_fold_.proba
    columns = np.array([label.split(".") for label in y], dtype=object)
    by_columns = HierarchicalClassifier(separator=".", methods=FEW).fit(S, columns)
    assert np.array_equal(by_columns.out_of_fold_.proba, expected)
    tree = LabelTree({label: label.split(".")[0] for label in y})
    by_name = HierarchicalClassifier(tree=tree, methods=FEW).fit(
        Proximities(S, ids=[f"s{i}" for i in range(len(y))]), {f"s{i}": y[i] for i in reversed(range(len(y)))}
    )
    assert np.array_equal(by_name.out_of_fold_.proba, expected)
    scaled = HierarchicalClassifier(separator=".", methods=FEW).fit(1000 * S, y)
    assert np.allclose(scaled.out_of_fold_.proba, expected, atol=1e-5)


def test_a_model_file_holds_all_of_it(fitted, tmp_path):
    model, X, _ = fitted
    new, _ = simulated_tree(30, 6)
    rows = similarity(new, X)
    save_model(tmp_path / "tree.model", model)
    loaded = load_model(tmp_path / "tree.model")
    assert np.array_equal(loaded.predict_proba(rows), model.predict_proba(rows))
    assert np.array_equal(loaded.predict_set(rows, 0.8), model.predict_set(rows, 0.8))
    assert repr(loaded.by_rank()) == repr(model.by_rank())
    assert repr(loaded.methods_) == repr(model.methods_)


def test_bad_parameters_and_labels_are_named():
    S = np.eye(4)
    for model, y, message in (
        (HierarchicalClassifier(), ["1.1", "1.2", "2.1", "2.1"], r"separator must be given"),
        (HierarchicalClassifier(1.0, separator="."), ["1", "2", "1", "2"], r"confidence must be a number in \[0, 1\)"),
        (HierarchicalClassifier(separator="."), ["1.1", "-", "2.1", "2"], r"missing label \(first at position 1\)"),
        (HierarchicalClassifier(separator="."), ["1.1", "1.2"], r"got 2 labels for 4 samples"),
        (HierarchicalClassifier(tree=LabelTree({"a": "b"})), list("abcb"), r"'c' is not in the tree"),
        (HierarchicalClassifier(tree={"a": "b"}), list("abab"), r"tree must be a LabelTree"),
        (HierarchicalClassifier(separator=".", combine="all"), ["1", "2"] * 2, r"combine must be one of"),
        (HierarchicalClassifier(separator=".", methods=["SVM"]), ["1", "2"] * 2, r"methods must be among k-NN"),
    ):
        with pytest.raises(ValueError, match=message):
            model.fit(S, y)


def test_samples_without_evidence_are_judged_as_if_they_were_not_there():
    _, y = simulated_tree(60, 7)
    y[::5] = [label.split(".")[0] for label in y[::5]]  # some are labelled to an inner node
    tree = LabelTree.from_lineages(y, ".")
    lines = tree.lines()[tree.positions(y)]
    lacking = np.arange(60) % 3 > 0

    def counted(chosen):
        own = lines[chosen]
        return np.bincount(own[own >= 0], minlength=len(tree)).astype(float)

    found = scores_without_evidence(tree, lines[lacking], counted(np.ones(60, dtype=bool)))
    for score, i in zip(found, np.flatnonzero(lacking)):
        others = np.arange(60) != i
        P = without_evidence(tree, lines[lacking & others], counted(others))
        node = lines[i][lines[i] >= 0]
        known = node[counted(others)[node] > 0]
        last = known[-1] if len(known) else -1
        expected = P[last]
        if len(known) < len(node):
            expected = (P[last] if len(known) else 1.0) - P[tree.parent == last].sum()
        assert np.isclose(score, expected)
