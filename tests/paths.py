"""What a search over a grid predicts at each of its points, by public means."""

import numpy as np
from scipy import sparse
from sklearn.utils import get_tags

from similitude import PathSearchCV


def path_answers(estimator, X, y, rows, grid, response="predict"):
    """One array for each point of the grid: what the path fitted on X and y answers about the rows.

    X is a matrix of similarities, if the estimator takes one, or holds features; the points are dictionaries.
    """
    answers = []

    def keep(fitted, test, _):
        answers.append(getattr(fitted, response)(test))
        return len(answers) - 1

    n, m = X.shape[0], rows.shape[0]
    together = (sparse.vstack if sparse.issparse(X) else np.vstack)([X, rows])
    if get_tags(estimator).input_tags.pairwise:  # the search cuts a square matrix, and never looks at these columns
        stack = sparse.hstack if sparse.issparse(X) else np.hstack
        together = stack([together, np.ones((n + m, m), dtype=X.dtype)])
    search = PathSearchCV(
        estimator,
        [{name: [value] for name, value in point.items()} for point in grid],
        scoring=keep,
        cv=[(np.arange(n), np.arange(n, n + m))],
        refit=False,
        error_score="raise",
    ).fit(together.tocsr() if sparse.issparse(together) else together, np.append(y, np.repeat(y[:1], m)))
    return [answers[int(position)] for position in search.cv_results_["split0_test_score"]]
