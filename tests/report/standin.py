"""What a search leaves behind, without the search: a report asks for nothing else."""

from types import SimpleNamespace

import numpy as np
from sklearn.model_selection import StratifiedKFold, cross_val_predict

from similitude.auto import COMBINATION, CombinedClassifier, CombinedMember, LeaderboardRow

FOLDS = StratifiedKFold(3, shuffle=True, random_state=0)


def combined(*members):
    """Return a combination of members (name, estimator, weight), as a report sees it."""
    model = CombinedClassifier([(name, estimator) for name, estimator, _ in members], [w for _, _, w in members])
    model.members_ = [CombinedMember(name, estimator, weight, None, None) for name, estimator, weight in members]
    return model


def auto(X, y, estimator, *, name="k-NN", parameters=None, proba=True, predicted=None):
    """Return a stand-in for a search that chose a single method; ``predicted`` instead of cross-validation."""
    posteriors = None
    if predicted is None:
        predicted = cross_val_predict(estimator, X, y, cv=FOLDS)
        if proba:
            posteriors = cross_val_predict(estimator, X, y, cv=FOLDS, method="predict_proba")
    error = float(np.mean(np.asarray(predicted) != np.asarray(y)))
    rows = [
        LeaderboardRow("nearest centroid", error + 0.05, 0.02, {}, 0.1, p_value=0.0004),
        LeaderboardRow(name, error, 0.01, parameters or {}, 2.0, weight=1.0, chosen=True),
        LeaderboardRow("SVM (clip)", error + 0.01, 0.03, {"C": 10.0}, 7.0, p_value=0.25),
    ]
    return _search(rows, combined((name, estimator, 1.0)), name, predicted, posteriors, None)


def auto_combined(X, y, *members):
    """Return a stand-in for a search that chose the combination of members (name, estimator, weight)."""
    classes = np.unique(y)
    own = [cross_val_predict(estimator, X, y, cv=FOLDS, method="predict_proba") for _, estimator, _ in members]
    posteriors = np.tensordot([weight for _, _, weight in members], own, axes=1)
    predicted = classes[np.argmax(posteriors, axis=1)]
    rows = [
        LeaderboardRow(name, 0.2 + 0.1 * i, 0.02, {"n_neighbors": 3}, 1.0, weight=weight, p_value=0.25)
        for i, (name, _, weight) in enumerate(members)
    ]
    rows += [
        LeaderboardRow(COMBINATION, float(np.mean(predicted != y)), 0.02, {}, 9.0, weight=1.0, chosen=True),
        LeaderboardRow("random forest (features)", 0.5, 0.02, {}, 3.0, p_value=0.03),
        LeaderboardRow("nearest centroid", 0.6, 0.02, {}, 0.1, p_value=0.03),
    ]
    return _search(rows, combined(*members), COMBINATION, predicted, posteriors, np.array(own))


def _search(rows, model, name, predicted, posteriors, members):
    found = SimpleNamespace(labels=predicted, proba=posteriors, samples=np.arange(len(predicted)), members=members)
    return SimpleNamespace(
        leaderboard_=rows,
        out_of_fold_=found,
        best_method_=name,
        best_estimator_=model,
        nested_error_=0.202,
        left_out_=[],
        not_testable_=np.array([]),
        prefer="accuracy",
        scoring=None,
        costs=None,
    )


def clusters(n=60, n_classes=3, seed=0, spread=1.5):
    """Similarities of overlapping clusters: most are told apart, some are not."""
    rng = np.random.default_rng(seed)
    labels = np.arange(n) % n_classes
    points = rng.normal(size=(n, 2)) + spread * np.column_stack([np.cos(labels * 2.1), np.sin(labels * 2.1)])
    return -np.abs(points[:, None] - points[None]).sum(axis=2), labels
