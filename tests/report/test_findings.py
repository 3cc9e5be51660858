import numpy as np
import pytest
from scipy import sparse

from similitude import AutoClassifier, KNNClassifier, Proximities, SimilaritySVC, goodness, to_similarity
from similitude.datasets import load_voting
from similitude.neighbors.weights import WEIGHTS
from similitude.report import find, page
from similitude.report.outcome import MOST_NEIGHBORS
from tests.report.standin import auto, auto_combined, clusters, combined


@pytest.mark.parametrize("weights", WEIGHTS)
def test_neighbours_are_those_without_the_sample_with_the_weights_of_their_vote(weights):
    S, y = clusters(40)
    S = S - S.min()
    model = KNNClassifier(n_neighbors=6, weights=weights)
    predicted = (y + (np.arange(40) % 4 == 0)) % 3
    outcome = find(S, y, auto=auto(S, y, model, predicted=predicted)).outcome
    assert [mistake.sample for mistake in outcome.mistakes] == list(range(0, 40, 4))
    for mistake in outcome.mistakes:
        rest = np.delete(np.arange(40), mistake.sample)
        alone = KNNClassifier(n_neighbors=6, weights=weights).fit(S[np.ix_(rest, rest)], y[rest])
        indices, expected = alone.neighbor_weights(S[[mistake.sample]][:, rest])
        np.testing.assert_array_equal(mistake.neighbors, rest[indices[0]])
        np.testing.assert_allclose(mistake.weights, expected[0], atol=1e-10)
        np.testing.assert_array_equal(mistake.similarities, S[mistake.sample, mistake.neighbors])
        totals = [expected[0][y[rest[indices[0]]] == label].sum() for label in range(3)]
        np.testing.assert_allclose(mistake.votes, totals, atol=1e-10)


def test_costs_by_label_do_not_keep_neighbours_from_voting():
    S, labels = clusters(30)
    y = np.array(["a", "b", "c"])[labels]
    costs = {f: {g: float(f != g) for g in "abc"} for f in "abc"}
    model = KNNClassifier(n_neighbors=3, costs=costs, priors={"a": 0.5, "b": 0.25, "c": 0.25})
    outcome = find(S, y, auto=auto(S, y, model, predicted=np.roll(y, 1))).outcome
    np.testing.assert_allclose(outcome.mistakes[0].weights, 1 / 3)


def test_neighbours_of_other_models_do_not_vote():
    S, y = clusters(30)
    S = S - S.min()
    outcome = find(S, y, auto=auto(S, y, SimilaritySVC(), predicted=(y + 1) % 3)).outcome
    assert outcome.n_mistakes == len(outcome.mistakes) == 30
    assert outcome.mistakes[0].weights is None
    assert outcome.mistakes[0].votes.sum() == len(outcome.mistakes[0].neighbors) == 10
    np.testing.assert_array_equal(outcome.mistakes[0].votes, np.bincount(y[outcome.mistakes[0].neighbors]))
    assert outcome.weights is None


def test_neighbours_vote_by_the_map_of_the_model_and_are_shown_by_that_of_the_page():
    S, y = clusters(30)
    model = KNNClassifier(n_neighbors=6, weights="affinity", dissimilarity="gauss:0.5")
    search = auto(-S, y, model, predicted=(y + 1) % 3)
    mistake = find(-S, y, contract={"dissimilarity": "max-minus"}, auto=search).outcome.mistakes[0]
    shown, own = to_similarity(-S, "max-minus"), to_similarity(-S, "gauss:0.5")
    np.testing.assert_allclose(mistake.similarities, shown[mistake.sample, mistake.neighbors])
    expected = own[mistake.sample, mistake.neighbors]
    np.testing.assert_allclose(mistake.weights, expected / expected.sum())
    assert not np.allclose(mistake.weights, mistake.similarities / mistake.similarities.sum())


def test_members_of_a_combination():
    S, y = clusters(60)
    S = S - S.min()
    members = [("k-NN", KNNClassifier(9), 0.5), ("affinity k-NN", KNNClassifier(5, weights="affinity"), 0.5)]
    search = auto_combined(S, y, *members)
    outcome = find(S, y, auto=search).outcome
    assert outcome.members == (("k-NN", 0.5), ("affinity k-NN", 0.5))
    assert outcome.weights is None
    assert outcome.mistakes[0].weights is None
    assert outcome.compared_only == ("random forest (features)",)
    np.testing.assert_array_equal(outcome.member_posteriors, search.out_of_fold_.members)
    assert find(S, y, auto=auto(S, y, KNNClassifier(9))).outcome.member_posteriors is None


@pytest.mark.parametrize(
    ("members", "expected"),
    [
        ([KNNClassifier(weights="kri", spectrum="flip"), SimilaritySVC(spectrum="shift"), SimilaritySVC()], "shift"),
        ([KNNClassifier(), SimilaritySVC(spectrum="square"), SimilaritySVC(spectrum="flip")], "flip"),
        ([KNNClassifier(), KNNClassifier(weights="krr", spectrum="flip")], "clip"),
    ],
)
def test_the_spectrum_is_modified_as_by_the_first_member_that_modifies_all_of_it(members, expected):
    S, y = clusters(12)
    search = auto(S, y, KNNClassifier(), predicted=y)
    names = ("one", "two", "three")
    search.best_estimator_ = combined(*((name, member, 1 / len(members)) for name, member in zip(names, members)))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("similitude.report.outcome.model_lines", lambda *_: ())
        assert find(S, y, auto=search).modification == expected


