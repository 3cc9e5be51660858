"""Test errors of DBoost, LSVM and nearest neighbour on the USPS digits, after Figures 4 to 6 of Wang et al.

The paper trains on all 7291 images. To save time, 1000 of them are used here, drawn by class; the test set is complete
(2007). One table at the end uses the whole training set. The files zip.train.RData and zip.test.RData (CRAN package
ElemStatLearn) are read from the folder given by the environment variable SIMILITUDE_DATA, with ``similitude[data]``.

The paper leaves three things open, for which these choices were made:

- Its Fuzzy Image Metric is that of Li, Chen & Chi (2002), whose formula it does not repeat. :func:`fuzzy` is another,
  the fuzzy integral of the difference of two images.
- How distances are quantised: here to levels of equal width, and once to levels of equal shares.
- How strong the noise is, and where: here its variance goes from 0 to 1, pixels being in [-1, 1], on all images.
"""

import os
import warnings
from pathlib import Path
from typing import NamedTuple

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import pairwise_distances
from sklearn.model_selection import StratifiedKFold, train_test_split

from similitude import KNNClassifier, PathSearchCV
from similitude._utils.extras import require
from similitude.boosting.dboost import DBoostClassifier
from similitude.features.recipes import recipe
from similitude.similarities.images import Tangent

METHODS = ("NN", "LSVM", "DBoost")
N_TRAIN = 1000
LEVELS = range(3, 16, 2)
VARIANCES = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)


class Digits(NamedTuple):
    """Training and test images as flat rows of pixels in [-1, 1], and their digits."""

    X: np.ndarray
    y: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray


def load_usps(folder=None):
    """Return all images, or raise OSError without the files and ImportError without the package that reads them."""
    folder = os.environ.get("SIMILITUDE_DATA") if folder is None else folder
    names = ("zip.train", "zip.test")
    if folder is None or not all((Path(folder) / f"{name}.RData").is_file() for name in names):
        where = "no folder is set" if folder is None else f"not in {folder}"
        raise FileNotFoundError(f"zip.train.RData and zip.test.RData: {where}; SIMILITUDE_DATA names their folder")
    read_rda = require("rdata", "data").read_rda
    train, test = (np.asarray(read_rda(Path(folder) / f"{name}.RData")[name]) for name in names)
    return Digits(train[:, 1:], train[:, 0].astype(int), test[:, 1:], test[:, 0].astype(int))


def some(digits, n_train, n_test=None):
    """Return some of the images in random order, stratified by digit."""

    def choose(y, size):
        everything = np.arange(len(y))
        return (
            everything if size is None else train_test_split(everything, train_size=size, stratify=y, random_state=0)[0]
        )

    train, test = choose(digits.y, n_train), choose(digits.y_test, n_test)
    return Digits(digits.X[train], digits.y[train], digits.X_test[test], digits.y_test[test])


def fuzzy(A, B):
    """Return Ky Fan's metric, the fuzzy (Sugeno) integral of the absolute difference under the uniform measure.

    ``d(a, b) = max_t min(t, share of pixels with |a - b| >= t)``, for pixels in [0, 1]. With the differences sorted,
    the largest first, the maximum is at one of them.
    """
    n_pixels = A.shape[1]
    # Sorting takes nearly all of the time. Single precision halves it, and an error of 1e-7 does not matter.
    A, B = np.asarray(A, dtype=np.float32), np.asarray(B, dtype=np.float32)
    shares = np.arange(n_pixels, 0, -1, dtype=np.float32) / n_pixels
    D = np.empty((len(A), len(B)))
    for row, a in zip(D, A):
        row[:] = np.minimum(np.sort(np.abs(a - B), axis=1), shares).max(axis=1)
    return D


def euclidean(digits):
    """Return the distances among the training images, and those of the test images to them."""
    return pairwise_distances(digits.X), pairwise_distances(digits.X_test, digits.X)


def quantised(D, D_test, n_levels, equal="width"):
    """Return distances as levels 1, 2, ..., of equal width up to the largest training distance, or of equal shares."""
    if equal == "width":
        edges = np.linspace(0, D.max(), n_levels + 1)[1:-1]
    else:
        edges = np.quantile(D[np.triu_indices(len(D), 1)], np.arange(1, n_levels) / n_levels)
    return tuple(1.0 + np.searchsorted(edges, distances) for distances in (D, D_test))


