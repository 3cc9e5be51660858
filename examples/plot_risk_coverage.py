"""
Risk against coverage
=====================

The error of the most confident predictions against their share, with the largest posterior as the confidence: k-NN and
the SVM on promoters.
"""

import warnings

import matplotlib.pyplot as plt
from sklearn.model_selection import cross_val_predict

from similitude import KNNClassifier, SimilaritySVC, SimilarityWarning
from similitude.datasets import load_promoters
from similitude.plotting import RiskCoverageDisplay
from similitude.similarities import pairwise


def two_methods():
    """k-NN and the SVM on promoters, compared by their edit distance; ten folds."""
    warnings.simplefilter("ignore", SimilarityWarning)  # the negative eigenvalues of the folds are few
    data = load_promoters()
    D = pairwise(data.data, similarity="levenshtein")
    figure, ax = plt.subplots(figsize=(6.4, 4), layout="constrained")
    options = {"dissimilarity": "gauss"}
    models = {
        "k-NN": KNNClassifier(9, "affinity", **options),
        "SVM": SimilaritySVC(probability=True, **options),
    }
    for name, model in models.items():
        posteriors = cross_val_predict(model, D, data.target, cv=10, method="predict_proba")
        correct = (posteriors[:, 1] > 0.5) == (data.target == sorted(set(data.target))[1])
        RiskCoverageDisplay.from_predictions(correct, posteriors.max(axis=1), name=name, ax=ax)
    return figure


PICTURES = {"risk-coverage": two_methods}

if __name__ == "__main__":
    two_methods()
    plt.show()
