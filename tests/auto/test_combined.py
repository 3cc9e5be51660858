"""The weighted mean of calibrated posteriors: against loops, as an estimator, and with members of every kind."""

import pickle

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import softmax
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC

from similitude import (
    SDA,
    CombinedClassifier,
    FusedClassifier,
    KNNClassifier,
    LandmarkClassifier,
    LocalBDA,
    LPMachine,
    NearestCentroid,
    PathSearchCV,
    PotentialSVC,
    Proximities,
    PseudoEuclideanEmbedding,
    SimilarityFeatures,
    SimilaritySVC,
    SpectrumModifier,
    load_model,
    save_model,
)
from similitude.auto import Votes
from similitude.datasets import load_voting
from similitude.similarities import pairwise
from tests.reference import temperature as reference


def problem(n=40, n_classes=2, seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % n_classes
    X = rng.normal(size=(n, 3))
    X[:, 0] += 1.3 * y
    return ((X[:, None] - X[None]) ** 2).sum(-1), y


D, Y = problem()
S = np.exp(-D / 8)
TRAIN, TEST = np.arange(30), np.arange(30, 40)
SQUARE, ROWS = S[np.ix_(TRAIN, TRAIN)], S[np.ix_(TEST, TRAIN)]
MEMBERS = [("k-NN", KNNClassifier(3)), ("SVM", SimilaritySVC())]


def fitted(members=MEMBERS, weights=None, X=SQUARE, y=Y[TRAIN], **options):
    return CombinedClassifier(members, weights, **options).fit(X, y)


def words(n=30):
    rng = np.random.default_rng(3)
    return ["".join(rng.choice(list("abcc" if i % 2 else "abbc"), size=rng.integers(5, 9))) for i in range(n)]


def by_hand(estimator, response, X, y, rows, n_folds=5, seed=0):
    """The calibrated posteriors of one classifier whose answers in left-out folds are posteriors or decision values."""

    def log_odds(fitted, part):
        found = getattr(fitted, response)(part)
        if response == "predict_proba":
            return np.log(found + 1 / (4 * len(y)))
        return np.stack([-found / 2, found / 2], axis=1) if found.ndim == 1 else found

    left_out = np.empty((len(y), len(np.unique(y))))
    for train, test in StratifiedKFold(n_folds, shuffle=True, random_state=seed).split(X, y):
        left_out[test] = log_odds(clone(estimator).fit(X[np.ix_(train, train)], y[train]), X[np.ix_(test, train)])
    size = 1.0
    if response == "decision_function":
        size = np.sqrt(np.mean((left_out - left_out.mean(axis=1, keepdims=True)) ** 2))
    factor, offsets = reference.fit(left_out / size, y, np.ones(len(y)))
    return softmax(factor / size * log_odds(clone(estimator).fit(X, y), rows) + offsets, axis=1)


class TestPosteriors:
    @pytest.mark.parametrize("n_classes", [2, 3])
    def test_they_are_the_definition(self, n_classes):
        D, y = problem(n_classes=n_classes)
        S = np.exp(-D / 8)
        square, rows = S[:30, :30], S[30:, :30]
        model = fitted([*MEMBERS, ("centroid", NearestCentroid())], [1, 2, 5], square, y[:30])
        responses = ["predict_proba", "decision_function", "decision_function"]
        slow = [
            by_hand(estimator, response, square, y[:30], rows)
            for (_, estimator), response in zip(model.members, responses, strict=True)
        ]
        assert_allclose(model.member_posteriors(rows), slow, atol=1e-5)
        expected = np.tensordot([1 / 8, 2 / 8, 5 / 8], slow, axes=1)
        assert_allclose(model.predict_proba(rows), expected, atol=1e-5)
        assert_array_equal(model.predict(rows), expected.argmax(axis=1))
        for m in (1, 2):  # as many samples as classes are no special case
            assert_allclose(model.predict_proba(rows[:m]), expected[:m], atol=1e-5)

    @pytest.mark.filterwarnings("ignore:.*dissimilarities")
    def test_a_member_that_only_predicts(self):
        class Plain(KNeighborsClassifier):
            predict_proba = property()

        labels = fitted([("plain", Plain(metric="precomputed", n_neighbors=3))], X=D[:30, :30])
        assert labels.members_[0].temperature.response == "predict"
        posteriors = labels.predict_proba(D[30:, :30])
        assert len(np.unique(posteriors)) <= 4  # two classes, each with one pair of posteriors

    def test_costs_decide(self):
        costs = np.array([[0.0, 9.0], [1.0, 0.0]])
        plain, careful = fitted(), fitted(costs=costs)
        posteriors = plain.predict_proba(ROWS)
        assert_array_equal(careful.predict_proba(ROWS), posteriors)
        assert_array_equal(careful.predict(ROWS), np.argmin(posteriors @ costs.T, axis=1))
        assert np.any(careful.predict(ROWS) != plain.predict(ROWS))
        by_label = fitted(
            y=np.array(["no", "yes"])[Y[TRAIN]], costs={"no": {"no": 0, "yes": 9}, "yes": {"no": 1, "yes": 0}}
        )
        assert_array_equal(by_label.predict(ROWS) == "yes", careful.predict(ROWS) == 1)

    def test_priors_and_class_weights(self):
        some = np.r_[0:30:2, 1:30:4]  # the first class has twice as many
        X, y, rows = S[np.ix_(some, some)], Y[some], S[np.ix_(TEST, some)]
        plain = fitted(X=X, y=y).predict_proba(rows)
        shares = np.bincount(y) / len(y)
        expected = plain * [0.2, 0.8] / shares
        assert_allclose(
            fitted(X=X, y=y, priors=[0.2, 0.8]).predict_proba(rows), expected / expected.sum(axis=1, keepdims=True)
        )
        balanced = fitted(X=X, y=y, class_weight="balanced").predict_proba(rows)
        assert_allclose(balanced, fitted(X=X, y=y, priors=[0.5, 0.5]).predict_proba(rows))
        weighted = plain * [1, 3]
        assert_allclose(
            fitted(X=X, y=y, class_weight={0: 1, 1: 3}).predict_proba(rows),
            weighted / weighted.sum(axis=1, keepdims=True),
        )

    def test_classes_with_few_samples(self):
        y = np.array(["a", "b"])[Y[TRAIN]].astype(object)
        y[[3, 8, 9]] = ["lonely", "pair", "pair"]
        model = fitted(y=y)
        assert_array_equal(model.classes_, ["a", "b", "lonely", "pair"])
        assert_allclose(model.predict_proba(ROWS).sum(axis=1), 1)
        assert model.predict(SQUARE[3:4]).shape == (1,)


class TestExplanation:
    def test_what_each_member_predicts(self):
        model = fitted(y=np.array(["no", "yes"])[Y[TRAIN]], weights=[1, 3], costs=[[0, 9], [1, 0]])
        votes = model.explain(ROWS[3])
        assert isinstance(votes, Votes)
        assert votes.members == ["k-NN", "SVM"]
        assert_allclose(votes.weights, [0.25, 0.75])
        assert_allclose(votes.posteriors, model.member_posteriors(ROWS[3:4])[:, 0])
        assert_allclose(votes.posterior, model.predict_proba(ROWS[3:4])[0])
        assert votes.prediction == model.predict(ROWS[3:4])[0]
        lines = str(votes).splitlines()
        assert lines[0].split() == ["member", "weight", "predicts", "P(no)", "P(yes)"]
        assert lines[2].split()[:2] == ["SVM", "0.75"]
        assert lines[3].split() == ["combination", str(votes.prediction), *(f"{p:.3f}" for p in votes.posterior)]

    def test_it_needs_one_sample(self):
        with pytest.raises(ValueError, match="X must hold one sample; got 2"):
            fitted().explain(ROWS[:2])


class TestColumns:
    def test_the_union_of_what_the_members_need(self):
        members = [("SVM", SimilaritySVC(100.0, "none")), ("P-SVM", PotentialSVC()), ("LP", LPMachine())]
        model = fitted(members)
        own = [member.estimator.support_columns_ for member in model.members_]
        assert_array_equal(model.support_columns_, np.unique(np.concatenate(own)))
        assert len(model.support_columns_) < 30
        part = ROWS[:, model.support_columns_]
        assert_allclose(model.predict_proba(part), model.predict_proba(ROWS))
        assert_array_equal(model.predict(part), model.predict(ROWS))
        assert str(model.explain(part[0])) == str(model.explain(ROWS[0]))
        hidden = np.full(ROWS.shape, np.pi)
        hidden[:, model.support_columns_] = part
        assert_allclose(model.predict_proba(hidden), model.predict_proba(ROWS))

    @pytest.mark.parametrize("other", [KNNClassifier(), FusedClassifier([("sda", SDA())]), SVC(kernel="precomputed")])
    def test_all_where_one_member_needs_all(self, other):
        assert not hasattr(fitted([("SVM", SimilaritySVC()), ("other", other)]), "support_columns_")


class TestMembers:
    @pytest.mark.parametrize(
        "member",
        [
            make_pipeline(PseudoEuclideanEmbedding(0.9), LogisticRegression()),
            make_pipeline(SimilarityFeatures(), LogisticRegression()),
            PathSearchCV(KNNClassifier(), {"n_neighbors": [1, 3]}, cv=2),
            CombinedClassifier(MEMBERS),
            SVC(kernel="precomputed"),
            FusedClassifier([("sda", SDA()), ("knn", KNNClassifier())]),
        ],
    )
    def test_any_classifier(self, member):
        model = fitted([("one", member), ("k-NN", KNNClassifier(3))], [2, 1])
        alone = fitted([("one", member)]).predict_proba(ROWS)
        expected = (2 * alone + fitted([("k-NN", KNNClassifier(3))]).predict_proba(ROWS)) / 3
        assert_allclose(model.predict_proba(ROWS), expected)
        same = clone(member).fit(SQUARE, Y[TRAIN])
        assert_array_equal(model.members_[0].estimator.predict(ROWS), same.predict(ROWS))

    def test_features_and_similarities(self):
        features = np.random.default_rng(0).normal(size=(40, 2)) + Y[:, None]
        fused = FusedClassifier([("sda", SDA()), ("bda", LocalBDA(3))])
        square, rows = Proximities(SQUARE, features[TRAIN]), Proximities(ROWS, features[TEST])
        model = fitted([("fused", fused), ("SVM", SimilaritySVC())], X=square)
        assert_allclose(model.predict_proba(rows).sum(axis=1), 1)
        assert_array_equal(
            model.members_[0].estimator.predict_proba(rows), clone(fused).fit(square, Y[TRAIN]).predict_proba(rows)
        )
        other = Proximities(ROWS, features[TEST] + 1)
        assert np.any(model.member_posteriors(other)[0] != model.member_posteriors(rows)[0])

    def test_each_may_have_its_own_map(self):
        maps = ["max-minus", "gauss", "exp:0.5", "double-centring"]
        members = [(name, SimilaritySVC(dissimilarity=name)) for name in maps]
        model = fitted(members, X=D[:30, :30], dissimilarity="max-minus")
        for name, found in zip(maps, model.member_posteriors(D[30:, :30]), strict=True):
            alone = fitted([(name, SimilaritySVC(dissimilarity=name))], X=D[:30, :30], dissimilarity=name)
            assert_allclose(found, alone.predict_proba(D[30:, :30]), atol=1e-9)
        posteriors = model.predict_proba(D[30:, :30])
        assert_allclose(posteriors, model.member_posteriors(D[30:, :30]).mean(axis=0))
        assert len(model.support_columns_) == 30  # double centring needs whole rows
        members = [(name, LPMachine(dissimilarity=name)) for name in maps[:3]]
        narrow = fitted(members, X=D[:30, :30], dissimilarity="gauss")
        assert len(narrow.support_columns_) < 30
        part = D[30:][:, narrow.support_columns_]
        assert_allclose(narrow.predict_proba(part), narrow.predict_proba(D[30:, :30]))

    def test_equal_weights_and_weights_of_zero(self):
        both, first = fitted(), fitted(weights=[1, 0])
        assert_allclose(both.predict_proba(ROWS), both.member_posteriors(ROWS).mean(axis=0))
        assert_allclose(first.predict_proba(ROWS), both.member_posteriors(ROWS)[0])


class TestRawObjects:
    X, y = words(), np.arange(30) % 2

    def test_they_are_the_matrix(self):
        model = fitted(X=self.X[:24], y=self.y[:24], similarity="levenshtein")
        distances = pairwise(self.X[:24], similarity="levenshtein")
        matrix = fitted(X=distances, y=self.y[:24], dissimilarity="max-minus")
        rows = pairwise(self.X[24:], self.X[:24], similarity="levenshtein")
        assert_allclose(model.predict_proba(self.X[24:]), matrix.predict_proba(rows))
        assert str(model.explain(self.X[24:25])) == str(matrix.explain(rows[0]))

    def test_each_value_is_computed_once(self):
        calls = []

        def alike(a, b):
            calls.append((a, b))
            return sum(map(a.count, b)) / (len(a) * len(b))

        X = sorted(set(self.X))
        y = np.arange(len(X)) % 2
        model = fitted([("LP", LPMachine()), ("P-SVM", PotentialSVC(epsilon=1.0))], X=X, y=y, similarity=alike)
        assert len(set(calls)) <= len(X) ** 2
        assert len(calls) - len(set(calls)) <= 36  # six samples are tried first: is it a distance?
        calls.clear()
        model.predict(["abcab", "bbccb"])
        assert len(calls) == len(set(calls)) == 2 * len(model.support_columns_) < 2 * len(X)
        model = fitted(X=X, y=y, similarity=alike)  # k-NN needs all columns
        calls.clear()
        model.explain(["abcab"])
        assert len(calls) == len(set(calls)) == len(X)

    @pytest.mark.filterwarnings("ignore:.*asymmetric")
    def test_asymmetric_similarities(self):
        """The SVM takes the mean of both directions, and k-NN takes one."""

        def within(a, b):
            return sum(map(a.count, b)) / len(a) ** 2

        model = fitted(X=self.X[:24], y=self.y[:24], similarity=within)
        for (_, estimator), found in zip(MEMBERS, model.member_posteriors(self.X[24:]), strict=True):
            alone = fitted([("one", estimator)], X=self.X[:24], y=self.y[:24], similarity=within)
            assert_allclose(found, alone.predict_proba(self.X[24:]))
            same = clone(estimator).set_params(similarity=within).fit(self.X[:24], self.y[:24])
            assert_array_equal(alone.members_[0].estimator.predict(self.X[24:]), same.predict(self.X[24:]))
        landmarks = CombinedClassifier([("one", LandmarkClassifier(6))], similarity=within)
        member = landmarks.fit(self.X[:24], self.y[:24]).members_[0]
        shared = landmarks._shared(landmarks._rows(self.X[24:]))
        assert_allclose(member.estimator.decision_function(shared), member.estimator.decision_function(self.X[24:]))

    def test_members_that_read_their_input_themselves(self):
        """They get raw objects, or the matrix if they take similarities."""
        contract = {"similarity": "levenshtein"}
        fused = FusedClassifier([("a", KNNClassifier(3, **contract)), ("b", SDA(**contract))])
        neighbors = KNeighborsClassifier(3, metric="precomputed")
        model = fitted([("fused", fused), ("k-NN", neighbors), *MEMBERS[1:]], X=self.X[:24], y=self.y[:24], **contract)
        rows = pairwise(self.X[24:], self.X[:24], **contract)
        assert_array_equal(
            model.members_[0].estimator.predict_proba(self.X[24:]),
            clone(fused).fit(self.X[:24], self.y[:24]).predict_proba(self.X[24:]),
        )
        same = clone(neighbors).fit(pairwise(self.X[:24], **contract), self.y[:24])
        assert_array_equal(model.members_[1].estimator.predict(rows), same.predict(rows))
        assert_allclose(model.predict_proba(self.X[24:]), model.member_posteriors(self.X[24:]).mean(axis=0))

    def test_similarities_that_learn(self):
        voting = load_voting()
        model = fitted(X=voting.data[:60], y=voting.target[:60], similarity="vdm")
        for (_, estimator), member in zip(MEMBERS, model.members_, strict=True):
            alone = clone(estimator).set_params(similarity="vdm").fit(voting.data[:60], voting.target[:60])
            assert_array_equal(member.estimator.predict(voting.data[60:]), alone.predict(voting.data[60:]))
        assert model.score(voting.data[60:], voting.target[60:]) > 0.9


class TestEstimator:
    @pytest.mark.parametrize(
        ("members", "X", "rows", "options"),
        [
            (MEMBERS, SQUARE, ROWS, {"costs": [[0, 3], [1, 0]], "class_weight": "balanced", "weights": [1, 3]}),
            (
                [("gauss", SimilaritySVC(dissimilarity="gauss")), ("exp", KNNClassifier(dissimilarity="exp:0.5"))],
                D[:30, :30],
                D[30:, :30],
                {"dissimilarity": "max-minus", "priors": [0.3, 0.7]},
            ),
            (
                [
                    ("SVM", SimilaritySVC()),
                    ("Fisher", make_pipeline(PseudoEuclideanEmbedding(3), LogisticRegression())),
                ],
                words()[:24] + words()[:6],
                words()[24:],
                {"similarity": "levenshtein"},
            ),
            ([("fused", FusedClassifier([("sda", SDA()), ("knn", KNNClassifier())])), *MEMBERS], SQUARE, ROWS, {}),
        ],
        ids=["matrix", "maps", "raw objects", "fused"],
    )
    def test_a_model_file_holds_it(self, members, X, rows, options, tmp_path):
        model = fitted(members, X=X, **options)
        save_model(tmp_path / "model", model)
        again = load_model(tmp_path / "model")
        assert_array_equal(again.predict_proba(rows), model.predict_proba(rows))
        assert_array_equal(again.predict(rows), model.predict(rows))
        assert str(again.explain(rows[:1])) == str(model.explain(rows[:1]))
        pickled = pickle.loads(pickle.dumps(model))
        assert_array_equal(pickled.predict_proba(rows), model.predict_proba(rows))

    def test_clone_and_fit_again(self):
        model = fitted(weights=[1, 2], n_folds=3, random_state=4)
        copy = clone(model)
        assert repr(copy.get_params()) == repr(model.get_params())
        with pytest.raises(NotFittedError):
            copy.predict_proba(ROWS)
        assert_array_equal(copy.fit(SQUARE, Y[TRAIN]).predict_proba(ROWS), model.predict_proba(ROWS))
        members = [("LP", LPMachine())]
        again = model.set_params(members=members, weights=None).fit(SQUARE, Y[TRAIN])
        assert_array_equal(again.predict_proba(ROWS), fitted(members, n_folds=3, random_state=4).predict_proba(ROWS))
        assert len(again.support_columns_) < 30

    def test_a_failed_fit_leaves_the_model_as_it_was(self):
        model = fitted()
        before = model.predict_proba(ROWS)
        with pytest.raises(ValueError, match="n_neighbors"):
            model.set_params(members=[("k-NN", KNNClassifier(-1))]).fit(SQUARE, Y[TRAIN])
        assert_array_equal(model.predict_proba(ROWS), before)

    def test_names_of_columns(self):
        names = [f"s{i}" for i in TRAIN]
        model = fitted(X=pd.DataFrame(SQUARE, columns=names))
        assert list(model.feature_names_in_) == names
        frame = pd.DataFrame(ROWS, columns=names)
        assert_array_equal(model.predict_proba(frame), fitted().predict_proba(ROWS))
        assert_array_equal(model.predict_proba(frame[names[::-1]]), fitted().predict_proba(ROWS))
        assert model.ids_.tolist() == names


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"members": []}, "members must be a list of"),
        ({"members": "k-NN"}, "members must be a list of"),
        ({"members": [KNNClassifier()]}, "members must be a list of"),
        ({"members": [("a", KNNClassifier()), ("a", SDA())]}, "members must be .* with different names"),
        ({"members": [("a", "k-NN"), *MEMBERS]}, "members must be classifiers; 'a' is 'k-NN'"),
        ({"members": [("a", SpectrumModifier())]}, "members must be classifiers; 'a' is SpectrumModifier"),
        ({"weights": [1.0]}, "weights must be 2 nonnegative numbers, one for each member"),
        ({"weights": [1.0, -1.0]}, "weights must be 2 nonnegative numbers"),
        ({"weights": [0.0, 0.0]}, "weights must .* not all zero"),
        ({"weights": [1.0, np.nan]}, "weights must be 2 nonnegative numbers"),
        ({"weights": ["much", "little"]}, "weights must be 2 nonnegative numbers"),
        ({"n_folds": 1}, "n_folds must be an integer of at least 2; got 1"),
        ({"n_folds": "five"}, "n_folds must be an integer of at least 2"),
        ({"costs": [[0, 1]]}, "costs must have shape"),
        ({"priors": [0.5, 0.6]}, "priors must be non-negative and sum to 1"),
        ({"class_weight": {0: -1, 1: 1}}, "class_weight must hold finite numbers above 0"),
        ({"class_weight": "even"}, "class_weight"),
    ],
)
def test_bad_parameters_are_refused(parameters, message):
    with pytest.raises(ValueError, match=message):
        CombinedClassifier(**{"members": MEMBERS, **parameters}).fit(SQUARE, Y[TRAIN])


@pytest.mark.parametrize(
    ("X", "y", "message"),
    [
        (SQUARE, Y[:5], "y must have one label per sample"),
        (SQUARE, np.zeros(30), "y must have at least two classes"),
        (SQUARE[:3, :3], [0, 1, 2], "y must have a class of at least two samples"),
        (SQUARE[:5], Y[:5], "X must be square"),
    ],
)
def test_bad_data_is_refused(X, y, message):
    with pytest.raises(ValueError, match=message):
        CombinedClassifier(MEMBERS).fit(X, y)