def test_samples_that_were_not_tested_are_no_mistakes():
    S, labels = clusters(31)
    y = np.array(["a", "b", "c", "<i>"])[labels]
    y[7] = "<i>"
    search = AutoClassifier(["k-NN", "affinity k-NN", "nearest centroid"], cv=3, n_repeats=1).fit(S - S.min(), y)
    found = find(S - S.min(), y, auto=search)
    outcome = found.outcome
    assert outcome.not_testable == ("<i>",)
    assert outcome.predicted[7] == -1
    assert 7 not in [mistake.sample for mistake in outcome.mistakes]
    assert outcome.confusion(found.labels, 4).sum() == 30
    error = next(row.error for row in outcome.leaderboard if row.chosen)
    assert outcome.n_mistakes == len(outcome.mistakes) == round(30 * error)
    html = page(found)
    assert "too few samples to be tested, although the model can predict them: &lt;i&gt;." in html
    assert "of the 30 tested samples" in html
    assert "1 of the 31 samples were not tested" in html


def test_more_neighbours_than_samples_and_than_are_listed():
    S, y = clusters(20)
    outcome = find(S, y, auto=auto(S, y, KNNClassifier(n_neighbors=500), predicted=(y + 1) % 3)).outcome
    assert outcome.mistakes[0].n_voting == 19
    assert len(outcome.mistakes[0].neighbors) == MOST_NEIGHBORS
    assert np.isclose(outcome.mistakes[0].votes.sum(), 1)


def test_confident_mistakes_come_first():
    S, y = clusters(60)
    outcome = find(S, y, auto=auto(S, y, KNNClassifier(n_neighbors=9))).outcome
    surplus = [
        outcome.posteriors[m.sample, m.predicted] - outcome.posteriors[m.sample, y[m.sample]] for m in outcome.mistakes
    ]
    assert len(surplus) > 2
    assert surplus == sorted(surplus, reverse=True)
    assert outcome.leaderboard[0].chosen
    counts = outcome.confusion(y, 3)
    assert counts.sum() == 60
    assert counts[0, 1] == np.sum((y == 0) & (outcome.predicted == 1))


def test_raw_objects_are_measured_by_what_all_of_them_teach():
    voting = load_voting()
    model = KNNClassifier(similarity="vdm", n_neighbors=3)
    found = find(
        voting.data, voting.target, contract={"similarity": "vdm"}, auto=auto(voting.data, voting.target, model)
    )
    assert "'vdm'" in found.origin
    assert "all samples" in found.origin
    assert "'one-minus'" in found.origin
    fitted = KNNClassifier(similarity="vdm").fit(voting.data, voting.target)
    similarities, _ = fitted.kneighbors(voting.data[:5])
    np.testing.assert_allclose(np.sort(found.S[:5], axis=1)[:, ::-1][:, :5], similarities)


def test_dissimilarities_are_mapped_and_names_kept():
    S, y = clusters(12)
    D = Proximities(-S, ids=[f"s{i}" for i in range(12)])
    found = find(D, y, contract={"dissimilarity": "max-minus"})
    np.testing.assert_allclose(found.S, to_similarity(-S, "max-minus"))
    assert found.ids[3] == "s3"
    assert found.outcome is None
    assert find(-S, y, contract={"dissimilarity": "gauss"}).ids[3] == "#3"


def test_sparse_matrices():
    S, y = clusters(20)
    S = np.where(S > -2, S + 2, 0.0)
    dense = find(S, y, auto=auto(S, y, KNNClassifier(), predicted=(y + 1) % 3))
    thin = find(sparse.csr_array(S), y, auto=auto(S, y, KNNClassifier(), predicted=(y + 1) % 3))
    np.testing.assert_array_equal(dense.S, thin.S)
    for one, other in zip(dense.outcome.mistakes, thin.outcome.mistakes):
        np.testing.assert_array_equal(one.neighbors, other.neighbors)


def test_of_many_samples_some_are_drawn_but_all_mistakes_are_named():
    S, y = clusters(50)
    found = find(S, y, auto=auto(S, y, KNNClassifier(), predicted=(y + 1) % 3), max_samples=20, random_state=1)
    assert found.S.shape == (20, 20)
    np.testing.assert_array_equal(found.S, S[np.ix_(found.drawn, found.drawn)])
    assert len(found.outcome.mistakes) == 50
    assert found.diagnosis.n == 50


def test_a_search_without_out_of_fold_predictions():
    S, y = clusters(20)
    search = auto(S, y, KNNClassifier(), predicted=y)
    search.out_of_fold_ = None
    found = find(S, y, auto=search)
    assert found.outcome.predicted is None
    html = page(found)
    assert 'id="leaderboard"' in html
    assert 'id="confusion"' not in html


def test_goodness_is_left_out_where_it_is_not_defined():
    S, y = clusters(20)
    found = find(S, y).goodness
    np.testing.assert_array_equal(found.epsilons, goodness(S - S.min() + 1, y).curve(found.gammas))
    for labels in (np.zeros(20, dtype=int), np.arange(20)):
        assert find(S, labels).goodness is None
        assert 'id="goodness"' not in page(find(S, labels))


def test_a_search_on_other_data_is_refused():
    S, y = clusters(20)
    search = auto(S, y, KNNClassifier(), predicted=y)
    search.out_of_fold_.labels = y[:10]
    with pytest.raises(ValueError, match="same data"):
        find(S, y, auto=search)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"ids": ["a"]}, "ids must hold"),
        ({"max_samples": 0}, "max_samples must be"),
        ({"contract": {"dissimilarity": "magic"}}, "dissimilarity must be one of"),
    ],
)
def test_bad_arguments(arguments, message):
    S, y = clusters(9)
    with pytest.raises(ValueError, match=message):
        find(S, y, **arguments)
