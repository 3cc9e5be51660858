"""The answers of a whole path, as a search asks for them."""

from similitude.base import GridFit


def path_answers(estimator, X, y, rows, grid, response="predict"):
    """Return what the estimator, fitted at every point of the grid at once, answers about the rows."""
    return GridFit(estimator, X, y, grid).answers(rows, response)
