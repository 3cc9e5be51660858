"""
Similarity matrices and spectra of the papers
=============================================

The data sets of Figure 1 of Chen, Garcia, Gupta, Rahimi & Cazzanti (2009) and of Figures 1 and 2 of Chen, Gupta & Recht
(2009) whose matrices are available. ``SIMILITUDE_DATA`` must name the folder with them.
"""

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))  # reproductions are not part of the installed package

from reproductions import PAPERS
from reproductions.folders import DataMissing

from similitude.plotting import SimilarityMatrixDisplay, SpectrumDisplay


def loaded(table, names):
    """The similarities and classes of some data sets of a table, if their files are here."""
    try:
        return [PAPERS[table].datasets[name]() for name in names]
    except DataMissing as reason:
        sys.exit(f"not drawn: {reason}")


def matrix(data, name, ax):
    """A matrix with its name and size above it."""
    classes = [f"class {label}" for label in np.unique(data.y, return_inverse=True)[1] + 1]
    SimilarityMatrixDisplay.from_matrix(data.X, classes, ax=ax)
    ax.set_title(f"{name}, n = {len(data.y)}")


def concepts():
    """Figure 1 of Chen, Garcia et al.: black is the largest similarity."""
    names = ["Voting", "Protein", "Protein RBF"]
    figure, axes = plt.subplots(1, 3, figsize=(13, 4), layout="constrained")
    for data, name, ax in zip(loaded("chen2009-table3", names), names, axes):
        matrix(data, name, ax)
    return figure


def kernels():
    """Figures 1 and 2 of Chen, Gupta & Recht: matrices, and their eigenvalues, largest first."""
    names = ["Protein", "Voting", "Yeast-5-12"]
    figure, axes = plt.subplots(2, 3, figsize=(13, 8), layout="constrained")
    for data, name, ax, below in zip(loaded("chen2009kernels-table1", names), names, *axes):
        matrix(data, f"{name}, two classes" if name == "Protein" else name, ax)
        SpectrumDisplay.from_matrix(data.X, methods=(), scale="linear", ax=below)
        below.get_legend().remove()  # there is one line only
    return figure


PICTURES = {"similarities-of-the-papers": concepts, "spectra-of-the-papers": kernels}

if __name__ == "__main__":
    concepts()
    kernels()
    plt.show()
