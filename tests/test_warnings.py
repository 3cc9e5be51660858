"""One warning of each kind for each call, at the user's line, however many estimators the call fits."""

import warnings
from collections import Counter

import numpy as np
import pytest
from joblib import parallel_config
from sklearn.model_selection import GridSearchCV, cross_val_score

from similitude import AutoClassifier, KNNClassifier, PathSearchCV, SimilaritySVC
from similitude.proximity import SimilarityWarning
from similitude.similarities import batch

rng = np.random.default_rng(0)
Y = np.arange(45) % 3
X = rng.normal(size=(45, 2)) + 2 * Y[:, None]
D = np.abs(X[:, None] - X[None]).sum(axis=2)
ASYMMETRIC = np.exp(-D) + 0.1 * rng.normal(size=D.shape)


def distance(a, b):
    return float(np.abs(a - b).sum())


@batch
def distances(A, B):
    return np.abs(np.asarray(A)[:, None] - np.asarray(B)[None]).sum(axis=2)


def kinds(call):
    """Return how often each kind of warning about similarities was given, and check where."""
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        call()
    own = [warning for warning in found if issubclass(warning.category, SimilarityWarning)]
    assert {warning.filename for warning in own} <= {__file__}
    return Counter(str(warning.message).split("looks like")[0].split(" need")[0].split(" has ")[0] for warning in own)


AUTO = AutoClassifier(["k-NN", "SVM (clip)"], n_repeats=1, cv=3, diagnose=False)
SEARCH = PathSearchCV(SimilaritySVC(), {"C": [1, 10]}, cv=3)
CALLS = {
    "Auto in cross_val_score": (lambda: cross_val_score(AUTO, D, Y, cv=3), {"X ": 1}),
    "Auto in Auto": (lambda: AutoClassifier(["k-NN"], nested_cv=2, n_repeats=1).fit(D, Y), {"X ": 1}),
    "path search in a grid search": (
        lambda: GridSearchCV(SEARCH, {"estimator__spectrum": ["clip", "flip"]}, cv=3).fit(ASYMMETRIC, Y),
        {"SimilaritySVC": 1, "S": 1},
    ),
    "grid search": (
        lambda: GridSearchCV(SimilaritySVC(), {"C": [1, 2]}).fit(ASYMMETRIC, Y),
        {"SimilaritySVC": 1, "S": 1},
    ),
    "function": (lambda: cross_val_score(KNNClassifier(similarity=distance), X, Y), {"similarity=distance ": 1}),
    "two calls": (
        lambda: [cross_val_score(KNNClassifier(similarity=distances), X, Y) for _ in range(2)],
        {"similarity=distances ": 2},
    ),
}


@pytest.mark.parametrize("name", CALLS)
def test_a_search_warns_once(name):
    call, expected = CALLS[name]
    assert kinds(call) == expected


def test_what_was_silenced_is_not_given():
    """The fits of nested cross-validation are silent, and come before the warnings of the whole."""
    auto = AutoClassifier(["k-NN"], nested_cv=2, n_repeats=1, cv=3, diagnose=False)
    with pytest.warns(SimilarityWarning, match="without them: k-NN"):
        auto.fit(np.exp(-D), Y, sample_weight=np.ones(45))


def test_threads_warn_once_each():
    with parallel_config(backend="threading"), warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        cross_val_score(KNNClassifier(), D, Y, cv=9, n_jobs=2)
    assert 1 <= len(found) <= 2


def test_a_warning_that_is_an_error_is_one_in_every_fit():
    with warnings.catch_warnings():
        warnings.simplefilter("error", SimilarityWarning)
        with pytest.raises(ValueError, match="All the 5 fits failed"):
            cross_val_score(KNNClassifier(), D, Y)


class Scaled:
    """A distance that learns from data."""

    def fit(self, X, y=None):
        self.deviations = np.std(X, axis=0)
        return self

    def __call__(self, A, B):
        return np.abs((np.asarray(A)[:, None] - np.asarray(B)[None]) / self.deviations).sum(axis=2)


def test_several_distances_are_named():
    several = {"a": distance, "b": distances, "c": Scaled(), "d": "rbf"}
    with pytest.warns(SimilarityWarning) as found:
        AUTO.set_params(similarity=several).fit(X, Y)
    texts = [str(warning.message) for warning in found]
    assert [text.split(" looks")[0] for text in texts] == [
        "similarity['a']=distance",
        "similarity['b']=distances",
        "similarity['c']=Scaled",
    ]
    assert "dissimilarity={'b': 'max-minus'}" in texts[1]
    AUTO.set_params(similarity="precomputed")
    with pytest.warns(SimilarityWarning, match=r"X\['b'\] looks like a dissimilarity .*\{'b': 'max-minus'\}"):
        AUTO.fit({"a": np.exp(-D), "b": D}, Y)
