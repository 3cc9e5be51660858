"""Which methods fail on which simulated data: ``python -m tests.datasets.patterns`` prints the errors in percent."""

import warnings

import numpy as np
from scipy import sparse
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC

from similitude import KNNClassifier, SimilarityWarning, SpectrumModifier, train_test_split
from similitude.datasets import make_copurchase, make_negative_direction, make_patrol

NEIGHBORS = [*range(1, 17), 32, 64]
COSTS = [1.0, 10.0, 100.0, 1000.0]


def knn():
    return GridSearchCV(KNNClassifier(), {"n_neighbors": NEIGHBORS}, cv=KFold(5, shuffle=True, random_state=0))


def svm(method, test_rows="consistent", C=None):
    """An SVM on a modified spectrum; C None: by cross-validation."""
    pipeline = make_pipeline(SpectrumModifier(method, test_rows=test_rows), SVC(C=C or 1.0, kernel="precomputed"))
    if C is not None:
        return pipeline
    return GridSearchCV(pipeline, {"svc__C": COSTS}, cv=KFold(5, shuffle=True, random_state=0))


def error(model, S, y, partitions=5):
    """Mean error in percent over random partitions, 80% training; parameters by 5-fold cross-validation there."""
    S = S.toarray() if sparse.issparse(S) else S
    errors = []
    for seed in range(partitions):
        S_train, S_test, y_train, y_test = train_test_split(S, y, test_size=0.2, random_state=seed)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SimilarityWarning)
            errors.append(100 * (1 - model.fit(S_train, y_train).score(S_test, y_test)))
    return float(np.mean(errors))


METHODS = {
    "k-NN": knn(),
    "SVM clip": svm("clip"),
    "SVM flip": svm("flip"),
    "SVM clip, rows untreated": svm("clip", "untreated"),
}

DATA = {
    "negative direction": lambda seed: make_negative_direction(random_state=seed),
    "patrol": lambda seed: make_patrol(random_state=seed),
    "copurchase": lambda seed: make_copurchase(symmetric=True, random_state=seed),
}


def main(seeds=3):
    for name, draw in DATA.items():
        draws = [draw(seed) for seed in range(seeds)]
        print(f"{name}: {np.mean([len(data.y) for data in draws]):.0f} samples, mean of {seeds} draws")
        for method, model in METHODS.items():
            print(f"  {method:26}{np.mean([error(model, data.S, data.y) for data in draws]):5.1f}%", flush=True)


if __name__ == "__main__":
    main()