def noisy(digits, variance, seed=0):
    """Return all images with Gaussian white noise."""
    rng = np.random.default_rng(seed)
    X, X_test = (X + np.sqrt(variance) * rng.normal(size=X.shape) for X in (digits.X, digits.X_test))
    return digits._replace(X=X, X_test=X_test)


def models(n_rounds=1000):
    """Return the models: DBoost with M = 100 pairs, LSVM with sigma by five folds, and nearest neighbour."""
    folds = StratifiedKFold(5, shuffle=True, random_state=1)
    return {
        "NN": KNNClassifier(1, dissimilarity="negate"),
        "LSVM": PathSearchCV(*recipe("LSVM", dissimilarity="negate"), cv=folds),
        "DBoost": DBoostClassifier(n_rounds, 100, random_state=0, dissimilarity="negate"),
    }


def errors(D, D_test, y, y_test, chosen=None):
    """Return the test error of each method in percent, in the order of ``METHODS``."""
    chosen = models() if chosen is None else chosen
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return [100 * np.mean(model.fit(D, y).predict(D_test) != y_test) for model in chosen.values()]


def figure_4(digits):
    """Yield the name of the distance and the errors."""
    tangent = Tangent()
    grey = digits._replace(X=(digits.X + 1) / 2, X_test=(digits.X_test + 1) / 2)
    distances = {
        "Euclidean": lambda: euclidean(digits),
        "fuzzy": lambda: (fuzzy(grey.X, grey.X), fuzzy(grey.X_test, grey.X)),
        "tangent": lambda: (tangent(digits.X, digits.X), tangent(digits.X_test, digits.X)),
    }
    for name, compute in distances.items():
        yield name, errors(*compute(), digits.y, digits.y_test)


def figure_5(digits):
    """Yield the number of levels and the errors."""
    D, D_test = euclidean(digits)
    for n_levels in LEVELS:
        yield n_levels, errors(*quantised(D, D_test, n_levels), digits.y, digits.y_test)


def figure_6(digits):
    """Yield the variance of the noise and the errors."""
    for variance in VARIANCES:
        own = noisy(digits, variance)
        yield variance, errors(*euclidean(own), own.y, own.y_test)


def equal_shares(digits):
    """Yield Figure 5 with levels of equal shares, for the smallest number of levels."""
    D, D_test = euclidean(digits)
    yield 3, errors(*quantised(D, D_test, 3, equal="shares"), digits.y, digits.y_test)


def whole(digits):
    """Yield the errors with the whole training set; LSVM has sigma = median(d)^2, as chosen for 1000 images."""
    D, D_test = euclidean(digits)
    chosen = models()
    chosen["LSVM"] = chosen["LSVM"].estimator.set_params(similarityfeatures__scale=1.0)
    yield "Euclidean", errors(D, D_test, digits.y, digits.y_test, chosen)
    yield "3 levels", errors(*quantised(D, D_test, 3), digits.y, digits.y_test, chosen)


FIGURES = {
    "Figure 4, distance": figure_4,
    "Figure 5, Euclidean, levels": figure_5,
    "Euclidean, levels of equal shares": equal_shares,
    "Figure 6, Euclidean, variance of the noise": figure_6,
}


def table(name, found):
    """Return the settings and errors of a figure as a list, and print them as they are computed."""
    print(f"\n| {name} | {' | '.join(METHODS)} |\n| --- | --- | --- | --- |")
    listed = []
    for setting, percents in found:
        listed.append((setting, percents))
        print(f"| {setting} | {' | '.join(f'{percent:.1f}' for percent in percents)} |", flush=True)
    return listed


def run():
    try:
        digits = load_usps()
    except (OSError, ImportError) as reason:
        return [{"name": f"USPS, not run: {reason}"}]
    few = some(digits, N_TRAIN)
    work = {name: figure(few) for name, figure in FIGURES.items()}
    work["whole training set"] = whole(digits)
    rows = []
    for name, found in work.items():
        for setting, percents in table(name, found):
            shown = " / ".join(f"{percent:.1f}" for percent in percents)
            rows.append({"name": f"USPS, {name} {setting}: error % of {', '.join(METHODS)}", "ours_seconds": shown})
    return rows
