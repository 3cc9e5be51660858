"""
Where similarities as features fail
===================================

Two long thin classes lie side by side. Similarities within and between them hardly differ, so methods that use
similarities as features fail, while the embedding finds the positions again. This takes a quarter of a minute.
"""

import sys
import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.exceptions import ConvergenceWarning
from sklearn.pipeline import make_pipeline

from similitude import KNNClassifier, PathSearchCV, PseudoEuclideanEmbedding, train_test_split
from similitude.datasets.simulated import make_ellipsoids
from similitude.features.recipes import recipe
from similitude.plotting import COLORS, DASHES

QUICK = "--quick" in sys.argv
ELONGATIONS = (1, 1000) if QUICK else (1, 3, 10, 30, 100, 300, 1000)
DRAWS = 1 if QUICK else 5


def methods():
    """On the matrix of distances: three that see similarities only, and one that finds the positions again."""
    distances = {"dissimilarity": "negate"}
    return {
        "linear SVM on features": PathSearchCV(*recipe("linear SVM", **distances)),
        "Fisher (RFD) on features": recipe("RFD", **distances)[0],
        "5-NN": KNNClassifier(5, **distances),
        "Fisher on the embedding": make_pipeline(
            PseudoEuclideanEmbedding(5, dissimilarity="double-centring"), LinearDiscriminantAnalysis()
        ),
    }


def errors(elongation):
    """The error of each method on half of the samples, learned from the other half, over several draws."""
    shares = []
    for draw in range(DRAWS):
        data = make_ellipsoids(400, elongation=elongation, random_state=draw)
        D_train, D_test, y_train, y_test = train_test_split(-data.S, data.y, test_size=0.5, random_state=draw)
        shares.append([1 - model.fit(D_train, y_train).score(D_test, y_test) for model in methods().values()])
    return np.mean(shares, axis=0)


def ellipsoids():
    """The classes, the similarities within and between them, and the errors against the elongation."""
    data = make_ellipsoids(400, random_state=0)
    figure, axes = plt.subplots(1, 3, figsize=(12, 3.9), layout="constrained")
    for label, marker in ((0, "o"), (1, "x")):
        of_class = data.y == label
        axes[0].scatter(
            data.X[of_class, 0], data.X[of_class, -1], s=14, color=COLORS[label], marker=marker, label=f"class {label}"
        )
    axes[0].set(title="Two axes of five, not to scale", xlabel="a long axis", ylabel="the thin axis")
    axes[0].legend(loc="center right")

    pairs = np.triu_indices(len(data.y), 1)
    alike = (data.y[:, None] == data.y)[pairs]
    bins = np.linspace(data.S.min(), 0, 50)
    for kind, name, style in ((alike, "within a class", "-"), (~alike, "between the classes", DASHES[1])):
        axes[1].hist(
            data.S[pairs][kind],
            bins,
            density=True,
            histtype="step",
            linewidth=1.8,
            color=COLORS[2 if style == "-" else 3],
            linestyle=style,
            label=name,
        )
    axes[1].set(title="Pairs look the same", xlabel="similarity (minus the distance)", ylabel="density")
    axes[1].legend(loc="upper left")

    with warnings.catch_warnings():
        # Large C on classes that cannot be separated: libsvm is stopped, and the search takes another C.
        warnings.simplefilter("ignore", ConvergenceWarning)
        curves = 100 * np.array([errors(elongation) for elongation in ELONGATIONS])
    for curve, name, color, style, marker in zip(curves.T, methods(), COLORS, DASHES, "osd^"):
        axes[2].semilogx(ELONGATIONS, curve, color=color, linestyle=style, marker=marker, markersize=5, label=name)
    axes[2].set(title=f"Mean error over {DRAWS} draws", xlabel="elongation (standard deviations)", ylabel="error in %")
    axes[2].set_ylim(-3, 92)  # room for the legend above the curves
    axes[2].set_yticks(range(0, 60, 10))
    axes[2].grid(color="0.9")
    axes[2].legend(loc="upper left")
    return figure


PICTURES = {"ellipsoids": ellipsoids}

if __name__ == "__main__":
    ellipsoids()
    plt.show()
