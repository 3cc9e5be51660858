"""
Similarity matrices, ordered by class
=====================================

A matrix of four classes as in Figure 1 of Chen et al. (2009), and a sparse matrix with its asymmetric part.
"""

import matplotlib.pyplot as plt

from similitude.datasets import make_negative_direction, make_patrol
from similitude.plotting import SimilarityMatrixDisplay


def dense():
    """Four classes; since one eigenvalue was made negative, class 0 is as similar to class 2 as to itself."""
    data = make_negative_direction(n_samples=80, random_state=0)
    return SimilarityMatrixDisplay.from_matrix(data.S, data.y).figure_


def sparse():
    """Who names whom in seven units, and people of no unit: a sparse matrix, and its asymmetric part."""
    patrol = make_patrol(symmetric=False, random_state=0)
    names = ["none" if unit == max(patrol.y) else f"unit {unit + 1}" for unit in patrol.y]
    return SimilarityMatrixDisplay.from_matrix(patrol.S, names, asymmetric=True).figure_


PICTURES = {"similarity-matrix": dense, "asymmetric-matrix": sparse}

if __name__ == "__main__":
    dense()
    sparse()
    plt.show()
